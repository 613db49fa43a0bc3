// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/object_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>

namespace strata::codegen {
namespace {

constexpr int64_t kMiB = 1 << 20, kDefaultLimit = 256 * kMiB, kLargestEntry = 64 * kMiB;
constexpr int kShards = 256;  // folders, by the first byte of the key: each is bounded by itself
constexpr time_t kTouchAfter = 3600, kAbandonedAfter = 3600;  // seconds

/// Before the content of an entry.
struct Header {
  char magic[8];
  Sha256Digest key, checksum;
};
constexpr char kMagic[8] = {'s', 't', 'r', 'a', 't', 'a', 'c', '1'};

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// Only this user could have written it.
bool is_own(const struct stat& info) { return info.st_uid == ::geteuid() && (info.st_mode & 022) == 0; }

std::string shard_of(const Sha256Digest& key) { return to_hex(key).substr(0, 2); }
std::string name_of(const Sha256Digest& key) { return to_hex(key).substr(2); }

File open_folder(int in, const std::string& name) {
  return File(::openat(in, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}
File open_shard(int folder, const Sha256Digest& key) { return open_folder(folder, shard_of(key)); }

bool read_all(int fd, void* to, size_t size) {
  auto* p = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::read(fd, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool write_all(int fd, const void* from, size_t size) {
  const auto* p = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t n = ::write(fd, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------------ eviction

struct Listed {
  std::string name;
  int64_t bytes;
  timespec used;
};

bool used_before(const Listed& a, const Listed& b) {
  return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
}

/// Whether this cache would have named a file so: whatever else lies in the folder is not touched.
bool is_entry_name(std::string_view name) {
  return name.size() == 62 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
bool is_temporary_name(std::string_view name) {
  return name.starts_with('.') && name.size() > 1 && name.find_first_not_of("0123456789.") == std::string_view::npos &&
         name.find_first_of("0123456789") != std::string_view::npos;
}

/// Entries of a folder; temporary files of processes that ended too early are removed on the way.
std::vector<Listed> list(int shard) {
  std::vector<Listed> out;
  const int copy = ::openat(shard, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return out;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(copy), &::closedir);
  if (!dir) {
    ::close(copy);
    return out;
  }
  while (const dirent* e = ::readdir(dir.get())) {
    struct stat info{};
    if (::fstatat(shard, e->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
    if (is_temporary_name(e->d_name)) {
      if (info.st_mtim.tv_sec + kAbandonedAfter < std::time(nullptr)) ::unlinkat(shard, e->d_name, 0);
      continue;
    }
    if (is_entry_name(e->d_name)) out.push_back({e->d_name, int64_t{info.st_blocks} * 512, info.st_mtim});
  }
  return out;
}

/// The folders of entries that are there.
std::vector<std::string> shards_in(int folder) {
  std::vector<std::string> out;
  constexpr char digits[] = "0123456789abcdef";
  for (int i = 0; i < kShards; ++i) {
    const std::string name{digits[i / 16], digits[i % 16]};
    if (::faccessat(folder, name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) out.push_back(name);
  }
  return out;
}

void evict(int shard, int64_t limit) {
  std::vector<Listed> entries = list(shard);
  int64_t total = 0;
  for (const Listed& e : entries) total += e.bytes;
  if (total <= limit) return;
  std::sort(entries.begin(), entries.end(), used_before);
  for (const Listed& e : entries) {
    if (total <= limit) return;
    if (::unlinkat(shard, e.name.c_str(), 0) == 0) total -= e.bytes;
  }
}

// -------------------------------------------------------------------------------------------------------- environment

std::string variable(const char* name) {
  const char* text = ::secure_getenv(name);
  return text ? text : "";
}

std::filesystem::path folder_of_environment() {
  if (const std::string own = variable("STRATA_CACHE_DIR"); !own.empty()) return own;
  // A relative one does not count, says the standard that defines it.
  if (const std::string xdg = variable("XDG_CACHE_HOME"); xdg.starts_with("/")) return xdg + "/strata";
  if (const std::string home = variable("HOME"); home.starts_with("/")) return home + "/.cache/strata";
  return {};
}

std::optional<int64_t> limit_of_environment() {
  const std::string text = variable("STRATA_CACHE_SIZE");
  if (text.empty()) return kDefaultLimit;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > (1 << 20)) return std::nullopt;
  return value * kMiB;
}

}  // namespace

ObjectCache ObjectCache::from_environment() {
  ObjectCache off;
  if (const std::string use = variable("STRATA_CACHE"); use == "0" || use == "off") {
    off.why_off_ = "STRATA_CACHE is " + use;
    return off;
  }
  const auto limit = limit_of_environment();
  if (!limit) {
    off.why_off_ = "STRATA_CACHE_SIZE is '" + variable("STRATA_CACHE_SIZE") + "', expected a number of MiB";
    return off;
  }
  const std::filesystem::path folder = folder_of_environment();
  if (folder.empty()) {
    off.why_off_ = "neither STRATA_CACHE_DIR nor XDG_CACHE_HOME nor HOME says where";
    return off;
  }
  return {folder, *limit};
}

ObjectCache::ObjectCache(const std::filesystem::path& folder, int64_t limit) : limit_(limit) {
  if (folder.has_parent_path()) {
    std::error_code ignored;
    std::filesystem::create_directories(folder.parent_path(), ignored);
  }
  ::mkdir(folder.c_str(), 0700);
  folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat info{};
  if (folder_ < 0 || ::fstat(folder_, &info) != 0) {
    why_off_ = fmt::format("'{}' cannot be used: {}", folder.string(), std::strerror(errno));
  } else if (!is_own(info)) {
    why_off_ = fmt::format("'{}' belongs to another user, or others may write into it", folder.string());
  } else {
    why_off_.clear();
    path_ = folder;
    return;
  }
  if (folder_ >= 0) ::close(std::exchange(folder_, -1));
}

ObjectCache::ObjectCache(ObjectCache&& other) noexcept
    : folder_(std::exchange(other.folder_, -1)),
      limit_(other.limit_),
      path_(std::move(other.path_)),
      why_off_(std::move(other.why_off_)) {}

ObjectCache& ObjectCache::operator=(ObjectCache&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(limit_, other.limit_);
  std::swap(path_, other.path_);
  std::swap(why_off_, other.why_off_);
  return *this;
}

ObjectCache::~ObjectCache() {
  if (folder_ >= 0) ::close(folder_);
}

ObjectCache::Contents ObjectCache::contents() const {
  Contents out;
  out.limit = limit_;
  if (folder_ < 0) return out;
  for (const std::string& name : shards_in(folder_)) {
    const File shard = open_folder(folder_, name);
    if (!shard) continue;
    for (const Listed& e : list(shard.get())) {
      ++out.entries;
      out.bytes += e.bytes;
    }
  }
  return out;
}

size_t ObjectCache::clear() const {
  size_t removed = 0;
  if (folder_ < 0) return removed;
  for (const std::string& name : shards_in(folder_)) {
    const File shard = open_folder(folder_, name);
    if (!shard) continue;
    for (const Listed& e : list(shard.get())) removed += ::unlinkat(shard.get(), e.name.c_str(), 0) == 0;
  }
  return removed;
}

std::optional<std::vector<std::byte>> ObjectCache::load(const Sha256Digest& key) const {
  if (folder_ < 0) return std::nullopt;
  const File shard = open_shard(folder_, key);
  if (!shard) return std::nullopt;
  const std::string name = name_of(key);
  const File file(::openat(shard.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode) || !is_own(info)) return std::nullopt;
  const auto size = static_cast<int64_t>(info.st_size) - static_cast<int64_t>(sizeof(Header));
  Header header{};
  std::vector<std::byte> content(size >= 0 && size <= kLargestEntry ? static_cast<size_t>(size) : 0);
  const bool whole = size >= 0 && size <= kLargestEntry && read_all(file.get(), &header, sizeof header) &&
                     read_all(file.get(), content.data(), content.size());
  if (!whole || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key != key ||
      header.checksum != sha256(std::span<const std::byte>(content))) {
    ::unlinkat(shard.get(), name.c_str(), 0);
    return std::nullopt;
  }
  if (info.st_mtim.tv_sec + kTouchAfter < std::time(nullptr)) ::futimens(file.get(), nullptr);
  return content;
}

bool ObjectCache::store(const Sha256Digest& key, std::span<const std::byte> content) const {
  if (folder_ < 0 || content.size() > static_cast<size_t>(kLargestEntry)) return false;
  ::mkdirat(folder_, shard_of(key).c_str(), 0700);
  const File shard = open_shard(folder_, key);
  if (!shard) return false;
  static std::atomic<unsigned> counter{0};
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::string temporary = fmt::format(".{}.{}.{}", ::getpid(), now.tv_nsec, counter++);
  {
    const File file(
        ::openat(shard.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return false;
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.key = key;
    header.checksum = sha256(content);
    if (!write_all(file.get(), &header, sizeof header) || !write_all(file.get(), content.data(), content.size())) {
      ::unlinkat(shard.get(), temporary.c_str(), 0);
      return false;
    }
  }
  if (::renameat(shard.get(), temporary.c_str(), shard.get(), name_of(key).c_str()) != 0) {
    ::unlinkat(shard.get(), temporary.c_str(), 0);
    return false;
  }
  evict(shard.get(), limit_ / kShards);  // looks through one folder: little beside what it takes to make an entry
  return true;
}

}  // namespace strata::codegen
