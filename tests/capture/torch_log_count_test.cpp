// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// No record is lost: what an import says it has read is what a scan of the file by other means finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "capture/torch_trace/torch_trace.h"
#include "core/support/error.h"
#include "core/support/json.h"
#include "core/trace/reader.h"

namespace strata::capture {
namespace {

using Counts = std::map<std::string, std::int64_t>;

const std::set<std::string> kContext{"rank",  "compiled_autograd_id", "frame_id",   "frame_compile_id", "attempt",
                                     "stack", "subgraph_name",        "has_payload"};

std::string read_file(const std::filesystem::path& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  char buffer[65536];
  for (int n = 0; (n = gzread(file, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  gzclose(file);
  return text;
}

// Every line that is no payload: its record key, and how often.
Counts scan(const std::string& text) {
  Counts counts;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find("] {");
    if (line.empty() || line[0] == '\t' || at == std::string::npos) continue;
    const Json json = parse_json(std::string_view(line).substr(at + 2), "a head line");
    for (const auto& [key, value] : json.object()) {
      if (kContext.contains(key)) continue;
      std::string name = key;
      if (key == "artifact") name += ":" + (value.find("name") ? value.at("name").string() : "");
      ++counts[name];
      break;
    }
  }
  return counts;
}

struct Imported {
  Counts counts, problems;
  std::map<std::string, std::size_t> rows;
};

Imported import(const std::filesystem::path& path) {
  const std::filesystem::path out =
      std::filesystem::path(testing::TempDir()) / ("count_" + std::to_string(::getpid()) + ".strata");
  {
    trace::Writer writer(out);
    ImportContext context(writer);
    import_torch_trace(context, path);
    context.finish();
    writer.close();
  }
  trace::Reader reader(out);
  Imported result;
  for (const trace::InputRecord& input : reader.inputs()) {
    const Json json = parse_json(input.counts, "counts");
    for (const auto& [key, value] : json.object()) {
      (key.starts_with("problem.") ? result.problems : result.counts)[key] = value.integer();
    }
  }
  result.rows["event"] = static_cast<std::size_t>(reader.event_count());
  result.rows["break"] = reader.graph_breaks().size();
  result.rows["recompile"] = reader.recompiles().size();
  for (const trace::CompileRecord& c : reader.compiles()) {
    result.rows["symbol"] += reader.symbols(c.id).size();
    result.rows["assumption"] += reader.assumptions(c.id).size();
    result.rows["program"] += reader.programs(c.id).size();
    for (const trace::SnapshotRecord& s : reader.snapshots(c.id)) {
      const bool own = s.stage.starts_with("scheduled") || s.stage.starts_with("code") || s.stage.starts_with("plan") ||
                       s.stage.starts_with("loops");
      if (!own) ++result.rows[s.kind == trace::SnapshotKind::Graph ? "graph" : "text graph"];
    }
    for (const trace::ArtifactRecord& a : reader.artifacts_of_compile(c.id)) ++result.rows["artifact:" + a.name];
  }
  std::filesystem::remove(out);
  std::filesystem::remove(out);
  return result;
}

std::size_t sum(const Counts& counts, const std::function<bool(const std::string&)>& fits) {
  std::size_t total = 0;
  for (const auto& [key, number] : counts) {
    if (fits(key)) total += static_cast<std::size_t>(number);
  }
  return total;
}

void check(const std::filesystem::path& path) {
  SCOPED_TRACE(path.string());
  const std::string text = read_file(path);
  const Counts expected = scan(text);
  ASSERT_FALSE(expected.empty());
  const Imported got = import(path);
  EXPECT_EQ(got.counts, expected);
  for (const auto& [kind, number] : got.problems) EXPECT_EQ(kind, "problem.launch_without_nodes") << number;
  const auto of = [&](const std::string& key) { return sum(expected, [&](const std::string& k) { return k == key; }); };
  const auto rows = [&](const std::string& key) {
    const auto found = got.rows.find(key);
    return found == got.rows.end() ? 0 : found->second;
  };
  EXPECT_EQ(rows("break"), of("artifact:dynamo_graph_break_reason"));
  EXPECT_GE(rows("recompile"), of("artifact:recompile_reasons"));
  EXPECT_EQ(rows("symbol"), of("create_symbol") + of("create_unbacked_symbol"));
  EXPECT_EQ(rows("assumption"), of("guard_added_fast") + of("guard_added") + of("symbolic_shape_specialization"));
  EXPECT_EQ(rows("program"), of("inductor_output_code"));
  EXPECT_EQ(rows("graph"), sum(expected, [](const std::string& k) { return k.ends_with("_graph"); }));
  EXPECT_EQ(rows("text graph"), 0u);
  EXPECT_EQ(rows("artifact:compilation_metrics"), of("compilation_metrics"));
  EXPECT_EQ(rows("artifact:fx_graph_runnable"), of("artifact:fx_graph_runnable"));
  EXPECT_EQ(rows("artifact:fx_graph_cache_miss"), of("artifact:fx_graph_cache_miss"));
  // Beginnings and ends are one event.
  std::size_t instants = 0;
  for (std::size_t at = 0; (at = text.find("\n\t\"ph\": \"i\"", at)) != std::string::npos; ++at) ++instants;
  EXPECT_EQ(rows("event"), (of("chromium_event") - instants) / 2 + instants);
}

TEST(TorchLogCounts, OfTheLogsInTheRepository) {
  int logs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STRATA_TEST_DATA "/torch/logs")) {
    if (!entry.path().string().ends_with(".log.gz")) continue;
    check(entry.path());
    ++logs;
  }
  EXPECT_GE(logs, 10);
}

TEST(TorchLogCounts, OfTheLogsInTheFolderStrataTorchTraces) {
  const char* folder = std::getenv("STRATA_TORCH_TRACES");
  if (!folder) GTEST_SKIP() << "STRATA_TORCH_TRACES is not set";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".log" && entry.path().string().find("torch_trace") != std::string::npos)
      check(entry.path());
  }
}

}  // namespace
}  // namespace strata::capture
