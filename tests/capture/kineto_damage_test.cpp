// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Profiles that are not valid JSON, cut short or nothing at all.

#include "tests/capture/kineto_testing.h"

namespace strata::capture {
namespace {

class KinetoDamage : public ProfileTest {
 protected:
  /// A profile with one event of this name as it stands in the file, and one behind it.
  static std::string named(const std::string& name) {
    return "{\"baseTimeNanoseconds\": 1790857026000000000, \"traceEvents\": [\n"
           "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" +
           name +
           "\", \"pid\": 1, \"tid\": 1,\n\"ts\": 1.5, \"dur\": 2,\n\"args\": {\"Input type\": [\"float\", \"\"]}},\n"
           "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"behind\", \"pid\": 1, \"tid\": 1, \"ts\": 3, \"dur\": 2}\n"
           "], \"traceName\": \"x\"}";
  }
  static std::string with_args(const std::string& args) {
    return "[{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 3, \"dur\": 2, "
           "\"args\": " +
           args + "}, {\"ph\": \"X\", \"name\": \"behind\", \"pid\": 1, \"tid\": 1, \"ts\": 3, \"dur\": 2}]";
  }
};

TEST_F(KinetoDamage, QuotesInNames) {
  for (const std::string name :
       {"say \"x\"", "5\" disk", "\"", "\"\"", "f(\"a\", \"b\")", "{\"a\": 1}", "a\", b", "}\"]", "x\"} y", "plain"}) {
    import_text(named(name));
    ASSERT_EQ(events.size(), 2u) << name;
    EXPECT_EQ(events[0].name, name);
    EXPECT_EQ(events[0].args, R"({"Input type":["float",""]})") << name;
    EXPECT_EQ(events[1].name, "behind");
  }
}

TEST_F(KinetoDamage, QuotesInItems) {
  import_text(with_args(R"({"Concrete Inputs": ["say "x"", "", "'", "a", "b, c"], "k": 1})"));
  EXPECT_EQ(events.at(0).args, R"({"Concrete Inputs":["say \"x\"","","'","a","b, c"],"k":1})");
  EXPECT_EQ(events.size(), 2u);
}

TEST_F(KinetoDamage, EscapesAndBytes) {
  import_text(named("tab\\t \\u00e9 \\ud83d\\ude00 \\udc80 \\q \x01 \xff \xc3\xa9"));
  EXPECT_EQ(events.at(0).name, "tab\t \xc3\xa9 \xf0\x9f\x98\x80 \xef\xbf\xbd \\q \x01 \xef\xbf\xbd \xc3\xa9");
  EXPECT_EQ(events.size(), 2u);
}

TEST_F(KinetoDamage, NotANumber) {
  import_text(with_args(R"({"a": nan, "b": -inf, "c": Infinity, "d": 1e-05, "e": [NaN, 01, 1.], "f": true,})"));
  EXPECT_EQ(events.at(0).args, R"({"a":"nan","b":"-inf","c":"Infinity","d":1e-05,"e":["NaN","01","1."],"f":true})");
  EXPECT_NO_THROW(parse_json(events.at(0).args, "args"));
}

TEST_F(KinetoDamage, TrailingCommasAndBlanks) {
  import_text(
      "  {\"traceEvents\": [\n\n   \n{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 3, \"dur\": "
      "2,},\n    \n\n,{\"ph\": \"i\", \"name\": \"b\", \"pid\": 1, \"tid\": 1, \"ts\": 4},\n],}\n\n");
  EXPECT_EQ(events.size(), 2u);
  for (const auto& [key, n] : counts())
    EXPECT_FALSE(key.starts_with("problem.") && key != "problem.no_base_time") << key;
}

TEST_F(KinetoDamage, BadEventsAreSkippedAndKept) {
  import_text(R"({"baseTimeNanoseconds": 1790857026000000000, "traceEvents": [
{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 3, "dur": 2},
{"ph": "X", "name": "b", "pid": 1 "tid": 1, "ts": 3, "dur": 2},
{"ph": "X", "name": "c", "pid": 1, "tid": 1, "ts": 3, "dur": 2},
17, "text", null,
{"ph": "X", "name": "d", "pid": 1, "tid": 1, "ts": "soon", "dur": 2},
{"ph": "R", "name": "mark", "pid": 1, "tid": 1, "ts": 3},
{"ph": "X", "name": "e", "pid": 1, "tid": 1, "ts": 4, "dur": 2},
{"ph": "E", "pid": 1, "tid": 1, "ts": 4},
{"ph": "B", "name": "open", "pid": 1, "tid": 1, "ts": 9}
]})");
  std::vector<std::string> names;
  for (const trace::EventRecord& e : events) names.push_back(e.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "c", "e", "open"}));
  auto c = counts();
  EXPECT_EQ(c["problem.bad_event"], 4);
  EXPECT_EQ(c["problem.bad_time"], 1);
  EXPECT_EQ(c["problem.unmatched_end"], 1);
  EXPECT_EQ(c["problem.unclosed"], 1);
  EXPECT_EQ(c["unknown:event:R"], 1);
  EXPECT_EQ(c["R:"], 1);
  EXPECT_EQ(event("open").duration_ns, -1);
  bool found = false;
  for (const trace::DiagnosticRecord& d : reader->diagnostics()) found |= d.line == 3 && d.input != trace::kNone;
  EXPECT_TRUE(found) << "the line of the bad event";
  std::vector<std::string> kept;
  for (const trace::RawRecord& r : reader->raw_records()) kept.push_back(reader->raw_record(r.id)->content);
  EXPECT_EQ(kept.size(), 6u);
  EXPECT_NE(std::find(kept.begin(), kept.end(), R"({"ph": "R", "name": "mark", "pid": 1, "tid": 1, "ts": 3})"),
            kept.end());
}

