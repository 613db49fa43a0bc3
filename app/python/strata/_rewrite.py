# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites of the graph of ATen calls into what the compiler can read, without a change of meaning.

Each takes the traced GraphModule, changes its graph in place, and leaves `meta["val"]` right on every node.
"""
import operator

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from . import _strata
from ._left import Left, place

aten = torch.ops.aten


def _call(graph, like, target, args, value, kwargs=None):
    """A new node with the source line of `like`; `value`: what it gives, as a fake tensor."""
    node = graph.call_function(target)
    node.args, node.kwargs = tuple(args), kwargs or {}  # not above: torch.fx would warn of symbolic sizes
    node.meta.update({k: v for k, v in like.meta.items() if k != "val"})
    node.meta["val"] = value
    return node


# ------------------------------------------------------------------------------------------------------------ regions


def _enters(node):
    return getattr(node.target, "__name__", "") == "_enter_autocast"


def _leaves(node):
    return getattr(node.target, "__name__", "") == "_exit_autocast"


class _Casting(torch.fx.Interpreter):
    """Runs a graph with autocast's conversions as calls of their own.

    What autocast does to an operator is read off the type of its result, with and without it: lower precision means that
    float32 operands are converted down, higher that 16-bit ones are converted up.
    """

    def __init__(self, module, ambient):
        super().__init__(module)
        self.states = [ambient]

    def call_function(self, target, args, kwargs):
        name = getattr(target, "__name__", "")
        if name == "_enter_autocast":
            dtype = args[1] if len(args) > 1 else None
            self.states.append((_switches_on(*args), dtype or torch.get_autocast_dtype("cpu")))
            return None
        if name == "_exit_autocast":
            self.states.pop()
            return None
        enabled, dtype = self.states[-1]
        if enabled and isinstance(target, torch._ops.OpOverload):
            args, kwargs = self._converted(target, args, kwargs, dtype)
        return super().call_function(target, args, kwargs)

    @staticmethod
    def _converted(target, args, kwargs, low):
        leaves = [v for v in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(v, torch.Tensor)]
        kinds = {v.dtype for v in leaves if v.is_floating_point()}
        if not kinds & {torch.float32, low} or target._schema.is_mutable:
            return args, kwargs
        # Operands of different types: only autocast may be able to make them equal.
        before = _result_types(target, args, kwargs, low, False) if len(kinds) == 1 else None
        after = _result_types(target, args, kwargs, low, True)
        if before == after or not after & {torch.float32, low}:
            return args, kwargs
        wanted = low if low in after else torch.float32

        def convert(value):
            if isinstance(value, torch.Tensor) and value.dtype in (torch.float32, torch.bfloat16, torch.float16):
                return value if value.dtype == wanted else aten.to.dtype(value, wanted)
            return value

        return torch.utils._pytree.tree_map(convert, (args, kwargs))


def _result_types(target, args, kwargs, low, enabled):
    """Of a call on fake tensors, which is not traced."""
    with torch.fx.experimental.proxy_tensor.disable_proxy_modes_tracing():
        with torch.autocast("cpu", low, enabled=enabled, cache_enabled=False):
            result = target(*args, **kwargs)
    return {v.dtype for v in torch.utils._pytree.tree_leaves(result) if isinstance(v, torch.Tensor)}


def has_autocast(traced):
    """Whether a region of the graph is under autocast for the CPU."""
    return any(_enters(node) and _switches_on(*node.args) for node in traced.graph.nodes)


def _switches_on(device, dtype=None, enabled=True, *_):
    return device == "cpu" and bool(enabled)


def drop_autocast(traced):
    """Regions that switch autocast off where it is off, as networks have them around their positions, say nothing."""
    for node in reversed(list(traced.graph.nodes)):
        if _leaves(node) or _enters(node):
            traced.graph.erase_node(node)


def casting(traced):
    """What runs `traced` with autocast made explicit; to be traced without autocast."""
    ambient = (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))
    return _Casting(traced, ambient)


def drop_regions(traced):
    """Switches of gradients say nothing where none are taken. Returns whether they are switched on anywhere."""
    enabled = False
    for node in list(traced.graph.nodes):
        if node.target is torch._C._set_grad_enabled:
            enabled |= bool(node.args[0])
            traced.graph.erase_node(node)
    return enabled


# ------------------------------------------------------------------------------------------------------------ in place

# What exchanges a tensor's memory for another's; `x.data = y` was the first up to 2.13 and is the second since.
_EXCHANGES = {"aten::set_.source_Tensor", "aten::shallow_copy_data_"}

_SHAPE_CHANGES = {"squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_", "swapdims_", "as_strided_"}


def shape_changes(traced):
    """In-place changes of shape are views: what was the tensor is no longer looked at. Returns the nodes for which that is not so: they
    would change an input, or the tensor's memory. A tensor set to itself, as by `module.to(dtype)` with the type that it has, is unchanged."""
    refused = []
    for node in list(traced.graph.nodes):
        name = _name(node)
        exchanges = isinstance(node.target, torch._ops.OpOverload) and node.target.name() in _EXCHANGES
        if exchanges and node.args[0] is node.args[1]:
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
            continue
        if not exchanges and torch.Tag.inplace_view not in getattr(node.target, "tags", ()):
            continue
        if name not in _SHAPE_CHANGES or node.args[0].op == "placeholder":
            refused.append(node)
            continue
        overload = "int" if name == "transpose_" else node.target._overloadname
        node.target = getattr(getattr(aten, name[:-1]), overload)
    return refused


