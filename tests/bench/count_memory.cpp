// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Preloaded by bench_cpu.py: counts the bytes of tensors and scratch memory, whoever allocates them.
///
/// Counted are aligned blocks of any size, which is how PyTorch, oneDNN and Strata allocate, and others from 64 KiB on
/// (MKL's scratch), unless Python asks for them itself (its tables and strings), which counts from 1 MiB on.
/// Not counted: what is mapped directly, and what compilers and Python keep in small blocks.

#include <link.h>
#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace {

constexpr size_t kLarge = 1 << 20, kOfLibraries = 1 << 16;
constexpr size_t kSlots = 1 << 20;
constexpr uintptr_t kDeleted = 1;

std::atomic<long long> live{0}, peak{0};
std::atomic_flag lock = ATOMIC_FLAG_INIT;
uintptr_t slots[kSlots];  ///< addresses of the blocks that count although they are not large, by hash

/// Where Python's code lies: the program, or a library of its own.
struct Range {
  uintptr_t first, last;
};
Range interpreter[2];

int find_interpreter(dl_phdr_info* info, size_t, void* count) {
  int& found = *static_cast<int*>(count);
  const bool program = found == 0, library = std::strstr(info->dlpi_name, "/libpython") != nullptr;
  for (int i = 0; (program || library) && i < info->dlpi_phnum && found < 2; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
    const uintptr_t from = info->dlpi_addr + part.p_vaddr;
    interpreter[found++] = {from, from + part.p_memsz};
  }
  return 0;
}

__attribute__((constructor)) void prepare() {
  int found = 0;
  dl_iterate_phdr(find_interpreter, &found);
}

bool of_interpreter(const void* caller) {
  const auto at = reinterpret_cast<uintptr_t>(caller);
  return (at >= interpreter[0].first && at < interpreter[0].last) ||
         (at >= interpreter[1].first && at < interpreter[1].last);
}

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
  Locked guard;
  for (size_t i = slot_of(address), n = 0; n < kSlots && slots[i] != 0; i = (i + 1) % kSlots, ++n)
    if (slots[i] == address) {
      slots[i] = kDeleted;
      return true;
    }
  return false;
}

void* counted_plain(void* block, const void* caller) {
  const size_t bytes = block ? malloc_usable_size(block) : 0;
  if (bytes >= kLarge) {
    add(bytes);
  } else if (bytes >= kOfLibraries && !of_interpreter(caller)) {
    add(bytes);
    remember(block);
  }
  return block;
}

void* counted_aligned(void* block) {
  if (!block) return block;
  const size_t bytes = malloc_usable_size(block);
  if (bytes >= kLarge) {
    add(bytes);
  } else if (reinterpret_cast<uintptr_t>(block) % 64 == 0) {
    add(bytes);
    remember(block);
  }
  return block;
}

void uncount(void* block) {
  if (!block) return;
  const size_t bytes = malloc_usable_size(block);
  const bool may_be_kept = bytes >= kOfLibraries || reinterpret_cast<uintptr_t>(block) % 64 == 0;
  if (bytes >= kLarge || (may_be_kept && forget(block))) live -= static_cast<long long>(bytes);
}

}  // namespace

extern "C" {

long long counted_live() { return live; }
long long counted_peak() { return peak; }
void counted_reset_peak() { peak = live.load(); }

void* malloc(size_t bytes) { return counted_plain(__libc_malloc(bytes), __builtin_return_address(0)); }
void* calloc(size_t count, size_t bytes) {
  return counted_plain(__libc_calloc(count, bytes), __builtin_return_address(0));
}

void* realloc(void* block, size_t bytes) {
  uncount(block);
  return counted_plain(__libc_realloc(block, bytes), __builtin_return_address(0));
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
