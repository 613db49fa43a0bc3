// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/known_files.h"

#include "capture/torch_text/text_scan.h"

namespace strata::capture {
namespace {

bool is_absolute(std::string_view path) {
  return !path.empty() && (path[0] == '/' || path[0] == '\\' || (path.size() > 2 && path[1] == ':'));
}

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

void KnownFiles::add(std::string_view path) {
  if (is_absolute(path)) by_name_[std::string(file_name(path))].emplace(path);
}

void KnownFiles::add(std::string_view path, std::int64_t line, std::string_view text) {
  if (!is_absolute(path)) return;
  add(path);
  if (line > 0 && !trim(text).empty()) lines_[std::string(path)].try_emplace(line, trim(text));
}

std::string KnownFiles::resolve(std::string_view cut, std::int64_t line, std::string_view text) const {
  const auto same_name = by_name_.find(file_name(cut));
  if (cut.empty() || is_absolute(cut) || same_name == by_name_.end()) return std::string(cut);
  const std::string* best = nullptr;
  for (const std::string& path : same_name->second)
    if (path.ends_with(cut) && (!best || path.size() < best->size())) best = &path;
  if (best) return *best;
  for (const std::string& path : same_name->second) {
    const auto known = lines_.find(path);
    if (known == lines_.end() || trim(text).empty()) continue;
    const auto found = known->second.find(line);
    if (found == known->second.end() || found->second != trim(text)) continue;
    if (best) return std::string(cut);  // two files say the same: no telling which
    best = &path;
  }
  return best ? *best : std::string(cut);
}

}  // namespace strata::capture
