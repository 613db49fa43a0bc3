// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/correlate_programs.h"

#include <algorithm>
#include <unordered_map>

namespace strata::profiler {
namespace {

/// Whether a profile's annotation means this compile: `0/1_2`, or without the attempt, for `r3:0/1_2`.
bool is_at(const trace::CompileRecord& c, std::string_view wanted) {
  std::string_view address = c.address;
  if (const size_t colon = address.rfind(':'); colon != address.npos) address.remove_prefix(colon + 1);
  if (address == wanted) return true;
  const size_t at = address.rfind('_');
  return c.attempt > 0 && at != address.npos && address.substr(0, at) == wanted;
}

bool on_cpu(const trace::KernelRecord& k) { return k.device.starts_with("cpu") || k.language == "cpp"; }

void add_launches(KnownProgram& p, const std::vector<trace::LaunchRecord>& launches,
                  const std::unordered_map<trace::Id, trace::KernelRecord>& kernels, bool only) {
  for (const trace::LaunchRecord& l : launches) {
    if (l.program != p.record.id && !(only && l.program == trace::kNone)) continue;
    const auto k = kernels.find(l.kernel);
    ExpectedLaunch expected{l.id, l.kernel, l.name, true, false};
    if (k != kernels.end()) {
      expected.nodes = !k->second.nodes.empty();
      expected.library = k->second.kind == trace::KernelKind::Library;
      expected.name = expected.library && !k->second.library.empty() ? k->second.library : k->second.name;
    }
    p.launches.push_back(std::move(expected));
  }
}

void add_kernels(KnownProgram& p, const std::vector<trace::KernelRecord>& kernels, bool only) {
  bool device = false, any = false;
  for (const trace::KernelRecord& k : kernels) {
    if (k.program != p.record.id && !(only && k.program == trace::kNone)) continue;
    p.kernels.push_back(k.id);
    any = true;
    device |= !on_cpu(k) && !k.device.empty();
    device |= k.device.empty() && (k.language == "triton" || k.language == "cuda");
    if (on_cpu(k) && k.kind == trace::KernelKind::Loop) p.cpu_loops.push_back(k.name);
  }
  p.on_device = device || (any && p.cpu_loops.empty());
}

}  // namespace

std::string KnownProgram::title() const { return compile.address + " " + record.role; }

KnownPrograms::KnownPrograms(trace::Reader& reader) : compiles_(reader.compiles()) {
  for (const trace::CompileRecord& c : compiles_) {
    const std::vector<trace::ProgramRecord> programs = reader.programs(c.id);
    if (programs.empty()) continue;
    const std::vector<trace::KernelRecord> kernels = reader.kernels(c.id);
    const std::vector<trace::LaunchRecord> launches = reader.launches(c.id);
    std::unordered_map<trace::Id, trace::KernelRecord> by_id;
    for (const trace::KernelRecord& k : kernels) by_id.emplace(k.id, k);
    for (const trace::ProgramRecord& record : programs) {
      KnownProgram p;
      p.record = record;
      p.compile = c;
      add_launches(p, launches, by_id, programs.size() == 1);
      add_kernels(p, kernels, programs.size() == 1);
      if (!record.key.empty()) keys_.emplace(record.key, static_cast<int>(programs_.size()));
      programs_.push_back(std::move(p));
    }
  }
}

KnownPrograms::Found KnownPrograms::by_key(std::string_view key, trace::Id process, trace::Id near) const {
  const auto [begin, end] = keys_.equal_range(key);
  const auto count = std::distance(begin, end);
  if (count == 0) return {};
  const auto unique = [&](auto&& condition) {
    int found = -1, number = 0;
    for (auto it = begin; it != end; ++it)
      if (condition(programs_[static_cast<size_t>(it->second)])) found = it->second, ++number;
    return std::pair(found, number);
  };
  const auto nearest = unique([&](const KnownProgram& p) { return near != trace::kNone && p.compile.id == near; });
  if (nearest.second == 1) return {nearest.first, true};
  const auto own = unique([&](const KnownProgram& p) { return p.compile.process == process; });
  if (own.second > 0) return {own.first, own.second == 1};
  return {begin->second, count == 1};
}

int KnownPrograms::of_compile(trace::Id compile, bool backward) const {
  int found = -1;
  for (size_t i = 0; i < programs_.size(); ++i)
    if (programs_[i].compile.id == compile && programs_[i].backward() == backward) found = static_cast<int>(i);
  return found;
}

std::optional<trace::CompileRecord> KnownPrograms::compile_at(std::string_view address, trace::Id process,
                                                              std::int64_t time_ns) const {
  const bool own = std::any_of(compiles_.begin(), compiles_.end(),
                               [&](const trace::CompileRecord& c) { return c.process == process; });
  std::optional<trace::CompileRecord> found;
  for (const trace::CompileRecord& c : compiles_) {
    if ((own && c.process != process) || !is_at(c, address) || c.outcome == "restarted") continue;
    if (time_ns >= 0 && c.start_ns > time_ns) continue;
    if (time_ns < 0 || !found || c.start_ns >= found->start_ns) found = c;
  }
  return found || time_ns < 0 ? found : compile_at(address, process);
}

std::vector<int> KnownPrograms::backward_programs(trace::Id process) const {
  std::vector<int> own, all;
  bool known = false;
  for (size_t i = 0; i < programs_.size(); ++i) {
    known |= programs_[i].compile.process == process;
    if (!programs_[i].backward()) continue;
    all.push_back(static_cast<int>(i));
    if (programs_[i].compile.process == process) own.push_back(static_cast<int>(i));
  }
  return known ? own : all;
}

}  // namespace strata::profiler
