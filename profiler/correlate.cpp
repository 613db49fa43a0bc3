// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/correlate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "core/support/error.h"
#include "profiler/correlate_run.h"

namespace strata::profiler {
namespace {

constexpr std::string_view kParts[kTimeParts] = {"matched",       "not matched", "autotuning", "optimizer",
                                                 "data movement", "eager",       "compiling"};
constexpr const char* kKind = "correlation";

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line)
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  return line;
}

std::vector<std::string_view> fields(std::string_view line) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    parts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// One fact per line, fields separated by tabs.
std::string to_text(const RunCorrelation& c) {
  std::string text = fmt::format("clock\t{}\n", c.device ? "device" : "host");
  for (int i = 0; i < kTimeParts; ++i)
    text += fmt::format("part\t{}\t{}\t{}\n", kParts[i], c.parts[i].count, c.parts[i].ns);
  text += fmt::format("without nodes\t{}\t{}\n", c.without_nodes.count, c.without_nodes.ns);
  for (const ProgramMeasured& p : c.programs)
    text +=
        fmt::format("program\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", p.compile, p.program, p.calls,
                    p.launches, p.exact.count, p.exact.ns, p.inferred.count, p.inferred.ns, p.unmatched.count,
                    p.unmatched.ns, p.kernels, p.kernels_measured, one_line(p.address), one_line(p.not_measured));
  for (const UnassignedEvents& u : c.unassigned)
    text += fmt::format("unassigned\t{}\t{}\t{}\t{}\t{}\n", time_part_text(u.part), u.count, u.ns, one_line(u.why),
                        one_line(u.name));
  return text;
}

TimePart part_of(std::string_view text) {
  const auto* at = std::find(std::begin(kParts), std::end(kParts), text);
  return at == std::end(kParts) ? TimePart::Unmatched : static_cast<TimePart>(at - std::begin(kParts));
}

ProgramMeasured program_of(const std::vector<std::string_view>& f) {
  ProgramMeasured p;
  std::int64_t* const numbers[] = {&p.compile,         &p.program,      &p.calls,          &p.launches,
                                   &p.exact.count,     &p.exact.ns,     &p.inferred.count, &p.inferred.ns,
                                   &p.unmatched.count, &p.unmatched.ns, &p.kernels,        &p.kernels_measured};
  for (size_t i = 0; i < std::size(numbers); ++i) *numbers[i] = number(f[i + 1]);
  p.address = f[13];
  p.not_measured = f[14];
  return p;
}

RunCorrelation from_text(trace::Id run, std::string_view text) {
  RunCorrelation c;
  c.run = run;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const auto f = fields(text.substr(begin, end - begin));
    begin = end + 1;
    if (f[0] == "clock" && f.size() == 2) c.device = f[1] == "device";
    if (f[0] == "part" && f.size() == 4) c.parts[static_cast<int>(part_of(f[1]))] = {number(f[2]), number(f[3])};
    if (f[0] == "without nodes" && f.size() == 3) c.without_nodes = {number(f[1]), number(f[2])};
    if (f[0] == "program" && f.size() == 15) c.programs.push_back(program_of(f));
    if (f[0] == "unassigned" && f.size() == 6)
      c.unassigned.push_back({part_of(f[1]), std::string(f[5]), std::string(f[4]), number(f[2]), number(f[3])});
  }
  return c;
}

void add_diagnostics(trace::Writer& writer, const RunCorrelation& c, trace::Id process) {
  trace::DiagnosticRecord d;
  d.kind = kKind;
  d.process = process;
  if (const PartTotal& lost = c[TimePart::Unmatched]; lost.count > 0) {
    d.severity = trace::DiagnosticRecord::Severity::Warning;
    d.title = fmt::format("{} events under compiled code ({:.1f} us, {:.1f}% of its time) are in no launch", lost.count,
                          static_cast<double>(lost.ns) / 1e3, 100 - std::max(0.0, c.matched_percent()));
    size_t listed = 0;
    for (const UnassignedEvents& u : c.unassigned)
      if (u.part == TimePart::Unmatched && ++listed <= 100)
        d.detail += fmt::format("{} x {} ({:.1f} us): {}\n", u.count, u.name, static_cast<double>(u.ns) / 1e3, u.why);
    d.cost_ns = lost.ns;
    writer.add(d);
  }
  for (const ProgramMeasured& p : c.programs) {
    if (p.not_measured.empty()) continue;
    d = {};
    d.kind = kKind;
    d.process = process;
    d.compile = p.compile;
    d.title = fmt::format("{}: not measured", p.address);
    d.detail = p.not_measured;
    writer.add(d);
  }
}

