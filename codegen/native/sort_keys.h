// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements as unsigned numbers in the order of sorting, so that they are compared without asking for NaN, by vectors,
/// and digit by digit.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/ir/ops/line_selection.h"
#include "core/runtime/elements.h"
#include "core/support/huge_pages.h"

namespace strata::native {

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// The unsigned number of an element's size.
template <class T>
using SortKey = std::tuple_element_t<std::bit_width(sizeof(T)) - 1, std::tuple<uint8_t, uint16_t, uint32_t, uint64_t>>;

/// Of floats, the key that all NaNs have, and nothing else: the largest one.
template <class T>
constexpr SortKey<T> kNanKey = std::numeric_limits<SortKey<T>>::max();

/// Keys of `n` elements from `x` on, `step` apart, turned round if `descending`. NaNs are equal to each other and above
/// all else; zeros of either sign are equal. For all stored types.
template <class T>
void take_sort_keys(const T* x, int64_t step, int64_t n, bool descending, SortKey<T>* keys);

/// Whether `count` keys have one that is larger than `key`.
template <class Key>
bool any_above(const Key* keys, int64_t count, Key key);

/// Room for a line, which is not cleared.
template <class T>
class LineRoom {
 public:
  explicit LineRoom(size_t n) : items_(std::make_unique_for_overwrite<T[]>(n)), size_(n) {
    prefer_huge_pages(items_.get(), n * sizeof(T));
  }
  T* data() const { return items_.get(); }
  std::span<T> span() const { return {items_.get(), size_}; }
  void swap(LineRoom& other) noexcept { items_.swap(other.items_); }

 private:
  std::unique_ptr<T[]> items_;
  size_t size_;
};

/// In order by key; of equal ones in the order in which they come. No two keys differ in other bits than those of
/// `differing`; `room` is as large as `line`.
template <class Place>
void sort_by_key(LineRoom<std::pair<uint32_t, Place>>& line, LineRoom<std::pair<uint32_t, Place>>& room,
                 uint32_t differing) {
  using Item = std::pair<uint32_t, Place>;
  constexpr size_t kShort = 32, kDigits = 256, kBytes = 4;
  const std::span<Item> items = line.span();
  if (items.size() < kShort) {  // counting digits would cost more
    const auto whole = [](const Item& a) { return (static_cast<unsigned __int128>(a.first) << 64) + a.second; };
    const auto half = [](const Item& a) { return (static_cast<uint64_t>(a.first) << 32) + a.second; };
    return std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
      if constexpr (sizeof(Place) == 4) return half(a) < half(b);
      return whole(a) < whole(b);
    });
  }
  std::array<size_t, kBytes> shifts{};
  size_t digits = 0;
  for (size_t b = 0; b < kBytes; ++b)
    if (differing >> (8 * b) & 255) shifts[digits++] = 8 * b;
  std::array<std::array<Place, kDigits>, kBytes> counts{};
  for (const Item& item : items)
    for (size_t d = 0; d < digits; ++d) ++counts[d][item.first >> shifts[d] & 255];
  for (size_t d = 0; d < digits; ++d) {
    Place sum = 0;
    for (Place& count : counts[d]) sum += std::exchange(count, sum);
    Item* const to = room.data();
    for (const Item& item : line.span()) to[counts[d][item.first >> shifts[d] & 255]++] = item;
    line.swap(room);
  }
}

/// Orders lines of `n` elements, equal ones as they come: by the 32 leading bits of what their keys differ in, digit by
/// digit, then those that do not differ there by the whole key. `Place` is unsigned and holds `n`.
template <class T, class Place>
class LineSorter {
 public:
  explicit LineSorter(int64_t n) : n_(static_cast<size_t>(n)), keys_(n_), line_(n_), room_(n_) {}

