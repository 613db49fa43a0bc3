// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Proof, before a call runs, that no NaN can arise in it. Some of the library's fused operations (relu, clamp) turn
/// NaN into a number; they may only be used where the program as written has none.

#include <memory>
#include <optional>
#include <vector>

#include "codegen/library_view.h"

namespace strata::library {

/// Whether the library's version of this operation may turn NaN into a number. Relu and clamp (also in the hard
/// sigmoid) always do, the sigmoid does in some primitives (transposed convolution); tanh and elu rest on the same code
/// as it. The others end in a product or sum with the value itself, and so keep NaN. All treat infinities as the plain
/// operation does, but the hard swish, x * clamp(x + 3, 0, 6) / 6, divides first: where the plain one overflows it does
/// not, so it counts as one of them.
bool drops_nan(PostOp::Kind kind);

/// Largest magnitude in a view of a floating type of 16 or 32 bits (0 when empty); infinity when one is infinite or
/// NaN. Reads each element once, in parallel when it is worth it; does not allocate.
double max_magnitude(const View& view, const StepArgs& args);

/// What the calls of one compile know about the magnitudes of buffers; infinity: nothing. A cell is written by the one
/// launch that writes its buffer, in each run, before others read it.
struct KnownBounds {
  std::shared_ptr<std::vector<double>> table;
  std::vector<int> cells;  ///< per buffer of the launch: index into the table, or -1
  double* cell(int buffer) const;
};

/// Upper bounds of the magnitudes that a call computes: k * |a| * |b| + |bias|, then what each operation makes of it.
/// If all of them stay below float's largest, no infinity and hence no NaN is on the way.
class BoundCheck {
 public:
  /// `call`: constants are read here, once; the weight is not if its largest magnitude is given. `bounds` must outlive
  /// the check.
  BoundCheck(const ConcreteCall& call, const KnownBounds& bounds, std::optional<double> weight = {});
  BoundCheck(const BoundCheck&) = delete;
  BoundCheck& operator=(const BoundCheck&) = delete;

  /// Whether a run could pass: no constant or parameter is NaN, no constant infinite, and every operand can be looked
  /// at.
  bool possible() const { return possible_; }
  /// Whether no NaN can reach an operation that drops it. Operands without a known bound, or with one that is too wide,
  /// are scanned. Does not allocate.
  bool passes(const StepArgs& args);
  /// Upper bound of the result as far as it is known without looking at operands.
  double known_result();
  /// Of the last `passes`.
  double result() const { return result_; }
  /// Largest magnitude of an operand that is constant.
  double constant_magnitude(size_t operand) const { return operands_[operand].magnitude; }

 private:
  struct Operand {
    View view;
    double* known = nullptr;  // cell of the table
    bool constant = false;
    bool needed = false;  // before an operation that drops NaN
    bool scanned = false;
    double magnitude = 0;
  };
  struct Op {
    PostOp::Kind kind;
    double alpha, beta;
    int operand;
  };

  void add_operands(const ConcreteCall& call, const KnownBounds& bounds, std::optional<double> weight);
  void recall();
  bool scan(const StepArgs& args);
  bool evaluate();
  double after(const Op& op, double bound) const;

  double gain_ = 1;       // of the product: |alpha| * terms in a sum
  double bias_gain_ = 0;  // |beta|
  double result_limit_ = 0;
  std::vector<Operand> operands_;
  std::vector<Op> ops_;
  size_t checked_ = 0;  // operations up to the last that drops NaN
  bool possible_ = true;
  double result_ = 0;
};

}  // namespace strata::library
