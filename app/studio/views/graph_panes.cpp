// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/graph_panes.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QPointer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/studio/models/lists.h"
#include "app/studio/models/undo.h"
#include "core/support/error.h"

namespace strata::studio {

GraphPanes::GraphPanes(Context& context, QWidget* parent)
    : QWidget(parent), context_(context), rows_(new QSplitter(Qt::Vertical)) {
  setAccessibleName("graphs");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(rows_);
  rows_->setChildrenCollapsible(false);
  auto* main = new PaneBox(context_, Pane::Kind::Main, this);
  boxes_.push_back(main);
  active_ = main;
  join(*main);
  arrange();
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) { focus_changed(now); });
  connect(&context_, &Context::compileChanged, this, qOverload<>(&GraphPanes::open_waiting));
}

/// Boxes tell of their end; nobody is to hear it by then.
GraphPanes::~GraphPanes() { disconnect(qApp, nullptr, this, nullptr); }

void GraphPanes::join(PaneBox& box) {
  connect(&box.graph(), &GraphView::viewChanged, this, [this, &box] { share_view(box); });
  connect(&box.graph(), &GraphView::pin_requested, this, [this, &box] {
    set_active(box.pane());
    split();
  });
  connect(&box.view_link(), &QToolButton::toggled, this, [this, &box](bool on) {
    if (on) box.graph().follow_view(main());
  });
  connect(&box, &PaneBox::close_requested, this, [this, &box] {
    set_active(box.pane());
    close_active();
  });
  connect(&box.pane(), &Pane::lost, this, [this, &box] { remove(box.pane()); }, Qt::QueuedConnection);
}

PaneBox& GraphPanes::add_box() {
  auto* box = new PaneBox(context_, Pane::Kind::Pinned, this);
  boxes_.push_back(box);
  join(*box);
  arrange();
  emit panesChanged();
  return *box;
}

Pane& GraphPanes::add() { return add_box().pane(); }

void GraphPanes::remove(Pane& pane) {
  if (pane.pinned()) remove_box(&box(pane));
}

void GraphPanes::remove_box(PaneBox* box) {
  std::erase(boxes_, box);
  const bool was_active = active_ == box;
  if (was_active) {
    active_ = boxes_.back();
    active_->set_active(true);
  }
  box->hide();
  box->setParent(nullptr);
  box->deleteLater();
  arrange();
  if (was_active) active_->take_focus();
  emit panesChanged();
  if (was_active) emit activeChanged();
}

std::vector<Pane*> GraphPanes::panes() const {
  std::vector<Pane*> result;
  for (PaneBox* box : boxes_) result.push_back(&box->pane());
  return result;
}

PaneBox& GraphPanes::box(const Pane& pane) const {
  for (PaneBox* box : boxes_)
    if (&box->pane() == &pane) return *box;
  return *boxes_.front();
}

// ---------------------------------------------------------------------------------------------- opening and closing

namespace {

/// What is needed to open a pane again that was closed.
struct Shown {
  std::shared_ptr<trace::Reader> reader;
  trace::Id compile = trace::kNone, snapshot = trace::kNone;

  static Shown of(const Pane& pane) {
    const StepPtr step = pane.step_data();
    if (!step || !pane.reader()) return {};
    return {pane.reader(), step->snapshot.compile, step->snapshot.id};
  }
};

}  // namespace

Pane* GraphPanes::split() {
  const Shown shown = Shown::of(active_->pane());
  if (!shown.reader) return nullptr;
  // A pane that is taken back and opened again is another one: what is kept is where it is.
  auto made = std::make_shared<QPointer<PaneBox>>();
  const auto open = [self = QPointer(this), shown, made] {
    if (!self) return;
    PaneBox& box = self->add_box();
    *made = &box;
    box.pane().show(shown.reader, shown.compile, shown.snapshot);
    self->set_active(box.pane());
  };
  const auto close = [self = QPointer(this), made] {
    if (self && *made) self->remove_box(*made);
  };
  context_.undo().push(new LayoutChange("open a pane", open, close));
  return &(*made)->pane();
}

