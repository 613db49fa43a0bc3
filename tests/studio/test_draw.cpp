// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QByteArray>
#include <QXmlStreamReader>
#include <cmath>
#include <random>
#include <set>

#include "app/draw/export.h"
#include "app/draw/layered.h"
#include "app/draw/palette.h"
#include "app/draw/text_metrics.h"
#include "core/support/error.h"
#include "tests/studio/test_support.h"

namespace strata::draw {
namespace {

using test::TemporaryFolder;
using trace::NodeRecord;

/// A random graph in program order, with groups of neighbours.
Picture random_picture(int nodes, unsigned seed, bool groups) {
  std::mt19937 random(seed);
  std::vector<NodeRecord> records;
  for (int i = 0; i < nodes; ++i) {
    NodeRecord n;
    n.id = i + 1;
    n.name = "node_" + std::to_string(i);
    n.op = "call";
    n.target = "aten.add.Tensor";
    n.dtype = "f32";
    n.shape = "[8, 64]";
    for (unsigned k = 0; i > 0 && k < random() % 3; ++k) {
      int reach = random() % 5 == 0 ? i : std::min(i, 6);
      n.inputs.push_back({i - static_cast<int>(random() % static_cast<unsigned>(reach))});
    }
    if (groups && i % 7 > 2) n.group = i / 7 + 1;
    records.push_back(n);
  }
  return make_picture(records, {}, {});
}

Rect cell(const Picture& picture, const Layout& layout, size_t i) {
  Rect r = layout.nodes[i];
  if (layout.labels[i].width <= 0) return r;
  const Rect& l = layout.labels[i];
  double left = std::min(r.x, l.x), right = std::max(r.right(), l.right());
  return {left, r.y, right - left, cell_height(picture.nodes[i])};
}

void expect_sound(const Picture& picture, const Layout& layout) {
  ASSERT_EQ(layout.nodes.size(), picture.nodes.size());
  ASSERT_EQ(layout.edges.size(), picture.edges.size());
  ASSERT_EQ(layout.groups.size(), picture.groups.size());
  Rect all{0, 0, layout.width, layout.height};
  int overlaps = 0, outside = 0, loose = 0, strangers = 0;
  constexpr double slack = 0.6;
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    Rect a = cell(picture, layout, i);
    outside += !all.contains(a);
    Rect inner{a.x + slack, a.y + slack, a.width - 2 * slack, a.height - 2 * slack};
    for (size_t k = i + 1; k < picture.nodes.size(); ++k) overlaps += inner.overlaps(cell(picture, layout, k));
    for (size_t g = 0; g < picture.groups.size(); ++g) {
      bool member = picture.nodes[i].group == static_cast<int>(g);
      strangers += member ? !layout.groups[g].contains(inner) : layout.groups[g].overlaps(inner);
    }
  }
  for (size_t e = 0; e < picture.edges.size(); ++e) {
    const auto& points = layout.edges[e];
    ASSERT_GE(points.size(), 4u);
    EXPECT_EQ(points.size() % 3, 1u);
    Rect from = cell(picture, layout, static_cast<size_t>(picture.edges[e].from));
    const Rect& to = layout.nodes[static_cast<size_t>(picture.edges[e].to)];
    loose += std::hypot(points.front().x - from.centre_x(), points.front().y - from.bottom()) > 3;
    loose += std::hypot(points.back().x - to.centre_x(), points.back().y - to.y) > 3;
    for (const Point& p : points) ASSERT_TRUE(std::isfinite(p.x) && std::isfinite(p.y));
  }
  EXPECT_EQ(overlaps, 0) << "boxes overlap";
  EXPECT_EQ(outside, 0) << "boxes outside of the picture";
  EXPECT_EQ(loose, 0) << "edge ends that touch no box";
  EXPECT_EQ(strangers, 0) << "nodes on the wrong side of a frame";
}

TEST(Layout, LayeredIsSoundOnRandomGraphs) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    Picture picture = random_picture(20 + 25 * static_cast<int>(seed), seed, seed % 2 == 1);
    SCOPED_TRACE(seed);
    Layout layout = lay_out(picture, Engine::Layered);
    EXPECT_EQ(layout.engine, Engine::Layered);
    expect_sound(picture, layout);
  }
}

