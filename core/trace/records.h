// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything a trace holds, as plain values. The file format is in docs/trace.md.
///
/// Ids. Every record but a node has an `Id`: positive, unique within its table, given by the writer in the order of
/// writing. 0 (`kNone`) means "none" wherever a record refers to another. A node has a `NodeId`: any positive 64-bit
/// number that the producer chooses, unique within its compile. The same NodeId in two snapshots of a compile is the
/// same node; a node that replaces others gets a new one, and origin edges say from which.
///
/// Text is UTF-8. Times are nanoseconds in the clock domain of the record (`clock`), durations nanoseconds, -1 unknown.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::trace {

using Id = std::int64_t;
using NodeId = std::int64_t;
inline constexpr Id kNone = 0;

/// What an artifact or metric belongs to.
enum class OwnerKind : int {
  Trace = 0,
  Process,
  Frame,
  Compile,
  Snapshot,
  Pass,
  Node,  ///< `id` is a NodeId, `compile` says of which compile
  Kernel,
  Buffer,
  Launch,
  Run,
  Event,
  SourceFile,
  Input,
  Program
};

struct Owner {
  OwnerKind kind = OwnerKind::Trace;
  Id id = kNone;
  Id compile = kNone;  ///< the compile it is part of, if any: what `Reader::artifacts_of_compile` selects by
  bool operator==(const Owner&) const = default;
};

/// A number, a formula over the compile's symbols, or both (the number then is the formula at the hints).
struct Amount {
  std::optional<double> value;
  std::string formula;
  bool operator==(const Amount&) const = default;
};

/// Producer and environment: `producer`, `version`, `command`, `cpu`, `torch`, ...
struct PropertyRecord {
  std::string key, value;
  bool operator==(const PropertyRecord&) const = default;
};

/// A file that was imported. `counts` is a JSON object: how many records of each kind were read (`"chromium_event":
/// 203`) and, under `problem.*`, how many could not be used (`"problem.bad_json": 1`).
struct InputRecord {
  Id id = kNone;
  std::string path;
  std::string kind;  ///< `torch-trace`, `torch-logs`, `debug-folder`, `tlparse`, `program`, `profile`
  std::int64_t bytes = 0;
  Id process = kNone;
  std::string producer;  ///< `torch 2.11.0`, as far as the file says; may be empty
  std::string counts;
  bool operator==(const InputRecord&) const = default;
};

struct ProcessRecord {
  Id id = kNone;
  std::int64_t pid = 0;
  std::int64_t rank = -1;  ///< -1: not distributed
  std::string command;
  std::int64_t start_ns = -1;  ///< since the Unix epoch
  bool operator==(const ProcessRecord&) const = default;
};

/// A source file. `excerpt` false: `text` is the whole file. `excerpt` true: `text` is empty and `lines` holds the
/// lines that are known, ascending.
struct SourceFileRecord {
  struct Line {
    std::int64_t number = 0;  ///< from 1
    std::string text;
    bool operator==(const Line&) const = default;
  };
  Id id = kNone;
  std::string path;
  bool excerpt = false;
  std::string text;
  std::vector<Line> lines;
  bool operator==(const SourceFileRecord&) const = default;
};

/// One entry of a source location stack. A stack is interned: `Writer::stack` gives its id, `Reader::stack` its
/// entries, outermost call first.
struct SourceLocation {
  std::string file;
  std::int64_t line = 0;  ///< from 1; 0 unknown
  std::string function;
  std::string text;  ///< the code of the line, may be empty
  bool operator==(const SourceLocation&) const = default;
};

/// A Python frame (code object) that was considered for compilation.
struct FrameRecord {
  Id id = kNone;
  Id process = kNone;
  std::int64_t number = 0;  ///< the N of address N/M
  std::string name;         ///< qualified name of the function
  std::string file;
  std::int64_t line = 0;
  bool operator==(const FrameRecord&) const = default;
};

