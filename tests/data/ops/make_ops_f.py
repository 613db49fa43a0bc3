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

write("ops_f.json")
