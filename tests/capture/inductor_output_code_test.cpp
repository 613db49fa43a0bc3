// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Output code: kernels, launches and buffers against what a person reads in the text.

#include "capture/inductor/output_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/capture/torch_graph_support.h"

namespace strata::capture {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::string> names(const OutputCode& code, const std::vector<int>& buffers) {
  std::vector<std::string> out;
  for (const int b : buffers) out.push_back(code.buffers.at(static_cast<size_t>(b)).name);
  return out;
}

/// `callee R reads W writes`
std::vector<std::string> listing(const OutputCode& code) {
  std::vector<std::string> out;
  for (const CodeLaunch& l : code.launches) {
    std::string text = l.callee + " R";
    for (const std::string& name : names(code, l.reads)) text += " " + name;
    text += " W";
    for (const std::string& name : names(code, l.writes)) text += " " + name;
    out.push_back(text);
  }
  return out;
}

const CodeBuffer& buffer(const OutputCode& code, const std::string& name) {
  const int index = code.find_buffer(name);
  if (index < 0) throw std::runtime_error("no buffer " + name);
  return code.buffers[static_cast<size_t>(index)];
}

const char* const kSmall = R"(# AOT ID: ['3_inference']
import torch
_tensor_constant0 = None  # 1a2b

# kernel path: /tmp/cache/ab/cab.py
# Topologically Sorted Source Nodes: [y, z], Original ATen: [aten.add, aten.relu]
# Source node to ATen node mapping:
#   y => add, add_1
#   z => relu
# Graph fragment:
#   %mm : Tensor "f32[s77, 8][8, 1]cuda:0" = PlaceHolder[target=mm]
#   %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mm, 1), kwargs = {})
#   %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%add,), kwargs = {})
#   return %relu
triton_poi_fused_add_relu_0 = async_compile.triton('triton_poi_fused_add_relu_0', '''
@triton_heuristics.pointwise(
    size_hints={'x': 64},
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'in_ptr0': '*bf16', 'xnumel': 'i32', 'XBLOCK': 'constexpr'}},
    inductor_meta={'kernel_name': 'k', 'mutated_arg_names': ['in_out_ptr0'], 'num_load': 2, 'num_reduction': 0}
)
@triton.jit
def triton_poi_fused_add_relu_0(in_out_ptr0, in_ptr0, xnumel, XBLOCK : tl.constexpr):
    pass
''', device_str='cuda')

cpp_fused_sum_1 = async_compile.cpp_pybinding(['const float*', 'int8_t*'], r'''
extern "C"  void  kernel(const float* in_ptr0,
                       int8_t* out_ptr0)
{
}
''')

async_compile.wait(globals())
del async_compile

class Runner:
    def __init__(self, partitions):
        self.partitions = partitions

    def call(self, args):
        arg0_1, arg1_1, arg2_1, arg3_1 = args
        args.clear()
        s77 = arg0_1
        assert_size_stride(arg1_1, (s77, 8), (8, 1))
        with torch.cuda._DeviceGuard(0):
            torch.cuda.set_device(0)
            buf0 = empty_strided_cuda((s77, 8), (8, 1), torch.float32)
            # Topologically Sorted Source Nodes: [x], Original ATen: [aten.mm]
            # [Provenance debug handles] extern_kernels.mm:1
            extern_kernels.mm(arg1_1, reinterpret_tensor(arg2_1, (8, 8), (1, 8), 0), out=buf0)
            buf1 = buf0; del buf0  # reuse
            stream0 = get_raw_stream(0)
            triton_poi_fused_add_relu_0.run(buf1, arg3_1, 8*s77, stream=stream0)
            del arg3_1
            buf2 = torch.ops.aten.sort.default(buf1,
                -1, True)
            buf3 = buf2[0]
            buf4 = buf2[1]
            del buf2
            if buf4.item():
                buf5 = empty_strided_cpu((), (), torch.int8)
                cpp_fused_sum_1(buf3, buf5)
            else:
                aten.index_put_(buf3, [buf4], _tensor_constant0, True)
            torch.ops._c10d_functional.wait_tensor.default(buf3)
            buf6 = reinterpret_tensor(buf3, (8, s77), (1, 8), 0); del buf3  # reuse
        return (buf6, s77, reinterpret_tensor(buf4, (4, 2), (2, 1), 0), None, )

runner = Runner(partitions=[])
call = runner.call

def get_args():
    from torch._dynamo.testing import rand_strided
    arg0_1 = 9
    arg1_1 = rand_strided((9, 8), (8, 1), device='cuda:0', dtype=torch.float32)
    return [arg0_1, arg1_1]
)";

