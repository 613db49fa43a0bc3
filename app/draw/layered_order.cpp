// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "app/draw/layered_graph.h"

namespace strata::draw {
namespace {

/// Sweeps down and up sort each layer by the mean place of its neighbours in the layer before; the best order seen is
/// kept. Then neighbours in a layer change places where that saves crossings.
class Ordering {
 public:
  Ordering(LayeredGraph& graph, const std::function<void()>& look_up) : g_(graph), look_up_(look_up) {}

  void run() {
    const size_t size = g_.items.size();
    sweep(size <= 3000 ? 14 : size <= 30000 ? 8 : 5);
    if (least_ == 0) return;
    Layers found = g_.layers;
    const std::int64_t crossings = least_;
    if (size <= 60000) {  // once more from another beginning
      walk_order();
      sweep(size <= 3000 ? 14 : 6);
    }
    if (least_ > crossings) g_.layers = std::move(found);
    if (size <= 20000)
      for (int round = 0; round < 6 && exchange(); ++round) look_up_();
  }

 private:
  using Layers = std::vector<std::vector<int>>;

  void sweep(int rounds) {
    rank_ = g_.positions();
    least_ = count_crossings(g_);
    Layers best = g_.layers;
    int idle = 0;
    for (int round = 0; round < rounds && least_ > 0 && idle < 4; ++round) {
      sort_layers(round % 2 == 0);
      const std::int64_t crossings = count_crossings(g_);
      ++idle;
      if (crossings >= least_) continue;
      idle = 0;
      least_ = crossings;
      best = g_.layers;
    }
    g_.layers = std::move(best);
  }

  void number(const std::vector<int>& layer) {
    // Places are counted from the layer's middle, so that layers of different sizes pull towards the same place.
    for (size_t i = 0; i < layer.size(); ++i)
      rank_[static_cast<size_t>(layer[i])] = static_cast<double>(i) - static_cast<double>(layer.size()) / 2;
  }

  /// Where on the item the link ends, as part of a place.
  double within(int item, double dx) const {
    const double width = g_.items[static_cast<size_t>(item)].width;
    return width > 0 ? std::clamp(dx / width, -0.5, 0.5) : 0;
  }

  double wish(int i, bool downwards) const {
    const Rows& rows = downwards ? g_.up : g_.down;
    if (rows.size(i) == 0) return rank_[static_cast<size_t>(i)];
    double sum = 0;
    for (auto it = rows.begin(i); it != rows.end(i); ++it) {
      const LayeredLink& link = g_.links[static_cast<size_t>(*it)];
      const int other = downwards ? link.from : link.to;
      sum += rank_[static_cast<size_t>(other)] + within(other, downwards ? link.from_dx : link.to_dx);
    }
    return sum / rows.size(i);
  }

  void sort_layers(bool downwards) {
    look_up_();
    std::vector<double> key(g_.items.size());
    for (size_t step = 0; step < g_.layers.size(); ++step) {
      auto& layer = g_.layers[downwards ? step : g_.layers.size() - 1 - step];
      for (int i : layer) key[static_cast<size_t>(i)] = wish(i, downwards);
      std::stable_sort(layer.begin(), layer.end(),
                       [&](int a, int b) { return key[static_cast<size_t>(a)] < key[static_cast<size_t>(b)]; });
      number(layer);
    }
  }

  /// Layers in the order of a walk from the last layer upwards: what is needed for one thing stands together.
  void walk_order() {
    std::vector<int> visited(g_.items.size(), -1);
    int next = 0;
    std::vector<int> stack;
    for (size_t l = g_.layers.size(); l-- > 0;)
      for (int root : g_.layers[l]) {
        if (visited[static_cast<size_t>(root)] >= 0) continue;
        stack.push_back(root);
        while (!stack.empty()) {
          const int i = stack.back();
          stack.pop_back();
          if (visited[static_cast<size_t>(i)] >= 0) continue;
          visited[static_cast<size_t>(i)] = next++;
          for (auto it = g_.up.end(i); it != g_.up.begin(i);)
            stack.push_back(g_.links[static_cast<size_t>(*--it)].from);
        }
      }
    for (auto& layer : g_.layers)
      std::sort(layer.begin(), layer.end(),
                [&](int a, int b) { return visited[static_cast<size_t>(a)] < visited[static_cast<size_t>(b)]; });
  }

