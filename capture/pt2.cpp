// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/pt2.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "capture/pt2_archive.h"
#include "capture/pt2_graph.h"
#include "capture/pt2_guards.h"
#include "capture/pt2_samples.h"
#include "capture/pt2_vmap.h"
#include "core/support/error.h"

namespace strata {
namespace {

using namespace capture;

std::vector<std::string> strings(const Json& array) {
  std::vector<std::string> result;
  for (const Json& item : array.array()) result.push_back(item.string());
  return result;
}

std::string version_text(const Json* version) {
  if (!version) return {};
  if (version->as<int64_t>()) return fmt::format("{}", version->integer());
  return fmt::format("{}.{}", version->at("major").integer(), version->at("minor").integer());
}

/// The root's entry in `module_call_graph`, if it has a signature.
const Json* root_signature(const Json& module) {
  const Json* calls = module.find("module_call_graph");
  if (!calls) return nullptr;
  for (const Json& entry : calls->array())
    if (entry.at("fqn").string().empty()) return entry.find("signature");
  return nullptr;
}

/// What callers get, in order.
std::vector<Argument> user_outputs(const Graph& graph) {
  const std::vector<Argument> outputs = graph.flat_outputs();
  std::vector<Argument> found;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (graph.is_user_output(i)) found.push_back(outputs[i]);
  return found;
}

bool is_user_leaf(const InputSpec& spec) {
  return spec.kind == InputSpec::Kind::User || spec.kind == InputSpec::Kind::ConstantInput ||
         (spec.kind == InputSpec::Kind::CustomObject && spec.target.empty());
}

/// Names of inputs and outputs from the tree specs; placeholders' names where these do not fit.
void name_inputs(Program& program, const std::vector<std::string>& leaf_names) {
  const auto placeholders = program.graph.placeholders();
  std::vector<size_t> leaves;
  for (size_t i = 0; i < placeholders.size(); ++i)
    if (is_user_leaf(program.graph.input_specs[i])) leaves.push_back(i);
  const bool fits = leaf_names.size() == leaves.size();
  for (size_t k = 0; k < leaves.size(); ++k) {
    const InputSpec& spec = program.graph.input_specs[leaves[k]];
    const std::string name = fits ? leaf_names[k] : placeholders[leaves[k]]->name;
    if (spec.kind == InputSpec::Kind::User) program.user_input_names.push_back(name);
    if (spec.kind == InputSpec::Kind::ConstantInput) program.constant_inputs.push_back({name, spec.constant});
  }
}

void name_outputs(Program& program, bool has_spec) {
  const std::vector<Argument> outputs = user_outputs(program.graph);
  std::vector<std::string> names;
  if (has_spec) append_leaf_names(program.out_spec, "out", names);
  const bool fits = names.size() == outputs.size();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = fits ? names[i] : outputs.size() == 1 ? "out" : fmt::format("out.{}", i);
    if (is_array_output(outputs[i]))
      program.user_output_names.push_back(name);
    else
      program.constant_outputs.push_back({i, name, outputs[i]});
  }
}

void read_call_signature(Program& program, const Json& module, const std::string& file) {
  std::vector<std::string> leaf_names;
  const Json* signature = root_signature(module);
  if (signature) {
    const Json* namedtuples = module.find("treespec_namedtuple_fields");
    program.in_spec = parse_tree_spec(signature->at("in_spec").string(), namedtuples, file + ":in_spec");
    program.out_spec = parse_tree_spec(signature->at("out_spec").string(), namedtuples, file + ":out_spec");
    const Json* names = signature->find("forward_arg_names");
    leaf_names = input_names(program.in_spec, names ? strings(*names) : std::vector<std::string>());
  }
  name_inputs(program, leaf_names);
  name_outputs(program, signature != nullptr);
}

/// `x.size()[0]` for every symbol that is a size of an input, preferring sizes that are the symbol itself.
void set_symbol_origins(Program& program) {
  ShapeEnv& env = program.graph.env();
  const auto placeholders = user_placeholders(program.graph);
  for (const bool alone : {true, false})
    for (size_t i = 0; i < placeholders.size() && i < program.user_input_names.size(); ++i) {
      const Type& type = placeholders[i]->type;
      const bool tensor = type.is_tensor();
      const std::vector<SymInt> sizes = tensor ? type.tensor.shape : std::vector<SymInt>{type.sym};
      for (size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d].is_const() || env.symbol_id(sizes[d]).has_value() != alone) continue;
        const std::string& input = program.user_input_names[i];
        const std::string place = tensor ? fmt::format("{}.size()[{}]", input, d) : input;
        for (const size_t id : free_symbols(sizes[d]))
          if (env.info(id).origin.empty())
            env.info(id).origin = alone ? place : fmt::format("{} == {}", place, sizes[d].str());
      }
    }
}

/// Inputs that were views when the program was exported have strides of their base's size, a symbol that no input
/// tells. PyTorch takes any strides: such an input lies without gaps here, and so do its views.
void forget_bases(Program& program) {
  const auto inputs = user_placeholders(program.graph);
  std::set<size_t> told;
  const auto note = [&](const SymInt& size) {
    for (size_t symbol : free_symbols(size)) told.insert(symbol);
  };
  for (const Node* input : inputs) {
    note(input->type.sym);
    std::ranges::for_each(input->type.tensor.shape, note);
  }
  const auto known = [&](const SymInt& size) {
    return std::ranges::all_of(free_symbols(size), [&](size_t symbol) { return told.contains(symbol); });
  };
  std::map<size_t, SymInt> without_gaps;
  for (Node* input : inputs) {
    TensorType& type = input->type.tensor;
    if (!type.strides || std::ranges::all_of(*type.strides, known)) continue;
    const std::vector<SymInt> strides = contiguous_strides(type.shape);
    for (size_t d = 0; d < strides.size(); ++d)
      if (const auto symbol = program.graph.env().symbol_id((*type.strides)[d]); symbol && !told.contains(*symbol))
        without_gaps.emplace(*symbol, strides[d]);
    type.strides = strides;
  }
  if (without_gaps.empty()) return;
  program.graph.substitute([&](size_t symbol) -> std::optional<SymInt> {
    const auto found = without_gaps.find(symbol);
    return found == without_gaps.end() ? std::nullopt : std::optional(found->second);
  });
}

