#!/usr/bin/env python3
"""`strata import` of profiles against Python's json.load of the same file, alternating, as a table: bench_import.py [PROFILE.json ...]

--repeat N FILE first writes FILE's events N times into one JSON object (a 2 GB profile out of a 150 MB one), for memory; json.load is left out then.
Times are medians of the turns and cover the whole command, closed trace file included. Run it on an idle machine.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRATA = os.environ.get("STRATA", f"{ROOT}/build/bin/strata")
LOAD = "import json, sys; print(len(json.load(open(sys.argv[1], 'rb'))['traceEvents']))"


def measured(command):
    """Seconds, MB of memory at most, and what it printed."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return time.monotonic() - start, usage.ru_maxrss / 1024, output


def repeat(path, times, to):
    text = open(path, "rb").read()
    key = b'"traceEvents": ['
    begin, end = text.index(key) + len(key), text.rindex(b"]")
    with open(to, "wb") as out:
        out.write(text[:begin])
        for i in range(times):
            out.write((b"," if i else b"") + text[begin:end].rstrip())
        out.write(text[end:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiles", nargs="+")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    print(f"{'profile':32} {'MB':>7} {'events':>9} {'import s':>9} {'MB/s':>6} {'events/s':>10} {'RSS MB':>7} {'json.load s':>12} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for path in options.profiles:
            name = os.path.basename(path)
            if options.repeat > 1:
                repeat(path, options.repeat, f"{folder}/big.json")
                path = f"{folder}/big.json"
            ours, loads, memory, events = [], [], 0, 0
            for _ in range(options.turns):
                seconds, rss, _ = measured([STRATA, "import", path, "-o", f"{folder}/out.strata"])
                ours.append(seconds)
                memory = max(memory, rss)
                if options.repeat == 1:
                    seconds, _, output = measured([sys.executable, "-c", LOAD, path])
                    loads.append(seconds)
                    events = int(output)
            size, seconds = os.path.getsize(path) / 1e6, statistics.median(ours)
            load = statistics.median(loads) if loads else float("nan")
            print(f"{name[:32]:32} {size:7.0f} {events:9} {seconds:9.2f} {size / seconds:6.0f} {events / seconds:10.0f} {memory:7.0f} {load:12.2f} {load / seconds:6.2f}")


if __name__ == "__main__":
    main()
