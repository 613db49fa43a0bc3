// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/tune_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "codegen/kernel_key.h"
#include "codegen/loop_fingerprint.h"
#include "codegen/loop_jit.h"
#include "codegen/loop_plan.h"
#include "core/runtime/parallel.h"

namespace strata::codegen {
namespace {

constexpr int64_t kOneThread = int64_t{1} << 40;  // outer points per task

const ShapeEnv* environment_of(const loop::Kernel& k) {
  const ShapeEnv* env = nullptr;
  const auto look = [&](const SymInt& e) {
    if (!env && !e.is_const()) env = e.env();
  };
  for (const loop::Axis& a : k.axes) look(a.extent);
  for (const loop::Buffer& b : k.buffers) look(b.numel);
  for (const loop::Scalar& s : k.scalars) look(s.index);
  for (const loop::Nest& nest : k.nests)
    for (const loop::Store& s : nest.stores) look(s.index);
  return env;
}

/// Hints for the sizes that the kernel needs; nothing if one has none.
std::optional<SymBindings> hints_of(const loop::Kernel& k) {
  SymBindings out;
  const ShapeEnv* env = environment_of(k);
  for (size_t id : k.symbols) {
    if (!env || id >= env->symbol_count() || !env->info(id).hint) return std::nullopt;
    if (out.size() <= id) out.resize(id + 1);
    out[id] = *env->info(id).hint;
  }
  return out;
}

/// Whether made-up integers, which are 0, pass the kernel's checks of data.
bool can_make_up(const loop::Kernel& k, const SymBindings& symbols) {
  return std::none_of(k.checks.begin(), k.checks.end(), [&](const loop::Check& c) {
    return c.kind == loop::Check::Kind::Divisor || evaluate(c.size, symbols).value_or(0) < 1;
  });
}

/// What the schedule says, for people.
std::string text_of(const loop::Kernel& k, const loop::Schedule& s) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (s.vector_axis >= 0) add("lanes along " + k.axes.at(static_cast<size_t>(s.vector_axis)).name);
  if (s.vector_width > 0) add(fmt::format("{} lanes", s.vector_width));
  if (s.unroll > 0) add(fmt::format("unroll {}", s.unroll));
  if (s.grain >= kOneThread) add("one thread");
  return text.empty() ? "default" : text;
}

class LoopTuner {
 public:
  LoopTuner(const loop::Kernel& kernel, const Target& target, const CompileOptions& options, SymBindings symbols)
      : kernel_(kernel),
        target_(target),
        options_(options),
        symbols_(std::move(symbols)),
        threads_(options.threads > 0 ? options.threads : thread_count()) {}

  /// Nothing if the buffers cannot be made up.
  std::optional<TuningRecord> run() {
    if (!make_buffers()) return std::nullopt;
    try_all({kernel_.schedule});
    try_all(with_axes());
    try_all(with_widths());
    try_all(with_unrolling());
    if (threads_ > 1) try_all({with([](loop::Schedule& s) { s.grain = kOneThread; })});
    candidates_[chosen_].chosen = true;
    const loop::Schedule& s = best_;
    return TuningRecord{{s.vector_axis, s.vector_width, s.unroll, s.grain}, std::move(candidates_)};
  }

 private:
  bool make_buffers() {
    int64_t total = 0;
    std::vector<int64_t> elements;
    for (const loop::Buffer& b : kernel_.buffers) {
      const auto n = b.role == loop::BufferRole::Local ? std::optional<int64_t>(1) : evaluate(b.numel, symbols_);
      if (!n || *n < 0 || *n > kMostMeasuredBytes) return false;
      elements.push_back(*n);
      total += *n * static_cast<int64_t>(dtype_size(b.dtype));
      if (total > kMostMeasuredBytes) return false;
    }
    for (size_t i = 0; i < elements.size(); ++i) buffers_.add(kernel_.buffers[i].dtype, elements[i]);
    return true;
  }

  template <class Change>
  loop::Schedule with(const Change& change) const {
    loop::Schedule s = best_;
    change(s);
    return s;
  }

  std::vector<loop::Schedule> with_axes() const {
    std::vector<loop::Schedule> out;
    for (size_t a = 0; a < kernel_.axes.size(); ++a) {
      const auto extent = evaluate(kernel_.axes[a].extent, symbols_);
      if (extent && *extent < 2) continue;
      out.push_back(with([&](loop::Schedule& s) { s.vector_axis = static_cast<int>(a); }));
    }
    return out;
  }

  /// Lanes that the code generator takes by itself for the best schedule so far.
  int lanes() const {
    const KernelPlan plan = plan_kernel(with_schedule(best_), target_);
    int most = plan.lanes_are_points ? plan.lanes : 1;
    for (const NestPlan& n : plan.nests) most = std::max(most, n.lanes);
    return most;
  }

  std::vector<loop::Schedule> with_widths() const {
    std::vector<loop::Schedule> out;
    const int now = lanes();
    for (int width : {now / 2, now * 2, now * 4})
      if (width >= 2 && width <= 64) out.push_back(with([&](loop::Schedule& s) { s.vector_width = width; }));
    return out;
  }

