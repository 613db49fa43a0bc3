# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls a function with a module as soon as somebody has loaded it."""
import importlib.abc
import importlib.util
import sys


class _Loader(importlib.abc.Loader):
    def __init__(self, loader, then):
        self.loader, self.then = loader, then

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        self.then(module)


class WhenLoaded(importlib.abc.MetaPathFinder):
    """`then(module)` is called once, after `begin()`."""

    def __init__(self, name, then):
        self.name, self.then = name, then

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        self.forget()
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.then)
        return spec

    def begin(self):
        """Calls it at once where the module is there. Does nothing while it waits already."""
        if self.name in sys.modules:
            self.then(sys.modules[self.name])
        elif self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def forget(self):
        if self in sys.meta_path:
            sys.meta_path.remove(self)
