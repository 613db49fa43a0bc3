// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/pt2_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "capture/pt2_archive.h"
#include "capture/pt2_autocast.h"
#include "core/ir/op.h"
#include "core/support/error.h"

namespace strata::capture {
namespace {

[[noreturn]] void wrong(const Json& where, const std::string& what) { throw JsonTypeError(&where, what); }

std::string enum_name(const Json& value, std::span<const std::string_view> names) {
  const int64_t i = value.integer();
  if (i < 0 || i >= static_cast<int64_t>(names.size())) wrong(value, fmt::format("unknown enum value {}", i));
  return "torch." + std::string(names[static_cast<size_t>(i)]);
}

constexpr std::array<std::string_view, 5> kMemoryFormats = {"unknown_format", "contiguous_format", "channels_last",
                                                            "channels_last_3d", "preserve_format"};
constexpr std::array<std::string_view, 8> kLayouts = {"unknown_layout", "sparse_coo", "sparse_csr", "sparse_csc",
                                                      "sparse_bsr",     "sparse_bsc", "_mkldnn",    "strided"};

std::string device_name(const Json& device) {
  const std::string& type = device.at("type").string();
  const Json* index = device.find("index");
  return index ? fmt::format("{}:{}", type, index->integer()) : type;
}

std::string strip_prefix(const std::string& target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  return target.starts_with(kPrefix) ? target.substr(kPrefix.size()) : target;
}

/// FX's name for the result of `aten.split.Tensor`: `split`.
std::string name_hint(std::string_view target) {
  const size_t first = target.find('.');
  std::string_view name = first == std::string_view::npos ? target : target.substr(first + 1);
  name = name.substr(0, name.find('.'));
  return name.empty() ? "node" : std::string(name);
}

bool is_readable(std::string_view expression) {
  // srepr always has a call with quotes or digits inside: `Symbol('s0', ...)`, `Integer(2)`.
  for (std::string_view head : {"Symbol(", "Integer(", "Add(", "Mul(", "Pow(", "IntInfinity(", "Rational("})
    if (expression.find(head) != std::string_view::npos) return false;
  return true;
}

class GraphReader {
 public:
  GraphReader(const Json& json, Pt2GraphContext& context)
      : json_(json), context_(context), graph_(context.env, context.ids) {}

  Graph run(const Json* signature) {
    read_types(json_);
    read_placeholders(signature);
    for (const Json& node : json_.at("nodes").array()) read_node(node);
    read_output(signature);
    remove_unused_parts();
    return std::move(graph_);
  }

 private:
  // --- types

  SymInt read_sym(const Json& json) {
    const auto [key, value] = json_union(json);
    if (key == "as_int") return value.integer();
    if (key != "as_expr") wrong(json, fmt::format("expected 'as_int' or 'as_expr', found '{}'", key));
    const Json& text = value.at("expr_str");
    return expression(text, value.find("hint"));
  }

  SymInt expression(const Json& text, const Json* hint) {
    ShapeEnv& env = *context_.env;
    SymInt result;
    try {
      result = is_readable(text.string()) ? parse_sym(env, text.string()) : parse_srepr(env, text.string());
    } catch (const Error& error) {
      wrong(text, error.message());
    }
    const auto id = result.is_const() ? std::nullopt : env.symbol_id(result);
    const Json* value = hint && hint->as<JsonObject>() ? hint->find("as_int") : nullptr;
    if (id && value && value->as<int64_t>()) env.info(*id).hint = *value->as<int64_t>();
    return result;
  }

  std::vector<SymInt> read_syms(const Json& json) {
    std::vector<SymInt> result;
    for (const Json& item : json.array()) result.push_back(read_sym(item));
    return result;
  }

  Type read_tensor_type(const Json& meta) {
    TensorType type;
    const auto dtype = pt2_dtype(meta.at("dtype").integer());
    if (!dtype) wrong(meta.at("dtype"), fmt::format("element type {} is unknown", meta.at("dtype").integer()));
    type.dtype = *dtype;
    type.shape = read_syms(meta.at("sizes"));
    type.device = device_name(meta.at("device"));
    if (const Json* grad = meta.find("requires_grad")) type.requires_grad = grad->boolean();
    const Json* strides = meta.find("strides");
    const Json* layout = meta.find("layout");
    if (strides && (!layout || layout->integer() == 7)) {
      type.strides = read_syms(*strides);
      if (type.strides->size() != type.shape.size()) wrong(*strides, "as many strides as sizes are expected");
    }
    return Type::of(std::move(type));
  }