/// One compilation attempt. `address` is what a person types: `0/1`, `0/1_2`, `!0/0/1`, `r3:0/1`.
struct CompileRecord {
  Id id = kNone;
  Id process = kNone;
  Id frame = kNone;
  std::int64_t frame_number = 0;
  std::int64_t compile_number = 0;
  std::int64_t attempt = 0;
  std::string address;
  std::string prefix;   ///< `!A/`, `r3:` or empty: the part of `address` before frame/compile
  std::string name;     ///< model or function name
  std::string outcome;  ///< `ok`, `failed`, `restarted`, `skipped`, `left`; empty while it is under way
  std::string cause;    ///< why it was compiled again; empty for the first
  std::string error;    ///< set when it failed
  std::int64_t start_ns = -1;
  std::int64_t duration_ns = -1;
  bool operator==(const CompileRecord&) const = default;
};

enum class Verified : int { No = 0, Passed, Failed };

/// A callable that a compile ended in: a training graph has two, one per direction.
struct ProgramRecord {
  Id id = kNone;
  Id compile = kNone;
  std::string role;  ///< `forward`, `backward` or `inference`
  std::string key;   ///< the producer's name of it that profiles show (Inductor: the FX graph cache key); may be empty
  std::string path;  ///< the file of its code, may be empty
  Id snapshot = kNone;  ///< the graph that its kernels compute
  bool operator==(const ProgramRecord&) const = default;
};

/// Why a frame was compiled again: a guard of an earlier compile that failed.
struct RecompileRecord {
  Id id = kNone;
  Id compile = kNone;         ///< the new compile
  Id of = kNone;              ///< the compile whose guard failed
  Id guard = kNone;           ///< that guard
  std::string expression;     ///< of the guard: `tensor 'x' size mismatch at index 0`
  std::string expected;       ///< `8`
  std::string actual;         ///< `16`
  std::string reason;         ///< the producer's own words
  Id stack = kNone;           ///< the line that the guard came from
  std::int64_t cost_ns = -1;  ///< what this compile took
  bool operator==(const RecompileRecord&) const = default;
};

/// Anything that a person should know: a cache miss, a skipped CUDA graph, a restart, an error, a warning of the
/// importer, ranks that differ.
struct DiagnosticRecord {
  enum class Severity : int { Info = 0, Warning, Error };
  Id id = kNone;
  Severity severity = Severity::Info;
  std::string
      kind;  ///< `cache-hit`, `cache-miss`, `cache-bypass`, `cudagraph-skip`, `restart`, `error`, `import`, `rank`
  std::string title;   ///< one line
  std::string detail;  ///< more text, may be empty
  std::string hint;    ///< what to do, may be empty
  Id compile = kNone;
  Id process = kNone;
  Id input = kNone;
  std::int64_t line = 0;  ///< in the input, from 1; 0 unknown
  Id stack = kNone;
  std::int64_t cost_ns = -1;
  bool operator==(const DiagnosticRecord&) const = default;
};

/// One execution of a pass. Added when it begins (so that nodes can name it as maker), updated when it ends.
struct PassRecord {
  Id id = kNone;
  Id compile = kNone;
  std::string name;          ///< a verb phrase or the foreign name
  std::int64_t ordinal = 0;  ///< place in the pipeline, from 0
  std::int64_t start_ns = -1;
  std::int64_t duration_ns = -1;
  bool changed = false;
  std::int64_t nodes_before = -1, nodes_after = -1;
  Verified verified = Verified::No;
  std::string error;  ///< message when the pass or the verifier failed
  bool operator==(const PassRecord&) const = default;
};

enum class SnapshotKind : int {
  Graph = 0,  ///< has nodes
  Text        ///< no nodes: its content is the artifacts it owns
};

