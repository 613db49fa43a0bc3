// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Scaled dot product attention. It is a library call (one kernel that never holds the whole score matrix); its
// decomposition spells it out, for differentiation and for machines without such a kernel. A row that the mask empties
// gives zeros, as in PyTorch.
//
// `strata::attention` is what fuse_attention makes of attention that a program spells out itself: a bool mask puts any
// number in place of a score, and a row without a key is NaN, as a softmax over nothing but -inf is.

#include <limits>

#include "core/ir/ops/neural.h"
#include "core/ir/ops/randoms.h"
#include "core/runtime/parallel.h"

namespace strata::ops {
namespace {

using Shape = std::vector<SymInt>;
constexpr int64_t kCausalKeys = 512;  ///< keys that are looked at together in causal order
constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kMask = 3, kDropout = 4, kCausal = 5, kScale = 6, kGrouped = 7;

Shape lead_of(const Shape& s) { return Shape(s.begin(), s.end() - 2); }

/// Leading dimensions of the result. With grouped heads, dimension -3 is the query's, a multiple of the keys'.
Shape lead_shape(const Call& call) {
  Shape lead = lead_of(call.type(kQuery).shape);
  for (size_t i : {kKey, kValue}) {
    Shape other = lead_of(call.type(i).shape);
    if (call.boolean(kGrouped) && !other.empty() && !lead.empty()) {
      require_multiple(call, lead.back(), other.back(), "query heads for key and value heads");
      other.back() = lead.back();
    }
    lead = broadcast(lead, other, call.node());
  }
  return lead;
}

Type attention_type(const Call& call) {
  for (size_t i : {kQuery, kKey, kValue}) require_rank(call, i, 2, 64);
  require_same_dtype(call, kQuery, kKey);
  require_same_dtype(call, kQuery, kValue);
  const Shape &q = call.type(kQuery).shape, &k = call.type(kKey).shape, &v = call.type(kValue).shape;
  require_equal(call, q.back(), k.back(), "last sizes of query and key");
  require_equal(call, k[k.size() - 2], v[v.size() - 2], "lengths of key and value");
  if (const double p = call.number(kDropout); !(p >= 0 && p <= 1))
    reject(call, "dropout_p must be between 0 and 1, found " + std::to_string(p));
  if (call.optional_tensor(kMask) && call.boolean(kCausal)) reject(call, "attn_mask and is_causal exclude each other");
  Shape shape = lead_shape(call), scores = shape;
  scores.insert(scores.end(), {q[q.size() - 2], k[k.size() - 2]});
  if (call.optional_tensor(kMask)) broadcast(call.type(kMask).shape, scores, call.node());
  shape.insert(shape.end(), {q[q.size() - 2], v.back()});
  return result_like(call, call.type(kQuery).dtype, std::move(shape));
}

double scale_of(const Call& call, double head_size) {
  return call.is_none(kScale) ? 1.0 / std::sqrt(head_size) : call.number(kScale);
}

// -------------------------------------------------------------------------------------------------------------
// reference

/// `t` with its leading dimensions broadcast (heads repeated when grouped), as [batch, rows, columns] doubles.
std::vector<double> batch_of(const Tensor& t, const std::vector<int64_t>& lead, bool grouped) {
  Tensor wide = t;
  if (grouped && t.rank() >= 3 && t.shape[t.rank() - 3] != lead.back()) {
    // A dimension of `repeat` with stride 0 after the heads; contiguous() writes it out.
    const size_t head = t.rank() - 3;
    const int64_t repeat = t.shape[head] ? lead.back() / t.shape[head] : 0;
    wide.shape.insert(wide.shape.begin() + static_cast<long>(head) + 1, repeat);
    wide.strides.insert(wide.strides.begin() + static_cast<long>(head) + 1, 0);
    wide = wide.contiguous();
    wide.shape.erase(wide.shape.begin() + static_cast<long>(head) + 1);
    wide.shape[head] *= repeat;
    wide.strides = contiguous_strides(wide.shape);
  }
  std::vector<int64_t> shape = lead;
  shape.insert(shape.end(), t.shape.end() - 2, t.shape.end());
  return doubles_of(expanded(wide, shape));
}

/// Scores that softmax sees: scaled, masked (`mask` is additive), causal.
void mask_scores(std::vector<double>& s, int64_t rows, int64_t columns, double scale, const double* mask, bool causal) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      double& x = s[static_cast<size_t>(i * columns + j)];
      x *= scale;
      if (mask) x += mask[i * columns + j];
      if (causal && j > i) x = -std::numeric_limits<double>::infinity();
    }
}

