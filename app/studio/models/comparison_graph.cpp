// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/comparison_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "app/studio/models/lists.h"
#include "app/studio/models/overview.h"
#include "core/support/error.h"

namespace strata::studio {

using namespace trace;

namespace {

/// Lines of code are read for graphs with at most this many places: reading a stack takes some ten microseconds.
constexpr size_t kMostStacks = 5000;

std::string shortened(const std::string& text) {
  constexpr size_t most = 120;
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

class Compared {
 public:
  Compared(GraphComparison& c, const std::function<bool()>& stop) : c_(c), stop_(stop) {
    for (const NodeRecord& n : c_.a) names_a_.emplace(n.id, &n - c_.a.data());
    for (const NodeRecord& n : c_.b) names_b_.emplace(n.id, &n - c_.b.data());
  }

  void find_differences() {
    size_t next_b = 0;
    for (size_t i = 0; i < c_.a.size(); ++i) {
      if (i % 1024 == 0 && stop_ && stop_()) throw ComparisonStopped();
      const int b = c_.b_of_a[i];
      if (b < 0) {
        c_.differences.push_back({static_cast<int>(i), -1, {}});
        continue;
      }
      // What only B has stands where it stands in B: before the first node that both have and that follows it.
      for (; next_b < static_cast<size_t>(b); ++next_b) only_b(next_b);
      if (std::string reason = difference(static_cast<int>(i), b); !reason.empty())
        c_.differences.push_back({static_cast<int>(i), b, std::move(reason)});
    }
    for (; next_b < c_.b.size(); ++next_b) only_b(next_b);
  }

  /// How two partners differ; empty if they do not.
  std::string difference(int a, int b) const {
    const NodeRecord &x = c_.a[static_cast<size_t>(a)], &y = c_.b[static_cast<size_t>(b)];
    std::string text;
    const auto field = [&](const char* what, const std::string& from, const std::string& to) {
      if (from == to) return;
      text += fmt::format("{}{}: {} → {}", text.empty() ? "" : "; ", what, from.empty() ? "none" : shortened(from),
                          to.empty() ? "none" : shortened(to));
    };
    field("operator", x.op == y.op ? x.target : x.op + " " + x.target, x.op == y.op ? y.target : y.op + " " + y.target);
    field("shape", x.shape, y.shape);
    field("dtype", x.dtype, y.dtype);
    field("device", x.device, y.device);
    const bool typed = x.shape == y.shape && x.dtype == y.dtype && x.device == y.device;
    if (typed) field(x.shape.empty() ? "type" : "strides", x.type, y.type);
    const bool input = x.op == "placeholder" || x.op == "get_attr";
    if (!input) {
      const std::string rewired = operands(x, y);
      if (!rewired.empty()) text += (text.empty() ? "" : "; ") + rewired;
      if (x.args != y.args && rewired.empty())
        field("arguments", arguments_without_names(x, names(x, c_.a, names_a_)),
              arguments_without_names(y, names(y, c_.b, names_b_)));
    }
    return text;
  }

 private:
  using Index = std::unordered_map<NodeId, std::ptrdiff_t>;

  void only_b(size_t i) {
    if (c_.a_of_b[i] < 0) c_.differences.push_back({-1, static_cast<int>(i), {}});
  }

  static std::vector<std::string_view> names(const NodeRecord& n, const std::vector<NodeRecord>& nodes,
                                             const Index& index) {
    std::vector<std::string_view> out;
    for (const auto& operand : n.inputs)
      for (const NodeId id : operand)
        if (const auto at = index.find(id); at != index.end())
          out.push_back(nodes[static_cast<size_t>(at->second)].name);
    return out;
  }

  /// The first operand that is no partner of the other's.
  std::string operands(const NodeRecord& x, const NodeRecord& y) const {
    std::vector<NodeId> from, to;
    for (const auto& operand : x.inputs) from.insert(from.end(), operand.begin(), operand.end());
    for (const auto& operand : y.inputs) to.insert(to.end(), operand.begin(), operand.end());
    for (size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
      const NodeRecord* a = i < from.size() ? find(c_.a, names_a_, from[i]) : nullptr;
      const NodeRecord* b = i < to.size() ? find(c_.b, names_b_, to[i]) : nullptr;
      if (!a && !b) continue;
      if (a && b && c_.b_of_a[static_cast<size_t>(a - c_.a.data())] == b - c_.b.data()) continue;
      return fmt::format("operand {}: {} → {}", i + 1, a ? "%" + a->name : "none", b ? "%" + b->name : "none");
    }
    return {};
  }
  static const NodeRecord* find(const std::vector<NodeRecord>& nodes, const Index& index, NodeId id) {
    const auto at = index.find(id);
    return at == index.end() ? nullptr : &nodes[static_cast<size_t>(at->second)];
  }

  GraphComparison& c_;
  const std::function<bool()>& stop_;
  Index names_a_, names_b_;
};

std::string operator_of(const NodeRecord& n) { return n.target.empty() || n.op == "placeholder" ? n.op : n.target; }
std::string module_of(const NodeRecord& n) { return n.module.empty() ? "(top level)" : n.module; }

template <typename Key>
std::vector<GraphCount> count(const GraphComparison& c, const Key& key) {
  std::map<std::string, GraphCount> counts;
  for (const NodeRecord& n : c.a) ++counts[key(n)].a, ++counts[key(n)].same;
  for (const NodeRecord& n : c.b) ++counts[key(n)].b;
  for (const GraphDifference& d : c.differences) {
    if (d.a >= 0) --counts[key(c.a[static_cast<size_t>(d.a)])].same;
    const NodeRecord& n = d.a >= 0 ? c.a[static_cast<size_t>(d.a)] : c.b[static_cast<size_t>(d.b)];
    GraphCount& of = counts[key(n)];
    ++(d.a < 0 ? of.only_b : d.b < 0 ? of.only_a : of.changed);
  }
  std::vector<GraphCount> out;
  for (auto& [name, of] : counts) {
    of.key = name;
    out.push_back(std::move(of));
  }
  std::stable_sort(out.begin(), out.end(), [](const GraphCount& x, const GraphCount& y) {
    return x.changed + x.only_a + x.only_b > y.changed + y.only_a + y.only_b;
  });
  return out;
}

std::vector<std::string> source_lines(Reader& reader, const std::vector<NodeRecord>& nodes) {
  std::set<Id> stacks;
  for (const NodeRecord& n : nodes) stacks.insert(n.stack);
  if (stacks.size() > kMostStacks) return {};
  std::unordered_map<Id, std::string> text;
  for (const Id id : stacks)
    if (const auto at = id == kNone ? std::nullopt : user_line(reader.stack(id))) text[id] = at->text;
  std::vector<std::string> lines;
  for (const NodeRecord& n : nodes) lines.push_back(text[n.stack]);
  return lines;
}

std::string title(const CompareSide& side) {
  return side.compile ? side.compile->record.address + " " + side.stage : side.stage;
}

}  // namespace

GraphComparison compare_graphs(const AlignedGraph& a, const AlignedGraph& b, bool by_id,
                               const std::function<bool()>& stop) {
  GraphComparison c;
  c.a = *a.nodes;
  c.b = *b.nodes;
  c.by_id = by_id;
  c.b_of_a = align_graphs(a, b, by_id, stop);
  c.a_of_b.assign(c.b.size(), -1);
  for (size_t i = 0; i < c.b_of_a.size(); ++i)
    if (c.b_of_a[i] >= 0) c.a_of_b[static_cast<size_t>(c.b_of_a[i])] = static_cast<int>(i);
  Compared(c, stop).find_differences();
  for (const GraphDifference& d : c.differences) ++(d.a < 0 ? c.only_b : d.b < 0 ? c.only_a : c.changed);
  c.same = static_cast<int>(c.a.size()) - c.changed - c.only_a;
  c.operators = count(c, operator_of);
  c.modules = count(c, module_of);
  return c;
}

GraphComparison load_graph_comparison(const CompareSide& a, const CompareSide& b, const std::function<bool()>& stop) {
  if (a.snapshot == kNone || b.snapshot == kNone) throw_user("one side has no graph", "choose a stage with nodes");
  const std::vector<NodeRecord> first = a.reader->nodes(a.snapshot);
  if (stop && stop()) throw ComparisonStopped();
  const std::vector<NodeRecord> second = b.reader->nodes(b.snapshot);
  const bool one = a.reader == b.reader && a.compile && b.compile && a.compile->record.id == b.compile->record.id;
  const auto lines_a = one ? std::vector<std::string>() : source_lines(*a.reader, first);
  const auto lines_b = one ? std::vector<std::string>() : source_lines(*b.reader, second);
  const bool lines = !lines_a.empty() && !lines_b.empty();
  const std::vector<std::string> none;
  GraphComparison c = compare_graphs({&first, lines ? lines_a : none}, {&second, lines ? lines_b : none}, one, stop);
  c.title_a = title(a);
  c.title_b = title(b);
  return c;
}

QString graph_verdict(const GraphComparison& c) {
  if (c.differences.empty())
    return c.a.empty() ? QString("Both graphs are empty.") : QString("All %1 nodes are the same.").arg(c.a.size());
  const auto some = [](int n) { return n == 0 ? QString("none") : QString::number(n); };
  return QString("%1 of %2 and %3 nodes are the same, %4 changed, %5 only in A, %6 only in B")
      .arg(some(c.same))
      .arg(c.a.size())
      .arg(c.b.size())
      .arg(some(c.changed), some(c.only_a), some(c.only_b));
}

QStringList difference_headers() { return {"What", "Node in A", "Node in B", "Operator", "Difference", "Module"}; }

std::vector<TableRow> difference_rows(const GraphComparison& c) {
  std::vector<TableRow> rows;
  rows.reserve(c.differences.size());
  for (const GraphDifference& d : c.differences) {
    const NodeRecord* a = d.a >= 0 ? &c.a[static_cast<size_t>(d.a)] : nullptr;
    const NodeRecord* b = d.b >= 0 ? &c.b[static_cast<size_t>(d.b)] : nullptr;
    const NodeRecord& n = b ? *b : *a;
    const QString reason = a && b ? qt(d.reason) : qt(n.type);
    TableRow row;
    row.cells = {{!a   ? "only in B"
                  : !b ? "only in A"
                       : "changed"},
                 {a ? qt(a->name) : QString()},
                 {b ? qt(b->name) : QString()},
                 {qt(operator_of(n))},
                 {reason, {}, reason},
                 {qt(n.module)}};
    row.mark = !a ? "added" : !b ? "removed" : "changed";
    rows.push_back(std::move(row));
  }
  return rows;
}

QStringList graph_count_headers(bool modules) {
  return {modules ? "Module" : "Operator", "In A", "In B", "Same", "Changed", "Only in A", "Only in B"};
}

std::vector<TableRow> graph_count_rows(const std::vector<GraphCount>& counts) {
  std::vector<TableRow> rows;
  for (const GraphCount& c : counts) {
    TableRow row;
    row.cells.push_back({qt(c.key)});
    for (const int n : {c.a, c.b, c.same, c.changed, c.only_a, c.only_b})
      row.cells.push_back({n == 0 ? QString("–") : QString::number(n), n});
    row.mark = c.differs() ? "changed" : "";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace strata::studio
