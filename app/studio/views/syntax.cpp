// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/syntax.h"

#include <QSet>
#include <QString>
#include <algorithm>
#include <utility>

#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

QSet<QString> words(const char* text) {
  const QStringList list = QString::fromLatin1(text).split(' ', Qt::SkipEmptyParts);
  return {list.begin(), list.end()};
}

/// How a language is told apart into words.
struct Rules {
  QString comment;        ///< begins a comment up to the end of the line
  QString other_comment;  ///< likewise
  QString names;          ///< characters that begin a name: registers, values
  QSet<QString> keywords;
  bool triple_quotes = false;     ///< strings over several lines
  bool block_comments = false;    ///< /* */
  bool first_is_keyword = false;  ///< the first word of a line is an instruction, unless it is a label
  bool single_quotes = true;      ///< '...' is a string
};

const Rules& rules(Language language) {
  static const Rules plain;
  static const Rules python{
      "#",
      "",
      "@",
      words("and as assert async await break class continue def del elif else except False finally for from global if "
            "import in is lambda None nonlocal not or pass raise return True try while with yield self"),
      true,
      false,
      false,
      true};
  static const Rules cpp{
      "//",
      "",
      "#",
      words("alignas auto bool break case char class const constexpr continue default do double else enum extern false "
            "float for if inline int int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t long namespace "
            "nullptr operator private public return short signed sizeof static static_cast struct switch template this "
            "true typedef typename unsigned using void volatile while __global__ __device__ __shared__ __restrict__ "
            "__launch_bounds__ size_t half"),
      false,
      true,
      false,
      true};
  static const Rules llvm{
      ";",
      "",
      "%@!#$",
      words("define declare ret br label load store getelementptr alloca phi call tail select icmp fcmp add sub mul "
            "fadd fsub fmul fdiv frem sdiv udiv srem urem and or xor shl lshr ashr fneg trunc zext sext fptrunc fpext "
            "sitofp uitofp fptosi fptoui bitcast inttoptr ptrtoint insertelement extractelement shufflevector "
            "extractvalue insertvalue switch unreachable attributes target type constant global private internal "
            "ptr float double half bfloat void i1 i8 i16 i32 i64 x to align nsw nuw fast inbounds nounwind"),
      false,
      false,
      false,
      false};
  static const Rules assembly{"#", "//", "%$.", {}, false, true, true, false};
  static const Rules loops{
      "!",
      "",
      "%",
      words("kernel nodes axis flops buffer outer nest load store reduce reduced const sum max min mean input output "
            "temporary weight constant f16 f32 f64 bf16 i8 i16 i32 i64 u8 bool end in"),
      false,
      false,
      false,
      false};
  switch (language) {
    case Language::Python:
      return python;
    case Language::Cpp:
      return cpp;
    case Language::Llvm:
      return llvm;
    case Language::Assembly:
      return assembly;
    case Language::LoopIr:
      return loops;
    case Language::Plain:
      break;
  }
  return plain;
}

bool is_word(QChar c) { return c.isLetterOrNumber() || c == '_'; }

class Scanner {
 public:
  Scanner(const Rules& rules, QStringView line, Open& open) : r_(rules), line_(line), open_(open) {}

  std::vector<Token> run() {
    if (open_ != Open::Nothing) finish(0);
    while (at_ < line_.size()) step();
    return std::move(out_);
  }

 private:
  void add(qsizetype start, Word word) {
    out_.push_back({static_cast<int>(start), static_cast<int>(at_ - start), word});
  }
  bool here(const QString& text) const { return !text.isEmpty() && line_.mid(at_).startsWith(text); }

  /// Up to the end of what is open, from `start`.
  void finish(qsizetype start) {
    const QString end = open_ == Open::DoubleQuotes ? "\"\"\"" : open_ == Open::SingleQuotes ? "'''" : "*/";
    const Word word = open_ == Open::Comment ? Word::Comment : Word::String;
    const qsizetype found = line_.indexOf(end, at_);
    at_ = found < 0 ? line_.size() : found + end.size();
    if (found >= 0) open_ = Open::Nothing;
    add(start, word);
  }

