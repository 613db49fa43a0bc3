// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace strata::cli {

/// `sitecustomize.py`: what `strata capture` puts in front of PYTHONPATH. It does nothing until the process imports
/// torch. Then it notes the version in `$STRATA_CAPTURE_FOLDER/torch/PID` and, if `STRATA_CAPTURE_PROFILE` is set,
/// profiles from there to the end of the process into `$STRATA_CAPTURE_FOLDER/profile/`.
std::string_view capture_hook();

}  // namespace strata::cli
