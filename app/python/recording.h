// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The recording that is under way in this process, and what a compiled model knows of it.

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>

#include "app/driver/compile.h"
#include "app/driver/recorder.h"

namespace strata {

/// Whether something is recorded now. Costs a load; false in a process that was forked from a recording one.
bool is_recording();

/// Which compile of which trace the calls of a compiled model go to. One thread at a time.
class ModelRecording {
 public:
  /// For a model that is compiled next, on this thread: takes what was said of it (see set_origin).
  ModelRecording();

  /// Puts recorder and origin into a request, if something is recorded. `module`: the torch.fx.GraphModule, or null.
  void attach(CompileRequest& request, const pybind11::object& module);
  void compiled(const Compiled& compiled);

  /// Records a call. A model that this recording has not seen compiled is recorded as what it is now. Never throws:
  /// what fails ends the recording, and its end says so. Needs no interpreter's lock.
  void run(const Program& program, const Compiled& compiled, const std::string& backend, int64_t start_ns,
           int64_t duration_ns);

 private:
  CompileOrigin origin_;
  std::shared_ptr<Recorder> recorder_;  ///< while it is compiled
  std::uint64_t recording_ = 0;         ///< its number; 0: none
  trace::Id compile_ = trace::kNone;
  int64_t runs_ = 0;
};

/// `start_recording`, `stop_recording` and what goes with them.
void bind_recording(pybind11::module_& module);

}  // namespace strata
