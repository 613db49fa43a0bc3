# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the capture of a graph follows from, as a key of 32 bytes: Dynamo's graph, how its inputs lie in memory, PyTorch's and
Strata's versions, and the state of PyTorch that a trace looks at.

Two captures of one key give the same program. Whatever cannot be said here for certain raises NotKept: such graphs are captured
in every process. What somebody may have put in PyTorch's place is `_genuine.py`'s.
"""
import functools
import hashlib
import importlib
import os
import re
import sys

import torch

from . import _strata
from ._genuine import name_of_target, require_genuine_namespaces
from ._size_state import size, source_of, state_of

_FORMAT = 1  # of the key and of what is kept under it
_GENERATED = re.compile(r"<eval_with_key>\.\d+")

_FakeTensor = torch._subclasses.FakeTensor


class NotKept(Exception):
    """Why a captured program is not kept on disk, in words."""


def key_of(gm, inputs):
    """The key of the capture of `gm` for `inputs`, which have passed `check_inputs`. Raises NotKept."""
    require_genuine_namespaces(NotKept)
    parts = (_FORMAT, _installation(), _state(), _inputs(gm, inputs), _graph(gm))
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()


# --------------------------------------------------------------------------------------------------------------- graph


def _tuple(describe, value):
    return tuple(describe(part) for part in value)


def _list(describe, value):
    return [describe(part) for part in value]


# Exact types, so that 1, 1.0 and True differ; what is not here is not kept.
_DESCRIBE = {
    bool: None, int: None, float: None, complex: None, str: None, type(None): None,
    torch.fx.Node: lambda _, node: ("node", node.name),
    tuple: _tuple,
    list: _list,
    torch.fx.immutable_collections.immutable_list: _list,
    torch.Size: lambda describe, value: ("size", *_tuple(describe, value)),
    slice: lambda describe, value: ("slice", *_tuple(describe, (value.start, value.stop, value.step))),
    dict: lambda describe, value: ("dict", *((describe(k), describe(v)) for k, v in value.items())),
    torch.dtype: lambda _, value: ("torch", str(value)),
    torch.device: lambda _, value: ("device", str(value)),
    torch.layout: lambda _, value: ("torch", str(value)),
    torch.memory_format: lambda _, value: ("torch", str(value)),
    type(...): lambda _, value: ("ellipsis",),
}  # fmt: skip
_DESCRIBE[torch.fx.immutable_collections.immutable_dict] = _DESCRIBE[dict]


def _argument(value):
    try:
        describe = _DESCRIBE[type(value)]
    except KeyError:
        raise NotKept(f"an argument is a {type(value).__module__}.{type(value).__name__}") from None
    return value if describe is None else describe(_argument, value)


def _lines(stack):
    """Lines of Python without the numbers that this process gave to graph modules."""
    return _GENERATED.sub("<eval_with_key>", stack) if stack else stack


def _modules(stack):
    """The innermost module of a node, which is what a program says of it."""
    if not stack:
        return None
    innermost = next(reversed(stack.values()))
    path, kind = innermost if isinstance(innermost, tuple) and len(innermost) == 2 else (innermost, None)
    return str(path), f"{kind.__module__}.{kind.__qualname__}" if isinstance(kind, type) else str(kind)


def _graph(gm):
    names = {}  # of targets

    def name(target):
        if target not in names:
            names[target] = name_of_target(target, NotKept)
        return names[target]

    def describe(node):
        if node.op not in ("call_function", "call_method", "placeholder", "output"):
            raise NotKept(f"'{node.name}' is a {node.op} of '{node.target}', which may change behind the graph")
        target = name(node.target) if node.op.startswith("call") else node.target
        if node.op == "placeholder" and node.args:
            raise NotKept(f"input '{node.name}' has a default")
        meta = node.meta
        lines = (_lines(meta.get("stack_trace")), _modules(meta.get("nn_module_stack")))
        return node.op, node.name, target, _argument(node.args), _argument(node.kwargs), lines

    return [describe(node) for node in gm.graph.nodes]


# -------------------------------------------------------------------------------------------------------------- inputs


def _layout(value):
    """What a trace can see of a dense tensor but for its memory, from real and fake ones; sizes may be symbols, as text."""
    return (
        tuple(map(size, value.shape)), tuple(map(size, value.stride())), size(value.storage_offset()), str(value.dtype), str(value.device),
        str(value.layout), value.requires_grad, value.is_inference(), value.is_conj(), value.is_neg(),
    )  # fmt: skip


def _numbers(layout):
    return [n for part in layout[:3] for n in (part if isinstance(part, tuple) else (part,))]


def _agree(layout, real):
    """Whether a fake tensor's layout is a real one's, where both have numbers."""
    numbers = zip(_numbers(layout), _numbers(real))
    return len(_numbers(layout)) == len(_numbers(real)) and layout[3:] == real[3:] and all(a == b or type(a) is str for a, b in numbers)


def _inputs(gm, inputs):
    """The inputs, and the fake tensors that Dynamo has of them and that are traced with."""
    placeholders = [node for node in gm.graph.nodes if node.op == "placeholder"]
    if len(placeholders) != len(inputs):
        raise NotKept("there are more inputs than the graph names")
    storages, modes, described = {}, {}, []
    for node, value in zip(placeholders, inputs):
        fake = node.meta.get("example_value")
        if isinstance(fake, torch.SymInt) and isinstance(value, (int, torch.SymInt)):
            described.append(("size", size(fake), str(value)))
            continue
        if not isinstance(value, torch.Tensor) or type(fake) is not _FakeTensor:
            raise NotKept(f"input '{node.name}' is a {type(value).__name__}")
        layout, real = _layout(fake), _layout(value)
        if type(value) is not _FakeTensor and not _agree(layout, real):
            raise NotKept(f"input '{node.name}' does not lie in memory as Dynamo has it")
        storage = fake.untyped_storage()
        modes[id(fake.fake_mode)] = fake.fake_mode
        shared = storages.setdefault(storage._cdata, len(storages))
        ways = (fake.is_leaf, fake._is_view(), isinstance(fake, torch.nn.Parameter), type(value) is _FakeTensor)
        symbolic = any(type(n) is str for n in _numbers(layout))
        described.append((layout, shared, size(storage.nbytes()), ways, (real[:3], _symbols_of(value)) if symbolic else None))
    if len(modes) != 1:
        raise NotKept("the inputs are fake tensors of several modes, or of none")
    (mode,) = modes.values()
    return described, _mode(mode), state_of(mode.shape_env) if has_symbols(gm) else None


def has_symbols(gm):
    """Whether a trace looks at symbols of PyTorch's: a size of an input is one, or there are guards on the element of an input."""
    fakes = [node.meta.get("example_value") for node in gm.graph.nodes if node.op == "placeholder"]
    return any(not isinstance(fake, torch.Tensor) or any(type(n) is str for n in _numbers(_layout(fake))) or _guards_element(fake) for fake in fakes)


