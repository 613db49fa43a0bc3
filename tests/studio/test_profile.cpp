// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Where the time went: sums that add up whatever they are divided by, and the page driven as a person would.

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <random>

#include "app/studio/views/main_window.h"
#include "core/trace/writer.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using namespace trace;
using test::settle;
using test::TemporaryFolder;

/// A compile of two captured operators in two modules, the first decomposed into two nodes that share a kernel with the
/// second; a profile with launches on host and device, and device work that belongs to nothing.
class Imported {
 public:
  Imported(const std::filesystem::path& path, std::mt19937& random, bool correlated) : w_(path) {
    ProcessRecord process;
    process.id = w_.add(process);
    CompileRecord compile;
    compile.process = process.id;
    compile.address = "0/0";
    compile.name = "f";
    compile_ = w_.add(compile);
    graph();
    RunRecord run;
    run.process = process.id;
    run.label = "profile";
    run.clock = "unix";
    run_ = w_.add(run);
    std::uniform_int_distribution<int> length(1000, 9000);
    for (int i = 0; i < 10; ++i) {
      event("aten::gelu_mm", "cpu_op", -1, 50000, true);  // the call is not time of its own
      fused_ += event("triton_fused", "kernel", 7, length(random), true);
      fused_ += event("triton_tail", "kernel", 7, length(random), true);
      eager_ += event("loss_kernel", "kernel", 7, length(random), false);
      copied_ += event("Memcpy HtoD", "gpu_memcpy", 7, length(random), false);
    }
    if (correlated) correlation();
    w_.close();
  }

  std::int64_t fused() const { return fused_; }
  std::int64_t eager() const { return eager_; }
  std::int64_t copied() const { return copied_; }

 private:
  NodeRecord node(NodeId id, const char* name, const char* target, const char* module, int line) {
    NodeRecord n;
    n.id = id;
    n.name = name;
    n.op = "call";
    n.target = target;
    n.module = module;
    const std::vector<SourceLocation> stack = {{"m.py", line, "forward", "x"}, {"/x/torch/nn.py", 7, "call", "y"}};
    n.stack = w_.stack(stack);
    return n;
  }

  void graph() {
    SnapshotRecord s;
    s.compile = compile_;
    s.stage = "captured";
    w_.add(s, std::vector<NodeRecord>{node(1, "gelu", "aten.gelu", "a", 10), node(2, "mm", "aten.mm", "b", 20)});
    s.stage = "decomposed";
    const Id last =
        w_.add(s, std::vector<NodeRecord>{node(3, "mul", "aten.mul", "a", 10), node(4, "erf", "aten.erf", "a", 10),
                                          node(2, "mm", "aten.mm", "b", 20)});
    w_.add(OriginRecord{compile_, 3, 1, "decomposed", "", true});
    w_.add(OriginRecord{compile_, 4, 1, "decomposed", "", false});
    KernelRecord k;
    k.compile = compile_;
    k.snapshot = last;
    k.name = "fused";
    k.language = "triton";
    k.nodes = {2, 3, 4};
    k.bytes = {6000, ""};
    k.flops = {12000, ""};
    kernel_ = w_.add(k);
    LaunchRecord launch;
    launch.compile = compile_;
    launch.kernel = kernel_;
    launch_ = w_.add(launch);
  }

  std::int64_t event(const char* name, const char* category, std::int64_t stream, int ns, bool matched) {
    EventRecord e;
    e.run = run_;
    e.name = name;
    e.category = category;
    e.stream = stream;
    e.clock = "unix";
    e.start_ns = now_ += 100000;
    e.duration_ns = ns;
    if (matched) {
      e.compile = compile_;
      e.kernel = kernel_;
      e.launch = launch_;
      e.match = Match::Exact;
    }
    w_.add(e);
    return ns;
  }

