#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of PyTorch's operator database with one or two arguments changed, as single ATen calls: another shape or type, a number out of
range, a list that is too short. What PyTorch refuses must be refused here, with an error that a user can read; what it takes and Strata takes
must agree.

    PYTHONPATH=build/python python3 tests/opinfo/run_changed.py [NAME...] [--samples 4] [--changes 6] [--seed 1] [--jobs 2]

Prints one line per kind of call whose outcome is not the same, then totals:
    agrees, both       both give the same result, both refuse
    accepted           PyTorch refuses what Strata takes
    narrower           Strata refuses what PyTorch takes
    differs            other results
    lacking            PyTorch has no kernel for the type, Strata has one
    internal, died     an error that says nothing to a user; a crash (of Strata: where PyTorch itself crashes, that is said)
Exit code 1 for internal errors and crashes, 77 without PyTorch 2.4.
"""
import argparse
import collections
import fnmatch
import operator
import os
import random
import re
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import torch_or_skip

torch_or_skip.check()

import torch
import torch.utils._pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

import strata
from children import result_of, totals_of
from samples import name_of, op_db
from strata import _strata as core

DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16, "i64": torch.int64, "i32": torch.int32,
          "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "b8": torch.bool, "c64": torch.complex64, "c128": torch.complex128}  # fmt: skip
SIXTEEN_BITS = (torch.bfloat16, torch.float16)
# PyTorch itself reads and writes beyond memory where sizes or places do not fit: whoever comes next dies of it.
UNCHECKED = {"aten._fft_r2c.default", "aten._fft_c2c.default", "aten._fft_c2r.default", "aten.max_pool2d_with_indices_backward.default"}
# What is refused before an operator is asked, or for want of memory.
NOT_ASKED = re.compile("pin_memory|can't allocate|Device string|Expected one of cpu, cuda|Expected a value of type|MKL FFT error")
# A call whose type Strata finds to be another than the graph says.
OTHER_TYPE = re.compile(r"\) is (said to be )?\(?[fibcu]\w*\[")
TYPE_HERE = re.compile(r"(?:and|make it) (\w+)\[([^\]]*)\]\[([^\]]*)\]cpu")
SAID_BY = re.compile(r"-?\d+(\.\d+)?")


class Calls(TorchDispatchMode):
    """The ATen calls that are made within it."""

    def __init__(self):
        super().__init__()
        self.made = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.made.append((func, args, kwargs or {}))
        return func(*args, **kwargs or {})


def calls_of(op, sample):
    """The operator itself as an ATen call, and the first calls that it makes."""
    found = []
    try:
        packet = getattr(torch.ops.aten, op.aten_name or op.name.split(".")[-1])
        overload = torch._C._jit_resolve_packet(packet._qualified_op_name, sample.input, *sample.args, **sample.kwargs)
        found.append((getattr(packet, overload or "default"), (sample.input, *sample.args), sample.kwargs))
    except Exception:  # a function of Python
        pass
    calls = Calls()
    try:
        with calls:
            op.op(sample.input, *sample.args, **sample.kwargs)
    except Exception:
        pass
    return found + [call for call in calls.made if call[0].namespace == "aten"][:3]


class Changer:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def drawn(self, shape, dtype):
        numbers = torch.randn(shape) * 3
        if dtype == torch.bool:
            return numbers > 0
        return (numbers.abs() if dtype == torch.uint8 else numbers).to(dtype)

    def tensor(self, t):
        pick, sizes, whole = self.random, list(t.shape), t.dtype in (torch.int64, torch.int32)
        kind = pick.randrange(9)
        if kind == 0 and sizes:
            i = pick.randrange(len(sizes))
            sizes[i] = pick.choice([0, 1, 2, sizes[i] + 1, max(0, sizes[i] - 1)])
        elif kind == 1 and sizes:
            sizes.pop(pick.randrange(len(sizes)))
        elif kind == 2:
            sizes.insert(pick.randint(0, len(sizes)), pick.choice([1, 2, 3]))
        elif kind == 3:
            sizes = []
        elif kind == 4:
            sizes = [pick.choice([0, 1, 2, 3, 5]) for _ in range(pick.randrange(5))]
        elif kind == 5:
            return self.drawn(sizes, pick.choice(list(DTYPES.values())))
        elif kind == 6 and whole and t.numel():  # an index out of range, say
            t = t.clone(memory_format=torch.contiguous_format)
            t.view(-1)[pick.randrange(t.numel())] = pick.choice([-1, -100, 100, 7])
            return t
        elif kind == 7:
            pick.shuffle(sizes)
        else:
            sizes = [size if pick.random() < 0.5 else 1 for size in sizes]
        if whole and t.numel():  # the same numbers: they may be indices
            count = torch.Size(sizes).numel()
            return t.reshape(-1).repeat(count // t.numel() + 1)[:count].reshape(sizes).clone()
        return self.drawn(sizes, t.dtype)

    def value(self, v):
        pick = self.random
        if isinstance(v, torch.Tensor):
            return self.tensor(v)
        if isinstance(v, bool):
            return not v
        if isinstance(v, int):
            extremes = [1 << 40, -(1 << 62), 1.5] if pick.random() < 0.1 else []
            return pick.choice([0, -1, 1, 2, 3, v + 1, v - 1, -v, 100, -100, *extremes])
        if isinstance(v, float):
            return pick.choice([0.0, -1.0, float("nan"), float("inf"), -v, 2.5, 1e30])
        if isinstance(v, torch.dtype):
            return pick.choice(list(DTYPES.values()))
        if isinstance(v, str):
            return pick.choice(["sum", "mean", "none", "bilinear", "x", ""])
        if v is None:
            return pick.choice([0, -1, 1, [0], [0, 0], [-1], 0.5, True, self.drawn([3], torch.float32), []])
        return v

    def arguments(self, args, kwargs):
        pick = self.random
        lists = [i for i, a in enumerate(args) if isinstance(a, (list, tuple))]
        if lists and pick.random() < 0.15:
            args, i = list(args), pick.choice(lists)
            items = list(args[i])
            kind = pick.randrange(3)
            if kind == 0 and items:
                items.pop(pick.randrange(len(items)))
            elif kind == 1 and items:
                items.insert(pick.randrange(len(items) + 1), pick.choice(items))
            else:
                items = []
            args[i] = items
            return tuple(args), kwargs
        leaves, spec = pytree.tree_flatten((args, kwargs))
        for _ in range(pick.choice([1, 1, 1, 2]) if leaves else 0):
            i = pick.randrange(len(leaves))
            leaves[i] = self.value(leaves[i])
        return pytree.tree_unflatten(leaves, spec)


def graph_of(func, args, kwargs, value):
    """A graph of one call that is said to give such a value, and the tensors that it takes."""
    graph, tensors = torch.fx.Graph(), []

    def placed(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        node = graph.placeholder(f"t{len(tensors)}")
        node.meta["val"] = leaf
        tensors.append(leaf.clone())
        return node

    args, kwargs = pytree.tree_map(placed, (tuple(args), kwargs))
    call = graph.call_function(func, args, kwargs)
    call.meta["val"] = value
    parts = []
    for i, part in enumerate(value if isinstance(value, (tuple, list)) else []):
        parts.append(graph.call_function(operator.getitem, (call, i)))
        parts[-1].meta["val"] = part
    graph.output(tuple(parts) or (call,))
    return torch.fx.GraphModule({}, graph), tensors


def value_here(text):
    """A tensor of the type that an error says a call has here; None if it names none."""
    named = TYPE_HERE.search(text)
    numbers = lambda list_: [int(n) for n in list_.split(",") if n.strip()]
    try:
        return torch.empty_strided(numbers(named[2]), numbers(named[3]), dtype=DTYPES[named[1]])
    except Exception:
        return None


def described(func, args, kwargs):
    def leaf(v):
        return f"{str(v.dtype)[6:]}{list(v.shape)}" if isinstance(v, torch.Tensor) else v

    return f"{func}{pytree.tree_map(leaf, tuple(args))}" + (f" {pytree.tree_map(leaf, kwargs)}" if kwargs else "")


def difference(ours, theirs, exact):
    if len(ours) != len(theirs):
        return f"{len(ours)} results, not {len(theirs)}"
    for a, b in zip(ours, theirs if exact else []):
        rtol, atol = (3e-2, 2e-2) if b.dtype in SIXTEEN_BITS else (1e-4, 1e-4)
        try:
            torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True, check_stride=False)
        except AssertionError as error:
            return " ".join(str(error).split())[:200]
    return None


def outcome(func, args, kwargs, step, value=None):
    """(kind, what was called, what was said), or None for what says nothing."""
    tensors = [v for v in pytree.tree_leaves((args, kwargs)) if isinstance(v, torch.Tensor)]
    if str(func) in UNCHECKED or any(t.layout != torch.strided for t in tensors) or sum(t.numel() for t in tensors) > 1 << 20:
        return None
    refused, expected = None, None
    step("PyTorch")
    try:
        copied = lambda v: v.detach().clone() if isinstance(v, torch.Tensor) else v
        given = pytree.tree_map(copied, (args, kwargs))
        expected = func(*given[0], **given[1])
    except (RuntimeError, IndexError, ValueError, NotImplementedError) as error:
        refused = str(error)
    except Exception:  # the schema takes no such arguments
        return None
    step("Strata")
    if refused is None and not (expected is not None and all(isinstance(v, torch.Tensor) for v in pytree.tree_leaves(expected))):
        return None
    if refused and NOT_ASKED.search(refused):
        return None
    what = described(func, args, kwargs) + (f"\n      PyTorch: {refused.splitlines()[0][:150]}" if refused else "")
    if value is None:
        value = expected if refused is None else tensors[0] if tensors else torch.zeros(())
    taken = "lacking" if refused and "not implemented for" in refused else "accepted"
    try:
        graph, operands = graph_of(func, args, kwargs, value)
    except Exception:  # a value that no graph holds
        return None
    missing, foreign = core.operators_of_fx(graph)
    if missing or foreign:
        return None
    try:
        said = next(iter(core.rejected_calls(graph).values()), None)
        if said is None:
            found = core.compile_fx(graph, "changed", "strata", "default", 1, set(), {}).caller()(*operands)
    except (strata.StrataError, IndexError) as error:
        said = str(error)
    except Exception as error:
        return "internal", what, repr(error)[:250]
    if said is None:
        if refused:
            return taken, what, ""
        # Random numbers, fresh memory, and which of equal elements comes first, are not compared.
        exact = not (torch.Tag.nondeterministic_seeded in func.tags or re.search(r"empty|\bsort|argsort|topk", str(func)))
        differs = difference(found, pytree.tree_leaves(expected), exact)
        return ("differs", what, differs) if differs else ("agrees", what, "")
    if re.search("internal|std::|vector::", said):
        return "internal", what, said[:250]
    if refused and OTHER_TYPE.search(said):  # PyTorch did not say which type it has; ask again with ours
        here = value_here(said)
        again = outcome(func, args, kwargs, step, here) if here is not None and value is not here else None
        return again or (taken, what, said[:250])
    return "both" if refused else "narrower", what, said[:250]


def try_operator(op, options, note):
    changer = Changer(f"{options.seed} {name_of(op)}")
    torch.manual_seed(options.seed)
    totals, shown, seen = collections.Counter(), [], collections.Counter()
    for dtype in [d for d in (torch.float32, torch.int64) if d in op.dtypes]:
        samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
        for sample in samples[:: max(1, len(samples) // options.samples)][: options.samples]:
            for func, args, kwargs in calls_of(op, sample):
                for _ in range(options.changes):
                    try:
                        changed = changer.arguments(args, kwargs)
                    except Exception:  # a tensor that cannot be copied
                        continue
                    found = outcome(func, *changed, lambda who, call=changed, func=func: note(who, func, *call))
                    if found is None:
                        continue
                    totals[found[0]] += 1
                    kind = (found[0], str(func), SAID_BY.sub("", found[2])[-80:])
                    seen[kind] += 1
                    if found[0] not in ("agrees", "both") and seen[kind] == 1:
                        shown.append(found)
    return dict(totals), shown


def in_child(op, options):
    """In a process of its own, for what crashes or hangs is one operator's: totals, what to show."""
    notes = os.memfd_create("step")

    def note(who, *call):
        os.pwrite(notes, f"{who}: {described(*call)}"[:2000].ljust(2000).encode()[:2000], 0)

    value, status = result_of(lambda: try_operator(op, options, note), options.seconds, quiet=(2,))  # PyTorch's warnings
    last = os.pread(notes, 2000, 0).decode().strip()
    os.close(notes)
    if not status:
        return value
    who = "died" if last.startswith("Strata") else "PyTorch died"
    return {who: 1}, [(who, last, f"status {status}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="operators, with * and ?; all by default")
    parser.add_argument("--samples", type=int, default=4, help="of each operator and type")
    parser.add_argument("--changes", type=int, default=6, help="of each call of a sample")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=150, help="for each operator")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    wanted = [op for op in op_db if not options.names or any(fnmatch.fnmatch(name_of(op), name) for name in options.names)]

    def work(op):
        counts, shown = in_child(op, options)
        for kind, what, said in shown:
            print(f"{kind}: [{name_of(op)}] {what}" + (f"\n      {said}" if said else ""), flush=True)
        return collections.Counter(counts)

    totals = totals_of(wanted, work, options.jobs, "died")
    print(", ".join(f"{count} {kind}" for kind, count in totals.most_common()))
    return 1 if totals["internal"] or totals["died"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
