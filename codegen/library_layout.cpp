// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/library_layout.h"

#include <algorithm>

namespace strata::library {
namespace {

/// Whether an operand is all of a buffer, row by row. (What is added to one image has no stride along the batch.)
bool covers(const LibraryOperand& o, const PlanBuffer& b) {
  if (o.shape.size() < 3 || !(o.offset == SymInt(0)) || !(o.shape == b.shape)) return false;
  return same_places(o.shape, o.strides, contiguous_strides(o.shape));
}

/// Operands that a convolution takes channels-last: its input, and what is added to (or multiplied with) the whole
/// result.
bool takes_layout(const LibraryCall& call, size_t operand) {
  if (!call.kind.starts_with("convolution")) return false;
  if (operand == 0) return true;
  const bool is_post = std::any_of(call.post_ops.begin(), call.post_ops.end(),
                                   [&](const PostOp& p) { return p.operand == static_cast<int>(operand); });
  return is_post && operand >= 2u + call.has_bias && call.operands[operand].shape == call.result.shape;
}

/// Per buffer: written once by a convolution, and every other use takes the layout.
std::vector<bool> candidates(const Plan& plan) {
  std::vector<bool> good(plan.buffers.size(), false), bad(plan.buffers.size(), false);
  for (const PlanOutput& o : plan.outputs) {
    if (o.buffer >= 0) bad[o.buffer] = true;
  }
  for (const Launch& launch : plan.launches) {
    const auto* call = std::get_if<LibraryCall>(&launch.work);
    std::vector<bool> fine(launch.buffers.size(), true);
    if (!call) std::fill(fine.begin(), fine.end(), false);
    for (size_t i = 0; call && i < call->operands.size(); ++i) {
      const LibraryOperand& o = call->operands[i];
      if (!takes_layout(*call, i) || !covers(o, plan.buffers[launch.buffers[o.buffer]])) fine[o.buffer] = false;
    }
    if (call) {
      const int written = launch.buffers[call->result.buffer];
      const bool whole = call->kind.starts_with("convolution") && covers(call->result, plan.buffers[written]);
      if (!whole || good[written]) bad[written] = true;
      good[written] = whole;
    }
    for (size_t i = 0; i < fine.size(); ++i) {
      if (!fine[i]) bad[launch.buffers[i]] = true;
    }
  }
  for (size_t b = 0; b < good.size(); ++b)
    good[b] = good[b] && !bad[b] && plan.buffers[b].kind == PlanBuffer::Kind::Temporary;
  return good;
}

}  // namespace

std::vector<LibraryCall> lay_out_channels_last(const Plan& plan) {
  std::vector<LibraryCall> calls(plan.launches.size());
  const std::vector<bool> moved = candidates(plan);
  for (size_t l = 0; l < plan.launches.size(); ++l) {
    const auto* call = std::get_if<LibraryCall>(&plan.launches[l].work);
    if (!call) continue;
    calls[l] = *call;
    const auto move = [&](LibraryOperand& o) {
      if (moved[plan.launches[l].buffers[o.buffer]]) o.strides = channels_last_strides(o.shape);
    };
    for (LibraryOperand& o : calls[l].operands) move(o);
    move(calls[l].result);
  }
  return calls;
}

}  // namespace strata::library