  void correlation() {
    ArtifactRecord a;
    a.owner = {OwnerKind::Run, run_, kNone};
    a.kind = "correlation";
    a.content = "clock\tdevice\nsomething new\t1\n\npart\tmatched\t20\t" + std::to_string(fused_) +
                "\npart\toptimizer\t10\t" + std::to_string(eager_) + "\npart\tdata movement\t10\t" +
                std::to_string(copied_) + "\nunassigned\toptimizer\t10\t" + std::to_string(eager_) +
                "\twhy\tadam\npart\tbad\n";
    w_.add(a);
  }

  Writer w_;
  Id compile_ = 0, run_ = 0, kernel_ = 0, launch_ = 0;
  std::int64_t now_ = 0, fused_ = 0, eager_ = 0, copied_ = 0;
};

const ProfileRow* row(const ProfileData& p, ProfileBy by, const std::string& key) {
  for (const ProfileRow& r : p.by(by))
    if (r.key == key) return &r;
  return nullptr;
}

class Profile : public testing::Test {
 protected:
  std::mt19937 random_{std::random_device{}()};
  TemporaryFolder folder_;
};

TEST_F(Profile, EveryTableAddsUpToTheTotal) {
  test::write_sample_trace(folder_ / "own.strata", {3, true});
  Imported made(folder_ / "imported.strata", random_, true);
  for (const char* name : {"own.strata", "imported.strata"}) {
    Reader reader(folder_ / name);
    for (const ProfileRun& run : profile_choices(reader)) {
      const ProfilePtr profile = load_profile(reader, run.runs);
      EXPECT_GT(profile->total, 0);
      for (int by = 0; by < kProfileTables; ++by) {
        double sum = 0;
        for (const ProfileRow& r : profile->by(static_cast<ProfileBy>(by))) sum += r.ns;
        EXPECT_NEAR(sum, profile->total, 1e-6 * profile->total) << name << by;
      }
    }
  }
}

double number_in(const ProfileItem& item, size_t column) { return item.row.cells.at(column).sort.toDouble(); }

/// Items at the top are the total; what is in an item is that item, or by module that and its own time.
TEST_F(Profile, TreesAddUpToo) {
  test::write_sample_trace(folder_ / "own.strata", {3, true});
  Imported made(folder_ / "imported.strata", random_, true);
  for (const char* name : {"own.strata", "imported.strata"}) {
    Reader reader(folder_ / name);
    const ProfilePtr profile = load_profile(reader, profile_choices(reader).at(0).runs);
    for (int b = 0; b < kProfileTables; ++b) {
      const auto by = static_cast<ProfileBy>(b);
      const auto items = profile_items(*profile, by);
      double top = 0, own = 0;
      std::vector<double> inside(items.size(), 0);
      for (const ProfileItem& item : items) {
        if (!item.row.cells[4].text.startsWith("not"))
          (item.parent < 0 ? top : inside[static_cast<size_t>(item.parent)]) += number_in(item, 4);
        if (by == ProfileBy::Module) own += number_in(item, 10);
      }
      EXPECT_NEAR(top, profile->total, 1e-6 * profile->total) << name << b;
      if (by == ProfileBy::Module) {
        EXPECT_NEAR(own, profile->total, 1e-6 * profile->total);
      }
      for (size_t i = 0; i < items.size(); ++i) {
        if (inside[i] == 0) continue;
        const double self = by == ProfileBy::Module ? number_in(items[i], 10) : 0;
        EXPECT_NEAR(inside[i] + self, number_in(items[i], 4), 1e-6 * profile->total) << name << b << i;
      }
      ProfileModel model(profile_tree_headers(by));
      QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
      model.set_items(items);
      EXPECT_EQ(model.item_of(model.index_of(static_cast<int>(items.size()) - 1)), static_cast<int>(items.size()) - 1);
    }
  }
}

