# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What bench_cpu.py measured, as tables, and beside what is aimed at. Imports nothing of PyTorch."""
import math
import statistics

TIME_HEAD = (
    f"{'program':22}{'case':>14}{'type':>6}{'thr':>4} |{'eager':>9}{'inductor':>9}{'+freeze':>9}{'strata':>9}{'+freeze':>9}  ms |"
    f"{'freeze/freeze':>14}{'/inductor':>10}{'/eager':>8}"
)
COMPILE_HEAD = (
    f"{'program':22}{'case':>14}{'type':>6}{'thr':>4} |{'inductor':>9}{'+freeze':>9}{'strata':>9}{'+freeze':>9}  ms cold start |"
    f"{'ratio':>7}{'+freeze':>9} |{'inductor':>9}{'+freeze':>9}{'strata':>9}{'+freeze':>9}  ms cached start |{'first call':>12}"
)
MEMORY_HEAD = (
    f"{'program':22}{'case':>14}{'type':>6}{'thr':>4} |{'inductor':>10}{'+freeze':>10}{'strata':>10}{'+freeze':>10}  KiB |"
    f"{'ours/theirs':>12}{'+freeze':>9} |{'inductor':>9}{'+freeze':>9}{'strata':>9}{'+freeze':>9}  MiB of the process"
)
SHORT = {"float32": "f32", "bfloat16": "bf16"}
TOLERANCE = {"float32": 2e-3, "bfloat16": 6e-2}
PAGE_KIB = 4  # less is no memory of the machine's
AGAINST = ["inductor freezing", "inductor", "eager"]
COMPILERS = ["inductor", "inductor freezing", "strata", "strata freezing"]


def geomean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def _title(row):
    name, case, dtype, threads = row
    return f"{name:22}{case:>14}{SHORT[dtype]:>6}{threads:>4} |"


def _number(value, width=9):
    return " " * (width - 1) + "-" if value is None else f"{value:{width}.{3 if value < 10 else 2 if value < 100 else 1 if value < 10000 else 0}f}"


# ------------------------------------------------------------------------------------------------------------------ time


def ratio(record, theirs):
    """Their time by ours, or None where they were not measured."""
    ours, other = record["pairs"].get(theirs, (None, None))
    return other / ours if ours else None


def differs(record):
    """The contenders of ours that differ from eager mode more than the type allows, and than twice TorchInductor's like contender."""
    found = record["difference"]
    limit = lambda theirs: max(TOLERANCE[record["row"][2]], 2 * found.get(theirs, 0))
    return [ours for ours, theirs in (("strata", "inductor"), ("strata freezing", "inductor freezing")) if not found.get(ours, 0) <= limit(theirs)]


def time_line(record):
    if "pairs" not in record:
        return f"{_title(record['row'])} {record.get('refused') or record.get('failed')}"
    ms = record["ms"]
    numbers = "".join(_number(ms.get(name)) for name in ("eager", *COMPILERS))
    ratios = "".join(" " * (width - 1) + "-" if r is None else f"{r:{width}.2f}" for r, width in zip((ratio(record, name) for name in AGAINST), (14, 10, 8)))
    notes = [f"{name} differs by {record['difference'][name]:.1e}" for name in differs(record)] + record["left"]
    return f"{_title(record['row'])}{numbers}     |{ratios}  {'; '.join(notes)[:160]}"


def _verdict(fine):
    return "pass" if fine else "FAIL"


def _against(records, theirs, mean_goal, worst_goal):
    ratios = {tuple(r["row"]): ratio(r, theirs) for r in records if theirs in r["pairs"]}
    if not ratios:
        return f"against {theirs:18} not measured"
    mean, worst = geomean(ratios.values()), min(ratios, key=ratios.get)
    below = [row for row in ratios if worst_goal and ratios[row] < worst_goal]
    text = f"against {theirs:18} geomean {mean:5.2f} of {len(ratios)} rows, at least {mean_goal}: {_verdict(mean >= mean_goal)}"
    text += f"; worst {ratios[worst]:.2f} ({' '.join(map(str, worst))})"
    return text + (f", {len(below)} below {worst_goal}: {_verdict(not below)}" if worst_goal else "")


