// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_jit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <optional>
#include <thread>
#include <unordered_map>

#include "codegen/cpp_source.h"
#include "codegen/loop_object.h"
#include "codegen/loop_plan.h"
#include "codegen/loop_split.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"

namespace strata::codegen {

namespace {

constexpr double kTaskNs = 20'000;  // less work than this is not worth waking a thread

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Iterations of a nest for one outer point, as far as they are known.
SymInt iterations_of(const loop::Kernel& k, const loop::Nest& nest) {
  SymInt out = 1;
  for (loop::AxisId a : nest.axes) out = out * k.axes[a].extent;
  return out;
}

class LoopKernel : public CompiledKernel {
 public:
  LoopKernel(LoopFunction function, std::shared_ptr<LinkedCode> code, const KernelPlan& plan)
      : function_(function), code_(std::move(code)), name_(plan.kernel.name), ids_(plan.kernel.symbols) {
    const loop::Kernel& k = plan.kernel;
    points_ = 1;
    for (loop::AxisId a : k.outer) points_ = points_ * k.axes[a].extent;
    for (size_t n = 0; n < k.nests.size(); ++n) {
      costs_.emplace_back(plan.nests[n].cost, iterations_of(k, k.nests[n]));
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
      // Extents that depend on the outer point are those of cut reductions, which are long.
      cost += each * static_cast<double>(std::max<int64_t>(evaluate(iterations, symbols).value_or(1 << 16), 1));
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

/// A reduction in two launches, with the partial results between them.
class SplitKernel : public CompiledKernel {
 public:
  SplitKernel(std::unique_ptr<CompiledKernel> partial, std::unique_ptr<CompiledKernel> combine, size_t buffers,
              const std::vector<size_t>& scratch)
      : partial_(std::move(partial)), combine_(std::move(combine)), buffers_(buffers) {
    size_t total = 0;
    for (size_t bytes : scratch) total += (bytes + 63) / 64 * 64;
    memory_ = std::make_unique<std::byte[]>(total);
    places_.resize(buffers);
    size_t at = 0;
    for (size_t bytes : scratch) {
      places_.push_back(memory_.get() + at);
      at += (bytes + 63) / 64 * 64;
    }
  }

  void run(const LaunchArgs& args) override {
    std::copy_n(args.buffers, buffers_, places_.begin());
    partial_->run({places_.data(), args.symbols, args.threads});
    combine_->run({places_.data(), args.symbols, args.threads});
  }

 private:
  std::unique_ptr<CompiledKernel> partial_, combine_;
  size_t buffers_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<std::byte*> places_;
};

size_t weight(const KernelPlan& plan) {
  size_t work = 4;
  for (size_t n = 0; n < plan.nests.size(); ++n) {
    size_t copies = static_cast<size_t>(plan.nests[n].unroll) + 1;
    work += (plan.kernel.nests[n].body.size() + 6) * copies * static_cast<size_t>(plan.unroll);
  }
  return work;
}

std::string symbol_of(const loop::Kernel& kernel, size_t i) {
  std::string out;
  for (char c : kernel.name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out + "_k" + std::to_string(i);
}

/// One function to generate; a cut kernel has two.
struct Unit {
  size_t kernel;  ///< among those given
  size_t twin;    ///< the unit whose code it uses
  KernelPlan plan;
};

/// Splits units into groups of about equal weight, the heavy ones first.
std::vector<std::vector<size_t>> split(const std::vector<Unit>& units, const std::vector<size_t>& distinct,
                                       size_t groups) {
  std::vector<size_t> order = distinct;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weight(units[a].plan) > weight(units[b].plan); });
  groups = std::clamp<size_t>(groups, 1, std::max<size_t>(distinct.size(), 1));
  std::vector<std::vector<size_t>> out(groups);
  std::vector<size_t> load(groups, 0);
  for (size_t u : order) {
    auto lightest = static_cast<size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    out[lightest].push_back(u);
    load[lightest] += weight(units[u].plan);
  }
  return out;
}

}  // namespace

struct LoopJit::Impl {
  Target target;
  std::vector<Unit> units;
  std::vector<LoopFunction> functions;  // per kernel
  std::vector<std::vector<CodeArtifact>> artifacts;
  LoopJitStatistics statistics;
  std::unordered_map<std::string, size_t> known;
  std::vector<size_t> distinct;

  void reset() {
    units.clear();
    functions.clear();
    artifacts.clear();
    known.clear();
    distinct.clear();
    statistics = {};
  }

  void add_unit(size_t kernel, const loop::Kernel& k, bool keep) {
    size_t unit = units.size();
    // Lines lead to nodes, so with texts kept every kernel has code of its own.
    std::string key = keep ? std::to_string(unit) : fingerprint(k);
    size_t twin = known.emplace(std::move(key), unit).first->second;
    if (twin == unit) distinct.push_back(unit);
    units.push_back({kernel, twin, plan_kernel(k, target)});
  }