def _guards_element(fake):
    """Whether Dynamo has guards on the number in an input without dimensions (`x[i]`): a trace makes a constant of it."""
    element = getattr(fake, "item_memo", None)
    if element is None or not hasattr(element, "node"):
        return element is not None
    env, symbols = element.node.shape_env, element.node._expr.free_symbols
    told = [*env.replacements, *(symbol for guard in env.guards for symbol in guard.expr.free_symbols)]
    return not symbols or not symbols.isdisjoint(told)


def _symbols_of(value):
    """How PyTorch makes symbols of an input's sizes: new fake tensors of it are made for the trace."""
    known = torch._guards.TracingContext.get().tensor_to_context.get(value)
    if known is None:
        return None
    chosen = ("dynamic_sizes", "dynamic_strides", "constraint_sizes", "constraint_strides", "specialize_on", "unbacked_bounds", "excluded_sizes")
    if known.view_base_context is not None:
        raise NotKept("an input with a symbol for its size is a view")
    return type(known).__name__, [repr(getattr(known, name, None)) for name in chosen], source_of(known.tensor_source)


def _mode(mode):
    """The choices of a fake mode: how it computes the shapes of results."""
    context = torch._guards.TracingContext.try_get()
    if context is None or getattr(context.fake_mode, "shape_env", None) is not mode.shape_env:
        raise NotKept("the graph is not compiled by Dynamo, or in another environment of sizes")
    chosen = ("allow_non_fake_inputs", "allow_fallback_kernels", "static_shapes", "allow_meta", "export", "cache_enabled")
    settings = getattr(mode.shape_env, "settings", None)
    return [[getattr(one, name, None) for name in chosen] for one in (mode, context.fake_mode)], repr(settings)


# --------------------------------------------------------------------------------------------------------------- state


