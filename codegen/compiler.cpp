// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/compiler.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "codegen/control_call.h"
#include "codegen/library_call.h"
#include "codegen/library_layout.h"
#include "codegen/loop_jit.h"
#include "codegen/native/native_kernel.h"
#include "codegen/opaque_call.h"
#include "codegen/tune_library.h"
#include "codegen/tune_loops.h"
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

/// Per buffer of a launch: whether it may write it. Of calls of other kinds nothing is known.
std::vector<bool> may_write(const Launch& launch) {
  const bool known =
      std::holds_alternative<LibraryCall>(launch.work) || std::holds_alternative<loop::Kernel>(launch.work);
  std::vector<bool> writes(launch.buffers.size(), !known);
  for (size_t i : written_by(launch)) writes[i] = true;
  return writes;
}

/// Per buffer: written by one library call alone, and all of it. Only of these can its maker say how large its values
/// get.
std::vector<bool> made_by_one_call(const Plan& plan) {
  std::vector<bool> whole(plan.buffers.size(), false);
  std::vector<int> writers(plan.buffers.size(), 0);
  for (const Launch& launch : plan.launches) {
    const std::vector<bool> writes = may_write(launch);
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
    std::vector<std::unique_ptr<CompiledKernel>> kernels = compile_all_but_loops(plan, options);
    compile_loops(plan, options, kernels);
    return kernels;
  }

  /// Kernels of all launches that are no loops; null for those.
  std::vector<std::unique_ptr<CompiledKernel>> compile_all_but_loops(const Plan& plan, const CompileOptions& options) {
    std::vector<std::unique_ptr<CompiledKernel>> kernels(plan.launches.size());
    artifacts_.assign(plan.launches.size(), {});
    candidates_.assign(plan.launches.size(), {});
    tuned_.assign(plan.launches.size(), {});
    statistics_ = {};
    of_bodies_ = {};
    const auto scratch = std::make_shared<library::Scratch>();
    const std::vector<const Tensor*> constants = constants_of(plan);
    check_buffers(plan);
    std::vector<LibraryCall> calls = library::lay_out_channels_last(plan);
    if (options.mode == "max-autotune") tune_calls(plan, calls, constants, options);
    const std::vector<bool> bounded = made_by_one_call(plan);
    const auto bounds = std::make_shared<std::vector<double>>(plan.buffers.size());
    // Primitives are made, and weights packed, by all threads.
    std::vector<size_t> libraries;
    for (size_t i = 0; i < plan.launches.size(); ++i)
      if (std::holds_alternative<LibraryCall>(plan.launches[i].work)) libraries.push_back(i);
    const int64_t start = now_ns();
    in_parallel(libraries.size(), [&](size_t n) {
      const size_t i = libraries[n];
      kernels[i] =
          compile_library(plan, calls[i], plan.launches[i], constants, options, scratch, i, {bounds, {}}, bounded);
    });
    statistics_.library_ns = now_ns() - start;
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      const Launch& launch = plan.launches[i];
      if (std::holds_alternative<OpaqueCall>(launch.work)) {
        kernels[i] = compile_opaque_call(plan, launch);
      } else if (std::holds_alternative<NativeCall>(launch.work)) {
        kernels[i] = native::compile_native_call(plan, launch);
      } else if (std::holds_alternative<ControlCall>(launch.work)) {
        kernels[i] = compile_bodies(plan, i, options);
      }
    }
    return kernels;
  }

  /// Fills in the kernels of loops.
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
    std::vector<loop::Kernel> tuned;
    if (options.mode == "max-autotune") tuned = tune_loops(plan, loops, launch_of, options);
    std::vector<std::unique_ptr<CompiledKernel>> made =
        jit_.compile(loops, {options.threads, options.keep_artifacts, true, true});
    keep_statistics(plan, launch_of);
    for (size_t k = 0; k < made.size(); ++k) kernels[launch_of[k]] = std::move(made[k]);
    if (!options.keep_artifacts) return;
    for (size_t k = 0; k < loops.size(); ++k) {
      const size_t i = launch_of[k];
      artifacts_[i] = jit_.artifacts(k);
      if (const std::string version = jit_.version(k); !version.empty())
        artifacts_[i].push_back(versions_artifact(version, plan.launches[i]));
      if (!candidates_[i].empty()) artifacts_[i].push_back(tuning_artifact(candidates_[i], plan.launches[i]));
    }
  }

  std::vector<CodeArtifact> artifacts(size_t launch) const override {
    return launch < artifacts_.size() ? artifacts_[launch] : std::vector<CodeArtifact>{};
  }
  std::vector<TuningCandidate> candidates(size_t launch) const override {
    return launch < candidates_.size() ? candidates_[launch] : std::vector<TuningCandidate>{};
  }
  CodegenStatistics statistics() const override {
    CodegenStatistics all = statistics_;
    add(all, of_bodies_);
    return all;
  }

 private:
  /// Adds up what was done.
  static void add(CodegenStatistics& all, const CodegenStatistics& more) {
    for (const auto count : {&CodegenStatistics::loops, &CodegenStatistics::distinct, &CodegenStatistics::generated,
                             &CodegenStatistics::from_cache, &CodegenStatistics::measured, &CodegenStatistics::tuned})
      all.*count += more.*count;
    for (const auto time : {&CodegenStatistics::plan_ns, &CodegenStatistics::cache_ns, &CodegenStatistics::generate_ns,
                            &CodegenStatistics::load_ns, &CodegenStatistics::library_ns, &CodegenStatistics::tune_ns})
      all.*time += more.*time;
    if (all.cache_off.empty()) all.cache_off = more.cache_off;
  }

  /// The kernel of a launch that runs other plans. Their code is shown as the launch's, kernel by kernel.
  std::unique_ptr<CompiledKernel> compile_bodies(const Plan& plan, size_t launch, const CompileOptions& options) {
    std::vector<std::vector<std::unique_ptr<CompiledKernel>>> bodies;
    for (const auto& body : std::get<ControlCall>(plan.launches[launch].work).bodies) {
      CpuCompiler compiler;
      bodies.push_back(compiler.compile(*body, options));
      add(of_bodies_, compiler.statistics());
      for (size_t i = 0; i < body->launches.size(); ++i)
        for (const CodeArtifact& code : compiler.artifacts(i)) show(artifacts_[launch], code);
    }
    return compile_control_call(plan, plan.launches[launch], std::move(bodies), options.threads);
  }

  /// Code behind that of the same kind.
  static void show(std::vector<CodeArtifact>& all, const CodeArtifact& code) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const CodeArtifact& a) { return a.kind == code.kind; });
    if (same == all.end()) return all.push_back(code);
    if (!same->text.ends_with('\n')) same->text += '\n';
    same->line_nodes.resize(static_cast<size_t>(std::count(same->text.begin(), same->text.end(), '\n')));
    same->text += code.text;
    same->line_nodes.insert(same->line_nodes.end(), code.line_nodes.begin(), code.line_nodes.end());
  }

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

  static std::vector<const Tensor*> constants_of(const Launch& launch, const std::vector<const Tensor*>& constants) {
    std::vector<const Tensor*> mine;
    for (int b : launch.buffers) mine.push_back(constants[b]);
    return mine;
  }

  /// One after the other: what is measured has the machine for itself.
  void tune_calls(const Plan& plan, std::vector<LibraryCall>& calls, const std::vector<const Tensor*>& constants,
                  const CompileOptions& options) {
    const int64_t start = now_ns();
    const auto cache = codegen::ObjectCache::from_environment();
    const auto tune = [&](size_t i, const LibraryCall& call) {
      return codegen::tune_library_call(call, constants_of(plan.launches[i], constants),
                                        is_aliased(plan, call, plan.launches[i]), host_target(), options, cache);
    };
    double last_ns = 0, first_ns = 0;  // of the calls that have a layout to choose, channels last and first
    std::vector<codegen::TunedCall> first(plan.launches.size());
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      const auto* planned = std::get_if<LibraryCall>(&plan.launches[i].work);
      if (!planned) continue;
      tuned_[i] = tune(i, calls[i]);
      if (!moved(*planned, calls[i])) continue;
      first[i] = tune(i, *planned);
      last_ns += tuned_[i].ns;
      first_ns += first[i].ns;
    }
    choose_layout(plan, calls, first, first_ns < 0.97 * last_ns);
    for (size_t i = 0; i < plan.launches.size(); ++i) keep_candidates(i, tuned_[i].candidates, tuned_[i].measured);
    statistics_.tune_ns += now_ns() - start;
  }

  static bool moved(const LibraryCall& planned, const LibraryCall& call) {
    const auto differ = [](const LibraryOperand& a, const LibraryOperand& b) { return a.strides != b.strides; };
    bool any = differ(planned.result, call.result);
    for (size_t o = 0; o < call.operands.size(); ++o) any = any || differ(planned.operands[o], call.operands[o]);
    return any;
  }

  /// The calls of a chain depend on each other's layout: all of them change, or none.
  void choose_layout(const Plan& plan, std::vector<LibraryCall>& calls, const std::vector<codegen::TunedCall>& first,
                     bool channels_first) {
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      if (first[i].candidates.empty()) continue;
      const auto name = [](std::vector<TuningCandidate> from, const char* layout, bool chosen,
                           std::vector<TuningCandidate>& to) {
        for (TuningCandidate& c : from) to.push_back({c.what + ", " + layout, c.ns, c.chosen && chosen});
      };
      std::vector<TuningCandidate> all;
      name(tuned_[i].candidates, "channels last", !channels_first, all);
      name(first[i].candidates, "channels first", channels_first, all);
      const bool measured = tuned_[i].measured || first[i].measured;
      if (channels_first) {
        calls[i] = std::get<LibraryCall>(plan.launches[i].work);
        tuned_[i] = first[i];
      }
      tuned_[i].measured = measured;
      tuned_[i].candidates = std::move(all);
    }
  }

  void keep_candidates(size_t launch, const std::vector<TuningCandidate>& found, bool measured) {
    if (found.empty()) return;
    candidates_[launch] = found;
    ++statistics_.tuned;
    statistics_.measured += measured;
  }

  /// Kernels with the schedules that were the fastest.
  std::vector<loop::Kernel> tune_loops(const Plan& plan, std::vector<const loop::Kernel*>& loops,
                                       const std::vector<size_t>& launch_of, const CompileOptions& options) {
    const int64_t start = now_ns();
    const auto found = codegen::tune_loops(loops, host_target(), options, codegen::ObjectCache::from_environment());
    std::vector<loop::Kernel> kernels;
    for (size_t k = 0; k < loops.size(); ++k) {
      kernels.push_back(std::get<loop::Kernel>(plan.launches[launch_of[k]].work));
      kernels.back().schedule = found[k].schedule;
      keep_candidates(launch_of[k], found[k].candidates, found[k].measured);
    }
    for (size_t k = 0; k < loops.size(); ++k) loops[k] = &kernels[k];
    statistics_.tune_ns += now_ns() - start;
    return kernels;
  }

  static CodeArtifact versions_artifact(const std::string& fixed, const Launch& launch) {
    CodeArtifact text{"versions", fixed + "\nother sizes: one kernel for all\n", {}};
    text.line_nodes.assign(2, launch.nodes);
    return text;
  }

  static CodeArtifact tuning_artifact(const std::vector<TuningCandidate>& candidates, const Launch& launch) {
    CodeArtifact text{"autotune", codegen::tuning_text(candidates), {}};
    text.line_nodes.assign(candidates.size(), launch.nodes);
    return text;
  }

  std::unique_ptr<CompiledKernel> compile_library(const Plan& plan, const LibraryCall& call, const Launch& launch,
                                                  const std::vector<const Tensor*>& constants,
                                                  const CompileOptions& options,
                                                  const std::shared_ptr<library::Scratch>& scratch, size_t index,
                                                  library::KnownBounds bounds, const std::vector<bool>& bounded) {
    const std::vector<const Tensor*> mine = constants_of(launch, constants);
    for (int b : launch.buffers) bounds.cells.push_back(bounded[b] ? b : -1);
    auto kernel = codegen::compile_tuned_call(tuned_[index], call, mine, options, scratch,
                                              is_aliased(plan, call, launch), std::move(bounds));
    if (options.keep_artifacts) {
      CodeArtifact text{"library", kernel->describe(), {}};
      const auto lines = std::count(text.text.begin(), text.text.end(), '\n');
      text.line_nodes.assign(static_cast<size_t>(lines), call.nodes);
      artifacts_[index].push_back(std::move(text));
      if (!candidates_[index].empty()) artifacts_[index].push_back(tuning_artifact(candidates_[index], launch));
    }
    return kernel;
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
  CodegenStatistics statistics_, of_bodies_;
  std::vector<std::vector<CodeArtifact>> artifacts_;
  std::vector<std::vector<TuningCandidate>> candidates_;  // per launch
  std::vector<codegen::TunedCall> tuned_;                 // per launch
};

}  // namespace

