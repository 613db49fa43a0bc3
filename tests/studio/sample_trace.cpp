// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/studio/sample_trace.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "core/trace/writer.h"

namespace strata::test {
namespace {

using namespace strata::trace;

constexpr const char* kModelFile = "/home/user/models/cnn.py";
constexpr const char* kModelText =
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass Cnn(nn.Module):\n"
    "    def __init__(self, blocks):\n        super().__init__()\n        self.blocks = nn.ModuleList(\n"
    "            [Block(i) for i in range(blocks)])\n        self.head = nn.Linear(128, 10)\n\n"
    "    def forward(self, x):\n        for block in self.blocks:\n            x = block(x)\n        x = "
    "torch.flatten(x, 1)\n"
    "        x = self.head(x)\n        return F.log_softmax(x, dim=1)\n\n\nclass Block(nn.Module):\n"
    "    def forward(self, x):\n        x = self.conv(x)\n        x = self.norm(x)\n        x = torch.relu_(x)\n"
    "        x = x + x * torch.sigmoid(x)\n        x = x * torch.sigmoid(x)\n        return F.max_pool2d(x, 2)\n";

class Sample {
 public:
  Sample(Writer& writer, int blocks, int compile_number) : w_(writer), blocks_(blocks) {
    CompileRecord record;
    record.process = 1;
    record.compile_number = compile_number;
    record.address = fmt::format("0/{}", compile_number);
    record.name = "Cnn";
    record.outcome = "ok";
    record.cause = compile_number ? "size of x changed: 8 -> 16" : "";
    record.duration_ns = 31'200'000;
    compile_ = w_.add(record);
  }

  void write() {
    capture();
    functionalize();
    decompose();
    eliminate_common_subexpressions();
    nothing("fold_constants");
    schedule();
    texts();
    runs();
  }

 private:
  NodeRecord make(std::string name, std::string op, std::string target, std::vector<NodeId> inputs, std::string shape) {
    NodeRecord n;
    n.id = next_++;
    n.name = std::move(name);
    n.op = std::move(op);
    n.target = std::move(target);
    for (NodeId i : inputs) n.inputs.push_back({i});
    for (NodeId i : inputs) n.args += (n.args.empty() ? "%" : ", %") + by_id(i).name;
    n.dtype = "f32";
    n.shape = std::move(shape);
    n.type = n.dtype + n.shape + "cpu";
    n.device = "cpu";
    n.role = "forward";
    n.maker = pass_;
    return n;
  }
  NodeId add(NodeRecord n, int line, std::string module) {
    std::vector<SourceLocation> stack;
    if (line >= 23) stack.push_back({kModelFile, 15, "forward", "x = block(x)"});
    if (line) stack.push_back({kModelFile, line, "forward", "…"});
    n.stack = w_.stack(stack);
    n.module = std::move(module);
    nodes_.push_back(n);
    return n.id;
  }
  const NodeRecord& by_id(NodeId id) const {
    for (const auto& n : nodes_)
      if (n.id == id) return n;
    static const NodeRecord none;
    return none;
  }

  void capture() {
    std::vector<NodeId> weights;
    NodeId x = add(make("x", "placeholder", "x", {}, "[8, 1, 28, 28]"), 0, "");
    std::vector<std::vector<NodeId>> params;
    for (int b = 0; b < blocks_; ++b) {
      params.emplace_back();
      for (const char* p : {"conv_weight", "conv_bias", "norm_weight", "norm_bias"})
        params.back().push_back(
            add(make(fmt::format("p_blocks_{}_{}", b, p), "placeholder", "", {}, "[32, 32, 3, 3]"), 0, ""));
    }
    NodeId hw = add(make("p_head_weight", "placeholder", "", {}, "[10, 128]"), 0, "");
    NodeId hb = add(make("p_head_bias", "placeholder", "", {}, "[10]"), 0, "");
    for (int b = 0; b < blocks_; ++b) {
      std::string s = fmt::format("_{}", b), module = fmt::format("blocks.{}", b), shape = "[8, 32, 14, 14]";
      auto& p = params[b];
      x = add(make("conv2d" + s, "call", "aten.conv2d.default", {x, p[0], p[1]}, shape), 23, module + ".conv");
      x = add(make("batch_norm" + s, "call", "aten.batch_norm.default", {x, p[2], p[3]}, shape), 24, module + ".norm");
      x = add(make("relu_" + s, "call", "aten.relu_.default", {x}, shape), 25, module);
      NodeId g = add(make("sigmoid" + s, "call", "aten.sigmoid.default", {x}, shape), 26, module);
      NodeId m = add(make("mul" + s, "call", "aten.mul.Tensor", {x, g}, shape), 26, module);
      NodeId a = add(make("add" + s, "call", "aten.add.Tensor", {x, m}, shape), 26, module);
      NodeId g2 = add(make("sigmoid_again" + s, "call", "aten.sigmoid.default", {x}, shape), 27, module);
      x = add(make("mul_again" + s, "call", "aten.mul.Tensor", {a, g2}, shape), 27, module);
      x = add(make("max_pool2d" + s, "call", "aten.max_pool2d.default", {x}, "[8, 32, 7, 7]"), 28, module);
    }
    x = add(make("flatten", "call", "aten.flatten.using_ints", {x}, "[8, 128]"), 16, "");
    x = add(make("linear", "call", "aten.linear.default", {x, hw, hb}, "[8, 10]"), 17, "head");
    x = add(make("log_softmax", "call", "aten.log_softmax.int", {x}, "[8, 10]"), 18, "");
    add(make("output", "output", "output", {x}, ""), 0, "");
    snapshot("captured");
  }

