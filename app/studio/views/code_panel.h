// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Generated code: one tab per language, one entry per kernel; a second language beside it, in step with the first.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QTabBar>
#include <unordered_set>

#include "app/studio/models/context.h"
#include "app/studio/views/code_view.h"

namespace strata::studio {

class CodePanel : public QWidget {
  Q_OBJECT
 public:
  explicit CodePanel(Context& context, QWidget* parent = nullptr);
  CodeView& view() { return *view_; }
  CodeView& second() { return *second_; }
  QTabBar& tabs() { return *tabs_; }
  QComboBox& kernels() { return *kernels_; }
  QComboBox& beside() { return *beside_; }
  void set_units(const std::vector<CodeUnit>& units, const QString& when_empty);
  /// Marks the lines of the selection in the units that are shown and turns to its kernel.
  void follow(const Details& details);

 private:
  /// One tab per language; made anew only when they are others than before.
  void show_kinds(const QStringList& kinds);
  void list_beside();
  int first_tab(const QStringList& kinds) const;
  void show_tab();
  void show_unit();
  void show_second();
  void show_text(CodeView& view, const CodeUnit& unit, ArtifactPtr& shown);
  void mark();
  LineRanges faint_lines(const CodeUnit& unit) const;
  const CodeUnit* unit() const;
  const CodeUnit* second_unit() const;
  void select_line(const CodeUnit& unit, int line);
  void scroll_second();
  Context& context_;
  QTabBar* tabs_;
  QComboBox* kernels_;
  QComboBox* beside_;
  QLabel* hint_;
  CodeView* view_;
  CodeView* second_;
  std::vector<CodeUnit> units_;
  ArtifactPtr shown_, shown_beside_;      ///< texts of the views: the same one again keeps its place
  QString preferred_, preferred_beside_;  ///< languages chosen last, kept over selections
};

}  // namespace strata::studio
