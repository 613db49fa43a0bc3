// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/import_scan.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "capture/zip.h"
#include "core/support/error.h"
#include "core/support/file.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

/// A script may print much before its first log line; a file that has none in this many bytes is no log.
constexpr std::size_t kMaxHead = std::size_t{256} << 20;
constexpr std::size_t kMaxPackedHead = std::size_t{64} << 20;
constexpr std::size_t kFirstHead = std::size_t{64} << 10;
constexpr std::size_t kTail = std::size_t{256} << 10;

/// The first `most` bytes of a file, decompressed if it is gzip. gzread passes plain files through.
std::string read_head(const fs::path& path, std::size_t most) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(::gzopen(path.c_str(), "rb"), ::gzclose);
  if (!file) return {};
  std::string head;
  std::array<char, 65536> buffer;
  while (head.size() < most) {
    const int n =
        ::gzread(file.get(), buffer.data(), static_cast<unsigned>(std::min(buffer.size(), most - head.size())));
    if (n <= 0) break;
    head.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return head;
}

// ------------------------------------------------------------------------------------------------------------------
// Log lines: `V1121 09:31:15.242000 18173 torch/_dynamo/utils.py:1072] {...`

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether `text` begins like `pattern`, in which 0 stands for any digit and A for a capital.
bool begins_like(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char p = pattern[i], c = text[i];
    if (p == '0' ? !is_digit(c) : p == 'A' ? c < 'A' || c > 'Z' : c != p) return false;
  }
  return true;
}

enum class LineKind { Other, Log, Record };

LineKind line_kind(std::string_view line) {
  // Launchers put `[rank0]:` or `[default0]:` in front.
  if (line.starts_with('[')) {
    const std::size_t end = line.substr(0, 64).find("]:");
    if (end == std::string_view::npos) return LineKind::Other;
    line.remove_prefix(end + 2);
    while (line.starts_with(' ')) line.remove_prefix(1);
  }
  if (!begins_like(line, "A0000 00:00:00.0")) return LineKind::Other;
  const std::size_t bracket = line.find("] ");
  if (bracket == std::string_view::npos || bracket == 0 || !is_digit(line[bracket - 1])) return LineKind::Other;
  if (line.substr(bracket + 2).starts_with('{') && line.starts_with('V')) return LineKind::Record;
  return line.substr(0, bracket).find("torch") == std::string_view::npos ? LineKind::Other : LineKind::Log;
}

struct LogLook {
  std::size_t records = 0, lines = 0;
  std::size_t first_record = 0;  ///< where it begins
};

LogLook look_for_log(const std::string_view whole) {
  LogLook look;
  std::string_view text = whole;
  while (!text.empty() && look.records == 0) {
    const std::size_t end = text.find('\n');
    const LineKind kind = line_kind(text.substr(0, end));
    look.records += kind == LineKind::Record;
    if (kind == LineKind::Record) look.first_record = whole.size() - text.size();
    look.lines += kind == LineKind::Log;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return look;
}

/// `MMDD HH:MM:SS.ffffff` of the first (or last) record in the text.
std::string stamp_of(std::string_view text, bool last) {
  std::string found;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line_kind(line) == LineKind::Record) found = line.substr(1, line.find(' ', 6) - 1);
    if (!last && !found.empty()) return found;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return found;
}

std::string read_tail(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (size <= 0) return {};
  const auto from = std::max<std::streamoff>(0, size - static_cast<std::streamoff>(kTail));
  std::string tail(static_cast<std::size_t>(size - from), '\0');
  file.seekg(from);
  file.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  return tail;
}

std::int64_t rank_in(std::string_view text) {
  const std::size_t at = text.find("\"rank\": ");
  if (at == std::string_view::npos) return -1;
  std::int64_t rank = -1;
  for (std::size_t i = at + 8; i < text.size() && is_digit(text[i]) && i < at + 14; ++i)
    rank = std::max<std::int64_t>(rank, 0) * 10 + (text[i] - '0');
  return rank;
}

bool is_gzip(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return file.get() == 0x1f && file.get() == 0x8b;
}

void note_times(FoundInput& input, std::string_view head) {
  input.rank = rank_in(head);
  if (is_gzip(input.path)) return;
  input.first_time = stamp_of(head, false);
  input.last_time = stamp_of(read_tail(input.path), true);
}

// ------------------------------------------------------------------------------------------------------------------
// JSON and binary files

