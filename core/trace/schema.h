// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The tables. Each record type has one `Table<R>`: its name, its columns with where they live in the record, and its
/// indexes. The statements that create, write and read it all come from there; a new column is one line here, one
/// migration step, and one line in docs/trace.md.

#include <array>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/trace/records.h"

namespace strata::trace {

inline constexpr std::int64_t kApplicationId = 0x53545241;  // 'STRA'
inline constexpr int kSchemaVersion = 2;

enum class Store {
  Plain,     ///< as it is: INTEGER, REAL or TEXT; optionals may be NULL; lists of ids are JSON text
  Interned,  ///< text that repeats: the id of a row of table `string`
  Packed     ///< zstd frame; left out of lists
};

/// `get(record)` is a reference to the field.
template <class Get>
struct Column {
  const char* name;
  Get get;
  Store store;
};

template <class Get>
constexpr Column<Get> column(const char* name, Get get, Store store = Store::Plain) {
  return {name, get, store};
}

template <class R>
struct Table;

/// A version of a node: `snapshot` is the first that shows it.
struct NodeRow : NodeRecord {
  Id version = kNone;
  Id compile = kNone;
  Id snapshot = kNone;
};

/// A snapshot with how its order is stored.
struct SnapshotRow : SnapshotRecord {
  Id base = kNone;  ///< the snapshot that `nodes` is a delta of; none: keyframe
  std::string order;
};

/// A source location as stored; `id` is what table `stack_frame` refers to.
struct LocationRow : SourceLocation {
  Id id = kNone;
};

#define STRATA_FIELD(path) ([](auto& r) -> auto& { return r.path; })

template <>
struct Table<ProcessRecord> {
  static constexpr const char* name = "process";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)), column("pid", STRATA_FIELD(pid)),
                      column("rank", STRATA_FIELD(rank)), column("command", STRATA_FIELD(command)),
                      column("start_ns", STRATA_FIELD(start_ns))};
  }
  static constexpr std::array<const char*, 0> indexes{};
};

template <>
struct Table<SourceFileRecord> {
  static constexpr const char* name = "source_file";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)), column("path", STRATA_FIELD(path)),
                      column("excerpt", STRATA_FIELD(excerpt)), column("text", STRATA_FIELD(text), Store::Packed),
                      column("lines", STRATA_FIELD(lines), Store::Packed)};
  }
  static constexpr std::array indexes{"(path)"};
};

template <>
struct Table<LocationRow> {
  static constexpr const char* name = "location";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)), column("file", STRATA_FIELD(file), Store::Interned),
                      column("line", STRATA_FIELD(line)), column("function", STRATA_FIELD(function), Store::Interned),
                      column("text", STRATA_FIELD(text))};
  }
  static constexpr std::array indexes{"(line)"};
};

template <>
struct Table<FrameRecord> {
  static constexpr const char* name = "frame";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("process", STRATA_FIELD(process)),
                      column("number", STRATA_FIELD(number)),
                      column("name", STRATA_FIELD(name)),
                      column("file", STRATA_FIELD(file), Store::Interned),
                      column("line", STRATA_FIELD(line))};
  }
  static constexpr std::array<const char*, 0> indexes{};
};

template <>
struct Table<CompileRecord> {
  static constexpr const char* name = "compile";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("process", STRATA_FIELD(process)),
                      column("frame", STRATA_FIELD(frame)),
                      column("frame_number", STRATA_FIELD(frame_number)),
                      column("compile_number", STRATA_FIELD(compile_number)),
                      column("attempt", STRATA_FIELD(attempt)),
                      column("address", STRATA_FIELD(address)),
                      column("prefix", STRATA_FIELD(prefix)),
                      column("name", STRATA_FIELD(name)),
                      column("outcome", STRATA_FIELD(outcome)),
                      column("cause", STRATA_FIELD(cause)),
                      column("error", STRATA_FIELD(error)),
                      column("start_ns", STRATA_FIELD(start_ns)),
                      column("duration_ns", STRATA_FIELD(duration_ns))};
  }
  static constexpr std::array<const char*, 0> indexes{};
};

