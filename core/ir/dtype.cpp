// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/dtype.h"

#include <array>

namespace strata {
namespace {

struct Row {
  std::string_view name, abbr;
  size_t size;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"bool", "b8", 1},
    {"uint8", "u8", 1},
    {"int8", "i8", 1},
    {"int16", "i16", 2},
    {"int32", "i32", 4},
    {"int64", "i64", 8},
    {"uint16", "u16", 2},
    {"uint32", "u32", 4},
    {"uint64", "u64", 8},
    {"float16", "f16", 2},
    {"bfloat16", "bf16", 2},
    {"float32", "f32", 4},
    {"float64", "f64", 8},
    {"complex32", "c32", 4},
    {"complex64", "c64", 8},
    {"complex128", "c128", 16},
    {"float8_e4m3fn", "f8e4m3fn", 1},
    {"float8_e5m2", "f8e5m2", 1},
    {"float8_e4m3fnuz", "f8e4m3fnuz", 1},
    {"float8_e5m2fnuz", "f8e5m2fnuz", 1},
    {"float8_e8m0fnu", "f8e8m0fnu", 1},
}};

constexpr std::array<std::pair<std::string_view, DType>, 9> kAliases = {{
    {"float", DType::F32},
    {"double", DType::F64},
    {"half", DType::F16},
    {"long", DType::I64},
    {"int", DType::I32},
    {"short", DType::I16},
    {"cfloat", DType::C64},
    {"cdouble", DType::C128},
    {"chalf", DType::C32},
}};

const Row& row(DType d) { return kRows[static_cast<size_t>(d)]; }

int category(DType d) { return d == DType::Bool ? 0 : is_integral(d) ? 1 : is_floating(d) ? 2 : 3; }

DType promote_integral(DType a, DType b) {
  if (dtype_size(a) > dtype_size(b)) return promote_integral(b, a);
  if (is_signed_integral(a) == is_signed_integral(b) || is_signed_integral(b)) {
    if (dtype_size(a) < dtype_size(b) || a == b) return b;
    return b == DType::I8 ? DType::I16 : b == DType::I16 ? DType::I32 : DType::I64;  // u8 and i8 need i16
  }
  // An unsigned type at least as wide as a signed one needs the next signed width.
  switch (b) {
    case DType::U8:
      return DType::I16;
    case DType::U16:
      return DType::I32;
    default:
      return DType::I64;
  }
}

DType promote_complex(DType a, DType b) {
  auto bits = [](DType d) -> int {
    switch (d) {
      case DType::C32:
      case DType::F16:
        return 1;
      case DType::C64:
      case DType::F32:
      case DType::BF16:
        return 2;
      case DType::C128:
      case DType::F64:
        return 3;
      default:
        return 1;
    }
  };
  const int n = bits(a) > bits(b) ? bits(a) : bits(b);
  return n == 1 ? DType::C32 : n == 2 ? DType::C64 : DType::C128;
}

}  // namespace

size_t dtype_size(DType d) { return row(d).size; }
std::string_view dtype_name(DType d) { return row(d).name; }
std::string_view dtype_abbr(DType d) { return row(d).abbr; }

std::optional<DType> parse_dtype_name(std::string_view text) {
  if (text.starts_with("torch.")) text.remove_prefix(6);
  for (int i = 0; i < kDTypeCount; ++i)
    if (kRows[static_cast<size_t>(i)].name == text) return static_cast<DType>(i);
  for (const auto& [name, dtype] : kAliases)
    if (name == text) return dtype;
  return {};
}

std::optional<DType> parse_dtype_abbr(std::string_view text) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (kRows[static_cast<size_t>(i)].abbr == text) return static_cast<DType>(i);
  return {};
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (category(a) > category(b)) return promote(b, a);
  if (category(b) == 3) return promote_complex(a, b);
  if (category(a) != category(b)) return b;
  if (category(a) == 1) return promote_integral(a, b);
  if (dtype_size(a) == dtype_size(b)) return DType::F32;  // float16 with bfloat16
  return dtype_size(a) > dtype_size(b) ? a : b;
}

DType real_dtype(DType dtype) {
  switch (dtype) {
    case DType::C32:
      return DType::F16;
    case DType::C64:
      return DType::F32;
    case DType::C128:
      return DType::F64;
    default:
      return dtype;
  }
}

DType complex_dtype(DType real) {
  return real == DType::F64 ? DType::C128 : real == DType::F16 ? DType::C32 : DType::C64;
}

}  // namespace strata
