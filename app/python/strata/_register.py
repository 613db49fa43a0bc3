# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes `torch.compile(..., backend="strata")` known as soon as somebody loads PyTorch's list of backends.

Importing `strata` must not import PyTorch (a second, and not everyone has it), and PyTorch's own compiler is loaded by the first call of
`torch.compile` only. So this waits for that module to be loaded.
"""
import contextlib
import gc
import sys
import warnings

from ._when_loaded import WhenLoaded

_REGISTRY = "torch._dynamo.backends.registry"


@contextlib.contextmanager
def _collection_paused():
    """No garbage collection meanwhile. A full one looks at all that PyTorch has loaded, which can take longer than compiling does."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _backend(gm, inputs, **more):
    with _collection_paused():
        try:
            from ._torch import backend
        except (AttributeError, ImportError) as error:
            # What this package uses of PyTorch is not there, as in a version newer than itself: the program runs as before, and it is said.
            import torch

            warnings.warn(
                f"strata cannot use PyTorch {torch.__version__} ({type(error).__name__}: {error}); what is compiled with it runs as without "
                "torch.compile. A version of strata that knows this PyTorch is needed, or another PyTorch",
                stacklevel=2,
            )
            return gm.forward
        return backend(gm, inputs, **more)


_functions = {"strata": _backend}


def _register(registry):
    for name, function in _functions.items():
        if name not in getattr(registry, "_BACKENDS", {}):
            registry.register_backend(compiler_fn=function, name=name)


def add(name, function):
    """Makes one more backend known to PyTorch, now or when its list is loaded. One that was added under this name gives way."""
    _functions[name] = function
    registry = sys.modules.get(_REGISTRY)
    if hasattr(registry, "list_backends"):  # loaded, and not just being so
        for names in (registry._BACKENDS, getattr(registry, "_COMPILER_FNS", {})):
            names.pop(name, None)
        _register(registry)


_waiting = WhenLoaded(_REGISTRY, _register)


def register():
    """Registers now if PyTorch's list is loaded, else when it is. Does nothing the second time."""
    _waiting.begin()
