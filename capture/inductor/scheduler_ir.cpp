// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/inductor/scheduler_ir.h"

#include <algorithm>

#include "capture/inductor/py_text.h"

namespace strata::capture {
namespace {

constexpr size_t kMaxValueLines = 100'000;

class IrReader {
 public:
  explicit IrReader(std::string_view text) : lines_(py::lines(text)) {}

  std::vector<IrNode> read() {
    std::vector<IrNode> nodes;
    while (at_ < lines_.size()) {
      if (is_head(lines_[at_])) {
        nodes.push_back(node(0));
      } else {
        ++at_;
      }
    }
    return nodes;
  }

 private:
  /// `op1: SchedulerNode(ComputedBuffer)`: at the start of a line, no dot in the name.
  static bool is_head(std::string_view line) {
    line = py::trim(line);
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos || !py::is_name(line.substr(0, colon))) return false;
    const std::string_view rest = line.substr(colon + 2);
    const std::string_view word = rest.substr(0, rest.find('('));
    return py::is_name(word) && (word.ends_with("Node") || word.ends_with("SchedulerNode"));
  }

  IrNode node(int depth) {
    IrNode out;
    out.first_line = static_cast<std::int64_t>(at_) + 1;
    const std::string_view head = py::trim(lines_[at_++]);
    const size_t colon = head.find(": ");
    out.name = head.substr(0, colon);
    const std::string_view type = head.substr(colon + 2);
    const size_t open = type.find('(');
    out.node_class = type.substr(0, open);
    if (open != std::string_view::npos) {
      const size_t close = type.rfind(')');
      out.ir_classes =
          type.substr(open + 1, close == std::string_view::npos || close < open ? close : close - open - 1);
    }
    while (at_ < lines_.size()) {
      const std::string_view line = py::trim(lines_[at_]);
      if (is_head(line)) break;
      if (line.find(".snodes[") != std::string_view::npos && line.ends_with("=")) {
        if (depth > 0 && !line.starts_with(out.name + ".")) break;  // of the node that this one is a member of
        ++at_;
        if (depth < 8 && at_ < lines_.size() && is_head(lines_[at_])) out.members.push_back(node(depth + 1));
        continue;
      }
      if (!line.empty()) out.last_line = static_cast<std::int64_t>(at_) + 1;
      attribute(out, line);
    }
    for (const IrNode& member : out.members) out.last_line = std::max(out.last_line, member.last_line);
    return out;
  }

  /// `op1.writes = [...]`: takes the line and those that its brackets span.
  void attribute(IrNode& node, std::string_view line) {
    const size_t equals = line.find(" =");
    const bool own = line.starts_with(node.name + ".") && equals != std::string_view::npos;
    if (!own) {
      ++at_;
      return;
    }
    const std::string_view key = line.substr(node.name.size() + 1, equals - node.name.size() - 1);
    if (key == "outputs") {
      ++at_;
      outputs(node);
      return;
    }
    const std::string value = take_value();
    if (key == "writes") node.writes = deps(value);
    if (key == "unmet_dependencies") node.unmet = deps(value);
    if (key == "met_dependencies") node.met = deps(value);
    if (key == "group.device") node.device = value;
    if (key == "group.iteration") node.iteration = value;
    if (key == "sizes") node.sizes = value;
    if (key == "node.kernel") node.kernel = value;
    if (key == "users") older_users(node, value);
  }

  /// What follows `=`, joined over lines until brackets are closed.
  std::string take_value() {
    const std::string_view line = py::trim(lines_[at_]);
    const size_t equals = line.find(" =");
    std::string value(py::trim(line.substr(equals + 2)));
    ++at_;
    int open = py::open_brackets(value);
    for (size_t i = 0; at_ < lines_.size() && i < kMaxValueLines; ++i) {
      const std::string_view more = py::trim(lines_[at_]);
      if (open <= 0 && !(value.empty() && more.starts_with("["))) break;
      open += py::open_brackets(more);
      if (!value.empty()) value += ' ';
      value += more;
      ++at_;
    }
    return value;
  }

  static std::vector<IrDep> deps(std::string_view list) {
    std::vector<IrDep> out;
    for (const std::string_view item : py::items(list)) {
      const size_t open = item.find('(');
      if (open == std::string_view::npos) continue;
      IrDep dep;
      dep.kind = item.substr(0, open);
      const std::vector<std::string_view> parts = py::items(item.substr(open));
      for (size_t i = 0; i < parts.size(); ++i) dep_part(dep, parts[i], i);
      out.push_back(std::move(dep));
    }
    return out;
  }

