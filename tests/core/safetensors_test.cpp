// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "core/support/error.h"

namespace strata {
namespace {

using ::testing::HasSubstr;

std::string file_of(const std::string& header, size_t data) {
  const uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), 8) + header + std::string(data, '\1');
}

std::string read_error(const std::string& file) {
  try {
    parse_safetensors(copy_bytes(std::as_bytes(std::span(file))), "f");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::User);
    return error.what();
  }
  return {};
}

TEST(Safetensors, RoundTrip) {
  const auto path = std::filesystem::temp_directory_path() / "strata_test.safetensors";
  Safetensors contents;
  contents.metadata["by \"me\"\n"] = "a\\b";
  for (const DType dtype :
       {DType::Bool, DType::U8, DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64, DType::U16})
    contents.tensors[std::string(dtype_name(dtype))] = Tensor::of(dtype, {2, 2}, std::vector<double>{0, 1, 1, 0});
  Tensor transposed = Tensor::of(DType::F32, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
  std::swap(transposed.shape[0], transposed.shape[1]);
  std::swap(transposed.strides[0], transposed.strides[1]);
  contents.tensors["view"] = transposed;
  contents.tensors["empty"] = Tensor::empty(DType::F32, {0, 4});
  contents.tensors["scalar"] = Tensor::scalar(DType::F64, -0.5);
  write_safetensors(path, contents);
  const Safetensors back = read_safetensors(path);
  std::filesystem::remove(path);
  EXPECT_EQ(back.metadata, contents.metadata);
  ASSERT_EQ(back.tensors.size(), contents.tensors.size());
  for (const auto& [name, tensor] : contents.tensors) {
    EXPECT_EQ(back.tensors.at(name).dtype, tensor.dtype) << name;
    EXPECT_EQ(back.tensors.at(name).shape, tensor.shape) << name;
    EXPECT_EQ(back.tensors.at(name).values(), tensor.values()) << name;
  }
}

TEST(Safetensors, DamageIsOneError) {
  const auto entry = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return file_of(R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", 16);
  };
  EXPECT_EQ(read_error(entry("F32", "[2,2]", "[0,16]")), "");
  EXPECT_THAT(read_error(entry("F32", "[2,3]", "[0,16]")), HasSubstr("needs 24 bytes, 16 are given"));
  EXPECT_THAT(read_error(entry("F32", "[2,3]", "[0,24]")), HasSubstr("outside the data of 16 bytes"));
  EXPECT_THAT(read_error(entry("F32", "[2]", "[8,0]")), HasSubstr("outside"));
  EXPECT_THAT(read_error(entry("F32", "[-2]", "[0,8]")), HasSubstr("the shape is not valid"));
  EXPECT_THAT(read_error(entry("F32", "[4611686018427387904,4]", "[0,0]")), HasSubstr("the shape is not valid"));
  EXPECT_THAT(read_error(entry("F77", "[2]", "[0,8]")), HasSubstr("a.dtype: element type 'F77' is not supported"));
  EXPECT_THAT(read_error(entry("F32", "[2]", "[0]")), HasSubstr("two data_offsets"));
  EXPECT_THAT(read_error("\xff\xff\xff\xff\xff\xff\xff\xff{}"), HasSubstr("header declares"));
  EXPECT_THAT(read_error("abc"), HasSubstr("3 bytes"));
  EXPECT_THAT(read_error(file_of("[]", 0)), HasSubstr("expected an object"));
}

TEST(Safetensors, TypesWithoutAFormAreRefused) {
  Safetensors contents;
  contents.tensors["z"] = Tensor::empty(DType::C128, {1});
  const auto path = std::filesystem::temp_directory_path() / "strata_refused.safetensors";
  EXPECT_THROW(write_safetensors(path, contents), Error);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace strata
