# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own decompositions of operators that the compiler does not have, where what comes out can be compiled.

A decomposition is taken when all that it gives for the operands at hand is in the compiler's table; otherwise PyTorch is called for
the operator as it is.
"""
import torch
from torch.fx.experimental.proxy_tensor import make_fx as _make_fx

from . import _strata
from ._functional import functional_form

_DEPTH = 4

# Their decompositions do not round to integers as the kernels do.
_ROUNDED_OTHERWISE = {torch.ops.aten.linspace, torch.ops.aten.logspace}

# Python's in-place operators, which have no functional twin of their name.
_PYTHONS = {
    torch.ops.aten.__ior__.Tensor: lambda a, b: a.copy_(a | b),
    torch.ops.aten.__iand__.Tensor: lambda a, b: a.copy_(a & b),
    torch.ops.aten.__ixor__.Tensor: lambda a, b: a.copy_(a ^ b),
}


def _linear_cross_entropy(input, linear_weight, target, linear_bias, weight, reduction, ignore_index, smoothing, accumulator):
    logits = torch.nn.functional.linear(
        input.to(accumulator), linear_weight.to(accumulator), None if linear_bias is None else linear_bias.to(accumulator)
    )
    weight = None if weight is None else weight.to(accumulator)
    loss = torch.nn.functional.cross_entropy(
        logits, target, weight, reduction=reduction, ignore_index=ignore_index, label_smoothing=smoothing
    )
    return loss.to(input.dtype)


def _chunked_linear_cross_entropy(
    input, linear_weight, target, linear_bias, weight, reduction, ignore_index, smoothing, chunk, policy, accumulator, retain, *wanted
):
    if any(wanted):
        raise NotImplementedError("gradients are made along with the loss")
    loss = _linear_cross_entropy(input, linear_weight, target, linear_bias, weight, reduction, ignore_index, smoothing, accumulator)
    return (loss, *(input.new_empty(shape) for shape in ((0, 0), (0, 0), (0,))))


def _chunked_linear_cross_entropy_of_each(input, linear_weight, target, linear_bias, weight, ignore_index, chunk, policy, accumulator):
    return _linear_cross_entropy(input, linear_weight, target, linear_bias, weight, "none", ignore_index, 0.0, accumulator)


# Operators that PyTorch writes in Python, in chunks so as to need less memory.
_IN_CHUNKS = {
    "torch_nn::_linear_cross_entropy_batch_chunked": _chunked_linear_cross_entropy,
    "torch_nn::_linear_cross_entropy_batch_chunked_no_reduction": _chunked_linear_cross_entropy_of_each,
}


def _triangular_solve(b, a, upper=True, transpose=False, unitriangular=False):
    triangle, upper = (a.mT, not upper) if transpose else (a, upper)
    return torch.linalg.solve_triangular(triangle, b, upper=upper, unitriangular=unitriangular), a.clone()


# Older spellings, which PyTorch has kernels for. By name: 2.14 has no aten::cholesky any more.
_SPELLED_ANEW = {
    "aten::cholesky": lambda a, upper=False: torch.linalg.cholesky(a, upper=upper),
    "aten::triangular_solve": _triangular_solve,
}


def _form(target):
    """PyTorch's decomposition of one operator, or None."""
    if not isinstance(target, torch._ops.OpOverload):
        return None
    if target.name() in _IN_CHUNKS:
        return _IN_CHUNKS[target.name()]
    if target.namespace != "aten" or torch.Tag.nondeterministic_seeded in target.tags:
        return None
    if target.overloadpacket in _ROUNDED_OTHERWISE:
        return None
    if target in _PYTHONS:
        return _PYTHONS[target]
    if target.name() in _SPELLED_ANEW:
        return _SPELLED_ANEW[target.name()]
    if any(a.alias_info is not None for a in (*target._schema.arguments, *target._schema.returns)):
        return functional_form(target)
    if torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), "CompositeImplicitAutograd"):
        return target.decompose
    return torch._decomp.decomposition_table.get(target)


def _operands(node):
    def value(argument):
        return argument.meta.get("val") if isinstance(argument, torch.fx.Node) else argument

    return torch.utils._pytree.tree_map(value, (tuple(node.args), dict(node.kwargs)))


def _expanded(node, table):
    """What the call of a node becomes under a table, as a graph of its own; None where it cannot be traced alone."""
    args, kwargs = _operands(node)
    leaves, spec = torch.utils._pytree.tree_flatten((args, kwargs))
    tensors = [v for v in leaves if isinstance(v, torch.Tensor)]
    # Their own mode: what PyTorch would detect is the backend's, and the graph may be one of Dynamo's tensors.
    mode = next((v.fake_mode for v in tensors if isinstance(v, torch._subclasses.FakeTensor)), None)
    if mode is None or any(isinstance(v, (torch.SymInt, torch.SymFloat, torch.SymBool)) for v in leaves):
        return None
    places = [None if isinstance(v, torch.Tensor) else v for v in leaves]

    def run(*given):
        rest = iter(given)
        filled = [next(rest) if isinstance(v, torch.Tensor) else kept for v, kept in zip(leaves, places)]
        args, kwargs = torch.utils._pytree.tree_unflatten(filled, spec)
        return node.target(*args, **kwargs)

    try:
        with torch._dispatch.python.enable_python_dispatcher(), mode:
            return _make_fx(run, decomposition_table=table, pre_dispatch=True, _allow_non_fake_inputs=True)(*tensors)
    except Exception:  # a decomposition that does not take these operands: PyTorch is called
        return None


def _table_for(node):
    """The decompositions under which a call is all in the table, or None."""
    table = {}
    targets = [node.target]
    for _ in range(_DEPTH):
        for target in targets:
            form = _form(target)
            if form is None or target in table:
                return None
            table[target] = form
        graph = _expanded(node, table)
        if graph is None:
            return None
        missing, foreign = _strata.operators_of_fx(graph)
        bad = {*missing, *foreign}
        targets = {n.target for n in graph.graph.nodes if n.op == "call_function" and str(n.target) in bad}
        if not bad:
            return None if _strata.rejected_calls(graph) else table
        if not targets:
            return None
    return None


def _alike(node):
    """Equal for calls of one operator on operands of the same kinds."""

    def kind(value):
        return (tuple(value.shape), value.stride(), value.dtype) if isinstance(value, torch.Tensor) else value

    return str(node.target), str(torch.utils._pytree.tree_map(kind, _operands(node)))


def simpler_forms(traced, names):
    """A decomposition table for the operators in `names` that the graph calls: only those that leave nothing to PyTorch in any call."""
    table, refused, known = {}, set(), {}
    for node in traced.graph.nodes:
        target = node.target
        if node.op != "call_function" or str(target) not in names or target in refused or _form(target) is None:
            continue
        alike = _alike(node)
        if alike not in known:
            known[alike] = _table_for(node)
        found = known[alike]
        if found is None:
            refused.add(target)
            table.pop(target, None)
        else:
            table.update(found)
    return {target: form for target, form in table.items() if target not in refused}
