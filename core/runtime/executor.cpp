// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// The executor keeps one `Layout` per binding of the size symbols: every pointer that a launch needs is there, so that
/// a call whose sizes are known only fills in the addresses of its inputs and outputs and walks the launches.
///
/// Sizes that only the data tells cut the launches into *stages*: a stage ends with the launch that computes such a
/// size. Each stage has layouts and an arena of its own; a buffer belongs to the stage that uses it first. A plan
/// without such sizes is one stage.

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/runtime/generator.h"
#include "core/runtime/parallel.h"
#include "core/runtime/plan.h"
#include "core/runtime/result_memory.h"
#include "core/runtime/run_layout.h"
#include "core/support/error.h"
#include "core/support/huge_pages.h"

namespace strata {
namespace {

constexpr size_t kLayouts = 32;

int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);  // what std::chrono::steady_clock reads, through the vDSO
  return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
}

bool same_layout(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides;
}

/// Whether a run is part of another: a body of control flow.
class RunDepth {
 public:
  RunDepth() { ++runs; }
  ~RunDepth() { --runs; }
  RunDepth(const RunDepth&) = delete;
  RunDepth& operator=(const RunDepth&) = delete;
  bool outermost() const { return runs == 1; }

 private:
  static thread_local int runs;
};
thread_local int RunDepth::runs = 0;

/// Strides agree wherever a dimension has more than one element.
bool strides_match(const Tensor& t, const std::vector<int64_t>& strides) {
  for (size_t d = 0; d < t.rank(); ++d) {
    if (t.shape[d] == 0) return true;
    if (t.shape[d] > 1 && t.strides[d] != strides[d]) return false;
  }
  return true;
}

int64_t extent_of(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  int64_t last = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return 0;
    last += (shape[d] - 1) * strides[d];
  }
  return last + 1;
}

/// Of all buffers of about the same size: within a quarter.
bool similar_sizes(const Layout& a, const Layout& b) {
  const auto total = [](const Layout& l) { return std::accumulate(l.bytes.begin(), l.bytes.end(), 0.0); };
  const double of_a = total(a), of_b = total(b);
  return std::max(of_a, of_b) <= 1.25 * std::min(of_a, of_b);
}

/// STRATA_MEASURE_THREADS=0: all launches have all threads.
bool measures_threads() {
  const char* text = std::getenv("STRATA_MEASURE_THREADS");
  return !text || std::string_view(text) != "0";
}

int64_t bytes_of(DType dtype, int64_t elements) { return elements * static_cast<int64_t>(dtype_size(dtype)); }

/// At the end of a run nothing of the caller's is kept, whatever has happened.
struct Release {
  std::vector<Tensor>& held;
  ~Release() {
    for (Tensor& t : held) t.storage.reset();
  }
};

