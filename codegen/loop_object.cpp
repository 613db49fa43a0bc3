// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_object.h"

#include <llvm-c/Core.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/AssemblyAnnotationWriter.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/FormattedStream.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <charconv>
#include <mutex>

#include "codegen/llvm_math.h"
#include "codegen/loop_llvm.h"
#include "core/support/error.h"

namespace strata::codegen {

namespace {

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  std::string triple = llvm::sys::getProcessTriple(), error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found) throw_runtime("llvm has no code generator for '" + triple + "': " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  options.LoopAlignment = 64;  // times of short kernels must not depend on where their loops happen to start
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(triple, target.cpu, target.features, options,
                                                                          llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                          llvm::CodeGenOptLevel::Default, true));
  if (!machine) throw_runtime("llvm cannot generate code for '" + target.cpu + "'");
  return machine;
}

/// Comparisons of widened float16 with constants have been narrowed again, for which no processor but those with
/// AVX512-FP16 has an instruction: each lane would be widened and compared on its own.
struct WidenComparisons : llvm::PassInfoMixin<WidenComparisons> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    bool changed = false;
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) {
        auto* compare = llvm::dyn_cast<llvm::FCmpInst>(&instruction);
        if (!compare || !compare->getOperand(0)->getType()->getScalarType()->isHalfTy()) continue;
        llvm::IRBuilder<> b(compare);
        llvm::Type* type = compare->getOperand(0)->getType()->getWithNewType(b.getFloatTy());
        for (unsigned i = 0; i < 2; ++i) compare->setOperand(i, b.CreateFPExt(compare->getOperand(i), type));
        changed = true;
      }
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
};

/// The code is vectorised and hoisted already: promote accumulators, fold, drop duplicates.
void clean_up(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager groups;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(groups);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, groups, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(WidenComparisons());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::ADCEPass());
  for (llvm::Function& f : module) {
    if (!f.isDeclaration()) passes.run(f, functions);
  }
}

void check(llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out)) throw_internal("codegen made malformed LLVM IR: " + text.substr(0, 1000));
}

std::vector<char> emit_file(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream out(buffer);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, type)) throw_runtime("llvm cannot emit code for this machine");
  passes.run(module);
  return {buffer.begin(), buffer.end()};
}

// -------------------------------------------------------------------------------------------------------------------
// texts

/// Notes the debug line of each printed instruction.
class LineCollector : public llvm::AssemblyAnnotationWriter {
 public:
  void printInfoComment(const llvm::Value& value, llvm::formatted_raw_ostream& out) override {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    if (!instruction || !instruction->getDebugLoc()) return;
    out.flush();
    size_t line = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    lines.emplace_back(line, instruction->getDebugLoc().getLine());
  }
  std::string text;
  std::vector<std::pair<size_t, unsigned>> lines;
};

void remove_debug_suffixes(std::string& text) {
  constexpr std::string_view mark = ", !dbg !";
  std::string out;
  size_t at = 0;
  for (size_t found; (found = text.find(mark, at)) != std::string::npos;) {
    out.append(text, at, found - at);
    at = text.find_first_not_of("0123456789", found + mark.size());
    if (at == std::string::npos) at = text.size();
  }
  out.append(text, at);
  for (size_t found; (found = out.find(" !dbg !")) != std::string::npos;) {
    size_t end = std::min(out.find_first_not_of("0123456789", found + 7), out.size());
    out.erase(found, end - found);
  }
  text = std::move(out);
}

void add_entry(std::vector<std::vector<uint32_t>>& lines, size_t line, uint32_t entry) {
  if (entry == 0) return;
  if (lines.size() <= line) lines.resize(line + 1);
  lines[line].push_back(entry);
}

KernelText ir_text(const llvm::Function& f) {
  LineCollector collector;
  {
    llvm::raw_string_ostream out(collector.text);
    f.print(out, &collector);
  }
  KernelText out;
  out.kind = "llvm-ir";
  for (auto [line, entry] : collector.lines) add_entry(out.lines, line, entry);
  out.text = std::move(collector.text);
  remove_debug_suffixes(out.text);
  out.lines.resize(static_cast<size_t>(std::count(out.text.begin(), out.text.end(), '\n')) + 1);
  return out;
}

bool is_noise(std::string_view line) {
  constexpr std::string_view starts[] = {"\t.cfi", "\t.loc", "\t.p2align", ".Ltmp", ".Lfunc_begin", "\t.file"};
  for (std::string_view start : starts) {
    if (line.starts_with(start)) return true;
  }
  return false;
}

/// The `5` of `\t.loc\t1 5 0`.
unsigned loc_line(std::string_view line) {
  size_t space = line.find(' ');
  unsigned value = 0;
  if (space != std::string_view::npos) std::from_chars(line.data() + space + 1, line.data() + line.size(), value);
  return value;
}

/// The function's part of the module's assembly, without directives.
KernelText asm_text(std::string_view all, const std::string& name) {
  KernelText out;
  out.kind = "asm";
  size_t at = all.find("\n" + name + ":");
  if (at == std::string_view::npos) return out;
  unsigned entry = 0;
  for (++at; at < all.size();) {
    size_t end = std::min(all.find('\n', at), all.size());
    std::string_view line = all.substr(at, end - at);
    at = end + 1;
    if (line.starts_with(".Lfunc_end")) break;
    if (line.starts_with("\t.loc")) entry = loc_line(line);
    if (is_noise(line)) continue;
    out.lines.emplace_back();
    if (line.starts_with("\t")) add_entry(out.lines, out.lines.size() - 1, entry);
    out.text.append(line).push_back('\n');
  }
  return out;
}

}  // namespace

struct CodeBuilder::Impl {
  Target target;
  std::unique_ptr<llvm::TargetMachine> machine;
};

CodeBuilder::CodeBuilder(const Target& target) : impl_(std::make_unique<Impl>(Impl{target, make_machine(target)})) {}
CodeBuilder::~CodeBuilder() = default;

KernelCode CodeBuilder::build(const KernelPlan& plan, const std::string& symbol, bool keep_texts) {
  llvm::TargetMachine& machine = *impl_->machine;
  llvm::LLVMContext context;
  context.setDiscardValueNames(!keep_texts);
  llvm::Module module("strata", context);
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  if (keep_texts) module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  const llvm::Function* function = emit_kernel(module, plan, symbol, impl_->target, keep_texts);
  check(module);
  clean_up(module, machine);
  std::vector<KernelText> texts;
  if (keep_texts) {
    auto copy = llvm::CloneModule(module);
    const std::vector<char> text = emit_file(*copy, machine, llvm::CodeGenFileType::AssemblyFile);
    texts = {ir_text(*function), asm_text({text.data(), text.size()}, symbol)};
  }
  KernelCode code = link_image(emit_file(module, machine, llvm::CodeGenFileType::ObjectFile), symbol);
  code.texts = std::move(texts);
  return code;
}

std::string code_generator_version() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace strata::codegen
