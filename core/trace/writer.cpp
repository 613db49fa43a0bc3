// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/trace/writer.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <mutex>
#include <unordered_map>

#include "core/support/error.h"
#include "core/trace/rows.h"
#include "core/trace/schema.h"
#include "core/trace/snapshot_writer.h"

namespace strata::trace {
namespace {

using Clock = std::chrono::steady_clock;

enum class Verb { Insert, Replace, Ignore };

template <class R>
const std::string& insert_sql(Verb verb) {
  static const std::string values = [] {
    std::string marks;
    for_each_column<R>([&](const auto&) { marks += marks.empty() ? "?" : ", ?"; });
    return fmt::format(" INTO {} ({}) VALUES ({})", Table<R>::name, column_list<R>(), marks);
  }();
  static const std::string insert = "INSERT" + values, replace = "INSERT OR REPLACE" + values,
                           ignore = "INSERT OR IGNORE" + values;
  return verb == Verb::Insert ? insert : verb == Verb::Replace ? replace : ignore;
}

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using TextIds = std::unordered_map<std::string, Id, TextHash, std::equal_to<>>;

// Replacing a trace is what a second run of the same command means; anything else was not ours to lose.
void clear_the_way(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    remove_side_files(path);
    return;
  }
  const char* hint = "give another name, or remove it first";
  if (!std::filesystem::is_regular_file(status)) {
    throw_user(fmt::format("cannot write a trace to {}: it is not a file", path.string()), hint);
  }
  if (std::filesystem::file_size(path, error) > 0) {
    bool trace = false;
    try {
      trace = Database(path, Database::Mode::ReadOnly, path).integer("PRAGMA application_id") == kApplicationId;
    } catch (const Error&) {
    }
    if (!trace)
      throw_user(fmt::format("{} exists and is not a strata trace; it is not overwritten", path.string()), hint);
  }
  if (!std::filesystem::remove(path, error) && error) {
    throw_user(fmt::format("cannot replace {}: {}", path.string(), error.message()), hint);
  }
  remove_side_files(path);
}

void set_up(Database& database) {
  database.busy_timeout(5000);
  // The schema goes into the main file before the log is switched on, so that the file can be recognised without it.
  database.execute(
      "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN;" + create_schema() +
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;", kApplicationId, kSchemaVersion));
  // NORMAL: a commit survives the death of the process without waiting for the disk.
  database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000;");
}

std::unique_ptr<Database> create(const std::filesystem::path& path) {
  clear_the_way(path);
  auto database = std::make_unique<Database>(path, Database::Mode::ReadWriteCreate, path);
  try {
    set_up(*database);
  } catch (...) {
    database.reset();
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    remove_side_files(path);
    throw;
  }
  return database;
}

}  // namespace

struct Writer::Impl {
  Impl(const std::filesystem::path& path_, const WriterOptions& options_)
      : path(fixed_path(path_)), options(options_), database(create(path_)) {}

  std::mutex mutex;
  std::filesystem::path path;
  WriterOptions options;
  std::unique_ptr<Database> database;
  bool failed = false;
  bool in_transaction = false;
  int pending = 0;
  Clock::time_point batch_start;
  std::unordered_map<const char*, Id> last_ids;
  TextIds strings, locations, stacks;
  std::unordered_map<Id, CompileNodes> compiles;

  Id intern(std::string_view text) {
    if (text.empty()) return kNone;
    if (const auto found = strings.find(text); found != strings.end()) return found->second;
    const Id id = static_cast<Id>(strings.size()) + 1;
    Query query = database->query("INSERT INTO string (id, value) VALUES (?, ?)");
    query.bind(id).bind(text).run();
    strings.emplace(text, id);
    return id;
  }

  struct Interner {
    Impl* impl;
    Id operator()(std::string_view text) const { return impl->intern(text); }
  };
  RowBinder<Interner> binder{Interner{this}, options.compression};

