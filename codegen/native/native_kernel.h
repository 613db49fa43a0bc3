// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operators whose kernel is written by hand: what the rows' `KernelRule` names. A kernel is a function of strided
/// operands and row-major results; it is found by name in one table and bound to the sizes of a call here.

#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ir/op.h"
#include "core/runtime/plan.h"
#include "core/runtime/tensor.h"

namespace strata::native {

/// What a kernel sees of one call. Parameters are numbered as in the schema.
class Arguments {
 public:
  /// `operands` by the call's operand nodes; `results` one per result of the operator.
  Arguments(const Call& call, const SymBindings& symbols, int threads,
            const std::unordered_map<const Node*, Tensor>& operands, const std::vector<Tensor>& results)
      : call(call), symbols(symbols), threads(threads), operands_(operands), results_(results) {}

  const Call& call;
  const SymBindings& symbols;
  const int threads;

  bool has(size_t param) const { return call.optional_tensor(param) != nullptr; }
  /// Operand with the strides it lies in (0 where broadcast); its memory must not be written.
  const Tensor& tensor(size_t param) const;
  std::vector<Tensor> tensors(size_t param) const;  ///< Tensor[]; undefined for None
  /// Row-major memory to fill; undefined when nobody reads this result.
  const Tensor& result(size_t k = 0) const { return results_.at(k); }
  int64_t integer(size_t param) const { return eval(call.integer(param)); }
  std::vector<int64_t> integers(size_t param) const;
  /// Throws an internal Error for a size that is not bound.
  int64_t eval(const SymInt& e) const;

 private:
  const std::unordered_map<const Node*, Tensor>& operands_;
  const std::vector<Tensor>& results_;
};

/// Fills the wanted results of a call. May be called from any thread, also at once for several calls. Throws a user
/// Error for values that PyTorch refuses.
using Kernel = void (*)(const Arguments& arguments);

struct Entry {
  std::string_view name;
  Kernel run;
};

/// The kernel of a `KernelRule`, or null.
Kernel find_kernel(std::string_view name);

/// `launch` holds a NativeCall: its buffers are the values of the graph's tensor placeholders, then of its outputs.
/// Plan and launch must outlive the kernel. Throws an internal Error for a name that the table lacks.
std::unique_ptr<CompiledKernel> compile_native_call(const Plan& plan, const Launch& launch);

// Families, one file each; `native_kernel.cpp` joins them.
std::span<const Entry> sorting();
std::span<const Entry> data_sizes();
std::span<const Entry> pooling();
std::span<const Entry> spacing();
std::span<const Entry> special_functions();
std::span<const Entry> selection();
std::span<const Entry> scatters();
std::span<const Entry> pairs();
std::span<const Entry> histograms();
std::span<const Entry> segments();
std::span<const Entry> regions();
std::span<const Entry> linear_algebra();
std::span<const Entry> recurrent();
std::span<const Entry> random_numbers();
std::span<const Entry> grouped_products();
std::span<const Entry> transforms();

}  // namespace strata::native
