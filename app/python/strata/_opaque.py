# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that the compiled program makes through PyTorch, in place of nodes that the compiler cannot compute.

Such a node becomes a call of an `OpaqueCall`, a function of tensors and sizes without side effects that the compiler could see:
what the operator writes is copied before, returned after, and written back by `aten.copy_` nodes, which the compiler knows. Calls
with effects (random numbers, assertions, operators that only write) take a token from the one before and hand one on, so that they
stay in the program's order.
"""
import itertools
import operator
import weakref

import torch

from . import _strata
from ._left import Left, place

_ids = itertools.count(1)
_live = weakref.WeakValueDictionary()


class _Slot:
    """A place in an operator's arguments that takes a value in every call. `kind`: "tensor", "size", or "number": a tensor's item."""

    def __init__(self, kind, index):
        self.kind, self.index = kind, index


def _fill(template, tensors, sizes):
    if isinstance(template, _Slot):
        if template.kind == "size":
            return sizes[template.index]
        return tensors[template.index] if template.kind == "tensor" else tensors[template.index].item()
    if isinstance(template, (tuple, list)):
        parts = [_fill(part, tensors, sizes) for part in template]
        return tuple(parts) if isinstance(template, tuple) else parts
    if isinstance(template, dict):
        return {key: _fill(part, tensors, sizes) for key, part in template.items()}
    if isinstance(template, slice):
        return slice(*(_fill(part, tensors, sizes) for part in (template.start, template.stop, template.step)))
    return template


def _laid_out(tensor, strides):
    """The tensor with these strides: itself, a view, or a copy."""
    if tensor.stride() == strides:
        return tensor
    if all(n <= 1 or a == b for n, a, b in zip(tensor.shape, tensor.stride(), strides)):
        return tensor.as_strided(tensor.shape, strides)
    # Along a stride of 0 all elements are one: that one is copied.
    once = tensor[tuple(slice(None, 1 if s == 0 else None) for s in strides)]
    return torch.empty_strided(once.shape, strides, dtype=tensor.dtype).copy_(once).expand(tensor.shape)


def _plain(value):
    """Tensors of a result, in order, as they can be handed over; numbers as tensors."""
    if isinstance(value, torch.Tensor):
        return [value.resolve_conj().resolve_neg() if value.is_conj() or value.is_neg() else value]
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in _plain(part)]
    if isinstance(value, (bool, int, float)):
        return [torch.tensor(value, dtype={bool: torch.bool, int: torch.int64, float: torch.float64}[type(value)])]
    return []


def _as_real(value):
    """Complex numbers as the pairs that compiled code knows; other tensors themselves."""
    return torch.view_as_real(value.resolve_conj()) if value.is_complex() else value


class OpaqueCall:
    """The target of a node: what to call, and where its operands go. `written`: which tensors the operator writes."""

    __module__ = "strata"
    arguments = ()  # of the schema: see `_schema`

    def __init__(self, function, name, args, kwargs, ranks, pairs, written, effect):
        self.function, self.args, self.kwargs = function, args, kwargs
        self.ranks, self.pairs, self.written, self.effect = ranks, pairs, written, effect
        self.__name__ = name
        self.id = next(_ids)
        _live[self.id] = self
        space = "called_in_order" if effect else "called"
        self.strata_schema = f"{space}::{name}(int id, Tensor[] tensors, SymInt[] sizes) -> Tensor[]"

    @property
    def _schema(self):
        return self  # what torch.fx and its users ask for: `is_mutable`, `arguments`

    @property
    def is_mutable(self):
        return self.effect

    def __call__(self, _id, tensors, sizes):
        at, values = len(sizes) - sum(self.ranks), []
        for tensor, rank, pairs in zip(tensors, self.ranks, self.pairs):
            value = _laid_out(tensor, tuple(sizes[at : at + rank]))
            values.append(torch.view_as_complex(value) if pairs else value)
            at += rank
        for index in self.written:
            if values[index].data_ptr() == tensors[index].data_ptr():
                values[index] = values[index].clone(memory_format=torch.preserve_format)
        # What PyTorch does around the call of the whole graph was done when the graph was traced.
        with torch._C._DisableAutocast(), torch.no_grad():
            result = self.function(*_fill(self.args, values, sizes), **_fill(self.kwargs, values, sizes))
        return [*(_as_real(value) for value in (*(values[index] for index in self.written), *_plain(result))), _TOKEN]


_TOKEN = torch.zeros((), dtype=torch.int64)


def run(identity, tensors, sizes):
    """What the compiled program calls."""
    return _live[identity](identity, tensors, sizes)


_strata.set_caller(run)


# ------------------------------------------------------------------------------------------------------------ in the graph


class Calls:
    """Replaces nodes of one graph by opaque calls, in the order of the graph."""

    def __init__(self, traced, numbers=None):
        self.graph, self.traced = traced.graph, traced
        self.numbers = numbers or {}  # nodes that give numbers, as nodes that give tensors
        self.token = None
        self.names = []

    def _template(self, value, tensors, sizes):
        if isinstance(value, torch.fx.Node):
            kind = value.meta.get("val")
            if value in self.numbers:
                tensors.append(self.numbers[value])
                return _Slot("number", len(tensors) - 1)
            if isinstance(kind, torch.Tensor):
                tensors.append(value)
                return _Slot("tensor", len(tensors) - 1)
            if isinstance(kind, (torch.SymInt, int)) and not isinstance(kind, bool):
                sizes.append(kind)
                return _Slot("size", len(sizes) - 1)
            if value.op == "get_attr":
                return getattr(self.traced, value.target)
            raise _not_callable(value)
        if isinstance(value, torch.SymInt):
            sizes.append(value)
            return _Slot("size", len(sizes) - 1)
        if isinstance(value, (tuple, list)):
            parts = [self._template(part, tensors, sizes) for part in value]
            return tuple(parts) if isinstance(value, tuple) else parts
        if isinstance(value, dict):
            return {key: self._template(part, tensors, sizes) for key, part in value.items()}
        if isinstance(value, slice):
            return slice(*(self._template(part, tensors, sizes) for part in (value.start, value.stop, value.step)))
        return value

    def replace(self, node, effect=False, function=None):
        """Makes `node` a call through PyTorch; `effect`: it must be made, in the program's order."""
        function = function or node.target
        tensors, sizes = [], []
        args, kwargs = self._template(node.args, tensors, sizes), self._template(node.kwargs, tensors, sizes)
        written = _written(node, args, kwargs)
        given = [self._pairs(node, tensor) for tensor in tensors]
        pairs = [new is not old for new, old in zip(given, tensors)]
        strides = [s for t in given for s in t.meta["val"].stride()]
        ranks = [t.meta["val"].dim() for t in given]
        name = str(node.target) if isinstance(node.target, torch._ops.OpOverload) else f"torch.{_word(node.target)}"
        call = OpaqueCall(function, name, args, kwargs, ranks, pairs, written, effect)
        values = [tensors[i].meta["val"] for i in written] + _fakes(node.meta.get("val"))
        operands = given + ([self.token] if effect and self.token is not None else [])
        with self.graph.inserting_before(node):
            made = self.graph.call_function(call)
            made.args = (call.id, operands, [*sizes, *strides])  # not above: torch.fx would warn of symbolic sizes
            made.meta.update({k: v for k, v in node.meta.items() if k != "val"})
            made.meta["val"] = [*(_as_real(value) for value in values), _TOKEN]
            parts = [self._part(made, i) for i in range(len(values) + bool(effect))]
            parts[: len(values)] = [self._of_pairs(part, value) for part, value in zip(parts, values)]
            copies = {}
            for i, index in enumerate(written):
                copies[tensors[index]] = self._copy(node, tensors[index], parts[i])
        if effect:
            self.token = parts[-1]
        self.names.append(name)
        self._hand_over(node, parts[len(written) : len(values)], copies)
        return made

    def _part(self, made, index):
        part = self.graph.call_function(operator.getitem, (made, index))
        part.meta.update({k: v for k, v in made.meta.items() if k != "val"})
        part.meta["val"] = made.meta["val"][index]
        return part

    def _pairs(self, node, operand):
        """The pairs that a complex operand of a call lies in: the call makes complex numbers of them again."""
        value = operand.meta["val"]
        if not value.is_complex():
            return operand
        with self.graph.inserting_before(node):
            pairs = self.graph.call_function(torch.ops.aten.view_as_real.default, (operand,))
        pairs.meta.update({k: v for k, v in node.meta.items() if k != "val"})
        pairs.meta["val"] = _as_real(value)
        return pairs

    def _of_pairs(self, part, value):
        if not value.is_complex():
            return part
        made = self.graph.call_function(torch.ops.aten.view_as_complex.default, (part,))
        made.meta.update({**part.meta, "val": value})
        return made

    def _copy(self, node, operand, value):
        copy = self.graph.call_function(torch.ops.aten.copy_.default, (operand, value))
        copy.meta.update({k: v for k, v in node.meta.items() if k != "val"})
        copy.meta["val"] = operand.meta["val"]
        return copy

    def _hand_over(self, node, parts, copies):
        """Users of the node get the parts instead, or the operand that the operator wrote and returns."""
        result = node.meta.get("val")
        returns = _returns(node)
        if isinstance(result, torch.Tensor) or _is_number(result):
            # An in-place operator gives back its operand.
            source = returns[0] if returns else None
            node.replace_all_uses_with(copies.get(source, parts[0]) if parts else copies.get(source))
        elif isinstance(result, (tuple, list)):
            at = 0
            for index, value in enumerate(result):
                count = len(_fakes(value))
                for user in list(node.users):
                    if user.target.__name__ == "getitem" and user.args[1] == index:
                        source = returns[index] if index < len(returns) else None
                        user.replace_all_uses_with(copies[source] if source in copies else parts[at])
                        self.graph.erase_node(user)
                at += count
        self.graph.erase_node(node)


