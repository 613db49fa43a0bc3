#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a real trace of several ranks: a TORCH_TRACE log and a profile per rank of a small data-parallel model, in which
the last rank comes late to one collective and compiles once more than the others.

    TORCH_TRACE=OUT/torch_trace torchrun --nproc-per-node 2 make_ddp_traces.py OUT
"""
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function


def main(out):
    gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if gpu else "gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", rank) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256)).to(device)
    ddp = DistributedDataParallel(model, device_ids=[rank] if gpu else None)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=1e-3)
    scale = torch.compile(lambda x, n: (x * n).sin())
    compiled = torch.compile(ddp)

    def step(i):
        x = torch.randn(64, 256, device=device)
        y = scale(x, 2 if rank + 1 < size or i < 2 else 3)  # the last rank sees another number
        compiled(y).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    for i in range(3):
        step(i)
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if gpu else [])
    with profile(activities=activities, record_shapes=True) as p:
        for i in range(3):
            with record_function("step"):
                if i == 1 and rank + 1 == size:
                    time.sleep(0.01)  # late
                step(i)
        if gpu:
            torch.cuda.synchronize()
    p.export_chrome_trace(os.path.join(out, f"rank_{rank}.json.gz"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
