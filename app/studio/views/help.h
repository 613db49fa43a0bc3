// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The help of the window: a page for each page of the window, and all keys. The keys of menus and toolbars are taken
/// from the actions themselves.

#include <QString>
#include <QWidget>
#include <vector>

namespace strata::studio {

struct HelpKey {
  const char* keys;  ///< as on the keyboard: `J`, `Ctrl+F`; several: `H ; [ ]`. What the mouse does, likewise: `drag`
  const char* what;
};

struct PageHelp {
  const char* name;  ///< as --view takes it
  const char* title;
  const char* shows;          ///< what it shows
  const char* read;           ///< how to read it
  std::vector<HelpKey> keys;  ///< only there
};

const std::vector<PageHelp>& page_helps();
/// Help of a page, with links `help:NAME` to the others; of an unknown one, the list of all pages.
QString help_page(const QString& name);
/// One sentence for each page, with links.
QString help_index();
/// All keys: of the actions under `window`, by menu, then of the pages.
QString shortcuts_page(const QWidget& window);

/// An action with keys, as the page of shortcuts names it.
struct ShortcutRow {
  QString group, keys, what;
};
std::vector<ShortcutRow> action_shortcuts(const QWidget& window);

}  // namespace strata::studio
