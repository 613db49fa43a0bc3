// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Traces of real models, made by the strata command: imported from PyTorch, and our own.
#include <QAbstractItemModelTester>
#include <QAbstractItemView>
#include <QProcess>
#include <QSortFilterProxyModel>
#include <QTest>

#include "app/studio/views/main_window.h"
#include "tests/studio/monkey.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using test::Monkey;
using test::settle;
using test::TemporaryFolder;
namespace fs = std::filesystem;

struct Source {
  const char* name;
  QStringList arguments;  ///< of strata; OUT and DATA stand for the trace and the test data
  const char* needs =
      "";  ///< a file without which the test is skipped; MODELS stands for $STRATA_MODELS, BUILD for the build
  size_t stages = 1;  ///< at least so many in the first compile that has some
};

void PrintTo(const Source& source, std::ostream* out) { *out << source.name; }

const std::vector<Source>& sources() {
  static const std::vector<Source> all = {
      {"bert_imported",
       {"import", "DATA/torch/logs/bert.log.gz", "DATA/torch/profiles/bert_compiled.json.gz", "-o", "OUT"},
       "",
       4},
      {"cnn_fmnist_imported",
       {"import", "DATA/torch/logs/cnn_fmnist.log.gz", "DATA/torch/debug/cnn_fmnist",
        "DATA/torch/profiles/cnn_fmnist_compiled.json.gz", "-o", "OUT"},
       "",
       4},
      {"breaks_many", {"import", "DATA/torch/logs/breaks_many.log.gz", "-o", "OUT"}},
      {"recompiles", {"import", "DATA/torch/logs/recompiles.log.gz", "-o", "OUT"}},
      {"two_ranks",
       {"import", "DATA/torch/logs/ddp_rank_0.log.gz", "DATA/torch/logs/ddp_rank_1.log.gz",
        "DATA/torch/ddp/rank_0.json.gz", "DATA/torch/ddp/rank_1.json.gz", "-o", "OUT"},
       "",
       0},
      {"profile_alone", {"import", "DATA/torch/profiles/breaking_stacks_eager.json.gz", "-o", "OUT"}, "", 0},
      {"bert",
       {"run", "BUILD/models/bert/bert.pt2", "--repeat", "2", "--trace", "OUT"},
       "BUILD/models/bert/bert.pt2",
       8},
      {"densenet121",
       {"run", "MODELS/densenet121/densenet121.pt2", "--repeat", "2", "--trace", "OUT"},
       "MODELS/densenet121/densenet121.pt2",
       8}};
  return all;
}

QString filled(QString text, const fs::path& out) {
  return text.replace("OUT", QString::fromStdString(out.string()))
      .replace("DATA", STRATA_TEST_DATA)
      .replace("BUILD", STRATA_BINARY_DIR)
      .replace("MODELS", qEnvironmentVariable("STRATA_MODELS", "/nowhere"));
}

