// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <limits>

#include "core/ir/fx_expr.h"
#include "core/ir/op.h"
#include "core/ir/text.h"
#include "core/ir/text_words.h"
#include "core/support/error.h"

namespace strata {

namespace {

using fx::Token;
using fx::TokenKind;

class TextReader {
 public:
  TextReader(std::string_view text, std::shared_ptr<ShapeEnv> env, std::shared_ptr<IdSource> ids)
      : lexer_(text, "graph text"), env_(std::move(env)), ids_(std::move(ids)) {
    lexer_.ignore_newlines();
  }

  Graph read() {
    for (std::string_view w : {"strata", "graph"}) keyword(w);
    if (int64_t version = integer(); version != 1) lexer_.fail("version 1 before this, not " + std::to_string(version));
    while (lexer_.peek().is_name("symbol")) symbol();
    // A bound may use a symbol that is declared later.
    for (const auto& [name, bound] : bounds_) {
      if (new_symbols_.contains(name))
        env_->info(*env_->symbol_id(*env_->find(name))).max_expr = parse_sym(*env_, bound);
    }
    while (lexer_.peek().is_name("assume")) assumption();
    while (lexer_.peek().is_name("source")) source();
    Graph g = graph();
    if (lexer_.peek().kind != TokenKind::End) lexer_.fail("the end");
    return g;
  }

 private:
  struct Depth {
    explicit Depth(TextReader& r) : r(r) {
      if (++r.depth_ > text::kMaxDepth)
        r.lexer_.fail("at most " + std::to_string(text::kMaxDepth) + " levels of nesting");
    }
    ~Depth() { --r.depth_; }
    TextReader& r;
  };

  // ------------------------------------------------------------------------------------------------------------- words

  void keyword(std::string_view w) {
    if (!take_word(w)) lexer_.fail("'" + std::string(w) + "'");
  }
  bool take_word(std::string_view w) {
    if (!lexer_.peek().is_name(w)) return false;
    lexer_.take();
    return true;
  }
  std::string string() {
    if (lexer_.peek().kind != TokenKind::String) lexer_.fail("a string");
    return fx::unquote(lexer_.take().text);
  }
  /// A string, or names with dots between.
  std::string word() {
    if (lexer_.peek().kind == TokenKind::String) return string();
    std::string out(lexer_.expect_name().text);
    while (lexer_.take(".")) out += "." + std::string(lexer_.expect_name().text);
    return out;
  }
  int64_t integer() {
    const bool negative = lexer_.take("-");
    const Token t = lexer_.peek();
    const std::string digits = (negative ? "-" : "") + std::string(t.text);
    int64_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (t.kind != TokenKind::Number || error != std::errc() || end != digits.data() + digits.size())
      lexer_.fail("an integer of 64 bits");
    lexer_.take();
    return value;
  }
  NodeId id() {
    const Token t = lexer_.peek();
    NodeId value = 0;
    auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
    const bool whole = error == std::errc() && end == t.text.data() + t.text.size();
    // The largest id would leave none for new nodes.
    if (t.kind != TokenKind::Number || !whole || value == 0 || value == std::numeric_limits<NodeId>::max())
      lexer_.fail("a node id");
    lexer_.take();
    return value;
  }
  template <size_t N>
  size_t one_of(const std::array<std::string_view, N>& words, const char* what) {
    for (size_t i = 0; i < N; ++i)
      if (take_word(words[i])) return i;
    std::vector<std::string> candidates(words.begin(), words.end());
    const Token& t = lexer_.peek();
    const std::string hint = t.kind == TokenKind::Name ? suggest(t.text, candidates) : "";
    lexer_.fail(std::string(what) + (hint.empty() ? "" : " (" + hint + ")"));
  }

  // ----------------------------------------------------------------------------------------------------------- symbols

  int64_t range_end() {
    if (take_word("oo")) return kSymMax;
    const bool negative = lexer_.peek().is("-");
    if (!negative) return integer();
    lexer_.take();
    if (take_word("oo")) return kSymMin;
    const Token t = lexer_.peek();
    const std::string digits = "-" + std::string(t.text);
    int64_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (t.kind != TokenKind::Number || error != std::errc() || end != digits.data() + digits.size())
      lexer_.fail("an integer or oo");
    lexer_.take();
    return value;
  }

