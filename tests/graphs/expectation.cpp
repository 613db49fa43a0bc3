// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/expectation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "core/ir/control_flow.h"
#include "core/support/error.h"

namespace strata::fuzz {
namespace {

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return 0x1p-52;
    case DType::F16:
      return 0x1p-10;
    case DType::BF16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

/// Below this, kernels may flush: half of the smallest number that rounding still tells from zero.
double smallest(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return 0x1p-1022;
    case DType::F16:
      return 0x1p-24;
    default:
      return 0x1p-126;
  }
}

double largest(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return std::numeric_limits<double>::max();
    case DType::F16:
      return 65504;
    case DType::BF16:
      return 0x1.FEp127;
    default:
      return std::numeric_limits<float>::max();
  }
}

/// Whether the operator's name begins with one of these.
bool is_one_of(const Node& node, std::span<const std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return std::string_view(node.target).starts_with(name); });
}

/// Operators that take their operand's elements less the mean of their line, over the root of its variance.
bool is_norm(const Node& node) {
  static constexpr std::string_view kNames[] = {"layer_norm", "batch_norm", "group_norm", "instance_norm"};
  const std::string_view target = node.target;
  return node.op && target.find("_backward") == target.npos &&
         std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return target.find(name) != target.npos; });
}

/// Operators that come to a small result from larger numbers inside: rounding there shows in no operand. `gelu` of -3
/// is 3 times the difference of two numbers near one; layer norms and their like add a bias that may cancel.
bool cancels_inside(const Node& node) {
  static constexpr std::string_view kNames[] = {"aten.addr.",
                                                "aten.gelu",
                                                "aten.log_softmax",
                                                "aten._log_softmax",
                                                "aten.logsumexp",
                                                "aten.mish",
                                                "aten.cross_entropy",
                                                "aten.softplus",
                                                "aten.log_sigmoid",
                                                "aten.logaddexp",
                                                "aten.binary_cross_",
                                                "aten.poisson_nll_",
                                                "aten.linspace",
                                                "aten.upsample_bilinear",
                                                "aten.grid_sam",
                                                "aten._softmax_back",
                                                "aten._log_softmax_back",
                                                "aten.special_log_softmax",
                                                "aten.special_logsumexp",
                                                "aten.trap",
                                                "aten.gradient.",
                                                "aten.cumulative_trap"};
  if (is_norm(node)) return true;
  return is_one_of(node, kNames);
}

bool sums_all(const Node& node) {
  static constexpr std::string_view kNames[] = {"aten.sum.", "aten.mean.", "aten.nansum.", "aten.nanmean."};
  return is_one_of(node, kNames);
}

/// A sum of integers, or of a wider floating type, in a floating type: float64 holds them all, and noise leaves
/// integers alone. In the type itself each of them is rounded, and so is each sum on the way, by as much as the
/// largest: 2147483646 - 2147483648 + 4 comes to 0, 2 or 4 in float32, depending on the order.
bool sums_rounded(const Node& node) {
  if (!sums_all(node) && !std::string_view(node.target).starts_with("aten.cumsum.")) return false;
  const auto found = std::find_if(node.kwargs.begin(), node.kwargs.end(), [](const auto& k) {
    return k.first == "dtype" && k.second.template as<DType>() && is_floating(*k.second.template as<DType>());
  });
  if (found == node.kwargs.end()) return false;
  const size_t own = dtype_size(*found->second.as<DType>());
  const auto operands = node.operands();
  return std::any_of(operands.begin(), operands.end(), [&](const Node* operand) {
    return operand->type.is_tensor() &&
           (!is_floating(operand->tensor().dtype) || dtype_size(operand->tensor().dtype) > own);
  });
}

/// All numbers of a tensor; of complex ones the parts.
std::vector<double> numbers_of(const Tensor& t) { return is_complex(t.dtype) ? as_pairs(t).values() : t.values(); }

/// Largest number of a tensor, at least one.
double magnitude(const RefValue& value) {
  double largest = 1;
  if (const auto* t = std::get_if<Tensor>(&value.value))
    for (const double v : numbers_of(*t))
      if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return largest;
}

