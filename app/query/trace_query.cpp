// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/query/trace_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "app/query/query_words.h"
#include "core/support/error.h"
#include "core/trace/trace_file.h"

namespace strata {
namespace {

using Operator = QueryCondition::Operator;
using Kind = QueryExpression::Kind;

const std::vector<std::string>& node_keys() {
  static const std::vector<std::string> keys = {"name",   "op",     "target", "args",  "type",  "dtype",
                                                "shape",  "device", "module", "role",  "group", "id",
                                                "kernel", "line",   "file",   "graph", "stage", "time"};
  return keys;
}

const std::vector<std::string>& event_only_keys() {
  static const std::vector<std::string> keys = {"category", "duration", "start", "thread",
                                                "stream",   "rank",     "match", "correlation"};
  return keys;
}

const std::vector<std::string>& event_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all = event_only_keys();
    for (const char* key : {"name", "time", "device", "kernel", "graph", "op", "target", "dtype", "shape", "module",
                            "line", "file", "node", "id"})
      all.emplace_back(key);
    return all;
  }();
  return keys;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

void check_keys(const QueryExpression& expression, const std::vector<std::string>& keys, const char* what) {
  for (const QueryCondition* c : conditions_of(expression))
    if (!contains(keys, c->key))
      throw_user(fmt::format("query, position {}: {} have no key '{}'", c->position, what, c->key),
                 suggest(c->key, keys));
}

bool is_order(Operator op) { return op >= Operator::Less; }
bool is_negative(Operator op) { return op == Operator::NotEqual || op == Operator::ContainsNot; }

[[noreturn]] void need_number(const QueryCondition& c) {
  const std::size_t unit = c.value.find_first_not_of("0123456789.");
  if (unit != std::string::npos && unit > 0) {
    static const std::vector<std::string> units = {"ns", "us", "ms", "s"};
    throw_user(fmt::format("query, position {}: there is no unit '{}'", c.value_position + unit, c.value.substr(unit)),
               suggest(c.value.substr(unit), units));
  }
  throw_user(
      fmt::format("query, position {}: '{}' compares with a number, found '{}'", c.value_position, c.key, c.value),
      "write 12, 1.5ms or 30us");
}

bool compare(double a, Operator op, double b) {
  switch (op) {
    case Operator::Less:
      return a < b;
    case Operator::LessEqual:
      return a <= b;
    case Operator::Greater:
      return a > b;
    case Operator::GreaterEqual:
      return a >= b;
    default:
      return a == b;
  }
}

/// `train.py:12` of a condition on a line.
struct LineValue {
  std::string file;
  std::optional<double> line;
};

LineValue line_value(const QueryCondition& c) {
  const std::size_t colon = c.value.rfind(':');
  if (colon == std::string::npos) return {"", c.number};
  const std::string digits = c.value.substr(colon + 1);
  const bool number =
      !digits.empty() && digits.size() < 10 && digits.find_first_not_of("0123456789") == std::string::npos;
  if (!number) need_number(c);
  return {c.value.substr(0, colon), static_cast<double>(std::stol(digits))};
}

// ------------------------------------------------------------------------------------------------------------------
// Nodes

/// What is known of the nodes of a trace beyond their records.
class NodeFacts {
 public:
  explicit NodeFacts(trace::Reader& reader) : reader_(&reader) {
    for (const trace::RunRecord& run : reader.runs())
      for (const trace::EventSum& sum : reader.event_sums(run.id))
        if (sum.kernel != trace::kNone) times_[sum.kernel] += static_cast<double>(sum.total_ns);
  }

  /// Without a trace: nothing is known of lines.
  NodeFacts(const std::vector<trace::KernelRecord>& kernels, const std::map<trace::Id, double>& times) : times_(times) {
    add(kernels);
  }

  void enter(trace::Id compile) {
    if (compile == compile_) return;
    compile_ = compile;
    kernels_.clear();
    if (reader_) add(reader_->kernels(compile));
  }

