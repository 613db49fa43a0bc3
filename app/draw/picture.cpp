// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "app/draw/attributes.h"
#include "app/draw/grouping.h"
#include "app/draw/module_paths.h"
#include "app/draw/text_metrics.h"
#include "core/support/error.h"

namespace strata::draw {
namespace {

constexpr double kWidest = 230;  // longer names are elided: one giant name must not widen the whole column

std::string short_type(const trace::NodeRecord& node) {
  std::string text = node.dtype + node.shape;
  return text.empty() ? node.type : text;
}

std::string tooltip(const trace::NodeRecord& node) {
  std::string text = fmt::format("{} = {}", node.name, node.target.empty() ? node.op : node.target);
  if (!node.args.empty()) text += fmt::format("({}{})", node.args.substr(0, 400), node.args.size() > 400 ? "…" : "");
  auto line = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) text += fmt::format("\n{}: {}", key, value);
  };
  line("type", node.type.empty() ? short_type(node) : node.type);
  line("module", node.module);
  line("device", node.device);
  line("role", node.role);
  text += fmt::format("\nid: {}", node.id);
  return text;
}

PictureNode make_node(const trace::NodeRecord& record) {
  PictureNode node;
  node.id = record.id;
  node.op_class = classify(record.op, record.target, record.name);
  bool named =
      node.op_class == OpClass::Input || node.op_class == OpClass::Parameter || node.op_class == OpClass::Output;
  node.title = named || record.target.empty() ? record.name : short_name(record.target);
  if (node.title.empty()) node.title = record.op;
  if (node.title != record.name) node.subtitle = record.name;
  node.type = node.op_class == OpClass::Output ? "" : short_type(record);
  node.dtype = record.dtype;
  node.tooltip = tooltip(record);
  return node;
}

struct Members {
  const trace::KernelRecord* kernel = nullptr;
  std::vector<int> nodes;
};

/// Which nodes form one kernel: by the group number they carry, else by the kernel's list of members.
std::vector<Members> collect_groups(const Picture& picture, const std::vector<trace::NodeRecord>& records,
                                    const std::vector<trace::KernelRecord>& kernels) {
  std::map<std::int64_t, Members> by_group;
  std::unordered_map<trace::NodeId, const trace::NodeRecord*> by_id;
  for (const auto& record : records) by_id.emplace(record.id, &record);
  for (const auto& record : records)
    if (int i = picture.find(record.id); record.group != 0 && i >= 0) by_group[record.group].nodes.push_back(i);
  std::vector<Members> result;
  std::unordered_set<int> taken;
  for (const auto& kernel : kernels) {
    if (auto it = by_group.find(kernel.group); kernel.group != 0 && it != by_group.end()) {
      if (!it->second.kernel) it->second.kernel = &kernel;
      continue;
    }
    Members members{&kernel, {}};
    for (trace::NodeId id : kernel.nodes) {
      int i = picture.find(id);
      if (i >= 0 && by_id[id]->group == 0 && taken.insert(i).second) members.nodes.push_back(i);
    }
    if (!members.nodes.empty()) result.push_back(std::move(members));
  }
  for (auto& [number, members] : by_group) result.push_back(std::move(members));
  std::sort(result.begin(), result.end(), [](const Members& a, const Members& b) { return a.nodes < b.nodes; });
  return result;
}

std::string kernel_note(const Members& members, double time) {
  std::string note;
  if (members.kernel && members.kernel->kind == trace::KernelKind::Library) note = members.kernel->library;
  if (time >= 0) note += fmt::format("{}{}", note.empty() ? "" : " · ", format_time(time));
  return note;
}

std::string kernel_tooltip(const Members& members, double time) {
  if (!members.kernel) return fmt::format("{} nodes in one kernel", members.nodes.size());
  std::string text = fmt::format("kernel {}\n{} nodes", members.kernel->name, members.nodes.size());
  if (time >= 0) text += fmt::format("\nmedian time: {}", format_time(time));
  if (members.kernel->bytes.value) text += fmt::format("\nbytes: {:.0f}", *members.kernel->bytes.value);
  if (members.kernel->flops.value) text += fmt::format("\nflops: {:.0f}", *members.kernel->flops.value);
  return text;
}

/// Every kernel with its time; a kernel's time is divided evenly among its nodes.
void add_kernels(Picture& picture, std::vector<Members> groups, const std::map<trace::Id, double>& times,
                 const DrawOptions& options) {
  for (Members& members : groups) {
    auto found = members.kernel ? times.find(members.kernel->id) : times.end();
    const double time = found == times.end() ? -1 : found->second;
    for (int i : members.nodes) {
      PictureNode& node = picture.nodes[static_cast<size_t>(i)];
      node.time_ns = time;
      node.member_of = static_cast<int>(picture.kernels.size());
      if (time >= 0) node.time_share = time / static_cast<double>(members.nodes.size());
    }
    PictureKernel& kernel = picture.kernels.emplace_back();
    if (members.kernel) {
      kernel.id = members.kernel->id;
      kernel.name = members.kernel->name;
    }
    kernel.note = kernel_note(members, options.times ? time : -1);
    kernel.tooltip = kernel_tooltip(members, time);
    kernel.time_ns = time;
    for (int i : members.nodes) kernel.nodes.push_back(picture.nodes[static_cast<size_t>(i)].id);
  }
}