/// Least variance of a line that a norm makes alike: 0 where it is one number again and again.
double least_variance(const Node& node, const Tensor& x) {
  // Lines are elements that follow each other, or a channel of each sample.
  int64_t lines = 1, run = x.numel();
  const auto has = [&](std::string_view name) { return node.target.find(name) != std::string::npos; };
  if (has("layer_norm")) {
    const size_t outer = x.rank() - std::min(x.rank(), node.args[1].as<ListArg>()->items.size());
    for (size_t d = 0; d < outer; ++d) run /= x.shape[d];
    lines = x.numel() / run;
  } else if (has("group_norm")) {
    const auto* groups = node.args[has("native_") ? 6 : 1].as<int64_t>();
    run /= x.shape[0] * (groups ? *groups : x.shape[1]);
    lines = x.numel() / run;
  } else if (x.rank() > 1) {
    run /= x.shape[0] * x.shape[1];
    lines = has("instance_norm") ? x.numel() / run : x.shape[1];
  }
  const std::vector<double> values = x.values();
  const auto line_of = [&](size_t i) { return i / static_cast<size_t>(run) % static_cast<size_t>(lines); };
  std::vector<double> sums(static_cast<size_t>(lines)), squares(sums.size());
  const double count = static_cast<double>(values.size()) / static_cast<double>(lines);
  for (size_t i = 0; i < values.size(); ++i) sums[line_of(i)] += values[i];
  for (size_t i = 0; i < values.size(); ++i) squares[line_of(i)] += std::pow(values[i] - sums[line_of(i)] / count, 2);
  double least = HUGE_VAL;
  for (const double s : squares)
    if (std::isfinite(s)) least = std::min(least, s / count);
  return least;
}

/// What a norm multiplies its operand's rounding error by: much, where a line has nearly equal elements.
double magnification(const Node& node, const Tensor& x) {
  if (x.numel() == 0) return 1;
  const auto& params = node.op->schema.params;
  double added = 1e-5;
  for (size_t i = 0; i < std::min(params.size(), node.args.size()); ++i)
    if (const auto* eps = node.args[i].as<double>(); eps && params[i].name == "eps") added = *eps;
  return std::max(1.0, 1 / std::sqrt(least_variance(node, x) + added));
}

/// Operators that sum squares, in the type of their operand's kernels: float32, also for narrower ones. float64 holds
/// the squares of all float32 numbers, so that the interpreter has a result where a kernel, as PyTorch's, overflows.
bool sums_squares(const Node& node) {
  static constexpr std::string_view kNames[] = {"layer_norm", "group_norm", "batch_norm",  "instance_norm", "rms_norm",
                                                "var",        "std",        "vector_norm", "aten.norm.",    "mse_loss"};
  const std::string_view target = node.target;
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return target.find(name) != target.npos; });
}

/// Whether those squares overflow where the largest number is `most`.
bool squares_overflow(const Tensor& x, double most) {
  double sum = 0;
  for (const double v : numbers_of(x))
    if (std::isfinite(v)) sum += v * v;
  return sum > most / 4;  // differences from the mean are up to twice as large
}

/// Weights of attention that would be denormal are 0 in kernels, PyTorch's too: times an infinite value that is NaN,
/// and infinite where the weight is a number.
void doubt_infinities(const Node& node, RefValue& value) {
  auto* t = std::get_if<Tensor>(&value.value);
  if (!t || std::string_view(node.target).find("scaled_dot_product") == std::string_view::npos) return;
  for (int64_t i = 0, n = t->numel(); i < n; ++i)
    if (std::isinf(t->at(i))) t->set(i, std::nan(""));
}

/// Operators that choose one of equal numbers: of zeros with either sign, PyTorch's kernels take the one or the other,
/// by where an element lies. Their inverses tell.
bool chooses(const Node& node) {
  static constexpr std::string_view kNames[] = {"aten.maximum", "aten.minimum", "aten.max.",    "aten.min.",
                                                "aten.amax",    "aten.amin",    "aten.aminmax", "aten.fmax",
                                                "aten.fmin",    "aten.clamp",   "aten.clip"};
  return is_one_of(node, kNames);
}

bool tests_equality(const Node& node) {
  static constexpr std::string_view kNames[] = {"aten.isin.Tensor_Tensor", "aten.eq.Tensor", "aten.ne.Tensor",
                                                "aten.not_equal.Tensor"};
  return is_one_of(node, kNames);
}

bool multiplies_all(const Node& node) { return std::string_view(node.target).starts_with("aten.prod."); }

/// Whether products of some of the numbers leave the range up to `most`, so that it depends on the order whether the
/// product of all is infinite, 0 or, of an infinite part and one that is 0, NaN.
bool products_leave_range(const Tensor& x, double most) {
  double large = 0, small = 0;
  for (const double v : numbers_of(x))
    if (std::isfinite(v) && v != 0) (std::abs(v) > 1 ? large : small) += std::abs(std::log2(std::abs(v)));
  const double powers = std::log2(most) - 2;
  return large > powers || small > powers;
}

