// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Imports what torch.profiler writes: Chrome traces of Kineto (JSON object) and of the older autograd profiler (bare
/// list), plain or gzip.
///
/// What comes out of one file:
///  - one RunRecord, label `profile`, over all events. `clock` is `unix`, or `steady` where the file has only relative
///    times and no base (`problem.no_base_time` when it was cut off);
///  - an EventRecord per complete event (X, or a pair of B and E; phase empty), `i` and `C`; a B that never ends has
///    phase `B` and duration -1. `category` and `name` as in the file (`cpu_op` and `kernel` for the older profiler,
///    which has none). Integers that have a column (`correlation`, `External id`, `Sequence number`, the stream of
///    device events) are there; everything else is in `args`, valid JSON in the order of the file. Members of the event
///    itself that have no column are in `args` too, with `@` before the key (`"@s":"t"`);
///  - a TrackRecord per (pid, tid) that has events, with names from metadata events;
///  - a FlowRecord per flow whose ends were found (`fwdbwd`, `cpu_to_cuda`). `ac2g` is implied by the correlation and
///    only counted;
///  - an artifact `metadata` (kind `json`, owner the run): all top-level members but the events as one JSON object;
///  - metrics of the run: every top-level number (`record_shapes`, `cupti_version`), `rank`, `world_size`, for each
///    device every number of `deviceProperties` as `device.N.numSms`, and what became of the arrows:
///    `flow.CAT.matched`, `flow.CAT.lonely_start`, `flow.CAT.lonely_end` (the other half is missing),
///    `flow.CAT.no_event`; properties `device.N.name`;
///  - a DiagnosticRecord of kind `profiler` per warning and error that the profiler logged;
///  - an InputRecord of kind `profile`; counts: `PH:CAT` of every event read.
///
/// Bad events are skipped, kept as RawRecord and counted; a file that is cut short gives what it has.

#include <filesystem>
#include <string_view>

#include "capture/import/context.h"

namespace strata::capture {

/// Returns the run. Throws a user Error when the file cannot be read or is no profile at all, and ImportCancelled.
trace::Id import_profile(ImportContext& context, const std::filesystem::path& path);

/// The same for bytes in memory; `name` stands for the path. `block_bytes` is how much is dealt with at a time.
trace::Id import_profile(ImportContext& context, std::string_view bytes, const std::filesystem::path& name,
                         std::size_t block_bytes = std::size_t{1} << 20);

/// Whether the file looks like a profile by its first bytes (after decompression). False when it cannot be read.
bool is_profile(const std::filesystem::path& path);

}  // namespace strata::capture