  std::vector<loop::Schedule> with_unrolling() const {
    std::vector<loop::Schedule> out;
    const int now = lanes();
    for (int unroll : {1, 2, 4, 8})
      if (unroll * now <= 128) out.push_back(with([&](loop::Schedule& s) { s.unroll = unroll; }));
    return out;
  }

  /// Measures those that give other code than all before.
  void try_all(const std::vector<loop::Schedule>& schedules) {
    std::vector<loop::Kernel> kernels;
    if (!candidates_.empty()) kernels.push_back(with_schedule(best_));  // measured again: the machine may have changed
    for (const loop::Schedule& s : schedules) {
      loop::Kernel k = with_schedule(s);
      if (is_new(k)) kernels.push_back(std::move(k));
    }
    if (kernels.size() == (candidates_.empty() ? 0 : 1)) return;
    std::vector<const loop::Kernel*> pointers;
    for (const loop::Kernel& k : kernels) pointers.push_back(&k);
    LoopJit jit(target_);
    const auto compiled = jit.compile(pointers, {options_.threads, false, true});
    std::vector<std::function<void()>> calls;
    for (const auto& c : compiled)
      calls.push_back([&, k = c.get()] { k->run({buffers_.pointers(), symbols_, threads_}); });
    keep(kernels, measure(calls, options_));
  }

  void keep(const std::vector<loop::Kernel>& kernels, const std::vector<double>& times) {
    const size_t first = candidates_.empty() ? 0 : 1;
    const size_t winner = best_of(times);
    if (first == 1) candidates_[chosen_].ns = std::min(candidates_[chosen_].ns, times[0]);
    const size_t before = candidates_.size();
    for (size_t i = first; i < kernels.size(); ++i)
      candidates_.push_back({before + i == 0 ? "default" : text_of(kernel_, kernels[i].schedule), times[i], false});
    if (winner < first) return;
    chosen_ = before + winner - first;
    best_ = kernels[winner].schedule;
  }

  loop::Kernel with_schedule(const loop::Schedule& s) const {
    loop::Kernel k = kernel_;
    k.schedule = s;
    return k;
  }

  bool is_new(const loop::Kernel& k) {
    return seen_.insert(structure_key(plan_kernel(k, target_)) + (k.schedule.grain >= kOneThread ? "1" : "")).second;
  }

  const loop::Kernel& kernel_;
  const Target& target_;
  const CompileOptions& options_;
  const SymBindings symbols_;
  const int threads_;
  MadeUpBuffers buffers_;
  loop::Schedule best_ = kernel_.schedule;
  size_t chosen_ = 0;
  std::vector<TuningCandidate> candidates_;
  std::set<std::string> seen_;
};

/// Everything that the times depend on.
std::string key_of(const loop::Kernel& k, const SymBindings& symbols, int threads) {
  std::string key = fmt::format("loop\n{} {}\n", threads, k.schedule.grain) + fingerprint(k);
  for (size_t id : k.symbols) key += fmt::format(" {}", *symbols[id]);
  for (const loop::Buffer& b : k.buffers)
    if (const auto n = evaluate(b.numel, symbols)) key += fmt::format(" {}", *n);
  return key;
}

/// Whether a record is one that this version could have written for the kernel.
bool fits(const TuningRecord& r, const loop::Kernel& k) {
  return r.choice.size() == 4 && r.choice[0] >= -1 && r.choice[0] < static_cast<int64_t>(k.axes.size()) &&
         r.choice[1] >= 0 && r.choice[1] <= 64 && r.choice[2] >= 0 && r.choice[2] <= 8 && r.choice[3] >= 0 &&
         !r.candidates.empty();
}

TunedLoop as_tuned(const TuningRecord& record, const loop::Kernel& k, bool measured) {
  TunedLoop out{k.schedule, record.candidates, measured};
  out.schedule.vector_axis = static_cast<int>(record.choice[0]);
  out.schedule.vector_width = static_cast<int>(record.choice[1]);
  out.schedule.unroll = static_cast<int>(record.choice[2]);
  out.schedule.grain = record.choice[3];
  return out;
}

}  // namespace

std::vector<TunedLoop> tune_loops(std::span<const loop::Kernel* const> kernels, const Target& target,
                                  const CompileOptions& options, const ObjectCache& cache) {
  const int threads = options.threads > 0 ? options.threads : thread_count();
  std::vector<TunedLoop> out;
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const loop::Kernel& k = *kernels[i];
    out.push_back({k.schedule, {}, false});
    const std::optional<SymBindings> symbols = hints_of(k);
    if (!symbols || !can_make_up(k, *symbols)) continue;
    const std::string key = key_of(k, *symbols, threads);
    if (const auto [twin, fresh] = known.emplace(key, i); !fresh) {
      out[i].candidates = out[twin->second].candidates;
      out[i].schedule = out[twin->second].schedule;
      continue;
    }
    std::optional<TuningRecord> record;
    if (is_portable(key)) record = load_tuning(cache, key, target);
    const bool loaded = record && fits(*record, k);
    if (!loaded) {
      if (options.progress) options.progress(fmt::format("measuring {} ({} of {})", k.name, i + 1, kernels.size()));
      record = LoopTuner(k, target, options, *symbols).run();
      if (record && is_portable(key)) store_tuning(cache, key, target, *record);
    }
    if (record) out[i] = as_tuned(*record, k, !loaded);
  }
  return out;
}

}  // namespace strata::codegen
