// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/inductor/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "capture/inductor/amounts.h"
#include "capture/inductor/graph_view.h"
#include "capture/inductor/match_nodes.h"
#include "capture/inductor/matcher.h"
#include "capture/inductor/py_text.h"

namespace strata::capture {
namespace {

using detail::GraphView;
using detail::Hints;

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out + '"';
}

std::string json_list(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) out += (out.size() > 1 ? ", " : "") + json_text(item);
  return out + "]";
}

const char* source_name(MatchSource source) {
  switch (source) {
    case MatchSource::None:
      return "none";
    case MatchSource::Maps:
      return "provenance map";
    case MatchSource::Comment:
      return "comment of the kernel";
    case MatchSource::Repeat:
      return "same code on other operands";
    case MatchSource::Operands:
      return "operator and operands";
    case MatchSource::Region:
      return "what it reads and writes";
  }
  return "none";
}

/// One record-to-be: launches of one name that compute the same nodes.
struct Kernel {
  int code = -1;           ///< index into the code's kernels; -1: a library call
  int match = -1;          ///< the launch whose nodes it has; -1: never launched
  std::vector<int> nodes;  ///< positions
  std::int64_t group = 0;
  trace::Id id = trace::kNone;
};

class ProgramWriter {
 public:
  ProgramWriter(ImportContext& context, trace::ProgramRecord program, std::string_view text, const OutputCode& code,
                const ProvenanceMaps& maps, const ProgramGraph& graph, trace::Id input)
      : context_(context), text_(text), code_(code), maps_(maps), graph_(graph), view_(graph.nodes), input_(input) {
    out_.program = std::move(program);
  }

  AddedProgram run() {
    add_program();
    match_ = detail::match_nodes(code_, maps_, view_);
    for (const auto& [name, hint] : code_.symbol_hints) hints_[name] = hint;
    collect_kernels();
    set_groups();
    add_scheduled();
    out_.program.snapshot = out_.scheduled != trace::kNone ? out_.scheduled : graph_.snapshot;
    context_.writer().update(out_.program);
    for (ImportedProgram& p : context_.programs()) {
      if (p.record.id == out_.program.id) p.record = out_.program;
    }
    find_elements();
    measure_buffers();
    for (Kernel& kernel : kernels_) add_kernel(kernel);
    add_buffers();
    add_launches();
    add_code();
    add_plan();
    return std::move(out_);
  }

 private:
  const CodeBuffer& buffer(int b) const { return code_.buffers[static_cast<size_t>(b)]; }
  const std::string& role() const { return out_.program.role; }
  std::string stage(std::string_view head) const {
    return role().empty() ? std::string(head) : fmt::format("{}:{}", head, role());
  }

  void add_program() {
    trace::ProgramRecord& program = out_.program;
    if (program.role.empty()) program.role = code_.role;
    if (program.id != trace::kNone) return;
    program.id = context_.writer().add(program);
    context_.programs().push_back({program, code_.aot_id, output_code_hash(text_)});
  }

  // --- kernels

  void collect_kernels() {
    std::map<std::pair<int, std::vector<int>>, int> loops;
    kernel_of_launch_.assign(code_.launches.size(), -1);
    std::set<int> launched;
    for (size_t i = 0; i < code_.launches.size(); ++i) {
      const CodeLaunch& l = code_.launches[i];
      const std::vector<int>& nodes = match_.launches[i].nodes;
      int index = static_cast<int>(kernels_.size());
      if (l.kernel >= 0) {
        launched.insert(l.kernel);
        index = loops.try_emplace({l.kernel, nodes}, index).first->second;
      }
      if (index == static_cast<int>(kernels_.size())) {
        kernels_.push_back({l.kernel, static_cast<int>(i), nodes, index + 1, trace::kNone});
      }
      kernel_of_launch_[i] = index;
    }
    for (size_t k = 0; k < code_.kernels.size(); ++k) {
      // Variants of a multi-kernel, code that is not called.
      if (launched.contains(static_cast<int>(k))) continue;
      kernels_.push_back({static_cast<int>(k), -1, {}, static_cast<std::int64_t>(kernels_.size()) + 1, trace::kNone});
    }
  }

