// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata export` and `strata view`.

#include "app/draw/export.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "app/cli/cli.h"
#include "app/cli/interrupt.h"
#include "app/cli/json_text.h"
#include "app/cli/progress.h"
#include "app/draw/grouping.h"
#include "app/draw/user_groups.h"
#include "app/report/html_report.h"
#include "core/support/error.h"
#include "profiler/chrome_export.h"

namespace strata::cli {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  std::string trace, format, output;
  Address address;
  std::string group = "kernels", colour = "class";
  std::vector<std::string> user_groups, collapsed;
  bool dark = false;
};

Json node_json(const trace::NodeRecord& n) {
  JsonArray inputs;
  for (const auto& operand : n.inputs) inputs.push_back(json_list(operand));
  return Json{JsonObject{{"id", json(n.id)},
                         {"name", json(n.name)},
                         {"op", json(n.op)},
                         {"target", json(n.target)},
                         {"args", json(n.args)},
                         {"inputs", Json{std::move(inputs)}},
                         {"type", json(n.type)},
                         {"dtype", json(n.dtype)},
                         {"shape", json(n.shape)},
                         {"module", json(n.module)},
                         {"group", json(n.group)}}};
}

std::string graph_json(trace::Reader& reader, const trace::CompileRecord& compile,
                       const trace::SnapshotRecord& snapshot) {
  if (snapshot.kind != trace::SnapshotKind::Graph)
    throw_user(fmt::format("stage '{}' is text, not a graph", snapshot.stage), "`strata show` prints it");
  JsonArray nodes, kernels;
  for (const trace::NodeRecord& n : reader.nodes(snapshot.id)) nodes.push_back(node_json(n));
  for (const trace::KernelRecord& k : reader.kernels(compile.id))
    if (k.snapshot == snapshot.id)
      kernels.push_back(Json{JsonObject{{"name", json(k.name)},
                                        {"library", json(k.library)},
                                        {"group", json(k.group)},
                                        {"nodes", json_list(k.nodes)}}});
  return to_text(Json{JsonObject{{"graph", json(compile.address)},
                                 {"name", json(compile.name)},
                                 {"stage", json(snapshot.stage)},
                                 {"nodes", Json{std::move(nodes)}},
                                 {"kernels", Json{std::move(kernels)}}}});
}

std::string format_of(const ExportOptions& o) {
  if (!o.format.empty()) return o.format;
  const std::string extension = fs::path(o.output).extension().string();
  return extension.empty() ? "svg" : extension.substr(1);
}

void write_chrome(const ExportOptions& o, trace::Reader& reader) {
  const profiler::ChromeExportResult result = profiler::write_chrome_trace(
      reader, fs::path(o.output), {.run = trace::kNone, .progress = [](double) { return !interrupted(); }});
  if (!result.complete) throw_user("interrupted");
  if (result.events == 0) note("the trace has no events: there is nothing on the timeline");
}

void write_report(const ExportOptions& o, trace::Reader& reader) {
  Progress progress;
  report::HtmlOptions options;
  options.graph = o.address.graph;
  options.progress = [&](double part, std::string_view what) {
    progress.say(fmt::format("{:3.0f}% {}", part * 100, what));
    return !interrupted();
  };
  try {
    draw::write_file(o.output, report::html_report(reader, options));
  } catch (const draw::Stopped&) {
    throw_user("interrupted");
  }
}

template <typename Value>
Value value_of(const char* what, const std::string& word, const std::vector<std::pair<std::string, Value>>& values) {
  std::vector<std::string> words;
  for (const auto& [known, value] : values) {
    if (known == word) return value;
    words.push_back(known);
  }
  throw_user(fmt::format("unknown {} '{}'", what, word), suggest(word, words));
}

draw::DrawOptions draw_options(const ExportOptions& o) {
  using draw::ColourBy;
  using draw::GroupBy;
  draw::DrawOptions options;
  options.dark = o.dark;
  options.group_by = value_of<GroupBy>("grouping", o.group,
                                       {{"automatic", GroupBy::Automatic},
                                        {"kernels", GroupBy::Kernels},
                                        {"modules", GroupBy::Modules},
                                        {"user", GroupBy::User},
                                        {"none", GroupBy::None}});
  options.groups = options.group_by != GroupBy::None;
  options.colour_by = value_of<ColourBy>("colour", o.colour,
                                         {{"class", ColourBy::Class},
                                          {"dtype", ColourBy::DType},
                                          {"time", ColourBy::Time},
                                          {"bytes", ColourBy::Bytes},
                                          {"module", ColourBy::Module},
                                          {"device", ColourBy::Device},
                                          {"none", ColourBy::None}});
  for (const std::string& text : o.user_groups) options.user_groups.push_back(draw::parse_user_group(text));
  for (const std::string& name : o.collapsed) {
    options.opened[name] = false;
    options.opened[draw::user_group_key(name)] = false;
  }
  return options;
}

