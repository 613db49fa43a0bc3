#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Python's numbers where all is to be dynamic: attributes of modules become constants, numbers that a program hands over stay operands, and
sizes may be computed with floats.

Needs PyTorch 2.7 or later; exit code 77 (skipped) without it.
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

if version < (2, 7):
    print("skipped: before 2.7 Dynamo hands floats over in other ways")
    sys.exit(77)


class Calls(nn.Module):
    def __init__(self, function, number=0.7):
        super().__init__()
        self.function, self.number = function, number

    def forward(self, x):
        return self.function(x, self.number)


# Of modules: all of it is ours.
OF_MODULES = {
    "LeakyReLU": nn.LeakyReLU(0.1), "ELU": nn.ELU(0.7), "CELU": nn.CELU(0.8), "Hardtanh": nn.Hardtanh(-0.5, 0.7), "ReLU6": nn.ReLU6(inplace=True),
    "Softplus": nn.Softplus(1.5, 10.0), "Threshold": nn.Threshold(0.1, 0.3), "Hardshrink": nn.Hardshrink(0.4), "Softshrink": nn.Softshrink(0.4),
    "LayerNorm": nn.LayerNorm(8), "GroupNorm": nn.GroupNorm(2, 6), "Dropout": nn.Dropout(0.3).eval(), "RMSNorm": nn.RMSNorm(8, eps=1e-5),
    "network": nn.Sequential(nn.Conv2d(6, 4, 3), nn.BatchNorm2d(4), nn.ReLU6(inplace=True), nn.Upsample(scale_factor=1.5, mode="bilinear")).eval(),
    "mask": Calls(lambda x, n: x.masked_fill(x > 0, n)), "norm": Calls(lambda x, n: torch.linalg.vector_norm(x, n, -1), 3.5),
    "scale": Calls(lambda x, n: (x * n / n**0.5 - n > n) * (n + x)), "added": Calls(lambda x, n: torch.add(x, x.exp(), alpha=n)),
    "filled": Calls(lambda x, n: torch.full_like(x, n) + x), "attention": Calls(lambda x, n: F.scaled_dot_product_attention(x, x, x, scale=n)),
}  # fmt: skip

# Of the program: one compile for all of them.
OPERANDS = {
    "minus": lambda x, n: n - x, "twice minus": lambda x, n: torch.rsub(x, n, alpha=2), "power": lambda x, n: n**x, "remainder": lambda x, n: x % n,
    "fmod": lambda x, n: torch.fmod(x, n), "floor": lambda x, n: x // n, "rounded": lambda x, n: torch.div(x, n, rounding_mode="trunc"),
    "between": lambda x, n: x.clamp(-n, n), "one bound": lambda x, n: x.clamp(-1, n), "bounds crossed": lambda x, n: x.clamp(n, -n),
    "at most": lambda x, n: x.clamp(max=n), "at least": lambda x, n: x.clamp_min(n), "filled": lambda x, n: x.masked_fill(x > 0, n),
    "in place": lambda x, n: (x * 1).clamp_(-n, n) + (x * 1).masked_fill_(x > 0, n),
}  # fmt: skip


