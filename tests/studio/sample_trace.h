// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A trace as the compiler writes one, made by hand: a convolutional network through every stage.

#include <filesystem>
#include <string>

namespace strata::test {

struct SampleOptions {
  int blocks = 3;  ///< convolution, batch norm, relu, max pool
  bool two_compiles = false;
};

/// Writes the trace. Stages: captured, functional, decomposed, simplified:cse#1, scheduled, loops, code, plan, runs.
void write_sample_trace(const std::filesystem::path& path, const SampleOptions& options = {});

/// One stage, `captured`, with a chain of `nodes` nodes and a skip connection every eight.
void write_large_trace(const std::filesystem::path& path, int nodes);

}  // namespace strata::test
