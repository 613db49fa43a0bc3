// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/trace/database.h"

#include <fmt/format.h>

#include <utility>

#include "core/support/error.h"
#include "core/trace/interrupt.h"

namespace strata::trace {
namespace {

constexpr int kMaxValueBytes = 512 << 20;
constexpr int kProgressOps = 10000;

std::string file_uri(const std::filesystem::path& path, const char* parameters) {
  std::string uri = "file:";
  for (const unsigned char c : fixed_path(path).string()) {
    const bool plain = std::isalnum(c) || c == '/' || c == '.' || c == '_' || c == '-';
    uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return uri + parameters;
}

int open_flags(Database::Mode mode) {
  switch (mode) {
    case Database::Mode::ReadWriteCreate:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Database::Mode::ReadWrite:
      return SQLITE_OPEN_READWRITE;
    case Database::Mode::Temporary:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    default:
      return SQLITE_OPEN_READONLY;
  }
}

std::int64_t size_or_zero(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

// A trace may come from anywhere: nothing in its schema may run code of its own.
void harden(sqlite3* handle) {
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
}

}  // namespace

void throw_corrupt(const std::filesystem::path& path, const std::string& what) {
  throw_user(fmt::format("{}: the trace is damaged: {}", path.string(), what),
             "copy the file again or record it again");
}

std::filesystem::path fixed_path(const std::filesystem::path& path) {
  if (path.empty()) throw_user("the name of the trace is empty", "give a file name such as out.strata");
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  if (error) throw_user(fmt::format("cannot find {}: {}", path.string(), error.message()));
  return absolute;
}

std::filesystem::path side_file(const std::filesystem::path& path, const char* suffix) {
  std::filesystem::path side = path;
  side += suffix;
  return side;
}

void remove_side_files(const std::filesystem::path& path) {
  std::error_code ignored;
  for (const char* suffix : {"-wal", "-shm", "-journal"}) std::filesystem::remove(side_file(path, suffix), ignored);
}

Query::Query(Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {
  if (interrupted()) throw Interrupted();
  // Nested queries count together with the one that they serve.
  if (database_->active_++ == 0) database_->work_ = 0;
}

Query::~Query() {
  --database_->active_;
  reset();
}

void Query::check(int code) {
  if (code != SQLITE_OK) database_->fail(code);
}

Query& Query::bind(std::int64_t value) {
  check(sqlite3_bind_int64(statement_, next_++, value));
  return *this;
}

Query& Query::bind(double value) {
  check(sqlite3_bind_double(statement_, next_++, value));
  return *this;
}

Query& Query::bind_null() {
  check(sqlite3_bind_null(statement_, next_++));
  return *this;
}

Query& Query::bind(std::string_view text) {
  // A null pointer would bind NULL, and an empty string_view may hold one.
  const char* data = text.data() ? text.data() : "";
  check(sqlite3_bind_text64(statement_, next_++, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Query& Query::bind_blob(std::string_view bytes) {
  const char* data = bytes.data() ? bytes.data() : "";
  check(sqlite3_bind_blob64(statement_, next_++, data, bytes.size(), SQLITE_STATIC));
  return *this;
}

bool Query::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  database_->fail(code);
}

void Query::run() {
  step();
  reset();
}

void Query::reset() {
  sqlite3_reset(statement_);
  next_ = 1;
}

std::string_view Query::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (!data) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view Query::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  if (!data) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Database::Database(const std::filesystem::path& path, Mode mode, const std::filesystem::path& shown)
    : path_(path), shown_(shown), writing_(mode == Mode::ReadWriteCreate) {
  std::string name;
  if (mode == Mode::Immutable) {
    name = file_uri(path, "?immutable=1");
  } else if (mode != Mode::Temporary) {
    name = file_uri(path, "");
  }
  const int code =
      sqlite3_open_v2(name.c_str(), &handle_, open_flags(mode) | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) {
    const std::string reason = handle_ ? sqlite3_errmsg(handle_) : "out of memory";
    sqlite3_close_v2(handle_);
    if (code == SQLITE_NOMEM) throw_runtime(fmt::format("{}: out of memory", shown_.string()));
    throw_user(fmt::format("cannot open {}: {}", shown_.string(), reason),
               "check that the folder exists and its rights");
  }
  sqlite3_extended_result_codes(handle_, 1);
  harden(handle_);
}

Database::~Database() { close(); }

void Database::close() {
  release_statements();
  sqlite3_close_v2(std::exchange(handle_, nullptr));
}

void Database::release_statements() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  statements_.clear();
}

void Database::execute(const std::string& sql) {
  const int code = attempt(sql);
  if (code != SQLITE_OK) fail(code);
}

int Database::attempt(const std::string& sql) {
  if (active_ == 0) work_ = 0;
  return sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
}

sqlite3_stmt* Database::prepare(const std::string& sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.c_str(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &statement, nullptr);
  if (code != SQLITE_OK) fail(code);
  statements_.emplace(sql, statement);
  return statement;
}

Query Database::query(const std::string& sql) { return Query(*this, prepare(sql)); }

std::int64_t Database::integer(const std::string& sql) {
  Query row = query(sql);
  return row.step() ? row.integer(0) : 0;
}

std::string Database::text(const std::string& sql) {
  Query row = query(sql);
  return row.step() ? std::string(row.text(0)) : std::string();
}

void Database::copy_from(Database& source) {
  sqlite3_backup* backup = sqlite3_backup_init(handle_, "main", source.handle_, "main");
  if (!backup) fail(sqlite3_errcode(handle_));
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Database::file_bytes() const { return size_or_zero(path_) + size_or_zero(side_file(path_, "-wal")); }

void Database::bound_work() { sqlite3_progress_handler(handle_, kProgressOps, &Database::progress, this); }

int Database::progress(void* self) {
  auto& database = *static_cast<Database*>(self);
  if (interrupted()) return 1;
  database.work_ += kProgressOps;
  if (database.work_ <= database.work_limit_) return 0;
  // The file may have grown since the limit was set, so look again before giving up. An honest query costs about one
  // operation for four bytes.
  database.work_limit_ = 500'000 + 8 * database.file_bytes();
  return database.work_ > database.work_limit_;
}

void Database::busy_timeout(int milliseconds) { sqlite3_busy_timeout(handle_, milliseconds); }

void Database::fail(int code) {
  if ((code & 0xff) == SQLITE_INTERRUPT && interrupted()) throw Interrupted();
  const std::string reason = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  const std::string file = shown_.string();
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      throw_user(fmt::format("{} is not a strata trace", file),
                 "expected a file written by `strata ... -o NAME.strata`");
    case SQLITE_NOMEM:
      throw_runtime(fmt::format("{}: out of memory", file));
    case SQLITE_FULL:
      throw_runtime(fmt::format("{}: the disk is full", file), "free some space and run again");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw_runtime(fmt::format("{}: another process holds the trace locked", file), "try again");
    case SQLITE_IOERR:
    case SQLITE_PROTOCOL:
      throw_runtime(fmt::format("{}: input or output failed: {}", file, reason));
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      throw_user(fmt::format("{}: cannot be accessed: {}", file, reason),
                 "check the rights of the file and its folder");
    default:
      if (writing_) throw_internal(fmt::format("{}: {}", file, reason));
      throw_corrupt(shown_, (code & 0xff) == SQLITE_INTERRUPT ? "its pages point in circles" : reason);
  }
}

}  // namespace strata::trace