  Id snapshot(const std::string& stage) {
    SnapshotRecord record;
    record.compile = compile_;
    record.stage = stage;
    record.pass = pass_;
    return w_.add(record, nodes_);
  }
  void begin(const std::string& name) {
    PassRecord record;
    record.compile = compile_;
    record.name = name;
    record.ordinal = ordinal_++;
    record.start_ns = 1'000'000 * ordinal_;
    record.nodes_before = static_cast<std::int64_t>(nodes_.size());
    record.id = pass_ = w_.add(record);
    current_ = record;
  }
  void end(bool changed) {
    current_.duration_ns = 40'000 + 7'000 * ordinal_;
    current_.changed = changed;
    current_.nodes_after = static_cast<std::int64_t>(nodes_.size());
    current_.verified = Verified::Passed;
    w_.update(current_);
  }
  void nothing(const std::string& name) {
    begin(name);
    end(false);
  }
  void origin(NodeId node, NodeId from, const std::string& kind, const std::string& rule) {
    w_.add(OriginRecord{compile_, node, from, kind, rule, true});
  }
  void rename_uses(NodeId from, NodeId to) {
    for (auto& n : nodes_)
      for (auto& operand : n.inputs)
        for (NodeId& id : operand)
          if (id == from && n.id != to) id = to;
  }
  /// Replaces the node at `i` by `made`, the last of which takes over its users.
  void replace(size_t i, std::vector<NodeRecord> made, const std::string& kind, const std::string& rule,
               const std::string& reason) {
    NodeRecord old = nodes_[i];
    RewriteRecord rewrite;
    rewrite.compile = compile_;
    rewrite.pass = pass_;
    rewrite.rule = rule;
    rewrite.before = {old.id};
    rewrite.reason = reason;
    for (auto& n : made) {
      n.stack = old.stack;
      n.module = old.module;
      rewrite.after.push_back(n.id);
      origin(n.id, old.id, kind, rule);
    }
    NodeId last = made.back().id;
    nodes_.erase(nodes_.begin() + static_cast<long>(i));
    nodes_.insert(nodes_.begin() + static_cast<long>(i), made.begin(), made.end());
    rename_uses(old.id, last);
    w_.add(rewrite);
    w_.add(RemovalRecord{compile_, old.id, pass_, rule, reason});
  }

