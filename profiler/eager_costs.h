// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The time of a profile in parts that add up, each with the operators it was spent in.

#include <unordered_map>

#include "profiler/op_names.h"
#include "profiler/timeline.h"

namespace strata::profiler {

/// A part of the measured time: an event of a device or, on a host without one, an operator's own time.
struct CostItem {
  int device = -1;        ///< in Timeline::device; -1: own time of `host`
  int host = -1;          ///< innermost operator or annotation around its launch; -1 unknown
  std::int64_t time = 0;  ///< nanoseconds
  std::int64_t launches = 0;
  std::int64_t bytes = 0;  ///< read and written, estimated from shapes
  bool bytes_known = false;
  int top = -1;  ///< the operator that the program called, or the backward call; -1 none
  bool backward = false;
  std::string_view name;  ///< of the event
};

/// Which forward operators backward nodes belong to.
class ForwardOperators {
 public:
  explicit ForwardOperators(const Timeline& timeline);
  /// The operator of the program (outermost) with this sequence number; -1 unknown.
  int of(std::int64_t sequence) const;

 private:
  std::unordered_map<std::int64_t, int> by_sequence_;
};

/// Which events of a profile are what.
class ProfileCosts {
 public:
  /// `on_device`: device events are what costs. Keeps a reference to `timeline`.
  ProfileCosts(const Timeline& timeline, bool on_device);

  const std::vector<CostItem>& items() const { return items_; }
  /// Sum of all items.
  std::int64_t total() const;
  /// The forward operator (of the program, outermost) that the backward call `top` belongs to; -1 unknown.
  int forward_of(int top) const;
  /// Inside of an optimizer's step or zero_grad.
  bool in_optimizer(const CostItem& item) const;
  /// A copy between host and device, or anything that no operator but a copy asked for.
  bool is_data_movement(const CostItem& item) const;
  /// The operator that says what was done: the innermost that computes, not one that makes room or changes a view.
  int effective(const CostItem& item) const;

 private:
  void add_device_items();
  void add_host_items();
  void place(CostItem& item) const;

  const Timeline& timeline_;
  std::vector<CostItem> items_;
  ForwardOperators forward_;
};

}  // namespace strata::profiler
