// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The three kinds of error, and how every message is built.
///
/// A message says what is wrong, where, what was expected, what was found, and what to do. It is lower case and has
/// no full stop at its end. Libraries throw `Error`; only `app/` prints it and turns it into an exit code.

#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// Whose fault it is. The values are the process exit codes of the command line.
enum class ErrorKind : int {
  User = 2,      ///< wrong input, wrong option, wrong file: the user can mend it
  Runtime = 3,   ///< disk full, out of memory, a library or device that failed
  Internal = 70  ///< our bug
};

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message, std::string hint = {})
      : kind_(kind), message_(std::move(message)), hint_(std::move(hint)), text_(join(message_, hint_)) {}

  ErrorKind kind() const noexcept { return kind_; }
  /// The message without the hint.
  const std::string& message() const noexcept { return message_; }
  /// What to do about it; may be empty.
  const std::string& hint() const noexcept { return hint_; }
  /// `message; hint`.
  const char* what() const noexcept override { return text_.c_str(); }
  int exit_code() const noexcept { return static_cast<int>(kind_); }

 private:
  static std::string join(const std::string& message, const std::string& hint);
  ErrorKind kind_;
  std::string message_, hint_, text_;
};

[[noreturn]] void throw_user(std::string message, std::string hint = {});
[[noreturn]] void throw_runtime(std::string message, std::string hint = {});
[[noreturn]] void throw_internal(std::string message);

/// The candidate closest to `name` by edit distance, or empty if none is close (more than a third of the letters
/// differ).
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// `did you mean 'x'` or, if nothing is close, `valid: a, b, c` (at most ten of them), for use as a hint.
std::string suggest(std::string_view name, std::span<const std::string> candidates);

}  // namespace strata
