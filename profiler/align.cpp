// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/align.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "profiler/op_names.h"

namespace strata::profiler {
namespace {

constexpr size_t kPiece = 4000;  ///< 16 million cells

bool has_symbol(const std::string& shape) {
  return std::any_of(shape.begin(), shape.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == 'u'; });
}

/// 2: the same, 0: nothing to compare, -1: they contradict.
int shape_match(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  bool any = false;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (has_symbol(a[i]) || has_symbol(b[i])) continue;
    if (a[i] != b[i]) return -1;
    any = true;
  }
  return any ? 2 : 0;
}

/// Scores of pairs. Names and shape lists are numbered first: a program repeats few of them.
class Scores {
 public:
  Scores(const std::vector<AlignItem>& calls, const std::vector<AlignItem>& operators)
      : calls_(number(calls)), operators_(number(operators)) {
    for (const AlignItem* a : calls_.distinct)
      for (const AlignItem* b : operators_.distinct) table_.push_back(score(*a, *b));
  }
  int operator()(size_t call, size_t op) const {
    return table_[calls_.of[call] * operators_.distinct.size() + operators_.of[op]];
  }

 private:
  struct Numbered {
    std::vector<size_t> of;                  ///< per item
    std::vector<const AlignItem*> distinct;  ///< one item of each
  };
  static Numbered number(const std::vector<AlignItem>& items) {
    Numbered n;
    std::unordered_map<std::string, size_t> seen;
    for (const AlignItem& item : items) {
      std::string key = item.name;
      for (const std::string& shape : item.shapes) key += '\n' + shape;
      const auto [it, first] = seen.try_emplace(std::move(key), n.distinct.size());
      if (first) n.distinct.push_back(&item);
      n.of.push_back(it->second);
    }
    return n;
  }
  static std::int8_t score(const AlignItem& call, const AlignItem& op) {
    const int names = name_match(call.name, op.name);
    if (names == 0) return 0;
    const int shapes = shape_match(call.shapes, op.shapes);
    // Indexing shows as several operators, each with the shape that the one before left.
    return static_cast<std::int8_t>(shapes < 0 ? 1 : 4 * names + shapes);
  }
  Numbered calls_, operators_;
  std::vector<std::int8_t> table_;
};

enum class Step : std::uint8_t { None, Pair, Call, Operator };

/// Longest common subsequence by weight, of one piece.
std::vector<int> align_piece(const Scores& scores, size_t first_call, size_t n, size_t first_op, size_t m) {
  std::vector<Step> steps((n + 1) * (m + 1), Step::None);
  std::vector<std::int32_t> above(m + 1, 0), row(m + 1, 0);
  for (size_t i = 1; i <= n; ++i) {
    for (size_t j = 1; j <= m; ++j) {
      Step& step = steps[i * (m + 1) + j];
      row[j] = above[j];
      step = Step::Call;
      if (row[j - 1] > row[j]) row[j] = row[j - 1], step = Step::Operator;
      const int s = scores(first_call + i - 1, first_op + j - 1);
      if (s > 0 && above[j - 1] + s > row[j]) row[j] = above[j - 1] + s, step = Step::Pair;
    }
    std::swap(above, row);
    row[0] = 0;
  }
  std::vector<int> found(m, -1);
  for (size_t i = n, j = m; i > 0 && j > 0;) {
    const Step step = steps[i * (m + 1) + j];
    if (step == Step::Pair)
      found[--j] = static_cast<int>(--i);
    else if (step == Step::Operator)
      --j;
    else
      --i;
  }
  return found;
}

}  // namespace

std::vector<int> align(const std::vector<AlignItem>& calls, const std::vector<AlignItem>& operators) {
  const Scores scores(calls, operators);
  std::vector<int> all(operators.size(), -1);
  size_t call = 0, op = 0;
  while (call < calls.size() && op < operators.size()) {
    const size_t n = std::min(kPiece, calls.size() - call), m = std::min(kPiece, operators.size() - op);
    const auto piece = align_piece(scores, call, n, op, m);
    const bool last = call + n == calls.size() && op + m == operators.size();
    // The end of a piece may be put beside the wrong things for want of the right ones: only its first half stands.
    size_t take = last ? m : 0;
    int last_call = -1;
    for (size_t j = 0; j < (last ? m : (m + 1) / 2); ++j)
      if (piece[j] >= 0) last_call = piece[j], take = last ? m : j + 1;
    for (size_t j = 0; j < take; ++j)
      if (piece[j] >= 0) all[op + j] = static_cast<int>(call) + piece[j];
    if (last) break;
    if (take == 0) take = (m + 1) / 2;
    op += take;
    call += static_cast<size_t>(last_call + 1);
    if (last_call < 0 && n < kPiece && m < kPiece) break;
  }
  return all;
}

}  // namespace strata::profiler
