// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/loop_testing.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "codegen/cpp_source.h"
#include "codegen/loop_plan.h"
#include "codegen/loop_versions.h"

namespace strata::testing {

using namespace loop;  // NOLINT: the vocabulary of this file

SymInt LoopCase::size(const std::string& name, int64_t value, int64_t low, int64_t high) {
  Symbol s;
  s.name = name;
  s.range = {low, high};
  s.hint = value;
  SymInt e = env.symbol(s);
  size_t id = *env.symbol_id(e);
  if (symbols.size() <= id) symbols.resize(id + 1);
  symbols[id] = value;
  kernel.symbols.push_back(id);
  return e;
}

BufferId LoopCase::input(const std::string& name, DType dtype, SymInt numel) {
  return body.buffer({name, dtype, numel, BufferRole::Input, 0});
}
BufferId LoopCase::output(const std::string& name, DType dtype, SymInt numel) {
  return body.buffer({name, dtype, numel, BufferRole::Output, 0});
}
BufferId LoopCase::inout(const std::string& name, DType dtype, SymInt numel) {
  return body.buffer({name, dtype, numel, BufferRole::InOut, 0});
}
SymInt LoopCase::outer(SymInt extent) {
  AxisId a = body.axis("i", extent);
  kernel.outer.push_back(a);
  return body.axis_index(a);
}

std::mt19937_64& random_engine() {
  static std::mt19937_64 engine = [] {
    auto seed = std::random_device{}();
    if (const char* text = std::getenv("STRATA_TEST_SEED"))
      seed = static_cast<unsigned>(std::strtoul(text, nullptr, 10));
    ::testing::Test::RecordProperty("seed", std::to_string(seed));
    return std::mt19937_64(seed);
  }();
  return engine;
}

Bytes random_bytes(DType dtype, size_t numel) {
  size_t size = dtype_size(dtype);
  Bytes out(numel * size);
  std::uniform_real_distribution<double> real(-2, 2);
  std::uniform_int_distribution<int> signed_int(-50, 50), unsigned_int(0, 100);
  for (size_t i = 0; i < numel; ++i) {
    double r = real(random_engine());
    auto f = static_cast<float>(r);
    int64_t n = is_signed_integral(dtype) ? signed_int(random_engine()) : unsigned_int(random_engine());
    if (dtype == DType::Bool) n &= 1;
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    if (dtype == DType::BF16) n = bits >> 16;
    if (dtype == DType::F16) n = 0x3000 + (n & 0x3ff) * 5 + (r < 0 ? 0x8000 : 0);
    const void* from = dtype == DType::F32   ? static_cast<const void*>(&f)
                       : dtype == DType::F64 ? static_cast<const void*>(&r)
                                             : &n;
    std::memcpy(&out[i * size], from, size);
  }
  return out;
}

namespace {

double as_double(const std::byte* at, DType dtype) {
  auto get = [&](auto v) {
    std::memcpy(&v, at, sizeof v);
    return v;
  };
  switch (dtype) {
    case DType::F32:
      return get(0.f);
    case DType::F64:
      return get(0.);
    case DType::BF16: {
      uint32_t bits = uint32_t{get(uint16_t{})} << 16;
      float f;
      std::memcpy(&f, &bits, 4);
      return f;
    }
    case DType::F16:
      return static_cast<double>(get(_Float16{}));
    case DType::Bool:
    case DType::U8:
      return get(uint8_t{});
    case DType::I8:
      return get(int8_t{});
    case DType::U16:
      return get(uint16_t{});
    case DType::I16:
      return get(int16_t{});
    case DType::U32:
      return get(uint32_t{});
    case DType::I32:
      return get(int32_t{});
    default:
      return static_cast<double>(get(int64_t{}));
  }
}

using Buffers = std::vector<Bytes>;

Buffers make_buffers(const LoopCase& c) {
  Buffers out;
  for (BufferId i = 0; i < c.kernel.buffers.size(); ++i) {
    const Buffer& b = c.kernel.buffers[i];
    auto numel = static_cast<size_t>(evaluate(b.numel, c.symbols).value_or(0));
    Bytes bytes;
    if (b.role == BufferRole::Output) {
      bytes.assign(numel * dtype_size(b.dtype), std::byte{0xa5});
    } else if (b.role != BufferRole::Local) {
      bytes = random_bytes(b.dtype, numel);
      if (c.fill) c.fill(i, bytes);
    }
    // Red zone: a write past the end shows up in the comparison.
    bytes.resize(bytes.size() + 64, std::byte{0x5a});
    out.push_back(std::move(bytes));
  }
  return out;
}

std::vector<std::byte*> pointers(Buffers& buffers) {
  std::vector<std::byte*> out;
  for (Bytes& b : buffers) out.push_back(b.data());
  return out;
}

void compare(const LoopCase& c, const Buffers& got, const Buffers& expected, const std::string& who) {
  for (BufferId i = 0; i < got.size(); ++i) {
    const Buffer& b = c.kernel.buffers[i];
    if (b.role == BufferRole::Local) continue;
    size_t size = dtype_size(b.dtype), numel = (got[i].size() - 64) / size;
    EXPECT_EQ(std::memcmp(&got[i][numel * size], &expected[i][numel * size], 64), 0)
        << who << ": wrote past the end of '" << b.name << "'\n"
        << print_loop(c.kernel);
    double tolerance = is_reduced_float(b.dtype) ? 1e-2 : b.dtype == DType::F64 ? 1e-12 : c.tolerance;
    if (!is_floating(b.dtype)) tolerance = 0;
    for (size_t j = 0; j < numel; ++j) {
      double x = as_double(&got[i][j * size], b.dtype), y = as_double(&expected[i][j * size], b.dtype);
      bool same =
          x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(y));
      if (same) continue;
      ADD_FAILURE() << who << ": '" << b.name << "'[" << j << "] of " << numel << " is " << x << ", expected " << y
                    << "\n"
                    << print_loop(c.kernel);
      return;
    }
  }
}

/// What a kernel gets beside its buffers.
struct SymbolValues {
  std::vector<int64_t> cells, values;
  int64_t* data() { return values.data(); }
};

SymbolValues symbol_values(const LoopCase& c) {
  SymbolValues out;
  for (size_t id : c.kernel.symbols) out.values.push_back(c.symbols[id].value());
  out.cells.resize(2 * c.kernel.checks.size() + 1);
  out.values.push_back(static_cast<int64_t>(reinterpret_cast<intptr_t>(out.cells.data())));
  return out;
}

void run_cpp(const LoopCase& c, Buffers& buffers) {
  static int number = 0;
  auto stem = std::filesystem::temp_directory_path() /
              ("strata_loop_" + std::to_string(getpid()) + "_" + std::to_string(number++));
  std::string source = stem.string() + ".cpp", library = stem.string() + ".so", log = stem.string() + ".log";
  CodeArtifact text = codegen::emit_cpp(c.kernel);
  std::ofstream(source) << text.text;
  std::string command =
      "g++ -std=c++17 -O1 -march=native -fopenmp -shared -fPIC -o " + library + " " + source + " 2> " + log;
  int status = std::system(command.c_str());
  std::ifstream errors(log);
  ASSERT_EQ(status, 0) << std::string(std::istreambuf_iterator<char>(errors), {}) << "\n" << text.text;
  void* handle = dlopen(library.c_str(), RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  auto f =
      reinterpret_cast<void (*)(std::byte**, const int64_t*)>(dlsym(handle, (c.kernel.name + "_parallel").c_str()));
  ASSERT_NE(f, nullptr);
  auto values = symbol_values(c);
  f(pointers(buffers).data(), values.data());
  for (const std::string& file : {source, library, log}) std::filesystem::remove(file);
}

void check_cpp_only(const LoopCase& c, Check what, const Buffers& start, const Buffers& expected) {
  if (!(static_cast<int>(what) & static_cast<int>(Check::Cpp))) return;
  Buffers got = start;
  run_cpp(c, got);
  compare(c, got, expected, "c++");
}

/// With code for the example's sizes, if the kernel gets any.
void check_versions(const LoopCase& c, const Target& target, const Buffers& start, const Buffers& expected) {
  Buffers got = start;
  codegen::LoopJit jit(target);
  const Kernel* kernels[] = {&c.kernel};
  if (!codegen::version_for_hints(c.kernel)) return;
  const auto compiled = jit.compile(kernels, {0, false, false, true});
  auto places = pointers(got);
  compiled[0]->run({places.data(), c.symbols, c.threads});
  compare(c, got, expected, "jit, version for the example's sizes");
}

}  // namespace

void check(LoopCase& c, Check what, const Target& target) {
  verify_loop(c.kernel);
  Buffers start = make_buffers(c), expected = start;
  evaluate_loop(c.kernel, pointers(expected), c.symbols);
  if (static_cast<int>(what) & static_cast<int>(Check::Jit)) {
    Buffers got = start;
    codegen::LoopJit jit(target);
    const Kernel* kernels[] = {&c.kernel};
    auto compiled = jit.compile(kernels);
    auto places = pointers(got);
    compiled[0]->run({places.data(), c.symbols, c.threads});
    compare(c, got, expected, "jit");
    check_versions(c, target, start, expected);
    if (!jit.function(0)) return check_cpp_only(c, what, start, expected);
    // The same in pieces: chunks may begin anywhere.
    Buffers pieces = start;
    int64_t points = evaluate(jit.points(0), c.symbols).value(), at = 0;
    auto values = symbol_values(c);
    auto piece_places = pointers(pieces);
    while (at < points) {
      int64_t next = std::min<int64_t>(points, at + 1 + static_cast<int64_t>(random_engine()() % (points / 2 + 1)));
      jit.function(0)(piece_places.data(), values.data(), at, next);
      at = next;
    }
    compare(c, pieces, expected, "jit in pieces");
  }
  check_cpp_only(c, what, start, expected);
}

std::vector<Target> targets() {
  std::vector<Target> out = {host_target()};
  if (!host_target().has("avx2")) return out;
  Target avx2 = host_target();
  avx2.cpu = "x86-64-v3";
  avx2.features = "+avx2,+fma";
  avx2.vector_bits = 256;
  avx2.avx512 = avx2.amx = avx2.bf16 = false;
  Target sse = avx2;
  sse.cpu = "x86-64-v2";
  sse.features = "";
  sse.vector_bits = 128;
  if (host_target().avx512) out.push_back(avx2);
  out.push_back(sse);
  return out;
}

bool streams(const LoopCase& c, const Target& target, loop::BufferId buffer) {
  return codegen::plan_kernel(c.kernel, target).streamed[buffer] != 0;
}

Target without_cache(Target target) {
  target.cache_bytes = 1;
  return target;
}

std::string llvm_of(const LoopCase& c, const Target& target) {
  codegen::LoopJit jit(target);
  const Kernel* kernels[] = {&c.kernel};
  const auto compiled = jit.compile(kernels, {1, true});
  for (const CodeArtifact& a : jit.artifacts(0))
    if (a.kind == "llvm-ir") return a.text;
  return "";
}

size_t occurrences(const std::string& llvm, const std::string& part) {
  size_t count = 0;
  for (size_t at = llvm.find(part); at != std::string::npos; at = llvm.find(part, at + 1)) ++count;
  return count;
}

size_t fetches(const std::string& llvm) { return occurrences(llvm, "call void @llvm.prefetch"); }

}  // namespace strata::testing
