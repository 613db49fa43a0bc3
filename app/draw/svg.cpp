// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/draw/export.h"
#include "app/draw/palette.h"
#include "app/draw/text_metrics.h"

namespace strata::draw {
namespace {

constexpr double kLegendRow = 18, kHeader = 30;

/// Length of the UTF-8 sequence that starts here, 0 if it is broken or a character that XML forbids.
size_t sequence(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  auto tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\n' || first == '\t' ? 1 : 0;
  if (first >= 0xC2 && first < 0xE0) return tail(1) ? 2 : 0;
  if ((first & 0xF0) == 0xE0) {
    bool overlong = first == 0xE0 && byte(1) < 0xA0, surrogate = first == 0xED && byte(1) >= 0xA0;
    bool noncharacter = first == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE;
    return tail(1) && tail(2) && !overlong && !surrogate && !noncharacter ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    bool overlong = first == 0xF0 && byte(1) < 0x90, beyond = first == 0xF4 && byte(1) >= 0x90;
    return tail(1) && tail(2) && tail(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

class SvgWriter {
 public:
  SvgWriter(const Picture& picture, const Layout& layout, const DrawOptions& options)
      : picture_(picture),
        layout_(layout),
        options_(options),
        palette_(palette(options.dark)),
        legend_(options.legend ? legend(picture, options) : std::vector<LegendEntry>()),
        slowest_(slowest(picture)) {}

  std::string run() {
    begin();
    if (options_.groups)
      for (size_t g = 0; g < picture_.groups.size(); ++g) group(g);
    for (size_t e = 0; e < picture_.edges.size(); ++e) edge(layout_.edges[e]);
    if (options_.groups)
      for (size_t g = 0; g < picture_.groups.size(); ++g) group_title(g);
    for (size_t i = 0; i < picture_.nodes.size(); ++i) node(i);
    out_ += "</g>\n";
    draw_legend();
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  double legend_width() const {
    double widest = 0;
    for (const auto& entry : legend_) widest = std::max(widest, text_width(entry.text, kTextSize));
    return legend_.empty() ? 0 : widest + 48;
  }

  void begin() {
    double top = picture_.title.empty() ? 0 : kHeader;
    double width = std::max({layout_.width + legend_width(), text_width(picture_.title, 14, true) + 40, 60.0});
    double height = std::max({layout_.height + top, static_cast<double>(legend_.size()) * kLegendRow + top + 40, 40.0});
    put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"{2}\">\n",
        std::ceil(width), std::ceil(height), kTextSize);
    put("<title>{}</title>\n", escape_xml(picture_.title));
    // Plain numbers, no markers, no percentages: what every viewer draws alike.
    put("<rect width=\"{:.0f}\" height=\"{:.0f}\" fill=\"{}\"/>\n", std::ceil(width), std::ceil(height),
        hex(palette_.background));
    if (!picture_.title.empty())
      put("<text x=\"16\" y=\"22\" font-size=\"14\" font-weight=\"bold\" fill=\"{}\">{}</text>\n", hex(palette_.text),
          escape_xml(picture_.title));
    put("<g transform=\"translate(0 {})\">\n", top);
  }

  Colour fill(int group) const { return frame_fill(frame_depth(picture_, group), options_.dark); }

  void group(size_t g) {
    const Rect& r = layout_.groups[g];
    put("<g class=\"group\"><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"8\" "
        "fill=\"{}\" stroke=\"{}\" stroke-dasharray=\"5 3\"/></g>\n",
        escape_xml(picture_.groups[g].tooltip), r.x, r.y, r.width, r.height, hex(fill(static_cast<int>(g))),
        hex(palette_.group_border));
  }

  /// After the edges, on a patch of the frame's colour, so that no edge crosses the text.
  void group_title(size_t g) {
    const Rect& r = layout_.groups[g];
    const PictureGroup& group = picture_.groups[g];
    double width = std::clamp(group.label_width - 22, 0.0, std::max(0.0, r.width - 10));
    put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"15\" fill=\"{}\" fill-opacity=\"0.85\"/>", r.x + 7,
        r.y + 3, width, hex(fill(static_cast<int>(g))));
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" font-weight=\"bold\" fill=\"{}\">{}</text>", r.x + 9, r.y + 14,
        hex(palette_.group_text), escape_xml(group.title));
    double after = group.title.empty() ? 0 : text_width(group.title, kTextSize, true) + 8;
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", r.x + 9 + after, r.y + 14, hex(palette_.group_text),
        escape_xml(group.note));
  }

  void edge(const std::vector<Point>& points) {
    if (points.size() < 4) return;
    put("<path class=\"edge\" d=\"M{:.1f} {:.1f}", points[0].x, points[0].y);
    for (size_t i = 1; i + 2 < points.size(); i += 3)
      put("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", points[i].x, points[i].y, points[i + 1].x, points[i + 1].y,
          points[i + 2].x, points[i + 2].y);
    put("\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.2\"/>", hex(palette_.edge));
    const Point& tip = points.back();
    put("<path d=\"M{0:.1f} {1:.1f}L{2:.1f} {3:.1f}L{4:.1f} {3:.1f}z\" fill=\"{5}\"/>\n", tip.x, tip.y, tip.x - 3.5,
        tip.y - 7, tip.x + 3.5, hex(palette_.edge));
  }

  void text(double x, double y, double size, bool bold, Colour colour, const std::string& content) {
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\"{} text-anchor=\"middle\" fill=\"{}\">{}</text>", x, y, size,
        bold ? " font-weight=\"bold\"" : "", hex(colour), escape_xml(content));
  }

