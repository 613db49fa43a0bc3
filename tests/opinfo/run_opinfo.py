#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every sample of PyTorch's operator database through the Strata backend, compared with PyTorch under PyTorch's tolerances.

    run_opinfo.py --jobs 3 --json out.json            everything
    run_opinfo.py --only 'nn.functional.*' --dtype float32 --samples 4
    run_opinfo.py --fixed                             the small subset that the tests run

Each sample is one of: native (compiled, all of it ours) and agrees; opaque (compiled, with calls of PyTorch for the operators named) and
agrees; left (PyTorch runs all of it: why); failed (differs, raises, crashes, takes too long); none (PyTorch itself gives no result).
Every operator runs in a process of its own, under limits of time and memory. Exit code 1 when a sample failed, 77 without PyTorch 2.4.
"""
import argparse
import collections
import fnmatch
import importlib.util
import json
import os
import random
import resource
import selectors
import signal
import sys
import tempfile
import time

if importlib.util.find_spec("torch") is None:
    print("skipped: this Python has no PyTorch (set STRATA_TORCH_PYTHON to one that has 2.4 or later)")
    sys.exit(77)

import torch

if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 4):
    print(f"skipped: PyTorch {torch.__version__} has no backends of this kind; 2.4 or later is needed")
    sys.exit(77)

try:
    __import__("strata")
except ImportError as error:
    print(f"skipped: the package was built for another Python ({error})")
    sys.exit(77)

import samples as opinfo
from tables import print_summary, write_markdown

# What the tests run: common operators of every family, and those that were wrong once.
FIXED = """abs add addmm addmv amax any arange argmax baddbmm bmm cat ceil chunk clamp clone cos cumsum div eq erf exp expand flatten
flip floor floor_divide full_like gather ge index_select isnan le linspace log logical_and logical_not lt masked_fill matmul
maximum mean mul ne neg permute pow reciprocal remainder repeat reshape rsqrt select sigmoid sign sin slice split sqrt
squeeze stack sub sum tanh transpose tril triu unbind unsqueeze where nn.functional.embedding nn.functional.gelu
nn.functional.layer_norm nn.functional.linear nn.functional.relu nn.functional.silu gather index_add index_fill
nn.functional.instance_norm nn.functional.pad.circular nn.functional.pad.reflect nn.functional.pad.replicate sort square
take_along_dim topk""".split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="operators at once")
    parser.add_argument("--only", action="append", default=[], help="operators by name, with * and ?; may be repeated")
    parser.add_argument("--dtype", action="append", default=[], choices=opinfo.REAL + opinfo.COMPLEX, help="may be repeated")
    parser.add_argument("--variant", action="append", default=[], choices=opinfo.VARIANTS, help="default: call")
    parser.add_argument("--samples", type=int, default=0, help="per operator, dtype and variant, evenly spread; 0: all")
    parser.add_argument("--fixed", action="store_true", help="the subset that the tests run")
    parser.add_argument("--dynamo", action="store_true", help="through torch.compile, not the backend alone")
    parser.add_argument("--agree", type=int, default=0, metavar="N", help="also N random samples through torch.compile: same outcome?")
    parser.add_argument("--backend", default="strata", choices=("strata", "unfused", "interpret"))
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=60, help="limit for one sample")
    parser.add_argument("--memory", type=int, default=8000, help="limit for one process, in MB of address space")
    parser.add_argument("--json", help="writes all outcomes")
    parser.add_argument("--markdown", help="writes totals, failures and work list")
    parser.add_argument("--table", action="store_true", help="prints the table of operators and dtypes")
    given = parser.parse_args()
    given.seed = random.SystemRandom().randrange(2**31) if given.seed is None else given.seed
    if given.fixed:
        given.only, given.samples = given.only or FIXED, given.samples or 2
        given.dtype = given.dtype or ["float32", "int64", "bool"]
    given.dtype = given.dtype or list(opinfo.REAL + opinfo.COMPLEX)
    given.variant = given.variant or ["call"]
    return given


def chosen(count, limit):
    """Indices of the samples to run."""
    if not limit or count <= limit:
        return range(count)
    return sorted({round(i * (count - 1) / max(limit - 1, 1)) for i in range(limit)})


# ---------------------------------------------------------------------------------------------------------------- worker


def work(op, given, after, send):
    """All samples of one operator behind position `after`; tells before and after each."""
    torch.set_num_threads(1)
    options, picks = {"threads": 1, "backend": given.backend}, random.Random(f"{given.seed} {opinfo.name_of(op)}")
    position = 0
    for dtype_name in given.dtype:
        dtype = getattr(torch, dtype_name)
        if dtype not in op.supported_dtypes("cpu"):
            continue
        for variant in given.variant:
            send({"begin": position, "dtype": dtype_name, "variant": variant, "sample": -1})
            try:
                found = opinfo.samples_of(op, dtype, variant, given.seed)
            except Exception as error:
                if position > after:
                    send({"end": position, "outcome": "none", "text": f"no samples: {error}"[:200], "opaque": []})
                position += 1
                continue
            send({"count": len(found), "dtype": dtype_name, "variant": variant})
            for index in chosen(len(found), given.samples):
                if position > after:
                    send({"begin": position, "dtype": dtype_name, "variant": variant, "sample": index})
                    outcome, text, opaque = opinfo.run(op, variant, found[index], given.dynamo, options)
                    end = {"end": position, "outcome": outcome, "text": text, "opaque": opaque}
                    if outcome == "failed":
                        end["what"] = found[index].summary()[:400]
                    if picks.random() < given.share:
                        other = opinfo.run(op, variant, found[index], not given.dynamo, options)
                        end["other"] = [other[0], other[1]]
                    send(end)
                position += 1


class Worker:
    """A process for one operator. A crash is a failed sample, and another process goes on behind it."""

    def __init__(self, name, op, given):
        self.name, self.op, self.given = name, op, given
        self.results, self.after, self.crashes, self.counts = [], -1, 0, {}
        self.start()

    def start(self):
        self.errors = tempfile.TemporaryFile()
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(read)
            self.child(write)
        os.close(write)
        self.pipe, self.rest, self.begun, self.since = read, b"", None, time.monotonic()

    def child(self, write):
        code = 1
        try:
            os.setpgid(0, 0)
            limit = self.given.memory << 20
            if "asan" not in os.environ.get("LD_PRELOAD", ""):  # which reserves more than any machine has
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream, target in ((0, nothing), (1, nothing), (2, self.errors.fileno())):
                os.dup2(target, stream)

            def send(message):
                data = (json.dumps(message) + "\n").encode()
                while data:
                    data = data[os.write(write, data) :]

            work(self.op, self.given, self.after, send)
            send({"done": True})
            code = 0
        except BaseException as error:  # nothing of the parent may run in here
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(code)

    def read(self):
        """Takes what has come. False when the process is gone."""
        data = os.read(self.pipe, 1 << 16)
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            self.take(json.loads(line))
        return bool(data)

    def finish(self):
        """After the last read; whether the operator came to its end."""
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pipe)
        if self.begun is None and status == 0:
            return True
        self.crashed(status)
        return False

    def take(self, message):
        self.since = time.monotonic()
        if "begin" in message:
            self.begun = message
        elif "count" in message:
            self.counts[message["dtype"], message["variant"]] = message["count"]
        elif "end" in message:
            self.results.append(dict(self.begun, op=self.name, **message))
            self.after, self.begun = message["end"], {}
            self.tell(self.results[-1])
        else:
            self.begun = None

    def tell(self, result):
        """The first failures of an operator, as they come."""
        self.told = getattr(self, "told", 0) + (result["outcome"] == "failed")
        if result["outcome"] == "failed" and self.told <= 2:
            print(f"opinfo: {self.name} {result['dtype']} sample {result['sample']} failed: {result['text'][:200]}", file=sys.stderr)

    def crashed(self, status):
        self.errors.seek(0)
        lines = [line for line in self.errors.read().decode(errors="replace").splitlines() if line.strip()]
        signal_number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        what = f"killed by {signal.Signals(signal_number).name}" if signal_number else f"process ended with code {os.WEXITSTATUS(status)}"
        if getattr(self, "slow", False):
            what, self.slow = f"takes more than {self.given.seconds:.0f} s", False
        begun = self.begun or {"begin": self.after + 1, "dtype": "?", "variant": "?", "sample": -1}
        text = what + (": " + lines[-1][:200] if lines else "")
        self.results.append(dict(begun, op=self.name, end=begun["begin"], outcome="failed", text=text, opaque=[], crash=True))
        self.tell(self.results[-1])
        self.after = max(self.after, begun["begin"])
        self.crashes += 1

    def check_time(self):
        if time.monotonic() - self.since > self.given.seconds and not getattr(self, "slow", False):
            self.slow = True
            os.killpg(self.pid, signal.SIGKILL)


def run_all(given, operators):
    """Every outcome, and the number of samples that the database has. An operator that has crashed 40 times is given up, and it is said."""
    waiting, running, done = collections.deque(operators.items()), {}, []
    selector = selectors.DefaultSelector()
    began, finished, shown, count = time.monotonic(), 0, 0.0, 0

    def enter(worker):
        running[worker.pipe] = worker
        selector.register(worker.pipe, selectors.EVENT_READ)

    while waiting or running:
        while waiting and len(running) < given.jobs:
            enter(Worker(*waiting.popleft(), given))
        for key, _ in selector.select(timeout=1):
            worker, descriptor = running[key.fd], key.fd
            if worker.read():
                continue
            selector.unregister(descriptor)  # before it is closed: other processes hold copies
            del running[descriptor]
            ended = worker.finish()
            if not ended and worker.crashes < 40:
                worker.start()
                enter(worker)
                continue
            if not ended:
                print(f"opinfo: {worker.name} crashed {worker.crashes} times; its other samples are not run", file=sys.stderr)
            done += worker.results
            count += sum(worker.counts.values())
            finished += 1
        for worker in running.values():
            worker.check_time()
        if time.monotonic() - shown > (2 if sys.stderr.isatty() else 30):
            shown = time.monotonic()
            names = ", ".join(w.name for w in running.values())
            failed = sum(r["outcome"] == "failed" for r in done)
            print(f"opinfo: {finished}/{len(operators)} operators, {len(done)} samples, {failed} failed, {shown - began:.0f} s: {names}",
                  file=sys.stderr, flush=True)
    return done, count


def main():
    given = arguments()
    operators = opinfo.database()
    if given.only:
        operators = {n: op for n, op in operators.items() if any(fnmatch.fnmatchcase(n, p) for p in given.only)}
    if not operators:
        print(f"opinfo: no operator is called {', '.join(given.only)}", file=sys.stderr)
        return 2
    about = len(operators) * len(given.dtype) * len(given.variant) * min(given.samples or 8, 8) / 2  # not all exist
    given.share = min(1.0, given.agree / about)
    print(f"opinfo: PyTorch {torch.__version__}, {len(operators)} operators, seed {given.seed}", file=sys.stderr)
    began = time.monotonic()
    results, given.count = run_all(given, operators)
    results.sort(key=lambda r: (r["op"], r["end"]))
    if given.json:
        with open(given.json, "w") as file:
            json.dump({"torch": torch.__version__, "seed": given.seed, "dtypes": given.dtype, "variants": given.variant,
                       "samples": given.samples, "in_database": given.count, "dynamo": given.dynamo, "results": results}, file, indent=0)
    if given.markdown:
        write_markdown(given.markdown, results, given, torch.__version__)
    print_summary(results, given)
    print(f"{time.monotonic() - began:.0f} s, seed {given.seed}")
    return 1 if any(r["outcome"] == "failed" for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
