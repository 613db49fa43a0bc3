// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Scheduler IR -> trace.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "capture/inductor/match_nodes.h"
#include "capture/inductor/py_text.h"
#include "capture/inductor/scheduler_ir.h"
#include "core/trace/reader.h"

namespace strata::capture {
namespace {

/// Scheduler nodes have ids of their own, far above those of graph nodes: a range for each program.
constexpr trace::NodeId kFirstId = trace::NodeId{1} << 40;
constexpr trace::NodeId kIdsPerProgram = trace::NodeId{1} << 20;

std::string bracketed(const std::vector<std::string>& dims) {
  std::string out = "[";
  for (const std::string& dim : dims) out += (out.size() > 1 ? ", " : "") + dim;
  return out + "]";
}

/// What the trace has of a program already.
struct KnownProgram {
  std::map<std::string, trace::NodeId> nodes;                         ///< buffer name, the node whose value it holds
  std::map<std::string, std::pair<trace::Id, std::int64_t>> kernels;  ///< written buffer, first kernel and its group
  std::int64_t last_group = 0;
};

KnownProgram known_program(ImportContext& context, const trace::ProgramRecord& program) {
  context.writer().commit();
  trace::Reader reader(context.writer().path());
  KnownProgram out;
  std::unordered_map<trace::Id, trace::KernelRecord> kernels;
  for (const trace::KernelRecord& k : reader.kernels(program.compile)) {
    if (k.program != program.id) continue;
    out.last_group = std::max(out.last_group, k.group);
    kernels.emplace(k.id, k);
  }
  std::unordered_map<trace::Id, trace::BufferRecord> buffers;
  for (const trace::BufferRecord& b : reader.buffers(program.compile)) buffers.emplace(b.id, b);
  for (const trace::LaunchRecord& l : reader.launches(program.compile)) {
    if (l.program != program.id) continue;
    for (const std::vector<trace::Id>* list : {&l.reads, &l.writes}) {
      for (const trace::Id id : *list) {
        const auto b = buffers.find(id);
        if (b != buffers.end() && b->second.node != 0) out.nodes.try_emplace(b->second.name, b->second.node);
      }
    }
    const auto kernel = kernels.find(l.kernel);
    if (kernel == kernels.end()) continue;
    for (const trace::Id id : l.writes) {
      const auto b = buffers.find(id);
      if (b != buffers.end()) out.kernels.try_emplace(b->second.name, kernel->first, kernel->second.group);
    }
  }
  return out;
}

class IrWriter {
 public:
  IrWriter(ImportContext& context, const trace::ProgramRecord& program, std::string_view pre, std::string_view post)
      : context_(context), program_(program), pre_(pre), post_(post), known_(known_program(context, program)) {
    const auto role = program.role.empty() ? std::string() : ":" + program.role;
    scheduled_ = "scheduled" + role + ".before_fusion";
    loops_ = "loops" + role;
  }

  std::int64_t run() {
    before_ = parse_scheduler_ir(pre_);
    after_ = parse_scheduler_ir(post_);
    if (before_.empty()) flatten(after_, before_);
    for (const IrNode& node : before_) {
      if (ids_.size() >= static_cast<size_t>(kIdsPerProgram)) break;
      ids_.try_emplace(node.name, next_id());
      for (const IrBuffer& buffer : node.outputs) writers_[buffer.name] = node.name;
      for (const IrDep& dep : node.writes) writers_.try_emplace(dep.buffer, node.name);
    }
    find_groups();
    if (!before_.empty()) add_snapshot();
    add_fusions();
    add_loops();
    return static_cast<std::int64_t>(before_.size());
  }

 private:
  trace::NodeId next_id() const {
    return kFirstId + program_.id * kIdsPerProgram + static_cast<trace::NodeId>(ids_.size());
  }

  static void flatten(const std::vector<IrNode>& nodes, std::vector<IrNode>& out) {
    for (const IrNode& node : nodes) {
      if (node.members.empty()) {
        out.push_back(node);
      } else {
        flatten(node.members, out);
      }
    }
  }