/// Weights as kernels have them: what float32 has no number for is 0, and makes NaN of infinite values.
void weigh(double* row, int64_t n, double top, bool in_double) {
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    const double weight = std::exp(row[j] - top);
    sum += row[j] = in_double ? weight : static_cast<double>(static_cast<float>(weight));
  }
  for (int64_t j = 0; j < n; ++j) row[j] /= sum;
}
bool in_double(const RefContext& c) { return c.storage_dtype(c.call.type(kQuery).dtype) == DType::F64; }

void softmax_row(double* row, int64_t n, bool in_double) {
  double top = -std::numeric_limits<double>::infinity();
  for (int64_t j = 0; j < n; ++j) top = nan_max(top, row[j]);
  if (top == -std::numeric_limits<double>::infinity()) return std::fill(row, row + n, 0.0);
  weigh(row, n, top, in_double);
}

std::vector<double> mask_values(const Tensor& mask, std::vector<int64_t> shape) {
  if (!mask.defined()) return {};
  std::vector<double> values = doubles_of(expanded(mask, shape));
  if (mask.dtype == DType::Bool)
    for (double& v : values) v = v != 0 ? 0 : -std::numeric_limits<double>::infinity();
  return values;
}

RefValue attention_reference(const RefContext& c) {
  const Tensor q = c.tensor(kQuery), k = c.tensor(kKey), v = c.tensor(kValue);
  Tensor out = c.result();
  const int64_t l = q.shape[q.rank() - 2], e = q.shape.back(), s = k.shape[k.rank() - 2], d = v.shape.back();
  std::vector<int64_t> lead(out.shape.begin(), out.shape.end() - 2), scores_shape = lead;
  scores_shape.insert(scores_shape.end(), {l, s});
  const bool grouped = c.call.boolean(kGrouped), causal = c.call.boolean(kCausal);
  const std::vector<double> x = batch_of(q, lead, false), y = batch_of(k, lead, grouped),
                            z = batch_of(v, lead, grouped);
  const std::vector<double> mask = mask_values(c.optional_tensor(kMask), scores_shape);
  const double scale = scale_of(c.call, static_cast<double>(e));
  std::vector<double> result(static_cast<size_t>(out.numel()), 0);
  int64_t batch = 1;
  for (int64_t n : lead) batch *= n;
  parallel_for(batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      std::vector<double> score(static_cast<size_t>(l * s), 0);
      multiply_add(l, s, e, {x.data() + b * l * e, e}, MatrixView{y.data() + b * s * e, e}.transposed(), score.data(),
                   s);
      mask_scores(score, l, s, scale, mask.empty() ? nullptr : mask.data() + b * l * s, causal);
      for (int64_t i = 0; i < l; ++i) softmax_row(score.data() + i * s, s, in_double(c));
      // Weights of 0 make NaN of values that are not finite; in causal order PyTorch looks at blocks of keys only up to
      // that of the row.
      const int64_t rows = causal ? kCausalKeys : std::max<int64_t>(l, 1);
      for (int64_t i = 0; i < l; i += rows) {
        const int64_t keys = causal ? std::min(s, i + rows) : s;
        multiply_add(std::min(rows, l - i), d, keys, {score.data() + i * s, s}, {z.data() + b * s * d, d},
                     result.data() + (b * l + i) * d, d);
      }
    }
  });
  store_doubles(result, out);
  return out;
}

// ---------------------------------------------------------------------------------------------------------
// spelled out by the program

constexpr size_t kFusedScale = 4, kFusedFill = 5, kFusedZero = 6;

