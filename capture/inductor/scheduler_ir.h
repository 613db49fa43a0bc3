// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Inductor's scheduler nodes before and after fusion: `ir_pre_fusion.txt`, `ir_post_fusion.txt`.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/import/context.h"

namespace strata::capture {

/// `MemoryDep('buf0', 8*c0 + c1, {c0: 64, c1: 8})`, `StarDep(name='buf0', mode=None)`, `WeakDep(...)`.
struct IrDep {
  std::string kind;  ///< `MemoryDep`
  std::string buffer;
  std::string index, ranges, mode;  ///< as written; may be empty
};

struct IrUser {
  std::string node;  ///< `op1`; `OUTPUT`: the graph returns it
  bool in_place = false;
  bool weak = false;
};

struct IrBuffer {
  std::string name;
  std::string ir_class;  ///< `ComputedBuffer`
  std::string device, dtype;
  std::vector<std::string> sizes, strides;
  bool has_layout = false;
  std::vector<IrUser> users;
};

struct IrNode {
  std::string name;        ///< `op1`; of a fused node `op2_op3`
  std::string node_class;  ///< `SchedulerNode`, `FusedSchedulerNode`
  std::string ir_classes;  ///< `ComputedBuffer`; of a fused node the classes of its members
  std::vector<IrDep> writes, unmet, met;
  std::vector<IrBuffer> outputs;
  std::string device, iteration, sizes;
  std::string kernel;                          ///< `extern_kernels.mm`; empty for loops
  std::vector<IrNode> members;                 ///< of a fused node
  std::int64_t first_line = 0, last_line = 0;  ///< from 1
};

/// Never throws for odd text. Older texts name nodes like buffers (`buf0: SchedulerNode(...)`); they are read too.
std::vector<IrNode> parse_scheduler_ir(std::string_view text);

/// Writes the IR of a program that is in the trace with its kernels: the snapshot `scheduled:ROLE.before_fusion`
/// (a node per scheduler node, inputs by buffers, `group` that of the kernel it became part of), a FusionRecord for
/// each pair of neighbours that became one, inferred origins from the buffers' nodes, the text snapshot `loops:ROLE`
/// (artifact `ir`, with lines), and for each kernel an artifact `loops` with its own part. Either text may be empty.
/// Commits the writer. Returns how many scheduler nodes were read.
std::int64_t add_scheduler_ir(ImportContext& context, const trace::ProgramRecord& program, std::string_view pre_fusion,
                              std::string_view post_fusion);

}  // namespace strata::capture
