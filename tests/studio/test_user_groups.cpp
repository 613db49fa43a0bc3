// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <QAction>
#include <QSettings>
#include <QTest>
#include <QTimer>

#include "app/studio/models/user_groups.h"
#include "app/studio/views/graph_controls.h"
#include "app/studio/views/main_window.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using draw::UserGroup;
using test::settle;
using testing::ElementsAre;

UserGroup group_of(const char* name, std::vector<trace::NodeId> nodes) {
  UserGroup group;
  group.name = name;
  group.nodes = std::move(nodes);
  return group;
}

class OwnGroups : public testing::Test {
 protected:
  QString trace(const char* name = "cnn.strata") {
    const auto path = folder_ / name;
    if (!std::filesystem::exists(path)) test::write_sample_trace(path, {2, true});
    return QString::fromStdString(path.string());
  }
  void open(Context& context, const char* name = "cnn.strata") {
    context.open({trace(name), "", "captured", ""});
    ASSERT_TRUE(settle(context));
    ASSERT_TRUE(context.step_data());
  }
  QString settings_file() { return QString::fromStdString((folder_ / "groups.ini").string()); }
  static std::vector<trace::NodeId> some(Context& context, size_t from, size_t to) {
    std::vector<trace::NodeId> ids;
    for (size_t i = from; i < to; ++i) ids.push_back(context.step_data()->nodes[i].id);
    return ids;
  }
  static std::vector<std::string> names(const UserGroups& groups) {
    std::vector<std::string> result;
    for (const auto& group : groups.all()) result.push_back(group.name);
    return result;
  }
  static int frame(Context& context, const std::string& key) {
    const auto& frames = context.step_data()->picture.groups;
    for (size_t g = 0; g < frames.size(); ++g)
      if (frames[g].module == key) return static_cast<int>(g);
    return -1;
  }
  test::TemporaryFolder folder_;
};

TEST_F(OwnGroups, AreTextAndBack) {
  UserGroup group = group_of("a \"b\"\n", {1, 4611686018427387905});
  group.rule = UserGroup::Rule::Query;
  group.text = "dtype=f32";
  UserGroup again;
  ASSERT_TRUE(from_json(to_json(group), again));
  EXPECT_EQ(again, group);
  for (const char* text : {"", "{}", "[1]", "{\"name\":\"x\"}", "{\"name\":\"x\",\"rule\":99}", "nonsense"})
    EXPECT_FALSE(from_json(text, again)) << text;
}

TEST_F(OwnGroups, AreMadeRenamedAndTakenApart) {
  Context context;
  UserGroups groups(context, false);
  open(context);
  EXPECT_EQ(groups.add(group_of("mine", some(context, 3, 7))), "mine");
  EXPECT_EQ(groups.add(group_of(" mine ", some(context, 8, 9))), "mine 2");
  EXPECT_EQ(groups.add(group_of("empty", {})), "");
  ASSERT_TRUE(settle(context));
  ASSERT_GE(frame(context, "group:mine"), 0);
  EXPECT_FALSE(groups.rename("mine", "mine 2"));
  EXPECT_FALSE(groups.rename("mine", "  "));
  EXPECT_FALSE(groups.rename("nobody", "x"));
  EXPECT_TRUE(groups.rename("mine", "other"));
  ASSERT_TRUE(settle(context));
  EXPECT_GE(frame(context, "group:other"), 0);
  EXPECT_EQ(groups.at("group:other", 0), "other");
  EXPECT_EQ(groups.at("", some(context, 4, 5)[0]), "other");
  EXPECT_EQ(groups.at("", some(context, 0, 1)[0]), "");
  groups.remove("other");
  EXPECT_THAT(names(groups), ElementsAre("mine 2"));
}

TEST_F(OwnGroups, ComeIntoSightWhereNothingIsGrouped) {
  Context context;
  UserGroups groups(context, false);
  open(context);
  draw::DrawOptions options = context.options();
  options.groups = false;
  options.group_by = draw::GroupBy::None;
  context.set_options(options);
  groups.add(group_of("mine", some(context, 3, 7)));
  ASSERT_TRUE(settle(context));
  EXPECT_EQ(context.step_data()->picture.grouped_by, draw::GroupBy::User);
  EXPECT_EQ(context.step_data()->picture.groups.size(), 1u);
}

