// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/correlate_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace strata::profiler {
namespace {

constexpr std::string_view kProgramCall = "## Call CompiledFxGraph ";
constexpr std::string_view kCompiledRegion = "Torch-Compiled Region: ";
constexpr std::string_view kUnnumberedRegion = "Torch-Compiled Region";  // of PyTorch 2.4

std::string first_word(std::string_view text) { return std::string(text.substr(0, text.find(' '))); }

/// Operators of the compiler's runtime that compute nothing themselves.
bool is_overhead(std::string_view name) {
  static constexpr std::string_view words[] = {"TorchDynamo Cache Lookup", "Pregraph bytecode", "AOTDispatcher ",
                                               "CompiledFxGraph", "TorchDynamo "};
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view w) { return name.starts_with(w); });
}

/// Steps of the compiler: PyTorch puts each into the profile by its own name and as `NAME (dynamo_timed)`; the names
/// are those of the compile timeline.
bool is_compile_step(std::string_view name) {
  static constexpr std::string_view words[] = {"dynamo",
                                               "entire_frame_compile",
                                               "entire_backward_compile",
                                               "backend_compile",
                                               "inductor_compile",
                                               "fx_codegen_and_compile",
                                               "create_aot_dispatcher_function",
                                               "aot_collect_metadata",
                                               "aot_trace_joint_graph",
                                               "async_compile.wait",
                                               "build_guards",
                                               "bytecode_tracing",
                                               "compiled_autograd"};
  return name.ends_with(" (dynamo_timed)") || name.starts_with("compile_attempt_") ||
         name.starts_with("compile_fx.<locals>.") ||
         std::find(std::begin(words), std::end(words), name) != std::end(words);
}

bool copies(std::string_view op) { return op == "aten::copy_" || op == "aten::_foreach_copy_"; }

bool is_graph_launch(std::string_view name) { return name.find("GraphLaunch") != name.npos; }

}  // namespace

RunMatcher::RunMatcher(trace::Reader& reader, const KnownPrograms& programs, const trace::RunRecord& run)
    : programs_(programs), run_(run), tree_(reader, run.id) {
  for (const std::string& text : tree_.names()) roles_.push_back(name_of(text));
  region_of_.assign(tree_.host().size(), -1);
  unit_of_.assign(tree_.host().size(), -1);
  unit_of_device_.assign(tree_.device().size(), -1);
}

RunMatcher::Name RunMatcher::name_of(const std::string& text) {
  if (text.starts_with(kProgramCall))
    return {Role::Program, first_word(std::string_view(text).substr(kProgramCall.size()))};
  if (text.starts_with(kCompiledRegion))
    return {Role::Compiled, first_word(std::string_view(text).substr(kCompiledRegion.size()))};
  if (text == kUnnumberedRegion) return {Role::Compiled, {}};
  if (text == "CompiledFunction") return {Role::Forward, ""};
  if (text == "CompiledFunctionBackward") return {Role::Backward, ""};
  if (text.starts_with("Optimizer.")) return {Role::Optimizer, ""};
  if (is_overhead(text)) return {Role::Overhead, ""};
  if (is_compile_step(text)) return {Role::Compiling, ""};
  return {};
}

RunCorrelation RunMatcher::match(Sink sink) {
  sink_ = std::move(sink);
  result_.run = run_.id;
  result_.device = !tree_.device().empty();
  find_regions();
  for (size_t r = 0; r < regions_.size(); ++r) {
    const size_t first = units_.size();
    find_units(static_cast<int>(r));
    align_region(static_cast<int>(r), first);
  }
  if (result_.device) {
    total_device();
  } else {
    total_host();
  }
  emit_host_matches();
  flush();
  finish_programs();
  return result_;
}

// ------------------------------------------------------------------------------------------------------------------
// regions

void RunMatcher::find_regions() {
  find_named_regions();
  find_backward_regions();
  if (regions_.empty()) find_regions_by_kernels();
}

std::int64_t RunMatcher::unix_time(std::int64_t time_ns) const { return run_.clock == "unix" ? time_ns : -1; }

