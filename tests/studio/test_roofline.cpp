// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// The roofline: where kernels stand under which ceilings, and the plot driven as a person would.

#include <QAbstractItemModelTester>
#include <QTest>
#include <cmath>
#include <random>

#include "app/studio/views/main_window.h"
#include "core/trace/writer.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using namespace trace;
using test::settle;
using test::TemporaryFolder;

ProfileKernel kernel(Id id, double bytes, double flops, std::int64_t calls, double ns) {
  ProfileKernel k;
  k.record.id = id;
  k.record.compile = 1;
  k.record.name = "kernel_" + std::to_string(id);
  if (bytes >= 0) k.record.bytes = {bytes, ""};
  if (flops >= 0) k.record.flops = {flops, ""};
  k.calls = calls;
  k.ns = ns;
  return k;
}

TEST(Roofline, PointsAreFlopsPerByteAndPerSecond) {
  ProfileData profile;
  profile.kernels = {kernel(1, 1e6, 2e6, 4, 8000), kernel(2, 1e6, -1, 1, 500), kernel(3, 0, 10, 1, 10),
                     kernel(4, 1e3, 1e6, 1, 9000), kernel(5, 10, 10, 0, 0)};
  const Roofline r = make_roofline(profile, {});
  ASSERT_EQ(r.points.size(), 2u);
  EXPECT_EQ(r.points[0].kernel, 4);  // the longest first
  EXPECT_DOUBLE_EQ(r.points[1].intensity, 2);
  EXPECT_DOUBLE_EQ(r.points[1].rate, 8e6 / 8e-6);
  EXPECT_DOUBLE_EQ(r.points[1].bandwidth, 4e6 / 8e-6);
  EXPECT_EQ(r.without, 3u);
  EXPECT_DOUBLE_EQ(r.without_ns, 510);
}

TEST(Roofline, WithoutKnownCeilingsTheHighestStandsForThem) {
  ProfileData profile;
  profile.kernels = {kernel(1, 1e6, 1e6, 1, 1000), kernel(2, 1e3, 1e8, 1, 1000)};
  const Roofline r = make_roofline(profile, {});
  EXPECT_FALSE(r.known());
  ASSERT_EQ(r.memory.size(), 1u);
  ASSERT_EQ(r.compute.size(), 1u);
  EXPECT_DOUBLE_EQ(r.memory[0].value, 1e12);
  EXPECT_DOUBLE_EQ(r.compute[0].value, 1e14);
  for (const RooflinePoint& p : r.points) {
    EXPECT_NEAR(p.reach, 1, 1e-9);
    EXPECT_EQ(p.memory_bound, p.kernel == 1);
  }
}

TEST(Roofline, ItsRangeHoldsEverythingWhateverTheSizes) {
  std::mt19937 random(std::random_device{}());
  std::uniform_real_distribution<double> power(-2, 14);
  for (int round = 0; round < 50; ++round) {
    ProfileData profile;
    for (Id i = 1; i < 20; ++i)
      profile.kernels.push_back(
          kernel(i, std::pow(10, power(random)), std::pow(10, power(random)), 3, std::pow(10, power(random))));
    const Roofline r = make_roofline(profile, {{"m", 1e12, true}, {"a", 1e14, false}});
    for (const RooflinePoint& p : r.points) {
      EXPECT_TRUE(r.least_x < p.intensity && p.intensity < r.most_x);
      EXPECT_TRUE(r.least_y < p.rate && p.rate < r.most_y);
      EXPECT_TRUE(std::isfinite(p.reach));
    }
    EXPECT_GT(r.most_y, 1e14);
  }
}