  void symbol() {
    lexer_.take();
    Symbol s;
    s.name = word();
    keyword("range");
    s.range.min = range_end();
    s.range.max = range_end();
    if (take_word("bound")) {
      keyword("sym");
      bounds_.emplace_back(s.name, sym_text());
      lexer_.expect(")");
    }
    if (take_word("hint")) s.hint = integer();
    if (take_word("origin")) s.origin = string();
    if (env_->find(s.name)) return;
    env_->symbol(s);
    new_symbols_.emplace(s.name, true);
  }

  std::pair<SymInt, SymInt> two_sizes() {
    keyword("sym");
    const SymInt first = sym();
    keyword("sym");
    return {first, sym()};
  }

  void assumption() {
    lexer_.take();
    Assumption a;
    a.text = string();
    a.reason = string();
    a.where = string();
    if (take_word("equal"))
      a.equal = two_sizes();
    else if (take_word("at_least"))
      a.at_least = two_sizes();
    env_->assume(std::move(a));
  }

  void source() {
    lexer_.take();
    if (integer() != static_cast<int64_t>(sources_.size())) lexer_.fail("sources numbered in order before this");
    auto stack = std::make_shared<std::vector<SourceLocation>>();
    while (lexer_.peek().kind == TokenKind::String) {
      SourceLocation s;
      s.file = string();
      const Token at = lexer_.peek();
      const int64_t line = integer();
      if (line < std::numeric_limits<int>::min() || line > std::numeric_limits<int>::max())
        lexer_.fail_at(at, "a line number");
      s.line = static_cast<int>(line);
      s.function = string();
      s.code = string();
      stack->push_back(std::move(s));
    }
    sources_.push_back(std::move(stack));
  }

  // ------------------------------------------------------------------------------------------------------------ values

  /// The size expression from behind the opening bracket, which is the next token, up to its end.
  std::string_view sym_text() {
    if (!lexer_.peek().is("(")) lexer_.fail("'('");
    return lexer_.take_size();
  }
  SymInt sym() {
    const Token at = lexer_.peek();
    const std::string_view text = sym_text();
    SymInt value = parse_size(text, at);
    lexer_.expect(")");
    return value;
  }
  SymInt parse_size(std::string_view text, const Token& at) {
    try {
      return parse_sym(*env_, text);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::User) throw;
      lexer_.fail_at(at, "a size (" + e.message() + ")");
    }
  }

  double number(const Token& t, bool negative) {
    double value = 0;
    auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
    if (error != std::errc() || end != t.text.data() + t.text.size()) lexer_.fail_at(t, "a number");
    return negative ? -value : value;
  }

  Argument value() {
    Depth depth(*this);
    const Token t = lexer_.peek();
    if (t.kind == TokenKind::String) return string();
    if (t.kind == TokenKind::Number) return numeric();
    if (t.kind == TokenKind::Name) return named();
    if (t.is("-")) return numeric();
    if (t.is("%")) return reference();
    if (lexer_.take("...")) return EllipsisArg{};
    if (t.is("[")) return ListArg{ListArg::Kind::List, values("[", "]")};
    if (t.is("(")) return ListArg{ListArg::Kind::Tuple, values("(", ")")};
    if (t.is("{")) return dict();
    lexer_.fail("a value");
  }

  Argument numeric() {
    const bool negative = lexer_.take("-");
    const Token t = lexer_.peek();
    if (t.is_name("inf") || t.is_name("nan")) {
      lexer_.take();
      const double v =
          t.text == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
      return negative ? -v : v;
    }
    if (t.kind != TokenKind::Number) lexer_.fail("a number");
    if (t.text.find_first_of(".eEj_") != std::string_view::npos) {
      lexer_.take();
      return number(t, negative);
    }
    const std::string digits = (negative ? "-" : "") + std::string(t.text);
    int64_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) lexer_.fail("an integer of 64 bits");
    lexer_.take();
    return value;
  }

