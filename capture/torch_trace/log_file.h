// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A TORCH_TRACE log: an index of its records over the mapped (or decompressed) file.
///
/// A log is damaged in many ways in real life; whatever is sound is given, the rest is a problem with its line. Opening
/// throws a user Error only when the file cannot be read at all. Everything refers into memory that the LogFile owns.
///
/// How lines become records: a line that begins with a TAB is payload of the record that is open, an empty line is
/// nothing, a line with the prefix of a log line and a JSON object opens a record, anything else is garbage. A record
/// is closed by the next head line only. When most head lines end in CR LF, the CR is dropped everywhere.
/// Records of several processes may be torn apart in one file: where a payload's hash does not match, lines at the ends
/// of following records are moved to it if then all their hashes match.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/torch_trace/json_slice.h"
#include "capture/torch_trace/log_line.h"
#include "core/support/file.h"

namespace strata::capture {

struct LogLimits {
  std::size_t envelope = std::size_t{64} << 20;  ///< bytes of a head line
  std::size_t payload =
      std::size_t{256} << 20;                   ///< bytes of a payload that is looked into; larger ones are as if empty
  std::size_t unpacked = std::size_t{8} << 30;  ///< bytes that a gzip file may become
  std::size_t strings = 1'000'000;              ///< entries of the tables of file names
};

enum class HashState : std::uint8_t { None, Matches, Differs };

struct LogRecord {
  LogHead head;
  std::int64_t line = 0;                                  ///< of the head, from 1
  std::uint64_t offset = 0;                               ///< of the head, in bytes (of the decompressed file)
  std::string key;                                        ///< what it is; empty when the object has no such key
  JsonSlice metadata;                                     ///< the value of `key`
  std::vector<std::pair<std::string, JsonSlice>> others;  ///< members that are neither `key` nor context
  std::optional<std::int64_t> rank, frame, compile, attempt;
  std::string autograd;  ///< compiled_autograd_id; empty: none
  std::string subgraph;
  JsonSlice stack;        ///< where a record without compile was written
  std::string_view hash;  ///< has_payload; empty: none
  HashState hash_state = HashState::None;
  bool has_payload_lines = false;
  std::string_view payload;             ///< the lines, as they are in the file: LogFile::payload decodes
  std::vector<std::string_view> moved;  ///< more of them, found within other records

  bool has_compile_id() const { return frame || compile || !autograd.empty(); }
  /// `0/1`, `!2/0/1`, `!2`; empty without one. Without the attempt.
  std::string compile_id() const;
};

struct LogProblems {
  struct Place {
    std::int64_t line = 0;
    std::string message;
  };
  std::int64_t count = 0;
  std::vector<Place> places;  ///< the first hundred
};

class LogFile {
 public:
  /// `threads`: how many check envelopes and hashes; 0: as many as the machine has.
  static LogFile open(const std::filesystem::path& path, const LogLimits& limits = {}, int threads = 0);
  /// `bytes`: a log or a gzip file of one. `name`: a file name, for its rank; may be empty.
  static LogFile read(Bytes bytes, std::string_view name, const LogLimits& limits = {}, int threads = 0);

  const std::vector<LogRecord>& records() const { return records_; }
  /// The payload as it was before each line got its TAB.
  std::string payload(const LogRecord& record) const;
  /// By kind: `bad_prefix`, `bad_json`, `too_large`, `orphan_payload`, `hash_mismatch`, `truncated`, `gzip`,
  /// `missing_string`, `bad_string`.
  const std::map<std::string, LogProblems>& problems() const { return problems_; }

  /// The file name that a frame of this record refers to; `<file #17>` for an id that nothing defines (which becomes a
  /// problem). -1: none.
  std::string file_name(const LogRecord& record, std::int64_t id);

  /// -1: not known. Of the records of this process, or of the name of the file.
  std::int64_t rank(std::int64_t ident) const;
  /// In order of appearance.
  const std::vector<std::int64_t>& idents() const { return idents_; }
  bool crlf() const { return crlf_; }
  bool compressed() const { return compressed_; }
  std::int64_t lines() const { return lines_; }
  std::uint64_t bytes() const { return text_.size(); }
  std::int64_t repaired() const { return repaired_; }  ///< records that were put together again

 private:
  void index();
  void parse_all(int threads);
  void drop_broken();
  void repair();
  bool repair(std::size_t torn);
  void judge_hashes();
  void collect_tables();
  bool parse_envelope(LogRecord& record) const;
  void check_hash(LogRecord& record) const;
  void problem(const char* kind, std::int64_t line, std::string message);

  Bytes bytes_;
  std::string_view text_;
  LogLimits limits_;
  std::vector<LogRecord> records_;
  std::map<std::string, LogProblems> problems_;
  std::vector<std::int64_t> idents_;
  std::unordered_map<std::int64_t, std::int64_t> ranks_;
  std::unordered_map<std::int64_t, std::unordered_map<std::int64_t, std::string>> strings_;
  std::unordered_map<std::int64_t, std::string> latest_strings_;
  std::map<std::pair<std::int64_t, std::int64_t>, bool> missing_;
  std::int64_t file_rank_ = -1, lines_ = 0, repaired_ = 0;
  bool crlf_ = false, compressed_ = false, open_end_ = false;
};

/// Whether the beginning of a file (a few KB; gzip is looked into) has a record of TORCH_TRACE in it.
bool looks_like_torch_trace(std::string_view beginning);

/// The rank in `dedicated_log_torch_trace_rank_3_abcdefgh.log`; -1 without one.
std::int64_t rank_of_file_name(std::string_view name);

}  // namespace strata::capture
