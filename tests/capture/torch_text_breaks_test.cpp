// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "capture/torch_text/break_reason.h"
#include "capture/torch_text/python_traceback.h"
#include "tests/capture/torch_text_testing.h"

namespace strata::capture {
namespace {

using namespace strata::testing;

std::vector<GraphBreakText> breaks_of(const std::string& name) {
  std::vector<GraphBreakText> found;
  for (const auto& r : log_records(slurp(torch_data(name))))
    if (r.is_artifact("dynamo_graph_break_reason")) found.push_back(parse_graph_break(r.payload));
  return found;
}

TEST(TorchTextBreaks, EveryKindOfTheBreaksLog) {
  const auto breaks = breaks_of("logs/breaks_many.log.gz");
  const std::vector<std::pair<int, std::string>> expected = {
      {235, "Data-dependent branching"},
      {237, "logging.Logger method not supported for non-export cases"},
      {238, "Skip calling `torch.compiler.disable()`d function"},
      {239, "Unsupported Tensor.item() call with capture_scalar_outputs=False"},
      {241, "Call to `torch._dynamo.graph_break()`"},
      {245, "Dynamic shape operator"},
      {237, "logging.Logger method not supported for non-export cases"},
      {241, "Call to `torch._dynamo.graph_break()`"}};
  ASSERT_EQ(breaks.size(), expected.size());
  for (std::size_t i = 0; i < breaks.size(); ++i) {
    EXPECT_EQ(breaks[i].line, expected[i].first);
    EXPECT_EQ(breaks[i].kind, expected[i].second);
    EXPECT_EQ(breaks[i].file, "/home/user/app/cases.py");
    EXPECT_FALSE(breaks[i].explanation.empty());
    EXPECT_FALSE(breaks[i].hints.empty());
    EXPECT_TRUE(breaks[i].link.starts_with("https://")) << breaks[i].link;
    ASSERT_EQ(breaks[i].stack.size(), 3u);
    EXPECT_EQ(breaks[i].stack.back().line, expected[i].first);
    EXPECT_EQ(breaks[i].stack.back().function, "f");
    EXPECT_FALSE(breaks[i].stack.back().text.empty());
  }
  EXPECT_EQ(breaks[0].context, "attempted to jump with TensorVariable()");
  EXPECT_EQ(breaks[0].hints.size(), 2u);
  EXPECT_TRUE(breaks[0].error.empty());
  EXPECT_EQ(parse_python_error(breaks[5].error).type, "torch._dynamo.exc.Unsupported");
}

TEST(TorchTextBreaks, PlaceAndKindOfEveryLogAsFoundByPattern) {
  std::size_t seen = 0;
  for (const std::string& path : all_logs())
    for (const auto& r : log_records(slurp(path))) {
      if (!r.is_artifact("dynamo_graph_break_reason")) continue;
      ++seen;
      const GraphBreakText parsed = parse_graph_break(r.payload);
      const auto match = Pattern("in user code at (.+):([0-9]+)").find(r.payload);
      ASSERT_FALSE(match.empty());
      EXPECT_EQ(parsed.file, match[1]);
      EXPECT_EQ(parsed.line, std::stol(match[2]));
      EXPECT_FALSE(parsed.kind.empty());
      EXPECT_NE(r.payload.find(parsed.kind), std::string::npos) << parsed.kind;
      const std::size_t hints = count_lines(r.payload.substr(0, r.payload.find("User code traceback")), R"(^  Hint: )");
      EXPECT_EQ(parsed.hints.size(), hints) << r.payload;
    }
  EXPECT_GE(seen, 15u);
}

TEST(TorchTextBreaks, ASkippedFunctionSaysWhatWasTried) {
  const auto breaks = breaks_of("logs/backend_error.log.gz");
  ASSERT_EQ(breaks.size(), 1u);
  EXPECT_EQ(breaks[0].kind, "Observed exception");
  EXPECT_TRUE(breaks[0].preamble.starts_with("Failed to handle graph break gracefully"));
}

TEST(TorchTextBreaks, ExplanationsOfSeveralParagraphs) {
  const auto breaks = breaks_of("text/torch_trace_train.log.gz");
  ASSERT_EQ(breaks.size(), 6u);
  EXPECT_NE(breaks[0].explanation.find("gt = gt(sum_1, 0)"), std::string::npos) << breaks[0].explanation;
  EXPECT_EQ(breaks[0].hints.size(), 3u);
  EXPECT_EQ(breaks[1].kind, "Failed to trace builtin operator");
  EXPECT_EQ(breaks[3].stack.back().line, 25);
}

TEST(TorchTextBreaks, OlderWordings) {
  const GraphBreakText old = parse_graph_break(
      "Graph break in user code at /home/user/app/m.py:12\n"
      "Reason: Unsupported: call_function BuiltinVariable(print) [ConstantVariable()] {}\n"
      "User code traceback:\n"
      "  File \"/home/user/app/m.py\", line 30, in main\n"
      "    f(x)\n"
      "  File \"/home/user/app/m.py\", line 12, in f\n"
      "    print('x')\n"
      "Traceback (most recent call last):\n"
      "  File \"/usr/lib/torch/a.py\", line 1, in g\n"
      "    raise Unsupported(msg)\n"
      "torch._dynamo.exc.Unsupported: call_function BuiltinVariable(print)\n");
  EXPECT_EQ(old.line, 12);
  EXPECT_EQ(old.kind, "call_function BuiltinVariable(print) [ConstantVariable()] {}");
  ASSERT_EQ(old.stack.size(), 2u);
  EXPECT_EQ(old.stack[1].text, "print('x')");
  const GraphBreakText oldest = parse_graph_break(
      "Graph break: from user code at:\n  File \"/home/user/app/m.py\", line 5, in f\n    y = x.item()\n");
  EXPECT_EQ(oldest.file, "/home/user/app/m.py");
  EXPECT_EQ(oldest.line, 5);
  const GraphBreakText again = parse_graph_break(
      "Graph break (user stack suppressed due to duplicate graph break) in user code at /a b/m.py:26\n"
      "Graph Break Reason: Call to `torch._dynamo.graph_break()`\n");
  EXPECT_EQ(again.file, "/a b/m.py");
  EXPECT_EQ(again.line, 26);
}

TEST(TorchTextBreaks, AnyTextIsAReason) {
  EXPECT_EQ(parse_graph_break("something else").reason, "something else");
  EXPECT_EQ(parse_graph_break("").reason, "");
  EXPECT_EQ(parse_graph_break("Graph break in user code at :\nGraph Break Reason:").line, 0);
}

TEST(TorchTextTraceback, ChainsGiveTheLastException) {
  std::vector<PythonError> errors;
  for (const auto& r : log_records(slurp(torch_data("logs/backend_error.log.gz"))))
    if (r.is_artifact("dynamo_error")) errors.push_back(parse_python_error(r.payload));
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_EQ(errors[0].type, "torch._dynamo.exc.BackendCompilerFailed");
  EXPECT_EQ(errors[0].message, "backend='bad' raised:\nRuntimeError: backend exploded on purpose");
  EXPECT_TRUE(errors[0].advice.starts_with("Set TORCHDYNAMO_VERBOSE=1"));
  EXPECT_EQ(errors[0].stack.back().text, "def bad(gm, ex): raise RuntimeError(\"backend exploded on purpose\")");
  EXPECT_EQ(errors[3].type, "torch._dynamo.exc.TorchRuntimeError");
  ASSERT_EQ(errors[3].user_stack.size(), 1u);
  EXPECT_EQ(errors[3].user_stack[0].file, "/home/user/app/cases.py");
}

TEST(TorchTextTraceback, FramesWithAndWithoutCode) {
  std::size_t used = 0;
  const std::string text = "x\n  File \"a.py\", line 1, in f\n  File \"b.py\", line 2\n    y = (\n         ^\nend\n";
  const auto stack = parse_python_stack(text, &used);
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(stack[0].text, "");
  EXPECT_EQ(stack[1].text, "y = (");
  EXPECT_EQ(stack[1].function, "");
  EXPECT_EQ(text.substr(used), "end\n");
  EXPECT_TRUE(parse_python_error("plain words").type.empty());
}

}  // namespace
}  // namespace strata::capture
