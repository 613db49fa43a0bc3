// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Imports what TORCH_TRACE (and TORCH_DTRACE) writes: one log per process, plain or gzip.
///
/// What comes out of one file:
///  - a ProcessRecord per process that wrote to it, a FrameRecord per Python frame, a CompileRecord per attempt;
///  - graphs, programs, kernels, launches and buffers (see capture/torch_graph and capture/inductor);
///  - guards, graph breaks, recompiles, symbols, assumptions; diagnostics of kind `restart`, `error`, `cache-hit`,
///    `cache-miss`, `cache-bypass`, `cudagraph-skip`, `fake-kernel`, `data-dependent`, `link`;
///  - metrics of a compile under the names of the log's fields, times in ns; those of the backward compile and of the
///    run have `bwd.`, `runtime.`, `bwd_runtime.` before their names; all fields are in the artifact
///    `compilation_metrics` (json), and so on;
///  - artifact `tensors` (json) of a compile: what was said of its inputs, a list of `{"sources", "tensor",
///  "storage"}`;
///  - the compile-time timeline as events of a RunRecord labelled `compile`; a B without E has phase `B` and duration
///    -1, an E without B has phase `E`; long arguments are in an artifact `args` of the event;
///  - every other record as an artifact under its name, or, where its kind is unknown, as a RawRecord;
///  - an InputRecord of kind `torch-trace`; counts: records by key (`chromium_event`), artifacts by name
///    (`artifact:fx_graph_runnable`), unknown keys as `unknown:KEY`; `problem.*` as LogFile::problems names them.
///
/// Costs. A recompile costs what its compile took, all attempts and the backward together. A graph break costs the
/// attempt that it ended, if that was started over, and the first compile of the function that resumes behind it.

#include <filesystem>
#include <span>
#include <vector>

#include "capture/import/context.h"
#include "capture/torch_trace/log_file.h"

namespace strata::capture {

struct TorchTraceOptions {
  /// Put `r3:` before the addresses of compiles: the import has several ranks.
  bool rank_prefix = false;
  int threads = 0;  ///< that parse; 0: as many as the machine has
};

/// Imports one log. Returns its input. Throws a user Error when the file cannot be read or has no record at all, and
/// ImportCancelled.
trace::Id import_torch_trace(ImportContext& context, const std::filesystem::path& path,
                             const TorchTraceOptions& options = {});
/// The same from memory; `name` is what the input is called.
trace::Id import_torch_trace(ImportContext& context, Bytes bytes, const std::filesystem::path& name,
                             const TorchTraceOptions& options = {});

/// The ranks that the logs name, in their records or file names; each once, ascending. Files that cannot be read count
/// for nothing.
std::vector<std::int64_t> ranks_of_torch_traces(std::span<const std::filesystem::path> paths);

}  // namespace strata::capture
