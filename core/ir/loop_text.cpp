// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Text form of loop IR. One line per item, indented by depth; `!7` at the end of a line is the graph node it comes
/// from.
///
///   kernel fused_softmax_3 nodes 4 5
///     schedule vector_axis=1
///     size s77 in 2..1024
///     axis i0 < 64
///     buffer x@0 f32[64*s77] input !1
///     outer i0
///     nest r0
///       %0 f32 = load x@0[s77*i0 + r0] !1
///       reduce max f32 %0 !4
///
/// Scalars are numbered in the order of the text, so that printing what was parsed gives the same text.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "core/ir/loop.h"
#include "core/support/error.h"

namespace strata::loop {

namespace {

constexpr std::string_view kRoles[] = {"input", "output", "inout", "local"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == ':'; }

std::string word(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = is_word(c) ? c : '_';
  return out.empty() ? "_" : out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string number_text(double value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  char text[40];
  auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

std::string bound_text(int64_t value) {
  if (value == kSymMin) return "-oo";
  return value == kSymMax ? "oo" : std::to_string(value);
}

// ---------------------------------------------------------------------------------------------------------------
// printing

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : k_(kernel) {
    for (const Nest& nest : k_.nests) {
      for (ScalarId id : nest.body) numbers_.emplace(id, numbers_.size());
    }
    for (const auto& [symbol, scalar] : k_.indirect) lets_[scalar].push_back(symbol);
    for (auto& [scalar, symbols] : lets_) std::sort(symbols.begin(), symbols.end());
    env_ = find_env();
  }

  std::string print() {
    out_ = "kernel " + word(k_.name);
    if (!k_.nodes.empty()) out_ += " nodes";
    for (uint64_t node : k_.nodes) out_ += " " + std::to_string(node);
    out_ += "\n";
    print_schedule();
    for (size_t symbol : k_.symbols) print_size(symbol);
    for (const Axis& axis : k_.axes) out_ += "  axis " + axis.name + " < " + axis.extent.str() + "\n";
    if (!(k_.flops == SymInt(0))) out_ += "  flops " + k_.flops.str() + "\n";
    for (BufferId i = 0; i < k_.buffers.size(); ++i) print_buffer(i);
    for (const Check& check : k_.checks) print_check(check);
    out_ += "  outer" + axes_text(k_.outer) + "\n";
    for (const Nest& nest : k_.nests) print_nest(nest);
    return std::move(out_);
  }

 private:
  const ShapeEnv* find_env() const {
    for (const Axis& axis : k_.axes) {
      if (!axis.extent.is_const()) return axis.extent.env();
    }
    for (const Scalar& s : k_.scalars) {
      if (!s.index.is_const()) return s.index.env();
    }
    for (const Nest& nest : k_.nests) {
      for (const Store& store : nest.stores) {
        if (!store.index.is_const()) return store.index.env();
      }
    }
    for (const Buffer& buffer : k_.buffers) {
      if (!buffer.numel.is_const()) return buffer.numel.env();
    }
    return nullptr;
  }

  void print_schedule() {
    const Schedule& s = k_.schedule;
    std::string text;
    if (s.vector_axis >= 0) text += " vector_axis=" + std::to_string(s.vector_axis);
    if (s.vector_width) text += " vector_width=" + std::to_string(s.vector_width);
    if (s.unroll) text += " unroll=" + std::to_string(s.unroll);
    if (s.grain) text += " grain=" + std::to_string(s.grain);
    if (!s.reason.empty()) text += " reason=" + quoted(s.reason);
    if (!text.empty()) out_ += "  schedule" + text + "\n";
  }

  void print_size(size_t id) {
    if (!env_ || id >= env_->symbol_count()) {
      out_ += "  size _" + std::to_string(id) + " in -oo..oo\n";
      return;
    }
    const Symbol& info = env_->info(id);
    out_ += "  size " + info.name + " in " + bound_text(info.range.min) + ".." + bound_text(info.range.max) + "\n";
  }

  void print_buffer(BufferId id) {
    const Buffer& b = k_.buffers[id];
    out_ += "  buffer " + buffer_text(id) + " " + std::string(dtype_abbr(b.dtype)) + "[" + b.numel.str() + "] " +
            std::string(kRoles[static_cast<size_t>(b.role)]);
    end_line(b.node);
  }

  void print_check(const Check& c) {
    out_ += c.kind == Check::Kind::Divisor ? "  check divisor" : "  check index < [" + c.size.str() + "]";
    if (c.wrapped) out_ += " wrapped";
    out_ += " " + quoted(c.text) + " " + quoted(c.where);
    end_line(c.node);
  }

  void print_nest(const Nest& nest) {
    out_ += "  nest" + axes_text(nest.axes) + (nest.scan ? " scan" : "") + "\n";
    for (ScalarId id : nest.body) print_scalar(id);
    for (const Reduction& r : nest.reductions) {
      out_ += "    reduce " + std::string(to_string(r.combine)) + " " + std::string(dtype_abbr(r.dtype)) + " " +
              ref(r.value);
      if (r.position != kNone) out_ += " at " + ref(r.position);
      if (r.mask != kNone) out_ += " if " + ref(r.mask);
      end_line(r.node);
    }
    for (const Store& s : nest.stores) {
      out_ += "    store " + buffer_text(s.buffer) + "[" + s.index.str() + "] " + (s.accumulate ? "+= " : "= ") +
              ref(s.value);
      if (s.mask != kNone) out_ += " if " + ref(s.mask);
      end_line(s.node);
    }
  }

  void print_scalar(ScalarId id) {
    const Scalar& s = k_.scalars[id];
    out_ += "    " + ref(id) + " " + std::string(dtype_abbr(s.dtype)) + " = " + std::string(to_string(s.op));
    switch (s.op) {
      case ScalarOp::Const:
        out_ += " " + (is_floating(s.dtype) ? number_text(s.number) : std::to_string(s.integer));
        break;
      case ScalarOp::Index:
        out_ += " [" + s.index.str() + "]";
        break;
      case ScalarOp::Load:
        out_ += " " + buffer_text(s.buffer) + "[" + s.index.str() + "]";
        if (s.a != kNone) out_ += " if " + ref(s.a);
        break;
      case ScalarOp::Reduced:
        out_ += " " + std::to_string(s.a) + "." + std::to_string(s.b) + "." + std::to_string(s.integer);
        break;
      case ScalarOp::Check:
        out_ += " " + ref(s.a) + " if " + ref(s.b) + " else " + ref(s.c) + " " + std::to_string(s.integer);
        break;
      default:
        for (ScalarId operand : {s.a, s.b, s.c}) {
          if (operand != kNone) out_ += " " + ref(operand);
        }
    }
    end_line(s.node);
    auto let = lets_.find(id);
    if (let == lets_.end() || !env_) return;
    for (size_t symbol : let->second) {
      const Symbol& info = env_->info(symbol);
      out_ += "    let " + info.name + " = " + ref(id) + " in " + bound_text(info.range.min) + ".." +
              bound_text(info.range.max);
      if (info.max_expr) out_ += " max [" + info.max_expr->str() + "]";
      out_ += "\n";
    }
  }

  void end_line(uint64_t node) { out_ += node ? " !" + std::to_string(node) + "\n" : "\n"; }

  std::string ref(ScalarId id) const {
    auto it = numbers_.find(id);
    return it == numbers_.end() ? "%?" : "%" + std::to_string(it->second);
  }
  std::string buffer_text(BufferId id) const {
    return (id < k_.buffers.size() ? word(k_.buffers[id].name) : "?") + "@" + std::to_string(id);
  }
  std::string axes_text(const std::vector<AxisId>& axes) const {
    std::string out;
    for (AxisId a : axes) out += " " + (a < k_.axes.size() ? k_.axes[a].name : "?");
    return out;
  }

  const Kernel& k_;
  const ShapeEnv* env_ = nullptr;
  std::unordered_map<ScalarId, size_t> numbers_;
  std::map<ScalarId, std::vector<size_t>> lets_;
  std::string out_;
};

// ----------------------------------------------------------------------------------------------------------------
// parsing

class Parser {
 public:
  Parser(ShapeEnv& env, std::string_view text) : env_(env), text_(text) {}

  Kernel parse() {
    bool seen_kernel = false;
    while (next_line()) {
      std::string_view head = take_word();
      if (!seen_kernel && head != "kernel") fail("expected 'kernel'");
      if (head == "kernel" && seen_kernel) fail("expected one kernel, found a second");
      seen_kernel = true;
      statement(head);
      if (!rest_.empty()) fail("unexpected '" + std::string(rest_) + "'");
    }
    if (!seen_kernel) fail("expected 'kernel', found nothing");
    return std::move(k_);
  }

 private:
  bool next_line() {
    while (!text_.empty()) {
      size_t end = text_.find('\n');
      rest_ = text_.substr(0, end);
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      ++line_;
      node_ = 0;
      skip();
      if (rest_.empty()) continue;
      take_node();
      return true;
    }
    return false;
  }

  /// `!7` at the end of the line.
  void take_node() {
    size_t mark = rest_.rfind(" !");
    if (mark == std::string_view::npos) return;
    std::string_view digits = rest_.substr(mark + 2);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return;
    node_ = number<uint64_t>(digits);
    rest_ = rest_.substr(0, mark);
  }

  void statement(std::string_view head) {
    if (head == "kernel") return kernel_line();
    if (head == "schedule") return schedule_line();
    if (head == "size") return size_line();
    if (head == "axis") return axis_line();
    if (head == "flops") return void(k_.flops = expression(rest_to_end()));
    if (head == "buffer") return buffer_line();
    if (head == "check") return check_line();
    if (head == "outer") return void(k_.outer = axes());
    if (head == "nest") return nest_line();
    if (k_.nests.empty()) fail("expected 'nest', found '" + std::string(head) + "'");
    if (head == "reduce") return reduce_line();
    if (head == "store") return store_line();
    if (head == "let") return let_line();
    if (head.starts_with("%")) return scalar_line(head);
    fail("unknown statement '" + std::string(head) + "'");
  }

  void kernel_line() {
    k_.name = take_word();
    if (rest_.empty()) return;
    expect("nodes");
    while (!rest_.empty()) k_.nodes.push_back(number<uint64_t>(take_word()));
  }

  void schedule_line() {
    Schedule& s = k_.schedule;
    while (!rest_.empty()) {
      size_t equals = rest_.find('=');
      if (equals == std::string_view::npos) fail("expected 'name=value' in schedule");
      std::string_view name = rest_.substr(0, equals);
      rest_.remove_prefix(equals + 1);
      if (name == "reason") {
        s.reason = take_quoted();
      } else if (name == "vector_axis") {
        s.vector_axis = number<int>(take_word());
      } else if (name == "vector_width") {
        s.vector_width = number<int>(take_word());
      } else if (name == "unroll") {
        s.unroll = number<int>(take_word());
      } else if (name == "grain") {
        s.grain = number<int64_t>(take_word());
      } else {
        fail("unknown schedule entry '" + std::string(name) + "'");
      }
    }
  }

  void size_line() {
    Symbol symbol;
    symbol.name = take_word();
    expect("in");
    symbol.range = bounds(take_word());
    k_.symbols.push_back(symbol_id(env_.symbol(symbol)));
  }

  void axis_line() {
    Axis axis;
    axis.name = take_word();
    expect("<");
    axis.extent = expression(rest_to_end());
    Symbol symbol;
    symbol.name = axis.name;
    SymRange extent = range(axis.extent);
    symbol.range = {0, extent.max == kSymMax ? kSymMax : std::max<int64_t>(0, extent.max - 1)};
    symbol.max_expr = axis.extent - 1;
    symbol.origin = "axis";
    axis.symbol = matching_symbol(symbol);
    axis_ids_[axis.name] = static_cast<AxisId>(k_.axes.size());
    k_.axes.push_back(std::move(axis));
  }

  /// The symbol of that name, which must mean the same if the environment knows it already.
  size_t matching_symbol(const Symbol& symbol) {
    size_t id = symbol_id(env_.symbol(symbol));
    const Symbol& info = std::as_const(env_).info(id);
    if (info.range.min != symbol.range.min || info.range.max != symbol.range.max || info.max_expr != symbol.max_expr) {
      fail("symbol '" + symbol.name + "' exists with other bounds");
    }
    return id;
  }

  void buffer_line() {
    Buffer b;
    std::string_view name = take_until('@');
    b.name = std::string(name);
    if (number<size_t>(take_word()) != k_.buffers.size())
      fail("expected buffer number " + std::to_string(k_.buffers.size()));
    b.dtype = dtype(take_until('['));
    b.numel = expression(take_until(']'));
    skip();
    std::string_view role = take_word();
    auto it = std::find(std::begin(kRoles), std::end(kRoles), role);
    if (it == std::end(kRoles))
      fail("expected a buffer role (input, output, inout, local), found '" + std::string(role) + "'");
    b.role = static_cast<BufferRole>(it - std::begin(kRoles));
    b.node = node_;
    k_.buffers.push_back(std::move(b));
  }

  void check_line() {
    Check c;
    if (accept("index")) {
      expect("<");
      take_until('[');
      c.size = expression(take_until(']'));
      skip();
      c.wrapped = accept("wrapped");
    } else {
      expect("divisor");
      c.kind = Check::Kind::Divisor;
    }
    c.text = take_quoted();
    c.where = take_quoted();
    c.node = node_;
    k_.checks.push_back(std::move(c));
  }

  void nest_line() {
    Nest nest;
    if (rest_.ends_with("scan") && (rest_ == "scan" || rest_.ends_with(" scan"))) {
      nest.scan = true;
      rest_.remove_suffix(4);
    }
    k_.nests.push_back(std::move(nest));
    k_.nests.back().axes = axes();
  }

  void reduce_line() {
    Reduction r;
    std::string_view name = take_word();
    bool found = false;
    for (int c = 0; c <= static_cast<int>(Combine::SumExp); ++c) {
      if (to_string(static_cast<Combine>(c)) != name) continue;
      r.combine = static_cast<Combine>(c);
      found = true;
    }
    if (!found) fail("unknown reduction '" + std::string(name) + "'");
    r.dtype = dtype(take_word());
    r.value = scalar_ref();
    if (accept("at")) r.position = scalar_ref();
    if (accept("if")) r.mask = scalar_ref();
    r.node = node_;
    k_.nests.back().reductions.push_back(r);
  }

  void store_line() {
    Store s;
    s.buffer = buffer_ref();
    s.index = expression(take_until(']'));
    skip();
    s.accumulate = accept("+=");
    if (!s.accumulate) expect("=");
    s.value = scalar_ref();
    if (accept("if")) s.mask = scalar_ref();
    s.node = node_;
    k_.nests.back().stores.push_back(std::move(s));
  }

  void let_line() {
    Symbol symbol;
    symbol.name = take_word();
    expect("=");
    ScalarId scalar = scalar_ref();
    expect("in");
    symbol.range = bounds(take_word());
    if (accept("max")) {
      take_until('[');
      symbol.max_expr = expression(take_until(']'));
      skip();
    }
    symbol.origin = "indirect";
    k_.indirect[matching_symbol(symbol)] = scalar;
  }

  void scalar_line(std::string_view head) {
    if (number<size_t>(head.substr(1)) != k_.scalars.size()) fail("expected %" + std::to_string(k_.scalars.size()));
    Scalar s;
    s.dtype = dtype(take_word());
    expect("=");
    s.op = op(take_word());
    s.node = node_;
    switch (s.op) {
      case ScalarOp::Const:
        constant(s);
        break;
      case ScalarOp::Index:
        take_until('[');
        s.index = expression(take_until(']'));
        skip();
        break;
      case ScalarOp::Load:
        s.buffer = buffer_ref();
        s.index = expression(take_until(']'));
        skip();
        if (accept("if")) s.a = scalar_ref();
        break;
      case ScalarOp::Reduced:
        s.a = number<ScalarId>(take_until('.'));
        s.b = number<ScalarId>(take_until('.'));
        s.integer = number<int64_t>(take_word());
        break;
      case ScalarOp::Check:
        s.a = scalar_ref();
        expect("if");
        s.b = scalar_ref();
        expect("else");
        s.c = scalar_ref();
        s.integer = number<int64_t>(take_word());
        break;
      default:
        s.a = scalar_ref();
        if (!is_unary(s.op) && s.op != ScalarOp::Cast && s.op != ScalarOp::Bitcast) s.b = scalar_ref();
        if (s.op == ScalarOp::Select || s.op == ScalarOp::Fma) s.c = scalar_ref();
    }
    k_.scalars.push_back(std::move(s));
    k_.nests.back().body.push_back(static_cast<ScalarId>(k_.scalars.size() - 1));
  }

  void constant(Scalar& s) {
    std::string_view text = take_word();
    if (!is_floating(s.dtype)) {
      s.integer = number<int64_t>(text);
    } else if (text == "nan" || text == "-nan") {
      s.number = std::copysign(std::nan(""), text == "nan" ? 1.0 : -1.0);
    } else {
      s.number = number<double>(text);
    }
  }

  // Pieces of a line.
  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
    while (!rest_.empty() && (rest_.back() == ' ' || rest_.back() == '\t' || rest_.back() == '\r'))
      rest_.remove_suffix(1);
  }
  std::string_view take_word() {
    skip();
    size_t end = std::min(rest_.find(' '), rest_.size());
    std::string_view out = rest_.substr(0, end);
    if (out.empty()) fail("unexpected end of line");
    rest_.remove_prefix(end);
    skip();
    return out;
  }
  std::string_view take_until(char stop) {
    size_t end = rest_.find(stop);
    if (end == std::string_view::npos) fail(std::string("expected '") + stop + "'");
    std::string_view out = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return out;
  }
  std::string_view rest_to_end() { return std::exchange(rest_, {}); }
  std::string take_quoted() {
    if (!rest_.starts_with('"')) fail("expected a quoted text");
    std::string out;
    for (size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        skip();
        return out;
      }
      if (rest_[i] == '\\' && i + 1 < rest_.size()) {
        ++i;
        out += rest_[i] == 'n' ? '\n' : rest_[i];
      } else {
        out += rest_[i];
      }
    }
    fail("quoted text does not end");
  }
  bool accept(std::string_view what) {
    if (rest_ != what && !(rest_.starts_with(what) && rest_[what.size()] == ' ')) return false;
    rest_.remove_prefix(what.size());
    skip();
    return true;
  }
  void expect(std::string_view what) {
    if (!accept(what)) fail("expected '" + std::string(what) + "', found '" + std::string(rest_) + "'");
  }

