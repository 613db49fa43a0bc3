# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_random.json: calls that draw random numbers, each right after PyTorch's generator was given its default seed.

Run with PyTorch 2.13 or later, on a processor for which PyTorch does not ask MKL for flags and exponential numbers (one that is not
Intel's): python3 make_ops_random.py
"""
import torch

from op_cases import case, f, i, t, write

HALF, BRAIN, DOUBLE = torch.float16, torch.bfloat16, torch.float64
FLOATS = (torch.float32, DOUBLE, HALF, BRAIN)


def draw(name, *args, **kwargs):
    torch.manual_seed(67280421310721)
    case(name, *args, f64=False, **kwargs)


for dt in FLOATS:
    for n in (3, 16, 41):
        draw("rand", [n], dtype=dt)
        draw("randn", [n], dtype=dt)
    draw("uniform", f(2, 9, dt=dt), -2.5, 0.75)
    draw("normal_functional", f(2, 9, dt=dt), 1.5, 0.25)
    draw("normal_functional", f(3, dt=dt), 1.5, 0.25)
    draw("exponential", f(7, dt=dt), 0.75)
    draw("bernoulli", f(5, 4, lo=0.0, hi=1.0, dt=dt))
    draw("bernoulli.p", f(5, 4, dt=dt), 0.25)
    draw("dropout", f(6, 5, dt=dt), 0.25, True)
    draw("native_dropout", f(6, 5, dt=dt), 0.25, True)
    draw("rand_like", f(3, 4), dtype=dt)
    draw("randn_like", f(3, 8), dtype=dt)
draw("rand", [0, 3])
draw("randn", [2, 0])
draw("rand_like", f(4, 3).t())
draw("randn_like", f(4, 5).t())
draw("rand_like", f(2, 3, 4).permute(2, 0, 1))
draw("rand_like", f(6, 8)[::2, ::2])
draw("dropout", f(2, 3, 4).permute(2, 0, 1), 0.5, True)
draw("dropout", f(4), 1.0, True)
draw("dropout", f(4), 0.0, True)
draw("dropout", f(4), 0.5, False)
draw("feature_dropout", f(3, 4, 5), 0.5, True)
draw("alpha_dropout", f(4, 5), 0.25, True)
draw("feature_alpha_dropout", f(3, 4, 2, 2), 0.5, True)
draw("native_dropout", f(3), 1.0, True)
for dt in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float32):
    draw("randint", 100, [9], dtype=dt)
    draw("randint.low", -3, 7, [9], dtype=torch.int64 if dt is torch.uint8 else dt)
    draw("randint_like", i(4, lo=0, hi=3, dt=dt), 9)
    draw("randint_like.low_dtype", i(4, lo=0, hi=3, dt=dt), 2, 9)
    draw("random.to", i(4, lo=0, hi=3, dt=dt), 9)
    draw("bernoulli.p", i(7, lo=0, hi=3, dt=dt), 0.5)
draw("randint", 2**40, [5])
draw("randint.low", -(2**62), 2**62, [5])
draw("randperm", 17)
draw("randperm", 5, dtype=torch.int32)
draw("randperm", 0)
draw("randperm", 1)
draw("bernoulli.Tensor", f(3, 4), f(4, lo=0.0, hi=1.0))
draw("bernoulli.Tensor", i(3, 4), f(3, 4, lo=0.0, hi=1.0, dt=DOUBLE))
for dt in (torch.float32, DOUBLE):
    for count, again in ((1, False), (3, False), (9, True)):
        draw("multinomial", f(2, 7, lo=0.0, hi=1.0, dt=dt), count, again)
draw("multinomial", t([0.0, 0.0, 2.0, 0.0]), 1)
draw("normal.Tensor_float", f(3, 7), 2.5)
draw("normal.float_Tensor", 0.5, f(3, 7, lo=0.1))
draw("normal.Tensor_Tensor", f(3, 1), f(1, 6, lo=0.1))
draw("normal.float_float", 1.0, 2.0, [18])

for grouped in (False, True):
    q, k, v = f(2, 4, 5, 8), f(2, 2 if grouped else 4, 6, 8), f(2, 2 if grouped else 4, 6, 3)
    draw("scaled_dot_product_attention", q, k, v, None, 0.25, enable_gqa=grouped)
draw("scaled_dot_product_attention", f(3, 5, 8), f(3, 5, 8), f(3, 5, 8), None, 0.5, True)
draw("scaled_dot_product_attention", f(2, 4, 8), f(2, 6, 8), f(2, 6, 8), f(4, 6), 0.5)
draw("scaled_dot_product_attention", f(2, 3, 4, 8).transpose(1, 2), f(2, 3, 4, 8).transpose(1, 2), f(2, 3, 4, 8).transpose(1, 2), None, 0.5)

write("ops_random.json")
