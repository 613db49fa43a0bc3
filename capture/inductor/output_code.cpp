// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/inductor/output_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/inductor/output_code_impl.h"
#include "capture/inductor/py_text.h"

namespace strata::capture {
namespace detail {
namespace {

std::vector<std::string> names_of(std::string_view list) {
  std::vector<std::string> out;
  for (const std::string_view item : py::items(list)) {
    if (!item.empty()) out.emplace_back(item);
  }
  return out;
}

/// The bracketed text after `key`, or empty.
std::string_view bracketed_after(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const size_t open = line.find('[', at + key.size());
  if (open == std::string_view::npos) return {};
  // Names may hold anything but the bracket; no quotes are meant here.
  const size_t close = line.find(']', open);
  return line.substr(open, close == std::string_view::npos ? close : close + 1 - open);
}

void read_fragment_line(std::string_view line, std::vector<FragmentNode>& fragment, std::vector<std::string>& stores) {
  if (line.starts_with("return")) {
    for (std::string_view name : py::split(line.substr(6))) {
      if (!name.empty() && name[0] == '%') name.remove_prefix(1);
      if (!name.empty()) stores.emplace_back(name);
    }
    return;
  }
  if (line.empty() || line[0] != '%') return;
  const size_t end = line.find_first_of(" :", 1);
  if (end == std::string_view::npos) return;
  FragmentNode node;
  node.name = line.substr(1, end - 1);
  const size_t target = line.find("[target=");
  node.placeholder = line.find("PlaceHolder[") != std::string_view::npos && line.find("call_function") > target;
  if (!node.placeholder && target != std::string_view::npos) {
    std::string_view text = line.substr(target + 8);
    text = text.substr(0, text.find(']'));
    if (text.starts_with("torch.ops.")) text.remove_prefix(10);
    node.target = text;
  }
  fragment.push_back(std::move(node));
}

}  // namespace

void CommentBlock::add(std::string_view line) {
  empty = false;
  const bool indented = line.starts_with("  ");
  line = py::trim(line);
  if (line.starts_with("kernel path:")) {
    path = py::trim(line.substr(12));
    part_ = Part::None;
  } else if (const size_t at = line.find("Source Nodes: ["); at != std::string_view::npos && !indented) {
    source_nodes = names_of(bracketed_after(line, "Source Nodes: "));
    original_aten = names_of(bracketed_after(line, "Original ATen: "));
    part_ = Part::None;
  } else if (line.starts_with("Source node to ATen node mapping:")) {
    part_ = Part::Map;
  } else if (line.starts_with("Graph fragment:")) {
    part_ = Part::Fragment;
  } else if (line.starts_with("[Provenance debug handles]")) {
    const std::string_view text = py::trim(line.substr(26));
    const size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return;
    handle_name = text.substr(0, colon);
    handle = py::integer(text.substr(colon + 1)).value_or(-1);
  } else if (part_ == Part::Map && indented) {
    const size_t arrow = line.find(" => ");
    if (arrow == std::string_view::npos) return;
    auto& [source, nodes] = source_map.emplace_back(line.substr(0, arrow), std::vector<std::string>{});
    for (const std::string_view name : py::split(line.substr(arrow + 4))) nodes.emplace_back(name);
  } else if (part_ == Part::Fragment && indented) {
    read_fragment_line(line, fragment, stores);
  }
}

namespace {

/// Reads the module level of a Python wrapper.
class ModuleReader {
 public:
  explicit ModuleReader(std::string_view text) : text_(text), lines_(py::lines(text)) {}

  OutputCode read() {
    out_.lines = static_cast<std::int64_t>(lines_.size());
    out_.language = "python";
    for (size_t i = 0; i < lines_.size();) i = line(i);
    if (!cpp_source_.empty()) {
      read_cpp_wrapper(out_, cpp_source_, cpp_line_);
      out_.language = "cpp";
    } else {
      read_wrapper(out_, lines_, functions_, partitions_);
    }
    for (const char* name : {"get_args", "benchmark_compiled_module"}) {
      if (const auto f = functions_.find(name); f != functions_.end()) read_examples(out_, lines_, f->second);
    }
    return std::move(out_);
  }

 private:
  size_t offset(size_t line) const { return static_cast<size_t>(lines_[line].data() - text_.data()); }

  /// Takes the line and what belongs to it; returns the next.
  size_t line(size_t i) {
    const std::string_view text = lines_[i];
    if (text.starts_with("#")) return comment(i);
    size_t next = i + 1;
    if (const size_t at = text.find("= async_compile."); at != std::string_view::npos && text[0] != ' ') {
      next = kernel(i, at);
    } else if (text.starts_with("def ")) {
      next = function(i, false);
    } else if (text.starts_with("    def ")) {
      next = function(i, true);
    } else if (text.starts_with("runner = ") || text.starts_with("call = Runner(")) {
      runner(text);
    } else if (text.starts_with("cpp_wrapper_src")) {
      next = embedded_cpp(i);
    } else if (const size_t none = text.find(" = None  #"); none != std::string_view::npos && text[0] != ' ') {
      constant(text.substr(0, none), i);
    } else if (const size_t shader = text.find(" = compile_mps_shader("); shader != std::string_view::npos) {
      next = kernel(i, shader + 1);
    }
    comments_ = {};
    return next;
  }

