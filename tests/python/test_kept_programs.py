#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Captured programs in the cache on disk: a later start takes them and gives the same; what a capture depends on is in the key; what
is not certain is captured every time, and the report says why. Exit code 77 (skipped) without PyTorch."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import torch_or_skip

VERSION = torch_or_skip.check()

import torch
from torch import nn
from torch.nn import functional as F

import strata
from strata import _program_key, _programs, _strata

COMMAND = os.environ.get("STRATA_COMMAND", "strata")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bridge"))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        variables = unittest.mock.patch.dict(os.environ, STRATA_CACHE_DIR=folder.name)
        variables.start()
        self.addCleanup(variables.stop)
        self.addCleanup(strata.reset)
        no_grad = torch.no_grad()
        no_grad.__enter__()
        self.addCleanup(no_grad.__exit__, None, None, None)
        torch.manual_seed(3)

    def start(self, function, *inputs, options=None, **more):
        """The results of a first call, and what the reports say of the programs; "" where PyTorch runs it."""
        strata.reset()
        results = torch.compile(function, backend="strata", options=options, **more)(*inputs)
        reports = strata.reports()
        self.assertEqual([r.reason for r in reports], [None] * len(reports))
        return results, "; ".join(report.program for report in reports)

    def start_twice(self, function, *inputs, **more):
        """The results of a start with the cache, after one without and one that checks it."""
        captured, note = self.start(function, *inputs, **more)
        self.assertEqual(note, "captured; kept")
        with unittest.mock.patch.dict(os.environ, STRATA_CACHE_CHECK="1"):
            self.assertEqual(self.start(function, *inputs, **more)[1], "from the cache")
        kept, note = self.start(function, *inputs, **more)
        self.assertEqual(note, "from the cache")
        torch.testing.assert_close(kept, captured, rtol=0, atol=0, equal_nan=True)
        return kept


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(12, 24), nn.Linear(24, 12), nn.LayerNorm(12)

    def forward(self, x):
        return self.norm(x + self.second(F.gelu(self.first(x))))


def scaled(factor):
    """Functions of one line that differ in a constant."""
    return lambda x: torch.sin(x) * factor


