// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Provenance and container structure as exported programs write them: strings inside of strings.

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ir/graph.h"
#include "core/ir/program.h"
#include "core/support/json.h"

namespace strata::capture {

/// `File "p.py", line 17, in forward` with the line's text below; outermost first. Lines of other forms are skipped.
std::vector<SourceLocation> parse_stack_trace(std::string_view text);

struct ModuleEntry {
  std::string path;  ///< `layer1.0`
  std::string type;  ///< `torch.nn.modules.conv.Conv2d`
};
/// Innermost entry of an `nn_module_stack` (`key,path,type;key,path,type`); empty if there is none.
ModuleEntry parse_module_stack(std::string_view text);

/// Sets what a node's metadata says; equal stack traces share one SourceStack.
class MetadataReader {
 public:
  void read(const Json& metadata, NodeMeta& meta);
  /// All lines seen so far, by file and line.
  std::map<std::string, std::map<int, std::string>> lines() const;

 private:
  std::unordered_map<std::string, SourceStack> stacks_;
};

/// `[1, {"type": ..., "context": ..., "children_spec": [...]}]`. `namedtuples` is `treespec_namedtuple_fields` or null.
/// Throws a user Error for malformed JSON, JsonTypeError (owned by no document) for other things.
TreeSpec parse_tree_spec(const std::string& text, const Json* namedtuples, const std::string& name);

/// Names of the leaves below `prefix`: `prefix.key.0`.
void append_leaf_names(const TreeSpec& spec, const std::string& prefix, std::vector<std::string>& names);
/// Names of the user inputs: positional ones by `arguments` (else `args.0`), keyword ones `kwargs.mask`.
std::vector<std::string> input_names(const TreeSpec& in_spec, const std::vector<std::string>& arguments);

}  // namespace strata::capture
