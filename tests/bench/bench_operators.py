#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Single operators and small chains of them beside TorchInductor and eager mode, as a table: ./dev bench operators [NAME ...]

All three take turns in one process; medians, in microseconds, of calls through `torch.compile`, which takes some ten of them. Sizes are those of a layer: within the caches. Rows below
0.97 of either are marked. Names may be parts of names.
"""

import argparse
import statistics
import time

from bench_bandwidth import alternate, keep_freed


def cases():
    """Name, function, tensors."""
    import torch
    from torch.nn import functional as F

    r = torch.randn
    ints = torch.randint
    yield "softmax dim1 of 3", lambda x: x.softmax(1), (r(8, 512, 64),)
    yield "softmax dim0", lambda x: x.softmax(0), (r(512, 256),)
    yield "softmax 10", lambda x: x.softmax(-1), (r(4096, 10),)
    yield "softmax 50", lambda x: x.softmax(-1), (r(4096, 50),)
    yield "log_softmax 1000", lambda x: x.log_softmax(-1), (r(256, 1000),)
    yield "layer_norm 64", lambda x: F.layer_norm(x, (64,)), (r(8192, 64),)
    yield "layer_norm 768", lambda x: F.layer_norm(x, (768,)), (r(512, 768),)
    yield "group_norm", lambda x: F.group_norm(x, 8), (r(4, 64, 32, 32),)
    yield "batch_norm train", lambda x: F.batch_norm(x, None, None, training=True), (r(8, 64, 28, 28),)
    yield "instance_norm", lambda x: F.instance_norm(x), (r(8, 32, 28, 28),)
    yield "sum dim0", lambda x: x.sum(0), (r(1024, 512),)
    yield "sum dim1of3", lambda x: x.sum(1), (r(16, 256, 128),)
    yield "sum all", lambda x: x.sum(), (r(1024, 1024),)
    yield "mean (2,3)", lambda x: x.mean((2, 3)), (r(16, 256, 14, 14),)
    yield "amax dim0", lambda x: x.amax(0), (r(1024, 512),)
    yield "argmax", lambda x: x.argmax(-1), (r(1024, 512),)
    yield "argmax dim0", lambda x: x.argmax(0), (r(1024, 512),)
    yield "max dim", lambda x: x.max(1)[0] + x.max(1)[1], (r(1024, 512),)
    yield "var dim0", lambda x: x.var(0), (r(1024, 512),)
    yield "std_mean", lambda x: torch.std_mean(x, -1), (r(1024, 512),)
    yield "norm", lambda x: x.norm(dim=-1, keepdim=True) + x, (r(1024, 512),)
    yield "normalize", lambda x: F.normalize(x, dim=1), (r(64, 128, 64),)
    yield "cumsum", lambda x: x.cumsum(-1), (r(512, 1024),)
    yield "cumsum dim0", lambda x: x.cumsum(0), (r(512, 1024),)
    yield "permute 0213", lambda x: (x.permute(0, 2, 1, 3) * 2).contiguous(), (r(4, 12, 128, 64),)
    yield "permute 021", lambda x: (x.permute(0, 2, 1) * 2).contiguous(), (r(8, 196, 384),)
    yield "permute 2013", lambda x: (x.permute(2, 0, 1, 3) * 2).contiguous(), (r(16, 32, 48, 32),)
    yield "permute 3210", lambda x: (x.permute(3, 2, 1, 0) * 2).contiguous(), (r(16, 32, 48, 32),)
    yield "nchw to nhwc", lambda x: (x * 2).contiguous(memory_format=torch.channels_last), (r(4, 64, 56, 56),)
    yield "cat dim1", lambda x, y: torch.cat([x, y * 2], 1), (r(512, 256), r(512, 256))
    yield "cat dim0", lambda x, y: torch.cat([x, y * 2], 0), (r(512, 256), r(512, 256))
    yield "stack -1", lambda x, y: torch.stack([x, y * 2], -1), (r(512, 256), r(512, 256))
    yield "chunk swiglu", lambda x: F.silu(x.chunk(2, -1)[0]) * x.chunk(2, -1)[1], (r(512, 1024),)
    yield "gelu", lambda x: F.gelu(x), (r(512, 1024),)
    yield "gelu tanh", lambda x: F.gelu(x, approximate="tanh"), (r(512, 1024),)
    yield "silu", lambda x: F.silu(x), (r(512, 1024),)
    yield "tanh", lambda x: x.tanh(), (r(512, 1024),)
    yield "sigmoid", lambda x: x.sigmoid(), (r(512, 1024),)
    yield "mish", lambda x: F.mish(x), (r(512, 1024),)
    yield "softplus", lambda x: F.softplus(x), (r(512, 1024),)
    yield "elu", lambda x: F.elu(x), (r(512, 1024),)
    yield "pow 1.5", lambda x: x.abs().pow(1.5), (r(512, 1024),)
    yield "pow 3", lambda x: x.pow(3), (r(512, 1024),)
    yield "exp2 log2", lambda x: torch.log2(torch.exp2(x) + 1), (r(512, 1024),)
    yield "atan2", lambda x, y: torch.atan2(x, y), (r(512, 512), r(512, 512))
    yield "erfinv", lambda x: torch.erfinv(x.tanh()), (r(512, 512),)
    yield "lgamma", lambda x: torch.lgamma(x.abs() + 0.1), (r(256, 512),)
    yield "round floor", lambda x: x.round() + x.floor() * x.ceil(), (r(512, 1024),)
    yield "remainder", lambda x: x.remainder(0.7), (r(512, 1024),)
    yield "int div", lambda x: (x // 7) + (x % 5), (ints(-1000, 1000, (512, 1024)),)
    yield "int32 mul", lambda x: (x * 3 + 1) ^ x, (ints(-1000, 1000, (512, 1024), dtype=torch.int32),)
    yield "bool any", lambda x: (x > 2).any(-1), (r(1024, 512),)
    yield "bool count", lambda x: (x > 0).sum(-1), (r(1024, 512),)
    yield "where", lambda x, y: torch.where(x > 0, x, y), (r(512, 1024), r(512, 1024))
    yield "clamp", lambda x: x.clamp(-1, 1), (r(512, 1024),)
    yield "u8 to f32", lambda x: (x.float() / 255 - 0.5) * 2, (ints(0, 255, (4, 3, 224, 224), dtype=torch.uint8),)
    yield "f32 to u8", lambda x: (x.clamp(0, 1) * 255).to(torch.uint8), (torch.rand(4, 3, 224, 224),)
    yield "embedding", lambda w, i: F.embedding(i, w) * 2, (r(10000, 256), ints(0, 10000, (8, 128)))
    yield "embedding_bag", lambda w, i: F.embedding_bag(i, w, mode="sum"), (r(10000, 64), ints(0, 10000, (256, 20)))
    yield "gather", lambda x, i: x.gather(1, i), (r(512, 1000), ints(0, 1000, (512, 64)))
    yield "index_select", lambda x, i: x.index_select(0, i) + 1, (r(10000, 64), ints(0, 10000, (4096,)))
    yield "index 2d", lambda x, i, j: x[i, j] * 2, (r(512, 512), ints(0, 512, (4096,)), ints(0, 512, (4096,)))
    yield "scatter_add", lambda x, i, s: x.scatter_add(0, i, s), (r(1000, 64), ints(0, 1000, (4096, 64)), r(4096, 64))
    yield "index_add", lambda x, i, s: x.index_add(0, i, s), (r(1000, 64), ints(0, 1000, (4096,)), r(4096, 64))
    yield "one_hot", lambda i: F.one_hot(i, 100).float(), (ints(0, 100, (4096,)),)
    yield "max_pool", lambda x: F.max_pool2d(x, 3, 2, 1), (r(4, 64, 56, 56),)
    yield "avg_pool", lambda x: F.avg_pool2d(x, 3, 1, 1), (r(4, 64, 28, 28),)
    yield "adaptive", lambda x: F.adaptive_avg_pool2d(x, 7), (r(4, 256, 14, 14),)
    yield "upsample nearest", lambda x: F.interpolate(x, scale_factor=2), (r(4, 32, 28, 28),)
    yield "upsample bilinear", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), (r(4, 32, 28, 28),)
    yield "upsample bicubic", lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), (r(2, 16, 28, 28),)
    yield "pad reflect", lambda x: F.pad(x, (2, 2, 2, 2), mode="reflect"), (r(4, 32, 56, 56),)
    yield "pad const", lambda x: F.pad(x, (1, 1, 1, 1)), (r(4, 32, 56, 56),)
    yield "roll", lambda x: x.roll((3, 3), (1, 2)), (r(4, 56, 56, 96),)
    yield "flip", lambda x: x.flip(-1), (r(512, 1024),)
    yield "tril", lambda x: x.tril(), (r(8, 512, 512),)
    yield "masked_fill", lambda x, m: x.masked_fill(m, -1e9).softmax(-1), (r(8, 128, 128), torch.rand(128, 128) > 0.5)
    yield "causal softmax", lambda x: (x + torch.full((256, 256), float("-inf")).triu(1)).softmax(-1), (r(8, 256, 256),)
    yield "pixel_shuffle", lambda x: F.pixel_shuffle(x, 2) * 2, (r(4, 64, 28, 28),)
    transposed = lambda **more: lambda x, w, b: (F.conv_transpose1d if x.dim() == 3 else F.conv_transpose2d)(x, w, b, **more)
    last = lambda x: x.to(memory_format=torch.channels_last)
    yield "conv transpose 2x2", transposed(stride=2), (r(1, 256, 28, 28), r(256, 128, 2, 2), r(128))
    yield "conv transpose 2x2 last", transposed(stride=2), (last(r(1, 256, 28, 28)), last(r(256, 128, 2, 2)), r(128))
    yield "conv transpose 4x4", transposed(stride=2, padding=1), (r(1, 512, 8, 8), r(512, 256, 4, 4), r(256))
    yield "conv transpose 4x4 last", transposed(stride=2, padding=1), (last(r(4, 64, 16, 16)), last(r(64, 32, 4, 4)), r(32))
    yield "conv transpose 1d", transposed(stride=8), (r(1, 256, 128), r(256, 128, 8), r(128))
    yield "unfold", lambda x: F.unfold(x, 3, padding=1), (r(2, 16, 28, 28),)
    yield "window partition", lambda x: (x.view(4, 8, 7, 8, 7, 96).permute(0, 1, 3, 2, 4, 5) * 2).contiguous(), (r(4, 56, 56, 96),)
    yield "rope", lambda x, c, s: x * c + torch.cat([-x[..., 32:], x[..., :32]], -1) * s, (r(4, 12, 128, 64), r(128, 64), r(128, 64))
    yield "cross_entropy", lambda x, t: F.cross_entropy(x, t), (r(512, 1000), ints(0, 1000, (512,)))
    yield "mse", lambda x, y: F.mse_loss(x, y), (r(512, 1024), r(512, 1024))
    yield "cosine sim", lambda x, y: F.cosine_similarity(x, y), (r(1024, 256), r(1024, 256))
    yield "cdist", lambda x, y: ((x[:, None] - y[None]) ** 2).sum(-1), (r(128, 64), r(128, 64))
    yield "outer", lambda x, y: x[:, None] * y[None], (r(1024), r(1024))
    yield "bce logits", lambda x, y: F.binary_cross_entropy_with_logits(x, y), (r(512, 512), torch.rand(512, 512))
    yield "logsumexp dim0", lambda x: x.logsumexp(0), (r(512, 512),)
    yield "glu", lambda x: F.glu(x), (r(512, 1024),)
    yield "sort", lambda x: x.sort(-1)[0], (r(512, 256),)
    yield "topk", lambda x: x.topk(8)[0], (r(512, 1000),)
    yield "bf16 add", lambda x, y: x + y * 2, (r(512, 1024).bfloat16(), r(512, 1024).bfloat16())
    yield "bf16 softmax", lambda x: x.softmax(-1), (r(1024, 512).bfloat16(),)
    yield "bf16 layer_norm", lambda x: F.layer_norm(x, (768,)), (r(512, 768).bfloat16(),)
    yield "bf16 gelu", lambda x: F.gelu(x), (r(512, 1024).bfloat16(),)
    yield "f16 gelu", lambda x: F.gelu(x), (r(512, 1024).half(),)
    yield "bf16 sum dim0", lambda x: x.sum(0), (r(1024, 512).bfloat16(),)
    yield "f64 softmax", lambda x: x.softmax(-1), (r(512, 512).double(),)
    yield "f64 gelu", lambda x: F.gelu(x), (r(512, 512).double(),)
    yield "mv", lambda x, y: (x * y).sum(-1), (r(1024, 1024), r(1024))
    yield "small", lambda x: F.relu(x + 1) * 2, (r(64),)
    yield "dropout", lambda x: F.dropout(x, 0.5, True), (r(512, 1024),)
    yield "rand", lambda x: x + torch.rand_like(x), (r(512, 1024),)
    yield "stride2", lambda x: x[:, ::2] * 2 + x[:, 1::2], (r(512, 1024),)
    yield "strided in", lambda x: x * 2 + 1, (r(512, 2048)[:, ::2],)
    yield "expand add", lambda x, y: x + y[:, None, :, None], (r(8, 64, 32, 32), r(8, 32))
    yield "diag embed", lambda x: torch.diag_embed(x), (r(64, 128),)
    yield "repeat_interleave", lambda x: x.repeat_interleave(4, 1), (r(8, 8, 128, 64),)
    yield "searchsorted", lambda x, y: torch.searchsorted(x, y), (r(1000).sort()[0], r(10000))
    yield "bincount-like", lambda x: torch.histc(x, 100), (r(100000),)
    yield "nan_to_num", lambda x: x.nan_to_num(), (r(512, 1024),)
    yield "prod", lambda x: x.prod(-1), (r(1024, 512),)
    yield "median", lambda x: x.median(-1)[0], (r(256, 512),)
    yield "sort long", lambda x: x.sort()[0], (r(1000000),)
    yield "sort int64", lambda x: x.sort()[0], (ints(0, 1000, (1000000,)),)
    yield "topk of a vocabulary", lambda x: x.topk(40)[0], (r(4, 50257),)
    yield "mm of a transpose", lambda x, y: x.t() @ y, (r(256, 256), r(256, 256))
    for name, narrow in (("bf16", torch.bfloat16), ("f16", torch.float16)):
        for rows in (1, 14, 128):
            yield f"{name} linear, {rows} rows", lambda x, w: F.linear(x, w), (r(rows, 1024).to(narrow), r(256, 1024).to(narrow))
        yield f"{name} convolution", lambda x, w: F.conv2d(x, w, padding=1), (r(1, 64, 28, 28).to(narrow), r(64, 64, 3, 3).to(narrow))
        yield f"{name} cat", lambda x, y: torch.cat([x, y], 1), (r(512, 512).to(narrow), r(512, 512).to(narrow))
        yield f"{name} embedding", lambda w, i: F.embedding(i, w), (r(1000, 512).to(narrow), ints(0, 1000, (512,)))
        yield f"{name} transpose", lambda x: x.t().contiguous(), (r(512, 512).to(narrow),)
        yield f"{name} exp", lambda x: x.exp(), (r(512, 512).to(narrow),)


def measure(function, tensors, seconds):
    import torch

    torch._dynamo.reset()
    calls = {name: torch.compile(function, backend=name, dynamic=False) for name in ("strata", "inductor")}
    calls["eager"] = function
    for call in calls.values():
        call(*tensors)
        call(*tensors)
    start = time.perf_counter()
    calls["eager"](*tensors)
    repeat = min(max(1, int(0.004 / max(time.perf_counter() - start, 1e-6))), 200)
    ms = alternate({name: lambda call=call: call(*tensors) for name, call in calls.items()}, seconds, repeat)
    return {name: each * 1e3 for name, each in ms.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.4, help="of alternating calls per row")
    options = parser.parse_args()
    keep_freed()
    import torch

    import strata  # noqa: F401  (the backend)

    torch.set_num_threads(options.threads)
    print(f"{'operators':<24}{'strata us':>10}{'inductor':>10}{'eager':>10}{'/inductor':>12}{'/eager':>8}")
    ratios = {"inductor": [], "eager": []}
    for name, function, tensors in cases():
        if options.names and not any(part in name for part in options.names):
            continue
        torch.manual_seed(0)
        with torch.no_grad():
            us = measure(function, tensors, options.seconds)
        for other, list_of in ratios.items():
            list_of.append(us[other] / us["strata"])
        line = f"{name:<24}{us['strata']:>10.1f}{us['inductor']:>10.1f}{us['eager']:>10.1f}{ratios['inductor'][-1]:>12.2f}{ratios['eager'][-1]:>8.2f}"
        print(line + ("  <" if min(each[-1] for each in ratios.values()) < 0.97 else ""), flush=True)
    for other, list_of in ratios.items():
        below = sum(ratio < 0.97 for ratio in list_of)
        print(f"against {other:<9} geomean {statistics.geometric_mean(list_of):.2f} of {len(list_of)} rows, {below} below 0.97, least {min(list_of):.2f}")


if __name__ == "__main__":
    main()
