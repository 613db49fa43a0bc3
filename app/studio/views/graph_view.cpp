// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/graph_view.h"

#include <QResizeEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/studio/models/lists.h"
#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

constexpr double kLeast = 0.005, kMost = 4;

QRectF rect(const draw::Rect& r) { return {r.x, r.y, r.width, r.height}; }

}  // namespace

GraphView::GraphView(Pane& pane, QWidget* parent) : QWidget(parent), pane_(pane), map_(new Minimap(this)) {
  setAccessibleName("graph");
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setMinimumSize(200, 150);
  wheel_pause_.setSingleShot(true);
  wheel_pause_.setInterval(140);
  connect(&wheel_pause_, &QTimer::timeout, this, qOverload<>(&QWidget::update));
  connect(map_, &Minimap::moved, this, [this](QPointF scene) {
    offset_ = QPointF(width() / 2.0, height() / 2.0) - scene * scale_;
    clamp();
    changed();
  });
  connect_pane();
  take_step();
}

GraphView::GraphView(Context& context, QWidget* parent) : GraphView(*new Pane(context), parent) {
  pane_.setParent(this);
}

void GraphView::connect_pane() {
  connect(&pane_, &Pane::stepChanged, this, &GraphView::take_step);
  connect(&pane_, &Pane::loadingChanged, this, qOverload<>(&QWidget::update));
  connect(&pane_, &Pane::optionsChanged, this, [this] {
    build_paths();
    changed();
  });
  connect(&pane_, &Pane::selectionChanged, this, &GraphView::take_selection);
  connect(&pane_, &Pane::markedChanged, this, [this] {
    find_marked();
    changed();
  });
  connect(&pane_.context(), &Context::detailsChanged, this, [this] {
    if (!pane_.relation_text().isEmpty()) update();  // its name is known now
  });
}

void GraphView::take_selection() {
  if (!pane_.selection().empty()) module_.clear();
  path_to_ = 0;
  find_selected();
  setAccessibleDescription(selected_ >= 0 ? qt(step_->picture.nodes[static_cast<size_t>(selected_)].tooltip)
                                          : QString());
  bring_into_view();
  changed();
}

/// Of several that stand for the selection all, if they fit in; else the nearest.
void GraphView::bring_into_view() {
  if (selected_ < 0) return;
  const QRectF room = QRectF(this->rect()).adjusted(30, 30, -30 - kStripWidth, -30);
  QRectF all;
  for (int i : relatives_) all |= to_widget(step_->layout.nodes[static_cast<size_t>(i)]);
  if (!all.isNull() && room.contains(all)) return;
  if (!all.isNull() && all.width() <= room.width() && all.height() <= room.height()) {
    offset_ += room.center() - all.center();
    return;
  }
  const trace::NodeId node = pane_.selection().node;
  if (!room.contains(node_rect(node).center())) centre_on(node);
}

void GraphView::find_marked() {
  marked_.clear();
  if (!step_) return;
  for (trace::NodeId id : pane_.marked())
    if (int i = step_->picture.find(id); i >= 0) marked_.insert(i);
}

/// What is drawn of the selection: a node or the box that hides it, a kernel's frame, a module's box or frame.
void GraphView::find_selected() {
  const Selection& s = pane_.selection();
  selected_ = step_ && s.node ? step_->picture.find(s.node) : -1;
  selected_group_ = -1;
  relatives_.clear();
  find_lit();
  if (!step_) return;
  if (s.node && pane_.relatives().nodes.size() > 1)
    for (trace::NodeId id : pane_.relatives().nodes)
      if (int i = step_->picture.find(id); i >= 0) relatives_.insert(i);
  const auto& groups = step_->picture.groups;
  for (size_t g = 0; g < groups.size(); ++g)
    if ((s.kernel && groups[g].kernel == s.kernel) || (!module_.empty() && groups[g].module == module_))
      selected_group_ = static_cast<int>(g);
  if (module_.empty()) return;
  const auto& nodes = step_->picture.nodes;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].module == module_) selected_ = static_cast<int>(i);
  find_lit();
}

