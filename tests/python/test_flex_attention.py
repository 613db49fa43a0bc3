#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`flex_attention` with functions of every form, beside PyTorch's own, which runs them element by element.

Needs PyTorch 2.9 or later; exit code 77 (skipped) without it.
"""
import os
import sys
import unittest
import warnings

import torch_or_skip

version = torch_or_skip.check()

import torch

import strata

if version < (2, 9):
    print("skipped: flex_attention of PyTorch before 2.9")
    sys.exit(77)

from torch.nn.attention.flex_attention import create_block_mask, flex_attention

warnings.filterwarnings("ignore", message=".*flex_attention called without torch.compile.*")


def draw(batch=2, heads=4, rows=40, keys=None, size=16, dtype=torch.float32, shared=1):
    made = lambda h, n: torch.randn(batch, h, n, size).to(dtype)
    keys = keys or rows
    return [made(heads, rows), made(heads // shared, keys), made(heads // shared, keys)]


bias, slopes, ids = torch.randn(4, 40), torch.rand(4), torch.randint(0, 3, (2, 40))
cap, limit = torch.tensor(5.0, dtype=torch.float64), torch.tensor(7)

SCORES = {
    "as it is": None,
    "causal": lambda s, b, h, i, j: torch.where(i >= j, s, -float("inf")),
    "alibi": lambda s, b, h, i, j: s + (j - i) * 0.01 * (h + 1),
    "slopes": lambda s, b, h, i, j: s + (j - i) * slopes[h],
    "soft cap": lambda s, b, h, i, j: torch.tanh(s / 20) * 20,
    "a double": lambda s, b, h, i, j: (s / cap).tanh() * cap,
    "table": lambda s, b, h, i, j: s + bias[h, j],
    "table in steps": lambda s, b, h, i, j: s + bias[h][j],  # not of elements
    "documents": lambda s, b, h, i, j: torch.where(ids[b, i] == ids[b, j], s, s - 1000.0),
    "by the batch": lambda s, b, h, i, j: s * (b + 1) + h // 2 - i % 3,
    "far away": lambda s, b, h, i, j: torch.where((i - j).abs() < limit, s, -float("inf")),
}

MASKS = {
    "causal": lambda b, h, i, j: i >= j,
    "window": lambda b, h, i, j: (i >= j) & (i - j < 7),
    "documents": lambda b, h, i, j: (ids[b, i] == ids[b, j]) | (j == 0),
    "by the head": lambda b, h, i, j: torch.logical_or(h % 2 == 0, i < j),
    "rows of nothing": lambda b, h, i, j: (i > 4) & (j > i - 9),
}


class FlexAttention(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        strata.reset()
        torch.manual_seed(torch.seed() % 2**31)

    def check(self, function, inputs, name, native=True, tolerance=1e-5):
        with torch.no_grad():
            found = torch.compile(function, backend="strata", dynamic=False)(*inputs)
            expected = function(*inputs)
        tensors = lambda values: [v for v in torch.utils._pytree.tree_leaves(values) if isinstance(v, torch.Tensor)]
        for a, b in zip(tensors(found), tensors(expected), strict=True):
            self.assertEqual(a.stride(), b.stride(), name)
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance, msg=lambda m: f"{name}: {m}")
        for report in strata.reports():
            self.assertTrue(report.compiled, report)
            self.assertEqual("torch.flex_attention" not in report.opaque, native, report)
        torch._dynamo.reset()
        strata.reset()

    def test_scores(self):
        for name, score in SCORES.items():
            with self.subTest(name):
                self.check(lambda q, k, v: flex_attention(q, k, v, score_mod=score), draw(), name, native=name != "table in steps")

    def test_masks(self):
        for name, mask in MASKS.items():
            with self.subTest(name):
                block = create_block_mask(mask, 2, 4, 40, 40, device="cpu")
                self.check(lambda q, k, v: flex_attention(q, k, v, block_mask=block), draw(), name)
                self.check(lambda q, k, v: flex_attention(q, k, v, block_mask=block, score_mod=SCORES["alibi"]), draw(), name)

    def test_a_mask_made_inside(self):
        def made(q, k, v):
            return flex_attention(q, k, v, block_mask=create_block_mask(MASKS["window"], None, None, 40, 40, device="cpu"))

        self.check(made, draw(), "made inside")

    def test_types_heads_and_layouts(self):
        score = SCORES["alibi"]
        call = lambda q, k, v: flex_attention(q, k, v, score_mod=score)
        self.check(call, draw(dtype=torch.float64), "float64", tolerance=1e-12)
        self.check(call, draw(dtype=torch.bfloat16), "bfloat16", tolerance=2e-2)
        self.check(call, draw(rows=5, keys=40), "fewer rows")
        self.check(lambda q, k, v: flex_attention(q, k, v, score_mod=score, enable_gqa=True), draw(shared=2), "shared keys")
        self.check(lambda q, k, v: flex_attention(q, k, v, score_mod=score, scale=0.3), draw(), "a scale")
        rows = [t.transpose(1, 2).contiguous().transpose(1, 2) for t in draw()]
        self.check(call, rows, "heads inside")

    def test_sums(self):
        from torch.nn.attention.flex_attention import AuxRequest

        self.check(lambda q, k, v: flex_attention(q, k, v, score_mod=SCORES["alibi"], return_aux=AuxRequest(lse=True)), draw(), "aux")

    def test_of_any_size(self):
        call = lambda q, k, v: flex_attention(q, k, v, score_mod=SCORES["causal"])
        with torch.no_grad():
            compiled = torch.compile(call, backend="strata", dynamic=True)
            for rows in (24, 40, 17):
                inputs = draw(rows=rows)
                torch.testing.assert_close(compiled(*inputs), call(*inputs), rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
