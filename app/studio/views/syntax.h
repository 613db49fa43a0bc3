// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the words of a line of code are, for colouring. Line by line, so that only lines that are seen cost anything.

#include <QColor>
#include <QStringView>
#include <string>
#include <vector>

namespace strata::studio {

enum class Language { Plain, Python, Cpp, Llvm, Assembly, LoopIr };
/// Of an artifact's kind: `cpp`, `llvm-ir`, `asm`, `triton`, ...
Language language_of(const std::string& kind);

enum class Word { Keyword, Name, Number, String, Comment };
QColor word_colour(Word word);

struct Token {
  int start = 0, length = 0;
  Word word = Word::Keyword;
};

/// What a line leaves open for the next: nothing, a Python string in triple quotes, a comment of C.
enum class Open : unsigned char { Nothing, DoubleQuotes, SingleQuotes, Comment };
/// Words of a line in order, not overlapping; `open` is what the line before left open, and then what this one does.
std::vector<Token> tokens(Language language, QStringView line, Open& open);

}  // namespace strata::studio
