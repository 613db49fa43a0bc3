// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpp_helpers.h"

namespace strata::codegen {
namespace {

constexpr CppHelper kHelpers[] = {
    {"bf16_to_f32",
     R"(inline float bf16_to_f32(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}
)"},
    {"f32_to_bf16",
     R"(inline uint16_t f32_to_bf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return value != value ? 0x7fc0 : uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
)"},
    {"floor_div",
     R"(template <class T>
inline T floor_div(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed<T>::value && b == T(-1)) return T(0 - uint64_t(a));
  T q = T(a / b), r = T(a % b);
  return r != 0 && ((r < 0) != (b < 0)) ? T(q - 1) : q;
}
)"},
    {"floor_mod",
     R"(template <class T>
inline T floor_mod(T a, T b) {
  if (b == 0 || (std::is_signed<T>::value && b == T(-1))) return 0;
  T r = T(a % b);
  return r != 0 && ((r < 0) != (b < 0)) ? T(r + b) : r;
}
)"},
    {"trunc_div",
     R"(template <class T>
inline T trunc_div(T a, T b) {
  if (b == 0) return a;
  return std::is_signed<T>::value && b == T(-1) ? T(0 - uint64_t(a)) : T(a / b);
}
)"},
    {"trunc_mod",
     R"(template <class T>
inline T trunc_mod(T a, T b) {
  return b == 0 || (std::is_signed<T>::value && b == T(-1)) ? T(0) : T(a % b);
}
)"},
    {"float_mod",
     R"(template <class T>
inline T float_mod(T a, T b) {
  T m = std::fmod(a, b);
  return m != 0 && ((b < 0) != (m < 0)) ? m + b : m;
}
)"},
    {"float_floor_div",
     R"(template <class T>
inline T float_floor_div(T a, T b) {
  if (b == 0) return a / b;
  T m = std::fmod(a, b), q = (a - m) / b;
  if (m != 0 && ((b < 0) != (m < 0))) q -= 1;
  if (q == 0) return std::copysign(T(0), a / b);
  T f = std::floor(q);
  return q - f > T(0.5) ? f + 1 : f;
}
)"},
    {"nan_max",
     R"(template <class T>
inline T nan_max(T a, T b) {
  return a != a ? a : a > b ? a : b;
}
)"},
    {"nan_min",
     R"(template <class T>
inline T nan_min(T a, T b) {
  return a != a ? a : a < b ? a : b;
}
)"},
    {"sign_of",
     R"(template <class T>
inline T sign_of(T a) {
  return T(T(a > T(0)) - T(a < T(0)));
}
)"},
    {"shift_left",
     R"(template <class T>
inline T shift_left(T a, T b) {
  return b < 0 || uint64_t(b) >= 8 * sizeof(T) ? T(0) : T(uint64_t(a) << b);
}
)"},
    {"shift_right",
     R"(template <class T>
inline T shift_right(T a, T b) {
  bool inside = !(b < 0) && uint64_t(b) < 8 * sizeof(T);
  if (std::is_signed<T>::value) return T(a >> (inside ? b : T(8 * sizeof(T) - 1)));
  return inside ? T(a >> b) : T(0);
}
)"},
    {"integer_pow",
     R"(template <class T>
inline T integer_pow(T base, T exponent) {
  if (exponent < 0) return base == 1 ? T(1) : base == T(-1) ? (exponent & 1 ? T(-1) : T(1)) : T(0);
  uint64_t result = 1, factor = uint64_t(base);
  for (uint64_t e = uint64_t(exponent); e; e >>= 1) {
    if (e & 1) result *= factor;
    factor *= factor;
  }
  return T(result);
}
)"},
    {"truncate_to",
     R"(template <class To, class From>
inline To truncate_to(From a) {
  if (sizeof(To) < 4 || (sizeof(To) == 4 && std::is_signed<To>::value)) {
    bool inside = a > From(-2147483649.0) && a < From(2147483648.0);
    if (sizeof(From) == 4) inside = a >= From(-2147483648.0) && a < From(2147483648.0);
    return To(inside ? int32_t(a) : std::numeric_limits<int32_t>::min());
  }
  if (!std::is_signed<To>::value && sizeof(To) == 8) return To(a);
  bool inside = a >= From(-9223372036854775808.0) && a < From(9223372036854775808.0);
  return To(inside ? int64_t(a) : std::numeric_limits<int64_t>::min());
}
)"},
    {"bit_cast_to",
     R"(template <class To, class From>
inline To bit_cast_to(From a) {
  To out;
  std::memcpy(&out, &a, sizeof out);
  return out;
}
)"},
    {"violated",
     R"(// Behind the symbols stands the address of two words per check: violated, and by which value.
inline void violated(const int64_t* symbols, int count, int check, int64_t value) {
  auto* cells = reinterpret_cast<int64_t*>(symbols[count]);
  __atomic_store_n(cells + 2 * check + 1, value, __ATOMIC_RELAXED);
  __atomic_store_n(cells + 2 * check, int64_t(1), __ATOMIC_RELAXED);
}
)"},
    {"arg_better",
     R"(// Whether (b, at_b) replaces (a, at_a): NaN beats all, the smaller position beats equals.
template <bool Largest, class T>
inline bool arg_better(T a, int64_t at_a, T b, int64_t at_b) {
  bool nan_a = a != a, nan_b = b != b;
  if ((Largest ? b > a : b < a) || (nan_b && !nan_a)) return true;
  return (a == b || (nan_a && nan_b)) && at_b < at_a;
}
)"},
};

}  // namespace

std::span<const CppHelper> cpp_helpers() { return kHelpers; }

}  // namespace strata::codegen
