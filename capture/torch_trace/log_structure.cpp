// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_trace/log_structure.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace strata::capture {
namespace {

class Grouping {
 public:
  Grouping(const LogFile& file, LogStructure& out) : file_(file), out_(out) {}

  void run() {
    const auto& records = file_.records();
    out_.places.resize(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      out_.places[i].what = classify(records[i]);
      if (records[i].has_compile_id()) note(i);
    }
    for (std::size_t i = 0; i < records.size(); ++i) assign(i);
    for (LogCompile& c : out_.compiles) {
      for (LogAttempt& a : c.attempts) find_roles(a);
    }
  }

 private:
  void note(std::size_t i) {
    const LogRecord& r = file_.records()[i];
    const std::int64_t pid = pid_of(r.head.ident);
    auto [found, fresh] = index_.try_emplace({pid, r.compile_id()}, static_cast<int>(out_.compiles.size()));
    if (!fresh && starts_again(i, found->second)) {
      found->second = static_cast<int>(out_.compiles.size());
      fresh = true;
    }
    if (fresh) {
      LogCompile& c = out_.compiles.emplace_back();
      c.round = rounds_[pid];
      c.pid = pid;
      c.id = found->first.second;
      c.frame = r.frame;
      c.compile = r.compile;
      c.autograd = r.autograd;
      // A compile of which no record says the attempt was not started over.
      c.attempts.emplace_back();
      implied_.push_back(true);
    }
    out_.places[i].compile = found->second;
    if (out_.places[i].what.kind == RecordKind::Start) started_.insert({found->second, r.attempt.value_or(0)});
    if (!r.attempt) return;
    auto& attempts = out_.compiles[static_cast<std::size_t>(found->second)].attempts;
    if (std::vector<bool>::reference implied = implied_[static_cast<std::size_t>(found->second)]; implied) {
      attempts[0].number = *r.attempt;
      implied = false;
      return;
    }
    const auto at = std::lower_bound(attempts.begin(), attempts.end(), *r.attempt,
                                     [](const LogAttempt& a, std::int64_t number) { return a.number < number; });
    if (at != attempts.end() && at->number == *r.attempt) return;
    attempts.insert(at, LogAttempt{*r.attempt, {}});
  }

  /// Whether a record begins a compile whose number another one had: PyTorch's numbers start again when it is reset.
  bool starts_again(std::size_t i, int compile) {
    const LogRecord& r = file_.records()[i];
    if (out_.places[i].what.kind != RecordKind::Start || !started_.contains({compile, r.attempt.value_or(0)}))
      return false;
    int& round = rounds_[pid_of(r.head.ident)];
    round = std::max(round, out_.compiles[static_cast<std::size_t>(compile)].round + 1);
    return true;
  }

  void assign(std::size_t i) {
    LogPlace& place = out_.places[i];
    if (place.compile < 0) return;
    auto& attempts = out_.compiles[static_cast<std::size_t>(place.compile)].attempts;
    place.attempt = static_cast<int>(attempts.size()) - 1;
    if (const auto number = file_.records()[i].attempt) {
      const auto at = std::lower_bound(attempts.begin(), attempts.end(), *number,
                                       [](const LogAttempt& a, std::int64_t n) { return a.number < n; });
      place.attempt = static_cast<int>(at - attempts.begin());
    }
    attempts[static_cast<std::size_t>(place.attempt)].records.push_back(i);
  }

  LogPlace& place(std::size_t record) { return out_.places[record]; }

  static bool post_grad(const LogPlace& p) {
    return p.what.kind == RecordKind::Graph &&
           (p.what.place == GraphPlace::PostBefore || p.what.place == GraphPlace::PostAfter);
  }

  // The text says the role of newer code; older code is told by what graphs there are and by order.
  std::string role_of(std::size_t record, const LogAttempt& attempt, bool forward_done) {
    std::string_view payload = file_.records()[record].payload;
    if (payload.starts_with('\t')) payload.remove_prefix(1);
    if (const std::string_view role = role_of_code(payload); !role.empty()) return std::string(role);
    return guess_role(attempt, forward_done);
  }

  std::string guess_role(const LogAttempt& attempt, bool forward_done) {
    bool backward = false, forward = false;
    for (const std::size_t r : attempt.records) {
      backward |= place(r).what.place == GraphPlace::Backward || place(r).what.stage == "joint";
      forward |= place(r).what.place == GraphPlace::Forward;
    }
    if (backward && forward) return forward_done ? "backward" : "forward";
    return "inference";
  }

  void find_roles(LogAttempt& attempt) {
    std::vector<std::size_t> codes, waiting;
    bool forward_done = false;
    for (const std::size_t r : attempt.records) {
      if (post_grad(place(r))) waiting.push_back(r);
      if (place(r).what.kind != RecordKind::OutputCode) continue;
      place(r).role = role_of(r, attempt, forward_done);
      forward_done |= place(r).role == "forward";
      codes.push_back(r);
      for (const std::size_t graph : std::exchange(waiting, {})) {
        place(graph).role = place(r).role;
        place(graph).code = static_cast<std::int64_t>(r);
      }
    }
    for (const std::size_t graph : waiting) place(graph).role = guess_role(attempt, forward_done);
    for (const std::size_t r : attempt.records) find_program(r, attempt, codes);
  }

  void find_program(std::size_t r, const LogAttempt& attempt, const std::vector<std::size_t>& codes) {
    LogPlace& p = place(r);
    if (p.what.kind != RecordKind::Graph) return;
    switch (p.what.place) {
      case GraphPlace::Forward:
        // Until May 2024 graphs for inference had this key too.
        p.role = guess_role(attempt, false);
        break;
      case GraphPlace::Backward:
        p.role = "backward";
        break;
      case GraphPlace::Inference:
        p.role = "inference";
        break;
      default:
        return;
    }
    std::size_t same = 0;
    std::int64_t next = kNoIndex;
    for (const std::size_t code : codes) {
      if (place(code).role != p.role) continue;
      ++same;
      if (next < 0 && code > r) next = static_cast<std::int64_t>(code);
    }
    // Backward programs of several buckets are compiled in another order than their graphs are logged.
    if (same == 1 || p.role != "backward") p.code = next;
  }

  const LogFile& file_;
  LogStructure& out_;
  std::map<std::pair<std::int64_t, std::string>, int> index_;
  std::vector<bool> implied_;
  std::set<std::pair<int, std::int64_t>> started_;  ///< compile, attempt
  std::map<std::int64_t, int> rounds_;              ///< by pid
};

}  // namespace

std::int64_t pid_of(std::int64_t ident) { return ident > 0 && ident <= (std::int64_t{1} << 32) ? ident : 0; }

LogStructure structure_of(const LogFile& file) {
  LogStructure out;
  Grouping(file, out).run();
  return out;
}

}  // namespace strata::capture
