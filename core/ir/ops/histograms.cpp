// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Numbers of elements in bins between edges.

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/ir/loop_fold.h"
#include "core/ir/ops/histogram.h"
#include "core/ir/ops/indexing.h"

namespace strata::ops {
namespace {

bool is_histc(const Call& call) { return call.op().name == "aten.histc.default"; }

double rounded(DType dtype, double x) { return loop::fold::round_to(x, dtype); }

struct Range {
  double left = 0, right = 1;
};

Range range_of_elements(const std::vector<double>& x) {
  Range r{x[0], x[0]};
  for (const double v : x) r = {nan_min(r.left, v), nan_max(r.right, v)};
  return r;
}

/// The same, several lines side by side so that they become vectors.
Range range_of_elements(std::span<const float> x) {
  constexpr size_t kLines = 16;
  std::array<float, kLines> least, greatest;
  std::array<int, kLines> is_number;
  least.fill(x[0]);
  greatest.fill(x[0]);
  is_number.fill(1);
  const auto look = [&](size_t line, float v) {
    least[line] = v < least[line] ? v : least[line];
    greatest[line] = v > greatest[line] ? v : greatest[line];
    is_number[line] &= static_cast<int>(v == v);
  };
  size_t at = 0;
  for (; at + kLines <= x.size(); at += kLines)
    for (size_t line = 0; line < kLines; ++line) look(line, x[at + line]);
  for (; at < x.size(); ++at) look(0, x[at]);
  if (std::ranges::count(is_number, 0) > 0) return {std::nan(""), std::nan("")};
  return {*std::ranges::min_element(least), *std::ranges::max_element(greatest)};
}

/// What the call says, else from the least to the greatest element; an empty range is widened.
template <class Elements>
Range outer_edges(const Call& call, const Elements& x) {
  Range r;
  bool open = true;
  if (is_histc(call)) {
    r = {call.number(2), call.number(3)};
    open = r.left == r.right;
  } else if (const auto* given = call.arg("range").as<ListArg>()) {
    if (given->items.size() != 2)
      reject(call, "range must have 2 elements, found " + std::to_string(given->items.size()));
    r = {number_of(given->items[0]).value(), number_of(given->items[1]).value()};
    open = false;
  }
  if (open && !x.empty()) r = range_of_elements(x);
  if (!std::isfinite(r.left) || !std::isfinite(r.right))
    reject(call, "range of [" + std::to_string(r.left) + ", " + std::to_string(r.right) + "] is not finite");
  if (r.left > r.right) reject(call, "the range's end must be larger than its begin");
  if (r.left == r.right) {
    const double margin = is_histc(call) ? 1 : 0.5;
    r = {r.left - margin, r.right + margin};
  }
  return r;
}

/// From both ends towards the middle.
std::vector<double> even_edges(DType d, Range r, int64_t bins) {
  std::vector<double> edges(static_cast<size_t>(bins) + 1);
  const double left = rounded(d, r.left), right = rounded(d, r.right);
  const double step = rounded(d, rounded(d, right - left) / static_cast<double>(bins));
  const int64_t n = bins + 1;
  for (int64_t i = 0; i < n; ++i)
    edges[static_cast<size_t>(i)] =
        rounded(d, i < n / 2 ? left + step * static_cast<double>(i) : right - step * static_cast<double>(n - 1 - i));
  return edges;
}

/// Numbers below are exact as float32, as are those of bins.
constexpr int64_t kMostNarrowBins = 1 << 24;

/// How the bin of an element is found: among all edges, among those near a guess from even spacing, or as that guess.
enum class Search : uint8_t { All, Near, None };

/// The bin of an element that lies between the outer edges. `round` rounds to the elements' type after each step of
/// double precision, which gives what arithmetic of that type gives.
template <class Round>
size_t bin_of(const Round& round, const std::vector<double>& edges, double x, Search search) {
  const auto count = static_cast<int64_t>(edges.size()) - 1;
  int64_t first = 0, last = count + 1;
  if (search != Search::All) {
    const double left = edges.front(), width = round(edges.back() - left);
    const double scaled = round(round(x - left) * round(static_cast<double>(count)));
    const auto guess = static_cast<int64_t>(round(scaled / width));
    if (search == Search::None) return static_cast<size_t>(std::clamp<int64_t>(guess, 0, count - 1));
    const int64_t near = std::clamp<int64_t>(guess, 0, count);  // edges may all be one number once rounded
    first = std::max<int64_t>(0, near - 1);
    last = std::min<int64_t>(near + 2, count + 1);
  }
  const auto found = std::upper_bound(edges.begin() + first, edges.begin() + last, x);
  return static_cast<size_t>(std::clamp<int64_t>(found - edges.begin() - 1, 0, count - 1));
}

/// Elements without weights count as 1; what lies beyond the edges and NaN do not count.
template <class Round>
void count_elements(const Round& round, const std::vector<double>& elements, const std::vector<double>& weights,
                    Search search, Histogram& h) {
  if (h.counts.empty()) return;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!(elements[i] >= h.edges.front() && elements[i] <= h.edges.back())) continue;
    h.counts[bin_of(round, h.edges, elements[i], search)] += weights.empty() ? 1 : weights[i];
  }
}