  static void names_of(const IrNode& node, std::vector<std::string>& out) {
    if (node.members.empty()) out.push_back(node.name);
    for (const IrNode& member : node.members) names_of(member, out);
  }

  /// The kernel that writes what a node writes.
  std::pair<trace::Id, std::int64_t> kernel_of(const IrNode& node) const {
    for (const IrBuffer& buffer : node.outputs) {
      if (const auto k = known_.kernels.find(buffer.name); k != known_.kernels.end()) return k->second;
    }
    for (const IrDep& dep : node.writes) {
      if (const auto k = known_.kernels.find(dep.buffer); k != known_.kernels.end()) return k->second;
    }
    return {trace::kNone, 0};
  }

  void find_groups() {
    std::int64_t next = known_.last_group;
    for (const IrNode& node : after_.empty() ? before_ : after_) {
      std::int64_t group = kernel_of(node).second;
      if (group == 0) group = ++next;
      std::vector<std::string> names;
      names_of(node, names);
      for (const std::string& name : names) groups_[name] = group;
    }
  }

  std::string target(const IrNode& node) const {
    if (!node.kernel.empty()) return node.kernel;
    return node.ir_classes.empty() ? node.node_class : fmt::format("{}({})", node.node_class, node.ir_classes);
  }

  void add_snapshot() {
    std::vector<trace::NodeRecord> nodes;
    std::vector<trace::OriginRecord> origins;
    std::set<trace::NodeId> done;
    for (const IrNode& node : before_) {
      const auto id = ids_.find(node.name);
      if (id == ids_.end() || !done.insert(id->second).second) continue;
      nodes.push_back(record(node, id->second));
      for (const IrBuffer& buffer : node.outputs) {
        const auto from = known_.nodes.find(buffer.name);
        if (from != known_.nodes.end()) {
          origins.push_back({program_.compile, id->second, from->second, "lowered", "", false});
        }
      }
    }
    trace::SnapshotRecord snapshot;
    snapshot.compile = program_.compile;
    snapshot.program = program_.id;
    snapshot.stage = scheduled_;
    context_.writer().add(snapshot, nodes);
    context_.writer().add(origins);
  }

  trace::NodeRecord record(const IrNode& node, trace::NodeId id) const {
    trace::NodeRecord out;
    out.id = id;
    out.name = node.name;
    out.op = "scheduler";
    out.target = target(node);
    std::set<std::string> seen;
    for (const std::vector<IrDep>* deps : {&node.unmet, &node.met}) {
      for (const IrDep& dep : *deps) {
        if (!seen.insert(dep.buffer).second) continue;
        out.args += (out.args.empty() ? "" : ", ") + dep.buffer;
        const auto writer = writers_.find(dep.buffer);
        const auto from = writer == writers_.end() ? ids_.end() : ids_.find(writer->second);
        std::vector<trace::NodeId> operand;
        if (from != ids_.end() && from->second < id) operand.push_back(from->second);
        out.inputs.push_back(std::move(operand));
      }
    }
    if (!node.outputs.empty() && node.outputs[0].has_layout) {
      const IrBuffer& buffer = node.outputs[0];
      out.dtype = short_dtype(buffer.dtype);
      out.shape = bracketed(buffer.sizes);
      out.device = buffer.device;
      out.type = out.dtype + out.shape + bracketed(buffer.strides) + out.device;
    }
    if (const auto group = groups_.find(node.name); group != groups_.end()) out.group = group->second;
    out.extra = extra(node);
    return out;
  }

  static std::string extra(const IrNode& node) {
    std::string buffers, users;
    for (const IrBuffer& buffer : node.outputs) {
      buffers += (buffers.empty() ? "" : " ") + buffer.name;
      for (const IrUser& user : buffer.users) users += (users.empty() ? "" : " ") + user.node;
    }
    std::string out = fmt::format(R"({{"buffers": "{}", "users": "{}")", clean(buffers), clean(users));
    if (!node.iteration.empty()) out += fmt::format(R"(, "iteration": "{}")", clean(node.iteration));
    if (!node.sizes.empty()) out += fmt::format(R"(, "sizes": "{}")", clean(node.sizes));
    return out + "}";
  }

