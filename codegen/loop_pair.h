// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ir/loop.h"

namespace strata::codegen {

/// Two nests through one line that may be made one, since the second goes on with what the first has come to.
struct LinePair {
  const loop::Kernel& k;
  size_t first, second;

  /// Whether each is one loop, equally long, with one such reduction of all elements, of one type; the second has no
  /// stores.
  bool reduce(loop::Combine of_first, loop::Combine of_second) const;
  /// Whether a value of the second nest is one of the first, at the same place of the line.
  bool equal(loop::ScalarId of_second, loop::ScalarId of_first) const;
  /// Whether the instruction is what a nest has come to.
  bool is_result(loop::ScalarId id, size_t nest) const;

 private:
  bool same_place(const SymInt& of_second, const SymInt& of_first) const;
  size_t symbol(size_t nest) const { return k.axes[k.nests[nest].axes[0]].symbol; }
};

/// Whether a nest checks what it reads: then it is not for any other code to compute a value of it.
bool has_checks(const loop::Kernel& kernel, const loop::Nest& nest);

/// Whether `reader` loads from a buffer that `writer` stores to.
bool reads_what_is_written(const loop::Kernel& kernel, const loop::Nest& reader, const loop::Nest& writer);

/// Marks what the marked instructions of a nest are computed from; results of reductions come from nowhere.
void mark_operands(const loop::Kernel& kernel, const loop::Nest& nest, std::vector<char>& marked);

/// The next nest through a line, between them only those that compute a number or two; or the number of nests.
size_t next_line(const loop::Kernel& kernel, size_t nest);

/// The second nest goes; what it came to is the second result of the first, which combines like that.
void join(loop::Kernel& kernel, size_t first, size_t second, loop::Combine combine);

}  // namespace strata::codegen