  void check_usable() const {
    if (!database) throw_internal(fmt::format("the trace {} is used after it was closed", path.string()));
    if (failed) throw_runtime(fmt::format("{}: an earlier write failed", path.string()));
  }

  /// Runs `action` in the open transaction. The in-memory tables are ahead of the file after a failure, so the writer
  /// takes nothing more then.
  template <class F>
  auto write(F&& action) {
    check_usable();
    try {
      if (!in_transaction) {
        database->execute("BEGIN");
        in_transaction = true;
        batch_start = Clock::now();
      }
      return action();
    } catch (...) {
      failed = true;
      throw;
    }
  }

  void end_batch_if_due(int rows) {
    pending += rows;
    const bool due =
        pending >= options.batch_rows || Clock::now() - batch_start >= std::chrono::milliseconds(options.batch_ms);
    if (due) commit();
  }

  void commit() {
    check_usable();
    if (!in_transaction) return;
    write([&] { database->execute("COMMIT"); });
    in_transaction = false;
    pending = 0;
  }

  template <class R>
  void put(const R& record, Verb verb = Verb::Insert) {
    Query query = database->query(insert_sql<R>(verb));
    binder.bind(query, record);
    query.run();
    binder.clear();
  }

  template <class R>
  Id next_id() {
    return ++last_ids[Table<R>::name];
  }

  template <class R>
  Id put_new(const R& record) {
    R copy = record;
    copy.id = next_id<R>();
    put(copy);
    return copy.id;
  }

  // Events come by the hundred thousand: one statement, and one row whose strings keep their memory.
  Id put_events(std::span<const EventRecord> records) {
    Id& last = last_ids[Table<EventRecord>::name];
    const Id first = last + 1;
    Query query = database->query(insert_sql<EventRecord>(Verb::Insert));
    EventRecord row;
    for (const EventRecord& record : records) {
      row = record;
      row.id = ++last;
      binder.bind(query, row);
      query.run();
    }
    binder.clear();
    return first;
  }

  template <class R>
  Id add(const R& record) {
    std::lock_guard lock(mutex);
    const Id id = write([&] { return put_new(record); });
    end_batch_if_due(1);
    return id;
  }

  template <class R>
  void add_link(const R& record, Verb verb) {
    std::lock_guard lock(mutex);
    write([&] { put(record, verb); });
    end_batch_if_due(1);
  }

  template <class R>
  void update(const R& record) {
    std::lock_guard lock(mutex);
    check_usable();
    if (record.id <= 0 || record.id > last_ids[Table<R>::name]) {
      throw_internal(fmt::format("the trace has no {} with id {} to update", Table<R>::name, record.id));
    }
    write([&] { put(record, Verb::Replace); });
    end_batch_if_due(1);
  }

  void link_nodes(const char* table, Id compile, Id owner, std::span<const NodeId> nodes) {
    Query query =
        database->query(fmt::format("INSERT OR IGNORE INTO {0}_node (compile, node, {0}) VALUES (?, ?, ?)", table));
    for (const NodeId node : nodes) query.bind(compile).bind(node).bind(owner).run();
  }

  Id location(const SourceLocation& location) {
    const std::string key = fmt::format("{} {}:{} {}:{} {}", location.line, location.file.size(), location.file,
                                        location.function.size(), location.function, location.text);
    if (const auto found = locations.find(key); found != locations.end()) return found->second;
    LocationRow row;
    static_cast<SourceLocation&>(row) = location;
    const Id id = put_new(row);
    locations.emplace(key, id);
    return id;
  }

  Id stack(std::span<const SourceLocation> entries) {
    if (entries.empty()) return kNone;
    std::string key;
    for (const SourceLocation& entry : entries) put_signed(key, location(entry));
    if (const auto found = stacks.find(key); found != stacks.end()) return found->second;
    const Id id = static_cast<Id>(stacks.size()) + 1;
    Query query = database->query("INSERT INTO stack_frame (stack, depth, location) VALUES (?, ?, ?)");
    ByteReader ids(key);
    for (std::int64_t depth = 0; !ids.done(); ++depth) query.bind(id).bind(depth).bind(ids.signed_varint()).run();
    stacks.emplace(std::move(key), id);
    return id;
  }

