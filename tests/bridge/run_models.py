#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the networks of models.py through `torch.compile(backend="strata")` and prints a table.

    PYTHONPATH=build/python python3 tests/bridge/run_models.py [NAME...]

Per network: graphs, how many were compiled, operators for which PyTorch is called (and their share of the run time), the largest error
against float64 and PyTorch's own, in units of the largest value, and whether the first is at most twice the second (plus 1e-6). Exit
code 1 when a network fails or differs.
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
    exact_model = copy.deepcopy(model).double()
    compiled = torch.compile(model, backend="strata")
    ours = theirs = 0.0
    start = time.perf_counter()
    with torch.no_grad():
        for call in calls:
            got, expected = numbers(compiled(*call)), numbers(model(*call))
            exact = numbers(exact_model(*[wide(v) for v in call]))
            if [v.shape for v in got] != [v.shape for v in expected]:
                raise AssertionError(f"shapes {[tuple(v.shape) for v in got]}, not {[tuple(v.shape) for v in expected]}")
            ours, theirs = max(ours, error(got, exact)), max(theirs, error(expected, exact))
    return ours, theirs, time.perf_counter() - start, strata.reports()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*MODELS, []], help="all by default")
    parser.add_argument("--trace", action="store_true", help="print where a failure came from")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = 0
    print(f"{'network':14}{'graphs':>7}{'ours':>6}{'error':>10}{'PyTorch':>10}  ")
    for name in options.names or MODELS:
        try:
            ours, theirs, seconds, reports = try_model(MODELS[name])
        except Exception as failure:
            failed += 1
            print(f"{name:14}failed: {str(failure).splitlines()[0][:150]}", flush=True)
            if options.trace:
                traceback.print_exc()
            continue
        fine = ours <= 2 * theirs + 1e-6
        failed += not fine
        compiled = sum(report.compiled for report in reports)
        notes = sorted({op for report in reports for op in report.opaque})
        notes += sorted({report.reason for report in reports if not report.compiled})
        print(
            f"{name:14}{len(reports):7}{compiled:6}{ours:10.1e}{theirs:10.1e}  {'' if fine else 'DIFFERS '}{'; '.join(notes)[:200]}",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