  void read_types(const Json& graph) {
    if (const Json* values = graph.find("tensor_values"))
      for (const auto& [name, meta] : values->object()) types_[name] = read_tensor_type(meta);
    read_scalars(graph.find("sym_int_values"), Type::Kind::SymInt);
    read_scalars(graph.find("sym_bool_values"), Type::Kind::SymBool);
    read_scalars(graph.find("sym_float_values"), Type::Kind::SymFloat);
    if (const Json* values = graph.find("custom_obj_values"))
      for (const auto& [name, object] : values->object()) {
        Type type;
        type.kind = Type::Kind::Other;
        if (const Json* fqn = object.find("class_fqn")) type.text = fqn->string();
        types_[name] = std::move(type);
      }
  }

  void read_scalars(const Json* values, Type::Kind kind) {
    if (!values) return;
    for (const auto& [name, value] : values->object()) {
      Type type;
      if (kind == Type::Kind::SymInt) {
        type = Type::symint(read_sym(value));
      } else {
        type.kind = kind;
        if (const Json* expr = value.find("as_expr")) type.text = expr->at("expr_str").string();
      }
      types_[name] = std::move(type);
    }
  }

  const Type& type_of(const Json& where, const std::string& name) {
    const auto it = types_.find(name);
    if (it == types_.end()) wrong(where, fmt::format("the type of '{}' is not stated", name));
    return it->second;
  }

  // --- arguments

  Argument value_named(const Json& where, const std::string& name) {
    const auto it = values_.find(name);
    if (it == values_.end()) wrong(where, fmt::format("'{}' is used but not defined before", name));
    used_.insert(it->second);
    return it->second;
  }

  template <class F>
  Argument list_of(const Json& json, F&& one) {
    std::vector<Argument> items;
    for (const Json& item : json.array()) items.push_back(one(item));
    return Argument::list(std::move(items));
  }

  /// {as_name} or the plain value.
  Argument read_symbolic(const Json& json) {
    const auto [key, value] = json_union(json);
    if (key == "as_name") return value_named(json, value.string());
    if (key == "as_int") return value.integer();
    if (key == "as_bool") return value.boolean();
    if (key == "as_float") return value.number();
    wrong(json, fmt::format("unknown kind of number '{}'", key));
  }

  static DType read_dtype(const Json& value) {
    const auto dtype = pt2_dtype(value.integer());
    if (!dtype) wrong(value, fmt::format("element type {} is unknown", value.integer()));
    return *dtype;
  }

  Argument read_graph(const Json& value) {
    const std::string wanted = value.at("name").string();
    Graph inner = GraphReader(value.at("graph"), context_).run(nullptr);
    std::string name = wanted;
    for (int i = 1; graph_.subgraphs.contains(name); ++i) name = fmt::format("{}_{}", wanted, i);
    inner.name = name;
    graph_.subgraphs[name] = std::make_unique<Graph>(std::move(inner));
    return GraphArg{name};
  }

  Argument read_dict(const Json& value) {
    DictArg dict;
    for (const auto& [key, item] : value.object()) dict.items.emplace_back(Argument(key), read_argument(item));
    return dict;
  }

  Argument read_object(const Json& value) {
    const std::string& name = value.at("name").string();
    return values_.contains(name) ? value_named(value, name) : Argument(OpaqueArg{name});
  }

