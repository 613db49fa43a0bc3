// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Parser of ATen's schema notation. Schemas are literals of the operator table, so a mistake in one is our bug.

#include <charconv>

#include "core/ir/op.h"
#include "core/support/error.h"

namespace strata {
namespace {

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : text_(text) {}

  Schema parse() {
    Schema schema;
    schema.name = parse_name();
    expect('(');
    bool keyword_only = false;
    while (!accept(')')) {
      if (accept('*')) {
        keyword_only = true;
      } else {
        schema.params.push_back(parse_param());
        schema.params.back().keyword_only = keyword_only;
      }
      accept(',');
    }
    expect('-');
    expect('>');
    parse_returns(schema);
    return schema;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw_internal("operator schema '" + std::string(text_) + "': " + what + " at column " + std::to_string(at_ + 1));
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }
  std::string word() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string parse_name() {
    const size_t colons = text_.find("::");
    if (colons == std::string_view::npos) fail("expected 'namespace::name'");
    std::string space(text_.substr(0, colons));
    at_ = colons + 2;
    std::string name = word();
    if (name.find('.') == std::string::npos) name += ".default";
    return space + "." + name;
  }

  void parse_type(Param& p) {
    p.type = word();
    if (accept('(')) {  // alias annotation: (a), (a!), (a -> *)
      p.aliased = true;
      while (!accept(')')) {
        if (text_[at_] == '!') p.written = true;
        ++at_;
        if (at_ >= text_.size()) fail("unclosed alias annotation");
      }
    }
    if (accept('?')) p.optional = true;
    while (accept('[')) {
      p.list = true;
      word();
      expect(']');
      if (accept('?')) p.optional = true;
    }
  }

  Param parse_param() {
    Param p;
    parse_type(p);
    p.name = word();
    if (accept('=')) p.default_value = parse_default(p);
    return p;
  }

  Argument parse_default(const Param& p) {
    if (accept('[')) {
      std::vector<Argument> items;
      while (!accept(']')) {
        items.push_back(parse_default(p));
        accept(',');
      }
      return Argument::list(std::move(items));
    }
    if (accept('"') || accept('\'')) {
      std::string value = word();
      ++at_;
      return value;
    }
    const bool negative = accept('-');
    return literal((negative ? "-" : "") + word_with_exponent(), p);
  }

  std::string word_with_exponent() {
    std::string w = word();
    if (!w.empty() && w.back() == 'e' && at_ < text_.size() && text_[at_] == '-') {
      ++at_;
      w += "-" + word();
    }
    return w;
  }

  Argument literal(const std::string& w, const Param& p) const {
    if (w == "None") return NoneArg{};
    if (w == "True") return true;
    if (w == "False") return false;
    if (w == "Mean") return int64_t{1};  // at::Reduction
    if (w.find("_format") != std::string::npos) return EnumArg{"torch." + w};
    if (w.find_first_of(".e") != std::string::npos || p.type == "float") return std::stod(w);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(w.data(), w.data() + w.size(), value);
    if (error != std::errc() || end != w.data() + w.size()) fail("unknown default '" + w + "'");
    return value;
  }

  void parse_returns(Schema& schema) {
    const bool several = accept('(');
    do {
      if (accept(')')) return;
      Param p;
      parse_type(p);
      if (p.type.empty()) fail("expected a return type");
      schema.returns.push_back(p.type + (p.list ? "[]" : ""));
      schema.returns_alias |= p.aliased;
      if (several) word();  // name of the result
    } while (several && accept(','));
    if (several) expect(')');
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Schema parse_schema(std::string_view text) { return SchemaParser(text).parse(); }

size_t Schema::index_of(std::string_view param) const {
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].name == param) return i;
  throw_internal("operator " + name + " has no parameter '" + std::string(param) + "'");
}

}  // namespace strata
