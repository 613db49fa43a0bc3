// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace strata {

/// For long work in C++, from the thread that Python called: throws KeyboardInterrupt, or what a handler of a signal
/// raised, where Ctrl-C was pressed meanwhile. With or without the interpreter's lock.
inline bool check_interrupt() {
  const pybind11::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
  return false;
}

}  // namespace strata
