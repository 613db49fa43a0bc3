// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/rewrite_steps.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>
#include <utility>

namespace strata::studio {

using namespace trace;

namespace {

/// Nodes that a rewrite made and the pass removed again are in no snapshot. So many nodes they were made of are
/// remembered.
constexpr size_t kMostSources = 16;
/// Of an operand that is replaced again and again, so many successors are looked at.
constexpr int kMostHops = 64;

template <typename Visit>
void each_operand(const NodeRecord& record, const Visit& visit) {
  for (const auto& operand : record.inputs)
    for (NodeId id : operand) visit(id);
}

bool same_slots(const NodeRecord& a, const NodeRecord& b) {
  return std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(),
                    [](const auto& x, const auto& y) { return x.size() == y.size(); });
}

/// The pairs of operands in which two versions of a node with the same operand lists differ.
template <typename Visit>
void each_exchange(const NodeRecord& a, const NodeRecord& b, const Visit& visit) {
  for (size_t i = 0; i < a.inputs.size(); ++i)
    for (size_t j = 0; j < a.inputs[i].size(); ++j)
      if (a.inputs[i][j] != b.inputs[i][j]) visit(a.inputs[i][j], b.inputs[i][j]);
}

std::string type_key(const NodeRecord& record) { return record.dtype + record.shape; }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

}  // namespace

std::string rename_words(const std::string& text, const std::unordered_map<std::string, std::string>& names) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == i) {
      result += text[i++];
      continue;
    }
    const std::string word = text.substr(i, end - i);
    const auto at = names.find(word);
    result += at == names.end() ? word : at->second;
    i = end;
  }
  return result;
}

RewriteSteps::RewriteSteps(std::vector<NodeRecord> before, std::vector<NodeRecord> after,
                           std::vector<RewriteRecord> rewrites)
    : before_(std::move(before)), after_(std::move(after)), rewrites_(std::move(rewrites)) {
  add_entries();
  note_mentions();
  date_named();
  choose_substitutes();
  date_changes();
  date_births();
  date_deaths();
  order_entries();
  check_complete();
}

int RewriteSteps::find(NodeId id) const {
  const auto at = index_.find(id);
  return at == index_.end() ? -1 : at->second;
}

void RewriteSteps::add_entries() {
  entries_.reserve(before_.size() + after_.size());
  index_.reserve(before_.size() + after_.size());
  for (const NodeRecord& record : before_) {
    if (!index_.emplace(record.id, static_cast<int>(entries_.size())).second) {
      twice_ = true;
      continue;
    }
    entries_.emplace_back().before = &record;
  }
  for (const NodeRecord& record : after_) {
    const auto [at, added] = index_.emplace(record.id, static_cast<int>(entries_.size()));
    if (added) entries_.emplace_back();
    Entry& entry = entries_[static_cast<size_t>(at->second)];
    twice_ = twice_ || entry.after;
    if (!entry.after) entry.after = &record;
  }
}

/// A node that is in neither graph was made and removed again in between: what it was made of stands until that.
void RewriteSteps::note_mentions() {
  std::unordered_map<NodeId, std::vector<NodeId>> sources;
  known_before_.resize(rewrites_.size());
  for (size_t i = 0; i < rewrites_.size(); ++i) {
    const auto number = static_cast<Step>(i + 1);
    std::vector<NodeId>& matched = known_before_[i];
    for (NodeId id : rewrites_[i].before) {
      if (find(id) >= 0)
        matched.push_back(id);
      else if (const auto at = sources.find(id); at != sources.end())
        matched.insert(matched.end(), at->second.begin(), at->second.end());
    }
    for (NodeId id : matched) {
      Mention& mention = mentions_[id];
      mention.last_matched = mention.last = number;
    }
    for (NodeId id : rewrites_[i].after) {
      if (find(id) < 0) {
        sources[id] = {matched.begin(), matched.begin() + static_cast<long>(std::min(matched.size(), kMostSources))};
        continue;
      }
      Mention& mention = mentions_[id];
      if (!mention.first_made) mention.first_made = number;
      mention.last_made = mention.last = number;
    }
  }
}

RewriteSteps::Mention RewriteSteps::mention(const Entry& entry) const {
  const auto at = mentions_.find(entry.id());
  return at == mentions_.end() ? Mention{} : at->second;
}

/// What rewrites name. 0 in `born` of a new node and in `died` of an old one stands for unknown until the other dates
/// are found.
void RewriteSteps::date_named() {
  for (Entry& entry : entries_) {
    const Mention m = mention(entry);
    if (!entry.before) entry.born = m.first_made;
    if (!entry.after) entry.died = m.last_matched == m.last ? m.last_matched : 0;
  }
}

