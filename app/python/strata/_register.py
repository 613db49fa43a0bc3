# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes `torch.compile(..., backend="strata")` known as soon as somebody loads PyTorch's list of backends.

Importing `strata` must not import PyTorch (a second, and not everyone has it), and PyTorch's own compiler is loaded by the first call of
`torch.compile` only. So this waits for that module to be loaded.
"""
import importlib.abc
import importlib.util
import sys

_REGISTRY = "torch._dynamo.backends.registry"


def _backend(gm, inputs, **more):
    from ._torch import backend

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


class _Loader(importlib.abc.Loader):
    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        _register(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != _REGISTRY:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def register():
    """Registers now if PyTorch's list is loaded, else when it is. Does nothing the second time."""
    if _REGISTRY in sys.modules:
        _register(sys.modules[_REGISTRY])
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
