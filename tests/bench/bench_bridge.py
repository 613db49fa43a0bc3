#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a call through `torch.compile(backend="strata")` costs beside the same graph without Python, and beside TorchInductor's.

    PYTHONPATH=build/python OMP_NUM_THREADS=2 python3 tests/bench/bench_bridge.py --model build/models/bert/bert.pt2

All contenders of a table take turns in one process; medians, and how far the middle half of the runs spreads. "Weights as inputs": the
graph that Dynamo gives, from a file. "Graph" is the function that Dynamo calls once its guards have passed; "Dynamo alone" is PyTorch's
share: guards, and the Python around them, with a backend that returns ready results.
"""
import argparse
import statistics
import sys
import tempfile
import time

import numpy
import torch

import strata
from strata._torch import compile_graph


def medians(contenders, repeat):
    times = {name: [] for name in contenders}
    for call in contenders.values():
        for _ in range(5):
            call()
    for _ in range(repeat):
        for name, call in contenders.items():
            start = time.perf_counter_ns()
            call()
            times[name].append((time.perf_counter_ns() - start) / 1000)
    return {name: statistics.quantiles(values, n=4) for name, values in times.items()}


def show(title, results, base):
    print(f"\n{title:44}{'median':>10}{'middle half':>19}{'beside ' + base:>28}")
    for name, (low, middle, high) in results.items():
        print(f"{name:44}{middle:7.1f} us{low:9.1f} - {high:7.1f}{middle / results[base][1]:27.3f}")


def with_graph(function, *inputs, **options):
    """The function compiled, its graph's own function with the inputs that Dynamo gives it, and Dynamo alone."""
    seen = {}

    def backend(gm, example):
        seen["graph"] = gm
        seen["call"], report = compile_graph(gm, example, options)
        if not report.compiled:
            sys.exit(f"the graph was not compiled: {report.reason}")

        def outer(*values):
            seen["values"] = values
            return seen["call"](*values)

        return outer

    def ready(gm, example):
        return lambda *values: seen["results"]

    torch.compile(function, backend=backend, fullgraph=True)(*inputs)
    call, values = seen["call"], seen["values"]
    seen["results"] = call(*values)
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="strata", fullgraph=True, options=options)
    alone = torch.compile(function, backend=ready, fullgraph=True)
    compiled(*inputs), alone(*inputs)
    return (lambda: compiled(*inputs)), (lambda: call(*values)), (lambda: alone(*inputs)), (seen["graph"], values)


def without_python(graph, values, threads):
    """Dynamo's graph, in which weights are inputs, from a file."""
    with tempfile.TemporaryDirectory() as folder:
        torch.export.save(torch.export.export(graph, tuple(values)), f"{folder}/graph.pt2")
        model = strata.load(f"{folder}/graph.pt2", threads=threads)
    arrays = [value.detach().numpy() for value in values]
    return lambda: model(*arrays)


def model_table(path, repeat, threads):
    headless = strata.load(path, threads=threads)
    module = torch.export.load(path).module()
    inputs = [torch.from_numpy(numpy.load(f"{path.rsplit('/', 1)[0]}/input_{i}.npy")) for i in range(len(headless.input_names))]
    arrays = [x.numpy() for x in inputs]
    expected = torch.utils._pytree.tree_leaves(module(*inputs))

    def function(*values):
        return module.forward(*values)

    compiled, graph, alone, program = with_graph(function, *inputs)
    frozen, frozen_graph, *_ = with_graph(function, *inputs, freezing=True)
    for call in (compiled, frozen):
        for a, b in zip(torch.utils._pytree.tree_leaves(call()), expected):
            torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)
    inductor = torch.compile(function, backend="inductor")
    contenders = {
        "headless": lambda: headless(*arrays),
        "headless, weights as inputs": without_python(*program, threads),
        "strata, freezing: graph": frozen_graph,
        "strata, freezing: torch.compile": frozen,
        "strata: graph": graph,
        "strata: torch.compile": compiled,
        "Dynamo alone": alone,
        "TorchInductor": lambda: inductor(*inputs),
        "PyTorch, eager": lambda: module(*inputs),
    }
    title = f"{path.rsplit('/', 1)[-1]}, {threads} threads"
    show(title, medians(contenders, repeat), "headless")
    # Two at a time: what the others leave in the caches is not theirs.
    for one, other in (("headless, weights as inputs", "strata: torch.compile"), ("headless", "strata, freezing: torch.compile")):
        show(title, medians({name: contenders[name] for name in (one, other)}, repeat), one)


def small_table(repeat):
    x = torch.randn(8)
    function = lambda x: x + 1
    compiled, graph, alone, _ = with_graph(function, x)
    inductor = torch.compile(lambda x: x + 1, backend="inductor")
    contenders = {
        "TorchInductor": lambda: inductor(x),
        "strata: torch.compile": compiled,
        "strata: graph": graph,
        "Dynamo alone": alone,
        "PyTorch, eager": lambda: function(x),
    }
    show("x + 1 on 8 floats", medians(contenders, repeat), "TorchInductor")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="a .pt2 file with input_0.npy, ... beside it")
    parser.add_argument("--repeat", type=int, default=300)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with torch.no_grad():
        small_table(20 * options.repeat)
        if options.model:
            model_table(options.model, options.repeat, options.threads)


if __name__ == "__main__":
    main()
