// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <sstream>

#include "codegen/loop_object.h"
#include "core/support/error.h"

namespace strata::codegen {
namespace {

constexpr double kTurnNs = 20'000;       // calls of one turn take so long together, or one call does
constexpr double kEnoughNs = 4'000'000;  // per candidate
constexpr int kLeastTurns = 4, kMostTurns = 40;
constexpr double kFarBehind = 2, kClearlyFaster = 0.97;
constexpr const char* kFirstLine = "strata tuning 1";

double clock_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

/// Per call.
double time_calls(const std::function<void()>& call, int64_t count) {
  const double start = clock_ns();
  for (int64_t i = 0; i < count; ++i) call();
  return (clock_ns() - start) / static_cast<double>(count);
}

void check_cancelled(const CompileOptions& options) {
  if (options.cancelled && options.cancelled()) throw_user("cancelled while measuring candidates");
}

Sha256Digest key_of(const std::string& key, const Target& target) {
  return sha256(fmt::format("tuning\n{}\n{}\n{}\n{}\n{}\n{}", build_identity(), code_generator_version(), target.cpu,
                            target.features, target.vector_bits, key));
}

std::optional<TuningRecord> parse(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  if (!std::getline(in, line) || line != kFirstLine) return std::nullopt;
  TuningRecord record;
  size_t numbers = 0, candidates = 0;
  if (!(in >> numbers >> candidates) || numbers > 64 || candidates > 4096) return std::nullopt;
  for (int64_t v; record.choice.size() < numbers && in >> v;) record.choice.push_back(v);
  for (TuningCandidate c; record.candidates.size() < candidates && in >> c.chosen >> c.ns;) {
    if (in.get() != ' ' || !std::getline(in, c.what)) return std::nullopt;
    record.candidates.push_back(c);
  }
  if (record.choice.size() != numbers || record.candidates.size() != candidates) return std::nullopt;
  return record;
}

}  // namespace

void MadeUpBuffers::add(DType dtype, int64_t elements) {
  Tensor t = is_floating(dtype) ? Tensor::empty(dtype, {elements}) : Tensor::full(dtype, {elements}, 0);
  if (is_floating(dtype)) {
    const auto item = static_cast<int64_t>(dtype_size(dtype));
    constexpr int64_t kPeriod = 1021;
    for (int64_t i = 0; i < std::min(elements, kPeriod); ++i)
      store_from_double(dtype, t.data() + i * item, 0.5 + static_cast<double>(i * 383 % kPeriod) / (2 * kPeriod));
    for (int64_t done = kPeriod; done < elements; done *= 2)
      std::copy_n(t.data(), std::min(done, elements - done) * item, t.data() + done * item);
  }
  pointers_.push_back(t.data());
  owned_.push_back(std::move(t));
}

std::vector<double> measure(std::span<const std::function<void()>> calls, const CompileOptions& options) {
  std::vector<double> best(calls.size());
  std::vector<int64_t> count(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    check_cancelled(options);
    calls[i]();  // what is done once: pages, primitives
    best[i] = time_calls(calls[i], 1);
    count[i] = std::clamp<int64_t>(static_cast<int64_t>(kTurnNs / std::max(best[i], 1.0)), 1, 1000);
  }
  double spent = 0;
  for (int turn = 0; turn < kMostTurns && (turn < kLeastTurns || spent < kEnoughNs * static_cast<double>(calls.size()));
       ++turn) {
    check_cancelled(options);
    const double least = *std::min_element(best.begin(), best.end());
    for (size_t i = 0; i < calls.size(); ++i) {
      if (best[i] > kFarBehind * least) continue;
      const double ns = time_calls(calls[i], count[i]);
      spent += ns * static_cast<double>(count[i]);
      best[i] = std::min(best[i], ns);
    }
  }
  for (double& ns : best) ns = std::round(ns * 10) / 10;  // as they are kept on disk
  return best;
}

size_t best_of(std::span<const double> times) {
  const auto least = static_cast<size_t>(std::min_element(times.begin(), times.end()) - times.begin());
  return times[least] < kClearlyFaster * times[0] ? least : 0;
}

std::optional<TuningRecord> load_tuning(const ObjectCache& cache, const std::string& key, const Target& target) {
  const auto found = cache.load(key_of(key, target));
  if (!found) return std::nullopt;
  return parse({reinterpret_cast<const char*>(found->data()), found->size()});
}

void store_tuning(const ObjectCache& cache, const std::string& key, const Target& target, const TuningRecord& record) {
  std::string text = fmt::format("{}\n{} {}\n", kFirstLine, record.choice.size(), record.candidates.size());
  for (int64_t v : record.choice) text += fmt::format("{}\n", v);
  for (const TuningCandidate& c : record.candidates)
    text += fmt::format("{} {:.1f} {}\n", c.chosen ? 1 : 0, c.ns, c.what);
  cache.store(key_of(key, target), std::as_bytes(std::span(text.data(), text.size())));
}

std::string tuning_text(const std::vector<TuningCandidate>& candidates) {
  std::vector<const TuningCandidate*> sorted;
  for (const TuningCandidate& c : candidates) sorted.push_back(&c);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->ns < b->ns; });
  std::string text;
  for (const TuningCandidate* c : sorted)
    text += fmt::format("{} {:12.3f} us  {}\n", c->chosen ? '*' : ' ', c->ns / 1e3, c->what);
  return text;
}

}  // namespace strata::codegen