  size_t comment(size_t i) {
    std::string_view text = lines_[i].substr(1);
    if (i < 4 && text.find("AOT ID:") != std::string_view::npos) aot_id(text);
    if (comments_.empty) comments_.first_line = static_cast<std::int64_t>(i) + 1;
    if (!text.empty() && text[0] == ' ') text.remove_prefix(1);
    comments_.add(text);
    return i + 1;
  }

  void aot_id(std::string_view text) {
    const size_t open = text.find('[');
    if (open == std::string_view::npos) return;
    const std::vector<std::string_view> ids = py::items(text.substr(open));
    if (ids.empty()) return;
    out_.aot_id = py::unquote(ids[0]);
    for (const char* role : {"forward", "backward", "inference"}) {
      if (out_.aot_id.ends_with(role)) out_.role = role;
    }
  }

  /// `NAME = async_compile.METHOD(..., '''CODE''' ...)`, `at`: where the `=` stands.
  size_t kernel(size_t i, size_t at) {
    const std::string_view head = lines_[i];
    CodeKernel kernel;
    kernel.name = py::trim(head.substr(0, at));
    std::string_view method = py::trim(head.substr(at + 1));
    if (method.starts_with("async_compile.")) method.remove_prefix(14);
    const size_t open = method.find('(');
    kernel.language = language(method.substr(0, open));
    kernel.first_line = comments_.empty ? static_cast<std::int64_t>(i) + 1 : comments_.first_line;
    take_comments(kernel);
    const size_t next = body(kernel, i, static_cast<size_t>(method.data() - text_.data()));
    kernel.last_line = static_cast<std::int64_t>(next);
    describe_kernel(kernel);
    if (py::is_name(kernel.name)) out_.kernels.push_back(std::move(kernel));
    return next;
  }

  static std::string language(std::string_view method) {
    if (method.starts_with("cpp")) return "cpp";
    if (method == "multi_kernel" || method.starts_with("size_hint_multi_kernel")) return "triton";
    if (method == "compile_mps_shader") return "metal";
    return std::string(method);
  }

  void take_comments(CodeKernel& kernel) {
    kernel.path = std::move(comments_.path);
    kernel.source_nodes = std::move(comments_.source_nodes);
    kernel.original_aten = std::move(comments_.original_aten);
    kernel.source_map = std::move(comments_.source_map);
    kernel.fragment = std::move(comments_.fragment);
    kernel.stores = std::move(comments_.stores);
  }

  /// Reads the definition that starts at offset `from` in line `i`; returns the line after it.
  size_t body(CodeKernel& kernel, size_t i, size_t from) {
    const size_t line_end = offset(i) + lines_[i].size();
    size_t quote = std::min(text_.find("'''", from), text_.find("\"\"\"", from));
    if (quote != std::string_view::npos && quote > line_end && !opens_below(i, quote)) quote = std::string_view::npos;
    if (quote == std::string_view::npos) return call_without_code(kernel, i, from);
    if (const size_t first = text_.find_first_of("'\"", from); first < quote) {
      const std::string_view symbol = py::unquote(text_.substr(first, quote - first));
      if (kernel.language != "cpp" && py::is_name(symbol)) kernel.symbol = symbol;
    }
    const std::string_view marks = text_.substr(quote, 3);
    size_t begin = quote + 3;
    if (const std::string_view args = text_.substr(from, quote - from); kernel.language == "cpp")
      cpp_types(kernel, args);
    if (begin < text_.size() && text_[begin] == '\n') ++begin;
    size_t end = text_.find(marks, begin);
    if (end == std::string_view::npos) end = text_.size();
    kernel.code = text_.substr(std::min(begin, end), end - std::min(begin, end));
    kernel.code_line = static_cast<std::int64_t>(line_of(begin, i)) + 1;
    return line_of(end, i) + 1;
  }

  /// Whether the quotes at `quote` still belong to the call that line `i` begins.
  bool opens_below(size_t i, size_t quote) const {
    const size_t begin = offset(i);
    return quote - begin < 65536 && py::open_brackets(text_.substr(begin, quote - begin)) > 0;
  }

  size_t line_of(size_t at, size_t from) const {
    const auto it = std::upper_bound(
        lines_.begin() + static_cast<std::ptrdiff_t>(from), lines_.end(), at,
        [&](size_t value, std::string_view line) { return value < static_cast<size_t>(line.data() - text_.data()); });
    return static_cast<size_t>(it - lines_.begin()) - 1;
  }

