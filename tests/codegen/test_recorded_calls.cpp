// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Recorded calls of ops_d.json (scatters, sizes that data tells, runs, matrices) and ops_e.json, ops_f.json
// (interpolation, words for what others say in a few), ops_g.json (complex numbers, Fourier transforms), ops_h.json
// (cells, windows, frames), ops_i.json (regions of images, quantized numbers), decomposed, scheduled and compiled,
// against PyTorch's results. Nothing runs in the interpreter.

#include <gtest/gtest.h>

#include <cmath>

#include "codegen/compiler.h"
#include "core/support/error.h"
#include "passes/complex_to_real.h"
#include "passes/decompose.h"
#include "passes/schedule.h"
#include "tests/core/ops_cases.h"

namespace strata {
namespace {

double slack(DType dtype) {
  switch (dtype) {
    case DType::BF16:
      return 2e-2;
    case DType::F16:
      return 4e-3;
    case DType::F64:
      return 2e-7;  // the file holds nine digits of operands too, and solving equations magnifies what is missing
    default:
      return 2e-5;
  }
}

/// Empty if alike: floats within the dtype's slack, everything else exactly.
std::string unlike(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return a.str() + ", expected " + b.str();
  if (is_complex(a.dtype)) return unlike(as_pairs(a), as_pairs(b));
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.at(i), y = b.at(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (is_floating(a.dtype) && std::fabs(x - y) <= slack(a.dtype) * std::max(1.0, std::fabs(y))) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(x) + ", expected " + std::to_string(y);
  }
  return {};
}

std::vector<Tensor> compiled_results(const testing::OpCase& c) {
  testing::CaseGraph g(c);
  Builder b(g.graph);
  testing::return_all(g.graph, b, g.add_call(b, c));
  PassResult decomposed = decompose(g.graph, {});
  if (complex_to_real_may_change(decomposed.graph, {})) decomposed = complex_to_real(decomposed.graph, {});
  const Scheduled scheduled = schedule(decomposed.rewrites.empty() ? g.graph : decomposed.graph, {});
  for (const Launch& l : scheduled.plan->launches)
    EXPECT_FALSE(std::holds_alternative<OpaqueCall>(l.work)) << l.name << " runs in the interpreter";
  Executor executor(scheduled.plan, make_cpu_compiler()->compile(*scheduled.plan, {}), 2);
  return executor.run(c.inputs);
}

void compare_all(const char* file, size_t at_least) {
  size_t compared = 0;
  for (const testing::OpCase& c : testing::op_data(file).cases) {
    if (std::any_of(c.out.begin(), c.out.end(), [](const testing::Expected& e) { return !e.is_tensor; })) continue;
    SCOPED_TRACE(c.text);
    try {
      const std::vector<Tensor> results = compiled_results(c);
      ASSERT_EQ(results.size(), c.out.size());
      for (size_t k = 0; k < results.size(); ++k) EXPECT_EQ(unlike(results[k], c.out[k].data), "") << "result " << k;
      ++compared;
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_GT(compared, at_least);
}

TEST(RecordedCalls, CompiledCallsGivePyTorchsResults) { compare_all("ops_d.json", 300); }
TEST(RecordedCalls, CompiledWordsGivePyTorchsResults) { compare_all("ops_e.json", 250); }
TEST(RecordedCalls, CompiledNamesGivePyTorchsResults) { compare_all("ops_f.json", 150); }
TEST(RecordedCalls, CompiledComplexCallsGivePyTorchsResults) { compare_all("ops_g.json", 400); }

TEST(RecordedCalls, CompiledCallsOfExportedProgramsGivePyTorchsResults) { compare_all("ops_h.json", 100); }
TEST(RecordedCalls, CompiledCallsOfOtherLibrariesGiveTheirResults) { compare_all("ops_i.json", 120); }

}  // namespace
}  // namespace strata
