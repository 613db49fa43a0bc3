// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything the window shows of one stage, and of one selected node, read in one go off the UI thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "app/draw/layout.h"
#include "app/draw/picture.h"
#include "app/studio/models/compile_index.h"
#include "core/trace/reader.h"

namespace strata::studio {

class PassDrawing;

/// A compile with its lists.
struct CompileData {
  trace::CompileRecord compile;
  std::vector<trace::PassRecord> passes;
  std::vector<trace::SnapshotRecord> snapshots;
  std::vector<trace::KernelRecord> kernels;
  std::vector<trace::LaunchRecord> launches;
  std::vector<trace::BufferRecord> buffers;
  std::vector<trace::GuardRecord> guards;
  std::vector<trace::SymbolRecord> symbols;
  std::vector<trace::AssumptionRecord> assumptions;
  double guard_latency_ns = -1;                            ///< one evaluation of all guards; -1 unknown
  std::map<trace::Id, trace::SourceLocation> guard_lines;  ///< the user's line of each stack of the records above
  std::map<trace::Id, double> times;                       ///< median of each kernel, nanoseconds
  struct Spread {
    size_t calls = 0;
    double total = 0, least = 0, most = 0;
  };
  std::map<trace::Id, Spread> spreads;
  /// What the rewrites of a pass are, by pass; those without any are not there.
  struct PassRewrites {
    size_t count = 0;
    std::vector<std::pair<std::string, size_t>> rules;  ///< how often each was used, in order of first use
  };
  std::map<trace::Id, PassRewrites> rewrites;
  std::shared_ptr<CompileIndex> index;  ///< never null in what load_compile made

  const trace::SnapshotRecord* find(trace::Id snapshot) const;
  const trace::SnapshotRecord* find(std::string_view stage) const;
  const trace::KernelRecord* kernel(trace::Id kernel) const;
  const trace::PassRecord* pass(trace::Id pass) const;
  /// Of the pass that made the stage; 0 if there are none.
  size_t rewrite_count(const trace::SnapshotRecord& snapshot) const;
  /// Whether something differs from the stage before: a node, a rewrite, an error of the pass. Stages of text and the
  /// first one have effect.
  bool has_effect(const trace::SnapshotRecord& snapshot) const;
};
/// The last stage with nodes before this one, null if there is none.
const trace::SnapshotRecord* graph_before(const CompileData& compile, const trace::SnapshotRecord& snapshot);
std::shared_ptr<const CompileData> load_compile(trace::Reader& reader, const trace::CompileRecord& compile);

/// Lines from 1, inclusive.
using LineRanges = std::vector<std::pair<int, int>>;

/// Text of a generated artifact with the lines that belong to the selection.
struct CodeUnit {
  ArtifactPtr artifact;  ///< never null
  std::string kernel;    ///< name, empty if it belongs to none
  LineRanges lines;      ///< highlighted
};

struct StepData {
  trace::SnapshotRecord snapshot;
  std::string before;  ///< stage it is compared with; empty for the first
  std::vector<trace::NodeRecord> nodes;
  std::unordered_map<trace::NodeId, size_t> index;
  trace::SnapshotDiff diff;
  std::vector<trace::RewriteRecord> rewrites;            ///< of the pass that made it
  std::vector<trace::RemovalRecord> removals;            ///< of nodes in diff.removed
  std::unordered_map<trace::NodeId, std::string> names;  ///< of every node before or after
  /// Set: not the whole pass is shown but this one of `rewrites`. `nodes` then is the graph after it, `diff` what it
  /// did.
  std::optional<size_t> rewrite;
  std::shared_ptr<const PassDrawing> pass;  ///< the steps of the pass, if one of them is shown
  draw::Picture picture;
  draw::Layout layout;
  std::vector<CodeUnit> texts;  ///< content of a stage without nodes