def _setting(value):
    if isinstance(value, (set, frozenset)):
        return "set", sorted(repr(_setting(part)) for part in value)
    if isinstance(value, (list, tuple)):
        return [_setting(part) for part in value]
    if isinstance(value, dict):
        return "dict", sorted(repr((_setting(k), _setting(v))) for k, v in value.items())
    # Functions are those of compilers: what changes traces are flags, numbers and words.
    return value if isinstance(value, (bool, int, float, str, type(None))) else f"a {type(value).__name__}"


_OTHER_SETTINGS = ("debug_dir_root", "log_file_name")


def _config(module):
    """All of a module of settings."""
    copy = getattr(module, "get_config_copy", None) or getattr(module, "shallow_copy_dict", None)
    if copy is None:
        raise NotKept(f"PyTorch does not say what {module.__name__} is")
    return sorted((name, repr(_setting(value))) for name, value in copy().items() if name not in _OTHER_SETTINGS)


# Where things are written, and what is printed: none of a trace's business.
_OTHER_VARIABLES = ("TORCHINDUCTOR_", "TORCH_TRACE", "TORCH_LOGS", "TORCH_COMPILE_DEBUG", "TORCH_HOME", "TORCH_EXTENSIONS_DIR", "TORCH_SHOW_")
_VARIABLES = ("TORCH", "PYTORCH", "ATEN_")


def _environment():
    return sorted((k, v) for k, v in os.environ.items() if k.startswith(_VARIABLES) and not k.startswith(_OTHER_VARIABLES))


def _state():
    if torch._C._functorch.get_dynamic_layer_stack_depth():
        raise NotKept("it is compiled inside a function transform")
    if torch._C._len_torch_function_stack() or torch._C._len_torch_dispatch_stack():
        raise NotKept("it is compiled under a mode that changes what functions of PyTorch do")
    cuda, einsum, mha = torch.backends.cuda, torch.backends.opt_einsum, torch.backends.mha
    configs = [importlib.import_module("torch." + name) for name in ("_dynamo.config", "_functorch.config", "fx.experimental._config")]
    return (
        torch.is_grad_enabled(), torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"), str(torch.get_autocast_dtype("cpu")), torch.is_autocast_cache_enabled(),
        str(torch.get_default_dtype()), str(torch.get_default_device()),
        torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.utils.deterministic.fill_uninitialized_memory, torch.get_float32_matmul_precision(), torch.get_num_threads(),
        torch.backends.mkldnn.enabled, torch.backends.mkldnn.deterministic, mha.get_fastpath_enabled(),
        cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled(), cuda.cudnn_sdp_enabled(),
        einsum.is_available(), einsum.enabled, einsum.strategy, getattr(sys.modules.get("opt_einsum"), "__version__", None),
        torch.backends.cpu.get_cpu_capability(), torch.compiler.is_compiling(), torch.jit.is_tracing(),
        [_config(module) for module in configs], _environment(),
    )  # fmt: skip


# Files that say how shapes are worked out and graphs are traced: somebody may work on them without a new version.
_FILES = (
    "_C/__init__.pyi", "_decomp/__init__.py", "_decomp/decompositions.py", "_meta_registrations.py", "_ops.py", "_prims/__init__.py",
    "_prims_common/__init__.py", "_refs/__init__.py", "_subclasses/fake_impls.py", "_subclasses/fake_tensor.py", "_subclasses/meta_utils.py",
    "functional.py", "fx/experimental/proxy_tensor.py", "fx/experimental/symbolic_shapes.py", "fx/graph.py", "fx/interpreter.py",
    "lib/libtorch_cpu.so", "lib/libtorch_python.so", "nn/functional.py", "version.py",
)  # fmt: skip


def _stamp(path):
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_size, info.st_mtime_ns


@functools.cache
def _installation():
    """Versions of all that takes part, once per process: it has loaded them."""
    folder = os.path.dirname(os.path.abspath(torch.__file__))
    own = os.path.dirname(os.path.abspath(__file__))
    sources = hashlib.sha256()
    for name in sorted(os.listdir(own)):
        if name.endswith(".py"):
            with open(os.path.join(own, name), "rb") as file:
                sources.update(repr((name, file.read())).encode())
    build = _strata.build_identity()
    if not build:
        raise NotKept("this build of Strata cannot be told from others")
    stamps = [_stamp(os.path.join(folder, name)) for name in _FILES]
    return build, sources.hexdigest(), torch.__version__, torch.version.git_version, folder, stamps, sys.version
