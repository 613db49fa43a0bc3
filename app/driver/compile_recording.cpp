// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/compile_recording.h"

#include <algorithm>
#include <set>

#include "core/ir/control_flow.h"
#include "core/ir/loop.h"

namespace strata {
namespace {

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

std::unordered_map<std::string, trace::NodeId> ids_by_name(const std::vector<trace::NodeRecord>& nodes) {
  std::unordered_map<std::string, trace::NodeId> ids;
  for (const trace::NodeRecord& n : nodes) ids.emplace(n.name, n.id);
  return ids;
}

}  // namespace

void CompileRecording::begin(const Program& program, const std::string& stage) {
  env_ = program.graph.shared_env();
  graphs_.symbols(program.graph, compile_.id);
  snapshot(stage, program.graph, trace::kNone);
}

void CompileRecording::link(const Graph& graph, const std::vector<trace::NodeRecord>& from,
                            const std::vector<std::pair<std::string, std::string>>& made_from) {
  const auto ids = ids_by_name(from);
  const std::unordered_map<std::string, std::string> source(made_from.begin(), made_from.end());
  std::vector<trace::NodeId> inputs;
  for (const trace::NodeRecord& n : from)
    if (n.op == "placeholder") inputs.push_back(n.id);
  size_t input = 0;
  for (const auto& node : graph.nodes()) {
    const auto id = static_cast<trace::NodeId>(node->id);
    if (node->kind == NodeKind::Placeholder) {
      if (input < inputs.size()) writer_.add(trace::OriginRecord{compile_.id, id, inputs[input++], "copied", "", true});
      continue;
    }
    const auto named = source.find(node->name);
    const auto found = named == source.end() ? ids.end() : ids.find(named->second);
    if (found != ids.end()) writer_.add(trace::OriginRecord{compile_.id, id, found->second, "lowered", "traced", true});
  }
}

void CompileRecording::metric(const std::string& key, double value, const std::string& unit) {
  trace::MetricRecord m;
  m.owner = {trace::OwnerKind::Compile, compile_.id, compile_.id};
  m.key = key;
  m.value = value;
  m.unit = unit;
  writer_.add(m);
}

void CompileRecording::metric_of_kernel(size_t launch, const std::string& key, double value, const std::string& unit) {
  trace::MetricRecord m;
  m.owner = {trace::OwnerKind::Kernel, kernels_.at(launch), compile_.id};
  m.key = key;
  m.value = value;
  m.unit = unit;
  writer_.add(m);
}

void CompileRecording::codegen(const CodegenStatistics& s) {
  const std::pair<const char*, int64_t> times[] = {{"plan_kernels", s.plan_ns},      {"kernel_cache", s.cache_ns},
                                                   {"generate_code", s.generate_ns}, {"load_code", s.load_ns},
                                                   {"libraries", s.library_ns},      {"measure_candidates", s.tune_ns}};
  for (const auto& [step, ns] : times) metric(std::string("time:") + step, static_cast<double>(ns), "ns");
  metric("kernels:loops", static_cast<double>(s.loops), "1");
  metric("kernels:distinct", static_cast<double>(s.distinct), "1");
  if (s.tuned > 0) metric("kernels:tuned", static_cast<double>(s.tuned), "1");
  if (s.tuned > 0) metric("kernels:measured", static_cast<double>(s.measured), "1");
  if (s.cache_off.empty()) {
    metric("kernel_cache:hits", static_cast<double>(s.from_cache), "1");
    metric("kernel_cache:misses", static_cast<double>(s.generated), "1");
    for (size_t i = 0; i < s.launch_from_cache.size(); ++i)
      if (s.launch_from_cache[i]) metric_of_kernel(i, "from_cache", 1, "1");
  } else if (s.loops > 0) {
    writer_.set_property("kernel_cache", "off: " + s.cache_off);
  }
}

void CompileRecording::candidates(size_t launch, const std::vector<TuningCandidate>& candidates) {
  for (const TuningCandidate& c : candidates)
    metric_of_kernel(launch, (c.chosen ? "chosen:" : "candidate:") + c.what, c.ns, "ns");
}

void CompileRecording::memory(const Executor& executor) {
  metric("arena", static_cast<double>(executor.arena_bytes()), "B");
  metric("arena_without_reuse", static_cast<double>(executor.unshared_bytes()), "B");
  const SymBindings& sizes = executor.symbols();
  for (size_t id = 0; env_ && id < sizes.size() && id < env_->symbol_count(); ++id)
    if (sizes[id]) metric("symbol:" + env_->info(id).name, static_cast<double>(*sizes[id]), "1");
}

void CompileRecording::plan(const Plan& plan) {
  for (size_t i = 0; i < plan.launches.size(); ++i) kernel(i, plan.launches[i]);
  plan_buffers(plan);
  plan_launches(plan);
  loops_stage(plan);
  plan_stage(plan);
}

void CompileRecording::ended() {
  plan_.reset();
  makers_.clear();
  buffers_.clear();
  code_text_.clear();
  code_lines_.clear();
}

std::vector<trace::EventRecord> CompileRecording::events(trace::Id run, const std::vector<LaunchTime>& times) const {
  std::vector<trace::EventRecord> events;
  events.reserve(times.size());
  for (const LaunchTime& t : times) {
    trace::EventRecord e;
    e.run = run;
    e.launch = launches_.at(t.launch);
    e.kernel = kernels_.at(t.launch);
    e.category = "kernel";
    e.clock = "steady";
    e.start_ns = t.start;
    e.duration_ns = t.end - t.start;
    e.args = "{\"threads\":" + std::to_string(t.threads) + "}";
    events.push_back(std::move(e));
  }
  return events;
}

std::vector<trace::NodeRecord> CompileRecording::records_of(const Graph& graph) {
  std::vector<trace::NodeRecord> nodes = graphs_.nodes(graph);
  auto record = nodes.begin();
  for (const Node* node : all_nodes(graph)) {
    if (const auto it = makers_.find(node->meta.maker); it != makers_.end()) record->maker = it->second;
    ++record;
  }
  return nodes;
}

trace::Id CompileRecording::snapshot(const std::string& stage, const Graph& graph, trace::Id pass) {
  trace::SnapshotRecord s;
  s.compile = compile_.id;
  s.stage = stage;
  s.pass = pass;
  s.extra = GraphRecords::form(graph);
  return writer_.add(s, records_of(graph));
}

trace::Id CompileRecording::text_snapshot(const std::string& stage, const std::string& kind, const std::string& name,
                                          std::string text, std::vector<trace::LineMapEntry> lines) {
  trace::SnapshotRecord s;
  s.compile = compile_.id;
  s.stage = stage;
  s.kind = trace::SnapshotKind::Text;
  const trace::Id id = writer_.add(s);
  trace::ArtifactRecord a;
  a.owner = {trace::OwnerKind::Snapshot, id, compile_.id};
  a.kind = kind;
  a.name = name;
  a.content = std::move(text);
  a.lines = std::move(lines);
  writer_.add(a);
  return id;
}

void CompileRecording::origin(NodeId node, NodeId from, std::string_view kind, const std::string& rule, bool exact) {
  if (node == from) return;
  writer_.add(trace::OriginRecord{compile_.id, static_cast<trace::NodeId>(node), static_cast<trace::NodeId>(from),
                                  std::string(kind), rule, exact});
}

void CompileRecording::origins_of(const Graph& graph) {
  for (const Node* node : all_nodes(graph)) {
    for (const Origin& o : node->meta.origins) origin(node->id, o.node, to_string(o.kind), o.rule, o.exact);
  }
}

void CompileRecording::rewrites(const PassRun& run, trace::Id pass, const Graph& graph) {
  std::set<NodeId> present;
  for (const Node* node : all_nodes(graph)) present.insert(node->id);
  for (const Rewrite& r : run.rewrites) {
    trace::RewriteRecord record;
    record.compile = compile_.id;
    record.pass = pass;
    record.rule = r.rule;
    record.before = node_ids(r.before);
    record.after = node_ids(r.after);
    record.reason = r.reason;
    writer_.add(record);
    for (NodeId before : r.before) {
      if (present.contains(before)) continue;
      writer_.add(trace::RemovalRecord{compile_.id, static_cast<trace::NodeId>(before), pass, r.rule, r.reason});
    }
  }
}

void CompileRecording::refusals(const PassRun& run, trace::Id pass) {
  for (const Refusal& r : run.refusals)
    writer_.add(trace::FusionRecord{trace::kNone, compile_.id, pass, static_cast<trace::NodeId>(r.blocker),
                                    static_cast<trace::NodeId>(r.node), 0, 0, false, r.rule, r.reason});
}

void CompileRecording::artifact(trace::OwnerKind kind, trace::Id owner, const CodeArtifact& code,
                                const std::string& name) {
  trace::ArtifactRecord a;
  a.owner = {kind, owner, compile_.id};
  a.kind = code.kind;
  a.name = name;
  a.content = code.text;
  for (size_t i = 0; i < code.line_nodes.size(); ++i) {
    if (code.line_nodes[i].empty()) continue;
    const auto line = static_cast<int64_t>(i) + 1;
    a.lines.push_back({line, line, node_ids(code.line_nodes[i])});
  }
  writer_.add(a);
}

void CompileRecording::kernel(size_t i, const Launch& launch) {
  trace::KernelRecord k;
  k.compile = compile_.id;
  k.snapshot = scheduled_snapshot_;
  k.name = launch.name;
  k.device = "cpu";
  k.group = static_cast<int64_t>(i) + 1;
  k.nodes = node_ids(launch.nodes);
  k.bytes = amount(launch.bytes_read + launch.bytes_written);
  k.flops = amount(launch.flops);
  if (const auto* call = std::get_if<LibraryCall>(&launch.work)) {
    k.kind = trace::KernelKind::Library;
    k.library = call->kind;
  } else if (const auto* native = std::get_if<NativeCall>(&launch.work)) {
    k.kind = trace::KernelKind::Library;
    k.library = native->kernel;
  } else if (std::holds_alternative<ControlCall>(launch.work)) {
    k.kind = trace::KernelKind::Library;
    k.library = "control flow";
  } else if (std::holds_alternative<OpaqueCall>(launch.work)) {
    k.kind = trace::KernelKind::Opaque;
  }
  kernels_.push_back(writer_.add(k));
}

void CompileRecording::plan_buffers(const Plan& plan) {
  for (const PlanBuffer& b : plan.buffers) {
    trace::BufferRecord r;
    r.compile = compile_.id;
    r.name = b.name;
    r.kind = buffer_kind(b.kind);
    r.node = static_cast<trace::NodeId>(b.node);
    r.bytes = amount(b.numel * SymInt(static_cast<int64_t>(dtype_size(b.dtype))));
    r.first_launch = b.first_launch;
    r.last_launch = b.last_launch;
    if (b.reuse_of >= 0)
      r.reuse_of =
          buffers_.size() > static_cast<size_t>(b.reuse_of) ? buffers_[static_cast<size_t>(b.reuse_of)] : trace::kNone;
    buffers_.push_back(writer_.add(r));
  }
}

void CompileRecording::plan_launches(const Plan& plan) {
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    trace::LaunchRecord r;
    r.compile = compile_.id;
    r.ordinal = static_cast<int64_t>(i);
    r.kernel = kernels_[i];
    r.name = launch.name;
    const auto written = written_by(launch);
    for (size_t b = 0; b < launch.buffers.size(); ++b)
      (std::ranges::binary_search(written, b) ? r.writes : r.reads)
          .push_back(buffers_[static_cast<size_t>(launch.buffers[b])]);
    launches_.push_back(writer_.add(r));
  }
}

