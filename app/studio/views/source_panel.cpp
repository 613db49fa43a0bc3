// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/source_panel.h"

#include <QSignalBlocker>
#include <QSplitter>
#include <QToolButton>
#include <algorithm>

#include "app/studio/views/panels.h"

namespace strata::studio {

SourcePanel::SourcePanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      pages_(new QTabBar),
      files_(new QComboBox),
      times_label_(new QLabel),
      hint_(note("source hint")),
      stack_(new QStackedWidget),
      view_(new CodeView),
      bytecode_(new CodeView) {
  auto* layout = column(this);
  auto* top = new QHBoxLayout;
  pages_->addTab("Source");
  pages_->addTab("Bytecode");
  pages_->setExpanding(false);
  pages_->setDrawBase(false);
  pages_->setAccessibleName("source or bytecode");
  top->addWidget(pages_);
  top->addWidget(files_, 1);
  top->addWidget(times_label_);
  layout->addLayout(top);
  layout->addWidget(hint_);
  auto* split = new QSplitter;
  stack_->addWidget(view_);
  stack_->addWidget(bytecode_);
  split->addWidget(stack_);
  split->addWidget(card_box_ = build_card());
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 1);
  layout->addWidget(split, 1);
  files_->setAccessibleName("source files of the selection");
  files_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  times_label_->setAccessibleName("times of this file");
  view_->setAccessibleName("Python source");
  view_->set_language(Language::Python);
  bytecode_->setAccessibleName("Python bytecode");
  connect(pages_, &QTabBar::currentChanged, this, &SourcePanel::show_page);
  connect(files_, &QComboBox::activated, this, &SourcePanel::show_item);
  connect(view_, &CodeView::lineActivated, this, &SourcePanel::follow_line);
  connect(view_, &CodeView::markActivated, this, &SourcePanel::open_card);
  connect(bytecode_, &CodeView::lineActivated, this, [this](int line) {
    const size_t at = static_cast<size_t>(line - 1);
    if (code_ && at < code_->lines.size() && code_->lines[at] > 0)
      context_.select_line(qt(code_->file), code_->lines[at]);
  });
  connect(&context_, &Context::detailsChanged, this, &SourcePanel::fill);
  connect(&context_, &Context::traceDataChanged, this, [this] {
    times_wanted_ = true;
    fill();
    load_times();
  });
  connect(&context_, &Context::traceOpened, this, [this] {
    times_.reset();
    times_wanted_ = true;
  });
  connect(&context_, &Context::compileChanged, this, [this] {
    if (pages_->currentIndex() == 1) load_bytecode_text();
    add_marks();
  });
  connect(&context_, &Context::sourceRequested, this, &SourcePanel::show_line);
  fill();
}

QWidget* SourcePanel::build_card() {
  auto* box = new QWidget;
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* top = new QHBoxLayout;
  top->addWidget(card_title_ = new QLabel, 1);
  auto* close = new QToolButton;
  close->setText("×");
  close->setAutoRaise(true);
  close->setToolTip("Close");
  close->setAccessibleName("close the notes of the line");
  connect(close, &QToolButton::clicked, box, &QWidget::hide);
  top->addWidget(close);
  layout->addLayout(top);
  card_ = new QTextBrowser;
  card_->setOpenLinks(false);
  card_->setAccessibleName("what happened at the line");
  connect(card_, &QTextBrowser::anchorClicked, this, &SourcePanel::follow_link);
  layout->addWidget(card_, 1);
  box->setMinimumWidth(220);
  box->hide();
  return box;
}

void SourcePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  load_times();
}

// -------------------------------------------------------------------------------------------------------- what is
// shown

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
  // Single lines of many files say more together.
  if (excerpts && (!details->stack.empty() || !details->origins.locations.empty())) files_->insertItem(0, "Call stack");
  const bool selected = files_->count() > 0;
  if (const TraceDataPtr data = context_.trace_data())
    for (const std::string& path : data->source_paths)
      if (files_->findData(qt(path)) < 0) files_->addItem(qt(path), qt(path));
  const bool any = files_->count() > 0;
  files_->setVisible(any);
  stack_->setVisible(any || pages_->currentIndex() == 1);
  hint_->setVisible(!any);
  hint_->setText(details ? "The trace knows no source line of this selection."
                         : "Select a node or a kernel to see the Python lines it comes from.");
  mark_bytecode();
  if (!any) return;
  if (selected) return show_item(preferred_item());
  const int same = files_->findData(qt(shown_));
  load(files_->itemData(shown_.empty() || same < 0 ? 0 : same).toString(), 0);
}

