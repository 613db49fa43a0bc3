// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/profile_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <unordered_map>

#include "app/studio/models/lists.h"
#include "app/studio/models/overview.h"
#include "app/studio/models/timeline.h"

namespace strata::studio {

using namespace trace;

namespace {

/// Operators that only look at memory another way.
bool is_view(std::string_view target) {
  for (const std::string_view prefix : {"torch.ops.", "aten.", "prims."})
    if (target.starts_with(prefix)) target.remove_prefix(prefix.size());
  target = target.substr(0, target.find('.'));
  static const std::set<std::string_view> views = {"view",      "reshape",   "_unsafe_view", "permute",    "t",
                                                   "transpose", "unsqueeze", "squeeze",      "expand",     "slice",
                                                   "select",    "alias",     "detach",       "as_strided", "unbind",
                                                   "split",     "view_of",   "narrow",       "diagonal"};
  return views.contains(target) || target.find("getitem") != target.npos;
}

bool is_call(const NodeRecord& n) { return n.op != "placeholder" && n.op != "get_attr" && n.op != "output"; }

/// The captured graph of a compile, and the way back to it.
class Captured {
 public:
  Captured(Reader& reader, Id compile) {
    for (const SnapshotRecord& s : reader.snapshots(compile)) {
      if (s.kind != SnapshotKind::Graph) continue;
      for (NodeRecord& n : reader.nodes(s.id)) nodes_.emplace(n.id, std::move(n));
      break;
    }
    for (const OriginRecord& e : reader.edges(compile)) parents_[e.node].emplace_back(e.from, e.exact);
  }

  struct Origin {
    const NodeRecord* node;
    bool exact;  ///< the producer stated all edges on the way
  };
  /// Calls that a node came from; views only where there is nothing else.
  std::vector<Origin> of(NodeId start) const {
    std::vector<Origin> found, views;
    std::map<NodeId, bool> seen{{start, true}};
    std::vector<NodeId> open{start};
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      const bool exact = seen.at(at);
      const auto parents = parents_.find(at);
      if (parents == parents_.end()) continue;
      for (const auto& [parent, stated] : parents->second) {
        const auto [it, fresh] = seen.try_emplace(parent, exact && stated);
        const bool better = !it->second && exact && stated;
        if (better) it->second = true;
        if (fresh || better) open.push_back(parent);
      }
    }
    for (const auto& [id, exact] : seen)
      if (const auto node = nodes_.find(id); node != nodes_.end() && is_call(node->second))
        (is_view(node->second.target) ? views : found).push_back({&node->second, exact});
    return found.empty() ? views : found;
  }

 private:
  std::unordered_map<NodeId, NodeRecord> nodes_;
  std::unordered_map<NodeId, std::vector<std::pair<NodeId, bool>>> parents_;
};

std::vector<std::string_view> fields(std::string_view line) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    parts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

double number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return static_cast<double>(value);
}

struct Amounts {
  std::int64_t count = 0;
  double ns = 0;
};

/// What the importer concluded about a profile: time by part, and by name of what is in no launch.
struct Correlation {
  bool known = false, device = false;
  std::map<std::string, Amounts> parts;
  std::map<std::pair<std::string, std::string>, Amounts> names;  ///< part and name
};

Correlation read_correlation(Reader& reader, Id run) {
  Correlation c;
  for (const ArtifactRecord& a : reader.artifacts(Owner{OwnerKind::Run, run, kNone})) {
    if (a.kind != "correlation") continue;
    const auto full = reader.artifact(a.id);
    if (!full) continue;
    c.known = true;
    const std::string_view text = full->content;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const auto f = fields(text.substr(begin, end - begin));
      begin = end + 1;
      if (f[0] == "clock" && f.size() == 2) c.device = f[1] == "device";
      if (f[0] == "part" && f.size() >= 4) {
        Amounts& part = c.parts[std::string(f[1])];
        part.count += static_cast<std::int64_t>(number(f[2]));
        part.ns += number(f[3]);
      }
      if (f[0] == "unassigned" && f.size() >= 6) {
        Amounts& part = c.names[{std::string(f[1]), std::string(f[5])}];
        part.count += static_cast<std::int64_t>(number(f[2]));
        part.ns += number(f[3]);
      }
    }
  }
  return c;
}

bool is_device_work(const std::string& category) {
  return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset";
}

std::string kind_of(const KernelRecord& k) {
  if (k.kind == KernelKind::Library) return k.library.empty() || k.library == k.name ? "library" : k.library;
  if (k.kind == KernelKind::Opaque) return "opaque";
  return k.language.empty() ? "loop" : k.language;
}

