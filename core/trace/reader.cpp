// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/trace/reader.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/support/error.h"
#include "core/trace/reader_impl.h"

namespace strata::trace {

const std::string& Reader::Impl::string(Id id) {
  if (const auto known = strings.find(id); known != strings.end()) return known->second;
  if (id == kNone) return strings[id];
  Query query = database().query("SELECT value FROM string WHERE id = ?");
  query.bind(id);
  if (!query.step()) throw FormatError(fmt::format("text {} is missing", id));
  return strings.emplace(id, query.text(0)).first->second;
}

Reader::Reader(const std::filesystem::path& path) : impl_(path) {
  // Every trace has this table; a file that lacks it is found out here and not at the first click.
  property("producer");
}

Reader::~Reader() = default;

const std::filesystem::path& Reader::path() const { return impl_.first().path; }
int Reader::version() const { return impl_.first().file.version(); }

bool Reader::changed() {
  Impl& first = impl_.first();
  return first.guarded([&] {
    const Database* before = &first.database();
    const bool changed = first.file.changed();
    if (&first.database() != before) {
      first.strings.clear();
      first.orders.clear();
      impl_.renew();
    }
    return changed;
  });
}

bool Reader::unfinished() { return property("trace.complete") != "yes"; }

std::vector<PropertyRecord> Reader::properties() {
  return impl_->guarded([&] {
    Query query = impl_->database().query("SELECT key, value FROM property ORDER BY key");
    std::vector<PropertyRecord> result;
    while (query.step()) result.push_back({std::string(query.text(0)), std::string(query.text(1))});
    return result;
  });
}

std::optional<std::string> Reader::property(std::string_view key) {
  return impl_->guarded([&]() -> std::optional<std::string> {
    Query query = impl_->database().query("SELECT value FROM property WHERE key = ?");
    query.bind(key);
    if (!query.step()) return std::nullopt;
    return std::string(query.text(0));
  });
}

std::vector<ProcessRecord> Reader::processes() { return impl_->select<ProcessRecord>("ORDER BY id"); }
std::vector<FrameRecord> Reader::frames() { return impl_->select<FrameRecord>("ORDER BY id"); }
std::vector<CompileRecord> Reader::compiles() { return impl_->select<CompileRecord>("ORDER BY id"); }

std::optional<CompileRecord> Reader::compile(Id compile) { return impl_->one<CompileRecord>("WHERE id = ?", compile); }

CompileRecord Reader::find_compile(std::string_view address) {
  const auto all = compiles();
  if (all.empty()) throw_user(fmt::format("{} holds no graph", path().string()));
  if (address.empty()) return all.front();
  std::vector<std::string> addresses;
  for (const auto& compile : all) {
    if (compile.address == address) return compile;
    addresses.push_back(compile.address);
  }
  throw_user(fmt::format("{} has no graph '{}'", path().string(), address), suggest(address, addresses));
}

std::vector<PassRecord> Reader::passes(Id compile) {
  return impl_->select<PassRecord>("WHERE compile = ? ORDER BY ordinal, id", compile);
}
std::optional<PassRecord> Reader::pass(Id pass) { return impl_->one<PassRecord>("WHERE id = ?", pass); }

std::vector<SnapshotRecord> Reader::snapshots(Id compile) {
  const auto rows = impl_->list<SnapshotRow>("WHERE compile = ? ORDER BY ordinal, id", compile);
  return {rows.begin(), rows.end()};
}

std::optional<SnapshotRecord> Reader::snapshot(Id snapshot) {
  const auto rows = impl_->list<SnapshotRow>("WHERE id = ?", snapshot);
  if (rows.empty()) return std::nullopt;
  return rows.front();
}

SnapshotRecord Reader::find_snapshot(Id compile, std::string_view stage) {
  std::vector<std::string> stages;
  for (const auto& snapshot : snapshots(compile)) {
    if (snapshot.stage == stage) return snapshot;
    stages.push_back(snapshot.stage);
  }
  const auto all = snapshots(compile);
  const std::string prefix = std::string(stage) + ":";
  const auto step = std::find_if(all.rbegin(), all.rend(), [&](const auto& s) { return s.stage.starts_with(prefix); });
  if (step != all.rend()) return *step;
  throw_user(fmt::format("{} has no stage '{}'", path().string(), stage), suggest(stage, stages));
}

std::vector<SourceFileRecord> Reader::source_files() { return impl_->list<SourceFileRecord>("ORDER BY id"); }

std::optional<SourceFileRecord> Reader::source_file(std::string_view path) {
  // The whole text counts more than an excerpt, and what was said last more than what was said before.
  return impl_->one<SourceFileRecord>("WHERE path = ? ORDER BY excerpt, id DESC LIMIT 1", path);
}

std::vector<GuardRecord> Reader::guards(Id compile) {
  return impl_->select<GuardRecord>("WHERE compile = ? ORDER BY id", compile);
}
std::vector<GraphBreakRecord> Reader::graph_breaks() { return impl_->select<GraphBreakRecord>("ORDER BY id"); }
std::vector<SymbolRecord> Reader::symbols(Id compile) {
  return impl_->select<SymbolRecord>("WHERE compile = ? ORDER BY id", compile);
}
std::vector<AssumptionRecord> Reader::assumptions(Id compile) {
  return impl_->select<AssumptionRecord>("WHERE compile = ? ORDER BY id", compile);
}
std::vector<KernelRecord> Reader::kernels(Id compile) {
  return impl_->select<KernelRecord>("WHERE compile = ? ORDER BY id", compile);
}
std::optional<KernelRecord> Reader::kernel(Id kernel) { return impl_->one<KernelRecord>("WHERE id = ?", kernel); }
std::vector<KernelRecord> Reader::kernels_of_node(Id compile, NodeId node) {
  return impl_->select<KernelRecord>(
      "WHERE id IN (SELECT kernel FROM kernel_node WHERE compile = ? AND node = ?) ORDER BY id", compile, node);
}
std::vector<FusionRecord> Reader::fusions(Id compile) {
  return impl_->select<FusionRecord>("WHERE compile = ? ORDER BY id", compile);
}
std::vector<FusionRecord> Reader::fusions_of_node(Id compile, NodeId node) {
  return impl_->select<FusionRecord>("WHERE compile = ?1 AND (producer = ?2 OR consumer = ?2) ORDER BY id", compile,
                                     node);
}
std::vector<BufferRecord> Reader::buffers(Id compile) {
  return impl_->select<BufferRecord>("WHERE compile = ? ORDER BY id", compile);
}
std::vector<LaunchRecord> Reader::launches(Id compile) {
  return impl_->select<LaunchRecord>("WHERE compile = ? ORDER BY ordinal, id", compile);
}

std::vector<RewriteRecord> Reader::rewrites(Id compile) {
  return impl_->select<RewriteRecord>("WHERE compile = ? ORDER BY id", compile);
}
std::vector<RewriteRecord> Reader::rewrites_of_pass(Id pass) {
  return impl_->select<RewriteRecord>("WHERE pass = ? ORDER BY id", pass);
}
std::vector<RewriteRecord> Reader::rewrites_of_node(Id compile, NodeId node) {
  return impl_->select<RewriteRecord>(
      "WHERE id IN (SELECT rewrite FROM rewrite_node WHERE compile = ? AND node = ?) ORDER BY id", compile, node);
}
std::optional<RemovalRecord> Reader::removal(Id compile, NodeId node) {
  return impl_->one<RemovalRecord>("WHERE compile = ? AND node = ?", compile, node);
}
std::vector<RemovalRecord> Reader::removals(Id compile) {
  return impl_->select<RemovalRecord>("WHERE compile = ? ORDER BY node", compile);
}

std::vector<InputRecord> Reader::inputs() { return impl_->select<InputRecord>("ORDER BY id"); }
std::vector<ProgramRecord> Reader::programs(Id compile) {
  return impl_->select<ProgramRecord>("WHERE compile = ? ORDER BY id", compile);
}
std::vector<RecompileRecord> Reader::recompiles() { return impl_->select<RecompileRecord>("ORDER BY id"); }
std::vector<DiagnosticRecord> Reader::diagnostics() { return impl_->select<DiagnosticRecord>("ORDER BY id"); }
std::vector<TrackRecord> Reader::tracks() { return impl_->select<TrackRecord>("ORDER BY id"); }
std::vector<FlowRecord> Reader::flows() { return impl_->select<FlowRecord>("ORDER BY id"); }

std::vector<RunRecord> Reader::runs() { return impl_->select<RunRecord>("ORDER BY id"); }

namespace {
// SQLite takes -1 for no limit.
std::int64_t sql_limit(std::size_t limit) {
  return limit == 0 || limit > std::size_t{1} << 60 ? -1 : static_cast<std::int64_t>(limit);
}
}  // namespace

std::vector<EventRecord> Reader::events(Id run, std::size_t limit) {
  return impl_->select<EventRecord>("WHERE run = ? ORDER BY start_ns, id LIMIT ?", run, sql_limit(limit));
}
std::vector<EventRecord> Reader::events_of_kernel(Id kernel, std::size_t limit) {
  return impl_->select<EventRecord>("WHERE kernel = ? AND kernel <> 0 ORDER BY start_ns, id LIMIT ?", kernel,
                                    sql_limit(limit));
}
std::optional<EventRecord> Reader::event(Id event) { return impl_->one<EventRecord>("WHERE id = ?", event); }
void Reader::each_event(const std::function<bool(const EventRecord&)>& visit) {
  for (Id last = kNone;;) {
    const auto batch = impl_->select<EventRecord>("WHERE id > ? ORDER BY id LIMIT 8192", last);
    for (const EventRecord& event : batch)
      if (!visit(event)) return;
    if (batch.empty()) return;
    last = batch.back().id;
  }
}
std::vector<EventRecord> Reader::executions_of_kernel(Id kernel, std::size_t limit) {
  return impl_->select<EventRecord>(
      "WHERE kernel = ?1 AND kernel <> 0 AND (stream >= 0 OR NOT EXISTS (SELECT 1 FROM event d WHERE d.kernel = ?1 AND "
      "d.stream >= 0)) ORDER BY start_ns, id LIMIT ?2",
      kernel, sql_limit(limit));
}
std::int64_t Reader::event_count() {
  return impl_->guarded([&] { return impl_->database().integer("SELECT count(*) FROM event"); });
}

namespace {
/// ` AND category IN (1, 2)`; the numbers come from the file itself.
std::string in_categories(const std::vector<Id>& categories) {
  return categories.empty() ? std::string() : fmt::format(" AND category IN ({})", fmt::join(categories, ", "));
}
/// Complete events: written by `X`, or by our own runs without a phase.
constexpr const char* kComplete = "run = ?1 AND phase IN (SELECT 0 UNION ALL SELECT id FROM string WHERE value = 'X')";
}  // namespace

void Reader::each_event_key(Id run, const std::vector<Id>& categories,
                            const std::function<void(const EventKey&)>& visit) {
  impl_->guarded([&] {
    Query query = impl_->database().query(fmt::format(
        "SELECT id, track, name, category, start_ns, duration_ns, correlation, external, sequence, stream, program, "
        "kernel, launch FROM event WHERE {}{} ORDER BY id",
        kComplete, in_categories(categories)));
    query.bind(run);
    while (query.step()) {
      EventKey key;
      int column = 0;
      for (std::int64_t* field :
           {&key.id, &key.track, &key.name, &key.category, &key.start_ns, &key.duration_ns, &key.correlation,
            &key.external, &key.sequence, &key.stream, &key.program, &key.kernel, &key.launch})
        *field = query.integer(column++);
      visit(key);
    }
  });
}
std::int64_t Reader::event_count(Id run, const std::vector<Id>& categories) {
  return impl_->guarded([&] {
    Query query = impl_->database().query(
        fmt::format("SELECT count(*) FROM event WHERE {}{}", kComplete, in_categories(categories)));
    query.bind(run);
    return query.step() ? query.integer(0) : 0;
  });
}
std::string Reader::text(Id id) {
  return impl_->guarded([&] { return impl_->string(id); });
}
std::vector<std::pair<Id, std::string>> Reader::event_categories(Id run) {
  return impl_->guarded([&] {
    Query query = impl_->database().query("SELECT DISTINCT category FROM event WHERE run = ? ORDER BY 1");
    query.bind(run);
    std::vector<std::pair<Id, std::string>> result;
    while (query.step()) result.emplace_back(query.integer(0), impl_->string(query.integer(0)));
    return result;
  });
}
std::vector<EventSum> Reader::event_sums(Id run, const std::vector<Id>& categories) {
  return impl_->guarded([&] {
    Query query = impl_->database().query(fmt::format(
        "SELECT name, category, stream >= 0, compile, program, kernel, launch, match, count(*), sum(duration_ns), "
        "min(duration_ns) FROM event WHERE {}{} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8",
        kComplete, in_categories(categories)));
    query.bind(run);
    std::vector<EventSum> result;
    while (query.step()) {
      EventSum s;
      s.name = impl_->string(query.integer(0));
      s.category = impl_->string(query.integer(1));
      s.device = query.integer(2) != 0;
      s.compile = query.integer(3);
      s.program = query.integer(4);
      s.kernel = query.integer(5);
      s.launch = query.integer(6);
      s.match = query.integer(7) == 1 ? Match::Exact : query.integer(7) == 2 ? Match::Inferred : Match::None;
      s.count = query.integer(8);
      s.total_ns = query.integer(9);
      s.min_ns = query.integer(10);
      result.push_back(std::move(s));
    }
    return result;
  });
}

std::vector<MetricRecord> Reader::metrics() { return impl_->select<MetricRecord>("ORDER BY id"); }
std::vector<MetricRecord> Reader::metrics(const Owner& owner) {
  return impl_->select<MetricRecord>("WHERE owner_kind = ?1 AND owner = ?2 AND (?1 <> 6 OR compile = ?3) ORDER BY id",
                                     owner.kind, owner.id, owner.compile);
}

std::vector<ArtifactRecord> Reader::artifacts() { return impl_->list<ArtifactRecord>("ORDER BY id"); }
std::vector<ArtifactRecord> Reader::artifacts(const Owner& owner) {
  return impl_->list<ArtifactRecord>("WHERE owner_kind = ?1 AND owner = ?2 AND (?1 <> 6 OR compile = ?3) ORDER BY id",
                                     owner.kind, owner.id, owner.compile);
}
std::vector<ArtifactRecord> Reader::artifacts_of_compile(Id compile) {
  return impl_->list<ArtifactRecord>("WHERE compile = ? ORDER BY id", compile);
}
std::optional<ArtifactRecord> Reader::artifact(Id artifact) {
  return impl_->one<ArtifactRecord>("WHERE id = ?", artifact);
}
std::vector<RawRecord> Reader::raw_records() { return impl_->list<RawRecord>("ORDER BY id"); }
std::optional<RawRecord> Reader::raw_record(Id raw) { return impl_->one<RawRecord>("WHERE id = ?", raw); }

}  // namespace strata::trace
