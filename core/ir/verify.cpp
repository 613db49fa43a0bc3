// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/verify.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "core/ir/op.h"
#include "core/support/error.h"

namespace strata {

namespace {

constexpr int kMaxGraphDepth = 64;

bool legal_name(std::string_view name) {
  auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), part);
}

class Verifier {
 public:
  Verifier(std::string_view after, const VerifyOptions& options) : after_(after), options_(options) {}

  void graph(const Graph& g, const std::string& path) {
    if (++depth_ > kMaxGraphDepth)
      fail("expected at most " + std::to_string(kMaxGraphDepth) + " nested graphs, found more");
    const Graph* outer_graph = graph_;
    const std::string outer_path = path_;
    graph_ = &g;
    path_ = path;
    std::unordered_set<const Node*> seen;
    std::unordered_set<std::string_view> names;
    for (const auto& n : g.nodes()) {
      node_ = n.get();
      identity(names);
      operands(g, seen);
      types();
      meaning();
      seen.insert(n.get());
    }
    node_ = nullptr;
    output();
    specs();
    for (const auto& [name, sub] : g.subgraphs) {
      if (!sub) fail("subgraph '" + name + "': expected a graph, found null");
      graph(*sub, path.empty() ? name : path + "." + name);
    }
    graph_ = outer_graph;
    path_ = outer_path;
    --depth_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    std::string where = "after " + std::string(after_) + ": graph '" + (graph_ ? graph_->name : "") + "'";
    if (!path_.empty()) where += " (subgraph " + path_ + ")";
    if (node_) where += ", node '" + node_->name + "' (id " + std::to_string(node_->id) + ", " + node_->target + ")";
    throw_internal(where + ": " + what);
  }
  /// `found` gives a text: asked only when something is wrong, for this runs for every node after every pass.
  template <class Found>
  void expect(bool holds, const char* expected, const Found& found) const {
    if (!holds) fail(std::string("expected ") + expected + ", found " + found());
  }

  void identity(std::unordered_set<std::string_view>& names) {
    expect(node_->id != 0, "an id", [&] { return std::string("0"); });
    expect(ids_.insert(node_->id).second, "an id used once", [&] { return std::string("a second node with it"); });
    expect(legal_name(node_->name), "a name of letters, digits, '_' and '.'", [&] { return "'" + node_->name + "'"; });
    expect(names.insert(node_->name).second, "a name used once", [&] { return std::string("a second node with it"); });
    expect(graph_->find(node_->name) == node_, "the graph's index to know the name",
           [&] { return std::string("another entry"); });
  }

  void operands(const Graph& g, const std::unordered_set<const Node*>& seen) const {
    auto check = [&](const Node* operand) {
      expect(operand != nullptr, "an operand", [&] { return std::string("null"); });
      if (seen.contains(operand)) return;
      bool mine = std::any_of(g.nodes().begin(), g.nodes().end(), [&](const auto& n) { return n.get() == operand; });
      if (!mine) fail("expected operands of the same graph, found one that is not in it");
      fail("expected operands before their users, found '" + operand->name + "' after");
    };
    for (const Argument& a : node_->args) argument(a, check);
    for (const auto& [key, a] : node_->kwargs) argument(a, check);
  }

  template <class Check>
  void argument(const Argument& a, const Check& check) const {
    if (auto* n = a.as<Node*>()) check(*n);
    if (auto* s = a.as<SymInt>()) symbolic(*s);
    if (auto* s = a.as<GraphArg>()) {
      expect(graph_->subgraphs.contains(s->name), "a subgraph of this graph", [&] { return "'" + s->name + "'"; });
    }
    if (auto* list = a.as<ListArg>()) {
      for (const Argument& item : list->items) argument(item, check);
    }
    if (auto* dict = a.as<DictArg>()) {
      for (const auto& [key, item] : dict->items) {
        argument(key, check);
        argument(item, check);
      }
    }
    if (auto* slice = a.as<SliceArg>()) {
      for (const Argument& item : slice->parts) argument(item, check);
    }
  }

  void symbolic(const SymInt& s) const {
    expect(s.is_const() || s.env() == &graph_->env(), "sizes of the graph's shape environment",
           [&] { return s.str() + " of another"; });
  }

  void types() const { type(node_->type); }

