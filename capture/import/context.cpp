// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/import/context.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/support/error.h"

namespace strata::capture {
namespace {

/// Diagnostics of one kind that are kept per input.
constexpr std::int64_t kMaxProblems = 100;

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + '"';
}

}  // namespace

ImportContext::ImportContext(trace::Writer& writer, Progress progress)
    : writer_(writer), progress_(std::move(progress)) {}

trace::Id ImportContext::process(std::int64_t pid, std::int64_t rank) {
  for (trace::ProcessRecord& p : processes_) {
    if (p.pid != pid) continue;
    if (p.rank == rank || rank < 0) return p.id;
    if (p.rank >= 0 || pid == 0) continue;
    p.rank = rank;
    writer_.update(p);
    return p.id;
  }
  trace::ProcessRecord record;
  record.pid = pid;
  record.rank = rank;
  record.id = writer_.add(record);
  processes_.push_back(record);
  return record.id;
}

void ImportContext::update(const trace::ProcessRecord& process) {
  for (trace::ProcessRecord& p : processes_) {
    if (p.id != process.id) continue;
    p = process;
    writer_.update(p);
    return;
  }
  throw_internal(fmt::format("the import has no process {}", process.id));
}

trace::Id ImportContext::add_input(const trace::InputRecord& input) {
  inputs_.push_back(input);
  inputs_.back().id = writer_.add(input);
  counts_[inputs_.back().id];
  return inputs_.back().id;
}

void ImportContext::count(trace::Id input, std::string_view kind, std::int64_t number) {
  auto& counts = counts_[input];
  const auto found = counts.find(kind);
  if (found != counts.end()) {
    found->second += number;
  } else {
    counts.emplace(kind, number);
  }
}

void ImportContext::problem(trace::Id input, std::string_view kind, std::int64_t line, std::string_view message) {
  const std::string key = fmt::format("problem.{}", kind);
  count(input, key);
  if (counted(input, key) > kMaxProblems) return;
  trace::DiagnosticRecord record;
  record.severity = trace::DiagnosticRecord::Severity::Warning;
  record.kind = "import";
  record.title = message;
  record.input = input;
  record.line = line;
  writer_.add(record);
}

std::int64_t ImportContext::counted(trace::Id input, std::string_view kind) const {
  const auto counts = counts_.find(input);
  if (counts == counts_.end()) return 0;
  const auto found = counts->second.find(kind);
  return found == counts->second.end() ? 0 : found->second;
}

void ImportContext::finish_input(trace::Id input, trace::Id process, std::string_view producer) {
  const auto found = std::find_if(inputs_.begin(), inputs_.end(), [&](const auto& i) { return i.id == input; });
  if (found == inputs_.end()) throw_internal(fmt::format("the import has no input {}", input));
  if (process != trace::kNone) found->process = process;
  if (!producer.empty()) found->producer = producer;
  std::string json = "{";
  for (const auto& [kind, number] : counts_[input])
    json += fmt::format("{}{}: {}", json.size() > 1 ? ", " : "", quote(kind), number);
  found->counts = json + "}";
  writer_.update(*found);
}

void ImportContext::source_line(std::string_view file, std::int64_t line, std::string_view text) {
  if (file.empty() || line <= 0 || text.empty()) return;
  auto found = source_lines_.find(file);
  if (found == source_lines_.end()) found = source_lines_.emplace(file, std::map<std::int64_t, std::string>{}).first;
  found->second.try_emplace(line, text);
}

void ImportContext::progress(double part, std::string_view what) {
  if (progress_ && !progress_(part, what)) throw ImportCancelled();
}

void ImportContext::finish() {
  for (const auto& [path, lines] : source_lines_) {
    trace::SourceFileRecord record;
    record.path = path;
    record.excerpt = true;
    for (const auto& [number, text] : lines) record.lines.push_back({number, text});
    writer_.add(record);
  }
  source_lines_.clear();
  for (const trace::InputRecord& input : std::vector(inputs_))
    if (input.counts.empty()) finish_input(input.id);
}

}  // namespace strata::capture
