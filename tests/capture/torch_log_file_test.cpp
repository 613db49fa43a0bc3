// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_trace/log_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "capture/torch_trace/gunzip.h"
#include "capture/torch_trace/md5.h"
#include "core/support/error.h"

namespace strata::capture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// `V1121 09:31:15.242000 PID torch/x.py:1] JSON`
std::string head(std::string_view json, std::string_view pid = "18173", std::string_view path = "torch/x.py:1") {
  return fmt::format("V1121 09:31:15.242000 {} {}] {}\n", pid, path, json);
}

std::string tabbed(std::string_view payload) {
  std::string out = "\t";
  for (const char c : payload) {
    out += c;
    if (c == '\n') out += '\t';
  }
  return out + "\n";
}

std::string artifact(std::string_view name, std::string_view payload, std::string_view pid = "18173") {
  return head(fmt::format(R"({{"artifact": {{"name": "{}", "encoding": "string"}}, "frame_id": 0, )"
                          R"("frame_compile_id": 0, "attempt": 0, "has_payload": "{}"}})",
                          name, to_hex(md5(payload))),
              pid) +
         tabbed(payload);
}

LogFile read(std::string_view text, std::string_view name = "a.log") {
  return LogFile::read(copy_bytes(std::as_bytes(std::span(text.data(), text.size()))), name, {}, 1);
}

std::int64_t count(const LogFile& file, const char* kind) {
  const auto found = file.problems().find(kind);
  return found == file.problems().end() ? 0 : found->second.count;
}

std::string gzip(std::string_view text) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 1000, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string with_crlf(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

TEST(Md5, OfTheStandard) {
  EXPECT_EQ(to_hex(md5("")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(to_hex(md5("abc")), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(to_hex(md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890")),
            "57edf4a22be3c955ac49da2e2107b67a");
}

TEST(Md5, InPiecesAsInOne) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 37 + 11);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Md5 hash;
    hash.update(std::string_view(text).substr(0, cut));
    hash.digest();
    hash.update(std::string_view(text).substr(cut));
    ASSERT_EQ(hash.digest(), md5(text)) << cut;
  }
  EXPECT_FALSE(parse_md5("xyz"));
  EXPECT_FALSE(parse_md5("900150983cd24fb0d6963f7d28e17f7g"));
  EXPECT_EQ(parse_md5("900150983CD24FB0D6963F7D28E17F72"), md5("abc"));
}

TEST(LogLine, PathsWithBlanksColonsAndBrackets) {
  const auto plain = parse_log_head(R"(V1121 09:31:15.242000 18173 torch/_dynamo/utils.py:1072] {"link": {}})");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->path, "torch/_dynamo/utils.py");
  EXPECT_EQ(plain->source_line, 1072);
  EXPECT_EQ(plain->ident, 18173);
  EXPECT_EQ(plain->time.micros, 242000);
  EXPECT_EQ(plain->json, R"({"link": {}})");
  const auto windows = parse_log_head(R"(V1121 09:31:15.242000 7 C:\my dir [1] {x\utils.py:12] {"a": 1})");
  ASSERT_TRUE(windows);
  EXPECT_EQ(windows->path, R"(C:\my dir [1] {x\utils.py)");
  EXPECT_EQ(windows->source_line, 12);
}

TEST(LogLine, OtherLogsAreNone) {
  EXPECT_FALSE(parse_log_head("V1121 09:31:15.242000 7 torch/x.py:12] [0/0] text"));
  EXPECT_FALSE(parse_log_head("[rank0]:V1121 09:31:15.242000 7 torch/x.py:12] {\"a\": 1}"));
  EXPECT_FALSE(parse_log_head("V1121 09:31:15.242000 7 torch/x.py] {\"a\": 1}"));
  EXPECT_FALSE(parse_log_head("V1121 09:31:15.242000 99999999999999999999 torch/x.py:1] {\"a\": 1}"));
  EXPECT_FALSE(parse_log_head("V1121 09:31"));
  EXPECT_FALSE(parse_log_head(""));
}

TEST(LogFile, PayloadOfTheExample) {
  const LogFile file = read(
      "V1121 09:31:15.242000 18173 torch/x.py:1] {\"artifact\": {\"name\": \"note\", \"encoding\": \"string\"}, "
      "\"has_payload\": \"be77a1566b142b30dcd44e690f5f701f\"}\n\tfirst line\n\t\n\tthird line\n");
  ASSERT_EQ(file.records().size(), 1u);
  const LogRecord& record = file.records()[0];
  EXPECT_EQ(record.key, "artifact");
  EXPECT_EQ(record.metadata.find("name").string(), "note");
  EXPECT_EQ(file.payload(record), "first line\n\nthird line");
  EXPECT_EQ(record.hash_state, HashState::Matches);
  EXPECT_TRUE(file.problems().empty());
}

TEST(LogFile, PayloadsOfEveryShape) {
  const std::vector<std::string> payloads{"",          "\n", "a\n", "a\rb\r\nc", "x\u2028y\fz", "\xff\xfe bad utf-8",
                                          "\ta\n\n\tb"};
  std::string log;
  for (const std::string& p : payloads) log += artifact("p", p);
  const std::string big(50'000'000, 'q');
  log += artifact("big", big);
  const LogFile file = read(log);
  ASSERT_EQ(file.records().size(), payloads.size() + 1);
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    EXPECT_EQ(file.payload(file.records()[i]), payloads[i]) << i;
    EXPECT_EQ(file.records()[i].hash_state, HashState::Matches) << i;
  }
  EXPECT_EQ(file.payload(file.records().back()), big);
  EXPECT_TRUE(file.problems().empty());
}

