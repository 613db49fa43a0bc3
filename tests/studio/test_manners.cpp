// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// How the window behaves: export and copy of every page, undo of the layout, saved views, help and keys, names for
/// screen readers, colours, damaged settings.

#include <QAbstractButton>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QImage>
#include <QMenuBar>
#include <QMimeData>
#include <QPainter>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QSettings>
#include <QSignalSpy>
#include <QSplitter>
#include <QTest>
#include <QTextBrowser>
#include <QToolBar>
#include <QXmlStreamReader>
#include <cmath>
#include <fstream>

#include "app/studio/views/export_dialog.h"
#include "app/studio/views/help.h"
#include "app/studio/views/main_window.h"
#include "app/studio/views/theme.h"
#include "app/studio/views/view_export.h"
#include "app/studio/views/welcome.h"
#include "core/support/error.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using test::settle;
using test::TemporaryFolder;

class MannersWindow : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1280, 800);
    window_.show();
    window_.arrange();
    QTest::qWait(10);  // from here on changes of the layout are remembered
  }
  void open(const char* stage = "scheduled", const char* node = "") {
    test::write_sample_trace(folder_ / "cnn.strata", {2, true});
    context_.open({path("cnn.strata"), "", stage, node});
    ASSERT_TRUE(settle(context_));
  }
  QString path(const std::string& name) { return QString::fromStdString((folder_ / name).string()); }
  QByteArray read(const std::string& name) {
    QFile file(path(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  bool shown(const char* page) { return window_.findChild<QDockWidget*>(page)->toggleViewAction()->isChecked(); }
  TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(MannersWindow, EveryViewIsExported) {
  open("scheduled", "mul_0");
  for (const std::string& view : MainWindow::views())
    for (const char* format : {"svg", "png", "pdf"}) {
      const std::string name = view + "." + format;
      window_.export_page(qt(view), path(name));
      QTRY_VERIFY_WITH_TIMEOUT(std::filesystem::exists(folder_ / name), 20000);
      const QByteArray content = read(name);
      EXPECT_GT(content.size(), 500) << name;
      if (QString(format) == "svg") {
        QXmlStreamReader xml(content);
        while (!xml.atEnd()) xml.readNext();
        EXPECT_FALSE(xml.hasError()) << name << ": " << xml.errorString().toStdString();
        EXPECT_TRUE(content.contains("<text")) << name;
      }
      if (QString(format) == "png") {
        EXPECT_FALSE(QImage::fromData(content).isNull()) << name;
      }
      if (QString(format) == "pdf") {
        EXPECT_TRUE(content.startsWith("%PDF")) << name;
      }
    }
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / ""))
    EXPECT_FALSE(entry.path().string().ends_with(".part")) << entry.path();
}

TEST_F(MannersWindow, TablesAreExportedAsText) {
  open();
  window_.show_view("query");
  window_.query().box().setText("target=aten.batch_norm*");
  QTest::keyClick(&window_.query().box(), Qt::Key_Return);
  ASSERT_TRUE(settle(context_));
  ASSERT_TRUE(window_.export_page_now("query", path("q.csv")));
  const QList<QByteArray> lines = read("q.csv").trimmed().split('\n');
  EXPECT_EQ(lines.size(), 5);  // two in each of two graphs, and the headers
  EXPECT_TRUE(lines[0].startsWith("Node,Operator,"));
  EXPECT_TRUE(lines[1].contains("\"f32["));  // a comma in a cell
  ASSERT_TRUE(window_.export_page_now("query", path("q.txt")));
  EXPECT_TRUE(read("q.txt").contains("aten.batch_norm"));
  ASSERT_TRUE(window_.export_page_now("graph", path("g.dot")));
  EXPECT_TRUE(read("g.dot").startsWith("digraph"));
}

TEST_F(MannersWindow, ExportsThatFailAreMessages) {
  open();
  EXPECT_FALSE(window_.export_page_now("changes", path("c.bmp")));
  EXPECT_TRUE(window_.message_text().contains("unknown picture format 'bmp'")) << window_.message_text().toStdString();
  EXPECT_FALSE(window_.export_page_now("changes", path("c.dot")));
  EXPECT_TRUE(window_.message_text().contains("only graphs"));
  EXPECT_FALSE(window_.export_page_now("changes", path("none/c.svg")));
  EXPECT_TRUE(window_.message_text().contains("cannot write")) << window_.message_text().toStdString();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none"));
}

TEST_F(MannersWindow, ScrollingPagesAreExportedWhole) {
  QPlainTextEdit text;
  QStringList lines;
  for (int i = 0; i < 300; ++i) lines << QString("line %1").arg(i);
  text.setPlainText(lines.join('\n'));
  text.resize(300, 200);
  text.show();
  const QByteArray svg = render_view(text, "svg");
  EXPECT_TRUE(svg.contains(">line 0<"));
  EXPECT_TRUE(svg.contains(">line 299<"));
  EXPECT_EQ(text.size(), QSize(300, 200));
  const QImage image = QImage::fromData(render_view(text, "png"));
  EXPECT_GT(image.height(), 300 * text.fontMetrics().lineSpacing() - 50);
  lines.clear();
  for (int i = 0; i < 100000; ++i) lines << "x";
  text.setPlainText(lines.join('\n'));
  EXPECT_LE(QImage::fromData(render_view(text, "png")).height(), kLargestPicture.height());
}

TEST_F(MannersWindow, SvgKeepsWhatIsCutOffCutOff) {
  class Clipped : public QWidget {
    void paintEvent(QPaintEvent*) override {
      QPainter p(this);
      p.setClipRect(10, 10, 20, 20);
      p.fillRect(0, 0, 100, 100, Qt::red);
    }
  } widget;
  widget.resize(100, 100);
  const QByteArray svg = render_view(widget, "svg");
  EXPECT_TRUE(svg.contains("<clipPath"));
  EXPECT_TRUE(svg.contains("M10 10 L30 10")) << svg.toStdString();
}

TEST_F(MannersWindow, TheDialogOffersGraphAndPages) {
  ExportDialog dialog("scheduled", {{"query", "Query", {"svg", "csv"}}, {"graph", "graph", {"svg"}}}, "query", "/tmp");
  EXPECT_EQ(dialog.what().currentText(), "This view: Query");
  EXPECT_EQ(dialog.path().text(), "/tmp/query.svg");
  dialog.format().setCurrentIndex(1);
  EXPECT_EQ(dialog.path().text(), "/tmp/query.csv");
  dialog.what().setCurrentIndex(0);
  EXPECT_EQ(dialog.path().text(), "/tmp/scheduled.svg");
  EXPECT_TRUE(dialog.choice().page.isEmpty());
  dialog.path().setText("/tmp/mine");
  EXPECT_EQ(dialog.choice().path, "/tmp/mine.svg");
  dialog.format().setCurrentIndex(3);
  EXPECT_EQ(dialog.path().text(), "/tmp/mine.dot");
  dialog.path().clear();
  EXPECT_FALSE(dialog.accept_button().isEnabled());
}

TEST_F(MannersWindow, ReportFromTheWindow) {
  open();
  QSignalSpy done(&window_.report_job(), &ReportJob::done);
  window_.report_to(path("r.html"));
  EXPECT_TRUE(window_.task_bar().isVisible());
  ASSERT_TRUE(done.wait(60000));
  EXPECT_FALSE(window_.task_bar().isVisible());
  EXPECT_GT(read("r.html").size(), 10000);
}

TEST_F(MannersWindow, CopyIsText) {
  open("scheduled", "mul_0");
  window_.graph().setFocus();
  QTest::keyClick(&window_.graph(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_TRUE(QApplication::clipboard()->text().startsWith("mul_0: \"f32["))
      << QApplication::clipboard()->text().toStdString();
  window_.show_view("changes");
  LinkTable& table = window_.changes().changes();
  ASSERT_GT(table.model()->rowCount(), 2);
  table.setFocus();
  table.setCurrentIndex(table.model()->index(0, 0));
  ASSERT_TRUE(settle(context_));
  table.setFocus();
  table.selectRow(0);
  ASSERT_TRUE(table.hasFocus());
  ASSERT_TRUE(table.currentIndex().isValid());
  QApplication::clipboard()->clear();
  QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
  const QStringList lines = QApplication::clipboard()->text().trimmed().split('\n');
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0].count('\t'), table.model()->columnCount() - 1);
  EXPECT_TRUE(lines[1].contains(table.currentIndex().siblingAtColumn(1).data().toString()));
}

TEST_F(MannersWindow, EverythingThatShowsTextCanBeCopied) {
  open("scheduled", "mul_0");
  for (const std::string& view : MainWindow::views()) {
    window_.show_view(qt(view));
    ASSERT_TRUE(settle(context_));
  }
  const auto copies = [](const QWidget* widget) {
    const auto actions = widget->actions();
    return std::any_of(actions.begin(), actions.end(), [](const QAction* a) { return a->text().contains("Copy"); });
  };
  for (const auto* table : window_.findChildren<QAbstractItemView*>())
    if (table->isVisibleTo(&window_) && !table->accessibleName().isEmpty()) {
      EXPECT_TRUE(copies(table)) << table->accessibleName().toStdString();
    }
  for (const auto* text : window_.findChildren<QPlainTextEdit*>())
    if (text->isVisibleTo(&window_)) {
      EXPECT_TRUE(copies(text)) << text->accessibleName().toStdString();
    }
  EXPECT_TRUE(copies(&window_.graph()));
}

// ------------------------------------------------------------------------------------------------------------ layout

TEST_F(MannersWindow, ChangesOfTheLayoutAreTakenBack) {
  open();
  QUndoStack& undo = context_.undo();
  ASSERT_EQ(undo.count(), 0);
  window_.findChild<QDockWidget*>("stages")->hide();
  QTRY_COMPARE(undo.count(), 1);
  EXPECT_EQ(undo.undoText(), "hide stages");
  window_.graph().setFocus();
  QTest::keyClick(&window_.graph(), Qt::Key_Z, Qt::ControlModifier);
  EXPECT_TRUE(shown("stages"));
  QTest::keyClick(&window_.graph(), Qt::Key_Y, Qt::ControlModifier);
  EXPECT_FALSE(shown("stages"));
  undo.undo();
  QTest::qWait(120);
  EXPECT_EQ(undo.count(), 1);  // taking back is no change
}

TEST_F(MannersWindow, TextFieldsKeepTheirOwnUndo) {
  open();
  window_.findChild<QDockWidget*>("stages")->hide();
  QTRY_COMPARE(context_.undo().count(), 1);
  window_.search_box().setFocus();
  QTest::keyClicks(&window_.search_box(), "relu");
  QTest::keyClick(&window_.search_box(), Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(window_.search_box().text(), "");
  EXPECT_FALSE(shown("stages"));
}

TEST_F(MannersWindow, WorkspacesShowTheirPages) {
  open();
  window_.show_workspace("graph");
  EXPECT_FALSE(shown("profile"));
  EXPECT_TRUE(shown("inspector"));
  EXPECT_EQ(context_.undo().count(), 1);
  window_.show_workspace("profile");
  EXPECT_TRUE(shown("profile"));
  EXPECT_FALSE(shown("stages"));
  window_.reset_layout();
  for (const char* page : {"stages", "inspector", "changes", "query"}) EXPECT_TRUE(shown(page)) << page;
  context_.undo().undo();
  EXPECT_FALSE(shown("stages"));
}

TEST_F(MannersWindow, SplittersInsidePagesToo) {
  open();
  window_.show_view("guards");
  auto* splitter = window_.guards().findChild<QSplitter*>();
  ASSERT_TRUE(splitter);
  QTRY_VERIFY(splitter->sizes().at(0) > 0);
  const int before_count = context_.undo().count();
  emit splitter->splitterMoved(1, 1);  // as a drag does after it set the sizes
  const QList<int> before = splitter->sizes();
  splitter->setSizes({before[0] + 30, before[1] - 30});
  emit splitter->splitterMoved(before[0] + 30, 1);
  ASSERT_GT(context_.undo().count(), before_count);
  context_.undo().undo();
  EXPECT_NEAR(splitter->sizes().at(0), before[0], 2);
}

TEST_F(MannersWindow, SavedViewsComeBack) {
  open("scheduled", "mul_0");
  draw::DrawOptions options = context_.options();
  options.group_by = draw::GroupBy::Modules;
  context_.set_options(options);
  ASSERT_TRUE(settle(context_));
  window_.query().box().setText("name=x");
  window_.show_workspace("graph");
  window_.save_view("mine", false);
  ASSERT_EQ(window_.saved_views().all().size(), 1u);
  options.group_by = draw::GroupBy::None;
  context_.set_options(options);
  context_.step(-1);
  window_.reset_layout();
  window_.query().box().clear();
  ASSERT_TRUE(settle(context_));
  EXPECT_NE(context_.step_data()->snapshot.stage, "scheduled");
  window_.show_saved_view(window_.saved_views().all()[0]);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.step_data()->snapshot.stage, "scheduled");
  EXPECT_EQ(context_.step_data()->find(context_.selection().node)->name, "mul_0");
  EXPECT_EQ(context_.options().group_by, draw::GroupBy::Modules);
  EXPECT_EQ(window_.query().box().text(), "name=x");
  EXPECT_FALSE(shown("profile"));
}

TEST_F(MannersWindow, ReloadStaysWhereItWas) {
  open("scheduled", "mul_0");
  window_.reload();
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.step_data()->snapshot.stage, "scheduled");
  EXPECT_EQ(context_.step_data()->find(context_.selection().node)->name, "mul_0");
}

