# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of the backend begin with: PyTorch 2.4 or later, and the package for this Python; else exit code 77 (skipped)."""
import importlib.util
import sys


def check():
    """Ends the process with exit code 77 where something is missing; gives PyTorch's version as (major, minor)."""
    if importlib.util.find_spec("torch") is None:
        _skip("this Python has no PyTorch (set STRATA_TORCH_PYTHON to one that has 2.4 or later)")
    import torch

    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < (2, 4):
        _skip(f"PyTorch {torch.__version__} has no backends of this kind; 2.4 or later is needed")
    try:
        importlib.import_module("strata")
    except ModuleNotFoundError as error:
        _skip(f"the package was built for another Python ({error})")
    return version


def _skip(why):
    print(f"skipped: {why}")
    sys.exit(77)
