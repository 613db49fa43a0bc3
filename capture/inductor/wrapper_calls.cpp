// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Calls that are launches.

#include <algorithm>

#include "capture/inductor/py_text.h"
#include "capture/inductor/wrapper_reader.h"

namespace strata::capture::detail {
namespace {

/// What a parameter of a kernel is used for.
enum class Use { None, Read, Write, Both };

Use parameter_use(const CodeKernel& kernel, size_t index) {
  if (index >= kernel.parameters.size()) return Use::Read;
  const auto& [name, type] = kernel.parameters[index];
  const bool mutated = std::find(kernel.mutated.begin(), kernel.mutated.end(), name) != kernel.mutated.end();
  if (name.starts_with("in_out")) return Use::Both;
  if (name.starts_with("out_ptr")) return mutated ? Use::Both : Use::Write;
  if (mutated) return Use::Both;
  if (name.starts_with("in_ptr") || name.starts_with("arg_")) return Use::Read;
  if (name.starts_with("ws_") || name.starts_with("sem_")) return Use::Both;
  const bool pointer = type.find('*') != std::string::npos;
  if (kernel.language == "cpp" && pointer) return type.starts_with("const ") ? Use::Read : Use::Both;
  return Use::Read;
}

/// The element type of a pointer parameter in torch's words; empty: unknown.
std::string_view element_type(std::string_view type) {
  static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {{"*fp32", "float32"},
                                                                             {"*fp16", "float16"},
                                                                             {"*bf16", "bfloat16"},
                                                                             {"*fp64", "float64"},
                                                                             {"*i64", "int64"},
                                                                             {"*i32", "int32"},
                                                                             {"*i16", "int16"},
                                                                             {"*i8", "int8"},
                                                                             {"*u8", "uint8"},
                                                                             {"*i1", "bool"},
                                                                             {"*fp8e4nv", "float8_e4m3fn"},
                                                                             {"*fp8e5", "float8_e5m2"},
                                                                             {"float*", "float32"},
                                                                             {"double*", "float64"},
                                                                             {"int64_t*", "int64"},
                                                                             {"int32_t*", "int32"},
                                                                             {"int16_t*", "int16"},
                                                                             {"int8_t*", "int8"},
                                                                             {"uint8_t*", "uint8"},
                                                                             {"bool*", "bool"},
                                                                             {"at::BFloat16*", "bfloat16"},
                                                                             {"bfloat16*", "bfloat16"},
                                                                             {"at::Half*", "float16"},
                                                                             {"half*", "float16"},
                                                                             {"c10::BFloat16*", "bfloat16"},
                                                                             {"c10::Half*", "float16"}};
  if (type.starts_with("const ")) type.remove_prefix(6);
  for (const auto& [name, dtype] : kTypes) {
    if (type == name) return dtype;
  }
  return {};
}

/// Calls that are no work of the program: checks, streams, allocation that is read elsewhere.
bool bookkeeping(std::string_view callee) {
  return starts_with_any(callee, {"assert_",
                                  "args.",
                                  "get_raw_stream",
                                  "torch.cuda.",
                                  "torch.xpu.",
                                  "torch._C.",
                                  "torch.mtia.",
                                  "torch.accelerator.",
                                  "run_intermediate_hooks",
                                  "print",
                                  "start_graph",
                                  "end_graph",
                                  "async_compile",
                                  "torch._dynamo",
                                  "del",
                                  "raise",
                                  "getattr",
                                  "isinstance",
                                  "record_function",
                                  "nvtx.",
                                  "proton.",
                                  "len",
                                  "max",
                                  "min",
                                  "range",
                                  "copy_if_misaligned",
                                  "maybe_",
                                  "torch.Event",
                                  "check_",
                                  "torch._check"});
}

}  // namespace

bool WrapperReader::item(std::string_view right, const CommentBlock& comments) {
  CodeLaunch launch = start("aten.item", right, comments);
  launch.operands.emplace_back(right);
  launch.buffers.push_back(named(right));
  for (const int b : launch.buffers[0]) add_once(launch.reads, b);
  if (launch.reads.empty()) return false;
  out_.launches.push_back(std::move(launch));
  return true;
}

CodeLaunch WrapperReader::start(std::string_view callee, std::string_view text, const CommentBlock& comments) const {
  CodeLaunch launch;
  launch.callee = callee;
  launch.line = line_;
  launch.last_line = last_line_;
  launch.text = text;
  launch.source_nodes = comments.source_nodes;
  launch.original_aten = comments.original_aten;
  launch.handle = comments.handle;
  launch.handle_name = comments.handle_name;
  launch.scope = current_scope();
  return launch;
}

bool WrapperReader::call(std::string_view text, std::string_view left, const CommentBlock& comments) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos || open == 0) return false;
  std::string_view callee = py::trim(text.substr(0, open));
  if (const std::string inner = inner_function(callee); !inner.empty()) {
    call_inner(inner, left, text.substr(open));
    return true;
  }
  if (bookkeeping(callee)) {
    if (callee.starts_with("assert_size_stride")) check_layout(text.substr(open));
    return false;
  }
  // `kernel[grid](...)` of older user kernels.
  const std::string_view base = callee.substr(0, callee.find_first_of(".["));
  if (const auto kernel = kernels_.find(std::string(base)); kernel != kernels_.end()) {
    return launch_kernel(kernel->second, text, text.substr(open), comments);
  }
  if (callee.ends_with(".run") || starts_with_any(callee, {"triton_", "cpp_fused_"})) {
    return launch_kernel(unknown_kernel(base), text, text.substr(open), comments);
  }
  return library(callee, text, open, left, comments);
}

