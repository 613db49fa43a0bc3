// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// One seed decides everything. A maker tries one kind of operator on values that are there; what an operator's shape
// rule refuses is simply not added. Placeholders that turn out to be needed on the way are moved to the front at the
// end.

#include "tests/passes/random_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/ir/fx_printer.h"
#include "core/support/error.h"

namespace strata {
namespace {

using Shape = std::vector<SymInt>;

std::vector<int64_t> concrete(const Shape& shape, const SymBindings& symbols) {
  std::vector<int64_t> result;
  for (const SymInt& s : shape) result.push_back(evaluate(s, symbols).value());
  return result;
}

bool has_name(std::string_view target, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view p) { return target.find(p) != target.npos; });
}

/// Operators whose operands must be in a range that random values do not keep to, or whose results are not defined.
bool is_excluded(const OpDef& op) {
  // Shape rules leave these to the run, where random shapes fail.
  if (has_name(op.name, {"_as.", "_norm.default", "take_along", "correction"})) return true;
  constexpr uint32_t kNever = trait::Random | trait::DataDependent | trait::SideEffect;
  return op.has(kNever) ||
         has_name(op.name, {"shift",    "empty",    "as_strided", "nll_loss",   "cross_entropy",     "embedding",
                            "gather",   "scatter",  "index",      "_backward",  "pow.Tensor_Tensor", "dropout",
                            "aten.to.", "_to_copy", "type_as",    "contiguous", "to.other",          "upsample",
                            "prelu",    "linear",   "addm",       "mm.default", "mv.default",        "matmul",
                            "dot.",     "ger.",     "outer",      "conv"});
}

/// Division by zero is an error for integers, and so are most powers.
bool needs_floats(std::string_view target) {
  return has_name(target, {"floor_divide", "lerp", "fmod", "remainder_", "div_", "remainder.", "fmod.", "Tensor_mode",
                           "Scalar_mode", "aten.pow", "cumprod", "prod"});
}

class Generator {
 public:
  explicit Generator(uint64_t seed) : rng_(seed), layouts_(seed), graph_(std::make_shared<ShapeEnv>()), b_(graph_) {
    mutates_ = chance(30);
    special_ = chance(25);
    static constexpr DType kMain[] = {DType::F32, DType::F32, DType::F32, DType::F64, DType::BF16, DType::F16};
    main_dtype_ = kMain[below(std::size(kMain))];
    if (chance(30)) add_symbol("s0");
    if (!symbols_.empty() && chance(30)) add_symbol("s1");
  }

  RandomProgram run() {
    const size_t count = 1 + below(3), steps = 2 + below(11);
    for (size_t i = 0; i < count; ++i) input(chance(80) ? main_dtype_ : any_dtype(), random_shape(4));
    for (size_t i = 0, made = 0; made < steps && i < 10 * steps; ++i) made += step();
    choose_outputs();
    return finish();
  }

 private:
  // ----------------------------------------------------------------------------------------------------------- choices

  size_t below(size_t n) { return n ? static_cast<size_t>(rng_() % n) : 0; }
  bool chance(size_t percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[below(list.size())];
  }

  DType any_dtype() {
    static constexpr DType kAll[] = {DType::F32, DType::F64, DType::BF16, DType::F16,
                                     DType::I64, DType::I32, DType::U8,   DType::Bool};
    return kAll[below(std::size(kAll))];
  }

  void add_symbol(const std::string& name) {
    symbols_.push_back(graph_.env().symbol({name, {4, 64}, std::nullopt, 5, ""}));
    bindings_.resize(graph_.env().symbol_count());
    bindings_.back() = static_cast<int64_t>(4 + below(7));
    // The input that says how large the symbol is, whatever becomes of the others.
    Node* node = graph_.placeholder("size_of_" + name, Type::of(DType::F32, {symbols_.back()}));
    specs_.emplace_back(node, InputSpec{});
    values_.push_back(node);
  }

  SymInt size() {
    if (!symbols_.empty() && chance(40)) return pick(symbols_);
    if (chance(4)) return 0;
    if (chance(15)) return 1;
    return static_cast<int64_t>(2 + below(chance(10) ? 30 : 5));
  }

  Shape random_shape(size_t most) {
    Shape shape(below(most + 1));
    for (SymInt& s : shape) s = size();
    return shape;
  }

  Node* value() {
    return values_.empty() ? input(main_dtype_, random_shape(3)) : chance(50) ? values_.back() : pick(values_);
  }
  Node* value_of_rank(size_t least) {
    for (int i = 0; i < 8; ++i)
      if (Node* v = value(); shape(v).size() >= least) return v;
    Shape s(least);
    for (SymInt& d : s) d = size();
    return input(main_dtype_, s);
  }
  static const Shape& shape(const Node* n) { return n->tensor().shape; }

