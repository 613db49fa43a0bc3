// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/recorder.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>

#include "app/driver/graph_records.h"
#include "core/ir/loop.h"
#include "core/support/error.h"

namespace strata {
namespace {

int64_t unix_now() { return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

trace::Amount amount(const SymInt& e) {
  trace::Amount result;
  if (const auto v = hint(e)) result.value = static_cast<double>(*v);
  if (!e.is_const()) result.formula = e.str();
  return result;
}

std::vector<trace::NodeId> node_ids(const std::vector<NodeId>& ids) { return {ids.begin(), ids.end()}; }

/// Stage of a snapshot after a pass: `functional`, or `simplified:cse#2` where several passes share one.
std::string stage_name(const PassRun& run) {
  if (run.pass->stage != "simplified") return run.pass->stage;
  return run.pass->stage + ":" + run.pass->name + "#" + std::to_string(run.occurrence);
}

std::string_view buffer_kind(PlanBuffer::Kind kind) {
  switch (kind) {
    case PlanBuffer::Kind::Input:
      return "input";
    case PlanBuffer::Kind::Constant:
      return "constant";
    case PlanBuffer::Kind::Temporary:
      return "temporary";
    case PlanBuffer::Kind::Output:
      return "output";
  }
  return "";
}

}  // namespace

struct Recorder::Impl {
  explicit Impl(const std::string& path) : writer(path), graphs(writer) {}

  trace::Writer writer;
  GraphRecords graphs;
  trace::Id process = trace::kNone;
  trace::CompileRecord compile;
  int64_t compiles = 0;
  trace::Id scheduled_snapshot = trace::kNone;
  std::vector<trace::Id> kernels, launches, buffers;
  std::unordered_map<std::string, trace::Id> makers;
  int64_t passes = 0;  ///< of the present compile
  std::shared_ptr<const Plan> plan;
  std::string code_text;
  std::vector<trace::LineMapEntry> code_lines;
  std::shared_ptr<ShapeEnv> env;
  int acknowledge_fd = -1;
  int64_t acknowledged = 0;

  std::vector<trace::NodeRecord> records_of(const Graph& graph) {
    std::vector<trace::NodeRecord> nodes = graphs.nodes(graph);
    auto record = nodes.begin();
    for (const auto& node : graph.nodes()) {
      if (const auto it = makers.find(node->meta.maker); it != makers.end()) record->maker = it->second;
      ++record;
    }
    return nodes;
  }

  trace::Id snapshot(const std::string& stage, const Graph& graph, trace::Id pass) {
    trace::SnapshotRecord s;
    s.compile = compile.id;
    s.stage = stage;
    s.pass = pass;
    return writer.add(s, records_of(graph));
  }

  trace::Id text_snapshot(const std::string& stage, const std::string& kind, const std::string& name, std::string text,
                          std::vector<trace::LineMapEntry> lines) {
    trace::SnapshotRecord s;
    s.compile = compile.id;
    s.stage = stage;
    s.kind = trace::SnapshotKind::Text;
    const trace::Id id = writer.add(s);
    trace::ArtifactRecord a;
    a.owner = {trace::OwnerKind::Snapshot, id, compile.id};
    a.kind = kind;
    a.name = name;
    a.content = std::move(text);
    a.lines = std::move(lines);
    writer.add(a);
    return id;
  }

  /// Commits; a reader on the acknowledge pipe learns how many commits are durable.
  void commit() {
    writer.commit();
    if (acknowledge_fd < 0) return;
    const std::string line = std::to_string(++acknowledged) + "\n";
    if (::write(acknowledge_fd, line.data(), line.size()) < 0) acknowledge_fd = -1;
  }

  void origin(NodeId node, NodeId from, std::string_view kind, const std::string& rule, bool exact = true) {
    if (node == from) return;
    writer.add(trace::OriginRecord{compile.id, static_cast<trace::NodeId>(node), static_cast<trace::NodeId>(from),
                                   std::string(kind), rule, exact});
  }

