# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_d.json: writing at indices that come from data, results whose size only the data tells, runs, small
matrices. With the results and gradients that PyTorch gives.

Run with PyTorch 2.13 or later: python3 make_ops_d.py
"""
import torch

from op_cases import b, case, f, i, inf, nan, t, write

torch.manual_seed(13)
HALF, BRAIN, DOUBLE = torch.float16, torch.bfloat16, torch.float64


def at(values):
    return t(values, torch.int64)


# -------------------------------------------------------------------------------------------------------------- scatters
INDEX = at([[0, 2, 1, 0], [2, 2, 0, 1]])
for reduce in ("add", "multiply"):
    case("scatter.reduce", f(3, 4), 0, INDEX, f(2, 4), reduce=reduce)
    case("scatter.reduce", i(3, 4, dt=torch.int8), 0, INDEX, i(2, 4, dt=torch.int8), reduce=reduce)
    case("scatter.value_reduce", f(3, 4), 0, INDEX, 1.5, reduce=reduce)
    case("scatter.value_reduce", f(3, 4, dt=HALF), 0, INDEX, 2, reduce=reduce)
for dt in (torch.float32, DOUBLE, BRAIN, torch.int64, torch.uint8):
    x = f(3, 4, dt=dt) if dt.is_floating_point else i(3, 4, lo=0, hi=9, dt=dt)
    y = f(2, 4, dt=dt) if dt.is_floating_point else i(2, 4, lo=0, hi=9, dt=dt)
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        case("scatter_reduce.two", x, 0, INDEX, y, reduce)
        case("scatter_reduce.two", x, 0, INDEX, y, reduce, include_self=False)
        if reduce != "sum":
            case("index_reduce", x, 0, at([2, 0]), y, reduce)
            case("index_reduce", x, 0, at([1, 1]), y, reduce, include_self=False)
case("scatter_reduce.two", t([1.0, nan, 3.0]), 0, at([0, 1, 2]), t([nan, 1.0, inf]), "amax")
case("scatter_reduce.two", b(3, 4), 0, INDEX, b(2, 4), "sum")
case("scatter_reduce.two", f(), 0, at(0), f(), "prod")
case("index_fill.int_Tensor", f(3, 4), 1, at([0, -1]), t(2.5))
case("index_fill.int_Tensor", i(3), 0, at(1), at(7))
case("put", f(3, 4), at([[0, 11], [-1, 3]]), f(2, 2))
case("put", f(3, 4), at([1, 1, 5]), f(3), True)
case("put", i(5), at([4, 4]), i(2), False)
case("as_strided_scatter", f(4, 5), f(2, 3), [2, 3], [10, 2], 1)
case("as_strided_scatter", f(8), f(2, 2), [2, 2], [1, 4])
case("_unsafe_index_put", f(4, 3), [at([0, 2])], f(2, 3))
case("_unsafe_index_put", f(4, 3), [None, at([1, 1])], f(4, 2), True)
case("_unsafe_masked_index_put_accumulate", f(4, 3), t([True, False, True], torch.bool), [at([0, 9, 0])], f(3, 3))
case("index_put", f(4, 3), [t([True, False, True, True], torch.bool)], f(3, 3))
case("index_put", f(4, 3), [b(4, 3)], t(7.0))
case("index_put", f(4, 3, dt=BRAIN), [at([0, 0, 3])], f(3, 3, dt=BRAIN), True)
for offset in (0, 1, -2):
    case("diagonal_scatter", f(4, 4), f(4 - abs(offset)), offset, grad=True)
case("diagonal_scatter", f(2, 3, 5), f(3, 2), 0, 0, 2)
case("diagonal_scatter", i(3, 5), i(3), 2, 0, 1)

# ------------------------------------------------------------------------------------------------- sizes that data tells
for x in (at(5), at([[-3]]), t([200], torch.uint8)):
    case("item", x)
    case("_local_scalar_dense", x)
SPARSE = [i(4, 5, lo=-1, hi=2), b(3, 4), f(2, 3, 4).round(), torch.zeros(3, 2), f(5, dt=HALF).round(), t([nan, -0.0, inf]), b(4, 6).t(), f(0, 3), t(3.0),
          t(0.0)]
for x in SPARSE:
    case("nonzero", x)
    case("argwhere", x)
for x, mask in ((f(3, 4), b(3, 4)), (f(3, 4), b(4)), (f(4), b(3, 1)), (i(5), torch.zeros(5, dtype=torch.bool)), (f(3, 4).t(), b(4, 3)), (f(4, dt=BRAIN), b(4))):
    case("masked_select", x, mask)
case("index.Tensor", f(4, 3), [b(4)])
case("index.Tensor", f(4, 3), [b(4, 3)])
case("index.Tensor", f(2, 4, 3), [None, t([True, False, True, True], torch.bool)])
case("index.Tensor", f(2, 4, 3), [at([0, 1]), None, t([True, False, True], torch.bool)])
FEW = [i(3, 7, lo=0, hi=4), i(9, lo=-2, hi=2, dt=torch.int8), b(6), t([2.0, nan, 1.0, nan, 2.0, -0.0, 0.0]), f(8, dt=HALF).round(), f(8, dt=BRAIN).round(),
       f(3, 4).t().round(), at([]), at(4)]
for x in FEW:
    case("_unique", x, True, True)
    case("_unique2", x, True, True, True)
    case("unique_consecutive", x, True, True)
    case("unique_consecutive", x.reshape(-1).sort()[0])
    if x.dim() == 1:
        case("unique_consecutive", x, True, True, 0)
case("_unique", FEW[0])
case("_unique2", FEW[0])
for x in (i(5, 2, lo=0, hi=2), i(3, 4, 2, lo=0, hi=2), b(6, 2), f(4, 3).round()):
    for dim in (0, 1):
        case("unique_dim", x, dim, True, True, True)
        case("unique_dim", x, dim)
        case("unique_dim_consecutive", x, dim, True, True)
for repeats in (at([2, 0, 3]), at([0, 0]), t([1, 4], torch.int32), at([])):
    case("repeat_interleave.Tensor", repeats)
case("repeat_interleave.self_Tensor", f(3, 2), at([2, 0, 3]), 0)
case("repeat_interleave.self_Tensor", f(2, 3), at([1, 0, 2]), 1)
case("repeat_interleave.self_Tensor", f(2, 2), at([1, 0, 2, 1]))
case("repeat_interleave.self_Tensor", f(2, 3), at([2]), 1)
for x in (at([3, 1, 1, 0]), t([5, 5], torch.uint8), at([]), t([1, 0, 7], torch.int32)):
    case("bincount", x)
    case("bincount", x, None, 4)
    case("bincount", x, f(x.numel(), dt=DOUBLE))
    case("bincount", x, f(x.numel()), 3)

# ------------------------------------------------------------------------------------------------------ runs
for reduce in ("sum", "mean", "max", "min", "prod"):
    for x in (f(7), f(7, 3), f(7, 2, dt=HALF), t([1.0, nan, 2, -1, 0, 3, inf])):
        case("segment_reduce", x, reduce, lengths=at([2, 0, 4, 1]), unsafe=False)
        case("segment_reduce", x, reduce, offsets=at([0, 3, 3, 7]), initial=1.5)
    case("segment_reduce", f(2, 5, 2, dt=DOUBLE), reduce, lengths=at([[2, 3], [0, 5]]), axis=1)

# --------------------------------------------------------------------------------------------------- matrices
for p in (0.0, 1.0, 2.0, 3.5, inf):
    case("pdist", f(4, 3), p)
case("take", f(3, 4).t(), at([[0, -1], [5, 11]]))
case("take", i(4), at([]))
SQUARE = f(3, 3) + 3 * torch.eye(3)
BATCH = f(2, 4, 4, dt=DOUBLE) + 4 * torch.eye(4, dtype=DOUBLE)
for a in (SQUARE, BATCH, BATCH.transpose(-2, -1), f(0, 0)):
    n, rows = a.shape[-1], (*a.shape[:-2], 2, a.shape[-1])
    right, left = f(*a.shape[:-1], 2, dt=a.dtype), f(*rows, dt=a.dtype)
    for upper in (False, True):
        case("linalg_solve_triangular", a, right, upper=upper)
        case("linalg_solve_triangular", a, left, upper=upper, left=False, unitriangular=True)
        positive = a @ a.mT + torch.eye(n, dtype=a.dtype)
        case("linalg_cholesky_ex", positive, upper=upper)
        factor = torch.linalg.cholesky(positive, upper=upper)
        case("cholesky_solve", right, factor, upper)
        case("cholesky_inverse", factor, upper)
    case("linalg_lu_factor_ex", a)
    case("linalg_lu", a)
    lu, pivots = torch.linalg.lu_factor(a)
    case("lu_unpack", lu, pivots)
    for adjoint in (False, True):
        case("linalg_lu_solve", lu, pivots, right, adjoint=adjoint)
        case("linalg_lu_solve", lu, pivots, left, left=False, adjoint=adjoint)
    case("_linalg_solve_ex", a, right)
    case("_linalg_solve_ex", a, left, left=False)
    case("_linalg_solve_ex", a, right[..., 0].contiguous())
    case("linalg_inv_ex", a)
    case("_linalg_det", a)
    case("_linalg_slogdet", a)
case("linalg_lu_factor_ex", f(2, 3, 5))
case("linalg_lu", f(5, 3))
case("linalg_lu_factor_ex", t([[0.0, 1], [0, 2]]))
case("linalg_cholesky_ex", t([[1.0, 2], [2, 1]]))
for a in (f(5, 3), f(3, 5), f(2, 4, 4, dt=DOUBLE), f(3, 0)):
    case("geqrf", a)
    case("linalg_qr", a)
    case("linalg_qr", a, "complete")
    made, tau = torch.geqrf(a)
    case("linalg_householder_product", made[..., : min(a.shape[-2:])].contiguous(), tau)
made, tau = torch.geqrf(f(5, 3))
for transpose in (False, True):
    case("ormqr", made, tau, f(5, 2), True, transpose)
    case("ormqr", made, tau, f(2, 5), False, transpose)

# ---------------------------------------------------------------------------------------------------------------- groups
for dt in (torch.float32, BRAIN):
    for ends in ([2, 2, 5], [0, 5, 5]):
        case("_grouped_mm", f(5, 8, dt=dt), f(3, 8, 16, dt=dt), t(ends, torch.int32))
    case("_grouped_mm", f(5, 8, dt=dt), f(3, 16, 8, dt=dt).transpose(1, 2), t([1, 3, 5], torch.int32))
    case("_grouped_mm", f(3, 4, 8, dt=dt), f(3, 8, 16, dt=dt))
for dt in (torch.int64, torch.int32, torch.int8, torch.uint8):
    case("relu6", i(9, lo=0 if dt is torch.uint8 else -9, hi=10, dt=dt))
    case("hardtanh", i(9, lo=0 if dt is torch.uint8 else -9, hi=10, dt=dt), 1, 4)

write("ops_d.json")
