// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The work of `correlate` on one profile, in steps.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/correlate.h"
#include "profiler/correlate_programs.h"
#include "profiler/event_tree.h"

namespace strata::profiler {

class RunMatcher {
 public:
  RunMatcher(trace::Reader& reader, const KnownPrograms& programs, const trace::RunRecord& run);

  using Sink = std::function<void(std::span<const trace::EventMatch>)>;
  /// Does everything; call once. `sink` gets what the events turned out to be, some thousands at a time.
  RunCorrelation match(Sink sink);

 private:
  /// What the name of a host event says; found once per name.
  enum class Role : std::uint8_t { Plain, Program, Compiled, Forward, Backward, Optimizer, Overhead, Compiling };
  struct Name {
    Role role = Role::Plain;
    std::string detail;  ///< the program's key or the compile's address
  };
  static Name name_of(const std::string& text);

  /// One execution of compiled code on the host.
  struct Region {
    std::uint32_t event = 0;
    int program = -1;
    trace::Id compile = trace::kNone;
    bool exact = false;
    bool graph = false;  ///< it replays a CUDA graph
    std::string why;     ///< no program: why
    /// Found by kernel names, without an event around it: the events that belong to it.
    std::vector<std::uint32_t> members;
  };
  /// An event that may be a launch, and what became of it.
  struct Unit {
    std::uint32_t event = 0;
    int device = -1;  ///< a kernel of a CUDA graph: index into the device events
    int region = -1;
    int launch = -1;
    bool exact = false;
    bool direct = false;  ///< a call into the driver without an operator around it
  };

  void find_regions();
  void find_named_regions();
  void find_backward_regions();
  trace::Id compile_of_backward(std::uint32_t event);
  int backward_of(std::uint32_t event);
  void find_regions_by_kernels();
  std::vector<std::uint32_t> members_around(const KnownProgram& program, std::uint32_t begin, std::uint32_t first,
                                            std::uint32_t last, std::uint32_t end) const;
  std::int64_t unix_time(std::int64_t time_ns) const;  ///< -1 where the run has another clock
  trace::Id compile_around(std::uint32_t event) const;
  bool while_compiling(std::uint32_t event) const;
  bool without_key(int program) const;
  void resolve(Region& region, const Name& name);
  void cover(int region);

  void find_units(int region);
  void add_unit(const Unit& unit) { units_.push_back(unit); }
  bool may_hold_launches(const KnownProgram& program, std::uint32_t event) const;
  bool expected(const KnownProgram& program, std::uint32_t name) const;
  void align_region(int region, size_t first_unit);

  void total_device();
  void total_host();
  struct Verdict {
    TimePart part = TimePart::Eager;
    std::string why;
    int region = -1;
    int unit = -1;
  };
  Verdict judge(const EventTree::Device& device, size_t index) const;
  Verdict judge_host(std::uint32_t launcher) const;
  void count(const Verdict& verdict, std::uint32_t name, std::int64_t ns);
  void emit_host_matches();
  trace::EventMatch match_of(trace::Id event, const Verdict& verdict) const;
  void emit(const trace::EventMatch& match);
  void flush();
  void finish_programs();
  std::string why_not_measured(const KnownProgram& program, const ProgramMeasured& measured) const;

  const KnownPrograms& programs_;
  trace::RunRecord run_;
  EventTree tree_;
  std::vector<Name> roles_;  ///< per name of the tree
  std::vector<Region> regions_;
  std::optional<std::map<std::int64_t, trace::Id>> forward_calls_;  ///< by sequence number
  std::vector<Unit> units_;
  std::vector<std::int32_t> region_of_, unit_of_;  ///< per host event: the innermost; -1 none
  std::vector<std::int32_t> unit_of_device_;       ///< per device event, for kernels of CUDA graphs
  std::map<std::pair<int, std::vector<std::uint64_t>>, std::vector<Aligned>> alignments_;
  mutable std::map<std::pair<trace::Id, std::uint32_t>, bool> expected_;
  std::map<int, ProgramMeasured> measured_;
  std::map<int, std::map<trace::Id, std::int64_t>> kernel_times_;  ///< per program
  std::map<std::tuple<TimePart, std::uint32_t, std::string>, PartTotal> unassigned_;
  std::vector<trace::EventMatch> matches_;  ///< not handed on yet
  Sink sink_;
  RunCorrelation result_;
};

}  // namespace strata::profiler
