// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_memory.h"

#include <algorithm>

#include "codegen/loop_cost.h"
#include "codegen/loop_split_columns.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

bool streams(const KernelPlan& plan) {
  return std::find(plan.streamed.begin(), plan.streamed.end(), 1) != plan.streamed.end();
}

bool has_masks(const Kernel& kernel, const Target& target) {
  const auto is_wide = [](const Buffer& b) { return dtype_size(b.dtype) >= 4; };
  return target.avx512 || (target.has("avx2") && std::ranges::all_of(kernel.buffers, is_wide));
}

/// Buffers that the kernel only writes, each element once, and that are too large to be found in a cache later. Large
/// transposes write them past the caches though the last one would hold them: they write a line here and one there, and
/// reading a result again takes less time than fetching its lines before they are written.
void choose_streams(KernelPlan& plan, const Target& target) {
  const Kernel& k = plan.kernel;
  plan.streamed.assign(k.buffers.size(), 0);
  for (size_t i = 0; i < k.buffers.size(); ++i) {
    const Buffer& b = k.buffers[i];
    auto numel = b.numel.maybe_value() ? b.numel.maybe_value() : hint(b.numel);
    plan.streamed[i] = b.role == BufferRole::Output && numel &&
                       *numel >= target.cache_bytes / static_cast<int64_t>(dtype_size(b.dtype));
  }
  for (const Scalar& s : k.scalars) {
    if (s.op == ScalarOp::Load) plan.streamed[s.buffer] = 0;
  }
  for (const Nest& nest : k.nests) {
    for (const Store& s : nest.stores) plan.streamed[s.buffer] = plan.streamed[s.buffer] && !s.accumulate;
  }
  if (!plan.nests.empty() && plan.nests[0].past_caches)
    for (const Store& s : k.nests[0].stores) plan.streamed[s.buffer] = 1;
}

namespace {

/// 0 where nothing is known.
int64_t bytes_of(const Buffer& b) { return hint(b.numel).value_or(0) * static_cast<int64_t>(dtype_size(b.dtype)); }

/// A load of an input that no cache holds, from neighbours along the lanes. Not one whose place depends on data: that
/// of another one is not known yet.
bool reads_memory_along(const Kernel& k, const Scalar& s, size_t lane, const Target& target) {
  if (s.op != ScalarOp::Load || s.a != kNone || k.buffers[s.buffer].role != BufferRole::Input) return false;
  for (const auto& [symbol, id] : k.indirect)
    if (mentions(s.index, symbol)) return false;
  const auto along = linear_in(s.index, lane);
  return along && along->coefficient == SymInt(1) && bytes_of(k.buffers[s.buffer]) >= target.cache_bytes;
}

/// Whether it goes on to another place with `symbol`.
bool walks(const Scalar& load, size_t symbol) {
  const auto linear = linear_in(load.index, symbol);
  return linear && !(linear->coefficient == SymInt(0));
}

/// Of a pointwise kernel with a long body: while one vector is at work too few of the next ones' loads are under way
/// for memory to be busy. A short one has enough of them, but for several operands without AVX-512, half a cache line
/// of each at a time.
void choose_streams_ahead(KernelPlan& plan, const Target& target) {
  constexpr size_t kLongBody = 16;  // instructions
  const Kernel& k = plan.kernel;
  if (k.outer.empty() || k.nests.size() != 1 || !k.nests[0].axes.empty()) return;
  const size_t lane = k.axes[k.outer.back()].symbol;
  std::vector<ScalarId> along;
  for (ScalarId id : k.nests[0].body)
    if (reads_memory_along(k, k.scalars[id], lane, target)) along.push_back(id);
  const bool several = !target.avx512 && along.size() > 1;
  if (several || work_in(k, k.nests[0]) >= kLongBody) plan.ahead = along;
}

/// Of sums of columns, which go through the partial sums of a line for each row: what that does takes the room in the
/// processor that would see the next page's loads. Not where it is done for so many rows at once that it does not
/// count.
void choose_columns_ahead(KernelPlan& plan, const Target& target) {
  const Kernel& k = plan.kernel;
  for (size_t n = 0; n < k.nests.size(); ++n) {
    const Nest& nest = k.nests[n];
    const auto partial = [&](const Store& s) { return k.buffers[s.buffer].role == BufferRole::Local; };
    const bool sums = !nest.stores.empty() && std::all_of(nest.stores.begin(), nest.stores.end(), partial);
    if (!sums || nest.axes.size() < 2 || plan.nests[n].lanes < 2) continue;
    const size_t lane = k.axes[nest.axes.back()].symbol, row = k.axes[nest.axes[nest.axes.size() - 2]].symbol;
    std::vector<ScalarId> along;
    std::vector<int64_t> rows(k.buffers.size(), 0);
    for (ScalarId id : nest.body) {
      const Scalar& s = k.scalars[id];
      if (!reads_memory_along(k, s, lane, target) || !walks(s, row)) continue;
      along.push_back(id);
      ++rows[s.buffer];
    }
    if (std::ranges::all_of(rows, [](int64_t n) { return n < kWideRowsAtOnce; }))
      plan.ahead.insert(plan.ahead.end(), along.begin(), along.end());
  }
}

/// Whether the kernel computes so much for each element that stores do not come one after the other.
bool takes_functions(const Kernel& k) {
  return std::any_of(k.scalars.begin(), k.scalars.end(), [](const Scalar& s) { return operation_cost(s) >= 12; });
}

}  // namespace

