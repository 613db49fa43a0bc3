# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamo's graph as a graph of ATen calls that can be compiled or called.

It is traced once more, with PyTorch's own fake tensors, to the ATen calls that `torch.export` would show (before autograd and
without decompositions), so that a program looks the same to the compiler whether it was exported or captured live.
"""
import contextlib

import torch
from torch.fx.experimental import proxy_tensor

from . import _control_flow, _flex_attention, _opaque, _rewrite, _strata
from ._branches import WithoutBranches
from ._direct import direct, inputs_of_dynamo, without_code
from ._functional import functional_form
from ._left import Left, place
from ._random import drawn_natively
from ._simpler import simpler_forms
from ._transformer import FAST_PATHS


def _fake_inputs(inputs):
    """The inputs as fake tensors of the fake mode that Dynamo hands to backends, with its symbolic sizes."""
    from torch._guards import TracingContext, detect_fake_mode

    context = TracingContext.try_get()
    mode = (context.fake_mode if context else None) or detect_fake_mode(inputs)
    if mode is None:
        mode = torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True, shape_env=_sizes_of_data())

    def fake(value):
        if not isinstance(value, torch.Tensor) or isinstance(value, torch._subclasses.FakeTensor):
            return value
        known = context.tensor_to_context.get(value) if context else None
        source = getattr(known, "tensor_source", None)
        return mode.from_tensor(value, symbolic_context=known, source=source) if known else mode.from_tensor(value, static_shapes=True)

    return mode, [fake(value) for value in inputs]


def _sizes_of_data():
    """An environment of sizes in which results may have sizes that depend on data, and elements may be numbers."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    return ShapeEnv(allow_scalar_outputs=True, allow_dynamic_output_shape_ops=True)


class _Inlined(torch.fx.Interpreter):
    """Runs Dynamo's graph; what only says how gradients are saved, or that it is to be compiled once, is run as if it did not,
    and `flex_attention` is written out."""

    def call_function(self, target, args, kwargs):
        name = getattr(target, "__name__", "")
        if name == "flex_attention":
            made = _flex_attention.written_out(*args, **kwargs)
            return made or super().call_function(target, args, kwargs)
        if name in ("tag_activation_checkpoint", "wrap_activation_checkpoint", "wrap", "wrap_with_autocast", "invoke_subgraph"):
            body, operands = _body_of(target, args)
            return _Inlined(body).run(*operands[name == "invoke_subgraph" :])  # behind the name that PyTorch knows it by
        return super().call_function(target, args, kwargs)


def _body_of(target, args):
    at = next(i for i, value in enumerate(args) if isinstance(value, torch.fx.GraphModule))
    return args[at], args[at + 1 :]


@contextlib.contextmanager
def _without_tensor_meta():
    """Traces without the second description of every result ("tensor_meta"), which takes a third of the time and nobody here reads."""
    described = getattr(proxy_tensor, "_extract_tensor_metadata", None)
    if described is None:
        yield
        return
    proxy_tensor._extract_tensor_metadata = lambda *given, **named: None
    try:
        yield
    finally:
        proxy_tensor._extract_tensor_metadata = described


def _trace(function, mode, fakes, decompositions, pre_dispatch):
    depth = torch._C._functorch.get_dynamic_layer_stack_depth()
    try:
        with torch.fx.traceback.preserve_node_meta(), torch._dispatch.python.enable_python_dispatcher(), mode, without_code(), _without_tensor_meta():
            return proxy_tensor.make_fx(
                function, decomposition_table=decompositions, pre_dispatch=pre_dispatch, _allow_non_fake_inputs=True
            )(*fakes)
    except Exception:
        # Function transforms that the graph entered would go on for the rest of the program.
        torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth(depth)
        raise


# The table has these for exported programs, which keep them. Here what they are made of says more: lists have the size that `nonzero` gives,
# and of `istft` the steps are ours where not all of it is.
_TAKEN_APART = {"aten.nonzero_numpy.default", "aten.where.default", "aten.istft.default"}


def _fake_constants(traced):
    """Tensors that were not traced: those of function transforms, which PyTorch's first level of dispatch does not see."""
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    return [
        node
        for node in traced.graph.nodes
        if node.op == "get_attr" and isinstance(getattr(traced, node.target, None), torch._subclasses.FakeTensor)
        or isinstance(node.meta.get("val"), torch.Tensor) and wrapped(node.meta["val"])
    ]


