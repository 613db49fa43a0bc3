// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpp_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include "codegen/cpp_helpers.h"
#include "codegen/loop_plan.h"
#include "core/support/error.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

constexpr std::string_view kPreamble = R"(#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

)";

std::string identifier(std::string_view text) {
  std::string out;
  for (char c : text) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out = "_" + out;
  return out;
}

const char* value_type(DType d) {
  switch (d) {
    case DType::Bool:
      return "bool";
    case DType::U8:
      return "uint8_t";
    case DType::I8:
      return "int8_t";
    case DType::U16:
      return "uint16_t";
    case DType::I16:
      return "int16_t";
    case DType::U32:
      return "uint32_t";
    case DType::I32:
      return "int32_t";
    case DType::U64:
      return "uint64_t";
    case DType::I64:
      return "int64_t";
    case DType::F16:
      return "_Float16";
    case DType::BF16:
      return "uint16_t";
    case DType::F32:
      return "float";
    case DType::F64:
      return "double";
    default:
      throw_internal("C++ source: dtype " + std::string(dtype_name(d)) + " is not computed in");
  }
}
const char* memory_type(DType d) { return d == DType::Bool ? "uint8_t" : value_type(d); }

std::string float_text(double value, DType d) {
  std::string limits = fmt::format("std::numeric_limits<{}>::", value_type(d));
  if (std::isnan(value)) return limits + "quiet_NaN()";
  if (std::isinf(value)) return (value < 0 ? "-" : "") + limits + "infinity()";
  char text[64];
  auto end = d == DType::F32 ? std::to_chars(text, text + 64, static_cast<float>(value)).ptr
                             : std::to_chars(text, text + 64, value).ptr;
  std::string out(text, end);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out + (d == DType::F32 ? "f" : "");
}

std::string integer_text(int64_t value, DType d) {
  if (d == DType::Bool) return value ? "true" : "false";
  if (value == INT64_MIN) return "std::numeric_limits<int64_t>::min()";
  if (d == DType::U64) return fmt::format("uint64_t({}u)", static_cast<uint64_t>(value));
  return fmt::format("{}({})", value_type(d), value);
}

class Writer {
 public:
  explicit Writer(const Kernel& kernel) : k_(kernel), name_(identifier(kernel.name)) {}

  CodeArtifact write() {
    collect_names();
    function();
    parallel_function();
    CodeArtifact out;
    out.kind = "cpp";
    Writer head(k_);
    head.raw(fmt::format("// Kernel {}\n", k_.name));
    head.raw(kPreamble);
    head.raw("namespace {\n\n");
    for (const CppHelper& h : cpp_helpers()) {
      if (used_.contains(h.name)) head.raw(std::string(h.text) + "\n");
    }
    head.raw("}  // namespace\n\n");
    out.text = head.text_ + text_;
    out.line_nodes = std::move(head.nodes_);
    out.line_nodes.insert(out.line_nodes.end(), nodes_.begin(), nodes_.end());
    return out;
  }

 private:
  void raw(std::string_view text) {
    text_ += text;
    nodes_.resize(nodes_.size() + static_cast<size_t>(std::count(text.begin(), text.end(), '\n')));
  }
  void line(const std::string& text, uint64_t node = 0) {
    text_.append(2 * indent_, ' ');
    text_ += text;
    if (node) text_ += fmt::format("  // node {}", node);
    text_ += "\n";
    nodes_.emplace_back();
    if (node) nodes_.back().push_back(node);
  }
  void open(const std::string& text, uint64_t node = 0) {
    line(text + " {", node);
    ++indent_;
  }
  void close() {
    --indent_;
    line("}");
  }
  std::string use(std::string_view helper) {
    used_.insert(helper);
    return std::string(helper);
  }

