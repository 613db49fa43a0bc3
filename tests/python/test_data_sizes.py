#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes that only the data tells: results of `nonzero`, masks and `unique`, and elements that become sizes. One compile serves all data;
what the program asserts of such sizes is tested in every run. Live, and from exported programs.

Needs PyTorch 2.6 or later; exit code 77 (skipped) without it.
"""
import os
import sys
import tempfile
import unittest

import torch_or_skip

version = torch_or_skip.check()

import torch

import strata

if version < (2, 6):
    print("skipped: before 2.6 Dynamo does not hand such graphs over")
    sys.exit(77)


def integers(*values):
    return torch.tensor(values, dtype=torch.int64)


class DataSizes(unittest.TestCase):
    def setUp(self):
        strata.reset()
        torch._dynamo.config.capture_dynamic_output_shape_ops = True
        torch._dynamo.config.capture_scalar_outputs = True

    def check(self, function, *calls, graphs=1):
        """One graph (or as many as Dynamo makes of these calls), all of it ours, that gives PyTorch's results for every call."""
        compiled = torch.compile(function, backend="strata", fullgraph=True)
        for operands in calls:
            operands = operands if isinstance(operands, tuple) else (operands,)
            with torch.no_grad():
                expected, found = function(*operands), compiled(*operands)
            torch.testing.assert_close(found, expected, equal_nan=True)
            for a, b in zip(*(torch.utils._pytree.tree_leaves(v) for v in (found, expected))):
                if isinstance(a, torch.Tensor) and a.numel():
                    self.assertTrue(torch._prims_common.check_significant_strides(a, b)[0], (a.stride(), b.stride()))
        reports = strata.reports()
        self.assertEqual([(r.compiled, r.opaque) for r in reports], [(True, ())] * graphs, reports)

    def test_nonzero(self):
        self.check(lambda x: x.nonzero(), torch.randn(4, 5).round(), torch.zeros(4, 5), torch.ones(4, 5))

    def test_nonzero_as_tuple_and_used(self):
        f = lambda x: [(i * 2 + 1) for i in x.nonzero(as_tuple=True)]
        self.check(f, torch.randn(3, 4).round(), torch.zeros(3, 4))

    def test_medians_of_what_may_be_nothing(self):
        for dtype in (torch.float32, torch.int64, torch.int32, torch.int16, torch.uint8):
            with self.subTest(dtype=dtype):
                strata.reset()
                f = lambda x, keep: (x[keep].median(), x[keep].nanmedian())
                draw = lambda n: torch.randint(0, 100, (n,)).to(dtype)
                self.check(f, *((draw(n), draw(n) < 60) for n in (9, 9, 9)), (draw(9), torch.zeros(9, dtype=torch.bool)))
                strata.reset()
                self.check(lambda x: (x.median(), x.nanmedian()), torch.empty(0, 3, dtype=dtype))
        strata.reset()
        holes = torch.tensor([3.0, float("nan"), 1.0, 2.0])
        self.check(lambda x, keep: (x[keep].median(), x[keep].nanmedian()), (holes, holes != 1), (holes, holes == holes), (holes, holes != holes))

    def test_masked_select_and_what_follows(self):
        f = lambda x: (x.masked_select(x > 0).exp() + 1).sum()
        self.check(f, torch.randn(300), -torch.rand(300), torch.rand(300))

    def test_masks_as_indices(self):
        x, rows = torch.randn(6, 3), torch.tensor([True, False, True, True, False, False])
        self.check(lambda x, m: x[m] * 2, (x, rows), (x, ~rows), (x, torch.zeros(6, dtype=torch.bool)))
        strata.reset()
        self.check(lambda x: x[x > 0] - 1, torch.randn(5, 4), torch.zeros(5, 4))
        strata.reset()
        self.check(lambda x, m: x[:, m].sum(1), (x, torch.tensor([True, False, True])), (x, torch.tensor([False] * 3)))

    def test_unique(self):
        few = lambda n: torch.randint(0, 5, (n,))
        self.check(lambda x: torch.unique(x), few(40), few(40), torch.zeros(40, dtype=torch.int64))
        strata.reset()
        all_of_it = lambda x: torch.unique(x, return_inverse=True, return_counts=True)
        self.check(all_of_it, torch.randint(0, 5, (6, 7)), torch.arange(42).view(6, 7))
        strata.reset()
        self.check(lambda x: torch.unique(x, dim=0, return_inverse=True, return_counts=True), torch.randint(0, 2, (9, 2)))
        strata.reset()
        self.check(lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True), few(30).sort()[0], few(30))
        strata.reset()
        self.check(lambda x: torch.unique_consecutive(x, dim=1), torch.randint(0, 2, (2, 12)))
        strata.reset()
        self.check(lambda x: torch.unique_consecutive(x, dim=-2), torch.randint(0, 2, (2, 6, 1)))
        strata.reset()
        nan = float("nan")
        self.check(lambda x: torch.unique(x, return_counts=True), torch.tensor([nan, 1.0, nan, -0.0, 0.0]))

    def test_unique_of_16_bit_floats(self):
        for dtype in (torch.float16, torch.bfloat16):
            strata.reset()
            self.check(lambda x: torch.unique(x), torch.randint(0, 5, (40,)).to(dtype), torch.randn(40).to(dtype))

    def test_repeat_interleave(self):
        f = lambda x, n: torch.repeat_interleave(x, n, dim=0) + 1
        self.check(f, (torch.randn(3, 2), integers(1, 0, 4)), (torch.randn(3, 2), integers(0, 0, 0)))
        strata.reset()
        self.check(lambda n: torch.repeat_interleave(n), integers(2, 0, 1), integers(0, 0, 5))

    def test_bincount(self):
        self.check(lambda x: torch.bincount(x), integers(3, 1, 3, 0), integers(0, 0, 0, 0), integers(9, 1, 1, 1))
        strata.reset()
        f = lambda x, w: torch.bincount(x, w, minlength=4)
        self.check(f, (integers(1, 1, 2), torch.rand(3)), (integers(7, 1, 2), torch.rand(3)))

    def test_an_element_as_a_size(self):
        def f(x, n):
            k = n.item()
            torch._check(k >= 0)
            torch._check(k <= x.shape[0])
            return x[:k] * 2, torch.zeros(k), k

        x = torch.randn(8, 3)
        self.check(f, (x, torch.tensor(5)), (x, torch.tensor(0)), (x, torch.tensor(8)), graphs=2)
        compiled = torch.compile(f, backend="strata", fullgraph=True)
        with self.assertRaises(RuntimeError) as raised, torch.no_grad():
            compiled(x, torch.tensor(9))
        self.assertIn("test_data_sizes.py", str(raised.exception))

    def test_a_condition_that_does_not_hold_is_told_with_its_line(self):
        def f(x):
            rows = x.nonzero()
            torch._check(rows.shape[0] < 4, lambda: "at most three")
            return rows + 1

        self.check(f, torch.tensor([0.0, 1, 0, 1]), torch.tensor([0.0, 0, 0, 0]))
        compiled = torch.compile(f, backend="strata", fullgraph=True)
        with self.assertRaisesRegex(RuntimeError, "test_data_sizes.py") as raised, torch.no_grad():
            compiled(torch.ones(4))
        self.assertNotIsInstance(raised.exception, NotImplementedError)

    def test_sizes_of_a_list(self):
        def f(x, sizes):
            parts = sizes.tolist()
            for n in parts:
                torch._check(n >= 0)
            return [p * (i + 1) for i, p in enumerate(torch.split(x, parts))]

        self.check(f, (torch.randn(7, 2), integers(3, 4)), (torch.randn(7, 2), integers(0, 7)))
        compiled = torch.compile(f, backend="strata", fullgraph=True)
        with self.assertRaises(RuntimeError), torch.no_grad():
            compiled(torch.randn(7, 2), integers(3, 5))

    def test_several_sizes_in_one_program(self):
        def f(x, y):
            a, b = x[x > 0], y[y > 0]
            return a.sum() + b.sum(), torch.cat([a, b]), a.unsqueeze(1) * b

        self.check(f, (torch.randn(10), torch.randn(6)), (-torch.rand(10), torch.rand(6)), (torch.rand(10), -torch.rand(6)))

    def test_a_size_of_a_size(self):
        f = lambda x: torch.unique(x[x > 1]) * 3
        self.check(f, torch.randint(0, 5, (40,)), torch.zeros(40, dtype=torch.int64))

    def test_with_sizes_of_inputs(self):
        f = lambda x: (x[x > 0] * x.shape[0]).cumsum(0)
        compiled = torch.compile(f, backend="strata", fullgraph=True, dynamic=True)
        for n in (5, 17, 300):
            x = torch.randn(n, 2)
            with torch.no_grad():
                torch.testing.assert_close(compiled(x), f(x))
        self.assertEqual([(r.compiled, r.opaque) for r in strata.reports()], [(True, ())])

    def test_views_of_such_results(self):
        f = lambda x: (x.nonzero().t(), x[x > 0].view(1, -1))
        self.check(f, torch.randn(3, 4).round(), torch.zeros(3, 4))

    def test_where_only_pytorch_computes_the_size_it_runs_the_graph(self):
        @torch.library.custom_op("strata_sizes::evens", mutates_args=())
        def evens(x: torch.Tensor) -> torch.Tensor:
            return x[x % 2 == 0]

        @evens.register_fake
        def _(x):
            return x.new_empty(torch.library.get_ctx().new_dynamic_size())

        f = lambda x: evens(x) + 1
        compiled = torch.compile(f, backend="strata", fullgraph=True)
        with torch.no_grad():
            torch.testing.assert_close(compiled(torch.arange(9)), f(torch.arange(9)))
        reports = strata.reports()
        self.assertEqual([r.compiled for r in reports], [False])
        self.assertIn("a size that depends on data", reports[0].reason)


