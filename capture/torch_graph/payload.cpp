// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>

#include "capture/torch_graph/imported_graph.h"
#include "capture/torch_graph/importer.h"
#include "core/ir/fx_printer.h"
#include "core/ir/fx_reader.h"
#include "core/support/error.h"

namespace strata::capture {
namespace {

/// Bytes that are no UTF-8 as U+FFFD.
std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    const std::string_view one = text.substr(i, length);
    if (one.size() == length && simdjson::validate_utf8(one.data(), one.size())) {
      out += one;
      i += length;
    } else {
      out += "\xef\xbf\xbd";
      ++i;
    }
  }
  return out;
}

bool blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

/// Whether two texts differ in nothing but white space. Terminal colours in `a` do not count.
bool same_words(std::string_view a, std::string_view b) {
  size_t i = 0, j = 0;
  while (true) {
    while (i < a.size() && blank(a[i])) ++i;
    while (j < b.size() && blank(b[j])) ++j;
    if (i < a.size() && a[i] == '\x1b') {
      i = a.find('m', i);
      i = i == std::string_view::npos ? a.size() : i + 1;
      continue;
    }
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (a[i++] != b[j++]) return false;
  }
}

ParsedGraph parse(std::string_view text) {
  ParsedGraph parsed;
  try {
    const Graph graph = parse_fx(text);
    parsed.graph = std::make_shared<graphs::ImportedGraph>(graphs::imported(graph, parsed.extra));
    parsed.exact = same_words(text, print_fx(graph));
  } catch (const Error& e) {
    parsed.graph.reset();
    parsed.error = valid_utf8(e.what());
  }
  return parsed;
}

}  // namespace

ParsedGraph parse_graph_payload(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return parse(text);
  ParsedGraph parsed = parse(valid_utf8(text));
  parsed.exact = false;
  return parsed;
}

}  // namespace strata::capture
