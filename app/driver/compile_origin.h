// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a caller knows about where a program came from: PyTorch's own address, function and graph of it.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/records.h"

namespace strata {

/// A frame that `torch.compile` handed to a backend.
struct CompileOrigin {
  bool addressed = false;  ///< the numbers below are known
  std::int64_t frame = 0, compile = 0, attempt = 0;
  std::string autograd;  ///< the A of `!A/frame/compile`, under compiled autograd
  /// The Python function; may be empty.
  std::string function, file;
  std::int64_t line = 0;
  /// Dynamo's graph as it prints it, with what the text lacks; empty: not known.
  std::string graph;
  std::vector<std::pair<std::string, std::string>> sizes;  ///< node -> `[8, s77]`
  std::vector<std::string> sources;                        ///< of the inputs: `L['x']`
  /// Node of the program -> node of Dynamo's graph that it was traced from.
  std::vector<std::pair<std::string, std::string>> made_from;
  std::string backend;  ///< as `torch.compile` was given it; empty: the request's

  trace::Id recorded = trace::kNone;  ///< set by Recorder: the compile it became
};

/// `0/1_2`, `!3/0/1`.
std::string address_of(const CompileOrigin& origin);

}  // namespace strata
