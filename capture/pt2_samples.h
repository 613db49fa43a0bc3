// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The example inputs that a program was exported with.

#include <string>

#include "capture/zip.h"
#include "core/ir/program.h"

namespace strata::capture {

/// Fills `program.sample_inputs` from the pickled (args, kwargs), taken apart as `program.in_spec` says. Never throws
/// for unreadable samples, since a program runs without them: sets `sample_inputs_note` instead.
void read_sample_inputs(Program& program, const Bytes& file, const std::string& name);

}  // namespace strata::capture
