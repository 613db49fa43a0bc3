// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace strata {

/// Appends a code point up to 0x10ffff as UTF-8. Surrogates are encoded as they are: callers that must not write them
/// replace them before.
void append_utf8(std::string& out, std::uint32_t code);

}  // namespace strata
