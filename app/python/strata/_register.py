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


def _register(registry):
    if "strata" not in getattr(registry, "_BACKENDS", {}):
        registry.register_backend(compiler_fn=_backend, name="strata")


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
