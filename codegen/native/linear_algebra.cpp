// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Matrix factorisations: the routines stand with the operators' rows (core/ir/ops/small_matrices.h).

#include <array>

#include "codegen/native/native_kernel.h"
#include "core/ir/ops/small_matrices.h"

namespace strata::native {
namespace {

void run_routine(const Arguments& a) {
  const auto& params = a.call.op().schema.params;
  std::vector<Tensor> operands, results;
  for (size_t i = 0; i < params.size(); ++i)
    operands.push_back(params[i].type == "Tensor" && a.has(i) ? a.tensor(i) : Tensor());
  const size_t count = std::max<size_t>(1, a.call.node().type.parts.size());
  for (size_t k = 0; k < count; ++k) results.push_back(a.result(k));
  ops::compute_matrices(std::get<KernelRule>(a.call.op().lowering).name, {a.call, operands, results});
}

constexpr std::array kEntries{
    Entry{"solve_triangular", run_routine},
    Entry{"cholesky", run_routine},
    Entry{"lu_factor", run_routine},
    Entry{"lu_solve", run_routine},
    Entry{"lu_permutation", run_routine},
    Entry{"geqrf", run_routine},
    Entry{"ormqr", run_routine},
    Entry{"householder_product", run_routine},
    Entry{"matrix_exp", run_routine},
    Entry{"thin_svd", run_routine},
    Entry{"symmetric_eigenvalues", run_routine},
};

}  // namespace

std::span<const Entry> linear_algebra() { return kEntries; }

}  // namespace strata::native