std::string WrapperReader::inner_function(std::string_view callee) const {
  if (callee.starts_with("self.partitions[")) {
    const auto number = py::integer(callee.substr(16, callee.find(']') - 16));
    if (!number || *number < 0 || static_cast<size_t>(*number) >= partitions_.size()) return {};
    callee = partitions_[static_cast<size_t>(*number)];
  } else if (callee.starts_with("self.")) {
    callee.remove_prefix(5);
  }
  const auto it = functions_.find(std::string(callee));
  return it == functions_.end() || callee == "call" ? std::string() : it->first;
}

void WrapperReader::call_inner(const std::string& name, std::string_view left, std::string_view operands) {
  const std::vector<std::string_view> parts = py::items(operands);
  arguments_.clear();
  if (!parts.empty()) {
    if (const auto known = lists_.find(std::string(parts[0])); known != lists_.end()) arguments_ = known->second;
    if (parts[0][0] == '[') {
      for (const std::string_view item : py::items(parts[0])) arguments_.push_back(root_name(item));
    }
  }
  const std::int64_t line = line_, last_line = last_line_;
  returned_.clear();
  run(functions_.at(name));
  line_ = line;
  last_line_ = last_line;
  bind_results(left, returned_);
}

int WrapperReader::unknown_kernel(std::string_view name) {
  CodeKernel kernel;
  kernel.name = name;
  kernel.language = name.starts_with("cpp_") ? "cpp" : "triton";
  out_.kernels.push_back(std::move(kernel));
  const int index = static_cast<int>(out_.kernels.size()) - 1;
  kernels_[std::string(name)] = index;
  return index;
}

bool WrapperReader::launch_kernel(int index, std::string_view text, std::string_view operands,
                                  const CommentBlock& comments) {
  const CodeKernel& kernel = out_.kernels[static_cast<size_t>(index)];
  CodeLaunch launch = start(kernel.name, text, comments);
  launch.kernel = index;
  const CodeKernel& signature = kernel.variants.empty() ? kernel : variant(kernel);
  const std::vector<std::string_view> parts = py::items(operands);
  for (size_t i = 0; i < parts.size(); ++i) {
    launch.operands.emplace_back(parts[i]);
    launch.buffers.push_back(named(parts[i]));
    const size_t position = parameter_position(signature, parts[i], i);
    const Use use = parameter_use(signature, position);
    if (position < signature.parameters.size() && launch.buffers.back().size() == 1) {
      CodeBuffer& b = buffer(launch.buffers.back()[0]);
      if (b.dtype.empty()) b.dtype = element_type(signature.parameters[position].second);
    }
    for (const int b : launch.buffers.back()) {
      if (use == Use::Read || use == Use::Both) add_once(launch.reads, b);
      if (use == Use::Write || use == Use::Both) add_once(launch.writes, b);
    }
  }
  out_.launches.push_back(std::move(launch));
  return true;
}

