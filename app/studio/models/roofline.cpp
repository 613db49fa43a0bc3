// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "app/studio/models/lists.h"

namespace strata::studio {

using namespace trace;

namespace {

/// Dense peaks from the vendors' data sheets, in units of 1e12 per second.
struct Device {
  std::string_view name;  ///< part of what the device calls itself
  double bytes, fp32, tensor;
};
constexpr std::array kDevices = std::to_array<Device>({{"H200", 4.8, 67, 989},
                                                       {"H100 PCIe", 2.0, 51, 756},
                                                       {"H100 NVL", 3.9, 60, 835},
                                                       {"H100", 3.35, 67, 989},
                                                       {"A100-SXM4-80GB", 2.039, 19.5, 312},
                                                       {"A100-PCIE-40GB", 1.555, 19.5, 312},
                                                       {"A100-SXM4-40GB", 1.555, 19.5, 312},
                                                       {"A100 80GB PCIe", 1.935, 19.5, 312},
                                                       {"L40S", 0.864, 91.6, 362},
                                                       {"V100-SXM2", 0.9, 15.7, 125}});

bool usable(double value) { return std::isfinite(value) && value > 0; }

void add_stated(const std::string& key, double value, std::vector<Ceiling>& out) {
  const bool bytes = key.ends_with("peak_bytes_per_second"), flops = key.ends_with("peak_flops_per_second");
  if (!(bytes || flops) || !(key.starts_with("target.") || key.starts_with("device.")) || !usable(value)) return;
  const Ceiling made{bytes ? "memory" : "arithmetic", value, bytes};
  const auto same = [&](const Ceiling& c) { return c.memory == bytes && c.value == value; };
  if (std::none_of(out.begin(), out.end(), same)) out.push_back(made);
}

void add_device(const std::string& name, std::vector<Ceiling>& out) {
  for (const Device& d : kDevices) {
    if (name.find(d.name) == name.npos) continue;
    out.push_back({"memory of " + name, d.bytes * 1e12, true, true, true});
    out.push_back({"FP32", d.fp32 * 1e12, false, true, true});
    out.push_back({"Tensor Cores, 16 bit", d.tensor * 1e12, false, true, true});
    return;
  }
}

double decade_below(double value) { return std::pow(10, std::floor(std::log10(value) - 0.05)); }
double decade_above(double value) { return std::pow(10, std::ceil(std::log10(value) + 0.05)); }

/// The lowest ceiling of arithmetic that the point is under: a kernel that is faster than FP32 uses Tensor Cores.
double roof_above(const Roofline& r, const RooflinePoint& p) {
  double memory = 0;
  for (const Ceiling& c : r.memory) memory = std::max(memory, c.value * p.intensity);
  for (const Ceiling& c : r.compute)
    if (c.value >= p.rate) return memory > 0 ? std::min(memory, c.value) : c.value;
  return memory;
}

void judge(Roofline& r) {
  for (RooflinePoint& p : r.points) {
    const double roof = roof_above(r, p);
    p.reach = roof > 0 ? p.rate / roof : 0;
    double bytes = 0;
    for (const Ceiling& c : r.memory) bytes = std::max(bytes, c.value);
    p.memory_bound = bytes > 0 && bytes * p.intensity <= roof * (1 + 1e-9);
  }
}

void set_range(Roofline& r) {
  if (r.points.empty()) return;
  double x0 = r.points[0].intensity, x1 = x0, y0 = r.points[0].rate, y1 = y0;
  for (const RooflinePoint& p : r.points) {
    x0 = std::min(x0, p.intensity);
    x1 = std::max(x1, p.intensity);
    y0 = std::min(y0, p.rate);
    y1 = std::max(y1, p.rate);
  }
  for (const Ceiling& c : r.compute) {
    y1 = std::max(y1, c.value);
    for (const Ceiling& m : r.memory) x1 = std::max(x1, c.value / m.value);
  }
  r.least_x = decade_below(x0);
  r.most_x = decade_above(x1);
  r.least_y = decade_below(y0);
  r.most_y = decade_above(y1);
}

}  // namespace

bool Roofline::known() const {
  const auto is = [](const Ceiling& c) { return c.known; };
  return std::any_of(memory.begin(), memory.end(), is) || std::any_of(compute.begin(), compute.end(), is);
}

double Roofline::roof(double intensity) const {
  double bytes = 0, flops = 0;
  for (const Ceiling& c : memory) bytes = std::max(bytes, c.value);
  for (const Ceiling& c : compute) flops = std::max(flops, c.value);
  return std::min(bytes * intensity, flops);
}

std::vector<Ceiling> known_ceilings(Reader& reader) {
  std::vector<Ceiling> out;
  for (const MetricRecord& m : reader.metrics()) add_stated(m.key, m.value, out);
  std::string device;
  for (const PropertyRecord& p : reader.properties()) {
    if (p.key.find("peak_") != p.key.npos) {
      bool number = false;
      const double value = qt(p.value).toDouble(&number);
      if (number) add_stated(p.key, value, out);
    }
    if (device.empty() && p.key.starts_with("device.") && p.key.ends_with(".name")) device = p.value;
  }
  if (out.empty()) add_device(device, out);
  std::stable_sort(out.begin(), out.end(), [](const Ceiling& a, const Ceiling& b) { return a.value < b.value; });
  return out;
}

Roofline make_roofline(const ProfileData& profile, const std::vector<Ceiling>& known) {
  Roofline r;
  for (const ProfileKernel& k : profile.kernels) {
    const double calls = static_cast<double>(k.calls), seconds = k.ns / 1e9;
    const double bytes = k.record.bytes.value.value_or(0) * calls, flops = k.record.flops.value.value_or(0) * calls;
    if (!usable(bytes) || !usable(flops) || !usable(seconds)) {
      ++r.without;
      r.without_ns += k.ns;
      continue;
    }
    r.points.push_back({k.record.compile, k.record.id, k.record.name, k.graph, k.calls, k.ns, flops / bytes,
                        flops / seconds, bytes / seconds});
  }
  std::stable_sort(r.points.begin(), r.points.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
  for (const Ceiling& c : known)
    if (profile.device || !c.vendor) (c.memory ? r.memory : r.compute).push_back(c);
  double bandwidth = 0, rate = 0;
  for (const RooflinePoint& p : r.points) {
    bandwidth = std::max(bandwidth, p.bandwidth);
    rate = std::max(rate, p.rate);
  }
  if (r.memory.empty() && bandwidth > 0) r.memory.push_back({"highest seen", bandwidth, true, false});
  if (r.compute.empty() && rate > 0) r.compute.push_back({"highest seen", rate, false, false});
  judge(r);
  set_range(r);
  return r;
}

QString rate_text(double per_second, const char* unit) {
  static constexpr std::pair<double, const char*> scales[] = {
      {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [scale, prefix] : scales)
    if (per_second >= scale) return QString("%1 %2%3").arg(QString::number(per_second / scale, 'g', 3), prefix, unit);
  return QString("%1 %2").arg(QString::number(per_second, 'g', 3), unit);
}

QStringList roofline_headers() {
  return {"Kernel", "Graph", "Total", "flop/B", "Gflop/s", "GB/s", "Reached", "Bound by"};
}

std::vector<TableRow> roofline_rows(const Roofline& roofline) {
  std::vector<TableRow> rows;
  for (const RooflinePoint& p : roofline.points) {
    TableRow row;
    row.cells = {{qt(p.name)},
                 {qt(p.graph)},
                 {qt(draw::format_time(p.ns)), p.ns},
                 {QString::number(p.intensity, 'g', 3), p.intensity},
                 {QString::number(p.rate / 1e9, 'f', 2), p.rate},
                 {QString::number(p.bandwidth / 1e9, 'f', 2), p.bandwidth},
                 {QString::number(100 * p.reach, 'f', 1) + " %", p.reach},
                 {p.memory_bound ? "memory" : "arithmetic"}};
    row.compile = p.compile;
    row.kernel = p.kernel;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace strata::studio
