// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Reads the functions of a Python wrapper: what `call` does, in order.

#include <algorithm>

#include "capture/inductor/output_code_impl.h"
#include "capture/inductor/py_text.h"

namespace strata::capture::detail {
namespace {

constexpr int kMaxDepth = 16;
constexpr size_t kMaxLaunches = 1'000'000;
constexpr size_t kMaxStatementLines = 10'000;

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

void add_once(std::vector<int>& list, int value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> heads) {
  return std::any_of(heads.begin(), heads.end(), [&](std::string_view head) { return text.starts_with(head); });
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

bool allocates(std::string_view callee) {
  return starts_with_any(callee, {"empty_strided", "torch.empty", "empty", "_empty", "new_empty"});
}

class WrapperReader {
 public:
  WrapperReader(OutputCode& out, const std::vector<std::string_view>& lines, const PyFunctions& functions,
                const std::vector<std::string>& partitions)
      : out_(out), lines_(lines), functions_(functions), partitions_(partitions) {
    for (size_t i = 0; i < out.kernels.size(); ++i) kernels_[out.kernels[i].name] = static_cast<int>(i);
    for (size_t i = 0; i < out.buffers.size(); ++i) buffers_[out.buffers[i].name] = static_cast<int>(i);
  }

  void read() {
    const auto call = functions_.find("call");
    if (call == functions_.end()) return;
    run(call->second);
    for (const int b : out_.output_buffers) {
      if (b >= 0 && out_.buffers[static_cast<size_t>(b)].kind == "temporary") {
        out_.buffers[static_cast<size_t>(b)].kind = "output";
      }
    }
  }

 private:
  using Values = std::vector<int>;  ///< buffers; -1: no buffer

  /// Executes the statements of a function; its returned buffers are left in `returned_`.
  void run(const PyFunction& function) {
    if (depth_ >= kMaxDepth) return;
    ++depth_;
    const size_t scopes = scopes_.size();
    CommentBlock comments;
    for (size_t i = function.first; i < function.last && out_.launches.size() < kMaxLaunches;) {
      const std::string_view line = lines_[i];
      const std::string_view text = py::trim(line);
      if (text.empty()) {
        ++i;
        continue;
      }
      if (text[0] == '#') {
        std::string_view comment = text.substr(1);
        if (comment.starts_with(" ")) comment.remove_prefix(1);
        comments.add(comment);
        ++i;
        continue;
      }
      leave_scopes(line.find_first_not_of(" \t"), scopes);
      const size_t next = end_of_statement(i, function.last);
      statement(i, next, comments);
      i = next;
    }
    scopes_.resize(std::min(scopes_.size(), scopes));
    --depth_;
  }

  size_t end_of_statement(size_t i, size_t last) const {
    int depth = py::open_brackets(lines_[i]);
    size_t next = i + 1;
    while (depth > 0 && next < last && next - i < kMaxStatementLines) depth += py::open_brackets(lines_[next++]);
    return next;
  }

  void leave_scopes(size_t indent, size_t keep) {
    while (scopes_.size() > keep && scopes_.back().first >= indent) scopes_.pop_back();
  }

  void statement(size_t first, size_t next, CommentBlock& comments) {
    std::string joined;
    std::string_view text = py::trim(lines_[first]);
    if (next > first + 1) {
      for (size_t i = first; i < next; ++i) {
        if (i > first) joined += ' ';
        joined += py::without_comment(lines_[i]);
      }
      text = joined;
    }
    if (scope(text, lines_[first].find_first_not_of(" \t"))) return;
    // `a = b; del b  # reuse`
    for (const std::string_view part : py::split(py::without_comment(text), ';')) {
      line_ = static_cast<std::int64_t>(first) + 1;
      last_line_ = static_cast<std::int64_t>(next);
      if (simple(part, text.find("# reuse") != std::string_view::npos, comments)) comments = {};
    }
  }

  bool scope(std::string_view text, size_t indent) {
    for (const char* word : {"if ", "while ", "for ", "elif ", "else:", "with ", "try:", "except", "finally:"}) {
      if (!text.starts_with(word)) continue;
      const bool always = word[0] == 't' || std::string_view(word) == "with " || word[0] == 'f';
      std::string_view what = text.substr(0, text.find(':'));
      scopes_.emplace_back(indent, always && word[1] != 'o' ? std::string() : std::string(what));
      return true;
    }
    return false;
  }

  std::string current_scope() const {
    std::string out;
    for (const auto& [indent, text] : scopes_) {
      if (text.empty()) continue;
      if (!out.empty()) out += " > ";
      out += text;
    }
    return out;
  }

  /// One simple statement. Returns whether the comments before it were its own (or no longer are anyone's).
  bool simple(std::string_view text, bool reuse, const CommentBlock& comments) {
    if (text.starts_with("del ") || text == "pass" || text.starts_with("global ")) return false;
    if (text.starts_with("return")) {
      returns(py::trim(text.substr(6)));
      return true;
    }
    const size_t equals = py::assignment(text);
    if (equals == std::string_view::npos) return call(text, {}, comments);
    const std::string_view left = py::trim(text.substr(0, equals));
    const std::string_view right = py::trim(text.substr(equals + 1));
    if (right.empty() || left.empty()) return false;
    return assign(left, right, reuse, comments);
  }

  bool assign(std::string_view left, std::string_view right, bool reuse, const CommentBlock& comments) {
    if (right == "args") {
      unpack_arguments(left);
      return false;
    }
    if (py::is_name(right)) {
      rename(left, right, reuse);
      return false;
    }
    if (right[0] == '[') {
      list(left, right);
      return false;
    }
    if (const size_t open = right.find('['); open != std::string_view::npos && py::is_name(right.substr(0, open))) {
      element(left, right.substr(0, open), right.substr(open), right);
      return false;
    }
    if (right.starts_with("reinterpret_tensor(") || right.starts_with("alloc_from_pool(")) {
      view(left, right, reuse);
      return false;
    }
    if (right.find(".item()") != std::string_view::npos) return item(left, right, comments);
    const size_t open = right.find('(');
    if (open != std::string_view::npos && allocates(right.substr(0, open))) {
      allocate(left, right, open);
      return false;
    }
    return call(right, left, comments);
  }

  int find(std::string_view name) const {
    const auto it = buffers_.find(std::string(name));
    return it == buffers_.end() ? -1 : it->second;
  }

  CodeBuffer& buffer(int index) { return out_.buffers[static_cast<size_t>(index)]; }

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

  void unpack_arguments(std::string_view left) {
    size_t position = 0;
    for (const std::string_view name : py::items(left)) {
      for (const std::string_view one : py::split(name)) argument(one, position++);
    }
    arguments_.clear();
  }

  void argument(std::string_view name, size_t position) {
    if (!py::is_name(name)) return;
    if (depth_ == 1) {
      out_.inputs.push_back(make(name, "input"));
      return;
    }
    // An inner function: its arguments are what the caller put into the list.
    const int given = position < arguments_.size() ? arguments_[position] : -1;
    if (given >= 0 && buffer(given).name == name) return;
    const int index = make(name, "temporary");
    buffer(index).alias_of = given;
    if (given >= 0) copy_layout(index, given);
  }

  void copy_layout(int to, int from) {
    CodeBuffer& b = buffer(to);
    const CodeBuffer& source = buffer(from);
    b.sizes = source.sizes;
    b.strides = source.strides;
    b.has_sizes = source.has_sizes;
    b.dtype = source.dtype;
    b.device = source.device;
  }

  /// `buf3 = buf1` takes over memory; `s77 = arg0_1` names a size.
  void rename(std::string_view left, std::string_view right, bool reuse) {
    const int from = find(right);
    if (from < 0 || !py::is_name(left) || find(left) == from) return;
    if (depth_ == 1 && !reuse && size_symbol(left)) {
      for (int& input : out_.inputs) {
        if (input == from) input = -1;
      }
      buffer(from).kind = "symbol";
      buffer(from).inits.assign(1, std::string(left));
      buffers_.erase(buffer(from).name);
      return;
    }
    const int index = make(left, "temporary");
    (reuse ? buffer(index).reuse_of : buffer(index).alias_of) = from;
    copy_layout(index, from);
  }

  static bool size_symbol(std::string_view name) {
    const size_t digits = name.find_first_of("0123456789");
    if (digits == std::string_view::npos || digits == 0) return false;
    const std::string_view head = name.substr(0, digits);
    return head == "s" || head == "u" || head == "ps" || head == "zf" || head == "zuf" || head == "i";
  }

  void list(std::string_view left, std::string_view right) {
    Values values;
    for (const std::string_view item : py::items(right)) values.push_back(root_name(item));
    lists_[std::string(left)] = std::move(values);
  }

  /// The first buffer that an expression names.
  int root_name(std::string_view expression) const {
    int found = -1;
    py::each_name(expression, [&](std::string_view name) {
      if (found < 0) found = find(name);
    });
    return found;
  }

  void element(std::string_view left, std::string_view base, std::string_view subscript, std::string_view right) {
    if (!py::is_name(left)) return;
    const size_t close = subscript.find(']');
    const auto number = close == std::string_view::npos ? std::nullopt : py::integer(subscript.substr(1, close - 1));
    int from = find(base);
    if (const auto known = lists_.find(std::string(base)); known != lists_.end() && number && *number >= 0) {
      const auto& values = known->second;
      from = static_cast<size_t>(*number) < values.size() ? values[static_cast<size_t>(*number)] : -1;
    }
    if (base == "args" || from < 0) {
      if (base == "args") argument(left, number ? static_cast<size_t>(std::max<std::int64_t>(*number, 0)) : 0);
      return;
    }
    const int index = make(left, "temporary");
    buffer(index).alias_of = from;
    buffer(index).element = number ? static_cast<int>(std::clamp<std::int64_t>(*number, -1, 1 << 20)) : -1;
    buffer(index).device = buffer(from).device;
    buffer(index).inits.emplace_back(right);
  }

  /// `reinterpret_tensor(buf0, (8, 4), (4, 1), 0)`, `alloc_from_pool(pool0, 0, torch.float32, (8, 4), (4, 1))`
  void view(std::string_view left, std::string_view right, bool reuse) {
    const std::vector<std::string_view> parts = py::items(right.substr(right.find('(')));
    const int from = parts.empty() ? -1 : root_name(parts[0]);
    if (!py::is_name(left)) return;
    const int index = make(left, "temporary");
    CodeBuffer& b = buffer(index);
    const bool pool = right.starts_with("alloc_from_pool");
    (reuse || pool ? b.reuse_of : b.alias_of) = from;
    const size_t sizes = pool ? 3 : 1;
    if (parts.size() > sizes + 1) set_layout(index, parts[sizes], parts[sizes + 1]);
    if (from >= 0) {
      b.device = buffer(from).device;
      b.dtype = buffer(from).dtype;
    }
    if (pool && parts.size() > 2) b.dtype = dtype(parts[2]);
    b.inits.emplace_back(right);
  }

  static std::string dtype(std::string_view text) {
    if (text.starts_with("torch.")) text.remove_prefix(6);
    return std::string(text);
  }

  void set_layout(int index, std::string_view sizes, std::string_view strides) {
    CodeBuffer& b = buffer(index);
    if (sizes.empty() || sizes[0] != '(') return;
    b.sizes.clear();
    b.strides.clear();
    for (const std::string_view size : py::items(sizes)) b.sizes.emplace_back(size);
    for (const std::string_view stride : py::items(strides)) b.strides.emplace_back(stride);
    b.has_sizes = true;
  }

  /// `empty_strided_cuda((8, 4), (4, 1), torch.float32)` and the older forms with keywords.
  void allocate(std::string_view left, std::string_view right, size_t open) {
    if (!py::is_name(left)) return;
    const int index = make(left, "temporary");
    const std::string_view callee = right.substr(0, open);
    const std::vector<std::string_view> parts = py::items(right.substr(open));
    if (parts.size() >= 2) set_layout(index, parts[0], parts[1]);
    CodeBuffer& b = buffer(index);
    for (const std::string_view part : parts) {
      if (part.starts_with("torch.")) b.dtype = dtype(part);
      if (part.starts_with("dtype=")) b.dtype = dtype(part.substr(6));
      if (part.starts_with("device=")) b.device = device(part.substr(7));
    }
    for (const char* name : {"cuda", "cpu", "xpu", "mtia", "mps"}) {
      if (callee.find(std::string("_") + name) != std::string_view::npos) b.device = name;
    }
    if (callee.ends_with("_p2p")) b.device = "cuda";
    b.inits.emplace_back(right);
  }

  static std::string device(std::string_view text) {
    if (text.starts_with("torch.")) text.remove_prefix(6);
    if (text.starts_with("device(")) {
      const std::vector<std::string_view> parts = py::items(text.substr(6));
      for (std::string_view part : parts) {
        if (part.starts_with("type=")) part.remove_prefix(5);
        return std::string(py::unquote(part));
      }
    }
    return std::string(py::unquote(text));
  }

  bool item(std::string_view left, std::string_view right, const CommentBlock& comments) {
    CodeLaunch launch = start("aten.item", right, comments);
    launch.operands.emplace_back(right);
    launch.buffers.push_back(named(right));
    for (const int b : launch.buffers[0]) add_once(launch.reads, b);
    (void)left;
    if (launch.reads.empty()) return false;
    out_.launches.push_back(std::move(launch));
    return true;
  }

  CodeLaunch start(std::string_view callee, std::string_view text, const CommentBlock& comments) const {
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

  std::vector<int> named(std::string_view operand) const {
    std::vector<int> out;
    py::each_name(operand, [&](std::string_view name) {
      if (const int b = find(name); b >= 0) add_once(out, b);
    });
    return out;
  }

  /// A call as a statement or as the right side of an assignment.
  bool call(std::string_view text, std::string_view left, const CommentBlock& comments) {
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

  std::string inner_function(std::string_view callee) const {
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

  void call_inner(const std::string& name, std::string_view left, std::string_view operands) {
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

  void bind_results(std::string_view left, const Values& values) {
    size_t i = 0;
    for (const std::string_view item : py::items(left)) {
      for (const std::string_view name : py::split(item)) {
        const int value = i < values.size() ? values[i] : -1;
        ++i;
        if (!py::is_name(name) || (value >= 0 && buffer(value).name == name)) continue;
        const int index = make(name, "temporary");
        buffer(index).alias_of = value;
        if (value >= 0) copy_layout(index, value);
      }
    }
  }

  void check_layout(std::string_view operands) {
    const std::vector<std::string_view> parts = py::items(operands);
    if (parts.size() < 3) return;
    const int index = find(parts[0]);
    if (index >= 0 && !buffer(index).has_sizes) set_layout(index, parts[1], parts[2]);
  }

  int unknown_kernel(std::string_view name) {
    CodeKernel kernel;
    kernel.name = name;
    kernel.language = name.starts_with("cpp_") ? "cpp" : "triton";
    out_.kernels.push_back(std::move(kernel));
    const int index = static_cast<int>(out_.kernels.size()) - 1;
    kernels_[std::string(name)] = index;
    return index;
  }

  bool launch_kernel(int index, std::string_view text, std::string_view operands, const CommentBlock& comments) {
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

  const CodeKernel& variant(const CodeKernel& kernel) const {
    const auto it = kernels_.find(kernel.variants[0]);
    return it == kernels_.end() ? kernel : out_.kernels[static_cast<size_t>(it->second)];
  }

  static size_t parameter_position(const CodeKernel& kernel, std::string_view operand, size_t position) {
    const size_t equals = operand.find('=');
    if (equals == std::string_view::npos || !py::is_name(operand.substr(0, equals))) return position;
    for (size_t i = 0; i < kernel.parameters.size(); ++i) {
      if (kernel.parameters[i].first == operand.substr(0, equals)) return i;
    }
    return position;
  }

  bool library(std::string_view callee, std::string_view text, size_t open, std::string_view left,
               const CommentBlock& comments) {
    const size_t dot = callee.find('.');
    const int owner = dot == std::string_view::npos ? -1 : find(callee.substr(0, dot));
    std::string name(callee);
    if (owner >= 0) {
      const std::string_view method = callee.substr(callee.rfind('.') + 1);
      if (starts_with_any(method,
                          {"size", "stride", "data_ptr", "append", "storage_offset", "dim", "numel", "sizes"})) {
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

  static void library_uses(CodeLaunch& launch) {
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

  void take_result(CodeLaunch& launch, std::string_view left) {
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

  void returns(std::string_view text) {
    returned_.clear();
    for (const std::string_view item : py::items(text)) {
      returned_.push_back(root_name(item));
      if (depth_ == 1) out_.outputs.emplace_back(item);
    }
    if (depth_ == 1) out_.output_buffers = returned_;
  }

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

}  // namespace

void read_wrapper(OutputCode& out, const std::vector<std::string_view>& lines, const PyFunctions& functions,
                  const std::vector<std::string>& partitions) {
  WrapperReader(out, lines, functions, partitions).read();
}

void read_examples(OutputCode& out, const std::vector<std::string_view>& lines, const PyFunction& function) {
  std::unordered_map<std::string_view, int> inputs;
  for (size_t i = 0; i < out.buffers.size(); ++i) {
    const CodeBuffer& b = out.buffers[i];
    if (b.kind != "temporary") inputs.try_emplace(b.name, static_cast<int>(i));
  }
  for (size_t i = function.first; i < function.last; ++i) {
    const size_t equals = py::assignment(lines[i]);
    if (equals == std::string_view::npos) continue;
    const auto it = inputs.find(py::trim(lines[i].substr(0, equals)));
    const std::string_view right = py::trim(lines[i].substr(equals + 1));
    if (it == inputs.end()) continue;
    CodeBuffer& b = out.buffers[static_cast<size_t>(it->second)];
    if (b.kind == "symbol") {
      const auto hint = py::integer(right);
      if (hint && !b.inits.empty()) out.symbol_hints.emplace_back(b.inits[0], *hint);
      continue;
    }
    if (!right.starts_with("rand_strided(")) continue;
    const std::vector<std::string_view> parts = py::items(right.substr(12));
    for (std::string_view part : parts) {
      if (part.starts_with("device=")) b.device = py::unquote(part.substr(7));
      if (part.starts_with("dtype=torch.")) b.dtype = part.substr(12);
    }
    if (b.has_sizes || parts.size() < 2) continue;
    for (const std::string_view size : py::items(parts[0])) b.sizes.emplace_back(size);
    for (const std::string_view stride : py::items(parts[1])) b.strides.emplace_back(stride);
    b.has_sizes = true;
  }
}

}  // namespace strata::capture::detail
