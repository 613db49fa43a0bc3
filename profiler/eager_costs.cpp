// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/eager_costs.h"

#include <unordered_set>

#include "profiler/iterations.h"

namespace strata::profiler {
namespace {

using Kind = HostEvent::Kind;

const HostEvent& at(const Timeline& t, int i) { return t.host[static_cast<size_t>(i)]; }

bool is_optimizer(const HostEvent& e) { return e.kind == Kind::Annotation && starts_with(e.name, "Optimizer."); }

/// The outermost operator around an event, or the backward call if there is one.
int top_of(const Timeline& t, int host, bool& backward) {
  int top = -1;
  for (int i = host; i >= 0; i = at(t, i).parent) {
    if (is_backward_call(at(t, i))) {
      backward = true;
      return i;
    }
    if (is_real_operator(at(t, i))) top = i;
  }
  return top;
}

/// Operators that allocate, look at a tensor in another way, or copy on behalf of the one around them.
bool is_auxiliary(std::string_view base) {
  static const std::unordered_set<std::string_view> table{"empty",        "empty_like",  "empty_strided",
                                                          "resize",       "as_strided",  "view",
                                                          "reshape",      "t",           "transpose",
                                                          "permute",      "expand",      "contiguous",
                                                          "clone",        "copy",        "to",
                                                          "resolve_conj", "resolve_neg", "result_type",
                                                          "zero",         "fill",        "detach",
                                                          "alias",        "slice",       "select",
                                                          "unsqueeze",    "squeeze",     "lift_fresh",
                                                          "is_nonzero",   "item",        "_local_scalar_dense"};
  return table.contains(base);
}

bool is_copy_operator(std::string_view base) {
  static const std::unordered_set<std::string_view> table{"to",         "copy",       "item", "_local_scalar_dense",
                                                          "pin_memory", "_pin_memory"};
  return table.contains(base);
}

/// Bytes that an operator writes, where its inputs say so.
std::int64_t written(const HostEvent& op, const OperatorInputs& in) {
  if (op.name.back() == '_') return in.first;
  // Kernels of a compiler get their outputs as arguments.
  if (op.name.find("::") == std::string::npos) return 0;
  return written_bytes(operator_base(op.name), in);
}

}  // namespace

ProfileCosts::ProfileCosts(const Timeline& timeline, bool on_device) : timeline_(timeline), forward_(timeline) {
  if (on_device)
    add_device_items();
  else
    add_host_items();
  for (CostItem& item : items_) place(item);
}

void ProfileCosts::add_device_items() {
  std::unordered_set<int> counted;
  for (int i = 0; i < static_cast<int>(timeline_.device.size()); ++i) {
    const DeviceEvent& d = timeline_.device[static_cast<size_t>(i)];
    CostItem item;
    item.device = i;
    item.time = d.duration;
    item.launches = 1;
    item.name = d.name;
    item.host = d.launcher;
    while (item.host >= 0 && at(timeline_, item.host).kind != Kind::Operator &&
           at(timeline_, item.host).kind != Kind::Annotation)
      item.host = at(timeline_, item.host).parent;
    if (item.host >= 0) {
      const HostEvent& op = at(timeline_, item.host);
      const OperatorInputs in = operator_inputs(op.args);
      item.bytes_known = in.known;
      // An operator of several kernels is counted with the first.
      if (counted.insert(item.host).second) item.bytes = in.bytes + written(op, in);
    }
    items_.push_back(item);
  }
}

void ProfileCosts::add_host_items() {
  std::vector<bool> leaf(timeline_.host.size(), true), computes(timeline_.host.size(), true);
  for (const HostEvent& e : timeline_.host) {
    if (e.kind != Kind::Operator) continue;
    const bool auxiliary = is_auxiliary(operator_base(e.name));
    for (int i = timeline_.enclosing(e.parent, Kind::Operator); i >= 0;
         i = timeline_.enclosing(at(timeline_, i).parent, Kind::Operator)) {
      leaf[static_cast<size_t>(i)] = false;
      if (!auxiliary) computes[static_cast<size_t>(i)] = false;  // what is inside does
    }
  }
  for (int i = 0; i < static_cast<int>(timeline_.host.size()); ++i) {
    const HostEvent& e = at(timeline_, i);
    const bool call = e.kind == Kind::Annotation && starts_with(e.name, "## Call");
    if (e.kind != Kind::Operator && !call) continue;
    CostItem item;
    item.host = i;
    item.time = e.self;
    item.name = e.name;
    item.launches = leaf[static_cast<size_t>(i)] && !call ? 1 : 0;
    if (!call && computes[static_cast<size_t>(i)] && !is_auxiliary(operator_base(e.name))) {
      const OperatorInputs in = operator_inputs(e.args);
      item.bytes_known = in.known;
      item.bytes = in.bytes + written(e, in);
    }
    items_.push_back(item);
  }
}

void ProfileCosts::place(CostItem& item) const { item.top = top_of(timeline_, item.host, item.backward); }

ForwardOperators::ForwardOperators(const Timeline& timeline) {
  std::unordered_map<std::int64_t, std::int64_t> start;
  constexpr int kBackward = -2;
  std::vector<int> tops;  // per event: the outermost operator around it; parents come first
  tops.reserve(timeline.host.size());
  for (const HostEvent& e : timeline.host) {
    const int around = e.parent < 0 ? -1 : tops[static_cast<size_t>(e.parent)];
    const auto own = static_cast<int>(tops.size());
    tops.push_back(is_backward_call(e) ? kBackward : around == -1 && is_real_operator(e) ? own : around);
    const int top = tops.back();
    if (e.kind != Kind::Operator || e.sequence < 0 || top < 0) continue;
    // The last operator that shows a number is the one that made the backward node.
    const auto [it, first] = start.try_emplace(e.sequence, e.start);
    if (!first && e.start < it->second) continue;
    it->second = e.start;
    by_sequence_[e.sequence] = top;
  }
}

int ForwardOperators::of(std::int64_t sequence) const {
  const auto found = by_sequence_.find(sequence);
  return found == by_sequence_.end() ? -1 : found->second;
}

std::int64_t ProfileCosts::total() const {
  std::int64_t sum = 0;
  for (const CostItem& item : items_) sum += item.time;
  return sum;
}

int ProfileCosts::forward_of(int top) const { return top < 0 ? -1 : forward_.of(at(timeline_, top).sequence); }

bool ProfileCosts::in_optimizer(const CostItem& item) const {
  for (int i = item.host; i >= 0; i = at(timeline_, i).parent)
    if (is_optimizer(at(timeline_, i))) return true;
  return false;
}

bool ProfileCosts::is_data_movement(const CostItem& item) const {
  if (item.device < 0 || item.backward) return false;
  const DeviceEvent& d = timeline_.device[static_cast<size_t>(item.device)];
  if (d.category == "kernel") return false;
  return item.top < 0 || is_copy_operator(operator_base(at(timeline_, item.top).name));
}

int ProfileCosts::effective(const CostItem& item) const {
  int innermost = -1;
  for (int i = item.host; i >= 0; i = at(timeline_, i).parent) {
    const HostEvent& e = at(timeline_, i);
    if (is_backward_call(e)) break;
    if (!is_real_operator(e)) continue;
    if (innermost < 0) innermost = i;
    if (!is_auxiliary(operator_base(e.name))) return i;
  }
  return innermost;
}

}  // namespace strata::profiler