  std::string unique(std::string name) {
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

  void collect_names() {
    for (const char* word : {"buffers", "symbols", "begin", "end", "point", "stop", "bool", "float", "double", "int"})
      taken_.insert(word);
    for (size_t i = 0; i < k_.axes.size(); ++i) axis_names_.push_back(unique(identifier(k_.axes[i].name)));
    for (size_t i = 0; i < k_.axes.size(); ++i) symbol_names_[k_.axes[i].symbol] = axis_names_[i];
    for (size_t i = 0; i < k_.symbols.size(); ++i) symbol_names_[k_.symbols[i]] = unique(size_name(k_.symbols[i], i));
    for (const auto& [symbol, scalar] : k_.indirect) symbol_names_[symbol] = fmt::format("int64_t(v{})", scalar);
    for (const Buffer& b : k_.buffers) buffer_names_.push_back(unique("b_" + identifier(b.name)));
  }

  std::string size_name(size_t symbol, size_t position) {
    for (const Axis& a : k_.axes) {
      for (size_t s : free_symbols(a.extent)) {
        if (s == symbol) return identifier(std::as_const(*a.extent.env()).info(symbol).name);
      }
    }
    return fmt::format("size{}", position);
  }

  // Expressions of sizes and indices.
  std::string factor(const SymAtomView& f) {
    if (f.kind == SymAtomKind::Symbol) {
      auto it = symbol_names_.find(f.symbol);
      if (it == symbol_names_.end()) throw_internal("C++ source: kernel '" + k_.name + "' uses an unknown symbol");
      return it->second;
    }
    if (f.kind == SymAtomKind::Opaque)
      throw_user("kernel '" + k_.name + "' needs '" + f.name + "' of sizes, which has no code");
    std::string a = index(f.args.at(0));
    if (f.kind == SymAtomKind::Scaled) {
      constexpr std::array kFunctions = {"trunc", "floor", "ceil", "nearbyint"};
      return fmt::format("int64_t(std::{}({} * double({})))", kFunctions.at(static_cast<size_t>(f.rounding)), f.factor,
                         a);
    }
    for (size_t i = 1; i < f.args.size(); ++i) {
      std::string b = index(f.args[i]);
      switch (f.kind) {
        case SymAtomKind::FloorDiv:
          a = fmt::format("{}<int64_t>({}, {})", use("floor_div"), a, b);
          break;
        case SymAtomKind::Mod:
          a = fmt::format("{}<int64_t>({}, {})", use("floor_mod"), a, b);
          break;
        case SymAtomKind::Min:
          a = fmt::format("{}<int64_t>({}, {})", use("nan_min"), a, b);
          break;
        default:
          a = fmt::format("{}<int64_t>({}, {})", use("nan_max"), a, b);
      }
    }
    return a;
  }
  std::string index(const SymInt& e) {
    if (auto value = e.maybe_value()) return fmt::format("{}", *value);
    std::string out;
    for (const SymTerm& term : terms(e)) {
      std::string product;
      for (const SymAtomView& f : term.factors) product += (product.empty() ? "" : " * ") + factor(f);
      int64_t c = term.coefficient;
      bool minus = c < 0 && c != INT64_MIN;
      std::string number = fmt::format("{}", minus ? -c : c);
      std::string part = product.empty() ? number : (minus ? -c : c) == 1 ? product : number + " * " + product;
      out += out.empty() ? (minus ? "-" : "") + part : (minus ? " - " : " + ") + part;
    }
    return out.empty() ? "0" : out;
  }

  // The function.
  void function() {
    open(
        fmt::format("extern \"C\" void {}(void** buffers, const int64_t* symbols, int64_t begin, int64_t end)", name_));
    declarations(true);
    rows();
    close();
    raw("\n");
  }

  void declarations(bool with_buffers) {
    line("(void)symbols;");
    if (with_buffers) line("(void)buffers;");
    for (size_t i = 0; i < k_.symbols.size(); ++i) {
      line(fmt::format("const int64_t {} = symbols[{}];", symbol_names_[k_.symbols[i]], i));
      line(fmt::format("(void){};", symbol_names_[k_.symbols[i]]));
    }
    if (!with_buffers) return;
    for (size_t i = 0; i < k_.buffers.size(); ++i) {
      const Buffer& b = k_.buffers[i];
      const char* type = memory_type(b.dtype);
      if (b.role == BufferRole::Local) {
        line(fmt::format("std::vector<{}> {}({});", type, buffer_names_[i], index(b.numel)), b.node);
      } else {
        const char* qualifier = b.role == BufferRole::Input ? "const " : "";
        line(fmt::format("{0}{1}* {2} = static_cast<{0}{1}*>(buffers[{3}]);", qualifier, type, buffer_names_[i], i),
             b.node);
      }
    }
  }

  void rows() {
    size_t count = k_.outer.size();
    if (count == 0) {
      open("for (int64_t point = begin; point < end; ++point)");
      body();
      return close();
    }
    const std::string& last = axis_names_[k_.outer.back()];
    if (count == 1) {
      open(fmt::format("for (int64_t {0} = begin; {0} < end; ++{0})", last));
      body();
      return close();
    }
    open("for (int64_t point = begin; point < end;)");
    std::string rest = "point";
    for (size_t i = count; i-- > 0;) {
      std::string name = i + 1 == count ? "first" : axis_names_[k_.outer[i]];
      std::string extent = index(k_.axes[k_.outer[i]].extent);
      line(fmt::format("const int64_t {} = {}{};", name, rest, i ? fmt::format(" % ({})", extent) : ""));
      rest = fmt::format("{} / ({})", rest, extent);
    }
    std::string extent = index(k_.axes[k_.outer.back()].extent);
    line(fmt::format("const int64_t stop = {0} - first < end - point ? {0} : first + (end - point);", extent));
    open(fmt::format("for (int64_t {0} = first; {0} < stop; ++{0})", last));
    body();
    close();
    line("point += stop - first;");
    close();
  }

  void body() {
    for (size_t n = 0; n < k_.nests.size(); ++n) nest(n);
  }

  void nest(size_t n) {
    const Nest& nest = k_.nests[n];
    for (size_t r = 0; r < nest.reductions.size(); ++r) declare_reduction(n, r);
    for (AxisId a : nest.axes) {
      open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", axis_names_[a], index(k_.axes[a].extent)));
    }
    std::vector<char> done(nest.reductions.size(), 0);
    for (ScalarId id : nest.body) {
      const Scalar& s = k_.scalars[id];
      if (s.op == ScalarOp::Reduced && s.a == n && !std::exchange(done[s.b], 1)) combine(n, s.b);
      line(fmt::format("const {} v{} = {};", value_type(s.dtype), id, scalar(s)), s.node);
      line(fmt::format("(void)v{};", id));
      if (s.op != ScalarOp::Check) continue;
      line(fmt::format("if (!v{}) {}(symbols, {}, {}, v{});", s.b, use("violated"), k_.symbols.size(), s.integer, s.a),
           s.node);
    }
    for (size_t r = 0; r < nest.reductions.size(); ++r) {
      if (!done[r]) combine(n, r);
    }
    for (const Store& s : nest.stores) store(s);
    for (size_t i = 0; i < nest.axes.size(); ++i) close();
  }

  static std::string result(size_t nest, size_t reduction, size_t i) {
    return fmt::format("r{}_{}_{}", nest, reduction, i);
  }

  void declare_reduction(size_t n, size_t index) {
    const Reduction& r = k_.nests[n].reductions[index];
    std::string limits = fmt::format("std::numeric_limits<{}>::", value_type(r.dtype));
    bool f = is_floating(r.dtype);
    std::string low = f ? "-" + limits + "infinity()" : limits + "min()",
                high = f ? limits + "infinity()" : limits + "max()";
    auto declare = [&](size_t i, const char* type, const std::string& value) {
      line(fmt::format("{} {} = {};", type, result(n, index, i), value), r.node);
      line(fmt::format("(void){};", result(n, index, i)));
    };
    const char* type = value_type(r.dtype);
    switch (r.combine) {
      case Combine::Sum:
        return declare(0, type, "0");
      case Combine::Prod:
        return declare(0, type, "1");
      case Combine::Any:
        return declare(0, type, "false");
      case Combine::All:
        return declare(0, type, "true");
      case Combine::Max:
        return declare(0, type, low);
      case Combine::Min:
        return declare(0, type, high);
      case Combine::ArgMax:
      case Combine::ArgMin:
        declare(0, type, r.combine == Combine::ArgMax ? low : high);
        return declare(1, "int64_t", "std::numeric_limits<int64_t>::max()");
      case Combine::Welford:
        for (size_t i = 0; i < 3; ++i) declare(i, type, "0");
        return;
      case Combine::SumExp:
        declare(0, type, low);
        return declare(1, type, "0");
    }
  }

  void combine(size_t n, size_t index) {
    const Reduction& r = k_.nests[n].reductions[index];
    std::string acc = result(n, index, 0), v = fmt::format("v{}", r.value);
    if (r.mask != kNone) open(fmt::format("if (v{})", r.mask), r.node);
    const char* type = value_type(r.dtype);
    switch (r.combine) {
      case Combine::Sum:
        line(fmt::format("{0} = {2}({0} + {1});", acc, v, type), r.node);
        break;
      case Combine::Prod:
        line(fmt::format("{0} = {2}({0} * {1});", acc, v, type), r.node);
        break;
      case Combine::Any:
        line(fmt::format("{0} = {0} || {1};", acc, v), r.node);
        break;
      case Combine::All:
        line(fmt::format("{0} = {0} && {1};", acc, v), r.node);
        break;
      case Combine::Max:
        line(fmt::format("{0} = {2}({0}, {1});", acc, v, use("nan_max")), r.node);
        break;
      case Combine::Min:
        line(fmt::format("{0} = {2}({0}, {1});", acc, v, use("nan_min")), r.node);
        break;
      case Combine::ArgMax:
      case Combine::ArgMin: {
        std::string at = result(n, index, 1);
        const char* largest = r.combine == Combine::ArgMax ? "true" : "false";
        open(fmt::format("if ({}<{}>({}, {}, {}, v{}))", use("arg_better"), largest, acc, at, v, r.position), r.node);
        line(fmt::format("{} = {};", acc, v), r.node);
        line(fmt::format("{} = v{};", at, r.position), r.node);
        close();
        break;
      }
      case Combine::Welford: {
        std::string m2 = result(n, index, 1), count = result(n, index, 2);
        line(fmt::format("const {} d{}_{} = {} - {};", type, n, index, v, acc), r.node);
        line(fmt::format("{} += 1;", count), r.node);
        line(fmt::format("{} += d{}_{} / {};", acc, n, index, count), r.node);
        line(fmt::format("{} += d{}_{} * ({} - {});", m2, n, index, v, acc), r.node);
        break;
      }
      case Combine::SumExp: {
        std::string sum = result(n, index, 1), before = fmt::format("m{}_{}", n, index);
        line(fmt::format("const {} {} = {};", type, before, acc), r.node);
        line(fmt::format("{0} = {2}({0}, {1});", acc, v, use("nan_max")), r.node);
        line(fmt::format("if ({0} != 0 && {1} != {2}) {0} *= std::exp({1} - {2});", sum, before, acc), r.node);
        line(fmt::format("{} += std::exp({} - {});", sum, v, acc), r.node);
        break;
      }
    }
    if (r.mask != kNone) close();
  }

  std::string widened(const std::string& value, DType stored) {
    if (stored == DType::Bool) return value + " != 0";
    if (stored == DType::F16) return "float(" + value + ")";
    return stored == DType::BF16 ? use("bf16_to_f32") + "(" + value + ")" : value;
  }

  std::string cast(const std::string& value, DType from, DType to) {
    if (from == to) return value;
    if (from == DType::BF16) return cast(use("bf16_to_f32") + "(" + value + ")", DType::F32, to);
    if (from == DType::F16) return cast("float(" + value + ")", DType::F32, to);
    if (to == DType::BF16) return use("f32_to_bf16") + "(" + cast(value, from, DType::F32) + ")";
    if (to == DType::F16) return "_Float16(" + cast(value, from, DType::F32) + ")";
    if (to == DType::Bool) return "(" + value + " != 0)";
    if (is_floating(from) && !is_floating(to))
      return fmt::format("{}<{}>({})", use("truncate_to"), value_type(to), value);
    return fmt::format("{}({})", value_type(to), value);
  }

  std::string scalar(const Scalar& s) {
    switch (s.op) {
      case ScalarOp::Const:
        return is_floating(s.dtype) ? float_text(s.number, s.dtype) : integer_text(s.integer, s.dtype);
      case ScalarOp::Index:
        return index(s.index);
      case ScalarOp::Load: {
        std::string v =
            widened(fmt::format("{}[{}]", buffer_names_[s.buffer], index(s.index)), k_.buffers[s.buffer].dtype);
        return s.a == kNone ? v : fmt::format("v{} ? {}({}) : {}(0)", s.a, value_type(s.dtype), v, value_type(s.dtype));
      }
      case ScalarOp::Reduced:
        return result(s.a, s.b, static_cast<size_t>(s.integer));
      case ScalarOp::Cast:
        return cast(fmt::format("v{}", s.a), k_.scalars[s.a].dtype, s.dtype);
      case ScalarOp::Bitcast:
        return fmt::format("{}<{}>(v{})", use("bit_cast_to"), value_type(s.dtype), s.a);
      case ScalarOp::Select:
        return fmt::format("v{} ? v{} : v{}", s.a, s.b, s.c);
      case ScalarOp::Check:
        return fmt::format("v{} ? v{} : v{}", s.b, s.a, s.c);
      case ScalarOp::Fma:
        return fmt::format("std::fma(v{}, v{}, v{})", s.a, s.b, s.c);
      default:
        break;
    }
    DType type = k_.scalars[s.a].dtype;
    std::string a = fmt::format("v{}", s.a), b = fmt::format("v{}", s.b);
    if (is_unary(s.op)) return is_floating(type) ? float_unary(s.op, a, type) : integer_unary(s.op, a, type);
    if (is_comparison(s.op)) return comparison(s.op, a, b);
    return is_floating(type) ? float_binary(s.op, a, b) : integer_binary(s.op, a, b, type);
  }

  static std::string comparison(ScalarOp op, const std::string& a, const std::string& b) {
    constexpr const char* signs[] = {"==", "!=", "<", "<=", ">", ">="};
    return a + " " + signs[static_cast<int>(op) - static_cast<int>(ScalarOp::Eq)] + " " + b;
  }

  std::string float_unary(ScalarOp op, const std::string& a, DType type) {
    std::string one = type == DType::F32 ? "1.0f" : "1.0";
    switch (op) {
      case ScalarOp::Neg:
        return "-" + a;
      case ScalarOp::Rsqrt:
        return one + " / std::sqrt(" + a + ")";
      case ScalarOp::Round:
        return "std::nearbyint(" + a + ")";
      case ScalarOp::Sigmoid:
        return one + " / (" + one + " + std::exp(-" + a + "))";
      case ScalarOp::Reciprocal:
        return one + " / " + a;
      case ScalarOp::Sign:
        return use("sign_of") + "(" + a + ")";
      default:
        return "std::" + std::string(to_string(op)) + "(" + a + ")";
    }
  }

  std::string integer_unary(ScalarOp op, const std::string& a, DType type) {
    bool is_bool = type == DType::Bool;
    switch (op) {
      case ScalarOp::Neg:
        return is_bool ? a : fmt::format("{}(0 - uint64_t({}))", value_type(type), a);
      case ScalarOp::Not:
        return is_bool ? "!" + a : fmt::format("{}(~{})", value_type(type), a);
      case ScalarOp::Abs:
        if (!is_signed_integral(type)) return a;
        return fmt::format("{0} < 0 ? {1}(0 - uint64_t({0})) : {0}", a, value_type(type));
      case ScalarOp::Sign:
        return is_bool ? a : use("sign_of") + "(" + a + ")";
      default:
        return a;
    }
  }

  std::string float_binary(ScalarOp op, const std::string& a, const std::string& b) {
    auto call = [&](const std::string& f) { return f + "(" + a + ", " + b + ")"; };
    switch (op) {
      case ScalarOp::Add:
        return a + " + " + b;
      case ScalarOp::Sub:
        return a + " - " + b;
      case ScalarOp::Mul:
        return a + " * " + b;
      case ScalarOp::Div:
        return a + " / " + b;
      case ScalarOp::Min:
        return call(use("nan_min"));
      case ScalarOp::Max:
        return call(use("nan_max"));
      case ScalarOp::FloorDiv:
        return call(use("float_floor_div"));
      case ScalarOp::Mod:
        return call(use("float_mod"));
      default:
        return call("std::" + std::string(to_string(op)));
    }
  }

  std::string integer_binary(ScalarOp op, const std::string& a, const std::string& b, DType type) {
    const char* t = value_type(type);
    bool is_bool = type == DType::Bool;
    auto call = [&](std::string_view f) { return fmt::format("{}<{}>({}, {})", use(f), t, a, b); };
    auto wrap = [&](const char* sign) { return fmt::format("{}(uint64_t({}) {} uint64_t({}))", t, a, sign, b); };
    switch (op) {
      case ScalarOp::Add:
        return is_bool ? a + " || " + b : wrap("+");
      case ScalarOp::Sub:
        return is_bool ? a + " != " + b : wrap("-");
      case ScalarOp::Mul:
        return is_bool ? a + " && " + b : wrap("*");
      case ScalarOp::Div:
        return call("trunc_div");
      case ScalarOp::FloorDiv:
        return call("floor_div");
      case ScalarOp::Mod:
        return call("floor_mod");
      case ScalarOp::Fmod:
        return call("trunc_mod");
      case ScalarOp::Min:
      case ScalarOp::Fmin:
        return call("nan_min");
      case ScalarOp::Max:
      case ScalarOp::Fmax:
        return call("nan_max");
      case ScalarOp::And:
        return wrap("&");
      case ScalarOp::Or:
        return wrap("|");
      case ScalarOp::Xor:
        return wrap("^");
      case ScalarOp::Shl:
        return call("shift_left");
      case ScalarOp::Shr:
        return call("shift_right");
      case ScalarOp::Pow:
        return is_bool ? a + " || !" + b : call("integer_pow");
      default:
        throw_internal("C++ source: '" + std::string(to_string(op)) + "' on integers has no rule");
    }
  }

  void store(const Store& s) {
    DType stored = k_.buffers[s.buffer].dtype, from = k_.scalars[s.value].dtype;
    std::string place = fmt::format("{}[{}]", buffer_names_[s.buffer], index(s.index));
    std::string value = cast(fmt::format("v{}", s.value), from, stored);
    if (s.accumulate) {
      DType type = compute_dtype(stored);
      std::string sum = fmt::format("{}({} + {})", value_type(type), widened(place, stored),
                                    cast(fmt::format("v{}", s.value), from, type));
      value = cast(sum, type, stored);
    }
    std::string text = place + " = " + value + ";";
    line(s.mask == kNone ? text : fmt::format("if (v{}) {}", s.mask, text), s.node);
  }

  void parallel_function() {
    open(fmt::format("extern \"C\" void {}_parallel(void** buffers, const int64_t* symbols)", name_));
    declarations(false);
    std::string points = "1";
    for (AxisId a : k_.outer) points += fmt::format(" * ({})", index(k_.axes[a].extent));
    line(fmt::format("const int64_t points = {};", points));
    if (points_may_collide(k_)) {
      line("// Several points add to the same place: one thread, so that the result does not depend on luck.");
      line(fmt::format("{}(buffers, symbols, 0, points);", name_));
      return close();
    }
    raw("#ifdef _OPENMP\n#pragma omp parallel\n");
    open("");
    line("const int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();");
    line(fmt::format("{}(buffers, symbols, points * thread / threads, points * (thread + 1) / threads);", name_));
    close();
    raw("#else\n");
    line(fmt::format("{}(buffers, symbols, 0, points);", name_));
    raw("#endif\n");
    close();
  }

  const Kernel& k_;
  std::string name_, text_;
  std::vector<std::vector<NodeId>> nodes_;
  size_t indent_ = 0;
  std::set<std::string_view> used_;
  std::set<std::string> taken_;
  std::unordered_map<size_t, std::string> symbol_names_;
  std::vector<std::string> axis_names_, buffer_names_;
};

}  // namespace

CodeArtifact emit_cpp(const Kernel& kernel) { return Writer(kernel).write(); }

CodeArtifact loop_artifact(const Kernel& kernel) {
  CodeArtifact out;
  out.kind = "loop-ir";
  out.text = print_loop(kernel);
  for (size_t at = 0; at < out.text.size();) {
    size_t end = std::min(out.text.find('\n', at), out.text.size());
    std::string_view line = std::string_view(out.text).substr(at, end - at);
    out.line_nodes.emplace_back();
    size_t mark = line.rfind(" !");
    uint64_t node = 0;
    if (mark != std::string_view::npos && line.find_first_not_of("0123456789", mark + 2) == std::string_view::npos) {
      std::from_chars(line.data() + mark + 2, line.data() + line.size(), node);
    }
    if (node) out.line_nodes.back().push_back(node);
    at = end + 1;
  }
  return out;
}

}  // namespace strata::codegen
