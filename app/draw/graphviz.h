// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The one door to the Graphviz library. It is not thread-safe and prints on its own: behind this door it is entered by
/// one thread at a time and its messages are kept.

#include <string>

#include "app/draw/layout.h"

namespace strata::draw {

/// The DOT text rendered by Graphviz. `engine` `dot` lays out, `nop2` takes the positions in the text.
/// A Runtime error, saying what to install, when the format's plugin is missing.
std::string render_with_graphviz(const std::string& dot, const char* engine, const char* format);

}  // namespace strata::draw
