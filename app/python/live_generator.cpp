// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/live_generator.h"

#include "app/python/tensor_exchange.h"
#include "core/runtime/draws.h"
#include "core/support/error.h"

namespace py = pybind11;

namespace strata {
namespace {

/// Never freed: calls may come until the process ends.
py::object& live() {
  static auto* generator = new py::object;
  return *generator;
}

std::span<std::byte> bytes_of(const Tensor& state) { return {state.data(), static_cast<size_t>(state.numel())}; }

/// The interpreter's lock is held from reading the state to writing it back, so that no thread of Python draws in
/// between.
void draw_live(const std::function<void(Generator&)>& draw) {
  const py::gil_scoped_acquire gil;
  const py::object held = live().attr("get_state")();
  const Tensor state = view_of_torch(held, "the state of PyTorch's generator");
  Generator generator;
  generator.load(bytes_of(state));
  draw(generator);
  generator.store(bytes_of(state));
  live().attr("set_state")(held);
}

}  // namespace

void draw_from(const py::object& generator) {
  live() = generator;
  lend_generator(&draw_live);
}

void draw_once(const std::string& kind, uint64_t seed, const py::list& numbers, const py::object& probabilities,
               const py::object& out, const py::object& state) {
  const Tensor to = view_of_torch(out, "the result");
  const auto number = [&](size_t i) { return numbers[i].cast<double>(); };
  const auto whole = [&](size_t i) { return numbers[i].cast<int64_t>(); };
  Generator g(seed);
  if (kind == "uniform")
    draw_uniform(g, to, number(0), number(1));
  else if (kind == "normal")
    draw_normal(g, to, number(0), number(1), numbers[2].cast<bool>());
  else if (kind == "exponential")
    draw_exponential(g, to, number(0));
  else if (kind == "bernoulli")
    draw_bernoulli(g, to, number(0));
  else if (kind == "bernoulli_each")
    draw_bernoulli_each(g, view_of_torch(probabilities, "the probabilities"), to);
  else if (kind == "multinomial")
    draw_multinomial(g, view_of_torch(probabilities, "the weights"), numbers[0].cast<bool>(), to);
  else if (kind == "integers")
    draw_integers(g, to, whole(0), whole(1));
  else if (kind == "permutation")
    draw_permutation(g, to);
  else
    throw_user("there is no draw '" + kind + "'");
  g.store(bytes_of(view_of_torch(state, "the state")));
}

}  // namespace strata