/// The state of a compile at a stage. `ordinal` and the counts are filled in by the writer.
struct SnapshotRecord {
  Id id = kNone;
  Id compile = kNone;
  std::string stage;         ///< `captured`, `simplified:cse#2`; unique within a compile
  std::int64_t ordinal = 0;  ///< place among the snapshots of the compile, from 0
  Id pass = kNone;           ///< the pass that made it
  SnapshotKind kind = SnapshotKind::Graph;
  std::int64_t node_count = 0;
  std::int64_t added = 0, removed = 0, changed = 0;  ///< nodes against the snapshot before
  Id program = kNone;                                ///< the program it is a stage of, where a compile has several
  std::string extra;  ///< metadata of the graph as a JSON object of strings; may be empty
  bool operator==(const SnapshotRecord&) const = default;
};

/// A node as it is in one snapshot.
struct NodeRecord {
  NodeId id = 0;
  std::string name;                         ///< `relu_1`: unique within a snapshot, may change between snapshots
  std::string op;                           ///< `call`, `placeholder`, `output`, `constant`, ... or the FX opcode
  std::string target;                       ///< `aten.add.Tensor`
  std::string args;                         ///< the arguments as text, node names included
  std::vector<std::vector<NodeId>> inputs;  ///< per operand, the nodes it refers to (a list operand has several)
  std::string type;                         ///< `f32[8, 64][64, 1]cpu`
  std::string dtype;                        ///< `f32`
  std::string shape;                        ///< `[8, 64]` or `[s0, 64]`
  std::string device;                       ///< `cpu`, `cuda:0`
  std::string module;                       ///< `encoder.layer.0.attention`
  Id stack = kNone;                         ///< source location stack
  Id maker = kNone;                         ///< the pass that made the node
  std::string role;                         ///< `forward`, `backward`, `recomputed` or empty
  std::int64_t group = 0;                   ///< nodes with the same nonzero number become one kernel
  std::string extra;                        ///< further metadata as a JSON object of strings; may be empty
  bool operator==(const NodeRecord&) const = default;
};

/// `node` was made from `from`, a node of an earlier snapshot of the same compile.
struct OriginRecord {
  Id compile = kNone;
  NodeId node = 0;
  NodeId from = 0;
  std::string kind;   ///< `replaced`, `decomposed`, `copied`, `fused`, `gradient`, ...
  std::string rule;   ///< the rule that did it, may be empty
  bool exact = true;  ///< false: inferred (matched by name, position or shape)
  bool operator==(const OriginRecord&) const = default;
};

struct RewriteRecord {
  Id id = kNone;
  Id compile = kNone;
  Id pass = kNone;
  std::string rule;
  std::vector<NodeId> before, after;
  std::string reason;
  bool operator==(const RewriteRecord&) const = default;
};

/// A node that is in no later snapshot, and why.
struct RemovalRecord {
  Id compile = kNone;
  NodeId node = 0;
  Id pass = kNone;
  std::string rule;
  std::string reason;
  bool operator==(const RemovalRecord&) const = default;
};

struct GuardRecord {
  Id id = kNone;
  Id compile = kNone;
  std::string kind;        ///< `TENSOR_MATCH`, `shape`, ...
  std::string expression;  ///< the condition as code
  std::string source;      ///< what it looks at: `L['x']`
  std::int64_t hits = 0, failures = 0;
  std::int64_t cost_ns = -1;  ///< of one evaluation
  Id stack = kNone;           ///< the line that made the assumption
  std::string path;           ///< place in the producer's guard tree, outermost first, parts joined by ` > `
  std::string detail;         ///< the producer's line, as it stands
  bool operator==(const GuardRecord&) const = default;
};

struct GraphBreakRecord {
  Id id = kNone;
  Id process = kNone;
  Id frame = kNone;
  Id compile = kNone;
  std::string reason;
  std::string explanation;
  std::string hint;
  Id stack = kNone;
  std::string kind;           ///< the producer's class of breaks: `Unsupported Tensor.item() call`; may be empty
  std::string link;           ///< a page about it, may be empty
  std::int64_t cost_ns = -1;  ///< compile time spent because of it
  std::string detail;         ///< the producer's text, as it stands
  bool operator==(const GraphBreakRecord&) const = default;
};

