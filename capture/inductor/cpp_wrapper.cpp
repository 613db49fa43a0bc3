// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Reads C++ wrappers (`cpp_wrapper`, AOTInductor).

#include "capture/inductor/output_code_impl.h"
#include "capture/inductor/py_text.h"

namespace strata::capture::detail {

void read_cpp_wrapper(OutputCode& out, std::string_view text, std::int64_t first_line) {
  (void)out;
  (void)text;
  (void)first_line;
}

}  // namespace strata::capture::detail