std::unique_ptr<KernelCompiler> make_cpu_compiler() { return std::make_unique<CpuCompiler>(); }

std::set<const Storage*> release_packed_constants(Plan& plan, std::span<const std::unique_ptr<CompiledKernel>> kernels,
                                                  const std::set<const Storage*>& kept) {
  std::set<const Storage*> needed = kept, candidates;
  std::vector<std::pair<library::LibraryKernel*, std::pair<int, const Storage*>>> readers;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    auto* kernel = dynamic_cast<library::LibraryKernel*>(kernels[i].get());
    for (size_t b = 0; b < plan.launches[i].buffers.size(); ++b) {
      const PlanBuffer& buffer = plan.buffers[plan.launches[i].buffers[b]];
      if (buffer.kind != PlanBuffer::Kind::Constant) continue;
      const Storage* storage = buffer.constant.storage.get();
      const bool packed = kernel && kernel->can_release(static_cast<int>(b));
      (packed ? candidates : needed).insert(storage);
      if (packed) readers.push_back({kernel, {static_cast<int>(b), storage}});
    }
  }
  for (const PlanOutput& o : plan.outputs)
    if (o.buffer >= 0) needed.insert(plan.buffers[o.buffer].constant.storage.get());
  for (const PlanSize& s : plan.sizes) needed.insert(plan.buffers[s.buffer].constant.storage.get());
  std::set<const Storage*> released;
  for (const Storage* s : candidates)
    if (!needed.contains(s)) released.insert(s);
  for (const auto& [kernel, reads] : readers)
    if (released.contains(reads.second)) kernel->release(reads.first);
  for (PlanBuffer& buffer : plan.buffers)
    if (released.contains(buffer.constant.storage.get())) buffer.constant.storage = std::make_shared<Storage>();
  return released;
}

