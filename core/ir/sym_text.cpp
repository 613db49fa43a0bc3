// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Text of symbolic integers: sympy's infix spelling, and `srepr`.

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/ir/sym_impl.h"
#include "core/support/error.h"

namespace strata {

namespace {

constexpr int kMaxParseDepth = 200;
constexpr int64_t kMaxPower = 64;
constexpr std::array<std::string_view, 8> kBareNames = {"True", "False", "None", "oo", "int_oo", "nan", "zoo", "inf"};

bool is_bare(std::string_view name) {
  return std::find(kBareNames.begin(), kBareNames.end(), name) != kBareNames.end();
}

bool name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool name_part(char c) { return name_start(c) || digit(c) || c == '.'; }

bool is_plain_name(std::string_view s) {
  return !s.empty() && name_start(s[0]) && s.back() != '.' && std::all_of(s.begin(), s.end(), name_part);
}

/// A literal that is kept as text: `0.5`, `1e-05`, `99999999999999999999`.
bool is_number_text(std::string_view s) {
  size_t i = 0;
  while (i < s.size() && digit(s[i])) ++i;
  if (i == 0) return false;
  if (i < s.size() && s[i] == '.') {
    for (++i; i < s.size() && digit(s[i]);) ++i;
  }
  if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
    ++i;
    if (i < s.size() && (s[i] == '-' || s[i] == '+')) ++i;
    size_t digits = i;
    while (i < s.size() && digit(s[i])) ++i;
    if (i == digits) return false;
  }
  return i == s.size();
}

/// PyTorch's functions that make a whole number of a float.
constexpr std::array<std::pair<std::string_view, SymRounding>, 4> kRoundings = {{{"TruncToInt", SymRounding::Trunc},
                                                                                 {"FloorToInt", SymRounding::Floor},
                                                                                 {"CeilToInt", SymRounding::Ceil},
                                                                                 {"RoundToInt", SymRounding::Even}}};
/// As many digits as sympy prints of a float, which may have more.
constexpr int kPrintedDigits = 15;

int significant_digits(std::string_view number) {
  const std::string_view digits = number.substr(0, number.find_first_of("eE"));
  const std::string_view significant = digits.substr(std::min(digits.find_first_of("123456789"), digits.size()));
  return static_cast<int>(std::ranges::count_if(significant, digit));
}

/// The text of a factor, which tells all of it: not in as many digits as would be taken for a part of them.
std::string factor_text(double factor) {
  char text[40];
  char* end = std::to_chars(text, text + sizeof text, factor).ptr;
  if (significant_digits({text, end}) == kPrintedDigits)
    end = std::to_chars(text, text + sizeof text, factor, std::chars_format::scientific, kPrintedDigits + 1).ptr;
  const std::string digits(text, end);
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;  // not a whole number's
}

std::string quoted(std::string_view name) {
  std::string out = "`";
  for (char c : name) {
    if (c == '`' || c == '\\') out += '\\';
    out += c;
  }
  return out + '`';
}

// --------------------------------------------------------------------------------------------------------------
// printing

struct Printed {
  std::string text;
  enum Level { Sum, Product, Divide, Atomic } level;  // what it binds like
};

std::string in_parentheses(const Printed& p) { return p.level == Printed::Atomic ? p.text : "(" + p.text + ")"; }

Printed print(const SymInt& a);

std::string print_args(const std::vector<SymInt>& args, bool sorted) {
  std::vector<std::string> texts;
  for (const SymInt& arg : args) texts.push_back(print(arg).text);
  if (sorted) std::sort(texts.begin(), texts.end());
  std::string out = "(";
  for (size_t i = 0; i < texts.size(); ++i) out += (i ? ", " : "") + texts[i];
  return out + ")";
}

Printed print(const SymAtom& atom, const SymCore& core) {
  switch (atom.kind) {
    case SymAtomKind::Symbol: {
      const std::string& name = core.symbols[atom.symbol].name;
      return {is_plain_name(name) && !is_bare(name) ? name : quoted(name), Printed::Atomic};
    }
    case SymAtomKind::FloorDiv:
    case SymAtomKind::Mod: {
      const char* op = atom.kind == SymAtomKind::FloorDiv ? "//" : " % ";
      return {in_parentheses(print(atom.args[0])) + op + in_parentheses(print(atom.args[1])), Printed::Divide};
    }
    case SymAtomKind::Min:
      return {"Min" + print_args(atom.args, true), Printed::Atomic};
    case SymAtomKind::Max:
      return {"Max" + print_args(atom.args, true), Printed::Atomic};
    case SymAtomKind::Scaled: {
      const auto is_it = [&](const auto& entry) { return entry.second == atom.rounding; };
      const std::string name(std::ranges::find_if(kRoundings, is_it)->first);
      return {name + "(" + factor_text(atom.factor) + "*ToFloat" + print_args(atom.args, false) + ")", Printed::Atomic};
    }
    case SymAtomKind::Opaque:
      break;
  }
  if (atom.args.empty() && (is_bare(atom.name) || is_number_text(atom.name))) return {atom.name, Printed::Atomic};
  std::string name = is_plain_name(atom.name) ? atom.name : quoted(atom.name);
  return {name + print_args(atom.args, false), Printed::Atomic};
}

/// One term, ready to be sorted as sympy sorts: by its factors' names, higher powers first.
struct PrintedTerm {
  int64_t coefficient = 0;
  std::vector<std::pair<Printed, int>> factors;

