// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Imports what TORCH_COMPILE_DEBUG=1 writes.

#include <filesystem>

#include "capture/import/context.h"

namespace strata::capture {

/// `folder` is `torch_compile_debug`, one of its `run_*`, a `torchinductor` folder or the folder of one graph
/// (`model__0_forward_1.0`). Returns the input (kind `debug-folder`).
///
/// A graph whose output code is in the import already (a TORCH_TRACE log of the same run, read before) only adds its
/// scheduler IR to that program. The others become compiles of their own, one per AOT graph: address `N/0` (with
/// prefix `debug:` where another compile has it), graphs `simplified:ROLE.before` and `.after`, program, kernels and
/// the IR. Files may be missing. Counts of the input: files by name, `graph` per folder, `known_graph` per graph that
/// was there. Text logs beside the folders (`debug.log`) become inputs of their own. Structured logs in `tlparse/`
/// below are not read here.
///
/// Throws a user Error when nothing of a debug folder is found, and ImportCancelled.
trace::Id import_debug_folder(ImportContext& context, const std::filesystem::path& folder);

}  // namespace strata::capture