  /// A present value that broadcasts with `shape`, or a new one.
  Node* broadcastable(const Node* with) {
    for (int i = 0; i < 4; ++i)
      if (Node* v = value(); broadcasts(shape(v), shape(with))) return v;
    Shape s = shape(with);
    for (SymInt& d : s)
      if (chance(20)) d = 1;
    if (chance(25)) s.erase(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(below(s.size() + 1)));
    return input(chance(80) ? with->tensor().dtype : any_dtype(), s);
  }

  static bool broadcasts(const Shape& a, const Shape& b) {
    for (size_t d = 1; d <= std::min(a.size(), b.size()); ++d) {
      const SymInt &x = a[a.size() - d], &y = b[b.size() - d];
      if (!(x == y) && !(x == SymInt(1)) && !(y == SymInt(1))) return false;
    }
    return true;
  }

  /// Of a tensor whose dimensions lie in another order in memory, sometimes with gaps.
  Shape other_strides(const Shape& shape) {
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = order.size(); i-- > 1;) std::swap(order[i], order[layouts_() % (i + 1)]);
    Shape strides(shape.size());
    SymInt step = layouts_() % 3 == 0 ? 2 : 1;
    for (size_t d : order) {
      strides[d] = step;
      step = step * max(shape[d], SymInt(1));
    }
    return strides;
  }

  Node* input(DType dtype, const Shape& shape) {
    Node* node = graph_.placeholder("x" + std::to_string(specs_.size()), Type::of(dtype, shape));
    InputSpec spec;
    if (chance(25)) spec.kind = chance(50) ? InputSpec::Kind::Parameter : InputSpec::Kind::Buffer;
    // Symbols are found in user inputs only.
    for (const SymInt& s : shape)
      if (!s.is_const()) spec.kind = InputSpec::Kind::User;
    if (spec.kind != InputSpec::Kind::User)
      spec.target = node->name;
    else if (shape.size() > 1 && layouts_() % 4 == 0)
      node->type.tensor.strides = other_strides(shape);
    specs_.emplace_back(node, spec);
    values_.push_back(node);
    return node;
  }

  // ------------------------------------------------------------------------------------------------------------- steps

  bool step() {
    using Maker = Node* (Generator::*)();
    struct Choice {
      size_t weight;
      Maker make;
    };
    static constexpr Choice kChoices[] = {
        {30, &Generator::table_call}, {12, &Generator::view},         {8, &Generator::binary},
        {6, &Generator::cast},        {6, &Generator::join},          {6, &Generator::indirect},
        {6, &Generator::library},     {4, &Generator::normalization}, {3, &Generator::parts},
        {3, &Generator::pooling},     {3, &Generator::creation},      {3, &Generator::pad},
        {2, &Generator::sizes},       {18, &Generator::mutation},
    };
    size_t total = 0;
    for (const Choice& c : kChoices) total += c.weight;
    size_t at = below(total);
    for (const Choice& c : kChoices) {
      if (at < c.weight) return attempt(c.make);
      at -= c.weight;
    }
    return false;
  }

  bool attempt(Node* (Generator::*make)()) {
    try {
      Node* made = (this->*make)();
      if (!made || !made->type.is_tensor()) return false;
      values_.push_back(made);
      return true;
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::User) throw;
      return false;
    }
  }

  Node* call(std::string_view target, std::vector<Argument> args,
             std::vector<std::pair<std::string, Argument>> kwargs = {}) {
    return b_.call(target, std::move(args), std::move(kwargs));
  }

  Node* table_call() {
    static const std::vector<const OpDef*> ops = [] {
      std::vector<const OpDef*> found;
      for (const OpDef* op : all_ops()) {
        const bool kind = op->op_class == OpClass::Pointwise || op->op_class == OpClass::Reduction ||
                          op->op_class == OpClass::Compound || op->op_class == OpClass::Indexing;
        const bool one = op->schema.returns.size() == 1 && op->schema.returns[0] == "Tensor";
        if (kind && one && !is_excluded(*op) && !op->schema.params.empty() && op->schema.params[0].type == "Tensor" &&
            !op->schema.params[0].list)
          found.push_back(op);
      }
      return found;
    }();
    const OpDef& op = *pick(ops);
    Node* first = value();
    const bool floats = op.op_class == OpClass::Compound || needs_floats(op.name);
    if (floats && !is_floating(first->tensor().dtype)) return nullptr;
    return fill(op, first);
  }

  Node* fill(const OpDef& op, Node* first) {
    std::vector<Argument> args;
    std::vector<std::pair<std::string, Argument>> kwargs;
    bool rest_default = false;
    for (size_t i = 0; i < op.schema.params.size(); ++i) {
      const Param& p = op.schema.params[i];
      const bool skippable = p.default_value.has_value();
      if (skippable && (rest_default || p.type == "ScalarType" || p.type == "str" || chance(60))) {
        rest_default = rest_default || !p.keyword_only;
        continue;
      }
      std::optional<Argument> a = i == 0 ? Argument(first) : argument(p, first);
      if (!a) {
        if (!skippable) return nullptr;
        rest_default = rest_default || !p.keyword_only;
        continue;
      }
      if (const Node* n = a->node();
          n && n->type.is_tensor() && needs_floats(op.name) && !is_floating(n->tensor().dtype))
        return nullptr;
      if (p.keyword_only)
        kwargs.emplace_back(p.name, std::move(*a));
      else
        args.push_back(std::move(*a));
    }
    return call(op.name, std::move(args), std::move(kwargs));
  }

  std::optional<Argument> argument(const Param& p, Node* first) {
    const auto rank = static_cast<int64_t>(shape(first).size());
    if (p.type == "Tensor" && !p.list) return p.optional && chance(50) ? Argument() : Argument(broadcastable(first));
    if (p.type == "Scalar" || p.type == "float") return number(first->tensor().dtype);
    if (p.type == "bool" && !p.list) return chance(50);
    if (p.name == "dim" || p.name == "dims") return dimensions(p, rank);
    if ((p.type == "int" || p.type == "SymInt") && p.name == "diagonal") return static_cast<int64_t>(below(5)) - 2;
    if (p.type == "SymInt" && p.list && p.name == "repeats") {
      std::vector<Argument> repeats;
      for (int64_t d = 0; d < rank; ++d) repeats.emplace_back(static_cast<int64_t>(1 + below(2)));
      return Argument::list(std::move(repeats));
    }
    return {};
  }

  Argument number(DType dtype) {
    static constexpr double kNumbers[] = {-2, -1, -0.5, 0, 0.5, 1, 2, 3};
    double v = kNumbers[below(std::size(kNumbers))];
    if (!is_floating(dtype)) v = is_signed_integral(dtype) ? std::floor(v) : v > 0.5 ? 1 : 0;
    if (v == std::floor(v) && (chance(40) || !is_floating(dtype))) return static_cast<int64_t>(v);
    return v;
  }

  Argument dimensions(const Param& p, int64_t rank) {
    const auto one = [&] { return static_cast<int64_t>(below(static_cast<size_t>(std::max<int64_t>(1, rank)))); };
    if (!p.list) return chance(30) ? one() - std::max<int64_t>(1, rank) : one();
    std::vector<Argument> dims;
    for (int64_t d = 0; d < rank; ++d)
      if (chance(50)) dims.emplace_back(d);
    return Argument::list(std::move(dims));
  }

  Node* binary() {
    static const std::vector<std::string> ops = {"aten.add.Tensor", "aten.sub.Tensor",      "aten.mul.Tensor",
                                                 "aten.div.Tensor", "aten.maximum.default", "aten.where.self",
                                                 "aten.lt.Tensor",  "aten.eq.Tensor"};
    const std::string& op = pick(ops);
    Node* x = value();
    Node* y = broadcastable(x);
    if (op == "aten.where.self") {
      Node* condition = broadcastable(x);
      if (!broadcasts(shape(condition), shape(y))) return nullptr;
      if (condition->tensor().dtype != DType::Bool) condition = call("aten.gt.Scalar", {condition, 0});
      return call(op, {condition, x, y});
    }
    return chance(20) ? call(op, {x, number(x->tensor().dtype)}) : call(op, {x, y});
  }

  Node* cast() {
    Node* x = value();
    // Of NaN and what does not fit there is no integer.
    DType to = any_dtype();
    if (is_floating(x->tensor().dtype) && is_integral(to)) to = DType::F32;
    if (chance(30)) return call("aten.to.dtype", {x, to});
    return call("aten._to_copy.default", {x}, {{"dtype", to}});
  }

  Argument sizes_of(const Shape& s) { return Argument::ints(s); }

  Node* view() {
    static constexpr std::string_view kFree[] = {"permute", "transpose", "slice",   "select",   "unsqueeze", "squeeze",
                                                 "expand",  "view",      "flatten", "diagonal", "alias",     "detach"};
    Node* x = chance(70) ? value_of_rank(1) : value();
    const auto rank = static_cast<int64_t>(shape(x).size());
    const auto dim = static_cast<int64_t>(below(shape(x).size()));
    const std::string_view kind = kFree[below(std::size(kFree))];
    if (kind == "permute") {
      std::vector<Argument> dims;
      for (int64_t d = 0; d < rank; ++d) dims.emplace_back(d);
      std::shuffle(dims.begin(), dims.end(), rng_);
      return call("aten.permute.default", {x, Argument::list(std::move(dims))});
    }
    if (kind == "transpose") return call("aten.transpose.int", {x, dim, static_cast<int64_t>(below(shape(x).size()))});
    if (rank == 0 && (kind == "slice" || kind == "select")) return nullptr;
    if (kind == "slice") return slice(x, dim);
    if (kind == "select") return select(x, dim);
    if (kind == "unsqueeze")
      return call("aten.unsqueeze.default", {x, static_cast<int64_t>(below(shape(x).size() + 1))});
    if (kind == "squeeze") return chance(50) ? call("aten.squeeze.default", {x}) : call("aten.squeeze.dim", {x, dim});
    if (kind == "expand") return expand(x);
    if (kind == "view") return reshape(x);
    if (kind == "flatten") return x->tensor().is_contiguous() ? call("aten.flatten.using_ints", {x, 0, -1}) : nullptr;
    if (kind == "diagonal") return call("aten.diagonal.default", {x, static_cast<int64_t>(below(3)) - 1});
    return call(kind == "alias" ? "aten.alias.default" : "aten.detach.default", {x});
  }

  Node* slice(Node* x, int64_t dim) {
    const auto start = static_cast<int64_t>(below(3)), length = static_cast<int64_t>(1 + below(4));
    std::vector<Argument> args{x, dim, chance(20) ? -start - 1 : start, chance(30) ? INT64_MAX : start + length};
    const SymInt& size = shape(x).at(static_cast<size_t>(dim));
    if (!size.is_const()) {  // starts and ends that are provably inside
      args[2] = static_cast<int64_t>(below(2));
      args[3] = chance(50) ? Argument(INT64_MAX) : Argument(size - SymInt(static_cast<int64_t>(below(2))));
    }
    if (chance(20)) args.emplace_back(static_cast<int64_t>(1 + below(3)));
    return call("aten.slice.Tensor", std::move(args));
  }

  Node* select(Node* x, int64_t dim) {
    const SymInt size = shape(x).at(static_cast<size_t>(dim));
    const auto n = size.is_const() ? static_cast<size_t>(size.value()) : 2;
    if (n == 0) return nullptr;
    const auto index = static_cast<int64_t>(below(n));
    return call("aten.select.int", {x, dim, chance(20) && size.is_const() ? index - static_cast<int64_t>(n) : index});
  }

  Node* expand(Node* x) {
    Shape to = shape(x);
    for (SymInt& s : to)
      if (s == SymInt(1)) s = size();
    if (chance(40)) to.insert(to.begin(), size());
    return call("aten.expand.default", {x, sizes_of(to)});
  }

  /// Only where PyTorch would not copy, so that what aliases is certain.
  Node* reshape(Node* x) {
    Node* from = x->tensor().is_contiguous()
                     ? x
                     : call("aten.clone.default", {x}, {{"memory_format", EnumArg{"torch.contiguous_format"}}});
    if (!from->tensor().is_contiguous()) return nullptr;
    Shape to = shape(from);
    if (to.size() >= 2 && chance(70)) {
      const size_t at = below(to.size() - 1);
      to[at] = to[at] * to[at + 1];
      to.erase(to.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    } else if (!to.empty()) {
      const size_t at = below(to.size());
      const int64_t factor = static_cast<int64_t>(2 + below(2));
      if (!to[at].is_const() || to[at].value() % factor != 0) return nullptr;
      to[at] = to[at].value() / factor;
      to.insert(to.begin() + static_cast<std::ptrdiff_t>(at + below(2)), factor);
    }
    return call("aten.view.default", {from, sizes_of(to)});
  }

  Node* parts() {
    Node* x = value_of_rank(1);
    const auto dim = static_cast<int64_t>(below(shape(x).size()));
    Node* tuple = chance(50)   ? call("aten.split.Tensor", {x, static_cast<int64_t>(1 + below(3)), dim})
                  : chance(50) ? call("aten.unbind.int", {x, dim})
                               : call("aten.chunk.default", {x, static_cast<int64_t>(1 + below(3)), dim});
    const size_t count = tuple->type.parts.size();
    if (count == 0) return nullptr;
    values_.push_back(b_.getitem(tuple, static_cast<int64_t>(below(count))));
    return b_.getitem(tuple, static_cast<int64_t>(below(count)));
  }

  Node* join() {
    Node* x = value_of_rank(1);
    const auto dim = static_cast<int64_t>(below(shape(x).size()));
    std::vector<Argument> items{x};
    const bool stacks = chance(20);
    for (size_t i = below(3); i-- > 0;) {
      Shape s = shape(x);
      if (!stacks && chance(60)) s[static_cast<size_t>(dim)] = size();
      Node* found = nullptr;
      for (Node* v : values_)
        if (shape(v) == s && chance(50)) found = v;
      items.emplace_back(found ? found : input(x->tensor().dtype, s));
    }
    return call(stacks ? "aten.stack.default" : "aten.cat.default", {Argument::list(items), dim});
  }

  /// An index tensor whose elements lie in [0, n).
  Node* index_below(const SymInt& n, const Shape& s) {
    if (!n.is_const() || n.value() == 0) return nullptr;
    return call("aten.remainder.Scalar", {input(DType::I64, s), n.value()});
  }

  Node* indirect() {
    Node* x = value_of_rank(1);
    const size_t dim = below(shape(x).size());
    const SymInt n = shape(x)[dim];
    switch (below(6)) {
      case 0: {
        Shape s = shape(x);
        s[dim] = size();
        Node* index = index_below(n, s);
        return index ? call("aten.gather.default", {x, static_cast<int64_t>(dim), index}) : nullptr;
      }
      case 1: {
        Node* index = index_below(n, {size()});
        return index ? call("aten.index_select.default", {x, static_cast<int64_t>(dim), index}) : nullptr;
      }
      case 2: {
        Node* index = index_below(shape(x)[0], random_shape(2));
        return index && shape(x).size() == 2 ? call("aten.embedding.default", {x, index}) : nullptr;
      }
      case 3: {
        Node* index = index_below(shape(x)[0], random_shape(2));
        return index ? call("aten.index.Tensor", {x, Argument::list({Argument(index)})}) : nullptr;
      }
      case 4:
        return call("aten.sort.default", {x, static_cast<int64_t>(dim)})->type.parts.empty()
                   ? nullptr
                   : sorted(x, static_cast<int64_t>(dim));
      default:
        return call("aten.flip.default", {x, Argument::list({Argument(static_cast<int64_t>(dim))})});
    }
  }

  Node* sorted(Node* x, int64_t dim) {
    return b_.getitem(call("aten.sort.stable", {x}, {{"stable", true}, {"dim", dim}}), static_cast<int64_t>(below(2)));
  }

  Node* library() {
    const DType dtype = main_dtype_;
    Node* x = value_of_rank(2);
    if (!is_floating(x->tensor().dtype)) return nullptr;
    const DType d = x->tensor().dtype;
    Shape s = shape(x);
    const SymInt k = s.back();
    switch (below(7)) {
      case 0:
        return s.size() == 2 ? call("aten.mm.default", {x, input(d, {k, size()})}) : nullptr;
      case 1: {
        const SymInt n = size();
        return s.size() == 2 ? call("aten.addmm.default", {input(d, {n}), x, input(d, {k, n})}) : nullptr;
      }
      case 2:
        return s.size() == 3 ? call("aten.bmm.default", {x, input(d, {s[0], k, size()})}) : nullptr;
      case 3: {
        const SymInt n = size();
        return call("aten.linear.default", {x, input(d, {n, k}), chance(50) ? Argument(input(d, {n})) : Argument()});
      }
      case 4:
        return call("aten.matmul.default", {x, input(d, {k, size()})});
      case 5:
        return convolution(dtype);
      default:
        return attention(d);
    }
  }

  Node* convolution(DType dtype) {
    // Libraries skip products with padding, and multiply whole blocks by zeros: with NaN and infinity that shows.
    if (special_) return nullptr;
    const bool transposed = chance(25);
    const int64_t groups = chance(25) ? 2 : 1, in = groups * static_cast<int64_t>(1 + below(3)),
                  out = groups * static_cast<int64_t>(1 + below(3));
    const size_t dims = 1 + below(2);
    Shape xs{size(), in}, ws = transposed ? Shape{in, out / groups} : Shape{out, in / groups};
    std::vector<Argument> stride, padding, dilation, output_padding;
    for (size_t i = 0; i < dims; ++i) {
      xs.emplace_back(static_cast<int64_t>(3 + below(5)));
      ws.emplace_back(static_cast<int64_t>(1 + below(3)));
      stride.emplace_back(static_cast<int64_t>(1 + below(2)));
      padding.emplace_back(static_cast<int64_t>(below(2)));
      dilation.emplace_back(1);
      output_padding.emplace_back(0);
    }
    Node* x = nullptr;
    for (Node* v : values_)
      if (shape(v).size() == xs.size() && shape(v)[1] == xs[1] && v->tensor().dtype == dtype) x = v;
    if (!x) x = input(dtype, xs);
    const Argument bias = chance(60) ? Argument(input(dtype, {out})) : Argument();
    return call("aten.convolution.default",
                {x, input(dtype, ws), bias, Argument::list(stride), Argument::list(padding), Argument::list(dilation),
                 transposed, Argument::list(output_padding), groups});
  }

  Node* attention(DType dtype) {
    const SymInt batch = size(), heads = size(), length = size(), keys = size();
    const auto head = static_cast<int64_t>(1 + below(8)), shared = static_cast<int64_t>(1 + below(3));
    const bool grouped = chance(30);
    Node* q = input(dtype, {batch, grouped ? SymInt(2 * shared) : heads, length, head});
    Node* k = input(dtype, {batch, grouped ? SymInt(shared) : heads, keys, head});
    Node* v = input(dtype, {batch, grouped ? SymInt(shared) : heads, keys, head});
    const bool causal = chance(30);
    return call("aten.scaled_dot_product_attention.default",
                {q, k, v, !causal && chance(30) ? Argument(input(dtype, {length, keys})) : Argument(), 0.0, causal},
                {{"enable_gqa", grouped}});
  }

  Node* normalization() {
    Node* x = value_of_rank(2);
    if (!is_floating(x->tensor().dtype)) return nullptr;
    const DType d = x->tensor().dtype;
    const SymInt last = shape(x).back(), channels = shape(x)[1];
    const auto maybe = [&](const SymInt& n) { return chance(60) ? Argument(input(d, {n})) : Argument(); };
    switch (below(3)) {
      case 0:
        return call("aten.layer_norm.default", {x, Argument::ints({last}), maybe(last), maybe(last), 1e-5});
      case 1: {
        Node* variance = call("aten.abs.default", {input(d, {channels})});
        return call("aten.batch_norm.default",
                    {x, maybe(channels), maybe(channels), input(d, {channels}), variance, false, 0.1, 1e-3, true});
      }
      default:
        return call("aten.softmax.int", {x, -1});
    }
  }

  Node* pooling() {
    Node* x = value_of_rank(4);
    if (!is_floating(x->tensor().dtype) || shape(x).size() != 4) return nullptr;
    const auto two = [&](int64_t v) { return Argument::list({Argument(v), Argument(v)}); };
    const auto window = static_cast<int64_t>(1 + below(3)), stride = static_cast<int64_t>(1 + below(2));
    const int64_t padding = window > 1 ? static_cast<int64_t>(below(2)) : 0;
    switch (below(3)) {
      case 0:
        return call("aten.max_pool2d.default", {x, two(window), two(stride), two(padding)});
      case 1:
        return call("aten.avg_pool2d.default", {x, two(window), two(stride), two(padding), false, chance(50)});
      default:
        return call("aten.adaptive_avg_pool2d.default", {x, two(1)});
    }
  }

  Node* creation() {
    if (chance(50))
      return call("aten.arange.default", {Argument::ints({size()}).as<ListArg>()->items[0]}, {{"dtype", any_dtype()}});
    const DType dtype = any_dtype();
    return call("aten.full.default", {sizes_of(random_shape(3)), number(dtype)}, {{"dtype", dtype}});
  }

  Node* pad() {
    Node* x = value_of_rank(1);
    std::vector<Argument> amounts;
    for (size_t i = 0; i < 2 * (1 + below(std::min<size_t>(2, shape(x).size()))); ++i)
      amounts.emplace_back(static_cast<int64_t>(below(3)) - (chance(10) ? 1 : 0));
    if (amounts.size() % 2) amounts.pop_back();
    return call("aten.constant_pad_nd.default", {x, Argument::list(amounts), number(x->tensor().dtype)});
  }

  /// A size of one value used as an operand and in the shape of another.
  Node* sizes() {
    Node* x = value_of_rank(1);
    Node* n = call("aten.sym_size.int", {x, 0});
    if (chance(30)) integers_.push_back(n);
    if (chance(50))
      return call("aten.full.default", {Argument::list({Argument(n), Argument(2)}), 1.5}, {{"dtype", main_dtype_}});
    return call("aten.mul.Tensor", {value(), n});
  }

  Node* mutation() {
    if (!mutates_) return nullptr;
    static const std::vector<const OpDef*> ops = [] {
      std::vector<const OpDef*> found;
      for (const OpDef* op : all_ops())
        if (op->op_class == OpClass::Mutation && !is_excluded(*op)) found.push_back(op);
      return found;
    }();
    const OpDef& op = chance(30) ? *find_op("aten.copy_.default") : *pick(ops);
    Node* self = value();
    if (overlaps(*self) || (needs_floats(op.name) && !is_floating(self->tensor().dtype))) return nullptr;
    Node* made = fill(op, self);
    // In place means: neither shape nor type of the operand changes.
    if (!made) return nullptr;
    if (made->type.is_tensor() && shape(made) == shape(self) && may_write(*made, *self)) return made;
    graph_.remove_if([&](const Node& n) { return &n == made; });
    return nullptr;
  }

  /// PyTorch refuses to write floats into integers.
  static bool may_write(const Node& made, const Node& self) {
    if (made.is("aten.copy_.default") && broadcast(shape(&self), shape(made.args.at(1).node()), self) != shape(&self))
      return false;
    if (made.is("aten.copy_.default"))
      return !(is_integral(self.tensor().dtype) && is_floating(made.args.at(1).node()->tensor().dtype));
    if (is_floating(self.tensor().dtype)) return true;
    for (const Node* n : made.operands())
      if (n->type.is_tensor() && n->tensor().dtype != self.tensor().dtype) return false;
    for (const Argument& a : made.args)
      if (a.as<double>() || (self.tensor().dtype == DType::Bool && a.as<int64_t>())) return false;
    return !has_name(made.target, {"div", "sqrt", "exp", "sigmoid", "tanh", "sin", "cos", "log", "erf", "reciprocal"});
  }

  /// Elements that lie at the same place: PyTorch refuses to write them.
  static bool overlaps(const Node& node) {
    for (const Node* n = &node; n && n->type.is_tensor();) {
      if (has_name(n->target, {"expand", "broadcast_to"})) return true;
      if (n->kind != NodeKind::Call || n->args.empty()) return false;
      n = n->args[0].node();
      while (n && n->type.kind == Type::Kind::Tuple) n = n->args[0].node();
    }
    return false;
  }

  // ------------------------------------------------------------------------------------------------------------ finish

  void choose_outputs() {
    const size_t count = 1 + below(3);
    std::vector<Argument> leaves{values_.back()};
    for (size_t i = 1; i < count; ++i) leaves.emplace_back(pick(values_));
    for (Node* n : integers_) leaves.emplace_back(n);
    graph_.output(Argument(ListArg{ListArg::Kind::Tuple, std::move(leaves)}));
  }

  RandomProgram finish() {
    std::vector<Node*> order;
    for (const auto& [node, spec] : specs_) {
      order.push_back(node);
      graph_.input_specs.push_back(spec);
    }
    for (const auto& node : graph_.nodes())
      if (node->kind != NodeKind::Placeholder) order.push_back(node.get());
    graph_.reorder(order);
    RandomProgram program{std::move(graph_), {}, bindings_};
    for (const auto& [node, spec] : specs_)
      program.inputs.push_back(random_tensor(rng_, node->tensor().dtype, concrete(shape(node), bindings_), special_));
    return program;
  }

  std::mt19937_64 rng_, layouts_;
  Graph graph_;
  Builder b_;
  bool mutates_ = false, special_ = false;
  DType main_dtype_ = DType::F32;
  std::vector<SymInt> symbols_;
  SymBindings bindings_;
  std::vector<Node*> values_, integers_;
  std::vector<std::pair<Node*, InputSpec>> specs_;
};

