// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_keep.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "codegen/loop_cost.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

constexpr int64_t kKeptBytes = 256 * 1024;  // of all that is kept: half of a second cache of 512 KiB

bool is_expensive(ScalarOp op) {
  return (op >= ScalarOp::Exp && op <= ScalarOp::Erfc) || op == ScalarOp::Sigmoid || op == ScalarOp::Pow ||
         op == ScalarOp::Atan2;
}

class Keeper {
 public:
  Keeper(Kernel& k, ShapeEnv& env) : k_(k), body_(k, env) {
    written_.assign(k.buffers.size(), 0);
    for (const Nest& nest : k.nests)
      for (const Store& s : nest.stores) written_[s.buffer] = 1;
  }

  void run() {
    number_.resize(k_.scalars.size(), kNone);
    varies_.resize(k_.scalars.size(), 0);
    for (size_t n = 0; n < k_.nests.size(); ++n) {
      if (k_.nests[n].scan) return;
      // What is kept adds instructions to earlier nests only: the list stays as it is.
      const std::vector<ScalarId> ids = k_.nests[n].body;
      for (ScalarId id : ids) visit(n, id);
    }
  }

 private:
  /// Operation and what it is applied to: equal keys, equal values (at equal indices of the axes).
  using Key =
      std::tuple<ScalarOp, DType, ScalarId, ScalarId, ScalarId, uint64_t, int64_t, BufferId, const void*, int64_t>;

  ScalarId number(ScalarId id) const { return id == kNone ? kNone : number_[id]; }

  void visit(size_t n, ScalarId id) {
    const Scalar& s = k_.scalars[id];
    number_[id] = id;
    for (ScalarId a : {s.a, s.b, s.c})
      if (a != kNone && s.op != ScalarOp::Reduced) varies_[id] |= varies_[a];
    for (AxisId a : k_.nests[n].axes) {
      const auto symbols = free_symbols(s.index);
      if (std::binary_search(symbols.begin(), symbols.end(), k_.axes[a].symbol)) varies_[id] = 1;
    }
    if (s.op == ScalarOp::Load && written_[s.buffer]) return;
    const bool reduced = s.op == ScalarOp::Reduced;
    const Key key{s.op,
                  s.dtype,
                  reduced ? s.a : number(s.a),
                  reduced ? s.b : number(s.b),
                  number(s.c),
                  std::bit_cast<uint64_t>(s.number),
                  s.integer,
                  s.buffer,
                  s.index.expr(),
                  s.index.maybe_value().value_or(0)};
    const auto [it, fresh] = first_.emplace(key, std::pair(n, id));
    if (fresh) return;
    const auto [where, same] = it->second;
    number_[id] = same;
    if (is_expensive(s.op) && varies_[id] && k_.nests[where].axes == k_.nests[n].axes && where != n)
      keep(where, same, id);
  }

  void keep(size_t where, ScalarId value, ScalarId again) {
    const auto [it, fresh] = kept_.emplace(value, BufferId{});
    if (fresh && !add_line(where, value, it->second)) {
      kept_.erase(it);
      return;
    }
    Scalar& s = k_.scalars[again];
    const uint64_t node = s.node;
    s = Scalar{};
    s.op = ScalarOp::Load;
    s.dtype = k_.scalars[value].dtype;
    s.buffer = it->second;
    s.index = place(where);
    s.node = node;
  }

  bool add_line(size_t where, ScalarId value, BufferId& line) {
    const Scalar& s = k_.scalars[value];
    if (is_reduced_float(s.dtype) || s.dtype == DType::Bool) return false;
    SymInt length = 1;
    for (AxisId a : k_.nests[where].axes) length = length * k_.axes[a].extent;
    // A symbolic length will do if it has a bound: all programs of exported models with ranges have one.
    const int64_t most = range(length).max, size = static_cast<int64_t>(dtype_size(s.dtype));
    if (most < 1 || most > (kKeptBytes - bytes_) / size) return false;
    bytes_ += most * size;
    line = body_.buffer({"kept", s.dtype, most, BufferRole::Local, s.node});
    Store store;
    store.buffer = line;
    store.index = place(where);
    store.value = value;
    store.node = s.node;
    k_.nests[where].stores.push_back(store);
    return true;
  }

  SymInt place(size_t where) const {
    SymInt at = 0;
    for (AxisId a : k_.nests[where].axes) at = at * k_.axes[a].extent + body_.axis_index(a);
    return at;
  }

  Kernel& k_;
  Body body_;
  std::vector<char> written_, varies_;  ///< buffers; scalars that differ between the elements of a line
  std::vector<ScalarId> number_;
  std::map<Key, std::pair<size_t, ScalarId>> first_;
  std::map<ScalarId, BufferId> kept_;
  int64_t bytes_ = 0;
};

}  // namespace

void keep_expensive_values(Kernel& k) {
  ShapeEnv* env = environment_of_loads(k);
  if (env && k.nests.size() > 1 && k.indirect.empty()) Keeper(k, *env).run();
}

}  // namespace strata::codegen
