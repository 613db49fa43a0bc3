// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Helpers of the profile tests: import bytes, read the trace back, write gzip.

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "capture/kineto/kineto.h"
#include "core/support/error.h"
#include "core/support/json.h"
#include "core/trace/reader.h"

namespace strata::capture {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// By zlib's own file interface, not by the reader under test.
inline std::string read_gzip_file(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string out, part(1 << 16, '\0');
  for (int n; (n = gzread(file, part.data(), static_cast<unsigned>(part.size()))) > 0;)
    out.append(part, 0, static_cast<std::size_t>(n));
  gzclose(file);
  return out;
}

inline std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A trace made from profiles.
class ProfileTest : public testing::Test {
 protected:
  ProfileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "strata-test-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~ProfileTest() override {
    reader.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  /// Runs `import(context)` on a fresh trace, then opens it.
  template <class F>
  void make_trace(F&& import) {
    reader.reset();
    const std::filesystem::path path = folder / ("t" + std::to_string(number++) + ".strata");
    {
      trace::Writer writer(path);
      ImportContext context(writer);
      import(context);
      context.finish();
      writer.close();
    }
    reader = std::make_unique<trace::Reader>(path);
    events = reader->runs().empty() ? std::vector<trace::EventRecord>() : reader->events(reader->runs().back().id);
  }
  void import_text(const std::string& text, std::size_t block = 1 << 20) {
    make_trace([&](ImportContext& context) { import_profile(context, text, "test.json", block); });
  }
  void import_file(const std::filesystem::path& path) {
    make_trace([&](ImportContext& context) { import_profile(context, path); });
  }

  /// The counts of the last input.
  std::map<std::string, std::int64_t> counts() {
    std::map<std::string, std::int64_t> result;
    const Json json = parse_json(reader->inputs().back().counts, "counts");
    for (const auto& [key, value] : json.object()) result[key] = value.integer();
    return result;
  }
  const trace::EventRecord& event(const std::string& name) {
    for (const trace::EventRecord& e : events)
      if (e.name == name) return e;
    ADD_FAILURE() << "no event " << name;
    static const trace::EventRecord none;
    return none;
  }
  trace::TrackRecord track(trace::Id id) {
    for (const trace::TrackRecord& t : reader->tracks())
      if (t.id == id) return t;
    return {};
  }
  std::string metadata() {
    for (const trace::ArtifactRecord& a : reader->artifacts())
      if (a.name == "metadata") return reader->artifact(a.id)->content;
    return {};
  }
  double metric(const std::string& key) {
    for (const trace::MetricRecord& m : reader->metrics())
      if (m.key == key) return m.value;
    return -1e9;
  }

  std::filesystem::path folder;
  int number = 0;
  std::unique_ptr<trace::Reader> reader;
  std::vector<trace::EventRecord> events;  ///< of the last run, in order of start
};

}  // namespace strata::capture
