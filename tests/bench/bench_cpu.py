#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Strata against TorchInductor and eager mode through torch.compile, as tables: ./dev bench cpu [MODEL ...]

Programs: exported ones of --fixtures (default: $STRATA_FIXTURES, else the two of the repository) with their own inputs, and the
networks of tests/bridge/models.py at --batches; named as timm:resnet10t or "timm:*", also those that tests/opinfo/run_networks.py builds.
Every row is measured in a process of its own, in which pairs of contenders take turns call by call: Strata with freezing and
TorchInductor with freezing, Strata and TorchInductor, Strata and eager mode. Figures are medians and ratios of medians; above 1 Strata
is faster.

Compile: a fresh process per contender, without caches (cold) and as a second process with them (cached). "start" is the time in the
backend and what the first run takes longer than a later one; "first call" has Dynamo's tracing as well, the same for all contenders.
Memory: peak of a call in a fresh process, beyond the module, its weights and inputs: intermediates, results, packed weights, scratch;
and beside it the peak of the whole process, which has the compilers in it.
Compiled code comes from the caches, so that what code generators keep is not counted, Strata's in this process as little as
TorchInductor's in others.
Bandwidth: bench_bandwidth.py. Run it on an idle machine. What is measured is kept in --json FILE, line by line, and not measured again.
"""
import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import bench_bandwidth
import cpu_models
import cpu_tables

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COMPILERS = ["inductor", "inductor freezing", "strata", "strata freezing"]
QUICK = ["bert", "resnet18", "gpt2", "mobilenet_v3_small", "cnn_fmnist", "t5", "whisper", "segformer", "lstm_loop", "squeeze", "mixer", "autoencoder"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="names; default: with --full all, else a dozen")
    parser.add_argument("--fixtures", default=os.environ.get("STRATA_FIXTURES", f"{ROOT}/build/models"))
    parser.add_argument("--what", help="default time, with --full all of it; of time, compile, memory, bandwidth, separated by commas; or all")
    parser.add_argument("--full", action="store_true", help="all programs, threads 1 and 2, batches 1 and 8, float32 and bfloat16, all of --what")
    parser.add_argument("--threads", help="such as 1,2; default 2")
    parser.add_argument("--batches", help="of the networks; default 1")
    parser.add_argument("--dtypes", help="default float32")
    parser.add_argument(
        "--against", default=",".join(cpu_tables.AGAINST), help="of the contenders, separated by commas; eager alone needs no C++ compiler and a tenth of the time"
    )
    parser.add_argument("--seconds", type=float, default=6, help="of alternating calls per row")
    parser.add_argument("--cpu-time", action="store_true", help="of the calling thread, with one thread: rough figures on a machine that is not idle")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2), help="TorchInductor compiles ahead of the timing in so many processes")
    parser.add_argument("--prefix", default="", help="a command put before every measuring process, such as taskset")
    parser.add_argument("--json", metavar="FILE", help="results, line by line; what is there is not measured again")
    parser.add_argument("--list", action="store_true", help="print the rows, measure nothing")
    parser.add_argument("--show", action="store_true", help="print the tables of --json, measure nothing")
    options = parser.parse_args()
    listed = lambda text, quick, full: (text or (full if options.full else quick)).split(",")
    options.threads = [int(t) for t in listed(options.threads, "2", "1,2")]
    options.batches = listed(options.batches, "1", "1,8")
    options.dtypes = listed(options.dtypes, "float32", "float32,bfloat16")
    if not set(options.against.split(",")) <= set(cpu_tables.AGAINST):
        parser.error(f"--against knows {', '.join(cpu_tables.AGAINST)}; there is {options.against}")
    if options.cpu_time and options.threads != [1]:
        parser.error("--cpu-time is the time of one thread: add --threads 1")
    what = options.what or ("all" if options.full else "time")
    options.what = ["time", "compile", "memory", "bandwidth"] if what == "all" else what.split(",")
    return options


def rows_of(options):
    """What is measured, as (name, case, dtype, threads)."""
    known = cpu_models.programs(options.fixtures)
    names = options.models or [name for name in known if options.full or name in QUICK]
    found = {name: cpu_models.library_networks(name) if ":" in name else [name] if name in known else [] for name in names}
    unknown = [name for name in names if not found[name]]
    if unknown:
        sys.exit(f"there is no {', '.join(unknown)}; there are: {', '.join(known)}")
    for name in itertools.chain(*found.values()):
        cases = options.batches
        if cpu_models.is_exported(known.get(name, name)):
            folders = [os.path.basename(f.rstrip("/")) for f in cpu_models.case_folders(known[name])]
            cases = folders if cpu_models.is_dynamic(name) else ["own"]
        for case in cases:
            for dtype in options.dtypes:
                for threads in options.threads:
                    yield name, case, dtype, threads


def worker(options, what, row, environment=(), more=(), prefix=True):
    """The JSON of a measuring process, or {"failed": why}."""
    command = (options.prefix.split() if prefix else []) + [sys.executable, f"{HERE}/cpu_worker.py", what, *map(str, row)]
    command += ["--fixtures", options.fixtures, *more]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **dict(environment)})
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    if result.returncode == 0 and lines:
        return json.loads(lines[-1])
    return {"failed": (result.stderr.strip().splitlines() or [f"exit status {result.returncode}"])[-1][:300]}


class Results:
    """Records by key, kept in a file."""

    def __init__(self, path):
        self.path, self.records = path, {}
        if path and os.path.exists(path):
            for line in open(path):
                record = json.loads(line)
                self.records[self._key(record)] = record

    @staticmethod
    def _key(record):
        return record["what"], *record["row"], record.get("contender", "")

    def has(self, what, row, contender=""):
        found = self.records.get((what, *row, contender))
        return found is not None and "failed" not in found

    def has_pairs(self, row, against):
        found = self.records.get(("time", *row, ""), {})
        return "refused" in found or set(against) <= set(found.get("pairs", ()))

    def add(self, record):
        self.records[self._key(record)] = record
        if self.path:
            with open(self.path, "a") as file:
                file.write(json.dumps(record) + "\n")

    def of(self, what):
        return [record for record in self.records.values() if record["what"] == what]


def caches_in(folder):
    return {"TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor", "STRATA_CACHE_DIR": f"{folder}/strata"}


def measure_times(options, rows, results, kept):
    against = options.against.split(",")
    wanted = [row for row in rows if not results.has_pairs(row, against)]
    # TorchInductor's C++ compiler is what takes long: its results are in the cache when the timing begins.
    with ThreadPoolExecutor(options.jobs) as pool:
        environment = {**caches_in(kept), "OMP_WAIT_POLICY": "passive"}
        compiled = wanted if set(against) - {"eager"} else []
        warm = lambda row: worker(options, "warm", row, environment.items(), ["--against", options.against], False)
        for done, (row, _) in enumerate(zip(compiled, pool.map(warm, compiled)), 1):
            print(f"compiled ahead {done} of {len(compiled)}: {' '.join(map(str, row))}", file=sys.stderr, flush=True)
    for row in wanted:
        time_row(options, row, results, kept)


def time_row(options, row, results, kept):
    found = worker(options, "time", row, caches_in(kept).items(), ["--seconds", str(options.seconds), "--against", options.against] + ["--cpu-time"] * options.cpu_time)
    results.add({"what": "time", "row": row, **found})
    print(cpu_tables.time_line(results.records["time", *row, ""]), flush=True)


def compilers(options):
    """Strata, and of TorchInductor's what it is measured against."""
    return [name for name in COMPILERS if name.startswith("strata") or name in options.against.split(",")]


