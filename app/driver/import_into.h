// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What PyTorch says about a process, put into the trace that Strata itself is writing of it.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/driver/compile_origin.h"
#include "capture/import/context.h"
#include "core/trace/writer.h"

namespace strata {

/// What is in the trace already.
struct KnownBefore {
  trace::ProcessRecord process;
  std::vector<capture::AdoptedCompile> compiles;
  std::map<std::string, std::map<int, std::string>> lines;  ///< of sources, by file
};

/// Reads logs of TORCH_TRACE and profiles into a trace that is open. Compiles of a log that name a compile of the trace
/// (artifact `strata_compile`) are put into that one. What cannot be read is a diagnostic; throws only what the writer
/// throws.
void import_into(trace::Writer& writer, const std::vector<std::filesystem::path>& paths, const KnownBefore& known);

struct TorchGraph {
  trace::Id snapshot = trace::kNone;
  std::vector<trace::NodeRecord> nodes;  ///< empty where the text could not be read: then it is kept as text
};

/// Adds Dynamo's graph as the stage `captured`, its nodes numbered from capture::kTorchNodes.
TorchGraph add_torch_graph(trace::Writer& writer, trace::Id compile, const CompileOrigin& origin);

/// Which backend of torch.compile a compile went to: the artifact `backend`.
void add_backend(trace::Writer& writer, trace::Id compile, const std::string& name);

}  // namespace strata
