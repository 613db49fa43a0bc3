// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Recurrent networks. What does not depend on the step before - the input's share of the gates, for all steps at once -
// is one matrix product; the rest of a layer in one direction is `strata::recurrent_layer`, a kernel by hand.

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;
using Shape = std::vector<SymInt>;

/// What the cells differ in: products per element of the state, and how an element of the new state comes of them.
struct Cell {
  std::string_view name;
  int64_t gates;
};
constexpr Cell kCells[] = {{"lstm", 4}, {"gru", 3}, {"tanh", 1}, {"relu", 1}};

const Cell& cell_of(const Call& call, const std::string& name) {
  for (const Cell& c : kCells)
    if (c.name == name) return c;
  reject(call, "there is no cell '" + name + "'");
}

// ------------------------------------------------------------------------------------------------------------ one
// layer

constexpr size_t kGates = 0, kHidden = 1, kMemory = 2, kWeight = 3, kBias = 4, kCell = 5, kReverse = 6, kBatchFirst = 7;

Type layer_type(const Call& call) {
  require_rank(call, kGates, 3, 3);
  require_rank(call, kHidden, 2, 2);
  require_rank(call, kWeight, 2, 2);
  const Shape &gates = call.type(kGates).shape, &h = call.type(kHidden).shape, &w = call.type(kWeight).shape;
  const int64_t count = cell_of(call, call.string(kCell)).gates;
  require_equal(call, gates.back(), h.back() * SymInt(count), "last size of the gates and the states' times its gates");
  require_equal(call, w[0], gates.back(), "rows of the weight and gates");
  require_equal(call, w[1], h.back(), "columns of the weight and the state's size");
  require_equal(call, gates[call.boolean(kBatchFirst) ? 0 : 1], h[0], "batches of gates and state");
  if (!call.is_none(kMemory)) {
    require_rank(call, kMemory, 2, 2);
    require_equal(call, call.type(kMemory).shape[0], h[0], "batches of memory and state");
    require_equal(call, call.type(kMemory).shape[1], h[1], "sizes of memory and state");
  }
  if (!call.is_none(kBias)) {
    require_rank(call, kBias, 1, 1);
    require_equal(call, call.type(kBias).shape[0], w[0], "elements of the bias and rows of the weight");
  }
  const DType d = call.type(kGates).dtype;
  return tuple_like(call, {{d, {gates[0], gates[1], h[1]}}, {d, h}, {d, h}});
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// One step of one row: `x` the input's share, `y` that of the state (with bias); h and c become the new ones.
void advance(std::string_view cell, int64_t n, const double* x, const double* y, double* h, double* c) {
  const auto sum = [&](int64_t gate, int64_t i) { return x[gate * n + i] + y[gate * n + i]; };
  for (int64_t i = 0; i < n; ++i) {
    if (cell == "lstm") {
      c[i] = logistic(sum(1, i)) * c[i] + logistic(sum(0, i)) * std::tanh(sum(2, i));
      h[i] = logistic(sum(3, i)) * std::tanh(c[i]);
    } else if (cell == "gru") {
      const double update = logistic(sum(1, i));
      const double candidate = std::tanh(x[2 * n + i] + logistic(sum(0, i)) * y[2 * n + i]);
      h[i] = candidate + update * (h[i] - candidate);
    } else {
      h[i] = cell == "tanh" ? std::tanh(sum(0, i)) : nan_max(sum(0, i), 0.0);
    }
  }
}

RefValue layer_reference(const RefContext& c) {
  const std::string cell = c.call.string(kCell);
  const bool batch_first = c.call.boolean(kBatchFirst), reverse = c.call.boolean(kReverse);
  const Tensor gates = c.tensor(kGates), memory = c.optional_tensor(kMemory), bias = c.optional_tensor(kBias);
  const std::vector<double> x = doubles_of(gates), w = doubles_of(c.tensor(kWeight));
  const std::vector<double> b = bias.defined() ? doubles_of(bias) : std::vector<double>(gates.shape[2], 0.0);
  std::vector<double> h = doubles_of(c.tensor(kHidden));
  std::vector<double> m = memory.defined() ? doubles_of(memory) : std::vector<double>(h.size(), 0.0);
  const int64_t steps = gates.shape[batch_first ? 1 : 0], batch = gates.shape[batch_first ? 0 : 1];
  const int64_t width = gates.shape[2], n = c.tensor(kHidden).shape[1];
  std::vector<double> out(static_cast<size_t>(steps * batch * n)), y(static_cast<size_t>(width));
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t t = reverse ? steps - 1 - step : step;
    for (int64_t row = 0; row < batch; ++row) {
      const int64_t at = batch_first ? row * steps + t : t * batch + row;
      for (int64_t g = 0; g < width; ++g) {
        y[static_cast<size_t>(g)] = b[static_cast<size_t>(g)];
        for (int64_t k = 0; k < n; ++k)
          y[static_cast<size_t>(g)] += w[static_cast<size_t>(g * n + k)] * h[static_cast<size_t>(row * n + k)];
      }
      advance(cell, n, x.data() + at * width, y.data(), h.data() + row * n, m.data() + row * n);
      std::copy_n(h.begin() + row * n, n, out.begin() + at * n);
    }
  }
  Tensor results[] = {c.result(0), c.result(1), c.result(2)};
  store_doubles(out, results[0]);
  store_doubles(h, results[1]);
  store_doubles(memory.defined() ? m : h, results[2]);
  return std::vector<RefValue>{results[0], results[1], results[2]};
}

