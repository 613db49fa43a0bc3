// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/inductor/graph_view.h"

#include <algorithm>
#include <array>

#include "capture/inductor/py_text.h"

namespace strata::capture::detail {
namespace {

constexpr std::array<std::string_view, 26> kViews = {
    "view",   "reshape", "_unsafe_view", "permute",  "t",       "transpose", "expand",    "squeeze",        "unsqueeze",
    "slice",  "select",  "as_strided",   "alias",    "detach",  "unbind",    "split",     "diagonal",       "movedim",
    "unfold", "view_as", "expand_as",    "swapaxes", "flatten", "narrow",    "unflatten", "lift_fresh_copy"};

bool view_operator(std::string_view op) { return std::find(kViews.begin(), kViews.end(), op) != kViews.end(); }

std::string blank_names(std::string_view args, const std::unordered_map<std::string_view, int>& names) {
  std::string out;
  for (size_t i = 0; i < args.size();) {
    if (!py::is_name_char(args[i])) {
      out += args[i++];
      continue;
    }
    size_t end = i;
    while (end < args.size() && py::is_name_char(args[end])) ++end;
    const std::string_view word = args.substr(i, end - i);
    if (names.contains(word)) {
      out += '@';
    } else {
      out += word;
    }
    i = end;
  }
  return out;
}

}  // namespace

std::string_view operator_name(std::string_view target) {
  if (target.starts_with("torch.ops.")) target.remove_prefix(10);
  const size_t first = target.find('.');
  if (first == std::string_view::npos) return target;
  const std::string_view rest = target.substr(first + 1);
  return rest.substr(0, rest.find('.'));
}

GraphView::GraphView(std::span<const trace::NodeRecord> nodes) : nodes_(nodes) {
  const size_t count = nodes.size();
  std::unordered_map<trace::NodeId, int> ids;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name = nodes[i].name;
    names_.try_emplace(name, static_cast<int>(i));
    if (const size_t slash = name.rfind('/'); slash != std::string_view::npos) children_.insert(name.substr(0, slash));
    ids.try_emplace(nodes[i].id, static_cast<int>(i));
  }
  inputs_.resize(count);
  users_.resize(count);
  base_.resize(count);
  call_.resize(count);
  view_.resize(count);
  ops_.resize(count);
  keys_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const trace::NodeRecord& n = nodes[i];
    for (const auto& operand : n.inputs) {
      for (const trace::NodeId id : operand) {
        const auto it = ids.find(id);
        // Only what stands before: a graph that was damaged must not make circles.
        if (it == ids.end() || it->second >= static_cast<int>(i)) continue;
        inputs_[i].push_back(it->second);
        std::vector<int>& users = users_[static_cast<size_t>(it->second)];
        if (users.empty() || users.back() != static_cast<int>(i)) users.push_back(static_cast<int>(i));
      }
    }
    ops_[i] = operator_name(n.target);
    call_[i] = n.op != "placeholder" && n.op != "output" && n.op != "get_attr" && n.op != "constant";
    view_[i] = call_[i] && view_operator(ops_[i]) && !inputs_[i].empty();
    // A part of a view that gives several (split, unbind) is a view too.
    if (ops_[i] == "getitem" && !inputs_[i].empty() && view_[static_cast<size_t>(inputs_[i][0])]) view_[i] = 1;
    base_[i] = view_[i] ? base_[static_cast<size_t>(inputs_[i][0])] : static_cast<int>(i);
    // A seed's index is no property of the kernel that uses it.
    const bool seed = ops_[i] == "inductor_lookup_seed";
    keys_[i] = seed ? n.target : n.target + "(" + blank_names(n.args, names_) + ") " + n.type;
    // Child graphs have outputs of their own.
    if (n.op == "output" && n.name.find('/') == std::string::npos) read_outputs(static_cast<int>(i));
  }
  for (size_t i = 0; i < count; ++i) {
    if (call_[i]) alike_[keys_[i]].push_back(static_cast<int>(i));
  }
}

void GraphView::read_outputs(int n) {
  outputs_.clear();
  std::string_view text = py::trim(node(n).args);
  // `(a, b)` or, as the arguments of the node, `((a, b),)`.
  while (text.size() > 1 && text[0] == '(') {
    const std::vector<std::string_view> items = py::items(text);
    if (items.size() != 1 || items[0].empty() || (items[0][0] != '(' && items[0][0] != '[')) break;
    text = items[0];
  }
  for (const std::string_view item : py::items(text)) outputs_.push_back(find(item));
}

int GraphView::find(std::string_view name) const {
  const auto it = names_.find(name);
  return it == names_.end() ? -1 : it->second;
}

const std::vector<int>& GraphView::alike(int n) const {
  static const std::vector<int> none;
  const auto it = alike_.find(shape_key(n));
  return it == alike_.end() ? none : it->second;
}

int GraphView::element(int n, int index) const {
  for (const int user : users(n)) {
    if (op(user) != "getitem") continue;
    const std::vector<std::string_view> args = py::split(node(user).args);
    if (args.size() == 2 && py::integer(args[1]) == index) return user;
  }
  return -1;
}

}  // namespace strata::capture::detail
