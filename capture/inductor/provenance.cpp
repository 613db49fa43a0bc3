// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/inductor/provenance.h"

#include <simdjson.h>

namespace strata::capture {
namespace {

using simdjson::dom::element;

class Reader {
 public:
  explicit Reader(int* bad) : bad_(bad) {}

  /// The parsed object, or nothing. Valid until the next call.
  bool object(std::string_view text, simdjson::dom::object& out) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return false;
    const simdjson::padded_string padded(text);
    element root;
    if (parser_.parse(padded).get(root) != simdjson::SUCCESS || root.get(out) != simdjson::SUCCESS) {
      if (bad_ != nullptr) ++*bad_;
      return false;
    }
    return true;
  }

 private:
  simdjson::dom::parser parser_;
  int* bad_;
};

ProvenanceMaps::Names names_of(const simdjson::dom::object& object) {
  ProvenanceMaps::Names out;
  for (const auto& [key, list] : object) {
    std::vector<std::string>& names = out[std::string(key)];
    names.clear();
    simdjson::dom::array array;
    if (list.get(array) != simdjson::SUCCESS) continue;
    for (const element item : array) {
      std::string_view name;
      if (item.get(name) == simdjson::SUCCESS) names.emplace_back(name);
    }
  }
  return out;
}

void read_mappings(const simdjson::dom::object& object, ProvenanceMaps& maps) {
  for (const auto& [key, value] : object) {
    simdjson::dom::object map;
    if (value.get(map) != simdjson::SUCCESS) continue;
    if (key == "cppCodeToPost") maps.kernel_to_post = names_of(map);
    if (key == "preToPost") maps.pre_to_post = names_of(map);
    if (key == "postToPre") maps.post_to_pre = names_of(map);
  }
}

std::string text_of(element value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  return simdjson::to_string(value);
}

std::int64_t number_of(element value) {
  std::int64_t number = -1;
  return value.get(number) == simdjson::SUCCESS ? number : -1;
}

TritonKernelInfo triton_info(const simdjson::dom::object& object) {
  TritonKernelInfo info;
  for (const auto& [key, value] : object) {
    if (key == "autotune_cache_state") info.cache = text_of(value);
    if (key == "num_configs") info.configs = number_of(value);
    if (key == "compile_time_us") info.compile_us = number_of(value);
    simdjson::dom::array pairs;
    if ((key != "best_config" && key != "only_config") || value.get(pairs) != simdjson::SUCCESS) continue;
    for (const element pair : pairs) {
      simdjson::dom::array both;
      if (pair.get(both) != simdjson::SUCCESS || both.size() != 2) continue;
      info.config.emplace_back(text_of(both.at(0)), text_of(both.at(1)));
    }
  }
  return info;
}

}  // namespace

ProvenanceMaps parse_provenance(std::string_view node_mappings, std::string_view kernel_stack_traces,
                                std::string_view triton_kernel_info, std::string_view post_nodes, int* bad) {
  ProvenanceMaps maps;
  Reader reader(bad);
  simdjson::dom::object object;
  if (reader.object(node_mappings, object)) read_mappings(object, maps);
  if (maps.kernel_to_post.empty() && reader.object(post_nodes, object)) maps.kernel_to_post = names_of(object);
  if (reader.object(kernel_stack_traces, object)) maps.kernel_stacks = names_of(object);
  if (reader.object(triton_kernel_info, object)) {
    for (const auto& [key, value] : object) {
      simdjson::dom::object info;
      if (value.get(info) == simdjson::SUCCESS) maps.triton[std::string(key)] = triton_info(info);
    }
  }
  return maps;
}

}  // namespace strata::capture
