// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/complex_to_real.h"

#include <algorithm>

#include "core/ir/complex_parts.h"
#include "core/support/error.h"

namespace strata {
namespace {

class Splitter {
 public:
  explicit Splitter(const Graph& graph) : graph_(graph), rewriter_(graph, "complex_to_real") {}

  PassResult run() {
    for (const auto& node : graph_.nodes()) visit(*node);
    Graph result = rewriter_.finish();
    if (!complex_inputs_.empty()) {
      result.input_specs.resize(result.placeholders().size());
      for (const size_t i : complex_inputs_) result.input_specs[i].complex = true;
    }
    return {std::move(result), rewriter_.take_rewrites()};
  }

 private:
  void visit(const Node& node) {
    if (node.kind == NodeKind::Placeholder) ++placeholders_;
    if (node.kind == NodeKind::Output) return output(node);
    if (!touches_complex(node)) {
      rewriter_.copy(node);
    } else if (node.kind == NodeKind::Placeholder) {
      input(node);
    } else if (node.kind == NodeKind::GetAttr) {
      constant(node);
    } else {
      call(node);
    }
  }

  /// What the parts of a complex node are; what a real one is.
  ComplexParts parts_of(const Node* old) const {
    const auto it = parts_.find(old);
    return it == parts_.end() ? ComplexParts{rewriter_.mapped(old), nullptr} : it->second;
  }

  void become(const Node& old, const ComplexParts& parts) {
    rewriter_.replace(old, parts.real, kRule, "complex numbers are computed with as two real ones");
    if (has_complex(old.type)) parts_[&old] = parts;
  }

  void input(const Node& node) {
    Node* pairs = rewriter_.copy(node);
    pairs->type.tensor = pairs_type(node.tensor());
    complex_inputs_.push_back(placeholders_ - 1);
    become(node, parts_of_pairs(rewriter_.at(node, kRule), pairs));
    pairs_[&node] = pairs;
  }

  void constant(const Node& node) {
    const auto it = graph_.attributes.find(node.target);
    if (it == graph_.attributes.end()) throw_internal("attribute '" + node.target + "' has no value");
    Builder& b = rewriter_.at(node, kRule);
    const auto part = [&](int64_t which, const char* suffix) {
      return b.constant(part_of(it->second, which).contiguous(), node.target + suffix);
    };
    Node* real = part(0, "_real");
    become(node, {real, part(1, "_imag")});
  }

  void call(const Node& node) {
    require_complex_support(node);
    if (node.target == "_operator.getitem")
      if (const auto it = tuples_.find(node.args.at(0).node()); it != tuples_.end())
        return become(node, it->second.at(static_cast<size_t>(Call(node).constant(1))));
    Builder& b = rewriter_.at(node, kRule);
    auto results = split_complex(b, Call(node), [&](const Node* n) { return parts_of(n); });
    become(node, results.at(0));
    if (results.size() > 1) tuples_[&node] = std::move(results);
  }

  /// Complex results are views of pairs; what is written back stays pairs, as the input is.
  void output(const Node& node) {
    std::vector<Argument> leaves;
    bool changed = false;
    const auto old = graph_.flat_outputs();
    for (size_t i = 0; i < old.size(); ++i) {
      const Node* leaf = old[i].node();
      if (!leaf || !has_complex(leaf->type)) {
        leaves.push_back(rewriter_.mapped(old[i]));
        continue;
      }
      changed = true;
      leaves.emplace_back(is_written_back(i) ? pairs(*leaf) : result(*leaf));
    }
    if (!changed) {
      rewriter_.copy(node);
      return;
    }
    auto made = std::make_unique<Node>(node);
    made->args = {Argument(ListArg{ListArg::Kind::Tuple, std::move(leaves)})};
    rewriter_.to().add(std::move(made));
  }

  bool is_written_back(size_t i) const {
    const OutputSpec::Kind kind = graph_.output_spec(i).kind;
    return kind == OutputSpec::Kind::BufferMutation || kind == OutputSpec::Kind::ParameterMutation ||
           kind == OutputSpec::Kind::UserInputMutation;
  }

  Node* pairs(const Node& leaf) {
    Node*& made = pairs_[&leaf];
    if (!made) made = interleaved(rewriter_.at(leaf, kRule), parts_.at(&leaf));
    return made;
  }
  Node* result(const Node& leaf) {
    Node* lying = pairs(leaf);
    Node*& made = results_[&leaf];
    if (!made) made = rewriter_.at(leaf, kRule).call("aten.view_as_complex.default", {lying});
    return made;
  }

  static constexpr const char* kRule = "complex as two real";

  const Graph& graph_;
  GraphRewriter rewriter_;
  std::unordered_map<const Node*, ComplexParts> parts_;
  std::unordered_map<const Node*, std::vector<ComplexParts>> tuples_;  ///< of calls with several results
  std::unordered_map<const Node*, Node*> pairs_, results_;
  size_t placeholders_ = 0;
  std::vector<size_t> complex_inputs_;
};

}  // namespace

PassResult complex_to_real(const Graph& graph, const PassContext&) { return Splitter(graph).run(); }

bool complex_to_real_may_change(const Graph& graph, const PassContext&) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const auto& node) { return has_complex(node->type); });
}

}  // namespace strata
