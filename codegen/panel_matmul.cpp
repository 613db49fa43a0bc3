// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/panel_matmul.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/instruction_sets.h"
#include "codegen/library_copy.h"
#include "codegen/matmul_product.h"
#include "codegen/panel_cut.h"
#include "codegen/panel_product.h"
#include "core/runtime/parallel.h"

namespace strata::library {
namespace {

using Form = PanelProduct::Form;

constexpr int64_t kTaskProducts = 50'000;  // below, another thread costs more than it saves
constexpr int64_t kRowsAtOnce = 6;         // tasks are multiples of it
// Each thread reads all panels where the rows are shared out, and packs those that are not yet packed: that costs
// little where it has so many rows for each, twice as many to pack them, or where its second-level cache holds them.
constexpr int64_t kRowsForAllPanels = 64, kFewElements = 65'536;

bool has_dense_rows(const View& v) { return v.dtype == DType::F32 && is_dense(v, v.rank() - 1); }

class PanelMatmulStep : public Step {
 public:
  /// The product into `into`; from there to `result` if they differ or there are operations.
  PanelMatmulStep(MatmulProduct product, View into, Form form, int64_t b_stride, int threads)
      : p_(std::move(product)), into_(std::move(into)) {
    const size_t r = into_.rank();
    s_.rows = into_.shape[r - 2];
    s_.columns = into_.shape[r - 1];
    s_.depth = p_.a.shape[r - 1];
    s_.a_stride = p_.a.strides[r - 2];
    s_.b_stride = b_stride;
    s_.form = form;
    s_.b_dtype = p_.b.dtype;
    s_.c_stride = into_.strides[r - 2];
    s_.alpha = p_.scale;
    for (size_t d = 0; d + 2 < r; ++d) batch_ *= into_.shape[d];
    panels_ = parts(s_.columns, kPanelColumns);
    const int64_t work = batch_ * s_.rows * s_.columns * s_.depth;
    threads_ = threads_for(work / kTaskProducts, threads);
    const bool packed = form == Form::Panels;
    const bool keeps_rows =
        s_.rows >= (packed ? 1 : 2) * kRowsForAllPanels * threads_ || (packed && s_.depth * s_.columns <= kFewElements);
    cut_ = cut_for(batch_, parts(s_.rows, kRowsAtOnce), panels_, threads_, keeps_rows);
    const bool in_place = into_.slot.kind == p_.result.slot.kind && into_.slot.offset == p_.result.slot.offset;
    if (!in_place || !p_.ops.empty()) rest_ = make_epilogue_in_parts(into_, p_.result, p_.ops);
  }

  void run(const StepArgs& args) override {
    parallel_parts(batch_ * cut_.rows * cut_.panels, threads_, [&](int64_t begin, int64_t end) {
      for (; begin < end; ++begin) task(args, begin);
    });
  }

  std::string describe() const override {
    const char* form = s_.form == Form::Panels  ? "packed before"
                       : s_.form == Form::Lines ? "columns packed as they are met"
                                                : "rows packed as they are met";
    std::string text = fmt::format("matmul own kernel in panels, {}\n  a {}\n  b {}\n  result {}\n", form,
                                   library::describe(p_.a), library::describe(p_.b), library::describe(into_));
    if (p_.scale != 1) text += fmt::format("  scale {}\n", p_.scale);
    if (p_.bias) text += "  bias " + library::describe(*p_.bias) + "\n";
    return rest_ ? text + rest_->describe() : text;
  }

 private:
  float* at(const StepArgs& args, const View& v, int64_t batch) const {
    return reinterpret_cast<float*>(matrix_at(args, v, into_.shape, batch));
  }

  /// Work on the result follows block by block, while that is in the cache.
  void task(const StepArgs& args, int64_t i) {
    const int64_t each = cut_.rows * cut_.panels, batch = i / each;
    const auto [first, last, panel, last_panel] = part_of(cut_, i % each, s_.rows, kRowsAtOnce, panels_);
    PanelProduct s = s_;
    s.bias = p_.bias ? reinterpret_cast<const float*>(args.at(p_.bias->slot)) : nullptr;
    s.a = at(args, p_.a, batch);
    s.b = matrix_at(args, p_.b, into_.shape, batch);
    s.c = at(args, into_, batch);
    if (!rest_) return panel_product(s, first, last, panel, last_panel);
    const int64_t block = row_block(s_.form);
    for (int64_t row = first; row < last; row += block) {
      const int64_t end = std::min(row + block, last);
      panel_product(s, row, end, panel, last_panel);
      rest_->run_part(args, batch * s_.rows + row, batch * s_.rows + end, panel * kPanelColumns,
                      std::min(s_.columns, last_panel * kPanelColumns));
    }
  }