// ---------------------------------------------------------------------------------------------------------------
// shrink

Node* node_at(Graph& graph, size_t position) { return graph.nodes()[position].get(); }

bool is_placeholder_unused(const Node& node, const UserMap& users) {
  const auto it = users.find(&node);
  return node.kind == NodeKind::Placeholder && !node.name.starts_with("size_of_") &&
         (it == users.end() || it->second.empty());
}

/// Removes placeholders that nobody uses, with their values, and calls without users that write nothing.
void tidy(RandomProgram& p) {
  for (bool changed = true; changed;) {
    const UserMap users = users_of(p.graph);
    const auto unused = [&](const Node& n) {
      const auto it = users.find(&n);
      return n.kind == NodeKind::Call && (it == users.end() || it->second.empty()) &&
             !(n.op && n.op->op_class == OpClass::Mutation);
    };
    const size_t before = p.graph.size();
    p.graph.remove_if(unused);
    changed = p.graph.size() != before;
  }
  const UserMap users = users_of(p.graph);
  const auto inputs = p.graph.placeholders();
  for (size_t i = inputs.size(); i-- > 0;) {
    if (!is_placeholder_unused(*inputs[i], users)) continue;
    p.inputs.erase(p.inputs.begin() + static_cast<std::ptrdiff_t>(i));
    p.graph.input_specs.erase(p.graph.input_specs.begin() + static_cast<std::ptrdiff_t>(i));
  }
  p.graph.remove_if([&](const Node& n) { return is_placeholder_unused(n, users); });
}

