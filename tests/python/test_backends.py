#!/usr/bin/env python3
"""Backends by name, options, the inspecting backend, names in the profiler, `strata.explain`, the interface of compiled modules, and the
Python in the README.

Needs PyTorch 2.4 or later; exit code 77 (skipped) without it.
"""
import contextlib
import copy
import importlib.util
import io
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

import torch_or_skip

VERSION = torch_or_skip.check()

import torch

import strata

from torch._dynamo.exc import BackendCompilerFailed

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(strata.__file__).resolve().parents[2] / "bin" / "strata"
StrataError = strata.StrataError


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = torch.nn.Linear(6, 5)
        self.leave = torch.nn.Linear(5, 3)
        self.register_buffer("scale", torch.rand(3) + 1)
        self.label = "network"

    def forward(self, x):
        return self.leave(torch.relu(self.enter(x))) * self.scale


def forget_registered():
    from torch._dynamo.backends import registry

    ours = strata._backends._registered, sys.modules["strata._register"]._functions
    theirs = registry._BACKENDS, getattr(registry, "_COMPILER_FNS", {})
    for name in list(strata._backends._registered):
        for names in ours + theirs:
            names.pop(name, None)


class Case(unittest.TestCase):
    def setUp(self):
        self.addCleanup(forget_registered)
        strata.reset()
        torch.manual_seed(torch.seed() % 2**31)
        self.network, self.x = Network().eval(), torch.randn(4, 6)
        no_grad = torch.no_grad()
        no_grad.__enter__()
        self.addCleanup(no_grad.__exit__, None, None, None)

    def same(self, compiled, *inputs):
        torch.testing.assert_close(compiled(*inputs or (self.x,)), self.network(*inputs or (self.x,)))


