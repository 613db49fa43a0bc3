// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Numbers of elements in bins.

#include <array>

#include "codegen/native/native_kernel.h"
#include "core/ir/ops/histogram.h"

namespace strata::native {
namespace {

void store(const std::vector<double>& values, const Tensor& to) {
  for (size_t i = 0; to.defined() && i < values.size(); ++i) to.set(static_cast<int64_t>(i), values[i]);
}

void histogram(const Arguments& a) {
  const auto& params = a.call.op().schema.params;
  const bool edges_given = params[1].type == "Tensor";
  Tensor weight;
  for (size_t i = 2; i < params.size(); ++i)
    if (params[i].name == "weight" && a.has(i)) weight = a.tensor(i);
  const ops::Histogram h = ops::histogram_of(a.call, a.tensor(0), edges_given ? a.tensor(1) : Tensor(), weight);
  store(h.counts, a.result(0));
  if (params.back().name == "density") store(h.edges, a.result(1));
}

constexpr std::array kEntries{Entry{"histogram", histogram}};

}  // namespace

std::span<const Entry> histograms() { return kEntries; }

}  // namespace strata::native
