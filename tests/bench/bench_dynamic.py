#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What symbolic sizes cost, as a table: ./dev bench dynamic

Each function is compiled with fixed sizes, and with symbolic ones for an example of those sizes. Times of a call with these sizes, through `torch.compile`, and of the call with symbolic
sizes where the example had others, so that the code for all sizes runs: the least of some rounds, of the calling thread alone (one thread), in microseconds. The rest of the difference is
that sizes are arguments: PyTorch passes them as Python's numbers.
"""
import argparse
import os
import time

import torch
import torch.nn.functional as F

import strata  # noqa: F401  (the backend)

FUNCTIONS = {
    "gelu * y + x": lambda x, y: F.gelu(x) * y + x,
    "relu(x + bias)": lambda x, y: torch.relu(x + y[0, 0]),
    "softmax": lambda x, y: torch.softmax(x, -1),
    "softmax(x + mask)": lambda x, y: torch.softmax(x + y[:, :1], -1),
    "layer_norm + y": lambda x, y: F.layer_norm(x, x.shape[-1:]) + y,
    "(x * y).sum(0)": lambda x, y: (x * y).sum(0),
    "x.mean((1, 2))": lambda x, y: x.mean((1, 2)),
    "transposed": lambda x, y: (x.transpose(1, 2) * 2 + 1).contiguous(),
    "cat": lambda x, y: torch.cat([x, y * 2], -1),
}


def microseconds(call, inputs, rounds):
    """The least of the rounds: neighbours on the machine only ever add."""
    for _ in range(3):
        call(*inputs)
    count, took = 1, 0.0
    while took < 0.004:
        begin = time.thread_time()
        for _ in range(count):
            call(*inputs)
        took, count = time.thread_time() - begin, count * 2
    count //= 2
    best = took / count
    for _ in range(rounds):
        begin = time.thread_time()
        for _ in range(count):
            call(*inputs)
        best = min(best, (time.thread_time() - begin) / count)
    return best * 1e6


def compiled(function, example, dynamic):
    torch._dynamo.reset()
    call = torch.compile(function, backend="strata", dynamic=dynamic)
    call(*example)
    return call


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default="8x32x64,8x33x67,4x128x128,8x197x384")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(f"{'function':<20}{'sizes':>14}{'fixed us':>11}{'example':>10}{'others':>10}{'example/fixed':>15}{'others/fixed':>14}")
    for shape in options.shapes.split(","):
        sizes = [int(n) for n in shape.split("x")]
        inputs, others = ([torch.randn(*s), torch.randn(*s)] for s in (sizes, [n + 1 for n in sizes]))
        for name, function in FUNCTIONS.items():
            with torch.no_grad():
                fixed = microseconds(compiled(function, inputs, False), inputs, options.rounds)
                example = microseconds(compiled(function, inputs, True), inputs, options.rounds)
                other = microseconds(compiled(function, others, True), inputs, options.rounds)
            print(f"{name:<20}{shape:>14}{fixed:>11.1f}{example:>10.1f}{other:>10.1f}{example / fixed:>15.2f}{other / fixed:>14.2f}", flush=True)


if __name__ == "__main__":
    main()
