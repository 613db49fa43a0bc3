// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What one pane of the window shows: a stage, and what stands in it for the selection.

#include <QObject>
#include <QString>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/studio/models/context.h"
#include "app/studio/models/lineage.h"

namespace strata::studio {

/// The main pane shows what the context shows. A pinned one shows a stage of its own, of any compile of any trace, and
/// is linked with the context by the selection only. The context outlives its panes.
class Pane : public QObject {
  Q_OBJECT
 public:
  enum class Kind : int { Main = 0, Pinned };
  /// Nodes that stand for each other; a node may be in several pairs.
  using Pairs = std::vector<std::pair<trace::NodeId, trace::NodeId>>;
  using States = std::unordered_map<trace::NodeId, draw::NodeState>;

  explicit Pane(Context& context, Kind kind = Kind::Main, QObject* parent = nullptr);
  ~Pane() override;

  bool pinned() const { return kind_ == Kind::Pinned; }
  Context& context() { return context_; }

  // ------------------------------------------------------------------------------------------- what is shown
  /// Loads a stage off the UI thread; stepChanged comes when it is there. An unknown compile or snapshot, or a trace
  /// that cannot be read, becomes `error()`. Does nothing in the main pane.
  void show(std::shared_ptr<trace::Reader> reader, trace::Id compile, trace::Id snapshot);
  /// Another stage of the compile shown (in the main pane: of the context's).
  void show_stage(trace::Id snapshot);
  /// Another compile of the same trace, at the stage of the same name if it has that.
  void show_compile(trace::Id compile);
  /// The next or last stage (`by` 1 or -1), if there is one.
  void step(int by);
  /// The first (-1) or last (1) stage.
  void step_to_end(int by);

  std::shared_ptr<trace::Reader> reader() const;
  std::shared_ptr<const CompileData> compile() const;
  /// Of the trace shown.
  const std::vector<trace::CompileRecord>& compiles() const;
  StepPtr step_data() const;
  bool loading() const { return loading_; }
  /// Why the stage that was asked for is not shown; empty if nothing went wrong.
  const QString& error() const { return error_; }
  /// What was set, or else the compile and the stage.
  QString title() const;
  void set_title(const QString& title);

  /// How nodes are to be coloured in place of what the step changed; empty: as the step says. With what the two
  /// colours mean, for the legend.
  void set_states(States states, const QString& added = {}, const QString& changed = {});
  const QString& added_means() const { return added_means_; }
  const QString& changed_means() const { return changed_means_; }

  const draw::DrawOptions& options() const;
  /// Modules that were expanded or collapsed. A pinned pane has its own, and puts the change on the context's undo
  /// stack; all else is as the context says.
  void set_opened(const std::map<std::string, bool>& opened);

  // --------------------------------------------------------------------------------------------- the selection
  /// In terms of this pane: `node` is what stands nearest for the selected one, 0 if nothing does.
  const Selection& selection() const { return selection_; }
  /// Everything in this pane that stands for the selection, `selection().node` first; lines of text likewise.
  const Relatives& relatives() const { return relatives_; }
  /// How many there are and why, in words: `3 nodes made of %conv2d`; empty where the node itself is shown.
  QString relation_text() const;
  /// Nodes to be marked besides.
  const std::vector<trace::NodeId>& marked() const { return marked_; }
  /// Selects a node or kernel of this pane, and what stands for it everywhere else. 0: nothing.
  void select_node(trace::NodeId node);
  void select_kernel(trace::Id kernel);
  void clear_selection();

  /// Whether the selection is shared with the context (true at first).
  bool linked() const { return linked_; }
  void set_linked(bool linked);
  /// Which node of the context's present compile stands for which of this pane: needed for another compile or trace.
  /// Pairs of nodes of earlier stages serve for all that was made of them. Dropped when another stage of another
  /// compile is shown here; unused while the context shows another compile than now.
  void set_mapping(const Pairs& context_and_pane);
  /// Whether this pane shows the context's compile.
  bool same_compile() const;
  /// The node that stands in the pane for a node of the context's compile by the mapping (or is the same), 0 if none
  /// does. Without reading from the trace.
  trace::NodeId counterpart(trace::NodeId context_node) const;
  trace::NodeId context_counterpart(trace::NodeId pane_node) const;

 signals:
  /// The lists of stages and compiles.
  void compileChanged();
  void stepChanged();
  /// Loading began, ended or failed.
  void loadingChanged();
  void selectionChanged();
  void markedChanged();
  void optionsChanged();
  void titleChanged();
  /// Another trace was opened, which has no such stage.
  void lost();

 private:
  struct Mapping;
  struct Wanted {
    std::shared_ptr<trace::Reader> reader;
    trace::Id compile = trace::kNone, snapshot = trace::kNone;
    QString address, stage;  ///< by name where the ids are none
  };
  struct Loaded;
  void load(const Wanted& wanted);
  void loaded(const std::shared_ptr<Loaded>& result);
  void redraw_step();
  void apply_opened(const std::map<std::string, bool>& opened);
  void trace_opened();
  void options_changed();
  void follow();
  void follow_marked();
  void take_relatives(const Relatives& relatives, trace::Id kernel);
  void set_selection(const Selection& selection, const Relatives& relatives);
  void lead(trace::NodeId node, trace::Id kernel);
  std::vector<trace::NodeId> selected_nodes() const;
  std::shared_ptr<const Mapping> mapping() const;
  QString key(const char* what) const;

  Context& context_;
  const Kind kind_;
  const int number_;
  bool of_context_ = false;  ///< the trace is the context's
  Wanted wanted_;
  std::shared_ptr<trace::Reader> reader_;
  std::shared_ptr<const CompileData> compile_;
  std::vector<trace::CompileRecord> compiles_;
  StepPtr step_;
  bool loading_ = false;
  QString error_, title_;
  draw::DrawOptions options_;
  std::shared_ptr<const States> states_;
  QString added_means_, changed_means_;
  Selection selection_;
  Relatives relatives_;
  std::vector<trace::NodeId> marked_;
  std::shared_ptr<const Mapping> mapping_;
  bool linked_ = true;
  bool leading_ = false;  ///< the context is being told what was selected here
};

}  // namespace strata::studio
