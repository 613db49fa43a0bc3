// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/query/query_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/query/trace_query.h"
#include "core/support/error.h"
#include "core/trace/trace_file.h"

namespace strata {
namespace {

using Operator = QueryCondition::Operator;
using Kind = QueryExpression::Kind;

constexpr std::size_t kMostWords = 200;
constexpr std::string_view kOperatorLetters = "=!~<>";

/// What makes the values of a key; `{}` is a column of numbers of strings.
std::string sql_of(std::string_view key, bool events) {
  if (key == "graph") return "SELECT DISTINCT address FROM compile";
  if (key == "stage") return "SELECT DISTINCT stage FROM snapshot";
  if (key == "kernel") return "SELECT DISTINCT name FROM kernel";
  if (key == "node" || (key == "name" && !events)) return "SELECT DISTINCT name FROM node";
  if (key == "file") return "SELECT DISTINCT path FROM source_file";
  static const std::set<std::string_view> of_events = {"name", "category"};
  static const std::set<std::string_view> of_nodes = {"op",    "target", "type",   "dtype",
                                                      "shape", "device", "module", "role"};
  if (events && of_events.contains(key))
    return fmt::format("SELECT value FROM string WHERE id IN (SELECT DISTINCT {} FROM event)", key);
  if (of_nodes.contains(key) && !(events && key == "device"))
    return fmt::format("SELECT value FROM string WHERE id IN (SELECT DISTINCT {} FROM node)", key);
  return {};
}

bool is_number(std::string_view key) {
  static const std::set<std::string_view> numbers = {"id",    "line",   "time",   "group", "duration",
                                                     "start", "thread", "stream", "rank",  "correlation"};
  return numbers.contains(key);
}

/// Conditions that have to hold for something to be found, in the sense that what they ask for must occur.
void positive(const QueryExpression& e, bool negated, std::vector<const QueryCondition*>& out) {
  if (e.kind == Kind::Condition) {
    const bool asks = e.condition.op == Operator::Equal || e.condition.op == Operator::Contains;
    if (asks && !negated) out.push_back(&e.condition);
    return;
  }
  for (const QueryExpression& child : e.children) positive(child, negated != (e.kind == Kind::Not), out);
}

bool occurs(const QueryCondition& c, const std::vector<std::string>& values) {
  return std::any_of(values.begin(), values.end(), [&](const std::string& value) {
    if (c.op == Operator::Contains) return value.find(c.value) != std::string::npos;
    return matches_pattern(c.value, value);
  });
}

std::string subject(std::string_view key, bool events) {
  if (key == "graph" || key == "stage" || key == "kernel" || key == "node") return fmt::format("there is no {}", key);
  const bool of_event = events && (key == "name" || key == "category");
  return fmt::format("no {} has {}", of_event ? "event" : "node", key);
}

bool starts_like(std::string_view word, std::string_view start) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return word.size() >= start.size() &&
         std::equal(start.begin(), start.end(), word.begin(), [&](char a, char b) { return lower(a) == lower(b); });
}

std::string quoted(const std::string& value) {
  if (!value.empty() && value.find_first_of(" \t()'\"") == std::string::npos) return value;
  const char quote = value.find('\'') == std::string::npos ? '\'' : '"';
  return quote + value + quote;
}

/// Where the word begins that the cursor stands in or behind.
std::size_t word_start(std::string_view text, std::size_t cursor) {
  std::size_t start = 0;
  char quote = 0;
  for (std::size_t i = 0; i < cursor; ++i) {
    if (quote != 0) {
      if (text[i] == quote) quote = 0;
    } else if ((text[i] == '\'' || text[i] == '"') && i > start &&
               kOperatorLetters.find(text[i - 1]) != std::string_view::npos) {
      quote = text[i];
    } else if (text[i] == ' ' || text[i] == '\t' || text[i] == '(' || text[i] == ')') {
      start = i + 1;
    }
  }
  return start;
}

std::vector<std::string> key_words(std::string_view start) {
  std::vector<std::string> words;
  const auto add = [&](const std::string& word) {
    if (starts_like(word, start) && std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  };
  for (const bool events : {false, true})
    for (const std::string& key : query_keys(events)) {
      if (key != start) {
        add(key);
        continue;
      }
      const std::vector<std::string> operators = is_number(key)
                                                     ? std::vector<std::string>{"=", "<", ">", "<=", ">=", "!="}
                                                     : std::vector<std::string>{"=", "~", "!=", "!~"};
      for (const std::string& op : operators) add(key + op);
    }
  for (const char* word : {"and", "or", "not"})
    if (word != start) add(word);
  return words;
}

}  // namespace

std::vector<std::string> query_values(const std::filesystem::path& trace, std::string_view key, bool events,
                                      std::size_t limit) {
  const std::string sql = sql_of(key, events);
  if (sql.empty()) return {};
  trace::TraceFile file(trace);
  trace::Query query = file.database().query(fmt::format("{} LIMIT {}", sql, limit));
  std::vector<std::string> values;
  while (query.step()) values.emplace_back(query.text(0));
  std::erase(values, "");
  std::sort(values.begin(), values.end());
  return values;
}

std::string explain_nothing(const std::filesystem::path& trace, const QueryExpression& expression, bool events) {
  std::vector<const QueryCondition*> conditions;
  positive(expression, false, conditions);
  for (const QueryCondition* c : conditions) {
    if (c->key == "file" || sql_of(c->key, events).empty()) continue;
    // All of them: what is cut off could be what is looked for.
    const auto values = query_values(trace, c->key, events, 1'000'000);
    if (occurs(*c, values)) continue;
    const bool pattern = c->value.find('*') != std::string::npos || c->op == Operator::Contains;
    const std::string hint = pattern ? "" : suggest(c->value, values);
    const std::string what = fmt::format("{} '{}'", subject(c->key, events), c->value);
    return hint.empty() ? what : what + "; " + hint;
  }
  return {};
}

QueryCompletion complete_query(std::string_view text, std::size_t cursor,
                               const std::function<std::vector<std::string>(std::string_view)>& values) {
  cursor = std::min(cursor, text.size());
  QueryCompletion result;
  result.from = word_start(text, cursor);
  result.to = cursor;
  const std::string_view word = text.substr(result.from, cursor - result.from);
  const std::size_t op = word.find_first_of(kOperatorLetters);
  if (op == std::string_view::npos) {
    result.words = key_words(word);
    return result;
  }
  std::size_t value = word.find_first_not_of(kOperatorLetters, op);
  if (value == std::string_view::npos) value = word.size();
  result.from += value;
  std::string_view start = word.substr(value);
  if (!start.empty() && (start.front() == '\'' || start.front() == '"')) start.remove_prefix(1);
  std::vector<std::string> inside;  // those that only contain what was typed come after those that begin with it
  for (const std::string& candidate : values(word.substr(0, op))) {
    if (candidate == start) continue;
    if (starts_like(candidate, start))
      result.words.push_back(quoted(candidate));
    else if (candidate.find(start) != std::string::npos)
      inside.push_back(quoted(candidate));
  }
  result.words.insert(result.words.end(), inside.begin(), inside.end());
  if (result.words.size() > kMostWords) result.words.resize(kMostWords);
  return result;
}

}  // namespace strata