std::string normalised(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace

struct Executor::Impl {
  Impl(std::shared_ptr<const Plan> the_plan, std::vector<std::unique_ptr<CompiledKernel>> the_kernels, int the_threads);

  void check_plan() const;
  int mutated_buffer(const PlanMutation& m) const;

  void select(const std::vector<Tensor>& inputs);
  void select_next(Stage& stage, const Stage& before);
  void use_layout(Stage& stage, SymBindings symbols, const Layout* before);
  bool same_as_before(const std::vector<Tensor>& inputs) const;
  void remember(const std::vector<Tensor>& inputs);
  static void grow_arena(Stage& stage);
  void fill_static(Stage& stage) const;

  void run(const std::vector<Tensor>& given, std::vector<Tensor>& results);
  void run_real(const std::vector<Tensor>& inputs, std::vector<Tensor>& results);
  std::vector<Tensor> in_pairs(const std::vector<Tensor>& given) const;
  void run_stage(Stage& stage);
  void take_inputs(const std::vector<Tensor>& inputs);
  void allocate_outputs(const Stage& stage);
  void fill_pointers(Stage& stage);
  template <bool timed>
  void launch_all(Stage& stage);
  void launch(Stage& stage);
  void observe(const Stage& stage, size_t launch) const;
  std::byte* address(int buffer) const;
  std::shared_ptr<Storage> memory(ResultMemory& kept, int64_t bytes) const;
  void set_output(size_t i, Tensor& t);
  void write_back(const std::vector<Tensor>& inputs);
  void finish(const std::vector<Tensor>& inputs, std::vector<Tensor>& results);

  std::shared_ptr<const Plan> plan;
  std::vector<std::unique_ptr<CompiledKernel>> kernels;
  std::vector<ScratchUser*> scratch_users;  // per launch; null for kernels that need none
  int threads;
  InputBinder binder;
  StagePlanner planner;
  std::vector<std::pair<int, int>> mutations;  // output, buffer
  std::vector<bool> output_is_mutation;

  std::vector<Stage> stages;
  const Layout* layout = nullptr;   // of the last stage that ran: complete after a run
  std::vector<Tensor> last_inputs;  // dtype, shape and strides only
  std::vector<int64_t> last_sizes;  // values of inputs that are sizes
  std::vector<Tensor> held;      // per buffer: the output tensor of this call, or a copy of an input in other strides
  std::vector<std::byte*> base;  // per buffer, of this call

  std::vector<int64_t> offsets;  // as last asked for

  bool prepared = false;
  std::vector<ResultMemory> of_buffers, of_outputs;                   // where prepared
  std::vector<Tensor> written;                                        // values of mutations, during a call
  Tensor source{DType::F32, {}, {}, 0, std::make_shared<Storage>()};  // what a result is copied from

  bool timing = false;
  std::vector<LaunchTime> times;
  std::vector<int64_t> durations;
  std::function<void(size_t, int, const Tensor&)> observer;
};

Executor::Impl::Impl(std::shared_ptr<const Plan> the_plan, std::vector<std::unique_ptr<CompiledKernel>> the_kernels,
                     int the_threads)
    : plan(std::move(the_plan)),
      kernels(std::move(the_kernels)),
      threads(the_threads > 0 ? the_threads : thread_count()),
      binder(*plan),
      planner(*plan, binder, scratch_users, threads) {
  check_plan();
  for (const auto& kernel : kernels) {
    scratch_users.push_back(dynamic_cast<ScratchUser*>(kernel.get()));
    if (scratch_users.back()) scratch_users.back()->expect_scratch();
  }
  stages = planner.make_stages();
  held.resize(plan->buffers.size());
  base.resize(plan->buffers.size());
  of_buffers.resize(plan->buffers.size());
  of_outputs.resize(plan->outputs.size());
  output_is_mutation.resize(plan->outputs.size());
  for (const PlanMutation& m : plan->mutations) {
    mutations.emplace_back(m.output, mutated_buffer(m));
    output_is_mutation[m.output] = true;
  }
}

void Executor::Impl::check_plan() const {
  const auto count = static_cast<int>(plan->buffers.size());
  if (kernels.size() != plan->launches.size()) {
    throw_internal("plan of " + std::to_string(plan->launches.size()) + " launches with " +
                   std::to_string(kernels.size()) + " kernels");
  }
  for (const Launch& l : plan->launches) {
    for (int b : l.buffers) {
      if (b < 0 || b >= count)
        throw_internal("launch " + l.name + " names buffer " + std::to_string(b) + " of " + std::to_string(count));
    }
  }
  for (const PlanBuffer& b : plan->buffers) {
    if (b.kind == PlanBuffer::Kind::Constant && !b.constant.defined())
      throw_internal("constant buffer " + b.name + " has no value");
    if (b.kind != PlanBuffer::Kind::Input) continue;
    if (b.input < 0 || static_cast<size_t>(b.input) >= plan->inputs.size())
      throw_internal("buffer " + b.name + " names no input");
  }
  for (const PlanOutput& o : plan->outputs) {
    if (o.buffer >= count)
      throw_internal("an output names buffer " + std::to_string(o.buffer) + " of " + std::to_string(count));
  }
  for (const PlanMutation& m : plan->mutations) {
    if (m.output < 0 || static_cast<size_t>(m.output) >= plan->outputs.size())
      throw_internal("mutation of " + m.spec.target + " has no output");
  }
  for (const PlanSize& s : plan->sizes) {
    if (s.buffer < 0 || s.buffer >= count || s.after >= static_cast<int>(plan->launches.size()))
      throw_internal("the size " + s.size.str() + " is read from buffer " + std::to_string(s.buffer) + " of " +
                     std::to_string(count));
  }
}

int Executor::Impl::mutated_buffer(const PlanMutation& m) const {
  int found = m.buffer;
  const std::string wanted = normalised(m.spec.target);
  for (size_t i = 0; i < plan->buffers.size() && found < 0; ++i) {
    const PlanBuffer& b = plan->buffers[i];
    if (b.kind != PlanBuffer::Kind::Input && b.kind != PlanBuffer::Kind::Constant) continue;
    if (b.name == m.spec.target || normalised(b.name) == wanted || b.name == "b_" + wanted || b.name == "p_" + wanted)
      found = static_cast<int>(i);
  }
  if (found < 0 || static_cast<size_t>(found) >= plan->buffers.size())
    throw_internal("no buffer for the mutation of " + m.spec.target);
  return found;
}

// ------------------------------------------------------------------------------------------------------------- layouts

bool Executor::Impl::same_as_before(const std::vector<Tensor>& inputs) const {
  if (!stages.front().layout || inputs.size() != last_inputs.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type::Kind kind = plan->inputs[i].kind;
    if (kind == Type::Kind::SymInt) {  // the value counts
      const Tensor& t = inputs[i];
      if (!t.defined() || t.dtype != DType::I64 || !t.shape.empty() || t.int_at(0) != last_sizes[i]) return false;
    } else if (kind == Type::Kind::Tensor && (!inputs[i].defined() || !same_layout(inputs[i], last_inputs[i]))) {
      return false;
    }
  }
  return true;
}

void Executor::Impl::select(const std::vector<Tensor>& inputs) {
  Stage& stage = stages.front();
  if (!same_as_before(inputs)) {
    SymBindings symbols = binder.bind(inputs);
    use_layout(stage, std::move(symbols), nullptr);
    remember(inputs);
  }
  layout = stage.layout;
}

/// Reads the sizes that the stage before has computed.
void Executor::Impl::select_next(Stage& stage, const Stage& before) {
  SymBindings symbols = before.layout->symbols;
  for (const PlanSize* s : stage.sizes) {
    const int64_t offset = evaluate_size(s->offset, symbols, s->where);
    const auto item = static_cast<int64_t>(dtype_size(s->dtype));
    bind_size(*plan->env, s->size, load_as_int(s->dtype, address(s->buffer) + offset * item), s->where, symbols);
  }
  if (!stage.layout || stage.layout->symbols != symbols) use_layout(stage, std::move(symbols), before.layout);
  layout = stage.layout;
}

void Executor::Impl::use_layout(Stage& stage, SymBindings symbols, const Layout* before) {
  auto& layouts = stage.layouts;
  stage.layout = nullptr;
  auto it = std::find_if(layouts.begin(), layouts.end(), [&](const auto& l) { return l->symbols == symbols; });
  if (it == layouts.end()) {
    std::unique_ptr<Layout> made = planner.make_layout(stage, std::move(symbols), before, &stage == &stages.back());
    // Sizes that grow by one from call to call would never be measured.
    if (!layouts.empty() && similar_sizes(*layouts.front(), *made))
      made->choice = layouts.front()->choice;
    else
      made->choice = std::make_shared<ThreadChoice>(stage.last - stage.first, threads, measures_threads());
    if (layouts.size() >= kLayouts) layouts.pop_back();
    layouts.push_front(std::move(made));
  } else {
    layouts.splice(layouts.begin(), layouts, it);
  }
  stage.layout = layouts.front().get();
}

void Executor::Impl::remember(const std::vector<Tensor>& inputs) {
  last_inputs = inputs;
  for (Tensor& t : last_inputs) t.storage.reset();
  last_sizes.assign(inputs.size(), 0);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (plan->inputs[i].kind == Type::Kind::SymInt) last_sizes[i] = inputs[i].int_at(0);
  }
}

