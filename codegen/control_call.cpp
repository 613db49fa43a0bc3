// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/control_call.h"

#include "codegen/launch_tensors.h"
#include "codegen/native/strided.h"
#include "core/ir/control_flow.h"
#include "core/support/error.h"

namespace strata {
namespace {

class ControlKernel : public CompiledKernel {
 public:
  ControlKernel(const Plan& plan, const Launch& launch,
                std::vector<std::vector<std::unique_ptr<CompiledKernel>>> bodies, int threads)
      : call_(std::get<ControlCall>(launch.work)),
        tensors_(plan, launch, *call_.graph, call_.offsets),
        node_(operator_of(call_.graph.get(), launch.name)),
        flow_(control_flow_of(node_)) {
    for (size_t b = 0; b < bodies.size(); ++b) {
      bodies_.push_back(std::make_unique<Executor>(call_.bodies.at(b), std::move(bodies[b]), threads));
      bodies_.back()->set_prepared(true);  // runs follow each other: what one has returned is soon free again
    }
    for (const Argument& leaf : call_.graph->flat_outputs()) results_.push_back(result_index(*leaf.node(), node_));
  }

  void run(const LaunchArgs& args) override {
    const std::vector<RefValue> values = tensors_.operands(args);
    const auto value = [&](const Argument& a) -> RefValue {
      if (const Node* node = a.node()) return values.at(tensors_.placeholder(*node));
      if (const auto* b = a.as<bool>()) return *b;
      if (const auto* i = a.as<int64_t>()) return *i;
      if (const auto* size = a.as<SymInt>()) return tensors_.eval(*size, args.symbols);
      return {};
    };
    std::vector<RefValue> operands;
    for (const Argument& a : flow_.operands) operands.push_back(value(a));
    std::vector<Tensor> memory(flow_.results);
    for (size_t i = 0; i < results_.size(); ++i) memory[results_[i]] = tensors_.result(args, i);
    ControlRunner runner;
    runner.run = [&](size_t body, const std::vector<RefValue>& inputs) { return run_body(body, inputs); };
    runner.memory = [&](size_t k) {
      return memory[k].defined() ? memory[k] : tensors_.apart(args, result_types(node_)[k].tensor);
    };
    const std::vector<RefValue> made = run_control_flow(flow_, value(flow_.condition), std::move(operands), runner);
    for (size_t i = 0; i < results_.size(); ++i) {
      const Tensor &from = made.at(results_[i]).tensor(), to = tensors_.result(args, i);
      if (from.shape != to.shape) throw_user(node_.target + " gave " + from.str() + ", expected " + to.str());
      if (from.data() != to.data()) native::copy_to_rows(from.dtype == to.dtype ? from : from.to(to.dtype), to);
    }
  }

 private:
  std::vector<RefValue> run_body(size_t body, const std::vector<RefValue>& inputs) const {
    std::vector<Tensor> given;
    for (const RefValue& input : inputs) given.push_back(as_tensor(input));
    const std::vector<Tensor> results = bodies_[body]->run(given);
    return {results.begin(), results.end()};
  }

  static Tensor as_tensor(const RefValue& value) {
    if (const auto* t = std::get_if<Tensor>(&value.value)) return *t;
    const auto* i = std::get_if<int64_t>(&value.value);
    const auto* b = std::get_if<bool>(&value.value);
    if (!i && !b) throw_internal("an operand of control flow is neither a tensor nor an integer");
    Tensor number = Tensor::empty(i ? DType::I64 : DType::Bool, {});
    number.set_int(0, i ? *i : *b);
    return number;
  }

  const ControlCall& call_;
  const LaunchTensors tensors_;
  const Node& node_;
  const ControlFlow flow_;
  std::vector<std::unique_ptr<Executor>> bodies_;
  std::vector<size_t> results_;  ///< per result of the launch, which of the call's it is
};

}  // namespace

std::unique_ptr<CompiledKernel> compile_control_call(const Plan& plan, const Launch& launch,
                                                     std::vector<std::vector<std::unique_ptr<CompiledKernel>>> bodies,
                                                     int threads) {
  return std::make_unique<ControlKernel>(plan, launch, std::move(bodies), threads);
}

}  // namespace strata
