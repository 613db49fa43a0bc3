# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of ATen operators, recorded with what PyTorch gives; the scripts beside it say which.

A case: op, inputs (dtype, shape, strides, flat data), args and kwargs ({"t": k}: input k; {"dt": name}: dtype; {"dev": name}: device;
{"complex": [real, imaginary]}),
out (dtype, shape, strides, data; "view" when it shares memory with an input), and for differentiable calls cot and grads by input.
"""
import json
import math
import os

import torch

A = torch.ops.aten
inf, nan = math.inf, math.nan
CASES, SCHEMAS = [], {}


def f(*shape, lo=-2.0, hi=2.0, dt=torch.float32):
    return (torch.rand(shape, dtype=torch.float64) * (hi - lo) + lo).to(dt)


def i(*shape, lo=-5, hi=6, dt=torch.int64):
    return torch.randint(lo, hi, shape, dtype=torch.int64).to(dt)


def b(*shape):
    return torch.rand(shape) > 0.5


def t(values, dt=torch.float32):
    return torch.tensor(values, dtype=dt)


SPECIAL = [0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 0.5, -2.5, 1.5, 3.0, 100.0, -100.0]


def numbers(x):
    """In order; of complex numbers the parts, one after the other."""
    if x.is_complex():
        x = torch.view_as_real(x.resolve_conj())
    flat = x.contiguous().view(-1)
    if x.dtype == torch.bool:
        return [int(v) for v in flat.tolist()]
    if not x.dtype.is_floating_point:
        return flat.tolist()
    return [float("%.9g" % v) if math.isfinite(v) else v for v in flat.double().tolist()]


def dtype_name(d):
    return str(d).replace("torch.", "")


def pack_input(x):
    """Storage as it stands, so that strides are kept."""
    span = 1 + sum((n - 1) * s for n, s in zip(x.shape, x.stride())) if x.numel() else 0
    flat = torch.as_strided(x, (span,), (1,), x.storage_offset())
    return {"dtype": dtype_name(x.dtype), "shape": list(x.shape), "strides": list(x.stride()), "data": numbers(flat)}


def pack_output(x, inputs):
    if not isinstance(x, torch.Tensor):
        return {"value": x}
    view = any(x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr() for y in inputs) and x.numel() > 0
    out = {"dtype": dtype_name(x.dtype), "shape": list(x.shape), "data": numbers(x)}
    if view:
        out["strides"] = list(x.stride())
    return out


def encode(a, inputs):
    if isinstance(a, torch.Tensor):
        inputs.append(a)
        return {"t": len(inputs) - 1}
    if isinstance(a, torch.dtype):
        return {"dt": dtype_name(a)}
    if isinstance(a, torch.device):
        return {"dev": str(a)}
    if isinstance(a, complex):
        return {"complex": [a.real, a.imag]}
    if isinstance(a, (list, tuple)):
        return [encode(x, inputs) for x in a]
    return a


def split(name):
    """`roi_align` of torchvision is named `torchvision::roi_align`; names without a space are of aten."""
    space, _, rest = name.rpartition("::")
    base, _, tail = rest.partition(".")
    return space or "aten", base, tail or "default"


def overload(name):
    space, base, tail = split(name)
    return getattr(getattr(getattr(torch.ops, space), base), tail)


def schema_of(name):
    try:
        op = overload(name)
    except AttributeError:
        return
    SCHEMAS[".".join(split(name))] = str(op._schema)


def case(name, *args, grad=False, fd=True, f64=True, **kwargs):
    op, inputs = overload(name), []
    schema_of(name)
    base, _, tail = name.partition(".")
    schema_of(base + "_" + ("." + tail if tail else ""))
    enc_args, enc_kwargs = encode(args, inputs), {k: encode(v, inputs) for k, v in kwargs.items()}
    out = op(*args, **kwargs)
    record = {"op": ".".join(split(name)), "inputs": [pack_input(x) for x in inputs],
              "args": enc_args, "out": [pack_output(x, inputs) for x in (out if isinstance(out, (list, tuple)) else [out])]}
    if enc_kwargs:
        record["kwargs"] = enc_kwargs
    if not f64:
        record["f64"] = False
    if grad:
        leaves = [x.detach().clone().requires_grad_(True) if x.is_floating_point() else x for x in inputs]

        def swap(e):
            if isinstance(e, dict):
                return leaves[e["t"]] if "t" in e else getattr(torch, e["dt"]) if "dt" in e else e
            return [swap(x) for x in e] if isinstance(e, list) else e

        outs = op(*[swap(e) for e in enc_args], **{k: swap(e) for k, e in enc_kwargs.items()})
        outs = list(outs) if isinstance(outs, (list, tuple)) else [outs]
        floats = [o for o in outs if isinstance(o, torch.Tensor) and o.is_floating_point() and o.requires_grad]
        cots = [f(*o.shape, dt=o.dtype) for o in floats]
        wanted = [x for x in leaves if x.is_floating_point()]
        grads = torch.autograd.grad(floats, wanted, cots, allow_unused=True)
        it = iter(cots)
        record["cot"] = [numbers(next(it)) if any(o is q for q in floats) else None for o in outs]
        git = iter(grads)
        record["grads"] = [None if not x.is_floating_point() else (lambda g: None if g is None else numbers(g))(next(git)) for x in leaves]
        if not fd:
            record["fd"] = False
    CASES.append(record)


def write(name):
    """All cases so far, as a file beside this one."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "w") as out:
        out.write('{"schemas": ' + json.dumps(SCHEMAS, indent=0) + ',\n"cases": [\n')
        out.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES))
        out.write("\n]}\n")
    print(len(CASES), "cases")