class Summer {
 public:
  Summer(Reader& reader, ProfileData& out) : reader_(reader), out_(out) {
    for (const CompileRecord& c : reader.compiles()) {
      addresses_[c.id] = c.address;
      for (const ProgramRecord& p : reader.programs(c.id)) titles_[p.id] = c.address + " " + p.role;
    }
  }

  void add(const RunRecord& run) {
    if (run.label == "profile")
      add_profile(run.id);
    else
      add_events(run.id, {}, false, nullptr);
  }

  void finish() {
    for (auto& [id, k] : kernels_) {
      if (k.calls == 0) k.calls = k.events;
      divide(k);
      add_kernel_row(k);
      out_.matched += k.ns;
      out_.kernels.push_back({k.record, k.graph, k.calls, k.ns, k.exact_ns});
    }
    out_.total = out_.matched;
    add_parts();
    add_untimed();
    for (size_t by = 0; by < kProfileTables; ++by) finish_table(by);
  }

 private:
  struct Kernel : ProfileKernel {
    std::int64_t events = 0;
    std::vector<ProfileNode> captured;  ///< that it was made of
    std::vector<std::string> captured_names;
    std::map<ProfileNode, double> shares;  ///< of its time, from 0 to 1
    std::string names;                     ///< of the first few
  };
  /// A part of a kernel's time.
  struct Part {
    const Kernel* kernel;
    double fraction;
    bool certain;
  };
  struct Shared {
    ProfileRow row;
    std::map<ProfileNode, double> nodes;
    std::map<ProfileNode, std::string> names;
    std::set<Id> kernels;
    std::set<std::string> graphs;
  };

  // ---------------------------------------------------------------------------------------------- adding up events

  void add_profile(Id run) {
    const Correlation c = read_correlation(reader_, run);
    std::vector<Id> device, host;
    for (const auto& [id, text] : reader_.event_categories(run)) {
      if (is_device_work(text)) device.push_back(id);
      if (text == "cpu_op") host.push_back(id);
    }
    const bool on_device = c.known ? c.device : !device.empty();
    out_.device |= on_device;
    Correlation left;
    if (const auto& work = on_device ? device : host; !work.empty()) add_events(run, work, on_device, &left);
    if (on_device && !host.empty()) add_calls(run, host);
    const Correlation& parts = c.known ? c : left;
    for (const auto& [part, amounts] : parts.parts)
      if (part != "matched") parts_[part].count += amounts.count, parts_[part].ns += amounts.ns;
    for (const auto& [key, amounts] : parts.names) names_[key].count += amounts.count, names_[key].ns += amounts.ns;
  }

  /// `left` gets what belongs to no launch; null: that is no work of the run.
  void add_events(Id run, const std::vector<Id>& categories, bool device, Correlation* left) {
    std::map<std::pair<Id, Id>, std::int64_t> ran;
    std::map<std::pair<Id, Id>, bool> fresh_launch;
    for (const EventSum& s : reader_.event_sums(run, categories)) {
      const auto ns = static_cast<double>(std::max<std::int64_t>(s.total_ns, 0));
      if (s.launch == kNone && s.kernel == kNone) {
        if (left && device) add_left(*left, s, ns);
        continue;
      }
      Kernel& k = kernel(s.kernel, s.program, s.compile);
      k.ns += ns;
      if (s.match != Match::Inferred) k.exact_ns += ns;
      // A launch may run several device kernels: it ran as often as the rarest of them.
      const auto [it, fresh] = ran.try_emplace({s.kernel, s.launch}, s.count);
      it->second = std::min(it->second, s.count);
    }
    for (const auto& [key, count] : ran) kernels_[key.first].events += count;
  }

  static void add_left(Correlation& left, const EventSum& s, double ns) {
    const std::string part = s.category == "kernel" ? "eager" : "data movement";
    for (Amounts* a : {&left.parts[part], &left.names[{part, s.name}]}) a->count += s.count, a->ns += ns;
  }

  /// The operator of a launch runs once on the host, whatever ran on the device.
  void add_calls(Id run, const std::vector<Id>& host) {
    for (const EventSum& s : reader_.event_sums(run, host))
      if (s.launch != kNone)
        if (const auto k = kernels_.find(s.kernel); k != kernels_.end()) k->second.calls += s.count;
  }

  Kernel& kernel(Id id, Id program, Id compile) {
    const auto [it, fresh] = kernels_.try_emplace(id);
    if (!fresh) return it->second;
    Kernel& k = it->second;
    if (const auto record = reader_.kernel(id)) k.record = *record;
    if (k.record.compile == kNone) k.record.compile = compile;
    if (k.record.program != kNone) program = k.record.program;
    const auto title = titles_.find(program);
    k.graph = title != titles_.end() ? title->second : addresses_[k.record.compile];
    return k;
  }

