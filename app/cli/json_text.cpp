// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/cli/json_text.h"

#include <fmt/format.h>

#include <cmath>

namespace strata::cli {
namespace {

/// Length of the valid UTF-8 sequence at `i`; 0 if there is none.
size_t sequence_length(std::string_view s, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(s[k]); };
  const unsigned char first = byte(i);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (length == 0 || i + length > s.size()) return 0;
  for (size_t k = 1; k < length; ++k)
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
  const bool overlong = (first == 0xe0 && byte(i + 1) < 0xa0) || (first == 0xf0 && byte(i + 1) < 0x90);
  const bool beyond = (first == 0xed && byte(i + 1) >= 0xa0) || (first == 0xf4 && byte(i + 1) >= 0x90);
  return overlong || beyond ? 0 : length;
}

void quote(std::string_view s, std::string& out) {
  out += '"';
  for (size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    const size_t length = sequence_length(s, i);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", s[i]);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", c);
    else if (length == 0)
      out += "\xef\xbf\xbd";
    else
      out += s.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  out += '"';
}

void write(const Json& json, int depth, std::string& out);

template <class List, class Item>
void write_list(const List& list, char open, char close, int depth, std::string& out, Item&& item) {
  out += open;
  bool first = true;
  for (const auto& e : list) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(static_cast<size_t>(depth + 1) * 2, ' ');
    item(e);
  }
  if (!first) {
    out += '\n';
    out.append(static_cast<size_t>(depth) * 2, ' ');
  }
  out += close;
}

void write_number(double v, std::string& out) {
  if (!std::isfinite(v))
    out += "null";
  else
    out += fmt::format("{}", v);
}

void write(const Json& json, int depth, std::string& out) {
  if (json.is_null())
    out += "null";
  else if (const auto* b = json.as<bool>())
    out += *b ? "true" : "false";
  else if (const auto* i = json.as<int64_t>())
    out += std::to_string(*i);
  else if (const auto* d = json.as<double>())
    write_number(*d, out);
  else if (const auto* n = json.as<BigInt>())
    out += n->digits;
  else if (const auto* s = json.as<std::string>())
    quote(*s, out);
  else if (const auto* a = json.as<JsonArray>())
    write_list(*a, '[', ']', depth, out, [&](const Json& e) { write(e, depth + 1, out); });
  else if (const auto* o = json.as<JsonObject>())
    write_list(*o, '{', '}', depth, out, [&](const auto& e) {
      quote(e.first, out);
      out += ": ";
      write(e.second, depth + 1, out);
    });
}

}  // namespace

std::string to_text(const Json& json) {
  std::string out;
  write(json, 0, out);
  return out + "\n";
}

}  // namespace strata::cli
