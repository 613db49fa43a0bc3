// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <unordered_map>

#include "core/support/error.h"
#include "profiler/captured.h"
#include "profiler/stack_times.h"

namespace strata::profiler {
namespace {

/// Operators that only look at memory another way.
bool is_view(std::string_view target) {
  for (const std::string_view prefix : {"torch.ops.", "aten.", "prims."})
    if (target.starts_with(prefix)) target.remove_prefix(prefix.size());
  if (target.starts_with("aten.")) target.remove_prefix(5);
  target = target.substr(0, target.find('.'));
  static const std::set<std::string_view> views = {"view",      "reshape",   "_unsafe_view", "permute", "t",
                                                   "transpose", "unsqueeze", "squeeze",      "expand",  "slice",
                                                   "select",    "alias",     "detach",       "split",   "as_strided",
                                                   "unbind",    "getitem",   "view_of",      "narrow",  "diagonal"};
  return views.contains(target) || target.find("getitem") != target.npos;
}

bool is_input(const trace::NodeRecord& n) { return n.op == "placeholder" || n.op == "get_attr" || n.op == "output"; }

std::string line_of(trace::Reader& reader, const trace::NodeRecord& n) {
  if (n.stack == trace::kNone) return {};
  const auto stack = reader.stack(n.stack);
  if (stack.empty()) return {};
  const trace::SourceLocation& l = stack.back();
  return fmt::format("{}:{}{}{}", l.file, l.line, l.text.empty() ? "" : ": ", l.text);
}

std::vector<trace::Id> work_categories(trace::Reader& reader, trace::Id run, bool device) {
  std::vector<trace::Id> ids;
  for (const auto& [id, text] : reader.event_categories(run))
    if (device ? text == "kernel" || text == "gpu_memcpy" || text == "gpu_memset" : text == "cpu_op") ids.push_back(id);
  return ids;
}

/// Adds one profile after the other, then divides kernels among nodes.
class Summer {
 public:
  Summer(trace::Reader& reader, MeasuredTimes& times) : reader_(reader), times_(times) {
    for (const trace::CompileRecord& c : reader.compiles())
      for (const trace::ProgramRecord& p : reader.programs(c.id)) titles_[p.id] = c.address + " " + p.role;
    for (const trace::CompileRecord& c : reader.compiles()) addresses_[c.id] = c.address;
  }

  void add(const trace::RunRecord& run) {
    ++times_.runs;
    const auto correlation = read_correlation(reader_, run.id);
    const bool device = correlation ? correlation->device : !work_categories(reader_, run.id, true).empty();
    times_.device |= device;
    add_kernels(run.id, device);
    add_calls(run.id);
    if (correlation) {
      add_parts(*correlation);
    } else {
      times_.parts[static_cast<int>(TimePart::Eager)] += left_over_;
    }
    left_over_ = 0;
  }

  void divide() {
    for (const auto& [id, k] : times_.kernels) {
      times_.programs[k.record.program] += k.ns;
      divide(k);
    }
    for (double part : times_.parts) times_.total += part;
  }

 private:
  void add_kernels(trace::Id run, bool device) {
    const auto categories = work_categories(reader_, run, device);
    if (categories.empty()) return;
    // In CUDA graphs a launch has no operator: it ran as often as the rarest of its kernels.
    std::map<std::pair<trace::Id, trace::Id>, std::int64_t> runs;
    for (const trace::EventSum& s : reader_.event_sums(run, categories)) {
      const auto ns = static_cast<double>(s.total_ns);
      if (s.launch == trace::kNone && s.kernel == trace::kNone) {
        left_over_ += device ? ns : 0;
        continue;
      }
      KernelMeasured& k = kernel(s.kernel, s.program);
      k.ns += ns;
      const auto [ran, fresh] = runs.try_emplace({s.kernel, s.launch}, s.count);
      ran->second = std::min(ran->second, s.count);
      if (s.match == trace::Match::Exact) k.exact_ns += ns;
      const TensorCoreUse use = device ? tensor_core_use(s.name) : TensorCoreUse::No;
      if (use == TensorCoreUse::Yes) k.tensor_ns += ns;
      if (use == TensorCoreUse::Unknown) k.unknown_ns += ns;
    }
    for (const auto& [key, count] : runs) times_.kernels[key.first].events += count;
  }