void Executor::Impl::grow_arena(Stage& stage) {
  const int64_t bytes = stage.layout->arena.bytes;
  if (stage.arena && bytes <= stage.arena_size) return;
  const int64_t wanted = (std::max<int64_t>(bytes, 64) + 63) / 64 * 64 + 64;  // room for a vector read past the end
  stage.arena.reset();
  stage.arena.reset(static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>(wanted))));
  stage.arena_size = stage.arena ? bytes : 0;
  if (!stage.arena) throw_runtime("out of memory allocating " + std::to_string(bytes) + " bytes for temporaries");
  prefer_huge_pages(stage.arena.get(), static_cast<size_t>(wanted));
}

void Executor::Impl::fill_static(Stage& stage) const {
  Layout& l = *stage.layout;
  l.pointers.clear();
  for (size_t i = stage.first; i < stage.last; ++i) {
    for (int b : plan->launches[i].buffers) {
      const PlanBuffer& buffer = plan->buffers[b];
      std::byte* p = stage.arena.get();  // what changes is filled in per call
      if (l.offsets[b] >= 0) p += l.offsets[b];
      if (buffer.kind == PlanBuffer::Kind::Constant) p = buffer.constant.data();
      l.pointers.push_back(p);
    }
    if (scratch_users[i]) l.pointers.push_back(stage.arena.get() + l.scratch[i - stage.first]);
  }
  l.arena_base = stage.arena.get();
}

