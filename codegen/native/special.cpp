// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Special functions, element by element in float64.

#include <array>

#include "codegen/native/lines.h"
#include "codegen/native/native_kernel.h"
#include "core/ir/ops/common.h"
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

/// An operand converted to the result's type; numbers become a tensor.
Tensor operand(const Arguments& a, size_t i) {
  const Tensor& out = a.result();
  if (!ops::is_tensor(a.call, i)) {
    Tensor number = Tensor::scalar(DType::F64, a.call.number(i));
    return ops::expanded(number.to(out.dtype), out.shape);
  }
  const Tensor& t = a.tensor(i);
  return ops::expanded(t.dtype == out.dtype ? t : t.to(out.dtype), out.shape);
}

/// Walks flat positions of a shape and the offsets there in two operands.
class Walk {
 public:
  Walk(const Tensor& x, const Tensor& y, int64_t flat) : x_(x), y_(y), index_(x.rank()) {
    for (size_t d = x.rank(); d-- > 0;) {
      index_[d] = flat % x.shape[d];
      flat /= x.shape[d];
      first += index_[d] * x.strides[d];
      second += index_[d] * y.strides[d];
    }
  }
  void step() {
    for (size_t d = index_.size(); d-- > 0;) {
      first += x_.strides[d];
      second += y_.strides[d];
      if (++index_[d] < x_.shape[d]) return;
      first -= x_.strides[d] * index_[d];
      second -= y_.strides[d] * index_[d];
      index_[d] = 0;
    }
  }
  int64_t first = 0, second = 0;

 private:
  const Tensor &x_, &y_;
  std::vector<int64_t> index_;
};

template <class T>
void apply(const Arguments& a, const special::Function& f) {
  const Tensor& out = a.result();
  const Tensor x = operand(a, 0), y = f.two ? operand(a, 1) : x;
  parallel_for(out.numel(), 512, [&](int64_t begin, int64_t end) {
    Walk at(x, y, begin);
    for (int64_t i = begin; i < end; ++i, at.step()) {
      const auto u = static_cast<double>(work_value(x.ptr<const T>()[at.first]));
      const double v = f.one ? f.one(u) : f.two(u, static_cast<double>(work_value(y.ptr<const T>()[at.second])));
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
