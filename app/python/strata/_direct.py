# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamo's graph of an exported program: it is one of ATen calls already, with a fake tensor for every result.

Tracing such a graph would give the same calls with the same results, and take up to a second for a deep network.
"""
import contextlib
import operator

import torch

try:  # graph modules whose Python code is made when they are called, which ours are not
    from torch.fx._lazy_graph_module import _make_graph_module
    from torch.fx._lazy_graph_module import _use_lazy_graph_module
except ImportError:
    _make_graph_module, _use_lazy_graph_module = torch.fx.GraphModule, None


def without_code():
    """Graph modules that are made inside write their code when they are called."""
    return _use_lazy_graph_module(True) if _use_lazy_graph_module else contextlib.nullcontext()


_FakeTensor = torch._subclasses.FakeTensor


def _is_known(node, modes):
    """Whether Dynamo has fake tensors for a node, with sizes that are numbers. Adds their modes."""
    value = node.meta.get("example_value")
    if value is None and node.target is torch.ops.aten._assert_tensor_metadata.default:
        return True
    for leaf in value if isinstance(value, (tuple, list)) else (value,):
        if type(leaf) is not _FakeTensor or not all(type(n) is int for n in (*leaf.shape, *leaf.stride())):
            return False
        modes.add(leaf.fake_mode)
    return True


# What a trace has in other forms - constants, numbers read off data -, and what changes the memory of a tensor.
_NOT_DIRECT = {
    "aten::lift_fresh", "aten::is_nonzero", "aten::item", "aten::_local_scalar_dense", "aten::resize_", "aten::resize_as_", "aten::set_",
    "aten::shallow_copy_data_", "aten::_resize_output_", "aten::detach_",
}


def _is_call(target):
    """An operator that a trace would show as it is, and that leaves the shapes of its operands alone: Dynamo's tensors have what they are at the end."""
    if target is operator.getitem:
        return True
    if not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten" or target._schema.name in _NOT_DIRECT:
        return False
    return torch.Tag.data_dependent_output not in target.tags and torch.Tag.inplace_view not in target.tags


def _same_layout(fake, real):
    return isinstance(fake, torch.Tensor) and isinstance(real, torch.Tensor) and fake.shape == real.shape and fake.stride() == real.stride() and fake.dtype == real.dtype


def direct(gm, inputs):
    """The graph as a trace would show it, results under "val"; None where it has to be traced."""
    if any(not isinstance(value, torch.Tensor) for value in inputs) or torch.is_autocast_enabled("cpu"):
        return None
    modes = set()
    for node in gm.graph.nodes:
        known = node.op == "output" or node.op == "placeholder" or node.op == "call_function" and _is_call(node.target)
        if not known or node.op != "output" and not _is_known(node, modes):
            return None
    if len(modes) > 1:
        return None
    if inputs_of_dynamo(gm, inputs) is None:
        return None
    with without_code():
        return _make_graph_module(torch.nn.Module(), _copied(gm.graph))


def _has_symbols(node):
    """Whether a result has sizes that are no numbers, or is unknown. Fake tensors remember the symbols of what was read off them: another
    trace needs new ones."""
    leaves = torch.utils._pytree.tree_leaves(node.meta.get("example_value"))
    return node.op == "get_attr" or any(
        isinstance(leaf, (torch.SymInt, torch.SymFloat, torch.SymBool))
        or isinstance(leaf, torch.Tensor) and not all(type(n) is int for n in leaf.shape)
        for leaf in leaves
    )


def inputs_of_dynamo(gm, inputs):
    """Dynamo's fake mode and its fake tensors of the inputs, where all sizes in the graph are numbers; else None. Making new ones takes
    milliseconds each."""
    if any(_has_symbols(node) for node in gm.graph.nodes):
        return None
    modes = set()
    placeholders = [node for node in gm.graph.nodes if node.op == "placeholder"]
    if len(placeholders) != len(inputs) or not all(_is_known(node, modes) for node in placeholders) or len(modes) != 1:
        return None
    fakes = [node.meta["example_value"] for node in placeholders]
    return (modes.pop(), fakes) if all(_same_layout(f, v) for f, v in zip(fakes, inputs)) else None


def _copied(graph):
    made = torch.fx.Graph()
    copies = {}
    for node in graph.nodes:
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), copies.__getitem__)
        name = node.name
        if isinstance(node.target, torch._ops.OpOverload):
            name = node.target.overloadpacket.__name__
        copy = copies[node] = made.create_node(node.op, node.target, args, kwargs, name)
        copy.meta = {key: value for key, value in node.meta.items() if key != "example_value"}
        if node.op != "output":
            copy.meta["val"] = node.meta.get("example_value")
    return made
