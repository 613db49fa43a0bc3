#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Files whose programs have regions with autocast, or functions mapped over batches, give what PyTorch gives, in the same types:
lower precision, float32, the widest of operands, regions inside of regions, regions of another device. Autocast around the export is
an error that says so.

Needs PyTorch 2.9 or later (its files); exit code 77 (skipped) without it.
"""
import os
import sys
import tempfile
import unittest

import torch_or_skip

if torch_or_skip.check() < (2, 9):
    print("skipped: this PyTorch writes no files that strata reads")
    sys.exit(77)

import numpy
import torch
from torch import nn
from torch.nn import functional as F

import strata


def bfloat16(enabled=True, device="cpu", dtype=torch.bfloat16):
    return torch.autocast(device, dtype, enabled=enabled)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.norm = nn.LayerNorm(16)

    def forward(self, x):
        with bfloat16():
            q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
            weights = torch.softmax(q @ k.transpose(-1, -2), -1)
            y = F.scaled_dot_product_attention(q, k, v)
        return weights.float(), y + x


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.bn = nn.BatchNorm2d(8).eval()

    def forward(self, x):
        with bfloat16():
            y = F.relu(self.bn(self.conv(x)))
            with bfloat16(enabled=False):
                z = y.float() * 2
                half = F.conv2d(z, self.conv.weight.transpose(0, 1))
            again = F.conv2d(z, self.conv.weight.transpose(0, 1))
        return y, half, again


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(4, 4)

    def forward(self, x):
        return self.line(x).relu()


class Widest(Plain):
    """Operators that autocast computes in float32, or in the widest type of their operands."""

    def forward(self, x):
        with bfloat16():
            low = self.line(x)
            return torch.cat([low, x], -1), torch.stack([x, low]), low.prod(-1), F.mse_loss(low, x), low + x, low.sum()


class Writes(Plain):
    def forward(self, x):
        with bfloat16():
            y = self.line(x)
            y += x
            y.mul_(2)
            rows = torch.arange(3)
            return y, y[rows], torch.topk(y, 2)[1]


class Elsewhere(nn.Module):
    """The region is another device's: it says nothing of the CPU's tensors."""

    def forward(self, x):
        with bfloat16(device="cuda"):
            return x @ x.t()


class Mapped(nn.Module):
    """A function of rows, mapped."""

    def __init__(self, function, *more, in_dims=0, out_dims=0):
        super().__init__()
        self.function, self.in_dims, self.out_dims = function, in_dims, out_dims
        self.line = nn.Linear(4, 4)
        for i, value in enumerate(more):
            self.register_buffer(f"more{i}", value)

    def forward(self, x):
        more = [value for name, value in self.named_buffers() if name.startswith("more")]
        function = (lambda *rows: self.function(self.line, *rows)) if self.function.__code__.co_varnames[0] == "line" else self.function
        return torch.vmap(function, in_dims=self.in_dims, out_dims=self.out_dims)(x, *more)


class MaskOfPairs(nn.Module):
    """As transformers make masks: each pair of places in a vmap of its own."""

    def forward(self, x):
        rows, left, right = (torch.arange(n) for n in (x.shape[0], x.shape[1], x.shape[1]))

        def mask(row, i, j):
            near = (i - j < 2) & (j - i < 3)
            return row.new_ones((), dtype=torch.bool) & near | (row + i == j)

        for dims in ((None, None, 0), (None, 0, None), (0, None, None)):
            mask = torch.vmap(mask, in_dims=dims)
        return mask(rows, left, right), torch.vmap(torch.vmap(lambda i, j: i * 2 - j, (None, 0)), (0, None))(left, right)


class Unmapped(nn.Module):
    """An operator whose batches are not written out."""

    def forward(self, x):
        return torch.vmap(lambda row: torch.fft.fft(row).real)(x)


class Drawing(nn.Module):
    """Random numbers that are the same for each row."""

    def forward(self, x):
        return torch.vmap(lambda row: row + torch.rand(4), randomness="same")(x)


class Regions(unittest.TestCase):
    def loaded(self, model, x):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.pt2")
            torch.export.save(torch.export.export(model, (x,)), path)
            return strata.load(path)

    def check(self, model, *shape, close=0.03):
        torch.manual_seed(1)
        model, x = model.eval(), torch.randn(*shape)
        with torch.no_grad():
            program, wanted = self.loaded(model, x), model(x)
        wanted = [t.detach() for t in (wanted if isinstance(wanted, tuple) else (wanted,))]
        found = program(x.numpy())
        found = found if isinstance(found, (tuple, list)) else (found,)
        self.assertEqual(len(found), len(wanted))
        for have, want in zip(found, wanted):
            have = torch.from_numpy(numpy.array(have))
            have = have.view(torch.bfloat16) if have.dtype == torch.uint16 else have  # bits
            self.assertEqual(have.dtype, want.dtype)
            torch.testing.assert_close(have, want, rtol=close, atol=close)

    def test_attention(self):
        self.check(Attention(), 2, 5, 16)

    def test_convolutions(self):
        self.check(Convolutions(), 2, 3, 9, 8)

    def test_widest(self):
        self.check(Widest(), 3, 4)

    def test_writes(self):
        self.check(Writes(), 3, 4)

    def test_elsewhere(self):
        self.check(Elsewhere(), 3, 4)

    def test_around_the_export(self):
        """PyTorch does not run such a file either: nothing in it says what the types rest on."""
        with torch.no_grad(), bfloat16(), self.assertRaisesRegex(strata.StrataError, "'linear' .*bf16.*f32(.|\n)*autocast"):
            self.loaded(Plain(), torch.randn(3, 4))

    def test_mapped(self):
        columns = torch.randn(4, 3)
        for name, model in {
            "elementwise": Mapped(lambda row: (row * 2).sin().clamp(-0.5, 0.5)),
            "with another batch": Mapped(lambda row, other: torch.where(row > other, row, other * 2), torch.randn(3, 4)),
            "with a number each": Mapped(lambda row, number: row * number + 1, torch.randn(3)),
            "another dimension": Mapped(lambda row, column: row + column, columns, in_dims=(0, 1)),
            "last dimension": Mapped(lambda column: column.exp(), in_dims=-1, out_dims=-1),
            "sums": Mapped(lambda row: (row.sum(), row.mean(0, keepdim=True), row.amax(-1), row.argmax(0), row.cumsum(0))),
            "softmax": Mapped(lambda row: torch.softmax(row, 0) + torch.log_softmax(row, -1)),
            "dot": Mapped(lambda row, column: torch.dot(row, column), columns, in_dims=(0, 1)),
            "linear": Mapped(lambda line, row: line(row).relu()),
            "matrices": Mapped(lambda row: row.unsqueeze(1) @ row.unsqueeze(0) + row.view(2, 2).transpose(0, 1).reshape(1, 4)),
            "slices": Mapped(lambda row: row[1:3] * row[0] + row[-1]),
            "gathers": Mapped(lambda row, at: row[at] + row[at[0:1]], torch.tensor([[3, 0], [1, 1], [2, 0]])),
            "table": Mapped(lambda row, at, table: table[at] + row[0], torch.tensor([[2, 0], [1, 1], [2, 0]]), torch.randn(3, 5),
                            in_dims=(0, 0, None)),
            "the same for all": Mapped(lambda row: torch.arange(3.0), out_dims=1),
        }.items():
            with self.subTest(name):
                self.check(model, 3, 4, close=1e-5)

    def test_mask_of_pairs(self):
        self.check(MaskOfPairs(), 2, 6)

    def test_what_is_not_mapped(self):
        for model in (Unmapped(), Drawing()):
            with self.subTest(type(model).__name__), torch.no_grad(), self.assertRaisesRegex(strata.StrataError, "_add_batch_dim"):
                self.loaded(model, torch.randn(3, 4))


if __name__ == "__main__":
    unittest.main()
