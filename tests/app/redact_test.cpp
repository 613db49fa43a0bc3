// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata import --redact`: nothing of what the owner wrote is left in the file.

#include "app/driver/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <regex>
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

/// Words that PyTorch uses stay as words, not as parts of a path.
TEST(RedactText, PathsGoWhateverTheyAreMadeOf) {
  TextRedactor r;
  EXPECT_EQ(r.words("frame skipped: forward (/home/user/model.py line 3)."),
            "frame skipped: forward (file1.py line 3).");
  EXPECT_EQ(r.words("in model/layers.py, not torch/nn/linear.py"), "in file2.py, not file3.py");
  EXPECT_EQ(r.words("see train.py. Then ~/data/out or ./model/run"), "see file4.py. Then file5 or file6");
  EXPECT_EQ(r.code("/home/user/model.py"), "file1.py") << "equal paths stay equal";
  EXPECT_EQ(r.code("add / 2 + s0//2 - mul/add"), "add / 2 + s0//2 - mul/add") << "a division";
}

TEST(RedactText, LocalVariablesGoWhateverTheyAreCalled) {
  TextRedactor r;
  EXPECT_EQ(r.code("check_tensor(L['x1'], dim=1) and L['size'] and G['torch']"),
            "check_tensor(L['n1'], dim=1) and L['n2'] and G['torch']");
  EXPECT_EQ(r.code("L['self'].training"), "L['self'].training");
}

TEST(RedactText, DerivedFunctionsOfPyTorchStay) {
  TextRedactor r;
  for (const char* name : {"AddmmBackward0", "NativeBatchNormBackward0", "UnsafeViewBackward0", "SumBackward1"})
    EXPECT_EQ(r.kernel(name), name);
  EXPECT_EQ(r.kernel("ZqxSecretBackward0"), "n1");
}

TEST(RedactText, TakesAnyBytes) {
  TextRedactor r;
  for (const char* text : {"'",      "\"",         "'\\", "#",   "\xff\xfe",  "1.",      "1e", "1e-",
                           "torch.", "torch.ops.", "a::", "::",  "''''",      "/",       "~",  "./",
                           "//",     ".py",        "/a",  "L['", "Backward0", "L['/\xff"}) {
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
  std::set<std::string> paths, lines, names, strings, numbers;
};

/// Fractions and large numbers: nobody would take them for an index or a size.
std::set<std::string> distinctive_numbers(const std::string& line) {
  std::set<std::string> numbers;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i;
    while (end < line.size() && (std::isdigit(static_cast<unsigned char>(line[end])) || line[end] == '.')) ++end;
    const std::string number = line.substr(i, end - i);
    const bool fraction = number.find('.') != std::string::npos && number.size() > 4;
    if ((fraction || number.size() > 5) && (i == 0 || !is_word_char(line[i - 1]))) numbers.insert(number);
    i = std::max(end, i + 1);
  }
  return numbers;
}

/// What stands between `L['` and `']` in guards and sources.
std::set<std::string> locals_in(const std::string& log) {
  std::set<std::string> names;
  for (std::size_t at = 0; (at = log.find("L['", at)) != std::string::npos;) {
    at += 3;
    const std::size_t end = log.find_first_of("'\n", at);
    if (end != std::string::npos && log[end] == '\'') names.insert(log.substr(at, end - at));
  }
  for (const char* known : {"self", "args", "kwargs"}) names.erase(known);
  return names;
}

void add_line(Owned& owned, const std::string& line) {
  if (line.size() < 8) return;
  owned.lines.insert(line);
  for (const std::string& word : words_of(line))
    if (word.size() > 3 && !std::isdigit(static_cast<unsigned char>(word[0]))) owned.names.insert(word);
  for (const std::string& number : distinctive_numbers(line)) owned.numbers.insert(number);
  for (const char quote : {'\'', '"'})
    for (std::size_t at = line.find(quote); at != std::string::npos;) {
      const std::size_t end = line.find(quote, at + 1);
      if (end == std::string::npos) break;
      if (end - at > 5) owned.strings.insert(line.substr(at + 1, end - at - 1));
      at = line.find(quote, end + 1);
    }
}

bool is_torch(const std::string& path) { return path.find("site-packages/torch/") != std::string::npos; }

/// Paths by the numbers that stacks name them by: `"str": ["PATH", 7]`.
std::map<std::string, std::string> interned_paths(const std::string& log) {
  std::map<std::string, std::string> paths;
  for (std::size_t at = 0; (at = log.find("\"str\": [\"", at)) != std::string::npos;) {
    at += 9;
    const std::size_t end = log.find("\", ", at), close = log.find(']', at);
    if (end < close && close != std::string::npos)
      paths[log.substr(end + 3, close - end - 3)] = log.substr(at, end - at);
  }
  return paths;
}