// ----------------------------------------------------------------------------------------------------- recent, import

TEST_F(MannersWindow, WhatWasOpenedIsOffered) {
  open();
  ASSERT_EQ(window_.recent().all().size(), 1u);
  window_.recent().add(path("gone.strata"));
  const QString page = window_.welcome().toPlainText();
  EXPECT_TRUE(page.contains("cnn.strata")) << page.toStdString();
  EXPECT_TRUE(page.contains("gone.strata (missing)"));
  EXPECT_FALSE(window_.welcome().toHtml().contains("recent:0"));
  QSignalSpy wanted(&window_.welcome(), &WelcomePage::recent_requested);
  emit window_.welcome().anchorClicked(QUrl("recent:1"));
  ASSERT_EQ(wanted.size(), 1);
  EXPECT_EQ(wanted[0][0].toString(), path("cnn.strata"));
}

TEST_F(MannersWindow, FoldersAreImported) {
  const QByteArray old_path = qgetenv("PATH");
  std::filesystem::create_directories(folder_ / "torch");
  qputenv("PATH", path("").toLocal8Bit());
  window_.open_file(path("torch"));
  QTRY_VERIFY(!window_.message_text().isEmpty() || window_.import_job().running());
  qputenv("PATH", old_path);
  // Where the command was built beside the tests it runs, and finds nothing in the folder.
  QTRY_VERIFY_WITH_TIMEOUT(!window_.message_text().isEmpty(), 20000);
  EXPECT_FALSE(window_.task_bar().isVisible());
}