  Argument reference() {
    const Token mark = lexer_.take();
    const Token& t = lexer_.peek();
    if ((t.kind != TokenKind::Name && t.kind != TokenKind::String) || t.offset != mark.end())
      return static_cast<Node*>(nullptr);
    const Token at = t;
    const std::string name = word();
    Node* node = graph_->find(name);
    if (!node) lexer_.fail_at(at, "a node that stands before this one");
    return node;
  }

  std::vector<Argument> values(std::string_view open, std::string_view close) {
    lexer_.expect(open);
    std::vector<Argument> items;
    while (!lexer_.peek().is(close)) {
      items.push_back(value());
      if (!lexer_.take(",")) break;
    }
    lexer_.expect(close);
    return items;
  }

  Argument dict() {
    lexer_.expect("{");
    DictArg d;
    while (!lexer_.peek().is("}")) {
      Argument key = value();
      lexer_.expect(":");
      d.items.emplace_back(std::move(key), value());
      if (!lexer_.take(",")) break;
    }
    lexer_.expect("}");
    return d;
  }

  std::string string_in_parentheses() {
    lexer_.expect("(");
    std::string s = string();
    lexer_.expect(")");
    return s;
  }

  Argument named() {
    const Token t = lexer_.peek();
    if (t.text == "inf" || t.text == "nan") return numeric();
    lexer_.take();
    if (t.text == "None") return NoneArg{};
    if (t.text == "true") return true;
    if (t.text == "false") return false;
    if (t.text == "sym") return sym();
    if (t.text == "size") return ListArg{ListArg::Kind::Size, values("[", "]")};
    if (t.text == "slice") return SliceArg{values("(", ")")};
    if (t.text == "device") return DeviceArg{string_in_parentheses()};
    if (t.text == "enum") return EnumArg{string_in_parentheses()};
    if (t.text == "opaque") return OpaqueArg{string_in_parentheses()};
    if (t.text == "graph") return GraphArg{string_in_parentheses()};
    if (t.text == "complex") return complex(t);
    if (t.text == "dtype") {
      lexer_.expect("(");
      const Token name = lexer_.expect_name();
      std::optional<DType> d = parse_dtype_name(name.text);
      if (!d) lexer_.fail_at(name, "an element type");
      lexer_.expect(")");
      return *d;
    }
    lexer_.fail_at(t, "a value");
  }

  Argument complex(const Token& at) {
    std::vector<Argument> parts = values("(", ")");
    if (parts.size() != 2 || !parts[0].as<double>() || !parts[1].as<double>()) lexer_.fail_at(at, "complex(RE, IM)");
    return std::complex<double>(*parts[0].as<double>(), *parts[1].as<double>());
  }

  // ------------------------------------------------------------------------------------------------------------- types

  std::vector<SymInt> sizes() {
    if (!lexer_.peek().is("[")) lexer_.fail("'['");
    std::vector<SymInt> items;
    do {
      const Token at = lexer_.peek();
      std::string_view text = fx::strip(lexer_.take_size());
      if (text.empty() && items.empty() && lexer_.peek().is("]")) break;
      items.push_back(parse_size(text, at));
    } while (lexer_.peek().is(","));
    last_bracket_ = lexer_.peek();
    lexer_.expect("]");
    return items;
  }

  Type type() {
    Depth depth(*this);
    Type t = bare_type();
    if (take_word("as")) t.text = string();
    return t;
  }

  Type bare_type() {
    Type t;
    if (lexer_.take("?")) return t;
    const Token name = lexer_.expect_name();
    if (name.text == "sym") return Type::symint(sym());
    if (name.text == "symfloat") t.kind = Type::Kind::SymFloat;
    if (name.text == "symbool") t.kind = Type::Kind::SymBool;
    if (name.text == "none") t.kind = Type::Kind::None;
    if (name.text == "other") t.kind = Type::Kind::Other;
    if (t.kind != Type::Kind::Unknown) return t;
    if (name.text == "tuple") return tuple();
    std::optional<DType> d = parse_dtype_abbr(name.text);
    if (!d) lexer_.fail_at(name, "a type");
    TensorType tensor;
    tensor.dtype = *d;
    tensor.shape = sizes();
    if (lexer_.peek().is("[")) {
      const Token at = lexer_.peek();
      tensor.strides = sizes();
      if (tensor.strides->size() != tensor.shape.size()) lexer_.fail_at(at, "as many strides as dimensions");
    }
    tensor.device = device();
    tensor.requires_grad = take_word("grad");
    return Type::of(std::move(tensor));
  }

