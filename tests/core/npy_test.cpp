// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "core/support/error.h"

namespace strata {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string npy(const std::string& header, const std::string& data, int major = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(major);
  out += '\0';
  const size_t digits = major == 1 ? 2 : 4;
  for (size_t i = 0; i < digits; ++i) out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return out + header + data;
}

std::string read_error(const std::string& file, std::optional<DType> as = {}) {
  try {
    parse_npy(bytes_of(file), "f.npy", as);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::User);
    return error.what();
  }
  return {};
}

TEST(Npy, RoundTripOfEveryType) {
  std::mt19937 random(7);
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const Tensor t = Tensor::empty(dtype, {3, 5});
    for (size_t b = 0; b < 15 * dtype_size(dtype); ++b) t.storage->data[b] = static_cast<std::byte>(random() % 2);
    if (dtype == DType::C32) {
      EXPECT_THROW(format_npy(t), Error);
      continue;
    }
    const std::string file = format_npy(t);
    EXPECT_EQ((file.size() - 15 * dtype_size(dtype)) % 64, 0u);
    const Tensor back = parse_npy(bytes_of(file), "f", dtype);
    EXPECT_EQ(back.dtype, dtype);
    EXPECT_EQ(back.shape, t.shape);
    EXPECT_EQ(std::memcmp(back.data(), t.data(), 15 * dtype_size(dtype)), 0) << dtype_name(dtype);
  }
}

TEST(Npy, ShapesFromScalarToEmpty) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {1}, {0}, {2, 0, 3}, {2, 3, 4}}) {
    const Tensor t = Tensor::full(DType::F32, shape, 1.5);
    const Tensor back = parse_npy(bytes_of(format_npy(t)), "f");
    EXPECT_EQ(back.shape, shape);
    EXPECT_EQ(back.values(), t.values());
  }
}

TEST(Npy, FortranOrderAndViewsKeepTheirElements) {
  const Tensor t = parse_npy(
      bytes_of(npy("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n", std::string("\1\4\2\5\3\6", 6))),
      "f");
  EXPECT_EQ(t.values(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(t.strides, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(parse_npy(bytes_of(format_npy(t)), "f").values(), t.values());
}

TEST(Npy, BigEndianAndLaterVersions) {
  const std::string header = "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }";
  const std::string data("\x3f\x80\0\0\xc0\x20\0\0", 8);
  for (const int major : {1, 2, 3})
    EXPECT_EQ(parse_npy(bytes_of(npy(header, data, major)), "f").values(), (std::vector<double>{1, -2.5}));
  const Tensor c = parse_npy(bytes_of(npy("{'descr': '>c8', 'fortran_order': False, 'shape': ()}", data)), "f");
  EXPECT_EQ(*c.ptr<std::complex<float>>(), std::complex<float>(1, -2.5f));
}

TEST(Npy, BitsTakeAnotherTypeOnlyWhenAsked) {
  const Tensor bf16 = Tensor::of(DType::BF16, {3}, std::vector<double>{1, -2, 0.5});
  const std::string file = format_npy(bf16);
  EXPECT_EQ(parse_npy(bytes_of(file), "f").dtype, DType::U16);
  EXPECT_EQ(parse_npy(bytes_of(file), "f", DType::BF16).values(), bf16.values());
  EXPECT_EQ(
      parse_npy(bytes_of(npy("{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}", "\x80\x3f")), "f", DType::BF16)
          .at(0),
      1);
  EXPECT_THAT(read_error(file, DType::F32), HasSubstr("holds '<u2', which cannot be taken as float32"));
  EXPECT_THAT(read_error(format_npy(Tensor::scalar(DType::F32, 1)), DType::I32), HasSubstr("cannot be taken as int32"));
}

TEST(Npy, DamageIsOneError) {
  const auto with = [](const std::string& descr, const std::string& shape) {
    return npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + "}", "12345678");
  };
  EXPECT_EQ(read_error(with("'<f4'", "(2,)")), "");
  EXPECT_THAT(read_error(with("'<f4'", "(3,)")), HasSubstr("needs 12 bytes, 8 are there"));
  EXPECT_THAT(read_error(with("'|O'", "(1,)")), HasSubstr("cannot be read"));
  EXPECT_THAT(read_error(with("[('a', '<f4')]", "(1,)")), HasSubstr("records"));
  EXPECT_THAT(read_error(with("'<V2'", "(1,)")), HasSubstr("raw bytes"));
  EXPECT_THAT(read_error(with("'<f4'", "(4611686018427387904, 4)")), HasSubstr("too large"));
  EXPECT_THAT(read_error(with("'<f4'", "(0, 9223372036854775807, 9)")), HasSubstr("too large"));
  EXPECT_THAT(read_error(with("'<f4'", "(-1,)")), HasSubstr("header is damaged"));
  EXPECT_THAT(read_error("hello"), HasSubstr("is not a .npy file"));
  EXPECT_THAT(read_error(npy("{}", "")), HasSubstr("header is damaged"));
  const std::string good = format_npy(Tensor::full(DType::F64, {3}, 1));
  for (size_t size = 0; size < good.size(); ++size) EXPECT_NE(read_error(good.substr(0, size)), "") << size;
}

TEST(Npy, FailedWritesLeaveNoFile) {
  const auto folder = std::filesystem::temp_directory_path() / "strata_npy_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  write_npy(folder / "t.npy", Tensor::scalar(DType::F32, 3));
  EXPECT_EQ(read_npy(folder / "t.npy").at(0), 3);
  std::filesystem::create_directory(folder / "taken.npy");
  EXPECT_THROW(write_npy(folder / "taken.npy", Tensor::scalar(DType::F32, 3)), Error);
  EXPECT_THROW(write_npy(folder / "none" / "t.npy", Tensor::scalar(DType::F32, 3)), Error);
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  EXPECT_EQ(count, 2u);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace strata
