// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// libFuzzer harness of the readers of Inductor's output code, scheduler IR and tlparse pages: any text gives something
/// sound, nothing is thrown.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/inductor/match_nodes.h"
#include "capture/inductor/output_code.h"
#include "capture/inductor/scheduler_ir.h"
#include "capture/inductor/tlparse.h"

namespace {

using namespace strata;

/// A graph with the names that output code uses.
const std::vector<trace::NodeRecord>& nodes() {
  static const std::vector<trace::NodeRecord> list = [] {
    std::vector<trace::NodeRecord> out;
    const auto add = [&](const char* name, const char* op, const char* target, const char* args,
                         std::vector<std::vector<trace::NodeId>> inputs) {
      trace::NodeRecord n;
      n.id = static_cast<trace::NodeId>(out.size()) + 1;
      n.name = name;
      n.op = op;
      n.target = target;
      n.args = args;
      n.inputs = std::move(inputs);
      n.shape = "[4, 8]";
      n.dtype = "f32";
      out.push_back(std::move(n));
    };
    add("arg0_1", "placeholder", "arg0_1", "", {});
    add("arg1_1", "placeholder", "arg1_1", "", {});
    add("mm", "call_function", "aten.mm.default", "arg0_1, arg1_1", {{1}, {2}});
    add("add", "call_function", "aten.add.Tensor", "mm, 1", {{3}, {}});
    add("relu", "call_function", "aten.relu.default", "add", {{4}});
    add("output", "output", "output", "(relu,)", {{5}});
    return out;
  }();
  return list;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const capture::OutputCode code = capture::parse_output_code(text);
  const capture::ProgramMatch match = capture::match_nodes(code, {}, nodes());
  if (match.launches.size() != code.launches.size()) std::abort();
  for (std::size_t b = 0; b < code.buffers.size(); ++b) {
    if (code.storage_of(static_cast<int>(b)) < 0) std::abort();
  }
  (void)capture::output_code_hash(text);
  (void)capture::parse_scheduler_ir(text);
  (void)capture::text_of_html(text);
  (void)capture::parse_provenance(text, text, text, text);
  return 0;
}