  const trace::NodeRecord* find(trace::NodeId node) const;
  std::string name(trace::NodeId node) const;  ///< `%relu_1`, `#17` if unknown
};
using StepPtr = std::shared_ptr<const StepData>;
/// Nodes that `previous` showed too keep their place from left to right. `stop` is asked during the layout: when it
/// says true, draw::Stopped is thrown.
StepPtr load_step(trace::Reader& reader, const CompileData& compile, const trace::SnapshotRecord& snapshot,
                  const draw::DrawOptions& options, const StepPtr& previous = nullptr,
                  const std::function<bool()>& stop = {});

/// The graph after one rewrite (from 0) of the pass that made the stage. A number that is too large, or a stage without
/// nodes, gives the stage itself.
StepPtr load_rewrite_step(trace::Reader& reader, const CompileData& compile, const trace::SnapshotRecord& snapshot,
                          size_t rewrite, const draw::DrawOptions& options, const StepPtr& previous = nullptr,
                          const std::function<bool()>& stop = {});

/// The same step drawn with other options: only the picture and the layout are made anew.
StepPtr redraw(const StepData& step, const CompileData& compile, const draw::DrawOptions& options,
               const std::function<bool()>& stop = {});

/// What is selected. The most exact thing that was chosen is set, and what anchors it in the graph if there is one:
/// a launch or an event comes with its kernel, a buffer with its node; a guard and a line may stand alone. Views that
/// do not know the exact thing follow the anchor.
enum class SelectionKind { Nothing, Node, Kernel, Launch, Buffer, Guard, Event, Line };

struct Selection {
  trace::NodeId node = 0;
  trace::Id kernel = trace::kNone;
  trace::Id launch = trace::kNone;
  trace::Id buffer = trace::kNone;
  trace::Id guard = trace::kNone;  ///< of the compile shown
  trace::Id event = trace::kNone;
  std::string file;  ///< with `line`: a line of Python source
  int line = 0;
  bool operator==(const Selection&) const = default;
  bool empty() const { return *this == Selection(); }
  SelectionKind kind() const;  ///< the most exact thing that is set
  /// Whether it stands for nodes of the graph.
  bool in_graph() const { return node != 0 || kernel != trace::kNone; }
};

struct SourceUnit {
  trace::SourceFileRecord file;
  std::vector<std::pair<int, int>> lines;    ///< where the selection comes from
  std::vector<std::pair<int, int>> callers;  ///< outer frames
};

/// Everything the trace knows around a selection. Lists are bounded (kMostKernels, ...), so that a line with thousands
/// of nodes is loaded as fast as any other.
struct Details {
  Selection selection;
  trace::NodeRecord node;  ///< as in the snapshot, or as last seen; id 0: the selection stands for none or several
  bool in_snapshot = false;
  std::vector<std::pair<std::string, std::vector<trace::NodeId>>> operands;
  std::vector<trace::NodeId> users;
  std::vector<trace::SourceLocation> stack;
  std::string maker;
  trace::Origins origins;
  trace::Results results;
  std::vector<trace::RewriteRecord> rewrites;
  std::vector<trace::FusionRecord> fusions;
  std::vector<trace::NodeVersion> history;
  std::vector<trace::KernelRecord> kernels;  ///< that compute it; the selected one, or that of a launch or event, alone
  std::vector<trace::LaunchRecord> launches;     ///< of those kernels; the selected one alone; those that use a buffer
  std::vector<trace::BufferRecord> buffers;      ///< that hold their values or are read and written by the launches
  std::vector<trace::GuardRecord> guards;        ///< that come from the same lines; the selected one first
  std::vector<trace::RecompileRecord> failures;  ///< compiles that are there because one of those guards failed
  trace::EventRecord event;                      ///< the selected one, if `selection.event` is set
  trace::TrackRecord track;                      ///< where it ran; id 0 unknown
  std::vector<trace::NodeId> line_nodes;         ///< all nodes of the line of a guard or line, in any stage
  std::vector<std::pair<trace::Id, std::int64_t>>
      elsewhere;             ///< nodes of that line in other compiles, if here are none
  trace::FrameRecord frame;  ///< of the compile; id 0 unknown
  std::vector<CodeUnit> code;
  std::unordered_set<trace::NodeId> related;  ///< the selection and all that became of it: whose lines are highlighted
  std::vector<SourceUnit> sources;
  std::unordered_map<trace::NodeId, std::string> names;
  std::string name(trace::NodeId node) const;
  /// The selected ones; null where nothing of the kind is selected or known.
  const trace::LaunchRecord* launch() const;
  const trace::BufferRecord* buffer() const;
  const trace::GuardRecord* guard() const;
};
/// `code` of `code:forward`: imported compiles have one stage of a kind per program.
std::string stage_kind(const std::string& stage);

/// Lines of the artifact that came from any of these nodes.
LineRanges lines_of(const trace::ArtifactRecord& artifact, const std::unordered_set<trace::NodeId>& nodes);
using DetailsPtr = std::shared_ptr<const Details>;
/// Of any selection. What it names but the trace does not know is left out.
DetailsPtr load_details(trace::Reader& reader, const CompileData& compile, const StepPtr& step,
                        const Selection& selection);

}  // namespace strata::studio
