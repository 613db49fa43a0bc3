// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names in PyTorch's profiler.

#include <pybind11/pybind11.h>

namespace strata {

/// While it lives, what happens is an event of this name in `torch.profiler`. Costs one look-up in a dictionary where
/// no profiler runs. The interpreter's lock must be held at both ends; it may be given away in between.
class ProfilerRegion {
 public:
  /// `name` is a string, or null or None: no event.
  explicit ProfilerRegion(const pybind11::object& name) {
    if (name && !name.is_none() && running()) enter(name);
  }
  ~ProfilerRegion() {
    if (region_) leave();
  }
  ProfilerRegion(const ProfilerRegion&) = delete;
  ProfilerRegion& operator=(const ProfilerRegion&) = delete;

  /// Whether a profiler of PyTorch runs.
  static bool running();

 private:
  void enter(const pybind11::object& name);
  void leave();
  pybind11::object region_;
};

}  // namespace strata