  NodeHit describe(const trace::NodeRecord& node) {
    NodeHit hit;
    hit.node = node;
    if (const auto found = kernels_.find(node.id); found != kernels_.end())
      for (const trace::KernelRecord& k : found->second) {
        hit.kernels.push_back(k.name);
        if (const auto time = times_.find(k.id); time != times_.end())
          hit.time_ns = std::max(hit.time_ns, 0.0) + time->second;
      }
    const auto& stack = stack_of(node.stack);
    if (!stack.empty()) {
      hit.file = stack.back().file;
      hit.line = stack.back().line;
    }
    return hit;
  }

  const std::vector<trace::SourceLocation>& stack_of(trace::Id id) {
    auto found = stacks_.find(id);
    if (found == stacks_.end())
      found =
          stacks_
              .emplace(id, id == trace::kNone || !reader_ ? std::vector<trace::SourceLocation>() : reader_->stack(id))
              .first;
    return found->second;
  }

 private:
  void add(const std::vector<trace::KernelRecord>& kernels) {
    for (const trace::KernelRecord& k : kernels)
      for (const trace::NodeId node : k.nodes) kernels_[node].push_back(k);
  }

  trace::Reader* reader_ = nullptr;
  trace::Id compile_ = trace::kNone;
  std::map<trace::NodeId, std::vector<trace::KernelRecord>> kernels_;
  std::map<trace::Id, double> times_;
  std::map<trace::Id, std::vector<trace::SourceLocation>> stacks_;
};

bool text_holds(const QueryCondition& c, std::string_view text) {
  if (c.op == Operator::Contains) return text.find(c.value) != std::string_view::npos;
  return matches_pattern(c.value, text);
}

bool file_holds(const QueryCondition& c, std::string_view pattern, std::string_view file) {
  if (c.op == Operator::Contains || c.op == Operator::ContainsNot) return file.find(pattern) != std::string_view::npos;
  const std::size_t slash = file.rfind('/');
  return matches_pattern(pattern, file) ||
         (slash != std::string_view::npos && matches_pattern(pattern, file.substr(slash + 1)));
}

class NodeFilter {
 public:
  NodeFilter(NodeFacts& facts, std::string graph, std::string stage)
      : facts_(facts), graph_(std::move(graph)), stage_(std::move(stage)) {}

  bool holds(const QueryExpression& e, const NodeHit& hit) {
    switch (e.kind) {
      case Kind::And:
        return std::all_of(e.children.begin(), e.children.end(), [&](const auto& c) { return holds(c, hit); });
      case Kind::Or:
        return std::any_of(e.children.begin(), e.children.end(), [&](const auto& c) { return holds(c, hit); });
      case Kind::Not:
        return !holds(e.children.front(), hit);
      case Kind::Condition:
        break;
    }
    if (is_negative(e.condition.op)) {
      QueryCondition positive = e.condition;
      positive.op = positive.op == Operator::NotEqual ? Operator::Equal : Operator::Contains;
      return !condition(positive, hit);
    }
    return condition(e.condition, hit);
  }

 private:
  static std::variant<double, std::string_view> value(const std::string& key, const NodeHit& hit) {
    const trace::NodeRecord& n = hit.node;
    static const std::map<std::string_view, std::string trace::NodeRecord::*> texts = {
        {"name", &trace::NodeRecord::name},     {"op", &trace::NodeRecord::op},
        {"target", &trace::NodeRecord::target}, {"args", &trace::NodeRecord::args},
        {"type", &trace::NodeRecord::type},     {"dtype", &trace::NodeRecord::dtype},
        {"shape", &trace::NodeRecord::shape},   {"device", &trace::NodeRecord::device},
        {"module", &trace::NodeRecord::module}, {"role", &trace::NodeRecord::role}};
    if (const auto text = texts.find(key); text != texts.end()) return std::string_view(n.*(text->second));
    if (key == "group") return static_cast<double>(n.group);
    if (key == "id") return static_cast<double>(n.id);
    return hit.time_ns;
  }

