// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/launch_align.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "profiler/library_groups.h"

namespace strata::profiler {
namespace {

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// `aoti_torch_cuda_mm_out` -> `mm`.
std::string_view c_interface_name(std::string_view callee) {
  for (const std::string_view device : {"cpu_", "cuda_", "xpu_", "mps_"}) {
    const std::string prefix = "aoti_torch_" + std::string(device);
    if (!callee.starts_with(prefix)) continue;
    std::string_view name = callee.substr(prefix.size());
    if (name.ends_with("_out")) name.remove_suffix(4);
    return name;
  }
  return {};
}

std::string_view after_namespace(std::string_view name) {
  const size_t at = name.rfind("::");
  return at == name.npos ? name : name.substr(at + 2);
}

/// `NAME:7` -> `NAME`: a provenance handle.
std::string_view without_handle(std::string_view name) {
  const size_t colon = name.rfind(':');
  if (colon == name.npos || colon == 0 || colon + 1 == name.size() || name[colon - 1] == ':') return name;
  const auto digits = name.substr(colon + 1);
  return std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); })
             ? name.substr(0, colon)
             : name;
}

/// C++ kernels are profiled as `graph_0_NAME`.
bool loop_fits(std::string_view event, std::string_view kernel) {
  kernel = without_handle(kernel);
  if (event == kernel) return true;
  if (!event.ends_with(kernel) || event.size() < kernel.size() + 8 || !event.starts_with("graph_")) return false;
  const std::string_view number = event.substr(6, event.size() - kernel.size() - 6);
  return number.size() >= 2 && number.back() == '_' &&
         std::all_of(number.begin(), number.end() - 1, [](unsigned char c) { return std::isdigit(c); });
}

bool operator_fits(std::string_view event, std::string_view expected) {
  if (event == expected) return true;
  return expected.starts_with("*::") && event.find("::") != event.npos && after_namespace(event) == expected.substr(3);
}

/// For each event the launches it can be, as classes: launches of one name are one class.
struct Classes {
  std::vector<int> of_launch;
  std::vector<ExpectedLaunch> representatives;
  std::map<std::string_view, std::vector<int>> known;

  explicit Classes(const std::vector<ExpectedLaunch>& launches) {
    std::map<std::pair<std::string_view, bool>, int> ids;
    for (const ExpectedLaunch& l : launches) {
      const auto [it, fresh] =
          ids.emplace(std::pair(std::string_view(l.name), l.library), static_cast<int>(ids.size()));
      if (fresh) representatives.push_back(l);
      of_launch.push_back(it->second);
    }
  }
  const std::vector<int>& of(std::string_view name) {
    const auto [it, fresh] = known.try_emplace(name);
    if (fresh)
      for (size_t c = 0; c < representatives.size(); ++c)
        if (fits(name, representatives[c])) it->second.push_back(static_cast<int>(c));
    return it->second;
  }
};

/// Pairs of the heaviest common subsequence of `a` (classes per event) and `b` (class per launch).
class Subsequence {
 public:
  Subsequence(const std::vector<const std::vector<int>*>& a, const std::vector<int>& weights, const std::vector<int>& b)
      : a_(a), weights_(weights), b_(b) {}

  std::vector<int> pairs() {
    result_.assign(a_.size(), -1);
    size_t begin = 0, end_a = a_.size(), end_b = b_.size();
    while (begin < end_a && begin < end_b && same(begin, begin)) {
      result_[begin] = static_cast<int>(begin);
      ++begin;
    }
    while (end_a > begin && end_b > begin && same(end_a - 1, end_b - 1)) result_[--end_a] = static_cast<int>(--end_b);
    const size_t cells = (end_a - begin + 1) * (end_b - begin + 1);
    if (end_a > begin && end_b > begin) cells <= kMostCells ? middle(begin, end_a, end_b) : greedy(begin, end_a, end_b);
    return result_;
  }

 private:
  static constexpr size_t kMostCells = 16'000'000;

  bool same(size_t i, size_t j) const { return std::find(a_[i]->begin(), a_[i]->end(), b_[j]) != a_[i]->end(); }