class Options(Case):
    def arrived(self, compiled):
        """What the compiler is asked for: backend, mode, threads, passes."""
        from strata import _strata

        without_cache = unittest.mock.patch.dict(os.environ, STRATA_CACHE="off")
        with without_cache, unittest.mock.patch.object(_strata, "compile_fx", wraps=_strata.compile_fx) as compile_fx:
            self.same(compiled)
        self.assertEqual(compile_fx.call_count, 1)
        return compile_fx.call_args.args[2:6]

    def test_arrive_from_both_sides(self):
        options = {"threads": 2, "disabled_passes": ["dce"], "backend": "unfused"}
        threads = torch.get_num_threads()
        self.addCleanup(torch.set_num_threads, threads)
        cases = [
            (strata.compile(self.network), ("strata", "default", threads, set())),
            (strata.compile(self.network, mode="max-autotune"), ("strata", "max-autotune", threads, set())),
            (strata.compile(self.network, mode="reduce-overhead", options={"threads": 1}), ("strata", "reduce-overhead", 1, set())),
            (strata.compile(self.network, backend="interpret"), ("interpret", "default", threads, set())),
            (torch.compile(self.network, backend="strata", mode="reduce-overhead"), ("strata", "reduce-overhead", threads, set())),
        ]
        for build in (strata.compile, lambda m, **more: torch.compile(m, backend="strata", **more)):
            cases.append((build(self.network, options={"disabled_passes": ["cse"]}), ("strata", "default", threads, {"cse"})))
            cases.append((build(self.network, options=options), ("unfused", "default", 2, {"dce"})))
        for compiled, expected in cases:
            with self.subTest(expected=expected):
                strata.reset()
                self.assertEqual(self.arrived(compiled), expected)

    WRONG = [
        ({"options": {"thread": 2}}, "no option 'thread'; did you mean 'threads'"),
        ({"options": {"speed": 2}}, "no option 'speed'; valid: backend, disabled_passes"),
        ({"options": {"threads": "2"}}, "'threads' must be a whole number, 0 for all cores, and is '2'"),
        ({"options": {"threads": True}}, "'threads' must be a whole number"),
        ({"options": {"threads": -1}}, "'threads' must be a whole number"),
        ({"options": {"disabled_passes": "cse"}}, "'disabled_passes' must be a list of names of passes, and is 'cse'"),
        ({"options": {"disabled_passes": ["cze"]}}, "no pass 'cze'; did you mean 'cse'"),
        ({"options": {"backend": "unfuse"}}, "no backend 'unfuse'; did you mean 'unfused'"),
        ({"options": {"mode": "fast"}}, "no mode 'fast'"),
        ({"mode": "max_autotune"}, "no mode 'max_autotune'; did you mean 'max-autotune'"),
    ]

    def test_wrong_ones_are_errors_at_once(self):
        more = [
            ({"options": ["threads"]}, "options must be a dictionary, and are a list"),
            ({"mode": 3}, "mode must be a string"),
            ({"mode": "max-autotune", "options": {"mode": "default"}}, "give one of them"),
            ({"backend": "unfused", "options": {"backend": "strata"}}, "give one of them"),
            ({"dynamic": "yes"}, "dynamic must be True, False or None"),
            ({"fullgraph": 1}, "fullgraph must be True or False"),
            ({"backend": "strat"}, "no backend 'strat'; did you mean 'strata'"),
            ({"backend": 7}, "backend must be a name or a callable, and is a int"),
        ]
        for arguments, message in self.WRONG + more:
            with self.subTest(**arguments), self.assertRaisesRegex(StrataError, re.escape(message)):
                strata.compile(self.network, **arguments)
        with self.assertRaisesRegex(StrataError, "a function or module is expected, and this is a int"):
            strata.compile(3)

    def test_wrong_ones_are_errors_at_the_first_call_of_pytorchs(self):
        for arguments, message in self.WRONG:
            with self.subTest(**arguments), self.assertRaisesRegex(BackendCompilerFailed, re.escape(message)):
                torch._dynamo.reset()
                torch.compile(self.network, backend="strata", **arguments)(self.x)
        self.assertEqual(strata.reports(), [])

    def test_the_callers_options_stay_as_they_are(self):
        options = {"threads": 1, "disabled_passes": ("cse",)}
        strata.compile(self.network, options=options, mode="max-autotune")
        self.assertEqual(options, {"threads": 1, "disabled_passes": ("cse",)})

    def test_fullgraph_dynamic_disable_and_decorators(self):
        @strata.compile(fullgraph=True)
        def broken(x):
            y = x + 1
            torch._dynamo.graph_break()
            return y * 2

        with self.assertRaises(torch._dynamo.exc.Unsupported):
            broken(self.x)
        strata.reset()
        for build, compiles in ((dict(dynamic=True), 1), (dict(dynamic=False), 3), (dict(), 2)):
            compiled = strata.compile(self.network, **build)
            for batch in (2, 3, 7):
                self.same(compiled, torch.randn(batch, 6))
            self.assertEqual(len(strata.reports()), compiles)
            strata.reset()
        self.same(strata.compile(self.network, disable=True))
        self.assertEqual(strata.reports(), [])


