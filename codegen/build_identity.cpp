// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// The linker's build id of the program or library that holds this code; where it gave none, the file's size and time.

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>
#include <string>

#include "codegen/object_cache.h"

namespace strata::codegen {
namespace {

constexpr char kInside = 0;  // lies in the object that is looked for

struct Search {
  std::string id;
};

bool holds_this_code(const dl_phdr_info& info) {
  const auto here = reinterpret_cast<ElfW(Addr)>(&kInside);
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info.dlpi_phdr[i];
    const ElfW(Addr) begin = info.dlpi_addr + p.p_vaddr;
    if (p.p_type == PT_LOAD && here >= begin && here < begin + p.p_memsz) return true;
  }
  return false;
}

std::string id_in_notes(const char* at, size_t size) {
  const auto round = [](size_t n) { return (n + 3) / 4 * 4; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const size_t whole = sizeof note + round(note.n_namesz) + round(note.n_descsz);
    if (whole > size) break;
    const auto* content = reinterpret_cast<const unsigned char*>(at + sizeof note + round(note.n_namesz));
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at + sizeof note, "GNU", 4) == 0) {
      std::string id;
      for (size_t i = 0; i < note.n_descsz; ++i) id += fmt::format("{:02x}", content[i]);
      return id;
    }
    at += whole;
    size -= whole;
  }
  return {};
}

int look_at(dl_phdr_info* info, size_t, void* search) {
  if (!holds_this_code(*info)) return 0;
  auto& found = static_cast<Search*>(search)->id;
  for (int i = 0; i < info->dlpi_phnum && found.empty(); ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    if (p.p_type == PT_NOTE) found = id_in_notes(reinterpret_cast<const char*>(info->dlpi_addr + p.p_vaddr), p.p_memsz);
  }
  return 1;
}

std::string find_identity() {
  Search search;
  dl_iterate_phdr(&look_at, &search);
  if (!search.id.empty()) return search.id;
  Dl_info where{};
  struct stat info{};
  if (dladdr(&kInside, &where) == 0 || !where.dli_fname) return {};
  const std::string path = where.dli_fname;
  if (stat(path.c_str(), &info) != 0 && stat("/proc/self/exe", &info) != 0) return {};
  return fmt::format("{} {} {}.{}", path, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

}  // namespace

const std::string& build_identity() {
  static const std::string identity = find_identity();
  return identity;
}

}  // namespace strata::codegen
