// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Parts of the reader of output code. Internal.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/inductor/output_code.h"

namespace strata::capture::detail {

/// The comment lines before a kernel or a call.
struct CommentBlock {
  std::int64_t first_line = 0;
  std::string path;
  std::vector<std::string> source_nodes, original_aten;
  std::vector<std::pair<std::string, std::vector<std::string>>> source_map;
  std::vector<FragmentNode> fragment;
  std::vector<std::string> stores;
  std::int64_t handle = -1;
  std::string handle_name;
  bool empty = true;

  /// Takes one line of it, without the comment sign.
  void add(std::string_view line);

 private:
  enum class Part { None, Map, Fragment } part_ = Part::None;
};

/// What a kernel's source says of itself: parameters, family, sizes. Sets fields of `kernel` from `kernel.code`.
void describe_kernel(CodeKernel& kernel);

/// The functions of a Python wrapper: lines [first, last) of each body.
struct PyFunction {
  size_t first = 0, last = 0;
  bool method = false;
};
using PyFunctions = std::unordered_map<std::string, PyFunction>;

/// Reads `call` and what it calls.
void read_wrapper(OutputCode& out, const std::vector<std::string_view>& lines, const PyFunctions& functions,
                  const std::vector<std::string>& partitions);

/// Sizes and types of inputs from `rand_strided(...)` lines.
void read_examples(OutputCode& out, const std::vector<std::string_view>& lines, const PyFunction& function);

/// Reads a C++ wrapper: text that starts at `first_line`.
void read_cpp_wrapper(OutputCode& out, std::string_view text, std::int64_t first_line);

}  // namespace strata::capture::detail
