// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The events of one profile without their texts: who called whom on the host, and what launched what on devices. Made
/// for millions of events: about 70 bytes each.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/trace/reader.h"

namespace strata::profiler {

class EventTree {
 public:
  static constexpr std::uint32_t kNoEvent = UINT32_MAX;
  enum class Kind : std::uint8_t { Operator = 0, Annotation, Runtime };

  struct Host {
    trace::Id id = trace::kNone;
    std::int64_t start = 0, end = 0;
    std::int64_t correlation = 0, external = 0, sequence = -1;
    std::uint32_t track = 0;
    std::uint32_t name = 0;           ///< index into names()
    std::uint32_t parent = kNoEvent;  ///< the event around it on the same row
    std::uint32_t after = 0;          ///< index behind its last descendant
    Kind kind = Kind::Operator;
  };
  struct Device {
    trace::Id id = trace::kNone;
    std::int64_t start = 0, duration = 0;
    std::int64_t correlation = 0, external = 0;
    std::uint32_t name = 0;
    std::uint32_t launcher = kNoEvent;  ///< host event: the call, or the operator where no call was recorded
    bool copy = false;                  ///< a copy or a fill, no kernel
  };

  EventTree(trace::Reader& reader, trace::Id run);

  /// In preorder: by row, then start; an event stands before those inside it.
  const std::vector<Host>& host() const { return host_; }
  /// By launcher, then start.
  const std::vector<Device>& device() const { return device_; }
  /// What one host event itself launched.
  std::span<const Device> launched(std::uint32_t host) const;
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name(const Host& h) const { return names_[h.name]; }
  const std::string& name(const Device& d) const { return names_[d.name]; }

 private:
  std::uint32_t intern(trace::Reader& reader, trace::Id text);
  void read(trace::Reader& reader, trace::Id run);
  void nest();
  void find_launchers();

  std::vector<Host> host_;
  std::vector<Device> device_;
  std::vector<std::uint32_t> first_launched_;  ///< per host event and one behind: index into device_
  std::vector<std::string> names_;
  std::unordered_map<trace::Id, std::uint32_t> name_index_;
  std::vector<trace::Id> name_texts_;
};

}  // namespace strata::profiler
