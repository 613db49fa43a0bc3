// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/query/query_language.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "core/support/error.h"

namespace strata {
namespace {

using Operator = QueryCondition::Operator;
constexpr int kMaxDepth = 200;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool is_key(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  static constexpr std::array<std::pair<std::string_view, double>, 5> units = {
      {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& [name, factor] : units)
    if (unit == name) return number * factor;
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  QueryExpression run() {
    skip_blanks();
    if (at_ == text_.size()) return {};
    QueryExpression expression = any(0);
    if (at_ < text_.size()) fail("expected a condition");
    return expression;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const std::string found = at_ < text_.size() ? fmt::format("found '{}'", text_.substr(at_, 12)) : "found the end";
    throw_user(fmt::format("query, position {}: {}, {}", at_ + 1, what, found),
               "write KEY=PATTERN, KEY>NUMBER, and, or, not, ( ): 'target=aten.relu* dtype=f32'");
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  /// Takes the word if it stands here by itself.
  bool take(std::string_view word) {
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(word)) return false;
    if (is_key(word[0]) && rest.size() > word.size() && !is_blank(rest[word.size()]) && rest[word.size()] != '(')
      return false;
    at_ += word.size();
    skip_blanks();
    return true;
  }

  QueryExpression any(int depth) {
    if (depth > kMaxDepth) fail("nested too deep");
    QueryExpression list{QueryExpression::Kind::Or, {}, {}};
    do list.children.push_back(all(depth));
    while (take("or"));
    return list.children.size() == 1 ? std::move(list.children.front()) : list;
  }

  QueryExpression all(int depth) {
    QueryExpression list{QueryExpression::Kind::And, {}, {}};
    do list.children.push_back(one(depth));
    while (take("and") || more());
    return list.children.size() == 1 ? std::move(list.children.front()) : list;
  }

  /// Whether another factor follows without `and`.
  bool more() {
    if (at_ == text_.size() || text_[at_] == ')') return false;
    const std::size_t here = at_;
    const bool other = take("or");
    at_ = here;
    return !other;
  }

  QueryExpression one(int depth) {
    if (depth > kMaxDepth) fail("nested too deep");
    if (take("not")) {
      QueryExpression expression{QueryExpression::Kind::Not, {}, {}};
      expression.children.push_back(one(depth + 1));
      return expression;
    }
    if (take("(")) {
      QueryExpression inside = any(depth + 1);
      if (!take(")")) fail("expected ')'");
      return inside;
    }
    return {QueryExpression::Kind::Condition, {}, condition()};
  }

  QueryCondition condition() {
    QueryCondition c;
    c.position = at_ + 1;
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_key(text_[at_])) ++at_;
    if (at_ == begin) fail("expected a key");
    c.key = text_.substr(begin, at_ - begin);
    skip_blanks();
    refuse_misspelt_word(c);
    c.op = comparison();
    skip_blanks();
    c.value_position = at_ + 1;
    c.value = value();
    c.number = number_of(c.value);
    skip_blanks();
    return c;
  }

  /// `target=x adn name=y`: a word before a condition that is none.
  void refuse_misspelt_word(const QueryCondition& c) const {
    if (at_ == text_.size() || !is_key(text_[at_])) return;
    static const std::vector<std::string> words = {"and", "or", "not"};
    throw_user(fmt::format("query, position {}: expected and, or, not or a condition, found '{}'", c.position, c.key),
               suggest(c.key, words));
  }

  /// What other languages write.
  void refuse_foreign_operator() const {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> foreign = {
        {{"=>", ">="}, {"=<", "<="}, {"<>", "!="}, {"=~", "~"}, {"!", "!="}, {">>", ">"}, {"<<", "<"}}};
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("!=") || rest.starts_with("!~")) return;
    for (const auto& [wrong, right] : foreign)
      if (rest.starts_with(wrong))
        throw_user(fmt::format("query, position {}: there is no operator '{}'", at_ + 1, wrong),
                   fmt::format("did you mean '{}'", right));
  }

  Operator comparison() {
    refuse_foreign_operator();
    static constexpr std::array<std::pair<std::string_view, Operator>, 9> all = {{{"!=", Operator::NotEqual},
                                                                                  {"!~", Operator::ContainsNot},
                                                                                  {"<=", Operator::LessEqual},
                                                                                  {">=", Operator::GreaterEqual},
                                                                                  {"==", Operator::Equal},
                                                                                  {"=", Operator::Equal},
                                                                                  {"~", Operator::Contains},
                                                                                  {"<", Operator::Less},
                                                                                  {">", Operator::Greater}}};
    for (const auto& [word, op] : all) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return op;
    }
    fail("expected =, !=, ~, !~, <, <=, > or >=");
  }

  std::string value() {
    if (at_ == text_.size()) fail("expected a value");
    if (const char quote = text_[at_]; quote == '\'' || quote == '"') {
      const std::size_t end = text_.find(quote, at_ + 1);
      if (end == std::string_view::npos) fail("expected the closing quote");
      const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return std::string(inside);
    }
    const std::size_t begin = at_;
    for (int depth = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (depth == 0 && (is_blank(c) || c == ')')) break;
      if (c == '[' || c == '(' || c == '{') ++depth;
      if (depth > 0 && (c == ']' || c == ')' || c == '}')) --depth;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

QueryExpression parse_query(std::string_view text) { return Parser(text).run(); }

std::vector<const QueryCondition*> conditions_of(const QueryExpression& expression) {
  if (expression.kind == QueryExpression::Kind::Condition) return {&expression.condition};
  std::vector<const QueryCondition*> all;
  for (const QueryExpression& child : expression.children)
    for (const QueryCondition* c : conditions_of(child)) all.push_back(c);
  return all;
}

bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace strata
