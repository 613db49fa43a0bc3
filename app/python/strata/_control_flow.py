# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which calls of `torch.cond`, `while_loop`, `map` and `scan` are compiled together with the graphs that they run."""
import operator

import torch

from . import _opaque, _strata

NAMES = {"cond", "while_loop", "map_impl", "scan"}

# Element types that kernels are made for.
TYPES = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64}

# Checks of data: nobody uses them, and they stay.
CHECKS = {
    torch.ops.aten._assert_async.msg, torch.ops.aten._assert_async.default, torch.ops.aten._assert_scalar.default,
    torch.ops.aten._linalg_check_errors.default,
}


def is_compiled(traced, node, calls_torch):
    """Whether all of a call can be compiled. `calls_torch(node)`: whether PyTorch would be called for a node."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.HigherOrderOperator) or node.target.name() not in NAMES:
        return False
    bodies = [n for n in node.all_input_nodes if n.op == "get_attr" and isinstance(getattr(traced, n.target, None), torch.fx.GraphModule)]
    operands = [n for n in node.all_input_nodes if n not in bodies]
    if node.kwargs or not bodies or not all(_is_operand(n.meta.get("val")) for n in operands) or not _are_arrays(node.meta.get("val")):
        return False
    return all(_is_body(getattr(traced, n.target), calls_torch) for n in bodies)


def _is_body(body, calls_torch):
    """Whether a graph consists of what is compiled, changes nothing around it, and gives tensors."""
    for node in body.graph.nodes:
        if node.op == "get_attr" and isinstance(getattr(body, node.target, None), (torch.fx.GraphModule, torch.Tensor)):
            continue
        if node.op == "placeholder" and not _is_operand(node.meta.get("val")):
            return False
        if node.op == "output" and not all(_is_result(leaf) for leaf in torch.utils._pytree.tree_leaves(node.args)):
            return False
        if node.op == "call_function" and not _is_pure(body, node, calls_torch):
            return False
        if node.op in ("call_module", "call_method"):
            return False
    missing, foreign = _strata.operators_of_fx(body)
    return not missing and not foreign and not _strata.rejected_calls(body)


def _is_pure(body, node, calls_torch):
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return is_compiled(body, node, calls_torch)
    if node.target in CHECKS or node.users and all(user.target in CHECKS for user in node.users):
        return True
    if isinstance(node.target, torch._ops.OpOverload):
        seeded = torch.Tag.nondeterministic_seeded in node.target.tags
        return not (seeded or node.target._schema.is_mutable or _opaque.written_operands(node) or calls_torch(node)) and _is_plain(node.meta.get("val"))
    return node.target is operator.getitem or _is_plain(node.meta.get("val"))


def _is_array(value):
    return isinstance(value, torch.Tensor) and value.dtype in TYPES


def _is_size(value):
    return isinstance(value, torch.SymInt) or type(value) is int


def _is_operand(value):
    return _is_array(value) or _is_size(value)


def _is_plain(value):
    """Tensors and whole numbers, not numbers that only a run tells."""
    return all(isinstance(leaf, torch.Tensor) or _is_size(leaf) for leaf in torch.utils._pytree.tree_leaves(value))


def _is_result(leaf):
    return _is_array(leaf.meta.get("val")) if isinstance(leaf, torch.fx.Node) else type(leaf) is bool


def _are_arrays(value):
    leaves = torch.utils._pytree.tree_leaves(value)
    return bool(leaves) and all(_is_array(leaf) for leaf in leaves)