  void origins_of(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      for (const Origin& o : node->meta.origins) origin(node->id, o.node, to_string(o.kind), o.rule, o.exact);
    }
  }

  void rewrites(const PassRun& run, trace::Id pass, const Graph& graph) {
    std::set<NodeId> present;
    for (const auto& node : graph.nodes()) present.insert(node->id);
    for (const Rewrite& r : run.rewrites) {
      trace::RewriteRecord record;
      record.compile = compile.id;
      record.pass = pass;
      record.rule = r.rule;
      record.before = node_ids(r.before);
      record.after = node_ids(r.after);
      record.reason = r.reason;
      writer.add(record);
      for (NodeId before : r.before) {
        if (present.contains(before)) continue;
        writer.add(trace::RemovalRecord{compile.id, static_cast<trace::NodeId>(before), pass, r.rule, r.reason});
      }
    }
  }

  void artifact(trace::OwnerKind kind, trace::Id owner, const CodeArtifact& code, const std::string& name) {
    trace::ArtifactRecord a;
    a.owner = {kind, owner, compile.id};
    a.kind = code.kind;
    a.name = name;
    a.content = code.text;
    for (size_t i = 0; i < code.line_nodes.size(); ++i) {
      if (code.line_nodes[i].empty()) continue;
      const auto line = static_cast<int64_t>(i) + 1;
      a.lines.push_back({line, line, node_ids(code.line_nodes[i])});
    }
    writer.add(a);
  }

  void sources(const Program& program) {
    for (const auto& [file, lines] : program.source_lines) {
      trace::SourceFileRecord r;
      r.path = file;
      r.excerpt = true;
      for (const auto& [number, text] : lines) r.lines.push_back({number, text});
      writer.add(r);
    }
  }

  void kernel(size_t i, const Launch& launch) {
    trace::KernelRecord k;
    k.compile = compile.id;
    k.snapshot = scheduled_snapshot;
    k.name = launch.name;
    k.device = "cpu";
    k.group = static_cast<int64_t>(i) + 1;
    k.nodes = node_ids(launch.nodes);
    k.bytes = amount(launch.bytes_read + launch.bytes_written);
    k.flops = amount(launch.flops);
    if (const auto* call = std::get_if<LibraryCall>(&launch.work)) {
      k.kind = trace::KernelKind::Library;
      k.library = call->kind;
    } else if (std::holds_alternative<OpaqueCall>(launch.work)) {
      k.kind = trace::KernelKind::Opaque;
    }
    kernels.push_back(writer.add(k));
  }

  void plan_buffers(const Plan& plan) {
    for (const PlanBuffer& b : plan.buffers) {
      trace::BufferRecord r;
      r.compile = compile.id;
      r.name = b.name;
      r.kind = buffer_kind(b.kind);
      r.node = static_cast<trace::NodeId>(b.node);
      r.bytes = amount(b.numel * SymInt(static_cast<int64_t>(dtype_size(b.dtype))));
      r.first_launch = b.first_launch;
      r.last_launch = b.last_launch;
      if (b.reuse_of >= 0)
        r.reuse_of =
            buffers.size() > static_cast<size_t>(b.reuse_of) ? buffers[static_cast<size_t>(b.reuse_of)] : trace::kNone;
      buffers.push_back(writer.add(r));
    }
  }

  static std::set<size_t> written_by(const Launch& launch) {
    std::set<size_t> written;
    if (const auto* kernel = std::get_if<loop::Kernel>(&launch.work)) {
      for (size_t i = 0; i < kernel->buffers.size(); ++i)
        if (kernel->buffers[i].role == loop::BufferRole::Output || kernel->buffers[i].role == loop::BufferRole::InOut)
          written.insert(i);
    } else if (const auto* call = std::get_if<LibraryCall>(&launch.work)) {
      written.insert(static_cast<size_t>(call->result.buffer));
    } else {
      const auto& opaque = std::get<OpaqueCall>(launch.work);
      for (size_t i = launch.buffers.size() - opaque.graph->flat_outputs().size(); i < launch.buffers.size(); ++i)
        written.insert(i);
    }
    return written;
  }

