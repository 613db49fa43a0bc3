// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Boxes and regions of images: kernels against the references on random operands, in every type and order of memory,
// one program for all sizes, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "codegen/compiler.h"
#include "core/ir/builder.h"
#include "core/ir/interpreter.h"
#include "passes/decompose.h"
#include "passes/schedule.h"
#include "tests/core/ops_cases.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using ::testing::HasSubstr;

std::mt19937_64& random_numbers() {
  static std::mt19937_64 random(std::random_device{}());
  return random;
}
double between(double low, double high) { return std::uniform_real_distribution(low, high)(random_numbers()); }

Tensor numbers(DType dtype, std::vector<int64_t> shape, double low, double high) {
  Tensor t = Tensor::empty(dtype, std::move(shape));
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, between(low, high));
  return t;
}

/// Boxes with a corner before the other; `lead` columns in front of them are left as they are.
void set_boxes(const Tensor& t, int64_t lead, double size) {
  const int64_t columns = lead + 4;
  for (int64_t row = 0; row < t.shape[0]; ++row)
    for (int64_t k = 0; k < 2; ++k) {
      const double corner = between(-2, size);
      t.set(row * columns + lead + k, corner);
      t.set(row * columns + lead + 2 + k, corner + between(0, size));
    }
}

/// Regions of some of `images` images of about `size` pixels.
Tensor regions(DType dtype, int64_t count, int64_t images, double size) {
  Tensor t = Tensor::empty(dtype, {count, 5});
  for (int64_t row = 0; row < count; ++row)
    t.set(row * 5, static_cast<double>(static_cast<int64_t>(between(0, static_cast<double>(images) - 0.01))));
  set_boxes(t, 1, size);
  return t;
}

/// Channels of each pixel side by side.
Tensor channels_last(const Tensor& t) {
  const auto& s = t.shape;
  Tensor rows = Tensor::empty(t.dtype, {s[0], s[2], s[3], s[1]});
  Tensor view{t.dtype, s, {s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]}, 0, rows.storage};
  copy_elements(t, view);
  return view;
}

std::vector<Tensor> compiled(const Graph& graph, const std::vector<Tensor>& inputs) {
  const PassResult decomposed = decompose(graph, {});
  const Scheduled scheduled = schedule(decomposed.rewrites.empty() ? graph : decomposed.graph, {});
  for (const Launch& l : scheduled.plan->launches)
    EXPECT_FALSE(std::holds_alternative<OpaqueCall>(l.work)) << l.name << " runs in the interpreter";
  Executor executor(scheduled.plan, make_cpu_compiler()->compile(*scheduled.plan, {}), 2);
  return executor.run(inputs);
}

double slack(DType dtype) {
  return dtype == DType::F64 ? 1e-12 : dtype == DType::F32 ? 2e-6 : dtype == DType::F16 ? 1e-3 : 8e-3;
}

void expect_as_interpreted(const Graph& graph, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> got = compiled(graph, inputs);
  const std::vector<RefValue> want = Interpreter(graph).run(std::span<const Tensor>(inputs));
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < got.size(); ++k) {
    const Tensor expected = want[k].tensor();
    ASSERT_EQ(got[k].str(), expected.str()) << "result " << k;
    for (int64_t i = 0; i < expected.numel(); ++i) {
      const double x = got[k].at(i), y = expected.at(i);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      ASSERT_LE(std::fabs(x - y), slack(expected.dtype) * std::max(1.0, std::fabs(y)))
          << "element " << i << " of result " << k;
    }
  }
}

/// A call on features and regions as they lie, and its results.
void add_regions(Graph& graph, const char* op, const Tensor& features, Type rois, std::vector<Argument> rest) {
  Builder b(graph);
  Type type = Type::of(features.dtype, {features.shape.begin(), features.shape.end()}, "cpu");
  type.tensor.strides.emplace(features.strides.begin(), features.strides.end());
  Node* x = graph.placeholder("features", std::move(type));
  rest.insert(rest.begin(), {x, graph.placeholder("rois", std::move(rois))});
  testing::return_all(graph, b, b.call(op, rest));
}

struct Kind {
  const char* op;
  std::vector<Argument> rest;
};
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"torchvision.roi_align.default", {0, true}}, {"torchvision.roi_align.default", {2, false}},
      {"torchvision.ps_roi_align.default", {0}},    {"torchvision.ps_roi_align.default", {3}},
      {"torchvision.roi_pool.default", {}},         {"torchvision.ps_roi_pool.default", {}}};
  return all;
}
std::vector<Argument> with_bins(const Kind& kind, int64_t high, int64_t wide) {
  std::vector<Argument> rest{0.5, high, wide};
  rest.insert(rest.end(), kind.rest.begin(), kind.rest.end());
  return rest;
}

TEST(Regions, OfEveryTypeAndOrderOfMemory) {
  for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16})
    for (const Kind& kind : kinds())
      for (const int64_t count : {1, 40})  // one leaves features as they lie, forty pay for a copy
        for (const bool last : {false, true}) {
          SCOPED_TRACE(std::string(kind.op) + " of " + std::string(dtype_name(dtype)) + ", " + std::to_string(count) +
                       (last ? ", channels last" : ""));
          Tensor features = numbers(dtype, {2, 72, 9, 11}, -2, 2);
          if (last) features = channels_last(features);
          Graph graph;
          add_regions(graph, kind.op, features, Type::of(dtype, {count, 5}, "cpu"), with_bins(kind, 3, 2));
          expect_as_interpreted(graph, {features, regions(dtype, count, 2, 20)});
        }
}