/// Whether a JSON object has the member `traceEvents`, however late it comes.
bool has_trace_events(const fs::path& path, std::string_view head) {
  constexpr std::string_view key = "\"traceEvents\"";
  if (head.find(key) != std::string_view::npos) return true;
  if (head.find("\"schemaVersion\"") != std::string_view::npos &&
      head.find("\"deviceProperties\"") != std::string_view::npos)
    return true;
  if (is_gzip(path)) return read_head(path, kMaxPackedHead).find(key) != std::string::npos;
  return map_file(path).text().find(key) != std::string_view::npos;
}

bool begins_with_json(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t at = head.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && (head[at] == '{' || head[at] == '[');
}

struct Verdict {
  std::optional<InputKind> kind;
  std::string why;  ///< it is skipped
  std::string head;
};

Verdict skip(std::string why) { return {std::nullopt, std::move(why), {}}; }

Verdict judge_zip(const fs::path& path) {
  bool code = false, program = false;
  try {
    for (const std::string& name : capture::ZipArchive(map_file(path), path.string()).names()) {
      code |= name.find("aotinductor") != std::string::npos || name.ends_with(".so") || name.ends_with(".wrapper.cpp");
      program |=
          name.find("models/") != std::string::npos || name.find("serialized_exported_program") != std::string::npos;
    }
  } catch (const Error&) {
    return skip("a damaged zip archive");
  }
  if (program) return {InputKind::Program, {}, {}};
  if (code)
    return skip("an AOTInductor package: compiled code without its graphs; import the TORCH_TRACE logs of the compile");
  return skip("a zip archive without a trace; unpack it if logs are in it");
}

Verdict judge_json(const fs::path& path, const std::string& head) {
  const char first = head[head.find_first_of("{[")];
  if (first == '[') {
    if (head.find("\"ph\"") != std::string::npos) return {InputKind::Profile, {}, {}};
    return skip("a JSON list without events");
  }
  if (has_trace_events(path, head)) return {InputKind::Profile, {}, {}};
  return skip("JSON, but no profile: it has no \"traceEvents\"");
}

Verdict judge_log(std::string_view text) {
  const LogLook look = look_for_log(text);
  if (look.records > 0) return {InputKind::TorchTrace, {}, std::string(text.substr(look.first_record, kFirstHead))};
  if (look.lines > 0) return {InputKind::TorchLogs, {}, {}};
  return skip("not a log, trace or profile of PyTorch");
}

Verdict judge_text(const fs::path& path, std::string_view head) {
  Verdict verdict = judge_log(head);
  if (verdict.kind == InputKind::TorchTrace || head.size() < kFirstHead) return verdict;
  return is_gzip(path) ? judge_log(read_head(path, kMaxPackedHead))
                       : judge_log(map_file(path).text().substr(0, kMaxHead));
}

Verdict judge(const fs::path& path) {
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  if (failed) return skip(fmt::format("cannot be read: {}", failed.message()));
  if (size == 0) return skip("empty");
  if (!std::ifstream(path)) return skip("cannot be read");
  std::string head = read_head(path, kFirstHead);
  if (head.empty()) return skip(is_gzip(path) ? "a gzip file that is cut short or damaged" : "cannot be read");
  if (head.starts_with("PK\x03\x04")) return judge_zip(path);
  if (head.starts_with("\x7f"
                       "ELF"))
    return skip("compiled code (AOTInductor?) without its graphs; import the TORCH_TRACE logs of the compile");
  if (head.starts_with("SQLite format 3")) return skip("a database; a Strata trace opens without import");
  if (begins_with_json(head)) return judge_json(path, head);
  return judge_text(path, head);
}

// ------------------------------------------------------------------------------------------------------------------
// Folders

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_run_folder(const fs::path& path) {
  return is_folder(path / "torchinductor") || is_folder(path / "torchdynamo");
}

class Walk {
 public:
  void path(const fs::path& path) {
    std::error_code failed;
    const auto status = fs::status(path, failed);
    if (!fs::exists(status)) throw_user(fmt::format("there is no file or folder '{}'", path.string()));
    fs::is_directory(status) ? folder(path, 0) : file(path);
  }

  FoundInputs finish() {
    std::stable_sort(found_.inputs.begin(), found_.inputs.end(),
                     [](const auto& a, const auto& b) { return std::tie(a.kind, a.path) < std::tie(b.kind, b.path); });
    return std::move(found_);
  }

 private:
  void skip(const fs::path& path, std::string why) {
    ++found_.skipped_count;
    if (found_.skipped.size() < kMaxSkipped) found_.skipped.push_back({path, std::move(why)});
  }

