// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/library_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/library_bound.h"
#include "codegen/onednn.h"
#include "core/support/error.h"

namespace strata::library {

int64_t View::numel() const {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  return n;
}

bool View::is_contiguous() const {
  int64_t expected = 1;
  for (size_t d = rank(); d-- > 0;) {
    if (shape[d] == 0) return true;
    if (shape[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

OnednnMemories& Scratch::memories() {
  std::lock_guard lock(mutex_);
  if (!memories_) memories_ = std::make_shared<OnednnMemories>();
  return *memories_;
}

void Scratch::reserve(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes <= size_) return;
  const size_t rounded = (static_cast<size_t>(bytes) + 63) / 64 * 64;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, rounded)));
  size_ = memory_ ? bytes : 0;
  if (!memory_) throw_runtime(fmt::format("out of memory allocating {} bytes of scratch for a library call", bytes));
}

Slot ScratchPlan::take(int64_t bytes) {
  const int64_t at = top_;
  if (bytes > INT64_MAX / 2 - top_) throw_user("a library call needs more scratch memory than can be addressed");
  top_ += (bytes + 127) / 64 * 64;  // a vector's width of room behind each
  return {Slot::Kind::Scratch, 0, at, nullptr};
}

View ScratchPlan::tensor(DType dtype, std::vector<int64_t> shape) {
  View v;
  v.dtype = dtype;
  v.strides = contiguous_strides(std::span<const int64_t>(shape));
  v.shape = std::move(shape);
  v.slot = take(v.numel() * static_cast<int64_t>(dtype_size(dtype)));
  return v;
}

View channels_last(View v) {
  int64_t step = 1;
  for (size_t k = 0; k < v.rank(); ++k) {
    const size_t d = k == 0 ? 1 : k + 1 == v.rank() ? 0 : v.rank() - k;
    v.strides[d] = step;
    step *= v.shape[d];
  }
  return v;
}

View channels_at_end(View view) {
  std::rotate(view.shape.begin() + 1, view.shape.begin() + 2, view.shape.end());
  std::rotate(view.strides.begin() + 1, view.strides.begin() + 2, view.strides.end());
  return view;
}

View with_rank(View view, size_t rank) {
  if (view.rank() > rank) throw_internal(fmt::format("operand of {} dimensions for a result of {}", view.rank(), rank));
  const size_t lead = rank - view.rank();
  view.shape.insert(view.shape.begin(), lead, 1);
  view.strides.insert(view.strides.begin(), lead, 0);
  return view;
}

DType accumulation_dtype(DType dtype) {
  if (dtype == DType::F64) return DType::F64;
  return is_floating(dtype) ? DType::F32 : DType::I64;
}

std::string describe(const View& view) {
  return fmt::format("{}[{}]({})", dtype_abbr(view.dtype), fmt::join(view.shape, ", "), fmt::join(view.strides, ", "));
}

std::string describe(const ResultOp& op) {
  std::string name(to_string(op.kind));
  if (op.has_operand()) return name + " " + describe(op.operand);
  if (op.kind == PostOp::Kind::Clamp || op.kind == PostOp::Kind::Linear || op.kind == PostOp::Kind::Elu) {
    return fmt::format("{}({}, {})", name, op.alpha, op.beta + 0.0);  // of -0: 0
  }
  return name;
}

std::vector<ResultOp> result_ops(const ConcreteCall& call) {
  std::vector<ResultOp> ops;
  for (const PostOp& p : call.call->post_ops) {
    ResultOp op{p.kind, p.alpha, p.beta, {}, call.keep_nan && drops_nan(p.kind)};
    if (op.has_operand()) {
      if (p.operand < 0 || static_cast<size_t>(p.operand) >= call.operands.size()) {
        throw_internal("post-operation of " + call.call->name + " names no operand");
      }
      op.operand = with_rank(call.operands[p.operand], call.result.rank());
      for (size_t d = 0; d < op.operand.rank(); ++d) {
        if (op.operand.shape[d] == call.result.shape[d]) continue;
        if (op.operand.shape[d] != 1)
          throw_internal("post-operation operand " + describe(op.operand) + " does not fit " + describe(call.result));
      }
    }
    ops.push_back(std::move(op));
  }
  return ops;
}

}  // namespace strata::library
