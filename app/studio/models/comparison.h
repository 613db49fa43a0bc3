// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Two sides, A and B, and what is known of their differences. A side is a trace with a run, a compile, a stage and a
/// rank of it. Results are made on the worker when somebody looks at them.

#include <QObject>
#include <array>

#include "app/studio/models/comparison_compile.h"
#include "app/studio/models/comparison_graph.h"
#include "app/studio/models/comparison_profile.h"
#include "app/studio/models/comparison_ranks.h"
#include "app/studio/models/context.h"

namespace strata::studio {

class Comparison : public QObject {
  Q_OBJECT
 public:
  enum class Page : int { Profile = 0, Graph, Compile, Ranks };
  static constexpr int kPages = 4;

  explicit Comparison(Context& context, QObject* parent = nullptr);

  /// Traces that can be compared. The first is (or was first) the one that the context has open.
  struct Source {
    QString path, title;
    std::shared_ptr<trace::Reader> reader;
    std::shared_ptr<const SideChoices> choices;  ///< null until they were read
  };
  const std::vector<Source>& sources() const { return sources_; }
  /// Reads another trace and makes it side B. A file that cannot be read is said by the context's `message`; what is
  /// compared stays. Before a trace is open, the file waits for one.
  void open_other(const QString& path);

  /// Sides are 0 (A) and 1 (B).
  int source(int side) const { return side_[static_cast<size_t>(side)].source; }
  const SideIndex& index(int side) const { return side_[static_cast<size_t>(side)].index; }
  const SideChoices* choices(int side) const;
  /// What is chosen of a side, with its reader; nothing of what is not there.
  CompareSide chosen(int side) const;
  void choose_source(int side, int source);
  void choose_run(int side, int run);
  void choose_compile(int side, int compile);
  void choose_stage(int side, int stage);
  void choose_rank(int side, int rank);
  void swap();
  /// Chooses the eager and the compiled profile of the trace, if it has both.
  void choose_eager_and_compiled();

  /// Somebody looks at a page: choices and results are read unless they are there.
  void want(Page page);
  /// Why there is nothing to compare on a page, in a sentence; empty if there is.
  QString why_not(Page page) const;
  /// The first page on which there is something to compare.
  Page best_page() const;
  bool loading(Page page) const { return state(page).loading; }
  bool listed() const;
  /// Why it failed, or empty.
  QString error(Page page) const { return state(page).error; }
  /// Null until it was made.
  ProfileComparisonPtr profile() const { return profile_; }
  GraphComparisonPtr graph() const { return graph_; }
  CompileComparisonPtr compile() const { return compile_; }
  RankComparisonPtr ranks() const { return ranks_; }
  /// What came out, in one line; why not, or what is under way.
  QString verdict(Page page) const;

  /// Shows a place of a side in the window; of a trace that is not open, that trace is opened. False: there is none.
  bool show(int side, const ComparePlace& place);
  /// Selects the node or kernel of a place whose trace is open, that of B if both are. Nothing else is shown for it.
  void select_open(const ComparePlace& a, const ComparePlace& b);
  /// Whether the context has this side's trace open.
  bool is_open(int side) const;

 signals:
  void choicesChanged();
  void resultChanged(int page);

 private:
  struct Side {
    int source = 0;
    SideIndex index;
    bool operator==(const Side&) const = default;
  };
  struct State {
    bool loading = false, loaded = false;
    QString error;
  };
  const State& state(Page page) const { return state_[static_cast<size_t>(page)]; }
  State& state(Page page) { return state_[static_cast<size_t>(page)]; }
  void trace_opened();
  void list();
  void listed_all();
  void suggest();
  void suggest_stages_again();
  void other_opened(const QString& path, const std::shared_ptr<trace::Reader>& reader);
  /// Results are of other sides than are chosen now.
  void outdated();
  void drop(Page page);
  void load(Page page);
  /// On the worker. What is done with the result, unless the object is gone by then.
  using Take = std::function<void(Comparison&)>;
  static Take work(Page page, const CompareSide& a, const CompareSide& b);
  void done(Page page, const QString& error);
  void select(const ComparePlace& place);
  void show_waiting_place();
  const Side& side(int side) const { return side_[static_cast<size_t>(side)]; }
  Side& side(int side) { return side_[static_cast<size_t>(side)]; }
  bool one_trace() const { return side(0).source == side(1).source; }

  Context& context_;
  std::vector<Source> sources_;
  std::array<Side, 2> side_;
  std::array<State, kPages> state_;
  QString waiting_;         ///< a file that was asked for before a trace was open
  bool suggested_ = false;  ///< sides were chosen for these sources
  bool listing_ = false;
  std::optional<ComparePlace> place_;  ///< to be shown when the trace that is being opened is there
  int place_side_ = 0;
  int wanted_ = -1;  ///< page to be made when the choices are there
  ProfileComparisonPtr profile_;
  GraphComparisonPtr graph_;
  CompileComparisonPtr compile_;
  RankComparisonPtr ranks_;
};

}  // namespace strata::studio