// -----------------------------------------------------------------------------------------------------------------
// runs

void Executor::Impl::take_inputs(const std::vector<Tensor>& inputs) {
  for (size_t i = 0; i < plan->buffers.size(); ++i) {
    const PlanBuffer& b = plan->buffers[i];
    if (b.kind != PlanBuffer::Kind::Input) continue;
    const Tensor& t = inputs[b.input];
    const std::vector<int64_t>& strides = stages.front().layout->strides[b.input];
    if (strides.size() != t.rank() || strides_match(t, strides)) {
      base[i] = t.data();
      continue;
    }
    Tensor& copy = held[i];
    copy.dtype = t.dtype;
    copy.shape = t.shape;
    copy.strides = strides;
    copy.storage = memory(of_buffers[i], bytes_of(t.dtype, extent_of(t.shape, strides)));
    copy_elements(t, copy);
    base[i] = copy.data();
  }
}

void Executor::Impl::allocate_outputs(const Stage& stage) {
  for (int i : stage.outputs) {
    held[i].storage = memory(of_buffers[i], stage.layout->bytes[i]);
    base[i] = held[i].storage->data;
  }
}

/// Where a buffer lies in this call; its stage has begun.
std::byte* Executor::Impl::address(int b) const {
  const PlanBuffer& buffer = plan->buffers[b];
  if (buffer.kind == PlanBuffer::Kind::Constant) return buffer.constant.data();
  if (buffer.kind != PlanBuffer::Kind::Temporary) return base[b];
  const Stage& stage = stages[planner.stage_of()[b]];
  return stage.arena.get() + stage.layout->offsets[b];
}

void Executor::Impl::fill_pointers(Stage& stage) {
  std::byte** pointers = stage.layout->pointers.data();
  for (const Patch& p : stage.patches) {
    const bool placed = plan->buffers[p.buffer].kind == PlanBuffer::Kind::Temporary;  // by a stage before
    pointers[p.slot] = placed ? address(p.buffer) : base[p.buffer];
  }
  for (const Lodger& p : stage.layout->lodgers) pointers[p.slot] = base[p.result] + p.offset;
}

template <bool timed>
void Executor::Impl::launch_all(Stage& stage) {
  std::byte* const* pointers = stage.layout->pointers.data();
  const std::vector<int>& limits = stage.layout->choice->limits();
  ThreadLimit limit(stage.layout->choice->most());
  for (size_t i = stage.first; i < stage.last; ++i) {
    limit.set(limits[i - stage.first]);
    const LaunchArgs args{pointers + planner.first_slot()[i], stage.layout->symbols, threads};
    if constexpr (timed) {
      take_threads_used();
      const int64_t start = now();
      kernels[i]->run(args);
      times[i] = {static_cast<uint32_t>(i), start, now(), take_threads_used()};
    } else {
      kernels[i]->run(args);
    }
    if (timed && observer) observe(stage, i);
  }
}

/// All launches of the stage, and what there is to learn from their times.
void Executor::Impl::launch(Stage& stage) {
  ThreadChoice& choice = *stage.layout->choice;
  const bool learns = choice.wants_launches(), each = timing || observer || learns;
  if (each && times.size() < kernels.size()) times.resize(kernels.size());
  if (observer || !choice.wants_runs()) return each ? launch_all<true>(stage) : launch_all<false>(stage);
  const int64_t start = now();
  each ? launch_all<true>(stage) : launch_all<false>(stage);
  const int64_t ns = now() - start;
  durations.clear();
  for (size_t i = stage.first; learns && i < stage.last; ++i) durations.push_back(times[i].end - times[i].start);
  if (!timing) times.clear();
  choice.finished(ns, durations);
}

