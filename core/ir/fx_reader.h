// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reader of FX graph text: what PyTorch's `print_readable` writes (one-line and expanded definitions, joint graphs,
/// nested classes of higher-order operators), bare `def forward`, and the `graph():` listing.
///
/// How text becomes nodes:
/// - arguments are placeholders (`target` = the argument's name; an alias line `l_x_ = L_x_` gives the node's name);
/// - `torch.ops.NS.OP.OVERLOAD(...)` is a call with target `NS.OP.OVERLOAD`, resolved in the operator table if it is
/// there; other
///   callees keep their dotted name; `a + b`, `-a`, `a[i]`, `a += b`, `a[i] = b` are calls of `_operator.add`, `neg`,
///   `getitem`, `iadd`, `setitem`; `x.shape` is a call of `getattr`;
/// - `x.relu()` is a method call, `self.lin(x)` a module call, `self.weight` an attribute; the class of a child module
/// is a subgraph;
/// - `return` is the output; `x = None` says that x has no further use and makes no node;
/// - `# File:` comments are the source of all following nodes.
/// Values of kinds not known here are opaque arguments with their text. What the form of the text says beyond the
/// computation is kept under `fx.` keys of `NodeMeta::extra` and `Graph::extra`, so that print_fx gives the text back
/// up to white space.

#include <memory>
#include <string_view>

#include "core/ir/fx_names.h"
#include "core/ir/graph.h"

namespace strata {

/// Limits of FX graph text.
inline constexpr int kFxMaxClasses = 64;                ///< nesting
inline constexpr size_t kFxMaxStatements = 10'000'000;  ///< per class

/// Throws a user Error with line, column, what was expected and what was found.
Graph parse_fx(std::string_view text, std::shared_ptr<ShapeEnv> env = nullptr, std::shared_ptr<IdSource> ids = nullptr);

/// Sets the arguments of `node` from what stands between the brackets of its call: `x, 2, dtype = torch.float32`.
/// `names` are the nodes that it may refer to. Throws a user Error for text that is no list of arguments.
void parse_fx_arguments(Node& node, std::string_view text, const FxNames& names);

/// An annotation: `f32[8, s77][s77, 1]cuda:0`, `Sym(s77)`; other text gives Kind::Other, empty text Unknown. `text` is
/// kept where to_string would print something else. Never throws for malformed text.
Type parse_fx_type(ShapeEnv& env, std::string_view text);

}  // namespace strata
