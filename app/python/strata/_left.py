# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What says why a graph is left to PyTorch, and where."""


class Left(Exception):
    """The graph is left to PyTorch; the text says why."""


def place(node):
    """A node by its name and line of Python."""
    lines = [line.strip() for line in (node.meta.get("stack_trace") or "").splitlines()]
    files = [line for line in lines if line.startswith("File ")]
    user = [line for line in files if "/torch/" not in line] or files
    if not user:
        return f"'{node.name}'"
    file, line = user[-1].split('"')[1], user[-1].split("line ")[1].split(",")[0]
    return f"'{node.name}' at {file}:{line}"
