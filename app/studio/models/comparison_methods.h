// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The ways two runs are compared, for compare_profiles. Rows come in no particular order.

#include "app/studio/models/comparison_profile.h"

namespace strata::studio {

/// Two imported profiles, the first without compiled code: the rows of profiler/eager_diff.h.
ProfileComparison compare_eager(const CompareSide& eager, const CompareSide& compiled,
                                const std::function<bool()>& stop);

/// All runs of two compiles: the rows of profiler/diff.h. Compiles of different programs are compared by name, with a
/// note.
ProfileComparison compare_compiles_or_names(const CompareSide& a, const CompareSide& b,
                                            const std::function<bool()>& stop);

/// Rows with the same name; kernels with what they were made of.
ProfileComparison compare_by_name(const CompareSide& a, const CompareSide& b, const std::function<bool()>& stop);

/// Adds up rows with the same key, in the order that keys first came.
class RowsByKey {
 public:
  CompareRow& row(const std::string& kind, const std::string& key);
  std::vector<CompareRow> take() { return std::move(rows_); }

 private:
  std::map<std::pair<std::string, std::string>, size_t> at_;
  std::vector<CompareRow> rows_;
};

}  // namespace strata::studio
