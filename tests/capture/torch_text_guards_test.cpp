// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "capture/torch_text/guard_tree.h"
#include "tests/capture/torch_text_testing.h"

namespace strata::capture {
namespace {

using namespace strata::testing;

const GuardText* find(const GuardTree& tree, const std::string& code) {
  for (const GuardText& guard : tree.guards)
    if (guard.code == code) return &guard;
  return nullptr;
}

std::vector<LogRecord> trees(const std::string& path) {
  std::vector<LogRecord> found;
  for (LogRecord& r : log_records(slurp(path)))
    if (r.is("dynamo_cpp_guards_str")) found.push_back(std::move(r));
  return found;
}

TEST(TorchTextGuards, LeavesAndManagersOfEveryLogAsCountedByPattern) {
  std::size_t logs = 0, leaves = 0;
  for (const std::string& path : all_logs()) {
    ++logs;
    for (const LogRecord& r : trees(path)) {
      const GuardTree tree = parse_guard_tree(r.payload);
      const std::size_t expected = count_lines(r.payload, R"(^([|] )*[+]- [A-Z_0-9]+(:|$))");
      const std::size_t branches = count_lines(r.payload, R"(^([|] )*[+]- )");
      ASSERT_EQ(tree.guards.size(), expected) << path << " " << r.address();
      EXPECT_EQ(static_cast<std::size_t>(tree.managers), branches - expected) << path;
      EXPECT_GT(tree.latency_ns, 0) << path;
      leaves += tree.guards.size();
    }
  }
  EXPECT_GE(logs, 14u);
  EXPECT_GT(leaves, 1000u);
}

TEST(TorchTextGuards, EveryLeafOfEveryLogHasCodeAndThePlaceItsLineNames) {
  const Pattern place("# [(]?([^# ()][^ ]*):([0-9]+) in ([^ ()]+)");
  for (const std::string& path : all_logs())
    for (const LogRecord& r : trees(path)) {
      for (const GuardText& guard : parse_guard_tree(r.payload).guards) {
        EXPECT_FALSE(guard.code.empty()) << path << "\n" << guard.detail;
        EXPECT_EQ(guard.code.find("  # "), std::string::npos) << guard.detail;
        const auto match = place.find(guard.detail);
        if (match.empty()) {
          EXPECT_TRUE(guard.file.empty() || guard.file.starts_with("<frozen ")) << guard.detail;
          continue;
        }
        EXPECT_EQ(guard.line, std::stol(match[2])) << guard.detail;
        EXPECT_EQ(guard.function, match[3]) << guard.detail;
      }
    }
}

TEST(TorchTextGuards, PartsOfALeaf) {
  const auto all = trees(torch_data("logs/recompiles.log.gz"));
  ASSERT_EQ(all.size(), 8u);
  const GuardTree tree = parse_guard_tree(all[0].payload);
  ASSERT_EQ(tree.guards.size(), 12u);
  EXPECT_DOUBLE_EQ(tree.latency_ns, 57390);
  const GuardText* equal = find(tree, "L['n'] == 2");
  ASSERT_NE(equal, nullptr);
  EXPECT_EQ(equal->kind, "EQUALS_MATCH");
  EXPECT_EQ(equal->source, "L['n']");
  EXPECT_EQ(equal->type, "<class 'int'>");
  EXPECT_EQ(equal->line_text, "y = x * n * GLOBAL_SCALE");
  EXPECT_EQ(equal->line, 195);
  EXPECT_EQ(equal->function, "f");
  EXPECT_EQ(equal->path, "RootGuardManager > FrameLocalsGuardAccessor(key='n', framelocals_idx=1)");
  const GuardText* type = find(tree, "___check_type_id(L['names'], 10729632), type=<class 'list'>");
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->hint, "type list");
  EXPECT_EQ(type->line_text, "if flag: y = y + len(names)");
}

TEST(TorchTextGuards, ShapeGuardsKeepThePlaceOfTheirUser) {
  const auto all = trees(torch_data("logs/dynamic_shapes.log.gz"));
  ASSERT_EQ(all.size(), 3u);
  const GuardTree tree = parse_guard_tree(all[1].payload);
  const GuardText* two = find(tree, "2 <= L['x'].size()[0] <= 2147483647");
  ASSERT_NE(two, nullptr);
  EXPECT_EQ(two->kind, "LAMBDA_GUARD");
  EXPECT_EQ(two->source, "L['x'].size()[0]");
  EXPECT_EQ(two->line, 187);
  EXPECT_EQ(two->line_text, "def f(x, w): return F.gelu(x @ w).softmax(-1) * x.shape[0]");
  EXPECT_NE(two->note.find("0/1 specialization"), std::string::npos);
  const GuardText* wide = find(tree, "64*L['x'].size()[0] <= 2147483647");
  ASSERT_NE(wide, nullptr);
  EXPECT_EQ(wide->file, "_inductor/codegen/simd.py");
  EXPECT_EQ(wide->line, 1877);
}

TEST(TorchTextGuards, ARelationListedAgainHasTheCodeOfTheFirst) {
  const auto all = trees(torch_data("logs/dynamic_shapes.log.gz"));
  std::vector<GuardText> aliasing;
  for (const GuardText& guard : parse_guard_tree(all[0].payload).guards)
    if (guard.kind == "NO_TENSOR_ALIASING") aliasing.push_back(guard);
  ASSERT_EQ(aliasing.size(), 2u);
  EXPECT_FALSE(aliasing[0].repeated);
  EXPECT_TRUE(aliasing[1].repeated);
  EXPECT_EQ(aliasing[1].code, aliasing[0].code);
  EXPECT_NE(aliasing[1].source, aliasing[0].source);
}

TEST(TorchTextGuards, ValuesWithLineEndsHashesAndQuotes) {
  const GuardTree tree = parse_guard_tree(
      "TREE_GUARD_MANAGER:\n"
      "+- RootGuardManager\n"
      "| +- GuardManager: source=L['s, type=x'], accessed_by=A(key='a, type=b'), type=<class 'str'>\n"
      "| | +- EQUALS_MATCH: L['s'] == 'a  # b:3 in c'   # y = s  # noqa: E1  # app/m.py:7 in f\n"
      "| | +- EQUALS_MATCH: L['t'] == <obj it's\n"
      "of two lines>  # z = t  # app/m.py:8 in <listcomp>\n"
      "| +- KeyValueManager pair at index=0\n"
      "| | +- KeyManager: GuardManager: source=list(L['d'].keys())[0], type=<class 'str'>\n"
      "| | | +- EQUALS_MATCH: list(L['d'].keys())[0] == 'k'\n"
      "\n"
      "Guard eval latency = 1.50 ms\n");
  ASSERT_EQ(tree.guards.size(), 3u);
  EXPECT_EQ(tree.managers, 4);
  EXPECT_DOUBLE_EQ(tree.latency_ns, 1.5e6);
  EXPECT_EQ(tree.guards[0].code, "L['s'] == 'a  # b:3 in c'");
  EXPECT_EQ(tree.guards[0].line_text, "y = s  # noqa: E1");
  EXPECT_EQ(tree.guards[0].file, "app/m.py");
  EXPECT_EQ(tree.guards[0].source, "L['s, type=x']");
  EXPECT_EQ(tree.guards[0].path, "RootGuardManager > A(key='a, type=b')");
  EXPECT_EQ(tree.guards[1].code, "L['t'] == <obj it's\nof two lines>");
  EXPECT_EQ(tree.guards[1].function, "<listcomp>");
  EXPECT_EQ(tree.guards[2].source, "list(L['d'].keys())[0]");
  EXPECT_EQ(tree.guards[2].path, "RootGuardManager > KeyValueManager pair at index=0 > KeyManager: GuardManager");
}

TEST(TorchTextGuards, SingleConditionsOfOldLogs) {
  const GuardText guard =
      parse_guard_code("hasattr(L['x'], '_dynamo_dynamic_indices') == False  # y = x + 1  # m.py:3 in f");
  EXPECT_EQ(guard.kind, "HASATTR");
  EXPECT_EQ(guard.source, "L['x']");
  EXPECT_EQ(guard.line, 3);
  EXPECT_EQ(guess_guard_kind("L['self'].training == True"), "TRUE_MATCH");
  EXPECT_EQ(guarded_source("len(L['self']._modules['a b'].w) == 3"), "L['self']._modules['a b'].w");
  EXPECT_EQ(guarded_source("___check_global_state()"), "");
}

TEST(TorchTextGuards, CutPathsAreCompletedOnlyWhereThatIsCertain) {
  KnownFiles files;
  files.add("/home/user/app/cases.py", 195, "y = x * n");
  files.add("/usr/lib/python3/site-packages/torch/nn/modules/conv.py");
  EXPECT_EQ(files.resolve("ome/user/app/cases.py"), "/home/user/app/cases.py");
  EXPECT_EQ(files.resolve("nn/modules/conv.py"), "/usr/lib/python3/site-packages/torch/nn/modules/conv.py");
  EXPECT_EQ(files.resolve("other/place/cases.py"), "other/place/cases.py");
  EXPECT_EQ(files.resolve("other/place/cases.py", 195, "y = x * n"), "/home/user/app/cases.py");
  files.add("/srv/cases.py", 195, "y = x * n");
  EXPECT_EQ(files.resolve("other/place/cases.py", 195, "y = x * n"), "other/place/cases.py");
  EXPECT_EQ(files.resolve("/absolute/cases.py", 195, "y = x * n"), "/absolute/cases.py");
}

TEST(TorchTextGuards, NoiseIsNoGuard) {
  for (const char* text :
       {"", "\n\n", "+-", "| | | ", "+- ", "Guard latency = nan us", "+- lower: x", "TREE_GUARD_MANAGER:"})
    EXPECT_TRUE(parse_guard_tree(text).guards.empty()) << text;
  EXPECT_EQ(parse_guard_tree("+- A_B: x").guards.size(), 1u);
}

}  // namespace
}  // namespace strata::capture