  void plan_launches(const Plan& plan) {
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      const Launch& launch = plan.launches[i];
      trace::LaunchRecord r;
      r.compile = compile.id;
      r.ordinal = static_cast<int64_t>(i);
      r.kernel = kernels[i];
      r.name = launch.name;
      const auto written = written_by(launch);
      for (size_t b = 0; b < launch.buffers.size(); ++b)
        (written.contains(b) ? r.writes : r.reads).push_back(buffers[static_cast<size_t>(launch.buffers[b])]);
      launches.push_back(writer.add(r));
    }
  }

  void loops_stage(const Plan& plan) {
    std::string text;
    std::vector<trace::LineMapEntry> lines;
    int64_t line = 1;
    for (const Launch& launch : plan.launches) {
      const auto* kernel = std::get_if<loop::Kernel>(&launch.work);
      const std::string one = kernel ? loop::print_loop(*kernel) : "# " + launch.name + ": library or opaque call\n";
      const int64_t count = std::count(one.begin(), one.end(), '\n');
      lines.push_back({line, line + std::max<int64_t>(0, count - 1), node_ids(launch.nodes)});
      text += one + "\n";
      line += count + 1;
    }
    text_snapshot("loops", "loop-ir", "loops", std::move(text), std::move(lines));
  }

  void plan_stage(const Plan& plan) {
    std::string text;
    std::vector<trace::LineMapEntry> lines;
    int64_t line = 1;
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      const Launch& launch = plan.launches[i];
      text += "launch " + std::to_string(i) + ": " + launch.name + "(";
      const auto written = written_by(launch);
      for (size_t b = 0; b < launch.buffers.size(); ++b)
        text += (b ? ", " : "") + std::string(written.contains(b) ? "out " : "") +
                plan.buffers[static_cast<size_t>(launch.buffers[b])].name;
      text += ")\n";
      lines.push_back({line, line, node_ids(launch.nodes)});
      ++line;
    }
    for (const PlanBuffer& b : plan.buffers) {
      text += "buffer " + b.name + ": " + std::string(buffer_kind(b.kind)) + " " + std::string(dtype_abbr(b.dtype)) +
              shape_text(b.shape) + " launches " + std::to_string(b.first_launch) + ".." +
              std::to_string(b.last_launch);
      if (b.reuse_of >= 0) text += " in place of " + plan.buffers[static_cast<size_t>(b.reuse_of)].name;
      text += "\n";
    }
    text_snapshot("plan", "text", "plan", std::move(text), std::move(lines));
  }
};

Recorder::Recorder(const std::string& path, const std::string& command) : impl_(std::make_unique<Impl>(path)) {
  impl_->writer.set_property("producer", "strata");
  impl_->writer.set_property("command", command);
  impl_->writer.set_property("cpu", host_target().cpu);
  impl_->writer.set_property("cpu_features", host_target().features);
  struct utsname system{};
  if (uname(&system) == 0) impl_->writer.set_property("system", std::string(system.sysname) + " " + system.machine);
  if (const char* fd = std::getenv("STRATA_ACKNOWLEDGE_FD")) impl_->acknowledge_fd = std::atoi(fd);
  trace::ProcessRecord p;
  p.pid = getpid();
  p.command = command;
  p.start_ns = unix_now();
  impl_->process = impl_->writer.add(p);
  impl_->commit();
}

Recorder::~Recorder() = default;