class Hits(Case):
    def test_a_network(self):
        self.start_twice(Perceptron().eval(), torch.randn(3, 12))

    def test_a_network_with_freezing_sees_new_weights_and_other_modules(self):
        network, other, x = Perceptron().eval(), Perceptron().eval(), torch.randn(3, 12)
        self.start(network, x, options={"freezing": True})
        strata.reset()
        compiled = torch.compile(network, backend="strata", options={"freezing": True})
        torch.testing.assert_close(compiled(x), network(x))
        self.assertEqual([r.program for r in strata.reports()], ["from the cache"])
        network.second.bias.add_(1.0)
        torch.testing.assert_close(compiled(x), network(x))
        results, note = self.start(other, x, options={"freezing": True})
        self.assertEqual(note, "from the cache")
        torch.testing.assert_close(results, other(x))

    def test_other_options_take_the_same_program(self):
        network, x = Perceptron().eval(), torch.randn(3, 12)
        self.start(network, x)
        for options in ({"backend": "unfused"}, {"backend": "interpret"}, {"mode": "reduce-overhead"}, {"disabled_passes": ["cse"]}):
            results, note = self.start(network, x, options=options)
            self.assertEqual(note, "from the cache")
            torch.testing.assert_close(results, network(x))

    def test_an_exported_program_whatever_modules_were_made_before(self):
        """Its lines of Python name a generated module by its number in the process."""
        network, x = Perceptron().eval(), torch.randn(3, 12)
        exported = lambda: torch.export.export(network, (x,)).module()
        self.start(exported(), x)
        torch.fx.symbolic_trace(Perceptron().eval())
        with unittest.mock.patch.dict(os.environ, STRATA_CACHE_CHECK="1"):
            results, note = self.start(exported(), x)
        self.assertEqual(note, "from the cache")
        torch.testing.assert_close(results, network(x))

    def test_inputs_that_are_written(self):
        def update(x, y):
            x.add_(y)
            x[1].mul_(2)
            return x.sum()

        make = lambda: (torch.ones(3, 4), torch.arange(4.0))
        self.start(update, *make())
        given, expected = make(), make()
        results, note = self.start(update, *given)
        self.assertEqual(note, "from the cache")
        torch.testing.assert_close(results, update(*expected))
        torch.testing.assert_close(given[0], expected[0])

    def test_inputs_that_are_written_and_share_memory(self):
        """Such calls are PyTorch's, also of a program from the cache."""

        def double(x, y):
            x.mul_(2)
            return x + y

        self.start(double, torch.ones(3, 4), torch.ones(4))
        strata.reset()
        compiled = torch.compile(double, backend="strata")
        compiled(torch.ones(3, 4), torch.ones(4))
        self.assertEqual([r.program for r in strata.reports()], ["from the cache"])
        x, again = torch.ones(3, 4), torch.ones(3, 4)
        torch.testing.assert_close(compiled(x, x[1]), double(again, again[1]))

    def test_results_that_share_memory(self):
        def views(x):
            y = x.exp()
            return x[1:], y.t(), y[0], x, None, 3, 2.5

        x = torch.randn(3, 4)
        self.start(views, x)
        results, note = self.start(views, x)
        self.assertEqual(note, "from the cache")
        self.assertEqual(results[0].data_ptr(), x[1:].data_ptr())
        self.assertEqual(results[1].data_ptr(), results[2].data_ptr())
        self.assertEqual(results[1].stride(), (1, 4))
        self.assertIs(results[3], x)
        self.assertEqual(results[4:], (None, 3, 2.5))

    def test_constants_of_the_graph(self):
        self.start_twice(lambda x: x + torch.tensor([0.1, float("inf"), -0.0]) * torch.tensor(3), torch.randn(2, 3))

    def test_autocast(self):
        def multiply(x, y):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return (x @ y).relu()

        self.start_twice(multiply, torch.randn(4, 5), torch.randn(5, 6))

    def test_vmap(self):
        self.start_twice(lambda x: torch.vmap(lambda row: row * row.sum())(x), torch.randn(4, 5))

    def test_other_element_types(self):
        self.start_twice(lambda x, i, b: (x.to(torch.float64), i + 1, b.logical_not(), x[i]), torch.randn(4).half(), torch.tensor([1, 3]), torch.tensor([True]))

    def test_empty_tensors(self):
        self.start_twice(lambda x: (x + 1, x.sum()), torch.empty(0, 3))


