// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/line_heat.h"

#include <algorithm>
#include <charconv>

#include "app/studio/models/profile_rows.h"
#include "core/support/error.h"
#include "profiler/eager_diff.h"

namespace strata::studio {
namespace {

using namespace trace;

/// `FILE:LINE` or `FILE:LINE: code`; line 0: it is neither.
LineTimes::Place parse_place(const std::string& key) {
  for (size_t colon = key.find(':'); colon != std::string::npos; colon = key.find(':', colon + 1)) {
    std::int64_t line = 0;
    const char* first = key.data() + colon + 1;
    const auto [end, error] = std::from_chars(first, key.data() + key.size(), line);
    const bool whole = end == key.data() + key.size() || *end == ':' || *end == ' ';
    if (error == std::errc() && end != first && whole && line > 0) return {key.substr(0, colon), line};
  }
  return {"", 0};
}

void add_compiled(LineTimes::Side& side, const ProfileData& profile, const std::string& title) {
  side.title = QString::fromStdString(title);
  side.total = profile.total;
  for (const ProfileRow& row : profile.by(ProfileBy::Line))
    if (row.line > 0 && !row.file.empty()) side.lines[{row.file, row.line}] += row.ns;
}

std::vector<RunRecord> records(Reader& reader, const std::vector<Id>& ids) {
  std::vector<RunRecord> found;
  for (RunRecord& run : reader.runs())
    if (std::find(ids.begin(), ids.end(), run.id) != ids.end()) found.push_back(std::move(run));
  return found;
}

void add_eager(Reader& reader, LineTimes::Side& side, const ProfileRun& eager, const ProfileRun& compiled) {
  const profiler::EagerDiff diff = profiler::diff_eager(reader, records(reader, eager.runs), reader,
                                                        records(reader, compiled.runs), profiler::EagerBy::Line);
  side.title = QString::fromStdString(eager.title);
  side.total = static_cast<double>(diff.first.all.time);
  for (const profiler::EagerRow& row : diff.rows)
    if (const auto place = parse_place(row.key); place.second > 0 && row.first.time > 0)
      side.lines[place] += static_cast<double>(row.first.time);
}

}  // namespace

double LineTimes::Side::of_file(const std::string& file) const {
  double sum = 0;
  for (auto at = lines.lower_bound({file, 0}); at != lines.end() && at->first.first == file; ++at) sum += at->second;
  return sum;
}

LineTimesPtr load_line_times(Reader& reader) {
  auto times = std::make_shared<LineTimes>();
  const ProfileRun* eager = nullptr;
  const ProfileRun* compiled = nullptr;
  const std::vector<ProfileRun> choices = profile_choices(reader);
  for (const ProfileRun& run : choices) {
    if (eager && compiled) break;
    const ProfilePtr profile = load_profile(reader, run.runs);
    if (profile->total <= 0) continue;
    if (profile->matched > 0 && !compiled) {
      compiled = &run;
      add_compiled(times->compiled, *profile, run.title);
    } else if (profile->matched <= 0 && !eager) {
      eager = &run;
    }
  }
  if (!eager || !compiled) return times;
  try {
    add_eager(reader, times->eager, *eager, *compiled);
  } catch (const Error&) {
    times->eager = {};  // the two profiles cannot be put side by side
  }
  return times;
}

}  // namespace strata::studio