  // ------------------------------------------------------------------------------------------------------ dividing

  static void add_amounts(ProfileRow& row, const Part& part) {
    const Kernel& k = *part.kernel;
    row.ns += k.ns * part.fraction;
    row.certain_ns += part.certain ? k.exact_ns * part.fraction : 0;
    const auto calls = static_cast<double>(k.calls);
    if (k.record.bytes.value) {
      row.bytes += *k.record.bytes.value * calls * part.fraction;
      row.bytes_ns += k.ns * part.fraction;
    }
    if (k.record.flops.value) {
      row.flops += *k.record.flops.value * calls * part.fraction;
      row.flops_ns += k.ns * part.fraction;
    }
  }

  void add_kernel_row(const Kernel& k) {
    ProfileRow row;
    row.key = k.record.name.empty() ? "(no kernel)" : k.record.name;
    row.kind = kind_of(k.record);
    row.graph = k.graph;
    row.calls = k.calls;
    row.compile = k.record.compile;
    row.kernel = k.record.id;
    row.nodes = k.captured;
    row.node_names = k.captured_names;
    for (const ProfileNode& node : k.captured) row.node_ns.push_back(k.ns * k.shares.at(node));
    row.made_of = k.names;
    add_amounts(row, {&k, 1, true});
    out_.tables[0].push_back(std::move(row));
  }

  void share(ProfileBy by, const std::string& key, const Part& part, const ProfileNode& node,
             const std::string& name = {}) {
    Shared& s = shared_[static_cast<size_t>(by)][key];
    add_amounts(s.row, part);
    if (s.kernels.insert(part.kernel->record.id).second) s.row.calls += part.kernel->calls;
    s.graphs.insert(part.kernel->graph);
    if (node.second == 0) return;
    s.nodes[node] += part.kernel->ns * part.fraction;
    s.names.emplace(node, name);
  }

  static constexpr size_t kMostNames = 6;

  static void add_name(Kernel& k, const std::string& name, const ProfileNode& node, double fraction) {
    k.shares[node] += fraction;
    if (std::find(k.captured.begin(), k.captured.end(), node) != k.captured.end()) return;
    k.captured.push_back(node);
    k.captured_names.push_back(name);
    if (k.captured.size() <= kMostNames) k.names += (k.names.empty() ? "" : ", ") + name;
    if (k.captured.size() == kMostNames + 1) k.names += ", …";
  }

  void share_node(const NodeRecord& n, const Part& part, const ProfileNode& node) {
    share(ProfileBy::Operator, n.target.empty() ? "(unknown)" : n.target, part, node, n.name);
    share(ProfileBy::Module, n.module.empty() ? "(top level)" : n.module, part, node, n.name);
    share(ProfileBy::Line, line_of(n), part, node, n.name);
  }

  void divide(Kernel& k) {
    std::vector<NodeRecord> work, views;
    for (const NodeId id : std::set<NodeId>(k.record.nodes.begin(), k.record.nodes.end())) {
      auto node = reader_.last_node(k.record.compile, id);
      if (node && is_call(*node)) (is_view(node->target) ? views : work).push_back(std::move(*node));
    }
    if (work.empty()) work = std::move(views);
    for (const NodeRecord& n : work) divide(k, n, 1.0 / static_cast<double>(work.size()));
    if (!work.empty()) return;
    for (const ProfileBy by : {ProfileBy::Operator, ProfileBy::Module, ProfileBy::Line})
      share(by, "(unknown)", {&k, 1, false}, {});
  }

  void divide(Kernel& k, const NodeRecord& n, double fraction) {
    auto& captured = captured_[k.record.compile];
    if (!captured) captured = std::make_unique<Captured>(reader_, k.record.compile);
    const auto origins = captured->of(n.id);
    for (const Captured::Origin& o : origins) {
      const ProfileNode node{k.record.compile, o.node->id};
      share_node(*o.node, {&k, fraction / static_cast<double>(origins.size()), k.record.exact && o.exact}, node);
      add_name(k, o.node->name, node, fraction / static_cast<double>(origins.size()));
    }
    if (origins.empty()) share_node(n, {&k, fraction, k.record.exact}, {k.record.compile, n.id});
  }