# Views through which the compiler writes back by itself; everything else goes through the memory of what is viewed.
_INVERTIBLE = {
    "view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "alias", "detach", "contiguous", "_unsafe_view", "to", "view_as",
    "reshape_as", "lift_fresh", "transpose", "mT", "adjoint", "narrow", "t", "permute", "select", "slice", "split", "split_with_sizes",
    "unbind", "chunk", "dropout", "real", "imag", "view_as_real", "view_as_complex", "conj", "_conj", "movedim", "moveaxis", "swapaxes",
    "swapdims", "numpy_T", "ravel", "diagonal", "tensor_split", "hsplit", "vsplit", "dsplit", "positive", "resolve_conj", "resolve_neg",
    "atleast_1d", "atleast_2d", "atleast_3d",
}


def is_view(node):
    """Whether a node's value lies in the memory of its first operand, and the node does not write it."""
    if node.op != "call_function" or not node.args or not isinstance(node.args[0], torch.fx.Node):
        return False
    return _memory(node.meta.get("val")) is not None and _memory(node.meta.get("val")) == _memory(node.args[0].meta.get("val"))


def _memory(value):
    if isinstance(value, (tuple, list)) and value:
        value = value[0]
    if isinstance(value, torch.Tensor) and value.layout == torch.strided:
        return value.untyped_storage()._cdata
    return None


def _name(node):
    packet = getattr(node.target, "overloadpacket", None)
    return packet.__name__ if packet is not None else getattr(node.target, "__name__", "")


def _chain(node):
    """The views that lead from `node` to what owns the memory, and that node."""
    views = []
    while is_view(node):
        if not node.target.__name__ == "getitem" and not (_schema(node) and _schema(node).is_mutable):
            views.append(node)
        node = node.args[0]
    return views, node


def owner(node):
    """The node whose memory a view is a part of; in-place operators give back their operand."""
    return _chain(node)[1]


def starts_in_memory(traced):
    """Offsets of `as_strided` count from the first element of what owns the memory, as the compiler has it, not from the start of a
    larger tensor that an input may be a part of. Returns a node for which there is no such number."""
    for node in traced.graph.nodes:
        if node.target is not aten.as_strided.default:
            continue
        offset = node.meta["val"].storage_offset() - owner(node).meta["val"].storage_offset()
        if not isinstance(offset, int) or offset < 0:
            return node
        node.args, node.kwargs = (*node.args[:3], offset), {}
    return None


def _schema(node):
    return getattr(node.target, "_schema", None)


def writes_through_views(traced, calls):
    """Writes to a diagonal, to windows, through `as_strided`: to a copy, which is put into the memory of what is viewed."""
    for node in list(traced.graph.nodes):
        if node.op != "call_function" or not _name(node).endswith("_") or not (_schema(node) and _schema(node).is_mutable):
            continue
        target = node.args[0] if node.args else None
        if not isinstance(target, torch.fx.Node) or not isinstance(target.meta.get("val"), torch.Tensor):
            continue
        views, base = _chain(target)
        if all(_name(view) in _INVERTIBLE for view in views):
            continue
        if target.meta["val"].dtype != base.meta["val"].dtype:
            raise Left(f"{place(node)} writes through a view of another type that is also a {', '.join(sorted({_name(v) for v in views} - _INVERTIBLE))}")
        _write_through_memory(traced.graph, node, target, base, calls)


