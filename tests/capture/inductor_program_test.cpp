// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// What a program, its debug folder and its tlparse folder become in a trace.

#include "capture/inductor/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "capture/inductor/amounts.h"
#include "capture/inductor/debug_folder.h"
#include "capture/inductor/scheduler_ir.h"
#include "capture/inductor/tlparse.h"
#include "capture/torch_trace/torch_trace.h"
#include "core/support/error.h"
#include "tests/capture/inductor_support.h"

namespace strata::capture {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const fs::path kDebug = STRATA_TEST_DATA "/torch/debug/cnn_fmnist/torch_compile_debug";

template <class Read>
void import(const test::TempTrace& file, Read&& read) {
  trace::Writer writer(file.path());
  ImportContext context(writer);
  read(context);
  context.finish();
  writer.close();
}

fs::path log(const std::string& name) { return fs::path(STRATA_TEST_DATA "/torch/logs") / (name + ".log.gz"); }

std::vector<std::string> stages(trace::Reader& reader, trace::Id compile) {
  std::vector<std::string> out;
  for (const trace::SnapshotRecord& s : reader.snapshots(compile)) out.push_back(s.stage);
  return out;
}

std::map<std::string, trace::BufferRecord> buffers_of(trace::Reader& reader, const trace::ProgramRecord& program) {
  std::map<trace::Id, trace::BufferRecord> all;
  for (const trace::BufferRecord& b : reader.buffers(program.compile)) all[b.id] = b;
  std::map<std::string, trace::BufferRecord> out;
  for (const trace::LaunchRecord& l : reader.launches(program.compile)) {
    if (l.program != program.id) continue;
    for (const trace::Id id : l.reads) out[all.at(id).name] = all.at(id);
    for (const trace::Id id : l.writes) out[all.at(id).name] = all.at(id);
  }
  return out;
}

TEST(InductorProgram, cnn_fmnist) {
  test::TempTrace file("inductor_program");
  import(file, [](ImportContext& c) { import_torch_trace(c, log("cnn_fmnist")); });
  trace::Reader reader(file.path());
  const trace::CompileRecord compile = reader.find_compile("0/0");
  const auto programs = reader.programs(compile.id);
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(programs[0].role, "forward");
  const trace::SnapshotRecord scheduled = reader.find_snapshot(compile.id, "scheduled:forward");
  EXPECT_EQ(programs[0].snapshot, scheduled.id);
  EXPECT_EQ(scheduled.program, programs[0].id);
  std::map<std::string, trace::NodeRecord> nodes;
  for (const trace::NodeRecord& n : reader.nodes(scheduled.id)) nodes[n.name] = n;

  std::vector<trace::KernelRecord> kernels;
  for (const trace::KernelRecord& k : reader.kernels(compile.id)) {
    if (k.program == programs[0].id) kernels.push_back(k);
  }
  ASSERT_EQ(kernels.size(), 11u);
  EXPECT_EQ(kernels[0].name, "extern_kernels.convolution");
  EXPECT_EQ(kernels[0].kind, trace::KernelKind::Library);
  EXPECT_EQ(kernels[0].library, "extern_kernels.convolution");
  EXPECT_THAT(kernels[0].nodes, ElementsAre(nodes["convolution"].id));
  EXPECT_EQ(kernels[0].device, "cuda:0");
  EXPECT_FALSE(kernels[0].exact) << "the log has no provenance maps";
  EXPECT_EQ(kernels[1].kind, trace::KernelKind::Loop);
  EXPECT_EQ(kernels[1].language, "triton");
  EXPECT_THAT(kernels[1].nodes, ElementsAre(nodes["convolution"].id, nodes["relu"].id));
  // 64 x 32 x 28 x 28 results of 1 x 3 x 3 products and sums.
  EXPECT_EQ(kernels[0].flops.value, 2.0 * 64 * 32 * 28 * 28 * 9);
  EXPECT_EQ(kernels[0].bytes.value, 4.0 * (64 * 28 * 28 + 32 * 9 + 64 * 32 * 28 * 28));
  EXPECT_EQ(kernels[1].bytes.value, 4.0 * (2 * 64 * 32 * 28 * 28 + 32)) << "in place: read and written";
  EXPECT_FALSE(kernels[1].flops.value.has_value()) << "the convolution is not done there";
  EXPECT_EQ(nodes["convolution"].group, kernels[0].group);
  EXPECT_EQ(nodes["relu"].group, kernels[1].group);
  EXPECT_EQ(nodes["primals_1"].group, 0);

  const auto buffers = buffers_of(reader, programs[0]);
  EXPECT_EQ(buffers.at("buf0").bytes.value, 4.0 * 64 * 32 * 28 * 28) << "its type is that of its node";
  EXPECT_EQ(buffers.at("buf1").reuse_of, buffers.at("buf0").id);
  EXPECT_EQ(buffers.at("buf1").kind, "output");
  EXPECT_EQ(buffers.at("buf1").node, nodes["relu"].id);
  EXPECT_EQ(buffers.at("buf1").first_launch, 1);
  EXPECT_EQ(buffers.at("buf1").last_launch, 2);
  EXPECT_EQ(buffers.at("primals_1").kind, "input");
}

TEST(InductorProgram, CodeAndPlanKnowTheirNodes) {
  test::TempTrace file("inductor_program");
  import(file, [](ImportContext& c) { import_torch_trace(c, log("cnn_fmnist")); });
  trace::Reader reader(file.path());
  const trace::CompileRecord compile = reader.find_compile("0/0");
  const trace::SnapshotRecord code = reader.find_snapshot(compile.id, "code:forward");
  EXPECT_EQ(code.kind, trace::SnapshotKind::Text);
  const auto artifacts = reader.artifacts(trace::Owner{trace::OwnerKind::Snapshot, code.id, compile.id});
  ASSERT_EQ(artifacts.size(), 1u);
  EXPECT_EQ(artifacts[0].kind, "python");
  const trace::ArtifactRecord text = *reader.artifact(artifacts[0].id);
  EXPECT_EQ(text.content, test::log_programs("cnn_fmnist").at(0).code);
  const trace::SnapshotRecord scheduled = reader.find_snapshot(compile.id, "scheduled:forward");
  const size_t call = text.content.find("extern_kernels.convolution(primals_3");
  ASSERT_NE(call, std::string::npos);
  const auto line =
      1 + std::count(text.content.begin(), text.content.begin() + static_cast<std::ptrdiff_t>(call), '\n');
  std::vector<std::string> there;
  for (const trace::LineMapEntry& e : text.lines) {
    EXPECT_LE(e.first_line, e.last_line);
    if (e.first_line != line) continue;
    for (const trace::NodeId n : e.nodes) there.push_back(reader.node(scheduled.id, n)->name);
  }
  EXPECT_THAT(there, ElementsAre("convolution"));
  const trace::SnapshotRecord plan = reader.find_snapshot(compile.id, "plan:forward");
  const auto plans = reader.artifacts(trace::Owner{trace::OwnerKind::Snapshot, plan.id, compile.id});
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_THAT(reader.artifact(plans[0].id)->content, HasSubstr("extern_kernels.convolution\n       reads primals_3"));
}

TEST(InductorProgram, MapsMakeNodesExact) {
  test::TempTrace file("inductor_program");
  import(file, [](ImportContext& c) { import_torch_trace(c, log("bert_provenance")); });
  trace::Reader reader(file.path());
  const trace::CompileRecord compile = reader.find_compile("0/0");
  const auto kernels = reader.kernels(compile.id);
  EXPECT_EQ(kernels.size(), 67u) << "one per launch: no two compute the same nodes";
  for (const trace::KernelRecord& k : kernels) {
    EXPECT_TRUE(k.exact) << k.name;
    EXPECT_THAT(k.nodes, Not(IsEmpty())) << k.name;
    EXPECT_TRUE(k.bytes.value.has_value()) << k.name;
    if (k.kind != trace::KernelKind::Library) continue;
    EXPECT_TRUE(k.flops.value.has_value()) << k.name;
  }
  const auto launches = reader.launches(compile.id);
  ASSERT_EQ(launches.size(), 67u);
  for (size_t i = 0; i < launches.size(); ++i) EXPECT_EQ(launches[i].ordinal, static_cast<std::int64_t>(i));
  const auto artifacts = reader.artifacts(trace::Owner{trace::OwnerKind::Kernel, kernels[0].id, compile.id});
  std::vector<std::string> kinds;
  for (const trace::ArtifactRecord& a : artifacts) kinds.push_back(a.kind);
  EXPECT_THAT(kinds, Contains("triton"));
  EXPECT_THAT(kinds, Contains("meta"));
  EXPECT_THAT(kinds, Contains("autotune"));
  EXPECT_THAT(kinds, Contains("stack"));
}

TEST(InductorProgram, SizesThatAreFormulas) {
  test::TempTrace file("inductor_program");
  import(file, [](ImportContext& c) { import_torch_trace(c, log("dynamic_shapes")); });
  trace::Reader reader(file.path());
  const trace::CompileRecord compile = reader.find_compile("0/1");
  const auto kernels = reader.kernels(compile.id);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "extern_kernels.mm");
  EXPECT_EQ(kernels[0].bytes.formula, "128*s77 + 256*s77 + 8192");
  EXPECT_EQ(kernels[0].bytes.value, 128.0 * 9 + 256 * 9 + 8192) << "at the hint 9";
  EXPECT_EQ(kernels[0].flops.formula, "4096*s77");
}