  bool operator<(const PrintedTerm& other) const {
    for (size_t i = 0; i < std::min(factors.size(), other.factors.size()); ++i) {
      const auto &a = factors[i], &b = other.factors[i];
      if (a.first.text != b.first.text) return a.first.text < b.first.text;
      if (a.second != b.second) return a.second > b.second;
    }
    return factors.size() > other.factors.size();
  }
};

PrintedTerm printed_term(const SymMonomial& m, const SymCore& core) {
  PrintedTerm term{m.coefficient, {}};
  const SymAtom* last = nullptr;
  for (const SymAtom* f : m.product->factors) {
    if (f == last) {
      ++term.factors.back().second;
    } else {
      term.factors.emplace_back(print(*f, core), 1);
    }
    last = f;
  }
  std::sort(term.factors.begin(), term.factors.end(),
            [](const auto& a, const auto& b) { return a.first.text < b.first.text; });
  return term;
}

/// The term without its sign.
Printed print(const PrintedTerm& term, bool negative) {
  uint64_t magnitude = static_cast<uint64_t>(term.coefficient);
  if (term.coefficient < 0) magnitude = 0 - magnitude;
  const bool alone = magnitude == 1 && term.factors.size() == 1 && term.factors[0].second == 1 && !negative;
  if (alone) return term.factors[0].first;
  std::string out = magnitude == 1 ? "" : std::to_string(magnitude);
  for (const auto& [factor, power] : term.factors) {
    if (!out.empty()) out += '*';
    out += in_parentheses(factor);
    if (power > 1) out += "**" + std::to_string(power);
  }
  return {out, Printed::Product};
}

Printed print(const SymInt& a) {
  if (a.is_const()) return {std::to_string(a.value()), a.value() < 0 ? Printed::Sum : Printed::Atomic};
  const SymExpr& e = *a.expr();
  std::vector<PrintedTerm> all;
  for (const SymMonomial& t : e.terms) all.push_back(printed_term(t, *e.core));
  std::sort(all.begin(), all.end());
  if (all.size() == 1 && e.constant == 0 && all[0].coefficient >= 0) return print(all[0], false);
  std::string out;
  for (const PrintedTerm& t : all) {
    const bool negative = t.coefficient < 0;
    if (out.empty()) {
      out = negative ? "-" : "";
    } else {
      out += negative ? " - " : " + ";
    }
    out += print(t, negative).text;
  }
  if (e.constant > 0) out += " + " + std::to_string(e.constant);
  if (e.constant < 0) out += " - " + std::to_string(e.constant).substr(1);
  return {out, Printed::Sum};
}

// --------------------------------------------------------------------------------------------------------------
// meaning

[[noreturn]] void bad_arity(std::string_view name, const char* expected, size_t found) {
  throw_user("wrong number of arguments of " + std::string(name) + " in a size: expected " + expected + ", found " +
             std::to_string(found));
}

SymInt power(ShapeEnv& env, const SymInt& base, const SymInt& exponent) {
  if (!exponent.is_const() || exponent.value() < 0 || exponent.value() > kMaxPower)
    return env.opaque("Pow", {base, exponent});
  SymInt result = 1;
  for (int64_t i = 0; i < exponent.value(); ++i) result = result * base;
  return result;
}

SymInt fold(const std::vector<SymInt>& args, SymInt (*f)(const SymInt&, const SymInt&), std::string_view name) {
  if (args.empty()) bad_arity(name, "at least 1", 0);
  SymInt result = args[0];
  for (size_t i = 1; i < args.size(); ++i) result = f(result, args[i]);
  return result;
}

/// The only term of an expression; null where there are more, or a constant beside it.
const SymMonomial* only_term(const SymInt& a) {
  return !a.is_const() && a.expr()->constant == 0 && a.expr()->terms.size() == 1 ? &a.expr()->terms[0] : nullptr;
}

/// A float of an expression, `2.0` or `-0.5`.
std::optional<double> float_of(const SymAtom& atom) {
  if (atom.kind != SymAtomKind::Opaque || !atom.args.empty() || atom.name.empty()) return {};
  char* end = nullptr;
  const double value = std::strtod(atom.name.c_str(), &end);
  return *end ? std::nullopt : std::optional(value);
}

/// A number over a positive one.
struct Fraction {
  SymInt over;
  int64_t under = 1;
};
constexpr int64_t kMostUnder = 1 << 18;  ///< what floats of 64 bits tell on the right side of the next whole number

/// `ToFloat(n) - 0.5` as (2*n - 1) / 2: a float of 64 bits tells it exactly. Nothing for other sums.
std::optional<Fraction> fraction_in(const SymInt& a) {
  if (a.is_const()) return Fraction{a};
  Fraction sum{a.expr()->constant};
  const auto add = [&](const SymInt& over, int64_t under) {  // both are powers of two
    const int64_t common = std::max(sum.under, under);
    sum = {sum.over * SymInt(common / sum.under) + over * SymInt(common / under), common};
  };
  for (const SymMonomial& term : a.expr()->terms) {
    const auto& factors = term.product->factors;
    if (factors.size() != 1 || factors[0]->kind != SymAtomKind::Opaque) return {};
    const SymAtom& atom = *factors[0];
    if (const auto number = float_of(atom)) {
      const bool is_whole = std::abs(*number) < 0x1p31 && *number == std::trunc(*number);
      const auto parts = is_whole ? std::pair(static_cast<int64_t>(std::abs(*number)), int64_t{1})
                                  : short_fraction(std::abs(*number)).value_or(std::pair(int64_t{0}, int64_t{0}));
      if (parts.second == 0 || parts.second > kMostUnder) return {};
      add(SymInt(*number < 0 ? -term.coefficient : term.coefficient) * SymInt(parts.first), parts.second);
    } else if (atom.name == "ToFloat" && atom.args.size() == 1) {
      add(SymInt(term.coefficient) * atom.args[0], 1);
    } else {
      return {};
    }
  }
  return sum;
}

/// `FloatTrueDiv(ToFloat(n), 2.0)` (PyTorch's of `arange` with floats).
std::optional<Fraction> quotient_in(const SymAtom& atom) {
  if (atom.name != "FloatTrueDiv" || atom.args.size() != 2) return {};
  const auto over = fraction_in(atom.args[0]), under = fraction_in(atom.args[1]);
  if (!over || !under || !under->over.is_const() || under->over.value() == 0) return {};
  const int64_t divisor = under->over.value();
  if (std::abs(divisor) > kMostUnder || over->under * std::abs(divisor) > kMostUnder) return {};
  return Fraction{over->over * SymInt(divisor < 0 ? -under->under : under->under), over->under * std::abs(divisor)};
}

/// `FloorToInt(IntTrueDiv(s0, 3))` in whole numbers: one whole factor or one quotient, which a float of 64 bits tells
/// exactly or, of a quotient, on the right side of the next whole number. Nothing for others.
std::optional<SymInt> rounded(std::string_view name, const SymInt& value) {
  std::optional<SymInt> size;
  int64_t numerator = 1, denominator = 1;
  const auto rounded_fraction = [&]() -> std::optional<SymInt> {
    if (size && denominator == 1 && numerator == 1) return size;
    if (!size || numerator < 0 || numerator > (1 << 20)) return {};
    if (name == "TruncToInt" && range(*size).min < 0) return {};
    SymInt times = *size * SymInt(numerator);
    if (name == "CeilToInt") times = times + SymInt(denominator - 1);
    return floordiv(times, SymInt(denominator));
  };
  if (const auto fraction = fraction_in(value)) {
    size = fraction->over;
    denominator = fraction->under;
    return rounded_fraction();
  }
  const SymMonomial* term = only_term(value);
  if (!term) return {};
  numerator = term->coefficient;
  bool product = numerator != 1;
  for (const SymAtom* factor : term->product->factors) {
    if (factor->kind != SymAtomKind::Opaque) return {};
    if (!size && factor->name == "ToFloat" && factor->args.size() == 1) {
      size = factor->args[0];
    } else if (!size && factor->name == "IntTrueDiv" && factor->args.size() == 2 && factor->args[1].is_const() &&
               factor->args[1].value() > 0) {
      size = factor->args[0];
      if (std::exchange(product, true)) return {};
      denominator = factor->args[1].value();
    } else if (const auto quotient = quotient_in(*factor); quotient && !size && !std::exchange(product, true)) {
      size = quotient->over;
      denominator = quotient->under;
    } else {
      return {};
    }
  }
  return rounded_fraction();
}

/// `TruncToInt(0.7*ToFloat(s0))` (PyTorch's of resized images). Nothing for others, nor where the factor may have been
/// printed in part.
std::optional<SymInt> scaled_size(SymRounding rounding, const SymInt& value) {
  const SymMonomial* term = only_term(value);
  if (!term || std::abs(term->coefficient) != 1 || term->product->factors.size() != 2) return {};
  std::optional<double> factor;
  std::optional<SymInt> size;
  for (const SymAtom* atom : term->product->factors) {
    const auto number = float_of(*atom);
    if (number && (significant_digits(atom->name) != kPrintedDigits || short_fraction(*number)))
      factor = *number * static_cast<double>(term->coefficient);
    else if (atom->kind == SymAtomKind::Opaque && atom->name == "ToFloat" && atom->args.size() == 1)
      size = atom->args[0];
  }
  if (!factor || !size || !std::isfinite(*factor)) return {};
  return scaled(rounding, *factor, *size);
}

/// A call by the names sympy, PyTorch and Python use; what has no rule is opaque.
SymInt call(ShapeEnv& env, std::string_view name, const std::vector<SymInt>& args) {
  auto binary = [&](auto f) {
    if (args.size() != 2) bad_arity(name, "2", args.size());
    return f(args[0], args[1]);
  };
  if (name == "Add") return args.empty() ? SymInt(0) : fold(args, operator+, name);
  if (name == "Mul") return args.empty() ? SymInt(1) : fold(args, operator*, name);
  if (name == "Min" || name == "min" || name == "torch.sym_min") return fold(args, min, name);
  if (name == "Max" || name == "max" || name == "torch.sym_max") return fold(args, max, name);
  if (name == "Mod" || name == "PythonMod") return binary([](auto& a, auto& b) { return mod(a, b); });
  if (name == "FloorDiv" || name == "CleanDiv") return binary([](auto& a, auto& b) { return floordiv(a, b); });
  if (name == "Pow" || name == "PowByNatural") return binary([&](auto& a, auto& b) { return power(env, a, b); });
  if (name == "ModularIndexing") {
    if (args.size() != 3) bad_arity(name, "3", args.size());
    return mod(floordiv(args[0], args[1]), args[2]);
  }
  if ((name == "Identity" || name == "Integer") && args.size() == 1) return args[0];
  if (const auto* rounding = std::ranges::find(kRoundings, name, [](const auto& entry) { return entry.first; });
      rounding != kRoundings.end() && args.size() == 1) {
    if (rounding->second != SymRounding::Even)
      if (auto whole = rounded(name, args[0])) return *whole;
    if (auto whole = scaled_size(rounding->second, args[0])) return *whole;
  }
  if (name == "IntInfinity" && args.empty()) return env.opaque("int_oo", {});
  if (name == "NegativeIntInfinity" && args.empty()) return -env.opaque("int_oo", {});
  return env.opaque(name, args);
}

SymInt true_division(ShapeEnv& env, const SymInt& a, const SymInt& b) {
  if (a.is_const() && b.is_const() && b.value() != 0 && b.value() != -1 && a.value() % b.value() == 0) {
    return a.value() / b.value();
  }
  return env.opaque("IntTrueDiv", {a, b});
}

// ---------------------------------------------------------------------------------------------------------------
// parsing

/// What both readers need: a cursor with errors that give the column.
class Cursor {
 public:
  Cursor(ShapeEnv& env, std::string_view text) : env_(env), text_(text) {}

