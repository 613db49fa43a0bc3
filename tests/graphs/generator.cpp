// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Placeholders that turn out to be needed on the way are moved to the front at the end.

#include "tests/graphs/generator.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/support/error.h"

namespace strata::fuzz {
namespace {

constexpr DType kAllTypes[] = {DType::F32, DType::F64, DType::BF16, DType::F16, DType::I64,
                               DType::I32, DType::I16, DType::I8,   DType::U8,  DType::Bool};

/// Rows that every program is made of mostly, beside one of any kind now and then.
constexpr std::string_view kCommon[] = {
    "aten.add.Tensor",         "aten.sub.Tensor",       "aten.mul.Tensor",      "aten.div.Tensor",
    "aten.maximum.default",    "aten.where.self",       "aten.lt.Tensor",       "aten._to_copy.default",
    "aten.relu.default",       "aten.exp.default",      "aten.tanh.default",    "aten.sum.dim_IntList",
    "aten.amax.default",       "aten.mean.dim",         "aten.permute.default", "aten.view.default",
    "aten.slice.Tensor",       "aten.expand.default",   "aten.select.int",      "aten.cat.default",
    "aten.transpose.int",      "aten.mm.default",       "aten.linear.default",  "aten.softmax.int",
    "aten.layer_norm.default", "aten.unsqueeze.default"};

/// Rows that programs of images are made of mostly: chains of convolutions, with work between them.
constexpr std::string_view kOfImages[] = {"aten.conv2d.default",
                                          "aten.conv2d.default",
                                          "aten.convolution.default",
                                          "aten.relu.default",
                                          "aten.add.Tensor",
                                          "aten.cat.default",
                                          "aten.max_pool2d.default",
                                          "aten.avg_pool2d.default",
                                          "aten.adaptive_avg_pool2d.default",
                                          "aten.sigmoid.default",
                                          "aten.upsample_nearest2d.default",
                                          "aten._native_batch_norm_legit_no_training.default",
                                          "aten.mean.dim",
                                          "aten.hardswish.default",
                                          "aten.mul.Tensor"};

/// Rows that a program may be made of.
const std::vector<const OpDef*>& rows(bool mutating) {
  static const auto all = [] {
    std::array<std::vector<const OpDef*>, 2> found;
    for (const OpDef* row : all_ops())
      if (recipe_of(*row)) found[row->op_class == OpClass::Mutation].push_back(row);
    return found;
  }();
  return all[mutating];
}

/// PyTorch refuses to write elements that lie at the same place.
bool overlaps(const Node& node) {
  for (const Node* n = &node; n && n->kind == NodeKind::Call && !n->args.empty(); n = n->args[0].node())
    if (has_name(n->target, {"expand", "broadcast_to", "unfold", "as_strided", "meshgrid"})) return true;
  return false;
}

}  // namespace

bool has_name(std::string_view target, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view p) { return target.find(p) != target.npos; });
}

Generator::Generator(uint64_t seed, const GeneratorOptions& options)
    : options_(options), rng_(seed * 0x9e3779b97f4a7c15 + 1), graph_(std::make_shared<ShapeEnv>()), builder_(graph_) {
  mutates_ = chance(25) || (options.row && options.row->op_class == OpClass::Mutation);
  special_ = chance(30);
  images_ = chance(6);
  main_dtype_ = pick({DType::F32, DType::F32, DType::F32, DType::F64, DType::BF16, DType::F16});
  if (chance(30)) add_symbol("s0");
  if (!symbols_.empty() && chance(30)) add_symbol("s1");
}

RandomProgram Generator::run() {
  const size_t count = 1 + below(3), steps = 2 + below(9);
  for (size_t i = 0; i < count; ++i) input(chance(80) ? main_dtype_ : any_dtype(), random_shape(0, 4));
  for (size_t i = 0, made = 0; made < steps && i < 10 * steps; ++i) made += step();
  if (options_.row)
    for (size_t i = 0; i < 20 && !attempt(*options_.row); ++i) continue;
  choose_outputs();
  return finish();
}

// ------------------------------------------------------------------------------------------------------------- choices

DType Generator::any_dtype() { return pick(kAllTypes); }
DType Generator::integer_dtype() {
  return pick({DType::I64, DType::I64, DType::I32, DType::I16, DType::I8, DType::U8});
}
DType Generator::floating_dtype() { return pick({DType::F32, DType::F32, DType::F64, DType::BF16, DType::F16}); }