/// Whether a sum of some of the numbers, in one order or another, is beyond `most` although that of all may not be.
bool sums_overflow(const Tensor& x, double most) {
  double sum = 0;
  for (const double v : numbers_of(x))
    if (std::isfinite(v)) sum += std::abs(v);
  return sum > most;
}

/// Means of windows, the sums of which may overflow where they do not.
bool averages(const Node& node) { return std::string_view(node.target).find("avg_pool") != std::string_view::npos; }

/// Losses, most of which come to a mean: the sum may overflow where the mean does not. The terms of some are products
/// of an operand and another one, or itself (margin_ranking_loss).
bool sums_losses(const Node& node) {
  const std::string_view target = node.target;
  return target.find("_loss.") != target.npos || target.starts_with("aten.binary_cross_entropy");
}

/// Whether a node rounds integers that it takes: sums into a floating type, and targets of losses.
bool rounds_integers(const Node& node) { return sums_rounded(node) || sums_losses(node); }

/// Operators that sum products of elements of two operands.
bool sums_products(const Node& node) {
  static constexpr std::string_view kNames[] = {
      "aten.mm.",    "aten.bmm.",  "aten.addmm.", "aten.baddbmm.", "aten.addbmm.", "aten.matmul.", "aten.mv.",
      "aten.addmv.", "aten.dot.",  "aten.vdot.",  "aten.inner.",   "aten.linear.", "aten.conv1",   "aten.conv2",
      "aten.conv3",  "aten.conv_", "aten.convol", "aten.einsum.",  "aten.addr.",   "aten.bilinea", "aten.tensordo"};
  return is_one_of(node, kNames);
}

/// Operators that multiply by a power of two, which may be infinite where the product is not, or is 0.
bool scales_by_powers(const Node& node) { return std::string_view(node.target).starts_with("aten.ldexp"); }

/// Sums of products, the terms of which eager mode rounds to the operands' type, and a kernel does not.
bool sums_rounded_products(const Node& node) {
  static constexpr std::string_view kNames[] = {"aten.trapezoid.", "aten.trapz.", "aten.cumulative_trap"};
  return is_one_of(node, kNames);
}

bool may_leave_range(const Node& node) {
  return sums_rounded_products(node) || sums_squares(node) || multiplies_all(node) || sums_all(node) ||
         averages(node) || sums_losses(node) || sums_products(node) || scales_by_powers(node);
}

using Operands = std::unordered_map<const Node*, Tensor>;

Tensor broadcast(Tensor t, const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 0);
  const size_t front = shape.size() - t.rank();
  for (size_t d = front; d < shape.size(); ++d)
    if (t.shape[d - front] == shape[d]) strides[d] = t.strides[d - front];
  t.shape = shape;
  t.strides = std::move(strides);
  return t;
}

/// Whether numbers on the way to a node's result may be beyond what its kernels compute in although the result may not
/// be, in an order of the work that a kernel may have. (16-bit types are computed in float32. Of float64, a product
/// that is rounded on its own may be infinite where one that is added at once is not.)
bool leaves_range(const Node& node, const Operands& values) {
  const double most = node.type.is_tensor() && node.tensor().dtype == DType::F64 ? std::numeric_limits<double>::max()
                                                                                 : std::numeric_limits<float>::max();
  double product = 1, largest = 1, terms = 1;
  for (const Node* operand : node.operands()) {
    const auto it = values.find(operand);
    if (it == values.end()) continue;
    const Tensor& x = it->second;
    if ((sums_squares(node) && squares_overflow(x, most)) || (multiplies_all(node) && products_leave_range(x, most)) ||
        ((sums_all(node) || averages(node)) && sums_overflow(x, most)) ||
        (sums_losses(node) && sums_overflow(x, most / 4)))
      return true;
    if (scales_by_powers(node) && operand == node.args.back().node() && magnitude(x) > 120) return true;
    product *= magnitude(x);
    largest = std::max(largest, magnitude(x));
    terms = std::max(terms, static_cast<double>(x.numel()));
  }
  product = std::max(product, largest * largest);  // an operand may come twice
  if (sums_rounded_products(node) && product * terms > fuzz::largest(node.tensor().dtype)) return true;
  return (sums_products(node) && product * terms > most) || (sums_losses(node) && product * terms > most / 4);
}

