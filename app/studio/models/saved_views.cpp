// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/saved_views.h"

#include <QFileInfo>
#include <algorithm>

#include "app/studio/models/lists.h"
#include "app/studio/models/settings.h"

namespace strata::studio {

SavedViews::SavedViews(bool lasting, QString file, QObject* parent)
    : QObject(parent), lasting_(lasting), file_(std::move(file)) {
  if (!lasting_) return;
  const auto s = open_settings(file_);
  const int count = std::clamp(s->beginReadArray("views"), 0, 1000);
  for (int i = 0; i < count; ++i) {
    s->setArrayIndex(i);
    const auto text = [&](const char* key) { return s->value(key).toString(); };
    SavedView view{text("name"),
                   text("trace"),
                   text("graph"),
                   text("stage"),
                   text("node"),
                   text("query"),
                   text("page"),
                   s->value("group_by").toInt(),
                   s->value("colour_by").toInt(),
                   s->value("layout").toByteArray()};
    if (!view.name.isEmpty() && find(view.trace, view.name) == all_.end()) all_.push_back(std::move(view));
  }
}

std::vector<SavedView>::iterator SavedViews::find(const QString& trace, const QString& name) {
  return std::find_if(all_.begin(), all_.end(), [&](const SavedView& v) { return v.name == name && v.trace == trace; });
}

std::vector<SavedView> SavedViews::of(const QString& trace) const {
  std::vector<SavedView> result;
  for (const SavedView& view : all_)
    if (view.trace.isEmpty() || view.trace == trace) result.push_back(view);
  std::sort(result.begin(), result.end(),
            [](const SavedView& a, const SavedView& b) { return a.name.localeAwareCompare(b.name) < 0; });
  return result;
}

void SavedViews::save(const SavedView& view) {
  if (view.name.isEmpty()) return;
  if (auto same = find(view.trace, view.name); same != all_.end())
    *same = view;
  else
    all_.push_back(view);
  write();
}

bool SavedViews::rename(const QString& trace, const QString& from, const QString& to) {
  const auto found = find(trace, from);
  if (found == all_.end() || to.isEmpty() || find(trace, to) != all_.end()) return false;
  found->name = to;
  write();
  return true;
}

void SavedViews::remove(const QString& trace, const QString& name) {
  if (const auto found = find(trace, name); found != all_.end()) {
    all_.erase(found);
    write();
  }
}

void SavedViews::write() {
  if (lasting_) {
    const auto s = open_settings(file_);
    s->remove("views");
    s->beginWriteArray("views", static_cast<int>(all_.size()));
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const SavedView& v = all_[i];
      s->setArrayIndex(static_cast<int>(i));
      s->setValue("name", v.name);
      s->setValue("trace", v.trace);
      s->setValue("graph", v.graph);
      s->setValue("stage", v.stage);
      s->setValue("node", v.node);
      s->setValue("query", v.query);
      s->setValue("page", v.page);
      s->setValue("group_by", v.group_by);
      s->setValue("colour_by", v.colour_by);
      s->setValue("layout", v.layout);
    }
    s->endArray();
  }
  emit changed();
}

SavedView present_view(const Context& context) {
  SavedView view;
  view.trace = context.path().isEmpty() ? QString() : QFileInfo(context.path()).absoluteFilePath();
  if (const auto compile = context.compile()) view.graph = qt(compile->compile.address);
  if (const StepPtr step = context.step_data()) {
    view.stage = qt(step->snapshot.stage);
    if (const auto* node = step->find(context.selection().node)) view.node = qt(node->name);
  }
  view.group_by = static_cast<int>(context.options().groups ? context.options().group_by : draw::GroupBy::None);
  view.colour_by = static_cast<int>(context.options().colour_by);
  return view;
}

void show_saved(Context& context, const SavedView& view) {
  draw::DrawOptions options = context.options();
  options.group_by = static_cast<draw::GroupBy>(std::clamp(view.group_by, 0, static_cast<int>(draw::GroupBy::User)));
  options.groups = options.group_by != draw::GroupBy::None;
  options.colour_by =
      static_cast<draw::ColourBy>(std::clamp(view.colour_by, 0, static_cast<int>(draw::ColourBy::Device)));
  context.set_options(options);
  if (context.path().isEmpty() || view.graph.isEmpty()) return;
  context.open({context.path(), view.graph, view.stage, view.node});
}

}  // namespace strata::studio
