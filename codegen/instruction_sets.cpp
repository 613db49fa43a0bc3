// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/instruction_sets.h"

#include "core/runtime/plan.h"

namespace strata::library {

bool has_avx512() {
  const Target& t = host_target();
  static const bool all = t.has("avx512f") && t.has("avx512bw") && t.has("avx512dq") && t.has("avx512vl");
  return all;
}
bool has_avx2() {
  const Target& t = host_target();
  static const bool all = t.has("avx2") && t.has("fma") && t.has("f16c");
  return all;
}
bool has_avx2_at_most() { return has_avx2() && !has_avx512(); }

}  // namespace strata::library