  /// A launch runs several device kernels, or none; its operator on the host runs once.
  void add_calls(trace::Id run) {
    const auto categories = work_categories(reader_, run, false);
    if (categories.empty()) return;
    for (const trace::EventSum& s : reader_.event_sums(run, categories))
      if (s.launch != trace::kNone)
        if (const auto k = times_.kernels.find(s.kernel); k != times_.kernels.end()) k->second.calls += s.count;
  }

  KernelMeasured& kernel(trace::Id id, trace::Id program) {
    const auto [it, fresh] = times_.kernels.try_emplace(id);
    if (fresh) {
      if (const auto record = reader_.kernel(id)) it->second.record = *record;
      it->second.record.program = program;
      it->second.graph = program != trace::kNone ? titles_[program] : addresses_[it->second.record.compile];
    }
    return it->second;
  }

  void add_parts(const RunCorrelation& c) {
    for (int i = 0; i < kTimeParts; ++i) {
      times_.parts[i] += static_cast<double>(c.parts[i].ns);
      times_.part_counts[i] += c.parts[i].count;
    }
    times_.unassigned.insert(times_.unassigned.end(), c.unassigned.begin(), c.unassigned.end());
    for (const ProgramMeasured& p : c.programs)
      if (!p.not_measured.empty()) times_.not_measured.push_back(p);
  }

  CapturedNodes& captured(trace::Id compile) {
    auto& found = captured_[compile];
    if (!found) found = std::make_unique<CapturedNodes>(reader_, compile);
    return *found;
  }

  /// What is certain of a kernel's or node's time.
  struct Part {
    double ns = 0;
    double certain = 0;  ///< of `ns`
  };

  static void add(TimeShare& share, const Part& part) {
    share.ns += part.ns;
    share.exact_ns += part.certain;
  }
  static void add(std::map<std::string, TimeShare>& table, const std::string& key, const char* none, const Part& part) {
    add(table[key.empty() ? none : key], part);
  }

  void divide(const KernelMeasured& k) {
    std::vector<trace::NodeRecord> work, views;
    for (trace::NodeId id : std::set<trace::NodeId>(k.record.nodes.begin(), k.record.nodes.end())) {
      auto node = reader_.last_node(k.record.compile, id);
      if (!node || is_input(*node)) continue;
      (is_view(node->target) ? views : work).push_back(std::move(*node));
    }
    if (work.empty()) work = std::move(views);
    if (work.empty()) {
      for (auto* table : {&times_.lines, &times_.modules, &times_.operators}) add(*table, "", "(unknown)", {k.ns, 0});
      return;
    }
    const auto count = static_cast<double>(work.size());
    for (const trace::NodeRecord& n : work)
      divide(k.record.compile, n, {k.ns / count, k.record.exact ? k.exact_ns / count : 0});
  }

  void divide(trace::Id compile, const trace::NodeRecord& n, const Part& time) {
    add(times_.nodes[{compile, n.id}], time);
    CapturedNodes& nodes = captured(compile);
    std::vector<trace::NodeId> from, views;
    for (const auto& [id, count] : nodes.of(std::vector<trace::NodeId>{n.id}))
      (is_view(nodes.nodes().at(id).target) ? views : from).push_back(id);
    if (from.empty()) from = std::move(views);
    const std::string own_line = line_of(reader_, n);
    if (from.empty()) {
      add(times_.operators, n.target, "(unknown)", time);
      add(times_.lines, own_line, "(unknown)", time);
      add(times_.modules, n.module, "(top level)", time);
      return;
    }
    const auto count = static_cast<double>(from.size());
    for (trace::NodeId id : from) {
      const trace::NodeRecord& c = nodes.nodes().at(id);
      const bool sure = certain(compile, n.id, id);
      const std::string line = nodes.line(id);
      const Part part{time.ns / count, sure ? time.certain / count : 0};
      add(times_.captured[{compile, id}], part);
      add(times_.operators, c.target, "(unknown)", part);
      add(times_.modules, c.module, "(top level)", part);
      // The producer writes the line on the node itself.
      add(times_.lines, line, "(unknown)", {part.ns, sure || line == own_line ? time.certain / count : 0});
    }
  }

