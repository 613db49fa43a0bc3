# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One measurement of bench_cpu.py, in a process of its own; prints one line of JSON.

    cpu_worker.py time|compile|memory|warm NAME CASE DTYPE THREADS --fixtures DIR [--contender C] [--seconds S]

time: pairs of contenders take turns call by call; milliseconds, medians. compile: one contender's first call. memory: one
contender's peak, counted by count_memory.cpp, which has to be preloaded. warm: TorchInductor compiles into its cache.
"""
import argparse
import ctypes
import gc
import json
import os
import statistics
import sys
import time

import torch

import cpu_models

# The contenders by name: backend, options of torch.compile.
CONTENDERS = {
    "eager": None,
    "inductor": ("inductor", None),
    "inductor freezing": ("inductor", None),
    "strata": ("strata", None),
    "strata freezing": ("strata", {"freezing": True}),
}
PAIRS = [("strata freezing", "inductor freezing"), ("strata", "inductor"), ("strata", "eager")]
leaves = torch.utils._pytree.tree_leaves


class Contender:
    """A module under one of the compilers. `backend_s`: seconds inside the backend; `first_run_s`: of the first run of what it gave."""

    def __init__(self, name, module, dynamic):
        self.name, self.backend_s, self.first_run_s = name, 0.0, 0.0
        scope = {"module": module}
        # A code object of its own: Dynamo keeps what it compiles with the code.
        exec("def call(*args):\n    return module(*args)", scope)
        self.call = scope["call"]
        self.freezing = name == "inductor freezing"
        if CONTENDERS[name]:
            backend, self.options = CONTENDERS[name]
            self.inner = torch._dynamo.lookup_backend(backend)
            self.call = torch.compile(scope["call"], backend=self._backend, dynamic=True if dynamic else None)

    def _backend(self, graph, inputs):
        start = time.perf_counter()
        made = self.inner(graph, inputs, **({"options": self.options} if self.options else {}))
        self.backend_s += time.perf_counter() - start
        return self._timed_once(made)

    def _timed_once(self, made):
        """The compiled graph, the first run of which is timed. What Dynamo calls afterwards is `made` behind one Python call."""
        state = [True]

        def run(*args):
            if not state:
                return made(*args)
            state.clear()
            start = time.perf_counter()
            result = made(*args)
            self.first_run_s += time.perf_counter() - start
            return result

        return run

    def first_call(self, inputs):
        if not self.freezing:
            return self.call(*inputs)
        with torch._inductor.config.patch(freezing=True):
            return self.call(*inputs)


class Plain(Contender):
    """As a user has it: nothing between Dynamo and what the backend gives."""

    def _timed_once(self, made):
        return made


def tensors(value):
    if hasattr(value, "to_tuple"):
        value = value.to_tuple()
    return [v for v in leaves(value) if isinstance(v, torch.Tensor)]


def difference(values, expected):
    """The largest difference in units of the largest expected value."""
    worst = 0.0
    if [v.shape for v in values] != [v.shape for v in expected]:
        return float("inf")
    for a, b in zip(values, expected):
        if b.numel():
            a, b = a.double(), b.double()
            worst = max(worst, ((a - b).abs().max() / b.abs().max().clamp_min(1e-30)).item())
    return worst


def alternate(one, other, inputs, seconds, clock=time.perf_counter_ns):
    """Medians in milliseconds of the calls of two contenders, which take turns in alternating order."""
    times = ([], [])
    calls = (one.call, other.call)
    for _ in range(3):
        one.call(*inputs), other.call(*inputs)
    end = time.perf_counter() + seconds
    turn = 0
    while turn < 5 or time.perf_counter() < end and turn < 3000:
        for i in ((0, 1), (1, 0))[turn % 2]:
            start = clock()
            _kept = calls[i](*inputs)  # freeing it is not timed
            times[i].append((clock() - start) / 1e6)
            del _kept
        turn += 1
    return [statistics.median(t) for t in times]


def measure_time(module, inputs, options):
    pairs = [(ours, theirs) for ours, theirs in PAIRS if theirs in options.against.split(",")]
    names = dict.fromkeys(["eager", "strata", "strata freezing", *(theirs for _, theirs in pairs)])
    contenders = {name: Plain(name, module, cpu_models.is_dynamic(options.name)) for name in names}
    expected = tensors(contenders["eager"].call(*inputs))
    result = {"ms": {}, "pairs": {}, "difference": {}}
    for name, contender in contenders.items():
        result["difference"][name] = difference(tensors(contender.first_call(inputs)), expected)
    for ours, theirs in pairs:
        pair = alternate(contenders[ours], contenders[theirs], inputs, options.seconds / len(pairs), time.thread_time_ns if options.cpu_time else time.perf_counter_ns)
        result["pairs"][theirs] = pair
        result["ms"].setdefault(ours, pair[0])
        result["ms"][theirs] = pair[1]
    result["left"] = graphs_left()
    return result


def fill_caches(module, inputs, options):
    for name in set(options.against.split(",")) - {"eager"}:
        Plain(name, module, cpu_models.is_dynamic(options.name)).first_call(inputs)
    return {}


def graphs_left():
    """Graphs that PyTorch runs as a whole, and the operators for which it is called in the others."""
    import strata

    reports = strata.reports()
    return sorted({r.reason for r in reports if not r.compiled} | {op for r in reports for op in r.opaque})


def measure_compile(module, inputs, options):
    if options.contender.startswith("inductor"):  # importing is not compiling; it also starts processes that keep the cores busy
        import torch._inductor.compile_fx  # noqa: F401

    contender = Contender(options.contender, module, cpu_models.is_dynamic(options.name))
    start = time.perf_counter()
    contender.first_call(inputs)
    first = time.perf_counter() - start
    times = []
    for _ in range(5):
        start = time.perf_counter()
        contender.call(*inputs)
        times.append(time.perf_counter() - start)
    call = statistics.median(times)
    start_s = contender.backend_s + max(0.0, contender.first_run_s - call)
    return {"first_call_ms": first * 1e3, "backend_ms": contender.backend_s * 1e3, "start_ms": start_s * 1e3, "call_ms": call * 1e3}


def measure_memory(module, inputs, options):
    counter = ctypes.CDLL(None)
    for name in ("counted_live", "counted_peak"):
        getattr(counter, name).restype = ctypes.c_longlong
    contender = Contender(options.contender, module, cpu_models.is_dynamic(options.name))
    gc.collect()
    # Nothing has run yet: what a library allocates for itself in its first product (MKL keeps its scratch memory) counts for whom it is allocated.
    base = counter.counted_live()
    contender.first_call(inputs)
    for _ in range(3):
        contender.call(*inputs)
    gc.collect()
    kept = counter.counted_live()
    counter.counted_reset_peak()
    result = contender.call(*inputs)
    peak = counter.counted_peak()
    del result
    process = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
    return {"kept_bytes": kept - base, "peak_bytes": peak - base, "process_bytes": int(process.split()[1]) << 10}


def refusal(module, inputs):
    """Why PyTorch itself does not run the module (an exported program may convert to types that it was not made for), or None."""
    try:
        module(*inputs)
    except Exception as error:
        return str(error).splitlines()[0][:200]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["time", "compile", "memory", "warm"])
    parser.add_argument("name")
    parser.add_argument("case")
    parser.add_argument("dtype", choices=["float32", "bfloat16"])
    parser.add_argument("threads", type=int)
    parser.add_argument("--fixtures", required=True)
    parser.add_argument("--contender", choices=list(CONTENDERS))
    parser.add_argument("--against", default=",".join(theirs for _, theirs in PAIRS))
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--cpu-time", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.contender is None or options.contender.startswith("strata"):
        import strata  # noqa: F401
    with torch.no_grad():
        module, inputs = cpu_models.make(options.name, options.case, getattr(torch, options.dtype), options.fixtures)
        measure = {"time": measure_time, "compile": measure_compile, "memory": measure_memory, "warm": fill_caches}
        # What eager mode allocates for itself would not count any more for a compiler that needs it as well.
        reason = None if options.what == "memory" else refusal(module, inputs)
        try:
            result = {"refused": reason} if reason else measure[options.what](module, inputs, options)
        except Exception:
            reason = refusal(module, inputs)
            if not reason:
                raise
            result = {"refused": reason}
    print(json.dumps(result))
    sys.stdout.flush()
    os._exit(0)  # what compilers leave running is not waited for


if __name__ == "__main__":
    main()
