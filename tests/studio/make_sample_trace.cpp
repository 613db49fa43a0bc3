// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Writes a sample trace: make_sample_trace OUT.strata [BLOCKS | large NODES]. For looking at the window without a
// compiler.
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/studio/sample_trace.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: make_sample_trace OUT.strata [BLOCKS | large NODES]\n";
    return 2;
  }
  try {
    if (argc > 3 && std::string(argv[2]) == "large")
      strata::test::write_large_trace(argv[1], std::atoi(argv[3]));
    else
      strata::test::write_sample_trace(argv[1], {argc > 2 ? std::atoi(argv[2]) : 3, true});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
  return 0;
}