void GraphView::find_lit() {
  lit_ = {};
  lit_note_.clear();
  if (!step_ || !adjacency_ || selected_ < 0) return;
  const int other = path_to_ ? step_->picture.find(path_to_) : -1;
  auto name = [&](int i) { return qt(step_->picture.nodes[static_cast<size_t>(i)].tooltip).section('\n', 0, 0); };
  auto short_of = [&](int i) { return name(i).section(" = ", 0, 0); };
  if (other >= 0 && other != selected_) {
    lit_ = paths_between(step_->picture, *adjacency_, selected_, other);
    const size_t count = lit_.count();
    lit_note_ = count
                    ? QString("paths between %1 and %2: %3 nodes").arg(short_of(selected_), short_of(other)).arg(count)
                    : QString("no path between %1 and %2").arg(short_of(selected_), short_of(other));
    for (int end : {selected_, other}) lit_.nodes[static_cast<size_t>(end)] = 1;
  } else if (highlight_) {
    lit_ = neighbourhood(step_->picture, *adjacency_, selected_, reach_);
    lit_note_ = QString("%1 step%2 around %3: %4 nodes   ([ ] fewer, more)")
                    .arg(reach_)
                    .arg(reach_ == 1 ? "" : "s", short_of(selected_))
                    .arg(lit_.count());
  }
}

void GraphView::set_highlight(bool on) {
  if (on == highlight_) return;
  highlight_ = on;
  find_lit();
  emit controlsChanged();
  changed();
}

void GraphView::set_reach(int steps) {
  reach_ = std::clamp(steps, 1, 1000);
  find_lit();
  changed();
}

void GraphView::show_paths_to(trace::NodeId node) {
  path_to_ = node;
  find_lit();
  changed();
}

void GraphView::set_map_shown(bool on) {
  if (on == map_wanted_) return;
  map_wanted_ = on;
  emit controlsChanged();
  changed();
}

/// After every change of what is seen.
void GraphView::changed() {
  update();
  place_map();
  if (scale_ == told_scale_ && offset_ == told_offset_) return;
  told_scale_ = scale_;
  told_offset_ = offset_;
  emit viewChanged();
}

void GraphView::set_chrome(bool shown) {
  if (shown == chrome_) return;
  chrome_ = shown;
  changed();
}

/// In the lower right corner, when the graph is larger than the view.
void GraphView::place_map() {
  const bool larger =
      step_ && (step_->layout.width * scale_ > width() * 1.05 || step_->layout.height * scale_ > height() * 1.05);
  const bool room = width() > 3 * map_->width() && height() > map_->height() + 60;
  map_->setVisible(map_wanted_ && chrome_ && larger && room);
  if (map_->isHidden()) return;
  map_->move(width() - map_->width() - 8 - (strip_shown() ? kStripWidth : 0), height() - map_->height() - 8);
  map_->set_view(visible());
}

QRectF GraphView::to_widget(const draw::Rect& r) const {
  return {r.x * scale_ + offset_.x(), r.y * scale_ + offset_.y(), r.width * scale_, r.height * scale_};
}

QRectF GraphView::node_rect(trace::NodeId node) const {
  int i = step_ ? step_->picture.find(node) : -1;
  return i < 0 ? QRectF() : to_widget(step_->layout.nodes[static_cast<size_t>(i)]);
}

void GraphView::take_step() {
  StepPtr old = step_;
  step_ = pane_.step_data();
  hover_node_ = hover_edge_ = -1;
  if (step_ && step_->nodes.empty()) step_.reset();
  build_paths();
  find_selected();
  find_marked();
  if (!step_) {
    if (!pane_.compile()) view_set_ = false;
  } else if (!view_set_ || !old || old->picture.grouped_by != step_->picture.grouped_by) {
    first_view();
  } else if (!keep_module(old)) {
    keep_place(old);
  }
  toggled_.clear();
  changed();
}

