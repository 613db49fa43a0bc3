// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A graph of live PyTorch, compiled, and called with PyTorch's tensors.

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "app/driver/compile.h"
#include "app/python/frozen_weights.h"
#include "app/python/live_outputs.h"
#include "app/python/recording.h"
#include "app/python/run_lock.h"

namespace strata {

class LiveModel {
 public:
  /// Compiles a program of an ATen graph (see read_fx_graph). `module`: the graph module that it was read from, whose
  /// tensors it views, or null. `frozen` maps placeholders' positions to the tensors that are constants of the program
  /// from now on.
  LiveModel(const pybind11::object& module, Program program, CompileRequest request, const pybind11::dict& frozen = {});

  /// How outputs are made (see LiveOutputs); without it they are the program's results.
  void set_outputs(const pybind11::sequence& makers, const pybind11::sequence& strides,
                   const pybind11::sequence& symbols);
  /// Called with the same arguments in the model's place when a frozen tensor is not what it was.
  void set_thaw(pybind11::object function) { thaw_ = std::move(function); }

  /// One object per placeholder: CPU tensors, whole numbers for sizes. Tensors that the graph writes are changed in
  /// place. Returns a tuple of outputs. Calls from several threads follow one another; the interpreter is free while
  /// they wait and, where that pays, while kernels run. Throws a user Error when called from within its own call.
  pybind11::object call(PyObject* const* inputs, size_t count);
  /// Whether every frozen tensor among the inputs is what it was.
  bool fresh(const pybind11::sequence& inputs) const;

  /// Launches are timed from the next call on, as they are while recording.
  void set_timing(bool on) { timing_ = on; }
  /// Name, nanoseconds and whether PyTorch is called (or the interpreter), of every launch of the last timed call.
  std::vector<std::tuple<std::string, int64_t, bool>> times() const;

  pybind11::object profiler_name;  ///< of calls in PyTorch's profiler; null: none

 private:
  void freeze(const pybind11::dict& frozen);
  void take_inputs(PyObject* const* inputs, size_t count);
  std::vector<Tensor> run();
  std::vector<Tensor> run_unlocked();
  bool is_brief() const;

  pybind11::object module_;  ///< owns the constants that the program views
  Program program_;
  ModelRecording recording_;
  std::string backend_;
  std::unique_ptr<Compiled> compiled_;
  std::optional<LiveOutputs> outputs_;
  FrozenWeights frozen_;
  pybind11::object thaw_;
  std::vector<size_t> positions_;  ///< of the program's inputs among the caller's
  std::vector<bool> is_size_;      ///< parallel to `positions_`
  size_t count_ = 0;               ///< inputs of a call
  bool brief_ = false;             ///< takes no longer than giving the interpreter's lock away and getting it back
  std::vector<Tensor> inputs_;     ///< of the last call, to be filled in again
  RunLock lock_;
  bool timed_ = false, timing_ = false;
};

/// The model as a built-in function, which is what Python calls with the least ado. It keeps `model` (a LiveModel's
/// Python object) alive.
pybind11::object caller_of(const pybind11::object& model);

}  // namespace strata
