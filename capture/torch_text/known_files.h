// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Source files whose full paths are known, to complete paths that PyTorch printed cut at the front.
///
/// PyTorch's guard comments drop what a path shares with the folder of the package, and one character more:
/// `/home/u/app/m.py` becomes `ome/u/app/m.py`, `/usr/lib/python3/site-packages/torch/nn/x.py` becomes `nn/x.py`.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace strata::capture {

class KnownFiles {
 public:
  /// A full path. Relative and empty ones are ignored.
  void add(std::string_view path);
  /// The same, with the text of a line, which tells files of the same name apart.
  void add(std::string_view path, std::int64_t line, std::string_view text);

  /// The full path that `cut` stands for: the file that ends with it (the shortest of several), else the only file of
  /// the same name whose line `line` is known to read `text`. `cut` itself when there is none.
  std::string resolve(std::string_view cut, std::int64_t line = 0, std::string_view text = {}) const;

 private:
  std::map<std::string, std::set<std::string>, std::less<>> by_name_;  ///< last component -> full paths
  std::map<std::string, std::map<std::int64_t, std::string>, std::less<>> lines_;
};

}  // namespace strata::capture