TEST(Roofline, CeilingsComeFromTheTrace) {
  TemporaryFolder folder;
  {
    Writer writer(folder / "named.strata");
    writer.set_property("device.0.name", "NVIDIA H100 80GB HBM3");
    writer.close();
  }
  {
    Writer writer(folder / "stated.strata");
    writer.set_property("device.0.name", "NVIDIA H100 80GB HBM3");
    writer.set_property("target.peak_flops_per_second", "2.5e12");
    MetricRecord metric;
    metric.key = "target.peak_bytes_per_second";
    metric.value = 9e10;
    writer.add(metric);
    metric.value = -1;
    writer.add(metric);
    writer.close();
  }
  Reader named(folder / "named.strata"), stated(folder / "stated.strata");
  const auto vendor = known_ceilings(named);
  ASSERT_EQ(vendor.size(), 3u);
  EXPECT_TRUE(vendor[0].memory && vendor[0].vendor);
  const auto own = known_ceilings(stated);
  ASSERT_EQ(own.size(), 2u);
  EXPECT_TRUE(own[0].memory);
  EXPECT_DOUBLE_EQ(own[0].value, 9e10);
  EXPECT_DOUBLE_EQ(own[1].value, 2.5e12);
  // What a device could do is no ceiling for the host.
  ProfileData profile;
  profile.kernels = {kernel(1, 1e3, 1e3, 1, 1000)};
  EXPECT_FALSE(make_roofline(profile, vendor).known());
  EXPECT_TRUE(make_roofline(profile, own).known());
  profile.device = true;
  EXPECT_TRUE(make_roofline(profile, vendor).known());
}

class RooflinePage : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1400, 900);
    window_.show();
    window_.arrange();
    test::write_sample_trace(folder_ / "own.strata", {4, true});
    ASSERT_TRUE(window_.show_view("roofline"));
    window_.open_file(QString::fromStdString((folder_ / "own.strata").string()));
    ASSERT_TRUE(settle(context_));
  }
  RooflinePlot& plot() { return window_.roofline().plot(); }
  TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(RooflinePage, AClickOnADotSelectsItsKernel) {
  LinkTable& table = window_.roofline().table();
  QAbstractItemModelTester tester(table.model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  const int count = table.model()->rowCount();
  ASSERT_GT(count, 5);
  const int point = plot().point_at(plot().position(count - 1));
  ASSERT_GE(point, 0);
  QTest::mouseClick(&plot(), Qt::LeftButton, {}, plot().position(count - 1).toPoint());
  ASSERT_TRUE(settle(context_));
  ASSERT_TRUE(context_.details());
  const QString name = qt(context_.details()->kernels.at(0).name);
  EXPECT_EQ(name, table.rows().index(point, 0).data().toString());
  EXPECT_EQ(table.currentIndex().siblingAtColumn(0).data().toString(), name);
  QTest::keyClick(&plot(), Qt::Key_Right);
  ASSERT_TRUE(settle(context_));
  EXPECT_NE(qt(context_.details()->kernels.at(0).name), name);
  EXPECT_FALSE(plot().grab().isNull());
}

TEST_F(RooflinePage, LabelsDoNotOverlap) {
  for (const QSize size : {QSize(1400, 900), QSize(700, 500), QSize(2400, 1400)}) {
    window_.resize(size);
    QTest::qWait(1);
    const auto labels = plot().labels();
    EXPECT_FALSE(labels.empty());
    for (size_t i = 0; i < labels.size(); ++i)
      for (size_t j = 0; j < i; ++j) EXPECT_FALSE(labels[i].second.intersects(labels[j].second));
  }
}

TEST_F(RooflinePage, ZoomsAndIsCopied) {
  const QPointF at = plot().position(0);
  QWheelEvent wheel(at, plot().mapToGlobal(at), {}, {0, 600}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(&plot(), &wheel);
  EXPECT_TRUE(plot().zoomed());
  EXPECT_LT(QLineF(plot().position(0), at).length(), 0.01);
  const auto labels = plot().labels();
  for (size_t i = 0; i < labels.size(); ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_FALSE(labels[i].second.intersects(labels[j].second));
  EXPECT_FALSE(plot().grab().isNull());
  for (const Qt::Key key : {Qt::Key_Plus, Qt::Key_Minus, Qt::Key_F}) QTest::keyClick(&plot(), key);
  EXPECT_FALSE(plot().zoomed());
  EXPECT_TRUE(plot().text().startsWith("Kernel | Graph"));
  EXPECT_EQ(plot().text().count('\n'), window_.roofline().table().model()->rowCount() + 1);
}

}  // namespace
}  // namespace strata::studio
