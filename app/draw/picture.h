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

enum class ColourBy : int { Class = 0, DType, Time, None, Bytes, Module, Device };

/// What frames stand for. Automatic: modules where a graph is too large to be read whole, kernels otherwise. The user's
/// groups stand among kernels and modules too; User: they alone.
enum class GroupBy : int { Automatic = 0, Kernels, Modules, None, User };

/// Nodes that a person put together: these nodes, and those for which the rule holds.
struct UserGroup {
  enum class Rule : int {
    None = 0,
    Module,    ///< nodes of this module and of those in it
    Operator,  ///< nodes with this operator: `aten.add.Tensor` or `add`
    Query      ///< nodes for which these conditions hold (app/query/query_language.h)
  };
  std::string name;  ///< no two groups have the same
  std::vector<trace::NodeId> nodes;
  Rule rule = Rule::None;
  std::string text;  ///< of the rule
  bool operator==(const UserGroup&) const = default;
};

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
  std::map<std::string, bool>
      opened;                      ///< frames that were expanded (true) or collapsed by hand, by PictureGroup::module
  bool removed = false;            ///< the window: nodes that went in this step are drawn too
  bool removed_by_rewrite = true;  ///< the same where the step is a single rewrite
  std::vector<UserGroup> user_groups;  ///< where two cross, the later one has what both have
  bool operator==(const DrawOptions&) const = default;
};

/// What became of a node against the step before.
enum class NodeState : int {
  Same = 0,
  Added,
  Changed,
  Removed  ///< it stood in the step before and is drawn where it would stand
};

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
  int group = -1;                          ///< index into Picture::groups
  double time_ns = -1;                     ///< of the kernel that computes it; -1 unknown
  double time_share = -1;                  ///< that time divided among the kernel's nodes; -1 unknown
  double width = 0, height = 0;            ///< of the box, set by measure()
  double label_width = 0;                  ///< of the type under the box
  std::string module;                      ///< as in PictureGroup, if the box is a collapsed group
  std::vector<trace::NodeId> members;      ///< the nodes of a collapsed group, empty for a node
  trace::Id kernel = trace::kNone;         ///< if the box is a collapsed kernel
  int member_of = -1;                      ///< the kernel that computes it: index into Picture::kernels
  std::string device;                      ///< `cuda:0`; empty if unknown or several
  double bytes = -1;                       ///< of its value; of a box: of the values that leave it; -1 unknown
  double bytes_share = -1;                 ///< from 0 (least in the picture) to 1 (most), by logarithm; -1 unknown
  int module_slot = -1, device_slot = -1;  ///< which colour, see Picture::modules; -1: none
};

struct PictureEdge {
  int from = 0, to = 0;  ///< indices into Picture::nodes
};

/// A kernel, drawn or not.
struct PictureKernel {
  trace::Id id = trace::kNone;  ///< none if the trace only says which nodes belong together
  std::string name, note, tooltip;
  double time_ns = -1;
  std::vector<trace::NodeId> nodes;
};

/// A frame: a fused kernel, a module, or a group of the user's.
struct PictureGroup {
  std::string title;  ///< kernel name, module path within the frame around it, the user's name
  std::string note;   ///< `12.3 µs`, `onednn matmul`
  std::string tooltip;
  trace::Id kernel = trace::kNone;
  double time_ns = -1;
  std::vector<int> nodes;  ///< those inside and in no inner group
  double label_width = 0;  ///< set by measure()
  int parent = -1;         ///< the group around this one, always earlier in the list
  std::string module;      ///< what it is called in DrawOptions::opened: a module's path, `kernel:17`, `group:NAME`
};

struct Picture {
  std::string title;
  std::vector<PictureNode> nodes;  ///< program order
  std::vector<PictureEdge> edges;  ///< each pair once
  std::vector<PictureGroup> groups;
  GroupBy grouped_by = GroupBy::Kernels;  ///< what was chosen where options said Automatic
  std::vector<PictureKernel> kernels;     ///< all of them, also those of one node
  std::vector<std::string> modules;       ///< what colours of modules stand for: by PictureNode::module_slot
  std::vector<std::string> devices;       ///< by PictureNode::device_slot
  double least_bytes = -1, most_bytes = -1;

  /// Index of a node, or of the collapsed group that hides it, or -1.
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

/// The same from records that were read already. `states` says what became of nodes, of those that it names.
Picture make_picture(const std::vector<trace::NodeRecord>& nodes, const std::vector<trace::KernelRecord>& kernels,
                     const std::map<trace::Id, double>& times, const DrawOptions& options = {},
                     const std::unordered_map<trace::NodeId, NodeState>& states = {});

/// Fills in the sizes of boxes and labels.
void measure(Picture& picture, const DrawOptions& options);

/// `12.3 µs`; `?` for a negative time.
std::string format_time(double nanoseconds);

inline constexpr double kTitleSize = 12, kTextSize = 10, kTypeSize = 9.5;
inline constexpr double kTitleRow = 17, kTextRow = 13, kTypeRow = 15, kPadding = 5;

}  // namespace strata::draw
