// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tokens of FX graph text: Python's, as far as PyTorch prints them. Line ends count only outside brackets. Internal to
/// the FX reader.

#include <string>
#include <string_view>
#include <vector>

namespace strata::fx {

enum class TokenKind : uint8_t { Name, Number, String, Punct, Newline, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  size_t offset = 0;
  size_t line = 1;

  bool is(std::string_view punct) const { return kind == TokenKind::Punct && text == punct; }
  bool is_name(std::string_view name) const { return kind == TokenKind::Name && text == name; }
  size_t end() const { return offset + text.size(); }
};

struct Comment {
  std::string_view text;  ///< from `#`, without blanks at the end
  size_t line = 1;
  bool own_line = false;  ///< nothing but blanks before it
};

class Lexer {
 public:
  /// `text` must outlive the lexer. `what` names the input in errors.
  /// Reading starts at `offset`, the start of line `line`.
  explicit Lexer(std::string_view text, std::string what = "fx text", size_t offset = 0, size_t line = 1)
      : text_(text), what_(std::move(what)), at_(offset), line_(line), line_start_(offset) {
    lex();
  }

  const Token& peek() const { return token_; }
  Token take();
  /// Takes the punctuation if it is next.
  bool take(std::string_view punct);
  Token expect(std::string_view punct);
  Token expect_name();
  /// Throws a user Error with line and column of the next token, and what was found there.
  [[noreturn]] void fail(const std::string& expected) const { fail_at(token_, expected); }
  [[noreturn]] void fail_at(const Token& at, const std::string& expected) const;

  /// The next token is `<`: takes all up to the matching `>` of the same line instead.
  Token take_angle();
  /// The next token is a bracket or comma: takes it and the raw text behind it, up to the comma or closing bracket that
  /// ends it (brackets inside are skipped, and quotes are not looked at, except backquotes). That one is the next
  /// token.
  std::string_view take_size();
  /// Takes raw text up to the end of the line; the next token is the line end.
  std::string_view take_rest_of_line();
  /// Goes on at the start of a line, outside of brackets.
  void seek(size_t line_start, size_t line);
  /// Everything from the next token on.
  std::string_view rest() const { return text_.substr(token_.offset); }
  /// Comments passed since the last call.
  std::vector<Comment> take_comments();
  const std::vector<Comment>& comments() const { return comments_; }
  std::string_view text() const { return text_; }
  /// Columns count from 0 here.
  size_t column(const Token& token) const;
  /// Ends of lines are blanks from now on (as inside a bracket).
  void ignore_newlines() {
    depth_ = 1;
    lex_again();
  }

 private:
  void lex();
  void lex_again();
  void skip_blanks();
  void lex_string(size_t start);
  void lex_number();
  void set(TokenKind kind, size_t start, size_t end);

  std::string_view text_;
  std::string what_;
  size_t at_ = 0;          // behind the current token
  size_t line_ = 1;        // at at_
  size_t line_start_ = 0;  // offset of that line
  int depth_ = 0;
  Token token_;
  std::vector<Comment> comments_;
};

/// Text of a token or source slice on one line: runs of blanks and line ends are one blank, comments are gone.
std::string one_line(std::string_view source);
/// Without blanks at both ends.
std::string_view strip(std::string_view s);
bool is_identifier(std::string_view s);

}  // namespace strata::fx
