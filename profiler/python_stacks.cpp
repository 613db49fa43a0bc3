// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/python_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "core/support/error.h"
#include "core/support/json.h"

namespace strata::profiler {
namespace {

using Kind = HostEvent::Kind;
constexpr std::string_view kModule = "nn.Module: ";
constexpr size_t kLongestModules = 4096;

const HostEvent& at(const Timeline& t, int i) { return t.host[static_cast<size_t>(i)]; }

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::optional<std::int64_t> number(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0) return std::nullopt;
  return value;
}

struct Frame {
  std::string_view file, function;
  std::int64_t line = 0;
};

/// `file.py(12): function`.
std::optional<Frame> parse_frame(std::string_view text) {
  const size_t close = text.rfind("): ");
  const size_t open = close == std::string_view::npos ? close : text.rfind('(', close);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  const auto line = number(text.substr(open + 1, close - open - 1));
  if (!line) return std::nullopt;
  return Frame{text.substr(0, open), text.substr(close + 3), *line};
}

bool is_separator(char c) { return c == '/' || c == '\\'; }

/// PyTorch installed, or in a folder of its sources.
bool is_torch(std::string_view file) {
  if (file.starts_with("torch/") || file.starts_with("triton/") || contains(file, "-packages/torch/") ||
      contains(file, "-packages/triton/") || contains(file, "/torchinductor_"))
    return true;
  for (const std::string_view part :
       {"/torch/nn/", "/torch/_", "/torch/autograd/", "/torch/optim/", "/torch/utils/", "/torch/fx/", "/torch/cuda/",
        "/torch/functional.py", "/torch/amp/", "/torch/profiler/", "/torch/distributed/", "/torch/jit/",
        "/torch/overrides.py", "/torch/compiler/", "/torch/library.py"})
    if (contains(file, part)) return true;
  return false;
}

/// Files of the standard library that call back into programs; profiles leave their folder out.
bool is_standard(std::string_view file) {
  static const std::unordered_set<std::string_view> files{"contextlib.py", "functools.py", "typing.py", "threading.py",
                                                          "runpy.py",      "copy.py",      "enum.py",   "abc.py",
                                                          "inspect.py",    "warnings.py",  "bdb.py",    "pdb.py"};
  if (files.contains(file)) return true;
  for (const std::string_view folder :
       {"importlib/", "collections/", "multiprocessing/", "concurrent/", "asyncio/", "unittest/", "logging/", "json/"})
    if (file.starts_with(folder)) return true;
  return contains(file, "/lib/python3") && !contains(file, "-packages/");
}

/// The value of a text member of an event's arguments; empty when there is none.
std::string text_argument(const std::string& args, std::string_view key) {
  if (!contains(args, key)) return {};
  try {
    const Json json = parse_json(args, "args");
    const Json* value = json.find(key);
    const std::string* text = value == nullptr ? nullptr : value->as<std::string>();
    return text == nullptr ? std::string() : *text;
  } catch (const Error&) {
    return {};  // a damaged event has no place
  }
}

/// The running line of a function, from where a call in it says that it was called (`model.py:15`).
std::int64_t calling_line(const HostEvent& called, const PythonPlace& function) {
  const std::string from = text_argument(called.args, "CallFrom");
  const size_t colon = from.rfind(':');
  if (colon == std::string::npos) return 0;
  const auto line = number(std::string_view(from).substr(colon + 1));
  return line && same_file(std::string_view(from).substr(0, colon), function.file) ? *line : 0;
}

}  // namespace

bool is_user_file(std::string_view file) {
  // Cells of notebooks are a user's code; other names of this kind stand for code made at run time.
  if (file.starts_with('<')) return file.starts_with("<ipython-input");
  std::string path(file);
  std::replace(path.begin(), path.end(), '\\', '/');
  return !is_torch(path) && !is_standard(path);
}

bool same_file(std::string_view a, std::string_view b) {
  while (a.starts_with("./")) a.remove_prefix(2);
  while (b.starts_with("./")) b.remove_prefix(2);
  if (a.size() > b.size()) std::swap(a, b);
  if (a.empty()) return false;
  for (size_t i = 1; i <= a.size(); ++i) {
    const char x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && !(is_separator(x) && is_separator(y))) return false;
  }
  return a.size() == b.size() || is_separator(a.front()) || is_separator(b[b.size() - a.size() - 1]);
}

std::string_view original_function(std::string_view function) {
  constexpr std::string_view resume = "torch_dynamo_resume_in_";
  while (function.starts_with(resume)) {
    const size_t end = function.rfind("_at_");
    if (end == std::string_view::npos || end < resume.size()) break;
    function = function.substr(resume.size(), end - resume.size());
  }
  return function;
}