TEST(LogFile, EnvelopesOfEveryShape) {
  const LogFile file = read(
      head(R"({"attempt": 2, "frame_compile_id": 1, "has_payload": "d41d8cd98f00b204e9800998ecf8427e", "rank": 3,)"
           R"( "frame_id": 4, "link": {"name": "n"}})") +
      head(R"({"new_thing": {"a": NaN, "b": 123456789012345678901234567890, "c": "\udc80"}, "other_new": [1]})") +
      head(R"({"str": ["x.py", 0], "frame_id": null, "frame_compile_id": null, "attempt": null})") +
      head(R"({"link": {}, "compiled_autograd_id": 1, "frame_id": 0, "frame_compile_id": 0})") +
      head(R"({"link": {}, "compiled_autograd_id": 1, "attempt": 0})") +
      head(R"({"artifact": {}, "stack": [{"line": 1}], "severity": 1})") + head(R"({"frame_id": 1, "frame_id": 2})"));
  ASSERT_EQ(file.records().size(), 7u);
  EXPECT_TRUE(file.problems().empty());
  const auto& r = file.records();
  EXPECT_EQ(r[0].key, "link");
  EXPECT_EQ(r[0].compile_id(), "4/1");
  EXPECT_EQ(r[0].attempt, 2);
  EXPECT_EQ(r[0].rank, 3);
  EXPECT_EQ(file.rank(18173), 3);
  EXPECT_EQ(r[0].hash_state, HashState::Matches);
  EXPECT_EQ(r[1].key, "new_thing");
  EXPECT_EQ(r[1].metadata.find("a").text, "NaN");
  EXPECT_EQ(r[1].metadata.find("b").words(), "123456789012345678901234567890");
  ASSERT_EQ(r[1].others.size(), 1u);
  EXPECT_EQ(r[1].others[0].first, "other_new");
  EXPECT_FALSE(r[2].has_compile_id());
  EXPECT_FALSE(r[2].attempt);
  EXPECT_EQ(r[3].compile_id(), "!1/0/0");
  EXPECT_EQ(r[4].compile_id(), "!1");
  EXPECT_EQ(r[5].stack.items().size(), 1u);
  EXPECT_EQ(r[6].key, "");
  EXPECT_EQ(r[6].frame, 2);
}

