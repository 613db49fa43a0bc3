// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/fx_line.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/ir/dtype.h"
#include "core/ir/fx_listing.h"
#include "core/ir/op.h"

namespace strata::fx {

namespace {

/// Deeper lists are left to the other reader, which has a limit.
constexpr int kMaxDepth = 32;

enum Class : uint8_t { kNone = 0, kStart = 1, kPart = 2, kDigit = 4 };
constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = kStart | kPart;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = kStart | kPart;
  table['_'] = kStart | kPart;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = kPart | kDigit;
  return table;
}();
bool is(char c, Class what) { return (kClasses[static_cast<unsigned char>(c)] & what) != 0; }

class LineReader {
 public:
  LineReader(std::string_view text, size_t start, FxNames& names, Callees& callees)
      : begin_(text.data()), p_(begin_ + start), end_(begin_ + text.size()), names_(names), callees_(callees) {}

  bool read(LineStatement& out) {
    out.name = identifier();
    if (out.name.empty() || out.name == "class" || out.name == "return" || out.name == "pass" || out.name == "def")
      return false;
    if (names_.contains(out.name)) return false;
    if (!annotation(out)) return false;
    if (!take('=') || peek() == '=') return false;
    blanks();
    out.node = std::make_unique<Node>();
    if (!expression(*out.node)) return false;
    out.cleaned_up.clear();
    blanks();
    if (peek() == ';' && !clean_up(out)) return false;
    blanks();
    if (p_ < end_ && *p_ != '\n') return false;
    out.end = static_cast<size_t>(p_ - begin_);
    return true;
  }

 private:
  char peek() const { return p_ < end_ ? *p_ : '\0'; }
  void blanks() {
    while (p_ < end_ && *p_ == ' ') ++p_;
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++p_;
    return true;
  }

  /// Empty if there is none; one that goes on in another alphabet is none.
  std::string_view identifier() {
    const char* start = p_;
    if (p_ == end_ || !is(*p_, kStart)) return {};
    while (p_ < end_ && is(*p_, kPart)) ++p_;
    if (p_ < end_ && (*p_ & 0x80)) return {};
    return {start, static_cast<size_t>(p_ - start)};
  }

  /// `a.b.c`: the first name and the whole.
  std::string_view dotted(std::string_view& root) {
    const char* start = p_;
    root = identifier();
    if (root.empty()) return {};
    while (peek() == '.') {
      ++p_;
      if (identifier().empty()) return {};
    }
    return {start, static_cast<size_t>(p_ - start)};
  }

  bool annotation(LineStatement& out) {
    out.annotated = take(':');
    blanks();
    if (!out.annotated) return true;
    if (!take('"')) return false;
    const char* start = p_;
    while (p_ < end_ && *p_ != '"') {
      if (*p_ == '\\' || *p_ == '\n') return false;
      ++p_;
    }
    out.annotation = {start, static_cast<size_t>(p_ - start)};
    if (!take('"') || out.annotation.empty()) return false;
    blanks();
    return true;
  }

  // ------------------------------------------------------------------------------------------------------ expressions

  bool expression(Node& node) {
    std::string_view root;
    const std::string_view name = dotted(root);
    if (name.empty() || root == "self" || root == "getattr") return false;
    FxNames::Entry* entry = names_.find(root);
    if (peek() == '[') return root.size() == name.size() && entry && getitem(node, entry);
    if (peek() != '(') return false;
    ++p_;
    if (!entry) {
      call_function(node, name);
    } else if (!call_method(node, *entry, name.substr(root.size()))) {
      return false;
    }
    return arguments(node);
  }

  void call_function(Node& node, std::string_view name) {
    auto found = callees_.find(name);
    if (found == callees_.end()) {
      Node probe;
      set_call_target(probe, std::string(name));
      found = callees_.emplace(name, Callee{probe.target, find_op(probe.target), probe.meta.extra}).first;
    }
    node.kind = NodeKind::Call;
    node.target = found->second.target;
    node.op = found->second.op;
    if (!found->second.extra.empty()) node.meta.extra = found->second.extra;
  }

  bool call_method(Node& node, const FxNames::Entry& self, std::string_view rest) {
    if (rest.size() < 2 || rest.rfind('.') != 0 || self.dead) return false;
    node.kind = NodeKind::CallMethod;
    node.target = rest.substr(1);
    node.args.emplace_back(self.node);
    return true;
  }

  bool getitem(Node& node, const FxNames::Entry* base) {
    ++p_;
    Argument index;
    if (base->dead || !value(index, 0) || !take(']')) return false;
    node.kind = NodeKind::Call;
    node.target = "_operator.getitem";
    node.op = getitem_op();
    node.args.reserve(2);
    node.args.emplace_back(base->node);
    node.args.push_back(std::move(index));
    return true;
  }
  static const OpDef* getitem_op() {
    static const OpDef* const op = find_op("_operator.getitem");
    return op;
  }

  /// Behind `(`.
  bool arguments(Node& node) {
    blanks();
    while (!take(')')) {
      Argument a;
      std::string_view key;
      if (!keyword(key) || !value(a, 0)) return false;
      if (key.empty()) {
        node.args.push_back(std::move(a));
      } else {
        node.kwargs.emplace_back(std::string(key), std::move(a));
      }
      if (!comma(')')) return false;
    }
    return true;
  }

  /// `key = `, if that is next.
  bool keyword(std::string_view& key) {
    const char* start = p_;
    const std::string_view name = identifier();
    if (name.empty()) {
      p_ = start;
      return true;
    }
    blanks();
    if (peek() != '=') {
      p_ = start;
      return true;
    }
    ++p_;
    if (peek() == '=') return false;
    key = name;
    blanks();
    return true;
  }