  bool line(const QueryCondition& c, const NodeHit& hit) {
    const LineValue wanted = line_value(c);
    if (!wanted.line) need_number(c);
    const auto& stack = facts_.stack_of(hit.node.stack);
    return std::any_of(stack.begin(), stack.end(), [&](const trace::SourceLocation& l) {
      return compare(static_cast<double>(l.line), c.op, *wanted.line) &&
             (wanted.file.empty() || file_holds(c, wanted.file, l.file));
    });
  }

  bool condition(const QueryCondition& c, const NodeHit& hit) {
    if (c.key == "line") return line(c, hit);
    if (c.key == "file") {
      const auto& stack = facts_.stack_of(hit.node.stack);
      return std::any_of(stack.begin(), stack.end(), [&](const auto& l) { return file_holds(c, c.value, l.file); });
    }
    if (c.key == "graph") return text_holds(c, graph_);
    if (c.key == "stage") return text_holds(c, stage_);
    if (c.key == "kernel")
      return std::any_of(hit.kernels.begin(), hit.kernels.end(), [&](const auto& k) { return text_holds(c, k); });
    const auto found = value(c.key, hit);
    if (const auto* text = std::get_if<std::string_view>(&found)) {
      if (is_order(c.op))
        throw_user(fmt::format("query, position {}: '{}' is text: it has no order", c.position, c.key),
                   "use =, !=, ~ or !~");
      return text_holds(c, *text);
    }
    const double number = std::get<double>(found);
    if (!c.number) {
      if (c.key == "time" || is_order(c.op)) need_number(c);
      return text_holds(c, fmt::format("{:.0f}", number));
    }
    return (c.key != "time" || number >= 0) && compare(number, c.op, *c.number);
  }

  NodeFacts& facts_;
  std::string graph_, stage_;
};

// ------------------------------------------------------------------------------------------------------------------
// Events, as SQL

/// A pattern as SQLite's GLOB knows it.
std::string glob(const QueryCondition& c) {
  std::string out;
  for (const char ch : c.value) {
    const bool special =
        ch == '[' || ch == '?' || (ch == '*' && c.op >= Operator::Contains && c.op <= Operator::ContainsNot);
    out += special ? fmt::format("[{}]", ch) : std::string(1, ch);
  }
  return c.op == Operator::Contains || c.op == Operator::ContainsNot ? "*" + out + "*" : out;
}

std::string_view sql_operator(Operator op) {
  switch (op) {
    case Operator::Less:
      return "<";
    case Operator::LessEqual:
      return "<=";
    case Operator::Greater:
      return ">";
    case Operator::GreaterEqual:
      return ">=";
    default:
      return "=";
  }
}

/// The compile of an event; launches of our own programs have theirs through the kernel.
constexpr const char* kCompileOfEvent =
    "(CASE WHEN e.compile <> 0 THEN e.compile ELSE COALESCE((SELECT k.compile FROM kernel k WHERE k.id = e.kernel), 0) "
    "END)";

class EventSql {
 public:
  std::string where(const QueryExpression& e) {
    switch (e.kind) {
      case Kind::Not:
        return "NOT (" + where(e.children.front()) + ")";
      case Kind::Condition:
        return is_negative(e.condition.op) ? "NOT (" + condition(e.condition) + ")" : condition(e.condition);
      case Kind::And:
      case Kind::Or:
        break;
    }
    if (e.children.empty()) return "1";
    std::string sql;
    for (const QueryExpression& child : e.children)
      sql += (sql.empty() ? "(" : e.kind == Kind::And ? " AND " : " OR ") + where(child);
    return sql + ")";
  }

  void bind(trace::Query& query) const {
    for (const auto& value : values_) {
      if (const auto* text = std::get_if<std::string>(&value)) {
        query.bind(std::string_view(*text));
      } else {
        query.bind(std::get<double>(value));
      }
    }
  }

 private:
  std::string text(std::string_view column, const QueryCondition& c) {
    no_order(c);
    values_.emplace_back(glob(c));
    const char* empty = matches_pattern(c.value, "") && c.op != Operator::Contains ? " OR {0} = 0" : "";
    return fmt::format("({0} IN (SELECT id FROM string WHERE value GLOB ?){1})", column,
                       fmt::format(fmt::runtime(empty), column));
  }

