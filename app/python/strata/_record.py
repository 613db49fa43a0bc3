# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata.record` and STRATA_TRACE: a trace of what this process compiles and runs.

Strata writes its own compiles and runs as they happen. What only PyTorch knows (guards, graph breaks, recompiles, what other backends
make of a graph) it writes into its structured log, the one of TORCH_TRACE; that is switched on beside the trace, and read into it
at the end. A compile that both know has a record in the log that names its row of the trace.

Nothing here imports PyTorch before somebody else does.
"""
import atexit as _atexit
import itertools as _itertools
import logging as _logging
import os as _os
import sys as _sys
import tempfile as _tempfile
import threading as _threading

from . import _backends
from . import _strata
from ._strata import StrataError
from ._when_loaded import WhenLoaded

_OUTPUT_GRAPH = "torch._dynamo.output_graph"
_lock = _threading.RLock()
_present = None  # the recording under way
_numbers = _itertools.count(1)
_facts = _threading.local()  # of the compile under way on this thread


def _say(text):
    print(f"strata: {text}", file=_sys.stderr, flush=True)


# ------------------------------------------------------------------------------------------------------- PyTorch's own log


class _Log(_logging.Handler):
    """PyTorch's structured log in a file, as TORCH_TRACE would write it. The file is there from the first record on."""

    def __init__(self, path):
        super().__init__(_logging.DEBUG)
        self.path, self.file, self.pid = path, None, _os.getpid()

    def emit(self, record):
        if _os.getpid() != self.pid:
            return
        try:
            self._note(record)
            if self.file is None:
                self._begin(record)
            self._write(record)
        except Exception as error:  # the program goes on
            self.detach()
            _say(f"PyTorch's log is not recorded any further: {error}")

    def _begin(self, record):
        """File names are given a number once, by whichever log was there first."""
        from torch._logging import _internal, structured

        self.setFormatter(_internal.TorchLogsFormatter(trace=True))
        self.file = open(self.path, "w", encoding="utf-8", errors="surrogateescape")
        for name, number in list(structured.INTERN_TABLE.items()):
            known = _logging.makeLogRecord(dict(record.__dict__, metadata={"str": [name, number]}, payload=None))
            self._write(known)

    def _write(self, record):
        self.file.write(self.format(record) + "\n")
        self.file.flush()

    @staticmethod
    def _note(record):
        """What the compile's backend will want to say of it."""
        metadata = record.metadata
        if "dynamo_start" in metadata:
            _facts.sources, _facts.graph, _facts.backend = [], "", ""
        elif "describe_source" in metadata:
            _facts.__dict__.setdefault("sources", []).append(str(metadata["describe_source"].get("source", "")))
        elif "dynamo_output_graph" in metadata:
            _facts.graph = record.payload or ""
            _facts.sizes = [
                (str(name), "[" + ", ".join(str(d) for d in dims) + "]")
                for name, dims in (metadata["dynamo_output_graph"].get("sizes") or {}).items()
            ]

    def attach(self):
        from torch._logging import _internal

        if self not in _internal.trace_log.handlers:
            _internal.trace_log.addHandler(self)

    def detach(self):
        internal = _sys.modules.get("torch._logging._internal")
        if internal is not None:
            internal.trace_log.removeHandler(self)

    def close(self):
        self.detach()
        if self.file is not None and _os.getpid() == self.pid:
            self.file.close()
        self.file = None
        super().close()


def _tell(name, text):
    """A record in PyTorch's log that belongs to the compile under way."""
    from torch._logging import _internal

    _internal.trace_structured("artifact", metadata_fn=lambda: {"name": name, "encoding": "string"}, payload_fn=lambda: text)


def _name_of(compiler):
    """What a person calls a backend: the name that `torch.compile` was given, or that of the function."""
    for _ in range(8):
        name = getattr(compiler, "compiler_name", None)
        if isinstance(name, str) and name:
            return name
        inner = getattr(compiler, "_torchdynamo_orig_backend", None) or getattr(compiler, "func", None)
        if inner is None:
            break
        compiler = inner
    return str(getattr(compiler, "__name__", type(compiler).__name__))


def _watch_backends(module):
    """Has the log say which backend each graph is handed to."""
    graph = getattr(module, "OutputGraph", None)
    original = getattr(graph, "call_user_compiler", None)
    if original is None or hasattr(original, "_strata_original"):
        return

    def call_user_compiler(self, *args, **kwargs):
        if _present is not None:
            try:
                _facts.backend = _name_of(self.compiler_fn)
                _tell("backend", _facts.backend)
            except Exception as error:
                _say(f"the backend's name is not recorded: {error}")
        return original(self, *args, **kwargs)

    call_user_compiler._strata_original = original
    graph.call_user_compiler = call_user_compiler


