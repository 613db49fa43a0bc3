// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_jit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <numeric>
#include <thread>
#include <unordered_map>

#include "codegen/cpp_source.h"
#include "codegen/loop_object.h"
#include "codegen/loop_plan.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"

namespace strata::codegen {

namespace {

constexpr double kTaskNs = 20'000;  // less work than this is not worth waking a thread

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class LoopKernel : public CompiledKernel {
 public:
  LoopKernel(LoopFunction function, std::shared_ptr<LinkedCode> code, const KernelPlan& plan)
      : function_(function), code_(std::move(code)), name_(plan.kernel.name), ids_(plan.kernel.symbols) {
    const loop::Kernel& k = plan.kernel;
    points_ = 1;
    for (loop::AxisId a : k.outer) points_ = points_ * k.axes[a].extent;
    for (size_t n = 0; n < k.nests.size(); ++n) {
      SymInt iterations = 1;
      for (loop::AxisId a : k.nests[n].axes) iterations = iterations * k.axes[a].extent;
      costs_.emplace_back(plan.nests[n].cost, iterations);
    }
    serial_ = plan.serial;
    grain_ = k.schedule.grain;
    align_ = plan.lanes_are_points ? plan.lanes * plan.unroll : 1;
    values_.assign(ids_.size(), INT64_MIN);
  }

  void run(const LaunchArgs& args) override {
    bind(args.symbols);
    if (total_ <= 0) return;
    Context context{function_, args.buffers, values_.data()};
    if (serial_ || chunk_ >= total_ || args.threads == 1) return function_(args.buffers, values_.data(), 0, total_);
    parallel_for_raw(total_, chunk_, args.threads, &call, &context);
  }

 private:
  struct Context {
    LoopFunction function;
    std::byte* const* buffers;
    const int64_t* symbols;
  };
  static void call(void* context, int64_t begin, int64_t end) {
    auto* c = static_cast<Context*>(context);
    c->function(c->buffers, c->symbols, begin, end);
  }

  /// Sizes rarely change between calls: what follows from them is kept.
  void bind(const SymBindings& symbols) {
    bool same = bound_;
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (ids_[i] >= symbols.size() || !symbols[ids_[i]]) {
        throw_internal("kernel '" + name_ + "': size symbol " + std::to_string(ids_[i]) + " has no value");
      }
      same = same && values_[i] == *symbols[ids_[i]];
      values_[i] = *symbols[ids_[i]];
    }
    if (same) return;
    bound_ = true;
    auto points = evaluate(points_, symbols);
    if (!points) throw_internal("kernel '" + name_ + "': its extents depend on sizes that are not listed");
    total_ = *points;
    double cost = 1;
    for (const auto& [each, iterations] : costs_) {
      cost += each * static_cast<double>(std::max<int64_t>(evaluate(iterations, symbols).value_or(1), 1));
    }
    if (cost * static_cast<double>(total_) < 2 * kTaskNs) {
      chunk_ = total_;
    } else {
      chunk_ = std::max<int64_t>({grain_, static_cast<int64_t>(std::ceil(kTaskNs / cost)), 1});
      chunk_ = (chunk_ + align_ - 1) / align_ * align_;
    }
  }

  LoopFunction function_;
  std::shared_ptr<LinkedCode> code_;
  std::string name_;
  std::vector<size_t> ids_;
  std::vector<int64_t> values_;
  SymInt points_;
  std::vector<std::pair<double, SymInt>> costs_;
  bool serial_ = false, bound_ = false;
  int64_t grain_ = 0, align_ = 1, total_ = 0, chunk_ = 1;
};

size_t weight(const KernelPlan& plan) {
  size_t work = 4;
  for (size_t n = 0; n < plan.nests.size(); ++n) {
    size_t copies = static_cast<size_t>(plan.nests[n].unroll) + 1;
    work += (plan.kernel.nests[n].body.size() + 6) * copies * static_cast<size_t>(plan.unroll);
  }
  return work;
}

/// Splits kernels into groups of about equal weight, the heavy ones first.
std::vector<std::vector<size_t>> split(const std::vector<KernelPlan>& plans, const std::vector<size_t>& distinct,
                                       size_t groups) {
  std::vector<size_t> order = distinct;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weight(plans[a]) > weight(plans[b]); });
  groups = std::clamp<size_t>(groups, 1, std::max<size_t>(distinct.size(), 1));
  std::vector<std::vector<size_t>> out(groups);
  std::vector<size_t> load(groups, 0);
  for (size_t k : order) {
    size_t lightest = static_cast<size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    out[lightest].push_back(k);
    load[lightest] += weight(plans[k]);
  }
  return out;
}