void GraphView::build_paths() {
  paths_.clear();
  path_bounds_.clear();
  fills_.clear();
  adjacency_.reset();
  if (!step_) return map_->set_graph({}, {});
  adjacency_ = std::make_unique<Adjacency>(step_->picture);
  for (const auto& points : step_->layout.edges) {
    QPainterPath path;
    if (!points.empty()) path.moveTo(points[0].x, points[0].y);
    for (size_t i = 1; i + 2 < points.size(); i += 3)
      path.cubicTo(points[i].x, points[i].y, points[i + 1].x, points[i + 1].y, points[i + 2].x, points[i + 2].y);
    path_bounds_.push_back(path.controlPointRect().adjusted(-4, -4, 4, 4));
    paths_.push_back(std::move(path));
  }
  draw::DrawOptions options = pane_.options();
  options.dark = dark_theme();
  double slowest = draw::slowest(step_->picture);
  for (const auto& node : step_->picture.nodes) fills_.push_back(to_qcolor(draw::node_fill(node, options, slowest)));
  map_->set_graph(step_, fills_);
}

void GraphView::first_view() {
  fit();
  if (scale_ < 0.6) {  // the whole would be too small to read: begin at the top, readable
    scale_ = 0.85;
    offset_ = {width() / 2.0 - top_centre() * scale_, 8};
    clamp();
  }
  view_set_ = true;
  if (selected_ >= 0) centre_on(pane_.selection().node);
  first_scale_ = scale_;
  first_offset_ = offset_;
}

/// The middle of what stands in the first screenful; if that is wider than the view, of the part with the most in it.
double GraphView::top_centre() const {
  constexpr double kWeight = 0.25;  // weights crowd the top, but what is done with them is what one looks for
  const double bottom = height() / scale_, room = (width() - kStripWidth) / scale_ - 40;
  std::vector<std::pair<double, double>> middles;  // with how much each counts
  for (size_t i = 0; i < step_->layout.nodes.size(); ++i)
    if (const auto& r = step_->layout.nodes[i]; r.y < bottom)
      middles.emplace_back(r.centre_x(), step_->picture.nodes[i].op_class == draw::OpClass::Parameter ? kWeight : 1.0);
  if (middles.empty()) return step_->layout.width / 2;
  std::sort(middles.begin(), middles.end());
  double best = middles.front().first, most = 0, here = 0;
  for (size_t first = 0, last = 0; last < middles.size(); ++last) {
    here += middles[last].second;
    while (middles[last].first - middles[first].first > room) here -= middles[first++].second;
    if (here <= most + 1e-6) continue;
    most = here;
    best = (middles[first].first + middles[last].first) / 2;
  }
  return best;
}

trace::NodeId GraphView::anchor(const StepData& old) const {
  auto in_both = [&](trace::NodeId id) { return old.picture.find(id) >= 0 && step_->picture.find(id) >= 0; };
  if (trace::NodeId id = pane_.selection().node; id && in_both(id)) return id;
  QPointF middle = to_scene(QPointF(width() / 2.0, height() / 2.0));
  trace::NodeId best = 0;
  double least = 1e300;
  for (size_t i = 0; i < old.picture.nodes.size(); ++i) {
    const auto& r = old.layout.nodes[i];
    double distance = std::hypot(r.centre_x() - middle.x(), r.y - middle.y());
    if (distance < least && in_both(old.picture.nodes[i].id)) {
      least = distance;
      best = old.picture.nodes[i].id;
    }
  }
  return best;
}

