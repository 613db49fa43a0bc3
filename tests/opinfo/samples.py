# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One sample of PyTorch's operator database through the backend, against PyTorch's own result.

Runs inside a worker process of `run_opinfo.py`, which holds the limits.
"""
import functools
import random
import sys
import types
import unittest

import torch

if "expecttest" not in sys.modules:
    try:
        __import__("expecttest")
    except ImportError:  # the database's module wants it for tests of its own only
        sys.modules["expecttest"] = types.ModuleType("expecttest")
        sys.modules["expecttest"].TestCase = unittest.TestCase

from torch.testing._internal.common_device_type import toleranceOverride
from torch.testing._internal.common_methods_invocations import op_db

import strata
import strata._torch

_pytree = torch.utils._pytree

REAL = ("float32", "float64", "bfloat16", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")
COMPLEX = ("complex64", "complex128")
VARIANTS = ("call", "inplace", "out")
OUTCOMES = ("native", "opaque", "left", "failed", "none")

# Which of several equal elements these name is not said.
ANY_OF_EQUALS = {"sort", "argsort", "topk"}

# PyTorch's float64 forms of these are right to seven digits (J0(6) = 0.15064525725 comes out as 0.15064520027).
RIGHT_TO_SEVEN_DIGITS = {"special.bessel_j0", "special.bessel_j1", "special.bessel_y0", "special.bessel_y1"}

# What these return is whatever lay in memory.
UNINITIALISED = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted"}


def name_of(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def database():
    """Operators by name, in the database's order."""
    return {name_of(op): op for op in op_db}


def samples_of(op, dtype, variant, seed):
    """All samples of an operator for one dtype; the same for the same seed. Empty where the variant does not exist."""
    if variant == "inplace" and op.inplace_variant is None or variant == "out" and not op.supports_out:
        return []
    torch.manual_seed(seed)
    random.seed(seed)
    try:
        import numpy

        numpy.random.seed(seed % 2**32)
    except ImportError:
        pass
    samples = list(op.sample_inputs("cpu", dtype))
    return [s for s in samples if not s.broadcasts_input] if variant == "inplace" else samples


def tolerances_of(op, dtype):
    """rtol, atol of a result of this dtype: PyTorch's default, or the widest that the operator's tests on the CPU are given."""
    rtol, atol = torch.testing._comparison._DTYPE_PRECISIONS.get(dtype, (0, 0))
    for info in op.decorators:
        for decorator in getattr(info, "decorators", [info]):
            if isinstance(decorator, toleranceOverride) and getattr(info, "device_type", None) in (None, "cpu"):
                wider = decorator.d.get(dtype)
                if wider:
                    rtol, atol = max(rtol, wider.rtol), max(atol, wider.atol)
    if op.name in RIGHT_TO_SEVEN_DIGITS and dtype == torch.float64:
        rtol, atol = max(rtol, 1e-6), max(atol, 1e-6)
    return rtol, atol


def is_plain(value):
    return (
        type(value) in (torch.Tensor, torch.nn.Parameter)
        and value.layout == torch.strided
        and not (value.is_quantized or value.is_conj() or value.is_neg())
    )


def copied(value):
    """A copy in memory of its own, laid out alike."""
    if not is_plain(value):
        return value.detach().clone()
    storage = value.untyped_storage().clone()
    return torch.empty(0, dtype=value.dtype).set_(storage, value.storage_offset(), value.shape, value.stride())