class _Settings:
    """Settings of PyTorch's compiler while it is recorded: a graph that comes out of a cache is logged in part only, and exact maps
    from kernels to nodes are made on request."""

    _WANTED = {
        "torch._functorch.config": (("enable_autograd_cache", False),),
        "torch._inductor.config": (
            ("fx_graph_cache", False),
            ("trace.provenance_tracking", True),
            ("trace.provenance_tracking_level", 1),
            ("cpp.enable_kernel_profile", True),
        ),
    }

    def __init__(self, profile):
        self.before, self.profile = [], profile
        self.waiting = [WhenLoaded(name, self.apply) for name in self._WANTED]

    def begin(self):
        for finder in self.waiting:
            finder.begin()

    def apply(self, config):
        for name, value in self._WANTED[config.__name__]:
            *path, last = name.split(".")
            if last == "enable_kernel_profile" and not self.profile:
                continue
            owner = config
            for part in path:
                owner = getattr(owner, part, None)
            if owner is not None and getattr(owner, last, value) != value:
                self.before.append((owner, last, getattr(owner, last)))
                setattr(owner, last, value)

    def end(self):
        for finder in self.waiting:
            finder.forget()
        while self.before:
            setattr(*self.before.pop())


# ------------------------------------------------------------------------------------------------------- Strata's compiles


def _watcher(phase, name, gm):
    """What is known of a compile before it is made, for the recorder; also for a recording that begins later."""
    try:
        if phase == "begin":
            _strata.set_origin(_origin(name))
        elif _present is not None and _strata.recorded_compile():
            _join()
    except Exception as error:  # a compile must not fail for want of a record
        _say(f"a compile is not recorded in full: {_backends.first_line(error)}")


def _origin(name):
    from torch._guards import CompileContext

    from ._inspect import _present_frame

    origin = {"backend": getattr(_facts, "backend", "") or name}
    trace = CompileContext.current_trace_id() if hasattr(CompileContext, "current_trace_id") else None
    number = getattr(trace, "compile_id", None)
    if number is not None and number.frame_id is not None:
        origin.update(frame=number.frame_id, compile=number.frame_compile_id, attempt=trace.attempt)
        if getattr(number, "compiled_autograd_id", None) is not None:
            origin["autograd"] = str(number.compiled_autograd_id)
    frame = _present_frame()
    if frame is not None:
        origin.update(function=frame[0].co_name, file=frame[0].co_filename, line=frame[0].co_firstlineno)
    if _present is not None:
        origin.update({key: getattr(_facts, key) for key in ("graph", "sizes", "sources") if hasattr(_facts, key)})
    return origin


def _join():
    """Has PyTorch's log name the row of the trace that holds the compile."""
    row = _strata.recorded_compile()
    if row and getattr(_facts, "joined", None) != (_present.path, _present.number, row):
        _facts.joined = (_present.path, _present.number, row)
        _tell("strata_compile", str(row))


def reported(report):
    """Called with each `Report`: graphs that are left to PyTorch become compiles too."""
    try:
        if _present is not None and not report.compiled:
            _strata.record_left(report.name, report.reason)
            _join()
    except Exception as error:
        _say(f"a graph that is left to PyTorch is not recorded: {error}")
    finally:
        _strata.set_origin({})


_backends.watch(_watcher)

# ----------------------------------------------------------------------------------------------------------- recordings


class _Recording:
    """One trace from its beginning to its end. Belongs to the process that began it."""

    def __init__(self, path, command, profile):
        self.path, self.pid, self.number = path, _os.getpid(), next(_numbers)
        self.log = _Log(path + ".torch.log")
        self.profiler = self.profile = None
        self.waiting = WhenLoaded(_OUTPUT_GRAPH, self._torch_is_there)
        self.settings = _Settings(profile)
        _strata.start_recording(path, command)
        try:
            self._follow_torch()
        except BaseException:
            _strata.stop_recording([])
            raise

    def _follow_torch(self):
        self.settings.begin()
        self.waiting.begin()

    def _torch_is_there(self, module):
        _watch_backends(module)
        if _present is self or _present is None:
            self.log.attach()

    def start_profiler(self):
        import torch.profiler

        self.profiler = torch.profiler.profile(record_shapes=True)
        self.profiler.start()

    def _stop_profiler(self):
        profiler, self.profiler = self.profiler, None
        if profiler is None:
            return
        profiler.stop()
        number, self.profile = _tempfile.mkstemp(prefix="strata-", suffix=".json")
        _os.close(number)
        profiler.export_chrome_trace(self.profile)

    def _guarded(self, what, function, *args):
        try:
            return function(*args)
        except Exception as error:
            _say(f"{what}: {_backends.first_line(error)}")
            return None

    def stop(self):
        if _os.getpid() != self.pid:
            return
        self.waiting.forget()
        self._guarded("PyTorch's settings stay changed", self.settings.end)
        self._guarded("no profile is recorded", self._stop_profiler)
        self.log.close()
        left_behind = [p for p in (self.log.path, self.profile) if p and _os.path.exists(p)]
        failure = self._guarded(f"the end of the trace '{self.path}' could not be written", _strata.stop_recording, left_behind)
        if failure:
            _say(f"the trace '{self.path}' is not complete: {failure}")
        for path in left_behind:
            self._guarded("a file stays behind", _os.remove, path)


