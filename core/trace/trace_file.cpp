// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/trace/trace_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/support/error.h"
#include "core/trace/migrate.h"
#include "core/trace/schema.h"

namespace strata::trace {
namespace {

constexpr int kBusyMs = 3000;

void check_is_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw_user(fmt::format("there is no trace {}", path.string()), "check the path");
  }
  if (error) throw_user(fmt::format("cannot open {}: {}", path.string(), error.message()));
  if (std::filesystem::is_directory(status)) {
    throw_user(fmt::format("{} is a folder; expected a trace file", path.string()), "name the .strata file in it");
  }
  if (status.type() != std::filesystem::file_type::regular) {
    throw_user(fmt::format("{} is not a regular file; expected a trace file", path.string()));
  }
  if (access(path.c_str(), R_OK) != 0) {
    throw_user(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)), "check its rights");
  }
  if (std::filesystem::file_size(path, error) == 0 && !error) {
    throw_user(fmt::format("{} is empty; expected a strata trace", path.string()), "record it again");
  }
}

bool has_content(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return !error && size > 0;
}

struct stat stat_or_zero(const std::filesystem::path& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) info = {};
  return info;
}

// Changes when another file takes the name.
std::string file_identity(const std::filesystem::path& path) {
  const struct stat info = stat_or_zero(path);
  return fmt::format("{}:{}", info.st_dev, info.st_ino);
}

// Changes whenever something is written.
std::string file_content(const std::filesystem::path& path) {
  std::string result = file_identity(path);
  for (const char* suffix : {"", "-wal"}) {
    const struct stat info = stat_or_zero(side_file(path, suffix));
    result += fmt::format(";{}:{}.{}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  }
  return result;
}

// Reading touches the schema, the log and its index, so this finds out whether the connection works at all.
int first_read(Database& database) { return database.attempt("SELECT count(*) FROM sqlite_schema"); }

}  // namespace

TraceFile::TraceFile(const std::filesystem::path& path) : path_(fixed_path(path)) {
  try {
    open();
  } catch (...) {
    remove_copy();
    throw;
  }
}

TraceFile::~TraceFile() {
  database_.reset();
  remove_copy();
}

void TraceFile::remove_copy() {
  std::error_code ignored;
  if (!copy_folder_.empty()) std::filesystem::remove_all(copy_folder_, ignored);
  copy_folder_.clear();
}

void TraceFile::open() {
  check_is_file(path_);
  const std::string identity = file_identity(path_);
  const std::string content = file_content(path_);
  detached_ = false;
  if (!open_directly()) open_copy();
  version_ = check_format(*database_);
  check_is_whole();
  if (version_ < kSchemaVersion) open_migrated();
  // Taken before the file was read: what is written in between counts as new.
  signature_ = detached_ ? content : identity;
  database_->bound_work();
  data_version_ = database_->integer("PRAGMA data_version");
}

// SQLite takes a last page that is cut for one that ends in zeros. With a log the main file may well be shorter.
void TraceFile::check_is_whole() {
  const std::int64_t expected = database_->integer("PRAGMA page_count") * database_->integer("PRAGMA page_size");
  if (has_content(side_file(path_, "-wal"))) return;
  const std::int64_t found = stat_or_zero(path_).st_size;
  if (found < expected) throw_corrupt(path_, fmt::format("it has {} bytes of {}", found, expected));
}

bool TraceFile::open_directly() {
  database_ = std::make_unique<Database>(path_, Database::Mode::ReadOnly, path_);
  database_->busy_timeout(kBusyMs);
  const int code = first_read(*database_);
  if (code == SQLITE_OK) return true;
  // These mean that a log cannot be used where the folder is not writable, or that a journal must be rolled back.
  const int primary = code & 0xff;
  if (primary != SQLITE_CANTOPEN && primary != SQLITE_READONLY) database_->fail(code);
  if (has_content(side_file(path_, "-wal")) || has_content(side_file(path_, "-journal"))) return false;
  database_ = std::make_unique<Database>(path_, Database::Mode::Immutable, path_);
  const int again = first_read(*database_);
  if (again != SQLITE_OK) database_->fail(again);
  detached_ = true;
  return true;
}

void TraceFile::open_copy() {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "strata-trace-XXXXXX").string();
  if (error || !mkdtemp(pattern.data())) {
    throw_runtime(fmt::format("{}: cannot be read in place, and there is no temporary folder to copy it to: {}",
                              path_.string(), std::strerror(errno)),
                  "set TMPDIR to a folder that can be written");
  }
  copy_folder_ = pattern;
  const auto copy = copy_folder_ / "copy.strata";
  for (const char* suffix : {"", "-wal", "-journal"}) {
    const auto from = side_file(path_, suffix);
    if (*suffix && !has_content(from)) continue;
    if (!std::filesystem::copy_file(from, side_file(copy, suffix), error)) {
      throw_runtime(fmt::format("{}: cannot be copied to the temporary folder: {}", path_.string(), error.message()));
    }
    std::filesystem::permissions(side_file(copy, suffix), std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add, error);
  }
  database_ = std::make_unique<Database>(copy, Database::Mode::ReadWrite, path_);
  detached_ = true;
  const int code = first_read(*database_);
  if (code != SQLITE_OK) database_->fail(code);
}

void TraceFile::open_migrated() {
  auto current = std::make_unique<Database>(path_, Database::Mode::Temporary, path_);
  current->copy_from(*database_);
  migrate(*current, version_);
  database_ = std::move(current);
  detached_ = true;
}

bool TraceFile::changed() {
  const std::string now = detached_ ? file_content(path_) : file_identity(path_);
  if (now != signature_) {
    TraceFile fresh(path_);
    std::swap(copy_folder_, fresh.copy_folder_);
    std::swap(database_, fresh.database_);
    std::swap(detached_, fresh.detached_);
    std::swap(version_, fresh.version_);
    std::swap(signature_, fresh.signature_);
    std::swap(data_version_, fresh.data_version_);
    return true;
  }
  const std::int64_t version = detached_ ? data_version_ : database_->integer("PRAGMA data_version");
  if (version == data_version_) return false;
  data_version_ = version;
  return true;
}

}  // namespace strata::trace
