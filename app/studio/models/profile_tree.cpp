// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/profile_tree.h"

#include <algorithm>
#include <map>

#include "app/draw/picture.h"
#include "app/studio/models/lists.h"

namespace strata::studio {
namespace {

constexpr int kTotalColumn = 4, kShareColumn = 6, kOwnColumn = 10;

TableCell time_cell(double ns) { return {qt(draw::format_time(ns)), ns}; }

TableCell share_cell(double part) { return {QString::number(100 * part, 'f', 1) + " %", part}; }

/// Nodes that a row stands for, below it, with the part of its time that is theirs.
void add_nodes(const ProfileRow& r, int parent, double whole, std::vector<ProfileItem>& out) {
  if (r.nodes.size() != r.node_ns.size() || r.nodes.size() != r.node_names.size()) return;
  for (size_t i = 0; i < r.nodes.size(); ++i) {
    ProfileItem item;
    item.parent = parent;
    item.part = whole > 0 ? r.node_ns[i] / whole : 0;
    item.single = true;
    item.nodes = {r.nodes[i]};
    item.row.cells.resize(kShareColumn + 1);
    item.row.cells[0] = {
        "%" + qt(r.node_names[i]), {}, "Its share of the time: a kernel's time is divided among its nodes"};
    item.row.cells[kTotalColumn] = time_cell(r.node_ns[i]);
    item.row.cells[kShareColumn] = share_cell(item.part);
    item.row.compile = r.nodes[i].first;
    item.row.node = r.nodes[i].second;
    out.push_back(std::move(item));
  }
}

/// Modules by path; what lies between two modules that have time gets a row of its own.
class Modules {
 public:
  Modules(const ProfileData& profile, std::vector<ProfileItem>& out) : profile_(profile), out_(out) {}

  void build() {
    auto rows = profile_table(profile_, ProfileBy::Module);
    const auto& table = profile_.by(ProfileBy::Module);
    for (size_t i = 0; i < table.size(); ++i) {
      const bool path = table[i].measured_kernel && !table[i].key.starts_with('(');
      const int at = path ? item(table[i].key) : fresh(table[i].key, table[i].key, -1);
      const size_t slot = static_cast<size_t>(at);
      const QString name = out_[slot].row.cells[0].text;
      out_[slot].row = std::move(rows[i]);
      out_[slot].row.cells[0].text = name + (out_[slot].row.cells[0].text.endsWith(" *") ? " *" : "");
      own_[slot] = table[i].ns;
      for (const ProfileNode& node : table[i].nodes) out_[slot].nodes.push_back(node);
    }
    finish();
  }

 private:
  int fresh(const std::string& path, const std::string& name, int parent) {
    ProfileItem made;
    made.parent = parent;
    made.row.cells.resize(kOwnColumn + 1);
    made.row.cells[0] = {qt(name), {}, qt(path)};
    out_.push_back(std::move(made));
    own_.push_back(0);
    return static_cast<int>(out_.size()) - 1;
  }

  int item(const std::string& path) {
    if (const auto at = by_path_.find(path); at != by_path_.end()) return at->second;
    const size_t dot = path.rfind('.');
    const int parent = dot == path.npos ? -1 : item(path.substr(0, dot));
    return by_path_[path] = fresh(path, dot == path.npos ? path : path.substr(dot + 1), parent);
  }

  /// Parents come before their children.
  void finish() {
    std::vector<double> total = own_;
    for (size_t i = out_.size(); i-- > 0;)
      if (out_[i].parent >= 0) {
        const auto parent = static_cast<size_t>(out_[i].parent);
        total[parent] += total[i];
        out_[parent].nodes.insert(out_[parent].nodes.end(), out_[i].nodes.begin(), out_[i].nodes.end());
      }
    for (size_t i = 0; i < out_.size(); ++i) {
      auto& cells = out_[i].row.cells;
      cells.resize(kOwnColumn + 1);
      out_[i].part = profile_.total > 0 ? total[i] / profile_.total : 0;
      cells[kTotalColumn] = time_cell(total[i]);
      cells[kShareColumn] = share_cell(out_[i].part);
      cells[kOwnColumn] = time_cell(own_[i]);
    }
  }

