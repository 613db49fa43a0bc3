// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random programs over the operator table.
///
/// One seed decides everything. A step takes a row of the table and lets the row's *recipe* make a call of it on values
/// that are there or on new inputs; what the row's shape rule refuses is simply not added. Rows without a recipe of
/// their own get arguments by the schema (`fill`). Rows that are never made stand in `left_out()` with the reason; a
/// test holds the table, the recipes and that list together.

#include <optional>
#include <span>

#include "core/ir/builder.h"
#include "tests/graphs/program.h"

namespace strata::fuzz {

using Shape = std::vector<SymInt>;

class Generator;
/// Makes a call of `row`, or gives null if that is not possible on what was drawn. May throw a user Error (the row
/// refuses the operands). What it returns may be a tensor, a tuple of tensors, or a list of them.
using Recipe = Node* (*)(Generator& g, const OpDef& row);

struct RecipeEntry {
  std::string_view rows;  ///< a row's name, or its beginning followed by `*`
  Recipe make;
};

/// Families of recipes; the first entry that fits a row counts.
std::span<const RecipeEntry> view_recipes();
std::span<const RecipeEntry> join_recipes();
std::span<const RecipeEntry> index_recipes();
std::span<const RecipeEntry> matrix_recipes();
std::span<const RecipeEntry> window_recipes();
std::span<const RecipeEntry> norm_recipes();
std::span<const RecipeEntry> number_recipes();
std::span<const RecipeEntry> size_recipes();
std::span<const RecipeEntry> complex_recipes();
std::span<const RecipeEntry> control_recipes();

struct LeftOut {
  std::string_view rows;  ///< as in RecipeEntry
  std::string_view reason;
};
/// Rows that no program has.
std::span<const LeftOut> left_out();
/// The reason why a row is never made; empty if it is.
std::string_view reason_left_out(const OpDef& row);
/// The row's recipe; null for one that is left out.
Recipe recipe_of(const OpDef& row);

struct GeneratorOptions {
  const OpDef* row = nullptr;  ///< a row that every program tries to have
};

/// The same program for the same seed and options: shapes with sizes 0 and 1, broadcasting, views, symbolic sizes, all
/// element types that kernels know, strided and broadcast inputs, special values, in-place operators on values, views,
/// inputs and buffers.
RandomProgram random_program(uint64_t seed, const GeneratorOptions& options = {});

/// What recipes draw from and build with.
class Generator {
 public:
  Generator(uint64_t seed, const GeneratorOptions& options);
  RandomProgram run();

