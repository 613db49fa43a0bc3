// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The one object that says what is open and what is selected. Every view listens to it and asks it for changes; no
/// view knows another.

#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>
#include <optional>

#include "app/studio/models/job_queue.h"
#include "app/studio/models/overview.h"
#include "app/studio/models/step.h"
#include "app/studio/models/step_ahead.h"
#include "app/studio/models/undo.h"

namespace strata::studio {

/// What to show first; texts as on the command line.
struct OpenRequest {
  QString path;
  QString graph, stage, node;
};

class Context : public QObject {
  Q_OBJECT
 public:
  explicit Context(QObject* parent = nullptr);
  ~Context() override;

  /// Opens a trace in place of the present one. Errors come as `message`.
  void open(const OpenRequest& request);
  void select_compile(trace::Id compile);
  /// A kernel of any compile: that compile is shown first.
  void select_kernel_of(trace::Id compile, trace::Id kernel);
  /// A node of any compile, likewise.
  void select_node_of(trace::Id compile, trace::NodeId node);
  /// Anything of a compile, likewise.
  void select_in(trace::Id compile, const Selection& selection);
  /// A line, in this compile; none: in the one shown.
  void select_line_of(trace::Id compile, const QString& file, int line);
  void select_snapshot(trace::Id snapshot);
  /// The graph after rewrite `index` (from 0) of the pass that made the stage; too large an index: the stage.
  void show_rewrite(trace::Id snapshot, size_t index);
  /// The next or last stage (`by` 1 or -1), if there is one. From a rewrite: the stage it leads to, the one before it.
  void step(int by);
  /// The next or last rewrite, over the borders of passes: after the last rewrite of a pass comes its stage.
  void step_rewrite(int by);
  /// The first (-1) or last (1) stage.
  void step_to_end(int by);
  /// Stages without effect are left out when stepping.
  void set_hide_unchanged(bool hide);
  bool hides_unchanged() const { return hide_unchanged_; }
  /// The stages that stepping visits, in order; the one that is shown or on its way is always among them.
  std::vector<const trace::SnapshotRecord*> stages_to_visit() const;
  /// What is shown or on its way: its snapshot, and the rewrite if it is one.
  trace::Id wanted_snapshot() const { return wanted_snapshot_; }
  std::optional<size_t> wanted_rewrite() const { return wanted_rewrite_; }
  /// Back (-1) or forward (1) through what was shown and selected; nothing at the ends.
  void go(int by);
  bool can_go(int by) const;
  void select(const Selection& selection);
  void select_node(trace::NodeId node);
  void select_kernel(trace::Id kernel);
  /// A launch, buffer or guard of the compile shown, with what anchors it; an unknown one is ignored.
  void select_launch(trace::Id launch);
  void select_buffer(trace::Id buffer);
  void select_guard(trace::Id guard);
  /// An event of any run. `compile` and `kernel` as the event says; none: the event alone.
  void select_event(trace::Id event, trace::Id compile, trace::Id kernel);
  /// The line, and the first node that comes from it, in the present stage if possible; all of them are marked.
  void select_line(const QString& file, int line);
  /// Nodes to be marked besides the selection (search results).
  void set_marked(std::vector<trace::NodeId> nodes);
  void set_options(const draw::DrawOptions& options);

  QString path() const { return path_; }
  std::shared_ptr<trace::Reader> reader() const { return reader_; }
  const std::vector<trace::CompileRecord>& compiles() const { return compiles_; }
  /// What the whole trace says; null until it was read.
  TraceDataPtr trace_data() const { return trace_data_; }
  std::shared_ptr<const CompileData> compile() const { return compile_; }
  StepPtr step_data() const { return step_; }
  DetailsPtr details() const { return details_; }
  const Selection& selection() const { return selection_; }
  const std::vector<trace::NodeId>& marked() const { return marked_; }
  const draw::DrawOptions& options() const { return options_; }
  JobQueue& queue() { return queue_; }
  /// Whether the stages beside the one shown are ready, or will not be made.
  bool looked_ahead() const { return ahead_.idle(); }
  /// Changes of the layout that can be taken back; see undo.h.
  QUndoStack& undo() { return undo_; }
  /// Whether the trace is still being written and is looked at again and again.
  bool following() const { return follow_.isActive(); }
  /// Exit code of the first error since `open`, 0 if there was none.
  int exit_code() const { return exit_code_; }
  QString first_error() const { return first_error_; }
  /// Something that was asked for from outside cannot be done: as `message`, and as first error.
  void report(const QString& text, int exit_code) { fail(text, exit_code); }

 signals:
  void traceOpened();
  void compileChanged();
  /// A trace that is being written has more compiles than before, or is complete now.
  void traceGrown();
  /// The whole trace was read (after traceOpened, or again when it grew).
  void traceDataChanged();
  void stepChanged();
  void selectionChanged();
  void markedChanged();
  void detailsChanged();
  void optionsChanged();
  void placesChanged();
  /// Another stage or rewrite was asked for (stepChanged comes when it is there).
  void wantedChanged();
  /// Stages without effect are hidden now, or shown again.
  void hidingChanged();
  /// A link to a line of source was followed.
  void sourceRequested(const QString& file, int line);
  /// Something went wrong; to be shown.
  void message(const QString& text);
  /// Everything asked for has been shown or has failed.
  void settled();

 private:
  struct Opened;
  void opened(const std::shared_ptr<Opened>& result);
  void load_compile_data(const trace::CompileRecord& compile, const QString& stage, const QString& node);
  void show_step(const trace::SnapshotRecord& snapshot, const QString& node, std::optional<size_t> rewrite = {});
  void step_ready(const StepPtr& step, const QString& node);
  /// What is shown and selected, to come back to.
  struct Place {
    trace::Id compile = trace::kNone, snapshot = trace::kNone;
    std::optional<size_t> rewrite;
    Selection selection;
    bool operator==(const Place&) const = default;
  };
  void remember();
  void restore(const Place& place);
  void select_here(const Selection& selection);
  void load_selection();
  void mark_line_nodes();
  void load_overview();
  struct Grown;
  void look_again();
  void grown(const std::shared_ptr<Grown>& result);
  trace::NodeId find_node(const QString& text);
  void fail(const QString& text, int exit_code);
  const trace::SnapshotRecord* first_snapshot(const QString& stage);

  JobQueue queue_;
  StepAhead ahead_;
  QUndoStack undo_;
  QTimer follow_;
  QString path_;
  std::shared_ptr<trace::Reader> reader_;
  std::vector<trace::CompileRecord> compiles_;
  TraceDataPtr trace_data_;
  Selection wanted_;  ///< to be selected when the compile on its way is there
  std::vector<Place> places_;
  size_t place_ = 0;    ///< index of the present one
  bool going_ = false;  ///< a remembered place is being restored
  std::optional<Place> wanted_place_;
  std::shared_ptr<const CompileData> compile_;
  StepPtr step_;
  DetailsPtr details_;
  Selection selection_;
  trace::Id wanted_snapshot_ = trace::kNone;
  std::optional<size_t> wanted_rewrite_;
  bool hide_unchanged_ = false;
  std::vector<trace::NodeId> marked_;
  bool marks_are_of_line_ = false;  ///< not of a search: they go when something else is selected
  draw::DrawOptions options_;
  int exit_code_ = 0;
  QString first_error_;
};

}  // namespace strata::studio