def to_aten(gm, inputs, decompositions=None):
    """Dynamo's graph as a GraphModule of ATen calls, autocast's conversions among them. Source lines and module paths stay."""
    if not decompositions:
        traced = direct(gm, inputs)
        if traced is not None:
            return traced
    mode, fakes = inputs_of_dynamo(gm, inputs) or _fake_inputs(inputs)

    def run(*values):
        with WithoutBranches():
            return _Inlined(gm).run(*values)

    ambient = torch.is_autocast_enabled("cpu")
    with torch._C._DisableAutocast() if ambient else contextlib.nullcontext():
        try:
            traced = _trace(run, mode, fakes, decompositions, True)
            lost = _fake_constants(traced)
        except RuntimeError:  # NotImplementedError is one, but not the only one that older versions raise
            lost = True
        if lost:
            traced = _trace(run, mode, fakes, decompositions, False)
            lost = _fake_constants(traced)
            if lost:
                raise Left(f"{place(lost[0])} is a tensor of a function transform that cannot be traced")
    if ambient or _rewrite.has_autocast(traced):
        converted = _rewrite.casting(traced)
        with torch._C._DisableAutocast():
            traced = _trace(lambda *values: converted.run(*values), mode, fakes, decompositions, True)
    else:
        _rewrite.drop_autocast(traced)
    return traced


def _decompositions(traced, missing):
    """Simpler forms, where PyTorch has them, of operators that the compiler can neither compile nor call."""
    table = {}
    for node in traced.graph.nodes:
        target = node.target
        if str(target) not in missing or not isinstance(target, torch._ops.OpOverload):
            continue
        if torch.Tag.nondeterministic_seeded in target.tags:
            continue  # another form may draw other numbers
        functional = functional_form(target)
        if target in FAST_PATHS:
            table[target] = FAST_PATHS[target]
        elif target is torch.ops.aten.detach_.default:
            table[target] = lambda value: value
        elif functional:
            table[target] = functional
        elif torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), "CompositeImplicitAutograd"):
            table[target] = target.decompose
        else:
            table.update(torch._decomp.get_decompositions([target]))
    return table


def _drop_detached(traced):
    """Nothing is differentiated, and `detach_` gives back its operand: a second trace without it would cost as much as the first."""
    for node in list(traced.graph.nodes):
        if node.target is torch.ops.aten.detach_.default:
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)


def _traced(gm, inputs, table=None):
    traced = to_aten(gm, inputs, table)
    _drop_detached(traced)
    return traced


def capture(gm, inputs):
    """`to_aten` in operators that can be compiled or called, and the names of those that are called."""
    traced = _traced(gm, inputs)
    missing, foreign = _strata.operators_of_fx(traced)
    made_of_others = lambda n: _rewrite.hides_writes(n) or n.target in FAST_PATHS or str(n.target) in _TAKEN_APART
    missing = [*missing, *{str(n.target) for n in traced.graph.nodes if made_of_others(n)}]
    table = {}
    while missing:  # what comes out of a decomposition may have to be decomposed in turn
        more = _decompositions(traced, set(missing))
        if more.keys() <= table.keys():
            break
        table.update(more)
        traced = _traced(gm, inputs, table)
        missing, foreign = _strata.operators_of_fx(traced)
    simpler = simpler_forms(traced, {*missing, *foreign})
    if simpler:
        traced = _traced(gm, inputs, {**table, **simpler})
        missing, foreign = _strata.operators_of_fx(traced)
    opaque = _readable(traced, {*missing, *foreign}, inputs)
    missing, _ = _strata.operators_of_fx(traced)
    if missing:
        raise Left("operators that can neither be compiled nor called: " + ", ".join(_with_places(traced, missing)))
    check_graph(traced)
    return traced, opaque


def shape_env():
    """PyTorch's environment of the sizes of the graph that Dynamo has under way, or None."""
    return getattr(_fake_inputs([])[0], "shape_env", None)


def _with_places(traced, missing):
    places = {}
    for node in traced.graph.nodes:
        if node.op == "call_function":
            target = node.target
            own = isinstance(target, torch._ops.OpOverload)
            places.setdefault(str(target) if own else f"{target.__module__}.{target.__name__}", place(node))
    return [f"{name} ({places[name]})" if name in places else name for name in sorted(missing)]


