// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/graph_picture.h"

#include "app/draw/export.h"
#include "app/draw/graphviz.h"
#include "app/draw/layout_engines.h"
#include "capture/pt2_meta.h"
#include "capture/torch_graph/records.h"
#include "core/ir/fx_reader.h"
#include "core/support/error.h"

namespace strata {

std::string svg_of_fx(std::string_view text, const std::map<std::string, std::pair<std::string, std::string>>& modules,
                      const std::string& title, bool dark) {
  const Graph graph = parse_fx(text);
  capture::GraphRecords records = capture::records_of(graph);
  for (trace::NodeRecord& node : records.nodes)
    if (const auto found = modules.find(node.name); found != modules.end()) {
      const auto& [path, type] = found->second;
      node.module = capture::parse_module_stack("module," + path + "," + type).path;
    }
  draw::DrawOptions options;
  options.dark = dark;
  options.group_by = modules.empty() ? draw::GroupBy::None : draw::GroupBy::Automatic;
  draw::Picture picture = draw::make_picture(records.nodes, {}, {}, options);
  picture.title = title;
  draw::measure(picture, options);
  return draw::render(picture, draw::lay_out(picture, draw::Engine::Layered), draw::Format::Svg, options);
}

// The package draws with the layered layout alone: these stand for app/draw/layout_graphviz.cpp, so that importing the
// package needs no Graphviz.
namespace draw {

std::optional<Layout> lay_out_with_graphviz(const Picture&, const LayoutRequest&) { return std::nullopt; }

std::string render_with_graphviz(const std::string&, const char*, const char*) {
  throw_runtime("the Python package draws SVG only", "use `strata export`");
}

}  // namespace draw
}  // namespace strata
