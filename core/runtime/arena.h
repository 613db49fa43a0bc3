// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where temporaries lie: offsets inside one block of memory, so that buffers whose lifetimes do not meet share bytes.

#include <cstdint>
#include <vector>

namespace strata {

struct ArenaRequest {
  int64_t bytes = 0;
  int first = 0, last = 0;  ///< lifetime, inclusive
  int reuse_of = -1;        ///< index of an earlier request whose place this one takes over, or -1
};

/// Memory that others need only later.
struct ArenaLoan {
  int64_t bytes = 0;
  int until = 0;  ///< the first time at which it is not free
};

struct ArenaLayout {
  std::vector<int64_t> offsets;  ///< per request, multiples of 64, from the start of the arena or of the loan
  std::vector<int> loans;        ///< per request, where it lies in memory lent: index of the loan; else -1
  int64_t bytes = 0;             ///< of the whole arena
  int64_t unshared = 0;          ///< what it would be if nothing were shared
};

/// Greedy best fit: largest first, each into the smallest gap between those already placed that live at the same time.
/// `reuse_of` is honoured where the sizes allow it, else the request gets a place of its own. Requests for which the
/// arena would have to grow lie in a loan where one is free long enough. Throws a user Error when the sum overflows.
ArenaLayout plan_arena(const std::vector<ArenaRequest>& requests, const std::vector<ArenaLoan>& loans = {});

}  // namespace strata
