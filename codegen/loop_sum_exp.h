// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/loop_plan.h"

namespace strata::codegen {

/// The largest number of a line in one nest and the sum of e^(x - the largest) in the next become one reduction
/// (`Combine::SumExp`) that reads the line once: cross entropy and logsumexp of lines that no cache holds are as fast
/// as memory gives them. Softmax, which needs each exponential once more, keeps its passes: it takes none twice.
void sum_exponentials_as_they_come(loop::Kernel& kernel);

/// What softmax divides. Where one of the line is NaN, so are the sum and all of its parts: then the largest need not
/// be, and no difference is larger than 0.
std::vector<Shares> find_shares(const loop::Kernel& kernel);

/// Where lines are long enough, no pass looks for the largest x of a line before its exponentials are taken (`guessed`,
/// loop_guess.cpp). Lanes and what is kept are chosen.
void choose_guesses(KernelPlan& plan);

}  // namespace strata::codegen
