// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How good a layout is, in numbers: for tests and benchmarks.

#include "app/draw/layout.h"

namespace strata::draw {

struct LayoutQuality {
  size_t crossings = 0;      ///< of two edges; edges that share an end do not cross
  size_t through_boxes = 0;  ///< pairs of an edge and a box that it runs through, its own ends left out
  double mean_length = 0;    ///< of an edge, in pixels
  double longest = 0;
  double area = 0;  ///< of the whole, in millions of square pixels
};

/// Curves are taken for chains of straight pieces. Of graphs of any size: O(n log n) for layouts as they are made here.
LayoutQuality measure_quality(const Picture& picture, const Layout& layout);

}  // namespace strata::draw
