// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Help with typing a query: what can stand where, and why nothing was found.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/query/query_language.h"

namespace strata {

/// Keys of conditions on nodes or on events, in the order of the documentation.
const std::vector<std::string>& query_keys(bool events);

/// What a key can be compared with in this trace, sorted, at most `limit`; nothing for keys that are numbers, and for
/// unknown ones.
std::vector<std::string> query_values(const std::filesystem::path& trace, std::string_view key, bool events,
                                      std::size_t limit = 5000);

/// Why nothing was found, where a value that is asked for does not occur at all: `no event has category 'kernle'; did
/// you mean 'kernel'`; empty if every value occurs somewhere.
std::string explain_nothing(const std::filesystem::path& trace, const QueryExpression& expression, bool events);

struct QueryCompletion {
  std::size_t from = 0, to = 0;  ///< bytes of the text that a word replaces
  std::vector<std::string> words;
};
/// What can stand at `cursor` (a byte of the text): keys, operators of a key that is complete, values. `values` says
/// those of a key. At most 200 words.
QueryCompletion complete_query(std::string_view text, std::size_t cursor,
                               const std::function<std::vector<std::string>(std::string_view)>& values);

}  // namespace strata
