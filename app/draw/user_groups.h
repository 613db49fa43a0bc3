// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Groups of the user's: rules in words, and which nodes they mean.

#include <string>
#include <string_view>
#include <vector>

#include "app/draw/picture.h"

namespace strata::draw {

/// `module:encoder.layer.0`, `op:add`, or conditions as in `strata query`: `dtype=f16 and shape=[8,*`. Conditions on
/// lines, files, graphs and stages are refused, as is what is no query at all: a User error with the place.
UserGroup::Rule parse_rule(std::string_view words, std::string& text);
/// The words of a rule; empty for none.
std::string rule_words(const UserGroup& group);

/// `NAME=RULE`, as above. A User error if there is no name.
UserGroup parse_user_group(std::string_view text);

/// For each node of a picture without groups whether it is in the group. A rule that cannot be read holds for none.
std::vector<char> members(const UserGroup& group, const Picture& flat, const std::vector<trace::NodeRecord>& nodes,
                          const std::vector<std::vector<std::string>>& paths);

}  // namespace strata::draw
