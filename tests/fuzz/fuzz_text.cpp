// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// libFuzzer harness of the native text form: what is read prints, and the print reads back and prints the same. Only
/// user Errors may come out of reading.

#include <cstdlib>
#include <string_view>

#include "core/ir/fx_printer.h"
#include "core/ir/text.h"
#include "core/ir/verify.h"
#include "core/support/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  std::optional<Graph> graph;
  try {
    graph = parse_text(nullptr, {reinterpret_cast<const char*>(data), size});
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Internal) std::abort();
    return 0;
  }
  const std::string printed = print_text(*graph);
  if (print_text(parse_text(nullptr, printed)) != printed) std::abort();
  print_fx(*graph);
  try {
    verify(*graph, "reading");
  } catch (const Error&) {
  }
  return 0;
}
