// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/draw/export.h"
#include "app/draw/palette.h"

namespace strata::draw {
namespace {

std::string quote(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\t')
      result += c;
  }
  return result + "\"";
}

std::string node_label(const PictureNode& node, const DrawOptions& options) {
  std::string label = node.title;
  if (!node.subtitle.empty()) label += "\n" + node.subtitle;
  if (!node.footer.empty()) label += "\n" + node.footer;
  if (options.types && !node.type.empty()) label += "\n" + node.type;
  return label;
}

std::string point(const Layout& layout, double x, double y) {
  return fmt::format("{:.1f},{:.1f}", x, layout.height - y);
}

std::string node_place(const Picture& picture, const Layout& layout, size_t i) {
  const Rect& r = layout.nodes[i];
  double height = cell_height(picture.nodes[i]), width = cell_width(picture.nodes[i]);
  return fmt::format(", pos=\"{}\", width={:.3f}, height={:.3f}, fixedsize=true",
                     point(layout, r.centre_x(), r.y + height / 2), width / 72, height / 72);
}

std::string edge_place(const Layout& layout, const std::vector<Point>& points) {
  if (points.empty()) return "";
  // The arrow takes the last few points of the way: its direction is from the end of the curve to the tip.
  constexpr double head = 6;
  const Point tip = points.back();
  std::string pos = fmt::format("e,{}", point(layout, tip.x, tip.y));
  for (size_t i = 0; i < points.size(); ++i) {
    const bool last = i + 1 == points.size();
    pos += fmt::format(" {}", point(layout, points[i].x, last ? tip.y - head : points[i].y));
  }
  return fmt::format(" [pos=\"{}\"]", pos);
}

std::string border(const PictureNode& node, const Palette& p) { return hex(state_colour(node.state, p)); }

/// Clusters within clusters, as frames are within frames.
class Clusters {
 public:
  Clusters(std::string& out, const Picture& picture, const DrawOptions& options, const Layout* layout)
      : out_(out), picture_(picture), options_(options), layout_(layout), inner_(picture.groups.size()) {
    for (size_t g = 0; g < picture.groups.size(); ++g)
      if (const int parent = picture.groups[g].parent; parent >= 0) inner_[static_cast<size_t>(parent)].push_back(g);
  }

  void run() {
    for (size_t g = 0; g < picture_.groups.size(); ++g)
      if (picture_.groups[g].parent < 0) put(g, 0);
  }

 private:
  void put(size_t g, int depth) {
    const PictureGroup& group = picture_.groups[g];
    const Palette& p = palette(options_.dark);
    const std::string title = group.note.empty() ? group.title : group.title + "  " + group.note;
    out_ += fmt::format(
        "  subgraph cluster_{} {{\n    label={}; labeljust=l; style=\"rounded,filled,dashed\"; tooltip={}; "
        "fillcolor=\"{}\"; color=\"{}\"; fontcolor=\"{}\";",
        g, quote(title), quote(group.tooltip), hex(frame_fill(depth, options_.dark)), hex(p.group_border),
        hex(p.group_text));
    if (layout_) {
      const Rect& r = layout_->groups[g];
      const double text = group.label_width;
      out_ += fmt::format(" bb=\"{},{}\"; lp=\"{}\"; lwidth={:.2f}; lheight=0.2;", point(*layout_, r.x, r.bottom()),
                          point(*layout_, r.right(), r.y), point(*layout_, r.x + text / 2, r.y + 11), text / 72);
    }
    out_ += "\n   ";
    for (int i : group.nodes) out_ += fmt::format(" n{};", picture_.nodes[static_cast<size_t>(i)].id);
    out_ += "\n";
    for (size_t inside : inner_[g]) put(inside, depth + 1);  // as deep as frames nest
    out_ += "  }\n";
  }

  std::string& out_;
  const Picture& picture_;
  const DrawOptions& options_;
  const Layout* layout_;
  std::vector<std::vector<size_t>> inner_;
};

}  // namespace

std::string to_dot(const Picture& picture, const DrawOptions& options, const Layout* layout) {
  const Palette& p = palette(options.dark);
  double most = slowest(picture);
  std::string out = fmt::format(
      "digraph strata {{\n  graph [label={}, labelloc=t, fontname=\"DejaVu Sans\", fontsize=11, fontcolor=\"{}\", "
      "bgcolor=\"{}\", ranksep=0.42, nodesep=0.3{}];\n",
      quote(layout ? "" : picture.title), hex(p.text), hex(p.background),
      layout ? fmt::format(", bb=\"0,0,{:.1f},{:.1f}\"", layout->width, layout->height) : "");
  out += fmt::format(
      "  node [shape=box, style=\"rounded,filled\", fontname=\"DejaVu Sans\", fontsize=10, fontcolor=\"{}\"];\n",
      hex(p.text));
  out += fmt::format("  edge [color=\"{}\", arrowsize=0.6];\n", hex(p.edge));
  if (options.groups) Clusters(out, picture, options, layout).run();
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    const PictureNode& node = picture.nodes[i];
    out += fmt::format("  n{} [label={}, tooltip={}, fillcolor=\"{}\", color=\"{}\"{}];\n", node.id,
                       quote(node_label(node, options)), quote(node.tooltip), hex(node_fill(node, options, most)),
                       border(node, p), layout ? node_place(picture, *layout, i) : "");
  }
  for (size_t e = 0; e < picture.edges.size(); ++e)
    out += fmt::format("  n{} -> n{}{};\n", picture.nodes[picture.edges[e].from].id,
                       picture.nodes[picture.edges[e].to].id, layout ? edge_place(*layout, layout->edges[e]) : "");
  return out + "}\n";
}

}  // namespace strata::draw
