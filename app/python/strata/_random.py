# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which random numbers the compiled program may draw itself, from PyTorch's generator, in place of PyTorch.

PyTorch's kernels differ between its versions and between processors (on some it asks MKL). So each kind of draw is compared with
PyTorch once per process, bit for bit, and only what agrees is compiled.
"""
import functools

import torch

from . import _strata

aten = torch.ops.aten
_SEED = 20 * 2**32 + 11
_STATE = 5056

_strata.draw_from(torch.default_generator)

# Kind of draw by operator; the element type decides for floats.
_KINDS = {
    "rand": "uniform", "rand_like": "uniform", "uniform": "uniform", "uniform_": "uniform",
    "randn": "normal", "randn_like": "normal", "normal": "normal", "normal_": "normal", "normal_functional": "normal",
    "exponential": "exponential", "exponential_": "exponential",
    "randint": "integers", "randint_like": "integers", "random": "integers", "random_": "integers",
    "randperm": "permutation", "multinomial": "multinomial",
    "dropout": "bernoulli", "dropout_": "bernoulli", "native_dropout": "bernoulli", "feature_dropout": "bernoulli",
    "alpha_dropout": "bernoulli", "feature_alpha_dropout": "bernoulli", "scaled_dot_product_attention": "bernoulli",
}  # fmt: skip
_FLOATS = ("uniform", "normal", "exponential")


def _kind(node):
    name = node.target.overloadpacket.__name__
    if name in ("bernoulli", "bernoulli_"):
        return "bernoulli" if node.target._overloadname in ("p", "float") else "bernoulli_each"
    return _KINDS.get(name)


def _same(kind, numbers, dtype, count, draw, probabilities=None):
    generator = torch.Generator().manual_seed(_SEED)
    out, state = torch.empty(count, dtype=dtype), torch.empty(_STATE, dtype=torch.uint8)
    _strata.draw_once(kind, _SEED, list(numbers), probabilities, out, state)
    expected = draw(generator)
    return expected.dtype == dtype and torch.equal(out, expected) and torch.equal(state, generator.get_state())


def _trials(kind, dtype):
    """(numbers, element type, count, PyTorch's draw[, probabilities]) that show how PyTorch draws this kind."""
    fresh = lambda n: torch.empty(n, dtype=dtype)
    if kind == "uniform":
        return [((-1.5, 2.25), dtype, 999, lambda g: fresh(999).uniform_(-1.5, 2.25, generator=g)),
                ((0, 1), dtype, 999, lambda g: fresh(999).uniform_(generator=g))]  # fmt: skip
    if kind == "normal":
        gaps = lambda g: fresh((99, 2))[:, 0].normal_(0.5, 1.75, generator=g)
        blocks = lambda n: lambda g: fresh(n).normal_(0.5, 1.75, generator=g)
        return [((0.5, 1.75, False), dtype, 7, blocks(7)), ((0.5, 1.75, False), dtype, 8003, blocks(8003)),
                ((0.5, 1.75, True), dtype, 99, gaps)]  # fmt: skip
    if kind == "exponential":
        return [((0.75,), dtype, 999, lambda g: fresh(999).exponential_(0.75, generator=g))]
    if kind == "bernoulli":
        return [((0.375,), torch.bool, 2999, lambda g: torch.empty(2999, dtype=torch.bool).bernoulli_(0.375, generator=g)),
                ((0.9,), torch.float32, 99, lambda g: torch.empty(99).bernoulli_(0.9, generator=g))]  # fmt: skip
    if kind == "bernoulli_each":
        each = torch.linspace(0, 1, 999).to(dtype)
        return [((), dtype, 999, lambda g: torch.bernoulli(each, generator=g), each)]
    if kind == "multinomial":
        weights = torch.linspace(0, 1, 300).to(dtype).view(3, 100)
        draw = lambda count, again: lambda g: torch.multinomial(weights, count, again, generator=g)
        return [((again,), torch.int64, (3, count), draw(count, again), weights) for count, again in ((1, False), (60, False), (60, True))]
    if kind == "permutation":
        return [((), torch.int64, 999, lambda g: torch.randperm(999, generator=g))]
    ranges = [(-3, 97), (0, 2**28 - 1), (0, 2**28), (-(2**40), 2**50)]
    return [((low, high), torch.int64, 99, lambda g, low=low, high=high: torch.randint(low, high, (99,), generator=g)) for low, high in ranges]


@functools.cache
def _agrees(kind, dtype):
    with torch.utils._python_dispatch._disable_current_modes():
        try:
            return all(_same(kind, *trial) for trial in _trials(kind, dtype))
        except RuntimeError:  # an element type that this PyTorch does not draw
            return False


def _row_by_row(value):
    return not isinstance(value, torch.Tensor) or value.is_contiguous()


def drawn_natively(node):
    """Whether the compiler's row for a call that draws gives PyTorch's numbers: the call is of a kind that agrees, on PyTorch's
    default generator, and everything is laid out row by row."""
    kind = _kind(node)
    value = node.meta.get("val")
    if kind is None or node.kwargs.get("generator") is not None:
        return False
    results = value if isinstance(value, (tuple, list)) else [value]
    operands = [n.meta.get("val") for n in node.all_input_nodes]
    if not isinstance(results[0], torch.Tensor):
        return False
    # Attention drops scores, which are laid out row by row wherever its operands lie.
    if node.target.overloadpacket.__name__ != "scaled_dot_product_attention" and not all(map(_row_by_row, (*results, *operands))):
        return False
    given = [a.meta.get("val") if isinstance(a, torch.fx.Node) else a for a in (*node.args, *node.kwargs.values())]
    if any(isinstance(v, (torch.Generator, torch.SymFloat)) for v in given):
        return False
    if kind == "bernoulli" and not _has_probability(node):
        return False
    dtype = results[0].dtype
    if kind in ("bernoulli_each", "multinomial"):
        dtype = operands[-1].dtype
    if kind == "multinomial" and dtype not in (torch.float32, torch.float64):
        return False
    return _agrees(kind, dtype if kind in (*_FLOATS, "bernoulli_each", "multinomial") else torch.int64)


def _has_probability(node):
    parameters = [a.name for a in node.target._schema.arguments]
    at = parameters.index("dropout_p") if "dropout_p" in parameters else 1
    p = node.args[at] if len(node.args) > at else node.kwargs.get(parameters[at], 0.5)
    return isinstance(p, (int, float)) and 0 <= p <= 1
