// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The names of one class of FX graph text: a hash table that is quick to fill and to ask.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace strata {

struct Node;

/// Names are views: their text must outlive the table.
class FxNames {
 public:
  struct Entry {
    std::string_view name;
    Node* node = nullptr;
    bool dead = false;  ///< set to None by the text: a use behind that is an error
  };

  /// Null if there is none. Valid until the next `emplace`.
  Entry* find(std::string_view name) {
    if (slots_.empty()) return nullptr;
    for (size_t slot = hash(name) & mask();; slot = (slot + 1) & mask()) {
      if (slots_[slot] == 0) return nullptr;
      Entry& e = entries_[slots_[slot] - 1];
      if (e.name == name) return &e;
    }
  }
  const Entry* find(std::string_view name) const { return const_cast<FxNames*>(this)->find(name); }
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  /// False if the name is there already.
  bool emplace(std::string_view name, Node* node) {
    if (find(name)) return false;
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    entries_.push_back({name, node, false});
    place(entries_.size());
    return true;
  }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  size_t mask() const { return slots_.size() - 1; }

  static size_t hash(std::string_view name) {
    uint64_t h = 0x9e3779b97f4a7c15u ^ name.size();
    const auto mix = [&h](uint64_t word) {
      h = (h ^ word) * 0xd6e8feb86659fd93u;
      h ^= h >> 32;
    };
    while (name.size() >= 8) {
      uint64_t word;
      std::memcpy(&word, name.data(), 8);
      mix(word);
      name.remove_prefix(8);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, name.data(), name.size());
    mix(rest);
    return static_cast<size_t>(h ^ (h >> 29));
  }

  void place(size_t number) {
    size_t slot = hash(entries_[number - 1].name) & mask();
    while (slots_[slot] != 0) slot = (slot + 1) & mask();
    slots_[slot] = static_cast<uint32_t>(number);
  }

  void grow() {
    slots_.assign(std::bit_ceil(4 * (entries_.size() + 4)), 0);
    for (size_t number = 1; number <= entries_.size(); ++number) place(number);
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // number of the entry, from 1; 0: free
};

}  // namespace strata
