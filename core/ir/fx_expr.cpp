// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/fx_expr.h"

#include <algorithm>
#include <array>

#include "core/support/error.h"
#include "core/support/utf8.h"

namespace strata::fx {

namespace {

constexpr std::array<std::string_view, 19> kBinary = {"==", "!=", "<",  ">",  "<=", ">=", "+", "-", "*", "//",
                                                      "/",  "%",  "**", "<<", ">>", "&",  "|", "^", "@"};

class Parser {
 public:
  explicit Parser(Lexer& lexer) : lexer_(lexer) {}

  Expr binary() {
    Depth depth(*this);
    Expr left = unary();
    // PyTorch prints at most one operator; more are held as text, so precedence does not matter.
    while (is_binary(lexer_.peek())) {
      Token op = lexer_.take();
      Expr right = unary();
      Expr both = start(Expr::Kind::Binary, left.first);
      both.text = op.text;
      both.items.push_back(std::move(left));
      both.items.push_back(std::move(right));
      left = finish(std::move(both));
    }
    return left;
  }

  Expr postfix() {
    Expr e = atom();
    while (true) {
      const Token& next = lexer_.peek();
      if (!next.is(".") && !next.is("(") && !next.is("[")) return e;
      e = link(std::move(e));
    }
  }

 private:
  struct Depth {
    explicit Depth(Parser& p) : p(p) {
      if (++p.depth_ > kMaxExprDepth) p.lexer_.fail("at most " + std::to_string(kMaxExprDepth) + " levels of nesting");
    }
    ~Depth() { --p.depth_; }
    Parser& p;
  };

  static bool is_binary(const Token& t) {
    return t.kind == TokenKind::Punct && std::find(kBinary.begin(), kBinary.end(), t.text) != kBinary.end();
  }

  Expr start(Expr::Kind kind, const Token& first) {
    Expr e;
    e.kind = kind;
    e.first = first;
    return e;
  }
  Expr finish(Expr e) {
    e.source = lexer_.text().substr(e.first.offset, last_end_ - e.first.offset);
    e.line = last_line_;
    for (const Expr& item : e.items) e.height = std::max(e.height, item.height + 1);
    // Trees are walked recursively, also by their destructor.
    if (e.height > 2 * kMaxExprDepth)
      lexer_.fail_at(e.first, "an expression of at most " + std::to_string(kMaxExprDepth) + " levels");
    return e;
  }
  Token take() {
    Token t = lexer_.take();
    last_end_ = t.end();
    last_line_ = t.line;
    return t;
  }
  void close(std::string_view punct) {
    if (!lexer_.peek().is(punct)) lexer_.fail("'" + std::string(punct) + "' or ','");
    take();
  }

  Expr unary() {
    const Token& next = lexer_.peek();
    if (!next.is("+") && !next.is("-") && !next.is("~")) return postfix();
    Depth depth(*this);
    Expr e = start(Expr::Kind::Unary, next);
    e.text = take().text;
    e.items.push_back(unary());
    return finish(std::move(e));
  }

  Expr link(Expr base) {
    if (lexer_.peek().is(".")) {
      take();
      Expr e = start(Expr::Kind::Attr, base.first);
      if (lexer_.peek().kind != TokenKind::Name) lexer_.fail("a name");
      e.text = take().text;
      e.items.push_back(std::move(base));
      return finish(std::move(e));
    }
    const bool is_call = lexer_.peek().is("(");
    Expr e = start(is_call ? Expr::Kind::Call : Expr::Kind::Index, base.first);
    e.items.push_back(std::move(base));
    take();
    if (is_call) {
      while (!lexer_.peek().is(")")) {
        e.items.push_back(argument());
        if (!lexer_.peek().is(",")) break;
        take();
      }
      close(")");
    } else {
      e.items.push_back(index());
      close("]");
    }
    return finish(std::move(e));
  }

  Expr argument() {
    Depth depth(*this);
    const Token first = lexer_.peek();
    if (first.is("*") || first.is("**")) {
      take();
      binary();
      return finish(start(Expr::Kind::Object, first));
    }
    Expr value = binary();
    if (value.kind != Expr::Kind::Name || !lexer_.peek().is("=")) return value;
    take();
    Expr e = start(Expr::Kind::Keyword, first);
    e.text = value.text;
    e.items.push_back(binary());
    return finish(std::move(e));
  }

  /// Between `[` and `]`: an expression, a slice, or several (a tuple without parentheses).
  Expr index() {
    Depth depth(*this);
    const Token first = lexer_.peek();
    bool plain = true, several = false;
    Expr only;
    while (!lexer_.peek().is("]")) {
      if (lexer_.peek().is(":")) {
        take();
        plain = false;
      } else if (lexer_.peek().is(",")) {
        take();
        several = true;
      } else {
        only = binary();
      }
    }
    if (first.is("]")) lexer_.fail("an index");
    if (plain && !several) return only;
    return finish(start(Expr::Kind::Object, first));
  }