  void type(const Type& t) const {
    if (t.kind == Type::Kind::SymInt) symbolic(t.sym);
    for (const Type& part : t.parts) type(part);
    if (!t.is_tensor()) return;
    for (const SymInt& s : t.tensor.shape) symbolic(s);
    if (!t.tensor.strides) return;
    for (const SymInt& s : *t.tensor.strides) symbolic(s);
    expect(t.tensor.strides->size() == t.tensor.shape.size(), "as many strides as dimensions",
           [&] { return to_string(t); });
  }

  void meaning() const {
    if (node_->kind == NodeKind::Output) {
      expect(node_->args.size() == 1 && node_->kwargs.empty(), "one argument of the output",
             [&] { return std::to_string(node_->args.size() + node_->kwargs.size()); });
    }
    if (node_->op) {
      expect(node_->kind == NodeKind::Call, "an operator only in a call",
             [&] { return std::string(to_string(node_->kind)); });
      expect(find_op(node_->target) == node_->op, "the operator of the target", [&] { return node_->op->name; });
    }
    if (node_->kind == NodeKind::Call && node_->target == "_operator.getitem") getitem();
    if (!options_.compiled) return;
    if (node_->op) table_call();
    if (node_->kind == NodeKind::GetAttr) {
      bool there = graph_->attributes.contains(node_->target) || graph_->subgraphs.contains(node_->target);
      expect(there, "an attribute or subgraph of this graph", [&] { return "'" + node_->target + "'"; });
    }
  }

  void getitem() const {
    expect(node_->args.size() == 2, "two arguments of getitem", [&] { return std::to_string(node_->args.size()); });
    const Node* tuple = node_->args[0].node();
    if (!tuple || tuple->type.kind != Type::Kind::Tuple) return;
    const auto* index = node_->args[1].as<int64_t>();
    if (!index) return;
    const auto& parts = tuple->type.parts;
    const auto size = static_cast<int64_t>(parts.size());
    expect(*index >= -size && *index < size, "an index inside the tuple",
           [&] { return std::to_string(*index) + " of " + std::to_string(size) + " parts"; });
    const Type& part = parts[static_cast<size_t>(*index < 0 ? *index + size : *index)];
    if (part.kind == Type::Kind::Unknown || node_->type.kind == Type::Kind::Unknown) return;
    if (to_string(part) != to_string(node_->type)) {
      fail("expected the type of the part, " + to_string(part) + ", found " + to_string(node_->type));
    }
  }

  void table_call() const {
    const bool has_value = node_->op->op_class != OpClass::Assertion && !node_->op->schema.returns.empty();
    expect(!has_value || node_->type.kind != Type::Kind::Unknown, "a type", [&] { return std::string("none"); });
    try {
      Call call(*node_);
      for (size_t i = 0; i < call.size(); ++i) {
        const Param& param = node_->op->schema.params[i];
        const Node* value = call.arg(i).node();
        if (!value || param.list || param.type != "Tensor") continue;
        expect(value->type.kind != Type::Kind::Tuple, "one tensor as operand",
               [&] { return "the tuple '" + value->name + "'"; });
      }
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::Internal) throw;
      fail(e.what());
    }
  }

  void output() const {
    size_t outputs = 0;
    for (const auto& n : graph_->nodes()) outputs += n->kind == NodeKind::Output;
    expect(outputs == 1, "one output node", [&] { return std::to_string(outputs); });
    expect(graph_->output_node() != nullptr, "the output as last node",
           [&] { return "'" + graph_->nodes().back()->name + "'"; });
  }

  void specs() const {
    const size_t inputs = graph_->placeholders().size(), outputs = graph_->flat_outputs().size();
    if (!graph_->input_specs.empty() && graph_->input_specs.size() != inputs) {
      fail("expected an input spec per placeholder, " + std::to_string(inputs) + ", found " +
           std::to_string(graph_->input_specs.size()));
    }
    if (!graph_->output_specs.empty() && graph_->output_specs.size() != outputs) {
      fail("expected an output spec per output, " + std::to_string(outputs) + ", found " +
           std::to_string(graph_->output_specs.size()));
    }
  }

  std::string_view after_;
  VerifyOptions options_;
  const Graph* graph_ = nullptr;
  std::string path_;
  const Node* node_ = nullptr;
  std::unordered_set<NodeId> ids_;
  int depth_ = 0;
};

}  // namespace

void verify(const Graph& graph, std::string_view after, const VerifyOptions& options) {
  Verifier(after, options).graph(graph, "");
}

}  // namespace strata
