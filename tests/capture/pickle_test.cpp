// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/torch_save.h"
#include "tests/capture/zip_writer.h"
#include "tests/error_text.h"

namespace strata::capture {
namespace {

using strata::testing::as_bytes;
using strata::testing::error_text;
using strata::testing::ZipWriter;
using ::testing::HasSubstr;
using Kind = PickleValue::Kind;

std::string pickle_error(std::string_view data) {
  return error_text([&] { parse_pickle(data, "p"); });
}

TEST(Pickle, PlainDataOfProtocol2) {
  // pickle.dumps((1, -2, 300, 70000, None, True, 1.5, "é", [1], {"k": 2**70}), 2)
  using namespace std::string_view_literals;
  const auto tree = parse_pickle(
      "\x80\x02(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00N\x88G?"
      "\xf8\x00\x00\x00\x00\x00\x00X\x02\x00\x00\x00\xc3\xa9q\x00]q\x01"
      "K\x01"
      "a}q\x02X\x01\x00\x00\x00kq\x03\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00@stq\x04."sv,
      "p");
  const auto& items = tree->root->items;
  ASSERT_EQ(items.size(), 10u);
  EXPECT_EQ(items[0]->integer, 1);
  EXPECT_EQ(items[1]->integer, -2);
  EXPECT_EQ(items[2]->integer, 300);
  EXPECT_EQ(items[3]->integer, 70000);
  EXPECT_TRUE(items[4]->is(Kind::None));
  EXPECT_TRUE(items[5]->boolean);
  EXPECT_EQ(items[6]->number, 1.5);
  EXPECT_EQ(items[7]->text, "\xc3\xa9");
  EXPECT_EQ(items[8]->items.size(), 1u);
  ASSERT_EQ(items[9]->members.size(), 1u);
  EXPECT_TRUE(items[9]->members[0].second->is(Kind::BigInt));
}

TEST(Pickle, CallsAreRememberedNotMade) {
  using namespace std::string_view_literals;
  const auto tree = parse_pickle("cos\nsystem\nX\x04\x00\x00\x00true\x85R."sv, "p");
  EXPECT_TRUE(tree->root->is(Kind::Object));
  EXPECT_EQ(tree->root->called(), "os.system");
  EXPECT_EQ(tree->root->items[1]->items[0]->text, "true");
}

TEST(Pickle, DamageIsOneError) {
  using namespace std::string_view_literals;
  for (const auto bad : {""sv,
                         "."sv,
                         "\x80\x09."sv,
                         "a."sv,
                         "t."sv,
                         "h\x05."sv,
                         "NN."sv,
                         "(N."sv,
                         "(."sv,
                         "Nu."sv,
                         "R."sv,
                         "NNR."sv,
                         "X\xff\xff\xff\xff."sv,
                         "\x8e\xff\xff\xff\xff\xff\xff\xff\xff."sv,
                         "\x8b\xff\xff\xff\x7f."sv,
                         "Iabc\n."sv,
                         "cmodule"sv,
                         "\x93."sv,
                         "}(Nu."sv,
                         "Nb."sv,
                         "\x07."sv,
                         "(0t."sv})
    EXPECT_NE(pickle_error(bad), "") << bad;
  EXPECT_EQ(pickle_error("N"), "'p': byte 1 of the pickle: 1 more bytes are needed, 0 are left");
}

TEST(Pickle, StackAndMemoAreBounded) {
  EXPECT_THAT(pickle_error(std::string(200'000, 'N') + "."), HasSubstr("more than 100000 values on the stack"));
  EXPECT_THAT(pickle_error(std::string(200'000, '(') + "."), HasSubstr("more than 100000 marks"));
  std::string memo = "N";
  for (uint32_t i = 0; i <= 1'000'000; ++i) memo += 'r' + std::string(reinterpret_cast<const char*>(&i), 4);
  EXPECT_THAT(pickle_error(memo + "."), HasSubstr("more than 1000000 memo entries"));
}

TEST(Pickle, ListInItselfIsHeldOnce) {
  const auto tree = parse_pickle(
      "]q\x01h\x01"
      "a.",
      "p");
  ASSERT_EQ(tree->root->items.size(), 1u);
  EXPECT_EQ(tree->root->items[0], tree->root);
}

/// A torch.save archive of one float tensor with these sizes, strides and offset, over four elements.
std::string tensor_file(const std::string& sizes, const std::string& strides, const std::string& offset,
                        std::string_view byteorder = "little") {
  ZipWriter zip;
  zip.add("t/data.pkl", "ctorch._utils\n_rebuild_tensor_v2\n((X\x07" + std::string(3, '\0') +
                            "storagectorch\nFloatStorage\nX\x01" + std::string(3, '\0') + "0X\x03" +
                            std::string(3, '\0') + "cpuK\x04tQ" + offset + sizes + strides + "\x89}tR.");
  const float data[] = {1, 2, 3, 4};
  std::string bytes(reinterpret_cast<const char*>(data), sizeof data);
  if (byteorder == "big") strata::swap_bytes(std::as_writable_bytes(std::span(bytes)), 4);
  zip.add("t/data/0", bytes);
  zip.add("t/byteorder", byteorder);
  return zip.finish();
}

std::optional<Tensor> read_tensor(const std::string& file) {
  TorchSaveFile reader(copy_bytes(as_bytes(file)), "t.pt");
  return reader.tensor(reader.root());
}

TEST(TorchSave, TensorsAreViewsOfTheirStorage) {
  const auto tensor = read_tensor(tensor_file("K\x03\x85", "K\x01\x85", "K\x01"));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->values(), (std::vector<double>{2, 3, 4}));
  const auto transposed = read_tensor(tensor_file("K\x02K\x02\x86", "K\x01K\x02\x86", std::string("K\0", 2)));
  EXPECT_EQ(transposed->values(), (std::vector<double>{1, 3, 2, 4}));
  EXPECT_EQ(read_tensor(tensor_file("K\x03\x85", "K\x01\x85", "K\x01", "big"))->values(),
            (std::vector<double>{2, 3, 4}));
}

TEST(TorchSave, ViewsOutsideTheirStorageAreRefused) {
  const auto error = [](const std::string& sizes, const std::string& strides, const std::string& offset) {
    return error_text([&] { read_tensor(tensor_file(sizes, strides, offset)); });
  };
  const std::string zero("K\0", 2), huge("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", 10);
  EXPECT_THAT(error("K\x05\x85", "K\x01\x85", zero), HasSubstr("needs 20 bytes, its data has 16"));
  EXPECT_THAT(error("K\x04\x85", "K\x01\x85", "K\x01"), HasSubstr("needs 20 bytes"));
  EXPECT_THAT(error("K\x02\x85", huge + "\x85", zero), HasSubstr("no valid tensor"));
  EXPECT_THAT(error(huge + "\x85", "K\x01\x85", zero), HasSubstr("no valid tensor"));
  EXPECT_THAT(error("J\xff\xff\xff\xff\x85", "K\x01\x85", zero), HasSubstr("no valid tensor"));
  EXPECT_THAT(error("K\x04\x85", "J\xff\xff\xff\xff\x85", "K\x03"), HasSubstr("no valid tensor"));
  EXPECT_THAT(error("J\xff\xff\xff\x7f\x85", zero + "\x85", zero), HasSubstr("too often"));
  EXPECT_EQ(error(zero + huge + "\x86", "K\x01K\x01\x86", zero), "");  // no element at all
}

}  // namespace
}  // namespace strata::capture