/// The file of a line that was selected, then the one that is looked at, then the first.
int SourcePanel::preferred_item() const {
  const auto details = context_.details();
  const int of_line = files_->findData(qt(details->selection.file));
  if (details->selection.line > 0 && of_line >= 0) return of_line;
  const bool here = std::any_of(details->sources.begin(), details->sources.end(), [&](const SourceUnit& unit) {
    return unit.file.path == shown_ && !unit.lines.empty();
  });
  return here ? files_->findData(qt(shown_)) : 0;
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
  if (!shown_.empty()) return context_.select_line(qt(shown_), line);
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
  shown_.clear();
  marks_.clear();
  times_label_->clear();
  files_->setCurrentIndex(0);
  hint_->setText("The trace holds only single lines of the source, each shown under its place.");
  hint_->show();
}

namespace {

/// An excerpt as text, with a line in place of those that are missing.
struct Excerpt {
  QStringList lines;
  std::vector<int> numbers, gaps;

  explicit Excerpt(const trace::SourceFileRecord& file) {
    int before = 0;
    for (const auto& line : file.lines) {
      const int number = static_cast<int>(line.number);
      if (number > before + 1) gap(before + 1, number - 1);
      lines << qt(line.text);
      numbers.push_back(number);
      before = number;
    }
  }

  void gap(int first, int last) {
    lines << (first == last ? QString("… line %1 is not in the trace …").arg(first)
                            : QString("… lines %1-%2 are not in the trace …").arg(first).arg(last));
    numbers.push_back(first);  // in order for the search by number; not painted
    gaps.push_back(first);
  }
};

}  // namespace

void SourcePanel::show_unit(const SourceUnit& unit) {
  shown_ = unit.file.path;
  files_->setCurrentIndex(files_->findData(qt(unit.file.path)));
  hint_->setVisible(unit.file.excerpt && pages_->currentIndex() == 0);
  if (unit.file.excerpt) {
    hint_->setText("The trace holds only these lines of the file.");
    const Excerpt excerpt(unit.file);
    view_->set_text(excerpt.lines.join('\n'), excerpt.numbers, excerpt.gaps);
  } else {
    view_->set_text(qt(unit.file.text));
  }
  add_marks();
  add_times();
  view_->highlight(unit.lines, unit.callers);
}

void SourcePanel::show_line(const QString& file, int line) {
  pages_->setCurrentIndex(0);
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
  context_.queue().post("source",
                        [this, reader = context_.reader(), data = context_.trace_data(), compile = context_.compile(),
                         file, line]() -> JobQueue::Apply {
                          auto unit = std::make_shared<SourceUnit>();
                          if (auto found = reader->source_file(file.toStdString())) {
                            unit->file = std::move(*found);
                          } else {  // what the places of breaks, recompiles and guards quote
                            unit->file.path = file.toStdString();
                            unit->file.excerpt = true;
                            std::map<std::int64_t, std::string> lines;
                            const auto quote = [&](const std::map<trace::Id, trace::SourceLocation>& places) {
                              for (const auto& [stack, place] : places)
                                if (place.file == unit->file.path && place.line > 0) lines[place.line] = place.text;
                            };
                            if (compile) quote(compile->guard_lines);
                            if (data) quote(data->places);
                            for (const auto& [number, text] : lines) unit->file.lines.push_back({number, text});
                          }
                          if (line > 0) unit->lines.emplace_back(line, line);
                          return [this, unit] {
                            if (files_->findData(qt(unit->file.path)) < 0)
                              files_->addItem(qt(unit->file.path), qt(unit->file.path));
                            files_->show();
                            stack_->show();
                            show_unit(*unit);
                          };
                        });
}

// ----------------------------------------------------------------------------------------------------- margin and card

void SourcePanel::add_marks() {
  const TraceDataPtr data = context_.trace_data();
  const auto compile = context_.compile();
  marks_.clear();
  if (!data || shown_.empty()) return;
  marks_ = source_marks(*data, compile.get(), shown_);
  std::map<int, LineMark> marks;
  for (const auto& [line, mark] : marks_) marks[line] = {mark.sign(), mark.text(), mark.grave};
  view_->set_marks(std::move(marks));
}

