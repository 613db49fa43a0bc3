# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`flex_attention`, written out: scores of all positions at once, softmax, and the sum of values.

Its two functions, of one score and of one position, are run on all positions by broadcasting: the score has four dimensions, and each
index lies along its own. That gives what a function of single elements gives where every step takes elements to an element.
"""
import math
import operator

import torch

# Functions, and methods of the same name, that take elements to an element.
_ELEMENTWISE = set(
    "abs add sub subtract mul multiply div divide true_divide floor_divide remainder fmod neg negative pow square sqrt rsqrt reciprocal "
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc sigmoid relu "
    "maximum minimum clamp clamp_min clamp_max clip where eq ne lt le gt ge logical_and logical_or logical_not logical_xor "
    "bitwise_and bitwise_or bitwise_xor bitwise_not floor ceil round trunc sign isnan isinf softplus "
    "float double half bfloat16 int long bool to type_as clone contiguous detach".split()
)
_OPERATORS = {
    getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow neg abs eq ne lt le gt ge and_ or_ xor invert lshift rshift".split()
}
_CONSTANTS = {"new_ones", "new_zeros", "new_full", "new_tensor"}


class _Elsewhere(Exception):
    """A step that is no function of elements."""


class _Everywhere(torch.fx.Interpreter):
    """Runs a function of elements on tensors of four dimensions."""

    def placeholder(self, target, args, kwargs):
        return _wide(super().placeholder(target, args, kwargs))

    def get_attr(self, target, args, kwargs):
        value = super().get_attr(target, args, kwargs)
        if not isinstance(value, torch.Tensor):
            raise _Elsewhere
        return _wide(value)

    def call_function(self, target, args, kwargs):
        if target is operator.getitem or getattr(target, "__name__", "") == "mod_index":
            return _element(args[0], args[1])
        if target not in _OPERATORS and not (_word(target) in _ELEMENTWISE and _of_torch(target)):
            raise _Elsewhere
        return self._checked(super().call_function(target, args, kwargs), args, kwargs)

    def call_method(self, target, args, kwargs):
        if target in _CONSTANTS and tuple(args[1] if len(args) > 1 else kwargs.get("size", (0,))) == ():
            return _wide(super().call_method(target, args, kwargs))
        if target not in _ELEMENTWISE:
            raise _Elsewhere
        return self._checked(super().call_method(target, args, kwargs), args, kwargs)

    def call_module(self, target, args, kwargs):
        raise _Elsewhere

    @staticmethod
    def _checked(result, args, kwargs):
        given = [v for v in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(v, torch.Tensor)]
        if not isinstance(result, torch.Tensor) or any(v.dim() != 4 for v in given):
            raise _Elsewhere
        return result


def _word(target):
    return getattr(target, "__name__", "")


def _of_torch(target):
    return getattr(torch, _word(target), None) is target or getattr(torch.nn.functional, _word(target), None) is target


def _wide(value):
    """Tensors without dimensions count for types of results as those with dimensions do: here all are elements."""
    return value.reshape(1, 1, 1, 1) if isinstance(value, torch.Tensor) and value.dim() == 0 else value


def _element(tensor, indices):
    indices = indices if isinstance(indices, (tuple, list)) else (indices,)
    if not isinstance(tensor, torch.Tensor) or len(indices) != tensor.dim():
        raise _Elsewhere
    for index in indices:
        if not (type(index) is int or isinstance(index, torch.Tensor) and index.dim() == 4 and index.dtype in (torch.int32, torch.int64)):
            raise _Elsewhere
    return _wide(tensor[tuple(indices)])


def _allows_all(mask):
    """Whether a mask is the one that `flex_attention` makes where none is given."""
    output = next(node for node in mask.graph.nodes if node.op == "output").args[0]
    return isinstance(output, torch.fx.Node) and output.target == "new_ones"


def _as_given(out, query):
    """The result's dimensions lie in the order of the query's; elements of a row lie side by side."""
    strides = [s.node.hint if isinstance(s, torch.SymInt) else s for s in query.stride()]  # compared, symbols would be guarded
    order = [*sorted(range(3), key=lambda d: -(strides[d] or 0)), 3]
    return out.permute(order).contiguous().permute([order.index(d) for d in range(4)])


def written_out(query, key, value, score_mod, block_mask, scale, _options, score_buffers=(), mask_buffers=()):
    """What the call gives: the result, and what it has in two more places; None where its functions are not of elements."""
    mask = block_mask[-1]
    if not isinstance(score_mod, torch.fx.GraphModule) or not isinstance(mask, torch.fx.GraphModule) or not isinstance(scale, (int, float)):
        return None
    precise = torch.float64 if query.dtype == torch.float64 else torch.float32
    batch, heads = query.shape[:2]
    shared = heads // key.shape[1]
    if shared != 1:
        key, value = (t.unsqueeze(2).expand(-1, -1, shared, -1, -1).flatten(1, 2) for t in (key, value))
    if key.shape[0] != batch:
        key, value = (t.expand(batch, *t.shape[1:]) for t in (key, value))
    scores = query.to(precise) @ key.to(precise).transpose(-2, -1) * scale
    where = [torch.arange(n, device=query.device).view([-1 if i == d else 1 for i in range(4)]) for d, n in enumerate(scores.shape)]
    try:
        changed = _Everywhere(score_mod).run(scores, *where, *score_buffers)
        allowed = None if _allows_all(mask) else _Everywhere(mask).run(*where, *mask_buffers)
    except _Elsewhere:
        return None
    changed = changed.to(precise)
    if allowed is not None:
        changed = torch.where(allowed, changed, -math.inf)
    if changed.shape != scores.shape:
        changed = changed.expand(scores.shape)
    none = torch.all(changed == -math.inf, dim=-1)
    sums = torch.where(none, -math.inf, changed.logsumexp(dim=-1))
    out = torch._safe_softmax(changed, dim=-1).to(query.dtype) @ value.to(query.dtype)
    return _as_given(out, query), sums / math.log(2), changed.amax(dim=-1) / math.log(2)