// ------------------------------------------------------------------------------------------------------- whole
// networks

/// The parameters that lstm, gru, rnn_tanh and rnn_relu share; lstm's `hx` is a list of two.
constexpr size_t kInput = 0, kStates = 1, kParams = 2, kHasBiases = 3, kLayers = 4, kDropout = 5, kTrain = 6,
                 kBidirectional = 7, kNetworkBatchFirst = 8;

struct Network {
  Node *input, *h, *c = nullptr;
  std::vector<Node*> params;
  int64_t layers, directions, per_direction;
  bool biases, batch_first, projected;
  std::string cell;
};

std::string cell_name(const Call& call) {
  const std::string& op = call.op().name;
  if (op.starts_with("aten.lstm")) return "lstm";
  if (op.starts_with("aten.gru")) return "gru";
  return op.starts_with("aten.rnn_tanh") ? "tanh" : "relu";
}

Network network_of(const Call& call) {
  Network n{};
  n.cell = cell_name(call);
  n.input = call.tensor(kInput);
  n.params = call.tensors(kParams);
  if (n.cell == "lstm") {
    const std::vector<Node*> states = call.tensors(kStates);
    if (states.size() != 2) reject(call, "expected two states, found " + std::to_string(states.size()));
    n.h = states[0];
    n.c = states[1];
  } else {
    n.h = call.tensor(kStates);
  }
  n.biases = call.boolean(kHasBiases);
  n.layers = call.constant(kLayers);
  n.directions = call.boolean(kBidirectional) ? 2 : 1;
  n.per_direction = n.biases ? 4 : 2;
  n.batch_first = call.boolean(kNetworkBatchFirst);
  require_rank(call, kInput, 3, 3);
  const int64_t parts = n.layers * n.directions;
  n.projected = n.c && static_cast<int64_t>(n.params.size()) == parts * (n.per_direction + 1);
  if (n.projected) ++n.per_direction;
  if (static_cast<int64_t>(n.params.size()) != parts * n.per_direction)
    reject(call, "expected " + std::to_string(parts * n.per_direction) + " weights, found " +
                     std::to_string(n.params.size()));
  if (call.boolean(kTrain) && call.number(kDropout) != 0 && n.layers > 1)
    reject(call, "dropout between layers in training is not supported");
  return n;
}

Type network_type(const Call& call) {
  const Network n = network_of(call);
  const Shape &x = n.input->tensor().shape, &h = n.h->tensor().shape;
  if (h.size() != 3) reject(call, "states must have 3 dimensions, found " + std::to_string(h.size()));
  const DType d = n.input->tensor().dtype;
  std::vector<std::pair<DType, Shape>> parts{{d, {x[0], x[1], h[2] * SymInt(n.directions)}}, {d, h}};
  if (n.c) parts.emplace_back(d, n.c->tensor().shape);
  return tuple_like(call, std::move(parts));
}

