// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_trace/log_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>

#include "capture/torch_trace/gunzip.h"
#include "capture/torch_trace/md5.h"
#include "capture/torch_trace/workers.h"

namespace strata::capture {
namespace {

constexpr std::size_t kPlaces = 100;
// How many records after a torn one may hold its rest.
constexpr std::size_t kRepairReach = 16;
constexpr std::size_t kRepairBytes = std::size_t{64} << 20;
// Processes that are listed; a file with more of them is damaged.
constexpr std::size_t kIdents = 10000;
// Places in a head line at which its JSON may begin.
constexpr int kJsonTries = 8;

// Reserved names of context that nothing is made of.
constexpr std::array<std::string_view, 4> kIgnored{"severity", "timestamp", "pathname", "thread"};

std::string_view without_cr(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// The next line from `rest`, without its LF.
std::string_view take_line(std::string_view& rest) {
  const char* end = static_cast<const char*>(std::memchr(rest.data(), '\n', rest.size()));
  const std::size_t size = end ? static_cast<std::size_t>(end - rest.data()) : rest.size();
  const std::string_view line = rest.substr(0, size);
  rest.remove_prefix(std::min(rest.size(), size + 1));
  return line;
}

// Appends the payload lines in `slice`; other lines (empty, garbage) are no part of it.
void decode_payload(std::string_view slice, bool crlf, bool& first, std::string& out) {
  while (!slice.empty()) {
    std::string_view line = take_line(slice);
    if (line.empty() || line[0] != '\t') continue;
    if (crlf) line = without_cr(line);
    if (!first) out += '\n';
    first = false;
    out.append(line.substr(1));
  }
}

std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 60)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text.size() > 60 ? out + "..." : out;
}

HashState compare(const Md5Digest& digest, std::string_view hex) {
  const auto expected = parse_md5(hex);
  return expected && *expected == digest ? HashState::Matches : HashState::Differs;
}

}  // namespace

std::string LogRecord::compile_id() const {
  if (!has_compile_id()) return {};
  std::string id = autograd.empty() ? "" : "!" + autograd;
  if (!frame && !compile) return id;
  return fmt::format("{}{}{}/{}", id, id.empty() ? "" : "/", frame.value_or(0), compile.value_or(0));
}

std::int64_t rank_of_file_name(std::string_view name) {
  const std::size_t at = name.rfind("rank_");
  if (at == std::string_view::npos) return -1;
  std::size_t end = at + 5;
  std::int64_t rank = 0;
  while (end < name.size() && name[end] >= '0' && name[end] <= '9' && end < at + 14)
    rank = rank * 10 + name[end++] - '0';
  return end > at + 5 && end < name.size() && (name[end] == '_' || name[end] == '.') ? rank : -1;
}

bool looks_like_torch_trace(std::string_view beginning) {
  Gunzipped unpacked;
  if (is_gzip(beginning)) {
    unpacked = gunzip(beginning, std::size_t{1} << 20);
    beginning = unpacked.bytes.text();
  }
  while (!beginning.empty()) {
    if (parse_log_head(take_line(beginning))) return true;
  }
  return false;
}

LogFile LogFile::open(const std::filesystem::path& path, const LogLimits& limits, int threads) {
  return read(map_file(path), path.filename().string(), limits, threads);
}

LogFile LogFile::read(Bytes bytes, std::string_view name, const LogLimits& limits, int threads) {
  LogFile file;
  file.limits_ = limits;
  file.file_rank_ = rank_of_file_name(name);
  std::string fault;
  if (is_gzip(bytes.text())) {
    Gunzipped unpacked = gunzip(bytes.text(), limits.unpacked);
    bytes = std::move(unpacked.bytes);
    fault = std::move(unpacked.problem);
    file.compressed_ = true;
  }
  file.bytes_ = std::move(bytes);
  file.text_ = file.bytes_.text();
  file.index();
  if (!fault.empty()) {
    file.open_end_ = true;
    file.problem("gzip", file.lines_, fault + "; what came before is used");
  }
  file.parse_all(worker_count(threads));
  file.drop_broken();
  file.repair();
  file.judge_hashes();
  file.collect_tables();
  return file;
}

void LogFile::problem(const char* kind, std::int64_t line, std::string message) {
  LogProblems& problems = problems_[kind];
  ++problems.count;
  if (problems.places.size() < kPlaces) problems.places.push_back({line, std::move(message)});
}

