// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/profiler_region.h"

namespace py = pybind11;

namespace strata {
namespace {

/// What PyTorch has for profilers; null where it lacks it. Held until the process ends.
struct Profiler {
  PyObject* module = nullptr;   ///< names of torch.autograd.profiler
  PyObject* enabled = nullptr;  ///< the name of the flag there
  PyObject* region = nullptr;   ///< the class of events

  static const Profiler& get() {
    static const Profiler profiler;
    return profiler;
  }

 private:
  Profiler() {
    try {
      module = py::object(py::module_::import("torch.autograd.profiler").attr("__dict__")).release().ptr();
      enabled = PyUnicode_InternFromString("_is_profiler_enabled");
      region =
          py::object(py::module_::import("torch._C").attr("_profiler").attr("_RecordFunctionFast")).release().ptr();
    } catch (const py::error_already_set&) {
      region = nullptr;
    }
  }
};

}  // namespace

bool ProfilerRegion::running() {
  const Profiler& profiler = Profiler::get();
  return profiler.region && PyDict_GetItemWithError(profiler.module, profiler.enabled) == Py_True;
}

void ProfilerRegion::enter(const py::object& name) {
  try {
    py::object region = py::reinterpret_borrow<py::object>(Profiler::get().region)(name);
    region.attr("__enter__")();
    region_ = std::move(region);
  } catch (const py::error_already_set&) {  // a call must not fail for want of a name
  }
}

void ProfilerRegion::leave() {
  const py::error_scope kept;  // the call may be on its way out with an exception
  try {
    region_.attr("__exit__")(py::none(), py::none(), py::none());
  } catch (const py::error_already_set&) {
  }
}

}  // namespace strata