def _write_through_memory(graph, node, target, base, calls):
    view, whole = target.meta["val"], base.meta["val"]
    fresh = view.new_empty(view.shape)
    with graph.inserting_before(node):
        copy = _call(graph, node, aten.clone.default, (target,), fresh, {"memory_format": torch.contiguous_format})
        written = _call(graph, node, node.target, (copy, *node.args[1:]), fresh, dict(node.kwargs))
        offset = view.storage_offset() - whole.storage_offset()
        place = (base, written, list(view.shape), list(view.stride()), offset)
        scattered = _call(graph, node, aten.as_strided_scatter.default, place, whole.new_empty(whole.shape))
        back = _call(graph, node, aten.copy_.default, (base, scattered), whole)
    back.meta["val"] = whole
    calls.replace(scattered)
    node.replace_all_uses_with(target)
    graph.erase_node(node)


# --------------------------------------------------------------------------------------------------------- hidden writes


def hides_writes(node):
    """Whether a call of a compound operator ends in such a `batch_norm`."""
    return node.target is aten.instance_norm.default and node.args[3] is not None and bool(node.args[5])


def batch_norms(traced):
    """Batch norms that learn write their running statistics, which their schemas do not say: made visible."""
    graph = traced.graph
    for node in list(graph.nodes):
        native = node.target is aten.native_batch_norm.default
        if not native and node.target is not aten.batch_norm.default or not node.args[5] or node.args[3] is None:
            continue
        x, weight, bias, mean, variance, _, momentum, eps = node.args[:8]
        value = node.meta["val"][0] if native else node.meta["val"]
        statistics = [v.meta["val"].new_empty(v.meta["val"].shape) for v in (mean, variance)]
        channels = value.new_empty((value.shape[1],), dtype=statistics[0].dtype)
        with graph.inserting_before(node):
            results = [value, channels, channels, *statistics]
            args = (x, weight, bias, mean, variance, True, momentum, eps)
            made = _call(graph, node, aten._native_batch_norm_legit_functional.default, args, results)
            parts = [_call(graph, node, operator.getitem, (made, i), results[i]) for i in (0, 3, 4)]
            for target, part in ((mean, parts[1]), (variance, parts[2])):
                _call(graph, node, aten.copy_.default, (target, part), target.meta["val"])
        node.replace_all_uses_with(made if native else parts[0])
        graph.erase_node(node)


# ------------------------------------------------------------------------------------------------------------ numbers


def sums_of_sizes(traced):
    """`torch.sym_sum` of sizes as additions."""
    for node in list(traced.graph.nodes):
        if node.op != "call_function" or node.target is not getattr(torch, "sym_sum", None):
            continue
        total, *rest = node.args[0]
        for part in rest:
            values = [v.meta["val"] if isinstance(v, torch.fx.Node) else v for v in (total, part)]
            with traced.graph.inserting_before(node):
                total = _call(traced.graph, node, operator.add, (total, part), values[0] + values[1])
        node.replace_all_uses_with(total)
        traced.graph.erase_node(node)


def functions_of_sizes(traced):
    """Functions of sizes (`math.ceil(n / 2)`) that sizes in whole numbers tell: these stand in their places."""
    for node in list(traced.graph.nodes):
        if not _makes_size(node) or not _strata.is_size(node.meta["val"].node.expr):
            continue
        size = lambda n, node=node: node.meta["val"] if n is node else n
        for user in list(node.users):
            user.args, user.kwargs = torch.fx.map_arg(user.args, size), torch.fx.map_arg(user.kwargs, size)
        traced.graph.erase_node(node)


def _makes_size(node):
    """Whether a call is a function of sizes that the compiler does not have, and gives a whole number."""
    if node.op != "call_function" or isinstance(node.target, torch._ops.OpOverload) or not isinstance(node.meta.get("val"), torch.SymInt):
        return False
    return getattr(node.target, "__name__", "") not in _OF_SIZES and not depends_on_data(node.meta["val"])