void Executor::Impl::observe(const Stage& stage, size_t launch) const {
  const Layout& known = *stage.layout;
  const Launch& l = plan->launches[launch];
  for (size_t position : written_by(l)) {
    const int b = l.buffers[position];
    const PlanBuffer& buffer = plan->buffers[b];
    Tensor view;
    view.dtype = buffer.dtype;
    view.shape = evaluate_sizes(buffer.shape, known.symbols, "buffer " + buffer.name);
    const std::vector<SymInt> moved = kernels[launch]->strides_of(position);
    const bool whole = moved.size() == buffer.shape.size() && !moved.empty();
    view.strides = evaluate_sizes(whole ? moved : buffer.strides, known.symbols, "buffer " + buffer.name);
    if (view.strides.size() != view.shape.size())
      view.strides = contiguous_strides(std::span<const int64_t>(view.shape));
    view.storage = std::make_shared<Storage>();
    view.storage->data = known.pointers[planner.first_slot()[launch] + position];
    view.storage->size = static_cast<size_t>(known.bytes[b]);
    observer(launch, b, view.clone());
  }
}

std::shared_ptr<Storage> Executor::Impl::memory(ResultMemory& kept, int64_t bytes) const {
  return prepared ? kept.take(bytes) : Tensor::empty(DType::U8, {bytes}).storage;
}

/// A view of an Output buffer's memory; everything else (a temporary, a constant, an input handed through) is copied.
void Executor::Impl::set_output(size_t i, Tensor& t) {
  const PlanOutput& o = plan->outputs[i];
  const OutputView& view = layout->outputs[i];
  t.dtype = o.buffer < 0 ? DType::I64 : o.dtype;
  t.shape = view.shape;
  t.strides = view.strides;
  t.offset = view.offset;
  if (o.constant.defined()) {
    t.dtype = o.constant.dtype;
    t.storage = memory(of_outputs[i], 8);
    return copy_elements(o.constant, t);
  }
  if (o.buffer < 0) {
    t.storage = memory(of_outputs[i], 8);
    return t.set_int(0, view.value);
  }
  if (plan->buffers[o.buffer].kind == PlanBuffer::Kind::Output) {
    t.storage = held[o.buffer].storage;
    return;
  }
  source.dtype = t.dtype;
  source.shape = view.shape;
  source.strides = view.strides;
  source.offset = view.offset;
  source.storage->data = address(o.buffer);
  source.storage->size = static_cast<size_t>(layout->bytes[o.buffer]);
  t.strides = view.dense;
  t.offset = 0;
  t.storage = memory(of_outputs[i], bytes_of(t.dtype, t.numel()));
  copy_elements(source, t);
}

void Executor::Impl::write_back(const std::vector<Tensor>& inputs) {
  // All values are taken before the first is written: one may be a view of another's target.
  const Release release{written};
  written.resize(mutations.size());
  for (size_t k = 0; k < mutations.size(); ++k) set_output(static_cast<size_t>(mutations[k].first), written[k]);
  for (size_t k = 0; k < mutations.size(); ++k) {
    const PlanBuffer& b = plan->buffers[mutations[k].second];
    const Tensor& target = b.kind == PlanBuffer::Kind::Input ? inputs[b.input] : b.constant;
    if (target.shape != written[k].shape || target.dtype != written[k].dtype)
      throw_internal("mutation of " + b.name + " with " + written[k].str() + ", which is " + target.str());
    copy_elements(written[k], target);
  }
}

void Executor::Impl::finish(const std::vector<Tensor>& inputs, std::vector<Tensor>& results) {
  results.resize(plan->outputs.size() - mutations.size());
  size_t next = 0;
  for (size_t i = 0; i < plan->outputs.size(); ++i) {
    if (!output_is_mutation[i]) set_output(i, results[next++]);
  }
  if (!mutations.empty()) write_back(inputs);
}

