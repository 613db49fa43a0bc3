// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/help.h"

#include <QAction>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>
#include <QShortcut>
#include <algorithm>
#include <functional>

namespace strata::studio {
namespace {

constexpr HelpKey kRows = {"↑ ↓", "another row, and with it what it stands for"};
constexpr HelpKey kSort = {"click on a column", "sort by it; again, the other way round"};
constexpr HelpKey kCopy = {"Ctrl+C ; right click", "copy the selected rows as text ; more to copy"};

const std::vector<PageHelp> kPages = {
    {"overview",
     "Overview",
     "What ran, how long it compiled, the things most worth fixing, and every compile of every function.",
     "The first things named cost most. Each says what happened, on which line, what it cost and the way out. Below, "
     "a compile that was made again names the guard that failed before it. Everything underlined leads to its place.",
     {{"Tab, Enter", "the next link, follow it"}, {"Ctrl+C", "copy what is marked"}}},
    {"graph",
     "Graph",
     "The graph of one stage: boxes are nodes, the text on an edge is dtype and shape of the value.",
     "A green border and + was added in this step, an amber one and ~ changed. Dashed frames are kernels or modules, "
     "as "
     "<i>Group</i> says. A map in the corner and a strip at the right show where you are in a large graph. What is not "
     "lit when something is highlighted is dimmed, not gone.",
     {{"→ ; ←", "next stage ; stage before"},
      {"Home ; End", "the first stage ; the last"},
      {"↑ ; ↓", "select an operand ; a user"},
      {"+ ; − ; wheel", "zoom in ; zoom out ; both"},
      {"drag ; Shift+wheel", "move ; move sideways"},
      {"F or 0", "the whole graph"},
      {"Space", "the selected node to the middle"},
      {"H ; [ ; ]", "highlight the neighbourhood ; of fewer steps ; of more"},
      {"Shift+click", "all paths from the selected node to this one"},
      {"Enter, double click", "collapse or expand a module"},
      {"< ; >", "collapse ; expand all modules by one level"},
      {"M", "the map"},
      {"Esc", "select nothing"},
      {"Ctrl+C ; right click", "copy the node as a line of FX ; its neighbourhood, the whole stage"}}},
    {"changes",
     "Changes",
     "What the step did: nodes added, removed and changed, and the rewrites that did it.",
     "Each row has the rule and the reason. A row leads to its node; of a removed node, to what stands in its place. A "
     "row of the rewrites shows the graph after that rewrite.",
     {kRows, kSort, kCopy}},
    {"diff",
     "Text diff",
     "The graph as text against that of the step before.",
     "Lines of the same node belong together, also when it was renamed or moved. Green lines came (+), red ones went "
     "(−), "
     "amber ones changed (~), with the words that differ marked; ↰ and ↳ stand where a line moved from and to. Runs "
     "without a difference are folded: click one to see it. A click on a line selects its node.",
     {{"N ; P", "next ; last difference"},
      {"↑ ↓ ; Enter", "another line ; select its node, or unfold"},
      {"Ctrl+C", "copy all as text"}}},
    {"diff",
     "Text diff",
     "The graph before and after the step as text, line by line and word by word.",
     "Lines that stand on one side only were added or removed; in lines that stand on both, the words that differ are "
     "marked.",
     {{"↑ ↓", "another line"}, {"Ctrl+C ; right click", "copy what is marked ; everything"}}},
    {"inspector",
     "Inspector",
     "Everything that is known of the selection.",
     "Operands and users, the Python stack, what it was made from and what became of it, rewrites, fusion decisions "
     "with "
     "the reason of each. Underlined values lead further.",
     {{"↑ ↓ ; → ←", "another field ; open and close a part"}, {"Enter", "follow an underlined value"}, kCopy}},
    {"stages",
     "Stages",
     "The compiled graphs, the stages of the one that is shown, and the passes between them.",
     "Each row has the time of the pass, the number of nodes, and what was added (+), removed (−) and changed (~). "
     "Passes that changed nothing are dimmed and can be hidden.",
     {{"↑ ↓", "another stage"}, kCopy}},
    {"source",
     "Source",
     "The Python lines the selection comes from.",
     "Strongly marked is the line itself, faintly the lines that called it. In the margin stand B for a graph break, R "
     "for a recompile, E for an error, S for a size or value the compile is special to, G for guards: point at one to "
     "read why, and the way out; click it to keep that beside the text. The slim columns show the time of each line, "
     "left eager, right compiled. The second tab has Python's bytecode, where the trace has it.",
     {{"click, Enter", "select the line and the nodes that come from it"},
      {"/ or Ctrl+F ; G", "find words ; go to a line"},
      {"Ctrl+C", "copy what is marked, or the line"}}},
    {"code",
     "Code",
     "What was generated for the selection, one tab per language.",
     "The lines that compute the selection are marked. A second language can stand beside the first; it scrolls so "
     "that "
     "lines of the same nodes are at the same height.",
     {{"click, Enter", "select what this line computes"},
      {"/ or Ctrl+F ; G", "find words ; go to a line"},
      {"Ctrl+C", "copy what is marked, or the line"}}},
    {"timeline",
     "Timeline",
     "Threads, device streams and compile steps over time.",
     "A box is an event, as wide as it took. What ran inside another stands under it. Arrows join launches with what "
     "they "
     "started, and forward with backward operators. Hatched boxes are idle devices, and the thread that launches where "
     "it "
     "recorded nothing meanwhile; each says why. Boxes narrower than a pixel are drawn as one.",
     {{"W ; S ; wheel", "zoom in ; zoom out ; both"},
      {"A ; D ; drag", "earlier ; later ; both"},
      {"← → ↑ ↓ ; Enter", "the event beside, above, below ; select it"},
      {"N ; P", "next ; last event of this name"},
      {"G ; Shift+G", "next smaller ; larger idle gap"},
      {"R", "measure what is selected"},
      {"Z ; Backspace", "zoom to the selection ; back"},
      {"/", "find an event by name"},
      {"L ; T", "all arrows ; the tables"},
      {"C ; Shift+C ; X ; Shift+X", "collapse a row ; all rows ; hide it ; show all"},
      {"Ctrl+↑ ; Ctrl+↓", "move a row up ; down"},
      {"F or 0", "the whole time"},
      {"click", "select an event and its kernel"}}},
    {"profile",
     "Profile",
     "Where the time of a run went, by kernel, operator, module or line.",
     "A kernel's time is divided evenly among the nodes it computes. What is in no kernel has rows of its own, so "
     "every "
     "table adds up to the total. A * is partly inferred. Rows open: kernels and lines to their nodes, modules to what "
     "lies in them.",
     {kRows, {"→ ; ←", "open ; close a row"}, kSort, {"double click", "the line of source"}, kCopy}},
    {"roofline",
     "Roofline",
     "One dot per kernel: flops per byte across, flops per second up, its area the time.",
     "The lines are what the machine can do at most. Blue is bound by memory, orange by arithmetic; far under the line "
     "is "
     "room for improvement. Dashed ceilings are the highest that was seen.",
     {{"↑ ↓ ← →", "another kernel, by time"}, {"wheel, + − ; drag ; F", "zoom ; move ; everything"}, kCopy}},
    {"memory",
     "Memory",
     "Buffers as boxes, launches across and bytes up.",
     "The launch that uses most is marked. Buffers in the arena stand where they are; what takes over the memory of "
     "another is joined with it when selected.",
     {{"↑ ↓ ← →", "another buffer"},
      {"wheel ; Shift+wheel ; Ctrl+wheel", "zoom ; only across ; only up"},
      {"drag ; F", "move ; everything"},
      kCopy}},
    {"query",
     "Query",
     "Nodes and events by conditions, as in <tt>strata query</tt>.",
     "<tt>target=aten.add* and not module=*.layer.0*</tt>: <tt>=</tt> compares with a pattern, <tt>~</tt> looks for a "
     "part, <tt>&lt; &gt;</tt> compare numbers (<tt>duration&gt;1ms</tt>). Nodes that were found are marked in the "
     "graph; "
     "a row leads to its node or event, in whatever graph.",
     {{"Enter", "look"},
      {"↑ ; ↓ in the box", "the query before ; after"},
      {"Ctrl+Space", "what can stand here"},
      {"Tab, Enter in the list", "take what is offered"},
      kSort,
      kCopy}},
    {"compare",
     "Compare",
     "Two runs, graphs, compiles or ranks, of this trace or of two, side by side.",
     "Bars are green where side B takes less. File, Compare with … opens a second trace; so does dropping one with "
     "Shift "
     "held.",
     {{"F7 ; F8", "difference before ; next"},
      {"Enter ; A ; B", "the place of a row ; its place on that side"},
      kSort,
      kCopy}},
    {"problems",
     "Problems",
     "All findings: breaks, recompiles, errors, caches, ranks that differ, kernels that take most of the time.",
     "The costliest first. A row leads to its line or kernel.",
     {kRows, kSort, kCopy}},
    {"guards",
     "Guards",
     "Above, the compiles of the function with the guard that failed before each; below, what the compile shown relies "
     "on.",
     "Expected and found value of a failed guard tell what changed between the calls.",
     {kRows, kSort, kCopy}},
};

QString keys_table(const std::vector<HelpKey>& keys) {
  QString html = "<table cellspacing='6'>";
  for (const HelpKey& key : keys)
    html += QString("<tr><td style='white-space:nowrap'><b>%1</b></td><td>%2</td></tr>")
                .arg(QString(key.keys).toHtmlEscaped(), QString(key.what).toHtmlEscaped());
  return html + "</table>";
}

QString plain(QString text) { return text.remove(QRegularExpression("&(?!&)")).remove(" …").trimmed(); }

/// The menu an action stands in, `View` also for those of its submenus; empty if in none.
QString menu_of(const QWidget& window, const QAction* action) {
  const auto* main = qobject_cast<const QMainWindow*>(&window);
  if (!main || !main->menuWidget()) return {};
  const std::function<bool(const QMenu*)> holds = [&](const QMenu* menu) {
    const auto all = menu->actions();
    return std::any_of(all.begin(), all.end(),
                       [&](QAction* a) { return a == action || (a->menu() && holds(a->menu())); });
  };
  for (const QAction* top : main->menuWidget()->actions())
    if (top->menu() && holds(top->menu())) return plain(top->text());
  return {};
}

QString native(const QKeySequence& keys) {
  return keys.toString(QKeySequence::PortableText).replace("Left", "←").replace("Right", "→");
}

}  // namespace

const std::vector<PageHelp>& page_helps() { return kPages; }

QString help_page(const QString& name) {
  const auto found =
      std::find_if(kPages.begin(), kPages.end(), [&](const PageHelp& page) { return name == page.name; });
  if (found == kPages.end()) return help_index();
  return QString(
             "<h2>%1</h2><p>%2</p><p>%3</p><h3>Keys and mouse</h3>%4"
             "<p><a href='help:'>All pages</a> &nbsp; <a href='keys:'>All keys</a></p>")
      .arg(found->title, found->shows, found->read, keys_table(found->keys));
}

QString help_index() {
  QString html = "<h2>Pages</h2>";
  for (const PageHelp& page : kPages)
    html += QString("<p><a href='help:%1'><b>%2</b></a><br>%3</p>").arg(page.name, page.title, page.shows);
  return html + "<p><a href='keys:'>All keys</a></p>";
}

std::vector<ShortcutRow> action_shortcuts(const QWidget& window) {
  std::vector<ShortcutRow> rows;
  for (const auto* action : window.findChildren<QAction*>()) {
    if (action->shortcuts().isEmpty() || action->shortcutContext() == Qt::WidgetShortcut) continue;
    QStringList keys;
    for (const QKeySequence& sequence : action->shortcuts())
      if (!sequence.isEmpty()) keys << native(sequence);
    if (keys.isEmpty()) continue;
    const QString group = menu_of(window, action);
    const QString text = action->statusTip().isEmpty() ? plain(action->text()) : action->statusTip();
    rows.push_back({group.isEmpty() ? "Toolbar" : group, keys.join(", "), text});
  }
  for (const auto* shortcut : window.findChildren<QShortcut*>())
    if (!shortcut->key().isEmpty() && !shortcut->whatsThis().isEmpty())
      rows.push_back({"Toolbar", native(shortcut->key()), shortcut->whatsThis()});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ShortcutRow& a, const ShortcutRow& b) { return a.group < b.group; });
  return rows;
}

QString shortcuts_page(const QWidget& window) {
  QString html = "<h2>Keys</h2>", group;
  for (const ShortcutRow& row : action_shortcuts(window)) {
    if (row.group != group)
      html += (group.isEmpty() ? "" : "</table>") + QString("<h3>%1</h3><table cellspacing='6'>").arg(row.group);
    group = row.group;
    html += QString("<tr><td style='white-space:nowrap'><b>%1</b></td><td>%2</td></tr>")
                .arg(row.keys.toHtmlEscaped(), row.what.toHtmlEscaped());
  }
  html += "</table>";
  for (const PageHelp& page : kPages)
    html += QString("<h3>%1</h3>%2")
                .arg(QString("On the page <a href='help:%1'>%2</a>").arg(page.name, page.title), keys_table(page.keys));
  return html;
}

}  // namespace strata::studio