Node* state_of(Builder& b, Node* states, int64_t index) { return b.call("aten.select.int", {states, 0, index}); }

/// A state that is projected before a step sees it, as one that is not: the gates' weights are multiplied by the
/// projection once, and what the first state gives joins the gates of the first step, before which such a state is 0.
std::pair<Node*, Node*> before_projection(Builder& b, const Network& n, Node* gates, Node* state, Node* weight,
                                          Node* projection, bool reverse) {
  const int64_t dim = n.batch_first ? 1 : 0, step = reverse ? -1 : 0;
  Node* first = b.add(b.call("aten.select.int", {gates, dim, step}), b.call("aten.linear.default", {state, weight}));
  gates = b.call("aten.select_scatter.default", {gates, first, dim, step});
  const DType d = compute_dtype(weight->tensor().dtype);
  return {gates, b.call("aten.mm.default", {b.cast(weight, d), b.cast(projection, d)})};
}

/// One layer in one direction; its results: outputs, last state, last memory.
Nodes layer(Builder& b, const Network& n, Node* x, int64_t index, bool reverse) {
  const size_t at = static_cast<size_t>(index * n.per_direction);
  Node* given = n.biases ? n.params[at + 2] : nullptr;
  Node* gates = given ? b.call("aten.linear.default", {x, n.params[at], given})
                      : b.call("aten.linear.default", {x, n.params[at]});
  const auto argument = [](Node* node) { return node ? Argument(node) : Argument(NoneArg{}); };
  Node *state = state_of(b, n.h, index), *memory = n.c ? state_of(b, n.c, index) : nullptr;
  Node *weight = n.params[at + 1], *projection = nullptr;
  if (n.projected) {
    projection = n.params[at + static_cast<size_t>(n.per_direction) - 1];
    std::tie(gates, weight) = before_projection(b, n, gates, state, weight, projection, reverse);
    state = b.call("aten.zeros_like.default", {memory});
  }
  Node* made = b.call("strata.recurrent_layer.default",
                      {gates, state, argument(memory), weight, argument(n.biases ? n.params[at + 3] : nullptr), n.cell,
                       reverse, n.batch_first});
  const auto result = [&](int64_t k) {
    Node* part = b.getitem(made, k);
    return k < 2 && projection ? b.call("aten.linear.default", {part, projection}) : part;
  };
  return {result(0), result(1), result(2)};
}

Node* joined(Builder& b, const Nodes& parts, int64_t dim) {
  if (parts.size() == 1) return parts[0];
  std::vector<Argument> items(parts.begin(), parts.end());
  return b.call("aten.cat.default", {Argument::list(std::move(items)), dim});
}

/// States of all layers and directions, one after the other.
Node* stacked(Builder& b, const Nodes& states) {
  Nodes wide;
  for (Node* s : states) wide.push_back(b.unsqueeze(s, 0));
  return joined(b, wide, 0);
}

Nodes decompose_network(Builder& b, const Call& call) {
  const Network n = network_of(call);
  Node* x = n.input;
  Nodes states, memories;
  for (int64_t l = 0; l < n.layers; ++l) {
    Nodes outputs;
    for (int64_t d = 0; d < n.directions; ++d) {
      const Nodes made = layer(b, n, x, l * n.directions + d, d == 1);
      outputs.push_back(made[0]);
      states.push_back(made[1]);
      memories.push_back(made[2]);
    }
    x = joined(b, outputs, 2);
  }
  Nodes results{x, stacked(b, states)};
  if (n.c) results.push_back(stacked(b, memories));
  return results;
}

// -------------------------------------------------------------------------------------------------------------- cells

/// The parameters that lstm_cell, gru_cell, rnn_tanh_cell and rnn_relu_cell share; lstm_cell's `hx` is a list of two.
constexpr size_t kInputWeight = 2, kStateWeight = 3, kInputBias = 4, kStateBias = 5;

