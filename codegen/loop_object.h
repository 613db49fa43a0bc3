// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From planned kernels to one relocatable object, and linking objects into this process. Free of LLVM headers.

#include <memory>
#include <string>
#include <vector>

#include "codegen/loop_plan.h"

namespace strata::codegen {

struct ObjectRequest {
  const KernelPlan* plan;
  std::string symbol;  ///< name of the function
};

struct ObjectResult {
  std::vector<char> object;
  std::vector<std::string> externals;            ///< functions it calls
  std::vector<std::vector<CodeArtifact>> texts;  ///< per request: LLVM IR and assembly, if asked for
};

/// Compiles the requests into one object. Safe to call from several threads at once. Throws Error.
ObjectResult build_object(const std::vector<ObjectRequest>& requests, const Target& target, bool keep_texts);

/// Code linked into this process; freed with the last reference.
class LinkedCode {
 public:
  virtual ~LinkedCode() = default;
  virtual void* address(const std::string& symbol) = 0;
};
/// Throws a runtime Error if a symbol is unknown or memory cannot be had.
std::shared_ptr<LinkedCode> link_objects(const std::vector<ObjectResult>& objects);

}  // namespace strata::codegen
