// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// oneDNN behind the steps of a library call: descriptors from views, attributes from post-operations, primitives as
/// steps.

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/library_view.h"

namespace strata::library {

dnnl::engine& onednn_engine();

/// oneDNN uses as many threads as OpenMP would: set for the lifetime of this object, so that a host's own setting is
/// kept.
class OmpThreads {
 public:
  explicit OmpThreads(int threads);
  ~OmpThreads();
  OmpThreads(const OmpThreads&) = delete;
  OmpThreads& operator=(const OmpThreads&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// F32, and BF16 where the processor can; nothing for others.
std::optional<dnnl::memory::data_type> onednn_dtype(DType dtype);
/// Strided description of a view (its own strides).
dnnl::memory::desc onednn_desc(const View& view);

/// A memory argument of a primitive: where it is, and how it lies there.
struct OnednnArg {
  int id;
  dnnl::memory::desc desc;
  Slot slot;
};

/// oneDNN's objects for memory, of about a kilobyte each, which say how it lies and, for the time of a call, where:
/// those for one description are shared by steps that never run at once. Thread-safe.
class OnednnMemories {
 public:
  struct Memory {
    dnnl::memory memory;
    std::byte* address = nullptr;  ///< that was set last
  };
  /// One that is none of `taken`.
  std::shared_ptr<Memory> get(const dnnl::memory::desc& desc, const std::vector<std::shared_ptr<Memory>>& taken);

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<Memory>> memories_;
};

/// A primitive with its arguments as a step, which is to be told what it shares. The scratchpad comes from the shared
/// scratch.
std::unique_ptr<Step> make_onednn_step(dnnl::primitive primitive, std::vector<OnednnArg> args, std::string text);
std::unique_ptr<Step> make_onednn_reorder(const dnnl::memory::desc& from, Slot from_slot, const dnnl::memory::desc& to,
                                          Slot to_slot, ScratchPlan& scratch);

/// Adds the steps of an operation without operand, in place on float32 that lies dense in any order; says in `instance`
/// whether they drop NaN. False when the library has none.
bool add_onednn_eltwise(const ResultOp& op, const View& view, Instance& instance);

/// Attributes for a prefix of post-operations, and what they read.
struct OnednnAttr {
  dnnl::primitive_attr attr;
  std::vector<OnednnArg> args;
  size_t taken = 0;        ///< operations in it
  bool drops_nan = false;  ///< one of them turns NaN into a number
};
/// The longest prefix, at most `most` operations and none that is to be done apart, that oneDNN's fast kernels take for
/// a result laid out as `result`.
OnednnAttr onednn_attr(const std::vector<ResultOp>& ops, const View& result, size_t channel, size_t most);

/// Whether an implementation is one of the fast ones (the reference ones are slower than ours).
bool onednn_is_fast(const char* implementation);

/// Of a constant that has given its memory back, the packed copy that is asked for was never made.
struct NotPacked {};

/// Packed copies of constants, shared by all sizes of a call. Thread-safe.
class PackedConstants {
 public:
  /// What lies at `source`, a fixed slot, laid out as `to`; `key` tells the constants apart. Throws NotPacked when
  /// there is neither such a copy nor an address in the slot.
  std::shared_ptr<dnnl::memory> get(const void* key, const dnnl::memory::desc& from, const dnnl::memory::desc& to,
                                    const Slot& source);
  /// `floats` floats, written by `fill` the first time that they are asked for by this key and number.
  std::shared_ptr<dnnl::memory> make(const void* key, int64_t floats, const std::function<void(float*)>& fill);
  size_t bytes() const;

 private:
  struct Entry {
    const void* key;
    std::shared_ptr<dnnl::memory> memory;
  };
  /// Null if there is none. The mutex is held.
  std::shared_ptr<dnnl::memory> find(const void* key, const dnnl::memory::desc& as) const;

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// What writes the elements of a packed constant to memory laid out as `plain`; empty where oneDNN cannot.
std::function<void(std::byte*)> onednn_unpack(std::shared_ptr<dnnl::memory> packed, const dnnl::memory::desc& plain);

/// Builders: false when oneDNN has no fast kernel for this call; then `instance` is untouched. Its scratch is continued
/// by products, so that they may be part of something larger.
bool build_onednn_matmul(const ConcreteCall& call, PackedConstants& packed, Instance& instance);
bool build_onednn_convolution(const ConcreteCall& call, PackedConstants& packed, Instance& instance);

}  // namespace strata::library
