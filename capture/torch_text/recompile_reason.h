// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Why a function was compiled again: payloads of `recompile_reasons` records, lines of TORCH_LOGS=recompiles.
///
///     0/0: tensor 'x' size mismatch at index 0. expected 8, actual 9
///     0/1: n == 2        # y = x * n  # ome/user/app/m.py:7 in f (HINT: type int)
///     User stack trace:
///       File "/home/user/app/m.py", line 7, in f
///         y = x * n
///
/// Each reason names an earlier compile and its guard that failed. The value that made it fail is often not in the
/// text: `derive_actual` finds it in what the new compile assumes.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/torch_text/known_files.h"
#include "core/trace/records.h"

namespace strata::capture {

/// What kind of condition failed.
enum class RecompileForm {
  Other = 0,
  Size,  ///< of a dimension of a tensor
  Stride,
  Rank,
  Dtype,
  Device,
  RequiresGrad,
  DispatchKeys,
  Value,      ///< of a number, string, flag, attribute
  Type,       ///< of a Python object
  Length,     ///< of a list, tuple, dict
  Identity,   ///< another object than before
  Contains,   ///< a key that must (not) be in a dict
  Attribute,  ///< an attribute that must (not) exist
  Shape,      ///< a relation over sizes
  Aliasing,
  Backend,     ///< of torch.compile
  GlobalState  ///< grad mode, autocast, default device, ...
};

/// `size`, `requires_grad`, ...
std::string_view form_name(RecompileForm form);

struct RecompileText {
  std::string of;  ///< address of the earlier compile: `0/1`; may be empty
  RecompileForm form = RecompileForm::Other;
  std::string expression;       ///< the condition without comments: `n == 2`, `tensor 'x' size mismatch at index 0`
  std::string source;           ///< what it looks at, as printed: `n`, `x`, `L['self'].training`; may be empty
  std::int64_t index = -1;      ///< of the dimension, for Size, Stride and simple Shape conditions
  std::string expected;         ///< may be empty
  std::string actual;           ///< may be empty
  bool derived = false;         ///< `actual` is not in the text, but follows from the new compile
  std::string hint;             ///< `type int`
  std::string note;             ///< other words of the comment
  trace::SourceLocation place;  ///< of the guard, path possibly cut at the front; empty file: unknown
  std::vector<trace::SourceLocation> stack;  ///< user stack, outermost first
  std::string detail;                        ///< the text as it stands
};

/// All reasons of a payload: a JSON list of texts, a JSON text or bare text. Never fails; empty for empty text.
std::vector<RecompileText> parse_recompile_reasons(std::string_view payload);

/// One reason.
RecompileText parse_recompile_reason(std::string_view text);

/// The guard of the earlier compile that the reason means; null when it is not among them.
const trace::GuardRecord* find_guard(const RecompileText& reason, std::span<const trace::GuardRecord> guards);

/// A value that the new compile saw: `source` as PyTorch writes it, `value` as text (`create_symbol`'s `val`).
struct ObservedValue {
  std::string source;
  std::string value;
};

/// Fills in `actual` and sets `derived` when the text has none and the guards or values of the new compile tell.
void derive_actual(RecompileText& reason, std::span<const trace::GuardRecord> guards,
                   std::span<const ObservedValue> values = {});

/// The stack of the guard's line: the user stack, else the place with its path completed. May be empty.
std::vector<trace::SourceLocation> recompile_stack(const RecompileText& reason, const KnownFiles& files);

/// The record without ids, stack and cost.
trace::RecompileRecord recompile_record(const RecompileText& reason);

/// `x.size()[0]` for `L['x'].size()[0]`: PyTorch writes local names in both ways.
std::string plain_names(std::string_view code);

}  // namespace strata::capture
