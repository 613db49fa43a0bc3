// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The native text form of a graph: loses nothing except the data of attribute tensors, and parse(print(g)) prints the
/// same again.
///
///     strata graph 1
///     symbol s77 range 2 512 hint 8 origin 'x.size()[0]'
///     assume 's77 == s12' 'broadcast in aten.add.Tensor' 'model.py:12' equal sym(s77) sym(s12)
///     assume 's77 >= 5' 'windows of 5 in aten.max_pool1d' 'model.py:13' at_least sym(s77) sym(5)
///     source 0 'model.py' 12 'forward' 'return torch.relu(x)'
///     graph 'GraphModule' {
///       input user
///       %x:1 = placeholder x() : f32[s77, 64][64, 1]cpu
///       %relu:2 = call aten.relu.default(%x) : f32[s77, 64][64, 1]cpu @ 0 in 'block.0' of 'torch.nn.ReLU'
///       %output:3 = output output((%relu,))
///     }
///
/// Values: `%name`, `None`, `true`, `2`, `2.0`, `'text'`, `[..]`, `(..)`, `size[..]`, `{k: v}`, `slice(..)`, `...`,
/// `sym(2*s77)`, `complex(0.0, 1.0)`, `dtype(float32)`, `device('cpu')`, `enum('torch.strided')`, `graph('body')`,
/// `opaque('..')`. Behind the type: `grad`, `as 'annotation as read'`, `@ SOURCE`, `in MODULE`, `of CLASS`, `role
/// backward`, `by PASS`, `from [ID kind 'rule', ...]` (`~ID` where inferred), `with {'key': 'value'}`.

#include <memory>
#include <string>
#include <string_view>

#include "core/ir/graph.h"

namespace strata {

struct TextOptions {
  bool digests = true;  ///< content digests of attribute tensors (reads all their bytes)
};

std::string print_text(const Graph& graph, const TextOptions& options = {});

/// Reads the native form. Symbols are made in `env` (one of the same name is kept as it is). Attribute tensors come
/// back without data; their digest is kept, so that they print the same. Throws a user Error with line, column, what
/// was expected and what was found.
Graph parse_text(std::shared_ptr<ShapeEnv> env, std::string_view text, std::shared_ptr<IdSource> ids = nullptr);

/// Content digest as `print_text` shows it: 16 hexadecimal digits over type, shape and bytes.
std::string digest(const Tensor& tensor);

}  // namespace strata
