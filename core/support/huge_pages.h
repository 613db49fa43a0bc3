// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace strata {

/// Asks the system to back large memory (4 MiB or more) by huge pages, before it is first written: a kernel that writes
/// fresh memory spends most of its time on the system's clearing of small pages, one fault each. A wish: without effect
/// on what the memory holds, and where the system gives no huge pages. Null and small memory are left alone.
void prefer_huge_pages(void* memory, size_t bytes);

}  // namespace strata