void write_export(const ExportOptions& o) {
  const std::string format = format_of(o);
  check_word("format", format, {"svg", "png", "pdf", "dot", "json", "chrome", "html"});
  trace::Reader reader(o.trace);
  if (format == "chrome") return write_chrome(o, reader);
  if (format == "html") return write_report(o, reader);
  const trace::CompileRecord compile = select_compile(reader, o.address);
  const trace::SnapshotRecord snapshot = select_snapshot(reader, compile.id, o.address);
  draw::write_file(o.output, format == "json"
                                 ? graph_json(reader, compile, snapshot)
                                 : draw::render(reader, snapshot.id, draw::parse_format(format), draw_options(o)));
}

// ------------------------------------------------------------------------------------------------------------------
// view

struct ViewOptions {
  std::string trace;
  Address address;
};

/// Beside this executable, then along PATH.
std::string find_studio() {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  std::vector<fs::path> folders;
  if (!failed) folders.push_back(self.parent_path());
  if (const char* path = std::getenv("PATH")) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const size_t colon = rest.find(':');
      if (colon != 0) folders.emplace_back(rest.substr(0, colon));
      rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
    }
  }
  for (const fs::path& folder : folders)
    if (const fs::path candidate = folder / "strata-studio"; ::access(candidate.c_str(), X_OK) == 0)
      return candidate.string();
  throw_user("the window, strata-studio, is not installed", "build it, or put it beside this command or into PATH");
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

void view(const ViewOptions& o) {
  trace::Reader reader(o.trace);  // whatever is wrong with it is told here
  std::vector<std::string> words{find_studio(), o.trace};
  if (!o.address.graph.empty()) words.insert(words.end(), {"--graph", select_compile(reader, o.address).address});
  if (!o.address.stage.empty())
    words.insert(words.end(), {"--stage", select_stage(reader, reader.find_compile(o.address.graph).id, o.address)});
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") && !is_set("QT_QPA_PLATFORM"))
    throw_user("there is no display to open a window on: neither DISPLAY nor WAYLAND_DISPLAY is set",
               "`strata show` and `strata export` work without one");
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  ::execv(arguments.front(), arguments.data());
  throw_runtime(fmt::format("cannot start '{}': {}", words.front(), std::strerror(errno)));
}

}  // namespace

void add_export(CLI::App& app, Invocation&) {
  CLI::App* command =
      app.add_subcommand("export", "a graph as a picture or JSON, the timeline, or a report of everything");
  auto options = std::make_shared<ExportOptions>();
  command->add_option("TRACE", options->trace, "trace file")->required();
  add_graph_option(*command, options->address);
  add_stage_option(*command, options->address);
  command
      ->add_option("--format", options->format,
                   "svg, png, pdf, dot, json (the graph), chrome (the timeline), html (a report in one file); default: "
                   "as the file is called")
      ->type_name("F");
  command->add_option("-o,--output", options->output, "the file to write")->type_name("FILE")->required();
  command
      ->add_option("--group", options->group,
                   "what frames stand for: kernels (default), modules, user (--define only), none, automatic")
      ->type_name("G");
  command
      ->add_option("--define", options->user_groups,
                   "a group of your own, drawn as a frame among the others; RULE is module:PATH, op:NAME or conditions "
                   "as in `strata query`. May be repeated")
      ->type_name("NAME=RULE")
      ->allow_extra_args(false);
  command->add_option("--collapse", options->collapsed, "a module or group to draw as one box. May be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--colour,--color", options->colour,
                   "what colours stand for: class (of operator, default), dtype, time, bytes, module, device, none")
      ->type_name("C");
  command->add_flag("--dark", options->dark, "light on dark");
  command->callback([options] { write_export(*options); });
}

void add_view(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("view", "open a trace in the window");
  auto options = std::make_shared<ViewOptions>();
  command->add_option("TRACE", options->trace, "trace file")->required();
  add_graph_option(*command, options->address);
  add_stage_option(*command, options->address);
  command->callback([options] { view(*options); });
}

}  // namespace strata::cli
