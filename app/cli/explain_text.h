// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/explain/explain.h"
#include "core/support/json.h"

namespace strata::cli {

/// An explanation as a person reads it. `all`: every compile, symbol and note; else long lists are cut and say so.
std::string explain_text(const Explanation& explanation, bool all);

/// The same for scripts, always complete.
Json explain_json(const Explanation& explanation);

}  // namespace strata::cli
