# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamo's graphs as text and as pictures, and a backend that shows them."""
import os as _os
import re as _re
import textwrap as _textwrap

from . import _strata
from ._strata import StrataError


def graph_text(gm):
    """A `torch.fx.GraphModule` as FX code, with the type and the source line of each value: what `strata show --style fx` prints."""
    text = _check(gm).print_readable(print_output=False, include_stride=True, include_device=True)
    return text if text.count("class GraphModule(") <= 1 else _text_with_names(gm, "GraphModule")


def _text_with_names(gm, name):
    """The same where PyTorch (2.4) calls the graphs inside of a graph as itself: by their own names."""
    code = gm.graph.python_code(root_module="self", verbose=True, include_stride=True, include_device=True).src.strip("\n")
    parts = [f"class {name}(torch.nn.Module):\n" + _textwrap.indent(code, "    ")]
    for child, module in gm.named_children():
        if hasattr(module, "print_readable"):
            parts.append(_textwrap.indent(_text_with_names(module, child), "    "))
    return "\n\n".join(parts) + "\n"


def graph_svg(gm, path=None, *, title=None, dark=False):
    """A `torch.fx.GraphModule` drawn, as SVG text; saved as well where a path is given. `title` is by default the graph's name."""
    modules = {}
    for node in _check(gm).graph.nodes:
        for place, kind in (node.meta.get("nn_module_stack") or {}).values():
            modules[node.name] = (str(place), kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}")
    svg = _strata.svg_of_fx(graph_text(gm), modules, title or graph_name(gm), dark)
    if path is not None:
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(svg)
        except OSError as error:
            raise StrataError(f"cannot write '{path}': {error.strerror}") from error
    return svg


def _check(gm):
    if not hasattr(gm, "print_readable"):
        raise StrataError(f"a torch.fx.GraphModule is expected, and this is a {type(gm).__name__}")
    return gm


def compile_id():
    """Dynamo's number of the present compile, `0/0`; empty outside of one."""
    from torch._guards import CompileContext

    found = CompileContext.current_compile_id() if hasattr(CompileContext, "current_compile_id") else None
    return str(found) if found is not None else ""


def _present_frame():
    """The code that Dynamo compiles just now, and its arguments; None where it cannot be told."""
    try:
        from torch._dynamo.symbolic_convert import InstructionTranslator

        root = InstructionTranslator.current_tx().output.root_tx
        return root.f_code, root.f_locals
    except Exception:  # outside of a compile, or these names have moved
        return None


def _plain(function):
    """What comes behind a graph break has a name of Dynamo's making."""
    resumed = _re.fullmatch(r"torch_dynamo_resume_in_(.+)_at_(\d+)", function)
    return f"{resumed[1]} from line {resumed[2]}" if resumed else function


def _owner(code, arguments):
    """What the code is the `forward` or a wrapper of: the class of a module, or a function; empty where it is neither."""
    from torch.nn import Module

    wrapped = arguments.get("fn") if code.co_name == "inner" and "fn" in code.co_freevars else None
    if callable(wrapped):  # Dynamo's own wrapper of what it does not look into: PyTorch's modules and functions
        return type(wrapped).__name__ if isinstance(wrapped, Module) else getattr(wrapped, "__name__", "")
    name = code.co_varnames[0] if code.co_argcount else ""
    known = code.co_name in ("forward", "__call__", "_call_impl") or name == "self"
    owner = arguments.get(name) if known else None
    return type(owner).__name__ if isinstance(owner, Module) else ""


def graph_name(gm):
    """What a person calls the graph: the class of the module whose `forward` it is, else the function it comes from."""
    frame = _present_frame()
    if frame:
        code, arguments = frame
        return _owner(code, arguments) or _plain(code.co_name)
    for node in gm.graph.nodes:
        found = _re.search(r'File ".*", line \d+, in (\S+)', node.meta.get("stack_trace") or "")
        if found:
            return _plain(found[1])
    return "graph"


def inspect(gm, example_inputs, *, folder=None, then="eager", dark=False, show=print):
    """The backend `inspect`: gives the code of each graph to `show`, saves it as SVG into `folder` if there is one, and has it run by
    PyTorch (`then`: "eager") or compiled by Strata ("strata")."""
    if then not in ("eager", "strata"):
        raise StrataError(f"option 'then' must be 'eager' or 'strata', and is {then!r}")
    name = " ".join(filter(None, [graph_name(gm), compile_id()]))
    show(f"# {name}\n{graph_text(gm)}")
    if folder is not None:
        _os.makedirs(folder, exist_ok=True)
        path = _os.path.join(folder, _re.sub(r"[^\w.-]+", "_", name) + ".svg")
        graph_svg(gm, path, title=name, dark=dark)
        show(f"# drawn: {path}")
    if then == "eager":
        return gm.forward
    from ._torch import backend

    return backend(gm, example_inputs)
