// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/draw/module_paths.h"

namespace strata::draw {
namespace {

double item_bytes(std::string_view dtype) {
  static const std::map<std::string_view, double> known = {
      {"f64", 8},      {"f32", 4},     {"f16", 2},     {"bf16", 2},     {"i64", 8},      {"i32", 4},
      {"i16", 2},      {"i8", 1},      {"u8", 1},      {"u16", 2},      {"u32", 4},      {"u64", 8},
      {"b8", 1},       {"bool", 1},    {"c64", 8},     {"c128", 16},    {"f8e4m3", 1},   {"f8e5m2", 1},
      {"f8e4m3fn", 1}, {"float64", 8}, {"float32", 4}, {"float16", 2},  {"int64", 8},    {"int32", 4},
      {"int16", 2},    {"int8", 1},    {"uint8", 1},   {"bfloat16", 2}, {"complex64", 8}};
  const auto found = known.find(dtype);
  return found == known.end() ? -1 : found->second;
}

/// Product of the numbers in `8, 64`; -1 if one of them is none.
double product(std::string_view dims) {
  if (dims.find_first_not_of(' ') == std::string_view::npos) return 1;
  double result = 1;
  while (!dims.empty()) {
    const size_t comma = std::min(dims.find(','), dims.size());
    double number = -1;
    for (char c : dims.substr(0, comma)) {
      if (c == ' ' && number < 0) continue;
      if (c < '0' || c > '9') return -1;
      number = std::max(number, 0.0) * 10 + (c - '0');
    }
    if (number < 0) return -1;
    result *= number;
    dims.remove_prefix(std::min(comma + 1, dims.size()));
  }
  return result;
}

double tensor_bytes(std::string_view dtype, std::string_view shape) {
  if (shape.size() < 2 || shape.front() != '[' || shape.back() != ']') return -1;
  const double item = item_bytes(dtype), count = product(shape.substr(1, shape.size() - 2));
  return item < 0 || count < 0 ? -1 : item * count;
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); }

/// Every `f32[8, 64]` in `(f32[8, 64][64, 1]cpu, i64[3])`: strides follow no word.
double sum_of_types(std::string_view type) {
  double sum = -1;
  for (size_t open = type.find('['); open != std::string_view::npos; open = type.find('[', open + 1)) {
    size_t begin = open;
    while (begin > 0 && is_word(type[begin - 1])) --begin;
    const size_t close = type.find(']', open);
    if (close == std::string_view::npos) break;
    if (begin == open || item_bytes(type.substr(begin, open - begin)) < 0) continue;
    const double bytes = tensor_bytes(type.substr(begin, open - begin), type.substr(open, close - open + 1));
    if (bytes < 0) return -1;
    sum = std::max(sum, 0.0) + bytes;
  }
  return sum;
}

/// `layer.10` after `layer.9`.
bool natural_less(const std::string& a, const std::string& b) {
  size_t i = 0, k = 0;
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && k < b.size()) {
    if (!digit(a[i]) || !digit(b[k])) {
      if (a[i] != b[k]) return a[i] < b[k];
      ++i, ++k;
      continue;
    }
    size_t p = i, q = k;
    while (p < a.size() && digit(a[p])) ++p;
    while (q < b.size() && digit(b[q])) ++q;
    if (p - i != q - k) return p - i < q - k;
    if (int order = a.compare(i, p - i, b, k, q - k)) return order < 0;
    i = p, k = q;
  }
  return a.size() - i < b.size() - k;
}

std::map<std::string, size_t> count_keys(const std::vector<std::vector<std::string>>& paths, size_t depth) {
  std::map<std::string, size_t> counts;
  for (const auto& path : paths)
    if (!path.empty()) ++counts[join_path(path, depth)];
  return counts;
}

std::vector<std::string> most_frequent(const std::map<std::string, size_t>& counts) {
  std::vector<std::string> keys;
  for (const auto& [key, count] : counts) keys.push_back(key);
  std::sort(keys.begin(), keys.end(), natural_less);
  std::stable_sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) { return counts.at(a) > counts.at(b); });
  if (keys.size() > kModuleColours) keys.resize(kModuleColours);
  std::sort(keys.begin(), keys.end(), natural_less);
  return keys;
}

