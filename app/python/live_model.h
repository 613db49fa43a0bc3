// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A graph of live PyTorch, compiled, and called with PyTorch's tensors.

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/driver/compile.h"

namespace strata {

class LiveModel {
 public:
  /// Compiles an ATen graph (see read_fx_graph). `request.recorder` must outlive the model.
  LiveModel(const pybind11::object& module, const std::string& name, CompileRequest request,
            std::shared_ptr<Recorder> recorder);

  /// One object per placeholder: CPU tensors, whole numbers for sizes. Tensors that the graph writes are changed in
  /// place. Returns fresh `torch.Tensor`s, one per output. Calls from several threads follow one another; the
  /// interpreter is free meanwhile.
  pybind11::list call(const pybind11::sequence& inputs);

 private:
  pybind11::object module_;  ///< owns the constants that the program views
  Program program_;
  std::shared_ptr<Recorder> recorder_;
  std::string backend_;
  std::unique_ptr<Compiled> compiled_;
  std::mutex running_;
  int64_t runs_ = 0;
};

}  // namespace strata