void Generator::add_symbol(const std::string& name) {
  // More than half of the programs run with the sizes of the example, for which kernels may have code of their own.
  const int64_t value = between(4, 10), example = value % 2 ? 5 : value;
  symbols_.push_back(graph_.env().symbol({name, {4, 64}, std::nullopt, example, ""}));
  bindings_.resize(graph_.env().symbol_count());
  bindings_.back() = value;
  // The input that says how large the symbol is, whatever becomes of the others.
  Node* node = graph_.placeholder("size_of_" + name, Type::of(DType::F32, {symbols_.back()}));
  inputs_.push_back({node, {}, {}});
  values_.push_back(node);
}

SymInt Generator::unknown_size() {
  const SymInt size =
      graph_.env().symbol({"u" + std::to_string(unknown_++), {0, kSymMax}, std::nullopt, std::nullopt, ""});
  bindings_.resize(graph_.env().symbol_count());
  return size;
}

SymInt Generator::size() {
  if (!symbols_.empty() && chance(40)) return pick(symbols_);
  if (chance(4)) return 0;
  if (chance(15)) return 1;
  return between(2, chance(10) ? 31 : 6);
}

SymInt Generator::width(int64_t least, int64_t most) {
  const int64_t number = between(least, most);
  return !symbols_.empty() && chance(30) ? pick(symbols_) : SymInt(number);
}

Shape Generator::random_shape(size_t least, size_t most) {
  Shape shape(least + below(most - least + 1));
  for (SymInt& s : shape) s = size();
  return shape;
}

int64_t Generator::concrete(const SymInt& size) const {
  const auto value = evaluate(size, bindings_);
  if (!value) throw_user("the size " + size.str() + " is known in a run only");
  return *value;
}

std::vector<int64_t> Generator::concrete(const Shape& shape) const {
  std::vector<int64_t> sizes;
  for (const SymInt& s : shape) sizes.push_back(concrete(s));
  return sizes;
}

void Generator::require_few(const Shape& shape) const {
  constexpr int64_t kMost = 1 << 22;
  int64_t elements = 1;
  for (const SymInt& size : shape) {
    elements *= evaluate(size, bindings_).value_or(1);
    if (elements > kMost) throw_user("so many elements take too long");
  }
}

// -------------------------------------------------------------------------------------------------------------- values

Node* Generator::pick_where(bool (*fits)(DType), size_t least, size_t most) {
  for (int i = 0; i < 8 && !values_.empty(); ++i) {
    Node* v = chance(40) ? values_.back() : pick(values_);
    if (fits(dtype_of(v)) && rank_of(v) >= least && rank_of(v) <= most) return v;
  }
  return nullptr;
}

Node* Generator::value(size_t least, size_t most) {
  Node* v = pick_where([](DType) { return true; }, least, most);
  return v ? v : input(chance(80) ? main_dtype_ : any_dtype(), random_shape(least, std::min<size_t>(most, 4)));
}
Node* Generator::floating(size_t least, size_t most) {
  Node* v = pick_where([](DType d) { return is_floating(d); }, least, most);
  return v ? v : input(chance(80) ? main_dtype_ : floating_dtype(), random_shape(least, std::min<size_t>(most, 4)));
}
Node* Generator::integral(size_t least, size_t most) {
  Node* v = pick_where([](DType d) { return is_integral(d); }, least, most);
  return v ? v : input(integer_dtype(), random_shape(least, std::min<size_t>(most, 4)));
}
Node* Generator::number(size_t least, size_t most) {
  Node* v = pick_where([](DType d) { return d != DType::Bool; }, least, most);
  return v ? v : input(chance(70) ? main_dtype_ : integer_dtype(), random_shape(least, std::min<size_t>(most, 4)));
}
Node* Generator::boolean(size_t least, size_t most) {
  Node* v = pick_where([](DType d) { return d == DType::Bool; }, least, most);
  return v ? v : input(DType::Bool, random_shape(least, std::min<size_t>(most, 4)));
}

Node* Generator::of(DType dtype, const Shape& shape) {
  for (int i = 0; i < 4; ++i)
    if (Node* v = pick(values_); dtype_of(v) == dtype && shape_of(v) == shape) return v;
  return input(dtype, shape);
}