/// Users that have the same operand lists before and after show who took whose place.
void RewriteSteps::follow_slots(std::vector<int>& next, std::vector<int>& last) const {
  next.assign(entries_.size(), -1);
  last.assign(entries_.size(), -1);
  for (const Entry& user : entries_) {
    if (!user.before || !user.after || !same_slots(*user.before, *user.after)) continue;
    each_exchange(*user.before, *user.after, [&](NodeId x, NodeId y) {
      const int from = find(x), to = find(y);
      if (from < 0 || to < 0) return;
      if (!entries_[static_cast<size_t>(from)].after && next[static_cast<size_t>(from)] < 0)
        next[static_cast<size_t>(from)] = to;
      if (!entries_[static_cast<size_t>(to)].before && last[static_cast<size_t>(to)] < 0)
        last[static_cast<size_t>(to)] = from;
    });
  }
}

namespace {

/// Of several nodes, those that none of the others uses stand for the whole; which one is told by the type.
struct Choice {
  std::unordered_set<int> all;
  std::unordered_map<std::string, int> by_type;
  int any = -1;
};

}  // namespace

void RewriteSteps::choose_substitutes() {
  std::vector<int> next, last;
  follow_slots(next, last);
  const auto choice_of = [this](const std::vector<NodeId>& ids) {
    Choice choice;
    std::unordered_set<NodeId> used;
    for (NodeId id : ids)
      if (const int i = find(id); i >= 0) {
        choice.all.insert(i);
        each_operand(entries_[static_cast<size_t>(i)].newest(), [&](NodeId operand) {
          if (operand != id) used.insert(operand);
        });
      }
    for (NodeId id : ids) {
      const int i = find(id);
      if (i < 0 || used.contains(id)) continue;
      choice.any = i;
      choice.by_type.emplace(type_key(entries_[static_cast<size_t>(i)].newest()), i);
    }
    if (choice.any < 0 && !choice.all.empty()) choice.any = *choice.all.begin();
    return choice;
  };
  const auto choose = [](const Choice& choice, int shown, const NodeRecord& record, int self) {
    if (choice.all.empty() || choice.all.contains(shown)) return shown;
    const auto typed = choice.by_type.find(type_key(record));
    const int best = typed == choice.by_type.end() ? choice.any : typed->second;
    return best == self ? shown : best;
  };
  for (size_t i = 0; i < entries_.size(); ++i) entries_[i].next = next[i], entries_[i].last = last[i];
  for (size_t r = 0; r < rewrites_.size(); ++r) {
    const auto number = static_cast<Step>(r + 1);
    const Choice made = choice_of(rewrites_[r].after), matched = choice_of(known_before_[r]);
    for (NodeId id : known_before_[r])
      if (const int i = find(id); i >= 0)
        if (Entry& e = entries_[static_cast<size_t>(i)]; !e.after && e.died == number)
          e.next = choose(made, next[static_cast<size_t>(i)], *e.before, i);
    for (NodeId id : rewrites_[r].after)
      if (const int i = find(id); i >= 0)
        if (Entry& e = entries_[static_cast<size_t>(i)]; !e.before && e.born == number)
          e.last = choose(matched, last[static_cast<size_t>(i)], *e.after, i);
  }
}

/// A node in both graphs changes with the last rewrite that exchanges one of its operands, else the last that names it.
void RewriteSteps::date_changes() {
  const auto rest = static_cast<Step>(rewrites_.size() + 1);
  for (Entry& entry : entries_) {
    if (!entry.before || !entry.after || *entry.before == *entry.after) continue;
    const Mention m = mention(entry);
    Step step = 0;
    const auto born = [&](NodeId id) {
      if (const int i = find(id); i >= 0 && !entries_[static_cast<size_t>(i)].before)
        step = std::max(step, entries_[static_cast<size_t>(i)].born);
    };
    const auto died = [&](NodeId id) {  // and what took its place, if that went too
      int at = find(id);
      for (int hop = 0; at >= 0 && hop < kMostHops && !entries_[static_cast<size_t>(at)].after; ++hop) {
        step = std::max(step, entries_[static_cast<size_t>(at)].died);
        at = entries_[static_cast<size_t>(at)].next;
      }
    };
    each_operand(*entry.after, born);
    each_operand(*entry.before, died);
    if (step == 0) step = std::max(m.last_made, m.last_matched);
    entry.changed = step ? step : rest;
  }
}

