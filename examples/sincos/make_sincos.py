# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Exports sincos.py and records an input with PyTorch's output. Needs PyTorch 2.9 or later.

    python3 examples/sincos/make_sincos.py
"""

import os
import pathlib

import numpy
import torch


def main():
    os.chdir(pathlib.Path(__file__).parent)
    names = {}
    # Under a relative name, so that the program's source lines do not say in which folder it was exported.
    exec(compile(pathlib.Path("sincos.py").read_text(), "sincos.py", "exec"), names)
    model = names["SinCos"]()
    torch.manual_seed(0)
    x = torch.randn(64, 33)
    torch.export.save(torch.export.export(model, (x,)), "sincos.pt2")
    numpy.save("input_0.npy", x.numpy())
    numpy.save("output_0.npy", model(x).numpy())


if __name__ == "__main__":
    main()