  /// Places of the other ends of an item's links, sorted.
  void ends_of(int i, bool above, std::vector<double>& out) const {
    out.clear();
    const Rows& rows = above ? g_.up : g_.down;
    for (auto it = rows.begin(i); it != rows.end(i); ++it) {
      const LayeredLink& link = g_.links[static_cast<size_t>(*it)];
      const int other = above ? link.from : link.to;
      out.push_back(rank_[static_cast<size_t>(other)] + within(other, above ? link.from_dx : link.to_dx));
    }
    std::sort(out.begin(), out.end());
  }

  /// How many crossings it saves to put b, right of a, left of it.
  std::int64_t saved(int a, int b) {
    std::int64_t saves = 0;
    for (bool above : {true, false}) {
      ends_of(a, above, left_);
      ends_of(b, above, right_);
      size_t below = 0, equal = 0;
      for (double x : left_) {
        while (below < right_.size() && right_[below] < x) ++below;
        equal = std::max(equal, below);
        while (equal < right_.size() && right_[equal] <= x) ++equal;
        saves += static_cast<std::int64_t>(below) - static_cast<std::int64_t>(right_.size() - equal);
      }
    }
    return saves;
  }

  bool exchange() {
    rank_ = g_.positions();
    bool better = false;
    for (auto& layer : g_.layers)
      for (size_t i = 0; i + 1 < layer.size(); ++i) {
        if (saved(layer[i], layer[i + 1]) <= 0) continue;
        std::swap(rank_[static_cast<size_t>(layer[i])], rank_[static_cast<size_t>(layer[i + 1])]);
        std::swap(layer[i], layer[i + 1]);
        better = true;
      }
    return better;
  }

  LayeredGraph& g_;
  const std::function<void()>& look_up_;
  std::vector<double> rank_, left_, right_;
  std::int64_t least_ = 0;
};

}  // namespace

std::vector<double> LayeredGraph::positions() const {
  std::vector<double> result(items.size());
  for (const auto& layer : layers)
    for (size_t i = 0; i < layer.size(); ++i)
      result[static_cast<size_t>(layer[i])] = static_cast<double>(i) - static_cast<double>(layer.size()) / 2;
  return result;
}

void LayeredGraph::index() {
  up = gather(items.size(), links.size(), [&](size_t k) { return links[k].to; });
  down = gather(items.size(), links.size(), [&](size_t k) { return links[k].from; });
}

/// Between two layers: links in the order of their upper ends, a tree of sums over the lower ones.
std::int64_t count_crossings(const LayeredGraph& g) {
  std::vector<int> at(g.items.size()), tree;
  for (const auto& layer : g.layers)
    for (size_t i = 0; i < layer.size(); ++i) at[static_cast<size_t>(layer[i])] = static_cast<int>(i);
  std::int64_t crossings = 0;
  std::vector<std::pair<std::pair<int, double>, std::pair<int, double>>> ends;
  for (size_t l = 0; l + 1 < g.layers.size(); ++l) {
    ends.clear();
    for (int i : g.layers[l])
      for (auto it = g.down.begin(i); it != g.down.end(i); ++it) {
        const LayeredLink& link = g.links[static_cast<size_t>(*it)];
        ends.push_back({{at[static_cast<size_t>(i)], link.from_dx}, {at[static_cast<size_t>(link.to)], link.to_dx}});
      }
    if (ends.size() < 2) continue;
    std::sort(ends.begin(), ends.end());
    const size_t size = g.layers[l + 1].size();
    tree.assign(size + 1, 0);
    int total = 0;
    for (size_t k = 0; k < ends.size(); ++k) {
      int before = 0;
      const int lower = ends[k].second.first;
      for (int t = lower + 1; t > 0; t -= t & -t) before += tree[static_cast<size_t>(t)];
      crossings += total - before;
      for (size_t t = static_cast<size_t>(lower) + 1; t <= size; t += t & (~t + 1)) ++tree[t];
      ++total;
    }
  }
  return crossings;
}

void order_layers(LayeredGraph& graph, const std::function<void()>& look_up) { Ordering(graph, look_up).run(); }

}  // namespace strata::draw
