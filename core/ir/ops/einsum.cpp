// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Einstein summation. Operands are contracted from left to right, each step one batched matrix product: labels in both
// operands that are still needed later are the batch, labels that are not are summed, the rest are rows and columns.

#include <algorithm>
#include <cctype>

#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

using Labels = std::vector<int>;
constexpr int kEllipsis = 1000;  // labels of dimensions that `...` stands for, counted from the last one

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

/// `covered`: dimensions that `...` stands for here.
Labels parse_term(const Call& call, const std::string& text, size_t covered) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      labels.push_back(text[i]);
    } else if (text.compare(i, 3, "...") == 0) {
      for (size_t k = covered; k-- > 0;) labels.push_back(kEllipsis + static_cast<int>(k));
      i += 2;
    } else {
      reject(call, std::string("unexpected '") + text[i] + "' in the equation");
    }
  }
  return labels;
}

bool has_twice(Labels labels) {
  std::sort(labels.begin(), labels.end());
  return std::adjacent_find(labels.begin(), labels.end()) != labels.end();
}

size_t letters_in(const std::string& term) {
  return static_cast<size_t>(std::count_if(term.begin(), term.end(), [](unsigned char c) { return std::isalpha(c); }));
}

/// Labels of an equation without `->`: those of the ellipsis, then the letters that occur once, in order of the
/// alphabet.
Labels implicit_output(const std::vector<Labels>& inputs) {
  std::map<int, int> counts;
  for (const Labels& labels : inputs)
    for (int label : labels) ++counts[label];
  Labels output;
  for (auto it = counts.rbegin(); it != counts.rend(); ++it)
    if (it->first >= kEllipsis) output.push_back(it->first);
  for (const auto& [label, count] : counts)
    if (label < kEllipsis && count == 1) output.push_back(label);
  return output;
}

Equation parse_equation(const Call& call) {
  std::string text = call.string(0);
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  std::vector<std::string> terms{""};
  for (char c : text.substr(0, arrow)) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  }
  const std::vector<Node*> tensors = call.tensors(1);
  if (terms.size() != tensors.size())
    reject(call, "the equation has " + std::to_string(terms.size()) + " operands, found " +
                     std::to_string(tensors.size()) + " tensors");
  Equation equation;
  size_t most = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const size_t rank = tensors[i]->tensor().shape.size(), letters = letters_in(terms[i]);
    const bool dots = terms[i].find("...") != std::string::npos;
    if (rank < letters || (!dots && rank != letters))
      reject(call, "term '" + terms[i] + "' does not fit an operand of " + std::to_string(rank) + " dimensions");
    most = std::max(most, rank - letters);
    equation.inputs.push_back(parse_term(call, terms[i], rank - letters));
  }
  equation.output =
      arrow == std::string::npos ? implicit_output(equation.inputs) : parse_term(call, text.substr(arrow + 2), most);
  if (has_twice(equation.output)) reject(call, "a label of the result must not be given twice");
  for (int label : equation.output)
    if (std::none_of(equation.inputs.begin(), equation.inputs.end(), [&](const Labels& l) { return has(l, label); }))
      reject(call, "a label of the result is in no operand");
  return equation;
}

std::map<int, SymInt> label_sizes(const Call& call, const Equation& equation) {
  std::map<int, SymInt> sizes;
  const std::vector<Node*> tensors = call.tensors(1);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Labels& labels = equation.inputs[i];
    for (size_t d = 0; d < labels.size(); ++d) {
      const SymInt& n = tensors[i]->tensor().shape[d];
      const auto first = std::find(labels.begin(), labels.end(), labels[d]) - labels.begin();
      require_equal(call, tensors[i]->tensor().shape[static_cast<size_t>(first)], n, "dimensions of one label");
      const auto [it, fresh] = sizes.emplace(labels[d], n);
      if (!fresh) it->second = broadcast({it->second}, {n}, call.node())[0];
    }
  }
  return sizes;
}

/// The labels that are still wanted when operands up to `i` are one.
std::function<bool(int)> wanted_after(const Equation& equation, size_t i) {
  return [&equation, rest = std::span(equation.inputs).subspan(i + 1)](int label) {
    return has(equation.output, label) || std::ranges::any_of(rest, [&](const Labels& l) { return has(l, label); });
  };
}

