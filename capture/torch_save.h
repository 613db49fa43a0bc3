// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads what `torch.save` writes (a ZIP archive of a pickle and raw storages): tensors and plain containers. Executes
/// nothing; objects of unknown classes stay descriptions of themselves.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "capture/pickle.h"
#include "capture/zip.h"
#include "core/runtime/tensor.h"

namespace strata::capture {

/// Bytes in the other byte order, per component of `dtype` (a complex element has two); shares nothing with the input.
Bytes swap_bytes(std::span<const std::byte> data, DType dtype);

/// A tensor over `bytes` (element alignment is ensured by copying if need be) after checking that sizes, strides and
/// offset stay inside. `what` begins the message of the user Error.
Tensor make_view(std::shared_ptr<Storage> storage, DType dtype, std::vector<int64_t> shape,
                 std::vector<int64_t> strides, int64_t offset, const std::string& what);

/// Storage over bytes of a file, copied only when misaligned for 16-byte elements.
std::shared_ptr<Storage> make_storage(const Bytes& bytes);

class TorchSaveFile {
 public:
  /// Throws a user Error unless the bytes are such an archive.
  TorchSaveFile(Bytes bytes, std::string name);

  const PickleValue& root() const { return *tree_->root; }
  /// The tensor that a value stands for (also inside a Parameter); nothing if it is no strided tensor. Tensors that
  /// share a storage share it here too. Throws a user Error when the description does not fit its storage.
  std::optional<Tensor> tensor(const PickleValue& value);

 private:
  std::optional<Tensor> rebuild(const PickleValue& value, std::string_view function);
  std::shared_ptr<Storage> storage(const std::string& key, DType dtype, size_t& bytes);

  ZipArchive zip_;
  std::string top_;
  bool big_endian_ = false;
  std::unique_ptr<PickleTree> tree_;
  std::map<std::pair<std::string, size_t>, std::shared_ptr<Storage>> storages_;
};

}  // namespace strata::capture