  /// A node that several kernels compute is drawn with the library call that does it, else with the first.
  void set_groups() {
    groups_.assign(graph_.nodes.size(), 0);
    for (const bool library : {true, false}) {
      for (const Kernel& kernel : kernels_) {
        if (library != (kernel.code < 0)) continue;
        for (const int n : kernel.nodes) {
          if (library && view_.is_view(n)) continue;
          std::int64_t& group = groups_[static_cast<size_t>(n)];
          if (group == 0 && view_.is_call(n)) group = kernel.group;
        }
      }
    }
    for (const Kernel& kernel : kernels_) {
      for (const int n : kernel.nodes) {
        if (std::int64_t& group = groups_[static_cast<size_t>(n)]; group == 0 && view_.is_call(n)) group = kernel.group;
      }
    }
  }

  void add_scheduled() {
    if (graph_.nodes.empty()) return;
    std::vector<trace::NodeRecord> nodes(graph_.nodes.begin(), graph_.nodes.end());
    for (size_t i = 0; i < nodes.size(); ++i) nodes[i].group = groups_[i];
    trace::SnapshotRecord snapshot;
    snapshot.compile = out_.program.compile;
    snapshot.program = out_.program.id;
    snapshot.stage = stage("scheduled");
    out_.scheduled = context_.writer().add(snapshot, nodes);
  }

  std::vector<trace::NodeId> ids(const std::vector<int>& positions) const {
    std::vector<trace::NodeId> out;
    for (const int n : positions) out.push_back(graph_.nodes[static_cast<size_t>(n)].id);
    return out;
  }

  void add_kernel(Kernel& kernel) {
    trace::KernelRecord record;
    record.compile = out_.program.compile;
    record.program = out_.program.id;
    record.snapshot = out_.scheduled;
    record.group = kernel.group;
    record.nodes = ids(kernel.nodes);
    record.exact = kernel.match >= 0 && match_.launches[static_cast<size_t>(kernel.match)].source == MatchSource::Maps;
    const CodeKernel* code = kernel.code < 0 ? nullptr : &code_.kernels[static_cast<size_t>(kernel.code)];
    if (code != nullptr) {
      record.name = code->family == "user" && !code->symbol.empty() ? code->symbol : code->name;
      record.kind = code->code.empty() && code->variants.empty() ? trace::KernelKind::Opaque : trace::KernelKind::Loop;
      record.language = code->language;
    } else {
      record.name = record.library = code_.launches[static_cast<size_t>(kernel.match)].callee;
      record.kind = trace::KernelKind::Library;
    }
    record.device = device_of(kernel);
    if (kernel.match >= 0) record.bytes = launch_bytes(code_.launches[static_cast<size_t>(kernel.match)]);
    if (code == nullptr || code->family == "template") record.flops = flops(kernel);
    kernel.id = context_.writer().add(record);
    out_.kernels.push_back(kernel.id);
    add_kernel_artifacts(kernel, code, record);
  }

  std::string device_of(const Kernel& kernel) const {
    for (const int n : kernel.nodes) {
      if (const std::string& device = graph_.nodes[static_cast<size_t>(n)].device; !device.empty()) return device;
    }
    if (kernel.match < 0) return {};
    const CodeLaunch& l = code_.launches[static_cast<size_t>(kernel.match)];
    for (const std::vector<int>* list : {&l.writes, &l.reads}) {
      for (const int b : *list) {
        if (!buffer(b).device.empty()) return buffer(b).device;
      }
    }
    return {};
  }

