// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether a program means the same to the interpreter, unfused and compiled.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "tests/graphs/program.h"

namespace strata::fuzz {

/// How much is looked at.
enum class Depth : uint8_t {
  Results,  ///< what both pipelines compute in the end
  Stages    ///< also the interpreted graph and its text form after every pass: says which pass is at fault
};

/// What comparisons said so far. Refused: the reference does not take the values (shapes do not tell that).
struct Statistics {
  size_t programs = 0, refused = 0, nodes = 0, kernels = 0, distinct = 0;
  int64_t generate_ns = 0;           ///< in which LLVM made the kernels
  size_t elements = 0, numbers = 0;  ///< of results; numbers: neither NaN nor infinite
};

/// Per program: empty if it means the same everywhere; else what differs, where. The loop kernels of all programs are
/// compiled together, which is what makes small programs cheap. `on_start(i)` is called before program i is touched:
/// whoever runs this in a process of its own knows then which one ended it.
std::vector<std::string> check_together(const std::vector<RandomProgram>& programs,
                                        const std::function<void(size_t)>& on_start = {},
                                        Statistics* statistics = nullptr);

/// The same of one program.
std::string check(const RandomProgram& program, Depth depth = Depth::Results);

/// From now on this process's fresh memory is not zero: it holds large numbers, whatever type is read.
void poison_memory();

/// Runs `work` in a process of its own. What it returns comes back; if it ends otherwise, how it ended: also when it
/// takes longer than `seconds`, or when `cancelled` becomes true.
std::string in_a_process(const std::function<std::string()>& work, int seconds = 60,
                         const std::atomic<bool>* cancelled = nullptr);

/// The beginning of a difference, without places and numbers: equal for two programs that fail for one reason, mostly.
std::string kind_of(const std::string& difference);

}  // namespace strata::fuzz
