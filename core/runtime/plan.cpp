// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan.h"

#include <algorithm>
#include <optional>

#include "core/support/error.h"

namespace strata {

const Graph* call_graph(const Launch& launch) {
  if (const auto* native = std::get_if<NativeCall>(&launch.work)) return native->graph.get();
  if (const auto* control = std::get_if<ControlCall>(&launch.work)) return control->graph.get();
  if (const auto* opaque = std::get_if<OpaqueCall>(&launch.work)) return opaque->graph.get();
  return nullptr;
}

std::vector<size_t> written_by(const Launch& launch) {
  std::vector<size_t> written;
  if (const auto* kernel = std::get_if<loop::Kernel>(&launch.work)) {
    for (size_t i = 0; i < std::min(kernel->buffers.size(), launch.buffers.size()); ++i) {
      const loop::BufferRole role = kernel->buffers[i].role;
      if (role == loop::BufferRole::Output || role == loop::BufferRole::InOut) written.push_back(i);
    }
  } else if (const auto* call = std::get_if<LibraryCall>(&launch.work)) {
    if (call->result.buffer >= 0) written.push_back(static_cast<size_t>(call->result.buffer));
  } else if (const Graph* graph = call_graph(launch)) {
    // Operands, then the results.
    const size_t results = std::min(graph->flat_outputs().size(), launch.buffers.size());
    for (size_t i = launch.buffers.size() - results; i < launch.buffers.size(); ++i) written.push_back(i);
  }
  return written;
}

int64_t evaluate_size(const SymInt& size, const SymBindings& symbols, const std::string& what) {
  if (size.is_const()) return size.value();
  const std::optional<int64_t> value = evaluate(size, symbols);
  if (!value)
    throw_user("the size " + size.str() + " of " + what + " follows from no input and from no result before it",
               "the program is damaged, or was changed by hand; export it again");
  return *value;
}

std::vector<int64_t> evaluate_sizes(const std::vector<SymInt>& sizes, const SymBindings& symbols,
                                    const std::string& what) {
  std::vector<int64_t> values;
  values.reserve(sizes.size());
  for (const SymInt& e : sizes) values.push_back(evaluate_size(e, symbols, what));
  return values;
}

}  // namespace strata
