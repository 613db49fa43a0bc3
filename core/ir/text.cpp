// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/text.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "core/ir/fx_lexer.h"
#include "core/ir/fx_printer.h"
#include "core/ir/op.h"
#include "core/ir/text_words.h"

namespace strata {

namespace {

std::string quoted(std::string_view s) { return fx::python_repr(s); }

/// Bare where every part between dots is an identifier.
std::string word(std::string_view s) {
  for (size_t start = 0;;) {
    size_t end = s.find('.', start);
    if (!fx::is_identifier(s.substr(start, end - start))) return quoted(s);
    if (end == std::string_view::npos) return std::string(s);
    start = end + 1;
  }
}

std::string hex(uint64_t value) {
  std::string out(16, '0');
  for (size_t i = 16; i-- > 0; value >>= 4) out[i] = "0123456789abcdef"[value & 15];
  return out;
}

class TextPrinter {
 public:
  explicit TextPrinter(const TextOptions& options) : options_(options) {}

  std::string print(const Graph& g) {
    graph(g, 0);
    std::string head = std::string(text::kHeader) + "\n", assumptions;
    for (const Assumption& a : g.env().assumptions()) {
      assumptions += "assume " + quoted(a.text) + " " + quoted(a.reason) + " " + quoted(a.where);
      if (a.equal) assumptions += " equal " + value(a.equal->first) + " " + value(a.equal->second);
      if (a.at_least) assumptions += " at_least " + value(a.at_least->first) + " " + value(a.at_least->second);
      assumptions += "\n";
    }
    symbols(g.env(), head);
    return head + assumptions + sources_ + out_;
  }

 private:
  void line(int depth, const std::string& text) {
    out_.append(static_cast<size_t>(depth) * 2, ' ').append(text).append("\n");
  }

  // ----------------------------------------------------------------------------------------------------------- symbols

  const SymInt& used(const SymInt& s) {
    if (s.is_const() || !seen_.insert(s.expr()).second) return s;
    for (size_t id : free_symbols(s)) {
      if (!symbols_.insert(id).second) continue;
      if (const auto& bound = s.env()->info(id).max_expr) used(*bound);
    }
    return s;
  }

  void symbols(const ShapeEnv& env, std::string& head) const {
    for (size_t id : symbols_) {
      const Symbol& s = env.info(id);
      head += "symbol " + word(s.name) + " range " + end(s.range.min) + " " + end(s.range.max);
      if (s.max_expr) head += " bound sym(" + s.max_expr->str() + ")";
      if (s.hint) head += " hint " + std::to_string(*s.hint);
      if (!s.origin.empty()) head += " origin " + quoted(s.origin);
      head += "\n";
    }
  }
  static std::string end(int64_t v) { return v == kSymMin ? "-oo" : v == kSymMax ? "oo" : std::to_string(v); }

  // ------------------------------------------------------------------------------------------------------------ values

  std::string joined(const std::vector<Argument>& items) {
    std::string out;
    for (const Argument& a : items) out += (out.empty() ? "" : ", ") + value(a);
    return out;
  }
  std::string value(const Argument& a) {
    return std::visit([this](const auto& v) { return value(v); }, a.value);
  }
  std::string value(const NoneArg&) { return "None"; }
  std::string value(Node* n) { return n ? "%" + word(n->name) : "%"; }
  std::string value(bool v) { return v ? "true" : "false"; }
  std::string value(int64_t v) { return std::to_string(v); }
  std::string value(double v) { return fx::python_repr(v); }
  std::string value(const std::complex<double>& v) {
    return "complex(" + value(v.real()) + ", " + value(v.imag()) + ")";
  }
  std::string value(const std::string& v) { return quoted(v); }
  std::string value(const SymInt& v) { return "sym(" + used(v).str() + ")"; }
  std::string value(DType v) { return "dtype(" + std::string(dtype_name(v)) + ")"; }
  std::string value(const DeviceArg& v) { return "device(" + quoted(v.name) + ")"; }
  std::string value(const EnumArg& v) { return "enum(" + quoted(v.name) + ")"; }
  std::string value(const OpaqueArg& v) { return "opaque(" + quoted(v.text) + ")"; }
  std::string value(const GraphArg& v) { return "graph(" + quoted(v.name) + ")"; }
  std::string value(const EllipsisArg&) { return "..."; }
  std::string value(const SliceArg& v) { return "slice(" + joined(v.parts) + ")"; }
  std::string value(const ListArg& v) {
    if (v.kind == ListArg::Kind::List) return "[" + joined(v.items) + "]";
    if (v.kind == ListArg::Kind::Size) return "size[" + joined(v.items) + "]";
    return "(" + joined(v.items) + (v.items.size() == 1 ? ",)" : ")");
  }
  std::string value(const DictArg& v) {
    std::string out;
    for (const auto& [key, item] : v.items) out += (out.empty() ? "" : ", ") + value(key) + ": " + value(item);
    return "{" + out + "}";
  }