_BINARY = {
    "add": aten.add.Tensor, "sub": aten.sub.Tensor, "mul": aten.mul.Tensor, "pow": aten.pow.Tensor_Tensor, "mod": aten.remainder.Tensor,
    "truediv": aten.div.Tensor, "eq": aten.eq.Tensor, "ne": aten.ne.Tensor, "lt": aten.lt.Tensor, "le": aten.le.Tensor,
    "gt": aten.gt.Tensor, "ge": aten.ge.Tensor, "sym_max": aten.maximum.default, "sym_min": aten.minimum.default,
    "and_": aten.logical_and.default, "or_": aten.logical_or.default,
}
_OF_WHOLE_NUMBERS = {
    "and_": aten.bitwise_and.Tensor, "or_": aten.bitwise_or.Tensor, "xor": aten.bitwise_xor.Tensor,
    "lshift": aten.bitwise_left_shift.Tensor, "rshift": aten.bitwise_right_shift.Tensor,
}
_UNARY = {
    "neg": aten.neg.default, "abs": aten.abs.default, "_sym_sqrt": aten.sqrt.default, "sqrt": aten.sqrt.default, "exp": aten.exp.default,
    "_sym_cos": aten.cos.default, "_sym_sin": aten.sin.default, "_sym_exp": aten.exp.default, "_sym_log": aten.log.default,
    "sym_not": aten.logical_not.default, "_sym_tanh": aten.tanh.default, "cos": aten.cos.default, "sin": aten.sin.default,
    "floor": aten.floor.default, "ceil": aten.ceil.default, "log": aten.log.default, "tanh": aten.tanh.default,
    "trunc": aten.trunc.default, "sym_int": aten.trunc.default, "round": aten.round.default, "_sym_log2": aten.log2.default,
    "_sym_tan": aten.tan.default, "_sym_sinh": aten.sinh.default, "_sym_cosh": aten.cosh.default, "_sym_asin": aten.asin.default,
    "_sym_acos": aten.acos.default, "_sym_atan": aten.atan.default,
}
# Python's functions of sizes that the compiler has.
_OF_SIZES = {"add", "sub", "mul", "floordiv", "mod", "neg", "sym_max", "sym_min"}
_DTYPES = {torch.SymInt: torch.int64, torch.SymFloat: torch.float64, torch.SymBool: torch.bool}


def depends_on_data(value):
    """Whether a size is only known when the graph runs."""
    return isinstance(value, torch.SymInt) and bool(free_unbacked_symbols(value))


def _symbols(value):
    """The symbols in the sizes of a node's value, or in a size."""
    found = set()
    for leaf in torch.utils._pytree.tree_leaves(value):
        numbers = (*leaf.shape, *leaf.stride()) if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided else (leaf,)
        for number in numbers:
            if isinstance(number, torch.SymInt):
                found |= number.node.expr.free_symbols
    return found


def mark_sizes_of_data(traced):
    """Marks the nodes that give sizes which do not follow from the inputs' and from earlier ones: they are never removed, and only the
    compiler can compute them."""
    known = set()
    for node in traced.graph.nodes:
        found = _symbols(node.meta.get("val"))
        if node.op == "call_function" and found - known:
            node.meta["gives_size"] = True
        known |= found


# What the compiler computes such sizes of; what else has one (slices at such places) it cannot follow.
_GIVERS = {
    "item", "_local_scalar_dense", "nonzero", "argwhere", "masked_select", "index", "_unique", "_unique2", "unique_dim", "unique_consecutive",
    "unique_dim_consecutive", "repeat_interleave", "bincount",
}


def size_without_giver(traced):
    """The first node that gives a size which the compiler cannot compute, or None."""
    return next((n for n in traced.graph.nodes if n.meta.get("gives_size") and _name(n) not in _GIVERS), None)


def correct_ranges(traced):
    """PyTorch bounds what a mask selects by the elements of `self`, though a larger mask selects some of them several times."""
    for node in traced.graph.nodes:
        if node.op != "call_function" or node.target is not aten.masked_select.default:
            continue
        size, operands = node.meta["val"].shape[0], [n.meta["val"].shape for n in node.args[:2]]
        if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol and operands[0] != operands[1]:
            _unbounded(size.node.shape_env, size.node.expr)


def _unbounded(shape_env, symbol):
    from torch.utils._sympy.value_ranges import ValueRanges

    shape_env.var_to_range[symbol] = ValueRanges(0, torch.utils._sympy.numbers.int_oo)