  template <class T>
  T number(std::string_view text) {
    T value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
      fail("expected a number, found '" + std::string(text) + "'");
    }
    return value;
  }
  SymRange bounds(std::string_view text) {
    size_t dots = text.find("..");
    if (dots == std::string_view::npos) fail("expected 'min..max', found '" + std::string(text) + "'");
    std::string_view low = text.substr(0, dots), high = text.substr(dots + 2);
    return {low == "-oo" ? kSymMin : number<int64_t>(low), high == "oo" ? kSymMax : number<int64_t>(high)};
  }
  SymInt expression(std::string_view text) {
    try {
      return parse_sym(env_, text);
    } catch (const Error& e) {
      fail(e.message());
    }
  }
  size_t symbol_id(const SymInt& e) {
    auto id = env_.symbol_id(e);
    if (!id) fail("expected a symbol");
    return *id;
  }
  DType dtype(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    auto d = parse_dtype_abbr(text);
    if (!d) fail("unknown dtype '" + std::string(text) + "'");
    return *d;
  }
  ScalarOp op(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(ScalarOp::Check); ++i) {
      if (to_string(static_cast<ScalarOp>(i)) == name) return static_cast<ScalarOp>(i);
    }
    fail("unknown operation '" + std::string(name) + "'");
  }
  ScalarId scalar_ref() {
    std::string_view text = take_word();
    if (!text.starts_with('%')) fail("expected a scalar like %0, found '" + std::string(text) + "'");
    auto id = number<ScalarId>(text.substr(1));
    if (id >= k_.scalars.size()) fail("scalar %" + std::to_string(id) + " is not defined yet");
    return id;
  }
  BufferId buffer_ref() {
    take_until('@');
    auto id = number<BufferId>(take_until('['));
    if (id >= k_.buffers.size()) fail("buffer @" + std::to_string(id) + " does not exist");
    return id;
  }
  std::vector<AxisId> axes() {
    std::vector<AxisId> out;
    skip();
    while (!rest_.empty()) {
      auto it = axis_ids_.find(std::string(take_word()));
      if (it == axis_ids_.end()) fail("unknown axis");
      out.push_back(it->second);
    }
    return out;
  }

  [[noreturn]] void fail(const std::string& what) {
    throw_user("loop text, line " + std::to_string(line_) + ": " + what);
  }

  ShapeEnv& env_;
  std::string_view text_, rest_;
  size_t line_ = 0;
  uint64_t node_ = 0;
  Kernel k_;
  std::map<std::string, AxisId> axis_ids_;
};

}  // namespace

std::string print_loop(const Kernel& kernel) { return Printer(kernel).print(); }
Kernel parse_loop(ShapeEnv& env, std::string_view text) { return Parser(env, text).parse(); }

}  // namespace strata::loop