TEST(Layout, GraphvizIsSoundOnRandomGraphs) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    Picture picture = random_picture(15 + 20 * static_cast<int>(seed), seed, seed % 2 == 1);
    SCOPED_TRACE(seed);
    Layout layout = lay_out(picture, Engine::Graphviz);
    EXPECT_EQ(layout.engine, Engine::Graphviz);
    expect_sound(picture, layout);
  }
}

TEST(Layout, EdgesPointDownWhereTheGraphHasNoCycle) {
  Picture picture = random_picture(300, 5, false);
  Layout layout = lay_out(picture, Engine::Layered);
  for (const auto& edge : picture.edges) EXPECT_LT(layout.nodes[edge.from].bottom(), layout.nodes[edge.to].y);
}

TEST(Layout, TakesCyclesBetweenGroups) {
  // 1 -> 2 -> 3 with 1 and 3 in one group: between the blocks there is a cycle.
  std::vector<NodeRecord> records(3);
  for (int i = 0; i < 3; ++i) {
    records[i].id = i + 1;
    records[i].name = "n" + std::to_string(i);
    records[i].op = "call";
    records[i].group = i == 1 ? 0 : 7;
    if (i > 0) records[i].inputs = {{i}};
  }
  Picture picture = make_picture(records, {}, {});
  ASSERT_EQ(picture.groups.size(), 1u);
  expect_sound(picture, lay_out(picture, Engine::Layered));
}

TEST(Layout, EmptyAndSingle) {
  EXPECT_EQ(lay_out(Picture{}).nodes.size(), 0u);
  Picture one = random_picture(1, 1, false);
  expect_sound(one, lay_out(one));
}

TEST(Layout, DeepChainOfTenThousandNodesIsPlaced) {
  Picture picture = random_picture(10000, 3, true);
  Layout layout = lay_out(picture);
  EXPECT_EQ(layout.engine, Engine::Layered);
  std::set<std::pair<long, long>> places;
  for (const Rect& r : layout.nodes) places.insert({std::lround(r.x * 4), std::lround(r.y * 4)});
  EXPECT_EQ(places.size(), 10000u);
}

TEST(Layered, CycleAndParallelEdges) {
  LayeredResult result = lay_out_layered({{{10, 10}, {10, 10}, {10, 10}}, {{0, 1}, {1, 2}, {2, 0}, {0, 1}}});
  EXPECT_LT(result.corners[0].y, result.corners[1].y);
  EXPECT_LT(result.corners[1].y, result.corners[2].y);
}

TEST(TextMetrics, WidthsAndElision) {
  EXPECT_DOUBLE_EQ(text_width("", 10), 0);
  EXPECT_DOUBLE_EQ(text_width("mm", 10), 2 * 9.74);
  EXPECT_GT(text_width("mm", 10, true), text_width("mm", 10));
  EXPECT_EQ(elide("short", 100, 10), "short");
  std::string cut = elide("a_very_long_name_of_a_node_indeed", 80, 10);
  EXPECT_LE(text_width(cut, 10), 80);
  EXPECT_EQ(cut.substr(0, 3), "a_v");
  EXPECT_EQ(cut.substr(cut.size() - 2), "ed");
  EXPECT_NE(cut.find("…"), std::string::npos);
}