  // choices
  size_t below(size_t n) { return n ? static_cast<size_t>(rng_() % n) : 0; }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<size_t>(high - low + 1)));
  }
  bool chance(size_t percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[below(list.size())];
  }
  template <class T, size_t N>
  const T& pick(const T (&list)[N]) {
    return list[below(N)];
  }
  std::mt19937_64& rng() { return rng_; }

  // types and sizes
  DType main_dtype() const { return main_dtype_; }
  DType any_dtype();
  DType integer_dtype();
  DType floating_dtype();
  SymInt size();
  /// Of an image: a number, or a symbol (4 or more).
  SymInt width(int64_t least, int64_t most);
  Shape random_shape(size_t least, size_t most);
  /// The value of a size in this program's run.
  int64_t concrete(const SymInt& size) const;
  std::vector<int64_t> concrete(const Shape& shape) const;
  /// Whether inputs have NaN, infinities and ends of ranges.
  bool special() const { return special_; }
  bool mutates() const { return mutates_; }

  // values
  /// Any value whose rank lies in [least, most], or a new input.
  Node* value(size_t least = 0, size_t most = 9);
  /// The same of floating, integer (not bool), numeric (not bool), bool type.
  Node* floating(size_t least = 0, size_t most = 9);
  Node* integral(size_t least = 0, size_t most = 9);
  Node* number(size_t least = 0, size_t most = 9);
  Node* boolean(size_t least = 0, size_t most = 9);
  /// A value of this type and shape: one that is there, or a new input.
  Node* of(DType dtype, const Shape& shape);
  /// A value with `dims` dimensions of known sizes behind batch and channels, as programs of images hand it on; mostly
  /// null in others.
  Node* image(size_t dims);
  /// A value that broadcasts with `with`, mostly of its type.
  Node* broadcastable(const Node* with);
  /// A shape that `with` broadcasts to itself.
  Shape smaller_shape(const Shape& with);
  Node* input(DType dtype, const Shape& shape, const Domain& domain = {});
  /// Numbers in [low, high); null if there are none and the shape has elements.
  Node* indices(const SymInt& low, const SymInt& high, const Shape& shape, DType dtype = DType::I64);
  /// The value without NaN and large numbers: for what is undefined for those.
  Node* tame(Node* x);
  /// The value laid out row by row, where views need it.
  Node* contiguous(Node* x);

  // arguments
  Argument scalar(DType dtype, bool zero = true);
  Argument maybe(Node* node, size_t percent = 60) { return chance(percent) ? Argument(node) : Argument(); }
  Argument sizes(const Shape& shape) { return Argument::ints(shape); }
  static Argument ints(const std::vector<int64_t>& items);
  int64_t dim(const Node* x);  ///< sometimes negative
  std::vector<int64_t> dims(const Node* x, size_t percent = 50);

  // calls
  Node* call(std::string_view target, std::vector<Argument> args,
             std::vector<std::pair<std::string, Argument>> kwargs = {}) {
    return restated(builder_.call(target, std::move(args), std::move(kwargs)));
  }
  Node* call(const OpDef& row, std::vector<Argument> args, std::vector<std::pair<std::string, Argument>> kwargs = {}) {
    return call(row.name, std::move(args), std::move(kwargs));
  }
  /// Names sizes of a broadcast result as any operand does, as PyTorch's programs do.
  Node* restated(Node* made);
  /// A call whose result has sizes that only the data tells: its type is stated, as capture does.
  Node* stated(const OpDef& row, std::vector<Argument> args, std::vector<std::pair<std::string, Argument>> kwargs,
               Type type);
  /// A call with arguments by the schema: `first` for the first tensor, the rest drawn by name and type; null if
  /// that is not possible.
  Node* fill(const OpDef& row, Node* first);
  Node* part(Node* tuple, size_t index) { return builder_.getitem(tuple, static_cast<int64_t>(index)); }
  Builder& builder() { return builder_; }
  /// A size that only a run tells.
  SymInt unknown_size();
  /// An output beside those that are chosen in the end.
  void also_output(Node* node) { forced_.push_back(node); }

 private:
  void add_symbol(const std::string& name);
  Shape other_strides(const Shape& shape);
  Tensor value_of(const Node& node, const Domain& domain);
  bool broadcasts(const Shape& a, const Shape& b) const;
  Node* pick_where(bool (*fits)(DType), size_t least, size_t most);
  std::optional<Argument> argument(const Param& p, Node* first);
  bool step();
  bool attempt(const OpDef& row);
  void keep(Node* made);
  /// Refuses tensors that would take too long.
  void require_few(const Shape& shape) const;
  void choose_outputs();
  void resize();
  RandomProgram finish();

  struct Input {
    Node* node;
    InputSpec spec;
    Domain domain;
  };

  GeneratorOptions options_;
  std::mt19937_64 rng_;
  Graph graph_;
  Builder builder_;
  bool mutates_ = false, special_ = false, images_ = false;
  DType main_dtype_ = DType::F32;
  std::vector<SymInt> symbols_;
  SymBindings bindings_;
  std::vector<Node*> values_, forced_;
  std::vector<Input> inputs_;
  size_t unknown_ = 0;
};

inline const Shape& shape_of(const Node* node) { return node->tensor().shape; }
inline DType dtype_of(const Node* node) { return node->tensor().dtype; }
inline size_t rank_of(const Node* node) { return shape_of(node).size(); }
/// The row itself, or the functional one that an in-place row is made of.
inline std::string_view name_of(const OpDef& row) {
  return row.op_class == OpClass::Mutation ? std::string_view(row.functional_name) : std::string_view(row.name);
}
bool has_name(std::string_view target, std::initializer_list<std::string_view> parts);

/// Removes placeholders that nobody uses, with their values, and calls without users that write nothing.
void tidy(RandomProgram& program);

}  // namespace strata::fuzz
