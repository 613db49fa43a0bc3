// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small programs with what to run them on: what the graph fuzzer makes, compares, shrinks, writes and reads.

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/graph.h"

namespace strata::fuzz {

/// A program as captured, with one set of inputs.
struct RandomProgram {
  Graph graph;
  std::vector<Tensor> inputs;  ///< one per placeholder, weights and buffers included; strides as the caller has them
  SymBindings symbols;
  int threads = 1;  ///< of the compiled run; the unfused one has the other of 1 and 2

  RandomProgram clone() const;
  /// Values of the placeholders that are no user inputs, by qualified name; fresh copies.
  std::map<std::string, Tensor> state() const;
  /// Fresh copies of the user inputs, in order, with their strides.
  std::vector<Tensor> user_inputs() const;
  /// For people: the graph in FX style, then the first elements of every input.
  std::string str() const;
};

/// A copy whose elements lie as those of `t` do (gaps, orders, repeated elements).
Tensor copy_as_it_lies(const Tensor& t);

/// The same elements at other places: `strides` in elements (0 repeats one), the first one at `offset`.
Tensor lay_out(const Tensor& values, const std::vector<int64_t>& strides, int64_t offset);

/// What the elements of an input may be.
struct Domain {
  enum class Kind : uint8_t {
    Any,       ///< floats in [-3, 3], integers in [-5, 5] (or [0, 10]); special values where the program has them
    Positive,  ///< floats in [0.1, 3], integers in [1, 10]
    Unit,      ///< floats in [0, 1]
    Tame,      ///< as Any without special values
    NonZero,   ///< integers other than 0
    Small,     ///< integers in [0, 4]
    Index      ///< integers in [low, high)
  };
  Kind kind = Kind::Any;
  int64_t low = 0, high = 0;
};

/// Elements of a tensor, drawn; `special` adds NaN, infinities, signed zeros, denormals and the ends of integer ranges.
Tensor random_tensor(std::mt19937_64& rng, DType dtype, const std::vector<int64_t>& shape, bool special,
                     const Domain& domain = {});

/// A file that says everything: how to run it, the graph in the native text form, bindings, all bits of the inputs.
/// `note` (several lines) is put at its head.
/// Several programs are compiled together.
std::string to_file(std::span<const RandomProgram> programs, std::string_view note);
inline std::string to_file(const RandomProgram& program, std::string_view note) {
  return to_file(std::span<const RandomProgram>(&program, 1), note);
}
/// Reads what `to_file` wrote. Throws a user Error that says what was expected.
std::vector<RandomProgram> from_file(const std::string& text);

}  // namespace strata::fuzz
