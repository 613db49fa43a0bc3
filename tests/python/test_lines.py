#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Softmax, sums of exponentials, norms and variances of random lines, short and long, with what makes them hard: numbers far from zero,
outliers, infinities, numbers that grow along the line. Against float64: not much worse than PyTorch.

Needs PyTorch 2.4 or later; exit code 77 (skipped) without it. STRATA_TEST_SEED repeats a run, STRATA_TEST_LINES says how many shapes.
"""
import os
import random
import unittest

import torch_or_skip

torch_or_skip.check()

import torch
from torch.nn import functional as F

import strata  # registers the backend

FUNCTIONS = {
    "softmax": lambda x, t: x.softmax(-1),
    "softmax of sines": lambda x, t: (x + x.sin()).softmax(-1) * 2,
    "masked softmax": lambda x, t: x.masked_fill(x > 1.0, -float("inf")).softmax(-1),
    "log_softmax": lambda x, t: x.log_softmax(-1),
    "logsumexp": lambda x, t: x.logsumexp(-1),
    "cross_entropy": lambda x, t: F.cross_entropy(x, t, reduction="none"),
    "layer_norm": lambda x, t: F.layer_norm(x, x.shape[-1:]),
    "layer_norm of a sum": lambda x, t: F.layer_norm(x.relu() + x * 0.5, x.shape[-1:]) + x,
    "group_norm": lambda x, t: F.group_norm(x[:, None].expand(-1, 4, -1).contiguous(), 2),
    "var": lambda x, t: x.var(-1),
    "std": lambda x, t: torch.std_mean(x, -1)[0],
}
LENGTHS = [16, 40, 128, 129, 197, 255, 256, 500, 512, 768, 1000, 1023, 1024, 1500, 2048, 3000, 5000]
KINDS = {
    "normal": lambda x, pick: x,
    "large": lambda x, pick: x * 50,
    "far from zero": lambda x, pick: x + 300,
    "with an outlier": lambda x, pick: x.index_fill(1, torch.tensor([pick.randrange(x.shape[1])]), pick.choice([100.0, 1000.0, -1000.0])),
    "growing": lambda x, pick: x + 0.3 * torch.arange(x.shape[1]),
    "with peaks": lambda x, pick: torch.where(torch.rand_like(x) < 0.02, x * 200, x),
}
MOST = 4  # times PyTorch's error, or a unit in the last place of the largest result where PyTorch has hardly any


class Lines(unittest.TestCase):
    def test_random_lines(self):
        seed = int(os.environ.get("STRATA_TEST_SEED") or random.SystemRandom().randrange(2**31))
        pick = random.Random(seed)
        torch.manual_seed(seed)
        for _ in range(int(os.environ.get("STRATA_TEST_LINES", "12"))):
            rows, length, kind, dynamic = pick.choice([1, 2, 3, 7, 40]), pick.choice(LENGTHS), pick.choice(list(KINDS)), pick.random() < 0.3
            x, t = KINDS[kind](torch.randn(rows, length), pick), torch.randint(0, length, (rows,))
            for name, function in FUNCTIONS.items():
                with self.subTest(seed=seed, function=name, rows=rows, length=length, kind=kind, dynamic=dynamic):
                    self.compare(function, x, t, dynamic, "norm" in name)

    def compare(self, function, x, t, dynamic, is_norm):
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="strata", dynamic=dynamic)
        with torch.no_grad():
            exact, theirs, ours = function(x.double(), t), function(x, t).double(), compiled(x, t).double()
        finite = exact.isfinite()
        self.assertTrue(torch.equal(finite, ours.isfinite()))
        if not finite.any():
            return
        largest = exact[finite].abs().max().item()
        error = lambda result: (result - exact)[finite].abs().max().item()
        # A variance of float32 keeps its sum in float32, PyTorch's in float64; means of few numbers are rounded anywhere.
        least = (3e-7 if exact.dim() == 1 or x.abs().max() > 100 else 1.2e-7) * largest
        if is_norm:  # a mean is a float32
            least = max(least, x.abs().max().item() * 2**-24 / x.std().item())
        self.assertLessEqual(error(ours), MOST * max(error(theirs), least))


if __name__ == "__main__":
    unittest.main()