Node* Generator::image(size_t dims) {
  if (!chance(images_ ? 85 : 10)) return nullptr;
  Node* v = pick_where(is_floating, dims + 2, dims + 2);
  if (!v || dtype_of(v) != main_dtype_) return nullptr;
  const auto& shape = shape_of(v);
  const auto some = [&](const SymInt& n) { return evaluate(n, bindings_).value_or(0) > 0; };
  return shape[1].is_const() && std::all_of(shape.begin() + 1, shape.end(), some) ? v : nullptr;
}

Shape Generator::smaller_shape(const Shape& with) {
  Shape s = with;
  for (SymInt& d : s)
    if (chance(20)) d = 1;
  if (chance(25)) s.erase(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(below(s.size() + 1)));
  return s;
}

Node* Generator::broadcastable(const Node* with) {
  for (int i = 0; i < 4; ++i)
    if (Node* v = pick(values_); broadcasts(shape_of(v), shape_of(with))) return v;
  return input(chance(80) ? dtype_of(with) : any_dtype(), smaller_shape(shape_of(with)));
}

bool Generator::broadcasts(const Shape& a, const Shape& b) const {
  for (size_t d = 1; d <= std::min(a.size(), b.size()); ++d) {
    const SymInt &x = a[a.size() - d], &y = b[b.size() - d];
    if (!(x == y) && !(x == SymInt(1)) && !(y == SymInt(1))) return false;
  }
  return true;
}

/// Of a tensor whose dimensions lie in another order in memory, sometimes with gaps or the same elements again and
/// again.
Shape Generator::other_strides(const Shape& shape) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), rng_);
  Shape strides(shape.size());
  SymInt step = chance(30) ? 2 : 1;
  for (size_t d : order) {
    strides[d] = step;
    step = step * max(shape[d], SymInt(1));
  }
  if (!mutates_ && chance(20)) strides[below(strides.size())] = 0;
  return strides;
}

Node* Generator::input(DType dtype, const Shape& wanted, const Domain& domain) {
  const std::vector<int64_t> sizes = concrete(wanted);  // refuses sizes that only a run tells
  for (const int64_t size : sizes)  // of a result whose assumptions do not hold, which is seen later
    if (size < 0) throw_user("an input of size " + std::to_string(size));
  require_few(wanted);
  // Now and then a number where others have symbols, as parameters do: equal, but not written alike.
  Shape shape = wanted;
  const bool as_numbers = chance(12);
  for (size_t d = 0; d < shape.size(); ++d)
    if (as_numbers && !shape[d].is_const() && chance(60)) shape[d] = sizes[d];
  Node* node = graph_.placeholder("x" + std::to_string(inputs_.size()), Type::of(dtype, shape));
  InputSpec spec;
  if (chance(25)) spec.kind = chance(50) ? InputSpec::Kind::Parameter : InputSpec::Kind::Buffer;
  // Symbols are found in user inputs only.
  for (const SymInt& s : shape)
    if (!s.is_const()) spec.kind = InputSpec::Kind::User;
  if (spec.kind != InputSpec::Kind::User)
    spec.target = node->name;
  else if (!shape.empty() && chance(25))
    node->type.tensor.strides = other_strides(shape);
  inputs_.push_back({node, spec, domain});
  values_.push_back(node);
  return node;
}

Node* Generator::indices(const SymInt& low, const SymInt& high, const Shape& shape, DType dtype) {
  const int64_t first = concrete(low), last = concrete(high);
  const std::vector<int64_t> sizes = concrete(shape);
  const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  if (first >= last && !empty) return nullptr;
  if (high.is_const() && first == 0 && last > 0 && chance(30))  // computed ones
    return call("aten.remainder.Scalar", {input(dtype, shape, {Domain::Kind::Tame, 0, 0}), last});
  return input(dtype, shape, {Domain::Kind::Index, first, std::max(first + 1, last)});
}

Node* Generator::tame(Node* x) {
  if (is_floating(dtype_of(x))) x = call("aten.nan_to_num.default", {x, 0.5, 20.0, -20.0});  // as what is too large
  return dtype_of(x) == DType::Bool
             ? x
             : call("aten.clamp.default",
                    {x, is_signed_integral(dtype_of(x)) || is_floating(dtype_of(x)) ? -20 : 0, 20});
}

