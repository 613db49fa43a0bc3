// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/target.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/runtime/parallel.h"
#include "core/runtime/plan.h"
#include "core/support/error.h"

namespace strata {
namespace {

using Feature = std::pair<const char*, bool>;

#if defined(__x86_64__)
/// g++ 12 does not know AMX in __builtin_cpu_supports: CPUID leaf 7, edx.
bool has_amx(std::string_view name) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  return d >> (name == "amx-bf16" ? 22 : name == "amx-tile" ? 24 : 25) & 1;
}

/// LLVM's names of the features that code generation cares about, as the processor and the operating system have them.
std::vector<Feature> detect() {
  __builtin_cpu_init();
  return {{"sse4.1", __builtin_cpu_supports("sse4.1")},
          {"sse4.2", __builtin_cpu_supports("sse4.2")},
          {"popcnt", __builtin_cpu_supports("popcnt")},
          {"avx", __builtin_cpu_supports("avx")},
          {"avx2", __builtin_cpu_supports("avx2")},
          {"fma", __builtin_cpu_supports("fma")},
          {"f16c", __builtin_cpu_supports("f16c")},
          {"bmi", __builtin_cpu_supports("bmi")},
          {"bmi2", __builtin_cpu_supports("bmi2")},
          {"avx512f", __builtin_cpu_supports("avx512f")},
          {"avx512bw", __builtin_cpu_supports("avx512bw")},
          {"avx512dq", __builtin_cpu_supports("avx512dq")},
          {"avx512vl", __builtin_cpu_supports("avx512vl")},
          {"avx512cd", __builtin_cpu_supports("avx512cd")},
          {"avx512vnni", __builtin_cpu_supports("avx512vnni")},
          {"avx512bf16", __builtin_cpu_supports("avx512bf16")},
          // Not used where there is one: float16 is computed in float32, and LLVM 19, which narrows comparisons of it
          // again, exchanges the operands of a masked one to take one from memory, but not less for greater.
          {"avx512fp16", false},
          {"amx-tile", has_amx("amx-tile")},
          {"amx-bf16", has_amx("amx-bf16")},
          {"amx-int8", has_amx("amx-int8")}};
}

#else
std::vector<Feature> detect() { return {}; }
#endif

/// The features that a level of `STRATA_CPU_FEATURES` keeps.
bool kept(std::string_view feature, std::string_view level) {
  if (level.empty() || level == "native") return true;
  const bool is_512 = feature.starts_with("avx512"), is_amx = feature.starts_with("amx");
  if (level == "avx512") return !is_amx;
  if (level == "avx2") return !is_512 && !is_amx;
  return feature.starts_with("sse") || feature == "popcnt";  // sse4.2
}

std::string_view wanted_level() {
  const char* text = std::getenv("STRATA_CPU_FEATURES");
  if (!text || !*text) return "native";
  static const std::vector<std::string> levels{"native", "avx512", "avx2", "sse4.2"};
  for (const std::string& l : levels) {
    if (l == text) return l;
  }
  throw_user("STRATA_CPU_FEATURES has no level '" + std::string(text) + "'", suggest(text, levels));
}

const char* cpu_name(std::string_view level, const Target& t) {
  if (level != "native") return level == "avx512" ? "x86-64-v4" : level == "avx2" ? "x86-64-v3" : "x86-64-v2";
  return t.avx512 ? (t.amx ? "sapphirerapids" : "x86-64-v4") : t.vector_bits == 256 ? "x86-64-v3" : "x86-64-v2";
}

/// Of this core's share of the machine, as the kernel tells: the processor itself may speak of the whole package.
std::optional<int64_t> last_level_cache() {
  for (int level = 4; level-- > 0;) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(level) + "/size");
    int64_t size = 0;
    char unit = 0;
    if (!(file >> size >> unit) || size <= 0) continue;
    return unit == 'M' ? size << 20 : size << 10;
  }
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? std::optional<int64_t>(bytes) : std::nullopt;
}

/// `STRATA_CPU_CACHE`, in bytes.
std::optional<int64_t> wanted_cache() {
  const char* text = std::getenv("STRATA_CPU_CACHE");
  if (!text || !*text) return std::nullopt;
  int64_t bytes = 0;
  const char* end = text + std::strlen(text);
  if (const auto [at, error] = std::from_chars(text, end, bytes); error != std::errc() || at != end || bytes < 1)
    throw_user("STRATA_CPU_CACHE must be a number of bytes, at least 1, found '" + std::string(text) + "'");
  return bytes;
}

