// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Random numbers from the run's generator.

#include <array>

#include "codegen/native/native_kernel.h"
#include "core/ir/ops/randoms.h"

namespace strata::native {
namespace {

/// Also where nobody reads the result: the numbers after it are others.
void draw(const Arguments& a) {
  const TensorType& type = a.call.node().type.tensor;
  std::vector<int64_t> shape;
  for (const SymInt& s : type.shape) shape.push_back(a.eval(s));
  const Tensor out = a.result().defined() ? a.result() : Tensor::empty(type.dtype, shape);
  const bool each = a.call.op().schema.params[0].type == "Tensor";
  ops::draw_into(a.call, [&](size_t i) { return a.integer(i); }, each ? a.tensor(0) : Tensor(), out);
}

constexpr std::array kEntries{Entry{"draw_uniform", draw},        Entry{"draw_normal", draw},
                              Entry{"draw_exponential", draw},    Entry{"draw_bernoulli", draw},
                              Entry{"draw_bernoulli_each", draw}, Entry{"draw_integers", draw},
                              Entry{"draw_permutation", draw},    Entry{"draw_multinomial", draw}};

}  // namespace

std::span<const Entry> random_numbers() { return kEntries; }

}  // namespace strata::native