TEST(OpClassification, Names) {
  EXPECT_EQ(short_name("aten.add.Tensor"), "add");
  EXPECT_EQ(short_name("aten::max_pool2d"), "max_pool2d");
  EXPECT_EQ(short_name("torch.nn.functional.relu"), "relu");
  EXPECT_EQ(short_name("relu"), "relu");
  EXPECT_EQ(classify("call", "aten.conv2d.default", "conv2d"), OpClass::Contraction);
  EXPECT_EQ(classify("call", "aten.relu_.default", "relu_"), OpClass::Pointwise);
  EXPECT_EQ(classify("call", "aten.transpose_.int", "t"), OpClass::View);
  EXPECT_EQ(classify("call", "mylib.magic.default", "magic"), OpClass::Other);
  EXPECT_EQ(short_name("called.aten.cdist.default"), "cdist");
  EXPECT_EQ(classify("call", "called.aten.cdist.default", "cdist"), OpClass::Opaque);
  EXPECT_EQ(classify("call", "called_in_order.aten.rand_like.default", "rand"), OpClass::Opaque);
  EXPECT_EQ(classify("placeholder", "", "p_fc_weight"), OpClass::Parameter);
  EXPECT_EQ(classify("placeholder", "", "x"), OpClass::Input);
}

TEST(FormatTime, Units) {
  EXPECT_EQ(format_time(-1), "?");
  EXPECT_EQ(format_time(12), "12 ns");
  EXPECT_EQ(format_time(12345), "12.3 µs");
  EXPECT_EQ(format_time(2.5e6), "2.50 ms");
  EXPECT_EQ(format_time(3e9), "3.00 s");
}