  Id add_snapshot(const SnapshotRecord& record, std::span<const NodeRecord> nodes,
                  const std::span<const NodeId>* order);
  void store_plan(const SnapshotRow& row, const SnapshotPlan& plan);
  void close();
  bool truncate_log();
  void replace_by_copy();
  void discard_files();
};

Id Writer::Impl::add_snapshot(const SnapshotRecord& record, std::span<const NodeRecord> nodes,
                              const std::span<const NodeId>* order) {
  std::lock_guard lock(mutex);
  check_usable();
  const auto found = compiles.find(record.compile);
  if (found == compiles.end()) throw_internal(fmt::format("the trace has no compile {}", record.compile));
  CompileNodes& state = found->second;
  const bool graph = record.kind == SnapshotKind::Graph;
  if (!graph && (!nodes.empty() || order)) throw_internal("a text snapshot has no nodes");

  SnapshotRow row;
  static_cast<SnapshotRecord&>(row) = record;
  row.id = last_ids[Table<SnapshotRow>::name] + 1;
  SnapshotPlan plan;
  if (graph) {
    plan = state.advance(row.id, nodes, order, last_ids[Table<NodeRow>::name], options.keyframe_interval);
  }
  next_id<SnapshotRow>();
  row.stage = state.unique_stage(record.stage);
  row.ordinal = state.next_ordinal();
  row.node_count = plan.node_count;
  row.added = plan.added;
  row.removed = plan.removed;
  row.changed = plan.changed;
  row.base = plan.base;
  row.order = std::move(plan.order);
  write([&] { store_plan(row, plan); });
  end_batch_if_due(static_cast<int>(plan.rows.size()) + 1);
  return row.id;
}

void Writer::Impl::store_plan(const SnapshotRow& row, const SnapshotPlan& plan) {
  put(row);
  // One row for all, so that its strings keep their memory.
  NodeRow node_row;
  for (const auto& [node, version] : plan.rows) {
    static_cast<NodeRecord&>(node_row) = *node;
    node_row.version = version;
    node_row.compile = row.compile;
    node_row.snapshot = row.id;
    put(node_row);
  }
  Query end = database->query("INSERT OR REPLACE INTO node_end (compile, node, snapshot) VALUES (?, ?, ?)");
  for (const NodeId node : plan.ended) end.bind(row.compile).bind(node).bind(plan.previous).run();
  Query revive = database->query("DELETE FROM node_end WHERE compile = ? AND node = ?");
  for (const NodeId node : plan.revived) revive.bind(row.compile).bind(node).run();
}

bool Writer::Impl::truncate_log() {
  Query query = database->query("PRAGMA wal_checkpoint(TRUNCATE)");
  return query.step() && query.integer(0) == 0;
}

// A connected reader keeps SQLite from leaving WAL mode. A complete copy then takes the name; the reader sees that
// the file is another one and opens it. The old log must be empty before, or it would be applied to the new file.
void Writer::Impl::replace_by_copy() {
  const std::filesystem::path copy = side_file(path, ".closing");
  std::error_code ignored;
  std::filesystem::remove(copy, ignored);
  {
    Query query = database->query("VACUUM INTO ?");
    query.bind(std::string_view(copy.native())).run();
  }
  const bool empty_log = truncate_log();
  database->close();
  if (!empty_log || std::rename(copy.c_str(), path.c_str()) != 0) {
    std::filesystem::remove(copy, ignored);
    return;
  }
  remove_side_files(path);
}

void Writer::Impl::close() {
  if (!database) return;
  if (!failed) {
    write([&] {
      Query query = database->query("INSERT OR REPLACE INTO property (key, value) VALUES ('trace.complete', 'yes')");
      query.run();
    });
    commit();
    truncate_log();
    database->busy_timeout(100);
    database->release_statements();
    if (database->attempt("PRAGMA journal_mode = DELETE") != SQLITE_OK ||
        database->text("PRAGMA journal_mode") != "delete") {
      database->busy_timeout(5000);
      replace_by_copy();
    }
  }
  database.reset();
}

void Writer::Impl::discard_files() {
  database.reset();
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  remove_side_files(path);
}

Writer::Writer(const std::filesystem::path& path, const WriterOptions& options)
    : impl_(std::make_unique<Impl>(path, options)) {}

Writer::~Writer() {
  try {
    close();
  } catch (...) {
    // Nobody is left to tell; what was committed is in the file.
  }
}

const std::filesystem::path& Writer::path() const { return impl_->path; }

void Writer::set_property(std::string_view key, std::string_view value) {
  std::lock_guard lock(impl_->mutex);
  impl_->write([&] {
    Query query = impl_->database->query("INSERT OR REPLACE INTO property (key, value) VALUES (?, ?)");
    query.bind(key).bind(value).run();
  });
  impl_->end_batch_if_due(1);
}

Id Writer::add(const ProcessRecord& record) { return impl_->add(record); }
Id Writer::add(const SourceFileRecord& record) { return impl_->add(record); }
Id Writer::add(const FrameRecord& record) { return impl_->add(record); }
Id Writer::add(const PassRecord& record) { return impl_->add(record); }
Id Writer::add(const GuardRecord& record) { return impl_->add(record); }
Id Writer::add(const GraphBreakRecord& record) { return impl_->add(record); }
Id Writer::add(const SymbolRecord& record) { return impl_->add(record); }
Id Writer::add(const AssumptionRecord& record) { return impl_->add(record); }
Id Writer::add(const FusionRecord& record) { return impl_->add(record); }
Id Writer::add(const BufferRecord& record) { return impl_->add(record); }
Id Writer::add(const LaunchRecord& record) { return impl_->add(record); }
Id Writer::add(const RunRecord& record) { return impl_->add(record); }
Id Writer::add(const EventRecord& record) { return impl_->add(record); }
Id Writer::add(const MetricRecord& record) { return impl_->add(record); }
Id Writer::add(const RawRecord& record) { return impl_->add(record); }
Id Writer::add(const InputRecord& record) { return impl_->add(record); }
Id Writer::add(const ProgramRecord& record) { return impl_->add(record); }
Id Writer::add(const RecompileRecord& record) { return impl_->add(record); }
Id Writer::add(const DiagnosticRecord& record) { return impl_->add(record); }
Id Writer::add(const TrackRecord& record) { return impl_->add(record); }
Id Writer::add(const FlowRecord& record) { return impl_->add(record); }
void Writer::add(const OriginRecord& record) { impl_->add_link(record, Verb::Ignore); }
void Writer::add(const RemovalRecord& record) { impl_->add_link(record, Verb::Replace); }

Id Writer::add(const CompileRecord& record) {
  const Id id = impl_->add(record);
  std::lock_guard lock(impl_->mutex);
  impl_->compiles[id];
  return id;
}

Id Writer::add(const ArtifactRecord& record) {
  ArtifactRecord sized = record;
  sized.size = static_cast<std::int64_t>(record.content.size());
  return impl_->add(sized);
}

Id Writer::add(const ArtifactRecord& record, const PackedContent& content) {
  ArtifactRecord sized = record;
  sized.content.clear();
  sized.size = content.size;
  std::lock_guard lock(impl_->mutex);
  impl_->binder.set_packed(&content.frame);
  const Id id = impl_->write([&] { return impl_->put_new(sized); });
  impl_->binder.set_packed(nullptr);
  impl_->end_batch_if_due(1);
  return id;
}

PackedContent pack_content(std::string_view content, int level) {
  return {static_cast<std::int64_t>(content.size()), compress(content, level)};
}

Id Writer::add(const KernelRecord& record) {
  std::lock_guard lock(impl_->mutex);
  const Id id = impl_->write([&] {
    const Id kernel = impl_->put_new(record);
    impl_->link_nodes("kernel", record.compile, kernel, record.nodes);
    return kernel;
  });
  impl_->end_batch_if_due(1);
  return id;
}

Id Writer::add(const RewriteRecord& record) {
  std::lock_guard lock(impl_->mutex);
  const Id id = impl_->write([&] {
    const Id rewrite = impl_->put_new(record);
    impl_->link_nodes("rewrite", record.compile, rewrite, record.before);
    impl_->link_nodes("rewrite", record.compile, rewrite, record.after);
    return rewrite;
  });
  impl_->end_batch_if_due(1);
  return id;
}

Id Writer::add(std::span<const EventRecord> records) {
  if (records.empty()) return kNone;
  std::lock_guard lock(impl_->mutex);
  const Id first = impl_->write([&] { return impl_->put_events(records); });
  impl_->end_batch_if_due(static_cast<int>(records.size()));
  return first;
}

void Writer::add(std::span<const OriginRecord> records) {
  std::lock_guard lock(impl_->mutex);
  impl_->write([&] {
    for (const OriginRecord& record : records) impl_->put(record, Verb::Ignore);
  });
  impl_->end_batch_if_due(static_cast<int>(records.size()));
}

void Writer::update(const ProcessRecord& record) { impl_->update(record); }
void Writer::update(const CompileRecord& record) { impl_->update(record); }
void Writer::update(const PassRecord& record) { impl_->update(record); }
void Writer::update(const GuardRecord& record) { impl_->update(record); }
void Writer::update(const RunRecord& record) { impl_->update(record); }
void Writer::update(const GraphBreakRecord& record) { impl_->update(record); }
void Writer::update(const InputRecord& record) { impl_->update(record); }
void Writer::update(const ProgramRecord& record) { impl_->update(record); }
void Writer::update(const TrackRecord& record) { impl_->update(record); }

void Writer::assign(std::span<const EventMatch> matches) {
  std::lock_guard lock(impl_->mutex);
  impl_->write([&] {
    Query query = impl_->database->query(
        "UPDATE event SET compile = ?, program = ?, kernel = ?, launch = ?, match = ? WHERE id = ?");
    for (const EventMatch& m : matches) {
      query.bind(m.compile).bind(m.program).bind(m.kernel).bind(m.launch);
      query.bind(static_cast<std::int64_t>(m.match)).bind(m.event).run();
    }
  });
  impl_->end_batch_if_due(static_cast<int>(matches.size()));
}

void Writer::shift_events(Id run, std::int64_t ns, std::string_view clock) {
  std::lock_guard lock(impl_->mutex);
  impl_->write([&] {
    const Id text = impl_->intern(clock);
    Query query = impl_->database->query("UPDATE event SET start_ns = start_ns + ?, clock = ? WHERE run = ?");
    query.bind(ns).bind(text).bind(run).run();
  });
  impl_->end_batch_if_due(1);
}

Id Writer::stack(std::span<const SourceLocation> locations) {
  std::lock_guard lock(impl_->mutex);
  const Id id = impl_->write([&] { return impl_->stack(locations); });
  impl_->end_batch_if_due(1);
  return id;
}

Id Writer::add(const SnapshotRecord& record, std::span<const NodeRecord> nodes) {
  return impl_->add_snapshot(record, nodes, nullptr);
}

Id Writer::add_delta(const SnapshotRecord& record, std::span<const NodeRecord> nodes, std::span<const NodeId> order) {
  return impl_->add_snapshot(record, nodes, &order);
}

void Writer::commit() {
  std::lock_guard lock(impl_->mutex);
  impl_->commit();
}

void Writer::close() {
  std::lock_guard lock(impl_->mutex);
  impl_->close();
}

void Writer::discard() {
  std::lock_guard lock(impl_->mutex);
  impl_->discard_files();
}

}  // namespace strata::trace
