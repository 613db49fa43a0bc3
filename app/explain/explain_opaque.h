// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/explain/explain.h"
#include "core/trace/reader.h"

namespace strata {

/// The calls of a compile that its compiler did not make code for; the ones that take longest first.
std::vector<ExplainOpaque> opaque_calls(trace::Reader& reader, const trace::CompileRecord& compile);

/// The backends of `torch.compile` that compiles went to, where the trace says so.
std::map<trace::Id, std::string> backends_of(trace::Reader& reader);

}  // namespace strata