/// Larger than the rounding error of the result: `var` of nearly equal elements squares that of their mean, `std` takes
/// the root of that.
double hidden_rounding(const Node& node, double eps, double largest) {
  const auto is = [&](std::string_view name) { return std::string_view(node.target).starts_with(name); };
  if (is("aten.var.") || is("aten.var_mean.")) return eps * largest * eps * largest;
  // The norms that it divides by take out what disturbs an operand as a whole, and how large it is.
  if (is("aten.cosine_")) return eps;
  // Weights that would be denormal are 0, and so is the sigmoid that `silu` multiplies by.
  if (node.target.find("scaled_dot_product") != std::string::npos || is("aten.silu"))
    return std::numeric_limits<float>::min() * largest;
  // Differences of one operand times sums of the other.
  if (is("aten.trapezoid.x") || is("aten.trapz.x") || is("aten.cumulative_trapezoid.x")) return eps * largest * largest;
  return is("aten.std.") || is("aten.std_mean.") || cancels_inside(node) || sums_rounded(node) || sums_all(node)
             ? eps * largest
             : 0;
}

/// The rounding error of what a node computes: that of its type, or of an operand of a narrower one. Functions of
/// a loss's first operand, where that has integers, are float32.
double widest_epsilon(const Node& node, const Node& maker) {
  double widest = epsilon(node.tensor().dtype);
  for (const Node* operand : maker.operands()) {
    if (!operand->type.is_tensor()) continue;
    const DType dtype = operand->tensor().dtype;
    if (is_floating(dtype))
      widest = std::max(widest, epsilon(dtype));
    else if (sums_losses(maker) && operand == maker.args.front().node())
      widest = std::max(widest, epsilon(DType::F32));
  }
  return widest;
}

bool hides_rounding(const Node& node) { return hidden_rounding(node, 1, 1) != 0; }

/// What rounding may do to values: each element moves by its type's rounding error, or now and then a whole tensor to
/// the next of fewer numbers, so that nearly equal elements become equal and those next to an integer that integer.
class Noise {
 public:
  Noise(std::mt19937_64& rng, double roundings)
      : rng_(rng), roundings_(roundings), flushes_((std::mt19937_64(rng)() >> 20U) % 2 == 0) {}

  /// What stands for a number of which nothing is certain: whatever it is in truth, others differ from it, and what a
  /// function makes of them differs, too, also one that has no value beyond 1 (arctanh).
  double doubtful() {
    constexpr double kValues[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 0};
    return kValues[rng_() % std::size(kValues)];
  }

  /// Moves elements by the rounding error of `declared`, and by up to `hidden`.
  void disturb(DType declared, const RefValue& value, double hidden = 0) {
    const auto* t = std::get_if<Tensor>(&value.value);
    if (t && is_complex(t->dtype)) return disturb(real_dtype(declared), RefValue(as_pairs(*t)), hidden);
    if (!t || !is_floating(t->dtype)) return;
    const double eps = roundings_ * epsilon(declared), shift = rng_() % 2 ? 0.5 : 0;
    const bool snaps = rng_() % 4 == 0, may_vanish = rng_() % 2;
    // The processor's products of bfloat16 take denormals as zero: times an infinity that is NaN. oneDNN's functions
    // of float32 give 0 where they come to a denormal number: its root is far from 0.
    const bool flushes = flushes_ && (declared == DType::BF16 || declared == DType::F32);
    for (int64_t i = 0, n = t->numel(); i < n; ++i) {
      const double v = t->at(i), moved = snaps ? snapped(v, eps, shift) : v * (1 + eps * unit_(rng_));
      const bool is_zero = flushes && std::abs(v) < smallest(DType::BF16);
      // What is small beside what it was the difference of; or it is the number next to it.
      const bool vanishes = snaps && may_vanish && std::abs(v) < hidden;
      const double more = hidden == 0 || snaps ? 0 : hidden * unit_(rng_);
      // Denormal numbers of 16 bits are far from each other: next to a pole they are 0 or not.
      const bool is_denormal = declared == DType::F16 && v != 0 && std::abs(v) < 0x1p-14;
      const double step = is_denormal ? smallest(DType::F16) * unit_(rng_) : 0;
      const double by = more + step;  // 0 is not added: it would take the sign of -0
      t->set(i, is_zero || vanishes ? std::copysign(0.0, v) : by == 0 ? moved : moved + by);
    }
  }