class Names(Case):
    def test_list(self):
        rows = {row.name: row for row in strata.backends()}
        self.assertLessEqual({"strata", "unfused", "interpret", "inspect", "eager", "aot_eager"}, set(strata.list_backends()))
        self.assertLessEqual({"inductor", "cudagraphs", "onnxrt", "tvm"}, set(rows))
        for row in rows.values():
            self.assertTrue(row.doc or row.kind == "registered", row)
            self.assertEqual(row.available, not row.why_not)
            self.assertEqual(row.available, row.name in strata.list_backends())
        self.assertEqual(rows["cudagraphs"].available, torch.cuda.is_available())
        with unittest.mock.patch.object(importlib.util, "find_spec", return_value=None):
            self.assertIn("tvm", {r.name: r for r in strata.backends()}["tvm"].why_not)

    def test_list_without_pytorch(self):
        script = "import sys; sys.modules['torch'] = None\nimport strata; print(strata.list_backends(), len(strata.backends()))"
        self.assertEqual(self.run_python(script), "['strata', 'unfused', 'interpret'] 3\n")

    @staticmethod
    def run_python(script, *arguments, **more):
        environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(strata.__file__).parents[1]))
        done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, env=environment, **more)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def test_registered_before_pytorch_is_loaded(self):
        script = """
import strata
@strata.register_backend("early")
def early(gm, inputs):
    print("compiled", len(inputs))
    return gm.forward
import torch
print(torch.compile(lambda x: x + 1, backend="early")(torch.ones(2)).tolist(), "early" in strata.list_backends())
"""
        self.assertEqual(self.run_python(script), "compiled 1\n[2.0, 2.0] True\n")

    def test_registered_ones_get_graph_inputs_and_options(self):
        seen = []

        def keep(gm, inputs, *, depth=1, mode="default"):
            """Keeps graphs."""
            seen.append((type(gm), len(inputs) > 0, depth, mode))
            return gm.forward

        strata.register_backend("keep", keep)
        self.assertIn("keep", strata.list_backends())
        row = next(row for row in strata.backends() if row.name == "keep")
        self.assertEqual((row.kind, row.doc), ("registered", "Keeps graphs."))
        calls = [
            (strata.compile(self.network, backend="keep"), 1, "default"),
            (strata.compile(self.network, backend="keep", options={"depth": 2}, mode="max-autotune"), 2, "max-autotune"),
            (torch.compile(self.network, backend="keep", options={"depth": 3}), 3, "default"),
            (torch.compile(self.network, backend="keep", mode="fast"), 1, "fast"),
        ]
        for compiled, depth, mode in calls:
            if VERSION < (2, 5):  # it takes no notice of other options of torch.compile
                torch._dynamo.reset()
            self.same(compiled)
            kind, inputs, *given = seen.pop()
            self.assertTrue(issubclass(kind, torch.fx.GraphModule) and inputs)
            self.assertEqual((given, seen), ([depth, mode], []))
        with self.assertRaisesRegex(StrataError, "backend 'keep' has no option 'dept'; did you mean 'depth'"):
            strata.compile(self.network, backend="keep", options={"dept": 2})
        torch._dynamo.reset()
        with self.assertRaisesRegex(BackendCompilerFailed, "backend 'keep' has no option 'dept'; did you mean 'depth'"):
            torch.compile(self.network, backend="keep", options={"dept": 2})(self.x)

    def test_faults_name_the_backend(self):
        def failing(gm, inputs):
            raise IndexError("no such thing")  # of all errors the one that PyTorch lets through bare

        strata.register_backend("failing", failing)
        strata.register_backend("nothing", lambda gm, inputs: None)
        for build in (strata.compile, torch.compile):
            with self.assertRaisesRegex(BackendCompilerFailed, "backend 'failing' failed: IndexError: no such thing"):
                build(self.network, backend="failing")(self.x)
            with self.assertRaisesRegex(BackendCompilerFailed, "backend 'nothing' must return a callable.*returned nothing"):
                build(self.network, backend="nothing")(self.x)

    def test_names_are_taken_once(self):
        keep = lambda gm, inputs: gm.forward  # noqa: E731
        strata.register_backend("mine", keep)
        for name, message in [
            ("mine", "registered already.*replace=True"),
            ("strata", "backend of Strata's"),
            ("interpret", "backend of Strata's"),
            ("inductor", "backend of PyTorch's"),
            ("eager_debug", "backend of PyTorch's"),
        ]:
            with self.assertRaisesRegex(StrataError, message):
                strata.register_backend(name, keep)
        for name in ("", 3, keep):
            with self.assertRaisesRegex(StrataError, "must be a string"):
                strata.register_backend(name, keep)
        with self.assertRaisesRegex(StrataError, "'other' must be callable, and is a int"):
            strata.register_backend("other", 3)
        used = []
        self.same(torch.compile(self.network, backend="mine"))
        strata.register_backend("mine", lambda gm, inputs: used.append(gm) or gm.forward, replace=True)
        self.same(torch.compile(self.network, backend="mine"))
        self.same(strata.compile(self.network, backend="mine"))
        self.assertGreaterEqual(len(used), 1)

    def test_watchers_hear_of_compiles(self):
        strata.register_backend("quiet", lambda gm, inputs: gm.forward)
        heard = []
        stop = strata._backends.watch(lambda phase, name, gm: heard.append((phase, name, type(gm).__name__)))
        for build in (dict(backend="quiet"), dict(backend="strata")):
            self.same(strata.compile(self.network, **build))
        stop()
        strata.reset()
        self.same(strata.compile(self.network))
        self.assertEqual([h[:2] for h in heard], [(p, n) for n in ("quiet", "strata") for p in ("begin", "end")])

    def test_pytorchs_run(self):
        for backend in ("eager", "aot_eager"):
            self.same(strata.compile(self.network, backend=backend))
        self.same(strata.compile(self.network, backend=lambda gm, inputs: gm.forward))
        self.assertEqual(strata.reports(), [])

    def test_pytorchs_get_modes_and_options_as_pytorch_takes_them(self):
        def given(**arguments):
            with unittest.mock.patch.object(torch, "compile") as compiled:
                strata.compile(self.network, **arguments)
            got = compiled.call_args.kwargs
            return {key: got[key] for key in ("backend", "mode", "options") if key in got}

        self.assertEqual(given(backend="inductor"), {"backend": "inductor", "mode": "default"})
        self.assertEqual(given(backend="inductor", mode="max-autotune"), {"backend": "inductor", "mode": "max-autotune"})
        self.assertEqual(given(backend="inductor", options={"max_autotune": True})["options"], {"max_autotune": True})
        both = given(backend="inductor", mode="max-autotune-no-cudagraphs", options={"epilogue_fusion": False})
        self.assertTrue(both["options"]["max_autotune"])
        self.assertIs(both["options"]["epilogue_fusion"], False)
        self.assertNotIn("mode", both)
        with self.assertRaisesRegex(StrataError, "no mode 'max_autotune'; did you mean 'max-autotune"):
            given(backend="inductor", mode="max_autotune", options={"epilogue_fusion": False})
        self.assertEqual(given(backend="eager"), {"backend": "eager"})
        if not torch.cuda.is_available():
            with self.assertRaisesRegex(StrataError, "'cudagraphs' cannot be used here: needs a CUDA device"):
                strata.compile(self.network, backend="cudagraphs")