// -------------------------------------------------------------------------------------------------------- help, keys

TEST_F(MannersWindow, NoTwoActionsShareAShortcut) {
  std::map<QString, QString> owners;
  for (const auto* action : window_.findChildren<QAction*>()) {
    if (action->shortcutContext() == Qt::WidgetShortcut || action->shortcutContext() == Qt::WidgetWithChildrenShortcut)
      continue;
    for (const QKeySequence& keys : action->shortcuts()) {
      const QString name = keys.toString();
      if (name.isEmpty()) continue;
      EXPECT_FALSE(owners.contains(name))
          << name.toStdString() << ": " << owners[name].toStdString() << " and " << action->text().toStdString();
      owners[name] = action->text();
    }
  }
  EXPECT_TRUE(owners.contains("Ctrl+E"));
}

TEST_F(MannersWindow, ThePageOfShortcutsHasEveryAction) {
  const QString page = shortcuts_page(window_);
  const auto rows = action_shortcuts(window_);
  EXPECT_GT(rows.size(), 20u);
  for (const ShortcutRow& row : rows) {
    EXPECT_FALSE(row.what.isEmpty()) << row.keys.toStdString();
    EXPECT_TRUE(page.contains("<b>" + row.keys.toHtmlEscaped() + "</b>")) << row.keys.toStdString();
  }
  size_t with_keys = 0;
  for (const auto* action : window_.findChildren<QAction*>())
    if (action->shortcutContext() != Qt::WidgetShortcut && !action->shortcut().isEmpty()) ++with_keys;
  EXPECT_GE(rows.size(), with_keys);
}