TEST_F(Profile, ModulesLieInEachOther) {
  ProfileData profile;
  const auto add = [&](const char* key, double ns) {
    ProfileRow row;
    row.key = key;
    row.ns = row.certain_ns = ns;
    row.nodes = {{1, static_cast<NodeId>(profile.tables[2].size()) + 1}};
    profile.tables[2].push_back(row);
    profile.total += ns;
  };
  add("net.layer.1.mlp", 50);
  add("net.layer.1", 30);
  add("net.layer.10", 15);
  add("(top level)", 5);
  ProfileModel model(profile_tree_headers(ProfileBy::Module));
  model.set_items(profile_items(profile, ProfileBy::Module));
  const auto cell = [&](const QModelIndex& at, int column) { return at.siblingAtColumn(column).data().toString(); };
  ASSERT_EQ(model.rowCount(), 2);
  const QModelIndex net = model.index(0, 0), layer = model.index(0, 0, net), first = model.index(0, 0, layer);
  EXPECT_EQ(cell(net, 0) + cell(layer, 0) + cell(first, 0), "netlayer1");
  EXPECT_EQ(cell(net, 4), "95 ns");
  EXPECT_EQ(cell(net, 10), "0 ns");
  EXPECT_EQ(cell(first, 4), "80 ns");
  EXPECT_EQ(cell(first, 10), "30 ns");
  EXPECT_EQ(cell(first, 6), "80.0 %");
  EXPECT_EQ(cell(model.index(1, 0, layer), 0), "10");
  EXPECT_EQ(model.items()[static_cast<size_t>(model.item_of(net))].nodes.size(), 3u);
  EXPECT_EQ(model.item_of_node({1, 1}), model.item_of(model.index(0, 0, first)));
}

TEST_F(Profile, KernelsThatNeverRanAreListed) {
  {
    Writer w(folder_ / "k.strata");
    CompileRecord compile;
    compile.address = "0/0";
    const Id id = w.add(compile);
    KernelRecord k;
    k.compile = id;
    k.name = "ran";
    const Id ran = w.add(k);
    k.name = "never";
    w.add(k);
    RunRecord run;
    run.compile = id;
    run.label = "strata";
    EventRecord e;
    e.run = w.add(run);
    e.kernel = ran;
    e.duration_ns = 700;
    w.add(e);
    w.close();
  }
  Reader reader(folder_ / "k.strata");
  const ProfilePtr profile = load_profile(reader, profile_choices(reader).at(0).runs);
  const ProfileRow* never = row(*profile, ProfileBy::Kernel, "never");
  ASSERT_NE(never, nullptr);
  EXPECT_FALSE(never->timed);
  EXPECT_EQ(profile->total, 700);
  EXPECT_EQ(profile_items(*profile, ProfileBy::Kernel).back().row.cells[4].text, "not timed");
}

TEST_F(Profile, OwnRunsOfOneGraphAreOneChoice) {
  test::write_sample_trace(folder_ / "own.strata", {2, true});
  Reader reader(folder_ / "own.strata");
  const auto choices = profile_choices(reader);
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[0].title, "strata of 0/0, 5 runs");
  const ProfilePtr profile = load_profile(reader, choices[0].runs);
  EXPECT_FALSE(profile->device);
  const ProfileRow* conv = row(*profile, ProfileBy::Kernel, "onednn_conv2d_0");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->calls, 5);
  EXPECT_EQ(conv->kind, "onednn");
  EXPECT_DOUBLE_EQ(conv->ns, 5 * 13100 + 100 * (0 + 1 + 2 + 3 + 4));
  EXPECT_DOUBLE_EQ(conv->flops, 5 * 50176.0);
  // What batch_norm was decomposed into stands under batch_norm.
  EXPECT_NE(row(*profile, ProfileBy::Operator, "aten.batch_norm.default"), nullptr);
  EXPECT_EQ(row(*profile, ProfileBy::Operator, "aten.addmm.default"), nullptr);
  const ProfileRow* line = row(*profile, ProfileBy::Line, "/home/user/models/cnn.py:23: …");
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->line, 23);
  EXPECT_EQ(line->nodes.size(), 2u);
}