/// One step. Gates stand in the order in which `advance` takes them.
Nodes decompose_cell(Builder& b, const Call& call) {
  const std::string cell = cell_name(call);
  Node *h = nullptr, *memory = nullptr;
  if (cell == "lstm") {
    const Nodes states = call.tensors(kStates);
    if (states.size() != 2) reject(call, "expected two states, found " + std::to_string(states.size()));
    h = states[0];
    memory = states[1];
  } else {
    h = call.tensor(kStates);
  }
  const auto share = [&](Node* x, size_t weight, size_t bias) {
    return b.call("aten.linear.default", {x, call.arg(weight), call.arg(bias)});
  };
  Node *x = share(call.tensor(kInput), kInputWeight, kInputBias), *y = share(h, kStateWeight, kStateBias);
  const SymInt n = h->tensor().shape.back();
  const int64_t gates = cell == "lstm" ? 4 : cell == "gru" ? 3 : 1;
  for (const Node* part : {x, y})
    require_equal(call, part->tensor().shape.back(), n * gates, "rows of a weight and gates of the state");
  const auto gate = [&](Node* of, int64_t i) {
    return b.call("aten.slice.Tensor", {of, -1, integer(n * i), integer(n * (i + 1))});
  };
  const auto squashed = [&](const char* function, Node* z) {
    return b.call("aten." + std::string(function) + ".default", {z});
  };
  if (cell == "lstm") {
    Node* sum = b.add(x, y);
    const auto open = [&](int64_t i) { return squashed("sigmoid", gate(sum, i)); };
    memory = b.add(b.mul(open(1), memory), b.mul(open(0), squashed("tanh", gate(sum, 2))));
    return {b.mul(open(3), squashed("tanh", memory)), memory};
  }
  if (cell == "gru") {
    const auto open = [&](int64_t i) { return squashed("sigmoid", b.add(gate(x, i), gate(y, i))); };
    Node* candidate = squashed("tanh", b.add(gate(x, 2), b.mul(open(0), gate(y, 2))));
    return {b.add(candidate, b.mul(open(1), b.sub(h, candidate)))};
  }
  return {squashed(cell == "tanh" ? "tanh" : "relu", b.add(x, y))};
}

}  // namespace

Rows recurrent_rows() {
  Rows r;
  r.push_back(OpDef(
      "strata::recurrent_layer(Tensor gates, Tensor hidden, Tensor? memory, Tensor weight, Tensor? bias, str cell, "
      "bool "
      "reverse, bool batch_first) -> (Tensor, Tensor, Tensor)",
      OpClass::Indexing, 0, Promotion::None, layer_type, layer_reference, nullptr, NoGradient::Pending,
      KernelRule{"recurrent_layer"}, "", "a layer of a recurrent network in one direction, from its input's gates"));
  const std::string rest =
      "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool "
      "batch_first)";
  const auto add = [&](const std::string& head, const char* results, const char* doc) {
    r.push_back(compound("aten::" + head + rest + " -> " + results, 0, network_type, decompose_network, doc));
  };
  add("lstm.input(Tensor input, Tensor[] hx, ", "(Tensor, Tensor, Tensor)", "long short-term memory");
  add("gru.input(Tensor input, Tensor hx, ", "(Tensor, Tensor)", "gated recurrent units");
  add("rnn_tanh.input(Tensor input, Tensor hx, ", "(Tensor, Tensor)", "recurrent network with tanh");
  add("rnn_relu.input(Tensor input, Tensor hx, ", "(Tensor, Tensor)", "recurrent network with relu");
  const std::string weights = "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> ";
  r.push_back(shorthand("lstm_cell(Tensor input, Tensor[] hx, " + weights + "(Tensor, Tensor)", decompose_cell,
                        "a step of long short-term memory"));
  for (const char* name : {"gru_cell", "rnn_tanh_cell", "rnn_relu_cell"})
    r.push_back(shorthand(std::string(name) + "(Tensor input, Tensor hx, " + weights + "Tensor", decompose_cell,
                          "a step of a recurrent network"));
  return r;
}

}  // namespace strata::ops