/// A kernel of one node has no frame: the box says it.
void name_single_kernels(Picture& picture) {
  for (const PictureKernel& kernel : picture.kernels) {
    if (kernel.nodes.size() != 1) continue;
    PictureNode& node = picture.nodes[static_cast<size_t>(picture.find(kernel.nodes[0]))];
    node.footer = kernel.note.empty() ? kernel.name : kernel.note;
    node.tooltip += fmt::format("\n{}", kernel.tooltip);
  }
}

double median(std::vector<double>& values) {
  auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

int Picture::find(trace::NodeId id) const {
  auto it = index_.find(id);
  return it == index_.end() ? -1 : it->second;
}

void Picture::index() {
  index_.clear();
  index_.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    index_.emplace(nodes[i].id, static_cast<int>(i));
    for (trace::NodeId id : nodes[i].members) index_.emplace(id, static_cast<int>(i));
  }
}

std::string format_time(double ns) {
  if (ns < 0 || std::isnan(ns)) return "?";
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.{}f} µs", ns / 1e3, ns < 1e5 ? 1 : 0);
  if (ns < 1e9) return fmt::format("{:.{}f} ms", ns / 1e6, ns < 1e8 ? 2 : 0);
  return fmt::format("{:.2f} s", ns / 1e9);
}

std::map<trace::Id, double> kernel_times(trace::Reader& reader, trace::Id compile) {
  std::map<trace::Id, double> result;
  for (const auto& kernel : reader.kernels(compile)) {
    std::vector<double> durations;
    for (const auto& event : reader.executions_of_kernel(kernel.id, 1000))
      if (event.duration_ns >= 0) durations.push_back(static_cast<double>(event.duration_ns));
    if (!durations.empty()) result[kernel.id] = median(durations);
  }
  return result;
}

Picture make_picture(trace::Reader& reader, trace::Id snapshot, const DrawOptions& options) {
  auto record = reader.snapshot(snapshot);
  if (!record) throw_user(fmt::format("the trace has no snapshot {}", snapshot));
  if (record->kind == trace::SnapshotKind::Text)
    throw_user(fmt::format("stage '{}' has no graph to draw: its content is text", record->stage),
               "choose a stage with nodes, such as 'captured' or 'scheduled'");
  std::vector<trace::KernelRecord> kernels;
  for (auto& kernel : reader.kernels(record->compile))
    if (kernel.snapshot == snapshot) kernels.push_back(std::move(kernel));
  std::map<trace::Id, double> times;
  if (!kernels.empty() && (options.times || options.colour_by == ColourBy::Time))
    times = kernel_times(reader, record->compile);
  Picture picture = make_picture(reader.nodes(snapshot), kernels, times, options);
  auto compile = reader.compile(record->compile);
  picture.title = record->stage;
  if (compile) picture.title = fmt::format("{} {} {}", compile->name, compile->address, record->stage);
  return picture;
}

namespace {

Picture flat_picture(const std::vector<trace::NodeRecord>& nodes, const DrawOptions& options,
                     const std::unordered_map<trace::NodeId, NodeState>& states) {
  Picture picture;
  picture.nodes.reserve(nodes.size());
  for (const auto& record : nodes) {
    PictureNode node = make_node(record);
    if (const auto state = states.find(record.id); state != states.end()) node.state = state->second;
    if (options.parameters || node.op_class != OpClass::Parameter) picture.nodes.push_back(std::move(node));
  }
  picture.index();
  for (const auto& record : nodes) {
    int to = picture.find(record.id);
    std::set<int> seen;
    for (const auto& operand : record.inputs)
      for (trace::NodeId id : operand)
        if (int from = picture.find(id); to >= 0 && from >= 0 && from != to && seen.insert(from).second)
          picture.edges.push_back({from, to});
  }
  return picture;
}

}  // namespace

Picture make_picture(const std::vector<trace::NodeRecord>& nodes, const std::vector<trace::KernelRecord>& kernels,
                     const std::map<trace::Id, double>& times, const DrawOptions& options,
                     const std::unordered_map<trace::NodeId, NodeState>& states) {
  Picture picture = flat_picture(nodes, options, states);
  add_kernels(picture, collect_groups(picture, nodes, kernels), times, options);
  add_attributes(picture, nodes, module_paths(picture, nodes));
  picture.grouped_by = effective_grouping(options, nodes);
  if (picture.grouped_by == GroupBy::Kernels) name_single_kernels(picture);
  if (picture.grouped_by != GroupBy::None) picture = group_picture(picture, nodes, options, picture.grouped_by);
  measure(picture, options);
  return picture;
}

void measure(Picture& picture, const DrawOptions& options) {
  for (PictureNode& node : picture.nodes) {
    node.title = elide(node.title, kWidest, kTitleSize, true);
    node.subtitle = elide(node.subtitle, kWidest, kTextSize);
    node.footer = elide(node.footer, kWidest, kTextSize);
    node.type = elide(node.type, kWidest, kTypeSize);
    double text = std::max({text_width(node.title, kTitleSize, true), text_width(node.subtitle, kTextSize),
                            text_width(node.footer, kTextSize)});
    node.width = std::max(44.0, std::ceil(text) + 22);
    node.height =
        2 * kPadding + kTitleRow + (node.subtitle.empty() ? 0 : kTextRow) + (node.footer.empty() ? 0 : kTextRow);
    node.label_width = options.types && !node.type.empty() ? std::ceil(text_width(node.type, kTypeSize)) + 8 : 0;
  }
  for (PictureGroup& group : picture.groups) {
    group.title = elide(group.title, kWidest, kTextSize, true);
    group.label_width = text_width(group.title, kTextSize, true) + text_width(group.note, kTextSize) + 28;
  }
}

}  // namespace strata::draw
