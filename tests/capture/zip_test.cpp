// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "core/support/error.h"
#include "tests/capture/zip_writer.h"
#include "tests/error_text.h"

namespace strata::capture {
namespace {

using strata::testing::as_bytes;
using strata::testing::error_text;
using strata::testing::ZipWriter;
using ::testing::HasSubstr;

ZipArchive open(const std::string& bytes) { return ZipArchive(copy_bytes(as_bytes(bytes)), "z"); }

std::string open_error(const std::string& bytes) {
  return error_text([&] {
    const ZipArchive zip = open(bytes);
    for (const std::string& name : zip.names()) zip.read(name);
  });
}

std::string deflate_raw(const std::string& data) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(data.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Zip, StoredMembersAreViewsOfTheFile) {
  ZipWriter writer;
  writer.add("a/x", "hello");
  writer.add("a/empty", "");
  const Bytes bytes = copy_bytes(as_bytes(writer.finish()));
  const ZipArchive zip(bytes, "z");
  EXPECT_THAT(zip.names(), ::testing::ElementsAre("a/empty", "a/x"));
  const Bytes member = zip.read("a/x");
  EXPECT_EQ(member.text(), "hello");
  EXPECT_GE(member.data.data(), bytes.data.data());
  EXPECT_LT(member.data.data(), bytes.data.data() + bytes.size());
  EXPECT_EQ(zip.read("a/empty").size(), 0u);
  EXPECT_FALSE(zip.find("b"));
  EXPECT_EQ(error_text([&] { zip.read("b"); }), "'z': member 'b' is missing");
}

TEST(Zip, Zip64SizesAndOffsets) {
  ZipWriter writer;
  writer.add("first", "1");
  writer.add("x", "hello").zip64 = true;
  EXPECT_EQ(open(writer.finish()).read("x").text(), "hello");
  writer.entries[1].packed = writer.entries[1].size = uint64_t{1} << 60;
  EXPECT_THAT(open_error(writer.finish()), HasSubstr("reaches beyond the end of the file"));
  writer.entries[1].offset = ~uint64_t{0} - 5;
  EXPECT_THAT(open_error(writer.finish()), HasSubstr("has no header"));
}

TEST(Zip, DeflatedMembersAreInflatedButNotBeyondTheirSize) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * i) + " ";
  ZipWriter writer;
  auto& entry = writer.add("x", deflate_raw(text));
  entry.method = 8;
  entry.size = text.size();
  EXPECT_EQ(open(writer.finish()).read("x").text(), text);
  for (const uint64_t wrong : {text.size() - 1, text.size() + 1}) {
    writer.entries[0].size = wrong;
    EXPECT_THAT(open_error(writer.finish()), HasSubstr("does not inflate to"));
  }
  writer.entries[0].size = 0xfffffff0;
  EXPECT_THAT(open_error(writer.finish()), HasSubstr("more than its"));
}

TEST(Zip, OfEqualNamesTheLastWins) {
  ZipWriter writer;
  writer.add("x", "old");
  writer.add("x", "new");
  EXPECT_EQ(open(writer.finish()).read("x").text(), "new");
}

TEST(Zip, RefusesOverlapsEncryptionAndOtherMethods) {
  ZipWriter writer;
  writer.add("a", std::string(100, 'a'));
  writer.add("b", "b");
  const ZipWriter good = writer;
  writer.entries[0].packed = writer.entries[0].size = 150;
  EXPECT_THAT(open_error(writer.finish()), HasSubstr("member 'a' overlaps member 'b'"));
  writer = good;
  writer.entries[1].packed = writer.entries[1].size = 30;
  EXPECT_THAT(open_error(writer.finish()), HasSubstr("member 'b' overlaps the zip directory"));
  writer = good;
  writer.entries[1].offset = writer.entries[0].offset;
  EXPECT_THAT(open_error(writer.finish()), HasSubstr("overlaps"));
  writer = good;
  writer.entries[0].flags = 1;
  EXPECT_THAT(open_error(writer.finish()), HasSubstr("is encrypted"));
  writer = good;
  writer.entries[0].method = 12;
  EXPECT_THAT(open_error(writer.finish()), HasSubstr("compression method 12"));
  writer = good;
  writer.entries[0].size = 99;
  EXPECT_THAT(open_error(writer.finish()), HasSubstr("its two sizes differ"));
  writer = good;
  writer.entries[0].crc = 12345;  // weights are read in place, nothing sums them up
  EXPECT_EQ(open_error(writer.finish()), "");
}

TEST(Zip, EveryTruncationIsOneError) {
  ZipWriter writer;
  writer.add("a", "some text");
  writer.add("b", std::string(300, 'b'));
  const std::string good = writer.finish();
  ASSERT_EQ(open_error(good), "");
  for (size_t size = 0; size < good.size(); ++size) EXPECT_NE(open_error(good.substr(0, size)), "") << size;
}

TEST(Zip, EveryDamagedByteOfTheDirectoryIsHandled) {
  ZipWriter writer;
  writer.add("a", "some text");
  writer.add("b", "b").zip64 = true;
  const std::string good = writer.finish();
  for (size_t at = good.size() - 200; at < good.size(); ++at)
    for (const char value : {'\0', '\1', '\x7f', '\xff'}) {
      std::string bad = good;
      bad[at] = value;
      open_error(bad);  // any outcome but a crash or another kind of error
    }
}

}  // namespace
}  // namespace strata::capture