def _in_sizes(traced):
    """Symbols that sizes of tensors are made of."""
    return _symbols([v for n in traced.graph.nodes for v in torch.utils._pytree.tree_leaves(n.meta.get("val")) if isinstance(v, torch.Tensor)])


# Python's numbers of the types that they are here.
_KINDS = {torch.float64: 1.5, torch.int64: 1, torch.bool: True}


class Numbers:
    """Numbers that are only known when the graph runs (`item()`, arithmetic on floats) as tensors without dimensions. `tensors`: the
    node for each of them; arguments that must be numbers are left to the caller."""

    def __init__(self, traced):
        self.graph, self.tensors, self.sizes = traced.graph, {}, _in_sizes(traced)
        for node in list(self.graph.nodes):
            value = node.meta.get("val")
            if _makes_size(node):  # what floats do not tell exactly: others are gone (functions_of_sizes)
                self._read(node, value)
                continue
            if node.op != "call_function" or self._is_size(node, value):
                continue
            from_data = not isinstance(value, torch.Tensor) and value is not None and any(n in self.tensors for n in node.all_input_nodes)
            if self._item(node) or isinstance(value, (torch.SymFloat, torch.SymBool)) or depends_on_data(value):
                self._define(node, value)
            elif from_data and isinstance(value, (torch.SymInt, int, float)):
                self._define(node, value)
            elif isinstance(node.target, torch._ops.OpOverload) and any(n in self.tensors for n in node.all_input_nodes):
                self._use(node)
        self._return()

    def _return(self):
        """Returns a tensor for a number; `numbers` of the output are the places of such."""
        output = next(node for node in reversed(self.graph.nodes) if node.op == "output")
        values, spec = torch.utils._pytree.tree_flatten(output.args[0])
        made = {i: self.tensors[v] for i, v in enumerate(values) if isinstance(v, torch.fx.Node) and v in self.tensors}
        if made:
            output.args = (torch.utils._pytree.tree_unflatten([made.get(i, v) for i, v in enumerate(values)], spec),)
            output.meta["numbers"] = set(made)

    def _read(self, node, value):
        """A size that is computed with floats, as an element of a tensor."""
        self._define(node, value)
        if node not in self.tensors:
            return
        with self.graph.inserting_before(node):
            read = _call(self.graph, node, aten._local_scalar_dense.default, (self.tensors.pop(node),), value)
        node.replace_all_uses_with(read)

    def _is_size(self, node, value):
        """Whether a whole number, or a comparison of such, is or speaks of sizes: these stay symbols."""
        if isinstance(value, torch.SymBool):
            compared = [n.meta.get("val") for n in node.all_input_nodes]
            asserted = all(getattr(user.target, "__name__", "").startswith("_assert_scalar") for user in node.users)
            return asserted and all(isinstance(v, torch.SymInt) and self._made_of_sizes(v) for v in compared)
        return isinstance(value, torch.SymInt) and (self._made_of_sizes(value) or not self._only_computed_with(node))

    def _made_of_sizes(self, value):
        return value.node.expr.free_symbols <= self.sizes

    def _only_computed_with(self, node):
        """Whether a number goes nowhere but into operators that take a tensor instead."""
        for user in node.users:
            value = user.meta.get("val")
            if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                if not self._only_computed_with(user):
                    return False
            elif user.target not in self._WITH_TENSOR and user.target not in (aten.full.default, aten.scalar_tensor.default):
                return False
        return True

    @staticmethod
    def _item(node):
        return node.target in (aten.item.default, aten._local_scalar_dense.default)

    def _define(self, node, value):
        kind = self._kind_of_element(node.args[0].meta["val"]) if value is None else type(value)
        dtype = _DTYPES.get(kind) or {bool: torch.bool, int: torch.int64, float: torch.float64}[kind]
        with self.graph.inserting_before(node):
            if self._item(node):
                made = self._scalar(node, node.args[0], dtype)
                if node.args[0].op == "placeholder" and isinstance(value, torch.SymFloat):
                    node.args[0].meta["number"] = value  # that is handed over as a tensor
            else:
                made = self._arithmetic(node, dtype)
        if made is not None:
            self.tensors[node] = made

    @staticmethod
    def _kind_of_element(tensor):
        """Python's type of an element, for an `item()` of which the trace does not say what it gives."""
        return float if tensor.dtype.is_floating_point else bool if tensor.dtype == torch.bool else int

    def _scalar(self, like, tensor, dtype):
        fake = tensor.meta["val"]
        if fake.dim():
            tensor = _call(self.graph, like, aten.reshape.default, (tensor, []), fake.new_empty(()))
        return self._cast(like, tensor, dtype)

    def _cast(self, like, tensor, dtype):
        fake = tensor.meta["val"]
        if fake.dtype == dtype:
            return tensor
        return _call(self.graph, like, aten.to.dtype, (tensor, dtype), fake.new_empty(fake.shape, dtype=dtype))

    def _arithmetic(self, node, dtype):
        name = getattr(node.target, "__name__", "")
        values = [v for v in node.args if v is not None]  # of `round`
        # Comparisons and divisions of whole numbers are Python's, on numbers of 64 bits.
        kinds = [self._dtype_of(v) for v in values]
        floats = torch.float64 in kinds or dtype == torch.float64 or name in ("truediv", "sqrt", "_sym_sqrt")
        inside = torch.float64 if floats else torch.int64
        if name in ("sym_float",):
            return self._operand(node, values[0], torch.float64)
        if name == "sym_ite":
            args = [self._operand(node, values[0], torch.bool), *(self._operand(node, v, dtype) for v in values[1:])]
            return _call(self.graph, node, aten.where.self, tuple(args), torch.empty((), dtype=dtype))
        if name == "floordiv":
            args = tuple(self._operand(node, v, inside) for v in values)
            return _call(self.graph, node, aten.div.Tensor_mode, args, torch.empty((), dtype=dtype), {"rounding_mode": "floor"})
        target = _BINARY.get(name) if len(values) == 2 else _UNARY.get(name)
        if dtype == torch.int64:
            target = _OF_WHOLE_NUMBERS.get(name, target)
        if target is None:
            return None
        if name in ("and_", "or_", "sym_not") and dtype == torch.bool:
            inside = torch.bool
        args = tuple(self._operand(node, v, inside) for v in values)
        made = inside if dtype == torch.int64 else dtype
        return self._cast(node, _call(self.graph, node, target, args, torch.empty((), dtype=made)), dtype)

    def _dtype_of(self, value):
        if isinstance(value, torch.fx.Node):
            value = self.tensors[value].meta["val"] if value in self.tensors else value.meta["val"]
        if isinstance(value, torch.Tensor):
            return value.dtype
        return _DTYPES.get(type(value)) or {bool: torch.bool, int: torch.int64, float: torch.float64}.get(type(value), torch.float64)

    def _operand(self, like, value, dtype):
        if isinstance(value, torch.fx.Node) and value in self.tensors:
            return self._cast(like, self.tensors[value], dtype)
        if isinstance(value, (torch.fx.Node, torch.SymInt)):  # a size: known before the graph runs
            one = _call(self.graph, like, aten.full.default, ([], 1), torch.empty((), dtype=dtype), {"dtype": torch.int64})
            one.meta["val"] = torch.empty((), dtype=torch.int64)
            size = _call(self.graph, like, aten.mul.Tensor, (one, value), torch.empty((), dtype=torch.int64))
            return self._cast(like, size, dtype)
        return _call(self.graph, like, aten.full.default, ([], value), torch.empty((), dtype=dtype), {"dtype": dtype})

    # --- where they are used

    _WITH_TENSOR = {
        aten.add.Tensor: aten.add.Tensor, aten.sub.Tensor: aten.sub.Tensor, aten.mul.Tensor: aten.mul.Tensor,
        aten.div.Tensor: aten.div.Tensor, aten.add.Scalar: aten.add.Tensor, aten.mul.Scalar: aten.mul.Tensor,
        aten.div.Scalar: aten.div.Tensor, aten.sub.Scalar: aten.sub.Tensor, aten.pow.Tensor_Scalar: aten.pow.Tensor_Tensor,
        aten.eq.Scalar: aten.eq.Tensor, aten.ne.Scalar: aten.ne.Tensor, aten.lt.Scalar: aten.lt.Tensor, aten.le.Scalar: aten.le.Tensor,
        aten.gt.Scalar: aten.gt.Tensor, aten.ge.Scalar: aten.ge.Tensor, aten.clamp_min.default: aten.clamp_min.Tensor,
        aten.clamp_max.default: aten.clamp_max.Tensor, aten.remainder.Scalar: aten.remainder.Tensor, aten.fmod.Scalar: aten.fmod.Tensor,
        aten.floor_divide.default: aten.floor_divide.default, aten.div.Tensor_mode: aten.div.Tensor_mode,
    }
    # For these PyTorch rounds a number to a 16-bit type.
    _ROUND = {aten.add.Tensor, aten.sub.Tensor, aten.rsub.Scalar, aten.pow.Scalar, aten.remainder.Scalar, aten.fmod.Scalar}
    # These take numbers in other places.
    _WITHIN = {aten.masked_fill.Scalar, aten.masked_fill_.Scalar, aten.clamp.default, aten.clamp_.default}
    # The number comes first.
    _NUMBER_FIRST = {aten.rsub.Scalar: aten.sub.Tensor, aten.pow.Scalar: aten.pow.Tensor_Tensor}

    def _use(self, node):
        with self.graph.inserting_before(node):
            made = self._used_by(node)
        if made is not None:
            node.replace_all_uses_with(made)
            self.graph.erase_node(node)

    def _number(self, argument):
        return self.tensors.get(argument) if isinstance(argument, torch.fx.Node) else None

    def _used_by(self, node):
        value, args = node.meta.get("val"), node.args
        if node.target in (aten.full.default, aten.scalar_tensor.default):
            return self._filled(node, value)
        if node.kwargs and node.target not in (aten.div.Tensor_mode, aten.add.Tensor, aten.sub.Tensor):
            return None  # a bound or an operand by name
        if node.target in self._WITHIN:
            made = self._filled_where(node, *args) if _name(node).startswith("masked_fill") else self._clamped(node, *(*args, None)[:3])
            written = made is not None and node.target._schema.is_mutable
            return _call(self.graph, node, aten.copy_.default, (args[0], made), value) if written else made
        others = [n for n in node.all_input_nodes if n in self.tensors]
        if len(args) < 2 or len(others) != 1 or not (node.target in self._WITH_TENSOR or node.target in self._NUMBER_FIRST):
            return None
        tensor, number = (args[1], args[0]) if node.target is aten.pow.Scalar else args[:2]
        number = self._number(number)
        if number is None or not isinstance(tensor, torch.fx.Node) or not isinstance(tensor.meta.get("val"), torch.Tensor):
            return None
        return self._with_tensor(node, node.target, tensor, number, value, args[2:], dict(node.kwargs))

    def _filled_where(self, node, tensor, mask, bound):
        number, value = self._number(bound), node.meta["val"]
        if number is None:
            return None
        return _call(self.graph, node, aten.masked_fill.Tensor, (tensor, mask, self._cast(node, number, value.dtype)), value)

    def _clamped(self, node, tensor, least, most):
        """One bound after the other, each as its operator would have it."""
        bounds = [(target, bound, self._number(bound)) for target, bound in ((aten.clamp_min.default, least), (aten.clamp_max.default, most))]
        if any(isinstance(bound, torch.fx.Node) and number is None for _, bound, number in bounds):
            return None
        for target, bound, number in bounds:
            fake = tensor.meta["val"]
            if bound is not None:
                kind = bound if number is None else _KINDS[number.meta["val"].dtype]
                value = fake.new_empty(fake.shape, dtype=torch.result_type(fake, kind))
                constant = number is None
                tensor = _call(self.graph, node, target, (tensor, bound), value) if constant else self._with_tensor(node, target, tensor, number, value)
        return tensor

    def _with_tensor(self, like, called, tensor, number, value, more=(), keywords=None):
        """`called` on a tensor and a number, which gives `value`, as the operator that takes a tensor for the number."""
        fake = tensor.meta["val"]
        # A number does not widen the tensor's type.
        kind = _KINDS[number.meta["val"].dtype]
        inside = torch.result_type(torch.empty([1] if fake.dim() else [], dtype=fake.dtype), kind)
        if inside in (torch.float16, torch.bfloat16) and called not in self._ROUND:
            inside = torch.float32
            tensor = self._cast(like, tensor, torch.float32)
        number = self._cast(like, number, inside)
        result = value if value.dtype in (torch.bool, inside) else value.new_empty(value.shape, dtype=inside)
        first = called in self._NUMBER_FIRST
        target, pair = (self._NUMBER_FIRST[called], (number, tensor)) if first else (self._WITH_TENSOR[called], (tensor, number))
        made = _call(self.graph, like, target, (*pair, *more), result, keywords)
        return made if result is value else self._cast(like, made, value.dtype)

    def _filled(self, node, value):
        size = node.args[0] if node.target is aten.full.default else []
        source = node.args[1] if node.target is aten.full.default else node.args[0]
        number = self._cast(node, self._operand(node, source, value.dtype), value.dtype)
        ones = _call(self.graph, node, aten.full.default, (size, 1), value, {"dtype": value.dtype})
        target = aten.logical_and.default if value.dtype == torch.bool else aten.mul.Tensor
        return _call(self.graph, node, target, (ones, number), value)


