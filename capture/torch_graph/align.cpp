// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_graph/align.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <unordered_map>

namespace strata::capture::graphs {
namespace {

// What speaks for a call: same or another line, operator, parameter, gradient of a parameter, values of neighbours.
constexpr int kSameLine = 6, kOtherLine = -8, kSameOp = 4, kPartOp = 3, kForeignOp = -1, kSameNumber = 3;
constexpr int kUsesInput = 5, kOtherInput = -3, kSameType = 3, kGradient = 6, kSaved = 4, kSavedValue = 2,
              kNotSaved = -2;
constexpr int kOperand = 3, kInside = 3, kUntyped = 2, kFinished = 1, kUnfinished = -1, kFarOperand = -2;
/// Cells of the table that is filled at once; beyond it only a band around the diagonal is looked at.
constexpr int64_t kMaxCells = 8'000'000;

/// Strides do not count: gradients are often expanded.
bool same_type(const trace::NodeRecord& a, const trace::NodeRecord& b) {
  if (a.dtype.empty() || b.dtype.empty()) return a.type == b.type;
  return a.dtype == b.dtype && a.shape == b.shape;
}

/// Calls that leave no operators behind, or often none.
bool may_vanish(std::string_view stem) {
  static constexpr std::string_view kSilent[] = {"contiguous", "size",    "getattr", "to",   "float",   "type_as",
                                                 "detach",     "dropout", "getitem", "view", "reshape", "dim",
                                                 "identity",   "half",    "long",    "int",  "clone",   "expand"};
  return std::find(std::begin(kSilent), std::end(kSilent), stem) != std::end(kSilent);
}

/// Calls of a graph in the order in which they run: those of a child stand where the child is called.
class CallOrder {
 public:
  explicit CallOrder(const ImportedGraph& g) : g_(g) {
    for (int i = 0; i < g.size(); ++i) groups_[path_of(i)].push_back(i);
    walk("", 0);
  }
  std::vector<int> take() { return std::move(order_); }

 private:
  std::string path_of(int i) const {
    const std::string& name = g_.nodes[at(i)].name;
    const size_t slash = name.rfind('/');
    return slash == std::string::npos ? std::string() : name.substr(0, slash + 1);
  }

  void walk(const std::string& path, int depth) {
    const auto found = groups_.find(path);
    if (found == groups_.end() || depth > 64) return;
    const std::vector<int> members = std::move(found->second);
    groups_.erase(found);  // each child once
    for (const int i : members) {
      const bool call = g_.nodes[at(i)].op.starts_with("call");
      if (!call) continue;
      for (const int operand : g_.operands[at(i)])
        if (g_.is(operand, "get_attr")) walk(path + g_.nodes[at(operand)].target + "/", depth + 1);
      if (g_.is(i, "call_module")) walk(path + g_.nodes[at(i)].target + "/", depth + 1);
      order_.push_back(i);
    }
  }

  const ImportedGraph& g_;
  std::unordered_map<std::string, std::vector<int>> groups_;
  std::vector<int> order_;
};

/// Numbers with a point among the arguments: `0.044715` says more than the operator.
std::vector<std::string_view> literals(const trace::NodeRecord& node) {
  std::vector<std::string_view> out;
  const std::string_view args = node.args;
  for (size_t i = args.find('.'); i != std::string_view::npos; i = args.find('.', i + 1)) {
    const auto digit = [&](size_t k) { return k < args.size() && args[k] >= '0' && args[k] <= '9'; };
    size_t start = i, end = i + 1;
    while (start > 0 && digit(start - 1)) --start;
    while (digit(end)) ++end;
    if (start < i && (start == 0 || args[start - 1] == ' ' || args[start - 1] == '-'))
      out.push_back(args.substr(start, end - start));
  }
  return out;
}

class Aligner {
 public:
  Aligner(const ImportedGraph& calls, const ImportedGraph& g) : c_(calls), g_(g), calls_(CallOrder(calls).take()) {
    out_.origin.assign(g.nodes.size(), -1);
    out_.exact.assign(g.nodes.size(), false);
    out_.gradient.assign(g.nodes.size(), false);
    rank_.assign(calls.nodes.size(), -1);
    for (size_t k = 0; k < calls_.size(); ++k) rank_[at(calls_[k])] = static_cast<int>(k);
  }

