// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "app/explain/explain.h"

namespace strata {
namespace {

constexpr auto kNowhere = std::string_view::npos;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

struct BreakAdvice {
  std::string_view words;  ///< in the kind or reason, small letters
  std::string_view advice;
};

// The first that fits counts: narrow ones come before wide ones.
constexpr BreakAdvice kBreakAdvice[] = {
    {"data-dependent branching",
     "decide with torch.where or torch.cond, or move the branch out of the compiled function"},
    {"data-dependent jump", "decide with torch.where or torch.cond, or move the branch out of the compiled function"},
    {"generic_jump", "decide with torch.where or torch.cond, or move the branch out of the compiled function"},
    {"data dependent operator", "keep the value a tensor, or set torch._dynamo.config.capture_scalar_outputs = True"},
    {"data dependent", "keep the value a tensor, or tell its range with torch._check(...)"},
    {"data-dependent", "keep the value a tensor, or tell its range with torch._check(...)"},
    {"tensor.item", "keep the value a tensor, or set torch._dynamo.config.capture_scalar_outputs = True"},
    {".item()", "keep the value a tensor, or set torch._dynamo.config.capture_scalar_outputs = True"},
    {"tensor.backward", "call backward() outside the compiled function"},
    {"requires_grad_", "call requires_grad_() before the compiled function"},
    {"tensor.tolist", "keep the values a tensor, or move the conversion out of the compiled function"},
    {"numpy", "do it with torch operators, or move it out of the compiled function"},
    {"dynamic shape operator",
     "work with a mask of fixed size (torch.where), or set "
     "torch._dynamo.config.capture_dynamic_output_shape_ops = True"},
    {"dynamic output shape",
     "work with a mask of fixed size (torch.where), or set "
     "torch._dynamo.config.capture_dynamic_output_shape_ops = True"},
    {"rnn, gru", "set torch._dynamo.config.allow_rnn = True"},
    {"logging",
     "log outside the compiled function, or add the method to "
     "torch._dynamo.config.ignore_logging_functions"},
    {"print",
     "print outside the compiled function, or add print to "
     "torch._dynamo.config.reorderable_logging_functions"},
    {"compiler.disable", "remove torch.compiler.disable, or call the function at the edge of the compiled code"},
    {"graph_break()", "remove the call of torch._dynamo.graph_break()"},
    {"observed exception", "see that the function does not raise: call it without torch.compile first"},
    {"context manager", "enter the context outside the compiled function"},
    {"backward hook", "register hooks before torch.compile, or use torch._dynamo.compiled_autograd"},
    {"generator", "build a list instead of a generator, or consume it inside the compiled function"},
    {"import", "import at the top of the module"},
    {"builtin", "use a torch operator or plain Python instead of this builtin"},
    {"skip", "replace the call by torch operators, or wrap it with torch.library.custom_op"},
    {"not traceable", "wrap the call with torch.library.custom_op or torch.compiler.allow_in_graph"},
    {"c/c++", "wrap the call with torch.library.custom_op"},
    {"autograd.function", "write the function with operators that have gradients, or with torch.library.custom_op"},
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.eE+-") == kNowhere && text != "." && text != "-";
}

bool is_small(std::string_view text) { return text == "0" || text == "1"; }

bool is_word(std::string_view text) { return text == "True" || text == "False" || text == "None"; }

std::string plain_source(std::string_view source) {
  if (source.starts_with("L['") && source.find("']") == source.size() - 2)
    return std::string(source.substr(3, source.size() - 5));
  return std::string(source);
}

std::string size_advice(const ExplainReason& r) {
  const std::string x = plain_source(r.source);
  if (is_small(r.actual) || is_small(r.expected))
    return fmt::format(
        "sizes 0 and 1 always get a compile of their own: pad {} to 2 or more, or call "
        "torch._dynamo.decorators.mark_unbacked({}, DIM)",
        x, x);
  return fmt::format(
      "sizes of {} vary: call torch._dynamo.mark_dynamic({}, DIM) before the first call, or "
      "torch.compile(..., dynamic=True)",
      x, x);
}

std::string with_dimension(std::string advice, const ExplainReason& r) {
  const std::size_t at = r.expression.find("at index ");
  const std::size_t size = r.expression.find(".size()[");
  std::string dim;
  if (at != std::string::npos) dim = r.expression.substr(at + 9);
  if (at == std::string::npos && size != std::string::npos)
    dim = r.expression.substr(size + 8, r.expression.find(']', size) - size - 8);
  for (std::size_t d = advice.find("DIM"); !dim.empty() && d != std::string::npos; d = advice.find("DIM"))
    advice.replace(d, 3, dim);
  return advice;
}

std::string value_advice(const ExplainReason& r) {
  const std::string x = plain_source(r.source);
  if (x.starts_with("___stack"))
    return "the value was computed before a graph break and handed on: remove that break, or keep the value a tensor";
  if (x.find("training") != std::string::npos)
    return "the module is used in train and in eval mode: one compile of each is needed; do not switch in between";
  if (x.starts_with("G['"))
    return fmt::format(
        "the global {} changes: pass it as an argument (a tensor, torch.tensor(value), if it is a "
        "number), or leave it constant",
        x);
  if (is_word(r.expected) || is_word(r.actual))
    return fmt::format("every value of the flag {} gets its own compile: fine for few of them, else decide outside", x);
  if (is_number(r.expected) && r.expected.find('.') == std::string::npos && r.expected.find('e') == std::string::npos)
    return fmt::format(
        "the number {} is built into the code: pass torch.tensor({}), or torch.compile(..., "
        "dynamic=True) so that it becomes a symbol",
        x, x);
  if (is_number(r.expected)) return fmt::format("the float {} is built into the code: pass torch.tensor({})", x, x);
  return fmt::format("the value of {} is built into the code: keep it constant between calls", x);
}

}  // namespace

std::string break_advice(std::string_view kind, std::string_view reason, std::string_view explanation) {
  // the class of the break is then "builtin"
  if (explanation.find("`print`") != kNowhere) return break_advice("print", {});
  const std::string text = lower(kind) + "\n" + lower(reason);
  for (const BreakAdvice& a : kBreakAdvice)
    if (text.find(a.words) != std::string::npos) return std::string(a.advice);
  return "move the line out of the compiled function, or wrap what it calls with torch.library.custom_op";
}

std::string error_advice(std::string_view title) {
  const auto has = [&](std::string_view words) { return title.find(words) != kNowhere; };
  if (has("recompile limit") || has("cache_size_limit")) return "mend what the function is compiled again for";
  if (has("BackendCompilerFailed"))
    return "the backend raised it: with backend=\"eager\" the same code shows whether the capture is sound, with "
           "backend=\"aot_eager\" whether the gradients are";
  if (has("InductorError") || has("LoweringException") || has("CppCompileError"))
    return "Inductor raised it: with backend=\"aot_eager\" the same code shows whether only Inductor fails";
  if (has("ConstraintViolation"))
    return "the code needs the size that was marked as dynamic: take the mark away, or use "
           "torch._dynamo.maybe_mark_dynamic";
  if (has("TorchRuntimeError") || has("must have same reduction dim") || has("fake tensor"))
    return "the operator does not fit its inputs: the same call fails without torch.compile";
  if (has("Unsupported: ")) return break_advice(title.substr(title.find("Unsupported: ") + 13), {});
  if (has("OutOfMemory") || has("out of memory")) return "the device has too little memory for the compile or the run";
  return "the function runs without compiled code: mend the error, or leave the function out of torch.compile";
}

std::string restart_advice(std::string_view title) {
  if (title.find("TensorifyScalar") != kNowhere)
    return "floats were taken for symbols and then fixed after all: pass them as tensors, or set "
           "torch._dynamo.config.specialize_float = True";
  if (title.find("UnspecializeRestart") != kNowhere)
    return "a module or value changed while it was traced: set it up before the first call";
  if (title.find("SpeculationRestart") != kNowhere)
    return "the code behind a call could not be traced: see the graph breaks of this function";
  return "the attempt was thrown away: see what the next attempt did otherwise";
}

std::string recompile_advice(const ExplainReason& r) {
  const std::string x = r.source.empty() ? "the value" : plain_source(r.source);
  const std::string& form = r.form;
  if (form == "size") return with_dimension(size_advice(r), r);
  if (form == "shape") {
    if (is_small(r.actual)) return with_dimension(size_advice(r), r);
    return with_dimension(
        fmt::format("the code decides by the size of {}: remove the condition on the size, or tell its range with "
                    "torch._dynamo.mark_dynamic({}, DIM, min=..., max=...)",
                    x, x),
        r);
  }
  if (form == "stride") return fmt::format("the memory order of {} varies: pass {}.contiguous()", x, x);
  if (form == "rank")
    return fmt::format(
        "{} comes with different numbers of dimensions: reshape it before the call, or compile one "
        "function for each",
        x);
  if (form == "dtype") return fmt::format("{} comes in different types: cast it before the call, {}.to(dtype)", x, x);
  if (form == "device") return fmt::format("{} comes from different devices: move it before the call", x);
  if (form == "requires_grad")
    return fmt::format(
        "{} comes with and without requires_grad: pass {}.detach(), or compile training and evaluation "
        "as two functions",
        x, x);
  if (form == "dispatch_keys")
    return fmt::format(
        "{} comes as another kind of tensor (device, inference mode, subclass): make it one kind before "
        "the call",
        x);
  if (form == "value") return value_advice(r);
  if (form == "type")
    return fmt::format("{} comes as {} and as {}: convert it before the call", x,
                       r.expected.empty() ? "one type" : r.expected, r.actual.empty() ? "another type" : r.actual);
  if (form == "length")
    return fmt::format("the length of {} is built into the code: keep it constant, pad it, or pass one tensor", x);
  if (form == "identity")
    return fmt::format("{} is a new object in every call (a lambda, closure, partial or hook?): make it once, outside",
                       x);
  if (form == "backend")
    return "the function is compiled by several backends: compile a copy for each, or pass the same one always";
  if (form == "contains") return fmt::format("keys of {} change between calls: give it the same keys always", x);
  if (form == "attribute")
    return fmt::format(
        "attributes of {} change between calls; torch._dynamo.mark_dynamic has to come before the first "
        "call",
        x);
  if (form == "aliasing") return "the same tensor is passed twice, or no more: pass copies, or always the same way";
  if (form == "global_state")
    return "a global mode changed (grad mode, autocast, default device, threads): call in the same mode always";
  return "keep the condition true between calls, or move what it looks at out of the compiled function";
}

namespace {

struct PhaseWords {
  std::string_view words, phase;
};

constexpr std::string_view kDynamo = "dynamo: trace Python";
constexpr std::string_view kGuards = "dynamo: guards";
constexpr std::string_view kAot = "AOTAutograd: joint graph, partition";
constexpr std::string_view kPasses = "inductor: graph passes";
constexpr std::string_view kLowering = "inductor: lower and schedule";
constexpr std::string_view kCode = "inductor: write code";
constexpr std::string_view kKernels = "compile kernels (Triton, C++)";
constexpr std::string_view kTuning = "autotune kernels";
constexpr std::string_view kCaches = "caches";
constexpr std::string_view kCudagraphs = "CUDA graphs";
constexpr std::string_view kOther = "other";

// The first that is contained counts.
constexpr PhaseWords kPhases[] = {
    {"guards", kGuards},
    {"CUDAGraph", kCudagraphs},
    {"cudagraph", kCudagraphs},
    {"benchmark", kTuning},
    {"autotun", kTuning},
    {"Autotun", kTuning},
    {"fx_graph_cache", kCaches},
    {"FxGraphCache", kCaches},
    {"AOTAutogradCache", kCaches},
    {"TritonBundler", kCaches},
    {"pgo", kCaches},
    {"remote_cache", kCaches},
    {"_cache_", kCaches},
    {"async_compile", kKernels},
    {"compile_file", kKernels},
    {"AotCodeCompiler", kKernels},
    {"triton", kKernels},
    {"Triton", kKernels},
    {"CppCodeCache", kKernels},
    {"PyCodeCache", kKernels},
    {"parallel_compile", kKernels},
    {"precompile", kKernels},
    {"_passes", kPasses},
    {"pass.", kPasses},
    {"pattern", kPasses},
    {"Scheduler.codegen", kCode},
    {"GraphLowering.run", kLowering},
    {"Scheduler", kLowering},
    {"GraphLowering", kCode},
    {"WrapperCodegen", kCode},
    {"WrapperCpu", kCode},
    {"code_gen", kCode},
    {"codegen", kCode},
    {"aot_", kAot},
    {"aot_dispatcher", kAot},
    {"min_cut", kAot},
    {"autograd", kAot},
    {"inductor_compile", kLowering},
    {"compile_fx", kLowering},
    {"fw_compiler", kLowering},
    {"bw_compiler", kLowering},
    {"backend_compile", kLowering},
    {"dynamo", kDynamo},
    {"compile_attempt", kDynamo},
    {"bytecode", kDynamo},
    {"entire_frame", kDynamo},
    {"frame", kDynamo},
    {"fake_tensor", kDynamo},
    {"gc", kOther},
};

}  // namespace

std::string_view compile_phase(std::string_view span) {
  for (const PhaseWords& p : kPhases)
    if (span.find(p.words) != kNowhere) return p.phase;
  return kOther;
}

}  // namespace strata