template <>
struct Table<PassRecord> {
  static constexpr const char* name = "pass";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("compile", STRATA_FIELD(compile)),
                      column("name", STRATA_FIELD(name)),
                      column("ordinal", STRATA_FIELD(ordinal)),
                      column("start_ns", STRATA_FIELD(start_ns)),
                      column("duration_ns", STRATA_FIELD(duration_ns)),
                      column("changed", STRATA_FIELD(changed)),
                      column("nodes_before", STRATA_FIELD(nodes_before)),
                      column("nodes_after", STRATA_FIELD(nodes_after)),
                      column("verified", STRATA_FIELD(verified)),
                      column("error", STRATA_FIELD(error))};
  }
  static constexpr std::array indexes{"(compile, ordinal)"};
};

template <>
struct Table<SnapshotRow> {
  static constexpr const char* name = "snapshot";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("compile", STRATA_FIELD(compile)),
                      column("stage", STRATA_FIELD(stage)),
                      column("ordinal", STRATA_FIELD(ordinal)),
                      column("pass", STRATA_FIELD(pass)),
                      column("kind", STRATA_FIELD(kind)),
                      column("node_count", STRATA_FIELD(node_count)),
                      column("added", STRATA_FIELD(added)),
                      column("removed", STRATA_FIELD(removed)),
                      column("changed", STRATA_FIELD(changed)),
                      column("base", STRATA_FIELD(base)),
                      column("node_order", STRATA_FIELD(order), Store::Packed),
                      column("program", STRATA_FIELD(program)),
                      column("extra", STRATA_FIELD(extra))};
  }
  static constexpr std::array indexes{"(compile, ordinal)"};
};

template <>
struct Table<NodeRow> {
  static constexpr const char* name = "node";
  static constexpr auto columns() {
    return std::tuple{column("version", STRATA_FIELD(version)),
                      column("compile", STRATA_FIELD(compile)),
                      column("node", STRATA_FIELD(id)),
                      column("snapshot", STRATA_FIELD(snapshot)),
                      column("name", STRATA_FIELD(name)),
                      column("op", STRATA_FIELD(op), Store::Interned),
                      column("target", STRATA_FIELD(target), Store::Interned),
                      column("args", STRATA_FIELD(args)),
                      column("inputs", STRATA_FIELD(inputs)),
                      column("type", STRATA_FIELD(type), Store::Interned),
                      column("dtype", STRATA_FIELD(dtype), Store::Interned),
                      column("shape", STRATA_FIELD(shape), Store::Interned),
                      column("device", STRATA_FIELD(device), Store::Interned),
                      column("module", STRATA_FIELD(module), Store::Interned),
                      column("stack", STRATA_FIELD(stack)),
                      column("maker", STRATA_FIELD(maker)),
                      column("role", STRATA_FIELD(role), Store::Interned),
                      column("group_number", STRATA_FIELD(group)),
                      column("extra", STRATA_FIELD(extra))};
  }
  static constexpr std::array indexes{"(compile, node)", "(stack)"};
};

template <>
struct Table<OriginRecord> {
  static constexpr const char* name = "origin";
  static constexpr auto columns() {
    return std::tuple{column("compile", STRATA_FIELD(compile)),
                      column("node", STRATA_FIELD(node)),
                      column("from_node", STRATA_FIELD(from)),
                      column("kind", STRATA_FIELD(kind), Store::Interned),
                      column("rule", STRATA_FIELD(rule), Store::Interned),
                      column("exact", STRATA_FIELD(exact))};
  }
  static constexpr std::array indexes{"(compile, from_node)"};
  static constexpr const char* key = "PRIMARY KEY (compile, node, from_node)";
};