/// The kernel computes mm, and two nodes that gelu became: two thirds of its time, bytes and flops are those of gelu.
TEST_F(Profile, AKernelIsDividedAmongItsCapturedNodes) {
  Imported made(folder_ / "p.strata", random_, false);
  Reader reader(folder_ / "p.strata");
  const ProfilePtr profile = load_profile(reader, profile_choices(reader).at(0).runs);
  EXPECT_TRUE(profile->device);
  const auto fused = static_cast<double>(made.fused());
  EXPECT_NEAR(profile->total, fused + static_cast<double>(made.eager() + made.copied()), 1e-3);
  const ProfileRow* kernel = row(*profile, ProfileBy::Kernel, "fused");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->calls, 10);  // by the operators of the host: each runs two device kernels
  EXPECT_NEAR(kernel->ns, fused, 1e-3);
  EXPECT_EQ(kernel->made_of, "mm, gelu");
  for (const auto& [by, key] : {std::pair(ProfileBy::Operator, "aten.gelu"), std::pair(ProfileBy::Module, "a"),
                                std::pair(ProfileBy::Line, "m.py:10: x")}) {
    const ProfileRow* gelu = row(*profile, by, key);
    ASSERT_NE(gelu, nullptr) << key;
    EXPECT_NEAR(gelu->ns, fused * 2 / 3, 1e-3);
    EXPECT_NEAR(gelu->certain_ns, fused / 3, 1e-3);  // one of the two edges was inferred
    EXPECT_NEAR(gelu->bytes, 10 * 6000.0 * 2 / 3, 1e-3);
    EXPECT_NEAR(gelu->flops, 10 * 12000.0 * 2 / 3, 1e-3);
    EXPECT_EQ(gelu->nodes, (std::vector<ProfileNode>{{1, 1}}));
  }
  EXPECT_NEAR(row(*profile, ProfileBy::Kernel, "loss_kernel")->ns, static_cast<double>(made.eager()), 1e-3);
  EXPECT_EQ(row(*profile, ProfileBy::Kernel, "loss_kernel")->kind, "eager");
  EXPECT_NEAR(row(*profile, ProfileBy::Line, "data movement")->ns, static_cast<double>(made.copied()), 1e-3);
}

TEST_F(Profile, WhatTheImporterConcludedIsTakenOver) {
  Imported made(folder_ / "p.strata", random_, true);
  Reader reader(folder_ / "p.strata");
  const ProfilePtr profile = load_profile(reader, profile_choices(reader).at(0).runs);
  ASSERT_NE(row(*profile, ProfileBy::Kernel, "adam"), nullptr);
  EXPECT_EQ(row(*profile, ProfileBy::Kernel, "adam")->kind, "optimizer");
  EXPECT_NE(row(*profile, ProfileBy::Operator, "optimizer"), nullptr);
  // Its names are not all known: one row for the part.
  EXPECT_NE(row(*profile, ProfileBy::Kernel, "data movement"), nullptr);
  EXPECT_EQ(row(*profile, ProfileBy::Kernel, "Memcpy HtoD"), nullptr);
}

TEST_F(Profile, AnEmptyTraceHasNothing) {
  {
    Writer writer(folder_ / "empty.strata");
    writer.close();
  }
  Reader reader(folder_ / "empty.strata");
  EXPECT_TRUE(profile_choices(reader).empty());
  const ProfilePtr profile = load_profile(reader, {1, 2});
  EXPECT_EQ(profile->total, 0);
  EXPECT_TRUE(profile_table(*profile, ProfileBy::Line).empty());
}