void GraphPanes::close_active() {
  PaneBox* closing = active_->pane().pinned() ? active_ : boxes_.back();
  if (!closing->pane().pinned()) return;
  const Shown shown = Shown::of(closing->pane());
  if (!shown.reader) return remove_box(closing);
  auto made = std::make_shared<QPointer<PaneBox>>(closing);
  const auto close = [self = QPointer(this), made] {
    if (self && *made) self->remove_box(*made);
  };
  const auto open = [self = QPointer(this), shown, made] {
    if (!self) return;
    PaneBox& box = self->add_box();
    *made = &box;
    box.pane().show(shown.reader, shown.compile, shown.snapshot);
  };
  context_.undo().push(new LayoutChange("close a pane", close, open));
}

void GraphPanes::open_stage(const QString& text) {
  waiting_ << text;
  open_waiting();
}

void GraphPanes::open_waiting() {
  if (!context_.compile()) return;
  for (const QString& text : std::exchange(waiting_, {})) open_waiting(text);
}

void GraphPanes::open_waiting(const QString& text) {
  const int at = static_cast<int>(text.indexOf('@'));
  const std::string stage = text.mid(at + 1).toStdString(), graph = text.left(std::max(at, 0)).toStdString();
  try {
    const auto reader = context_.reader();
    const trace::CompileRecord compile = at < 0 ? context_.compile()->compile : reader->find_compile(graph);
    const trace::SnapshotRecord snapshot = reader->find_snapshot(compile.id, stage);
    add().show(reader, compile.id, snapshot.id);
  } catch (const Error& error) {
    context_.report(QString::fromUtf8(error.what()), error.exit_code());
  }
}

// ------------------------------------------------------------------------------------------------------ the active one

void GraphPanes::focus_changed(QWidget* now) {
  for (PaneBox* box : boxes_)
    if (now && box != active_ && box->isAncestorOf(now)) return set_active(box->pane());
}

void GraphPanes::set_active(Pane& pane) {
  PaneBox& chosen = box(pane);
  const bool other = active_ != &chosen;
  active_ = &chosen;
  for (PaneBox* box : boxes_) box->set_active(box == active_);
  if (!chosen.isAncestorOf(QApplication::focusWidget())) chosen.take_focus();
  if (other) emit activeChanged();
}

void GraphPanes::activate_next(int by) {
  const int count = static_cast<int>(boxes_.size());
  const int at = static_cast<int>(std::find(boxes_.begin(), boxes_.end(), active_) - boxes_.begin());
  PaneBox* next = boxes_[static_cast<size_t>((at + by + count) % count)];
  next->take_focus();
  set_active(next->pane());
}

bool GraphPanes::step(int by) {
  if (!active_->pane().pinned()) return false;
  active_->pane().step(by);
  return true;
}

/// What is in view of the one that was moved, in all that are linked with it. The main one is linked with all.
void GraphPanes::share_view(PaneBox& moved) {
  if (sharing_ || (moved.pane().pinned() && !moved.view_linked())) return;
  sharing_ = true;
  for (PaneBox* box : boxes_) {
    const bool linked = box->pane().pinned() ? box->view_linked() : moved.pane().pinned();
    if (box != &moved && linked) box->graph().follow_view(moved.graph());
  }
  sharing_ = false;
}

// -------------------------------------------------------------------------------------------------------- arrangement

int GraphPanes::columns() const {
  const int count = static_cast<int>(boxes_.size());
  if (arrangement_ == Arrangement::Row) return count;
  if (arrangement_ == Arrangement::Column) return 1;
  if (arrangement_ == Arrangement::Grid) return static_cast<int>(std::ceil(std::sqrt(count)));
  // Graphs are mostly taller than wide; a row is given up only when its panes would be slim.
  constexpr double kShape = 0.8;  // width by height
  int best = 1;
  double least = 1e300;
  for (int columns = 1; columns <= count; ++columns) {
    const int rows = (count + columns - 1) / columns;
    const double w = static_cast<double>(std::max(width(), 1)) / columns,
                 h = static_cast<double>(std::max(height(), 1)) / rows;
    const double off = std::abs(std::log(w / h / kShape)) + 0.02 * (rows * columns - count);
    if (off < least) {
      least = off;
      best = columns;
    }
  }
  return best;
}