/// How much these colours tell: the entropy of the colour of a node, those without one taken together.
double telling(const std::map<std::string, size_t>& counts, const std::vector<std::string>& keys) {
  double all = 0, named = 0, sum = 0;
  for (const auto& [key, count] : counts) all += static_cast<double>(count);
  auto add = [&](double count) { sum -= count > 0 ? count / all * std::log(count / all) : 0; };
  for (const auto& key : keys) {
    named += static_cast<double>(counts.at(key));
    add(static_cast<double>(counts.at(key)));
  }
  add(all - named);
  return sum;
}

/// Modules of the depth whose colours tell most; deeper ones only if they tell clearly more.
std::vector<std::string> coloured_modules(const std::vector<std::vector<std::string>>& paths, size_t& depth) {
  std::vector<std::string> best;
  double most = -1;
  for (size_t d = 1; d <= 6; ++d) {
    const auto counts = count_keys(paths, d);
    if (counts.empty()) break;
    auto keys = most_frequent(counts);
    const double tells = telling(counts, keys);
    if (tells <= most * 1.25 + 0.05 && most >= 0) continue;
    most = tells;
    best = std::move(keys);
    depth = d;
  }
  return best;
}

/// The same device has the same colour in every picture, unless two kinds of accelerators meet.
int wanted_slot(const std::string& device) {
  if (device == "cpu") return 0;
  const size_t colon = device.find(':');
  int number = 0;
  if (colon != std::string::npos)
    for (char c : device.substr(colon + 1, 4)) number = c >= '0' && c <= '9' ? number * 10 + (c - '0') : number;
  return 1 + number % (kDeviceColours - 1);
}

void add_device_slots(Picture& flat) {
  std::set<std::string> devices;
  for (const auto& node : flat.nodes)
    if (!node.device.empty()) devices.insert(node.device);
  flat.devices.assign(kDeviceColours, "");
  std::map<std::string, int> slots;
  for (const auto& device : devices) {
    int slot = wanted_slot(device), tried = 0;
    while (!flat.devices[static_cast<size_t>(slot)].empty() && tried++ < kDeviceColours)
      slot = (slot + 1) % kDeviceColours;
    if (tried > kDeviceColours) break;
    flat.devices[static_cast<size_t>(slot)] = device;
    slots[device] = slot;
  }
  for (auto& node : flat.nodes)
    if (const auto found = slots.find(node.device); found != slots.end()) node.device_slot = found->second;
}

}  // namespace

double value_bytes(std::string_view dtype, std::string_view shape, std::string_view type) {
  const double tensor = tensor_bytes(dtype, shape);
  return tensor >= 0 ? tensor : sum_of_types(type);
}

void add_attributes(Picture& flat, const std::vector<trace::NodeRecord>& nodes,
                    const std::vector<std::vector<std::string>>& paths) {
  for (const auto& record : nodes) {
    const int i = flat.find(record.id);
    if (i < 0) continue;
    PictureNode& node = flat.nodes[static_cast<size_t>(i)];
    node.device = record.device;
    if (node.op_class != OpClass::Output) node.bytes = value_bytes(record.dtype, record.shape, record.type);
  }
  size_t depth = 1;
  flat.modules = coloured_modules(paths, depth);
  std::map<std::string, int> slots;
  for (const auto& key : flat.modules) slots.emplace(key, static_cast<int>(slots.size()));
  for (size_t i = 0; i < paths.size(); ++i)
    if (const auto found = slots.find(join_path(paths[i], depth)); found != slots.end() && !paths[i].empty())
      flat.nodes[i].module_slot = found->second;
  add_device_slots(flat);
  scale_bytes(flat);
}

void scale_bytes(Picture& picture) {
  double least = -1, most = -1;
  for (const auto& node : picture.nodes) {
    if (node.bytes <= 0) continue;
    least = least < 0 ? node.bytes : std::min(least, node.bytes);
    most = std::max(most, node.bytes);
  }
  picture.least_bytes = least;
  picture.most_bytes = most;
  const double range = most > least ? std::log(most / least) : 1;
  for (auto& node : picture.nodes)
    node.bytes_share = node.bytes < 0 ? -1 : node.bytes <= 0 ? 0 : std::log(node.bytes / least) / range;
}

std::string format_bytes(double bytes) {
  if (bytes < 0 || std::isnan(bytes)) return "?";
  if (bytes < 1e3) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1e6) return fmt::format("{:.{}f} kB", bytes / 1e3, bytes < 1e5 ? 1 : 0);
  if (bytes < 1e9) return fmt::format("{:.{}f} MB", bytes / 1e6, bytes < 1e8 ? 1 : 0);
  return fmt::format("{:.1f} GB", bytes / 1e9);
}

}  // namespace strata::draw