  /// Elements that are equal to what they are compared with once they are rounded may be or not. (Equal they are in few
  /// runs: two numbers would have to be moved to the same.) `isin` compares each with all of the others.
  void doubt_equals(const Node& node, const Operands& values, const RefValue& value) {
    const Node *left = node.args[0].node(), *right = node.args[1].node();
    const auto* found = std::get_if<Tensor>(&value.value);
    if (!found || !left || !right || !values.contains(left) || !values.contains(right)) return;
    const DType a = left->tensor().dtype, b = right->tensor().dtype;
    if (!is_floating(a) && !is_floating(b)) return;
    const double eps = 4 * std::max(is_floating(a) ? epsilon(a) : 0, is_floating(b) ? epsilon(b) : 0);
    const auto near = [eps](double x, double y) { return std::abs(x - y) <= eps * std::abs(y); };
    if (!std::string_view(node.target).starts_with("aten.isin")) {
      if (is_complex(a) || is_complex(b)) return;
      const Tensor x = broadcast(values.at(left), found->shape), y = broadcast(values.at(right), found->shape);
      for (int64_t i = 0, n = found->numel(); i < n; ++i)
        if (x.at(i) != y.at(i) && near(x.at(i), y.at(i))) found->set_int(i, static_cast<int64_t>(rng_() % 2));
      return;
    }
    const std::vector<double> elements = values.at(left).values(), others = values.at(right).values();
    for (size_t i = 0; i < elements.size(); ++i)
      if (std::any_of(others.begin(), others.end(), [&](double v) { return near(elements[i], v); }))
        found->set_int(static_cast<int64_t>(i), static_cast<int64_t>(rng_() % 2));
  }

  void change_signs_of_zeros(const RefValue& value) {
    const auto* t = std::get_if<Tensor>(&value.value);
    if (!t || !is_floating(t->dtype)) return;
    for (int64_t i = 0, n = t->numel(); i < n; ++i)
      if (t->at(i) == 0) t->set(i, rng_() % 2 ? 0.0 : -0.0);
  }

 private:
  static double snapped(double v, double eps, double shift) {
    if (!std::isfinite(v) || v == 0) return v;
    int exponent = 0;
    const double steps = std::frexp(v, &exponent) / (2 * eps);
    return std::ldexp((std::nearbyint(steps + shift) - shift) * 2 * eps, exponent);
  }

  std::mt19937_64& rng_;
  double roundings_;  // of how many operations a value's is
  bool flushes_;      // in this run
  std::uniform_real_distribution<double> unit_{-1, 1};
};

/// The type in which a value is read: sums in a narrower type than their operand's round its elements first.
std::unordered_map<const Node*, DType> read_types(const Graph& graph) {
  std::unordered_map<const Node*, DType> types;
  for (const Node* node : all_nodes(graph))
    for (const auto& [key, argument] : node->kwargs) {
      const auto* narrow = argument.as<DType>();
      if (key != "dtype" || !narrow || !is_floating(*narrow)) continue;
      for (const Node* operand : node->operands())
        if (operand->type.is_tensor() && epsilon(*narrow) > epsilon(operand->tensor().dtype)) types[operand] = *narrow;
    }
  return types;
}

/// One of several results of an operator.
bool is_part(const Node& node) { return node.is("_operator.getitem") && node.type.is_tensor(); }

const Node& maker_of(const Node& node) {
  const Node* tuple = is_part(node) ? node.args.at(0).node() : nullptr;
  return tuple ? *tuple : node;
}

/// Sums of many numbers in float64, which kernels take one after the other: where the numbers are alike, so are the
/// roundings. (Narrower types are summed in float64.)
double long_sum_rounding(const Node& node, const RefValue& value) {
  const auto* result = std::get_if<Tensor>(&value.value);
  if (!result || result->numel() == 0 || node.tensor().dtype != DType::F64) return 0;
  int64_t most = 0;
  const Node& maker = maker_of(node);
  for (const Node* operand : maker.operands())
    if (operand->type.is_tensor())
      if (const auto numel = hint(operand->tensor().numel())) most = std::max(most, *numel);
  const int64_t terms = most / result->numel();
  return terms < 256 ? 0 : epsilon(DType::F64) * static_cast<double>(terms) / 64 * magnitude(value);
}

