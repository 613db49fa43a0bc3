// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/tune_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <utility>

#include "core/runtime/parallel.h"

namespace strata::codegen {
namespace {

using library::LibraryChoice;
using library::LibraryKernel;

/// Our own kernels are not measured for calls in which they would be slow for sure, and take seconds.
constexpr double kMostOwnFlops = 2e7;

class OneThread : public LibraryKernel {
 public:
  explicit OneThread(std::unique_ptr<LibraryKernel> kernel) : kernel_(std::move(kernel)) {}
  void run(const LaunchArgs& args) override { kernel_->run({args.buffers, args.symbols, 1}); }
  std::vector<SymInt> strides_of(size_t buffer) const override { return kernel_->strides_of(buffer); }
  std::string describe() const override { return kernel_->describe() + "  on one thread\n"; }
  int64_t scratch_bytes(const SymBindings& symbols, int) override { return kernel_->scratch_bytes(symbols, 1); }
  void expect_scratch() override { kernel_->expect_scratch(); }
  bool can_release(int buffer) const override { return kernel_->can_release(buffer); }
  void release(int buffer) override { kernel_->release(buffer); }

 private:
  std::unique_ptr<LibraryKernel> kernel_;
};

bool is_fixed(const LibraryOperand& o) {
  const auto fixed = [](const SymInt& e) { return e.is_const(); };
  return std::all_of(o.shape.begin(), o.shape.end(), fixed) && std::all_of(o.strides.begin(), o.strides.end(), fixed) &&
         o.offset.is_const();
}

/// Elements from the buffer's start.
int64_t extent_of(const LibraryOperand& o) {
  int64_t last = o.offset.value();
  for (size_t d = 0; d < o.shape.size(); ++d) {
    if (o.shape[d].value() == 0) return 0;
    last += (o.shape[d].value() - 1) * o.strides[d].value();
  }
  return last + 1;
}

std::string text_of(const LibraryOperand& o) {
  std::string text = fmt::format("{} {} {}", o.buffer, static_cast<int>(o.dtype), o.constant);
  for (const SymInt& e : o.shape) text += fmt::format(",{}", e.value());
  for (const SymInt& e : o.strides) text += fmt::format(";{}", e.value());
  return text + fmt::format("+{}\n", o.offset.value());
}

/// Everything that the times depend on.
std::string key_of(const LibraryCall& c, bool aliased, int threads) {
  const dnnl_version_t* v = dnnl_version();
  std::string key = fmt::format("library {}.{}.{} {}\n{} {} {} {} {} {} {} {} {} {} {}\n", v->major, v->minor, v->patch,
                                v->hash, threads, aliased, c.kind, c.has_bias, c.alpha, c.beta, c.causal, c.has_mask,
                                c.mask_replaces, c.empty_rows_nan, c.groups);
  key += fmt::format("{} {} {} {}\n", c.stride, c.padding, c.dilation, c.output_padding);
  for (const PostOp& p : c.post_ops)
    key += fmt::format("{} {} {} {}\n", static_cast<int>(p.kind), p.alpha, p.beta, p.operand);
  for (const LibraryOperand& o : c.operands) key += text_of(o);
  return key + text_of(c.result);
}

class CallTuner {
 public:
  CallTuner(const LibraryCall& call, std::span<const Tensor* const> constants, bool aliased,
            const CompileOptions& options)
      : call_(call),
        constants_(constants),
        aliased_(aliased),
        options_(options),
        threads_(options.threads > 0 ? options.threads : thread_count()) {}

  /// Nothing if the buffers cannot be made up.
  std::optional<TuningRecord> run() {
    if (!make_buffers()) return std::nullopt;
    add("library", LibraryChoice::Library, threads_);
    if (threads_ > 1) add("library, one thread", LibraryChoice::Library, 1);
    const bool has_own = call_.kind != "attention" && (!call_.flops.is_const() || flops() <= kMostOwnFlops);
    if (has_own) add("own kernel", LibraryChoice::Own, threads_);
    if (has_own && threads_ > 1) add("own kernel, one thread", LibraryChoice::Own, 1);
    std::vector<std::function<void()>> calls;
    for (const Variant& v : variants_) {
      calls.push_back([this, &v] { v.kernel->run({buffers_.pointers(), no_symbols_, v.threads}); });
    }
    const std::vector<double> times = measure(calls, options_);
    const size_t best = best_of(times);
    TuningRecord record{{variants_[best].choice == LibraryChoice::Own, variants_[best].threads == 1 && threads_ > 1},
                        {}};
    for (size_t i = 0; i < times.size(); ++i) record.candidates.push_back({variants_[i].what, times[i], i == best});
    return record;
  }