  /// Whether edges that the producer itself stated lead from a node to a captured one.
  bool certain(trace::Id compile, trace::NodeId node, trace::NodeId captured_node) {
    const auto [it, fresh] = exact_parents_.try_emplace(compile);
    if (fresh)
      for (const trace::OriginRecord& e : reader_.edges(compile))
        if (e.exact) it->second[e.node].push_back(e.from);
    std::set<trace::NodeId> seen{node};
    std::vector<trace::NodeId> open{node};
    while (!open.empty()) {
      const trace::NodeId at = open.back();
      open.pop_back();
      if (at == captured_node) return true;
      if (const auto parents = it->second.find(at); parents != it->second.end())
        for (trace::NodeId parent : parents->second)
          if (seen.insert(parent).second) open.push_back(parent);
    }
    return false;
  }

  trace::Reader& reader_;
  MeasuredTimes& times_;
  std::map<trace::Id, std::string> titles_, addresses_;  ///< of programs, of compiles
  std::map<trace::Id, std::unique_ptr<CapturedNodes>> captured_;
  std::map<trace::Id, std::unordered_map<trace::NodeId, std::vector<trace::NodeId>>> exact_parents_;
  double left_over_ = 0;
};

std::string kind_of(const trace::KernelRecord& k) {
  if (k.kind == trace::KernelKind::Library) return "library";
  return k.language.empty() ? "loop" : k.language;
}

TensorCoreUse tensor_core_of(const KernelMeasured& k) {
  if (k.tensor_ns > 0) return TensorCoreUse::Yes;
  return k.unknown_ns > 0 ? TensorCoreUse::Unknown : TensorCoreUse::No;
}

trace::Match match_of(const KernelMeasured& k) {
  return k.exact_ns >= k.ns ? trace::Match::Exact : trace::Match::Inferred;
}

/// Kernels of one name in one graph are one row.
void add_kernel_rows(const MeasuredTimes& times, bool by_graph, std::vector<MeasuredRow>& rows) {
  std::map<std::tuple<std::string, std::string, std::string>, MeasuredRow> found;
  for (const auto& [id, k] : times.kernels) {
    const std::string name = by_graph ? k.graph : k.record.name.empty() ? "(no kernel)" : k.record.name;
    const std::string kind = by_graph ? "" : kind_of(k.record);
    const auto [it, fresh] = found.try_emplace({name, kind, k.graph});
    MeasuredRow& row = it->second;
    if (fresh) {
      row.key = name;
      row.kind = kind;
      row.graph = by_graph ? "" : k.graph;
      row.match = match_of(k);
      row.tensor_core = tensor_core_of(k);
    }
    row.calls += std::max(k.calls, k.events);
    row.total += k.ns;
    row.exact += k.exact_ns;  // nanoseconds until all are added
    if (match_of(k) == trace::Match::Inferred) row.match = trace::Match::Inferred;
    const TensorCoreUse use = tensor_core_of(k);
    if (row.tensor_core != TensorCoreUse::Yes && use != TensorCoreUse::No) row.tensor_core = use;
  }
  for (auto& [key, row] : found) {
    row.exact = row.total > 0 ? row.exact / row.total : 1;
    rows.push_back(std::move(row));
  }
}

void add_shared_rows(const std::map<std::string, TimeShare>& table, std::vector<MeasuredRow>& rows) {
  for (const auto& [key, share] : table) {
    MeasuredRow row;
    row.key = key;
    row.total = share.ns;
    row.shared = true;
    row.exact = share.ns > 0 ? share.exact_ns / share.ns : 1;
    row.match = share.exact_ns < share.ns * (1 - 1e-9) ? trace::Match::Inferred : trace::Match::Exact;
    rows.push_back(std::move(row));
  }
}

/// What is in no kernel: one row per part, or one per name when there is nothing else in the profile.
void add_part_rows(const MeasuredTimes& times, bool names, std::vector<MeasuredRow>& rows) {
  if (names && !times.unassigned.empty()) {
    std::map<std::pair<std::string, TimePart>, MeasuredRow> found;
    for (const UnassignedEvents& u : times.unassigned) {
      MeasuredRow& row = found[{u.name, u.part}];
      row.key = u.name;
      row.kind = time_part_text(u.part);
      row.part = u.part;
      row.calls += u.count;
      row.total += static_cast<double>(u.ns);
      row.tensor_core = times.device ? tensor_core_use(u.name) : TensorCoreUse::No;
    }
    for (auto& [key, row] : found) rows.push_back(std::move(row));
    return;
  }
  for (int i = 1; i < kTimeParts; ++i) {
    if (times.parts[i] <= 0 && times.part_counts[i] == 0) continue;
    MeasuredRow row;
    row.part = static_cast<TimePart>(i);
    row.key = time_part_text(row.part);
    row.kind = row.key;
    row.calls = times.part_counts[i];
    row.total = times.parts[i];
    rows.push_back(std::move(row));
  }
}

/// The rows of what was not compiled, by Python function or module, where profiles have stacks. They take the place of
/// the row of that part, and leave it what they do not explain.
void add_stack_rows(trace::Reader& reader, const std::vector<trace::RunRecord>& runs, bool by_line,
                    MeasuredTimes& times, std::vector<MeasuredRow>& rows) {
  double& left = times.parts[static_cast<int>(TimePart::Eager)];
  if (left <= 0) return;
  std::map<std::string, StackTime> found;
  double total = 0;
  for (const trace::RunRecord& run : runs) {
    const StackTimes part = stack_times(reader, run, times.device);
    if (!part.any) continue;
    total += static_cast<double>(part.total);
    for (const auto& [key, time] : by_line ? part.lines : part.modules) {
      StackTime& sum = found[key];
      sum.known = time.known;
      sum.calls += time.calls;
      sum.ns += time.ns;
    }
  }
  if (total > left) return;  // compiled code is among it
  std::int64_t& count = times.part_counts[static_cast<int>(TimePart::Eager)];
  for (const auto& [key, time] : found) {
    MeasuredRow row;
    row.key = key;
    row.part = TimePart::Eager;
    row.kind = time_part_text(row.part);
    row.calls = time.calls;
    row.total = static_cast<double>(time.ns);
    row.match = time.known ? trace::Match::Exact : trace::Match::None;
    row.exact = time.known ? 1 : 0;
    rows.push_back(std::move(row));
    count -= time.calls;
  }
  left -= total;
  count = left > 0 ? std::max<std::int64_t>(count, 1) : 0;
}

void add_not_measured(const MeasuredTimes& times, std::vector<MeasuredRow>& rows) {
  for (const ProgramMeasured& p : times.not_measured) {
    MeasuredRow row;
    row.key = fmt::format("{}: {}", p.address, p.not_measured);
    row.kind = "not measured";
    row.measured = false;
    rows.push_back(std::move(row));
  }
}

std::vector<std::string> names_of(trace::Reader& reader, const std::vector<trace::RunRecord>& all,
                                  const std::vector<trace::RunRecord>& chosen) {
  std::vector<trace::InputRecord> inputs = reader.inputs();
  std::erase_if(inputs, [](const trace::InputRecord& i) { return i.kind != "profile"; });
  std::map<trace::Id, std::int64_t> ranks;
  for (const trace::ProcessRecord& p : reader.processes()) ranks[p.id] = p.rank;
  std::vector<std::string> names;
  for (const trace::RunRecord& run : chosen) {
    const auto at = static_cast<size_t>(
        std::find_if(all.begin(), all.end(), [&](const trace::RunRecord& r) { return r.id == run.id; }) - all.begin());
    std::string name = fmt::format("profile {}", at + 1);
    if (inputs.size() == all.size()) name += ": " + std::filesystem::path(inputs[at].path).filename().string();
    if (const auto rank = ranks.find(run.process); rank != ranks.end() && rank->second >= 0)
      name += fmt::format(", rank {}", rank->second);
    names.push_back(std::move(name));
  }
  return names;
}

/// Without another compile's kernels and without what belongs to none.
void keep_only(trace::Reader& reader, trace::Id compile, MeasuredTimes& times) {
  MeasuredTimes kept;
  kept.device = times.device;
  kept.runs = times.runs;
  for (auto& [id, k] : times.kernels)
    if (k.record.compile == compile) kept.parts[0] += k.ns, kept.kernels.emplace(id, std::move(k));
  for (ProgramMeasured& p : times.not_measured)
    if (p.compile == compile) kept.not_measured.push_back(std::move(p));
  Summer(reader, kept).divide();
  times = std::move(kept);
}

}  // namespace

std::vector<trace::RunRecord> profile_runs(trace::Reader& reader) {
  std::vector<trace::RunRecord> runs = reader.runs();
  std::erase_if(runs, [](const trace::RunRecord& r) { return r.label != "profile"; });
  return runs;
}

MeasuredTimes measured_times(trace::Reader& reader, const std::vector<trace::RunRecord>& runs) {
  MeasuredTimes times;
  Summer summer(reader, times);
  for (const trace::RunRecord& run : runs) summer.add(run);
  summer.divide();
  return times;
}

std::map<std::string, double> lines_of_kernel(trace::Reader& reader, const trace::KernelRecord& kernel) {
  MeasuredTimes times;
  KernelMeasured& k = times.kernels[kernel.id];
  k.record = kernel;
  k.ns = 1;
  Summer(reader, times).divide();
  std::map<std::string, double> parts;
  for (const auto& [line, share] : times.lines) parts[line] = share.ns;
  return parts;
}

MeasuredTable make_measured_table(trace::Reader& reader, const MeasuredOptions& options) {
  const std::vector<trace::RunRecord> all = profile_runs(reader);
  std::vector<trace::RunRecord> runs = all;
  if (options.run != 0) {
    if (options.run < 0 || options.run > std::ssize(all))
      throw_user(fmt::format("'{}' has no profile {}", reader.path().string(), options.run),
                 all.empty() ? "import one, or capture with --profile"
                             : fmt::format("there are profiles 1 to {}", all.size()));
    runs = {all[static_cast<size_t>(options.run - 1)]};
  }
  MeasuredTimes times = measured_times(reader, runs);
  if (options.compile) keep_only(reader, *options.compile, times);
  MeasuredTable table;
  table.by = options.by;
  table.device = times.device;
  table.runs = names_of(reader, all, runs);
  switch (options.by) {
    case MeasuredBy::Kernel:
    case MeasuredBy::Graph:
      add_kernel_rows(times, options.by == MeasuredBy::Graph, table.rows);
      break;
    case MeasuredBy::Op:
      add_shared_rows(times.operators, table.rows);
      break;
    case MeasuredBy::Module:
      add_shared_rows(times.modules, table.rows);
      break;
    case MeasuredBy::Line:
      add_shared_rows(times.lines, table.rows);
      break;
  }
  const bool by_line = options.by == MeasuredBy::Line;
  if ((by_line || options.by == MeasuredBy::Module) && !options.compile)
    add_stack_rows(reader, runs, by_line, times, table.rows);
  add_part_rows(times, options.by == MeasuredBy::Kernel && times.kernels.empty(), table.rows);
  if (table.rows.empty() && times.not_measured.empty())
    throw_user("'" + reader.path().string() + "' has no measured time" + (options.compile ? " of this graph" : ""),
               "the profile was made without it, or belongs to another run");
  for (const MeasuredRow& row : table.rows) table.total += row.total;
  for (MeasuredRow& row : table.rows) {
    row.mean = row.calls > 0 ? row.total / static_cast<double>(row.calls) : 0;
    row.share = table.total > 0 ? row.total / table.total : 0;
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const MeasuredRow& a, const MeasuredRow& b) { return a.total > b.total; });
  add_not_measured(times, table.rows);
  const double matched = times.parts[0], under = matched + times.parts[static_cast<int>(TimePart::Unmatched)];
  table.matched_percent = under > 0 ? 100 * matched / under : -1;
  for (const auto& [id, k] : times.kernels) table.tensor_ns += k.tensor_ns;
  if (times.device)
    for (const UnassignedEvents& u : times.unassigned)
      if (tensor_core_use(u.name) == TensorCoreUse::Yes) table.tensor_ns += static_cast<double>(u.ns);
  return table;
}

}  // namespace strata::profiler
