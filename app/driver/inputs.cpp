// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/inputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include "core/runtime/npy.h"
#include "core/runtime/safetensors.h"
#include "core/support/error.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

bool is_safetensors(const std::string& path) { return path.ends_with(".safetensors"); }

/// Values by position and by name, as they are found in files.
class Loader {
 public:
  Loader(std::string what, std::vector<std::string> names, std::vector<Type> types, std::optional<DType> bits)
      : what_(std::move(what)),
        names_(std::move(names)),
        types_(std::move(types)),
        bits_(bits),
        found_(names_.size()) {}

  void add(const std::string& argument) {
    const auto equals = argument.find('=');
    if (equals != std::string::npos && !fs::exists(argument))
      return add_named(argument.substr(0, equals), argument.substr(equals + 1));
    if (is_safetensors(argument)) return add_all(argument);
    positional_.push_back(argument);
  }

  std::vector<Tensor> finish() {
    size_t next = 0;
    for (const std::string& file : positional_) {
      while (next < found_.size() && found_[next].defined()) ++next;
      // One too many: keep it, so that the check of the whole says how many are wanted.
      if (next >= found_.size())
        extra_.push_back(read_npy(file));
      else
        found_[next] = read(file, next);
    }
    // Missing ones at the end are left out: the count is then what the user gave.
    while (!found_.empty() && !found_.back().defined()) found_.pop_back();
    found_.insert(found_.end(), extra_.begin(), extra_.end());
    return std::move(found_);
  }

 private:
  size_t index_of(const std::string& name) const {
    const auto it = std::find(names_.begin(), names_.end(), name);
    if (it == names_.end()) throw_user(fmt::format("the program has no {} '{}'", what_, name), suggest(name, names_));
    return static_cast<size_t>(it - names_.begin());
  }

  void put(const std::string& name, const std::function<Tensor(size_t)>& value) {
    const size_t i = index_of(name);
    if (found_[i].defined()) throw_user(fmt::format("{} '{}' is given twice", what_, name));
    found_[i] = value(i);
  }

  void add_named(const std::string& name, const std::string& file) {
    put(name, [&](size_t i) { return is_safetensors(file) ? only_tensor(file, name) : read(file, i); });
  }

  void add_all(const std::string& file) {
    for (const auto& [name, tensor] : read_safetensors(file).tensors) put(name, [&t = tensor](size_t) { return t; });
  }

  static Tensor only_tensor(const std::string& file, const std::string& name) {
    const Safetensors all = read_safetensors(file);
    if (const auto it = all.tensors.find(name); it != all.tensors.end()) return it->second;
    if (all.tensors.size() == 1) return all.tensors.begin()->second;
    throw_user(fmt::format("'{}' holds {} tensors, none of them '{}'", file, all.tensors.size(), name));
  }

  Tensor read(const std::string& file, size_t i) const {
    const bool as_bits = bits_ && types_[i].is_tensor() && types_[i].tensor.dtype == *bits_;
    return read_npy(file, as_bits ? bits_ : std::nullopt);
  }

  std::string what_;
  std::vector<std::string> names_;
  std::vector<Type> types_;
  std::optional<DType> bits_;
  std::vector<Tensor> found_, extra_;
  std::vector<std::string> positional_;
};

std::vector<Type> output_types(const Program& program) {
  std::vector<Type> types;
  const auto outputs = program.graph.flat_outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!program.graph.is_user_output(i) || !is_array_output(outputs[i])) continue;
    const Node* node = outputs[i].node();
    types.push_back(node ? node->type : Type{});
  }
  return types;
}

/// splitmix64: the same sequence with every standard library, unlike std::normal_distribution.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// In (0, 1).
  double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1.0p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }
  int64_t between(int64_t low, int64_t high) {
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    return static_cast<int64_t>(static_cast<uint64_t>(low) + (span == 0 ? bits() : bits() % span));
  }

 private:
  uint64_t state_;
};

int64_t expected_size(const SymInt& size) {
  if (const auto value = hint(size)) return *value;
  throw_user(fmt::format("the size {} of an input has no hint", size.str()), "give the inputs with --input");
}

std::pair<int64_t, int64_t> integer_range(const Tensor* sample) {
  if (!sample || sample->numel() == 0) return {0, 1};
  std::pair<int64_t, int64_t> range{INT64_MAX, INT64_MIN};
  for (int64_t i = 0; i < sample->numel(); ++i) {
    range.first = std::min(range.first, sample->int_at(i));
    range.second = std::max(range.second, sample->int_at(i));
  }
  return range;
}

