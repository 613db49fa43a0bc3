// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/studio/models/comparison_methods.h"
#include "profiler/compiled_graphs.h"
#include "profiler/eager_diff.h"
#include "profiler/op_names.h"

namespace strata::studio {

using profiler::EagerBy;
using profiler::EagerDiff;
using profiler::EagerPart;
using profiler::EagerRow;

namespace {

std::vector<trace::RunRecord> records(trace::Reader& reader, const std::vector<trace::Id>& runs) {
  std::vector<trace::RunRecord> all = reader.runs();
  std::erase_if(all, [&](const auto& run) { return std::find(runs.begin(), runs.end(), run.id) == runs.end(); });
  return all;
}

bool is_kernel(const EagerRow& r) { return r.kind == "kernel" || r.kind == "library"; }

/// `aten::linear x2, aten::add`.
std::string operators_text(const EagerRow& r) {
  constexpr size_t most = 6;
  std::string text;
  if (r.operators.empty())
    for (size_t i = 0; i < std::min(r.part_of.size(), most); ++i) text += (i ? ", " : "part of ") + r.part_of[i];
  for (size_t i = 0; i < std::min(r.operators.size(), most); ++i) text += (i ? ", " : "") + r.operators[i].name;
  return text + (std::max(r.operators.size(), r.part_of.size()) > most ? ", …" : "");
}

/// Where the captured calls of the compiled trace are, by the text that rows of lines and modules have.
class Places {
 public:
  explicit Places(trace::Reader& reader) {
    profiler::CompiledGraphs graphs(reader);
    for (const auto& compile : graphs.compiles())
      if (const auto* graph = graphs.graph(compile.id))
        for (const profiler::CapturedCall& call : graph->calls) add(call);
  }
  ComparePlace find(EagerBy by, const std::string& key) const {
    const auto& places = by == EagerBy::Line ? lines_ : modules_;
    const auto at = places.find(key);
    return at == places.end() ? ComparePlace() : at->second;
  }

 private:
  void add(const profiler::CapturedCall& call) {
    lines_.try_emplace(call.line, ComparePlace{call.compile, trace::kNone, call.node, call.at.file, call.at.line});
    modules_.try_emplace(call.module, ComparePlace{call.compile, trace::kNone, call.node, {}, 0});
  }
  std::map<std::string, ComparePlace> lines_, modules_;
};

class EagerComparison {
 public:
  EagerComparison(const CompareSide& eager, const CompareSide& compiled, const std::function<bool()>& stop)
      : eager_(eager), compiled_(compiled), stop_(stop), places_(*compiled.reader) {}

  ProfileComparison make() {
    static constexpr std::pair<EagerBy, ProfileBy> kTables[] = {
        {EagerBy::Kernel, ProfileBy::Kernel}, {EagerBy::Line, ProfileBy::Line}, {EagerBy::Module, ProfileBy::Module}};
    const auto a = records(*eager_.reader, eager_.run->runs), b = records(*compiled_.reader, compiled_.run->runs);
    for (const auto& [by, table] : kTables) {
      if (stop_ && stop_()) return {};
      const EagerDiff d = profiler::diff_eager(*eager_.reader, a, *compiled_.reader, b, by);
      if (by == EagerBy::Kernel) {
        totals(d);
        add_operators(d);
      }
      for (const EagerRow& r : d.rows) out_.tables[static_cast<size_t>(table)].push_back(row(d, r));
    }
    return std::move(out_);
  }

 private:
  void totals(const EagerDiff& d) {
    out_.what = d.on_device ? "device time" : "operator time";
    out_.unit = d.per_iteration ? "per iteration" : "in all";
    out_.total_a = d.per(d.first, d.first.all.time);
    out_.total_b = d.per(d.second, d.second.all.time);
    out_.launches_a = d.per(d.first, d.first.all.launches);
    out_.launches_b = d.per(d.second, d.second.all.launches);
    if (d.per_iteration && d.first.step > 0 && d.second.step > 0) {
      out_.whole = "iteration";
      out_.whole_a = static_cast<double>(d.first.step);
      out_.whole_b = static_cast<double>(d.second.step);
    }
    out_.notes = d.notes;
  }

  CompareRow row(const EagerDiff& d, const EagerRow& r) {
    CompareRow out;
    out.key = is_kernel(r) && !r.nodes.empty() && r.kind == "library" ? fmt::format("{} [{}]", r.key, r.nodes.front())
                                                                      : r.key;
    out.kind = r.kind;
    out.detail = operators_text(r);
    out.a = d.per(d.first, r.first.time);
    out.b = d.per(d.second, r.second.time);
    out.launches_a = d.per(d.first, r.first.launches);
    out.launches_b = d.per(d.second, r.second.launches);
    out.in_a = r.first.launches > 0 || r.first.time > 0;
    out.in_b = r.second.launches > 0 || r.second.time > 0 || r.not_measured;
    out.measured_b = !r.not_measured;
    out.inferred = r.inferred;
    out.divided = r.divided;
    out.elsewhere = r.operators.empty() && !r.part_of.empty();
    find_places(d.by, r, out);
    return out;
  }

