// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where everything lies in a run: the stages of a plan, and the layout of each for the sizes of a call. See
/// executor.cpp.

#include <cstdint>
#include <cstdlib>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/arena.h"
#include "core/runtime/input_binding.h"
#include "core/runtime/plan.h"
#include "core/runtime/scratch_user.h"
#include "core/runtime/thread_choice.h"

namespace strata {

/// A pointer of some launch that changes with every call.
struct Patch {
  size_t slot;
  int buffer;
};

/// A pointer into the memory of a result, `offset` bytes from its start, for what is done with before the result
/// begins.
struct Lodger {
  size_t slot;
  int result;  ///< buffer
  int64_t offset;
};

struct OutputView {
  std::vector<int64_t> shape, strides;
  std::vector<int64_t> dense;  ///< strides of a copy
  int64_t offset = 0, value = 0;
};

/// For one binding of the size symbols.
struct Layout {
  SymBindings symbols;
  std::vector<int64_t> bytes, numel;          ///< per buffer of this stage and those before
  std::vector<std::vector<int64_t>> strides;  ///< per input: as the plan wants them
  ArenaLayout arena;
  std::vector<int64_t> offsets;          ///< per buffer, -1 where not in the stage's arena
  std::vector<int64_t> scratch;          ///< per launch of the stage: offset of its scratch in the arena
  std::vector<Lodger> lodgers;           ///< temporaries and scratch that lie in results
  std::vector<std::byte*> pointers;      ///< of the stage's launches, one after the other
  std::byte* arena_base = nullptr;       ///< that `pointers` was made for
  std::vector<OutputView> outputs;       ///< last stage
  std::shared_ptr<ThreadChoice> choice;  ///< shared with bindings of about the same size
};

struct FreeMemory {
  void operator()(std::byte* p) const { std::free(p); }
};
using Memory = std::unique_ptr<std::byte, FreeMemory>;

/// Launches between two points at which sizes are read from data.
struct Stage {
  size_t first = 0, last = 0;             ///< launches [first, last)
  std::vector<const PlanSize*> sizes;     ///< read before it begins
  std::vector<int> outputs, temporaries;  ///< buffers that it uses first
  std::vector<Patch> patches;
  std::list<std::unique_ptr<Layout>> layouts;  ///< most recently used first
  Layout* layout = nullptr;
  Memory arena;
  int64_t arena_size = 0;
};

/// Cuts a plan into stages and lays them out. What it is made from outlives it.
class StagePlanner {
 public:
  /// `scratch_users`: per launch, null for kernels that need none.
  StagePlanner(const Plan& plan, const InputBinder& binder, const std::vector<ScratchUser*>& scratch_users,
               int threads);

  std::vector<Stage> make_stages();
  /// Per buffer, the stage that uses it first; of inputs and constants the first.
  const std::vector<int>& stage_of() const { return stage_of_; }
  /// Of each launch, in the Layout::pointers of its stage.
  const std::vector<size_t>& first_slot() const { return first_slot_; }

  /// `before`: layout of the stage before, null for the first; `last`: whether results are known after this stage.
  /// Throws a user Error for sizes that break a condition of the program or cannot be addressed.
  std::unique_ptr<Layout> make_layout(const Stage& stage, SymBindings symbols, const Layout* before, bool last) const;

 private:
  void assign_buffers(std::vector<Stage>& stages);
  void collect_patches(std::vector<Stage>& stages);
  void input_strides(Layout& layout) const;
  void size_buffer(Layout& layout, size_t buffer) const;
  void place_buffers(const Stage& stage, Layout& layout) const;
  std::vector<int> request_scratch(const Stage& stage, const Layout& layout, std::vector<ArenaRequest>& requests) const;
  void find_lodgers(const Stage& stage, const std::vector<int>& request_of, const std::vector<int>& scratch,
                    const std::vector<int>& results, Layout& layout) const;
  void view_outputs(Layout& layout) const;
  void check_conditions(const SymBindings& symbols) const;

  const Plan& plan_;
  const InputBinder& binder_;
  const std::vector<ScratchUser*>& scratch_users_;
  const int threads_;
  std::vector<int> stage_of_;
  std::vector<size_t> first_slot_;
};

}  // namespace strata