Node* Generator::contiguous(Node* x) {
  if (x->tensor().is_contiguous()) return x;
  return call("aten.clone.default", {x}, {{"memory_format", EnumArg{"torch.contiguous_format"}}});
}

// ----------------------------------------------------------------------------------------------------------- arguments

Argument Generator::scalar(DType dtype, bool zero) {
  double v = pick({-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0});
  if (!is_floating(dtype)) v = is_signed_integral(dtype) ? std::floor(v) : v > 0.5 ? 1 : 0;
  if (v == 0 && !zero) v = 1;
  if (v == std::floor(v) && (chance(40) || !is_floating(dtype))) return static_cast<int64_t>(v);
  return v;
}

Argument Generator::ints(const std::vector<int64_t>& items) {
  std::vector<Argument> list(items.begin(), items.end());
  return Argument::list(std::move(list));
}

int64_t Generator::dim(const Node* x) {
  const auto rank = static_cast<int64_t>(std::max<size_t>(1, rank_of(x)));
  const int64_t d = between(0, rank - 1);
  return chance(25) ? d - rank : d;
}

std::vector<int64_t> Generator::dims(const Node* x, size_t percent) {
  std::vector<int64_t> found;
  const auto rank = static_cast<int64_t>(rank_of(x));
  for (int64_t d = 0; d < rank; ++d)
    if (chance(percent)) found.push_back(chance(20) ? d - rank : d);
  return found;
}

std::optional<Argument> Generator::argument(const Param& p, Node* first) {
  if (p.type == "Tensor" && !p.list) return p.optional && chance(50) ? Argument() : Argument(broadcastable(first));
  if (p.name == "correction") return chance(25) ? Argument(0.5) : Argument(between(0, 2));
  if (p.type == "Scalar" || p.type == "float") return scalar(dtype_of(first));
  if (p.type == "bool" && !p.list) return chance(50);
  if (p.type == "ScalarType") return is_floating(dtype_of(first)) ? floating_dtype() : any_dtype();
  if (p.type == "str" && p.name == "rounding_mode")
    return chance(30) ? Argument() : Argument(chance(50) ? "floor" : "trunc");
  if (p.type == "str" && p.name == "approximate") return chance(50) ? "none" : "tanh";
  if (p.name == "dim" || p.name == "dims") return p.list ? ints(dims(first)) : Argument(dim(first));
  if (p.name == "diagonal" || p.name == "decimals") return between(-2, 2);
  if (p.name == "reduction") return between(0, 2);
  return {};
}

// --------------------------------------------------------------------------------------------------------------- calls

Node* Generator::fill(const OpDef& row, Node* first) {
  std::vector<Argument> args;
  std::vector<std::pair<std::string, Argument>> kwargs;
  bool rest_default = false;
  for (size_t i = 0; i < row.schema.params.size(); ++i) {
    const Param& p = row.schema.params[i];
    const bool skippable = p.default_value.has_value();
    if (skippable && ((rest_default && !p.keyword_only) || chance(50))) {
      rest_default = rest_default || !p.keyword_only;
      continue;
    }
    std::optional<Argument> a = i == 0 && p.type == "Tensor" && !p.list ? Argument(first) : argument(p, first);
    if (!a) {
      if (!skippable) return nullptr;
      rest_default = rest_default || !p.keyword_only;
      continue;
    }
    if (p.keyword_only)
      kwargs.emplace_back(p.name, std::move(*a));
    else
      args.push_back(std::move(*a));
  }
  return call(row, std::move(args), std::move(kwargs));
}

Node* Generator::stated(const OpDef& row, std::vector<Argument> args,
                        std::vector<std::pair<std::string, Argument>> kwargs, Type type) {
  Node* node = graph_.add(NodeKind::Call, row.name, std::move(args), std::move(type));
  node->op = &row;
  node->kwargs = std::move(kwargs);
  node->type = row.shape(Call(*node));
  return node;
}

Node* Generator::restated(Node* made) {
  const bool broadcasts = made->op && made->op->op_class == OpClass::Pointwise && made->type.is_tensor();
  if (symbols_.empty() || !broadcasts || !chance(50)) return made;
  std::vector<SymInt> named;
  for (const Node* operand : made->operands())
    if (operand->type.is_tensor())
      for (const SymInt& size : shape_of(operand))
        if (!size.is_const()) named.push_back(size);
  for (SymInt& size : made->type.tensor.shape) {
    const auto alike = [&](const SymInt& other) { return same_size(other, size); };
    const auto it = std::find_if(named.begin(), named.end(), alike);
    if (size.is_const() && it != named.end()) size = *it;
  }
  return made;
}

