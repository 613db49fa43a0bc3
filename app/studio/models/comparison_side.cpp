// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/comparison_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace strata::studio {

using namespace trace;

namespace {

/// Single runs are offered up to this many of one program: nobody chooses from thousands.
constexpr size_t kMostSingleRuns = 40;

bool shows_compiled_code(Reader& reader, Id run) {
  for (const EventSum& s : reader.event_sums(run))
    if (s.program != kNone || s.name.starts_with("## Call CompiledFxGraph") ||
        s.name.starts_with("Torch-Compiled Region"))
      return true;
  return false;
}

std::map<Id, std::int64_t> ranks_of_processes(Reader& reader) {
  std::map<Id, std::int64_t> ranks;
  for (const ProcessRecord& p : reader.processes()) ranks[p.id] = p.rank;
  return ranks;
}

class Lister {
 public:
  explicit Lister(Reader& reader) : reader_(reader), ranks_(ranks_of_processes(reader)) {}

  SideChoices list() {
    compiles();
    runs();
    for (const auto& [process, rank] : ranks_)
      if (rank >= 0) out_.ranks.push_back(rank);
    std::sort(out_.ranks.begin(), out_.ranks.end());
    out_.ranks.erase(std::unique(out_.ranks.begin(), out_.ranks.end()), out_.ranks.end());
    return std::move(out_);
  }

 private:
  void compiles() {
    std::map<Id, FrameRecord> frames;
    for (FrameRecord& f : reader_.frames()) frames[f.id] = std::move(f);
    std::set<Id> again;
    for (const RecompileRecord& r : reader_.recompiles()) again.insert(r.compile);
    for (CompileRecord& c : reader_.compiles()) {
      addresses_[c.id] = c.address;
      if (c.outcome == "restarted") continue;
      CompileChoice choice;
      choice.title = c.address + (c.name.empty() ? "" : " " + c.name);
      if (again.contains(c.id)) choice.title += ", recompiled";
      if (const auto f = frames.find(c.frame); f != frames.end())
        choice.frame = fmt::format("{}:{}:{}:{}", f->second.process, f->second.file, f->second.line, f->second.name);
      else
        choice.frame = fmt::format("{}:{}:{}:{}", c.process, c.prefix, c.frame_number, c.name);
      for (SnapshotRecord& s : reader_.snapshots(c.id))
        if (s.kind == SnapshotKind::Graph) choice.graphs.push_back(std::move(s));
      choice.record = std::move(c);
      out_.compiles.push_back(std::move(choice));
    }
  }

  void runs() {
    std::map<std::pair<std::string, Id>, std::vector<RunRecord>> own;
    std::vector<std::pair<std::string, Id>> order;
    size_t profiles = 0;
    for (const RunRecord& run : reader_.runs()) {
      if (run.label == "compile") continue;
      if (run.label == "profile") {
        add_profile(run, ++profiles);
        continue;
      }
      auto& list = own[{run.label, run.compile}];
      if (list.empty()) order.emplace_back(run.label, run.compile);
      list.push_back(run);
    }
    std::map<Id, size_t> groups_of_compile;
    for (const auto& key : order) ++groups_of_compile[key.second];
    for (const auto& key : order) add_own(own[key], groups_of_compile[key.second] == 1);
    for (const auto& key : order) add_singles(own[key]);
  }

  std::string ranked(std::string title, Id process, std::int64_t& rank) const {
    const auto found = ranks_.find(process);
    rank = found == ranks_.end() ? -1 : found->second;
    return rank < 0 ? title : title + fmt::format(", rank {}", rank);
  }

  void add_profile(const RunRecord& run, size_t number) {
    RunChoice choice;
    choice.profile = true;
    choice.compiled = shows_compiled_code(reader_, run.id);
    choice.label = choice.compiled ? "compiled" : "eager";
    choice.title = ranked(fmt::format("{} (profile {})", choice.label, number), run.process, choice.rank);
    choice.runs = {run.id};
    out_.runs.push_back(std::move(choice));
  }

