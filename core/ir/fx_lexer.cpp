// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/fx_lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/support/error.h"

namespace strata::fx {

namespace {

constexpr std::string_view kBlank = " \t\f\v\r";
// Longest first.
constexpr std::array<std::string_view, 24> kPuncts = {"**=", "//=", "<<=", ">>=", "...", "**", "//", "<<",
                                                      ">>",  "==",  "!=",  "<=",  ">=",  "->", "+=", "-=",
                                                      "*=",  "/=",  "%=",  "&=",  "|=",  "^=", "@=", ":="};

bool digit(char c) { return c >= '0' && c <= '9'; }
bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80); }
bool name_part(char c) { return name_start(c) || digit(c); }

}  // namespace

std::string_view strip(std::string_view s) {
  const auto blank = " \t\f\v\r\n";
  size_t start = s.find_first_not_of(blank);
  if (start == std::string_view::npos) return {};
  return s.substr(start, s.find_last_not_of(blank) - start + 1);
}

bool is_identifier(std::string_view s) {
  return !s.empty() && name_start(s[0]) && std::all_of(s.begin(), s.end(), name_part);
}

void Lexer::set(TokenKind kind, size_t start, size_t end) {
  token_ = {kind, text_.substr(start, end - start), start, line_};
  at_ = end;
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == '\n' && depth_ > 0) {
      ++at_;
      ++line_;
      line_start_ = at_;
    } else if (kBlank.find(c) != std::string_view::npos) {
      ++at_;
    } else if (c == '\\' && text_.substr(at_ + 1, 1) == "\n") {
      at_ += 2;
      ++line_;
      line_start_ = at_;
    } else if (c == '#') {
      size_t end = std::min(text_.find('\n', at_), text_.size());
      bool own = strip(text_.substr(line_start_, at_ - line_start_)).empty();
      comments_.push_back({strip(text_.substr(at_, end - at_)), line_, own});
      at_ = end;
    } else {
      return;
    }
  }
}

void Lexer::lex() {
  // A line end is a token of its own; its line is the one it ends.
  if (token_.kind == TokenKind::Newline && token_.offset < at_) {
    ++line_;
    line_start_ = at_;
  }
  skip_blanks();
  if (at_ >= text_.size()) return set(TokenKind::End, text_.size(), text_.size());
  char c = text_[at_];
  if (c == '\n') return set(TokenKind::Newline, at_, at_ + 1);
  if (name_start(c)) {
    size_t end = at_;
    while (end < text_.size() && name_part(text_[end])) ++end;
    return set(TokenKind::Name, at_, end);
  }
  if (digit(c) || (c == '.' && at_ + 1 < text_.size() && digit(text_[at_ + 1]))) return lex_number();
  if (c == '\'' || c == '"') return lex_string(at_);
  for (std::string_view p : kPuncts) {
    if (text_.substr(at_, p.size()) == p) return set(TokenKind::Punct, at_, at_ + p.size());
  }
  if (c == '(' || c == '[' || c == '{') ++depth_;
  if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
  set(TokenKind::Punct, at_, at_ + 1);
}

void Lexer::lex_again() {
  at_ = token_.offset;
  token_.kind = TokenKind::End;
  lex();
}

void Lexer::lex_number() {
  size_t end = at_;
  auto digits = [&] {
    while (end < text_.size() && (digit(text_[end]) || text_[end] == '_')) ++end;
  };
  digits();
  if (end < text_.size() && text_[end] == '.') {
    ++end;
    digits();
  }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    size_t exponent = end + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    if (exponent < text_.size() && digit(text_[exponent])) {
      end = exponent;
      digits();
    }
  }
  if (end < text_.size() && text_[end] == 'j') ++end;
  set(TokenKind::Number, at_, end);
}

