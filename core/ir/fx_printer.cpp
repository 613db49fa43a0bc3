// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/fx_printer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/ir/fx_lexer.h"

namespace strata {

namespace fx {

namespace {

struct Sign {
  std::string_view target, sign;
};
constexpr Sign kInfix[] = {
    {"_operator.eq", "=="},  {"_operator.ne", "!="},       {"_operator.lt", "<"},      {"_operator.gt", ">"},
    {"_operator.le", "<="},  {"_operator.ge", ">="},       {"_operator.add", "+"},     {"_operator.sub", "-"},
    {"_operator.mul", "*"},  {"_operator.floordiv", "//"}, {"_operator.truediv", "/"}, {"_operator.mod", "%"},
    {"_operator.pow", "**"}, {"_operator.lshift", "<<"},   {"_operator.rshift", ">>"}, {"_operator.and_", "&"},
    {"_operator.or_", "|"},  {"_operator.xor", "^"},       {"_operator.matmul", "@"}};
constexpr Sign kPrefix[] = {{"_operator.pos", "+"}, {"_operator.neg", "-"}, {"_operator.invert", "~"}};
constexpr Sign kInPlace[] = {{"_operator.iadd", "+="},       {"_operator.isub", "-="},     {"_operator.imul", "*="},
                             {"_operator.ifloordiv", "//="}, {"_operator.itruediv", "/="}, {"_operator.imod", "%="},
                             {"_operator.ipow", "**="},      {"_operator.ilshift", "<<="}, {"_operator.irshift", ">>="},
                             {"_operator.iand", "&="},       {"_operator.ior", "|="},      {"_operator.ixor", "^="},
                             {"_operator.imatmul", "@="}};

template <size_t N>
std::string_view sign_of(const Sign (&table)[N], std::string_view target) {
  for (const Sign& s : table)
    if (s.target == target) return s.sign;
  return {};
}
template <size_t N>
std::string_view target_of(const Sign (&table)[N], std::string_view sign) {
  for (const Sign& s : table)
    if (s.sign == sign) return s.target;
  return {};
}

}  // namespace

std::string_view infix_of(std::string_view target) { return sign_of(kInfix, target); }
std::string_view prefix_of(std::string_view target) { return sign_of(kPrefix, target); }
std::string_view in_place_of(std::string_view target) { return sign_of(kInPlace, target); }
std::string_view infix_target(std::string_view sign) { return target_of(kInfix, sign); }
std::string_view prefix_target(std::string_view sign) { return target_of(kPrefix, sign); }
std::string_view in_place_target(std::string_view sign) { return target_of(kInPlace, sign); }

bool has_ops_prefix(std::string_view target) {
  static constexpr std::array<std::string_view, 18> spaces = {"aten",
                                                              "prims",
                                                              "higher_order",
                                                              "prim",
                                                              "inductor",
                                                              "quantized",
                                                              "quantized_decomposed",
                                                              "rngprims",
                                                              "c10d",
                                                              "_c10d_functional",
                                                              "_c10d_functional_autograd",
                                                              "c10d_functional",
                                                              "profiler",
                                                              "torchvision",
                                                              "mkldnn",
                                                              "onednn",
                                                              "fsdp",
                                                              "streams"};
  size_t dot = target.find('.');
  return dot != std::string_view::npos &&
         std::find(spaces.begin(), spaces.end(), target.substr(0, dot)) != spaces.end();
}

std::string python_repr(std::string_view s) {
  const bool double_quotes = s.find('\'') != std::string_view::npos && s.find('"') == std::string_view::npos;
  const char quote = double_quotes ? '"' : '\'';
  std::string out(1, quote);
  for (char c : s) {
    if (c == quote || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      constexpr const char* digits = "0123456789abcdef";
      out += {'\\', 'x', digits[(c >> 4) & 15], digits[c & 15]};
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string python_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, format);
  std::string text(buffer, end);
  if (plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string source_comment(const SourceStack& source) {
  if (!source || source->empty()) return "# No stacktrace found for following nodes";
  const SourceLocation& s = source->back();
  return "# File: " + s.file + ":" + std::to_string(s.line) + " in " + s.function + ", code: " + s.code;
}

}  // namespace fx

namespace {

using fx::python_repr;

const std::string* extra(const std::map<std::string, std::string>& extras, const char* key) {
  auto it = extras.find(key);
  return it == extras.end() ? nullptr : &it->second;
}
const std::string* extra(const Node& node, const char* key) { return extra(node.meta.extra, key); }

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  for (size_t start = 0;;) {
    size_t end = text.find(at, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

/// Prints values; the listing marks nodes with `%`.
struct ValuePrinter {
  std::string_view node_mark;

  std::string operator()(const Argument& a) const {
    std::string out;
    append(out, a);
    return out;
  }
  void append(std::string& out, const Argument& a) const {
    std::visit([&](const auto& v) { text(out, v); }, a.value);
  }

 private:
  void joined(std::string& out, const std::vector<Argument>& items) const {
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += ", ";
      append(out, items[i]);
    }
  }

  static void text(std::string& out, const NoneArg&) { out += "None"; }
  void text(std::string& out, Node* n) const {
    if (!n) return void(out += "None");
    out.append(node_mark).append(n->name);
  }
  static void text(std::string& out, bool v) { out += v ? "True" : "False"; }
  static void text(std::string& out, int64_t v) {
    char buffer[24];
    out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr);
  }
  static void text(std::string& out, double v) { out += python_repr(v); }
  static void text(std::string& out, const std::complex<double>& v) {
    out.append("complex(").append(python_repr(v.real())).append(", ").append(python_repr(v.imag())).append(")");
  }
  static void text(std::string& out, const std::string& v) { out += python_repr(v); }
  static void text(std::string& out, const SymInt& v) { out += v.str(); }
  static void text(std::string& out, DType v) { out.append("torch.").append(dtype_name(v)); }
  static void text(std::string& out, const DeviceArg& v) {
    const size_t colon = v.name.find(':');
    out.append("device(type=").append(python_repr(std::string_view(v.name).substr(0, colon)));
    if (colon != std::string::npos) out.append(", index=").append(v.name, colon + 1);
    out += ")";
  }
  static void text(std::string& out, const EnumArg& v) { out += v.name; }
  static void text(std::string& out, const OpaqueArg& v) { out += v.text; }
  void text(std::string& out, const GraphArg& v) const { out.append(node_mark).append(v.name); }
  static void text(std::string& out, const EllipsisArg&) { out += "Ellipsis"; }
  void text(std::string& out, const ListArg& v) const {
    const bool tuple = v.kind == ListArg::Kind::Tuple;
    out += tuple ? "(" : v.kind == ListArg::Kind::Size ? "torch.Size([" : "[";
    joined(out, v.items);
    out += !tuple ? "]" : v.items.size() == 1 ? ",)" : ")";
    if (v.kind == ListArg::Kind::Size) out += ")";
  }
  void text(std::string& out, const DictArg& v) const {
    out += "{";
    for (size_t i = 0; i < v.items.size(); ++i) {
      if (i > 0) out += ", ";
      append(out, v.items[i].first);
      out += ": ";
      append(out, v.items[i].second);
    }
    out += "}";
  }
  void text(std::string& out, const SliceArg& v) const {
    out += "slice(";
    joined(out, v.parts);
    out += ")";
  }
};

std::string self_path(std::string_view target) {
  std::string out = "self";
  for (std::string_view part : split(target, '.')) {
    if (fx::is_identifier(part)) {
      out += "." + std::string(part);
    } else {
      out = "getattr(" + out + ", \"" + std::string(part) + "\")";
    }
  }
  return out;
}

class Printer {
 public:
  Printer(std::string& out, const FxOptions& options) : out_(out), options_(options) {}

  void graph(const Graph& g, int indent, bool is_class) {
    graph_ = &g;
    indent_ = indent;
    if (const std::string* header = extra(g.extra, "fx.header"); header && indent == 0) lines(*header);
    if (is_class) {
      line("class " + g.name + "(torch.nn.Module):");
      indent_ += 4;
    }
    if (const std::string* wrap = extra(g.extra, "fx.wrap")) lines(*wrap);
    signature();
    indent_ += 4;
    body();
    // Right of a function that stands alone, so that they cannot be taken for text behind it.
    indent_ = indent + (is_class || indent == 0 ? 4 : 0);
    children();
    // At the margin, wherever the class is: its last lines may be text that stands behind all classes.
    indent_ = 0;
    if (const std::string* trailer = extra(g.extra, "fx.trailer")) lines(*trailer);
  }

 private:
  void line(const std::string& text) { out_.append(static_cast<size_t>(indent_), ' ').append(text).append("\n"); }
  void lines(const std::string& text) {
    for (std::string_view part : split(text, '\n')) line(std::string(part));
  }

  std::string annotation(const Node& n) const {
    if (!options_.annotations) return {};
    std::string text = n.type.text.empty() ? to_string(n.type) : n.type.text;
    if (text.empty() || n.type.kind == Type::Kind::Tuple || n.type.kind == Type::Kind::None) return {};
    if (extra(n, "fx.bare_annotation")) return " : " + text;
    const bool plain =
        std::none_of(text.begin(), text.end(), [](char c) { return c == '"' || c == '\\' || (c >= 0 && c < ' '); });
    return ": " + (plain ? '"' + text + '"' : python_repr(text));
  }

  std::string described(std::string text, std::string_view desc) const {
    return desc.empty() || !options_.comments ? text : text + "  " + std::string(desc);
  }
  std::string described(const Node& n, std::string text) const {
    const std::string* desc = extra(n, "fx.desc");
    return described(std::move(text), desc ? *desc : "");
  }

  void signature() {
    const std::string* raw = extra(graph_->extra, "fx.args");
    const std::string* returns = extra(graph_->extra, "fx.returns");
    const std::string ending = std::string(")") + (returns ? " -> " + *returns : "") + ":";
    std::vector<std::string> args, descs;
    if (!extra(graph_->extra, "fx.no_self")) args.push_back("self");
    if (raw) {
      for (std::string_view a : split(*raw, '\n')) args.push_back(std::string(a));
    } else {
      for (const Node* p : graph_->placeholders()) {
        std::string text = p->target + annotation(*p);
        if (!p->args.empty()) text += " = " + value_(p->args[0]);
        args.push_back(text);
        descs.resize(args.size());
        if (const std::string* desc = extra(*p, "fx.desc")) descs.back() = *desc;
      }
    }
    descs.resize(args.size());
    if (!extra(graph_->extra, "fx.expanded")) {
      std::string text = "def forward(";
      for (size_t i = 0; i < args.size(); ++i) text += (i ? ", " : "") + args[i];
      line(text + ending);
      return;
    }
    line("def forward(");
    indent_ += 4;
    for (size_t i = 0; i < args.size(); ++i) line(described(args[i] + ",", descs[i]));
    indent_ -= 4;
    line(ending);
  }

  void body() {
    if (extra(graph_->extra, "fx.args")) {
      flatten();
    } else {
      for (const Node* p : graph_->placeholders()) {
        std::string target = p->target;
        std::erase(target, '*');
        if (target != p->name) line(p->name + " = " + target);
      }
    }
    const auto uses = fx::last_uses(*graph_);
    const auto& nodes = graph_->nodes();
    size_t printed = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i]->kind == NodeKind::Placeholder) continue;
      ++printed;
      comment(*nodes[i]);
      statement(*nodes[i], uses.of(i));
    }
    if (printed == 0) line("pass");
  }

  void flatten() {
    const auto inputs = graph_->placeholders();
    const std::string* one_line = extra(graph_->extra, "fx.annotations_in_line");  // with its end
    const auto annotated = [this](const Node* p) { return !annotation(*p).empty(); };
    if (std::count_if(inputs.begin(), inputs.end(), annotated) < 2) one_line = nullptr;  // nothing to join
    std::string names, annotations;
    for (const Node* p : inputs) {
      names += p->name + ", ";
      std::string text = annotation(*p);
      if (text.empty()) continue;
      if (one_line) {
        annotations += (annotations.empty() ? "" : "; ") + p->name + text;
      } else {
        line(described(*p, p->name + text));
      }
    }
    if (!annotations.empty()) line(annotations + *one_line);
    const std::string* call = extra(graph_->extra, "fx.flatten");
    if (names.size() > 1) names.pop_back();
    line(names + " = " + (call ? *call : "fx_pytree.tree_flatten_spec([], self._in_spec)"));
  }

  void comment(const Node& n) {
    const std::string* verbatim = extra(n, "fx.comment");
    if (!verbatim && said_ && n.kind != NodeKind::Output && n.meta.source == *said_) return;
    if (n.kind != NodeKind::Output) said_ = &n.meta.source;
    std::string expected;
    if (n.kind != NodeKind::Output) expected = fx::source_comment(n.meta.source);
    const bool changed = !expected.empty() && expected != last_comment_;
    if (!expected.empty()) last_comment_ = expected;
    if (!options_.comments) return;
    if (verbatim) {
      lines(*verbatim);
    } else if (changed) {
      if (!out_.ends_with(":\n")) out_ += "\n";
      line(expected);
    }
  }

  void statement(const Node& n, std::span<const Node* const> uses) {
    if (n.kind == NodeKind::Output) return output(n);
    graph_arguments(n);
    std::string text = assignment(n);
    if (const std::string* names = extra(n, "fx.clean_up")) {
      if (!names->empty() && options_.clean_ups) text += ";  " + *names + " = None";
    } else if (!uses.empty() && options_.clean_ups) {
      text += ";  ";
      for (const Node* used : uses) text += used->name + " = ";
      text += "None";
    }
    const std::string* note = extra(n, "fx.note");
    line(described(std::move(text), note ? *note : ""));
  }

  /// FX has a get_attr node where the native form has a graph argument.
  void graph_arguments(const Node& n) {
    std::vector<std::string> names;
    const std::function<void(const Argument&)> visit = [&](const Argument& a) {
      if (auto* sub = a.as<GraphArg>(); sub && std::find(names.begin(), names.end(), sub->name) == names.end()) {
        names.push_back(sub->name);
      }
      if (auto* list = a.as<ListArg>()) std::for_each(list->items.begin(), list->items.end(), visit);
    };
    for (const Argument& a : n.args) visit(a);
    for (const auto& [key, a] : n.kwargs) visit(a);
    for (const std::string& name : names) {
      if (std::find(printed_graphs_.begin(), printed_graphs_.end(), name) != printed_graphs_.end()) continue;
      printed_graphs_.push_back(name);
      line(name + " = " + self_path(name));
    }
  }

  std::string call_arguments(const Node& n, size_t first = 0) const {
    std::string out = "(";
    for (size_t i = first; i < n.args.size(); ++i) {
      if (out.size() > 1) out += ", ";
      value_.append(out, n.args[i]);
    }
    for (const auto& [key, a] : n.kwargs) {
      if (out.size() > 1) out += ", ";
      out.append(key).append(" = ");
      value_.append(out, a);
    }
    return out += ')';
  }

  std::string assignment(const Node& n) const {
    const std::string name = n.name + annotation(n) + " = ";
    if (n.kind == NodeKind::GetAttr) return name + self_path(n.target);
    if (n.kind == NodeKind::CallModule) return name + self_path(n.target) + call_arguments(n);
    if (n.kind == NodeKind::CallMethod) {
      if (n.args.empty()) return name + "None." + n.target + call_arguments(n);
      return name + value_(n.args[0]) + "." + n.target + call_arguments(n, 1);
    }
    const bool as_call = extra(n, "fx.call") != nullptr || !n.kwargs.empty();
    if (!as_call) {
      if (std::string text = in_place(n); !text.empty()) {
        return extra(n, "fx.unnamed") ? text : text + ";  " + name + value_(n.args[0]);
      }
      if (std::string text = sign_expression(n); !text.empty()) return name + text;
    }
    const std::string* prefix = extra(n, "fx.prefix");
    const bool ops = prefix ? !prefix->empty() : fx::has_ops_prefix(n.target);
    return name + (ops ? "torch.ops." : "") + n.target + call_arguments(n);
  }

  std::string in_place(const Node& n) const {
    if (n.target == "_operator.setitem" && n.args.size() == 3) {
      return value_(n.args[0]) + "[" + value_(n.args[1]) + "] = " + value_(n.args[2]);
    }
    if (n.target == "setattr" && n.args.size() == 3 && n.args[1].as<std::string>()) {
      return value_(n.args[0]) + "." + *n.args[1].as<std::string>() + " = " + value_(n.args[2]);
    }
    std::string_view sign = fx::in_place_of(n.target);
    if (sign.empty() || n.args.size() != 2) return {};
    return value_(n.args[0]) + " " + std::string(sign) + " " + value_(n.args[1]);
  }

  std::string sign_expression(const Node& n) const {
    if (n.target == "literal" && n.args.size() == 1) return value_(n.args[0]);
    if (n.target == "_operator.getitem" && n.args.size() == 2) return value_(n.args[0]) + "[" + value_(n.args[1]) + "]";
    if (n.target == "getattr" && n.args.size() == 2) {
      const auto* attribute = n.args[1].as<std::string>();
      if (attribute && fx::is_identifier(*attribute)) return value_(n.args[0]) + "." + *attribute;
    }
    if (n.args.size() == 2) {
      std::string_view sign = fx::infix_of(n.target);
      if (!sign.empty()) return value_(n.args[0]) + " " + std::string(sign) + " " + value_(n.args[1]);
    }
    if (n.args.size() == 1) {
      std::string_view sign = fx::prefix_of(n.target);
      if (!sign.empty()) return std::string(sign) + value_(n.args[0]);
    }
    return {};
  }

  void output(const Node& n) {
    const Argument value = n.args.empty() ? Argument() : n.args[0];
    const std::string* unflatten = extra(graph_->extra, "fx.unflatten");
    const auto* items = value.as<ListArg>();
    const bool expanded = extra(n, "fx.expanded") && items;
    const std::string* note = extra(n, "fx.note");
    const std::string ending = note ? *note : "";
    if (!expanded) {
      std::string text = value_(value);
      if (unflatten) text = "pytree.tree_unflatten(" + text + *unflatten + ")";
      return line(described("return " + text, ending));
    }
    const std::string* all = extra(n, "fx.desc");
    const auto descs = all ? split(*all, '\n') : std::vector<std::string_view>();
    const bool list = items->kind == ListArg::Kind::List;
    line(std::string("return ") + (unflatten ? "pytree.tree_unflatten(" : "") + (list ? "[" : "("));
    indent_ += 4;
    for (size_t i = 0; i < items->items.size(); ++i) {
      line(described(value_(items->items[i]) + ",", i < descs.size() ? descs[i] : ""));
    }
    indent_ -= 4;
    line(described((list ? "]" : ")") + (unflatten ? *unflatten + ")" : ""), ending));
  }

  void children() {
    std::vector<std::string_view> order;
    const std::string* names = extra(graph_->extra, "fx.children");
    if (names) order = split(*names, '\n');
    for (const auto& [name, sub] : graph_->subgraphs)
      if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
    const Graph& g = *graph_;
    for (std::string_view name : order) {
      auto it = g.subgraphs.find(std::string(name));
      if (it == g.subgraphs.end()) continue;
      out_ += "\n";
      Printer child(out_, options_);
      child.class_name_ = it->first;
      child.child(*it->second, indent_);
    }
  }

  void child(const Graph& g, int indent) {
    // A child is printed under its name in the parent, whatever its own.
    graph_ = &g;
    indent_ = indent;
    line("class " + class_name_ + "(torch.nn.Module):");
    graph(g, indent + 4, false);
  }

  std::string& out_;
  const FxOptions& options_;
  const Graph* graph_ = nullptr;
  int indent_ = 0;
  std::string last_comment_, class_name_;
  const SourceStack* said_ = nullptr;  // where last_comment_ comes from
  std::vector<std::string> printed_graphs_;
  ValuePrinter value_{};
};

/// `graph():` with a line per node.
class ListingPrinter {
 public:
  ListingPrinter(std::string& out, const FxOptions& options) : out_(out), options_(options) {}