def _readable(traced, not_in_table, inputs):
    """Rewrites the graph until the compiler can read all of it; returns the names of what PyTorch is called for."""
    for node in _rewrite.shape_changes(traced):
        raise Left(f"{place(node)} changes the shape or the memory of a tensor in place")
    node = _rewrite.starts_in_memory(traced)
    if node is not None:
        raise Left(f"{place(node)} looks at memory in front of an input, or from a place that is not known before it runs")
    if _rewrite.drop_regions(traced) and any(isinstance(v, torch.Tensor) and v.requires_grad for v in inputs):
        raise Left("gradients are switched on inside, and training is not there yet")
    _rewrite.same_objects(traced)
    _rewrite.batch_norms(traced)
    _check_written(traced)
    _rewrite.sums_of_sizes(traced)
    _rewrite.functions_of_sizes(traced)
    numbers = _rewrite.Numbers(traced)
    _rewrite.mark_sizes_of_data(traced)
    _rewrite.correct_ranges(traced)
    calls = _opaque.Calls(traced, numbers.tensors)
    for node in list(traced.graph.nodes):
        if _to_be_called(node, not_in_table, numbers.tensors):
            if not _control_flow.is_compiled(traced, node, lambda inner: _to_be_called(inner, (), ())):
                _call(calls, node)
    node = _rewrite.size_without_giver(traced)
    if node is not None:
        raise Left(f"{place(node)} has a size that depends on data, and only PyTorch works it out")
    _rewrite.writes_through_views(traced, calls)
    _remove_unused(traced)
    rejected = _strata.rejected_calls(traced)
    for node in list(traced.graph.nodes):
        if node.name in rejected:
            if draws(node):  # the calls around it are there already: its turn would be another
                raise Left(f"{place(node)} draws random numbers in a form that is not compiled: {rejected[node.name]}")
            _call(calls, node)
    _remove_unused(traced)
    traced.recompile()
    return tuple(sorted(set(calls.names)))


def _to_be_called(node, names, numbers):
    target = node.target
    if node.op != "call_function" or node in numbers:
        return False
    if isinstance(target, torch._ops.HigherOrderOperator):
        return True
    if not isinstance(target, torch._ops.OpOverload):
        return False
    if str(target) in names or any(n in numbers for n in node.all_input_nodes):
        return True
    if draws(node):
        return not drawn_natively(node)
    return not _rewrite.is_view(node) and any(_uncommon(n.meta.get("val")) for n in (node, *node.all_input_nodes))


# Complex numbers are two real ones.
_COMMON = _control_flow.TYPES | {torch.complex64, torch.complex128}


def _uncommon(value):
    return any(isinstance(v, torch.Tensor) and v.dtype not in _COMMON for v in torch.utils._pytree.tree_leaves(value))


def _check_written(traced):
    """What is written has to have an element per place in memory; PyTorch's own error says so where it has not."""
    for node in traced.graph.nodes:
        for operand in _opaque.written_operands(node) if node.op == "call_function" else ():
            value = operand.meta.get("val")
            if isinstance(value, torch.Tensor) and any(s == 0 and n > 1 for s, n in zip(value.stride(), value.shape)):
                raise Left(f"{place(node)} writes a tensor whose elements share memory")


def draws(node):
    """Whether a call takes random numbers: it is never left out, and keeps its turn."""
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()) and not _draws_nothing(node)


def _call(calls, node):
    if node.meta.get("gives_size"):
        raise Left(f"{place(node)} has a size that depends on data, and only PyTorch computes {node.target}")
    if node.target is torch.ops.aten.as_strided.default:
        raise Left(f"{place(node)} looks at memory that is not its operand's")
    for value in torch.utils._pytree.tree_leaves(node.meta.get("val")):
        if isinstance(value, torch.Tensor) and value.layout != torch.strided:
            raise Left(f"{place(node)} gives a tensor of layout {value.layout}")
    effect = draws(node) or node.meta.get("val") is None and not _opaque.written_operands(node)
    if not effect and _aliases_what_is_written(calls.graph, node):
        raise Left(f"{place(node)} gives a view through {node.target}, and what it views is written")
    calls.replace(node, effect)


