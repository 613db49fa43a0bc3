// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random numbers: PyTorch's generator for the CPU (a Mersenne Twister of 32 bits), and who owns the one that a program
/// draws from.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace strata {

/// State and order of `torch.Generator(device="cpu")`: the same seed gives the same bits.
class Generator {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;
  static constexpr size_t kStateBytes = 5056;  ///< of what `torch.Generator.get_state()` gives

  explicit Generator(uint64_t seed = kDefaultSeed);

  uint32_t random() {
    if (next_ == kWords) advance();
    uint32_t y = words_[next_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
  }
  uint64_t random64() {  ///< the earlier word is the upper half
    const uint64_t upper = random();
    return upper << 32 | random();
  }

  /// PyTorch's form of the state, `kStateBytes` long both ways. `load` throws a user Error for another length or for
  /// what is no such state.
  void load(std::span<const std::byte> state);
  void store(std::span<std::byte> state) const;

  /// The second of a pair of normal numbers, kept for the next that is drawn alone.
  std::optional<double> kept_normal;

 private:
  void advance();

  static constexpr size_t kWords = 624;
  std::array<uint32_t, kWords> words_;
  uint64_t seed_;
  size_t next_;                      ///< word to be drawn; kWords: none is left
  std::optional<float> kept_float_;  ///< PyTorch stores one; no kernel of the CPU draws it
};

/// Calls `draw` with the generator that this thread's run draws from: one that was lent, else the program's own.
void with_generator(const std::function<void(Generator&)>& draw);

/// A run without a lender begins: its numbers follow from the seed, whatever was drawn before on this thread.
void restart_generator();

/// Seed of runs without a lender, of all threads; `Generator::kDefaultSeed` at first.
void set_generator_seed(uint64_t seed);

/// From now on numbers come from somebody else's generator (the bridge: PyTorch's): called in the place of the own one,
/// by any thread. Null gives it back.
using GeneratorLender = void (*)(const std::function<void(Generator&)>& draw);
void lend_generator(GeneratorLender lender);

}  // namespace strata
