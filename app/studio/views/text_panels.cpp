// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

#include "app/studio/views/panels.h"

namespace strata::studio {

// ----------------------------------------------------------------------------------------------------- SourcePanel

SourcePanel::SourcePanel(Context& context, QWidget* parent)
    : QWidget(parent), context_(context), files_(new QComboBox), hint_(note("source hint")), view_(new CodeView) {
  auto* layout = column(this);
  layout->addWidget(files_);
  layout->addWidget(hint_);
  layout->addWidget(view_, 1);
  files_->setAccessibleName("source files of the selection");
  files_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  view_->setAccessibleName("Python source");
  connect(files_, &QComboBox::activated, this, &SourcePanel::show_item);
  connect(view_, &CodeView::lineActivated, this, &SourcePanel::follow_line);
  connect(&context_, &Context::detailsChanged, this, &SourcePanel::fill);
  connect(&context_, &Context::traceDataChanged, this, &SourcePanel::fill);
  connect(&context_, &Context::sourceRequested, this, &SourcePanel::show_line);
  fill();
}

void SourcePanel::fill() {
  auto details = context_.details();
  QSignalBlocker block(files_);
  files_->clear();
  bool excerpts = false;
  if (details)
    for (const auto& unit : details->sources) {
      files_->addItem(qt(unit.file.path), qt(unit.file.path));
      excerpts |= unit.file.excerpt;
    }
  if (excerpts) files_->insertItem(0, "Call stack");  // single lines of many files say more together
  const bool selected = files_->count() > 0;
  if (const TraceDataPtr data = context_.trace_data())
    for (const std::string& path : data->source_paths)
      if (files_->findData(qt(path)) < 0) files_->addItem(qt(path), qt(path));
  const bool any = files_->count() > 0;
  files_->setVisible(any);
  view_->setVisible(any);
  hint_->setVisible(!any);
  hint_->setText(details ? "The trace knows no source line of this selection."
                         : "Select a node or a kernel to see the Python lines it comes from.");
  if (!any) return;
  if (selected) return show_item(0);
  load(files_->itemData(0).toString(), 0);
}

void SourcePanel::show_item(int index) {
  if (files_->itemData(index).isNull()) return show_stack();
  const QString file = files_->itemData(index).toString();
  if (auto details = context_.details())
    for (const SourceUnit& unit : details->sources)
      if (qt(unit.file.path) == file) return show_unit(unit);
  load(file, 0);
}

void SourcePanel::follow_line(int line) {
  if (!files_->currentData().isNull()) return context_.select_line(files_->currentData().toString(), line);
  auto details = context_.details();  // the call stack: two lines for each place
  if (!details) return;
  const auto& list = details->stack.empty() ? details->origins.locations : details->stack;
  size_t at = static_cast<size_t>(line - 1) / 2;
  if (at < list.size()) context_.select_line(qt(list[at].file), static_cast<int>(list[at].line));
}

void SourcePanel::show_stack() {
  auto details = context_.details();
  if (!details) return;
  LineRanges lines;
  view_->set_text(stack_text(*details, lines));
  LineRanges innermost;
  if (!lines.empty() && !details->stack.empty()) {
    innermost.push_back(lines.back());
    lines.pop_back();
  }
  view_->highlight(innermost, lines);
  files_->setCurrentIndex(0);
  hint_->setText("The trace holds only single lines of the source, each shown under its place.");
  hint_->show();
}

void SourcePanel::show_unit(const SourceUnit& unit) {
  files_->setCurrentIndex(files_->findData(qt(unit.file.path)));
  hint_->setVisible(unit.file.excerpt);
  if (unit.file.excerpt) hint_->setText("The trace holds only these lines of the file.");
  QString text = qt(unit.file.text);
  std::vector<int> numbers, gaps;
  if (unit.file.excerpt) {
    QStringList lines;
    for (const auto& line : unit.file.lines) {
      bool gap = !numbers.empty() && line.number > numbers.back() + 1;
      if (gap) {
        lines << "⋮";
        numbers.push_back(numbers.back() + 1);  // in order for the search by number; not painted
        gaps.push_back(numbers.back());
      }
      lines << qt(line.text);
      numbers.push_back(static_cast<int>(line.number));
    }
    text = lines.join('\n');
  }
  view_->set_text(text, numbers, gaps);
  add_marks(unit.file.path);
  view_->highlight(unit.lines, unit.callers);
}

void SourcePanel::add_marks(const std::string& file) {
  const TraceDataPtr data = context_.trace_data();
  const auto compile = context_.compile();
  if (!data) return;
  static const std::vector<trace::GuardRecord> no_guards;
  static const std::map<trace::Id, trace::SourceLocation> no_places;
  std::map<int, LineMark> marks;
  for (auto& [line, mark] :
       source_marks(*data, compile ? compile->guards : no_guards, compile ? compile->guard_lines : no_places, file))
    marks[line] = {mark.sign, mark.text, mark.grave};
  view_->set_marks(std::move(marks));
}

void SourcePanel::show_line(const QString& file, int line) {
  if (auto details = context_.details())
    for (const SourceUnit& unit : details->sources)
      if (qt(unit.file.path) == file) {
        show_unit(unit);
        return view_->highlight({{line, line}}, unit.lines);
      }
  load(file, line);
}

void SourcePanel::load(const QString& file, int line) {
  if (!context_.reader()) return;
  context_.queue().post(
      "source", [this, reader = context_.reader(), data = context_.trace_data(), file, line]() -> JobQueue::Apply {
        auto unit = std::make_shared<SourceUnit>();
        if (auto found = reader->source_file(file.toStdString())) {
          unit->file = std::move(*found);
        } else {  // what the places of breaks and recompiles quote
          unit->file.path = file.toStdString();
          unit->file.excerpt = true;
          std::map<std::int64_t, std::string> lines;
          if (data)
            for (const auto& [stack, place] : data->places)
              if (place.file == unit->file.path) lines[place.line] = place.text;
          for (const auto& [number, text] : lines) unit->file.lines.push_back({number, text});
        }
        if (line > 0) unit->lines.emplace_back(line, line);
        return [this, unit] {
          if (files_->findData(qt(unit->file.path)) < 0) files_->addItem(qt(unit->file.path), qt(unit->file.path));
          files_->show();
          view_->show();
          show_unit(*unit);
        };
      });
}

// ------------------------------------------------------------------------------------------------------- CodePanel

CodePanel::CodePanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      tabs_(new QTabBar),
      kernels_(new QComboBox),
      hint_(note("code hint")),
      view_(new CodeView) {
  auto* layout = column(this);
  auto* top = new QHBoxLayout;
  top->addWidget(tabs_);
  top->addStretch(1);
  top->addWidget(kernels_);
  layout->addLayout(top);
  layout->addWidget(hint_);
  layout->addWidget(view_, 1);
  tabs_->setAccessibleName("languages");
  tabs_->setExpanding(false);
  kernels_->setAccessibleName("kernels of the selection");
  kernels_->setMinimumContentsLength(22);
  kernels_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  view_->setAccessibleName("generated code");
  connect(tabs_, &QTabBar::currentChanged, this, [this](int i) {
    if (i < 0) return;
    preferred_ = tabs_->tabText(i);
    show_tab();
  });
  connect(kernels_, &QComboBox::activated, this, [this](int) { show_unit(); });
  connect(view_, &CodeView::lineActivated, this, [this](int line) {
    int at = kernels_->currentData().toInt();
    if (at < 0 || at >= static_cast<int>(units_.size())) return;
    std::vector<trace::NodeId> nodes;
    for (const auto& entry : units_[static_cast<size_t>(at)].artifact->lines)
      if (entry.first_line <= line && line <= entry.last_line)
        nodes.insert(nodes.end(), entry.nodes.begin(), entry.nodes.end());
    context_.set_marked(nodes);
    if (!nodes.empty()) context_.select_node(nodes.front());
  });
}

/// Kinds are words; a tab as wide as a picture can be would not be painted.
static QString tab_name(const CodeUnit& unit) { return qt(unit.artifact->kind).left(40); }

void CodePanel::set_units(const std::vector<CodeUnit>& units, const QString& when_empty) {
  QString wanted = preferred_;
  units_ = units;
  QSignalBlocker block(tabs_);
  tabs_->hide();  // shown again below: a visible tab bar keeps the size it had without tabs
  while (tabs_->count() > 0) tabs_->removeTab(0);
  static const QStringList order = {"fx",   "ir",      "loop-ir", "python", "triton", "cpp",
                                    "cuda", "llvm-ir", "ptx",     "asm",    "sass",   "library"};
  QStringList kinds;
  for (const auto& unit : units_)
    if (QString kind = tab_name(unit); !kinds.contains(kind)) kinds << kind;
  std::stable_sort(kinds.begin(), kinds.end(), [](const QString& a, const QString& b) {
    auto rank = [](const QString& k) { return order.contains(k) ? order.indexOf(k) : order.size(); };
    return rank(a) < rank(b);
  });
  for (const QString& kind : kinds) tabs_->addTab(kind);
  bool any = !kinds.isEmpty();
  if (any) tabs_->setCurrentIndex(std::max<int>(0, static_cast<int>(kinds.indexOf(wanted))));
  view_->setVisible(any);
  kernels_->setVisible(any);
  tabs_->setVisible(any);
  hint_->setVisible(!any);
  hint_->setText(when_empty);
  if (any) show_tab();
}

void CodePanel::follow(const Details& details) {
  if (units_.empty()) return;
  QString kernel = details.kernels.empty() ? QString() : qt(details.kernels.front().name);
  bool kernel_itself = details.selection.node == 0;
  for (CodeUnit& unit : units_)
    unit.lines = kernel_itself && !unit.kernel.empty() ? LineRanges() : lines_of(*unit.artifact, details.related);
  if (int at = kernels_->findText(kernel); at >= 0) kernels_->setCurrentIndex(at);
  show_unit();
}

void CodePanel::show_tab() {
  QString kind = tabs_->tabText(tabs_->currentIndex());
  QString kernel = kernels_->currentText();
  QSignalBlocker block(kernels_);
  kernels_->clear();
  for (size_t i = 0; i < units_.size(); ++i)
    if (tab_name(units_[i]) == kind)
      kernels_->addItem(qt(units_[i].kernel.empty() ? units_[i].artifact->name : units_[i].kernel), static_cast<int>(i));
  if (int same = kernels_->findText(kernel); same >= 0) kernels_->setCurrentIndex(same);
  show_unit();
}

void CodePanel::show_unit() {
  int at = kernels_->currentData().toInt();
  if (kernels_->count() == 0 || at < 0 || at >= static_cast<int>(units_.size())) return;
  const CodeUnit& unit = units_[static_cast<size_t>(at)];
  QString text = qt(unit.artifact->content);
  if (text.endsWith('\n')) text.chop(1);
  view_->set_text(text);
  view_->highlight(unit.lines);
}

// -------------------------------------------------------------------------------------------------- TextStagePanel

TextStagePanel::TextStagePanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      title_(note("stage")),
      launches_(new LinkTable(context, launch_headers(), "launches")),
      times_(new LinkTable(context, time_headers(), "times of kernels")),
      code_(new CodePanel(context)) {
  auto* layout = column(this);
  layout->addWidget(title_);
  layout->addWidget(launches_, 1);
  layout->addWidget(times_, 1);
  layout->addWidget(code_, 1);
  launches_->rows().set_numeric({0, 2});
  times_->rows().set_numeric({2, 3, 4, 5, 6, 7, 8, 9});
  connect(&context_, &Context::stepChanged, this, &TextStagePanel::fill);
  connect(&context_, &Context::detailsChanged, this, &TextStagePanel::follow_selection);
}

void TextStagePanel::fill() {
  StepPtr step = context_.step_data();
  auto compile = context_.compile();
  if (!step || !compile || step->snapshot.kind != trace::SnapshotKind::Text) return;
  const std::string stage = stage_kind(step->snapshot.stage);
  title_->setText(QString("Stage %1: %2")
                      .arg(qt(step->snapshot.stage), stage == "plan"
                                                         ? "launches in order, with the buffers they read and write"
                                                     : stage == "runs" ? "measured times of each kernel"
                                                                       : "text made at this stage"));
  launches_->setVisible(stage == "plan");
  times_->setVisible(stage == "runs");
  if (stage == "plan") launches_->set_rows(launch_rows(*compile, step->snapshot.program));
  if (stage == "runs") times_->set_rows(time_rows(*compile));
  bool tables = stage == "plan" || stage == "runs";
  code_->setVisible(!tables || !step->texts.empty());
  code_->set_units(step->texts, "The trace holds no text of this stage.");
  follow_selection();
}

void TextStagePanel::follow_selection() {
  StepPtr step = context_.step_data();
  if (!step || step->snapshot.kind != trace::SnapshotKind::Text) return;
  auto details = context_.details();
  if (!details || details->kernels.empty()) return;
  trace::Id kernel = details->kernels.front().id;
  launches_->show_row(launches_->rows().row_of_kernel(kernel));
  times_->show_row(times_->rows().row_of_kernel(kernel));
  code_->follow(*details);
}

}  // namespace strata::studio
