// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Element types: PyTorch's names (`float32`), FX abbreviations (`f32`), sizes, and PyTorch's promotion lattice.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strata {

enum class DType : uint8_t {
  Bool,
  U8,
  I8,
  I16,
  I32,
  I64,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  C32,
  C64,
  C128,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  F8E8M0FNU,
};
inline constexpr int kDTypeCount = 21;

/// Bytes of one element.
size_t dtype_size(DType dtype);
/// PyTorch's name without `torch.`: `float32`, `int64`, `bool`.
std::string_view dtype_name(DType dtype);
/// FX abbreviation: `f32`, `i64`, `b8` (bool).
std::string_view dtype_abbr(DType dtype);
/// From `float32`, `torch.float32`, `float`, `double`, `half`, `long`, ...; nothing if unknown.
std::optional<DType> parse_dtype_name(std::string_view text);
/// From `f32`, `b8`, ...; nothing if unknown.
std::optional<DType> parse_dtype_abbr(std::string_view text);

constexpr bool is_complex(DType d) { return d == DType::C32 || d == DType::C64 || d == DType::C128; }
/// Whether loop kernels have values of this type.
constexpr bool is_loop_dtype(DType d) { return !is_complex(d) && d < DType::F8E4M3FN; }
constexpr bool is_floating(DType d) { return (d >= DType::F16 && d <= DType::F64) || d >= DType::F8E4M3FN; }
constexpr bool is_integral(DType d) { return d >= DType::U8 && d <= DType::U64; }
constexpr bool is_integral_or_bool(DType d) { return is_integral(d) || d == DType::Bool; }
constexpr bool is_signed_integral(DType d) { return d >= DType::I8 && d <= DType::I64; }
/// 16-bit floats are computed in float32.
constexpr bool is_reduced_float(DType d) { return d == DType::F16 || d == DType::BF16; }

/// The type of a complex type's parts: float32 for complex64; other types themselves.
DType real_dtype(DType dtype);
/// The type of complex numbers with parts of a float type: complex64 for float32.
DType complex_dtype(DType real);
/// `torch.promote_types(a, b)`.
DType promote(DType a, DType b);
/// The type that arithmetic on `d` is carried out in: float32 for 16-bit floats, else `d`.
constexpr DType compute_dtype(DType d) { return is_reduced_float(d) ? DType::F32 : d; }

}  // namespace strata
