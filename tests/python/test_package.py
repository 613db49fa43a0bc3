#!/usr/bin/env python3
"""The Python package on the sample models: results against PyTorch's, errors, recording. Needs nothing but the standard library."""
import array
import ast
import os
import struct
import sys
import tempfile
import unittest

import strata

MODELS = sys.argv.pop()


def read_npy(path):
    """(memoryview with shape, flat list) of a little-endian C-ordered .npy file."""
    with open(path, "rb") as f:
        data = f.read()
    size, = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10:10 + size].decode())
    code = {"<f4": "f", "<i8": "q"}[header["descr"]]
    flat = array.array(code, data[10 + size:])
    return memoryview(flat).cast("B").cast(code, header["shape"]), flat


def flatten(view):
    return array.array(view.format, memoryview(view).tobytes()) if view.contiguous else None


class Package(unittest.TestCase):
    def check(self, model, folder, backend):
        compiled = strata.load(f"{MODELS}/{model}/{model.removesuffix('_dynamic')}.pt2", backend=backend, threads=2)
        outputs = compiled(read_npy(f"{folder}/input_0.npy")[0])
        for i, out in enumerate(outputs):
            _, expected = read_npy(f"{folder}/output_{i}.npy")
            got = flatten(memoryview(out))
            self.assertEqual(len(got), len(expected))
            largest = max(abs(x) for x in expected)
            self.assertGreater(largest, 0)
            self.assertLess(max(abs(a - b) for a, b in zip(got, expected)), 1e-4 * largest)

    def test_every_backend_gives_pytorch_results(self):
        for backend in ("strata", "unfused", "interpret"):
            for model in ("cnn_fmnist", "bert"):
                with self.subTest(backend=backend, model=model):
                    self.check(model, f"{MODELS}/{model}", backend)

    def test_errors_name_what_is_wrong(self):
        with self.assertRaisesRegex(strata.StrataError, "no backend 'strat'.*did you mean 'strata'"):
            strata.load(f"{MODELS}/cnn_fmnist/cnn_fmnist.pt2", backend="strat")
        with self.assertRaises(strata.StrataError):
            strata.load("/nonexistent.pt2")
        model = strata.load(f"{MODELS}/cnn_fmnist/cnn_fmnist.pt2")
        with self.assertRaises(strata.StrataError):
            model(array.array("f", [1.0]))

    def test_without_pytorch_the_rest_works_and_it_is_said(self):
        try:
            import torch
            if tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 4):
                self.skipTest("this Python has PyTorch")
            found = torch.__version__
        except ImportError:
            found = "there is none"
        for call in (lambda: strata.compile(lambda x: x), lambda: strata.explain(lambda x: x), strata.reports, strata.reset):
            with self.assertRaisesRegex(strata.StrataError, "needs PyTorch 2.4 or later, and.*" + found):
                call()

    def test_recording_leaves_one_closed_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.strata")
            with strata.record(path):
                self.check("cnn_fmnist", f"{MODELS}/cnn_fmnist", "strata")
            self.assertEqual(os.listdir(folder), ["run.strata"])


if __name__ == "__main__":
    unittest.main()
