// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/older_exchange.h"

#include <dlfcn.h>
#include <pybind11/pybind11.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace py = pybind11;

namespace strata {
namespace {

using dlpack::Array;
using dlpack::DataType;

struct NamedType {
  const char* name;  ///< as in `torch.float32` and `aoti_torch_dtype_float32`
  DataType type;
};
constexpr std::array kTypes = std::to_array<NamedType>({{"float32", {2, 32, 1}},
                                                        {"float64", {2, 64, 1}},
                                                        {"float16", {2, 16, 1}},
                                                        {"bfloat16", {4, 16, 1}},
                                                        {"int64", {0, 64, 1}},
                                                        {"int32", {0, 32, 1}},
                                                        {"int16", {0, 16, 1}},
                                                        {"int8", {0, 8, 1}},
                                                        {"uint8", {1, 8, 1}},
                                                        {"uint16", {1, 16, 1}},
                                                        {"uint32", {1, 32, 1}},
                                                        {"uint64", {1, 64, 1}},
                                                        {"bool", {6, 8, 1}},
                                                        {"complex32", {5, 32, 1}},
                                                        {"complex64", {5, 64, 1}},
                                                        {"complex128", {5, 128, 1}}});
constexpr DataType kNoType = {255, 0, 1};
constexpr int32_t kCpu = 1, kElsewhere = 0;

py::object torch_c() { return py::module_::import("torch").attr("_C"); }

// ------------------------------------------------------------------------------------------------ by libtorch's C shim

/// The functions return 0, or print and return another number. Handles point to `at::Tensor`s.
struct Shim {
  using Handle = void*;
  int32_t (*get_data_ptr)(Handle, void**) = nullptr;
  int32_t (*get_dim)(Handle, int64_t*) = nullptr;
  int32_t (*get_sizes)(Handle, int64_t**) = nullptr;
  int32_t (*get_strides)(Handle, int64_t**) = nullptr;
  int32_t (*get_dtype)(Handle, int32_t*) = nullptr;
  int32_t (*get_device_type)(Handle, int32_t*) = nullptr;
  int32_t (*delete_tensor_object)(Handle) = nullptr;
  int32_t cpu = 0;
  std::vector<DataType> types;  ///< by PyTorch's number
  PyObject* handle_of = nullptr;

  /// Null when anything is missing.
  static const Shim* get() {
    static const Shim* shim = [] {
      auto found = std::make_unique<Shim>();
      return found->resolve() ? found.release() : nullptr;
    }();
    return shim;
  }

 private:
  bool resolve() {
    // Loaded already, but out of sight of what was loaded otherwise.
    void* library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return false;
    const auto find = [library](const std::string& name, auto& function) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, ("aoti_torch_" + name).c_str()));
      return function != nullptr;
    };
    int32_t (*device_type_cpu)() = nullptr;
    if (!find("get_data_ptr", get_data_ptr) || !find("get_dim", get_dim) || !find("get_sizes", get_sizes) ||
        !find("get_strides", get_strides) || !find("get_dtype", get_dtype) ||
        !find("get_device_type", get_device_type) || !find("delete_tensor_object", delete_tensor_object) ||
        !find("device_type_cpu", device_type_cpu))
      return false;
    cpu = device_type_cpu();
    for (const NamedType& known : kTypes) {
      int32_t (*number)() = nullptr;
      if (find(std::string("dtype_") + known.name, number)) add(number(), known.type);
    }
    return find_handles();
  }

  void add(int32_t number, DataType type) {
    if (number < 0 || number > 255) return;
    if (types.size() <= static_cast<size_t>(number)) types.resize(static_cast<size_t>(number) + 1, kNoType);
    types[static_cast<size_t>(number)] = type;
  }

  bool find_handles() {
    const char* name = "unsafe_alloc_void_ptr_from_tensor";
    const py::object module = py::getattr(torch_c(), "_aoti", py::none());
    if (!py::hasattr(module, name)) return false;
    handle_of = py::object(module.attr(name)).release().ptr();
    return true;
  }
};

