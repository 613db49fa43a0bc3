// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/trace/database.h"

namespace strata::trace {

/// A trace opened for reading in whatever state it is: closed, being written, left by a killed process, in a folder
/// that cannot be written, of an older version. Errors are those of `Reader`.
class TraceFile {
 public:
  explicit TraceFile(const std::filesystem::path& path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  Database& database() { return *database_; }
  int version() const { return version_; }
  /// What is open is a copy, or was opened as if nobody wrote: it does not follow the file.
  bool detached() const { return detached_; }
  /// Which file was opened: another one of the same name differs.
  const std::string& signature() const { return signature_; }
  /// Whether there is something new since the last call; opens the file again where that is needed to see it.
  bool changed();

 private:
  void open();
  void check_is_whole();
  bool open_directly();
  void open_copy();
  void open_migrated();
  void remove_copy();

  std::filesystem::path path_;
  std::filesystem::path copy_folder_;  ///< private copy of the files; empty when there is none
  std::unique_ptr<Database> database_;
  bool detached_ = false;  ///< what is open does not follow the file
  int version_ = 0;
  std::int64_t data_version_ = 0;
  std::string signature_;
};

}  // namespace strata::trace
