// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/text_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "app/draw/layout.h"
#include "app/studio/models/comparison_sequence.h"

namespace strata::studio {

using namespace trace;

namespace {

/// Longer lines are not compared word by word.
constexpr size_t kMostWords = 300;
constexpr size_t kLongestLine = 2000;

std::uint64_t label(std::string_view text) { return std::hash<std::string_view>()(text); }

std::uint64_t by_line(const NodeRecord&, const std::string& line) { return label(line); }
std::uint64_t by_operator(const NodeRecord& node, const std::string&) {
  return label(node.op + '\n' + node.target + '\n' + node.dtype + node.shape);
}

std::unordered_set<NodeId> ids(const std::vector<NodeRecord>& nodes) {
  std::unordered_set<NodeId> result;
  result.reserve(nodes.size());
  for (const NodeRecord& node : nodes) result.insert(node.id);
  return result;
}

std::vector<int> count_up(size_t size) {
  std::vector<int> result(size);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

class Differ {
 public:
  Differ(const std::vector<NodeRecord>& before, const std::vector<NodeRecord>& after, const std::function<bool()>& stop)
      : before_(before), after_(after), stop_(stop) {}

  TextDiff run() {
    write(before_, out_.left, out_.left_nodes);
    write(after_, out_.right, out_.right_nodes);
    align();
    find_moved();
    make_rows();
    return std::move(out_);
  }

 private:
  void look_up() const {
    if (stop_ && stop_()) throw draw::Stopped();
  }

  void write(const std::vector<NodeRecord>& nodes, std::vector<std::string>& lines, std::vector<NodeId>& ids) const {
    lines.reserve(nodes.size());
    ids.reserve(nodes.size());
    for (const NodeRecord& node : nodes) {
      lines.push_back(node_line(node));
      ids.push_back(node.id);
    }
    look_up();
  }

  /// By node first. What is left between lines that belong together may be the same under another number, or the same
  /// operator: producers number their nodes anew now and then.
  void align() {
    SequenceAligner aligner(count_up(before_.size()), count_up(after_.size()), [this] { look_up(); });
    const auto left_ids = ids(before_), right_ids = ids(after_);
    std::vector<std::uint64_t> left(before_.size()), right(after_.size());
    for (size_t i = 0; i < left.size(); ++i) left[i] = static_cast<std::uint64_t>(before_[i].id);
    for (size_t i = 0; i < right.size(); ++i) right[i] = static_cast<std::uint64_t>(after_[i].id);
    aligner.refine(left, right);
    for (auto of : {by_line, by_operator}) {
      // A node that is in both texts goes with itself or with none.
      for (size_t i = 0; i < left.size(); ++i)
        left[i] = right_ids.contains(before_[i].id) ? 2 * i : of(before_[i], out_.left[i]);
      for (size_t i = 0; i < right.size(); ++i)
        right[i] = left_ids.contains(after_[i].id) ? 2 * i + 1 : of(after_[i], out_.right[i]);
      aligner.refine(left, right);
    }
    pairs_ = aligner.pairs();
  }

  void find_moved() {
    std::vector<char> left_paired(before_.size(), 0), right_paired(after_.size(), 0);
    for (const auto& [l, r] : pairs_) left_paired[static_cast<size_t>(l)] = right_paired[static_cast<size_t>(r)] = 1;
    std::unordered_map<NodeId, int> left_over;
    for (size_t i = 0; i < before_.size(); ++i)
      if (!left_paired[i]) left_over.emplace(before_[i].id, static_cast<int>(i));
    from_.assign(after_.size(), -1);
    moved_away_.assign(before_.size(), 0);
    for (size_t i = 0; i < after_.size(); ++i) {
      if (right_paired[i]) continue;
      const auto at = left_over.find(after_[i].id);
      if (at == left_over.end()) continue;
      from_[i] = at->second;
      moved_away_[static_cast<size_t>(at->second)] = 1;
      left_over.erase(at);
    }
  }

  void make_rows() {
    int l = 0, r = 0;
    out_.rows.reserve(std::max(before_.size(), after_.size()));
    for (const auto& [left, right] : pairs_) {
      rest(l, left, r, right);
      const bool same = out_.left[static_cast<size_t>(left)] == out_.right[static_cast<size_t>(right)];
      out_.changed += !same;
      out_.rows.push_back({same ? DiffKind::Same : DiffKind::Changed, left, right});
      l = left + 1;
      r = right + 1;
    }
    rest(l, static_cast<int>(before_.size()), r, static_cast<int>(after_.size()));
  }

  void rest(int l, int left_end, int r, int right_end) {
    for (; l < left_end; ++l) {
      const bool moved = moved_away_[static_cast<size_t>(l)];
      out_.removed += !moved;
      out_.rows.push_back({moved ? DiffKind::MovedAway : DiffKind::Removed, l, -1});
    }
    for (; r < right_end; ++r) {
      const int from = from_[static_cast<size_t>(r)];
      out_.moved += from >= 0;
      out_.added += from < 0;
      out_.rows.push_back({from >= 0 ? DiffKind::Moved : DiffKind::Added, from, r});
    }
  }

  const std::vector<NodeRecord>&before_, &after_;
  const std::function<bool()>& stop_;
  TextDiff out_;
  std::vector<std::pair<int, int>> pairs_;
  std::vector<int> from_;  ///< of each line at the right, where it stood before if it moved
  std::vector<char> moved_away_;
};

// -------------------------------------------------------------------------------------------------------------- words

bool in_word(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u >= 0x80 || (u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || u == '_';
}

std::vector<std::pair<int, int>> words(const std::string& line) {
  std::vector<std::pair<int, int>> result;
  for (size_t i = 0; i < line.size();) {
    size_t end = i + 1;
    if (in_word(line[i]))
      while (end < line.size() && in_word(line[end])) ++end;
    result.emplace_back(static_cast<int>(i), static_cast<int>(end));
    i = end;
  }
  return result;
}

/// Words next to each other become one mark, blanks between them included.
WordMarks join(const std::string& line, const std::vector<std::pair<int, int>>& all, const std::vector<char>& kept) {
  WordMarks marks;
  for (size_t i = 0; i < all.size(); ++i) {
    if (kept[i]) continue;
    const auto blank = [&](int from, int to) {
      return line.find_first_not_of(' ', static_cast<size_t>(from)) >= static_cast<size_t>(to);
    };
    if (!marks.empty() && blank(marks.back().second, all[i].first))
      marks.back().second = all[i].second;
    else
      marks.push_back(all[i]);
  }
  return marks;
}

/// Longest common subsequence of the words, by table: lines are short.
void keep_common(const std::string& a, const std::string& b, const std::vector<std::pair<int, int>>& wa,
                 const std::vector<std::pair<int, int>>& wb, std::vector<char>& kept_a, std::vector<char>& kept_b) {
  const size_t n = wa.size(), m = wb.size();
  const auto same = [&](size_t i, size_t j) {
    return std::string_view(a).substr(static_cast<size_t>(wa[i].first),
                                      static_cast<size_t>(wa[i].second - wa[i].first)) ==
           std::string_view(b).substr(static_cast<size_t>(wb[j].first),
                                      static_cast<size_t>(wb[j].second - wb[j].first));
  };
  std::vector<std::uint16_t> best((n + 1) * (m + 1), 0);
  const auto at = [&](size_t i, size_t j) -> std::uint16_t& { return best[i * (m + 1) + j]; };
  for (size_t i = n; i-- > 0;)
    for (size_t j = m; j-- > 0;)
      at(i, j) = same(i, j) ? static_cast<std::uint16_t>(at(i + 1, j + 1) + 1) : std::max(at(i + 1, j), at(i, j + 1));
  for (size_t i = 0, j = 0; i < n && j < m;) {
    if (same(i, j) && at(i, j) == at(i + 1, j + 1) + 1)
      kept_a[i++] = kept_b[j++] = 1;
    else if (at(i + 1, j) >= at(i, j + 1))
      ++i;
    else
      ++j;
  }
}

char sign(DiffKind kind, bool right) {
  switch (kind) {
    case DiffKind::Same:
      return ' ';
    case DiffKind::MovedAway:
      return '<';
    case DiffKind::Moved:
      return '>';
    case DiffKind::Added:
    case DiffKind::Removed:
    case DiffKind::Changed:
      break;
  }
  return right ? '+' : '-';
}

}  // namespace

std::string node_line(const NodeRecord& node) {
  const std::string type = node.dtype + node.shape;
  if (node.op == "output") return fmt::format("return {}", node.args.empty() ? node.name : node.args);
  std::string line = node.name + (type.empty() ? "" : ": " + type) + " = ";
  if (node.op == "placeholder" || node.op == "get_attr" || node.op == "constant") {
    line += node.op;
    if (!node.target.empty() && node.target != node.name) line += " " + node.target;
    return line;
  }
  return line + (node.target.empty() ? node.op : node.target) + "(" + node.args + ")";
}

TextDiff diff_graphs(const std::vector<NodeRecord>& before, const std::vector<NodeRecord>& after,
                     const std::function<bool()>& stop) {
  return Differ(before, after, stop).run();
}

std::pair<WordMarks, WordMarks> differing_words(const std::string& left, const std::string& right) {
  const auto whole = [](const std::string& line) {
    return line.empty() ? WordMarks() : WordMarks{{0, static_cast<int>(line.size())}};
  };
  if (left == right) return {};
  if (left.size() > kLongestLine || right.size() > kLongestLine) return {whole(left), whole(right)};
  const auto a = words(left), b = words(right);
  if (a.size() > kMostWords || b.size() > kMostWords) return {whole(left), whole(right)};
  std::vector<char> kept_a(a.size(), 0), kept_b(b.size(), 0);
  keep_common(left, right, a, b, kept_a, kept_b);
  const auto common = static_cast<size_t>(std::count(kept_a.begin(), kept_a.end(), 1));
  if (common * 4 < std::min(a.size(), b.size())) return {whole(left), whole(right)};
  return {join(left, a, kept_a), join(right, b, kept_b)};
}

std::vector<DiffFold> fold_rows(const std::vector<DiffRow>& rows, int context) {
  std::vector<DiffFold> result;
  const auto add = [&](int first, int end, bool folded) {
    if (end <= first) return;
    if (!folded && !result.empty() && !result.back().folded)
      result.back().count += end - first;
    else
      result.push_back({first, end - first, folded});
  };
  const int size = static_cast<int>(rows.size());
  const auto same = [&](int i) { return rows[static_cast<size_t>(i)].kind == DiffKind::Same; };
  for (int i = 0; i < size;) {
    int end = i + 1;
    while (end < size && same(end) == same(i)) ++end;
    // At the first and last row there is a difference on one side only.
    const int first = i == 0 ? 0 : i + context, last = end == size ? size : end - context;
    const bool fold = same(i) && last - first >= 2;
    add(i, fold ? first : end, false);
    if (fold) {
      add(first, last, true);
      add(last, end, false);
    }
    i = end;
  }
  return result;
}

std::string TextDiff::to_text(int context) const {
  std::string text = fmt::format("--- {}\n+++ {}\n", left_title, right_title);
  for (const DiffFold& fold : fold_rows(rows, context)) {
    if (fold.folded) {
      text += fmt::format("@@ {} lines without a difference @@\n", fold.count);
      continue;
    }
    for (int i = fold.first; i < fold.first + fold.count; ++i) {
      const DiffRow& row = rows[static_cast<size_t>(i)];
      const bool two = row.kind == DiffKind::Changed;
      if (two || row.right < 0)
        text += fmt::format("{} {}\n", sign(row.kind, false), left[static_cast<size_t>(row.left)]);
      if (row.right >= 0) text += fmt::format("{} {}\n", sign(row.kind, true), right[static_cast<size_t>(row.right)]);
    }
  }
  return text;
}

}  // namespace strata::studio
