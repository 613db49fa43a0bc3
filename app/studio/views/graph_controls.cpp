// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/graph_controls.h"

namespace strata::studio {

using draw::GroupBy;

GroupBox::GroupBox(Context& context, QWidget* parent) : QComboBox(parent), context_(context) {
  addItem("automatic", static_cast<int>(GroupBy::Automatic));
  addItem("kernels", static_cast<int>(GroupBy::Kernels));
  addItem("modules", static_cast<int>(GroupBy::Modules));
  addItem("none", static_cast<int>(GroupBy::None));
  setAccessibleName("group nodes by");
  setToolTip(
      "Frames around nodes: fused kernels, or modules that can be collapsed (double click or Enter).\n"
      "Automatic: modules in graphs of more than 1500 nodes, else kernels.");
  connect(this, &QComboBox::activated, this, &GroupBox::choose);
  connect(&context_, &Context::optionsChanged, this, &GroupBox::follow);
  follow();
}

void GroupBox::choose(int row) {
  draw::DrawOptions options = context_.options();
  options.group_by = static_cast<GroupBy>(itemData(row).toInt());
  options.groups = options.group_by != GroupBy::None;
  context_.set_options(options);
}

void GroupBox::follow() {
  const draw::DrawOptions& options = context_.options();
  setCurrentIndex(findData(static_cast<int>(options.groups ? options.group_by : GroupBy::None)));
}

QList<QAction*> graph_actions(GraphView& graph) {
  auto* lit = new QAction("Highlight", &graph);
  lit->setToolTip(
      "Dim all but the neighbourhood of the selected node (H; [ and ] change how far).\n"
      "Shift+click on a second node: all paths between the two.");
  auto* map = new QAction("Map", &graph);
  map->setToolTip("Show the map of a graph that is larger than the view (M)");
  const auto follow = [&graph, lit, map] {
    lit->setChecked(graph.highlight());
    map->setChecked(graph.map_wanted());
  };
  for (QAction* action : {lit, map}) action->setCheckable(true);
  follow();
  QObject::connect(&graph, &GraphView::controlsChanged, lit, follow);
  QObject::connect(lit, &QAction::toggled, &graph, &GraphView::set_highlight);
  QObject::connect(map, &QAction::toggled, &graph, &GraphView::set_map_shown);
  return {lit, map};
}

}  // namespace strata::studio
