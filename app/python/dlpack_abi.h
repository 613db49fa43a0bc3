// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The C interface by which array libraries hand tensors to one another (DLPack 1.x), as far as it is used here.
/// Layouts are fixed by that standard: nothing may be reordered.

#include <cstdint>

namespace strata::dlpack {

struct Device {
  int32_t type = 1;  ///< 1: CPU, 2: CUDA
  int32_t index = 0;
};

struct DataType {
  uint8_t code = 0;  ///< 0 signed, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool
  uint8_t bits = 0;
  uint16_t lanes = 1;
};

struct Array {
  void* data = nullptr;
  Device device;
  int32_t rank = 0;
  DataType dtype;
  int64_t* shape = nullptr;
  int64_t* strides = nullptr;  ///< in elements; null: row-major
  uint64_t byte_offset = 0;
};

struct Version {
  uint32_t major = 1, minor = 0;
};

/// An array and how to give it back.
struct ManagedArray {
  Version version;
  void* manager = nullptr;
  void (*deleter)(ManagedArray*) = nullptr;
  uint64_t flags = 0;
  Array array;
};

/// What a library's tensor type offers under `__dlpack_c_exchange_api__`: no Python objects, no reference counts.
struct ExchangeApi {
  Version version;
  ExchangeApi* previous = nullptr;
  int (*allocate)(Array*, ManagedArray**, void*, void (*)(void*, const char*, const char*)) = nullptr;
  int (*managed_from_object)(void*, ManagedArray**) = nullptr;
  int (*managed_to_object)(ManagedArray*, void**) = nullptr;
  int (*array_from_object)(void*, Array*) = nullptr;  ///< borrowed: valid while the object lives and keeps its shape
  int (*current_stream)(int32_t, int32_t, void**) = nullptr;
};

}  // namespace strata::dlpack