def _time_summary(records):
    timed = [r for r in records if "pairs" in r]
    if not timed:
        return []
    lines = [
        _against(timed, "inductor freezing", 1.1, 0.97),
        _against(timed, "inductor", 1.3, 0.97),
        _against(timed, "eager", 2, None),
    ]
    for theirs in AGAINST:
        by = {}
        for r in (r for r in timed if theirs in r["pairs"]):
            by.setdefault(f"{SHORT[r['row'][2]]}, {r['row'][3]} thr", []).append(ratio(r, theirs))
        if len(by) > 1:
            lines.append(f"  {theirs:18} " + "; ".join(f"{key}: {geomean(values):.2f} ({len(values)})" for key, values in by.items()))
    wrong = [r for r in timed if differs(r)]
    lines.append(f"rows that differ from eager mode: {len(wrong)}: {_verdict(not wrong)} " + ", ".join(" ".join(map(str, r["row"])) for r in wrong))
    failed = [r for r in records if "failed" in r]
    lines += [f"not measured: {' '.join(map(str, r['row']))}: {r['failed']}" for r in failed]
    return lines


# --------------------------------------------------------------------------------------------------------------- compile


def _compiles(results, row):
    """Records by contender, of those that were measured; nothing where Strata was not."""
    found = {name: results.records.get(("compile", *row, name)) for name in COMPILERS}
    found = {name: r for name, r in found.items() if r and "failed" not in r and "refused" not in r["cold"]}
    return found if "strata" in found and "strata freezing" in found else None


def _quotient(found, theirs, ours, key):
    if theirs in found:
        return found[theirs]["cold"][key] / found[ours]["cold"][key]


def compile_line(results, row):
    found = _compiles(results, row)
    if not found:
        return f"{_title(row)} -"
    times = {state: "".join(_number(found[n][state]["start_ms"] if n in found else None) for n in COMPILERS) for state in ("cold", "cached")}
    return (
        f"{_title(row)}{times['cold']}                |{_ratio(_quotient(found, 'inductor', 'strata', 'start_ms'), 7)}"
        f"{_ratio(_quotient(found, 'inductor freezing', 'strata freezing', 'start_ms'), 9)} |{times['cached']}                  "
        f"|{_ratio(_quotient(found, 'inductor', 'strata', 'first_call_ms'), 12)}"
    )


def _ratio(value, width):
    return f"{value:{width}.1f}" if value is not None else f"{'-':>{width}}"


def _compile_summary(results):
    rows = {tuple(r["row"]) for r in results.of("compile")}
    found = [f for f in (_compiles(results, row) for row in sorted(rows)) if f]
    if not found:
        return []
    lines = []
    for ours, theirs in (("strata", "inductor"), ("strata freezing", "inductor freezing")):
        ratios = [q for q in (_quotient(f, theirs, ours, "start_ms") for f in found) if q is not None]
        if not ratios:
            continue
        lines.append(
            f"cold compile, {theirs} / {ours}: geomean {geomean(ratios):.1f}, worst {min(ratios):.1f} of {len(ratios)}, at least 20: {_verdict(min(ratios) >= 20)}"
        )
    starts = [f[name]["cached"]["start_ms"] for f in found for name in ("strata", "strata freezing")]
    below = sum(s < 100 for s in starts)
    lines.append(
        f"cached start: worst {max(starts):.0f} ms, below 300: {_verdict(max(starts) < 300)}; below 100: {below} of {len(starts)}: {_verdict(2 * below > len(starts))}"
    )
    return lines


# ---------------------------------------------------------------------------------------------------------------- memory