bool Generator::step() {
  if (mutates_ && chance(25)) return attempt(chance(30) ? *find_op("aten.copy_.default") : *pick(rows(true)));
  if (images_ && chance(75)) return attempt(*find_op(pick(kOfImages)));
  if (chance(45)) return attempt(*find_op(pick(kCommon)));
  return attempt(*pick(rows(false)));
}

/// In place means: neither shape nor type of the operand changes, and nothing is written twice.
bool is_writable(const Node& self) { return self.type.is_tensor() && !overlaps(self); }

bool Generator::attempt(const OpDef& row) {
  const size_t before = graph_.size(), values = values_.size(), forced = forced_.size();
  const size_t assumed = graph_.env().assumptions().size();
  try {
    Node* made = recipe_of(row)(*this, row);
    if (made) {
      if (row.op_class == OpClass::Mutation && !(made->args[0].node() && is_writable(*made->args[0].node())))
        throw_user("elements that lie at the same place cannot be written");
      for (const Type& part : made->type.parts)
        if (part.is_tensor()) require_few(part.tensor.shape);
      if (made->type.is_tensor()) require_few(shape_of(made));
      require_assumptions(graph_.env(), bindings_);
      keep(made);
      return true;
    }
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::User) throw;
  }
  // Calls on the way go; inputs stay for others to use.
  forced_.resize(forced);
  graph_.env().forget_assumptions_after(assumed);
  values_.erase(std::remove_if(values_.begin() + static_cast<std::ptrdiff_t>(values), values_.end(),
                               [](const Node* n) { return n->kind != NodeKind::Placeholder; }),
                values_.end());
  while (graph_.size() > before) {
    size_t last = graph_.size();
    while (last > before && graph_.nodes()[last - 1]->kind == NodeKind::Placeholder) --last;
    if (last == before) break;
    const Node* dead = graph_.nodes()[last - 1].get();
    graph_.remove_if([&](const Node& n) { return &n == dead; });
  }
  return false;
}

/// Makes a result's tensors known as values.
void Generator::keep(Node* made) {
  if (made->type.is_tensor()) {
    values_.push_back(made);
  } else if (made->type.kind == Type::Kind::Tuple) {
    const size_t count = made->type.parts.size();
    for (size_t i = 0; i < count; ++i)
      if (made->type.parts[i].is_tensor() && (count == 1 || chance(60))) values_.push_back(part(made, i));
  }
}

// -------------------------------------------------------------------------------------------------------------- finish

void Generator::choose_outputs() {
  const size_t count = 1 + below(3);
  std::vector<Argument> leaves{values_.back()};
  for (size_t i = 1; i < count; ++i) leaves.emplace_back(pick(values_));
  for (Node* n : forced_) leaves.emplace_back(n);
  // What nobody uses would be removed at once: mostly it is given out instead.
  const UserMap users = users_of(graph_);
  for (Node* n : values_) {
    const auto found = users.find(n);
    const bool unused = found == users.end() || found->second.empty();
    if (n->kind == NodeKind::Call && unused && chance(80) &&
        std::find(leaves.begin(), leaves.end(), Argument(n)) == leaves.end())
      leaves.emplace_back(n);
  }
  graph_.output(Argument(ListArg{ListArg::Kind::Tuple, std::move(leaves)}));
}

/// The elements of an input, half of the time lying as its type says, else row by row.
Tensor Generator::value_of(const Node& node, const Domain& domain) {
  const TensorType& type = node.tensor();
  const std::vector<int64_t> shape = concrete(type.shape);
  Tensor plain = random_tensor(rng_, type.dtype, shape, special_, domain);
  if (type.is_contiguous() || chance(40)) return plain;
  return lay_out(plain, concrete(*type.strides), between(0, 3));
}

/// Now and then a run has other sizes than those for which the calls were chosen: then windows may not fit, operands
/// not agree and indices be out of range. Not where an input, whose sizes were a window's, would have less than none.
void Generator::resize() {
  std::mt19937_64 others(rng_);  // what is drawn for the inputs stays what it is
  if (symbols_.empty() || others() % 4 != 0) return;
  const auto chosen = bindings_;
  for (const SymInt& symbol : symbols_)
    bindings_[*graph_.env().symbol_id(symbol)] = 4 + static_cast<int64_t>(others() % 9);
  for (const Input& input : inputs_)
    for (const int64_t size : concrete(input.node->tensor().shape))
      if (size < 0) {
        bindings_ = chosen;
        return;
      }
}