template <>
struct Table<RemovalRecord> {
  static constexpr const char* name = "removal";
  static constexpr auto columns() {
    return std::tuple{column("compile", STRATA_FIELD(compile)), column("node", STRATA_FIELD(node)),
                      column("pass", STRATA_FIELD(pass)), column("rule", STRATA_FIELD(rule), Store::Interned),
                      column("reason", STRATA_FIELD(reason), Store::Interned)};
  }
  static constexpr std::array<const char*, 0> indexes{};
  static constexpr const char* key = "PRIMARY KEY (compile, node)";
};

template <>
struct Table<RewriteRecord> {
  static constexpr const char* name = "rewrite";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("compile", STRATA_FIELD(compile)),
                      column("pass", STRATA_FIELD(pass)),
                      column("rule", STRATA_FIELD(rule), Store::Interned),
                      column("before_nodes", STRATA_FIELD(before)),
                      column("after_nodes", STRATA_FIELD(after)),
                      column("reason", STRATA_FIELD(reason), Store::Interned)};
  }
  static constexpr std::array indexes{"(compile)", "(pass)"};
};

template <>
struct Table<GuardRecord> {
  static constexpr const char* name = "guard";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("compile", STRATA_FIELD(compile)),
                      column("kind", STRATA_FIELD(kind), Store::Interned),
                      column("expression", STRATA_FIELD(expression)),
                      column("source", STRATA_FIELD(source)),
                      column("hits", STRATA_FIELD(hits)),
                      column("failures", STRATA_FIELD(failures)),
                      column("cost_ns", STRATA_FIELD(cost_ns)),
                      column("stack", STRATA_FIELD(stack)),
                      column("path", STRATA_FIELD(path)),
                      column("detail", STRATA_FIELD(detail))};
  }
  static constexpr std::array indexes{"(compile)"};
};

template <>
struct Table<GraphBreakRecord> {
  static constexpr const char* name = "graph_break";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("process", STRATA_FIELD(process)),
                      column("frame", STRATA_FIELD(frame)),
                      column("compile", STRATA_FIELD(compile)),
                      column("reason", STRATA_FIELD(reason)),
                      column("explanation", STRATA_FIELD(explanation)),
                      column("hint", STRATA_FIELD(hint)),
                      column("stack", STRATA_FIELD(stack)),
                      column("kind", STRATA_FIELD(kind), Store::Interned),
                      column("link", STRATA_FIELD(link)),
                      column("cost_ns", STRATA_FIELD(cost_ns)),
                      column("detail", STRATA_FIELD(detail))};
  }
  static constexpr std::array<const char*, 0> indexes{};
};

template <>
struct Table<SymbolRecord> {
  static constexpr const char* name = "symbol";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),         column("compile", STRATA_FIELD(compile)),
                      column("name", STRATA_FIELD(name)),     column("hint", STRATA_FIELD(hint)),
                      column("min", STRATA_FIELD(min)),       column("max", STRATA_FIELD(max)),
                      column("origin", STRATA_FIELD(origin)), column("stack", STRATA_FIELD(stack))};
  }
  static constexpr std::array indexes{"(compile)"};
};

template <>
struct Table<AssumptionRecord> {
  static constexpr const char* name = "assumption";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("compile", STRATA_FIELD(compile)),
                      column("expression", STRATA_FIELD(expression)),
                      column("kind", STRATA_FIELD(kind), Store::Interned),
                      column("reason", STRATA_FIELD(reason)),
                      column("stack", STRATA_FIELD(stack))};
  }
  static constexpr std::array indexes{"(compile)"};
};

