// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/json_text.h"
#include "profiler/profile.h"

namespace strata::cli {

/// Nanoseconds, keys `count`, `median_ns`, `min_ns`, `max_ns`, `mean_ns`.
inline Json statistics_json(const profiler::Statistics& s) {
  return Json{JsonObject{{"count", json(s.count)},
                         {"median_ns", json(s.median)},
                         {"min_ns", json(s.min)},
                         {"max_ns", json(s.max)},
                         {"mean_ns", json(s.mean)}}};
}

}  // namespace strata::cli
