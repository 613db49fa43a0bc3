// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/opaque_call.h"

#include "codegen/launch_tensors.h"
#include "core/ir/interpreter.h"
#include "core/support/error.h"

namespace strata {
namespace {

const OpaqueCall& call_of(const Launch& launch) {
  const auto& call = std::get<OpaqueCall>(launch.work);
  if (!call.graph) throw_internal("opaque call " + launch.name + " has no graph");
  return call;
}

class OpaqueKernel : public CompiledKernel {
 public:
  OpaqueKernel(const Plan& plan, const Launch& launch)
      : launch_(launch), call_(call_of(launch)), tensors_(plan, launch, *call_.graph, call_.offsets) {}

  void run(const LaunchArgs& args) override {
    std::vector<RefValue> inputs = tensors_.operands(args);
    for (RefValue& input : inputs)  // copies: the interpreter may keep or alias what it is given
      if (auto* t = std::get_if<Tensor>(&input.value)) *t = t->clone();
    const std::vector<RefValue> results =
        Interpreter(*call_.graph).run(std::span<const RefValue>(inputs), args.symbols);
    for (size_t i = 0; i < results.size(); ++i) write(results[i], tensors_.result(args, i));
  }

 private:
  void write(const RefValue& result, const Tensor& to) const {
    const auto* value = std::get_if<Tensor>(&result.value);
    if (!value) throw_internal("opaque call " + launch_.name + " gave a result that is no tensor");
    if (value->shape != to.shape)
      throw_internal("opaque call " + launch_.name + " gave " + value->str() + ", planned was " + to.str());
    copy_elements(value->dtype == to.dtype ? *value : value->to(to.dtype), to);
  }

  const Launch& launch_;
  const OpaqueCall& call_;
  const LaunchTensors tensors_;
};

}  // namespace

std::unique_ptr<CompiledKernel> compile_opaque_call(const Plan& plan, const Launch& launch) {
  return std::make_unique<OpaqueKernel>(plan, launch);
}

}  // namespace strata
