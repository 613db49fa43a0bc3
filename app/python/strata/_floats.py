# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of modules (`eps`, a slope, bounds of a clamp) that Dynamo hands over as tensors of one element where all is to be dynamic.

PyTorch's own compiler computes with the tensor where an operator takes one, and else has Dynamo begin anew with the number as a constant that is
guarded (torch/fx/passes/_tensorify_python_scalars.py). So does this, for attributes of modules. A number that the program itself hands over
may be another one in every call, and be compiled every time: there PyTorch is called for the operators that take no tensor.
"""
import operator

import torch

_TAKE_TENSORS = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.iadd, operator.isub, operator.imul, operator.itruediv,
    operator.gt, operator.ge, operator.lt, operator.le, operator.eq, operator.ne,
}  # fmt: skip


def make_constants(gm):
    """Raises what has Dynamo begin anew if a number of a module goes into an operator that takes no tensor for it."""
    try:
        from torch._dynamo.exc import TensorifyScalarRestartAnalysis
        from torch._dynamo.symbolic_convert import TensorifyState
    except ImportError:  # an older PyTorch
        return
    asked = False
    for node in gm.graph.nodes:
        number = _number(node) if node.op == "placeholder" else None
        if number is None or not _of_module(number) or all(user.target in _TAKE_TENSORS for user in _uses(node)):
            continue
        name = str(number._expr)
        if not TensorifyState.should_specialize(name):  # what was asked for is not asked for again
            TensorifyState.specialize(name)
            asked = True
    if asked:
        raise TensorifyScalarRestartAnalysis


def _number(node):
    """A number that is handed over as a tensor: PyTorch's node of its symbol, or None."""
    value = getattr(node.meta.get("example_value"), "item_memo", None)
    number = value.node if isinstance(value, torch.SymFloat) else None
    symbol = getattr(getattr(number, "_expr", None), "is_Symbol", False)
    return number if symbol and all(user.target == "item" for user in node.users) else None


def _of_module(number):
    for source in getattr(number.shape_env, "var_to_sources", {}).get(number._expr, ()):
        kind = getattr(source, "guard_source", None)
        kind = kind() if callable(kind) else kind
        if any(getattr(kind, name, bool)() for name in ("is_unspecialized_nn_module", "is_specialized_nn_module")):
            return True
    return False


def _uses(node):
    """The calls that take a number, or one that is computed of it alone."""
    for user in node.users:
        value = user.meta.get("example_value")
        if user.target == "item" or isinstance(value, (torch.SymFloat, torch.SymBool, float, bool)):
            yield from _uses(user)
        else:
            yield user
