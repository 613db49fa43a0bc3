// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a trace says about its compiles, put together for a person: where graphs broke and functions were compiled
/// again, why, at what cost, what to do about it; guards, symbols, caches, errors; where the compile time went.
///
/// Works on imported traces and on our own. Costs and times are nanoseconds, -1 unknown. Addresses are those of
/// `strata graphs`; attempts of one compile are one entry.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/reader.h"

namespace strata {

struct ExplainPlace {
  std::string file;
  std::int64_t line = 0;
  std::string function;
  std::string text;  ///< the code of the line
  bool operator==(const ExplainPlace&) const = default;
};

/// Calls of one operator at one line that a compiler made no code for.
struct ExplainOpaque {
  std::string compile;  ///< address
  std::string target;   ///< `aten.special_airy_ai.default`
  std::string by;       ///< who computes them: `PyTorch`, `interpreter`
  ExplainPlace place;
  std::int64_t count = 0;     ///< in the graph
  std::int64_t time_ns = -1;  ///< in all runs of the compile
  double share = -1;          ///< of the time of its kernels, 0 to 1
};

/// A compile with all its attempts.
struct ExplainCompile {
  std::string address;  ///< of the last attempt, without the attempt
  trace::Id last = trace::kNone;
  std::int64_t attempts = 1;
  std::string outcome;
  std::string error;
  std::int64_t cost_ns = -1;  ///< all attempts
  bool graph = false;         ///< a graph was captured
  std::int64_t nodes = -1;    ///< of that graph
  std::int64_t breaks = 0, guards = 0;
  double guard_latency_ns = -1;
  std::int64_t kernels = 0;
  std::int64_t opaque = 0;  ///< of them, calls that no code was made for
  std::string backend;      ///< of torch.compile; empty: not known
  std::string left;         ///< why PyTorch runs the whole graph; empty: it does not
  std::string cause;        ///< one line, empty for the first compile of a frame
};

/// A Python function that was considered for compilation.
struct ExplainFrame {
  std::int64_t rank = -1;
  std::int64_t pid = 0;
  std::int64_t number = 0;
  ExplainPlace place;
  std::vector<ExplainCompile> compiles;
  std::int64_t cost_ns = -1;
  std::string resumes;  ///< `f at line 12`: the rest of a function behind a break; may be empty
};

/// Graph breaks of one kind at one line.
struct ExplainBreak {
  ExplainPlace place;
  ExplainPlace caller;  ///< the user's line, where `place` is in a library; else empty
  std::string kind, reason, explanation, link;
  std::vector<std::string> hints;  ///< PyTorch's own
  std::string advice;              ///< ours
  std::vector<std::string> compiles;
  std::vector<trace::SourceLocation> stack;  ///< of the first
  std::int64_t count = 0;
  std::int64_t cost_ns = -1;
};

/// A guard of an earlier compile that failed.
struct ExplainReason {
  std::string of;          ///< address
  std::string form;        ///< `size`, `value`, ...
  std::string source;      ///< `x`
  std::string expression;  ///< `n == 2`
  std::string expected, actual;
  bool inferred = false;  ///< `actual` follows from what the new compile assumes, the log does not say it
  ExplainPlace place;
};

struct ExplainRecompile {
  std::string compile;  ///< address
  std::string function;
  std::vector<ExplainReason> reasons;  ///< the earlier compile that was tried last comes first
  std::string advice;                  ///< for the first reason
  std::int64_t cost_ns = -1;
};

struct ExplainGuards {
  struct Kind {
    std::string kind;
    std::int64_t count = 0, failures = 0;
  };
  struct Check {
    std::string compile;
    std::int64_t count = 0;
    double latency_ns = -1;  ///< one evaluation of all guards of the compile
  };
  std::int64_t count = 0;
  std::vector<Kind> kinds;       ///< most frequent first
  std::vector<Check> costliest;  ///< slowest first
};

struct ExplainSymbol {
  std::string compile, name, origin;
  std::optional<std::int64_t> hint, min, max;
  ExplainPlace place;
};

struct ExplainAssumption {
  std::string compile, expression, kind, reason;
  ExplainPlace place;
};

/// Diagnostics of a kind that say the same.
struct ExplainNote {
  trace::DiagnosticRecord::Severity severity = trace::DiagnosticRecord::Severity::Info;
  std::string kind, title, detail, hint;
  std::vector<std::string> compiles;
  ExplainPlace place;
  std::int64_t count = 0;
  std::int64_t cost_ns = -1;
};

/// Part of the compile time. `self_ns` of all phases of a trace add up to the time under its outermost spans.
struct ExplainPhase {
  struct Span {
    std::string name;
    std::int64_t count = 0;
    std::int64_t total_ns = 0, self_ns = 0;
  };
  std::string name;
  std::int64_t self_ns = 0;
  std::vector<Span> spans;  ///< most of its own time first
};

/// Something worth doing.
struct ExplainFinding {
  std::string kind;  ///< `break`, `recompile`, `recompile-limit`, `error`, `restart`, `cudagraph-skip`, `cache-bypass`,
                     ///< `rank`, `left`, `opaque`
  std::string title;  ///< one line
  std::string advice;
  ExplainPlace place;
  std::vector<std::string> compiles;
  std::int64_t count = 1;
  std::int64_t cost_ns = -1;
  std::string detail;              ///< why, may be empty and of several lines
  ExplainPlace caller = {};        ///< the user's line, where `place` is in a library; else empty
  std::vector<std::string> hints;  ///< PyTorch's own
};

struct Explanation {
  std::string producer;  ///< `torch 2.11.0`, `strata 0.1`
  std::int64_t processes = 0;
  std::vector<std::int64_t> ranks;
  std::vector<ExplainFrame> frames;
  std::int64_t compiles = 0, attempts = 0, graphs = 0, breaks = 0, recompiles = 0;
  std::int64_t compile_ns = -1;            ///< of all compiles
  std::vector<ExplainFinding> findings;    ///< what to fix first
  std::vector<ExplainBreak> break_groups;  ///< costliest first
  std::vector<ExplainRecompile> recompile_list;
  std::vector<ExplainOpaque> opaque;  ///< compile by compile
  ExplainGuards guards;
  std::vector<ExplainSymbol> symbols;
  std::vector<ExplainAssumption> assumptions;
  std::vector<ExplainNote> notes;    ///< diagnostics: errors, limits, CUDA graphs, caches, ranks, hints, ...
  std::vector<ExplainPhase> phases;  ///< longest first
  std::int64_t phases_ns = 0;        ///< of all of them
};

/// Explains a trace, or only the compile with this address (all its attempts). An unknown address is a user Error.
Explanation explain(trace::Reader& reader, std::string_view address = {});

/// What failed, taken apart; without `of` (unless the text says it) and `place`.
ExplainReason explain_reason(const trace::RecompileRecord& recompile);
/// What to do about a break of this kind; never empty.
std::string break_advice(std::string_view kind, std::string_view reason, std::string_view explanation = {});
/// What to do about a guard that failed; never empty.
std::string recompile_advice(const ExplainReason& reason);
/// What to do about an exception; never empty. `title` is `Type: message`.
std::string error_advice(std::string_view title);
/// What to do where the analysis of a function was started over without a graph break; never empty.
std::string restart_advice(std::string_view title);
/// The phase that a span of PyTorch's compile-time timeline belongs to: `dynamo: trace Python`, ...
std::string_view compile_phase(std::string_view span);

}  // namespace strata