  trace::Amount flops(const Kernel& kernel) const {
    std::vector<trace::Amount> parts;
    for (const int n : kernel.nodes) {
      trace::Amount part = detail::node_flops(view_, n, hints_);
      if (part.value || !part.formula.empty()) parts.push_back(std::move(part));
    }
    return detail::sum(parts, hints_);
  }

  void add_artifact(trace::Owner owner, std::string_view kind, std::string_view name, std::string content,
                    std::vector<trace::LineMapEntry> lines = {}) {
    trace::ArtifactRecord artifact;
    artifact.owner = owner;
    artifact.owner.compile = out_.program.compile;
    artifact.kind = kind;
    artifact.name = name;
    artifact.content = std::move(content);
    artifact.lines = std::move(lines);
    context_.writer().add(artifact);
  }

  void add_kernel_artifacts(const Kernel& kernel, const CodeKernel* code, const trace::KernelRecord& record) {
    const trace::Owner owner{trace::OwnerKind::Kernel, kernel.id, trace::kNone};
    if (std::string text = stacks(kernel); !text.empty()) add_artifact(owner, "stack", record.name, std::move(text));
    if (code == nullptr) return;
    if (!code->code.empty()) add_artifact(owner, code->language, code->name, code->code);
    if (!described_.insert(kernel.code).second) return;
    add_artifact(owner, "meta", record.name, kernel_meta(kernel, code));
    if (const auto info = maps_.triton.find(code->name); info != maps_.triton.end()) {
      add_artifact(owner, "autotune", record.name, autotune(info->second));
    }
  }

  /// The lines of Python that the producer says a kernel is from.
  std::string stacks(const Kernel& kernel) const {
    if (kernel.match < 0 || maps_.kernel_stacks.empty()) return {};
    const CodeLaunch& l = code_.launches[static_cast<size_t>(kernel.match)];
    const std::string& name = l.handle_name.empty() ? l.callee : l.handle_name;
    auto found = maps_.kernel_stacks.end();
    if (l.handle >= 0) found = maps_.kernel_stacks.find(fmt::format("{}:{}", name, l.handle));
    if (found == maps_.kernel_stacks.end()) found = maps_.kernel_stacks.find(l.callee);
    if (found == maps_.kernel_stacks.end()) return {};
    return fmt::format("{}", fmt::join(found->second, "\n"));
  }

  std::string kernel_meta(const Kernel& kernel, const CodeKernel* code) const {
    std::string out = "{";
    const auto put = [&](std::string_view key, const std::string& json) {
      out += fmt::format("{}{}: {}", out.size() > 1 ? ", " : "", json_text(key), json);
    };
    if (kernel.match >= 0) {
      const CodeLaunch& l = code_.launches[static_cast<size_t>(kernel.match)];
      put("nodes_from", json_text(source_name(match_.launches[static_cast<size_t>(kernel.match)].source)));
      put("call", json_text(l.text));
      if (!l.source_nodes.empty()) put("source_nodes", json_list(l.source_nodes));
      if (!l.original_aten.empty()) put("original_aten", json_list(l.original_aten));
      if (!l.scope.empty()) put("scope", json_text(l.scope));
    }
    if (code != nullptr) {
      if (!code->family.empty()) put("family", json_text(code->family));
      if (!code->path.empty()) put("path", json_text(code->path));
      for (const auto& [key, value] : code->meta) put(key, json_text(value));
      if (!code->mutated.empty()) put("mutated", json_list(code->mutated));
      if (!code->variants.empty()) put("variants", json_list(code->variants));
    }
    return out + "}";
  }

  static std::string autotune(const TritonKernelInfo& info) {
    std::string out = fmt::format("{{\"cache\": {}", json_text(info.cache));
    if (info.configs >= 0) out += fmt::format(", \"configs\": {}", info.configs);
    if (info.compile_us >= 0) out += fmt::format(", \"compile_us\": {}", info.compile_us);
    if (!info.config.empty()) {
      out += ", \"config\": {";
      for (size_t i = 0; i < info.config.size(); ++i) {
        out +=
            fmt::format("{}{}: {}", i ? ", " : "", json_text(info.config[i].first), json_text(info.config[i].second));
      }
      out += "}";
    }
    return out + "}";
  }

