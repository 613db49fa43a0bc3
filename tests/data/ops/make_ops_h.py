# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_h.json: operators that exported programs keep whole: steps of recurrent networks, windows, affine maps, signals of frames,
lists of places, products that mix types. With the results that PyTorch gives.

Run with PyTorch 2.13 or later: python3 make_ops_h.py
"""
import torch

from op_cases import b, case, f, i, inf, nan, t, write

torch.manual_seed(23)
DOUBLE, BRAIN = torch.float64, torch.bfloat16

# --------------------------------------------------------------------------------------------------------------- cells
for shape in ([3], [1]):
    x, h, memory = f(*shape, 4), f(*shape, 5), f(*shape, 5)
    for name, gates in (("lstm_cell", 4), ("gru_cell", 3), ("rnn_tanh_cell", 1), ("rnn_relu_cell", 1)):
        state = [h, memory] if name == "lstm_cell" else h
        weights = f(5 * gates, 4), f(5 * gates, 5)
        case(name, x, state, *weights, f(5 * gates), f(5 * gates))
        case(name, x, state, *weights)

# ------------------------------------------------------------------------------------------------------------- windows
for name in ("bartlett", "blackman", "hamming", "hann", "kaiser"):
    for length in (0, 1, 2, 7, 16):
        case(f"{name}_window", length)
        for periodic in (False, True):
            case(f"{name}_window.periodic", length, periodic)
    case(f"{name}_window", 9, dtype=DOUBLE)
    case(f"{name}_window.periodic", 9, False, dtype=BRAIN)
case("hamming_window.periodic_alpha", 9, True, 0.6)
case("hamming_window.periodic_alpha_beta", 9, False, 0.6, 0.3)
case("kaiser_window.beta", 9, True, 5.0)

# ---------------------------------------------------------------------------------------------------------------- maps
for align in (False, True):
    for size in ([3, 2, 4, 5], [3, 2, 1, 3]):
        case("affine_grid_generator", f(3, 2, 3), size, align)
    case("affine_grid_generator", f(2, 3, 4), [2, 1, 3, 1, 2], align)
    case("affine_grid_generator", f(2, 2, 3, dt=DOUBLE), [2, 1, 2, 4], align)
case("rrelu", f(3, 4))
case("rrelu", f(5), 0.1, 0.5)
case("linalg_matmul", f(2, 3, 4), f(4, 5))
case("orgqr", f(4, 3), f(3))

# -------------------------------------------------------------------------------------------------------------- frames
for dt in (torch.float32, DOUBLE):
    spectrum = torch.complex(f(2, 9, 11, dt=dt), f(2, 9, 11, dt=dt))
    window = f(16, lo=0.5, hi=1, dt=dt)
    for length in (None, 30, 50):
        case("istft", spectrum, 16, 4, 16, window, length=length)
    case("istft", spectrum, 16, 4, 16, window, False)
    case("istft", spectrum, 16, 4, 16, window, True, True)
    case("istft", spectrum[0], 16)
    case("istft", spectrum[1], 16, 3, 12, window[2:14], onesided=True)

# --------------------------------------------------------------------------------------------------------------- lists
for name in ("where", "nonzero_numpy"):
    for x in (b(3, 4), t([0, 3, 0, -1]), t(2.0), t([[0.0], [0.0]])):
        case(name, x)

# ---------------------------------------------------------------------------------- products that mix types, and ones of one
counts = torch.arange(4)
case("einsum", "i,j->ij", [counts, f(3)])
case("einsum", "i,j->ij", [counts.int(), counts[:3]])
case("einsum", "ij,j->ij", [f(2, 4, dt=BRAIN), f(4)])
case("einsum", "ij,j->", [counts.int().view(1, 4), counts.int()])
case("einsum", "bij,k->jk", [f(1, 2, 3), f(1)])
case("einsum", "ab,c,cab->ba", [f(2, 3), f(1), f(1, 2, 3)])

# ------------------------------------------------------------------------------------------------------ projected states
for layers, both, biases, batch_first, dt in ((1, False, True, False, torch.float32), (2, True, True, True, torch.float32), (2, False, False, True, DOUBLE), (1, True, False, False, DOUBLE)):
    size, state, projected, directions = 4, 5, 3, 2 if both else 1
    weights = []
    for layer in range(layers):
        for _ in range(directions):
            width = size if layer == 0 else projected * directions
            weights += [f(4 * state, width, lo=-0.5, hi=0.5, dt=dt), f(4 * state, projected, lo=-0.5, hi=0.5, dt=dt)]
            weights += [f(4 * state, dt=dt), f(4 * state, dt=dt)] if biases else []
            weights.append(f(projected, state, lo=-0.5, hi=0.5, dt=dt))
    states = [f(layers * directions, 2, n, dt=dt) for n in (projected, state)]
    x = f(2, 6, size, dt=dt) if batch_first else f(6, 2, size, dt=dt)
    case("lstm.input", x, states, weights, biases, layers, 0.0, False, both, batch_first)

# ------------------------------------------------------------------------------------- exponentials of matrices, slopes
for dt in (torch.float32, DOUBLE):
    for name in ("matrix_exp", "linalg_matrix_exp"):
        case(name, f(3, 3, dt=dt))
        case(name, f(2, 4, 4, lo=-0.01, hi=0.01, dt=dt))
    case("matrix_exp", f(2, 1, 5, 5, lo=-3, hi=3, dt=dt))
    case("matrix_exp", f(3, 3, dt=dt).t())
    case("matrix_exp", f(1, 1, dt=dt))
    case("matrix_exp", f(0, 0, dt=dt))
    case("matrix_exp", f(2, 0, 3, 3, dt=dt))
for dt in (torch.float32, DOUBLE):
    x = f(4, 5, 3, dt=dt)
    for order in (1, 2):
        case("gradient.scalararray", x, spacing=0.5, dim=[0, -1], edge_order=order)
        case("gradient.array", x, dim=[1, 0], edge_order=order)
        case("gradient.scalarrayint", x, spacing=[2.0, 0.5, 3], edge_order=order)
        case("gradient.scalarrayint", x, spacing=[2], dim=1, edge_order=order)
        case("gradient.scalarrayarray", x, spacing=[2.0, 0.5], dim=[2, 0], edge_order=order)

# ---------------------------------------------------------------------------------- singular values and what they tell
def of_rank(rank, rows, columns, dt):  # whole numbers: digits that a file rounds would add to the rank
    return (i(rows, rank) @ i(rank, columns)).to(dt)


for dt in (torch.float32, DOUBLE):
    def regular(*shape):  # far from a matrix without an inverse
        return f(*shape, dt=dt) + 4 * torch.eye(shape[-1], dtype=dt)

    square = regular(4, 4)
    lesser = of_rank(2, 4, 5, dt)
    for x in (f(5, 3, dt=dt), f(2, 3, 5, dt=dt), square, lesser, f(3, 0, dt=dt), f(1, 1, dt=dt), torch.zeros(3, 2, dtype=dt)):
        if x is not lesser:  # whose values of 0 are what rounding leaves
            case("linalg_svdvals", x)
        case("linalg_pinv.atol_rtol_float", x, rtol=1e-3)
        case("linalg_pinv.atol_rtol_tensor", x, atol=t(0.01, dt))
        case("linalg_pinv.rcond_tensor", x, t(1e-3, dt))
        case("linalg_pinv", x, 1e-3)
        if x.numel():
            case("linalg_matrix_rank", x, 1e-3)
            case("linalg_matrix_rank.tol_tensor", x, t(1e-3, dt))
            case("linalg_matrix_rank.atol_rtol_tensor", x)
            case("linalg_matrix_rank.atol_rtol_float", x, atol=0.1, rtol=0.01)
    case("pinverse", square)
    for order in (2, -2):
        case("linalg_matrix_norm", f(2, 3, 4, dt=dt), order, [0, 2], True)
        case("linalg_matrix_norm", f(2, 3, 4, dt=dt), order)
        case("linalg_cond", regular(3, 3), order)
    case("linalg_matrix_norm.str_ord", f(2, 3, 4, dt=dt), "nuc", [1, 0], True)
    case("linalg_norm.ord_str", f(3, 4, dt=dt), "nuc")
    case("linalg_cond", f(2, 4, 3, dt=dt))
    for order in (1, -inf, inf):
        case("linalg_cond", regular(3, 3), order)
    case("linalg_cond", torch.ones(2, 2, dtype=dt), 1)
    case("linalg_cond.p_str", regular(2, 3, 3), "fro")
    case("linalg_cond.p_str", regular(3, 3), "nuc")
    symmetric = f(2, 4, 4, dt=dt)
    for triangle in ("L", "U"):
        case("linalg_eigvalsh", symmetric, triangle)
        case("linalg_eigvalsh", torch.eye(3, dtype=dt), triangle)
        unread = f(3, 3, dt=dt)
        unread[(2, 0) if triangle == "U" else (0, 2)] = inf
        case("linalg_eigvalsh", unread, triangle)
        case("_linalg_eigh", f(5, 5, dt=dt), triangle, False)
    case("_linalg_svd", f(2, 3, 5, dt=dt), False, False)
    case("linalg_pinv.atol_rtol_float", symmetric, hermitian=True)
    case("linalg_matrix_rank", symmetric, 0.5, True)
    case("linalg_tensorinv", regular(6, 6).view(2, 3, 6))
    case("linalg_tensorinv", regular(4, 4).view(4, 2, 2), 1)
    case("linalg_tensorsolve", regular(6, 6).view(2, 3, 6), f(2, 3, dt=dt))
    case("linalg_tensorsolve", regular(6, 6).view(6, 2, 3), f(2, 3, dt=dt), [0])
    factors, pivots = torch.linalg.lu_factor(f(2, 3, 3, dt=dt))
    case("lu_solve", f(2, 3, 2, dt=dt), factors, pivots)
    spectrum = torch.complex(f(3, 4, 5, dt=dt), f(3, 4, 5, dt=dt))
    for norm in (None, "ortho", "forward"):
        case("fft_hfft2", spectrum, None, [-2, -1], norm)
        case("fft_hfftn", spectrum, [3, 6], None, norm)
        case("fft_ihfft2", f(3, 4, 5, dt=dt), None, [0, 2], norm)
        case("fft_ihfftn", f(3, 4, 5, dt=dt), None, None, norm)
    case("fft_hfftn", spectrum, None, [1])
    case("fft_ihfftn", f(3, 4, 5, dt=dt), None, [1])

# Lower and upper bound change places; logarithms of sums of weights are float32.
for dt in (torch.float32, torch.float64, torch.bfloat16):
    case("logit", t([0.1, 0.35, 0.5, 0.7, -1.0, 2.0, nan], dt), 0.6)
flash = "_scaled_dot_product_flash_attention_for_cpu"
for dt in (torch.bfloat16, torch.float16):
    case(flash, *(f(2, 2, 3, 8, lo=-8, hi=8, dt=dt) for _ in range(3)))
    case(flash, *(f(2, 2, 3, 8, lo=-8, hi=8, dt=dt) for _ in range(3)), 0.0, True)

write("ops_h.json")
