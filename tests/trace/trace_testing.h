// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Helpers of the trace tests: a folder of one's own, small graphs, and the words of errors.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/support/error.h"
#include "core/trace/reader.h"
#include "core/trace/writer.h"

namespace strata::trace {

class TraceTest : public testing::Test {
 protected:
  TraceTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "strata-test-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~TraceTest() override {
    std::error_code ignored;
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(folder, ignored);
  }
  std::filesystem::path file(const std::string& name = "t.strata") const { return folder / name; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::filesystem::path folder;
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// The error that `action` throws; a failure if it throws none.
template <class F>
Error error_of(F&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "expected a strata::Error";
  return Error(ErrorKind::Internal, "none");
}

inline NodeRecord make_node(NodeId id, const std::string& target, std::vector<NodeId> inputs = {}) {
  NodeRecord node;
  node.id = id;
  node.name = fmt::format("n{}", id);
  node.op = inputs.empty() ? "placeholder" : "call";
  node.target = target;
  for (const NodeId input : inputs) {
    node.inputs.push_back({input});
    node.args += fmt::format("{}n{}", node.args.empty() ? "" : ", ", input);
  }
  node.type = "f32[8, 64][64, 1]cpu";
  node.dtype = "f32";
  node.shape = "[8, 64]";
  node.device = "cpu";
  return node;
}

inline std::vector<NodeId> ids_of(const std::vector<NodeRecord>& nodes) {
  std::vector<NodeId> ids;
  for (const auto& node : nodes) ids.push_back(node.id);
  return ids;
}

inline Id add_compile(Writer& writer, const std::string& address = "0/0") {
  CompileRecord compile;
  compile.address = address;
  return writer.add(compile);
}

inline SnapshotRecord stage(Id compile, const std::string& name, Id pass = kNone) {
  SnapshotRecord snapshot;
  snapshot.compile = compile;
  snapshot.stage = name;
  snapshot.pass = pass;
  return snapshot;
}

}  // namespace strata::trace
