// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/guard_tree.h"

#include <charconv>
#include <utility>

#include "capture/torch_text/text_scan.h"

namespace strata::capture {
namespace {

constexpr auto kNowhere = std::string_view::npos;
constexpr std::string_view kBranch = "+- ";
constexpr std::string_view kBar = "| ";
/// Deeper trees than this are damage.
constexpr std::size_t kMaxDepth = 4096;
/// `#` in a comment that are tried as the beginning of its place.
constexpr int kMaxMarks = 256;

/// A manager on the way to the current line.
struct Manager {
  std::string label, source, type;
};

bool is_kind_letter(char c) { return c == '_' || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// The length of `EQUALS_MATCH` at the start of a leaf; 0 for managers.
std::size_t kind_length(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_kind_letter(text[end])) ++end;
  return end == text.size() || text[end] == ':' ? end : 0;
}

/// `depth` and the rest of a line of the tree; false for lines that belong to the one before.
bool tree_line(std::string_view line, std::size_t& depth, std::string_view& rest) {
  depth = 0;
  while (line.starts_with(kBar)) {
    line.remove_prefix(kBar.size());
    ++depth;
  }
  if (!line.starts_with(kBranch) || depth > kMaxDepth) return false;
  rest = line.substr(kBranch.size());
  return true;
}

/// The value of `key` in `GuardManager: source=L['x'], accessed_by=..., type=<class 'int'>, tag_safe=(True, False)`.
std::string_view field(std::string_view text, std::string_view key, std::string_view next) {
  const std::size_t at = find_outside_quotes(text, key);
  if (at == kNowhere) return {};
  std::string_view value = text.substr(at + key.size());
  const std::size_t end = next.empty() ? kNowhere : find_outside_quotes(value, next);
  return trim(value.substr(0, end));
}

Manager parse_manager(std::string_view text) {
  Manager manager;
  const bool accessed = find_outside_quotes(text, ", accessed_by=") != kNowhere;
  manager.source = field(text, "source=", accessed ? ", accessed_by=" : ", type=");
  manager.type = field(text, ", type=", ", tag_safe=");
  if (accessed) {
    manager.label = field(text, ", accessed_by=", ", type=");
  } else {
    manager.label = text.substr(0, text.find(": source="));
  }
  return manager;
}

std::string join_labels(const std::vector<Manager>& managers) {
  std::string path;
  for (const Manager& manager : managers) {
    if (!path.empty()) path += " > ";
    path += manager.label;
  }
  return path;
}

/// `Guard latency = 12.34 us`, `Guard eval latency = 12.34 us`.
double parse_latency(std::string_view line) {
  for (const std::string_view start : {"Guard latency = ", "Guard eval latency = "}) {
    if (!line.starts_with(start)) continue;
    line = trim(line.substr(start.size()));
    const std::size_t space = line.find(' ');
    const std::string_view number = line.substr(0, space);
    const std::string_view unit = space == kNowhere ? std::string_view{} : trim(line.substr(space));
    double value = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || !(value >= 0) || value > 1e12) return -1;
    return unit == "ns" ? value : unit == "ms" ? value * 1e6 : unit == "s" ? value * 1e9 : value * 1e3;
  }
  return -1;
}

/// Takes `(HINT: type int)` from the end of a comment.
void take_hint(std::string_view& comment, GuardText& guard) {
  constexpr std::string_view kHint = "(HINT: ";
  const std::size_t at = comment.rfind(kHint);
  if (at == kNowhere) return;
  std::string_view hint = trim(comment.substr(at + kHint.size()));
  if (hint.ends_with(')')) hint.remove_suffix(1);
  guard.hint = hint;
  comment = trim_right(comment.substr(0, at));
}

/// A place in brackets, of PyTorch's own code: `(_inductor/codegen/simd.py:1877 in can_use_32bit_indexing)`.
bool bracketed_place(std::string_view comment, GuardText& guard) {
  if (!comment.starts_with('(')) return false;
  const std::size_t close = comment.find(')');
  const auto place = leading_place(comment.substr(1, close == kNowhere ? kNowhere : close - 1));
  if (!place) return false;
  guard.file = place->file;
  guard.line = place->line;
  guard.function = place->function;
  guard.note = comment;
  return true;
}

/// `y = x * n  # m.py:7 in f (words)`: text and place; else all of it is a note.
void parse_comment(std::string_view comment, GuardText& guard) {
  take_hint(comment, guard);
  if (bracketed_place(comment, guard)) return;
  int marks = 0;
  for (std::size_t at = 0; at != kNowhere && marks < kMaxMarks; ++marks) {
    const std::string_view rest = trim(comment.substr(at));
    if (const auto place = leading_place(rest);
        place && !place->file.starts_with('#') && place->file.find(" # ") == kNowhere) {
      guard.file = place->file;
      guard.line = place->line;
      guard.function = place->function;
      guard.note = trim(rest.substr(place->end));
      std::string_view text = trim(comment.substr(0, at));
      if (text.ends_with('#')) text = trim(text.substr(0, text.size() - 1));
      guard.line_text = text;
      return;
    }
    const std::size_t mark = comment.find('#', at);
    at = mark == kNowhere ? kNowhere : mark + 1;
  }
  guard.note = comment;
}

/// Where the comment begins: `  # ` outside strings, else anywhere (a value may hold quotes that never close).
std::size_t find_comment(std::string_view text) {
  const std::size_t at = find_outside_strings(text, "  # ");
  return at != kNowhere ? at : text.find("  # ");
}

void finish(GuardText& guard, std::string_view text) {
  const std::size_t comment = find_comment(text);
  guard.code = trim(text.substr(0, comment));
  if (comment != kNowhere) parse_comment(trim(text.substr(comment + 4)), guard);
  if (guard.kind.empty()) guard.kind = guess_guard_kind(guard.code);
  if (guard.source.empty()) guard.source = guarded_source(guard.code);
}

/// Builds the list of leaves line by line.
class TreeParser {
 public:
  explicit TreeParser(GuardTree& tree) : tree_(tree) {}