class Pictures(Case):
    def test_graphs_are_called_as_people_call_them(self):
        def function(self, x):
            return x + 1

        def named(f, *inputs):
            strata.reset()
            strata.compile(f)(*inputs)
            return [report.name for report in strata.reports()]

        self.assertEqual(named(self.network, self.x), ["Network"])
        self.assertEqual(named(torch.nn.Sequential(torch.nn.ReLU()), self.x), ["Sequential"])
        self.assertEqual(named(torch.sin, self.x), ["sin"])
        self.assertEqual(named(function, 3, self.x), ["function"])

        def broken(x):
            y = x.sin()
            torch._dynamo.graph_break()
            return y + 1

        line = broken.__code__.co_firstlineno + 2
        self.assertEqual(named(broken, self.x), ["broken", f"broken from line {line}"])

    def graph_of(self, function, *inputs):
        graphs = []
        torch.compile(function, backend=lambda gm, _: graphs.append(gm) or gm.forward)(*inputs)
        return graphs[0]

    def test_text_has_types_and_lines(self):
        text = strata.graph_text(self.graph_of(self.network, self.x))
        self.assertRegex(text, r'"f32\[4, 3\]\[3, 1\]cpu" = ')
        self.assertRegex(text, r"# File: .*test_backends.py:\d+ in forward, code: return self.leave")

    def test_picture_has_every_node_and_its_module(self):
        gm = self.graph_of(self.network, self.x)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph.svg")
            svg = strata.graph_svg(gm, path, title="network")
            self.assertEqual(pathlib.Path(path).read_text("utf-8"), svg)
        root = xml.etree.ElementTree.fromstring(svg)
        nodes = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class", "").split()[:1] == ["node"]]
        self.assertGreaterEqual(len(nodes), sum(n.op != "output" for n in gm.graph.nodes))
        titles = " ".join(t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}title"))
        for word in ("relu", "enter", "f32[4, 3]"):
            self.assertIn(word, titles)

    def test_what_is_no_graph_and_no_place(self):
        with self.assertRaisesRegex(StrataError, "a torch.fx.GraphModule is expected, and this is a Linear"):
            strata.graph_text(torch.nn.Linear(2, 2))
        with self.assertRaisesRegex(StrataError, "cannot write '/nonexistent/g.svg'"):
            strata.graph_svg(self.graph_of(torch.sin, self.x), "/nonexistent/g.svg")

    def test_graphs_of_all_kinds_can_be_drawn(self):
        def branches(x):
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))

        def much(x, n, names):
            y = x[:, None, ::2].clone()
            y[0] += n
            return {"a": torch.einsum("abc,abc->a", y, y), "b": [x.shape[0] * 2, names]}, x.view(-1).split(3)

        for function, inputs in ((branches, (self.x,)), (much, (self.x, 2.5, ["p"]))):
            self.assertIn("</svg>", strata.graph_svg(self.graph_of(function, *inputs)))

    def test_the_backend_inspect(self):
        shown = []
        with tempfile.TemporaryDirectory() as folder:
            options = {"show": shown.append, "folder": folder}
            self.same(strata.compile(self.network, backend="inspect", options=options))
            self.assertEqual(os.listdir(folder), ["Network_0_0.svg"])
            self.assertEqual(strata.reports(), [])
            torch._dynamo.reset()
            self.same(strata.compile(self.network, backend="inspect", options=dict(options, then="strata")))
        self.assertTrue(strata.reports()[0].compiled)
        self.assertTrue(shown[0].startswith("# Network 0/0\nclass GraphModule(torch.nn.Module):"), shown[0])
        with self.assertRaisesRegex(StrataError, "'inspect' has no option 'folders'; did you mean 'folder'"):
            strata.compile(self.network, backend="inspect", options={"folders": "."})

    def test_the_example(self):
        with tempfile.TemporaryDirectory() as folder:
            script = f"import runpy, sys; sys.argv[1:] = [{folder!r}]; "
            script += f"runpy.run_path({str(REPOSITORY / 'examples' / 'inspect_backend.py')!r}, run_name='__main__')"
            output = Names.run_python(script)
            self.assertEqual(sorted(os.listdir(folder)), ["graph_0.svg", "graph_1.svg"])
        for text in ("gelu", "softmax", "hidden: (8, 32)", "2 graphs, 1 break", "print outside the compiled function"):
            self.assertIn(text, output)