TEST_F(OwnGroups, AreKeptForEachTraceAndCompile) {
  {
    Context context;
    UserGroups groups(context, true, settings_file());
    open(context);
    groups.add(group_of("kept", some(context, 3, 7)));
    groups.add(draw::UserGroup{"ruled", {}, UserGroup::Rule::Operator, "relu"});
    ASSERT_TRUE(settle(context));
    ASSERT_EQ(context.compiles().size(), 2u);
    context.select_compile(context.compiles()[1].id);
    ASSERT_TRUE(settle(context));
    EXPECT_THAT(names(groups), ElementsAre()) << "another compile";
    context.select_compile(context.compiles()[0].id);
    ASSERT_TRUE(settle(context));
    EXPECT_THAT(names(groups), ElementsAre("kept", "ruled"));
    open(context, "other.strata");
    EXPECT_THAT(names(groups), ElementsAre()) << "another trace";
  }
  Context context;
  UserGroups groups(context, true, settings_file());
  open(context);
  EXPECT_THAT(names(groups), ElementsAre("kept", "ruled"));
  EXPECT_GE(frame(context, "group:kept"), 0);
  groups.remove("kept");
  groups.remove("ruled");
  EXPECT_TRUE(QSettings(settings_file(), QSettings::IniFormat).allKeys().isEmpty());
}

TEST_F(OwnGroups, WhatWasWrittenByOthersDoesNoHarm) {
  {
    Context context;
    UserGroups groups(context, true, settings_file());
    open(context);
    groups.add(group_of("kept", some(context, 3, 7)));
  }
  {
    QSettings settings(settings_file(), QSettings::IniFormat);
    const QString key = settings.allKeys().value(0);
    QStringList lines = settings.value(key).toStringList();
    lines << "{" << "{\"name\":\"odd\",\"rule\":3,\"text\":\"((\"}" << "{\"name\":\"gone\",\"nodes\":[\"99999\"]}";
    settings.setValue(key, lines);
  }
  Context context;
  UserGroups groups(context, true, settings_file());
  open(context);
  EXPECT_THAT(names(groups), ElementsAre("kept", "odd", "gone"));
  EXPECT_EQ(context.step_data()->picture.groups.size(), 1u) << "groups without nodes here have no frame";
  EXPECT_EQ(context.exit_code(), 0);
}

TEST_F(OwnGroups, EveryChangeCanBeTakenBack) {
  Context context;
  GroupHistory history(context);
  UserGroups groups(context, false);
  open(context);
  EXPECT_FALSE(context.undo().canUndo());
  groups.add(group_of("mine", some(context, 3, 7)));
  draw::DrawOptions options = context.options();
  options.opened["group:mine"] = false;
  context.set_options(options);
  options.group_by = draw::GroupBy::Modules;
  context.set_options(options);
  options.colour_by = draw::ColourBy::Bytes;
  context.set_options(options);
  EXPECT_EQ(context.undo().count(), 3) << "colours are no change of the layout";
  EXPECT_EQ(context.undo().undoText(), "grouping");
  context.undo().undo();
  EXPECT_EQ(context.options().group_by, draw::DrawOptions().group_by);
  EXPECT_EQ(context.options().colour_by, draw::ColourBy::Bytes);
  EXPECT_EQ(context.undo().undoText(), "collapse");
  context.undo().undo();
  EXPECT_TRUE(context.options().opened.at("group:mine"));
  context.undo().undo();
  EXPECT_TRUE(groups.all().empty());
  EXPECT_FALSE(context.undo().canUndo());
  while (context.undo().canRedo()) context.undo().redo();
  EXPECT_THAT(names(groups), ElementsAre("mine"));
  EXPECT_FALSE(context.options().opened.at("group:mine"));
  EXPECT_EQ(context.options().group_by, draw::GroupBy::Modules);
  ASSERT_TRUE(settle(context));
  // In another compile the groups of this one are left alone.
  context.select_compile(context.compiles()[1].id);
  ASSERT_TRUE(settle(context));
  while (context.undo().canUndo()) context.undo().undo();
  EXPECT_TRUE(groups.all().empty());
  while (context.undo().canRedo()) context.undo().redo();
  EXPECT_TRUE(groups.all().empty());
}