class ProfilePage : public Profile {
 protected:
  void open(const std::string& name) {
    window_.resize(1280, 800);
    window_.show();
    window_.arrange();
    ASSERT_TRUE(window_.show_view("profile"));
    window_.open_file(QString::fromStdString((folder_ / name).string()));
    ASSERT_TRUE(settle(context_));
  }
  int find(const QString& text) {
    const QAbstractItemModel& model = *page().table().model();
    for (int r = 0; r < model.rowCount(); ++r)
      if (model.index(r, 0).data().toString().startsWith(text)) return r;
    return -1;
  }
  ProfilePanel& page() { return window_.profile(); }
  void click(int row) {
    ProfileTree& table = page().table();
    table.scrollTo(table.model()->index(row, 0));
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, table.visualRect(table.model()->index(row, 0)).center());
    ASSERT_TRUE(settle(context_));
  }
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(ProfilePage, AClickSelectsKernelsAndNodesEverywhere) {
  test::write_sample_trace(folder_ / "own.strata", {2, true});
  open("own.strata");
  QAbstractItemModelTester tester(page().table().model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  EXPECT_TRUE(page().summary().contains("in launches")) << page().summary().toStdString();
  click(find("onednn_conv2d_1"));
  ASSERT_TRUE(context_.details());
  ASSERT_EQ(context_.details()->kernels.size(), 1u);
  EXPECT_EQ(context_.details()->kernels[0].name, "onednn_conv2d_1");
  EXPECT_EQ(context_.marked().size(), 1u);  // the captured node that it was made of

  page().by().setCurrentIndex(3);
  click(find("cnn.py:24"));
  EXPECT_TRUE(context_.details()->node.name.starts_with("batch_norm"));
  EXPECT_EQ(context_.marked().size(), 2u);
  EXPECT_EQ(window_.source().view().highlighted_lines(), 1);
  QSignalSpy lines(&context_, &Context::sourceRequested);
  QTest::mouseDClick(page().table().viewport(), Qt::LeftButton, {},
                     page().table().visualRect(page().table().currentIndex().siblingAtColumn(0)).center());
  ASSERT_EQ(lines.size(), 1);
  EXPECT_EQ(lines[0][1].toInt(), 24);
}

TEST_F(ProfilePage, ATraceThatGrowsIsReadAgain) {
  Writer writer(folder_ / "live.strata");
  RunRecord run;
  run.label = "profile";
  run.id = writer.add(run);
  const auto work = [&](const char* name) {
    EventRecord e;
    e.run = run.id;
    e.name = name;
    e.category = "kernel";
    e.stream = 7;
    e.duration_ns = 1000;
    writer.add(e);
    writer.commit();
  };
  work("first");
  open("live.strata");
  EXPECT_EQ(page().table().model()->rowCount(), 1);
  work("second");
  EXPECT_TRUE(QTest::qWaitFor([&] { return page().table().model()->rowCount() == 2; }, 20000));
  writer.close();
}

TEST_F(ProfilePage, TheSelectionFindsItsRow) {
  test::write_sample_trace(folder_ / "own.strata", {2, false});
  open("own.strata");
  page().by().setCurrentIndex(1);
  for (const auto& node : context_.reader()->nodes(context_.compile()->find("scheduled")->id))
    if (node.name == "addmm") context_.select_node(node.id);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(page().table().currentIndex().siblingAtColumn(0).data().toString(), "aten.linear.default");
}

TEST_F(ProfilePage, RowsOfAnotherGraphShowIt) {
  test::write_sample_trace(folder_ / "own.strata", {2, true});
  open("own.strata");
  ASSERT_EQ(page().runs().count(), 2);
  const Id first = context_.compile()->compile.id;
  page().runs().setCurrentIndex(1);
  emit page().runs().activated(1);
  ASSERT_TRUE(settle(context_));
  page().by().setCurrentIndex(1);
  click(find("aten.conv2d.default"));
  EXPECT_NE(context_.compile()->compile.id, first);
  EXPECT_TRUE(context_.details()->node.name.starts_with("conv2d"));
}

TEST_F(ProfilePage, RowsAreFilteredAndSorted) {
  Imported made(folder_ / "p.strata", random_, false);
  open("p.strata");
  QAbstractItemModel& model = *page().table().model();
  EXPECT_EQ(model.rowCount(), 3);
  QTest::keyClicks(&page().filter_box(), "MEMCPY");
  EXPECT_EQ(model.rowCount(), 1);
  page().filter_box().clear();
  page().table().sortByColumn(4, Qt::AscendingOrder);
  for (int r = 1; r < model.rowCount(); ++r)
    EXPECT_LE(model.index(r - 1, 4).data(SortRole).toDouble(), model.index(r, 4).data(SortRole).toDouble());
}

}  // namespace
}  // namespace strata::studio
