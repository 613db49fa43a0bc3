// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "capture/torch_text/guard_tree.h"
#include "capture/torch_text/recompile_reason.h"
#include "capture/torch_text/shapes.h"
#include "tests/capture/torch_text_testing.h"

namespace strata::capture {
namespace {

using namespace strata::testing;

/// What a log says about its compiles: guards, values of symbols, recompile reasons, by address.
struct Log {
  std::map<std::string, std::vector<trace::GuardRecord>> guards;
  std::map<std::string, std::vector<ObservedValue>> values;
  std::vector<std::pair<std::string, std::vector<RecompileText>>> recompiles;
};

/// The text between `"key": "` and the next quote.
std::string field(const std::string& envelope, const std::string& key) {
  const std::size_t at = envelope.find("\"" + key + "\": \"");
  if (at == std::string::npos) return {};
  const std::size_t start = at + key.size() + 5;
  return envelope.substr(start, envelope.find('"', start) - start);
}

Log read(const std::string& path) {
  Log log;
  for (const auto& r : log_records(slurp(path))) {
    if (r.is("dynamo_cpp_guards_str"))
      for (const GuardText& g : parse_guard_tree(r.payload).guards) log.guards[r.address()].push_back(guard_record(g));
    if (r.is("create_symbol"))
      log.values[r.address()].push_back({field(r.envelope, "source"), field(r.envelope, "val")});
    if (r.is_artifact("recompile_reasons"))
      log.recompiles.emplace_back(r.address(), parse_recompile_reasons(r.payload));
  }
  for (auto& [address, reasons] : log.recompiles)
    for (RecompileText& reason : reasons) derive_actual(reason, log.guards[address], log.values[address]);
  return log;
}

TEST(TorchTextRecompiles, NewestReasonOfEachRecompile) {
  const Log log = read(torch_data("logs/recompiles.log.gz"));
  struct Expected {
    std::string of, form, source, expected, actual;
    bool derived;
  };
  const std::vector<Expected> expected = {
      {"0/0", "value", "n", "2", "3", true},           {"0/1", "type", "n", "int", "float", true},
      {"0/2", "type", "n", "float", "int", true},      {"0/3", "dtype", "x", "Float", "Double", false},
      {"0/4", "dtype", "x", "Double", "Float", false}, {"0/5", "length", "names", "2", "1", true},
      {"0/6", "requires_grad", "x", "0", "1", true},   {"0/7", "requires_grad", "x", "1", "0", true}};
  ASSERT_EQ(log.recompiles.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [address, reasons] = log.recompiles[i];
    EXPECT_EQ(address, "0/" + std::to_string(i + 1));
    ASSERT_EQ(reasons.size(), i + 1);
    const RecompileText& r = reasons.front();
    EXPECT_EQ(r.of, expected[i].of);
    EXPECT_EQ(form_name(r.form), expected[i].form);
    EXPECT_EQ(r.source, expected[i].source);
    EXPECT_EQ(r.expected, expected[i].expected);
    EXPECT_EQ(r.actual, expected[i].actual) << address;
    EXPECT_EQ(r.derived, expected[i].derived);
  }
}

TEST(TorchTextRecompiles, EveryReasonNamesAGuardOfItsCompile) {
  std::size_t reasons = 0;
  for (const std::string& path : all_logs()) {
    const Log log = read(path);
    for (const auto& [address, list] : log.recompiles)
      for (const RecompileText& r : list) {
        ++reasons;
        ASSERT_TRUE(log.guards.contains(r.of)) << path << " " << r.detail;
        const trace::GuardRecord* guard = find_guard(r, log.guards.at(r.of));
        ASSERT_NE(guard, nullptr) << path << "\n" << r.detail;
        const std::string source = plain_names(r.source);
        EXPECT_NE(plain_names(guard->detail).find(source.substr(0, source.find(".size"))), std::string::npos)
            << r.detail;
      }
  }
  EXPECT_GE(reasons, 75u);
}

TEST(TorchTextRecompiles, CountsAsInTheLogs) {
  for (const std::string& path : all_logs())
    for (const auto& r : log_records(slurp(path))) {
      if (!r.is_artifact("recompile_reasons")) continue;
      const bool list = r.payload.starts_with("[");
      const std::size_t expected = list ? count_lines(r.payload, R"(^"!?[0-9]+/[0-9]+)") : 1;
      EXPECT_EQ(parse_recompile_reasons(r.payload).size(), expected) << r.payload;
    }
}

TEST(TorchTextRecompiles, SizesOfTheShapesLog) {
  const Log log = read(torch_data("logs/dynamic_shapes.log.gz"));
  ASSERT_EQ(log.recompiles.size(), 2u);
  const RecompileText& first = log.recompiles[0].second.at(0);
  EXPECT_EQ(first.form, RecompileForm::Size);
  EXPECT_EQ(first.index, 0);
  EXPECT_EQ(first.expected, "8");
  EXPECT_EQ(first.actual, "9");
  EXPECT_FALSE(first.derived);
  const RecompileText& second = log.recompiles[1].second.at(0);
  EXPECT_EQ(second.form, RecompileForm::Shape);
  EXPECT_EQ(second.source, "x");
  EXPECT_EQ(second.index, 0);
  EXPECT_EQ(second.actual, "1");
  EXPECT_TRUE(second.derived);
  EXPECT_EQ(second.place.line, 187);
}

TEST(TorchTextRecompiles, FloatsFromBreaks) {
  const Log log = read(torch_data("logs/breaks_many.log.gz"));
  ASSERT_EQ(log.recompiles.size(), 1u);
  const RecompileText& r = log.recompiles[0].second.at(0);
  EXPECT_EQ(r.expected, "2.6829419136047363");
  EXPECT_EQ(r.actual, "0.8414709568023682");
  EXPECT_EQ(r.stack.size(), 1u);
}

TEST(TorchTextRecompiles, EveryForm) {
  struct Case {
    std::string text, form, source, expected, actual;
  };
  const std::vector<Case> cases = {
      {"0/1: tensor 'x' stride mismatch at index 1. expected 4, actual 1", "stride", "x", "4", "1"},
      {"tensor 'L['x']' size mismatch at index 0. expected 8, actual 16", "size", "L['x']", "8", "16"},
      {"0/0: tensor 'x' rank mismatch. expected 1, actual 2", "rank", "x", "1", "2"},
      {"0/0: tensor 'x' requires_grad mismatch. expected requires_grad=1", "requires_grad", "x", "1", ""},
      {"0/0: tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, A), actual DispatchKeySet(CUDA, A)",
       "dispatch_keys", "x", "DispatchKeySet(CPU, A)", "DispatchKeySet(CUDA, A)"},
      {"0/0: tensor 'x' Tensor device index mismatch. Expected device index to be 0, actual 1", "device", "x", "0",
       "1"},
      {"0/0: expected type of 'x' to be a tensor type, but found <class 'NoneType'>", "type", "x", "torch.Tensor",
       "NoneType"},
      {"0/0: not ___dict_contains('k', L['d'])", "contains", "L['d']", "no key 'k'", "present"},
      {"0/0: hasattr(L['x'], '_dynamo_dynamic_indices') == False", "attribute", "L['x']",
       "no attribute '_dynamo_dynamic_indices'", "present"},
      {"0/0: ___check_obj_id(L['f'], 1399), type=<built-in function len>", "identity", "L['f']",
       "<built-in function len>", ""},
      {"0/0: len(L['names']) == 1", "length", "L['names']", "1", ""},
      {"0/0: L['self'].training == True", "value", "L['self'].training", "True", ""},
      {"0/0: L['m'] is None", "value", "L['m']", "None", ""},
      {"0/0: L['s'] == 'a == b'", "value", "L['s']", "'a == b'", ""},
      {"0/0: Eq(s0, 3)", "shape", "", "Eq(s0, 3)", ""},
      {"0/0: GLOBAL_STATE changed: grad_mode ", "global_state", "grad_mode", "", ""},
      {"0/0: check_no_aliasing(L['x'], L['y'])", "aliasing", "", "", ""},
      {"0/0: something new", "other", "", "", ""},
  };
  for (const Case& c : cases) {
    const RecompileText r = parse_recompile_reason(c.text);
    EXPECT_EQ(form_name(r.form), c.form) << c.text;
    EXPECT_EQ(r.source, c.source) << c.text;
    EXPECT_EQ(r.expected, c.expected) << c.text;
    EXPECT_EQ(r.actual, c.actual) << c.text;
  }
}

TEST(TorchTextRecompiles, PayloadsOfOtherShapes) {
  EXPECT_TRUE(parse_recompile_reasons("").empty());
  EXPECT_EQ(parse_recompile_reasons("[").size(), 1u);
  EXPECT_EQ(parse_recompile_reasons("[]").size(), 0u);
  EXPECT_EQ(parse_recompile_reasons("\"0/0: L['n'] == 2\"").at(0).expected, "2");
  EXPECT_EQ(parse_recompile_reasons("[3, \"!1/0/1: x\"]").at(1).of, "!1/0/1");
}

TEST(TorchTextRecompiles, NamesOfLocals) {
  EXPECT_EQ(plain_names("64*L['x'].size()[0] <= L['y'] + G['z']"), "64*x.size()[0] <= y + G['z']");
  EXPECT_EQ(plain_names("L['x"), "L['x");
}

TEST(TorchTextShapes, Ranges) {
  EXPECT_EQ(parse_range("[2, int_oo]").min, 2);
  EXPECT_EQ(parse_range("[2, int_oo]").max, std::nullopt);
  EXPECT_EQ(parse_range("VR[-3, 9223372036854775806]").max, 9223372036854775806);
  EXPECT_EQ(parse_range("[-oo, oo]").min, std::nullopt);
  EXPECT_EQ(parse_range("[0, 99999999999999999999]").max, std::nullopt);
  EXPECT_TRUE(parse_range("[-int_oo, int_oo]").valid);
  EXPECT_FALSE(parse_range("2, 3").valid);
  EXPECT_EQ(parse_range("[2.5, 9.5]").min, 3);
  EXPECT_EQ(parse_range("[2.5, 9.5]").max, 9);
  EXPECT_EQ(parse_hint("9"), 9);
  EXPECT_EQ(parse_hint("3.5"), std::nullopt);
  EXPECT_EQ(parse_hint("None"), std::nullopt);
}

TEST(TorchTextShapes, Messages) {
  using Kind = ShapeMessage::Kind;
  ShapeMessage m = parse_shape_message(
      "create_symbol s77 = 12 for L['x'].size()[0] [2, int_oo] if x.shape[0] > 10:  # app/m.py:5 in k "
      "(_dynamo/variables/builder.py:4960 in <lambda>), for more info run with X=\"s77\"");
  EXPECT_EQ(m.kind, Kind::Symbol);
  EXPECT_EQ(m.symbol, "s77");
  EXPECT_EQ(m.value, "12");
  EXPECT_EQ(m.source, "L['x'].size()[0]");
  EXPECT_EQ(m.range, "[2, int_oo]");
  EXPECT_EQ(m.place.file, "app/m.py");
  EXPECT_EQ(m.place.line, 5);
  EXPECT_EQ(m.place.text, "if x.shape[0] > 10:");
  m = parse_shape_message("eval Eq(Mod(s77, 4), 0) [guard added] at app/m.py:9 in k (a/b.py:1 in c)");
  EXPECT_EQ(m.kind, Kind::Guard);
  EXPECT_EQ(m.expression, "Eq(Mod(s77, 4), 0)");
  EXPECT_EQ(m.place.line, 9);
  m = parse_shape_message("set_replacement s77 = 21 (range_refined_to_singleton) VR[21, 21]");
  EXPECT_EQ(m.kind, Kind::Replacement);
  EXPECT_EQ(m.value, "21");
  EXPECT_EQ(m.reason, "range_refined_to_singleton");
  EXPECT_EQ(m.range, "VR[21, 21]");
  EXPECT_EQ(parse_shape_message("eval [guard suppressed] Ne(s0, 1) [guard added] x").kind, Kind::Progress);
  EXPECT_EQ(parse_shape_message("produce_guards").kind, Kind::Progress);
  EXPECT_EQ(parse_shape_message("hello").kind, Kind::Other);
  EXPECT_EQ(parse_shape_message("create_unbacked_symint u0 [-int_oo, int_oo] (a.py:1 in f)").symbol, "u0");
}

}  // namespace
}  // namespace strata::capture
