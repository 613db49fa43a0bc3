#!/usr/bin/env python3
"""What a recording holds: `strata.record`, STRATA_TRACE, seen through the `strata` command.

Needs PyTorch 2.4 or later and the command (STRATA_COMMAND, else `bin/strata` beside the package); exit code 77 (skipped) without them.
"""
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

import torch_or_skip

VERSION = torch_or_skip.check()

import torch

import strata

BESIDE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(strata.__file__)))), "bin", "strata")
COMMAND = os.environ.get("STRATA_COMMAND", BESIDE)
if not os.path.exists(COMMAND):
    print(f"skipped: there is no command at {COMMAND} (set STRATA_COMMAND)")
    sys.exit(77)


def ask(*arguments):
    """What the command says, as JSON."""
    done = subprocess.run([COMMAND, *arguments, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"strata {' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)


def line_of(mark):
    """The line of this file that a comment marks."""
    with open(__file__, encoding="utf-8") as file:
        return next(i for i, line in enumerate(file, 1) if line.rstrip().endswith("# " + mark))


class Broken(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 16), torch.nn.Linear(16, 8)

    def forward(self, x):
        y = torch.relu(self.first(x))  # before the break
        torch._dynamo.graph_break()  # the break
        return torch.softmax(self.second(y), -1)


def opaque(x):
    return torch.poisson(x.sin().abs()) + 1  # the opaque call


def trained(x):
    return (x * 2).sum()  # left to PyTorch


class Traced(unittest.TestCase):
    def setUp(self):
        strata.reset()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name="run.strata"):
        return os.path.join(self.folder.name, name)

    def graphs(self, path):
        return {graph["graph"]: graph for graph in ask("graphs", path)}


class Recorded(Traced):
    def record_all(self, path):
        model = Broken().eval()
        with strata.record(path):
            with torch.no_grad():
                fast = torch.compile(model, backend="strata")
                for rows in (2, 2, 5):
                    x = torch.randn(rows, 8)
                    torch.testing.assert_close(fast(x), model(x))
                torch.compile(opaque, backend="strata")(torch.randn(5))
            torch.compile(trained, backend="strata")(torch.randn(4, requires_grad=True))
        self.assertEqual(os.listdir(self.folder.name), [os.path.basename(path)])

    def test_everything(self):
        path = self.path()
        self.record_all(path)
        graphs = self.graphs(path)
        compiled = [g for g in graphs.values() if g["outcome"] in ("ok", "left")]
        self.assertEqual(sorted((g["frame"], g["compile"]) for g in compiled), [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (3, 0)])
        self.assertEqual({g["backend"] for g in compiled}, {"strata"})
        self.check_stages(path, graphs)
        self.check_explanation(path, ask("explain", path))
        self.check_edges(path)

    def check_stages(self, path, graphs):
        whole = next(g for g in graphs.values() if (g["frame"], g["compile"]) == (0, 0) and g["outcome"] == "ok")
        self.assertTrue(whole["file"].endswith("test_record.py"))
        stages = [s["stage"] for s in ask("stages", path, "--graph", whole["graph"])]
        wanted = ["source", "captured", "captured:aten", "functional", "decomposed", "scheduled", "loops", "code", "plan", "runs"]
        self.assertEqual([s for s in stages if s in wanted], wanted)
        runs = ask("query", path, "category=kernel", "--graph", whole["graph"])
        self.assertGreaterEqual(len(runs["events"] if isinstance(runs, dict) else runs), 2)

    def check_explanation(self, path, found):
        compiles = {c["graph"]: c for frame in found["frames"] for c in frame["compiles"]}
        self.assertEqual(set(compiles), {"0/0", "0/1", "1/0", "1/1", "2/0", "3/0"})
        for compile in compiles.values():
            self.assertGreater(compile["guards"], 0, compile)
            self.assertTrue(compile["captured"])
        self.assertEqual((compiles["3/0"]["outcome"], compiles["2/0"]["opaque"]), ("left", 1))
        self.assertIn("gradients", compiles["3/0"]["left"])
        self.check_breaks(found)
        self.assertTrue({s["graph"] for s in found["symbols"]} >= {"0/1", "1/1"})
        call = found["opaque"][0]
        self.assertEqual((call["graph"], call["target"], call["by"]), ("2/0", "aten.poisson.default", "PyTorch"))
        self.assertEqual((call["count"], call["place"]["line"]), (1, line_of("the opaque call")))
        self.assertTrue(0 < call["share"] <= 1 and call["time_ns"] > 0)
        self.assertTrue({"left", "opaque"} <= {f["kind"] for f in found["fix_first"]})

    def check_breaks(self, found):
        if VERSION < (2, 5):  # its log does not have them
            return self.assertTrue([n for n in found["notes"] if n["kind"] == "restart" and "graph_break" in n["title"]])
        again = {r["graph"]: r["reasons"][0] for r in found["recompile_list"]}
        self.assertEqual(set(again), {"0/1", "1/1"})
        self.assertEqual((again["0/1"]["of"], again["0/1"]["expected"], again["0/1"]["actual"]), ("0/0", "2", "5"))
        self.assertEqual([b["place"]["line"] for b in found["break_list"]], [line_of("the break")])
        self.assertEqual(found["break_list"][0]["graphs"], ["0/0", "0/1"])
        self.assertTrue(found["break_list"][0]["reason"] and found["break_list"][0]["advice"])
        self.assertTrue({"break", "recompile"} <= {f["kind"] for f in found["fix_first"]})
        if VERSION >= (2, 7):
            self.assertTrue(found["break_list"][0]["hints"])

    def check_edges(self, path):
        """From a kernel back to the line, through Dynamo's graph."""
        text = subprocess.run(
            [COMMAND, "show", path, "--graph", "0/0_1", "--stage", "captured:aten"], capture_output=True, text=True
        ).stdout
        self.assertIn("lowered 'traced'", text)
        self.assertIn("in 'first'", text)
        torch_level = subprocess.run(
            [COMMAND, "show", path, "--graph", "0/0_1", "--stage", "captured"], capture_output=True, text=True
        ).stdout
        self.assertIn("torch.relu", torch_level)
        self.assertIn(f"test_record.py' {line_of('before the break')} ", torch_level)

    def test_other_backends(self):
        path = self.path()
        x = torch.randn(3, 8)
        seen = []

        def custom(gm, inputs):
            seen.append(len(gm.graph.nodes))
            return gm.forward

        with strata.record(path), torch.no_grad():
            for backend in ("eager", "aot_eager", custom, "strata"):
                torch.compile(lambda x: torch.relu(x) + 1, backend=backend)(x)
        self.assertEqual(len(seen), 1)
        graphs = self.graphs(path)
        self.assertEqual([g["backend"] for g in graphs.values()], ["eager", "aot_eager", "custom", "strata"])
        addresses = list(graphs)
        self.assertIn("inference", [s["stage"] for s in ask("stages", path, "--graph", addresses[1])])
        for address in addresses:
            same = ask("diff", f"{path}@{addresses[0]}@captured", f"{path}@{address}@captured")
            self.assertEqual((same["added"], same["removed"]), ([], []))

    def test_profile(self):
        """Two backends, operator by operator: in one trace, and in one each."""
        model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.Linear(32, 8), torch.nn.Softmax(-1)).eval()
        paths = {}
        for backend in ("eager", "strata"):
            paths[backend] = self.path(backend + ".strata")
            strata.reset()
            with strata.record(paths[backend], profile=True), torch.no_grad():
                fast = torch.compile(model, backend=backend)
                for _ in range(3):
                    fast(torch.randn(16, 8))
        rows = ask("profile", paths["strata"])
        graph = ask("graphs", paths["strata"])[0]["graph"]
        kernels = [k for k in ask("query", paths["strata"], "category=cpu_op match=exact", "--of", "events")]
        self.assertTrue(rows and kernels)
        compared = ask("diff", paths["eager"], paths["strata"])
        self.assertIn("aten::linear", json.dumps(compared))
        both = ask("diff", f"{paths['eager']}@0/0", f"{paths['strata']}@{graph}")
        # Before 2.6 the profiler does not say which compile ran.
        self.assertEqual((both["first_runs"]["count"], both["second_runs"]["count"]), (3 if VERSION >= (2, 6) else 0, 3))
        self.assertTrue(all(change["operators"] for change in both["changes"]))

    def test_numbers_that_start_again(self):
        path = self.path()
        with strata.record(path), torch.no_grad():
            for backend in ("eager", "strata", "strata"):
                torch.compile(opaque, backend=backend)(torch.randn(4))
                torch._dynamo.reset()
        graphs = self.graphs(path)
        self.assertEqual({a: g["backend"] for a, g in graphs.items()}, {"0/0": "eager", "s2:0/0": "strata", "s3:0/0": "strata"})
        for address in ("s2:0/0", "s3:0/0"):
            self.assertIn("plan", [s["stage"] for s in ask("stages", path, "--graph", address)])
            self.assertGreater(next(c for f in ask("explain", path)["frames"] for c in f["compiles"] if c["graph"] == address)["guards"], 0)

    def test_twice_and_compiled_before(self):
        with torch.no_grad():
            early = torch.compile(opaque, backend="strata")
            early(torch.randn(4))
            for number in (1, 2):
                with strata.record(self.path(f"{number}.strata")):
                    early(torch.randn(4))
                    early(torch.randn(4))
                    torch.compile(lambda x: x.cos() + 1, backend="strata")(torch.randn(number + 3))
            early(torch.randn(4))
        for number in (1, 2):
            path = self.path(f"{number}.strata")
            graphs = self.graphs(path)
            self.assertEqual(len(graphs), 2)
            self.assertIn("before:0/0", graphs)
            stages = {s["stage"]: s["content"] for s in ask("stages", path, "--graph", "before:0/0")}
            self.assertEqual(stages["runs"], "2 runs")
            self.assertIn("plan", stages)
            found = ask("explain", path)
            self.assertIn("compiled-before", [note["kind"] for note in found["notes"]])
            other = next(a for a in graphs if a != "before:0/0")
            self.assertGreater(next(c for f in found["frames"] for c in f["compiles"] if c["graph"] == other)["guards"], 0)

    def test_exception_inside(self):
        path = self.path()
        with self.assertRaises(ZeroDivisionError), strata.record(path), torch.no_grad():
            torch.compile(opaque, backend="strata")(torch.randn(4))
            1 / 0
        self.assertEqual([g["outcome"] for g in self.graphs(path).values()], ["ok"])
        self.assertEqual(os.listdir(self.folder.name), ["run.strata"])

    def test_wrong_use(self):
        with self.assertRaisesRegex(strata.StrataError, "nothing/here"):
            with strata.record("/nothing/here/run.strata"):
                self.fail("it began")
        with strata.record(self.path()):
            with self.assertRaisesRegex(strata.StrataError, "under way"):
                with strata.record(self.path("second.strata")):
                    self.fail("it began")
            torch.compile(opaque, backend="eager")(torch.randn(4))
        self.assertEqual(len(self.graphs(self.path())), 1)

    def test_own_log_stays_on(self):
        """The program's TORCH_TRACE is written as without a recording."""
        done = self.run_python(
            """
            import strata, torch
            with torch.no_grad():
                torch.compile(lambda x: x.cos(), backend="eager")(torch.randn(3))
                with strata.record(OUT):
                    torch.compile(lambda x: x.sin(), backend="strata")(torch.randn(3))
                torch.compile(lambda x: x.tan(), backend="eager")(torch.randn(3))
            """,
            TORCH_TRACE=self.path("log"),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        both = self.path("both.strata")
        subprocess.run([COMMAND, "import", self.path("log"), "-o", both], check=True, capture_output=True)
        self.assertEqual(len(self.graphs(both)), 3)
        # Names of files that were numbered before the recording began are known to it too.
        graph = list(self.graphs(self.path()).values())
        self.assertEqual([(g["backend"], os.path.basename(g["file"])) for g in graph], [("strata", "program.py")])

    def run_python(self, text, **environment):
        program = self.path("program.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"OUT = {self.path()!r}\n" + textwrap.dedent(text))
        return subprocess.run(
            [sys.executable, program], env=dict(os.environ, **environment), capture_output=True, text=True, timeout=120
        )


PROGRAM = """
import os, signal, sys
import strata, torch
def function(x): return x.sin() * 2
fast = torch.compile(function, backend="strata")
def fork():
    child = os.fork()
    if child == 0:
        fast(torch.randn(4))
        torch.compile(lambda x: x.cos() + 1, backend="strata")(torch.randn(3))
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    fast(torch.randn(4))
def record_itself():
    with strata.record(os.path.join(os.path.dirname(os.environ["STRATA_TRACE"]), "own.strata")):
        fast(torch.randn(4))
def start_another():
    import subprocess
    subprocess.run([sys.executable, "-c", "import strata"], check=True)
def fail():
    raise KeyError("mine")
with torch.no_grad():
    fast(torch.randn(4)); fast(torch.randn(4))
    {then}
print("done")
"""


class FromEnvironment(unittest.TestCase):
    """STRATA_TRACE in programs of their own, some at a time: most of their time is the import of PyTorch."""

    PROGRAMS = {
        "whole": ("pass", "run.strata"),
        "failed": ("fail()", "run.strata"),
        "killed": ("os.kill(os.getpid(), signal.SIGKILL)", "run.strata"),
        "fork": ("fork()", "run.strata"),
        "fork_each": ("fork()", "run-%p.strata"),
        "child": ("start_another()", "run.strata"),
        "nowhere": ("pass", "nowhere/run.strata"),
        "itself": ("record_itself()", "run.strata"),
    }

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            cls.done = dict(zip(cls.PROGRAMS, pool.map(cls.run_one, cls.PROGRAMS)))

    @classmethod
    def run_one(cls, name):
        then, trace = cls.PROGRAMS[name]
        os.mkdir(os.path.join(cls.folder.name, name))
        return subprocess.run(
            [sys.executable, "-c", PROGRAM.format(then=then)],
            env=dict(os.environ, STRATA_TRACE=os.path.join(cls.folder.name, name, trace)),
            capture_output=True, text=True, timeout=200,
        )

    def path(self, name, file="run.strata"):
        return os.path.join(self.folder.name, name, file)

    def check_runs(self, path, count):
        self.assertEqual([g["graph"] for g in ask("graphs", path)], ["0/0"])
        stages = {s["stage"]: s["content"] for s in ask("stages", path)}
        self.assertEqual(stages["runs"], f"{count} runs")
        self.assertIn("captured:aten", stages)

    def test_to_the_end(self):
        done = self.done["whole"]
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))
        self.check_runs(self.path("whole"), 2)
        self.assertGreater(ask("explain", self.path("whole"))["guards"]["count"], 0)
        self.assertEqual(os.listdir(self.path("whole", "")), ["run.strata"])

    def test_exception(self):
        self.assertEqual(self.done["failed"].returncode, 1)
        self.assertIn("KeyError: 'mine'", self.done["failed"].stderr)
        self.check_runs(self.path("failed"), 2)
        self.assertGreater(ask("explain", self.path("failed"))["guards"]["count"], 0)

    def test_killed(self):
        self.assertEqual(self.done["killed"].returncode, -signal.SIGKILL)
        self.check_runs(self.path("killed"), 2)
        # What PyTorch said lies beside the trace, and can be imported.
        log, other = self.path("killed", "run.strata.torch.log"), self.path("killed", "log.strata")
        subprocess.run([COMMAND, "import", log, "-o", other], check=True, capture_output=True)
        self.assertGreater(ask("explain", other)["guards"]["count"], 0)

    def test_fork(self):
        self.assertEqual(self.done["fork"].returncode, 0, self.done["fork"].stderr)
        self.check_runs(self.path("fork"), 3)

    def test_fork_with_a_trace_each(self):
        self.assertEqual(self.done["fork_each"].returncode, 0, self.done["fork_each"].stderr)
        files = os.listdir(self.path("fork_each", ""))
        self.assertEqual(len(files), 2, files)
        self.assertTrue(all(re.fullmatch(r"run-\d+\.strata", file) for file in files), files)
        addresses = [[g["graph"] for g in ask("graphs", self.path("fork_each", file))] for file in files]
        self.assertEqual(sorted(addresses), [["0/0"], ["1/0"]])

    def test_child_process(self):
        """One that is started anew must not replace the trace."""
        self.assertEqual(self.done["child"].returncode, 0, self.done["child"].stderr)
        self.assertIn("%p", self.done["child"].stderr)
        self.check_runs(self.path("child"), 2)

    def test_bad_path(self):
        done = self.done["nowhere"]
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"))
        self.assertIn("STRATA_TRACE", done.stderr)
        self.assertIn("nowhere/run.strata", done.stderr)

    def test_program_that_records_itself(self):
        self.assertEqual(self.done["itself"].returncode, 0, self.done["itself"].stderr)
        self.assertIn("records itself", self.done["itself"].stderr)
        self.check_runs(self.path("itself"), 2)
        self.assertEqual([g["graph"] for g in ask("graphs", self.path("itself", "own.strata"))], ["before:0/0"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
