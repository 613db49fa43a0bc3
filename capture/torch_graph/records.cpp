// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_graph/records.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "core/ir/fx_printer.h"
#include "core/ir/fx_reader.h"
#include "core/ir/op.h"
#include "core/support/error.h"

namespace strata::capture {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

// ------------------------------------------------------------------------------------------------------------- JSON

void append_json(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

/// A class name as part of a path.
std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '%' || c == '/' || c == '@') {
      out += c == '%' ? "%25" : c == '/' ? "%2F" : "%40";
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescaped(std::string_view part) {
  std::string out;
  for (size_t i = 0; i < part.size(); ++i) {
    const std::string_view code = part.substr(i, 3);
    if (code == "%25" || code == "%2F" || code == "%40") {
      out += code == "%25" ? '%' : code == "%2F" ? '/' : '@';
      i += 2;
    } else {
      out += part[i];
    }
  }
  return out;
}

// ---------------------------------------------------------------------------------------------------------- encoding

class Encoder {
 public:
  GraphRecords encode(const Graph& graph) {
    add(graph, "", 1);
    out_.extra = json_object(form_);
    return std::move(out_);
  }

 private:
  void add(const Graph& graph, const std::string& path, int depth) {
    if (graph.name != "GraphModule" || depth > 1) form_.emplace_back(path + "class", graph.name);
    for (const auto& [key, value] : graph.extra) form_.emplace_back(path + key, value);
    std::string member;
    if (depth > 1) {
      const Members members{{"graph", path.substr(0, path.size() - 1)}};
      member = json_object(members);
    }
    const size_t first = out_.nodes.size();
    out_.nodes.reserve(first + graph.size());
    position_.reserve(first + graph.size());
    for (const auto& node : graph.nodes()) {
      position_.emplace(node.get(), static_cast<trace::NodeId>(out_.nodes.size()) + 1);
      out_.nodes.push_back(record(*node, path));
      out_.nodes.back().extra = member;
      out_.from.push_back(node.get());
      for (const auto& [key, value] : node->meta.extra) form_.emplace_back(path + key + "@" + node->name, value);
    }
    for (const auto& [name, child] : graph.subgraphs) add(*child, child_path(path, name), depth + 1);
  }

  trace::NodeRecord record(const Node& node, const std::string& path) {
    trace::NodeRecord r;
    r.id = static_cast<trace::NodeId>(out_.nodes.size()) + 1;
    r.name = path + node.name;
    r.op = to_string(node.kind);
    r.target = node.target;
    r.inputs.reserve(node.args.size() + node.kwargs.size());
    for (const Argument& a : node.args) {
      if (!r.args.empty()) r.args += ", ";
      print_fx(a, r.args);
      inputs(r, a);
    }
    for (const auto& [key, a] : node.kwargs) {
      if (!r.args.empty()) r.args += ", ";
      r.args.append(key).append(" = ");
      print_fx(a, r.args);
      inputs(r, a);
    }
    r.type = node.type.text.empty() ? to_string(node.type) : node.type.text;
    if (node.type.is_tensor()) describe(r, node.tensor());
    return r;
  }

  void inputs(trace::NodeRecord& r, const Argument& a) {
    r.inputs.emplace_back();
    collect(r.inputs.back(), a);
  }

  void collect(std::vector<trace::NodeId>& ids, const Argument& a) {
    if (const Node* node = a.node()) {
      if (const auto found = position_.find(node); found != position_.end()) ids.push_back(found->second);
    } else if (const auto* list = a.as<ListArg>()) {
      for (const Argument& item : list->items) collect(ids, item);
    } else if (const auto* slice = a.as<SliceArg>()) {
      for (const Argument& item : slice->parts) collect(ids, item);
    } else if (const auto* dict = a.as<DictArg>()) {
      for (const auto& [key, value] : dict->items) {
        collect(ids, key);
        collect(ids, value);
      }
    }
  }

  /// The shape stands in the type's text; its own text may be simpler than what the symbols would print.
  static void describe(trace::NodeRecord& r, const TensorType& tensor) {
    r.dtype = dtype_abbr(tensor.dtype);
    r.device = tensor.device;
    size_t open = r.type.find('['), end = open;
    if (open == std::string::npos) return;
    for (int depth = 0; end < r.type.size(); ++end) {
      if (r.type[end] == '[' || r.type[end] == '(') ++depth;
      if ((r.type[end] == ']' || r.type[end] == ')') && --depth == 0) break;
    }
    r.shape = r.type.substr(open, end + 1 - open);
  }

  GraphRecords out_;
  std::unordered_map<const Node*, trace::NodeId> position_;
  Members form_;
};

// ---------------------------------------------------------------------------------------------------------- decoding

std::optional<NodeKind> kind_of(std::string_view op) {
  for (int k = 0; k <= static_cast<int>(NodeKind::Output); ++k)
    if (to_string(static_cast<NodeKind>(k)) == op) return static_cast<NodeKind>(k);
  return std::nullopt;
}

Role role_of(std::string_view word) {
  return word == "backward" ? Role::Backward : word == "recomputed" ? Role::Recomputed : Role::Forward;
}

/// `(f32[2], i64[])`: the types of a node with several results.
std::optional<Type> tuple_type(ShapeEnv& env, std::string_view text) {
  if (!text.starts_with("(") || !text.ends_with(")")) return std::nullopt;
  Type type = Type::tuple({});
  const std::string_view inner = text.substr(1, text.size() - 2);
  int depth = 0;
  for (size_t i = 0, start = 0; i <= inner.size(); ++i) {
    if (i < inner.size() && (inner[i] == '(' || inner[i] == '[')) ++depth;
    if (i < inner.size() && (inner[i] == ')' || inner[i] == ']')) --depth;
    if (i < inner.size() && (inner[i] != ',' || depth != 0)) continue;
    std::string_view part = inner.substr(start, i - start);
    if (part.starts_with(" ")) part.remove_prefix(1);
    if (!part.empty()) type.parts.push_back(parse_fx_type(env, part));
    start = i + 1;
  }
  if (to_string(type) != text) return std::nullopt;
  return type;
}

Type type_of(ShapeEnv& env, std::string_view text) {
  if (std::optional<Type> tuple = tuple_type(env, text)) return *tuple;
  Type type = parse_fx_type(env, text);
  if (text == "None") {
    type.kind = Type::Kind::None;
    type.text.clear();
  }
  return type;
}

class Decoder {
 public:
  Decoder(const trace::SnapshotRecord& snapshot, std::span<const trace::NodeRecord> nodes,
          std::shared_ptr<ShapeEnv> env, std::unordered_map<const Node*, const trace::NodeRecord*>* records)
      : snapshot_(snapshot), env_(std::move(env)), ids_(std::make_shared<IdSource>()), records_(records) {
    for (const trace::NodeRecord& n : nodes) groups_[graph_path(n)].push_back(&n);
    for (auto& [key, value] : json_members(snapshot.extra)) sort(key, std::move(value));
  }

  Graph decode() { return read("", 1); }

 private:
  /// How one class was written.
  struct Form {
    std::string name = "GraphModule";
    std::map<std::string, std::string> graph;
    std::unordered_map<std::string, std::map<std::string, std::string>> nodes;
    std::vector<std::string> children;  // paths
  };

  static std::string graph_path(const trace::NodeRecord& n) {
    if (n.extra.empty()) return {};
    for (const auto& [key, value] : json_members(n.extra))
      if (key == "graph") return value + "/";
    return {};
  }

  /// A member of SnapshotRecord::extra goes where it belongs.
  void sort(std::string_view key, std::string value) {
    const size_t at = key.rfind('@');
    const std::string_view whole = key.substr(0, at);
    const size_t slash = whole.rfind('/');
    const std::string path(slash == std::string_view::npos ? "" : whole.substr(0, slash + 1));
    const std::string name(whole.substr(path.size()));
    Form& form = forms_[path];
    if (at != std::string_view::npos) {
      form.nodes[std::string(key.substr(at + 1))][name] = std::move(value);
    } else if (name == "class") {
      form.name = std::move(value);
    } else if (name.starts_with("fx.")) {
      form.graph[name] = std::move(value);
    }
    if (path.empty()) return;
    const size_t up = path.rfind('/', path.size() - 2);
    auto& siblings = forms_[up == std::string::npos ? "" : path.substr(0, up + 1)].children;
    if (std::find(siblings.begin(), siblings.end(), path) == siblings.end()) siblings.push_back(path);
  }

  [[noreturn]] void fail(std::string_view why) const {
    throw_user(fmt::format("stage '{}' cannot be read as a graph: {}", snapshot_.stage, why));
  }

  Graph read(const std::string& path, int depth) {
    if (depth > kFxMaxClasses) fail(fmt::format("more than {} nested classes", kFxMaxClasses));
    Graph graph(env_, ids_);
    Form form;
    if (const auto found = forms_.find(path); found != forms_.end()) form = std::move(found->second);
    graph.name = form.name;
    graph.extra = std::move(form.graph);
    FxNames names;
    if (const auto found = groups_.find(path); found != groups_.end()) {
      for (const trace::NodeRecord* r : found->second) add(graph, *r, path.size(), names, form);
    }
    for (const std::string& child : form.children) {
      const std::string_view part = std::string_view(child).substr(path.size(), child.size() - path.size() - 1);
      graph.subgraphs[unescaped(part)] = std::make_unique<Graph>(read(child, depth + 1));
    }
    for (const auto& node : graph.nodes())
      for (Argument& a : node->args)
        if (const auto* text = a.as<OpaqueArg>(); text && graph.subgraphs.contains(text->text))
          a = GraphArg{text->text};
    return graph;
  }

  void add(Graph& graph, const trace::NodeRecord& r, size_t prefix, FxNames& names, Form& form) {
    auto node = std::make_unique<Node>();
    const std::optional<NodeKind> kind = kind_of(r.op);
    if (!kind || r.id <= 0 || r.name.size() <= prefix) fail(fmt::format("node '{}' has the opcode '{}'", r.name, r.op));
    const std::string_view name = std::string_view(r.name).substr(prefix);
    node->kind = *kind;
    node->id = static_cast<NodeId>(r.id);
    node->name = name;
    node->target = r.target;
    if (node->kind == NodeKind::Call) node->op = find_op(node->target);
    parse_fx_arguments(*node, r.args, names);
    node->type = type_of(*env_, r.type);
    node->meta.module_path = r.module;
    node->meta.role = role_of(r.role);
    if (const auto found = form.nodes.find(node->name); found != form.nodes.end())
      node->meta.extra = std::move(found->second);
    Node* made = graph.add(std::move(node));
    if (graph.nodes().back().get() != made || made->name != name)
      fail(fmt::format("node '{}' stands out of order or twice", r.name));
    names.emplace(name, made);
    if (records_) records_->emplace(made, &r);
  }

  const trace::SnapshotRecord& snapshot_;
  std::shared_ptr<ShapeEnv> env_;
  std::shared_ptr<IdSource> ids_;
  std::unordered_map<const Node*, const trace::NodeRecord*>* records_;
  std::unordered_map<std::string, std::vector<const trace::NodeRecord*>> groups_;  // by path
  std::unordered_map<std::string, Form> forms_;
};

}  // namespace

std::string child_path(std::string_view parent, std::string_view child) {
  return std::string(parent) + escaped(child) + "/";
}

std::string json_object(std::span<const std::pair<std::string, std::string>> members) {
  if (members.empty()) return {};
  std::string out = "{";
  for (const auto& [key, value] : members) {
    if (out.size() > 1) out += ", ";
    append_json(out, key);
    out += ": ";
    append_json(out, value);
  }
  return out += '}';
}

std::vector<std::pair<std::string, std::string>> json_members(std::string_view object) {
  Members members;
  if (object.empty()) return members;
  simdjson::dom::parser parser;
  simdjson::dom::object root;
  if (parser.parse(simdjson::padded_string(object)).get(root) != simdjson::SUCCESS) return members;
  for (const auto& [key, value] : root) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) members.emplace_back(key, text);
  }
  return members;
}

GraphRecords records_of(const Graph& graph) { return Encoder().encode(graph); }

Graph graph_of(const trace::SnapshotRecord& snapshot, std::span<const trace::NodeRecord> nodes,
               std::shared_ptr<ShapeEnv> env, std::unordered_map<const Node*, const trace::NodeRecord*>* records) {
  if (!env) env = std::make_shared<ShapeEnv>();
  return Decoder(snapshot, nodes, std::move(env), records).decode();
}

}  // namespace strata::capture