/// A key that the graph or the timeline handles itself must not be taken by a menu first.
TEST_F(MannersWindow, KeysOfPagesAreNotThoseOfMenus) {
  QStringList taken;
  for (const ShortcutRow& row : action_shortcuts(window_)) taken << row.keys.split(", ");
  for (const PageHelp& page : page_helps())
    for (const HelpKey& key : page.keys)
      for (const QString& one : QString(key.keys).split(QRegularExpression("( ; |, | or )")))
        // Copying is everywhere; texts take Ctrl+F before the menu does while they have the focus.
        if (one != "Ctrl+C" && one != "Ctrl+F") {
          EXPECT_FALSE(taken.contains(one.trimmed())) << page.name << ": " << one.toStdString();
        }
}

TEST_F(MannersWindow, EveryPageHasHelp) {
  for (const std::string& view : MainWindow::views()) {
    const auto found =
        std::find_if(page_helps().begin(), page_helps().end(), [&](const PageHelp& page) { return page.name == view; });
    EXPECT_NE(found, page_helps().end()) << "views/help.cpp has no page about " << view;
  }
  open();
  window_.show_view("query");
  window_.query().box().setFocus();
  EXPECT_EQ(window_.focused_page(), "query");
  QTest::keyClick(&window_, Qt::Key_F1);
  auto* help = window_.findChild<QDialog*>();
  ASSERT_TRUE(help);
  EXPECT_TRUE(help->findChild<QTextBrowser*>()->toPlainText().startsWith("Query"));
  emit help->findChild<QTextBrowser*>()->anchorClicked(QUrl("keys:"));
  EXPECT_TRUE(help->findChild<QTextBrowser*>()->toPlainText().contains("Ctrl+Shift+F"));
}

