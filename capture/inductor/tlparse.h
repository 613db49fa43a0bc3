// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Imports the folder that `tlparse` makes of a TORCH_TRACE log.

#include <filesystem>
#include <string>

#include "capture/import/context.h"
#include "capture/torch_trace/torch_trace.h"

namespace strata::capture {

/// Reads, whichever is there: the copy of the log (`raw.log`); else the records (`raw.jsonl`) with payloads from
/// their files; else the payload files alone (`compile_directory.json`, or the names of files and folders), which
/// have no times, stacks and metrics. The log that results is imported as TORCH_TRACE logs are; its input is named by
/// the folder. A folder of several ranks holds a folder for each: give those one by one.
///
/// Returns the input. Throws a user Error when nothing of the kind is found, and ImportCancelled.
trace::Id import_tlparse_folder(ImportContext& context, const std::filesystem::path& folder,
                                const TorchTraceOptions& options = {});

/// The log text that the folder's files give back; empty when there is nothing. `problems` counts what was missing.
std::string rebuild_log(const std::filesystem::path& folder, std::int64_t* problems = nullptr);

/// Text of a page that shows highlighted code: tags dropped, character references replaced.
std::string text_of_html(std::string_view html);

}  // namespace strata::capture