trace::Id RunMatcher::compile_around(std::uint32_t event) const {
  for (std::uint32_t at = event; at != EventTree::kNoEvent; at = tree_.host()[at].parent) {
    const Name& name = roles_[tree_.host()[at].name];
    if (name.role != Role::Compiled) continue;
    const auto compile = programs_.compile_at(name.detail, run_.process, unix_time(tree_.host()[at].start));
    return compile ? compile->id : trace::kNone;
  }
  return trace::kNone;
}

bool RunMatcher::while_compiling(std::uint32_t event) const {
  for (std::uint32_t at = event; at != EventTree::kNoEvent; at = tree_.host()[at].parent)
    if (roles_[tree_.host()[at].name].role == Role::Compiling) return true;
  return false;
}

/// With caches off logs have no keys: then a compile's address in its own process says all.
bool RunMatcher::without_key(int program) const {
  const KnownProgram& p = programs_.all()[static_cast<size_t>(program)];
  return p.record.key.empty() && p.compile.process == run_.process && run_.process != trace::kNone;
}

void RunMatcher::resolve(Region& region, const Name& name) {
  if (name.role == Role::Program) {
    std::uint32_t backward = region.event;
    while (backward != EventTree::kNoEvent && roles_[tree_.host()[backward].name].role != Role::Backward)
      backward = tree_.host()[backward].parent;
    const bool in_backward = backward != EventTree::kNoEvent;
    trace::Id near = compile_around(region.event);
    if (near == trace::kNone && in_backward) near = compile_of_backward(backward);
    const auto found = programs_.by_key(name.detail, run_.process, near);
    region.program = found.program;
    region.exact = found.exact;
    if (region.program < 0) {
      // The log of another run of the same script: same frames, other keys.
      if (near != trace::kNone) {
        region.program = programs_.of_compile(near, in_backward);
        region.exact = region.program >= 0 && without_key(region.program);
      } else if (in_backward) {
        region.program = backward_of(backward);  // nothing says that it is this one
      }
    }
    if (region.program < 0) {
      region.why = fmt::format("no imported log has the program {}", name.detail);
      region.compile = near;
    }
  } else {
    const auto compile = programs_.compile_at(name.detail, run_.process, unix_time(tree_.host()[region.event].start));
    if (compile) region.compile = compile->id;
    if (compile) region.program = programs_.of_compile(compile->id, false);
    if (region.program < 0)
      region.why =
          compile ? "its compile has no program" : fmt::format("no imported log has the compile {}", name.detail);
  }
  if (region.program >= 0) region.compile = programs_.all()[static_cast<size_t>(region.program)].compile.id;
}

/// Annotations that name a program; where the producer writes none of those, the ones that name the compile.
void RunMatcher::find_named_regions() {
  const auto& host = tree_.host();
  for (const Role role : {Role::Program, Role::Compiled}) {
    for (std::uint32_t i = 0; i < host.size(); ++i) {
      if (roles_[host[i].name].role != role) continue;
      Region region;
      region.event = i;
      resolve(region, roles_[host[i].name]);
      if (role == Role::Compiled) region.exact = false;
      regions_.push_back(std::move(region));
      cover(static_cast<int>(regions_.size()) - 1);
    }
    if (!regions_.empty()) return;
  }
}

/// The compile of a `CompiledFunctionBackward`: its sequence number is that of the forward call.
trace::Id RunMatcher::compile_of_backward(std::uint32_t event) {
  const auto& host = tree_.host();
  if (!forward_calls_) {
    forward_calls_.emplace();
    for (std::uint32_t i = 0; i < host.size(); ++i)
      if (host[i].sequence >= 0 && roles_[host[i].name].role == Role::Forward)
        if (const trace::Id compile = compile_around(i); compile != trace::kNone)
          (*forward_calls_)[host[i].sequence] = compile;
  }
  const auto forward = forward_calls_->find(host[event].sequence);
  return forward == forward_calls_->end() ? trace::kNone : forward->second;
}

