// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the time of a run or profile went: by kernel, operator, module and line.
///
/// What counts is the time of launches: of an imported profile what ran on its devices (the calls that launched it are
/// not counted again), else what the host timed. A kernel's time, bytes and flops are divided evenly among the nodes
/// that it computes (views only where it computes nothing else), and a node's share among the captured nodes that it
/// came from. What is in no kernel of a compile stands in rows of its own, so all four tables add up to one total.

#include <QStringList>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/studio/models/table_model.h"
#include "core/trace/reader.h"

namespace strata::studio {

enum class ProfileBy : int { Kernel = 0, Operator, Module, Line };
inline constexpr int kProfileTables = 4;

/// A captured node: compile and node.
using ProfileNode = std::pair<trace::Id, trace::NodeId>;

struct ProfileRow {
  std::string key;   ///< kernel, operator, module path, `file:line: code`; or the name of what is in no kernel
  std::string kind;  ///< of a kernel `loop`, `triton`, ...; of what is in none `not matched`, `optimizer`, `eager`, ...
  std::string graph;       ///< `0/0 forward`; empty where several have a part in it
  std::int64_t calls = 0;  ///< launches of kernels that have a part in it
  double ns = 0;
  double certain_ns = 0;           ///< of `ns`: neither matched nor divided by inference
  double bytes = 0, bytes_ns = 0;  ///< of all calls, and the time of those whose bytes are known
  double flops = 0, flops_ns = 0;
  bool measured_kernel = true;  ///< false: it is in no kernel
  trace::Id compile = trace::kNone, kernel = trace::kNone;
  bool timed = true;               ///< false: a kernel that never ran here
  std::vector<ProfileNode> nodes;  ///< that it stands for; the greatest share first
  std::vector<double> node_ns;     ///< of `ns`, the share of each
  std::vector<std::string> node_names;
  std::string made_of;  ///< of a kernel: names of the first of them
  std::string file;     ///< of a row by line
  std::int64_t line = 0;
};

struct ProfileKernel {
  trace::KernelRecord record;  ///< id 0: launches without a kernel
  std::string graph;
  std::int64_t calls = 0;
  double ns = 0, exact_ns = 0;
};

struct ProfileData {
  bool device = false;  ///< times are those of devices
  double total = 0;     ///< of each table
  double matched = 0;   ///< of it, time of kernels
  std::vector<ProfileKernel> kernels;
  std::array<std::vector<ProfileRow>, kProfileTables> tables;          ///< greatest time first
  std::map<ProfileNode, std::array<int, kProfileTables>> row_of_node;  ///< -1: in no row of that table

  const std::vector<ProfileRow>& by(ProfileBy by) const { return tables[static_cast<size_t>(by)]; }
};
using ProfilePtr = std::shared_ptr<const ProfileData>;

/// What can be shown: own runs of a program together, each imported profile, and all profiles if there are several.
struct ProfileRun {
  std::string title;
  std::vector<trace::Id> runs;
};
std::vector<ProfileRun> profile_choices(trace::Reader& reader);

ProfilePtr load_profile(trace::Reader& reader, const std::vector<trace::Id>& runs);

/// Name, kind, graph, calls, total, mean, share, bytes, GB/s, Gflop/s; by kernel also what it was made of.
QStringList profile_headers(ProfileBy by);
std::vector<TableRow> profile_table(const ProfileData& profile, ProfileBy by);

/// One line about the whole of it.
QString profile_summary(const ProfileData& profile);

}  // namespace strata::studio