void SourcePanel::open_card(int line) {
  const auto at = marks_.find(line);
  if (at == marks_.end()) return;
  card_title_->setText(QString("<b>%1:%2</b>").arg(qt(shown_).section('/', -1).toHtmlEscaped()).arg(line));
  card_->setHtml(at->second.html());
  card_box_->show();
}

void SourcePanel::follow_link(const QUrl& link) {
  const QString rest = link.path();
  if (link.scheme() == "guard") context_.select_guard(rest.toLongLong());
  if (link.scheme() == "compile") context_.select_compile(rest.toLongLong());
  if (link.scheme() == "view") emit view_requested(rest);
}

// -----------------------------------------------------------------------------------------------------------------
// times

void SourcePanel::load_times() {
  if (!times_wanted_ || !isVisible() || !context_.reader() || !context_.trace_data()) return;
  times_wanted_ = false;
  if (context_.trace_data()->runs.empty()) return;
  context_.queue().post("line times", [this, reader = context_.reader()]() -> JobQueue::Apply {
    LineTimesPtr times = load_line_times(*reader);
    return [this, times] {
      times_ = times;
      add_times();
    };
  });
}

void SourcePanel::add_times() {
  times_label_->clear();
  times_label_->hide();
  if (!times_ || times_->empty() || shown_.empty()) return;
  QStringList header;
  std::map<int, LineHeat> heat;
  const auto add = [&](const LineTimes::Side& side, const QString& name, double LineHeat::* share) {
    double most = 0;
    for (const auto& [place, ns] : side.lines) most = std::max(most, ns);
    if (most <= 0) return;
    header << QString("%1 %2 of %3").arg(name, duration_text(side.of_file(shown_)), duration_text(side.total));
    for (auto at = side.lines.lower_bound({shown_, 0}); at != side.lines.end() && at->first.first == shown_; ++at) {
      LineHeat& line = heat[static_cast<int>(at->first.second)];
      line.*share = at->second / most;
      if (!line.text.isEmpty()) line.text += "\n";
      line.text +=
          QString("%1: %2, %3 %").arg(name, duration_text(at->second)).arg(100 * at->second / side.total, 0, 'f', 1);
    }
  };
  add(times_->eager, "eager", &LineHeat::eager);
  add(times_->compiled, "compiled", &LineHeat::compiled);
  view_->set_heat(std::move(heat));
  times_label_->setText(header.join("  ·  "));
  times_label_->setToolTip(
      "Time of the lines of this file, of all that was measured. The slim columns beside the line "
      "numbers show it by line: left eager, right compiled.");
  times_label_->setVisible(!header.isEmpty());
}

// --------------------------------------------------------------------------------------------------------------
// bytecode

void SourcePanel::show_page(int page) {
  stack_->setCurrentIndex(page);
  hint_->setVisible(page == 0 ? files_->count() == 0 : hint_->isVisible());
  if (page == 1) return load_bytecode_text();
  fill();
}

void SourcePanel::load_bytecode_text() {
  const auto compile = context_.compile();
  if (!compile || !context_.reader()) return;
  if (code_ && code_of_ == compile->compile.id) return mark_bytecode();
  context_.queue().post("bytecode",
                        [this, reader = context_.reader(), compile = compile->compile]() -> JobQueue::Apply {
                          auto code = std::make_shared<const Bytecode>(load_bytecode(*reader, compile));
                          return [this, code, id = compile.id] {
                            code_ = code;
                            code_of_ = id;
                            bytecode_->set_text(code->text);
                            mark_bytecode();
                          };
                        });
}

void SourcePanel::mark_bytecode() {
  if (pages_->currentIndex() != 1 || !code_) return;
  hint_->setText("The trace holds no bytecode of this compile. TORCH_TRACE and TORCH_LOGS=bytecode record it.");
  hint_->setVisible(code_->text.isEmpty());
  LineRanges lines;
  if (const auto details = context_.details())
    for (const SourceUnit& unit : details->sources)
      if (unit.file.path == code_->file)
        for (const auto& [first, last] : unit.lines)
          for (size_t i = 0; i < code_->lines.size(); ++i)
            if (first <= code_->lines[i] && code_->lines[i] <= last)
              lines.emplace_back(static_cast<int>(i) + 1, static_cast<int>(i) + 1);
  bytecode_->highlight(lines);
}

}  // namespace strata::studio
