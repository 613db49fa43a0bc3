# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether functions and operators are PyTorch's own, so that its version says what they do.

Programs patch functions of PyTorch, register kernels, shape rules and decompositions for its operators, and bring operators of
their own. What a trace makes of a call then depends on their code, of which no key speaks.
"""
import hashlib
import os
import sys
import types
import weakref

import torch

_FOLDER = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_PYTHON = os.path.dirname(os.__file__) + os.sep
_PACKAGES = (_PYTHON + "site-packages", _PYTHON + "dist-packages")
_OperatorPackets = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)
_NAMESPACES = ("aten", "prims")
_OF_THE_PROCESS = ("torch.random", "torch.distributed", "torch.cuda", "torch.multiprocessing")
_SEEDS = ("seed", "initial_seed", "manual_seed", "get_rng_state", "set_rng_state")


def _is_ours(function):
    """Whether the code of a Python function came with PyTorch."""
    return os.path.abspath(function.__code__.co_filename).startswith(_FOLDER)


def _namespace(operator):
    return operator._qualified_op_name.split("::")[0] if isinstance(operator, torch._ops.OpOverloadPacket) else operator.namespace


def name_of_target(target, refuse):
    """What is called, by a name under which this PyTorch has it; raises `refuse` for what is another's."""
    if isinstance(target, str):
        _require_method(target, refuse)
        return "method", target
    if isinstance(target, _OperatorPackets):
        if _namespace(target) not in _NAMESPACES:
            raise refuse(f"{target} is not an operator of PyTorch's")
        return "operator", str(target)
    module, name = getattr(target, "__module__", None), getattr(target, "__name__", None)
    whole = f"{module}.{name}"
    if target is torch.Size:
        return "function", "torch.Size"
    if type(target) not in (types.FunctionType, types.BuiltinFunctionType):
        raise refuse(f"{whole} is a {type(target).__name__}")
    root = str(module).split(".")[0]
    if root not in ("torch", "_operator", "math", "builtins"):
        raise refuse(f"{whole} is not a function of PyTorch's")
    if str(module).startswith(_OF_THE_PROCESS) or name in _SEEDS:
        raise refuse(f"{whole} depends on the process")
    if _looked_up(module, name) is not target or isinstance(target, types.FunctionType) and not _is_ours(target):
        raise refuse(f"{whole} is not what PyTorch has under this name")
    return "function", whole


def _looked_up(module, name):
    place = sys.modules.get(module)
    if place is None:  # a part of an extension module: torch._C._nn
        parent, _, last = module.rpartition(".")
        place = getattr(sys.modules.get(parent), last, None)
    return getattr(place, name, None)


def _require_method(name, refuse):
    method = getattr(torch.Tensor, name, None)
    if isinstance(method, types.FunctionType) and not _is_ours(method):
        raise refuse(f"torch.Tensor.{name} is not PyTorch's own")


# ---------------------------------------------------------------------------------------------------------- namespaces


_known = set()  # functions that are PyTorch's own


def _is_foreign(function):
    """Whether a function that stands in a namespace of PyTorch's came with something else than PyTorch and Python."""
    file = function.__code__.co_filename
    if file.startswith((_FOLDER, "<")):
        _known.add(function)
        return False
    if file.startswith(_PYTHON) and not file.startswith(_PACKAGES):
        return False  # imported for use there
    if os.path.basename(file) == "typing_extensions.py":  # imported; and what it says to be deprecated
        inner = getattr(function, "__wrapped__", None)
        return inner is not None and _is_foreign(inner)
    return not _is_ours(function)


def require_genuine_namespaces(refuse):
    """Raises `refuse` where a function is patched that PyTorch's own look up, or one of its operators decomposed by others."""
    spaces = (torch, torch.Tensor, torch._tensor, torch.functional, torch.nn.functional, torch._C._nn, torch._refs, torch._meta_registrations)
    for space in spaces:
        for name, value in vars(space).items():
            if type(value) is types.FunctionType and value not in _known and _is_foreign(value):
                raise refuse(f"{space.__name__}.{name} is patched by {value.__module__}")
    for table in torch._decomp.global_decomposition_table.values():
        for operator, function in table.items():
            if type(function) is types.FunctionType and function not in _known and _is_foreign(function) and _namespace(operator) in _NAMESPACES:
                raise refuse(f"{operator} is decomposed by {function.__module__}")
    for library in _libraries():
        _require_genuine_library(library, refuse)


_known_libraries = weakref.WeakSet()


def _libraries():
    """Python's libraries of kernels for PyTorch's operators; PyTorch lists them nowhere but by what is to be done at their end."""
    ends = getattr(weakref.finalize, "_registry", {})
    found = [info.weakref() for info in list(ends.values())]
    return [one for one in found if type(one) is torch.library.Library and one.ns in (*_NAMESPACES, "_") and one not in _known_libraries]


def _require_genuine_library(library, refuse):
    """All that a library registers says where the library was made."""
    if library.ns == "_":
        raise refuse("somebody has kernels for operators without one")
    for name in list(library._op_impls)[:1]:
        text = torch._C._dispatch_dump("::".join(name.split("/")[:2]))
        for place in _places(text):
            if not _is_place_of_ours(place, ""):
                raise refuse(f"{name} is a kernel that was registered at {place}")
        _known_libraries.add(library)


# ------------------------------------------------------------------------------------------------------------ operators


def operators_of(traced):
    """Names of the operators that a captured graph calls, sorted."""
    return sorted({str(node.target) for node in traced.graph.nodes if isinstance(node.target, torch._ops.OpOverload)})


def registered(names, refuse):
    """A digest of what PyTorch's dispatcher has for operators, by their names; raises `refuse` for kernels and rules of others."""
    digest = hashlib.sha256()
    for name in names:
        operator = _operator(name, refuse)
        text = torch._C._dispatch_dump(operator.name())
        _require_genuine_kernels(name, text, refuse)
        for function in operator.py_kernels.values():
            if isinstance(function, types.FunctionType) and not _is_ours(function):
                raise refuse(f"{name} has a kernel of {function.__module__}")
        digest.update(repr((name, text)).encode())
    return digest.hexdigest()


def _operator(name, refuse):
    space, packet, overload = (name.split(".") + ["", ""])[:3]
    if space not in _NAMESPACES:
        raise refuse(f"{name} is not an operator of PyTorch's")
    return getattr(getattr(getattr(torch.ops, space), packet), overload)


def _places(text):
    """Files where kernels were registered, of the dispatcher's table of an operator."""
    lines = [line.partition("registered at ")[2] for line in text.splitlines()]
    return [line.split(" :: ")[0].rpartition(":")[0] for line in lines if line]


def _is_place_of_ours(place, root):
    """Whether a kernel came with PyTorch: `root` is where its part in C++ was built, empty for anywhere, None for nowhere."""
    if place.endswith(".py"):  # what is registered through decorators has that module for its place, whoever does it
        return place.startswith(_FOLDER) and place != _FOLDER + "library.py"
    return root is not None and place.startswith(root)


def _require_genuine_kernels(name, text, refuse):
    """Kernels in C++ come from where the schema's registration was built, those in Python from PyTorch's folder."""
    places = _places(text)
    schema = next((p for p in places if p.endswith("RegisterSchema.cpp")), "")
    root = schema.partition("build/aten/")[0] if "build/aten/" in schema else None
    for place in places:
        if not _is_place_of_ours(place, root):
            raise refuse(f"{name} has a kernel that was registered at {place or 'an unknown place'}")
