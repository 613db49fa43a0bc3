// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/comparison.h"

#include <QDir>
#include <QFileInfo>
#include <QPointer>
#include <algorithm>
#include <filesystem>

#include "app/studio/models/lists.h"
#include "core/support/error.h"

namespace strata::studio {

namespace {

const char* const kKeys[] = {"compare profiles", "compare graphs", "compare compiles", "compare ranks"};

bool one_file(const QString& a, const QString& b) {
  std::error_code failed;
  return a == b || std::filesystem::equivalent(a.toStdString(), b.toStdString(), failed);
}

template <typename List>
bool within(int i, const List& list) {
  return i >= 0 && static_cast<size_t>(i) < list.size();
}

}  // namespace

Comparison::Comparison(Context& context, QObject* parent) : QObject(parent), context_(context) {
  connect(&context_, &Context::traceOpened, this, &Comparison::trace_opened);
  // Queued: the context goes on with what it opens after the signal.
  connect(&context_, &Context::compileChanged, this, &Comparison::show_waiting_place, Qt::QueuedConnection);
  // The trace that was to be opened for a place cannot be.
  connect(&context_, &Context::message, this, [this] { place_.reset(); });
  connect(&context_, &Context::traceGrown, this, [this] {
    for (Source& source : sources_)
      if (source.reader == context_.reader()) source.choices.reset();
    if (wanted_ >= 0) list();
  });
}

void Comparison::trace_opened() {
  const QString path = context_.path();
  const auto same = [&](const Source& s) { return one_file(s.path, path); };
  // One of the two that are compared was opened to show something in it.
  const bool known = std::any_of(sources_.begin(), sources_.end(), same) && sources_.size() > 1;
  if (!known) {
    for (const char* key : kKeys) context_.queue().supersede(key);
    context_.queue().supersede("compare lists");
    sources_ = {{path, QFileInfo(path).fileName(), context_.reader(), nullptr}};
    side_ = {};
    suggested_ = listing_ = false;
    place_.reset();
    outdated();
    emit choicesChanged();
  }
  if (const QString other = std::exchange(waiting_, {}); !other.isEmpty()) open_other(other);
}

void Comparison::open_other(const QString& path) {
  if (sources_.empty()) {
    waiting_ = path;
    return;
  }
  for (size_t i = 0; i < sources_.size(); ++i)
    if (one_file(sources_[i].path, path)) return choose_source(1, static_cast<int>(i));
  context_.queue().post("compare with", [self = QPointer(this), path]() -> JobQueue::Apply {
    auto reader = std::make_shared<trace::Reader>(path.toStdString());
    return [self, path, reader] {
      if (self) self->other_opened(path, reader);
    };
  });
}

void Comparison::other_opened(const QString& path, const std::shared_ptr<trace::Reader>& reader) {
  if (sources_.empty()) return;
  QString title = QFileInfo(path).fileName();
  for (const Source& s : sources_)
    if (s.title == title) title = QFileInfo(path).dir().dirName() + "/" + title;
  sources_.push_back({path, title, reader, nullptr});
  side(1).source = static_cast<int>(sources_.size()) - 1;
  suggested_ = false;
  outdated();
  emit choicesChanged();
  list();
}

// --------------------------------------------------------------------------------------------------------- choices

const SideChoices* Comparison::choices(int s) const {
  return within(side(s).source, sources_) ? sources_[static_cast<size_t>(side(s).source)].choices.get() : nullptr;
}

bool Comparison::listed() const { return choices(0) && choices(1); }

void Comparison::list() {
  if (listing_ || sources_.empty()) return;
  auto missing = std::make_shared<std::vector<Source>>();
  for (const Source& s : sources_)
    if (!s.choices) missing->push_back(s);
  if (missing->empty()) return listed_all();
  listing_ = true;
  context_.queue().post("compare lists", [self = QPointer(this), missing]() -> JobQueue::Apply {
    QString error;
    for (Source& s : *missing) try {
        s.choices = std::make_shared<const SideChoices>(load_choices(*s.reader));
      } catch (const Error& failed) {
        // There is nothing to choose in a damaged trace; the other side stays.
        s.choices = std::make_shared<const SideChoices>();
        error = QString::fromUtf8(failed.what());
      }
    return [self, missing, error] {
      if (!self) return;
      if (!error.isEmpty()) emit self->context_.message(error);
      self->listing_ = false;
      for (const Source& read : *missing)
        for (Source& s : self->sources_)
          if (s.reader == read.reader) s.choices = read.choices;
      self->list();
    };
  });
}

void Comparison::listed_all() {
  if (!suggested_) suggest();
  emit choicesChanged();
  if (wanted_ >= 0) want(static_cast<Page>(wanted_));
}

void Comparison::suggest() {
  if (!listed()) return;
  const auto shown = context_.compile() ? context_.compile()->compile.id : trace::kNone;
  std::tie(side(0).index, side(1).index) = suggest_sides(*choices(0), *choices(1), one_trace(), shown);
  suggested_ = true;
  outdated();
}

void Comparison::choose_eager_and_compiled() {
  side(1).source = side(0).source;
  suggested_ = false;
  list();
}

CompareSide Comparison::chosen(int s) const {
  CompareSide out;
  if (!within(side(s).source, sources_)) return out;
  out.reader = sources_[static_cast<size_t>(side(s).source)].reader;
  const SideChoices* c = choices(s);
  const SideIndex& i = side(s).index;
  if (!c) return out;
  if (within(i.run, c->runs)) out.run = c->runs[static_cast<size_t>(i.run)];
  if (within(i.rank, c->ranks)) out.rank = c->ranks[static_cast<size_t>(i.rank)];
  if (!within(i.compile, c->compiles)) return out;
  out.compile = c->compiles[static_cast<size_t>(i.compile)];
  if (!within(i.stage, out.compile->graphs)) return out;
  out.snapshot = out.compile->graphs[static_cast<size_t>(i.stage)].id;
  out.stage = out.compile->graphs[static_cast<size_t>(i.stage)].stage;
  return out;
}

void Comparison::choose_source(int s, int source) {
  if (!within(source, sources_) || side(s).source == source) return;
  side(s).source = source;
  suggested_ = false;
  outdated();
  list();
}

void Comparison::choose_run(int s, int run) {
  side(s).index.run = run;
  drop(Page::Profile);
  emit choicesChanged();
}

void Comparison::choose_rank(int s, int rank) {
  side(s).index.rank = rank;
  drop(Page::Ranks);
  emit choicesChanged();
}

void Comparison::choose_stage(int s, int stage) {
  side(s).index.stage = stage;
  drop(Page::Graph);
  emit choicesChanged();
}

/// The stage of the same name, if the other compile has it.
void Comparison::choose_compile(int s, int compile) {
  const std::string stage = chosen(s).stage;
  side(s).index.compile = compile;
  const CompareSide now = chosen(s);
  int found = now.compile && !now.compile->graphs.empty() ? 0 : -1;
  if (now.compile)
    for (size_t i = 0; i < now.compile->graphs.size(); ++i)
      if (now.compile->graphs[i].stage == stage) found = static_cast<int>(i);
  side(s).index.stage = found;
  drop(Page::Graph);
  drop(Page::Compile);
  emit choicesChanged();
}

void Comparison::swap() {
  std::swap(side_[0], side_[1]);
  outdated();
  emit choicesChanged();
}

// --------------------------------------------------------------------------------------------------------- results

void Comparison::outdated() {
  for (int i = 0; i < kPages; ++i) drop(static_cast<Page>(i));
}

void Comparison::drop(Page page) {
  context_.queue().supersede(kKeys[static_cast<int>(page)]);
  state(page) = {};
  switch (page) {
    case Page::Profile:
      profile_.reset();
      break;
    case Page::Graph:
      graph_.reset();
      break;
    case Page::Compile:
      compile_.reset();
      break;
    case Page::Ranks:
      ranks_.reset();
      break;
  }
  emit resultChanged(static_cast<int>(page));
}

QString Comparison::why_not(Page page) const {
  if (sources_.empty()) return "Open a trace to compare it.";
  if (!listed()) return {};
  const CompareSide a = chosen(0), b = chosen(1);
  const bool one = a.reader == b.reader;
  const char* const other = "Choose another, or a second trace with File > Compare with.";
  switch (page) {
    case Page::Profile:
      if (!a.run || !b.run)
        return QString("Side %1 has no run and no profile. %2")
            .arg(a.run ? "B" : "A", "Record one, or choose another trace.");
      if (one && a.run->runs == b.run->runs) return QString("Both sides are the same run. %1").arg(other);
      return {};
    case Page::Graph:
      if (!a.snapshot || !b.snapshot) return QString("Side %1 has no graph.").arg(a.snapshot ? "B" : "A");
      if (one && a.snapshot == b.snapshot) return QString("Both sides are the same stage. %1").arg(other);
      return {};
    case Page::Compile:
      if (!a.compile || !b.compile) return QString("Side %1 has no compile.").arg(a.compile ? "B" : "A");
      if (one && a.compile->record.id == b.compile->record.id)
        return QString("Both sides are the same compile: nothing was compiled twice here. %1").arg(other);
      return {};
    case Page::Ranks:
      if (a.rank < 0 || b.rank < 0)
        return "There are no ranks to compare: import the logs and profiles of several ranks into one trace.";
      if (one && a.rank == b.rank) return QString("Both sides are the same rank. %1").arg(other);
      return {};
  }
  return {};
}

Comparison::Page Comparison::best_page() const {
  const CompareSide x = chosen(0), y = chosen(1);
  const bool other_rank = !x.run || !y.run || (x.run->rank >= 0 && y.run->rank >= 0 && x.run->rank != y.run->rank);
  if (other_rank && listed() && why_not(Page::Ranks).isEmpty()) return Page::Ranks;
  for (int i = 0; i < kPages; ++i)
    if (why_not(static_cast<Page>(i)).isEmpty()) {
      // A frame that was compiled again is told by its compiles, not by its graphs.
      const bool chain = x.reader == y.reader && x.compile && y.compile && x.compile->record.id != y.compile->record.id;
      return static_cast<Page>(i) == Page::Graph && chain ? Page::Compile : static_cast<Page>(i);
    }
  return Page::Profile;
}

void Comparison::want(Page page) {
  wanted_ = static_cast<int>(page);
  if (!listed() || !suggested_) return list();
  State& s = state(page);
  if (s.loaded || s.loading || !why_not(page).isEmpty()) return;
  load(page);
}

void Comparison::load(Page page) {
  state(page).loading = true;
  emit resultChanged(static_cast<int>(page));
  context_.queue().post(kKeys[static_cast<int>(page)],
                        [self = QPointer(this), page, a = chosen(0), b = chosen(1)]() -> JobQueue::Apply {
                          QString error;
                          try {
                            const Take take = work(page, a, b);
                            return [self, page, take] {
                              if (!self) return;
                              take(*self);
                              self->done(page, {});
                            };
                          } catch (const Error& failed) {
                            error = QString::fromUtf8(failed.what());
                          }
                          return [self, page, error] {
                            if (self) self->done(page, error);
                          };
                        });
}

Comparison::Take Comparison::work(Page page, const CompareSide& a, const CompareSide& b) {
  const auto stop = [] { return JobQueue::superseded(); };
  switch (page) {
    case Page::Profile: {
      auto result = std::make_shared<const ProfileComparison>(compare_profiles(a, b, stop));
      return [result](Comparison& c) { c.profile_ = result; };
    }
    case Page::Graph: {
      auto result = std::make_shared<const GraphComparison>(load_graph_comparison(a, b, stop));
      return [result](Comparison& c) { c.graph_ = result; };
    }
    case Page::Compile: {
      auto result = std::make_shared<const CompileComparison>(compare_compiles_of_frame(a, b, stop));
      return [result](Comparison& c) { c.compile_ = result; };
    }
    case Page::Ranks: {
      auto result = std::make_shared<const RankComparison>(compare_ranks(a, b, stop));
      return [result](Comparison& c) { c.ranks_ = result; };
    }
  }
  return [](Comparison&) {};
}

void Comparison::done(Page page, const QString& error) {
  state(page) = {false, true, error};
  emit resultChanged(static_cast<int>(page));
}

QString Comparison::verdict(Page page) const {
  if (const QString why = why_not(page); !why.isEmpty()) return why;
  if (!listed()) return "Reading what there is to compare …";
  if (state(page).loading) return "Comparing …";
  if (!state(page).error.isEmpty()) return "These cannot be compared: " + state(page).error;
  switch (page) {
    case Page::Profile:
      return profile_ ? profile_verdict(*profile_) : QString();
    case Page::Graph:
      return graph_ ? graph_verdict(*graph_) : QString();
    case Page::Compile:
      return compile_ ? compile_verdict(*compile_) : QString();
    case Page::Ranks:
      return ranks_ ? rank_verdict(*ranks_) : QString();
  }
  return {};
}

// ---------------------------------------------------------------------------------------------------------- places

bool Comparison::is_open(int s) const {
  return within(side(s).source, sources_) &&
         one_file(sources_[static_cast<size_t>(side(s).source)].path, context_.path());
}

void Comparison::select(const ComparePlace& place) {
  Selection selection;
  selection.kernel = place.kernel;
  selection.node = place.kernel ? 0 : place.node;
  if (place.compile && selection.in_graph())
    context_.select_in(place.compile, selection);
  else if (place.compile)
    context_.select_compile(place.compile);
  if (place.line > 0) emit context_.sourceRequested(qt(place.file), static_cast<int>(place.line));
}

void Comparison::select_open(const ComparePlace& a, const ComparePlace& b) {
  const auto leads = [](const ComparePlace& p) { return p.compile && (p.kernel || p.node); };
  const bool second = is_open(1) && leads(b);
  if (!second && !(is_open(0) && leads(a))) return;
  ComparePlace place = second ? b : a;
  place.line = 0;
  select(place);
}

void Comparison::show_waiting_place() {
  if (place_ && context_.compile() && is_open(place_side_)) select(*std::exchange(place_, std::nullopt));
}

bool Comparison::show(int s, const ComparePlace& place) {
  if (!place.any() || !within(side(s).source, sources_)) return false;
  if (is_open(s)) {
    select(place);
    return true;
  }
  place_ = place;
  place_side_ = s;
  context_.open({sources_[static_cast<size_t>(side(s).source)].path, {}, {}, {}});
  return true;
}

}  // namespace strata::studio