  static void dep_part(IrDep& dep, std::string_view part, size_t position) {
    const size_t equals = part.find('=');
    const std::string_view key = equals == std::string_view::npos ? std::string_view{} : part.substr(0, equals);
    const std::string_view value = py::is_name(key) ? part.substr(equals + 1) : part;
    if (key == "name" || (!py::is_name(key) && position == 0)) {
      dep.buffer = py::unquote(value);
    } else if (key == "mode" || (!py::is_name(key) && position == 3)) {
      if (value != "None") dep.mode = py::unquote(value);
    } else if (position == 1) {
      dep.index = value;
    } else if (position == 2) {
      dep.ranges = value;
    }
  }

  /// The block between `op1.outputs = [` and its closing bracket.
  void outputs(IrNode& node) {
    while (at_ < lines_.size()) {
      const std::string_view line = py::trim(lines_[at_]);
      if (line == "]" || is_head(line)) {
        at_ += line == "]" ? 1 : 0;
        return;
      }
      const size_t colon = line.find(": ");
      const size_t equals = line.find(" =");
      if (colon != std::string_view::npos && py::is_name(line.substr(0, colon))) {
        IrBuffer& buffer = node.outputs.emplace_back();
        buffer.name = line.substr(0, colon);
        buffer.ir_class = line.substr(colon + 2);
        ++at_;
      } else if (equals != std::string_view::npos && !node.outputs.empty()) {
        buffer_attribute(node.outputs.back(), line.substr(0, equals));
      } else if (line.starts_with(node.name + ".")) {
        return;  // the list was on one line
      } else {
        ++at_;
      }
    }
  }

  void buffer_attribute(IrBuffer& buffer, std::string_view key) {
    const std::string value = take_value();
    if (key.ends_with(".layout")) layout(buffer, value);
    if (key.ends_with(".users")) buffer.users = users(value);
  }

  /// `FixedLayout('cuda:0', torch.float32, size=[8, 8], stride=[8, 1])`
  static void layout(IrBuffer& buffer, std::string_view value) {
    const size_t open = value.find('(');
    if (open == std::string_view::npos) return;
    const std::vector<std::string_view> parts = py::items(value.substr(open));
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i == 0) buffer.device = py::unquote(parts[i]);
      if (parts[i].starts_with("torch.")) buffer.dtype = parts[i].substr(6);
      if (parts[i].starts_with("size=")) {
        buffer.has_layout = true;
        for (const std::string_view dim : py::items(parts[i].substr(5))) buffer.sizes.emplace_back(dim);
      }
      if (parts[i].starts_with("stride=")) {
        for (const std::string_view dim : py::items(parts[i].substr(7))) buffer.strides.emplace_back(dim);
      }
    }
  }

  static std::vector<IrUser> users(std::string_view list) {
    std::vector<IrUser> out;
    for (const std::string_view item : py::items(list)) {
      if (!item.starts_with("NodeUser(")) continue;
      IrUser user;
      for (const std::string_view part : py::items(item.substr(8))) {
        if (part.starts_with("node=")) user.node = user_name(part.substr(5));
        if (part == "can_inplace=True") user.in_place = true;
        if (part == "is_weak=True") user.weak = true;
      }
      out.push_back(std::move(user));
    }
    return out;
  }

  /// `SchedulerNode(name='op1')` or `OUTPUT`.
  static std::string user_name(std::string_view value) {
    const size_t at = value.find("name=");
    if (at == std::string_view::npos) return std::string(value);
    const std::string_view rest = value.substr(at + 5);
    return std::string(py::unquote(rest.substr(0, rest.find_first_of(",)"))));
  }

  /// Before nodes and buffers had names of their own, a node was called like its buffer.
  static void older_users(IrNode& node, std::string_view value) {
    if (!node.outputs.empty()) return;
    IrBuffer& buffer = node.outputs.emplace_back();
    buffer.name = node.name;
    buffer.ir_class = node.ir_classes;
    buffer.users = users(value);
  }

  std::vector<std::string_view> lines_;
  size_t at_ = 0;
};

}  // namespace

std::vector<IrNode> parse_scheduler_ir(std::string_view text) { return IrReader(text).read(); }

}  // namespace strata::capture