TEST(LogFile, GarbageIsCountedAndNothingElseIsLost) {
  const std::string log = "\torphan\n" + head("{\"link\": {}, \"has_payload\": \"" + to_hex(md5("one\ntwo")) + "\"}") +
                          "\tone\n\nwarning: something\n\ttwo\n" + head("{\"link\": {broken}") + "\tlost\n\tlost\n" +
                          head(R"({"link": {}})");
  const LogFile file = read(log);
  ASSERT_EQ(file.records().size(), 2u);
  EXPECT_EQ(file.payload(file.records()[0]), "one\ntwo");
  EXPECT_EQ(count(file, "bad_prefix"), 1);
  EXPECT_EQ(count(file, "bad_json"), 1);
  EXPECT_EQ(count(file, "orphan_payload"), 2);
  EXPECT_EQ(count(file, "hash_mismatch"), 0);
  EXPECT_EQ(file.problems().at("bad_prefix").places[0].line, 5);
  EXPECT_EQ(file.problems().at("bad_json").places[0].line, 7);
  EXPECT_EQ(file.problems().at("orphan_payload").places[0].line, 1);
}

TEST(LogFile, CrLfByMajority) {
  const std::string log = artifact("a", "one\n\ntwo") + artifact("b", "three\n") + head(R"({"link": {}})");
  const LogFile file = read(with_crlf(log));
  EXPECT_TRUE(file.crlf());
  ASSERT_EQ(file.records().size(), 3u);
  EXPECT_EQ(file.payload(file.records()[0]), "one\n\ntwo");
  EXPECT_EQ(file.payload(file.records()[1]), "three\n");
  EXPECT_TRUE(file.problems().empty());
  // One head line with a CR does not make a CR LF file: the CR in the payload stays.
  std::string one = artifact("a", "x\r") + artifact("b", "y") + artifact("c", "z");
  one.insert(one.find('\n'), "\r");
  const LogFile mixed = read(one);
  EXPECT_FALSE(mixed.crlf());
  EXPECT_EQ(mixed.payload(mixed.records()[0]), "x\r");
  EXPECT_TRUE(mixed.problems().empty());
}

TEST(LogFile, CutAtEveryByte) {
  const std::string log = artifact("first", "one\n\ntwo\n") + head(R"({"str": ["m.py", 0]})") + artifact("second", "x");
  const LogFile whole = read(log);
  ASSERT_EQ(whole.records().size(), 3u);
  for (std::size_t size = 0; size <= log.size(); ++size) {
    const LogFile cut = read(std::string_view(log).substr(0, size));
    ASSERT_LE(cut.records().size(), 3u) << size;
    EXPECT_EQ(count(cut, "hash_mismatch") + count(cut, "bad_json") + count(cut, "orphan_payload"), 0) << size;
    for (std::size_t i = 0; i < cut.records().size(); ++i) {
      EXPECT_EQ(cut.records()[i].key, whole.records()[i].key) << size;
      if (i + 1 < cut.records().size()) {
        EXPECT_EQ(cut.payload(cut.records()[i]), whole.payload(whole.records()[i])) << size;
        EXPECT_EQ(cut.records()[i].hash_state, whole.records()[i].hash_state) << size;
      }
    }
  }
}

TEST(LogFile, TruncatedIsNotCorrupt) {
  const std::string log = artifact("a", "1") + artifact("b", "one\ntwo");
  const LogFile file = read(std::string_view(log).substr(0, log.size() - 3));
  EXPECT_EQ(count(file, "truncated"), 1);
  EXPECT_EQ(count(file, "hash_mismatch"), 0);
  std::string wrong = log;
  wrong[wrong.find("\t1") + 1] = '2';
  EXPECT_EQ(count(read(wrong), "hash_mismatch"), 1);
  EXPECT_EQ(count(read(wrong), "truncated"), 0);
}

