# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What became of each graph that Dynamo handed over."""
import threading as _threading

from . import _record

_reports = []
_lock = _threading.Lock()


class Report:
    """What became of one graph: `name`, `nodes` (calls in Dynamo's graph), `compiled`, `opaque` (operators for which the compiled
    program calls PyTorch), `reason` where PyTorch runs all of it, and `program`: whether it was captured or came from the cache on
    disk, and if it is not kept there, why."""

    def __init__(self, name, nodes, opaque=(), reason=None, program=""):
        self.name, self.nodes, self.opaque, self.reason, self.program = name, nodes, tuple(opaque), reason, program

    @property
    def compiled(self):
        return self.reason is None

    def __repr__(self):
        what = "compiled" if self.compiled else f"run by PyTorch: {self.reason}"
        if self.opaque:
            what += ", but for " + ", ".join(self.opaque)
        return f"<strata graph {self.name}, {self.nodes} calls, {what}>"


def reports():
    """One `Report` per graph handed to the backend since the start or `reset()`, oldest first."""
    with _lock:
        return list(_reports)


def reset():
    """Forgets the reports."""
    with _lock:
        _reports.clear()


def add(report):
    with _lock:
        _reports.append(report)
    _record.reported(report)