 protected:
  struct Depth {
    explicit Depth(Cursor& c) : c(c) {
      if (++c.depth_ > kMaxParseDepth) c.fail("at most " + std::to_string(kMaxParseDepth) + " levels of nesting");
    }
    ~Depth() { --c.depth_; }
    Cursor& c;
  };

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(std::string_view s) {
    skip();
    if (text_.substr(at_, s.size()) != s) return false;
    at_ += s.size();
    return true;
  }
  void expect(char c) {
    if (peek() != c || at_ >= text_.size()) fail(std::string("'") + c + "'");
    ++at_;
  }
  [[noreturn]] void fail(const std::string& expected) {
    skip();
    std::string found = at_ < text_.size() ? "'" + std::string(text_.substr(at_, 12)) + "'" : "the end";
    throw_user("size expression, column " + std::to_string(at_ + 1) + ": expected " + expected + ", found " + found);
  }
  std::string_view name() {
    skip();
    size_t start = at_;
    while (at_ < text_.size() && name_part(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  /// The text of an unsigned number.
  std::string_view number() {
    skip();
    size_t start = at_;
    auto digits = [&] {
      while (at_ < text_.size() && digit(text_[at_])) ++at_;
    };
    digits();
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      digits();
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      size_t before = at_++;
      if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
      size_t exponent = at_;
      digits();
      if (exponent == at_) at_ = before;
    }
    return text_.substr(start, at_ - start);
  }
  /// A string between `quote`s, with backslash escapes taken literally.
  std::string string(char quote) {
    expect(quote);
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_++];
    }
    if (at_ >= text_.size()) fail(std::string("a closing ") + quote);
    ++at_;
    return out;
  }
  SymInt literal(std::string_view digits, bool negative) {
    int64_t value = 0;
    std::string signed_text = (negative ? "-" : "") + std::string(digits);
    auto [end, error] = std::from_chars(signed_text.data(), signed_text.data() + signed_text.size(), value);
    if (error == std::errc() && end == signed_text.data() + signed_text.size()) return value;
    SymInt kept = env_.opaque(digits, {});
    return negative ? -kept : kept;
  }
  SymInt symbol(std::string_view name) {
    if (is_bare(name)) return env_.opaque(name, {});
    Symbol unknown;
    unknown.name = std::string(name);
    return env_.symbol(unknown);
  }