  // ------------------------------------------------------------------------------------------------------------- types

  std::string sizes(const std::vector<SymInt>& items) {
    std::string out;
    for (const SymInt& s : items) out += (out.empty() ? "" : ", ") + used(s).str();
    return "[" + out + "]";
  }

  static bool plain_device(std::string_view s) {
    size_t colon = s.find(':');
    std::string_view index = colon == std::string_view::npos ? "0" : s.substr(colon + 1);
    auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return fx::is_identifier(s.substr(0, colon)) && !index.empty() && std::all_of(index.begin(), index.end(), digit);
  }

  std::string type(const Type& t) {
    std::string out = bare_type(t);
    if (!t.text.empty()) out += " as " + quoted(t.text);
    return out;
  }

  std::string bare_type(const Type& t) {
    switch (t.kind) {
      case Type::Kind::Unknown:
        return "?";
      case Type::Kind::SymInt:
        return "sym(" + used(t.sym).str() + ")";
      case Type::Kind::SymFloat:
        return "symfloat";
      case Type::Kind::SymBool:
        return "symbool";
      case Type::Kind::None:
        return "none";
      case Type::Kind::Other:
        return "other";
      case Type::Kind::Tuple: {
        std::string out;
        for (const Type& part : t.parts) out += (out.empty() ? "" : ", ") + type(part);
        return "tuple(" + out + ")";
      }
      case Type::Kind::Tensor:
        break;
    }
    std::string out = std::string(dtype_abbr(t.tensor.dtype)) + sizes(t.tensor.shape);
    if (t.tensor.strides) out += sizes(*t.tensor.strides);
    if (plain_device(t.tensor.device)) {
      out += t.tensor.device;
    } else if (!t.tensor.device.empty()) {
      out += " on " + quoted(t.tensor.device);
    }
    return t.tensor.requires_grad ? out + " grad" : out;
  }

  // ------------------------------------------------------------------------------------------------------------ graphs

  void graph(const Graph& g, int depth) {
    line(depth, "graph " + quoted(g.name) + " {");
    for (const auto& [key, v] : g.extra) {
      if (!key.starts_with(text::kDigestKey)) line(depth + 1, "extra " + quoted(key) + " " + quoted(v));
    }
    for (const InputSpec& s : g.input_specs) input(s, depth + 1);
    for (const OutputSpec& s : g.output_specs) {
      line(depth + 1, "result " + std::string(text::kOutputKinds[static_cast<size_t>(s.kind)]) +
                          (s.target.empty() ? "" : " " + quoted(s.target)));
    }
    for (const auto& [name, t] : g.attributes) attribute(g, name, t, depth + 1);
    for (const auto& n : g.nodes()) line(depth + 1, node(*n));
    for (const auto& [name, sub] : g.subgraphs) {
      line(depth + 1, "subgraph " + quoted(name));
      graph(*sub, depth + 1);
    }
    line(depth, "}");
  }

  void input(const InputSpec& s, int depth) {
    std::string out = "input " + std::string(text::kInputKinds[static_cast<size_t>(s.kind)]);
    if (!s.target.empty()) out += " " + quoted(s.target);
    if (!s.persistent) out += " transient";
    if (!s.constant.is_none()) out += " = " + value(s.constant);
    line(depth, out);
  }

