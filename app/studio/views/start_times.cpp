// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/start_times.h"

#include <QEvent>
#include <QFile>
#include <QTimer>
#include <chrono>

#include "app/studio/views/main_window.h"

namespace strata::studio {

namespace {

qint64 now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

qint64 most_memory() {
  QFile status("/proc/self/status");
  if (!status.open(QIODevice::ReadOnly)) return 0;
  for (const QByteArray& line : status.readAll().split('\n'))
    if (line.startsWith("VmHWM:")) return line.mid(6).trimmed().split(' ').front().toLongLong();
  return 0;
}

}  // namespace

StartTimes::StartTimes(MainWindow& window, Context& context) : window_(window), context_(context) {
  window.installEventFilter(this);
  window.graph().installEventFilter(this);
}

/// The event is seen before it is handled: the time is taken when the loop comes round again.
bool StartTimes::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::Paint) return false;
  if (window_painted_ == 0) {
    window_painted_ = -1;
    QTimer::singleShot(0, this, [this] { window_painted_ = now(); });
  }
  if (watched == &window_.graph() && context_.step_data() && graph_painted_ == 0) {
    graph_painted_ = -1;
    QTimer::singleShot(0, this, [this] { graph_painted_ = now(); });
  }
  return false;
}

QString StartTimes::line() const {
  return QString("window %1 graph %2 settled %3 memory %4")
      .arg(window_painted_)
      .arg(graph_painted_)
      .arg(now())
      .arg(most_memory());
}

}  // namespace strata::studio