void drop_output(RandomProgram& p, size_t leaf) {
  std::vector<Argument> leaves = p.graph.flat_outputs();
  leaves.erase(leaves.begin() + static_cast<std::ptrdiff_t>(leaf));
  p.graph.output_node()->args = {Argument(ListArg{ListArg::Kind::Tuple, std::move(leaves)})};
  tidy(p);
}

void replace_uses(Graph& graph, const Node* old, Node* with) {
  for (const auto& node : graph.nodes())
    node->for_each_operand([&](Node*& operand) {
      if (operand == old) operand = with;
    });
}

/// The node at `position` becomes an input.
void cut(RandomProgram& p, size_t position) {
  Node* node = node_at(p.graph, position);
  const bool special = position % 2 == 0;
  Node* made = p.graph.placeholder("cut_" + node->name, Type::of(node->tensor().dtype, node->tensor().shape));
  std::mt19937_64 rng(position);
  p.inputs.push_back(random_tensor(rng, node->tensor().dtype, concrete(node->tensor().shape, p.symbols), special));
  p.graph.input_specs.push_back({});
  replace_uses(p.graph, node, made);
  p.graph.remove_if([&](const Node& n) { return &n == node; });
  std::vector<Node*> order = p.graph.placeholders();
  for (const auto& n : p.graph.nodes())
    if (n->kind != NodeKind::Placeholder) order.push_back(n.get());
  p.graph.reorder(order);
  tidy(p);
}