  Alignment run(std::span<const int> known) {
    inputs();
    outputs();
    if (calls_.empty()) return std::move(out_);
    stems();
    sections();
    for (size_t j = 0; j < known.size(); ++j)
      if (known[j] >= 0 && rank_[at(known[j])] >= 0) rank_at_[j] = rank_[at(known[j])];
    align(forward_, false);
    find_values();
    for (size_t j = 0; j < known.size(); ++j) is_value_[j] = is_value_[j] || known[j] >= 0;
    align(backward_, true);
    getitems();
    for (int j = 0; j < g_.size(); ++j)
      if (rank_at_[at(j)] >= 0) out_.origin[at(j)] = calls_[at(rank_at_[at(j)])];
    passed_through();
    return std::move(out_);
  }

 private:
  // -------------------------------------------------------------------------------------------- inputs and outputs

  void inputs() {
    // Where modules were not taken apart, their parameters come before the inputs of the call.
    const auto primals = std::count_if(g_.placeholders.begin(), g_.placeholders.end(), [&](int j) {
      return g_.nodes[at(j)].name.starts_with("primals_") || g_.nodes[at(j)].name.starts_with("arg");
    });
    const int parameters = std::max(0, static_cast<int>(primals) - static_cast<int>(c_.placeholders.size()));
    for (size_t i = 0; i < g_.placeholders.size(); ++i) {
      const int j = g_.placeholders[i];
      const std::string& desc = g_.input_descs[i];
      const std::string& name = g_.nodes[at(j)].name;
      const bool tangent = desc.starts_with("Tangent") || (desc.empty() && name.starts_with("tangents_"));
      out_.gradient[at(j)] = tangent;
      if (tangent) {
        set(j, c_.outputs, desc.empty() ? number_in(name, "tangents_") - 1 : described_index(desc, "PlainAOTOutput"),
            !desc.empty());
      } else if (const int index = described_index(desc, "PlainAOTInput"); index >= 0) {
        set(j, c_.placeholders, index, true);
      } else if (desc.find("AOTInput(target=") != std::string::npos) {
        set_named(j, desc);
      } else if (desc.empty() && name.starts_with("primals_")) {
        set(j, c_.placeholders, number_in(name, "primals_") - 1 - parameters, false);
      } else if (desc.empty() && name.starts_with("arg")) {
        set(j, c_.placeholders, number_in(name, "arg") - parameters, false);
      }
    }
  }

  static int number_in(std::string_view name, std::string_view before) {
    int value = -1;
    name.remove_prefix(before.size());
    const auto result = std::from_chars(name.data(), name.data() + name.size(), value);
    return result.ec == std::errc() ? value : -1;
  }

  void set(int j, const std::vector<int>& targets, int index, bool exact) {
    if (index < 0 || at(index) >= targets.size() || targets[at(index)] < 0) return;
    const trace::NodeRecord &here = g_.nodes[at(j)], &there = c_.nodes[at(targets[at(index)])];
    const bool known = !here.dtype.empty() && !there.dtype.empty();
    if (!exact && known && (here.dtype != there.dtype || here.shape != there.shape)) return;
    out_.origin[at(j)] = targets[at(index)];
    out_.exact[at(j)] = exact;
  }

