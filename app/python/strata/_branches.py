# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch's that look at data to refuse it, in forms that can be captured: what they refuse is asserted in every run."""
import math

import torch
from torch.overrides import TorchFunctionMode

functional = torch.nn.functional


def _gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    if not isinstance(var, torch.Tensor) or reduction not in ("none", "mean", "sum"):
        return functional.gaussian_nll_loss(input, target, var, full=full, eps=eps, reduction=reduction)
    torch._assert_async(torch.logical_not(torch.any(var < 0)), "var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif input.ndim != var.ndim or sum(b for a, b in zip(input.size(), var.size()) if a != b) != 1:
            raise ValueError("var is of incorrect size")
    var = var.clamp(min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def _weights(fweights, aweights, count):
    """The product of frequencies and weights; that they are not negative is asserted."""
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None and count:
            torch._assert_async(given.min().ge(0), f"cov(): {name} cannot be negative")
    both = [given for given in (fweights, aweights) if given is not None]
    return both[0] * both[1] if len(both) == 2 else both[0] if both else None


def _plain(x, *weights):
    given = [w for w in weights if w is not None]
    shaped = x.dim() <= 2 and all(w.dim() == 1 and w.numel() == x.shape[-1 if x.dim() else 0 :].numel() for w in given)
    return shaped and not x.is_complex() and x.dtype != torch.bool


def _cov(input, *, correction=1, fweights=None, aweights=None):
    if not _plain(input, fweights, aweights):
        return torch.cov(input, correction=correction, fweights=fweights, aweights=aweights)
    x = input if input.dim() == 2 else input.reshape(1, -1)
    count = x.shape[1]
    w = _weights(fweights, aweights, count)
    total = count if w is None else w.sum()
    if w is not None:
        torch._assert_async(total.ne(0), "cov(): weights sum to zero, can't be normalized")
    x = x - ((x if w is None else x * w).sum(1) / total).unsqueeze(1)
    product = torch.mm(x, (x if w is None else x * w).t())
    if w is None:
        return (product / max(count - correction, 0)).squeeze()
    freedom = total - correction
    if aweights is not None and correction != 0:
        freedom = total - correction * (w * aweights).sum() / total
    return (product / freedom.clamp(min=0)).squeeze()


def _corrcoef(input):
    if not _plain(input):
        return torch.corrcoef(input)
    c = _cov(input)
    if c.dim() == 0:
        return c / c
    deviation = c.diag().sqrt()
    return (c / deviation.unsqueeze(1) / deviation.unsqueeze(0)).clip(-1, 1)


def _unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """PyTorch's shape rule is wrong for a dimension counted from the end."""
    if dim is not None and dim < 0:
        dim += max(input.dim(), 1)
    return torch.unique_consecutive(input, return_inverse, return_counts, dim)


_FORMS = {
    functional.gaussian_nll_loss: _gaussian_nll_loss, torch.cov: _cov, torch.corrcoef: _corrcoef,
    torch.unique_consecutive: _unique_consecutive,
}


class WithoutBranches(TorchFunctionMode):
    """While it is entered, calls of these functions are calls of the forms here."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        return _FORMS.get(function, function)(*args, **(kwargs or {}))
