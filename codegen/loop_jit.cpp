// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_jit.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <optional>
#include <thread>
#include <unordered_map>

#include "codegen/cpp_source.h"
#include "codegen/kernel_code.h"
#include "codegen/kernel_key.h"
#include "codegen/loop_lines.h"
#include "codegen/loop_object.h"
#include "codegen/loop_plan.h"
#include "codegen/loop_split.h"
#include "codegen/loop_versions.h"
#include "codegen/object_cache.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"

namespace strata::codegen {

namespace {

constexpr double kTaskNs = 4'000;  // less work than this is not worth waking a thread

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

SymInt points_of(const loop::Kernel& k) {
  SymInt out = 1;
  for (loop::AxisId a : k.outer) out = out * k.axes[a].extent;
  return out;
}

class LoopKernel : public CompiledKernel {
 public:
  LoopKernel(LoopFunction function, std::shared_ptr<LoadedCode> code, const KernelPlan& plan)
      : function_(function), code_(std::move(code)), name_(plan.kernel.name), ids_(plan.kernel.symbols) {
    const loop::Kernel& k = plan.kernel;
    points_ = points_of(k);
    for (size_t n = 0; n < k.nests.size(); ++n) {
      costs_.emplace_back(plan.nests[n].cost, iterations_of(k, k.nests[n]));
    }
    serial_ = plan.serial;
    grain_ = k.schedule.grain;
    align_ = plan.lanes_are_points ? plan.lanes * plan.unroll : 1;
    values_.assign(ids_.size(), INT64_MIN);
    checks_ = k.checks;
    cells_.assign(2 * checks_.size(), 0);
    if (!checks_.empty()) values_.push_back(static_cast<int64_t>(reinterpret_cast<intptr_t>(cells_.data())));
  }

  void run(const LaunchArgs& args) override {
    bind(args.symbols);
    if (total_ <= 0) return;
    if (serial_ || chunk_ >= total_ || args.threads == 1) {
      function_(args.buffers, values_.data(), 0, total_);
    } else {
      // In whole vectors: where a thread begins, stores are as aligned as at the start.
      parallel_for_raw((total_ + align_ - 1) / align_, chunk_ / align_, args.threads, [&](int64_t begin, int64_t end) {
        function_(args.buffers, values_.data(), begin * align_, std::min(end * align_, total_));
      });
    }
    if (!checks_.empty()) look_for_violations(args.symbols);
  }

 private:
  void look_for_violations(const SymBindings& symbols) {
    for (size_t i = 0; i < checks_.size(); ++i) {
      if (cells_[2 * i] == 0) continue;
      const int64_t value = cells_[2 * i + 1];
      std::fill(cells_.begin(), cells_.end(), 0);
      loop::throw_violation(checks_[i], value, evaluate(checks_[i].size, symbols).value_or(0));
    }
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
    if (grain_ > 0)
      chunk_ = grain_;
    else if (cost * static_cast<double>(total_) < 2 * kTaskNs)
      chunk_ = total_;
    else
      chunk_ = std::max<int64_t>(static_cast<int64_t>(std::ceil(kTaskNs / cost)), 1);
    if (chunk_ < total_) chunk_ = (chunk_ + align_ - 1) / align_ * align_;
  }

  LoopFunction function_;
  std::shared_ptr<LoadedCode> code_;
  std::string name_;
  std::vector<size_t> ids_;
  std::vector<int64_t> values_;  ///< of the symbols; behind them the address of `cells_`, if there are checks
  std::vector<loop::Check> checks_;
  std::vector<int64_t> cells_;
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

/// Two versions of one kernel: calls with the sizes of the first run it, all others the second.
class VersionedKernel : public CompiledKernel {
 public:
  VersionedKernel(FixedSizes sizes, std::unique_ptr<CompiledKernel> fixed, std::unique_ptr<CompiledKernel> any)
      : sizes_(std::move(sizes)), fixed_(std::move(fixed)), any_(std::move(any)) {}

  void run(const LaunchArgs& args) override {
    const bool fits = std::all_of(sizes_.begin(), sizes_.end(), [&](const auto& size) {
      return size.first < args.symbols.size() && args.symbols[size.first] == size.second;
    });
    (fits ? fixed_ : any_)->run(args);
  }

