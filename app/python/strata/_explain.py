# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata.explain`: graphs, breaks and guards as PyTorch counts them, and what Strata makes of each graph."""
import torch

from ._reports import reports


class Explanation:
    """What `torch.compile` makes of a call: `graphs`, `graph_count`, `graph_break_count`, `break_reasons`, `op_count`,
    `ops_per_graph`, `out_guards`, `compile_times` as PyTorch counts them, and `reports`: what Strata makes of each graph."""

    def __init__(self, dynamo, found):
        self._dynamo, self.reports = dynamo, found

    def __getattr__(self, name):
        return getattr(self._dynamo, name)

    def __str__(self):
        return "\n".join([str(self._dynamo), "Strata:"] + [f"  {report!r}" for report in self.reports])


def explain(function, *args, **kwargs):
    def run(*args, **kwargs):
        from ._torch import backend

        dynamo = torch._dynamo.explain(function)(*args, **kwargs)
        torch._dynamo.reset()
        before = len(reports())
        torch.compile(function, backend=backend)(*args, **kwargs)
        torch._dynamo.reset()
        return Explanation(dynamo, reports()[before:])

    return run(*args, **kwargs) if args or kwargs else run