std::vector<std::vector<std::unique_ptr<CompiledKernel>>> compile_together(std::span<const Plan* const> plans,
                                                                           const CompileOptions& options,
                                                                           CodegenStatistics* statistics) {
  CompileOptions plain = options;
  plain.keep_artifacts = false;
  plain.mode = "default";
  std::vector<std::vector<std::unique_ptr<CompiledKernel>>> all;
  // One plan of nothing but loops: whose they are does not matter to their code.
  Plan loops;
  std::vector<std::pair<size_t, size_t>> owners;  // plan, launch
  for (size_t p = 0; p < plans.size(); ++p) {
    all.push_back(CpuCompiler().compile_all_but_loops(*plans[p], plain));
    for (size_t i = 0; i < plans[p]->launches.size(); ++i) {
      const Launch& launch = plans[p]->launches[i];
      if (!std::holds_alternative<loop::Kernel>(launch.work)) continue;
      loops.launches.push_back({launch.name, launch.work, {}, {}, {}, {}, {}});
      owners.emplace_back(p, i);
    }
  }
  CpuCompiler compiler;
  std::vector<std::unique_ptr<CompiledKernel>> made(loops.launches.size());
  compiler.compile_loops(loops, plain, made);
  if (statistics) *statistics = compiler.statistics();
  for (size_t k = 0; k < made.size(); ++k) all[owners[k].first][owners[k].second] = std::move(made[k]);
  return all;
}

}  // namespace strata
