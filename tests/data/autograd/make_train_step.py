# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes train_step.json: loss and gradients of one training step of the sample model cnn_fmnist, in float64.

Run with PyTorch 2.13:  python make_train_step.py FOLDER   (the unpacked model: cnn_fmnist.pt2 and input_0.npy)
"""
import json
import pathlib
import sys

import numpy
import torch

folder = pathlib.Path(sys.argv[1])
model = torch.export.load(folder / "cnn_fmnist.pt2").module().double()
x = torch.from_numpy(numpy.load(folder / "input_0.npy")).double().requires_grad_(True)
target = torch.tensor([3, 7])
loss = torch.nn.functional.cross_entropy(model(x), target, label_smoothing=0.1)
parameters = dict(model.named_parameters())
gradients = torch.autograd.grad(loss, [*parameters.values(), x])


def summary(name, g):
    flat = g.reshape(-1)
    step = max(1, flat.numel() // 12)
    return {"name": name, "shape": list(g.shape), "sum": float(g.sum()), "abs_sum": float(g.abs().sum()), "step": step,
            "samples": [float(v) for v in flat[::step]]}


record = {"target": target.tolist(), "loss": loss.item(), "gradients": [summary(n, g) for n, g in zip([*parameters, "x"], gradients)]}
path = pathlib.Path(__file__).parent / "train_step.json"
path.write_text(json.dumps(record, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n")
print(path.stat().st_size, "bytes")
