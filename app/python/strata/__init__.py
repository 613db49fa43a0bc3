# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Strata from Python: compile exported PyTorch programs without PyTorch, and record how it went.

    import strata
    model = strata.load("bert.pt2")                      # backend="strata", "unfused" or "interpret"
    outputs = model(numpy_array)                         # anything with the buffer protocol in, Tensors out
    numpy.asarray(outputs[0])                            # no copy

    with strata.record("run.strata"):
        strata.load("bert.pt2")(numpy_array)             # the trace opens in strata-studio

With PyTorch 2.4 or later, importing this package also makes it a backend of `torch.compile`:

    import strata, torch
    fast = torch.compile(model, backend="strata")        # or strata.compile(model)
"""
from contextlib import contextmanager as _contextmanager

from ._strata import Model, StrataError, Tensor, list_backends
from ._strata import load as _load
from ._strata import start_recording as _start_recording
from ._strata import stop_recording as _stop_recording
from ._register import register as _register

__all__ = [
    "Model", "StrataError", "Tensor", "compile", "explain", "list_backends", "load", "record", "reports", "reset"
]

_register()


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


# --------------------------------------------------------------------------------------------------------------- PyTorch


def _with_torch():
    """The part that needs PyTorch. Raises StrataError when there is none, or one without `torch.compile`."""
    try:
        import torch
    except ImportError as error:
        raise StrataError("this needs PyTorch 2.4 or later, and there is none; pip install torch") from error
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < (2, 4):
        raise StrataError(f"this needs PyTorch 2.4 or later, and found {torch.__version__}; pip install --upgrade torch")
    from . import _torch as module

    return module


def compile(model=None, *, fullgraph=False, dynamic=None, backend="strata", mode="default", options=None, disable=False):
    """`torch.compile` with Strata as the default backend; also a decorator.

    `fullgraph` True: a graph break is an error. `dynamic` True: sizes are symbols from the first call on; None: from the second size
    on; False: one compile per size. `mode` is "default", "reduce-overhead" or "max-autotune". `options`: `threads` (int), `disabled_passes`
    (names), `backend` ("strata", "unfused", "interpret"). `disable` True: the model as it is. Raises StrataError without PyTorch 2.4.
    """
    _with_torch()
    import torch

    merged = dict(options or {})
    if backend == "strata":
        merged["mode"] = mode
    arguments = dict(fullgraph=fullgraph, dynamic=dynamic, backend=backend, options=merged or None, disable=disable)
    if model is None:
        return lambda function: torch.compile(function, **arguments)
    return torch.compile(model, **arguments)


def explain(function, *args, **kwargs):
    """Runs `function(*args, **kwargs)` and says what became of it: graphs, breaks with reasons, guards, and what Strata made of
    each graph. Without arguments, returns a function that takes them. See `strata._torch.Explanation`."""
    return _with_torch().explain(function, *args, **kwargs)


def reports():
    """One report per graph that `torch.compile` handed to Strata: `name`, `nodes`, `compiled`, `reason`."""
    return _with_torch().reports()


def reset():
    """Forgets everything that was compiled through `torch.compile`, and the reports."""
    module = _with_torch()
    import torch

    torch._dynamo.reset()
    module.reset()