Type fused_type(const Call& call) {
  for (size_t i : {kQuery, kKey, kValue}) require_rank(call, i, 2, 64);
  require_same_dtype(call, kQuery, kKey);
  require_same_dtype(call, kQuery, kValue);
  const Shape &q = call.type(kQuery).shape, &k = call.type(kKey).shape, &v = call.type(kValue).shape;
  require_equal(call, q.back(), k.back(), "last sizes of query and key");
  require_equal(call, k[k.size() - 2], v[v.size() - 2], "lengths of key and value");
  Shape shape = lead_of(q), scores = shape;
  scores.insert(scores.end(), {q[q.size() - 2], k[k.size() - 2]});
  if (call.optional_tensor(kMask) && !same_sizes(broadcast(call.type(kMask).shape, scores, call.node()), scores))
    reject(call, "the mask does not broadcast to the scores");
  shape.insert(shape.end(), {q[q.size() - 2], v.back()});
  return result_like(call, call.type(kQuery).dtype, std::move(shape));
}

/// As a softmax has it: a row of nothing but -inf is NaN.
void plain_softmax_row(double* row, int64_t n, bool in_double) {
  double top = -std::numeric_limits<double>::infinity();
  for (int64_t j = 0; j < n; ++j) top = nan_max(top, row[j]);
  weigh(row, n, top, in_double);
}

RefValue fused_reference(const RefContext& c) {
  const Tensor q = c.tensor(kQuery), k = c.tensor(kKey), v = c.tensor(kValue), mask = c.optional_tensor(kMask);
  Tensor out = c.result();
  const int64_t l = q.shape[q.rank() - 2], e = q.shape.back(), s = k.shape[k.rank() - 2], d = v.shape.back();
  std::vector<int64_t> lead(out.shape.begin(), out.shape.end() - 2), scores_shape = lead;
  scores_shape.insert(scores_shape.end(), {l, s});
  const std::vector<double> x = batch_of(q, lead, false), y = batch_of(k, lead, true), z = batch_of(v, lead, true);
  const std::vector<double> masks = mask.defined() ? doubles_of(expanded(mask, scores_shape)) : std::vector<double>{};
  const bool replaces = mask.defined() && mask.dtype == DType::Bool;
  const double scale = c.call.number(kFusedScale), fill = c.call.number(kFusedFill);
  const bool zero = c.call.boolean(kFusedZero);
  std::vector<double> result(static_cast<size_t>(out.numel()), 0);
  int64_t batch = 1;
  for (int64_t n : lead) batch *= n;
  parallel_for(batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      std::vector<double> score(static_cast<size_t>(l * s), 0);
      multiply_add(l, s, e, {x.data() + b * l * e, e}, MatrixView{y.data() + b * s * e, e}.transposed(), score.data(),
                   s);
      for (int64_t i = 0; i < l * s; ++i) {
        double& at = score[static_cast<size_t>(i)];
        const double m = masks.empty() ? 0 : masks[static_cast<size_t>(b * l * s + i)];
        at = replaces && m == 0 ? fill : at * scale + (replaces ? 0 : m);
      }
      for (int64_t i = 0; i < l; ++i) (zero ? softmax_row : plain_softmax_row)(score.data() + i * s, s, in_double(c));
      multiply_add(l, d, s, {score.data(), s}, {z.data() + b * s * d, d}, result.data() + b * l * d, d);
    }
  });
  store_doubles(result, out);
  return out;
}

// ---------------------------------------------------------------------------------------------------------
// decomposition

/// Operand as [batch, rows, columns], heads repeated when grouped.
Node* as_batch(Builder& b, Node* x, const Shape& lead, bool grouped) {
  Shape s = x->tensor().shape;
  if (grouped && s.size() >= 3 && !(s[s.size() - 3] == lead.back())) {
    const size_t head = s.size() - 3;
    Shape wide = s;
    wide.insert(wide.begin() + static_cast<long>(head) + 1, floordiv(lead.back(), s[head]));
    Node* repeated = b.expand(b.unsqueeze(x, static_cast<int64_t>(head) + 1), wide);
    s[head] = lead.back();
    x = b.reshape(repeated, s);
  }
  Shape wide = lead;
  wide.insert(wide.end(), s.end() - 2, s.end());
  return b.reshape(b.expand(x, wide), {product(lead), s[s.size() - 2], s.back()});
}