TEST(Escape, WhatXmlForbids) {
  EXPECT_EQ(escape_xml("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(escape_xml(std::string_view("x\0y\x01", 4)), "x\uFFFDy\uFFFD");
  EXPECT_EQ(escape_xml("\xC3\xA9 \xC3"), "é \uFFFD");
  EXPECT_EQ(escape_xml("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
}

class SampleDrawing : public testing::Test {
 protected:
  void SetUp() override {
    test::write_sample_trace(folder_ / "cnn.strata");
    reader_ = std::make_unique<trace::Reader>(folder_ / "cnn.strata");
    compile_ = reader_->find_compile("").id;
  }
  trace::Id stage(const char* name) { return reader_->find_snapshot(compile_, name).id; }
  TemporaryFolder folder_;
  std::unique_ptr<trace::Reader> reader_;
  trace::Id compile_ = 0;
};

TEST_F(SampleDrawing, SvgIsWellFormedAndHoldsEveryNode) {
  for (const char* name : {"captured", "decomposed", "scheduled"}) {
    SCOPED_TRACE(name);
    std::string svg = render(*reader_, stage(name), Format::Svg);
    std::set<QString> ids;
    int edges = 0, titles = 0;
    QXmlStreamReader xml(QByteArray::fromStdString(svg));
    while (!xml.atEnd()) {
      xml.readNext();
      if (!xml.isStartElement()) continue;
      auto kind = xml.attributes().value("class");
      if (kind == QLatin1String("node")) ids.insert(xml.attributes().value("id").toString());
      edges += kind == QLatin1String("edge");
      titles += xml.name() == QLatin1String("title");
    }
    EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
    auto nodes = reader_->nodes(stage(name));
    for (const auto& node : nodes) EXPECT_TRUE(ids.count(QString("n%1").arg(node.id))) << node.name;
    EXPECT_EQ(ids.size(), nodes.size());
    EXPECT_EQ(edges, static_cast<int>(make_picture(*reader_, stage(name)).edges.size()));
    EXPECT_GE(titles, static_cast<int>(nodes.size()));
  }
}

TEST_F(SampleDrawing, KernelsAreFramesWithNameAndTime) {
  Picture picture = make_picture(*reader_, stage("scheduled"));
  ASSERT_EQ(picture.groups.size(), 3u);
  EXPECT_EQ(picture.groups[0].title, "fused_2");
  EXPECT_EQ(picture.groups[0].note, "77.0 µs");
  EXPECT_EQ(picture.groups[0].nodes.size(), 8u);
  std::string svg = render(*reader_, stage("scheduled"), Format::Svg);
  EXPECT_NE(svg.find(">fused_2<"), std::string::npos);
  EXPECT_NE(svg.find("onednn · 13.3 µs"), std::string::npos);
  DrawOptions plain;
  plain.groups = plain.times = false;
  EXPECT_TRUE(make_picture(*reader_, stage("scheduled"), plain).groups.empty());
}

TEST_F(SampleDrawing, ParametersCanBeLeftOut) {
  DrawOptions options;
  options.parameters = false;
  Picture all = make_picture(*reader_, stage("captured")), fewer = make_picture(*reader_, stage("captured"), options);
  EXPECT_EQ(all.nodes.size() - fewer.nodes.size(), 14u);
  expect_sound(fewer, lay_out(fewer));
}

TEST_F(SampleDrawing, EveryFormat) {
  EXPECT_EQ(render(*reader_, stage("scheduled"), Format::Png).substr(1, 3), "PNG");
  EXPECT_EQ(render(*reader_, stage("scheduled"), Format::Pdf).substr(0, 4), "%PDF");
  std::string dot = render(*reader_, stage("scheduled"), Format::Dot);
  EXPECT_EQ(dot.substr(0, 7), "digraph");
  for (const auto& node : reader_->nodes(stage("scheduled")))
    EXPECT_NE(dot.find("n" + std::to_string(node.id) + " [label="), std::string::npos);
  EXPECT_NE(dot.find("subgraph cluster_"), std::string::npos);
}

TEST_F(SampleDrawing, DarkIsAnotherPicture) {
  DrawOptions dark;
  dark.dark = true;
  std::string light_svg = render(*reader_, stage("captured"), Format::Svg);
  std::string dark_svg = render(*reader_, stage("captured"), Format::Svg, dark);
  EXPECT_NE(dark_svg.find(hex(palette(true).background)), std::string::npos);
  EXPECT_EQ(light_svg.find(hex(palette(true).background)), std::string::npos);
}

TEST_F(SampleDrawing, TextStageIsRefused) {
  try {
    render(*reader_, stage("plan"), Format::Svg);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::User);
    EXPECT_NE(std::string(error.what()).find("stage 'plan' has no graph to draw"), std::string::npos) << error.what();
  }
}

TEST_F(SampleDrawing, HostileNamesStayInside) {
  std::vector<NodeRecord> records(2);
  records[0].id = 1;
  records[0].name = "<script>alert(1)</script>\"\\\n\x01\xFF";
  records[0].op = "call";
  records[1].id = 2;
  records[1].name = std::string(100000, 'x');
  records[1].op = "call";
  records[1].inputs = {{1, 1, 2, 99}};
  Picture picture = make_picture(records, {}, {});
  EXPECT_EQ(picture.edges.size(), 1u);
  std::string svg = render(picture, Format::Svg, {});
  QXmlStreamReader xml(QByteArray::fromStdString(svg));
  while (!xml.atEnd()) xml.readNext();
  EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
  EXPECT_EQ(svg.find("<script>"), std::string::npos);
  EXPECT_EQ(render(picture, Format::Pdf, {}).substr(0, 4), "%PDF");
}

TEST(Formats, UnknownNamesTheNearest) {
  EXPECT_EQ(parse_format("pdf"), Format::Pdf);
  try {
    parse_format("pnf");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_EQ(error.message(), "unknown picture format 'pnf'");
    EXPECT_NE(error.hint().find("did you mean"), std::string::npos) << error.hint();
  }
}

TEST(WriteFile, FailureLeavesNothing) {
  TemporaryFolder folder;
  EXPECT_THROW(write_file(folder / "missing" / "x.svg", "data"), Error);
  std::filesystem::create_directory(folder / "taken.svg");
  EXPECT_THROW(write_file(folder / "taken.svg", "data"), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "taken.svg"));
  write_file(folder / "ok.svg", "data");
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder / "")) ++files;
  EXPECT_EQ(files, 2);
}

}  // namespace
}  // namespace strata::draw
