// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_trace/log_kinds.h"

#include <simdjson.h>

#include <algorithm>
#include <map>

namespace strata::capture {
namespace {

struct Entry {
  RecordKind kind;
  GraphPlace place = GraphPlace::None;
  const char* stage = "";
};

using Kinds = std::map<std::string_view, Entry>;

// Top-level keys.
const Kinds& key_kinds() {
  using K = RecordKind;
  using P = GraphPlace;
  static const Kinds kinds{
      {"str", {K::String}},
      {"dynamo_start", {K::Start}},
      {"dynamo_output_graph", {K::Graph, P::Fixed, "captured"}},
      {"dynamo_guards", {K::GuardList}},
      {"dynamo_cpp_guards_str", {K::GuardTree}},
      {"compilation_metrics", {K::Metrics}},
      {"bwd_compilation_metrics", {K::Metrics}},
      {"aot_autograd_backward_compilation_metrics", {K::Metrics}},
      {"compilation_metrics_runtime", {K::Metrics}},
      {"bwd_compilation_metrics_runtime", {K::Metrics}},
      {"link", {K::Link}},
      {"dump_file", {K::Other}},
      {"compiled_autograd_graph", {K::Graph, P::Fixed, "functional:compiled_autograd_graph"}},
      {"optimize_ddp_split_graph", {K::Graph, P::Fixed, "functional:optimize_ddp_split_graph"}},
      {"optimize_ddp_split_child", {K::Graph, P::Fixed, "functional:optimize_ddp_split_child"}},
      {"export", {K::Other}},
      {"exported_program", {K::Other}},
      {"aot_joint_graph", {K::Graph, P::Fixed, "joint"}},
      {"aot_forward_graph", {K::Graph, P::Forward}},
      {"aot_backward_graph", {K::Graph, P::Backward}},
      {"aot_inference_graph", {K::Graph, P::Inference}},
      {"inductor_pre_grad_graph", {K::Graph, P::Fixed, "functional:after_pre_grad"}},
      {"inductor_post_grad_graph", {K::Graph, P::PostAfter}},
      {"inductor_output_code", {K::OutputCode}},
      {"graph_dump", {K::Other}},
      {"chromium_event", {K::Event}},
      {"describe_storage", {K::Storage}},
      {"describe_tensor", {K::Tensor}},
      {"describe_source", {K::Source}},
      {"create_symbol", {K::Symbol}},
      {"create_unbacked_symbol", {K::UnbackedSymbol}},
      {"guard_added_fast", {K::GuardAdded}},
      {"guard_added", {K::GuardAdded}},
      {"symbolic_shape_specialization", {K::Specialization}},
      {"propagate_real_tensors", {K::RealTensors}},
      {"propagate_real_tensors_provenance", {K::RealTensors}},
      {"expression_created", {K::Expression}},
      {"guard_on_data_dependent_error", {K::DataDependent}},
      {"missing_fake_kernel", {K::FakeKernel}},
      {"mismatched_fake_kernel", {K::FakeKernel}},
  };
  return kinds;
}

// Names of artifacts that are more than text to be kept.
const Kinds& artifact_kinds() {
  using K = RecordKind;
  using P = GraphPlace;
  static const Kinds kinds{
      {"dynamo_graph_break_reason", {K::Break}},
      {"recompile_reasons", {K::Recompile}},
      {"dynamo_error", {K::Error}},
      {"torch_version", {K::Version}},
      {"fx_graph_runnable", {K::Runnable}},
      {"triton_kernel_info", {K::TritonInfo}},
      {"inductor_provenance_tracking_node_mappings", {K::NodeMappings}},
      {"inductor_provenance_tracking_kernel_stack_traces", {K::KernelStacks}},
      {"inductor_triton_kernel_to_post_grad_nodes", {K::PostNodes}},
      {"inductor_post_to_pre_grad_nodes", {K::PreNodes}},
      {"before_pre_grad_graph", {K::Graph, P::Fixed, "functional:before_pre_grad"}},
      {"after_pre_grad_graph", {K::Graph, P::Fixed, "functional:after_pre_grad"}},
      {"before_post_grad_graph", {K::Graph, P::PostBefore}},
      {"after_post_grad_graph", {K::Graph, P::PostAfter}},
      {"inductor_post_grad_graph", {K::Graph, P::PostAfter}},
  };
  return kinds;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_cache(std::string_view name) {
  if (!contains(name, "cache")) return false;
  for (const std::string_view end : {"_hit", "_miss", "_bypass", "_disabled", "_exception", "_pickle_failure"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

// The first payload line that is not empty, without its TAB.
std::string_view first_payload_line(std::string_view payload) {
  while (!payload.empty()) {
    const std::size_t end = std::min(payload.find('\n'), payload.size());
    std::string_view line = payload.substr(0, end);
    payload.remove_prefix(std::min(payload.size(), end + 1));
    if (!line.starts_with('\t')) continue;
    line.remove_prefix(1);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return line;
  }
  return {};
}

// Any pass may log a graph under a name of its own: the text tells.
bool holds_graph(std::string_view payload) {
  const std::string_view line = first_payload_line(payload);
  return line.starts_with("class ") && contains(line, "torch.nn.Module)");
}

// Names end up in lists and messages: of a damaged or hostile file, only so much of them.
std::string tame(std::string name) {
  constexpr std::size_t kLongest = 200;
  if (name.size() > kLongest) name = name.substr(0, kLongest) + "...";
  if (!simdjson::validate_utf8(name)) {
    for (char& c : name) c = static_cast<unsigned char>(c) < 0x80 ? c : '?';
  }
  return name;
}

std::string stage_of_name(std::string_view name) {
  for (const std::string_view part : {"pre_grad", "dynamo", "ddp", "compiled_autograd"}) {
    if (contains(name, part)) return "functional:" + std::string(name);
  }
  return "simplified:" + std::string(name);
}

RecordClass classify_artifact(const LogRecord& record) {
  RecordClass c;
  c.name = tame(record.metadata.find("name").words());
  c.count = "artifact:" + c.name;
  const auto found = artifact_kinds().find(c.name);
  if (found != artifact_kinds().end()) {
    c.kind = found->second.kind;
    c.place = found->second.place;
    c.stage = found->second.stage;
  } else if (is_cache(c.name)) {
    c.kind = RecordKind::Cache;
  } else if (holds_graph(record.payload)) {
    c.kind = RecordKind::Graph;
    c.place = GraphPlace::Fixed;
    c.stage = stage_of_name(c.name);
  } else {
    c.kind = RecordKind::Other;
  }
  return c;
}

}  // namespace

RecordClass classify(const LogRecord& record) {
  RecordClass c;
  if (record.key == "artifact") {
    c = classify_artifact(record);
  } else if (const auto found = key_kinds().find(record.key); found != key_kinds().end()) {
    c = {found->second.kind, found->second.place, record.key, record.key, found->second.stage};
    const std::string child =
        record.key == "optimize_ddp_split_child" ? tame(record.metadata.find("name").words()) : "";
    if (!child.empty()) c.stage += "." + child;
  } else {
    c.name = tame(record.key);
    c.count = "unknown:" + c.name;
  }
  // Replays from a cache come without the text.
  if (c.kind == RecordKind::Graph && !record.has_payload_lines) c.kind = RecordKind::Other;
  return c;
}

std::string_view role_of_code(std::string_view code) {
  const std::string_view line = code.substr(0, code.find('\n'));
  if (!contains(line, "AOT ID:")) return {};
  for (const std::string_view role : {"forward", "backward", "inference"}) {
    if (contains(line, role)) return role;
  }
  return {};
}

}  // namespace strata::capture