  void line(std::string_view text, std::int64_t number) {
    std::size_t depth = 0;
    std::string_view rest;
    if (tree_line(text, depth, rest)) {
      close_leaf();
      if (kind_length(rest) > 0) {
        open_leaf(rest, depth, number);
      } else {
        manager(rest, depth);
      }
    } else if (const double latency = parse_latency(text); latency >= 0) {
      close_leaf();
      tree_.latency_ns = latency;
    } else if (open_) {
      body_.append("\n").append(text);
    }
  }

  void close_leaf() {
    if (!open_) return;
    open_ = false;
    const std::string_view body = trim_right(body_);
    leaf_.detail = leaf_.kind + (body.empty() ? "" : ": ") + std::string(body);
    finish(leaf_, body);
    if (body.empty()) repeat();
    tree_.guards.push_back(std::move(leaf_));
  }

 private:
  void manager(std::string_view text, std::size_t depth) {
    ++tree_.managers;
    if (managers_.size() > depth) managers_.resize(depth);
    managers_.push_back(parse_manager(text));
    // a `KeyValueManager pair` has no value of its own
    if (managers_.back().source.empty() && managers_.size() > 1) {
      managers_.back().source = managers_[managers_.size() - 2].source;
      managers_.back().type = managers_[managers_.size() - 2].type;
    }
  }

  void open_leaf(std::string_view text, std::size_t depth, std::int64_t number) {
    if (managers_.size() > depth) managers_.resize(depth);
    const std::size_t kind = kind_length(text);
    leaf_ = {};
    leaf_.kind = text.substr(0, kind);
    leaf_.path = join_labels(managers_);
    leaf_.text_line = number;
    if (!managers_.empty()) {
      leaf_.source = managers_.back().source;
      leaf_.type = managers_.back().type;
    }
    body_ = kind < text.size() ? trim(text.substr(kind + 1)) : std::string_view{};
    open_ = true;
  }

  void repeat() {
    leaf_.repeated = true;
    for (auto first = tree_.guards.rbegin(); first != tree_.guards.rend(); ++first) {
      if (first->kind != leaf_.kind || first->repeated) continue;
      leaf_.code = first->code;
      return;
    }
  }