/// New nodes that no rewrite names come with their first user.
void RewriteSteps::date_births() {
  const auto rest = static_cast<Step>(rewrites_.size() + 1);
  std::vector<Step> first_use(entries_.size(), rest);
  for (auto record = after_.rbegin(); record != after_.rend(); ++record) {
    const auto at = static_cast<size_t>(find(record->id));
    Entry& entry = entries_[at];
    if (!entry.before && entry.born == 0) entry.born = first_use[at];
    const Step step = entry.before ? (entry.changed ? entry.changed : rest) : entry.born;
    each_operand(*record, [&](NodeId id) {
      if (const int i = find(id); i >= 0)
        first_use[static_cast<size_t>(i)] = std::min(first_use[static_cast<size_t>(i)], step);
    });
  }
}

/// Old nodes that no rewrite names go with their last user.
void RewriteSteps::date_deaths() {
  const auto rest = static_cast<Step>(rewrites_.size() + 1);
  std::vector<Step> last_use(entries_.size(), 0);
  for (auto record = before_.rbegin(); record != before_.rend(); ++record) {
    const auto at = static_cast<size_t>(find(record->id));
    Entry& entry = entries_[at];
    if (!entry.after && entry.died == 0) {
      entry.died = std::max(last_use[at], mention(entry).last);
      if (entry.died == 0) entry.died = rest;
    }
    const Step step = entry.after ? entry.changed : entry.died;
    each_operand(*record, [&](NodeId id) {
      if (const int i = find(id); i >= 0)
        last_use[static_cast<size_t>(i)] = std::max(last_use[static_cast<size_t>(i)], step);
    });
  }
}

/// The old nodes in their order; new ones after the node of both graphs they follow, and there after what they replace.
void RewriteSteps::order_entries() {
  std::vector<std::vector<int>> came(entries_.size() + 1);  // by the node of both graphs before them; 0: none
  size_t anchor = 0;
  std::vector<char> listed(entries_.size(), 0);
  int last_place = -1;
  for (const NodeRecord& record : after_) {
    const int i = find(record.id);
    if (std::exchange(listed[static_cast<size_t>(i)], 1)) continue;
    if (!entries_[static_cast<size_t>(i)].before) {
      came[anchor].push_back(i);
      continue;
    }
    reordered_ = reordered_ || i < last_place;  // old nodes are numbered in their order
    last_place = i;
    anchor = static_cast<size_t>(i) + 1;
  }
  size_t place = 0;  // of the next new node in came[anchor]
  const auto put_new = [&](size_t upto) {
    for (; place < std::min(upto, came[anchor].size()); ++place) order_.push_back(came[anchor][place]);
  };
  anchor = 0;
  for (size_t i = 0; i < entries_.size() && entries_[i].before; ++i) {
    if (entries_[i].after) {
      put_new(SIZE_MAX);
      anchor = i + 1;
      place = 0;
      order_.push_back(static_cast<int>(i));
      continue;
    }
    // New nodes that replace an earlier one stand before this one.
    while (place < came[anchor].size()) {
      const int from = entries_[static_cast<size_t>(came[anchor][place])].last;
      if (from < 0 || static_cast<size_t>(from) >= i) break;
      put_new(place + 1);
    }
    order_.push_back(static_cast<int>(i));
  }
  put_new(SIZE_MAX);
}

void RewriteSteps::check_complete() {
  const auto done = static_cast<Step>(rewrites_.size());
  complete_ = !twice_ && !reordered_;
  for (const Entry& entry : entries_) {
    if (!entry.before && entry.born > done) complete_ = false;
    if (!entry.after && entry.died > done) complete_ = false;
    if (entry.before && entry.after && entry.changed > done) complete_ = false;
    if (!entry.after) continue;
    each_operand(*entry.after, [&](NodeId id) {
      if (const int i = find(id); i >= 0 && !entries_[static_cast<size_t>(i)].after) complete_ = false;
    });
  }
}

const NodeRecord& RewriteSteps::version(const Entry& entry, Step k) const {
  if (!entry.before) return *entry.after;
  return entry.after && k >= entry.changed ? *entry.after : *entry.before;
}

