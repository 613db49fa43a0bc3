// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operator calls with PyTorch's results, read from `tests/data/ops/*.json` (made by the script beside it).

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/ir/builder.h"
#include "core/ir/interpreter.h"
#include "core/support/json.h"

namespace strata::testing {

inline std::vector<int64_t> ints(const Json& j) {
  std::vector<int64_t> out;
  for (const Json& x : j.array()) out.push_back(x.integer());
  return out;
}

/// What PyTorch gave for one result.
struct Expected {
  bool is_tensor = true;
  int64_t value = 0;  ///< a symbolic integer's
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::optional<std::vector<int64_t>> strides;  ///< of views
  Tensor data;                                  ///< contiguous
};

inline void set_element(const Tensor& t, int64_t flat, const Json& x) {
  if (is_floating(t.dtype))
    t.set(flat, x.number());
  else
    t.set_int(flat, x.integer());
}

inline Tensor tensor_of(DType dtype, const std::vector<int64_t>& shape, const Json& data) {
  Tensor t = Tensor::empty(dtype, shape);
  const Tensor numbers = is_complex(dtype) ? as_pairs(t) : t;
  int64_t flat = 0;
  for (const Json& x : data.array()) set_element(numbers, flat++, x);
  return t;
}

struct OpCase {
  std::string op, text;
  std::vector<Tensor> inputs;
  Json record;
  std::vector<Expected> out;

  bool has_complex() const {
    return std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return is_complex(t.dtype); }) ||
           std::any_of(out.begin(), out.end(), [](const Expected& e) { return is_complex(e.dtype); });
  }
  bool has_gradients() const { return record.find("grads") != nullptr; }
};

inline OpCase read_case(const Json& j) {
  OpCase c;
  c.op = j.at("op").string();
  c.record = j;
  for (const Json& in : j.at("inputs").array()) {
    const DType dtype = *parse_dtype_name(in.at("dtype").string());
    const auto numbers = static_cast<int64_t>(in.at("data").array().size());
    Tensor t = tensor_of(dtype, {is_complex(dtype) ? numbers / 2 : numbers}, in.at("data"));
    t.shape = ints(in.at("shape"));
    t.strides = ints(in.at("strides"));
    c.inputs.push_back(t);
    c.text += " " + t.str();
  }
  for (const Json& o : j.at("out").array()) {
    Expected e;
    if (const Json* v = o.find("value")) {
      e.is_tensor = false;
      e.value = v->integer();
    } else {
      e.dtype = *parse_dtype_name(o.at("dtype").string());
      e.shape = ints(o.at("shape"));
      if (const Json* s = o.find("strides")) e.strides = ints(*s);
      e.data = tensor_of(e.dtype, e.shape, o.at("data"));
    }
    c.out.push_back(std::move(e));
  }
  return c;
}

struct OpData {
  Json root;
  std::vector<OpCase> cases;
};

/// Files of calls in this form. Not every one need be there.
inline constexpr std::array kOpFiles{"ops_a.json", "ops_c.json", "ops_d.json", "ops_e.json",
                                     "ops_f.json", "ops_g.json", "ops_h.json", "ops_i.json"};

inline std::string op_file(const std::string& name) { return std::string(STRATA_TEST_DATA) + "/ops/" + name; }

/// Reads the file once.
inline const OpData& op_data(const std::string& name) {
  static std::map<std::string, OpData> files;
  OpData& data = files[name];
  if (data.cases.empty()) {
    std::ifstream in(op_file(name));
    std::stringstream text;
    text << in.rdbuf();
    data.root = parse_json(text.str(), name);
    size_t line = 0;
    for (const Json& j : data.root.at("cases").array()) {
      data.cases.push_back(read_case(j));
      data.cases.back().text =
          name + " " + data.cases.back().op + " #" + std::to_string(line++) + data.cases.back().text;
    }
  }
  return data;
}

