// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A thin layer over SQLite for the writer and the reader: statements that are prepared once, typed bind and read,
/// and errors as `strata::Error`. Not thread-safe; the owner holds a mutex.

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace strata::trace {

/// A statement in use. It is reset when this goes out of scope, so no read transaction outlives the call.
class Query {
 public:
  Query(class Database& database, sqlite3_stmt* statement);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  /// Parameters in order, the first at once, then the next.
  Query& bind(std::int64_t value);
  Query& bind(double value);
  Query& bind_null();
  /// The bytes must live until the statement has been stepped.
  Query& bind(std::string_view text);
  Query& bind_blob(std::string_view bytes);

  /// Whether there is a row. Throws on any failure.
  bool step();
  /// For statements without rows; resets, so that the same Query can be bound again.
  void run();
  /// Back to the first parameter.
  void reset();

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  bool null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  /// Valid until the next step.
  std::string_view text(int column) const;
  std::string_view blob(int column) const;

 private:
  void check(int code);
  Database* database_;
  sqlite3_stmt* statement_;
  int next_ = 1;
};

class Database {
 public:
  enum class Mode { ReadWriteCreate, ReadWrite, ReadOnly, Immutable, Temporary };

  /// Opens `path` (unused for Temporary: a private database that is deleted with the connection). Errors name `shown`.
  Database(const std::filesystem::path& path, Mode mode, const std::filesystem::path& shown);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs one or more statements without parameters.
  void execute(const std::string& sql);
  /// A cached statement, ready to be bound. Never ask for the same text again while a Query on it is alive.
  Query query(const std::string& sql);
  /// First column of the first row; 0 or empty if there is no row.
  std::int64_t integer(const std::string& sql);
  std::string text(const std::string& sql);
  /// The SQLite result code of running `sql` once, for callers that treat some failures as a choice.
  int attempt(const std::string& sql);

  /// Copies the whole content of `source` over this database.
  void copy_from(Database& source);
  /// Stops a statement that does far more work than the file's size explains (pages that point in circles).
  void bound_work();
  void busy_timeout(int milliseconds);
  /// Drops the cached statements.
  void release_statements();
  /// Closes the connection; errors are ignored.
  void close();

  /// Bytes in the file and its write-ahead log; an upper bound on how many records it can hold.
  std::int64_t file_bytes() const;
  [[noreturn]] void fail(int code);
  const std::filesystem::path& shown() const { return shown_; }

 private:
  friend class Query;
  static int progress(void* self);
  sqlite3_stmt* prepare(const std::string& sql);

  std::filesystem::path path_, shown_;
  sqlite3* handle_ = nullptr;
  bool writing_ = false;
  std::int64_t work_ = 0, work_limit_ = 0;
  int active_ = 0;  ///< queries alive
  std::unordered_map<std::string, sqlite3_stmt*> statements_;
};

/// Throws the User error for a file whose content contradicts the format. `what` says which part.
[[noreturn]] void throw_corrupt(const std::filesystem::path& path, const std::string& what);

/// `path` made absolute, so that it stays the same file when the process changes its folder. User error when empty.
std::filesystem::path fixed_path(const std::filesystem::path& path);

/// `path` + suffix (`-wal`, `-shm`, `-journal`).
std::filesystem::path side_file(const std::filesystem::path& path, const char* suffix);
/// Removes the three side files; missing ones are no error.
void remove_side_files(const std::filesystem::path& path);

}  // namespace strata::trace
