#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/torch/redact: a log, text and profile in which everything that its owner wrote has "zqx" in it, or
is 31337, 271828 or 2.6829419136047363. Needs PyTorch 2.11 or newer: redact_case.py OUT"""
import gzip
import hashlib
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import threading

import torch
from torch import nn


ZQX_GLOBAL = 31337
zqx_table = {"zqx key": 2.6829419136047363, "zqx_other": "zqx value"}


@torch.library.custom_op("zqxlib::zqx_scale", mutates_args=())
def zqx_scale(zqx_in: torch.Tensor, zqx_factor: float, zqx_mode: str) -> torch.Tensor:
    return zqx_in * zqx_factor


@zqx_scale.register_fake
def _(zqx_in, zqx_factor, zqx_mode):
    return torch.empty_like(zqx_in)


zqx_scale.register_autograd(lambda zqx_ctx, zqx_g: (zqx_g * 2.6829419136047363, None, None))


class ZqxFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, zqx_x):
        return zqx_x * 271828

    @staticmethod
    def backward(ctx, zqx_grad):
        return zqx_grad * 271828


class ZqxBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.zqx_linear = nn.Linear(24, 24)
        self.zqx_mode = "zqx mode text"
        self.register_buffer("zqx_buffer", torch.full((24,), 2.6829419136047363))
        self.zqx_config = {"zqx_depth": 31337, "zqx path": "/home/zqxuser/zqx.bin"}

    def forward(self, zqx_input, zqx_flag=None):
        with torch.profiler.record_function("zqx annotation"):
            zqx_hidden = self.zqx_linear(zqx_input)
        if self.zqx_config["zqx_depth"] == 31337:
            zqx_hidden = zqx_hidden * (zqx_flag or 1) * 2.6829419136047363 + zqx_table["zqx key"]
        if self.zqx_mode == "zqx mode text":
            zqx_hidden = zqx_scale(zqx_hidden, 2.6829419136047363, "zqx mode text")
        zqx_hidden = ZqxFunction.apply(zqx_hidden)
        return zqx_hidden + self.zqx_buffer + ZQX_GLOBAL


class ZqxModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.zqx_blocks = nn.ModuleDict({"zqx_first": ZqxBlock()})

    def forward(self, zqx_batch, **zqx_kwargs):
        zqx_value = zqx_batch["zqx_image"]
        for zqx_name, zqx_block in self.zqx_blocks.items():
            zqx_value = zqx_block(zqx_value, zqx_flag=zqx_kwargs.get("zqx_flag"))
            print("zqx printed", zqx_name)  # a graph break
        if zqx_value.sum().item() > 271828:
            zqx_value = zqx_value / 271828
        if zqx_kwargs.get("zqx_text") == "zqx secret words":
            zqx_value = zqx_value - 1
        logging.getLogger("zqxlog").warning("zqx message")
        os.environ.get("ZQX_VARIABLE")
        return zqx_value


def zqx_broken(zqx_x):
    return torch.matmul(zqx_x, zqx_x.new_zeros(7, 31337))


def zqx_main(zqx_profile):
    torch.manual_seed(0)
    zqx_model = ZqxModel()
    zqx_compiled = torch.compile(zqx_model)
    zqx_optimizer = torch.optim.SGD(zqx_model.parameters(), lr=2.6829419136047363e-4)
    zqx_calls = ((8, "zqx one", 31337), (12, "zqx secret words", 271828), (12, "zqx three", 271828))
    for zqx_size, zqx_text, zqx_flag in zqx_calls:
        with torch.profiler.record_function("zqx step"):
            zqx_out = zqx_compiled({"zqx_image": torch.randn(zqx_size, 24)}, zqx_text=zqx_text, zqx_flag=zqx_flag)
            zqx_out.sum().backward()
            zqx_optimizer.step()
    zqx_profiler = torch.profiler.profile(record_shapes=True, with_stack=True, with_modules=True, profile_memory=True)
    with zqx_profiler:
        with torch.profiler.record_function("zqx step"):
            zqx_compiled({"zqx_image": torch.randn(12, 24)}, zqx_text="zqx three", zqx_flag=271828).sum().backward()
            zqx_optimizer.step()
        zqx_profiler.add_metadata("zqx_metadata", "zqx value")
        zqx_profiler.add_metadata_json("zqx_number", "31337")
    zqx_profiler.export_chrome_trace(zqx_profile)
    try:
        torch.compile(zqx_broken)(torch.randn(5, 5))
    except Exception as error:
        print(type(error))
    zqx_thread = threading.Thread(target=lambda: torch.compile(torch.sin)(torch.randn(3)), name="zqx thread")
    zqx_thread.start()
    zqx_thread.join()


# Records that are long and say nothing about redaction.
LEFT_OUT = ("fx_graph_runnable", "torch._functorch.config", "compiled_fn_wrapper", "runtime_wrapper")


def clean(text, folder):
    """Without what is of the machine that made it."""
    here = os.path.dirname(os.path.abspath(__file__))
    for path in (folder, here, os.path.dirname(os.path.dirname(here)), os.getcwd()):
        text = text.replace(path, "/home/zqxuser/zqxfolder")
    text = re.sub(r"/[A-Za-z0-9_./-]*/lib/python3\.\d+/", "/usr/lib/python3/", text)
    return re.sub(r'(host_?name"?: ?")[^"]*', r"\1zqxhost", text)


def clean_log(log, folder):
    """Payloads keep the hashes that their headers name."""
    out = []
    for record in re.split(r"^(?=V\d{4} )", log, flags=re.M):
        head, _, payload = record.partition("\n")
        if any('"name": "%s' % name in head for name in LEFT_OUT):
            continue
        head, payload = clean(head, folder), clean(payload, folder)
        if payload.startswith("\t"):
            content = "\n".join(line[1:] for line in payload.rstrip("\n").split("\n"))
            digest = hashlib.md5(content.encode()).hexdigest()
            head = re.sub(r'"has_payload": "[0-9a-f]+"', '"has_payload": "%s"' % digest, head)
        out.append(head + "\n" + payload)
    return "".join(out)


def make(out):
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "profile.json")
        env = dict(os.environ, TORCH_TRACE=folder, TORCH_LOGS="graph_breaks,recompiles,guards,dynamic",
                   INDUCTOR_PROVENANCE="1",
                   TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "cache"), TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE="1")
        command = [sys.executable, __file__, "--run", profile]
        text = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stderr
        log, = (name for name in os.listdir(folder) if name.endswith(".log"))
        for name, content in (("log.log", clean_log(open(os.path.join(folder, log)).read(), folder)),
                              ("text.txt", clean(text, folder)), ("profile.json", clean(open(profile).read(), folder))):
            with open(os.path.join(out, name + ".gz"), "wb") as file:
                file.write(gzip.compress(content.encode(), 9, mtime=0))


if __name__ == "__main__":
    zqx_main(sys.argv[2]) if sys.argv[1] == "--run" else make(sys.argv[1])