class DynamicShapes(Case):
    def start_all(self, function, *batches):
        """Compiles for the first of the inputs with symbols for sizes, and calls with all of them; the reports' words."""
        strata.reset()
        compiled = torch.compile(function, backend="strata", dynamic=True)
        for x in batches:
            torch.testing.assert_close(compiled(x), function(x))
        return [report.reason or report.program for report in strata.reports()]

    def check(self, function, *batches):
        self.assertEqual(self.start_all(function, *batches), ["captured; kept"])
        with unittest.mock.patch.dict(os.environ, STRATA_CACHE_CHECK="1"):
            self.assertEqual(self.start_all(function, *batches), ["from the cache"])
        self.assertEqual(self.start_all(function, *batches), ["from the cache"])

    def test_a_network(self):
        self.check(Perceptron().eval(), torch.randn(3, 12), torch.randn(7, 12))

    def test_sizes_and_views_are_given_back(self):
        views = lambda x: (x.t() + 1, x.shape[0] * 2, x[1:], x.view(-1), x.new_zeros(x.shape[1] + 3))
        self.check(views, torch.randn(4, 5), torch.randn(6, 5), torch.randn(6, 9))

    def test_numbers_made_of_sizes_are_given_back(self):
        numbers = lambda x: (x + 1, x.shape[0] > 2 * x.shape[1], x.shape[0] / x.shape[1], (x.shape[0] * 0.3) ** 0.5)
        self.check(numbers, torch.randn(8, 5), torch.randn(16, 5), torch.randn(4, 9))

    def test_convolutions_serve_all_batches(self):
        """What PyTorch guards on for its own kernels is taken back of a program from the cache, too."""
        network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()
        self.check(network, torch.randn(4, 3, 9, 9), torch.randn(40, 3, 9, 9), torch.randn(16, 3, 9, 9))

    def test_guards_are_told_apart(self):
        def folded(x):
            return x.view(-1, 2) + 1 if x.shape[0] % 2 == 0 else x * 2

        torch._dynamo.reset()
        compiled = torch.compile(folded, backend="strata", dynamic=True)
        for _ in range(2):
            strata.reset()
            for rows in (4, 5, 6, 7):
                torch.testing.assert_close(compiled(torch.ones(rows, 3)), folded(torch.ones(rows, 3)))
        guarding = "captured; not kept: its capture made guards of PyTorch's"  # that the number of elements is even
        self.assertEqual({report.program for report in strata.reports()}, {"from the cache", guarding})

    def test_other_first_sizes_are_another_program(self):
        """They are hints, by which kernels are chosen."""
        self.check(torch.exp, torch.randn(4, 5))
        self.assertEqual(self.start_all(torch.exp, torch.randn(400, 500)), ["captured; kept"])

    def test_what_a_trace_guards_on_is_not_kept(self):
        capture = _programs.capture

        def guarding(gm, inputs):
            traced, opaque = capture(gm, inputs)
            sizes = [node.meta["val"] for node in traced.graph.nodes if isinstance(node.meta.get("val"), torch.SymInt)]
            self.assertTrue(bool(sizes[0] < 1000))
            return traced, opaque

        with unittest.mock.patch.object(_programs, "capture", guarding):
            self.assertEqual(self.start_all(torch.exp, torch.randn(4, 5)), ["captured; not kept: its capture made guards of PyTorch's"])


class Networks(Case):
    def test_networks(self):
        """STRATA_CACHE_CHECK compares with the program of a capture."""
        from models import MODELS

        try:
            import transformers  # noqa: F401

            more = ["gpt2"]
        except ImportError:
            more = []
        for name in ["resnet", "lstm_loop", "transformer", "graph", *more]:
            with self.subTest(name):
                model, calls = MODELS[name]()
                model.eval()
                first, note = self.start(model, *calls[0])
                self.assertEqual(note, "captured; kept")
                with unittest.mock.patch.dict(os.environ, STRATA_CACHE_CHECK="1"):
                    self.assertEqual(self.start(model, *calls[0])[1], "from the cache")
                again, note = self.start(model, *calls[0])
                self.assertEqual(note, "from the cache")
                tensors = lambda value: [v for v in torch.utils._pytree.tree_leaves(value) if isinstance(v, torch.Tensor)]
                values = lambda result: tensors(result.to_tuple() if hasattr(result, "to_tuple") else result)
                torch.testing.assert_close(values(again), values(first), rtol=0, atol=0)


SCRIPT = """
import re, subprocess, sys, torch, strata
sys.path.insert(0, sys.argv[1])
from test_kept_programs import Perceptron, COMMAND
torch.manual_seed(5)
network, x = Perceptron().eval(), torch.randn(3, 12)
with torch.no_grad():
    compiled = torch.compile(network, backend="strata", options={"freezing": True})
    compiled(x)
    print(strata.reports()[0].program)
    with strata.record(sys.argv[2]):  # what was compiled before has its graph and plan there, too
        print(compiled(x).tolist())
show = lambda *stage: subprocess.run([COMMAND, "show", sys.argv[2], "--graph", "before:0/0", *stage], capture_output=True, text=True, check=True).stdout
print(re.sub("before:", "", show("--stage", "captured") + show("--stage", "plan")))
"""


