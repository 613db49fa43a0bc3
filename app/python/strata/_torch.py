# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The backend of `torch.compile`: takes Dynamo's graph, gives back a callable.

Whatever cannot be compiled is run by PyTorch, and `reports()` says why.
"""
import torch

from . import _strata
from ._capture import Left, capture, check_inputs
from ._explain import Explanation, explain
from ._outputs import Outputs
from ._reports import Report, add, reports, reset

__all__ = ["Explanation", "Report", "backend", "explain", "reports", "reset"]


def _name_of(gm):
    for node in gm.graph.nodes:
        stack = node.meta.get("nn_module_stack")
        if stack:
            kind = next(iter(stack.values()))[1]
            return getattr(kind, "__name__", str(kind).rsplit(".", 1)[-1])
    return "graph"


def _compile(gm, inputs, mode, options):
    check_inputs(gm, inputs)
    traced, opaque = capture(gm, inputs)
    outputs = Outputs(traced)
    outputs.restrict(traced)
    model = _strata.compile_fx(
        traced,
        _name_of(gm),
        options.get("backend", "strata"),
        mode or options.get("mode", "default"),
        int(options.get("threads", torch.get_num_threads())),
        set(options.get("disabled_passes", ())),
    )
    if outputs.plain:
        return (lambda *values: model(values)), opaque

    def call(*values):
        return outputs.make(values, model(values))

    return call, opaque


def backend(gm, inputs, *, mode=None, options=None, **more):
    """`torch.compile(model, backend="strata")` calls this with Dynamo's graph and its inputs."""
    calls = sum(node.op not in ("placeholder", "output", "get_attr") for node in gm.graph.nodes)
    name = _name_of(gm)
    try:
        compiled, opaque = _compile(gm, inputs, mode, dict(options or {}, **more))
        report = Report(name, calls, opaque)
    except (Left, _strata.StrataError) as error:
        compiled, report = gm.forward, Report(name, calls, reason=str(error))
    except Exception as error:  # ours or PyTorch's: the program runs as before, and it is said
        first_line = (str(error).splitlines() or [""])[0]
        compiled, report = gm.forward, Report(name, calls, reason=f"{type(error).__name__} in the backend: {first_line}")
    add(report)
    return compiled
