# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_b.json: calls of matrix, convolution, pooling, normalisation, resampling and loss operators with PyTorch's results.

Run with PyTorch 2.13:  python make_ops_b.py
Operands have two decimals, so that they are the same numbers in float32; results and gradients are computed in float64.
"""
import json
import math
import pathlib

import torch

A = torch.ops.aten
G = torch.Generator().manual_seed(20260711)
CASES = []


def rnd(*shape, low=-2.0, high=2.0):
    return torch.round((torch.rand(shape, generator=G, dtype=torch.float64) * (high - low) + low) * 100) / 100


def ints(high, *shape):
    return torch.randint(0, high, shape, generator=G)


def distinct(*shape):
    """No two elements are equal: the gradient of a maximum is then unique."""
    n = math.prod(shape)
    return (torch.randperm(n, generator=G).double().reshape(shape) - n / 2) / 10


def number(x):
    if isinstance(x, float) and not math.isfinite(x):
        return "NaN" if math.isnan(x) else ("Infinity" if x > 0 else "-Infinity")
    return x if not isinstance(x, float) else float(f"{x:.10g}")


def encode(x):
    if isinstance(x, torch.Tensor):
        name = {torch.float64: "float32", torch.int64: "int64", torch.bool: "bool"}[x.dtype]
        values = [number(v) for v in x.reshape(-1).tolist()]
        return {"t": name, "s": list(x.shape), "v": [int(v) if isinstance(v, float) and v == int(v) else v for v in values] if values and not any(isinstance(v, str) for v in values) else values}
    if isinstance(x, (list, tuple)):
        return [encode(v) for v in x]
    if isinstance(x, float):
        return {"f": number(x)}
    return x


def case(op, *args, grad=False, **kwargs):
    """`grad`: also the gradients of sum(result * tangent) by all floating operands."""
    operands = [a for a in args if isinstance(a, torch.Tensor) and a.dtype == torch.float64]
    if grad:
        for a in operands:
            a.requires_grad_(True)
    out = op(*args, **kwargs)
    outs = list(out) if isinstance(out, (list, tuple)) else [out]
    entry = {"op": str(op), "args": encode([a.detach() if isinstance(a, torch.Tensor) else a for a in args])}
    if kwargs:
        entry["kwargs"] = {k: encode(v) for k, v in kwargs.items()}
    entry["out"] = [encode(o.detach()) for o in outs]
    if grad:
        tangent = rnd(*outs[0].shape)
        grads = torch.autograd.grad(outs[0], operands, tangent, allow_unused=True)
        entry["tangent"] = encode(tangent)
        entry["grads"] = [None if g is None else encode(g) for g in grads]
    CASES.append(entry)


# Matrix products
case(A.mm.default, rnd(3, 4), rnd(4, 5), grad=True)
case(A.mm.default, rnd(3, 0), rnd(0, 2))
case(A.mm.default, rnd(19, 33), rnd(33, 18))
case(A.bmm.default, rnd(2, 3, 4), rnd(2, 4, 3), grad=True)
case(A.addmm.default, rnd(5), rnd(3, 4), rnd(4, 5), grad=True)
case(A.addmm.default, rnd(3, 5), rnd(3, 4), rnd(4, 5), beta=0.5, alpha=2, grad=True)
case(A.addmm.default, rnd(3, 1), rnd(3, 4), rnd(4, 2), beta=0)
case(A.baddbmm.default, rnd(2, 3, 3), rnd(2, 3, 4), rnd(2, 4, 3), alpha=0.25, grad=True)
case(A.baddbmm.default, rnd(1, 3), rnd(2, 3, 4), rnd(2, 4, 3), grad=True)
case(A.linear.default, rnd(2, 3, 4), rnd(5, 4), rnd(5), grad=True)
case(A.linear.default, rnd(2, 4), rnd(5, 4), grad=True)
case(A.linear.default, rnd(4), rnd(5, 4), rnd(5), grad=True)
for a, b in [((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 3)), ((2, 3, 4), (4,)), ((2, 3, 4), (4, 2)), ((4,), (2, 4, 3)), ((3, 4), (2, 4, 2)),
             ((2, 1, 3, 4), (5, 4, 2)), ((2, 3, 4), (2, 4, 3))]:
    case(A.matmul.default, rnd(*a), rnd(*b), grad=True)
case(A.dot.default, rnd(7), rnd(7), grad=True)
case(A.mv.default, rnd(3, 4), rnd(4), grad=True)
case(A.addmv.default, rnd(3), rnd(3, 4), rnd(4), beta=2, alpha=0.5, grad=True)
case(A.outer.default, rnd(3), rnd(4), grad=True)
for equation, shapes in [("ij,jk->ik", [(2, 3), (3, 4)]), ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]), ("ij->ji", [(2, 3)]),
                         ("i,j->ij", [(2,), (3,)]), ("ij,ij->", [(2, 3), (2, 3)]), ("b...d,de->b...e", [(2, 3, 4), (4, 2)]),
                         ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]), ("ij,jk", [(2, 3), (3, 2)]), ("ijk->k", [(2, 3, 2)])]:
    case(A.einsum.default, equation, [rnd(*s) for s in shapes])

# Attention
case(A.scaled_dot_product_attention.default, rnd(2, 2, 3, 4), rnd(2, 2, 5, 4), rnd(2, 2, 5, 3), grad=True)
case(A.scaled_dot_product_attention.default, rnd(2, 3, 4), rnd(2, 3, 4), rnd(2, 3, 4), is_causal=True, grad=True)
mask = torch.rand(3, 5, generator=G) > 0.4
mask[:, 0] = True
case(A.scaled_dot_product_attention.default, rnd(2, 2, 3, 4), rnd(2, 2, 5, 4), rnd(2, 2, 5, 4), mask, scale=0.3)
mask = mask.clone()
mask[1] = False
case(A.scaled_dot_product_attention.default, rnd(2, 2, 3, 4), rnd(2, 2, 5, 4), rnd(2, 2, 5, 4), mask)
case(A.scaled_dot_product_attention.default, rnd(2, 2, 3, 4), rnd(2, 2, 5, 4), rnd(2, 2, 5, 4), rnd(2, 1, 3, 5), grad=True)
case(A.scaled_dot_product_attention.default, rnd(1, 4, 3, 4), rnd(1, 2, 3, 4), rnd(1, 2, 3, 4), enable_gqa=True, is_causal=True)

# Convolution
case(A.conv1d.default, rnd(2, 3, 9), rnd(4, 3, 3), rnd(4), [2], [1], [2], grad=True)
case(A.conv2d.default, rnd(2, 3, 6, 5), rnd(4, 3, 3, 3), rnd(4), grad=True)
case(A.conv2d.default, rnd(2, 4, 7, 7), rnd(6, 2, 3, 2), None, [2, 1], [1, 0], [1, 2], 2, grad=True)
case(A.conv2d.default, rnd(1, 4, 5, 5), rnd(4, 1, 3, 3), rnd(4), [1, 1], [1, 1], [1, 1], 4, grad=True)
case(A.conv2d.default, rnd(3, 5, 5), rnd(2, 3, 2, 2), rnd(2))
case(A.conv2d.default, rnd(2, 3, 4, 4), rnd(4, 3, 1, 1))
case(A.conv2d.padding, rnd(1, 2, 5, 5), rnd(3, 2, 3, 3), rnd(3), [1, 1], "same")
case(A.conv2d.padding, rnd(1, 2, 5, 6), rnd(3, 2, 2, 4), rnd(3), [1, 1], "same")
case(A.conv2d.padding, rnd(1, 2, 5, 5), rnd(3, 2, 3, 3), None, [2, 2], "valid")
case(A.conv3d.default, rnd(1, 2, 4, 4, 3), rnd(3, 2, 2, 2, 2), rnd(3), [1, 2, 1], [1, 0, 0], grad=True)
case(A.conv_transpose1d.default, rnd(2, 3, 5), rnd(3, 2, 3), rnd(2), [2], [1], [1], grad=True)
case(A.conv_transpose2d.input, rnd(2, 4, 3, 4), rnd(4, 3, 2, 2), rnd(3), [2, 2], grad=True)
case(A.conv_transpose2d.input, rnd(1, 4, 3, 4), rnd(4, 3, 3, 2), rnd(6), [2, 3], [1, 0], [1, 2], 2, [1, 2], grad=True)
case(A.conv_transpose3d.input, rnd(1, 2, 2, 3, 2), rnd(2, 2, 2, 2, 2), rnd(2))
case(A.convolution.default, rnd(1, 2, 4, 4), rnd(3, 2, 3, 3), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
case(A.convolution_backward.default, rnd(2, 4, 3, 3), rnd(2, 2, 5, 5), rnd(4, 2, 3, 3), [4], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, True])
case(A.convolution_backward.default, rnd(1, 2, 5, 5), rnd(1, 4, 3, 3), rnd(4, 1, 3, 3), [2], [1, 1], [0, 0], [1, 1], True, [0, 0], 2, [True, True, True])

# Pooling
case(A.max_pool1d.default, distinct(2, 3, 8), [3], [2], [1])
case(A.max_pool2d.default, distinct(2, 2, 6, 6), [2, 2], grad=True)
case(A.max_pool2d.default, distinct(2, 2, 7, 6), [3, 3], [2, 2], [1, 1], grad=True)
case(A.max_pool2d.default, distinct(1, 2, 8, 7), [3, 2], [2, 2], [1, 1], [2, 1], True, grad=True)
case(A.max_pool2d.default, distinct(2, 5, 5), [2, 2], [2, 2], [0, 0], [1, 1], True)
case(A.max_pool2d_with_indices.default, distinct(1, 2, 6, 5), [3, 3], [2, 1], [1, 1], grad=True)
case(A.max_pool3d.default, distinct(1, 2, 4, 4, 4), [2, 2, 2])
case(A.max_pool3d_with_indices.default, distinct(1, 1, 4, 5, 4), [2, 3, 2], [2, 1, 2], [1, 1, 0])
case(A.avg_pool1d.default, rnd(2, 3, 8), [3], [2], [1])
case(A.avg_pool2d.default, rnd(2, 2, 6, 6), [2, 2], [2, 2], grad=True)
case(A.avg_pool2d.default, rnd(2, 2, 7, 6), [3, 3], [2, 2], [1, 1], grad=True)
case(A.avg_pool2d.default, rnd(1, 2, 7, 6), [3, 3], [2, 2], [1, 1], True, False, grad=True)
case(A.avg_pool2d.default, rnd(1, 2, 7, 6), [3, 2], [2, 2], [1, 1], True, True, grad=True)
case(A.avg_pool2d.default, rnd(1, 2, 6, 6), [2, 2], [2, 2], [0, 0], False, True, 3, grad=True)
case(A.avg_pool3d.default, rnd(1, 2, 4, 4, 4), [2, 2, 2], [1, 2, 2], [1, 0, 1])
case(A.avg_pool2d_backward.default, rnd(1, 2, 3, 3), rnd(1, 2, 6, 6), [2, 2], [2, 2], [0, 0], False, True, None)
case(A.adaptive_avg_pool1d.default, rnd(2, 3, 8), [3])
case(A.adaptive_avg_pool2d.default, rnd(2, 3, 5, 7), [1, 1], grad=True)
case(A.adaptive_avg_pool2d.default, rnd(2, 3, 6, 8), [3, 2], grad=True)
case(A.adaptive_avg_pool2d.default, rnd(2, 3, 7, 5), [3, 2])
case(A._adaptive_avg_pool2d.default, rnd(1, 3, 4, 5), [6, 3])
case(A.adaptive_avg_pool3d.default, rnd(1, 2, 4, 4, 6), [2, 2, 3])
case(A.adaptive_max_pool1d.default, distinct(2, 3, 8), [3])
case(A.adaptive_max_pool2d.default, distinct(2, 2, 7, 5), [3, 2])

# Normalisation
stats = lambda c: (rnd(c), rnd(c), rnd(c), rnd(c, low=0.2))
case(A.batch_norm.default, rnd(2, 3, 4, 4), *stats(3), False, 0.1, 1e-3, False, grad=False)
case(A.batch_norm.default, rnd(4, 3), None, None, rnd(3), rnd(3, low=0.2), False, 0.1, 1e-5, False)
case(A.batch_norm.default, rnd(4, 3, 5), rnd(3), rnd(3), None, None, True, 0.1, 1e-5, False, grad=True)
case(A._native_batch_norm_legit_no_training.default, rnd(2, 3, 4), *stats(3), 0.1, 1e-5)
case(A._native_batch_norm_legit_functional.default, rnd(2, 3, 4, 2), *stats(3), True, 0.1, 1e-5)
case(A._native_batch_norm_legit.no_stats, rnd(4, 3, 2), rnd(3), rnd(3), True, 0.1, 1e-5)
case(A.native_batch_norm.default, rnd(4, 3, 2), rnd(3), rnd(3), None, None, True, 0.1, 1e-5)
case(A.native_batch_norm.default, rnd(2, 3, 2), *stats(3), False, 0.1, 1e-5)
case(A.instance_norm.default, rnd(2, 3, 4, 4), rnd(3), rnd(3), None, None, True, 0.1, 1e-5, False, grad=True)
case(A.layer_norm.default, rnd(2, 3, 8), [8], rnd(8), rnd(8), 1e-5, grad=True)
case(A.layer_norm.default, rnd(2, 3, 4), [3, 4], grad=True)
case(A.native_layer_norm.default, rnd(2, 3, 8), [8], rnd(8), rnd(8), 1e-6)
case(A.group_norm.default, rnd(2, 6, 4, 3), 3, rnd(6), rnd(6), grad=True)
case(A.native_group_norm.default, rnd(2, 6, 5), rnd(6), rnd(6), 2, 6, 5, 2, 1e-5)
case(A.rms_norm.default, rnd(2, 3, 8), [8], rnd(8), 1e-6, grad=True)

# Resampling
case(A.upsample_nearest2d.vec, rnd(1, 2, 3, 4), None, [2.0, 2.0])
case(A.upsample_nearest2d.vec, rnd(1, 2, 3, 4), [7, 5], None)
case(A.upsample_nearest2d.vec, rnd(1, 2, 6, 5), None, [0.5, 1.7])
case(A.upsample_nearest2d.default, rnd(1, 2, 3, 4), [9, 4])
case(A.upsample_bilinear2d.vec, rnd(1, 2, 3, 4), None, False, [2.0, 2.0])
case(A.upsample_bilinear2d.vec, rnd(1, 2, 3, 4), [7, 5], True, None)
case(A.upsample_bilinear2d.default, rnd(1, 2, 6, 5), [3, 8], False)
case(A.upsample_bilinear2d.default, rnd(1, 2, 3, 4), [1, 8], True)
case(A.pixel_shuffle.default, rnd(2, 8, 2, 3), 2)
case(A.pixel_unshuffle.default, rnd(2, 2, 4, 6), 2)

# Losses
for reduction in (0, 1, 2):
    case(A.nll_loss_forward.default, rnd(4, 5), ints(5, 4), None, reduction, -100, grad=True)
    case(A.mse_loss.default, rnd(3, 4), rnd(3, 4), reduction, grad=True)
target = ints(5, 6)
target[2] = 3
case(A.nll_loss_forward.default, rnd(6, 5), target, rnd(5, low=0.1), 1, 3, grad=False)
case(A.nll_loss_nd.default, rnd(2, 5, 3), ints(5, 2, 3), None, 1, -100, grad=True)
case(A.nll_loss2d_forward.default, rnd(2, 5, 3, 2), ints(5, 2, 3, 2), rnd(5, low=0.1), 1, -100)
case(A.nll_loss_backward.default, rnd(), rnd(6, 5), target, rnd(5, low=0.1), 1, 3, torch.tensor(2.5, dtype=torch.float64))
case(A.nll_loss_backward.default, rnd(6), rnd(6, 5), target, None, 0, -100, torch.tensor(0.0, dtype=torch.float64))
case(A.cross_entropy_loss.default, rnd(4, 5), ints(5, 4), grad=True)
case(A.cross_entropy_loss.default, rnd(6, 5), target, rnd(5, low=0.1), 1, 3, 0.2)
case(A.cross_entropy_loss.default, rnd(2, 5, 3), ints(5, 2, 3), None, 0, -100, 0.1)
case(A.cross_entropy_loss.default, rnd(4, 5), torch.softmax(rnd(4, 5), 1).round(decimals=2), None, 1, -100, 0.1)
case(A.cross_entropy_loss.default, rnd(5), ints(5))
case(A.l1_loss.default, rnd(3, 4), rnd(3, 4), 1)
case(A.smooth_l1_loss.default, rnd(3, 4), rnd(3, 4), 1, 0.7, grad=True)
case(A.binary_cross_entropy_with_logits.default, rnd(3, 4), rnd(3, 4, low=0, high=1), rnd(4, low=0.1), rnd(4, low=0.1), 1)
case(A.binary_cross_entropy_with_logits.default, rnd(3, 4), rnd(3, 4, low=0, high=1))

# Recurrent networks
def weights(gates, inputs, size, layers=1, directions=1, biases=True):
    made = []
    for layer in range(layers):
        for _ in range(directions):
            width = gates * size
            made += [rnd(width, inputs if layer == 0 else size * directions, low=-0.7, high=0.7), rnd(width, size, low=-0.7, high=0.7)]
            made += [rnd(width), rnd(width)] if biases else []
    return made


def states(layers, batch, size):
    return rnd(layers, batch, size, low=-1, high=1)


case(A.lstm.input, rnd(4, 2, 3), [states(1, 2, 5), states(1, 2, 5)], weights(4, 3, 5), True, 1, 0.0, False, False, False)
case(A.lstm.input, rnd(2, 4, 3), [states(4, 2, 5), states(4, 2, 5)], weights(4, 3, 5, 2, 2), True, 2, 0.5, False, True, True)
case(A.gru.input, rnd(4, 2, 3), states(1, 2, 5), weights(3, 3, 5), True, 1, 0.0, False, False, False)
case(A.gru.input, rnd(2, 3, 3), states(4, 2, 6), weights(3, 3, 6, 2, 2, False), False, 2, 0.0, False, True, True)
case(A.rnn_tanh.input, rnd(3, 2, 3), states(1, 2, 5), weights(1, 3, 5), True, 1, 0.0, False, False, False)
case(A.rnn_relu.input, rnd(2, 3, 3), states(2, 2, 5), weights(1, 3, 5, 1, 2), True, 1, 0.0, False, True, True)

path = pathlib.Path(__file__).parent / "ops_b.json"
path.write_text("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES) + "\n]\n")
print(f"{len(CASES)} cases, {path.stat().st_size} bytes")