  Colour border(const PictureNode& node) const { return state_colour(node.state, palette_); }

  void node(size_t i) {
    const PictureNode& node = picture_.nodes[i];
    const Rect& r = layout_.nodes[i];
    bool round =
        node.op_class == OpClass::Input || node.op_class == OpClass::Parameter || node.op_class == OpClass::Output;
    put("<g class=\"node\" id=\"n{}\"><title>{}</title>", node.id, escape_xml(node.tooltip));
    if (!node.module.empty())  // a stack of sheets: there is more inside
      put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\" fill=\"{}\" stroke=\"{}\"/>",
          r.x + 3.5, r.y + 3.5, r.width, r.height, hex(node_fill(node, options_, slowest_)),
          hex(palette_.group_border));
    put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.1f}\" fill=\"{}\" "
        "stroke=\"{}\"{}/>",
        r.x, r.y, r.width, r.height, round ? r.height / 2 : 6.0, hex(node_fill(node, options_, slowest_)),
        hex(border(node)),
        node.state == NodeState::Same      ? ""
        : node.state == NodeState::Removed ? " stroke-width=\"2.5\" stroke-dasharray=\"5 3\""
                                           : " stroke-width=\"2.5\"");
    double y = r.y + kPadding + kTitleRow;
    text(r.centre_x(), y - 4, kTitleSize, true, palette_.text, node.title);
    if (!node.subtitle.empty())
      text(r.centre_x(), (y += kTextRow) - 3, kTextSize, false, palette_.dim_text, node.subtitle);
    if (!node.footer.empty())
      text(r.centre_x(), (y += kTextRow) - 3, kTextSize, false, palette_.group_text, node.footer);
    if (layout_.labels[i].width > 0) type(node, layout_.labels[i]);
    out_ += "</g>\n";
  }

  void type(const PictureNode& node, const Rect& r) {
    put("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" stroke=\"{3}\" stroke-width=\"1.2\"/>", r.centre_x(), r.y, r.bottom(),
        hex(palette_.edge));
    const Colour back = node.group >= 0 && options_.groups ? fill(node.group) : palette_.background;
    put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"11\" rx=\"3\" fill=\"{}\"/>", r.x + 2, r.y + 2,
        r.width - 4, hex(back));
    text(r.centre_x(), r.y + 11, kTypeSize, false, palette_.dim_text, node.type);
  }

  void draw_legend() {
    double x = std::max(layout_.width, text_width(picture_.title, 14, true) + 40 - legend_width()) + 4;
    double y = (picture_.title.empty() ? 0 : kHeader) + 16;
    for (const auto& entry : legend_) {
      put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"11\" rx=\"3\" fill=\"{}\" stroke=\"{}\"/>"
          "<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n",
          x, y, hex(entry.fill), hex(palette_.node_border), x + 20, y + 9.5, hex(palette_.text),
          escape_xml(entry.text));
      y += kLegendRow;
    }
  }

  const Picture& picture_;
  const Layout& layout_;
  const DrawOptions& options_;
  const Palette& palette_;
  std::vector<LegendEntry> legend_;
  double slowest_;
  std::string out_;
};

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t length = sequence(text, i);
    switch (length ? text[i] : '\0') {
      case '\0':
        result += "\uFFFD";
        break;
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result.append(text.substr(i, length));
    }
    i += std::max<size_t>(length, 1);
  }
  return result;
}

std::string to_svg(const Picture& picture, const Layout& layout, const DrawOptions& options) {
  return SvgWriter(picture, layout, options).run();
}

}  // namespace strata::draw
