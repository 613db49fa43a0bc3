# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that wait for memory, beside what the machine's memory gives: ./dev bench bandwidth [KERNEL ...], and a table of bench_cpu.py.

    PYTHONPATH=build/python python3 tests/bench/bench_bandwidth.py [KERNEL ...] [--threads 1,2] [--inductor] [--work]

Arrays are far larger than the caches. The limit of a kernel is a loop over as many bytes with the same share of reads and writes
(bandwidth.cpp: the best of usual and streaming stores, with and without fetching ahead; no arithmetic but for an addition), which takes turns with it and reads the
same arrays. Freed memory stays with the process, so that results are not written to pages that the kernel has yet to clear, and lies in
huge pages where there are any: how small ones happen to lie makes a difference of a third from run to run. sin2cos2 is
computed beside a loop of vector intrinsics over libmvec's functions, on a million floats.

--work tells how much of that limit arithmetic leaves: loops that move memory with so many multiply-adds of registers alone beside
each vector, as a share of the same loop without any.
"""
import argparse
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def kernels(columns):
    """Name to (function, inputs of n floats, arrays read, arrays written), in units of n floats; lines of so many."""
    import torch
    from torch.nn import functional as F

    flat = lambda n: torch.randn(n)
    rows = lambda n: torch.randn(n // columns, columns)
    weight, bias = torch.randn(columns), torch.randn(columns)
    targets = lambda n: torch.randint(0, columns, (n // columns,))
    return {
        "pointwise": (lambda a, b, c: (a * b + c).relu() * 0.5, lambda n: [flat(n), flat(n), flat(n)], 3, 1),
        "softmax": (lambda x: x.softmax(-1), lambda n: [rows(n)], 1, 1),
        "layer norm": (lambda x, w, b: F.layer_norm(x, (columns,), w, b), lambda n: [rows(n), weight, bias], 1, 1),
        "RMS norm": (lambda x, w: F.rms_norm(x, (columns,), w), lambda n: [rows(n), weight], 1, 1),
        "GELU+bias+residual": (lambda x, b, r: F.gelu(x + b) + r, lambda n: [rows(n), bias, rows(n)], 2, 1),
        "cross entropy": (lambda x, t: F.cross_entropy(x, t), lambda n: [rows(n), targets(n)], 1, 0),
        "transpose": (lambda x: x.t().contiguous(), lambda n: [torch.randn(n // 8192, 8192)], 1, 1),
        "column sum": (lambda x: x.sum(0), lambda n: [rows(n)], 1, 0),
        "sin2cos2": (lambda x: x.sin() ** 2 + x.cos() ** 2, lambda n: [flat(1 << 20)], 1, 1),
    }


# Of glibc: blocks of any size come from a heap that does not shrink, in huge pages where the system gives them.
KEEP_FREED = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(1 << 26), "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
WORK = (0, 4, 8, 16)
NAMES = ["pointwise", "softmax", "layer norm", "RMS norm", "GELU+bias+residual", "cross entropy", "transpose", "column sum", "sin2cos2"]


def limits(path, threads):
    """Name to a function that runs once: memory traffic by (kind of store, whether to fetch ahead, read arrays, written arrays), and sin2cos2."""
    library = ctypes.CDLL(path)
    pointers = lambda tensors: (ctypes.c_void_p * max(1, len(tensors)))(*[t.data_ptr() for t in tensors])

    def traffic(streaming, ahead, reads, writes):
        n = (reads + writes)[0].numel()
        arrays = pointers(reads), len(reads), pointers(writes), len(writes), ctypes.c_long(n), threads
        return lambda: library.move(int(streaming), int(bool(ahead)), *arrays)

    def sin2cos2(x, y):
        return lambda: library.sin2cos2(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), ctypes.c_long(x.numel()), threads)

    return traffic, sin2cos2


def keep_freed():
    """Starts this program again in an environment in which freed memory stays with the process, unless it is in one."""
    if not all(os.environ.get(key) == value for key, value in KEEP_FREED.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **KEEP_FREED})


def alternate(calls, seconds, repeat=1, on_old_pages=False):
    """Medians in milliseconds; every call but the first of a turn finds what the one before left in the caches. With `repeat`, of a call of so many in a row.

    With `on_old_pages`, a call that was given new pages (a result's place had gone to another one) is not counted where there are five others: the system clears
    them, which takes as long as the kernel, or fifty times as long where it has none at hand.
    """
    faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    times, given = {name: [] for name in calls}, {name: [] for name in calls}
    for call in calls.values():
        call()
    names, turn, end = list(calls), 0, time.perf_counter() + seconds
    while turn < 7 or time.perf_counter() < end or (turn < 40 and any(len(values) < 5 for values in times.values())):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            before, start = faults(), time.perf_counter()
            for _ in range(repeat):
                calls[name]()
            took = (time.perf_counter() - start) * 1e3 / repeat
            (given if on_old_pages and faults() - before > 16 else times)[name].append(took)
        turn += 1
    return {name: statistics.median(times[name] if len(times[name]) >= 5 else times[name] + given[name]) for name in names}


def measure_one(name, threads, floats, columns, library, seconds, inductor):
    import torch

    import strata

    torch.set_num_threads(threads)
    function, make, read, written = kernels(columns)[name]
    inputs = make(floats)
    ours = torch.compile(function, backend="strata")
    # Room for results, with some to spare: where the allocator leaves crumbs between them, each would get fresh pages.
    room = [torch.zeros(floats + (1 << 20)) for _ in range(2 + inductor)]
    del room
    expected, got = function(*inputs), ours(*inputs)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5 * expected.abs().max().item())  # as `strata run` compares
    del expected, got
    contenders = {"strata": lambda: ours(*inputs)}
    if inductor:
        theirs = torch.compile(lambda *args: function(*args), backend="inductor")
        contenders["inductor"] = lambda: theirs(*inputs)
    traffic, sin2cos2 = limits(library, threads)
    if name == "sin2cos2":
        size, calls = 1 << 20, {"intrinsics": sin2cos2(inputs[0], torch.empty(1 << 20))}
    else:
        # The very arrays that the kernel reads: how fast memory is depends on where it lies.
        size, reads = floats, [x.view(-1) for x in inputs if x.numel() == floats]
        assert len(reads) == read, f"{name} reads {len(reads)} large arrays"
        writes = [torch.zeros(floats) for _ in range(written)]
        stores = {"usual stores": False, **({"streaming stores": True} if written else {})}
        calls = {f"{name}{tail}": traffic(streaming, tail, reads, writes) for name, streaming in stores.items() for tail in ("", ", fetched ahead")}
    ms = alternate({**contenders, **calls}, seconds, on_old_pages=True)
    best = min(calls, key=lambda key: ms[key])
    yardstick = {"intrinsics": "vector intrinsics"}.get(best, f"{read} read, {written} written, {best}")
    return {
        "row": [name, threads], "ms": {**{key: ms[key] for key in contenders}, "yardstick": ms[best]}, "yardstick": yardstick,
        "share": ms[best] / ms["strata"], "goal": 1 / 1.1 if name == "sin2cos2" else 0.9,
        "gb_per_s": 4 * size * (read + written) / ms["strata"] / 1e6, "left": [r.reason for r in strata.reports() if not r.compiled],
    }


def measure_work(library, floats, threads, seconds):
    """Prints a table; needs huge pages as all here (`keep_freed`)."""
    import torch

    x, y = torch.randn(floats), torch.zeros(floats)
    library = ctypes.CDLL(library)
    print(f"{'multiply-adds a vector':24}{'thr':>4}" + "".join(f"{steps:>8}" for steps in WORK))
    for count in threads:
        for name, to in (("read and written", y.data_ptr()), ("read", None)):
            call = lambda steps: lambda: library.work(steps, ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(to), ctypes.c_long(floats), count)
            ms = alternate({steps: call(steps) for steps in WORK}, seconds)
            print(f"{name:24}{count:>4}" + "".join(f"{ms[0] / ms[steps]:8.2f}" for steps in WORK), flush=True)


def build_library(folder):
    command = ["g++", "-std=c++20", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", f"{HERE}/bandwidth.cpp", "-o", f"{folder}/bandwidth.so"]
    subprocess.run([*command, "-lmvec", "-lm"], check=True)
    return f"{folder}/bandwidth.so"


def measure(options, results):
    """All kernels, each in a process of its own; adds to `results` and prints."""
    import cpu_tables

    print(cpu_tables.BANDWIDTH_HEAD, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        library = build_library(folder)
        for threads in options.threads:
            for name in getattr(options, "kernels", None) or NAMES:
                if results.has("bandwidth", [name, threads]):
                    continue
                command = [*options.prefix.split(), sys.executable, os.path.abspath(__file__), name, "--threads", str(threads), "--library", library]
                command += ["--inductor"] if getattr(options, "inductor", True) else []
                for key in ("megabytes", "columns"):
                    command += [f"--{key}", str(getattr(options, key))] if hasattr(options, key) else []
                done = subprocess.run(command + ["--seconds", str(options.seconds)], capture_output=True, text=True, env={**os.environ, **KEEP_FREED})
                lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
                failed = (done.stderr.strip().splitlines() or ["no result"])[-1]
                record = {"what": "bandwidth", **(json.loads(lines[-1]) if lines else {"row": [name, threads], "failed": failed})}
                results.add(record)
                print(cpu_tables.bandwidth_line(record) if lines else f"{name:24}{threads:>4} {failed}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--threads", default="1,2", help="such as 1,2")
    parser.add_argument("--megabytes", type=int, default=256, help="of one array")
    parser.add_argument("--columns", type=int, default=1024, help="numbers in a line of softmax, norms and their like; a power of two")
    parser.add_argument("--seconds", type=float, default=6, help="of alternating calls per row")
    parser.add_argument("--inductor", action="store_true", help="beside TorchInductor")
    parser.add_argument("--work", action="store_true", help="what arithmetic leaves of the limit, and no kernels")
    parser.add_argument("--json", metavar="FILE", help="results, line by line; what is there is not measured again")
    parser.add_argument("--library", help=argparse.SUPPRESS)  # of the process that measures one kernel
    options = parser.parse_args()
    if unknown := [name for name in options.kernels if name not in NAMES]:
        parser.error(f"there is no {', '.join(unknown)}; there are: {', '.join(NAMES)}")
    if options.library:
        import torch

        with torch.no_grad():
            record = measure_one(options.kernels[0], int(options.threads), options.megabytes << 18, options.columns, options.library, options.seconds, options.inductor)
        print(json.dumps(record), flush=True)
        return
    if options.work:
        keep_freed()
        with tempfile.TemporaryDirectory() as folder:
            measure_work(build_library(folder), options.megabytes << 18, [int(t) for t in options.threads.split(",")], options.seconds)
        return
    import bench_cpu
    import cpu_tables

    options.threads, options.prefix = [int(t) for t in options.threads.split(",")], ""
    results = bench_cpu.Results(options.json)
    measure(options, results)
    print(cpu_tables.summary(results))


if __name__ == "__main__":
    main()
