// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

#include "passes/bind_bodies.h"
#include "passes/complex_to_real.h"
#include "passes/cse.h"
#include "passes/dce.h"
#include "passes/decompose.h"
#include "passes/expand_depthwise.h"
#include "passes/fold_batch_norm.h"
#include "passes/fold_constants.h"
#include "passes/functionalize.h"
#include "passes/fuse_attention.h"
#include "passes/merge_matmuls.h"
#include "passes/numbers_as_tensors.h"
#include "passes/pass.h"
#include "passes/simplify.h"

namespace strata {

const std::vector<Pass>& inference_pipeline() {
  static const std::vector<Pass> pipeline = {
      // Of what floats a program reads; sizes stay numbers.
      {"numbers_as_tensors", "make tensors of numbers that only a run tells", numbers_as_tensors, "functional", true,
       numbers_as_tensors_may_change},
      // Everything after it relies on immutable values.
      {"functionalize", "make mutation and aliasing explicit", functionalize, "functional", true},
      // What is constant is known now that all writing is; before anything is folded.
      {"bind_bodies", "give the bodies of control flow what they never see changed", bind_bodies, "functional", true,
       bind_bodies_may_change},
      // Scheduling knows primitives and library operators only.
      {"decompose", "replace compound operators by primitives", decompose, "decomposed", true},
      // Kernels know real numbers only. After decompose: primitives have rules.
      {"complex_to_real", "make two real numbers of each complex one", complex_to_real, "simplified", true,
       complex_to_real_may_change},
      {"dce", "drop what no output needs", dce, "simplified", false, dce_may_change},
      {"simplify", "apply algebraic rules", simplify, "simplified", false, simplify_may_change},
      {"cse", "compute equal values once", cse, "simplified", false, cse_may_change},
      // Batch norm's factors must be constants before they can be folded into weights.
      {"fold_constants", "evaluate what does not depend on inputs", fold_constants, "simplified", false,
       fold_constants_may_change},
      {"fold_batch_norm", "fold scale and shift per channel into convolutions", fold_batch_norm, "simplified", false,
       fold_batch_norm_may_change},
      // What could be folded into their weights has been.
      {"expand_depthwise", "make depthwise convolutions of few taps sums of products", expand_depthwise, "simplified",
       false, expand_depthwise_may_change},
      // Its numbers must be constants, its softmax still whole; simplify then joins the reshapes around it.
      {"fuse_attention", "make spelled-out attention one operator", fuse_attention, "simplified", false,
       fuse_attention_may_change},
      {"simplify", "apply algebraic rules", simplify, "simplified", false, simplify_may_change},
      {"cse", "compute equal values once", cse, "simplified", false, cse_may_change},
      // After cse, so that equal inputs are the same node.
      {"merge_matmuls", "make products of one input with several weights one product", merge_matmuls, "simplified",
       false, merge_matmuls_may_change},
      // Last, so that nothing dead is scheduled.
      {"dce", "drop what no output needs", dce, "simplified", false, dce_may_change},
  };
  return pipeline;
}

const std::vector<Pass>& unfused_pipeline() {
  static const std::vector<Pass> pipeline = {
      {"numbers_as_tensors", "make tensors of numbers that only a run tells", numbers_as_tensors, "functional", true,
       numbers_as_tensors_may_change},
      {"functionalize", "make mutation and aliasing explicit", functionalize, "functional", true},
      // What is constant is known now that all writing is; before anything is folded.
      {"bind_bodies", "give the bodies of control flow what they never see changed", bind_bodies, "functional", true,
       bind_bodies_may_change},
      {"decompose", "replace compound operators by primitives", decompose, "decomposed", true},
      {"complex_to_real", "make two real numbers of each complex one", complex_to_real, "simplified", true,
       complex_to_real_may_change},
      // Copies that decomposition left are no operators of the program.
      {"simplify", "apply algebraic rules", simplify, "simplified", false, simplify_may_change},
      {"dce", "drop what no output needs", dce, "simplified", false, dce_may_change},
  };
  return pipeline;
}

}  // namespace strata
