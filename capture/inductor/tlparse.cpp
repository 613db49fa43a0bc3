// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/inductor/tlparse.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "capture/inductor/py_text.h"
#include "capture/torch_trace/json_slice.h"
#include "capture/torch_trace/md5.h"
#include "core/support/error.h"
#include "core/support/file.h"

namespace strata::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFiles = 200'000;

std::optional<std::string> read_file(const fs::path& path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return std::nullopt;
  try {
    return std::string(map_file(path).text());
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::User) throw;
    return std::nullopt;
  }
}

std::string json_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

/// Members that tlparse adds to a record, or that stand in the line's head.
bool of_the_head(std::string_view key) {
  return key == "lineno" || key == "pathname" || key == "thread" || key == "timestamp" || key == "payload_filename";
}

/// Records that stand under their own name; all others are artifacts.
constexpr std::array<std::string_view, 16> kRecords = {"dynamo_output_graph",
                                                       "dynamo_guards",
                                                       "dynamo_cpp_guards_str",
                                                       "aot_joint_graph",
                                                       "aot_forward_graph",
                                                       "aot_backward_graph",
                                                       "aot_inference_graph",
                                                       "inductor_pre_grad_graph",
                                                       "compiled_autograd_graph",
                                                       "optimize_ddp_split_graph",
                                                       "optimize_ddp_split_child",
                                                       "exported_program",
                                                       "inductor_output_code",
                                                       "dump_file",
                                                       "graph_dump",
                                                       "inductor_post_grad_graph"};

/// Records whose file names go on with the name of what they hold.
bool named_record(std::string_view record) {
  return record == "inductor_output_code" || record == "optimize_ddp_split_child" || record == "dump_file" ||
         record == "graph_dump";
}

class LogBuilder {
 public:
  LogBuilder(const fs::path& folder, std::int64_t* problems) : folder_(folder), problems_(problems) {}

  std::string run() {
    if (auto log = read_file(folder_ / "raw.log"); log && !log->empty()) return *std::move(log);
    if (const auto records = read_file(folder_ / "raw.jsonl")) from_records(*records);
    if (out_.empty()) from_files();
    return std::move(out_);
  }

 private:
  void problem() {
    if (problems_ != nullptr) ++*problems_;
  }

  // --- raw.jsonl

  void from_records(std::string_view text) {
    simdjson::dom::parser parser;
    for (const std::string_view line : py::lines(text)) {
      if (py::trim(line).empty()) continue;
      simdjson::dom::object record;
      const simdjson::padded_string padded(line);
      if (parser.parse(padded).get(record) != simdjson::SUCCESS) {
        problem();
        continue;
      }
      add_record(record);
    }
    if (!out_.empty()) add_chromium_events();
  }

  void add_record(const simdjson::dom::object& record) {
    simdjson::dom::array strings;
    if (record["string_table"].get(strings) == simdjson::SUCCESS) {
      for (const simdjson::dom::element item : strings) {
        std::string_view text;
        const bool is_text = item.get(text) == simdjson::SUCCESS;
        strings_.push_back(is_text ? fmt::format("{{\"str\": [{}, {}]}}", json_text(text), strings_.size()) : "");
      }
      return;
    }
    read_head(record);
    // The table stands before the first head that says which process wrote it.
    for (std::string& string : strings_) {
      if (!string.empty()) line(std::move(string), {});
    }
    strings_.clear();
    std::string json;
    std::string_view file, hash;
    bool has_payload = record["payload_filename"].get(file) == simdjson::SUCCESS;
    has_payload = (record["has_payload"].get(hash) == simdjson::SUCCESS) || has_payload;
    for (const auto& [key, value] : record) {
      if (of_the_head(key) || key == "has_payload") continue;
      json += fmt::format("{}{}: {}", json.empty() ? "{" : ", ", json_text(key), simdjson::to_string(value));
    }
    if (json.empty()) return;
    const std::optional<std::string> payload = has_payload ? find_payload(file, hash) : std::nullopt;
    if (has_payload && !payload) problem();
    line(std::move(json), payload);
  }

  void read_head(const simdjson::dom::object& record) {
    std::string_view text;
    if (record["timestamp"].get(text) == simdjson::SUCCESS && text.size() >= 26) {
      // 2026-11-21T10:44:29.128000Z
      head_ = fmt::format("V{}{} {}", text.substr(5, 2), text.substr(8, 2), text.substr(11, 15));
    }
    std::int64_t number = 0;
    if (record["thread"].get(number) == simdjson::SUCCESS) thread_ = number;
    if (record["pathname"].get(text) == simdjson::SUCCESS) path_ = py::trim(text);
    if (record["lineno"].get(number) == simdjson::SUCCESS) number_ = number;
  }

