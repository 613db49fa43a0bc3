// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/pt2_samples.h"

#include <fmt/format.h>

#include "capture/torch_save.h"
#include "core/support/error.h"

namespace strata::capture {
namespace {

using Kind = PickleValue::Kind;
using Members = std::vector<std::pair<PickleValue*, PickleValue*>>;

std::string key_text(const PickleValue& key) {
  if (key.is(Kind::Int)) return fmt::format("{}", key.integer);
  if (key.is(Kind::Bool)) return key.boolean ? "true" : "false";
  return key.text;
}

const PickleValue* find_key(const Members& members, const std::string& key) {
  for (auto it = members.rbegin(); it != members.rend(); ++it)
    if (key_text(*it->first) == key) return it->second;
  return nullptr;
}

/// Child `i` of a container: by key in dicts and objects, by position in sequences and named tuples.
const PickleValue* child(const PickleValue& value, const TreeSpec& spec, size_t i) {
  if (value.is(Kind::List) || value.is(Kind::Tuple))
    return value.items.size() == spec.children.size() ? value.items[i] : nullptr;
  const std::string key = i < spec.keys.size() ? spec.keys[i] : std::string();
  if (!value.members.empty()) return find_key(value.members, key);
  if (!value.is(Kind::Object)) return nullptr;
  if (value.state && value.state->is(Kind::Dict)) return find_key(value.state->members, key);
  if (value.extra.size() == spec.children.size()) return value.extra[i];
  const auto& arguments = value.items[1]->items;
  return arguments.size() == spec.children.size() ? arguments[i] : nullptr;
}

/// The spec bounds depth and count, so sharing and cycles in the pickle do no harm.
void collect(const PickleValue& value, const TreeSpec& spec, std::vector<const PickleValue*>& leaves) {
  if (spec.is_leaf()) {
    leaves.push_back(&value);
    return;
  }
  for (size_t i = 0; i < spec.children.size(); ++i) {
    const PickleValue* next = child(value, spec, i);
    if (!next) throw_user(fmt::format("a value of type '{}' has an unknown form", spec.type));
    collect(*next, spec.children[i], leaves);
  }
}

Tensor leaf_tensor(TorchSaveFile& file, const PickleValue& leaf) {
  if (leaf.is(Kind::Int)) {
    const Tensor scalar = Tensor::empty(DType::I64, {});
    scalar.set_int(0, leaf.integer);
    return scalar;
  }
  if (leaf.is(Kind::Float)) return Tensor::scalar(DType::F64, leaf.number);
  if (leaf.is(Kind::Bool)) return Tensor::scalar(DType::Bool, leaf.boolean);
  if (auto tensor = file.tensor(leaf)) return *std::move(tensor);
  throw_user("an example is of a kind that is not read here");
}

std::vector<Tensor> read(const Program& program, const Bytes& bytes, const std::string& name) {
  TorchSaveFile file(bytes, name);
  std::vector<const PickleValue*> leaves;
  collect(file.root(), program.in_spec, leaves);
  std::vector<Tensor> samples;
  size_t next = 0;
  for (const InputSpec& spec : program.graph.input_specs) {
    const bool constant = spec.kind == InputSpec::Kind::ConstantInput;
    const bool object = spec.kind == InputSpec::Kind::CustomObject && spec.target.empty();
    if (spec.kind != InputSpec::Kind::User && !constant && !object) continue;
    if (next == leaves.size()) throw_user("there are fewer examples than inputs");
    const PickleValue& leaf = *leaves[next++];
    if (spec.kind == InputSpec::Kind::User) samples.push_back(leaf_tensor(file, leaf));
  }
  if (next != leaves.size()) throw_user("there are more examples than inputs");
  return samples;
}

}  // namespace

void read_sample_inputs(Program& program, const Bytes& bytes, const std::string& name) {
  if (bytes.size() == 0) {
    program.sample_inputs_note = "the archive holds no example inputs";
    return;
  }
  try {
    program.sample_inputs = read(program, bytes, name);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::User) throw;
    program.sample_inputs_note = error.message();
  }
}

}  // namespace strata::capture
