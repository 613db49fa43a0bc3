// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/report_style.h"

namespace strata::report {

const char* const kStyle = R"css(
:root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --dim: #626b76; --line: #d5dae0; --card: #f5f7f9;
        --accent: #0b62c4; --warn: #a15c00; --bad: #b3261e; --good: #1a7f37; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171b; --text: #dde2e8; --dim: #939ca7; --line: #333a43; --card: #1c2127; --accent: #6cb0ff;
          --warn: #e3a74a; --bad: #ff8a80; --good: #67c887; }
  .picture svg { filter: invert(0.91) hue-rotate(180deg); }
}
body { background: var(--back); color: var(--text); font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; margin: 0 auto;
       max-width: 1200px; padding: 16px 24px 80px; }
h1 { font-size: 22px; } h2 { font-size: 17px; margin: 32px 0 8px; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; } th { text-align: left; color: var(--dim); font-weight: 600; }
th, td { padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
code, pre, .mono { font: 12.5px/1.5 "DejaVu Sans Mono", ui-monospace, monospace; }
pre { background: var(--card); padding: 8px 12px; overflow-x: auto; border-radius: 6px; margin: 6px 0; }
details { margin: 6px 0; } summary { cursor: pointer; padding: 4px 0; } .dim { color: var(--dim); }
.facts { display: flex; flex-wrap: wrap; gap: 8px 28px; padding: 0; margin: 12px 0; list-style: none; }
.facts b { display: block; font-size: 19px; } .picture { overflow: auto; max-height: 80vh; border: 1px solid var(--line);
           border-radius: 6px; } .picture svg { display: block; }
.ok { color: var(--good); } .failed { color: var(--bad); } .restarted, .skipped, .unfinished { color: var(--warn); }
.mark { color: var(--warn); } nav { position: sticky; top: 0; background: var(--back); padding: 6px 0; display: flex; flex-wrap: wrap;
      align-items: baseline; border-bottom: 1px solid var(--line); }
#search { margin-left: auto; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
          border-radius: 6px; padding: 3px 10px; min-width: 220px; }
.off { display: none !important; } h2 { scroll-margin-top: 48px; }
@media print { nav { display: none; } details > * { display: block; } }
nav a { color: var(--accent); margin-right: 16px; } .bar { background: var(--accent); height: 8px;
        border-radius: 2px; min-width: 1px; }
)css";

const char* const kScript = R"js(
"use strict";
const box = document.getElementById("search"), found = document.getElementById("found");
const rows = Array.from(document.querySelectorAll("tbody tr"));
const folds = Array.from(document.querySelectorAll("details"));
const opened = folds.map(f => f.open);
const has = (e, text) => e.textContent.toLowerCase().includes(text);
const filter = () => {
  const text = box.value.trim().toLowerCase();
  let count = 0;
  for (const row of rows) {
    const shown = text === "" || has(row, text);
    row.classList.toggle("off", !shown);
    if (shown) count += 1;
  }
  folds.forEach((fold, i) => {
    const shown = text === "" || has(fold, text);
    if (!fold.closest("tr")) fold.classList.toggle("off", !shown);
    fold.open = text === "" ? opened[i] : shown;
    if (shown && fold.querySelector("table, pre") && has(fold.querySelector("summary"), text))
      fold.querySelectorAll("tr.off").forEach(row => row.classList.remove("off"));
  });
  found.textContent = text === "" ? "" : count === 0 ? "nothing in the tables" : count + " rows";
};
let wait = 0;
box.hidden = false;
box.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(filter, 150); });
document.addEventListener("keydown", e => {
  if (e.key === "/" && document.activeElement !== box) { e.preventDefault(); box.focus(); }
  if (e.key === "Escape" && document.activeElement === box) { box.value = ""; filter(); }
});
)js";

const char* const kScriptHash = "sha256-diQtewzpRTSfKPCzmkS55DJ4PpQEHeF/3WE/4k1poXA=";

}  // namespace strata::report
