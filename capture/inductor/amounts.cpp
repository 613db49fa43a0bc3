// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/inductor/amounts.h"

#include <fmt/format.h>

#include "capture/inductor/py_text.h"

namespace strata::capture::detail {
namespace {

/// Numbers, names, + - * / // % ** and brackets over 64-bit integers.
class Evaluator {
 public:
  Evaluator(std::string_view text, const Hints& hints) : text_(text), hints_(hints) {}

  std::optional<std::int64_t> run() {
    const std::int64_t value = sum();
    skip();
    if (!good_ || at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view word) {
    skip();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  std::int64_t fail() {
    good_ = false;
    return 0;
  }

  std::int64_t sum() {
    std::int64_t value = term();
    while (good_) {
      std::int64_t right = 0;
      if (take("+")) {
        right = term();
        if (__builtin_add_overflow(value, right, &value)) return fail();
      } else if (take("-")) {
        right = term();
        if (__builtin_sub_overflow(value, right, &value)) return fail();
      } else {
        break;
      }
    }
    return value;
  }

  std::int64_t term() {
    std::int64_t value = factor();
    while (good_) {
      if (take("//") || take("/")) {
        const std::int64_t right = factor();
        if (right == 0 || (right == -1 && value == INT64_MIN)) return fail();
        const std::int64_t quotient = value / right;
        value = quotient * right != value && (value < 0) != (right < 0) ? quotient - 1 : quotient;
      } else if (take("%")) {
        const std::int64_t right = factor();
        if (right <= 0) return fail();
        value = (value % right + right) % right;
      } else if (!text_.substr(at_).starts_with("**") && take("*")) {
        const std::int64_t right = factor();
        if (__builtin_mul_overflow(value, right, &value)) return fail();
      } else {
        break;
      }
    }
    return value;
  }

  std::int64_t factor() {
    const std::int64_t base = primary();
    if (!good_ || !take("**")) return base;
    const std::int64_t exponent = factor();
    if (exponent < 0 || exponent > 64) return fail();
    std::int64_t value = 1;
    for (std::int64_t i = 0; i < exponent; ++i) {
      if (__builtin_mul_overflow(value, base, &value)) return fail();
    }
    return value;
  }

  std::int64_t primary() {
    if (++depth_ > 200) return fail();
    const std::int64_t value = primary_inner();
    --depth_;
    return value;
  }

  std::int64_t primary_inner() {
    skip();
    if (take("(")) {
      const std::int64_t value = sum();
      return take(")") ? value : fail();
    }
    if (take("-")) {
      const std::int64_t value = primary();
      return value == INT64_MIN ? fail() : -value;
    }
    const size_t begin = at_;
    while (at_ < text_.size() && py::is_name_char(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return fail();
    if (const auto number = py::integer(word)) return *number;
    const auto hint = hints_.find(word);
    return hint == hints_.end() ? fail() : hint->second;
  }

  std::string_view text_;
  const Hints& hints_;
  size_t at_ = 0;
  int depth_ = 0;
  bool good_ = true;
};

std::vector<std::string_view> dims(const GraphView& graph, int node) { return py::items(graph.node(node).shape); }

bool known(const GraphView& graph, int node) { return !graph.node(node).shape.empty(); }

/// The shape that the first part of a node with several results has.
int shaped(const GraphView& graph, int node) {
  if (known(graph, node)) return node;
  for (int i = 0; i < 3; ++i) {
    if (const int part = graph.element(node, i); part >= 0 && known(graph, part)) return part;
  }
  return -1;
}

using Dims = std::vector<std::string_view>;

/// [.., M, N] from an operand [.., M, K]: 2 * out * K.
trace::Amount matmul(const GraphView& graph, int node, int left, const Hints& hints) {
  if (left < 0 || !known(graph, node) || !known(graph, left)) return {};
  Dims all = dims(graph, node);
  const Dims operand = dims(graph, left);
  if (operand.empty()) return {};
  all.push_back(operand.back());
  return product(2, all, hints);
}

/// 2 * (elements of `out`) * (weight but its first dim), `times` over.
trace::Amount convolution(const GraphView& graph, int out, int weight, std::int64_t times, const Hints& hints) {
  if (out < 0 || weight < 0 || !known(graph, out) || !known(graph, weight)) return {};
  Dims all = dims(graph, out);
  const Dims w = dims(graph, weight);
  if (w.empty()) return {};
  all.insert(all.end(), w.begin() + 1, w.end());
  return product(2 * times, all, hints);
}

/// Two products of [B, H, S, T] with D each.
trace::Amount attention(const GraphView& graph, int query, int key, std::int64_t products, const Hints& hints) {
  if (!known(graph, query) || !known(graph, key)) return {};
  Dims all = dims(graph, query);
  const Dims k = dims(graph, key);
  if (all.size() < 2 || k.size() < 2) return {};
  all.push_back(k[k.size() - 2]);
  return product(2 * products, all, hints);
}

}  // namespace

std::optional<std::int64_t> evaluate(std::string_view formula, const Hints& hints) {
  return Evaluator(formula, hints).run();
}

trace::Amount product(std::int64_t factor, const std::vector<std::string_view>& dims, const Hints& hints) {
  trace::Amount out;
  std::string symbols;
  double value = static_cast<double>(factor);
  double number = static_cast<double>(factor);
  bool all = true;
  for (const std::string_view dim : dims) {
    const auto plain = py::integer(dim);
    const auto at_hint = plain ? plain : evaluate(dim, hints);
    if (plain) number *= static_cast<double>(*plain);
    if (at_hint) value *= static_cast<double>(*at_hint);
    all = all && at_hint.has_value();
    if (plain) continue;
    symbols += py::is_name(dim) ? fmt::format("*{}", dim) : fmt::format("*({})", dim);
  }
  if (all) out.value = value;
  if (!symbols.empty()) out.formula = fmt::format("{:.0f}{}", number, symbols);
  return out;
}

trace::Amount sum(const std::vector<trace::Amount>& amounts, const Hints&) {
  trace::Amount out;
  if (amounts.empty()) return out;
  double value = 0, numbers = 0;
  bool all = true;
  for (const trace::Amount& a : amounts) {
    if (!a.value && a.formula.empty()) return {};
    if (a.value) value += *a.value;
    all = all && a.value.has_value();
    if (a.formula.empty()) {
      numbers += *a.value;
    } else {
      out.formula += (out.formula.empty() ? "" : " + ") + a.formula;
    }
  }
  if (!out.formula.empty() && numbers != 0) out.formula += fmt::format(" + {:.0f}", numbers);
  if (all) out.value = value;
  return out;
}

trace::Amount node_flops(const GraphView& graph, int node, const Hints& hints) {
  const std::string_view op = graph.op(node);
  const std::vector<int>& in = graph.inputs(node);
  const auto input = [&](size_t i) { return i < in.size() ? in[i] : -1; };
  if (op == "mm" || op == "bmm") return matmul(graph, node, input(0), hints);
  if (op == "addmm" || op == "baddbmm") return matmul(graph, node, input(1), hints);
  if (op == "_linear_pointwise" || op == "linear") return matmul(graph, node, input(0), hints);
  if (op == "convolution" || op == "_convolution_pointwise") return convolution(graph, node, input(1), 1, hints);
  if (op == "convolution_backward") {
    // One product for each of the gradients of input and weight that are asked for.
    const std::vector<std::string_view> args = py::split(graph.node(node).args);
    std::int64_t products = 0;
    if (!args.empty()) {
      const std::vector<std::string_view> mask = py::items(args.back());
      for (size_t i = 0; i < 2 && i < mask.size(); ++i) products += mask[i] == "True" ? 1 : 0;
    }
    return convolution(graph, input(0), input(2), products, hints);
  }
  if (!op.starts_with("_scaled_dot_product") && op != "scaled_dot_product_attention") return {};
  const bool backward = op.ends_with("_backward");
  if (in.size() < 3 || shaped(graph, node) < 0) return {};
  return attention(graph, input(backward ? 1 : 0), input(backward ? 2 : 1), backward ? 5 : 2, hints);
}

}  // namespace strata::capture::detail
