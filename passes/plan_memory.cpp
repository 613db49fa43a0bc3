// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/plan_memory.h"

#include <algorithm>

namespace strata {
namespace {

void find_lifetimes(Plan& plan) {
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    for (int b : plan.launches[i].buffers) {
      PlanBuffer& buffer = plan.buffers[static_cast<size_t>(b)];
      if (buffer.first_launch < 0) buffer.first_launch = static_cast<int>(i);
      buffer.last_launch = static_cast<int>(i);
    }
  }
  const int end = static_cast<int>(plan.launches.size()) - 1;
  for (PlanBuffer& buffer : plan.buffers) {
    if (buffer.kind == PlanBuffer::Kind::Temporary) continue;
    if (buffer.kind != PlanBuffer::Kind::Output) buffer.first_launch = std::min(0, end);
    buffer.last_launch = end;
  }
}

/// The single store into a kernel buffer, if its nest is the last one.
const loop::Store* last_store(const loop::Kernel& kernel, loop::BufferId buffer) {
  const loop::Store* found = nullptr;
  for (size_t n = 0; n < kernel.nests.size(); ++n) {
    for (const loop::Store& s : kernel.nests[n].stores) {
      if (s.buffer != buffer) continue;
      if (found || n + 1 != kernel.nests.size() || s.accumulate) return nullptr;
      found = &s;
    }
  }
  return found;
}

/// Loads of `input` only at `index`, and not by nests that other lanes of the same store could overtake.
bool loads_only_at(const loop::Kernel& kernel, loop::BufferId input, const SymInt& index) {
  bool any = false;
  for (const loop::Scalar& s : kernel.scalars) {
    if (s.op != loop::ScalarOp::Load || s.buffer != input) continue;
    any = true;
    if (!(s.index == index)) return false;
  }
  return any;
}

bool may_overwrite(const Plan& plan, const Launch& launch, int launch_index, size_t output, size_t input) {
  const auto& kernel = std::get<loop::Kernel>(launch.work);
  const PlanBuffer& out = plan.buffers[static_cast<size_t>(launch.buffers[output])];
  const PlanBuffer& in = plan.buffers[static_cast<size_t>(launch.buffers[input])];
  if (in.kind != PlanBuffer::Kind::Temporary || out.kind != PlanBuffer::Kind::Temporary) return false;
  if (in.last_launch != launch_index || out.first_launch != launch_index) return false;
  if (in.dtype != out.dtype || !(in.numel == out.numel)) return false;
  const loop::Store* store = last_store(kernel, static_cast<loop::BufferId>(output));
  return store && store->mask == loop::kNone && loads_only_at(kernel, static_cast<loop::BufferId>(input), store->index);
}

void share_in_place(Plan& plan) {
  std::vector<bool> taken(plan.buffers.size(), false);
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    const auto* kernel = std::get_if<loop::Kernel>(&launch.work);
    if (!kernel) continue;
    for (size_t output = 0; output < kernel->buffers.size(); ++output) {
      if (kernel->buffers[output].role != loop::BufferRole::Output) continue;
      for (size_t input = 0; input < kernel->buffers.size(); ++input) {
        const auto in = static_cast<size_t>(launch.buffers[input]);
        if (kernel->buffers[input].role != loop::BufferRole::Input || taken[in]) continue;
        if (!may_overwrite(plan, launch, static_cast<int>(i), output, input)) continue;
        plan.buffers[static_cast<size_t>(launch.buffers[output])].reuse_of = launch.buffers[input];
        taken[in] = true;
        break;
      }
    }
  }
}

}  // namespace

void plan_memory(Plan& plan) {
  find_lifetimes(plan);
  share_in_place(plan);
}

}  // namespace strata