 private:
  FixedSizes sizes_;
  std::unique_ptr<CompiledKernel> fixed_, any_;
};

size_t weight(const KernelPlan& plan) {
  size_t work = 4;
  for (size_t n = 0; n < plan.nests.size(); ++n) {
    size_t copies = static_cast<size_t>(plan.nests[n].unroll) + 1;
    work += (plan.kernel.nests[n].body.size() + 6) * copies * static_cast<size_t>(plan.unroll);
  }
  return work;
}

std::string symbol_of(const loop::Kernel& kernel) {
  std::string out = "strata_";
  for (char c : kernel.name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

/// What one compiled kernel is made of: a kernel as given, or its version for some sizes.
struct Part {
  size_t kernel;                        ///< among those given
  std::optional<LoopVersion> version;   ///< none: for all sizes
  std::optional<SplitReduction> split;  ///< none: one function
  std::vector<size_t> units;            ///< one, or two of a cut kernel
};

/// One function.
struct Unit {
  size_t kernel;  ///< among those given
  size_t code;    ///< among the distinct ones
  KernelPlan plan;
};

/// What units with one key share.
struct Distinct {
  std::string key;
  size_t unit;  ///< the first that has it
  Sha256Digest entry{};
  bool cached = false;
};

/// The text as this kernel's: with its name and its nodes.
CodeArtifact artifact_of(const KernelText& text, const std::string& symbol, const loop::Kernel& kernel) {
  const std::vector<uint64_t> nodes = kernel_lines(kernel);
  CodeArtifact out{text.kind, text.text, {}};
  const std::string name = symbol_of(kernel);
  for (size_t at = 0; name != symbol && (at = out.text.find(symbol, at)) != std::string::npos; at += name.size())
    out.text.replace(at, symbol.size(), name);
  for (const std::vector<uint32_t>& entries : text.lines) {
    out.line_nodes.emplace_back();
    for (uint32_t e : entries)
      if (e > 0 && e <= nodes.size()) out.line_nodes.back().push_back(static_cast<NodeId>(nodes[e - 1]));
  }
  return out;
}

}  // namespace

struct LoopJit::Impl {
  Target target;
  ObjectCache cache;
  std::vector<Part> parts;  // those for all sizes first, in the kernels' order
  std::vector<Unit> units;
  std::vector<Distinct> distinct;
  std::vector<KernelCode> codes;        // per distinct
  std::vector<LoopFunction> functions;  // per kernel
  std::vector<SymInt> points;           // per kernel
  std::vector<bool> cached;             // per kernel
  std::vector<std::vector<CodeArtifact>> artifacts;
  LoopJitStatistics statistics;
  std::unordered_map<std::string, size_t> known;

  void reset() {
    parts.clear();
    units.clear();
    distinct.clear();
    codes.clear();
    functions.clear();
    points.clear();
    cached.clear();
    artifacts.clear();
    known.clear();
    statistics = {};
  }

  void add_unit(Part& part, const loop::Kernel& k, bool keep) {
    KernelPlan plan = plan_kernel(k, target);
    const auto [it, is_new] = known.emplace(code_key(plan, keep), distinct.size());
    if (is_new) distinct.push_back({it->first, units.size()});
    part.units.push_back(units.size());
    units.push_back({part.kernel, it->second, std::move(plan)});
  }

  void add_part(Part part, const loop::Kernel& k, bool keep) {
    part.split = split_reduction(k, target);
    if (part.split) {
      add_unit(part, part.split->partial, keep);
      add_unit(part, part.split->combine, keep);
    } else {
      add_unit(part, k, keep);
    }
    parts.push_back(std::move(part));
  }

  /// Planning may add symbols to the shape environment, so it stays in the caller's thread.
  void plan(std::span<const loop::Kernel* const> kernels, const LoopJitOptions& options) {
    for (size_t i = 0; i < kernels.size(); ++i) {
      loop::verify_loop(*kernels[i]);
      add_part({i, {}, {}, {}}, *kernels[i], options.keep_artifacts);
    }
    for (size_t i = 0; options.versions && i < kernels.size(); ++i) {
      std::optional<LoopVersion> version = version_for_hints(*kernels[i]);
      if (!version) continue;
      loop::verify_loop(version->kernel);
      const loop::Kernel kernel = version->kernel;
      add_part({i, std::move(version), {}, {}}, kernel, options.keep_artifacts);
      ++statistics.versions;
    }
  }

  std::unique_ptr<CompiledKernel> make(const Part& part, size_t buffers, const std::shared_ptr<LoadedCode>& code) {
    const auto function_of = [&](size_t u) {
      const Unit& unit = units[part.units[u]];
      cached[part.kernel] = cached[part.kernel] && distinct[unit.code].cached;
      const auto function = reinterpret_cast<LoopFunction>(code->function(unit.code));
      return std::make_unique<LoopKernel>(function, code, unit.plan);
    };
    if (!part.split) return function_of(0);
    return std::make_unique<SplitKernel>(function_of(0), function_of(1), buffers, part.split->scratch);
  }

  std::vector<std::unique_ptr<CompiledKernel>> make_all(std::span<const loop::Kernel* const> kernels,
                                                        const std::shared_ptr<LoadedCode>& code) {
    std::vector<std::unique_ptr<CompiledKernel>> out;
    cached.assign(kernels.size(), true);
    for (Part& part : parts) {
      auto made = make(part, kernels[part.kernel]->buffers.size(), code);
      if (part.version) {
        auto& any = out[part.kernel];
        any = std::make_unique<VersionedKernel>(part.version->sizes, std::move(made), std::move(any));
        continue;
      }
      out.push_back(std::move(made));
      const Unit& first = units[part.units[0]];
      functions.push_back(part.split ? nullptr : reinterpret_cast<LoopFunction>(code->function(first.code)));
      points.push_back(points_of(first.plan.kernel));
    }
    return out;
  }

  void open_cache(bool wanted) {
    cache = wanted ? ObjectCache::from_environment() : ObjectCache();
    if (build_identity().empty()) cache = ObjectCache();
    statistics.cache_off = cache.why_off();
  }

  /// Takes what the cache has.
  void load() {
    codes.resize(distinct.size());
    if (!cache.is_on()) return;
    for (size_t d = 0; d < distinct.size(); ++d) {
      if (!is_portable(distinct[d].key)) continue;
      distinct[d].entry = entry_key(distinct[d].key, target);
      const auto found = cache.load(distinct[d].entry);
      distinct[d].cached = found && unpack_code(*found, codes[d]) && LoadedCode::can_load(codes[d]);
    }
  }

  /// Generates the rest, the heavy ones first. A thread takes the next one when it is done with one.
  void build(size_t threads, bool keep) {
    std::vector<size_t> missing;
    for (size_t d = 0; d < distinct.size(); ++d)
      if (!distinct[d].cached) missing.push_back(d);
    const auto weight_of = [&](size_t d) { return weight(units[distinct[d].unit].plan); };
    std::stable_sort(missing.begin(), missing.end(), [&](size_t a, size_t b) { return weight_of(a) > weight_of(b); });
    std::atomic<size_t> next{0};
    std::vector<std::exception_ptr> errors(std::min(threads, missing.size()));
    const auto work = [&](size_t thread) {
      try {
        CodeBuilder builder(target);
        for (size_t i; (i = next++) < missing.size();) generate(missing[i], builder, keep);
      } catch (...) {
        errors[thread] = std::current_exception();
      }
    };
    std::vector<std::thread> workers;
    for (size_t t = 1; t < errors.size(); ++t) workers.emplace_back(work, t);
    if (!errors.empty()) work(0);
    for (std::thread& t : workers) t.join();
    for (const std::exception_ptr& e : errors) {
      if (e) std::rethrow_exception(e);
    }
    statistics.generated = missing.size();
  }

  void generate(size_t d, CodeBuilder& builder, bool keep) {
    const KernelPlan& plan = units[distinct[d].unit].plan;
    codes[d] = builder.build(plan, symbol_of(plan.kernel), keep);
    if (cache.is_on() && is_portable(distinct[d].key)) cache.store(distinct[d].entry, pack_code(codes[d]));
  }

  void keep_texts(std::span<const loop::Kernel* const> kernels) {
    artifacts.assign(kernels.size(), {});
    for (size_t i = 0; i < kernels.size(); ++i) artifacts[i] = {loop_artifact(*kernels[i]), emit_cpp(*kernels[i])};
    for (const Part& part : parts)
      if (part.version) append_text(artifacts[part.kernel], loop_artifact(part.version->kernel));
    for (const Unit& unit : units) {
      const KernelCode& code = codes[unit.code];
      for (const KernelText& text : code.texts)
        append_text(artifacts[unit.kernel], artifact_of(text, code.symbol, unit.plan.kernel));
    }
  }

  /// The functions of a cut kernel and of its versions stand one after the other in one text.
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
  s.plan(kernels, options);
  if (kernels.empty()) return {};
  const int64_t planned = now_ns();
  s.open_cache(options.cache);
  s.load();
  const int64_t looked_up = now_ns();
  s.build(static_cast<size_t>(options.threads > 0 ? options.threads : thread_count()), options.keep_artifacts);
  const int64_t built = now_ns();
  const auto code = std::make_shared<LoadedCode>(s.codes);
  std::vector<std::unique_ptr<CompiledKernel>> out = s.make_all(kernels, code);
  if (options.keep_artifacts) s.keep_texts(kernels);
  const int64_t end = now_ns();
  LoopJitStatistics& n = s.statistics;
  n.kernels = kernels.size();
  n.distinct = s.distinct.size();
  n.from_cache = n.distinct - n.generated;
  n.total_ns = end - start;
  n.plan_ns = planned - start;
  n.cache_ns = looked_up - planned;
  n.build_ns = built - looked_up;
  n.link_ns = end - built;
  return out;
}

std::string LoopJit::version(size_t i) const {
  for (const Part& part : impl_->parts)
    if (part.kernel == i && part.version) return part.version->reason;
  return {};
}

bool LoopJit::from_cache(size_t i) const { return i < impl_->cached.size() && impl_->cached[i]; }

std::vector<CodeArtifact> LoopJit::artifacts(size_t i) const {
  return i < impl_->artifacts.size() ? impl_->artifacts[i] : std::vector<CodeArtifact>{};
}

LoopFunction LoopJit::function(size_t i) const { return i < impl_->functions.size() ? impl_->functions[i] : nullptr; }

SymInt LoopJit::points(size_t i) const { return i < impl_->points.size() ? impl_->points[i] : SymInt(0); }

const LoopJitStatistics& LoopJit::statistics() const { return impl_->statistics; }

}  // namespace strata::codegen
