// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/layout_history.h"

#include <QAction>
#include <QEvent>
#include <QPointer>
#include <QRegularExpression>

#include "app/studio/models/undo.h"

namespace strata::studio {

LayoutHistory::LayoutHistory(QMainWindow& window, QUndoStack& stack)
    : QObject(&window), window_(window), stack_(stack) {
  soon_.setSingleShot(true);
  soon_.setInterval(50);  // hiding several pages makes several signals
  connect(&soon_, &QTimer::timeout, this, &LayoutHistory::look);
}

void LayoutHistory::start() {
  if (started_) return forget();
  started_ = true;
  window_.installEventFilter(this);
  for (auto* dock : window_.findChildren<QDockWidget*>()) {
    const auto changed = [this] {
      if (!applying_) soon_.start();
    };
    connect(dock, &QDockWidget::topLevelChanged, this, changed);
    connect(dock, &QDockWidget::dockLocationChanged, this, changed);
    connect(dock->toggleViewAction(), &QAction::toggled, this, changed);
  }
  for (auto* splitter : window_.findChildren<QSplitter*>()) watch(*splitter);
  forget();
}

void LayoutHistory::forget() {
  soon_.stop();
  state_ = window_.saveState();
  places_ = places();
}

QStringList LayoutHistory::places() const {
  QStringList result;
  for (const auto* dock : window_.findChildren<QDockWidget*>()) {
    QStringList beside;
    for (const auto* other : window_.tabifiedDockWidgets(const_cast<QDockWidget*>(dock))) beside << other->objectName();
    beside.sort();
    const bool shown = dock->toggleViewAction()->isChecked();
    result << QString("%1 %2 %3 %4 %5")
                  .arg(dock->objectName(), shown ? "shown" : "hidden", dock->isFloating() ? "alone" : "inside")
                  .arg(shown ? static_cast<int>(window_.dockWidgetArea(const_cast<QDockWidget*>(dock))) : 0)
                  .arg(shown ? beside.join(',') : QString());
  }
  result.sort();
  return result;
}

QString LayoutHistory::name_change(const QStringList& before, const QStringList& now) const {
  QStringList shown, hidden;
  for (const QString& place : now) {
    const QString name = place.section(' ', 0, 0), state = place.section(' ', 1, 1);
    const QStringList old = before.filter(QRegularExpression("^" + QRegularExpression::escape(name) + " "));
    if (old.isEmpty() || old.front().section(' ', 1, 1) == state) continue;
    (state == "shown" ? shown : hidden) << name;
  }
  const auto of = [](const QStringList& names) {
    return names.size() == 1 ? names.front() : QString("%1 pages").arg(names.size());
  };
  if (!shown.isEmpty() && !hidden.isEmpty()) return "change pages";
  if (!shown.isEmpty()) return "show " + of(shown);
  if (!hidden.isEmpty()) return "hide " + of(hidden);
  return "move pages";
}

void LayoutHistory::look() {
  soon_.stop();
  if (!started_ || applying_) return;
  const QStringList now = places();
  if (now == places_) return;
  const QString text = name_change(places_, now);
  const QByteArray before = state_;
  places_ = now;
  state_ = window_.saveState();
  push(text, before, state_, {});
}

void LayoutHistory::push(const QString& text, const QByteArray& before, const QByteArray& now, const QString& merge) {
  stack_.push(new LayoutChange(text, [this, now] { apply(now); }, [this, before] { apply(before); }, true, merge));
}

void LayoutHistory::apply(const QByteArray& state) {
  applying_ = true;
  window_.restoreState(state);
  applying_ = false;
  forget();
}

/// Presses that arrive at the window itself are on the lines between its pages.
bool LayoutHistory::eventFilter(QObject* watched, QEvent* event) {
  if (watched != &window_) return false;
  if (event->type() == QEvent::MouseButtonPress) pressed_ = window_.saveState();
  if (event->type() == QEvent::MouseButtonRelease && !pressed_.isEmpty()) {
    const QByteArray before = std::exchange(pressed_, {});
    const QByteArray now = window_.saveState();
    if (before != now && places() == places_) {
      state_ = now;
      push("move a splitter", before, now, {});
    }
  }
  return false;
}

void LayoutHistory::watch(QSplitter& splitter) {
  splitters_[&splitter] = splitter.sizes();
  connect(&splitter, &QObject::destroyed, this, [this, key = &splitter] { splitters_.erase(key); });
  connect(&splitter, &QSplitter::splitterMoved, this, [this, where = QPointer<QSplitter>(&splitter)] {
    if (!where) return;
    const QList<int> before = std::exchange(splitters_[where], where->sizes()), now = where->sizes();
    if (before.size() != now.size()) return;
    const auto set = [this, where](const QList<int>& sizes) {
      if (!where) return;
      where->setSizes(sizes);
      splitters_[where] = where->sizes();
    };
    const QString key = QString("splitter %1").arg(reinterpret_cast<quintptr>(where.data()));
    stack_.push(
        new LayoutChange("move a splitter", [set, now] { set(now); }, [set, before] { set(before); }, true, key));
  });
}

}  // namespace strata::studio
