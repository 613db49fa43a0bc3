// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/compiler.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "codegen/library_call.h"
#include "codegen/library_layout.h"
#include "codegen/loop_jit.h"
#include "codegen/native/native_kernel.h"
#include "codegen/opaque_call.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"

namespace strata {
namespace {

std::string normalised(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

/// Whether a mutation writes this constant: then its bytes may not be packed.
bool is_mutated(const Plan& plan, size_t buffer) {
  const std::string name = normalised(plan.buffers[buffer].name);
  return std::any_of(plan.mutations.begin(), plan.mutations.end(), [&](const PlanMutation& m) {
    if (m.buffer >= 0) return static_cast<size_t>(m.buffer) == buffer;
    const std::string target = normalised(m.spec.target);
    return name == target || name == "b_" + target || name == "p_" + target;
  });
}

/// The buffer whose memory this one takes over in the end.
int root_of(const Plan& plan, int buffer) {
  for (size_t steps = 0; steps < plan.buffers.size() && plan.buffers[buffer].reuse_of >= 0; ++steps) {
    if (static_cast<size_t>(plan.buffers[buffer].reuse_of) >= plan.buffers.size()) break;
    buffer = plan.buffers[buffer].reuse_of;
  }
  return buffer;
}

/// Whether the result takes over the memory of something that the call reads.
bool is_aliased(const Plan& plan, const LibraryCall& call, const Launch& launch) {
  const int result = root_of(plan, launch.buffers[call.result.buffer]);
  return std::any_of(call.operands.begin(), call.operands.end(),
                     [&](const LibraryOperand& o) { return root_of(plan, launch.buffers[o.buffer]) == result; });
}

/// Per launch: whether it may write its buffer i.
std::vector<bool> written_by(const Launch& launch) {
  std::vector<bool> writes(launch.buffers.size(), true);  // of an opaque call nothing is known
  if (const auto* call = std::get_if<LibraryCall>(&launch.work)) {
    for (size_t i = 0; i < writes.size(); ++i) writes[i] = call->result.buffer == static_cast<int>(i);
  } else if (const auto* kernel = std::get_if<loop::Kernel>(&launch.work)) {
    for (size_t i = 0; i < writes.size() && i < kernel->buffers.size(); ++i)
      writes[i] = kernel->buffers[i].role != loop::BufferRole::Input;
  }
  return writes;
}

/// Per buffer: written by one library call alone, and all of it. Only of these can its maker say how large its values
/// get.
std::vector<bool> made_by_one_call(const Plan& plan) {
  std::vector<bool> whole(plan.buffers.size(), false);
  std::vector<int> writers(plan.buffers.size(), 0);
  for (const Launch& launch : plan.launches) {
    const std::vector<bool> writes = written_by(launch);
    for (size_t i = 0; i < writes.size(); ++i) writers[launch.buffers[i]] += writes[i];
    const auto* call = std::get_if<LibraryCall>(&launch.work);
    if (!call) continue;
    const int b = launch.buffers[call->result.buffer];
    whole[b] = call->result.offset == SymInt(0) && call->result.shape == plan.buffers[b].shape;
  }
  for (size_t b = 0; b < whole.size(); ++b) {
    const PlanBuffer::Kind kind = plan.buffers[b].kind;
    const bool fresh = kind == PlanBuffer::Kind::Temporary || kind == PlanBuffer::Kind::Output;
    whole[b] = whole[b] && writers[b] == 1 && fresh;
  }
  return whole;
}

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

/// Calls `work(i)` for each number below `count`; a thread takes the next one when it is done with one. The first
/// exception is rethrown when all have ended.
template <class F>
void in_parallel(size_t count, const F& work) {
  std::atomic<size_t> next{0};
  parallel_for(std::min<int64_t>(static_cast<int64_t>(count), thread_count()), 1, [&](int64_t, int64_t) {
    for (size_t i; (i = next++) < count;) work(i);
  });
}

class CpuCompiler : public KernelCompiler {
 public:
  std::string name() const override { return "cpu"; }

  std::vector<std::unique_ptr<CompiledKernel>> compile(const Plan& plan, const CompileOptions& options) override {
    std::vector<std::unique_ptr<CompiledKernel>> kernels(plan.launches.size());
    artifacts_.assign(plan.launches.size(), {});
    const auto scratch = std::make_shared<library::Scratch>();
    const std::vector<const Tensor*> constants = constants_of(plan);
    check_buffers(plan);
    const std::vector<LibraryCall> calls = library::lay_out_channels_last(plan);
    const std::vector<bool> bounded = made_by_one_call(plan);
    const auto bounds = std::make_shared<std::vector<double>>(plan.buffers.size());
    // Primitives are made, and weights packed, by all threads.
    std::vector<size_t> libraries;
    for (size_t i = 0; i < plan.launches.size(); ++i)
      if (std::holds_alternative<LibraryCall>(plan.launches[i].work)) libraries.push_back(i);
    statistics_ = {};
    const int64_t start = now_ns();
    in_parallel(libraries.size(), [&](size_t n) {
      const size_t i = libraries[n];
      kernels[i] = compile_library(plan, calls[i], plan.launches[i], constants, options, scratch, i, {bounds, {}},
                                   bounded);
    });
    statistics_.library_ns = now_ns() - start;
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      const Launch& launch = plan.launches[i];
      if (std::holds_alternative<OpaqueCall>(launch.work)) {
        kernels[i] = compile_opaque_call(plan, launch);
      } else if (std::holds_alternative<NativeCall>(launch.work)) {
        kernels[i] = native::compile_native_call(plan, launch);
      }
    }
    compile_loops(plan, options, kernels);
    return kernels;
  }

  std::vector<CodeArtifact> artifacts(size_t launch) const override {
    return launch < artifacts_.size() ? artifacts_[launch] : std::vector<CodeArtifact>{};
  }
  CodegenStatistics statistics() const override { return statistics_; }

 private:
  static void check_buffers(const Plan& plan) {
    for (const Launch& launch : plan.launches) {
      for (int b : launch.buffers) {
        if (b < 0 || static_cast<size_t>(b) >= plan.buffers.size())
          throw_internal("launch " + launch.name + " names a buffer that the plan does not have");
      }
      const auto* call = std::get_if<LibraryCall>(&launch.work);
      if (!call) continue;
      const auto count = static_cast<int>(launch.buffers.size());
      const auto outside = [&](const LibraryOperand& o) { return o.buffer < 0 || o.buffer >= count; };
      if (outside(call->result) || std::any_of(call->operands.begin(), call->operands.end(), outside)) {
        throw_internal("library call " + launch.name + " names a buffer that its launch does not have");
      }
    }
  }

  static std::vector<const Tensor*> constants_of(const Plan& plan) {
    std::vector<const Tensor*> constants(plan.buffers.size());
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      if (plan.buffers[i].kind == PlanBuffer::Kind::Constant && !is_mutated(plan, i))
        constants[i] = &plan.buffers[i].constant;
    }
    return constants;
  }