class Profiler(Case):
    def test_calls_carry_a_name(self):
        compiled = strata.compile(self.network)
        self.same(compiled)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            for _ in range(3):
                compiled(self.x)
        events = [event for event in profile.events() if event.name == "Strata: Network 0/0"]
        self.assertEqual(len(events), 3)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profile.json")
            profile.export_chrome_trace(path)
            with open(path, encoding="utf-8") as file:
                found = [e for e in json.load(file)["traceEvents"] if e.get("name") == "Strata: Network 0/0"]
            self.assertEqual(len(found), 3)
            if COMMAND.exists():
                trace = os.path.join(folder, "profile.strata")
                subprocess.run([COMMAND, "import", path, "-o", trace], check=True, capture_output=True)
                table = subprocess.run([COMMAND, "profile", trace, "--by", "kernel"], check=True, capture_output=True, text=True).stdout
                self.assertRegex(table, r"Strata: Network 0/0")

    def test_nothing_is_said_without_a_profiler_and_exceptions_end_the_event(self):
        def thrown(x):
            return torch.linalg.cholesky(x) + 1

        compiled = strata.compile(thrown)
        compiled(torch.eye(3))
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            with self.assertRaises(Exception):
                compiled(-torch.eye(3))
            torch.ones(3).sin()
        names = [event.name for event in profile.events()]
        outer = [e for e in profile.events() if e.name.startswith("Strata: thrown")]
        self.assertIn("aten::sin", names)
        for event in outer:  # the event is over when the call is
            self.assertNotIn("aten::sin", [child.name for child in event.cpu_children])


