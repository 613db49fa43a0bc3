# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights as inputs of the graph, where PyTorch does not make them so.

From 2.5 on Dynamo hands over parameters and buffers with the inputs. Before, modules stay in its graph as calls, and hold them.
"""
import re

import torch
from torch.nn.utils.stateless import _reparametrize_module


def lift(gm, inputs):
    """A graph without weights, its inputs, and what makes a function of all of these one of the caller's."""
    weights = {**dict(gm.named_parameters()), **dict(gm.named_buffers())}
    if not weights:
        return gm, inputs, lambda call: call
    slots = [_slot(gm, name) for name in weights]

    def bind(call):
        # Looked up in every call: somebody may have put another tensor there.
        return lambda *values: call(*[holder[name] for holder, name in slots], *values)

    return _lifted(gm, list(weights)), [*weights.values(), *inputs], bind


def _slot(module, name):
    path, _, last = name.rpartition(".")
    owner = module.get_submodule(path)
    return (owner._parameters if last in owner._parameters else owner._buffers), last


def _lifted(gm, names):
    """A graph of one call that runs `gm`, with placeholders for the weights in front."""

    def run_with_weights(*values):
        weights = dict(zip(names, values))
        with _reparametrize_module(gm, weights, tie_weights=True):
            return torch.fx.Interpreter(gm).run(*values[len(names) :])

    graph = torch.fx.Graph()
    given = [graph.placeholder(f"weight_{i}_" + re.sub(r"\W", "_", name)) for i, name in enumerate(names)]
    given += [graph.placeholder(node.name) for node in gm.graph.nodes if node.op == "placeholder"]
    graph.output(graph.call_function(run_with_weights, tuple(given)))
    return torch.fx.GraphModule(torch.nn.Module(), graph)
