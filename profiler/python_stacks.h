// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where in a Python program the operators of a profile were called: functions and modules around them, for profiles
/// recorded with stacks.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/timeline.h"

namespace strata::profiler {

/// What the name of a Python event says.
struct PythonName {
  enum class Kind : int {
    User = 0,  ///< a function of the program or of a library that is not PyTorch
    Library,   ///< PyTorch, Triton, code that they made, the standard library
    BuiltIn,   ///< not written in Python
    Module     ///< a call of a `torch.nn.Module`
  };
  Kind kind = Kind::BuiltIn;
  std::string file;       ///< of functions, as the profile has it
  std::int64_t line = 0;  ///< where the function begins
  std::string function;
  std::string module;  ///< `Linear_0`: the class, and which of its instances
};
PythonName parse_python_name(std::string_view name);

/// Whether code in this file is a user's: not PyTorch's, Triton's, made by them, or of the standard library.
bool is_user_file(std::string_view file);
/// Whether two paths may be the same file: one ends with the other, in whole parts.
bool same_file(std::string_view a, std::string_view b);
/// `forward` for `torch_dynamo_resume_in_forward_at_70`; other names as they are.
std::string_view original_function(std::string_view function);

struct PythonPlace {
  std::string file, function;   ///< innermost of the user's functions; empty: none known
  std::int64_t definition = 0;  ///< line where it begins; 0 unknown
  std::int64_t line = 0;        ///< line of it that was running; 0 unknown
  std::string modules;          ///< `Net_0.Linear_1`: modules around, outermost first; empty: none

  bool known() const { return !file.empty(); }
  /// `model.py(12): forward`, or with the running line `model.py:15 in forward`; empty when not known.
  std::string text() const;
};

/// Finds the places of a timeline's events. Keeps a reference to it.
class PythonPlaces {
 public:
  explicit PythonPlaces(const Timeline& timeline);

  /// Whether the profile has stacks at all.
  bool any() const { return any_; }
  /// Of an event of the host; -1 has no place.
  const PythonPlace& of(int host);

 private:
  /// What an event right inside a Python event has around it.
  struct Inside {
    PythonPlace place;
    bool frame = false;  ///< the Python event itself is the place's function
  };
  int parent_of(int python) const;  ///< the Python event around a Python event; -1 none
  const Inside& inside(int python);
  Inside inside(int python, const Inside& outer) const;
  std::optional<PythonPlace> written_on(int host) const;

  const Timeline& timeline_;
  bool any_ = false;
  std::vector<int> python_;  ///< per event of the host: the nearest Python event at or around it; -1 none
  std::unordered_map<int, Inside> of_python_;
  std::unordered_map<int, PythonPlace> of_operator_;
};

}  // namespace strata::profiler
