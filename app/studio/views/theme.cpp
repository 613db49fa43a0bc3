// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QPalette>
#include <QStyleFactory>

namespace strata::studio {
namespace {

bool g_dark = false;

QPalette light_palette() {
  QPalette p(QColor(240, 242, 245));
  p.setColor(QPalette::Window, QColor(240, 242, 245));
  p.setColor(QPalette::Base, Qt::white);
  p.setColor(QPalette::AlternateBase, QColor(246, 247, 250));
  p.setColor(QPalette::Text, QColor(28, 32, 38));
  p.setColor(QPalette::WindowText, QColor(28, 32, 38));
  p.setColor(QPalette::ButtonText, QColor(28, 32, 38));
  p.setColor(QPalette::Highlight, QColor(190, 214, 250));
  p.setColor(QPalette::HighlightedText, QColor(16, 20, 30));
  p.setColor(QPalette::Link, QColor(26, 98, 230));
  p.setColor(QPalette::PlaceholderText, QColor(110, 118, 130));
  return p;
}

QPalette dark_palette() {
  QPalette p(QColor(43, 46, 53));
  p.setColor(QPalette::Window, QColor(43, 46, 53));
  p.setColor(QPalette::Base, QColor(30, 32, 37));
  p.setColor(QPalette::AlternateBase, QColor(36, 39, 45));
  p.setColor(QPalette::Button, QColor(54, 58, 66));
  p.setColor(QPalette::Text, QColor(228, 231, 236));
  p.setColor(QPalette::WindowText, QColor(228, 231, 236));
  p.setColor(QPalette::ButtonText, QColor(228, 231, 236));
  p.setColor(QPalette::BrightText, Qt::white);
  p.setColor(QPalette::Highlight, QColor(48, 84, 144));
  p.setColor(QPalette::HighlightedText, Qt::white);
  p.setColor(QPalette::Link, QColor(120, 172, 255));
  p.setColor(QPalette::ToolTipBase, QColor(54, 58, 66));
  p.setColor(QPalette::ToolTipText, QColor(228, 231, 236));
  p.setColor(QPalette::PlaceholderText, QColor(150, 156, 166));
  for (auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
    p.setColor(QPalette::Disabled, role, QColor(128, 134, 144));
  return p;
}

}  // namespace

void apply_theme(bool dark) {
  g_dark = dark;
  QApplication::setStyle(QStyleFactory::create("Fusion"));
  QApplication::setPalette(dark ? dark_palette() : light_palette());
  QFont font = QApplication::font();
  if (QFontDatabase::families().contains("DejaVu Sans")) font.setFamily("DejaVu Sans");
  font.setPixelSize(12);
  QApplication::setFont(font);
  QString border = dark ? "#14161a" : "#c8ced8", pane = dark ? "#36393f" : "#e4e8ee";
  QString on = dark ? "#30446a" : "#d4e3fb", on_border = dark ? "#6a8ccc" : "#88aee8";
  qApp->setStyleSheet(
      QString("QDockWidget::title { background: %2; padding: 5px 8px; }"
              "QTreeView, QTableView, QPlainTextEdit { border: 1px solid %1; }"
              "QHeaderView::section { background: %2; border: none; border-right: 1px solid %1; padding: 4px 6px; }"
              "QTreeView::item { padding: 2px 0; }"
              "QToolBar { spacing: 3px; }"
              "QToolBar QToolButton { padding: 3px 8px; border: 1px solid transparent; border-radius: 4px; }"
              "QToolBar QToolButton:hover { background: %2; }"
              "QToolBar QToolButton:checked { background: %3; border-color: %4; }"
              "QToolTip { padding: 3px; }")
          .arg(border, pane, on, on_border));
}

bool dark_theme() { return g_dark; }

QColor to_qcolor(draw::Colour c) { return QColor(c.r, c.g, c.b); }
QColor line_highlight() { return g_dark ? QColor(84, 74, 26) : QColor(255, 240, 176); }
QColor caller_highlight() { return g_dark ? QColor(44, 52, 70) : QColor(230, 237, 250); }

QFont code_font() {
  QFont font("DejaVu Sans Mono");
  font.setStyleHint(QFont::Monospace);
  font.setPixelSize(12);
  return font;
}

}  // namespace strata::studio
