#!/usr/bin/env python3
"""`torch.compile(..., backend="strata")` on live PyTorch: results, aliasing, mutation, sizes, what is left to PyTorch.

Needs PyTorch 2.4 or later; exit code 77 (skipped) without it. Results are compared with float64, and may be at most twice as far from it
as PyTorch's own (plus a rounding of the largest value).
"""
import copy
import gc
import resource
import sys
import threading
import unittest

import torch_or_skip

torch_or_skip.check()

import torch

import strata

leaves = torch.utils._pytree.tree_leaves


class Backend(unittest.TestCase):
    def setUp(self):
        strata.reset()
        torch.manual_seed(torch.seed() % 2**31)

    def check(self, function, *calls, compiles=None, strides=True, **options):
        """Every call's results against eager and float64, then the number of compiles. `strides`: those too."""
        compiled = torch.compile(function, backend="strata", **options)
        with torch.no_grad():
            for call in calls:
                got, expected = leaves(compiled(*call)), leaves(function(*call))
                exact = leaves(self.in_float64(function, call))
                self.assertEqual(len(got), len(expected))
                for a, b, c in zip(got, expected, exact):
                    self.compare(a, b, c, strides)
        for report in strata.reports():
            self.assertTrue(report.compiled, report)
        if compiles is not None:
            self.assertEqual(len(strata.reports()), compiles)

    @staticmethod
    def in_float64(function, call):
        wide = copy.deepcopy(function)
        if isinstance(wide, torch.nn.Module):
            wide = wide.double()
        return wide(*[v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v for v in call])

    def compare(self, a, b, exact, strides):
        if not isinstance(b, torch.Tensor):
            return self.assertEqual(a, b)
        self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
        if strides:
            self.assertEqual(a.stride(), b.stride())
        if not b.is_floating_point():
            return self.assertTrue(torch.equal(a, b))
        size = exact.abs().max().item() if exact.numel() else 0
        own, theirs = ((v.double() - exact).abs().max().item() if v.numel() else 0 for v in (a, b))
        self.assertLessEqual(own, 2 * theirs + 1e-6 * size)

    def test_garbage_is_collected_again_after_compiling(self):
        from strata._register import _backend

        seen = []

        def backend(gm, inputs):
            made = _backend(gm, inputs)
            seen.append(gc.isenabled())
            return made

        for enabled in (True, False):
            torch._dynamo.reset()
            (gc.enable if enabled else gc.disable)()
            try:
                torch.compile(lambda x: x.sin() + 1, backend=backend)(torch.rand(5))
            finally:
                gc.enable()
        self.assertEqual(seen, [True, False])

    def test_networks(self):
        nn = torch.nn
        perceptron = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 8), nn.Softmax(-1))
        self.check(perceptron.eval(), (torch.randn(7, 32),), compiles=1)
        strata.reset()
        convolutions = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 8, 3), nn.Flatten()
        )
        self.check(convolutions.eval(), (torch.randn(2, 3, 16, 16),), compiles=1)

    def test_attention(self):
        def attend(x):
            q, k, v = x.chunk(3, -1)
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

        # PyTorch's kernels and its own shape rules do not always agree on the strides: the shape rules' are given.
        self.check(attend, (torch.randn(2, 4, 10, 48),), compiles=1, strides=False)

    def test_one_compile_for_all_batches(self):
        model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).eval()
        self.check(model, *[(torch.randn(n, 16),) for n in (2, 3, 8, 64)], dynamic=True, compiles=1)

    def test_sizes_become_symbols_by_themselves(self):
        self.check(lambda x: (x * 2).view(-1), *[(torch.randn(n, 6),) for n in (2, 3, 8, 64)], compiles=2)

    def test_views_share_memory(self):
        x = torch.randn(4, 6)
        compiled = torch.compile(lambda x: (x.t(), x[1:, ::2], x, x + 1), backend="strata")
        with torch.no_grad():
            transposed, part, same, fresh = compiled(x)
        self.assertIs(same, x)
        x.fill_(5)
        self.assertTrue((transposed == 5).all() and (part == 5).all())
        self.assertFalse((fresh == 6).all())
        self.assertEqual((transposed.stride(), part.stride(), part.storage_offset()), ((1, 6), (6, 2), 6))

    def test_inputs_and_results_lie_in_memory_as_pytorchs(self):
        images = torch.randn(2, 8, 6, 5).contiguous(memory_format=torch.channels_last)
        weight = torch.randn(4, 8, 1, 1)
        self.check(lambda x: (x + 1, x.flatten(2).transpose(1, 2) * 2, x.permute(0, 2, 3, 1) - 1), (images,), compiles=1)
        strata.reset()
        self.check(lambda x, w: torch.nn.functional.conv2d(x, w), (images, weight), compiles=1)
        strata.reset()
        gaps = torch.randn(9, 12)[::2, 1::3]
        self.check(lambda x, y: (x @ y, x.sum(0), (x * 2).t().contiguous()), (gaps, gaps.t()), compiles=1, strides=False)
        strata.reset()
        self.check(lambda x: x * 3 + x.t(), (torch.randn(1, 1).expand(4, 4),), compiles=1)

    def test_results_without_elements_can_be_resized(self):
        def function(x):
            state = x.new()
            torch._dynamo.graph_break()
            return state.resize_(x.shape).zero_() + x

        self.check(function, (torch.randn(3, 4),), compiles=2)

    def test_results_that_share_memory_do_so(self):
        def both(x):
            y = x * 3
            return y, y.view(-1)[2:]

        with torch.no_grad():
            whole, part = torch.compile(both, backend="strata")(torch.randn(4, 6))
        whole.fill_(7)
        self.assertTrue((part == 7).all())

    def test_inputs_and_buffers_are_written(self):
        class Counter(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("count", torch.zeros(3))

            def forward(self, x):
                self.count.add_(1)
                x[0].mul_(2)
                return x.sum(0) + self.count

        model = Counter()
        compiled = torch.compile(model, backend="strata")
        with torch.no_grad():
            for turn in (1, 2, 3):
                x = torch.randn(2, 3)
                before = x.clone()
                result = compiled(x)
                self.assertTrue(torch.equal(x, torch.stack([before[0] * 2, before[1]])))
                self.assertTrue((model.count == turn).all())
                torch.testing.assert_close(result, x.sum(0) + turn)
        self.assertTrue(all(report.compiled for report in strata.reports()))

    def test_weights_are_read_in_every_call(self):
        model = torch.nn.Linear(8, 4).eval()
        compiled = torch.compile(model, backend="strata")
        x = torch.randn(3, 8)
        with torch.no_grad():
            compiled(x)
            for change in (lambda w: w.mul_(2), lambda w: w.data.add_(1), lambda w: w.detach().numpy().fill(0.25)):
                change(model.weight)
                torch.testing.assert_close(compiled(x), model(x))
        self.assertEqual(len(strata.reports()), 1)

    def test_operators_without_a_row_are_called(self):
        self.check(lambda x: torch.linalg.ldl_factor(x)[0] * 2, (torch.randn(4, 4),), compiles=1)
        self.assertEqual(strata.reports()[0].opaque, ("aten.linalg_ldl_factor.default",))

    def test_gradients_are_left_to_pytorch(self):
        model = torch.nn.Linear(4, 2)
        x = torch.randn(3, 4, requires_grad=True)
        torch.compile(model, backend="strata")(x).sum().backward()
        torch.testing.assert_close(x.grad, model.weight.sum(0).expand(3, 4))
        self.assertIn("gradients", strata.reports()[0].reason)

    def test_random_numbers_are_pytorchs(self):
        compiled = torch.compile(lambda x: torch.nn.functional.dropout(x, 0.5, True), backend="strata")
        x = torch.ones(100)
        with torch.no_grad():
            torch.manual_seed(3)
            got = compiled(x)
            torch.manual_seed(3)
            self.assertTrue(torch.equal(got, torch.nn.functional.dropout(x, 0.5, True)))
        self.assertIn(strata.reports()[0].opaque, ((), ("aten.dropout.default",)))  # on some processors PyTorch asks MKL

    def test_structures_numbers_and_graph_breaks(self):
        def function(x, d, k=3):
            y = x * k + d["a"]
            torch._dynamo.graph_break()
            return {"y": y.relu(), "n": x.shape[0], "t": (y.sum(), None)}

        self.check(function, (torch.randn(2, 3), {"a": torch.randn(3)}), compiles=2)

    def test_exceptions_go_through(self):
        compiled = torch.compile(lambda x, y: x @ y, backend="strata")
        with torch.no_grad():
            compiled(torch.randn(2, 3), torch.randn(3, 4))
            with self.assertRaises(Exception):
                compiled(torch.randn(2, 3), torch.randn(5, 4))
            torch.testing.assert_close(compiled(torch.ones(2, 3), torch.ones(3, 4)), torch.full((2, 4), 3.0))

    def test_threads(self):
        compiled = torch.compile(lambda x: (x.sin() + 1).sum(-1), backend="strata")
        inputs = [torch.randn(5, 7) for _ in range(8)]
        wrong = []

        def work(x):
            with torch.no_grad():
                for _ in range(50):
                    if not torch.allclose(compiled(x), (x.sin() + 1).sum(-1), atol=1e-5):
                        wrong.append(x)

        threads = [threading.Thread(target=work, args=(x,)) for x in inputs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_calls_leave_nothing_behind(self):
        compiled = torch.compile(lambda x, y: (x + y, x.view(-1)), backend="strata")
        x, y = torch.randn(64, 1024), torch.randn(64, 1024)
        with torch.no_grad():
            for _ in range(50):
                compiled(x, y)
            gc.collect()
            references, peak = (sys.getrefcount(x), sys.getrefcount(y)), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for _ in range(2000):
                compiled(x, y)
        gc.collect()
        self.assertEqual((sys.getrefcount(x), sys.getrefcount(y)), references)
        # One result is 256 kB: keeping any share of them would show.
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak, 20000)

    def test_one_openmp_for_both(self):
        compiled = torch.compile(lambda x: (x.sin() * x.cos()).sum(-1), backend="strata")
        x = torch.randn(512, 4096)
        with torch.no_grad():
            (x @ x.t()).sum()
            x.sin()
            before = len(__import__("os").listdir("/proc/self/task"))
            for _ in range(3):
                compiled(x)
                x.sin()
        after = len(__import__("os").listdir("/proc/self/task"))
        self.assertLessEqual(after - before, 1)

    def test_recording(self):
        import os
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "live.strata")
            with strata.record(path), torch.no_grad():
                torch.compile(lambda x: x.sin() + 1, backend="strata")(torch.randn(8))
            self.assertGreater(os.path.getsize(path), 10000)
            self.assertEqual(os.listdir(folder), ["live.strata"])

    def test_explain(self):
        def function(x):
            y = x.sin()
            torch._dynamo.graph_break()
            return y + 1

        with torch.no_grad():
            found = strata.explain(function)(torch.randn(3))
        self.assertEqual((found.graph_count, found.graph_break_count, len(found.reports)), (2, 1, 2))


if __name__ == "__main__":
    unittest.main(verbosity=1)
