// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Special functions, element by element in float64.

#include <algorithm>
#include <array>

#include "codegen/native/lines.h"
#include "codegen/native/native_kernel.h"
#include "codegen/native/special_blocks.h"
#include "codegen/native/strided.h"
#include "core/runtime/parallel.h"
#include "core/support/special_functions.h"

namespace strata::native {
namespace {

/// `aten.special_i0e.default` is `i0e`.
const special::Function& function_of(const Arguments& a) {
  std::string_view name = a.call.op().name;
  name.remove_prefix(5);
  if (name.starts_with("special_")) name.remove_prefix(8);
  const special::Function* f = special::find(name.substr(0, name.find('.')));
  if (!f) throw_internal("there is no special function for " + a.call.op().name);
  return *f;
}

template <class T>
void load(const T* from, int64_t n, double* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<double>(work_value(from[i]));
}
template <class T>
void store(const double* from, int64_t n, T* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = stored_value<T>(static_cast<WorkType<T>>(from[i]));
}
void load(const float* from, int64_t n, double* to) { widen(from, n, to); }
void store(const double* from, int64_t n, float* to) { narrow(from, n, to); }

template <class T>
void in_blocks(const Tensor& x, const Tensor& out, BlockFunction f) {
  const Tensor rows = as_rows(x);
  parallel_for(out.numel(), 2048, [&](int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 256;
    std::array<double, kBlock> block;
    for (int64_t first = begin; first < end; first += kBlock) {
      const int64_t n = std::min(kBlock, end - first);
      load(rows.ptr<const T>() + first, n, block.data());
      f(block.data(), n, block.data());
      store(block.data(), n, out.ptr<T>() + first);
    }
  });
}

template <class T>
void apply(const Arguments& a, const special::Function& f) {
  const Tensor& out = a.result();
  const Tensor x = operand_like(a, 0, out), y = f.two ? operand_like(a, 1, out) : x;
  if (const BlockFunction many = find_block_function(f.name, out.dtype == DType::F64))
    return in_blocks<T>(x, out, many);
  parallel_for(out.numel(), 512, [&](int64_t begin, int64_t end) {
    Odometer at(out.shape, {x.strides, y.strides}, begin);
    for (int64_t i = begin; i < end; ++i, at.next()) {
      const auto u = static_cast<double>(work_value(x.ptr<const T>()[at.offset(0)]));
      const double v = f.one ? f.one(u) : f.two(u, static_cast<double>(work_value(y.ptr<const T>()[at.offset(1)])));
      out.ptr<T>()[i] = stored_value<T>(static_cast<WorkType<T>>(v));
    }
  });
}

void run(const Arguments& a) {
  const special::Function& f = function_of(a);
  with_stored_type(a.result().dtype, [&]<class T>(T) { apply<T>(a, f); });
}

constexpr std::array kEntries{Entry{"special", run}};

}  // namespace

std::span<const Entry> special_functions() { return kEntries; }

}  // namespace strata::native