struct Contraction {
  Labels batch, inner, rows, columns;
};

/// Of labels that are in one operand alone none is left that is not `wanted`.
Contraction contraction_of(const Labels& x, const Labels& y, const std::function<bool(int)>& wanted) {
  Contraction c;
  for (int l : x) (has(y, l) ? (wanted(l) ? c.batch : c.inner) : c.rows).push_back(l);
  for (int l : y)
    if (!has(x, l)) c.columns.push_back(l);
  return c;
}

Labels join(std::initializer_list<Labels> parts) {
  Labels all;
  for (const Labels& p : parts) all.insert(all.end(), p.begin(), p.end());
  return all;
}

/// What is left of labels, each once, when those that are not `wanted` are summed up; a sum of integers is an int64.
Labels left_of(const Labels& labels, const std::function<bool(int)>& wanted, DType& type) {
  Labels left;
  for (int l : labels) {
    if (!wanted(l)) {
      if (is_integral_or_bool(type)) type = DType::I64;
    } else if (!has(left, l)) {
      left.push_back(l);
    }
  }
  return left;
}

/// Whether a dimension is one that PyTorch drops before it multiplies: of size 1, and not in the result.
bool is_dropped(const Call& call, const Equation& equation, size_t i, int label) {
  if (equation.inputs.size() == 1 || has(equation.output, label)) return false;
  const Labels& labels = equation.inputs[i];
  const auto at = static_cast<size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  return call.tensors(1)[i]->tensor().shape[at] == 1;
}

/// The steps of `decompose_einsum`: products promote their operands as `mul` does, those with a sum take one type.
DType einsum_dtype(const Call& call, const Equation& equation) {
  const std::vector<Node*> tensors = call.tensors(1);
  DType type = tensors[0]->tensor().dtype;
  const auto labels_of = [&](size_t i) {
    Labels labels = equation.inputs[i];
    std::erase_if(labels, [&](int label) { return is_dropped(call, equation, i, label); });
    return labels;
  };
  Labels labels = labels_of(0);
  for (size_t i = 1; i < tensors.size(); ++i) {
    const auto wanted = wanted_after(equation, i);
    DType other = tensors[i]->tensor().dtype;
    const Labels x = labels, y = labels_of(i);
    labels = left_of(x, [&](int l) { return wanted(l) || has(y, l); }, type);
    const Contraction c =
        contraction_of(labels, left_of(y, [&](int l) { return wanted(l) || has(x, l); }, other), wanted);
    if (c.inner.empty())
      type = promote(type, other);
    else if (type != other)
      reject(call, "the products that are summed are of " + std::string(dtype_name(type)) + " and " +
                       std::string(dtype_name(other)));
    labels = join({c.batch, c.rows, c.columns});
  }
  left_of(labels, [&](int label) { return has(equation.output, label); }, type);
  return type;
}

Type einsum_type(const Call& call) {
  if (call.tensors(1).empty()) reject(call, "expected at least one operand");
  const Equation equation = parse_equation(call);
  const std::map<int, SymInt> sizes = label_sizes(call, equation);
  std::vector<SymInt> shape;
  for (int label : equation.output) shape.push_back(sizes.at(label));
  return result_like(call, einsum_dtype(call, equation), std::move(shape));
}

struct Term {
  Node* value;
  Labels labels;
};

Term sum_out(Builder& b, const Term& term, const std::function<bool(int)>& wanted) {
  std::vector<int64_t> dims;
  Labels left;
  for (size_t d = 0; d < term.labels.size(); ++d) {
    if (wanted(term.labels[d]))
      left.push_back(term.labels[d]);
    else
      dims.push_back(static_cast<int64_t>(d));
  }
  return dims.empty() ? term : Term{b.sum(term.value, dims, false), left};
}

Node* arrange(Builder& b, const Term& term, const Labels& order) {
  std::vector<int64_t> dims;
  for (int label : order)
    dims.push_back(std::find(term.labels.begin(), term.labels.end(), label) - term.labels.begin());
  return std::is_sorted(dims.begin(), dims.end()) ? term.value : b.permute(term.value, dims);
}

