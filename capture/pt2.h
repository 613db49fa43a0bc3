// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads programs that `torch.export.save` wrote (PyTorch 2.9 and later), without Python. See docs/pt2.md.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/ir/program.h"

namespace strata {

/// Loads the program `model` of an archive (empty: the one named `model`, or the only one). Weights are views of the
/// mapped file; writing to them never changes the file. Nothing in the file is executed. Operators that are not in the
/// table do not fail here: see require_supported_operators. Throws a user Error for anything that is no such archive
/// (older layouts, TorchScript, plain weights and other formats are recognised and named), is damaged, or lacks
/// weights.
Program load_pt2(const std::filesystem::path& path, std::string_view model = {});

/// The same from memory; the bytes are copied. `name` stands in messages.
Program load_pt2_bytes(std::span<const std::byte> bytes, const std::string& name, std::string_view model = {});

}  // namespace strata
