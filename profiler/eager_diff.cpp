// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/eager_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "core/support/error.h"
#include "profiler/device_time.h"
#include "profiler/eager_match.h"
#include "profiler/eager_stacks.h"
#include "profiler/iterations.h"
#include "profiler/tensor_core.h"

namespace strata::profiler {
namespace {

using Kind = HostEvent::Kind;

const HostEvent& at(const Timeline& t, int i) { return t.host[static_cast<size_t>(i)]; }

EagerSide side_of(const CostItem& item) { return {item.time, item.launches, item.bytes}; }

/// A row while it is filled.
struct Gathered {
  EagerRow row;
  std::map<std::string, EagerPart> operators, before, after;
};

void count(std::map<std::string, EagerPart>& parts, std::string_view name, std::int64_t times, std::int64_t time) {
  EagerPart& part = parts[std::string(name)];
  part.name = name;
  part.count += times;
  part.time += time;
}

std::vector<EagerPart> sorted(const std::map<std::string, EagerPart>& parts) {
  std::vector<EagerPart> list;
  for (const auto& [name, part] : parts) list.push_back(part);
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  return list;
}

/// Divides a whole number by weights so that the parts add up: what rounding leaves goes to the largest first.
std::vector<std::int64_t> divide(std::int64_t total, const std::vector<std::int64_t>& weights) {
  std::int64_t sum = 0, given = 0;
  for (const std::int64_t w : weights) sum += w;
  std::vector<std::int64_t> parts;
  for (const std::int64_t w : weights) {
    parts.push_back(static_cast<std::int64_t>(static_cast<__int128>(total) * w / sum));
    given += parts.back();
  }
  std::vector<size_t> order(weights.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  for (size_t i = 0; given < total; i = (i + 1) % order.size(), ++given) ++parts[order[i]];
  return parts;
}

/// Makes the rows of one comparison.
class Comparison {
 public:
  Comparison(trace::Reader& eager, const ChosenRuns& first, trace::Reader& compiled, const ChosenRuns& second,
             EagerBy by)
      : graphs_(compiled) {
    for (const std::string& note : {first.note, second.note})
      if (!note.empty()) d_.notes.push_back(note);
    a_ = read_timeline(eager, first.runs);
    b_ = read_timeline(compiled, second.runs);
    d_.by = by;
    d_.on_device = !a_.device.empty() || !b_.device.empty();
    costs_a_ = std::make_unique<ProfileCosts>(a_, d_.on_device);
    costs_b_ = std::make_unique<ProfileCosts>(b_, d_.on_device);
  }

  EagerDiff make() {
    check();
    const Reference reference = make_reference(b_, graphs_);
    match_ = match_operators(a_, reference);
    if (d_.by != EagerBy::Kernel) stacks_ = std::make_unique<EagerStacks>(a_, b_, graphs_, match_);
    index_kernels();
    for (const CostItem& item : costs_a_->items()) add_first(item);
    for (const CostItem& item : costs_b_->items()) gather_second(item);
    place_kernels();
    totals(a_, *costs_a_, d_.first);
    totals(b_, *costs_b_, d_.second);
    d_.per_iteration = d_.first.iterations > 0 && d_.second.iterations > 0;
    add_notes(reference);
    finish_rows();
    return std::move(d_);
  }

 private:
  struct KernelPlace {
    const CompiledGraph* graph = nullptr;
    int index = -1;
    const ProgramKernel& kernel() const { return graph->kernels[static_cast<size_t>(index)]; }
  };
  /// What a kernel of the second profile took.
  struct KernelCostSum {
    EagerSide side;
    std::map<std::string, EagerPart> parts;
  };

  void check() const {
    for (const auto* costs : {costs_a_.get(), costs_b_.get()})
      if (costs->items().empty())
        throw_user(fmt::format("the {} profile has no {} in it", costs == costs_a_.get() ? "first" : "second",
                               d_.on_device ? "kernel, copy or fill of a device" : "operator"),
                   "record it with torch.profiler and the same activities as the other");
  }

  void index_kernels() {
    for (const auto& compile : graphs_.compiles()) {
      const CompiledGraph* g = graphs_.graph(compile.id);
      if (g == nullptr) continue;
      for (int i = 0; i < static_cast<int>(g->kernels.size()); ++i)
        places_[g->kernels[static_cast<size_t>(i)].record.id] = {g, i};
    }
  }

  Gathered& row(const std::string& id, const std::string& key, const std::string& kind) {
    Gathered& g = rows_[kind + '\n' + id];
    if (g.row.kind.empty()) g.row.key = key, g.row.kind = kind;
    return g;
  }
  Gathered& kernel_row(const KernelPlace& place) {
    const ProgramKernel& k = place.kernel();
    Gathered& g = row(std::to_string(k.record.id), k.record.name, k.is_library() ? "library" : "kernel");
    if (!g.row.nodes.empty() || !g.row.part_of.empty()) return g;
    g.row.address = k.address;
    g.row.kernel = k.record.id;
    g.row.role = k.role;
    for (const ComputedNode& n : k.nodes)
      if (!n.name.empty()) g.row.nodes.push_back(n.name);
    for (const CapturedCall& call : place.graph->calls)
      if (k.captured.contains(call.node) &&
          std::find(g.row.part_of.begin(), g.row.part_of.end(), call.item.name) == g.row.part_of.end())
        g.row.part_of.push_back(call.item.name);
    return g;
  }
  /// The row of a captured call, by line or module.
  Gathered& call_row(const CapturedCall& call) {
    const bool line = d_.by == EagerBy::Line;
    const std::string& key = line ? call.line : call.module;
    return key_row(key);
  }
  Gathered& key_row(const std::string& key) {
    const bool line = d_.by == EagerBy::Line;
    const char* none = line ? "(no line known)" : stacks_->any() ? "(top level)" : "(no module known)";
    return row(key, key.empty() ? none : key, line ? "line" : "module");
  }
  Gathered& plain_row(const std::string& kind) { return row("", "(" + kind + ")", kind); }

  // ---- the first profile

  /// The operator of the program behind an item: itself, or the forward one of a backward call.
  int forward_top(const ProfileCosts& costs, const CostItem& item) const {
    return item.backward ? costs.forward_of(item.top) : item.top;
  }

  Gathered& first_row(const CostItem& item) {
    if (costs_a_->in_optimizer(item)) return plain_row("optimizer");
    const int top = forward_top(*costs_a_, item);
    const auto found = match_.of.find(top);
    const bool matched = top >= 0 && found != match_.of.end();
    if (matched || !costs_a_->is_data_movement(item))
      if (Gathered* g = stack_row(item, top, matched ? found->second.call : nullptr)) return *g;
    if (matched) return matched_row(item, found->second);
    if (costs_a_->is_data_movement(item)) return plain_row("data movement");
    if (item.host < 0 || item.top < 0)
      if (!d_.on_device) return plain_row("overhead");
    return item.backward && at(a_, item.top).sequence < 0 ? plain_row("gradient accumulation")
                                                          : plain_row("not attributed");
  }

  /// The row of an operator of the program by its Python stack; null when that says nothing.
  Gathered* stack_row(const CostItem& item, int top, const CapturedCall* aligned) {
    if (!stacks_ || top < 0 || is_backward_call(at(a_, top))) return nullptr;
    const auto found = d_.by == EagerBy::Line ? stacks_->line(top, aligned) : stacks_->module(top, aligned);
    if (!found) return nullptr;
    Gathered& g = stack_row(*found);
    g.row.inferred |= !found->exact;
    if (found->exact) g.row.known += item.time;
    return &g;
  }
  Gathered& stack_row(const StackRow& r) { return r.not_compiled ? row(r.key, r.key, "not compiled") : key_row(r.key); }

  Gathered& matched_row(const CostItem& item, const ReferenceItem& r) {
    if (r.call == nullptr) return not_compiled_row(at(b_, r.host).name, item.backward);
    const CompiledGraph* g = graphs_.graph(r.call->compile);
    if (d_.by != EagerBy::Kernel) {
      Gathered& row = call_row(*r.call);
      row.row.inferred = true;
      return row;
    }
    const int k = replaced_by(*g, r.call->node, a_, *costs_a_, item);
    Gathered& row = k >= 0 ? kernel_row({g, k}) : plain_row("removed");
    row.row.inferred = true;
    return row;
  }

  Gathered& not_compiled_row(const std::string& name, bool backward) {
    const std::string key = backward ? name + " (backward)" : name;
    return row(key, key, "not compiled");
  }

  void add_first(const CostItem& item) {
    Gathered& g = first_row(item);
    g.row.first += side_of(item);
    const int top = item.top >= 0 ? item.top : item.host;
    // How often an operator ran is counted by the first of its parts only.
    const bool again = !counted_.insert(top).second && top >= 0;
    if (top >= 0) count(g.operators, operator_text(top), again ? 0 : 1, item.time);
    count(g.before, item.name, 1, item.time);
  }

  std::string operator_text(int top) const {
    const std::string& name = at(a_, top).name;
    constexpr std::string_view engine = "autograd::engine::evaluate_function: ";
    return starts_with(name, engine) ? name.substr(engine.size()) : name;
  }

  // ---- the second profile

  /// The compiled kernel that an item belongs to; kNone none.
  trace::Id kernel_of(const CostItem& item) const {
    if (item.device >= 0) {
      const DeviceEvent& e = b_.device[static_cast<size_t>(item.device)];
      if (e.kernel != trace::kNone) return e.kernel;
    }
    for (int i = item.host; i >= 0; i = at(b_, i).parent)
      if (at(b_, i).kernel != trace::kNone) return at(b_, i).kernel;
    return trace::kNone;
  }

  bool in_compiled_region(const CostItem& item) const {
    for (int i = item.host; i >= 0; i = at(b_, i).parent)
      if (starts_with(at(b_, i).name, "## Call CompiledFxGraph") ||
          starts_with(at(b_, i).name, "Torch-Compiled Region"))
        return true;
    return false;
  }

  void gather_second(const CostItem& item) {
    const trace::Id kernel = kernel_of(item);
    if (places_.contains(kernel)) {
      KernelCostSum& sum = kernel_sums_[kernel];
      sum.side += side_of(item);
      count(sum.parts, item.name, item.launches, item.time);
      return;
    }
    Gathered& g = second_row(item);
    g.row.second += side_of(item);
    count(g.after, item.name, 1, item.time);
  }

  Gathered& second_row(const CostItem& item) {
    if (costs_b_->in_optimizer(item)) return plain_row("optimizer");
    if (in_compiled_region(item)) {
      const bool real = item.host >= 0 && is_real_operator(at(b_, item.host));
      return d_.on_device || real ? plain_row("not attributed") : generated_row(item);
    }
    if (costs_b_->is_data_movement(item)) return plain_row("data movement");
    if (!d_.on_device && item.top < 0) return plain_row("overhead");
    if (item.backward && at(b_, item.top).name.ends_with("CompiledFunctionBackward"))
      return plain_row(d_.on_device ? "not attributed" : "overhead");
    const int top = forward_top(*costs_b_, item);
    if (top >= 0 && !is_backward_call(at(b_, top))) {
      const auto line = stacks_ && d_.by == EagerBy::Line ? stacks_->line_of_compiled(top) : std::nullopt;
      return line ? stack_row(*line) : not_compiled_row(at(b_, top).name, item.backward);
    }
    return item.backward && at(b_, item.top).sequence < 0 ? plain_row("gradient accumulation")
                                                          : plain_row("not attributed");
  }

  /// Own time of a call of a compiled graph: its wrapper, and the kernels if they are not profiled.
  Gathered& generated_row(const CostItem& item) {
    if (!starts_with(item.name, "## Call") || loops_measured()) return plain_row("overhead");
    return row("own code", "(own code of compiled graphs, kernels among it)", "overhead");
  }

  /// Whether the second profile shows generated kernels of the CPU.
  bool loops_measured() {
    if (!loops_measured_) {
      loops_measured_ = false;
      for (const HostEvent& e : b_.host)
        if (const auto place = places_.find(e.kernel); place != places_.end() && !place->second.kernel().is_library())
          loops_measured_ = true;
    }
    return *loops_measured_;
  }

  /// Puts what each kernel took into its row, or among the rows of its calls.
  void place_kernels() {
    for (const auto& [id, place] : places_) {
      const auto sum = kernel_sums_.find(id);
      const bool used = sum != kernel_sums_.end();
      if (d_.by != EagerBy::Kernel) {
        if (used) divide_kernel(place, sum->second);
        continue;
      }
      const std::string at_row = (place.kernel().is_library() ? "library\n" : "kernel\n") + std::to_string(id);
      if (!used && !rows_.contains(at_row)) continue;
      Gathered& g = kernel_row(place);
      if (used) g.row.second += sum->second.side, add_parts(g.after, sum->second.parts);
      g.row.not_measured = !used;
      g.row.inferred |= !place.kernel().record.exact;
    }
  }

  static void add_parts(std::map<std::string, EagerPart>& to, const std::map<std::string, EagerPart>& from) {
    for (const auto& [name, part] : from) count(to, name, part.count, part.time);
  }

  void divide_kernel(const KernelPlace& place, const KernelCostSum& sum) {
    const ProgramKernel& k = place.kernel();
    std::map<Gathered*, std::int64_t> weights;  // rows live in a map: addresses stay
    std::vector<std::pair<Gathered*, std::int64_t>> shares;
    for (const auto& [node, weight] : k.captured) {
      const auto found = place.graph->call_of.find(node);
      if (found == place.graph->call_of.end()) continue;
      Gathered* g = &call_row(place.graph->calls[found->second]);
      const auto [it, first] = weights.try_emplace(g, static_cast<std::int64_t>(shares.size()));
      if (first) shares.emplace_back(g, 0);
      shares[static_cast<size_t>(it->second)].second += weight;
    }
    if (shares.empty()) shares.emplace_back(&plain_row("not attributed"), 1);
    std::vector<std::int64_t> by;
    for (const auto& share : shares) by.push_back(share.second);
    const auto time = divide(sum.side.time, by), bytes = divide(sum.side.bytes, by);
    // A launch cannot be divided: it counts for the line that most of the kernel came from.
    const auto most = static_cast<size_t>(std::max_element(by.begin(), by.end()) - by.begin());
    for (size_t i = 0; i < shares.size(); ++i) {
      Gathered& g = *shares[i].first;
      g.row.second += {time[i], i == most ? sum.side.launches : 0, bytes[i]};
      count(g.after, k.record.name, i == most ? sum.side.launches : 0, time[i]);
      g.row.divided |= !k.record.exact || shares.size() > 1;
    }
  }

  // ---- the whole

  static std::int64_t lower_median(std::vector<std::int64_t> values) {
    if (values.empty()) return -1;
    std::sort(values.begin(), values.end());
    return values[(values.size() - 1) / 2];
  }

  static void totals(const Timeline& t, const ProfileCosts& costs, EagerTotals& out) {
    for (const CostItem& item : costs.items()) {
      out.all += side_of(item);
      out.bytes_known |= item.bytes_known;
    }
    out.iterations = static_cast<std::int64_t>(t.iterations.size());
    out.iteration_source = t.iteration_source;
    std::vector<std::int64_t> steps;
    for (const Iteration& it : t.iterations) steps.push_back(it.duration);
    out.step = lower_median(std::move(steps));
    for (const HostEvent& e : t.host)
      if (e.kind == Kind::Runtime && is_launch_call(e.name)) ++out.launch_calls, out.launch_time += e.duration;
    device_totals(t, out);
  }

  static void device_totals(const Timeline& t, EagerTotals& out) {
    std::map<std::int64_t, std::vector<Interval>> activity;
    for (const DeviceEvent& e : t.device) {
      activity[e.device].push_back({e.start, e.duration});
      if (e.category != "kernel") continue;
      const TensorCoreUse use = tensor_core_use(e.name);
      (use == TensorCoreUse::Yes  ? out.tensor_core
       : use == TensorCoreUse::No ? out.no_tensor_core
                                  : out.tensor_core_unknown) += e.duration;
    }
    for (auto& [device, intervals] : activity) {
      const DeviceIdle idle = device_idle(std::move(intervals), 1);
      out.device_span += idle.span, out.device_busy += idle.busy, out.device_idle += idle.idle;
      out.gaps += static_cast<std::int64_t>(idle.gaps);
      if (!idle.longest.empty()) out.longest_gap = std::max(out.longest_gap, idle.longest.front().duration);
    }
  }

  void add_notes(const Reference& reference) {
    for (const auto* side : {&d_.first, &d_.second})
      if (side->iterations == 0)
        d_.notes.push_back(
            fmt::format("the {} profile shows no iterations (ProfilerStep, a repeated annotation, "
                        "Optimizer.step or repeated operators): totals are compared",
                        side == &d_.first ? "first" : "second"));
    if (a_.device.empty() != b_.device.empty())
      d_.notes.push_back("only one of the profiles has device events: they do not show the same thing");
    if (places_.empty())
      d_.notes.push_back(
          "the second trace has no captured graph: import it together with its TORCH_TRACE log to see "
          "which operators each kernel replaced");
    else if (reference.assumed)
      d_.notes.push_back("the second profile does not say which graphs ran: all are assumed to, as compiled");
    if (match_.unmatched > 0 && !places_.empty())
      d_.notes.push_back(fmt::format("{} of {} operators of the first profile are in no compiled graph",
                                     match_.unmatched, match_.matched + match_.unmatched));
  }

  void finish_rows() {
    bool unmeasured = false;
    for (auto& [id, g] : rows_) {
      g.row.operators = sorted(g.operators);
      g.row.before = sorted(g.before);
      g.row.after = sorted(g.after);
      unmeasured |= g.row.not_measured;
      d_.rows.push_back(std::move(g.row));
    }
    if (unmeasured && !d_.on_device)
      d_.notes.push_back(
          "compiled kernels on the CPU were not measured: they show only when cpp.enable_kernel_profile "
          "is set in Inductor's configuration (`strata capture` does)");
    const auto longer = [this](const EagerRow& r) {
      return std::max(d_.per(d_.first, r.first.time), d_.per(d_.second, r.second.time));
    };
    std::stable_sort(d_.rows.begin(), d_.rows.end(),
                     [&](const EagerRow& a, const EagerRow& b) { return longer(a) > longer(b); });
  }

  EagerDiff d_;
  Timeline a_, b_;
  CompiledGraphs graphs_;
  std::unique_ptr<ProfileCosts> costs_a_, costs_b_;
  EagerMatch match_;
  std::unique_ptr<EagerStacks> stacks_;  ///< not by kernel
  std::map<trace::Id, KernelPlace> places_;
  std::map<trace::Id, KernelCostSum> kernel_sums_;
  std::map<std::string, Gathered> rows_;
  std::set<int> counted_;
  std::optional<bool> loops_measured_;
};

}  // namespace

EagerBy parse_eager_by(std::string_view word) {
  if (word == "kernel") return EagerBy::Kernel;
  if (word == "line") return EagerBy::Line;
  if (word == "module") return EagerBy::Module;
  throw_user(fmt::format("'{}' is not something to compare by", word), "valid are kernel, line and module");
}

EagerSide& EagerSide::operator+=(const EagerSide& other) {
  time += other.time;
  launches += other.launches;
  bytes += other.bytes;
  return *this;
}

double EagerDiff::per(const EagerTotals& side, std::int64_t total) const {
  const auto value = static_cast<double>(total);
  return per_iteration ? value / static_cast<double>(side.iterations) : value;
}

double EagerDiff::slower_percent() const {
  const bool steps = per_iteration && first.step > 0 && second.step > 0;
  const double a = steps ? static_cast<double>(first.step) : per(first, first.all.time);
  const double b = steps ? static_cast<double>(second.step) : per(second, second.all.time);
  return a > 0 ? (b / a - 1) * 100 : 0;
}

EagerDiff diff_eager(trace::Reader& eager, trace::Reader& compiled, EagerBy by) {
  for (auto* reader : {&eager, &compiled})
    if (!has_profile(*reader))
      throw_user(fmt::format("'{}' has no imported profile", reader->path().string()),
                 "import a torch.profiler trace (`strata import PROFILE.json`)");
  return Comparison(eager, choose_runs(eager, false), compiled, choose_runs(compiled, true), by).make();
}

EagerDiff diff_eager(trace::Reader& eager, const std::vector<trace::RunRecord>& eager_runs, trace::Reader& compiled,
                     const std::vector<trace::RunRecord>& compiled_runs, EagerBy by) {
  return Comparison(eager, {eager_runs, {}}, compiled, {compiled_runs, {}}, by).make();
}

}  // namespace strata::profiler