void GraphView::keep_place(const StepPtr& old) {
  trace::NodeId node = anchor(*old);
  if (!node) return first_view();
  const auto& before = old->layout.nodes[static_cast<size_t>(old->picture.find(node))];
  const auto& after = step_->layout.nodes[static_cast<size_t>(step_->picture.find(node))];
  offset_ += QPointF(before.centre_x() - after.centre_x(), before.y - after.y) * scale_;
  clamp();
}

namespace {

const draw::Rect* module_place(const StepData& step, const std::string& path) {
  for (size_t g = 0; g < step.picture.groups.size(); ++g)
    if (step.picture.groups[g].module == path) return &step.layout.groups[g];
  for (size_t i = 0; i < step.picture.nodes.size(); ++i)
    if (step.picture.nodes[i].module == path) return &step.layout.nodes[i];
  return nullptr;
}

}  // namespace

/// A module that was expanded or collapsed keeps the middle of its upper side; an expanded one is brought into view.
bool GraphView::keep_module(const StepPtr& old) {
  if (toggled_.empty()) return false;
  const draw::Rect* before = module_place(*old, toggled_);
  const draw::Rect* after = module_place(*step_, toggled_);
  if (!before || !after) return false;
  offset_ += QPointF(before->centre_x() - after->centre_x(), before->y - after->y) * scale_;
  const QRectF now = to_widget(*after);
  if (now.top() < 0 || now.top() > height() - 40) offset_.ry() += 20 - now.top();
  clamp();
  return true;
}

QRectF GraphView::module_rect(const std::string& path) const {
  const draw::Rect* place = step_ && !path.empty() ? module_place(*step_, path) : nullptr;
  return place ? to_widget(*place) : QRectF();
}

void GraphView::toggle_module(const std::string& path) {
  if (!step_ || path.empty()) return;
  const auto& groups = step_->picture.groups;
  const bool open = std::any_of(groups.begin(), groups.end(), [&](const auto& g) { return g.module == path; });
  module_ = toggled_ = path;
  auto opened = pane_.options().opened;
  opened[path] = !open;
  pane_.set_opened(opened);
}

void GraphView::open_modules(bool open) {
  if (!step_) return;
  auto opened = pane_.options().opened;
  if (open)
    for (const auto& node : step_->picture.nodes)
      if (!node.module.empty()) opened[node.module] = true;
  if (!open)
    for (const auto& group : step_->picture.groups)
      if (!group.module.empty()) opened[group.module] = false;
  pane_.set_opened(opened);
}

void GraphView::fit() {
  if (!step_) return;
  double w = std::max(step_->layout.width, 1.0), h = std::max(step_->layout.height, 1.0);
  scale_ = std::clamp(std::min((width() - 16) / w, (height() - 16) / h), kLeast, 1.25);
  offset_ = {(width() - w * scale_) / 2, (height() - h * scale_) / 2};
  changed();
}

void GraphView::zoom(double factor) { zoom_at(QPointF(width() / 2.0, height() / 2.0), factor); }

void GraphView::zoom_at(QPointF point, double factor) {
  QPointF scene = to_scene(point);
  scale_ = std::clamp(scale_ * factor, kLeast, kMost);
  offset_ = point - scene * scale_;
  clamp();
  changed();
}

void GraphView::centre_on(trace::NodeId node) {
  int i = step_ ? step_->picture.find(node) : -1;
  if (i < 0) return;
  const auto& r = step_->layout.nodes[static_cast<size_t>(i)];
  scale_ = std::max(scale_, 0.6);
  offset_ = QPointF(width() / 2.0, height() / 2.0) - QPointF(r.centre_x(), r.y + r.height / 2) * scale_;
  changed();
}

void GraphView::zoom_to(const QRectF& scene) {
  if (!step_ || scene.isEmpty()) return;
  scale_ = std::clamp(std::min(width() / scene.width(), height() / scene.height()), kLeast, kMost);
  offset_ = QPointF(width() / 2.0, height() / 2.0) - scene.center() * scale_;
  clamp();
  changed();
}