class Call:
    """An operator's variant on a sample, as a function of the sample's tensors that gives a flat list."""

    def __init__(self, op, variant, sample, outs=None):
        self.function = op.inplace_variant if variant == "inplace" else op.op
        self.leaves, self.spec = _pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.tensors, self.places = [], []
        positions = {}
        for leaf in self.leaves:
            if isinstance(leaf, torch.Tensor) and id(leaf) not in positions:
                positions[id(leaf)] = len(self.tensors)
                self.tensors.append(leaf)
            self.places.append(positions.get(id(leaf)) if isinstance(leaf, torch.Tensor) else None)
        self.outs, self.n_inputs, self.any_order = outs, len(self.tensors), not sample.kwargs.get("stable")
        if outs is not None:
            self.tensors += _pytree.tree_leaves(outs)

    def __call__(self, *tensors, leaf=lambda value: value):
        values = [leaf(v) if at is None else tensors[at] for v, at in zip(self.leaves, self.places)]
        input, args, kwargs = _pytree.tree_unflatten(values, self.spec)
        if self.outs is not None:
            given = tensors[self.n_inputs :]
            kwargs = dict(kwargs, out=given[0] if isinstance(self.outs, torch.Tensor) else tuple(given))
        return _pytree.tree_leaves(self.function(input, *args, **kwargs))

    def graph(self):
        """A graph with this as its only call, as Dynamo would hand it over."""
        graph = torch.fx.Graph()
        inputs = [graph.placeholder(f"t{i}") for i in range(len(self.tensors))]

        def operator(*tensors):
            return self(*tensors)

        graph.output(graph.call_function(operator, tuple(inputs)))
        return torch.fx.GraphModule({}, graph)


class Shown(Exception):
    """Outcome `kind` with a text."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def _first_line(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:300]


def _whole(value):
    return isinstance(value, torch.Tensor) and is_plain(value)


def _wide(dtype):
    return torch.complex128 if dtype.is_complex else torch.float64 if dtype.is_floating_point else dtype


def in_float64(call, tensors):
    """The call with every float carried in float64: results and inputs afterwards; None twice where PyTorch cannot do that."""

    def widen(value):
        if isinstance(value, torch.Tensor):
            return copied(value).to(_wide(value.dtype))
        return _wide(value) if isinstance(value, torch.dtype) else value

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        inputs = [widen(t) for t in tensors]
        torch.manual_seed(_DRAWS)
        return call(*inputs, leaf=widen), inputs
    except Exception:  # the comparison stands as it is
        return None, None
    finally:
        torch.set_default_dtype(before)


def _comparable(a, b):
    return _whole(a) and _whole(b) and a.dtype == b.dtype and a.shape == b.shape


def as_exact(got, expected, exact):
    """Whether a result is at most twice as far from float64 as PyTorch's (plus half a rounding)."""
    if _whole(exact) and all(v.is_complex() for v in (got, expected, exact)):
        got, expected, exact = (torch.view_as_real(v.resolve_conj()) for v in (got, expected, exact))
    if not (_whole(exact) and expected.is_floating_point() and exact.shape == expected.shape and exact.dtype == torch.float64):
        return False
    plain = expected.isfinite() & exact.isfinite()
    other = got[~plain].double(), exact.to(expected.dtype)[~plain].double()
    if not (torch.equal(*(v.nan_to_num(nan=0.5) for v in other)) and got[plain].isfinite().all()):
        return False
    if not plain.any():
        return True
    own, theirs = ((v[plain].double() - exact[plain]).abs().max().item() for v in (got, expected))
    return own <= 2 * theirs + torch.finfo(expected.dtype).eps / 2 * exact[plain].abs().max().item()


def _differs(op, got, expected):
    """What is different in two values, or None. Strides and aliasing aside."""
    if not isinstance(expected, torch.Tensor):
        if isinstance(got, torch.Tensor) or type(got) is not type(expected):
            return f"a {type(got).__name__} instead of a {type(expected).__name__}"
        same = got == expected or got != got and expected != expected
        if isinstance(expected, (float, complex)) and not same:
            same = abs(got - expected) <= 1e-5 + 1.3e-6 * abs(expected)
        return None if same else f"{got} instead of {expected}"
    if not isinstance(got, torch.Tensor):
        return f"a {type(got).__name__} instead of a tensor"
    if (got.shape, got.dtype) != (expected.shape, expected.dtype):
        return f"{got.dtype}{list(got.shape)} instead of {expected.dtype}{list(expected.shape)}"
    rtol, atol = tolerances_of(op, expected.dtype)
    try:
        torch.testing.assert_close(got, expected, rtol=rtol, atol=atol, equal_nan=True, check_stride=False)
        return None
    except AssertionError as error:
        text = " ".join(line.strip() for line in str(error).splitlines()[1:] if line.strip())
    close = torch.isclose(got, expected, rtol=rtol, atol=atol, equal_nan=True) if _whole(expected) else None
    if close is not None and not close.all():
        at = tuple((~close).nonzero()[0].tolist())
        text += f"; at {list(at)} {got[at].item()} instead of {expected[at].item()}"
    return text