  Expr atom() {
    const Token t = lexer_.peek();
    switch (t.kind) {
      case TokenKind::Name:
        return name();
      case TokenKind::Number:
      case TokenKind::String: {
        take();
        Expr e = start(t.kind == TokenKind::Number ? Expr::Kind::Number : Expr::Kind::String, t);
        e.text = t.text;
        return finish(std::move(e));
      }
      case TokenKind::Punct:
        if (t.is("(")) return sequence(")", Expr::Kind::Tuple);
        if (t.is("[")) return sequence("]", Expr::Kind::List);
        if (t.is("{")) return dict();
        if (t.is("...")) return ellipsis();
        if (t.is("%")) return reference();
        if (t.is("<") || t.is("<<")) {
          Token whole = lexer_.take_angle();
          last_end_ = whole.end();
          last_line_ = whole.line;
          return finish(start(Expr::Kind::Object, t));
        }
        break;
      default:
        break;
    }
    lexer_.fail("an expression");
  }

  /// `%x`, as listings refer to nodes.
  Expr reference() {
    Expr e = start(Expr::Kind::Name, take());
    if (lexer_.peek().kind != TokenKind::Name || lexer_.peek().offset != last_end_) lexer_.fail("a name after '%'");
    take();
    e = finish(std::move(e));
    e.text = e.source;
    return e;
  }

  Expr ellipsis() {
    Expr e = start(Expr::Kind::Name, take());
    e.text = "Ellipsis";
    return finish(std::move(e));
  }

  Expr name() {
    Token t = take();
    const Token& next = lexer_.peek();
    if (next.kind == TokenKind::String && next.offset == t.end() && t.text.size() <= 2) {  // b'…'
      take();
      return finish(start(Expr::Kind::Object, t));
    }
    Expr e = start(Expr::Kind::Name, t);
    e.text = t.text;
    return finish(std::move(e));
  }

  Expr sequence(std::string_view closing, Expr::Kind kind) {
    Depth depth(*this);
    Expr e = start(kind, take());
    bool comma = false;
    while (!lexer_.peek().is(closing)) {
      e.items.push_back(starred());
      comma = lexer_.peek().is(",");
      if (!comma) break;
      take();
    }
    close(closing);
    // Parentheses around one expression are only that; its text keeps them.
    if (kind == Expr::Kind::Tuple && e.items.size() == 1 && !comma) {
      Expr inner = std::move(e.items[0]);
      if (inner.kind == Expr::Kind::Binary || inner.kind == Expr::Kind::Unary)
        return finish(start(Expr::Kind::Object, e.first));
      inner.first = e.first;
      return inner;
    }
    return finish(std::move(e));
  }

  Expr starred() {
    const Token first = lexer_.peek();
    if (!first.is("*") && !first.is("**")) return binary();
    take();
    binary();
    return finish(start(Expr::Kind::Object, first));
  }

  Expr dict() {
    Depth depth(*this);
    Expr e = start(Expr::Kind::Dict, take());
    bool is_set = false;
    while (!lexer_.peek().is("}")) {
      e.items.push_back(starred());
      if (lexer_.peek().is(":")) {
        take();
        e.items.push_back(binary());
      } else {
        is_set = true;
      }
      if (!lexer_.peek().is(",")) break;
      take();
    }
    close("}");
    if (is_set) return finish(start(Expr::Kind::Object, e.first));
    return finish(std::move(e));
  }

  Lexer& lexer_;
  int depth_ = 0;
  size_t last_end_ = 0, last_line_ = 1;
};

/// Up to `count` hexadecimal digits at `at`; nothing if there are fewer.
bool hex(std::string_view s, size_t at, size_t count, uint32_t& value) {
  value = 0;
  if (at + count > s.size()) return false;
  for (size_t i = at; i < at + count; ++i) {
    char c = s[i];
    uint32_t d = c >= '0' && c <= '9'   ? c - '0'
                 : c >= 'a' && c <= 'f' ? c - 'a' + 10
                 : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                        : 16;
    if (d == 16) return false;
    value = value * 16 + d;
  }
  return value < 0x110000;
}

}  // namespace

std::string Expr::dotted() const {
  if (kind == Kind::Name) return std::string(text);
  if (kind != Kind::Attr) return {};
  std::string base = items[0].dotted();
  return base.empty() ? base : base + "." + std::string(text);
}

Expr parse_expr(Lexer& lexer) { return Parser(lexer).binary(); }
Expr parse_target(Lexer& lexer) { return Parser(lexer).postfix(); }

std::string unquote(std::string_view literal) {
  const size_t quotes = literal.size() >= 6 && literal[0] == literal[1] && literal[1] == literal[2] ? 3 : 1;
  std::string_view s = literal.substr(quotes, literal.size() - 2 * quotes);
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\' || i + 1 == s.size()) {
      out += s[i];
      continue;
    }
    const char c = s[++i];
    uint32_t code;
    switch (c) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case '\\':
      case '\'':
      case '"':
        out += c;
        break;
      case 'x':
      case 'u':
      case 'U': {
        size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        if (hex(s, i + 1, count, code)) {
          append_utf8(out, code);
          i += count;
          break;
        }
        [[fallthrough]];
      }
      default:
        out += '\\';
        out += c;
    }
  }
  return out;
}

}  // namespace strata::fx
