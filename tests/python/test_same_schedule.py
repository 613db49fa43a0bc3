#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The same model from a `.pt2` file and through the bridge, with weights as constants in both, gives the same scheduled graph: launches
with the same operands in the same order, the same loops, the same buffers with the same lifetimes. Names are the only difference.

Needs PyTorch 2.9 or later (its files); exit code 77 (skipped) without it.
"""
import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest

import torch_or_skip
from schedule_text import schedule, shown

if torch_or_skip.check() < (2, 9):
    print("skipped: this PyTorch writes no files that strata reads")
    sys.exit(77)

import torch
from torch import nn
from torch.nn import functional as F

import strata

def both(model, args, dynamic=None, least=2):
    """Schedules of the model as a file and through the bridge."""
    model = model.eval()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        path = os.path.join(folder, "model.pt2")
        shapes = None
        if dynamic:
            size = torch.export.Dim("n", min=least, max=64)
            shapes = tuple({0: size} if i in dynamic else None for i in range(len(args)))
        torch.export.save(torch.export.export(model, args, dynamic_shapes=shapes), path)
        for i in dynamic or ():
            torch._dynamo.mark_dynamic(args[i], 0, min=least, max=64)
        return both_of(path, model, args, folder)


def both_of(path, model, args, folder):
    from_file, live = os.path.join(folder, "file.strata"), os.path.join(folder, "live.strata")
    with strata.record(from_file):
        strata.load(path)(*[a.numpy() for a in args])
    strata.reset()
    with strata.record(live):
        torch.compile(model, backend="strata", options={"freezing": True})(*args)
    reports = strata.reports()
    if len(reports) != 1 or not reports[0].compiled or reports[0].opaque:
        raise AssertionError(f"expected one compiled graph, found {reports}")
    return schedule(from_file), schedule(live)


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(24, 48), nn.Linear(48, 24), nn.LayerNorm(24)

    def forward(self, x):
        return self.norm(x + self.second(F.gelu(self.first(x))))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(32, 32) for _ in range(4))

    def forward(self, x):
        split = lambda t: t.unflatten(-1, (4, 8)).transpose(1, 2)
        y = F.scaled_dot_product_attention(split(self.q(x)), split(self.k(x)), split(self.v(x)), is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2)) + x


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding=1), nn.SiLU())
        self.last = nn.Linear(8, 5)

    def forward(self, x):
        y = self.layers(x)
        return F.log_softmax(self.last(y.mean((2, 3))), -1), y.amax((2, 3))


class Resized(nn.Module):
    """Its result has sizes that a float of 64 bits tells: 0.29 * 100 is less than 29."""

    def forward(self, x):
        images = x.permute(1, 0, 2)[None]
        return F.interpolate(images.sin(), scale_factor=0.29, mode="bilinear") + 1, F.interpolate(images, scale_factor=1 / 3)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count.add_(1)
        return x * self.count, torch.cat([x, x.sin()], 1)


class SameSchedule(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        strata.reset()
        torch.manual_seed(1)

    def check(self, model, *args, dynamic=None, least=2):
        from_file, live = both(model, args, dynamic, least)
        self.assertGreater(len([l for l in live if l.startswith("launch")]), 0)
        self.assertEqual(from_file, live)

    def test_perceptron(self):
        self.check(Perceptron(), torch.randn(6, 24))

    def test_perceptron_with_a_dynamic_size(self):
        self.check(Perceptron(), torch.randn(6, 24), dynamic=[0])

    def test_attention(self):
        self.check(Attention(), torch.randn(2, 7, 32))

    def test_attention_with_a_dynamic_size(self):
        self.check(Attention(), torch.randn(3, 7, 32), dynamic=[0])

    def test_sizes_times_floats(self):
        self.check(Resized(), torch.randn(21, 3, 9), dynamic=[0], least=8)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.pt2")
            shapes = ({0: torch.export.Dim("n", min=8, max=1000)},)
            torch.export.save(torch.export.export(Resized(), (torch.randn(21, 3, 9),), dynamic_shapes=shapes), path)
            load = strata.load(path)
            for rows in 100, 21, 8, 33, 999:
                x = torch.randn(rows, 3, 9)
                for found, expected in zip(load(x), Resized()(x), strict=True):
                    torch.testing.assert_close(found, expected)

    def test_convolutions_and_two_results(self):
        self.check(Network(), torch.randn(2, 3, 12, 12))

    def test_a_buffer_that_is_written(self):
        """By design it is an input of the live program, and state of the one in a file."""
        from_file, live = both(Counting(), (torch.randn(4, 3),))
        self.assertEqual([line.replace("constant", "input") for line in from_file], live)

    def test_weights_are_inputs_unless_frozen(self):
        """What differs by default, and why: the bridge reads weights in every call (docs/bridge.md)."""
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            trace = os.path.join(folder, "live.strata")
            with strata.record(trace):
                torch.compile(Perceptron().eval(), backend="strata")(torch.randn(6, 24))
            self.assertNotIn(": constant f32[48, 24]", shown(trace, "plan"))

    def test_models_in_files(self):
        for folder in sorted(pathlib.Path(MODELS).glob("*")):
            path = folder / (folder.name + ".pt2")
            if not path.exists():
                continue
            with self.subTest(folder.name), tempfile.TemporaryDirectory() as traces, torch.no_grad():
                strata.reset()
                with contextlib.redirect_stderr(io.StringIO()):
                    program = torch.export.load(path)
                args, _ = program.example_inputs
                for i, a in enumerate(args):
                    for d, size in enumerate(program.graph_signature and a.shape):
                        if folder.name.endswith("dynamic") and not isinstance(user_input(program, i).shape[d], int):
                            low, high = limits(program, user_input(program, i).shape[d])
                            torch._dynamo.mark_dynamic(a, d, min=low, max=high)
                from_file, live = both_of(path, program.module(), args, traces)
                self.assertEqual(from_file, live)


def user_input(program, i):
    names = [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind == torch.export.graph_signature.InputKind.USER_INPUT]
    return next(n for n in program.graph.nodes if n.name == names[i]).meta["val"]


def limits(program, size):
    bounds = program.range_constraints[size.node.expr]
    return max(2, int(bounds.lower)), int(bounds.upper) if bounds.upper < 2**62 else None


if __name__ == "__main__":
    MODELS = sys.argv.pop() if len(sys.argv) > 1 and os.path.isdir(sys.argv[-1]) else ""
    unittest.main()
