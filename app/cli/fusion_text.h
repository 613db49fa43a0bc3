// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/cli/cli.h"
#include "core/trace/reader.h"

namespace strata::cli {

/// Why `a` and `b`, each a node of the stage `scheduled` or a kernel, by name or id, are in one kernel or in two.
/// Throws a user Error for names that the graph does not have, or a compile without that stage.
std::string why_fused(trace::Reader& reader, trace::Id compile, const std::string& a, const std::string& b);

}  // namespace strata::cli