std::vector<ProgramMeasured> never_run(const KnownPrograms& programs, const std::vector<RunCorrelation>& runs) {
  std::set<trace::Id> seen;
  for (const RunCorrelation& c : runs)
    for (const ProgramMeasured& p : c.programs) seen.insert(p.program);
  std::vector<ProgramMeasured> missing;
  for (const KnownProgram& p : programs.all()) {
    if (seen.contains(p.record.id) || p.launches.empty()) continue;
    ProgramMeasured m;
    m.compile = p.compile.id;
    m.program = p.record.id;
    m.address = p.title();
    m.kernels = static_cast<std::int64_t>(p.kernels.size());
    m.not_measured = "no profile shows a call of it";
    missing.push_back(std::move(m));
  }
  return missing;
}

}  // namespace

std::string_view time_part_text(TimePart part) { return kParts[static_cast<int>(part)]; }

std::int64_t RunCorrelation::total() const {
  std::int64_t sum = 0;
  for (const PartTotal& p : parts) sum += p.ns;
  return sum;
}

double RunCorrelation::matched_percent() const {
  const double matched = static_cast<double>((*this)[TimePart::Matched].ns);
  const double all = matched + static_cast<double>((*this)[TimePart::Unmatched].ns);
  return all > 0 ? 100 * (matched - static_cast<double>(without_nodes.ns)) / all : -1;
}

CorrelationReport correlate(trace::Reader& reader, trace::Writer& writer,
                            const std::function<void(double, std::string_view)>& progress) {
  CorrelationReport report;
  const KnownPrograms programs(reader);
  std::vector<trace::RunRecord> runs = reader.runs();
  std::erase_if(runs, [](const trace::RunRecord& r) { return r.label != "profile"; });
  for (size_t i = 0; i < runs.size(); ++i) {
    if (progress) progress(static_cast<double>(i) / static_cast<double>(runs.size()), "matching profiles");
    RunMatcher matcher(reader, programs, runs[i]);
    report.runs.push_back(matcher.match([&](std::span<const trace::EventMatch> m) { writer.assign(m); }));
    writer.add(correlation_artifact(report.runs.back()));
    add_diagnostics(writer, report.runs.back(), runs[i].process);
  }
  if (runs.empty()) return report;
  report.not_measured = never_run(programs, report.runs);
  for (const ProgramMeasured& p : report.not_measured) {
    trace::DiagnosticRecord d;
    d.kind = kKind;
    d.compile = p.compile;
    d.title = fmt::format("{}: not measured", p.address);
    d.detail = p.not_measured;
    writer.add(d);
  }
  writer.commit();
  return report;
}

RunCorrelation correlate_run(trace::Reader& reader, trace::Id run) {
  const KnownPrograms programs(reader);
  for (const trace::RunRecord& r : reader.runs())
    if (r.id == run) return RunMatcher(reader, programs, r).match({});
  throw_user(fmt::format("the trace has no run {}", run));
}

trace::ArtifactRecord correlation_artifact(const RunCorrelation& correlation) {
  trace::ArtifactRecord artifact;
  artifact.owner = {trace::OwnerKind::Run, correlation.run, trace::kNone};
  artifact.kind = kKind;
  artifact.name = "where the time of this profile belongs";
  artifact.content = to_text(correlation);
  return artifact;
}

std::optional<RunCorrelation> correlation_of(const trace::ArtifactRecord& artifact) {
  if (artifact.kind != kKind || artifact.owner.kind != trace::OwnerKind::Run) return std::nullopt;
  return from_text(artifact.owner.id, artifact.content);
}

std::optional<RunCorrelation> read_correlation(trace::Reader& reader, trace::Id run) {
  for (const trace::ArtifactRecord& a : reader.artifacts(trace::Owner{trace::OwnerKind::Run, run, trace::kNone})) {
    if (a.kind != kKind) continue;
    if (const auto full = reader.artifact(a.id)) return correlation_of(*full);
  }
  return std::nullopt;
}

}  // namespace strata::profiler
