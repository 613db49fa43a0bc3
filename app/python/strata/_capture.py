# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamo's graph as a graph of ATen calls that can be compiled or called.

It is traced once more, with PyTorch's own fake tensors, to the ATen calls that `torch.export` would show (before autograd and
without decompositions), so that a program looks the same to the compiler whether it was exported or captured live.
"""
import torch
from torch.fx.experimental.proxy_tensor import make_fx as _make_fx

from . import _strata


class Left(Exception):
    """The graph is left to PyTorch; the text says why."""


def _fake_inputs(inputs):
    """The inputs as fake tensors of the fake mode that Dynamo hands to backends, with its symbolic sizes."""
    from torch._guards import TracingContext, detect_fake_mode

    context = TracingContext.try_get()
    mode = (context.fake_mode if context else None) or detect_fake_mode(inputs)
    if mode is None:
        mode = torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True)

    def fake(value):
        if not isinstance(value, torch.Tensor) or isinstance(value, torch._subclasses.FakeTensor):
            return value
        known = context.tensor_to_context.get(value) if context else None
        source = getattr(known, "tensor_source", None)
        return mode.from_tensor(value, symbolic_context=known, source=source) if known else mode.from_tensor(value)

    return mode, [fake(value) for value in inputs]


def to_aten(gm, inputs, decompositions=None):
    """Dynamo's graph as a GraphModule of ATen calls. Source lines and module paths stay."""
    mode, fakes = _fake_inputs(inputs)
    with torch.fx.traceback.preserve_node_meta(), torch._dispatch.python.enable_python_dispatcher(), mode:
        return _make_fx(
            lambda *values: torch.fx.Interpreter(gm).run(*values),
            decomposition_table=decompositions,
            pre_dispatch=True,
            _allow_non_fake_inputs=True,
        )(*fakes)


def _decompositions(traced, missing):
    """Simpler forms, where PyTorch has them, of operators that the compiler can neither compile nor call."""
    table = {}
    for node in traced.graph.nodes:
        target = node.target
        if str(target) not in missing or not isinstance(target, torch._ops.OpOverload):
            continue
        if target is torch.ops.aten.detach_.default:
            table[target] = lambda value: value
        elif torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), "CompositeImplicitAutograd"):
            table[target] = target.decompose
        else:
            table.update(torch._decomp.get_decompositions([target]))
    return table


def capture(gm, inputs):
    """`to_aten` in operators that can be compiled or called, and the names of those that are called."""
    traced = to_aten(gm, inputs)
    missing, opaque = _strata.operators_of_fx(traced)
    if missing:
        traced = to_aten(gm, inputs, _decompositions(traced, set(missing)))
        missing, opaque = _strata.operators_of_fx(traced)
    if missing:
        raise Left("operators that can neither be compiled nor called: " + ", ".join(sorted(missing)))
    check_graph(traced)
    return traced, opaque


# torch.nn.Buffer is there from 2.5 on.
_PLAIN = {torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", torch.Tensor), torch._subclasses.FakeTensor}


def check_inputs(gm, inputs):
    for node, value in zip((n for n in gm.graph.nodes if n.op == "placeholder"), inputs):
        if not isinstance(value, torch.Tensor):
            continue
        if value.device.type != "cpu":
            raise Left(f"input '{node.name}' is on {value.device}, and this build compiles for the CPU only")
        if value.layout != torch.strided:
            raise Left(f"input '{node.name}' has layout {value.layout}")
        if value.is_quantized:
            raise Left(f"input '{node.name}' is quantized")
        if type(value) not in _PLAIN:
            raise Left(f"input '{node.name}' is a {type(value).__name__}, a subclass of Tensor")
        if value.is_conj() or value.is_neg():
            raise Left(f"input '{node.name}' is a lazy conjugate or negative")
    if torch.is_grad_enabled() and any(isinstance(v, torch.Tensor) and v.requires_grad for v in inputs):
        raise Left("gradients are needed, and training is not there yet: call it under torch.no_grad()")


def _draws_nothing(node):
    """Whether the dropout in a call is switched off."""
    for i, parameter in enumerate(node.target._schema.arguments):
        given = node.args[i] if i < len(node.args) else node.kwargs.get(parameter.name, parameter.default_value)
        if parameter.name in ("dropout_p", "p", "dropout", "train", "training") and not given:
            return True
    return False


def check_graph(traced):
    for node in traced.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.device.type != "cpu":
            raise Left(f"'{node.name}' is on {value.device}, and this build compiles for the CPU only")
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()) and not _draws_nothing(node):
            raise Left(f"'{node.name}' draws random numbers, which only PyTorch's generator gives as PyTorch does")
