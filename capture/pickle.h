// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads Python pickles into a tree of plain data. Nothing is imported, looked up or called: a `GLOBAL` is its two
/// names, a `REDUCE` is an object that remembers what would have been called with what.
///
/// Limits: 10^6 memo entries, 10^5 stack entries. The tree may share nodes and hold cycles (a list in itself); whoever
/// walks it must bound depth and count.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::capture {

struct PickleValue {
  enum class Kind : uint8_t {
    None,
    Bool,
    Int,
    BigInt,  ///< outside int64: `text` is its little-endian two's complement, or its digits
    Float,
    String,
    Bytes,
    List,
    Tuple,
    Set,
    Dict,
    Global,  ///< `text` is `module.name`
    Object,  ///< REDUCE, NEWOBJ: items[0] callable, items[1] argument tuple, items[2] keyword dict if given; `state`
             ///< from BUILD
    Persistent,  ///< items[0] is the persistent id
  };
  Kind kind = Kind::None;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<PickleValue*> items;  ///< of a container; of an object that is a list (APPENDS): `extra`
  std::vector<std::pair<PickleValue*, PickleValue*>> members;  ///< of a dict, or set on an object by SETITEMS
  std::vector<PickleValue*> extra;                             ///< appended to an object by APPENDS
  PickleValue* state = nullptr;                                ///< given to an object by BUILD

  bool is(Kind k) const { return kind == k; }
  /// The global's name if this is a call of one, else empty: `torch._utils._rebuild_tensor_v2`.
  std::string_view called() const;
};

/// Owns its values.
struct PickleTree {
  std::deque<PickleValue> values;
  PickleValue* root = nullptr;
};

/// Throws a user Error `'NAME': byte N of the pickle: ...` for anything malformed or outside the limits.
std::unique_ptr<PickleTree> parse_pickle(std::string_view data, std::string_view name);

}  // namespace strata::capture