void CompileRecording::add_loops(const Plan& plan, LoopsText& out) const {
  const auto add = [&](const std::string& one, const std::vector<NodeId>& nodes) {
    const int64_t count = std::count(one.begin(), one.end(), '\n');
    if (!nodes.empty()) out.lines.push_back({out.line, out.line + std::max<int64_t>(0, count - 1), node_ids(nodes)});
    out.text += one + "\n";
    out.line += count + 1;
  };
  for (const Launch& launch : plan.launches) {
    const auto* kernel = std::get_if<loop::Kernel>(&launch.work);
    const auto* control = std::get_if<ControlCall>(&launch.work);
    const std::string what = control ? "runs what follows" : "library or opaque call";
    add(kernel ? loop::print_loop(*kernel) : "# " + launch.name + ": " + what + "\n", launch.nodes);
    if (!control) continue;
    for (const auto& body : control->bodies) add_loops(*body, out);
    add("# end of " + launch.name + "\n", {});
  }
}

void CompileRecording::loops_stage(const Plan& plan) {
  LoopsText out;
  add_loops(plan, out);
  text_snapshot("loops", "loop-ir", "loops", std::move(out.text), std::move(out.lines));
}

void CompileRecording::plan_stage(const Plan& plan) {
  std::string text;
  std::vector<trace::LineMapEntry> lines;
  int64_t line = 1;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    text += "launch " + std::to_string(i) + ": " + launch.name + "(";
    const auto written = written_by(launch);
    for (size_t b = 0; b < launch.buffers.size(); ++b)
      text += (b ? ", " : "") + std::string(std::ranges::binary_search(written, b) ? "out " : "") +
              plan.buffers[static_cast<size_t>(launch.buffers[b])].name;
    text += ")\n";
    lines.push_back({line, line, node_ids(launch.nodes)});
    ++line;
  }
  for (const PlanBuffer& b : plan.buffers) {
    text += "buffer " + b.name + ": " + std::string(buffer_kind(b.kind)) + " " + std::string(dtype_abbr(b.dtype)) +
            shape_text(b.shape) + " launches " + std::to_string(b.first_launch) + ".." + std::to_string(b.last_launch);
    if (b.reuse_of >= 0) text += " in place of " + plan.buffers[static_cast<size_t>(b.reuse_of)].name;
    text += "\n";
  }
  text_snapshot("plan", "text", "plan", std::move(text), std::move(lines));
}

