// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The user's groups of the compile shown: kept from one opening to the next, and changes of grouping that can be taken
/// back.

#include <QObject>
#include <QString>
#include <QStringList>
#include <map>
#include <vector>

#include "app/studio/models/context.h"

namespace strata::studio {

/// The groups are in Context::options(): whoever draws finds them there. Kept for each trace (by its path) and address
/// of a compile, in the user's settings, in `file` if there is one, or, if not `lasting`, as long as the object.
class UserGroups : public QObject {
  Q_OBJECT
 public:
  UserGroups(Context& context, bool lasting, QString file = {}, QObject* parent = nullptr);

  const std::vector<draw::UserGroup>& all() const { return context_.options().user_groups; }
  bool has(const QString& name) const;
  /// A name that no group has, made from this one.
  QString free_name(const QString& wanted) const;
  /// Adds the group, expanded, under a free name, which is returned. Frames come into sight: where nothing is grouped,
  /// grouping by the user's groups is chosen. A group without nodes or rule is not added, and the result is empty.
  QString add(draw::UserGroup group);
  /// False if there is another of the new name, none of the old, or the new one is empty.
  bool rename(const QString& from, const QString& to);
  void remove(const QString& name);
  /// The group whose frame or box is called this in DrawOptions::opened, or the first (innermost) one that names the
  /// node; empty if there is none.
  QString at(const std::string& key, trace::NodeId node) const;

 private:
  void load();
  void keep();
  void set(const std::vector<draw::UserGroup>& groups, std::map<std::string, bool> opened);
  Context& context_;
  bool lasting_;
  QString file_;
  QString place_;                           ///< in the settings; empty while no compile is shown
  std::map<QString, QStringList> passing_;  ///< what is not lasting
  std::vector<draw::UserGroup> kept_;
};

/// As text and back, one line of JSON each. What cannot be read is left out.
QString to_json(const draw::UserGroup& group);
bool from_json(const QString& text, draw::UserGroup& group);

/// Every change of what frames stand for, of what is collapsed and of the user's groups goes onto Context::undo(). The
/// groups of a compile are left alone while another one is shown.
class GroupHistory : public QObject {
  Q_OBJECT
 public:
  explicit GroupHistory(Context& context, QObject* parent = nullptr);

 private:
  struct State {
    trace::Id compile = trace::kNone;
    bool groups = true;
    draw::GroupBy group_by = draw::GroupBy::Kernels;
    std::map<std::string, bool> opened;
    std::vector<draw::UserGroup> user_groups;
    bool operator==(const State&) const = default;
  };
  State now() const;
  void apply(const State& state);
  void note();
  static QString say(const State& before, const State& after);
  Context& context_;
  State last_;
  trace::Id compile_ = trace::kNone;
  bool applying_ = false;
};

}  // namespace strata::studio
