// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The operator table's pointwise, view, reduction, indexing and symbolic rows against PyTorch's values: types and
// strides, references in native precision and in float64, decompositions, gradients. Every row of these families must
// have a case.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/ir/complex_parts.h"
#include "core/support/error.h"
#include "tests/core/ops_cases.h"

namespace strata {
namespace {

using testing::CaseGraph;
using testing::Expected;
using testing::OpCase;

const std::vector<OpCase>& cases() { return testing::all_op_cases(); }

double tolerance(DType d) {
  switch (real_dtype(d)) {
    case DType::BF16:
      return 1e-2;
    case DType::F16:
      return 2e-3;
    case DType::F32:
      return 2e-6;
    case DType::F64:
      return 1e-6;  // the file holds nine digits
    default:
      return 0;
  }
}

/// Empty if close, else what differs.
std::string difference(const Tensor& got, const Tensor& want, double tol) {
  if (is_complex(got.dtype) && is_complex(want.dtype)) return difference(as_pairs(got), as_pairs(want), tol);
  if (got.shape != want.shape) return "shape " + got.str() + ", expected " + want.str();
  for (int64_t k = 0; k < want.numel(); ++k) {
    if (!is_floating(want.dtype)) {
      if (got.int_at(k) != want.int_at(k))
        return "element " + std::to_string(k) + " is " + std::to_string(got.int_at(k)) + ", expected " +
               std::to_string(want.int_at(k));
      continue;
    }
    const double g = got.at(k), w = want.at(k);
    if (std::isnan(g) && std::isnan(w)) continue;
    if (g == w) continue;
    if (!(std::fabs(g - w) <= tol * (std::fabs(w) + 1)))
      return "element " + std::to_string(k) + " is " + std::to_string(g) + ", expected " + std::to_string(w);
  }
  return {};
}

/// Runs the graph with `outputs` (a list) as its results.
std::vector<RefValue> run(CaseGraph& g, const std::vector<Tensor>& inputs, const std::vector<Node*>& outputs,
                          bool float64) {
  g.graph.output(Argument::list(std::vector<Argument>(outputs.begin(), outputs.end())));
  InterpreterOptions options;
  options.float64 = float64;
  return Interpreter(g.graph, options).run(std::span<const Tensor>(inputs));
}

/// One node per result of the call.
std::vector<Node*> results_of(Builder& b, Node* call) {
  if (call->type.kind != Type::Kind::Tuple) return {call};
  std::vector<Node*> parts;
  for (size_t k = 0; k < call->type.parts.size(); ++k) parts.push_back(b.getitem(call, static_cast<int64_t>(k)));
  return parts;
}

void compare(const std::vector<RefValue>& got, const OpCase& c, bool float64) {
  ASSERT_EQ(got.size(), c.out.size());
  for (size_t k = 0; k < got.size(); ++k) {
    const Expected& want = c.out[k];
    if (!want.is_tensor) {
      EXPECT_EQ(std::get<int64_t>(got[k].value), want.value);
      continue;
    }
    const Tensor& t = got[k].tensor();
    const bool carried = float64 && is_floating(real_dtype(want.dtype));
    EXPECT_EQ(real_dtype(t.dtype), carried ? DType::F64 : real_dtype(want.dtype)) << t.str();
    EXPECT_EQ(is_complex(t.dtype), is_complex(want.dtype)) << t.str();
    double tol = tolerance(want.dtype);
    if (float64)
      for (const Tensor& in : c.inputs)  // PyTorch rounded on the way
        if (is_floating(real_dtype(in.dtype))) tol = std::max(tol, 8 * tolerance(in.dtype));
    EXPECT_EQ(difference(t, want.data, tol), "");
  }
}

// --------------------------------------------------------------------------------------------------------------- types

TEST(OpsA, TypesAreThoseOfPyTorch) {
  for (const OpCase& c : cases()) {
    SCOPED_TRACE(c.text);
    CaseGraph g(c);
    Builder b(g.graph);
    try {
      const Type type = g.add_call(b, c)->type;
      const std::vector<Type> parts = type.kind == Type::Kind::Tuple ? type.parts : std::vector<Type>{type};
      ASSERT_EQ(parts.size(), c.out.size());
      for (size_t k = 0; k < parts.size(); ++k) {
        if (!c.out[k].is_tensor) {
          EXPECT_EQ(parts[k].sym, SymInt(c.out[k].value));
          continue;
        }
        EXPECT_EQ(parts[k].tensor.dtype, c.out[k].dtype);
        EXPECT_EQ(parts[k].tensor.shape, std::vector<SymInt>(c.out[k].shape.begin(), c.out[k].shape.end()));
        ASSERT_TRUE(parts[k].tensor.strides);
        if (!c.out[k].strides) continue;
        EXPECT_EQ(*parts[k].tensor.strides, std::vector<SymInt>(c.out[k].strides->begin(), c.out[k].strides->end()));
      }
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

// -------------------------------------------------------------------------------------------------------------- values

void check_values(bool float64, bool decompose, size_t at_least) {
  size_t checked = 0;
  for (const OpCase& c : cases()) {
    SCOPED_TRACE(c.text);
    const OpDef* op = find_op(c.op);
    ASSERT_NE(op, nullptr);
    if (decompose && !op->decompose) continue;
    if (float64 && c.record.find("f64")) continue;  // jumps where float32 rounds to the next integer
    CaseGraph g(c);
    Builder b(g.graph);
    try {
      Node* call = g.add_call(b, c);
      const std::vector<Node*> results = decompose ? op->decompose(b, Call(*call)) : results_of(b, call);
      if (decompose && results.empty()) continue;  // a primitive for these operands
      if (decompose && touches_complex(*call) && complex_support(*op) != ComplexSupport::Decomposes) continue;
      std::vector<Node*> outputs = results;
      if (decompose) {
        g.graph.remove_if([&](const Node& n) { return &n == call; });
        for (size_t k = 0; k < results.size(); ++k) EXPECT_EQ(results[k]->type.tensor.dtype, c.out[k].dtype);
      }
      compare(run(g, c.inputs, outputs, float64), c, float64);
      ++checked;
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_GT(checked, at_least);
}

TEST(OpsA, ReferencesGivePyTorchsValues) { check_values(false, false, 1100); }
TEST(OpsA, ReferencesInFloat64AreClose) { check_values(true, false, 1100); }
TEST(OpsA, DecompositionsGivePyTorchsValues) { check_values(false, true, 250); }
TEST(OpsA, DecompositionsInFloat64AreClose) { check_values(true, true, 250); }

// ----------------------------------------------------------------------------------------------------------- gradients

/// Cotangents of the inputs, through the row's gradient or that of its decomposition; null where PyTorch gives none.
class Backward {
 public:
  Backward(CaseGraph& g, const OpCase& c) : b_(g.graph) {
    Node* call = g.add_call(b_, c);
    const std::vector<Node*> results = results_of(b_, call);
    forward_ = static_cast<size_t>(g.graph.size());
    std::vector<Node*> seeds;
    const auto& cots = c.record.at("cot").array();
    for (size_t k = 0; k < results.size(); ++k) {
      seeds.push_back(nullptr);
      if (cots[k].is_null()) continue;
      seeds.back() = g.graph.placeholder("dy" + std::to_string(k), results[k]->type);
      cotangents_.push_back(testing::tensor_of(c.out[k].dtype, c.out[k].shape, cots[k]));
    }
    differentiate(call, seeds);
  }

  Node* of(const Node* node) const {
    const auto it = sums_.find(node);
    return it == sums_.end() ? nullptr : it->second;
  }
  const std::vector<Tensor>& cotangents() const { return cotangents_; }
  static bool exists(const OpDef& op) { return std::holds_alternative<Gradient>(op.gradient); }

 private:
  void add(Node* to, Node* value) {
    if (!value) return;
    Node*& sum = sums_[to];
    sum = sum ? b_.add(sum, value) : value;
  }

  void differentiate(Node* call, const std::vector<Node*>& seeds) {
    const OpDef& op = *call->op;
    if (exists(op)) return apply(call, seeds);
    if (std::holds_alternative<NoGradient>(op.gradient) &&
        std::get<NoGradient>(op.gradient) == NoGradient::Nondifferentiable)
      return;
    if (!op.decompose) throw_user(op.name + " has no gradient");
    // The nodes that the decomposition makes, backwards.
    std::vector<Node*> made;
    b_.on_create = [&](Node& n) { made.push_back(&n); };
    const std::vector<Node*> results = op.decompose(b_, Call(*call));
    b_.on_create = nullptr;
    for (size_t k = 0; k < results.size(); ++k)
      if (seeds[k]) add(results[k], seeds[k]);
    for (size_t k = made.size(); k-- > 0;) {
      if (made[k]->op->name == "_operator.getitem") continue;
      const std::vector<Node*> given = seeds_of(made[k], made);
      if (std::any_of(given.begin(), given.end(), [](Node* dy) { return dy; })) differentiate(made[k], given);
    }
  }

  /// Cotangents of a node's results; those of a tuple have come to the nodes that take its parts.
  std::vector<Node*> seeds_of(const Node* node, const std::vector<Node*>& made) const {
    if (node->type.kind != Type::Kind::Tuple) return {of(node)};
    std::vector<Node*> seeds(node->type.parts.size());
    for (const Node* part : made)
      if (part->op->name == "_operator.getitem" && part->args[0].node() == node)
        seeds[static_cast<size_t>(*part->args[1].as<int64_t>())] = of(part);
    return seeds;
  }

  void apply(Node* call, const std::vector<Node*>& seeds) {
    const Call c(*call);
    const GradientCall g{b_, c, seeds, [](size_t) { return true; }};
    const std::vector<Node*> given = std::get<Gradient>(call->op->gradient)(g);
    size_t at = 0;
    for (size_t i = 0; i < c.size(); ++i) {
      if (call->op->schema.params[i].list && call->op->schema.params[i].type == "Tensor" && c.arg(i).as<ListArg>()) {
        const std::vector<Node*> elements = c.tensors(i);
        if (given.size() == c.size()) {  // no cotangents for the list
          ++at;
          continue;
        }
        for (Node* n : elements) add(n, given.at(at++));
        continue;
      }
      Node* value = given.at(at++);
      if (value) add(c.tensor(i), value);
    }
  }

  Builder b_;
  size_t forward_ = 0;
  std::vector<Tensor> cotangents_;
  std::unordered_map<const Node*, Node*> sums_;
};

std::vector<Tensor> with_cotangents(const OpCase& c, const Backward& backward) {
  std::vector<Tensor> inputs = c.inputs;
  inputs.insert(inputs.end(), backward.cotangents().begin(), backward.cotangents().end());
  return inputs;
}

/// Gradients of the floating inputs; `values[k]` is empty where there is none.
std::vector<std::optional<Tensor>> gradients(const OpCase& c, bool float64) {
  CaseGraph g(c);
  Backward backward(g, c);
  std::vector<Node*> outputs;
  std::vector<size_t> which;
  for (size_t k = 0; k < c.inputs.size(); ++k)
    if (Node* n = backward.of(g.inputs[k])) {
      EXPECT_EQ(n->type.tensor.dtype, c.inputs[k].dtype);
      outputs.push_back(n);
      which.push_back(k);
    }
  std::vector<std::optional<Tensor>> values(c.inputs.size());
  const std::vector<RefValue> got = run(g, with_cotangents(c, backward), outputs, float64);
  for (size_t k = 0; k < which.size(); ++k) values[which[k]] = got[k].tensor();
  return values;
}

TEST(OpsA, GradientsGivePyTorchsValues) {
  size_t checked = 0;
  for (const OpCase& c : cases()) {
    if (!c.has_gradients()) continue;
    SCOPED_TRACE(c.text);
    try {
      const auto got = gradients(c, false);
      const auto& want = c.record.at("grads").array();
      for (size_t k = 0; k < got.size(); ++k) {
        if (want[k].is_null()) continue;
        const Tensor expected = testing::tensor_of(c.inputs[k].dtype, c.inputs[k].shape, want[k]);
        ASSERT_TRUE(got[k]) << "no gradient for input " << k;
        EXPECT_EQ(difference(*got[k], expected, 2e-5), "") << "input " << k;
        ++checked;
      }
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_GT(checked, 250U);
}

/// sum over results of cotangent * result, in float64.
double objective(const OpCase& c, const std::vector<Tensor>& inputs) {
  CaseGraph g(c);
  Builder b(g.graph);
  const std::vector<RefValue> got = run(g, inputs, results_of(b, g.add_call(b, c)), true);
  double total = 0;
  const auto& cots = c.record.at("cot").array();
  for (size_t k = 0; k < got.size(); ++k) {
    if (cots[k].is_null()) continue;
    const Tensor cot = testing::tensor_of(DType::F64, c.out[k].shape, cots[k]);
    for (int64_t i = 0; i < cot.numel(); ++i) total += cot.at(i) * got[k].tensor().at(i);
  }
  return total;
}

TEST(OpsA, GradientsAreFiniteDifferencesInFloat64) {
  constexpr double step = 1e-5;
  for (const OpCase& c : cases()) {
    const Json* smooth = c.record.find("fd");
    if (!c.has_gradients() || (smooth && !smooth->boolean())) continue;
    SCOPED_TRACE(c.text);
    try {
      const auto got = gradients(c, true);
      std::vector<Tensor> inputs;
      for (const Tensor& t : c.inputs) inputs.push_back(is_floating(t.dtype) ? t.to(DType::F64) : t);
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (!got[k]) continue;
        for (int64_t i = 0; i < std::min<int64_t>(inputs[k].numel(), 6); ++i) {
          const double x = inputs[k].at(i);
          inputs[k].set(i, x + step);
          const double up = objective(c, inputs);
          inputs[k].set(i, x - step);
          const double down = objective(c, inputs);
          inputs[k].set(i, x);
          const double slope = (up - down) / (2 * step);
          EXPECT_NEAR(got[k]->at(i), slope, 1e-5 * (1 + std::fabs(slope))) << "input " << k << " element " << i;
        }
      }
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

// --------------------------------------------------------------------------------------------------------------- table

/// Names of rows that this file answers for.
std::set<std::string> my_rows() {
  std::set<std::string> names;
  for (auto family : {ops::pointwise, ops::views, ops::reductions, ops::indexing, ops::symbolic, ops::mutations})
    for (const OpDef& row : family()) names.insert(row.name);
  return names;
}

TEST(OpsA, EveryRowHasACaseOrSaysWhyNot) {
  std::set<std::string> names = my_rows();
  for (const OpCase& c : cases()) names.erase(c.op);
  std::set<std::string> untested;
  for (const std::string& name : names) {
    const OpDef* op = find_op(name);
    const bool elsewhere = op->op_class == OpClass::Mutation || op->op_class == OpClass::Assertion ||
                           op->has(trait::Random) || name.starts_with("_operator.") || name.starts_with("torch.") ||
                           name.starts_with("prims.") || name.starts_with("strata.") ||
                           name.starts_with("aten.empty") || name.starts_with("aten.new_empty") ||
                           name == "aten.zero.default" || name == "aten.sym_storage_offset.default";
    if (!elsewhere) untested.insert(name);
  }
  EXPECT_EQ(untested, std::set<std::string>());
}

TEST(OpsA, RowsAreDocumentedAndConsistent) {
  for (const std::string& name : my_rows()) {
    SCOPED_TRACE(name);
    const OpDef* op = find_op(name);
    EXPECT_FALSE(op->doc.empty());
    EXPECT_EQ(op->doc.find('\n'), std::string::npos);
    EXPECT_NE(op->shape, nullptr);
    const bool made = op->reference || op->decompose || op->op_class == OpClass::Mutation;
    EXPECT_TRUE(made) << "neither reference nor decomposition";
    EXPECT_EQ(op->op_class == OpClass::Mutation, !op->functional_name.empty());
    if (!op->functional_name.empty()) {
      EXPECT_NE(find_op(op->functional_name), nullptr);
    }
    if (op->op_class == OpClass::Pointwise) {
      EXPECT_TRUE(std::holds_alternative<PointwiseBody>(op->lowering));
    }
    if (op->op_class == OpClass::View) {
      EXPECT_TRUE(std::holds_alternative<IndexMap>(op->lowering));
    }
  }
}

std::map<std::string, std::string> all_schemas() {
  std::map<std::string, std::string> schemas;
  for (const char* file : testing::kOpFiles)
    if (std::filesystem::exists(testing::op_file(file)))
      for (const auto& [name, text] : testing::op_data(file).root.at("schemas").object()) schemas[name] = text.string();
  return schemas;
}

TEST(OpsA, SchemasAreThoseOfPyTorch) {
  size_t compared = 0;
  for (const auto& [name, text] : all_schemas()) {
    const OpDef* op = find_op(name);
    if (!op) continue;  // an in-place form that is not in the table
    SCOPED_TRACE(name);
    const Schema want = parse_schema(text);
    ASSERT_EQ(op->schema.params.size(), want.params.size()) << text;
    for (size_t i = 0; i < want.params.size(); ++i) {
      const Param &a = op->schema.params[i], &b = want.params[i];
      SCOPED_TRACE(b.name);
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.type, b.type);
      EXPECT_EQ(a.list, b.list);
      EXPECT_EQ(a.keyword_only, b.keyword_only);
      EXPECT_EQ(a.default_value.has_value(), b.default_value.has_value());
      if (a.default_value && b.default_value && b.type != "MemoryFormat") {
        EXPECT_EQ(*a.default_value, *b.default_value);
      }
      EXPECT_EQ(a.written, b.written);
    }
    EXPECT_EQ(op->schema.returns, want.returns);
    ++compared;
  }
  EXPECT_GT(compared, 300U);
}

}  // namespace
}  // namespace strata
