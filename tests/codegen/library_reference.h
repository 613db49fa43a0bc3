// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Naive double-precision versions of the library calls, and a harness that runs a call on random tensors and compares.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "codegen/library_call.h"
#include "core/ir/library.h"
#include "core/runtime/tensor.h"

namespace strata::library_test {

/// Dense values with a shape, indexed with broadcasting of sizes of 1.
struct Values {
  std::vector<int64_t> shape;
  std::vector<double> data;
};

/// One test call: tensors are made, operands filled with fresh random values, the result poisoned.
class Case {
 public:
  explicit Case(std::string kind, unsigned seed = 1) : random_(seed) { call.kind = kind, call.name = kind + "_test"; }

  LibraryCall call;
  std::vector<Tensor> tensors;  ///< one per buffer: operands, then the result

  /// Adds an operand of this logical shape whose dimensions lie in memory in the order `order` (empty: row-major);
  /// returns its index.
  int operand(DType dtype, std::vector<int64_t> shape, std::vector<int> order = {}, bool constant = false,
              int64_t gap = 0);
  /// Operand that is broadcast by strides of 0 in the dimensions where `shape` has 1 and `full` more.
  int expanded(DType dtype, std::vector<int64_t> shape, std::vector<int64_t> full);
  void result(DType dtype, std::vector<int64_t> shape, std::vector<int> order = {});
  void post(PostOp::Kind kind, double alpha = 0, double beta = 0, int operand = -1) {
    call.post_ops.push_back({kind, alpha, beta, operand, 0});
  }
  Values values(int operand) const;

  /// Compiles, runs, compares with the reference; returns the kernel's description.
  std::string check(double tolerance, bool prepack = true, int threads = 2);

 private:
  LibraryOperand add(Tensor tensor, bool constant);
  Tensor random_tensor(DType dtype, const std::vector<int64_t>& shape, const std::vector<int>& order, int64_t gap);
  std::mt19937 random_;
};

Values reference(const Case& c);
/// One operation on one element; y is the operand's element.
double reference(const PostOp& op, double x, double y);

}  // namespace strata::library_test
