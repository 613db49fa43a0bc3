#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long exported programs take to start, without a cache and with one, as a table: ./dev bench start [MODEL.pt2 ...]

Every start is a process of its own: `strata run MODEL`. "cold" begins with an empty cache folder, "cached" finds what the cold one left. "compile" is
passes, schedule and code together; "ready" has reading the file as well, and what the first run takes longer than a later one; "process" is all of the
process's time, its loading and one run included. Medians over the turns, in milliseconds. Run it on an idle machine.
"""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRATA = os.environ.get("STRATA", f"{ROOT}/build/bin/strata")
COLUMNS = ["compile", "passes", "schedule", "kernels", "libraries", "ready", "process"]


def start(model, cache, options):
    """One process: milliseconds by column, and how many kernels it generated and found."""
    environment = {**os.environ, "STRATA_CACHE_DIR": cache}
    environment.pop("STRATA_CACHE", None)
    command = [STRATA, "run", model, "--threads", str(options.threads), "--json"]
    begin = time.perf_counter()
    once = subprocess.run(command, env=environment, capture_output=True, text=True)
    process = (time.perf_counter() - begin) * 1e3
    if once.returncode:
        sys.exit(f"{model}: {once.stderr.strip()}")
    out = json.loads(once.stdout)
    compiled, code = out["compile"], out["compile"]["code"]
    kernels = code["plan_ns"] + code["cache_ns"] + code["generate_ns"] + code["load_ns"]
    times = {"compile": compiled["total_ns"], "passes": compiled["passes_ns"], "schedule": compiled["schedule_ns"], "kernels": kernels, "libraries": code["library_ns"]}
    return {**{key: ns / 1e6 for key, ns in times.items()}, "process": process, "first": out["run"]["first_ns"] / 1e6, "read": compiled["read_ns"] / 1e6}, code


def steady_ms(model, cache, options):
    command = [STRATA, "run", model, "--threads", str(options.threads), "--repeat", "9", "--json"]
    out = subprocess.run(command, env={**os.environ, "STRATA_CACHE_DIR": cache}, capture_output=True, text=True)
    return json.loads(out.stdout)["run"]["median_ns"] / 1e6


def measure(model, options):
    """Medians of cold and cached starts, and the number of different kernels."""
    turns = {"cold": [], "cached": []}
    for _ in range(options.turns):
        with tempfile.TemporaryDirectory() as cache:
            for kind in turns:
                times, code = start(model, cache, options)
                expected = code["distinct"] if kind == "cold" else 0
                if code["generated"] != expected:
                    sys.exit(f"{model}: the {kind} start generated {code['generated']} of {code['distinct']} kernels, expected {expected}")
                turns[kind].append(times)
            steady = steady_ms(model, cache, options)
            for kind in turns:
                last = turns[kind][-1]
                last["ready"] = last["read"] + last["compile"] + max(0.0, last["first"] - steady)
    return {kind: {c: statistics.median(t[c] for t in all_turns) for c in COLUMNS} for kind, all_turns in turns.items()}, code["distinct"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="default: those of $STRATA_FIXTURES, else of the repository")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    folder = os.environ.get("STRATA_FIXTURES", f"{ROOT}/build/models")
    models = options.models or sorted(glob.glob(f"{folder}/*/*.pt2"))
    print(f"{options.threads} threads, {options.turns} turns, load {os.getloadavg()[0]:.1f}; milliseconds")
    print(f"{'model':20}{'kernels':>8} | cold" + "".join(f"{c:>10}" for c in COLUMNS) + " | cached" + "".join(f"{c:>10}" for c in COLUMNS), flush=True)
    ready = []
    for model in models:
        medians, distinct = measure(model, options)
        cells = {kind: "".join(f"{times[c]:10.1f}" for c in COLUMNS) for kind, times in medians.items()}
        ready.append(medians["cached"]["ready"])
        print(f"{os.path.splitext(os.path.basename(model))[0]:20}{distinct:8} |     {cells['cold']} |       {cells['cached']}", flush=True)
    print(f"cached and ready: worst {max(ready):.0f} ms, below 100 ms: {sum(t < 100 for t in ready)} of {len(ready)}")


if __name__ == "__main__":
    main()
