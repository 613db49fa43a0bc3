// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Graph texts that PyTorch wrote: read, printed, read again. The print is the text, up to white space, and the graphs
/// are the same, also by way of the native form.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/ir/fx_printer.h"
#include "core/ir/fx_reader.h"
#include "core/ir/text.h"
#include "core/ir/verify.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Runs of white space as one blank.
std::string squeezed(const std::string& text) {
  std::string out;
  std::istringstream words(text);
  for (std::string word; words >> word;) out += word + " ";
  return out;
}

std::vector<fs::path> texts_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void expect_round_trip(const fs::path& path) {
  SCOPED_TRACE(path.filename().string());
  const std::string text = contents(path);
  Graph graph = parse_fx(text);
  ASSERT_GT(graph.size(), 0u);
  verify(graph, "reading", {.compiled = false});
  const std::string printed = print_fx(graph);
  EXPECT_EQ(squeezed(printed), squeezed(text));
  Graph again = parse_fx(printed);
  std::string why;
  EXPECT_TRUE(structurally_equal(graph, again, &why, true)) << why;
  EXPECT_EQ(print_fx(again), printed);

  const std::string native = print_text(graph);
  Graph from_native = parse_text(nullptr, native);
  EXPECT_TRUE(structurally_equal(graph, from_native, &why, true)) << why;
  EXPECT_EQ(print_text(from_native), native);
  EXPECT_EQ(print_fx(from_native), printed);
}

TEST(FxCorpus, TextsOfPyTorchSurvive) {
  const auto paths = texts_in(STRATA_TEST_DATA "/fx");
  ASSERT_GE(paths.size(), 25u);
  for (const fs::path& path : paths) expect_round_trip(path);
}

// A blank before the bracket of a call makes no difference, but the reader of usual statements does not know it.
TEST(FxCorpus, UsualStatementsReadAsAllOthers) {
  for (const fs::path& path : texts_in(STRATA_TEST_DATA "/fx")) {
    const std::string text = contents(path);
    std::string unusual;
    for (size_t i = 0; i < text.size(); ++i) {
      const bool call = text.compare(i, 9, ".default(") == 0 || text.compare(i, 8, ".Tensor(") == 0;
      if (call) unusual += text.substr(i, text.find('(', i) - i) + ' ', i = text.find('(', i);
      unusual += text[i];
    }
    if (unusual == text) continue;
    const Graph a = parse_fx(text), b = parse_fx(unusual);
    std::string why;
    EXPECT_TRUE(structurally_equal(a, b, &why, true)) << path << ": " << why;
    EXPECT_EQ(print_fx(a), print_fx(b)) << path;
  }
}

TEST(FxCorpus, ExtraFolder) {
  const char* folder = std::getenv("STRATA_FX_CORPUS");
  if (!folder) GTEST_SKIP() << "STRATA_FX_CORPUS is not set: no extra folder of graph texts";
  const auto paths = texts_in(folder);
  ASSERT_FALSE(paths.empty()) << folder;
  for (const fs::path& path : paths) expect_round_trip(path);
}

TEST(FxCorpus, TableOperatorsAreResolved) {
  Graph graph = parse_fx(contents(STRATA_TEST_DATA "/fx/sincos_forward.txt"));
  for (const auto& n : graph.nodes()) {
    if (n->kind == NodeKind::Call && n->target.starts_with("aten.")) {
      EXPECT_NE(n->op, nullptr) << n->target;
    }
  }
}

}  // namespace
}  // namespace strata