void Recorder::begin_compile(const Program& program, const std::string& backend) {
  Impl& r = *impl_;
  const int64_t frame_number = r.compiles++;
  trace::FrameRecord frame;
  frame.process = r.process;
  frame.number = frame_number;
  frame.name = program.name;
  frame.file = program.path;
  const std::string address = std::to_string(frame_number) + "/0";
  r.compile = {};
  r.compile.process = r.process;
  r.compile.frame = r.writer.add(frame);
  r.compile.frame_number = frame_number;
  r.compile.address = address;
  r.compile.name = program.name;
  r.compile.start_ns = unix_now();
  r.compile.id = r.writer.add(r.compile);
  r.env = program.graph.shared_env();
  r.writer.set_property("backend", backend);
  r.kernels.clear();
  r.launches.clear();
  r.buffers.clear();
  r.makers.clear();
  r.passes = 0;
  r.plan.reset();
  r.code_text.clear();
  r.code_lines.clear();
  r.sources(program);
  r.graphs.symbols(program.graph, r.compile.id);
  r.snapshot("captured", program.graph, trace::kNone);
  r.commit();
}

void Recorder::pass_done(const PassRun& run, const Graph& graph) {
  Impl& r = *impl_;
  trace::PassRecord p;
  p.compile = r.compile.id;
  p.name = run.pass->name;
  p.ordinal = run.ordinal;
  p.duration_ns = run.duration_ns;
  p.changed = run.changed;
  p.nodes_before = static_cast<int64_t>(run.nodes_before);
  p.nodes_after = static_cast<int64_t>(run.nodes_after);
  p.verified = run.verify_ns > 0 ? trace::Verified::Passed : trace::Verified::No;
  if (run.skipped) p.error = "switched off";
  const trace::Id pass = r.writer.add(p);
  r.passes = run.ordinal + 1;
  r.makers[run.pass->name] = pass;
  // `functional` and `decomposed` are stages whether or not something changed: commands may ask for them.
  if (run.changed || run.pass->required) r.snapshot(stage_name(run), graph, pass);
  r.origins_of(graph);
  r.rewrites(run, pass, graph);
  r.commit();
}

void Recorder::scheduled(const Graph& graph, const Scheduled& scheduled) {
  Impl& r = *impl_;
  std::unordered_map<NodeId, int64_t> group_of;
  for (size_t g = 0; g < scheduled.groups.size(); ++g)
    for (const Node* node : scheduled.groups[g].nodes) group_of[node->id] = static_cast<int64_t>(g) + 1;
  // A view that only one kernel reads through belongs to it.
  for (const auto& [id, fate] : scheduled.fates)
    if (fate.launches.size() == 1) group_of.try_emplace(id, fate.launches.front() + 1);
  std::vector<trace::NodeRecord> nodes = r.records_of(graph);
  for (trace::NodeRecord& n : nodes)
    if (const auto it = group_of.find(static_cast<NodeId>(n.id)); it != group_of.end()) n.group = it->second;
  trace::PassRecord p;
  p.compile = r.compile.id;
  p.name = "schedule";
  p.ordinal = r.passes;
  p.changed = true;
  p.nodes_before = p.nodes_after = static_cast<int64_t>(nodes.size());
  const trace::Id pass = r.writer.add(p);
  trace::SnapshotRecord s;
  s.compile = r.compile.id;
  s.stage = "scheduled";
  s.pass = pass;
  r.scheduled_snapshot = r.writer.add(s, nodes);
  for (size_t i = 0; i < scheduled.plan->launches.size(); ++i) r.kernel(i, scheduled.plan->launches[i]);
  for (const FusionDecision& d : scheduled.decisions) {
    trace::FusionRecord f;
    f.compile = r.compile.id;
    f.pass = pass;
    f.producer = static_cast<trace::NodeId>(d.producer);
    f.consumer = static_cast<trace::NodeId>(d.consumer);
    if (const auto it = group_of.find(d.producer); it != group_of.end()) f.producer_group = it->second;
    if (const auto it = group_of.find(d.consumer); it != group_of.end()) f.consumer_group = it->second;
    f.accepted = d.accepted;
    f.rule = "fuse";
    f.reason = d.reason;
    r.writer.add(f);
  }
  for (const auto& node : graph.nodes()) {
    const auto it = scheduled.fates.find(node->id);
    if (it == scheduled.fates.end() || it->second.kind == NodeFate::Kind::Launch) continue;
    const bool leaf =
        node->kind == NodeKind::Placeholder || node->kind == NodeKind::GetAttr || node->kind == NodeKind::Output;
    if (!leaf)
      r.writer.add(trace::RemovalRecord{r.compile.id, static_cast<trace::NodeId>(node->id), pass, "schedule",
                                        std::string(to_string(it->second.kind))});
  }
  r.plan_buffers(*scheduled.plan);
  r.plan_launches(*scheduled.plan);
  r.loops_stage(*scheduled.plan);
  r.plan = scheduled.plan;
  r.graphs.assumptions(graph, r.compile.id);
  r.commit();
}

