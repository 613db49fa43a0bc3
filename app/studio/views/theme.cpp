// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QPainter>
#include <QPalette>
#include <QPixmap>
#include <QStyleFactory>
#include <algorithm>
#include <cmath>

namespace strata::studio {
namespace {

bool g_dark = false;
double g_text_scale = 1;

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
  p.setColor(QPalette::PlaceholderText, QColor(92, 99, 111));
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
  font.setPixelSize(scaled(12));
  QApplication::setFont(font);
  QString border = dark ? "#14161a" : "#c8ced8", pane = dark ? "#36393f" : "#e4e8ee";
  QString on = dark ? "#30446a" : "#d4e3fb", on_border = dark ? "#6a8ccc" : "#88aee8";
  qApp->setStyleSheet(
      QString(
          "QDockWidget::title { background: %2; padding: 5px 8px; }"
          "QTreeView, QTableView, QPlainTextEdit { border: 1px solid %1; }"
          "QHeaderView::section { background: %2; border: none; border-right: 1px solid %1; padding: 4px 6px; }"
          "QTreeView::item { padding: 2px 0; }"
          "QToolBar { spacing: 3px; }"
          "QToolBar QToolButton { padding: 3px 8px; border: 1px solid transparent; border-radius: 4px; }"
          "QToolBar QToolButton:hover { background: %2; }"
          "QToolBar QToolButton:checked { background: %3; border-color: %4; }"
          "QToolTip { padding: 3px; }"
          "QMainWindow > QTabBar::tab { padding: 4px 6px; border: 1px solid %1; background: %2; margin-right: 1px; }"
          "QMainWindow > QTabBar::tab:selected { background: %3; border-color: %4; }"
          "QMainWindow > QTabBar::tab:hover { border-color: %4; }")
          .arg(border, pane, on, on_border));
}

bool dark_theme() { return g_dark; }

void set_text_scale(double scale) { g_text_scale = scale >= 0.75 && scale <= 3 ? scale : 1; }
double text_scale() { return g_text_scale; }
int scaled(int pixels) { return static_cast<int>(std::lround(pixels * g_text_scale)); }

QColor to_qcolor(draw::Colour c) { return QColor(c.r, c.g, c.b); }
namespace {

double luminance(const QColor& c) {
  const auto part = [](double v) { return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
  return 0.2126 * part(c.redF()) + 0.7152 * part(c.greenF()) + 0.0722 * part(c.blueF());
}

}  // namespace

double contrast(const QColor& a, const QColor& b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

QColor text_colour(draw::Colour c) {
  QColor colour = to_qcolor(c);
  const QColor back = QApplication::palette().color(QPalette::Base);
  for (int i = 0; i < 20 && contrast(colour, back) < 4.8; ++i)
    colour = g_dark ? colour.lighter(108) : colour.darker(108);
  return colour;
}

QColor line_highlight() { return g_dark ? QColor(84, 74, 26) : QColor(255, 240, 176); }
QColor caller_highlight() { return g_dark ? QColor(44, 52, 70) : QColor(230, 237, 250); }

QFont code_font() {
  QFont font("DejaVu Sans Mono");
  font.setStyleHint(QFont::Monospace);
  font.setPixelSize(scaled(12));
  return font;
}

QIcon program_icon() {
  QIcon icon;
  for (const int size : {16, 24, 32, 48, 64, 128}) {
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter p(&pixmap);
    p.setRenderHint(QPainter::Antialiasing);
    p.scale(size / 64.0, size / 64.0);
    p.setPen(QPen(Qt::white, 2));
    const QColor layers[] = {QColor(0x2f, 0x5d, 0xa8), QColor(0x2a, 0x8a, 0x7a), QColor(0xe0, 0x9a, 0x2b)};
    for (int i = 0; i < 3; ++i) {
      const double y = 44 - 13 * i;
      p.setBrush(layers[i]);
      p.drawPolygon(QPolygonF({{32, y - 14}, {61, y}, {32, y + 14}, {3, y}}));
    }
    p.end();
    icon.addPixmap(pixmap);
  }
  return icon;
}

}  // namespace strata::studio