  void middle(size_t begin, size_t end_a, size_t end_b) {
    const size_t width = end_b - begin + 1;
    std::vector<std::int32_t> best((end_a - begin + 1) * width, 0);
    const auto at = [&](size_t i, size_t j) -> std::int32_t& { return best[(i - begin) * width + (j - begin)]; };
    for (size_t i = end_a; i-- > begin;)
      for (size_t j = end_b; j-- > begin;) {
        at(i, j) = std::max(at(i + 1, j), at(i, j + 1));
        if (same(i, j)) at(i, j) = std::max(at(i, j), at(i + 1, j + 1) + weights_[i]);
      }
    for (size_t i = begin, j = begin; i < end_a && j < end_b;) {
      if (same(i, j) && at(i, j) == at(i + 1, j + 1) + weights_[i]) {
        result_[i++] = static_cast<int>(j++);
      } else if (at(i + 1, j) >= at(i, j + 1)) {
        ++i;
      } else {
        ++j;
      }
    }
  }

  /// Sequences too long for a table: each event takes the next launch that fits.
  void greedy(size_t begin, size_t end_a, size_t end_b) {
    size_t next = begin;
    for (size_t i = begin; i < end_a; ++i)
      for (size_t j = next; j < end_b; ++j)
        if (same(i, j)) {
          result_[i] = static_cast<int>(j);
          next = j + 1;
          break;
        }
  }

  const std::vector<const std::vector<int>*>& a_;
  const std::vector<int>& weights_;
  const std::vector<int>& b_;
  std::vector<int> result_;
};

/// A class is complete when all its launches were seen and every event that fits it is one of them.
std::vector<bool> complete_classes(const std::vector<const std::vector<int>*>& events, const std::vector<int>& pairs,
                                   const Classes& classes) {
  std::vector<int> launches(classes.representatives.size()), seen(launches), candidates(launches);
  for (int c : classes.of_launch) ++launches[static_cast<size_t>(c)];
  for (size_t i = 0; i < events.size(); ++i) {
    if (pairs[i] >= 0) ++seen[static_cast<size_t>(classes.of_launch[static_cast<size_t>(pairs[i])])];
    if (pairs[i] < 0)
      for (int c : *events[i]) ++candidates[static_cast<size_t>(c)];
  }
  std::vector<bool> complete;
  for (size_t c = 0; c < launches.size(); ++c) complete.push_back(launches[c] == seen[c] && candidates[c] == 0);
  return complete;
}

/// Kernels of a CUDA graph between two known ones belong to the library calls that stand between those two in the
/// program, when there is one such call, as many kernels as calls, or one way to divide them.
void fill_gaps(const std::vector<Observed>& observed, const std::vector<ExpectedLaunch>& launches,
               std::vector<Aligned>& result) {
  for (size_t begin = 0; begin < observed.size();) {
    if (result[begin].launch >= 0 || !observed[begin].replayed) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < observed.size() && result[end].launch < 0 && observed[end].replayed) ++end;
    // The known launches around; what is neither known nor of a graph is no call of the program and may stand between.
    size_t before = begin, after = end;
    while (before > 0 && result[before - 1].launch < 0 && !observed[before - 1].replayed) --before;
    while (after < observed.size() && result[after].launch < 0 && !observed[after].replayed) ++after;
    const bool anchored =
        (before == 0 || result[before - 1].launch >= 0) && (after == observed.size() || result[after].launch >= 0);
    const size_t first = before == 0 ? 0 : static_cast<size_t>(result[before - 1].launch + 1);
    const size_t last =
        after == observed.size() ? launches.size() : static_cast<size_t>(std::max(result[after].launch, 0));
    std::vector<int> calls;
    for (size_t j = first; anchored && j < last; ++j)
      if (launches[j].library) calls.push_back(static_cast<int>(j));
    if (calls.size() == 1 || calls.size() == end - begin) {
      for (size_t i = begin; i < end; ++i) result[i].launch = calls.size() == 1 ? calls[0] : calls[i - begin];
    } else if (!calls.empty()) {
      std::vector<std::string_view> kernels, callees;
      for (size_t i = begin; i < end; ++i) kernels.push_back(observed[i].name);
      for (int call : calls) callees.push_back(launches[static_cast<size_t>(call)].name);
      const std::vector<int> owner = divide_among_calls(kernels, callees);
      for (size_t i = 0; i < owner.size(); ++i) result[begin + i].launch = calls[static_cast<size_t>(owner[i])];
    }
    begin = end;
  }
}