TEST(LogFile, TablesOfTwoProcessesAndUnknownIds) {
  LogFile file =
      read(head(R"({"str": ["parent.py", 0]})", "1") + head(R"({"str": ["shared.py", 1]})", "1") +
           head(R"({"str": ["child.py", 0]})", "2") + head(R"({"link": {}})", "1") + head(R"({"link": {}})", "2"));
  const LogRecord& parent = file.records()[3];
  const LogRecord& child = file.records()[4];
  EXPECT_THAT(file.idents(), ElementsAre(1, 2));
  EXPECT_EQ(file.file_name(parent, 0), "parent.py");
  EXPECT_EQ(file.file_name(child, 0), "child.py");
  EXPECT_EQ(file.file_name(child, 1), "shared.py");
  EXPECT_EQ(file.file_name(child, -1), "");
  EXPECT_EQ(file.file_name(child, 17), "<file #17>");
  EXPECT_EQ(file.file_name(child, 17), "<file #17>");
  EXPECT_EQ(count(file, "missing_string"), 1);
}

TEST(LogFile, TornRecordsArePutTogether) {
  const std::string a = artifact("a", "a1\na2\na3\na4", "1"), b = artifact("b", "b1\nb2", "2");
  const std::size_t middle = a.find("\ta3");
  // The rest of `a` hangs on `b`; with and without a payload of its own, and with a record in between.
  const std::string link = head(R"({"link": {}})", "2");
  for (const std::string& inner : {b, link, link + b, b + link}) {
    const LogFile file = read(a.substr(0, middle) + inner + a.substr(middle) + artifact("c", "c"));
    ASSERT_GE(file.records().size(), 3u);
    EXPECT_EQ(file.payload(file.records()[0]), "a1\na2\na3\na4") << inner;
    EXPECT_TRUE(file.problems().empty()) << inner;
    EXPECT_EQ(file.repaired(), 1);
    for (const LogRecord& record : file.records()) {
      if (record.metadata.find("name").string() == "b") {
        EXPECT_EQ(file.payload(record), "b1\nb2");
      }
    }
  }
}

TEST(LogFile, TornTwice) {
  const std::string a = artifact("a", "a1\na2\na3", "1");
  const std::size_t second = a.find("\ta2"), third = a.find("\ta3");
  const LogFile file = read(a.substr(0, second) + artifact("b", "b1", "2") + a.substr(second, third - second) +
                            artifact("c", "c1", "3") + a.substr(third));
  ASSERT_EQ(file.records().size(), 3u);
  EXPECT_EQ(file.payload(file.records()[0]), "a1\na2\na3");
  EXPECT_EQ(file.payload(file.records()[1]), "b1");
  EXPECT_EQ(file.payload(file.records()[2]), "c1");
  EXPECT_TRUE(file.problems().empty());
}

TEST(LogFile, TornRecordsThatDoNotFitStay) {
  const LogFile file = read(artifact("a", "a1\na2", "1").substr(0, artifact("a", "a1\na2", "1").size() - 4) +
                            artifact("b", "b1\nb2", "2") + "\tother\n" + artifact("c", "c"));
  EXPECT_EQ(file.repaired(), 0);
  EXPECT_EQ(count(file, "hash_mismatch"), 2);
}

TEST(LogFile, Gzip) {
  const std::string first = artifact("a", "one"), second = artifact("b", "two");
  const LogFile file = read(gzip(first) + gzip(second));
  EXPECT_TRUE(file.compressed());
  EXPECT_EQ(file.records().size(), 2u);
  EXPECT_TRUE(file.problems().empty());
}

TEST(LogFile, GzipCutShortKeepsWhatIsThere) {
  std::string log;
  for (int i = 0; i < 300; ++i) log += artifact(fmt::format("n{}", i), fmt::format("payload {} {}", i, i * i));
  const std::string packed = gzip(log);
  const std::size_t all = read(packed).records().size();
  std::size_t before = 0;
  for (std::size_t size = 0; size < packed.size(); size += 97) {
    const LogFile file = read(std::string_view(packed).substr(0, size));
    if (size >= 2) {
      EXPECT_EQ(count(file, "gzip"), 1);
    }
    EXPECT_GE(file.records().size(), before);
    before = file.records().size();
  }
  EXPECT_GT(before, all / 2);
  std::string damaged = packed;
  for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 8; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  EXPECT_EQ(count(read(damaged), "gzip"), 1);
}

