// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// libgomp's waiting threads spin for milliseconds. On a machine where something else runs too, the spinning keeps the
// very threads that are waited for off the cores, and a call takes a hundred times as long. A short spin costs nothing
// measurable on an idle machine. libgomp reads its environment when it is loaded, so this has to happen before any
// library's constructors: in .preinit_array, which only an executable has.

#include <cstdlib>

namespace {

void set_short_spin(int, char**, char**) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  setenv("GOMP_SPINCOUNT", "2000", 0);
}

__attribute__((section(".preinit_array"), used)) void (*const preinit)(int, char**, char**) = set_short_spin;

}  // namespace