def _begin(path, command, profile=False):
    global _present
    with _lock:
        recording = _Recording(path, command, profile)
        _present = recording
        if profile:
            try:
                recording.start_profiler()
            except BaseException:
                _end(recording)
                raise
        return recording


def _end(recording):
    global _present
    with _lock:
        if recording is not _present:
            return
        _present = None
        recording.stop()


class record:
    """Records what is compiled and run inside into a trace at `path`; `%p` in it stands for the process's number.

        with strata.record("run.strata"):
            fast(x)

    Compiles by every backend of `torch.compile` are in it: Strata's with all of its stages, kernels and timed runs, and what PyTorch
    says of each (its graphs, guards, graph breaks, recompiles, generated code). What was compiled before the recording began is
    recorded when it runs, without passes and code, where Strata compiled it; others' is not. `profile`: torch.profiler runs
    meanwhile, and what it measures is in the trace. An exception inside leaves the trace as far as it got. Processes that are forked
    inside are not recorded. There is one recording at a time: StrataError for a second one, and for a path that cannot be written.
    """

    def __init__(self, path, *, profile=False):
        self.path, self.profile, self._recording = _os.fspath(path), profile, None

    def __enter__(self):
        if isinstance(_present, _Recording) and _present is _environment.recording:
            _say("the program records itself: the trace of STRATA_TRACE ends here")
            _environment.stop()
        self._recording = _begin(_with_pid(self.path), "python", self.profile)
        return self

    def __exit__(self, *error):
        recording, self._recording = self._recording, None
        if recording is not None:
            _end(recording)


def _with_pid(path):
    return str(path).replace("%p", str(_os.getpid()))


# ----------------------------------------------------------------------------------------------------------- STRATA_TRACE


class _Starter(_logging.Handler):
    """In a forked process: begins its own trace when something is compiled in it."""

    def emit(self, record):
        from torch._logging import _internal

        _internal.trace_log.removeHandler(self)
        _environment.start()
        _environment.end_with_process()


class _Environment:
    """The recording that STRATA_TRACE asks for: from the import of this package to the end of the process."""

    def __init__(self):
        self.pattern, self.recording = _os.environ.get("STRATA_TRACE", ""), None

    def begin(self):
        if not self.pattern:
            return
        writer = _os.environ.get("STRATA_TRACE_WRITER", "")
        if "%p" not in self.pattern:
            if writer not in ("", str(_os.getpid())):
                return _say(f"'{self.pattern}' is the trace of process {writer}; put %p into STRATA_TRACE to record this one too")
            _os.environ["STRATA_TRACE_WRITER"] = str(_os.getpid())
        self.start()
        _atexit.register(self.stop)

    def start(self):
        try:
            self.recording = _begin(_with_pid(self.pattern), " ".join(getattr(_sys, "orig_argv", _sys.argv)))
        except Exception as error:
            _say(f"nothing is recorded, STRATA_TRACE cannot be used: {error}")

    def stop(self):
        recording, self.recording = self.recording, None
        if recording is not None:
            _end(recording)

    def end_with_process(self):
        """Processes of `multiprocessing` end without the functions of `atexit`."""
        if "multiprocessing.util" in _sys.modules:
            from multiprocessing.util import Finalize

            Finalize(None, self.stop, exitpriority=0)

    def forked(self):
        recorded, self.recording = self.recording, None
        if recorded is None or "%p" not in self.pattern or "torch._logging._internal" not in _sys.modules:
            return
        from torch._logging import _internal

        _internal.trace_log.addHandler(_Starter())


_environment = _Environment()


def _forked():
    """In the child: the trace and its log are the parent's."""
    global _present, _lock
    recording, _present = _present, None
    _lock = _threading.RLock()
    if recording is not None:
        recording.waiting.forget()
        recording.settings.end()
        recording.log.detach()
        recording.profiler = None
    _environment.forked()


if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_forked)


def begin_from_environment():
    """Begins the recording of STRATA_TRACE, if there is one. What goes wrong is said on stderr, and the program goes on."""
    try:
        _environment.begin()
    except StrataError as error:
        _say(str(error))