TEST(Regions, OneProgramForAnyNumber) {
  for (const Kind& kind : kinds()) {
    const Tensor features = numbers(DType::F32, {1, 4, 6, 5}, -2, 2);
    Graph graph;
    const SymInt count =
        graph.env().symbol({.name = "s0", .range = {0, 64}, .max_expr = {}, .hint = 8, .origin = "rois"});
    add_regions(graph, kind.op, features, Type::of(DType::F32, {count, 5}, "cpu"), with_bins(kind, 2, 2));
    for (const int64_t n : {0, 1, 9}) {
      SCOPED_TRACE(std::string(kind.op) + ", " + std::to_string(n));
      expect_as_interpreted(graph, {features, regions(DType::F32, n, 1, 9)});
    }
  }
}

TEST(Regions, FarLargerThanTheImageOrNowhere) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const std::vector<double> corners{0,    -1e9, -1e9, 1e9,   1e9,   0,    nan,  1, 2,    3, 0,    1, 2,
                                    kInf, 3,    0,    -kInf, -kInf, kInf, kInf, 0, 1e30, 1, 2e30, 2};
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.op);
    const Tensor features = numbers(DType::F32, {1, 4, 6, 5}, -2, 2);
    Graph graph;
    add_regions(graph, kind.op, features, Type::of(DType::F32, {5, 5}, "cpu"), with_bins(kind, 2, 2));
    expect_as_interpreted(graph, {features, Tensor::of(DType::F32, {5, 5}, corners)});
  }
}

TEST(Regions, OfImagesWithoutPixels) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.op);
    const Tensor features = Tensor::empty(DType::F32, {1, 4, 0, 5});
    Graph graph;
    add_regions(graph, kind.op, features, Type::of(DType::F32, {3, 5}, "cpu"), with_bins(kind, 2, 2));
    expect_as_interpreted(graph, {features, regions(DType::F32, 3, 1, 5)});
  }
}

TEST(Regions, OfAnImageThatIsNotThere) {
  for (const Kind& kind : kinds())
    for (const double image : {2.0, -1.0, 1e30, std::nan("")}) {
      SCOPED_TRACE(std::string(kind.op) + " " + std::to_string(image));
      const Tensor features = numbers(DType::F32, {2, 4, 6, 5}, -2, 2);
      Graph graph;
      add_regions(graph, kind.op, features, Type::of(DType::F32, {3, 5}, "cpu"), with_bins(kind, 2, 2));
      const Tensor rois = regions(DType::F32, 3, 2, 5);
      rois.set(5, image);
      const auto message = HasSubstr("region 1 is of image " + std::to_string(static_cast<float>(image)));
      EXPECT_THAT(testing::error_text([&] { compiled(graph, {features, rois}); }), message);
      const std::vector<Tensor> inputs{features, rois};
      EXPECT_THAT(testing::error_text([&] { Interpreter(graph).run(std::span<const Tensor>(inputs)); }), message);
    }
}

TEST(Boxes, OverlapsOfManyAreFoundAsOneByOne) {
  for (const DType dtype : {DType::F32, DType::F64})
    for (const double threshold : {0.3, 0.0, 0.7}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + std::to_string(threshold));
      const int64_t n = 203;
      const Tensor boxes = Tensor::empty(dtype, {n, 4}), scores = numbers(dtype, {n}, 0, 1);
      set_boxes(boxes, 0, 20);
      for (int64_t i = 0; i < 40; ++i) scores.set(i, static_cast<double>(i % 4) / 4);  // equal ones keep their order
      scores.set(50, std::nan(""));
      boxes.set(4 * 60, std::nan(""));
      boxes.set(4 * 61 + 2, std::numeric_limits<double>::infinity());
      for (int64_t k = 0; k < 4; ++k) boxes.set(4 * 70 + k, boxes.at(4 * 71 + k));
      Graph graph;
      Builder b(graph);
      Node* x = graph.placeholder("dets", Type::of(dtype, {n, 4}, "cpu"));
      Node* y = graph.placeholder("scores", Type::of(dtype, {n}, "cpu"));
      testing::return_all(graph, b, b.call("strata.nms_order.default", {x, y, threshold}));
      expect_as_interpreted(graph, {boxes, scores});
    }
}

TEST(Boxes, MistakesAreNamed) {
  const auto error = [](DType dtype, std::vector<SymInt> boxes, std::vector<SymInt> scores) {
    return testing::error_text([&] {
      Graph graph;
      Builder b(graph);
      Node* x = graph.placeholder("dets", Type::of(dtype, std::move(boxes), "cpu"));
      Node* y = graph.placeholder("scores", Type::of(DType::F32, std::move(scores), "cpu"));
      b.call("strata.nms_order.default", {x, y, 0.5});
    });
  };
  EXPECT_EQ(error(DType::F32, {5, 4}, {5}), "");
  EXPECT_THAT(error(DType::F32, {5}, {5}), HasSubstr("boxes should be a 2d tensor, got 1D"));
  EXPECT_THAT(error(DType::F32, {5, 4}, {5, 1}), HasSubstr("scores should be a 1d tensor, got 2D"));
  EXPECT_THAT(error(DType::F32, {5, 3}, {5}), HasSubstr("elements of boxes in dimension 1"));
  EXPECT_THAT(error(DType::F32, {5, 4}, {4}), HasSubstr("numbers of boxes and scores"));
  EXPECT_THAT(error(DType::F64, {5, 4}, {5}), HasSubstr("dets should have the same type as scores"));
}

}  // namespace
}  // namespace strata