/// Bool [l, s]: may query i look at key j?
Node* causal_mask(Builder& b, const SymInt& l, const SymInt& s, const Node* like) {
  return b.call("aten.le.Tensor", {b.unsqueeze(arange(b, s, like), 0), b.unsqueeze(arange(b, l, like), 1)});
}

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

bool scale_is_symbolic(const Call& call) { return call.is_none(kScale) && !call.type(kQuery).shape.back().is_const(); }

Node* scaled(Builder& b, Node* scores, const Call& call) {
  const SymInt& head_size = call.type(kQuery).shape.back();
  if (!call.is_none(kScale)) return b.mul(scores, call.number(kScale));
  if (!scale_is_symbolic(call)) return b.mul(scores, scale_of(call, static_cast<double>(head_size.value())));
  Node* size = b.call("aten.full.default", {sizes({}), integer(head_size)},
                      {{"dtype", DType::F64}, {"device", DeviceArg{scores->tensor().device}}});
  return b.mul(scores, b.call("aten.rsqrt.default", {size}));
}

/// What softmax sees of `q` and `k`, which are the call's or wider.
struct Scores {
  Node* scores;
  Node* mask;  ///< null: no row can be without a key
};

Scores scores_of(Builder& b, const Call& call, Node* q, Node* k) {
  Node* mask = call.optional_tensor(kMask);
  const Shape lead = lead_shape(call);
  const SymInt l = q->tensor().shape[q->tensor().shape.size() - 2], s = k->tensor().shape[k->tensor().shape.size() - 2];
  Node* scores = b.call("aten.bmm.default",
                        {as_batch(b, q, lead, false), b.transpose(as_batch(b, k, lead, call.boolean(kGrouped)), 1, 2)});
  Shape shape = lead;
  shape.insert(shape.end(), {l, s});
  scores = scaled(b, b.reshape(widen(b, scores), shape), call);
  if (call.boolean(kCausal)) {
    mask = causal_mask(b, l, s, q);
    scores = where_else(b, mask, scores, kMinusInfinity);
  } else if (mask) {  // added, also where it is bool: a score that is no number stays none
    if (mask->tensor().dtype == DType::Bool) {
      Node* zero = b.call("aten.full.default", {sizes({}), 0.0}, {{"dtype", scores->tensor().dtype}});
      mask = where_else(b, mask, zero, kMinusInfinity);
    }
    scores = b.add(scores, mask);
  }
  return {scores, mask};
}

/// `result`, but 0 for queries that look at nothing.
Node* zero_without_keys(Builder& b, Node* result, const Scores& of, bool keepdim) {
  if (!of.mask) return result;
  Node* top = b.call("aten.amax.default", {of.scores, int_list({-1}), keepdim});
  return b.call("aten.masked_fill.Scalar", {result, b.call("aten.eq.Scalar", {top, kMinusInfinity}), 0.0});
}

std::vector<Node*> decompose_attention(Builder& b, const Call& call) {
  Node *q = call.tensor(kQuery), *k = call.tensor(kKey), *v = call.tensor(kValue);
  const Shape lead = lead_shape(call);
  const bool drops = draws_within(call.node());
  // With dropout PyTorch computes 16-bit floats in float32 from end to end.
  if (drops) q = widen(b, q), k = widen(b, k), v = widen(b, v);
  const Scores s = scores_of(b, call, q, k);
  Node* weights = zero_without_keys(b, b.call("aten._softmax.default", {s.scores, -1, false}), s, true);
  weights = b.cast(weights, v->tensor().dtype);
  if (drops) weights = b.call("aten.dropout.default", {weights, call.number(kDropout), true});
  const Shape& shape = weights->tensor().shape;
  weights = b.reshape(weights, {product(lead), shape[lead.size()], shape.back()});
  Node* y = b.call("aten.bmm.default", {weights, as_batch(b, v, lead, call.boolean(kGrouped))});
  return {b.cast(b.reshape(y, call.node().tensor().shape), call.type(kValue).dtype)};
}