  /// The payload by its hash, else the file that shows it. Pages and reformatted JSON are not what the hash is of.
  std::optional<std::string> find_payload(std::string_view file, std::string_view hash) const {
    if (!hash.empty() && parse_md5(hash)) {
      if (auto exact = read_file(folder_ / "payloads" / (std::string(hash) + ".txt"))) return exact;
    }
    if (file.empty() || file.find("..") != std::string_view::npos || file[0] == '/') return std::nullopt;
    auto text = read_file(folder_ / file);
    if (text && file.ends_with(".html")) return text_of_html(*text);
    return text;
  }

  /// The timeline stands in a file of its own.
  void add_chromium_events() {
    const auto text = read_file(folder_ / "chromium_events.json");
    if (!text) return;
    simdjson::dom::parser parser;
    simdjson::dom::array events;
    const simdjson::padded_string padded(*text);
    if (parser.parse(padded).get(events) != simdjson::SUCCESS) return problem();
    for (const simdjson::dom::element event : events) {
      std::string json = "{\"chromium_event\": {}";
      std::string_view id;
      if (event["args"]["compile_id"].get(id) == simdjson::SUCCESS) json += ", " + ids_of(id);
      line(std::move(json), simdjson::to_string(event));
    }
  }

  /// `0/1_2` -> `"frame_id": 0, "frame_compile_id": 1, "attempt": 2`; empty members are left out.
  static std::string ids_of(std::string_view id) {
    std::string out;
    if (id.starts_with("!")) {
      const std::size_t slash = id.find('/');
      out = fmt::format("\"compiled_autograd_id\": {}", py::integer(id.substr(1, slash - 1)).value_or(0));
      if (slash == std::string_view::npos) return out;
      id.remove_prefix(slash + 1);
    }
    const std::size_t slash = id.find('/');
    if (slash == std::string_view::npos) return out.empty() ? "\"frame_id\": null" : out;
    const std::string_view rest = id.substr(slash + 1);
    const std::size_t under = rest.find('_');
    out += fmt::format("{}\"frame_id\": {}, \"frame_compile_id\": {}, \"attempt\": {}", out.empty() ? "" : ", ",
                       py::integer(id.substr(0, slash)).value_or(0), py::integer(rest.substr(0, under)).value_or(0),
                       under == std::string_view::npos ? 0 : py::integer(rest.substr(under + 1)).value_or(0));
    return out;
  }

  // --- files alone

  struct File {
    fs::path path;
    std::int64_t number = 0;
    std::string ids, name;
  };

