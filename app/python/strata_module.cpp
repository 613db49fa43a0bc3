// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The extension module behind the `strata` package. Needs neither numpy nor torch: arrays go through the buffer
// protocol. Where a program has PyTorch, its tensors are taken and given, too.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>

#include "app/driver/compile.h"
#include "app/python/backend_bindings.h"
#include "app/python/foreign_call.h"
#include "app/python/fx_graph.h"
#include "app/python/interrupt_check.h"
#include "app/python/kept_program.h"
#include "app/python/live_generator.h"
#include "app/python/live_model.h"
#include "app/python/overlap.h"
#include "app/python/recording.h"
#include "app/python/tensor_exchange.h"
#include "capture/pt2.h"
#include "core/ir/fx_printer.h"
#include "core/support/error.h"
#include "core/support/index_error.h"
#include "passes/small_sizes.h"

namespace py = pybind11;
using namespace strata;

namespace {

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

struct Format {
  const char* code;
  DType dtype;
};
constexpr Format kFormats[] = {{"?", DType::Bool}, {"B", DType::U8},  {"b", DType::I8},   {"h", DType::I16},
                               {"i", DType::I32},  {"l", DType::I64}, {"q", DType::I64},  {"H", DType::U16},
                               {"I", DType::U32},  {"L", DType::U64}, {"Q", DType::U64},  {"e", DType::F16},
                               {"f", DType::F32},  {"d", DType::F64}, {"Zf", DType::C64}, {"Zd", DType::C128}};

/// bfloat16 and floating types of 8 bits have no format of their own: what their bits are given as.
DType bits_of(DType dtype) {
  if (dtype == DType::BF16) return DType::U16;
  return is_floating(dtype) && dtype_size(dtype) == 1 ? DType::U8 : dtype;
}

std::string format_of(DType dtype) {
  for (const Format& f : kFormats)
    if (f.dtype == bits_of(dtype)) return f.code;
  throw_user("tensors of type " + std::string(dtype_name(dtype)) + " have no buffer format");
}

/// Keeps what holds a Python object alive as long as a tensor's memory is used, on whatever thread that ends.
template <class T>
std::shared_ptr<const void> owner_of(std::shared_ptr<T> held) {
  const T* object = held.get();
  return {object, [held = std::move(held)](const void*) mutable {
            py::gil_scoped_acquire gil;
            held.reset();
          }};
}

/// Views the caller's memory; the tensor keeps the Python object alive.
Tensor from_buffer(const py::buffer& object, size_t position) {
  auto info = std::make_shared<py::buffer_info>(object.request());
  std::string format = info->format;
  if (!format.empty() && (format[0] == '<' || format[0] == '=' || format[0] == '@')) format.erase(0, 1);
  for (const Format& f : kFormats) {
    if (format != f.code) continue;
    Tensor t;
    t.dtype = f.dtype;
    t.shape.assign(info->shape.begin(), info->shape.end());
    for (py::ssize_t s : info->strides) {
      if (s < 0 || s % info->itemsize != 0)
        throw_user("input " + std::to_string(position) + ": strides are negative or not multiples of the element size",
                   "make it contiguous");
      t.strides.push_back(s / info->itemsize);
    }
    t.storage = std::make_shared<Storage>();
    t.storage->data = static_cast<std::byte*>(info->ptr);
    t.storage->size = static_cast<size_t>(info->size * info->itemsize);
    t.storage->owner = owner_of(info);
    return t;
  }
  throw_user("input " + std::to_string(position) + " has element format '" + info->format +
             "', which is not supported");
}

/// Whether it is a `torch.Tensor`; does not import PyTorch.
bool is_torch_tensor(py::handle object) {
  const py::dict modules = py::module_::import("sys").attr("modules");
  if (!modules.contains("torch")) return false;
  const py::object type = py::getattr(modules["torch"], "Tensor", py::none());
  return PyType_Check(type.ptr()) && PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(type.ptr()));
}

/// Views a torch.Tensor's memory and keeps it alive, as `from_buffer` does.
Tensor from_torch(py::object object, size_t position) {
  const std::string what = "input " + std::to_string(position);
  const std::string device = py::str(object.attr("device")), layout = py::str(object.attr("layout"));
  if (device.substr(0, 3) != "cpu") throw_user(what + " is on " + device + ", not on the CPU", "move it with .cpu()");
  if (layout != "torch.strided") throw_user(what + " has the layout " + layout, "make it dense with .to_dense()");
  // What PyTorch will conjugate or negate when it is read is done at once: its memory does not tell.
  for (const char* lazy : {"resolve_conj", "resolve_neg"}) object = object.attr(lazy)();
  Tensor t = view_of_torch(object, what);
  if (t.numel() > 0 && !t.storage->data)
    throw_user(what + " is a " + Py_TYPE(object.ptr())->tp_name + " without elements in memory",
               "give it one that has");
  t.storage->owner = owner_of(std::make_shared<py::object>(std::move(object)));
  return t;
}