const CodeKernel& WrapperReader::variant(const CodeKernel& kernel) const {
  const auto it = kernels_.find(kernel.variants[0]);
  return it == kernels_.end() ? kernel : out_.kernels[static_cast<size_t>(it->second)];
}

size_t WrapperReader::parameter_position(const CodeKernel& kernel, std::string_view operand, size_t position) {
  const size_t equals = operand.find('=');
  if (equals == std::string_view::npos || !py::is_name(operand.substr(0, equals))) return position;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (kernel.parameters[i].first == operand.substr(0, equals)) return i;
  }
  return position;
}

bool WrapperReader::library(std::string_view callee, std::string_view text, size_t open, std::string_view left,
                            const CommentBlock& comments) {
  const size_t dot = callee.find('.');
  const int owner = dot == std::string_view::npos ? -1 : find(callee.substr(0, dot));
  std::string name(callee);
  if (owner >= 0) {
    const std::string_view method = callee.substr(callee.rfind('.') + 1);
    if (starts_with_any(method, {"size", "stride", "data_ptr", "append", "storage_offset", "dim", "numel", "sizes"})) {
      return false;
    }
    name = "aten." + std::string(method);
  }
  CodeLaunch launch = start(name, text, comments);
  if (owner >= 0) {
    launch.operands.emplace_back(callee.substr(0, dot));
    launch.buffers.push_back({owner});
  }
  for (const std::string_view part : py::items(text.substr(open))) {
    launch.operands.emplace_back(part);
    launch.buffers.push_back(named(part));
  }
  library_uses(launch);
  const bool known =
      starts_with_any(callee, {"extern_kernels.", "torch.ops.", "aten.", "inductor_ops.", "_quantized."});
  if (!known && launch.reads.empty() && launch.writes.empty()) return false;
  if (!known && dot == std::string_view::npos && left.empty() && launch.writes.empty() && owner < 0 &&
      launch.reads.empty()) {
    return false;
  }
  take_result(launch, left);
  out_.launches.push_back(std::move(launch));
  return true;
}

void WrapperReader::library_uses(CodeLaunch& launch) {
  // The last name but the overload: `aten.index_put_`, `torch.ops._c10d_functional.all_reduce_.default`.
  std::string_view name = launch.callee;
  if (name.ends_with(".default") || name.ends_with(".out")) name = name.substr(0, name.rfind('.'));
  const bool in_place = name.ends_with("_") || name.find("_.") != std::string_view::npos;
  for (size_t i = 0; i < launch.operands.size(); ++i) {
    const std::string_view operand = launch.operands[i];
    const bool out = operand.starts_with("out=") || operand.starts_with("out_");
    for (const int b : launch.buffers[i]) {
      if (out || (in_place && i == 0)) add_once(launch.writes, b);
      if (!out) add_once(launch.reads, b);
    }
  }
}

void WrapperReader::take_result(CodeLaunch& launch, std::string_view left) {
  if (left.empty()) return;
  for (const std::string_view name : py::items(left)) {
    if (!py::is_name(name) || find(name) >= 0) continue;
    const int index = make(name, "temporary");
    if (launch.result < 0) launch.result = index;
    launch.writes.push_back(index);
    const std::vector<int>& sources = launch.reads;
    if (!sources.empty()) buffer(index).device = buffer(sources[0]).device;
  }
}

}  // namespace strata::capture::detail
