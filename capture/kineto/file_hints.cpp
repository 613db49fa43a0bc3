// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/kineto/file_hints.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string>

#include "capture/kineto/kineto.h"
#include "capture/kineto/source.h"
#include "core/support/error.h"
#include "core/support/loose_json.h"

namespace strata::capture {
namespace kineto {

using namespace loose;

std::int64_t sound_base(std::int64_t base) { return base < 0 || base > kFirstAbsolute * 50 ? 0 : base; }

std::int64_t base_behind(const std::filesystem::path& path) {
  std::string tail(16 << 10, '\0');
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return 0;
  file.seekg(-std::min<std::streamoff>(file.tellg(), static_cast<std::streamoff>(tail.size())), std::ios::end);
  file.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  tail.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  static constexpr std::string_view key = "\"baseTimeNanoseconds\":";
  const auto found = tail.rfind(key);
  if (found == std::string::npos) return 0;
  const char* end = tail.data() + tail.size();
  const char* digits = skip_space(tail.data() + found + key.size(), end);
  return sound_base(parse_integer(std::string_view(digits, scalar_end(digits, end))).value_or(0));
}

std::int64_t rank_in(std::string_view name) {
  const auto found = name.find("rank");
  if (found == name.npos || (found > 0 && std::isalpha(static_cast<unsigned char>(name[found - 1])))) return -1;
  name.remove_prefix(found + 4);
  if (name.starts_with('_') || name.starts_with('-')) name.remove_prefix(1);
  const auto digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits == 0 ? -1 : parse_integer(name.substr(0, digits)).value_or(-1);
}

}  // namespace kineto

bool is_profile(const std::filesystem::path& path) {
  try {
    kineto::Source source(path);
    std::string head(64 << 10, '\0');
    std::size_t have = 0;
    while (have < head.size()) {
      const std::size_t n = source.read(head.data() + have, head.size() - have);
      if (n == 0) break;
      have += n;
    }
    head.resize(have);
    const auto first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (first == std::string::npos) return false;
    if (head[first] == '[') return head.find("\"ph\"") != std::string::npos;
    if (head[first] != '{') return false;
    for (const char* sign : {"\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\"", "\"baseTimeNanoseconds\""})
      if (head.find(sign) != std::string::npos) return true;
    return false;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace strata::capture