  void step() {
    const qsizetype start = at_;
    const QChar c = line_[at_];
    if (here(r_.comment) || here(r_.other_comment)) {
      at_ = line_.size();
      return add(start, Word::Comment);
    }
    if (r_.block_comments && here("/*")) return begin(start, Open::Comment, 2);
    if (r_.triple_quotes && here("\"\"\"")) return begin(start, Open::DoubleQuotes, 3);
    if (r_.triple_quotes && here("'''")) return begin(start, Open::SingleQuotes, 3);
    if (c == '"' || (c == '\'' && r_.single_quotes)) return string(start, c);
    if (r_.names.contains(c) && at_ + 1 < line_.size() && (is_word(line_[at_ + 1]) || line_[at_ + 1] == '"'))
      return name(start);
    if (c.isDigit()) return number(start);
    if (is_word(c)) return word(start);
    ++at_;
  }

  void begin(qsizetype start, Open open, int length) {
    open_ = open;
    at_ += length;
    finish(start);
  }

  void string(qsizetype start, QChar quote) {
    for (++at_; at_ < line_.size() && line_[at_] != quote; ++at_)
      if (line_[at_] == '\\') ++at_;
    at_ = std::min(at_ + 1, line_.size());
    add(start, Word::String);
  }

  void name(qsizetype start) {
    for (++at_; at_ < line_.size() && (is_word(line_[at_]) || line_[at_] == '.'); ++at_) {
    }
    seen_word_ = true;
    add(start, Word::Name);
  }

  void number(qsizetype start) {
    for (++at_; at_ < line_.size() && (is_word(line_[at_]) || line_[at_] == '.'); ++at_) {
    }
    add(start, Word::Number);
  }

  void word(qsizetype start) {
    for (++at_; at_ < line_.size() && is_word(line_[at_]); ++at_) {
    }
    const bool first = !std::exchange(seen_word_, true);
    const bool label = at_ < line_.size() && line_[at_] == ':';
    if (first && r_.first_is_keyword) return add(start, label ? Word::Name : Word::Keyword);
    if (!r_.keywords.isEmpty() && r_.keywords.contains(line_.mid(start, at_ - start).toString()))
      add(start, Word::Keyword);
  }

  const Rules& r_;
  QStringView line_;
  Open& open_;
  qsizetype at_ = 0;
  bool seen_word_ = false;
  std::vector<Token> out_;
};

}  // namespace

Language language_of(const std::string& kind) {
  if (kind == "python" || kind == "triton" || kind == "fx") return Language::Python;
  if (kind == "cpp" || kind == "cuda") return Language::Cpp;
  if (kind == "llvm-ir") return Language::Llvm;
  if (kind == "asm" || kind == "ptx" || kind == "sass") return Language::Assembly;
  return kind == "loop-ir" ? Language::LoopIr : Language::Plain;
}

QColor word_colour(Word word) {
  const bool dark = dark_theme();
  switch (word) {
    case Word::Keyword:
      return dark ? QColor("#7ab7ff") : QColor("#1a4fa0");
    case Word::Name:
      return dark ? QColor("#d7ba7d") : QColor("#7a4f00");
    case Word::Number:
      return dark ? QColor("#b5cea8") : QColor("#0b6e4f");
    case Word::String:
      return dark ? QColor("#e0a080") : QColor("#a03010");
    case Word::Comment:
      break;
  }
  return dark ? QColor("#8fa08f") : QColor("#5a6b5a");
}

std::vector<Token> tokens(Language language, QStringView line, Open& open) {
  if (language == Language::Plain) return {};
  return Scanner(rules(language), line, open).run();
}

}  // namespace strata::studio
