// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/result_memory.h"

#include <algorithm>

namespace strata {
namespace {

constexpr size_t kKept = 4;

/// Whether only this object holds it: then nobody can come to hold it meanwhile. Copying the pointer and letting go of
/// the copy synchronises with whoever let go of it last, who then is done reading (a fence would, too, but for the
/// thread sanitizer, which knows none).
bool is_free(const std::shared_ptr<Storage>& s) {
  if (s.use_count() != 1) return false;
  std::shared_ptr<Storage> copy = s;
  copy.reset();
  return true;
}

/// Large enough, and not so large that a small result keeps the memory of a large one.
bool fits(const Storage& s, size_t bytes) { return s.size >= bytes && s.size / 2 <= bytes + 4096; }

}  // namespace

std::shared_ptr<Storage> ResultMemory::take(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  for (const auto& s : kept_)
    if (fits(*s, size) && is_free(s)) return s;
  std::shared_ptr<Storage> fresh = Tensor::empty(DType::U8, {bytes}).storage;
  const auto unfit = std::find_if(kept_.begin(), kept_.end(), is_free);
  if (unfit != kept_.end())
    *unfit = fresh;  // of other sizes
  else if (kept_.size() < kKept)
    kept_.push_back(fresh);
  return fresh;
}

size_t ResultMemory::bytes() const {
  size_t total = 0;
  for (const auto& s : kept_) total += s->size;
  return total;
}

}  // namespace strata
