// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/inductor/debug_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "capture/inductor/output_code.h"
#include "capture/inductor/program.h"
#include "capture/inductor/py_text.h"
#include "capture/inductor/scheduler_ir.h"
#include "capture/torch_graph/importer.h"
#include "capture/torch_text/torch_logs.h"
#include "core/support/error.h"
#include "core/support/file.h"

namespace strata::capture {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxEntries = 200'000;

/// A folder of one Inductor compile: `model__0_forward_1.0`.
struct GraphFolder {
  fs::path path;
  std::int64_t pid = 0;
  std::int64_t aot = -1;     ///< number of the AOT graph; -1: the name does not say
  std::string role;          ///< may be empty
  std::int64_t counter = 0;  ///< place among the folders of the process
};

bool is_there(const fs::path& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

bool is_folder(const fs::path& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end && out.size() < kMaxEntries;
       it.increment(failed)) {
    out.push_back(it->path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

fs::path output_code_file(const fs::path& folder) {
  for (const char* name : {"output_code.py", "output_code.cpp"}) {
    if (is_there(folder / name)) return folder / name;
  }
  return {};
}

bool is_graph_folder(const fs::path& folder) {
  if (!output_code_file(folder).empty()) return true;
  for (const char* name :
       {"fx_graph_readable.py", "fx_graph_transformed.py", "ir_pre_fusion.txt", "ir_post_fusion.txt"}) {
    if (is_there(folder / name)) return true;
  }
  return false;
}

/// `run_2026_11_21_09_31_15_242000-pid_18173`
std::int64_t pid_of(const std::string& name) {
  const std::size_t at = name.rfind("-pid_");
  return at == std::string::npos ? 0 : py::integer(name.substr(at + 5)).value_or(0);
}

/// Takes `__0_forward_1.0` apart; a name of another form says nothing.
void read_name(GraphFolder& folder) {
  const std::string name = folder.path.filename().string();
  const std::size_t dot = name.rfind('.');
  const std::size_t split = name.rfind("__");
  if (dot == std::string::npos) return;
  folder.counter = py::integer(std::string_view(name).substr(dot + 1)).value_or(0);
  if (split == std::string::npos || split > dot) return;
  const std::vector<std::string_view> parts = py::split(std::string_view(name).substr(split + 2, dot - split - 2), '_');
  if (parts.size() != 3) return;
  folder.aot = py::integer(parts[0]).value_or(-1);
  folder.role = parts[1];
}

void find_folders(const fs::path& folder, std::int64_t pid, int depth, std::vector<GraphFolder>& out) {
  if (const std::int64_t own = pid_of(folder.filename().string()); own != 0) pid = own;
  if (is_graph_folder(folder)) {
    GraphFolder found{folder, pid, -1, {}, 0};
    read_name(found);
    out.push_back(std::move(found));
    return;
  }
  if (depth >= kMaxDepth) return;
  for (const fs::path& entry : entries_of(folder)) {
    if (is_folder(entry) && entry.filename() != "tlparse") find_folders(entry, pid, depth + 1, out);
  }
}

class DebugImport {
 public:
  DebugImport(ImportContext& context, const fs::path& folder) : context_(context), folder_(folder) {}

  trace::Id run() {
    std::vector<GraphFolder> folders;
    find_folders(fs::absolute(folder_), 0, 0, folders);
    if (folders.empty()) {
      throw_user(fmt::format("'{}' holds nothing that TORCH_COMPILE_DEBUG=1 writes", folder_.string()),
                 "give the folder 'torch_compile_debug' of a run that compiled something");
    }
    // A run folder given alone has its process in the name of a folder above.
    for (fs::path above = fs::absolute(folder_); above.has_relative_path() && given_pid_ == 0;
         above = above.parent_path()) {
      given_pid_ = pid_of(above.filename().string());
    }
    std::stable_sort(folders.begin(), folders.end(), [](const GraphFolder& a, const GraphFolder& b) {
      return std::tie(a.pid, a.counter) < std::tie(b.pid, b.counter);
    });
    trace::InputRecord input;
    input.path = folder_.string();
    input.kind = "debug-folder";
    for (const GraphFolder& found : folders) {
      for (const fs::path& file : entries_of(found.path)) {
        std::error_code failed;
        const auto size = fs::is_regular_file(file, failed) ? fs::file_size(file, failed) : 0;
        if (!failed) input.bytes += static_cast<std::int64_t>(size);
      }
    }
    input_ = context_.add_input(input);
    for (std::size_t i = 0; i < folders.size(); ++i) {
      context_.progress(static_cast<double>(i) / static_cast<double>(folders.size()), folders[i].path.string());
      graph(folders[i]);
    }
    for (auto& [key, compile] : compiles_) compile.graphs->finish();
    std::set<fs::path> runs;
    for (const GraphFolder& found : folders) {
      if (found.path.parent_path().filename() == "torchinductor") runs.insert(found.path.parent_path());
    }
    for (const fs::path& run : runs) add_logs(run);
    context_.finish_input(input_, process_);
    return input_;
  }

 private:
  /// What the run logged as text beside its graphs; mostly nothing.
  void add_logs(const fs::path& torchinductor) {
    for (const fs::path& folder : {torchinductor, torchinductor.parent_path() / "torchdynamo"}) {
      for (const fs::path& file : entries_of(folder)) {
        std::error_code failed;
        if (file.extension() != ".log" || fs::file_size(file, failed) == 0 || failed) continue;
        context_.count(input_, "log");
        try {
          import_torch_logs(context_, file);
        } catch (const Error& e) {
          if (e.kind() != ErrorKind::User) throw;
          context_.problem(input_, "unreadable_file", 0, e.what());
        }
      }
    }
  }

  struct Compile {
    trace::Id id = trace::kNone;
    std::unique_ptr<GraphImporter> graphs;
  };

  /// A file's text; empty when it is not there or cannot be read (which is a problem of the input).
  std::string read(const fs::path& path) {
    if (path.empty() || !is_there(path)) return {};
    try {
      const Bytes bytes = map_file(path);
      context_.count(input_, path.filename().string());
      return std::string(bytes.text());
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::User) throw;
      context_.problem(input_, "unreadable_file", 0, e.what());
      return {};
    }
  }

  void graph(const GraphFolder& folder) {
    context_.count(input_, "graph");
    const fs::path code_file = output_code_file(folder.path);
    const std::string text = read(code_file);
    const std::string pre = read(folder.path / "ir_pre_fusion.txt"), post = read(folder.path / "ir_post_fusion.txt");
    if (!text.empty()) {
      if (const auto known = known_program(output_code_hash(text), process_of(folder))) {
        context_.count(input_, "known_graph");
        count_ir(add_scheduler_ir(context_, *known, pre, post));
        return;
      }
    }
    new_graph(folder, code_file, text, pre, post);
  }

  void count_ir(std::int64_t nodes) {
    if (nodes > 0) context_.count(input_, "scheduler_node", nodes);
  }

  trace::Id process_of(const GraphFolder& folder) {
    process_ = context_.process(folder.pid != 0 ? folder.pid : given_pid_, -1);
    return process_;
  }

  /// The program of the same code, in the same process if there are several.
  std::optional<trace::ProgramRecord> known_program(const std::string& hash, trace::Id process) {
    std::optional<trace::ProgramRecord> found;
    for (const ImportedProgram& p : context_.programs()) {
      if (p.code_hash != hash) continue;
      const auto compile = std::find_if(context_.compiles().begin(), context_.compiles().end(),
                                        [&](const ImportedCompile& c) { return c.record.id == p.record.compile; });
      const bool same = compile != context_.compiles().end() && compile->record.process == process;
      if (same && compile->input != input_) return p.record;
      if (!found && compile != context_.compiles().end() && compile->input != input_) found = p.record;
    }
    return found;
  }

  void new_graph(const GraphFolder& folder, const fs::path& code_file, const std::string& text, const std::string& pre,
                 const std::string& post) {
    const OutputCode code = parse_output_code(text);
    const std::string role = !code.role.empty() ? code.role : folder.role;
    Compile& compile = compile_of(folder);
    trace::ProgramRecord program;
    if (!text.empty()) {
      program.compile = compile.id;
      program.role = role;
      program.path = code_file.string();
      program.id = context_.writer().add(program);
      context_.programs().push_back({program, code.aot_id, output_code_hash(text)});
    }
    const std::string head = role.empty() ? "simplified" : fmt::format("simplified:{}", role);
    add_graph(compile, head + ".before", program.id, folder.path / "fx_graph_readable.py", role);
    const trace::Id after =
        add_graph(compile, head + ".after", program.id, folder.path / "fx_graph_transformed.py", role);
    if (program.id == trace::kNone) return;
    ProgramGraph graph;
    graph.snapshot = after;
    if (after != trace::kNone) graph.nodes = compile.graphs->nodes(after);
    add_output_code(context_, program, text, code, provenance(folder), graph, input_);
    count_ir(add_scheduler_ir(context_, program, pre, post));
  }

  ProvenanceMaps provenance(const GraphFolder& folder) {
    int bad = 0;
    ProvenanceMaps maps =
        parse_provenance(read(folder.path / "inductor_provenance_tracking_node_mappings.json"),
                         read(folder.path / "inductor_provenance_tracking_kernel_stack_traces.json"), {},
                         read(folder.path / "inductor_triton_kernel_to_post_grad_nodes.json"), &bad);
    if (bad > 0) {
      context_.problem(input_, "bad_provenance", 0,
                       fmt::format("{}: a provenance file is not the JSON that was expected", folder.path.string()));
    }
    return maps;
  }

  trace::Id add_graph(Compile& compile, const std::string& stage, trace::Id program, const fs::path& file,
                      const std::string& role) {
    const std::string text = read(file);
    if (text.empty()) return trace::kNone;
    return compile.graphs->add(stage, program, parse_graph_payload(text), text, role);
  }

  /// The compile of an AOT graph: forward and backward share one.
  Compile& compile_of(const GraphFolder& folder) {
    const std::int64_t number = folder.aot >= 0 ? folder.aot : folder.counter;
    Compile& compile = compiles_[{folder.pid, folder.aot >= 0 ? 0 : 1, number}];
    if (compile.id != trace::kNone) return compile;
    trace::CompileRecord record;
    record.process = process_of(folder);
    record.frame_number = number;
    record.address = free_address(record);
    record.outcome = "ok";
    const std::string name = folder.path.filename().string();
    record.name = name.substr(0, std::min(name.find("__"), name.size()));
    record.id = context_.writer().add(record);
    context_.compiles().push_back({record, input_});
    compile.id = record.id;
    compile.graphs = std::make_unique<GraphImporter>(context_, record.id, input_);
    return compile;
  }

  std::string free_address(trace::CompileRecord& record) {
    const std::string plain = fmt::format("{}/{}", record.frame_number, record.compile_number);
    for (int i = 0;; ++i) {
      record.prefix = i == 0 ? "" : i == 1 ? "debug:" : fmt::format("debug{}:", i);
      std::string address = record.prefix + plain;
      const bool taken = std::any_of(context_.compiles().begin(), context_.compiles().end(),
                                     [&](const ImportedCompile& c) { return c.record.address == address; });
      if (!taken) return address;
    }
  }

  ImportContext& context_;
  fs::path folder_;
  trace::Id input_ = trace::kNone, process_ = trace::kNone;
  std::int64_t given_pid_ = 0;
  std::map<std::tuple<std::int64_t, int, std::int64_t>, Compile> compiles_;
};

}  // namespace

trace::Id import_debug_folder(ImportContext& context, const fs::path& folder) {
  return DebugImport(context, folder).run();
}

}  // namespace strata::capture
