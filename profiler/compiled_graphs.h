// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What an imported log says about the compiled side of a comparison: captured calls in program order, and the kernels
/// that they became.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/reader.h"
#include "profiler/align.h"
#include "profiler/captured.h"

namespace strata::profiler {

/// A call of a captured graph.
struct CapturedCall {
  trace::Id compile = trace::kNone;
  trace::NodeId node = 0;
  AlignItem item;
  std::string line;  ///< `model.py:12: return x + 1`; may be empty
  std::string module;
  trace::SourceLocation at;  ///< of `line`
};

/// What a kernel computes, as far as a node says.
struct ComputedNode {
  std::string name;                 ///< of the node; empty where only the callee is known
  std::string base, family;         ///< as op_names.h has them
  std::vector<std::string> shapes;  ///< of the tensor inputs
};

/// A kernel of one program.
struct ProgramKernel {
  trace::KernelRecord record;
  std::string address, role;              ///< `0/1`, `forward`; role may be empty
  std::map<trace::NodeId, int> captured;  ///< captured calls behind it with how many of its nodes each became
  std::vector<ComputedNode> nodes;
  bool is_library() const { return record.kind == trace::KernelKind::Library; }
  bool is_backward() const { return role == "backward"; }
};

struct CompiledGraph {
  trace::CompileRecord record;
  std::vector<CapturedCall> calls;
  std::vector<ProgramKernel> kernels;            ///< by first launch
  std::map<trace::NodeId, std::size_t> call_of;  ///< place in `calls`
};

class CompiledGraphs {
 public:
  explicit CompiledGraphs(trace::Reader& reader);

  /// Compiles with a captured graph that were not given up, in order.
  const std::vector<trace::CompileRecord>& compiles() const { return compiles_; }
  /// Read when first asked for; null without a captured graph.
  const CompiledGraph* graph(trace::Id compile);
  /// The program that a profile calls KEY (`## Call CompiledFxGraph KEY ##`); null unknown.
  const trace::ProgramRecord* program(const std::string& key) const;
  const trace::ProgramRecord* program(trace::Id id) const;
  /// The compile that a region of this address belongs to; kNone unknown.
  trace::Id compile_at(std::string_view address) const;

 private:
  std::unique_ptr<CompiledGraph> read(const trace::CompileRecord& record);

  trace::Reader& reader_;
  std::vector<trace::CompileRecord> compiles_;
  std::map<trace::Id, std::unique_ptr<CompiledGraph>> graphs_;
  std::map<std::string, trace::ProgramRecord> by_key_;
  std::map<trace::Id, trace::ProgramRecord> by_id_;
};

}  // namespace strata::profiler
