// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/cli/eager_diff_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/table.h"

namespace strata::cli {
namespace {

using profiler::EagerDiff;
using profiler::EagerPart;
using profiler::EagerRow;
using profiler::EagerSide;
using profiler::EagerTotals;

/// Less of the second: positive is saved.
std::string saved_text(double before, double after, std::string (*print_one)(double)) {
  const double saved = before - after;
  return saved < 0 ? "-" + print_one(-saved) : print_one(saved);
}

std::string count_text(double n) { return n == std::floor(n) ? fmt::format("{:.0f}", n) : fmt::format("{:.1f}", n); }

std::string parts_text(const EagerDiff& d, const EagerTotals& side, const std::vector<EagerPart>& parts, size_t most) {
  std::string text;
  for (size_t i = 0; i < parts.size() && i < most; ++i) {
    const double n = d.per(side, parts[i].count);
    text += (i > 0 ? ", " : "") + shortened(parts[i].name, 48) + (n == 1 || n == 0 ? "" : " x" + count_text(n));
  }
  if (parts.size() > most) text += fmt::format(", ... {} more", parts.size() - most);
  return text;
}

class Text {
 public:
  explicit Text(const EagerDiff& d) : d_(d), bytes_(d.first.bytes_known && d.second.bytes_known) {}

  std::string all(size_t most_rows) const {
    return headline() + "\n" + table(most_rows) + slower() + overhead() + tensor_cores() + notes();
  }

 private:
  double first(std::int64_t v) const { return d_.per(d_.first, v); }
  double second(std::int64_t v) const { return d_.per(d_.second, v); }
  const char* unit() const { return d_.per_iteration ? "per iteration" : "in all"; }
  const char* what() const { return d_.on_device ? "device time" : "operator time"; }

  static std::string times_faster(double a, double b) {
    if (a <= 0 || b <= 0) return "";
    return fmt::format(": {:.2f} times as fast", a / b);
  }
  static std::string iterations(const EagerTotals& t) {
    if (t.iterations == 0) return "no iterations found";
    return fmt::format("{} iteration{} by {}", t.iterations, t.iterations == 1 ? "" : "s", t.iteration_source);
  }

  std::string headline() const {
    std::string text;
    if (d_.per_iteration && d_.first.step > 0 && d_.second.step > 0) {
      const auto a = static_cast<double>(d_.first.step), b = static_cast<double>(d_.second.step);
      text += fmt::format("iteration: {} -> {}{}\n", time_text(a), time_text(b), times_faster(a, b));
    }
    const double a = first(d_.first.all.time), b = second(d_.second.all.time);
    text += fmt::format("{} {}: {} -> {}{}\n", what(), unit(), time_text(a), time_text(b), times_faster(a, b));
    text += fmt::format("{} {}: {} -> {}\n", d_.on_device ? "launches" : "operators that call no other", unit(),
                        count_text(first(d_.first.all.launches)), count_text(second(d_.second.all.launches)));
    text += fmt::format("first: {}; second: {}\n", iterations(d_.first), iterations(d_.second));
    return text;
  }

  std::string bytes(const EagerSide& a, const EagerSide& b) const {
    return bytes_ ? saved_text(first(a.bytes), second(b.bytes), bytes_text) : "n/a";
  }

  std::vector<std::string> cells(const std::string& key, const EagerRow& r) const {
    const double a = first(r.first.time), b = second(r.second.time);
    const bool unknown = r.not_measured;
    return {key,
            fmt::format("{} -> {}", count_text(first(r.first.launches)),
                        unknown ? "?" : count_text(second(r.second.launches))),
            time_text(a),
            unknown ? "not measured" : time_text(b),
            unknown ? "?" : saved_text(a, b, time_text),
            unknown ? "?" : bytes(r.first, r.second),
            replaced_text(r)};
  }

  /// Eager operators; for a kernel that shares them with another, which has them, what it is a part of.
  std::string replaced_text(const EagerRow& r) const {
    if (!r.operators.empty() || r.part_of.empty()) return parts_text(d_, d_.first, r.operators, 4);
    std::string text = "part of";
    for (size_t i = 0; i < r.part_of.size() && i < 4; ++i) text += (i == 0 ? " " : ", ") + r.part_of[i];
    return text + (r.part_of.size() > 4 ? ", ..." : "");
  }

