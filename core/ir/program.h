// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A whole exported program: the graph as captured, its weights, and what callers of it need to know.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/ir/graph.h"
#include "core/runtime/tensor.h"

namespace strata {

/// How nested Python containers were flattened (a pytree). A leaf has an empty type.
struct TreeSpec {
  std::string type;  ///< `builtins.tuple`, `builtins.dict`, `collections.namedtuple`, or as registered; empty: leaf
  std::vector<std::string> keys;  ///< dict keys or field names, parallel to `children`; empty: by position
  std::string context;            ///< as written, for types without keys
  std::vector<TreeSpec> children;

  bool is_leaf() const { return type.empty(); }
  size_t leaf_count() const;
};

/// A user input that was fixed when the program was exported: a number, string, flag or None.
struct ConstantInput {
  std::string name;
  Argument value;
};

/// A user output that is no array (`is_array_output`): None, a string.
struct ConstantOutput {
  size_t position = 0;  ///< among all user outputs
  std::string name;
  Argument value;
};

/// A condition on input sizes that the program was exported under.
struct SizeGuard {
  enum class Relation : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };
  std::string text;  ///< as the exporter wrote it: `L['x'].size()[0] % 2 == 0`
  SymInt left, right;
  Relation relation = Relation::Equal;

  /// Nothing if a side has no value under these bindings.
  std::optional<bool> holds(const SymBindings& bindings) const;
};

struct Program {
  explicit Program(Graph captured) : graph(std::move(captured)) {}

  Graph graph;
  /// The graph with sizes as its file has them, where `graph` has what follows for those that were traced from 2 on
  /// (`TracedSizes`); null where that is the same.
  std::unique_ptr<Graph> stated;
  std::string name;  ///< the model's name in the archive
  std::string path;  ///< the file it was read from

  /// Parameters, buffers and constants by qualified name. Tied tensors share one storage. Pages of the file,
  /// copy-on-write.
  std::map<std::string, Tensor> state;
  std::vector<std::string> objects;  ///< state that is no tensor: names only

  /// User inputs, in order, one per placeholder of InputSpec kind User: tensors, and sizes as 0-dimensional int64
  /// tensors.
  std::vector<std::string> user_input_names;  ///< as in Python: `x`, `d.a`, `args.0`, `kwargs.mask`
  /// Parallel to user_input_names, or empty if the archive has none that can be read.
  std::vector<Tensor> sample_inputs;
  std::string sample_inputs_note;              ///< why `sample_inputs` is empty
  std::vector<ConstantInput> constant_inputs;  ///< user inputs that take no value any more

  /// One per output of kind User that is an array: `out`, `out.0`, `out.logits`, `out.rest.1`. The others, in order.
  std::vector<std::string> user_output_names;
  std::vector<ConstantOutput> constant_outputs;
  TreeSpec in_spec, out_spec;  ///< in_spec: tuple of (positional tuple, keyword dict)

  /// Conditions that check_inputs evaluates; all of the exporter's, in words, are assumptions of graph.env().
  std::vector<SizeGuard> guards;

  std::string producer;                ///< `torch 2.11.0+cu130`
  std::string schema_version;          ///< `8.17`
  std::vector<std::string> verifiers;  ///< `TRAINING`: may hold in-place operators
  /// Lines of Python known from the stack traces: file, then line, then text.
  std::map<std::string, std::map<int, std::string>> source_lines;
};

/// A call of an operator without a row in the table.
struct UnsupportedOp {
  std::string target;
  size_t count = 0;
  std::vector<SourceLocation> where;  ///< innermost user lines, distinct, at most eight; may be empty
};
/// Operators of the graph and its subgraphs that are not in the operator table, by name.
std::vector<UnsupportedOp> unsupported_operators(const Graph& graph);
/// One user Error that lists them all with their Python lines; does nothing when there are none.
void require_supported_operators(const Graph& graph);

/// The line of a stack that a reader of the model wants to see: the innermost one that is not inside PyTorch; else the
/// innermost.
const SourceLocation* user_line(const SourceStack& stack);
/// `'add_1' (aten.add.Tensor) at model.py:12`, for messages.
std::string place_of(const Node& node);

/// Placeholders that take user inputs, in order.
std::vector<Node*> user_placeholders(const Graph& graph);

/// Values of all symbols that the shapes of `inputs` (parallel to user_placeholders) determine: symbols standing alone,
/// then sizes linear in one unknown symbol (`2*s0 + 1`) until nothing new is found. Every size is then checked against
/// its expression, and every bound symbol against its range. Names in messages come from `names` if given, else from
/// the placeholders. Throws a user Error naming input, dimension, symbol and constraint. Ranks must match (check_inputs
/// checks them first).
SymBindings bind_symbols(const Graph& graph, std::span<const Tensor> inputs, std::span<const std::string> names = {});

/// Throws one user Error, listing everything that is wrong: count, dtypes, ranks, sizes, ranges, guards. Returns the
/// symbols' values.
SymBindings check_inputs(const Program& program, std::span<const Tensor> inputs);

}  // namespace strata
