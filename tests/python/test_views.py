#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What shares memory with what: each function of `VIEWS` gives a view of its operand, or a copy, or the one or the other by how the
operand lies. Written through it, or read through it after the operand was written, live and from a file, results must be PyTorch's.

Needs PyTorch 2.4 or later; exit code 77 (skipped) without it. Those that may be refused, with an error and never with other numbers,
are in `REFUSED`.
"""
import os
import tempfile
import unittest
import warnings

import torch_or_skip

VERSION = torch_or_skip.check()

import numpy
import torch
from torch.nn import functional as F

import strata

VIEWS = {
    "diagonal": lambda x: x.diagonal(), "diagonal of others": lambda x: x.diagonal(1, 0, 2), "movedim": lambda x: x.movedim(0, 2),
    "movedim of two": lambda x: x.movedim((0, 1), (1, 2)), "moveaxis": lambda x: x.moveaxis(0, -1), "swapaxes": lambda x: x.swapaxes(0, 1),
    "swapdims": lambda x: x.swapdims(0, 2), "unfold": lambda x: x.unfold(2, 2, 2), "overlapping unfold": lambda x: x.unfold(1, 3, 2)[:, 0],
    "tensor_split": lambda x: x.tensor_split(3, 2)[1], "tensor_split at places": lambda x: x.tensor_split([1, 3], 2)[1],
    "hsplit": lambda x: x.hsplit(2)[1], "vsplit": lambda x: x.vsplit(2)[1], "dsplit": lambda x: x.dsplit(2)[0],
    "chunk": lambda x: x.chunk(2, 1)[1], "split": lambda x: x.split(2, 2)[1], "split in sizes": lambda x: x.split([1, 3, 2], 2)[1],
    "unsafe_chunk": lambda x: x.unsafe_chunk(2)[0], "unsafe_split": lambda x: x.unsafe_split(3)[1], "unbind": lambda x: x.unbind(1)[2],
    "narrow": lambda x: x.narrow(2, 1, 3), "select": lambda x: x[:, 1], "select from the end": lambda x: x.select(1, -1),
    "step": lambda x: x[:, ::2], "ellipsis": lambda x: x[..., 2:4], "new dimension": lambda x: x[:, 1:3, None], "view": lambda x: x.view(-1),
    "view_as": lambda x: x.view_as(torch.zeros(24, 6)), "unflatten": lambda x: x.unflatten(2, (2, 3)), "flatten": lambda x: x.flatten(1),
    "flatten a slice": lambda x: x[:, :2].flatten(1), "flatten what was permuted": lambda x: x.permute(2, 0, 1).flatten(1),
    "flatten into a copy": lambda x: x.permute(2, 1, 0).flatten(1), "reshape": lambda x: x.reshape(6, -1),
    "reshape a slice": lambda x: x[:, :2].reshape(4, 1, 2, 6), "reshape the end of a slice": lambda x: x[:, 2:4].reshape(-1, 2, 6),
    "reshape what was transposed": lambda x: x.transpose(0, 1).reshape(6, 2, 2, 6), "reshape into a copy": lambda x: x.mT.reshape(24, 6),
    "reshape_as": lambda x: x[:, :2].reshape_as(torch.zeros(4, 2, 3, 2)), "ravel": lambda x: x[1:3].ravel(), "ravel into a copy": lambda x: x[0].t().ravel(),
    "squeeze": lambda x: x[:1].squeeze(0), "squeeze two": lambda x: x[:1, :1].squeeze((0, 1)), "squeeze all": lambda x: x[:, :1].squeeze(),
    "unsqueeze": lambda x: x.unsqueeze(1), "T": lambda x: x[0].T, "mT": lambda x: x.mT, "t": lambda x: x[1].t(), "adjoint": lambda x: torch.adjoint(x),
    "permute": lambda x: x.permute(2, 0, 1), "expand": lambda x: x.expand(4, 6, 6), "expand_as": lambda x: x.expand_as(x),
    "broadcast_to": lambda x: x.broadcast_to(4, 6, 6), "as_strided": lambda x: x.as_strided((3, 4), (5, 1), 2), "detach": lambda x: x.detach(),
    "contiguous": lambda x: x[1].contiguous(), "contiguous into a copy": lambda x: x.transpose(0, 1).contiguous(),
    "contiguous channels": lambda x: x[None].contiguous(memory_format=torch.channels_last),
    "channels as they lie": lambda x: x.permute(2, 0, 1)[None].contiguous(memory_format=torch.channels_last), "to": lambda x: x.to(torch.float32),
    "to a copy": lambda x: x.to(torch.float32, copy=True), "to another type": lambda x: x.to(torch.float64), "type_as": lambda x: x.type_as(x),
    "to a format": lambda x: x[None].to(memory_format=torch.channels_last), "dropout": lambda x: F.dropout(x, 0.5, False),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5, False), "feature_dropout": lambda x: F.dropout2d(x, 0.5, False),
    "feature_alpha_dropout": lambda x: F.feature_alpha_dropout(x, 0.5, False), "conj_physical": lambda x: x.conj_physical(),
    "conj": lambda x: x.conj(), "resolve": lambda x: x.resolve_conj().resolve_neg(), "positive": lambda x: +x, "real": lambda x: torch.real(x),
    "real part": lambda x: torch.view_as_complex(x.view(4, 6, 3, 2)).real, "einsum": lambda x: torch.einsum("ijk->kji", x),
    "einsum of a diagonal": lambda x: torch.einsum("iij->ij", x[:, :4]), "einsum of three diagonals": lambda x: torch.einsum("iii->i", x[:, :4, :4]), "einsum with blanks": lambda x: torch.einsum("i j k -> j k i", x),
    "einsum without an arrow": lambda x: torch.einsum("kij", x), "einsum of what is left": lambda x: torch.einsum("...j", x),
    "einsum of a trace": lambda x: torch.einsum("iij", x[:, :4]), "einsum that adds": lambda x: torch.einsum("ijk->kj", x),
    "atleast_1d": lambda x: torch.atleast_1d(x), "atleast_2d": lambda x: torch.atleast_2d(x[0, 0]), "atleast_3d": lambda x: torch.atleast_3d(x[0]),
    "atleast_3d of two": lambda x: torch.atleast_3d(x[0], x[1])[1], "meshgrid": lambda x: torch.meshgrid(x[0, 0], x[0, 1], indexing="ij")[0][:, :1],
    "broadcast_tensors": lambda x: torch.broadcast_tensors(x, x[0])[0], "sum_to_size": lambda x: x.sum_to_size(4, 6, 6),
    "diagonal of a part": lambda x: x[:, 0:4].diagonal(0, 0, 1), "part of a diagonal": lambda x: x[0].diagonal()[1:3], "clone": lambda x: x.clone(),
    "cat": lambda x: torch.cat([x]), "flip": lambda x: x.flip(()), "repeat": lambda x: x.repeat(1, 1, 1), "roll": lambda x: x.roll(0),
    "unsqueeze_": lambda x: x.unsqueeze(0).unsqueeze_(0), "squeeze_": lambda x: x[:1].squeeze_(), "squeeze_ one": lambda x: x[:1].squeeze_(0),
    "t_": lambda x: x[0].t_(), "transpose_": lambda x: x[:].transpose_(0, 1), "swapaxes_": lambda x: x[:].swapaxes_(0, 2),
    "swapdims_": lambda x: x[:].swapdims_(0, 2),
    "fill_diagonal_": lambda x: x[0].fill_diagonal_(7), "fill_diagonal_ wrapped": lambda x: x.view(24, 6).fill_diagonal_(7, wrap=True),
    "fill_diagonal_ of a cube": lambda x: x[:, :4, :4].fill_diagonal_(7),
}
REFUSED = {"overlapping unfold", "as_strided", "meshgrid"}


class WritesView(torch.nn.Module):
    def __init__(self, view):
        super().__init__()
        self.view = view

    def forward(self, x):
        y = x * 1.5
        before = y * 1
        seen = self.view(y)
        seen.mul_(3)
        return y + 0, seen * 2, before


class ReadsView(WritesView):
    def forward(self, x):
        y = x * 1.5
        seen = self.view(y)
        y.mul_(3)
        return y + 0, seen * 2


def differs(found, expected):
    return len(found) != len(expected) or not all(torch.allclose(a, b) and a.dtype == b.dtype for a, b in zip(found, expected))


class Views(unittest.TestCase):
    def live(self, module, x, expected):
        torch._dynamo.reset()
        strata.reset()
        found = torch.compile(module, backend="strata")(x)
        self.assertFalse(differs(found, expected), "live")
        return all(report.compiled for report in strata.reports())

    def from_file(self, module, x, expected):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.pt2")
            torch.export.save(torch.export.export(module, (x,)), path)
            try:
                found = strata.load(path)(x.numpy())
            except strata.StrataError:
                return False
        self.assertFalse(differs([torch.from_numpy(numpy.array(v)) for v in found], expected), "from a file")
        return True

    def test_views(self):
        for name, view in VIEWS.items():
            for program in (WritesView, ReadsView):
                with self.subTest(name=name, program=program.__name__), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    module, x = program(view), torch.randn(4, 6, 6)
                    expected = module(x)
                    ways = [self.live(module, x, expected)]
                    if VERSION >= (2, 8):  # before, files are written in other operators
                        ways.append(self.from_file(module, x, expected))
                    self.assertTrue(all(ways) or name in REFUSED, f"refused {'live' if not ways[0] else 'from a file'}")


if __name__ == "__main__":
    unittest.main()
