// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/graph_controls.h"

#include <QDialogButtonBox>
#include <QInputDialog>
#include <QRadioButton>
#include <QVBoxLayout>

#include "app/draw/user_groups.h"
#include "app/studio/models/lists.h"
#include "core/support/error.h"

namespace strata::studio {

using draw::ColourBy;
using draw::GroupBy;

namespace {

struct Choice {
  const char* text;
  int value;
};

void fill(QComboBox& box, std::initializer_list<Choice> choices) {
  for (const Choice& choice : choices) box.addItem(choice.text, choice.value);
}

}  // namespace

GroupBox::GroupBox(Context& context, QWidget* parent) : QComboBox(parent), context_(context) {
  fill(*this, {{"automatic", static_cast<int>(GroupBy::Automatic)},
               {"kernels", static_cast<int>(GroupBy::Kernels)},
               {"modules", static_cast<int>(GroupBy::Modules)},
               {"none", static_cast<int>(GroupBy::None)},
               {"my groups", static_cast<int>(GroupBy::User)}});
  setAccessibleName("group nodes by");
  setToolTip(
      "Frames around nodes: fused kernels, modules, or groups of your own. Double click or Enter collapses one.\n"
      "Groups of your own (Ctrl+G) stand among kernels and modules too.\n"
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

ColourBox::ColourBox(Context& context, QWidget* parent) : QComboBox(parent), context_(context) {
  fill(*this, {{"operator", static_cast<int>(ColourBy::Class)},
               {"dtype", static_cast<int>(ColourBy::DType)},
               {"time", static_cast<int>(ColourBy::Time)},
               {"none", static_cast<int>(ColourBy::None)},
               {"bytes", static_cast<int>(ColourBy::Bytes)},
               {"module", static_cast<int>(ColourBy::Module)},
               {"device", static_cast<int>(ColourBy::Device)}});
  setAccessibleName("colour nodes by");
  setToolTip("What colours of nodes stand for. Bytes: of the node's value, by logarithm.");
  connect(this, &QComboBox::activated, this, &ColourBox::choose);
  connect(&context_, &Context::optionsChanged, this, &ColourBox::follow);
  follow();
}

void ColourBox::choose(int row) {
  draw::DrawOptions options = context_.options();
  options.colour_by = static_cast<ColourBy>(itemData(row).toInt());
  options.colours = true;
  context_.set_options(options);
}

void ColourBox::follow() { setCurrentIndex(findData(static_cast<int>(context_.options().colour_by))); }

// ------------------------------------------------------------------------------------------------- groups of the
// user's

std::vector<GroupSource> group_sources(Context& context, GraphView& graph) {
  std::vector<GroupSource> sources;
  const StepPtr step = graph.pane().step_data();
  if (!step) return sources;
  auto add = [&](const QString& what, std::vector<trace::NodeId> nodes) {
    std::erase_if(nodes, [&](trace::NodeId id) { return !step->find(id); });
    if (nodes.empty()) return;
    const QString text = QString("%1 (%2 node%3)").arg(what).arg(nodes.size()).arg(nodes.size() == 1 ? "" : "s");
    sources.push_back({text, std::move(nodes)});
  };
  auto add_box = [](std::vector<trace::NodeId>& nodes, const draw::PictureNode& box) {
    if (box.members.empty()) nodes.push_back(box.id);
    nodes.insert(nodes.end(), box.members.begin(), box.members.end());
  };
  const Selection& selection = graph.pane().selection();
  std::vector<trace::NodeId> nodes;
  if (const trace::Id kernel = selection.kernel; kernel != trace::kNone && selection.node == 0)
    for (const auto& k : step->picture.kernels)
      if (k.id == kernel) nodes = k.nodes;
  if (selection.node != 0) nodes.push_back(selection.node);
  add("the selection", nodes);
  nodes.clear();
  for (size_t i = 0; !graph.lit().empty() && i < step->picture.nodes.size(); ++i)
    if (graph.lit().node(i)) add_box(nodes, step->picture.nodes[i]);
  add("what is highlighted", nodes);
  add("what was found", context.marked());
  return sources;
}

GroupDialog::GroupDialog(std::vector<GroupSource> sources, const QString& name, QWidget* parent)
    : QDialog(parent), sources_(std::move(sources)), choices_(new QButtonGroup(this)) {
  setWindowTitle("Group nodes");
  auto* column = new QVBoxLayout(this);
  column->addWidget(new QLabel("Name"));
  name_ = new QLineEdit(name);
  name_->setAccessibleName("name of the group");
  name_->selectAll();
  column->addWidget(name_);
  column->addWidget(new QLabel("Nodes"));
  for (size_t i = 0; i <= sources_.size(); ++i) {
    auto* choice = new QRadioButton(i < sources_.size() ? sources_[i].text : QString("those for which a rule holds:"));
    choices_->addButton(choice, static_cast<int>(i));
    column->addWidget(choice);
  }
  choices_->button(sources_.size() > 1 ? 1 : 0)->setChecked(true);
  rule_ = new QLineEdit;
  rule_->setAccessibleName("rule of the group");
  rule_->setPlaceholderText("module:encoder.layer.0   op:add   dtype=f16 and shape=[8,*");
  rule_->setMinimumWidth(380);
  column->addWidget(rule_);
  error_ = new QLabel;
  error_->setAccessibleName("what is wrong with the rule");
  error_->setWordWrap(true);
  column->addWidget(error_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  ok_ = buttons->button(QDialogButtonBox::Ok);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(rule_, &QLineEdit::textEdited, this, [this] {
    choices_->button(static_cast<int>(sources_.size()))->setChecked(true);
    check();
  });
  connect(name_, &QLineEdit::textChanged, this, &GroupDialog::check);
  connect(choices_, &QButtonGroup::idToggled, this, &GroupDialog::check);
  check();
}

void GroupDialog::check() {
  group_ = {};
  group_.name = name_->text().trimmed().toStdString();
  QString error;
  const auto chosen = static_cast<size_t>(std::max(0, choices_->checkedId()));
  if (chosen < sources_.size()) {
    group_.nodes = sources_[chosen].nodes;
  } else {
    try {
      group_.rule = draw::parse_rule(rule_->text().toStdString(), group_.text);
    } catch (const Error& wrong) {
      error = wrong.what();
    }
  }
  error_->setText(error);
  ok_->setEnabled(error.isEmpty() && !group_.name.empty() &&
                  (!group_.nodes.empty() || group_.rule != draw::UserGroup::Rule::None));
}

namespace {

/// What is proposed as a name: the query or the text that was searched is not known here, but the selection is.
QString proposed_name(UserGroups& groups, GraphView& graph) {
  const StepPtr step = graph.pane().step_data();
  const auto* node = step ? step->find(graph.pane().selection().node) : nullptr;
  return groups.free_name(node ? "around " + qt(node->name) : QString("group"));
}

void ask_group(Context& context, UserGroups& groups, GraphView& graph) {
  if (!graph.pane().step_data()) return;
  GroupDialog dialog(group_sources(context, graph), proposed_name(groups, graph), &graph);
  if (dialog.exec() == QDialog::Accepted) groups.add(dialog.group());
}

void ask_name(UserGroups& groups, GraphView& graph, const QString& old) {
  bool ok = false;
  const QString name = QInputDialog::getText(&graph, "Rename group", "Name", QLineEdit::Normal, old, &ok);
  if (ok && !groups.rename(old, name) && name.trimmed() != old)
    emit graph.pane().context().message(QString("there is a group '%1' already").arg(name.trimmed()));
}

}  // namespace

QList<QAction*> grouping_actions(Context& context, UserGroups& groups, GraphView& graph) {
  auto* group = new QAction("&Group these nodes …", &graph);
  auto* ungroup = new QAction("&Ungroup", &graph);
  auto* rename = new QAction("Rena&me group …", &graph);
  group->setShortcut(QKeySequence("Ctrl+G"));
  ungroup->setShortcut(QKeySequence("Ctrl+Shift+G"));
  const auto here = [&groups, &graph] { return groups.at(graph.group_key(), graph.pane().selection().node); };
  QObject::connect(group, &QAction::triggered, &graph,
                   [&context, &groups, &graph] { ask_group(context, groups, graph); });
  QObject::connect(ungroup, &QAction::triggered, &graph, [&groups, here] { groups.remove(here()); });
  QObject::connect(rename, &QAction::triggered, &graph, [&groups, &graph, here] {
    if (const QString name = here(); !name.isEmpty()) ask_name(groups, graph, name);
  });
  return {group, ungroup, rename};
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