  void functionalize() {
    begin("functionalize");
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].target == "aten.relu_.default")
        replace(i,
                {make("relu" + nodes_[i].name.substr(5), "call", "aten.relu.default", {nodes_[i].inputs[0][0]},
                      nodes_[i].shape)},
                "replaced", "relu_(x) => relu(x)", "an in-place operation became a value of its own");
    end(true);
    snapshot("functional");
  }
  void decompose() {
    begin("decompose");
    for (size_t i = 0; i < nodes_.size(); ++i) {
      NodeRecord n = nodes_[i];
      if (n.target == "aten.batch_norm.default") {
        auto scale = make(n.name + "_scale", "call", "aten.mul.Tensor", {n.inputs[0][0], n.inputs[1][0]}, n.shape);
        nodes_.push_back(scale);
        auto shift = make(n.name + "_shift", "call", "aten.add.Tensor", {scale.id, n.inputs[2][0]}, n.shape);
        nodes_.pop_back();
        replace(i, {scale, shift}, "decomposed", "batch_norm(x, w, b) => x * w' + b'",
                "the primitive set has no batch_norm");
      } else if (n.target == "aten.linear.default") {
        replace(
            i, {make("addmm", "call", "aten.addmm.default", {n.inputs[2][0], n.inputs[0][0], n.inputs[1][0]}, n.shape)},
            "decomposed", "linear(x, w, b) => addmm(b, x, wT)", "the primitive set has no linear");
      } else if (n.name == "output") {
        nodes_[i].args += " ";
      }
    }
    end(true);
    snapshot("decomposed");
  }
  void eliminate_common_subexpressions() {
    begin("cse");
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].name.find("sigmoid_again") != 0) continue;
      NodeRecord old = nodes_[i];
      std::string kept_name = "sigmoid" + old.name.substr(13);
      NodeId kept = 0;
      for (const auto& n : nodes_)
        if (n.name == kept_name) kept = n.id;
      nodes_.erase(nodes_.begin() + static_cast<long>(i--));
      rename_uses(old.id, kept);
      origin(kept, old.id, "replaced", "cse");
      RewriteRecord rewrite{
          kNone, compile_, pass_, "cse", {old.id}, {kept}, fmt::format("computes the same as {}", kept_name)};
      w_.add(rewrite);
      w_.add(RemovalRecord{compile_, old.id, pass_, "cse", rewrite.reason});
    }
    end(true);
    snapshot("simplified:cse#1");
  }

  void schedule() {
    begin("fuse");
    std::int64_t group = 0;
    std::map<std::int64_t, std::vector<NodeId>> members;
    for (auto& n : nodes_) {
      if (n.op != "call") continue;
      bool alone = n.target.find("conv2d") != std::string::npos || n.target.find("addmm") != std::string::npos;
      bool starts = alone || n.name.ends_with("_scale") || n.target.find("flatten") != std::string::npos ||
                    n.target.find("log_softmax") != std::string::npos;
      if (starts) ++group;
      n.group = group;
      members[group].push_back(n.id);
    }
    end(true);
    Id stage = snapshot("scheduled");
    for (const auto& [number, ids] : members) add_kernel(stage, number, ids);
    fusions(members);
  }

  void add_kernel(Id stage, std::int64_t group, const std::vector<NodeId>& ids) {
    const NodeRecord& first = by_id(ids[0]);
    bool library = first.target.find("conv2d") != std::string::npos || first.target.find("addmm") != std::string::npos;
    KernelRecord k;
    k.compile = compile_;
    k.snapshot = stage;
    k.name = library ? "onednn_" + first.name : fmt::format("fused_{}", group);
    k.kind = library ? KernelKind::Library : KernelKind::Loop;
    k.library = library ? "onednn" : "";
    k.device = "cpu";
    k.group = group;
    k.nodes = ids;
    k.bytes = {401408.0 * static_cast<double>(group), "8*32*14*14*4*2"};
    k.flops = {50176.0 * static_cast<double>(ids.size()), ""};
    k.id = w_.add(k);
    kernels_.push_back(k);
    LaunchRecord launch;
    launch.compile = compile_;
    launch.ordinal = static_cast<std::int64_t>(launches_.size());
    launch.kernel = k.id;
    launch.name = k.name;
    BufferRecord buffer;
    buffer.compile = compile_;
    buffer.name = by_id(ids.back()).name;
    buffer.kind = "temporary";
    buffer.node = ids.back();
    buffer.bytes = {200704, ""};
    buffer.first_launch = launch.ordinal;
    buffer.last_launch = launch.ordinal + 1;
    launch.writes = {w_.add(buffer)};
    if (!launches_.empty()) launch.reads = {launch.writes[0] - 1};
    launches_.push_back(w_.add(launch));
    code(k);
  }

  /// One line per node in every language, so that the line maps are easy to check.
  void code(const KernelRecord& k) {
    if (k.kind == KernelKind::Library) {
      artifact(k, "library", fmt::format("convolution_forward f32 nchw\n  src: x\n  post-ops: none\n"), 1);
      return;
    }
    std::string loop = fmt::format("kernel {} (i0 in 0..50176)\n", k.name);
    std::string cpp = fmt::format(
        "extern \"C\" void {}(const float* x, float* y, long n) {{\n#pragma omp parallel for\n  for (long i = 0; i < "
        "n; ++i) {{\n",
        k.name);
    std::string llvm =
        fmt::format("define void @{}(ptr %x, ptr %y, i64 %n) {{\nentry:\n  br label %loop\nloop:\n", k.name);
    std::string assembly = fmt::format("{}:\n\tpushq %rbp\n", k.name);
    for (NodeId id : k.nodes) {
      std::string name = by_id(id).name;
      loop += fmt::format("  %{} = {}(...)\n", name, by_id(id).target);
      cpp += fmt::format("    float {} = f(x[i]);  // {}\n", name, by_id(id).target);
      llvm += fmt::format("  %{} = fmul <16 x float> %a, %b\n", name);
      assembly += fmt::format("\tvmulps %zmm0, %zmm1, %zmm2\n");
    }
    artifact(k, "loop-ir", loop + "end\n", 1);
    artifact(k, "cpp", cpp + "  }\n}\n", 3);
    artifact(k, "llvm-ir", llvm + "  ret void\n}\n", 4);
    artifact(k, "asm", assembly + "\tretq\n", 2);
  }
  void artifact(const KernelRecord& k, const std::string& kind, std::string content, std::int64_t before) {
    ArtifactRecord a;
    a.owner = {OwnerKind::Kernel, k.id, compile_};
    a.kind = kind;
    a.name = k.name;
    a.content = std::move(content);
    for (size_t i = 0; i < k.nodes.size(); ++i) {
      std::int64_t line = before + 1 + static_cast<std::int64_t>(i);
      a.lines.push_back({line, line, {k.nodes[i]}});
    }
    w_.add(a);
  }

  void fusions(const std::map<std::int64_t, std::vector<NodeId>>& members) {
    for (const auto& [group, ids] : members)
      for (size_t i = 1; i < ids.size(); ++i)
        w_.add(FusionRecord{kNone, compile_, pass_, ids[i - 1], ids[i], group, group, true, "pointwise chain",
                            "same iteration domain"});
    for (auto it = members.begin(); std::next(it) != members.end(); ++it)
      w_.add(FusionRecord{kNone, compile_, pass_, it->second.back(), std::next(it)->second.front(), it->first,
                          std::next(it)->first, false, "epilogue into library call",
                          "a library call takes no producer"});
  }

  void texts() {
    for (const char* stage : {"loops", "code", "plan", "runs"}) {
      begin(stage == std::string("loops") ? "lower" : stage == std::string("code") ? "generate_code" : "plan_memory");
      end(true);
      SnapshotRecord record;
      record.compile = compile_;
      record.stage = stage;
      record.pass = pass_;
      record.kind = SnapshotKind::Text;
      Id id = w_.add(record);
      ArtifactRecord a;
      a.owner = {OwnerKind::Snapshot, id, compile_};
      a.kind = "text";
      a.name = stage;
      for (const auto& k : kernels_) a.content += fmt::format("{} {} {}\n", stage, k.name, k.nodes.size());
      w_.add(a);
    }
  }
  void runs() {
    for (int repeat = 0; repeat < 5; ++repeat) {
      RunRecord run;
      run.process = 1;
      run.compile = compile_;
      run.label = "strata";
      run.repeat = repeat;
      run.clock = "steady";
      run.start_ns = 1'000'000 * repeat;
      run.duration_ns = 300'000;
      Id id = w_.add(run);
      std::int64_t at = run.start_ns;
      for (size_t i = 0; i < kernels_.size(); ++i) {
        EventRecord e;
        e.run = id;
        e.launch = launches_[i];
        e.kernel = kernels_[i].id;
        e.name = kernels_[i].name;
        e.category = kernels_[i].kind == KernelKind::Library ? "library" : "kernel";
        e.clock = "steady";
        e.start_ns = at;
        e.duration_ns = 4'000 + 9'100 * static_cast<std::int64_t>(kernels_[i].nodes.size()) + 100 * repeat;
        at += e.duration_ns;
        w_.add(e);
      }
    }
  }

  Writer& w_;
  int blocks_;
  Id compile_ = 0, pass_ = 0;
  std::int64_t ordinal_ = 0;
  PassRecord current_;
  NodeId next_ = 1;
  std::vector<NodeRecord> nodes_;
  std::vector<KernelRecord> kernels_;
  std::vector<Id> launches_;
};

}  // namespace