  /// Text that may stand in a JSON string.
  static std::string clean(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
    return out;
  }

  void add_fusions() {
    for (const IrNode& node : after_) {
      std::vector<std::string> names;
      names_of(node, names);
      for (size_t i = 1; i < names.size(); ++i) {
        const auto a = ids_.find(names[i - 1]), b = ids_.find(names[i]);
        if (a == ids_.end() || b == ids_.end()) continue;
        trace::FusionRecord fusion;
        fusion.compile = program_.compile;
        fusion.producer = a->second;
        fusion.consumer = b->second;
        fusion.producer_group = fusion.consumer_group = groups_[names[i]];
        fusion.accepted = true;
        fusion.rule = node.node_class;
        fusion.reason = fmt::format("the scheduler made them one: {}", node.name);
        context_.writer().add(fusion);
      }
    }
  }

  void add_loops() {
    const std::string_view text = post_.empty() ? pre_ : post_;
    const std::vector<IrNode>& nodes = post_.empty() ? before_ : after_;
    if (text.empty()) return;
    trace::SnapshotRecord snapshot;
    snapshot.compile = program_.compile;
    snapshot.program = program_.id;
    snapshot.stage = loops_;
    snapshot.kind = trace::SnapshotKind::Text;
    const trace::Owner owner{trace::OwnerKind::Snapshot, context_.writer().add(snapshot), program_.compile};
    std::vector<trace::LineMapEntry> lines;
    for (const IrNode& node : nodes) {
      trace::LineMapEntry entry{node.first_line, node.last_line, {}};
      std::vector<std::string> names;
      names_of(node, names);
      for (const std::string& name : names) {
        if (const auto id = ids_.find(name); id != ids_.end()) entry.nodes.push_back(id->second);
      }
      if (!entry.nodes.empty() && entry.last_line >= entry.first_line) lines.push_back(std::move(entry));
      add_kernel_part(node, text);
    }
    add_artifact(owner, "ir", post_.empty() ? "ir_pre_fusion.txt" : "ir_post_fusion.txt", text, std::move(lines));
  }

  void add_kernel_part(const IrNode& node, std::string_view text) {
    const trace::Id kernel = kernel_of(node).first;
    if (kernel == trace::kNone || !described_.insert(kernel).second) return;
    if (lines_.empty()) lines_ = py::lines(text);
    const auto first = static_cast<size_t>(node.first_line - 1), last = static_cast<size_t>(node.last_line);
    if (node.last_line < node.first_line || last > lines_.size()) return;
    const char* begin = lines_[first].data();
    const std::string_view end = lines_[last - 1];
    add_artifact({trace::OwnerKind::Kernel, kernel, program_.compile}, "loops", node.name,
                 {begin, static_cast<size_t>(end.data() + end.size() - begin)}, {});
  }

  void add_artifact(const trace::Owner& owner, std::string_view kind, std::string_view name, std::string_view content,
                    std::vector<trace::LineMapEntry> lines) {
    trace::ArtifactRecord artifact;
    artifact.owner = owner;
    artifact.kind = kind;
    artifact.name = name;
    artifact.content = content;
    artifact.lines = std::move(lines);
    context_.writer().add(artifact);
  }

  ImportContext& context_;
  const trace::ProgramRecord& program_;
  std::string_view pre_, post_;
  KnownProgram known_;
  std::string scheduled_, loops_;
  std::vector<IrNode> before_, after_;
  std::unordered_map<std::string, trace::NodeId> ids_;
  std::unordered_map<std::string, std::string> writers_;  ///< buffer, the node that writes it
  std::unordered_map<std::string, std::int64_t> groups_;
  std::vector<std::string_view> lines_;
  std::set<trace::Id> described_;
};

}  // namespace

std::int64_t add_scheduler_ir(ImportContext& context, const trace::ProgramRecord& program, std::string_view pre_fusion,
                              std::string_view post_fusion) {
  return IrWriter(context, program, pre_fusion, post_fusion).run();
}

}  // namespace strata::capture
