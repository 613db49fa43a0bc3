// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From planned kernels to machine code, with LLVM. Free of LLVM headers.

#include <memory>
#include <string>

#include "codegen/kernel_code.h"
#include "codegen/loop_plan.h"

namespace strata::codegen {

/// One thread's code generator: what LLVM needs for a machine is set up once, each kernel is a module of its own.
class CodeBuilder {
 public:
  /// Throws a runtime Error if LLVM has no code generator for the target.
  explicit CodeBuilder(const Target& target);
  ~CodeBuilder();
  CodeBuilder(const CodeBuilder&) = delete;
  CodeBuilder& operator=(const CodeBuilder&) = delete;

  /// `symbol` is the function's name. With `keep_texts`, LLVM IR and assembly come along. Throws Error.
  KernelCode build(const KernelPlan& plan, const std::string& symbol, bool keep_texts);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Version of the LLVM that runs. Does not set up anything of it.
std::string code_generator_version();

}  // namespace strata::codegen