TEST_F(KinetoDamage, BrokenMetadata) {
  import_text(R"({"mine": hello "world", "schemaVersion": 1, "traceEvents": [
{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 3, "dur": 2}], "other": {{, "baseTimeNanoseconds": 1790857026000000000})");
  EXPECT_EQ(events.size(), 1u);
  EXPECT_EQ(events.at(0).start_ns, 1790857026000003000);
  EXPECT_EQ(counts()["problem.bad_metadata"], 2);
}

TEST_F(KinetoDamage, CutAtEveryByte) {
  const std::string whole = named("say \"x\"");
  for (std::size_t cut = whole.find("\"behind\""); cut < whole.size(); ++cut) {
    import_text(whole.substr(0, cut), 64);
    ASSERT_GE(events.size(), 1u) << cut;
    EXPECT_EQ(events[0].name, "say \"x\"") << cut;
    std::int64_t problems = 0;
    for (const auto& [key, n] : counts()) problems += key.starts_with("problem.") ? n : 0;
    EXPECT_GE(problems, 1) << cut;
  }
}

TEST_F(KinetoDamage, TwoProfilesInOneFile) {
  import_text(named("a") + named("b"));
  EXPECT_EQ(events.size(), 2u);
  EXPECT_EQ(counts()["problem.trailing_bytes"], 1);
}

TEST_F(KinetoDamage, Gzip) {
  const std::string text = named("a");
  import_text(gzip(text.substr(0, 100)) + gzip(text.substr(100)));
  EXPECT_EQ(events.size(), 2u);
  EXPECT_EQ(counts().count("problem.truncated_gzip"), 0u);
  import_text(gzip(text) + std::string(512, '\0'));
  EXPECT_EQ(events.size(), 2u);
  std::string many = "[";
  for (int i = 0; i < 5000; ++i)
    many += "{\"ph\": \"X\", \"name\": \"n" + std::to_string(i * 7919 % 4999) +
            "\", \"pid\": 1, \"tid\": 1, \"ts\": " + std::to_string(i) + ", \"dur\": 2},\n";
  const std::string packed = gzip(many + "]");
  import_text(packed.substr(0, packed.size() / 2));
  EXPECT_GT(events.size(), 1000u);
  EXPECT_LT(events.size(), 4000u);
  EXPECT_EQ(counts()["problem.truncated_gzip"], 1);
  std::string damaged = packed;
  for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 8; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  import_text(damaged);
  EXPECT_EQ(counts()["problem.truncated_gzip"], 1);
}

TEST_F(KinetoDamage, NotAProfile) {
  for (const std::string text :
       {"", "   ", "hello", "{}", "{\"a\": 1}", "{\"traceEvents\": 5}", "\x1f\x8b\x08", "42"}) {
    make_trace(
        [&](ImportContext& context) { EXPECT_THROW(import_profile(context, text, "test.json"), Error) << text; });
    EXPECT_TRUE(reader->runs().empty()) << text;
    std::ofstream(folder / "x.json", std::ios::binary) << text;
    if (text != "{\"traceEvents\": 5}") {
      EXPECT_FALSE(is_profile(folder / "x.json")) << text;
    }
  }
  EXPECT_THROW(import_file(folder / "missing.json"), Error);
  EXPECT_THROW(import_file(folder), Error);
  EXPECT_FALSE(is_profile(folder / "missing.json"));
  std::ofstream(folder / "y.json") << named("a");
  EXPECT_TRUE(is_profile(folder / "y.json"));
}

TEST_F(KinetoDamage, DeepNesting) {
  import_text(with_args(std::string(100'000, '[') + std::string(100'000, ']')));
  EXPECT_EQ(events.size(), 1u);
  EXPECT_EQ(counts()["problem.bad_event"], 1);
}

TEST_F(KinetoDamage, Cancel) {
  std::string many = "[";
  for (int i = 0; i < 20000; ++i) many += R"({"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": 5, "dur": 2},)";
  const auto path = folder / "c.strata";
  trace::Writer writer(path);
  int calls = 0;
  ImportContext context(writer, [&](double part, std::string_view) {
    EXPECT_GE(part, 0);
    EXPECT_LE(part, 1);
    return ++calls < 3;
  });
  EXPECT_THROW(import_profile(context, many, "x.json", 4096), ImportCancelled);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace strata::capture
