// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Preloaded by bench_cpu.py: counts the bytes of tensors and scratch memory, whoever allocates them.
///
/// Counted are aligned blocks of any size, which is how PyTorch, oneDNN and Strata allocate, and others from 1 MiB on.
/// Not counted: what is mapped directly, and what compilers and Python keep in small blocks.

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace {

constexpr size_t kLarge = 1 << 20;
constexpr size_t kSlots = 1 << 20;
constexpr uintptr_t kDeleted = 1;

std::atomic<long long> live{0}, peak{0};
std::atomic_flag lock = ATOMIC_FLAG_INIT;
uintptr_t slots[kSlots];  ///< addresses of the aligned blocks, by hash

struct Locked {
  Locked() {
    while (lock.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Locked() { lock.clear(std::memory_order_release); }
};

size_t slot_of(uintptr_t address) { return (address >> 4) * 0x9E3779B97F4A7C15ull >> 44; }

void add(size_t bytes) {
  const long long now = live += static_cast<long long>(bytes);
  long long seen = peak;
  while (now > seen && !peak.compare_exchange_weak(seen, now)) {
  }
}

void remember(void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  Locked guard;
  for (size_t i = slot_of(address), n = 0; n < kSlots; i = (i + 1) % kSlots, ++n)
    if (slots[i] <= kDeleted) {
      slots[i] = address;
      return;
    }
}

/// Whether the block was remembered.
bool forget(void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  if (address % 64 != 0) return false;
  Locked guard;
  for (size_t i = slot_of(address), n = 0; n < kSlots && slots[i] != 0; i = (i + 1) % kSlots, ++n)
    if (slots[i] == address) {
      slots[i] = kDeleted;
      return true;
    }
  return false;
}

void* counted_plain(void* block) {
  if (block && malloc_usable_size(block) >= kLarge) add(malloc_usable_size(block));
  return block;
}

void* counted_aligned(void* block) {
  if (!block) return block;
  if (reinterpret_cast<uintptr_t>(block) % 64 == 0) {
    add(malloc_usable_size(block));
    remember(block);
  }
  return block;
}

void uncount(void* block) {
  if (!block) return;
  const size_t bytes = malloc_usable_size(block);
  if (forget(block) || bytes >= kLarge) live -= static_cast<long long>(bytes);
}

}  // namespace

extern "C" {

long long counted_live() { return live; }
long long counted_peak() { return peak; }
void counted_reset_peak() { peak = live.load(); }

void* malloc(size_t bytes) { return counted_plain(__libc_malloc(bytes)); }
void* calloc(size_t count, size_t bytes) { return counted_plain(__libc_calloc(count, bytes)); }

void* realloc(void* block, size_t bytes) {
  uncount(block);
  return counted_plain(__libc_realloc(block, bytes));
}

void free(void* block) {
  uncount(block);
  __libc_free(block);
}

void* aligned_alloc(size_t alignment, size_t bytes) { return counted_aligned(__libc_memalign(alignment, bytes)); }
void* memalign(size_t alignment, size_t bytes) { return counted_aligned(__libc_memalign(alignment, bytes)); }

int posix_memalign(void** block, size_t alignment, size_t bytes) {
  *block = counted_aligned(__libc_memalign(alignment, bytes));
  return *block || bytes == 0 ? 0 : ENOMEM;
}

}  // extern "C"
