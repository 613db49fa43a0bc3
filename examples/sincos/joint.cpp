// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Differentiates an exported program with respect to all of its inputs and prints the joint graph of forward and
// backward, and the two graphs that it is split into, as PyTorch would print them.
//
//     sincos_joint examples/sincos/sincos.pt2

#include <cstdio>
#include <exception>

#include "capture/pt2.h"
#include "core/ir/fx_printer.h"
#include "core/support/error.h"
#include "passes/autograd.h"
#include "passes/functionalize.h"
#include "passes/partition.h"

namespace {

void print(const char* title, const strata::Graph& graph) {
  const strata::FxOptions options{strata::FxOptions::Form::Function, true, true, false};
  std::printf("# %s\n%s\n", title, strata::print_fx(graph, options).c_str());
}

void run(const char* path) {
  const strata::Program program = strata::load_pt2(path);
  const strata::Graph functional = strata::functionalize(program.graph, {}).graph;
  strata::JointOptions options;
  options.needs_gradient.assign(functional.placeholders().size(), true);
  const strata::Graph joint = strata::make_joint(functional, options);
  const strata::Partition parts = strata::partition(joint);
  print("joint", joint);
  print("forward", parts.forward);
  print("backward", parts.backward);
  std::printf("# what the backward graph needs\n");
  for (const strata::PartitionDecision& d : parts.decisions)
    std::printf("# %s: %s, %lld bytes (%s)\n", d.name.c_str(), std::string(to_string(d.kind)).c_str(),
                static_cast<long long>(d.bytes), d.reason.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: sincos_joint PROGRAM.pt2\n");
    return 2;
  }
  try {
    run(argv[1]);
  } catch (const strata::Error& e) {
    std::fprintf(stderr, "sincos_joint: %s\n", e.what());
    return e.exit_code();
  }
  return 0;
}
