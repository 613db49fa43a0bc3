// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/foreign.h"

#include <map>
#include <memory>
#include <mutex>

#include "core/support/error.h"

namespace strata {
namespace {

struct Foreign {
  std::unique_ptr<const OpDef> row;
  ForeignFunction function;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Foreign, std::less<>> rows;
};

Registry& registry() {
  static auto* instance = new Registry;  // functions may refer to an interpreter that ends before statics do
  return *instance;
}

Type type_of_node(const Call& call) { return call.node().type; }

RefValue call_foreign(const RefContext& context) {
  ForeignFunction function;
  {
    const std::lock_guard lock(registry().mutex);
    function = registry().rows.at(context.call.op().name).function;
  }
  return function(context);
}

}  // namespace

const OpDef* add_foreign_op(std::string_view schema, bool random, ForeignFunction function, bool effect) {
  const Schema parsed = parse_schema(schema);
  bool written = parsed.returns_alias;
  for (const Param& p : parsed.params) written |= p.written || p.aliased;
  if (written)
    throw_user("'" + parsed.name + "' writes or aliases its operands",
               "only operators with fresh results can be called");
  const std::lock_guard lock(registry().mutex);
  Foreign& entry = registry().rows[parsed.name];
  if (!entry.row) {
    const uint32_t traits = (random ? trait::Random : 0) | (effect ? trait::SideEffect : 0);
    entry.row = std::make_unique<const OpDef>(schema, OpClass::Indexing, traits, Promotion::None, &type_of_node,
                                              &call_foreign, nullptr, NoGradient::Nondifferentiable, NoLowering{}, "",
                                              "computed outside of the compiler");
    entry.function = std::move(function);
  }
  return entry.row.get();
}

const OpDef* find_foreign_op(std::string_view name) {
  const std::lock_guard lock(registry().mutex);
  const auto at = registry().rows.find(name);
  return at == registry().rows.end() ? nullptr : at->second.row.get();
}

bool is_foreign(const OpDef& op) { return find_foreign_op(op.name) == &op; }

}  // namespace strata