def measure_compiles(options, rows, results):
    seed = seeded_cache(options) if "inductor" in options.against else None
    for row in rows:
        for contender in compilers(options):
            if results.has("compile", row, contender):
                continue
            with tempfile.TemporaryDirectory() as folder:
                if "inductor" in contender:
                    shutil.copytree(seed.name, f"{folder}/inductor")
                else:
                    os.mkdir(f"{folder}/strata")
                more = ["--contender", contender]
                cold = {**caches_in(folder), "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", "STRATA_CACHE": "off"}
                record = {"what": "compile", "row": row, "contender": contender, "cold": worker(options, "compile", row, cold.items(), more)}
                if "inductor" in contender:
                    shutil.rmtree(f"{folder}/inductor")
                    shutil.copytree(seed.name, f"{folder}/inductor")
                worker(options, "compile", row, caches_in(folder).items(), more, False)
                record["cached"] = worker(options, "compile", row, caches_in(folder).items(), more)
                failed = record["cold"].get("failed") or record["cached"].get("failed")
                results.add({**record, **({"failed": failed} if failed else {})})
        print(cpu_tables.compile_line(results, row), flush=True)
    if seed:
        seed.cleanup()


def seeded_cache(options):
    """A cache of TorchInductor's with its precompiled header and what it finds out about the machine, and nothing else."""
    folder = tempfile.TemporaryDirectory()
    code = "import torch; torch.compile(lambda x: x.sin() + 1)(torch.rand(1000))"
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": folder.name}
    subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    return folder


def measure_memory(options, rows, results, kept):
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/count_memory.so"
        subprocess.run(["g++", "-std=c++20", "-O2", "-shared", "-fPIC", f"{HERE}/count_memory.cpp", "-o", library], check=True)
        for row in rows:
            for contender in COMPILERS:
                if not results.has("memory", row, contender):
                    environment = {**caches_in(kept), "LD_PRELOAD": library}
                    for _fills_the_caches in (True, False):
                        found = worker(options, "memory", row, environment.items(), ["--contender", contender], False)
                    results.add({"what": "memory", "row": row, "contender": contender, **found})
            print(cpu_tables.memory_line(results, row), flush=True)


def main():
    options = parse()
    rows = list(rows_of(options))
    if options.list:
        print("\n".join(" ".join(map(str, row)) for row in rows))
        return
    results = Results(options.json)
    if not options.show:
        with tempfile.TemporaryDirectory() as folder:
            kept = os.environ.get("STRATA_BENCH_CACHE", folder)
            if "time" in options.what:
                print(cpu_tables.TIME_HEAD, flush=True)
                measure_times(options, rows, results, kept)
            if "compile" in options.what:
                print(cpu_tables.COMPILE_HEAD, flush=True)
                measure_compiles(options, rows, results)
            if "memory" in options.what:
                print(cpu_tables.MEMORY_HEAD, flush=True)
                measure_memory(options, rows, results, kept)
            if "bandwidth" in options.what:
                bench_bandwidth.measure(options, results)
    if options.show:
        print(cpu_tables.everything(results))
    print(cpu_tables.summary(results))


if __name__ == "__main__":
    main()