// One pass over the lines: where records begin, and what belongs to none.
void LogFile::index() {
  std::string_view rest = text_;
  std::int64_t with_cr = 0;
  bool orphans = false;
  const auto close = [&](const char* end) {
    if (records_.empty()) return;
    LogRecord& open = records_.back();
    if (open.payload.data()) open.payload = {open.payload.data(), static_cast<std::size_t>(end - open.payload.data())};
  };
  while (!rest.empty()) {
    const char* start = rest.data();
    std::string_view line = take_line(rest);
    ++lines_;
    if (line.empty() || line == "\r") continue;
    if (line[0] == '\t') {
      if (!records_.empty()) {
        records_.back().has_payload_lines = true;
      } else if (!orphans) {
        orphans = true;
        problem("orphan_payload", lines_, "payload lines without a record before them");
      }
      continue;
    }
    const bool cr = line.back() == '\r';
    std::optional<LogHead> head = parse_log_head(without_cr(line));
    if (!head) {
      problem(rest.empty() && text_.back() != '\n' && looks_like_log_line(line) ? "truncated" : "bad_prefix", lines_,
              fmt::format("not a line of a TORCH_TRACE log: '{}'", shown(line)));
      continue;
    }
    close(start);
    with_cr += cr;
    LogRecord& record = records_.emplace_back();
    record.head = *head;
    record.line = lines_;
    record.offset = static_cast<std::uint64_t>(start - text_.data());
    record.payload = {rest.data(), 0};
  }
  close(text_.data() + text_.size());
  open_end_ = !text_.empty() && text_.back() != '\n';
  crlf_ = with_cr * 2 > static_cast<std::int64_t>(records_.size());
}

bool LogFile::parse_envelope(LogRecord& record) const {
  std::string_view rest = text_.substr(record.offset);
  const std::string_view line = without_cr(take_line(rest));
  if (line.size() > limits_.envelope) return false;
  JsonSlice object;
  for (int skip = 0; skip < kJsonTries && !object; ++skip) {
    const auto head = parse_log_head(line, skip);
    if (!head) return false;
    object = parse_slice(head->json);
    if (object) record.head = *head;
  }
  if (!object.is_object()) return false;
  for (auto& [key, value] : object.members()) {
    if (key == "rank") {
      record.rank = value.integer();
    } else if (key == "frame_id") {
      record.frame = value.integer();
    } else if (key == "frame_compile_id") {
      record.compile = value.integer();
    } else if (key == "attempt") {
      record.attempt = value.integer();
    } else if (key == "compiled_autograd_id") {
      record.autograd = value.words();
    } else if (key == "subgraph_name") {
      record.subgraph = value.words();
    } else if (key == "stack") {
      record.stack = value;
    } else if (key == "has_payload") {
      if (value.is_string()) record.hash = value.text.substr(1, value.text.size() - 2);
    } else if (std::find(kIgnored.begin(), kIgnored.end(), key) != kIgnored.end()) {
      continue;
    } else if (!record.metadata || record.key == key) {
      record.key = key;
      record.metadata = value;
    } else {
      record.others.emplace_back(std::move(key), value);
    }
  }
  return true;
}

void LogFile::check_hash(LogRecord& record) const {
  if (record.hash.empty() || record.payload.size() > limits_.payload) return;
  thread_local std::string decoded;
  decoded.clear();
  bool first = true;
  decode_payload(record.payload, crlf_, first, decoded);
  record.hash_state = compare(md5(decoded), record.hash);
  if (decoded.capacity() > (std::size_t{16} << 20)) std::string().swap(decoded);
}

void LogFile::parse_all(int threads) {
  parallel_each(records_.size(), threads, 8, [&](std::size_t i) {
    LogRecord& record = records_[i];
    if (parse_envelope(record)) {
      check_hash(record);
    } else {
      record.head.json = {};
    }
  });
}

void LogFile::drop_broken() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    LogRecord& record = records_[i];
    if (record.head.json.data()) {
      if (kept != i) records_[kept] = std::move(record);
      ++kept;
      continue;
    }
    const bool last = i + 1 == records_.size() && !record.has_payload_lines && open_end_;
    std::string_view rest = text_.substr(record.offset);
    const std::size_t size = take_line(rest).size();
    if (size > limits_.envelope) {
      problem("too_large", record.line,
              fmt::format("the record is {} bytes long, the limit is {}", size, limits_.envelope));
    } else {
      problem(last ? "truncated" : "bad_json", record.line,
              last ? "the last record is cut short" : "the record is not valid JSON");
    }
    if (record.has_payload_lines)
      problem("orphan_payload", record.line + 1, "payload lines of a record that cannot be read");
  }
  records_.resize(kept);
}

// Where in the payload of a record its own lines end and those of another begin, by its hash; none when all are its
// own, or nothing fits.
static std::optional<std::size_t> surplus_of(const LogRecord& record, bool crlf) {
  if (record.hash.empty()) return 0;
  Md5 hash;
  bool first = true;
  std::string_view rest = record.payload;
  while (!rest.empty()) {
    if (compare(hash.digest(), record.hash) == HashState::Matches) return record.payload.size() - rest.size();
    std::string_view line = take_line(rest);
    if (line.empty() || line[0] != '\t') continue;
    if (crlf) line = without_cr(line);
    if (!first) hash.update("\n");
    first = false;
    hash.update(line.substr(1));
  }
  return std::nullopt;
}