TEST(LogFile, LimitsAreKept) {
  LogLimits limits;
  limits.envelope = 300;
  limits.unpacked = 100;
  const auto open = [&](std::string_view text) {
    return LogFile::read(copy_bytes(std::as_bytes(std::span(text.data(), text.size()))), "", limits, 1);
  };
  const LogFile file = open(head("{\"link\": \"" + std::string(400, 'x') + "\"}") + head("{\"link\": 1}"));
  EXPECT_EQ(file.records().size(), 1u);
  EXPECT_EQ(count(file, "too_large"), 1);
  limits.payload = 10;
  const LogFile large = open(artifact("a", "12345678901") + artifact("b", "1"));
  EXPECT_EQ(large.payload(large.records()[0]), "");
  EXPECT_EQ(large.payload(large.records()[1]), "1");
  EXPECT_EQ(count(large, "too_large"), 1);
  const LogFile bomb = open(gzip(std::string(1'000'000, 'x')));
  EXPECT_EQ(count(bomb, "gzip"), 1);
  EXPECT_LE(bomb.bytes(), 100u);
  const LogFile deep = read(head("{\"link\": " + std::string(100000, '[') + std::string(100000, ']') + "}"));
  EXPECT_EQ(count(deep, "bad_json"), 1);
}

TEST(LogFile, NothingAndNotATrace) {
  EXPECT_TRUE(read("").records().empty());
  EXPECT_TRUE(read("").problems().empty());
  const LogFile text = read("hello\nworld\n\x00\x01\x02\n");
  EXPECT_TRUE(text.records().empty());
  EXPECT_GE(count(text, "bad_prefix"), 2);
  EXPECT_FALSE(looks_like_torch_trace("hello\n"));
  EXPECT_TRUE(looks_like_torch_trace("noise\n" + head("{\"link\": 1}")));
  EXPECT_TRUE(looks_like_torch_trace(gzip(head("{\"link\": 1}"))));
  EXPECT_THROW(LogFile::open("/nowhere/x.log"), Error);
}

TEST(LogFile, RanksOfNames) {
  EXPECT_EQ(rank_of_file_name("dedicated_log_torch_trace_rank_3_abcdefgh.log"), 3);
  EXPECT_EQ(rank_of_file_name("ddp_rank_12.log.gz"), 12);
  EXPECT_EQ(rank_of_file_name("dedicated_log_torch_trace_abcdefgh.log"), -1);
  EXPECT_EQ(rank_of_file_name("rank_.log"), -1);
  EXPECT_EQ(read(head("{\"link\": 1}"), "x_rank_5_.log").rank(18173), 5);
}

TEST(JsonSlice, TakesApart) {
  const JsonSlice json =
      parse_slice(R"( {"a": [1, "x,]", {"b": {}}], "q\"": "é\n", "a2": [], "n": null, "d": 1e-05} )");
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json.members().size(), 5u);
  const auto items = json.find("a").items();
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].integer(), 1);
  EXPECT_EQ(items[1].string(), "x,]");
  EXPECT_EQ(items[2].find("b").text, "{}");
  EXPECT_EQ(json.find("q\"").string(), "é\n");
  EXPECT_TRUE(json.find("a2").items().empty());
  EXPECT_TRUE(json.find("n").is_null());
  EXPECT_EQ(json.find("d").number(), 1e-05);
  EXPECT_FALSE(json.find("none"));
  EXPECT_EQ(parse_slice(R"({"k": 1, "k": 2})").find("k").integer(), 2);
  EXPECT_FALSE(parse_slice("{\"a\": }"));
  EXPECT_FALSE(parse_slice("{} {}"));
  EXPECT_FALSE(parse_slice(""));
}

}  // namespace
}  // namespace strata::capture
