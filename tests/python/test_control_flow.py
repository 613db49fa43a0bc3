#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`torch.cond`, `while_loop`, `map` and `scan`, from files and live, beside PyTorch.

Needs PyTorch 2.9 or later; exit code 77 (skipped) without it.
"""
import os
import sys
import tempfile
import unittest

import torch_or_skip

version = torch_or_skip.check()

import torch
from torch.export import Dim

import strata

if version < (2, 9):
    print("skipped: control flow of PyTorch before 2.9 is not read")
    sys.exit(77)

from torch._higher_order_ops.map import map as each
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.utils._pytree import tree_leaves

BACKENDS = ("strata", "unfused", "interpret")


class Weighted(torch.nn.Module):
    """Both branches have weights, one of them in a normalisation that can be folded."""

    def __init__(self):
        super().__init__()
        self.convolution, self.norm = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8)
        self.other = torch.nn.Conv2d(3, 8, 1)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        return torch.cond(x.mean() > 0, lambda x: self.norm(self.convolution(x)).relu(), lambda x: self.other(x).tanh(), (x,))


class Counting(torch.nn.Module):
    """Writes a buffer that a branch reads."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count += 1
        return torch.cond(self.count % 2 > 0, lambda x, n: x * n, lambda x, n: x - n, (x, self.count.clone()))


class Power(torch.nn.Module):
    """The largest eigenvalue, by as many products as it takes."""

    def __init__(self):
        super().__init__()
        self.matrix = torch.nn.Parameter(torch.eye(6) + 0.3 * torch.rand(6, 6))

    def forward(self, v):
        def unfinished(i, change, v):
            return torch.logical_and(i < 50, change > 1e-4)

        def step(i, change, v):
            new = self.matrix @ v
            new = new / new.norm()
            return i + 1, (new - v).abs().max(), new

        return while_loop(unfinished, step, (torch.zeros((), dtype=torch.int64), torch.ones(()), v / v.norm()))


def sign(x):
    return torch.cond(x.sum() > 0, lambda x: x.sin() * 2, lambda x: x.cos() - 1, (x,))


def nested(x):
    return torch.cond(x.sum() > 0, lambda x: torch.cond(x.max() > 2, lambda x: x * 2, lambda x: x + 3, (x,)), lambda x: -x, (x,))


def of_size(x):
    return torch.cond(x.shape[0] > 4, lambda x: x * 2, lambda x: x - 1, (x,))


def sum_rows(x):
    return torch.cond(x.sum() > 0, lambda x: x.sum(0) / x.shape[0], lambda x: x.amax(0) * x.shape[0], (x,))


def several(x, n):
    a, b, c = torch.cond(n > 2, lambda x, n: (x.t() * 3, x > 0, n + 1), lambda x, n: (x.t() * 2, x < 1, n - 1), (x, n))
    return a.relu(), c, (a + 1).sum()


def doubled(x):
    return while_loop(lambda i, x: x.abs().max() < 100, lambda i, x: (i + 1, x * 2), (torch.zeros((), dtype=torch.int32), x))[1]


def with_more(x, y):
    return while_loop(lambda i, a: i < y.shape[0], lambda i, a: (i + 1, a * 0.5 + y.index_select(0, i.reshape(1)).squeeze(0)), (torch.zeros((), dtype=torch.int64), x))


def never(x):
    return while_loop(lambda x: x.sum() > 1e9, lambda x: (x + 1,), (x,))


def rows(x, y):
    return each(lambda a, y: (a.softmax(-1) + y, a.sum()), x, y)


def recurrence(x, h):
    return scan(lambda h, a: ((h * 0.9 + a).tanh(), (h + a).sum()), h, x)


def backwards(x, h):
    return scan(lambda h, a: (h + a, h * a), h, x, dim=1, reverse=True)


def two_states(x, h, c):
    def step(state, a):
        h, c = state
        c = c * torch.sigmoid(h + a) + torch.tanh(a)
        return (torch.tanh(c), c), {"h": h.clone(), "c": c.half()}

    return scan(step, (h, c), x)


def loop_in_a_branch(x):
    def loop(x):
        return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + torch.cond(x.sum() > 2, lambda x: x * 0.1, lambda x: x + 1, (x,))), (torch.zeros((), dtype=torch.int64), x))[1]

    return torch.cond(x.max() > 0, loop, lambda x: x.clone(), (x,))


def found_inside(x):
    """A size that only the data tells, inside of a branch."""
    return torch.cond(x.max() > 0, lambda x: x[x > 0].sum(), lambda x: x.sum(), (x,))


def of_found(x):
    """Branches on as many numbers as the data has."""
    return torch.cond(x.sum() > 0, lambda y: y * 2, lambda y: y - 1, (x[x.abs() > 0.5],))


f32 = lambda *shape: lambda: torch.randn(*shape)


