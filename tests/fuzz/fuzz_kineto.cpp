// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// libFuzzer harness of the profile importer. The first byte says how much is dealt with at a time, so that every
/// state meets the edge of a block. What comes out must be valid JSON, must be exported as valid JSON, and must not
/// depend on the block size. Only user and runtime Errors may come out.

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "capture/kineto/kineto.h"
#include "core/support/error.h"
#include "core/support/json.h"
#include "core/trace/reader.h"

namespace {

using namespace strata;

std::vector<trace::EventRecord> import(std::string_view bytes, std::size_t block, const std::filesystem::path& path) {
  {
    trace::Writer writer(path);
    capture::ImportContext context(writer);
    try {
      capture::import_profile(context, bytes, "fuzz", block);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Internal) __builtin_trap();
    }
    context.finish();
    writer.close();
  }
  trace::Reader reader(path);
  for (const trace::InputRecord& input : reader.inputs()) parse_json(input.counts, "counts");
  for (const trace::ArtifactRecord& a : reader.artifacts()) parse_json(reader.artifact(a.id)->content, "metadata");
  std::vector<trace::EventRecord> events;
  reader.each_event([&](const trace::EventRecord& event) {
    if (!event.args.empty()) parse_json(event.args, "args");
    events.push_back(event);
    return true;
  });
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("strata-fuzz-kineto-" + std::to_string(getpid()) + ".strata");
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = import(bytes, std::size_t{1} << 20, path);
  if (import(bytes, data[0] + std::size_t{1}, path) != whole) __builtin_trap();
  std::filesystem::remove(path);
  return 0;
}
