// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kernels against what the machine can do: flops per byte against flops per second.

#include <QStringList>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/studio/models/profile_rows.h"

namespace strata::studio {

struct RooflinePoint {
  trace::Id compile = trace::kNone, kernel = trace::kNone;
  std::string name, graph;
  std::int64_t calls = 0;
  double ns = 0;
  double intensity = 0;       ///< flops per byte
  double rate = 0;            ///< flops per second
  double bandwidth = 0;       ///< bytes per second
  double reach = 0;           ///< of what the lowest ceiling above it allows, 0 to 1
  bool memory_bound = false;  ///< left of the ridge
};

/// A limit of the machine; flops per second, or bytes per second.
struct Ceiling {
  std::string name;
  double value = 0;
  bool memory = false;
  bool known = true;    ///< false: the highest that was achieved here
  bool vendor = false;  ///< from the vendor's data sheet of a device: says nothing of what ran on the host
};

struct Roofline {
  std::vector<RooflinePoint> points;  ///< greatest time first
  std::vector<Ceiling> memory, compute;
  std::size_t without = 0;  ///< timed kernels of which bytes or flops are not known
  double without_ns = 0;
  double least_x = 0.1, most_x = 10, least_y = 1e6, most_y = 1e9;  ///< whole decades around everything

  bool known() const;
  /// Flops per second that the ceilings allow at this intensity.
  double roof(double intensity) const;
};

/// Ceilings that the trace states (metrics or properties `target.peak_bytes_per_second`,
/// `target.peak_flops_per_second`, and those with `device.N.` before), else the vendor's figures for a device that the
/// trace names; empty otherwise.
std::vector<Ceiling> known_ceilings(trace::Reader& reader);

/// Without known ceilings of a kind the highest that a kernel achieved stands for it.
Roofline make_roofline(const ProfileData& profile, const std::vector<Ceiling>& known);

/// Kernel, graph, total, flop/B, Gflop/s, GB/s, reached, bound by.
QStringList roofline_headers();
std::vector<TableRow> roofline_rows(const Roofline& roofline);

/// `1.5 Tflop/s`.
QString rate_text(double per_second, const char* unit);

}  // namespace strata::studio