TEST(InductorOutputCode, SmallProgram) {
  const OutputCode code = parse_output_code(kSmall);
  EXPECT_EQ(code.aot_id, "3_inference");
  EXPECT_EQ(code.role, "inference");
  EXPECT_EQ(code.language, "python");
  EXPECT_THAT(listing(code), ElementsAre("extern_kernels.mm R arg1_1 arg2_1 W buf0",              //
                                         "triton_poi_fused_add_relu_0 R buf1 arg3_1 W buf1",      //
                                         "torch.ops.aten.sort.default R buf1 W buf2",             //
                                         "cpp_fused_sum_1 R buf3 W buf5",                         //
                                         "aten.index_put_ R buf3 buf4 _tensor_constant0 W buf3",  //
                                         "torch.ops._c10d_functional.wait_tensor.default R buf3 W"));
  EXPECT_EQ(code.launches[0].line, 50);
  EXPECT_EQ(code.launches[0].handle, 1);
  EXPECT_THAT(code.launches[0].source_nodes, ElementsAre("x"));
  EXPECT_THAT(code.launches[0].original_aten, ElementsAre("aten.mm"));
  EXPECT_EQ(code.launches[1].handle, -1) << "the comments before a call are that call's alone";
  EXPECT_EQ(code.launches[2].line, 55);
  EXPECT_EQ(code.launches[2].last_line, 56);
  EXPECT_EQ(code.launches[3].scope, "if buf4.item()");
  EXPECT_EQ(code.launches[4].scope, "else");
  EXPECT_EQ(code.launches[5].scope, "");
  EXPECT_THAT(code.symbol_hints, ElementsAre(Pair("s77", 9)));
  EXPECT_EQ(code.inputs.at(0), -1) << "a size is no buffer";
  EXPECT_EQ(code.inputs.size(), 4u);
  EXPECT_EQ(code.outputs.size(), 4u);
  EXPECT_THAT(code.output_buffers, ElementsAre(code.find_buffer("buf6"), -1, code.find_buffer("buf4"), -1));
}

TEST(InductorOutputCode, SmallProgramsKernels) {
  const OutputCode code = parse_output_code(kSmall);
  ASSERT_EQ(code.kernels.size(), 2u);
  const CodeKernel& k = code.kernels[0];
  EXPECT_EQ(k.name, "triton_poi_fused_add_relu_0");
  EXPECT_EQ(k.language, "triton");
  EXPECT_EQ(k.family, "pointwise");
  EXPECT_EQ(k.first_line, 5);
  EXPECT_EQ(k.last_line, 24);
  EXPECT_EQ(k.code_line, 16);
  EXPECT_TRUE(k.code.starts_with("@triton_heuristics")) << k.code.substr(0, 30);
  EXPECT_EQ(k.path, "/tmp/cache/ab/cab.py");
  EXPECT_THAT(k.source_nodes, ElementsAre("y", "z"));
  EXPECT_THAT(k.source_map, ElementsAre(Pair("y", ElementsAre("add", "add_1")), Pair("z", ElementsAre("relu"))));
  ASSERT_EQ(k.fragment.size(), 3u);
  EXPECT_TRUE(k.fragment[0].placeholder);
  EXPECT_EQ(k.fragment[1].target, "aten.add.Tensor");
  EXPECT_EQ(k.fragment[2].name, "relu");
  EXPECT_THAT(k.stores, ElementsAre("relu"));
  EXPECT_THAT(k.parameters, ElementsAre(Pair("in_out_ptr0", "*fp32"), Pair("in_ptr0", "*bf16"), Pair("xnumel", "i32")));
  EXPECT_THAT(k.mutated, ElementsAre("in_out_ptr0"));
  EXPECT_THAT(k.meta, testing::Contains(Pair("size_hints", "{'x': 64}")));
  EXPECT_EQ(code.kernels[1].language, "cpp");
  EXPECT_THAT(code.kernels[1].parameters, ElementsAre(Pair("in_ptr0", "const float*"), Pair("out_ptr0", "int8_t*")));
}