/// Its program; the only backward program where the forward call was not profiled.
int RunMatcher::backward_of(std::uint32_t event) {
  if (const trace::Id compile = compile_of_backward(event); compile != trace::kNone)
    return programs_.of_compile(compile, true);
  const std::vector<int> candidates = programs_.backward_programs(run_.process);
  return candidates.size() == 1 ? candidates[0] : -1;
}

/// Without annotations of programs, backward code is what runs in `CompiledFunctionBackward`.
void RunMatcher::find_backward_regions() {
  const auto& host = tree_.host();
  if (regions_.empty() || roles_[host[regions_[0].event].name].role != Role::Compiled) return;
  for (std::uint32_t i = 0; i < host.size(); ++i) {
    if (roles_[host[i].name].role != Role::Backward || region_of_[i] >= 0) continue;
    Region region;
    region.event = i;
    region.program = backward_of(i);
    if (region.program < 0) region.why = "backward of a compile that is in no imported log";
    if (region.program >= 0) region.compile = programs_.all()[static_cast<size_t>(region.program)].compile.id;
    regions_.push_back(std::move(region));
    cover(static_cast<int>(regions_.size()) - 1);
  }
}

/// Events inside belong to the innermost region.
void RunMatcher::cover(int region) {
  const std::uint32_t event = regions_[static_cast<size_t>(region)].event;
  for (std::uint32_t i = event; i < tree_.host()[event].after; ++i) region_of_[i] = region;
}

/// No annotation at all: a stretch of a thread whose kernels are exactly those of one program, in order.
void RunMatcher::find_regions_by_kernels() {
  struct Pattern {
    int program;
    std::vector<std::string_view> loops;
  };
  std::vector<Pattern> patterns;
  std::set<std::string_view> known;
  for (size_t p = 0; p < programs_.all().size(); ++p) {
    Pattern pattern{static_cast<int>(p), {}};
    for (const ExpectedLaunch& l : programs_.all()[p].launches)
      if (!l.library) pattern.loops.push_back(l.name);
    known.insert(pattern.loops.begin(), pattern.loops.end());
    if (!pattern.loops.empty()) patterns.push_back(std::move(pattern));
  }
  if (patterns.empty()) return;
  std::stable_sort(patterns.begin(), patterns.end(),
                   [](const Pattern& a, const Pattern& b) { return a.loops.size() > b.loops.size(); });
  const auto& host = tree_.host();
  std::vector<std::uint32_t> kernels;
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < host.size(); ++i) {
    std::string_view name;
    if (host[i].kind == EventTree::Kind::Operator) name = tree_.name(host[i]);
    // Old producers launch without an operator around it.
    if (host[i].kind == EventTree::Kind::Runtime && !tree_.launched(i).empty() &&
        (kernels.empty() || host[kernels.back()].after <= i))
      name = tree_.name(tree_.launched(i).front());
    if (!known.contains(name)) continue;
    kernels.push_back(i);
    names.push_back(name);
  }
  const auto matches = [&](const Pattern& p, size_t at) {
    if (at + p.loops.size() > kernels.size()) return false;
    for (size_t k = 0; k < p.loops.size(); ++k)
      if (names[at + k] != p.loops[k] || host[kernels[at + k]].track != host[kernels[at]].track) return false;
    return true;
  };
  std::uint32_t taken = 0;
  for (size_t at = 0; at < kernels.size();) {
    const auto found = std::find_if(patterns.begin(), patterns.end(), [&](const Pattern& p) { return matches(p, at); });
    if (found == patterns.end()) {
      ++at;
      continue;
    }
    const size_t last = at + found->loops.size() - 1;
    Region region;
    region.event = kernels[at];
    region.program = found->program;
    region.compile = programs_.all()[static_cast<size_t>(found->program)].compile.id;
    region.members =
        members_around(programs_.all()[static_cast<size_t>(found->program)], taken, kernels[at], kernels[last],
                       last + 1 < kernels.size() ? kernels[last + 1] : static_cast<std::uint32_t>(host.size()));
    taken = region.members.empty() ? taken : host[region.members.back()].after;
    regions_.push_back(std::move(region));
    at = last + 1;
  }
}

