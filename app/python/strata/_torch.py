# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The backend of `torch.compile`: takes Dynamo's graph, gives back a callable.

Whatever cannot be compiled is run by PyTorch, and `reports()` says why.
"""
import weakref

import torch

from . import _strata
from ._backends import check_options, compiling, first_line, merged_options
from ._calls import make_call
from ._capture import check_inputs, guarded
from ._explain import Explanation, explain
from ._floats import make_constants
from ._inspect import compile_id, graph_name
from ._left import Left
from ._lifted import lift
from ._programs import Start
from ._reports import Report, add, reports, reset

__all__ = ["Explanation", "Report", "backend", "compile_graph", "explain", "reports", "reset"]


def _compile(gm, inputs, name, options):
    """The callable, the operators for which PyTorch is called, and how the program was come by."""
    gm, inputs, bind = lift(gm, inputs)
    check_inputs(gm, inputs)
    start = Start(gm, inputs)
    label = " ".join(filter(None, ["Strata:", name, compile_id()]))

    def call_of(program):
        return program, guarded(gm, program.written, inputs), make_call(
            program,
            inputs,
            name=name,
            backend=options["backend"],
            mode=options["mode"],
            threads=options.get("threads", torch.get_num_threads()),
            disabled_passes=options["disabled_passes"],
            freezing=options.get("freezing", False),
            ready=lambda model: _ready(model, label),
        )

    program, wrap, call = start.first(call_of)
    return bind(wrap(call) if wrap else call), program.opaque, start.note


_models = weakref.WeakSet()


def _ready(model, label):
    model.profiler_name = label
    _models.add(model)


def live_models():
    """The compiled graphs that are in use, as `_strata.LiveModel`s: `set_timing(True)`, and after a call `times()`, a list of
    (launch, nanoseconds, whether PyTorch was called)."""
    return list(_models)


def compile_graph(gm, inputs, options=None):
    """Dynamo's graph as a callable, and the `Report` of what became of it. Raises StrataError for options that make no sense, and
    what has Dynamo begin anew (`make_constants`)."""
    options = check_options(options)
    make_constants(gm)
    calls = sum(node.op not in ("placeholder", "output", "get_attr") for node in gm.graph.nodes)
    name = graph_name(gm)
    try:
        with compiling("strata", gm):
            compiled, opaque, program = _compile(gm, inputs, name, options)
        return compiled, Report(name, calls, opaque, program=program)
    except (Left, _strata.StrataError) as error:
        return gm.forward, Report(name, calls, reason=str(error))
    except Exception as error:  # ours or PyTorch's: the program runs as before, and it is said
        return gm.forward, Report(name, calls, reason=f"in the backend: {first_line(error)}")


def backend(gm, inputs, *, mode=None, options=None, **more):
    """`torch.compile(model, backend="strata")` calls this with Dynamo's graph and its inputs."""
    compiled, report = compile_graph(gm, inputs, merged_options(mode, options, more))
    add(report)
    return compiled