def _aliases_what_is_written(graph, node):
    """Whether a call's result shares memory with something that the graph writes: a copy of it would not do."""
    values = [v for v in torch.utils._pytree.tree_leaves(node.meta.get("val")) if isinstance(v, torch.Tensor)]
    operands = {n.meta["val"].untyped_storage()._cdata for n in node.all_input_nodes if _is_dense(n.meta.get("val"))}
    shared = operands & {value.untyped_storage()._cdata for value in values if _is_dense(value)}
    shared -= {operand.meta["val"].untyped_storage()._cdata for operand in _opaque.written_operands(node)}
    return bool(shared) and any(
        operand.meta["val"].untyped_storage()._cdata in shared
        for other in graph.nodes
        for operand in (_opaque.written_operands(other) if other.op == "call_function" else ())
    )


def _is_dense(value):
    return isinstance(value, torch.Tensor) and value.layout == torch.strided


_CHECKS_OF_SIZES = {"sym_constrain_range", "sym_constrain_range_for_size", "_check_is_size"}


def _remove_unused(traced):
    """Numbers that became tensors, checks of sizes that guards have made, and what only they used."""
    for node in reversed(list(traced.graph.nodes)):
        if node.op not in ("call_function", "get_attr") or node.users or node.meta.get("gives_size") or draws(node):
            continue
        schema = getattr(node.target, "_schema", None)
        if getattr(node.target, "__name__", "").split(".")[0] in _CHECKS_OF_SIZES or schema is None or not (schema.is_mutable or node.target in _control_flow.CHECKS):
            traced.graph.erase_node(node)


# torch.nn.Buffer is there from 2.5 on.
_PLAIN = {torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", torch.Tensor), torch._subclasses.FakeTensor}


# Element types that tensors can be handed over in.
_EXCHANGED = {
    getattr(torch, name)
    for name in (
        "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex32 complex64 complex128"
    ).split()
}


def _refusal(value):
    """Why a tensor cannot be an input of a compiled graph, or None."""
    if type(value) not in _PLAIN:
        return f"is a {type(value).__name__}, a subclass of Tensor"
    if value.device.type != "cpu":
        return f"is on {value.device}, and this build compiles for the CPU only"
    if value.layout != torch.strided:
        return f"has layout {value.layout}"
    if value.is_quantized:
        return "is quantized"
    if value.dtype not in _EXCHANGED:
        return f"has element type {value.dtype}"
    return "is a lazy conjugate or negative" if value.is_conj() or value.is_neg() else None


def check_inputs(gm, inputs):
    """Raises Left for inputs that only PyTorch can take, with the line that uses them first."""
    for node, value in zip((n for n in gm.graph.nodes if n.op == "placeholder"), inputs):
        why = _refusal(value) if isinstance(value, torch.Tensor) else None
        if why:
            used = next((place(user) for user in node.users if user.meta.get("stack_trace")), None)
            raise Left(f"input '{node.name}'{' (used by ' + used + ')' if used else ''} {why}")
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
            raise Left(f"{place(node)} is on {value.device}, and this build compiles for the CPU only")


# ------------------------------------------------------------------------------------------------------------ shared memory


def written_storages(traced):
    """Storages that the graph writes, through views too."""
    return {
        operand.meta["val"].untyped_storage()._cdata
        for node in traced.graph.nodes
        if node.op == "call_function"
        for operand in _opaque.written_operands(node)
        if _is_dense(operand.meta.get("val"))
    }


def written_inputs(traced):
    """Positions of inputs that the graph writes."""
    written = written_storages(traced)
    inputs = [node.meta.get("val") for node in traced.graph.nodes if node.op == "placeholder"]
    return [i for i, value in enumerate(inputs) if _is_dense(value) and value.untyped_storage()._cdata in written]


def _of_inference(values, written):
    """Whether PyTorch refuses to write one of them here."""
    return not torch.is_inference_mode_enabled() and any(values[i].is_inference() for i in written)


def guarded(gm, written, inputs):
    """What makes of a compiled call one that leaves calls to PyTorch in which a written input shares memory with another: PyTorch's guards
    do not look at that. `written`: their positions; None where there are none. Raises Left when it is so in the call that is compiled for."""
    if not written:
        return None
    if _of_inference(inputs, written):
        raise Left("an input that is written was made in inference mode")
    fakes = any(isinstance(value, torch._subclasses.FakeTensor) for value in inputs)
    tensors = [value if isinstance(value, torch.Tensor) else None for value in inputs]
    if not fakes and _strata.written_inputs_overlap(tensors, written):
        raise Left("an input that is written shares memory with another input")

    def wrap(call):
        def checked(*values):
            if _strata.written_inputs_overlap(values, written) or _of_inference(values, written):
                return gm.forward(*values)
            return call(*values)

        return checked

    return wrap