  /// False where it was seen already: a loop of links, or a path that was given twice.
  bool enter(const fs::path& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 && seen_.insert({status.st_dev, status.st_ino}).second;
  }

  void file(const fs::path& path) {
    if (!is_file(path)) return skip(path, "neither a file nor a folder");
    if (!enter(path)) return;
    Verdict verdict = judge(path);
    if (!verdict.kind) return skip(path, std::move(verdict.why));
    FoundInput input{path, *verdict.kind, -1, {}, {}};
    if (input.kind == InputKind::TorchTrace) note_times(input, verdict.head);
    found_.inputs.push_back(std::move(input));
  }

  void folder(const fs::path& path, int depth) {
    if (!enter(path)) return;
    if (depth > kMaxFolderDepth)
      return found_.warnings.push_back(fmt::format("{}: folders below are not searched: too deep", path.string()));
    const std::vector<fs::path> entries = list(path);
    if (is_tlparse(entries)) return found_.inputs.push_back({path, InputKind::Tlparse, -1, {}, {}});
    if (is_debug(path, entries)) {
      found_.inputs.push_back({path, InputKind::DebugFolder, -1, {}, {}});
      // What it is made of belongs to it; the structured log that newer versions put there does not.
      if (is_folder(path / "tlparse")) folder(path / "tlparse", depth + 1);
      return;
    }
    for (const fs::path& entry : entries) is_folder(entry) ? folder(entry, depth + 1) : file(entry);
  }

  std::vector<fs::path> list(const fs::path& path) {
    std::vector<fs::path> entries;
    std::error_code failed;
    for (fs::directory_iterator it(path, failed), end; !failed && it != end; it.increment(failed)) {
      if (++entries_ > kMaxFolderEntries) {
        if (entries_ == kMaxFolderEntries + 1)
          found_.warnings.push_back(
              fmt::format("{}: more than {} files: the rest is not looked at", path.string(), kMaxFolderEntries));
        break;
      }
      entries.push_back(it->path());
    }
    if (failed) found_.warnings.push_back(fmt::format("{}: cannot be read: {}", path.string(), failed.message()));
    std::sort(entries.begin(), entries.end());
    return entries;
  }

  static bool is_tlparse(const std::vector<fs::path>& entries) {
    return std::any_of(entries.begin(), entries.end(), [](const fs::path& e) {
      return (e.filename() == "raw.jsonl" || e.filename() == "compile_directory.json") && is_file(e);
    });
  }

  static bool is_debug(const fs::path& path, const std::vector<fs::path>& entries) {
    if (is_run_folder(path)) return true;
    return std::any_of(entries.begin(), entries.end(), [](const fs::path& e) {
      const std::string name = e.filename().string();
      if (name.starts_with("run_")) return is_run_folder(e);
      return (name == "output_code.py" || name == "fx_graph_readable.py" || name == "ir_pre_fusion.txt") && is_file(e);
    });
  }

  FoundInputs found_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::size_t entries_ = 0;
};

/// Logs of one folder and rank whose times do not overlap come from runs one after another: PyTorch never clears the
/// folder. (A process that another one starts logs while that one does.)
void warn_of_stale_files(FoundInputs& found) {
  std::map<std::pair<fs::path, std::int64_t>, std::vector<const FoundInput*>> groups;
  for (const FoundInput& input : found.inputs)
    if (input.kind == InputKind::TorchTrace && !input.first_time.empty() && !input.last_time.empty())
      groups[{input.path.parent_path(), input.rank}].push_back(&input);
  for (auto& [key, files] : groups) {
    const auto newest =
        *std::max_element(files.begin(), files.end(), [](auto* a, auto* b) { return a->first_time < b->first_time; });
    for (const FoundInput* file : files)
      if (file->last_time < newest->first_time)
        found.warnings.push_back(
            fmt::format("{}: ends at {}, before {} begins at {}: of an older run? PyTorch never clears the folder; "
                        "import the files "
                        "of one run",
                        file->path.string(), file->last_time, newest->path.filename().string(), newest->first_time));
  }
}

}  // namespace

std::string_view to_string(InputKind kind) {
  static constexpr std::array<std::string_view, 6> names = {"torch-trace", "debug-folder", "tlparse",
                                                            "torch-logs",  "program",      "profile"};
  return names[static_cast<std::size_t>(kind)];
}

FoundInputs find_inputs(std::span<const fs::path> paths) {
  Walk walk;
  for (const fs::path& path : paths) walk.path(path);
  FoundInputs found = walk.finish();
  warn_of_stale_files(found);
  return found;
}

}  // namespace strata