/// The type that decides how a node's result is rounded: functions of integers are float32 inside of `kl_div`, whatever
/// its other operand is, and the distance of two narrower operands is narrow.
DType rounded_as(const Node& node) {
  const DType own = node.tensor().dtype;
  if (node.target.starts_with("aten.triplet_")) {
    DType widest = own;
    for (const Node* operand : node.operands())
      if (const DType d = operand->tensor().dtype; is_floating(d) && epsilon(d) > epsilon(widest)) widest = d;
    return widest;
  }
  if (!is_floating(own) || !node.target.starts_with("aten.kl_div.")) return own;
  const auto operands = node.operands();
  const bool whole = std::any_of(operands.begin(), operands.end(), [](const Node* operand) {
    return operand->type.is_tensor() && !is_floating(operand->tensor().dtype);
  });
  return whole && epsilon(DType::F32) > epsilon(own) ? DType::F32 : own;
}

/// Whether a node's value is memory of its own, or has just been written.
bool is_fresh(const Node& node) {
  if (is_part(node)) return true;
  if (node.kind != NodeKind::Call || !node.op || !node.type.is_tensor()) return false;
  if (node.op->op_class == OpClass::Mutation) return true;
  return node.op->op_class != OpClass::View && !node.op->schema.returns_alias;
}

/// A `to` that has work to do: in float64 it hands its operand on. Gives the type that rounds more: what is widened may
/// not have been rounded, in a kernel that has just computed it, where another one reads it from memory.
std::optional<DType> converts(const Node& node) {
  if (node.kind != NodeKind::Call || !node.op || !node.op->schema.returns_alias || !node.type.is_tensor()) return {};
  const auto operands = node.operands();
  if (operands.empty() || !operands[0]->type.is_tensor()) return {};
  const DType from = operands[0]->tensor().dtype, to = node.tensor().dtype;
  if (from == to) return {};
  return is_floating(from) && epsilon(from) > epsilon(to) ? from : to;
}

/// The views that become tensors of their own in a disturbed run, so that places with one element differ too: the mean
/// of equal numbers is rounded. None in programs that write, and none whose memory `as_strided` looks at.
std::unordered_set<const Node*> views_to_own(const Graph& graph) {
  const std::vector<Node*> inputs = graph.placeholders();
  std::unordered_set<const Node*> views, looked_at;
  for (const Node* node : std::views::reverse(all_nodes(graph))) {
    if (node->op && node->op->op_class == OpClass::Mutation) return {};
    const bool looks = node->is("aten.as_strided.default"), seen = looked_at.contains(node);
    if (seen && node->kind == NodeKind::Placeholder && std::ranges::find(inputs, node) == inputs.end()) return {};
    const bool is_view = node->op && node->op->op_class == OpClass::View;
    const bool may_alias = is_view || node->is("_operator.getitem") || (node->op && node->op->schema.returns_alias);
    if ((seen || looks) && may_alias)
      for (const Node* operand : node->operands()) looked_at.insert(operand);
    else if (is_view && !looks)
      views.insert(node);
  }
  return views;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::string text_of(const RefValue& v) {
  if (const auto* t = std::get_if<Tensor>(&v.value)) return t->str();
  if (const auto* i = std::get_if<int64_t>(&v.value)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&v.value)) return std::to_string(*d);
  return "nothing";
}

std::string number(double v, int digits = 9) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, v);
  return text;
}

}  // namespace

