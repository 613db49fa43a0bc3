# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that write their operands (`addr_`, `angle.out`) as the operator with a fresh result, and a copy."""
import torch

# What operators that make tensors take beside their parameters, and their `out=` forms do not.
_OF_NEW = frozenset({"dtype", "layout", "device", "pin_memory"})


def _parameters(schema):
    return [(a.name, str(a.type)) for a in schema.arguments if not (a.kwarg_only and _written(a))]


def _written(argument):
    return argument.alias_info is not None and argument.alias_info.is_write


def _aliases(schema):
    return any(part.alias_info is not None for part in (*schema.arguments, *schema.returns))


def _fresh(target, name, beside=frozenset()):
    """The overload of `name` that takes the same, but for `beside`, and writes and aliases nothing, or None."""
    packet = getattr(getattr(torch.ops, target.namespace), name, None)
    wanted = _parameters(target._schema)
    for overload in packet.overloads() if packet is not None else ():
        found = getattr(packet, overload)
        if not _aliases(found._schema) and [p for p in _parameters(found._schema) if p[0] not in beside] == wanted:
            return found
    return None


def functional_form(target):
    """A function for a decomposition table, or None where there is no such form.

    It is never one for operators that change the shape or the memory of an operand. It raises ValueError for an `out=` of another
    shape than the result's.
    """
    schema = target._schema
    written = [a for a in schema.arguments if _written(a)]
    name = schema.name.split("::")[1]
    if not written or torch.Tag.inplace_view in target.tags:
        return None
    if all(a.kwarg_only for a in written):
        names = [a.name for a in written]
        fresh = _fresh(target, name)
        if fresh:
            return _with_out(fresh, names)
        fresh = _fresh(target, name, _OF_NEW)
        return fresh and _with_out(fresh, names, typed=True)
    in_place = len(written) == 1 and str(written[0].type) == "Tensor" and written[0].name == schema.arguments[0].name
    fresh = _fresh(target, name[:-1]) if in_place and name.endswith("_") and not name.endswith("__") else None
    return fresh and _in_place(fresh)


def _in_place(fresh):
    def write(self, *args, **kwargs):
        return self.copy_(fresh(self, *args, **kwargs))

    return write


def _made_type(dtype, args):
    """Of what is made for an `out` of that type: real where nothing complex goes in, which the compiler has kernels for."""
    is_complex = any(isinstance(a, complex) or (isinstance(a, torch.Tensor) and a.is_complex()) for a in args)
    return dtype if is_complex else dtype.to_real()


def _with_out(fresh, names, typed=False):
    """`typed`: the result is made in the type of `out`, not converted to it."""

    def write(*args, **kwargs):
        outs = [kwargs.pop(name) for name in names]
        if typed:
            kwargs["dtype"] = _made_type(outs[0].dtype, args)
        results = fresh(*args, **kwargs)
        for out, result in zip(outs, results if isinstance(results, (tuple, list)) else [results]):
            if out.shape != result.shape:
                raise ValueError(f"out= has shape {list(out.shape)} and the result of {fresh} {list(result.shape)}")
            out.copy_(result)
        return outs[0] if len(outs) == 1 else tuple(outs)

    return write