TEST(InductorOutputCode, SmallProgramsBuffers) {
  const OutputCode code = parse_output_code(kSmall);
  EXPECT_EQ(buffer(code, "arg1_1").kind, "input");
  EXPECT_THAT(buffer(code, "arg1_1").sizes, ElementsAre("s77", "8"));
  EXPECT_EQ(buffer(code, "arg1_1").dtype, "float32");
  EXPECT_EQ(buffer(code, "arg3_1").dtype, "bfloat16") << "from the kernel's parameter";
  EXPECT_EQ(buffer(code, "_tensor_constant0").kind, "constant");
  EXPECT_EQ(buffer(code, "buf0").device, "cuda");
  EXPECT_EQ(buffer(code, "buf1").reuse_of, code.find_buffer("buf0"));
  EXPECT_THAT(buffer(code, "buf1").sizes, ElementsAre("s77", "8"));
  EXPECT_EQ(buffer(code, "buf4").alias_of, code.find_buffer("buf2"));
  EXPECT_EQ(buffer(code, "buf4").element, 1);
  EXPECT_EQ(buffer(code, "buf6").kind, "output");
  EXPECT_THAT(buffer(code, "buf6").sizes, ElementsAre("8", "s77"));
  EXPECT_EQ(code.storage_of(code.find_buffer("buf1")), code.find_buffer("buf0"));
}

TEST(InductorOutputCode, OlderWrappers) {
  const OutputCode code = parse_output_code(R"(
# Source Nodes: [add], Original ATen: [aten.add]
triton_poi_fused_add_0 = async_compile.triton('triton_', '''
@pointwise(signature={0: '*fp32'})
@triton.jit
def triton_(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    pass
''')
def call(args):
    arg0_1, = args
    args.clear()
    with torch.cuda._DeviceGuard(0):
        buf0 = empty_strided((4, ), (1, ), device='cuda', dtype=torch.float16)
        triton_poi_fused_add_0.run(arg0_1, buf0, 4, grid=grid(4), stream=stream0)
        buf1 = aten.clone(buf0)
        return (buf1, )
)");
  EXPECT_THAT(listing(code), ElementsAre("triton_poi_fused_add_0 R arg0_1 W buf0", "aten.clone R buf0 W buf1"));
  EXPECT_THAT(code.kernels.at(0).source_nodes, ElementsAre("add"));
  EXPECT_EQ(buffer(code, "buf0").dtype, "float16");
  EXPECT_EQ(buffer(code, "buf0").device, "cuda");
  EXPECT_EQ(buffer(code, "buf1").kind, "output");
}

TEST(InductorOutputCode, PartitionsAndInnerFunctionsRunWhereTheyAreCalled) {
  const OutputCode code = parse_output_code(R"(# AOT ID: ['0_inference']
def partition_0(args):
    arg1_1, arg0_1 = args
    args.clear()
    buf0 = empty_strided_cuda((4, ), (1, ), torch.float32)
    triton_a.run(arg1_1, arg0_1, buf0, 4, stream=stream0)
    return (buf0, )

def subgraph_0(args):
    subgraph_0_arg0, = args
    args.clear()
    subgraph_0_buf0 = torch.ops.aten.sin.default(subgraph_0_arg0)
    return (subgraph_0_buf0, )

class Runner:
    def call(self, args):
        arg0_1, arg1_1 = args
        args.clear()
        extern_kernels.mm(arg0_1, arg0_1, out=arg1_1)
        partition0_args = [arg1_1, arg0_1]
        del arg1_1, arg0_1
        (buf0,) = self.partitions[0](partition0_args)
        subgraph_0_args = [buf0]
        (buf9,) = subgraph_0(subgraph_0_args)
        return (buf9, )

runner = Runner(partitions=[partition_0,])
)");
  ASSERT_EQ(code.launches.size(), 3u);
  EXPECT_EQ(code.launches[1].callee, "triton_a");
  EXPECT_EQ(code.launches[1].line, 6);
  EXPECT_EQ(code.kernels.at(0).name, "triton_a") << "a kernel whose definition is not there";
  EXPECT_THAT(names(code, code.launches[2].reads), ElementsAre("subgraph_0_arg0"));
  EXPECT_EQ(code.storage_of(code.find_buffer("subgraph_0_arg0")), code.find_buffer("buf0"));
  EXPECT_EQ(code.storage_of(code.find_buffer("buf9")), code.find_buffer("subgraph_0_buf0"));
  EXPECT_EQ(code.inputs.size(), 2u);
  EXPECT_THAT(code.output_buffers, ElementsAre(code.find_buffer("buf9")));
}