class ControlFlow(unittest.TestCase):
    CASES = {
        "sign": (sign, [f32(4, 5)]),
        "nested": (nested, [f32(3)]),
        "sum_rows": (sum_rows, [f32(6, 3)]),
        "several": (several, [f32(3, 4), lambda: torch.randint(0, 5, ())]),
        "doubled": (doubled, [f32(3, 4)]),
        "with_more": (with_more, [f32(4), f32(7, 4)]),
        "never": (never, [f32(4)]),
        "rows": (rows, [f32(5, 8), f32(8)]),
        "recurrence": (recurrence, [f32(9, 4), f32(4)]),
        "backwards": (backwards, [f32(4, 6), f32(4)]),
        "two_states": (two_states, [f32(7, 2, 3), f32(2, 3), f32(2, 3)]),
        "loop_in_a_branch": (loop_in_a_branch, [f32(3)]),
        "found_inside": (found_inside, [f32(9)]),
        "of_found": (of_found, [f32(9)]),
        "weights": (Weighted, [f32(2, 3, 9, 7)]),
        "power": (Power, [f32(6)]),
    }

    def setUp(self):
        torch.manual_seed(torch.seed() % 2**31)

    @staticmethod
    def module(function):
        if isinstance(function, type):
            return function().eval()

        class Module(torch.nn.Module):
            def forward(self, *args):
                return function(*args)

        return Module()

    def compare(self, found, expected, what):
        expected = tree_leaves(expected)
        self.assertEqual(len(found), len(expected), what)
        for a, b in zip(found, expected):
            rtol = 2e-3 if b.dtype == torch.float16 else 1e-4
            torch.testing.assert_close(a, b.detach(), rtol=rtol, atol=rtol / 10, msg=lambda m: f"{what}: {m}")

    def from_file(self, module, makers, name, sizes=None, draws=3):
        """`sizes`: dynamic shapes, and other makers of inputs."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.pt2")
            shapes = (sizes[0],) if sizes else None
            torch.export.save(torch.export.export(module, tuple(make() for make in makers), dynamic_shapes=shapes), path)
            for backend in BACKENDS:
                model = strata.load(path, backend=backend)
                for more in [makers] + (sizes[1] if sizes else []):
                    for _ in range(draws):
                        operands = [make() for make in more]
                        with torch.no_grad():
                            self.compare(model(*operands), module(*operands), f"{name}, {backend}")

    def test_from_files(self):
        for name, (function, makers) in self.CASES.items():
            with self.subTest(name):
                self.from_file(self.module(function), makers, name)

    def test_of_any_size(self):
        n = Dim("n", min=2, max=50)
        for name, function, makers, shapes, others in [
            ("sign", sign, [f32(4, 5)], ({0: n, 1: Dim("m")},), [[f32(9, 2)], [f32(2, 7)]]),
            ("sum_rows", sum_rows, [f32(6, 3)], ({0: n},), [[f32(2, 3)], [f32(31, 3)]]),
            ("of_size", of_size, [f32(6)], ({0: n},), [[f32(3)], [f32(5)], [f32(4)]]),
            ("with_more", with_more, [f32(4), f32(7, 4)], ({0: Dim("m")}, {0: n, 1: Dim("m")}), [[f32(3), f32(2, 3)], [f32(4), f32(9, 4)]]),
            ("rows", rows, [f32(5, 8), f32(8)], ({0: n}, None), [[f32(2, 8), f32(8)], [f32(17, 8), f32(8)]]),
            ("recurrence", recurrence, [f32(9, 4), f32(4)], ({0: n}, None), [[f32(3, 4), f32(4)], [f32(40, 4), f32(4)]]),
            ("flat", lambda x: sign(x.reshape(-1)), [f32(4, 5)], ({0: n, 1: Dim("m")},), [[f32(9, 2)], [f32(2, 7)]]),
        ]:
            with self.subTest(name):
                self.from_file(self.module(function), makers, name, (shapes, others), draws=2)

    def test_state_that_is_written(self):
        module = Counting()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.pt2")
            torch.export.save(torch.export.export(module, (torch.randn(4),)), path)
            model = strata.load(path)
            for _ in range(4):
                x = torch.randn(4)
                self.compare(model(x), module(x), "count")

    def test_live(self):
        for name, (function, makers) in self.CASES.items():
            if name == "of_found":  # what gives the result its size is PyTorch's: the graph is left to it
                continue
            with self.subTest(name), torch.no_grad():
                torch._dynamo.reset()
                module = self.module(function)
                compiled = torch.compile(module, backend="strata", fullgraph=True)
                strata.reset()
                for _ in range(3):
                    operands = [make() for make in makers]
                    self.compare(tree_leaves(compiled(*operands)), module(*operands), name)
                for report in strata.reports():
                    self.assertTrue(report.compiled, report)
                    self.assertEqual([*report.opaque], [], report)

    def test_pytorch_is_called_for_what_is_not_compiled(self):
        cases = {
            "complex": (lambda z: torch.cond(z.real.sum() > 0, lambda z: z * 2, lambda z: z - 1j, (z,)), lambda: torch.randn(4, dtype=torch.complex64)),
            "random": (lambda x: torch.cond(x.sum() > 99, lambda x: torch.rand_like(x), lambda x: x + 1, (x,)), f32(4)),
        }
        for name, (function, make) in cases.items():
            with self.subTest(name), torch.no_grad():
                torch._dynamo.reset()
                strata.reset()
                x = make()
                self.compare(tree_leaves(torch.compile(function, backend="strata", fullgraph=True)(x)), function(x), name)
                for report in strata.reports():
                    self.assertTrue(report.compiled, report)
                    self.assertEqual([*report.opaque], ["torch.cond"], report)


if __name__ == "__main__":
    unittest.main()
