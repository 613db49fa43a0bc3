// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the tests of import share: PyTorch's files, and damaged copies of them.

#include <zlib.h>

#include <array>
#include <fstream>
#include <stdexcept>
#include <string>

#include "core/support/json.h"
#include "tests/app/command.h"

namespace strata::testing {

inline fs::path torch_data(const std::string& name) { return fs::path(STRATA_TEST_DATA) / "torch" / name; }

/// A file's content, decompressed.
inline std::string plain_text(const fs::path& path) {
  gzFile file = ::gzopen(path.c_str(), "rb");
  if (!file) throw std::runtime_error("cannot open " + path.string());
  std::string text;
  std::array<char, 65536> buffer;
  for (int n; (n = ::gzread(file, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  ::gzclose(file);
  return text;
}

inline std::string log_text(const std::string& name) { return plain_text(torch_data("logs/" + name + ".log.gz")); }
inline std::string profile_text(const std::string& name) {
  return plain_text(torch_data("profiles/" + name + ".json.gz"));
}

inline void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

/// `strata import PATHS -o OUT --json`, its result if it has one.
struct Imported {
  Finished run;
  Json json;
};
inline Imported import_files(std::vector<std::string> paths, const std::string& out) {
  paths.insert(paths.begin(), "import");
  paths.insert(paths.end(), {"-o", out, "--json"});
  Imported result;
  result.run = strata(paths);
  if (result.run.code == 0) result.json = parse_json(result.run.out, "stdout");
  return result;
}

}  // namespace strata::testing