void CompileRecording::pass_done(const PassRun& run, const Graph& graph) {
  trace::PassRecord p;
  p.compile = compile_.id;
  p.name = run.pass->name;
  p.ordinal = run.ordinal;
  p.duration_ns = run.duration_ns;
  p.changed = run.changed;
  p.nodes_before = static_cast<int64_t>(run.nodes_before);
  p.nodes_after = static_cast<int64_t>(run.nodes_after);
  p.verified = run.verify_ns > 0 ? trace::Verified::Passed : trace::Verified::No;
  if (run.skipped) p.error = "switched off";
  const trace::Id pass = writer_.add(p);
  passes_ = run.ordinal + 1;
  makers_[run.pass->name] = pass;
  // `functional` and `decomposed` are stages whether or not something changed: commands may ask for them.
  if (run.changed || (run.pass->required && !run.pass->may_change)) snapshot(stage_name(run), graph, pass);
  origins_of(graph);
  rewrites(run, pass, graph);
  refusals(run, pass);
}

void CompileRecording::scheduled(const Graph& graph, const Scheduled& scheduled) {
  std::unordered_map<NodeId, int64_t> group_of;
  for (size_t g = 0; g < scheduled.groups.size(); ++g)  // what several compute stands where it came from
    for (const Node* node : scheduled.groups[g].nodes)
      if (!scheduled.groups[g].computes_again(node)) group_of[node->id] = static_cast<int64_t>(g) + 1;
  // A view that only one kernel reads through belongs to it.
  for (const auto& [id, fate] : scheduled.fates)
    if (fate.launches.size() == 1) group_of.try_emplace(id, fate.launches.front() + 1);
  std::vector<trace::NodeRecord> nodes = records_of(graph);
  for (trace::NodeRecord& n : nodes)
    if (const auto it = group_of.find(static_cast<NodeId>(n.id)); it != group_of.end()) n.group = it->second;
  trace::PassRecord p;
  p.compile = compile_.id;
  p.name = "schedule";
  p.ordinal = passes_;
  p.changed = true;
  p.nodes_before = p.nodes_after = static_cast<int64_t>(nodes.size());
  const trace::Id pass = writer_.add(p);
  trace::SnapshotRecord s;
  s.compile = compile_.id;
  s.stage = "scheduled";
  s.pass = pass;
  s.extra = GraphRecords::form(graph);
  scheduled_snapshot_ = writer_.add(s, nodes);
  for (size_t i = 0; i < scheduled.plan->launches.size(); ++i) kernel(i, scheduled.plan->launches[i]);
  for (const FusionDecision& d : scheduled.decisions) {
    trace::FusionRecord f;
    f.compile = compile_.id;
    f.pass = pass;
    f.producer = static_cast<trace::NodeId>(d.producer);
    f.consumer = static_cast<trace::NodeId>(d.consumer);
    if (const auto it = group_of.find(d.producer); it != group_of.end()) f.producer_group = it->second;
    if (const auto it = group_of.find(d.consumer); it != group_of.end()) f.consumer_group = it->second;
    f.accepted = d.accepted;
    f.rule = std::string(to_string(d.rule));
    f.reason = d.reason;
    writer_.add(f);
  }
  for (const auto& node : graph.nodes()) {
    const auto it = scheduled.fates.find(node->id);
    if (it == scheduled.fates.end() || it->second.kind == NodeFate::Kind::Launch) continue;
    const bool leaf =
        node->kind == NodeKind::Placeholder || node->kind == NodeKind::GetAttr || node->kind == NodeKind::Output;
    if (!leaf)
      writer_.add(trace::RemovalRecord{compile_.id, static_cast<trace::NodeId>(node->id), pass, "schedule",
                                       std::string(to_string(it->second.kind))});
  }
  plan_buffers(*scheduled.plan);
  plan_launches(*scheduled.plan);
  loops_stage(*scheduled.plan);
  plan_ = scheduled.plan;
  graphs_.assumptions(graph, compile_.id);
}

bool CompileRecording::code(size_t launch, const std::vector<CodeArtifact>& artifacts) {
  for (const CodeArtifact& a : artifacts) {
    artifact(trace::OwnerKind::Kernel, kernels_.at(launch), a, a.kind);
    if (a.kind != "cpp" && a.kind != "library") continue;
    auto line = static_cast<int64_t>(std::count(code_text_.begin(), code_text_.end(), '\n'));
    for (const auto& nodes : a.line_nodes) {
      ++line;
      if (!nodes.empty()) code_lines_.push_back({line, line, node_ids(nodes)});
    }
    code_text_ += a.text + "\n";
  }
  if (launch + 1 != kernels_.size()) return false;
  text_snapshot("code", "cpp", "code", std::move(code_text_), std::move(code_lines_));
  plan_stage(*plan_);
  return true;
}

}  // namespace strata
