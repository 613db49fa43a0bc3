#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes real traces to try the importers on: for each case a folder with a TORCH_TRACE log and profiles of the eager and the
compiled program.

    make_torch_traces.py OUT [CASE ...] [--device cuda|cpu] [--no-provenance]

Each case runs in a process of its own (logging and provenance are decided when torch is imported).
"""
import argparse
import os
import subprocess
import sys


def cases():
    import torch
    import torch.nn as nn
    import torch.nn.functional as F

    class Residual(nn.Module):
        def __init__(self, width=32):
            super().__init__()
            self.first = nn.Conv2d(3, width, 3, padding=1)
            self.norm = nn.BatchNorm2d(width)
            self.second = nn.Conv2d(width, width, 3, padding=1)
            self.head = nn.Linear(width, 10)

        def forward(self, x):
            x = F.relu(self.norm(self.first(x)))
            x = x + F.gelu(self.second(x))
            return self.head(x.mean((2, 3)))

    class Block(nn.Module):
        def __init__(self, width=128, heads=4):
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            b, t, c = x.shape
            q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class Decoder(nn.Module):
        def __init__(self, width=128, layers=2, words=500):
            super().__init__()
            self.embed = nn.Embedding(words, width)
            self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
            self.norm = nn.LayerNorm(width)

        def forward(self, tokens):
            x = self.embed(tokens)
            for block in self.blocks:
                x = block(x)
            return self.norm(x) @ self.embed.weight.T

    class Breaking(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(64, 64), nn.Linear(64, 64)

        def forward(self, x, scale=1.0):
            x = torch.relu(self.a(x)) * scale
            if x.sum() > 0:
                x = x * 2
            print("half way", x.shape)
            return torch.softmax(self.b(x), -1)

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.out = nn.GRUCell(32, 64), nn.Linear(64, 8)

        def forward(self, x):
            h = x.new_zeros(x.shape[1], 64)
            for step in x:
                h = self.cell(step, h)
            return self.out(h)

    def images(n=16):
        return (torch.randn(n, 3, 32, 32),)

    def tokens(b=4, t=64):
        return (torch.randint(0, 500, (b, t)),)

    return {
        # name: module, inputs of successive calls, train, autocast, compile options, profiler options
        "residual_train": (Residual, [images()] * 3, True, False, {}, {}),
        "residual_amp": (Residual, [images()] * 3, True, True, {}, dict(profile_memory=True)),
        "decoder_train": (Decoder, [tokens()] * 3, True, False, {}, {}),
        "decoder_graphs": (Decoder, [tokens()] * 5, False, False, dict(mode="reduce-overhead"), {}),
        "decoder_autotune": (Decoder, [tokens(8, 128)] * 3, False, True, dict(mode="max-autotune-no-cudagraphs"), {}),
        "decoder_dynamic": (Decoder, [tokens(b) for b in (2, 3, 5, 8, 3)], True, False, dict(dynamic=True), {}),
        "breaking": (Breaking, [(torch.randn(8, 64),)] * 3, True, False, {}, dict(with_stack=True, with_modules=True)),
        "recurrent": (Recurrent, [(torch.randn(6, 4, 32),)] * 3, True, False, {}, dict(with_stack=True)),
    }


def run_case(name, out, device):
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function

    make, calls, train, autocast, how, more = cases()[name]
    torch.manual_seed(0)
    model = make().to(device).train(train)
    calls = [tuple(x.to(device) for x in c) for c in calls]
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(f, inputs):
        with torch.autocast(device, torch.bfloat16, enabled=autocast), torch.set_grad_enabled(train):
            y = f(*inputs)
        if train:
            y.float().square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])

    def measure(f, label):
        for inputs in calls:
            step(f, inputs)
        if device == "cuda":
            torch.cuda.synchronize()
        with profile(activities=activities, record_shapes=True, **more) as p:
            for inputs in calls[-2:]:
                with record_function("step"):
                    step(f, inputs)
            if device == "cuda":
                torch.cuda.synchronize()
        p.export_chrome_trace(os.path.join(out, label + ".json.gz"))

    measure(model, "eager")
    measure(torch.compile(model, **how), "compiled")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("case", nargs="*")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--no-provenance", action="store_true")
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inner:
        return run_case(args.case[0], args.out, args.device)
    failed = []
    for name in args.case or list(cases()):
        out = os.path.join(args.out, name)
        os.makedirs(os.path.join(out, "torch_trace"), exist_ok=True)
        environment = dict(os.environ, TORCH_TRACE=os.path.join(out, "torch_trace"), TORCHINDUCTOR_FORCE_DISABLE_CACHES="0")
        environment["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(args.out, "cache_" + name)
        if not args.no_provenance:
            environment.update(INDUCTOR_PROVENANCE="1", TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE="1")
        with open(os.path.join(out, "run.log"), "wb") as log:
            code = subprocess.run([sys.executable, __file__, out, name, "--device", args.device, "--inner"],
                                  env=environment, stdout=log, stderr=subprocess.STDOUT).returncode
        print(name, "exit", code, flush=True)
        failed += [name] * (code != 0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
