// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// What the source of a kernel says about it.

#include <algorithm>

#include "capture/inductor/output_code_impl.h"
#include "capture/inductor/py_text.h"

namespace strata::capture::detail {
namespace {

/// The bracketed text after `key=`, brackets included, or the word there.
std::string_view argument(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at > 0 && py::is_name_char(text[at - 1])) continue;
    const std::string_view value = text.substr(at + key.size());
    if (value.empty()) return {};
    if (value[0] == '{' || value[0] == '[' || value[0] == '(') {
      const size_t close = py::closing(value, 0);
      return value.substr(0, close == std::string_view::npos ? close : close + 1);
    }
    return py::trim(value.substr(0, value.find_first_of(",\n")));
  }
  return {};
}

std::string family(std::string_view code) {
  const size_t at = code.find("@triton_heuristics.");
  if (at == std::string_view::npos) return {};
  const std::string_view rest = code.substr(at + 19);
  const std::string_view name = rest.substr(0, rest.find_first_of("(\n"));
  if (name == "user_autotune") return "user";
  return std::string(name);
}

/// The parameters of `def NAME(...)`, types as annotated.
std::vector<std::string_view> python_parameters(std::string_view code) {
  const size_t jit = code.find("\ndef ", std::min(code.find("@triton.jit"), code.size()));
  const size_t def = jit == std::string_view::npos ? code.find("\ndef ") : jit;
  if (def == std::string_view::npos) return {};
  const size_t open = code.find('(', def);
  if (open == std::string_view::npos) return {};
  return py::items(code.substr(open, std::min<size_t>(code.size() - open, 1 << 16)));
}

std::string_view parameter_name(std::string_view parameter) {
  return py::trim(parameter.substr(0, parameter.find_first_of(":=")));
}

void triton_parameters(CodeKernel& kernel, std::string_view meta) {
  const std::string_view signature = py::dict_value(meta, "signature").value_or(std::string_view{});
  const std::vector<std::string_view> names = python_parameters(kernel.code);
  for (const auto& [key, type] : py::dict_items(signature)) {
    if (py::unquote(type) == "constexpr") continue;
    std::string_view name = key;
    // Older versions give positions instead of names.
    if (const auto position = py::integer(key); position && *position >= 0) {
      if (static_cast<size_t>(*position) < names.size()) name = parameter_name(names[static_cast<size_t>(*position)]);
    }
    kernel.parameters.emplace_back(name, py::unquote(type));
  }
  if (!kernel.parameters.empty()) return;
  for (const std::string_view name : names) {
    if (name.find("constexpr") == std::string_view::npos) kernel.parameters.emplace_back(parameter_name(name), "");
  }
}

void describe_triton(CodeKernel& kernel) {
  const std::string_view code = kernel.code;
  kernel.family = family(code);
  triton_parameters(kernel, argument(code, "triton_meta="));
  const std::string_view meta = argument(code, "inductor_meta=");
  for (const char* key : {"grid_type", "num_load", "num_store", "num_reduction", "kernel_num_gb", "atomic_add_found",
                          "no_x_dim", "optimize_mem", "kernel_flop"}) {
    if (const auto value = py::dict_value(meta, key)) kernel.meta.emplace_back(key, py::unquote(*value));
  }
  if (const auto list = py::dict_value(meta, "mutated_arg_names")) {
    for (const std::string_view name : py::items(*list)) kernel.mutated.emplace_back(py::unquote(name));
  }
  for (const char* key : {"size_hints", "reduction_hint", "tile_hint", "num_stages", "num_warps"}) {
    const std::string_view value = argument(code, std::string(key) + "=");
    if (!value.empty()) kernel.meta.emplace_back(key, value);
  }
}

/// Parameters of the function that the wrapper calls: `void kernel(const float* in_ptr0, float* out_ptr0)`.
void describe_cpp(CodeKernel& kernel) {
  kernel.family = "loop";
  const std::string_view code = kernel.code;
  size_t at = code.find("kernel(");
  for (const char* word : {"extern \"C\"", "void kernel(", "void cpp_fused_"}) {
    const size_t begin = code.find(word);
    if (begin == std::string_view::npos) continue;
    at = code.find('(', begin);
    break;
  }
  if (at == std::string_view::npos) return;
  const size_t open = code.find('(', at);
  if (open == std::string_view::npos) return;
  std::vector<std::pair<std::string, std::string>> parameters;
  for (const std::string_view parameter : py::items(code.substr(open, std::min<size_t>(code.size() - open, 1 << 16)))) {
    const size_t space = parameter.find_last_of(" *&");
    if (space == std::string_view::npos) continue;
    std::string type(parameter.substr(0, space + 1));
    if (const size_t end = type.find_last_not_of(' '); end != std::string::npos) type.resize(end + 1);
    if (const size_t restrict_word = type.find(" __restrict__"); restrict_word != std::string::npos) {
      type.erase(restrict_word);
    }
    parameters.emplace_back(parameter.substr(space + 1), type);
  }
  if (!parameters.empty()) kernel.parameters = std::move(parameters);
}

}  // namespace

void describe_kernel(CodeKernel& kernel) {
  if (kernel.code.empty()) return;
  if (kernel.language == "cpp") {
    describe_cpp(kernel);
  } else {
    describe_triton(kernel);
  }
}

}  // namespace strata::capture::detail