  /// A multi-kernel: names of others in brackets, perhaps over several lines.
  size_t call_without_code(CodeKernel& kernel, size_t i, size_t from) {
    const size_t open = text_.find('(', from);
    if (open == std::string_view::npos) return i + 1;
    const std::string_view rest = text_.substr(open, std::min<size_t>(text_.size() - open, 1 << 20));
    const size_t close = py::closing(rest, 0);
    if (close == std::string_view::npos) return i + 1;
    py::each_name(rest.substr(0, close), [&](std::string_view name) {
      if (out_.find_kernel(name) >= 0) kernel.variants.emplace_back(name);
    });
    if (!kernel.variants.empty()) kernel.family = "multi";
    return line_of(open + close, i) + 1;
  }

  static void cpp_types(CodeKernel& kernel, std::string_view args) {
    const size_t open = args.find('[');
    if (open == std::string_view::npos) return;
    for (const std::string_view type : py::items(args.substr(open))) {
      kernel.parameters.emplace_back("", py::unquote(type));
    }
  }

  size_t function(size_t i, bool method) {
    const std::string_view text = lines_[i].substr(method ? 8 : 4);  // behind `def `
    const std::string_view name = text.substr(0, text.find('('));
    const size_t indent = method ? 4 : 0;
    size_t end = i + 1;
    while (end < lines_.size() && inside(lines_[end], indent)) ++end;
    if (py::is_name(name)) functions_[std::string(name)] = {i + 1, end, method};
    return end;
  }

  static bool inside(std::string_view line, size_t indent) {
    const size_t first = line.find_first_not_of(" \t");
    return first == std::string_view::npos || first > indent;
  }

  void runner(std::string_view text) {
    const size_t at = text.find("partitions=[");
    if (at == std::string_view::npos) return;
    for (const std::string_view name : py::items(text.substr(at + 11))) partitions_.emplace_back(name);
  }

  size_t embedded_cpp(size_t i) {
    const size_t quote = std::min(text_.find("'''", offset(i)), text_.find("\"\"\"", offset(i)));
    if (quote == std::string_view::npos) return i + 1;
    const size_t end = std::min(text_.find(text_.substr(quote, 3), quote + 3), text_.size());
    if (cpp_source_.empty()) {
      cpp_source_ = text_.substr(quote + 3, end - quote - 3);
      cpp_line_ = static_cast<std::int64_t>(line_of(quote, i)) + 1;
    }
    return line_of(end, i) + 1;
  }

  void constant(std::string_view name, size_t i) {
    if (!py::is_name(name)) return;
    CodeBuffer buffer;
    buffer.name = name;
    buffer.kind = "constant";
    buffer.line = static_cast<std::int64_t>(i) + 1;
    out_.buffers.push_back(std::move(buffer));
  }

  std::string_view text_;
  std::vector<std::string_view> lines_;
  OutputCode out_;
  CommentBlock comments_;
  PyFunctions functions_;
  std::vector<std::string> partitions_;
  std::string_view cpp_source_;
  std::int64_t cpp_line_ = 0;
};

}  // namespace
}  // namespace detail

int OutputCode::find_kernel(std::string_view name) const {
  for (size_t i = kernels.size(); i-- > 0;) {
    if (kernels[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int OutputCode::find_buffer(std::string_view name) const {
  for (size_t i = buffers.size(); i-- > 0;) {
    if (buffers[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int OutputCode::storage_of(int buffer) const {
  // A chain is as long as the list at most; a longer one would be a circle.
  for (size_t steps = 0; buffer >= 0 && steps <= buffers.size(); ++steps) {
    const CodeBuffer& b = buffers[static_cast<size_t>(buffer)];
    const int next = b.reuse_of >= 0 ? b.reuse_of : b.alias_of;
    if (next < 0) break;
    buffer = next;
  }
  return buffer;
}

OutputCode parse_output_code(std::string_view text) {
  const bool cpp =
      text.find("::run_impl(") != std::string_view::npos || py::trim(text.substr(0, 4096)).starts_with("#include");
  if (!cpp) return detail::ModuleReader(text).read();
  OutputCode out;
  out.language = "cpp";
  out.lines = static_cast<std::int64_t>(py::lines(text).size());
  detail::read_cpp_wrapper(out, text, 1);
  return out;
}

std::string output_code_hash(std::string_view text) {
  // FNV-1a with two offset bases: what is compared was made by one compiler, not by an adversary.
  std::uint64_t a = 0xcbf29ce484222325, b = 0x84222325cbf29ce4;
  const auto feed = [&](std::string_view part) {
    for (const char c : part) {
      a = (a ^ static_cast<unsigned char>(c)) * 0x100000001b3;
      b = (b ^ static_cast<unsigned char>(c) ^ (a >> 32)) * 0x100000001b3;
    }
  };
  for (const std::string_view line : py::lines(text)) {
    const std::string_view code = py::trim(line);
    if (code.empty() || code[0] == '#' || code.starts_with("compiled_module_main(")) continue;
    feed(code);
    feed("\n");
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

}  // namespace strata::capture