  void graph(const Graph& g) {
    if (const std::string* header = extra(g.extra, "fx.header")) out_ += *header + "\n";
    out_ += "graph():\n";
    const UserMap users = users_of(g);
    for (const auto& n : g.nodes()) node(*n, users.at(n.get()).size());
    if (const std::string* trailer = extra(g.extra, "fx.trailer")) out_ += *trailer + "\n";
  }

 private:
  void node(const Node& n, size_t users) {
    if (n.kind == NodeKind::Output) {
      const ValuePrinter& print = extra(n, "fx.unmarked") ? unmarked_ : value_;
      out_ += "    return " + (n.args.empty() ? "None" : print(n.args[0])) + "\n";
      return;
    }
    std::string text = "    %" + n.name + " : ";
    if (options_.annotations && !n.type.text.empty()) text += n.type.text + " ";
    const std::string* verbatim = extra(n, "fx.users");
    text += verbatim ? *verbatim : "[num_users=" + std::to_string(users) + "]";
    text += " = " + std::string(to_string(n.kind)) + "[target=" + target(n) + "]";
    if (n.kind == NodeKind::Placeholder) {
      if (!n.args.empty()) text += "(default=" + value_(n.args[0]) + ")";
    } else if (const std::string* raw = extra(n, "fx.arguments")) {
      text += *raw;
    } else if (n.kind != NodeKind::GetAttr) {
      text += "(args = " + value_(ListArg{ListArg::Kind::Tuple, n.args}) + ", kwargs = {" + kwargs(n) + "})";
    }
    out_ += text + "\n";
  }