using Sizes = std::map<int, SymInt>;
SymInt extent(const Labels& labels, const Sizes& sizes) {
  SymInt n = 1;
  for (int label : labels) n = n * sizes.at(label);
  return n;
}

/// The operand with dimensions in `order`, broadcast to the labels' sizes, folded to three.
Node* folded(Builder& b, const Term& term, const Labels& order, const Sizes& sizes, std::vector<SymInt> shape) {
  std::vector<SymInt> full;
  for (int label : order) full.push_back(sizes.at(label));
  return b.reshape(b.expand(arrange(b, term, order), full), shape);
}

/// The operand with dimensions in `order`, one of size 1 where it lacks a label.
Node* spread(Builder& b, const Term& term, const Labels& order) {
  Labels own;
  std::ranges::copy_if(order, std::back_inserter(own), [&](int l) { return has(term.labels, l); });
  Node* value = arrange(b, term, own);
  for (size_t d = 0; d < order.size(); ++d)
    if (!has(own, order[d])) value = b.call("aten.unsqueeze.default", {value, static_cast<int64_t>(d)});
  return value;
}

Term contract(Builder& b, Term x, Term y, const std::function<bool(int)>& wanted, const Sizes& sizes) {
  x = sum_out(b, x, [&](int l) { return wanted(l) || has(y.labels, l); });
  y = sum_out(b, y, [&](int l) { return wanted(l) || has(x.labels, l); });
  const Contraction of = contraction_of(x.labels, y.labels, wanted);
  const Labels labels = join({of.batch, of.rows, of.columns});
  if (of.inner.empty()) return {b.call("aten.mul.Tensor", {spread(b, x, labels), spread(b, y, labels)}), labels};
  const SymInt n = extent(of.batch, sizes), k = extent(of.inner, sizes);
  Node* left = folded(b, x, join({of.batch, of.rows, of.inner}), sizes, {n, extent(of.rows, sizes), k});
  Node* right = folded(b, y, join({of.batch, of.inner, of.columns}), sizes, {n, k, extent(of.columns, sizes)});
  std::vector<SymInt> shape;
  for (int l : labels) shape.push_back(sizes.at(l));
  return {b.reshape(b.call("aten.bmm.default", {left, right}), shape), labels};
}

/// The operand, with a label that it has twice as one dimension: the diagonal of the two.
Term operand(Builder& b, const Call& call, const Equation& equation, size_t i) {
  Node* value = call.tensors(1)[i];
  Labels labels = equation.inputs[i];
  for (size_t d = 0; d < labels.size(); ++d) {
    const auto again = std::find(labels.begin() + static_cast<long>(d) + 1, labels.end(), labels[d]);
    if (again == labels.end()) continue;
    value = b.call("aten.diagonal.default", {value, 0, static_cast<int64_t>(d), int64_t{again - labels.begin()}});
    labels.erase(again);
    std::rotate(labels.begin() + static_cast<long>(d), labels.begin() + static_cast<long>(d) + 1, labels.end());
    --d;  // another dimension now; diagonal's is the last
  }
  for (size_t d = labels.size(); d-- > 0;) {
    if (!is_dropped(call, equation, i, labels[d])) continue;
    value = b.call("aten.squeeze.dim", {value, static_cast<int64_t>(d)});
    labels.erase(labels.begin() + static_cast<long>(d));
  }
  return {value, labels};
}

std::vector<Node*> decompose_einsum(Builder& b, const Call& call) {
  const Equation equation = parse_equation(call);
  const Sizes sizes = label_sizes(call, equation);
  Term term = operand(b, call, equation, 0);
  for (size_t i = 1; i < equation.inputs.size(); ++i)
    term = contract(b, term, operand(b, call, equation, i), wanted_after(equation, i), sizes);
  term = sum_out(b, term, [&](int label) { return has(equation.output, label); });
  return {arrange(b, term, equation.output)};
}

}  // namespace

bool einsum_is_view(const Call& call) {
  const Equation equation = parse_equation(call);
  return equation.inputs.size() == 1 &&
         std::ranges::all_of(equation.inputs[0], [&](int label) { return has(equation.output, label); });
}

Rows einsum_rows() {
  return {compound("aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", 0, einsum_type,
                   decompose_einsum, "sums of products, by labels of dimensions")};
}

}  // namespace strata::ops
