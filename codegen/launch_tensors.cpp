// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/launch_tensors.h"

#include "core/support/error.h"

namespace strata {

const Node& operator_of(const Graph* graph, const std::string& launch) {
  if (graph)
    for (const auto& node : graph->nodes())
      if (node->kind == NodeKind::Call) return *node;
  throw_internal("call '" + launch + "' has no operator");
}

size_t result_index(const Node& output, const Node& operation) {
  return &output == &operation ? 0 : static_cast<size_t>(*output.args.at(1).as<int64_t>());
}

LaunchTensors::LaunchTensors(const Plan& plan, const Launch& launch, const Graph& graph,
                             const std::vector<SymInt>& offsets)
    : plan_(plan), launch_(launch), offsets_(offsets), placeholders_(graph.placeholders()) {
  for (const Node* p : placeholders_) {
    positions_[p] = positions_.size();
    tensors_ += p->type.is_tensor();
  }
  const size_t needed = tensors_ + graph.flat_outputs().size();
  if (needed != launch.buffers.size()) {
    throw_internal("call " + launch.name + " needs " + std::to_string(needed) + " buffers, found " +
                   std::to_string(launch.buffers.size()));
  }
}

std::vector<RefValue> LaunchTensors::operands(const LaunchArgs& args) const {
  std::vector<RefValue> values;
  size_t at = 0;
  for (const Node* p : placeholders_) {
    if (p->type.is_tensor()) {
      const TensorType& type = p->tensor();
      Tensor t = view(type.dtype, type.shape, type.strides.value_or(std::vector<SymInt>{}), args, at);
      if (at < offsets_.size()) t.offset = eval(offsets_[at], args.symbols);
      values.emplace_back(std::move(t));
      ++at;
    } else if (p->type.kind == Type::Kind::SymInt) {
      values.emplace_back(eval(p->type.sym, args.symbols));
    } else {
      values.emplace_back();
    }
  }
  return values;
}

Tensor LaunchTensors::result(const LaunchArgs& args, size_t i) const {
  const size_t at = tensors_ + i;
  const PlanBuffer& buffer = plan_.buffers[launch_.buffers[at]];
  return view(buffer.dtype, buffer.shape, buffer.strides, args, at);
}

Tensor LaunchTensors::apart(const LaunchArgs& args, const TensorType& type) const {
  return Tensor::empty(type.dtype, eval(type.shape, args.symbols));
}

int64_t LaunchTensors::eval(const SymInt& size, const SymBindings& symbols) const {
  return evaluate_size(size, symbols, launch_.name);
}

std::vector<int64_t> LaunchTensors::eval(const std::vector<SymInt>& sizes, const SymBindings& symbols) const {
  return evaluate_sizes(sizes, symbols, launch_.name);
}

Tensor LaunchTensors::view(DType dtype, const std::vector<SymInt>& shape, const std::vector<SymInt>& strides,
                           const LaunchArgs& args, size_t at) const {
  Tensor t;
  t.dtype = dtype;
  t.shape = eval(shape, args.symbols);
  t.strides = strides.size() == shape.size() ? eval(strides, args.symbols)
                                             : contiguous_strides(std::span<const int64_t>(t.shape));
  t.storage = std::make_shared<Storage>();
  t.storage->data = args.buffers[at];
  t.storage->size =
      static_cast<size_t>(eval(plan_.buffers[launch_.buffers[at]].numel, args.symbols)) * dtype_size(dtype);
  return t;
}

}  // namespace strata
