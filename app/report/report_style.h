// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the report carries besides its text.

namespace strata::report {

extern const char* const kStyle;
/// Filters by the search box. Without scripts everything is shown.
extern const char* const kScript;
/// The only script that the document lets run: `sha256-…` of kScript. A test computes it again.
extern const char* const kScriptHash;

}  // namespace strata::report