  void sort(const T* x, int64_t step, bool descending) {
    if (n_ == 0) return;
    SortKey<T>* const keys = keys_.data();
    take_sort_keys(x, step, static_cast<int64_t>(n_), descending, keys);
    SortKey<T> least = keys[0], most = keys[0];
    for (size_t i = 1; i < n_; ++i) {
      least = std::min(least, keys[i]);
      most = std::max(most, keys[i]);
    }
    const auto range = static_cast<uint64_t>(most - least);
    const int rest = std::max(0, static_cast<int>(std::bit_width(range)) - 32);
    const auto leading = [&](size_t i) {
      return static_cast<uint32_t>(static_cast<uint64_t>(static_cast<SortKey<T>>(keys[i] - least)) >> rest);
    };
    uint32_t differing = 0;
    for (size_t i = 0; i < n_; ++i) {
      line_.data()[i] = {leading(i), static_cast<Place>(i)};
      differing |= line_.data()[i].first ^ line_.data()[0].first;
    }
    sort_by_key(line_, room_, differing);
    if (rest > 0) order_equal();
  }

  /// Where in the line the element lay that is `i`-th.
  int64_t place(int64_t i) const { return static_cast<int64_t>(line_.data()[i].second); }

 private:
  void order_equal() {
    const std::span<std::pair<uint32_t, Place>> items = line_.span();
    const SortKey<T>* const keys = keys_.data();
    for (auto first = items.begin(); first != items.end();) {
      auto last = first + 1;
      while (last != items.end() && last->first == first->first) ++last;
      if (last - first > 1) {
        std::sort(first, last, [&](const auto& a, const auto& b) {
          const SortKey<T> x = keys[a.second], y = keys[b.second];
          return x < y || (x == y && a.second < b.second);
        });
      }
      first = last;
    }
  }

  size_t n_;
  LineRoom<SortKey<T>> keys_;
  LineRoom<std::pair<uint32_t, Place>> line_, room_;
};

/// The `k` largest of lines of `n` elements, as `ops::select_first` names them: the same steps on keys, but that most
/// elements, which a heap of `k` would not take, are passed over many at a time.
template <class T>
class LineSelector {
 public:
  LineSelector(int64_t n, int64_t k, bool sorted)
      : n_(n),
        k_(k),
        sorted_(sorted),
        by_heap_(k * 64 <= n),
        keys_(static_cast<size_t>(n)),
        line_(static_cast<size_t>(by_heap_ ? k : n)) {}

  void select(const T* x, int64_t step, bool smallest) {
    take_sort_keys(x, step, n_, smallest, keys_.data());
    if (k_ == 0) return;
    for (int64_t i = 0; i < (by_heap_ ? k_ : n_); ++i) line_.data()[i] = item(i);
    if (by_heap_) return by_heap();
    std::span<Item> line = line_.span();
    ops::select_first(line, k_, true, sorted_);
  }

  int64_t place(int64_t i) const { return line_.data()[i].second; }

 private:
  using Item = std::pair<SortKey<T>, int64_t>;
  Item item(int64_t i) const { return {keys_.data()[i], i}; }

  /// std::partial_sort of GCC's library: what is larger than the least of the `k` largest so far takes its place.
  void by_heap() {
    constexpr int64_t kTogether = 64;
    Item* const heap = line_.data();
    const auto larger = [](const Item& a, const Item& b) { return a.first > b.first; };
    std::make_heap(heap, heap + k_, larger);
    for (int64_t i = k_; i < n_; i += kTogether) {
      const int64_t last = std::min(i + kTogether, n_);
      if (!any_above(keys_.data() + i, last - i, heap->first)) continue;
      for (int64_t j = i; j < last; ++j)
        if (keys_.data()[j] > heap->first) replace_least(item(j));
    }
    std::sort_heap(heap, heap + k_, larger);
  }

  /// The hole at the top goes down to a leaf, always to the lesser child, and from there `item` goes up.
  void replace_least(Item item) {
    Item* const heap = line_.data();
    int64_t hole = 0;
    for (int64_t child = 2; child <= k_; child = 2 * hole + 2) {
      if (child == k_ || heap[child].first > heap[child - 1].first) --child;
      heap[hole] = heap[child];
      hole = child;
    }
    for (; hole > 0 && heap[(hole - 1) / 2].first > item.first; hole = (hole - 1) / 2)
      heap[hole] = heap[(hole - 1) / 2];
    heap[hole] = item;
  }

  int64_t n_, k_;
  bool sorted_, by_heap_;
  LineRoom<SortKey<T>> keys_;
  LineRoom<Item> line_;
};

}  // namespace strata::native
