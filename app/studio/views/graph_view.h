// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The graph of a pane: pan by dragging, zoom by the wheel, select by clicking. Painted by hand with level of detail,
/// so that tens of thousands of nodes stay fluent.

#include <QMenu>
#include <QPainterPath>
#include <QTimer>
#include <QWidget>
#include <memory>
#include <unordered_set>
#include <vector>

#include "app/studio/models/pane.h"
#include "app/studio/views/graph_highlight.h"
#include "app/studio/views/minimap.h"

namespace strata::studio {

class GraphView : public QWidget {
  Q_OBJECT
 public:
  /// The pane outlives the view.
  explicit GraphView(Pane& pane, QWidget* parent = nullptr);
  /// With a main pane of its own.
  explicit GraphView(Context& context, QWidget* parent = nullptr);

  Pane& pane() { return pane_; }
  /// The whole graph.
  void fit();
  void zoom(double factor);
  /// Brings the node to the middle.
  void centre_on(trace::NodeId node);
  double scale() const { return scale_; }
  /// Dims all but the selected node's neighbourhood.
  void set_highlight(bool on);
  bool highlight() const { return highlight_; }
  /// Of how many steps the neighbourhood is; at least one.
  void set_reach(int steps);
  int reach() const { return reach_; }
  /// Dims all but the paths between the selected node and this one.
  void show_paths_to(trace::NodeId node);
  /// What is lit now, by index of the picture's nodes and edges.
  const Highlight& lit() const { return lit_; }
  void set_map_shown(bool on);
  bool map_wanted() const { return map_wanted_; }
  Minimap& minimap() { return *map_; }
  /// Legend and map: left out where another pane is worked in.
  void set_chrome(bool shown);
  /// Shows at the same scale what the other view shows: a node near its middle that is in both (or stands for one that
  /// is) comes to the same place, else the same part of the whole.
  void follow_view(GraphView& other);
  /// Makes this part of the graph as large as fits.
  void zoom_to(const QRectF& scene);
  /// The edge at a place of the widget, as index into the picture's edges; -1 none.
  int edge_at(QPointF widget) const;
  /// What is said of that edge: its ends, and dtype and shape of what flows along it.
  QString edge_text(size_t edge) const;
  /// What can be done with the node, collapsed module or frame here, or with the selection if `at` is null. The caller
  /// owns the menu; null if there is nothing.
  QMenu* make_menu(const QPoint* at);

 signals:
  /// Highlighting or the map were switched.
  void controlsChanged();
  /// Panned or zoomed.
  void viewChanged();
  /// The stage is to be shown in a pane of its own, with the selection.
  void pin_requested();

 public:
  /// Where a node, or the collapsed module that hides it, is on the widget; a null rectangle if it is not drawn.
  QRectF node_rect(trace::NodeId node) const;
  /// Expands a collapsed module, collapses an expanded one.
  void toggle_module(const std::string& path);
  /// Where a module's box or frame is on the widget; a null rectangle if it is not drawn.
  QRectF module_rect(const std::string& path) const;
  /// The module or group that was chosen, as DrawOptions::opened calls it; empty if none.
  const std::string& group_key() const { return module_; }
  /// Expands or collapses all modules that hold others.
  void open_modules(bool open);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void connect_pane();
  void take_step();
  void take_selection();
  void bring_into_view();
  void changed();
  void hover(QPointF at);
  void select_module(const std::string& path);
  void show_source(trace::NodeId node);
  void click(QPointF scene, Qt::KeyboardModifiers modifiers);
  trace::NodeId shared_node(GraphView& other) const;
  void find_lit();
  void place_map();
  void paint_note(QPainter& p);
  void paint_band(QPainter& p);
  void paint_hover(QPainter& p);
  QRectF visible() const {
    return {to_scene({0, 0}), to_scene({static_cast<double>(width()), static_cast<double>(height())})};
  }
  void first_view();
  double top_centre() const;
  void keep_place(const StepPtr& old);
  bool keep_module(const StepPtr& old);
  void find_selected();
  std::string module_at(QPointF scene) const;
  trace::NodeId anchor(const StepData& old) const;
  void build_paths();
  void zoom_at(QPointF point, double factor);
  void clamp();
  QPointF to_scene(QPointF p) const { return (p - offset_) / scale_; }
  QRectF to_widget(const draw::Rect& r) const;
  int node_at(QPointF scene) const;
  int group_at(QPointF scene) const;
  void walk(bool down);
  void show_tip(const QPoint& local, const QPoint& global);

  void paint_groups(QPainter& p, const QRectF& visible);
  void paint_group_titles(QPainter& p, const QRectF& visible);
  void paint_edges(QPainter& p, const QRectF& visible);
  bool crowded(const QRectF& visible) const;
  void draw_edge(QPainter& p, size_t e, const QRectF& visible) const;
  void paint_nodes(QPainter& p, const QRectF& visible);
  void paint_overview(QPainter& p, const QRectF& visible);
  void paint_node(QPainter& p, size_t i);
  void paint_labels(QPainter& p, size_t i);
  void paint_outline(QPainter& p, size_t i);
  void find_marked();
  QColor frame_fill(size_t g) const;
  void paint_legend(QPainter& p);
  void paint_strip(QPainter& p);
  bool strip_shown() const;
  /// Brings this height of the strip to the middle of the view.
  void strip_to(double y);
  void paint_empty(QPainter& p);
  bool is_selected_edge(const draw::PictureEdge& edge) const;
  bool is_removed_edge(const draw::PictureEdge& edge) const;  ///< of a node that went in this step

  static constexpr int kStripWidth = 16;  ///< of the strip that shows the place in a tall graph

  Pane& pane_;
  StepPtr step_;
  std::vector<QPainterPath> paths_;
  std::vector<QRectF> path_bounds_;
  std::vector<QColor> fills_;
  std::unordered_set<int> marked_;     ///< indices of nodes
  std::unordered_set<int> relatives_;  ///< of all that stand for the selection, if more than one does
  std::string module_;                 ///< path of the selected module, empty if none
  std::string toggled_;                ///< the module that is being expanded or collapsed: it stays in its place
  std::unique_ptr<Adjacency> adjacency_;
  Highlight lit_;
  QString lit_note_;
  bool highlight_ = false, map_wanted_ = true;
  int reach_ = 2;
  trace::NodeId path_to_ = 0;  ///< the other end of the paths shown, 0 none
  Minimap* map_;
  int selected_ = -1;  ///< index of the selected node, -1 none
  int selected_group_ = -1;
  double scale_ = 1;
  QTimer wheel_pause_;   ///< runs while the wheel turns
  bool sketch_ = false;  ///< this frame: plain boxes and straight edges
  QPointF offset_;
  QPointF press_, press_offset_;
  bool pressed_ = false, moved_ = false, on_strip_ = false, view_set_ = false, chrome_ = true;
  bool banding_ = false;  ///< a rectangle is being drawn
  QPointF band_end_;
  int hover_node_ = -1, hover_edge_ = -1;
  double told_scale_ = 0;  ///< with viewChanged
  QPointF told_offset_;
  double first_scale_ = 0;  ///< as it was shown first: done again when the size changes before anybody moved it
  QPointF first_offset_;
};

}  // namespace strata::studio
