// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/channel_layouts.h"

#include <algorithm>

#include "core/ir/program.h"
#include "passes/lower_to_library.h"
#include "passes/lower_to_loops.h"

namespace strata {
namespace {

constexpr size_t kMaxParts = 8;  ///< of a concatenation: channels-last, each vector asks every part

class Chooser {
 public:
  explicit Chooser(const ChannelQuestion& question) : q_(question) {}

  std::vector<const Node*> run() {
    for (const auto& node : q_.graph.nodes())
      if (is_value(*node)) parent_[node.get()] = node.get();
    if (parent_.empty()) return {};
    join();
    for (const auto& node : q_.graph.nodes())
      if (parent_.contains(node.get())) count(*node);
    count_outputs();
    std::vector<const Node*> chosen;
    for (const auto& node : q_.graph.nodes()) {
      if (!parent_.contains(node.get())) continue;
      const Component& c = components_[root(node.get())];
      if (c.has_loops && !c.impossible && c.score > 0) chosen.push_back(node.get());
    }
    return chosen;
  }

 private:
  struct Component {
    double score = 0;         ///< bytes that need not be moved
    bool has_loops = false;   ///< loop kernels make or read some of it
    bool impossible = false;  ///< a call reads it through a view that has no strides then
  };

  static bool is_image(const Node& node) {
    const size_t rank = node.type.is_tensor() ? node.tensor().shape.size() : 0;
    return rank >= 3 && rank <= 5 && is_floating(node.tensor().dtype);
  }

  const Node* convolution_of(const Node& node) const {
    const Node* call = q_.call_of(node);
    return call && call->is("aten.convolution.default") ? call : nullptr;
  }

  /// What a matrix product does to its result is none: it lies as the product does.
  bool is_loop(const Node& node) const {
    return node.kind == NodeKind::Call && node.type.is_tensor() && !is_view(node) &&
           (is_inlinable(node) || is_window(node)) && !q_.call_of(node);
  }

  /// A result of a convolution, or of a loop over an image.
  bool is_value(const Node& node) const {
    if (!is_image(node)) return false;
    if (const Node* convolution = convolution_of(node))
      return q_.result_of(*convolution) == &node && convolution->tensor().shape == node.tensor().shape;
    return is_loop(node);
  }

  const Node* root(const Node* node) {
    while (parent_.at(node) != node) node = parent_[node] = parent_.at(parent_.at(node));
    return node;
  }

  void join(const Node* a, const Node* b) {
    if (parent_.contains(a) && parent_.contains(b)) parent_[root(a)] = root(b);
  }

  /// Whether `operand` is `value` or some of its channels.
  bool is_image_of(const Node* operand, const Node& value) {
    if (operand == &value) return true;
    const std::vector<SymInt>&part = operand->tensor().shape, &whole = value.tensor().shape;
    if (part.size() != whole.size() || part[0] != whole[0]) return false;
    if (!std::equal(part.begin() + 2, part.end(), whole.begin() + 2)) return false;
    const auto strides = strides_seen(operand, value, true);
    return strides && same_places(part, *strides, channels_last_strides(whole));
  }

  /// Whether `reader` takes `value` as it lies, element by element or window by window.
  bool takes_as_it_lies(const Node& reader, const Node* operand, const Node& value) {
    return reader.tensor().shape.size() == value.tensor().shape.size() && is_image_of(operand, value);
  }

  void join() {
    for (const auto& node : q_.graph.nodes()) {
      const Node* convolution = convolution_of(*node);
      const bool post = convolution && convolution != node.get();
      if (!post && (convolution || !is_loop(*node) || !parent_.contains(node.get()))) continue;
      const Node* result = post ? q_.result_of(*convolution) : node.get();
      for (const Node* operand : node->operands()) {
        const Node* base = q_.base_of(operand);
        if (parent_.contains(base) && takes_as_it_lies(*node, operand, *base)) join(base, result);
      }
    }
  }

  static double bytes_of(const Node& node) {
    return static_cast<double>(hint(node.tensor().numel()).value_or(1)) *
           static_cast<double>(dtype_size(node.tensor().dtype));
  }

