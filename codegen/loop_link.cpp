// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/TargetParser/Host.h>

#include <set>

#include "codegen/llvm_math.h"
#include "codegen/loop_object.h"
#include "core/support/error.h"

namespace strata::codegen {

namespace {

[[noreturn]] void fail(llvm::Error error) {
  throw_runtime("cannot link generated code: " + llvm::toString(std::move(error)));
}

class OrcCode : public LinkedCode {
 public:
  explicit OrcCode(std::unique_ptr<llvm::orc::LLJIT> jit) : jit_(std::move(jit)) {}
  void* address(const std::string& symbol) override {
    auto found = jit_->lookup(symbol);
    if (!found) fail(found.takeError());
    return found->toPtr<void*>();
  }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

llvm::orc::SymbolMap resolve(llvm::orc::LLJIT& jit, const std::vector<ObjectResult>& objects) {
  std::set<std::string> names = {"memset", "memcpy", "memmove"};
  for (const ObjectResult& o : objects) names.insert(o.externals.begin(), o.externals.end());
  llvm::orc::SymbolMap map;
  for (const std::string& name : names) {
    void* address = math_symbol(name);
    if (!address) throw_runtime("generated code needs the function '" + name + "', which this system does not have");
    map[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
  }
  return map;
}

}  // namespace

std::shared_ptr<LinkedCode> link_objects(const std::vector<ObjectResult>& objects) {
  llvm::orc::JITTargetMachineBuilder machine((llvm::Triple(llvm::sys::getProcessTriple())));
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create();
  if (!jit) fail(jit.takeError());
  auto& library = (*jit)->getMainJITDylib();
  if (auto error = library.define(llvm::orc::absoluteSymbols(resolve(**jit, objects)))) fail(std::move(error));
  for (const ObjectResult& o : objects) {
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy({o.object.data(), o.object.size()});
    if (auto error = (*jit)->addObjectFile(std::move(buffer))) fail(std::move(error));
  }
  return std::make_shared<OrcCode>(std::move(*jit));
}

}  // namespace strata::codegen