  std::string kwargs(const Node& n) const {
    std::string out;
    for (const auto& [key, a] : n.kwargs) out += (out.empty() ? "" : ", ") + key + ": " + value_(a);
    return out;
  }

  std::string target(const Node& n) const {
    if (n.kind != NodeKind::Call) return n.target;
    if (n.target.starts_with("_operator.")) return n.target.substr(1);
    const std::string* prefix = extra(n, "fx.prefix");
    const bool ops = prefix ? !prefix->empty() : fx::has_ops_prefix(n.target);
    return (ops ? "torch.ops." : "") + n.target;
  }

  std::string& out_;
  const FxOptions& options_;
  ValuePrinter value_{"%"}, unmarked_{};
};

}  // namespace

std::string print_fx(const Argument& argument) { return ValuePrinter{}(argument); }
void print_fx(const Argument& argument, std::string& out) { ValuePrinter{}.append(out, argument); }

std::string print_fx(const Graph& graph, const FxOptions& options) {
  FxOptions::Form form = options.form;
  if (form == FxOptions::Form::AsRead) {
    const std::string* read = extra(graph.extra, "fx.form");
    form = !read ? FxOptions::Form::Class : *read == "listing" ? FxOptions::Form::Listing : FxOptions::Form::Function;
  }
  std::string out;
  if (form == FxOptions::Form::Listing) {
    ListingPrinter(out, options).graph(graph);
  } else {
    Printer(out, options).graph(graph, 0, form == FxOptions::Form::Class);
  }
  return out;
}

}  // namespace strata