  /// Strides of a view over the value as it would lie; nothing if it has none.
  std::optional<std::vector<SymInt>> strides_seen(const Node* operand, const Node& value, bool channels_last) {
    const std::vector<SymInt> before = q_.layouts.strides(&value);
    if (channels_last) q_.layouts.chosen_strides[&value] = channels_last_strides(value.tensor().shape);
    const auto view = strided_view(operand, q_.layouts);
    if (channels_last) q_.layouts.chosen_strides[&value] = before;
    return view && view->base == &value ? std::optional(view->strides) : std::nullopt;
  }

  static bool has_rows(const std::optional<std::vector<SymInt>>& strides) {
    return strides && !strides->empty() && strides->back() == SymInt(1);
  }

  void count(const Node& value) {
    Component& c = components_[root(&value)];
    const double bytes = bytes_of(value);
    const bool by_loop = !convolution_of(value);
    c.has_loops |= by_loop;
    if (!by_loop) c.score += bytes;
    if (by_loop) count_operands(value, c);
    const auto it = q_.readers.find(&value);
    if (it == q_.readers.end()) return;
    for (const Node* reader : it->second)
      for (const Node* operand : reader->operands())
        if (q_.base_of(operand) == &value) count_reader(value, *reader, operand, bytes_of(*operand), c);
  }

  /// What a loop reads that will not lie channels-last.
  void count_operands(const Node& value, Component& c) {
    size_t parts = 0;
    for (const Node* operand : value.operands()) {
      if (!operand->type.is_tensor()) continue;
      ++parts;
      const Node* base = q_.base_of(operand);
      const bool whole = operand->tensor().shape == value.tensor().shape;
      if (whole && !(parent_.contains(base) && takes_as_it_lies(value, operand, *base))) c.score -= bytes_of(*operand);
    }
    if (value.is("aten.cat.default") && parts > kMaxParts) c.score -= 2 * bytes_of(value);
  }

  void count_reader(const Node& value, const Node& reader, const Node* operand, double bytes, Component& c) {
    const Node* convolution = convolution_of(reader);
    if (is_image_of(operand, value)) {
      if (convolution == &reader && reader.args.at(0).node() == operand) c.score += bytes;
      if (convolution) return;
      if (is_window(reader)) c.score += bytes;
      if (is_loop(reader) || is_reduction(reader)) return void(c.has_loops = true);
      if (const Node* call = q_.call_of(reader)) {
        // A matrix product that adds it to a result of another shape.
        const auto strides = channels_last_strides(value.tensor().shape);
        c.impossible |= !reshape_strides(value.tensor().shape, strides, call->tensor().shape);
      }
      if (!is_library(reader)) c.score -= bytes;  // a kernel by hand, a scan, or PyTorch
      return;
    }
    const auto first = strides_seen(operand, value, false), last = strides_seen(operand, value, true);
    const bool needs_strides = is_library(reader) || (!is_loop(reader) && !is_reduction(reader));
    if (needs_strides && first && !last) c.impossible = true;
    c.has_loops |= !is_library(reader);
    if (has_rows(last) && !has_rows(first)) c.score += bytes;
    if (has_rows(first) && !has_rows(last)) c.score -= (is_reduction(reader) ? 2 : 1) * bytes;
  }

  void count_outputs() {
    std::unordered_map<const Node*, const std::vector<SymInt>*> wanted;
    const auto leaves = q_.graph.flat_outputs();
    size_t user = 0;
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!q_.graph.is_user_output(i)) continue;
      const size_t at = user++;
      const Node* node = leaves[i].node();
      if (node && at < q_.output_strides.size() && q_.output_strides[at]) wanted.emplace(node, &*q_.output_strides[at]);
    }
    for (const Node* output : q_.outputs) {
      if (!output->type.is_tensor()) continue;
      const Node* base = q_.base_of(output);
      if (!parent_.contains(base)) continue;
      Component& c = components_[root(base)];
      const auto last = strides_seen(output, *base, true);
      if (!last) c.impossible = true;
      const auto it = wanted.find(output);
      const bool as_wanted = it != wanted.end() && last && *it->second == *last;
      c.score += (as_wanted ? 1 : -2) * bytes_of(*base);
    }
  }

  const ChannelQuestion& q_;
  std::unordered_map<const Node*, const Node*> parent_;  ///< values; a forest whose trees are the components
  std::unordered_map<const Node*, Component> components_;
};

}  // namespace

std::vector<const Node*> choose_channels_last(const ChannelQuestion& question) { return Chooser(question).run(); }

}  // namespace strata