  /// `model.py:12: code`, without the folder and the end of long code.
  static std::string line_text(const std::string& key) {
    const size_t colon = key.find(':');
    const size_t slash = key.rfind('/', colon);
    std::string text = slash == std::string::npos || colon == std::string::npos ? key : key.substr(slash + 1);
    if (text.size() <= 80) return text;
    size_t end = 77;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return text.substr(0, end) + "...";
  }

  std::string key_text(const EagerRow& r) const {
    const bool kernel = r.kind == "kernel" || r.kind == "library";
    std::string key = r.kind == "line" ? line_text(r.key) : shortened(r.key, 70);
    // Calls of one library function are told apart by the node.
    if (r.kind == "library" && r.nodes.size() == 1) key += " [" + r.nodes.front() + "]";
    if (kernel && !r.address.empty()) key = fmt::format("{}{}{} {}", r.address, r.role.empty() ? "" : " ", r.role, key);
    if (r.kind == "not compiled") key += " [not compiled]";
    return key + (r.inferred ? " *" : "") + (r.divided ? " ~" : "");
  }

  std::string table(size_t most_rows) const {
    static const char* const heads[] = {"kernel", "line", "module"};
    Table t({heads[static_cast<int>(d_.by)], "launches", ">before", ">after", ">saved", ">bytes saved", "replaced"});
    EagerRow rest;
    size_t shown = 0;
    bool inferred = false, divided = false;
    for (const EagerRow& r : d_.rows) {
      if (++shown > most_rows) {
        rest.first += r.first, rest.second += r.second;
        continue;
      }
      inferred |= r.inferred;
      divided |= r.divided;
      t.row(cells(key_text(r), r));
    }
    if (shown > most_rows) t.row(cells(fmt::format("({} more rows)", shown - most_rows), rest));
    t.rule();
    EagerRow total;
    total.first = d_.first.all, total.second = d_.second.all;
    t.row(cells("all", total));
    return t.text() + (inferred ? "* inferred from the order, names and shapes of operators\n" : "") +
           (divided ? "~ after: time of kernels that compute several of these, divided, or not for certain\n" : "") +
           known_text();
  }

  std::string known_text() const {
    std::int64_t known = 0;
    for (const EagerRow& r : d_.rows) known += r.known;
    if (known == 0 || d_.first.all.time <= 0) return "";
    const double share = static_cast<double>(known) / static_cast<double>(d_.first.all.time);
    return fmt::format("{} of the time before is placed by Python stacks\n", percent_text(share));
  }

  /// A kernel whose operators another kernel stands for: whether that is slower only both together say.
  static bool shares(const EagerRow& r) { return r.operators.empty() && !r.part_of.empty(); }

  std::string slower() const {
    std::vector<const EagerRow*> rows;
    const auto more = [this](const EagerRow& r) { return second(r.second.time) - first(r.first.time); };
    const double least = first(d_.first.all.time) / 1000;  // less is noise
    std::int64_t shared_time = 0, shared = 0;
    for (const EagerRow& r : d_.rows) {
      if (r.not_measured) continue;
      if (shares(r))
        shared_time += r.second.time, ++shared;
      else if (more(r) > least)
        rows.push_back(&r);
    }
    std::stable_sort(rows.begin(), rows.end(), [&](auto* a, auto* b) { return more(*a) > more(*b); });
    std::string text = rows.empty() ? "nothing else got slower\n" : "slower:\n";
    if (shared == 0 && rows.empty()) text = "nothing got slower\n";
    for (size_t i = 0; i < rows.size() && i < 10; ++i)
      text += fmt::format("  {} by {}: {} -> {}\n", key_text(*rows[i]), time_text(more(*rows[i])),
                          time_text(first(rows[i]->first.time)), time_text(second(rows[i]->second.time)));
    if (rows.size() > 10) text += fmt::format("  ... {} more\n", rows.size() - 10);
    if (shared == 0) return text;
    return fmt::format(
               "{} kernel{} more, {}: parts of operators that other kernels stand for above; --by line puts them "
               "together\n",
               shared, shared == 1 ? "" : "s", time_text(second(shared_time))) +
           text;
  }

  std::string overhead() const {
    if (!d_.on_device) return "";
    const auto one = [](const char* name, const EagerTotals& t, double calls, double time) {
      const double span = t.device_span > 0 ? static_cast<double>(t.device_span) : 1;
      return fmt::format("{}: {} launch calls, {} in them; device idle {} of {} ({}), {} gaps, longest {}\n", name,
                         count_text(calls), time_text(time), time_text(static_cast<double>(t.device_idle)),
                         time_text(static_cast<double>(t.device_span)),
                         percent_text(static_cast<double>(t.device_idle) / span), t.gaps,
                         time_text(static_cast<double>(t.longest_gap)));
    };
    return fmt::format("launches {}; idle time in all\n", unit()) +
           one("  first", d_.first, first(d_.first.launch_calls), first(d_.first.launch_time)) +
           one("  second", d_.second, second(d_.second.launch_calls), second(d_.second.launch_time));
  }

