// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/import.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "app/driver/importers.h"
#include "app/driver/redact.h"
#include "core/support/error.h"
#include "core/support/json.h"
#include "core/trace/database.h"
#include "core/trace/reader.h"
#include "core/trace/schema.h"

namespace strata {
namespace {

namespace fs = std::filesystem;
using capture::ImportContext;

/// A trace is made under another name and takes its own when it is whole, so that what stood there survives a failure.
class Draft {
 public:
  explicit Draft(const fs::path& out) : out_(trace::fixed_path(out)) {
    refuse_other_files();
    path_ = beside("import");
  }
  ~Draft() {
    for (const fs::path& path : {path_, beside("redact")}) {
      std::error_code ignored;
      fs::remove(path, ignored);
      trace::remove_side_files(path);
    }
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const fs::path& path() const { return path_; }

  void redact(const std::function<void()>& step) {
    const fs::path redacted = beside("redact");
    redact_trace(path_, redacted, step);
    fs::rename(redacted, path_);
  }

  void publish() {
    refuse_other_files();
    trace::remove_side_files(out_);
    std::error_code failed;
    fs::rename(path_, out_, failed);
    if (failed) throw_user(fmt::format("cannot write {}: {}", out_.string(), failed.message()));
  }

 private:
  fs::path beside(const char* what) const {
    return out_.parent_path() / fmt::format(".{}.{}-{}", out_.filename().string(), what, ::getpid());
  }

  void refuse_other_files() const {
    const char* hint = "give another name, or remove it first";
    std::error_code failed;
    const auto status = fs::status(out_, failed);
    if (!fs::exists(status)) return;
    if (!fs::is_regular_file(status))
      throw_user(fmt::format("cannot write a trace to {}: it is not a file", out_.string()), hint);
    if (fs::file_size(out_, failed) == 0) return;
    try {
      trace::Database file(out_, trace::Database::Mode::ReadOnly, out_);
      if (file.integer("PRAGMA application_id") == trace::kApplicationId) return;
    } catch (const Error&) {
    }
    throw_user(fmt::format("{} exists and is not a strata trace; it is not overwritten", out_.string()), hint);
  }

  fs::path out_, path_;
};

std::int64_t bytes_of(const FoundInput& input) {
  std::error_code ignored;
  if (!fs::is_directory(input.path, ignored)) {
    const auto size = fs::file_size(input.path, ignored);
    return ignored ? 0 : static_cast<std::int64_t>(size);
  }
  return 1 << 20;  // folders are small; only progress depends on it
}

/// Where in the whole import the current kind of inputs lies.
struct Section {
  double from = 0, size = 0;
};

ImportContext::Progress scaled(const ImportContext::Progress& whole, const std::shared_ptr<Section>& section) {
  if (!whole) return {};
  return [whole, section](double part, std::string_view what) {
    return whole(section->from + std::clamp(part, 0.0, 1.0) * section->size, what);
  };
}

/// Reading takes nine tenths of the time, matching the rest.
void read_all(ImportContext& context, std::span<const FoundInput> inputs, Section& section) {
  double total = 1;
  for (const FoundInput& input : inputs) total += static_cast<double>(bytes_of(input));
  for (std::size_t i = 0; i < inputs.size();) {
    std::size_t end = i;
    double bytes = 0;
    for (; end < inputs.size() && inputs[end].kind == inputs[i].kind; ++end)
      bytes += static_cast<double>(bytes_of(inputs[end]));
    section.size = 0.9 * bytes / total;
    context.progress(0, fmt::format("reading {}", inputs[i].path.filename().string()));
    read_inputs(context, inputs[i].kind, inputs.subspan(i, end - i));
    section.from += section.size;
    i = end;
  }
  section = {0.9, 0.1};
}

// ------------------------------------------------------------------------------------------------------------------
// The summary

ImportSummary::Input summary_of(const trace::InputRecord& record) {
  ImportSummary::Input input{record.path, record.kind, record.producer, record.bytes, 0, 0, {}};
  if (record.counts.empty()) return input;
  const Json counts = parse_json(record.counts, record.path);
  for (const auto& [kind, number] : counts.object()) {
    const std::int64_t n = number.integer();
    input.counts[kind] = n;
    (kind.starts_with("problem.") ? input.problems : input.records) += n;
  }
  return input;
}

std::string warning_of(const trace::DiagnosticRecord& d, const std::map<trace::Id, std::string>& paths) {
  const auto path = paths.find(d.input);
  const std::string place = path == paths.end() ? "" : path->second;
  if (place.empty()) return d.title;
  return d.line > 0 ? fmt::format("{}:{}: {}", place, d.line, d.title) : fmt::format("{}: {}", place, d.title);
}

void add_warnings(ImportSummary& summary, trace::Reader& reader) {
  std::map<trace::Id, std::string> paths;
  for (const trace::InputRecord& input : reader.inputs()) paths[input.id] = input.path;
  for (const trace::DiagnosticRecord& d : reader.diagnostics()) {
    if (d.kind != "import" || d.severity == trace::DiagnosticRecord::Severity::Info) continue;
    if (summary.warnings.size() < kMaxWarnings) summary.warnings.push_back(warning_of(d, paths));
  }
  // Of each kind and input only the first are kept one by one; all of them are counted.
  for (const ImportSummary::Input& input : summary.inputs)
    summary.warning_count += static_cast<std::size_t>(input.problems);
  summary.warning_count = std::max(summary.warning_count, summary.warnings.size());
}

void count_compiled(ImportSummary& summary, trace::Reader& reader) {
  std::set<std::pair<trace::Id, std::string>> distinct;
  for (const trace::CompileRecord& c : reader.compiles()) {
    ++summary.attempts;
    distinct.insert({c.process, fmt::format("{}{}/{}", c.prefix, c.frame_number, c.compile_number)});
    for (const trace::SnapshotRecord& s : reader.snapshots(c.id))
      summary.graphs += s.kind == trace::SnapshotKind::Graph;
    summary.kernels += reader.kernels(c.id).size();
    summary.programs += reader.programs(c.id).size();
    summary.guards += reader.guards(c.id).size();
  }
  summary.compiles = distinct.size();
  summary.processes = reader.processes().size();
  summary.frames = reader.frames().size();
  summary.breaks = reader.graph_breaks().size();
  // One compile may be made anew because the guards of several earlier ones failed.
  std::set<trace::Id> again;
  for (const trace::RecompileRecord& r : reader.recompiles()) again.insert(r.compile);
  summary.recompiles = again.size();
  summary.events = reader.event_count();
}

ImportSummary summarize(const fs::path& path) {
  ImportSummary summary;
  trace::Reader reader(path);
  for (const trace::InputRecord& input : reader.inputs()) summary.inputs.push_back(summary_of(input));
  add_warnings(summary, reader);
  count_compiled(summary, reader);
  return summary;
}

[[noreturn]] void throw_nothing(const ImportSummary& summary) {
  std::vector<std::string> reasons;
  for (const std::string& warning : summary.warnings) reasons.push_back(warning);
  for (const SkippedInput& s : summary.skipped) reasons.push_back(fmt::format("{}: {}", s.path.string(), s.why));
  std::string text = "nothing could be imported";
  for (std::size_t i = 0; i < reasons.size() && i < 10; ++i) text += "\n  " + reasons[i];
  if (reasons.size() > 10) text += fmt::format("\n  and {} more", reasons.size() - 10);
  throw_user(text, "give TORCH_TRACE folders, torch_compile_debug folders, TORCH_LOGS text or profiler traces");
}

void set_properties(trace::Writer& writer, const ImportOptions& options) {
  writer.set_property("producer", "strata import");
  for (const auto& [key, value] : options.properties) writer.set_property(key, value);
}

MatchSummary read_into(const fs::path& path, const FoundInputs& found, const ImportOptions& options) {
  trace::Writer writer(path);
  try {
    set_properties(writer, options);
    const auto section = std::make_shared<Section>();
    ImportContext context(writer, scaled(options.progress, section));
    read_all(context, found.inputs, *section);
    context.progress(0, "matching");
    context.finish();
    const MatchSummary match = match_inputs(context);
    for (const trace::InputRecord& input : context.inputs())
      if (!input.producer.empty()) writer.set_property("torch", input.producer);
    writer.close();
    return match;
  } catch (...) {
    writer.discard();
    throw;
  }
}

}  // namespace

ImportSummary import_paths(std::span<const fs::path> paths, const fs::path& out, const ImportOptions& options) {
  FoundInputs found = find_inputs(paths);
  Draft draft(out);
  ImportSummary summary;
  MatchSummary match;
  if (!found.inputs.empty()) {
    match = read_into(draft.path(), found, options);
    summary = summarize(draft.path());
  }
  summary.skipped = std::move(found.skipped);
  summary.skipped_count = found.skipped_count;
  summary.warning_count += found.warnings.size();
  summary.warnings.insert(summary.warnings.begin(), found.warnings.begin(), found.warnings.end());
  summary.kernel_ns = match.kernel_ns;
  summary.matched_ns = match.matched_ns;
  const bool used =
      std::any_of(summary.inputs.begin(), summary.inputs.end(), [](const auto& i) { return i.records > 0; });
  if (!used) throw_nothing(summary);
  const auto step = [&](std::string_view what) {
    if (options.progress && !options.progress(1, what)) throw capture::ImportCancelled();
  };
  if (options.redact) draft.redact([&] { step("redacting"); });
  step("writing");
  draft.publish();
  return summary;
}

}  // namespace strata
