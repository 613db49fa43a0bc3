// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/kept_program.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "app/python/fx_graph.h"
#include "codegen/object_cache.h"
#include "core/ir/foreign.h"
#include "core/ir/op.h"
#include "core/ir/text.h"
#include "core/support/error.h"

namespace py = pybind11;

namespace strata {
namespace {

constexpr size_t kConstantBytes = size_t{64} * 1024;

/// Whether the text form says all of a type: numbers that only a run knows have text of PyTorch's in it.
bool is_plain(const Type& type) {
  if (type.kind == Type::Kind::Tuple) return std::all_of(type.parts.begin(), type.parts.end(), is_plain);
  const bool known = type.is_tensor() || type.kind == Type::Kind::None || type.kind == Type::Kind::SymInt;
  return known && type.text.empty();
}

bool is_plain(const Argument& argument);

bool is_plain(const std::vector<Argument>& arguments) {
  return std::all_of(arguments.begin(), arguments.end(), [](const Argument& a) { return is_plain(a); });
}

bool is_plain(const Argument& argument) {
  if (const auto* list = std::get_if<ListArg>(&argument.value)) return is_plain(list->items);
  if (const auto* slice = std::get_if<SliceArg>(&argument.value)) return is_plain(slice->parts);
  if (const auto* dict = std::get_if<DictArg>(&argument.value))
    return std::all_of(dict->items.begin(), dict->items.end(),
                       [](const auto& item) { return is_plain(item.first) && is_plain(item.second); });
  return !std::holds_alternative<OpaqueArg>(argument.value) && !std::holds_alternative<GraphArg>(argument.value);
}

void require_plain(const Node& node) {
  const auto refuse = [&](const std::string& why) { throw_user("'" + node.name + "' (" + node.target + ") " + why); };
  if (node.kind == NodeKind::Call && (!node.op || is_foreign(*node.op))) refuse("is computed by PyTorch");
  if (node.kind != NodeKind::Output && node.type.kind != Type::Kind::Unknown && !is_plain(node.type))
    refuse("gives what is neither a tensor nor a size");
  const bool plain = is_plain(node.args) && std::all_of(node.kwargs.begin(), node.kwargs.end(),
                                                        [](const auto& named) { return is_plain(named.second); });
  if (!plain) refuse("has an argument of a kind that is not kept");
}

std::string bytes_of(const Tensor& tensor) {
  const Tensor rows = tensor.contiguous();
  const size_t size = static_cast<size_t>(rows.numel()) * dtype_size(rows.dtype);
  return size == 0 ? std::string() : std::string(reinterpret_cast<const char*>(rows.data()), size);
}

Graph graph_of_text(const std::string& text) {
  return parse_text(std::make_shared<ShapeEnv>(), text, std::make_shared<IdSource>());
}

std::string print(const Graph& graph) { return print_text(graph, {.digests = false}); }

}  // namespace

ProgramText text_of_program(const Program& program) {
  const Graph& graph = program.graph;
  if (!graph.subgraphs.empty()) throw_user("it has a graph inside, '" + graph.subgraphs.begin()->first + "'");
  for (const auto& node : graph.nodes()) require_plain(*node);
  ProgramText text;
  size_t bytes = 0;
  for (const auto& [name, tensor] : graph.attributes) {
    bytes += static_cast<size_t>(tensor.numel()) * dtype_size(tensor.dtype);
    if (bytes > kConstantBytes) throw_user("it has more than 64 KiB of constants");
    if (!tensor.is_contiguous()) throw_user("constant '" + name + "' is not laid out row by row");
    text.constants[name] = bytes_of(tensor);
  }
  text.graph = print(graph);
  if (print(graph_of_text(text.graph)) != text.graph) throw_user("its text is not read back as it was written");
  return text;
}

Program program_of_text(const ProgramText& text, const std::string& name) {
  Graph graph = graph_of_text(text.graph);
  if (graph.attributes.size() != text.constants.size()) throw_user("the graph has other constants than those given");
  for (auto& [attribute, tensor] : graph.attributes) {
    const auto found = text.constants.find(attribute);
    Tensor filled = Tensor::empty(tensor.dtype, tensor.shape);
    const size_t size = static_cast<size_t>(filled.numel()) * dtype_size(filled.dtype);
    if (found == text.constants.end() || found->second.size() != size)
      throw_user("constant '" + attribute + "' is not given as the graph has it");
    if (size != 0) std::memcpy(filled.data(), found->second.data(), size);
    tensor = std::move(filled);
  }
  return program_of_fx(std::move(graph), name);
}

// -------------------------------------------------------------------------------------------------------------- Python

namespace {

using codegen::ObjectCache;

Sha256Digest digest_of(const py::bytes& key) {
  const std::string_view bytes = key;
  Sha256Digest digest{};
  if (bytes.size() != digest.size()) throw_user("a key has 32 bytes, found " + std::to_string(bytes.size()));
  std::memcpy(digest.data(), bytes.data(), digest.size());
  return digest;
}

py::tuple fx_as_text(const py::object& module) {
  const ProgramText text = text_of_program(read_fx_graph(module, ""));
  py::dict constants;
  for (const auto& [name, bytes] : text.constants) constants[py::str(name)] = py::bytes(bytes);
  return py::make_tuple(py::bytes(text.graph), constants);
}

py::object cached_program(const py::bytes& key) {
  const auto content = ObjectCache::from_environment().load(digest_of(key));
  if (!content) return py::none();
  return py::bytes(reinterpret_cast<const char*>(content->data()), content->size());
}

bool keep_program(const py::bytes& key, const py::bytes& content) {
  const std::string_view bytes = content;
  return ObjectCache::from_environment().store(digest_of(key), std::as_bytes(std::span(bytes)));
}

}  // namespace

void bind_kept_programs(py::module_& m) {
  m.def("fx_as_text", &fx_as_text, "The program of a graph as (text, {constant: bytes}); StrataError says why not.");
  m.def("cached_program", &cached_program, "What the cache on disk has under a key of 32 bytes, or None.");
  m.def("keep_program", &keep_program, "Puts bytes into the cache on disk; whether they are there now.");
  m.def("why_nothing_is_kept", [] { return ObjectCache::from_environment().why_off(); });
  m.def("build_identity", &codegen::build_identity);
}

}  // namespace strata