class Numbers(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(torch.seed() % 2**31)

    def compiled(self, function):
        torch._dynamo.reset()
        strata.reset()
        return torch.compile(function, backend="strata", dynamic=True)

    def all_ours(self, graphs):
        self.assertEqual([(r.compiled, r.opaque) for r in strata.reports()], [(True, ())] * graphs, strata.reports())

    def test_of_modules_are_constants(self):
        for name, module in OF_MODULES.items():
            with self.subTest(name), torch.no_grad():
                compiled = self.compiled(module)
                for shape in (4, 6, 9, 8), (3, 6, 16, 8):
                    x = torch.randn(shape)
                    torch.testing.assert_close(compiled(x.clone()), module(x.clone()))
                self.all_ours(1)

    def test_of_modules_may_change(self):
        module = nn.LeakyReLU(0.1)
        compiled, x = self.compiled(module), torch.randn(9)
        with torch.no_grad():
            for module.negative_slope in 0.1, 0.4, 0.1:
                torch.testing.assert_close(compiled(x), module(x))
        self.all_ours(2)

    def test_of_the_program_are_operands(self):
        for name, function in OPERANDS.items():
            for dtype, numbers in (torch.float32, (0.7, 0.3, 1.3)), (torch.float64, (0.7, 2.5)), (torch.int64, (2, 3, 5)), (torch.int64, (2.5, 3.5)):
                if "in place" in name and isinstance(numbers[0], float) and dtype == torch.int64:
                    continue  # PyTorch refuses it
                x = (torch.randn(4, 33) * 3).to(dtype)
                if name == "power" and dtype == torch.int64:
                    x = x.abs()
                with self.subTest(name, dtype=dtype), torch.no_grad():
                    compiled = self.compiled(function)
                    for number in numbers:
                        torch.testing.assert_close(compiled(x, number), function(x, number), equal_nan=True)
                    self.all_ours(1)

    def test_sizes_computed_with_floats(self):
        for factor in 1.5, 0.25, 2.75, 3.0, 0.1, 1.1, 0.7, 1 / 3:
            with self.subTest(factor), torch.no_grad():
                larger = lambda x: F.interpolate(x * 2, scale_factor=factor, mode="bilinear") + 1
                compiled = self.compiled(larger)
                for side in 16, 23, 40:
                    x = torch.randn(2, 3, side, side + 7)
                    torch.testing.assert_close(compiled(x), larger(x), rtol=1e-4, atol=1e-4)
                self.all_ours(2 if factor == 0.1 else 1)  # int(0.1 * 16) is 1, which is a constant to Dynamo

    def test_nearest_elements_of_as_many_or_twice_as_many(self):
        """There PyTorch does not follow the factor: 1.1 of 5 to 9 elements are as many, 2.3 of 2 and 3 twice as many."""
        for factor, sides in (1.1, (16, 7, 9, 10)), (2.3, (16, 3, 4, 2)):
            larger = lambda x, factor=factor: F.interpolate(x, scale_factor=factor, mode="nearest")
            compiled = self.compiled(larger)
            with self.subTest(factor), torch.no_grad():
                for side in sides:
                    x = torch.randn(2, 3, side, side + 1)
                    torch.testing.assert_close(compiled(x), larger(x), rtol=0, atol=0)
                self.all_ours(len(strata.reports()))

    def test_sizes_times_floats_are_those_of_python(self):
        """0.29 * 100 is less than 29, 0.07 * 100 more than 7, 0.1 + 0.2 more than 0.3."""
        functions = {
            "trunc": lambda x, n: x[: int(n * x.shape[0])].exp(), "floor": lambda x, n: x[math.floor(-n * x.shape[0]) :].sum(0),
            "ceil": lambda x, n: x.repeat(math.ceil(x.shape[0] * n), 1).sum(1), "round": lambda x, n: x[: round(n * x.shape[0])].t().contiguous(),
            "filled": lambda x, n: x.new_full((x.shape[1], int(n * x.shape[0])), 0.5) + x[0, 0],
        }  # fmt: skip
        for name, function in functions.items():
            for factor in 0.29, 0.07, 0.1 + 0.2, 1 / 3:
                with self.subTest(name, factor=factor), torch.no_grad():
                    fixed = lambda x, function=function, factor=factor: function(x, factor)
                    compiled = self.compiled(fixed)
                    for n in 100, 10, 57, 33, 90:
                        x = torch.randn(n, 5)
                        torch.testing.assert_close(compiled(x), fixed(x))
                    self.all_ours(len(strata.reports()))

    def test_sizes_of_numbers_of_the_program(self):
        """Shapes, strides and sizes that are given back may depend on a float that the program hands over."""
        functions = {
            "columns": lambda x, n: x[:, : int(n * x.shape[1])].exp(), "given back": lambda x, n: (x.exp(), int(n * x.shape[0])),
            "made": lambda x, n: x.new_zeros(int(n * x.shape[0]), math.ceil(n * x.shape[1])) + x[:1, :1],
            "view": lambda x, n: (x * 2)[int(n * x.shape[0]) // 2 :, : int(n * x.shape[1])],
        }  # fmt: skip
        for name, function in functions.items():
            with self.subTest(name), torch.no_grad():
                compiled = self.compiled(function)
                for rows, number in (100, 0.29), (10, 0.57), (7, 0.3), (33, 0.7):
                    x = torch.rand(rows, 2 * rows)
                    torch.testing.assert_close(compiled(x, number), function(x, number))
                self.all_ours(1)

    def test_given_back(self):
        """What a part before a break hands on to the next one, or the caller gets."""

        def numbers(x, y):
            scale, first = x.shape[0] / y.shape[0], x[0].item()
            results = x * scale, x.shape[0] > 2 * y.shape[0], scale, first, y[0].item() * 2.5, first > 0, x.argmax().item()
            torch._dynamo.graph_break()
            return (results, results[2] * 2)

        with torch.no_grad(), torch._dynamo.config.patch(capture_scalar_outputs=True):
            compiled = self.compiled(numbers)
            for n, m in (5, 2), (4, 3), (9, 2):
                x, y = torch.randn(n), torch.randn(m)
                found, expected = compiled(x, y), numbers(x, y)
                torch.testing.assert_close(found, expected)
                self.assertEqual([type(v) for v in found[0]], [type(v) for v in expected[0]])
            self.all_ours(2 if version < (2, 14) else 1)  # then what is left after the break is floats, and Python's


if __name__ == "__main__":
    unittest.main(verbosity=1)