  GuardTree& tree_;
  std::vector<Manager> managers_;
  GuardText leaf_;
  std::string body_;
  bool open_ = false;
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != kNowhere; }

/// The end of `.attr`, `[...]`, `(...)` after a root at `at`.
std::size_t end_of_chain(std::string_view code, std::size_t at) {
  while (at < code.size()) {
    const char c = code[at];
    if (c == '.') {
      std::size_t end = at + 1;
      while (end < code.size() && (is_kind_letter(code[end]) || (code[end] >= 'a' && code[end] <= 'z'))) ++end;
      if (end == at + 1) return at;
      at = end;
    } else if (c == '[' || c == '(') {
      const std::size_t close = find_outside_quotes(code, c == '[' ? "]" : ")", at + 1);
      if (close == kNowhere) return at;
      at = close + 1;
    } else {
      return at;
    }
  }
  return at;
}

}  // namespace

GuardTree parse_guard_tree(std::string_view text) {
  GuardTree tree;
  TreeParser parser(tree);
  std::int64_t number = 0;
  for (const std::string_view line : text_lines(text)) parser.line(line, ++number);
  parser.close_leaf();
  return tree;
}

GuardText parse_guard_code(std::string_view text) {
  GuardText guard;
  text = trim(text);
  guard.detail = text;
  if (const std::size_t kind = kind_length(text); kind > 2 && kind < text.size()) {
    guard.kind = text.substr(0, kind);
    text = trim(text.substr(kind + 1));
  }
  finish(guard, text);
  return guard;
}

std::string guess_guard_kind(std::string_view code) {
  constexpr std::pair<std::string_view, std::string_view> kStarts[] = {
      {"check_tensor(", "TENSOR_MATCH"},
      {"tensor '", "TENSOR_MATCH"},
      {"Tensor ", "TENSOR_MATCH"},
      {"___check_type_id(", "TYPE_MATCH"},
      {"___check_obj_id(", "ID_MATCH"},
      {"___check_global_state(", "GLOBAL_STATE"},
      {"GLOBAL_STATE changed", "GLOBAL_STATE"},
      {"___check_torch_function_mode_stack(", "TORCH_FUNCTION_MODE_STACK"},
      {"utils_device.CURRENT_DEVICE", "DEFAULT_DEVICE"},
      {"check_no_aliasing(", "NO_TENSOR_ALIASING"},
      {"Duplicate tensor", "NO_TENSOR_ALIASING"},
      {"___dict_contains(", "DICT_CONTAINS"},
      {"not ___dict_contains(", "DICT_CONTAINS"},
      {"___key_not_in", "DICT_CONTAINS"},
      {"___dict_version(", "DICT_VERSION"},
      {"___needs_nopython(", "NOPYTHON"},
      {"hasattr(", "HASATTR"},
      {"not hasattr(", "NO_HASATTR"},
      {"len(", "LENGTH_CHECK"},
      {"not ", "LENGTH_CHECK"},
      {"Eq(", "SHAPE_ENV"},
      {"Ne(", "SHAPE_ENV"},
  };
  for (const auto& [start, kind] : kStarts)
    if (code.starts_with(start)) return std::string(kind);
  if (code.ends_with(" is None")) return "NONE_MATCH";
  if (code.ends_with(" == True")) return "TRUE_MATCH";
  if (code.ends_with(" == False")) return "FALSE_MATCH";
  for (const std::string_view part : {".size()[", ".stride()[", ".storage_offset()", "Mod(", "Max(", " <= ", " < "})
    if (has(code, part)) return "SHAPE_ENV";
  return has(code, " == ") ? "EQUALS_MATCH" : "";
}

std::string guarded_source(std::string_view code) {
  std::size_t at = kNowhere;
  for (const std::string_view root : {"L['", "G['", "L[\"", "G[\""}) {
    const std::size_t found = code.find(root);
    if (found < at && (found == 0 || !is_kind_letter(code[found - 1]))) at = found;
  }
  if (at == kNowhere) return {};
  return std::string(code.substr(at, end_of_chain(code, at + 1) - at));
}

trace::SourceLocation guard_location(const GuardText& guard, const KnownFiles& files) {
  trace::SourceLocation place;
  if (guard.file.empty()) return place;
  place.file = files.resolve(guard.file, guard.line, guard.line_text);
  place.line = guard.line;
  place.function = guard.function;
  place.text = guard.line_text;
  return place;
}

trace::GuardRecord guard_record(const GuardText& guard) {
  trace::GuardRecord record;
  record.kind = guard.kind;
  record.expression = guard.code;
  record.source = guard.source;
  record.path = guard.path;
  record.detail = guard.detail;
  return record;
}

}  // namespace strata::capture