/// What belongs to an execution whose first and last kernel are known: all that the program may call between them, and
/// as many library calls before and after as it makes there.
std::vector<std::uint32_t> RunMatcher::members_around(const KnownProgram& program, std::uint32_t begin,
                                                      std::uint32_t first, std::uint32_t last,
                                                      std::uint32_t end) const {
  const auto loop = [](const ExpectedLaunch& l) { return !l.library; };
  const auto& launches = program.launches;
  const auto leading = std::find_if(launches.begin(), launches.end(), loop) - launches.begin();
  const auto trailing = std::find_if(launches.rbegin(), launches.rend(), loop) - launches.rbegin();
  const auto& host = tree_.host();
  std::vector<std::uint32_t> before, members, after;
  for (std::uint32_t i = begin; i < end;) {
    const bool call = host[i].kind == EventTree::Kind::Operator ? expected(program, host[i].name)
                                                                : host[i].kind == EventTree::Kind::Runtime;
    if (host[i].track != host[first].track || !call) {
      ++i;
      continue;
    }
    (i < first ? before : i <= last ? members : after).push_back(i);
    i = host[i].after;
  }
  if (std::ssize(before) > leading) before.erase(before.begin(), before.end() - leading);
  if (std::ssize(after) > trailing) after.resize(static_cast<size_t>(trailing));
  members.insert(members.begin(), before.begin(), before.end());
  members.insert(members.end(), after.begin(), after.end());
  return members;
}

// ------------------------------------------------------------------------------------------------------------------
// units

bool RunMatcher::expected(const KnownProgram& program, std::uint32_t name) const {
  const auto [it, fresh] = expected_.try_emplace({program.record.id, name}, false);
  if (fresh)
    it->second = std::any_of(program.launches.begin(), program.launches.end(),
                             [&](const ExpectedLaunch& l) { return fits(tree_.names()[name], l); });
  return it->second;
}

/// Whether something inside an operator is what the program calls, though the operator itself is not.
bool RunMatcher::may_hold_launches(const KnownProgram& program, std::uint32_t event) const {
  const auto& host = tree_.host();
  for (std::uint32_t i = event + 1; i < host[event].after; ++i)
    if (host[i].kind == EventTree::Kind::Operator && expected(program, host[i].name)) return true;
  return false;
}

void RunMatcher::find_units(int r) {
  Region& region = regions_[static_cast<size_t>(r)];
  if (region.program < 0) return;
  const KnownProgram& program = programs_.all()[static_cast<size_t>(region.program)];
  const auto& host = tree_.host();
  const auto walk = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end;) {
      if (region_of_[i] != r && region.members.empty()) {
        i = host[i].after;  // of a region inside this one
        continue;
      }
      const EventTree::Host& h = host[i];
      if (roles_[h.name].role == Role::Compiling) {
        i = h.after;  // what the compiler runs to learn shapes or to compare kernels is no launch
        continue;
      }
      const bool wanted = h.kind == EventTree::Kind::Operator && expected(program, h.name);
      const bool open = h.kind == EventTree::Kind::Annotation ||
                        (h.kind == EventTree::Kind::Operator && !wanted && may_hold_launches(program, i));
      if (open) {
        ++i;
        continue;
      }
      if (h.kind == EventTree::Kind::Runtime) {
        const auto devices = tree_.launched(i);
        const bool graph = is_graph_launch(tree_.name(h));
        region.graph |= graph;
        for (const EventTree::Device& d : devices) {
          add_unit({i, static_cast<int>(&d - tree_.device().data()), r, -1, false, !graph});
          if (!graph) break;
        }
      } else {
        add_unit({i, -1, r, -1, false, false});
      }
      i = h.after;
    }
  };
  if (region.members.empty()) {
    walk(region.event + 1, host[region.event].after);
  } else {
    for (std::uint32_t member : region.members) walk(member, host[member].after);
  }
}

