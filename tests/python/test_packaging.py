#!/usr/bin/env python3
"""The wheel: what is in it, and that it can be used where nothing else of Strata is.

The package that CMake has built is packed, not built again: PYTHONPATH names its folder, such as build/python.
Exit code 77 (skipped) where that was built for another Python.
"""
import base64
import csv
import glob
import hashlib
import importlib.util
import io
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import unittest
import venv
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.abspath(os.path.join(os.environ.get("PYTHONPATH", "").split(os.pathsep)[0], "strata"))
if not glob.glob(os.path.join(PACKAGE, f"_strata.{sysconfig.get_config_var('SOABI')}.so")):
    print(f"skipped: {PACKAGE} was built for another Python")
    sys.exit(77)

sys.path.insert(0, os.path.join(ROOT, "app", "python", "packaging"))
import strata_wheel

# Calls into the module, which has to load all that it needs.
USE = """
import strata
try: strata.load("/there/is/none.pt2")
except strata.StrataError: print(strata.__file__)
"""


def output(*command, **more):
    """What a command prints; it sees neither this test's environment for Python nor its folder."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment.update(more)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd="/", timeout=300)
    if done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr[-3000:]}")
    return done.stdout


def has_pip():
    return all(importlib.util.find_spec(name) for name in ("pip", "ensurepip"))


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.name = strata_wheel.build_wheel(cls.folder.name, {"package": PACKAGE})
        cls.path = os.path.join(cls.folder.name, cls.name)
        cls.site = os.path.join(cls.folder.name, "site")
        with zipfile.ZipFile(cls.path) as wheel:
            wheel.extractall(cls.site)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_name_says_what_it_runs_on(self):
        python = "cp%d%d" % sys.version_info[:2]
        self.assertEqual(self.name.split("-")[0], "strata")
        self.assertEqual(self.name.split("-")[2:], [python, python, f"linux_{platform.machine()}.whl"])
        with zipfile.ZipFile(self.path) as wheel:
            information = wheel.read(f"strata-{strata_wheel.VERSION}.dist-info/WHEEL").decode()
        self.assertIn(f"Tag: {python}-{python}-linux_{platform.machine()}\n", information)

    def test_every_file_is_recorded(self):
        record = f"strata-{strata_wheel.VERSION}.dist-info/RECORD"
        with zipfile.ZipFile(self.path) as wheel:
            rows = list(csv.reader(io.StringIO(wheel.read(record).decode())))
            self.assertEqual(sorted(row[0] for row in rows), sorted(wheel.namelist()))
            for name, digest, size in rows:
                data = wheel.read(name)
                if name != record:
                    expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                    self.assertEqual((digest, size), ("sha256=" + expected, str(len(data))), name)
            for module in glob.glob(os.path.join(PACKAGE, "*.py")):
                self.assertIn("strata/" + os.path.basename(module), wheel.namelist())

    def test_the_same_package_gives_the_same_wheel(self):
        with tempfile.TemporaryDirectory() as other:
            strata_wheel.build_wheel(other, {"package": PACKAGE})
            with open(self.path, "rb") as first, open(os.path.join(other, self.name), "rb") as second:
                self.assertEqual(hashlib.sha256(first.read()).digest(), hashlib.sha256(second.read()).digest())

    def test_unpacked_it_is_used(self):
        place = output(sys.executable, "-s", "-c", USE, PYTHONPATH=self.site)
        self.assertTrue(place.startswith(self.site), place)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "needs PyTorch")
    def test_torch_compile_finds_it_without_an_import(self):
        code = """
import sys, torch
if not hasattr(torch, "compile"): sys.exit()
assert "strata" not in sys.modules
x = torch.randn(8)
with torch.no_grad(): y = torch.compile(lambda x: x.sin() + 1, backend="strata")(x)
torch.testing.assert_close(y, x.sin() + 1)
assert all(report.compiled for report in sys.modules["strata"].reports()), sys.modules["strata"].reports()
assert torch._dynamo.list_backends().count("strata") == 1
import strata
assert torch._dynamo.list_backends().count("strata") == 1
assert strata.compile(lambda x: x * 2)(x).equal(x * 2)
"""
        output(sys.executable, "-s", "-c", code, PYTHONPATH=self.site, CUDA_VISIBLE_DEVICES="")

    @unittest.skipUnless(has_pip(), "needs pip and venv")
    def test_pip_installs_it_in_a_fresh_environment(self):
        place = os.path.join(self.folder.name, "environment")
        venv.create(place, with_pip=True)
        python = os.path.join(place, "bin", "python")
        install = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
        for more in ([], ["--editable"]):
            with self.subTest(more):
                output(*install, f"--config-settings=package={PACKAGE}", *more, ROOT)
                module = output(python, "-s", "-c", USE)
                self.assertTrue(module.startswith(PACKAGE if more else place), module)
                points = "from importlib.metadata import entry_points as e; print(e(group='torch_dynamo_backends')['strata'].value)"
                if sys.version_info >= (3, 10):
                    self.assertEqual(output(python, "-s", "-c", points).strip(), "strata._register:_backend")
                output(python, "-m", "pip", "uninstall", "--quiet", "--yes", "strata")

    def test_a_package_for_another_python_is_refused(self):
        with tempfile.TemporaryDirectory() as empty, self.assertRaises(SystemExit) as refused:
            strata_wheel.build_wheel(empty, {"package": empty})
        self.assertIn(f"no module for Python {platform.python_version()}", str(refused.exception))

    def test_libraries_of_a_bundle_are_complete(self):
        module = glob.glob(os.path.join(PACKAGE, "_strata.*.so"))[0]
        found = strata_wheel._libraries(module)
        self.assertIn("libdnnl.so.2", found)
        for own in ("libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0"):
            self.assertNotIn(own, found)
        self.assertTrue(all(path.is_file() for path in found.values()), found)

    @unittest.skipUnless(shutil.which("git") and os.path.isdir(os.path.join(ROOT, ".git")), "needs git's list of files")
    def test_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(os.path.join(folder, strata_wheel.build_sdist(folder))) as archive:
                names = archive.getnames()
        base = f"strata-{strata_wheel.VERSION}/"
        for needed in ("PKG-INFO", "pyproject.toml", "CMakeLists.txt", "app/python/packaging/strata_wheel.py"):
            self.assertIn(base + needed, names)

    def test_sources_without_git(self):
        path, os.environ["PATH"] = os.environ["PATH"], "/nowhere"
        try:
            with tempfile.TemporaryDirectory() as folder, self.assertRaises(SystemExit) as refused:
                strata_wheel.build_sdist(folder)
        finally:
            os.environ["PATH"] = path
        self.assertIn("those that git lists in", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
