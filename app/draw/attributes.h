// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What colours stand for, beyond operator and dtype: bytes, module, device.

#include <string_view>
#include <vector>

#include "app/draw/picture.h"

namespace strata::draw {

/// Modules and devices that get a colour of their own; the rest share one.
inline constexpr int kModuleColours = 24, kDeviceColours = 12;

/// Bytes of a value: of a tensor from dtype (`f32`) and shape (`[8, 64]`); of a tuple, the sum of what `type` says. -1
/// when a size is a symbol, or nothing is known.
double value_bytes(std::string_view dtype, std::string_view shape, std::string_view type);

/// Fills in device, bytes, and the slots of module and device of each node of a picture without groups.
void add_attributes(Picture& flat, const std::vector<trace::NodeRecord>& nodes,
                    const std::vector<std::vector<std::string>>& paths);

/// Sets least_bytes, most_bytes and each node's share: after boxes have come and gone.
void scale_bytes(Picture& picture);

/// `12.5 MB`; `?` for a negative number.
std::string format_bytes(double bytes);

}  // namespace strata::draw