  ShapeEnv& env_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

class InfixParser : Cursor {
 public:
  using Cursor::Cursor;

  SymInt parse() {
    SymInt result = sum();
    if (peek() != '\0' || at_ < text_.size()) fail("an operator or the end");
    return result;
  }

 private:
  SymInt sum() {
    Depth depth(*this);
    SymInt result = product();
    while (true) {
      if (take("+")) {
        result = result + product();
      } else if (take("-")) {
        result = result - product();
      } else {
        return result;
      }
    }
  }

  SymInt product() {
    SymInt result = unary();
    while (true) {
      if (take("//")) {
        result = floordiv(result, unary());
      } else if (take("/")) {
        result = true_division(env_, result, unary());
      } else if (take("%")) {
        result = mod(result, unary());
      } else if (take("*")) {
        result = result * unary();
      } else {
        return result;
      }
    }
  }

  SymInt unary() {
    Depth depth(*this);
    if (take("+")) return unary();
    if (!take("-")) return powered(atom());
    if (digit(peek())) {
      // -9223372036854775808 has no positive counterpart.
      std::string_view digits = number();
      if (take("**")) return -power(env_, literal(digits, false), unary());
      return literal(digits, true);
    }
    return -unary();
  }

  SymInt powered(const SymInt& base) { return take("**") ? power(env_, base, unary()) : base; }