  std::string device() {
    if (take_word("on")) return string();
    if (lexer_.peek().kind != TokenKind::Name || lexer_.peek().offset != last_bracket_.end()) return {};
    const Token name = lexer_.take();
    std::string out(name.text);
    if (!lexer_.peek().is(":") || lexer_.peek().offset != name.end()) return out;
    lexer_.take();
    const Token index = lexer_.peek();
    if (index.kind != TokenKind::Number || index.text.find_first_not_of("0123456789") != std::string_view::npos) {
      lexer_.fail("a device index");
    }
    lexer_.take();
    return out + ":" + std::string(index.text);
  }

  Type tuple() {
    lexer_.expect("(");
    std::vector<Type> parts;
    while (!lexer_.peek().is(")")) {
      parts.push_back(type());
      if (!lexer_.take(",")) break;
    }
    lexer_.expect(")");
    return Type::tuple(std::move(parts));
  }

  // ------------------------------------------------------------------------------------------------------------ graphs

  Graph graph() {
    Depth depth(*this);
    keyword("graph");
    Graph g(env_, ids_);
    Graph* outer = graph_;
    graph_ = &g;
    g.name = string();
    lexer_.expect("{");
    while (!lexer_.peek().is("}")) item(g);
    lexer_.expect("}");
    graph_ = outer;
    return g;
  }

  void item(Graph& g) {
    if (lexer_.peek().is("%")) return node(g);
    if (take_word("extra")) {
      std::string key = string();
      g.extra[std::move(key)] = string();
    } else if (take_word("input")) {
      input(g);
    } else if (take_word("result")) {
      OutputSpec s;
      s.kind = static_cast<OutputSpec::Kind>(one_of(text::kOutputKinds, "a kind of output"));
      if (lexer_.peek().kind == TokenKind::String) s.target = string();
      g.output_specs.push_back(std::move(s));
    } else if (take_word("attribute")) {
      attribute(g);
    } else if (take_word("subgraph")) {
      const Token at = lexer_.peek();
      std::string name = string();
      auto sub = std::make_unique<Graph>(graph());
      if (!g.subgraphs.emplace(std::move(name), std::move(sub)).second) lexer_.fail_at(at, "a new name");
    } else {
      lexer_.fail("'%', 'extra', 'input', 'result', 'attribute', 'subgraph' or '}'");
    }
  }

  void input(Graph& g) {
    InputSpec s;
    s.kind = static_cast<InputSpec::Kind>(one_of(text::kInputKinds, "a kind of input"));
    if (lexer_.peek().kind == TokenKind::String) s.target = string();
    if (take_word("transient")) s.persistent = false;
    if (lexer_.take("=")) s.constant = value();
    g.input_specs.push_back(std::move(s));
  }

  void attribute(Graph& g) {
    const std::string name = string();
    const Token at = lexer_.expect_name();
    std::optional<DType> d = parse_dtype_abbr(at.text);
    if (!d) lexer_.fail_at(at, "an element type");
    Tensor t;
    t.dtype = *d;
    lexer_.expect("[");
    while (!lexer_.peek().is("]")) {
      t.shape.push_back(integer());
      if (!lexer_.take(",")) break;
    }
    lexer_.expect("]");
    if (take_word("digest")) g.extra[std::string(text::kDigestKey) + name] = string();
    g.attributes[name] = std::move(t);
  }

