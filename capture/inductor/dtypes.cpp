// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Names and sizes of element types.

#include <array>

#include "capture/inductor/match_nodes.h"

namespace strata::capture {
namespace {

struct DtypeName {
  std::string_view torch, brief;
  int bytes;
};
constexpr std::array<DtypeName, 20> kDtypes = {{{"float32", "f32", 4},        {"float64", "f64", 8},
                                                {"float16", "f16", 2},        {"bfloat16", "bf16", 2},
                                                {"int64", "i64", 8},          {"int32", "i32", 4},
                                                {"int16", "i16", 2},          {"int8", "i8", 1},
                                                {"uint8", "u8", 1},           {"bool", "b8", 1},
                                                {"complex64", "c64", 8},      {"complex128", "c128", 16},
                                                {"complex32", "c32", 4},      {"float8_e4m3fn", "f8e4m3fn", 1},
                                                {"float8_e5m2", "f8e5m2", 1}, {"float8_e4m3fnuz", "f8e4m3fnuz", 1},
                                                {"uint16", "u16", 2},         {"uint32", "u32", 4},
                                                {"uint64", "u64", 8},         {"float8_e5m2fnuz", "f8e5m2fnuz", 1}}};

}  // namespace

std::string_view short_dtype(std::string_view torch_dtype) {
  for (const DtypeName& d : kDtypes) {
    if (d.torch == torch_dtype) return d.brief;
  }
  return torch_dtype;
}

int dtype_bytes(std::string_view dtype) {
  for (const DtypeName& d : kDtypes) {
    if (d.torch == dtype || d.brief == dtype) return d.bytes;
  }
  return 0;
}

}  // namespace strata::capture
