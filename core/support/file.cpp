// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/support/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/support/error.h"

namespace strata {
namespace {

class FileDescriptor {
 public:
  FileDescriptor(const char* path, int flags) : fd_(::open(path, flags | O_CLOEXEC, 0666)) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string reason() { return std::strerror(errno); }

bool write_all(int fd, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t written = ::write(fd, data.data(), std::min<size_t>(data.size(), 1u << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data = data.subspan(static_cast<size_t>(written));
  }
  return true;
}

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<int> counter{0};
  auto name = path;
  name += fmt::format(".{}.{}.tmp", ::getpid(), counter++);
  return name;
}

}  // namespace

Bytes map_file(const std::filesystem::path& path) {
  const FileDescriptor file(path.c_str(), O_RDONLY);
  if (file.get() < 0) throw_user(fmt::format("cannot open '{}': {}", path.string(), reason()));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) throw_user(fmt::format("cannot read '{}': {}", path.string(), reason()));
  if (S_ISDIR(info.st_mode)) throw_user(fmt::format("'{}' is a directory, expected a file", path.string()));
  if (!S_ISREG(info.st_mode))
    throw_user(fmt::format("'{}' is not a regular file", path.string()), "copy it into a file first");
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return {};
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) throw_runtime(fmt::format("cannot map '{}': {}", path.string(), reason()));
  const std::shared_ptr<const void> owner(memory, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  return {{static_cast<const std::byte*>(memory), size}, owner};
}

std::shared_ptr<std::byte> allocate_bytes(size_t size) {
  if (size > SIZE_MAX / 2) throw_runtime(fmt::format("out of memory: {} bytes were asked for", size));
  const size_t rounded = (std::max<size_t>(size, 1) + 63) / 64 * 64;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(64, rounded));
  if (!memory) throw_runtime(fmt::format("out of memory: {} bytes were asked for", size));
  return {memory, [](std::byte* p) { std::free(p); }};
}

Bytes copy_bytes(std::span<const std::byte> data) {
  const auto memory = allocate_bytes(data.size());
  if (!data.empty()) std::memcpy(memory.get(), data.data(), data.size());
  return {{memory.get(), data.size()}, memory};
}

void swap_bytes(std::span<std::byte> data, size_t item) {
  if (item < 2) return;
  for (size_t i = 0; i + item <= data.size(); i += item) std::reverse(data.data() + i, data.data() + i + item);
}

void write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts) {
  const auto temporary = temporary_name(path);
  {
    const FileDescriptor file(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL);
    if (file.get() < 0) throw_user(fmt::format("cannot write '{}': {}", path.string(), reason()));
    bool good = true;
    for (const auto part : parts) good = good && write_all(file.get(), part);
    if (!good) {
      const std::string why = reason();
      ::unlink(temporary.c_str());
      throw_runtime(fmt::format("cannot write '{}': {}", path.string(), why));
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) == 0) return;
  const std::string why = reason();
  ::unlink(temporary.c_str());
  throw_user(fmt::format("cannot write '{}': {}", path.string(), why));
}

}  // namespace strata
