// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/cli/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/support/error.h"

namespace strata::cli {
namespace {

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%") ==
                                          std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string Invocation::command_line() const {
  std::string text;
  for (const std::string& a : arguments) text += (text.empty() ? "" : " ") + quoted(a);
  return text;
}

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written && errno != EPIPE)
    throw_runtime(fmt::format("cannot write to the standard output: {}", std::strerror(errno)));
}

void note(std::string_view text) {
  const std::string line = fmt::format("strata: {}\n", text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void check_word(std::string_view what, std::string_view word, const std::vector<std::string>& valid) {
  if (std::find(valid.begin(), valid.end(), word) == valid.end())
    throw_user(fmt::format("there is no {} '{}'", what, word), suggest(word, valid));
}

void add_graph_option(CLI::App& command, Address& address) {
  command.add_option("--graph", address.graph, "compile, as `strata graphs` lists it: 0/0 (default: the first)")
      ->type_name("G");
}

void add_stage_option(CLI::App& command, Address& address) {
  command
      .add_option("--stage", address.stage,
                  "stage, as `strata stages` lists it: scheduled, simplified:cse#2 (default: the first)")
      ->type_name("S");
}

trace::CompileRecord select_compile(trace::Reader& reader, const Address& address) {
  trace::CompileRecord compile = reader.find_compile(address.graph);
  if (address.graph.empty()) {
    const size_t count = reader.compiles().size();
    note(fmt::format("graph {} ({}{})", compile.address, compile.name,
                     count == 1 ? ", the only one" : fmt::format(", the first of {}", count)));
  }
  return compile;
}

std::vector<std::string> stage_names(trace::Reader& reader, trace::Id compile) {
  std::vector<std::string> names;
  if (!reader.source_files().empty()) names.push_back("source");
  for (const trace::SnapshotRecord& s : reader.snapshots(compile)) names.push_back(s.stage);
  for (const trace::RunRecord& r : reader.runs()) {
    if (r.compile != compile) continue;
    names.push_back("runs");
    break;
  }
  return names;
}

std::string select_stage(trace::Reader& reader, trace::Id compile, const Address& address) {
  const auto names = stage_names(reader, compile);
  if (address.stage.empty()) {
    const auto snapshots = reader.snapshots(compile);
    if (snapshots.empty())
      throw_user(fmt::format("'{}' holds no stage of this graph", reader.path().string()),
                 "the compile ended before its first stage");
    note(fmt::format("stage {} (the first)", snapshots.front().stage));
    return snapshots.front().stage;
  }
  if (std::find(names.begin(), names.end(), address.stage) != names.end()) return address.stage;
  for (auto it = names.rbegin(); it != names.rend(); ++it) {
    if (!it->starts_with(address.stage + ":")) continue;
    note(fmt::format("stage {} (the last of '{}')", *it, address.stage));
    return *it;
  }
  throw_user(fmt::format("there is no stage '{}'", address.stage), suggest(address.stage, names));
}

trace::SnapshotRecord select_snapshot(trace::Reader& reader, trace::Id compile, const Address& address) {
  const std::string stage = select_stage(reader, compile, address);
  for (const trace::SnapshotRecord& s : reader.snapshots(compile))
    if (s.stage == stage) return s;
  throw_user(fmt::format("stage '{}' is no graph", stage), "`strata stages` says which are");
}

}  // namespace strata::cli
