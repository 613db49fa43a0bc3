// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/user_groups.h"

#include <QCryptographicHash>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSettings>
#include <algorithm>
#include <memory>
#include <utility>

#include "app/draw/grouping.h"
#include "app/studio/models/lists.h"

namespace strata::studio {
namespace {

/// A file of settings that somebody else wrote must not fill the memory.
constexpr qsizetype kMostGroups = 500, kMostNodes = 200000;

std::unique_ptr<QSettings> settings(const QString& file) {
  return file.isEmpty() ? std::make_unique<QSettings>() : std::make_unique<QSettings>(file, QSettings::IniFormat);
}

/// Paths have characters that keys of settings cannot have.
QString place_of(const QString& path, const std::string& address) {
  const QByteArray what = (QFileInfo(path).absoluteFilePath() + '\n' + qt(address)).toUtf8();
  return "groups/" + QCryptographicHash::hash(what, QCryptographicHash::Sha1).toHex();
}

}  // namespace

QString to_json(const draw::UserGroup& group) {
  QJsonArray nodes;
  for (trace::NodeId id : group.nodes) nodes.append(QString::number(id));
  const QJsonObject object{
      {"name", qt(group.name)}, {"nodes", nodes}, {"rule", static_cast<int>(group.rule)}, {"text", qt(group.text)}};
  return QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact));
}

bool from_json(const QString& text, draw::UserGroup& group) {
  const QJsonObject object = QJsonDocument::fromJson(text.toUtf8()).object();
  group = {};
  group.name = object["name"].toString().toStdString();
  group.text = object["text"].toString().toStdString();
  const int rule = object["rule"].toInt();
  if (group.name.empty() || rule < 0 || rule > static_cast<int>(draw::UserGroup::Rule::Query)) return false;
  group.rule = static_cast<draw::UserGroup::Rule>(rule);
  const QJsonArray nodes = object["nodes"].toArray();
  for (qsizetype i = 0; i < std::min(nodes.size(), kMostNodes); ++i)
    if (const trace::NodeId id = nodes[i].toString().toLongLong(); id > 0) group.nodes.push_back(id);
  return !group.nodes.empty() || group.rule != draw::UserGroup::Rule::None;
}

UserGroups::UserGroups(Context& context, bool lasting, QString file, QObject* parent)
    : QObject(parent), context_(context), lasting_(lasting), file_(std::move(file)) {
  connect(&context_, &Context::compileChanged, this, &UserGroups::load);
  connect(&context_, &Context::optionsChanged, this, &UserGroups::keep);
  load();
}

bool UserGroups::has(const QString& name) const {
  return std::any_of(all().begin(), all().end(), [&](const auto& g) { return qt(g.name) == name; });
}

QString UserGroups::free_name(const QString& wanted) const {
  const QString base = wanted.trimmed().isEmpty() ? QString("group") : wanted.trimmed().left(200);
  QString name = base;
  for (int i = 2; has(name); ++i) name = QString("%1 %2").arg(base).arg(i);
  return name;
}

void UserGroups::set(const std::vector<draw::UserGroup>& groups, std::map<std::string, bool> opened) {
  draw::DrawOptions options = context_.options();
  options.user_groups = groups;
  options.opened = std::move(opened);
  if (!groups.empty() && groups.size() > all().size() && (!options.groups || options.group_by == draw::GroupBy::None)) {
    options.groups = true;
    options.group_by = draw::GroupBy::User;
  }
  context_.set_options(options);
}

QString UserGroups::add(draw::UserGroup group) {
  if (group.nodes.empty() && group.rule == draw::UserGroup::Rule::None) return {};
  std::sort(group.nodes.begin(), group.nodes.end());
  group.nodes.erase(std::unique(group.nodes.begin(), group.nodes.end()), group.nodes.end());
  const QString name = free_name(qt(group.name));
  group.name = name.toStdString();
  auto groups = all();
  auto opened = context_.options().opened;
  opened[draw::user_group_key(group.name)] = true;
  groups.push_back(std::move(group));
  set(groups, std::move(opened));
  return name;
}

