// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads a trace file: closed, left by a killed process, or being written now.
///
/// Nothing is loaded before it is asked for. Every method may be called from any thread. The first few threads have a
/// connection to the file each, so that a long read of one does not keep another waiting; further threads, and all of
/// them where the file had to be copied to be read, take turns. A long read can be ended: see interrupt.h.
/// Lists are in order of id unless said otherwise. A missing, foreign, truncated, corrupt or newer file is a User
/// error, thrown by the constructor or, where damage lies deeper, by the method that meets it. An id that is not in the
/// file gives an empty list or nullopt, except where a method says that it throws.
/// An older schema version is migrated in a private copy; the file itself is never changed.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/trace/records.h"

namespace strata::trace {

/// What differs between two snapshots, by node id.
struct SnapshotDiff {
  struct Change {
    NodeRecord before, after;
  };
  std::vector<NodeRecord> added;    ///< in the order of the second snapshot
  std::vector<NodeRecord> removed;  ///< in the order of the first
  std::vector<Change> changed;      ///< in the order of the second
  bool reordered = false;           ///< the nodes in both stand in another order
};

/// One step of a walk along origin edges.
struct OriginStep {
  NodeRecord node;                                   ///< as it was when last seen
  int depth = 0;                                     ///< edges from the start; 0 is the start itself
  NodeId via = 0;                                    ///< the node of depth-1 it was reached from
  OriginRecord edge;                                 ///< the edge that was followed; empty for depth 0
  Id first_snapshot = kNone, last_snapshot = kNone;  ///< where it lives
};

/// Everything a node became.
struct Results {
  std::vector<OriginStep> descendants;  ///< the node itself first, breadth first
  std::vector<KernelRecord> kernels;
  std::vector<LaunchRecord> launches;
  std::vector<EventRecord> events;
  std::vector<RemovalRecord> removals;  ///< of the node and its descendants
};

/// Where the node came from.
struct Origins {
  std::vector<OriginStep> ancestors;      ///< the node itself first, breadth first
  std::vector<SourceLocation> locations;  ///< innermost location of each ancestor that has a stack, each once
};

/// Where in the node's life one of its versions begins.
struct NodeVersion {
  Id snapshot = kNone;
  NodeRecord node;
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const std::filesystem::path& path() const;
  /// The schema version the file was written with.
  int version() const;
  /// Whether something was committed since the last call (or since opening). Cheap enough to poll.
  bool changed();
  /// Whether the producer is still writing, or died while it did (no clean close).
  bool unfinished();

  std::vector<PropertyRecord> properties();
  std::optional<std::string> property(std::string_view key);
  std::vector<ProcessRecord> processes();
  std::vector<FrameRecord> frames();

  std::vector<CompileRecord> compiles();
  std::optional<CompileRecord> compile(Id compile);
  /// The compile with this address; an unknown one is a User error that names the nearest, `` gives the first.
  CompileRecord find_compile(std::string_view address);
  /// Passes in order of `ordinal`.
  std::vector<PassRecord> passes(Id compile);
  std::optional<PassRecord> pass(Id pass);
  /// Snapshots in order of `ordinal`.
  std::vector<SnapshotRecord> snapshots(Id compile);
  std::optional<SnapshotRecord> snapshot(Id snapshot);
  /// The snapshot of this stage; an unknown one is a User error that names the nearest.
  /// A stage that is not there itself stands for the last of its steps (`simplified` for `simplified:cse`), then of its
  /// programs (`scheduled:forward`).
  SnapshotRecord find_snapshot(Id compile, std::string_view stage);

  /// All nodes of a snapshot in program order. Throws User when there is no such snapshot.
  std::vector<NodeRecord> nodes(Id snapshot);
  /// One node as it is in a snapshot.
  std::optional<NodeRecord> node(Id snapshot, NodeId node);
  /// The last version of a node in its compile.
  std::optional<NodeRecord> last_node(Id compile, NodeId node);
  /// Every version of a node, first to last, with the snapshot in which it first appeared.
  std::vector<NodeVersion> history(Id compile, NodeId node);
  /// Differences from `before` to `after`, two snapshots of one compile (User error otherwise).
  SnapshotDiff diff(Id before, Id after);

  std::vector<SourceLocation> stack(Id stack);
  std::vector<SourceFileRecord> source_files();  ///< without text and lines
  /// The file with its text or its lines.
  std::optional<SourceFileRecord> source_file(std::string_view path);
  /// Nodes of a compile (any snapshot) whose stack has this line.
  std::vector<NodeId> nodes_at(Id compile, std::string_view file, std::int64_t line);

