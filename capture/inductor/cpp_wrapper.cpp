// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Reads C++ wrappers (`cpp_wrapper`, AOTInductor): `inductor_entry_impl` or `AOTInductorModel::run_impl`, line by
/// line.

#include <algorithm>

#include "capture/inductor/output_code_impl.h"
#include "capture/inductor/py_text.h"

namespace strata::capture::detail {
namespace {

void add_once(std::vector<int>& list, int value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

/// `64L` -> `64`
std::string dim_of(std::string_view text) {
  text = py::trim(text);
  if (text.size() > 1 && text.back() == 'L' && text[text.size() - 2] >= '0' && text[text.size() - 2] <= '9') {
    text.remove_suffix(1);
  }
  return std::string(text);
}

class CppReader {
 public:
  CppReader(OutputCode& out, std::string_view text, std::int64_t first_line)
      : out_(out), text_(text), lines_(py::lines(text)), first_line_(first_line) {
    for (std::size_t i = 0; i < out.kernels.size(); ++i) kernels_[out.kernels[i].name] = static_cast<int>(i);
  }

  void read() {
    std::size_t i = 0;
    while (i < lines_.size() && !entry(i)) i = declaration(i);
    while (i < lines_.size() && lines_[i].find('{') == std::string_view::npos) ++i;
    for (++i; i < lines_.size() && !lines_[i].starts_with("}");) i = statement(i);
    while (i < lines_.size()) i = declaration(i);  // the kernels' own text may stand behind
    for (const int b : out_.output_buffers) {
      if (b >= 0 && buffer(b).kind == "temporary") buffer(b).kind = "output";
    }
  }

 private:
  bool entry(std::size_t i) const {
    const std::string_view line = lines_[i];
    return line.starts_with("void inductor_entry_impl(") ||
           (line.starts_with("void ") && line.find("::run_impl(") != std::string_view::npos);
  }

  std::int64_t number(std::size_t line) const { return first_line_ + static_cast<std::int64_t>(line); }

  /// `extern "C"  void  cpp_fused_add_0(const float* in_ptr0,` ... up to `;` or with a body.
  std::size_t declaration(std::size_t i) {
    const std::string_view line = lines_[i];
    const std::size_t name = line.find("cpp_fused_");
    const std::size_t open = line.find('(', std::min(name, line.size()));
    if (name == std::string_view::npos || open == std::string_view::npos || line.find("void") > name) return i + 1;
    std::size_t end = i;
    int depth = py::open_brackets(line);
    while (depth > 0 && end + 1 < lines_.size()) depth += py::open_brackets(lines_[++end]);
    const bool body = lines_[end].find(';') == std::string_view::npos;
    if (body) {
      // The definition ends with a bracket in the first column.
      while (end + 1 < lines_.size() && !lines_[end].starts_with("}")) ++end;
    }
    CodeKernel& kernel = kernel_named(line.substr(name, open - name));
    const char* begin = line.data();
    const std::string_view last = lines_[end];
    kernel.code.assign(begin, static_cast<std::size_t>(last.data() + last.size() - begin));
    kernel.first_line = kernel.code_line = number(i);
    kernel.last_line = number(end);
    describe_kernel(kernel);
    return end + 1;
  }

  CodeKernel& kernel_named(std::string_view name) {
    const auto [it, added] = kernels_.try_emplace(std::string(name), static_cast<int>(out_.kernels.size()));
    if (added) {
      CodeKernel kernel;
      kernel.name = name;
      kernel.language = name.starts_with("cpp_") ? "cpp" : "triton";
      out_.kernels.push_back(std::move(kernel));
    }
    return out_.kernels[static_cast<std::size_t>(it->second)];
  }

  std::size_t statement(std::size_t i) {
    const std::string_view line = py::trim(lines_[i]);
    if (line.starts_with("//")) {
      std::string_view comment = line.substr(2);
      if (comment.starts_with(" ")) comment.remove_prefix(1);
      comments_.add(comment);
      return i + 1;
    }
    std::size_t next = i + 1;
    int depth = py::open_brackets(line);
    std::string joined(line);
    while (depth > 0 && next < lines_.size() && next - i < 10'000) {
      depth += py::open_brackets(lines_[next]);
      joined += ' ';
      joined += py::trim(lines_[next++]);
    }
    line_ = number(i);
    last_line_ = number(next - 1);
    take(joined);
    return next;
  }

  void take(std::string_view text) {
    const std::size_t equals = py::assignment(text);
    const std::string_view left =
        equals == std::string_view::npos ? std::string_view{} : py::trim(text.substr(0, equals));
    const std::string_view right = equals == std::string_view::npos ? text : py::trim(text.substr(equals + 1));
    if (left.find("int_array_") != std::string_view::npos) return array(left, right);
    if (left.starts_with("output_handles[")) return output(left, right);
    if (!left.empty() && variable(left, right)) return;
    if (text.find("aoti_torch_empty_strided") != std::string_view::npos) return allocate(text);
    if (text.starts_with("RAIIAtenTensorHandle ")) {
      const std::string_view name = text.substr(21, text.find('(') - 21);
      if (find(name) < 0 && py::is_name(name)) make(name, "temporary");
      return;
    }
    call(text);
  }

  /// `auto buf1 = std::move(buf0);  // reuse`, inputs, constants, views. False: a call.
  bool variable(std::string_view left, std::string_view right) {
    const std::size_t space = left.find_last_of(" &*");
    const std::string_view name = space == std::string_view::npos ? left : left.substr(space + 1);
    if (!py::is_name(name) || left.find("auto") == std::string_view::npos) return false;
    if (right.find("std::move(inputs[") != std::string_view::npos) {
      out_.inputs.push_back(make(name, "input"));
    } else if (right.find("constants_->at(") != std::string_view::npos) {
      make(name, "constant");
    } else if (right.find("reinterpret_tensor_wrapper(") != std::string_view::npos) {
      view(name, right);
    } else if (right.starts_with("std::move(")) {
      const int from = find(right.substr(10, right.find(')') - 10));
      if (from < 0) return true;
      const int index = make(name, "temporary");
      const CodeBuffer source = buffer(from);
      CodeBuffer& b = buffer(index);
      b.reuse_of = from;
      b.sizes = source.sizes;
      b.strides = source.strides;
      b.has_sizes = source.has_sizes;
      b.dtype = source.dtype;
      b.device = source.device;
    } else {
      return right.find("aoti_torch_") == std::string_view::npos;
    }
    return true;
  }

  void view(std::string_view name, std::string_view right) {
    const std::size_t at = right.find("reinterpret_tensor_wrapper(");
    const std::vector<std::string_view> parts = py::items(right.substr(at + 26));
    const int from = parts.empty() ? -1 : find(parts[0]);
    const int index = make(name, "temporary");
    CodeBuffer& b = buffer(index);
    (right.find("// reuse") != std::string_view::npos || right.find(".reset()") != std::string_view::npos
         ? b.reuse_of
         : b.alias_of) = from;
    if (parts.size() > 3) set_layout(b, parts[2], parts[3]);
    if (from >= 0) {
      b.dtype = buffer(from).dtype;
      b.device = buffer(from).device;
    }
  }

  void array(std::string_view left, std::string_view right) {
    const std::size_t at = left.find("int_array_");
    std::vector<std::string> dims;
    for (const std::string_view item : py::items(right)) dims.push_back(dim_of(item));
    arrays_[std::string(left.substr(at, left.find('[', at) - at))] = std::move(dims);
  }

  void set_layout(CodeBuffer& b, std::string_view sizes, std::string_view strides) {
    const auto s = arrays_.find(std::string(sizes)), t = arrays_.find(std::string(strides));
    if (s == arrays_.end()) return;
    b.sizes = s->second;
    if (t != arrays_.end()) b.strides = t->second;
    b.has_sizes = true;
  }

  /// `aoti_torch_empty_strided(2, int_array_0, int_array_1, cached_torch_dtype_float32, cached_torch_device_type_cpu,
  /// 0, &buf0_handle)`
  void allocate(std::string_view text) {
    const std::size_t at = text.find("aoti_torch_empty_strided");
    const std::size_t open = text.find('(', at);
    if (open == std::string_view::npos) return;
    const std::vector<std::string_view> parts = py::items(text.substr(open));
    const int index = handle(parts.empty() ? std::string_view{} : parts.back());
    if (index < 0) return;
    CodeBuffer& b = buffer(index);
    if (parts.size() > 2) set_layout(b, parts[1], parts[2]);
    for (const std::string_view part : parts) {
      if (part.starts_with("cached_torch_dtype_")) b.dtype = part.substr(19);
      if (part.starts_with("cached_torch_device_type_")) b.device = part.substr(25);
    }
  }

  /// The buffer of `&buf0_handle`, made where it is new; -1: another operand.
  int handle(std::string_view operand) {
    if (!operand.starts_with("&") || !operand.ends_with("_handle")) return -1;
    const std::string_view name = operand.substr(1, operand.size() - 8);
    if (!py::is_name(name)) return -1;
    const int known = find(name);
    return known >= 0 ? known : make(name, "temporary");
  }

  void output(std::string_view left, std::string_view right) {
    const auto position = py::integer(left.substr(15, left.find(']') - 15));
    if (!position || *position < 0 || *position > 1'000'000) return;
    const auto at = static_cast<std::size_t>(*position);
    if (out_.outputs.size() <= at) {
      out_.outputs.resize(at + 1);
      out_.output_buffers.resize(at + 1, -1);
    }
    out_.outputs[at] = right;
    const std::vector<int> buffers = named(right);
    if (!buffers.empty()) out_.output_buffers[at] = buffers[0];
  }

  void call(std::string_view text) {
    for (const char* wrapper : {"AOTI_TORCH_ERROR_CODE_CHECK(", "AOTI_CHECK("}) {
      if (text.starts_with(wrapper)) text.remove_prefix(std::string_view(wrapper).size());
    }
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos) return;
    std::string_view callee = py::trim(text.substr(0, open));
    const std::string_view operands = text.substr(open);
    if (callee.starts_with("call_")) callee.remove_prefix(5);
    if (callee == "launchKernel") callee = launched(operands);
    if (callee.starts_with("cpp_fused_") || callee.starts_with("triton_") || callee.starts_with("cuda_fused_")) {
      loop(callee, text, operands);
    } else if (callee.starts_with("aoti_torch_") && !bookkeeping(callee)) {
      library(callee, text, operands);
    }
  }

  static bool bookkeeping(std::string_view callee) {
    for (const char* name :
         {"aoti_torch_get_", "aoti_torch_delete_", "aoti_torch_empty", "aoti_torch_create_", "aoti_torch_assign",
          "aoti_torch_new_", "aoti_torch_device_", "aoti_torch_dtype_", "aoti_torch__reinterpret", "aoti_torch_check",
          "aoti_torch_item_", "aoti_torch_grad_mode"}) {
      if (callee.starts_with(name)) return true;
    }
    return false;
  }

  /// The kernel of `launchKernel(kernels.triton_poi_fused_0, grid, ...)`.
  static std::string_view launched(std::string_view operands) {
    const std::vector<std::string_view> parts = py::items(operands);
    if (parts.empty()) return {};
    return parts[0].substr(parts[0].rfind('.') + 1);
  }

  CodeLaunch start(std::string_view callee, std::string_view text) {
    CodeLaunch launch;
    launch.callee = callee;
    launch.text = text;
    launch.line = line_;
    launch.last_line = last_line_;
    launch.source_nodes = std::move(comments_.source_nodes);
    launch.original_aten = std::move(comments_.original_aten);
    launch.handle = comments_.handle;
    launch.handle_name = std::move(comments_.handle_name);
    comments_ = {};
    return launch;
  }

  void loop(std::string_view callee, std::string_view text, std::string_view operands) {
    const CodeKernel kernel = kernel_named(callee);
    CodeLaunch launch = start(callee, text);
    launch.kernel = kernels_.at(std::string(callee));
    const std::vector<std::string_view> parts = py::items(operands);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      launch.operands.emplace_back(parts[i]);
      launch.buffers.push_back(named(parts[i]));
      const std::string_view name = i < kernel.parameters.size() ? kernel.parameters[i].first : std::string_view{};
      const bool writes = name.starts_with("out_ptr") || name.starts_with("in_out");
      for (const int b : launch.buffers.back()) {
        if (!name.starts_with("out_ptr")) add_once(launch.reads, b);
        if (writes) add_once(launch.writes, b);
      }
    }
    out_.launches.push_back(std::move(launch));
  }

