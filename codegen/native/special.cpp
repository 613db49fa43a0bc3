// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Special functions, element by element in float64.

#include <array>

#include "codegen/native/lines.h"
#include "codegen/native/native_kernel.h"
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
void apply(const Arguments& a, const special::Function& f) {
  const Tensor& out = a.result();
  const Tensor x = operand_like(a, 0, out), y = f.two ? operand_like(a, 1, out) : x;
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
