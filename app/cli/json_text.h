// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// JSON for scripts: objects in a fixed order, UTF-8, numbers that read back exactly.

#include <string>

#include "core/support/json.h"

namespace strata::cli {

/// Indented by two spaces. Numbers that JSON has no word for (NaN, infinities) become null; bytes that are not UTF-8
/// become U+FFFD.
std::string to_text(const Json& json);

inline Json json(std::string_view s) { return Json{std::string(s)}; }
inline Json json(const char* s) { return Json{std::string(s)}; }
inline Json json(double v) { return Json{v}; }
inline Json json(int64_t v) { return Json{v}; }
inline Json json(int v) { return Json{int64_t{v}}; }
inline Json json(size_t v) { return Json{static_cast<int64_t>(v)}; }
inline Json json(bool v) { return Json{v}; }
template <class List>
Json json_list(const List& list) {
  JsonArray items;
  for (const auto& item : list) items.push_back(json(item));
  return Json{std::move(items)};
}

}  // namespace strata::cli
