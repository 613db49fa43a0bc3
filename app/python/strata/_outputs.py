# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How the caller gets what the graph returns.

Which outputs are views of inputs or of one another is read off the fake tensors; those are made anew in every call, so that they
share memory as PyTorch's would.
"""
import collections
import math
import re

import torch

try:
    from torch.utils._sympy.printers import PythonPrinter
except ImportError:
    PythonPrinter = None

from ._capture import draws
from ._control_flow import CHECKS
from ._left import Left
from ._rewrite import owner


def _storage(value):
    return value.untyped_storage()._cdata


def _sizes(values):
    """Sizes as the compiled call takes them: whole numbers and expressions in the symbols; a function of the symbols' values where
    an expression is of a kind that only Python can evaluate."""
    exprs = [v if isinstance(v, int) else v.node.expr for v in values]
    texts = [v if isinstance(v, int) else str(v) for v in exprs]
    if not any(isinstance(text, str) and _BY_PYTHON.search(text) for text in texts):
        return texts
    code = compile("(" + "".join(f"{v if isinstance(v, int) else _in_python(v)}," for v in exprs) + ")", "<sizes>", "eval")
    return lambda symbols: [int(v) for v in eval(code, _FUNCTIONS, symbols)]


# Functions beyond whole numbers, and true division.
_BY_PYTHON = re.compile(r"\b(?!(?:Max|Min|Mod|PythonMod|FloorDiv|CleanDiv|Pow|PowByNatural|ModularIndexing|Identity)\()\w+\(|(?<!/)/(?!/)")


def _in_python(expr):
    """An expression as PyTorch writes those of its guards, or sympy where PyTorch is older."""
    return PythonPrinter().doprint(expr) if PythonPrinter else str(expr)


_FUNCTIONS = {
    "math": math,
    "abs": abs,
    "float": float,
    "int": int,
    "max": max,
    "min": min,
    "round": round,
    "torch": torch,
    # as sympy writes them
    "Max": max,
    "Min": min,
    "Mod": lambda a, b: a % b,
    "PythonMod": lambda a, b: a % b,
    "FloorDiv": lambda a, b: a // b,
    "CleanDiv": lambda a, b: a // b,
    "CeilToInt": math.ceil,
    "FloorToInt": math.floor,
    "FloatTrueDiv": lambda a, b: a / b,
    "Pow": pow,
    "PowByNatural": pow,
    "IntTrueDiv": lambda a, b: a / b,
    "TruncToInt": int,
    "ToFloat": float,
    "__builtins__": {},
}


def _overlaps(fake):
    """Whether different elements of a tensor share memory otherwise than by an expanded dimension; unknown sizes do not count."""
    dims = [(stride, size) for stride, size in zip(fake.stride(), fake.shape) if isinstance(size, int) and isinstance(stride, int)]
    reach = 0
    for stride, size in sorted((stride, size) for stride, size in dims if stride > 0 and size > 1):
        if stride <= reach:
            return True
        reach += (size - 1) * stride
    return False


class Outputs:
    """How to give a caller what the graph returns, from what the compiled program returns; done by `live_outputs.cpp`.

    `kept` are the FX values that the program has to compute. Every other output is one of the inputs, a view of an input or
    of a kept value, a size, or a constant.
    """

    def __init__(self, traced):
        graph = traced.graph
        self.output = next(node for node in reversed(graph.nodes) if node.op == "output")
        self.kept, self.makers = [], []
        inputs = [node for node in graph.nodes if node.op == "placeholder"]
        self.bases = {}
        for i, node in enumerate(inputs):
            value = node.meta.get("val")
            if isinstance(value, torch.Tensor):
                self.bases.setdefault(_storage(value), ("input", i, value))
        self.inputs = {node: i for i, node in enumerate(inputs)}
        values, self.spec = torch.utils._pytree.tree_flatten(self.output.args[0])
        self._keep_owners(values)
        numbers = self.output.meta.get("numbers", ())
        for i, value in enumerate(values):
            maker = self._maker(value)
            self.makers.append(("item", list(maker)) if i in numbers else maker)
        given = [(i, node.meta.get("number", node.meta.get("val"))) for i, node in enumerate(inputs)]
        self.symbols = [(i, str(number.node.expr)) for i, number in given if isinstance(number, (torch.SymInt, torch.SymFloat))]
        self.strides = [_sizes(node.meta["val"].stride()) for node in self.kept]

    def description(self):
        """What `_strata.LiveModel.set_outputs` takes."""
        return self.makers, self.strides, self.symbols

    def _keep_owners(self, values):
        """Where several results are views of one value, that value is computed whole, and all of them are views of it."""
        tensors = dict.fromkeys(v for v in values if isinstance(v, torch.fx.Node) and isinstance(v.meta.get("val"), torch.Tensor))
        storages = collections.Counter(_storage(node.meta["val"]) for node in tensors)
        for node in tensors:
            storage = _storage(node.meta["val"])
            whole = owner(node) if storages[storage] > 1 and storage not in self.bases else None
            if whole is not None and isinstance(whole.meta.get("val"), torch.Tensor):
                self.bases[storage] = ("kept", len(self.kept), whole.meta["val"])
                self.kept.append(whole)

    def _maker(self, value):
        if isinstance(value, torch.SymInt):  # in place of a call (`functions_of_sizes`)
            return ("size", _sizes([value]))
        if not isinstance(value, torch.fx.Node):
            return ("constant", value)
        if value in self.inputs:
            return ("input", self.inputs[value])
        fake = value.meta.get("val")
        if isinstance(fake, torch.SymInt):
            return ("size", _sizes([fake]))
        if not isinstance(fake, torch.Tensor):
            raise Left(f"it returns '{value.name}', which is a {type(fake).__name__}")
        base = self.bases.get(_storage(fake))
        if base is None and _overlaps(fake):
            raise Left(f"it returns '{value.name}', whose elements lie in the same memory")
        if base is None:
            self.bases[_storage(fake)] = ("kept", len(self.kept), fake)
            self.kept.append(value)
            return ("kept", len(self.kept) - 1)
        kind, index, whole = base
        if kind == "kept" and value is self.kept[index]:
            return ("kept", index)
        if fake.dtype != whole.dtype or fake.is_conj() or fake.is_neg():
            raise Left(f"it returns '{value.name}', a view of another type of what it also takes or returns")
        shape, stride = _sizes(fake.shape), _sizes(fake.stride())
        offset = _sizes([fake.storage_offset() - whole.storage_offset()])
        return ("view of " + kind, index, shape, stride, offset)

    def restrict(self, traced):
        """The graph without the outputs that are made here."""
        self.output.args = (tuple(self.kept),)
        for node in reversed(traced.graph.nodes):
            if not node.users and not _has_effect(node):
                traced.graph.erase_node(node)
        traced.recompile()


def _has_effect(node):
    if node.op in ("placeholder", "output") or node.meta.get("gives_size") or node.target in CHECKS or draws(node):
        return True
    schema = getattr(node.target, "_schema", None)
    return schema is None and node.op == "call_function" and node.is_impure() or bool(schema and schema.is_mutable)
