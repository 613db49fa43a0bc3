# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_c.json: operators whose kernels are written by hand or that are made of those: order along a line, selections, searches,
spacings, special functions, max pooling with its places. With the results, strides and gradients that PyTorch gives.

Run with PyTorch 2.13 or later: python3 make_ops_c.py
"""
import torch

from op_cases import b, case, f, i, inf, nan, t, write

torch.manual_seed(11)
HALF, BRAIN, DOUBLE = torch.float16, torch.bfloat16, torch.float64
LINES = [
    f(3, 5), f(3, 5).t(), f(2, 4, 3)[:, ::2], f(2, 1, 4).expand(2, 3, 4), f(7, dt=DOUBLE), f(2, 6, dt=HALF), f(2, 6, dt=BRAIN),
    i(3, 6), i(2, 7, lo=0, hi=3, dt=torch.int8), i(9, lo=0, hi=4, dt=torch.uint8), i(6, dt=torch.int16), i(2, 5, dt=torch.int32), f(),
]
NANS = t([[1, nan, -inf, 3, nan, 2], [inf, 0.0, -0.0, inf, nan, -1], [nan] * 6])
TIES = t([[2, 1, 2, 1, 3, 3], [0, 0, 0, 0, 0, 0], [5, 4, 3, 3, 4, 5]])


def distinct(*shape, dt=torch.float32):
    """No two elements of a line are equal: gradients of what chooses one are not ambiguous."""
    n = torch.Size(shape).numel()
    return (torch.randperm(n).double().reshape(shape) / 4 - n / 8).to(dt)


# ---------------------------------------------------------------------------------------------------------------- orders
for x in LINES + [NANS, TIES, b(2, 5), f(0, 3), f(3, 0)]:
    for dim in {0, -1}:
        case("sort", x, dim)
        case("sort.stable", x, stable=True, dim=dim, descending=True)
        case("argsort.stable", x, stable=True, dim=dim)
case("msort", LINES[0], grad=True)
case("msort", LINES[2])
for x in [distinct(3, 5), distinct(4, 3).t(), distinct(6, dt=HALF)]:
    case("topk", x, 2, grad=x.dtype == torch.float32)
    case("topk", x, 3, 0, False)
case("topk", NANS[0], 1)
case("topk", f(2, 0), 0)

# ------------------------------------------------------------------------------------------------------------ selections
for x in LINES + [NANS, TIES]:
    for dim, keepdim in [(-1, False), (0, True)]:
        n = x.shape[dim] if x.dim() else 1
        for k in {1, (n + 1) // 2, n}:
            case("kthvalue", x, k, dim, keepdim)
        case("median.dim", x, dim, keepdim)
        case("nanmedian.dim", x, dim, keepdim)
        case("mode", x, dim, keepdim)
        case("cummax", x, dim)
        case("cummin", x, dim)
    case("median", x)
    case("nanmedian", x)
for name, args in {"kthvalue": [2], "median.dim": [1], "nanmedian.dim": [1], "mode": [1], "cummax": [1], "cummin": [0]}.items():
    case(name, distinct(3, 5), *args, grad=True)
case("median", distinct(3, 5), grad=True)
case("median", f(0))
case("mode", b(3, 5), 1)
case("kthvalue", f(0, 3), 1, 1)
case("cummax", f(0, 3), 1)
case("cummin", b(3, 4), 1)
for x in [LINES[0], LINES[1], LINES[5], LINES[6], NANS, t([-inf, -inf, 1, inf, 2]), t([300.0, -300.0, 300.0]), f(3, 0), f()]:
    case("logcumsumexp", x, -1)
for x in [distinct(3, 5), distinct(2, 4, 3), distinct(6, dt=DOUBLE)]:
    for how in ["linear", "lower", "higher", "midpoint", "nearest"]:
        q = t([0.0, 0.15, 0.5, 1.0], x.dtype)
        case("quantile", x, q, -1, interpolation=how)
        case("nanquantile.scalar", x, 0.3, 0, True, interpolation=how)
case("quantile", distinct(3, 5), t([0.3]), 1, True, grad=True)
case("quantile.scalar", distinct(3, 5), 0.25, grad=True)
case("quantile.scalar", NANS, 0.4, 1)
case("nanquantile", NANS, t([0.4, 0.9]), 1)
case("nanquantile", NANS, t(0.5))

# -------------------------------------------------------------------------------------------------------------- searches
edges, values = t([-1.0, 0.0, 0.0, 1.5]), t([[-2.0, 0.0, 1.5], [nan, inf, -inf]])
for right in [False, True]:
    case("searchsorted.Tensor", edges, values, right=right)
    case("searchsorted.Tensor", f(2, 9).sort(-1)[0], f(2, 4), right=right, out_int32=True)
    case("searchsorted.Tensor", i(2, 3, 9).sort(-1)[0], i(2, 3, 2), right=right)
    case("searchsorted.Scalar", edges, 0, right=right)
    case("bucketize.Tensor", values, edges, right=right)
    case("bucketize.Tensor", i(3, 2, dt=torch.int16), i(5).sort()[0], right=right)
    case("bucketize.Scalar", 1.5, edges, right=right)
line = f(2, 5)
case("searchsorted.Tensor", line, f(2, 3), side="right", sorter=line.argsort(-1))
case("searchsorted.Tensor", f(9, 2).sort(0)[0].t(), f(2, 4))
case("searchsorted.Tensor", f(0), f(3))
case("searchsorted.Tensor", f(4).sort()[0], f(0))
case("searchsorted.Scalar", line[0], 0.5, side="left", sorter=line[0].argsort())
for x in [i(3, 4, lo=0, hi=2), i(5, lo=0, hi=2), f(2, 2, 2), b(4, 3).t(), f(0, 2)]:
    for size in [0, 3, 20]:
        case("nonzero_static", x, size=size)
case("nonzero_static", i(3, 4, lo=0, hi=2), size=15, fill_value=7)

# -------------------------------------------------------------------------------------------------------------- spacings
ENDS = [(-2.0, 3.0, 7), (3.0, -4.5, 4), (0.25, 0.75, 1), (1.0, 2.0, 0), (-3, 5, 6)]
for start, end, steps in ENDS:
    for more in [{}, {"dtype": DOUBLE}, {"dtype": BRAIN}, {"dtype": torch.int64}, {"dtype": torch.int32}]:
        for name in ["linspace", "logspace"]:
            base = [2.0] if name == "logspace" else []
            case(name, start, end, steps, *base, **more)
            case(name + ".Tensor_Tensor", t(start), t(end), steps, *base, **more)
            case(name + ".Tensor_Scalar", t(start, DOUBLE), end, steps, *base, **more)
            case(name + ".Scalar_Tensor", start, t(end, torch.int64), steps, *base, **more)
case("logspace", 0, 60, 5, 10.0, dtype=torch.int32)
case("logspace", 0, 8, 5, -2.0)
case("logspace", 0, 3, 4, 0.0)

for more in [{}, {"dtype": torch.int64}, {"dtype": torch.int32}]:
    case("arange.start_step", -0.9, 2.1, 2.0, **more)
    case("arange.start_step", 3.9, -0.9, -1.5, **more)
    case("arange", 3.1, **more)
case("diff", f(3, 4), 0, 1, f(3, 2), f(3, 1))

# ----------------------------------------------------------------------------------------------------- special functions
WIDE = t([0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 7.25, -7.25, 12.0, 30.0, -30.0, inf, -inf, nan])
for name in ["lgamma", "special_gammaln", "digamma", "special_digamma", "special_psi"]:
    case(name, f(2, 4, lo=0.2, hi=4), grad=True)
    case(name, WIDE)
for name in ["erfinv", "special_erfinv"]:
    case(name, f(2, 4, lo=-0.9, hi=0.9), grad=True)
    case(name, t([0.0, 1.0, -1.0, 1.5, nan, 0.999]))
for name in ["special_erfcx", "special_log_ndtr", "i0", "special_i0", "special_i0e", "special_i1", "special_i1e", "special_modified_bessel_i0",
             "special_modified_bessel_i1", "special_modified_bessel_k0", "special_modified_bessel_k1", "special_scaled_modified_bessel_k0",
             "special_scaled_modified_bessel_k1", "special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1",
             "special_spherical_bessel_j0", "special_airy_ai"]:
    case(name, f(2, 4, lo=-5, hi=5))
    case(name, f(3, 4, dt=DOUBLE).t())
    case(name, i(5, lo=0))
    case(name, t([0.0, 0.5, 1.0, 2.5, 7.25, 12.0, nan]))
case("special_ndtri", f(2, 4, lo=0, hi=1))
case("special_ndtri", t([0.0, 1.0, 0.5, 1e-6, 0.97, -0.5, 1.5, nan]))
for name in ["polygamma", "special_polygamma"]:
    for n in [0, 1, 2, 4]:
        case(name, n, f(2, 3, lo=0.5, hi=4), grad=True)
    case(name, 1, WIDE[:5])
case("special_zeta", f(2, 3, lo=1.2, hi=5), f(3, lo=0.5, hi=4))
case("special_zeta", t([1.0, 0.5, 2.0, 3.0, 2.5]), t([2.0, 2.0, -1.5, 0.0, -0.5]))
case("special_zeta.self_scalar", 2.5, f(3, lo=0.5, hi=4))
case("special_zeta.other_scalar", f(3, lo=1.2, hi=5), 1.0)
for name in ["igamma", "special_gammainc", "igammac", "special_gammaincc"]:
    case(name, f(2, 4, lo=0.1, hi=5), f(4, lo=0.1, hi=8))
    case(name, t([0.0, 0.0, 1.0, 30.0, 200.0, -1.0, inf, 2.0]), t([0.0, 1.0, 0.0, 31.0, 180.0, 1.0, 2.0, inf]))
for name in ["chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
             "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
             "shifted_chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
             "legendre_polynomial_p"]:
    case("special_" + name, f(3, 1, lo=-0.95, hi=0.95), t([-1, 0, 1, 2, 5, 9], torch.int64))
    case("special_" + name + ".x_scalar", 1.0, t([0.0, 1.0, 3.0, 8.0]))
    case("special_" + name + ".n_scalar", t([-1.0, -0.3, 0.0, 0.6, 1.25]), 4)
for name in ["mvlgamma", "special_multigammaln"]:
    case(name, f(2, 3, lo=1.6, hi=4), 3, grad=True)
    case(name, f(3, lo=0.2, hi=4), 1)

# --------------------------------------------------------------------------------------------------------------- pooling
PLANES = [f(2, 3, 7, 6), f(2, 6, 7), f(2, 7, 6, 3).permute(0, 3, 1, 2), i(1, 2, 5, 5), f(1, 2, 6, 5, dt=HALF), f(1, 2, 6, 5, dt=BRAIN)]
for x in PLANES + [t([[[1, 1, nan, 1], [2, 2, -inf, nan], [3, 0, 3, 0], [-inf] * 4]])]:
    case("max_pool2d_with_indices", x, [2, 3], [2, 1])
    case("max_pool2d_with_indices", x, [3, 2], [2, 2], [1, 1], [1, 1], True)
    if x.dtype != torch.int64:
        case("adaptive_max_pool2d", x, [3, 2])
case("max_pool2d_with_indices", f(1, 1, 8, 8), [2, 2], [2, 1], [0, 0], [3, 2])
case("max_pool3d_with_indices", f(1, 2, 5, 4, 6), [2, 2, 3], [1, 2, 2], [1, 0, 1])
case("max_pool1d_with_indices", f(2, 3, 9), [3], [2], [1])
case("adaptive_max_pool1d", f(2, 3, 9), [4])
case("adaptive_max_pool3d", f(2, 5, 6, 7), [2, 3, 4])
values, places = torch.ops.aten.max_pool2d_with_indices(f(2, 2, 6, 6), [3, 3], [2, 2])
case("max_pool2d_with_indices_backward", f(*values.shape), f(2, 2, 6, 6), [3, 3], [2, 2], [0, 0], [1, 1], False, places)
case("max_pool2d_with_indices_backward", f(*values.shape, dt=BRAIN), f(2, 2, 6, 6, dt=BRAIN), [3, 3], [2, 2], [0, 0], [1, 1], False, places)
values, places = torch.ops.aten.max_pool3d_with_indices(f(1, 2, 4, 4, 4), [2, 2, 2], [1, 1, 1])
case("max_pool3d_with_indices_backward", f(*values.shape), f(1, 2, 4, 4, 4), [2, 2, 2], [1, 1, 1], [0, 0, 0], [1, 1, 1], False, places)
values, places = torch.ops.aten.max_pool2d_with_indices(distinct(2, 2, 6, 6), [2, 2], [2, 2])
case("max_unpool2d", values, places, [6, 6], grad=True)
case("max_unpool2d", values.transpose(0, 1), places.transpose(0, 1), [7, 6])
values, places = torch.ops.aten.max_pool3d_with_indices(distinct(1, 2, 4, 4, 4), [2, 2, 2], [2, 2, 2])
case("max_unpool3d", values, places, [4, 4, 4], [2, 2, 2], [0, 0, 0], grad=True)

# ------------------------------------------------------------------------------------------------------- pairs of elements
SIGNS = t([0.0, -0.0, 1.5, -1.5, inf, -inf])
case("copysign.Tensor", f(2, 3), f(3), grad=True)
case("copysign.Tensor", SIGNS.unsqueeze(1), SIGNS)
case("copysign.Tensor", i(4), f(4, dt=DOUBLE))
case("copysign.Scalar", f(2, 3), -2.0, grad=True)
case("copysign.Scalar", i(3), -0.0)
case("hypot", f(2, 3), f(2, 3), grad=True)
case("hypot", SIGNS.unsqueeze(1), t([3e38, nan, 2.0]))
case("hypot", f(3, 2, dt=HALF).t(), f(3, dt=HALF))
for name in ["gcd", "lcm"]:
    case(name, i(3, 4, lo=-40, hi=40), i(4, lo=-40, hi=40))
    case(name, i(2, 5, lo=0, hi=60, dt=torch.uint8), i(2, 5, lo=0, hi=12, dt=torch.uint8))
    case(name, i(4, 2, lo=-90, hi=90, dt=torch.int16).t(), i(4, lo=-9, hi=9, dt=torch.int32))
    case(name, t([0, 0, -7, 2**62], torch.int64), t([0, -3, 7, 2**61], torch.int64))
for dt in [torch.float32, DOUBLE, BRAIN]:
    case("nextafter", f(2, 4, dt=dt), f(4, dt=dt))
    case("nextafter", t([0.0, -0.0, 1.0, inf, nan, 1.0], dt), t([1.0, -1.0, 1.0, 0.0, 1.0, nan], dt))
case("frexp.Tensor", t([0.0, -0.0, 1.0, -3.5, 1e-40, 8.0]))
case("frexp.Tensor", f(3, 4, dt=DOUBLE).t())
case("frexp.Tensor", f(5, dt=HALF))
for x in [SIGNS, i(5), f(3, dt=BRAIN), b(3)]:
    case("signbit", x)
    case("angle", x)
case("angle", t([nan, -1.0]))
for decimals in [0, 2, -1, 5]:
    case("round.decimals", f(2, 5, lo=-30, hi=30), decimals=decimals)
    case("round.decimals", f(5, lo=-30, hi=30, dt=DOUBLE), decimals=decimals)

# ------------------------------------------------------------------------------------------- distances, bins, grids of indices
for p in [0.0, 1.0, 2.0, 3.5, inf]:
    case("cdist", f(3, 4), f(5, 4), p)
    case("cdist", f(2, 1, 3, 4), f(5, 2, 4, dt=DOUBLE).transpose(0, 1).to(torch.float32), p, None)
    case("pdist", f(4, 3), p)
case("cdist", f(3, 4), f(2, 4), 1.0, grad=True)
case("pdist", f(1, 3))
case("pdist", f(4, 3), 1.0, grad=True)
case("unfold", f(), 0, 1, 1)
case("unfold", f(), -1, 0, 2)
case("cdist", f(3, 0), f(2, 0))
case("cdist", f(0, 4), f(2, 4))
case("bilinear", f(2, 3, 4), f(2, 3, 5), f(6, 4, 5), f(6), grad=True)
case("bilinear", f(4), f(5), f(2, 4, 5))
case("bilinear", i(3, 2), i(3, 2), i(4, 2, 2), None)
case("addbmm", f(3, 5), f(2, 3, 4), f(2, 4, 5), beta=0.5, alpha=2.0, grad=True)
case("addbmm", f(5), f(2, 3, 4), f(2, 4, 5), beta=0)
case("addbmm", i(3, 5), i(2, 3, 4), i(2, 4, 5), alpha=3)
for x in [f(40), f(3, 7, dt=DOUBLE), f(5, 4).t(), f(), t([1.0, 2.0, 2.0, 3.0, nan])[:4], f(0)]:
    case("histc", x, 5, -1.0, 1.5)
    case("histc", x)
    if x.numel():
        case("histogram.bin_ct", x, 4)
    case("histogram.bin_ct", x, 3, range=[-1.0, 1.0], weight=f(*x.shape, lo=0, hi=1, dt=x.dtype))
    case("histogram.bins_tensor", x, t([-1.5, -0.5, 0.0, 2.0], x.dtype))
case("histogram.bin_ct", f(30), 4, density=True)
case("histogram.bins_tensor", f(30), t([-1.5, -0.5, 0.0, 2.0]), weight=f(30, lo=0, hi=1), density=True)
case("histc", f(30, dt=HALF), 6)
case("histc", f(30, dt=BRAIN), 6, -1.0, 1.0)
case("histc", t([nan, 1.0, 2.0, inf]), 4, 0.0, 3.0)
for rows, columns, offset in [(3, 4, 0), (4, 3, -1), (2, 5, 2), (3, 3, -5), (3, 3, 5), (0, 4, 0), (4, 0, 0)]:
    case("tril_indices", rows, columns, offset)
    case("triu_indices", rows, columns, offset, dtype=torch.int32)
for mode in [0, 1]:
    for padding in [0, 1, 2]:
        for align in [False, True]:
            case("grid_sampler_3d", f(2, 2, 3, 4, 5), f(2, 2, 3, 2, 3, lo=-1.4, hi=1.4), mode, padding, align)
case("grid_sampler_3d", f(1, 2, 1, 3, 2), f(1, 1, 2, 2, 3), 0, 2, True)
case("adaptive_avg_pool3d", f(2, 3, 5, 7, 4), [3, 2, 3])
case("adaptive_avg_pool3d", f(3, 5, 7, 4, dt=BRAIN), [2, 3, 3])

write("ops_c.json")
