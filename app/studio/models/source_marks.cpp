// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/source_marks.h"

#include <QRegularExpression>
#include <algorithm>
#include <set>

#include "app/explain/explain.h"
#include "app/studio/models/lists.h"

namespace strata::studio {

using namespace trace;

namespace {

const QString kSigns = "EBR!SG";  // gravest first

MarkNote note_of(const Finding& f) {
  MarkNote note;
  note.sign = f.kind == Finding::Kind::Break       ? 'B'
              : f.kind == Finding::Kind::Recompile ? 'R'
              : f.kind == Finding::Kind::Error     ? 'E'
                                                   : '!';
  note.title = qt(f.title);
  if (f.cost_ns >= 0) note.title += ", " + duration_text(f.cost_ns);
  note.detail = qt(f.detail);
  note.hint = qt(f.hint);
  note.compile = f.compile;
  note.count = f.count;
  return note;
}

QString range_text(const SymbolRecord& s) {
  QStringList parts;
  if (s.hint) parts << QString("was %1").arg(*s.hint);
  if (s.min || s.max)
    parts << QString("from %1 to %2")
                 .arg(s.min ? QString::number(*s.min) : QString("−∞"), s.max ? QString::number(*s.max) : QString("∞"));
  return parts.join(", ");
}

class Marks {
 public:
  Marks(const CompileData& compile, const std::string& file, std::map<int, SourceMark>& marks)
      : compile_(compile), file_(file), marks_(marks) {}

  void add() {
    for (const SymbolRecord& s : compile_.symbols) {
      MarkNote note;
      note.title = QString("Size %1 of %2 may vary").arg(qt(s.name), qt(s.origin));
      note.detail = range_text(s);
      specialised(s.stack, std::move(note));
    }
    for (const AssumptionRecord& a : compile_.assumptions) {
      MarkNote note;
      note.title = (a.kind.starts_with("special") ? "Specialised: " : "Assumed: ") + qt(a.expression).simplified();
      note.detail = qt(a.reason);
      specialised(a.stack, std::move(note));
    }
    for (const GuardRecord& g : compile_.guards) guard(g);
  }

 private:
  SourceMark* at(Id stack) {
    const auto place = compile_.guard_lines.find(stack);
    if (place == compile_.guard_lines.end() || place->second.file != file_ || place->second.line <= 0) return nullptr;
    return &marks_[static_cast<int>(place->second.line)];
  }

  void specialised(Id stack, MarkNote note) {
    SourceMark* mark = at(stack);
    if (!mark) return;
    note.sign = 'S';
    note.compile = compile_.compile.id;
    mark->notes.push_back(std::move(note));
  }

  void guard(const GuardRecord& g) {
    SourceMark* mark = at(g.stack);
    if (!mark) return;
    MarkNote note;
    note.sign = 'G';
    note.title = qt(g.expression).simplified().left(200);
    if (g.failures) note.detail = QString("failed %1 times").arg(g.failures);
    note.guard = g.id;
    note.compile = g.compile;
    mark->notes.push_back(std::move(note));
  }