NodeId RewriteSteps::Resolver::operator()(NodeId id) {
  int at = steps_.find(id);
  if (at < 0) return id;
  path_.clear();
  int found = kNone;
  while (at >= 0) {
    const auto i = static_cast<size_t>(at);
    const Entry& entry = steps_.entries_[i];
    if (known_[i] != kUnknown) {  // one that is on the way stands for itself in the end: there is none
      found = known_[i] == kOnTheWay ? kNone : known_[i];
      break;
    }
    if (steps_.stands(entry, k_)) {
      found = known_[i] = at;
      break;
    }
    known_[i] = kOnTheWay;
    path_.push_back(at);
    at = k_ < entry.born ? entry.last : entry.next;
  }
  for (int i : path_) known_[static_cast<size_t>(i)] = found;
  return found < 0 ? 0 : steps_.entries_[static_cast<size_t>(found)].id();
}

NodeRecord RewriteSteps::record(const Entry& entry, Step k, Resolver& resolve) const {
  const NodeRecord& version_now = version(entry, k);
  NodeRecord record = version_now;
  const bool is_new = &version_now == entry.after;
  std::unordered_map<std::string, std::string> names;
  for (auto& operand : record.inputs) {
    for (NodeId& id : operand) {
      const NodeId now = resolve(id);
      if (now == id) continue;
      const Entry& was = entries_[static_cast<size_t>(find(id))];
      const NodeRecord& known_as = is_new || !was.before ? was.newest() : *was.before;
      if (now) names[known_as.name] = version(entries_[static_cast<size_t>(find(now))], k).name;
      id = now;
    }
    std::erase(operand, 0);
  }
  if (!names.empty()) record.args = rename_words(record.args, names);
  return record;
}

std::vector<NodeRecord> RewriteSteps::graph(size_t k) const {
  if (k == 0) return before_;
  if (k > rewrites_.size()) return after_;
  const auto step = static_cast<Step>(k);
  Resolver resolve(*this, step);
  std::vector<NodeRecord> nodes;
  nodes.reserve(std::max(before_.size(), after_.size()));
  for (int i : order_)
    if (const Entry& entry = entries_[static_cast<size_t>(i)]; stands(entry, step))
      nodes.push_back(record(entry, step, resolve));
  return nodes;
}

bool RewriteSteps::may_differ(const Entry& entry, Step k, Resolver& old_one, Resolver& new_one) const {
  const NodeRecord& now = version(entry, k);
  if (&version(entry, k - 1) != &now) return true;
  bool differs = false;
  each_operand(now, [&](NodeId id) { differs = differs || old_one(id) != new_one(id); });
  return differs;
}

SnapshotDiff RewriteSteps::diff(size_t k) const {
  SnapshotDiff diff;
  if (k == 0) return diff;
  const auto step = static_cast<Step>(std::min(k, rewrites_.size() + 1));
  Resolver old_one(*this, step - 1), new_one(*this, step);
  for (int i : order_) {
    const Entry& entry = entries_[static_cast<size_t>(i)];
    const bool was = stands(entry, step - 1), is = stands(entry, step);
    if (is && !was) diff.added.push_back(record(entry, step, new_one));
    if (was && !is) diff.removed.push_back(record(entry, step - 1, old_one));
    if (!was || !is || !may_differ(entry, step, old_one, new_one)) continue;
    SnapshotDiff::Change change{record(entry, step - 1, old_one), record(entry, step, new_one)};
    if (change.before != change.after) diff.changed.push_back(std::move(change));
  }
  diff.reordered = reordered_ && k > rewrites_.size();
  return diff;
}

std::vector<NodeRecord> RewriteSteps::together() const {
  std::vector<NodeRecord> nodes;
  nodes.reserve(order_.size());
  for (int i : order_) {
    const Entry& entry = entries_[static_cast<size_t>(i)];
    NodeRecord record = entry.newest();
    std::vector<NodeId> others;
    const Step from = entry.before ? entry.changed : entry.born;  // as after the pass
    const Step until = entry.after ? entry.changed : entry.died;  // as before it
    const auto add = [&](NodeId id, const auto& gone) {
      int at = find(id);
      for (int hop = 0; at >= 0 && hop < kMostHops; ++hop) {
        const Entry& operand = entries_[static_cast<size_t>(at)];
        if (at != i) others.push_back(operand.id());
        at = gone(operand);
      }
    };
    if (entry.before)
      each_operand(*entry.before,
                   [&](NodeId id) { add(id, [&](const Entry& e) { return e.died < until ? e.next : -1; }); });
    if (entry.after)
      each_operand(*entry.after,
                   [&](NodeId id) { add(id, [&](const Entry& e) { return e.born > from ? e.last : -1; }); });
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    record.inputs.push_back(std::move(others));
    nodes.push_back(std::move(record));
  }
  return nodes;
}

}  // namespace strata::studio
