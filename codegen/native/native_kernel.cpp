// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/native/native_kernel.h"

#include <cstring>

#include "codegen/launch_tensors.h"
#include "core/support/error.h"

namespace strata::native {
namespace {

/// One call with its operands and results as tensors over the launch's buffers.
class NativeKernel : public CompiledKernel {
 public:
  NativeKernel(const Plan& plan, const Launch& launch)
      : plan_(plan),
        launch_(launch),
        work_(std::get<NativeCall>(launch.work)),
        kernel_(find_kernel(work_.kernel)),
        node_(operator_of(work_.graph.get(), work_.kernel)),
        call_(node_) {
    if (!kernel_) throw_internal("there is no kernel '" + work_.kernel + "' for " + launch.name);
    for (const Node* p : work_.graph->placeholders())
      if (p->type.is_tensor()) inputs_.push_back(p);
    for (const Argument& leaf : work_.graph->flat_outputs()) outputs_.push_back(leaf.node());
    if (inputs_.size() + outputs_.size() != launch.buffers.size() || inputs_.size() != work_.offsets.size())
      throw_internal("native call " + launch.name + " does not have one buffer for each operand and result");
  }

  void run(const LaunchArgs& args) override {
    if (memory_.empty() || symbols_ != args.symbols) bind(args.symbols);
    for (size_t i = 0; i < memory_.size(); ++i) memory_[i]->data = args.buffers[i];
    kernel_(Arguments(call_, args.symbols, args.threads, operands_, results_));
    for (const auto& [from, to] : twins_) std::memcpy(memory_[to]->data, memory_[from]->data, memory_[to]->size);
  }

 private:
  /// Shapes and strides for these sizes; addresses come with each run.
  void bind(const SymBindings& symbols) {
    symbols_ = symbols;
    memory_.clear();
    for (const int b : launch_.buffers) {
      const PlanBuffer& buffer = plan_.buffers[static_cast<size_t>(b)];
      memory_.push_back(std::make_shared<Storage>());
      memory_.back()->size = static_cast<size_t>(evaluated(buffer.numel)) * dtype_size(buffer.dtype);
    }
    operands_.clear();
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const TensorType& type = inputs_[i]->tensor();
      operands_[inputs_[i]] = {type.dtype, evaluated(type.shape), evaluated(type.strides.value()),
                               evaluated(work_.offsets[i]), memory_[i]};
    }
    bind_results();
  }

  void bind_results() {
    results_.assign(node_.type.kind == Type::Kind::Tuple ? node_.type.parts.size() : 1, Tensor{});
    twins_.clear();
    std::vector<size_t> first(results_.size());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const size_t k = result_index(*outputs_[i], node_), at = inputs_.size() + i;
      if (results_.at(k).defined()) {
        twins_.emplace_back(first[k], at);
        continue;
      }
      const TensorType& type = outputs_[i]->tensor();
      const std::vector<int64_t> shape = evaluated(type.shape);
      results_[k] = {type.dtype, shape, contiguous_strides(std::span<const int64_t>(shape)), 0, memory_[at]};
      first[k] = at;
    }
  }

  int64_t evaluated(const SymInt& e) const { return evaluate_size(e, symbols_, launch_.name); }
  std::vector<int64_t> evaluated(const std::vector<SymInt>& sizes) const {
    return evaluate_sizes(sizes, symbols_, launch_.name);
  }

  const Plan& plan_;
  const Launch& launch_;
  const NativeCall& work_;
  const Kernel kernel_;
  const Node& node_;
  const Call call_;
  std::vector<const Node*> inputs_, outputs_;
  SymBindings symbols_;                           ///< that the following is bound to
  std::vector<std::shared_ptr<Storage>> memory_;  ///< per buffer of the launch
  std::unordered_map<const Node*, Tensor> operands_;
  std::vector<Tensor> results_;
  std::vector<std::pair<size_t, size_t>> twins_;  ///< buffers that get the same result: from, to
};

}  // namespace

const Tensor& Arguments::tensor(size_t param) const { return operands_.at(call.tensor(param)); }

std::vector<Tensor> Arguments::tensors(size_t param) const {
  std::vector<Tensor> list;
  for (const Node* node : call.tensors(param)) list.push_back(node ? operands_.at(node) : Tensor{});
  return list;
}

int64_t Arguments::eval(const SymInt& e) const { return evaluate_size(e, symbols, call.node().name); }

std::vector<int64_t> Arguments::integers(size_t param) const {
  std::vector<int64_t> values;
  for (const SymInt& e : call.integers(param)) values.push_back(eval(e));
  return values;
}

Kernel find_kernel(std::string_view name) {
  for (const std::span<const Entry> family :
       {sorting(), data_sizes(), pooling(), spacing(), special_functions(), selection(), scatters(), pairs(),
        histograms(), segments(), regions(), linear_algebra(), recurrent(), random_numbers(), grouped_products(),
        transforms()})
    for (const Entry& entry : family)
      if (entry.name == name) return entry.run;
  return nullptr;
}

std::unique_ptr<CompiledKernel> compile_native_call(const Plan& plan, const Launch& launch) {
  return std::make_unique<NativeKernel>(plan, launch);
}

}  // namespace strata::native
