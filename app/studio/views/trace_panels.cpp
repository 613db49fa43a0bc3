// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Pages about the whole trace: overview, problems, guards.

#include <QSplitter>

#include "app/studio/views/panels.h"
#include "app/studio/views/theme.h"

namespace strata::studio {

// -------------------------------------------------------------------------------------------------- OverviewPanel

OverviewPanel::OverviewPanel(Context& context, QWidget* parent)
    : QWidget(parent), context_(context), text_(new QTextBrowser) {
  auto* layout = column(this);
  layout->setContentsMargins(0, 0, 0, 0);
  text_->setAccessibleName("overview");
  text_->setOpenLinks(false);
  text_->setFrameShape(QFrame::NoFrame);
  text_->document()->setDocumentMargin(16);
  layout->addWidget(text_);
  connect(text_, &QTextBrowser::anchorClicked, this, &OverviewPanel::follow);
  connect(&context_, &Context::traceOpened, this, &OverviewPanel::fill);
  connect(&context_, &Context::traceDataChanged, this, &OverviewPanel::fill);
}

void OverviewPanel::fill() {
  const TraceDataPtr data = context_.trace_data();
  text_->setHtml(data ? overview_html(*data, dark_theme()) : QString("<p>Reading the trace …</p>"));
}

void OverviewPanel::follow(const QUrl& link) {
  const QString kind = link.scheme(), rest = link.path(QUrl::FullyDecoded);
  if (kind == "view") return emit view_requested(rest);
  if (kind == "line") return emit context_.sourceRequested(rest.section(':', 1), rest.section(':', 0, 0).toInt());
  if (kind == "compile") context_.select_compile(rest.toLongLong());
  if (kind == "kernel")
    context_.select_kernel_of(rest.section(':', 0, 0).toLongLong(), rest.section(':', 1).toLongLong());
  emit graph_requested();
}

// -------------------------------------------------------------------------------------------------- ProblemsPanel

ProblemsPanel::ProblemsPanel(Context& context, QWidget* parent)
    : QWidget(parent),
      summary_(note("summary of problems")),
      table_(new LinkTable(context, finding_headers(), "problems")) {
  auto* layout = column(this);
  layout->addWidget(summary_);
  layout->addWidget(table_, 1);
  table_->rows().set_numeric({1, 2});
  const auto fill = [this, &context] {
    const TraceDataPtr data = context.trace_data();
    table_->set_rows(data ? finding_rows(*data) : std::vector<TableRow>());
    summary_->setText(!data ? "Open a trace to see what is worth mending."
                            : QString("%1 graph breaks, %2 recompiles; the costliest first.")
                                  .arg(data->breaks.size())
                                  .arg(data->recompiled()));
  };
  connect(&context, &Context::traceOpened, this, fill);
  connect(&context, &Context::traceDataChanged, this, fill);
  connect(&context, &Context::detailsChanged, this, [this, &context] {
    const auto details = context.details();
    int row = -1;
    for (const SourceUnit& unit : details ? details->sources : std::vector<SourceUnit>())
      for (const auto& [first, last] : unit.lines)
        if (row < 0) row = table_->rows().row_of_line(qt(unit.file.path), first);
    if (row >= 0)
      table_->show_row(row);
    else
      table_->clearSelection();
  });
  fill();
}

// ---------------------------------------------------------------------------------------------------- GuardsPanel

GuardsPanel::GuardsPanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      summary_(note("summary of guards")),
      chain_(new LinkTable(context, chain_headers(), "compiles of this frame")),
      guards_(new LinkTable(context, guard_headers(), "guards")) {
  auto* layout = column(this);
  layout->addWidget(summary_);
  auto* both = new QSplitter(Qt::Vertical);
  both->addWidget(chain_);
  both->addWidget(guards_);
  both->setStretchFactor(0, 2);
  both->setStretchFactor(1, 3);
  both->setChildrenCollapsible(false);
  layout->addWidget(both, 1);
  guards_->rows().set_numeric({4, 5, 6});
  connect(&context_, &Context::compileChanged, this, &GuardsPanel::fill);
  connect(&context_, &Context::traceDataChanged, this, &GuardsPanel::fill);
  connect(&context_, &Context::detailsChanged, this, &GuardsPanel::follow_selection);
  fill();
}

/// The selected guard, or the first of the selected lines.
void GuardsPanel::follow_selection() {
  const auto details = context_.details();
  if (details && !details->guards.empty())
    guards_->show_row(guards_->rows().row_of_guard(details->guards.front().id));
  else
    guards_->clearSelection();
}

void GuardsPanel::fill() {
  const auto compile = context_.compile();
  const TraceDataPtr data = context_.trace_data();
  chain_->set_rows(compile && data ? chain_rows(*data, compile->compile) : std::vector<TableRow>());
  guards_->set_rows(compile ? guard_rows(compile->guards, compile->guard_lines,
                                         data ? data->recompiles : std::vector<trace::RecompileRecord>())
                            : std::vector<TableRow>());
  if (!compile) return summary_->setText("Open a trace to see what its graphs rely on.");
  const size_t count = compile->guards.size();
  if (count == 0)
    return summary_->setText(QString("Compile %1 has no guards in this trace.").arg(qt(compile->compile.address)));
  QString text = QString("Compile %1 of %2 is used again only while its %3 guards hold.")
                     .arg(qt(compile->compile.address), qt(compile->compile.name))
                     .arg(count);
  if (compile->guard_latency_ns >= 0)
    text += QString(" Checking all of them takes %1 in every call.").arg(duration_text(compile->guard_latency_ns));
  summary_->setText(text);
}

}  // namespace strata::studio