  const MatmulProduct p_;
  const View into_;
  PanelProduct s_{};
  int64_t batch_ = 1, panels_ = 1;
  int threads_ = 1;
  PanelCut cut_;
  std::unique_ptr<EpilogueInParts> rest_;
};

bool takes(const ConcreteCall& call) {
  if (!has_avx2_at_most() || accumulation_dtype(call.result.dtype) != DType::F32) return false;
  return call.result.rank() >= 2 && call.result.numel() > 0 && call.operands[0].shape.back() > 0;
}

/// Matrices of columns that lie dense become rows in scratch.
class TurnStep : public Step {
 public:
  TurnStep(View from, View to, int threads) : from_(std::move(from)), to_(std::move(to)) {
    const size_t r = to_.rank();
    rows_ = to_.shape[r - 2];
    columns_ = to_.shape[r - 1];
    blocks_ = parts(rows_, kRows);
    matrices_ = to_.numel() / (rows_ * columns_);
    threads_ = threads_for(to_.numel() / kTaskElements, threads);
  }

  void run(const StepArgs& args) override {
    parallel_parts(matrices_ * blocks_, threads_, [&](int64_t begin, int64_t end) {
      const size_t r = to_.rank();
      for (int64_t i = begin; i < end; ++i) {
        const int64_t matrix = i / blocks_, row = i % blocks_ * kRows;
        const auto size = static_cast<int64_t>(dtype_size(from_.dtype));
        auto* to = reinterpret_cast<float*>(matrix_at(args, to_, to_.shape, matrix)) + row * columns_;
        turn_columns(from_.dtype, matrix_at(args, from_, to_.shape, matrix) + row * size, from_.strides[r - 1],
                     std::min(kRows, rows_ - row), columns_, to, columns_);
      }
    });
  }

  std::string describe() const override {
    return "turn " + library::describe(from_) + " -> " + library::describe(to_) + "\n";
  }

 private:
  static constexpr int64_t kRows = 64, kTaskElements = 16'384;
  View from_, to_;
  int64_t rows_ = 0, columns_ = 0, blocks_ = 0, matrices_ = 0;
  int threads_ = 1;
};

/// Copies an operand into scratch, dense and float32.
void stage(View& v, Instance& instance, int threads) {
  const View to = instance.scratch.tensor(DType::F32, v.shape);
  const size_t r = v.rank();
  const bool has_type = v.dtype == DType::F32 || is_reduced_float(v.dtype);
  if (has_type && v.strides[r - 2] == 1 && v.shape[r - 2] > 1 && v.shape[r - 1] > 1)
    instance.steps.push_back(std::make_unique<TurnStep>(v, to, threads));
  else
    instance.steps.push_back(make_copy(v, to));
  v = to;
}

/// A constant weight in panels, as oneDNN knows them: both sizes filled up to multiples of 16, with zeros.
int64_t pack(MatmulProduct& p, PackedConstants& packed, Instance& instance) {
  const dnnl::memory::desc plain = onednn_desc(p.b);
  const dnnl::memory::desc panels({p.b.shape[0], p.b.shape[1]}, dnnl::memory::data_type::f32,
                                  dnnl::memory::format_tag::BA16a16b);
  auto memory = packed.get(p.b_key, plain, panels, p.b.slot);
  instance.unpack = onednn_unpack(memory, plain);
  p.b.slot = {Slot::Kind::Fixed, 0, 0, static_cast<std::byte*>(memory->get_data_handle())};
  instance.owned.push_back(std::move(memory));
  return parts(p.b.shape[0], kPanelColumns) * kPanelColumns * kPanelColumns;
}

}  // namespace

bool build_panel_matmul(const ConcreteCall& call, PackedConstants& packed, Instance& instance) {
  if (!takes(call)) return false;
  Instance made;
  made.scratch = instance.scratch;
  MatmulProduct p = make_matmul_product(call, made);
  const size_t r = p.result.rank();
  if (!has_dense_rows(p.a)) stage(p.a, made, call.threads);
  Form form = Form::Rows;
  int64_t b_stride = 0;
  if (p.b_constant && p.b.dtype == DType::F32 && p.b.rank() == 2 && is_plain_matrix(p.b)) {
    form = Form::Panels;
    b_stride = pack(p, packed, made);
  } else {
    // Halves are widened as they are packed.
    const bool packs = p.b.dtype == DType::F32 || is_reduced_float(p.b.dtype);
    if (packs && p.b.strides[r - 2] == 1 && p.b.strides[r - 1] != 1)
      form = Form::Lines;
    else if (!packs || !is_dense(p.b, r - 1))
      stage(p.b, made, call.threads);
    b_stride = p.b.strides[form == Form::Lines ? r - 1 : r - 2];
  }
  const bool direct = has_dense_rows(p.result);
  const View into = direct ? p.result : made.scratch.tensor(DType::F32, p.result.shape);
  made.steps.push_back(std::make_unique<PanelMatmulStep>(std::move(p), into, form, b_stride, call.threads));
  instance = std::move(made);
  return true;
}

bool build_large_matmul(const ConcreteCall& call, PackedConstants& packed, Instance& instance) {
  return build_panel_matmul(call, packed, instance) || build_onednn_matmul(call, packed, instance);
}

}  // namespace strata::library