  // --- buffers

  /// `buf14 = buf13[0]`: buf13 is no memory of its own.
  void find_elements() {
    elements_.assign(code_.buffers.size(), {});
    for (size_t i = 0; i < code_.buffers.size(); ++i) {
      const CodeBuffer& b = code_.buffers[i];
      if (b.element >= 0 && b.alias_of >= 0) elements_[static_cast<size_t>(b.alias_of)].push_back(static_cast<int>(i));
    }
  }

  bool is_tuple(int b) const { return !elements_[static_cast<size_t>(b)].empty() && !buffer(b).has_sizes; }

  void measure_buffers() {
    bytes_.resize(code_.buffers.size());
    for (size_t i = 0; i < code_.buffers.size(); ++i) bytes_[i] = buffer_bytes(static_cast<int>(i));
  }

  trace::Amount buffer_bytes(int b) const {
    const CodeBuffer& held = buffer(b);
    int size = dtype_bytes(held.dtype);
    std::vector<std::string_view> dims(held.sizes.begin(), held.sizes.end());
    bool known = held.has_sizes;
    if (const int n = match_.buffer_nodes[static_cast<size_t>(b)]; n >= 0) {
      const trace::NodeRecord& node = graph_.nodes[static_cast<size_t>(n)];
      if (size == 0) size = dtype_bytes(node.dtype);
      if (!known && !node.shape.empty()) {
        dims = py::items(node.shape);
        known = true;
      }
    }
    // What takes over memory has the type of what was there unless it says otherwise.
    for (int from = held.reuse_of, steps = 0; size == 0 && from >= 0 && steps < 64; ++steps) {
      size = dtype_bytes(buffer(from).dtype);
      from = buffer(from).reuse_of;
    }
    if (!known || size == 0) return {};
    return detail::product(size, dims, hints_);
  }

  /// What an operand covers of its buffer: `reinterpret_tensor(buf0, (8, 4), ...)` may be a part.
  trace::Amount operand_bytes(const std::string& operand, int b) const {
    std::string_view text = operand;
    if (text.starts_with("out=")) text.remove_prefix(4);
    if (!text.starts_with("reinterpret_tensor(")) return bytes_[static_cast<size_t>(b)];
    const std::vector<std::string_view> parts = py::items(text.substr(18));
    int size = dtype_bytes(buffer(b).dtype);
    if (const int n = match_.buffer_nodes[static_cast<size_t>(b)]; n >= 0 && size == 0) {
      size = dtype_bytes(graph_.nodes[static_cast<size_t>(n)].dtype);
    }
    if (parts.size() < 2 || size == 0) return bytes_[static_cast<size_t>(b)];
    return detail::product(size, py::items(parts[1]), hints_);
  }

  /// Read and written bytes; unknown if one operand is.
  trace::Amount launch_bytes(const CodeLaunch& l) const {
    std::vector<trace::Amount> amounts;
    std::set<std::pair<int, bool>> seen;
    const auto put = [&](int b, bool write, const trace::Amount& amount) {
      if (seen.insert({b, write}).second) amounts.push_back(amount);
    };
    for (size_t i = 0; i < l.operands.size(); ++i) {
      for (const int b : l.buffers[i]) {
        const trace::Amount amount = operand_bytes(l.operands[i], b);
        if (std::find(l.reads.begin(), l.reads.end(), b) != l.reads.end()) put(b, false, amount);
        if (std::find(l.writes.begin(), l.writes.end(), b) != l.writes.end()) put(b, true, amount);
      }
    }
    for (const int b : l.writes) {
      if (!is_tuple(b)) put(b, true, bytes_[static_cast<size_t>(b)]);
      for (const int part : elements_[static_cast<size_t>(b)]) put(part, true, bytes_[static_cast<size_t>(part)]);
    }
    return detail::sum(amounts, hints_);
  }

