# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_f.json: operators that are others by another name (clip, concat, special_expit, ...), and sums, areas, products
and losses that say in one word what others say in a few. With the results that PyTorch gives.

Run with PyTorch 2.13 or later: python3 make_ops_f.py
"""
import torch

from op_cases import b, case, f, i, inf, nan, t, write

torch.manual_seed(23)
HALF, BRAIN, DOUBLE = torch.float16, torch.bfloat16, torch.float64
ODD = t([0.0, -0.0, 1.5, -2.5, inf, -inf, nan])
X, Y, V = f(2, 3), f(2, 3), f(4)

# --------------------------------------------------------------------------------------------------------- other names
for low, high in ((-1.0, 1.0), (None, 0.5), (-0.5, None)):
    case("clip", X, low, high)
    case("clip", ODD, low, high)
case("clip", i(5), -2, 3)
case("clip.Tensor", X, Y - 1, Y)
case("clip.Tensor", X, None, V[:3])
for name in ("concat", "concatenate"):
    case(name, [X, Y])
    case(name, [X, f(2, 1)], 1)
    case(name, [i(2), f(3)])
case("row_stack", [X, f(3)])
case("moveaxis.int", f(2, 3, 4), 0, -1)
case("moveaxis.intlist", f(2, 3, 4), [0, 1], [2, 0])
case("swapdims", f(2, 3, 4), 0, -1)
for name in ("greater", "greater_equal", "less", "less_equal", "not_equal"):
    case(name + ".Scalar", ODD, 0)
    case(name + ".Scalar", i(4), 1.5)
for name in ("multiply", "subtract", "divide", "true_divide"):
    case(name + ".Scalar", X, 1.5)
    case(name + ".Scalar", i(4), 3)
    case(name + ".Scalar", f(3, dt=HALF), 0.3)
for mode in (None, "floor", "trunc"):
    case("divide.Tensor_mode", X, Y, rounding_mode=mode)
    case("divide.Scalar_mode", X, -0.7, rounding_mode=mode)
    case("divide.Tensor_mode", i(5), i(5, lo=1), rounding_mode=mode)
for name in ("erf", "erfc", "exp2", "expm1", "log1p", "expit", "sinc"):
    case("special_" + name, f(4, lo=-.9, hi=2))
    case("special_" + name, t([0, 1, 2], torch.int64))
    case("special_" + name, f(4, lo=-.9, hi=2, dt=BRAIN))
case("special_round", f(4, lo=-9, hi=9))
case("special_round", f(4, lo=-9, hi=9), decimals=2)
case("special_logit", f(4, lo=.1, hi=.9))
case("special_logit", f(4, lo=-1, hi=2), 0.2)
case("special_xlogy", f(4, lo=.1), f(4, lo=.1))
case("special_xlogy", t([0.0, 0.0, 2.0]), t([0.0, nan, 0.0]))
for dtype in (None, DOUBLE):
    case("special_softmax", X, -1, dtype)
    case("special_log_softmax", X, 0, dtype=dtype)
case("special_logsumexp", f(2, 3, 2), [0, 2])
case("special_logsumexp", X, [1], True)

# ---------------------------------------------------------------------------------------------------------------- sums
HOLES = torch.where(b(3, 4), f(3, 4), nan)
for name in ("nansum", "nanmean"):
    case(name, HOLES)
    case(name, HOLES, [1])
    case(name, HOLES, [0], True)
    case(name, HOLES, [0, 1], dtype=DOUBLE)
    case(name, t([nan, nan]))
    case(name, HOLES.to(BRAIN), [0])
case("nansum", i(3, 2), [1])
for x in (i(3, 4, lo=-1, hi=2), b(3, 4), ODD, f()):
    case("count_nonzero", x)
case("count_nonzero", i(3, 4, lo=-1, hi=2), 1)
case("count_nonzero", i(3, 4, lo=-1, hi=2), -2)
for name in ("trapezoid", "cumulative_trapezoid", "trapz"):
    case(name + ".dx", f(3, 5))
    case(name + ".dx", f(3, 5), dx=0.25, dim=0)
    case(name + ".x", f(3, 5), f(5))
    case(name + ".x", f(3, 5), f(3, 5), dim=0)
    case(name + ".x", f(2, 3, 5), f(3), dim=1)
    case(name + ".x", f(2, 3, 5), f(3, 5), dim=2)
case("trapezoid.dx", i(4))

# ------------------------------------------------------------------------------------------------------------ products
case("tensordot", f(2, 3, 4), f(3, 4, 5), [1, 2], [0, 1])
case("tensordot", f(2, 3, 4), f(4, 3, 5), [1, -1], [1, 0])
case("tensordot", f(2, 3), f(4), [], [])
case("tensordot", f(2, 3), f(2, 3), [0, 1], [0, 1])
case("tensordot", f(2, 1), f(3, 4), [1], [0])
case("tensordot", f(2, 3, dt=DOUBLE), f(1, 4, dt=DOUBLE), [1], [0])
case("chain_matmul", [f(2, 3), f(3, 4), f(4, 2)])
case("linalg_multi_dot", [f(2, 3), f(3, 4), f(4, 2)])
case("linalg_multi_dot", [f(3), f(3, 4), f(4)])
for n in (1, 2, 3, 5):
    case("matrix_power", f(2, 3, 3, lo=-1, hi=1), n)
case("linalg_vecdot", f(2, 3), f(2, 3))
case("linalg_vecdot", f(2, 3), f(2, 1), dim=0)
case("cartesian_prod", [f(2), f(3), f(2)])
case("cartesian_prod", [i(3)])

# -------------------------------------------------------------------------------------------------------------- losses
COUNTS = i(3, 4, lo=0, hi=6).to(torch.float32)
for reduction in (0, 1, 2):
    for log_input in (False, True):
        for full in (False, True):
            case("poisson_nll_loss", f(3, 4, lo=.2), COUNTS, log_input, full, 1e-8, reduction)
    case("cosine_embedding_loss", f(3, 4), f(3, 4), t([1, -1, 1], torch.int64), 0.1, reduction)
case("cosine_embedding_loss", f(4), f(4), t(-1, torch.int64))

# ------------------------------------------------------------------------------------------------------------- numbers
case("isreal", X)
case("isreal", i(3))
case("ldexp.Tensor", f(4), i(4))
case("logaddexp2", f(4), f(4))
case("logaddexp2", ODD, f(7))
case("logaddexp2", t([inf, -inf, -inf, inf, 900.0]), t([inf, -inf, inf, 3.0, 901.0]))
case("logaddexp2", f(3, dt=HALF), f(3, dt=HALF))
for side in ("left", "right"):
    case(f"bitwise_{side}_shift.Tensor_Scalar", i(5), 2)
    case(f"bitwise_{side}_shift.Scalar_Tensor", 17, i(5, lo=0, hi=4))
    case(f"__{side[0]}shift__.Scalar", i(5, dt=torch.int32), 3)
    case(f"__{side[0]}shift__.Tensor", i(5), i(5, lo=0, hi=4))
for word in ("and", "or", "xor"):
    case(f"bitwise_{word}.Scalar_Tensor", 6, i(5))
case("special_entr", t([-1.0, 0.0, 0.5, 2.0, inf, nan]))
case("special_entr", i(4, lo=0))
case("special_ndtr", t([-6.0, -1.5, 0.0, 0.7, 5.0, inf, -inf, nan]))
case("special_ndtr", t([-12.0, -6.0, -1.0, 1.5], DOUBLE))
case("special_ndtr", i(3))
case("special_xlog1py", f(4), f(4, lo=-.9))
case("special_xlog1py", t([0.0, 0.0, 0.0, 2.0]), t([-1.0, nan, inf, -1.0]))
case("isin.Tensor_Scalar", i(2, 5, lo=0, hi=3), 1)
case("isin.Tensor_Scalar", i(5, lo=0, hi=3), 2, invert=True)
for p in (1, 2, inf):
    case("renorm", f(3, 4), p, 0, 1.5)
case("renorm", f(2, 3, 2), 2, -2, 1.0)

# -------------------------------------------------------------------------------------------------------------- copies
case("split_copy.Tensor", f(5, 2), 2)
case("split_with_sizes_copy", f(5, 2), [1, 4])
case("split_with_sizes_copy", f(2, 5), [2, 0, 3], 1)
case("unbind_copy.int", f(3, 2))
case("unbind_copy.int", f(3, 2), 1)

# ------------------------------------------------------------------------------------------------------------ matrices
SQUARE = f(3, 3) + 3 * torch.eye(3)
SQUARES = f(2, 3, 3, dt=DOUBLE) - 2 * torch.eye(3, dtype=DOUBLE)
for a in (SQUARE, SQUARES):
    for name in ("det", "linalg_det", "logdet", "slogdet", "linalg_slogdet", "inverse", "linalg_inv"):
        case(name, a)
    positive = a @ a.mT
    case("cholesky", positive)
    case("cholesky", positive, True)
    case("linalg_cholesky", positive, upper=True)
    case("linalg_solve", a, f(*a.shape[:-1], 2, dt=a.dtype))
    case("linalg_solve", a, f(*a.shape[:-2], 2, 3, dt=a.dtype), left=False)
case("linalg_solve", SQUARE, f(3))
case("logdet", -SQUARE)
WIDE = f(2, 3, 4)
for order in (1, -1, inf, -inf):
    case("linalg_matrix_norm", WIDE, order)
    case("linalg_matrix_norm", WIDE, order, [0, 2], True)
    case("linalg_matrix_norm", f(3, 2, dt=BRAIN), order, dtype=torch.float32)
    case("linalg_matrix_norm", WIDE, order, [2, 0])
case("linalg_matrix_norm.str_ord", WIDE)
case("linalg_matrix_norm.str_ord", WIDE, "fro", [0, 1], True, dtype=DOUBLE)
for increasing in (False, True):
    case("vander", V, None, increasing)
    case("vander", i(3), 5, increasing)
    case("vander", b(4), 3, increasing)
case("linalg_vander", X)
case("linalg_vander", X, N=2)
case("as_strided_copy", X, [2, 2], [1, 2], 1)
for name in ("special_xlogy", "special_xlog1py", "xlogy"):
    for overloaded, arguments in (("other_scalar", (V.abs(), 2.0)), ("self_scalar", (2, V.abs()))):
        if name == "xlogy":
            overloaded = {"other_scalar": "Scalar_Other", "self_scalar": "Scalar_Self"}[overloaded]
        case(f"{name}.{overloaded}", *arguments)
        case(f"{name}.{overloaded}", *(i(3, lo=0, hi=4) if isinstance(a, torch.Tensor) else a for a in arguments))

# ----------------------------------------------------------------------------------------------------------- sequences
case("conv_tbc", f(5, 2, 3), f(2, 3, 4), f(4))
case("conv_tbc", f(5, 2, 3), f(3, 3, 4), f(4), 2)
for batch_first in (False, True):
    for side in ("left", "right"):
        case("pad_sequence", [f(3, 2), f(1, 2), f(4, 2)], batch_first, 0.5, side)
case("pad_sequence", [i(2), i(3)])
for order in (1, 2):
    case("gradient.scalarint", f(4, 5), edge_order=order)
    case("gradient.scalarint", f(4, 5, dt=DOUBLE), spacing=0.25, dim=-1, edge_order=order)
case("gradient.scalarint", i(5))

# ---------------------------------------------------------------------------------------------------------------- bags
SOME, CUTS = t([0, 1, 2, 3, 4, 1], torch.int64), t([0, 0, 3, 5], torch.int64)
ALL = t([0, 0, 3, 6], torch.int64)
for dtype in (torch.float32, DOUBLE, BRAIN):
    table = f(5, 2, dt=dtype)
    for mode in (0, 1, 2):
        case("embedding_bag", table, SOME, CUTS, False, mode)
        for last in (False, True):
            case("_embedding_bag", table, SOME, ALL if last else CUTS, False, mode, False, None, last, 1)
        case("_embedding_bag", table, SOME, ALL, False, mode, False, None, True)
    case("embedding_bag.padding_idx", table, SOME, CUTS, False, 0, False, f(6, dt=dtype), False, 2)
    case("embedding_bag.padding_idx", table, SOME, CUTS, False, 1, False, None, False, -1)
case("embedding_bag", f(5, 3), SOME.int(), CUTS.int())
case("_embedding_bag_forward_only", f(5, 3), SOME, CUTS, False, 1)

# -------------------------------------------------------------------------------------------------------------- losses
for reduction in (0, 1, 2):
    for p in (1, 2):
        case("multi_margin_loss", f(4, 5), i(4, lo=0, hi=5), p, 0.7, None, reduction)
        case("multi_margin_loss", f(4, 5), i(4, lo=0, hi=5), p, 1, f(5, lo=.1), reduction)
    case("multilabel_margin_loss", f(3, 4), t([[3, 0, -1, 1], [-1, 2, 2, 2], [0, 1, 2, 3]], torch.int64), reduction)
case("multi_margin_loss", f(5), t(2, torch.int64))
case("multi_margin_loss", f(2, 3, dt=DOUBLE), t([2, 0], torch.int64))
case("multilabel_margin_loss", f(4), t([3, 0, -1, 1], torch.int64))
case("multi_margin_loss", f(), t(0, torch.int64))
case("multilabel_margin_loss", f(), t(0, torch.int64))

# --------------------------------------------------------------------------------------------------------------- others
for order in (None, 2, 1, float("inf"), -1):
    case("linalg_norm", f(5), order)
    case("linalg_norm", f(3, 4), order, [1])
    if order != 2:
        case("linalg_norm", f(3, 4), order)
        case("linalg_norm", f(2, 3, 4), order, [0, -1], True)
case("linalg_norm", f(2, 3, 4), dtype=DOUBLE)
case("linalg_norm.ord_str", f(3, 4), "fro")
case("linalg_norm.ord_str", f(2, 3, 4), "fro", [2, 0], True)
for n in (0, 1, 2, 5):
    case("linalg_matrix_power", f(2, 3, 3), n)
case("matrix_power", f(3, 3), 0)
case("linalg_diagonal", f(2, 3, 4))
case("linalg_diagonal", f(2, 3, 4), offset=1, dim1=0, dim2=2)
for again in (False, True):
    case("combinations", f(4), 2, again)
    case("combinations", i(5), 1, again)
case("_safe_softmax", t([[1.0, 2.0], [-inf, -inf], [-inf, 3.0]]), -1)
case("_safe_softmax", f(3, 4), 0, DOUBLE)
MASK = t([True, False, True, False])
TALL = t([[True], [False], [True]])
case("_unsafe_masked_index", f(3, 5), MASK[:, None], [t([0, 7, 2, -9], torch.int64)], 0.5)
case("_unsafe_masked_index", f(3, 5), MASK, [t([0, 7, 2, -9], torch.int64), t([4, 4, 0, 11], torch.int64)], 0)
case("_unsafe_masked_index", i(3, 4), TALL, [None, t([3, 99, 0, 1], torch.int64)], 7)
case("_native_batch_norm_legit", f(4, 3, 2), f(3), f(3), f(3), f(3, lo=.1), False, 0.1, 1e-5)

for dim, lengths in ((0, f(4, 1, 1)), (1, f(1, 5, 1)), (2, f(1, 1, 3)), (-1, f())):
    case("_weight_norm", f(4, 5, 3), lengths, dim)
case("_weight_norm", f(7), f(7), 0)

# Sums of integers are int64, whatever adds them up.
INT = torch.int32
for x in (i(2, 3, dt=INT), b(2, 3)):
    for shape in ([1, 3], [3], [2, 3], []):
        case("sum_to_size", x, shape)
    for equation in ("ij->", "ij->i"):
        case("einsum", equation, [x])
case("sum_to_size", i(dt=INT), [])
case("einsum", "ij,kj->j", [i(2, 3, dt=INT), i(4, 3, dt=INT)])
case("einsum", "ij,kj->ik", [i(2, 3, dt=INT), i(4, 3, dt=INT)])
case("einsum", "ij,ij->i", [i(2, 3, dt=INT), i(2, 3, dt=INT)])
case("tensordot", i(2, 1, dt=INT), i(3, 4, dt=INT), [1], [0])
case("tensordot", i(2, 3, dt=INT), i(1, 4, dt=INT), [1], [0])
for dt in (torch.float32, torch.int64, INT, torch.int16, torch.uint8):
    case("median", torch.empty(0, 2, dtype=dt))
    case("nanmedian", torch.empty(0, 2, dtype=dt))
case("gather", f(5), 0, torch.empty(2, 0, dtype=torch.int64))
case("gather", f(5, 3), 1, torch.empty(0, dtype=torch.int64))
case("linalg_vander", t(3.0), N=4)
case("linalg_vander", t(2, torch.int64), N=3)

write("ops_f.json")