  SymInt atom() {
    char c = peek();
    if (digit(c)) return literal(number(), false);
    if (c == '`') {
      std::string quoted_name = string('`');
      return peek() == '(' ? env_.opaque(quoted_name, arguments()) : quoted_symbol(quoted_name);
    }
    if (name_start(c)) {
      std::string_view n = name();
      if (!is_plain_name(n)) fail("a name");
      return peek() == '(' ? call(env_, n, arguments()) : symbol(n);
    }
    if (!take("(")) fail("a number, a name or '('");
    SymInt inner = sum();
    expect(')');
    return inner;
  }

  SymInt quoted_symbol(const std::string& name) {
    Symbol unknown;
    unknown.name = name;
    return env_.symbol(unknown);
  }

  std::vector<SymInt> arguments() {
    expect('(');
    std::vector<SymInt> args;
    if (take(")")) return args;
    do {
      if (peek() == ')') break;
      args.push_back(sum());
    } while (take(","));
    expect(')');
    return args;
  }
};

class SreprParser : Cursor {
 public:
  using Cursor::Cursor;

  SymInt parse() {
    SymInt result = expression();
    if (peek() != '\0' || at_ < text_.size()) fail("the end");
    return result;
  }

 private:
  SymInt expression() {
    Depth depth(*this);
    char c = peek();
    if (digit(c)) return literal(number(), false);
    if (take("-")) {
      if (!digit(peek())) return -expression();
      return literal(number(), true);
    }
    if (c == '\'' || c == '"') return env_.opaque(string(c), {});
    if (!name_start(c)) fail("a call, a name or a number");
    std::string_view n = name();
    if (peek() != '(') {
      if (n == "true") return env_.opaque("True", {});
      if (n == "false") return env_.opaque("False", {});
      return symbol(n);
    }
    if (n == "Symbol" || n == "Dummy") return symbol_call();
    return plain_call(n);
  }