  /// `ParamAOTInput(target='layers.0.weight')`: the attribute or placeholder of that name.
  void set_named(int j, std::string_view desc) {
    const size_t start = desc.find('\'') + 1, end = desc.find('\'', start);
    if (start == 0 || end == std::string_view::npos) return;
    std::string name(desc.substr(start, end - start));
    int found = -1;
    for (int i = 0; i < c_.size() && found < 0; ++i)
      if (c_.nodes[at(i)].target == name && !c_.nodes[at(i)].op.starts_with("call")) found = i;
    std::replace(name.begin(), name.end(), '.', '_');
    if (found < 0) found = c_.find(name);
    if (found < 0) return;
    out_.origin[at(j)] = found;
    out_.exact[at(j)] = true;
  }

  void outputs() {
    for (int j = 0; j < g_.size(); ++j) {
      if (!g_.is(j, "output")) continue;
      for (int i = c_.size(); i-- > 0;)
        if (c_.is(i, "output") && c_.nodes[at(i)].name == g_.nodes[at(j)].name) out_.origin[at(j)] = i;
    }
  }

  // ------------------------------------------------------------------------------------------------------ operators

  int stem(std::string_view text) {
    const auto [it, fresh] = stem_numbers_.emplace(text, static_cast<int>(stem_texts_.size()));
    if (fresh) stem_texts_.push_back(text);
    return it->second;
  }

  void stems() {
    getitem_stem_ = stem("getitem");
    for (const int c : calls_)
      call_stem_.push_back(stem(c_.is(c, "call_module") ? kModule : operator_stem(c_.nodes[at(c)])));
    for (const int c : calls_) call_literals_.push_back(literals(c_.nodes[at(c)]));
    for (const auto& n : g_.nodes) node_literals_.push_back(literals(n));
    const size_t of_calls = stem_texts_.size();
    for (const auto& n : g_.nodes) node_stem_.push_back(n.op.starts_with("call") ? stem(operator_stem(n)) : 0);
    op_score_.resize(of_calls * stem_texts_.size());
    for (size_t a = 0; a < of_calls; ++a) {
      for (size_t b = 0; b < stem_texts_.size(); ++b) {
        const bool same = a == b;
        const bool part = may_compute(stem_texts_[a], stem_texts_[b]);
        op_score_[a * stem_texts_.size() + b] = same ? kSameOp : part ? kPartOp : kForeignOp;
      }
    }
  }

  // ------------------------------------------------------------------------------------------------------- sections

  /// Everything from the first node on that needs a gradient is backward.
  void sections() {
    rank_at_.assign(g_.nodes.size(), -1);
    needs_.assign(g_.nodes.size(), false);
    bool behind = false;
    for (int j = 0; j < g_.size(); ++j) {
      needs_[at(j)] = g_.is(j, "placeholder") && out_.gradient[at(j)];
      for (const int o : g_.operands[at(j)]) needs_[at(j)] = needs_[at(j)] || needs_[at(o)];
      if (!g_.nodes[at(j)].op.starts_with("call")) continue;
      behind = behind || needs_[at(j)];
      // What the forward writes into its inputs (`aten.copy_`) is put last.
      const bool backward = behind && (needs_[at(j)] || g_.nodes[at(j)].target.find("_.") == std::string::npos);
      out_.gradient[at(j)] = backward;
      if (node_stem_[at(j)] == getitem_stem_) continue;  // where its operand is
      (backward ? backward_ : forward_).push_back(j);
    }
    gradient_of_.assign(g_.nodes.size(), -1);
    for (size_t i = 0; i < g_.output_descs.size(); ++i) {
      if (!g_.output_descs[i].starts_with("Grad") || g_.outputs[i] < 0) continue;
      const int index = described_index(g_.output_descs[i], "PlainAOTInput");
      if (index >= 0 && at(index) < c_.placeholders.size())
        gradient_of_[at(g_.outputs[i])] = c_.placeholders[at(index)];
    }
  }

