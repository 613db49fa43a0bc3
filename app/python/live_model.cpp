// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/live_model.h"

#include <chrono>
#include <new>
#include <utility>

#include "app/python/interrupt_check.h"
#include "app/python/profiler_region.h"
#include "app/python/tensor_exchange.h"
#include "core/support/error.h"
#include "core/support/index_error.h"

namespace py = pybind11;

namespace strata {
namespace {

/// Giving the interpreter's lock away costs about as much as touching this many bytes.
constexpr int64_t kBriefBytes = 16 * 1024;

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

/// A size as the 0-dimensional tensor that the program takes; `size` is empty or that of an earlier call.
void update_size(Tensor& size, PyObject* value, size_t position) {
  if (!PyLong_Check(value))
    throw_user("input " + std::to_string(position) + " is a " + Py_TYPE(value)->tp_name, "give it a whole number");
  const long long number = PyLong_AsLongLong(value);
  if (number == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    throw_user("input " + std::to_string(position) + " is too large for a size");
  }
  if (size.storage.use_count() != 1) size = Tensor::empty(DType::I64, {});
  size.set_int(0, number);
}

/// What an exported program's module holds without being a parameter or buffer is a constant of the file (cse.h).
InputSpec::Kind kind_of_frozen(const std::string& name) {
  const bool is_named = name.find("_parameters_") != name.npos || name.find("_buffers_") != name.npos;
  return is_named ? InputSpec::Kind::Parameter : InputSpec::Kind::TensorConstant;
}

}  // namespace

LiveModel::LiveModel(const py::object& module, Program program, CompileRequest request, const py::dict& frozen)
    : module_(module), program_(std::move(program)), backend_(request.backend) {
  count_ = program_.user_input_names.size();
  freeze(frozen);
  for (size_t i = 0; i < count_; ++i)
    if (!frozen_.contains(i)) positions_.push_back(i);
  for (const Node* node : user_placeholders(program_.graph)) is_size_.push_back(node->type.kind == Type::Kind::SymInt);
  inputs_.resize(positions_.size());
  if (request.mode == "max-autotune") request.cancelled = check_interrupt;  // it measures for seconds
  recording_.attach(request, module);
  {
    const Unlocked unlocked;
    compiled_ = compile_program(program_, request);
  }
  recording_.compiled(*compiled_);
  brief_ = is_brief();
}

/// They become state of the program, as weights in a file are.
void LiveModel::freeze(const py::dict& frozen) {
  if (frozen.empty()) return;
  const std::vector<std::string> names = std::move(program_.user_input_names);
  program_.user_input_names.clear();
  program_.graph.input_specs.resize(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (!frozen.contains(py::int_(i))) {
      program_.user_input_names.push_back(names[i]);
      continue;
    }
    const py::object tensor = frozen[py::int_(i)];
    frozen_.add(i, tensor);
    program_.graph.input_specs[i] = {kind_of_frozen(names[i]), names[i], true, {}};
    program_.state[names[i]] = view_of_torch(tensor, "weight '" + names[i] + "'");
  }
}

void LiveModel::set_outputs(const py::sequence& makers, const py::sequence& strides, const py::sequence& symbols) {
  outputs_.emplace(program_.graph.env(), makers, strides, symbols);
}

/// Known beforehand: a few small kernels, and no call of a library or of PyTorch.
bool LiveModel::is_brief() const {
  if (!compiled_->plan()) return false;
  int64_t work = 0;
  for (const Launch& launch : compiled_->plan()->launches) {
    const bool known = launch.bytes_read.is_const() && launch.bytes_written.is_const() && launch.flops.is_const();
    if (!known || !std::holds_alternative<loop::Kernel>(launch.work)) return false;
    for (const SymInt* amount : {&launch.bytes_read, &launch.bytes_written, &launch.flops}) {
      if (amount->value() > kBriefBytes) return false;
      work += amount->value();
    }
  }
  return work <= kBriefBytes;
}

bool LiveModel::fresh(const py::sequence& inputs) const {
  std::vector<PyObject*> pointers;
  for (const py::handle input : inputs) pointers.push_back(input.ptr());
  return pointers.size() == count_ && frozen_.unchanged(pointers.data());
}

void LiveModel::take_inputs(PyObject* const* inputs, size_t count) {
  if (count != count_)
    throw_user("the graph takes " + std::to_string(count_) + " inputs, found " + std::to_string(count));
  for (size_t i = 0; i < positions_.size(); ++i) {
    PyObject* const given = inputs[positions_[i]];
    if (is_size_[i])
      update_size(inputs_[i], given, positions_[i]);
    else
      update_view(inputs_[i], given, positions_[i]);
  }
}

std::vector<Tensor> LiveModel::run_unlocked() {
  const Unlocked unlocked(&lock_);
  return run();
}

std::vector<Tensor> LiveModel::run() {
  if (!compiled_->plan()) check_inputs(program_, inputs_);
  const bool record = is_recording();
  if ((record || timing_) != timed_) compiled_->set_timing(timed_ = record || timing_);
  if (!record) return compiled_->run(inputs_);
  const int64_t start = now_ns();
  std::vector<Tensor> results = compiled_->run(inputs_);
  recording_.run(program_, *compiled_, backend_, start, now_ns() - start);
  return results;
}

std::vector<std::tuple<std::string, int64_t, bool>> LiveModel::times() const {
  std::vector<std::tuple<std::string, int64_t, bool>> result;
  if (!compiled_->plan()) return result;
  for (const LaunchTime& time : compiled_->times()) {
    const Launch& launch = compiled_->plan()->launches.at(time.launch);
    const auto* opaque = std::get_if<OpaqueCall>(&launch.work);
    result.emplace_back(launch.name, time.end - time.start, opaque && !opaque->target.starts_with("strata."));
  }
  return result;
}

py::object LiveModel::call(PyObject* const* inputs, size_t count) {
  if (thaw_ && count == count_ && !frozen_.unchanged(inputs))
    return py::reinterpret_steal<py::object>(PyObject_Vectorcall(thaw_.ptr(), inputs, count, nullptr));
  if (!outputs_) throw_internal("a compiled graph is called before its outputs are described");
  const ProfilerRegion region(profiler_name);
  std::vector<Tensor> results;
  SymBindings of_data;
  {
    const RunLock::Hold one(lock_);
    take_inputs(inputs, count);
    results = brief_ ? run() : run_unlocked();
    if (outputs_->from_data() && compiled_->executor()) of_data = compiled_->executor()->symbols();
  }
  return outputs_->make(inputs, results, of_data);
}

// --------------------------------------------------------------------------------------------------- as a function

namespace {

constexpr const char* kCapsule = "strata.LiveModel";

/// What keeps the model alive, and the model.
struct Callee {
  PyObject* object;
  LiveModel* model;
};

void set_error(const char* text) {
  static auto* const type = new py::object(py::module_::import("strata._strata").attr("StrataError"));
  PyErr_SetString(type->ptr(), text);
}

PyObject* call_model(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count) {
  auto* callee = static_cast<Callee*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (!callee) return nullptr;
  try {
    return callee->model->call(arguments, static_cast<size_t>(count)).release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const IndexError& error) {
    PyErr_SetString(PyExc_IndexError, error.what());
  } catch (const std::exception& error) {
    set_error(error.what());
  }
  return nullptr;
}

void free_callee(PyObject* capsule) {
  auto* callee = static_cast<Callee*>(PyCapsule_GetPointer(capsule, kCapsule));
  Py_XDECREF(callee->object);
  delete callee;
}

}  // namespace

py::object caller_of(const py::object& model) {
  static PyMethodDef method = {"strata_graph", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_model)),
                               METH_FASTCALL, "A compiled graph: one argument per input, a tuple of outputs."};
  auto* callee = new Callee{model.inc_ref().ptr(), model.cast<LiveModel*>()};
  const auto capsule = py::reinterpret_steal<py::object>(PyCapsule_New(callee, kCapsule, &free_callee));
  if (!capsule) throw py::error_already_set();
  auto function = py::reinterpret_steal<py::object>(PyCFunction_NewEx(&method, capsule.ptr(), nullptr));
  if (!function) throw py::error_already_set();
  return function;
}

}  // namespace strata
