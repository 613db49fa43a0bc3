// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// The `strata` command: results on stdout, errors and progress on stderr. Exit codes: 0 done, 1 the check asked for
/// failed, 2 the user's mistake, 3 a fault at run time, 70 our bug, 130 interrupted.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>

#include "app/cli/cli.h"
#include "app/cli/interrupt.h"
#include "core/support/error.h"

namespace strata::cli {
namespace {

constexpr int kInterrupted = 130;

void add_commands(CLI::App& app, Invocation& invocation) {
  add_run(app, invocation);
  add_compile(app, invocation);
  add_import(app, invocation);
  add_capture(app, invocation);
  add_graphs(app, invocation);
  add_stages(app, invocation);
  add_passes(app, invocation);
  add_explain(app, invocation);
  add_show(app, invocation);
  add_profile(app, invocation);
  add_diff(app, invocation);
  add_query(app, invocation);
  add_export(app, invocation);
  add_view(app, invocation);
  add_backends(app, invocation);
  add_cache(app, invocation);
}

/// The command named on the command line, or the application itself.
const CLI::App& command_of(const CLI::App& app, const Invocation& invocation) {
  if (invocation.arguments.size() > 1)
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
      if (command->get_name() == invocation.arguments[1]) return *command;
  return app;
}

/// CLI11 says that something is wrong; which option or command comes nearest, we say.
std::string usage_hint(const CLI::App& app, const Invocation& invocation) {
  const CLI::App& command = command_of(app, invocation);
  std::vector<std::string> words;
  if (&command == &app) {
    for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) words.push_back(c->get_name());
    if (invocation.arguments.size() > 1) return suggest(invocation.arguments[1], words);
    return "see strata --help";
  }
  for (const CLI::Option* o : command.get_options())
    for (const std::string& name : o->get_lnames()) words.push_back("--" + name);
  for (const std::string& argument : invocation.arguments) {
    const std::string word = argument.substr(0, argument.find('='));
    if (!word.starts_with("--") || std::find(words.begin(), words.end(), word) != words.end()) continue;
    if (const std::string best = nearest(word, words); !best.empty()) return fmt::format("did you mean '{}'", best);
  }
  return fmt::format("see strata {} --help", command.get_name());
}

/// CLI11's message in our form.
std::string usage_message(const CLI::App& app, const Invocation& invocation, const CLI::ParseError& e) {
  const CLI::App& command = command_of(app, invocation);
  if (&command == &app && invocation.arguments.size() > 1 && !invocation.arguments[1].starts_with('-'))
    return fmt::format("there is no command '{}'", invocation.arguments[1]);
  std::string text = e.what();
  if (!text.empty() && text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(text[0]));
  return text;
}

int report(const Invocation& invocation, ErrorKind kind, const std::string& what) {
  if (interrupted()) {
    note("interrupted");
    return kInterrupted;
  }
  if (kind != ErrorKind::Internal) {
    note("error: " + what);
    return static_cast<int>(kind);
  }
  const std::string path = write_reproducer(invocation.command_line(), what);
  note(fmt::format("internal error: {}", what));
  note(fmt::format("this is a bug in strata: please report it with {}", path.empty() ? "the command line" : path));
  return static_cast<int>(kind);
}

int call(CLI::App& app, Invocation& invocation, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return invocation.exit_code;
  } catch (const CLI::Success& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const CLI::ParseError& e) {
    const std::string hint = usage_hint(app, invocation);
    return report(invocation, ErrorKind::User, usage_message(app, invocation, e) + "; " + hint);
  } catch (const Error& e) {
    return report(invocation, e.kind(), e.what());
  } catch (const std::bad_alloc&) {
    return report(invocation, ErrorKind::Runtime, "out of memory");
  } catch (const std::exception& e) {
    return report(invocation, ErrorKind::Internal, e.what());
  }
}

}  // namespace
}  // namespace strata::cli

int main(int argc, char** argv) {
  using namespace strata::cli;
  Invocation invocation;
  for (int i = 0; i < argc; ++i) invocation.arguments.emplace_back(argv[i]);
  watch_interrupts();
  watch_crashes(invocation.command_line());
  CLI::App app("Compiler for tensor programs, and a debugger for it.", "strata");
  app.set_version_flag("--version", std::string("strata ") + STRATA_VERSION);
  app.require_subcommand(1);
  add_commands(app, invocation);
  int code = call(app, invocation, argc, argv);
  // A full disk behind stdout must not pass for success.
  if (std::fflush(stdout) != 0 && errno != EPIPE && code == 0) {
    note("error: cannot write to the standard output");
    code = 3;
  }
  return code;
}
