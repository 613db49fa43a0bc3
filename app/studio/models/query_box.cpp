// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/query_box.h"

#include <QFileInfo>
#include <QRegularExpression>
#include <map>
#include <memory>

#include "app/draw/picture.h"
#include "app/query/query_words.h"
#include "app/query/trace_query.h"
#include "app/studio/models/lists.h"
#include "app/studio/models/settings.h"
#include "core/support/error.h"

namespace strata::studio {

using namespace trace;

namespace {

QString time_of(double ns) { return ns < 0 ? QString() : qt(draw::format_time(ns)); }

std::vector<SnapshotRecord> snapshots_of(Reader& reader, const QueryRequest& request) {
  if (request.snapshot != kNone) {
    const auto one = reader.snapshot(request.snapshot);
    return one ? std::vector<SnapshotRecord>{*one} : std::vector<SnapshotRecord>();
  }
  if (request.compile != kNone) return reader.snapshots(request.compile);
  std::vector<SnapshotRecord> all;
  for (const CompileRecord& c : reader.compiles())
    for (SnapshotRecord& s : reader.snapshots(c.id)) all.push_back(std::move(s));
  return all;
}

std::map<std::string, Id> compiles_by_address(Reader& reader) {
  std::map<std::string, Id> out;
  for (const CompileRecord& c : reader.compiles()) out.emplace(c.address, c.id);
  return out;
}

TableRow node_row(const NodeHit& hit, const std::map<std::string, Id>& compiles) {
  QStringList kernels;
  for (const std::string& k : hit.kernels) kernels << qt(k);
  TableRow row;
  row.cells = {{qt(hit.node.name)},
               {qt(hit.node.target)},
               {qt(hit.node.type.empty() ? hit.node.dtype + hit.node.shape : hit.node.type)},
               {qt(hit.node.module)},
               {qt(hit.graph)},
               {qt(hit.stage)},
               {kernels.join(", ")},
               {time_of(hit.time_ns), hit.time_ns},
               {hit.file.empty() ? QString() : QString("%1:%2").arg(QFileInfo(qt(hit.file)).fileName()).arg(hit.line),
                {},
                hit.file.empty() ? QString() : QString("%1:%2").arg(qt(hit.file)).arg(hit.line)}};
  row.node = hit.node.id;
  row.file = qt(hit.file);
  row.line = static_cast<int>(std::clamp<std::int64_t>(hit.line, 0, INT32_MAX));
  if (const auto compile = compiles.find(hit.graph); compile != compiles.end()) row.compile = compile->second;
  return row;
}

TableRow event_row(const EventHit& hit, std::int64_t origin) {
  const EventRecord& e = hit.event;
  const auto start = static_cast<double>(e.start_ns - origin), duration = static_cast<double>(e.duration_ns);
  TableRow row;
  row.cells = {{qt(e.name)},
               {qt(e.category)},
               {"+" + time_of(start), start},
               {time_of(duration), duration},
               {e.stream < 0 ? QString() : QString::number(e.stream), static_cast<qlonglong>(e.stream)},
               {qt(hit.graph)},
               {qt(hit.kernel)},
               {e.match == Match::Exact      ? "exact"
                : e.match == Match::Inferred ? "inferred"
                                             : ""}};
  row.kernel = e.kernel;
  row.compile = e.compile;
  row.event = e.id;
  return row;
}

QString more_text(std::size_t all) {
  return all > kMostQueryRows ? QString("; the first %1 are shown").arg(kMostQueryRows) : QString();
}

QueryResult nodes_of(Reader& reader, const QueryExpression& expression, const QueryRequest& request) {
  QueryResult result;
  const auto hits = query_nodes(reader, expression, snapshots_of(reader, request));
  const auto compiles = compiles_by_address(reader);
  for (std::size_t i = 0; i < hits.size() && i < kMostQueryRows; ++i)
    result.rows.push_back(node_row(hits[i], compiles));
  result.summary = QString("%1 nodes").arg(hits.size()) + more_text(hits.size());
  return result;
}

QueryResult events_of(Reader& reader, const QueryExpression& expression, const QueryRequest& request) {
  QueryResult result;
  result.events = true;
  QueryExpression scoped = expression;
  if (const auto compile = reader.compile(request.compile)) {
    QueryExpression graph{QueryExpression::Kind::Condition, {}, {}};
    graph.condition.key = "graph";
    graph.condition.value = compile->address;
    scoped = {QueryExpression::Kind::And, {expression, graph}, {}};
  }
  const EventHits found = query_events(reader.path(), scoped, kMostQueryRows);
  const std::int64_t origin = found.hits.empty() ? 0 : found.hits.front().event.start_ns;
  for (const EventHit& hit : found.hits) result.rows.push_back(event_row(hit, origin));
  result.summary = QString("%1 events, %2 in all").arg(found.count).arg(time_of(found.total_ns)) +
                   more_text(static_cast<std::size_t>(found.count));
  return result;
}

int position_of(const QString& error) {
  static const QRegularExpression position("^query, position (\\d+):");
  return position.match(error).captured(1).toInt();
}

}  // namespace

QStringList query_headers(bool events) {
  if (events) return {"Event", "Category", "Start", "Duration", "Stream", "Graph", "Kernel", "Match"};
  return {"Node", "Operator", "Type", "Module", "Graph", "Stage", "Kernel", "Time", "Line"};
}

QueryResult run_query(Reader& reader, const QueryRequest& request) {
  try {
    const QueryExpression expression = parse_query(request.text.toStdString());
    const bool events = request.of == QueryRequest::Of::Either
                            ? asks_for_events(expression) || reader.compiles().empty()
                            : request.of == QueryRequest::Of::Events;
    QueryResult result = events ? events_of(reader, expression, request) : nodes_of(reader, expression, request);
    if (!result.rows.empty()) return result;
    const std::string why = explain_nothing(reader.path(), expression, events);
    if (!why.empty()) result.summary += ": " + qt(why);
    return result;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::User) throw;
    QueryResult result;
    result.error = QString::fromUtf8(error.what());
    result.position = position_of(result.error);
    return result;
  }
}

SavedQueries::SavedQueries(bool lasting, QString file) : lasting_(lasting), file_(std::move(file)) {
  if (lasting_) all_ = open_settings(file_)->value("queries").toStringList();
}

void SavedQueries::add(const QString& text) {
  if (text.isEmpty() || all_.contains(text)) return;
  all_ << text;
  write();
}

void SavedQueries::remove(const QString& text) {
  if (all_.removeAll(text) > 0) write();
}

void SavedQueries::write() {
  if (lasting_) open_settings(file_)->setValue("queries", all_);
}

QueryHistory::QueryHistory(bool lasting, QString file) : lasting_(lasting), file_(std::move(file)) {
  if (lasting_) all_ = open_settings(file_)->value("query_history").toStringList();
  at_ = all_.size();
}

void QueryHistory::add(const QString& text) {
  if (!text.isEmpty()) {
    all_.removeAll(text);
    all_ << text;
    while (all_.size() > 50) all_.removeFirst();
    if (lasting_) open_settings(file_)->setValue("query_history", all_);
  }
  at_ = all_.size();
}

std::optional<QString> QueryHistory::go(int by, const QString& typed) {
  const qsizetype next = at_ + by;
  if (next < 0 || next > all_.size()) return std::nullopt;
  if (at_ == all_.size()) typed_ = typed;
  at_ = next;
  return at_ == all_.size() ? typed_ : all_[at_];
}

}  // namespace strata::studio