  void from_files() {
    std::vector<File> files;
    std::error_code failed;
    for (fs::directory_iterator it(folder_, failed), end; !failed && it != end; it.increment(failed)) {
      const std::string name = it->path().filename().string();
      std::error_code none;
      const std::string ids = folder_ids(name);
      if (ids.empty() || !fs::is_directory(it->path(), none)) continue;
      for (fs::directory_iterator f(it->path(), none), last; !none && f != last; f.increment(none)) {
        if (files.size() < kMaxFiles) add_file(f->path(), ids, files);
      }
    }
    std::stable_sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.number < b.number; });
    head_ = "V0101 00:00:00.000000";
    std::set<std::string> started;
    for (const File& file : files) {
      if (file.ids.find("null") == std::string::npos && started.insert(file.ids).second)
        line("{\"dynamo_start\": {\"stack\": []}, " + file.ids, {});
      add_payload_file(file);
    }
  }

  /// `-_0_0_1` or `0_0_1` or `1_0_0_0` (compiled autograd first): the members that say so; empty: another folder.
  static std::string folder_ids(std::string_view name) {
    std::vector<std::string_view> parts = py::split(name, '_');
    if (name == "-_-_-_-") return "\"frame_id\": null";  // of no compile
    if (parts.size() == 4) {
      const auto autograd = py::integer(parts[0]);
      if (!autograd && parts[0] != "-") return {};
      parts.erase(parts.begin());
      if (autograd) {
        const std::string rest = folder_ids(name.substr(name.find('_') + 1));
        return rest.empty() ? rest : fmt::format("\"compiled_autograd_id\": {}, {}", *autograd, rest);
      }
    }
    if (parts.size() != 3) return {};
    for (const std::string_view part : parts) {
      if (!py::integer(part)) return {};
    }
    return fmt::format("\"frame_id\": {}, \"frame_compile_id\": {}, \"attempt\": {}", parts[0], parts[1], parts[2]);
  }

  /// `aot_joint_graph_4.txt`; what tlparse itself adds (`..._readable.html`, metrics pages) has no payload.
  static void add_file(const fs::path& path, const std::string& ids, std::vector<File>& files) {
    const std::string stem = path.stem().string();
    const std::size_t under = stem.rfind('_');
    if (under == std::string::npos) return;
    const auto number = py::integer(std::string_view(stem).substr(under + 1));
    if (!number || stem.find("compilation_metrics") != std::string::npos) return;
    files.push_back({path, *number, ids, stem.substr(0, under)});
  }

  void add_payload_file(const File& file) {
    auto payload = read_file(file.path);
    if (!payload) return problem();
    if (file.path.extension() == ".html") payload = text_of_html(*payload);
    std::string json;
    for (const std::string_view record : kRecords) {
      // `inductor_output_code_HASH`, `optimize_ddp_split_child_submod_0`
      if (!file.name.starts_with(record)) continue;
      std::string_view rest = std::string_view(file.name).substr(record.size());
      if (!rest.empty() && (rest[0] != '_' || !named_record(record))) continue;
      if (!rest.empty()) rest.remove_prefix(1);
      std::string members;
      if (!rest.empty() && record == "inductor_output_code")
        members = fmt::format("\"filename\": {}", json_text(std::string(rest) + ".py"));
      if (!rest.empty() && members.empty()) members = fmt::format("\"name\": {}", json_text(rest));
      json = fmt::format("{{\"{}\": {{{}}}, {}", record, members, file.ids);
    }
    if (json.empty()) {
      const char* encoding = file.path.extension() == ".json" ? "json" : "string";
      json = fmt::format("{{\"artifact\": {{\"name\": {}, \"encoding\": \"{}\"}}, {}", json_text(file.name), encoding,
                         file.ids);
    }
    line(std::move(json), payload);
  }

  // --- text

  /// One record: `json` lacks its closing brace unless it is a whole object.
  void line(std::string json, const std::optional<std::string>& payload) {
    if (payload) {
      if (json.back() == '}' && payload_of_whole(json)) json.pop_back();
      json += fmt::format(", \"has_payload\": \"{}\"", to_hex(md5(*payload)));
    }
    if (payload || !payload_of_whole(json)) json += '}';
    out_ += fmt::format("{} {} {}:{}] {}\n", head_, thread_, path_, number_, json);
    if (!payload) return;
    for (std::size_t at = 0; at <= payload->size();) {
      const std::size_t end = std::min(payload->find('\n', at), payload->size());
      out_ += '\t';
      out_.append(*payload, at, end - at);
      out_ += '\n';
      at = end + 1;
    }
  }

  /// Whether brackets of an object are closed.
  static bool payload_of_whole(std::string_view json) { return py::closing(json, 0) == json.size() - 1; }

  fs::path folder_;
  std::int64_t* problems_;
  std::string out_;
  std::vector<std::string> strings_;  ///< of the table, not yet written
  std::string head_ = "V0101 00:00:00.000000";
  std::int64_t thread_ = 1, number_ = 1;
  std::string path_ = "torch/_logging/structured.py";
};

Bytes bytes_of(std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  return {std::as_bytes(std::span(owner->data(), owner->size())), owner};
}

}  // namespace

std::string rebuild_log(const fs::path& folder, std::int64_t* problems) { return LogBuilder(folder, problems).run(); }

trace::Id import_tlparse_folder(ImportContext& context, const fs::path& folder, const TorchTraceOptions& options) {
  std::int64_t problems = 0;
  std::string log = rebuild_log(folder, &problems);
  if (log.empty()) {
    throw_user(fmt::format("'{}' holds no record that tlparse wrote", folder.string()),
               "give the folder with 'index.html' and 'raw.jsonl', or the log that it was made from");
  }
  trace::InputRecord input;
  input.path = folder.string();
  input.kind = "tlparse";
  input.bytes = static_cast<std::int64_t>(log.size());
  const trace::Id id = context.add_input(input);
  if (problems > 0) {
    context.problem(id, "missing_payload", 0,
                    fmt::format("{} records or payloads of '{}' are missing", problems, folder.string()));
  }
  import_torch_trace(context, bytes_of(std::move(log)), folder / "raw.log", options);
  context.finish_input(id);
  return id;
}

std::string text_of_html(std::string_view html) {
  if (const std::size_t pre = html.find("<pre"); pre != std::string_view::npos) {
    const std::size_t begin = html.find('>', pre);
    if (begin == std::string_view::npos) return {};
    html = html.substr(begin + 1, html.rfind("</pre>") - begin - 1);
    if (html.starts_with("\n")) html.remove_prefix(1);
  }
  static constexpr std::pair<std::string_view, char> kNames[] = {{"&lt;", '<'},   {"&gt;", '>'},   {"&amp;", '&'},
                                                                 {"&quot;", '"'}, {"&#39;", '\''}, {"&#x27;", '\''}};
  std::string out;
  for (std::size_t i = 0; i < html.size();) {
    if (html[i] == '<') {
      i = std::min(html.find('>', i), html.size() - 1) + 1;
      continue;
    }
    const auto name = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const auto& n) { return html.substr(i).starts_with(n.first); });
    if (name != std::end(kNames)) {
      out += name->second;
      i += name->first.size();
    } else {
      out += html[i++];
    }
  }
  return out;
}

}  // namespace strata::capture