/// What is fetched before its turn. A kernel that goes through a line several times reads memory only the first time,
/// and the machine's own prefetching ends at a page: without help memory waits while the line is worked on. Tiles of a
/// transpose read a vector here and one there, which it does not foresee either.
/// Stores past the caches and lines on their way into the first cache wait for the same few buffers: where such stores
/// come close together, lines are fetched into the second cache, but for AMD's processors with AVX-512, which rather
/// need them fetched earlier (norms 0.88 and 0.91 of a copy, softmax 0.96, cross entropy 0.99, before 0.84, 0.87, 0.95,
/// 0.90).
void choose_ahead(KernelPlan& plan, const Target& target) {
  constexpr int64_t kShortest = 512, kLongest = 256 << 10;  // bytes of a line
  constexpr int64_t kFar = 8192;                            // bytes: what comes from there takes that long
  constexpr int64_t kPage = 4096;                           // bytes
  const Kernel& k = plan.kernel;
  // Processors with matrix tiles foresee the rows of a tile, which go on in the next one; others are taken for AMD's.
  const bool foresees = target.amx, is_wide_amd = target.avx512 && !foresees;
  for (const NestPlan& nest : plan.nests)
    for (ScalarId id : nest.turned) {
      const bool from_memory = bytes_of(k.buffers[k.scalars[id].buffer]) >= target.cache_bytes;
      if (nest.run > 0 || (from_memory && (!foresees || nest.squares == 1))) plan.ahead.push_back(id);
    }
  if (plan.lanes_are_points) return choose_streams_ahead(plan, target);
  choose_columns_ahead(plan, target);
  if (!plan.ahead.empty()) return;
  const auto passes = std::count_if(k.nests.begin(), k.nests.end(), [](const Nest& n) { return !n.axes.empty(); });
  // A line that is read once, but worked on for longer than it takes to come.
  const bool slow = std::any_of(k.nests.begin(), k.nests.end(), sums_exponentials);
  if (k.outer.empty() || (passes < 2 && !slow)) return;
  std::vector<char> seen(k.buffers.size(), 0);
  for (size_t n = 0; n < k.nests.size(); ++n) {
    if (k.nests[n].axes.size() != 1 || plan.nests[n].lanes < 2) continue;
    const AxisId lane = k.nests[n].axes[0];
    for (ScalarId id : k.nests[n].body) {
      const Scalar& s = k.scalars[id];
      if (!reads_memory_along(k, s, k.axes[lane].symbol, target) || seen[s.buffer]) continue;
      const int64_t line = extent_hint(k, lane) * static_cast<int64_t>(dtype_size(k.buffers[s.buffer].dtype));
      if (!walks(s, k.axes[k.outer.back()].symbol) || line < kShortest || line > kLongest) continue;
      seen[s.buffer] = 1;
      plan.ahead.push_back(id);
      if (is_wide_amd) plan.ahead_points = std::max(plan.ahead_points, (kFar + line - 1) / line);
    }
  }
  // They also have buffers of their own for such stores, as have AMD's with AVX-512.
  const bool waits = !foresees && !target.avx512 && streams(plan) && !takes_functions(k);
  plan.ahead_near = !waits;
  // Where one pass is all, they fetch evenly. Into the first cache alone comes no more than its few buffers let in.
  int passes_at_work = plan.late ? -1 : 0;
  for (size_t n = 0; n < k.nests.size(); ++n) passes_at_work += goes_through_line(plan, n) ? 1 : 0;
  if (foresees && passes_at_work == 1) plan.ahead_bytes = kPage;
}

}  // namespace strata::codegen