/// The number of the file of the stack entry with the line at `loc`.
std::string file_number(const std::string& log, std::size_t loc) {
  const std::size_t at = log.rfind("\"filename\": ", loc);
  if (at == std::string::npos || loc - at > 300) return {};
  return log.substr(at + 12, log.find_first_of(",}", at) - at - 12);
}

/// Paths and lines are in the records as JSON: `"str": [PATH, 3]`, `"loc": LINE`.
Owned owned_by(const std::string& log) {
  Owned owned;
  std::map<std::string, std::string> paths = interned_paths(log);
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
  for (std::size_t at = 0; (at = log.find("\"loc\": \"", at)) != std::string::npos;) {
    const bool torch = is_torch(paths[file_number(log, at)]);
    at += 8;
    const std::size_t end = log.find_first_of("\"\n", at);
    if (!torch && end != std::string::npos) add_line(owned, log.substr(at, end - at));
  }
  each("# File: ", [&](const std::string& s) {
    const std::size_t code = s.find(", code: ");
    owned.paths.insert(s.substr(0, s.find(':')));
    if (code != std::string::npos && !is_torch(s)) add_line(owned, s.substr(code + 8));
  });
  return owned;
}

/// `torch._inductor.compile_fx` is PyTorch's; what is behind `torch.ops` need not be.
std::string without_torch_paths(const std::string& content) {
  static const std::regex path(R"(\btorch\.(?!ops\b)[\w./]+)");
  return std::regex_replace(content, path, "");
}

/// Cases whose scripts have names that PyTorch has not.
constexpr const char* kRich[] = {"bert", "cnn_fmnist"};

bool has_number(const std::string& content, const std::string& number) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_'; };
  for (std::size_t at = 0; (at = content.find(number, at)) != std::string::npos; ++at)
    if ((at == 0 || !is_part(content[at - 1])) &&
        (at + number.size() == content.size() || !is_part(content[at + number.size()])))
      return true;
  return false;
}

/// The numbers of a trace as text, one column of one row per line.
std::string numbers_in(const std::string& path) {
  std::string all;
  trace::Database db(path, trace::Database::Mode::ReadOnly, path);
  for (const char* sql :
       {"SELECT value FROM metric", "SELECT hint FROM symbol", "SELECT min FROM symbol", "SELECT max FROM symbol"}) {
    trace::Query query = db.query(sql);
    while (query.step()) all += query.text(0), all += "\n";
  }
  return all;
}

/// A script that has "zqx" in everything it names, writes or prints (tests/tools/redact_case.py).
TEST(Redact, NothingOfAMarkedScriptIsLeft) {
  TemporaryFolder folder;
  const std::string plain = folder.file("plain.strata"), redacted = folder.file("redacted.strata");
  ASSERT_EQ(strata({"import", torch_data("redact").string(), "-o", plain}).code, 0);
  ASSERT_EQ(strata({"import", torch_data("redact").string(), "--redact", "-o", redacted}).code, 0);
  const auto lower = [](std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  };
  const std::string before = lower(everything_in(plain)) + numbers_in(plain);
  const std::string after = lower(everything_in(redacted)) + numbers_in(redacted);
  for (const char* mark : {"zqx", "31337", "271828", "2.6829419136047363", "2.68294"}) {
    EXPECT_THAT(before, HasSubstr(mark));
    const std::size_t at = after.find(mark);
    EXPECT_EQ(at, std::string::npos) << after.substr(at < 60 ? 0 : at - 60, 160);
  }
  for (const char* kept : {"aten.addmm.default", "tensor_match", "print", "[8, 24]", "cpu_op", "aten::mul"})
    EXPECT_THAT(after, HasSubstr(kept));
}

class RedactedTrace : public ::testing::TestWithParam<std::vector<std::string>> {};

