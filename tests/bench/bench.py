#!/usr/bin/env python3
"""Strata against PyTorch's eager mode on exported programs, alternating, as a table: ./dev bench [MODEL.pt2 ...]

Contenders take turns, each in its own process (their OpenMP runtimes do not share one), with the same number of threads and the same inputs. Each
turn gives the median over its calls; the table shows the median over the turns and ratios of medians. Run it on an idle machine.

PYTHON names the interpreter whose PyTorch is the yardstick (default: /usr/bin/python3, Debian's PyTorch). Without PyTorch the eager column is empty.
"""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STRATA = os.environ.get("STRATA", f"{ROOT}/build/bin/strata")
PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")


def inputs_of(model):
    """The first folder with input_0.npy: beside the model, else below."""
    for folder in [os.path.dirname(model)] + sorted(glob.glob(os.path.dirname(model) + "/*/")):
        files = sorted(glob.glob(os.path.join(folder, "input_*.npy")))
        if files:
            return files
    return []


def command_output(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        return None, (result.stderr.strip().splitlines() or ["failed"])[-1]
    return json.loads(result.stdout), None


def strata(model, files, backend, options):
    command = [STRATA, "run", model, "--backend", backend, "--repeat", str(options.repeat), "--threads", str(options.threads), "--json"]
    out, error = command_output(command + [x for f in files for x in ("--input", f)])
    if error:
        sys.exit(f"{model}: {error}")
    return out["run"]["median_ns"] / 1e6, out["compile"]["total_ns"] / 1e6


def eager(model, files, options):
    command = [PYTHON, f"{HERE}/pt2_eager.py", model, "--threads", str(options.threads), "--repeat", str(options.repeat)]
    out, error = command_output(command + [x for f in files for x in ("--input", f)])
    return (out["median_ms"], out["torch"]) if out else (None, error)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    models = options.models or [f"{ROOT}/build/models/{m}/{m}.pt2" for m in ("cnn_fmnist", "bert")]
    print(f"{options.threads} threads, {options.turns} turns of {options.repeat} calls, load {os.getloadavg()[0]:.1f}")
    print(f"{'model':20} {'eager ms':>9} {'unfused ms':>11} {'strata ms':>10} {'unfused/eager':>14} {'unfused/strata':>15} {'eager/strata':>13} {'compile ms':>11}")
    for model in models:
        files = inputs_of(model)
        times = {"eager": [], "unfused": [], "strata": [], "compile": []}
        note = None
        for _ in range(options.turns):
            t, note = eager(model, files, options)
            if t is not None:
                times["eager"].append(t)
            times["unfused"].append(strata(model, files, "unfused", options)[0])
            t, compile_ms = strata(model, files, "strata", options)
            times["strata"].append(t)
            times["compile"].append(compile_ms)
        m = {k: statistics.median(v) if v else None for k, v in times.items()}
        ratio = lambda a, b: f"{m[a] / m[b]:.2f}" if m[a] and m[b] else "-"
        name = os.path.basename(model).removesuffix(".pt2")
        e = f"{m['eager']:.3f}" if m["eager"] else "-"
        print(f"{name:20} {e:>9} {m['unfused']:11.3f} {m['strata']:10.3f} {ratio('unfused', 'eager'):>14} {ratio('unfused', 'strata'):>15} "
              f"{ratio('eager', 'strata'):>13} {m['compile']:11.1f}   {'PyTorch ' + note if m['eager'] else note}", flush=True)


if __name__ == "__main__":
    main()