class Explain(Case):
    def test_breaks_graphs_and_reasons(self):
        calls = []

        def function(x):
            calls.append(1)  # a side effect
            y = x.sin()
            print("in between")
            z = torch.linalg.ldl_factor(y)[0]
            return z + torch.rand(3) if z.sum() > 0 else z

        with contextlib.redirect_stdout(io.StringIO()) as said:
            found = strata.explain(function)(torch.rand(3, 3))
        self.assertEqual((len(calls), said.getvalue()), (1, "in between\n"))
        self.assertEqual((found.graph_count, found.graph_break_count, len(found.break_reasons)), (3, 2, 2))
        functions = [sum(node.op == "call_function" for node in graph.graph.nodes) for graph in found.graphs]
        self.assertEqual([len(ops) for ops in found.ops_per_graph], functions)
        self.assertEqual(found.op_count, sum(len(ops) for ops in found.ops_per_graph))
        self.assertGreater(len(found.out_guards), 0)
        self.assertIn("compile", found.compile_times)
        self.assertEqual(len(found.compile_seconds), 3)
        self.assertEqual([b.code for b in found.breaks], ['print("in between")', "return z + torch.rand(3) if z.sum() > 0 else z"])
        self.assertEqual(found.breaks[0].function, "function")
        self.assertIn("aten.linalg_ldl_factor.default", found.reports[1].opaque)
        text = str(found)
        line = function.__code__.co_firstlineno + 3
        for part in (
            "3 graphs, 2 breaks",
            f"test_backends.py:{line} in function: print(\"in between\")\n",
            "way out: print outside the compiled function",
            "way out: decide with torch.where or torch.cond",
            "calls of PyTorch: aten.linalg_ldl_factor.default",
        ):
            self.assertIn(part, text)
        self.assertLess(len(text.splitlines()), 20)

    def test_what_is_left_to_pytorch_is_said(self):
        with torch.enable_grad():
            found = strata.explain(self.network, self.x)
        self.assertRegex(str(found), "run by PyTorch: gradients are needed.*torch.no_grad")
        self.assertIn("PyTorch runs 1 of the graphs", str(found))

    def test_breaks_without_a_graph_are_seen(self):
        def function(x):
            print(end="")
            return x + 1

        found = strata.explain(function)(self.x)
        self.assertEqual((found.graph_count, len(found.breaks)), (1, 1))
        found = strata.explain(lambda: print(end=""))()
        self.assertEqual((found.graph_count, found.graph_break_count), (0, 0))
        self.assertIn("nothing was captured", str(found))

    def test_leaves_reports_and_compiled_modules_usable(self):
        compiled = strata.compile(self.network)
        self.same(compiled)
        before = len(strata.reports())
        self.assertEqual(strata.explain(compiled, self.x).graph_count, 1)
        self.assertEqual(strata.explain(strata.compile(torch.sin))(self.x).graph_count, 1)
        self.assertEqual(len(strata.reports()), before)
        self.same(compiled)

    def test_exceptions_go_through_and_leave_nothing(self):
        from torch._dynamo.output_graph import OutputGraph

        original = OutputGraph.compile_subgraph

        def function(x):
            y = x + 1
            raise ValueError(f"on purpose {y.shape}")

        with self.assertRaisesRegex(ValueError, "on purpose"):
            strata.explain(function, self.x)
        self.assertIs(OutputGraph.compile_subgraph, original)
        with self.assertRaisesRegex(StrataError, "a function or module is expected"):
            strata.explain(3)


