// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/step_text.h"

#include <QStringList>
#include <algorithm>

#include "app/draw/picture.h"
#include "app/studio/models/lists.h"
#include "app/studio/models/pass_drawing.h"

namespace strata::studio {

using namespace trace;

namespace {

using Kind = StepPiece::Kind;
using Pieces = std::vector<StepPiece>;

void add(Pieces& pieces, const QString& text, Kind kind = Kind::Plain) { pieces.push_back({kind, text, 0}); }

void add_nodes(Pieces& pieces, const std::vector<NodeId>& nodes, const StepData& step, size_t most) {
  for (size_t i = 0; i < std::min(nodes.size(), most); ++i) {
    if (i > 0) add(pieces, ", ");
    pieces.push_back({Kind::Node, qt(step.name(nodes[i])), nodes[i]});
  }
  if (nodes.size() > most) add(pieces, QString(" and %1 more").arg(nodes.size() - most));
}

Pieces of_rewrite(const StepData& step, size_t most_names) {
  const RewriteRecord& rewrite = step.rewrites[*step.rewrite];
  Pieces pieces;
  add(pieces, rewrite.rule.empty() ? QString("rewrite") : qt(rewrite.rule), Kind::Strong);
  add(pieces, rewrite.before.empty() ? " made " : " matched ");
  add_nodes(pieces, rewrite.before, step, most_names);
  if (!rewrite.before.empty()) add(pieces, rewrite.after.empty() ? ", removed" : " → ");
  add_nodes(pieces, rewrite.after, step, most_names);
  if (!rewrite.reason.empty()) add(pieces, " · " + qt(rewrite.reason), Kind::Rest);
  return pieces;
}

QString counts(const StepData& step) {
  QStringList parts;
  const auto& d = step.diff;
  if (!d.added.empty()) parts << QString("%1 added").arg(d.added.size());
  if (!d.removed.empty()) parts << QString("%1 removed").arg(d.removed.size());
  if (!d.changed.empty()) parts << QString("%1 changed").arg(d.changed.size());
  return parts.isEmpty() ? QString("no node changed") : parts.join(", ");
}

Pieces of_stage(const CompileData& compile, const StepData& step) {
  Pieces pieces;
  const PassRecord* pass = compile.pass(step.snapshot.pass);
  add(pieces, pass ? qt(pass->name) : qt(step.snapshot.stage), Kind::Strong);
  if (pass && pass->duration_ns >= 0)
    add(pieces, " took " + qt(draw::format_time(static_cast<double>(pass->duration_ns))));
  if (pass && !pass->error.empty()) add(pieces, " · " + qt(pass->error), Kind::Rest);
  if (step.snapshot.kind == SnapshotKind::Text) return add(pieces, " · text"), pieces;
  if (step.before.empty()) return add(pieces, QString(" · the first graph, %1 nodes").arg(step.nodes.size())), pieces;
  add(pieces, " · " + counts(step));
  const QString rewrites = rewrites_text(compile, step.snapshot, 6);
  add(pieces, " · " + (rewrites.isEmpty() ? QString("no rewrites recorded") : rewrites), Kind::Rest);
  return pieces;
}

}  // namespace

QString rewrites_text(const CompileData& compile, const SnapshotRecord& snapshot, size_t most_rules) {
  const auto at = compile.rewrites.find(snapshot.pass);
  if (at == compile.rewrites.end() || snapshot.pass == kNone) return {};
  auto rules = at->second.rules;
  std::stable_sort(rules.begin(), rules.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  QStringList parts;
  for (size_t i = 0; i < std::min(rules.size(), most_rules); ++i)
    parts << QString("%1 × %2").arg(rules[i].second).arg(rules[i].first.empty() ? "unnamed" : qt(rules[i].first));
  if (rules.size() > most_rules) parts << QString("%1 more rules").arg(rules.size() - most_rules);
  const size_t count = at->second.count;
  return QString("%1 rewrite%2: %3").arg(count).arg(count == 1 ? "" : "s", parts.join(", "));
}

std::vector<StepPiece> describe_step(const CompileData& compile, const StepData& step, size_t most_names) {
  return step.rewrite && *step.rewrite < step.rewrites.size() ? of_rewrite(step, most_names) : of_stage(compile, step);
}

QString describe_step_fully(const CompileData& compile, const StepData& step) {
  constexpr size_t kMostInTip = 40;
  QStringList lines;
  lines << "stage " + qt(step.snapshot.stage);
  if (const PassRecord* pass = compile.pass(step.snapshot.pass)) {
    lines << "pass " + qt(pass->name);
    if (pass->duration_ns >= 0) lines.back() += ", " + qt(draw::format_time(static_cast<double>(pass->duration_ns)));
    if (!pass->error.empty()) lines << qt(pass->error);
  }
  if (step.rewrite) {
    lines << QString("rewrite %1 of %2").arg(*step.rewrite + 1).arg(step.rewrites.size());
    lines << plain_text(describe_step(compile, step, kMostInTip));
  } else if (const QString rewrites = rewrites_text(compile, step.snapshot, kMostInTip); !rewrites.isEmpty()) {
    lines << rewrites;
  }
  if (!step.before.empty()) lines << counts(step) + " against " + qt(step.before);
  return lines.join('\n');
}

std::shared_ptr<const TextDiff> load_text_diff(Reader& reader, const CompileData& compile, const StepData& step,
                                               const std::function<bool()>& stop) {
  if (step.snapshot.kind == SnapshotKind::Text) return nullptr;
  auto diff = std::make_shared<TextDiff>();
  const SnapshotRecord* before = graph_before(compile, step.snapshot);
  if (step.rewrite && step.pass)
    *diff = diff_graphs(step.pass->steps().graph(*step.rewrite), step.nodes, stop);
  else
    *diff = diff_graphs(before ? reader.nodes(before->id) : step.nodes, step.nodes, stop);
  diff->left_title = step.before.empty() ? step.snapshot.stage : step.before;
  diff->right_title = step.snapshot.stage;
  if (step.rewrite) diff->right_title = "rewrite " + std::to_string(*step.rewrite + 1);
  return diff;
}

QString plain_text(const std::vector<StepPiece>& pieces) {
  QString text;
  for (const StepPiece& piece : pieces) text += piece.text;
  return text;
}

}  // namespace strata::studio