  std::string own_title(const RunRecord& run) const {
    std::string title = run.label.empty() ? "run" : run.label;
    if (const auto at = addresses_.find(run.compile); at != addresses_.end()) title += " of " + at->second;
    return title;
  }

  void add_own(const std::vector<RunRecord>& runs, bool whole) {
    RunChoice choice;
    choice.label = runs.front().label.empty() ? "run" : runs.front().label;
    choice.compile = runs.front().compile;
    choice.whole = whole && choice.compile != kNone;
    choice.title = ranked(own_title(runs.front()), runs.front().process, choice.rank);
    if (runs.size() > 1) choice.title += fmt::format(", {} runs", runs.size());
    for (const RunRecord& run : runs) choice.runs.push_back(run.id);
    out_.runs.push_back(std::move(choice));
  }

  void add_singles(const std::vector<RunRecord>& runs) {
    if (runs.size() < 2) return;
    for (size_t i = 0; i < std::min(runs.size(), kMostSingleRuns); ++i) {
      RunChoice choice;
      choice.label = fmt::format("run {}", i + 1);
      choice.compile = runs[i].compile;
      choice.single = true;
      choice.title = ranked(fmt::format("{}, run {}", own_title(runs[i]), i + 1), runs[i].process, choice.rank);
      choice.runs = {runs[i].id};
      out_.runs.push_back(std::move(choice));
    }
  }

  Reader& reader_;
  std::map<Id, std::int64_t> ranks_;
  std::map<Id, std::string> addresses_;
  SideChoices out_;
};

template <typename List, typename Test>
int find_in(const List& list, const Test& test) {
  const auto at = std::find_if(list.begin(), list.end(), test);
  return at == list.end() ? -1 : static_cast<int>(at - list.begin());
}

std::pair<int, int> runs_of_one(const SideChoices& c) {
  const int eager = find_in(c.runs, [](const RunChoice& r) { return r.profile && !r.compiled; });
  const int compiled = find_in(c.runs, [](const RunChoice& r) { return r.profile && r.compiled; });
  if (eager >= 0 && compiled >= 0) return {eager, compiled};
  const auto single = [](const RunChoice& r) { return r.single; };
  const int n = static_cast<int>(c.runs.size()), first = find_in(c.runs, single);
  const int groups = first < 0 ? n : first;
  // One program that ran several times: its first run, which may warm up, and its last.
  if (groups == 1 && first >= 0) return {first, n - 1};
  return {n > 0 ? 0 : -1, n > 1 ? 1 : n - 1};
}

std::pair<int, int> runs_of_two(const SideChoices& a, const SideChoices& b) {
  const int eager = find_in(a.runs, [](const RunChoice& r) { return r.profile && !r.compiled; });
  const int compiled = find_in(b.runs, [](const RunChoice& r) { return r.profile && r.compiled; });
  if (eager >= 0 && compiled >= 0) return {eager, compiled};
  return {a.runs.empty() ? -1 : 0, b.runs.empty() ? -1 : 0};
}

bool usable(const CompileChoice& c) { return !c.graphs.empty(); }

/// The compile shown and the one before it of its frame (or the one after the first); else two of any frame.
std::pair<int, int> compiles_of_one(const SideChoices& c, Id shown) {
  const auto chain_of = [&](const std::string& frame) {
    std::vector<int> chain;
    for (size_t i = 0; i < c.compiles.size(); ++i)
      if (c.compiles[i].frame == frame && usable(c.compiles[i])) chain.push_back(static_cast<int>(i));
    return chain;
  };
  const int at = find_in(c.compiles, [&](const CompileChoice& x) { return x.record.id == shown; });
  if (at >= 0) {
    const auto chain = chain_of(c.compiles[static_cast<size_t>(at)].frame);
    const auto here = std::find(chain.begin(), chain.end(), at);
    if (here != chain.end() && chain.size() > 1)
      return here == chain.begin() ? std::pair{chain[0], chain[1]} : std::pair{*(here - 1), *here};
  }
  for (const CompileChoice& x : c.compiles)
    if (const auto chain = chain_of(x.frame); chain.size() > 1) return {chain[0], chain[1]};
  const int first = find_in(c.compiles, usable);
  const int best = at >= 0 && usable(c.compiles[static_cast<size_t>(at)]) ? at : first;
  if (best >= 0) return {best, best};
  return {c.compiles.empty() ? -1 : 0, c.compiles.empty() ? -1 : 0};
}

std::pair<int, int> compiles_of_two(const SideChoices& a, const SideChoices& b, Id shown) {
  int from = find_in(a.compiles, [&](const CompileChoice& x) { return x.record.id == shown && usable(x); });
  if (from < 0) from = find_in(a.compiles, usable);
  if (from < 0) from = a.compiles.empty() ? -1 : 0;
  if (b.compiles.empty()) return {from, -1};
  int to = -1;
  if (from >= 0)
    to = find_in(b.compiles, [&](const CompileChoice& x) {
      return x.record.address == a.compiles[static_cast<size_t>(from)].record.address;
    });
  if (to < 0) to = find_in(b.compiles, usable);
  return {from, std::max(to, 0)};
}

std::pair<int, int> ranks_of(const SideChoices& a, const SideChoices& b, bool same) {
  const int n = static_cast<int>(b.ranks.size());
  if (same) return {n > 0 ? 0 : -1, n > 1 ? 1 : n - 1};
  if (a.ranks.empty() || b.ranks.empty()) return {a.ranks.empty() ? -1 : 0, n > 0 ? 0 : -1};
  const int other = find_in(b.ranks, [&](std::int64_t r) { return r != a.ranks.front(); });
  return {0, std::max(other, 0)};
}

}  // namespace