# ------------------------------------------------------------------------------------------------------------ objects

_MAY_RETURN_OPERAND = {
    "to", "contiguous", "type_as", "dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "float", "expand_as",
    "_to_copy_",
}


def same_objects(traced):
    """Results that are one object with an input or an earlier value: in-place operators return their operand, `contiguous` and `to` do
    where there is nothing to be done."""
    output = next(node for node in reversed(traced.graph.nodes) if node.op == "output")
    output.args = torch.fx.node.map_arg(output.args, _object_of)


def _object_of(node):
    while isinstance(node.target, torch._ops.OpOverload) and node.args and isinstance(node.args[0], torch.fx.Node):
        source = _operand_returned(node)
        if source is None or not _same_place(node.meta.get("val"), source.meta.get("val")):
            break
        node = source
    return node


def _operand_returned(node):
    schema = node.target._schema
    if schema.returns and schema.returns[0].alias_info is not None and schema.returns[0].alias_info.is_write:
        return node.args[0]
    return node.args[0] if node.target.overloadpacket.__name__ in _MAY_RETURN_OPERAND else None


def _same_place(a, b):
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return False
    if a.untyped_storage()._cdata != b.untyped_storage()._cdata:
        return False
    describe = lambda t: (t.dtype, tuple(map(str, t.shape)), tuple(map(str, t.stride())), str(t.storage_offset()), t.is_conj(), t.is_neg())
    return describe(a) == describe(b)


