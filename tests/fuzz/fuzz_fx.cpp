// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// libFuzzer harness of the FX reader: what is read prints, and the print reads back as the same graph and prints the
/// same. Only user Errors may come out of reading.

#include <cstdlib>
#include <string_view>

#include "core/ir/fx_printer.h"
#include "core/ir/fx_reader.h"
#include "core/ir/text.h"
#include "core/support/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  std::optional<Graph> graph;
  try {
    graph = parse_fx({reinterpret_cast<const char*>(data), size});
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Internal) std::abort();
    return 0;
  }
  const std::string printed = print_fx(*graph);
  Graph again = parse_fx(printed);
  if (!structurally_equal(*graph, again) || print_fx(again) != printed) std::abort();
  const std::string native = print_text(*graph);
  if (print_text(parse_text(nullptr, native)) != native) std::abort();
  return 0;
}
