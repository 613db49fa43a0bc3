// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writes a trace file.
///
/// What was added before a `commit()` that returned survives the death of the process at any moment. Rows between
/// commits are batched; the writer commits by itself after `WriterOptions::batch_rows` rows or `batch_ms`
/// milliseconds (looked at when something is added: a silent writer does not commit).
///
/// Every method may be called from any thread. Failures throw `Error`: User when the path cannot be written, Runtime
/// when the disk is full or the database fails, Internal when the writer is used after close() or with a bad id.
/// `id` of a record that is added is ignored; the id it got is returned.

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "core/trace/records.h"

namespace strata::trace {

struct WriterOptions {
  int batch_rows = 20000;
  int batch_ms = 500;
  /// Snapshots between two full keyframes.
  int keyframe_interval = 16;
  /// zstd level for artifacts.
  int compression = 3;
};

/// The content of an artifact, compressed ahead of writing: any thread may do that.
struct PackedContent {
  std::int64_t size = 0;  ///< of the content
  std::string frame;
};
/// Throws Runtime when the content is larger than an artifact may be (256 MiB).
PackedContent pack_content(std::string_view content, int level = 3);

class Writer {
 public:
  /// Creates `path`. An older trace (or an empty file) of that name is replaced; any other file is refused.
  explicit Writer(const std::filesystem::path& path, const WriterOptions& options = {});
  /// Closes if that was not done; errors are swallowed.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Sets a producer or environment property; the last value of a key counts.
  void set_property(std::string_view key, std::string_view value);

  Id add(const ProcessRecord& record);
  Id add(const SourceFileRecord& record);
  Id add(const FrameRecord& record);
  Id add(const CompileRecord& record);
  Id add(const PassRecord& record);
  Id add(const RewriteRecord& record);
  Id add(const GuardRecord& record);
  Id add(const GraphBreakRecord& record);
  Id add(const SymbolRecord& record);
  Id add(const AssumptionRecord& record);
  Id add(const KernelRecord& record);
  Id add(const FusionRecord& record);
  Id add(const BufferRecord& record);
  Id add(const LaunchRecord& record);
  Id add(const RunRecord& record);
  Id add(const EventRecord& record);
  Id add(const MetricRecord& record);
  Id add(const ArtifactRecord& record);
  /// `record.content` is not looked at.
  Id add(const ArtifactRecord& record, const PackedContent& content);
  Id add(const RawRecord& record);
  Id add(const InputRecord& record);
  Id add(const ProgramRecord& record);
  Id add(const RecompileRecord& record);
  Id add(const DiagnosticRecord& record);
  Id add(const TrackRecord& record);
  Id add(const FlowRecord& record);
  /// Edges and removals have no id. An edge that is there already is kept; a removal is replaced.
  void add(const OriginRecord& record);
  void add(const RemovalRecord& record);
  /// The same as one by one, under one lock. Ids are consecutive; the first is returned (kNone when empty).
  Id add(std::span<const EventRecord> records);
  void add(std::span<const OriginRecord> records);

  /// Replaces the record of that id (outcome of a compile, end of a pass, guard counts, run duration).
  void update(const ProcessRecord& record);
  void update(const CompileRecord& record);
  void update(const PassRecord& record);
  void update(const GuardRecord& record);
  void update(const RunRecord& record);
  void update(const GraphBreakRecord& record);
  void update(const InputRecord& record);
  void update(const ProgramRecord& record);
  void update(const TrackRecord& record);

  /// Says of which compile, program, kernel and launch events are. Events must have been added.
  void assign(std::span<const EventMatch> matches);

  /// Moves all events of a run by `ns` and sets their clock: for inputs that say last what their times count from.
  void shift_events(Id run, std::int64_t ns, std::string_view clock);

  /// Interns a source location stack, outermost call first. An empty stack is kNone.
  Id stack(std::span<const SourceLocation> locations);

  /// Adds a graph snapshot: all its nodes in program order. A stage name that is taken gets `#2`, `#3`, ... Only what
  /// differs from earlier snapshots of the compile is stored. Node ids must be positive and distinct. A SnapshotRecord
  /// of kind Text takes no nodes.
  Id add(const SnapshotRecord& record, std::span<const NodeRecord> nodes = {});

  /// The same, cheaper for the caller: `order` lists all node ids in program order, `nodes` only those that are new or
  /// may have changed; every other id must have been in an earlier snapshot of the compile and is as it was last.
  Id add_delta(const SnapshotRecord& record, std::span<const NodeRecord> nodes, std::span<const NodeId> order);

  /// Makes everything added so far durable.
  void commit();

  /// Commits and leaves one file without side files that opens from a read-only folder. The writer is unusable after.
  void close();

  /// Removes the file and its side files: for a compile or export that failed. The writer is unusable after.
  void discard();

  const std::filesystem::path& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::trace
