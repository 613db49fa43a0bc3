// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions that the C++ form of a kernel calls: what C++ lacks, or has undefined behaviour for.

#include <span>
#include <string_view>

namespace strata::codegen {

struct CppHelper {
  std::string_view name, text;
};

/// What a kernel may need, in this order; only what it uses is written out.
std::span<const CppHelper> cpp_helpers();

}  // namespace strata::codegen
