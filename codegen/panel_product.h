// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The arithmetic of float32 matrix products in AVX2, where libraries are written for wider vectors: rows of a against
/// panels of columns of b, which are packed as they are met, or were before.

#include <cstdint>

#include "core/ir/dtype.h"

namespace strata::library {

constexpr int64_t kPanelColumns = 16;

/// c[rows, columns] = alpha * a b + bias. Strides in elements.
struct PanelProduct {
  enum class Form : uint8_t {
    Rows,    ///< b is [depth, columns], each row dense
    Lines,   ///< [columns, depth], each column of b dense
    Panels,  ///< [panels, stride / kPanelColumns, kPanelColumns]: packed, and filled up with anything
  };
  int64_t rows, columns, depth;
  const float* a;  ///< [rows, depth], each row dense
  int64_t a_stride;
  const void* b;
  int64_t b_stride;  ///< from row to row, column to column, panel to panel
  Form form;
  DType b_dtype;  ///< F32; but for panels, also BF16 or F16, widened as they are packed
  float* c;       ///< rows dense
  int64_t c_stride;
  float alpha;
  const float* bias;  ///< [columns], or null
};

/// Rows whose piece of the depth the second-level cache holds while panels go over them; more where panels are packed
/// again for each such block.
constexpr int64_t row_block(PanelProduct::Form form) { return form == PanelProduct::Form::Panels ? 96 : 192; }

/// Rows [first_row, last_row) of panels [first_panel, last_panel), for a depth of at least 1. Only where has_avx2().
void panel_product(const PanelProduct& product, int64_t first_row, int64_t last_row, int64_t first_panel,
                   int64_t last_panel);

/// Columns that lie dense as rows that do: to[r * to_stride + c] = from[c * from_stride + r], for `rows` by `columns`;
/// `from` has F32, BF16 or F16. Only where has_avx2().
void turn_columns(DType dtype, const void* from, int64_t from_stride, int64_t rows, int64_t columns, float* to,
                  int64_t to_stride);

}  // namespace strata::library
