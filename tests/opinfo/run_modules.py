#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's database of modules (every `torch.nn` module, training and not) and its examples for `torch.export`, live and from files,
compared with PyTorch and, where the two differ, with float64. Buffers that a module writes are compared, too.

    PYTHONPATH=build/python python3 tests/opinfo/run_modules.py [NAME...] [--inputs 6] [--jobs 2]

NAME: nn.GRU, export.cond_predicate, with * and ?. Prints one line per outcome that is not agreement, then totals. Exit code 1 where one
differs or fails, 77 without PyTorch 2.4.
"""
import argparse
import collections
import copy
import fnmatch
import os
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import torch_or_skip

torch_or_skip.check()

import torch
import torch.utils._pytree as pytree

import strata
from children import result_of, totals_of
from samples import as_exact
from torch._export.db.examples import all_examples
from torch.testing._internal.common_modules import module_db

SEED = 1


def modules(inputs):
    """(label, function that makes the module, positional and keyword operands, dynamic shapes)."""
    for info in module_db:
        for training in (True, False) if info.train_and_eval_differ else (False,):
            found = [s for s in info.module_inputs_func(info, "cpu", torch.float32, False, training) if s.forward_input is not None]
            for number, sample in enumerate(found[:: max(1, len(found) // inputs)][:inputs]):

                def make(info=info, sample=sample, training=training):
                    torch.manual_seed(0)
                    given = sample.constructor_input
                    return info.module_cls(*given.args, **given.kwargs).float().train(training)

                label = f"{'' if info.name.startswith('nn.') else 'nn.'}{info.name}#{number}{' training' if training else ''}"
                yield label, make, sample.forward_input.args, sample.forward_input.kwargs, None
    for name, case in all_examples().items():
        yield f"export.{name}", lambda case=case: case.model, case.example_args, case.example_kwargs, case.dynamic_shapes


def call(module, args, kwargs):
    torch.manual_seed(SEED)
    args, kwargs = copy.deepcopy((args, kwargs))
    return module(*args, **kwargs)


def in_float64(module, args, kwargs):
    """The results with everything in float64, or None where PyTorch cannot do that."""
    wide = lambda v: v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v
    try:
        return pytree.tree_leaves(call(copy.deepcopy(module).double(), *pytree.tree_map(wide, (args, kwargs))))
    except Exception:
        return None


def difference(found, expected, exact):
    found, expected = pytree.tree_leaves(found), pytree.tree_leaves(expected)
    if len(found) != len(expected):
        return f"{len(found)} results, not {len(expected)}"
    for i, (ours, theirs) in enumerate(zip(found, expected)):
        if not isinstance(theirs, torch.Tensor):
            if ours != theirs:
                return f"{ours} instead of {theirs}"
            continue
        try:
            torch.testing.assert_close(torch.as_tensor(ours), theirs, rtol=1e-4, atol=1e-5, equal_nan=True, check_stride=False)
        except AssertionError as error:
            if exact is None or not as_exact(ours, theirs, exact[i]):
                return f"result {i}: " + " ".join(str(error).split())[:160]
    return None


def live(module, args, kwargs, exact):
    ours, theirs = copy.deepcopy(module), copy.deepcopy(module)
    with torch.no_grad():
        found, expected = call(torch.compile(ours, backend="strata"), args, kwargs), call(theirs, args, kwargs)
    why = difference(found, expected, exact)
    for (name, a), (_, b) in zip(ours.named_buffers(), theirs.named_buffers()):
        if why is None and not torch.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True):
            why = f"buffer {name}"
    return ("differs", why) if why else ("agrees", "")


def from_file(module, args, kwargs, dynamic, exact):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "module.pt2")
        try:
            program = torch.export.export(module, tuple(args), kwargs, dynamic_shapes=dynamic)
            torch.export.save(program, path)
            expected = call(program.module(), args, kwargs)
        except Exception as error:
            return "not exported", type(error).__name__
        model = strata.load(path)
        tensors = [v.detach().clone() for v in pytree.tree_leaves((args, kwargs)) if isinstance(v, torch.Tensor)]
        found = model(*tensors)
    targets = [node.target for node in program.graph.nodes]
    if any(torch.Tag.nondeterministic_seeded in getattr(target, "tags", ()) for target in targets):
        return "agrees", ""  # random numbers of its own
    why = difference(list(found), expected, exact)
    return ("differs", why) if why else ("agrees", "")


def outcomes(make, args, kwargs, dynamic):
    module = make()
    exact = in_float64(module, args, kwargs)
    ways = {"live": lambda: live(module, args, kwargs, exact), "file": lambda: from_file(module, args, kwargs, dynamic, exact)}
    for way, run in ways.items():
        try:
            yield (way, *run())
        except strata.StrataError as error:
            yield way, "refused", " ".join(str(error).split())[:200]
        except Exception as error:
            yield way, "failed", f"{type(error).__name__}: {error}".replace("\n", " ")[:200]


def in_child(case, seconds):
    """In a process of its own: what crashes or hangs is one module's."""
    found, status = result_of(lambda: list(outcomes(*case)), seconds, quiet=(2,))
    return [("both", "failed", f"the process ended with status {status}")] if status else found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="modules and examples, with * and ?; all by default")
    parser.add_argument("--inputs", type=int, default=6, help="of each module")
    parser.add_argument("--seconds", type=int, default=120, help="for each")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    wanted = lambda label: not options.names or any(fnmatch.fnmatch(label.split("#")[0], name) for name in options.names)
    cases = [case for case in modules(options.inputs) if wanted(case[0])]

    def work(case):
        label, totals = case[0], collections.Counter()
        for way, kind, why in in_child(case[1:], options.seconds):
            totals[f"{way} {kind}"] += 1
            if kind not in ("agrees", "not exported"):
                print(f"{label:44} {way} {kind}  {why}", flush=True)
        return totals

    totals = totals_of(cases, work, options.jobs, "both failed")
    print(", ".join(f"{count} {kind}" for kind, count in totals.most_common()))
    return 1 if any(kind.endswith(("differs", "failed")) for kind in totals) else 0


if __name__ == "__main__":
    raise SystemExit(main())