PythonName parse_python_name(std::string_view name) {
  PythonName parsed;
  if (name.starts_with(kModule)) {
    parsed.kind = PythonName::Kind::Module;
    parsed.module = name.substr(kModule.size());
  } else if (const auto frame = parse_frame(name); frame && !name.starts_with("<built-in")) {
    parsed.kind = is_user_file(frame->file) ? PythonName::Kind::User : PythonName::Kind::Library;
    parsed.file = frame->file;
    parsed.line = frame->line;
    parsed.function = frame->function;
  }
  return parsed;
}

std::string PythonPlace::text() const {
  if (!known()) return {};
  return line > 0 ? fmt::format("{}:{} in {}", file, line, function)
                  : fmt::format("{}({}): {}", file, definition, function);
}

PythonPlaces::PythonPlaces(const Timeline& timeline) : timeline_(timeline) {
  any_ = std::any_of(timeline.host.begin(), timeline.host.end(), [](const HostEvent& e) {
    return e.kind == Kind::Python || (e.kind == Kind::Operator && contains(e.args, "\"Call stack\""));
  });
  if (!any_) return;
  python_.reserve(timeline.host.size());
  for (const HostEvent& e : timeline.host) {  // parents come first
    const auto own = static_cast<int>(python_.size());
    python_.push_back(e.kind == Kind::Python ? own : e.parent < 0 ? -1 : python_[static_cast<size_t>(e.parent)]);
  }
}

int PythonPlaces::parent_of(int python) const {
  const int parent = at(timeline_, python).parent;
  return parent < 0 ? -1 : python_[static_cast<size_t>(parent)];
}

const PythonPlace& PythonPlaces::of(int host) {
  static const PythonPlace none;
  if (!any_ || host < 0) return none;
  const PythonPlace& place = inside(python_[static_cast<size_t>(host)]).place;
  if (place.known()) return place;
  const auto known = of_operator_.find(host);
  if (known != of_operator_.end()) return known->second;
  auto written = written_on(host);
  return written ? (of_operator_[host] = std::move(*written)) : place;
}

const PythonPlaces::Inside& PythonPlaces::inside(int python) {
  static const Inside none;
  std::vector<int> inner;  // not known yet, innermost first
  auto found = of_python_.end();
  for (int i = python; i >= 0; i = parent_of(i)) {
    found = of_python_.find(i);
    if (found != of_python_.end()) break;
    inner.push_back(i);
  }
  const Inside* result = found == of_python_.end() ? &none : &found->second;
  for (auto i = inner.rbegin(); i != inner.rend(); ++i) {
    Inside next = inside(*i, *result);
    result = &(of_python_[*i] = std::move(next));
  }
  return *result;
}

PythonPlaces::Inside PythonPlaces::inside(int python, const Inside& outer) const {
  const HostEvent& event = at(timeline_, python);
  const PythonName name = parse_python_name(event.name);
  Inside result;
  result.place = outer.place;
  // Only what a function calls itself says where in it.
  if (outer.frame) result.place.line = calling_line(event, outer.place);
  // No program nests modules that deeply; a damaged profile must not fill the memory.
  if (name.kind == PythonName::Kind::Module && result.place.modules.size() + name.module.size() < kLongestModules)
    result.place.modules += (result.place.modules.empty() ? "" : ".") + name.module;
  if (name.kind != PythonName::Kind::User) return result;
  result.frame = true;
  result.place.file = name.file;
  result.place.function = name.function;
  result.place.definition = name.line;
  result.place.line = 0;
  return result;
}

/// Old profiles, and those of TorchScript, write the stack (innermost first, with running lines) on operators.
std::optional<PythonPlace> PythonPlaces::written_on(int host) const {
  for (int i = host; i >= 0; i = at(timeline_, i).parent) {
    const HostEvent& e = at(timeline_, i);
    if (e.kind != Kind::Operator) continue;
    PythonPlace place;
    place.modules = text_argument(e.args, "Module Hierarchy");
    const std::string stack = text_argument(e.args, "Call stack");
    for (size_t begin = 0; begin < stack.size() && !place.known();) {
      const size_t end = std::min(stack.find(';', begin), stack.size());
      const auto frame = parse_frame(std::string_view(stack).substr(begin, end - begin));
      if (frame && is_user_file(frame->file)) {
        place.file = frame->file;
        place.function = frame->function;
        place.line = frame->line;
      }
      begin = end + 1;
    }
    if (place.known() || !place.modules.empty()) return place;
  }
  return std::nullopt;
}

}  // namespace strata::profiler