  void attribute(const Graph& g, const std::string& name, const Tensor& t, int depth) {
    std::string out = "attribute " + quoted(name) + " " + std::string(dtype_abbr(t.dtype)) + "[";
    for (size_t d = 0; d < t.shape.size(); ++d) out += (d ? ", " : "") + std::to_string(t.shape[d]);
    out += "]";
    auto kept = g.extra.find(std::string(text::kDigestKey) + name);
    if (!t.defined() && kept != g.extra.end()) {
      out += " digest " + quoted(kept->second);
    } else if (t.defined() && options_.digests) {
      out += " digest " + quoted(digest(t));
    }
    line(depth, out);
  }

  std::string node(const Node& n) {
    std::string out = "%" + word(n.name) + ":" + std::to_string(n.id) + " = " +
                      std::string(text::kNodeKinds[static_cast<size_t>(n.kind)]) + " " + word(n.target) + "(" +
                      joined(n.args);
    bool first = n.args.empty();
    for (const auto& [key, a] : n.kwargs) {
      out += (first ? "" : ", ") + word(key) + "=" + value(a);
      first = false;
    }
    out += ")";
    if (n.type.kind != Type::Kind::Unknown || !n.type.text.empty()) out += " : " + type(n.type);
    if (n.kind == NodeKind::Call && !n.op && find_op(n.target)) out += " unresolved";
    return out + meta(n.meta);
  }

  std::string meta(const NodeMeta& m) {
    std::string out;
    if (m.source) out += " @ " + std::to_string(source(*m.source));
    if (!m.module_path.empty()) out += " in " + quoted(m.module_path);
    if (!m.module_type.empty()) out += " of " + quoted(m.module_type);
    if (m.role != Role::Forward) out += " role " + std::string(text::kRoles[static_cast<size_t>(m.role)]);
    if (!m.maker.empty()) out += " by " + quoted(m.maker);
    if (!m.origins.empty()) {
      std::string list;
      for (const Origin& o : m.origins) {
        list += (list.empty() ? "" : ", ") + std::string(o.exact ? "" : "~") + std::to_string(o.node) + " " +
                std::string(text::kOriginKinds[static_cast<size_t>(o.kind)]);
        if (!o.rule.empty()) list += " " + quoted(o.rule);
      }
      out += " from [" + list + "]";
    }
    if (!m.extra.empty()) {
      std::string list;
      for (const auto& [key, v] : m.extra) list += (list.empty() ? "" : ", ") + quoted(key) + ": " + quoted(v);
      out += " with {" + list + "}";
    }
    return out;
  }

  size_t source(const std::vector<SourceLocation>& stack) {
    if (last_stack_ == &stack) return last_source_;
    std::string body;
    for (const SourceLocation& s : stack) {
      body += " " + quoted(s.file) + " " + std::to_string(s.line) + " " + quoted(s.function) + " " + quoted(s.code);
    }
    auto [it, is_new] = source_ids_.emplace(body, source_ids_.size());
    if (is_new) sources_ += "source " + std::to_string(it->second) + body + "\n";
    last_stack_ = &stack;
    return last_source_ = it->second;
  }

  TextOptions options_;
  std::string out_, sources_;
  std::unordered_map<std::string, size_t> source_ids_;
  const std::vector<SourceLocation>* last_stack_ = nullptr;
  size_t last_source_ = 0;
  std::set<size_t> symbols_;
  std::set<const SymExpr*> seen_;
};

}  // namespace

std::string print_text(const Graph& graph, const TextOptions& options) { return TextPrinter(options).print(graph); }

std::string digest(const Tensor& tensor) {
  uint64_t h = 0x9e3779b97f4a7c15u + static_cast<uint64_t>(tensor.dtype);
  auto mix = [&h](uint64_t v) {
    h = (h ^ v) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  };
  for (int64_t d : tensor.shape) mix(static_cast<uint64_t>(d));
  if (!tensor.defined() || tensor.numel() == 0) return hex(h);
  const Tensor c = tensor.contiguous();
  const std::byte* p = c.data();
  size_t left = static_cast<size_t>(c.numel()) * dtype_size(c.dtype);
  for (uint64_t chunk = 0; left > 0;) {
    const size_t n = std::min<size_t>(left, sizeof chunk);
    chunk = 0;
    std::memcpy(&chunk, p, n);
    mix(chunk);
    p += n;
    left -= n;
  }
  return hex(h);
}

}  // namespace strata
