// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/check.h"

#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>

#include "codegen/compiler.h"
#include "core/ir/text.h"
#include "core/support/error.h"
#include "passes/pass.h"
#include "passes/schedule.h"
#include "tests/graphs/expectation.h"

namespace strata::fuzz {
namespace {

std::string check_text(const Graph& graph) {
  const std::string once = print_text(graph), twice = print_text(parse_text(graph.shared_env(), once));
  return once == twice ? "" : "text form changes:\n" + once + "\n" + twice;
}

/// A program on its way through one pipeline.
struct Compiled {
  const RandomProgram* program = nullptr;
  bool unfused = false;
  int threads = 1;
  std::map<std::string, Tensor> state;
  Graph graph;
  Scheduled scheduled;
  std::vector<std::unique_ptr<CompiledKernel>> kernels;
  std::string failure;
  bool refused = false;  ///< the failure is that of a program which asks for what cannot be

  /// Else it was refused.
  bool is_compiled() const {
    return failure.empty() && (!kernels.empty() || (scheduled.plan && scheduled.plan->launches.empty()));
  }
  std::string name() const { return unfused ? "unfused" : "compiled"; }
  void prepare(const RunnerOptions& options = {});
  Results run();
};

void Compiled::prepare(const RunnerOptions& options) {
  state = program->state();
  PassContext context;
  context.state = &state;
  graph = run_passes(unfused ? unfused_pipeline() : inference_pipeline(), program->graph, context, options);
  ScheduleOptions schedule_options;
  schedule_options.within_operators = unfused;
  schedule_options.state = &state;
  scheduled = schedule(graph, schedule_options);
  // Two threads share even what would not be worth it.
  for (Launch& launch : scheduled.plan->launches)
    if (auto* kernel = std::get_if<loop::Kernel>(&launch.work); kernel && threads > 1) kernel->schedule.grain = 1;
  for (const auto& node : graph.nodes())
    if (node->kind != NodeKind::Output && !scheduled.fates.contains(node->id))
      throw_internal("'" + node->name + "' has no fate");
}

Results Compiled::run() {
  Executor executor(scheduled.plan, std::move(kernels), threads);
  const std::vector<Tensor> inputs = program->user_inputs();
  const std::vector<Tensor> outputs = executor.run(inputs);
  Results results(outputs.begin(), outputs.end());
  size_t user = 0;
  for (const InputSpec& spec : program->graph.input_specs)
    results.emplace_back(spec.kind == InputSpec::Kind::User ? inputs[user++] : state.at(spec.target));
  return results;
}

CompileOptions options_of_compile() {
  CompileOptions options;
  options.threads = 1;
  return options;
}

/// Writes through views that only PyTorch's scatters could undo are refused; through these they must work.
bool is_legal_refusal(const Error& e) {
  const std::string_view text = e.what();
  if (e.kind() != ErrorKind::User || text.find("cannot be written back") == text.npos) return false;
  for (const char* view :
       {"view", "transpose", "permute", "select", "squeeze", "split", "unbind", "chunk", "alias", "detach", "flatten"})
    if (text.find("writes through aten." + std::string(view)) != text.npos) return false;
  return true;
}

/// `work`'s difference, or what it threw.
template <class F>
std::string caught(const std::string& where, const F& work) {
  try {
    return work();
  } catch (const Error& e) {
    return is_legal_refusal(e) ? "" : where + ": throws: " + e.what();
  } catch (const std::exception& e) {
    return where + ": throws: " + std::string(e.what());
  }
}

/// Machine code for all that could be scheduled; where that fails together, one after the other.
void compile_all(std::vector<Compiled>& all, Statistics* statistics) {
  std::vector<Compiled*> ready;
  std::vector<const Plan*> plans;
  for (Compiled& c : all)
    if (c.failure.empty() && c.scheduled.plan) {
      ready.push_back(&c);
      plans.push_back(c.scheduled.plan.get());
    }
  CodegenStatistics made;
  try {
    auto kernels = compile_together(plans, options_of_compile(), &made);
    for (size_t i = 0; i < ready.size(); ++i) ready[i]->kernels = std::move(kernels[i]);
  } catch (const std::exception&) {
    for (Compiled* c : ready)
      c->failure = caught(c->name(), [&]() -> std::string {
        c->kernels = make_cpu_compiler()->compile(*c->scheduled.plan, options_of_compile());
        return {};
      });
  }
  if (statistics) {
    statistics->kernels += made.loops;
    statistics->distinct += made.distinct;
    statistics->generate_ns += made.generate_ns;
  }
}

/// What the interpreter refuses to run on these inputs, compiled programs refuse or do without (they do not compute
/// what nobody reads). What rules assume of sizes they check as it does.
std::string refusals(const Error& expected, std::span<Compiled> compiled) {
  const bool must = std::string_view(expected.what()).find("does not hold") != std::string_view::npos;
  for (Compiled& c : compiled) {
    if (!c.failure.empty() && !c.refused) return c.failure;
    if (!c.is_compiled()) continue;
    try {
      c.run();
      if (must) return c.name() + ": runs, expected: " + expected.what();
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::User ||
          (must && std::string_view(e.what()).find("does not hold") == std::string::npos))
        return c.name() + ": throws: " + e.what() + ", expected: " + expected.what();
    }
  }
  return {};
}

std::string check_stages(const RandomProgram& program, Expectation& expected, bool unfused) {
  Compiled c;
  c.program = &program;
  c.unfused = unfused;
  std::string failure;
  RunnerOptions options;
  options.observer = [&](const PassRun& run, const Graph& graph) {
    if (!failure.empty() || !run.changed) return;
    std::string why = expected.compare(interpret(program, graph, false));
    if (why.empty()) why = check_text(graph);
    if (!why.empty())
      failure = c.name() + ", after " + run.pass->name + "#" + std::to_string(run.occurrence) + ": " + why;
  };
  return caught(c.name(), [&] {
    c.prepare(options);
    if (!failure.empty()) return failure;
    c.kernels = make_cpu_compiler()->compile(*c.scheduled.plan, options_of_compile());
    const std::string why = expected.compare(c.run());
    return why.empty() ? why : c.name() + ": " + why;
  });
}

}  // namespace

