// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What steps of our own float32 convolutions have in common: the calls that they take, and what follows the sums.

#include <memory>
#include <optional>
#include <string>

#include "codegen/convolution_product.h"
#include "codegen/library_copy.h"
#include "codegen/library_view.h"

namespace strata::library {

/// Whether a call is a float32 convolution of two dimensions and one group, with something to compute.
bool is_plane_convolution(const ConcreteCall& call);
/// Whether channels of a result lie next to each other, and places of all images at one distance.
bool has_dense_places(const View& result);

/// Sizes, steps and strides of a plane convolution; no pointers. Strides mean what they say where channels lie next to
/// each other.
ConvolutionProduct geometry_of(const ConcreteCall& call);

/// Sums that one element of the result takes, for all of them.
int64_t products_of(const ConcreteCall& call);

/// Bias, a factor and a summand for each channel (a batch norm), an operand that lies as the result does and is added
/// to it, and `relu` come before the sums leave their registers; other work follows on parts of the result.
class ConvolutionEnd {
 public:
  explicit ConvolutionEnd(const ConcreteCall& call);

  /// Sets what is done in registers.
  void give(const StepArgs& args, ConvolutionProduct& product) const;
  bool has_rest() const { return rest_ != nullptr; }
  /// The other work, on channels [first_channel, last_channel) of places [first, last) of the result.
  void run_rest(const StepArgs& args, int64_t first, int64_t last, int64_t first_channel, int64_t last_channel) const;
  /// Lines for people, as Step::describe.
  std::string describe() const;

 private:
  std::optional<View> bias_, scale_, shift_, added_;
  bool relu_ = false;
  std::unique_ptr<EpilogueInParts> rest_;
};

}  // namespace strata::library