def _same_choice(values, got, expected):
    """Whether indices into a tensor name equal elements, each at most once."""
    if got.shape != expected.shape or got.dtype != torch.int64 or values.dim() != got.dim():
        return False
    for dim in range(values.dim()):
        try:
            chosen = [values.gather(dim, index) for index in (got, expected)]
        except RuntimeError:  # not along this one
            continue
        once = got.sort(dim)[0].diff(dim=dim).ne(0).all()
        if once and torch.allclose(*chosen, rtol=0, atol=0, equal_nan=True):
            return True
    return False


def _strides_differ(got, expected, fake):
    """PyTorch's kernels and its shape rules do not always agree on strides: either will do."""
    if not (_whole(got) and _whole(expected)) or expected.numel() == 0:
        return False
    same = torch._prims_common.check_significant_strides
    if same(got, expected)[0]:
        return False
    shaped = fake()
    return shaped is None or not same(got, shaped)[0]


def _storage(value):
    return value.untyped_storage()._cdata


def _shares_with(value, inputs):
    """The inputs whose memory a result lies in."""
    if not _whole(value) or value.numel() == 0:
        return ()
    return tuple(i for i, t in enumerate(inputs) if _whole(t) and _storage(t) == _storage(value))


def _fakes(call, tensors):
    """What PyTorch's shape rules say of each result, and the inputs whose memory it lies in; empty where they do not say."""
    mode = torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True)
    try:
        with torch._dispatch.python.enable_python_dispatcher(), mode:
            inputs = [mode.from_tensor(t) for t in tensors]
            results = call(*inputs)
    except Exception:  # PyTorch's kernels alone say it then
        return []
    storages = [_storage(t) if t.layout == torch.strided else None for t in inputs]
    shared = [
        tuple(i for i, s in enumerate(storages) if s == _storage(r)) if isinstance(r, torch.Tensor) and r.layout == torch.strided else ()
        for r in results
    ]
    return list(zip(results, shared))


def compare(op, call, inputs, got, expected_inputs, expected):
    """Raises Shown("failed") for the first difference; returns a word on how the results agree."""
    how = ""
    if len(got) != len(expected):
        raise Shown("failed", f"{len(got)} results instead of {len(expected)}")
    exact = functools.cache(lambda: in_float64(call, call.tensors))
    fakes = functools.cache(lambda: _fakes(call, call.tensors))
    random_content = op.name in UNINITIALISED
    for i, (a, b) in enumerate(zip(got, expected)):
        if random_content and isinstance(b, torch.Tensor):
            wrong = None if (a.shape, a.dtype) == (b.shape, b.dtype) else f"{a.dtype}{list(a.shape)}"
        else:
            wrong = _differs(op, a, b)
        if wrong and op.name in ANY_OF_EQUALS and call.any_order and _whole(b) and _same_choice(call.tensors[0], a, b):
            wrong, how = None, "other of equals"
        if wrong and _whole(a) and _whole(b) and a.dtype != b.dtype and fakes() and fakes()[i][0].dtype == a.dtype:
            # PyTorch's kernels and its own type rules disagree: either will do.
            wrong, how = _differs(op, a.to(b.dtype), b), "PyTorch's type rules"
        if wrong and _comparable(a, b):
            reference = exact()[0]
            if reference is not None and len(reference) == len(expected) and as_exact(a, b, reference[i]):
                wrong, how = None, "float64"
        if wrong:
            raise Shown("failed", f"result {i}: {wrong}")
        if _strides_differ(a, b, lambda: fakes()[i][0] if fakes() else None):
            raise Shown("failed", f"result {i}: strides {list(a.stride())} instead of {list(b.stride())} for {list(b.shape)}")
        shared, instead = _shares_with(a, inputs), _shares_with(b, expected_inputs)
        if shared != instead and not (fakes() and shared == fakes()[i][1]):
            raise Shown("failed", f"result {i}: shares memory with inputs {shared} instead of {instead}")
    seen = {a.data_ptr() for a in got if _whole(a) and a.numel()}
    for i, (a, b) in enumerate(zip(inputs, expected_inputs)):
        wrong = None if random_content or _whole(a) and a.data_ptr() in seen else _differs(op, a, b)
        if wrong and _comparable(a, b):
            reference = exact()[1]
            if reference is not None and as_exact(a, b, reference[i]):
                wrong, how = None, "float64"
        if wrong:
            raise Shown("failed", f"input {i} afterwards: {wrong}")
    return how