void Recorder::code(size_t launch, const std::vector<CodeArtifact>& artifacts) {
  Impl& r = *impl_;
  for (const CodeArtifact& a : artifacts) {
    r.artifact(trace::OwnerKind::Kernel, r.kernels.at(launch), a, a.kind);
    if (a.kind != "cpp" && a.kind != "library") continue;
    auto line = static_cast<int64_t>(std::count(r.code_text.begin(), r.code_text.end(), '\n'));
    for (const auto& nodes : a.line_nodes) {
      ++line;
      if (!nodes.empty()) r.code_lines.push_back({line, line, node_ids(nodes)});
    }
    r.code_text += a.text + "\n";
  }
  if (launch + 1 != r.kernels.size()) return;
  r.text_snapshot("code", "cpp", "code", std::move(r.code_text), std::move(r.code_lines));
  r.plan_stage(*r.plan);
  r.commit();
}

void Recorder::end_compile(const std::string& outcome, const std::string& error, int64_t duration_ns) {
  Impl& r = *impl_;
  r.compile.outcome = outcome;
  r.compile.error = error;
  r.compile.duration_ns = duration_ns;
  r.writer.update(r.compile);
  r.commit();
}

void Recorder::metric(const std::string& key, double value, const std::string& unit) {
  trace::MetricRecord m;
  m.owner = {trace::OwnerKind::Compile, impl_->compile.id, impl_->compile.id};
  m.key = key;
  m.value = value;
  m.unit = unit;
  impl_->writer.add(m);
}

void Recorder::run(const std::string& label, int64_t repeat, int64_t start_ns, int64_t duration_ns,
                   const std::vector<LaunchTime>& times) {
  Impl& r = *impl_;
  trace::RunRecord run;
  run.process = r.process;
  run.compile = r.compile.id;
  run.label = label;
  run.repeat = repeat;
  run.clock = "steady";
  run.start_ns = start_ns;
  run.duration_ns = duration_ns;
  const trace::Id id = r.writer.add(run);
  std::vector<trace::EventRecord> events;
  for (const LaunchTime& t : times) {
    trace::EventRecord e;
    e.run = id;
    e.launch = r.launches.at(t.launch);
    e.kernel = r.kernels.at(t.launch);
    e.category = "kernel";
    e.clock = "steady";
    e.start_ns = t.start;
    e.duration_ns = t.end - t.start;
    events.push_back(std::move(e));
  }
  r.writer.add(events);
  r.commit();
}

void Recorder::memory(const Executor& executor) {
  metric("arena", static_cast<double>(executor.arena_bytes()), "B");
  metric("arena_without_reuse", static_cast<double>(executor.unshared_bytes()), "B");
  const SymBindings& sizes = executor.symbols();
  for (size_t id = 0; impl_->env && id < sizes.size() && id < impl_->env->symbol_count(); ++id)
    if (sizes[id]) metric("symbol:" + impl_->env->info(id).name, static_cast<double>(*sizes[id]), "1");
}

void Recorder::close() { impl_->writer.close(); }
void Recorder::discard() { impl_->writer.discard(); }

}  // namespace strata
