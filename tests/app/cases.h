// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The inputs and outputs that come with the sample models.

#include <algorithm>
#include <string>
#include <vector>

#include "core/runtime/npy.h"
#include "core/support/json.h"
#include "tests/app/command.h"

namespace strata::testing {

/// One folder with input_*.npy, output_*.npy and outputs.json.
struct Case {
  std::string model;
  fs::path folder;

  std::vector<std::string> files(const std::string& prefix) const {
    std::vector<std::string> found;
    for (int i = 0; fs::exists(folder / (prefix + std::to_string(i) + ".npy")); ++i)
      found.push_back((folder / (prefix + std::to_string(i) + ".npy")).string());
    return found;
  }
  std::vector<Tensor> tensors(const std::string& prefix) const {
    std::vector<Tensor> all;
    for (const std::string& f : files(prefix)) all.push_back(read_npy(f));
    return all;
  }
  /// PyTorch's own largest error against float64, per output.
  std::vector<double> pytorch_errors() const {
    std::vector<double> errors;
    const Json outputs = parse_json(read_text(folder / "outputs.json"), "outputs.json");
    for (const Json& output : outputs.array())
      errors.push_back(output.at("pytorch_max_error_against_float64").number());
    return errors;
  }
};

/// All cases of a model, each with its own sizes or values.
inline std::vector<Case> cases_of(const std::string& model) {
  std::vector<Case> cases;
  if (fs::exists(model_folder(model) / "outputs.json")) cases.push_back({model, model_folder(model)});
  for (const auto& entry : fs::directory_iterator(model_folder(model)))
    if (fs::exists(entry.path() / "outputs.json")) cases.push_back({model, entry.path()});
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.folder < b.folder; });
  return cases;
}

/// The one with the least input.
inline Case smallest_case(const std::string& model) {
  const auto cases = cases_of(model);
  return *std::min_element(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
    return fs::file_size(a.files("input_")[0]) < fs::file_size(b.files("input_")[0]);
  });
}

inline std::vector<std::string> models() { return {"cnn_fmnist", "bert", "cnn_fmnist_dynamic", "bert_dynamic"}; }

}  // namespace strata::testing
