// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// libFuzzer harness of the TORCH_TRACE reader: any bytes open, every record can be prepared, and what has records
/// imports into a trace that closes. Only user Errors may come out, and only for input without records.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>

#include "capture/torch_trace/torch_trace.h"
#include "core/support/error.h"

namespace {

std::filesystem::path scratch_path() {
  static const std::filesystem::path path = [] {
    const std::filesystem::path memory = "/dev/shm";
    const auto folder = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    return folder / ("fuzz_torch_log_" + std::to_string(getpid()) + ".strata");
  }();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata;
  const Bytes bytes = copy_bytes(std::as_bytes(std::span(data, size)));
  capture::LogLimits limits;
  limits.unpacked = std::size_t{16} << 20;
  const capture::LogFile file = capture::LogFile::read(bytes, "fuzz.log", limits, 1);
  for (const capture::LogRecord& record : file.records()) {
    const std::string payload = file.payload(record);
    if (record.hash_state == capture::HashState::Matches && record.moved.empty() &&
        payload.size() > record.payload.size())
      std::abort();
  }
  if (file.records().empty() || file.compressed()) return 0;
  trace::Writer writer(scratch_path());
  capture::ImportContext context(writer);
  capture::TorchTraceOptions options;
  options.threads = 1;
  capture::import_torch_trace(context, bytes, "fuzz.log", options);
  context.finish();
  writer.close();
  return 0;
}
