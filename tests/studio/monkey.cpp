// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/studio/monkey.h"

#include <QApplication>
#include <QMenu>
#include <QMenuBar>
#include <QTest>
#include <QWheelEvent>

#include "tests/studio/test_support.h"

namespace strata::test {

Monkey::Monkey(studio::Context& context, studio::MainWindow& window, unsigned seed)
    : context_(context), window_(window), random_(seed) {
  QObject::connect(&closer_, &QTimer::timeout, &window_, [] {
    if (QWidget* popup = QApplication::activePopupWidget()) popup->close();
    if (QWidget* dialog = QApplication::activeModalWidget()) dialog->close();
  });
  closer_.start(5);
}

int Monkey::actions(int usual) {
  bool given = false;
  const int wanted = qEnvironmentVariableIntValue("STRATA_MONKEY", &given);
  return given ? wanted : usual;
}

void Monkey::visit_all() {
  for (const std::string& view : studio::MainWindow::views()) {
    EXPECT_TRUE(window_.show_view(QString::fromStdString(view)));
    EXPECT_TRUE(settle(context_)) << view;
    QApplication::processEvents();  // it is painted
  }
}

/// Visible, not part of a menu.
QWidget* Monkey::any_widget() {
  QList<QWidget*> all;
  for (QWidget* widget : window_.findChildren<QWidget*>())
    if (widget->isVisible() && widget->isEnabled() && !qobject_cast<QMenuBar*>(widget) && widget->width() > 3 &&
        widget->height() > 3)
      all << widget;
  return all.isEmpty() ? &window_ : all[pick(static_cast<int>(all.size()))];
}

QPoint Monkey::any_place(const QWidget& widget) { return {pick(widget.width()), pick(widget.height())}; }

void Monkey::click() {
  QPointer<QWidget> widget = any_widget();
  const QPoint at = any_place(*widget);
  const Qt::MouseButton button = pick(8) == 0 ? Qt::RightButton : Qt::LeftButton;
  const Qt::KeyboardModifiers held = pick(6) == 0   ? Qt::ShiftModifier
                                     : pick(8) == 0 ? Qt::ControlModifier
                                                    : Qt::NoModifier;
  switch (pick(5)) {
    case 0:
      return QTest::mouseDClick(widget, button, held, at);
    case 1: {
      const QPoint to = any_place(*widget);
      QTest::mousePress(widget, button, held, at);
      if (widget) QTest::mouseMove(widget, (at + to) / 2);
      if (widget) QTest::mouseMove(widget, to);
      if (widget) QTest::mouseRelease(widget, button, held, to);
      return;
    }
    default:
      return QTest::mouseClick(widget, button, held, at);
  }
}

/// None that asks for a file or ends the program.
void Monkey::key() {
  static const std::vector<QKeyCombination> keys = {Qt::Key_J,
                                                    Qt::Key_K,
                                                    Qt::Key_Left,
                                                    Qt::Key_Right,
                                                    Qt::Key_Up,
                                                    Qt::Key_Down,
                                                    Qt::Key_Tab,
                                                    Qt::Key_Return,
                                                    Qt::Key_Escape,
                                                    Qt::Key_Space,
                                                    Qt::Key_Plus,
                                                    Qt::Key_Minus,
                                                    Qt::Key_F,
                                                    Qt::Key_0,
                                                    Qt::Key_H,
                                                    Qt::Key_M,
                                                    Qt::Key_BracketLeft,
                                                    Qt::Key_BracketRight,
                                                    Qt::Key_Less,
                                                    Qt::Key_Home,
                                                    Qt::Key_End,
                                                    Qt::Key_Greater,
                                                    Qt::Key_PageUp,
                                                    Qt::Key_PageDown,
                                                    Qt::Key_F3,
                                                    Qt::Key_W,
                                                    Qt::Key_A,
                                                    Qt::Key_S,
                                                    Qt::Key_D,
                                                    Qt::Key_G,
                                                    Qt::Key_N,
                                                    Qt::Key_P,
                                                    Qt::Key_Period,
                                                    Qt::Key_Comma,
                                                    Qt::Key_Slash,
                                                    Qt::Key_Delete,
                                                    Qt::Key_X,
                                                    Qt::Key_1,
                                                    Qt::Key_2,
                                                    Qt::Key_3,
                                                    Qt::Key_Backspace,
                                                    Qt::CTRL | Qt::Key_F,
                                                    Qt::CTRL | Qt::Key_A,
                                                    Qt::CTRL | Qt::Key_C,
                                                    Qt::CTRL | Qt::Key_Z,
                                                    Qt::ALT | Qt::Key_Left,
                                                    Qt::ALT | Qt::Key_Right,
                                                    Qt::SHIFT | Qt::Key_F3,
                                                    Qt::SHIFT | Qt::Key_Tab,
                                                    Qt::CTRL | Qt::SHIFT | Qt::Key_F,
                                                    Qt::SHIFT | Qt::Key_Down};
  const QKeyCombination chosen = keys[static_cast<size_t>(pick(static_cast<int>(keys.size())))];
  QWidget* focus = QApplication::focusWidget();
  QTest::keyClick(focus ? focus : &window_, chosen.key(), chosen.keyboardModifiers());
}

void Monkey::wheel() {
  QWidget* widget = any_widget();
  const QPointF at = any_place(*widget);
  QWheelEvent event(at, widget->mapToGlobal(at), {}, {0, pick(2) ? 120 : -120}, Qt::NoButton,
                    pick(3) ? Qt::NoModifier : Qt::ControlModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(widget, &event);
}

/// What takes many clicks to come to.
void Monkey::go() {
  const auto& views = studio::MainWindow::views();
  const auto compile = context_.compile();
  switch (pick(6)) {
    case 0:
      window_.show_view(QString::fromStdString(views[static_cast<size_t>(pick(static_cast<int>(views.size())))]));
      return;
    case 1:
      if (const auto step = context_.step_data(); step && !step->nodes.empty())
        context_.select_node(step->nodes[static_cast<size_t>(pick(static_cast<int>(step->nodes.size())))].id);
      return;
    case 2:
      if (compile && !compile->kernels.empty())
        context_.select_kernel(
            compile->kernels[static_cast<size_t>(pick(static_cast<int>(compile->kernels.size())))].id);
      return;
    case 3:
      if (compile && !compile->snapshots.empty())
        context_.select_snapshot(
            compile->snapshots[static_cast<size_t>(pick(static_cast<int>(compile->snapshots.size())))].id);
      return;
    case 4:
      if (!context_.compiles().empty())
        context_.select_compile(
            context_.compiles()[static_cast<size_t>(pick(static_cast<int>(context_.compiles().size())))].id);
      return;
    default:
      return context_.go(pick(2) ? 1 : -1);
  }
}

void Monkey::act() {
  const int kind = pick(20);
  if (kind < 8) return click();
  if (kind < 14) return key();
  if (kind < 16) return wheel();
  go();
}

bool Monkey::play(int actions) {
  for (int i = 0; i < actions; ++i) {
    act();
    if (pick(6) == 0) QApplication::processEvents();
    if (pick(40) == 0 && !settle(context_)) return false;
    if (!window_.isVisible()) window_.show();
  }
  return settle(context_);
}

}  // namespace strata::test