class Processes(Case):
    def test_a_later_process_gives_the_same_schedule_and_results(self):
        here = str(pathlib.Path(__file__).resolve().parent)
        run = lambda: subprocess.run([sys.executable, "-c", SCRIPT, here, str(self.folder / "t.strata")], capture_output=True, text=True)
        first, second = run(), run()
        self.assertEqual((first.returncode, second.returncode), (0, 0), first.stderr + second.stderr)
        first, second = first.stdout.split("\n", 1), second.stdout.split("\n", 1)
        self.assertEqual((first[0], second[0]), ("captured; kept", "from the cache"))
        self.assertIn("launch", first[1])
        self.assertEqual(first[1], second[1])


class Misses(Case):
    def check_other(self, first, second):
        """Each is (function, inputs): the second is another program, and each has its own."""
        for function, inputs in (first, second):
            results, note = self.start(function, *inputs)
            self.assertEqual(note, "captured; kept")
            torch.testing.assert_close(results, function(*inputs))
        for function, inputs in (first, second):
            results, note = self.start(function, *inputs)
            self.assertEqual(note, "from the cache")
            torch.testing.assert_close(results, function(*inputs))

    def test_constants(self):
        x = torch.randn(3, 4)
        for one, other in ((2, 3), (1, 1.0), (1, True), (0.0, -0.0), (2.0, float("nan"))):
            with self.subTest((one, other)):
                for factor in (one, other):
                    results, _ = self.start(scaled(factor), x)
                    torch.testing.assert_close(results, scaled(factor)(x), equal_nan=True)
        self.check_other((scaled(5), (x,)), (scaled(6), (x,)))

    def test_dtype(self):
        self.check_other((scaled(2), (torch.randn(3, 4),)), (scaled(2), (torch.randn(3, 4, dtype=torch.float64),)))

    def test_shape(self):
        self.check_other((scaled(2), (torch.randn(3, 4),)), (scaled(2), (torch.randn(4, 3),)))

    def test_elements_that_pytorch_guards_on(self):
        def pick(x, i):
            y = x * 2
            y[i] += 1.0
            return y

        x = torch.randn(3, 4)
        if VERSION < (2, 14):
            self.check_other((pick, (x, torch.tensor(0))), (pick, (x, torch.tensor(2))))
            return
        for i in 0, 2:  # a position from data: one program for all
            results, note = self.start(pick, x, torch.tensor(i))
            self.assertEqual(note, "captured; not kept: it has sizes that depend on data")
            torch.testing.assert_close(results, pick(x, torch.tensor(i)))

    def test_strides(self):
        self.check_other((scaled(2), (torch.randn(4, 4),)), (scaled(2), (torch.randn(4, 4).t(),)))

    def test_gradients_wanted(self):
        self.check_other((scaled(2), (torch.randn(4),)), (scaled(2), (torch.randn(4, requires_grad=True),)))

    def test_place_in_memory(self):
        self.check_other((scaled(2), (torch.randn(4),)), (scaled(2), (torch.randn(8)[4:],)))

    def test_shared_memory(self):
        def add(x, y):
            return x + y, x.view(-1)

        x = torch.randn(8)
        self.check_other((add, (torch.randn(4), torch.randn(4))), (add, (x[:4], x[:4].view(4))))

    def test_arguments_by_name(self):
        x = torch.randn(3, 4)
        self.check_other((lambda v: v.sum(dim=1), (x,)), (lambda v: v.sum(dim=0), (x,)))

    def check_state(self, change, function=scaled(2), inputs=None):
        """`change`: a context manager."""
        inputs = inputs or (torch.randn(3, 4),)
        self.start_twice(function, *inputs)
        with change:
            expected = function(*inputs)
            results, note = self.start(function, *inputs)
            self.assertEqual(note, "captured; kept")
            torch.testing.assert_close(results, expected)
        self.assertEqual(self.start(function, *inputs)[1], "from the cache")

    def test_autocast(self):
        self.check_state(torch.autocast("cpu", dtype=torch.bfloat16), lambda x: x @ x.t())

    def test_environment(self):
        self.check_state(unittest.mock.patch.dict(os.environ, TORCH_SOMETHING="1"))

    def test_settings(self):
        self.check_state(torch._dynamo.config.patch(capture_scalar_outputs=not torch._dynamo.config.capture_scalar_outputs))

    def test_default_type(self):
        self.addCleanup(torch.set_default_dtype, torch.get_default_dtype())
        half = lambda x: x / 2
        self.start_twice(half, torch.arange(4))
        torch.set_default_dtype(torch.float64)
        results, note = self.start(half, torch.arange(4))
        self.assertNotEqual(note, "from the cache")
        self.assertEqual(results.dtype, torch.float64)

    def test_deterministic_algorithms(self):
        self.addCleanup(torch.use_deterministic_algorithms, torch.are_deterministic_algorithms_enabled())
        self.start_twice(scaled(2), torch.randn(4))
        torch.use_deterministic_algorithms(True)
        self.assertEqual(self.start(scaled(2), torch.randn(4))[1], "captured; kept")

    def test_another_version(self):
        x = torch.randn(4)
        self.start_twice(scaled(2), x)
        for what in ("_installation", "_FORMAT"):
            value = 0 if what == "_FORMAT" else lambda: "another"
            with unittest.mock.patch.object(_program_key, what, value):
                self.assertEqual(self.start(scaled(2), x)[1], "captured; kept")


