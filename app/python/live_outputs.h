// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a caller gets from what the compiled program returns: tensors of PyTorch, those that share memory with an input
/// or with one another as views of it, sizes, constants. Everything that does not depend on the call is made once.

#include <pybind11/pybind11.h>

#include <vector>

#include "core/ir/sym.h"
#include "core/runtime/tensor.h"

namespace strata {

/// Numbers that may depend on the symbols of a call.
class LiveSizes {
 public:
  LiveSizes() = default;
  /// A sequence of ints and of expressions as text; or a function that takes a dict of the symbols' values, for
  /// expressions that a SymInt cannot hold.
  LiveSizes(ShapeEnv& env, const pybind11::handle& description);

  bool fixed() const { return fixed_; }
  bool by_function() const { return static_cast<bool>(function_); }
  /// Whether symbols of these ids are all that it takes.
  bool follows_from(const std::vector<bool>& known) const;
  /// `given`: position and name of the symbols among the inputs, for the function.
  std::vector<int64_t> values(const SymBindings& symbols, const pybind11::dict& given) const;
  const std::vector<int64_t>& constants() const { return constants_; }
  /// A tuple; the same object in every call where it does not depend on the call.
  pybind11::object tuple(const SymBindings& symbols, const pybind11::dict& given) const;

 private:
  bool fixed_ = true;
  std::vector<SymInt> expressions_;
  std::vector<int64_t> constants_;
  pybind11::object function_, tuple_;
};

class LiveOutputs {
 public:
  /// `makers`, one per output: ("kept", i), ("input", i), ("constant", object), ("size", sizes), ("view of input", i,
  /// shape, strides, offset) and ("view of kept", ...), offsets counted from the start of what is viewed, and ("item",
  /// maker), the number in the only element of what that maker gives. `strides`: those that each kept result has to
  /// have. `symbols`: (position, name) of the inputs that are sizes, and of numbers that are handed over as tensors.
  LiveOutputs(ShapeEnv& env, const pybind11::sequence& makers, const pybind11::sequence& strides,
              const pybind11::sequence& symbols);

  /// Whether sizes are needed that only the run tells.
  bool from_data() const { return from_data_; }
  /// A tuple of the outputs. `kept` are the compiled program's results, `of_data` the sizes of the run where they are
  /// needed. Throws what PyTorch throws.
  pybind11::object make(PyObject* const* inputs, std::vector<Tensor>& kept, const SymBindings& of_data) const;

 private:
  enum class Kind : uint8_t { Kept, Input, Constant, Size, ViewOfInput, ViewOfKept };
  struct Maker {
    Kind kind = Kind::Kept;
    size_t index = 0;
    bool item = false;  ///< Python's number instead of the tensor
    pybind11::object constant;
    LiveSizes shape, strides, offset;  ///< `shape` holds the size of a Size
  };
  struct Symbol {
    size_t input, id;
    pybind11::object name;
  };

  bool calls_functions() const;
  void find_sizes_of_data(const ShapeEnv& env);
  static Maker read_maker(ShapeEnv& env, const pybind11::handle& description);
  pybind11::object make_one(const Maker& maker, PyObject* const* inputs, const std::vector<pybind11::object>& kept,
                            const SymBindings& symbols, const pybind11::dict& given) const;

  std::vector<Maker> makers_;
  std::vector<LiveSizes> strides_;
  std::vector<Symbol> symbols_;
  size_t symbol_count_ = 0;
  bool from_data_ = false;
  std::vector<std::string> names_;  ///< of all symbols, where sizes depend on data
};

}  // namespace strata