struct SymbolRecord {
  Id id = kNone;
  Id compile = kNone;
  std::string name;                  ///< `s0`, `u1`
  std::optional<std::int64_t> hint;  ///< none: data-dependent
  std::optional<std::int64_t> min, max;
  std::string origin;  ///< `L['x'].size()[0]`
  Id stack = kNone;
  bool operator==(const SymbolRecord&) const = default;
};

/// A relation over symbols that the compiled program relies on.
struct AssumptionRecord {
  Id id = kNone;
  Id compile = kNone;
  std::string expression;  ///< `s0 <= 16`, `Eq(s0, s1)`
  std::string kind;        ///< `range`, `relation`, `specialized`, ...
  std::string reason;
  Id stack = kNone;
  bool operator==(const AssumptionRecord&) const = default;
};

enum class KernelKind : int { Loop = 0, Library, Opaque };

/// A kernel. Its code is in the artifacts it owns.
struct KernelRecord {
  Id id = kNone;
  Id compile = kNone;
  Id snapshot = kNone;  ///< the stage whose nodes it computes (`scheduled`)
  std::string name;
  KernelKind kind = KernelKind::Loop;
  std::string library;        ///< `onednn matmul` for library calls
  std::string device;         ///< `cpu`, `cuda:0`
  std::int64_t group = 0;     ///< as in NodeRecord
  std::vector<NodeId> nodes;  ///< members, in program order
  Amount bytes, flops;        ///< of one launch; bytes read and written
  Id program = kNone;         ///< the program that launches it, where a compile has several
  std::string language;       ///< `triton`, `cpp`, `cuda`, ...; empty for library calls and our own
  bool exact = true;          ///< false: `nodes` were inferred (from comments, names, order)
  bool operator==(const KernelRecord&) const = default;
};

/// Whether a producer and a consumer were put into one kernel, and why.
struct FusionRecord {
  Id id = kNone;
  Id compile = kNone;
  Id pass = kNone;
  NodeId producer = 0, consumer = 0;  ///< representatives where groups were considered
  std::int64_t producer_group = 0, consumer_group = 0;
  bool accepted = false;
  std::string rule;
  std::string reason;
  bool operator==(const FusionRecord&) const = default;
};

struct BufferRecord {
  Id id = kNone;
  Id compile = kNone;
  std::string name;
  std::string kind;  ///< `input`, `weight`, `constant`, `temporary`, `output`
  NodeId node = 0;   ///< the node whose value it holds first
  Amount bytes;
  std::int64_t first_launch = -1, last_launch = -1;  ///< ordinals, inclusive; -1 none
  std::optional<std::int64_t> arena_offset;          ///< bytes; none when not in the arena
  Id reuse_of = kNone;                               ///< the buffer whose memory it takes over
  bool operator==(const BufferRecord&) const = default;
};

struct LaunchRecord {
  Id id = kNone;
  Id compile = kNone;
  std::int64_t ordinal = 0;  ///< place in the plan, from 0
  Id kernel = kNone;
  std::string name;               ///< when there is no kernel (a copy, a wait)
  std::vector<Id> reads, writes;  ///< buffers
  Id program = kNone;             ///< where a compile has several; `ordinal` counts within it
  std::int64_t line = 0;          ///< in the program's code, from 1; 0 unknown
  bool operator==(const LaunchRecord&) const = default;
};

/// One timed execution of a compiled program (or of eager code).
struct RunRecord {
  Id id = kNone;
  Id process = kNone;
  Id compile = kNone;  ///< none: several or unknown
  std::string label;   ///< e.g. the backend
  std::int64_t repeat = 0;
  std::string clock;  ///< `steady`, `unix`, `cuda`
  std::int64_t start_ns = -1, duration_ns = -1;
  bool operator==(const RunRecord&) const = default;
};

/// A row of a profile: a thread of a process, or a stream of a device.
struct TrackRecord {
  Id id = kNone;
  Id process = kNone;
  std::string pid, tid;      ///< as the producer wrote them: numbers or words
  std::string name;          ///< of the thread or stream
  std::string process_name;  ///< of the process or device
  std::int64_t device = -1;  ///< -1: on the host
  std::int64_t stream = -1;
  std::int64_t sort = 0;
  bool operator==(const TrackRecord&) const = default;
};