  std::string line_of(const NodeRecord& n) {
    const auto [it, fresh] = lines_.try_emplace(n.stack);
    if (fresh && n.stack != kNone)
      if (const auto at = user_line(reader_.stack(n.stack))) {
        it->second = fmt::format("{}:{}{}{}", at->file, at->line, at->text.empty() ? "" : ": ", at->text);
        places_[it->second] = {at->file, at->line};
      }
    return it->second.empty() ? "(unknown)" : it->second;
  }

  // --------------------------------------------------------------------------------------------- rows of the tables

  static ProfileRow part_row(const std::string& name, const std::string& part, const Amounts& amounts) {
    ProfileRow row;
    row.key = name;
    row.kind = part;
    row.calls = amounts.count;
    row.ns = row.certain_ns = amounts.ns;
    row.measured_kernel = false;
    return row;
  }

  /// Kernels of the graphs that ran, which themselves did not.
  void add_untimed() {
    std::set<Id> compiles;
    for (const auto& [id, k] : kernels_)
      if (id != kNone) compiles.insert(k.record.compile);
    for (const Id compile : compiles)
      for (KernelRecord& record : reader_.kernels(compile)) {
        if (kernels_.contains(record.id)) continue;
        ProfileRow row;
        row.key = record.name;
        row.kind = kind_of(record);
        const auto title = titles_.find(record.program);
        row.graph = title != titles_.end() ? title->second : addresses_[compile];
        row.timed = false;
        row.compile = compile;
        row.kernel = record.id;
        out_.tables[0].push_back(std::move(row));
      }
  }

  /// What is in no kernel: one row per part; by kernel, one per name where the names add up to the part.
  void add_parts() {
    for (const auto& [part, amounts] : parts_) {
      if (amounts.count == 0 && amounts.ns <= 0) continue;
      out_.total += amounts.ns;
      for (size_t by = 1; by < kProfileTables; ++by) out_.tables[by].push_back(part_row(part, part, amounts));
      double named = 0;
      for (const auto& [key, a] : names_) named += key.first == part ? a.ns : 0;
      if (std::abs(named - amounts.ns) > 0.5) {
        out_.tables[0].push_back(part_row(part, part, amounts));
        continue;
      }
      for (const auto& [key, a] : names_)
        if (key.first == part) out_.tables[0].push_back(part_row(key.second, part, a));
    }
  }

  void finish_table(size_t by) {
    auto& table = out_.tables[by];
    for (auto& [key, s] : shared_[by]) {
      ProfileRow row = std::move(s.row);
      row.key = key;
      if (s.graphs.size() == 1) row.graph = *s.graphs.begin();
      for (const auto& [node, ns] : s.nodes) row.nodes.push_back(node);
      std::stable_sort(row.nodes.begin(), row.nodes.end(),
                       [&](const ProfileNode& a, const ProfileNode& b) { return s.nodes.at(a) > s.nodes.at(b); });
      for (const ProfileNode& node : row.nodes) {
        row.node_ns.push_back(s.nodes.at(node));
        row.node_names.push_back(s.names.at(node));
      }
      if (!row.nodes.empty()) row.compile = row.nodes.front().first;
      if (const auto place = places_.find(key); place != places_.end() && by == static_cast<size_t>(ProfileBy::Line))
        std::tie(row.file, row.line) = place->second;
      table.push_back(std::move(row));
    }
    std::stable_sort(table.begin(), table.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
    for (size_t i = 0; i < table.size(); ++i)
      for (const ProfileNode& node : table[i].nodes) {
        const auto [it, fresh] = out_.row_of_node.try_emplace(node);
        if (fresh) it->second.fill(-1);
        it->second[by] = static_cast<int>(i);
      }
  }

  Reader& reader_;
  ProfileData& out_;
  std::map<Id, std::string> addresses_, titles_;
  std::map<Id, Kernel> kernels_;
  std::map<std::string, Amounts> parts_;
  std::map<std::pair<std::string, std::string>, Amounts> names_;
  std::map<Id, std::unique_ptr<Captured>> captured_;
  std::map<Id, std::string> lines_;
  std::map<std::string, std::pair<std::string, std::int64_t>> places_;
  std::array<std::map<std::string, Shared>, kProfileTables> shared_;
};

QString percent(double part, double whole) {
  return whole > 0 ? QString::number(100 * part / whole, 'f', 1) + " %" : QString();
}

TableCell amount_cell(double value, double known_ns, double ns, const QString& text) {
  if (known_ns <= 0) return {"", -1.0};
  QString tip;
  if (known_ns < ns * (1 - 1e-9)) tip = QString("known for %1 of the time").arg(percent(known_ns, ns));
  return {text, value, tip};
}

QString name_tip(const ProfileRow& row) {
  QString tip = qt(row.key);
  if (row.certain_ns < row.ns * (1 - 1e-9))
    tip +=
        QString("\n%1 of this time was matched or divided by inference").arg(percent(row.ns - row.certain_ns, row.ns));
  if (row.nodes.size() > 1) tip += QString("\n%1 nodes of captured graphs").arg(row.nodes.size());
  return tip;
}

}  // namespace

