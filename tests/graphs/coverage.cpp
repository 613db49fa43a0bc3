// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Which recipe makes which row, and which rows are never made.

#include <algorithm>

#include "tests/graphs/generator.h"

namespace strata::fuzz {
namespace {

constexpr LeftOut kLeftOut[] = {
    {"aten.rand*", "random numbers: recorded calls, and tests of their order"},
    {"aten.multinomial.default", "random numbers: recorded calls, and tests of their order"},
    {"aten._grouped_mm.default", "where groups end, data tells: recorded calls"},
    {"transformers.*", "where groups end, data tells: recorded calls"},
    {"aten.bernoulli*", "random numbers: recorded calls, and tests of their order"},
    {"aten.normal*", "random numbers: recorded calls, and tests of their order"},
    {"aten.uniform*", "random numbers: recorded calls, and tests of their order"},
    {"aten.exponential*", "random numbers: recorded calls, and tests of their order"},
    {"aten.feature_*dropout.default", "random numbers: recorded calls, and tests of their order"},
    {"aten.alpha_dropout.default", "random numbers: recorded calls, and tests of their order"},
    {"aten._assert*", "assertions have no result; their effects are tested with the passes"},
    {"aten.sym_constrain*", "assertions have no result; their effects are tested with the passes"},
    {"aten.linalg_*", "factorisations: how far rounding may lead depends on the matrix; recorded calls"},
    {"aten._linalg_*", "factorisations: how far rounding may lead depends on the matrix; recorded calls"},
    {"aten.det.default", "factorisations: how far rounding may lead depends on the matrix; recorded calls"},
    {"aten.logdet.default", "factorisations: how far rounding may lead depends on the matrix; recorded calls"},
    {"aten.slogdet.default", "factorisations: how far rounding may lead depends on the matrix; recorded calls"},
    {"aten.inverse.default", "factorisations: how far rounding may lead depends on the matrix; recorded calls"},
    {"aten.cholesky*", "factorisations: how far rounding may lead depends on the matrix; recorded calls"},
    {"aten.lu_*", "factorisations: how far rounding may lead depends on the matrix; recorded calls"},
    {"aten.matrix_exp.default", "large elements of one are small parts of another: recorded calls"},
    {"aten.pinverse.default", "factorisations: how far rounding may lead depends on the matrix; recorded calls"},
    {"aten.geqrf.default", "factorisations: how far rounding may lead depends on the matrix; recorded calls"},
    {"aten.ormqr.default", "factorisations: how far rounding may lead depends on the matrix; recorded calls"},
    {"aten._fft_*", "an element may be the rest of much larger ones: recorded calls, and tests of the transforms"},
    {"aten.fft_*", "an element may be the rest of much larger ones: recorded calls, and tests of the transforms"},
    {"aten.stft.default", "an element may be the rest of much larger ones: recorded calls"},
    {"aten.lstm.input", "weights as lists, one per layer and direction: tests of recurrent networks"},
    {"aten.gru.input", "weights as lists, one per layer and direction: tests of recurrent networks"},
    {"aten.rnn_*", "weights as lists, one per layer and direction: tests of recurrent networks"},
    {"aten.lstm_cell.default", "states and weights that fit each other: recorded calls"},
    {"aten.gru_cell.default", "states and weights that fit each other: recorded calls"},
    {"aten.affine_grid_generator.default", "maps and sizes that fit each other: recorded calls"},
    {"aten.bartlett_window*", "nothing but a length: recorded calls"},
    {"aten.blackman_window*", "nothing but a length: recorded calls"},
    {"aten.hamming_window*", "nothing but a length: recorded calls"},
    {"aten.hann_window*", "nothing but a length: recorded calls"},
    {"aten.kaiser_window*", "nothing but a length: recorded calls"},
    {"aten.rrelu.default", "leaky_relu stands for it: recorded calls"},
    {"aten.orgqr.default", "factorisations: how far rounding may lead depends on the matrix; recorded calls"},
    {"aten.istft.default", "an element may be the rest of much larger ones: recorded calls"},
    {"aten.where.default", "sizes from data: nonzero and masked_select stand for them"},
    {"aten.nonzero_numpy.default", "sizes from data: nonzero and masked_select stand for them"},
    {"quantized_decomposed.*", "scales and limits that fit each other: recorded calls"},
    {"torchao.*", "scales and limits that fit each other: recorded calls"},
    {"torchvision.*", "regions lie in images that exist: recorded calls, and tests of regions"},
    {"aten.segment_reduce.default", "lengths of segments must add up to the data's; recorded calls"},
    {"aten.item.default", "numbers from data: tests of the executor"},
    {"aten._local_scalar_dense.default", "numbers from data: tests of the executor"},
    {"torch.sym_ite", "numbers from data: tests of the executor"},
    {"torch.sym_float", "floats made of sizes: tests/passes/test_numbers_as_tensors.cpp"},
    {"torch.*sym_sqrt", "floats made of sizes: tests/passes/test_numbers_as_tensors.cpp"},
    {"torch.sym_not", "comparisons and quotients of sizes give Python numbers, which kernels never see"},
    {"aten.sym_storage_offset.default", "places of views give Python numbers, which kernels never see"},
    {"_operator.*", "comparisons and quotients of sizes give Python numbers, which kernels never see"},
    {"strata.*", "what operators of PyTorch come to: made by rewriting those"},
    {"aten._unique*", "sizes from data: tests of the executor; nonzero and masked_select stand for them"},
    {"aten.unique*", "sizes from data: tests of the executor; nonzero and masked_select stand for them"},
    {"aten.repeat_interleave.*Tensor",
     "sizes from data: tests of the executor; nonzero and masked_select stand for them"},
    {"aten.bincount.default", "sizes from data: tests of the executor; nonzero and masked_select stand for them"},
};

/// `aten.foo*`: names that begin so; `aten.foo.*Tensor`: and end so.
bool fits(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == name;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

/// Rows whose operands keep to no range: arguments by the schema.
Node* by_schema(Generator& g, const OpDef& row) { return g.fill(row, g.chance(60) ? g.floating() : g.value()); }

}  // namespace

std::span<const LeftOut> left_out() { return kLeftOut; }

Recipe recipe_of(const OpDef& row) {
  const std::string_view name = name_of(row);
  for (const auto recipes : {view_recipes(), join_recipes(), index_recipes(), matrix_recipes(), window_recipes(),
                             norm_recipes(), number_recipes(), size_recipes(), complex_recipes(), control_recipes()})
    for (const RecipeEntry& entry : recipes)
      if (fits(entry.rows, name)) return entry.make;
  return reason_left_out(row).empty() ? by_schema : nullptr;
}

std::string_view reason_left_out(const OpDef& row) {
  for (const LeftOut& entry : kLeftOut)
    if (fits(entry.rows, name_of(row))) return entry.reason;
  return {};
}

}  // namespace strata::fuzz
