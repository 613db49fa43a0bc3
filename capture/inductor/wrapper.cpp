// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// The functions of a Python wrapper: what `call` does, in order.

#include <algorithm>

#include "capture/inductor/py_text.h"
#include "capture/inductor/wrapper_reader.h"

namespace strata::capture::detail {
namespace {

constexpr int kMaxDepth = 16;
constexpr size_t kMaxLaunches = 1'000'000;
constexpr size_t kMaxStatementLines = 10'000;

}  // namespace

void WrapperReader::read() {
  const auto call = functions_.find("call");
  if (call == functions_.end()) return;
  run(call->second);
  for (const int b : out_.output_buffers) {
    if (b >= 0 && out_.buffers[static_cast<size_t>(b)].kind == "temporary") {
      out_.buffers[static_cast<size_t>(b)].kind = "output";
    }
  }
}

void WrapperReader::run(const PyFunction& function) {
  if (depth_ >= kMaxDepth) return;
  ++depth_;
  const size_t scopes = scopes_.size();
  CommentBlock comments;
  for (size_t i = function.first; i < function.last && out_.launches.size() < kMaxLaunches;) {
    const std::string_view line = lines_[i];
    const std::string_view text = py::trim(line);
    if (text.empty()) {
      ++i;
      continue;
    }
    if (text[0] == '#') {
      std::string_view comment = text.substr(1);
      if (comment.starts_with(" ")) comment.remove_prefix(1);
      comments.add(comment);
      ++i;
      continue;
    }
    leave_scopes(line.find_first_not_of(" \t"), scopes);
    const size_t next = end_of_statement(i, function.last);
    statement(i, next, comments);
    i = next;
  }
  scopes_.resize(std::min(scopes_.size(), scopes));
  --depth_;
}

size_t WrapperReader::end_of_statement(size_t i, size_t last) const {
  int depth = py::open_brackets(lines_[i]);
  size_t next = i + 1;
  while (depth > 0 && next < last && next - i < kMaxStatementLines) depth += py::open_brackets(lines_[next++]);
  return next;
}

void WrapperReader::leave_scopes(size_t indent, size_t keep) {
  while (scopes_.size() > keep && scopes_.back().first >= indent) scopes_.pop_back();
}

void WrapperReader::statement(size_t first, size_t next, CommentBlock& comments) {
  std::string joined;
  std::string_view text = py::trim(lines_[first]);
  if (next > first + 1) {
    for (size_t i = first; i < next; ++i) {
      if (i > first) joined += ' ';
      joined += py::without_comment(lines_[i]);
    }
    text = joined;
  }
  if (scope(text, lines_[first].find_first_not_of(" \t"))) return;
  // `a = b; del b  # reuse`
  for (const std::string_view part : py::split(py::without_comment(text), ';')) {
    line_ = static_cast<std::int64_t>(first) + 1;
    last_line_ = static_cast<std::int64_t>(next);
    if (simple(part, text.find("# reuse") != std::string_view::npos, comments)) comments = {};
  }
}

bool WrapperReader::scope(std::string_view text, size_t indent) {
  for (const char* word : {"if ", "while ", "for ", "elif ", "else:", "with ", "try:", "except", "finally:"}) {
    if (!text.starts_with(word)) continue;
    const bool always = word[0] == 't' || std::string_view(word) == "with " || word[0] == 'f';
    std::string_view what = text.substr(0, text.find(':'));
    scopes_.emplace_back(indent, always && word[1] != 'o' ? std::string() : std::string(what));
    return true;
  }
  return false;
}

std::string WrapperReader::current_scope() const {
  std::string out;
  for (const auto& [indent, text] : scopes_) {
    if (text.empty()) continue;
    if (!out.empty()) out += " > ";
    out += text;
  }
  return out;
}

bool WrapperReader::simple(std::string_view text, bool reuse, const CommentBlock& comments) {
  if (text.starts_with("del ") || text == "pass" || text.starts_with("global ")) return false;
  if (text.starts_with("return")) {
    returns(py::trim(text.substr(6)));
    return true;
  }
  const size_t equals = py::assignment(text);
  if (equals == std::string_view::npos) return call(text, {}, comments);
  const std::string_view left = py::trim(text.substr(0, equals));
  const std::string_view right = py::trim(text.substr(equals + 1));
  if (right.empty() || left.empty()) return false;
  return assign(left, right, reuse, comments);
}

bool WrapperReader::assign(std::string_view left, std::string_view right, bool reuse, const CommentBlock& comments) {
  if (right == "args") {
    unpack_arguments(left);
    return false;
  }
  if (py::is_name(right)) {
    rename(left, right, reuse);
    return false;
  }
  if (right[0] == '[') {
    list(left, right);
    return false;
  }
  if (const size_t open = right.find('['); open != std::string_view::npos && py::is_name(right.substr(0, open))) {
    element(left, right.substr(0, open), right.substr(open), right);
    return false;
  }
  if (right.starts_with("reinterpret_tensor(") || right.starts_with("alloc_from_pool(")) {
    view(left, right, reuse);
    return false;
  }
  if (right.find(".item()") != std::string_view::npos) return item(right, comments);
  const size_t open = right.find('(');
  if (open != std::string_view::npos && allocates(right.substr(0, open))) {
    allocate(left, right, open);
    return false;
  }
  return call(right, left, comments);
}

void WrapperReader::returns(std::string_view text) {
  returned_.clear();
  for (const std::string_view item : py::items(text)) {
    returned_.push_back(root_name(item));
    if (depth_ == 1) out_.outputs.emplace_back(item);
  }
  if (depth_ == 1) out_.output_buffers = returned_;
}

void read_wrapper(OutputCode& out, const std::vector<std::string_view>& lines, const PyFunctions& functions,
                  const std::vector<std::string>& partitions) {
  WrapperReader(out, lines, functions, partitions).read();
}

void read_examples(OutputCode& out, const std::vector<std::string_view>& lines, const PyFunction& function) {
  std::unordered_map<std::string_view, int> inputs;
  for (size_t i = 0; i < out.buffers.size(); ++i) {
    const CodeBuffer& b = out.buffers[i];
    if (b.kind != "temporary") inputs.try_emplace(b.name, static_cast<int>(i));
  }
  for (size_t i = function.first; i < function.last; ++i) {
    const size_t equals = py::assignment(lines[i]);
    if (equals == std::string_view::npos) continue;
    const auto it = inputs.find(py::trim(lines[i].substr(0, equals)));
    const std::string_view right = py::trim(lines[i].substr(equals + 1));
    if (it == inputs.end()) continue;
    CodeBuffer& b = out.buffers[static_cast<size_t>(it->second)];
    if (b.kind == "symbol") {
      const auto hint = py::integer(right);
      if (hint && !b.inits.empty()) out.symbol_hints.emplace_back(b.inits[0], *hint);
      continue;
    }
    if (!right.starts_with("rand_strided(")) continue;
    const std::vector<std::string_view> parts = py::items(right.substr(12));
    for (std::string_view part : parts) {
      if (part.starts_with("device=")) b.device = py::unquote(part.substr(7));
      if (part.starts_with("dtype=torch.")) b.dtype = part.substr(12);
    }
    if (b.has_sizes || parts.size() < 2) continue;
    for (const std::string_view size : py::items(parts[0])) b.sizes.emplace_back(size);
    for (const std::string_view stride : py::items(parts[1])) b.strides.emplace_back(stride);
    b.has_sizes = true;
  }
}

}  // namespace strata::capture::detail
