// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/user_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/draw/module_paths.h"
#include "app/query/trace_query.h"
#include "core/support/error.h"

namespace strata::draw {
namespace {

constexpr std::string_view kModule = "module:", kOperator = "op:";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

/// Kernels of a picture as a query knows them, with nodes by id.
std::vector<trace::KernelRecord> kernel_records(const Picture& flat) {
  std::vector<trace::KernelRecord> kernels;
  for (const auto& kernel : flat.kernels) {
    trace::KernelRecord record;
    record.id = kernel.id;
    record.name = kernel.name;
    record.nodes = kernel.nodes;
    kernels.push_back(std::move(record));
  }
  return kernels;
}

void query_members(const std::string& text, const Picture& flat, const std::vector<trace::NodeRecord>& nodes,
                   std::vector<char>& inside) {
  std::map<trace::Id, double> times;
  for (const auto& kernel : flat.kernels)
    if (kernel.time_ns >= 0) times[kernel.id] = kernel.time_ns;
  try {
    for (trace::NodeId id : query_records(parse_query(text), nodes, kernel_records(flat), times))
      if (const int i = flat.find(id); i >= 0) inside[static_cast<size_t>(i)] = 1;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::User) throw;
  }
}

}  // namespace

UserGroup::Rule parse_rule(std::string_view words, std::string& text) {
  words = trimmed(words);
  UserGroup::Rule rule = words.empty() ? UserGroup::Rule::None : UserGroup::Rule::Query;
  if (starts(words, kModule)) {
    rule = UserGroup::Rule::Module;
    words = trimmed(words.substr(kModule.size()));
  } else if (starts(words, kOperator)) {
    rule = UserGroup::Rule::Operator;
    words = trimmed(words.substr(kOperator.size()));
  } else if (!words.empty()) {
    query_records(parse_query(words), {trace::NodeRecord()}, {}, {});
  }
  if (rule != UserGroup::Rule::None && words.empty())
    throw_user("a rule for a group has no text", "write module:encoder.layer.0, op:add, or conditions: dtype=f16");
  text = std::string(words);
  return rule;
}

std::string rule_words(const UserGroup& group) {
  switch (group.rule) {
    case UserGroup::Rule::Module:
      return std::string(kModule) + group.text;
    case UserGroup::Rule::Operator:
      return std::string(kOperator) + group.text;
    case UserGroup::Rule::Query:
      return group.text;
    case UserGroup::Rule::None:
      break;
  }
  return {};
}

UserGroup parse_user_group(std::string_view text) {
  const size_t equals = text.find('=');
  UserGroup group;
  group.name = std::string(trimmed(text.substr(0, equals)));
  if (equals == std::string_view::npos || group.name.empty())
    throw_user(fmt::format("'{}' is no group", text), "write NAME=RULE: 'attention=module:encoder.layer.0.attention'");
  group.rule = parse_rule(text.substr(equals + 1), group.text);
  if (group.rule == UserGroup::Rule::None) throw_user(fmt::format("the group '{}' has no rule", group.name));
  return group;
}

std::vector<char> members(const UserGroup& group, const Picture& flat, const std::vector<trace::NodeRecord>& nodes,
                          const std::vector<std::vector<std::string>>& paths) {
  std::vector<char> inside(flat.nodes.size(), 0);
  for (trace::NodeId id : group.nodes)
    if (const int i = flat.find(id); i >= 0) inside[static_cast<size_t>(i)] = 1;
  if (group.rule == UserGroup::Rule::Query) {
    query_members(group.text, flat, nodes, inside);
  } else if (group.rule == UserGroup::Rule::Module) {
    const auto prefix = module_parts(group.text);
    for (size_t i = 0; i < paths.size(); ++i)
      if (!prefix.empty() && paths[i].size() >= prefix.size() &&
          std::equal(prefix.begin(), prefix.end(), paths[i].begin()))
        inside[i] = 1;
  } else if (group.rule == UserGroup::Rule::Operator) {
    for (const auto& record : nodes)
      if (const int i = flat.find(record.id);
          i >= 0 && !record.target.empty() && (record.target == group.text || short_name(record.target) == group.text))
        inside[static_cast<size_t>(i)] = 1;
  }
  return inside;
}

}  // namespace strata::draw
