# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of bench_cpu.py: exported ones with their own inputs, and networks at given batches: those of tests/bridge/models.py, and
LIBRARY:NAME of those that tests/opinfo/run_networks.py builds."""
import fnmatch
import glob
import os
import sys

import numpy
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [f"{ROOT}/tests/bridge", f"{ROOT}/tests/opinfo"]


def fixture_files(folder):
    """Name to .pt2 file, of FOLDER/NAME/*.pt2."""
    files = sorted(glob.glob(f"{folder}/*/*.pt2"))
    return {os.path.basename(os.path.dirname(file)): file for file in files}


def case_folders(file):
    """The folders with inputs of a program, the one beside it alone where there is one: a static program has one shape."""
    own = os.path.dirname(file)
    if os.path.exists(f"{own}/input_0.npy"):
        return [own]
    return sorted(folder for folder in glob.glob(f"{own}/*/") if os.path.exists(f"{folder}/input_0.npy"))


def network_names():
    from models import BY_HAND, MODELS

    try:
        import transformers  # noqa: F401
    except ImportError:
        return [make.__name__ for make in BY_HAND]
    return list(MODELS)


def programs(folder):
    """Name to a .pt2 file or, for networks, the name in models.MODELS. A network of an exported program's name is NAME_small."""
    files = fixture_files(folder)
    return {**files, **{name + "_small" if name in files else name: name for name in network_names()}}


def library_networks(pattern):
    """The LIBRARY:NAME that a pattern such as timm:* stands for."""
    from run_networks import LIBRARIES

    library, name = pattern.split(":", 1)
    if library not in LIBRARIES:
        return []
    return [f"{library}:{found}" for found in LIBRARIES[library][0]() if fnmatch.fnmatch(found, name)]


class OfTensors(torch.nn.Module):
    """A network of a library that takes tensors only, in order; what else it is called with stays."""

    def __init__(self, network, arguments, keywords):
        super().__init__()
        self.network = network
        self.count = len(arguments)
        self.names = [name for name, value in keywords.items() if isinstance(value, torch.Tensor)]
        self.others = {name: value for name, value in keywords.items() if name not in self.names}
        self.inputs = [*arguments, *(keywords[name] for name in self.names)]
        if not all(isinstance(x, torch.Tensor) for x in self.inputs):
            raise RuntimeError("it takes more than tensors")

    def forward(self, *tensors):
        return self.network(*tensors[: self.count], **dict(zip(self.names, tensors[self.count :])), **self.others)


def _of_library(name):
    from run_networks import LIBRARIES

    library, name = name.split(":", 1)
    module = OfTensors(*LIBRARIES[library][1](name))
    return module, module.__dict__.pop("inputs")


def is_exported(program):
    return program.endswith(".pt2")


def _exported(file, case):
    module = torch.export.load(file).module(check_guards=False)
    folder = next(f for f in case_folders(file) if case in ("own", os.path.basename(f.rstrip("/"))))
    inputs = [torch.from_numpy(numpy.load(path)) for path in sorted(glob.glob(f"{folder}/input_*.npy"))]
    return module, inputs


def _with_batch(inputs, batch):
    """Inputs with so many rows, where all have the same number."""
    if len({x.shape[0] for x in inputs}) > 1:
        return inputs
    repeats = -(-batch // inputs[0].shape[0])
    return [x.repeat(repeats, *[1] * (x.dim() - 1))[:batch].contiguous() for x in inputs]


def make(name, case, dtype, folder):
    """A module in evaluation mode and its inputs. `case`: "own" or a folder's name for exported programs, else the batch. Reproducible."""
    torch.manual_seed(0)
    program = name if ":" in name else programs(folder)[name]
    if ":" in program:
        module, inputs = _of_library(program)
        module.eval()
        inputs = _with_batch(inputs, int(case))
    elif is_exported(program):
        module, inputs = _exported(program, case)
    else:
        from models import MODELS

        module, calls = MODELS[program]()
        module.eval()
        inputs = _with_batch(list(calls[0]), int(case))
    module.to(dtype)
    return module, [x.to(dtype) if x.is_floating_point() else x for x in inputs]


def is_dynamic(name):
    return name.endswith("_dynamic")