class RealTrace : public testing::TestWithParam<Source> {
 protected:
  void SetUp() override {
    const QString needed = filled(GetParam().needs, "");
    if (!needed.isEmpty() && !fs::exists(needed.toStdString())) GTEST_SKIP() << "there is no " << needed.toStdString();
    if (!fs::exists(STRATA_PROGRAM)) GTEST_SKIP() << "the strata command is not built";
    path_ = folder_ / "real.strata";
    QStringList arguments;
    for (const QString& word : GetParam().arguments) arguments << filled(word, path_);
    QProcess process;
    process.start(STRATA_PROGRAM, arguments);
    ASSERT_TRUE(process.waitForFinished(240000));
    ASSERT_EQ(process.exitCode(), 0) << process.readAllStandardError().toStdString();
    window_.resize(1280, 800);
    window_.show();
    window_.arrange();
    window_.open_file(QString::fromStdString(path_.string()));
    ASSERT_TRUE(settle(context_));
    // Logs without graphs leave compiles without stages, which is said.
    const int code = context_.exit_code();
    ASSERT_TRUE(code == 0 || (GetParam().stages == 0 && code == 2)) << context_.first_error().toStdString();
    said_ = context_.first_error();
  }
  void expect_fine(const std::string& where) {
    EXPECT_EQ(context_.first_error(), said_) << where << ": " << context_.first_error().toStdString();
  }
  QString said_;
  TemporaryFolder folder_;
  fs::path path_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_P(RealTrace, EveryPageStageAndSelection) {
  if (GetParam().stages > 0) {
    ASSERT_TRUE(context_.step_data());
    EXPECT_GE(context_.compile()->snapshots.size(), GetParam().stages);
  }
  // Models keep the rules of models whatever happens to them.
  std::vector<std::unique_ptr<QAbstractItemModelTester>> testers;
  for (QAbstractItemView* view : window_.findChildren<QAbstractItemView*>())
    if (view->model())
      testers.push_back(std::make_unique<QAbstractItemModelTester>(
          view->model(), QAbstractItemModelTester::FailureReportingMode::Fatal));
  Monkey monkey(context_, window_, 42);
  monkey.visit_all();
  expect_fine("pages");
  window_.show_view("inspector");
  std::vector<trace::Id> compiles;
  for (const auto& compile : context_.compiles()) compiles.push_back(compile.id);
  for (size_t c = 0; c < std::min<size_t>(compiles.size(), 3); ++c) {
    context_.select_compile(compiles[c]);
    ASSERT_TRUE(settle(context_));
    const auto compile = context_.compile();
    for (const auto& snapshot : compile->snapshots) {
      context_.select_snapshot(snapshot.id);
      ASSERT_TRUE(settle(context_)) << snapshot.stage;
      const StepPtr step = context_.step_data();
      ASSERT_TRUE(step);
      EXPECT_EQ(step->snapshot.id, snapshot.id);
      EXPECT_EQ(step->layout.nodes.size(), step->picture.nodes.size()) << snapshot.stage;
      if (step->nodes.empty()) continue;
      const trace::NodeId node = step->nodes[step->nodes.size() / 2].id;
      context_.select_node(node);
      ASSERT_TRUE(settle(context_)) << snapshot.stage;
      ASSERT_TRUE(context_.details());
      EXPECT_EQ(context_.details()->selection.node, node) << snapshot.stage;
    }
    if (!compile->kernels.empty()) {
      context_.select_kernel(compile->kernels.back().id);
      ASSERT_TRUE(settle(context_));
    }
  }
  EXPECT_TRUE(compiles.empty() || context_.exit_code() != 70) << context_.first_error().toStdString();
}

TEST_P(RealTrace, IsUsedAtRandom) {
  Monkey monkey(context_, window_, 4242);
  EXPECT_TRUE(monkey.play(Monkey::actions(100)));
  EXPECT_NE(context_.exit_code(), 70) << context_.first_error().toStdString();
}

INSTANTIATE_TEST_SUITE_P(Of, RealTrace, testing::ValuesIn(sources()), [](const auto& info) { return info.param.name; });

// ------------------------------------------------------------------------------------------------- synthetic, large

class LargeGraph : public testing::TestWithParam<int> {};

TEST_P(LargeGraph, OpensAndIsUsed) {
  TemporaryFolder folder;
  test::write_large_trace(folder / "large.strata", GetParam());
  Context context;
  MainWindow window(context, false);
  window.resize(1280, 800);
  window.show();
  window.open_file(QString::fromStdString((folder / "large.strata").string()));
  ASSERT_TRUE(settle(context));
  ASSERT_TRUE(context.step_data());
  EXPECT_EQ(context.step_data()->nodes.size(), static_cast<size_t>(GetParam()));
  Monkey monkey(context, window, 7);
  monkey.visit_all();
  EXPECT_TRUE(monkey.play(Monkey::actions(30)));
  EXPECT_EQ(context.exit_code(), 0) << context.first_error().toStdString();
}

INSTANTIATE_TEST_SUITE_P(Nodes, LargeGraph, testing::Values(10000, 40000), testing::PrintToStringParamName());

// -------------------------------------------------------------------------------------------------------- the program

TEST(Links, TheWindowNeedsNoCompiler) {
  QProcess ldd;
  ldd.start("ldd", {STRATA_STUDIO_BINARY});
  if (!ldd.waitForFinished(30000) || ldd.exitCode() != 0) GTEST_SKIP() << "ldd is not there";
  const QString libraries = ldd.readAllStandardOutput();
  EXPECT_TRUE(libraries.contains("libQt6Widgets")) << libraries.toStdString();
  for (const char* unwanted :
       {"libLLVM", "libclang", "libdnnl", "libtorch", "libcuda", "libnvrtc", "libcublas", "libpython"})
    EXPECT_FALSE(libraries.contains(unwanted, Qt::CaseInsensitive)) << unwanted;
}

}  // namespace
}  // namespace strata::studio