# ---------------------------------------------------------------------------------------------------------------- guards


def _is_convolution(node):
    return _name(node).startswith(("conv", "_conv")) and isinstance(node.target, torch._ops.OpOverload)


def chooses_convolution(guard):
    """Whether PyTorch's shape rule of convolutions made a guard."""
    where = str(getattr(guard, "sloc", ""))
    return "fake_impls.py" in where and where.rstrip(")").endswith(" in conv")


def convolves_row_by_row(traced):
    """Whether there are convolutions, all of operands that are row-major."""
    found = [node for node in traced.graph.nodes if node.op == "call_function" and _is_convolution(node)]
    operands = [n.meta.get("val") for node in found for n in node.all_input_nodes]
    return bool(found) and all(isinstance(v, torch.Tensor) and v.is_contiguous() for v in operands)


def forget_choices_of_convolutions(shape_env):
    """PyTorch's shape rule of convolutions asks which of its kernels would run, which depends on the batch (16 images or more), and so
    guards on it. For operands that are row-major the result is the same, and these are not our kernels: such bounds on a batch
    are taken back, so that one compile serves all."""
    chosen = [g for g in getattr(shape_env, "guards", ()) if chooses_convolution(g) and _bounds_one_size(g.expr)]
    for symbol in {symbol for guard in chosen for symbol in guard.expr.free_symbols}:
        _widen(shape_env, symbol, chosen)


def _bounds_one_size(expression):
    """Whether it says s < 16 or the like: an equality would have made the size a constant."""
    return getattr(expression, "is_Relational", False) and not expression.is_Equality and len(expression.free_symbols) == 1


def _widen(shape_env, symbol, chosen):
    from torch.utils._sympy.value_ranges import ValueRanges

    found = shape_env.var_to_range[symbol]
    if not hasattr(shape_env, "_refine_ranges") or symbol in shape_env.replacements:
        return
    shape_env.guards[:] = [g for g in shape_env.guards if not (g in chosen and symbol in g.expr.free_symbols)]
    shape_env.var_to_range[symbol] = ValueRanges(min(found.lower, 2), torch.utils._sympy.numbers.int_oo)
    for guard in shape_env.guards:
        if guard.expr.free_symbols == {symbol}:
            shape_env._refine_ranges(guard.expr)