  /// A comma and what follows it, or the closing bracket (which is not taken).
  bool comma(char closing) {
    blanks();
    if (peek() == closing) return true;
    if (!take(',')) return false;
    blanks();
    return true;
  }

  bool value(Argument& out, int depth) {
    const char c = peek();
    if (is(c, kDigit) || c == '-') return number(out);
    if (is(c, kStart)) return word(out);
    if (c == '[' || c == '(') return depth < kMaxDepth && list(out, depth);
    if (c == '\'' || c == '"') return text(out);
    return false;
  }

  /// Nothing that would make the value part of a larger expression may follow.
  bool ends() const {
    const char* p = p_;
    while (p < end_ && *p == ' ') ++p;
    return p < end_ && (*p == ',' || *p == ')' || *p == ']');
  }

  bool number(Argument& out) {
    const char* start = p_;
    if (*p_ == '-') ++p_;
    if (!is(peek(), kDigit)) return false;
    bool whole = true;
    const auto digits = [&] {
      while (is(peek(), kDigit)) ++p_;
    };
    digits();
    if (peek() == '.') {
      whole = false;
      ++p_;
      digits();
    }
    if (peek() == 'e') {
      whole = false;
      ++p_;
      if (peek() == '-' || peek() == '+') ++p_;
      if (!is(peek(), kDigit)) return false;
      digits();
    }
    if (!ends()) return false;
    if (whole) {
      int64_t v = 0;
      const auto [stop, error] = std::from_chars(start, p_, v);
      out = v;
      return error == std::errc() && stop == p_;
    }
    double v = 0;
    const auto [stop, error] = std::from_chars(start, p_, v);
    out = v;
    return error == std::errc() && stop == p_;
  }

  bool word(Argument& out) {
    std::string_view root;
    const std::string_view name = dotted(root);
    if (name.empty()) return false;
    if (peek() == '(') return name == "device" && device(out);
    if (!ends()) return false;
    if (root.size() != name.size()) return constant(name, out);
    if (FxNames::Entry* entry = names_.find(name)) {
      out = entry->node;
      return !entry->dead;
    }
    if (name == "None") {
      out = NoneArg{};
    } else if (name == "True" || name == "False") {
      out = name == "True";
    } else {
      return false;
    }
    return true;
  }

  /// `torch.float32`, `torch.strided`
  static bool constant(std::string_view name, Argument& out) {
    constexpr std::string_view kTorch = "torch.";
    if (!name.starts_with(kTorch)) return false;
    if (const auto dtype = parse_dtype_name(name); dtype && dtype_name(*dtype) == name.substr(kTorch.size())) {
      out = *dtype;
    } else {
      out = EnumArg{std::string(name)};
    }
    return true;
  }

  bool literally(std::string_view text) {
    if (!std::string_view(p_, static_cast<size_t>(end_ - p_)).starts_with(text)) return false;
    p_ += text.size();
    return true;
  }

  /// `device(type='cuda', index=0)`, as it is printed.
  bool device(Argument& out) {
    if (!literally("(type='")) return false;
    std::string name(identifier());
    if (name.empty() || !take('\'')) return false;
    if (literally(", index=")) {
      const char* start = p_;
      while (is(peek(), kDigit)) ++p_;
      if (p_ == start) return false;
      name.append(":").append(start, p_);
    }
    out = DeviceArg{std::move(name)};
    return take(')') && ends();
  }

  bool list(Argument& out, int depth) {
    const bool tuple = *p_ == '(';
    const char closing = tuple ? ')' : ']';
    ++p_;
    ListArg items;
    items.kind = tuple ? ListArg::Kind::Tuple : ListArg::Kind::List;
    blanks();
    bool one = false;
    while (!take(closing)) {
      items.items.emplace_back();
      if (!value(items.items.back(), depth + 1)) return false;
      blanks();
      one = peek() == closing && items.items.size() == 1;
      if (!comma(closing)) return false;
    }
    if (tuple && one) return false;  // parentheses around a value
    out = std::move(items);
    return ends();
  }

  bool text(Argument& out) {
    const char quote = *p_++;
    const char* start = p_;
    while (p_ < end_ && *p_ != quote) {
      if (*p_ == '\\' || *p_ == '\n') return false;
      ++p_;
    }
    if (p_ == end_) return false;
    std::string value(start, p_++);
    if (value.empty() && peek() == quote) return false;  // three quotes
    out = std::move(value);
    return ends();
  }

  // --------------------------------------------------------------------------------------------------------- clean-ups

  /// `;  a = b = None`
  bool clean_up(LineStatement& out) {
    ++p_;
    blanks();
    while (true) {
      const std::string_view name = identifier();
      if (name.empty()) return false;
      blanks();
      if (name == "None") return !out.cleaned_up.empty();
      if (!take('=')) return false;
      blanks();
      // The node of this line has no entry yet: it stands for itself.
      FxNames::Entry* entry = name == out.name ? nullptr : names_.find(name);
      if (name != out.name && (!entry || entry->dead)) return false;
      if (std::find(out.cleaned_up.begin(), out.cleaned_up.end(), entry) != out.cleaned_up.end()) return false;
      out.cleaned_up.push_back(entry);
    }
  }

  const char *begin_, *p_, *end_;
  FxNames& names_;
  Callees& callees_;
};

}  // namespace

bool read_line_statement(std::string_view text, size_t start, FxNames& names, Callees& callees, LineStatement& out) {
  return LineReader(text, start, names, callees).read(out);
}

}  // namespace strata::fx