def _peaks(results, row, of="peak_bytes"):
    found = {name: results.records.get(("memory", *row, name)) for name in COMPILERS}
    return {n: r[of] / 1024 for n, r in found.items()} if all(r and of in r for r in found.values()) else None


def memory_line(results, row):
    peaks = _peaks(results, row)
    if not peaks:
        return f"{_title(row)} -"
    return (
        f"{_title(row)}{''.join(f'{peaks[n]:10.0f}' for n in COMPILERS)}      |{peaks['strata'] / max(1, peaks['inductor']):12.2f}"
        f"{peaks['strata freezing'] / max(1, peaks['inductor freezing']):9.2f} |"
        + "".join(f"{kib / 1024:9.0f}" for kib in (_peaks(results, row, "process_bytes") or {}).values())
    )


def _memory_summary(results):
    rows, lines = sorted({tuple(r["row"]) for r in results.of("memory")}), []
    for of, title in (("peak_bytes", "peak memory of a call"), ("process_bytes", "peak of the process")):
        peaks = [p for p in (_peaks(results, row, of) for row in rows) if p]
        for ours, theirs in (("strata", "inductor"), ("strata freezing", "inductor freezing")) if peaks else ():
            ratios = [p[ours] / max(1, p[theirs]) for p in peaks]
            above = [p[ours] - p[theirs] for p in peaks]
            beyond = sum(kib > PAGE_KIB for kib in above)
            lines.append(
                f"{title}, {ours} / {theirs}: geomean {geomean(ratios):.2f}, worst {max(ratios):.2f}, "
                f"{sum(r > 1 for r in ratios)} of {len(ratios)} above 1, {beyond} by more than a page of {PAGE_KIB} KiB, by {max(0, max(above)):.0f} KiB at most"
                + (f": {_verdict(beyond == 0)}" if of == "peak_bytes" else "")
            )
    return lines


# ------------------------------------------------------------------------------------------------------------- bandwidth


def bandwidth_line(record):
    name, threads = record["row"]
    theirs = record["ms"].get("inductor")
    return (
        f"{name:24}{threads:>4}{record['ms']['strata']:10.2f}{record['ms']['yardstick']:10.2f}{record['share']:8.2f}"
        f"{record['gb_per_s']:9.1f}{_number(theirs, 10)}  {record['yardstick']}"
    )


BANDWIDTH_HEAD = f"{'kernel':24}{'thr':>4}{'strata ms':>10}{'limit ms':>10}{'share':>8}{'GB/s':>9}{'inductor':>10}  limit"


def _bandwidth_summary(results):
    lines = []
    for record in results.of("bandwidth"):
        if "failed" in record:
            lines.append(f"not measured: {record['row']}: {record['failed']}")
        elif record["share"] < record["goal"]:
            lines.append(f"{record['row'][0]}, {record['row'][1]} threads: {record['share']:.2f} of {record['yardstick']}, at least {record['goal']}: FAIL")
    return lines or ["bandwidth: pass"] if results.of("bandwidth") else []


# ------------------------------------------------------------------------------------------------------------------- all


def everything(results):
    lines = []
    rows = lambda what: list(dict.fromkeys(tuple(r["row"]) for r in results.of(what)))
    if results.of("time"):
        lines += [TIME_HEAD, *(time_line(r) for r in results.of("time")), ""]
    if results.of("compile"):
        lines += [COMPILE_HEAD, *(compile_line(results, row) for row in rows("compile")), ""]
    if results.of("memory"):
        lines += [MEMORY_HEAD, *(memory_line(results, row) for row in rows("memory")), ""]
    if results.of("bandwidth"):
        lines += [BANDWIDTH_HEAD, *(bandwidth_line(r) for r in results.of("bandwidth") if "share" in r), ""]
    return "\n".join(lines)


def summary(results):
    lines = _time_summary(results.of("time")) + _compile_summary(results) + _memory_summary(results) + _bandwidth_summary(results)
    return "\n".join(lines)
