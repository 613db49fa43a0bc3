#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Complex numbers and Fourier transforms: in networks that use them, written in place, beside operators that only PyTorch has, live
and from exported programs, in sizes that change.

Needs PyTorch 2.6 or later; exit code 77 (skipped) without it.
"""
import os
import sys
import tempfile
import unittest

import torch_or_skip

version = torch_or_skip.check()

import numpy
import torch

import strata
from function_module import Function

if version < (2, 6):
    print("skipped: needs PyTorch 2.6")
    sys.exit(77)

C64, C128 = torch.complex64, torch.complex128


class Rotary(torch.nn.Module):
    """Positions as rotations, as in Llama."""

    def __init__(self):
        super().__init__()
        angles = torch.outer(torch.arange(64.0), 1e4 ** (-torch.arange(0, 32, 2) / 32))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))
        self.project = torch.nn.Linear(64, 64)

    def forward(self, x):
        q = self.project(x).unflatten(-1, (2, -1))
        pairs = torch.view_as_complex(q.float().reshape(*q.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.turns[: x.shape[1], None]).flatten(3).type_as(x)


class Mixing(torch.nn.Module):
    """Tokens mixed by a Fourier transform, as in FNet."""

    def __init__(self):
        super().__init__()
        self.norm, self.dense = torch.nn.LayerNorm(24), torch.nn.Linear(24, 24)

    def forward(self, x):
        return self.dense(self.norm(x + torch.fft.fftn(x, dim=(1, 2)).real))


class Spectral(torch.nn.Module):
    """Some frequencies times learned weights, as in Fourier neural operators."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3, 3, 4, 4, dtype=C64))

    def forward(self, x):
        freq = torch.fft.rfft2(x)
        out = torch.zeros(x.shape[0], 3, x.shape[2], x.shape[3] // 2 + 1, dtype=C64)
        out[:, :, :4, :4] = torch.einsum("bixy,ioxy->boxy", freq[:, :, :4, :4], self.weight)
        return torch.fft.irfft2(out, s=x.shape[-2:])


class Filter(torch.nn.Module):
    """A filter of all frequencies, as in GFNet."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(7, 4, 8, 2))

    def forward(self, x):
        freq = torch.fft.rfft2(x, dim=(1, 2), norm="ortho")
        return torch.fft.irfft2(freq * torch.view_as_complex(self.weight), s=(7, 7), dim=(1, 2), norm="ortho")


class Spectrogram(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(32))

    def forward(self, x):
        return torch.stft(x, 32, 8, window=self.window, return_complex=True).abs() ** 2


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("phase", torch.ones(3, dtype=C64))

    def forward(self, x):
        self.phase.mul_(1j)
        x.mul_(self.phase)
        return x.sum(0), self.phase + 0


NETWORKS = {
    "rotary": (Rotary, lambda n: torch.randn(2, n, 64)),
    "mixing": (Mixing, lambda n: torch.randn(2, n, 24)),
    "spectral": (Spectral, lambda n: torch.randn(2, 3, n, n + 3)),
    "filter": (Filter, lambda n: torch.randn(n, 7, 7, 8)),
    "spectrogram": (Spectrogram, lambda n: torch.randn(2, 20 * n)),
}


def numbers(*shape, dtype=C64):
    return torch.randn(*shape, dtype=dtype)


class Complex(unittest.TestCase):
    def setUp(self):
        strata.reset()
        torch.manual_seed(7)

    def check(self, function, *operands, calls=(), compiled=None):
        """PyTorch's results, and operands as it leaves them; compiled, but for `calls` of PyTorch."""
        twins = [v.clone() for v in operands]
        if compiled is None:
            compiled = torch.compile(function, backend="strata")
        with torch.no_grad():
            expected, found = function(*operands), compiled(*twins)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5, equal_nan=True)
        torch.testing.assert_close(twins, list(operands), equal_nan=True)
        report = strata.reports()[-1]
        self.assertTrue(report.compiled, report)
        self.assertEqual({name.split(".")[1] for name in report.opaque}, set(calls))

    def test_networks(self):
        for name, (make, of) in NETWORKS.items():
            with self.subTest(name):
                strata.reset()
                self.check(make().eval(), of(9))

    def test_exported(self):
        for name, (make, of) in NETWORKS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                model, x = make().eval(), of(9)
                path = os.path.join(folder, "model.pt2")
                torch.export.save(torch.export.export(model, (x,)), path)
                found = strata.load(path)(x.numpy())
                expected = model(x).detach()
                found = found[0] if isinstance(found, (list, tuple)) else found
                torch.testing.assert_close(torch.from_numpy(numpy.array(found)), expected, rtol=1e-4, atol=1e-5)

    def test_sizes_that_change(self):
        for name in ("rotary", "mixing", "filter"):
            with self.subTest(name):
                strata.reset()
                make, of = NETWORKS[name]
                model = make().eval()
                compiled = torch.compile(model, backend="strata", dynamic=True)
                for n in (5, 9, 16):
                    self.check(model, of(n), compiled=compiled)

    def test_in_and_out(self):
        self.check(lambda x, y: (x * y, x.t(), y.abs()), numbers(3, 4), numbers(3, 4))
        self.check(lambda x: (x + 1j, x.mean(), x.conj() * 2), numbers(4, 3).t())
        self.check(lambda x: x[::2] / 3, numbers(6, dtype=C128))
        self.check(lambda x, y: torch.complex(x, y), torch.randn(3), torch.randn(3))

    def test_written(self):
        model, twin = Counter(), Counter()
        compiled = torch.compile(model, backend="strata")
        for _ in range(3):
            x = numbers(4, 3)
            other = x.clone()
            with torch.no_grad():
                expected, found = twin(x), compiled(other)
            torch.testing.assert_close(found, expected)
            torch.testing.assert_close(other, x)
            torch.testing.assert_close(model.phase, twin.phase)

        def parts(x):
            y = x.clone()
            y.real.add_(1)
            y.imag[0] = 3
            torch.view_as_real(y)[1:].mul_(2)
            return y

        self.check(parts, numbers(3, 2))

    def test_beside_pytorch(self):
        self.check(lambda x: torch.linalg.inv(x) @ x + x.asin(), numbers(4, 4), calls=("linalg_inv", "asin"))

        def slices(x):
            y = x.clone()
            y[1:].asin_()
            return y * 2

        self.check(slices, numbers(4, 3), calls=("asin_",))

    def test_from_files(self):
        """What `torch.compile` hands over in parts, a file has whole."""

        F, z, image = torch.nn.functional, numbers(4, 6), numbers(2, 4, 5, 5)
        for name, function, operands in (
            ("moves", lambda z: (z.narrow(0, 1, 2), z.mT, torch.unbind_copy(z), z.sum_to_size(1, 6), torch.cartesian_prod(z[0], z[1])), (z,)),
            ("pixels", lambda x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x[..., :4, :4], 2), F.channel_shuffle(x, 2)), (image,)),
            ("convolutions", lambda x, w, b: (F.conv2d(x, w, b, padding=1), F.conv_transpose2d(x, w.transpose(0, 1))), (image, numbers(3, 4, 3, 3), numbers(3))),
            ("moments", lambda z: (z.var(), z.std(1), *torch.var_mean(z, 0), *torch.std_mean(z, 1, keepdim=True)), (z,)),
            ("norms", lambda z: (z.norm(), torch.linalg.norm(z, 1), torch.linalg.matrix_norm(z), torch.linalg.vector_norm(z, 3, 0), z.renorm(2, 0, 1.0)), (z,)),
            ("functions", lambda z: (F.silu(z), z.exp2(), z.expm1(), z.lerp(z.conj(), 0.3), torch.linalg.vecdot(z, z + 1j)), (z,)),
            ("spaced", lambda z: torch.linspace(1j, 2, 6) * z + torch.logspace(0, 1j, 6), (z,)),
            ("truths", lambda z: (z.logical_and(z - z), z.count_nonzero(), z.masked_select(z.real > 0)), (z,)),
        ):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                module, path = Function(function), os.path.join(folder, "m.pt2")
                torch.export.save(torch.export.export(module, operands), path)
                found = strata.load(path)(*(v.numpy() for v in operands))
                expected = torch.utils._pytree.tree_leaves(module(*operands))
                found = [torch.from_numpy(numpy.array(v)) for v in (found if isinstance(found, (list, tuple)) else [found])]
                torch.testing.assert_close(found, [v.resolve_conj() for v in expected], rtol=1e-4, atol=1e-5)

    def test_sizes_of_a_file_that_change(self):
        class Rows(torch.nn.Module):
            def forward(self, z):
                return z * z.shape[0], z.conj().reshape(-1)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.pt2")
            program = torch.export.export(Rows(), (numbers(4, 3),), dynamic_shapes={"z": {0: torch.export.Dim("n", min=2, max=100)}})
            torch.export.save(program, path)
            model = strata.load(path)
            for n in (4, 9):
                z = numbers(n, 3)
                found = [torch.from_numpy(numpy.array(v)) for v in model(z.numpy())]
                torch.testing.assert_close(found, [v.resolve_conj() for v in Rows()(z)])

    def test_a_file_gives_and_takes_arrays(self):
        class Turned(torch.nn.Module):
            def forward(self, x, z):
                return torch.polar(x.abs(), x) * z.conj(), torch.fft.fft(x), torch.view_as_real(z)

        x, z, w = torch.randn(4, 5), numbers(4, 5), numbers(4, 5, dtype=C128)
        for inputs in ((x, z), (x, w)):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "m.pt2")
                torch.export.save(torch.export.export(Turned(), inputs), path)
                model = strata.load(path)
                found = [torch.from_numpy(numpy.array(v)) for v in model(*(v.numpy() for v in inputs))]
                torch.testing.assert_close(found, [v.resolve_conj() for v in Turned()(*inputs)])
                with self.assertRaisesRegex(strata.StrataError, "complex64"):
                    model(inputs[0].numpy(), numpy.zeros((4, 5), "float32" if inputs[1] is z else "complex64"))

    def test_a_file_gives_and_takes_bfloat16_as_bits(self):
        class Twice(torch.nn.Module):
            def forward(self, x):
                return x + x, x.float()

        x = torch.randn(4, 5).bfloat16()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.pt2")
            torch.export.save(torch.export.export(Twice(), (x,)), path)
            model = strata.load(path)
            bits, same = (torch.from_numpy(numpy.array(v)) for v in model(x.view(torch.uint16).numpy()))
            torch.testing.assert_close(bits.view(torch.bfloat16), x + x)
            torch.testing.assert_close(same, x.float())
            with self.assertRaisesRegex(strata.StrataError, "must be bfloat16, found int16"):
                model(x.view(torch.int16).numpy())

    def test_special_values(self):
        inf, nan = float("inf"), float("nan")
        x = torch.tensor([complex(inf, 1), complex(nan, 0), complex(0, 0), complex(1, -inf), complex(-0.0, 2), complex(1e30, 1e30)])
        y = torch.tensor([complex(2, 0), complex(1, 1), complex(0, 0), complex(0, 3), complex(-1, -0.0), complex(1e-30, 1e30)])
        for f in (lambda x, y: x * y, lambda x, y: x + y, lambda x, y: x.abs(), lambda x, y: (x.isnan(), x.isinf(), x == y)):
            strata.reset()
            torch._dynamo.reset()
            self.check(f, x, y)


if __name__ == "__main__":
    unittest.main()
