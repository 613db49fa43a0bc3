// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reader of the functions of a Python wrapper. Internal.

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/inductor/output_code_impl.h"

namespace strata::capture::detail {

inline void add_once(std::vector<int>& list, int value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

inline bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> heads) {
  return std::any_of(heads.begin(), heads.end(), [&](std::string_view head) { return text.starts_with(head); });
}

/// Whether a call makes a buffer and nothing else.
bool allocates(std::string_view callee);

/// Executes the statements of `call` on names of buffers.
class WrapperReader {
 public:
  WrapperReader(OutputCode& out, const std::vector<std::string_view>& lines, const PyFunctions& functions,
                const std::vector<std::string>& partitions)
      : out_(out), lines_(lines), functions_(functions), partitions_(partitions) {
    for (size_t i = 0; i < out.kernels.size(); ++i) kernels_[out.kernels[i].name] = static_cast<int>(i);
    for (size_t i = 0; i < out.buffers.size(); ++i) buffers_[out.buffers[i].name] = static_cast<int>(i);
  }

  void read();

 private:
  using Values = std::vector<int>;  ///< buffers; -1: no buffer

  /// Executes the statements of a function; its returned buffers are left in `returned_`.
  void run(const PyFunction& function);
  size_t end_of_statement(size_t i, size_t last) const;
  void leave_scopes(size_t indent, size_t keep);
  void statement(size_t first, size_t next, CommentBlock& comments);
  bool scope(std::string_view text, size_t indent);
  std::string current_scope() const;
  /// One simple statement. Returns whether the comments before it were its own (or no longer are anyone's).
  bool simple(std::string_view text, bool reuse, const CommentBlock& comments);
  bool assign(std::string_view left, std::string_view right, bool reuse, const CommentBlock& comments);
  int find(std::string_view name) const;
  CodeBuffer& buffer(int index) { return out_.buffers[static_cast<size_t>(index)]; }

  int make(std::string_view name, std::string_view kind);
  void unpack_arguments(std::string_view left);
  void argument(std::string_view name, size_t position);
  void copy_layout(int to, int from);
  /// `buf3 = buf1` takes over memory; `s77 = arg0_1` names a size.
  void rename(std::string_view left, std::string_view right, bool reuse);
  static bool size_symbol(std::string_view name);
  void list(std::string_view left, std::string_view right);
  /// The first buffer that an expression names.
  int root_name(std::string_view expression) const;
  void element(std::string_view left, std::string_view base, std::string_view subscript, std::string_view right);
  /// `reinterpret_tensor(buf0, (8, 4), (4, 1), 0)`, `alloc_from_pool(pool0, 0, torch.float32, (8, 4), (4, 1))`
  void view(std::string_view left, std::string_view right, bool reuse);
  static std::string dtype(std::string_view text);
  void set_layout(int index, std::string_view sizes, std::string_view strides);
  /// `empty_strided_cuda((8, 4), (4, 1), torch.float32)` and the older forms with keywords.
  void allocate(std::string_view left, std::string_view right, size_t open);
  static std::string device(std::string_view text);
  bool item(std::string_view right, const CommentBlock& comments);
  CodeLaunch start(std::string_view callee, std::string_view text, const CommentBlock& comments) const;
  std::vector<int> named(std::string_view operand) const;
  /// A call as a statement or as the right side of an assignment.
  bool call(std::string_view text, std::string_view left, const CommentBlock& comments);
  std::string inner_function(std::string_view callee) const;
  void call_inner(const std::string& name, std::string_view left, std::string_view operands);
  void bind_results(std::string_view left, const Values& values);
  void check_layout(std::string_view operands);
  int unknown_kernel(std::string_view name);
  bool launch_kernel(int index, std::string_view text, std::string_view operands, const CommentBlock& comments);
  const CodeKernel& variant(const CodeKernel& kernel) const;
  static size_t parameter_position(const CodeKernel& kernel, std::string_view operand, size_t position);
  bool library(std::string_view callee, std::string_view text, size_t open, std::string_view left,
               const CommentBlock& comments);
  static void library_uses(CodeLaunch& launch);
  void take_result(CodeLaunch& launch, std::string_view left);
  void returns(std::string_view text);

  OutputCode& out_;
  const std::vector<std::string_view>& lines_;
  const PyFunctions& functions_;
  const std::vector<std::string>& partitions_;
  std::unordered_map<std::string, int> kernels_, buffers_;
  std::unordered_map<std::string, Values> lists_;
  std::vector<std::pair<size_t, std::string>> scopes_;  ///< indent and condition
  Values arguments_, returned_;
  std::int64_t line_ = 0, last_line_ = 0;
  int depth_ = 0;
};

}  // namespace strata::capture::detail