void Lexer::lex_string(size_t start) {
  const char quote = text_[start];
  const std::string triple(3, quote);
  const bool is_triple = text_.substr(start, 3) == triple;
  size_t end = start + (is_triple ? 3 : 1);
  const size_t line = line_;
  const Token opening{TokenKind::String, text_.substr(start, 1), start, line};
  while (true) {
    if (end >= text_.size() || (!is_triple && text_[end] == '\n')) fail_at(opening, std::string("a closing ") + quote);
    if (is_triple ? text_.substr(end, 3) == triple : text_[end] == quote) break;
    if (text_[end] == '\\' && end + 1 < text_.size()) ++end;
    if (text_[end] == '\n') {
      ++line_;
      line_start_ = end + 1;
    }
    ++end;
  }
  set(TokenKind::String, start, end + (is_triple ? 3 : 1));
  token_.line = line;
}

Token Lexer::take() {
  Token taken = token_;
  if (taken.kind != TokenKind::End) lex();
  return taken;
}

bool Lexer::take(std::string_view punct) {
  if (!token_.is(punct)) return false;
  lex();
  return true;
}

Token Lexer::expect(std::string_view punct) {
  if (!token_.is(punct)) fail("'" + std::string(punct) + "'");
  return take();
}

Token Lexer::expect_name() {
  if (token_.kind != TokenKind::Name) fail("a name");
  return take();
}

size_t Lexer::column(const Token& token) const {
  size_t start = token.offset == 0 ? std::string_view::npos : text_.rfind('\n', token.offset - 1);
  return start == std::string_view::npos ? token.offset : token.offset - start - 1;
}

void Lexer::fail_at(const Token& at, const std::string& expected) const {
  std::string found;
  switch (at.kind) {
    case TokenKind::End:
      found = "the end";
      break;
    case TokenKind::Newline:
      found = "the end of the line";
      break;
    default:
      found = "'" + std::string(at.text.substr(0, 40)) + "'";
  }
  throw_user(what_ + ", line " + std::to_string(at.line) + ", column " + std::to_string(column(at) + 1) +
             ": expected " + expected + ", found " + found);
}

Token Lexer::take_angle() {
  const Token opening = token_;
  int open = 0;
  for (size_t i = opening.offset; i < text_.size() && text_[i] != '\n'; ++i) {
    if (text_[i] == '<') ++open;
    if (text_[i] == '>' && --open == 0) {
      set(TokenKind::Name, opening.offset, i + 1);
      return take();
    }
  }
  fail_at(opening, "'>' after it on the same line");
}

std::string_view Lexer::take_size() {
  const size_t start = token_.end();
  int open = 0;
  size_t end = start;
  for (; end < text_.size() && text_[end] != '\n'; ++end) {
    const char c = text_[end];
    if (c == '`') {
      for (++end; end < text_.size() && text_[end] != '`' && text_[end] != '\n'; ++end) {
        if (text_[end] == '\\') ++end;
      }
      if (end >= text_.size() || text_[end] == '\n') fail("a closing `");
    } else if (c == '(' || c == '[') {
      ++open;
    } else if (((c == ')' || c == ']') && open-- == 0) || (c == ',' && open == 0)) {
      break;
    }
  }
  at_ = end;
  token_.kind = TokenKind::End;
  lex();
  return text_.substr(start, end - start);
}

std::string_view Lexer::take_rest_of_line() {
  size_t start = token_.offset, end = std::min(text_.find('\n', start), text_.size());
  depth_ = 0;
  at_ = end;
  line_ = token_.line;
  line_start_ = start - column(token_);
  token_.kind = TokenKind::End;
  lex();
  return text_.substr(start, end - start);
}

void Lexer::seek(size_t line_start, size_t line) {
  depth_ = 0;
  at_ = line_start_ = line_start;
  line_ = line;
  token_.kind = TokenKind::End;
  lex();
}

std::vector<Comment> Lexer::take_comments() { return std::exchange(comments_, {}); }

std::string one_line(std::string_view source) {
  if (source.find_first_of("\n#") == std::string_view::npos) return std::string(source);
  Lexer lexer(source);
  lexer.ignore_newlines();
  std::string out;
  size_t last_end = 0;
  while (lexer.peek().kind != TokenKind::End) {
    Token t = lexer.take();
    if (!out.empty() && t.offset > last_end) out += ' ';
    out += t.text;
    last_end = t.end();
  }
  return out;
}

}  // namespace strata::fx
