// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/view_export.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QBuffer>
#include <QFileInfo>
#include <QHeaderView>
#include <QImage>
#include <QPainter>
#include <QPdfWriter>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTableView>
#include <QTextBrowser>
#include <QTreeView>
#include <algorithm>

#include "app/draw/export.h"
#include "app/studio/models/copy_text.h"
#include "app/studio/views/svg_device.h"
#include "core/support/error.h"

namespace strata::studio {
namespace {

/// How much higher and wider a scrolling part would have to be to show everything.
QSize excess(const QAbstractScrollArea& area) {
  const QScrollBar *down = area.verticalScrollBar(), *across = area.horizontalScrollBar();
  int high = down->maximum() - down->minimum(), wide = across->maximum() - across->minimum();
  if (const auto* text = qobject_cast<const QPlainTextEdit*>(&area))
    high *= text->fontMetrics().lineSpacing();
  else if (const auto* table = qobject_cast<const QTableView*>(&area))
    high = std::max(0, table->verticalHeader()->length() - table->viewport()->height());
  else if (const auto* list = qobject_cast<const QAbstractItemView*>(&area);
           list && list->verticalScrollMode() == QAbstractItemView::ScrollPerItem)
    high *= std::max(list->sizeHintForRow(0), 1);
  return {std::max(wide, 0), std::max(high, 0)};
}

QSize excess_of(const QWidget& page) {
  QSize most(0, 0);
  QList<const QAbstractScrollArea*> areas;
  for (const auto* area : page.findChildren<QAbstractScrollArea*>()) areas << area;
  if (const auto* area = qobject_cast<const QAbstractScrollArea*>(&page)) areas << area;
  for (const auto* area : areas)
    if (area->isVisibleTo(&page)) most = most.expandedTo(excess(*area));
  for (const auto* widget : page.findChildren<QWidget*>())
    if (const int whole = widget->property("whole_height").toInt(); whole > 0 && widget->isVisibleTo(&page))
      most.setHeight(std::max(most.height(), whole - widget->height()));
  return most;
}

/// Makes a page as large as what it holds, as long as the object lives.
class Grown {
 public:
  explicit Grown(QWidget& page) : page_(page), size_(page.size()) {
    // Layouts share what is added among several parts: it takes some rounds until the last one has enough.
    for (int round = 0; round < 6; ++round) {
      const QSize more = excess_of(page);
      const QSize next = (page.size() + more).boundedTo(kLargestPicture).expandedTo(size_);
      if (more == QSize(0, 0) || next == page.size()) break;
      page.resize(next);
      QApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
    }
  }
  ~Grown() { page_.resize(size_); }
  Grown(const Grown&) = delete;
  Grown& operator=(const Grown&) = delete;

 private:
  QWidget& page_;
  QSize size_;
};

void paint(QWidget& page, QPaintDevice& device) {
  QPainter painter(&device);
  painter.fillRect(page.rect(), page.palette().color(QPalette::Window));
  page.render(&painter);
}

QByteArray to_svg(QWidget& page) {
  SvgDevice device(page.size());
  paint(page, device);
  return device.document();
}

QByteArray to_png(QWidget& page) {
  // Sharp on fine screens, but never more than a hundred million pixels.
  const double pixels = static_cast<double>(page.width()) * page.height();
  const double scale = std::min(page.devicePixelRatioF(), std::sqrt(1e8 / std::max(pixels, 1.0)));
  QImage image((QSizeF(page.size()) * scale).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  image.fill(page.palette().color(QPalette::Window));
  paint(page, image);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  if (!image.save(&buffer, "PNG")) throw_runtime("the picture could not be encoded as PNG");
  return bytes;
}

QByteArray to_pdf(QWidget& page) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&buffer);
    writer.setCreator("Strata Studio");
    writer.setResolution(96);
    writer.setPageSize(QPageSize(QSizeF(page.size()) * 72 / 96, QPageSize::Point, {}, QPageSize::ExactMatch));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    paint(page, writer);
  }
  return bytes;
}

template <class Widget>
QList<Widget*> shown(const QWidget& page) {
  QList<Widget*> all = page.findChildren<Widget*>();
  if (auto* self = qobject_cast<const Widget*>(&page)) all << const_cast<Widget*>(self);
  all.removeIf([&](Widget* w) { return w != &page && !w->isVisibleTo(&page); });
  return all;
}

/// The table with the focus, else the one with most rows.
const QAbstractItemView* main_table(const QWidget& page) {
  const QAbstractItemView* best = nullptr;
  for (const QAbstractItemView* table : shown<QAbstractItemView>(page)) {
    if (!table->model()) continue;
    if (table->hasFocus()) return table;
    if (!best || table->model()->rowCount() > best->model()->rowCount()) best = table;
  }
  return best;
}

QByteArray to_csv(const QWidget& page) {
  const QAbstractItemView* table = main_table(page);
  if (!table) throw_user("this page has no table to write as CSV", "choose svg, png, pdf or txt");
  return table_text(*table->model(), TableFormat::Csv).toUtf8();
}

QByteArray to_text(const QWidget& page) {
  QStringList parts;
  for (const QTextBrowser* text : shown<QTextBrowser>(page)) parts << text->toPlainText() + '\n';
  for (const QPlainTextEdit* text : shown<QPlainTextEdit>(page)) parts << text->toPlainText() + '\n';
  for (const QAbstractItemView* table : shown<QAbstractItemView>(page))
    if (table->model()) parts << table->accessibleName() + '\n' + table_text(*table->model(), TableFormat::Tabs);
  if (parts.isEmpty()) throw_user("this page has no text", "choose svg, png or pdf");
  return parts.join('\n').toUtf8();
}

}  // namespace

QStringList view_formats(const QWidget& page) {
  QStringList formats = {"svg", "png", "pdf"};
  if (main_table(page)) formats << "csv";
  if (main_table(page) || !shown<QTextBrowser>(page).isEmpty() || !shown<QPlainTextEdit>(page).isEmpty())
    formats << "txt";
  return formats;
}

QByteArray render_view(QWidget& page, const QString& format) {
  if (format == "csv") return to_csv(page);
  if (format == "txt") return to_text(page);
  static const std::vector<std::string> known = {"svg", "png", "pdf", "csv", "txt"};
  if (format == "dot") throw_user("only graphs can be written as DOT", "choose svg, png, pdf, csv or txt");
  if (std::find(known.begin(), known.end(), format.toStdString()) == known.end())
    throw_user("unknown picture format '" + format.toStdString() + "'", suggest(format.toStdString(), known));
  const Grown whole(page);
  return format == "svg" ? to_svg(page) : format == "png" ? to_png(page) : to_pdf(page);
}

void export_view(QWidget& page, const QString& path) {
  const QByteArray content = render_view(page, QFileInfo(path).suffix().toLower());
  draw::write_file(path.toStdString(), {content.constData(), static_cast<size_t>(content.size())});
}

}  // namespace strata::studio