  /// The only call that uses an input of the earlier graph, as rank; -1 if there are others or none.
  int only_user(int input) const {
    int user = -1;
    for (const int u : c_.users[at(input)]) {
      if (rank_[at(u)] < 0) continue;
      const bool runs_others = c_.nodes[at(u)].target.starts_with("higher_order.");
      if (user >= 0 || runs_others) return -1;
      user = rank_[at(u)];
    }
    return user;
  }

  bool uses(int rank, int value) const {
    const auto& operands = c_.operands[at(calls_[at(rank)])];
    return std::find(operands.begin(), operands.end(), value) != operands.end();
  }

  bool lines_agree(int j, int rank) const {
    const int a = g_.places[at(j)], b = c_.places[at(calls_[at(rank)])];
    return a == 0 || b == 0 || a == b;
  }

  /// The rank that a parameter or the gradient of one pins the node to; -1: none.
  int anchor(int j, bool reversed) const {
    if (reversed && gradient_of_[at(j)] >= 0) {
      const int user = only_user(gradient_of_[at(j)]);
      if (user >= 0 && lines_agree(j, user)) return user;
    }
    int found = -1;
    for (const int o : g_.operands[at(j)]) {
      if (!g_.is(o, "placeholder") || out_.origin[at(o)] < 0 || out_.gradient[at(o)]) continue;
      const int user = only_user(out_.origin[at(o)]);
      if (user < 0 || !lines_agree(j, user)) continue;
      if (found >= 0 && found != user) return -1;
      found = user;
    }
    return found;
  }

  // ---------------------------------------------------------------------------------------------------------- scores

  /// What does not depend on how other nodes are assigned.
  int local_score(int j, int rank, bool reversed) const {
    const int c = calls_[at(rank)];
    const int line = g_.places[at(j)], of_call = c_.places[at(c)];
    int score = line == 0 || of_call == 0 ? 0 : line == of_call ? kSameLine : kOtherLine;
    score += op_score_[at(call_stem_[at(rank)]) * stem_texts_.size() + at(node_stem_[at(j)])];
    for (const std::string_view number : node_literals_[at(j)]) {
      const auto& there = call_literals_[at(rank)];
      if (std::find(there.begin(), there.end(), number) != there.end()) score += kSameNumber;
    }
    if (!reversed && same_type(g_.nodes[at(j)], c_.nodes[at(c)])) score += kSameType;
    if (reversed && gradient_of_[at(j)] >= 0) score += uses(rank, gradient_of_[at(j)]) ? kGradient : 0;
    for (const int o : g_.operands[at(j)]) {
      const int origin = out_.origin[at(o)];
      if (g_.is(o, "placeholder") && origin >= 0 && !out_.gradient[at(o)])
        score += uses(rank, origin) ? kUsesInput : kOtherInput;
      if (g_.is(o, "placeholder") && origin >= 0 && out_.gradient[at(o)]) score += origin == c ? kOperand : 0;
      if (reversed && !out_.gradient[at(o)] && rank_at_[at(o)] >= 0) score += saved_score(o, rank);
    }
    return score;
  }

  /// A backward reads what its forward computed on the way, its result, or what it was computed from.
  int saved_score(int o, int rank) const {
    const int owner = rank_at_[at(o)];
    if (owner == rank) return is_value_[at(o)] ? kSavedValue : kSaved;
    return is_value_[at(o)] && uses(rank, calls_[at(owner)]) ? kSavedValue : kNotSaved;
  }

  /// What has the type of a call's value may be the value; anything else is used up inside. How well a node fits behind
  /// (forward) or before (backward) the calls of its operands.
  int flow_score(int j, int rank, bool reversed) const {
    int score = 0;
    for (const int o : g_.operands[at(j)]) {
      const int other = rank_at_[at(o)];
      if (other < 0 || out_.gradient[at(o)] != reversed) continue;
      const bool next = reversed ? uses(other, calls_[at(rank)]) : uses(rank, calls_[at(other)]);
      const bool finished = reversed ? may_be_gradient(o, rank, other == rank)
                                     : same_type(g_.nodes[at(o)], c_.nodes[at(calls_[at(other)])]);
      const bool untyped = c_.nodes[at(calls_[at(reversed ? rank : other)])].type.empty();
      if (untyped && (other == rank || next)) {
        score += kUntyped;
      } else if (other == rank) {
        score += finished ? kFinished : kInside;
      } else {
        score += !next ? kFarOperand : finished ? kOperand : kUnfinished;
      }
    }
    return score;
  }