  /// Buffers of a launch with parts in the place of tuples.
  std::vector<int> flat(const std::vector<int>& buffers) const {
    std::vector<int> out;
    for (const int b : buffers) {
      if (is_tuple(b)) {
        const std::vector<int>& parts = elements_[static_cast<size_t>(b)];
        out.insert(out.end(), parts.begin(), parts.end());
      } else {
        out.push_back(b);
      }
    }
    return out;
  }

  void add_buffers() {
    std::vector<std::pair<std::int64_t, std::int64_t>> life(code_.buffers.size(), {-1, -1});
    for (size_t i = 0; i < code_.launches.size(); ++i) {
      for (const std::vector<int>* list : {&code_.launches[i].reads, &code_.launches[i].writes}) {
        for (const int b : flat(*list)) {
          auto& [first, last] = life[static_cast<size_t>(b)];
          if (first < 0) first = static_cast<std::int64_t>(i);
          last = static_cast<std::int64_t>(i);
        }
      }
    }
    buffer_ids_.assign(code_.buffers.size(), trace::kNone);
    for (size_t i = 0; i < code_.buffers.size(); ++i) {
      const CodeBuffer& b = code_.buffers[i];
      if (b.kind == "symbol" || is_tuple(static_cast<int>(i))) continue;
      trace::BufferRecord record;
      record.compile = out_.program.compile;
      record.name = b.name;
      record.kind = b.kind;
      record.bytes = bytes_[i];
      record.first_launch = life[i].first;
      record.last_launch = life[i].second;
      if (const int n = match_.buffer_nodes[i]; n >= 0) record.node = graph_.nodes[static_cast<size_t>(n)].id;
      const int from = b.reuse_of >= 0 ? b.reuse_of : b.element < 0 ? b.alias_of : -1;
      if (from >= 0 && from < static_cast<int>(i)) record.reuse_of = buffer_ids_[static_cast<size_t>(from)];
      buffer_ids_[i] = context_.writer().add(record);
    }
  }

  // --- launches

  std::vector<trace::Id> buffer_ids(const std::vector<int>& buffers) const {
    std::vector<trace::Id> out;
    for (const int b : flat(buffers)) {
      if (const trace::Id id = buffer_ids_[static_cast<size_t>(b)]; id != trace::kNone) out.push_back(id);
    }
    return out;
  }

  void add_launches() {
    for (size_t i = 0; i < code_.launches.size(); ++i) {
      const CodeLaunch& l = code_.launches[i];
      trace::LaunchRecord record;
      record.compile = out_.program.compile;
      record.program = out_.program.id;
      record.ordinal = static_cast<std::int64_t>(i);
      record.kernel = kernels_[static_cast<size_t>(kernel_of_launch_[i])].id;
      record.reads = buffer_ids(l.reads);
      record.writes = buffer_ids(l.writes);
      record.line = l.line;
      out_.launches.push_back(context_.writer().add(record));
      count_launch(l, !match_.launches[i].nodes.empty());
    }
  }

  void count_launch(const CodeLaunch& l, bool has_nodes) {
    (l.kernel >= 0 ? out_.loop_launches : out_.library_launches) += 1;
    if (has_nodes) return;
    (l.kernel >= 0 ? out_.loop_without_nodes : out_.library_without_nodes) += 1;
    out_.without_nodes.push_back(fmt::format("{} at line {}", l.callee, l.line));
    if (input_ == trace::kNone || graph_.nodes.empty()) return;
    context_.problem(input_, "launch_without_nodes", 0,
                     fmt::format("the nodes that '{}' in line {} of the {} code computes were not found", l.callee,
                                 l.line, role().empty() ? "output" : role()));
  }

