// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Recorded operator calls (tests/data/ops/*.json): operands, PyTorch's results, and gradients where there are any.

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/ir/builder.h"
#include "core/ir/interpreter.h"
#include "core/support/error.h"
#include "core/support/json.h"

namespace strata::recorded {

struct OpCase {
  std::string op;
  std::vector<Argument> args;  ///< nodes of `graph`'s placeholders stand for tensors
  std::vector<std::pair<std::string, Argument>> kwargs;
  std::vector<Tensor> inputs;  ///< one per placeholder
  std::vector<Tensor> expected;
  Tensor tangent;                 ///< undefined: no gradients recorded
  std::vector<Tensor> gradients;  ///< per floating input; undefined: none
  Graph graph;
  Node* result = nullptr;  ///< the call; the graph returns it (its parts)
};

inline Tensor decode_tensor(const Json& json) {
  std::vector<int64_t> shape;
  for (const Json& n : json.at("s").array()) shape.push_back(n.integer());
  std::vector<double> values;
  for (const Json& v : json.at("v").array()) values.push_back(v.as<bool>() ? *v.as<bool>() : v.number());
  const DType dtype = *parse_dtype_name(json.at("t").string());
  // Recorded floats have more digits than float32 holds.
  return Tensor::of(is_floating(dtype) ? DType::F64 : dtype, shape, values);
}

inline Argument decode_argument(OpCase& c, const Json& json) {
  if (json.is_null()) return {};
  if (const auto* b = json.as<bool>()) return *b;
  if (const auto* i = json.as<int64_t>()) return *i;
  if (const auto* s = json.as<std::string>()) return *s;
  if (const auto* list = json.as<JsonArray>()) {
    std::vector<Argument> items;
    for (const Json& item : *list) items.push_back(decode_argument(c, item));
    return Argument::list(std::move(items));
  }
  if (const Json* f = json.find("f")) return f->number();
  Tensor value = decode_tensor(json);
  if (is_floating(value.dtype)) value = value.to(DType::F32);
  c.inputs.push_back(value);
  const std::vector<SymInt> shape(value.shape.begin(), value.shape.end());
  return c.graph.placeholder("x" + std::to_string(c.inputs.size()), Type::of(value.dtype, shape));
}

/// The call alone in a graph; throws what the shape rule throws.
inline void build(OpCase& c) {
  Builder builder(c.graph);
  c.result = builder.call(c.op, c.args, c.kwargs);
  std::vector<Argument> outputs;
  if (c.result->type.kind == Type::Kind::Tuple)
    for (size_t i = 0; i < c.result->type.parts.size(); ++i)
      outputs.emplace_back(builder.getitem(c.result, static_cast<int64_t>(i)));
  else
    outputs.emplace_back(c.result);
  c.graph.output(Argument::list(std::move(outputs)));
}

inline OpCase decode_case(const Json& json) {
  OpCase c;
  c.op = json.at("op").string();
  for (const Json& a : json.at("args").array()) c.args.push_back(decode_argument(c, a));
  if (const Json* kwargs = json.find("kwargs"))
    for (const auto& [name, value] : kwargs->object()) c.kwargs.emplace_back(name, decode_argument(c, value));
  for (const Json& o : json.at("out").array()) c.expected.push_back(decode_tensor(o));
  if (const Json* tangent = json.find("tangent")) {
    c.tangent = decode_tensor(*tangent);
    for (const Json& g : json.at("grads").array()) c.gradients.push_back(g.is_null() ? Tensor{} : decode_tensor(g));
  }
  return c;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_user("cannot read '" + path + "'");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
inline Json read_cases(const std::string& name) {
  const std::string path = std::string(STRATA_TEST_DATA) + "/" + name;
  return parse_json(read_text(path), path);
}

/// Empty if `a` is close to `b`: |a - b| <= tolerance * (|b| + max |b|), NaN and infinities alike.
inline std::string difference(const Tensor& a, const Tensor& b, double tolerance) {
  if (a.shape != b.shape) return "shape " + a.str() + ", expected " + b.str();
  const std::vector<double> x = a.values(), y = b.values();
  double scale = 0;
  for (double v : y)
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  for (size_t i = 0; i < x.size(); ++i) {
    const bool same = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]));
    if (!same && !(std::abs(x[i] - y[i]) <= tolerance * (std::abs(y[i]) + scale)))
      return "element " + std::to_string(i) + " is " + std::to_string(x[i]) + ", expected " + std::to_string(y[i]);
  }
  return {};
}

}  // namespace strata::recorded
