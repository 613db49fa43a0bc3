# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Strata from Python: compile exported PyTorch programs without PyTorch, and record how it went.

    import strata
    model = strata.load("bert.pt2")                      # backend="strata", "unfused" or "interpret"
    outputs = model(numpy_array)                         # anything with the buffer protocol in, Tensors out
    numpy.asarray(outputs[0])                            # no copy

    with strata.record("run.strata"):
        strata.load("bert.pt2")(numpy_array)             # the trace opens in strata-studio
"""
from contextlib import contextmanager as _contextmanager

from ._strata import Model, StrataError, Tensor, list_backends
from ._strata import load as _load
from ._strata import start_recording as _start_recording
from ._strata import stop_recording as _stop_recording

__all__ = ["Model", "StrataError", "Tensor", "list_backends", "load", "record"]


def load(path, *, backend="strata", mode="default", threads=0, disabled_passes=()):
    """Loads and compiles a `.pt2` file (PyTorch 2.9 or later).

    `threads` 0 means all cores. `disabled_passes` names passes to leave out. Raises StrataError for files, backends or modes that
    cannot be used, with what was expected and found.
    """
    return _load(str(path), backend, mode, threads, set(disabled_passes))


@_contextmanager
def record(path):
    """Records every compile and run inside into a trace at `path`. An exception inside leaves the trace as far as it got."""
    _start_recording(str(path))
    try:
        yield
    finally:
        _stop_recording()