  std::vector<ObjectResult> build(const std::vector<std::vector<size_t>>& groups, bool keep) {
    std::vector<ObjectResult> results(groups.size());
    std::vector<std::exception_ptr> errors(groups.size());
    auto work = [&](size_t g) {
      try {
        std::vector<ObjectRequest> requests;
        for (size_t u : groups[g]) requests.push_back({&units[u].plan, symbol_of(units[u].plan.kernel, u)});
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
                  std::vector<ObjectResult>& objects) {
    artifacts.assign(kernels.size(), {});
    for (size_t i = 0; i < kernels.size(); ++i) artifacts[i] = {loop_artifact(*kernels[i]), emit_cpp(*kernels[i])};
    std::vector<std::vector<CodeArtifact>*> texts(units.size(), nullptr);
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t j = 0; j < groups[g].size(); ++j) texts[groups[g][j]] = &objects[g].texts[j];
    }
    for (size_t u = 0; u < units.size(); ++u) {
      for (CodeArtifact& text : *texts[u]) append_text(artifacts[units[u].kernel], text);
    }
  }

  /// The two functions of a cut kernel stand one after the other in one text.
  static void append_text(std::vector<CodeArtifact>& to, const CodeArtifact& text) {
    auto same = std::find_if(to.begin(), to.end(), [&](const CodeArtifact& a) { return a.kind == text.kind; });
    if (same == to.end()) return to.push_back(text);
    same->line_nodes.resize(static_cast<size_t>(std::count(same->text.begin(), same->text.end(), '\n')));
    same->text += text.text;
    same->line_nodes.insert(same->line_nodes.end(), text.line_nodes.begin(), text.line_nodes.end());
  }
};

LoopJit::LoopJit(const Target& target) : impl_(std::make_unique<Impl>()) { impl_->target = target; }
LoopJit::~LoopJit() = default;

std::vector<std::unique_ptr<CompiledKernel>> LoopJit::compile(std::span<const loop::Kernel* const> kernels,
                                                              const LoopJitOptions& options) {
  Impl& s = *impl_;
  s.reset();
  const int64_t start = now_ns();
  std::vector<std::optional<SplitReduction>> splits;
  // Planning may add symbols to the shape environment, so it stays in this thread.
  for (size_t i = 0; i < kernels.size(); ++i) {
    loop::verify_loop(*kernels[i]);
    splits.push_back(split_reduction(*kernels[i]));
    if (splits[i]) {
      s.add_unit(i, splits[i]->partial, options.keep_artifacts);
      s.add_unit(i, splits[i]->combine, options.keep_artifacts);
    } else {
      s.add_unit(i, *kernels[i], options.keep_artifacts);
    }
  }
  std::vector<std::unique_ptr<CompiledKernel>> out;
  if (kernels.empty()) return out;
  const int64_t planned = now_ns();
  const int threads = options.threads > 0 ? options.threads : thread_count();
  const auto groups = split(s.units, s.distinct, static_cast<size_t>(threads));
  auto objects = s.build(groups, options.keep_artifacts);
  const int64_t built = now_ns();
  auto code = link_objects(objects);
  std::vector<LoopFunction> linked;
  for (size_t u = 0; u < s.units.size(); ++u) {
    const Unit& unit = s.units[u];
    void* found = unit.twin == u ? code->address(symbol_of(unit.plan.kernel, u)) : nullptr;
    linked.push_back(found ? reinterpret_cast<LoopFunction>(found) : linked[unit.twin]);
    auto made = std::make_unique<LoopKernel>(linked[u], code, unit.plan);
    const size_t i = unit.kernel;
    if (!splits[i]) {
      out.push_back(std::move(made));
    } else if (out.size() == i) {
      out.push_back(std::move(made));  // the first half waits here for the second
    } else {
      out[i] = std::make_unique<SplitKernel>(std::move(out[i]), std::move(made), kernels[i]->buffers.size(),
                                             splits[i]->scratch);
    }
    if (s.functions.size() <= i) s.functions.push_back(splits[i] ? nullptr : linked[u]);
  }
  if (options.keep_artifacts) s.keep_texts(kernels, groups, objects);
  const int64_t end = now_ns();
  s.statistics = {kernels.size(),  s.distinct.size(), objects.size(), end - start,
                  planned - start, built - planned,   end - built};
  return out;
}

std::vector<CodeArtifact> LoopJit::artifacts(size_t i) const {
  return i < impl_->artifacts.size() ? impl_->artifacts[i] : std::vector<CodeArtifact>{};
}

LoopFunction LoopJit::function(size_t i) const { return i < impl_->functions.size() ? impl_->functions[i] : nullptr; }

const LoopJitStatistics& LoopJit::statistics() const { return impl_->statistics; }

}  // namespace strata::codegen