def _word(target):
    name = getattr(target, "name", None)
    return str(name() if callable(name) else name or getattr(target, "__name__", target)).replace("::", ".")


def _is_number(value):
    return isinstance(value, (int, float, bool, torch.SymInt, torch.SymFloat, torch.SymBool))


def _not_callable(node):
    return Left(f"{place(node)} gives a {type(node.meta.get('val')).__name__}, which can neither be compiled nor handed to PyTorch")


def _fakes(value):
    """Tensors of a node's value, in order; numbers are tensors without dimensions."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [fake for part in value for fake in _fakes(part)]
    if _is_number(value):
        kinds = {torch.SymInt: torch.int64, torch.SymFloat: torch.float64, torch.SymBool: torch.bool}
        kinds.update({int: torch.int64, float: torch.float64, bool: torch.bool})
        return [torch.empty((), dtype=kinds[type(value)])]
    return []


def _parameters(node):
    """(schema's parameter, argument) of a call of an operator."""
    for i, parameter in enumerate(node.target._schema.arguments):
        if i < len(node.args):
            yield parameter, node.args[i]
        elif parameter.name in node.kwargs:
            yield parameter, node.kwargs[parameter.name]


def written_operands(node):
    """The nodes that a call of an operator writes."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return []
    found = []
    for parameter, value in _parameters(node):
        if parameter.alias_info is not None and parameter.alias_info.is_write:
            found += [v for v in (value if isinstance(value, (tuple, list)) else [value]) if isinstance(v, torch.fx.Node)]
    return found


def _written(node, args, kwargs):
    """Which tensors of the templates are written, by the operator's schema."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return []
    found = []
    for i, parameter in enumerate(node.target._schema.arguments):
        slot = args[i] if i < len(args) else kwargs.get(parameter.name)
        if parameter.alias_info is not None and parameter.alias_info.is_write:
            found += [s.index for s in (slot if isinstance(slot, (tuple, list)) else [slot]) if isinstance(s, _Slot)]
    return found


def _returns(node):
    """For each result the operand that it is, or None."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return []
    by_name = {}
    for parameter, value in _parameters(node):
        if parameter.alias_info is not None and parameter.alias_info.is_write and isinstance(value, torch.fx.Node):
            for name in parameter.alias_info.before_set:
                by_name[name] = value
    found = []
    for result in node.target._schema.returns:
        names = result.alias_info.before_set if result.alias_info is not None and result.alias_info.is_write else ()
        found.append(next((by_name[name] for name in names if name in by_name), None))
    return found