void RunMatcher::align_region(int r, size_t first) {
  const Region& region = regions_[static_cast<size_t>(r)];
  if (region.program < 0) return;
  const KnownProgram& program = programs_.all()[static_cast<size_t>(region.program)];
  const auto& host = tree_.host();
  // A kernel that is launched both by its operator and without one: the latter are trials of its configurations.
  std::set<std::uint32_t> named;
  for (size_t u = first; u < units_.size(); ++u)
    if (units_[u].device < 0) named.insert(host[units_[u].event].name);
  std::vector<Observed> observed;
  std::vector<std::uint64_t> signature;
  std::vector<size_t> place;
  for (size_t u = first; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    const std::uint32_t name =
        unit.device < 0 ? host[unit.event].name : tree_.device()[static_cast<size_t>(unit.device)].name;
    if (unit.direct && named.contains(name)) continue;
    bool work = unit.device >= 0;
    for (std::uint32_t i = unit.event; !work && i < host[unit.event].after; ++i) work = !tree_.launched(i).empty();
    const bool replayed = unit.device >= 0 && !unit.direct;
    observed.push_back({tree_.names()[name], replayed, work, unit.direct});
    signature.push_back(std::uint64_t{name} * 8 + (unit.direct ? 4 : 0) + (replayed ? 2 : 0) + (work ? 1 : 0));
    place.push_back(u);
  }
  const auto [it, fresh] = alignments_.try_emplace({region.program, std::move(signature)});
  if (fresh) it->second = align(observed, program.launches);
  for (size_t k = 0; k < place.size(); ++k) {
    Unit& unit = units_[place[k]];
    unit.launch = it->second[k].launch;
    unit.exact = it->second[k].exact && region.exact;
    const auto index = static_cast<std::int32_t>(place[k]);
    if (unit.device >= 0 && !unit.direct) {
      unit_of_device_[static_cast<size_t>(unit.device)] = index;
    } else {
      for (std::uint32_t i = unit.event; i < host[unit.event].after; ++i) unit_of_[i] = index;
    }
    if (!region.members.empty() && unit.launch >= 0)
      for (std::uint32_t i = unit.event; i < host[unit.event].after; ++i) region_of_[i] = r;
  }
}

// ------------------------------------------------------------------------------------------------------------------
// totals

RunMatcher::Verdict RunMatcher::judge_host(std::uint32_t launcher) const {
  Verdict v;
  if (launcher == EventTree::kNoEvent) return v;
  v.region = region_of_[launcher];
  v.unit = unit_of_[launcher];
  if (v.unit >= 0 && units_[static_cast<size_t>(v.unit)].launch >= 0) {
    v.part = TimePart::Matched;
    v.region = units_[static_cast<size_t>(v.unit)].region;
    return v;
  }
  if (while_compiling(launcher)) {
    v.part = TimePart::Compiling;
    return v;
  }
  if (v.region >= 0) {
    const Region& region = regions_[static_cast<size_t>(v.region)];
    v.part = TimePart::Unmatched;
    v.why = region.program < 0 ? region.why : "no call of the program is left for it";
    if (region.graph && v.unit >= 0 && copies(tree_.name(tree_.host()[units_[static_cast<size_t>(v.unit)].event]))) {
      v.part = TimePart::DataMovement;
      v.why = "inputs copied to where a CUDA graph reads them";
    }
    return v;
  }
  bool wrapper = false;
  for (std::uint32_t at = launcher; at != EventTree::kNoEvent; at = tree_.host()[at].parent) {
    const Role role = roles_[tree_.host()[at].name].role;
    if (role == Role::Optimizer) v.part = TimePart::Optimizer;
    wrapper |= role == Role::Forward || role == Role::Backward;
  }
  if (wrapper && v.part == TimePart::Eager) {
    v.part = TimePart::Unmatched;
    v.why = "around the program: the compiled function's own inputs and outputs";
  }
  return v;
}

