// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small readers that the parsers of PyTorch's texts share. None of them throws or allocates more than its result.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::capture {

/// The lines of a text without their ends (LF or CR LF). A last empty line is left out.
std::vector<std::string_view> text_lines(std::string_view text);

std::string_view trim(std::string_view text);
std::string_view trim_right(std::string_view text);

/// A decimal number that fills `text`; none otherwise or when it does not fit.
std::optional<std::int64_t> whole_number(std::string_view text);

/// Where `needle` first stands outside quotes and brackets of Python code, from `from` on; npos when nowhere. Quotes
/// that never close are taken as plain characters.
std::size_t find_outside_quotes(std::string_view code, std::string_view needle, std::size_t from = 0);

/// Same, but brackets do not hide anything.
std::size_t find_outside_strings(std::string_view code, std::string_view needle, std::size_t from = 0);

/// `path:line in function`, as PyTorch prints places. `end`: how many characters of the text it took.
struct PlaceText {
  std::string file;
  std::int64_t line = 0;
  std::string function;
  std::size_t end = 0;
};

/// The place that `text` begins with; none when it begins otherwise.
std::optional<PlaceText> leading_place(std::string_view text);

}  // namespace strata::capture
