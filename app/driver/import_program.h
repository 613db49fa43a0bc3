// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "capture/import/context.h"

namespace strata {

/// The exported program in a `.pt2` archive as a compile of its own with the stage `captured`; nothing is compiled. Its
/// address is `N/0`, N above all numbers of frames so far. Throws what load_pt2 throws, before anything is written.
void import_program(capture::ImportContext& context, const std::filesystem::path& path);

}  // namespace strata