RunMatcher::Verdict RunMatcher::judge(const EventTree::Device& device, size_t index) const {
  if (const std::int32_t u = unit_of_device_[index]; u >= 0) {
    const Unit& unit = units_[static_cast<size_t>(u)];
    if (unit.launch >= 0) return {TimePart::Matched, "", unit.region, u};
    return {TimePart::Unmatched, "in a CUDA graph, between several library calls", unit.region, -1};
  }
  Verdict v = judge_host(device.launcher);
  if (v.part == TimePart::Matched) return v;
  if (v.part == TimePart::Unmatched || v.part == TimePart::Compiling) {
    // A kernel of the program that the alignment did not take was run to measure it.
    const Region* region = v.region >= 0 ? &regions_[static_cast<size_t>(v.region)] : nullptr;
    if (region && region->program >= 0 &&
        std::any_of(programs_.all()[static_cast<size_t>(region->program)].launches.begin(),
                    programs_.all()[static_cast<size_t>(region->program)].launches.end(),
                    [&](const ExpectedLaunch& l) { return !l.library && fits(tree_.name(device), l); }))
      return {TimePart::Autotuning, "", v.region, -1};
    return v;
  }
  if (device.copy && v.part == TimePart::Eager) v.part = TimePart::DataMovement;
  if (v.part == TimePart::Eager && device.launcher == EventTree::kNoEvent) v.why = "its launch is not in the profile";
  return v;
}

trace::EventMatch RunMatcher::match_of(trace::Id event, const Verdict& v) const {
  trace::EventMatch m;
  m.event = event;
  if (v.region < 0) return m;
  const Region& region = regions_[static_cast<size_t>(v.region)];
  m.compile = region.compile;
  if (region.program < 0) {
    m.match = region.compile == trace::kNone ? trace::Match::None : trace::Match::Inferred;
    return m;
  }
  const KnownProgram& program = programs_.all()[static_cast<size_t>(region.program)];
  m.program = program.record.id;
  m.match = region.exact ? trace::Match::Exact : trace::Match::Inferred;
  if (v.part != TimePart::Matched || v.unit < 0) return m;
  const Unit& unit = units_[static_cast<size_t>(v.unit)];
  const ExpectedLaunch& launch = program.launches[static_cast<size_t>(unit.launch)];
  m.launch = launch.launch;
  m.kernel = launch.kernel;
  m.match = unit.exact ? trace::Match::Exact : trace::Match::Inferred;
  return m;
}

void RunMatcher::count(const Verdict& v, std::uint32_t name, std::int64_t ns) {
  PartTotal& part = result_.parts[static_cast<int>(v.part)];
  ++part.count;
  part.ns += ns;
  const int program = v.region < 0 ? -1 : regions_[static_cast<size_t>(v.region)].program;
  if (v.part == TimePart::Matched) {
    const Unit& unit = units_[static_cast<size_t>(v.unit)];
    ProgramMeasured& m = measured_[program];
    const ExpectedLaunch& launch =
        programs_.all()[static_cast<size_t>(program)].launches[static_cast<size_t>(unit.launch)];
    PartTotal& total = unit.exact ? m.exact : m.inferred;
    ++total.count;
    total.ns += ns;
    result_.without_nodes.count += launch.nodes ? 0 : 1;
    result_.without_nodes.ns += launch.nodes ? 0 : ns;
    kernel_times_[program][launch.kernel] += ns;
    return;
  }
  PartTotal& total = unassigned_[{v.part, name, v.why}];
  ++total.count;
  total.ns += ns;
  if (program >= 0 && v.part == TimePart::Unmatched) {
    ++measured_[program].unmatched.count;
    measured_[program].unmatched.ns += ns;
  }
}

void RunMatcher::total_device() {
  const auto& devices = tree_.device();
  for (size_t i = 0; i < devices.size(); ++i) {
    const Verdict v = judge(devices[i], i);
    count(v, devices[i].name, devices[i].duration);
    if (v.region >= 0) emit(match_of(devices[i].id, v));
  }
}

