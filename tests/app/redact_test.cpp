// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata import --redact`: nothing of what the owner wrote is left in the file.

#include "app/driver/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "app/driver/redact_text.h"
#include "core/trace/codec.h"
#include "core/trace/database.h"
#include "core/trace/reader.h"
#include "core/trace/schema.h"
#include "tests/app/import_testing.h"

namespace strata::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RedactText, KeepsWhatPyTorchHasAndNothingElse) {
  TextRedactor r;
  r.add_sizes("[4096, 16]");
  EXPECT_EQ(r.code("torch.nn.functional.relu(l_secret_, inplace = False)"),
            "torch.nn.functional.relu(n1, inplace = False)");
  EXPECT_EQ(r.code("l_secret_, [4096, -1], 777, 1e-05, 'my secret'"), "n1, [4096, -1], 0, 0.0, '...'");
  EXPECT_EQ(r.code("torch.ops.secretlib.frobnicate.default(add_3)"), "torch.ops.n2.n3.default(add_3)");
  EXPECT_EQ(r.code("L['secret_input'].size()[0]"), "L['n4'].size()[0]");
  EXPECT_EQ(r.code("l_secret_  # secret_input"), "n1  ");
  EXPECT_EQ(r.shape("f32[8, s77, 31337]cpu"), "f32[8, s77, 31337]cpu");
  EXPECT_EQ(r.words("tensor 'secret_input' size mismatch at index 0. expected 4096, actual 555"),
            "tensor 'n4' size mismatch at index 0. expected 4096, actual 0");
  EXPECT_EQ(r.pieces("triton_poi_fused_add_relu_0"), "triton_poi_fused_add_relu_0");
  EXPECT_EQ(r.kernel("triton_poi_fused_frobnicate_0"), "triton_poi_fused_n3_0");
  EXPECT_EQ(r.kernel("secret_kernel"), r.kernel("secret_kernel"));
  EXPECT_THAT(r.kernel("void at::native::reduce_kernel<512, secret::Type>(int)"), Not(HasSubstr("secret")));
  EXPECT_THAT(r.kernel("void at::native::reduce_kernel<512, 1>(int)"), HasSubstr("at::native::reduce_kernel<512, 1>"));
  EXPECT_EQ(r.file("/home/me/model.py"), "file1.py");
  EXPECT_EQ(r.file("/home/me/model.py"), "file1.py");
}

TEST(RedactText, TakesAnyBytes) {
  TextRedactor r;
  for (const char* text :
       {"'", "\"", "'\\", "#", "\xff\xfe", "1.", "1e", "1e-", "torch.", "torch.ops.", "a::", "::", "''''"}) {
    r.code(text);
    r.words(text);
    r.pieces(text);
    r.kernel(text);
  }
}

template <class Record>
void expect_rules(std::vector<std::string>& missing) {
  trace::for_each_column<Record>([&](const auto& c) {
    using Field = std::remove_cvref_t<decltype(c.get(std::declval<Record&>()))>;
    constexpr bool text = std::is_same_v<Field, std::string> ||
                          std::is_same_v<Field, std::vector<trace::SourceFileRecord::Line>> ||
                          std::is_same_v<Field, std::vector<trace::LineMapEntry>>;
    if (!text) return;
    for (const RedactionRule& rule : redaction_rules())
      if (rule.table == trace::Table<Record>::name && rule.column == c.name) return;
    missing.push_back(std::string(trace::Table<Record>::name) + "." + c.name);
  });
}
template <class... Records>
struct AllRules {
  static void run(std::vector<std::string>& missing) { (expect_rules<Records>(missing), ...); }
};

TEST(Redact, EveryTextColumnHasARule) {
  std::vector<std::string> missing;
  trace::ForAllTables<AllRules>::run(missing);
  EXPECT_THAT(missing, ::testing::IsEmpty());
}

// ------------------------------------------------------------------------------------------------------------------

