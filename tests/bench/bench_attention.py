#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention against torch.nn.functional.scaled_dot_product_attention, as a table: bench_attention.py [--threads 1,2] [--dtypes float32,bfloat16]

Both run in one process and take turns call by call: PyTorch's operator, and the same call compiled by Strata ("sdpa"), and the spelled-out
form matmul, softmax, matmul compiled by Strata ("spelled"). Times are medians in microseconds, a call through Python included; above 1
Strata is faster. Errors are the largest against float64, in units of the largest result. Inputs lie as a model's heads do: [batch, length, heads, size]
seen as [batch, heads, length, size].
"""
import argparse
import math
import os
import statistics
import subprocess
import sys
import time

import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

# name, batch, heads, key heads, queries, keys, head size, causal, mask
SHAPES = [
    ("bert 16", 2, 4, 4, 16, 16, 32, False, False),
    ("bert 128", 8, 12, 12, 128, 128, 64, False, False),
    ("bert 128, padded", 8, 12, 12, 128, 128, 64, False, True),
    ("vit 197", 4, 12, 12, 197, 197, 64, False, False),
    ("prefill 512", 1, 12, 12, 512, 512, 64, True, False),
    ("prefill 1024", 1, 16, 4, 1024, 1024, 128, True, False),
    ("prefill 2048", 1, 8, 8, 2048, 2048, 64, True, False),
    ("decode 128", 1, 12, 12, 1, 128, 64, False, False),
    ("decode 1024", 1, 12, 12, 1, 1024, 64, False, False),
    ("decode 1024, grouped", 1, 32, 8, 1, 1024, 128, False, False),
    ("decode 4096, grouped", 1, 32, 8, 1, 4096, 128, False, False),
    ("decode 1024, batch 8", 8, 12, 12, 1, 1024, 64, False, True),
]


def spelled(q, k, v, mask, causal):
    """As models write it."""
    groups = q.shape[1] // k.shape[1]
    if groups > 1:
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -math.inf)
    return torch.softmax(scores.float(), -1).to(v.dtype) @ v


def medians(calls, seconds):
    times = [[] for _ in calls]
    for call in calls:
        call(), call()
    end, turn = time.perf_counter() + seconds, 0
    while turn < 5 or time.perf_counter() < end and turn < 2000:
        for i in range(len(calls)):
            i = (i + turn) % len(calls)
            start = time.perf_counter_ns()
            calls[i]()
            times[i].append((time.perf_counter_ns() - start) / 1e3)
        turn += 1
    return [statistics.median(t) for t in times]


def error(value, exact):
    return ((value.double() - exact).abs().max() / exact.abs().max()).item()


def row(shape, dtype, threads, seconds):
    name, batch, heads, kept, queries, keys, size, causal, padded = shape
    torch.manual_seed(0)
    make = lambda length, count: torch.randn(batch, length, count, size).to(dtype).transpose(1, 2)
    q, k, v = make(queries, heads), make(keys, kept), make(keys, kept)
    mask = (torch.arange(keys) < keys - keys // 4).expand(batch, 1, 1, keys).contiguous() if padded else None
    grouped = heads != kept

    def fused(q, k, v, mask):
        return sdpa(q, k, v, mask, is_causal=causal, enable_gqa=grouped)

    def written(q, k, v, mask):
        return spelled(q, k, v, mask, causal)

    with torch.no_grad():
        exact = fused(*(x.double() for x in (q, k, v)), mask)
        compiled = [torch.compile(f, backend="strata", dynamic=False) for f in (fused, written)]
        calls = [lambda: fused(q, k, v, mask)] + [lambda f=f: f(q, k, v, mask) for f in compiled]
        errors = [error(call(), exact) for call in calls]
        theirs, ours, by_hand = medians(calls, seconds)
    print(
        f"{name:22}{str(dtype)[6:]:>9}{threads:>8}{theirs:12.1f}{ours:12.1f}{by_hand:12.1f}{theirs / ours:8.2f}{theirs / by_hand:8.2f}"
        f"{errors[0]:11.1e}{errors[1]:9.1e}{errors[2]:9.1e}",
        flush=True,
    )
    return theirs / ours, theirs / by_hand


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--seconds", type=float, default=0.5, help="per row")
    parser.add_argument("--only", default="", help="rows whose name begins so")
    options = parser.parse_args()
    threads = options.threads.split(",")
    if len(threads) > 1:  # OpenMP's pool is made once per process
        for t in threads:
            subprocess.run([sys.executable, __file__, "--threads", t, "--dtypes", options.dtypes, "--seconds", str(options.seconds), "--only", options.only], check=True)
        return
    torch.set_num_threads(int(threads[0]))
    import strata  # noqa: F401  registers the backend

    print(f"{'':22}{'':>9}{'threads':>8}{'PyTorch us':>12}{'sdpa us':>12}{'spelled us':>12}{'sdpa':>8}{'spelled':>8}{'errors':>11}")
    ratios = []
    for dtype in options.dtypes.split(","):
        for shape in SHAPES:
            if shape[0].startswith(options.only):
                torch._dynamo.reset()
                ratios.append(row(shape, getattr(torch, dtype), threads[0], options.seconds))
    means = [math.exp(sum(math.log(r[i]) for r in ratios) / len(ratios)) for i in (0, 1)]
    print(f"{'geometric mean':75}{means[0]:8.2f}{means[1]:8.2f}")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    main()