 private:
  struct Variant {
    std::string what;
    LibraryChoice choice;
    int threads;
    std::unique_ptr<LibraryKernel> kernel;
  };

  double flops() const { return static_cast<double>(call_.flops.value()); }

  bool make_buffers() {
    std::vector<std::pair<DType, int64_t>> needed(constants_.size(), {DType::F32, 0});
    const auto need = [&](const LibraryOperand& o) {
      auto& [dtype, elements] = needed[static_cast<size_t>(o.buffer)];
      dtype = o.dtype;
      elements = std::max(elements, extent_of(o));
    };
    for (const LibraryOperand& o : call_.operands) need(o);
    need(call_.result);
    int64_t total = 0;
    for (const auto& [dtype, elements] : needed) total += elements * static_cast<int64_t>(dtype_size(dtype));
    if (total > kMostMeasuredBytes) return false;
    for (size_t i = 0; i < needed.size(); ++i) {
      if (constants_[i])
        buffers_.add(constants_[i]->data());
      else
        buffers_.add(needed[i].first, needed[i].second);
    }
    return true;
  }

  /// Unless it comes to the same as the first.
  void add(const std::string& what, LibraryChoice choice, int threads) {
    CompileOptions options = options_;
    options.threads = threads;
    auto kernel = library::compile_library_call(call_, constants_, options, std::make_shared<library::Scratch>(),
                                                aliased_, {}, choice);
    const bool other_kernel = choice != LibraryChoice::Library;
    if (other_kernel && kernel->describe() == variants_.front().kernel->describe()) return;
    variants_.push_back({what, choice, threads, std::move(kernel)});
  }

  const LibraryCall& call_;
  std::span<const Tensor* const> constants_;
  bool aliased_;
  const CompileOptions& options_;
  const int threads_;
  const SymBindings no_symbols_;
  MadeUpBuffers buffers_;
  std::vector<Variant> variants_;
};

bool can_measure(const LibraryCall& call) {
  return is_fixed(call.result) && std::all_of(call.operands.begin(), call.operands.end(), is_fixed) &&
         extent_of(call.result) > 0;
}

}  // namespace

TunedCall tune_library_call(const LibraryCall& call, std::span<const Tensor* const> constants, bool aliased,
                            const Target& target, const CompileOptions& options, const ObjectCache& cache) {
  TunedCall out;
  if (!can_measure(call)) return out;
  const std::string key = key_of(call, aliased, options.threads > 0 ? options.threads : thread_count());
  std::optional<TuningRecord> record = load_tuning(cache, key, target);
  out.measured = !record || record->choice.size() != 2 || record->candidates.empty();
  if (out.measured) {
    if (options.progress) options.progress("measuring " + call.name);
    record = CallTuner(call, constants, aliased, options).run();
    if (record) store_tuning(cache, key, target, *record);
  }
  if (!record) return {};
  out.choice = record->choice[0] != 0 ? LibraryChoice::Own : LibraryChoice::Library;
  out.one_thread = record->choice[1] != 0;
  out.candidates = std::move(record->candidates);
  for (const TuningCandidate& c : out.candidates)
    if (c.chosen) out.ns = c.ns;
  return out;
}

std::unique_ptr<LibraryKernel> compile_tuned_call(const TunedCall& tuned, const LibraryCall& call,
                                                  std::span<const Tensor* const> constants,
                                                  const CompileOptions& options,
                                                  std::shared_ptr<library::Scratch> scratch, bool aliased,
                                                  library::KnownBounds bounds) {
  CompileOptions mine = options;
  if (tuned.one_thread) mine.threads = 1;
  auto kernel = library::compile_library_call(call, constants, mine, std::move(scratch), aliased, std::move(bounds),
                                              tuned.choice);
  if (!tuned.one_thread) return kernel;
  return std::make_unique<OneThread>(std::move(kernel));
}

}  // namespace strata::codegen
