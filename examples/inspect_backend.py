#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A backend that shows what `torch.compile` hands to backends: each graph as code, with types and source lines, and as a picture.

    PYTHONPATH=build/python python3 examples/inspect_backend.py [FOLDER]

Writes one SVG per graph into FOLDER (the present one by default). Needs PyTorch 2.4 or later.
"""
import itertools
import os
import sys

import torch

import strata

numbers = itertools.count()  # of graphs


@strata.register_backend("look")
def look(gm, example_inputs, *, folder="."):
    """Prints each graph and saves its picture; the graph runs as it is."""
    path = os.path.join(folder, f"graph_{next(numbers)}.svg")
    print(f"--- {sum(node.op.startswith('call') for node in gm.graph.nodes)} calls, drawn in {path}")
    print(strata.graph_text(gm))
    strata.graph_svg(gm, path)
    return gm.forward


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = torch.nn.Linear(16, 32)
        self.leave = torch.nn.Linear(32, 4)

    def forward(self, x):
        hidden = torch.nn.functional.gelu(self.enter(x))
        print("hidden:", tuple(hidden.shape))  # PyTorch cannot trace this: a graph on either side of it
        return torch.softmax(self.leave(hidden), -1)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    os.makedirs(folder, exist_ok=True)
    network, x = Network().eval(), torch.randn(8, 16)
    shown = torch.compile(network, backend="look", options={"folder": folder})
    with torch.no_grad():
        torch.testing.assert_close(shown(x), network(x))
        print(strata.explain(network, x))  # why there are two graphs, and how there would be one


if __name__ == "__main__":
    main()
