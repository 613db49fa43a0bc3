// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Plain steps around a library's own work: copies that change layout or type, and work on a result that the library
/// does not do itself.

#include "codegen/library_view.h"

namespace strata::library {

/// to[i...] = from[i...], converted; sizes of 1 in `from` are broadcast.
std::unique_ptr<Step> make_copy(View from, View to);

/// to[i...] = ops(from[i...]), computed in the accumulation type of `from`. `from` and `to` may be the same memory with
/// the same strides.
std::unique_ptr<Step> make_epilogue(View from, View to, std::vector<ResultOp> ops);

/// An epilogue that another step can ask for part by part, once it has made what is in `from`.
class EpilogueInParts : public Step {
 public:
  /// Columns [column, last_column) of rows [row, last_row); a row is a line of the last dimension. In the caller's
  /// thread.
  virtual void run_part(const StepArgs& args, int64_t row, int64_t last_row, int64_t column, int64_t last_column) = 0;
};
std::unique_ptr<EpilogueInParts> make_epilogue_in_parts(View from, View to, std::vector<ResultOp> ops);

}  // namespace strata::library