class Wrong(unittest.TestCase):
    """Indices out of range and divisions by zero: an error that says where, the next call as if nothing had been."""

    def setUp(self):
        strata.reset()

    def raises(self, function, right, wrong, error, text):
        compiled = torch.compile(function, backend="strata", fullgraph=True)
        with torch.no_grad():
            for _ in range(2):
                torch.testing.assert_close(compiled(*right), function(*right))
                with self.assertRaisesRegex(error, text) as raised:
                    compiled(*wrong)
                self.assertIn("test_data_sizes.py", str(raised.exception))
        self.assertEqual([(r.compiled, r.opaque) for r in strata.reports()], [(True, ())])

    def test_indices(self):
        x = torch.randn(5, 3)
        self.raises(lambda x, i: x[i] * 2, (x, integers(4, -5)), (x, integers(4, 5)), IndexError, "index 5 is out of bounds for dimension 0 with size 5")
        strata.reset()
        self.raises(lambda x, i: x.gather(1, i), (x, integers(2, 0).view(1, 2)), (x, integers(2, -1).view(1, 2)), IndexError, "index -1 is out")
        strata.reset()
        f = lambda w, i: torch.nn.functional.embedding(i, w)
        self.raises(f, (x, integers(4, 0)), (x, integers(4, 9)), IndexError, "index out of range in self")
        strata.reset()
        self.raises(lambda x, i: x.index_add(0, i, x[:2]), (x, integers(4, 0)), (x, integers(4, 9)), IndexError, "index 9 is out of bounds")
        strata.reset()
        f = lambda x, i: x.scatter(0, i, 1.0)
        self.raises(f, (x, integers(4, 0).view(1, 2)), (x, integers(4, 7).view(1, 2)), IndexError, "index 7 is out of bounds")

    def test_division(self):
        for f in (lambda a, b: a // b, lambda a, b: a % b, lambda a, b: torch.fmod(a, b), lambda a, b: torch.div(a, b, rounding_mode="trunc")):
            strata.reset()
            a = torch.arange(-10, 10)
            self.raises(f, (a, torch.full((20,), 3)), (a, torch.arange(-10, 10)), RuntimeError, "ZeroDivisionError")


class Exported(unittest.TestCase):
    """The same programs from files."""

    def check(self, module, example, *others, dynamic=None):
        with torch.no_grad():
            program = torch.export.export(module, example, dynamic_shapes=dynamic)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.pt2")
            torch.export.save(program, path)
            compiled = strata.load(path, threads=2)
        for operands in (example, *others):
            with torch.no_grad():
                expected = torch.utils._pytree.tree_leaves(module(*operands))
            found = compiled(*(t.numpy() for t in operands))
            found = found if isinstance(found, (tuple, list)) else [found]
            for a, b in zip(found, expected, strict=True):
                torch.testing.assert_close(torch.from_numpy(memory(a)), b, equal_nan=True)
        return compiled

    def test_masks_and_unique(self):
        class M(torch.nn.Module):
            def forward(self, x):
                kept = x[x > 0]
                return kept * 2, x.nonzero(), torch.unique((x * 2).long())

        self.check(M(), (torch.randn(4, 5),), (torch.zeros(4, 5),), (torch.ones(4, 5),))

    def test_an_element_as_a_size(self):
        class M(torch.nn.Module):
            def forward(self, x, n):
                k = n.item()
                torch._check(k >= 0)
                torch._check(k <= x.shape[0])
                return x[:k] + torch.ones(k, 1)

        x = torch.randn(6, 2)
        compiled = self.check(M(), (x, torch.tensor(4)), (x, torch.tensor(0)))
        with self.assertRaisesRegex(strata.StrataError, "test_data_sizes.py"):
            compiled(x.numpy(), torch.tensor(7).numpy())

    @unittest.skipUnless(hasattr(torch, "_check_tensor_all"), "PyTorch has no such check")
    def test_what_all_elements_must_be(self):
        class M(torch.nn.Module):
            def forward(self, x):
                torch._check_tensor_all(x > 0, lambda: "all must be positive")
                return x.sqrt()

        x = torch.rand(6) + 1
        compiled = self.check(M(), (x,), (x + 3,))
        with self.assertRaisesRegex(strata.StrataError, "test_data_sizes.py.*expected 1"):
            compiled((x - 2.5).numpy())

    def test_indices_out_of_range(self):
        class M(torch.nn.Module):
            def forward(self, x, i):
                return x[i]

        x = torch.randn(6, 2)
        compiled = self.check(M(), (x, integers(4, -1)))
        with self.assertRaisesRegex(IndexError, "index 6 is out of bounds for dimension 0 with size 6.*test_data_sizes.py"):
            compiled(x.numpy(), integers(0, 6).numpy())

    def test_sizes_that_have_no_range(self):
        class M(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner, self.norm, self.many = torch.nn.Conv1d(4, 6, 3, padding=1), torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 3)

            def forward(self, x, y):
                h = self.norm(self.inner(x)).relu()
                mixed = torch.nn.functional.scaled_dot_product_attention(h, h, h)
                scores = self.many(mixed.transpose(1, 2)).flatten(0, 1)
                return h.mean(0), scores, scores.softmax(0), x.sum(-1).cumsum(0), torch.cat([x, x]), (x - x.mean((0, 1), keepdim=True)).std((1, 2)), y @ y.mT, x[:, :, -1:]

        draw = lambda batch, length: (torch.randn(batch, 4, length), torch.randn(length, batch, 3))
        batch, length = torch.export.Dim.DYNAMIC, torch.export.Dim.DYNAMIC
        self.check(M().eval(), draw(5, 7), draw(1, 7), draw(5, 1), draw(1, 1), draw(0, 7), draw(3, 40), dynamic=({0: batch, 2: length}, {0: length, 1: batch}))

    # The exporter gives what `x[:n]` has a size of its own where nothing says that n is not negative.
    @unittest.skipIf(version < (2, 9), "older exporters want to be told")
    def test_slices_that_begin_and_end_where_data_says(self):
        class M(torch.nn.Module):
            def __init__(self, function):
                super().__init__()
                self.function = function

            def forward(self, x, n):
                return self.function(x, n.item())

        def written(x, n):
            y = x.clone()
            y[:n] = 7
            return y

        functions = {
            "to": lambda x, n: x[:n] * 2, "from": lambda x, n: x[n:] + 1, "both": lambda x, n: x[n : n + 2].sum(0), "columns": lambda x, n: x[:, :n].relu(),
            "from the end": lambda x, n: x[-n:] * 3, "steps": lambda x, n: x[:n:2] + 0, "used twice": lambda x, n: (x[:n] @ x[:n].t()).softmax(-1),
            "joined": lambda x, n: torch.cat([x[:n], x[n:]]) + 1, "written": written, "half": lambda x, n: x[: n // 2] * 2, "rolled": lambda x, n: x.roll(n, 0),
        }  # fmt: skip
        x = torch.randn(6, 5)
        for name, function in functions.items():
            with self.subTest(name):
                self.check(M(function), *((x, torch.tensor(n)) for n in (3, 1, 0, 6, 9, -2, -6, -9)))

    def test_many_writes_to_squares_of_a_symbolic_size(self):
        class M(torch.nn.Module):
            def forward(self, x):
                missing = (16 - x.shape[1] % 16) % 16
                x = torch.nn.functional.pad(x * 1, (0, 0, 0, missing))
                x = x.reshape(x.shape[0], -1, 16, x.shape[-1])
                a = -(x @ x.transpose(-1, -2)).tril(-1) * 0.01
                for i in range(1, 16):
                    row, above = a[..., i, :i].clone(), a[..., :i, :i].clone()
                    a[..., i, :i] = row + (row.unsqueeze(-1) * above).sum(-2)
                return (a + torch.eye(16)) @ x, a

        D = torch.export.Dim.DYNAMIC
        self.check(M(), (torch.randn(2, 35, 4),), (torch.randn(1, 48, 4),), (torch.randn(5, 70, 4),), dynamic=({0: D, 1: D},))

    def test_progressions_with_floats_and_sizes(self):
        class M(torch.nn.Module):
            def forward(self, x):
                n = x.shape[0]
                downwards = torch.arange(n, -n, -1.0)
                return downwards * 2, torch.arange(0, n, 2.0) + x.sum(), torch.arange(1.0, n + 3, dtype=torch.int32), downwards[::2].sin()

        self.check(M(), (torch.randn(5, 2),), (torch.randn(1, 2),), (torch.randn(8, 2),), dynamic=({0: torch.export.Dim.AUTO},))

    def test_inputs_that_were_views_when_exported(self):
        class M(torch.nn.Module):
            def forward(self, x, y):
                return x.t() * 2, x.flatten() + 1, (x.unsqueeze(1) - y).sum(-1), y.t().contiguous()

        base, other = torch.randn(6, 16), torch.randn(9, 7)
        D = torch.export.Dim.DYNAMIC
        cases = (base[:, :11], other[:, :1].expand(9, 11)), (torch.randn(6, 11), torch.randn(11, 9).t()), (torch.randn(20, 8).t()[:, ::2], torch.randn(3, 10))
        for dynamic in (({0: D, 1: D}, {0: D, 1: D}), ({1: D}, {1: D}), None):
            self.check(M(), *(cases[:2] if dynamic is None or 0 not in dynamic[0] else cases), dynamic=dynamic)

    def test_sizes_of_zero_and_one_that_the_exporter_did_not_think_of(self):
        class M(torch.nn.Module):
            def __init__(self, function):
                super().__init__()
                self.forward = function

        F = torch.nn.functional
        for function, fit, others in (
            (lambda x: x[:2] * 2, (2, 3), (0, 1)), (lambda x: x[-1:] * 2, (1, 2), (0,)), (lambda x: x[0] * 2, (1, 2), (0,)),
            (lambda x: x.squeeze(0) * 2, (0, 2), (1,)), (lambda x: x.amax(0), (1, 2), (0,)), (lambda x: x.narrow(0, 1, 1) * 2, (2, 3), (0, 1)),
            (lambda x: F.pad(x.t()[None], (1, 0), mode="reflect") + 1, (2, 3), (0, 1)), (lambda x: x[1:] * 2, (1, 3), (0,)),
            (lambda x: x.std(0), (0, 1, 2), ()), (lambda x: x + torch.arange(64.0).view(1, 64, 1)[:, max(0, 1 - x.shape[0]) :, max(0, 1 - x.shape[0]) :][0, :1], (1, 2), ()),
            (lambda x: F.adaptive_avg_pool1d(x.t()[None], 3), (1, 2), (0,)), (lambda x: (x.unsqueeze(0) + x.unsqueeze(1)).sum(0), (0, 1, 2), ()),
        ):
            draw = lambda rows: (torch.randn(rows, 4),)
            compiled = self.check(M(function), draw(5), *map(draw, fit), dynamic=({0: torch.export.Dim.DYNAMIC},))
            for rows in others:
                for _ in range(2):
                    with self.assertRaisesRegex(strata.StrataError, f"captured for sizes of 2 and more: with s[0-9]+ = {rows} "):
                        compiled(draw(rows)[0].numpy())


def memory(value):
    import numpy

    return numpy.array(value)


if __name__ == "__main__":
    unittest.main(verbosity=1)
