// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/memory_plan.h"

#include <fmt/format.h>

#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "app/studio/models/lists.h"

namespace strata::studio {

using namespace trace;

namespace {

bool is_outside(const std::string& kind) {
  return kind == "input" || kind == "weight" || kind == "parameter" || kind == "constant";
}

/// Buffers that launches of other programs alone touch.
std::set<Id> of_other_programs(const CompileData& compile, Id program) {
  std::set<Id> here, elsewhere;
  for (const LaunchRecord& launch : compile.launches)
    for (const auto* list : {&launch.reads, &launch.writes})
      for (const Id id : *list) (launch.program == program ? here : elsewhere).insert(id);
  for (const Id id : here) elsewhere.erase(id);
  return elsewhere;
}

/// Numbers the chains of blocks that take over each other's memory.
void find_chains(MemoryPlan& plan) {
  std::unordered_map<Id, size_t> index;
  for (size_t i = 0; i < plan.blocks.size(); ++i) index.emplace(plan.blocks[i].buffer, i);
  std::vector<size_t> parent(plan.blocks.size());
  for (size_t i = 0; i < parent.size(); ++i) parent[i] = i;
  const auto root = [&](size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  std::set<size_t> longer;
  for (size_t i = 0; i < plan.blocks.size(); ++i)
    if (const auto of = index.find(plan.blocks[i].reuse_of); of != index.end() && of->second != i)
      parent[root(i)] = root(of->second);
  for (size_t i = 0; i < plan.blocks.size(); ++i) {
    plan.blocks[i].chain = root(i);
    if (root(i) != i) longer.insert(root(i));
  }
  plan.chains = longer.size();
}

/// All blocks of one chain.
struct Region {
  std::int64_t first = INT64_MAX, last = -1;
  double bytes = 0;
  double offset = 0;
  bool arena = false;
};

void place_regions(std::map<size_t, Region>& regions, double floor) {
  std::vector<Region*> order;
  for (auto& [chain, region] : regions)
    if (!region.arena) order.push_back(&region);
  std::stable_sort(order.begin(), order.end(), [](const Region* a, const Region* b) {
    return a->first != b->first ? a->first < b->first : a->last > b->last;
  });
  std::vector<Region*> active;  // by offset
  for (Region* region : order) {
    std::erase_if(active, [&](const Region* other) { return other->last < region->first; });
    region->offset = floor;
    auto before = active.begin();
    for (; before != active.end() && (*before)->offset - region->offset < region->bytes; ++before)
      region->offset = std::max(region->offset, (*before)->offset + (*before)->bytes);
    active.insert(before, region);
  }
}

void place(MemoryPlan& plan) {
  std::map<size_t, Region> regions;
  double top = 0;
  for (const MemoryBlock& b : plan.blocks) {
    Region& region = regions[b.chain];
    region.first = std::min(region.first, b.first);
    region.last = std::max(region.last, b.last);
    region.bytes = std::max(region.bytes, b.bytes);
    if (!b.arena) continue;
    region.arena = true;
    region.offset = b.offset;
    top = std::max(top, b.offset + b.bytes);
  }
  place_regions(regions, top);
  for (MemoryBlock& b : plan.blocks) {
    if (!b.arena) b.offset = regions.at(b.chain).offset;
    plan.height = std::max(plan.height, b.offset + b.bytes);
  }
}

void add_up(MemoryPlan& plan) {
  plan.live.assign(plan.launches.size(), 0);
  // Within a chain a launch that reads the old and writes the new value uses the memory once.
  std::map<std::pair<size_t, std::int64_t>, double> shared;
  std::unordered_map<size_t, int> members;
  for (const MemoryBlock& b : plan.blocks) ++members[b.chain];
  std::vector<double> change(plan.launches.size() + 1, 0);
  for (const MemoryBlock& b : plan.blocks) {
    if (members[b.chain] == 1) {
      change[static_cast<size_t>(b.first)] += b.bytes;
      change[static_cast<size_t>(b.last + 1)] -= b.bytes;
      continue;
    }
    for (std::int64_t i = b.first; i <= b.last; ++i) {
      double& most = shared[{b.chain, i}];
      most = std::max(most, b.bytes);
    }
  }
  double now = 0;
  for (size_t i = 0; i < plan.live.size(); ++i) plan.live[i] = now += change[i];
  for (const auto& [key, bytes] : shared) plan.live[static_cast<size_t>(key.second)] += bytes;
  for (size_t i = 0; i < plan.live.size(); ++i)
    if (plan.live[i] > plan.peak) {
      plan.peak = plan.live[i];
      plan.peak_launch = static_cast<std::int64_t>(i);
    }
}

}  // namespace

const MemoryBlock* MemoryPlan::find(Id buffer) const {
  const auto at = std::find_if(blocks.begin(), blocks.end(), [&](const auto& b) { return b.buffer == buffer; });
  return at == blocks.end() ? nullptr : &*at;
}

int MemoryPlan::at(double launch, double byte) const {
  int found = -1;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const MemoryBlock& b = blocks[i];
    const bool in_time = launch >= static_cast<double>(b.first) && launch < static_cast<double>(b.last + 1);
    if (in_time && byte >= b.offset && byte < b.offset + b.bytes) found = static_cast<int>(i);  // the newest is on top
  }
  return found;
}

std::vector<std::pair<Id, std::string>> memory_programs(const CompileData& compile) {
  std::vector<std::pair<Id, std::string>> out;
  for (const LaunchRecord& launch : compile.launches) {
    const Id program = launch.program;
    if (std::any_of(out.begin(), out.end(), [&](const auto& p) { return p.first == program; })) continue;
    std::string name;
    for (const SnapshotRecord& s : compile.snapshots)
      if (s.program == program && program != kNone && s.stage.find(':') != s.stage.npos)
        name = s.stage.substr(s.stage.find(':') + 1);
    out.emplace_back(program, name.empty() ? fmt::format("program {}", out.size() + 1) : name);
  }
  return out;
}

MemoryPlan make_memory_plan(const CompileData& compile, Id program, bool outside) {
  MemoryPlan plan;
  for (const LaunchRecord& launch : compile.launches) {
    if (launch.program != program) continue;
    const KernelRecord* kernel = compile.kernel(launch.kernel);
    plan.launches.push_back(launch.name.empty() && kernel ? kernel->name : launch.name);
  }
  const auto count = static_cast<std::int64_t>(plan.launches.size());
  const std::set<Id> other = of_other_programs(compile, program);
  for (const BufferRecord& b : compile.buffers) {
    if (other.contains(b.id) || (!outside && is_outside(b.kind))) continue;
    const double bytes = b.bytes.value.value_or(-1);
    // What is returned lives on after its last use here.
    const std::int64_t end = b.kind == "output" ? count - 1 : std::max(b.first_launch, b.last_launch);
    const std::int64_t last = std::min(end, count - 1);
    if (!std::isfinite(bytes) || bytes <= 0 || b.first_launch < 0 || b.first_launch >= count) {
      ++plan.unplaced;
      continue;
    }
    const bool arena = b.arena_offset && *b.arena_offset >= 0;
    plan.blocks.push_back({b.id, b.reuse_of, b.node, b.name, b.kind, b.first_launch, last, bytes,
                           arena ? static_cast<double>(*b.arena_offset) : 0, arena, 0});
  }
  std::stable_sort(plan.blocks.begin(), plan.blocks.end(),
                   [](const MemoryBlock& a, const MemoryBlock& b) { return a.first < b.first; });
  find_chains(plan);
  place(plan);
  add_up(plan);
  return plan;
}

QStringList memory_headers() { return {"Buffer", "Kind", "Bytes", "From", "To", "Offset", "Memory of", "Node"}; }

std::vector<TableRow> memory_rows(const MemoryPlan& plan, const std::function<std::string(NodeId)>& name) {
  std::vector<TableRow> rows;
  std::unordered_map<Id, const MemoryBlock*> blocks;
  for (const MemoryBlock& b : plan.blocks) blocks.emplace(b.buffer, &b);
  const auto launch = [&](std::int64_t i) {
    return TableCell{QString("%1 %2").arg(i).arg(qt(plan.launches[static_cast<size_t>(i)])), static_cast<qlonglong>(i)};
  };
  for (const MemoryBlock& b : plan.blocks) {
    const auto of = blocks.find(b.reuse_of);
    TableRow row;
    row.cells = {{qt(b.name)},
                 {qt(b.kind)},
                 {bytes_text(b.bytes), b.bytes, QString::number(b.bytes, 'f', 0) + " bytes"},
                 launch(b.first),
                 launch(b.last),
                 b.arena ? TableCell{bytes_text(b.offset), b.offset} : TableCell{"", -1.0},
                 {of != blocks.end() ? qt(of->second->name) : QString()},
                 {b.node == 0 ? QString()
                  : name      ? qt(name(b.node))
                              : QString("#%1").arg(b.node)}};
    rows.push_back(std::move(row));
  }
  return rows;
}

MemoryCurves load_memory_curves(Reader& reader, const std::function<bool()>& cancelled) {
  std::set<Id> runs;
  for (const RunRecord& run : reader.runs())
    for (const auto& [id, text] : reader.event_categories(run.id))
      if (text == "cpu_instant_event") runs.insert(run.id);
  if (runs.empty()) return {};
  std::map<std::tuple<Id, int, int>, MemoryCurve> found;
  std::int64_t seen = 0;
  reader.each_event([&](const EventRecord& e) {
    if (++seen % 4096 == 0 && cancelled && cancelled()) return false;
    if (e.name != "[memory]" || !runs.contains(e.run)) return true;
    const QJsonObject args = QJsonDocument::fromJson(QByteArray::fromStdString(e.args)).object();
    if (!args.contains("Total Allocated")) return true;
    const int type = args["Device Type"].toInt(), device = args["Device Id"].toInt(-1);
    MemoryCurve& curve = found[{e.run, type, device}];
    curve.device = type == 0 ? "cpu" : fmt::format("{}:{}", type == 1 ? "cuda" : "device", device);
    curve.points.push_back({e.start_ns, args["Total Allocated"].toDouble(), args["Total Reserved"].toDouble(),
                            args["Bytes"].toDouble(), e.id});
    return true;
  });
  MemoryCurves out;
  std::map<Id, std::int64_t> start;
  for (auto& [key, curve] : found) {
    std::stable_sort(curve.points.begin(), curve.points.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    const auto [it, fresh] = start.try_emplace(std::get<0>(key), curve.points.front().time);
    it->second = std::min(it->second, curve.points.front().time);
  }
  for (auto& [key, curve] : found) {
    for (MemoryCurve::Point& p : curve.points) {
      p.time -= start.at(std::get<0>(key));
      if (p.allocated > curve.peak) curve.peak = p.allocated, curve.peak_time = p.time;
    }
    if (start.size() > 1)
      curve.device += fmt::format(", profile {}", std::distance(start.begin(), start.find(std::get<0>(key))) + 1);
    out.push_back(std::move(curve));
  }
  // Devices before the host, the fullest first.
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.peak > b.peak; });
  return out;
}

}  // namespace strata::studio
