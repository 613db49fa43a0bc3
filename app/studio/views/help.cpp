// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/help.h"

namespace strata::studio {
namespace {

struct Key {
  const char* keys;
  const char* what;
};

constexpr Key kKeys[] = {
    {"Ctrl+O", "open a trace (or drop the file on the window)"},
    {"J, →", "next stage"},
    {"K, ←", "stage before"},
    {"↑ ↓ in the graph", "select an operand, a user"},
    {"Ctrl+F", "find a node by name, operator, type or module"},
    {"F3, Shift+F3", "next match, match before"},
    {"Ctrl+Shift+F", "query nodes and events"},
    {"Ctrl+Shift+O", "compare with a second trace (or drop it with Shift held)"},
    {"F7, F8 (P, N) ; A, B", "in Compare: difference before, next ; the place of a row on that side"},
    {"wheel, + −", "zoom"},
    {"drag", "pan; Shift+wheel pans sideways"},
    {"F or 0", "the whole graph"},
    {"Space", "bring the selected node to the middle"},
    {"H ; [ ] ; Shift+click",
     "highlight the neighbourhood of the selection ; fewer, more steps ; paths to a second node"},
    {"Enter, double click ; &lt; &gt;", "collapse or expand a module ; all modules, by one level"},
    {"M", "the map of a graph larger than the view"},
    {"Esc", "select nothing"},
    {"double click on a line", "select the nodes that come from this line, or that this code computes"},
    {"Alt+←, Alt+→", "back and forward through what was shown and selected"},
    {"W S A D, N P", "in the timeline: zoom, pan, next and last event of this name"},
    {"Ctrl+E", "export the graph as SVG, PNG, PDF or DOT"},
    {"Alt+1 … Alt+7", "graph, changes, source, code, profile, inspector, stages"},
    {"F1", "this page"},
    {"Ctrl+Q", "quit"},
};

}  // namespace

QString help_page() {
  QString html = "<h3>Keys</h3><table cellspacing='6'>";
  for (const Key& key : kKeys) html += QString("<tr><td><b>%1</b></td><td>%2</td></tr>").arg(key.keys, key.what);
  return html +
         "</table><h3>Pages</h3>"
         "<p><b>Overview</b>: what ran, what is most worth fixing, every compile with why it was made again. Links "
         "lead to "
         "the line, the compile or the kernel.</p>"
         "<p><b>Stages</b>: the stages of the compile and the passes between them. Passes that changed nothing are "
         "dimmed.</p>"
         "<p><b>Graph</b>: what was added in this step has a green border and a +, what changed an amber one and a ~. "
         "Dashed frames are kernels: click one to select it.</p>"
         "<p><b>Changes</b>: the same as a list, with what was removed and why, and the rewrites.</p>"
         "<p><b>Inspector</b>: everything known of the selection. Underlined values lead further.</p>"
         "<p><b>Source</b> and <b>Code</b>: the Python lines the selection comes from, and the lines that were made of "
         "it. In the margin of the source stand B for a graph break, R for a recompile, E for an error, G for guards: "
         "point "
         "at them to read why and the way out.</p>"
         "<p><b>Timeline</b>: threads and device streams. Click an event to select its kernel; a line joins a launch "
         "and "
         "what it started.</p>"
         "<p><b>Problems</b>: everything worth fixing, the costliest first. <b>Guards</b>: the compiles of this "
         "function with "
         "the guard that failed before each, and what the compile shown relies on.</p>"
         "<p><b>Profile</b>: where the time of a run went, by kernel, operator, module or line. Click a column to "
         "sort, a "
         "row to select what it stands for, twice to see its line. A kernel's time is divided among the operators it "
         "was made of; * is partly inferred.</p>"
         "<p><b>Roofline</b>: kernels by flops per byte and per second, under what the machine can do. Arrow keys go "
         "through the kernels.</p>"
         "<p><b>Memory</b>: buffers over launches, and what a profile saw allocated. Arrow keys go through the "
         "buffers.</p>"
         "<p><b>Compare</b>: two runs, graphs, compiles or ranks, of this trace or of two. Bars are green where side B "
         "takes less. Enter shows a row's place, A or B shows it on that side.</p>"
         "<p><b>Query</b>: nodes and events by conditions: <tt>target=aten.add* and not module=*.layer.0*</tt>, "
         "<tt>category=kernel duration&gt;1ms</tt>. Pointing at the box shows all keys.</p>";
}

}  // namespace strata::studio