  const ProfileData& profile_;
  std::vector<ProfileItem>& out_;
  std::vector<double> own_;
  std::map<std::string, int> by_path_;
};

}  // namespace

QStringList profile_tree_headers(ProfileBy by) {
  QStringList headers = profile_headers(by);
  if (by == ProfileBy::Module) headers << "Own time";
  return headers;
}

std::vector<ProfileItem> profile_items(const ProfileData& profile, ProfileBy by) {
  std::vector<ProfileItem> out;
  if (by == ProfileBy::Module) {
    Modules(profile, out).build();
    return out;
  }
  auto rows = profile_table(profile, by);
  const auto& table = profile.by(by);
  for (size_t i = 0; i < rows.size(); ++i) {
    ProfileItem item;
    item.row = std::move(rows[i]);
    item.part = profile.total > 0 ? table[i].ns / profile.total : 0;
    item.nodes = table[i].nodes;
    out.push_back(std::move(item));
    add_nodes(table[i], static_cast<int>(out.size()) - 1, profile.total, out);
  }
  return out;
}

// ------------------------------------------------------------------------------------------------------ ProfileModel

ProfileModel::ProfileModel(QStringList headers, QObject* parent)
    : QAbstractItemModel(parent), headers_(std::move(headers)) {}

void ProfileModel::set_items(std::vector<ProfileItem> items) {
  beginResetModel();
  items_ = std::move(items);
  top_.clear();
  children_.assign(items_.size(), {});
  places_.assign(items_.size(), 0);
  // A module's children are in the order of their times, as the rest is.
  std::vector<int> order(items_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return items_[static_cast<size_t>(a)].part > items_[static_cast<size_t>(b)].part;
  });
  for (const int i : order) {
    const int parent = items_[static_cast<size_t>(i)].parent;
    auto& list = parent < 0 ? top_ : children_[static_cast<size_t>(parent)];
    places_[static_cast<size_t>(i)] = static_cast<int>(list.size());
    list.push_back(i);
  }
  endResetModel();
}

const std::vector<int>& ProfileModel::children(const QModelIndex& parent) const {
  return parent.isValid() ? children_[static_cast<size_t>(item_of(parent))] : top_;
}

QModelIndex ProfileModel::index_of(int item) const {
  if (item < 0 || static_cast<size_t>(item) >= items_.size()) return {};
  return createIndex(places_[static_cast<size_t>(item)], 0, static_cast<quintptr>(item));
}

int ProfileModel::item_of(const QModelIndex& index) const {
  return index.isValid() && index.model() == this ? static_cast<int>(index.internalId()) : -1;
}

int ProfileModel::item_of_kernel(trace::Id kernel) const {
  for (size_t i = 0; i < items_.size(); ++i)
    if (kernel != trace::kNone && items_[i].row.kernel == kernel) return static_cast<int>(i);
  return -1;
}

int ProfileModel::item_of_node(const ProfileNode& node) const {
  int best = -1;
  size_t fewest = SIZE_MAX;
  for (size_t i = 0; i < items_.size(); ++i) {
    const ProfileItem& item = items_[i];
    // The row of a node alone is folded away: what it is part of is what is shown.
    if (item.single || item.nodes.size() >= fewest) continue;
    if (std::find(item.nodes.begin(), item.nodes.end(), node) == item.nodes.end()) continue;
    best = static_cast<int>(i);
    fewest = item.nodes.size();
  }
  return best;
}

int ProfileModel::item_of_line(const QString& file, int line) const {
  for (size_t i = 0; i < items_.size(); ++i)
    if (line > 0 && items_[i].row.line == line && items_[i].row.file == file) return static_cast<int>(i);
  return -1;
}

QModelIndex ProfileModel::index(int row, int column, const QModelIndex& parent) const {
  if (row < 0 || column < 0 || column >= headers_.size() || (parent.isValid() && parent.column() != 0)) return {};
  const auto& list = children(parent);
  if (static_cast<size_t>(row) >= list.size()) return {};
  return createIndex(row, column, static_cast<quintptr>(list[static_cast<size_t>(row)]));
}

QModelIndex ProfileModel::parent(const QModelIndex& index) const {
  const int item = item_of(index);
  return item < 0 ? QModelIndex() : index_of(items_[static_cast<size_t>(item)].parent);
}

int ProfileModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : static_cast<int>(children(parent).size());
}

int ProfileModel::columnCount(const QModelIndex&) const { return static_cast<int>(headers_.size()); }

QVariant ProfileModel::data(const QModelIndex& index, int role) const {
  const int at = item_of(index);
  if (at < 0) return {};
  const ProfileItem& item = items_[static_cast<size_t>(at)];
  static const TableCell empty;
  const auto column = static_cast<size_t>(index.column());
  const TableCell& cell = column < item.row.cells.size() ? item.row.cells[column] : empty;
  switch (role) {
    // Views measure and lay out all of a text, also what can never be seen of it.
    case Qt::DisplayRole:
      return cell.text.left(2000);
    case Qt::ToolTipRole:
      return (cell.tooltip.isEmpty() ? cell.text : cell.tooltip).left(4000);
    case Qt::TextAlignmentRole:
      return static_cast<int>((column >= 3 && headers_[index.column()] != "Made of" ? Qt::AlignRight : Qt::AlignLeft) |
                              Qt::AlignVCenter);
    case SortRole:
      return cell.sort.isValid() ? cell.sort : QVariant(cell.text);
    case kPartRole:
      return column == kShareColumn ? QVariant(item.part) : QVariant();
    case NodeRole:
      return static_cast<qlonglong>(item.row.node);
    case KernelRole:
      return static_cast<qlonglong>(item.row.kernel);
    case CompileRole:
      return static_cast<qlonglong>(item.row.compile);
    case FileRole:
      return item.row.file;
    case LineRole:
      return item.row.line;
    default:
      return {};
  }
}

QVariant ProfileModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || orientation != Qt::Horizontal || section < 0 || section >= headers_.size()) return {};
  return headers_[section];
}

}  // namespace strata::studio
