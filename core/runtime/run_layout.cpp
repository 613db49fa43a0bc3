// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/run_layout.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/support/error.h"

namespace strata {
namespace {

/// Results smaller than this lend nothing: their few bytes are not worth pointers that change with every call.
constexpr int64_t kLends = 1 << 16;

/// Where the elements of a view lie, counted from the first: [first, last). Strides may be negative.
std::pair<int64_t, int64_t> reach_of(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  int64_t first = 0, last = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return {0, 0};
    (strides[d] < 0 ? first : last) += (shape[d] - 1) * strides[d];
  }
  return {first, last + 1};
}

}  // namespace

StagePlanner::StagePlanner(const Plan& plan, const InputBinder& binder, const std::vector<ScratchUser*>& scratch_users,
                           int threads)
    : plan_(plan), binder_(binder), scratch_users_(scratch_users), threads_(threads) {}

std::vector<Stage> StagePlanner::make_stages() {
  std::map<int, std::vector<const PlanSize*>> ends;  // launch -> sizes that are known after it
  for (const PlanSize& s : plan_.sizes) ends[std::max(-1, s.after)].push_back(&s);
  std::vector<Stage> stages(1);
  for (const auto& [launch, sizes] : ends) {
    const auto next = static_cast<size_t>(int64_t{launch} + 1);
    stages.back().last = next;
    stages.emplace_back();
    stages.back().first = next;
    stages.back().sizes = sizes;
  }
  stages.back().last = plan_.launches.size();
  assign_buffers(stages);
  collect_patches(stages);
  return stages;
}

void StagePlanner::assign_buffers(std::vector<Stage>& stages) {
  const int last = static_cast<int>(stages.size()) - 1;
  stage_of_.assign(plan_.buffers.size(), last);
  for (int s = last; s >= 0; --s)
    for (size_t i = stages[s].first; i < stages[s].last; ++i)
      for (int b : plan_.launches[i].buffers) stage_of_[b] = s;
  for (size_t b = 0; b < plan_.buffers.size(); ++b) {
    const PlanBuffer::Kind kind = plan_.buffers[b].kind;
    if (kind == PlanBuffer::Kind::Output) stages[stage_of_[b]].outputs.push_back(static_cast<int>(b));
    if (kind == PlanBuffer::Kind::Temporary) stages[stage_of_[b]].temporaries.push_back(static_cast<int>(b));
    if (kind == PlanBuffer::Kind::Input || kind == PlanBuffer::Kind::Constant) stage_of_[b] = 0;
  }
}

void StagePlanner::collect_patches(std::vector<Stage>& stages) {
  for (size_t s = 0; s < stages.size(); ++s) {
    size_t slot = 0;
    for (size_t i = stages[s].first; i < stages[s].last; ++i) {
      first_slot_.push_back(slot);
      for (int b : plan_.launches[i].buffers) {
        const PlanBuffer::Kind kind = plan_.buffers[b].kind;
        const bool fixed = kind == PlanBuffer::Kind::Constant ||
                           (kind == PlanBuffer::Kind::Temporary && stage_of_[b] == static_cast<int>(s));
        if (!fixed) stages[s].patches.push_back({slot, b});
        ++slot;
      }
      if (scratch_users_[i]) ++slot;
    }
  }
}

std::unique_ptr<Layout> StagePlanner::make_layout(const Stage& stage, SymBindings symbols, const Layout* before,
                                                  bool last) const {
  auto made = std::make_unique<Layout>();
  made->symbols = std::move(symbols);
  check_conditions(made->symbols);
  if (before) {
    made->bytes = before->bytes;
    made->numel = before->numel;
    made->strides = before->strides;
  } else {
    made->bytes.resize(plan_.buffers.size());
    made->numel.resize(plan_.buffers.size());
    input_strides(*made);
    for (size_t b = 0; b < plan_.buffers.size(); ++b) {
      const PlanBuffer::Kind kind = plan_.buffers[b].kind;
      if (kind == PlanBuffer::Kind::Input || kind == PlanBuffer::Kind::Constant) size_buffer(*made, b);
    }
  }
  for (int b : stage.outputs) size_buffer(*made, static_cast<size_t>(b));
  for (int b : stage.temporaries) size_buffer(*made, static_cast<size_t>(b));
  place_buffers(stage, *made);
  if (last) view_outputs(*made);
  return made;
}

/// What the program says of its sizes, as far as they are known.
void StagePlanner::check_conditions(const SymBindings& symbols) const {
  for (const PlanCondition& c : plan_.conditions)
    if (!c.guard.holds(symbols).value_or(true))
      throw_broken(c.guard.text, *evaluate(c.guard.left, symbols), *evaluate(c.guard.right, symbols), c.where);
}