Results interpret(const RandomProgram& program, const Graph& graph, bool float64, std::mt19937_64* noise,
                  double roundings) {
  std::vector<Tensor> inputs;
  for (const Tensor& t : program.inputs) inputs.push_back(copy_as_it_lies(t));
  InterpreterOptions options;
  options.float64 = float64;
  if (noise) {
    const auto run = std::make_shared<Noise>(*noise, roundings);
    const auto read = std::make_shared<std::unordered_map<const Node*, DType>>(read_types(graph));
    const auto type_of = [read](const Node& node, DType declared) {
      const auto it = read->find(&node);
      return it == read->end() ? declared : it->second;
    };
    const std::vector<Node*> placeholders = graph.placeholders();
    for (size_t i = 0; i < inputs.size(); ++i) {
      Tensor& t = inputs[i];
      const DType declared = t.dtype;
      if (is_floating(declared)) t = t.to(DType::F64).clone();
      run->disturb(type_of(*placeholders.at(i), declared), t);
    }
    const auto magnitudes = std::make_shared<std::unordered_map<const Node*, double>>();
    for (const Node* node : all_nodes(graph))
      if (hides_rounding(*node) || may_leave_range(*node) || tests_equality(*node))
        for (const Node* operand : node->operands()) (*magnitudes)[operand] = 1;
    const auto operands = std::make_shared<Operands>();
    options.observer = [run, type_of, magnitudes, operands, owned = views_to_own(graph)](const Node& node,
                                                                                         const RefValue& seen) {
      auto& value = const_cast<RefValue&>(seen);  // the interpreter's own, which it keeps for the users
      const auto converted = converts(node);
      // What is converted lies in memory of its own, whatever the program writes to.
      if ((owned.contains(&node) || converted) && node.type.is_tensor()) {
        value = value.tensor().clone();
        run->disturb(converted.value_or(node.tensor().dtype), value);
      }
      const Node& maker = maker_of(node);
      double hidden = 0;
      if (hides_rounding(maker) && node.type.is_tensor()) {
        double largest = 1;
        for (const Node* operand : maker.operands())
          if (rounds_integers(maker) || (operand->type.is_tensor() && is_floating(operand->tensor().dtype)))
            largest = std::max(largest, magnitudes->at(operand));
        hidden = hidden_rounding(maker, widest_epsilon(node, maker), largest);
        if (const Node* x = is_norm(maker) ? maker.args[0].node() : nullptr; x && operands->contains(x))
          hidden *= magnification(maker, operands->at(x));
      }
      // Nothing is certain then, which tells of all that is made of it.
      if (may_leave_range(maker) && node.type.is_tensor() && is_floating(node.tensor().dtype) &&
          leaves_range(maker, *operands))
        value = Tensor::full(value.tensor().dtype, value.tensor().shape, run->doubtful());
      doubt_infinities(maker, value);
      if (tests_equality(maker)) run->doubt_equals(maker, *operands, value);
      if (chooses(maker)) run->change_signs_of_zeros(value);
      if (is_fresh(node)) run->disturb(type_of(node, rounded_as(node)), value, hidden + long_sum_rounding(node, value));
      if (const auto it = magnitudes->find(&node); it != magnitudes->end()) {
        it->second = magnitude(value);
        if (const auto* t = std::get_if<Tensor>(&value.value)) (*operands)[&node] = *t;
      }
    };
  }
  Interpreter interpreter(graph, options);
  const std::vector<RefValue> all = interpreter.run(std::span<const Tensor>(inputs), program.symbols);
  Results results, after;
  for (size_t i = 0; i < inputs.size(); ++i) after.push_back(interpreter.input(i));
  const auto placeholders = graph.placeholders();
  for (size_t i = 0; i < all.size(); ++i) {
    const OutputSpec spec = graph.output_spec(i);
    if (spec.kind == OutputSpec::Kind::User)
      results.push_back(all[i]);
    else
      for (size_t k = 0; k < placeholders.size(); ++k)
        if (placeholders[k]->name == spec.target) after.at(k) = all[i];
  }
  results.insert(results.end(), after.begin(), after.end());
  return results;
}

Expectation::Expectation(const RandomProgram& program)
    : program_(program), native_(interpret(program, program.graph, false)) {
  const size_t outputs = native_.size() - program.inputs.size();
  for (size_t i = 0; i < outputs; ++i)
    if (const auto* t = std::get_if<Tensor>(&native_[i].value)) {
      const auto values = numbers_of(*t);
      elements_ += values.size();
      numbers_ +=
          static_cast<size_t>(std::count_if(values.begin(), values.end(), [](double v) { return std::isfinite(v); }));
    }
}

std::string Expectation::compare(const Results& found) {
  std::string why = difference(found);
  if (why.empty()) return why;
  if (truth_.empty()) {
    measure();
    why = difference(found);
  }
  if (why.empty()) return why;
  widen(40);
  why = difference(found);
  if (why.empty()) return why;
  // A sum of many products is off by several roundings, and what is made of it may jump there, as `fmod` does.
  widen(16, 8);
  return difference(found);
}

void Expectation::measure() {
  truth_ = interpret(program_, program_.graph, true);
  for (const RefValue& v : truth_) {
    const auto* t = std::get_if<Tensor>(&v.value);
    spread_.emplace_back(t ? static_cast<size_t>(t->numel()) : 0, 0.0);
  }
  widen(4);
}