/// Without devices: the operators that are not part of another. What only holds compiled code is no work of its own.
void RunMatcher::total_host() {
  const auto& host = tree_.host();
  std::vector<bool> holds(host.size(), false);
  for (const Region& r : regions_)
    for (std::uint32_t at = r.event; at != EventTree::kNoEvent; at = host[at].parent) holds[at] = true;
  for (const Unit& u : units_)
    for (std::uint32_t at = host[u.event].parent; at != EventTree::kNoEvent && !holds[at]; at = host[at].parent)
      holds[at] = true;
  for (std::uint32_t i = 0; i < host.size();) {
    const Role role = roles_[host[i].name].role;
    const bool container = host[i].kind != EventTree::Kind::Operator || role == Role::Compiled ||
                           role == Role::Forward || role == Role::Backward || role == Role::Overhead ||
                           (holds[i] && unit_of_[i] < 0);
    if (container) {
      ++i;
      continue;
    }
    const Verdict v = judge_host(i);
    count(v, host[i].name, host[i].end - host[i].start);
    i = host[i].after;
  }
}

void RunMatcher::emit(const trace::EventMatch& match) {
  matches_.push_back(match);
  if (matches_.size() >= 8192) flush();
}

void RunMatcher::flush() {
  if (sink_ && !matches_.empty()) sink_(matches_);
  matches_.clear();
}

/// Host events of compiled code get their compile and program, those that make a launch also that.
void RunMatcher::emit_host_matches() {
  const auto& host = tree_.host();
  for (std::uint32_t i = 0; i < host.size(); ++i) {
    const std::int32_t r = region_of_[i];
    if (r < 0) {
      const Name& name = roles_[host[i].name];
      if (name.role != Role::Compiled) continue;
      const trace::Id compile = compile_around(i);
      if (compile != trace::kNone)
        emit({host[i].id, compile, trace::kNone, trace::kNone, trace::kNone, trace::Match::Exact});
      continue;
    }
    Verdict v;
    v.region = r;
    v.unit = unit_of_[i];
    if (v.unit >= 0) {
      const Unit& unit = units_[static_cast<size_t>(v.unit)];
      const bool call = i == unit.event || host[i].kind == EventTree::Kind::Runtime;
      if (call && unit.launch >= 0) v.part = TimePart::Matched;
    }
    const trace::EventMatch m = match_of(host[i].id, v);
    if (m.compile != trace::kNone) emit(m);
  }
}

std::string RunMatcher::why_not_measured(const KnownProgram& p, const ProgramMeasured& m) const {
  if (m.kernels_measured == m.kernels) return "";
  const auto missing = m.kernels - m.kernels_measured;
  if (p.on_device && !result_.device) return "the profile has no device activity";
  if (!p.cpu_loops.empty())
    return fmt::format("{} of {} kernels were not profiled: C++ kernels show only when CPU kernel profiling is on",
                       missing, m.kernels);
  return fmt::format("{} of {} kernels have no event in the profile", missing, m.kernels);
}

void RunMatcher::finish_programs() {
  for (const Region& region : regions_) {
    if (region.program < 0) continue;
    ++measured_[region.program].calls;
  }
  for (const Unit& unit : units_)
    if (unit.launch >= 0) ++measured_[regions_[static_cast<size_t>(unit.region)].program].launches;
  for (auto& [index, m] : measured_) {
    if (index < 0) continue;
    const KnownProgram& p = programs_.all()[static_cast<size_t>(index)];
    m.compile = p.compile.id;
    m.program = p.record.id;
    m.address = p.title();
    m.kernels = static_cast<std::int64_t>(p.kernels.size());
    for (trace::Id kernel : p.kernels) m.kernels_measured += kernel_times_[index].contains(kernel);
    m.not_measured = why_not_measured(p, m);
    result_.programs.push_back(m);
  }
  for (const auto& [key, total] : unassigned_) {
    const auto& [part, name, why] = key;
    result_.unassigned.push_back({part, tree_.names()[name], why, total.count, total.ns});
  }
  std::stable_sort(result_.unassigned.begin(), result_.unassigned.end(),
                   [](const UnassignedEvents& a, const UnassignedEvents& b) { return a.ns > b.ns; });
}

}  // namespace strata::profiler