TEST(InductorOutputCode, CppWrapper) {
  const OutputCode code = parse_output_code(R"(
cpp_wrapper_src = (
r"""
#include <torch/csrc/inductor/cpp_wrapper/cpu.h>
extern "C"  void  cpp_fused_relu_0(float* in_out_ptr0,
                       const float* in_ptr0);
void inductor_entry_impl(
    AtenTensorHandle* input_handles,
    AtenTensorHandle* output_handles
) {
    auto arg0_1 = std::move(inputs[0]);
    auto arg1_1 = std::move(inputs[1]);
    static constexpr int64_t int_array_0[] = {4L, 8L};
    static constexpr int64_t int_array_1[] = {8L, 1L};
    AtenTensorHandle buf0_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_0, int_array_1, cached_torch_dtype_float32, cached_torch_device_type_cpu, 0, &buf0_handle));
    RAIIAtenTensorHandle buf0(buf0_handle);
    // Topologically Sorted Source Nodes: [x], Original ATen: [aten.mm]
    // [Provenance debug handles] aoti_torch_cpu_mm_out:1
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf0, arg0_1, arg1_1));
    auto buf1 = std::move(buf0);  // reuse
    cpp_fused_relu_0((float*)(buf1.data_ptr()), (const float*)(arg1_1.data_ptr()));
    AtenTensorHandle buf2_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_sort(buf1, -1L, &buf2_handle));
    output_handles[0] = buf1.release();
} // inductor_entry_impl
"""
)
)");
  EXPECT_EQ(code.language, "cpp");
  EXPECT_THAT(listing(code), ElementsAre("aoti_torch_cpu_mm_out R arg0_1 arg1_1 W buf0",
                                         "cpp_fused_relu_0 R buf1 arg1_1 W buf1", "aoti_torch_cpu_sort R buf1 W buf2"));
  EXPECT_EQ(code.launches[0].line, 20);
  EXPECT_EQ(code.launches[0].handle_name, "aoti_torch_cpu_mm_out");
  EXPECT_EQ(code.launches[0].handle, 1);
  EXPECT_THAT(buffer(code, "buf0").sizes, ElementsAre("4", "8"));
  EXPECT_EQ(buffer(code, "buf0").dtype, "float32");
  EXPECT_EQ(buffer(code, "buf1").reuse_of, code.find_buffer("buf0"));
  EXPECT_EQ(buffer(code, "buf1").kind, "output");
}

TEST(InductorOutputCode, Folder_cnn_fmnist) {
  const std::string root = STRATA_TEST_DATA
      "/torch/debug/cnn_fmnist/torch_compile_debug/run_2026_11_21_09_27_39_009276-pid_3422/torchinductor/";
  const OutputCode code = parse_output_code(test::file_bytes(root + "model__0_forward_1.0/output_code.py"));
  EXPECT_THAT(listing(code), ElementsAre("extern_kernels.convolution R primals_3 primals_1 W buf0",
                                         "triton_poi_fused_convolution_relu_0 R buf1 primals_2 W buf1",
                                         "triton_poi_fused_max_pool2d_with_indices_1 R buf1 W buf2 buf3",
                                         "extern_kernels.convolution R buf2 primals_4 W buf4",
                                         "triton_poi_fused_convolution_relu_2 R buf5 primals_5 W buf5",
                                         "triton_poi_fused_max_pool2d_with_indices_3 R buf5 W buf6 buf7",
                                         "extern_kernels.mm R buf7 primals_6 W buf8", "aten.randint.low_out R W buf9",
                                         "triton_poi_fused_addmm_native_dropout_4 R buf12 buf9 primals_7 W buf12 buf11",
                                         "extern_kernels.addmm R primals_9 buf12 primals_8 W buf13",
                                         "extern_kernels.addmm R primals_11 buf13 primals_10 W buf14"));
  std::vector<std::int64_t> lines;
  for (const CodeLaunch& l : code.launches) lines.push_back(l.line);
  EXPECT_THAT(lines, ElementsAre(397, 403, 410, 413, 419, 426, 430, 434, 440, 446, 451));
  EXPECT_EQ(code.inputs.size(), 11u);
  EXPECT_EQ(code.outputs.size(), 16u);
  const OutputCode back = parse_output_code(test::file_bytes(root + "model__0_backward_3.1/output_code.py"));
  EXPECT_EQ(back.aot_id, "0_backward");
  EXPECT_EQ(back.launches.size(), 17u);
  EXPECT_EQ(back.kernels.size(), 9u);
  EXPECT_EQ(back.kernels[0].family, "persistent_reduction");
  EXPECT_EQ(back.kernels[4].family, "reduction");
}