SideChoices load_choices(Reader& reader) { return Lister(reader).list(); }

bool has_eager_and_compiled(Reader& reader) {
  bool eager = false, compiled = false;
  std::vector<Id> profiles;
  for (const RunRecord& run : reader.runs())
    if (run.label == "profile") profiles.push_back(run.id);
  if (profiles.size() < 2) return false;
  for (const Id run : profiles) (shows_compiled_code(reader, run) ? compiled : eager) = true;
  return eager && compiled;
}

std::pair<int, int> suggest_stages(const SideChoices& a, int compile_a, const SideChoices& b, int compile_b,
                                   bool same) {
  if (compile_a < 0 || compile_b < 0) return {-1, -1};
  const auto& from = a.compiles[static_cast<size_t>(compile_a)].graphs;
  const auto& to = b.compiles[static_cast<size_t>(compile_b)].graphs;
  if (from.empty() || to.empty()) return {from.empty() ? -1 : 0, to.empty() ? -1 : 0};
  if (same && compile_a == compile_b) return {0, static_cast<int>(to.size()) - 1};
  // What one compiler captures of Python another sees after lowering to the same operators.
  const auto lowered = [](const auto& graphs) {
    return find_in(graphs, [](const SnapshotRecord& s) { return s.stage == "inference" || s.stage == "joint"; });
  };
  const int low_from = lowered(from), low_to = lowered(to);
  if ((low_from < 0) != (low_to < 0)) {
    const auto own = [](const auto& graphs) {
      const int at = find_in(graphs, [](const SnapshotRecord& s) { return s.stage == "functional"; });
      return std::max(at, 0);
    };
    return {low_from < 0 ? own(from) : low_from, low_to < 0 ? own(to) : low_to};
  }
  const int match = find_in(to, [&](const SnapshotRecord& s) { return s.stage == from.front().stage; });
  return {0, std::max(match, 0)};
}

std::pair<SideIndex, SideIndex> suggest_sides(const SideChoices& a, const SideChoices& b, bool same, Id shown) {
  SideIndex x, y;
  std::tie(x.run, y.run) = same ? runs_of_one(a) : runs_of_two(a, b);
  std::tie(x.compile, y.compile) = same ? compiles_of_one(a, shown) : compiles_of_two(a, b, shown);
  std::tie(x.stage, y.stage) = suggest_stages(a, x.compile, b, y.compile, same);
  std::tie(x.rank, y.rank) = ranks_of(a, b, same);
  return {x, y};
}

}  // namespace strata::studio
