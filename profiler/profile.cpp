// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/profile.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "core/ir/sym.h"
#include "core/support/error.h"
#include "profiler/captured.h"

namespace strata::profiler {
namespace {

/// Launch durations of a compile: per run and kernel.
struct Times {
  std::vector<double> runs;
  std::unordered_map<trace::Id, std::vector<double>> kernels;
  std::string label;
};

/// Calls of a compile that PyTorch's profiler saw, where its program was not timed otherwise.
void add_profiled(trace::Reader& reader, trace::Id compile, Times& times) {
  for (const trace::RunRecord& run : reader.runs()) {
    if (run.label != "profile") continue;
    for (const trace::EventRecord& e : reader.events(run.id)) {
      if (e.compile != compile || e.duration_ns < 0) continue;
      const auto duration = static_cast<double>(e.duration_ns);
      if (e.kernel != trace::kNone) times.kernels[e.kernel].push_back(duration);
      if (e.name.starts_with("Torch-Compiled Region")) times.runs.push_back(duration);
    }
  }
  if (!times.runs.empty()) times.label = "profile";
}

Times read_times(trace::Reader& reader, trace::Id compile) {
  Times times;
  for (const trace::RunRecord& run : reader.runs()) {
    if (run.compile != compile) continue;
    times.label = run.label;
    if (run.duration_ns >= 0) times.runs.push_back(static_cast<double>(run.duration_ns));
    for (const trace::EventRecord& e : reader.events(run.id))
      if (e.kernel != trace::kNone) times.kernels[e.kernel].push_back(static_cast<double>(e.duration_ns));
  }
  if (times.runs.empty()) add_profiled(reader, compile, times);
  return times;
}

/// Sizes of the runs: metrics `symbol:NAME` of the compile.
std::map<std::string, int64_t> symbol_values(trace::Reader& reader, trace::Id compile) {
  std::map<std::string, int64_t> values;
  for (const trace::MetricRecord& m : reader.metrics(trace::Owner{trace::OwnerKind::Compile, compile, compile}))
    if (m.key.starts_with("symbol:")) values[m.key.substr(7)] = static_cast<int64_t>(m.value);
  return values;
}

/// A formula at the sizes of the runs; nothing if it cannot be read or a size is missing.
std::optional<double> at_sizes(const std::string& formula, const std::map<std::string, int64_t>& sizes) {
  if (formula.empty() || sizes.empty()) return std::nullopt;
  try {
    ShapeEnv env;
    const SymInt e = parse_sym(env, formula);
    SymBindings bindings(env.symbol_count());
    for (size_t id = 0; id < env.symbol_count(); ++id)
      if (const auto it = sizes.find(env.info(id).name); it != sizes.end()) bindings[id] = it->second;
    const auto value = evaluate(e, bindings);
    return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

double amount(const trace::Amount& a, const std::map<std::string, int64_t>& sizes) {
  return std::max(0.0, at_sizes(a.formula, sizes).value_or(a.value.value_or(0)));
}

std::string kind_of(const trace::KernelRecord& k) {
  if (k.kind == trace::KernelKind::Library) return k.library;
  return k.kind == trace::KernelKind::Opaque ? "opaque" : "loop";
}

/// What of a kernel goes to which rows: keys with their parts, which add up to 1.
std::map<std::string, double> parts(const KernelCost& k, const CapturedNodes& captured, By by) {
  if (by == By::Kernel) return {{k.record.name, 1.0}};
  std::map<std::string, double> result;
  double all = 0;
  for (const auto& [id, count] : k.captured) all += count;
  for (const auto& [id, count] : k.captured) {
    const trace::NodeRecord& node = captured.nodes().at(id);
    std::string key = by == By::Op ? node.target : by == By::Module ? node.module : captured.line(id);
    if (key.empty()) key = by == By::Module ? "(top level)" : "(unknown)";
    result[key] += count / all;
  }
  if (result.empty()) result["(none)"] = 1;
  return result;
}

}  // namespace

Statistics statistics(std::vector<double> values) {
  Statistics s;
  if (values.empty()) return s;
  std::sort(values.begin(), values.end());
  s.count = values.size();
  s.min = values.front();
  s.max = values.back();
  s.total = std::accumulate(values.begin(), values.end(), 0.0);
  s.mean = s.total / static_cast<double>(s.count);
  const size_t middle = s.count / 2;
  s.median = s.count % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return s;
}

Rates rates(double bytes, double flops, double nanoseconds) {
  Rates r;
  if (nanoseconds > 0) {
    r.gigabytes_per_second = bytes / nanoseconds;
    r.gigaflops_per_second = flops / nanoseconds;
  }
  if (bytes > 0) r.flops_per_byte = flops / bytes;
  return r;
}

By parse_by(std::string_view word) {
  static const std::vector<std::string> words = {"kernel", "op", "module", "line"};
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] == word) return static_cast<By>(i);
  throw_user("a profile cannot be made by '" + std::string(word) + "'", suggest(word, words));
}

Costs measure(trace::Reader& reader, trace::Id compile) {
  Times times = read_times(reader, compile);
  const auto sizes = symbol_values(reader, compile);
  const CapturedNodes captured(reader, compile);
  Costs costs;
  costs.label = times.label;
  costs.run = statistics(times.runs);
  std::unordered_map<trace::Id, int64_t> first, count;
  for (const trace::LaunchRecord& l : reader.launches(compile)) {
    first.emplace(l.kernel, l.ordinal);
    ++count[l.kernel];
    ++costs.launches;
  }
  for (trace::KernelRecord& record : reader.kernels(compile)) {
    KernelCost k;
    k.time = statistics(std::move(times.kernels[record.id]));
    k.launches = count[record.id];
    k.per_run = k.time.count == 0 ? 0 : k.time.median * static_cast<double>(k.launches);
    k.bytes = amount(record.bytes, sizes);
    k.flops = amount(record.flops, sizes);
    k.captured = captured.of(record.nodes);
    k.record = std::move(record);
    costs.launched += k.per_run;
    costs.bytes += k.bytes * static_cast<double>(k.launches);
    costs.flops += k.flops * static_cast<double>(k.launches);
    costs.kernels.push_back(std::move(k));
  }
  const auto place = [&](const KernelCost& k) {
    const auto it = first.find(k.record.id);
    return it == first.end() ? INT64_MAX : it->second;
  };
  std::stable_sort(costs.kernels.begin(), costs.kernels.end(),
                   [&](const KernelCost& a, const KernelCost& b) { return place(a) < place(b); });
  return costs;
}

Profile make_profile(trace::Reader& reader, trace::Id compile, By by) {
  Profile profile;
  profile.by = by;
  profile.costs = measure(reader, compile);
  const CapturedNodes captured(reader, compile);
  std::map<std::pair<std::string, std::string>, Row> rows;
  for (const KernelCost& k : profile.costs.kernels) {
    if (k.time.count == 0) continue;
    const auto calls = static_cast<int64_t>(k.time.count);
    for (const auto& [key, part] : parts(k, captured, by)) {
      Row& row = rows[{key, by == By::Kernel ? kind_of(k.record) : ""}];
      row.key = key;
      row.kind = by == By::Kernel ? kind_of(k.record) : "";
      row.calls += calls;
      row.total += k.time.total * part;
      row.bytes += k.bytes * static_cast<double>(calls) * part;
      row.flops += k.flops * static_cast<double>(calls) * part;
      row.shared |= part < 1 - 1e-9;
    }
  }
  if (rows.empty())
    throw_user("'" + reader.path().string() + "' has no timed launches of this graph",
               "make it with `strata run MODEL.pt2 --trace`, with a backend that has launches");
  for (auto& [key, row] : rows) profile.total += row.total;
  for (auto& [key, row] : rows) {
    row.mean = row.total / static_cast<double>(row.calls);
    row.share = profile.total > 0 ? row.total / profile.total : 0;
    row.rates = rates(row.bytes, row.flops, row.total);
    profile.rows.push_back(std::move(row));
  }
  std::stable_sort(profile.rows.begin(), profile.rows.end(),
                   [](const Row& a, const Row& b) { return a.total > b.total; });
  return profile;
}

}  // namespace strata::profiler
