// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gvc.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "app/draw/graphviz.h"
#include "app/draw/layout_engines.h"
#include "core/support/error.h"

namespace strata::draw {
namespace {

constexpr double kPointsPerInch = 72;

std::mutex& door() {
  static std::mutex mutex;
  return mutex;
}

std::string& messages() {
  static std::string text;
  return text;
}

int keep_message(char* text) {
  if (messages().size() < 2000) messages() += text;
  return 0;
}

/// Made once and kept: creating a context loads plugins, and freeing it unloads code that Graphviz still points to.
GVC_t* context() {
  static GVC_t* made = [] {
    agseterrf(keep_message);
    return gvContext();
  }();
  messages().clear();
  return made;
}

/// C interfaces that take char* but do not write.
char* c(const char* text) { return const_cast<char*>(text); }
char* c(const std::string& text) { return const_cast<char*>(text.c_str()); }

class DotGraph {
 public:
  DotGraph(const Picture& picture, const LayoutRequest& request)
      : picture_(picture), graph_(agopen(c("g"), Agdirected, nullptr)) {
    agattr(graph_, AGRAPH, c("ranksep"), c("0.42"));
    agattr(graph_, AGRAPH, c("nodesep"), c("0.3"));
    agattr(graph_, AGRAPH, c("label"), c(""));
    agattr(graph_, AGRAPH, c("margin"), c("0"));
    agattr(graph_, AGRAPH, c("fontname"), c("DejaVu Sans"));
    agattr(graph_, AGRAPH, c("fontsize"), c("11"));
    // Bounds on the two slow phases: a little less beautiful, never endless.
    agattr(graph_, AGRAPH, c("nslimit"), c("20"));
    agattr(graph_, AGRAPH, c("nslimit1"), c("20"));
    agattr(graph_, AGRAPH, c("mclimit"), c("0.5"));
    agattr(graph_, AGNODE, c("shape"), c("box"));
    agattr(graph_, AGNODE, c("fixedsize"), c("true"));
    agattr(graph_, AGNODE, c("label"), c(""));
    width_ = agattr(graph_, AGNODE, c("width"), c("1"));
    height_ = agattr(graph_, AGNODE, c("height"), c("1"));
    agattr(graph_, AGEDGE, c("tailport"), c("s"));
    agattr(graph_, AGEDGE, c("headport"), c("n"));
    agattr(graph_, AGEDGE, c("arrowhead"), c("none"));
    add_nodes(request);
    add_groups();
    weight_ = agattr(graph_, AGEDGE, c("weight"), c("1"));
    for (const auto& edge : picture_.edges) add_edge(edge);
  }
  ~DotGraph() {
    if (laid_out_) gvFreeLayout(context(), graph_);
    agclose(graph_);
  }
  DotGraph(const DotGraph&) = delete;
  DotGraph& operator=(const DotGraph&) = delete;

  bool lay_out() { return laid_out_ = gvLayout(context(), graph_, "dot") == 0; }

  std::optional<Layout> result() const {
    Layout layout;
    layout.engine = Engine::Graphviz;
    box_ = GD_bb(graph_);
    layout.width = box_.UR.x - box_.LL.x;
    layout.height = box_.UR.y - box_.LL.y;
    layout.nodes.resize(nodes_.size());
    layout.labels.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      Point centre = flip(ND_coord(nodes_[i]));
      const PictureNode& node = picture_.nodes[i];
      set_cell(layout, picture_, static_cast<int>(i), centre.x - cell_width(node) / 2,
               centre.y - cell_height(node) / 2);
    }
    for (Agraph_t* cluster : clusters_) {
      boxf b = GD_bb(cluster);
      layout.groups.push_back({b.LL.x - box_.LL.x, box_.UR.y - b.UR.y, b.UR.x - b.LL.x, b.UR.y - b.LL.y});
    }
    for (Agedge_t* edge : edges_) {
      const splines* spline = ED_spl(edge);
      if (!spline || spline->size < 1) return std::nullopt;
      std::vector<Point> points;
      for (size_t k = 0; k < static_cast<size_t>(spline->list[0].size); ++k)
        points.push_back(flip(spline->list[0].list[k]));
      layout.edges.push_back(std::move(points));
    }
    return layout;
  }

 private:
  Point flip(pointf p) const { return {p.x - box_.LL.x, box_.UR.y - p.y}; }

