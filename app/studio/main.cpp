// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <QApplication>
#include <QCommandLineParser>
#include <QEventLoop>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <QTimer>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "app/studio/views/end_signals.h"
#include "app/studio/views/main_window.h"
#include "app/studio/views/start_times.h"
#include "app/studio/views/theme.h"
#include "core/support/error.h"

namespace {

using strata::studio::Context;
using strata::studio::MainWindow;

struct Options {
  strata::studio::OpenRequest request;
  QString view, screenshot, theme, group, compare;
  QStringList panes;
  QString output;        ///< of --export
  int text_percent = 0;  ///< 0: as it was used last
  QSize size{1280, 800};
  bool measure = false;
};

void say(const QString& text) { std::fprintf(stderr, "strata-studio: %s\n", text.toUtf8().constData()); }

[[noreturn]] void refuse(const QString& text) {
  say(text);
  std::exit(2);
}

const QCommandLineOption kGraph("graph", "The compile to show, such as 0/1.", "G");
const QCommandLineOption kStage("stage", "The stage to show, such as scheduled.", "S");
const QCommandLineOption kSelect("select", "The node to select, by name or id.", "NODE");
const QCommandLineOption kView(
    "view", "The page to bring forward: graph, changes, source, code, profile, timeline, inspector, stages.", "V");
const QCommandLineOption kScreenshot("screenshot", "Write a picture of the window and exit; needs no display.",
                                     "OUT.png");
const QCommandLineOption kExport("export",
                                 "Write what the page of --view shows (without it, the graph) and exit; needs no "
                                 "display. The ending says the format: svg, png, pdf, csv, txt, dot (a graph), html (a "
                                 "report of the whole trace).",
                                 "OUT");
const QCommandLineOption kTextSize("text-size", "Size of text in percent, 75 to 300.", "PERCENT");
const QCommandLineOption kSize("size", "Size of the window, such as 1280x800.", "WxH");
const QCommandLineOption kCompare("compare", "A second trace, to compare the first with.", "OTHER.strata");
const QCommandLineOption kGroup(
    "group", "What frames stand for: automatic, kernels, modules, none or user (groups of your own).", "WHAT");
/// For the benchmark: prints when the window and the graph were there, and ends.
const QCommandLineOption kMeasure = [] {
  QCommandLineOption option("measure");
  option.setFlags(QCommandLineOption::HiddenFromHelp);
  return option;
}();
const QCommandLineOption kPane(
    "pane", "A stage to show in a pane beside, such as captured, or 0/1@captured of another compile. May be repeated.",
    "STAGE");
const QCommandLineOption kTheme("theme", "light or dark.", "THEME");

QSize parse_size(const QString& text) {
  QStringList parts = text.split('x');
  bool w_ok = false, h_ok = false;
  int w = parts.value(0).toInt(&w_ok), h = parts.value(1).toInt(&h_ok);
  if (parts.size() != 2 || !w_ok || !h_ok || w < 320 || h < 240 || w > 16384 || h > 16384)
    refuse(
        QString("--size '%1' is not a window size; give WxH from 320x240 to 16384x16384, such as 1280x800").arg(text));
  return {w, h};
}

void check_unknown(const QCommandLineParser& parser) {
  QStringList unknown = parser.unknownOptionNames();
  if (unknown.isEmpty()) refuse(parser.errorText().toLower().remove(QChar('.')));
  std::vector<std::string> known;
  for (const auto* option : {&kGraph, &kStage, &kSelect, &kView, &kScreenshot, &kSize, &kTheme, &kGroup, &kCompare,
                             &kPane, &kExport, &kTextSize})
    known.push_back("--" + option->names().front().toStdString());
  std::string found = "--" + unknown.front().toStdString();
  refuse(QString("unknown option '%1'; %2")
             .arg(QString::fromStdString(found), QString::fromStdString(strata::suggest(found, known))));
}

int parse_percent(const QString& text) {
  bool ok = false;
  const int percent = QString(text).remove('%').toInt(&ok);
  if (!ok || percent < 75 || percent > 300)
    refuse(QString("--text-size '%1' is not a size of text; give 75 to 300, in percent").arg(text));
  return percent;
}

void check_export(const Options& options) {
  const std::vector<std::string> known = {"svg", "png", "pdf", "csv", "txt", "dot", "html"};
  if (options.output.isEmpty()) refuse("--export needs the name of a file to write, such as out.svg");
  const std::string format = QFileInfo(options.output).suffix().toLower().toStdString();
  if (std::find(known.begin(), known.end(), format) == known.end())
    refuse(QString("unknown format '%1' of --export; %2")
               .arg(QString::fromStdString(format), QString::fromStdString(strata::suggest(format, known))));
}

Options parse(const QStringList& arguments) {
  QCommandLineParser parser;
  parser.setApplicationDescription("Shows a Strata trace: stages, graphs, kernels, code and times.");
  auto help = parser.addHelpOption();
  auto version = parser.addVersionOption();
  parser.addOptions({kGraph, kStage, kSelect, kView, kScreenshot, kSize, kTheme, kGroup, kCompare, kPane, kMeasure,
                     kExport, kTextSize});
  parser.addPositionalArgument("trace", "The trace to open.", "[TRACE]");
  if (!parser.parse(arguments)) check_unknown(parser);
  if (parser.isSet(help)) {
    std::fputs(parser.helpText().toUtf8().constData(), stdout);
    std::exit(0);
  }
  if (parser.isSet(version)) {
    std::puts("strata-studio " STRATA_STUDIO_VERSION);
    std::exit(0);
  }
  Options options;
  QStringList files = parser.positionalArguments();
  if (files.size() > 1) refuse(QString("one trace at a time: '%1' is too many").arg(files[1]));
  options.request = {files.value(0), parser.value(kGraph), parser.value(kStage), parser.value(kSelect)};
  options.view = parser.value(kView);
  options.compare = parser.value(kCompare);
  if (parser.isSet(kCompare) && files.isEmpty()) refuse("--compare needs a trace to compare with");
  options.screenshot = parser.value(kScreenshot);
  options.panes = parser.values(kPane);
  options.measure = parser.isSet(kMeasure);
  options.output = parser.value(kExport);
  if (parser.isSet(kExport)) check_export(options);
  if (parser.isSet(kTextSize)) options.text_percent = parse_percent(parser.value(kTextSize));
  options.theme = parser.value(kTheme);
  options.group = parser.isSet(kGroup) ? parser.value(kGroup) : "automatic";
  std::vector<std::string> groups = {"automatic", "kernels", "modules", "none", "user"};
  if (std::find(groups.begin(), groups.end(), options.group.toStdString()) == groups.end())
    refuse(QString("unknown group '%1'; %2")
               .arg(options.group, QString::fromStdString(strata::suggest(options.group.toStdString(), groups))));
  if (parser.isSet(kSize)) options.size = parse_size(parser.value(kSize));
  std::vector<std::string> themes = {"light", "dark"};
  if (parser.isSet(kTheme) && std::find(themes.begin(), themes.end(), options.theme.toStdString()) == themes.end())
    refuse(QString("unknown theme '%1'; %2")
               .arg(options.theme, QString::fromStdString(strata::suggest(options.theme.toStdString(), themes))));
  if (parser.isSet(kScreenshot) && options.screenshot.isEmpty())
    refuse("--screenshot needs the name of a file to write, such as out.png");
  return options;
}

/// Written beside and renamed, so that a failure leaves nothing under the name.
bool save(const QPixmap& picture, const QString& path) {
  QString temporary = path + ".part";
  bool done = picture.save(temporary, "PNG");
  std::error_code failed;
  if (done) std::filesystem::rename(temporary.toStdString(), path.toStdString(), failed);
  if (!done || failed) QFile::remove(temporary);
  return done && !failed;
}

int take_screenshot(MainWindow& window, const Context& context, const QString& path) {
  if (context.exit_code()) {
    say(context.first_error());
    return context.exit_code();
  }
  QCoreApplication::processEvents();
  if (save(window.grab(), path)) return 0;
  say(QString("cannot write '%1'; check that the folder exists and is writable").arg(path));
  return 2;
}

int write_export(MainWindow& window, const Context& context, const Options& options) {
  if (context.exit_code()) {
    say(context.first_error());
    return context.exit_code();
  }
  if (!context.reader()) {
    say("--export needs a trace");
    return 2;
  }
  QCoreApplication::processEvents();
  if (QFileInfo(options.output).suffix().toLower() == "html") {
    int code = 3;
    QEventLoop loop;
    QObject::connect(&window.report_job(), &strata::studio::ReportJob::done, &loop, [&] { loop.exit(code = 0); });
    QObject::connect(&window.report_job(), &strata::studio::ReportJob::failed, &loop,
                     [&](const QString& text, int why) {
                       say(text);
                       loop.exit(code = why);
                     });
    window.report_to(options.output);
    loop.exec();
    return code;
  }
  if (window.export_page_now(options.view.isEmpty() ? "graph" : options.view, options.output)) return 0;
  say(window.message_text());
  return 2;
}

bool needs_no_display(const Options& options) {
  return !options.screenshot.isEmpty() || !options.output.isEmpty() || options.measure;
}

/// What is no trace is imported.
void open(MainWindow& window, Context& context, const Options& options) {
  const QString& path = options.request.path;
  if (path.isEmpty()) return;
  strata::studio::is_trace(path) ? context.open(options.request) : window.open_file(path);
}

int run(QApplication& app, const Options& options) {
  const bool shot = needs_no_display(options);
  bool dark = options.theme.isEmpty() ? !shot && QSettings().value("dark").toBool() : options.theme == "dark";
  const double last_scale = shot ? 1.0 : QSettings().value("text_scale", 1.0).toDouble();
  strata::studio::set_text_scale(options.text_percent > 0 ? options.text_percent / 100.0 : last_scale);
  strata::studio::apply_theme(dark);
  Context context;
  strata::draw::DrawOptions drawing;
  drawing.dark = dark;
  const QStringList groups = {"automatic", "kernels", "modules", "none", "user"};
  drawing.group_by = static_cast<strata::draw::GroupBy>(groups.indexOf(options.group));
  drawing.groups = drawing.group_by != strata::draw::GroupBy::None;
  context.set_options(drawing);
  MainWindow window(context, !shot);
  if (shot || options.size != QSize(1280, 800)) window.resize(options.size);
  const strata::studio::StartTimes times(window, context);
  window.show();
  window.arrange();
  if (!options.view.isEmpty() && !window.show_view(options.view) && shot) {
    say(window.message_text());
    return 2;
  }
  QString bad_view = window.message_text();
  for (const QString& stage : options.panes) window.panes().open_stage(stage);
  const auto& r = options.request;
  if (!options.output.isEmpty() && options.view.isEmpty()) window.show_view("graph");
  if (options.view.isEmpty() && options.output.isEmpty() && r.graph.isEmpty() && r.stage.isEmpty() &&
      r.node.isEmpty() && options.panes.isEmpty())
    window.show_view("overview");
  if (shot && !options.request.path.isEmpty()) context.open(options.request);
  if (!shot) open(window, context, options);
  if (!options.compare.isEmpty()) window.compare_with(options.compare);
  if (!bad_view.isEmpty())
    QObject::connect(&context, &Context::traceOpened, &window, [&] { window.show_message(bad_view); });
  if (!shot) {
    // A dialog that waits for an answer does not keep the program.
    strata::studio::EndSignals endings([&] {
      window.close();
      QApplication::exit(0);
    });
    return QApplication::exec();
  }
  // Settled may come several times (open, compile, step, details follow one another): the picture is due when the queue
  // is empty once the events that a result causes were handled.
  QTimer timer;
  QObject::connect(&timer, &QTimer::timeout, &app, [&] {
    if (!context.queue().idle()) return;
    timer.stop();
    if (options.measure) {
      for (int i = 0; i < 3; ++i) QCoreApplication::processEvents();  // what was asked for last is painted
      std::puts(times.line().toUtf8().constData());
      return app.exit(context.exit_code());
    }
    app.exit(options.output.isEmpty() ? take_screenshot(window, context, options.screenshot)
                                      : write_export(window, context, options));
  });
  timer.start(20);
  return QApplication::exec();
}

/// What Qt says about the platform without a display is of no use to anyone.
void quiet(QtMsgType type, const QMessageLogContext&, const QString& text) {
  static const QStringList noise = {"XDG_RUNTIME_DIR not set", "propagateSizeHints"};
  for (const QString& part : noise)
    if (text.contains(part)) return;
  if (type != QtDebugMsg && type != QtInfoMsg) say(text);
}

bool has_display() {
  return !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY") ||
         !qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM");
}

}  // namespace

int main(int argc, char** argv) {
  QCoreApplication::setApplicationName("strata-studio");
  QCoreApplication::setOrganizationName("Strata");
  QCoreApplication::setApplicationVersion(STRATA_STUDIO_VERSION);
  QStringList arguments;
  for (int i = 0; i < argc; ++i) arguments << QString::fromLocal8Bit(argv[i]);
  Options options = parse(arguments);
  const bool shot = needs_no_display(options);
  if (shot && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  if (!shot && !has_display())
    refuse(
        "there is no display (DISPLAY and WAYLAND_DISPLAY are not set); use --screenshot OUT.png or --export OUT.svg "
        "to "
        "get a picture without one");
  qInstallMessageHandler(quiet);
  QApplication app(argc, argv);
  int code = 0;
  try {
    code = run(app, options);
  } catch (const strata::Error& error) {
    say(error.what());
    code = error.exit_code();
  }
  // Work that cannot be stopped, such as a layout by Graphviz, does not keep the program either.
  if (strata::studio::JobQueue::abandoned() > 0) std::_Exit(code);
  return code;
}