void Executor::Impl::run_stage(Stage& stage) {
  grow_arena(stage);
  if (stage.layout->arena_base != stage.arena.get() || stage.layout->pointers.empty()) fill_static(stage);
  allocate_outputs(stage);
  fill_pointers(stage);
  launch(stage);
}

/// The inputs with the pairs that complex ones lie in.
std::vector<Tensor> Executor::Impl::in_pairs(const std::vector<Tensor>& given) const {
  std::vector<Tensor> inputs = given;
  for (const size_t i : plan->complex_inputs) {
    if (i >= inputs.size() || !inputs[i].defined()) continue;  // the binder says so
    const DType expected = complex_dtype(plan->inputs[i].tensor.dtype);
    if (inputs[i].dtype != expected)
      throw_user("input " + std::to_string(i) + " has dtype " + std::string(dtype_name(inputs[i].dtype)) +
                     ", expected " + std::string(dtype_name(expected)),
                 "convert it first");
    inputs[i] = as_pairs(inputs[i]);
  }
  return inputs;
}

void Executor::Impl::run(const std::vector<Tensor>& given, std::vector<Tensor>& results) {
  if (plan->complex_inputs.empty()) return run_real(given, results);
  run_real(in_pairs(given), results);
}

void Executor::Impl::run_real(const std::vector<Tensor>& inputs, std::vector<Tensor>& results) {
  const Release release{held};
  for (Tensor& t : results) t.storage.reset();  // so that their memory can be had again
  const RunDepth depth;
  if (depth.outermost()) restart_generator();
  select(inputs);
  take_inputs(inputs);
  run_stage(stages.front());
  for (size_t s = 1; s < stages.size(); ++s) {
    select_next(stages[s], stages[s - 1]);
    run_stage(stages[s]);
  }
  finish(inputs, results);
}

Executor::Executor(std::shared_ptr<const Plan> plan, std::vector<std::unique_ptr<CompiledKernel>> kernels, int threads)
    : impl_(std::make_unique<Impl>(std::move(plan), std::move(kernels), threads)) {}
Executor::~Executor() = default;

std::vector<Tensor> Executor::run(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> results;
  impl_->run(inputs, results);
  return results;
}

void Executor::run_into(const std::vector<Tensor>& inputs, std::vector<Tensor>& results) {
  impl_->run(inputs, results);
}

void Executor::set_prepared(bool on) {
  impl_->prepared = on;
  if (on) return;
  impl_->of_buffers.assign(impl_->of_buffers.size(), {});
  impl_->of_outputs.assign(impl_->of_outputs.size(), {});
}

size_t Executor::kept_bytes() const {
  size_t total = 0;
  for (const ResultMemory& m : impl_->of_buffers) total += m.bytes();
  for (const ResultMemory& m : impl_->of_outputs) total += m.bytes();
  return total;
}

void Executor::set_timing(bool on) {
  impl_->timing = on;
  impl_->times.clear();
}
const std::vector<LaunchTime>& Executor::times() const { return impl_->times; }
size_t Executor::arena_bytes() const {
  int64_t bytes = 0;
  for (const Stage& s : impl_->stages) bytes += s.layout ? s.layout->arena.bytes : 0;
  return static_cast<size_t>(bytes);
}
size_t Executor::unshared_bytes() const {
  int64_t bytes = 0;
  for (const Stage& s : impl_->stages) bytes += s.layout ? s.layout->arena.unshared : 0;
  return static_cast<size_t>(bytes);
}
const std::vector<int64_t>& Executor::arena_offsets() const {
  impl_->offsets.clear();
  if (!impl_->layout) return impl_->offsets;
  impl_->offsets.assign(impl_->plan->buffers.size(), -1);
  int64_t start = 0;
  for (const Stage& s : impl_->stages) {
    if (!s.layout) continue;
    for (int b : s.temporaries) impl_->offsets[b] = start + s.layout->offsets[b];
    start += s.layout->arena.bytes;
  }
  return impl_->offsets;
}
const SymBindings& Executor::symbols() const {
  static const SymBindings none;
  return impl_->layout ? impl_->layout->symbols : none;
}
void Executor::set_observer(std::function<void(size_t, int, const Tensor&)> observer) {
  impl_->observer = std::move(observer);
}

}  // namespace strata
