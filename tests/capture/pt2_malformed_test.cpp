// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Wrong files: each gets one error that says what it is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "capture/pt2.h"
#include "tests/capture/tiny_program.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using testing::as_bytes;
using testing::error_text;
using ::testing::HasSubstr;
using testing::kTinyConfig;
using testing::kTinyProgram;
using testing::tiny_archive;
using testing::ZipWriter;

std::string load_error(std::string_view bytes) {
  return error_text([&] { load_pt2_bytes(as_bytes(bytes), "m.pt2"); });
}

/// The text with its one occurrence of `from` replaced.
std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const size_t at = result.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) result.replace(at, from.size(), to);
  return result;
}

std::string program_error(std::string_view from, std::string_view to) {
  return load_error(tiny_archive(replaced(kTinyProgram, from, to)));
}
std::string config_error(std::string_view from, std::string_view to) {
  return load_error(tiny_archive(kTinyProgram, replaced(kTinyConfig, from, to)));
}
std::string members_error(std::initializer_list<const char*> names) {
  ZipWriter zip;
  for (const char* name : names) zip.add(name, "{}");
  return load_error(zip.finish());
}

TEST(Pt2Malformed, TheTinyProgramItselfIsGood) {
  EXPECT_EQ(load_error(tiny_archive()), "");
  const Program p = load_pt2_bytes(as_bytes(tiny_archive()), "m.pt2");
  EXPECT_EQ(p.graph.size(), 4u);
  EXPECT_EQ(p.sample_inputs_note, "the archive holds no example inputs");
}

TEST(Pt2Malformed, OtherFormatsAreNamed) {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, const char*> cases[] = {
      {""sv, "is empty"},
      {"\x1f\x8b\x08\0\0\0"sv, "gzip"},
      {"\xfd"
       "7zXZ\0\0"sv,
       "xz"},
      {"SQLite format 3\0 and more"sv, "SQLite"},
      {"\x93NUMPY\x01\0"sv, "NumPy array"},
      {"\x18\0\0\0\0\0\0\0{\"a\":{}}                 "sv, "safetensors"},
      {"\x08\x07\x12\x07pytorch"sv, "ONNX"},
      {"\x80\x02\x8a\x0al\xfc\x9c"sv, "torch.save of PyTorch 1.5"},
      {"\x80\x04\x95"sv, "pickle"},
      {"hello, world, this is text"sv, "expected a zip archive"},
  };
  for (const auto& [bytes, words] : cases) EXPECT_THAT(load_error(bytes), HasSubstr(words)) << bytes;
}

TEST(Pt2Malformed, OtherArchivesAreNamed) {
  EXPECT_THAT(members_error({"serialized_exported_program.json", "serialized_state_dict.pt"}),
              HasSubstr("PyTorch 2.7 or older; export it again with PyTorch 2.9 or later"));
  EXPECT_THAT(members_error({"m/models/model.json", "m/data/weights/model.pt"}), HasSubstr("PyTorch 2.8"));
  EXPECT_THAT(members_error({"data/aotinductor/model/x.so", "archive_format"}), HasSubstr("AOTInductor"));
  EXPECT_THAT(members_error({"m/data/aotinductor/model/x.so", "m/archive_format"}), HasSubstr("AOTInductor"));
  EXPECT_THAT(members_error({"m/constants.pkl", "m/code/__torch__.py", "m/data.pkl"}), HasSubstr("TorchScript"));
  EXPECT_THAT(members_error({"archive/data.pkl", "archive/data/0"}), HasSubstr("written by torch.save"));
  EXPECT_THAT(members_error({"word/document.xml"}), HasSubstr("holds no exported program"));
  EXPECT_THAT(members_error({"m/archive_format", "m/data/weights/weight_0"}), HasSubstr("writing it did not finish"));
  ZipWriter later;
  later.add("m/models/model.json", R"({"tensor_paths": {"w": "weight_0"}})");
  EXPECT_THAT(load_error(later.finish()), HasSubstr("PyTorch 2.8"));
}

TEST(Pt2Malformed, PathsThatAreNoFiles) {
  EXPECT_THAT(error_text([] { load_pt2("/nowhere/m.pt2"); }), HasSubstr("cannot open '/nowhere/m.pt2': No such file"));
  EXPECT_THAT(error_text([] { load_pt2(std::filesystem::temp_directory_path()); }), HasSubstr("is a directory"));
  EXPECT_THAT(error_text([] { load_pt2("/dev/null"); }), HasSubstr("not a regular file"));
}