// The rest of a torn payload hangs on the records that were written in between.
bool LogFile::repair(std::size_t torn) {
  LogRecord& record = records_[torn];
  std::string text;
  bool first = true;
  decode_payload(record.payload, crlf_, first, text);
  std::vector<std::pair<std::size_t, std::size_t>> found;
  const std::size_t end = std::min(records_.size(), torn + 1 + kRepairReach);
  for (std::size_t i = torn + 1; i < end; ++i) {
    const LogRecord& other = records_[i];
    if (!other.has_payload_lines || other.hash_state == HashState::Matches || other.payload.size() > kRepairBytes)
      continue;
    const auto own = surplus_of(other, crlf_);
    if (!own) continue;
    found.emplace_back(i, *own);
    decode_payload(other.payload.substr(*own), crlf_, first, text);
    if (compare(md5(text), record.hash) != HashState::Matches) continue;
    for (const auto& [index, size] : found) {
      LogRecord& from = records_[index];
      record.moved.push_back(from.payload.substr(size));
      from.payload = from.payload.substr(0, size);
      from.has_payload_lines = size > 0;
      from.hash_state = from.hash.empty() ? HashState::None : HashState::Matches;
    }
    record.has_payload_lines = true;
    record.hash_state = HashState::Matches;
    return true;
  }
  return false;
}

void LogFile::repair() {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const LogRecord& record = records_[i];
    if (record.hash_state == HashState::Differs && record.payload.size() <= kRepairBytes) repaired_ += repair(i);
  }
}

void LogFile::judge_hashes() {
  for (const LogRecord& record : records_) {
    if (record.payload.size() > limits_.payload) {
      problem("too_large", record.line,
              fmt::format("the payload of '{}' is {} bytes long, the limit is {}", record.key, record.payload.size(),
                          limits_.payload));
    }
    if (record.hash_state != HashState::Differs) continue;
    const bool last = &record == &records_.back();
    problem(last ? "truncated" : "hash_mismatch", record.line,
            last ? fmt::format("the payload of the last record ({}) is cut short", record.key)
                 : fmt::format("the payload of '{}' is not what its hash says", record.key));
  }
}

void LogFile::collect_tables() {
  std::size_t entries = 0;
  std::unordered_set<std::int64_t> seen;
  for (const LogRecord& record : records_) {
    const std::int64_t ident = record.head.ident;
    if (seen.size() < kIdents && seen.insert(ident).second) idents_.push_back(ident);
    if (record.rank) ranks_.try_emplace(ident, *record.rank);
    if (record.key != "str" || ++entries > limits_.strings) continue;
    const std::vector<JsonSlice> pair = record.metadata.items();
    const auto id = pair.size() >= 2 ? pair[1].integer() : std::nullopt;
    if (!id || !pair[0].is_string()) {
      problem("bad_string", record.line, "a string record is not [text, number]");
      continue;
    }
    strings_[ident][*id] = latest_strings_[*id] = pair[0].string();
  }
}

std::string LogFile::payload(const LogRecord& record) const {
  std::string out;
  std::size_t size = record.payload.size();
  for (const std::string_view part : record.moved) size += part.size();
  if (size > limits_.payload) return out;
  out.reserve(size);
  bool first = true;
  decode_payload(record.payload, crlf_, first, out);
  for (const std::string_view part : record.moved) decode_payload(part, crlf_, first, out);
  return out;
}

std::string LogFile::file_name(const LogRecord& record, std::int64_t id) {
  if (id == -1) return {};
  const auto lookup = [&](std::int64_t ident) -> const std::string* {
    const auto table = strings_.find(ident);
    if (table == strings_.end()) return nullptr;
    const auto found = table->second.find(id);
    return found == table->second.end() ? nullptr : &found->second;
  };
  // A forked child goes on with what its parent had; threads of one process share one table.
  const std::string* own = lookup(record.head.ident);
  if (!own && !idents_.empty()) own = lookup(idents_.front());
  if (own) return *own;
  if (const auto latest = latest_strings_.find(id); latest != latest_strings_.end()) return latest->second;
  if (missing_.try_emplace({record.head.ident, id}, true).second)
    problem("missing_string", record.line, fmt::format("file name {} is not defined in this log", id));
  return fmt::format("<file #{}>", id);
}

std::int64_t LogFile::rank(std::int64_t ident) const {
  const auto found = ranks_.find(ident);
  return found == ranks_.end() ? file_rank_ : found->second;
}

}  // namespace strata::capture
