// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What library calls are made of once all sizes are known: views of memory that is found at run time, and the steps
/// that work on them.

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/ir/library.h"

namespace strata::library {

/// Where bytes are at run time.
struct Slot {
  enum class Kind : uint8_t { Buffer, Scratch, Fixed };
  Kind kind = Kind::Buffer;
  int buffer = 0;              ///< Buffer: index into the launch's buffers
  int64_t offset = 0;          ///< bytes from there
  std::byte* fixed = nullptr;  ///< Fixed: the address itself

  std::byte* resolve(std::byte* const* buffers, std::byte* scratch) const {
    return (kind == Kind::Buffer ? buffers[buffer] : kind == Kind::Scratch ? scratch : fixed) + offset;
  }
};

/// A strided tensor at a slot; strides in elements, 0 where broadcast.
struct View {
  Slot slot;
  DType dtype = DType::F32;
  std::vector<int64_t> shape, strides;

  size_t rank() const { return shape.size(); }
  int64_t numel() const;
  bool is_contiguous() const;
};

class OnednnMemories;

/// What the kernels of one compile share: memory that nobody else gives them, of which none outlives a launch.
class Scratch {
 public:
  /// At least `bytes`, 64-byte aligned, from now on. Throws a runtime Error. Threads may call at once while nothing
  /// runs.
  void reserve(int64_t bytes);
  std::byte* data() const { return memory_.get(); }
  /// Made at the first call.
  OnednnMemories& memories();

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::mutex mutex_;
  std::unique_ptr<std::byte, Free> memory_;
  int64_t size_ = 0;
  std::shared_ptr<OnednnMemories> memories_;
};

/// Places in the scratch for the steps of one instance.
class ScratchPlan {
 public:
  Slot take(int64_t bytes);
  View tensor(DType dtype, std::vector<int64_t> shape);
  int64_t bytes() const { return top_; }

 private:
  int64_t top_ = 0;
};

/// What a step sees.
struct StepArgs {
  std::byte* const* buffers;
  std::byte* scratch;
  int threads;
  std::byte* at(const Slot& slot) const { return slot.resolve(buffers, scratch); }
};

class Step {
 public:
  virtual ~Step() = default;
  /// Takes from there what it can share with other steps of the compile; before the first run.
  virtual void share(OnednnMemories&) {}
  virtual void run(const StepArgs& args) = 0;
  /// One or more lines, for people; each ends with a line break.
  virtual std::string describe() const = 0;
};

/// A library call with all sizes known.
struct ConcreteCall {
  const LibraryCall* call = nullptr;
  std::vector<View> operands;
  std::vector<bool> constant;  ///< per operand: its slot is Fixed and its bytes never change (see packed_key)
  View result;
  int threads = 1;
  const void* packed_key = nullptr;  ///< what a constant weight is known by; its address is null once it is released
  bool keep_nan = false;             ///< what would turn NaN into a number is not left to the library
};

/// One call for one set of sizes, as steps that run one after the other.
struct Instance {
  std::vector<std::unique_ptr<Step>> steps;
  ScratchPlan scratch;
  std::vector<std::shared_ptr<const void>> owned;  ///< packed constants and the like
  /// Writes the elements of a constant right operand, which no step reads where it lies, back to where they lay; empty
  /// where a step does, or where that cannot be done.
  std::function<void(std::byte*)> unpack;
  bool drops_nan = false;  ///< a step turns NaN into a number where the call says NaN

  void run(const StepArgs& args) {
    for (auto& s : steps) s->run(args);
  }
};

/// Work on a result: a PostOp whose operand is a view (aligned to the result's dimensions, size 1 or stride 0 where
/// broadcast).
struct ResultOp {
  PostOp::Kind kind;
  double alpha = 0, beta = 0;
  View operand;
  bool apart = false;  ///< not to be fused: a step of ours does it
  bool has_operand() const {
    return kind == PostOp::Kind::Add || kind == PostOp::Kind::Sub || kind == PostOp::Kind::Mul;
  }
  /// Whether it reads an element for each of the result's.
  bool reads_whole(const View& result) const { return has_operand() && operand.shape == result.shape; }
};

/// `view` with dimensions of size 1 put in front until it has `rank` dimensions.
View with_rank(View view, size_t rank);

/// Dense memory of [n, c, d...] as it lies with its channels last.
View channels_last(View view);
/// [n, c, d...] as [n, d..., c].
View channels_at_end(View view);
/// Whether channels of [n, c, d...] lie next to each other.
inline bool has_dense_channels(const View& v) { return v.shape[1] == 1 || v.strides[1] == 1; }
/// The type that own kernels compute in: F32 for 16- and 32-bit floats, F64, or I64 for integers and bool.
DType accumulation_dtype(DType dtype);
std::string describe(const View& view);
std::string describe(const ResultOp& op);
/// The call's post-operations with their operands as views of the result's rank.
std::vector<ResultOp> result_ops(const ConcreteCall& call);

}  // namespace strata::library