/// `to` followed from `from`: a backward operator from its forward operator (`fwdbwd`). Launches and device events are
/// joined by `EventRecord::correlation` instead.
struct FlowRecord {
  Id id = kNone;
  std::string kind;
  Id from = kNone, to = kNone;  ///< events
  bool operator==(const FlowRecord&) const = default;
};

enum class Match : int { None = 0, Exact, Inferred };

struct EventRecord {
  Id id = kNone;
  Id run = kNone;
  Id launch = kNone;
  Id kernel = kNone;
  std::string name;
  std::string category;  ///< `kernel`, `library`, `copy`, `op`, `guard`, `compile`, ...
  std::int64_t thread = 0;
  std::int64_t stream = -1;  ///< device stream; -1: on the host
  std::string clock;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t correlation = 0;  ///< the producer's number that joins host and device events; 0 none
  std::string args;              ///< anything else, as JSON; may be empty
  Id track = kNone;              ///< the row it stands in
  Id compile = kNone;            ///< the compiled region that it is part of
  Id program = kNone;
  Match match = Match::None;   ///< how `kernel` and `launch` were found, for imported events
  std::int64_t external = 0;   ///< number that operators, runtime calls and device events share; 0 none
  std::int64_t sequence = -1;  ///< number that a forward operator and its backward share; -1 none
  std::string phase;           ///< Chrome trace phase; empty: a complete event (`X`)
  bool operator==(const EventRecord&) const = default;
};

/// What an event turned out to be part of.
struct EventMatch {
  Id event = kNone;
  Id compile = kNone, program = kNone, kernel = kNone, launch = kNone;
  Match match = Match::None;
};

/// The numbers of an event, for work on millions of them. `name` and `category` are ids of texts: `Reader::text`.
struct EventKey {
  Id id = kNone;
  Id track = kNone;
  Id name = kNone, category = kNone;
  std::int64_t start_ns = 0, duration_ns = 0;
  std::int64_t correlation = 0, external = 0, sequence = -1;
  std::int64_t stream = -1;
  Id program = kNone, kernel = kNone, launch = kNone;
};

/// Events of a run that agree in everything here but the last three, summed.
struct EventSum {
  std::string name, category;
  bool device = false;  ///< on a device stream
  Id compile = kNone, program = kNone, kernel = kNone, launch = kNone;
  Match match = Match::None;
  std::int64_t count = 0, total_ns = 0, min_ns = 0;
};

struct MetricRecord {
  Id id = kNone;
  Owner owner;
  std::string key;
  double value = 0;
  std::string unit;  ///< `ns`, `B`, `flop`, `1`
  bool operator==(const MetricRecord&) const = default;
};

/// Lines of an artifact (from 1, inclusive) that came from these nodes.
struct LineMapEntry {
  std::int64_t first_line = 0, last_line = 0;
  std::vector<NodeId> nodes;
  bool operator==(const LineMapEntry&) const = default;
};

/// Text or bytes. `size` is filled in by the writer; lists give everything but `content` and `lines`.
struct ArtifactRecord {
  Id id = kNone;
  Owner owner;
  std::string kind;  ///< `llvm-ir`, `cpp`, `asm`, `loop-ir`, `cuda`, `ptx`, `fx`, `ir`, `bytecode`, `svg`, `text`, ...
  std::string name;
  std::int64_t size = 0;  ///< bytes, not compressed
  std::string content;
  std::vector<LineMapEntry> lines;
  bool operator==(const ArtifactRecord&) const = default;
};

/// An input record that the importer did not understand, kept as it was.
struct RawRecord {
  Id id = kNone;
  std::string source;        ///< the file it came from
  std::int64_t ordinal = 0;  ///< line or record number there
  std::string kind;
  std::string content;
  bool operator==(const RawRecord&) const = default;
};

}  // namespace strata::trace
