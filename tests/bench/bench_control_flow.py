#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Control flow and `flex_attention` beside TorchInductor and eager mode, as a table: ./dev bench control_flow

Contenders take turns in one process; medians, in microseconds, of calls. What TorchInductor cannot compile has no time.
"""
import argparse
import statistics
import warnings

from bench_bandwidth import alternate, keep_freed


def cases():
    """Name to (function, inputs)."""
    import torch
    from torch._higher_order_ops.map import map as each
    from torch._higher_order_ops.scan import scan
    from torch._higher_order_ops.while_loop import while_loop
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    weight, zero = torch.randn(256, 256) * 0.05, torch.zeros((), dtype=torch.int64)
    bias = torch.randn(8, 512)
    fifty = lambda step: lambda x: while_loop(lambda i, x: i < 50, lambda i, x: (i + 1, step(x)), (zero, x))[1]
    newton = fifty(lambda x: 0.5 * (x + 2 / x))
    heads = lambda: [torch.randn(1, 8, 512, 64) for _ in range(3)]
    flex = lambda score=None, mask=None: lambda q, k, v: flex_attention(q, k, v, score_mod=score, block_mask=mask)
    window = create_block_mask(lambda b, h, i, j: (i >= j) & (i - j < 64), None, None, 512, 512, device="cpu")
    return {
        "cond 64x256": (lambda x: torch.cond(x.sum() > 0, lambda x: torch.relu(x @ weight), lambda x: x @ weight * 2, (x,)), [torch.randn(64, 256)]),
        "while 50 of 64": (newton, [torch.rand(64) + 1]),
        "while 50 of 262144": (newton, [torch.rand(1 << 18) + 1]),
        "while 50 products": (fifty(lambda x: torch.tanh(x @ weight)), [torch.randn(16, 256)]),
        "scan 100 of 8x256": (lambda x, h: scan(lambda h, a: ((h @ weight + a).tanh(), h + a), h, x)[0], [torch.randn(100, 8, 256), torch.randn(8, 256)]),
        "map 100 of 8x256": (lambda x, y: each(lambda a, y: a.softmax(-1) + y, x, y), [torch.randn(100, 8, 256), torch.randn(256)]),
        "flex causal": (flex(lambda s, b, h, i, j: torch.where(i >= j, s, -float("inf"))), heads()),
        "flex alibi": (flex(lambda s, b, h, i, j: s + (j - i) * 0.01 * (h + 1)), heads()),
        "flex soft cap": (flex(lambda s, b, h, i, j: torch.tanh(s / 20) * 20), heads()),
        "flex table": (flex(lambda s, b, h, i, j: s + bias[h, j]), heads()),
        "flex window": (flex(mask=window), heads()),
    }


def measure(function, inputs, seconds):
    import torch

    expected, calls = function(*inputs), {"eager": lambda: function(*inputs)}
    for name in ("strata", "inductor"):
        torch._dynamo.reset()
        compiled = torch.compile(function, backend=name, dynamic=False)
        try:
            torch.testing.assert_close(compiled(*inputs), expected, rtol=1e-3, atol=1e-3)
        except AssertionError:
            raise
        except Exception:  # its compiler has no way to do it
            if name == "strata":
                raise
            continue
        calls[name] = lambda compiled=compiled: compiled(*inputs)
    return {name: ms * 1e3 for name, ms in alternate(calls, seconds, 1).items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", type=float, default=1.0, help="of alternating calls per row")
    options = parser.parse_args()
    keep_freed()
    import torch

    import strata  # noqa: F401  (the backend)

    warnings.filterwarnings("ignore")
    torch.set_grad_enabled(False)
    torch.manual_seed(1)
    print(f"{'program':<22}{'thr':>4}{'strata us':>12}{'inductor us':>13}{'eager us':>12}{'inductor':>10}{'eager':>8}")
    ratios = {"inductor": [], "eager": []}
    for threads in map(int, options.threads.split(",")):
        torch.set_num_threads(threads)
        for name, (function, inputs) in cases().items():
            us = measure(function, inputs, options.seconds)
            row = f"{name:<22}{threads:>4}{us['strata']:>12.1f}"
            row += f"{us['inductor']:>13.1f}" if "inductor" in us else f"{'-':>13}"
            row += f"{us['eager']:>12.1f}"
            for other, width in (("inductor", 10), ("eager", 8)):
                if other in us:
                    ratios[other].append(us[other] / us["strata"])
                row += f"{ratios[other][-1]:>{width}.2f}" if other in us else f"{'-':>{width}}"
            print(row, flush=True)
    for other, found in ratios.items():
        print(f"against {other}: geomean {statistics.geometric_mean(found):.2f} of {len(found)} rows, least {min(found):.2f}")


if __name__ == "__main__":
    main()