/// The node nearest to the middle that both views show, as the other has it; 0 if there is none.
trace::NodeId GraphView::shared_node(GraphView& other) const {
  const QPointF middle = other.to_scene(QPointF(other.width() / 2.0, other.height() / 2.0));
  trace::NodeId best = 0;
  double least = 1e300;
  for (size_t i = 0; i < other.step_->picture.nodes.size(); ++i) {
    const auto& r = other.step_->layout.nodes[i];
    const double distance = std::hypot(r.centre_x() - middle.x(), r.y - middle.y());
    if (distance >= least) continue;
    const trace::NodeId id = other.step_->picture.nodes[i].id;
    const trace::NodeId mine = pane_.counterpart(other.pane_.context_counterpart(id));
    if (!mine || step_->picture.find(mine) < 0) continue;
    least = distance;
    best = id;
  }
  return best;
}

void GraphView::follow_view(GraphView& other) {
  if (!step_ || !other.step_) return;
  scale_ = other.scale_;
  const QPointF middle(width() / 2.0, height() / 2.0), others(other.width() / 2.0, other.height() / 2.0);
  if (const trace::NodeId id = shared_node(other)) {
    const trace::NodeId mine = pane_.counterpart(other.pane_.context_counterpart(id));
    const auto& there = other.step_->layout.nodes[static_cast<size_t>(other.step_->picture.find(id))];
    const auto& here = step_->layout.nodes[static_cast<size_t>(step_->picture.find(mine))];
    const QPointF from_middle = QPointF(there.centre_x(), there.y) * scale_ + other.offset_ - others;
    offset_ = middle + from_middle - QPointF(here.centre_x(), here.y) * scale_;
  } else {
    const QPointF at = other.to_scene(others);
    const auto part = [](double of, double whole) { return whole > 0 ? of / whole : 0.5; };
    offset_ = middle - QPointF(part(at.x(), other.step_->layout.width) * step_->layout.width,
                               part(at.y(), other.step_->layout.height) * step_->layout.height) *
                           scale_;
  }
  clamp();
  changed();
}

/// Some of the graph always stays in view.
void GraphView::clamp() {
  if (!step_) return;
  double w = step_->layout.width * scale_, h = step_->layout.height * scale_, keep = 80;
  offset_.setX(std::clamp(offset_.x(), std::min(keep - w, 0.0), std::max(width() - keep, 0.0)));
  offset_.setY(std::clamp(offset_.y(), std::min(keep - h, 0.0), std::max(height() - keep, 0.0)));
}

void GraphView::resizeEvent(QResizeEvent* event) {
  const bool untouched = scale_ == first_scale_ && offset_ == first_offset_;
  if (view_set_ && step_ && untouched) {
    first_view();
    changed();
  } else if (event->oldSize().isValid() && step_) {
    QSize by = event->size() - event->oldSize();
    offset_ += QPointF(by.width() / 2.0, by.height() / 2.0);
    clamp();
  }
  QWidget::resizeEvent(event);
  place_map();
}

int GraphView::node_at(QPointF scene) const {
  if (!step_) return -1;
  for (size_t i = 0; i < step_->layout.nodes.size(); ++i)
    if (studio::rect(step_->layout.nodes[i]).contains(scene)) return static_cast<int>(i);
  return -1;
}

int GraphView::group_at(QPointF scene) const {
  if (!step_ || !pane_.options().groups) return -1;
  for (size_t g = step_->layout.groups.size(); g-- > 0;)  // inner frames come after outer ones
    if (studio::rect(step_->layout.groups[g]).contains(scene)) return static_cast<int>(g);
  return -1;
}

bool GraphView::strip_shown() const { return step_ && step_->layout.height * scale_ > height() * 1.5; }

void GraphView::strip_to(double y) {
  double scene = y / height() * step_->layout.height;
  offset_.setY(height() / 2.0 - scene * scale_);
  clamp();
  changed();
}

}  // namespace strata::studio
