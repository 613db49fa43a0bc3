// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/generator.h"

#include <atomic>
#include <cstring>

#include "core/support/error.h"

namespace strata {
namespace {

/// How PyTorch lays its state out in bytes. Words of 32 bits take 64.
struct StoredState {
  uint64_t seed;
  int32_t left;  ///< words before the next step, and one
  int32_t seeded;
  uint64_t next;
  uint64_t words[624];
  double unused_x, kept_normal, unused_rho;
  int32_t has_normal;
  int32_t padding;
  float kept_float;
  uint8_t has_float;
  uint8_t padding_of_float[3];
};
static_assert(sizeof(StoredState) == Generator::kStateBytes);

}  // namespace

Generator::Generator(uint64_t seed) : seed_(seed), next_(kWords) {
  words_[0] = static_cast<uint32_t>(seed);
  for (size_t i = 1; i < kWords; ++i)
    words_[i] = 1812433253U * (words_[i - 1] ^ (words_[i - 1] >> 30)) + static_cast<uint32_t>(i);
}

void Generator::advance() {
  const auto mixed = [](uint32_t a, uint32_t b) {
    const uint32_t joined = (a & 0x80000000U) | (b & 0x7fffffffU);
    return (joined >> 1) ^ ((b & 1U) != 0 ? 0x9908b0dfU : 0U);
  };
  constexpr size_t shift = 397;
  for (size_t i = 0; i < kWords - shift; ++i) words_[i] = words_[i + shift] ^ mixed(words_[i], words_[i + 1]);
  for (size_t i = kWords - shift; i < kWords - 1; ++i)
    words_[i] = words_[i + shift - kWords] ^ mixed(words_[i], words_[i + 1]);
  words_[kWords - 1] = words_[shift - 1] ^ mixed(words_[kWords - 1], words_[0]);
  next_ = 0;
}

void Generator::load(std::span<const std::byte> state) {
  if (state.size() != kStateBytes)
    throw_user("a generator's state of " + std::to_string(state.size()) + " bytes, expected " +
               std::to_string(kStateBytes));
  StoredState s;
  std::memcpy(&s, state.data(), sizeof s);
  // Before the first number nothing has been drawn of the words: `left` is 1, and the place 0.
  if (s.left < 1 || s.left > static_cast<int32_t>(kWords) || s.next > kWords)
    throw_user("the bytes are no state of a generator");
  seed_ = s.seed;
  next_ = s.left == 1 ? kWords : s.next;
  for (size_t i = 0; i < kWords; ++i) words_[i] = static_cast<uint32_t>(s.words[i]);
  kept_normal = s.has_normal != 0 ? std::optional(s.kept_normal) : std::nullopt;
  kept_float_ = s.has_float != 0 ? std::optional(s.kept_float) : std::nullopt;
}

void Generator::store(std::span<std::byte> state) const {
  if (state.size() != kStateBytes) throw_internal("a generator's state takes 5056 bytes");
  StoredState s{};
  s.seed = seed_;
  s.left = static_cast<int32_t>(kWords - next_) + 1;
  s.seeded = 1;
  s.next = next_ == kWords ? 0 : next_;
  for (size_t i = 0; i < kWords; ++i) s.words[i] = words_[i];
  s.has_normal = kept_normal ? 1 : 0;
  s.kept_normal = kept_normal.value_or(0);
  s.has_float = kept_float_ ? 1 : 0;
  s.kept_float = kept_float_.value_or(0);
  std::memcpy(state.data(), &s, sizeof s);
}

// --------------------------------------------------------------------------------------------------------------- whose

namespace {

std::atomic<GeneratorLender> current_lender{nullptr};
std::atomic<uint64_t> current_seed{Generator::kDefaultSeed};

/// Made when the first number of a run is drawn.
thread_local std::optional<Generator> own;

}  // namespace

void with_generator(const std::function<void(Generator&)>& draw) {
  if (const GeneratorLender lender = current_lender.load()) return lender(draw);
  if (!own) own.emplace(current_seed.load());
  draw(*own);
}

void restart_generator() { own.reset(); }
void set_generator_seed(uint64_t seed) { current_seed = seed; }
void lend_generator(GeneratorLender lender) { current_lender = lender; }

}  // namespace strata