/// The same for float32 whose bin is the guess, in arithmetic of its own type and block by block, which becomes
/// vectors.
void count_elements(std::span<const float> elements, Histogram& h) {
  constexpr size_t kBlock = 256;
  const auto left = static_cast<float>(h.edges.front()), right = static_cast<float>(h.edges.back());
  const float width = right - left, bins = static_cast<float>(h.counts.size());
  const auto none = static_cast<int>(h.counts.size());
  std::vector<int64_t> counts(h.counts.size() + 1, 0);
  std::array<int, kBlock> bin;
  const auto bin_of = [&](float x) {
    const float guess = (x - left) * bins / width;
    const int found =
        static_cast<int>(guess >= 0 && guess < bins ? guess : bins - 1);  // may be NaN: infinity / infinity
    return x >= left && x <= right ? found : none;
  };
  size_t at = 0;
  for (; at + kBlock <= elements.size(); at += kBlock) {
    for (size_t i = 0; i < kBlock; ++i) bin[i] = bin_of(elements[at + i]);
    for (const int b : bin) ++counts[static_cast<size_t>(b)];
  }
  for (; at < elements.size(); ++at) ++counts[static_cast<size_t>(bin_of(elements[at]))];
  for (size_t i = 0; i < h.counts.size(); ++i) h.counts[i] = static_cast<double>(counts[i]);
}

std::vector<double> all_doubles(const Tensor& t) { return t.to(DType::F64).values(); }

}  // namespace

namespace {

Histogram histogram_of_floats(const Call& call, const Tensor& x) {
  const Tensor packed = x.contiguous();
  const std::span<const float> elements(packed.ptr<const float>(), static_cast<size_t>(packed.numel()));
  Histogram h;
  h.edges = even_edges(DType::F32, outer_edges(call, elements), call.constant(1));
  h.counts.assign(h.edges.size() - 1, 0);
  count_elements(elements, h);
  return h;
}

}  // namespace