/// Everything that a file holds: its bytes, and its packed columns unpacked.
std::string everything_in(const std::string& path) {
  std::string all = read_text(path);
  trace::Database db(path, trace::Database::Mode::ReadOnly, path);
  std::vector<std::string> tables;
  {
    trace::Query query = db.query("SELECT name FROM sqlite_master WHERE type = 'table'");
    while (query.step()) tables.emplace_back(query.text(0));
  }
  for (const std::string& table : tables) {
    std::vector<std::string> columns;
    {
      trace::Query query = db.query("SELECT name FROM pragma_table_info('" + table + "')");
      while (query.step()) columns.emplace_back(query.text(0));
    }
    for (const std::string& column : columns) {
      trace::Query query = db.query("SELECT " + column + ", typeof(" + column + ") FROM " + table + " WHERE typeof(" +
                                    column + ") IN ('text', 'blob')");
      while (query.step())
        all += (query.text(1) == "blob" ? trace::decompress(query.blob(0)) : std::string(query.text(0))) + "\n";
    }
  }
  return all;
}

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word_char(text[end])) ++end;
    if (end > i) words.insert(text.substr(i, end - i));
    i = end + 1;
  }
  return words;
}

/// What the owner of a log wrote: paths, lines, names in them, strings.
struct Owned {
  std::set<std::string> paths, lines, names, strings;
};

void add_line(Owned& owned, const std::string& line) {
  if (line.size() < 8) return;
  owned.lines.insert(line);
  for (const std::string& word : words_of(line))
    if (word.size() > 3 && !std::isdigit(static_cast<unsigned char>(word[0]))) owned.names.insert(word);
  for (const char quote : {'\'', '"'})
    for (std::size_t at = line.find(quote); at != std::string::npos;) {
      const std::size_t end = line.find(quote, at + 1);
      if (end == std::string::npos) break;
      if (end - at > 5) owned.strings.insert(line.substr(at + 1, end - at - 1));
      at = line.find(quote, end + 1);
    }
}

/// Paths and lines are in the records as JSON: `"str": [PATH, 3]`, `"loc": LINE`.
Owned owned_by(const std::string& log) {
  Owned owned;
  const auto each = [&](const std::string& key, auto&& take) {
    for (std::size_t at = 0; (at = log.find(key, at)) != std::string::npos;) {
      at += key.size();
      const std::size_t end = log.find_first_of("\"\n", at);
      if (end != std::string::npos) take(log.substr(at, end - at));
    }
  };
  each("\"str\": [\"", [&](const std::string& s) {
    if (s.find('/') != std::string::npos) owned.paths.insert(s);
  });
  each("\"filename\": \"", [&](const std::string& s) { owned.paths.insert(s); });
  each("\"loc\": \"", [&](const std::string& s) { add_line(owned, s); });
  each("# File: ", [&](const std::string& s) {
    const std::size_t code = s.find(", code: ");
    owned.paths.insert(s.substr(0, s.find(':')));
    if (code != std::string::npos) add_line(owned, s.substr(code + 8));
  });
  return owned;
}