bool read(const Shim& shim, Shim::Handle tensor, Array& array) {
  int64_t rank = 0;
  int32_t device = 0, type = 0;
  if (shim.get_device_type(tensor, &device) || shim.get_dtype(tensor, &type) || shim.get_dim(tensor, &rank) ||
      shim.get_sizes(tensor, &array.shape) || shim.get_strides(tensor, &array.strides))
    return false;
  array.rank = static_cast<int32_t>(rank);
  array.device.type = device == shim.cpu ? kCpu : kElsewhere;
  const auto number = static_cast<size_t>(type);
  array.dtype = number < shim.types.size() ? shim.types[number] : kNoType;
  return device != shim.cpu || shim.get_data_ptr(tensor, &array.data) == 0;
}

int array_by_shim(void* object, Array* array) {
  const Shim& shim = *Shim::get();
  PyObject* capsule = PyObject_CallOneArg(shim.handle_of, static_cast<PyObject*>(object));
  if (!capsule) return -1;
  Shim::Handle tensor = PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
  Py_DECREF(capsule);
  if (!tensor) return -1;
  *array = {};
  const bool done = read(shim, tensor, *array);
  // Sizes and strides lie in what the Python object holds, too.
  shim.delete_tensor_object(tensor);
  if (!done) PyErr_SetString(PyExc_RuntimeError, "PyTorch does not tell where a tensor lies");
  return done ? 0 : -1;
}

// --------------------------------------------------------------------------------------------------------- by methods

DataType type_named(const std::string& name) {
  for (const NamedType& known : kTypes)
    if (name == std::string("torch.") + known.name) return known.type;
  return kNoType;
}

void read(py::handle object, Array& array) {
  thread_local std::vector<int64_t> shape, strides;
  shape.clear();
  strides.clear();
  for (const py::handle size : object.attr("shape")) shape.push_back(size.cast<int64_t>());
  for (const py::handle stride : object.attr("stride")()) strides.push_back(stride.cast<int64_t>());
  array = {};
  array.rank = static_cast<int32_t>(shape.size());
  array.shape = shape.data();
  array.strides = strides.data();
  array.dtype = type_named(py::str(object.attr("dtype")));
  array.device.type = py::str(object.attr("device").attr("type")).cast<std::string>() == "cpu" ? kCpu : kElsewhere;
  if (array.device.type == kCpu) array.data = reinterpret_cast<void*>(object.attr("data_ptr")().cast<uintptr_t>());
}

int array_by_methods(void* object, Array* array) {
  try {
    read(py::handle(static_cast<PyObject*>(object)), *array);
    return 0;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return -1;
}

// ----------------------------------------------------------------------------------------------------------- and back

/// The older, unversioned struct that a capsule named `dltensor` holds.
struct OldManaged {
  Array array;
  void* manager = nullptr;
  void (*deleter)(OldManaged*) = nullptr;
};

void drop_unused(PyObject* capsule) {
  // A capsule that was taken is called `used_dltensor`, and its array belongs to who took it.
  if (!PyCapsule_IsValid(capsule, "dltensor")) return;
  auto* unused = static_cast<OldManaged*>(PyCapsule_GetPointer(capsule, "dltensor"));
  unused->deleter(unused);
}

/// When it fails the array is the caller's still.
int object_by_capsule(dlpack::ManagedArray* managed, void** object) {
  static PyObject* from_dlpack = py::object(torch_c().attr("_from_dlpack")).release().ptr();
  PyObject* capsule = dlpack_capsule(managed);
  if (!capsule) return -1;
  *object = PyObject_CallOneArg(from_dlpack, capsule);
  if (!*object && PyCapsule_IsValid(capsule, "dltensor"))
    static_cast<OldManaged*>(PyCapsule_GetPointer(capsule, "dltensor"))->manager = nullptr;
  Py_DECREF(capsule);
  return *object ? 0 : -1;
}

}  // namespace

PyObject* dlpack_capsule(dlpack::ManagedArray* managed) {
  auto old = std::make_unique<OldManaged>(OldManaged{managed->array, managed, [](OldManaged* self) {
                                                       if (auto* m = static_cast<dlpack::ManagedArray*>(self->manager))
                                                         m->deleter(m);
                                                       delete self;
                                                     }});
  PyObject* capsule = PyCapsule_New(old.get(), "dltensor", drop_unused);
  if (capsule) (void)old.release();  // the capsule's now
  return capsule;
}

const dlpack::ExchangeApi* older_exchange() {
  static const dlpack::ExchangeApi* table = [] {
    static dlpack::ExchangeApi made;
    made.array_from_object = Shim::get() ? array_by_shim : array_by_methods;
    made.managed_to_object = object_by_capsule;
    return &made;
  }();
  return table;
}

}  // namespace strata
