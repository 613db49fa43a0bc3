#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the networks of models.py through `torch.compile(backend="strata")` and prints a table.

    PYTHONPATH=build/python python3 tests/bridge/run_models.py [NAME...]

Per network: graphs, how many were compiled, the largest error against float64 and PyTorch's own, in units of the largest value (the
first may be at most twice the second, plus 1e-6), milliseconds of a call compiled and by PyTorch, the share of the compiled call's
launches in which PyTorch is called, and the operators for which it is. Exit code 1 when a network fails, differs, or is not
compiled whole.
"""
import argparse
import copy
import sys
import time
import traceback
import warnings

import torch

import strata
from models import MODELS
from strata._torch import live_models

leaves = torch.utils._pytree.tree_leaves


def numbers(value):
    """Floating tensors of a result; of containers that pytrees do not know, such as caches, what `to_tuple` gives."""
    if hasattr(value, "to_tuple"):
        value = value.to_tuple()
    return [v for v in leaves(value) if isinstance(v, torch.Tensor)]


def error(values, exact):
    worst = 0.0
    for a, b in zip(values, exact):
        if not b.numel():
            continue
        if not b.is_floating_point():
            worst = max(worst, float((a != b).any()))
            continue
        size = b.abs().max().item() or 1.0
        difference = (a.double() - b).abs().max().item() / size
        worst = max(worst, float("inf") if difference != difference else difference)
    return worst


def wide(value):
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def try_model(make):
    torch.manual_seed(torch.seed() % 2**31)
    strata.reset()
    model, calls = make()
    model.eval()
    exact_model = in_float64(model)
    compiled = strata.compile(model)
    ours = theirs = 0.0
    with torch.no_grad():
        for call in calls:
            # First by PyTorch: transformers installs hooks in a model's first call, at which Dynamo would break the graph.
            expected = numbers(model(*call))
            got = numbers(compiled(*call))
            exact = numbers(exact_model(*[wide(v) for v in call]))
            if [v.shape for v in got] != [v.shape for v in expected]:
                raise AssertionError(f"shapes {[tuple(v.shape) for v in got]}, not {[tuple(v.shape) for v in expected]}")
            ours, theirs = max(ours, error(got, exact)), max(theirs, error(expected, exact))
        times = [milliseconds(run, calls[0]) for run in (compiled, model)]
        share = opaque_share(compiled, calls[0])
    return ours, theirs, times, share, strata.reports()


def in_float64(model):
    """A copy that computes in float64; experts one by one, as PyTorch's grouped products have no such type."""
    exact = copy.deepcopy(model).double()
    for module in exact.modules():
        if hasattr(getattr(module, "config", None), "_experts_implementation"):
            module.config._experts_implementation = "eager"
    return exact


def milliseconds(run, call, turns=15):
    """The median."""
    run(*call)
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        run(*call)
        times.append(time.perf_counter() - start)
    return sorted(times)[turns // 2] * 1e3


def opaque_share(run, call, turns=5):
    """Of the time of all launches, that of the launches in which PyTorch is called."""
    models = live_models()
    for model in models:
        model.set_timing(True)
    launches = []
    for _ in range(turns):
        run(*call)
        launches += [launch for model in models for launch in model.times()]
    for model in models:
        model.set_timing(False)
    whole = sum(duration for _, duration, _ in launches)
    return sum(duration for _, duration, opaque in launches if opaque) / whole if whole else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*MODELS, []], help="all by default")
    parser.add_argument("--trace", action="store_true", help="print where a failure came from")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = 0
    print(f"{'network':14}{'graphs':>7}{'ours':>6}{'error':>10}{'PyTorch':>10}{'ms':>8}{'PyTorch':>9}{'opaque':>8}")
    for name in options.names or MODELS:
        try:
            ours, theirs, times, share, reports = try_model(MODELS[name])
        except Exception as failure:
            failed += 1
            print(f"{name:14}failed: {str(failure).splitlines()[0][:150]}", flush=True)
            if options.trace:
                traceback.print_exc()
            continue
        fine = ours <= 2 * theirs + 1e-6
        compiled = sum(report.compiled for report in reports)
        failed += not fine or not reports or compiled < len(reports)
        notes = sorted({op for report in reports for op in report.opaque})
        notes += sorted({report.reason for report in reports if not report.compiled})
        print(
            f"{name:14}{len(reports):7}{compiled:6}{ours:10.1e}{theirs:10.1e}{times[0]:8.2f}{times[1]:9.2f}{share:8.0%}  "
            f"{'' if fine else 'DIFFERS '}{'; '.join(notes)[:200]}",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
