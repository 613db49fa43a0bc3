// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What Inductor's generated program says: its kernels with the graph nodes their comments name, the calls it makes in
/// order, and the buffers they work on. The text is read as data, nothing of it is executed.
///
/// Both wrappers are understood: Python (`def call(args)`, with or without class and partitions) and C++
/// (`cpp_wrapper`, AOTInductor), the latter as far as kernels, launches and node comments go.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::capture {

/// A line of a kernel's `Graph fragment` comment.
struct FragmentNode {
  std::string name;          ///< of the node in the post-grad graph
  std::string target;        ///< `aten.relu.default`; empty for an input
  bool placeholder = false;  ///< an input of the kernel; its name is a node or a buffer
};

struct CodeKernel {
  std::string name;      ///< `triton_poi_fused_add_0`: what the wrapper calls it
  std::string symbol;    ///< name of the compiled function; of user kernels what profiles show
  std::string language;  ///< `triton`, `cpp`, `cuda`, ... (the method of `async_compile`)
  /// `pointwise`, `reduction`, `persistent_reduction`, `split_scan`, `template`, `foreach`, `user`, `multi`; `loop` for
  /// C++; empty when it does not say
  std::string family;
  std::int64_t first_line = 0, last_line = 0;  ///< with its comments, from 1
  std::int64_t code_line = 0;                  ///< line of `code`'s first character
  std::string code;
  std::string path;  ///< of its own file in the producer's cache
  std::vector<std::string> source_nodes;
  std::vector<std::string> original_aten;
  std::vector<std::pair<std::string, std::vector<std::string>>> source_map;  ///< source node, post-grad nodes
  std::vector<FragmentNode> fragment;                                        ///< in program order
  std::vector<std::string> stores;                              ///< nodes or buffers that the fragment returns
  std::vector<std::pair<std::string, std::string>> parameters;  ///< name and type: (`in_ptr0`, `*fp32`)
  std::vector<std::string> mutated;                             ///< parameters that are written, as far as it says
  std::vector<std::pair<std::string, std::string>> meta;        ///< `num_load`, `grid_type`, `size_hints`, ...
  std::vector<std::string> variants;                            ///< the kernels that a multi-kernel chooses from
};

struct CodeBuffer {
  std::string name;
  std::string kind;                         ///< `input`, `constant`, `temporary` or `output`
  std::vector<std::string> sizes, strides;  ///< numbers or formulas
  bool has_sizes = false;                   ///< `sizes` are known (they may be empty: a scalar)
  std::string dtype;                        ///< `float32`; empty: unknown
  std::string device;                       ///< `cpu`, `cuda`; empty: unknown
  std::int64_t line = 0;                    ///< where it first appears, from 1
  int reuse_of = -1;                        ///< buffer whose memory it takes over
  int alias_of = -1;                        ///< buffer that it is a view or a part of
  int element = -1;                         ///< which part of a call's tuple; -1: not one
  std::vector<std::string> inits;           ///< the statement that made it, as it stands; at most one
};

struct CodeLaunch {
  std::string callee;  ///< `triton_poi_fused_add_0`, `extern_kernels.mm`, `torch.ops.aten.sort.default`
  int kernel = -1;     ///< index into kernels; -1: a library call
  std::int64_t line = 0, last_line = 0;
  std::string text;                        ///< the statement, one line
  std::vector<std::string> operands;       ///< arguments as written, keywords as `name=value`
  std::vector<std::vector<int>> buffers;   ///< of each operand: the buffers it names
  std::vector<int> reads, writes;          ///< buffers, each once, in order of appearance
  int result = -1;                         ///< buffer that takes the returned value
  std::vector<std::string> source_nodes;   ///< of the comment before the call
  std::vector<std::string> original_aten;  ///< of the comment before the call
  std::int64_t handle = -1;                ///< provenance debug handle; -1 none
  std::string handle_name;                 ///< the name before the handle
  std::string scope;                       ///< `while should_loop`, `if buf3.item()`: not executed exactly once
};

struct OutputCode {
  std::string aot_id;    ///< `0_forward`; empty when it does not say
  std::string role;      ///< `forward`, `backward`, `inference` or empty
  std::string language;  ///< of the wrapper: `python` or `cpp`
  std::vector<CodeKernel> kernels;
  std::vector<CodeBuffer> buffers;
  std::vector<CodeLaunch> launches;                                ///< in order of execution
  std::vector<int> inputs;                                         ///< buffers, in order of arguments; -1: a number
  std::vector<std::string> outputs;                                ///< what is returned, as written
  std::vector<int> output_buffers;                                 ///< of each output; -1: none or a number
  std::vector<std::pair<std::string, std::int64_t>> symbol_hints;  ///< `s77` and the value it had
  std::int64_t lines = 0;

  /// Index of the kernel or buffer of this name; -1 none.
  int find_kernel(std::string_view name) const;
  int find_buffer(std::string_view name) const;
  /// The buffer whose memory `buffer` is: along views, parts and reuse.
  int storage_of(int buffer) const;
};

/// Never throws for odd or truncated text: what is understood is returned. Pure; any thread.
OutputCode parse_output_code(std::string_view text);

/// A hash (32 hex digits) of what the program does: the text without comments, blank lines and paths of caches, so that
/// copies of one program in a log, a debug folder and a cache agree.
std::string output_code_hash(std::string_view text);

}  // namespace strata::capture
