// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// The menu of a node, and what is said of edges.
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <algorithm>
#include <memory>
#include <unordered_set>

#include "app/studio/models/graph_groups.h"
#include "app/studio/models/lists.h"
#include "app/studio/views/graph_view.h"

namespace strata::studio {
namespace {

constexpr double kEdgeReach = 5;      // so far from an edge the pointer is still on it, in pixels
constexpr double kEdgeScale = 0.25;   // below this, edges are too close to each other to be pointed at
constexpr size_t kMostEdgeLines = 8;  // of what flows between two modules

double distance(QPointF p, QPointF a, QPointF b) {
  const QPointF along = b - a, to = p - a;
  const double length = QPointF::dotProduct(along, along);
  const double t = length > 0 ? std::clamp(QPointF::dotProduct(to, along) / length, 0.0, 1.0) : 0;
  const QPointF off = to - t * along;
  return std::sqrt(QPointF::dotProduct(off, off));
}

QPointF on_curve(const draw::Point* c, double t) {
  const double s = 1 - t, a = s * s * s, b = 3 * s * s * t, d = 3 * s * t * t, e = t * t * t;
  return {a * c[0].x + b * c[1].x + d * c[2].x + e * c[3].x, a * c[0].y + b * c[1].y + d * c[2].y + e * c[3].y};
}

/// From a point to a chain of Bézier curves.
double distance(QPointF p, const std::vector<draw::Point>& points) {
  constexpr int kPieces = 24;
  double least = 1e300;
  for (size_t i = 0; i + 3 < points.size(); i += 3) {
    QPointF before = on_curve(&points[i], 0);
    for (int k = 1; k <= kPieces; ++k) {
      const QPointF next = on_curve(&points[i], static_cast<double>(k) / kPieces);
      least = std::min(least, distance(p, before, next));
      before = next;
    }
  }
  return least;
}

std::vector<trace::NodeId> nodes_of(const draw::PictureNode& node) {
  return node.members.empty() ? std::vector{node.id} : node.members;
}

/// What one box makes and the other uses, each once, in the order of its use.
std::vector<const trace::NodeRecord*> values_along(const StepData& step, const draw::PictureEdge& edge) {
  const auto made = nodes_of(step.picture.nodes[static_cast<size_t>(edge.from)]);
  std::unordered_set<trace::NodeId> open(made.begin(), made.end());
  std::vector<const trace::NodeRecord*> values;
  for (trace::NodeId user : nodes_of(step.picture.nodes[static_cast<size_t>(edge.to)])) {
    const trace::NodeRecord* record = step.find(user);
    if (!record) continue;
    for (const auto& operand : record->inputs)
      for (trace::NodeId id : operand)
        if (const trace::NodeRecord* value = open.erase(id) ? step.find(id) : nullptr) values.push_back(value);
  }
  return values;
}

/// What a frame or a collapsed box is, by what it is called.
QString word_for(const std::string& module) {
  return module.starts_with("kernel:") ? "kernel" : module.starts_with("group:") ? "group" : "module";
}

QString box_name(const draw::PictureNode& node) {
  return node.module.empty() ? qt(node.tooltip).section('\n', 0, 0).section(" = ", 0, 0) : qt(node.title);
}

}  // namespace

int GraphView::edge_at(QPointF widget) const {
  if (!step_ || scale_ < kEdgeScale) return -1;
  const QPointF scene = to_scene(widget);
  const double reach = kEdgeReach / scale_;
  int best = -1;
  double least = reach;
  for (size_t e = 0; e < paths_.size(); ++e) {
    if (!path_bounds_[e].adjusted(-reach, -reach, reach, reach).contains(scene)) continue;
    if (const double d = distance(scene, step_->layout.edges[e]); d < least) {
      least = d;
      best = static_cast<int>(e);
    }
  }
  return best;
}

QString GraphView::edge_text(size_t edge) const {
  const auto& ends = step_->picture.edges[edge];
  const auto& nodes = step_->picture.nodes;
  const auto values = values_along(*step_, ends);
  QStringList lines;
  lines << box_name(nodes[static_cast<size_t>(ends.from)]) + " → " + box_name(nodes[static_cast<size_t>(ends.to)]);
  for (size_t i = 0; i < std::min(values.size(), kMostEdgeLines); ++i)
    lines << qt(values.size() == 1 ? values[i]->type : values[i]->name + ": " + values[i]->type);
  if (values.size() > kMostEdgeLines) lines << QString("and %1 more").arg(values.size() - kMostEdgeLines);
  lines.removeAll(QString());
  return lines.join('\n');
}

QMenu* GraphView::make_menu(const QPoint* at) {
  if (!step_) return nullptr;
  const int i = at ? node_at(to_scene(*at)) : selected_;
  const int g = at ? group_at(to_scene(*at)) : selected_group_;
  auto menu = std::make_unique<QMenu>(this);
  const auto copy = [](const QString& text) { return [text] { QApplication::clipboard()->setText(text); }; };
  std::string module = i >= 0 ? module_of(step_->picture, i) : std::string();
  if (i < 0 && g >= 0) module = step_->picture.groups[static_cast<size_t>(g)].module;
  if (i >= 0) {
    const auto& node = step_->picture.nodes[static_cast<size_t>(i)];
    menu->addAction("&Select", this, [this, id = node.id, path = node.module] {
      if (path.empty()) return pane_.select_node(id);
      select_module(path);
    });
    menu->addAction("Copy &name", this, copy(node.module.empty() ? qt(step_->name(node.id)) : qt(node.module)));
    menu->addAction("Copy as &text", this, copy(qt(node.tooltip)));
    auto* source = menu->addAction("Show s&ource", this, [this, id = node.id] { show_source(id); });
    source->setEnabled(node.module.empty() && pane_.reader() == pane_.context().reader());
    menu->addAction("Show &neighbourhood", QKeySequence("H"), this, [this, id = node.id, path = node.module] {
      path.empty() ? pane_.select_node(id) : select_module(path);
      set_highlight(true);
    });
    auto* paths = menu->addAction("Show &paths from the selection", this, [this, id = node.id] { show_paths_to(id); });
    paths->setEnabled(selected_ >= 0 && selected_ != i);
  } else if (g >= 0) {
    menu->addAction("Copy as &text", this, copy(qt(step_->picture.groups[static_cast<size_t>(g)].tooltip)));
  }
  if (!module.empty()) {
    const bool open = i < 0 || step_->picture.nodes[static_cast<size_t>(i)].module.empty();
    const QString word = word_for(module);
    if (word != "kernel") menu->addAction("Select &" + word, this, [this, module] { select_module(module); });
    menu->addAction((open ? "&Collapse " : "&Expand ") + word, this, [this, module] { toggle_module(module); });
  }
  if (!menu->isEmpty()) menu->addSeparator();
  menu->addActions(actions());
  menu->addSeparator();
  menu->addAction("&Fit", QKeySequence("F"), this, &GraphView::fit);
  menu->addAction("Show this stage in another pane", QKeySequence("Ctrl+\\"), this, &GraphView::pin_requested);
  return menu.release();
}

/// By the key: for the selection, where that is.
void GraphView::contextMenuEvent(QContextMenuEvent* event) {
  const bool by_mouse = event->reason() == QContextMenuEvent::Mouse;
  const QPoint local = event->pos();
  QMenu* menu = make_menu(by_mouse ? &local : nullptr);
  if (!menu) return;
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const QRectF selected = node_rect(pane_.selection().node);
  menu->popup(by_mouse || selected.isNull() ? event->globalPos() : mapToGlobal(selected.center().toPoint()));
}

}  // namespace strata::studio