  /// Edges out of a node to what it was made from, and into it from what was made of it.
  std::vector<OriginRecord> edges_up(Id compile, NodeId node);
  std::vector<OriginRecord> edges_down(Id compile, NodeId node);
  /// All edges of a compile.
  std::vector<OriginRecord> edges(Id compile);
  Origins origins(Id compile, NodeId node);
  /// `max_events` bounds the events that are returned (launches repeat in every run).
  Results results(Id compile, NodeId node, std::size_t max_events = 10000);
  std::optional<RemovalRecord> removal(Id compile, NodeId node);
  std::vector<RemovalRecord> removals(Id compile);
  std::vector<RewriteRecord> rewrites(Id compile);
  std::vector<RewriteRecord> rewrites_of_pass(Id pass);
  std::vector<RewriteRecord> rewrites_of_node(Id compile, NodeId node);

  std::vector<GuardRecord> guards(Id compile);
  std::vector<GraphBreakRecord> graph_breaks();
  std::vector<SymbolRecord> symbols(Id compile);
  std::vector<AssumptionRecord> assumptions(Id compile);

  std::vector<KernelRecord> kernels(Id compile);
  std::optional<KernelRecord> kernel(Id kernel);
  std::vector<KernelRecord> kernels_of_node(Id compile, NodeId node);
  std::vector<FusionRecord> fusions(Id compile);
  /// Decisions in which the node is producer or consumer.
  std::vector<FusionRecord> fusions_of_node(Id compile, NodeId node);
  std::vector<BufferRecord> buffers(Id compile);
  /// In order of `ordinal`.
  std::vector<LaunchRecord> launches(Id compile);

  std::vector<InputRecord> inputs();
  std::vector<ProgramRecord> programs(Id compile);
  /// Of all compiles.
  std::vector<RecompileRecord> recompiles();
  std::vector<DiagnosticRecord> diagnostics();
  std::vector<TrackRecord> tracks();
  std::vector<FlowRecord> flows();

  std::vector<RunRecord> runs();
  /// In order of start. `limit` 0: all.
  std::vector<EventRecord> events(Id run, std::size_t limit = 0);
  /// Executions of the kernel: what ran on a device if anything did (the calls that launched it are not executions of
  /// it), else what the host timed. In order of start.
  std::vector<EventRecord> executions_of_kernel(Id kernel, std::size_t limit = 0);
  std::vector<EventRecord> events_of_kernel(Id kernel, std::size_t limit = 0);
  std::optional<EventRecord> event(Id event);
  /// Every event, in order of id, as it is read: for traces whose events do not fit into memory. `visit` returns false
  /// to stop.
  void each_event(const std::function<bool(const EventRecord&)>& visit);
  std::int64_t event_count();
  /// The complete events of a run (phase `X`) in order of id, numbers only. `categories` (ids of texts) selects; empty:
  /// all. `visit` must not use the reader.
  void each_event_key(Id run, const std::vector<Id>& categories, const std::function<void(const EventKey&)>& visit);
  std::int64_t event_count(Id run, const std::vector<Id>& categories);  ///< of those
  /// The text with this id; an unknown one is a User error (the file is corrupt).
  std::string text(Id id);
  /// The categories that events of the run have, with the ids of their texts.
  std::vector<std::pair<Id, std::string>> event_categories(Id run);
  /// Complete events of a run in these categories (all when empty), summed; in no particular order.
  std::vector<EventSum> event_sums(Id run, const std::vector<Id>& categories = {});

  std::vector<MetricRecord> metrics();
  std::vector<MetricRecord> metrics(const Owner& owner);

  std::vector<ArtifactRecord> artifacts();  ///< without content and lines
  std::vector<ArtifactRecord> artifacts(const Owner& owner);
  std::vector<ArtifactRecord> artifacts_of_compile(Id compile);
  /// With content and line map.
  std::optional<ArtifactRecord> artifact(Id artifact);
  std::vector<RawRecord> raw_records();  ///< without content
  std::optional<RawRecord> raw_record(Id raw);

 private:
  struct Impl;
  /// Stands for the connection of the calling thread.
  class Connections {
   public:
    explicit Connections(const std::filesystem::path& path);
    ~Connections();
    std::shared_ptr<Impl> operator->() const;
    /// The one that was opened first and that follows the file.
    Impl& first() const;
    /// The first one was opened again: the others do likewise, when they are used next.
    void renew();

   private:
    struct State;
    std::unique_ptr<State> state_;
  };
  Connections impl_;
};

}  // namespace strata::trace
