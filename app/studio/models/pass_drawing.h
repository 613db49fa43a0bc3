// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rewrites of one pass, with one layout for all of them: from one rewrite to the next no node moves.

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "app/draw/layout.h"
#include "app/draw/picture.h"
#include "app/studio/models/rewrite_steps.h"

namespace strata::studio {

class PassDrawing {
 public:
  PassDrawing(std::vector<trace::NodeRecord> before, std::vector<trace::NodeRecord> after,
              std::vector<trace::RewriteRecord> rewrites)
      : steps_(std::move(before), std::move(after), std::move(rewrites)) {}

  const RewriteSteps& steps() const { return steps_; }

  /// Places for a picture of some of the nodes: each stands where it stands in all other pictures drawn with these
  /// options. `request` counts when the first one is laid out. Pictures with frames are laid out by themselves.
  draw::Layout lay_out(const draw::Picture& picture, const draw::DrawOptions& options,
                       const draw::LayoutRequest& request) const;

 private:
  struct Places {
    std::unordered_map<trace::NodeId, std::pair<draw::Rect, draw::Rect>> nodes;  ///< box and label
    std::map<std::pair<trace::NodeId, trace::NodeId>, std::vector<draw::Point>> edges;
    double width = 0, height = 0;
  };
  std::shared_ptr<const Places> places(const draw::DrawOptions& options, const draw::LayoutRequest& request) const;
  std::shared_ptr<const Places> make_places(const draw::DrawOptions& options, const draw::LayoutRequest& request) const;

  RewriteSteps steps_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<bool, bool>, std::shared_ptr<const Places>> places_;  ///< by parameters and types
};

}  // namespace strata::studio