bool has_name(const QWidget* widget) {
  if (!widget->accessibleName().isEmpty()) return true;
  if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) return !button->text().isEmpty();
  return false;
}

TEST_F(MannersWindow, EveryControlHasAName) {
  open("scheduled", "mul_0");
  for (const std::string& view : MainWindow::views()) {
    window_.show_view(qt(view));
    ASSERT_TRUE(settle(context_));
  }
  for (const auto* widget : window_.findChildren<QWidget*>()) {
    if (widget->focusPolicy() == Qt::NoFocus) continue;
    const bool inner = widget->objectName().startsWith("qt_") || qobject_cast<QLineEdit*>(widget->parentWidget()) ||
                       qobject_cast<QComboBox*>(widget->parentWidget());
    const auto of_combo = [](const QWidget* w) { return w && w->inherits("QComboBoxPrivateContainer"); };
    if (inner || of_combo(widget) || of_combo(widget->parentWidget())) continue;
    EXPECT_TRUE(has_name(widget)) << widget->metaObject()->className() << " in "
                                  << (widget->parentWidget() ? widget->parentWidget()->metaObject()->className() : "");
  }
}

TEST_F(MannersWindow, MenusHaveMnemonics) {
  for (const QAction* menu : window_.menuBar()->actions()) EXPECT_TRUE(menu->text().contains('&'));
}

