// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Nodes and events by conditions, in the grammar of `strata query` (app/query/query_language.h), as rows with links;
/// and the conditions that were kept.

#include <QStringList>
#include <optional>

#include "app/studio/models/table_model.h"
#include "core/trace/reader.h"

namespace strata::studio {

struct QueryRequest {
  enum class Of : int { Either = 0, Nodes, Events };
  QString text;
  Of of = Of::Either;                ///< either: events where a key needs them, or there are no graphs
  trace::Id compile = trace::kNone;  ///< only there
  trace::Id snapshot = trace::kNone;
};

struct QueryResult {
  bool events = false;
  std::vector<TableRow> rows;  ///< at most `kMostQueryRows`
  QString summary;
  QString error;     ///< what is wrong with the text; then there are no rows
  int position = 0;  ///< where in the text, from 1; 0 unknown
};
inline constexpr std::size_t kMostQueryRows = 5000;

/// Node, operator, type, module, graph, stage, kernel, time, line; or event, category, start, duration, stream, graph,
/// kernel, match.
QStringList query_headers(bool events);

/// Mistakes in the text are in `error`; a broken trace throws.
QueryResult run_query(trace::Reader& reader, const QueryRequest& request);

/// What was looked for last, for the arrow keys: oldest first, each once, at most 50. Kept as SavedQueries are.
class QueryHistory {
 public:
  explicit QueryHistory(bool lasting, QString file = {});
  const QStringList& all() const { return all_; }
  void add(const QString& text);
  /// The one before (-1) or after (1) what is shown; `typed` is what comes after the last. Nothing at the ends.
  std::optional<QString> go(int by, const QString& typed);

 private:
  bool lasting_;
  QString file_, typed_;
  QStringList all_;
  qsizetype at_ = 0;  ///< all_.size(): what was typed
};

/// Conditions that a person kept, in the order of keeping. Without a file they are kept in the user's settings; they
/// last as long as the object where `lasting` is false.
class SavedQueries {
 public:
  explicit SavedQueries(bool lasting, QString file = {});
  const QStringList& all() const { return all_; }
  void add(const QString& text);
  void remove(const QString& text);

 private:
  void write();
  bool lasting_;
  QString file_;
  QStringList all_;
};

}  // namespace strata::studio
