# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The backend of `torch.compile`: takes Dynamo's graph, gives back a callable.

The graph is traced once more, with PyTorch's own fake tensors, to the ATen calls that `torch.export` would show (before
autograd and without decompositions), so that a program looks the same to the compiler whether it was exported or captured live.
Which outputs are views of inputs or of one another is read off the fake tensors; those are made anew in every call, so
that they share memory as PyTorch's would.

Whatever cannot be compiled is run by PyTorch, and `reports()` says why.
"""
import threading as _threading

import torch
from torch.fx.experimental.proxy_tensor import make_fx as _make_fx

from . import _strata

_reports = []
_lock = _threading.Lock()


class Report:
    """What became of one graph: `name`, `nodes` (calls in Dynamo's graph), `compiled`, `opaque` (operators for which the compiled
    program calls PyTorch), and `reason` where PyTorch runs all of it."""

    def __init__(self, name, nodes, opaque=(), reason=None):
        self.name, self.nodes, self.opaque, self.reason = name, nodes, tuple(opaque), reason

    @property
    def compiled(self):
        return self.reason is None

    def __repr__(self):
        what = "compiled" if self.compiled else f"run by PyTorch: {self.reason}"
        if self.opaque:
            what += ", but for " + ", ".join(self.opaque)
        return f"<strata graph {self.name}, {self.nodes} calls, {what}>"


def reports():
    """One `Report` per graph handed to the backend since the start or `reset()`, oldest first."""
    with _lock:
        return list(_reports)


def reset():
    """Forgets the reports."""
    with _lock:
        _reports.clear()


class _Left(Exception):
    """The graph is left to PyTorch; the text says why."""


# ---------------------------------------------------------------------------------------------------------- capture


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
        raise _Left("operators that can neither be compiled nor called: " + ", ".join(sorted(missing)))
    _check_graph(traced)
    return traced, opaque


# ---------------------------------------------------------------------------------------------------------- outputs


def _storage(value):
    return value.untyped_storage()._cdata


def _sizes(values):
    """Sizes as a function of the symbols' values: a tuple of numbers, or of compiled expressions."""
    if all(isinstance(v, int) for v in values):
        fixed = tuple(values)
        return lambda symbols: fixed
    texts = [str(v) if isinstance(v, int) else str(v.node.expr) for v in values]
    code = compile("(" + "".join(text + "," for text in texts) + ")", "<sizes>", "eval")
    return lambda symbols: eval(code, _FUNCTIONS, symbols)


def _power(a, b):
    return a**b


