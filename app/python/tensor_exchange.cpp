// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/tensor_exchange.h"

#include <array>
#include <memory>
#include <vector>

#include "app/python/dlpack_abi.h"
#include "core/support/error.h"

namespace py = pybind11;

namespace strata {
namespace {

enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

struct Pair {
  DType dtype;
  uint8_t code, bits;
};
constexpr Pair kPairs[] = {
    {DType::Bool, kBool, 8},  {DType::U8, kUInt, 8},      {DType::I8, kInt, 8},       {DType::I16, kInt, 16},
    {DType::I32, kInt, 32},   {DType::I64, kInt, 64},     {DType::U16, kUInt, 16},    {DType::U32, kUInt, 32},
    {DType::U64, kUInt, 64},  {DType::F16, kFloat, 16},   {DType::BF16, kBfloat, 16}, {DType::F32, kFloat, 32},
    {DType::F64, kFloat, 64}, {DType::C32, kComplex, 32}, {DType::C64, kComplex, 64}, {DType::C128, kComplex, 128}};

py::module_& torch() {
  // Never freed: at exit the interpreter may be gone before statics are.
  static auto* module = new py::module_(py::module_::import("torch"));
  return *module;
}

/// Null where PyTorch has none, or one of another major version.
const dlpack::ExchangeApi* exchange() {
  static const dlpack::ExchangeApi* api = []() -> const dlpack::ExchangeApi* {
    const py::object type = torch().attr("Tensor");
    if (!py::hasattr(type, "__dlpack_c_exchange_api__")) return nullptr;
    const py::object capsule = type.attr("__dlpack_c_exchange_api__");
    if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return nullptr;
    auto* found = static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (found && found->version.major > 1) found = found->previous;
    return found;
  }();
  return api;
}

DType dtype_of(const dlpack::DataType& type, const std::string& what) {
  for (const Pair& p : kPairs)
    if (p.code == type.code && p.bits == type.bits && type.lanes == 1) return p.dtype;
  throw_user(what + " has an element type that is not supported (DLPack code " + std::to_string(type.code) + ", " +
             std::to_string(type.bits) + " bits)");
}

Tensor view_of(const dlpack::Array& array, const std::string& what) {
  if (array.device.type != 1) throw_user(what + " is not on the CPU", "move it there with .cpu()");
  Tensor t;
  t.dtype = dtype_of(array.dtype, what);
  t.shape.assign(array.shape, array.shape + array.rank);
  if (array.strides)
    t.strides.assign(array.strides, array.strides + array.rank);
  else
    t.strides = contiguous_strides(t.shape);
  t.storage = std::make_shared<Storage>();
  t.storage->data = static_cast<std::byte*>(array.data) + array.byte_offset;
  int64_t last = 0;
  for (size_t i = 0; i < t.shape.size(); ++i) last += t.shape[i] > 0 ? (t.shape[i] - 1) * t.strides[i] : 0;
  t.storage->size = t.numel() > 0 ? static_cast<size_t>(last + 1) * dtype_size(t.dtype) : 0;
  return t;
}

/// By methods: any PyTorch.
Tensor view_by_methods(py::handle object, const std::string& what) {
  if (object.attr("device").attr("type").cast<std::string>() != "cpu")
    throw_user(what + " is not on the CPU", "move it there with .cpu()");
  std::vector<int64_t> shape, strides;
  for (const py::handle size : object.attr("shape")) shape.push_back(size.cast<int64_t>());
  for (const py::handle stride : object.attr("stride")()) strides.push_back(stride.cast<int64_t>());
  Tensor t;
  t.dtype = dtype_of_torch(object.attr("dtype"));
  t.shape = std::move(shape);
  t.strides = std::move(strides);
  t.storage = std::make_shared<Storage>();
  t.storage->data = reinterpret_cast<std::byte*>(object.attr("data_ptr")().cast<uintptr_t>());
  int64_t last = 0;
  for (size_t i = 0; i < t.shape.size(); ++i) last += t.shape[i] > 0 ? (t.shape[i] - 1) * t.strides[i] : 0;
  t.storage->size = t.numel() > 0 ? static_cast<size_t>(last + 1) * dtype_size(t.dtype) : 0;
  return t;
}

/// Owns what a ManagedArray points to.
struct Manager {
  dlpack::ManagedArray managed;
  Tensor tensor;
};

dlpack::ManagedArray* manage(const Tensor& tensor) {
  auto manager = std::make_unique<Manager>();
  manager->tensor = tensor;
  dlpack::Array& array = manager->managed.array;
  array.data = tensor.storage->data + tensor.offset * static_cast<int64_t>(dtype_size(tensor.dtype));
  array.rank = static_cast<int32_t>(tensor.rank());
  for (const Pair& p : kPairs)
    if (p.dtype == tensor.dtype) array.dtype = {p.code, p.bits, 1};
  if (array.dtype.bits == 0)
    throw_user("an output of type " + std::string(dtype_name(tensor.dtype)) + " cannot be handed to PyTorch");
  array.shape = manager->tensor.shape.data();
  array.strides = manager->tensor.strides.data();
  manager->managed.manager = manager.get();
  manager->managed.deleter = [](dlpack::ManagedArray* self) { delete static_cast<Manager*>(self->manager); };
  return &manager.release()->managed;
}

/// The older, unversioned struct: only what `torch.from_dlpack` of a capsule named `dltensor` reads.
struct OldManaged {
  dlpack::Array array;
  void* manager = nullptr;
  void (*deleter)(OldManaged*) = nullptr;
};

py::object from_capsule(const Tensor& tensor) {
  dlpack::ManagedArray* managed = manage(tensor);
  auto* old = new OldManaged{managed->array, managed, [](OldManaged* self) {
                               auto* inner = static_cast<dlpack::ManagedArray*>(self->manager);
                               inner->deleter(inner);
                               delete self;
                             }};
  const py::object capsule = py::reinterpret_steal<py::object>(PyCapsule_New(old, "dltensor", [](PyObject* c) {
    // A capsule that was taken is called `used_dltensor`, and its array belongs to who took it.
    if (!PyCapsule_IsValid(c, "dltensor")) return;
    auto* unused = static_cast<OldManaged*>(PyCapsule_GetPointer(c, "dltensor"));
    unused->deleter(unused);
  }));
  return torch().attr("from_dlpack")(capsule);
}

}  // namespace

Tensor view_of_torch(py::handle object, const std::string& what) {
  const dlpack::ExchangeApi* api = exchange();
  if (!api) return view_by_methods(object, what);
  dlpack::Array array;
  if (api->array_from_object(object.ptr(), &array) != 0) throw py::error_already_set();
  return view_of(array, what);
}

py::object to_torch(const Tensor& tensor) {
  const dlpack::ExchangeApi* api = exchange();
  if (!api) return from_capsule(tensor);
  dlpack::ManagedArray* managed = manage(tensor);
  void* object = nullptr;
  if (api->managed_to_object(managed, &object) != 0) {
    managed->deleter(managed);
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(static_cast<PyObject*>(object));
}

DType dtype_of_torch(py::handle dtype) {
  const std::string text = py::str(dtype);
  const auto found = parse_dtype_name(text);
  if (!found) throw_user("the element type " + text + " is not supported");
  return *found;
}

py::object dtype_to_torch(DType dtype) { return torch().attr(std::string(dtype_name(dtype)).c_str()); }

}  // namespace strata