  void find_places(EagerBy by, const EagerRow& r, CompareRow& out) {
    if (r.kernel != trace::kNone) {
      const auto kernel = compiled_.reader->kernel(r.kernel);
      if (kernel) out.place_b = {kernel->compile, kernel->id, 0, {}, 0};
    } else if (by != EagerBy::Kernel) {
      out.place_b = places_.find(by, r.key);
    }
    // An eager profile has no graphs: what it shares with the compiled trace are lines.
    out.place_a.file = out.place_b.file;
    out.place_a.line = out.place_b.line;
  }

  // ---- by operator: the operators that the program called; what a kernel took is divided among those that it replaced

  /// The operator as the eager profile calls it, for the base name that captured calls have.
  std::string full_name(const std::string& base) const {
    const auto at = names_.find(base);
    return at == names_.end() ? base : at->second;
  }

  void add_operators(const EagerDiff& d) {
    for (const EagerRow& r : d.rows)
      for (const EagerPart& p : r.operators) names_.try_emplace(profiler::operator_base(p.name), p.name);
    RowsByKey rows;
    for (const EagerRow& r : d.rows)
      if (is_kernel(r) || r.kind == "removed")
        divide(d, r, rows);
      else
        add_whole(d, r, rows.row(r.kind, r.key));
    out_.tables[static_cast<size_t>(ProfileBy::Operator)] = rows.take();
  }

  static void add_whole(const EagerDiff& d, const EagerRow& r, CompareRow& row) {
    row.a += d.per(d.first, r.first.time);
    row.b += d.per(d.second, r.second.time);
    row.launches_a += d.per(d.first, r.first.launches);
    row.launches_b += d.per(d.second, r.second.launches);
    row.in_a |= r.first.launches > 0;
    row.in_b |= r.second.launches > 0;
  }

  /// Operators behind a row with their parts of it: by their eager time, evenly where that says nothing.
  std::vector<std::pair<std::string, double>> parts(const EagerRow& r) const {
    std::vector<std::pair<std::string, double>> list;
    double all = 0;
    for (const EagerPart& p : r.operators) {
      list.emplace_back(p.name, static_cast<double>(p.time));
      all += static_cast<double>(p.time);
    }
    if (list.empty())
      for (const std::string& base : r.part_of) list.emplace_back(full_name(base), 0);
    if (list.empty()) list.emplace_back("(not attributed)", 0);
    for (auto& [name, part] : list) part = all > 0 ? part / all : 1.0 / static_cast<double>(list.size());
    return list;
  }

  void divide(const EagerDiff& d, const EagerRow& r, RowsByKey& rows) {
    const auto shares = parts(r);
    for (const auto& [name, part] : shares) {
      CompareRow& row = rows.row("operator", name);
      row.a += d.per(d.first, r.first.time) * part;
      row.b += d.per(d.second, r.second.time) * part;
      row.launches_a += d.per(d.first, r.first.launches) * part;
      row.launches_b += d.per(d.second, r.second.launches) * part;
      row.in_a |= r.first.time > 0;
      row.in_b |= r.second.time > 0 || r.not_measured;
      row.measured_b &= !r.not_measured;
      row.inferred |= r.inferred;
      row.divided |= shares.size() > 1;
      if (row.detail.empty() && is_kernel(r)) row.detail = "among others " + r.key;
      if (const auto kernel =
              r.kernel != trace::kNone && !row.place_b.any() ? compiled_.reader->kernel(r.kernel) : std::nullopt)
        row.place_b = {kernel->compile, kernel->id, 0, {}, 0};
    }
  }

  const CompareSide& eager_;
  const CompareSide& compiled_;
  const std::function<bool()>& stop_;
  Places places_;
  std::map<std::string, std::string> names_;
  ProfileComparison out_;
};

}  // namespace

CompareRow& RowsByKey::row(const std::string& kind, const std::string& key) {
  const auto [at, fresh] = at_.try_emplace({kind, key}, rows_.size());
  if (fresh) {
    CompareRow& made = rows_.emplace_back();
    made.key = key;
    made.kind = kind;
    made.in_a = made.in_b = false;
  }
  return rows_[at->second];
}

ProfileComparison compare_eager(const CompareSide& eager, const CompareSide& compiled,
                                const std::function<bool()>& stop) {
  return EagerComparison(eager, compiled, stop).make();
}

}  // namespace strata::studio