  std::string tensor_cores() const {
    if (!d_.on_device) return "";
    const auto share = [](const EagerTotals& t) {
      const auto all = static_cast<double>(t.tensor_core + t.no_tensor_core + t.tensor_core_unknown);
      if (all <= 0) return std::string("no kernels");
      return fmt::format("{} of kernel time on Tensor Cores, {} not, {} unknown",
                         percent_text(static_cast<double>(t.tensor_core) / all),
                         percent_text(static_cast<double>(t.no_tensor_core) / all),
                         percent_text(static_cast<double>(t.tensor_core_unknown) / all));
    };
    return fmt::format("Tensor Cores by kernel name\n  first: {}\n  second: {}\n", share(d_.first), share(d_.second));
  }

  std::string notes() const {
    std::string text;
    for (const std::string& note : d_.notes) text += "note: " + note + "\n";
    return text;
  }

  const EagerDiff& d_;
  bool bytes_;
};

Json side_json(const EagerSide& s, bool bytes) {
  return Json{
      JsonObject{{"time_ns", json(s.time)}, {"launches", json(s.launches)}, {"bytes", bytes ? json(s.bytes) : Json{}}}};
}

Json parts_json(const std::vector<EagerPart>& parts) {
  JsonArray list;
  for (const EagerPart& p : parts)
    list.push_back(Json{JsonObject{{"name", json(p.name)}, {"count", json(p.count)}, {"time_ns", json(p.time)}}});
  return Json{std::move(list)};
}

Json totals_json(const EagerTotals& t) {
  return Json{JsonObject{{"total", side_json(t.all, t.bytes_known)},
                         {"iterations", json(t.iterations)},
                         {"iteration_source", json(t.iteration_source)},
                         {"iteration_ns", t.step < 0 ? Json{} : json(t.step)},
                         {"launch_calls", json(t.launch_calls)},
                         {"launch_call_ns", json(t.launch_time)},
                         {"device_span_ns", json(t.device_span)},
                         {"device_busy_ns", json(t.device_busy)},
                         {"device_idle_ns", json(t.device_idle)},
                         {"gaps", json(t.gaps)},
                         {"longest_gap_ns", json(t.longest_gap)},
                         {"tensor_core_ns", json(t.tensor_core)},
                         {"no_tensor_core_ns", json(t.no_tensor_core)},
                         {"tensor_core_unknown_ns", json(t.tensor_core_unknown)}}};
}

Json row_json(const EagerRow& r, const EagerDiff& d) {
  return Json{JsonObject{{"key", json(r.key)},
                         {"kind", json(r.kind)},
                         {"address", json(r.address)},
                         {"role", json(r.role)},
                         {"nodes", json_list(r.nodes)},
                         {"part_of", json_list(r.part_of)},
                         {"operators", parts_json(r.operators)},
                         {"before", parts_json(r.before)},
                         {"after", parts_json(r.after)},
                         {"first", side_json(r.first, d.first.bytes_known)},
                         {"second", r.not_measured ? Json{} : side_json(r.second, d.second.bytes_known)},
                         {"inferred", json(r.inferred)},
                         {"divided", json(r.divided)},
                         {"first_known_ns", json(r.known)}}};
}

}  // namespace

std::string eager_diff_text(const EagerDiff& diff, std::size_t most_rows) { return Text(diff).all(most_rows); }

Json eager_diff_json(const EagerDiff& d) {
  static const char* const by[] = {"kernel", "line", "module"};
  JsonArray rows;
  for (const EagerRow& r : d.rows) rows.push_back(row_json(r, d));
  return Json{JsonObject{{"by", json(by[static_cast<int>(d.by)])},
                         {"measured", json(d.on_device ? "device" : "host")},
                         {"per_iteration", json(d.per_iteration)},
                         {"first", totals_json(d.first)},
                         {"second", totals_json(d.second)},
                         {"slower_percent", json(d.slower_percent())},
                         {"rows", Json{std::move(rows)}},
                         {"notes", json_list(d.notes)}}};
}

}  // namespace strata::cli