TEST(InductorOutputCode, HashKnowsTheSameProgramInOtherClothes) {
  std::string other = kSmall;
  other.replace(other.find("/tmp/cache/ab"), 13, "/home/x/y/z");
  const size_t handles = other.find("            # [Provenance");
  other.erase(handles, other.find('\n', handles) + 1 - handles);
  EXPECT_EQ(output_code_hash(kSmall), output_code_hash(other));
  EXPECT_EQ(output_code_hash(kSmall).size(), 32u);
  other.replace(other.find("extern_kernels.mm(arg1_1"), 24, "extern_kernels.mm(arg2_1");
  EXPECT_NE(output_code_hash(kSmall), output_code_hash(other));
}

/// Every buffer a launch names exists.
void expect_sound(const OutputCode& code) {
  const auto known = [&](int b) { return b >= 0 && static_cast<size_t>(b) < code.buffers.size(); };
  for (const CodeLaunch& l : code.launches) {
    EXPECT_LT(l.kernel, static_cast<int>(code.kernels.size()));
    EXPECT_EQ(l.operands.size(), l.buffers.size());
    for (const int b : l.reads) EXPECT_TRUE(known(b));
    for (const int b : l.writes) EXPECT_TRUE(known(b));
  }
  for (size_t b = 0; b < code.buffers.size(); ++b) EXPECT_TRUE(known(code.storage_of(static_cast<int>(b))));
}

TEST(InductorOutputCode, CutAtEveryByte) {
  const std::string_view text = kSmall;
  const size_t whole = parse_output_code(text).launches.size();
  for (size_t end = 0; end <= text.size(); ++end) {
    const OutputCode code = parse_output_code(text.substr(0, end));
    expect_sound(code);
    EXPECT_LE(code.launches.size(), whole);
  }
}

TEST(InductorOutputCode, OddText) {
  for (const char* text : {"", "\n\n", "def call(args):", "def call(args):\n    buf0 = buf0\n    return buf0[",
                           "def call(args):\n    a = args\n    a = a; del a  # reuse\n    x.run(a, 'unclosed",
                           "class Runner:\n    def call(self, args):\n        call(args)\n        self.call(args)\n",
                           "def call(args):\n    f([)]}(\n", "x = async_compile.triton('x', '''never closed",
                           "# AOT ID: []\n# AOT ID: [\n#", "\0\xff\xfe= async_compile.", "runner = Runner(partitions=[",
                           "def f(args):\n    f(args)\ndef call(args):\n    f([a])\n    f([a])\n"}) {
    expect_sound(parse_output_code(text));
  }
  std::string deep = "def call(args):\n    extern_kernels.mm(";
  deep.append(200'000, '(');
  expect_sound(parse_output_code(deep));
  // Functions that call each other twice must not take exponential time.
  std::string nest;
  for (int i = 0; i < 40; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    nest += "def f" + std::to_string(i) + "(args):\n    " + next + "([])\n    " + next + "([])\n";
  }
  expect_sound(parse_output_code(nest + "def call(args):\n    f0([])\n"));
}

}  // namespace
}  // namespace strata::capture