/// Users of the node use an operand of the same type instead.
bool skip(RandomProgram& p, size_t position) {
  Node* node = node_at(p.graph, position);
  for (Node* operand : node->operands()) {
    if (!operand->type.is_tensor() || operand->tensor().dtype != node->tensor().dtype ||
        operand->tensor().shape != node->tensor().shape)
      continue;
    replace_uses(p.graph, node, operand);
    p.graph.remove_if([&](const Node& n) { return &n == node; });
    tidy(p);
    return true;
  }
  return false;
}

}  // namespace

RandomProgram RandomProgram::clone() const {
  RandomProgram copy{graph.clone(), {}, symbols};
  for (const Tensor& t : inputs) copy.inputs.push_back(t.clone());
  return copy;
}

std::map<std::string, Tensor> RandomProgram::state() const {
  std::map<std::string, Tensor> state;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (graph.input_specs[i].kind != InputSpec::Kind::User) state[graph.input_specs[i].target] = inputs[i].clone();
  return state;
}

std::vector<Tensor> RandomProgram::user_inputs() const {
  std::vector<Tensor> user;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (graph.input_specs[i].kind == InputSpec::Kind::User) user.push_back(inputs[i].clone());
  return user;
}

std::string RandomProgram::str() const {
  std::string text = print_fx(graph, {FxOptions::Form::Function, true, false, false}) + "\n";
  const auto names = graph.placeholders();
  for (size_t i = 0; i < inputs.size(); ++i) {
    text += "# " + names[i]->name + " " + inputs[i].str() + ":";
    const auto values = inputs[i].values();
    for (size_t k = 0; k < std::min<size_t>(values.size(), 16); ++k) text += " " + std::to_string(values[k]);
    text += "\n";
  }
  return text;
}

