# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_g.json: complex numbers and Fourier transforms, with the results that PyTorch gives.

Run with PyTorch 2.13 or later: python3 make_ops_g.py
"""
import torch

from op_cases import b, case, f, i, inf, nan, t, write

torch.manual_seed(31)
DOUBLE, C64, C128 = torch.float64, torch.complex64, torch.complex128


def z(*shape, lo=-2.0, hi=2.0, dt=C64):
    part = DOUBLE if dt == C128 else torch.float32
    return torch.complex(f(*shape, lo=lo, hi=hi, dt=part), f(*shape, lo=lo, hi=hi, dt=part))


X, Y, D = z(2, 3), z(2, 3), z(2, 3, dt=C128)
ROW = z(3)
# Squares overflow or vanish, or one part is all.
WIDE = torch.complex(t([1e30, 1e-30, 0.0, 3e20, -1.0, 0.0, -0.0, 2.0]), t([1e30, 1e-30, 2.0, -1e-20, 0.0, 0.0, 5.0, -0.0]))
ODD = torch.complex(t([inf, nan, 1.0, -inf, 0.0]), t([1.0, 0.0, inf, -inf, nan]))

# ------------------------------------------------------------------------------------------------ made and taken apart
for x in (X, D, z(4)[::2], z(3, 2).t(), z(2, 0), z()):
    case("view_as_real", x)
    case("real", x)
    case("imag", x)
    case("conj", x)
    case("_conj", x)
    case("_conj_physical", x)
    case("conj_physical", x)
    case("resolve_conj", x)
    case("resolve_neg", x)
    case("isreal", x)
for x in (f(3, 2), f(2, 3, 2, dt=DOUBLE), f(4, 2)[::2], f(0, 2), f(2)):
    case("view_as_complex", x)
for name in ("real", "conj", "conj_physical", "resolve_conj", "resolve_neg", "isreal", "angle", "sgn"):
    case(name, f(3))
case("isreal", i(3))
case("angle", i(3))
case("angle", t([0.0, -0.0, nan, -2.0, inf]))
case("sgn", t([0.0, -0.0, -2.0, inf]))
case("isreal", torch.complex(t([1.0, 2.0, nan]), t([0.0, 1.0, -0.0])))
for dt in (torch.float32, DOUBLE):
    case("complex", f(2, 3, dt=dt), f(3, dt=dt))
    case("polar", f(2, 1, dt=dt), f(3, dt=dt))

# ---------------------------------------------------------------------------------------------------------- arithmetic
for name in ("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor"):
    for x, y in ((X, Y), (X, ROW), (X, f(2, 3)), (f(3), X), (X, z()), (D, X), (X, f(2, 3, dt=DOUBLE)), (i(3), X), (X, t(2.0))):
        case(name, x, y)
    case(name, X, 1.5)
    case(name, X, 2)
    case(name, X, 1j)
    case(name, f(3), 2.0 - 1j)
    case(name, WIDE[:2], WIDE[:2].flip(0).clone())
for name in ("add.Scalar", "sub.Scalar", "mul.Scalar", "div.Scalar", "rsub.Scalar"):
    case(name, X, 2.5)
    case(name, X, 1 - 2j)
case("add.Tensor", X, Y, alpha=3)
case("sub.Tensor", X, f(3), alpha=0.5)
case("add.Tensor", X, Y, alpha=0.5 - 1j)
case("sub.Scalar", X, 2, 1j)
case("rsub.Tensor", X, Y)
for name in ("neg", "reciprocal", "abs", "angle", "sgn", "exp", "log", "log2", "log10", "sqrt", "rsqrt", "sigmoid", "sin", "cos", "tan", "sinh",
             "cosh", "tanh", "square"):
    case(name, X)
    case(name, D)
    case(name, z(7)[::2])
for name in ("abs", "angle", "sgn", "neg"):
    case(name, WIDE)
case("sqrt", WIDE[2:])
case("tanh", z(4, lo=-40, hi=40))
case("abs", ODD)
for name in ("isnan", "isinf", "isfinite"):
    case(name, ODD)
    case(name, X)
case("logical_not", WIDE)
for name in ("any", "all"):
    case(name, WIDE)
    case(name + ".dim", torch.where(b(2, 3), X, torch.zeros_like(X)), 1, True)
for exponent in (2, 0.5, 3, -1.5, 0):
    case("pow.Tensor_Scalar", X, exponent)
case("pow.Tensor_Scalar", torch.complex(t([0.0, 1.0]), t([0.0, 0.0])), 1.5)
case("pow.Tensor_Scalar", X, 1 + 1j)
case("pow.Tensor_Tensor", X, Y)
case("pow.Tensor_Tensor", X, f(3, lo=0.5))
for name in ("eq", "ne"):
    case(name + ".Tensor", X, torch.where(b(2, 3), X, Y))
    case(name + ".Tensor", X, X.real.clone())
    case(name + ".Tensor", X, D.real.clone())
    case(name + ".Scalar", torch.complex(t([1.0, 1.0]), t([0.0, 2.0])), 1)
case("addcmul", X, Y, z(3), value=0.5)
case("addcdiv", X, Y, z(3), value=2)

# ------------------------------------------------------------------------------------------------------------ movement
case("_to_copy", f(3), dtype=C64)
case("_to_copy", X, dtype=C128)
case("_to_copy", D, dtype=C64)
case("_to_copy", WIDE[2:], dtype=torch.bool)
case("clone", z(3, 2).t())
case("cat", [X, Y], 1)
case("cat", [X, f(1, 3)])
case("cat", [f(2, 2, dt=DOUBLE), X], 1)
case("stack", [X, Y], -1)
case("where.self", b(2, 3), X, Y)
case("where.self", b(2, 3), X, f(3))
case("masked_fill.Scalar", X, b(2, 3), 1.5)
case("masked_fill.Scalar", X, b(3), 1j)
case("index_select", X, 1, t([2, 0], torch.int64))
case("index.Tensor", X, [None, t([2, 0, 1], torch.int64)])
case("gather", X, 1, i(2, 2, lo=0, hi=3))
case("embedding", z(5, 2), i(3, lo=0, hi=5))
case("index_put", X, [t([1], torch.int64)], ROW)
case("index_put", X, [t([1], torch.int64)], f(3).to(C64), True)
case("index_add", X, 0, t([1, 1], torch.int64), Y)
case("scatter.src", X, 1, i(2, 1, lo=0, hi=3), Y)
case("slice_scatter", X, z(2, 1), 1, 1, 2)
case("select_scatter", X, ROW, 0, 1)
case("constant_pad_nd", X, [1, 2], 0.5)
case("constant_pad_nd", X, [0, 1, 1, 0])
case("roll", X, [1], [1])
case("flip", X, [1])
case("tril", X)
case("triu", X, 1)
case("repeat", ROW, [2, 2])
case("expand", z(2, 1), [2, 3])
case("permute", z(2, 3, 4), [2, 0, 1])
case("view", z(2, 6), [3, 4])
case("unfold", z(6), 0, 3, 2)
case("split.Tensor", z(5, 2), 2)
case("unbind.int", X, 1)
case("full", [2, 2], 1 - 2j, dtype=C64)
case("full_like", X, 0.5)
case("zeros_like", X)
case("ones_like", X)
case("new_zeros", X, [2])
case("ones", [2], dtype=C64)
case("scalar_tensor", 2.0, dtype=C64)

# ------------------------------------------------------------------------------------------------------ sums, products
case("sum", X)
case("sum.dim_IntList", z(2, 3, 4), [0, 2])
case("sum.dim_IntList", X, [1], True)
case("mean", D)
case("mean.dim", X, [0])
case("cumsum", X, 1)
for order in (2, 1, inf, -inf):
    case("linalg_vector_norm", X, order)
    case("linalg_vector_norm", D, order, [1], True)
A, B = z(3, 4), z(4, 2)
case("mm", A, B)
case("bmm", z(2, 3, 4), z(2, 4, 2))
case("mv", A, z(4))
case("dot", z(4), z(4))
case("vdot", z(4), z(4))
case("addmm", z(2), A, B)
case("addmm", z(3, 2), A, B, beta=0.5, alpha=2)
case("addmm", z(3, 2), A, B, beta=1j, alpha=1 - 2j)
case("addmm", ODD[:2], A, B, beta=0)
case("baddbmm", z(2, 3, 2), z(2, 3, 4), z(2, 4, 2), beta=2, alpha=0.5)
case("matmul", z(2, 3, 4), B)
case("matmul", D, f(3, 2, dt=DOUBLE).to(C128))
case("einsum", "bixy,ioxy->boxy", [z(2, 3, 2, 2), z(3, 4, 2, 2)])
case("outer", z(2), z(3))
case("tensordot", A, B, [1], [0])
for name in ("adjoint", "mH"):
    case(name, A)
    case(name, f(2, 3))

# ------------------------------------------------------------------------------------------------------------- Fourier
for norm in (0, 1, 2):
    case("_fft_c2c", z(2, 6), [1], norm, True)
    case("_fft_c2c", z(3, 4, 5), [2, 0], norm, False)
    case("_fft_r2c", f(2, 7), [1], norm, True)
    case("_fft_r2c", f(4, 6), [0, 1], norm, False)
    case("_fft_c2r", z(2, 4), [1], norm, 6)
    case("_fft_c2r", z(4, 3), [1, 0], norm, 7)
for n in (1, 2, 3, 8, 12, 37, 64, 74):
    case("fft_fft", z(2, n))
    case("fft_ifft", z(2, n, dt=C128))
    case("fft_rfft", f(2, n))
    case("fft_irfft", z(2, n // 2 + 1), n)
case("fft_fft", f(2, 5))
case("fft_fft", f(2, 5, dt=DOUBLE), 8, 0, "ortho")
case("fft_fft", i(4))
case("fft_ifft", f(6), 4, -1, "forward")
case("fft_fft", z(6), 4)
case("fft_fft", z(3, 2), 5, 0)
case("fft_rfft", f(6, 2), 9, 0, "ortho")
case("fft_rfft", f(6), 3)
case("fft_irfft", z(4))
case("fft_irfft", f(4), 5)
case("fft_hfft", z(4))
case("fft_hfft", z(2, 4), 7, -1, "ortho")
case("fft_ihfft", f(5))
case("fft_ihfft", f(2, 6), 4, 1, "forward")
for name in ("fftn", "ifftn"):
    case("fft_" + name, z(2, 3, 4))
    case("fft_" + name, f(3, 4), [4, 2], [0, 1], "ortho")
    case("fft_" + name, z(2, 3, 4), None, [1, 2])
    case("fft_" + name, z(2, 3), [5])
case("fft_rfftn", f(2, 3, 4))
case("fft_rfftn", f(2, 3, 4), [4, 4], [0, 2], "forward")
case("fft_irfftn", z(2, 3, 4))
case("fft_irfftn", z(2, 3, 4), [2, 5], [1, 2], "ortho")
case("fft_fft2", z(2, 3, 4))
case("fft_ifft2", f(3, 4))
case("fft_rfft2", f(2, 4, 6), None, [1, 2], "ortho")
case("fft_irfft2", z(2, 4, 4), [4, 6])
for name in ("fftshift", "ifftshift"):
    case("fft_" + name, f(5))
    case("fft_" + name, z(3, 4))
    case("fft_" + name, f(3, 4), [1])
for n in (1, 5, 6):
    case("fft_fftfreq", n, device=torch.device("cpu"))
    case("fft_fftfreq", n, 0.25, dtype=DOUBLE, device=torch.device("cpu"))
    case("fft_rfftfreq", n, 2.0, device=torch.device("cpu"))
case("stft", f(40), 8, 4, 8, f(8), False, True, True)
case("stft", f(2, 30), 8, None, 6, f(6), True, False, True)
case("stft", z(30), 8, 3)

# Attention as PyTorch's own decompositions leave it; the second query of the mask looks at nothing.
mask = torch.zeros(3, 5)
mask[1] = -float("inf")
mask[2, 3:] = -float("inf")
flash = "_scaled_dot_product_flash_attention_for_cpu"
case(flash, f(2, 2, 3, 4), f(2, 2, 5, 4), f(2, 2, 5, 4))
case(flash, f(2, 2, 3, 4), f(2, 2, 5, 4), f(2, 2, 5, 4), attn_mask=mask, scale=0.3)
case(flash, f(1, 4, 3, 4), f(1, 2, 3, 4), f(1, 2, 3, 4), 0.0, True)

write("ops_g.json")
