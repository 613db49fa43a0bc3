// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace strata::cli {
namespace {

size_t width_of(const std::string& s) {
  return static_cast<size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

Table::Table(std::vector<std::string> heads) {
  for (std::string& head : heads) {
    right_.push_back(head.starts_with('>'));
    if (right_.back()) head.erase(0, 1);
  }
  rows_.push_back(std::move(heads));
}

void Table::row(std::vector<std::string> cells) {
  cells.resize(right_.size());
  rows_.push_back(std::move(cells));
}

void Table::rule() { rows_.emplace_back(); }

std::string Table::text() const {
  std::vector<size_t> widths(right_.size());
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  size_t total = 0;
  for (size_t w : widths) total += w + 2;
  std::string text;
  for (const auto& row : rows_) {
    if (row.empty()) {
      text += std::string(total < 2 ? 0 : total - 2, '-') + "\n";
      continue;
    }
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width_of(row[i]), ' ');
      line += (i ? "  " : "") + (right_[i] ? space + row[i] : row[i] + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string time_text(double ns) {
  if (!(ns >= 0)) return "-";
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.3f} ms", ns / 1e6);
  return fmt::format("{:.3f} s", ns / 1e9);
}

std::string bytes_text(double bytes) {
  const double size = std::abs(bytes);
  if (size < 1024) return fmt::format("{:.0f} B", bytes);
  if (size < 1048576) return fmt::format("{:.1f} KiB", bytes / 1024);
  if (size < 1073741824) return fmt::format("{:.1f} MiB", bytes / 1048576);
  return fmt::format("{:.2f} GiB", bytes / 1073741824);
}

std::string rate_text(double value) { return std::isfinite(value) && value > 0 ? fmt::format("{:.3g}", value) : "-"; }

std::string percent_text(double share) { return std::isfinite(share) ? fmt::format("{:.1f}%", share * 100) : "-"; }

std::string shortened(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  size_t from = text.size() - most + 3;
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xc0) == 0x80) ++from;
  return "..." + text.substr(from);
}

}  // namespace strata::cli
