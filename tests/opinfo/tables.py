# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes of `run_opinfo.py` as text: table of operators and dtypes, totals, failures, work list."""
import collections

OUTCOMES = ("native", "opaque", "left", "failed", "none")


_HOW = {
    "float64": "outside of PyTorch's tolerance, but as close to float64 as PyTorch's result",
    "other of equals": "with indices of other, equal elements",
    "PyTorch's type rules": "in the type of PyTorch's shape rules, which its kernel does not give",
}


def _counts(results):
    counted = collections.Counter(r["outcome"] for r in results)
    return [counted[o] for o in OUTCOMES]


def _by(results, key):
    groups = collections.defaultdict(list)
    for result in results:
        groups[key(result)].append(result)
    return groups


def label(result):
    return result["op"] + ("" if result["variant"] == "call" else f" ({result['variant']})")


def reason_of(result):
    """Why a sample is not native, without what is different from sample to sample."""
    if result["outcome"] == "opaque":
        return "PyTorch is called for " + ", ".join(result["opaque"])
    if result["outcome"] == "left":
        return "left: " + result["text"].split("; ")[0]
    return result["outcome"] + ": " + result["text"]


def table_lines(results, dtypes):
    """One line per operator: native/opaque/left/failed of each dtype."""
    present = [d for d in dtypes if any(r["dtype"] == d for r in results)]
    width = max([len(label(r)) for r in results], default=8)
    yield f"{'operator':{width}}  " + "  ".join(f"{d:>12}" for d in present)
    for name, group in _by(results, label).items():
        cells = _by(group, lambda r: r["dtype"])
        yield f"{name:{width}}  " + "  ".join(
            f"{'/'.join(str(n) for n in _counts(cells[d])[:4]) if cells[d] else '-':>12}" for d in present
        )


def total_rows(results, dtypes):
    """(what, samples, native, opaque, left, failed, none) for each dtype and variant, and over all."""
    for dtype in dtypes:
        group = [r for r in results if r["dtype"] == dtype]
        if group:
            yield (dtype, len(group), *_counts(group))
    for variant, group in _by(results, lambda r: r["variant"]).items():
        yield (f"all, {variant}", len(group), *_counts(group))
    yield ("all", len(results), *_counts(results))


def work_list(results):
    """(operator, samples that are not native, of how many, the most frequent reason), largest first."""
    rows = []
    for name, group in _by(results, label).items():
        open_ones = [r for r in group if r["outcome"] not in ("native", "none")]
        if open_ones:
            reason, _ = collections.Counter(reason_of(r) for r in open_ones).most_common(1)[0]
            rows.append((name, len(open_ones), len(group), reason))
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def failures(results):
    """(operator, dtypes, number, first text) of what failed."""
    for name, group in _by([r for r in results if r["outcome"] == "failed"], label).items():
        dtypes = sorted({r["dtype"] for r in group})
        yield name, dtypes, len(group), group[0]["text"], group[0].get("what", "")


def print_summary(results, given):
    if given.table:
        print("\n".join(table_lines(results, given.dtype)), end="\n\n")
    for name, dtypes, count, text, what in failures(results):
        print(f"FAILED {name} ({', '.join(dtypes)}), {count} samples: {text}\n       {what}")
    print(f"\n{len(results)} of the {given.count} samples that the database has for these operators, dtypes and variants")
    print(f"{'':22}{'samples':>9}" + "".join(f"{o:>9}" for o in OUTCOMES))
    for row in total_rows(results, given.dtype):
        print(f"{row[0]:22}" + "".join(f"{n:9}" for n in row[1:]))
    for how, said in _HOW.items():
        print(f"{sum(r['outcome'] in ('native', 'opaque') and r['text'] == how for r in results)} of them {said}")
    both = [r for r in results if "other" in r]
    if both:
        apart = [r for r in both if r["other"][0] != r["outcome"]]
        print(f"{len(both)} samples both ways, {len(apart)} of them with another outcome")
        for r in apart:
            print(f"  {label(r)} {r['dtype']} {r['sample']}: {r['outcome']} ({r['text']}), other way {r['other'][0]} ({r['other'][1]})")
    print("\nnot native, most samples first:")
    for name, count, of, reason in work_list(results)[:40]:
        print(f"{count:7} of {of:5}  {name}: {reason[:150]}")


def write_markdown(path, results, given, version):
    """The summary as a page of the documentation."""
    lines = [
        "# PyTorch's operator database",
        "",
        f"`tests/opinfo/run_opinfo.py` runs the samples of PyTorch {version}'s operator database through the backend and compares",
        "with PyTorch, under PyTorch's tolerances. *native*: compiled, all of it ours; *opaque*: compiled, with calls of PyTorch;",
        "*left*: PyTorch runs it; *failed*: differs, raises or crashes; *none*: PyTorch itself gives no result. "
        + (f"All {given.count} samples." if not given.samples else f"Of the database's {given.count} samples, at most {given.samples}"),
        *([] if not given.samples else ["of an operator and dtype, evenly spread."]),
        "",
        "| | samples | native | opaque | left | failed | none |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += ["| " + " | ".join(str(v) for v in row) + " |" for row in total_rows(results, given.dtype)]
    failed = list(failures(results))
    lines += ["", "## Failed", ""] + (["None."] if not failed else [])
    lines += [f"- `{name}` ({', '.join(dtypes)}), {count}: {_cell(text)}" for name, dtypes, count, text, _ in failed]
    lines += ["", "## Work list", "", "Operators by the number of samples that are not native, first 60.", ""]
    lines += ["| operator | not native | of | most often because |", "| --- | ---: | ---: | --- |"]
    lines += [f"| `{name}` | {count} | {of} | {_cell(reason)} |" for name, count, of, reason in work_list(results)[:60]]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def _cell(text):
    return text.replace("|", "/").replace("\n", " ")[:140]
