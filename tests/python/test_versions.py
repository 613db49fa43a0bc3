#!/usr/bin/env python3
"""What depends on the version of PyTorch: how tensors cross, which OpenMP runtime serves, what is said where PyTorch is missing or old.

The first part needs PyTorch 2.4 or later. Exit code 77 (skipped) where the package was built for another Python.
"""
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

try:
    import strata
except ModuleNotFoundError as error:
    print(f"skipped: the package was built for another Python ({error})")
    sys.exit(77)

try:
    import torch
except ImportError:
    torch = None
modern = torch is not None and tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 4)

TYPES = ("bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
         "complex64 complex128").split()

# Each way is taken by hiding the better ones before the first tensor crosses.
WAYS = {
    "PyTorch's own table": "",
    "libtorch's C functions": "del torch.Tensor.__dlpack_c_exchange_api__",
    "methods": "del torch.Tensor.__dlpack_c_exchange_api__\ndel torch._C._aoti",
}


def run(code, **environment):
    """Runs code in a Python of its own; its output, and what it said at the end when it failed."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=200,
                          env={**os.environ, **environment})
    return done.stdout.strip() if done.returncode == 0 else "failed: " + done.stderr[-2000:]


def exchange():
    """Tensors of every element type and layout, in and out; runs in a process of its own."""
    from strata._torch import backend

    def check(function, *inputs, same=torch.equal):
        gm = torch.fx.symbolic_trace(function)
        before = [sys.getrefcount(x) for x in inputs]
        compiled = backend(gm, list(inputs))
        report = strata.reports()[-1]
        assert report.compiled, report
        for _ in range(3):
            got, expected = compiled(*inputs)[0], function(*inputs)[0]
            assert got.dtype == expected.dtype and got.shape == expected.shape, (got.dtype, got.shape)
            assert same(got, expected), (inputs, got, expected)
        del compiled
        assert [sys.getrefcount(x) for x in inputs] == before

    for name in TYPES:
        dtype = getattr(torch, name)
        values = torch.randint(0, 2 if name == "bool" else 100, (6, 8, 10)).to(torch.int32)
        tensor = values.to(dtype)
        layouts = [tensor, tensor[1:5:2, ::3, 4:], tensor[0, 0, 7], tensor[:, :0], tensor.transpose(0, 2)]
        for x in layouts:
            check(lambda x: (x.clone(),), x)
    x, weight = torch.randn(3, 4), torch.nn.Parameter(torch.randn(5, 4))
    with torch.no_grad():
        check(lambda x, w: (torch.nn.functional.linear(x, w),), x, weight, same=lambda a, b: torch.allclose(a, b, atol=1e-5))
        # Written in place: into the caller's memory.
        y = torch.zeros(4, 4)
        backend(torch.fx.symbolic_trace(lambda y, x: (y[1:].add_(x),)), [y, x])(y, x)
        assert torch.equal(y[1:], x) and not y[0].any()
    refused(backend, x)
    print("ok")


def refused(backend, x):
    """Another device than at the time of compiling: an error, not a crash."""
    compiled = backend(torch.fx.symbolic_trace(lambda x: (x + 1,)), [x])
    for wrong in (x.to("meta"), None, "text"):
        try:
            compiled(wrong)
        except (strata.StrataError, TypeError, RuntimeError):
            continue
        raise AssertionError(f"{wrong} was taken")


@unittest.skipUnless(modern, "needs PyTorch 2.4 or later")
class WithPyTorch(unittest.TestCase):
    def test_tensors_cross_in_every_way(self):
        has_table = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
        for way, hide in WAYS.items():
            if not has_table:
                hide = hide.replace("del torch.Tensor.__dlpack_c_exchange_api__", "")
            with self.subTest(way):
                code = f"import torch\n{hide}\nimport sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
                self.assertEqual(run(code + "import test_versions; test_versions.exchange()"), "ok")

    def test_one_openmp_and_one_backend_whichever_comes_first(self):
        code = """
import os
compiled = torch.compile(lambda x: (x.sin() * x.cos()).sum(-1), backend="strata")
x = torch.randn(512, 4096)
with torch.no_grad():
    (x @ x.t()).sum()
    x.sin()
    compiled(x)
assert strata.reports()[0].compiled
print(torch._dynamo.backends.registry.lookup_backend("strata").__module__)
print(len({line.split()[-1] for line in open("/proc/self/maps") if "libgomp" in line}))
"""
        for imports in ("import strata, torch", "import torch, torch._dynamo, strata"):
            with self.subTest(imports):
                self.assertEqual(run(imports + code), "strata._register\n1")

    def test_a_pytorch_that_lacks_what_is_used_of_it(self):
        """As a later one may: programs run without the backend, and it is said."""
        code = """
import sys, warnings
import torch, strata
sys.modules["strata._simpler"] = None  # cannot be imported
x = torch.randn(3, 4)
with warnings.catch_warnings(record=True) as said, torch.no_grad():
    warnings.simplefilter("always")
    print(torch.equal(torch.compile(lambda x: x.sin() + 1, backend="strata")(x), x.sin() + 1))
print([str(w.message).split(" (")[0] for w in said if "strata" in str(w.message)])
"""
        self.assertEqual(run(code), f"True\n['strata cannot use PyTorch {torch.__version__}']")

    def test_weights_that_modules_hold_are_inputs(self):
        from strata._lifted import lift

        module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)).eval()
        x = torch.randn(2, 4)
        graph, inputs, bind = lift(torch.fx.symbolic_trace(module), [x])
        self.assertEqual(len(inputs), 2 + 5 + 1)
        call = bind(graph.forward)
        with torch.no_grad():
            torch.testing.assert_close(call(x), module(x))
            module[0].weight.mul_(2)
            torch.testing.assert_close(call(x), module(x))
            self.assertEqual(list(graph.parameters()), [])


class WithoutPyTorch(unittest.TestCase):
    """In place of PyTorch: nothing, a package of an old version, one that cannot be loaded."""

    def stand_in(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.mkdir(os.path.join(folder.name, "torch"))
        with open(os.path.join(folder.name, "torch", "__init__.py"), "w") as file:
            file.write(text)
        return os.pathsep.join([folder.name, os.environ.get("PYTHONPATH", "")])

    def said(self, path, before="", call="strata.compile(abs)"):
        code = f"{before}\nimport strata\ntry: {call}\nexcept strata.StrataError as e: print(e)"
        return run(code, PYTHONPATH=path)

    def test_missing(self):
        for call in ("strata.compile(abs)", "strata.explain(abs)", "strata.reports()", "strata.reset()"):
            said = self.said(os.environ.get("PYTHONPATH", ""), "import sys; sys.modules['torch'] = None", call)
            self.assertIn("needs PyTorch 2.4 or later, and there is none", said)

    def test_old(self):
        said = self.said(self.stand_in("__version__ = '1.13.1'"))
        self.assertIn("needs PyTorch 2.4 or later, and found 1.13.1", said)

    def test_broken(self):
        said = self.said(self.stand_in("raise ImportError('libcudnn.so.9: cannot open shared object file')"))
        self.assertIn("libcudnn.so.9", said)
        self.assertNotIn("there is none", said)


if __name__ == "__main__":
    unittest.main()
