// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Changes of how things are laid out, to be taken back: pages, splitters, grouping, what is collapsed. One stack for
/// all of them: `Context::undo()`. Ctrl+Z and Ctrl+Y of the Edit menu go through it.

#include <QElapsedTimer>
#include <QString>
#include <QUndoStack>
#include <functional>
#include <utility>

namespace strata::studio {

/// One change. `context.undo().push(new LayoutChange("collapse layer.0", again, back))` makes it and remembers how to
/// take it back.
class LayoutChange : public QUndoCommand {
 public:
  using Do = std::function<void()>;
  /// `done`: the change was made already, pushing does not make it again.
  /// `merge`: changes that follow one another within a second and have the same, nonempty, key become one (a splitter
  /// being dragged).
  LayoutChange(const QString& text, Do redo, Do undo, bool done = false, QString merge = {})
      : QUndoCommand(text), redo_(std::move(redo)), undo_(std::move(undo)), done_(done), merge_(std::move(merge)) {
    made_.start();
  }

  void redo() override {
    if (!std::exchange(done_, false)) redo_();
  }
  void undo() override { undo_(); }
  int id() const override { return merge_.isEmpty() ? -1 : 1; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* newer = dynamic_cast<const LayoutChange*>(other);
    if (!newer || newer->merge_ != merge_ || made_.elapsed() > 1000) return false;
    redo_ = newer->redo_;
    made_.restart();
    return true;
  }

 private:
  Do redo_, undo_;
  bool done_;
  QString merge_;
  QElapsedTimer made_;
};

}  // namespace strata::studio
