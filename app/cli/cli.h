// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the commands share. Each command is one source that adds itself to the CLI11 application; its callback does the
/// work, throws Error, and leaves an exit code.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/reader.h"

namespace strata::cli {

/// One call of the executable.
struct Invocation {
  std::vector<std::string> arguments;  ///< argv
  int exit_code = 0;                   ///< 0 or 1; errors are thrown

  /// The command line, quoted for a shell.
  std::string command_line() const;
};

void add_run(CLI::App& app, Invocation& invocation);
void add_compile(CLI::App& app, Invocation& invocation);
void add_backends(CLI::App& app, Invocation& invocation);
void add_cache(CLI::App& app, Invocation& invocation);
void add_import(CLI::App& app, Invocation& invocation);
void add_capture(CLI::App& app, Invocation& invocation);
void add_graphs(CLI::App& app, Invocation& invocation);
void add_stages(CLI::App& app, Invocation& invocation);
void add_passes(CLI::App& app, Invocation& invocation);
void add_explain(CLI::App& app, Invocation& invocation);
void add_show(CLI::App& app, Invocation& invocation);
void add_profile(CLI::App& app, Invocation& invocation);
void add_diff(CLI::App& app, Invocation& invocation);
void add_export(CLI::App& app, Invocation& invocation);
void add_query(CLI::App& app, Invocation& invocation);
void add_view(CLI::App& app, Invocation& invocation);

/// Everything to stdout at once. A reader that went away is no error, a full disk is a runtime Error.
void print(std::string_view text);
/// `strata: TEXT` to stderr.
void note(std::string_view text);

/// `word` must be one of `valid`; the user Error names the nearest.
void check_word(std::string_view what, std::string_view word, const std::vector<std::string>& valid);

/// Options `--graph` and `--stage`, and what they select.
struct Address {
  std::string graph, stage;
};
void add_graph_option(CLI::App& command, Address& address);
void add_stage_option(CLI::App& command, Address& address);
/// The compile of `--graph`; without it the first, which is said on stderr.
trace::CompileRecord select_compile(trace::Reader& reader, const Address& address);
/// Stages of a compile as `strata stages` lists them: `source`, snapshots in order, `runs`.
std::vector<std::string> stage_names(trace::Reader& reader, trace::Id compile);
/// The full name of `--stage`: `simplified` alone means the last of them; without it the first graph, which is said on
/// stderr.
std::string select_stage(trace::Reader& reader, trace::Id compile, const Address& address);
/// The snapshot of a stage that has one (not `source`, `runs`): user Error otherwise.
trace::SnapshotRecord select_snapshot(trace::Reader& reader, trace::Id compile, const Address& address);

}  // namespace strata::cli
