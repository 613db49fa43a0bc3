// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/compile_index.h"

namespace strata::studio {

using namespace trace;

namespace {
/// Texts beyond this are dropped here; whoever shows one still holds it.
constexpr size_t kMostBytes = 48 << 20;
}  // namespace

ArtifactPtr CompileIndex::artifact(Reader& reader, Id id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = texts_.find(id); found != texts_.end()) return found->second;
  auto read = reader.artifact(id);
  if (!read) return nullptr;
  if (bytes_ > kMostBytes) {
    texts_.clear();
    bytes_ = 0;
  }
  bytes_ += read->content.size();
  return texts_[id] = std::make_shared<const ArtifactRecord>(std::move(*read));
}

const std::vector<ArtifactRecord>& CompileIndex::artifacts(Reader& reader) {
  const std::lock_guard lock(mutex_);
  if (!listed_) {
    for (auto& artifact : reader.artifacts_of_compile(compile_))
      if (artifact.owner.kind == OwnerKind::Snapshot || artifact.owner.kind == OwnerKind::Kernel)
        list_.push_back(std::move(artifact));
    listed_ = true;
  }
  return list_;
}

std::unordered_set<NodeId> CompileIndex::descendants(Reader& reader, const std::vector<NodeId>& nodes, size_t limit) {
  const std::lock_guard lock(mutex_);
  if (!walked_)
    for (const OriginRecord& edge : reader.edges(compile_)) made_.emplace(edge.from, edge.node);
  walked_ = true;
  std::unordered_set<NodeId> found;
  std::vector<NodeId> open = nodes;
  while (!open.empty() && found.size() < limit) {
    const NodeId id = open.back();
    open.pop_back();
    if (!found.insert(id).second) continue;
    const auto [first, last] = made_.equal_range(id);
    for (auto it = first; it != last; ++it) open.push_back(it->second);
  }
  return found;
}

}  // namespace strata::studio
