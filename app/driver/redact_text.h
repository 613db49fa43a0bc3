// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Texts without what their owner wrote. Nothing of a text stays because it looks harmless: a name stays when PyTorch
/// or Python has it, a word when PyTorch's messages have it, a number when it is small or a size.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace strata {

/// Whether PyTorch, its compiler or Python has this name: an operator or method, with or without the number that FX
/// puts behind it (`add_3`), a keyword, a dtype, a name that Inductor gives (`buf7`, `primals_2`).
bool is_public_name(std::string_view name);
/// Whether PyTorch's messages have this word, in whatever case.
bool is_public_word(std::string_view word);

/// Equal names get equal pseudonyms in all texts of one redactor.
class TextRedactor {
 public:
  /// A number that is a size in the trace: it may stay wherever it is met.
  void add_size(std::int64_t size) { sizes_.insert(size); }
  void add_sizes(std::string_view shape);
  /// Whether a whole number may stay: it is small, or a size.
  bool may_stay(std::int64_t number) const { return (number > -10 && number < 10) || sizes_.contains(number); }

  std::string code(std::string_view text) { return tokens(text, Mode::Code); }
  std::string shape(std::string_view text) { return tokens(text, Mode::Shape); }
  /// Stack traces behind a message are cut off: they show source.
  std::string words(std::string_view text);
  std::string pieces(std::string_view text);
  std::string kernel(std::string_view text);
  std::string hash(std::string_view text);
  std::string file(std::string_view path);
  /// `PREFIXn`, a pseudonym of the whole text.
  std::string whole(std::string_view prefix, std::string_view text);

 private:
  enum class Mode { Code, Shape, Words };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  using Names = std::unordered_map<std::string, std::string, Hash, std::equal_to<>>;

  std::string tokens(std::string_view text, Mode mode);
  std::size_t string_literal(std::string_view text, std::size_t at, std::string& out);
  std::size_t number(std::string_view text, std::size_t at, Mode mode, std::string& out);
  std::size_t name(std::string_view text, std::size_t at, Mode mode, std::string& out);
  std::string cpp_name(std::string_view qualified);
  const std::string& pseudonym(std::string_view name);

  Names names_, files_;
  std::map<std::string, Names, std::less<>> wholes_;
  std::unordered_set<std::int64_t> sizes_;
};

}  // namespace strata
