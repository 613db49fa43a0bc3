# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata.explain`: graphs, breaks and guards as PyTorch counts them, and what Strata makes of each graph."""
import contextlib as _contextlib
import linecache as _linecache
import os as _os
import re as _re
import textwrap as _textwrap
import time as _time
from typing import NamedTuple as _NamedTuple

import torch

from . import _strata
from ._inspect import compile_id


class Break(_NamedTuple):
    """A graph break: the user's line, why PyTorch could not go on, its own hints, and a way out."""

    file: str
    line: int
    function: str
    code: str
    reason: str
    explanation: str
    hints: tuple
    advice: str

    def __str__(self):
        place = f"{_short(self.file)}:{self.line} in {self.function}" if self.file else "somewhere"
        why = f"{self.reason}: {self.explanation}" if self.explanation else self.reason
        return f"{place}: {self.code}\n  {_textwrap.shorten(why, 300)}\n  way out: {self.advice}"


class Explanation:
    """What became of a call. `print` it.

    As PyTorch counts: `graphs` (GraphModules), `graph_count`, `graph_break_count`, `break_reasons` (GraphCompileReason; without those
    breaks before which nothing was captured), `op_count`, `ops_per_graph`, `out_guards`, `compile_times` (text, of the process).
    Strata's: `reports` (one `Report` per graph: opaque operators, or why PyTorch runs it), `compile_seconds` per graph, `addresses`
    of the graphs (`0/0`), `breaks` (every `Break`).
    """

    def __init__(self):
        self.graphs, self.break_reasons, self.ops_per_graph, self.out_guards = [], [], [], []
        self.reports, self.compile_seconds, self.addresses, self.breaks = [], [], [], []
        self.compile_times = ""

    @property
    def graph_count(self):
        return len(self.graphs)

    @property
    def graph_break_count(self):
        return max(0, len(self.graphs) - 1)

    @property
    def op_count(self):
        return sum(len(ops) for ops in self.ops_per_graph)

    def __str__(self):
        left = sum(not report.compiled for report in self.reports)
        lines = [
            f"{_count(self.graph_count, 'graph')}, {_count(len(self.breaks), 'break')}, {_count(len(self.out_guards), 'guard')}; "
            + (f"PyTorch runs {left} of the graphs" if left else "all graphs compiled" if self.graphs else "nothing was captured")
        ]
        for address, report, seconds in zip(self.addresses, self.reports, self.compile_seconds):
            lines.append(f"graph {address} {report.name}: {_count(report.nodes, 'call')}, {seconds:.2f} s to compile")
            if not report.compiled:
                lines.append(f"  run by PyTorch: {report.reason}")
            elif report.opaque:
                lines.append(f"  compiled, but for calls of PyTorch: {', '.join(report.opaque)}")
        for at, found in enumerate(self.breaks, 1):
            lines.append(f"break {at} at {found}")
        return "\n".join(lines)

    __repr__ = __str__


def _count(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def _short(path):
    try:
        relative = _os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return relative if not relative.startswith("..") else path


# The rest of a function behind a break has a name of Dynamo's making.
_RESUMED = _re.compile(r"torch_dynamo_resume_in_(.+)_at_\d+")


def _break_of(reason):
    parts = _strata.graph_break(reason.reason)
    stack = list(reason.user_stack)
    file, line, function, code = "", 0, "", ""
    if stack:
        at = stack[-1]
        file, line, function = at.filename, at.lineno, _RESUMED.sub(r"\1", at.name)
        code = (at.line or _linecache.getline(file, line)).strip()
    what = "the branch depends on values of a tensor" if parts["reason"].startswith("generic_jump ") else parts["reason"]
    return Break(file, line, function, code, what, parts["explanation"], tuple(parts["hints"]), _way_out(parts))


def _way_out(parts):
    """Strata's advice for breaks of this kind; where it has none of its own, the first hint of PyTorch's that helps the reader."""
    if parts["advice"] != _strata.graph_break("")["advice"]:
        return parts["advice"]
    fillers = ("It may be possible to write Dynamo", "Please report", "This graph break is fundamental", "This is likely")
    return next((hint for hint in parts["hints"] if not hint.startswith(fillers)), parts["advice"])


@_contextlib.contextmanager
def _seeing_breaks(found):
    """Every break that Dynamo decides on inside is appended: backends do not hear of one before which nothing was captured."""
    from torch._dynamo.output_graph import GraphCompileReason, OutputGraph

    original = OutputGraph.compile_subgraph

    def compile_subgraph(self, *args, **kwargs):
        for value in (*args, *kwargs.values()):
            if isinstance(value, GraphCompileReason) and value.graph_break:
                found.append(_break_of(value))
        return original(self, *args, **kwargs)

    OutputGraph.compile_subgraph = compile_subgraph
    try:
        yield
    finally:
        OutputGraph.compile_subgraph = original


def _collect(into):
    """A backend that compiles as Strata's does, and keeps what there is to say."""

    def explaining(gm, inputs):
        from ._torch import compile_graph

        start = _time.perf_counter()
        compiled, report = compile_graph(gm, inputs)
        into.compile_seconds.append(_time.perf_counter() - start)
        into.addresses.append(compile_id())
        into.graphs.append(gm)
        into.reports.append(report)
        into.ops_per_graph.append([node.target for node in gm.graph.nodes if node.op == "call_function"])
        reason = getattr(gm, "compile_subgraph_reason", None)
        if reason is not None and reason.graph_break:
            into.break_reasons.append(reason)
        return compiled

    return explaining


def _original(function):
    """The function or module that `torch.compile` was given, where this is what it returned."""
    module = getattr(function, "_orig_mod", None) if isinstance(function, torch.nn.Module) else None
    return module or getattr(function, "_torchdynamo_orig_callable", function)


def explain(function, *args, **kwargs):
    """See `strata.explain`."""
    if not callable(function):
        raise _strata.StrataError(f"a function or module is expected, and this is a {type(function).__name__}")

    def run(*args, **kwargs):
        found = Explanation()
        torch._dynamo.reset()
        try:
            with _seeing_breaks(found.breaks):
                watched = torch._dynamo.optimize(_collect(found), guard_export_fn=found.out_guards.extend)
                watched(_original(function))(*args, **kwargs)
            found.compile_times = torch._dynamo.utils.compile_times(repr="str")
        finally:
            torch._dynamo.reset()
        return found

    return run(*args, **kwargs) if args or kwargs else run
