// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// What timing every launch costs: bench_profiler [MODEL.pt2 [ROUNDS]]. Each round calls the program without timing,
/// with it, and without it again, in an order that changes; the second `off` shows how much of a difference is noise.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "app/driver/compile.h"
#include "app/driver/inputs.h"
#include "capture/pt2.h"
#include "core/support/error.h"

namespace {

using namespace strata;

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void bench(const std::string& model, int rounds) {
  const Program program = load_pt2(model);
  const auto inputs = random_inputs(program, 1);
  const auto compiled = compile_program(program, {});
  for (int i = 0; i < 20; ++i) compiled->run(inputs);
  const std::array<bool, 3> timed = {false, true, false};
  std::array<std::vector<double>, 3> times;
  for (int round = 0; round < rounds; ++round) {
    for (size_t k = 0; k < 3; ++k) {
      const size_t which = (k + static_cast<size_t>(round)) % 3;
      compiled->set_timing(timed[which]);
      const int64_t start = now_ns();
      compiled->run(inputs);
      times[which].push_back(static_cast<double>(now_ns() - start));
    }
  }
  const double off = median(times[0]), on = median(times[1]), again = median(times[2]);
  fmt::print("{} calls each, {} launches a call\n", rounds, compiled->plan()->launches.size());
  fmt::print("off        {:9.1f} us\noff again  {:9.1f} us  {:+.2f}%\non         {:9.1f} us  {:+.2f}%\n", off / 1e3,
             again / 1e3, (again / off - 1) * 100, on / 1e3, (on / ((off + again) / 2) - 1) * 100);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    bench(argc > 1 ? argv[1] : STRATA_BINARY_DIR "/models/bert/bert.pt2",
          argc > 2 ? std::max(1, std::atoi(argv[2])) : 500);
    return 0;
  } catch (const Error& e) {
    fmt::print(stderr, "bench_profiler: {}\n", e.what());
    return e.exit_code();
  }
}