/// One argument of a call: an array, a torch.Tensor or a number of Python's.
Tensor from_python(py::handle object, size_t position) {
  if (is_torch_tensor(object)) return from_torch(py::reinterpret_borrow<py::object>(object), position);
  if (PyObject_CheckBuffer(object.ptr())) return from_buffer(py::reinterpret_borrow<py::buffer>(object), position);
  if (py::isinstance<py::bool_>(object)) return Tensor::full(DType::Bool, {}, object.cast<bool>());
  if (py::isinstance<py::int_>(object)) {
    int beyond = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(object.ptr(), &beyond);
    if (beyond) throw_user("input " + std::to_string(position) + " is an int of more than 64 bits");
    Tensor t = Tensor::empty(DType::I64, {});
    t.set_int(0, number);
    return t;
  }
  throw_user("input " + std::to_string(position) + " is a " + Py_TYPE(object.ptr())->tp_name,
             "give it an array (with the buffer protocol, as NumPy's have it), a torch.Tensor or an int");
}

/// Bits are taken for what the program takes, where that has no format of its own.
void take_bits(const Program& program, std::vector<Tensor>& inputs) {
  const auto placeholders = user_placeholders(program.graph);
  for (size_t i = 0; i < std::min(inputs.size(), placeholders.size()); ++i) {
    const Type& type = placeholders[i]->type;
    if (type.is_tensor() && inputs[i].dtype == bits_of(type.tensor.dtype)) inputs[i].dtype = type.tensor.dtype;
  }
}

py::buffer_info to_buffer(Tensor& t) {
  const auto item = static_cast<py::ssize_t>(dtype_size(t.dtype));
  std::vector<py::ssize_t> shape(t.shape.begin(), t.shape.end()), strides;
  for (int64_t s : t.strides) strides.push_back(s * item);
  return {t.data(), item, format_of(t.dtype), static_cast<py::ssize_t>(t.rank()), shape, strides};
}

/// What a program gives that is no array, in Python.
py::object constant_of(const Argument& value) {
  if (value.is_none()) return py::none();
  const auto* text = value.as<std::string>();
  return py::str(text ? *text : print_fx(value));
}

class Model {
 public:
  Model(const std::string& path, const std::string& backend, const std::string& mode, int threads,
        const std::set<std::string>& disabled)
      : program_(load_pt2(path)), backend_(backend) {
    CompileRequest request;
    request.backend = backend;
    request.mode = mode;
    request.threads = threads;
    request.disabled_passes = disabled;
    if (mode == "max-autotune") request.cancelled = check_interrupt;  // it measures for seconds
    recording_.attach(request, {});
    compiled_ = compile_program(program_, request);
    recording_.compiled(*compiled_);
  }

  /// Results are `torch.Tensor`s where an argument is one.
  py::list call(const py::args& arguments) {
    std::vector<Tensor> inputs;
    bool of_torch = false;
    for (size_t i = 0; i < arguments.size(); ++i) {
      inputs.push_back(from_python(arguments[i], i));
      of_torch = of_torch || is_torch_tensor(arguments[i]);
    }
    if (!of_torch) take_bits(program_, inputs);
    small_sizes_.require(check_inputs(program_, inputs));
    const bool record = is_recording();
    compiled_->set_timing(record);
    const int64_t start = now_ns();
    std::vector<Tensor> outputs;
    {
      py::gil_scoped_release unlocked;
      outputs = compiled_->run(inputs);
    }
    if (record) recording_.run(program_, *compiled_, backend_, start, now_ns() - start);
    py::list results;
    for (Tensor& t : outputs) {
      if (of_torch) {
        // PyTorch has no negative strides, which a flip has.
        const bool turned = std::any_of(t.strides.begin(), t.strides.end(), [](int64_t s) { return s < 0; });
        results.append(to_torch(turned ? t.clone() : std::move(t)));
        continue;
      }
      (void)format_of(t.dtype);  // an error here; where Python asks for a buffer, its end
      results.append(py::cast(std::move(t)));
    }
    for (const ConstantOutput& c : program_.constant_outputs) results.insert(c.position, constant_of(c.value));
    return results;
  }