  /// Whether a backward node may be the gradient of an operand of the call (`inside`) or of its value.
  bool may_be_gradient(int o, int rank, bool inside) const {
    if (!needs_[at(o)]) return false;
    const trace::NodeRecord& node = g_.nodes[at(o)];
    const int c = calls_[at(rank)];
    if (!inside) return same_type(node, c_.nodes[at(c)]);
    const auto& operands = c_.operands[at(c)];
    return std::any_of(operands.begin(), operands.end(), [&](int p) { return same_type(node, c_.nodes[at(p)]); });
  }

  // --------------------------------------------------------------------------------------------------------- alignment

  struct Window {
    int low, high;
  };

  /// Anchors that stand in order, as far as possible, leave each node a window of calls.
  std::vector<Window> windows(std::vector<int>& nodes, bool reversed) {
    const int n = static_cast<int>(calls_.size());
    const auto flip = [&](int rank) { return reversed ? n - 1 - rank : rank; };
    std::vector<int> anchors(nodes.size(), -1);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const int rank = anchor(nodes[i], reversed);
      if (rank >= 0) anchors[i] = flip(rank);
    }
    keep_ascending(nodes, anchors, flip);
    std::vector<Window> out(nodes.size());
    int low = 0, high = n - 1;
    for (size_t i = 0; i < nodes.size(); ++i) out[i].low = low = std::max(low, anchors[i]);
    for (size_t i = nodes.size(); i-- > 0;) {
      if (anchors[i] >= 0) high = std::min(high, anchors[i]);
      out[i].high = high;
    }
    narrow(out);
    return out;
  }