/// What differs by as much more as values are disturbed tells nothing new; a jump is as high as before.
void Expectation::widen(int runs, double roundings) {
  for (int run = 0; run < runs; ++run) {
    const Results disturbed = interpret(program_, program_.graph, true, &rng_, roundings);
    for (size_t i = 0; i < truth_.size(); ++i) {
      const auto *a = std::get_if<Tensor>(&truth_[i].value), *b = std::get_if<Tensor>(&disturbed[i].value);
      if (!a || !b) continue;
      if (a->shape != b->shape) {  // a size from data differs: nothing is certain
        std::fill(spread_[i].begin(), spread_[i].end(), HUGE_VAL);
        continue;
      }
      for (size_t k = 0; k < spread_[i].size(); ++k) {
        const double x = a->at(static_cast<int64_t>(k)), y = b->at(static_cast<int64_t>(k));
        const double moved = std::isfinite(x - y) ? std::abs(x - y) / roundings : HUGE_VAL;
        if (!same(x, y)) spread_[i][k] = std::max(spread_[i][k], moved);
      }
    }
  }
}

std::string Expectation::difference(const Results& found) const {
  if (found.size() != native_.size())
    return std::to_string(found.size()) + " results, expected " + std::to_string(native_.size());
  const size_t outputs = native_.size() - program_.inputs.size();
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string which =
        i < outputs ? "result " + std::to_string(i) : "input " + std::to_string(i - outputs) + " afterwards";
    const auto *a = std::get_if<Tensor>(&found[i].value), *b = std::get_if<Tensor>(&native_[i].value);
    std::string why;
    if (a && b && a->dtype == b->dtype && a->shape == b->shape)
      why = tensors(i, *a, *b);
    else if (const auto* n = std::get_if<int64_t>(&native_[i].value); a && n && a->numel() == 1)
      why = a->int_at(0) == *n ? "" : " is " + std::to_string(a->int_at(0)) + ", expected " + std::to_string(*n);
    else if (a || b) {
      bool uncertain =
          a && b && a->dtype == b->dtype && !spread_.empty() && !spread_[i].empty() && spread_[i][0] == HUGE_VAL;
      // So is a size from data that native and float64 runs do not agree on.
      if (a && b && a->dtype == b->dtype && !truth_.empty()) uncertain |= truth_[i].tensor().shape != b->shape;
      if (!uncertain) why = " is " + text_of(found[i]) + ", expected " + text_of(native_[i]);
    }
    if (!why.empty()) return which + why;
  }
  return {};
}

std::string Expectation::tensors(size_t i, const Tensor& found, const Tensor& native) const {
  const bool floating = is_floating(native.dtype);
  const double eps = epsilon(native.dtype), tiny = smallest(native.dtype);
  for (int64_t k = 0, count = found.numel(); k < count; ++k) {
    if (!floating && found.int_at(k) == native.int_at(k)) continue;
    const double f = found.at(k), n = native.at(k);
    if (floating && (same(f, n) || std::abs(f - n) <= 4 * eps * std::abs(n) + tiny)) continue;
    if (truth_.empty()) return " element " + std::to_string(k) + " is " + number(f) + ", natively " + number(n);
    const Tensor& truth = truth_[i].tensor();
    if (truth.shape != native.shape) continue;
    const double t = truth.at(k), spread = spread_[i][static_cast<size_t>(k)];
    if (spread == HUGE_VAL || std::isfinite(t) != std::isfinite(n) || std::isnan(t) != std::isnan(n)) continue;
    if (!floating) {
      if (spread > 0 || found.int_at(k) == truth.int_at(k) || truth.int_at(k) != native.int_at(k)) continue;
      return " element " + std::to_string(k) + " is " + std::to_string(found.int_at(k)) + ", expected " +
             std::to_string(native.int_at(k));
    }
    const double tolerance = 32 * spread + 16 * eps * std::abs(t) + 4 * std::abs(t - n) + 4 * tiny;
    if (same(t, f) || std::abs(f - t) <= tolerance) continue;
    if (std::isinf(f) && tolerance >= std::abs(t)) continue;                         // a quotient of what may be zero
    if (std::isinf(f) && std::abs(t) + tolerance > largest(native.dtype)) continue;  // the last sum may overflow
    if (std::isnan(f) && spread > std::max(1.0, std::abs(t))) continue;              // a pole, as digamma has at -7
    const int digits = native.dtype == DType::F64 ? 17 : 9;
    return " element " + std::to_string(k) + " is " + number(f, digits) + ", expected " + number(t, digits) +
           " (natively " + number(n, digits) + ", tolerance " + number(tolerance) + ")";
  }
  return {};
}

}  // namespace strata::fuzz
