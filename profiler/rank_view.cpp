// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/rank_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <unordered_map>

#include "core/support/clamped.h"

namespace strata::profiler {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The last attempt of each compile of a process.
std::vector<trace::CompileRecord> last_attempts(const std::vector<trace::CompileRecord>& compiles, trace::Id process) {
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, trace::CompileRecord> last;
  for (const auto& c : compiles) {
    if (c.process != process) continue;
    auto& kept = last[{c.prefix, c.frame_number, c.compile_number}];
    if (kept.id == trace::kNone || c.attempt >= kept.attempt) kept = c;
  }
  std::vector<trace::CompileRecord> list;
  for (auto& [key, c] : last) list.push_back(std::move(c));
  return list;
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void add_compiles(RankView& view, const std::vector<trace::CompileRecord>& compiles,
                  const std::map<trace::Id, trace::FrameRecord>& frames) {
  std::map<std::string, std::set<std::pair<std::string, std::int64_t>>> numbers;  // frames of one name
  for (const auto& c : last_attempts(compiles, view.process)) {
    const auto frame = frames.find(c.frame);
    std::string key = frame == frames.end() ? c.name
                                            : fmt::format("{}:{}:{}", file_name(frame->second.file), frame->second.line,
                                                          frame->second.name);
    auto& same = numbers[key];
    same.emplace(c.prefix.substr(0, c.prefix.find('!') == std::string::npos ? 0 : c.prefix.size()), c.frame_number);
    if (same.size() > 1) key += fmt::format("#{}", same.size());
    view.frames[key].push_back(c);
    view.compile_ns = add_clamped(view.compile_ns, std::max<std::int64_t>(c.duration_ns, 0));
  }
}

std::int64_t begin_of(const trace::ProcessRecord& p, const std::vector<trace::CompileRecord>& compiles) {
  std::int64_t begin = p.start_ns;
  for (const auto& c : compiles)
    if (c.process == p.id && c.start_ns >= 0 && (begin < 0 || c.start_ns < begin)) begin = c.start_ns;
  return begin;
}

}  // namespace

std::vector<RankView> rank_views(trace::Reader& reader) {
  const auto compiles = reader.compiles();
  std::map<trace::Id, trace::FrameRecord> frames;
  for (const auto& f : reader.frames()) frames[f.id] = f;
  std::map<std::int64_t, RankView> by_rank;
  for (const auto& p : reader.processes()) {
    if (p.rank < 0) continue;
    by_rank[p.rank].rank = p.rank;
    by_rank[p.rank].claimants.push_back(p);
  }
  std::vector<RankView> views;
  for (auto& [rank, view] : by_rank) {
    std::stable_sort(view.claimants.begin(), view.claimants.end(),
                     [&](const auto& a, const auto& b) { return begin_of(a, compiles) < begin_of(b, compiles); });
    view.process = view.claimants.back().id;
    add_compiles(view, compiles, frames);
    views.push_back(std::move(view));
  }
  return views;
}

std::string ranks_text(const std::vector<std::int64_t>& ranks) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    if (end - i >= 2) {
      parts.push_back(fmt::format("{}-{}", ranks[i], ranks[end]));
    } else {
      for (size_t j = i; j <= end; ++j) parts.push_back(std::to_string(ranks[j]));
    }
    i = end + 1;
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

std::string comparable(std::string_view text) {
  // Object ids and addresses have many digits; where the text says that there is one, fewer do.
  const bool has_id = text.find("_id(") != std::string_view::npos || text.find("_version(") != std::string_view::npos ||
                      text.find(" object at ") != std::string_view::npos;
  const size_t most_digits = has_id ? 4 : 11;
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const bool inside = i > 0 && is_word(text[i - 1]);
    if (inside || !is_digit(text[i])) {
      out += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view before = text.substr(0, i), number = text.substr(i, end - i);
    const bool device = before.ends_with("cuda:") || before.ends_with("index=") || before.ends_with("device=") ||
                        before.ends_with("hip:") || before.ends_with("xpu:");
    if (device || number.starts_with("0x") || number.size() > most_digits)
      out += '#';
    else
      out += number;
    i = end;
  }
  return out;
}

std::vector<std::string> graph_lines(const std::vector<trace::NodeRecord>& nodes) {
  std::unordered_map<std::string, size_t> place;
  std::vector<std::string> lines;
  for (const auto& n : nodes) {
    std::string args;
    for (size_t i = 0; i < n.args.size();) {
      if (!is_word(n.args[i])) {
        args += n.args[i++];
        continue;
      }
      size_t end = i;
      while (end < n.args.size() && is_word(n.args[end])) ++end;
      const std::string word = n.args.substr(i, end - i);
      const auto found = place.find(word);
      args += found == place.end() ? word : fmt::format("%{}", found->second);
      i = end;
    }
    // What a weight is called is no difference, what an input looks like is.
    const bool input = n.op == "placeholder" || n.op == "get_attr";
    lines.push_back(
        comparable(fmt::format("{}({}) : {}{}", input ? n.op : n.target, input ? "" : args, n.dtype, n.shape)));
    place[n.name] = lines.size() - 1;
  }
  return lines;
}

}  // namespace strata::profiler