Tensor random_tensor(const Type& type, const Tensor* sample, Random& random) {
  if (!type.is_tensor()) {
    if (sample) return *sample;
    Tensor t = Tensor::empty(DType::I64, {});
    t.set_int(0, type.kind == Type::Kind::SymInt ? expected_size(type.sym) : 0);
    return t;
  }
  std::vector<int64_t> shape;
  for (size_t d = 0; d < type.tensor.shape.size(); ++d)
    shape.push_back(sample && d < sample->rank() ? sample->shape[d] : expected_size(type.tensor.shape[d]));
  Tensor t = Tensor::empty(type.tensor.dtype, shape);
  const bool integers = is_integral_or_bool(t.dtype);
  const auto range = t.dtype == DType::Bool ? std::pair<int64_t, int64_t>{0, 1}
                     : integers             ? integer_range(sample)
                                            : std::pair<int64_t, int64_t>{};
  for (int64_t i = 0, n = t.numel(); i < n; ++i) {
    if (integers)
      t.set_int(i, random.between(range.first, range.second));
    else
      t.set(i, random.normal());
  }
  return t;
}

bool has_npy_name(DType dtype) {
  return is_integral_or_bool(dtype) || dtype == DType::F16 || dtype == DType::F32 || dtype == DType::F64 ||
         dtype == DType::C64 || dtype == DType::C128 || dtype == DType::BF16;
}

}  // namespace

std::vector<Tensor> load_inputs(const Program& program, std::span<const std::string> arguments,
                                std::optional<DType> bits) {
  std::vector<Type> types;
  for (const Node* node : user_placeholders(program.graph)) types.push_back(node->type);
  Loader loader("input", program.user_input_names, types, bits);
  for (const std::string& a : arguments) loader.add(a);
  return loader.finish();
}

std::vector<Tensor> load_expected(const Program& program, std::span<const std::string> arguments,
                                  std::optional<DType> bits) {
  Loader loader("output", program.user_output_names, output_types(program), bits);
  for (const std::string& a : arguments) loader.add(a);
  std::vector<Tensor> values = loader.finish();
  const size_t wanted = program.user_output_names.size();
  if (values.size() != wanted)
    throw_user(
        fmt::format("the program has {} output{} ({}), {} to compare with {} given", wanted, wanted == 1 ? "" : "s",
                    fmt::join(program.user_output_names, ", "), values.size(), values.size() == 1 ? "was" : "were"),
        "give --expect once per output, in order");
  for (size_t i = 0; i < values.size(); ++i)
    if (!values[i].defined())
      throw_user(fmt::format("nothing to compare output '{}' with", program.user_output_names[i]),
                 "add --expect NAME=FILE");
  return values;
}

std::vector<Tensor> sample_inputs(const Program& program) {
  if (program.sample_inputs.empty() && !program.user_input_names.empty())
    throw_user(fmt::format("'{}' has no sample inputs{}", program.path,
                           program.sample_inputs_note.empty() ? "" : ": " + program.sample_inputs_note),
               "give inputs with --input, or --seed for random ones");
  return program.sample_inputs;
}

std::vector<Tensor> random_inputs(const Program& program, uint64_t seed) {
  Random random(seed);
  std::vector<Tensor> inputs;
  const auto placeholders = user_placeholders(program.graph);
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const Tensor* sample = i < program.sample_inputs.size() ? &program.sample_inputs[i] : nullptr;
    inputs.push_back(random_tensor(placeholders[i]->type, sample, random));
  }
  return inputs;
}

std::vector<fs::path> save_outputs(const fs::path& folder, std::span<const Tensor> outputs) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed || !fs::is_directory(folder))
    throw_user(fmt::format("cannot make the folder '{}': {}", folder.string(),
                           failed ? failed.message() : "a file of that name is in the way"));
  const auto remove_all = [](const std::vector<fs::path>& files) {
    std::error_code ignored;
    for (const fs::path& f : files) fs::remove(f, ignored);
  };
  std::vector<fs::path> written, temporary;
  try {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const bool npy = has_npy_name(outputs[i].dtype);
      written.push_back(folder / fmt::format("output_{}.{}", i, npy ? "npy" : "safetensors"));
      temporary.push_back(fmt::format("{}.{}.part", written.back().string(), ::getpid()));
      if (npy)
        write_npy(temporary.back(), outputs[i]);
      else
        write_safetensors(temporary.back(), Safetensors{{{fmt::format("output_{}", i), outputs[i]}}, {}});
    }
  } catch (...) {
    remove_all(temporary);
    throw;
  }
  for (size_t i = 0; i < written.size(); ++i) {
    fs::rename(temporary[i], written[i], failed);
    if (!failed) continue;
    remove_all(temporary);
    written.resize(i);
    remove_all(written);
    throw_user(fmt::format("cannot write '{}': {}", (folder / temporary[i].stem()).string(), failed.message()));
  }
  return written;
}

}  // namespace strata