@torch.library.custom_op("strata_kept::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


class NotKept(Case):
    def check_not_kept(self, why, function, *inputs, **more):
        for _ in range(2):
            _, note = self.start(function, *inputs, **more)
            self.assertRegex(note, "^captured; not kept: .*" + why)

    def test_random_numbers(self):
        self.check_not_kept("draws random numbers", lambda x: F.dropout(x, 0.5, True), torch.randn(8))

    def test_operators_of_others(self):
        self.check_not_kept("not an operator of PyTorch's|is a CustomOpDef|is a OpOverload", lambda x: twice(x) + 1, torch.randn(8))

    def test_sizes_of_data(self):
        with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
            self.check_not_kept("made guards|depend on data", lambda x: x.nonzero() + 1, torch.tensor([0.0, 1.0, 2.0]))

    def test_opaque_calls(self):
        self.check_not_kept("PyTorch is called for", lambda x: torch.linalg.eigvals(x).real + 1, torch.randn(3, 3))

    def test_functions_that_somebody_patched(self):
        original = F.linear
        self.addCleanup(setattr, F, "_canonical_mask", F._canonical_mask)
        F._canonical_mask = lambda *given, **named: None
        self.check_not_kept("_canonical_mask is patched", lambda x: original(x, x), torch.randn(4, 4))

    def test_kernels_that_somebody_registered(self):
        x = torch.randn(3, 4)
        self.start_twice(lambda v: v.relu(), x)
        library = torch.library.Library("aten", "IMPL")
        library.impl("hardswish", lambda v: v.new_empty(v.shape), "Meta")
        try:
            self.check_not_kept("registered at", lambda v: v.relu(), x)
        finally:
            library._destroy()
            del library
        self.start(scaled(2), x)
        self.assertEqual(self.start(scaled(2), x)[1], "from the cache")

    def test_decompositions_that_somebody_registered(self):
        table = torch._decomp.global_decomposition_table["post_autograd"]
        operator = torch.ops.aten.hardswish.default
        with unittest.mock.patch.dict(table, {operator: lambda x: x * 2}):
            self.check_not_kept("hardswish.* is decomposed by", scaled(2), torch.randn(3))

    def test_modes(self):
        class Mode(torch.overrides.TorchFunctionMode):
            def __torch_function__(self, function, types, args=(), kwargs=None):
                return function(*args, **(kwargs or {}))

        with Mode(), self.assertRaisesRegex(_program_key.NotKept, "under a mode"):
            _program_key._state()

    def test_while_recording(self):
        x = torch.randn(4)
        self.start_twice(scaled(2), x)
        with strata.record(str(self.folder / "t.strata")):
            self.assertEqual(self.start(scaled(2), x)[1], "captured, as it is recorded")

    def test_without_a_cache(self):
        with unittest.mock.patch.dict(os.environ, STRATA_CACHE="off"):
            self.assertEqual(self.start(scaled(2), torch.randn(4))[1], "captured; there is no cache: STRATA_CACHE is off")


class Damage(Case):
    def setUp(self):
        super().setUp()
        self.x, self.function = torch.randn(3, 4), scaled(2)
        with unittest.mock.patch.object(_strata, "keep_program", wraps=_strata.keep_program) as keep:
            self.start(self.function, self.x)
            self.key, self.content = keep.call_args.args
        self.path = self.folder / self.key.hex()[:2] / self.key.hex()[2:]

    def check_start(self, note, after="from the cache"):
        results, found = self.start(self.function, self.x)
        self.assertRegex(found, note)
        torch.testing.assert_close(results, self.function(self.x))
        self.assertEqual(self.start(self.function, self.x)[1], after)

    def test_nothing_happened(self):
        self.check_start("^from the cache$")

    def test_bytes_that_changed(self):
        data = bytearray(self.path.read_bytes())
        data[-5] ^= 1
        self.path.write_bytes(data)
        self.check_start("^captured; kept$")

    def test_a_file_that_was_cut(self):
        self.path.write_bytes(self.path.read_bytes()[:100])
        self.check_start("^captured; kept$")

    def test_what_is_no_entry(self):
        self.assertTrue(_strata.keep_program(self.key, b"nonsense"))
        self.check_start("^captured, as what the cache has is damaged .*; kept$")

    def test_an_entry_of_another_form(self):
        kept = _programs._unpack(self.content)
        with unittest.mock.patch.object(_programs, "_FORMAT", 0):
            self.assertTrue(_strata.keep_program(self.key, _programs._pack(kept, [])))
        self.check_start("^captured, as what the cache has is damaged .*; kept$")

    def test_a_graph_that_cannot_be_read(self):
        kept = _programs._unpack(self.content)
        kept.text = kept.text.replace("aten.sin.default", "aten.sin.(")
        self.assertTrue(_strata.keep_program(self.key, _programs._pack(kept, [])))
        self.check_start("^captured, as what the cache has cannot be used .*; kept$")

    def test_kernels_that_are_others_now(self):
        kept = _programs._unpack(self.content)
        with unittest.mock.patch.object(_programs, "registered", lambda *_: "others"):
            self.assertTrue(_strata.keep_program(self.key, _programs._pack(kept, ["aten.sin.default"])))
        results, found = self.start(self.function, self.x)
        self.assertEqual(found, "captured; not kept: kernels of its operators are others than they were")

    def test_a_check_finds_another_program(self):
        kept = _programs._unpack(self.content)
        kept.text = kept.text.replace("aten.sin.default", "aten.cos.default")
        self.assertTrue(_strata.keep_program(self.key, _programs._pack(kept, [])))
        with unittest.mock.patch.dict(os.environ, STRATA_CACHE_CHECK="1"), unittest.mock.patch("sys.stderr"):
            results, found = self.start(self.function, self.x)
        self.assertIn("the cache has another program", found)
        torch.testing.assert_close(results, self.function(self.x))


if __name__ == "__main__":
    unittest.main()