/// Calls of all files, each read once.
inline const std::vector<OpCase>& all_op_cases() {
  static const std::vector<OpCase> all = [] {
    std::vector<OpCase> cases;
    for (const char* name : kOpFiles) {
      if (!std::filesystem::exists(op_file(name))) continue;
      const std::vector<OpCase>& more = op_data(name).cases;
      cases.insert(cases.end(), more.begin(), more.end());
    }
    return cases;
  }();
  return all;
}

/// What a call gives, part by part where it is a tuple, becomes the graph's outputs.
inline void return_all(Graph& graph, Builder& builder, Node* call) {
  std::vector<Argument> outputs;
  if (call->type.kind != Type::Kind::Tuple) outputs.emplace_back(call);
  for (size_t k = 0; call->type.kind == Type::Kind::Tuple && k < call->type.parts.size(); ++k)
    outputs.emplace_back(builder.getitem(call, static_cast<int64_t>(k)));
  graph.output(Argument::list(std::move(outputs)));
}

/// A graph with the inputs as placeholders.
struct CaseGraph {
  Graph graph;
  std::vector<Node*> inputs;
  Node* call = nullptr;

  explicit CaseGraph(const OpCase& c) {
    for (size_t k = 0; k < c.inputs.size(); ++k) {
      const Tensor& t = c.inputs[k];
      TensorType type;
      type.dtype = t.dtype;
      type.shape.assign(t.shape.begin(), t.shape.end());
      type.strides = std::vector<SymInt>(t.strides.begin(), t.strides.end());
      type.device = "cpu";
      inputs.push_back(graph.placeholder("x" + std::to_string(k), Type::of(std::move(type))));
    }
  }

  Argument argument(const Json& j) const {
    if (j.is_null()) return NoneArg{};
    if (const auto* b = j.as<bool>()) return *b;
    if (const auto* i = j.as<int64_t>()) return *i;
    if (const auto* d = j.as<double>()) return *d;
    if (const auto* s = j.as<std::string>()) return *s;
    if (const auto* list = j.as<JsonArray>()) {
      std::vector<Argument> items;
      for (const Json& x : *list) items.push_back(argument(x));
      return Argument::list(std::move(items));
    }
    if (const Json* t = j.find("t")) return inputs.at(static_cast<size_t>(t->integer()));
    if (const Json* z = j.find("complex")) return std::complex(z->array()[0].number(), z->array()[1].number());
    if (const Json* d = j.find("dt")) return *parse_dtype_name(d->string());
    return DeviceArg{j.at("dev").string()};
  }

  Node* add_call(Builder& builder, const OpCase& c) {
    std::vector<Argument> args;
    for (const Json& j : c.record.at("args").array()) args.push_back(argument(j));
    std::vector<std::pair<std::string, Argument>> kwargs;
    if (const Json* k = c.record.find("kwargs"))
      for (const auto& [name, j] : k->object()) kwargs.emplace_back(name, argument(j));
    if (const OpDef* op = find_op(c.op); op && op->has(trait::DataDependent))
      return call = stated_call(*op, c, std::move(args), std::move(kwargs));
    return call = builder.call(c.op, std::move(args), std::move(kwargs));
  }

  /// Sizes that depend on data are those of PyTorch's results: the captured program names them.
  Node* stated_call(const OpDef& op, const OpCase& c, std::vector<Argument> args,
                    std::vector<std::pair<std::string, Argument>> kwargs) {
    std::vector<Type> types;
    for (const Expected& e : c.out)
      types.push_back(e.is_tensor ? Type::of(e.dtype, std::vector<SymInt>(e.shape.begin(), e.shape.end()))
                                  : Type::symint(e.value));
    auto node = std::make_unique<Node>();
    node->op = &op;
    node->target = op.name;
    node->name = "stated";
    node->args = std::move(args);
    node->kwargs = std::move(kwargs);
    node->type = op.schema.returns.size() > 1 ? Type::tuple(types) : types.at(0);
    node->type = op.shape(Call(*node));
    return graph.add(std::move(node));
  }
};

}  // namespace strata::testing
