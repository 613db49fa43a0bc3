// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One thread cuts a file into blocks, some parse them, and the caller takes the results in the order of the file. The
/// number of blocks that exist at a time is bounded.

#include <memory>
#include <optional>

#include "capture/kineto/events.h"
#include "capture/kineto/splitter.h"

namespace strata::capture::kineto {

class Pipeline {
 public:
  /// Takes over the splitter until it is `done()` or destroyed.
  Pipeline(Splitter& splitter, int workers);
  /// Stops at the next block.
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// The next block; nullopt at the end, when the splitter is the caller's again. What the threads threw is thrown
  /// here.
  std::optional<ParsedBlock> next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::capture::kineto
