// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/kineto/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/support/error.h"

namespace strata::capture::kineto {
namespace {

constexpr std::size_t kInput = std::size_t{256} << 10;
/// gzip header, the largest window.
constexpr int kGzip = 16 + MAX_WBITS;

}  // namespace

struct Source::Impl {
  std::filesystem::path path;
  int file = -1;
  std::string_view memory;
  std::size_t size = 0, consumed = 0;
  bool gzip = false, done = false, in_member = false;
  z_stream stream{};
  std::vector<Bytef> input;
  std::string damage;

  ~Impl() {
    if (gzip) inflateEnd(&stream);
    if (file >= 0) close(file);
  }

  std::size_t raw(char* to, std::size_t wanted) {
    if (file < 0) {
      const std::size_t n = std::min(wanted, memory.size() - consumed);
      if (n > 0) std::memcpy(to, memory.data() + consumed, n);
      consumed += n;
      return n;
    }
    ssize_t n;
    do n = ::read(file, to, wanted);
    while (n < 0 && errno == EINTR);
    if (n < 0) throw_runtime(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
    consumed += static_cast<std::size_t>(n);
    return static_cast<std::size_t>(n);
  }

  void open() {
    file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
      throw_user(fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)),
                 "check the name and the rights of the file");
    struct stat status{};
    if (fstat(file, &status) != 0 || S_ISDIR(status.st_mode))
      throw_user(fmt::format("{} is not a file", path.string()), "give the profile itself");
    size = static_cast<std::size_t>(status.st_size);
  }

  // The first bytes say whether it is compressed.
  void start() {
    input.resize(kInput);
    stream.next_in = input.data();
    refill();
    gzip = stream.avail_in >= 2 && input[0] == 0x1f && input[1] == 0x8b;
    if (!gzip) return;
    if (inflateInit2(&stream, kGzip) != Z_OK) {
      gzip = false;
      throw_runtime(fmt::format("{}: out of memory", path.string()));
    }
    in_member = true;
  }

  bool refill() {
    // Reading into the front is sound only when all that was there has been used.
    stream.next_in = input.data();
    std::size_t have = 0;
    while (have < 2) {
      const std::size_t n = raw(reinterpret_cast<char*>(input.data()) + have, input.size() - have);
      if (n == 0) break;
      have += n;
    }
    stream.avail_in = static_cast<uInt>(have);
    return have > 0;
  }

  std::size_t plain(char* to, std::size_t wanted) {
    if (stream.avail_in == 0) return raw(to, wanted);
    const std::size_t n = std::min<std::size_t>(wanted, stream.avail_in);
    std::memcpy(to, stream.next_in, n);
    stream.next_in += n;
    stream.avail_in -= static_cast<uInt>(n);
    return n;
  }

  // Another member may follow; zeros are padding.
  bool next_member() {
    while (stream.avail_in > 0 || refill()) {
      if (*stream.next_in == 0) {
        ++stream.next_in;
        --stream.avail_in;
        continue;
      }
      if (*stream.next_in == 0x1f && inflateReset(&stream) == Z_OK) return in_member = true;
      damage = "there are other bytes behind the gzip data";
      return false;
    }
    return false;
  }

  std::size_t inflated(char* to, std::size_t wanted) {
    stream.next_out = reinterpret_cast<Bytef*>(to);
    stream.avail_out = static_cast<uInt>(wanted);
    while (stream.avail_out == wanted) {
      if (!in_member && !next_member()) return end();
      if (stream.avail_in == 0 && !refill()) {
        damage = "the gzip data is cut short";
        return end();
      }
      const int code = inflate(&stream, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        in_member = false;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        damage = fmt::format("the gzip data is damaged: {}", stream.msg ? stream.msg : "bad stream");
        done = true;
        break;
      }
    }
    return wanted - stream.avail_out;
  }

  std::size_t end() {
    done = true;
    return 0;
  }
};

Source::Source(const std::filesystem::path& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->open();
  impl_->start();
}

Source::Source(std::string_view bytes) : impl_(std::make_unique<Impl>()) {
  impl_->path = "profile";
  impl_->memory = bytes;
  impl_->size = bytes.size();
  impl_->start();
}

Source::~Source() = default;

std::size_t Source::read(char* to, std::size_t size) {
  if (impl_->done || size == 0) return 0;
  return impl_->gzip ? impl_->inflated(to, size) : impl_->plain(to, size);
}

double Source::part() const {
  return impl_->size == 0 ? 1 : std::min(1.0, static_cast<double>(impl_->consumed) / static_cast<double>(impl_->size));
}

std::size_t Source::file_size() const { return impl_->size; }
const std::string& Source::damage() const { return impl_->damage; }

}  // namespace strata::capture::kineto