  /// dot begins with the order in which nodes come: those that stood somewhere before come from left to right.
  void add_nodes(const LayoutRequest& request) {
    nodes_.resize(picture_.nodes.size());
    for (int i : order_of_nodes(request)) {
      const PictureNode& box = picture_.nodes[static_cast<size_t>(i)];
      Agnode_t* node = agnode(graph_, c(fmt::format("n{}", i)), 1);
      agxset(node, width_, c(fmt::format("{:.4f}", cell_width(box) / kPointsPerInch)));
      agxset(node, height_, c(fmt::format("{:.4f}", cell_height(box) / kPointsPerInch)));
      nodes_[static_cast<size_t>(i)] = node;
    }
  }

  std::vector<int> order_of_nodes(const LayoutRequest& request) const {
    std::vector<int> order(picture_.nodes.size()), old;
    std::iota(order.begin(), order.end(), 0);
    auto place = [&](int i) {
      const auto found = request.places.find(picture_.nodes[static_cast<size_t>(i)].id);
      return found == request.places.end() ? nullptr : &found->second;
    };
    for (int i : order)
      if (place(i)) old.push_back(i);
    std::stable_sort(old.begin(), old.end(), [&](int a, int b) { return *place(a) < *place(b); });
    auto next = old.begin();
    for (int& i : order)
      if (place(i)) i = *next++;
    return order;
  }

  /// The main line of computation is kept straight; weights and inputs stand beside it.
  void add_edge(const PictureEdge& edge) {
    edges_.push_back(agedge(graph_, nodes_[edge.from], nodes_[edge.to], nullptr, 1));
    OpClass from = picture_.nodes[edge.from].op_class;
    if (from != OpClass::Parameter && from != OpClass::Input) agxset(edges_.back(), weight_, c("6"));
  }

  void add_groups() {
    for (size_t g = 0; g < picture_.groups.size(); ++g) {
      int parent = picture_.groups[g].parent;
      Agraph_t* around = parent < 0 ? graph_ : clusters_[parent];
      Agraph_t* cluster = agsubg(around, c(fmt::format("cluster_{}", g)), 1);
      agsafeset(cluster, c("margin"), c("10"), c(""));
      // Only the room is needed; the text is ours. An underscore is about half as wide as the size of the font.
      std::string room(static_cast<size_t>(picture_.groups[g].label_width / 5.4) + 1, '_');
      agsafeset(cluster, c("label"), c(room), c(""));
      for (int i : picture_.groups[g].nodes) agsubnode(cluster, nodes_[i], 1);
      clusters_.push_back(cluster);
    }
  }

  const Picture& picture_;
  Agraph_t* graph_;
  Agsym_t* width_ = nullptr;
  Agsym_t* height_ = nullptr;
  Agsym_t* weight_ = nullptr;
  std::vector<Agnode_t*> nodes_;
  std::vector<Agedge_t*> edges_;
  std::vector<Agraph_t*> clusters_;
  mutable boxf box_{};
  bool laid_out_ = false;
};

[[noreturn]] void throw_no_renderer(const char* format) {
  std::string why = messages().substr(0, messages().find('\n'));
  throw_runtime(fmt::format("graphviz cannot write {}{}", format, why.empty() ? "" : ": " + why),
                "install its plugins (Debian: apt-get install graphviz libgvc6), or export svg, which needs nothing");
}

}  // namespace

std::optional<Layout> lay_out_with_graphviz(const Picture& picture, const LayoutRequest& request) {
  std::lock_guard lock(door());
  if (!context()) return std::nullopt;
  DotGraph graph(picture, request);
  if (!graph.lay_out()) return std::nullopt;
  return graph.result();
}

std::string render_with_graphviz(const std::string& dot, const char* engine, const char* format) {
  std::lock_guard lock(door());
  GVC_t* gvc = context();
  Agraph_t* graph = gvc ? agmemread(dot.c_str()) : nullptr;
  if (!graph) throw_runtime(fmt::format("graphviz did not take the drawing: {}", messages()));
  std::string data;
  if (gvLayout(gvc, graph, engine) == 0) {
    char* bytes = nullptr;
    unsigned length = 0;
    if (gvRenderData(gvc, graph, format, &bytes, &length) == 0 && bytes) data.assign(bytes, length);
    if (bytes) gvFreeRenderData(bytes);
    gvFreeLayout(gvc, graph);
  }
  agclose(graph);
  if (data.empty()) throw_no_renderer(format);
  return data;
}

}  // namespace strata::draw
