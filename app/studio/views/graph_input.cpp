// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// What mouse and keys do in the graph.
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/studio/models/graph_groups.h"
#include "app/studio/models/lists.h"
#include "app/studio/views/graph_view.h"

namespace strata::studio {

void GraphView::wheelEvent(QWheelEvent* event) {
  wheel_pause_.start();
  if (event->modifiers() & Qt::ShiftModifier) {
    offset_ += QPointF(event->angleDelta().y() + event->angleDelta().x(), 0) / 2;
    clamp();
    changed();
  } else {
    zoom_at(event->position(), std::pow(1.0015, event->angleDelta().y()));
  }
  event->accept();
}

void GraphView::mousePressEvent(QMouseEvent* event) {
  on_strip_ = event->button() == Qt::LeftButton && strip_shown() && event->position().x() >= width() - kStripWidth;
  setFocus(Qt::MouseFocusReason);
  if (on_strip_) return strip_to(event->position().y());
  press_ = event->position();
  press_offset_ = offset_;
  pressed_ = event->button() == Qt::LeftButton || event->button() == Qt::MiddleButton;
  banding_ = event->button() == Qt::LeftButton && (event->modifiers() & Qt::ControlModifier);
  band_end_ = press_;
  moved_ = false;
}

void GraphView::mouseMoveEvent(QMouseEvent* event) {
  if (on_strip_) return strip_to(event->position().y());
  if (!pressed_) return hover(event->position());
  if (!moved_ && (event->position() - press_).manhattanLength() < 4) return;
  moved_ = true;
  if (banding_) {
    band_end_ = event->position();
    setCursor(Qt::CrossCursor);
    return update();
  }
  setCursor(Qt::ClosedHandCursor);
  offset_ = press_offset_ + event->position() - press_;
  clamp();
  changed();
}

void GraphView::mouseReleaseEvent(QMouseEvent* event) {
  if (std::exchange(on_strip_, false)) return;
  const bool clicked = pressed_ && !moved_ && event->button() == Qt::LeftButton;
  const bool band = banding_ && moved_;
  pressed_ = moved_ = banding_ = false;
  setCursor(Qt::ArrowCursor);
  changed();
  if (!step_) return;
  if (band) return zoom_to(QRectF(to_scene(press_), to_scene(band_end_)).normalized());
  if (clicked) click(to_scene(event->position()), event->modifiers());
}

void GraphView::click(QPointF scene, Qt::KeyboardModifiers modifiers) {
  const int i = node_at(scene), g = group_at(scene);
  if ((modifiers & Qt::ShiftModifier) && selected_ >= 0) {
    if (i >= 0) show_paths_to(step_->picture.nodes[static_cast<size_t>(i)].id);
    return;
  }
  path_to_ = 0;
  const auto& picture = step_->picture;
  const trace::Id kernel = i >= 0   ? picture.nodes[static_cast<size_t>(i)].kernel
                           : g >= 0 ? picture.groups[static_cast<size_t>(g)].kernel
                                    : trace::kNone;
  if (kernel != trace::kNone) {
    module_.clear();
    return pane_.select_kernel(kernel);
  }
  select_module(module_at(scene));
  if (!module_.empty()) return;
  if (i >= 0) return pane_.select_node(picture.nodes[static_cast<size_t>(i)].id);
  pane_.clear_selection();
}

/// Modules are no part of the selection: the view alone knows which one was chosen. Empty: none.
void GraphView::select_module(const std::string& path) {
  if (!path.empty()) pane_.clear_selection();
  module_ = path;
  find_selected();
  changed();
}

/// A module is expanded or collapsed; of a node, the line of source is shown that it comes from.
void GraphView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (on_strip_ || event->button() != Qt::LeftButton) return;
  const QPointF at = to_scene(event->position());
  if (const std::string module = module_at(at); !module.empty()) return toggle_module(module);
  if (const int i = node_at(at); i >= 0) show_source(step_->picture.nodes[static_cast<size_t>(i)].id);
}

