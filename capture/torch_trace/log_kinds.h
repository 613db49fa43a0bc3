// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a record of a TORCH_TRACE log is.

#include <cstdint>
#include <string>
#include <string_view>

#include "capture/torch_trace/log_file.h"

namespace strata::capture {

enum class RecordKind : std::uint8_t {
  String,
  Start,
  Graph,
  OutputCode,
  GuardTree,
  GuardList,
  Metrics,
  Event,
  Break,
  Recompile,
  Error,
  Cache,
  Storage,
  Tensor,
  Source,
  Symbol,
  UnbackedSymbol,
  GuardAdded,
  Specialization,
  RealTensors,
  Expression,
  DataDependent,
  FakeKernel,
  Link,
  NodeMappings,  ///< provenance, with KernelStacks, PostNodes, PreNodes, TritonInfo
  KernelStacks,
  PostNodes,
  PreNodes,
  TritonInfo,
  Version,
  Runnable,
  Other,   ///< kept as an artifact
  Unknown  ///< a key that no version known to us writes
};

/// Where in the pipeline a graph stands.
enum class GraphPlace : std::uint8_t { None, Forward, Backward, Inference, PostBefore, PostAfter, Fixed };

struct RecordClass {
  RecordKind kind = RecordKind::Unknown;
  GraphPlace place = GraphPlace::None;
  std::string name;   ///< key, or name of the artifact
  std::string count;  ///< what it is counted as
  std::string stage;  ///< of a graph whose place is Fixed
};

RecordClass classify(const LogRecord& record);

/// Role in `# AOT ID: ['0_forward']`, the first line of output code: `forward`, `backward`, `inference` or empty.
std::string_view role_of_code(std::string_view code);

}  // namespace strata::capture