  // --- texts

  trace::Owner add_text_snapshot(std::string_view head) {
    trace::SnapshotRecord snapshot;
    snapshot.compile = out_.program.compile;
    snapshot.program = out_.program.id;
    snapshot.stage = stage(head);
    snapshot.kind = trace::SnapshotKind::Text;
    return {trace::OwnerKind::Snapshot, context_.writer().add(snapshot), trace::kNone};
  }

  void add_code() {
    std::vector<trace::LineMapEntry> lines;
    for (const Kernel& kernel : kernels_) {
      if (kernel.code < 0 || kernel.nodes.empty()) continue;
      const CodeKernel& code = code_.kernels[static_cast<size_t>(kernel.code)];
      if (code.first_line == 0 || !named_.insert(kernel.code).second) continue;
      lines.push_back({code.first_line, code.last_line, ids(kernel.nodes)});
    }
    for (size_t i = 0; i < code_.launches.size(); ++i) {
      const CodeLaunch& l = code_.launches[i];
      if (!match_.launches[i].nodes.empty()) lines.push_back({l.line, l.last_line, ids(match_.launches[i].nodes)});
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.first_line < b.first_line; });
    std::string name = out_.program.path.substr(out_.program.path.rfind('/') + 1);
    if (name.empty()) name = "output_code";
    add_artifact(add_text_snapshot("code"), code_.language == "cpp" && text_.starts_with("#include") ? "cpp" : "python",
                 name, std::string(text_), std::move(lines));
  }

  std::string names(const std::vector<int>& buffers) const {
    std::string out;
    for (const int b : flat(buffers)) out += (out.empty() ? "" : " ") + buffer(b).name;
    return out.empty() ? "-" : out;
  }

  void add_plan() {
    std::string out;
    std::vector<trace::LineMapEntry> lines;
    std::int64_t line = 1;
    for (size_t i = 0; i < code_.launches.size(); ++i) {
      const CodeLaunch& l = code_.launches[i];
      const trace::Amount bytes = launch_bytes(l);
      out +=
          fmt::format("{:>5}  {}\n       reads {}\n       writes {}\n", i, l.callee, names(l.reads), names(l.writes));
      out += fmt::format("       line {}", l.line);
      if (bytes.value) out += fmt::format(", {:.0f} B", *bytes.value);
      if (!bytes.formula.empty()) out += fmt::format(" = {}", bytes.formula);
      if (!l.scope.empty()) out += fmt::format(", under {}", l.scope);
      out += fmt::format(", nodes from {}\n", source_name(match_.launches[i].source));
      if (!match_.launches[i].nodes.empty()) lines.push_back({line, line + 3, ids(match_.launches[i].nodes)});
      line += 4;
    }
    add_artifact(add_text_snapshot("plan"), "plan", "plan", std::move(out), std::move(lines));
  }

  ImportContext& context_;
  std::string_view text_;
  const OutputCode& code_;
  const ProvenanceMaps& maps_;
  const ProgramGraph& graph_;
  GraphView view_;
  trace::Id input_;
  AddedProgram out_;
  ProgramMatch match_;
  Hints hints_;
  std::vector<Kernel> kernels_;
  std::vector<int> kernel_of_launch_;
  std::vector<std::int64_t> groups_;
  std::vector<std::vector<int>> elements_;
  std::vector<trace::Amount> bytes_;
  std::vector<trace::Id> buffer_ids_;
  std::set<int> named_, described_;
};

}  // namespace

AddedProgram add_output_code(ImportContext& context, trace::ProgramRecord program, std::string_view text,
                             const OutputCode& code, const ProvenanceMaps& maps, const ProgramGraph& graph,
                             trace::Id input) {
  return ProgramWriter(context, std::move(program), text, code, maps, graph, input).run();
}

}  // namespace strata::capture