  Argument read_argument(const Json& json) {
    const auto [key, value] = json_union(json);
    const auto integer = [](const Json& v) -> Argument { return v.integer(); };
    const auto number = [](const Json& v) -> Argument { return v.number(); };
    const auto boolean = [](const Json& v) -> Argument { return v.boolean(); };
    const auto text = [](const Json& v) -> Argument { return v.string(); };
    const auto tensor = [this](const Json& v) { return value_named(v, v.at("name").string()); };
    const auto any = [this](const Json& v) { return read_argument(v); };
    const auto symbolic = [this](const Json& v) { return read_symbolic(v); };
    if (key == "as_tensor") return tensor(value);
    if (key == "as_none") return NoneArg{};
    if (key == "as_int") return integer(value);
    if (key == "as_ints") return list_of(value, integer);
    if (key == "as_float") return number(value);
    if (key == "as_floats") return list_of(value, number);
    if (key == "as_bool") return boolean(value);
    if (key == "as_bools") return list_of(value, boolean);
    if (key == "as_string") return text(value);
    if (key == "as_strings") return list_of(value, text);
    if (key == "as_tensors") return list_of(value, tensor);
    if (key == "as_optional_tensor") return any(value);
    if (key == "as_optional_tensors") return list_of(value, any);
    if (key == "as_nested_tensors") return list_of(value, [&](const Json& v) { return list_of(v, tensor); });
    if (key == "as_sym_int" || key == "as_sym_bool" || key == "as_sym_float") return symbolic(value);
    if (key == "as_sym_ints" || key == "as_sym_bools" || key == "as_sym_floats") return list_of(value, symbolic);
    if (key == "as_int_lists") return list_of(value, [&](const Json& v) { return list_of(v, integer); });
    if (key == "as_float_lists") return list_of(value, [&](const Json& v) { return list_of(v, number); });
    if (key == "as_scalar_type") return read_dtype(value);
    if (key == "as_memory_format") return EnumArg{enum_name(value, kMemoryFormats)};
    if (key == "as_layout") return EnumArg{enum_name(value, kLayouts)};
    if (key == "as_device") return DeviceArg{device_name(value)};
    if (key == "as_complex") return std::complex<double>(value.at("real").number(), value.at("imag").number());
    if (key == "as_graph") return read_graph(value);
    if (key == "as_custom_obj") return read_object(value);
    if (key == "as_operator") return OpaqueArg{strip_prefix(value.string())};
    if (key == "as_string_to_argument") return read_dict(value);
    return OpaqueArg{fmt::format("{}: {}", key, describe(value))};
  }

  // --- inputs and outputs

  static std::string constant_name(const Json* specs, size_t index) {
    const Json* spec = specs && index < specs->array().size() ? specs->array()[index].find("constant_input") : nullptr;
    return spec ? spec->at("name").string() : fmt::format("constant_{}", index);
  }

  static Type constant_type(const Argument& value) {
    Type type;
    if (const auto* i = value.as<int64_t>()) return Type::symint(*i);
    type.kind = value.is_none() ? Type::Kind::None : Type::Kind::Other;
    return type;
  }

