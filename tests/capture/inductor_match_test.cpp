// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Which nodes each launch computes: by hand for cnn_fmnist, against the producer's maps for the others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/capture/inductor_support.h"

namespace strata::capture {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

using Names = std::vector<std::string>;

Names names(const LaunchMatch& match, const std::vector<trace::NodeRecord>& nodes) {
  Names out;
  for (const int n : match.nodes) out.push_back(nodes[static_cast<size_t>(n)].name);
  return out;
}

struct Matched {
  OutputCode code;
  std::vector<trace::NodeRecord> nodes;
  ProgramMatch match;
};

Matched matched(const test::LogProgram& program, bool maps) {
  Matched out{parse_output_code(program.code), test::graph_nodes(program.graph), {}};
  out.match = match_nodes(out.code, maps ? parse_provenance(program.mappings, {}, {}) : ProvenanceMaps{}, out.nodes);
  return out;
}

TEST(InductorMatch, cnn_fmnist_forward) {
  const Matched m = matched(test::log_programs("cnn_fmnist").at(0), false);
  ASSERT_EQ(m.match.launches.size(), 11u);
  const auto at = [&](size_t i) { return names(m.match.launches[i], m.nodes); };
  EXPECT_THAT(at(0), ElementsAre("convolution"));
  EXPECT_THAT(at(1), ElementsAre("convolution", "relu"));
  EXPECT_THAT(at(2), ElementsAre("_low_memory_max_pool_with_offsets", "getitem", "getitem_1"));
  EXPECT_THAT(at(3), ElementsAre("convolution_1"));
  EXPECT_THAT(at(4), ElementsAre("convolution_1", "relu_1"));
  EXPECT_THAT(at(5), ElementsAre("_low_memory_max_pool_with_offsets_1", "getitem_3"));
  EXPECT_THAT(at(6), ElementsAre("mm_default"));
  EXPECT_THAT(at(7), ElementsAre("inductor_seeds_default"));
  EXPECT_THAT(at(8), UnorderedElementsAre("add_tensor", "inductor_lookup_seed_default", "inductor_random_default", "gt",
                                          "mul", "mul_1"));
  EXPECT_THAT(at(9), ElementsAre("addmm_1"));
  EXPECT_THAT(at(10), ElementsAre("addmm_2"));
  const auto value = [&](const char* buffer) {
    const int n = m.match.buffer_nodes.at(static_cast<size_t>(m.code.find_buffer(buffer)));
    return n < 0 ? std::string("-") : m.nodes[static_cast<size_t>(n)].name;
  };
  EXPECT_EQ(value("primals_3"), "primals_3");
  EXPECT_EQ(value("buf0"), "convolution");
  EXPECT_EQ(value("buf1"), "relu");
  EXPECT_EQ(value("buf3"), "getitem_1");
  EXPECT_EQ(value("buf14"), "addmm_2");
}

TEST(InductorMatch, cnn_fmnist_backward_library_calls) {
  const Matched m = matched(test::log_programs("cnn_fmnist").at(1), false);
  std::vector<Names> library;
  for (size_t i = 0; i < m.code.launches.size(); ++i) {
    if (m.code.launches[i].kernel < 0) library.push_back(names(m.match.launches[i], m.nodes));
  }
  // Read off the operands: tangents times weight, and so on down; then the weights' gradients from the last layer up.
  EXPECT_THAT(library, ElementsAre(Names{"mm"}, Names{"mm_2"}, Names{"mm_4"}, Names{"convolution_backward"},
                                   Names{"convolution_backward_1"}, Names{"mm_1"}, Names{"mm_3"}, Names{"mm_5"}));
}

TEST(InductorMatch, CppKernels) {
  const Matched m = matched(test::log_programs("cnn_fmnist_cpu").at(0), false);
  ASSERT_EQ(m.match.launches.size(), 10u);
  const auto at = [&](size_t i) { return names(m.match.launches[i], m.nodes); };
  EXPECT_EQ(m.code.launches[2].callee, "cpp_fused_max_pool2d_with_indices_relu_1");
  EXPECT_THAT(at(0), ElementsAre("primals_4")) << "another layout of the weight";
  EXPECT_THAT(at(2), ElementsAre("relu", "_low_memory_max_pool_with_offsets", "getitem", "getitem_1"));
  EXPECT_THAT(at(7),
              UnorderedElementsAre("inductor_lookup_seed_default", "inductor_random_default", "gt", "mul", "mul_1"));
  const Matched back = matched(test::log_programs("cnn_fmnist_cpu").at(1), false);
  for (size_t i = 0; i < back.match.launches.size(); ++i) {
    EXPECT_FALSE(back.match.launches[i].nodes.empty()) << back.code.launches[i].text;
  }
}

TEST(InductorMatch, WithoutMapsAsTheMapsSay) {
  int same = 0, all = 0;
  for (const char* log : {"bert_provenance", "cnn_fmnist_provenance"}) {
    for (const test::LogProgram& program : test::log_programs(log)) {
      const Matched maps = matched(program, true), inferred = matched(program, false);
      for (size_t i = 0; i < maps.code.launches.size(); ++i) {
        EXPECT_NE(inferred.match.launches[i].source, MatchSource::Maps);
        EXPECT_FALSE(inferred.match.launches[i].nodes.empty()) << maps.code.launches[i].text;
        if (maps.match.launches[i].source != MatchSource::Maps) continue;
        ++all;
        same += maps.match.launches[i].nodes == inferred.match.launches[i].nodes ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(all, 78) << "67 of bert, 11 of cnn_fmnist's forward; its backward maps are empty";
  EXPECT_EQ(same, all);
}

TEST(InductorMatch, EveryLaunchOfEveryLogHasNodes) {
  for (const char* log : {"bert", "cnn_fmnist", "cnn_fmnist_cpu", "breaks_many", "dynamic_shapes", "recompiles",
                          "reduce_overhead", "sincos", "sincos_cpu"}) {
    for (const test::LogProgram& program : test::log_programs(log)) {
      const Matched m = matched(program, false);
      for (size_t i = 0; i < m.code.launches.size(); ++i) {
        EXPECT_FALSE(m.match.launches[i].nodes.empty()) << log << ": " << m.code.launches[i].text;
      }
    }
  }
}

TEST(InductorMatch, OtherLaunchesOfOneKernelHaveOtherNodes) {
  const Matched m = matched(test::log_programs("bert").at(0), false);
  std::map<std::string, std::vector<Names>> by_kernel;
  for (size_t i = 0; i < m.code.launches.size(); ++i) {
    by_kernel[m.code.launches[i].callee].push_back(names(m.match.launches[i], m.nodes));
  }
  const std::vector<Names>& gelu = by_kernel.at("triton_poi_fused_addmm_gelu_view_7");
  ASSERT_EQ(gelu.size(), 4u);
  for (size_t i = 0; i < gelu.size(); ++i) {
    EXPECT_EQ(gelu[i].size(), gelu[0].size());
    for (size_t j = 0; j < i; ++j) EXPECT_NE(gelu[i], gelu[j]);
  }
}

TEST(InductorMatch, UserKernelsAndTemplates) {
  const OutputCode code = parse_output_code(R"(# AOT ID: ['0_inference']
# Original path: /home/u/k.py:3
scale_0 = async_compile.triton('scale', '''
@triton_heuristics.user_autotune(
    configs=[{'BLOCK': 128}],
    inductor_meta={'kernel_name': 'scale_0', 'mutated_arg_names': ['y']},
    triton_meta={'signature': {'x': '*fp32', 'y': '*fp32', 'n': 'i32', 'BLOCK': 'constexpr'}},
    custom_kernel=True,
)
@triton.jit
def scale(x, y, n, BLOCK : tl.constexpr):
    pass
''', device_str='cuda')

# Graph fragment:
#   %arg0_1 : Tensor "f32[8, 8][8, 1]cuda:0" = PlaceHolder[target=arg0_1]
#   %mm : [num_users=1] = call_function[target=torch.ops.aten.mm.default](args = (%arg0_1, %arg0_1), kwargs = {})
#   return %mm
triton_tem_fused_mm_1 = async_compile.triton('triton_tem_fused_mm_1', '''
@triton_heuristics.template(
    num_stages=3,
    num_warps=4,
    triton_meta={'signature': {'arg_A': '*fp32', 'arg_B': '*fp32', 'out_ptr0': '*fp32'}},
    inductor_meta={'kernel_name': 'Placeholder.DESCRIPTIVE_NAME'}
)
@triton.jit
def triton_tem_fused_mm_1(arg_A, arg_B, out_ptr0):
    pass
''')

multi_kernel_0 = async_compile.multi_kernel('multi_kernel_0', [
    triton_tem_fused_mm_1,
])

def call(args):
    arg0_1, = args
    args.clear()
    buf0 = empty_strided_cuda((8, 8), (8, 1), torch.float32)
    triton_tem_fused_mm_1.run(arg0_1, arg0_1, buf0, 1, 1, 1, stream=stream0)
    buf1 = empty_strided_cuda((8, 8), (8, 1), torch.float32)
    scale_0.run(buf0, buf1, 64, stream=stream0)
    multi_kernel_0.run(arg0_1, buf1, buf0, stream=stream0)
    return (buf1, buf0, )
)");
  ASSERT_EQ(code.kernels.size(), 3u);
  EXPECT_EQ(code.kernels[0].family, "user");
  EXPECT_EQ(code.kernels[0].symbol, "scale");
  EXPECT_EQ(code.kernels[1].family, "template");
  EXPECT_THAT(code.kernels[2].variants, ElementsAre("triton_tem_fused_mm_1"));
  ASSERT_EQ(code.launches.size(), 3u);
  EXPECT_THAT(code.launches[1].writes, ElementsAre(code.find_buffer("buf1")));
  EXPECT_THAT(code.launches[2].writes, ElementsAre(code.find_buffer("buf0")));
  const auto nodes = test::graph_nodes(R"(class GraphModule(torch.nn.Module):
    def forward(self, arg0_1: "f32[8, 8][8, 1]cuda:0"):
        mm: "f32[8, 8][8, 1]cuda:0" = torch.ops.aten.mm.default(arg0_1, arg0_1)
        empty: "f32[8, 8][8, 1]cuda:0" = torch.ops.aten.empty.memory_format([8, 8])
        triton_kernel_wrapper_mutation = torch.ops.higher_order.triton_kernel_wrapper_mutation(kernel_idx = 0, constant_args_idx = 0, grid = [(1, 1, 1)], tma_descriptor_metadata = {}, kwargs = {'x': mm, 'y': empty});  triton_kernel_wrapper_mutation = None
        return (empty, mm)
)");
  ASSERT_FALSE(nodes.empty());
  const ProgramMatch match = match_nodes(code, {}, nodes);
  EXPECT_THAT(names(match.launches[0], nodes), ElementsAre("mm"));
  EXPECT_THAT(names(match.launches[1], nodes), ElementsAre("triton_kernel_wrapper_mutation"));
}

TEST(InductorMatch, GraphsThatDoNotBelongToTheCode) {
  const auto programs = test::log_programs("cnn_fmnist");
  const OutputCode code = parse_output_code(programs.at(0).code);
  EXPECT_EQ(match_nodes(code, {}, {}).launches.size(), code.launches.size());
  const ProgramMatch other = match_nodes(code, {}, test::graph_nodes(programs.at(1).graph));
  EXPECT_EQ(other.launches.size(), code.launches.size());
  std::vector<trace::NodeRecord> nodes = test::graph_nodes(programs.at(0).graph);
  for (trace::NodeRecord& n : nodes) n.inputs = {{nodes.back().id, 4711, n.id}};  // circles and unknown ids
  EXPECT_EQ(match_nodes(code, {}, nodes).launches.size(), code.launches.size());
}

TEST(InductorProvenance, Maps) {
  int bad = 0;
  const ProvenanceMaps maps = parse_provenance(
      R"({"preToPost": {"x": ["a", "b"]}, "postToPre": {"a": ["x"]}, "cppCodeToPost": {"k:1": ["a", 7]}, "version": 2.0})",
      R"({"k:1": ["File \"m.py\", line 3"]})",
      R"({"k": {"autotune_cache_state": "only 1 config", "only_config": [["XBLOCK", 8]], "compile_time_us": 12},
          "n": {"num_configs": 3}})",
      {}, &bad);
  EXPECT_EQ(bad, 0);
  EXPECT_THAT(maps.kernel_to_post.at("k:1"), ElementsAre("a"));
  EXPECT_THAT(maps.pre_to_post.at("x"), ElementsAre("a", "b"));
  EXPECT_THAT(maps.kernel_stacks.at("k:1"), ElementsAre("File \"m.py\", line 3"));
  EXPECT_EQ(maps.triton.at("k").cache, "only 1 config");
  EXPECT_EQ(maps.triton.at("k").compile_us, 12);
  EXPECT_THAT(maps.triton.at("k").config, ElementsAre(testing::Pair("XBLOCK", "8")));
  EXPECT_EQ(maps.triton.at("n").configs, 3);
}

TEST(InductorProvenance, OddTexts) {
  int bad = 0;
  EXPECT_TRUE(parse_provenance("{\"version\": 2.0}", "", "", "", &bad).empty());
  EXPECT_EQ(bad, 0);
  EXPECT_TRUE(parse_provenance("[1]", "{", "nonsense", "{\"k\": 3}", &bad).kernel_stacks.empty());
  EXPECT_EQ(bad, 3);
}

}  // namespace
}  // namespace strata::capture