RandomProgram random_program(uint64_t seed) { return Generator(seed).run(); }

Tensor random_tensor(std::mt19937_64& rng, DType dtype, const std::vector<int64_t>& shape, bool special) {
  static constexpr double kSpecial[] = {std::numeric_limits<double>::quiet_NaN(),
                                        std::numeric_limits<double>::infinity(),
                                        -std::numeric_limits<double>::infinity(), 0.0, -0.0};
  Tensor t = Tensor::empty(dtype, shape);
  std::uniform_real_distribution<double> real(-3, 3);
  for (int64_t i = 0; i < t.numel(); ++i) {
    if (dtype == DType::Bool)
      t.set_int(i, static_cast<int64_t>(rng() % 2));
    else if (is_integral(dtype))
      t.set_int(i, static_cast<int64_t>(rng() % 11) - (is_signed_integral(dtype) ? 5 : 0));
    else
      t.set(i, special && rng() % 10 == 0 ? kSpecial[rng() % std::size(kSpecial)] : real(rng));
  }
  return t;
}

RandomProgram shrink(const RandomProgram& program, const std::function<bool(const RandomProgram&)>& fails) {
  RandomProgram best = program.clone();
  const auto try_change = [&](const std::function<bool(RandomProgram&)>& change) {
    RandomProgram candidate = best.clone();
    if (!change(candidate) || candidate.graph.flat_outputs().empty() || !fails(candidate)) return false;
    best = std::move(candidate);
    return true;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t i = best.graph.flat_outputs().size(); i-- > 0;)
      if (best.graph.flat_outputs().size() > 1)
        progress |= try_change([&](RandomProgram& p) { return drop_output(p, i), true; });
    for (size_t i = best.graph.size(); i-- > 0;) {
      if (i >= best.graph.size()) continue;
      const Node* node = best.graph.nodes()[i].get();
      if (node->kind != NodeKind::Call || !node->type.is_tensor()) continue;
      progress |= try_change([&](RandomProgram& p) { return skip(p, i); }) ||
                  try_change([&](RandomProgram& p) { return cut(p, i), true; });
    }
  }
  return best;
}

}  // namespace strata
