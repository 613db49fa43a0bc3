// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/support/error.h"

#include <algorithm>
#include <numeric>

namespace strata {

std::string Error::join(const std::string& message, const std::string& hint) {
  return hint.empty() ? message : message + "; " + hint;
}

void throw_user(std::string message, std::string hint) {
  throw Error(ErrorKind::User, std::move(message), std::move(hint));
}

void throw_runtime(std::string message, std::string hint) {
  throw Error(ErrorKind::Runtime, std::move(message), std::move(hint));
}

void throw_internal(std::string message) { throw Error(ErrorKind::Internal, std::move(message)); }

namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  std::string best;
  size_t best_distance = std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggest(std::string_view name, std::span<const std::string> candidates) {
  if (std::string best = nearest(name, candidates); !best.empty()) return "did you mean '" + best + "'";
  if (candidates.empty()) return {};
  std::string text = "valid: ";
  for (size_t i = 0; i < candidates.size() && i < 10; ++i) text += (i ? ", " : "") + candidates[i];
  if (candidates.size() > 10) text += ", ...";
  return text;
}

}  // namespace strata
