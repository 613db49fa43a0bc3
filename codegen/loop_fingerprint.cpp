// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_fingerprint.h"

#include <algorithm>
#include <bit>
#include <map>

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

/// Names every symbol by its place in the kernel and sorts the terms, which interning orders by age.
class Canonical {
 public:
  explicit Canonical(const Kernel& k) {
    for (size_t i = 0; i < k.axes.size(); ++i) names_[k.axes[i].symbol] = "a" + std::to_string(i);
    for (size_t i = 0; i < k.symbols.size(); ++i) names_[k.symbols[i]] = "s" + std::to_string(i);
    for (const auto& [symbol, scalar] : k.indirect) names_[symbol] = "k" + std::to_string(scalar);
  }

  std::string text(const SymInt& e) const {
    if (auto value = e.maybe_value()) return std::to_string(*value);
    std::vector<std::string> parts;
    for (const SymTerm& term : terms(e)) {
      std::vector<std::string> factors;
      for (const SymAtomView& f : term.factors) factors.push_back(atom(f));
      std::sort(factors.begin(), factors.end());
      std::string part = std::to_string(term.coefficient);
      for (const std::string& f : factors) part += "*" + f;
      parts.push_back(std::move(part));
    }
    std::sort(parts.begin(), parts.end());
    std::string out;
    for (const std::string& part : parts) out += "+" + part;
    return out;
  }

 private:
  std::string atom(const SymAtomView& f) const {
    if (f.kind == SymAtomKind::Symbol) {
      auto it = names_.find(f.symbol);
      return it == names_.end() ? "?" + std::to_string(f.symbol) : it->second;
    }
    std::string out = std::to_string(static_cast<int>(f.kind)) + f.name + "(";
    if (f.kind == SymAtomKind::Scaled)
      out +=
          std::to_string(static_cast<int>(f.rounding)) + "," + std::to_string(std::bit_cast<uint64_t>(f.factor)) + ",";
    for (const SymInt& arg : f.args) out += text(arg) + ",";
    return out + ")";
  }

  std::map<size_t, std::string> names_;
};

}  // namespace

std::string fingerprint(const Kernel& k) {
  Canonical canonical(k);
  std::string out;
  auto put = [&](auto... values) { ((out += std::to_string(values) + ","), ...); };
  auto range_text = [&](const SymInt& e) {
    SymRange r = range(e);
    put(r.min, r.max);
  };
  for (const Axis& a : k.axes) {
    out += canonical.text(a.extent) + ";";
    range_text(a.extent);
  }
  for (AxisId a : k.outer) put(a);
  for (const Buffer& b : k.buffers) {
    put(static_cast<int>(b.dtype), static_cast<int>(b.role));
    out += b.role == BufferRole::Local ? canonical.text(b.numel) : "";
  }
  for (const Nest& nest : k.nests) {
    out += nest.scan ? "S" : "N";
    for (AxisId a : nest.axes) put(a);
    for (ScalarId id : nest.body) {
      const Scalar& s = k.scalars[id];
      put(id, static_cast<int>(s.op), static_cast<int>(s.dtype), s.a, s.b, s.c, s.integer, s.buffer);
      if (s.op == ScalarOp::Const) put(std::bit_cast<uint64_t>(s.number));
      // Versions for known sizes have constants here too.
      if (!s.index.is_const() || s.op == ScalarOp::Load || s.op == ScalarOp::Index) out += canonical.text(s.index);
    }
    for (const Reduction& r : nest.reductions) {
      put(static_cast<int>(r.combine), r.value, r.position, r.mask, static_cast<int>(r.dtype));
    }
    for (const Store& s : nest.stores) {
      put(s.buffer, s.value, s.mask, static_cast<int>(s.accumulate));
      out += canonical.text(s.index);
    }
  }
  for (const Check& c : k.checks) put(static_cast<int>(c.kind));
  put(k.schedule.vector_axis, k.schedule.vector_width, k.schedule.unroll);
  return out;
}

}  // namespace strata::codegen