template <>
struct Table<KernelRecord> {
  static constexpr const char* name = "kernel";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("compile", STRATA_FIELD(compile)),
                      column("snapshot", STRATA_FIELD(snapshot)),
                      column("name", STRATA_FIELD(name)),
                      column("kind", STRATA_FIELD(kind)),
                      column("library", STRATA_FIELD(library), Store::Interned),
                      column("device", STRATA_FIELD(device), Store::Interned),
                      column("group_number", STRATA_FIELD(group)),
                      column("nodes", STRATA_FIELD(nodes)),
                      column("bytes", STRATA_FIELD(bytes.value)),
                      column("bytes_formula", STRATA_FIELD(bytes.formula)),
                      column("flops", STRATA_FIELD(flops.value)),
                      column("flops_formula", STRATA_FIELD(flops.formula)),
                      column("program", STRATA_FIELD(program)),
                      column("language", STRATA_FIELD(language), Store::Interned),
                      column("exact", STRATA_FIELD(exact))};
  }
  static constexpr std::array indexes{"(compile)"};
};

template <>
struct Table<FusionRecord> {
  static constexpr const char* name = "fusion";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("compile", STRATA_FIELD(compile)),
                      column("pass", STRATA_FIELD(pass)),
                      column("producer", STRATA_FIELD(producer)),
                      column("consumer", STRATA_FIELD(consumer)),
                      column("producer_group", STRATA_FIELD(producer_group)),
                      column("consumer_group", STRATA_FIELD(consumer_group)),
                      column("accepted", STRATA_FIELD(accepted)),
                      column("rule", STRATA_FIELD(rule), Store::Interned),
                      column("reason", STRATA_FIELD(reason), Store::Interned)};
  }
  static constexpr std::array indexes{"(compile, producer)", "(compile, consumer)"};
};

template <>
struct Table<BufferRecord> {
  static constexpr const char* name = "buffer";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("compile", STRATA_FIELD(compile)),
                      column("name", STRATA_FIELD(name)),
                      column("kind", STRATA_FIELD(kind), Store::Interned),
                      column("node", STRATA_FIELD(node)),
                      column("bytes", STRATA_FIELD(bytes.value)),
                      column("bytes_formula", STRATA_FIELD(bytes.formula)),
                      column("first_launch", STRATA_FIELD(first_launch)),
                      column("last_launch", STRATA_FIELD(last_launch)),
                      column("arena_offset", STRATA_FIELD(arena_offset)),
                      column("reuse_of", STRATA_FIELD(reuse_of))};
  }
  static constexpr std::array indexes{"(compile)"};
};

template <>
struct Table<LaunchRecord> {
  static constexpr const char* name = "launch";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),           column("compile", STRATA_FIELD(compile)),
                      column("ordinal", STRATA_FIELD(ordinal)), column("kernel", STRATA_FIELD(kernel)),
                      column("name", STRATA_FIELD(name)),       column("reads", STRATA_FIELD(reads)),
                      column("writes", STRATA_FIELD(writes)),   column("program", STRATA_FIELD(program)),
                      column("line", STRATA_FIELD(line))};
  }
  static constexpr std::array indexes{"(compile, ordinal)", "(kernel)"};
};

template <>
struct Table<RunRecord> {
  static constexpr const char* name = "run";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("process", STRATA_FIELD(process)),
                      column("compile", STRATA_FIELD(compile)),
                      column("label", STRATA_FIELD(label)),
                      column("repeat", STRATA_FIELD(repeat)),
                      column("clock", STRATA_FIELD(clock), Store::Interned),
                      column("start_ns", STRATA_FIELD(start_ns)),
                      column("duration_ns", STRATA_FIELD(duration_ns))};
  }
  static constexpr std::array<const char*, 0> indexes{};
};

template <>
struct Table<EventRecord> {
  static constexpr const char* name = "event";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("run", STRATA_FIELD(run)),
                      column("launch", STRATA_FIELD(launch)),
                      column("kernel", STRATA_FIELD(kernel)),
                      column("name", STRATA_FIELD(name), Store::Interned),
                      column("category", STRATA_FIELD(category), Store::Interned),
                      column("thread", STRATA_FIELD(thread)),
                      column("stream", STRATA_FIELD(stream)),
                      column("clock", STRATA_FIELD(clock), Store::Interned),
                      column("start_ns", STRATA_FIELD(start_ns)),
                      column("duration_ns", STRATA_FIELD(duration_ns)),
                      column("correlation", STRATA_FIELD(correlation)),
                      column("args", STRATA_FIELD(args)),
                      column("track", STRATA_FIELD(track)),
                      column("compile", STRATA_FIELD(compile)),
                      column("program", STRATA_FIELD(program)),
                      column("match", STRATA_FIELD(match)),
                      column("external", STRATA_FIELD(external)),
                      column("sequence", STRATA_FIELD(sequence)),
                      column("phase", STRATA_FIELD(phase), Store::Interned)};
  }
  static constexpr std::array indexes{"(run)", "(kernel) WHERE kernel <> 0", "(launch) WHERE launch <> 0"};
};