void write_sample_trace(const std::filesystem::path& path, const SampleOptions& options) {
  Writer writer(path);
  writer.set_property("producer", "strata");
  writer.add(ProcessRecord{kNone, 4711, -1, "strata run cnn.pt2", -1});
  writer.add(SourceFileRecord{kNone, kModelFile, false, kModelText, {}});
  for (int c = 0; c < (options.two_compiles ? 2 : 1); ++c) Sample(writer, options.blocks, c).write();
  writer.close();
}

void write_large_trace(const std::filesystem::path& path, int nodes) {
  Writer writer(path);
  CompileRecord compile;
  compile.address = "0/0";
  compile.name = "large";
  compile.outcome = "ok";
  Id id = writer.add(compile);
  std::vector<NodeRecord> records;
  for (int i = 0; i < nodes; ++i) {
    NodeRecord n;
    n.id = i + 1;
    n.name = fmt::format("n{}", i);
    n.op = i == 0 ? "placeholder" : "call";
    n.target = i % 3 == 0 ? "aten.addmm.default" : i % 3 == 1 ? "aten.gelu.default" : "aten.add.Tensor";
    if (i > 0) n.inputs.push_back({i});
    if (i > 9 && i % 8 == 0) n.inputs.push_back({i - 7});
    n.dtype = "f32";
    n.shape = "[8, 128, 768]";
    records.push_back(n);
  }
  SnapshotRecord snapshot;
  snapshot.compile = id;
  snapshot.stage = "captured";
  writer.add(snapshot, records);
  writer.close();
}

}  // namespace strata::test
