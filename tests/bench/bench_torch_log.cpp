// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// How long it takes to import a TORCH_TRACE log: opening (index, JSON, hashes), and all of it up to the closed trace.
// Beside it, what Python's json module needs for nothing but the JSON in the same records.
//   bench_torch_log LOG [THREADS [REPEATS]]
#include <fmt/format.h>

#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "capture/torch_trace/torch_trace.h"
#include "core/support/error.h"

namespace {

using Clock = std::chrono::steady_clock;

// Of the thread that writes: what is left of it when parsing takes no time.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double seconds(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The yardstick: json.loads of every head line and of every payload that is JSON; reading lines is not timed.
constexpr const char* kPython = R"(
import json, re, sys, time
head = re.compile(rb'[A-Z]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ .*?:\d+\] (?=\{)')
texts, payload = [], []
for line in open(sys.argv[1], 'rb'):
    if line[:1] == b'\t':
        payload.append(line[1:])
        continue
    m = head.match(line)
    if m:
        texts.append(b''.join(payload)); payload = []
        texts.append(line[m.end():])
texts.append(b''.join(payload))
texts = [t for t in texts if t[:1] in b'{[' and t]
start, size = time.perf_counter(), 0
for t in texts:
    try:
        json.loads(t); size += len(t)
    except ValueError:
        pass
print('%.4f %d' % (time.perf_counter() - start, size))
)";

void python(const std::string& log) {
  const std::string script = (std::filesystem::temp_directory_path() / "bench_torch_log.py").string();
  std::FILE* out = std::fopen(script.c_str(), "w");
  if (!out) return;
  std::fputs(kPython, out);
  std::fclose(out);
  std::FILE* pipe = popen(fmt::format("python3 '{}' '{}'", script, log).c_str(), "r");
  if (!pipe) return;
  double took = 0;
  long size = 0;
  if (std::fscanf(pipe, "%lf %ld", &took, &size) == 2)
    fmt::print("{:<28} {:8.3f} s {:9.1f} MB/s of {:.1f} MB JSON\n", "python json.loads", took, size / took / 1e6,
               size / 1e6);
  pclose(pipe);
  std::filesystem::remove(script);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace strata;
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_torch_log LOG [THREADS [REPEATS]]\n");
    return 2;
  }
  const std::filesystem::path log = argv[1];
  const int threads = argc > 2 ? std::atoi(argv[2]) : 0;
  const int repeats = argc > 3 ? std::atoi(argv[3]) : 5;
  try {
    const double size = static_cast<double>(std::filesystem::file_size(log));
    const auto report = [&](const char* what, double best) {
      fmt::print("{:<28} {:8.3f} s {:9.1f} MB/s\n", what, best, size / best / 1e6);
    };
    double open = 1e9, all = 1e9;
    for (int i = 0; i < repeats; ++i) {
      const auto start = Clock::now();
      const capture::LogFile file = capture::LogFile::open(log, {}, threads);
      open = std::min(open, seconds(start));
    }
    const std::filesystem::path out = std::filesystem::temp_directory_path() / "bench_torch_log.strata";
    for (int i = 0; i < repeats; ++i) {
      const auto start = Clock::now();
      const double cpu = thread_seconds();
      trace::Writer writer(out);
      capture::ImportContext context(writer);
      capture::TorchTraceOptions options;
      options.threads = threads;
      capture::import_torch_trace(context, log, options);
      context.finish();
      const double import = seconds(start);
      writer.close();
      all = std::min(all, seconds(start));
      fmt::print("  run {}: {:.3f} s, closing {:.3f} s; writing thread {:.3f} s of CPU\n", i, import,
                 seconds(start) - import, thread_seconds() - cpu);
    }
    fmt::print("{} ({:.1f} MB)\n", log.filename().string(), size / 1e6);
    report("index, JSON and hashes", open);
    report("import, trace closed", all);
    fmt::print("{:<28} {:8.1f} MB\n", "trace", static_cast<double>(std::filesystem::file_size(out)) / 1e6);
    std::filesystem::remove(out);
    python(log.string());
  } catch (const Error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return e.exit_code();
  }
}
