#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Complex numbers and Fourier transforms: eager PyTorch, TorchInductor (which calls PyTorch for them) and Strata by turns, in one process.

    PYTHONPATH=build/python python3 tests/bench/bench_complex.py [--threads 2] [--seconds 0.3] [--turns 3]

Prints microseconds of a call, the median over the turns of the median over the calls, and the others' times by Strata's.
"""
import argparse
import os
import statistics
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from test_complex import NETWORKS  # noqa: E402

SIZES = {"rotary": (8, 64, 64), "mixing": (8, 128, 24), "spectral": (8, 3, 64, 64), "filter": (32, 7, 7, 8), "spectrogram": (8, 16000)}


def rotated(x):
    z = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    return torch.view_as_real(z * z).flatten(-2)


FUNCTIONS = {
    "rfft, irfft 2000x1024": (lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2), (2000, 1024)),
    "fft2 8x256x256": (lambda x: torch.fft.fft2(x).abs(), (8, 256, 256)),
    "rotation 8x1024x1024": (rotated, (8, 1024, 1024)),
}


def median_us(call, x, seconds):
    call(x)
    times, end = [], time.time() + seconds
    while time.time() < end:
        start = time.perf_counter()
        call(x)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(3)
    cases = [(name, NETWORKS[name][0]().eval(), shape) for name, shape in SIZES.items()]
    cases += [(name, function, shape) for name, (function, shape) in FUNCTIONS.items()]
    print(f"{'':24s} {'eager':>9s} {'inductor':>9s} {'strata':>9s}  us | eager/strata inductor/strata")
    for name, model, shape in cases:
        x = torch.randn(*shape)
        torch._dynamo.reset()
        contenders = [model, torch.compile(model, backend="inductor"), torch.compile(model, backend="strata")]
        with torch.no_grad():
            turns = [[median_us(call, x, options.seconds) for call in contenders] for _ in range(options.turns)]
        eager, inductor, strata = (statistics.median(column) for column in zip(*turns))
        print(f"{name:24s} {eager:9.1f} {inductor:9.1f} {strata:9.1f}     | {eager / strata:12.2f} {inductor / strata:15.2f}", flush=True)


if __name__ == "__main__":
    main()
