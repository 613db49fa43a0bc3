// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/pt2_meta.h"

#include <algorithm>

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "core/support/error.h"

namespace strata::capture {
namespace {

std::string_view strip(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// A head line; the file name may hold anything, so the line is read from its end.
std::optional<SourceLocation> parse_head(std::string_view line) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ", kIn = ", in ";
  if (!line.starts_with(kFile)) return std::nullopt;
  const size_t mark = line.rfind(kLine);
  if (mark == std::string_view::npos || mark < kFile.size()) return std::nullopt;
  SourceLocation location;
  location.file = line.substr(kFile.size(), mark - kFile.size());
  const std::string_view rest = line.substr(mark + kLine.size());
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), location.line);
  if (error != std::errc()) return std::nullopt;
  const std::string_view tail = rest.substr(static_cast<size_t>(end - rest.data()));
  if (tail.starts_with(kIn)) location.function = tail.substr(kIn.size());
  return location;
}

bool is_marker(std::string_view line) { return line.find_first_not_of("^~ ") == std::string_view::npos; }

/// `L['self'].layers.0` and `getattr(L['self'].layers, '0')` become `layers.0`; `layer@1` (second call) becomes
/// `layer`.
std::string clean_path(std::string_view path) {
  constexpr std::string_view kGetattr = "getattr(", kSelf = "L['self']";
  path = strip(path);
  if (path.starts_with(kGetattr) && path.ends_with(')')) {
    const size_t comma = path.rfind(',');
    if (comma != std::string_view::npos && comma > kGetattr.size()) {
      std::string_view name = strip(path.substr(comma + 1, path.size() - comma - 2));
      if (name.size() >= 2) name = name.substr(1, name.size() - 2);
      const std::string outer = clean_path(path.substr(kGetattr.size(), comma - kGetattr.size()));
      return outer.empty() ? std::string(name) : fmt::format("{}.{}", outer, name);
    }
  }
  if (path.starts_with(kSelf)) {
    path.remove_prefix(kSelf.size());
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  const size_t call = path.rfind('@');
  return std::string(call == std::string_view::npos ? path : path.substr(0, call));
}

/// Positions of `separator` outside of brackets and quotes.
std::vector<size_t> split_points(std::string_view text, char separator) {
  std::vector<size_t> points;
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if (c == ')' || c == ']') {
      --depth;
    } else if (c == separator && depth <= 0) {
      points.push_back(i);
    }
  }
  return points;
}

std::string key_text(const Json& json) { return json.as<std::string>() ? *json.as<std::string>() : describe(json); }

std::vector<std::string> texts(const JsonArray& array) {
  std::vector<std::string> result;
  for (const Json& item : array) result.push_back(key_text(item));
  return result;
}

/// Keys of a container from its context: the list of them, or (defaultdict) a factory and the list.
std::vector<std::string> context_keys(const Json& context, size_t children, const Json* namedtuples) {
  if (const auto* array = context.as<JsonArray>()) {
    if (array->size() == children) return texts(*array);
    if (array->size() == 2 && (*array)[1].as<JsonArray>() && (*array)[1].as<JsonArray>()->size() == children)
      return texts(*(*array)[1].as<JsonArray>());
  }
  const auto* name = context.as<std::string>();
  const Json* fields = name && namedtuples ? namedtuples->find(*name) : nullptr;
  const Json* names = fields ? fields->find("field_names") : nullptr;
  if (names && names->as<JsonArray>() && names->as<JsonArray>()->size() == children)
    return texts(*names->as<JsonArray>());
  return {};
}

TreeSpec tree_of(const Json& json, const Json* namedtuples, const std::string& name) {
  TreeSpec spec;
  if (const Json* type = json.find("type")) spec.type = type->string();
  for (const Json& child : json.at("children_spec").array()) spec.children.push_back(tree_of(child, namedtuples, name));
  const Json* context = json.find("context");
  if (!context || spec.is_leaf()) return spec;
  spec.context = context->as<std::string>() ? *context->as<std::string>() : std::string();
  if (spec.context.empty()) return spec;
  Json inner;
  try {
    inner = parse_json(spec.context, name);
  } catch (const Error&) {
    return spec;  // a registered type may write its context in any form
  }
  spec.keys = context_keys(inner, spec.children.size(), namedtuples);
  return spec;
}

}  // namespace