def _reference(op, variant, sample):
    """The call, PyTorch's inputs after it, PyTorch's results."""
    call = Call(op, "call", sample)
    inputs = [copied(t) for t in call.tensors]
    outs = None
    try:
        if variant == "out":
            made = op.op(*_arguments(call, inputs)[0], **_arguments(call, inputs)[1])
            outs = made if isinstance(made, torch.Tensor) else tuple(made)
            if not all(isinstance(v, torch.Tensor) for v in _pytree.tree_leaves(outs)):
                raise TypeError("a result that is no tensor")
            outs = _pytree.tree_map(_poisoned, outs)
            inputs = [copied(t) for t in call.tensors] + [copied(t) for t in _pytree.tree_leaves(outs)]
        call = Call(op, variant, sample, outs)
        torch.manual_seed(_DRAWS)
        results = call(*inputs)
        if outs is not None and any(_left_as_it_was(t, m) for t, m in zip(inputs[call.n_inputs :], _pytree.tree_leaves(made))):
            raise TypeError("it leaves `out` as it was")  # `ihfftn` of one dimension
        return call, inputs, results
    except Exception as error:
        raise Shown("none", "PyTorch gives no result: " + _first_line(error)) from None


# The seed before a call: random numbers are compared, too. Operators of the database that set one themselves set this one.
_DRAWS = 42


def _arguments(call, tensors):
    values = [v if at is None else tensors[at] for v, at in zip(call.leaves, call.places)]
    input, args, kwargs = _pytree.tree_unflatten(values, call.spec)
    return (input, *args), kwargs


def _left_as_it_was(out, made):
    return out.numel() > 0 and torch.equal(out, _poisoned(out)) and not torch.equal(out, made)


def _poisoned(value):
    made = torch.empty_like(value)
    return made.fill_(1) if made.dtype == torch.bool else made.fill_(77)


def _through_backend(call, inputs, options):
    """The results of the compiled call, and its reports."""
    strata._torch.reset()
    compiled = strata._torch.backend(call.graph(), list(inputs), options=options)
    found = strata.reports()
    if found[-1].compiled:
        torch.manual_seed(_DRAWS)
        return compiled(*inputs), found
    return None, found


def _through_dynamo(call, inputs, options):
    strata.reset()
    function = torch.compile(lambda *tensors: call(*tensors), backend=strata._torch.backend, dynamic=False, options=options)
    torch.manual_seed(_DRAWS)
    return function(*inputs), strata.reports()


def run(op, variant, sample, dynamo=False, options=None):
    """Outcome, text and opaque operators of one sample."""
    with torch.no_grad():
        try:
            call, expected_inputs, expected = _reference(op, variant, sample)
            inputs = [copied(t) for t in call.tensors]
            try:
                got, found = (_through_dynamo if dynamo else _through_backend)(call, inputs, options)
            except Exception as error:
                raise Shown("failed", "raises " + _first_line(error)) from None
            reasons = [r.reason for r in found if not r.compiled] if found else ["no graph"]
            if reasons:
                raise Shown("left", reasons[0].splitlines()[0][:300])
            opaque = sorted({name for r in found for name in r.opaque})
            how = compare(op, call, inputs, list(got), expected_inputs, expected)
            return "opaque" if opaque else "native", how, opaque
        except Shown as shown:
            return shown.kind, str(shown), []