template <>
struct Table<InputRecord> {
  static constexpr const char* name = "input";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("path", STRATA_FIELD(path)),
                      column("kind", STRATA_FIELD(kind), Store::Interned),
                      column("bytes", STRATA_FIELD(bytes)),
                      column("process", STRATA_FIELD(process)),
                      column("producer", STRATA_FIELD(producer)),
                      column("counts", STRATA_FIELD(counts))};
  }
  static constexpr std::array<const char*, 0> indexes{};
};

template <>
struct Table<ProgramRecord> {
  static constexpr const char* name = "program";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("compile", STRATA_FIELD(compile)),
                      column("role", STRATA_FIELD(role), Store::Interned),
                      column("key", STRATA_FIELD(key)),
                      column("path", STRATA_FIELD(path)),
                      column("snapshot", STRATA_FIELD(snapshot))};
  }
  static constexpr std::array indexes{"(compile)"};
};

template <>
struct Table<RecompileRecord> {
  static constexpr const char* name = "recompile";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("compile", STRATA_FIELD(compile)),
                      column("of_compile", STRATA_FIELD(of)),
                      column("guard", STRATA_FIELD(guard)),
                      column("expression", STRATA_FIELD(expression)),
                      column("expected", STRATA_FIELD(expected)),
                      column("actual", STRATA_FIELD(actual)),
                      column("reason", STRATA_FIELD(reason)),
                      column("stack", STRATA_FIELD(stack)),
                      column("cost_ns", STRATA_FIELD(cost_ns))};
  }
  static constexpr std::array indexes{"(compile)"};
};

template <>
struct Table<DiagnosticRecord> {
  static constexpr const char* name = "diagnostic";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("severity", STRATA_FIELD(severity)),
                      column("kind", STRATA_FIELD(kind), Store::Interned),
                      column("title", STRATA_FIELD(title)),
                      column("detail", STRATA_FIELD(detail)),
                      column("hint", STRATA_FIELD(hint)),
                      column("compile", STRATA_FIELD(compile)),
                      column("process", STRATA_FIELD(process)),
                      column("input", STRATA_FIELD(input)),
                      column("line", STRATA_FIELD(line)),
                      column("stack", STRATA_FIELD(stack)),
                      column("cost_ns", STRATA_FIELD(cost_ns))};
  }
  static constexpr std::array indexes{"(compile)"};
};

template <>
struct Table<TrackRecord> {
  static constexpr const char* name = "track";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("process", STRATA_FIELD(process)),
                      column("pid", STRATA_FIELD(pid), Store::Interned),
                      column("tid", STRATA_FIELD(tid), Store::Interned),
                      column("name", STRATA_FIELD(name), Store::Interned),
                      column("process_name", STRATA_FIELD(process_name), Store::Interned),
                      column("device", STRATA_FIELD(device)),
                      column("stream", STRATA_FIELD(stream)),
                      column("sort", STRATA_FIELD(sort))};
  }
  static constexpr std::array<const char*, 0> indexes{};
};

template <>
struct Table<FlowRecord> {
  static constexpr const char* name = "flow";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)), column("kind", STRATA_FIELD(kind), Store::Interned),
                      column("from_event", STRATA_FIELD(from)), column("to_event", STRATA_FIELD(to))};
  }
  static constexpr std::array indexes{"(from_event)", "(to_event)"};
};

