// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Statements that make, rename and take apart buffers.

#include <algorithm>

#include "capture/inductor/py_text.h"
#include "capture/inductor/wrapper_reader.h"

namespace strata::capture::detail {

bool allocates(std::string_view callee) {
  return starts_with_any(callee, {"empty_strided", "torch.empty", "empty", "_empty", "new_empty"});
}

int WrapperReader::find(std::string_view name) const {
  const auto it = buffers_.find(std::string(name));
  return it == buffers_.end() ? -1 : it->second;
}

int WrapperReader::make(std::string_view name, std::string_view kind) {
  CodeBuffer b;
  b.name = name;
  b.kind = kind;
  b.line = line_;
  out_.buffers.push_back(std::move(b));
  const int index = static_cast<int>(out_.buffers.size()) - 1;
  buffers_[std::string(name)] = index;
  return index;
}

void WrapperReader::unpack_arguments(std::string_view left) {
  size_t position = 0;
  for (const std::string_view name : py::items(left)) {
    for (const std::string_view one : py::split(name)) argument(one, position++);
  }
  arguments_.clear();
}

void WrapperReader::argument(std::string_view name, size_t position) {
  if (!py::is_name(name)) return;
  if (depth_ == 1) {
    out_.inputs.push_back(make(name, "input"));
    return;
  }
  // An inner function: its arguments are what the caller put into the list.
  const int given = position < arguments_.size() ? arguments_[position] : -1;
  if (given >= 0 && buffer(given).name == name) return;
  const int index = make(name, "temporary");
  buffer(index).alias_of = given;
  if (given >= 0) copy_layout(index, given);
}

void WrapperReader::copy_layout(int to, int from) {
  CodeBuffer& b = buffer(to);
  const CodeBuffer& source = buffer(from);
  b.sizes = source.sizes;
  b.strides = source.strides;
  b.has_sizes = source.has_sizes;
  b.dtype = source.dtype;
  b.device = source.device;
}

void WrapperReader::rename(std::string_view left, std::string_view right, bool reuse) {
  const int from = find(right);
  if (from < 0 || !py::is_name(left) || find(left) == from) return;
  if (depth_ == 1 && !reuse && size_symbol(left)) {
    for (int& input : out_.inputs) {
      if (input == from) input = -1;
    }
    buffer(from).kind = "symbol";
    buffer(from).inits.assign(1, std::string(left));
    buffers_.erase(buffer(from).name);
    return;
  }
  const int index = make(left, "temporary");
  (reuse ? buffer(index).reuse_of : buffer(index).alias_of) = from;
  copy_layout(index, from);
}

bool WrapperReader::size_symbol(std::string_view name) {
  const size_t digits = name.find_first_of("0123456789");
  if (digits == std::string_view::npos || digits == 0) return false;
  const std::string_view head = name.substr(0, digits);
  return head == "s" || head == "u" || head == "ps" || head == "zf" || head == "zuf" || head == "i";
}

void WrapperReader::list(std::string_view left, std::string_view right) {
  Values values;
  for (const std::string_view item : py::items(right)) values.push_back(root_name(item));
  lists_[std::string(left)] = std::move(values);
}

int WrapperReader::root_name(std::string_view expression) const {
  int found = -1;
  py::each_name(expression, [&](std::string_view name) {
    if (found < 0) found = find(name);
  });
  return found;
}

void WrapperReader::element(std::string_view left, std::string_view base, std::string_view subscript,
                            std::string_view right) {
  if (!py::is_name(left)) return;
  const size_t close = subscript.find(']');
  const auto number = close == std::string_view::npos ? std::nullopt : py::integer(subscript.substr(1, close - 1));
  int from = find(base);
  if (const auto known = lists_.find(std::string(base)); known != lists_.end() && number && *number >= 0) {
    const auto& values = known->second;
    from = static_cast<size_t>(*number) < values.size() ? values[static_cast<size_t>(*number)] : -1;
  }
  if (base == "args" || from < 0) {
    if (base == "args") argument(left, number ? static_cast<size_t>(std::max<std::int64_t>(*number, 0)) : 0);
    return;
  }
  const int index = make(left, "temporary");
  buffer(index).alias_of = from;
  buffer(index).element = number ? static_cast<int>(std::clamp<std::int64_t>(*number, -1, 1 << 20)) : -1;
  buffer(index).device = buffer(from).device;
  buffer(index).inits.emplace_back(right);
}

void WrapperReader::view(std::string_view left, std::string_view right, bool reuse) {
  const std::vector<std::string_view> parts = py::items(right.substr(right.find('(')));
  const int from = parts.empty() ? -1 : root_name(parts[0]);
  if (!py::is_name(left)) return;
  const int index = make(left, "temporary");
  CodeBuffer& b = buffer(index);
  const bool pool = right.starts_with("alloc_from_pool");
  (reuse || pool ? b.reuse_of : b.alias_of) = from;
  const size_t sizes = pool ? 3 : 1;
  if (parts.size() > sizes + 1) set_layout(index, parts[sizes], parts[sizes + 1]);
  if (from >= 0) {
    b.device = buffer(from).device;
    b.dtype = buffer(from).dtype;
  }
  if (pool && parts.size() > 2) b.dtype = dtype(parts[2]);
  b.inits.emplace_back(right);
}

std::string WrapperReader::dtype(std::string_view text) {
  if (text.starts_with("torch.")) text.remove_prefix(6);
  return std::string(text);
}

void WrapperReader::set_layout(int index, std::string_view sizes, std::string_view strides) {
  CodeBuffer& b = buffer(index);
  if (sizes.empty() || sizes[0] != '(') return;
  b.sizes.clear();
  b.strides.clear();
  for (const std::string_view size : py::items(sizes)) b.sizes.emplace_back(size);
  for (const std::string_view stride : py::items(strides)) b.strides.emplace_back(stride);
  b.has_sizes = true;
}

void WrapperReader::allocate(std::string_view left, std::string_view right, size_t open) {
  if (!py::is_name(left)) return;
  const int index = make(left, "temporary");
  const std::string_view callee = right.substr(0, open);
  const std::vector<std::string_view> parts = py::items(right.substr(open));
  if (parts.size() >= 2) set_layout(index, parts[0], parts[1]);
  CodeBuffer& b = buffer(index);
  for (const std::string_view part : parts) {
    if (part.starts_with("torch.")) b.dtype = dtype(part);
    if (part.starts_with("dtype=")) b.dtype = dtype(part.substr(6));
    if (part.starts_with("device=")) b.device = device(part.substr(7));
  }
  for (const char* name : {"cuda", "cpu", "xpu", "mtia", "mps"}) {
    if (callee.find(std::string("_") + name) != std::string_view::npos) b.device = name;
  }
  if (callee.ends_with("_p2p")) b.device = "cuda";
  b.inits.emplace_back(right);
}

std::string WrapperReader::device(std::string_view text) {
  if (text.starts_with("torch.")) text.remove_prefix(6);
  if (text.starts_with("device(")) {
    const std::vector<std::string_view> parts = py::items(text.substr(6));
    for (std::string_view part : parts) {
      if (part.starts_with("type=")) part.remove_prefix(5);
      return std::string(py::unquote(part));
    }
  }
  return std::string(py::unquote(text));
}

std::vector<int> WrapperReader::named(std::string_view operand) const {
  std::vector<int> out;
  py::each_name(operand, [&](std::string_view name) {
    if (const int b = find(name); b >= 0) add_once(out, b);
  });
  return out;
}

void WrapperReader::bind_results(std::string_view left, const Values& values) {
  size_t i = 0;
  for (const std::string_view item : py::items(left)) {
    for (const std::string_view name : py::split(item)) {
      const int value = i < values.size() ? values[i] : -1;
      ++i;
      if (!py::is_name(name) || (value >= 0 && buffer(value).name == name)) continue;
      const int index = make(name, "temporary");
      buffer(index).alias_of = value;
      if (value >= 0) copy_layout(index, value);
    }
  }
}

void WrapperReader::check_layout(std::string_view operands) {
  const std::vector<std::string_view> parts = py::items(operands);
  if (parts.size() < 3) return;
  const int index = find(parts[0]);
  if (index >= 0 && !buffer(index).has_sizes) set_layout(index, parts[1], parts[2]);
}

}  // namespace strata::capture::detail
