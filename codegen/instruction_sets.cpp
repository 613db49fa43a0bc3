// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/instruction_sets.h"

#include <string>
#include <string_view>

#include "core/runtime/plan.h"

namespace strata::library {
namespace {

bool has(std::string_view feature) {
  return ("," + host_target().features + ",").find(",+" + std::string(feature) + ",") != std::string::npos;
}

}  // namespace

bool has_avx512() {
  static const bool all = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  return all;
}
bool has_avx2() {
  static const bool all = has("avx2") && has("fma");
  return all;
}

}  // namespace strata::library