  void node(Graph& g) {
    lexer_.expect("%");
    const Token at = lexer_.peek();
    auto n = std::make_unique<Node>();
    n->name = word();
    if (n->name.empty() || g.find(n->name)) lexer_.fail_at(at, "a new name");
    lexer_.expect(":");
    const Token id_at = lexer_.peek();
    n->id = id();
    if (!used_ids_.insert({n->id, true}).second) lexer_.fail_at(id_at, "a new id");
    lexer_.expect("=");
    n->kind = static_cast<NodeKind>(one_of(text::kNodeKinds, "a kind of node"));
    if (n->kind != NodeKind::Output && g.output_node()) lexer_.fail_at(at, "no node after the output");
    n->target = word();
    arguments(*n);
    if (lexer_.take(":")) n->type = type();
    if (!take_word("unresolved") && n->kind == NodeKind::Call) n->op = find_op(n->target);
    meta(n->meta);
    g.add(std::move(n));
  }

  void arguments(Node& n) {
    lexer_.expect("(");
    while (!lexer_.peek().is(")")) {
      if (!keyword_argument(n)) {
        if (!n.kwargs.empty()) lexer_.fail("a keyword argument");
        n.args.push_back(value());
      }
      if (!lexer_.take(",")) break;
    }
    lexer_.expect(")");
  }

  /// `alpha=1`; nothing is taken if the next value is positional.
  bool keyword_argument(Node& n) {
    std::string_view rest = lexer_.rest();
    const Token& t = lexer_.peek();
    if (t.kind != TokenKind::Name && t.kind != TokenKind::String) return false;
    size_t end = t.text.size();
    while (t.kind == TokenKind::Name && end < rest.size() &&
           (fx::is_identifier(rest.substr(end, 1)) || rest[end] == '.' || is_digit(rest[end])))
      ++end;
    while (end < rest.size() && (rest[end] == ' ' || rest[end] == '\n')) ++end;
    if (end >= rest.size() || rest[end] != '=') return false;
    std::string key = word();
    lexer_.expect("=");
    n.kwargs.emplace_back(std::move(key), value());
    return true;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  void meta(NodeMeta& m) {
    if (lexer_.take("@")) {
      const Token at = lexer_.peek();
      const int64_t index = integer();
      if (index < 0 || static_cast<size_t>(index) >= sources_.size()) lexer_.fail_at(at, "the number of a source");
      m.source = sources_[static_cast<size_t>(index)];
    }
    if (take_word("in")) m.module_path = string();
    if (take_word("of")) m.module_type = string();
    if (take_word("role")) m.role = static_cast<Role>(one_of(text::kRoles, "a role"));
    if (take_word("by")) m.maker = string();
    if (take_word("from")) origins(m);
    if (!take_word("with")) return;
    lexer_.expect("{");
    while (!lexer_.peek().is("}")) {
      std::string key = string();
      lexer_.expect(":");
      m.extra[std::move(key)] = string();
      if (!lexer_.take(",")) break;
    }
    lexer_.expect("}");
  }

  void origins(NodeMeta& m) {
    lexer_.expect("[");
    while (!lexer_.peek().is("]")) {
      Origin o;
      o.exact = !lexer_.take("~");
      o.node = id();
      o.kind = static_cast<OriginKind>(one_of(text::kOriginKinds, "a kind of origin"));
      if (lexer_.peek().kind == TokenKind::String) o.rule = string();
      m.origins.push_back(std::move(o));
      if (!lexer_.take(",")) break;
    }
    lexer_.expect("]");
  }

  fx::Lexer lexer_;
  std::shared_ptr<ShapeEnv> env_;
  std::shared_ptr<IdSource> ids_;
  Graph* graph_ = nullptr;
  int depth_ = 0;
  Token last_bracket_;
  std::vector<SourceStack> sources_;
  std::vector<std::pair<std::string, std::string>> bounds_;
  std::unordered_map<std::string, bool> new_symbols_;
  std::unordered_map<NodeId, bool> used_ids_;
};

}  // namespace

Graph parse_text(std::shared_ptr<ShapeEnv> env, std::string_view text, std::shared_ptr<IdSource> ids) {
  if (!env) env = std::make_shared<ShapeEnv>();
  if (!ids) ids = std::make_shared<IdSource>();
  return TextReader(text, std::move(env), std::move(ids)).read();
}

}  // namespace strata