  void read_placeholders(const Json* signature) {
    const JsonArray& inputs = json_.at("inputs").array();
    const Json* specs = signature ? &signature->at("input_specs") : nullptr;
    if (specs && specs->array().size() != inputs.size())
      wrong(*specs, fmt::format("{} specs for {} graph inputs", specs->array().size(), inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i) {
      json_union(inputs[i]);  // throws when it is none
      const std::string name = defined_name(inputs[i]);
      if (!name.empty()) {
        define(inputs[i], name, graph_.placeholder(name, type_of(inputs[i], name)));
        if (specs) graph_.input_specs.push_back(read_input_spec(specs->array()[i]));
        continue;
      }
      const Argument constant = read_argument(inputs[i]);
      graph_.placeholder(constant_name(specs, i), constant_type(constant));
      if (specs)
        graph_.input_specs.push_back({.kind = InputSpec::Kind::ConstantInput, .target = {}, .constant = constant});
    }
  }

  static InputSpec read_input_spec(const Json& json) {
    using Kind = InputSpec::Kind;
    const auto [key, value] = json_union(json);
    if (key == "user_input") {
      const bool object = value.at("arg").find("as_custom_obj") != nullptr;
      return {.kind = object ? Kind::CustomObject : Kind::User, .target = {}, .constant = {}};
    }
    if (key == "parameter")
      return {.kind = Kind::Parameter, .target = value.at("parameter_name").string(), .constant = {}};
    if (key == "buffer") {
      const Json* persistent = value.find("persistent");
      return {.kind = Kind::Buffer,
              .target = value.at("buffer_name").string(),
              .persistent = !persistent || persistent->boolean(),
              .constant = {}};
    }
    if (key == "tensor_constant")
      return {.kind = Kind::TensorConstant, .target = value.at("tensor_constant_name").string(), .constant = {}};
    if (key == "custom_obj")
      return {.kind = Kind::CustomObject, .target = value.at("custom_obj_name").string(), .constant = {}};
    if (key == "token") return {.kind = Kind::Token, .target = {}, .constant = {}};
    wrong(json, fmt::format("unknown kind of input '{}'", key));
  }

  static OutputSpec read_output_spec(const Json& json) {
    using Kind = OutputSpec::Kind;
    const auto [key, value] = json_union(json);
    if (key == "user_output") return {Kind::User, {}};
    if (key == "loss_output") return {Kind::Loss, {}};
    if (key == "token") return {Kind::Token, {}};
    if (key == "buffer_mutation") return {Kind::BufferMutation, value.at("buffer_name").string()};
    if (key == "parameter_mutation") return {Kind::ParameterMutation, value.at("parameter_name").string()};
    if (key == "user_input_mutation") return {Kind::UserInputMutation, value.at("user_input_name").string()};
    if (key == "gradient_to_parameter") return {Kind::GradientToParameter, value.at("parameter_name").string()};
    if (key == "gradient_to_user_input") return {Kind::GradientToUserInput, value.at("user_input_name").string()};
    wrong(json, fmt::format("unknown kind of output '{}'", key));
  }

  void read_output(const Json* signature) {
    const Json& outputs = json_.at("outputs");
    std::vector<Argument> items;
    for (const Json& output : outputs.array()) items.push_back(read_argument(output));
    if (signature) {
      const JsonArray& specs = signature->at("output_specs").array();
      if (specs.size() != items.size())
        wrong(signature->at("output_specs"), fmt::format("{} specs for {} graph outputs", specs.size(), items.size()));
      for (const Json& spec : specs) graph_.output_specs.push_back(read_output_spec(spec));
    }
    const Json* single = json_.find("is_single_tensor_return");
    const bool bare = !signature && single && single->boolean() && items.size() == 1;
    graph_.output(bare ? items[0] : Argument(ListArg{ListArg::Kind::Tuple, std::move(items)}));
  }

  // --- nodes

  /// Name that an output or input gives to its value; empty for constants and lists.
  static std::string defined_name(const Json& output) {
    const auto [key, value] = json_union(output);
    if (key == "as_tensor" || key == "as_custom_obj") return value.at("name").string();
    if (key == "as_optional_tensor") return defined_name(value);
    if (key == "as_sym_int" || key == "as_sym_bool" || key == "as_sym_float")
      if (const Json* name = value.find("as_name")) return name->string();
    return {};
  }

  /// Elements of an output that is a list; nothing for others.
  struct Part {
    std::string name;  ///< empty: has no name of its own
    Type type;
    std::vector<Part> parts;
    const Json* json = nullptr;
  };

  Part named_part(const Json& where, const std::string& name) { return {name, type_of(where, name), {}, &where}; }

  Part read_part(const Json& output) {
    const auto [key, value] = json_union(output);
    if (key == "as_tensors" || key == "as_optional_tensors") {
      Part list{.name = {}, .type = {}, .parts = {}, .json = &output};
      for (const Json& item : value.array())
        list.parts.push_back(key == "as_tensors" ? named_part(item, item.at("name").string()) : read_part(item));
      list.type = tuple_type(list.parts);
      return list;
    }
    if (std::string name = defined_name(output); !name.empty()) return named_part(output, name);
    return {.name = {}, .type = constant_type(read_argument(output)), .parts = {}, .json = &output};
  }

  static Type tuple_type(const std::vector<Part>& parts) {
    std::vector<Type> types;
    for (const Part& part : parts) types.push_back(part.type);
    return Type::tuple(std::move(types));
  }

  /// What a call returns: a single value, or a tuple of parts.
  Part read_result(const Json& node) {
    const JsonArray& outputs = node.at("outputs").array();
    const Json* single = node.find("is_hop_single_tensor_return");
    const bool tuple_of_one = single && !single->boolean();
    if (outputs.size() == 1 && !tuple_of_one) return read_part(outputs[0]);
    Part result{.name = {}, .type = {}, .parts = {}, .json = &node};
    for (const Json& output : outputs) result.parts.push_back(read_part(output));
    result.type = tuple_type(result.parts);
    if (outputs.empty()) result.type.kind = Type::Kind::None;
    return result;
  }

  void define(const Json& where, const std::string& name, Node* node) {
    if (!values_.emplace(name, node).second) wrong(where, fmt::format("'{}' is defined twice", name));
  }

  /// A name that no value of the program has.
  std::string free_name(const std::string& hint) const {
    std::string name = hint;
    const auto is_taken = [&] { return types_.contains(name) || taken_.contains(name) || graph_.find(name); };
    for (int i = 1; is_taken(); ++i) name = fmt::format("{}_{}", hint, i);
    return name;
  }

  void read_inputs(const Json& json, Node& node) {
    for (const Json& input : json.at("inputs").array()) {
      const Json* name = input.find("name");
      const Json* kind = input.find("kind");
      const bool keyword = name && !name->string().empty() && kind && kind->integer() == 2;
      // Without a kind (old writers) arguments go by name where they have one: defaults in between are not listed.
      const bool unknown = name && !name->string().empty() && (!kind || kind->integer() == 0);
      Argument argument = read_argument(input.at("arg"));
      if (keyword || unknown)
        node.kwargs.emplace_back(name->string(), std::move(argument));
      else
        node.args.push_back(std::move(argument));
    }
  }

  /// Arguments given by name where they could stand in their place do so: rewrites look for the first ones there.
  static void place_arguments(Node& node) {
    if (!node.op) return;
    const auto& params = node.op->schema.params;
    while (node.args.size() < params.size() && !params[node.args.size()].keyword_only) {
      const std::string& name = params[node.args.size()].name;
      const auto found = std::ranges::find(node.kwargs, name, [](const auto& argument) { return argument.first; });
      if (found == node.kwargs.end()) return;
      node.args.push_back(std::move(found->second));
      node.kwargs.erase(found);
    }
  }

  // --- regions

  /// The graph of a region that only says how gradients or types are treated inside, as `with torch.no_grad()` is
  /// exported; null for all other nodes.
  static const Json* region_of(const Json& node) {
    const std::string target = strip_prefix(node.at("target").string());
    const bool gradients = target == "higher_order.wrap_with_set_grad_enabled";
    if (!gradients && target != "higher_order.wrap_with_autocast") return nullptr;
    const JsonArray& inputs = node.at("inputs").array();
    const size_t before = gradients ? 1 : 4;  // (enabled) or (device, type, enabled, cache)
    return inputs.size() > before ? inputs[before].at("arg").find("as_graph") : nullptr;
  }

  /// What autocast for the CPU converts down to inside of a region; none where it is off.
  std::optional<DType> region_type(const Json& node) const {
    const JsonArray& inputs = node.at("inputs").array();
    if (inputs.size() < 5 || read_string(inputs[0].at("arg")) != "cpu") return low_;  // another device's, or gradients
    const Json* on = inputs[2].at("arg").find("as_bool");
    if (!on) wrong(inputs[2], "whether autocast is on is expected, as a constant");
    if (!on->boolean()) return {};
    const Json* low = inputs[1].at("arg").find("as_scalar_type");
    return low ? read_dtype(*low) : DType::BF16;  // PyTorch's default for the CPU
  }

  static std::string read_string(const Json& argument) {
    const Json* text = argument.find("as_string");
    return text ? text->string() : std::string();
  }

  /// Puts the nodes of a region in its place. Their names may be taken outside.
  void read_region(const Json& node, const Json& region) {
    const Json& inner = region.at("graph");
    const std::optional<DType> low = std::exchange(low_, region_type(node));
    std::vector<Argument> operands;
    bool past = false;
    for (const Json& input : node.at("inputs").array()) {
      if (past) operands.push_back(read_argument(input.at("arg")));
      past = past || input.at("arg").find("as_graph");
    }
    const JsonArray &inputs = inner.at("inputs").array(), &results = inner.at("outputs").array();
    const JsonArray& outputs = node.at("outputs").array();
    if (inputs.size() != operands.size())
      wrong(node, fmt::format("{} operands for a graph of {} inputs", operands.size(), inputs.size()));
    std::unordered_map<std::string, Node*> values;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (Node* operand = operands[i].node()) values.emplace(defined_name(inputs[i]), operand);
    std::unordered_map<std::string, Type> types;
    std::swap(values, values_);
    std::swap(types, types_);
    for (const auto& [name, type] : types) taken_.insert(name);
    ++depth_;
    read_types(inner);
    for (const Json& item : inner.at("nodes").array()) read_node(item);
    std::vector<Argument> made;
    for (const Json& result : results) made.push_back(read_argument(result));
    --depth_;
    low_ = low;
    std::swap(values, values_);
    std::swap(types, types_);
    std::vector<const Json*> named;
    for (const Json& output : outputs)
      if (const Json* list = output.find("as_tensors"))
        for (const Json& item : list->array()) named.push_back(&item);
      else
        named.push_back(&output);
    if (named.size() != made.size())
      wrong(node, fmt::format("{} results of a graph with {} outputs", named.size(), made.size()));
    for (size_t i = 0; i < named.size(); ++i) {
      const Json* plain = named[i]->find("name");  // an element of a list
      const std::string name = plain ? plain->string() : defined_name(*named[i]);
      if (Node* result = made[i].node(); result && !name.empty()) define(*named[i], name, result);
    }
  }

  /// Inside a region, a name that nothing outside has or will have.
  std::string own_name(const std::string& stated) const {
    if (depth_ == 0) return stated;
    std::string name = stated;
    for (int i = 1; taken_.contains(name) || graph_.find(name); ++i) name = fmt::format("{}_region_{}", stated, i);
    return name;
  }

  void read_node(const Json& json) {
    if (const Json* region = region_of(json)) return read_region(json, *region);
    auto node = std::make_unique<Node>();
    node->kind = NodeKind::Call;
    node->target = strip_prefix(json.at("target").string());
    node->op = find_op(node->target);
    read_inputs(json, *node);
    place_arguments(*node);
    if (const Json* metadata = json.find("metadata")) context_.metadata.read(*metadata, node->meta);
    const Part result = read_result(json);
    const Json* stated = json.find("name");
    node->name = !result.name.empty()                  ? own_name(result.name)
                 : stated && !stated->string().empty() ? free_name(stated->string())
                                                       : free_name(name_hint(node->target));
    node->type = result.type;
    if (const auto type = low_ ? autocast_type(*node, *low_) : std::nullopt) convert_operands(*node, *type);
    Node* added = graph_.add(std::move(node));
    if (!result.name.empty()) define(*result.json, result.name, added);
    add_parts(added, result);
  }

  /// Conversions that autocast makes, as calls of their own.
  void convert_operands(Node& call, DType type) {
    call.for_each_operand([&](Node*& operand) {
      if (!operand->type.is_tensor()) return;
      const DType own = operand->tensor().dtype;
      if (own == type || (own != DType::F32 && own != DType::BF16 && own != DType::F16)) return;
      auto cast = std::make_unique<Node>();
      cast->kind = NodeKind::Call;
      cast->target = "aten.to.dtype";
      cast->op = find_op(cast->target);
      cast->args = {Argument(operand), Argument(type)};
      cast->name = free_name("to");
      cast->meta = call.meta;
      cast->type = cast->op->shape(Call(*cast));
      operand = graph_.add(std::move(cast));
    });
  }

  void add_parts(Node* whole, const Part& result) {
    for (size_t i = 0; i < result.parts.size(); ++i) {
      const Part& part = result.parts[i];
      if (part.name.empty() && part.parts.empty()) continue;  // None or a constant
      auto item = std::make_unique<Node>();
      item->kind = NodeKind::Call;
      item->target = "_operator.getitem";
      item->op = find_op(item->target);
      item->args = {Argument(whole), Argument(static_cast<int64_t>(i))};
      item->type = part.type;
      item->name = part.name.empty() ? free_name("getitem") : own_name(part.name);
      item->meta = whole->meta;
      Node* added = graph_.add(std::move(item));
      parts_.insert(added);
      if (!part.name.empty()) define(*part.json, part.name, added);
      add_parts(added, part);
      if (!part.parts.empty()) used_.insert(added);
    }
  }

  /// The writer invents names for results that the program never took apart.
  void remove_unused_parts() {
    graph_.remove_if([&](const Node& node) {
      auto* n = const_cast<Node*>(&node);
      return parts_.contains(n) && !used_.contains(n);
    });
  }

  const Json& json_;
  Pt2GraphContext& context_;
  Graph graph_;
  std::unordered_map<std::string, Type> types_;
  std::unordered_map<std::string, Node*> values_;
  std::unordered_set<Node*> used_, parts_;
  std::unordered_set<std::string> taken_;  ///< names of values outside of regions
  int depth_ = 0;                          ///< of regions
  std::optional<DType> low_;               ///< what autocast converts down to in this region
};

}  // namespace

Graph read_pt2_graph(const Json& graph, const Json& signature, Pt2GraphContext& context) {
  return GraphReader(graph, context).run(&signature);
}

}  // namespace strata::capture
