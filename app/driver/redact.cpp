// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/redact.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <unordered_map>

#include "app/driver/redact_text.h"
#include "core/support/error.h"
#include "core/support/json.h"
#include "core/trace/database.h"
#include "core/trace/rows.h"
#include "core/trace/schema.h"
#include "core/trace/trace_file.h"
#include "core/trace/writer.h"
#include "profiler/correlate.h"

// Every row is read, its texts are redacted by the rule of their column, and it is written under the same id into a new
// file. Interned text is interned anew: nothing of the old table of strings is copied.

namespace strata {
namespace {

namespace fs = std::filesystem;
using namespace trace;
using R = Redaction;

constexpr RedactionRule kRules[] = {
    {"process", "command", R::Drop},
    {"source_file", "path", R::File},
    {"source_file", "text", R::Drop},
    {"source_file", "lines", R::Drop},
    {"location", "file", R::File},
    {"location", "function", R::Code},
    {"location", "text", R::Drop},
    {"frame", "name", R::Code},
    {"frame", "file", R::File},
    {"compile", "address", R::Keep},
    {"compile", "prefix", R::Keep},
    {"compile", "name", R::Code},
    {"compile", "outcome", R::Pieces},
    {"compile", "cause", R::Words},
    {"compile", "error", R::Words},
    {"pass", "name", R::Pieces},
    {"pass", "error", R::Words},
    {"snapshot", "stage", R::Pieces},
    {"snapshot", "node_order", R::Keep},
    {"snapshot", "extra", R::Drop},
    {"node", "name", R::Special},
    {"node", "op", R::Pieces},
    {"node", "target", R::Code},
    {"node", "args", R::Code},
    {"node", "type", R::Shape},
    {"node", "dtype", R::Shape},
    {"node", "shape", R::Shape},
    {"node", "device", R::Shape},
    {"node", "module", R::Code},
    {"node", "role", R::Pieces},
    {"node", "extra", R::Special},
    {"origin", "kind", R::Pieces},
    {"origin", "rule", R::Pieces},
    {"removal", "rule", R::Pieces},
    {"removal", "reason", R::Words},
    {"rewrite", "rule", R::Pieces},
    {"rewrite", "reason", R::Words},
    {"guard", "kind", R::Pieces},
    {"guard", "expression", R::Code},
    {"guard", "source", R::Code},
    {"guard", "path", R::Code},
    {"guard", "detail", R::Drop},
    {"graph_break", "reason", R::Words},
    {"graph_break", "explanation", R::Words},
    {"graph_break", "hint", R::Words},
    {"graph_break", "kind", R::Words},
    {"graph_break", "link", R::Special},
    {"graph_break", "detail", R::Drop},
    {"symbol", "name", R::Code},
    {"symbol", "origin", R::Code},
    {"assumption", "expression", R::Code},
    {"assumption", "kind", R::Pieces},
    {"assumption", "reason", R::Words},
    {"kernel", "name", R::Kernel},
    {"kernel", "library", R::Kernel},
    {"kernel", "device", R::Shape},
    {"kernel", "bytes_formula", R::Shape},
    {"kernel", "flops_formula", R::Shape},
    {"kernel", "language", R::Pieces},
    {"fusion", "rule", R::Pieces},
    {"fusion", "reason", R::Words},
    {"buffer", "name", R::Code},
    {"buffer", "kind", R::Pieces},
    {"buffer", "bytes_formula", R::Shape},
    {"launch", "name", R::Kernel},
    {"run", "label", R::Pieces},
    {"run", "clock", R::Pieces},
    {"event", "name", R::Special},
    {"event", "category", R::Pieces},
    {"event", "clock", R::Pieces},
    {"event", "args", R::Special},
    {"event", "phase", R::Pieces},
    {"metric", "key", R::Pieces},
    {"metric", "unit", R::Pieces},
    {"artifact", "kind", R::Drop},
    {"artifact", "name", R::Drop},
    {"artifact", "content", R::Drop},
    {"artifact", "lines", R::Drop},
    {"raw", "source", R::Drop},
    {"raw", "kind", R::Drop},
    {"raw", "content", R::Drop},
    {"input", "path", R::File},
    {"input", "kind", R::Pieces},
    {"input", "producer", R::Words},
    {"input", "counts", R::Counts},
    {"program", "role", R::Pieces},
    {"program", "key", R::Hash},
    {"program", "path", R::File},
    {"recompile", "expression", R::Code},
    {"recompile", "expected", R::Code},
    {"recompile", "actual", R::Code},
    {"recompile", "reason", R::Words},
    {"diagnostic", "kind", R::Pieces},
    {"diagnostic", "title", R::Words},
    {"diagnostic", "detail", R::Drop},
    {"diagnostic", "hint", R::Words},
    {"track", "pid", R::Words},
    {"track", "tid", R::Words},
    {"track", "name", R::Words},
    {"track", "process_name", R::Words},
    {"flow", "kind", R::Pieces},
};

R rule_of(std::string_view table, std::string_view column) {
  for (const RedactionRule& rule : kRules)
    if (rule.table == table && rule.column == column) return rule.what;
  throw_internal(fmt::format("no redaction rule for column '{}' of table '{}'", column, table));
}

// ------------------------------------------------------------------------------------------------------------------
// Texts that need their record

/// `## Call CompiledFxGraph KEY ##`, `Optimizer.step#Adam.step`, `Torch-Compiled Region: 0/1`: written by PyTorch; any
/// other annotation is the owner's.
std::string annotation(TextRedactor& text, std::string_view name) {
  constexpr std::string_view call = "## Call CompiledFxGraph ";
  if (name.starts_with(call) && name.ends_with(" ##")) {
    const std::string_view key = name.substr(call.size(), name.size() - call.size() - 3);
    return fmt::format("{}{} ##", call, text.hash(key));
  }
  if (name.starts_with("Torch-Compiled Region: ")) return text.shape(name);
  constexpr std::string_view step = "ProfilerStep#";
  if (name.starts_with(step) && name.substr(step.size()).find_first_not_of("0123456789") == std::string_view::npos)
    return std::string(name);
  if (name.starts_with("Optimizer.")) {
    std::string out;  // '#' begins no comment here
    for (std::string_view rest = name; !rest.empty();) {
      const std::size_t end = rest.find('#');
      out += text.code(rest.substr(0, end)) + (end == std::string_view::npos ? "" : "#");
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return out;
  }
  return text.whole("annotation", name);
}

std::string event_name(TextRedactor& text, const EventRecord& event) {
  if (event.category.ends_with("user_annotation")) return annotation(text, event.name);
  if (event.category == "python_function") return text.whole("function", event.name);
  if (event.category == "compile") return text.pieces(event.name);
  return text.kernel(event.name);
}

/// What profilers say about an event in numbers and types.
bool is_public_argument(std::string_view key) {
  static constexpr std::string_view keys[] = {"External id",
                                              "Record function id",
                                              "Ev Idx",
                                              "Input type",
                                              "Input Strides",
                                              "Input Dims",
                                              "correlation",
                                              "cbid",
                                              "stream",
                                              "device",
                                              "context",
                                              "queued",
                                              "registers per thread",
                                              "shared memory",
                                              "blocks per SM",
                                              "warps per SM",
                                              "grid",
                                              "block",
                                              "est. achieved occupancy %",
                                              "num_warps",
                                              "num_stages",
                                              "kernel_backend",
                                              "Sequence number",
                                              "Fwd thread id",
                                              "bytes",
                                              "Bytes",
                                              "memory bandwidth (GB/s)",
                                              "Total Allocated",
                                              "Total Reserved",
                                              "Device Type",
                                              "Device Id",
                                              "Total Bytes",
                                              "Op count",
                                              "In msg nelems",
                                              "Out msg nelems",
                                              "dtype",
                                              "Group size",
                                              "Collective name",
                                              "priority",
                                              "graph id",
                                              "graph node id",
                                              "compile_id"};
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

void write_json(TextRedactor& text, const Json& json, std::string& out) {
  if (const auto* s = json.as<std::string>()) {
    std::string value = text.shape(*s);
    std::erase_if(value, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; });
    out += '"' + value + '"';
  } else if (const auto* i = json.as<int64_t>()) {
    out += std::to_string(*i);
  } else if (const auto* d = json.as<double>()) {
    out += fmt::format("{}", *d);
  } else if (const auto* b = json.as<bool>()) {
    out += *b ? "true" : "false";
  } else if (const auto* a = json.as<JsonArray>()) {
    out += '[';
    for (const Json& e : *a) {
      if (out.back() != '[') out += ',';
      write_json(text, e, out);
    }
    out += ']';
  } else {
    out += "null";
  }
}

std::string event_args(TextRedactor& text, const std::string& args) {
  if (args.empty()) return {};
  std::string out = "{";
  try {
    const Json json = parse_json(args, "args");
    if (!json.as<JsonObject>()) return {};
    for (const auto& [key, value] : json.object()) {
      if (!is_public_argument(key) || value.as<JsonObject>()) continue;
      out += fmt::format("{}\"{}\":", out.size() > 1 ? "," : "", key);
      write_json(text, value, out);
    }
  } catch (const Error&) {
    return {};
  }
  return out.size() > 1 ? out + "}" : std::string();
}

/// Which child graph a node is in has to be known to print it; anything else goes.
std::string node_extra(TextRedactor& text, const std::string& extra) {
  if (extra.empty()) return {};
  try {
    const Json json = parse_json(extra, "extra");
    const Json* graph = json.find("graph");
    if (!graph || !graph->as<std::string>()) return {};
    return fmt::format("{{\"graph\":\"{}\"}}", text.code(graph->string()));
  } catch (const Error&) {
    return {};
  }
}

std::string link(std::string_view url) {
  for (const std::string_view site : {"https://meta-pytorch.github.io/", "https://meta-pytorch.org/",
                                      "https://pytorch.org/", "https://docs.pytorch.org/"})
    if (url.starts_with(site) && url.find_first_of("?&=# ") == std::string_view::npos) return std::string(url);
  return {};
}

std::string counts(TextRedactor& text, const std::string& json) {
  if (json.empty()) return {};
  std::string out = "{";
  try {
    const Json tree = parse_json(json, "counts");
    for (const auto& [key, value] : tree.object())
      if (const auto* n = value.as<int64_t>())
        out += fmt::format("{}\"{}\":{}", out.size() > 1 ? "," : "", text.pieces(key), *n);
  } catch (const std::exception&) {
    return {};
  }
  std::erase(out, '\\');
  return out + "}";
}

template <class Record>
std::string special(TextRedactor& text, std::string_view column, const Record& record, const std::string& value) {
  if constexpr (std::is_same_v<Record, EventRecord>) {
    return column == "args" ? event_args(text, value) : event_name(text, record);
  } else if constexpr (std::is_same_v<Record, NodeRow>) {
    return column == "extra" ? node_extra(text, value) : text.code(value);
  } else if constexpr (std::is_same_v<Record, GraphBreakRecord>) {
    return link(value);
  } else {
    throw_internal(fmt::format("no redaction of column '{}' of table '{}'", column, Table<Record>::name));
  }
}

std::string redacted(TextRedactor& text, R rule, const std::string& value) {
  switch (rule) {
    case R::Keep:
      return value;
    case R::File:
      return text.file(value);
    case R::Code:
      return text.code(value);
    case R::Shape:
      return text.shape(value);
    case R::Words:
      return text.words(value);
    case R::Pieces:
      return text.pieces(value);
    case R::Kernel:
      return text.kernel(value);
    case R::Hash:
      return text.hash(value);
    case R::Counts:
      return counts(text, value);
    case R::Drop:
    case R::Special:
      break;
  }
  return {};
}

// ------------------------------------------------------------------------------------------------------------------
// Tables

/// Properties that say nothing about the owner.
bool is_public_property(std::string_view key) {
  return key == "producer" || key == "version" || key == "torch" || key == "cpu" || key == "cpu_features" ||
         key == "backend" || key == "system" || key == "trace.complete" ||
         (key.starts_with("device.") && key.ends_with(".name"));
}

constexpr std::size_t kRowsPerStep = 4096;

class Redactor {
 public:
  Redactor(Database& from, Database& to, const std::function<void()>& step) : from_(from), to_(to), step_(step) {
    Query query = from_.query("SELECT id, value FROM string");
    while (query.step()) strings_[query.integer(0)] = query.text(1);
  }

  void run() {
    collect_sizes();
    ForAllTables<Tables>::run(*this);
    write_strings();
    copy_properties();
    for (const char* table : {"stack_frame", "node_end", "kernel_node", "rewrite_node"}) copy_numbers(table);
  }

 private:
  struct Lookup {
    Redactor* self;
    const std::string& operator()(Id id) const {
      static const std::string empty;
      const auto found = self->strings_.find(id);
      return found == self->strings_.end() ? empty : found->second;
    }
  };
  struct Intern {
    Redactor* self;
    Id operator()(const std::string& value) const {
      if (value.empty()) return kNone;
      return self->interned_.emplace(value, static_cast<Id>(self->interned_.size()) + 1).first->second;
    }
  };
  template <class... Records>
  struct Tables {
    static void run(Redactor& self) { (self.table<Records>(), ...); }
  };

  void collect_sizes() {
    Query query = from_.query("SELECT DISTINCT shape FROM node");
    while (query.step()) text_.add_sizes(Lookup{this}(query.integer(0)));
  }

  template <class Record>
  void table() {
    if constexpr (std::is_same_v<Record, RawRecord>) return;
    std::string marks;
    for_each_column<Record>([&](const auto&) { marks += marks.empty() ? "?" : ", ?"; });
    Query read = from_.query(fmt::format("SELECT {} FROM {}", column_list<Record>(), Table<Record>::name));
    Query write =
        to_.query(fmt::format("INSERT INTO {} ({}) VALUES ({})", Table<Record>::name, column_list<Record>(), marks));
    RowReader<Lookup> reader{Lookup{this}};
    RowBinder<Intern> binder{Intern{this}, 3};
    while (read.step()) {
      if (step_ && ++rows_ % kRowsPerStep == 0) step_();
      Record record = reader.template read<Record>(read);
      if constexpr (std::is_same_v<Record, ArtifactRecord>) {
        if (!redact_artifact(record)) continue;
      } else {
        redact(record);
      }
      binder.bind(write, record);
      write.run();
      binder.clear();
    }
  }

  template <class Record>
  void redact(Record& record) {
    const Record before = record;
    for_each_column<Record>([&](const auto& column) {
      auto& field = column.get(record);
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (std::is_same_v<Field, std::string>) {
        static const R rule = rule_of(Table<Record>::name, column.name);
        if (field.empty()) return;
        field = rule == R::Special ? special(text_, column.name, before, field) : redacted(text_, rule, field);
      } else if constexpr (std::is_same_v<Field, std::vector<SourceFileRecord::Line>>) {
        field.clear();
      }
    });
    if constexpr (std::is_same_v<Record, MetricRecord>) redact_key(record, before);
    if constexpr (std::is_same_v<Record, SymbolRecord>) redact_values(record);
    if constexpr (std::is_same_v<Record, EventRecord>) event_names_.emplace(before.name, record.name);
  }

  /// Of artifacts only the summary of a profile's times stays, in the names that the events have now.
  bool redact_artifact(ArtifactRecord& artifact) {
    auto times = profiler::correlation_of(artifact);
    if (!times) return false;
    for (profiler::UnassignedEvents& events : times->unassigned) {
      const auto known = event_names_.find(events.name);
      events.name = known == event_names_.end() ? text_.kernel(events.name) : known->second;
      events.why = text_.words(events.why);
    }
    for (profiler::ProgramMeasured& program : times->programs) {
      program.address = text_.pieces(program.address);
      program.not_measured = text_.words(program.not_measured);
    }
    const Id id = artifact.id;
    artifact = profiler::correlation_artifact(*times);
    artifact.id = id;
    artifact.size = static_cast<std::int64_t>(artifact.content.size());
    return true;
  }

  /// Profiles have metrics that the owner named.
  void redact_key(MetricRecord& metric, const MetricRecord& before) {
    static constexpr std::string_view known[] = {"record_shapes", "profile_memory",       "with_stack",
                                                 "with_modules",  "with_flops",           "schemaVersion",
                                                 "cupti_version", "cuda_runtime_version", "cuda_driver_version",
                                                 "rank",          "world_size",           "baseTimeNanoseconds"};
    if (before.owner.kind != OwnerKind::Run || before.key.starts_with("device.") || before.key.starts_with("flow."))
      return;
    if (std::find(std::begin(known), std::end(known), before.key) != std::end(known)) return;
    metric.key = text_.whole("metric", before.key);
    metric.value = 0;
  }

  /// A symbol may stand for a number of the program that is no size.
  void redact_values(SymbolRecord& symbol) {
    if (symbol.hint && !text_.may_stay(*symbol.hint) && symbol.origin.find(".size()[") == std::string::npos)
      symbol.hint = 0;
    for (std::optional<std::int64_t>* bound : {&symbol.min, &symbol.max})
      if (*bound && !text_.may_stay(**bound)) bound->reset();
  }

  void write_strings() {
    Query write = to_.query("INSERT INTO string (id, value) VALUES (?, ?)");
    for (const auto& [value, id] : interned_) {
      write.bind(id);
      write.bind(std::string_view(value));
      write.run();
    }
  }

  void copy_properties() {
    Query read = from_.query("SELECT key, value FROM property");
    Query write = to_.query("INSERT OR REPLACE INTO property (key, value) VALUES (?, ?)");
    while (read.step()) {
      if (!is_public_property(read.text(0))) continue;
      write.bind(read.text(0));
      write.bind(read.text(1));
      write.run();
    }
    write.bind(std::string_view("redacted"));
    write.bind(std::string_view("yes"));
    write.run();
  }

  /// Tables of nothing but numbers.
  void copy_numbers(const char* table) {
    Query read = from_.query(fmt::format("SELECT * FROM {}", table));
    Query write = to_.query(fmt::format("INSERT INTO {} VALUES (?, ?, ?)", table));
    while (read.step()) {
      for (int i = 0; i < 3; ++i) write.bind(read.integer(i));
      write.run();
    }
  }

  Database& from_;
  Database& to_;
  const std::function<void()>& step_;
  std::size_t rows_ = 0;
  TextRedactor text_;
  std::unordered_map<Id, std::string> strings_;
  std::unordered_map<std::string, std::string> event_names_;  ///< as they were, and as they are now
  std::unordered_map<std::string, Id> interned_;
};

}  // namespace

std::span<const RedactionRule> redaction_rules() { return kRules; }

void redact_trace(const fs::path& from, const fs::path& to, const std::function<void()>& step) {
  TraceFile source(from);
  {
    Writer empty(to);  // makes the file, or refuses to
    empty.close();
  }
  try {
    Database target(to, Database::Mode::ReadWrite, to);
    target.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN");
    Redactor(source.database(), target, step).run();
    target.release_statements();
    target.execute("COMMIT; VACUUM");
  } catch (...) {
    std::error_code ignored;
    fs::remove(to, ignored);
    remove_side_files(to);
    throw;
  }
}

}  // namespace strata
