// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/pass_drawing.h"

#include <algorithm>

#include "app/draw/layered.h"

namespace strata::studio {

using namespace trace;

namespace {

/// A node that was there before may have had a longer name or type.
void widen(draw::Picture& all, const draw::Picture& before) {
  for (const auto& node : before.nodes) {
    const int at = all.find(node.id);
    if (at < 0) continue;
    auto& widest = all.nodes[static_cast<size_t>(at)];
    widest.width = std::max(widest.width, node.width);
    widest.height = std::max(widest.height, node.height);
    widest.label_width = std::max(widest.label_width, node.label_width);
  }
}

}  // namespace

std::shared_ptr<const PassDrawing::Places> PassDrawing::make_places(const draw::DrawOptions& wanted,
                                                                    const draw::LayoutRequest& request) const {
  draw::DrawOptions options = wanted;
  options.group_by = draw::GroupBy::None;
  options.user_groups.clear();
  draw::Picture picture = draw::make_picture(steps_.together(), {}, {}, options);
  widen(picture, draw::make_picture(steps_.before(), {}, {}, options));
  draw::LayoutRequest layered = request;
  layered.engine = draw::Engine::Layered;  // it keeps the order that the stage had
  draw::Layout layout = draw::lay_out(picture, layered);
  auto places = std::make_shared<Places>();
  places->width = layout.width;
  places->height = layout.height;
  for (size_t i = 0; i < picture.nodes.size(); ++i)
    places->nodes.emplace(picture.nodes[i].id, std::pair(layout.nodes[i], layout.labels[i]));
  for (size_t e = 0; e < picture.edges.size(); ++e) {
    const auto& edge = picture.edges[e];
    places->edges.emplace(
        std::pair(picture.nodes[static_cast<size_t>(edge.from)].id, picture.nodes[static_cast<size_t>(edge.to)].id),
        std::move(layout.edges[e]));
  }
  return places;
}

/// Two threads may both make them: the layout is the same, and none waits for one that is stopped.
std::shared_ptr<const PassDrawing::Places> PassDrawing::places(const draw::DrawOptions& options,
                                                               const draw::LayoutRequest& request) const {
  const std::pair key(options.parameters, options.types);
  {
    std::lock_guard lock(mutex_);
    if (const auto at = places_.find(key); at != places_.end()) return at->second;
  }
  auto made = make_places(options, request);
  std::lock_guard lock(mutex_);
  return places_.emplace(key, std::move(made)).first->second;
}

draw::Layout PassDrawing::lay_out(const draw::Picture& picture, const draw::DrawOptions& options,
                                  const draw::LayoutRequest& request) const {
  const bool boxes =
      std::any_of(picture.nodes.begin(), picture.nodes.end(), [](const auto& node) { return !node.members.empty(); });
  if (boxes || !picture.groups.empty()) return draw::lay_out(picture, request);
  const auto all = places(options, request);
  draw::Layout layout;
  layout.engine = draw::Engine::Layered;
  layout.width = all->width;
  layout.height = all->height;
  for (const auto& node : picture.nodes) {
    const auto at = all->nodes.find(node.id);
    if (at == all->nodes.end()) return draw::lay_out(picture, request);
    layout.nodes.push_back(at->second.first);
    layout.labels.push_back(node.label_width > 0 ? at->second.second : draw::Rect());
  }
  for (const auto& edge : picture.edges) {
    const auto from = static_cast<size_t>(edge.from), to = static_cast<size_t>(edge.to);
    const auto at = all->edges.find({picture.nodes[from].id, picture.nodes[to].id});
    if (at != all->edges.end()) {
      layout.edges.push_back(at->second);
      continue;
    }
    const auto& a = layout.nodes[from];
    const auto& b = layout.nodes[to];
    layout.edges.push_back(
        draw::smooth({{a.centre_x(), a.bottom() + layout.labels[from].height}, {b.centre_x(), b.y}}));
  }
  return layout;
}

}  // namespace strata::studio