void StagePlanner::view_outputs(Layout& l) const {
  for (const PlanOutput& o : plan_.outputs) {
    OutputView view;
    if (o.buffer < 0) {
      view.value = evaluate_size(o.value, l.symbols, "an output");
    } else {
      view = {evaluate_sizes(o.shape, l.symbols, "an output"),
              evaluate_sizes(o.strides, l.symbols, "an output"),
              {},
              evaluate_size(o.offset, l.symbols, "an output"),
              0};
      view.dense = contiguous_strides(std::span<const int64_t>(view.shape));
      // Nothing may start anywhere, even before its buffer (a flip).
      const int64_t least = view.shape.empty() ? 0 : std::ranges::min(view.shape);
      if (least < 0) throw_user("an output has a negative size for these inputs: " + std::to_string(least));
      if (std::find(view.shape.begin(), view.shape.end(), 0) != view.shape.end()) view.offset = 0;
      const auto [first, last] = reach_of(view.shape, view.strides);
      if (view.offset + first < 0 || view.offset + last > l.numel[o.buffer])
        throw_internal("an output reaches beyond buffer " + plan_.buffers[o.buffer].name);
    }
    l.outputs.push_back(std::move(view));
  }
}

void StagePlanner::input_strides(Layout& l) const {
  l.strides.resize(plan_.inputs.size());
  for (size_t i = 0; i < plan_.inputs.size(); ++i) {
    const Type& type = plan_.inputs[i];
    if (!type.is_tensor()) continue;
    const std::string what = binder_.describe(i);
    l.strides[i] =
        type.tensor.strides
            ? evaluate_sizes(*type.tensor.strides, l.symbols, what)
            : contiguous_strides(std::span<const int64_t>(evaluate_sizes(type.tensor.shape, l.symbols, what)));
  }
}

void StagePlanner::size_buffer(Layout& l, size_t buffer) const {
  const PlanBuffer& b = plan_.buffers[buffer];
  const int64_t numel = evaluate_size(b.numel, l.symbols, "buffer " + b.name);
  int64_t bytes = 0;
  if (numel < 0) throw_user("buffer " + b.name + " has a negative size for these inputs: " + std::to_string(numel));
  if (__builtin_mul_overflow(numel, static_cast<int64_t>(dtype_size(b.dtype)), &bytes)) {
    throw_user("buffer " + b.name + " is too large to be addressed: " + std::to_string(numel) + " elements");
  }
  l.numel[buffer] = numel;
  l.bytes[buffer] = bytes;
}

void StagePlanner::place_buffers(const Stage& stage, Layout& l) const {
  std::vector<ArenaRequest> requests;
  std::vector<int> request_of(plan_.buffers.size(), -1);
  // Later stages read on: what they use lives to the end of this one.
  const auto end = static_cast<int>(stage.last);
  for (int i : stage.temporaries) {
    const PlanBuffer& b = plan_.buffers[i];
    request_of[i] = static_cast<int>(requests.size());
    const bool in_range = b.reuse_of >= 0 && b.reuse_of < i;
    // Unknown lifetimes last for the whole run.
    const int last = b.last_launch < 0 ? end : std::min(b.last_launch, end);
    requests.push_back({l.bytes[i], std::max(0, b.first_launch), last, in_range ? request_of[b.reuse_of] : -1});
  }
  const std::vector<int> scratch = request_scratch(stage, l, requests);
  std::vector<ArenaLoan> loans;
  std::vector<int> results;  // of the loans
  for (int i : stage.outputs) {
    if (l.bytes[i] < kLends || plan_.buffers[i].first_launch < 0) continue;
    loans.push_back({l.bytes[i], plan_.buffers[i].first_launch});
    results.push_back(i);
  }
  l.arena = plan_arena(requests, loans);
  for (int request : scratch) l.scratch.push_back(request < 0 ? 0 : l.arena.offsets[request]);
  l.offsets.assign(plan_.buffers.size(), -1);
  for (int i : stage.temporaries)
    if (l.arena.loans[request_of[i]] < 0) l.offsets[i] = l.arena.offsets[request_of[i]];
  find_lodgers(stage, request_of, scratch, results, l);
}

/// `request_of`: per buffer; `scratch`: the request of each launch's; `results`: the buffer of each loan.
void StagePlanner::find_lodgers(const Stage& stage, const std::vector<int>& request_of, const std::vector<int>& scratch,
                                const std::vector<int>& results, Layout& l) const {
  const auto add = [&](size_t slot, int request) {
    if (request < 0 || l.arena.loans[request] < 0) return;
    l.lodgers.push_back({slot, results[l.arena.loans[request]], l.arena.offsets[request]});
  };
  for (size_t i = stage.first; i < stage.last; ++i) {
    size_t slot = first_slot_[i];
    for (int b : plan_.launches[i].buffers) add(slot++, request_of[b]);
    add(slot, scratch[i - stage.first]);
  }
}

/// The request of each launch, -1 where it needs no scratch.
std::vector<int> StagePlanner::request_scratch(const Stage& stage, const Layout& l,
                                               std::vector<ArenaRequest>& requests) const {
  std::vector<int> request_of;
  for (size_t i = stage.first; i < stage.last; ++i) {
    const int64_t bytes = scratch_users_[i] ? scratch_users_[i]->scratch_bytes(l.symbols, threads_) : 0;
    request_of.push_back(bytes > 0 ? static_cast<int>(requests.size()) : -1);
    if (bytes > 0) requests.push_back({bytes, static_cast<int>(i), static_cast<int>(i), -1});
  }
  return request_of;
}

}  // namespace strata