/// More runs of a kernel than the program has launches of it, which is one: a loop around it.
void repeat_single_launches(const std::vector<Observed>& observed, const std::vector<const std::vector<int>*>& events,
                            const std::vector<size_t>& place, const Classes& classes, std::vector<Aligned>& result) {
  std::vector<int> launch(classes.representatives.size(), -1), count(launch.size(), 0);
  for (size_t j = 0; j < classes.of_launch.size(); ++j) {
    const auto c = static_cast<size_t>(classes.of_launch[j]);
    launch[c] = static_cast<int>(j);
    ++count[c];
  }
  for (size_t i = 0; i < events.size(); ++i) {
    const auto c = static_cast<size_t>(events[i]->front());
    const Observed& o = observed[place[i]];
    if (result[place[i]].launch >= 0 || o.replayed || o.bare) continue;
    if (!classes.representatives[c].library && count[c] == 1) result[place[i]].launch = launch[c];
  }
}

}  // namespace

std::vector<std::string> operator_names(std::string_view callee) {
  if (const std::string_view name = c_interface_name(callee); !name.empty()) return {"*::" + std::string(name)};
  std::vector<std::string_view> parts = words(callee);
  if (parts.size() > 2 && parts[0] == "torch" && parts[1] == "ops") parts.erase(parts.begin(), parts.begin() + 2);
  const auto any = [](std::string_view name) { return "*::" + std::string(name); };
  if (parts[0] == "extern_kernels" && parts.size() > 1) {
    if (parts[1] == "bias_addmm") return {any("addmm")};
    if (parts[1] == "_mm_plus_mm" || parts[1] == "mm_plus_mm") return {any("_mm_plus_mm"), any("mm"), any("addmm")};
    return {any(parts.back())};
  }
  if (parts.size() == 1) return {any(parts[0])};
  if (parts[0].starts_with("buf") || parts[0].starts_with("arg")) return {any(parts.back())};
  return {std::string(parts[0]) + "::" + std::string(parts[1])};
}

bool fits(std::string_view event, const ExpectedLaunch& launch) {
  if (!launch.library) return loop_fits(event, launch.name);
  const auto names = operator_names(launch.name);
  return event == launch.name ||
         std::any_of(names.begin(), names.end(), [&](const std::string& n) { return operator_fits(event, n); });
}

std::vector<Aligned> align(const std::vector<Observed>& observed, const std::vector<ExpectedLaunch>& launches) {
  Classes classes(launches);
  std::vector<const std::vector<int>*> events;
  std::vector<int> weights;
  std::vector<size_t> place;  // of each candidate among the observed
  for (size_t i = 0; i < observed.size(); ++i) {
    const std::vector<int>& possible = classes.of(observed[i].name);
    if (possible.empty()) continue;
    const bool library = classes.representatives[static_cast<size_t>(possible[0])].library;
    if (library && observed[i].replayed) continue;
    events.push_back(&possible);
    weights.push_back(library ? (observed[i].device_work ? 2 : 1) : 4);
    place.push_back(i);
  }
  const std::vector<int> pairs = Subsequence(events, weights, classes.of_launch).pairs();
  const std::vector<bool> complete = complete_classes(events, pairs, classes);
  std::vector<Aligned> result(observed.size());
  for (size_t i = 0; i < pairs.size(); ++i)
    if (pairs[i] >= 0)
      result[place[i]] = {pairs[i], complete[static_cast<size_t>(classes.of_launch[static_cast<size_t>(pairs[i])])]};
  repeat_single_launches(observed, events, place, classes, result);
  fill_gaps(observed, launches, result);
  return result;
}

}  // namespace strata::profiler
