// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A graph as it is drawn: boxes, edges, frames around fused groups. Plain values, made from a trace or by hand.

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/draw/op_class.h"
#include "core/trace/reader.h"

namespace strata::draw {

enum class ColourBy : int { Class = 0, DType, Time, None };

/// What frames stand for. Automatic: modules where a graph is too large to be read whole, kernels otherwise.
enum class GroupBy : int { Automatic = 0, Kernels, Modules, None };

struct DrawOptions {
  bool groups = true;      ///< frames around fused groups, with kernel names
  bool colours = true;     ///< false: black on white (or white on black)
  bool times = true;       ///< median time of each kernel, when the trace has runs
  bool parameters = true;  ///< weights and constants as nodes of their own
  bool types = true;       ///< dtype and shape under each node
  bool dark = false;
  bool legend = true;
  ColourBy colour_by = ColourBy::Class;
  GroupBy group_by = GroupBy::Kernels;
  std::map<std::string, bool> opened;  ///< modules that were expanded (true) or collapsed by hand, by path
};

/// What became of a node against the step before.
enum class NodeState : int { Same = 0, Added, Changed };

struct PictureNode {
  trace::NodeId id = 0;
  std::string title;     ///< short operator name, or the name of an input
  std::string subtitle;  ///< node name where it says more than the title
  std::string footer;    ///< kernel and time of a node that is a kernel by itself
  std::string type;      ///< `f32[8, 64]`: drawn on the edge that leaves the node
  std::string tooltip;   ///< several lines
  std::string dtype;
  OpClass op_class = OpClass::Other;
  NodeState state = NodeState::Same;
  int group = -1;                      ///< index into Picture::groups
  double time_ns = -1;                 ///< of the kernel that computes it; -1 unknown
  double time_share = -1;              ///< that time divided among the kernel's nodes; -1 unknown
  double width = 0, height = 0;        ///< of the box, set by measure()
  double label_width = 0;              ///< of the type under the box
  std::string module;                  ///< path, if the box is a collapsed module
  std::vector<trace::NodeId> members;  ///< the nodes of a collapsed module, empty for a node
};

struct PictureEdge {
  int from = 0, to = 0;  ///< indices into Picture::nodes
};

struct PictureGroup {
  std::string title;  ///< kernel name
  std::string note;   ///< `12.3 µs`, `onednn matmul`
  std::string tooltip;
  trace::Id kernel = trace::kNone;
  double time_ns = -1;
  std::vector<int> nodes;  ///< those inside and in no inner group; at least two in a kernel
  double label_width = 0;  ///< set by measure()
  int parent = -1;         ///< the group around this one, always earlier in the list
  std::string module;      ///< path, if the frame is an expanded module
};

struct Picture {
  std::string title;
  std::vector<PictureNode> nodes;  ///< program order
  std::vector<PictureEdge> edges;  ///< each pair once
  std::vector<PictureGroup> groups;
  GroupBy grouped_by = GroupBy::Kernels;  ///< what was chosen where options said Automatic

  /// Index of a node, or of the collapsed module that hides it, or -1.
  int find(trace::NodeId id) const;
  /// Rebuilds what find() uses; call it after filling `nodes`.
  void index();

 private:
  std::unordered_map<trace::NodeId, int> index_;
};

/// Median duration of each kernel of a compile over all recorded runs; kernels that never ran are absent.
std::map<trace::Id, double> kernel_times(trace::Reader& reader, trace::Id compile);

/// The graph of a snapshot. A snapshot that has no graph, or is not there, is a User error.
Picture make_picture(trace::Reader& reader, trace::Id snapshot, const DrawOptions& options = {});

/// The same from records that were read already.
Picture make_picture(const std::vector<trace::NodeRecord>& nodes, const std::vector<trace::KernelRecord>& kernels,
                     const std::map<trace::Id, double>& times, const DrawOptions& options = {});

/// Fills in the sizes of boxes and labels.
void measure(Picture& picture, const DrawOptions& options);

/// `12.3 µs`; `?` for a negative time.
std::string format_time(double nanoseconds);

inline constexpr double kTitleSize = 12, kTextSize = 10, kTypeSize = 9.5;
inline constexpr double kTitleRow = 17, kTextRow = 13, kTypeRow = 15, kPadding = 5;

}  // namespace strata::draw
