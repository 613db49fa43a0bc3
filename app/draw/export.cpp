// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/export.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "app/draw/graphviz.h"
#include "core/support/error.h"

namespace strata::draw {
namespace {

const std::array<std::string, 4> kFormats = {"svg", "dot", "png", "pdf"};

/// Cairo refuses images of more than 32767 pixels a side, and large ones take gigabytes: scale down instead.
double pixels_per_inch(const Layout& layout) {
  double side = std::max({layout.width, layout.height, 1.0});
  double area = std::max(layout.width * layout.height, 1.0);
  return std::min({120.0, 72 * 16000 / side, 72 * std::sqrt(1.2e8 / area)});
}

}  // namespace

Format parse_format(std::string_view name) {
  for (size_t i = 0; i < kFormats.size(); ++i)
    if (kFormats[i] == name) return static_cast<Format>(i);
  throw_user(fmt::format("unknown picture format '{}'", name), suggest(name, kFormats));
}

std::string render(const Picture& picture, const Layout& layout, Format format, const DrawOptions& options) {
  if (format == Format::Svg) return to_svg(picture, layout, options);
  if (format == Format::Dot) return to_dot(picture, options);
  std::string dot = to_dot(picture, options, &layout);
  if (format == Format::Png)
    dot.insert(dot.find('{') + 1, fmt::format("\n  graph [dpi={:.1f}];", pixels_per_inch(layout)));
  return render_with_graphviz(dot, "nop2", format == Format::Png ? "png:cairo" : "pdf:cairo");
}

std::string render(const Picture& picture, Format format, const DrawOptions& options) {
  return format == Format::Dot ? to_dot(picture, options) : render(picture, lay_out(picture), format, options);
}

std::string render(trace::Reader& reader, trace::Id snapshot, Format format, const DrawOptions& options) {
  return render(make_picture(reader, snapshot, options), format, options);
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::path temporary = path;
  temporary += fmt::format(".{}.part", ::getpid());
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  if (!file)
    throw_user(fmt::format("cannot write '{}'", path.string()), "check that the folder exists and is writable");
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  std::error_code failed;
  bool written = static_cast<bool>(file);
  if (written) std::filesystem::rename(temporary, path, failed);
  if (written && !failed) return;
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  if (!written) throw_runtime(fmt::format("writing '{}' failed", path.string()), "check that the disk is not full");
  throw_user(fmt::format("cannot write '{}': {}", path.string(), failed.message()));
}

}  // namespace strata::draw
