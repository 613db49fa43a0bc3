// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "app/draw/layered_graph.h"

namespace strata::draw {
namespace {

using End = LayeredInput::End;

/// Longest paths first. Then boxes move towards where most of their edges lead, as far as they may: weights and what is
/// made of weights alone come down to their users, so that no layer is crowded with what is needed far below.
class Layers {
 public:
  Layers(const LayeredInput& in, const std::vector<char>& back) : in_(in), count_(in.sizes.size()) {
    for (size_t e = 0; e < in.edges.size(); ++e)
      if (!back[e]) edges_.push_back(in.edges[e]);
    up_ = gather(count_, edges_.size(), [&](size_t k) { return edges_[k].second; });
    down_ = gather(count_, edges_.size(), [&](size_t k) { return edges_[k].first; });
  }

  std::vector<int> run() {
    longest_paths();
    find_hanging();
    for (int round = 0; round < 4; ++round)
      if (!draw_together()) break;
    put_ends();
    return std::move(layer_);
  }

 private:
  End end(int i) const { return in_.ends.empty() ? End::None : in_.ends[static_cast<size_t>(i)]; }
  int& layer(int i) { return layer_[static_cast<size_t>(i)]; }

  void longest_paths() {
    layer_.assign(count_, 0);
    std::vector<int> degree(count_, 0);
    for (const auto& edge : edges_) ++degree[static_cast<size_t>(edge.second)];
    for (size_t i = 0; i < count_; ++i)
      if (!degree[i]) order_.push_back(static_cast<int>(i));
    for (size_t head = 0; head < order_.size(); ++head) {
      const int i = order_[head];
      for (auto it = down_.begin(i); it != down_.end(i); ++it) {
        const int to = edges_[static_cast<size_t>(*it)].second;
        layer(to) = std::max(layer(to), layer(i) + 1);
        if (--degree[static_cast<size_t>(to)] == 0) order_.push_back(to);
      }
    }
  }

  /// A box hangs if it is used once and all that it is made from hangs: it can follow its user with all that.
  void find_hanging() {
    hangs_.assign(count_, 0);
    for (int i : order_) {
      if (down_.size(i) != 1 || end(i) != End::None) continue;
      hangs_[static_cast<size_t>(i)] = std::all_of(up_.begin(i), up_.end(i), [&](int e) {
        return hangs_[static_cast<size_t>(edges_[static_cast<size_t>(e)].first)];
      });
    }
  }

  bool draw_together() {
    bool moved = false;
    for (size_t k = order_.size(); k-- > 0;) moved |= sink(order_[k]);
    for (int i : order_) moved |= rise(i);
    return moved;
  }

  /// Edges from above that get longer when the box goes down.
  int anchors(int i) const {
    int count = 0;
    for (auto it = up_.begin(i); it != up_.end(i); ++it)
      count += !hangs_[static_cast<size_t>(edges_[static_cast<size_t>(*it)].first)];
    return count;
  }

  bool sink(int i) {
    if (down_.size(i) == 0 || end(i) == End::Top || down_.size(i) < anchors(i)) return false;
    if (down_.size(i) == anchors(i) && !hangs_[static_cast<size_t>(i)]) return false;
    int lowest = std::numeric_limits<int>::max();
    for (auto it = down_.begin(i); it != down_.end(i); ++it)
      lowest = std::min(lowest, layer(edges_[static_cast<size_t>(*it)].second) - 1);
    if (lowest <= layer(i)) return false;
    layer(i) = lowest;
    return true;
  }

  bool rise(int i) {
    if (up_.size(i) == 0 || anchors(i) <= down_.size(i)) return false;
    int highest = 0;
    for (auto it = up_.begin(i); it != up_.end(i); ++it)
      highest = std::max(highest, layer(edges_[static_cast<size_t>(*it)].first) + 1);
    if (highest >= layer(i)) return false;
    layer(i) = highest;
    return true;
  }

  void put_ends() {
    if (in_.ends.empty()) return;
    const bool top = std::find(in_.ends.begin(), in_.ends.end(), End::Top) != in_.ends.end();
    int least = std::numeric_limits<int>::max(), most = 0;
    for (size_t i = 0; i < count_; ++i)
      if (in_.ends[i] == End::None) least = std::min(least, layer_[i]), most = std::max(most, layer_[i]);
    if (least > most) least = most;
    for (size_t i = 0; i < count_; ++i)
      layer_[i] = in_.ends[i] == End::Top ? 0 : (in_.ends[i] == End::Bottom ? most + 1 : layer_[i]) - least + top;
  }

  const LayeredInput& in_;
  const size_t count_;
  std::vector<std::pair<int, int>> edges_;
  Rows up_, down_;
  std::vector<int> layer_, order_;
  std::vector<char> hangs_;
};

}  // namespace

std::vector<char> find_back_edges(const LayeredInput& in) {
  const size_t count = in.sizes.size();
  const Rows out = gather(count, in.edges.size(), [&](size_t e) { return in.edges[e].first; });
  std::vector<char> back(in.edges.size(), 0), state(count, 0);
  std::vector<std::pair<int, int>> stack;  // box, how many of its edges were followed
  for (size_t root = 0; root < count; ++root) {
    if (state[root]) continue;
    state[root] = 1;
    stack.emplace_back(static_cast<int>(root), 0);
    while (!stack.empty()) {
      auto& [box, next] = stack.back();
      if (next == out.size(box)) {
        state[static_cast<size_t>(box)] = 2;
        stack.pop_back();
        continue;
      }
      const auto edge = static_cast<size_t>(*(out.begin(box) + next++));
      const int target = in.edges[edge].second;
      if (state[static_cast<size_t>(target)] == 1) back[edge] = 1;
      if (state[static_cast<size_t>(target)] == 0) {
        state[static_cast<size_t>(target)] = 1;
        stack.emplace_back(target, 0);
      }
    }
  }
  return back;
}

std::vector<int> assign_layers(const LayeredInput& in, const std::vector<char>& back) { return Layers(in, back).run(); }

}  // namespace strata::draw