template <>
struct Table<MetricRecord> {
  static constexpr const char* name = "metric";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("owner_kind", STRATA_FIELD(owner.kind)),
                      column("owner", STRATA_FIELD(owner.id)),
                      column("compile", STRATA_FIELD(owner.compile)),
                      column("key", STRATA_FIELD(key), Store::Interned),
                      column("value", STRATA_FIELD(value)),
                      column("unit", STRATA_FIELD(unit), Store::Interned)};
  }
  static constexpr std::array indexes{"(owner_kind, owner)"};
};

template <>
struct Table<ArtifactRecord> {
  static constexpr const char* name = "artifact";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)),
                      column("owner_kind", STRATA_FIELD(owner.kind)),
                      column("owner", STRATA_FIELD(owner.id)),
                      column("compile", STRATA_FIELD(owner.compile)),
                      column("kind", STRATA_FIELD(kind), Store::Interned),
                      column("name", STRATA_FIELD(name)),
                      column("size", STRATA_FIELD(size)),
                      column("content", STRATA_FIELD(content), Store::Packed),
                      column("lines", STRATA_FIELD(lines), Store::Packed)};
  }
  static constexpr std::array indexes{"(owner_kind, owner)", "(compile)"};
};

template <>
struct Table<RawRecord> {
  static constexpr const char* name = "raw";
  static constexpr auto columns() {
    return std::tuple{column("id", STRATA_FIELD(id)), column("source", STRATA_FIELD(source), Store::Interned),
                      column("ordinal", STRATA_FIELD(ordinal)), column("kind", STRATA_FIELD(kind), Store::Interned),
                      column("content", STRATA_FIELD(content), Store::Packed)};
  }
  static constexpr std::array<const char*, 0> indexes{};
};

#undef STRATA_FIELD

/// All record types that have a table.
template <template <class...> class F>
using ForAllTables =
    F<ProcessRecord, SourceFileRecord, LocationRow, FrameRecord, CompileRecord, PassRecord, SnapshotRow, NodeRow,
      OriginRecord, RemovalRecord, RewriteRecord, GuardRecord, GraphBreakRecord, SymbolRecord, AssumptionRecord,
      KernelRecord, FusionRecord, BufferRecord, LaunchRecord, RunRecord, EventRecord, MetricRecord, ArtifactRecord,
      RawRecord, InputRecord, ProgramRecord, RecompileRecord, DiagnosticRecord, TrackRecord, FlowRecord>;

/// Largest valid value of an enum column.
template <class E>
constexpr int enum_last();
template <>
constexpr int enum_last<OwnerKind>() {
  return static_cast<int>(OwnerKind::Program);
}
template <>
constexpr int enum_last<Verified>() {
  return static_cast<int>(Verified::Failed);
}
template <>
constexpr int enum_last<SnapshotKind>() {
  return static_cast<int>(SnapshotKind::Text);
}
template <>
constexpr int enum_last<Match>() {
  return static_cast<int>(Match::Inferred);
}
template <>
constexpr int enum_last<DiagnosticRecord::Severity>() {
  return static_cast<int>(DiagnosticRecord::Severity::Error);
}
template <>
constexpr int enum_last<KernelKind>() {
  return static_cast<int>(KernelKind::Opaque);
}

/// Calls `f(column)` for each column of R.
template <class R, class F>
void for_each_column(F&& f) {
  std::apply([&](const auto&... c) { (f(c), ...); }, Table<R>::columns());
}

/// `a, b, c`: the columns of R in order; those that are packed become `NULL` unless `packed`.
template <class R>
std::string column_list(bool packed = true) {
  std::string out;
  for_each_column<R>([&](const auto& c) {
    if (!out.empty()) out += ", ";
    out += packed || c.store != Store::Packed ? c.name : "NULL";
  });
  return out;
}

/// Statements that create every table and index of the current version.
std::string create_schema();

}  // namespace strata::trace