/// Imports the files with --redact and looks for what their owner wrote. How many names there were to hide.
std::size_t expect_nothing_left(const std::vector<fs::path>& inputs) {
  TemporaryFolder folder;
  std::vector<std::string> words = {"import", "--redact", "-o", folder.file("r.strata")};
  Owned owned;
  std::set<std::string> locals;
  for (const fs::path& input : inputs) {
    words.push_back(input.string());
    const std::string text = plain_text(input);
    locals.merge(locals_in(text));
    Owned more = owned_by(text);
    owned.numbers.merge(more.numbers);
    owned.paths.insert(more.paths.begin(), more.paths.end());
    owned.lines.insert(more.lines.begin(), more.lines.end());
    owned.names.insert(more.names.begin(), more.names.end());
    owned.strings.insert(more.strings.begin(), more.strings.end());
    owned.paths.insert(input.parent_path().string());
  }
  const Finished f = strata(words);
  EXPECT_EQ(f.code, 0) << f.err;
  if (f.code != 0) return 0;
  const std::string content = everything_in(folder.file("r.strata"));
  EXPECT_GT(content.size(), 10000u);
  for (const std::string& path : owned.paths) EXPECT_EQ(content.find(path), std::string::npos) << path;
  for (const std::string& line : owned.lines)
    EXPECT_TRUE(is_public_name(line) || content.find(line) == std::string::npos) << line;
  for (const std::string& text : owned.strings)
    EXPECT_TRUE(is_public_name(text) || is_public_word(text) || content.find(text) == std::string::npos) << text;
  // Names as words: `conv` is in `convolution`.
  const std::set<std::string> left = words_of(without_torch_paths(content));
  std::vector<std::string> leaked;
  std::size_t secret = 0;
  for (const std::string& name : owned.names) {
    if (is_public_name(name) || is_public_word(name)) continue;
    ++secret;
    if (left.contains(name)) leaked.push_back(name);
  }
  EXPECT_THAT(leaked, ::testing::IsEmpty());
  for (const std::string& number : owned.numbers) EXPECT_FALSE(has_number(content, number)) << number;
  for (const std::string& name : locals) EXPECT_EQ(content.find("L['" + name + "']"), std::string::npos) << name;
  return secret;
}

TEST_P(RedactedTrace, NothingOfTheOwnerIsLeft) {
  std::vector<fs::path> inputs;
  for (const std::string& input : GetParam()) inputs.push_back(torch_data(input));
  const std::string name = inputs.front().filename().string();
  const bool rich = std::any_of(std::begin(kRich), std::end(kRich), [&](auto* n) { return name.starts_with(n); });
  EXPECT_GE(expect_nothing_left(inputs), rich ? 3u : 0u) << "the input has nothing to hide";
}

/// Every log and profile below STRATA_TORCH_TRACES, each by itself.
TEST(Redact, NothingOfTheOwnerIsLeftInOtherTraces) {
  const char* folder = std::getenv("STRATA_TORCH_TRACES");
  if (!folder || !*folder) GTEST_SKIP() << "set STRATA_TORCH_TRACES to a folder of traces";
  std::size_t secret = 0, files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool log = name.starts_with("dedicated_log_torch_trace");
    const bool profile = name.ends_with(".json.gz") || name.ends_with(".pt.trace.json");
    if (!entry.is_regular_file() || (!log && !profile) || entry.file_size() > (30 << 20)) continue;
    SCOPED_TRACE(entry.path().string());
    secret += expect_nothing_left({entry.path()});
    ++files;
  }
  EXPECT_GT(files, 0u);
  EXPECT_GT(secret, 0u);
}

/// Every file of the test data, those of one case together.
std::vector<std::vector<std::string>> redacted_sets() {
  std::map<std::string, std::vector<std::string>> sets;
  for (const char* folder : {"logs", "profiles", "text"})
    for (const auto& entry : fs::directory_iterator(torch_data(folder))) {
      const std::string name = entry.path().filename().string();
      const std::string key = name.starts_with("cnn") || name.starts_with("bert") || name.starts_with("ddp")
                                  ? name.substr(0, name.find_first_of("._"))
                                  : name.substr(0, name.find('.'));
      sets[key].push_back(std::string(folder) + "/" + name);
    }
  std::vector<std::vector<std::string>> all;
  for (auto& [key, files] : sets) all.push_back(std::move(files));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Inputs, RedactedTrace, ::testing::ValuesIn(redacted_sets()), [](const auto& info) {
  std::string name = fs::path(info.param.front()).filename().string();
  name = name.substr(0, name.find('.'));
  return name;
});

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

TEST(Redact, AProfileKeepsItsTimes) {
  TemporaryFolder folder;
  for (const char* name : {"cnn_fmnist_cpu_eager", "breaking_stacks_eager", "cnn_fmnist_compiled"}) {
    SCOPED_TRACE(name);
    const std::string profile = torch_data(std::string("profiles/") + name + ".json.gz").string();
    const std::string as_it_was = folder.file(std::string(name) + "_a.strata"),
                      redacted = folder.file(std::string(name) + "_b.strata");
    ASSERT_EQ(strata({"import", profile, "-o", as_it_was}).code, 0);
    ASSERT_EQ(strata({"import", profile, "--redact", "-o", redacted}).code, 0);
    const auto before = strata({"profile", as_it_was}), after = strata({"profile", redacted});
    ASSERT_EQ(after.code, 0) << after.err;
    // Operators of PyTorch are public: as many rows as before.
    EXPECT_EQ(std::count(before.out.begin(), before.out.end(), '\n'),
              std::count(after.out.begin(), after.out.end(), '\n'));
    EXPECT_TRUE(after.out.find("aten::") != std::string::npos || after.out.find("at::native::") != std::string::npos)
        << after.out;
  }
}

}  // namespace
}  // namespace strata::testing
