#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of PyTorch's operator database as exported programs: `torch.export`, a .pt2 file, `strata.load`, compared with PyTorch.

    PYTHONPATH=build/python python3 tests/opinfo/run_exported.py [NAME...] [--samples 4] [--dtype bfloat16] [--inplace]

Exported programs keep the operators that were called, where `torch.compile` hands over what they are made of: this is what tells
which of them the table has itself. Prints one line per operator whose samples differ or are refused, and totals. Exit code 1 when a sample differs, or an error is not one of Strata's.
"""
import argparse
import collections
import fnmatch
import functools
import os
import tempfile
import warnings

import numpy
import torch
import torch.utils._pytree as pytree

import strata
from children import result_of
from samples import as_exact, in_float64, op_db

DTYPES = ["float32", "float64", "bfloat16", "float16", "complex64", "complex128", "int64", "int32", "int16", "int8", "uint8", "bool"]
# Relative and absolute: sums of 16-bit numbers are rounded once, here, or on the way, by PyTorch.
TOLERANCES = {torch.bfloat16: (3e-2, 2e-2), torch.float16: (4e-3, 4e-3)}


class Called(torch.nn.Module):
    """One call; its tensors are what the program takes."""

    def __init__(self, op, sample, in_place):
        super().__init__()
        self.op, self.in_place = op, in_place
        self.leaves, self.spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))

    def tensors(self):
        """In memory of their own, row by row, as a file's program is given them."""
        given = (leaf for leaf in self.leaves if isinstance(leaf, torch.Tensor))
        return tuple(leaf.clone(memory_format=torch.contiguous_format).resolve_conj().resolve_neg() for leaf in given)

    def forward(self, *tensors):
        return self.call(*tensors, leaf=lambda value: value)

    def call(self, *tensors, leaf):
        given = iter(tensors)
        leaves = [next(given) if isinstance(value, torch.Tensor) else leaf(value) for value in self.leaves]
        first, args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        if self.in_place:
            first = first.clone()
            self.op(first, *args, **kwargs)
            return first
        return self.op(first, *args, **kwargs)


def outcome(op, sample, path, in_place):
    """("agrees" or "refused" or "differs" or "not exported" or "failed", why)"""
    module = Called(op.inplace_variant if in_place else op.op, sample, in_place)
    if any(isinstance(v, torch.Tensor) and v.layout != torch.strided for v in module.leaves):
        return "not exported", ""
    tensors = module.tensors()
    try:
        program = torch.export.export(module, tensors)
        torch.export.save(program, path)
        expected = pytree.tree_leaves(program.module()(*tensors))
    except Exception:
        return "not exported", ""
    if not all(isinstance(v, torch.Tensor) for v in expected):
        return "not exported", ""
    if any(torch.Tag.nondeterministic_seeded in getattr(n.target, "tags", ()) or "empty" in str(n.target) for n in program.graph.nodes):
        return "not exported", ""  # nobody knows what these give
    try:
        found = strata.load(path)(*(bits(t) for t in tensors))
    except strata.StrataError as error:
        return "refused", " ".join(str(error).split())[:150]
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"[:150]
    found = found if isinstance(found, (tuple, list)) else [found]
    if len(found) != len(expected):
        return "differs", f"{len(found)} results, not {len(expected)}"
    rtol, atol = next((TOLERANCES[t.dtype] for t in tensors if t.dtype in TOLERANCES), (1e-4, 1e-5))
    exact = functools.cache(lambda: pytree.tree_leaves(in_float64(module.call, tensors)[0]))
    for i, (ours, theirs) in enumerate(zip(found, expected)):
        try:
            ours = torch.from_numpy(numpy.array(ours))
            if theirs.dtype == torch.bfloat16:  # NumPy has its bits
                ours = ours.view(torch.bfloat16)
            torch.testing.assert_close(ours, theirs.contiguous(), rtol=rtol, atol=atol, equal_nan=True)
        except AssertionError as error:
            if ours.shape != theirs.shape or len(exact()) != len(expected) or not as_exact(ours, theirs, exact()[i]):
                return "differs", " ".join(str(error).split())[:150]
    return "agrees", ""


def bits(tensor):
    """As NumPy has it."""
    return (tensor.detach().view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor.detach()).numpy()


def try_operator(op, count, in_place, dtype):
    if dtype is None:
        dtype = torch.float32 if torch.float32 in op.dtypes else torch.int64
    if dtype not in op.dtypes:
        dtype = None
    totals, reasons = collections.Counter(), {}
    if dtype is None or (in_place and not op.inplace_variant):
        return totals, reasons
    with tempfile.TemporaryDirectory() as folder:
        try:
            samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
        except Exception:
            return totals, reasons
        step = max(1, len(samples) // count)
        for sample in samples[::step][:count]:
            kind, why = outcome(op, sample, os.path.join(folder, "program.pt2"), in_place)
            totals[kind] += 1
            if why:
                reasons[kind] = why
    return totals, reasons


def in_child(op, count, seconds, in_place, dtype):
    """In a process of its own: what crashes or hangs is one operator's."""

    def run():
        torch.manual_seed(0)
        totals, reasons = try_operator(op, count, in_place, dtype)
        return dict(totals), reasons

    found, status = result_of(run, seconds)
    return ({"failed": 1}, {"failed": f"the process ended with status {status}"}) if status else found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="operators, with * and ?; all by default")
    parser.add_argument("--samples", type=int, default=4, help="of each operator")
    parser.add_argument("--dtype", choices=DTYPES, help="of the samples; float32 by default, int64 where there are none")
    parser.add_argument("--inplace", action="store_true", help="their forms with an underscore")
    parser.add_argument("--seconds", type=int, default=120, help="for each operator")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    totals = collections.Counter()
    for op in op_db:
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        if options.names and not any(fnmatch.fnmatch(name, wanted) for wanted in options.names):
            continue
        found, reasons = in_child(op, options.samples, options.seconds, options.inplace, options.dtype and getattr(torch, options.dtype))
        totals.update(found)
        for kind, why in reasons.items():
            print(f"{name:44} {kind:8} {found[kind]:3} of {sum(found.values()):3}  {why}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in totals.most_common()))
    return 1 if totals["differs"] or totals["failed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
