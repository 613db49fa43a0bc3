// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Words that the printer and the reader of the native text form share. Internal to them.

#include <array>
#include <string_view>

namespace strata::text {

inline constexpr std::string_view kHeader = "strata graph 1";
inline constexpr int kMaxDepth = 200;  ///< of values, types and graphs

// Each in the order of its enumeration.
inline constexpr std::array<std::string_view, 6> kNodeKinds = {"placeholder", "get_attr",    "call",
                                                               "call_method", "call_module", "output"};
inline constexpr std::array<std::string_view, 7> kInputKinds = {
    "user", "parameter", "buffer", "tensor_constant", "custom_object", "token", "constant"};
inline constexpr std::array<std::string_view, 8> kOutputKinds = {"user",
                                                                 "loss",
                                                                 "buffer_mutation",
                                                                 "parameter_mutation",
                                                                 "user_input_mutation",
                                                                 "gradient_to_parameter",
                                                                 "gradient_to_user_input",
                                                                 "token"};
inline constexpr std::array<std::string_view, 7> kOriginKinds = {"copied", "lowered",  "decomposed", "fused",
                                                                 "folded", "gradient", "replaced"};
inline constexpr std::array<std::string_view, 3> kRoles = {"forward", "backward", "recomputed"};

/// Keys of Graph::extra that hold the digest of an attribute whose data is not there.
inline constexpr std::string_view kDigestKey = "text.digest.";

}  // namespace strata::text