std::vector<ProfileRun> profile_choices(Reader& reader) {
  std::vector<ProfileRun> out;
  ProfileRun all;
  size_t profiles = 0;
  for (TimelineRun& run : timeline_runs(reader)) {
    if (run.run.label == "compile") continue;
    if (run.run.label == "profile") {
      all.runs.insert(all.runs.end(), run.runs.begin(), run.runs.end());
      run.title.insert(std::string("profile").size(), fmt::format(" {}", ++profiles));
    }
    out.push_back({std::move(run.title), std::move(run.runs)});
  }
  if (profiles > 1) out.push_back({fmt::format("all {} profiles", profiles), std::move(all.runs)});
  return out;
}

ProfilePtr load_profile(Reader& reader, const std::vector<Id>& runs) {
  auto data = std::make_shared<ProfileData>();
  Summer summer(reader, *data);
  for (const RunRecord& run : reader.runs())
    if (std::find(runs.begin(), runs.end(), run.id) != runs.end()) summer.add(run);
  summer.finish();
  return data;
}

QStringList profile_headers(ProfileBy by) {
  static const char* const names[] = {"Kernel", "Operator", "Module", "Line"};
  QStringList headers = {
      names[static_cast<int>(by)], "Kind", "Graph", "Calls", "Total", "Mean", "Share", "Bytes", "GB/s", "Gflop/s"};
  if (by == ProfileBy::Kernel) headers << "Made of";
  return headers;
}

std::vector<TableRow> profile_table(const ProfileData& profile, ProfileBy by) {
  std::vector<TableRow> rows;
  for (const ProfileRow& r : profile.by(by)) {
    TableRow row;
    const double mean = r.calls > 0 ? r.ns / static_cast<double>(r.calls) : -1;
    const double gbps = r.bytes_ns > 0 ? r.bytes / r.bytes_ns : -1, gflops = r.flops_ns > 0 ? r.flops / r.flops_ns : -1;
    const bool sure = r.certain_ns >= r.ns * (1 - 1e-9);
    // The path of a line is in the tooltip.
    const size_t folder = r.file.empty() ? std::string::npos : r.file.rfind('/');
    const QString name = qt(folder == std::string::npos ? r.key : r.key.substr(folder + 1));
    row.cells = {{name + (sure ? "" : " *"), {}, name_tip(r)},
                 {qt(r.kind)},
                 {qt(r.graph)},
                 {r.timed ? QString::number(r.calls) : QString(), static_cast<qlonglong>(r.calls)},
                 r.timed ? TableCell{qt(draw::format_time(r.ns)), r.ns} : TableCell{"not timed", -1.0},
                 {mean < 0 ? QString() : qt(draw::format_time(mean)), mean},
                 {r.timed ? percent(r.ns, profile.total) : QString(), r.ns},
                 amount_cell(r.bytes, r.bytes_ns, r.ns, bytes_text(r.bytes)),
                 amount_cell(gbps, r.bytes_ns, r.ns, QString::number(gbps, 'f', 2)),
                 amount_cell(gflops, r.flops_ns, r.ns, QString::number(gflops, 'f', 2))};
    if (by == ProfileBy::Kernel) row.cells.push_back({qt(r.made_of)});
    row.kernel = r.kernel;
    row.compile = r.compile;
    if (r.kernel == kNone && !r.nodes.empty()) row.node = r.nodes.front().second;
    row.file = qt(r.file);
    row.line = static_cast<int>(std::clamp<std::int64_t>(r.line, 0, INT32_MAX));
    rows.push_back(std::move(row));
  }
  return rows;
}

QString profile_summary(const ProfileData& profile) {
  if (profile.total <= 0) return "Nothing was timed in this run.";
  QString text =
      QString("%1 %2").arg(qt(draw::format_time(profile.total)), profile.device ? "on devices" : "in launches");
  if (profile.matched < profile.total)
    text += QString(", %1 of it in compiled kernels").arg(percent(profile.matched, profile.total));
  bool inferred = false;
  for (const auto& row : profile.by(ProfileBy::Line)) inferred |= row.certain_ns < row.ns * (1 - 1e-9);
  return text + (inferred ? "; * partly inferred" : "");
}

}  // namespace strata::studio