std::vector<SourceLocation> parse_stack_trace(std::string_view text) {
  std::vector<SourceLocation> stack;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = strip(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (auto head = parse_head(line))
      stack.push_back(*std::move(head));
    else if (!stack.empty() && stack.back().code.empty() && !is_marker(line))
      stack.back().code = line;
  }
  // Code that torch.fx has written is behind none of the lines that people know.
  const auto written = [](const SourceLocation& at) { return at.file.starts_with("<eval_with_key>"); };
  if (!std::all_of(stack.begin(), stack.end(), written)) std::erase_if(stack, written);
  return stack;
}

ModuleEntry parse_module_stack(std::string_view text) {
  if (text.find("_empty_nn_module_stack_from_metadata_hook") != std::string_view::npos) return {};
  if (const auto entries = split_points(text, ';'); !entries.empty()) text.remove_prefix(entries.back() + 1);
  const size_t last = text.rfind(',');
  if (last == std::string_view::npos) return {};
  ModuleEntry entry;
  entry.type = strip(text.substr(last + 1));
  const std::string_view head = text.substr(0, last);
  const auto commas = split_points(head, ',');
  if (!commas.empty()) entry.path = clean_path(head.substr(commas.front() + 1));
  return entry;
}

void MetadataReader::read(const Json& metadata, NodeMeta& meta) {
  for (const auto& [key, value] : metadata.object()) {
    if (value.is_null()) continue;
    const std::string text = key_text(value);
    if (key == "stack_trace") {
      auto& stack = stacks_[text];
      if (!stack) stack = std::make_shared<const std::vector<SourceLocation>>(parse_stack_trace(text));
      if (!stack->empty()) meta.source = stack;
      if (stack->empty() && !text.empty()) meta.extra[key] = text;
    } else if (key == "nn_module_stack") {
      auto [path, type] = parse_module_stack(text);
      meta.module_path = std::move(path);
      meta.module_type = std::move(type);
    } else {
      meta.extra[key] = text;
    }
  }
}

std::map<std::string, std::map<int, std::string>> MetadataReader::lines() const {
  std::map<std::string, std::map<int, std::string>> result;
  for (const auto& [text, stack] : stacks_)
    for (const SourceLocation& location : *stack)
      if (!location.code.empty()) result[location.file][location.line] = location.code;
  return result;
}

TreeSpec parse_tree_spec(const std::string& text, const Json* namedtuples, const std::string& name) {
  const Json json = parse_json(text, name);
  const auto wrong = [&](const std::string& what) {
    throw_user(fmt::format("'{}': {}", name, what), "the file is damaged or of an unknown version");
  };
  try {
    const JsonArray& parts = json.array();
    if (parts.size() != 2) wrong("expected [version, tree]");
    return tree_of(parts[1], namedtuples, name);
  } catch (const JsonTypeError& error) {
    wrong(error.message);
    throw;
  }
}

void append_leaf_names(const TreeSpec& spec, const std::string& prefix, std::vector<std::string>& names) {
  if (spec.is_leaf()) {
    names.push_back(prefix);
    return;
  }
  for (size_t i = 0; i < spec.children.size(); ++i) {
    const std::string key = i < spec.keys.size() ? spec.keys[i] : fmt::format("{}", i);
    append_leaf_names(spec.children[i], fmt::format("{}.{}", prefix, key), names);
  }
}

std::vector<std::string> input_names(const TreeSpec& in_spec, const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  if (in_spec.children.size() != 2) return names;
  const TreeSpec &positional = in_spec.children[0], &keywords = in_spec.children[1];
  for (size_t i = 0; i < positional.children.size(); ++i)
    append_leaf_names(positional.children[i], i < arguments.size() ? arguments[i] : fmt::format("args.{}", i), names);
  append_leaf_names(keywords, "kwargs", names);
  return names;
}

}  // namespace strata::capture