class Modules(Case):
    def test_keep_their_interface(self):
        ours, theirs = strata.compile(self.network), torch.compile(self.network, backend="eager")
        self.assertIs(type(ours), type(theirs))
        self.assertEqual(list(ours.state_dict()), list(theirs.state_dict()))
        self.assertEqual([n for n, _ in ours.named_parameters()], [n for n, _ in theirs.named_parameters()])
        self.assertEqual(ours.label, "network")
        self.assertIs(ours.enter, self.network.enter)
        self.same(ours)
        other = Network().state_dict()
        self.network.load_state_dict(other)
        self.same(ours)
        ours.load_state_dict(ours.state_dict())
        self.same(ours)

    def test_train_and_to(self):
        network = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Dropout(0.9)).eval()
        compiled = strata.compile(network)
        torch.testing.assert_close(compiled(self.x), network(self.x))
        compiled.train()
        self.assertTrue(network.training and network[1].training)
        self.assertGreater((compiled(self.x) == 0).float().mean().item(), 0.3)
        compiled.eval()
        torch.testing.assert_close(compiled(self.x), network(self.x))
        self.assertIs(compiled.to(torch.float64), compiled)
        self.assertEqual(compiled(self.x.double()).dtype, torch.float64)
        torch.testing.assert_close(compiled(self.x.double()), network(self.x.double()))

    def test_copies(self):
        compiled = strata.compile(self.network)
        self.same(compiled)
        strata.register_backend("copied", lambda gm, inputs: gm.forward, replace=True)
        for build in (dict(), dict(backend="copied"), dict(options={"disabled_passes": ["cse"]})):
            source = strata.compile(self.network, **build)
            for other in (copy.deepcopy(source), pickle.loads(pickle.dumps(source))):
                self.same(other)
                other.enter.weight.zero_()
                other.enter.bias.zero_()
                torch.testing.assert_close(other(self.x), (self.network.leave.bias * self.network.scale).expand(4, 3))
                self.same(source)

    def test_reset(self):
        compiled = strata.compile(self.network)
        for expected in (1, 1):
            self.same(compiled)
            self.same(compiled)
            self.assertEqual(len(strata.reports()), expected)
            strata.reset()
            self.assertEqual(strata.reports(), [])


class Documents(Case):
    def blocks(self, name):
        return re.findall(r"^```python\n(.*?)^```", (REPOSITORY / name).read_text("utf-8"), re.DOTALL | re.MULTILINE)

    def test_the_python_in_documents_runs(self):
        names = {"README.md": 3, "docs/options.md": 1, "docs/bridge.md": 1}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder) if sys.version_info >= (3, 11) else _inside(folder):
            for name, least in names.items():
                blocks = self.blocks(name)
                self.assertGreaterEqual(len(blocks), least)
                for block in blocks:
                    with self.subTest(document=name, block=block):
                        self.run_block(block)

    def run_block(self, block):
        x = self.x
        if "torch.export" in block or "strata.load" in block:
            if VERSION < (2, 9):  # the archives that the package reads
                return
            x = self.x.numpy() if "strata.load" in block else self.x
        names = {"model": self.network, "x": x, "torch": torch}
        strata.reset()
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block, "<document>", "exec"), names)
        forget_registered()


@contextlib.contextmanager
def _inside(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


if __name__ == "__main__":
    unittest.main(verbosity=1)
