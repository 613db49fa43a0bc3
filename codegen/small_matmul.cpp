// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/small_matmul.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/attention_kernel.h"
#include "codegen/instruction_sets.h"
#include "codegen/library_copy.h"
#include "codegen/matmul_product.h"
#include "codegen/small_product.h"
#include "core/runtime/parallel.h"

namespace strata::library {
namespace {

// Multiplications up to which own products are no slower than the library's, without its primitives and scratch (20 KB
// and more for each shape); its products of bfloat16, where it has them, are faster.
constexpr int64_t kSmall = 262'144;
constexpr int64_t kSmallBfloat16 = 16'384;
constexpr int64_t kFewRows = 12;           // up to here b's columns are read where they lie, whatever their number
constexpr int64_t kFewRowsBfloat16 = 4;    // the library packs halves of the bytes
constexpr int64_t kLongColumns = 64;       // shorter dot products are mostly the sum across lanes
constexpr int64_t kColumns = 64;           // a task's are a multiple of this
constexpr int64_t kTaskProducts = 50'000;  // below, another thread costs more than it saves

enum class Form : uint8_t { None, Lines, Rows };

/// How b is read, if at all.
Form form_of(const MatmulProduct& p, bool packs) {
  const size_t r = p.result.rank();
  const int64_t rows = p.result.shape[r - 2], columns = p.result.shape[r - 1], depth = p.a.shape[r - 1];
  const bool halves = p.b.dtype == DType::BF16 && onednn_dtype(DType::BF16);  // the library multiplies them as they are
  // Columns come in vectors of 16. What a library does around a batch of products it does once.
  const int64_t one = rows * ((columns + 15) / 16 * 16) * depth, all = one * (p.result.numel() / (rows * columns));
  const bool is_small = rows * columns * depth <= kSmallBfloat16 || (!halves && all <= kSmall);
  if (packs) return is_small ? Form::Rows : Form::None;
  if (is_dense(p.b, r - 1) && p.b.strides[r - 1] != 0 && (is_small || rows == 1)) return Form::Rows;
  if (!is_dense(p.b, r - 2)) return Form::None;
  // In AVX2 sums across lanes take longer, and products in panels (panel_matmul.h) turn as they go.
  if (!halves && !has_avx512() && rows >= kManyRows) return Form::None;
  const bool is_low = rows <= (halves ? kFewRowsBfloat16 : kFewRows) && depth >= kLongColumns;
  return is_low || (is_small && !halves) ? Form::Lines : Form::None;
}

class SmallMatmulStep : public Step {
 public:
  SmallMatmulStep(MatmulProduct product, View into, Form form, int threads)
      : p_(std::move(product)), into_(std::move(into)) {
    const size_t r = into_.rank();
    s_.rows = into_.shape[r - 2];
    s_.columns = into_.shape[r - 1];
    s_.depth = p_.a.shape[r - 1];
    s_.a_stride = p_.a.strides[r - 2];
    s_.lines = form == Form::Lines;
    s_.b_stride = p_.b.strides[s_.lines ? r - 1 : r - 2];
    s_.dtype = p_.a.dtype;
    s_.c_stride = into_.strides[r - 2];
    s_.c_dtype = into_.dtype;
    s_.alpha = p_.scale;
    s_.bias = nullptr;
    for (size_t d = 0; d + 2 < r; ++d) batch_ *= into_.shape[d];
    blocks_ = (s_.columns + kColumns - 1) / kColumns;
    const int64_t work = batch_ * s_.rows * s_.columns * s_.depth;
    threads_ = threads_for(work / kTaskProducts, threads);
  }

  void run(const StepArgs& args) override {
    parallel_parts(batch_ * blocks_, threads_, [&](int64_t begin, int64_t end) { tasks(args, begin, end); });
  }

  std::string describe() const override {
    std::string text = fmt::format("matmul own kernel for {}, {}\n  a {}\n  b {}\n  result {}\n",
                                   s_.lines ? "few rows" : "small operands",
                                   multiplies_bfloat16(s_) ? "bfloat16 products" : "float32 products",
                                   library::describe(p_.a), library::describe(p_.b), library::describe(into_));
    if (p_.scale != 1) text += fmt::format("  scale {}\n", p_.scale);
    if (p_.bias) text += "  bias " + library::describe(*p_.bias) + "\n";
    return text;
  }

 private:
  /// Task i is a block of columns of one matrix.
  void tasks(const StepArgs& args, int64_t begin, int64_t end) const {
    SmallProduct s = s_;
    if (p_.bias) s.bias = reinterpret_cast<const float*>(args.at(p_.bias->slot));
    while (begin < end) {
      const int64_t batch = begin / blocks_, block = begin % blocks_;
      const int64_t blocks = std::min(blocks_ - block, end - begin);
      s.a = matrix_at(args, p_.a, into_.shape, batch);
      s.b = matrix_at(args, p_.b, into_.shape, batch);
      s.c = matrix_at(args, into_, into_.shape, batch);
      const int64_t first = block * kColumns, last = std::min(s.columns, (block + blocks) * kColumns);
      small_product(s, first, last);
      begin += blocks;
    }
  }

  const MatmulProduct p_;
  const View into_;
  SmallProduct s_{};
  int64_t batch_ = 1, blocks_ = 1;
  int threads_ = 1;
};

bool takes(const ConcreteCall& call) {
  const DType a = call.operands[0].dtype, b = call.operands[1].dtype, to = call.result.dtype;
  const auto has = [](DType t) { return t == DType::F32 || is_reduced_float(t); };
  if (!has_small_products() || a != b || !has(a) || !has(to) || call.result.rank() < 2) return false;
  return call.result.numel() > 0 && call.operands[0].shape.back() > 0;
}

}  // namespace

bool build_small_matmul(const ConcreteCall& call, PackedConstants& packed, Instance& instance) {
  if (!takes(call)) return false;
  Instance made;
  made.scratch = instance.scratch;
  MatmulProduct p = make_matmul_product(call, made);
  const size_t r = p.result.rank();
  const bool packs = p.b_constant && r == 2 && is_plain_matrix(p.b);
  const Form form = form_of(p, packs);
  if (form == Form::None || !is_dense(p.a, r - 1)) return false;
  if (packs && !is_dense(p.b, 1)) {
    View rows = p.b;
    rows.strides = {rows.shape[1], 1};
    const auto memory = packed.get(p.b_key, onednn_desc(p.b), onednn_desc(rows), p.b.slot);
    made.unpack = onednn_unpack(memory, onednn_desc(p.b));
    rows.slot = {Slot::Kind::Fixed, 0, 0, static_cast<std::byte*>(memory->get_data_handle())};
    made.owned.push_back(memory);
    p.b = std::move(rows);
  }
  std::vector<ResultOp> ops = std::move(p.ops);
  const bool direct = is_dense(p.result, r - 1) && (ops.empty() || p.result.dtype == DType::F32);
  const View result = p.result;
  const View into = direct ? result : made.scratch.tensor(DType::F32, result.shape);
  made.steps.push_back(std::make_unique<SmallMatmulStep>(std::move(p), into, form, call.threads));
  if (!direct || !ops.empty()) made.steps.push_back(make_epilogue(into, result, std::move(ops)));
  instance = std::move(made);
  return true;
}

}  // namespace strata::library