class RedactedTrace : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(RedactedTrace, NothingOfTheOwnerIsLeft) {
  TemporaryFolder folder;
  std::vector<std::string> words = {"import", "--redact", "-o", folder.file("r.strata")};
  Owned owned;
  for (const std::string& input : GetParam()) {
    words.push_back(torch_data(input).string());
    const Owned more = owned_by(plain_text(torch_data(input)));
    owned.paths.insert(more.paths.begin(), more.paths.end());
    owned.lines.insert(more.lines.begin(), more.lines.end());
    owned.names.insert(more.names.begin(), more.names.end());
    owned.strings.insert(more.strings.begin(), more.strings.end());
    owned.paths.insert(torch_data(input).parent_path().string());
  }
  const Finished f = strata(words);
  ASSERT_EQ(f.code, 0) << f.err;
  const std::string content = everything_in(folder.file("r.strata"));
  EXPECT_GT(content.size(), 100000u);
  for (const std::string& path : owned.paths) EXPECT_EQ(content.find(path), std::string::npos) << path;
  for (const std::string& line : owned.lines)
    EXPECT_TRUE(is_public_name(line) || content.find(line) == std::string::npos) << line;
  for (const std::string& text : owned.strings)
    EXPECT_TRUE(is_public_name(text) || is_public_word(text) || content.find(text) == std::string::npos) << text;
  // Names as words: `conv` is in `convolution`.
  const std::set<std::string> left = words_of(content);
  std::vector<std::string> leaked;
  std::size_t secret = 0;
  for (const std::string& name : owned.names) {
    if (is_public_name(name) || is_public_word(name)) continue;
    ++secret;
    if (left.contains(name)) leaked.push_back(name);
  }
  EXPECT_THAT(leaked, ::testing::IsEmpty());
  EXPECT_GE(secret, 3u) << "the input has nothing to hide";
}

INSTANTIATE_TEST_SUITE_P(
    Inputs, RedactedTrace,
    ::testing::Values(std::vector<std::string>{"logs/cnn_fmnist_provenance.log.gz",
                                               "profiles/cnn_fmnist_compiled.json.gz"},
                      std::vector<std::string>{"logs/breaks_many.log.gz", "text/breaks_many.txt"},
                      std::vector<std::string>{"logs/recompiles.log.gz", "logs/dynamic_shapes.log.gz"},
                      std::vector<std::string>{"logs/bert_provenance.log.gz", "profiles/bert_compiled.json.gz"},
                      std::vector<std::string>{"logs/ddp_rank_0.log.gz", "logs/ddp_rank_1.log.gz"}),
    [](const auto& info) { return "set" + std::to_string(info.index); });

TEST(Redact, StructureStays) {
  TemporaryFolder folder;
  const std::string log = torch_data("logs/cnn_fmnist_provenance.log.gz").string(),
                    profile = torch_data("profiles/cnn_fmnist_compiled.json.gz").string();
  ASSERT_EQ(strata({"import", log, profile, "-o", folder.file("a.strata")}).code, 0);
  ASSERT_EQ(strata({"import", log, profile, "--redact", "-o", folder.file("b.strata")}).code, 0);
  trace::Reader a(folder.file("a.strata")), b(folder.file("b.strata"));
  ASSERT_EQ(a.compiles().size(), b.compiles().size());
  EXPECT_EQ(a.event_count(), b.event_count());
  std::size_t compared = 0;
  for (const trace::CompileRecord& c : a.compiles()) {
    const auto before = a.snapshots(c.id), after = b.snapshots(c.id);
    ASSERT_EQ(before.size(), after.size());
    EXPECT_EQ(a.edges(c.id).size(), b.edges(c.id).size());
    EXPECT_EQ(a.kernels(c.id).size(), b.kernels(c.id).size());
    for (std::size_t s = 0; s < before.size(); ++s) {
      EXPECT_EQ(before[s].stage, after[s].stage);
      if (before[s].kind != trace::SnapshotKind::Graph) continue;
      const auto from = a.nodes(before[s].id), to = b.nodes(after[s].id);
      ASSERT_EQ(from.size(), to.size());
      for (std::size_t n = 0; n < from.size(); ++n) {
        EXPECT_EQ(from[n].shape, to[n].shape);
        EXPECT_EQ(from[n].dtype, to[n].dtype);
        EXPECT_EQ(from[n].inputs, to[n].inputs);
        const bool public_target = from[n].target.starts_with("aten.");
        EXPECT_TRUE(!public_target || from[n].target == to[n].target) << to[n].target;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100u);
  // The commands work on it.
  EXPECT_EQ(strata({"graphs", folder.file("b.strata")}).code, 0);
  EXPECT_EQ(strata({"export", folder.file("b.strata"), "--format", "html", "-o", folder.file("b.html")}).code, 0);
}

}  // namespace
}  // namespace strata::testing
