# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One OpenMP runtime in the process, whichever of PyTorch and Strata is loaded first.

PyTorch's wheels bring their own `libgomp`; up to 2.6 as a file of another name. Whoever asks for `libgomp.so.1` is given one that is
loaded already, but who asks for that other name is not given the system's. So PyTorch's goes first, where there is one.
"""
import importlib.util
import os
import sys


def load_pytorchs():
    """Loads the runtime that PyTorch would load, without loading PyTorch."""
    if "torch" in sys.modules:
        return
    try:
        places = importlib.util.find_spec("torch").submodule_search_locations or ()
    except (AttributeError, ImportError, ValueError):
        return
    for place in places:
        folder = os.path.join(place, "lib")
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if name.startswith("libgomp"):
                _load(os.path.join(folder, name))


def _load(path):
    import ctypes

    try:
        ctypes.CDLL(path)
    except OSError:
        pass  # PyTorch will say so itself
