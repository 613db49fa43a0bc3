#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Transposes within the caches and beyond them, beside TorchInductor's and a copy, as a table: ./dev bench transpose

`(x.t() * 2).contiguous()` of matrices of sizes at which lines want the same places in the caches (powers of two and their multiples), begin anywhere, or neither. Contenders take turns in one
process; medians, in microseconds, of calls through `torch.compile`, which takes some ten of them. The copy is PyTorch's, of as many numbers.
"""
import argparse
import statistics

from bench_bandwidth import alternate, keep_freed

SHAPES = "64x64,256x256,500x500,512x512,576x512,512x576,768x768,1000x1000,1024x1024,1001x512,197x768,768x197,3136x64,64x3136,1024x256,256x1024,49x2048,2048x49,1500x700,1500x1500,2048x2048,2500x2500,4096x4096,4100x4100,65600x250"


def measure(shape, dtype, seconds):
    import torch

    torch._dynamo.reset()
    x = torch.randn(*shape).to(dtype)
    calls = {name: torch.compile(lambda x: (x.t() * 2).contiguous(), backend=name, dynamic=False) for name in ("strata", "inductor")}
    for call in calls.values():
        torch.testing.assert_close(call(x), (x.t() * 2).contiguous(), rtol=0, atol=0)
    repeat = min(max(1, 2_000_000 // x.numel()), 200)
    ms = alternate({**{name: lambda call=call: call(x) for name, call in calls.items()}, "copy": x.clone}, seconds, repeat)
    return {name: each * 1e3 for name, each in ms.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", type=float, default=0.5, help="of alternating calls per row")
    options = parser.parse_args()
    keep_freed()
    import torch

    import strata  # noqa: F401  (the backend)

    print(f"{'matrix':<12}{'type':<10}{'thr':>4}{'strata us':>12}{'inductor us':>13}{'copy us':>11}{'ratio':>8}")
    ratios = []
    for threads in map(int, options.threads.split(",")):
        torch.set_num_threads(threads)
        for dtype in options.dtypes.split(","):
            for shape in options.shapes.split(","):
                us = measure([int(n) for n in shape.split("x")], getattr(torch, dtype), options.seconds)
                ratios.append(us["inductor"] / us["strata"])
                print(f"{shape:<12}{dtype:<10}{threads:>4}{us['strata']:>12.1f}{us['inductor']:>13.1f}{us['copy']:>11.1f}{ratios[-1]:>8.2f}", flush=True)
    print(f"geomean {statistics.geometric_mean(ratios):.2f} of {len(ratios)} rows, least {min(ratios):.2f}")


if __name__ == "__main__":
    main()