/// Puts the boxes into rows; all of a row are equally wide, all rows equally high.
void GraphPanes::arrange() {
  QWidget* focus = QApplication::focusWidget();
  std::vector<QWidget*> old;
  for (int i = 0; i < rows_->count(); ++i) old.push_back(rows_->widget(i));
  arranged_columns_ = columns();
  const bool alone = boxes_.size() == 1;
  QSplitter* row = nullptr;
  for (size_t i = 0; i < boxes_.size(); ++i) {
    if (i % static_cast<size_t>(arranged_columns_) == 0) {
      row = new QSplitter(Qt::Horizontal);
      row->setChildrenCollapsible(false);
      rows_->addWidget(row);
    }
    row->addWidget(boxes_[i]);
    boxes_[i]->set_alone(alone);
    boxes_[i]->set_active(boxes_[i] == active_);
    boxes_[i]->show();
  }
  for (QWidget* gone : old) delete gone;
  for (int i = 0; i < rows_->count(); ++i)
    if (auto* each = qobject_cast<QSplitter*>(rows_->widget(i))) each->setSizes(QList<int>(each->count(), 10000));
  rows_->setSizes(QList<int>(rows_->count(), 10000));
  if (focus && isAncestorOf(focus)) focus->setFocus();
}

void GraphPanes::set_arrangement(Arrangement arrangement) {
  if (arrangement == arrangement_) return;
  const auto set = [this](Arrangement to) {
    return [self = QPointer(this), to] {
      if (!self) return;
      self->arrangement_ = to;
      self->arrange();
      emit self->panesChanged();
    };
  };
  context_.undo().push(new LayoutChange("arrange panes", set(arrangement), set(arrangement_)));
}

void GraphPanes::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (boxes_.size() > 1 && columns() != arranged_columns_) arrange();
}

QList<QAction*> GraphPanes::make_actions(QObject* owner) {
  QList<QAction*> actions;
  const auto add_action = [&](const QString& text, const QList<QKeySequence>& keys, auto what) {
    auto* action = new QAction(text, owner);
    action->setShortcuts(keys);
    connect(action, &QAction::triggered, this, what);
    actions << action;
    return action;
  };
  add_action("&Split: this stage in another pane", {QKeySequence("Ctrl+\\")}, [this] { split(); });
  auto* close = add_action("&Close pane", {QKeySequence("Ctrl+W")}, [this] { close_active(); });
  auto* next = add_action("Next &pane", {QKeySequence("Ctrl+Tab")}, [this] { activate_next(1); });
  auto* last = add_action("Pane &before", {QKeySequence("Ctrl+Shift+Tab")}, [this] { activate_next(-1); });
  const auto enable = [this, close, next, last] {
    for (QAction* action : {close, next, last}) action->setEnabled(boxes_.size() > 1);
  };
  connect(this, &GraphPanes::panesChanged, close, enable);
  enable();
  auto* group = new QActionGroup(owner);
  const QStringList names = {"Panes as they fit", "Panes in a row", "Panes in a column", "Panes in a grid"};
  for (int i = 0; i < names.size(); ++i) {
    auto* action = add_action(names[i], {}, [this, i] { set_arrangement(static_cast<Arrangement>(i)); });
    action->setCheckable(true);
    action->setChecked(i == static_cast<int>(arrangement_));
    group->addAction(action);
    connect(this, &GraphPanes::panesChanged, action,
            [this, action, i] { action->setChecked(i == static_cast<int>(arrangement_)); });
  }
  return actions;
}

}  // namespace strata::studio
