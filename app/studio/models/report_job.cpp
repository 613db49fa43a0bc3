// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/report_job.h"

#include "app/draw/export.h"
#include "app/report/html_report.h"
#include "core/support/error.h"

namespace strata::studio {

ReportJob::~ReportJob() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void ReportJob::start(const QString& trace, const QString& output) {
  if (running_) return;
  if (thread_.joinable()) thread_.join();
  running_ = true;
  stop_ = false;
  thread_ = std::thread([this, trace, output] { work(trace, output); });
}

/// On the thread. What it finds is told in the thread of the object, as long as that is there.
void ReportJob::work(const QString& trace, const QString& output) {
  const auto tell = [this](auto say) {
    QMetaObject::invokeMethod(
        this,
        [this, say] {
          running_ = false;
          say();
        },
        Qt::QueuedConnection);
  };
  try {
    trace::Reader reader(trace.toStdString());
    report::HtmlOptions options;
    options.progress = [this](double part, std::string_view what) {
      const QString text = QString::fromUtf8(what.data(), static_cast<qsizetype>(what.size()));
      QMetaObject::invokeMethod(this, [this, part, text] { emit progress(part, text); }, Qt::QueuedConnection);
      return !stop_;
    };
    const std::string html = report::html_report(reader, options);
    if (stop_) throw draw::Stopped();
    draw::write_file(output.toStdString(), html);
    tell([this, output] { emit done(output); });
  } catch (const draw::Stopped&) {
    tell([this] { emit cancelled(); });
  } catch (const Error& error) {
    tell([this, text = QString::fromUtf8(error.what()), code = error.exit_code()] { emit failed(text, code); });
  } catch (const std::exception& error) {
    tell([this, text = QString::fromUtf8(error.what())] { emit failed(text, 3); });
  }
}

}  // namespace strata::studio
