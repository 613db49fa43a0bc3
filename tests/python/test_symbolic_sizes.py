#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes of inputs as symbols (`dynamic=True`): equal ones that are not written alike, and functions of them that Python computes, with
floats too. One compile serves all sizes.

Needs PyTorch 2.6 or later; exit code 77 (skipped) without it.
"""
import math
import sys
import unittest

import torch_or_skip

version = torch_or_skip.check()

import torch
from torch import nn
from torch.nn import functional as F

import strata

if version < (2, 6):
    print("skipped: before 2.6 Dynamo does not hand such graphs over")
    sys.exit(77)


class SymbolicSizes(unittest.TestCase):
    def setUp(self):
        strata.reset()
        torch.manual_seed(0)

    def check(self, function, *calls):
        """One graph, all of it ours, that gives PyTorch's results for every call."""
        compiled = torch.compile(function, backend="strata", fullgraph=True, dynamic=True)
        for operand in calls:
            with torch.no_grad():
                torch.testing.assert_close(compiled(operand), function(operand), rtol=1e-5, atol=1e-5)
        reports = strata.reports()
        self.assertEqual([(r.compiled, r.opaque) for r in reports], [(True, ())], reports)


class Alike(SymbolicSizes):
    """A parameter has numbers where what it meets has symbols: `s0//2` is 5 where s0 is 10 or 11."""

    def model(self, function, *shape):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.c, self.t = nn.Conv2d(3, 4, 3, 2), nn.ConvTranspose2d(3, 4, 2)
                self.l = nn.Linear(4, 6)
                self.p = nn.Parameter(torch.randn(shape))

            def forward(self, x):
                return function(self, x, self.p)

        return Model().eval()

    def images(self):
        return torch.randn(2, 3, 11, 11), torch.randn(5, 3, 12, 12), torch.randn(2, 3, 12, 12)

    def test_added_to_a_convolution(self):
        for function in (
            lambda m, x, p: m.c(x) + p,
            lambda m, x, p: m.c(x).relu() * p - 1,
            lambda m, x, p: F.gelu(p - m.c(x)),
            lambda m, x, p: m.c(x) + p[:, :1],
        ):
            self.setUp()
            self.check(self.model(function, 1, 4, 5, 5), *self.images())

    def test_added_to_other_results(self):
        for function, shape in (
            (lambda m, x, p: F.max_pool2d(x, 2) + p, (1, 3, 6, 6)),
            (lambda m, x, p: m.t(x[..., ::2, ::2]) * p, (4, 7, 7)),
            (lambda m, x, p: m.l(x[..., ::3]) + p, (12, 6)),
            (lambda m, x, p: (x.flatten(2) @ x.flatten(2).transpose(1, 2) + p).softmax(-1), (3, 3)),
        ):
            self.setUp()
            self.check(self.model(function, *shape), torch.randn(2, 3, 12, 12), torch.randn(4, 3, 12, 12))

    def test_folded_afterwards(self):
        for function in (
            lambda m, x, p: (m.c(x) + p).sum((1, 2), keepdim=True),
            lambda m, x, p: (x[..., 1::2, 1::2] * p).softmax(-1) + p,
            lambda m, x, p: F.layer_norm(x[..., 1::2, 1::2] + p[:, :1], [5]).amax(1),
            lambda m, x, p: (x[..., 1::2, 1::2] - p).cumsum(-1).mean(-2),
        ):
            self.setUp()
            shape = (1, 4, 5, 5) if function.__code__.co_names[0] == "c" else (1, 3, 5, 5)
            self.check(self.model(function, *shape), torch.randn(2, 3, 11, 11), torch.randn(4, 3, 11, 11))

    def test_a_mask_of_attention(self):
        def attention(m, x, p):
            q = x.flatten(1, 2)[:, ::3].unsqueeze(1)
            return F.scaled_dot_product_attention(q, q, q, attn_mask=p)

        self.check(self.model(attention, 1, 1, 11, 11), torch.randn(2, 3, 11, 11), torch.randn(3, 3, 11, 11))