TEST(Pt2Malformed, EveryTruncationIsOneError) {
  const std::string good = tiny_archive();
  for (size_t size = 0; size < good.size(); size += 7) EXPECT_NE(load_error(good.substr(0, size)), "") << size;
}

TEST(Pt2Malformed, EveryTruncatedProgramTextIsOneError) {
  for (size_t size = 0; size < kTinyProgram.size(); size += 3)
    EXPECT_NE(load_error(tiny_archive(kTinyProgram.substr(0, size))), "") << size;
  for (size_t size = 0; size < kTinyConfig.size(); size += 3)
    EXPECT_NE(load_error(tiny_archive(kTinyProgram, kTinyConfig.substr(0, size))), "") << size;
}

TEST(Pt2Malformed, DeepJson) {
  EXPECT_THAT(load_error(tiny_archive(std::string(100'000, '['))), HasSubstr("nested levels"));
  std::string deep = R"({"as_none":true})";
  for (int i = 0; i < 300; ++i) deep = R"({"as_optional_tensor":)" + deep + "}";
  EXPECT_EQ(load_error(tiny_archive(
                replaced(kTinyProgram, R"({"as_tensor":{"name":"p_w"}},"kind":1)", deep + R"(,"kind":1)"))),
            "");
}

TEST(Pt2Malformed, GraphErrorsNameTheirPlace) {
  EXPECT_EQ(program_error(R"("arg":{"as_tensor":{"name":"x"}},"kind")", R"("arg":{"as_tensor":{"name":"y"}},"kind")"),
            "'m.pt2:models/model.json': graph_module.graph.nodes[0].inputs[0].arg.as_tensor: 'y' is used but not "
            "defined before; "
            "the file is damaged or of an unknown version");
  EXPECT_THAT(program_error(R"("outputs":[{"as_tensor":{"name":"mm"}}],"metadata")",
                            R"("outputs":[{"as_tensor":{"name":"x"}}],"metadata")"),
              HasSubstr("'x' is defined twice"));
  EXPECT_THAT(program_error(R"("mm":{"dtype":7,)", R"("mm":{"dtype":99,)"), HasSubstr("element type 99 is unknown"));
  EXPECT_THAT(program_error(R"("mm":{)", R"("nn":{)"), HasSubstr("the type of 'mm' is not stated"));
  EXPECT_THAT(program_error(R"({"parameter":)", R"({"weight":)"), HasSubstr("unknown kind of input 'weight'"));
  EXPECT_THAT(program_error(R"({"user_output":)", R"({"x":)"), HasSubstr("unknown kind of output 'x'"));
  EXPECT_THAT(program_error(R"("input_specs":[)", R"("input_specs":[{},)"), HasSubstr("3 specs for 2 graph inputs"));
  EXPECT_THAT(program_error(R"("target":"torch.ops.aten.mm.default")", R"("target":7)"),
              HasSubstr("nodes[0].target: expected a string, found 7"));
  EXPECT_THAT(program_error(R"("signature":)", R"("signatur":)"), HasSubstr("key 'signature' is missing"));
  EXPECT_THAT(program_error(R"([1, {\"type\": null)", R"([1, 2, {\"type\": null)"),
              HasSubstr("expected [version, tree]"));
}

TEST(Pt2Malformed, Symbols) {
  const auto symbol = [](std::string_view expression) {
    return program_error(R"("sizes":[{"as_int":1},{"as_int":2}],"requires_grad")",
                         std::string(R"("sizes":[{"as_expr":{"expr_str":")") + std::string(expression) +
                             R"(","hint":{"as_int":1}}},{"as_int":2}],"requires_grad")");
  };
  EXPECT_EQ(symbol("Symbol('s0', positive=True, integer=True)"), "");
  EXPECT_EQ(symbol("Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(1))"), "");
  for (const char* bad : {"Symbol('s0", "Mul(Integer(2), ", "Symbol()", "Add(,)", "Symbol('s0'))", ""})
    EXPECT_THAT(symbol(bad), HasSubstr("expr_str")) << bad;
  EXPECT_NE(symbol(std::string(200'000, '(')), "");
  std::string nested = "Symbol('s0', integer=True)";
  for (int i = 0; i < 20'000; ++i) nested = "Max(" + nested;
  EXPECT_NE(symbol(nested), "");
  EXPECT_THAT(program_error(R"("range_constraints":{})", R"("range_constraints":{"s0":{"min_val":5,"max_val":2}})"),
              HasSubstr("the range of 's0' is empty"));
}

TEST(Pt2, SizesWithoutARangeMayBeZeroAndOne) {
  const auto program = [](const std::string& least, const std::string& most) {
    const std::string sized = replaced(
        kTinyProgram, R"("sizes":[{"as_int":1},{"as_int":2}],"requires_grad")",
        R"x("sizes":[{"as_expr":{"expr_str":"Symbol('s0', integer=True)","hint":null}},{"as_int":2}],"requires_grad")x");
    const std::string range = R"("range_constraints":{"s0":{"min_val":)" + least + R"(,"max_val":)" + most + "}}";
    return load_pt2_bytes(as_bytes(tiny_archive(replaced(sized, R"("range_constraints":{})", range))), "m.pt2");
  };
  const auto error = [](const Program& p, int64_t rows) {
    return error_text([&] { check_inputs(p, std::vector{Tensor::full(DType::F32, {rows, 2}, 1)}); });
  };
  const Program any = program("2", "null"), some = program("2", "8"), many = program("3", "null");
  for (int64_t rows : {0, 1, 2, 9}) EXPECT_EQ(error(any, rows), "");
  EXPECT_THAT(error(some, 1), HasSubstr("gives s0 = 1, the program allows 2 <= s0 <= 8"));
  EXPECT_THAT(error(many, 2), HasSubstr("the program allows 3 <= s0"));
}

TEST(Pt2, InputsThatWereViewsLieWithoutGaps) {
  const std::string stride = R"x({"as_expr":{"expr_str":"Symbol('s9', integer=True)","hint":{"as_int":7}}})x";
  const auto load = [&](const std::string& at_x, const std::string& at_mm) {
    const std::string program =
        replaced(replaced(kTinyProgram, R"("strides":[{"as_int":2},{"as_int":1}])", R"("strides":[)" + at_x + "]"),
                 R"("mm":{"dtype":7,"sizes":[{"as_int":1},{"as_int":2}])",
                 R"("mm":{"dtype":7,"strides":[)" + at_mm + R"(],"sizes":[{"as_int":1},{"as_int":2}])");
    Program p = load_pt2_bytes(as_bytes(tiny_archive(program)), "m.pt2");
    return to_string(p.graph.find("x")->type) + " " + to_string(p.graph.find("mm")->type);
  };
  EXPECT_EQ(load(stride + R"(,{"as_int":1})", R"({"as_int":1},)" + stride), "f32[1, 2][2, 1]cpu f32[1, 2][1, 2]cpu");
  EXPECT_EQ(load(R"({"as_int":1},{"as_int":5})", R"({"as_int":2},{"as_int":1})"),
            "f32[1, 2][1, 5]cpu f32[1, 2][2, 1]cpu");
}

TEST(Pt2Malformed, GuardsThatAreNoIntegerRelationStayWords) {
  std::string program = replaced(
      kTinyProgram, R"("sizes":[{"as_int":1},{"as_int":2}],"requires_grad")",
      R"x("sizes":[{"as_expr":{"expr_str":"Symbol('s0', integer=True)","hint":null}},{"as_int":2}],"requires_grad")x");
  program =
      replaced(program, R"("range_constraints":{})",
               R"x("range_constraints":{"s0":{"min_val":1,"max_val":null}},"guards_code":)x"
               R"x(["L['x'].size()[0] % 2 == 0","not L['x']","1 < L['x'].size()[0] < 9","L['y'].size()[0] == 2",)x"
               R"x("L['x'].size()[7] == 2","L['x","((("])x");
  const Program p = load_pt2_bytes(as_bytes(tiny_archive(program)), "m.pt2");
  EXPECT_EQ(p.graph.env().assumptions().size(), 7u);
  ASSERT_EQ(p.guards.size(), 1u);
  const auto x = [](int64_t rows) { return std::vector{Tensor::full(DType::F32, {rows, 2}, 1)}; };
  EXPECT_EQ(error_text([&] { check_inputs(p, x(4)); }), "");
  EXPECT_THAT(error_text([&] { check_inputs(p, x(3)); }), HasSubstr("the program requires L['x'].size()[0] % 2 == 0"));
  EXPECT_THAT(error_text([&] { check_inputs(p, x(0)); }), HasSubstr("the program allows 1 <= s0"));
}

TEST(Pt2Malformed, Weights) {
  EXPECT_THAT(config_error(R"("path_name":"weight_0")", R"("path_name":"weight_1")"),
              HasSubstr("member 'm/data/weights/weight_1' is missing"));
  EXPECT_THAT(config_error(R"("path_name":"weight_0")", R"("path_name":"../../../etc/passwd")"),
              HasSubstr("is missing"));
  EXPECT_THAT(config_error(R"({"w":)", R"({"v":)"), HasSubstr("1 weights of the program are not in the archive: w"));
  EXPECT_THAT(config_error(R"("dtype":7)", R"("dtype":8)"), HasSubstr("needs 32 bytes, its data has 16"));
  EXPECT_THAT(config_error(R"("dtype":7)", R"("dtype":4)"),
              HasSubstr("weight 'w' is int32[2, 2], the program declares f32[2, 2]"));
  EXPECT_THAT(config_error(R"("dtype":7)", R"("dtype":77)"), HasSubstr("element type 77 of 'w' is unknown"));
  EXPECT_THAT(config_error(R"("storage_offset":{"as_int":0})", R"("storage_offset":{"as_int":1})"),
              HasSubstr("needs 20 bytes"));
  EXPECT_THAT(config_error(R"("storage_offset":{"as_int":0})", R"("storage_offset":{"as_int":-1})"),
              HasSubstr("no valid tensor"));
  EXPECT_THAT(config_error(R"("sizes":[{"as_int":2})", R"("sizes":[{"as_int":4611686018427387904})"),
              HasSubstr("tensor 'w'"));
  EXPECT_THAT(config_error(R"("sizes":[{"as_int":2})", R"("sizes":[{"as_int":99999999999999999999})"),
              HasSubstr("expected a 64-bit integer"));
  EXPECT_THAT(config_error(R"("strides":[{"as_int":2})", R"("strides":[{"as_int":9223372036854775807})"),
              HasSubstr("tensor 'w'"));
  EXPECT_THAT(config_error(R"("layout":7)", R"("layout":1)"), HasSubstr("w (it is a sparse tensor)"));
  EXPECT_THAT(config_error(R"("use_pickle":false)", R"("use_pickle":true)"), HasSubstr("weight_0"));
}

TEST(Pt2Malformed, ArchiveMembers) {
  ZipWriter no_config;
  no_config.add("m/models/model.json", kTinyProgram);
  EXPECT_THAT(load_error(no_config.finish()), HasSubstr("'m/data/weights/model_weights_config.json' is missing"));
  ZipWriter order = testing::tiny_zip();
  order.add("m/byteorder", "middle");
  EXPECT_THAT(load_error(order.finish()), HasSubstr("neither 'little' nor 'big'"));
  ZipWriter empty = testing::tiny_zip();
  empty.add("m/data/weights/weight_0", "");  // later than the good one, so it counts
  EXPECT_THAT(load_error(empty.finish()), HasSubstr("exported from fake tensors"));
}

TEST(Pt2Malformed, SeveralPrograms) {
  ZipWriter zip = testing::tiny_zip();
  zip.add("m/models/other.json", kTinyProgram);
  zip.add("m/data/weights/other_weights_config.json", kTinyConfig);
  const std::string bytes = zip.finish();
  EXPECT_EQ(load_pt2_bytes(as_bytes(bytes), "m.pt2").name, "model");
  EXPECT_EQ(load_pt2_bytes(as_bytes(bytes), "m.pt2", "other").name, "other");
  EXPECT_THAT(error_text([&] { load_pt2_bytes(as_bytes(bytes), "m.pt2", "othr"); }), HasSubstr("did you mean 'other'"));
}

TEST(Pt2Malformed, BigEndianWeightsAreSwapped) {
  ZipWriter zip = testing::tiny_zip();
  zip.add("m/data/weights/weight_0", std::string("\x3f\x80\0\0\x40\0\0\0\xbf\x80\0\0\x41\x20\0\0", 16));
  zip.add("m/byteorder", "big");
  const Program p = load_pt2_bytes(as_bytes(zip.finish()), "m.pt2");
  EXPECT_EQ(p.state.at("w").values(), (std::vector<double>{1, 2, -1, 10}));
}

TEST(Pt2Malformed, UnreadableSamplesDoNotStopTheProgram) {
  for (const char* samples : {"garbage", "PK\x05\x06"}) {
    const Program p = load_pt2_bytes(as_bytes(tiny_archive(kTinyProgram, kTinyConfig, samples)), "m.pt2");
    EXPECT_TRUE(p.sample_inputs.empty());
    EXPECT_NE(p.sample_inputs_note, "");
  }
}

}  // namespace
}  // namespace strata