Target make_target() {
  const std::string_view level = wanted_level();
  Target t;
  bool avx2 = false;
  for (const auto& [name, present] : detect()) {
    const bool on = present && kept(name, level);
    if (!t.features.empty()) t.features += ',';
    t.features += on ? '+' : '-';
    t.features += name;
    const std::string_view n = name;
    if (n == "avx2") avx2 = on;
    if (n == "avx512f") t.avx512 = on;
    if (n == "avx512bf16") t.bf16 = on;
    if (n == "amx-bf16") t.amx = on;
  }
  t.vector_bits = t.avx512 ? 512 : avx2 ? 256 : 128;
  t.cpu = cpu_name(level, t);
  t.cores = thread_count();
  // Of a package shared with others, as virtual machines are, no more than what a few of its cores can hold on to.
  constexpr int64_t kShareOfCore = 16 << 20;  // bytes; processors have 1.5 to 12 MiB a core
  const int64_t found = std::min(last_level_cache().value_or(t.cache_bytes), usable_cores() * kShareOfCore);
  t.cache_bytes = wanted_cache().value_or(found);
  return t;
}

bool is_library_float(DType d) { return d == DType::F32 || d == DType::F64 || is_reduced_float(d); }

/// How an operand stretches over the result: the sizes where it is not 1.
enum class Spread { Scalar, Channel, Full, Odd };

Spread spread_of(const LibraryOperand& operand, const LibraryOperand& result, size_t channel) {
  if (operand.shape.size() > result.shape.size()) return Spread::Odd;
  const size_t lead = result.shape.size() - operand.shape.size();
  bool any = false, only_channel = true, full = lead == 0;
  for (size_t d = 0; d < result.shape.size(); ++d) {
    const bool one = d < lead || operand.shape[d - lead] == SymInt(1);
    if (one) {
      full = full && result.shape[d] == SymInt(1);
      continue;
    }
    if (!(operand.shape[d - lead] == result.shape[d])) return Spread::Odd;
    any = true;
    only_channel = only_channel && d == channel;
  }
  return full ? Spread::Full : !any ? Spread::Scalar : only_channel ? Spread::Channel : Spread::Odd;
}

/// oneDNN keeps one set of parameters per element-wise algorithm; HardSigmoid is a Linear and a Clamp there.
bool parameters_clash(const LibraryCall& call, const PostOp& op) {
  using K = PostOp::Kind;
  const auto has_parameters = [](K k) { return k == K::Clamp || k == K::Linear || k == K::Elu || k == K::HardSigmoid; };
  if (!has_parameters(op.kind)) return false;
  return std::any_of(call.post_ops.begin(), call.post_ops.end(), [&](const PostOp& p) {
    if (!has_parameters(p.kind)) return false;
    if (p.kind == op.kind) return p.alpha != op.alpha || p.beta != op.beta;
    return (p.kind == K::HardSigmoid && op.kind != K::Elu) || (op.kind == K::HardSigmoid && p.kind != K::Elu);
  });
}

bool refuse(std::string* why_not, std::string reason) {
  if (why_not) *why_not = std::move(reason);
  return false;
}

}  // namespace

bool Target::has(std::string_view feature) const {
  return ("," + features + ",").find(",+" + std::string(feature) + ",") != std::string::npos;
}

const Target& host_target() {
  static const Target target = make_target();
  return target;
}

bool LibraryCapabilities::accepts(const LibraryCall& call, const PostOp& op, const LibraryOperand* operand,
                                  std::string* why_not) const {
  const std::string name(to_string(op.kind));
  const bool known = call.kind == "matmul" || call.kind == "convolution" || call.kind == "convolution_transpose";
  if (!known) return refuse(why_not, call.kind + " takes no work on its result");
  if (call.post_ops.size() >= max_post_ops) {
    return refuse(why_not,
                  "already " + std::to_string(call.post_ops.size()) + " operations on the result of " + call.name);
  }
  if (!is_library_float(call.result.dtype)) {
    return refuse(why_not, name + " on a result of " + std::string(dtype_name(call.result.dtype)));
  }
  if (parameters_clash(call, op)) return refuse(why_not, name + " is on the result already, with other parameters");
  if (op.kind != PostOp::Kind::Add && op.kind != PostOp::Kind::Sub && op.kind != PostOp::Kind::Mul) return true;
  if (!operand) return refuse(why_not, name + " without its operand");
  if (!is_library_float(operand->dtype)) {
    return refuse(why_not, name + " with an operand of " + std::string(dtype_name(operand->dtype)));
  }
  const size_t rank = call.result.shape.size();
  const size_t channel = call.kind == "matmul" ? rank - 1 : 1;
  if (spread_of(*operand, call.result, channel) != Spread::Odd) return true;
  return refuse(why_not, name + " with an operand that is broadcast along other dimensions than the library can");
}

const LibraryCapabilities& cpu_library_capabilities() {
  static const LibraryCapabilities capabilities;
  return capabilities;
}

}  // namespace strata