  /// Keeps a longest ascending chain of anchors. Nodes with other anchors are where these say, and drop out.
  template <class Flip>
  void keep_ascending(std::vector<int>& nodes, std::vector<int>& anchors, const Flip& flip) {
    std::vector<size_t> tails, before(nodes.size(), SIZE_MAX);
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (anchors[i] < 0) continue;
      const auto tail = std::upper_bound(tails.begin(), tails.end(), anchors[i],
                                         [&](int value, size_t t) { return value < anchors[t]; });
      if (tail != tails.begin()) before[i] = *(tail - 1);
      if (tail == tails.end()) {
        tails.push_back(i);
      } else {
        *tail = i;
      }
    }
    std::vector<bool> kept(nodes.size());
    for (size_t i = tails.empty() ? SIZE_MAX : tails.back(); i != SIZE_MAX; i = before[i]) kept[i] = true;
    size_t to = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (anchors[i] >= 0 && !kept[i]) {
        rank_at_[at(nodes[i])] = flip(anchors[i]);
        continue;
      }
      nodes[to] = nodes[i];
      anchors[to++] = anchors[i];
    }
    nodes.resize(to);
    anchors.resize(to);
  }

  static void narrow(std::vector<Window>& windows) {
    int64_t cells = 0;
    for (const Window& w : windows) cells += w.high - w.low + 1;
    if (cells <= kMaxCells) return;
    const int width = std::max<int>(16, static_cast<int>(kMaxCells / static_cast<int64_t>(windows.size())));
    for (size_t first = 0; first < windows.size();) {
      size_t last = first;
      while (last + 1 < windows.size() && windows[last + 1].low == windows[first].low &&
             windows[last + 1].high == windows[first].high)
        ++last;
      const int low = windows[first].low, high = windows[first].high;
      for (size_t i = first; i <= last && high - low > width; ++i) {
        const auto part = static_cast<int64_t>(i - first) * (high - low) / static_cast<int64_t>(last - first + 1);
        windows[i].low = std::clamp(low + static_cast<int>(part) - width / 2, low, high);
        windows[i].high = std::clamp(windows[i].low + width, low, high);
      }
      first = last + 1;
    }
  }

  void align(std::vector<int> nodes, bool reversed) {
    if (nodes.empty()) return;
    const std::vector<Window> allowed = windows(nodes, reversed);
    if (nodes.empty()) return;
    skip_.assign(calls_.size() + 1, 0);
    for (size_t k = 0; k < calls_.size(); ++k) {
      const size_t rank = reversed ? calls_.size() - 1 - k : k;
      const bool silent = reversed || may_vanish(stem_texts_[at(call_stem_[rank])]);
      skip_[k + 1] = skip_[k] + (silent ? 1 : 2);
    }
    best_path(nodes, allowed, reversed, false);
    best_path(nodes, allowed, reversed, true);  // now that values have a place
    repair(nodes, reversed);
  }

  /// Viterbi: each node at the call of the node before it or at a later one; calls that are passed over cost.
  void best_path(const std::vector<int>& nodes, const std::vector<Window>& allowed, bool reversed, bool with_flow) {
    const int n = static_cast<int>(calls_.size());
    std::vector<std::vector<int>> back(nodes.size());
    std::vector<int> score, next;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const auto [low, high] = allowed[i];
      next.assign(at(high - low + 1), 0);
      back[i].assign(at(high - low + 1), -1);
      // Best of the calls before the present one, with the skips up to them taken off.
      int best = INT_MIN / 2, best_at = -1, k = i > 0 ? allowed[i - 1].low : 0;
      for (int c = low; c <= high; ++c) {
        int value = i == 0 ? -skip_[at(c)] : INT_MIN / 2;
        if (i > 0) {
          const auto [before_low, before_high] = allowed[i - 1];
          for (; k < c && k <= before_high; ++k) {
            const int gain = score[at(k - before_low)] + skip_[at(k + 1)];
            if (gain >= best) best = gain, best_at = k;
          }
          if (best_at >= 0) value = best - skip_[at(c)], back[i][at(c - low)] = best_at;
          if (c >= before_low && c <= before_high && score[at(c - before_low)] >= value)
            value = score[at(c - before_low)], back[i][at(c - low)] = c;
        }
        const int rank = reversed ? n - 1 - c : c;
        value += local_score(nodes[i], rank, reversed);
        if (with_flow) value += flow_score(nodes[i], rank, reversed);
        next[at(c - low)] = value;
      }
      std::swap(score, next);
    }
    const int low = allowed.back().low;
    for (size_t c = 0; c < score.size(); ++c) score[c] -= skip_.back() - skip_[at(low) + c + 1];
    int c = low + static_cast<int>(std::max_element(score.begin(), score.end()) - score.begin());
    for (size_t i = nodes.size(); i-- > 0;) {
      rank_at_[at(nodes[i])] = reversed ? n - 1 - c : c;
      const int before = back[i][at(c - allowed[i].low)];
      if (i > 0) c = before >= 0 ? before : std::clamp(c, allowed[i - 1].low, allowed[i - 1].high);
    }
  }

  /// A node whose line is known does not belong to a call of another line if there is one of its own.
  void repair(const std::vector<int>& nodes, bool reversed) {
    std::unordered_map<int, std::vector<int>> ranks;  // by place
    for (size_t k = 0; k < calls_.size(); ++k) ranks[c_.places[at(calls_[k])]].push_back(static_cast<int>(k));
    for (const int j : nodes) {
      int& rank = rank_at_[at(j)];
      if (lines_agree(j, rank)) continue;
      const auto found = ranks.find(g_.places[at(j)]);
      if (found == ranks.end()) continue;
      int best = INT_MIN, chosen = rank;
      for (const int candidate : found->second) {
        const int value = local_score(j, candidate, reversed) + flow_score(j, candidate, reversed);
        const bool nearer = std::abs(candidate - rank) < std::abs(chosen - rank);
        if (value > best || (value == best && nearer)) best = value, chosen = candidate;
      }
      rank = chosen;
    }
  }

  /// A dropout that does nothing leaves no node: it hands on the value of its operand.
  void passed_through() {
    std::vector<int> value(calls_.size(), -1);
    for (int j = 0; j < g_.size(); ++j)
      if (rank_at_[at(j)] >= 0 && !out_.gradient[at(j)]) value[at(rank_at_[at(j)])] = j;
    for (size_t k = 0; k < calls_.size(); ++k) {
      const int c = calls_[k];
      if (value[k] >= 0 || stem_texts_[at(call_stem_[k])].find("dropout") == std::string_view::npos) continue;
      for (const int o : c_.operands[at(c)]) {
        const int from = rank_[at(o)] < 0 ? -1 : value[at(rank_[at(o)])];
        if (from < 0 || !is_value_[at(from)] || !same_type(c_.nodes[at(o)], c_.nodes[at(c)])) continue;
        out_.passed.emplace_back(from, c);
        value[k] = from;
      }
    }
  }

  /// The last node of a call that has its type is its value; getitem nodes are where their operands are.
  void find_values() {
    is_value_.assign(g_.nodes.size(), false);
    getitems();
    std::vector<int> value(calls_.size(), -1);
    for (int j = 0; j < g_.size(); ++j) {
      const int rank = rank_at_[at(j)];
      if (rank < 0 || out_.gradient[at(j)]) continue;
      if (same_type(g_.nodes[at(j)], c_.nodes[at(calls_[at(rank)])])) value[at(rank)] = j;
    }
    for (const int j : value)
      if (j >= 0) is_value_[at(j)] = true;
  }

  void getitems() {
    for (int j = 0; j < g_.size(); ++j) {
      if (!g_.nodes[at(j)].op.starts_with("call") || node_stem_[at(j)] != getitem_stem_) continue;
      for (const int o : g_.operands[at(j)])
        if (rank_at_[at(o)] >= 0) rank_at_[at(j)] = rank_at_[at(o)];
    }
  }

  const ImportedGraph &c_, &g_;
  const std::vector<int> calls_;  // positions, as they run
  Alignment out_;
  std::vector<int> rank_;         // by position in the earlier graph: index into calls_; -1: no call
  std::vector<int> rank_at_;      // by node: index into calls_; -1: none
  std::vector<bool> is_value_;    // by node: it is what its call gives
  std::vector<bool> needs_;       // by node: it depends on a gradient
  std::vector<int> gradient_of_;  // by node: placeholder of the earlier graph whose gradient it is
  std::vector<int> forward_, backward_;
  std::unordered_map<std::string_view, int> stem_numbers_;
  std::vector<std::string_view> stem_texts_;
  std::vector<std::vector<std::string_view>> call_literals_, node_literals_;
  std::vector<int> call_stem_, node_stem_, op_score_, skip_;
  int getitem_stem_ = -1;
};

}  // namespace

int described_index(std::string_view desc, std::string_view kind) {
  const size_t found = desc.find(kind);
  if (found == std::string_view::npos) return -1;
  constexpr std::string_view open = "(idx=";
  std::string_view rest = desc.substr(found + kind.size());
  if (!rest.starts_with(open)) return -1;
  rest.remove_prefix(open.size());
  int value = -1;
  const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return result.ec == std::errc() ? value : -1;
}

Alignment align(const ImportedGraph& calls, const ImportedGraph& graph, std::span<const int> known) {
  return Aligner(calls, graph).run(known);
}

}  // namespace strata::capture::graphs
