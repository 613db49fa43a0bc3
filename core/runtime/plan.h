// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The launch plan: buffers, launches in order, and how to run them. Made by `passes` (with loop IR and library calls
/// in it), turned into machine code through a `KernelCompiler` (implemented by `codegen`), run by an `Executor`.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/ir/graph.h"
#include "core/ir/library.h"
#include "core/ir/loop.h"
#include "core/ir/program.h"

namespace strata {

struct PlanBuffer {
  enum class Kind : uint8_t { Input, Constant, Temporary, Output };
  Kind kind = Kind::Temporary;
  std::string name;  ///< the node's name
  DType dtype = DType::F32;
  SymInt numel;  ///< elements from the buffer's start
  std::vector<SymInt> shape, strides;
  NodeId node = 0;
  int input = -1;                           ///< Input: index among the user inputs
  Tensor constant;                          ///< Constant
  int first_launch = -1, last_launch = -1;  ///< lifetime, inclusive; Output and Input live to the end
  int reuse_of =
      -1;  ///< Temporary: takes over the memory of this buffer (same lifetime end, sizes provably equal), or -1
};

/// A call of an operator that has no kernel: run by the reference interpreter (marked, counted).
struct OpaqueCall {
  std::string target;
  std::shared_ptr<const Graph> graph;  ///< one operator with placeholders for its operands, strides as they lie
  std::vector<SymInt> offsets;         ///< per tensor placeholder: elements from the start of its buffer
};

/// A call of an operator whose kernel is written by hand (`KernelRule`).
struct NativeCall {
  std::string kernel;
  std::shared_ptr<const Graph> graph;  ///< one operator with placeholders for its operands, strides as they lie
  std::vector<SymInt> offsets;         ///< per tensor placeholder: elements from the start of its buffer
};

struct Plan;

/// A call that runs other plans (core/ir/control_flow.h).
struct ControlCall {
  std::shared_ptr<const Graph> graph;  ///< as NativeCall's
  std::vector<SymInt> offsets;         ///< likewise
  /// Inputs are the call's operands, results contiguous.
  std::vector<std::shared_ptr<const Plan>> bodies;
};

struct Launch {
  std::string name;
  std::variant<loop::Kernel, LibraryCall, OpaqueCall, NativeCall, ControlCall> work;
  std::vector<int> buffers;   ///< plan buffers, in the order of the kernel's buffers (library: operands then result, by
                              ///< their `buffer` index)
  std::vector<NodeId> nodes;  ///< captured-or-later graph nodes it computes
  SymInt bytes_read, bytes_written, flops;
};

/// The graph of a launch that is a call, neither a loop nor a library's; null for these.
const Graph* call_graph(const Launch& launch);
/// Buffers that a launch writes, as positions in `Launch::buffers`, ascending.
std::vector<size_t> written_by(const Launch& launch);

/// What the caller gets: a view of a buffer, or a number (0-dimensional).
struct PlanOutput {
  int buffer = -1;  ///< -1: `constant`, or `value` where that is undefined
  DType dtype = DType::F32;
  std::vector<SymInt> shape, strides;
  SymInt offset;
  SymInt value;
  Tensor constant = {};  ///< a float or a bool
};

/// After the run, copy an output back into an input or a persistent buffer (mutations).
struct PlanMutation {
  int output = 0;
  OutputSpec spec;
  int buffer = -1;  ///< the Input or Constant that is written; -1: the one whose name is `spec.target`
};

/// A size that only the data tells: an element of a buffer, read as soon as the launch that computes it has run. What
/// needs it stands in later launches.
struct PlanSize {
  SymInt size;  ///< has at most one symbol that nothing before gives, and is linear in it; else the element is compared
  int buffer = -1;
  SymInt offset;  ///< of the element
  DType dtype = DType::I64;
  int after = -1;  ///< launch; -1: known before the first
  NodeId node = 0;
  std::string where;  ///< node and line of Python, for messages
};

/// What the program says of such sizes; a run for which it does not hold ends with a user Error.
struct PlanCondition {
  SizeGuard guard;
  std::string where;
};

struct Plan {
  std::shared_ptr<ShapeEnv> env;
  std::vector<PlanBuffer> buffers;
  std::vector<Launch> launches;
  std::vector<PlanOutput> outputs;
  std::vector<PlanMutation> mutations;
  std::vector<PlanSize> sizes;  ///< by `after`
  std::vector<PlanCondition> conditions;
  /// User inputs: type with symbolic sizes, in order; and where each size symbol is found.
  std::vector<Type> inputs;
  /// Those that callers give as complex tensors: here they are the pairs of real numbers that these lie in.
  std::vector<size_t> complex_inputs;
};

// --------------------------------------------------------------------------------------------------------------
// compiling

/// Text that belongs to a kernel, with the graph nodes behind each line (0-based; empty where none).
struct CodeArtifact {
  std::string kind;  ///< `loop-ir`, `cpp`, `llvm-ir`, `asm`, `library`
  std::string text;
  std::vector<std::vector<NodeId>> line_nodes;
};

/// Value of a size. Throws an Error that names `what` where it does not follow from the symbols.
int64_t evaluate_size(const SymInt& size, const SymBindings& symbols, const std::string& what);
std::vector<int64_t> evaluate_sizes(const std::vector<SymInt>& sizes, const SymBindings& symbols,
                                    const std::string& what);

/// Everything a kernel needs at a call.
struct LaunchArgs {
  std::byte* const* buffers;  ///< one per `Launch::buffers`
  const SymBindings& symbols;
  int threads;
};

class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;
  /// Thread-compatible: one call at a time per kernel object.
  virtual void run(const LaunchArgs& args) = 0;
  /// Strides in which the kernel leaves buffer i of its launch, where they may differ from the plan's (a code generator
  /// may lay out anew what only its own kernels read); empty: as planned.
  virtual std::vector<SymInt> strides_of(size_t /*buffer*/) const { return {}; }
};