  std::unique_ptr<CompiledKernel> compile_library(const Plan& plan, const LibraryCall& call, const Launch& launch,
                                                  const std::vector<const Tensor*>& constants,
                                                  const CompileOptions& options,
                                                  const std::shared_ptr<library::Scratch>& scratch, size_t index,
                                                  library::KnownBounds bounds, const std::vector<bool>& bounded) {
    std::vector<const Tensor*> mine;
    for (int b : launch.buffers) {
      mine.push_back(constants[b]);
      bounds.cells.push_back(bounded[b] ? b : -1);
    }
    auto kernel =
        library::compile_library_call(call, mine, options, scratch, is_aliased(plan, call, launch), std::move(bounds));
    if (options.keep_artifacts) {
      CodeArtifact text{"library", kernel->describe(), {}};
      const auto lines = std::count(text.text.begin(), text.text.end(), '\n');
      text.line_nodes.assign(static_cast<size_t>(lines), call.nodes);
      artifacts_[index].push_back(std::move(text));
    }
    return kernel;
  }

  void compile_loops(const Plan& plan, const CompileOptions& options,
                     std::vector<std::unique_ptr<CompiledKernel>>& kernels) {
    std::vector<const loop::Kernel*> loops;
    std::vector<size_t> launch_of;
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      const auto* kernel = std::get_if<loop::Kernel>(&plan.launches[i].work);
      if (!kernel) continue;
      loops.push_back(kernel);
      launch_of.push_back(i);
    }
    if (loops.empty()) return;
    std::vector<std::unique_ptr<CompiledKernel>> made = jit_.compile(loops, {options.threads, options.keep_artifacts, true});
    keep_statistics(plan, launch_of);
    for (size_t k = 0; k < made.size(); ++k) kernels[launch_of[k]] = std::move(made[k]);
    if (!options.keep_artifacts) return;
    for (size_t k = 0; k < loops.size(); ++k) artifacts_[launch_of[k]] = jit_.artifacts(k);
  }

  void keep_statistics(const Plan& plan, const std::vector<size_t>& launch_of) {
    const codegen::LoopJitStatistics& s = jit_.statistics();
    statistics_.loops = s.kernels;
    statistics_.distinct = s.distinct;
    statistics_.generated = s.generated;
    statistics_.from_cache = s.from_cache;
    statistics_.plan_ns = s.plan_ns;
    statistics_.cache_ns = s.cache_ns;
    statistics_.generate_ns = s.build_ns;
    statistics_.load_ns = s.link_ns;
    statistics_.cache_off = s.cache_off;
    statistics_.launch_from_cache.assign(plan.launches.size(), false);
    for (size_t k = 0; k < launch_of.size(); ++k) statistics_.launch_from_cache[launch_of[k]] = jit_.from_cache(k);
  }

  codegen::LoopJit jit_;
  CodegenStatistics statistics_;
  std::vector<std::vector<CodeArtifact>> artifacts_;
};

}  // namespace

std::unique_ptr<KernelCompiler> make_cpu_compiler() { return std::make_unique<CpuCompiler>(); }

}  // namespace strata
