// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "core/support/error.h"
#include "profiler/chrome_export.h"

namespace strata::profiler {

ChromeExportResult write_chrome_trace(trace::Reader& reader, const std::filesystem::path& path,
                                      const ChromeExportOptions& options) {
  std::filesystem::path part = path;
  part += fmt::format(".part{}", getpid());
  std::error_code ignored;
  try {
    std::ofstream out(part, std::ios::binary);
    if (!out) throw_user(fmt::format("cannot write {}", path.string()), "check that the folder exists and its rights");
    const ChromeExportResult result = write_chrome_trace(reader, out, options);
    out.close();
    if (!out) throw_runtime(fmt::format("writing {} failed", path.string()), "check the space on the disk");
    if (result.complete) {
      std::filesystem::rename(part, path);
    } else {
      std::filesystem::remove(part, ignored);
    }
    return result;
  } catch (const std::filesystem::filesystem_error& error) {
    std::filesystem::remove(part, ignored);
    throw_user(fmt::format("cannot write {}: {}", path.string(), error.code().message()));
  } catch (...) {
    std::filesystem::remove(part, ignored);
    throw;
  }
}

}  // namespace strata::profiler