_FUNCTIONS = {
    "Max": max,
    "Min": min,
    "Mod": lambda a, b: a % b,
    "PythonMod": lambda a, b: a % b,
    "FloorDiv": lambda a, b: a // b,
    "CleanDiv": lambda a, b: a // b,
    "CeilToInt": lambda a: -int(-a // 1),
    "Pow": _power,
    "PowByNatural": _power,
    "IntTrueDiv": lambda a, b: a / b,
    "TruncToInt": int,
    "ToFloat": float,
    "__builtins__": {},
}


class _Outputs:
    """How to give a caller what the graph returns, from what the compiled program returns.

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
        for value in values:
            self.makers.append(self._maker(value))
        self.symbols = [
            (i, str(node.meta["val"].node.expr))
            for i, node in enumerate(inputs)
            if isinstance(node.meta.get("val"), torch.SymInt)
        ]
        # The compiled program gives row-major results; others are laid out as PyTorch would have them.
        self.strides = [
            None if node.meta["val"].is_contiguous() else _sizes(node.meta["val"].stride()) for node in self.kept
        ]
        self.plain = not any(self.strides) and self.makers == [("kept", i) for i in range(len(self.kept))]

    def _maker(self, value):
        if not isinstance(value, torch.fx.Node):
            return ("constant", value)
        if value in self.inputs:
            return ("input", self.inputs[value])
        fake = value.meta.get("val")
        if isinstance(fake, torch.SymInt):
            return ("size", _sizes([fake]))
        if not isinstance(fake, torch.Tensor):
            raise _Left(f"it returns '{value.name}', which is a {type(fake).__name__}")
        base = self.bases.get(_storage(fake))
        if base is None:
            self.bases[_storage(fake)] = ("kept", len(self.kept), fake)
            self.kept.append(value)
            return ("kept", len(self.kept) - 1)
        kind, index, whole = base
        if kind == "kept" and value is self.kept[index]:
            return ("kept", index)
        if fake.dtype != whole.dtype or fake.is_conj() or fake.is_neg():
            raise _Left(f"it returns '{value.name}', a view of another type of what it also takes or returns")
        shape, stride = _sizes(fake.shape), _sizes(fake.stride())
        offset = _sizes([fake.storage_offset() - whole.storage_offset()])
        return ("view of " + kind, index, shape, stride, offset)

    def restrict(self, traced):
        """The graph without the outputs that are made here."""
        self.output.args = (tuple(self.kept),)
        traced.graph.eliminate_dead_code(is_impure_node=_has_effect)
        traced.recompile()

    def make(self, inputs, kept):
        symbols = {name: inputs[i] for i, name in self.symbols}
        for i, strides in enumerate(self.strides):
            if strides:
                kept[i] = torch.empty_strided(kept[i].shape, strides(symbols), dtype=kept[i].dtype).copy_(kept[i])
        return [self._make(maker, inputs, kept, symbols) for maker in self.makers]

    @staticmethod
    def _make(maker, inputs, kept, symbols):
        kind, index = maker[0], maker[1]
        if kind == "kept":
            return kept[index]
        if kind == "input":
            return inputs[index]
        if kind == "constant":
            return index
        if kind == "size":
            return index(symbols)[0]
        base = inputs[index] if kind == "view of input" else kept[index]
        shape, stride, offset = (f(symbols) for f in maker[2:])
        return base.as_strided(shape, stride, base.storage_offset() + offset[0])


def _has_effect(node):
    if node.op in ("placeholder", "output"):
        return True
    schema = getattr(node.target, "_schema", None)
    return schema is None and node.op == "call_function" and node.is_impure() or bool(schema and schema.is_mutable)


# ---------------------------------------------------------------------------------------------------------- backend


# torch.nn.Buffer is there from 2.5 on.
_PLAIN = {torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", torch.Tensor), torch._subclasses.FakeTensor}


def _check_inputs(gm, inputs):
    for node, value in zip((n for n in gm.graph.nodes if n.op == "placeholder"), inputs):
        if not isinstance(value, torch.Tensor):
            continue
        if value.device.type != "cpu":
            raise _Left(f"input '{node.name}' is on {value.device}, and this build compiles for the CPU only")
        if value.layout != torch.strided:
            raise _Left(f"input '{node.name}' has layout {value.layout}")
        if value.is_quantized:
            raise _Left(f"input '{node.name}' is quantized")
        if type(value) not in _PLAIN:
            raise _Left(f"input '{node.name}' is a {type(value).__name__}, a subclass of Tensor")
        if value.is_conj() or value.is_neg():
            raise _Left(f"input '{node.name}' is a lazy conjugate or negative")
    if torch.is_grad_enabled() and any(isinstance(v, torch.Tensor) and v.requires_grad for v in inputs):
        raise _Left("gradients are needed, and training is not there yet: call it under torch.no_grad()")


def _draws_nothing(node):
    """Whether the dropout in a call is switched off."""
    for i, parameter in enumerate(node.target._schema.arguments):
        given = node.args[i] if i < len(node.args) else node.kwargs.get(parameter.name, parameter.default_value)
        if parameter.name in ("dropout_p", "p", "dropout", "train", "training") and not given:
            return True
    return False


def _check_graph(traced):
    for node in traced.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.device.type != "cpu":
            raise _Left(f"'{node.name}' is on {value.device}, and this build compiles for the CPU only")
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()) and not _draws_nothing(node):
            raise _Left(f"'{node.name}' draws random numbers, which only PyTorch's generator gives as PyTorch does")


def _name_of(gm):
    for node in gm.graph.nodes:
        stack = node.meta.get("nn_module_stack")
        if stack:
            kind = next(iter(stack.values()))[1]
            return getattr(kind, "__name__", str(kind).rsplit(".", 1)[-1])
    return "graph"


def _compile(gm, inputs, mode, options):
    _check_inputs(gm, inputs)
    traced, opaque = capture(gm, inputs)
    outputs = _Outputs(traced)
    outputs.restrict(traced)
    model = _strata.compile_fx(
        traced,
        _name_of(gm),
        options.get("backend", "strata"),
        mode or options.get("mode", "default"),
        int(options.get("threads", torch.get_num_threads())),
        set(options.get("disabled_passes", ())),
    )
    if outputs.plain:
        return (lambda *values: model(values)), opaque

    def call(*values):
        return outputs.make(values, model(values))

    return call, opaque


def backend(gm, inputs, *, mode=None, options=None, **more):
    """`torch.compile(model, backend="strata")` calls this with Dynamo's graph and its inputs."""
    calls = sum(node.op not in ("placeholder", "output", "get_attr") for node in gm.graph.nodes)
    name = _name_of(gm)
    try:
        compiled, opaque = _compile(gm, inputs, mode, dict(options or {}, **more))
        report = Report(name, calls, opaque)
    except (_Left, _strata.StrataError) as error:
        compiled, report = gm.forward, Report(name, calls, reason=str(error))
    except Exception as error:  # ours or PyTorch's: the program runs as before, and it is said
        first_line = (str(error).splitlines() or [""])[0]
        compiled, report = gm.forward, Report(name, calls, reason=f"{type(error).__name__} in the backend: {first_line}")
    with _lock:
        _reports.append(report)
    return compiled


# ------------------------------------------------------------------------------------------------------------ explain


class Explanation:
    """What `torch.compile` makes of a call: `graphs`, `graph_count`, `graph_break_count`, `break_reasons`, `op_count`,
    `ops_per_graph`, `out_guards`, `compile_times` as PyTorch counts them, and `reports`: what Strata makes of each graph."""

    def __init__(self, dynamo, found):
        self._dynamo, self.reports = dynamo, found

    def __getattr__(self, name):
        return getattr(self._dynamo, name)

    def __str__(self):
        return "\n".join([str(self._dynamo), "Strata:"] + [f"  {report!r}" for report in self.reports])


def explain(function, *args, **kwargs):
    def run(*args, **kwargs):
        dynamo = torch._dynamo.explain(function)(*args, **kwargs)
        torch._dynamo.reset()
        before = len(reports())
        torch.compile(function, backend=backend)(*args, **kwargs)
        torch._dynamo.reset()
        return Explanation(dynamo, reports()[before:])

    return run(*args, **kwargs) if args or kwargs else run
