// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/live_model.h"

#include <chrono>

#include "app/python/fx_graph.h"
#include "app/python/tensor_exchange.h"
#include "core/support/error.h"

namespace py = pybind11;

namespace strata {
namespace {

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

Tensor input_of(py::handle object, size_t position) {
  if (!PyLong_Check(object.ptr())) return view_of_torch(object, "input " + std::to_string(position));
  Tensor size = Tensor::empty(DType::I64, {});
  size.set_int(0, object.cast<int64_t>());
  return size;
}

}  // namespace

LiveModel::LiveModel(const py::object& module, const std::string& name, CompileRequest request,
                     std::shared_ptr<Recorder> recorder)
    : module_(module),
      program_(read_fx_graph(module, name)),
      recorder_(std::move(recorder)),
      backend_(request.backend) {
  request.recorder = recorder_.get();
  const py::gil_scoped_release unlocked;
  compiled_ = compile_program(program_, request);
}

py::list LiveModel::call(const py::sequence& arguments) {
  std::vector<Tensor> inputs;
  inputs.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    inputs.push_back(input_of(PySequence_Fast_GET_ITEM(arguments.ptr(), static_cast<py::ssize_t>(i)), i));
  std::vector<Tensor> outputs;
  {
    const py::gil_scoped_release unlocked;
    const std::lock_guard one(running_);
    compiled_->set_timing(recorder_ != nullptr);
    const int64_t start = now_ns();
    outputs = compiled_->run(inputs);
    if (recorder_) recorder_->run(backend_, runs_++, start, now_ns() - start, compiled_->times());
  }
  py::list results(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) results[i] = to_torch(outputs[i]);
  return results;
}

}  // namespace strata