class Functions(SymbolicSizes):
    def check(self, function):
        super().check(function, *(torch.randn(n, 5) for n in (7, 14, 9, 30)))

    def test_in_whole_numbers(self):
        for function in (
            lambda x: x.new_zeros(math.ceil(x.shape[0] / 2)) + x.sum(),
            lambda x: x * math.ceil(x.shape[0] / 2),
            lambda x: x.new_ones(math.floor(x.shape[0] / 3), 2) * x.mean(),
            lambda x: F.pad(x, [0, 0, 0, max((math.ceil(x.shape[0] / 2) - 1) * 2 + 3 - x.shape[0], 0)]),
            lambda x: x[: int(x.shape[0] / 4) + 1] * 2,
        ):
            self.setUp()
            self.check(function)

    def test_with_floats(self):
        for function in (
            lambda x: x.new_zeros(int(x.shape[0] * 0.7)) + x.sum(),
            lambda x: x[: int(x.shape[0] * 0.6)].sum(0) + x.new_ones(int(x.shape[0] * 0.6) + 2).sum(),
            lambda x: x[int(x.shape[0] * 0.3) :] * 2 + x.shape[0],
            lambda x: x.new_zeros(round(x.shape[0] / 2), 3) - x.mean(),
            lambda x: x.new_zeros(int(math.sqrt(x.shape[0]))) + x.sum(),
            lambda x: torch.arange(math.floor(x.shape[0] * 1.7)) * 2 + x.sum(),
            lambda x: x.topk(int(x.shape[0] * 0.5 + 0.3), dim=0)[0] + 1,
            lambda x: x.new_zeros(int(x.shape[0] * 0.7), 4).view(-1, 2) + x.sum(),
            lambda x: x * int(math.log2(x.shape[0])) + (x.shape[0] // 2.5),
        ):
            self.setUp()
            self.check(function)

    def test_given_back(self):
        for function in (
            lambda x: (x + 1, math.ceil(x.shape[0] / 3), int(x.shape[0] * 0.5), x.shape[0] / 2),
            lambda x: F.pad(x, (math.floor((x.shape[0] - 3.0) / 2.0), math.ceil(float(x.shape[0]) / 1.0))),
            lambda x: (x.reshape(-1)[math.floor(x.shape[0] / 2.0) :], round(x.shape[0] * 0.7)),
        ):
            self.setUp()
            self.check(function)

    def test_progressions(self):
        for function in (
            lambda x: torch.arange(0.5, x.shape[0]) * 2,
            lambda x: torch.arange(0.5, x.shape[0], 1.5) + x.sum(),
            lambda x: torch.arange(-0.25, x.shape[0] * 2, 0.75, dtype=torch.float64) + 1,
            lambda x: torch.arange(40.5, x.shape[0], -2.5) + x.mean(),
            lambda x: torch.arange(0.5, x.shape[0], 1.5, dtype=torch.int32) + 1,
        ):
            self.setUp()
            self.check(function)

    def test_parts_that_count_from_the_end(self):
        """What is written to them: `x[:, -w:]` where w is an argument."""

        def store(x, w):
            x[:, -w:] = 3.0

        def double(x, w):
            x[:, -w:] *= 2
            x[:, : -w] += 1

        def one(x, w):
            x[:, -w] = 5.0

        def scatter(x, w):
            x.copy_(torch.slice_scatter(x, x[:, :w] * 2, 1, -w))

        for function in (store, double, one, scatter):
            self.setUp()
            compiled = torch.compile(function, backend="strata", dynamic=True)
            for size, w in ((16, 8), (11, 3), (7, 7)):
                x = torch.randn(3, size)
                expected = x.clone()
                function(expected, w), compiled(x, w)
                torch.testing.assert_close(x, expected)
            self.assertTrue(all(r.compiled and not r.opaque for r in strata.reports()), strata.reports())

    def test_what_is_made_and_turned_round(self):
        self.check(lambda x: x.new_ones(x.shape[0], x.shape[0] + 1).tril().flip(dims=[0])[None, :, None].flip(dims=(1, 3)))
        self.setUp()
        self.check(lambda x: x.new_ones(x.shape[0], 3).flip(0, 1))

    def test_of_whole_numbers(self):
        for function in (
            lambda x: x.new_zeros(abs(x.shape[0] - 50)) + x.sum(),
            lambda x: x * (x.shape[0] & 3) + (x.shape[0] << 1),
            lambda x: x * 2 ** x.shape[0],
        ):
            self.setUp()
            self.check(function)


if __name__ == "__main__":
    unittest.main()