  SymInt symbol_call() {
    expect('(');
    char quote = peek();
    if (quote != '\'' && quote != '"') fail("the symbol's name in quotes");
    Symbol unknown;
    unknown.name = string(quote);
    while (take(",") && peek() != ')') {
      std::string_view key = name();
      expect('=');
      std::string_view value = name();
      if (value == "True" && key == "positive") unknown.range.min = std::max<int64_t>(unknown.range.min, 1);
      if (value == "True" && key == "nonnegative") unknown.range.min = std::max<int64_t>(unknown.range.min, 0);
    }
    expect(')');
    return env_.symbol(unknown);
  }

  SymInt plain_call(std::string_view head) {
    expect('(');
    std::vector<SymInt> args;
    std::string text;  // of the last string argument
    while (peek() != ')') {
      if (skip_keyword()) {
      } else if (peek() == '\'' || peek() == '"') {
        text = string(peek());
        if (head != "Float") args.push_back(env_.opaque(text, {}));
      } else {
        args.push_back(expression());
      }
      if (!take(",")) break;
    }
    expect(')');
    if (head == "Float" && args.empty()) return env_.opaque(text, {});
    return call(env_, head, args);
  }

  /// `precision=53`
  bool skip_keyword() {
    size_t start = at_;
    if (name_start(peek())) {
      name();
      if (take("=")) {
        if (peek() == '\'' || peek() == '"') {
          string(peek());
        } else if (name().empty()) {
          take("-");
          if (number().empty()) fail("a value");
        }
        return true;
      }
    }
    at_ = start;
    return false;
  }
};

}  // namespace

std::string SymInt::str() const {
  if (is_const()) return std::to_string(value_);
  std::lock_guard lock(expr_->core->mutex);
  return print(*this).text;
}

SymInt parse_sym(ShapeEnv& env, std::string_view text) { return InfixParser(env, text).parse(); }
SymInt parse_srepr(ShapeEnv& env, std::string_view text) { return SreprParser(env, text).parse(); }

}  // namespace strata