struct CompileOptions {
  int threads = 0;              ///< 0: all cores
  bool keep_artifacts = false;  ///< also produce C++, LLVM IR and assembly text (costs compile time)
  bool prepack = true;
  std::string mode = "default";  ///< `max-autotune`: launches are measured, see `TuningCandidate`
  std::function<void(std::string_view what)> progress;  ///< what is being measured; may be empty
  std::function<bool()> cancelled;                      ///< asked between measurements; true ends with a user Error
};

/// One way to run a launch that `max-autotune` has measured, now or in an earlier process.
struct TuningCandidate {
  std::string what;  ///< `default`, `16 lanes, unrolled 4 times`, `own kernel`, ...
  double ns = 0;     ///< the least time of one call, on made-up values
  bool chosen = false;
};

/// What a compile of kernels did; times in nanoseconds.
struct CodegenStatistics {
  size_t loops = 0, distinct = 0;        ///< loop kernels, and different ones among their functions
  size_t generated = 0, from_cache = 0;  ///< of the distinct ones
  size_t measured = 0, tuned = 0;        ///< launches measured now, and launches whose measurements are known
  int64_t plan_ns = 0, cache_ns = 0, generate_ns = 0, load_ns = 0, library_ns = 0, tune_ns = 0;
  std::string cache_off;                ///< why no cache on disk was used; empty: it was
  std::vector<bool> launch_from_cache;  ///< per launch: its code was in the cache; empty: no loop kernels
};

/// Seam between passes and code generation.
class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;
  virtual std::string name() const = 0;
  /// One kernel per launch, in order. `constant(i)` gives the tensor of a constant buffer. Throws Error.
  virtual std::vector<std::unique_ptr<CompiledKernel>> compile(const Plan& plan, const CompileOptions& options) = 0;
  /// Artifacts of launch i after `compile` (empty unless kept).
  virtual std::vector<CodeArtifact> artifacts(size_t launch) const = 0;
  /// What was measured for launch i; empty unless the mode is `max-autotune`.
  virtual std::vector<TuningCandidate> candidates(size_t /*launch*/) const { return {}; }
  /// Of the last `compile`.
  virtual CodegenStatistics statistics() const { return {}; }
};

/// Timing of one launch, nanoseconds of the steady clock.
struct LaunchTime {
  uint32_t launch;
  int64_t start, end;
  int threads = 1;  ///< that it ran on
};

/// Runs a plan. Not thread-safe: one call at a time.
class Executor {
 public:
  Executor(std::shared_ptr<const Plan> plan, std::vector<std::unique_ptr<CompiledKernel>> kernels, int threads = 0);
  ~Executor();

  /// Inputs as `Plan::inputs` describes (checked; strided ones are made contiguous). Results are fresh tensors, valid
  /// after the next call: one per `Plan::outputs`, except those that a mutation writes back (these go into the input's
  /// or the constant's own memory, for good).
  std::vector<Tensor> run(const std::vector<Tensor>& inputs);
  /// The same into `results`, whose vectors are used again. With `set_prepared`, and the sizes of the call before, it
  /// allocates nothing.
  void run_into(const std::vector<Tensor>& inputs, std::vector<Tensor>& results);
  /// Keeps the memory of results: a call gets that of an earlier call's result as soon as nobody holds the result any
  /// more. Off, each call allocates its results, and they are all that is left of it.
  void set_prepared(bool on);
  /// Bytes of results that are kept for later calls.
  size_t kept_bytes() const;
  /// Record the times of launches of the next runs; `times` of the last run. Off: no clock is read.
  void set_timing(bool on);
  const std::vector<LaunchTime>& times() const;
  /// Bytes of the arena for the sizes of the last run, and what it would be without reuse.
  size_t arena_bytes() const;
  size_t unshared_bytes() const;
  /// Arena offset of each temporary in the last run, -1 for others.
  const std::vector<int64_t>& arena_offsets() const;
  /// Values of the size symbols in the last run.
  const SymBindings& symbols() const;
  /// Look at a buffer after launch `launch` (for `verify`); called with the plan buffer index. Slow; off when null.
  void set_observer(std::function<void(size_t launch, int buffer, const Tensor& value)> observer);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What the machine can do.
struct Target {
  std::string cpu;       ///< LLVM's name of the host
  std::string features;  ///< LLVM's feature string
  int vector_bits = 256;
  int cores = 1;
  bool avx512 = false, amx = false, bf16 = false;
  int64_t cache_bytes = 32 << 20;  ///< of the last level: results beyond it are written past the caches
  /// Whether `features` has it on, by LLVM's name.
  bool has(std::string_view feature) const;
};
/// Filled once; `STRATA_CPU_FEATURES` can lower it for tests.
const Target& host_target();

}  // namespace strata