std::string symbol_of(const loop::Kernel& kernel, size_t i) {
  std::string out;
  for (char c : kernel.name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out + "_k" + std::to_string(i);
}

}  // namespace

struct LoopJit::Impl {
  Target target;
  std::vector<KernelPlan> plans;
  std::vector<LoopFunction> functions;
  std::vector<std::vector<CodeArtifact>> artifacts;
  LoopJitStatistics statistics;

  std::vector<ObjectResult> build(const std::vector<std::vector<size_t>>& groups, bool keep) {
    std::vector<ObjectResult> results(groups.size());
    std::vector<std::exception_ptr> errors(groups.size());
    auto work = [&](size_t g) {
      try {
        std::vector<ObjectRequest> requests;
        for (size_t i : groups[g]) requests.push_back({&plans[i], symbol_of(plans[i].kernel, i)});
        results[g] = build_object(requests, target, keep);
      } catch (...) {
        errors[g] = std::current_exception();
      }
    };
    std::vector<std::thread> threads;
    for (size_t g = 1; g < groups.size(); ++g) threads.emplace_back(work, g);
    work(0);
    for (std::thread& t : threads) t.join();
    for (const std::exception_ptr& e : errors) {
      if (e) std::rethrow_exception(e);
    }
    return results;
  }

  void keep_texts(std::span<const loop::Kernel* const> kernels, const std::vector<std::vector<size_t>>& groups,
                  std::vector<ObjectResult>& objects, const std::vector<size_t>& twin) {
    artifacts.assign(kernels.size(), {});
    std::unordered_map<size_t, std::vector<CodeArtifact>> texts;
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t j = 0; j < groups[g].size(); ++j) texts[groups[g][j]] = objects[g].texts[j];
    }
    for (size_t i = 0; i < kernels.size(); ++i) {
      artifacts[i].push_back(loop_artifact(*kernels[i]));
      artifacts[i].push_back(emit_cpp(*kernels[i]));
      for (const CodeArtifact& a : texts[twin[i]]) artifacts[i].push_back(a);
    }
  }
};

LoopJit::LoopJit(const Target& target) : impl_(std::make_unique<Impl>()) { impl_->target = target; }
LoopJit::~LoopJit() = default;

std::vector<std::unique_ptr<CompiledKernel>> LoopJit::compile(std::span<const loop::Kernel* const> kernels,
                                                              const LoopJitOptions& options) {
  Impl& s = *impl_;
  s.plans.clear();
  s.functions.clear();
  s.artifacts.clear();
  s.statistics = {};
  int64_t start = now_ns();
  std::unordered_map<std::string, size_t> known;
  std::vector<size_t> twin(kernels.size()), distinct;
  // Planning may add symbols to the shape environment, so it stays in this thread.
  for (size_t i = 0; i < kernels.size(); ++i) {
    loop::verify_loop(*kernels[i]);
    // Lines lead to nodes, so with texts kept every kernel has code of its own.
    std::string key = options.keep_artifacts ? std::to_string(i) : fingerprint(*kernels[i]);
    twin[i] = known.emplace(key, i).first->second;
    if (twin[i] == i) distinct.push_back(i);
    s.plans.push_back(plan_kernel(*kernels[i], s.target));
  }
  int64_t planned = now_ns();
  std::vector<std::unique_ptr<CompiledKernel>> out;
  if (kernels.empty()) return out;
  int threads = options.threads > 0 ? options.threads : thread_count();
  auto groups = split(s.plans, distinct, static_cast<size_t>(threads));
  auto objects = s.build(groups, options.keep_artifacts);
  int64_t built = now_ns();
  auto code = link_objects(objects);
  for (size_t i = 0; i < kernels.size(); ++i) {
    size_t t = twin[i];
    auto function =
        t == i ? reinterpret_cast<LoopFunction>(code->address(symbol_of(s.plans[t].kernel, t))) : s.functions[t];
    s.functions.push_back(function);
    out.push_back(std::make_unique<LoopKernel>(function, code, s.plans[i]));
  }
  if (options.keep_artifacts) s.keep_texts(kernels, groups, objects, twin);
  int64_t end = now_ns();
  s.statistics = {kernels.size(),  distinct.size(), objects.size(), end - start,
                  planned - start, built - planned, end - built};
  return out;
}

std::vector<CodeArtifact> LoopJit::artifacts(size_t i) const {
  return i < impl_->artifacts.size() ? impl_->artifacts[i] : std::vector<CodeArtifact>{};
}

LoopFunction LoopJit::function(size_t i) const { return i < impl_->functions.size() ? impl_->functions[i] : nullptr; }

const LoopJitStatistics& LoopJit::statistics() const { return impl_->statistics; }

}  // namespace strata::codegen
