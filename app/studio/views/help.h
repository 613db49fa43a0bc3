// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>

namespace strata::studio {

/// The page that F1 shows.
QString help_page();

}  // namespace strata::studio