Histogram histogram_of(const Call& call, const Tensor& x, const Tensor& bins, const Tensor& weight) {
  const DType d = x.dtype;
  if (d == DType::F32 && is_histc(call) && call.constant(1) <= kMostNarrowBins) return histogram_of_floats(call, x);
  const std::vector<double> elements = all_doubles(x),
                            weights = weight.defined() ? all_doubles(weight) : std::vector<double>();
  Histogram h;
  if (bins.defined())
    h.edges = all_doubles(bins);
  else
    h.edges = even_edges(d, outer_edges(call, elements), call.constant(1));
  if (h.edges.empty()) reject(call, "bins must have an element");
  h.counts.assign(h.edges.size() - 1, 0);
  const Search search = bins.defined() ? Search::All : is_histc(call) ? Search::None : Search::Near;
  if (d == DType::F32)  // without a call for each rounding
    count_elements([](double v) { return static_cast<double>(static_cast<float>(v)); }, elements, weights, search, h);
  else
    count_elements([d](double v) { return rounded(d, v); }, elements, weights, search, h);
  if (is_histc(call) || !call.boolean(call.op().schema.index_of("density"))) return h;
  double total = 0;
  for (const double n : h.counts) total += n;
  for (size_t i = 0; i < h.counts.size(); ++i) h.counts[i] = h.counts[i] / total / (h.edges[i + 1] - h.edges[i]);
  return h;
}

namespace {

void check_bins(const Call& call, const SymInt& bins) { require_at_least(call, bins, 1, "bins"); }
void check_floats(const Call& call, bool narrow) {
  const DType d = tensor_type(call, 0).dtype;
  if (!is_floating(d) || (!narrow && d != DType::F32 && d != DType::F64))
    reject(call, "not implemented for " + std::string(dtype_name(d)));
}

Type histc_type(const Call& call) {
  check_floats(call, true);
  check_bins(call, call.integer(1));
  return result_like(call, tensor_type(call, 0).dtype, {SymInt(call.constant(1))});
}

Type histogram_type(const Call& call) {
  check_floats(call, false);
  const DType d = tensor_type(call, 0).dtype;
  const size_t weight = call.op().schema.index_of("weight");
  if (!call.is_none(weight)) {
    if (tensor_type(call, weight).dtype != d) reject(call, "weight must have the type of the input");
    require_same_shape(call, call.type(0).shape, call.type(weight).shape, "input and weight");
  }
  SymInt edges;
  if (is_tensor(call, 1)) {
    if (call.type(1).shape.size() != 1 || call.type(1).dtype != d)
      reject(call, "bins must be a line of the input's type");
    edges = call.type(1).shape[0];
    require_at_least(call, edges, 1, "elements of bins");
  } else {
    check_bins(call, call.integer(1));
    edges = SymInt(call.constant(1) + 1);
  }
  return Type::tuple({result_like(call, d, {edges - 1}), result_like(call, d, {edges})});
}

Tensor line_of(const std::vector<double>& values) {
  return Tensor::of(DType::F64, {static_cast<int64_t>(values.size())}, values);
}

RefValue histc_reference(const RefContext& c) {
  return as_result(c, line_of(histogram_of(c.call, c.tensor(0), {}, {}).counts));
}
RefValue histogram_reference(const RefContext& c) {
  const Tensor bins = is_tensor(c.call, 1) ? c.tensor(1) : Tensor();
  const Histogram h = histogram_of(c.call, c.tensor(0), bins, c.optional_tensor(c.call.op().schema.index_of("weight")));
  return std::vector<RefValue>{as_result(c, line_of(h.counts), 0), as_result(c, line_of(h.edges), 1)};
}

}  // namespace

Rows histograms() {
  Rows r;
  const auto add = [&](const char* schema, ShapeRule type, Reference reference, const char* doc) {
    r.push_back(OpDef(schema, OpClass::Indexing, 0, Promotion::None, type, reference, nullptr,
                      NoGradient::Nondifferentiable, KernelRule{"histogram"}, "", doc));
  };
  add("aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", histc_type, histc_reference,
      "number of elements in each of several bins");
  add("aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool "
      "density=False) "
      "-> (Tensor hist, Tensor bin_edges)",
      histogram_type, histogram_reference, "number of elements in each of several bins, and the bins' edges");
  add("aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor "
      "hist, "
      "Tensor bin_edges)",
      histogram_type, histogram_reference, "number of elements between given edges, and the edges");
  return r;
}

}  // namespace strata::ops
