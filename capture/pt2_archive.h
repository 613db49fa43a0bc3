// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The container level of `.pt2`: which layout it is, where things are in it, and the tensors of its weights.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/zip.h"
#include "core/runtime/tensor.h"
#include "core/support/json.h"

namespace strata::capture {

/// Throws a user Error that says what the bytes are and what to do, unless they look like a zip archive.
void require_zip(const Bytes& bytes, const std::string& name);

/// Tensors of an archive by qualified name, and what there is beside them.
struct Pt2State {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> others;  ///< name -> why it is no tensor here
};

/// An archive with `models/` and raw weights (PyTorch 2.9 and later).
class Pt2Archive {
 public:
  /// Throws a user Error for archives of any other kind, naming it.
  Pt2Archive(Bytes bytes, const std::string& name, std::string_view model);

  const std::string& name() const { return zip_.name(); }
  const std::string& model() const { return model_; }
  /// `models/<model>.json`.
  Bytes program() const { return zip_.read(top_ + "models/" + model_ + ".json"); }
  /// Weights and constants. Tensors that share a file in the archive share a storage.
  Pt2State state() const;
  /// `data/sample_inputs/<model>.pt`; empty if there is none.
  Bytes sample_inputs() const;

 private:
  void read_config(const std::string& folder, const std::string& config, Pt2State& state,
                   std::map<std::pair<std::string, size_t>, std::shared_ptr<Storage>>& storages) const;

  ZipArchive zip_;
  std::string top_, model_;
  bool big_endian_ = false;
};

/// PyTorch's serialised ScalarType (`7`) as dtype; nothing for unknown ones.
std::optional<DType> pt2_dtype(int64_t scalar_type);
/// A union as the exporter writes it: the only key whose value is not null. Throws JsonTypeError when that is not one.
struct JsonUnion {
  std::string_view key;
  const Json& value;
};
JsonUnion json_union(const Json& json);

/// The user Error of a wrong value: file, path inside it, message.
[[noreturn]] void throw_json_error(const Json& document, const std::string& name, const JsonTypeError& error);
/// Runs `read(document)` and turns JsonTypeError into a user Error.
template <class F>
auto with_json(const Json& document, const std::string& name, F&& read) {
  try {
    return read(document);
  } catch (const JsonTypeError& error) {
    throw_json_error(document, name, error);
  }
}

}  // namespace strata::capture