TEST(GroupDialogs, TakeNodesOrARule) {
  GroupDialog dialog({{"the selection (1 node)", {7}}, {"what was found (2 nodes)", {8, 9}}}, "mine");
  EXPECT_TRUE(dialog.ok_button().isEnabled());
  EXPECT_THAT(dialog.group().nodes, ElementsAre(8, 9)) << "more than the selected node";
  dialog.choices().button(0)->click();
  EXPECT_THAT(dialog.group().nodes, ElementsAre(7));
  QTest::keyClicks(&dialog.rule_box(), "dtpye=f32");
  EXPECT_EQ(dialog.choices().checkedId(), 2) << "who types a rule means it";
  EXPECT_FALSE(dialog.ok_button().isEnabled());
  EXPECT_TRUE(dialog.error_text().contains("no key 'dtpye'")) << dialog.error_text().toStdString();
  dialog.rule_box().clear();
  QTest::keyClicks(&dialog.rule_box(), "op:relu");
  EXPECT_TRUE(dialog.ok_button().isEnabled());
  EXPECT_EQ(dialog.group().rule, UserGroup::Rule::Operator);
  EXPECT_TRUE(dialog.group().nodes.empty());
  dialog.name_box().clear();
  EXPECT_FALSE(dialog.ok_button().isEnabled());
}

class GroupWindow : public OwnGroups {
 protected:
  void SetUp() override {
    window_.resize(1280, 800);
    window_.show();
    open(context_);
  }
  void trigger(const QString& text) {
    for (QAction* found : window_.findChildren<QAction*>())
      if (found->text() == text) return found->trigger();
    ADD_FAILURE() << "no action " << text.toStdString();
  }
  /// Does something with the dialog that is about to open.
  void when_asked(const std::function<void(GroupDialog&)>& then) {
    QTimer::singleShot(50, &window_, [this, then] {
      auto* dialog = window_.findChild<GroupDialog*>();
      ASSERT_TRUE(dialog);
      then(*dialog);
    });
  }
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(GroupWindow, FoundNodesBecomeAGroupByKeysAndGoAgain) {
  QTest::keyClicks(&window_.search_box(), "conv2d");
  QTest::keyClick(&window_.search_box(), Qt::Key_Return);
  ASSERT_TRUE(settle(context_));
  const size_t found = context_.marked().size();
  ASSERT_GT(found, 1u);
  bool asked = false;
  when_asked([&](GroupDialog& dialog) {
    asked = true;
    EXPECT_FALSE(dialog.grab().isNull());
    dialog.name_box().setText("convolutions");
    dialog.choices().button(1)->click();
    dialog.ok_button().click();
  });
  trigger("&Group these nodes …");
  ASSERT_TRUE(asked);
  ASSERT_TRUE(settle(context_));
  const int at = frame(context_, "group:convolutions");
  ASSERT_GE(at, 0);
  EXPECT_EQ(context_.step_data()->picture.groups[static_cast<size_t>(at)].nodes.size(), found);
  // Collapsed and expanded in place like a module.
  GraphView& graph = window_.graph();
  graph.toggle_module("group:convolutions");
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.step_data()
                ->picture.nodes[static_cast<size_t>(context_.step_data()->picture.find(context_.marked()[0]))]
                .members.size(),
            found);
  EXPECT_FALSE(window_.grab().isNull());
  context_.undo().undo();
  ASSERT_TRUE(settle(context_));
  EXPECT_GE(frame(context_, "group:convolutions"), 0);
  EXPECT_EQ(graph.group_key(), "group:convolutions");
  trigger("&Ungroup");
  ASSERT_TRUE(settle(context_));
  EXPECT_LT(frame(context_, "group:convolutions"), 0);
  context_.undo().undo();
  ASSERT_TRUE(settle(context_));
  EXPECT_GE(frame(context_, "group:convolutions"), 0);
}

TEST_F(GroupWindow, AGroupedTraceGoesThroughAllStagesAndFiles) {
  auto* colours = window_.findChild<ColourBox*>();
  ASSERT_TRUE(colours);
  UserGroups* groups = window_.findChild<UserGroups*>();
  ASSERT_TRUE(groups);
  groups->add(draw::UserGroup{"pointwise", {}, UserGroup::Rule::Operator, "relu"});
  ASSERT_TRUE(settle(context_));
  for (int i = 0; i < 9; ++i) {
    colours->setCurrentIndex(i % colours->count());
    emit colours->activated(i % colours->count());
    ASSERT_TRUE(settle(context_));
    EXPECT_FALSE(window_.grab().isNull());
    if (!context_.step_data()->nodes.empty()) {
      const auto path = folder_ / fmt::format("stage{}.svg", i);
      window_.export_to(QString::fromStdString(path.string()));
      ASSERT_TRUE(settle(context_));
      EXPECT_GT(std::filesystem::file_size(path), 500u);
    }
    context_.step(1);
    ASSERT_TRUE(settle(context_));
  }
  EXPECT_EQ(context_.exit_code(), 0) << context_.first_error().toStdString();
}

}  // namespace
}  // namespace strata::studio
