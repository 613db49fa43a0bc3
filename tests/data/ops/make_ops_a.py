# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_a.json: small calls of ATen operators with the results, strides and gradients that PyTorch gives.

Run with PyTorch 2.9 or later: python3 make_ops_a.py
A case: op, inputs (dtype, shape, strides, flat data), args and kwargs ({"t": k}: input k; {"dt": name}: dtype; {"dev": name}: device),
out (dtype, shape, strides, data; "view" when it shares memory with an input), and for differentiable calls cot and grads by input.
"""
import json
import math
import os

import torch

torch.manual_seed(7)
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
    if isinstance(a, (list, tuple)):
        return [encode(x, inputs) for x in a]
    return a


def overload(name):
    parts = name.split(".")
    return getattr(getattr(A, parts[0]), parts[1] if len(parts) > 1 else "default")


def schema_of(name):
    try:
        op = overload(name)
    except AttributeError:
        return
    SCHEMAS["aten." + name if "." in name else "aten." + name + ".default"] = str(op._schema)


def case(name, *args, grad=False, fd=True, f64=True, **kwargs):
    op, inputs = overload(name), []
    schema_of(name)
    base, _, tail = name.partition(".")
    schema_of(base + "_" + ("." + tail if tail else ""))
    enc_args, enc_kwargs = encode(args, inputs), {k: encode(v, inputs) for k, v in kwargs.items()}
    out = op(*args, **kwargs)
    record = {"op": "aten." + name if "." in name else "aten." + name + ".default", "inputs": [pack_input(x) for x in inputs],
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


# ---------------------------------------------------------------------------------------------------------- one element
UNARY = {
    "exp": (-2, 2), "exp2": (-2, 2), "expm1": (-2, 2), "log": (.2, 3), "log2": (.2, 3), "log10": (.2, 3), "log1p": (-.5, 2),
    "sqrt": (.2, 3), "rsqrt": (.2, 3), "reciprocal": (.3, 2), "sin": (-3, 3), "cos": (-3, 3), "tan": (-1, 1), "asin": (-.9, .9),
    "acos": (-.9, .9), "atan": (-2, 2), "sinh": (-2, 2), "cosh": (-2, 2), "tanh": (-2, 2), "asinh": (-2, 2), "acosh": (1.2, 3),
    "atanh": (-.9, .9), "erf": (-2, 2), "erfc": (-2, 2), "sigmoid": (-3, 3),
}
for n, (lo, hi) in UNARY.items():
    case(n, f(2, 3, lo=lo, hi=hi), grad=True)
    case(n, t(SPECIAL))
    case(n, i(3, lo=1, hi=4))
for n in ["relu", "silu", "hardswish", "hardsigmoid", "mish", "softplus", "gelu", "leaky_relu", "elu", "hardtanh", "log_sigmoid", "relu6"]:
    name = "log_sigmoid" if n == "log_sigmoid" else n
    case(name, t([-4.0, -2.5, -1.3, -.4, .3, .7, 1.8, 2.6, 3.7, 7.0]), grad=True)
    case(name, t([x for x in SPECIAL if n != "gelu" or not math.isinf(x)]))  # gelu(inf) is NaN in some of PyTorch's kernels
    case(name, f(5, dt=torch.bfloat16))
    case(name, f(5, dt=torch.float16))
case("relu", i(6))
case("relu", i(4, dt=torch.int8))
case("gelu", f(2, 3), approximate="tanh", grad=True)
case("leaky_relu", f(4), 0.2, grad=True)
case("elu", f(6), 1.5, 1.2, 0.7, grad=True)
case("elu", f(6, dt=torch.float64))
case("hardtanh", f(6), -0.5, 0.75, grad=True)
case("softplus", f(6, lo=-4, hi=4), 2.0, 3.0, grad=True)
for n in ["abs", "neg", "sign", "floor", "ceil", "round", "trunc"]:
    case(n, t([-2.7, -1.5, -.5, -.2, .3, .5, 1.5, 2.5]), grad=True, fd=n in ("abs", "neg"))
    case(n, t(SPECIAL))
    case(n, i(5))
    case(n, t([-128, -1, 0, 1, 127], torch.int8))
case("neg", t([-2**63, 5], torch.int64))
case("abs", t([-2**63, -5], torch.int64))
case("sign", b(4))
case("frac", t([-2.7, -.5, .3, 5.0, inf, nan]))
case("frac", f(4), grad=True)
case("square", f(4), grad=True)
for n in ["isnan", "isinf", "isfinite"]:
    case(n, t(SPECIAL))
    case(n, i(3))
    case(n, t([1.0, nan, inf], torch.bfloat16))

# ----------------------------------------------------------------------------------------------------------- arithmetic
TYPES = [torch.bool, torch.uint8, torch.int8, torch.int32, torch.int64, torch.bfloat16, torch.float16, torch.float32, torch.float64]


def of(dt, *shape):
    return b(*shape) if dt == torch.bool else i(*shape, lo=0, hi=9).to(dt)


for d1 in TYPES:
    for d2 in TYPES:
        case("add.Tensor", of(d1, 2), of(d2, 2))
        if d1 != d2:
            case("mul.Tensor", of(d1, 2), of(d2))
for d in TYPES:
    for s in [True, 3, 2.5]:
        case("add.Tensor", of(d, 3), s)
        case("mul.Scalar", of(d, 3), s)
        case("eq.Scalar", of(d, 3), s)
    case("div.Tensor", of(d, 3), of(d, 3) + 1)
    case("add.Tensor", of(d), of(d, 2))
case("add.Tensor", f(2, 1, 3), f(4, 1), grad=True)
case("add.Tensor", f(2, 3), f(3), alpha=2.5, grad=True)
case("add.Tensor", i(3), i(3), alpha=-2)
case("add.Scalar", f(3), 2, 3, grad=True)
case("add.Tensor", t(SPECIAL), t(SPECIAL).flip(0))
case("add.Tensor", t([127, -128], torch.int8), t([1, -1], torch.int8))
case("add.Tensor", t([2**63 - 1], torch.int64), t([1], torch.int64))
case("add.Tensor", f(0, 3), f(3))
case("add.Tensor", f(3, 4).t(), f(4, 3))
case("sub.Tensor", f(2, 3), f(2, 1), grad=True)
case("sub.Tensor", f(2, 3), 1.5)
case("sub.Tensor", f(3), f(2, 1), alpha=3, grad=True)
case("sub.Scalar", f(3), 2.5, grad=True)
case("sub.Tensor", t([0, 5], torch.uint8), t([1, 3], torch.uint8))
case("rsub.Scalar", f(3), 2.5, grad=True)
case("rsub.Scalar", i(3), 2, 3)
case("rsub.Tensor", f(3), f(2, 3), alpha=2, grad=True)
case("mul.Tensor", f(2, 3), f(3), grad=True)
case("mul.Scalar", f(2, 3), -1.5, grad=True)
case("mul.Tensor", t(SPECIAL), t(SPECIAL).flip(0))
case("mul.Tensor", t([2**62, -7], torch.int64), t([6, 9], torch.int64))
case("div.Tensor", f(2, 3), f(3, lo=.5, hi=2), grad=True)
case("div.Scalar", f(2, 3), 3.0, grad=True)
case("div.Scalar", i(3), 2)
case("div.Tensor", t(SPECIAL), t(SPECIAL).flip(0))
for mode in [None, "floor", "trunc"]:
    case("div.Tensor_mode", t([7.0, -7.0, 7.0, -7.0, 1.0, 5.5]), t([2.0, 2.0, -2.0, -2.0, 0.1, 0.25]), rounding_mode=mode,
         f64=mode != "trunc")  # 1 / 0.1 rounds to 10 in float32
    case("div.Tensor_mode", t([7, -7, 7, -7, 6], torch.int64), t([2, 2, -2, -2, 3], torch.int64), rounding_mode=mode)
    case("div.Scalar_mode", f(3), 0.7, rounding_mode=mode)
    case("div.Tensor_mode", t([-2**63], torch.int64), t([2], torch.int64), rounding_mode=mode)
PAIRS = t([7.5, -7.5, 7.5, -7.5, 0.0, -0.0, inf, 1.0, -1.0, 3.0, nan, 1.0]), t([2.0, 2.0, -2.0, -2.0, 3.0, 3.0, 2.0, inf, inf, 0.0, 1.0, 0.1])
INTS = t([7, -7, 7, -7, 0, 6, -128], torch.int8), t([2, 2, -2, -2, 3, 3, 7], torch.int8)
for n in ["remainder", "fmod"]:
    case(n + ".Tensor", *PAIRS)
    case(n + ".Tensor", *INTS)
    case(n + ".Scalar", f(4), 0.7, grad=True)
    case(n + ".Scalar", i(6), -3)
    case(n + ".Tensor", f(4, lo=1, hi=2), f(4, lo=.3, hi=.9), grad=True)
case("remainder.Scalar_Tensor", 5, t([2.0, -3.0]))
case("floor_divide", *PAIRS)
case("floor_divide", *INTS)
case("floor_divide.Scalar", i(6), 4)
case("floor_divide.Scalar", f(6), 0.3)
for e in [0, 1, 2, 3, 4, 0.5, -0.5, -1, -2, 2.5, 1.0, 2.0, 3.0]:
    case("pow.Tensor_Scalar", f(4, lo=.3, hi=2), e, grad=True)
    case("pow.Tensor_Scalar", t(SPECIAL), e)
for e in [0, 1, 2, 3, 7, 2.0, 0.5]:
    case("pow.Tensor_Scalar", i(5), e)
case("pow.Tensor_Scalar", i(5, lo=-100, hi=100, dt=torch.int8), 5)
case("pow.Tensor_Tensor", f(4, lo=.3, hi=2), f(2, 4), grad=True)
case("pow.Tensor_Tensor", t(SPECIAL), t(SPECIAL).flip(0))
case("pow.Tensor_Tensor", t([2, -1, -1, 1, 0, 3], torch.int64), t([3, -2, -3, -1, 0, 40], torch.int64))
case("pow.Scalar", 2.5, f(4), grad=True)
case("pow.Scalar", 2, i(4, lo=0))
for n in ["maximum", "minimum", "fmax", "fmin"]:
    case(n, f(2, 3), f(3), grad=n[0] == "m")
    case(n, t(SPECIAL), t(SPECIAL).flip(0))
    case(n, i(4), i(4))
    case(n, b(4), b(4))
case("maximum", t([1.0, 2.0]), t([1.0, 3.0]), grad=True, fd=False)
case("max.other", f(3), f(3))
case("min.other", f(3), f(3))
case("atan2", f(4), f(4), grad=True)
case("atan2", t(SPECIAL), t(SPECIAL).flip(0))
case("atan2", i(3), i(3))

# ---------------------------------------------------------------------------------------------------------- comparisons
for n in ["eq", "ne", "lt", "le", "gt", "ge"]:
    case(n + ".Tensor", t(SPECIAL), t(SPECIAL).flip(0))
    case(n + ".Tensor", i(2, 3, lo=0, hi=3), i(3, lo=0, hi=3))
    case(n + ".Scalar", i(5), 0.5)
    case(n + ".Scalar", t(SPECIAL), 1)
    case(n + ".Tensor", b(4), f(4))
for n in ["logical_and", "logical_or", "logical_xor"]:
    case(n, t([0.0, nan, 2.0, -0.0]), t([1.0, 0.0, 3.0, 0.0]))
    case(n, b(2, 3), i(3, lo=0, hi=2))
case("logical_not", t([0.0, nan, 2.0, -0.0]))
case("logical_not", b(3))
for n in ["bitwise_and", "bitwise_or", "bitwise_xor", "__and__", "__or__", "__xor__"]:
    case(n + ".Tensor", i(4, dt=torch.int32), i(2, 4, dt=torch.int8))
    case(n + ".Tensor", b(4), b(4))
    case(n + ".Scalar", i(4), 6)
case("bitwise_not", i(4, dt=torch.uint8))
case("bitwise_not", i(4))
case("bitwise_not", b(4))
for n in ["bitwise_left_shift", "bitwise_right_shift"]:
    case(n + ".Tensor", i(5, dt=torch.int32), t([0, 1, 5, 31, 3], torch.int32))
    case(n + ".Tensor", i(4, lo=-100, hi=100, dt=torch.int8), t([0, 1, 5, 7], torch.int8))

# ------------------------------------------------------------------------------------------------------------ selections
case("where.self", b(2, 3), f(3), f(2, 1), grad=True)
case("where.self", b(3), i(3), f(3))
case("where.self", b(3), f(3, dt=torch.bfloat16), t(2.0))
case("where.ScalarOther", b(3), f(3), 2.5, grad=True)
case("where.ScalarOther", b(3), i(3), 2.5)
case("where.ScalarSelf", b(3), 1, f(3), grad=True)
case("where.Scalar", b(3), 1.0, 2.0)
case("masked_fill.Scalar", f(2, 3), b(3), -inf)
case("masked_fill.Scalar", f(2, 3), b(2, 3), 0.5, grad=True)
case("masked_fill.Scalar", i(3), b(3), 7)
case("masked_fill.Scalar", f(3), b(2, 3), 7)
case("masked_fill.Tensor", f(2, 3), b(3), t(3.0), grad=True)
case("clamp", f(6), -0.5, 0.75, grad=True)
case("clamp", f(6), None, 0.75, grad=True)
case("clamp", t(SPECIAL), -1, 2)
case("clamp", t(SPECIAL), 2, -1)
case("clamp", i(5), 0.5)
case("clamp", i(5), -2, 2)
case("clamp.Tensor", f(2, 3), f(3, lo=-1, hi=0), f(2, 1, lo=0, hi=1), grad=True)
case("clamp.Tensor", t(SPECIAL), t(0.0))
case("clamp_min", f(4), 0.2)
case("clamp_max", f(4), 0.2)
case("addcmul", f(2, 3), f(3), f(2, 1), value=0.5, grad=True)
case("addcdiv", f(2, 3), f(3), f(2, 1, lo=.5, hi=1), value=2.0, grad=True)
case("lerp.Scalar", f(3), f(3), 0.3, grad=True)
case("lerp.Tensor", f(3), f(3), f(3, lo=0, hi=.4), grad=True)

# ----------------------------------------------------------------------------------------------------------- conversions
for d in [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bfloat16, torch.float16, torch.float32, torch.float64]:
    case("_to_copy", t([0.0, -0.0, 1.5, -1.5, 100.7, 0.3]).abs() if d == torch.uint8 else t([0.0, -0.0, 1.5, -1.5, 100.7, 0.3]), dtype=d)
    case("_to_copy", i(4, lo=0), dtype=d)
    case("to.dtype", of(d, 2, 2), torch.float32)
case("_to_copy", t([nan, inf, -inf, 70000.0, 1e-8]), dtype=torch.float16)
case("_to_copy", t([nan, 0.0]), dtype=torch.bool)
case("_to_copy", f(3), dtype=torch.float64, grad=True)
case("to.dtype", f(2, 3).t(), torch.float32)
case("to.dtype_layout", f(3), dtype=torch.int64, layout=None, device=torch.device("cpu"))
case("to.device", f(3), torch.device("cpu"), torch.float64)
case("to.other", f(3), i(2))
case("type_as", f(3), i(2))
case("clone", f(2, 3).t(), memory_format=None, grad=True)
case("contiguous", f(2, 3).t(), grad=True)
case("contiguous", f(2, 3))
case("alias", f(2, 3).t(), grad=True)
case("detach", f(2, 3))
case("lift_fresh_copy", f(2, 3))
case("lift_fresh", f(2, 3))
case("dropout", f(2, 3), 0.5, False)
case("native_dropout", f(2, 3), 0.5, False)

# ----------------------------------------------------------------------------------------------------------------- views
X = f(2, 3, 4)
Y = f(4, 3, 2).permute(2, 1, 0)
for size in [[6, 4], [-1], [2, -1, 2, 2], [1, 2, 1, 12, 1], [24, 1]]:
    case("view", X, size, grad=True)
    case("reshape", Y, size, grad=True)
    case("_unsafe_view", X, size)
case("view", f(4, 6)[:, :4], [2, 2, 4])
case("view", f(4, 6)[:, :4], [4, 2, 2])
case("view", f(1), [])
case("view", t(1.0), [1, 1])
case("view", f(0, 3), [3, 0])
case("view", f(0, 3), [0, 5, 3])
case("reshape", f(6, 4).t(), [2, 2, 6])
case("reshape", t(1.0).expand(3, 4), [12])
case("reshape", f(3, 1).expand(3, 4), [3, 2, 2])
case("reshape", f(2, 1, 3), [1, 2, 3, 1])
for a in [(), (1,), (0, 1), (-2, -1), (1, 1)]:
    case("flatten.using_ints", X, *a)
    case("flatten.using_ints", Y, *a)
case("flatten.using_ints", t(3.0))
case("unflatten.int", f(2, 6), 1, [2, -1], grad=True)
case("unflatten.int", f(6, 2).t(), -1, [3, 2])
case("squeeze", f(1, 2, 1, 3), grad=True)
case("squeeze", f(1, 1))
case("squeeze.dim", f(1, 2, 1), 2)
case("squeeze.dim", f(1, 2, 1), 1)
case("squeeze.dims", f(1, 2, 1, 1), [0, -1])
for d in [0, 1, 2, 3, -1, -4]:
    case("unsqueeze", X, d)
    case("unsqueeze", Y, d, grad=True)
case("unsqueeze", t(2.0), 0)
case("transpose.int", X, 0, -1, grad=True)
case("transpose.int", t(2.0), 0, -1)
case("t", f(2, 3), grad=True)
case("t", f(3))
case("t", t(3.0))
case("permute", X, [2, 0, 1], grad=True)
case("permute", X, [-1, 0, -2])
case("movedim.int", X, 0, -1, grad=True)
case("movedim.intlist", f(2, 3, 4, 5), [0, 3], [2, 0])
for size in [[2, 3, 4], [5, 2, -1, 4]]:
    case("expand", f(2, 1, 4), size, grad=True)
case("expand", f(3, 1), [3, -1])
case("expand", f(1), [0])
case("expand", t(1.0), [2, 1])
case("expand", f(4, 3).t(), [2, 3, 4])
case("expand", f(3), [1, 1, 3])
case("expand_as", f(3, 1), f(2, 3, 4), grad=True)
case("broadcast_to", f(3), [2, 3], grad=True)
case("repeat", f(2, 3), [2, 1, 2], grad=True)
case("repeat", f(3), [0])
case("repeat", t(3.0), [2])
case("flip", X, [0, 2], grad=True)
case("flip", Y, [-1])
case("flip", f(0, 3), [0])
for a in [(), (1,), (-1,), (5,), (0, -1, 0)]:
    case("diagonal", f(3, 4), *a)
case("diagonal", X, 1, 0, 2)
for a in [(0,), (0, 1), (1, 1, 3), (1, -2), (2, 0, -1), (2, 1, 2**63 - 1), (1, 5, 9), (2, 3, 1), (2, 0, 4, 2), (2, 1, 4, 3), (0, None, 1), (2, -9, 3)]:
    case("slice.Tensor", X, *a, grad=len(a) < 4)
    case("slice.Tensor", Y, *a)
case("slice.Tensor", f(5), 0, 0, 5, 2, grad=True)
case("select.int", X, 1, 2, grad=True)
case("select.int", Y, -1, -2)
case("select.int", f(3), 0, 0, grad=True)
case("narrow", X, 1, 1, 2, grad=True)
case("narrow", Y, 2, -3, 2)
case("split.Tensor", X, 2, 2, grad=True)
case("split.Tensor", Y, 2, 1)
case("split.Tensor", f(0), 2)
case("split_with_sizes", X, [1, 3], -1, grad=True)
case("split.sizes", X, [1, 0, 3], -1)
case("chunk", f(7), 3)
case("chunk", f(7), 5)
case("chunk", X, 2, -1, grad=True)
case("unbind.int", X, 1, grad=True)
case("unbind.int", Y)
case("as_strided", f(12), [2, 3], [1, 4], 2)
case("as_strided", f(3, 4), [3, 2], [4, 1])

# ------------------------------------------------------------------------------------------------------------ reductions
for n, dims in {"sum": "sum.dim_IntList", "mean": "mean.dim"}.items():
    case(n, X, grad=True)
    case(n, t(2.0))
    for a in [([0],), ([-1], True), ([0, 2],), ([],), (None, True), ([0, 1, 2], True)]:
        case(dims, X, *a, grad=True)
    case(dims, Y, [1])
    case(dims, f(0, 3), [0])
    case(dims, f(3, 5, dt=torch.bfloat16), [1])
    case(dims, f(3, 5, dt=torch.float16), [0], True)
    case(dims, f(3), [0], dtype=torch.float64)
    case(dims, t(2.0), [0])
    case(dims, t(SPECIAL), [0])
case("sum", i(3, 4, dt=torch.int8))
case("sum.dim_IntList", b(3, 4), [1])
case("sum.dim_IntList", i(3, 4, dt=torch.int32), [1], dtype=torch.int32)
case("sum.dim_IntList", i(3), [0], dtype=torch.float32)
case("prod", f(2, 3))
case("prod", i(5, lo=1, dt=torch.int32))
case("prod.dim_int", X, 1, True)
case("prod.dim_int", f(0, 2), 0)
for n in ["amax", "amin"]:
    for a in [(), ([0],), ([-1], True), ([0, 2],)]:
        case(n, X, *a, grad=True)
    case(n, t([[1.0, nan, 2.0], [-inf, 3.0, inf]]), [1])
    case(n, i(3, 4), [0])
    case(n, b(3, 4), [0])
    case(n, f(3, 4, dt=torch.bfloat16), [1])
    case(n, t([1.0, 3.0, 3.0, 1.0, 1.0]), [0], grad=True, fd=False)
    case(n, t(3.0), [0])
for n in ["max", "min"]:
    case(n, X, grad=True)
    case(n, i(4))
    case(n + ".dim", X, 1, grad=True)
    case(n + ".dim", X, -1, True, grad=True)
    case(n + ".dim", t([[1.0, nan, 2.0, nan], [-inf, 3.0, inf, 3.0]]), 1)
    case(n + ".dim", i(3, 4, lo=0, hi=100), 0)
    case(n + ".dim", t(3.0), 0)
    case("arg" + n, X)
    case("arg" + n, X, 1)
    case("arg" + n, X, -1, True)
    case("arg" + n, t([1.0, 5.0, 5.0, nan, nan]), 0)
    case("arg" + n, t([3, 1, 3, 1], torch.int64))
for n in ["any", "all"]:
    case(n, b(2, 3))
    case(n, t([0.0, nan]))
    case(n, i(3, dt=torch.uint8))
    case(n, torch.zeros(0))
    case(n + ".dim", i(2, 3, lo=0, hi=2), 1)
    case(n + ".dim", b(2, 3), 0, True)
    case(n + ".dims", b(2, 3, 2), [0, 2])
    case(n + ".dims", b(2, 3), None, True)
for n in ["var", "std", "var_mean", "std_mean"]:
    case(n, X, grad=n != "std_mean")
    case(n, X, False)
    case(n + ".dim", X, [1], False, True, grad=n != "std_mean")
    case(n + ".correction", X, [0, 2], correction=0, grad=True)
    case(n + ".correction", X, [1], keepdim=True, grad=True)
    case(n + ".correction", X, None, correction=2)
    case(n + ".correction", f(1, 3), [0])
    case(n + ".correction", f(3, 5, dt=torch.bfloat16), [1])
for n, plain in {"softmax": "_softmax", "log_softmax": "_log_softmax"}.items():
    for d in [0, 1, -1]:
        case(n + ".int", X, d, grad=True)
        case(plain, Y, d, False, grad=True)
    case(n + ".int", t([[1.0, -inf, 2.0], [-inf, -inf, 1000.0], [nan, 1.0, 2.0]]), 1)
    case(n + ".int", t([[-inf, -inf]]), 1)
    case(n + ".int", f(2, 3, dt=torch.bfloat16), -1)
    case(n + ".int", f(2, 3, dt=torch.float16), -1, torch.float32)
    case(n + ".int", f(2, 0), -1)
    case(n + ".int", t(2.0), 0)
    case(n + ".int", i(3), 0, torch.float32)
case("logsumexp", X, [1], grad=True)
case("logsumexp", X, [0, 2], True, grad=True)
case("logsumexp", t([[1.0, inf], [-inf, -inf], [nan, 1.0]]), [1])
case("logsumexp", i(2, 3), [1])
case("logsumexp", f(2, 0), [1])
for p in [2, 1, 3, 0, inf, -inf, 0.5]:
    case("norm.Scalar", X, p)
    case("norm.ScalarOpt_dim", X, p, [1], True, grad=p in (1, 2, 3))
    case("linalg_vector_norm", X, p, [0, 2])
case("norm.ScalarOpt_dim", X, None, [1])
case("linalg_vector_norm", f(3, 4, dt=torch.bfloat16), 2, [1])
case("linalg_vector_norm", f(3), dtype=torch.float64)

# -------------------------------------------------------------------------------------------------------------- indexing
W = f(5, 3)
case("embedding", W, t([[0, 4], [2, 2]], torch.int64), grad=True)
case("embedding", W, t([1, 0, 1], torch.int64), 1, grad=True, fd=False)
case("embedding", W, t(3, torch.int64))
case("embedding", W, torch.zeros(0, dtype=torch.int64))
case("embedding", f(4, 6).t()[:, 1:3], t([5, 1], torch.int32))
case("gather", X, 1, i(2, 2, 4, lo=0, hi=3), grad=True)
case("gather", X, -1, i(1, 3, 6, lo=0, hi=4))
case("gather", Y, 0, i(2, 3, 4, lo=0, hi=2))
case("gather", t(3.0), 0, t([0], torch.int64))
case("gather", f(3), 0, t(1, torch.int64))
case("index_select", X, 1, t([2, 0, 2], torch.int64), grad=True)
case("index_select", Y, -1, t([3], torch.int32))
I1, I2, IM = t([1, 0, 1], torch.int64), t([[2], [0]], torch.int64), t([-1, 0, -2], torch.int64)
case("index.Tensor", X, [I1], grad=True)
case("index.Tensor", X, [None, I2], grad=True)
case("index.Tensor", X, [I1, I2], grad=True)
case("index.Tensor", X, [I1, None, I2], grad=True)
case("index.Tensor", Y, [None, IM, I1])
case("index.Tensor", Y, [None, None, t(-1, torch.int64)])
case("index.Tensor", f(5), [t([[4, 0], [1, 1]], torch.int32)])
SI = t([[0, 1, 2, 0], [2, 0, 0, 1]], torch.int64)
UI = t([[0, 1, 2, 0], [2, 0, 1, 1]], torch.int64)
case("scatter.src", f(3, 4), 0, UI, f(2, 4), grad=True)
case("scatter.value", f(3, 4), 0, SI, 2.5, grad=True)
case("scatter.value", i(3, 4), 0, SI, 7)
case("scatter_add", f(3, 4), 0, SI, f(2, 4), grad=True)
case("scatter_add", i(3, 4), 0, SI, i(2, 4))
for r in ["sum", "prod", "mean", "amax", "amin"]:
    case("scatter_reduce.two", f(3, 4), 0, SI, f(2, 4), r)
    case("scatter_reduce.two", f(3, 4), 0, SI, f(2, 4), r, include_self=False)
case("index_put", f(4, 3), [t([0, 2], torch.int64)], f(2, 3), grad=True)
case("index_put", f(4, 3), [t([0, 2, 0], torch.int64)], f(3, 3), True, grad=True)
case("index_put", f(4, 3), [None, t([1], torch.int64)], f(4, 1))
case("index_put", f(4, 3), [t([0, 2], torch.int64), t([1, -1], torch.int64)], t(9.0))
for a in [(0, 1, 2), (1, 0, 3, 2), (1, -2), (0, 1, 4, 2)]:
    y = f(4, 5)
    shape = torch.ops.aten.slice.Tensor(y, *a).shape
    case("slice_scatter", y, f(*shape), *a, grad=True)
case("select_scatter", f(3, 4), f(3), 1, 2, grad=True)
case("select_scatter", f(3, 4), f(4), 0, -1)

# ----------------------------------------------------------------------------------------------------------------- joins
case("cat", [f(2, 3), f(1, 3), f(4, 3)], grad=True)
case("cat", [f(2, 3), f(2, 1)], -1, grad=True)
case("cat", [f(2, 3)], 1)
case("cat", [f(0), f(2, 3)], 1)
case("cat", [f(2, 0), f(2, 3)], 1)
case("cat", [f(2), i(3), f(1, dt=torch.float64)])
case("cat", [f(3, 2).t(), f(2, 3)], 0)
case("cat", [b(2), b(1)])
case("stack", [f(2, 3), f(2, 3)], 1, grad=True)
case("stack", [t(1.0), t(2.0)])
case("stack", [i(2), f(2)], -1)
case("constant_pad_nd", X, [1, 2], 1.5, grad=True)
case("constant_pad_nd", X, [1, 0, 0, 2, 1, 1], grad=True)
case("constant_pad_nd", X, [-1, 2, 0, -1], 3, grad=True)
case("constant_pad_nd", i(3), [1, 1], 4)
case("constant_pad_nd", b(3), [1, 1], True)
case("pad", f(2, 5), [2, 1], grad=True)
case("pad", f(2, 5), [2, 1], "constant", 3.0)
for m in ["reflect", "replicate", "circular"]:
    case("pad", f(2, 5), [2, 1], m)
    case("pad", f(1, 2, 4, 5), [2, 1, 1, 3], m)
case("pad", f(1, 2, 4, 5), [-1, 1, 1, -2], "reflect")
case("reflection_pad1d", f(2, 5), [4, 1])
case("reflection_pad2d", f(2, 4, 5), [1, 2, 3, 1])
case("reflection_pad3d", f(1, 3, 4, 5), [1, 2, 3, 1, 2, 0])
case("replication_pad1d", f(2, 5), [7, 1])
case("replication_pad2d", f(2, 4, 5), [1, 2, 3, 1])
case("replication_pad3d", f(1, 3, 4, 5), [1, 2, 3, 1, 2, 0])
for n in ["tril", "triu"]:
    for d in [0, 1, -1, 9]:
        case(n, f(3, 4), d, grad=True)
    case(n, i(2, 3, 3))
    case(n, b(3, 3))
    case(n, f(3, 4).t())
case("diff", f(2, 5), grad=True)
case("diff", f(2, 5), 2, 0)
case("diff", i(5), 1, -1, t([3], torch.int64))
case("diff", b(5))
case("diff", f(2, 3), 1, 1, f(2, 1), f(2, 2), grad=True)

# ------------------------------------------------------------------------------------------------------------- creations
for n in ["zeros", "ones"]:
    case(n, [2, 3])
    case(n, [0], dtype=torch.int64)
    case(n + "_like", f(2, 3))
    case(n + "_like", f(2, 3), dtype=torch.bool)
    case("new_" + n, i(2), [3], dtype=torch.float64)
    case("new_" + n, i(2), [])
case("full", [2, 3], 1.5)
case("full", [2], 3)
case("full", [2], True)
case("full", [2], -inf, dtype=torch.bfloat16)
case("full", [2], 3, dtype=torch.float32)
case("full_like", i(2, 2), 2.7)
case("full_like", f(2, 2), 2, dtype=torch.int64)
case("new_full", f(2), [2, 2], 3)
case("fill.Scalar", i(2), 3.7)
case("fill.Tensor", f(2, 3), t(2, torch.int64))
case("copy", f(2, 3), i(3))
case("scalar_tensor", 2.5)
case("scalar_tensor", 2, dtype=torch.int64)
case("arange", 5)
case("arange", 5.5)
case("arange", 5, dtype=torch.float32)
case("arange", 0)
case("arange.start", 2, 7)
case("arange.start", -1.5, 2)
case("arange.start_step", 1, 9, 3)
case("arange.start_step", 9, 1, -3)
case("arange.start_step", 0.0, 1.0, 0.1)
case("arange.start_step", 0, 10, 2, dtype=torch.int32)

# ---------------------------------------------------------------------------------------------------------------- orders
for n in ["cumsum", "cumprod"]:
    case(n, X, 1, grad=n == "cumsum")
    case(n, X, -1, grad=n == "cumsum")
    case(n, i(5, dt=torch.int8), 0)
    case(n, b(5), 0)
    case(n, f(4, dt=torch.bfloat16), 0, dtype=torch.float32)
    case(n, t(2.0), 0)
    case(n, t(SPECIAL), 0)
case("sort", X, 1, grad=True)
case("sort", X, 0, True, grad=True)
case("sort.stable", t([3, 1, 3, 1, 2], torch.int64), stable=True)
case("sort.stable", t([3, 1, 3, 1, 2], torch.int64), stable=True, descending=True)
case("sort", t([nan, 1.0, inf, -inf, nan]))
case("sort", t([nan, 1.0, inf, -inf]), 0, True)
case("topk", X, 2, grad=True)
case("topk", X, 2, 1, False)
case("topk", f(3), 0)
case("topk", t(1.0), 1)

# ---------------------------------------------------------------------------------------------------------- compositions
K = t([-4.0, -1.3, -.4, .3, .7, 3.7])
case("selu", K, grad=True)
case("celu", K, 0.7, grad=True)
case("glu", f(2, 6), grad=True)
case("glu", f(4, 3), 0, grad=True)
case("threshold", K, 0.5, -7.0, grad=True)
case("hardshrink", K, grad=True)
case("softshrink", K, 0.6, grad=True)
case("prelu", f(2, 3, 2), f(3), grad=True)
case("prelu", K, t([0.2]), grad=True)
case("nan_to_num", t(SPECIAL))
case("nan_to_num", t(SPECIAL), 1.5, 7.0, -8.0)
case("nan_to_num", t(SPECIAL, torch.bfloat16))
case("nan_to_num", i(3))
case("logaddexp", f(2, 3), f(3), grad=True)
case("logaddexp", t([inf, -inf, 1000.0, nan]), t([inf, -inf, 1.0, 0.0]))
case("xlogy.Tensor", f(4), f(4, lo=.2, hi=2), grad=True)
case("xlogy.Tensor", t([0.0, 0.0, 1.0, 0.0]), t([0.0, nan, 0.0, 2.0]))
case("logit", f(4, lo=.1, hi=.9), grad=True)
case("logit", t([-.2, 0.0, .5, 1.0]), 0.1)
for n in ["multiply", "divide", "true_divide", "subtract"]:
    case(n + ".Tensor", f(2, 3), f(3))
case("tanh_backward", f(4), f(4))
case("sigmoid_backward", f(4), f(4))
case("threshold_backward", f(6), f(6), 0)
case("_softmax_backward_data", f(2, 3), f(2, 3), 1, torch.float32)
case("_log_softmax_backward_data", f(2, 3), f(2, 3), 1, torch.float32)
case("native_dropout_backward", f(4), b(4), 2.0)
case("embedding_dense_backward", f(2, 2, 3), t([[0, 4], [2, 2]], torch.int64), 5, -1, False)
case("embedding_dense_backward", f(3, 3), t([0, 4, 0], torch.int64), 5, 0, False)
case("view_as", X, f(6, 4), grad=True)
case("reshape_as", Y, f(6, 4))
case("ravel", X)
case("ravel", Y)
case("mT", X)
case("adjoint", X)
case("swapaxes", X, 0, 2)
case("roll", X, [1], [1], grad=True)
case("roll", X, [5, -1], [0, 2])
case("roll", X, [7])
case("roll", f(0, 3), [1], [0])
case("tile", f(2, 3), [2], grad=True)
case("tile", f(3), [2, 1])
case("repeat_interleave.self_int", f(2, 3), 2, 1, grad=True)
case("repeat_interleave.self_int", f(2, 3), 3)
case("unfold", f(2, 7), 1, 3, 2)
case("unfold", Y, 0, 1, 1)
case("meshgrid", [f(2), f(3)])
case("meshgrid.indexing", [f(2), f(3), f(2)], indexing="xy")
case("one_hot", i(2, 3, lo=0, hi=4), 5)
case("index_add", f(3, 4), 1, t([0, 2, 0], torch.int64), f(3, 3), grad=True)
case("index_add", f(3, 4), 0, t([0, 2], torch.int64), f(2, 4), alpha=2.5, grad=True)
case("index_copy", f(3, 4), 1, t([0, 2], torch.int64), f(3, 2), grad=True)
case("index_fill.int_Scalar", f(3, 4), 1, t([0, -1], torch.int64), 7.0, grad=True)
case("masked_scatter", f(2, 3), b(2, 3), f(7))
case("masked_scatter", f(2, 3), b(3), f(7), grad=True)
case("take_along_dim", f(3, 4), i(3, 2, lo=0, hi=4), 1, grad=True)
case("take_along_dim", f(3, 4), i(5, lo=0, hi=12))
case("argsort", X, 1)
case("argsort", X, 0, True)
case("aminmax", X, dim=1)
case("aminmax", X)
case("count_nonzero.dim_IntList", i(3, 4, lo=0, hi=2), [1])
case("linspace", -1.0, 2.0, 7)
case("linspace", 0, 10, 5, dtype=torch.int64)
case("linspace", 3.0, 4.0, 1)
case("eye", 3)
case("eye.m", 2, 4, dtype=torch.int64)

# -------------------------------------------------------------------------------------------------------------- symbolic
for n, args in {"sym_size.int": [X, 1], "sym_stride.int": [Y, 0], "sym_numel": [X]}.items():
    case(n, *args)
for n in ["_assert_tensor_metadata", "_assert_async", "_assert_async.msg", "_assert_scalar", "sym_constrain_range",
          "sym_constrain_range_for_size", "dropout_", "rand", "randn", "rand_like", "randn_like", "empty.memory_format", "empty_like", "new_empty",
          "empty_strided", "new_empty_strided", "pow_.Scalar", "pow_.Tensor", "zero", "zero_", "copy_", "fill_.Scalar", "fill_.Tensor"]:
    schema_of(n)

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ops_a.json"), "w") as out:
    out.write('{"schemas": ' + json.dumps(SCHEMAS, indent=0) + ',\n"cases": [\n')
    out.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES))
    out.write("\n]}\n")
print(len(CASES), "cases")
