# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Strata from Python: compile exported PyTorch programs without PyTorch, and record how it went.

    import strata
    model = strata.load("bert.pt2")                      # backend="strata", "unfused" or "interpret"
    outputs = model(numpy_array)                         # anything with the buffer protocol in, Tensors out; bfloat16 as its bits, uint16
    numpy.asarray(outputs[0])                            # no copy; nor has torch.from_dlpack(outputs[0])
    outputs = model(torch_tensor)                        # torch.Tensors in, torch.Tensors out (of the CPU; without gradients)

    with strata.record("run.strata"):
        strata.load("bert.pt2")(numpy_array)             # the trace opens in strata-studio

With PyTorch 2.4 or later, importing this package also makes it a backend of `torch.compile`:

    import strata, torch
    fast = torch.compile(model, backend="strata")        # or strata.compile(model)
"""
from . import _openmp

_openmp.load_pytorchs()  # before the module below loads another

from ._backends import Backend, register_backend
from ._backends import arguments_of_torch as _arguments_of_torch
from ._backends import backends as _backends_of
from ._inspect import graph_svg, graph_text
from ._strata import Model, StrataError, Tensor
from ._strata import load as _load
from ._record import begin_from_environment as _begin_from_environment
from ._record import record
from ._register import register as _register

__all__ = [
    "Backend", "Model", "StrataError", "Tensor", "backends", "compile", "explain", "graph_svg", "graph_text", "list_backends", "load",
    "record", "register_backend", "reports", "reset"
]

_register()
_begin_from_environment()


def load(path, *, backend="strata", mode="default", threads=0, disabled_passes=()):
    """Loads and compiles a `.pt2` file (PyTorch 2.9 or later).

    `threads` 0 means all cores. `disabled_passes` names passes to leave out. Raises StrataError for files, backends or modes that
    cannot be used, with what was expected and found.

    The model takes one array or `torch.Tensor` per input (an int for a size) and gives a list: of `torch.Tensor`s where an
    argument is one, else of `strata.Tensor`s; numbers are tensors without dimensions, None and strings stay what they are. Results may
    share memory with inputs that the program returns as views.
    """
    return _load(str(path), backend, mode, threads, set(disabled_passes))


# --------------------------------------------------------------------------------------------------------------- PyTorch


def _with_torch():
    """The part that needs PyTorch. Raises StrataError when there is none, or one without `torch.compile`."""
    try:
        import torch
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        found = "there is none; pip install torch" if missing else f"the one here cannot be loaded: {error}"
        raise StrataError(f"this needs PyTorch 2.4 or later, and {found}") from error
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < (2, 4):
        raise StrataError(f"this needs PyTorch 2.4 or later, and found {torch.__version__}; pip install --upgrade torch")
    from . import _torch as module

    return module


def compile(model=None, *, fullgraph=False, dynamic=None, backend="strata", mode="default", options=None, disable=False):
    """`torch.compile` with Strata as the default backend; also a decorator.

    `fullgraph` True: a graph break is an error. `dynamic` True: sizes are symbols from the first call on; None: from the second size
    on; False: one compile per size. `backend`: a name of `list_backends()`, or a callable as for `torch.compile`. `mode` is "default",
    "reduce-overhead" or "max-autotune". `options` of Strata: `threads` (int), `disabled_passes` (names), `backend` ("strata", "unfused",
    "interpret"); other backends get theirs. `disable` True: the model as it is. Raises StrataError without PyTorch 2.4, and at once
    for arguments, modes and options that there are not. docs/options.md has them all.
    """
    _with_torch()
    import torch

    from ._recurrent import allow_recurrent

    arguments = _arguments_of_torch(fullgraph, dynamic, backend, mode, options, disable)

    def compiled(function):
        if not callable(function):
            raise StrataError(f"a function or module is expected, and this is a {type(function).__name__}")
        made = torch.compile(function, **arguments)
        return allow_recurrent(made, function) if backend == "strata" else made

    return compiled if model is None else compiled(model)


def backends():
    """One `Backend` (name, kind, available, doc, why_not) per backend: Strata's own and, where PyTorch 2.4 or later is installed,
    registered ones and PyTorch's."""
    try:
        _with_torch()
    except StrataError:
        return _backends_of(with_pytorch=False)
    return _backends_of()


def list_backends():
    """The names of the backends that `compile` can use here; `backends()` says more. `load` takes "strata", "unfused", "interpret"."""
    return [row.name for row in backends() if row.available]


def explain(function, *args, **kwargs):
    """Runs `function(*args, **kwargs)` once, compiled by Strata, and says what became of it: graphs, breaks with their lines and a way
    out, guards, what PyTorch still runs and why. Without arguments, returns a function that takes them. What Dynamo has compiled
    before is compiled anew when it is next called, as after `torch._dynamo.explain`. See `strata._explain.Explanation`."""
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
