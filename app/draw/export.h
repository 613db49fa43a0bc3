// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pictures as text and files.

#include <filesystem>
#include <string>
#include <string_view>

#include "app/draw/layout.h"
#include "app/draw/picture.h"

namespace strata::draw {

enum class Format : int { Svg = 0, Dot, Png, Pdf };

/// `svg`, `dot`, `png`, `pdf`; anything else is a User error that names the nearest.
Format parse_format(std::string_view name);

/// A self-contained SVG 1.1 document: no scripts, no external files. Every node is a `<g class="node" id="nID">` with
/// its whole description as `<title>`.
std::string to_svg(const Picture& picture, const Layout& layout, const DrawOptions& options);

/// Styled DOT for Graphviz. With a layout, positions are written down for `neato -n2` (engine `nop2`).
std::string to_dot(const Picture& picture, const DrawOptions& options, const Layout* layout = nullptr);

/// PNG and PDF go through Graphviz' cairo plugin: a Runtime error says what to install when it is missing.
std::string render(const Picture& picture, Format format, const DrawOptions& options);
std::string render(const Picture& picture, const Layout& layout, Format format, const DrawOptions& options);

/// Draws a snapshot of a trace.
std::string render(trace::Reader& reader, trace::Id snapshot, Format format, const DrawOptions& options = {});

/// Writes beside the file and renames: a failure leaves nothing under the final name. A path that cannot be written is
/// a User error.
void write_file(const std::filesystem::path& path, std::string_view content);

/// `&`, `<`, `>`, quotes, and what XML forbids (control characters, broken UTF-8) replaced.
std::string escape_xml(std::string_view text);

}  // namespace strata::draw