  void library(std::string_view callee, std::string_view text, std::string_view operands) {
    CodeLaunch launch = start(callee, text);
    const bool out = callee.ends_with("_out");
    const std::vector<std::string_view> parts = py::items(operands);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      launch.operands.emplace_back(parts[i]);
      if (const int result = handle(parts[i]); result >= 0) {
        launch.buffers.push_back({result});
        add_once(launch.writes, result);
        if (launch.result < 0) launch.result = result;
        continue;
      }
      launch.buffers.push_back(named(parts[i]));
      for (const int b : launch.buffers.back()) add_once(out && i == 0 ? launch.writes : launch.reads, b);
    }
    if (launch.reads.empty() && launch.writes.empty()) return;
    out_.launches.push_back(std::move(launch));
  }

  std::vector<int> named(std::string_view operand) const {
    std::vector<int> out;
    py::each_name(operand, [&](std::string_view name) {
      if (const int b = find(name); b >= 0) add_once(out, b);
    });
    return out;
  }

  int find(std::string_view name) const {
    const auto it = buffers_.find(std::string(name));
    return it == buffers_.end() ? -1 : it->second;
  }

  CodeBuffer& buffer(int index) { return out_.buffers[static_cast<std::size_t>(index)]; }

  int make(std::string_view name, std::string_view kind) {
    CodeBuffer b;
    b.name = name;
    b.kind = kind;
    b.line = line_;
    out_.buffers.push_back(std::move(b));
    const int index = static_cast<int>(out_.buffers.size()) - 1;
    buffers_[std::string(name)] = index;
    return index;
  }

  OutputCode& out_;
  std::string_view text_;
  std::vector<std::string_view> lines_;
  std::int64_t first_line_;
  CommentBlock comments_;
  std::unordered_map<std::string, int> kernels_, buffers_;
  std::unordered_map<std::string, std::vector<std::string>> arrays_;
  std::int64_t line_ = 0, last_line_ = 0;
};

}  // namespace

void read_cpp_wrapper(OutputCode& out, std::string_view text, std::int64_t first_line) {
  CppReader(out, text, first_line).read();
}

}  // namespace strata::capture::detail
