// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_trace/gunzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "core/support/error.h"

namespace strata::capture {
namespace {

struct Free {
  void operator()(char* p) const { std::free(p); }
};

// Memory that grows without being cleared first.
class Output {
 public:
  explicit Output(std::size_t limit) : limit_(limit) {}

  bool full() const { return size_ >= limit_; }
  void reserve(std::size_t wanted) {
    wanted = std::min(wanted, limit_);
    if (wanted <= capacity_) return;
    char* grown = static_cast<char*>(std::realloc(data_.get(), wanted));
    if (!grown) throw_runtime(fmt::format("not enough memory to decompress {} bytes", wanted));
    char* const old = data_.release();  // realloc took it over
    static_cast<void>(old);
    data_.reset(grown);
    capacity_ = wanted;
  }
  char* end() { return data_.get() + size_; }
  std::size_t room() const { return capacity_ - size_; }
  void grow() { reserve(std::max<std::size_t>(1 << 16, capacity_ * 2)); }
  void take(std::size_t count) { size_ += count; }

  Bytes finish() {
    const std::shared_ptr<char> owner(data_.release(), std::free);
    return {{reinterpret_cast<const std::byte*>(owner.get()), size_}, owner};
  }

 private:
  std::unique_ptr<char, Free> data_;
  std::size_t size_ = 0, capacity_ = 0, limit_;
};

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, 15 + 16) != Z_OK) throw_runtime("not enough memory to decompress");
  }
  ~Inflater() { inflateEnd(&stream); }
};

uInt clamp(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max() / 2));
}

// What follows the last member: padding (zeros) is legal, anything else is left out.
std::string describe_rest(std::string_view rest) {
  if (rest.find_first_not_of('\0') == std::string_view::npos) return {};
  return fmt::format("{} bytes after the end of the gzip data are not gzip", rest.size());
}

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && static_cast<unsigned char>(bytes[0]) == 0x1f &&
         static_cast<unsigned char>(bytes[1]) == 0x8b;
}

Gunzipped gunzip(std::string_view bytes, std::size_t limit) {
  Inflater inflater;
  z_stream& z = inflater.stream;
  Output out(limit);
  // Text of this kind shrinks to about a tenth; the pages that are not used cost nothing.
  out.reserve(std::min<std::size_t>(bytes.size() * 12, std::size_t{1} << 30));
  std::string problem;
  while (true) {
    if (out.room() == 0) {
      if (out.full()) {
        problem = fmt::format("the decompressed data is larger than {} bytes", limit);
        break;
      }
      out.grow();
    }
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    z.avail_in = clamp(bytes.size());
    z.next_out = reinterpret_cast<Bytef*>(out.end());
    z.avail_out = clamp(out.room());
    const uInt in = z.avail_in, space = z.avail_out;
    const int status = inflate(&z, Z_NO_FLUSH);
    bytes.remove_prefix(in - z.avail_in);
    out.take(space - z.avail_out);
    if (status == Z_STREAM_END) {
      if (bytes.empty()) break;
      if (!is_gzip(bytes)) {
        problem = describe_rest(bytes);
        break;
      }
      inflateReset(&z);
    } else if (status == Z_BUF_ERROR || (status == Z_OK && bytes.empty() && z.avail_out > 0)) {
      problem = "the gzip data is cut short";
      break;
    } else if (status != Z_OK) {
      problem = fmt::format("the gzip data is damaged ({})", z.msg ? z.msg : "unknown fault");
      break;
    }
  }
  return {out.finish(), std::move(problem)};
}

}  // namespace strata::capture
