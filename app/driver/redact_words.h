// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata {

/// Names that PyTorch, its compiler and Python have themselves, separated by blanks: operators, methods, modules,
/// keywords, guards.
extern const char* const kPublicNames;

/// Words of PyTorch's messages and parts of its names, in lower case, separated by blanks.
extern const char* const kPublicWords;

}  // namespace strata
