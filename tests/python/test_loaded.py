#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs from files, called with PyTorch's tensors; conditions that a file states of what only its data tells.

Needs PyTorch 2.9 or later; exit code 77 (skipped) without it.
"""
import math
import os
import sys
import tempfile
import unittest

import torch_or_skip

version = torch_or_skip.check()

import numpy
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import strata
from function_module import Function

if version < (2, 9):
    print("skipped: files of PyTorch before 2.9 are not read")
    sys.exit(77)


def loaded(function, operands, **how):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pt2")
        torch.export.save(torch.export.export(Function(function), tuple(operands), **how), path)
        return strata.load(path)


class TensorsOfPyTorch(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(torch.seed() % 2**31)

    def check(self, function, operands):
        found = loaded(function, operands)(*operands)
        expected = torch.utils._pytree.tree_leaves(function(*operands))
        self.assertTrue(all(type(v) is torch.Tensor for v in found), found)
        torch.testing.assert_close(found, [v.detach().resolve_conj().resolve_neg() for v in expected], rtol=1e-2, atol=1e-3)

    def test_go_in_and_come_out(self):
        x = torch.randn(5, 7)
        self.check(lambda a: (a.exp(), a.sum()), [x])
        self.check(lambda a: a * 2 + 1, [x.to(torch.bfloat16)])
        self.check(lambda a: (a > 0, a.half()), [x])
        self.check(lambda a: a * a, [torch.randn(4, 3, dtype=torch.complex64)])
        self.check(lambda a: a + 1, [torch.randn(7, 5).t()])
        self.check(lambda a: a + 1, [torch.randn(9, 14)[2:7, ::2]])
        self.check(lambda a: a.sigmoid(), [torch.nn.Parameter(x)])

    def test_results_of_arrays_go_to_any_library(self):
        """Without a tensor among the arguments results are Strata's, which have DLPack's methods."""
        x = torch.randn(5, 7)
        functions = (lambda a: a.exp(), lambda a: a.to(torch.bfloat16), lambda a: a.argmax(1), lambda a: a > 0, lambda a: a.sum(), lambda a: a[:0])
        for function in functions:
            for take in torch.from_dlpack, torch.as_tensor:
                (result,) = loaded(function, [x])(x.numpy())
                taken = take(result)
                del result  # its memory stays
                torch.testing.assert_close(taken, function(x))
        (result,) = loaded(lambda a: a * 2, [x])(x.numpy())
        self.assertEqual(torch.from_dlpack(result).data_ptr(), numpy.from_dlpack(result).ctypes.data)

    def test_lazy_conjugates_and_negatives_are_taken_as_they_read(self):
        z = torch.randn(4, 3, dtype=torch.complex64)
        model = loaded(lambda a: a * 2, [z])
        torch.testing.assert_close(model(z.conj())[0], (z.conj() * 2).resolve_conj())
        model = loaded(lambda a: a * 2, [z.real.clone()])
        torch.testing.assert_close(model(z.conj().imag)[0], (z.conj().imag * 2).resolve_neg())

    def test_a_flip_comes_out(self):
        self.check(lambda a: (a.exp().flip(0), a), [torch.randn(6, 2)])

    def test_arrays_beside_tensors_and_arrays_alone(self):
        x, y = torch.randn(3, 4), torch.randn(3, 4)
        model = loaded(lambda a, b: a - b, [x, y])
        mixed, arrays = model(x, y.numpy()), model(x.numpy(), y.numpy())
        self.assertIs(type(mixed[0]), torch.Tensor)
        self.assertIs(type(arrays[0]), strata.Tensor)
        torch.testing.assert_close(mixed[0], x - y)
        numpy.testing.assert_allclose(numpy.asarray(arrays[0]), (x - y).numpy(), rtol=1e-6)

    def test_numbers_none_and_words(self):
        x = torch.randn(3)
        model = loaded(lambda a: ((None, a + 1), "words", 2.5, True, a.shape[0], None), [x])
        self.assertEqual(model.output_names, ["out.0.0", "out.0.1", "out.1", "out.2", "out.3", "out.4", "out.5"])
        for given, kind in (x, torch.Tensor), (x.numpy(), strata.Tensor):
            none, more, words, number, flag, size, last = model(given)
            self.assertEqual((none, words, last), (None, "words", None))
            self.assertTrue(all(isinstance(v, kind) for v in (more, number, flag, size)))
            numpy.testing.assert_array_equal(numpy.asarray(more), x.numpy() + 1)
            self.assertEqual([numpy.asarray(v).item() for v in (number, flag, size)], [2.5, True, 3])

    def test_results_outlive_what_they_came_of(self):
        def result():
            x = torch.arange(6.0).reshape(2, 3)
            return loaded(lambda a: a.t(), [x])(x.clone())[0]

        torch.testing.assert_close(result(), torch.arange(6.0).reshape(2, 3).t())

    def test_anything_else_is_named(self):
        model = loaded(lambda a: a + 1, [torch.randn(3)])
        with self.assertRaisesRegex(strata.StrataError, "input 0 is a list.*torch.Tensor"):
            model([1.0, 2.0, 3.0])
        with self.assertRaisesRegex(strata.StrataError, "not on the CPU"):
            model(torch.empty(3, device="meta"))
        with self.assertRaisesRegex(strata.StrataError, "torch.sparse_coo.*to_dense"):
            model(torch.ones(3).to_sparse())
        with FakeTensorMode():
            fake = torch.empty(3)
        with self.assertRaisesRegex(strata.StrataError, "input 0 is a FakeTensor without elements"):
            model(fake)
        with self.assertRaisesRegex(strata.StrataError, "more than 64 bits"):
            model(2**70)
        with self.assertRaisesRegex(strata.StrataError, "float64"):
            model(torch.ones(3, dtype=torch.float64))
        with self.assertRaisesRegex(strata.StrataError, "4"):
            model(torch.ones(4))


class ConditionsOfData(unittest.TestCase):
    def test_indices_from_the_end_and_beyond_it(self):
        x = torch.randn(6, 4)
        model = loaded(lambda a, i: (a[i.item()] * 2, a.select(0, i.item()) + 1), [x, torch.tensor(2)])
        for place in (0, 1, 5, -1, -6):
            found = model(x, torch.tensor(place))
            torch.testing.assert_close(found, [x[place] * 2, x[place] + 1])
        for place in (6, -7):
            with self.assertRaisesRegex(strata.StrataError, "index"):
                model(x, torch.tensor(place))

    def test_several_conditions_and_places_of_views(self):
        def part(a, i):
            start = i.item()
            torch._check(start >= 0)
            torch._check(start <= 4)
            return torch.narrow(a, 0, start, 2) * 3

        x = torch.randn(6, 4)
        model = loaded(part, [x, torch.tensor(2)])
        for start in (0, 1, 4):
            torch.testing.assert_close(model(x, torch.tensor(start))[0], x[start : start + 2] * 3)
        for start in (-1, 5):
            with self.assertRaises(strata.StrataError):
                model(x, torch.tensor(start))


class NumbersOfData(unittest.TestCase):
    """What `item()` of a floating tensor gives stays a number: it does not widen what it meets."""

    OPERATIONS = {
        "products": lambda x, n: (x * n, x / n, n / x, x.mul(n), torch.div(x, n, rounding_mode="floor"), x // n),
        "sums": lambda x, n: (x + n, x - n, n - x, torch.rsub(x, n), torch.add(x, n, alpha=2)),
        "powers": lambda x, n: (x**n, n**x, torch.pow(n, x)),
        "rests": lambda x, n: (x % n, torch.fmod(x, n), torch.remainder(n, x)),
        "bounds": lambda x, n: (x.clamp(-n, n), x.clamp(max=n), x.clamp_min(n), x.clamp(0.25, n)),
        "masks": lambda x, n: (x.masked_fill(x > 0, n), torch.where(x > 0, x, n), torch.where(x > 0, n, x), torch.where(x > 0, n, 0.5)),
        "comparisons": lambda x, n: (x > n, x <= n, x == n, x.ne(n)),
        "made": lambda x, n: (torch.full((2, 3), n), torch.full_like(x, n), torch.scalar_tensor(n), x.new_full((x.shape[0],), n)),
        "between": lambda x, n: (torch.lerp(x, x * 2, n), x * (n * 2.5 - 1) / n**0.5, x * (n / x.shape[0]), -n * x),
        "in place": lambda x, n: (x.clone().mul_(n).add_(n).clamp_(-n, n).masked_fill_(x > n, n), x.clone().fill_(n), x.clone().pow_(2 * n)),
        "of sizes": lambda x, n: (x * (x.shape[0] / 3), x + x.shape[0] ** 0.5, x * float(x.shape[0]), torch.full((3,), x.shape[0] * 0.7)),
        "returned": lambda x, n: (x + 1, n, n * 2, n + x.shape[0], x.shape[0] / 2, math.sqrt(x.shape[0])),
    }  # fmt: skip

    def setUp(self):
        torch.manual_seed(torch.seed() % 2**31)

    def check(self, function, model, x, n):
        """As PyTorch: elements, types and shapes; where it refuses, we may not differ."""
        found = model(x.clone(), n.clone())
        expected = torch.utils._pytree.tree_leaves(function(x.clone(), n.item()))
        self.assertEqual(len(found), len(expected))
        for f, e in zip(found, expected):
            e = e if isinstance(e, torch.Tensor) else torch.tensor(e, dtype=torch.float64 if isinstance(e, float) else None)
            tolerance = {torch.bfloat16: 1e-2, torch.float16: 2e-3, torch.float32: 2e-5}.get(e.dtype, 1e-12)
            torch.testing.assert_close(f, e, rtol=tolerance, atol=tolerance, equal_nan=True)

    def test_operands_bounds_and_elements(self):
        for name, function in self.OPERATIONS.items():
            for dtype in torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64:
                for shape in (4, 3), ():
                    if name in ("in place", "rests", "between") and dtype == torch.int64 or name in ("of sizes", "made", "returned", "between") and not shape:
                        continue  # PyTorch refuses them, or there is no size
                    with self.subTest(name, dtype=dtype, shape=shape):
                        draw = lambda: torch.randn(shape).to(dtype) if dtype.is_floating_point else torch.randint(1, 9, shape)
                        number = lambda: torch.rand(()) + 0.3
                        model = loaded(lambda x, n: function(x, n.item()), [draw(), number()])
                        for _ in range(2):
                            self.check(function, model, draw(), number())

    def test_an_element_is_read_before_it_is_written(self):
        for dtype in torch.float32, torch.float64:

            def function(x):
                n = x[0].item()
                x.mul_(2)
                return x * n, n

            x = torch.rand(3, dtype=dtype)
            found = loaded(function, [torch.rand(3, dtype=dtype)])(x.clone())
            torch.testing.assert_close(found[0], 2 * x * x[0])
            self.assertEqual(found[1].item(), x[0].item())

    def test_what_is_asserted_of_them(self):

        def function(x):
            n = x[0].item()
            torch._check(n > 0.5)
            torch._check(n < 2.5)
            return x * n

        model = loaded(function, [torch.ones(3)])
        torch.testing.assert_close(model(torch.full((3,), 2.0))[0], torch.full((3,), 4.0))
        for beyond in 0.25, 3.0:
            with self.assertRaises((strata.StrataError, RuntimeError)):
                model(torch.full((3,), beyond))


if __name__ == "__main__":
    unittest.main()
