// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/tensor_exchange.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "app/python/dlpack_abi.h"
#include "app/python/older_exchange.h"
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

/// PyTorch's table, or ours where it has none of this major version.
const dlpack::ExchangeApi* exchange() {
  static const dlpack::ExchangeApi* api = []() -> const dlpack::ExchangeApi* {
    const py::object type = torch().attr("Tensor");
    if (!py::hasattr(type, "__dlpack_c_exchange_api__")) return older_exchange();
    const py::object capsule = type.attr("__dlpack_c_exchange_api__");
    if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return older_exchange();
    auto* found = static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (found && found->version.major > 1) found = found->previous;
    return found ? found : older_exchange();
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

/// Whether a view of the array would differ from this one in nothing but the address.
bool lies_as(const Tensor& view, const dlpack::Array& array) {
  if (!view.storage || array.device.type != 1 || !array.strides) return false;
  const auto rank = static_cast<size_t>(array.rank);
  if (view.rank() != rank || !std::equal(view.shape.begin(), view.shape.end(), array.shape) ||
      !std::equal(view.strides.begin(), view.strides.end(), array.strides))
    return false;
  return std::any_of(std::begin(kPairs), std::end(kPairs), [&](const Pair& p) {
    return p.dtype == view.dtype && p.code == array.dtype.code && p.bits == array.dtype.bits && array.dtype.lanes == 1;
  });
}

bool is_tensor(py::handle object) {
  static auto* type = reinterpret_cast<PyTypeObject*>(py::object(torch().attr("Tensor")).release().ptr());
  return PyObject_TypeCheck(object.ptr(), type);
}

/// Owns what a ManagedArray points to.
struct Manager {
  dlpack::ManagedArray managed;
  Tensor tensor;
};

dlpack::ManagedArray* manage(Tensor value) {
  auto manager = std::make_unique<Manager>();
  manager->tensor = std::move(value);
  const Tensor& tensor = manager->tensor;
  dlpack::Array& array = manager->managed.array;
  array.data = tensor.storage->data + tensor.offset * static_cast<int64_t>(dtype_size(tensor.dtype));
  array.rank = static_cast<int32_t>(tensor.rank());
  for (const Pair& p : kPairs)
    if (p.dtype == tensor.dtype) array.dtype = {p.code, p.bits, 1};
  if (array.dtype.bits == 0)
    throw_user("an output of type " + std::string(dtype_name(tensor.dtype)) + " cannot be handed on");
  array.shape = manager->tensor.shape.data();
  array.strides = manager->tensor.strides.data();
  manager->managed.manager = manager.get();
  manager->managed.deleter = [](dlpack::ManagedArray* self) { delete static_cast<Manager*>(self->manager); };
  return &manager.release()->managed;
}

}  // namespace

Tensor view_of_torch(py::handle object, const std::string& what) {
  const dlpack::ExchangeApi* api = exchange();
  dlpack::Array array;
  if (api->array_from_object(object.ptr(), &array) != 0) throw py::error_already_set();
  return view_of(array, what);
}

void update_view(Tensor& view, py::handle object, size_t position) {
  if (!is_tensor(object))
    throw_user("input " + std::to_string(position) + " is a " + Py_TYPE(object.ptr())->tp_name, "give it a tensor");
  const dlpack::ExchangeApi* api = exchange();
  dlpack::Array array;
  if (api->array_from_object(object.ptr(), &array) != 0) throw py::error_already_set();
  if (lies_as(view, array) && view.storage.use_count() == 1)
    view.storage->data = static_cast<std::byte*>(array.data) + array.byte_offset;
  else
    view = view_of(array, "input " + std::to_string(position));
}

py::object to_torch(Tensor tensor) {
  if (tensor.numel() == 0) return empty_of_torch(tensor.shape, tensor.strides, tensor.dtype);
  const dlpack::ExchangeApi* api = exchange();
  dlpack::ManagedArray* managed = manage(std::move(tensor));
  void* object = nullptr;
  if (api->managed_to_object(managed, &object) != 0) {
    managed->deleter(managed);
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(static_cast<PyObject*>(object));
}

py::object to_dlpack(Tensor tensor) {
  dlpack::ManagedArray* managed = manage(std::move(tensor));
  PyObject* capsule = dlpack_capsule(managed);
  if (!capsule) {
    managed->deleter(managed);
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(capsule);
}

DType dtype_of_torch(py::handle dtype) {
  const std::string text = py::str(dtype);
  const auto found = parse_dtype_name(text);
  if (!found) throw_user("the element type " + text + " is not supported");
  return *found;
}

py::tuple tuple_of(const std::vector<int64_t>& values) {
  py::tuple result(values.size());
  for (size_t i = 0; i < values.size(); ++i) result[i] = py::int_(values[i]);
  return result;
}

py::object empty_of_torch(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, DType dtype) {
  static const auto* empty = new py::object(torch().attr("empty_strided"));
  return (*empty)(tuple_of(shape), tuple_of(strides), py::arg("dtype") = dtype_to_torch(dtype));
}

py::object dtype_to_torch(DType dtype) { return torch().attr(std::string(dtype_name(dtype)).c_str()); }

}  // namespace strata