/// Sizes as the exporter knew them: `Max(1, s0)` is `s0` where s0 was 2 or more.
void simplify_sizes(Program& program) {
  const TracedSizes traced(program.graph.env());
  if (traced.none()) return;
  auto stated = std::make_unique<Graph>(program.graph.clone());
  program.graph.substitute([](size_t) { return std::optional<SymInt>(); });
  if (!structurally_equal(program.graph, *stated)) program.stated = std::move(stated);
}

void fill_missing_hints(Program& program) {
  if (program.sample_inputs.empty()) return;
  try {
    const SymBindings bound = bind_symbols(program.graph, program.sample_inputs, program.user_input_names);
    for (size_t id = 0; id < bound.size(); ++id)
      if (bound[id] && !program.graph.env().info(id).hint) program.graph.env().info(id).hint = bound[id];
  } catch (const Error&) {
    // Samples that do not fit the program say nothing about its symbols; running on them gives the error.
  }
}

void require_state(const Program& program, const Pt2State& state, const std::string& file) {
  std::vector<std::string> missing;
  for (const InputSpec& spec : program.graph.input_specs) {
    using Kind = InputSpec::Kind;
    if (spec.kind != Kind::Parameter && spec.kind != Kind::Buffer && spec.kind != Kind::TensorConstant) continue;
    if (program.state.contains(spec.target)) continue;
    const auto other = state.others.find(spec.target);
    missing.push_back(other == state.others.end() ? spec.target : fmt::format("{} ({})", spec.target, other->second));
  }
  if (missing.empty()) return;
  const size_t total = missing.size();
  if (total > 10) missing.resize(10);
  throw_user(fmt::format("'{}': {} weights of the program are not in the archive: {}{}", file, total,
                         fmt::join(missing, ", "), total > 10 ? ", ..." : ""),
             "export it again, with dense tensors (torchao: unwrap_tensor_subclass(model) first)");
}

/// A weight must be what the graph says that it is: kernels rely on dtype and sizes.
void check_state_types(const Program& program, const std::string& file) {
  const auto placeholders = program.graph.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const auto it = program.state.find(program.graph.input_specs[i].target);
    const Type& type = placeholders[i]->type;
    if (program.graph.input_specs[i].kind == InputSpec::Kind::User || it == program.state.end() || !type.is_tensor())
      continue;
    bool same = it->second.dtype == type.tensor.dtype && it->second.rank() == type.tensor.shape.size();
    for (size_t d = 0; same && d < it->second.rank(); ++d) {
      const SymInt& size = type.tensor.shape[d];
      same = !size.is_const() || size.value() == it->second.shape[d];
    }
    if (!same)
      throw_user(fmt::format("'{}': weight '{}' is {}, the program declares {}", file, it->first, it->second.str(),
                             to_string(type)),
                 "the file is damaged; export it again");
  }
}

Program read_program(const Pt2Archive& archive, const Json& json, const std::string& file) {
  Pt2GraphContext context;
  read_ranges(json, *context.env);
  const Json& module = json.at("graph_module");
  Graph graph = read_pt2_graph(module.at("graph"), module.at("signature"), context);
  const Json* torch = json.find("torch_version");
  if (auto plain = write_out_vmap(graph, torch ? torch->string() : "")) graph = std::move(*plain);
  Program program(std::move(graph));
  program.name = archive.model();
  program.path = archive.name();
  program.source_lines = context.metadata.lines();
  program.schema_version = version_text(json.find("schema_version"));
  if (torch) program.producer = "torch " + torch->string();
  if (const Json* verifiers = json.find("verifiers")) program.verifiers = strings(*verifiers);
  read_call_signature(program, module, file);
  forget_bases(program);
  simplify_sizes(program);
  if (const Json* guards = json.find("guards_code")) add_guards(program, strings(*guards));
  return program;
}

Program load(Bytes bytes, const std::string& name, std::string_view model) {
  const Pt2Archive archive(std::move(bytes), name, model);
  const std::string file = fmt::format("{}:models/{}.json", name, archive.model());
  Program program = with_json(parse_json(archive.program().text(), file), file,
                              [&](const Json& json) { return read_program(archive, json, file); });
  Pt2State state = archive.state();
  program.state = std::move(state.tensors);
  for (const auto& [fqn, why] : state.others) program.objects.push_back(fqn);
  require_state(program, state, name);
  check_state_types(program, name);
  read_sample_inputs(program, archive.sample_inputs(), name + ":sample_inputs");
  set_symbol_origins(program);
  fill_missing_hints(program);
  return program;
}

}  // namespace

Program load_pt2(const std::filesystem::path& path, std::string_view model) {
  return load(map_file(path), path.string(), model);
}

Program load_pt2_bytes(std::span<const std::byte> bytes, const std::string& name, std::string_view model) {
  return load(copy_bytes(bytes), name, model);
}

}  // namespace strata