/// The innermost line in the node's stack, or in those of what it was made from.
void GraphView::show_source(trace::NodeId node) {
  const auto reader = pane_.reader();
  const StepPtr step = step_;
  if (!reader || !step || reader != pane_.context().reader()) return;
  auto work = [reader, step, node, &context = pane_.context()]() -> JobQueue::Apply {
    const trace::Origins origins = reader->origins(step->snapshot.compile, node);
    if (origins.locations.empty()) return {};
    return [place = origins.locations.front(), &context] {
      emit context.sourceRequested(qt(place.file), static_cast<int>(place.line));
    };
  };
  pane_.context().queue().post("show source", std::move(work), JobQueue::Lane::Quick);
}

void GraphView::hover(QPointF at) {
  const QPointF scene = to_scene(at);
  const int node = node_at(scene), edge = node < 0 ? edge_at(at) : -1;
  const bool on_frame = node < 0 && group_at(scene) >= 0;
  setCursor(node >= 0 || on_frame ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (node == hover_node_ && edge == hover_edge_) return;
  hover_node_ = node;
  hover_edge_ = edge;
  update();
}

void GraphView::leaveEvent(QEvent* event) {
  hover_node_ = hover_edge_ = -1;
  update();
  QWidget::leaveEvent(event);
}

/// The module whose box, or whose frame outside of nodes, is here.
std::string GraphView::module_at(QPointF scene) const {
  if (int i = node_at(scene); i >= 0) return step_->picture.nodes[static_cast<size_t>(i)].module;
  int g = group_at(scene);
  return g < 0 ? std::string() : step_->picture.groups[static_cast<size_t>(g)].module;
}

void GraphView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
      return pane_.step(-1);
    case Qt::Key_Right:
      return pane_.step(1);
    case Qt::Key_Home:
      return pane_.step_to_end(-1);
    case Qt::Key_End:
      return pane_.step_to_end(1);
    case Qt::Key_Up:
      return walk(false);
    case Qt::Key_Down:
      return walk(true);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoom(1.25);
    case Qt::Key_Minus:
      return zoom(0.8);
    case Qt::Key_F:
    case Qt::Key_0:
      return fit();
    case Qt::Key_Space:
      return centre_on(pane_.selection().node);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return toggle_module(!module_.empty() ? module_ : step_ ? module_of(step_->picture, selected_) : "");
    case Qt::Key_H:
      return set_highlight(!highlight_);
    case Qt::Key_BracketLeft:
      return set_reach(reach_ - 1);
    case Qt::Key_BracketRight:
      return set_reach(reach_ + 1);
    case Qt::Key_M:
      return set_map_shown(!map_wanted_);
    case Qt::Key_Greater:
      return open_modules(true);
    case Qt::Key_Less:
      return open_modules(false);
    case Qt::Key_Escape:
      path_to_ = 0;
      pane_.clear_selection();
      return select_module({});
    default:
      QWidget::keyPressEvent(event);
  }
}

/// Selects the first user or operand of the selected node.
void GraphView::walk(bool down) {
  if (!step_ || step_->picture.nodes.empty()) return;
  if (selected_ < 0) return pane_.select_node(step_->picture.nodes.front().id);
  for (const auto& edge : step_->picture.edges) {
    int here = down ? edge.from : edge.to, there = down ? edge.to : edge.from;
    if (here != selected_) continue;
    const auto& node = step_->picture.nodes[static_cast<size_t>(there)];
    if (node.module.empty()) return pane_.select_node(node.id);
    return select_module(node.module);
  }
}

bool GraphView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    auto* help = static_cast<QHelpEvent*>(event);
    show_tip(help->pos(), help->globalPos());
    return true;
  }
  return QWidget::event(event);
}

void GraphView::show_tip(const QPoint& local, const QPoint& global) {
  QPointF at = to_scene(local);
  QString text;
  if (int i = node_at(at); i >= 0)
    text = qt(step_->picture.nodes[static_cast<size_t>(i)].tooltip);
  else if (int g = group_at(at); g >= 0)
    text = qt(step_->picture.groups[static_cast<size_t>(g)].tooltip);
  if (const int e = text.isEmpty() || node_at(at) < 0 ? edge_at(local) : -1; e >= 0)
    text = edge_text(static_cast<size_t>(e));
  if (text.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(global, text, this);
}

}  // namespace strata::studio