/// The call that CPU attention becomes in PyTorch's own decompositions. PyTorch differentiates it with the logarithms
/// of the sums of weights, which nobody needs in inference; they are float32 of narrower operands, too.
std::vector<Node*> decompose_flash_attention(Builder& b, const Call& call) {
  constexpr size_t kOwnDropout = 3, kOwnCausal = 4, kOwnMask = 5, kOwnScale = 6;
  for (size_t i : {kQuery, kKey, kValue}) require_rank(call, i, 4, 4);
  if (call.number(kOwnDropout) != 0) reject(call, "dropout_p must be 0");
  Node *q = call.tensor(kQuery), *k = call.tensor(kKey), *mask = call.optional_tensor(kOwnMask);
  if (mask && !is_floating(mask->tensor().dtype))
    reject(call, "attn_mask must be floating, found " + std::string(dtype_name(mask->tensor().dtype)));
  const bool grouped = !known_eq(q->tensor().shape[1], k->tensor().shape[1]);
  Node* y = b.call("aten.scaled_dot_product_attention.default",
                   {q, k, call.tensor(kValue), call.arg(kOwnMask), 0.0, call.boolean(kOwnCausal)},
                   {{"scale", call.arg(kOwnScale)}, {"enable_gqa", grouped}});
  const Scores s = scores_of(b, Call(*y), widen(b, q), widen(b, k));
  Node* sums = b.call("aten.logsumexp.default", {s.scores, int_list({-1}), false});
  return {y, zero_without_keys(b, sums, s, false)};
}

std::vector<Node*> decompose_fused(Builder& b, const Call& call) {
  Node *q = call.tensor(kQuery), *k = call.tensor(kKey), *v = call.tensor(kValue), *mask = call.optional_tensor(kMask);
  const Shape lead = lead_of(q->tensor().shape);
  const SymInt l = q->tensor().shape[lead.size()], s = k->tensor().shape[lead.size()];
  Node* scores =
      b.call("aten.bmm.default", {as_batch(b, q, lead, false), b.transpose(as_batch(b, k, lead, true), 1, 2)});
  Shape shape = lead;
  shape.insert(shape.end(), {l, s});
  scores = b.mul(b.reshape(widen(b, scores), shape), call.number(kFusedScale));
  if (mask)
    scores = mask->tensor().dtype == DType::Bool ? where_else(b, mask, scores, call.number(kFusedFill))
                                                 : b.add(scores, mask);
  const char* softmax = call.boolean(kFusedZero) ? "aten._safe_softmax.default" : "aten.softmax.int";
  Node* weights = b.cast(b.call(softmax, {scores, -1}), v->tensor().dtype);
  Node* y = b.call("aten.bmm.default", {b.reshape(weights, {product(lead), l, s}), as_batch(b, v, lead, true)});
  return {b.reshape(y, call.node().tensor().shape)};
}

}  // namespace

bool attention_is_spelled_out(const Node& node) {
  return draws_within(node) || (node.is("aten.scaled_dot_product_attention.default") && scale_is_symbolic(Call(node)));
}

Rows attention_rows() {
  return {
      OpDef("aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
            "dropout_p=0.0, "
            "bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
            OpClass::Library, 0, Promotion::None, attention_type, attention_reference, decompose_attention,
            NoGradient::Pending, LibraryRule{"attention"}, "", "softmax(query @ key.T * scale + mask) @ value"),
      OpDef("aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float "
            "dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor, Tensor)",
            OpClass::Compound, 0, Promotion::None, decomposed_type, nullptr, decompose_flash_attention,
            NoGradient::Pending, NoLowering{}, "",
            "softmax(query @ key.T * scale + mask) @ value, and log(sum(exp)) of what softmax sees"),
      OpDef(
          "strata::attention(Tensor query, Tensor key, Tensor value, Tensor? mask, *, float scale, float fill, "
          "bool zero_without_keys=False) -> Tensor",
          OpClass::Library, 0, Promotion::None, fused_type, fused_reference, decompose_fused, NoGradient::Pending,
          LibraryRule{"attention"}, "",
          "softmax(where(mask, query @ key.T * scale, fill)) @ value; a floating mask is added; rows of -infinity are "
          "NaN, or 0")};
}

}  // namespace strata::ops
