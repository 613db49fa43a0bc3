// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Inputs of a program for a run: from files, from the archive, or random. And tensors by name as files.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/ir/program.h"

namespace strata {

/// Reads the user inputs in the order of `Program::user_input_names`. Each argument is `F.npy` (the next input that is
/// not named), `NAME=F.npy`, `F.safetensors` (every tensor in it by input name) or `NAME=F.safetensors` (its only
/// tensor, or the one of that name). `bits` is the type that an input of this type is stored as bits of (see read_npy):
/// without it bfloat16 cannot be read from `.npy`. Throws a user Error for files that cannot be read, unknown and
/// repeated names. The result is not yet checked against the program: check_inputs does that, and tells of missing
/// ones.
std::vector<Tensor> load_inputs(const Program& program, std::span<const std::string> arguments,
                                std::optional<DType> bits = {});

/// The same for values to compare the outputs with, by `Program::user_output_names`. Throws a user Error unless there
/// is one per output.
std::vector<Tensor> load_expected(const Program& program, std::span<const std::string> arguments,
                                  std::optional<DType> bits = {});

/// The archive's sample inputs; a user Error says why there are none.
std::vector<Tensor> sample_inputs(const Program& program);

/// Fresh inputs from a seed, the same on every machine: floats from a normal distribution, flags by a coin, integers
/// between the least and the greatest of the sample input (0 and 1 without samples). Sizes are those of the samples,
/// else the hints of the exporter.
std::vector<Tensor> random_inputs(const Program& program, uint64_t seed);

/// Writes `output_0.npy`, `output_1.npy`, ... (bfloat16 as uint16 bits; `.safetensors` for types that `.npy` cannot
/// hold) into a folder, which is created. All are written under temporary names first and then renamed: a failure
/// leaves none of them. Returns the files.
std::vector<std::filesystem::path> save_outputs(const std::filesystem::path& folder, std::span<const Tensor> outputs);

}  // namespace strata