std::vector<std::string> check_together(const std::vector<RandomProgram>& programs,
                                        const std::function<void(size_t)>& on_start, Statistics* statistics) {
  std::vector<std::string> failures(programs.size());
  std::vector<Compiled> all(2 * programs.size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].program = &programs[i / 2];
    all[i].unfused = i % 2;
    all[i].threads = all[i].unfused ? 3 - programs[i / 2].threads : programs[i / 2].threads;
    if (on_start) on_start(i / 2);
    all[i].failure = caught(all[i].name(), [&]() -> std::string {
      try {
        all[i].prepare();
      } catch (const Error& e) {
        all[i].refused = e.kind() == ErrorKind::User;
        throw;
      }
      return {};
    });
  }
  if (on_start && !programs.empty()) on_start(programs.size());
  compile_all(all, statistics);
  for (size_t i = 0; i < programs.size(); ++i) {
    if (on_start) on_start(i);
    failures[i] = caught("interpreter", [&]() -> std::string {
      std::optional<Expectation> expected;
      try {
        expected.emplace(programs[i]);
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::User) throw;
        if (statistics) ++statistics->refused;
        return refusals(e, std::span(all).subspan(2 * i, 2));
      }
      if (statistics) {
        ++statistics->programs;
        statistics->nodes += programs[i].graph.size();
        statistics->elements += expected->elements();
        statistics->numbers += expected->numbers();
      }
      for (Compiled* c : {&all[2 * i], &all[2 * i + 1]}) {
        if (!c->failure.empty()) return c->failure;
        if (!c->is_compiled()) continue;
        const std::string why = caught(c->name(), [&] { return expected->compare(c->run()); });
        if (!why.empty()) return why.starts_with(c->name()) ? why : c->name() + ": " + why;
      }
      return {};
    });
  }
  return failures;
}

std::string check(const RandomProgram& program, Depth depth) {
  if (depth == Depth::Results) {
    std::vector<RandomProgram> one;
    one.push_back(program.clone());
    return check_together(one)[0];
  }
  return caught("interpreter", [&] {
    std::optional<Expectation> made;
    try {
      made.emplace(program);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::User) throw;
      return check(program, Depth::Results);  // nothing to compare: does the compiled one refuse, too?
    }
    Expectation& expected = *made;
    std::string why = check_text(program.graph);
    if (why.empty()) why = check_stages(program, expected, false);
    if (why.empty()) why = check_stages(program, expected, true);
    return why;
  });
}

void poison_memory() {
#ifdef M_PERTURB
  mallopt(M_PERTURB, 1);
#endif
}

std::string in_a_process(const std::function<std::string()>& work, int seconds, const std::atomic<bool>* cancelled) {
  using Clock = std::chrono::steady_clock;
  int ends[2];
  if (pipe(ends) != 0) throw_runtime(std::string("pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) throw_runtime(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would end it
    std::string text;
    try {
      text = work();
    } catch (const std::exception& e) {
      text = std::string("throws: ") + e.what();
    }
    for (size_t at = 0; at < text.size();) {
      const ssize_t n = write(ends[1], text.data() + at, text.size() - at);
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  pollfd waits{ends[0], POLLIN, 0};
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(seconds);
  bool late = false, stopped = false;
  while (true) {
    if (poll(&waits, 1, 100) == 0) {
      stopped = cancelled && *cancelled;
      late = Clock::now() > deadline;
      if (!stopped && !late) continue;
      kill(child, SIGKILL);
      break;
    }
    const ssize_t n = read(ends[0], part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(part, static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (stopped) return "cancelled";
  if (late) return "hangs: no end after " + std::to_string(seconds) + " s";
  if (WIFSIGNALED(status)) return std::string("crashes: ") + strsignal(WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status)) return "crashes: exit status " + std::to_string(WEXITSTATUS(status));
  return text;
}

std::string kind_of(const std::string& difference) {
  const size_t colon = difference.find(':');
  std::string head = difference.substr(0, colon);
  head = head.substr(0, head.find(", after"));
  if (colon == difference.npos || head == "crashes" || head == "hangs") return head;
  const std::string_view rest = std::string_view(difference).substr(colon + 1);
  if (!rest.starts_with(" throws")) return head + ": differs";
  // Words without names and numbers.
  std::string words;
  for (const char c : rest.substr(0, 70))
    if (c < '0' || c > '9') words += c;
  return head + ":" + words;
}

}  // namespace strata::fuzz
