// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/welcome.h"

#include <QDir>
#include <QEvent>
#include <QFileInfo>
#include <QLocale>
#include <QScrollBar>

#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

constexpr int kWidth = 640;  // of the text, at 100 %

QString date_text(const QDateTime& when) {
  if (!when.isValid()) return {};
  const qint64 days = when.date().daysTo(QDate::currentDate());
  if (days == 0) return "today " + when.time().toString("HH:mm");
  if (days == 1) return "yesterday " + when.time().toString("HH:mm");
  return when.date().toString(Qt::ISODate);
}

QString short_folder(const QString& path) {
  const QString folder = QFileInfo(path).path();
  const QString home = QDir::homePath();
  return home.size() > 1 && folder.startsWith(home) ? "~" + folder.mid(home.size()) : folder;
}

}  // namespace

WelcomePage::WelcomePage(RecentFiles& recent, QWidget* parent) : QTextBrowser(parent), recent_(recent) {
  setAccessibleName("welcome");
  setOpenLinks(false);
  setFrameShape(QFrame::NoFrame);
  setBackgroundRole(QPalette::Base);  // what the margins show
  setAutoFillBackground(true);
  connect(this, &QTextBrowser::anchorClicked, this, &WelcomePage::follow);
  connect(&recent_, &RecentFiles::changed, this, &WelcomePage::fill);
  fill();
}

void WelcomePage::fill() {
  const QString dim = to_qcolor(colours().dim_text).name();
  const auto row = [&](const QString& link, const QString& title, const QString& what) {
    return QString("<p style='margin:10px 0 0 0'><a href='%1'><b>%2</b></a><br><span style='color:%3'>%4</span></p>")
        .arg(link, title, dim, what);
  };
  QString html =
      "<h1 style='margin-bottom:2px'>Strata Studio</h1>"
      "<p style='margin-top:0'>Step through what a compiler made of a model: graphs, passes, kernels, code and "
      "times.</p>";
  html += row("open:", "Open a trace …", "Ctrl+O, or drop a <tt>.strata</tt> file here");
  html += row("import:", "Open a folder of PyTorch …",
              "<tt>TORCH_TRACE</tt> logs, <tt>torch_compile_debug</tt>, profiles; or drop the folder here");
  html += row("help:", "Keys and help", "Ctrl+F1 shows all keys, F1 explains the page you are on");
  if (!recent_.all().empty()) html += "<h3 style='margin-top:26px; margin-bottom:0'>Recent</h3>";
  for (size_t i = 0; i < recent_.all().size(); ++i) {
    const RecentFile& file = recent_.all()[i];
    const QString name = QFileInfo(file.path).fileName().toHtmlEscaped();
    const QString where = short_folder(file.path).toHtmlEscaped() + " &nbsp;·&nbsp; " + date_text(file.opened);
    html += file.exists()
                ? row(QString("recent:%1").arg(i), name, where)
                : QString("<p style='margin:10px 0 0 0; color:%1'><b>%2</b> (missing)<br>%3</p>").arg(dim, name, where);
  }
  setHtml(html);
}

void WelcomePage::follow(const QUrl& link) {
  const QString kind = link.scheme();
  if (kind == "open") emit open_requested();
  if (kind == "import") emit import_requested();
  if (kind == "help") emit help_requested();
  const size_t at = link.path().toUInt();
  if (kind == "recent" && at < recent_.all().size()) emit recent_requested(recent_.all()[at].path);
}

/// The text stands in the middle, at most as wide as is read well.
void WelcomePage::resizeEvent(QResizeEvent* event) {
  const int side = std::max(16, (width() - scaled(kWidth)) / 2);
  setViewportMargins(side, std::clamp(height() / 10, 8, 70), 16, 0);
  QTextBrowser::resizeEvent(event);
}

void WelcomePage::changeEvent(QEvent* event) {
  QTextBrowser::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) fill();
}

}  // namespace strata::studio
