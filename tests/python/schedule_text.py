# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The scheduled graph of a trace as text in which names are as they are used first, so that two programs can be compared."""
import os
import re
import subprocess

COMMAND = os.environ.get("STRATA_COMMAND", "strata")


def shown(trace, stage):
    """The stage of the last compile in the trace as text."""
    graphs = subprocess.run([COMMAND, "graphs", trace], capture_output=True, text=True, check=True).stdout
    address = re.findall(r"^ +(\d+/\d+(?:_\d+)?)", graphs, re.M)[-1]
    done = subprocess.run([COMMAND, "show", trace, "--graph", address, "--stage", stage], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{stage} of {address}: {done.stderr}")
    return done.stdout


class Renaming(dict):
    """Names in order of their first use."""

    def __init__(self, letter):
        self.letter = letter

    def __missing__(self, name):
        self[name] = f"{self.letter}{len(self)}"
        return self[name]


def without_checks(plan):
    """The bridge checks indices before they are used, as PyTorch does (an opaque launch that gives them back); a file's program clamps
    them in its kernels. The only launches that differ."""
    for launch in re.findall(r"^launch \d+: opaque_check_index_\d+\(.*\n", plan, re.M):
        checked, result = re.search(r"\((\w+), out (\w+)\)", launch).groups()
        plan = re.sub(rf"^buffer {result}:.*\n", "", plan.replace(launch, ""), flags=re.M)
        plan = re.sub(rf"\b{result}\b", checked, plan)
    return plan


def schedule(trace):
    """Launches, buffers and loops of a trace. Names are as they are used first, numbers of launches are left out."""
    plan, loops = without_checks(shown(trace, "plan")), shown(trace, "loops")
    for result, checked in re.findall(r"^launch \d+: opaque_check_index_\d+\((\w+), out (\w+)\)", shown(trace, "plan"), re.M):
        loops = re.sub(rf"\b{checked}(?=@)", result, loops)
    buffers, symbols = Renaming("b"), Renaming("s")
    known = "|".join(sorted(map(re.escape, re.findall(r"^buffer (\S+):", plan, re.M)), key=len, reverse=True))

    def in_symbols(text):
        return re.sub(r"\b[su]\d+\b", lambda m: symbols[m[0]], text)

    def launch(line):
        name, operands = re.match(r"launch \d+: (\w+?)(?:_\d+)?\((.*)\)", line).groups()
        return f"launch {name}({re.sub(rf'({known})(?=,|$)', lambda m: buffers[m[0]], operands)})"

    def buffer(line):
        line = re.sub(rf"\b({known})(?=:|$)", lambda m: buffers[m[0]], re.sub(r" launches \d+\.\.\d+", "", line))
        return in_symbols(line)

    def kernel(text):
        nodes, axes = Renaming("n"), Renaming("a")
        text = re.sub(r"^(kernel \w+?|# \w+?)(_\d+)?(?=[ :])", r"\1", text)
        for name in re.findall(r"^  axis (\w+)", text, re.M):
            text = re.sub(rf"\b{name}\b", axes[name], text)
        text = re.sub(rf"\b({known})(?=@)", lambda m: buffers[m[0]], text)
        text = re.sub(r"!(\d+)", lambda m: "!" + nodes[m[1]], text)
        text = re.sub(r"(?<=')(\w+)' at [^\"]*", r"\1'", text)  # of frames that an exporter leaves out, a file has the caller's line
        return in_symbols(re.sub(r"(?<=nodes )[\d ]+", lambda m: str(len(m[0].split())), text)).splitlines()

    lines = [launch(line) for line in plan.splitlines() if line.startswith("launch")]
    used = set(buffers.values())
    sizes = [buffer(line) for line in plan.splitlines() if line.startswith("buffer")]
    lines += sorted(line for line in sizes if re.match(r"buffer (\w+):", line)[1] in used)
    for text in re.split(r"\n(?=kernel |# )", loops.strip()):
        if not text.startswith("# opaque_check_index"):
            lines += kernel(text)
    return [line for line in lines if line]