  static void no_order(const QueryCondition& c) {
    if (is_order(c.op))
      throw_user(fmt::format("query, position {}: '{}' is text: it has no order", c.position, c.key),
                 "use =, !=, ~ or !~");
  }

  std::string number(std::string_view column, const QueryCondition& c) {
    if (!c.number) need_number(c);
    values_.emplace_back(*c.number);
    return fmt::format("({} {} ?)", column, sql_operator(c.op));
  }

  /// Kernels that compute nodes for which `condition` holds, or what these became.
  std::string of_nodes(const std::string& condition) {
    return fmt::format(
        "(e.kernel <> 0 AND e.kernel IN (WITH RECURSIVE hit(compile, node) AS (SELECT n.compile, n.node FROM node n "
        "WHERE {} "
        "UNION SELECT o.compile, o.node FROM origin o JOIN hit h ON o.compile = h.compile AND o.from_node = h.node) "
        "SELECT k.kernel FROM kernel_node k JOIN hit h ON k.compile = h.compile AND k.node = h.node))",
        condition);
  }

  std::string stacks(const std::string& condition) {
    return of_nodes(fmt::format(
        "n.stack IN (SELECT f.stack FROM stack_frame f JOIN location l ON l.id = f.location WHERE {})", condition));
  }

  std::string file(const QueryCondition& c, const std::string& pattern) {
    QueryCondition whole = c, tail = c;
    whole.value = pattern;
    tail.value = "*/" + pattern;
    const std::string first = text("l.file", whole);
    return c.op == Operator::Contains || c.op == Operator::ContainsNot
               ? first
               : "(" + first + " OR " + text("l.file", tail) + ")";
  }

  std::string line(const QueryCondition& c) {
    const LineValue wanted = line_value(c);
    if (!wanted.line) need_number(c);
    QueryCondition number_only = c;
    number_only.number = wanted.line;
    std::string sql = number("l.line", number_only);
    if (!wanted.file.empty()) sql += " AND " + file(c, wanted.file);
    return stacks(sql);
  }

  std::string match(const QueryCondition& c) {
    no_order(c);
    static const std::vector<std::string> words = {"none", "exact", "inferred"};
    const auto found = std::find(words.begin(), words.end(), c.value);
    if (found == words.end())
      throw_user(fmt::format("query, position {}: 'match' is none, exact or inferred, found '{}'", c.position, c.value),
                 suggest(c.value, words));
    return fmt::format("(e.match = {})", found - words.begin());
  }

  std::string condition(const QueryCondition& c) {
    if (c.key == "name" || c.key == "category") return text("e." + c.key, c);
    if (c.key == "duration" || c.key == "time") return number("e.duration_ns", c);
    if (c.key == "start")
      return number("(e.start_ns - (SELECT MIN(start_ns) FROM run r WHERE r.id = e.run AND r.start_ns >= 0))", c);
    if (c.key == "thread" || c.key == "stream" || c.key == "correlation" || c.key == "id")
      return number("e." + c.key, c);
    if (c.key == "match") return match(c);
    if (c.key == "device") return "e.track IN (SELECT id FROM track t WHERE " + number("t.device", c) + ")";
    if (c.key == "rank")
      return "e.track IN (SELECT t.id FROM track t JOIN process p ON p.id = t.process WHERE " + number("p.rank", c) +
             ")";
    if (c.key == "line") return line(c);
    if (c.key == "file") return stacks(file(c, c.value));
    if (c.key == "kernel" || c.key == "graph" || c.key == "node") {
      no_order(c);
      values_.emplace_back(glob(c));
      if (c.key == "node") return of_nodes("n.name GLOB ?");
      return c.key == "kernel" ? "e.kernel IN (SELECT id FROM kernel WHERE name GLOB ?)"
                               : fmt::format("{} IN (SELECT id FROM compile WHERE address GLOB ?)", kCompileOfEvent);
    }
    return of_nodes(text("n." + c.key, c));
  }

  std::vector<std::variant<double, std::string>> values_;
};

std::string string_of(const char* column) {
  return fmt::format("COALESCE((SELECT value FROM string WHERE id = e.{}), '')", column);
}

}  // namespace

