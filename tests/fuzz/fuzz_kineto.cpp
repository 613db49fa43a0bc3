// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// libFuzzer harness of the profile importer. The first byte says how much is dealt with at a time, so that every state
/// meets the edge of a block; what comes out must not depend on it, and its JSON must be valid. Now and then the whole
/// import runs, with its trace file. Only user and runtime Errors may come out.

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "capture/kineto/events.h"
#include "capture/kineto/kineto.h"
#include "capture/kineto/splitter.h"
#include "core/support/error.h"
#include "core/support/json.h"
#include "core/trace/reader.h"

namespace {

using namespace strata;

void check_json(const std::string& text) {
  if (!text.empty()) parse_json(text, "fuzz");
}

/// All events in words that do not depend on how the file was cut.
std::vector<std::string> parse(std::string_view bytes, std::size_t block_bytes) {
  capture::kineto::Source source(bytes);
  capture::kineto::Splitter splitter(source, block_bytes);
  std::vector<std::string> events;
  while (const auto block = splitter.next()) {
    const capture::kineto::ParsedBlock parsed = capture::kineto::parse_block(*block);
    for (const trace::EventRecord& e : parsed.events) {
      check_json(e.args);
      const capture::kineto::LocalTrack& track = parsed.tracks.at(static_cast<std::size_t>(e.track));
      events.push_back(e.name + '/' + e.category + '/' + e.phase + e.args + track.pid + '/' + track.tid + '/' +
                       std::to_string(e.start_ns) + '/' + std::to_string(e.duration_ns));
    }
  }
  return events;
}

void import(std::string_view bytes, std::size_t block) {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("strata-fuzz-kineto-" + std::to_string(getpid()) + ".strata");
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
  for (const trace::InputRecord& input : reader.inputs()) check_json(input.counts);
  for (const trace::ArtifactRecord& a : reader.artifacts()) check_json(reader.artifact(a.id)->content);
  std::filesystem::remove(path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (parse(bytes, std::size_t{1} << 20) != parse(bytes, data[0] + std::size_t{1})) __builtin_trap();
  static int runs = 0;
  if (++runs % 50 == 0) import(bytes, data[0] + std::size_t{1});
  return 0;
}
