// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/tensor.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "core/runtime/elements.h"
#include "core/support/error.h"
#include "core/support/huge_pages.h"

namespace strata {
namespace {

/// Calls `visit(pointer)` for every element in row-major order.
template <class F>
void for_each_element(const Tensor& t, F&& visit) {
  const int64_t total = t.numel();
  if (total == 0) return;
  const auto item = static_cast<int64_t>(dtype_size(t.dtype));
  std::vector<int64_t> index(t.rank(), 0);
  std::byte* p = t.data();
  for (int64_t n = 0; n < total; ++n) {
    visit(p);
    for (size_t d = t.rank(); d-- > 0;) {
      p += t.strides[d] * item;
      if (++index[d] < t.shape[d]) break;
      p -= t.strides[d] * t.shape[d] * item;
      index[d] = 0;
    }
  }
}

/// Storage that is its own owner: one allocation less than with a deleter beside it.
struct OwnStorage : Storage {
  OwnStorage() = default;
  OwnStorage(const OwnStorage&) = delete;
  OwnStorage& operator=(const OwnStorage&) = delete;
  ~OwnStorage() { std::free(data); }
};

std::byte* element(const Tensor& t, int64_t flat) {
  int64_t position = t.offset;
  for (size_t d = t.rank(); d-- > 0;) {
    position += flat % t.shape[d] * t.strides[d];
    flat /= t.shape[d];
  }
  return t.storage->data + position * static_cast<int64_t>(dtype_size(t.dtype));
}

template <class T>
T read(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
template <class T>
void write(std::byte* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

/// Double to integer as x86 and PyTorch do for values in range; out of range gives the minimum, not undefined
/// behaviour.
template <class T>
T to_int(double value) {
  if (!(value > -9.3e18 && value < 9.2233720368547758e18)) return static_cast<T>(INT64_MIN);
  return static_cast<T>(static_cast<int64_t>(value));
}

/// `from` and `to` are row-major. Gives what element by element gives, without a switch per element; false, and nothing
/// is written, for types that are not among the four.
bool convert_floats(const Tensor& from, const Tensor& to) {
  return with_float_type(from.dtype, [&](auto source) {
    return with_float_type(to.dtype, [&](auto target) {
      using Source = decltype(source);
      using Target = decltype(target);
      const std::byte* x = from.data();
      std::byte* y = to.data();
      for (int64_t n = from.numel(); n-- > 0; x += sizeof(Source), y += sizeof(Target))
        write(y, stored_value<Target>(static_cast<WorkType<Target>>(work_value(read<Source>(x)))));
      return true;
    });
  });
}

}  // namespace

int64_t Tensor::numel() const {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  return n;
}

bool Tensor::is_contiguous() const {
  int64_t expected = 1;
  for (size_t d = rank(); d-- > 0;) {
    if (shape[d] == 0) return true;
    if (shape[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

std::string Tensor::str() const {
  std::string text(dtype_name(dtype));
  text += '[';
  for (size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + ']';
}

void copy_elements(const Tensor& from, const Tensor& to) {
  const auto item = static_cast<int64_t>(dtype_size(from.dtype));
  // Dimensions from the last on in which both are dense are copied as one run.
  int64_t run = 1;
  size_t outer = from.rank();
  while (outer > 0) {
    const size_t d = outer - 1;
    if (from.shape[d] != 1 && (from.strides[d] != run || to.strides[d] != run)) break;
    run *= from.shape[d];
    outer = d;
  }
  const int64_t total = from.numel();
  if (total == 0) return;
  if (outer == 0) {
    std::memmove(to.data(), from.data(), static_cast<size_t>(total * item));
    return;
  }
  int64_t few[16] = {};
  std::vector<int64_t> many;
  if (outer > std::size(few)) many.resize(outer);
  int64_t* const index = many.empty() ? few : many.data();
  std::byte *p = from.data(), *q = to.data();
  for (int64_t n = 0; n < total; n += run) {
    std::memmove(q, p, static_cast<size_t>(run * item));
    for (size_t d = outer; d-- > 0;) {
      p += from.strides[d] * item;
      q += to.strides[d] * item;
      if (++index[d] < from.shape[d]) break;
      p -= from.strides[d] * from.shape[d] * item;
      q -= to.strides[d] * to.shape[d] * item;
      index[d] = 0;
    }
  }
}

std::vector<int64_t> contiguous_strides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step *= shape[d] > 0 ? shape[d] : 1;
  }
  return strides;
}

Tensor Tensor::empty(DType dtype, std::vector<int64_t> shape) {
  size_t bytes = dtype_size(dtype);
  for (int64_t s : shape) {
    if (s < 0) throw_internal("negative tensor size " + std::to_string(s));
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(s), &bytes)) throw_runtime("tensor is too large for memory");
  }
  // Pairs of cache lines: what is written in pieces of 128 bytes lies in one each.
  const size_t alignment = bytes < 4096 ? 64 : 128,
               rounded = (bytes + alignment - 1) / alignment * alignment + alignment;
  if (rounded < bytes) throw_runtime("tensor is too large for memory");
  void* memory = std::aligned_alloc(alignment, rounded);
  if (!memory) throw_runtime("out of memory allocating " + std::to_string(bytes) + " bytes for a tensor");
  prefer_huge_pages(memory, rounded);
  auto storage = std::make_shared<OwnStorage>();
  storage->data = static_cast<std::byte*>(memory);
  storage->size = bytes;
  Tensor t{dtype, std::move(shape), {}, 0, std::move(storage)};
  t.strides = contiguous_strides(t.shape);
  return t;
}

Tensor Tensor::full(DType dtype, std::vector<int64_t> shape, double value) {
  Tensor t = empty(dtype, std::move(shape));
  for_each_element(t, [&](std::byte* p) { store_from_double(dtype, p, value); });
  return t;
}

Tensor Tensor::of(DType dtype, std::vector<int64_t> shape, std::span<const double> values) {
  Tensor t = empty(dtype, std::move(shape));
  if (static_cast<int64_t>(values.size()) != t.numel()) throw_internal("wrong number of values for " + t.str());
  size_t i = 0;
  for_each_element(t, [&](std::byte* p) { store_from_double(dtype, p, values[i++]); });
  return t;
}

Tensor Tensor::scalar(DType dtype, double value) { return full(dtype, {}, value); }

Tensor Tensor::clone() const {
  Tensor out = empty(dtype, shape);
  copy_elements(*this, out);
  return out;
}

Tensor Tensor::contiguous() const {
  if (!is_contiguous()) return clone();
  Tensor t = *this;
  t.strides = contiguous_strides(std::span<const int64_t>(shape));  // a dimension of one element may have had any
  return t;
}

Tensor Tensor::to(DType target) const {
  if (target == dtype) return contiguous();
  Tensor out = empty(target, shape);
  if (is_contiguous() && convert_floats(*this, out)) return out;
  std::byte* p = out.data();
  const size_t item = dtype_size(target);
  const bool exact = !is_floating(dtype) && !is_floating(target);  // keeps all 64 bits
  for_each_element(*this, [&](const std::byte* from) {
    if (exact)
      store_from_int(target, p, load_as_int(dtype, from));
    else
      store_from_double(target, p, load_as_double(dtype, from));
    p += item;
  });
  return out;
}

double Tensor::at(int64_t flat) const { return load_as_double(dtype, element(*this, flat)); }
int64_t Tensor::int_at(int64_t flat) const { return load_as_int(dtype, element(*this, flat)); }
void Tensor::set(int64_t flat, double value) const { store_from_double(dtype, element(*this, flat), value); }
void Tensor::set_int(int64_t flat, int64_t value) const { store_from_int(dtype, element(*this, flat), value); }

std::vector<double> Tensor::values() const {
  std::vector<double> out;
  out.reserve(static_cast<size_t>(numel()));
  for_each_element(*this, [&](const std::byte* p) { out.push_back(load_as_double(dtype, p)); });
  return out;
}

float bfloat16_to_float(uint16_t bits) { return work_value(BFloat16{bits}); }
uint16_t float_to_bfloat16(float value) { return nearest_bfloat16(value).bits; }
float half_to_float(uint16_t bits) { return work_value(Half{bits}); }
uint16_t float_to_half(float value) { return nearest_half(value).bits; }

double load_as_double(DType dtype, const std::byte* p) {
  switch (dtype) {
    case DType::F32:
      return read<float>(p);
    case DType::F64:
      return read<double>(p);
    case DType::F16:
      return half_to_float(read<uint16_t>(p));
    case DType::BF16:
      return bfloat16_to_float(read<uint16_t>(p));
    case DType::U64:
      return static_cast<double>(read<uint64_t>(p));
    default:
      return static_cast<double>(load_as_int(dtype, p));
  }
}

int64_t load_as_int(DType dtype, const std::byte* p) {
  switch (dtype) {
    case DType::Bool:
      return read<uint8_t>(p) != 0;
    case DType::U8:
      return read<uint8_t>(p);
    case DType::I8:
      return read<int8_t>(p);
    case DType::I16:
      return read<int16_t>(p);
    case DType::I32:
      return read<int32_t>(p);
    case DType::I64:
      return read<int64_t>(p);
    case DType::U16:
      return read<uint16_t>(p);
    case DType::U32:
      return read<uint32_t>(p);
    case DType::U64:
      return static_cast<int64_t>(read<uint64_t>(p));
    case DType::F16:
    case DType::BF16:
    case DType::F32:
    case DType::F64:
      return to_int<int64_t>(load_as_double(dtype, p));
    default:
      throw_user("elements of type " + std::string(dtype_name(dtype)) + " cannot be read here");
  }
}

void store_from_double(DType dtype, std::byte* p, double value) {
  switch (dtype) {
    case DType::F32:
      return write(p, static_cast<float>(value));
    case DType::F64:
      return write(p, value);
    case DType::F16:
      return write(p, float_to_half(static_cast<float>(value)));
    case DType::BF16:
      return write(p, float_to_bfloat16(static_cast<float>(value)));
    case DType::Bool:
      return write(p, static_cast<uint8_t>(value != 0));
    default:
      return store_from_int(dtype, p, to_int<int64_t>(value));
  }
}

void store_from_int(DType dtype, std::byte* p, int64_t value) {
  switch (dtype) {
    case DType::Bool:
      return write(p, static_cast<uint8_t>(value != 0));
    case DType::U8:
    case DType::I8:
      return write(p, static_cast<uint8_t>(value));
    case DType::I16:
    case DType::U16:
      return write(p, static_cast<uint16_t>(value));
    case DType::I32:
    case DType::U32:
      return write(p, static_cast<uint32_t>(value));
    case DType::I64:
    case DType::U64:
      return write(p, value);
    case DType::F16:
    case DType::BF16:
    case DType::F32:
    case DType::F64:
      return store_from_double(dtype, p, static_cast<double>(value));
    default:
      throw_user("elements of type " + std::string(dtype_name(dtype)) + " cannot be written here");
  }
}

Tensor part_of(const Tensor& tensor, int64_t which) {
  Tensor part = tensor;
  part.dtype = real_dtype(tensor.dtype);
  part.offset = 2 * tensor.offset + which;
  for (int64_t& stride : part.strides) stride *= 2;
  return part;
}

Tensor as_pairs(const Tensor& tensor) {
  Tensor pairs = part_of(tensor, 0);
  pairs.shape.push_back(2);
  pairs.strides.push_back(1);
  return pairs;
}

Tensor from_pairs(const Tensor& pairs) {
  Tensor tensor = pairs;
  tensor.dtype = complex_dtype(pairs.dtype);
  tensor.offset = pairs.offset / 2;
  tensor.shape.pop_back();
  tensor.strides.pop_back();
  for (int64_t& stride : tensor.strides) stride /= 2;
  return tensor;
}

}  // namespace strata