TEST_F(MannersWindow, TheToolbarFits) {
  open();
  const auto* bar = window_.findChild<QToolBar*>();
  const auto* more = bar->findChild<QWidget*>("qt_toolbar_ext_button");
  EXPECT_TRUE(!more || !more->isVisible()) << "needs " << bar->sizeHint().width();
}

// ----------------------------------------------------------------------------------------------------------- colours

TEST(Colours, TextIsReadable) {
  for (const bool dark : {false, true}) {
    apply_theme(dark);
    const QPalette p = QApplication::palette();
    for (const auto back : {QPalette::Base, QPalette::AlternateBase, QPalette::Window})
      for (const auto text : {QPalette::Text, QPalette::WindowText, QPalette::Link, QPalette::PlaceholderText})
        EXPECT_GE(contrast(p.color(text), p.color(back)), 4.5) << dark << " " << text << " on " << back;
    EXPECT_GE(contrast(p.color(QPalette::HighlightedText), p.color(QPalette::Highlight)), 4.5);
    EXPECT_GE(contrast(p.color(QPalette::ToolTipText), p.color(QPalette::ToolTipBase)), 4.5);
    EXPECT_GE(contrast(p.color(QPalette::ButtonText), p.color(QPalette::Button)), 4.5);
    for (const QColor& back : {line_highlight(), caller_highlight()})
      EXPECT_GE(contrast(p.color(QPalette::Text), back), 4.5) << dark;
    const auto& c = colours();
    for (const draw::Colour& colour : {c.added, c.removed, c.changed, c.dim_text})
      EXPECT_GE(contrast(text_colour(colour), p.color(QPalette::Base)), 4.5)
          << dark << " " << to_qcolor(colour).name().toStdString();
  }
  apply_theme(false);
  EXPECT_NEAR(contrast(Qt::white, Qt::black), 21, 0.01);
  EXPECT_NEAR(contrast(QColor("#767676"), Qt::white), 4.54, 0.01);
  EXPECT_GE(contrast(Qt::white, QColor("#a8322a")), 4.5);  // messages
}

// ---------------------------------------------------------------------------------------------------------- settings

TEST(Settings, DamagedOnesDoNotBreakTheStart) {
  TemporaryFolder folder;
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, QString::fromStdString((folder / "").string()));
  const auto start = [] {
    Context context;
    MainWindow window(context, true);
    window.show();
    window.arrange();
    QCoreApplication::processEvents();
    EXPECT_TRUE(window.isVisible());
    EXPECT_TRUE(window.findChild<QDockWidget*>("stages")->toggleViewAction()->isChecked());
    window.close();
  };
  start();
  {
    QSettings s;
    QByteArray layout = s.value("layout").toByteArray();
    ASSERT_FALSE(layout.isEmpty());
    for (qsizetype i = 20; i < layout.size(); i += 7) layout[i] = static_cast<char>(layout[i] ^ 0x5a);
    s.setValue("layout", layout);
    s.setValue("geometry", QByteArray("nonsense"));
    s.setValue("text_scale", "huge");
    s.setValue("queries", 7);
  }
  start();
}

TEST(Settings, TheLayoutIsRemembered) {
  TemporaryFolder folder;
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, QString::fromStdString((folder / "").string()));
  {
    Context context;
    MainWindow window(context, true);
    window.show();
    window.findChild<QDockWidget*>("inspector")->hide();
    window.close();
  }
  Context context;
  MainWindow window(context, true);
  window.show();
  EXPECT_FALSE(window.findChild<QDockWidget*>("inspector")->toggleViewAction()->isChecked());
  EXPECT_TRUE(window.findChild<QDockWidget*>("stages")->toggleViewAction()->isChecked());
}

}  // namespace
}  // namespace strata::studio
