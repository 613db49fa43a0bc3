// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which module each node of a picture belongs to.

#include <string>
#include <vector>

#include "app/draw/picture.h"

namespace strata::draw {

/// Nobody nests deeper, and a broken path must not make thousands of frames.
inline constexpr size_t kMostParts = 48;

/// The parts of a path: `encoder.layer[0].mlp` has `encoder`, `layer[0]`, `mlp`. Dots in brackets and quotes separate
/// nothing; paths of more than kMostParts parts are cut there.
std::vector<std::string> module_parts(const std::string& path);

/// Of each node of a picture without groups. Nodes without a module (weights, copies) belong where all their users are,
/// else where all their operands are. In a joint graph the parts of gradients start with `(backward)`.
std::vector<std::vector<std::string>> module_paths(const Picture& flat, const std::vector<trace::NodeRecord>& nodes);

/// Parts with dots between them.
std::string join_path(const std::vector<std::string>& parts, size_t count);

}  // namespace strata::draw
