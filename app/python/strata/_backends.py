# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Backends by name: Strata's own, those that somebody registered, PyTorch's. And the options that each takes.

Nothing here imports PyTorch before it is needed.
"""
import difflib as _difflib
import importlib.util as _util
import inspect as _inspect
import os as _os
import shutil as _shutil
import sys as _sys
import threading as _threading
from typing import NamedTuple as _NamedTuple

from . import _strata
from ._register import _backend as _strata_backend
from ._register import add as _add_to_pytorch
from ._strata import StrataError

MODES = ("default", "reduce-overhead", "max-autotune")


class Backend(_NamedTuple):
    """A backend by name. `kind`: "strata", "registered" or "pytorch". `why_not`: what is missing where it is not available."""

    name: str
    kind: str
    available: bool
    doc: str
    why_not: str


def suggest(word, known):
    """A hint at the end of a message: the nearest word, or all of them."""
    near = _difflib.get_close_matches(str(word), [str(k) for k in known], 1)
    return f"did you mean '{near[0]}'" if near else "valid: " + (", ".join(str(k) for k in known) or "none")


def first_line(error):
    """The type of an exception, and what it says, in one line."""
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"


# --------------------------------------------------------------------------------------------------------------- options


def _whole(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _names(value):
    return isinstance(value, (list, tuple, set, frozenset)) and all(isinstance(v, str) for v in value)


_OPTIONS = {
    "backend": ("a name: 'strata', 'unfused' or 'interpret'", lambda value: isinstance(value, str)),
    "disabled_passes": ("a list of names of passes", _names),
    "freezing": ("True or False", lambda value: isinstance(value, bool)),
    "mode": ("one of " + ", ".join(f"'{mode}'" for mode in MODES), lambda value: isinstance(value, str)),
    "threads": ("a whole number, 0 for all cores", _whole),
}


def check_options(options):
    """What Strata is asked for, as a dictionary of its own. Raises StrataError, saying what is expected, for an option that there is
    not, a value of the wrong type, an unknown mode, backend or pass."""
    if options is None:
        options = {}
    if not isinstance(options, dict):
        raise StrataError(f"options must be a dictionary, and are a {type(options).__name__}")
    for name, value in options.items():
        if name not in _OPTIONS:
            raise StrataError(f"there is no option '{name}'; {suggest(name, _OPTIONS)}")
        expected, fits = _OPTIONS[name]
        if not fits(value):
            raise StrataError(f"option '{name}' must be {expected}, and is {value!r}")
    checked = dict(options, disabled_passes=set(options.get("disabled_passes", ())))
    checked.setdefault("backend", "strata")
    checked.setdefault("mode", "default")
    _strata.check_options(checked["backend"], checked["mode"], checked["disabled_passes"])
    return checked


def merged_options(mode, options, more=()):
    """Options with the mode among them, which PyTorch hands over beside them. Raises StrataError where they contradict."""
    if options is not None and not isinstance(options, dict):
        raise StrataError(f"options must be a dictionary, and are a {type(options).__name__}")
    merged = dict(options or {}, **dict(more))
    if mode not in (None, "default"):
        if merged.get("mode", mode) != mode:
            raise StrataError(f"mode is {mode!r}, and option 'mode' is {merged['mode']!r}; give one of them")
        merged["mode"] = mode
    return merged


# ------------------------------------------------------------------------------------------------------------- registered

_watchers = []


def watch(watcher):
    """Has `watcher(phase, name, gm)` called with "begin" and "end" around every compile by Strata or a registered backend. Returns a
    function that ends it."""
    _watchers.append(watcher)
    return lambda: _watchers.remove(watcher)


class compiling:
    """`with compiling(name, gm):` what happens inside is the backend's compile of Dynamo's graph."""

    def __init__(self, name, gm):
        self.name, self.gm = name, gm

    def __enter__(self):
        for watcher in list(_watchers):
            watcher("begin", self.name, self.gm)

    def __exit__(self, *error):
        for watcher in list(_watchers):
            watcher("end", self.name, self.gm)


_registered = {}
_lock = _threading.Lock()


def _of_name(name):
    return _registered[name]


class Registered:
    """A registered backend as PyTorch calls it: with Dynamo's graph, example inputs, and the options of `torch.compile`."""

    def __init__(self, name, function):
        self.name = self.__name__ = name
        self.__doc__ = _inspect.getdoc(function)
        self.function = function
        self._tags = ()

    def check(self, options):
        """Raises StrataError for options that the function has no parameter for."""
        try:
            parameters = list(_inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):  # a builtin
            return
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            return
        known = [p.name for p in parameters[2:] if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        known += [p.name for p in parameters[:2] if p.kind is p.KEYWORD_ONLY]
        for option in options:
            if option not in known:
                raise StrataError(f"backend '{self.name}' has no option '{option}'; {suggest(option, known)}")

    def __call__(self, gm, inputs, *, mode=None, options=None, **more):
        import torch

        given = merged_options(mode, options, more)
        self.check(given)
        try:
            with compiling(self.name, gm):
                compiled = self.function(gm, inputs, **given)
        except torch._dynamo.exc.TorchDynamoException:  # of a backend of PyTorch's that it calls; these steer Dynamo
            raise
        except Exception as error:
            raise StrataError(f"backend '{self.name}' failed: {first_line(error)}") from error
        if not callable(compiled):
            raise StrataError(
                f"backend '{self.name}' must return a callable that takes the graph's inputs, such as gm.forward, and returned "
                f"{'nothing' if compiled is None else 'a ' + type(compiled).__name__}"
            )
        return compiled

    def __reduce__(self):
        return _of_name, (self.name,)

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"<backend '{self.name}'>"


def _check_free(name):
    known = [row[0] for row in _strata.backend_rows()] + ["inspect"]
    if name in known:
        raise StrataError(f"'{name}' is a backend of Strata's; choose another name")
    registry = _sys.modules.get("torch._dynamo.backends.registry")
    # PyTorch's own registration fails where the name is taken, and with it every torch.compile: its debugging backends' names too.
    theirs = name in _PYTORCH or name.startswith(("aot_", "eager_", "pre_dispatch_", "dynamo_"))
    if theirs or (name not in _registered and name in getattr(registry, "_BACKENDS", ())):
        raise StrataError(f"'{name}' is a backend of PyTorch's; choose another name")


def register_backend(name, fn=None, *, replace=False):
    """Makes `fn(gm, example_inputs, **options)` a backend for `strata.compile` and `torch.compile`; without `fn`, a decorator.

    It gets Dynamo's `torch.fx.GraphModule` and returns a callable that takes the graph's inputs and gives a tuple, such as
    `gm.forward`. `**options` are those of the compile, and its mode unless that is "default"; parameters that it has not are errors. An
    exception in it is raised as StrataError with the backend's name. `replace`: a backend that was registered before may have the
    name. Raises StrataError for a name that is taken, and for what cannot be called.
    """
    if not isinstance(name, str) or not name:
        raise StrataError(f"the name of a backend must be a string, and is {name!r}; use register_backend(name, fn)")
    if fn is None:
        return lambda function: register_backend(name, function, replace=replace)
    if not callable(fn):
        raise StrataError(f"backend '{name}' must be callable, and is a {type(fn).__name__}")
    with _lock:
        _check_free(name)
        if name in _registered and not replace:
            raise StrataError(f"backend '{name}' is registered already; choose another name, or pass replace=True")
        _registered[name] = Registered(name, fn)
        _add_to_pytorch(name, _registered[name])
    return fn


# --------------------------------------------------------------------------------------------------------------- PyTorch's

_PYTORCH = {
    "aot_eager": "PyTorch's operators one by one, after its autograd has traced them",
    "cudagraphs": "PyTorch's operators, replayed as a CUDA graph",
    "eager": "PyTorch's operators one by one, in Dynamo's graph",
    "inductor": "PyTorch's own compiler",
    "onnxrt": "ONNX Runtime",
    "openxla": "OpenXLA",
    "tvm": "Apache TVM",
}


def _needs(*modules):
    missing = [name for name in modules if _util.find_spec(name) is None]
    return f"needs the Python package{'s' if len(missing) > 1 else ''} {', '.join(missing)}" if missing else ""


def _why_not(name, registered):
    """What PyTorch's backend of that name lacks here; empty: nothing."""
    import torch

    if name not in registered:
        return f"PyTorch {torch.__version__} has none of this name"
    if name == "inductor":
        named = _os.environ.get("CXX")
        found = any(_shutil.which(compiler) for compiler in ([named] if named else ["g++", "clang++", "c++", "cl"]))
        return "" if found or torch.cuda.is_available() else "needs a C++ compiler: g++, or the one that CXX names"
    if name == "cudagraphs":
        return "" if torch.cuda.is_available() else "needs a CUDA device"
    if name == "onnxrt":
        return _needs("onnxruntime", "onnx")
    return {"tvm": lambda: _needs("tvm"), "openxla": lambda: _needs("torch_xla")}.get(name, str)()


def _pytorch_rows():
    from torch._dynamo.backends import registry

    shown = set(registry.list_backends())  # this loads them all
    for name in sorted(set(_PYTORCH) | shown - {"strata"} - set(_registered)):
        why_not = _why_not(name, registry._BACKENDS)
        function = getattr(registry, "_COMPILER_FNS", registry._BACKENDS).get(name)
        doc = _PYTORCH.get(name) or (_inspect.getdoc(function) or "").split("\n")[0]
        yield Backend(name, "pytorch", not why_not, doc, why_not)


def backends(with_pytorch=True):
    """One `Backend` per name that `strata.compile(..., backend=name)` knows: Strata's, registered ones, PyTorch's where it is there."""
    rows = [Backend(name, "strata", available, doc, why_not) for name, doc, available, why_not in _strata.backend_rows()]
    if not with_pytorch:
        return rows
    rows.append(Backend("inspect", "strata", True, "prints each graph, draws it on request, has PyTorch run it", ""))
    with _lock:
        registered = list(_registered.values())
    rows += [Backend(b.name, "registered", True, (b.__doc__ or "").split("\n")[0], "") for b in registered]
    return rows + list(_pytorch_rows())


# --------------------------------------------------------------------------------------------------------------- compile


class Configured:
    """A backend with its options, for `torch.compile`. PyTorch 2.4 takes what a backend has compiled for whatever options it is asked
    for next, so that each set of options is a backend of its own. Equal ones compare equal: PyTorch compiles once for them."""

    def __init__(self, name, function, options):
        self.__name__, self.function, self.options = name, function, options

    def __call__(self, gm, inputs, *, options=None, **more):
        return self.function(gm, inputs, options=dict(self.options, **(options or {})), **more)

    def __eq__(self, other):
        return isinstance(other, Configured) and (self.function, self.options) == (other.function, other.options)

    def __hash__(self):
        return hash(self.__name__)


def _with_options(name, function, options):
    theirs = {key: value for key, value in options.items() if key in _PYTORCHS_OPTIONS}
    ours = {key: value for key, value in options.items() if key not in _PYTORCHS_OPTIONS}
    plain = name if function is _strata_backend else function
    return dict(backend=Configured(name, function, ours) if ours else plain, options=theirs or None)


def _check_word(what, value, known):
    if value not in known:
        raise StrataError(f"there is no {what} {value!r}; {suggest(value, known)}")


def _check_flags(fullgraph, dynamic, disable):
    for what, value in (("fullgraph", fullgraph), ("disable", disable)):
        if not isinstance(value, bool):
            raise StrataError(f"{what} must be True or False, and is {value!r}")
    if dynamic is not None and not isinstance(dynamic, bool):
        raise StrataError(f"dynamic must be True, False or None, and is {dynamic!r}")


# PyTorch takes these out of the options before it calls a backend.
_PYTORCHS_OPTIONS = ("guard_filter_fn",)


def _for_strata(backend, merged):
    options = dict(merged) if backend == "strata" else dict(merged, backend=backend)
    if merged.get("backend", backend) != backend and backend != "strata":
        raise StrataError(f"backend is {backend!r}, and option 'backend' is {merged['backend']!r}; give one of them")
    check_options({name: value for name, value in options.items() if name not in _PYTORCHS_OPTIONS})
    return _with_options("strata", _strata_backend, options)


def _for_inductor(mode, options, dynamic):
    """PyTorch takes a mode or options, not both: a mode is options by another name."""
    import torch

    if options and mode not in (None, "default"):
        modes = torch._inductor.list_mode_options(dynamic=dynamic)
        _check_word("mode", mode, ["default", *modes])
        return dict(backend="inductor", options={**modes[mode], **options})
    return dict(backend="inductor", options=options) if options else dict(backend="inductor", mode=mode)


def _for_pytorch(name, mode, options):
    from torch._dynamo.backends import registry

    function = registry.lookup_backend(name)
    given = {"options": options or None, "mode": None if mode == "default" else mode}
    given = {key: value for key, value in given.items() if value is not None}
    parameters = _inspect.signature(function).parameters
    for key, value in given.items():
        if key not in parameters and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            raise StrataError(f"PyTorch's backend '{name}' takes no {key}, and was given {value!r}; leave it out")
    if len(given) == 2:
        raise StrataError("PyTorch takes a mode or options, not both; leave one out")
    return dict(backend=name, **given)


def arguments_of_torch(fullgraph, dynamic, backend, mode, options, disable):
    """The keyword arguments of `torch.compile` for those of `strata.compile`. Raises StrataError for what makes no sense."""
    _check_flags(fullgraph, dynamic, disable)
    if mode is not None and not isinstance(mode, str):
        raise StrataError(f"mode must be a string, and is {mode!r}; {suggest(mode, MODES)}")
    merged = merged_options(mode, options)
    if callable(backend):
        chosen = dict(backend=backend, **({"options": dict(options)} if options else {"mode": mode}))
    elif not isinstance(backend, str):
        raise StrataError(f"backend must be a name or a callable, and is a {type(backend).__name__}")
    elif backend in [row[0] for row in _strata.backend_rows()]:
        chosen = _for_strata(backend, merged)
    elif backend in _registered or backend == "inspect":
        function = _registered.get(backend) or _inspecting()
        function.check({name: value for name, value in merged.items() if name not in _PYTORCHS_OPTIONS})
        chosen = _with_options(backend, function, merged)
    elif backend == "inductor":
        chosen = _for_inductor(mode, dict(options or {}), dynamic)
    else:
        rows = {row.name: row for row in backends()}
        _check_word("backend", backend, [row.name for row in rows.values() if row.available] + [backend] * (backend in rows))
        if not rows[backend].available:
            raise StrataError(f"backend '{backend}' cannot be used here: {rows[backend].why_not}")
        chosen = _for_pytorch(backend, mode, dict(options or {}))
    return dict(fullgraph=fullgraph, dynamic=dynamic, disable=disable, **chosen)


_inspecting_one = None


def _inspecting():
    """The backend `inspect`: one object, so that PyTorch knows it again."""
    global _inspecting_one
    if _inspecting_one is None:
        from ._inspect import inspect

        _inspecting_one = Registered("inspect", inspect)
    return _inspecting_one