RandomProgram Generator::finish() {
  std::vector<Node*> order;
  for (const Input& input : inputs_) {
    order.push_back(input.node);
    graph_.input_specs.push_back(input.spec);
  }
  for (const auto& node : graph_.nodes())
    if (node->kind != NodeKind::Placeholder) order.push_back(node.get());
  graph_.reorder(order);
  resize();
  RandomProgram program{std::move(graph_), {}, bindings_};
  for (const Input& input : inputs_) program.inputs.push_back(value_of(*input.node, input.domain));
  tidy(program);
  return program;
}

RandomProgram random_program(uint64_t seed, const GeneratorOptions& options) {
  RandomProgram program = Generator(seed, options).run();
  program.threads = 1 + static_cast<int>(seed % 2);
  return program;
}

namespace {

/// Symbols of sizes that only the data tells.
void add_unknowns(const ShapeEnv& env, const SymInt& size, std::set<size_t>& found) {
  for (size_t id : free_symbols(size))
    if (env.info(id).name.starts_with("u")) found.insert(id);
}

void add_unknowns(const ShapeEnv& env, const Type& type, std::set<size_t>& found) {
  for (const Type& part : type.parts) add_unknowns(env, part, found);
  if (type.is_tensor())
    for (const SymInt& size : type.tensor.shape) add_unknowns(env, size, found);
}

void add_unknowns(const ShapeEnv& env, const Argument& argument, std::set<size_t>& found) {
  if (const auto* size = argument.as<SymInt>()) add_unknowns(env, *size, found);
  if (const auto* list = argument.as<ListArg>())
    for (const Argument& item : list->items) add_unknowns(env, item, found);
}

/// How many nodes have a size of each such symbol: while others have, the one that gives it has to stay.
std::map<size_t, size_t> count_unknowns(const Graph& graph) {
  std::map<size_t, size_t> count;
  for (const auto& node : graph.nodes()) {
    std::set<size_t> found;
    add_unknowns(graph.env(), node->type, found);
    for (size_t id : found) ++count[id];
  }
  return count;
}

bool is_needed_for_sizes(const Graph& graph, const Node& node, const std::map<size_t, size_t>& count) {
  std::set<size_t> own, given;
  add_unknowns(graph.env(), node.type, own);
  for (const Node* operand : node.operands()) add_unknowns(graph.env(), operand->type, given);
  for (const Argument& argument : node.args) add_unknowns(graph.env(), argument, given);
  return std::any_of(own.begin(), own.end(), [&](size_t id) { return !given.contains(id) && count.at(id) > 1; });
}

}  // namespace

void tidy(RandomProgram& p) {
  for (bool changed = true; changed;) {
    const UserMap users = users_of(p.graph);
    const std::map<size_t, size_t> unknowns = count_unknowns(p.graph);
    const auto unused = [&](const Node& n) {
      const auto it = users.find(&n);
      return n.kind == NodeKind::Call && (it == users.end() || it->second.empty()) &&
             !is_needed_for_sizes(p.graph, n, unknowns) &&
             !(n.op && (n.op->op_class == OpClass::Mutation || n.op->op_class == OpClass::Assertion));
    };
    const size_t before = p.graph.size();
    p.graph.remove_if(unused);
    changed = p.graph.size() != before;
  }
  const UserMap users = users_of(p.graph);
  const auto is_unused = [&](const Node& node) {
    const auto it = users.find(&node);
    return node.kind == NodeKind::Placeholder && !node.name.starts_with("size_of_") &&
           (it == users.end() || it->second.empty());
  };
  const auto inputs = p.graph.placeholders();
  for (size_t i = inputs.size(); i-- > 0;) {
    if (!is_unused(*inputs[i])) continue;
    p.inputs.erase(p.inputs.begin() + static_cast<std::ptrdiff_t>(i));
    p.graph.input_specs.erase(p.graph.input_specs.begin() + static_cast<std::ptrdiff_t>(i));
  }
  p.graph.remove_if(is_unused);
}

}  // namespace strata::fuzz
