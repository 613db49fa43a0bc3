// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// accuracy [--random N] FOLDER...: every model under the folders, every backend, every recorded case and N fresh random
// ones, as a table.
//
// A folder with one .pt2 and input_*.npy / output_*.npy, in it or in folders below, is a model with recorded cases.
// Truth is the float64 interpreter. A result passes when its largest error is at most twice PyTorch's own on the same
// inputs (recorded cases) plus 1e-6 of the output's scale. For random inputs PyTorch's error is taken as the largest of
// the recorded cases. One program is compiled once per backend and serves all its cases and sizes. Exit code 1 if
// anything fails.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include "app/driver/compile.h"
#include "app/driver/inputs.h"
#include "capture/pt2.h"
#include "core/ir/interpreter.h"
#include "core/runtime/npy.h"
#include "core/support/error.h"

namespace fs = std::filesystem;
using namespace strata;

namespace {

struct Case {
  std::string name;
  std::vector<Tensor> inputs, recorded;  ///< recorded: empty for random cases
};

std::vector<Tensor> read_numbered(const fs::path& folder, const std::string& prefix) {
  std::vector<Tensor> tensors;
  for (int i = 0; fs::exists(folder / (prefix + std::to_string(i) + ".npy")); ++i)
    tensors.push_back(read_npy(folder / (prefix + std::to_string(i) + ".npy")));
  return tensors;
}

std::vector<Case> recorded_cases(const fs::path& folder) {
  std::vector<Case> cases;
  std::vector<fs::path> folders{folder};
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin() + 1, folders.end());
  for (const fs::path& f : folders)
    if (auto inputs = read_numbered(f, "input_"); !inputs.empty())
      cases.push_back({f.filename(), inputs, read_numbered(f, "output_")});
  return cases;
}

/// Values of the user outputs in float64.
std::vector<std::vector<double>> truth(const Program& program, const Case& c) {
  InterpreterOptions options;
  options.float64 = true;
  Interpreter interpreter(program.graph, options);
  std::vector<Tensor> values;
  size_t user = 0;
  for (const InputSpec& spec : program.graph.input_specs) {
    if (spec.kind == InputSpec::Kind::User)
      values.push_back(c.inputs.at(user++));
    else
      values.push_back(program.state.at(spec.target).clone());
  }
  const auto results = interpreter.run(values);
  std::vector<std::vector<double>> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    if (program.graph.is_user_output(i) && std::holds_alternative<Tensor>(results[i].value))
      outputs.push_back(results[i].tensor().values());
  }
  return outputs;
}

/// Infinite where one side alone is NaN or the sizes differ.
double error(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    const double e = a[i] == b[i] ? 0 : std::fabs(a[i] - b[i]);
    worst = std::isnan(e) ? INFINITY : std::max(worst, e);
  }
  return worst;
}

double scale_of(const std::vector<double>& values) {
  double scale = 0;
  for (double v : values)
    if (std::isfinite(v)) scale = std::max(scale, std::fabs(v));
  return scale;
}

class Check {
 public:
  explicit Check(fs::path model) : model_(std::move(model)), program_(load_pt2(model_)) {}

  bool run(int random) {
    std::vector<Case> cases = recorded_cases(model_.parent_path());
    for (int seed = 0; seed < random; ++seed)
      cases.push_back({"random " + std::to_string(seed), random_inputs(program_, static_cast<uint64_t>(seed) + 1), {}});
    std::map<std::string, std::unique_ptr<Compiled>> compiled;
    for (const BackendInfo& b : backends()) {
      CompileRequest request;
      request.backend = b.name;
      compiled[b.name] = compile_program(program_, request);
    }
    bool ok = true;
    for (const Case& c : cases) {
      const auto exact = truth(program_, c);
      for (auto& [name, backend] : compiled) ok &= judge(c, name, backend->run(c.inputs), exact);
    }
    return ok;
  }

 private:
  bool judge(const Case& c, const std::string& backend, const std::vector<Tensor>& outputs,
             const std::vector<std::vector<double>>& exact) {
    bool ok = outputs.size() == exact.size();
    for (size_t i = 0; i < outputs.size() && ok; ++i) {
      const double ours = error(outputs[i].values(), exact[i]), scale = scale_of(exact[i]);
      double& worst = pytorch_[i];
      const double theirs = i < c.recorded.size() ? error(c.recorded[i].values(), exact[i]) : worst;
      worst = std::max(worst, theirs);
      const bool pass = ours <= 2 * theirs + 1e-6 * scale;
      std::printf("%-22s %-16s %-10s %zu %10.3g %10.3g %8.2f  %s\n", model_.stem().c_str(), c.name.c_str(),
                  backend.c_str(), i, ours, theirs, theirs > 0 ? ours / theirs : 0, pass ? "ok" : "FAIL");
      ok &= pass;
    }
    return ok;
  }

  fs::path model_;
  Program program_;
  std::map<size_t, double> pytorch_;  ///< per output
};

std::vector<fs::path> models_under(const fs::path& folder) {
  std::vector<fs::path> models;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".pt2" && !recorded_cases(entry.path().parent_path()).empty())
      models.push_back(entry.path());
  std::sort(models.begin(), models.end());
  return models;
}

}  // namespace

int main(int argc, char** argv) {
  int random = 0;
  bool ok = true;
  size_t count = 0;
  std::printf("%-22s %-16s %-10s %s %10s %10s %8s\n", "model", "case", "backend", "#", "error", "PyTorch's", "ratio");
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--random" && i + 1 < argc) {
      random = std::atoi(argv[++i]);
      continue;
    }
    for (const fs::path& model : models_under(argv[i])) {
      ++count;
      try {
        ok &= Check(model).run(random);
      } catch (const std::exception& e) {
        std::printf("%-22s FAIL %s\n", model.stem().c_str(), e.what());
        ok = false;
      }
    }
  }
  if (count == 0) std::printf("no models with recorded cases found\n");
  return ok && count > 0 ? 0 : 1;
}