  std::vector<std::string> input_names() const { return program_.user_input_names; }
  std::vector<std::string> output_names() const {
    std::vector<std::string> names = program_.user_output_names;
    for (const ConstantOutput& c : program_.constant_outputs)
      names.insert(names.begin() + static_cast<std::ptrdiff_t>(c.position), c.name);
    return names;
  }

 private:
  Program program_;
  SmallSizes small_sizes_{program_};
  ModelRecording recording_;
  std::string backend_;
  std::unique_ptr<Compiled> compiled_;
};

CompileRequest live_request(const std::string& backend, const std::string& mode, int threads,
                            const std::set<std::string>& disabled) {
  CompileRequest request;
  request.backend = backend;
  request.mode = mode;
  request.threads = threads;
  request.disabled_passes = disabled;
  return request;
}

}  // namespace

PYBIND11_MODULE(_strata, m) {
  py::register_exception<Error>(m, "StrataError", PyExc_RuntimeError);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const IndexError& error) {
      PyErr_SetString(PyExc_IndexError, error.what());
    }
  });
  py::class_<Tensor>(
      m, "Tensor", py::buffer_protocol(),
      "Result of a call. Has the buffer protocol (bfloat16 comes as uint16 bits, float8 as uint8) and DLPack's: "
      "torch.from_dlpack.")
      .def_buffer(&to_buffer)
      .def("__dlpack__", [](const Tensor& t, const py::kwargs&) { return to_dlpack(t); })
      .def("__dlpack_device__", [](const Tensor&) { return std::pair(1, 0); })  // the processor's memory
      .def_property_readonly("shape", [](const Tensor& t) { return py::tuple(py::cast(t.shape)); })
      .def_property_readonly("dtype", [](const Tensor& t) { return std::string(dtype_name(t.dtype)); })
      .def("__repr__", [](const Tensor& t) { return "strata.Tensor(" + t.str() + ")"; });
  py::class_<Model>(m, "Model",
                    "A compiled program. Call it with one array or torch.Tensor per user input; one call "
                    "at a time. Gives a list of strata.Tensor, or of torch.Tensor where an argument is one; None and "
                    "strings as they are.")
      .def("__call__", &Model::call)
      .def_property_readonly("input_names", &Model::input_names)
      .def_property_readonly("output_names", &Model::output_names);
  m.def("load", [](const std::string& path, const std::string& backend, const std::string& mode, int threads,
                   const std::set<std::string>& disabled) {
    return std::make_unique<Model>(path, backend, mode, threads, disabled);
  });
  py::class_<LiveModel>(m, "LiveModel", "A compiled graph of live PyTorch. Call it with one object per placeholder.")
      .def("set_outputs", &LiveModel::set_outputs)
      .def("set_thaw", &LiveModel::set_thaw)
      .def("fresh", &LiveModel::fresh)
      .def("set_timing", &LiveModel::set_timing)
      .def("times", &LiveModel::times)
      .def("caller", [](const py::object& self) { return caller_of(self); })
      .def_readwrite("profiler_name", &LiveModel::profiler_name);
  m.def("compile_fx",
        [](const py::object& module, const std::string& name, const std::string& backend, const std::string& mode,
           int threads, const std::set<std::string>& disabled, const py::dict& frozen) {
          return std::make_unique<LiveModel>(module, read_fx_graph(module, name),
                                             live_request(backend, mode, threads, disabled), frozen);
        });
  m.def("compile_text", [](std::string graph, std::map<std::string, std::string> constants, const std::string& name,
                           const std::string& backend, const std::string& mode, int threads,
                           const std::set<std::string>& disabled, const py::dict& frozen) {
    Program program = program_of_text({std::move(graph), std::move(constants)}, name);
    return std::make_unique<LiveModel>(py::object(), std::move(program), live_request(backend, mode, threads, disabled),
                                       frozen);
  });
  m.def("operators_of_fx", [](const py::object& module) {
    FxOperators found = operators_of_fx_graph(module);
    return py::make_tuple(std::move(found.missing), std::move(found.foreign));
  });
  m.def("is_size", &is_size);
  m.def("rejected_calls", &rejected_calls);
  m.def("set_caller", &set_opaque_caller);
  m.def("draw_from", &draw_from);
  m.def("draw_once", &draw_once);
  m.def("written_inputs_overlap", &written_inputs_overlap);
  m.def("list_backends", [] {
    std::vector<std::string> names;
    for (const BackendInfo& b : backends()) names.push_back(b.name);
    return names;
  });
  bind_backends(m);
  bind_recording(m);
  bind_kept_programs(m);
}
