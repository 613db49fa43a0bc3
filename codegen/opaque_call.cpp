// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/opaque_call.h"

#include <cstring>

#include "core/ir/interpreter.h"
#include "core/support/error.h"

namespace strata {
namespace {

class OpaqueKernel : public CompiledKernel {
 public:
  OpaqueKernel(const Plan& plan, const Launch& launch)
      : plan_(plan), launch_(launch), call_(std::get<OpaqueCall>(launch.work)) {
    if (!call_.graph) throw_internal("opaque call " + launch.name + " has no graph");
    size_t needed = 0;
    for (const Node* p : call_.graph->placeholders()) needed += p->type.is_tensor();
    needed += call_.graph->flat_outputs().size();
    if (needed != launch.buffers.size()) {
      throw_internal("opaque call " + launch.name + " needs " + std::to_string(needed) + " buffers, found " +
                     std::to_string(launch.buffers.size()));
    }
  }

  void run(const LaunchArgs& args) override {
    std::vector<RefValue> inputs;
    size_t at = 0;
    for (const Node* p : call_.graph->placeholders()) {
      if (p->type.is_tensor()) {
        inputs.emplace_back(operand(p->tensor(), args, at++));
      } else if (p->type.kind == Type::Kind::SymInt) {
        inputs.emplace_back(eval(p->type.sym, args.symbols));
      } else {
        inputs.emplace_back();
      }
    }
    const std::vector<RefValue> results =
        Interpreter(*call_.graph).run(std::span<const RefValue>(inputs), args.symbols);
    for (const RefValue& r : results) write(r, args, at++);
  }

 private:
  int64_t eval(const SymInt& e, const SymBindings& symbols) const {
    const std::optional<int64_t> v = evaluate(e, symbols);
    if (!v) throw_internal("size " + e.str() + " of " + launch_.name + " is not bound");
    return *v;
  }
  std::vector<int64_t> eval(const std::vector<SymInt>& list, const SymBindings& symbols) const {
    std::vector<int64_t> values;
    for (const SymInt& e : list) values.push_back(eval(e, symbols));
    return values;
  }

  Tensor view(DType dtype, const std::vector<SymInt>& shape, const std::vector<SymInt>& strides, const LaunchArgs& args,
              size_t at) const {
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

  /// A copy: the interpreter may keep or alias what it is given.
  Tensor operand(const TensorType& type, const LaunchArgs& args, size_t at) const {
    Tensor t = view(type.dtype, type.shape, type.strides.value_or(std::vector<SymInt>{}), args, at);
    if (at < call_.offsets.size()) t.offset = eval(call_.offsets[at], args.symbols);
    return t.clone();
  }

  void write(const RefValue& result, const LaunchArgs& args, size_t at) const {
    const PlanBuffer& buffer = plan_.buffers[launch_.buffers[at]];
    const auto* value = std::get_if<Tensor>(&result.value);
    if (!value) throw_internal("opaque call " + launch_.name + " gave a result that is no tensor");
    const Tensor to = view(buffer.dtype, buffer.shape, buffer.strides, args, at);
    if (value->shape != to.shape)
      throw_internal("opaque call " + launch_.name + " gave " + value->str() + ", planned was " + to.str());
    const Tensor from = value->dtype == to.dtype ? value->contiguous() : value->to(to.dtype);
    const size_t item = dtype_size(to.dtype);
    const int64_t total = from.numel();
    if (to.is_contiguous()) {
      if (total > 0) std::memcpy(to.data(), from.data(), static_cast<size_t>(total) * item);
      return;
    }
    for (int64_t i = 0; i < total; ++i) {
      int64_t rest = i, position = 0;
      for (size_t d = to.rank(); d-- > 0;) {
        position += rest % to.shape[d] * to.strides[d];
        rest /= to.shape[d];
      }
      std::memcpy(to.data() + static_cast<size_t>(position) * item, from.data() + static_cast<size_t>(i) * item, item);
    }
  }

  const Plan& plan_;
  const Launch& launch_;
  const OpaqueCall& call_;
};

}  // namespace

std::unique_ptr<CompiledKernel> compile_opaque_call(const Plan& plan, const Launch& launch) {
  return std::make_unique<OpaqueKernel>(plan, launch);
}

}  // namespace strata