bool UserGroups::rename(const QString& from, const QString& to) {
  const QString name = to.trimmed();
  if (name.isEmpty() || !has(from) || (has(name) && name != from)) return false;
  auto groups = all();
  for (auto& group : groups)
    if (qt(group.name) == from) group.name = name.toStdString();
  auto opened = context_.options().opened;
  if (auto node = opened.extract(draw::user_group_key(from.toStdString()))) {
    node.key() = draw::user_group_key(name.toStdString());
    opened.insert(std::move(node));
  }
  set(groups, std::move(opened));
  return true;
}

void UserGroups::remove(const QString& name) {
  auto groups = all();
  if (std::erase_if(groups, [&](const auto& g) { return qt(g.name) == name; }) == 0) return;
  auto opened = context_.options().opened;
  opened.erase(draw::user_group_key(name.toStdString()));
  set(groups, std::move(opened));
}

QString UserGroups::at(const std::string& key, trace::NodeId node) const {
  if (const QString name = qt(draw::user_group_name(key)); has(name)) return name;
  for (auto group = all().rbegin(); node != 0 && group != all().rend(); ++group)
    if (std::binary_search(group->nodes.begin(), group->nodes.end(), node)) return qt(group->name);
  return {};
}

void UserGroups::load() {
  const auto compile = context_.compile();
  const QString place = compile ? place_of(context_.path(), compile->compile.address) : QString();
  if (place == place_) return;
  place_ = place;
  const QStringList lines = place.isEmpty() ? QStringList()
                            : lasting_      ? settings(file_)->value(place).toStringList()
                                            : passing_[place];
  draw::DrawOptions options = context_.options();
  options.user_groups.clear();
  for (const QString& line : lines.mid(0, kMostGroups))
    if (draw::UserGroup group; from_json(line, group)) options.user_groups.push_back(std::move(group));
  kept_ = options.user_groups;
  if (options.user_groups != all()) context_.set_options(options);
}

void UserGroups::keep() {
  if (place_.isEmpty() || all() == kept_) return;
  kept_ = all();
  QStringList lines;
  for (const auto& group : kept_) lines << to_json(group);
  if (!lasting_) {
    passing_[place_] = lines;
  } else if (lines.isEmpty()) {
    settings(file_)->remove(place_);
  } else {
    settings(file_)->setValue(place_, lines);
  }
}

// ----------------------------------------------------------------------------------------------------- taking back

GroupHistory::GroupHistory(Context& context, QObject* parent) : QObject(parent), context_(context), last_(now()) {
  connect(&context_, &Context::optionsChanged, this, &GroupHistory::note);
  connect(&context_, &Context::compileChanged, this, [this] {
    compile_ = context_.compile() ? context_.compile()->compile.id : trace::kNone;
    last_ = now();
  });
}

GroupHistory::State GroupHistory::now() const {
  const draw::DrawOptions& options = context_.options();
  return {compile_, options.groups, options.group_by, options.opened, options.user_groups};
}

void GroupHistory::apply(const State& state) {
  applying_ = true;
  draw::DrawOptions options = context_.options();
  options.groups = state.groups;
  options.group_by = state.group_by;
  options.opened = state.opened;
  if (state.compile == compile_) options.user_groups = state.user_groups;
  context_.set_options(options);
  last_ = now();
  applying_ = false;
}

/// While a compile is on its way its groups are put in: nobody did that.
void GroupHistory::note() {
  const trace::Id shown = context_.compile() ? context_.compile()->compile.id : trace::kNone;
  const State before = std::exchange(last_, now());
  if (applying_ || before == last_ || shown == trace::kNone || shown != compile_ || !context_.step_data()) return;
  context_.undo().push(new LayoutChange(
      say(before, last_), [this, after = last_] { apply(after); }, [this, before] { apply(before); }, true));
}

QString GroupHistory::say(const State& before, const State& after) {
  if (after.user_groups.size() > before.user_groups.size()) return "group";
  if (after.user_groups.size() < before.user_groups.size()) return "ungroup";
  if (after.user_groups != before.user_groups) return "rename group";
  if (after.group_by != before.group_by || after.groups != before.groups) return "grouping";
  size_t changed = 0;
  bool open = false;
  for (const auto& [key, value] : after.opened) {
    const auto was = before.opened.find(key);
    if (was != before.opened.end() && was->second == value) continue;
    ++changed;
    open = value;
  }
  const QString what = open ? "expand" : "collapse";
  return changed == 1 ? what : what + " all";
}

}  // namespace strata::studio
