# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_e.json: interpolation to other sizes, sampling by grids, and operators that say in one word what others say
in a few. With the results that PyTorch gives.

Run with PyTorch 2.13 or later: python3 make_ops_e.py
"""
import torch

from op_cases import b, case, f, i, inf, nan, t, write

torch.manual_seed(17)
HALF, BRAIN, DOUBLE = torch.float16, torch.bfloat16, torch.float64

# -------------------------------------------------------------------------------------------------------- interpolation
LINE, IMAGE, VOLUME = f(2, 3, 7), f(1, 2, 5, 7), f(1, 2, 3, 4, 5)
for name, x, sizes in (("1d", LINE, ([11], [3], [7], [1])), ("3d", VOLUME, ([5, 6, 2], [3, 4, 5]))):
    for head in ("upsample_nearest", "_upsample_nearest_exact"):
        for size in sizes:
            case(head + name, x, size)
        case(head + name + ".vec", x, None, [1.5] * (x.dim() - 2))
        case(head + name, x.to(DOUBLE), sizes[0])
case("upsample_nearest1d", LINE, [9], 1.3)
case("upsample_nearest3d", i(1, 1, 2, 3, 2, lo=0, hi=200, dt=torch.uint8), [4, 4, 5])
for size in ([8, 3], [5, 7], [2, 14]):
    case("_upsample_nearest_exact2d", IMAGE, size)
case("_upsample_nearest_exact2d.vec", IMAGE, None, [2.0, 0.6])
for align in (False, True):
    for size in ([11], [3], [1], [7]):
        case("upsample_linear1d", LINE, size, align)
    for size in ([5, 6, 2], [3, 4, 5], [1, 1, 1]):
        case("upsample_trilinear3d", VOLUME, size, align)
    for size in ([8, 3], [5, 7], [2, 14], [1, 1]):
        for name in ("upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"):
            case(name, IMAGE, size, align)
    case("upsample_linear1d.vec", LINE, None, align, [1.7])
    case("upsample_linear1d.vec", LINE, [4], align, None)
    case("upsample_trilinear3d.vec", VOLUME, None, align, [2.0, 0.5, 1.3])
    for name in ("upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"):
        case(name + ".vec", IMAGE, None, align, [1.6, 0.45])
        case(name + ".vec", IMAGE.to(DOUBLE), [3, 9], align, None)
for dt in (HALF, BRAIN):
    case("upsample_bicubic2d", IMAGE.to(dt), [8, 3], False)
    case("upsample_linear1d", LINE.to(dt), [11], True)
case("_upsample_bilinear2d_aa", f(1, 1, 13, 17), [4, 5], False)
case("_upsample_bicubic2d_aa", f(1, 1, 13, 17), [4, 5], False)

# --------------------------------------------------------------------------------------------------------------- grids
for mode in (0, 1, 2):
    for padding in (0, 1, 2):
        for align in (False, True):
            # Away from the middle between elements, where the nearest one is a matter of rounding.
            case("grid_sampler_2d", f(1, 2, 4, 5), f(1, 2, 3, 2, lo=-1.3, hi=1.3), mode, padding, align)
case("grid_sampler", f(2, 1, 3, 4), f(2, 2, 2, 2, lo=-1, hi=1), 0, 0, False)
case("grid_sampler", f(1, 1, 3, 4, 2), f(1, 2, 2, 2, 3, lo=-1, hi=1), 0, 1, True)

# ------------------------------------------------------------------------------------------------------------- joining
X, Y, V = f(2, 3), f(2, 3), f(4)
for n in "123":
    for x in (f(), V, X, f(2, 2, 2), f(2, 1, 2, 1)):
        case(f"atleast_{n}d", x)
    case(f"atleast_{n}d.Sequence", [f(), V, X])
for name in ("hstack", "vstack", "dstack", "column_stack"):
    case(name, [X, Y])
    case(name, [f(3), f(3), i(3)])
case("hstack", [f(), f()])
case("column_stack", [f(3), f(3, 2)])
case("broadcast_tensors", [f(3, 1), f(4), f()])
case("block_diag", [f(2, 3), f(), f(2), f(1, 2)])
case("block_diag", [i(2, 2)])
case("tensor_split.sections", f(7, 2), 3)
case("tensor_split.sections", f(2, 5), 4, 1)
case("tensor_split.sections", f(2, 2), 4, -1)
case("tensor_split.indices", f(7, 2), [1, 4])
case("tensor_split.indices", f(2, 7), [3, 2, -1], 1)
case("tensor_split.indices", f(3), [])
for name, x in (("hsplit", f(2, 4)), ("hsplit", V), ("vsplit", f(4, 2)), ("dsplit", f(2, 1, 4))):
    case(name + ".int", x, 2)
    case(name + ".array", x, [1, 3])
case("fliplr", f(2, 3))
case("flipud", f(3))
for k in (-1, 0, 1, 2, 3, 5):
    case("rot90", f(2, 3), k)
case("rot90", f(2, 3, 4), 1, [2, 0])
case("channel_shuffle", f(1, 6, 2), 3)
case("channel_shuffle", f(2, 4, 2, 3), 2)

# ----------------------------------------------------------------------------------------------------------- diagonals
for offset in (0, 1, -2):
    case("diag_embed", f(2, 3), offset)
    case("diag", f(3), offset)
    case("diag", f(4, 3), offset)
    case("diagflat", f(2, 2), offset)
case("diag_embed", f(2, 3), 0, 0, 1)
case("diag_embed", i(2, 3), 1, 2, 0)
case("diag", b(3))
case("trace", f(3, 4))
case("trace", i(3, 2))

# ------------------------------------------------------------------------------------------------------------ products
case("inner", f(3), f(3))
case("inner", f(2, 3), f(4, 5, 3))
case("inner", f(), f(2))
case("kron", f(2, 3), f(3, 2))
case("kron", f(3), f(2, 2))
case("kron", i(2), i(2))
case("cross", f(2, 3), f(2, 3))
case("cross", f(3, 3), f(3, 3), 1)
case("cross", f(1, 3), f(4, 3), 1)
case("linalg_cross", f(2, 3), f(2, 3))
case("linalg_cross", f(3, 2), f(3, 2), dim=0)
for x in (f(2, 3, 5, 6), f(2, 5, 6)):
    case("im2col", x, [2, 3], [1, 1], [0, 0], [1, 1])
    case("im2col", x, [3, 2], [1, 2], [1, 2], [2, 1])
case("col2im", f(2, 18, 16), [5, 6], [2, 3], [1, 1], [0, 0], [1, 1])
case("col2im", f(1, 6, 24), [5, 6], [3, 2], [1, 2], [1, 2], [2, 1])
case("col2im", f(6, 24), [5, 6], [3, 2], [1, 2], [1, 2], [2, 1])
case("masked_scatter", X, t([[0, 0, 0], [0, 0, 0]], torch.bool), f(0))

# -------------------------------------------------------------------------------------------------------------- losses
P, Q = f(3, 4, lo=.05, hi=.95), f(3, 4, lo=.05, hi=.95)
S = torch.where(b(3, 4), 1.0, -1.0)
for reduction in (0, 1, 2):
    case("binary_cross_entropy", P, Q, None, reduction)
    case("huber_loss", f(3, 4), f(3, 4), reduction, 0.7)
    case("kl_div", P.log(), Q, reduction)
    case("kl_div", P.log(), Q.log(), reduction, log_target=True)
    case("soft_margin_loss", f(3, 4), S, reduction)
    case("margin_ranking_loss", f(4), f(4), S[0], 0.3, reduction)
    case("hinge_embedding_loss", f(3, 4), S, 0.8, reduction)
case("binary_cross_entropy", P, Q, f(4, lo=0), 1)
case("binary_cross_entropy", t([0.0, 1.0, 1.0, 0.0]), t([0.0, 1.0, 0.0, 1.0]), None, 0)
case("binary_cross_entropy", P.to(BRAIN), Q.to(BRAIN))
case("kl_div", P.log(), t([[0.0, 1.0, 0.5, 0.2]]), 0)

# ----------------------------------------------------------------------------------------------------------- pointwise
ODD = t([0.0, -0.0, 1.5, -2.5, inf, -inf, nan])
for name in ("isposinf", "isneginf", "absolute", "negative", "fix", "positive"):
    case(name, ODD)
    case(name, i(4))
for name in ("deg2rad", "rad2deg"):
    case(name, f(4, lo=-200, hi=200))
    case(name, i(3))
    case(name, f(3, dt=HALF))
for name, low, high in (("arccos", -.9, .9), ("arccosh", 1.2, 3), ("arcsin", -.9, .9), ("arcsinh", -2, 2), ("arctan", -2, 2),
                        ("arctanh", -.9, .9)):
    case(name, f(4, lo=low, hi=high))
    case(name, t([0, 1], torch.int64) if name != "arccosh" else t([1, 2], torch.int64))
case("arctan2", f(4), f(4))
case("heaviside", ODD, f(7))
case("heaviside", i(4), i(4))
for name in ("clamp_min", "clamp_max"):
    case(name + ".Tensor", ODD, f(7))
    case(name + ".Tensor", f(2, 3), f(3))
    case(name + ".Tensor", i(4), f(4))
for name in ("greater", "greater_equal", "less", "less_equal", "not_equal"):
    case(name + ".Tensor", t([1.0, 2.0, nan]), t([1.0, 1.0, 1.0]))
    case(name + ".Tensor", i(4), f(4))
case("numpy_T", f(2, 3, 4))
case("numpy_T", f(3))
for name in ("mH", "mT", "adjoint"):
    case(name, f(2, 3, 4))
case("matrix_H", f(2, 3))
case("detach_", f(2, 3))
for k, largest in ((2, True), (3, False), (6, True)):
    case("topk", t([2.0, 1.0, 2.0, 2.0, 1.0, 1.0, nan, 0.5]), k, 0, largest)  # of equals, the ones that PyTorch takes

# -------------------------------------------------------------------------------------- distances, comparisons, copies
for name in ("resolve_conj", "resolve_neg", "conj", "real", "sgn", "sinc"):
    case(name, ODD if name != "sinc" else t([0.0, -0.5, 1.25, 3.0]))
    case(name, i(4))
for p in (1, 2, 3.5):
    case("pairwise_distance", f(3, 4), f(3, 4), p)
    case("dist", f(3, 4), f(4), p)
case("pairwise_distance", f(4), f(2, 4), keepdim=True)
case("cosine_similarity", f(3, 4), f(3, 4))
case("cosine_similarity", f(2, 1, 4), f(3, 4), -1, 0.1)
for swap in (False, True):
    for reduction in (0, 1, 2):
        case("triplet_margin_loss", f(3, 4), f(3, 4), f(3, 4), 0.7, 2, 1e-6, swap, reduction)
CLOSE = t([1.0, 1.0 + 1e-6, 2.0, inf, -inf, nan])
case("isclose", CLOSE, t([1.0, 1.0, 2.1, inf, inf, nan]))
case("isclose", CLOSE, t([1.0, 1.0, 2.1, inf, inf, nan]), 0.1, 0.0, True)
case("isclose", i(5), i(5), 0.0, 1.0)
case("isin.Tensor_Tensor", i(3, 4), i(5))
case("isin.Tensor_Tensor", f(3), t([1.0]), invert=True)
case("isin.Tensor_Tensor", i(3, 4, lo=-20, hi=20), i(17, lo=-20, hi=20))
case("isin.Tensor_Tensor", torch.cat([ODD, f(3)]), torch.cat([f(20), ODD]), invert=True)
case("isin.Tensor_Tensor", i(5), f(18).round())
case("float_power.Tensor_Tensor", f(3, lo=.1, hi=2), i(3))
case("float_power.Tensor_Scalar", i(3, lo=1, hi=4), -2)
case("float_power.Scalar", 2.5, f(3))
case("addr", f(2, 3), f(2), f(3))
case("addr", f(3), f(2), f(3), beta=0.5, alpha=2)
case("addr", i(2, 3), i(2), i(3), beta=0)
case("sum_to_size", f(2, 3, 4), [3, 1])
case("sum_to_size", i(2, 3), [2, 3])
case("unsafe_chunk", f(7, 2), 3)
case("unsafe_split.Tensor", f(2, 5), 2, 1)
Z = f(2, 3, 4)
for name, *args in (("view_copy", [4, 6]), ("permute_copy", [2, 0, 1]), ("expand_copy", [5, 2, 3, 4]), ("alias_copy",), ("detach_copy",),
                    ("transpose_copy.int", 0, 2), ("unsqueeze_copy", 1), ("squeeze_copy",), ("squeeze_copy.dim", 0),
                    ("squeeze_copy.dims", [0, 1]), ("select_copy.int", 1, 2), ("slice_copy.Tensor", 2, 1, 4, 2), ("diagonal_copy", 1, 0, 2),
                    ("narrow_copy", 1, 1, 2), ("unfold_copy", 2, 2, 1)):
    case(name, Z, *args)
case("t_copy", f(2, 3))
for beta in (0, 2):
    case("addr", f(2, 3, dt=DOUBLE), f(2), f(3), beta=beta)
    case("addr", f(1, 3), i(2, lo=-3, hi=4, dt=torch.int8), f(3, dt=BRAIN), beta=beta)
    case("addr", i(2, 1), i(2, lo=-3, hi=4, dt=torch.int32), i(3, lo=-3, hi=4, dt=torch.int8), beta=beta, alpha=3)

write("ops_e.json")