  const CompileData& compile_;
  const std::string& file_;
  std::map<int, SourceMark>& marks_;
};

QString counted(const MarkNote& note) {
  return note.count > 1 ? QString("%1 (%2 times)").arg(note.title).arg(note.count) : note.title;
}

constexpr int kMostGuards = 8;  // of one line, in what is read at a glance

}  // namespace

QString SourceMark::sign() const {
  QString text;
  for (const QChar sign : kSigns) {
    const auto count = std::count_if(notes.begin(), notes.end(), [&](const MarkNote& n) { return n.sign == sign; });
    if (count == 0) continue;
    QString more = sign;
    if (count > 1) more += count < 100 ? QString::number(count) : QString("+");
    if (text.size() + more.size() > 4) more = sign;
    if (text.size() + more.size() <= 4) text += more;
  }
  return text;
}

QString SourceMark::text() const {
  QStringList parts;
  QString guards;
  int count = 0;
  for (const MarkNote& note : notes) {
    if (note.sign == 'G') {
      if (++count <= kMostGuards) guards += "\n" + note.title.left(160);
      continue;
    }
    QString text = counted(note);
    if (!note.detail.isEmpty()) text += "\n" + note.detail;
    if (!note.hint.isEmpty()) text += "\n→ " + note.hint;
    parts << text;
  }
  if (count > kMostGuards) guards += QString("\n… %1 more").arg(count - kMostGuards);
  if (count) parts << QString("%1 guards of this compile come from this line:").arg(count) + guards;
  return parts.join("\n\n");
}

QString SourceMark::html() const {
  QString html;
  const auto escaped = [](const QString& text) { return text.toHtmlEscaped().replace("\n", "<br>"); };
  int guards = 0;
  for (const MarkNote& note : notes) {
    if (note.sign == 'G' && ++guards > 100) continue;
    html += QString("<p><b>%1</b> %2").arg(note.sign).arg(escaped(counted(note)));
    if (!note.detail.isEmpty()) html += "<br>" + escaped(note.detail);
    if (!note.hint.isEmpty()) html += "<br><i>→ " + escaped(note.hint) + "</i>";
    if (note.guard != kNone)
      html += QString("<br><a href=\"guard:%1\">show the guard</a>").arg(note.guard);
    else if (note.compile != kNone)
      html +=
          QString("<br><a href=\"compile:%1\">show the compile</a> &nbsp; <a href=\"view:problems\">all problems</a>")
              .arg(note.compile);
    html += "</p>";
  }
  if (guards > 100) html += QString("<p>… %1 more guards</p>").arg(guards - 100);
  return html;
}

std::map<int, SourceMark> source_marks(const TraceData& data, const CompileData* compile, const std::string& file) {
  std::map<int, SourceMark> marks;
  for (const Finding& f : data.findings) {
    if (f.file != file || f.line <= 0) continue;
    SourceMark& mark = marks[static_cast<int>(f.line)];
    mark.grave |= f.kind != Finding::Kind::Recompile;
    mark.notes.push_back(note_of(f));
  }
  if (compile) Marks(*compile, file, marks).add();
  for (auto& [line, mark] : marks)
    std::stable_sort(mark.notes.begin(), mark.notes.end(), [](const MarkNote& a, const MarkNote& b) {
      return kSigns.indexOf(a.sign) < kSigns.indexOf(b.sign);
    });
  return marks;
}

// ----------------------------------------------------------------------------------------------------------- bytecode

std::vector<int> bytecode_lines(const QString& text) {
  // `  3     >>  174 LOAD_FAST  2 (y)`: the line stands only in front of its first instruction.
  static const QRegularExpression first("^\\s{0,6}(\\d+)\\s+(?:-->\\s+)?(?:>>\\s+)?\\d+\\s+[A-Z][A-Z_0-9]+");
  static const QRegularExpression instruction("^\\s+(?:-->\\s+)?(?:>>\\s+)?\\d+\\s+[A-Z][A-Z_0-9]+");
  std::vector<int> lines;
  int line = 0;
  for (const QString& row : text.split('\n')) {
    if (const auto match = first.match(row); match.hasMatch())
      line = match.captured(1).toInt();
    else if (!instruction.match(row).hasMatch())
      line = row.trimmed().isEmpty() ? 0 : line;
    lines.push_back(row.trimmed().isEmpty() || !row.startsWith(' ') ? 0 : line);
  }
  return lines;
}

namespace {

/// `ORIGINAL BYTECODE f /home/u/m.py line 2 `: whether these are instructions of this frame.
bool is_of_frame(const std::string& content, const FrameRecord& frame) {
  const std::string title = content.substr(0, content.find('\n'));
  if (title.find("BYTECODE") == std::string::npos) return false;
  const std::string place = frame.file + " line " + std::to_string(frame.line);
  return title.find(" " + frame.name + " ") != std::string::npos && title.find(place) != std::string::npos;
}

}  // namespace

Bytecode load_bytecode(Reader& reader, const CompileRecord& compile) {
  Bytecode out;
  FrameRecord frame;
  for (FrameRecord& f : reader.frames())
    if (f.id == compile.frame) frame = std::move(f);
  out.file = frame.file;
  std::vector<std::string> texts;
  for (const ArtifactRecord& artifact : reader.artifacts(Owner{OwnerKind::Compile, compile.id, compile.id}))
    if (artifact.kind == "bytecode" || artifact.name.ends_with("_BYTECODE"))
      if (const auto full = reader.artifact(artifact.id)) texts.push_back(artifact.name + "\n" + full->content);
  // A log of words has them for all compiles of the function, in order.
  std::set<std::string> seen;
  if (texts.empty() && !frame.name.empty())
    for (const RawRecord& raw : reader.raw_records())
      if (raw.kind == "__bytecode")
        if (const auto full = reader.raw_record(raw.id); full && is_of_frame(full->content, frame))
          if (seen.insert(full->content).second) texts.push_back(full->content);
  for (const std::string& text : texts) out.text += (out.text.isEmpty() ? "" : "\n\n") + qt(text).trimmed();
  out.lines = bytecode_lines(out.text);
  return out;
}

}  // namespace strata::studio
