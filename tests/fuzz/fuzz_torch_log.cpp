// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// libFuzzer harness of the TORCH_TRACE reader: any bytes open, every record can be prepared, and what has records
/// imports into a trace that closes. Only user Errors may come out, and only for input without records.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
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

/// Setting up a trace takes longer than importing a small log: many go into one, each with a context of its own.
strata::trace::Writer& writer() {
  constexpr int kLogs = 500;
  static std::unique_ptr<strata::trace::Writer> writer;
  static int logs = 0;
  if (!writer || ++logs % kLogs == 0) {
    if (writer) writer->close();
    writer = std::make_unique<strata::trace::Writer>(scratch_path());
    static const int at_exit = std::atexit([] {
      writer->discard();
      writer.reset();
    });
    static_cast<void>(at_exit);
  }
  return *writer;
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
  capture::ImportContext context(writer());
  capture::TorchTraceOptions options;
  options.threads = 1;
  capture::import_torch_trace(context, bytes, "fuzz.log", options);
  context.finish();
  return 0;
}