TEST(InductorAmounts, Formulas) {
  const detail::Hints hints = {{"s0", 5}, {"s1", 7}};
  EXPECT_EQ(detail::evaluate("4*s0*(s1 + 2)//3", hints), 60);
  EXPECT_EQ(detail::evaluate("-s0 // 2", hints), -3) << "rounds down";
  EXPECT_EQ(detail::evaluate("s0**2 % 4", hints), 1);
  for (const char* bad : {"", "s9", "1//0", "2**99", "9223372036854775807 + 1", "(1", "1 1", "Max(1, 2)", "-"}) {
    EXPECT_FALSE(detail::evaluate(bad, hints).has_value()) << bad;
  }
  EXPECT_FALSE(detail::evaluate(std::string(100'000, '('), hints).has_value());
}

TEST(InductorIr, cnn_fmnist) {
  const fs::path folder = kDebug / "run_2026_11_21_09_27_39_009276-pid_3422/torchinductor/model__0_forward_1.0";
  const std::vector<IrNode> pre = parse_scheduler_ir(test::file_bytes(folder / "ir_pre_fusion.txt"));
  const std::vector<IrNode> post = parse_scheduler_ir(test::file_bytes(folder / "ir_post_fusion.txt"));
  ASSERT_EQ(pre.size(), 15u);
  EXPECT_EQ(pre[0].node_class, "ExternKernelSchedulerNode");
  EXPECT_EQ(pre[0].ir_classes, "ExternKernelAlloc");
  EXPECT_EQ(pre[0].kernel, "extern_kernels.convolution");
  ASSERT_EQ(pre[0].met.size(), 2u);
  EXPECT_EQ(pre[0].met[1].buffer, "primals_3");
  EXPECT_EQ(pre[0].met[1].kind, "StarDep");
  ASSERT_EQ(pre[1].outputs.size(), 1u);
  EXPECT_EQ(pre[1].outputs[0].dtype, "float32");
  EXPECT_THAT(pre[1].outputs[0].sizes, ElementsAre("64", "32", "28", "28"));
  ASSERT_EQ(pre[1].outputs[0].users.size(), 3u);
  EXPECT_EQ(pre[1].outputs[0].users[0].node, "op2");
  EXPECT_EQ(pre[1].outputs[0].users[2].node, "OUTPUT");
  EXPECT_TRUE(pre[0].outputs[0].users[0].in_place);
  ASSERT_EQ(pre[2].unmet.size(), 4u) << "a list that begins on the next line";
  EXPECT_EQ(pre[2].unmet[1].index, "25088*d0 + 784*d1 + 56*d2 + 2*d3 + 28");
  EXPECT_EQ(pre[2].unmet[1].ranges, "{d0: 64, d1: 32, d2: 14, d3: 14}");
  std::vector<std::string> names;
  for (const IrNode& n : post) names.push_back(n.name);
  EXPECT_THAT(names, ElementsAre("op0", "op1", "op2_op3", "op4", "op5", "op6_op7", "op8", "op9", "op10_op11_op12",
                                 "op13", "op14"));
  ASSERT_EQ(post[2].members.size(), 2u);
  EXPECT_EQ(post[2].members[1].name, "op3");
  EXPECT_EQ(post[2].members[1].sizes, "((28672, 14), ())");
  EXPECT_EQ(post[2].first_line, 48);
  EXPECT_EQ(post[3].first_line, 207);
}

TEST(InductorIr, OddTexts) {
  const std::string text = test::file_bytes(
      kDebug / "run_2026_11_21_09_27_39_009276-pid_3422/torchinductor/model__0_forward_1.0/ir_post_fusion.txt");
  for (size_t end = 0; end < std::min<size_t>(text.size(), 12'000); end += 7) {
    EXPECT_LE(parse_scheduler_ir(std::string_view(text).substr(0, end)).size(), 6u) << "the text of six";
  }
  const auto old = parse_scheduler_ir(
      "buf0: SchedulerNode(ComputedBuffer)\nbuf0.writes = [MemoryDep('buf0', c0, {c0: 4})]\n"
      "buf0.users = [NodeUser(node=SchedulerNode(name='buf1'), can_inplace=True)]\n");
  ASSERT_EQ(old.size(), 1u);
  EXPECT_EQ(old[0].outputs.at(0).users.at(0).node, "buf1");
  EXPECT_THAT(parse_scheduler_ir("a: b\n: SchedulerNode\nop0: SchedulerNode\nop0.outputs = [\nop0.writes = [[["),
              testing::SizeIs(1));
}

TEST(InductorDebugFolder, Alone) {
  test::TempTrace file("inductor_debug");
  import(file, [](ImportContext& c) { import_debug_folder(c, kDebug); });
  trace::Reader reader(file.path());
  const trace::CompileRecord compile = reader.find_compile("0/0");
  EXPECT_THAT(stages(reader, compile.id),
              ElementsAre("simplified:forward.before", "simplified:forward.after", "scheduled:forward", "code:forward",
                          "plan:forward", "scheduled:forward.before_fusion", "loops:forward",
                          "simplified:backward.before", "simplified:backward.after", "scheduled:backward",
                          "code:backward", "plan:backward", "scheduled:backward.before_fusion", "loops:backward"));
  ASSERT_EQ(reader.processes().size(), 1u);
  EXPECT_EQ(reader.processes()[0].pid, 3422);
  EXPECT_THAT(reader.inputs().at(0).counts, HasSubstr("\"graph\": 2"));

  const auto before = reader.nodes(reader.find_snapshot(compile.id, "scheduled:forward.before_fusion").id);
  ASSERT_EQ(before.size(), 15u);
  std::map<std::string, trace::NodeRecord> ops;
  for (const trace::NodeRecord& n : before) ops[n.name] = n;
  EXPECT_EQ(ops["op0"].target, "extern_kernels.convolution");
  EXPECT_EQ(ops["op2"].type, "f32[64, 32, 14, 14][6272, 196, 14, 1]cuda:0");
  EXPECT_THAT(ops["op1"].inputs, ElementsAre(ElementsAre(ops["op0"].id), IsEmpty()));
  EXPECT_EQ(ops["op2"].group, ops["op3"].group);
  EXPECT_NE(ops["op1"].group, ops["op2"].group);
  // The kernel that writes buf2 and buf3.
  bool found = false;
  for (const trace::KernelRecord& k : reader.kernels(compile.id)) {
    if (k.name != "triton_poi_fused_max_pool2d_with_indices_1") continue;
    found = true;
    EXPECT_EQ(k.group, ops["op2"].group);
    std::vector<std::string> kinds;
    for (const auto& a : reader.artifacts(trace::Owner{trace::OwnerKind::Kernel, k.id, compile.id}))
      kinds.push_back(a.kind);
    EXPECT_THAT(kinds, Contains("loops"));
  }
  EXPECT_TRUE(found);
  std::set<std::pair<trace::NodeId, trace::NodeId>> fused;
  for (const trace::FusionRecord& f : reader.fusions(compile.id)) {
    EXPECT_TRUE(f.accepted);
    fused.insert({f.producer, f.consumer});
  }
  EXPECT_THAT(fused, Contains(std::pair(ops["op2"].id, ops["op3"].id)));
  EXPECT_THAT(fused, Contains(std::pair(ops["op10"].id, ops["op11"].id)));
  const auto up = reader.edges_up(compile.id, ops["op1"].id);
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(reader.last_node(compile.id, up[0].from)->name, "relu");
  EXPECT_FALSE(up[0].exact);
}

TEST(InductorDebugFolder, BehindTheLogOfTheSameCode) {
  // The log of another run of the same model: only comments and paths differ, so the code is the same.
  const std::string folder = test::file_bytes(
      kDebug / "run_2026_11_21_09_27_39_009276-pid_3422/torchinductor/model__0_forward_1.0/output_code.py");
  ASSERT_EQ(output_code_hash(folder), output_code_hash(test::log_programs("cnn_fmnist").at(0).code));
  test::TempTrace file("inductor_debug");
  import(file, [](ImportContext& c) {
    import_torch_trace(c, log("cnn_fmnist"));
    import_debug_folder(c, kDebug);
  });
  trace::Reader reader(file.path());
  EXPECT_EQ(reader.compiles().size(), 1u);
  EXPECT_THAT(reader.inputs().at(1).counts, HasSubstr("\"known_graph\": 2"));
  EXPECT_THAT(stages(reader, reader.find_compile("0/0").id), Contains("scheduled:backward.before_fusion"));
  EXPECT_EQ(reader.programs(reader.find_compile("0/0").id).size(), 2u);
}

TEST(InductorDebugFolder, PartsAndNothing) {
  test::TempTrace file("inductor_debug");
  const fs::path folder = fs::path(testing::TempDir()) / ("debug_parts_" + std::to_string(getpid()));
  fs::create_directories(folder / "model___4.7");
  std::ofstream(folder / "model___4.7/ir_post_fusion.txt") << "op0: SchedulerNode(ComputedBuffer)\n";
  std::ofstream(folder / "model___4.7/output_code.py") << "def call(args):\n    buf0 = aten.sin.default(x)\n";
  std::ofstream(folder / "model___4.7/fx_graph_readable.py") << "this is no graph";
  fs::create_directories(folder / "empty");
  import(file, [&](ImportContext& c) {
    import_debug_folder(c, folder);
    EXPECT_THROW(import_debug_folder(c, folder / "empty"), Error);
    EXPECT_THROW(import_debug_folder(c, folder / "missing"), Error);
  });
  trace::Reader reader(file.path());
  EXPECT_EQ(reader.find_compile("7/0").outcome, "ok");
  EXPECT_THAT(reader.inputs().at(0).counts, HasSubstr("problem.graph_parse_error"));
  fs::remove_all(folder);
}

/// What a trace says, but for what names its file.
std::vector<std::string> content(const fs::path& path) {
  trace::Reader reader(path);
  std::vector<std::string> out;
  for (const trace::CompileRecord& c : reader.compiles()) {
    out.push_back(c.address + " " + c.name + " " + c.outcome + " " + std::to_string(c.start_ns) + " " +
                  std::to_string(c.duration_ns));
    for (const trace::SnapshotRecord& s : reader.snapshots(c.id)) {
      out.push_back(s.stage + " " + std::to_string(s.node_count));
    }
    for (const trace::KernelRecord& k : reader.kernels(c.id))
      out.push_back(k.name + " " + std::to_string(k.nodes.size()));
    for (const trace::GuardRecord& g : reader.guards(c.id)) out.push_back(g.expression);
    for (const trace::ArtifactRecord& a : reader.artifacts_of_compile(c.id)) {
      // JSON that was written again has other white space.
      out.push_back(a.kind + " " + a.name + (a.kind == "json" ? std::string() : " " + std::to_string(a.size)));
    }
  }
  for (const trace::ProcessRecord& p : reader.processes()) out.push_back("process " + std::to_string(p.pid));
  for (const trace::DiagnosticRecord& d : reader.diagnostics()) out.push_back(d.kind + " " + d.title);
  out.push_back("events " + std::to_string(reader.event_count()));
  return out;
}

TEST(InductorTlparse, FolderWithoutTheLogIsAsGood) {
  const fs::path data = STRATA_TEST_DATA "/torch/tlparse";
  test::TempTrace a("inductor_tl_log"), b("inductor_tl_folder");
  import(a, [&](ImportContext& c) { import_torch_trace(c, data / "matmul.log.gz"); });
  import(b, [&](ImportContext& c) { import_tlparse_folder(c, data / "matmul"); });
  const std::vector<std::string> of_log = content(a.path()), of_folder = content(b.path());
  ASSERT_EQ(of_log.size(), of_folder.size());
  for (size_t i = 0; i < of_log.size(); ++i) EXPECT_EQ(of_log[i], of_folder[i]);
  trace::Reader reader(b.path());
  EXPECT_EQ(reader.kernels(reader.find_compile("0/0").id).size(), 2u);
}

TEST(InductorTlparse, PayloadFilesAlone) {
  const fs::path folder = fs::path(testing::TempDir()) / ("tlparse_files_" + std::to_string(getpid()));
  fs::copy(STRATA_TEST_DATA "/torch/tlparse/matmul", folder, fs::copy_options::recursive);
  fs::remove(folder / "raw.jsonl");
  fs::remove_all(folder / "payloads");
  test::TempTrace file("inductor_tl_files");
  import(file, [&](ImportContext& c) { import_tlparse_folder(c, folder); });
  trace::Reader reader(file.path());
  const trace::CompileRecord compile = reader.find_compile("0/0");
  EXPECT_THAT(stages(reader, compile.id), Contains("scheduled:inference"));
  EXPECT_THAT(stages(reader, compile.id), Contains("captured"));
  const auto kernels = reader.kernels(compile.id);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "extern_kernels.mm") << "the code is on a page: tags and references are undone";
  EXPECT_THAT(reader.guards(compile.id), Not(IsEmpty()));
  fs::remove_all(folder);
}

TEST(InductorTlparse, Nothing) {
  const fs::path folder = fs::path(testing::TempDir()) / ("tlparse_none_" + std::to_string(getpid()));
  fs::create_directories(folder / "-_0_0_0");
  std::ofstream(folder / "index.html") << "<html></html>";
  std::ofstream(folder / "raw.jsonl") << "not json\n{\"half\": ";
  test::TempTrace file("inductor_tl_none");
  import(file, [&](ImportContext& c) { EXPECT_THROW(import_tlparse_folder(c, folder), Error); });
  fs::remove_all(folder);
  EXPECT_EQ(text_of_html("<html><pre style='x'>\n<span>a &lt; b</span> &amp;&#39;\n</pre></html>"), "a < b &'\n");
  EXPECT_EQ(text_of_html("<pre"), "");
  EXPECT_EQ(text_of_html("plain <b"), "plain ");
}

}  // namespace
}  // namespace strata::capture
