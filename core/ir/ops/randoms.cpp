// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Random numbers, in PyTorch's order: a draw is never merged, moved past another or dropped.

#include "core/ir/ops/randoms.h"

#include <algorithm>
#include <numeric>

#include "core/ir/aliasing.h"
#include "core/runtime/draws.h"

namespace strata::ops {
namespace {

constexpr auto kNone = NoGradient::Nondifferentiable;
const std::string kOptions = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None";
const std::string kWhole = "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None";
constexpr size_t kMissing = static_cast<size_t>(-1);

size_t named(const Call& call, std::string_view name) { return param(call, name).value_or(kMissing); }

/// The number 4 stands for int64 in PyTorch's schemas.
DType dtype_or(const Call& call, DType otherwise) {
  const size_t i = named(call, "dtype");
  if (i == kMissing || call.is_none(i)) return otherwise;
  return call.arg(i).as<int64_t>() ? DType::I64 : call.dtype(i).value_or(otherwise);
}

DType require_floating(const Call& call, DType dtype) {
  if (!is_floating(dtype)) reject(call, "expected a floating-point type, found " + std::string(dtype_name(dtype)));
  return dtype;
}

// -------------------------------------------------------------------------------------------------------------- draws

Type draw_type(const Call& call) {
  const DType dtype = dtype_or(call, DType::F32);
  if (call.op().name == "strata.draw_bernoulli_each.default")
    return Type::of(dtype, tensor_type(call, 0).shape, tensor_type(call, 0).device);
  if (call.op().name == "strata.draw_multinomial.default") {
    std::vector<SymInt> shape = tensor_type(call, 0).shape;
    shape.back() = call.integer(1);
    return Type::of(dtype, std::move(shape), tensor_type(call, 0).device);
  }
  if (call.op().name == "strata.draw_permutation.default") return Type::of(dtype, {call.integer(0)});
  return Type::of(dtype, call.integers(0));
}

RefValue draw_reference(const RefContext& c) {
  // In the wide mode, too, numbers are drawn in the declared type: others would be others.
  const TensorType& type = c.call.node().type.tensor;
  const Tensor out = Tensor::empty(type.dtype, c.eval(type.shape));
  const bool each = c.call.op().schema.params[0].type == "Tensor";
  Tensor probabilities = each ? c.tensor(0) : Tensor();
  if (each) probabilities = converted(probabilities, c.call.type(0).dtype);
  draw_into(c.call, [&](size_t i) { return c.integer(i); }, probabilities, out);
  return converted(out, c.storage_dtype(type.dtype));
}

Rows draws() {
  Rows r;
  const auto add = [&](const std::string& name, const std::string& params, OpClass kind, std::string_view kernel,
                       const char* doc) {
    r.push_back(OpDef("strata::" + name + "(" + params + ", *, ScalarType dtype) -> Tensor", kind,
                      trait::Random | trait::SideEffect, Promotion::None, draw_type, draw_reference, nullptr, kNone,
                      KernelRule{kernel}, "", doc));
  };
  add("draw_uniform", "SymInt[] size, float low, float high", OpClass::Creation, "draw_uniform",
      "uniform random numbers in [low, high)");
  add("draw_normal", "SymInt[] size, float mean, float std, bool one_by_one", OpClass::Creation, "draw_normal",
      "normal random numbers; one_by_one: as PyTorch draws them where memory has gaps");
  add("draw_exponential", "SymInt[] size, float rate", OpClass::Creation, "draw_exponential",
      "exponential random numbers");
  add("draw_bernoulli", "SymInt[] size, float p", OpClass::Creation, "draw_bernoulli", "1 with probability p, else 0");
  add("draw_bernoulli_each", "Tensor p", OpClass::Indexing, "draw_bernoulli_each",
      "1 with the probability that the operand's element gives, else 0");
  add("draw_integers", "SymInt[] size, SymInt low, SymInt high", OpClass::Creation, "draw_integers",
      "random integers in [low, high)");
  add("draw_multinomial", "Tensor weights, SymInt count, bool replacement", OpClass::Indexing, "draw_multinomial",
      "places drawn by rows of weights");
  add("draw_permutation", "SymInt n", OpClass::Creation, "draw_permutation", "0 ... n - 1 in random order");
  return r;
}

// ---------------------------------------------------------------------------------------------------------- PyTorch's

/// Dimensions as PyTorch walks them when it fills such memory, outermost first: by their strides. Where those say
/// nothing (elements at the same place) row by row. The same insertion sort as `infer_dense_strides` has.
std::vector<int64_t> walked(const Call& call, const TensorType& t) {
  std::vector<int64_t> order(t.shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (!t.strides || t.is_contiguous() || t.numel() == SymInt(0)) return order;
  const auto after = [&](int64_t a, int64_t b) {  // 1: dimension `a` lies around `b`; -1: within it; 0: not said
    const SymInt &x = (*t.strides)[static_cast<size_t>(a)], &y = (*t.strides)[static_cast<size_t>(b)];
    if (x == SymInt(0) || y == SymInt(0)) return 0;
    if (x == y) return known_lt(t.shape[static_cast<size_t>(b)], t.shape[static_cast<size_t>(a)]) ? 1 : 0;
    if (!known_lt(x, y) && !known_lt(y, x))
      reject(call, "the order of elements in memory is not known: " + to_string(Type::of(t)),
             "draw into a tensor that is laid out row by row");
    return known_lt(y, x) ? 1 : -1;
  };
  std::reverse(order.begin(), order.end());  // innermost first
  for (size_t i = 1; i < order.size(); ++i)
    for (size_t at = i, before = i; before-- > 0;) {
      const int found = after(order[before], order[at]);
      if (found < 0) break;
      if (found > 0) std::swap(order[before], order[at]), at = before;
    }
  std::reverse(order.begin(), order.end());
  return order;
}

/// The memory that `empty_like` takes for such a tensor: without gaps, in the same order.
TensorType without_gaps(const Call& call, TensorType t) {
  if (memory_order(t)) return t;
  const std::vector<int64_t> order = walked(call, t);
  SymInt step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(order[i]);
    (*t.strides)[d] = step;
    step = step * t.shape[d];
  }
  return t;
}

/// Of a `*_like` operator: laid out as its operand, or row by row where the call says so. A tensor that is written
/// itself keeps its gaps.
TensorType like_type(const Call& call) {
  TensorType t = tensor_type(call, 0);
  const size_t i = named(call, "memory_format");
  const auto* format = i == kMissing ? nullptr : call.arg(i).as<EnumArg>();
  if (call.op().name.find("_functional") != std::string::npos) return t;
  if (!format || format->name.ends_with("preserve_format")) return without_gaps(call, std::move(t));
  if (!format->name.ends_with("contiguous_format"))
    reject(call, "random numbers in " + format->name + " are not supported");
  return Type::of(t.dtype, t.shape, t.device).tensor;
}

/// What the row's numbers are laid out like.
TensorType layout_of(const Call& call) {
  if (!call.op().schema.params.empty() && call.op().schema.params[0].type == "Tensor") return like_type(call);
  const size_t size = named(call, "size");
  return Type::of(DType::F32, size == kMissing ? std::vector<SymInt>{call.integer(0)} : call.integers(size)).tensor;
}

Type result_type(const Call& call, DType dtype) {
  const TensorType t = layout_of(call);
  for (const SymInt& s : t.shape) require_at_least(call, s, 0, "size");
  return Type::of(dtype, t.shape, t.device);
}

/// Element type of the result: floating where the numbers are.
DType float_dtype(const Call& call) {
  return require_floating(call, dtype_or(call, is_tensor(call, 0) ? tensor_type(call, 0).dtype : DType::F32));
}
DType whole_dtype(const Call& call) {
  return dtype_or(call, is_tensor(call, 0) ? tensor_type(call, 0).dtype : DType::I64);
}

template <DType (*D)(const Call&)>
Type plain_type(const Call& call) {
  return result_type(call, D(call));
}

double number_or(const Call& call, std::string_view name, double otherwise) {
  const size_t i = named(call, name);
  return i == kMissing ? otherwise : call.number(i);
}

/// PyTorch fills a block of 16 only where memory has no gaps.
std::vector<Node*> normals(Builder& b, const Call& c, const TensorType& like, DType dtype, double mean, double std) {
  if (!(std >= 0)) reject(c, "std must not be negative, found " + std::to_string(std));
  return {drawn_like(b, c, like, dtype, "strata.draw_normal.default", {mean, std, !like.is_contiguous()})};
}

std::vector<Node*> uniform(Builder& b, const Call& c) {
  const double from = number_or(c, "from", 0), to = number_or(c, "to", 1);
  if (!(std::isfinite(from) && std::isfinite(to) && from <= to))
    reject(c, "expected a range from a number to one that is not less, found " + std::to_string(from) + " to " +
                  std::to_string(to));
  return {drawn_like(b, c, layout_of(c), float_dtype(c), "strata.draw_uniform.default", {from, to})};
}

std::vector<Node*> normal(Builder& b, const Call& c) {
  return normals(b, c, layout_of(c), float_dtype(c), number_or(c, "mean", 0), number_or(c, "std", 1));
}

std::vector<Node*> exponential(Builder& b, const Call& c) {
  if (!(c.number(1) > 0)) reject(c, "lambd must be positive, found " + std::to_string(c.number(1)));
  return {drawn_like(b, c, layout_of(c), float_dtype(c), "strata.draw_exponential.default", {c.number(1)})};
}

std::vector<Node*> integers(Builder& b, const Call& c) {
  const size_t low = std::min(named(c, "low"), named(c, "from")), high = std::min(named(c, "high"), named(c, "to"));
  return {drawn_like(b, c, layout_of(c), whole_dtype(c), "strata.draw_integers.default",
                     {low == kMissing ? Argument(0) : integer(c.integer(low)), integer(c.integer(high))})};
}

std::vector<Node*> permutation(Builder& b, const Call& c) {
  return {b.call("strata.draw_permutation.default", {integer(c.integer(0))}, {{"dtype", whole_dtype(c)}})};
}

std::vector<Node*> bernoulli(Builder& b, const Call& c) {
  return {drawn_like(b, c, layout_of(c), tensor_type(c, 0).dtype, "strata.draw_bernoulli.default", {c.arg(1)})};
}

/// With a probability per element: the tensor itself, or another one.
template <size_t P>
std::vector<Node*> bernoulli_each(Builder& b, const Call& c) {
  const TensorType& self = tensor_type(c, 0);
  require_floating(c, tensor_type(c, P).dtype);
  const std::vector<int64_t> order = walked(c, self);
  Node* p = b.expand(c.tensor(P), self.shape);
  const bool moved = !std::is_sorted(order.begin(), order.end());
  if (moved) p = b.permute(p, order);
  Node* drawn = b.call("strata.draw_bernoulli_each.default", {p}, {{"dtype", self.dtype}});
  return {moved ? b.permute(drawn, inverse_of(order)) : drawn};
}

Type multinomial_type(const Call& call) {
  const TensorType& weights = tensor_type(call, 0);
  const size_t rank = weights.shape.size();
  if (rank != 1 && rank != 2) reject(call, "expected weights of 1 or 2 dimensions, found " + std::to_string(rank));
  if (weights.dtype != DType::F32 && weights.dtype != DType::F64)
    reject(call, "expected float32 or float64 weights, found " + std::string(dtype_name(weights.dtype)));
  require_at_least(call, call.integer(1), 1, "number of samples");
  std::vector<SymInt> shape = weights.shape;
  shape.back() = call.integer(1);
  return Type::of(DType::I64, std::move(shape), weights.device);
}

std::vector<Node*> multinomial(Builder& b, const Call& c) {
  return {b.call("strata.draw_multinomial.default", {c.tensor(0), integer(c.integer(1)), c.boolean(2)},
                 {{"dtype", DType::I64}})};
}

/// Mean or deviation is a tensor: standard numbers, scaled and shifted.
std::vector<Node*> scaled_normal(Builder& b, const Call& c) {
  Node *mean = is_tensor(c, 0) ? c.tensor(0) : nullptr, *std = is_tensor(c, 1) ? c.tensor(1) : nullptr;
  const std::vector<SymInt> shape = mean && std ? broadcast(mean->tensor().shape, std->tensor().shape, c.node())
                                                : (mean ? mean : std)->tensor().shape;
  const DType dtype = require_floating(c, (mean ? mean : std)->tensor().dtype);
  if (!std && !(c.number(1) >= 0)) reject(c, "std must not be negative, found " + std::to_string(c.number(1)));
  Node* x = normals(b, c, Type::of(dtype, shape).tensor, dtype, 0, 1)[0];
  x = std ? b.mul(x, std) : b.mul(x, c.arg(1));
  return {mean ? b.add(x, mean) : b.add(x, c.arg(0))};
}

OpDef drawing(const std::string& schema, ShapeRule type, Decompose decompose, const char* doc) {
  return OpDef(schema, OpClass::Compound, trait::Random, Promotion::None, type, nullptr, decompose, kNone, NoLowering{},
               "", doc);
}

Rows floats() {
  Rows r;
  const std::string plain = "(SymInt[] size, *, " + kOptions + ") -> Tensor",
                    like = "_like(Tensor self, *, " + kOptions + ", MemoryFormat? memory_format=None) -> Tensor",
                    generator = ", *, Generator? generator=None) -> Tensor";
  const ShapeRule type = plain_type<float_dtype>;
  r.push_back(drawing("aten::rand" + plain, type, uniform, "uniform random numbers in [0, 1)"));
  r.push_back(drawing("aten::rand" + like, type, uniform, "uniform random numbers in [0, 1) of the operand's shape"));
  r.push_back(drawing("aten::randn" + plain, type, normal, "normal random numbers"));
  r.push_back(drawing("aten::randn" + like, type, normal, "normal random numbers of the operand's shape"));
  r.push_back(drawing("aten::uniform(Tensor self, float from=0., float to=1." + generator, type, uniform,
                      "uniform random numbers in the operand's place"));
  r.push_back(drawing("aten::normal_functional(Tensor self, float mean=0., float std=1." + generator, type, normal,
                      "normal random numbers in the operand's place"));
  r.push_back(drawing("aten::exponential(Tensor self, float lambd=1." + generator, type, exponential,
                      "exponential random numbers in the operand's place"));
  r.push_back(drawing("aten::normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, " +
                          kOptions + ") -> Tensor",
                      type, normal, "normal random numbers"));
  for (const char* head : {"Tensor_float(Tensor mean, float std=1.", "float_Tensor(float mean, Tensor std",
                           "Tensor_Tensor(Tensor mean, Tensor std"})
    r.push_back(drawing("aten::normal." + std::string(head) + generator, decomposed_type, scaled_normal,
                        "normal random numbers, a mean or deviation each"));
  return r;
}

Rows wholes() {
  Rows r;
  const std::string like = kOptions + ", MemoryFormat? memory_format=None) -> Tensor",
                    generator = ", *, Generator? generator=None) -> Tensor";
  const ShapeRule type = plain_type<whole_dtype>;
  const char* doc = "random integers below high, from low or 0 on";
  r.push_back(drawing("aten::randint(SymInt high, SymInt[] size, *, " + kWhole + ") -> Tensor", type, integers, doc));
  r.push_back(drawing("aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, " + kWhole + ") -> Tensor", type,
                      integers, doc));
  r.push_back(drawing("aten::randint_like(Tensor self, SymInt high, *, " + like, type, integers, doc));
  r.push_back(
      drawing("aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, " + like, type, integers, doc));
  r.push_back(drawing("aten::random.to(Tensor self, int to" + generator, type, integers, doc));
  r.push_back(drawing("aten::randperm(SymInt n, *, " + kWhole + ") -> Tensor", type, permutation,
                      "0 ... n - 1 in random order"));
  r.push_back(drawing("aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False" + generator,
                      multinomial_type, multinomial, "places drawn by rows of weights"));
  r.push_back(drawing("aten::bernoulli(Tensor self" + generator, same_type, bernoulli_each<0>,
                      "1 with the probability that the element gives, else 0"));
  // The default is that of the in-place form, which is made from this row; PyTorch's functional form has none.
  r.push_back(drawing("aten::bernoulli.p(Tensor self, float p=0.5" + generator, same_type, bernoulli,
                      "1 with probability p, else 0"));
  r.push_back(drawing("aten::bernoulli.Tensor(Tensor self, Tensor p" + generator, same_type, bernoulli_each<1>,
                      "1 with the probability that p's element gives, else 0"));
  return r;
}

}  // namespace

void draw_into(const Call& call, const std::function<int64_t(size_t)>& integer, const Tensor& probabilities,
               const Tensor& out) {
  const std::string_view name = call.op().name;
  const auto is = [&](std::string_view kind) { return name == "strata.draw_" + std::string(kind) + ".default"; };
  with_generator([&](Generator& g) {
    if (is("uniform")) return draw_uniform(g, out, call.number(1), call.number(2));
    if (is("normal")) return draw_normal(g, out, call.number(1), call.number(2), call.boolean(3));
    if (is("exponential")) return draw_exponential(g, out, call.number(1));
    if (is("bernoulli")) return draw_bernoulli(g, out, call.number(1));
    if (is("bernoulli_each")) return draw_bernoulli_each(g, probabilities, out);
    if (is("multinomial")) return draw_multinomial(g, probabilities.contiguous(), call.boolean(2), out);
    if (is("integers")) return draw_integers(g, out, integer(1), integer(2));
    if (is("permutation")) return draw_permutation(g, out);
    throw_internal(call.op().name + " draws nothing");
  });
}

Node* drawn_like(Builder& b, const Call& call, const TensorType& like, DType dtype, std::string_view target,
                 std::vector<Argument> args) {
  const std::vector<int64_t> order = walked(call, like);
  std::vector<SymInt> shape;
  for (const int64_t d : order) shape.push_back(like.shape[static_cast<size_t>(d)]);
  args.insert(args.begin(), sizes(shape));
  Node* drawn = b.call(target, std::move(args), {{"dtype", dtype}});
  return std::is_sorted(order.begin(), order.end()) ? drawn : b.permute(drawn, inverse_of(order));
}

bool draws_within(const Node& node) {
  if (!node.is("aten.scaled_dot_product_attention.default")) return false;
  const Call call(node);
  return call.number(named(call, "dropout_p")) != 0;
}

Rows randoms() {
  Rows rows;
  for (auto part : {draws, floats, wholes, dropouts}) append(rows, part());
  return rows;
}

}  // namespace strata::ops