const std::vector<std::string>& query_keys(bool events) { return events ? event_keys() : node_keys(); }

bool asks_for_events(const QueryExpression& expression) {
  const auto all = conditions_of(expression);
  return std::any_of(all.begin(), all.end(), [](const auto* c) { return contains(event_only_keys(), c->key); });
}

std::vector<NodeHit> query_nodes(trace::Reader& reader, const QueryExpression& expression,
                                 const std::vector<trace::SnapshotRecord>& snapshots) {
  check_keys(expression, node_keys(), "nodes");
  NodeFacts facts(reader);
  std::vector<NodeHit> hits;
  std::set<std::pair<trace::Id, trace::NodeId>> seen;
  for (const trace::SnapshotRecord& snapshot : snapshots) {
    if (snapshot.kind != trace::SnapshotKind::Graph) continue;
    const auto compile = reader.compile(snapshot.compile);
    facts.enter(snapshot.compile);
    NodeFilter filter(facts, compile ? compile->address : "", snapshot.stage);
    for (const trace::NodeRecord& node : reader.nodes(snapshot.id)) {
      NodeHit hit = facts.describe(node);
      if (!filter.holds(expression, hit) || !seen.insert({snapshot.compile, node.id}).second) continue;
      hit.graph = compile ? compile->address : "";
      hit.stage = snapshot.stage;
      hits.push_back(std::move(hit));
    }
  }
  return hits;
}

std::vector<trace::NodeId> query_records(const QueryExpression& expression, const std::vector<trace::NodeRecord>& nodes,
                                         const std::vector<trace::KernelRecord>& kernels,
                                         const std::map<trace::Id, double>& times) {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> some = node_keys();
    for (const char* key : {"line", "file", "graph", "stage"}) std::erase(some, key);
    return some;
  }();
  check_keys(expression, keys, "nodes of a picture");
  NodeFacts facts(kernels, times);
  NodeFilter filter(facts, "", "");
  std::vector<trace::NodeId> hits;
  for (const trace::NodeRecord& node : nodes)
    if (filter.holds(expression, facts.describe(node))) hits.push_back(node.id);
  return hits;
}

EventHits query_events(const std::filesystem::path& trace, const QueryExpression& expression, std::size_t limit) {
  check_keys(expression, event_keys(), "events");
  EventSql sql;
  const std::string where = sql.where(expression);
  trace::TraceFile file(trace);
  EventHits result;
  {
    trace::Query query = file.database().query(
        fmt::format("SELECT COUNT(*), COALESCE(SUM(MAX(e.duration_ns, 0)), 0) FROM event e WHERE {}", where));
    sql.bind(query);
    if (query.step()) {
      result.count = query.integer(0);
      result.total_ns = query.real(1);
    }
  }
  trace::Query query = file.database().query(
      fmt::format("SELECT e.id, {0}, {1}, e.start_ns, e.duration_ns, e.thread, e.stream, e.correlation, e.kernel, {2}, "
                  "e.match, e.track, COALESCE((SELECT address FROM compile c WHERE c.id = {2}), ''), COALESCE((SELECT "
                  "name FROM kernel k WHERE k.id = e.kernel), '') FROM event e WHERE {3} ORDER BY e.start_ns, e.id "
                  "LIMIT {4}",
                  string_of("name"), string_of("category"), kCompileOfEvent, where, limit));
  sql.bind(query);
  while (query.step()) {
    EventHit hit;
    trace::EventRecord& e = hit.event;
    e.id = query.integer(0);
    e.name = query.text(1);
    e.category = query.text(2);
    e.start_ns = query.integer(3);
    e.duration_ns = query.integer(4);
    e.thread = query.integer(5);
    e.stream = query.integer(6);
    e.correlation = query.integer(7);
    e.kernel = query.integer(8);
    e.compile = query.integer(9);
    e.match = static_cast<trace::Match>(query.integer(10));
    e.track = query.integer(11);
    hit.graph = query.text(12);
    hit.kernel = query.text(13);
    result.hits.push_back(std::move(hit));
  }
  return result;
}

}  // namespace strata
