// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_save.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/support/error.h"

namespace strata::capture {
namespace {

using Kind = PickleValue::Kind;

constexpr uint64_t kMaxExpanded = uint64_t{1} << 28;  // elements

size_t component_size(DType dtype) { return is_complex(dtype) ? dtype_size(dtype) / 2 : dtype_size(dtype); }

std::optional<DType> storage_dtype(std::string_view global) {
  static const std::map<std::string_view, DType> kNames = {
      {"torch.FloatStorage", DType::F32},        {"torch.DoubleStorage", DType::F64},
      {"torch.HalfStorage", DType::F16},         {"torch.BFloat16Storage", DType::BF16},
      {"torch.LongStorage", DType::I64},         {"torch.IntStorage", DType::I32},
      {"torch.ShortStorage", DType::I16},        {"torch.CharStorage", DType::I8},
      {"torch.ByteStorage", DType::U8},          {"torch.BoolStorage", DType::Bool},
      {"torch.ComplexFloatStorage", DType::C64}, {"torch.ComplexDoubleStorage", DType::C128}};
  const auto it = kNames.find(global);
  return it == kNames.end() ? std::nullopt : std::optional(it->second);
}

std::optional<std::vector<int64_t>> int_tuple(const PickleValue& value) {
  const PickleValue* v = &value;
  if (v->called() == "torch.Size" && v->items[1]->items.size() == 1) v = v->items[1]->items[0];
  if (!v->is(Kind::Tuple) && !v->is(Kind::List)) return std::nullopt;
  std::vector<int64_t> result;
  for (const PickleValue* item : v->items) {
    if (!item->is(Kind::Int)) return std::nullopt;
    result.push_back(item->integer);
  }
  return result;
}

/// Bytes from the storage's start to the view's end; nothing on overflow or negative parts.
std::optional<uint64_t> extent_of(DType dtype, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
                                  int64_t offset) {
  int64_t last = offset;
  int64_t count = 1;
  if (offset < 0 || shape.size() != strides.size()) return std::nullopt;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t step = 0;
    if (shape[d] < 0 || strides[d] < 0 || __builtin_mul_overflow(count, std::max<int64_t>(shape[d], 1), &count) ||
        __builtin_mul_overflow(std::max<int64_t>(shape[d], 1) - 1, strides[d], &step) ||
        __builtin_add_overflow(last, step, &last))
      return std::nullopt;
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t bytes = 0;
  if (__builtin_add_overflow(last, 1, &last) ||
      __builtin_mul_overflow(last, static_cast<int64_t>(dtype_size(dtype)), &bytes))
    return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

}  // namespace

Bytes swap_bytes(std::span<const std::byte> data, DType dtype) {
  Bytes copy = copy_bytes(data);
  strata::swap_bytes({const_cast<std::byte*>(copy.data.data()), copy.size()}, component_size(dtype));
  return copy;
}

std::shared_ptr<Storage> make_storage(const Bytes& bytes) {
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data.data()) % 16 == 0 && bytes.owner;
  const Bytes use = aligned ? bytes : copy_bytes(bytes.data);
  return std::make_shared<Storage>(Storage{const_cast<std::byte*>(use.data.data()), use.data.size(), use.owner});
}

Tensor make_view(std::shared_ptr<Storage> storage, DType dtype, std::vector<int64_t> shape,
                 std::vector<int64_t> strides, int64_t offset, const std::string& what) {
  const auto extent = extent_of(dtype, shape, strides, offset);
  if (!extent)
    throw_user(fmt::format("{}: sizes [{}], strides [{}] and offset {} are no valid tensor", what,
                           fmt::join(shape, ", "), fmt::join(strides, ", "), offset));
  if (*extent > storage->size)
    throw_user(fmt::format("{}: {} of sizes [{}] needs {} bytes, its data has {}", what, dtype_name(dtype),
                           fmt::join(shape, ", "), *extent, storage->size),
               "the file is damaged or incomplete");
  // Strides of 0 let little data stand for much: far beyond what programs do with that, it is an attack on memory.
  const Tensor view{dtype, shape, strides, 0, nullptr};
  if (*extent != 0 && static_cast<uint64_t>(view.numel()) > std::max<uint64_t>(kMaxExpanded, 1024 * storage->size))
    throw_user(
        fmt::format("{}: sizes [{}] repeat {} bytes of data too often", what, fmt::join(shape, ", "), storage->size));
  if (*extent == 0) offset = 0;  // no element: any offset would do, but it must not point outside
  return Tensor{dtype, std::move(shape), std::move(strides), offset, std::move(storage)};
}

TorchSaveFile::TorchSaveFile(Bytes bytes, std::string name) : zip_(std::move(bytes), name) {
  constexpr std::string_view kPickle = "data.pkl";
  for (const std::string& member : zip_.names()) {
    const bool top_level =
        member == kPickle || (member.ends_with("/data.pkl") && member.find('/') + 9 == member.size());
    if (top_level) top_ = member.substr(0, member.size() - kPickle.size());
  }
  if (!zip_.contains(top_ + "data.pkl")) throw_user(fmt::format("'{}' holds no data.pkl", name));
  if (const auto order = zip_.find(top_ + "byteorder")) big_endian_ = order->text().starts_with("big");
  tree_ = parse_pickle(zip_.read(top_ + "data.pkl").text(), name);
}

std::shared_ptr<Storage> TorchSaveFile::storage(const std::string& key, DType dtype, size_t& bytes) {
  const size_t swap = big_endian_ ? component_size(dtype) : 1;
  auto& slot = storages_[{key, swap}];
  if (!slot) {
    const Bytes raw = zip_.read(top_ + "data/" + key);
    slot = make_storage(swap > 1 ? swap_bytes(raw.data, dtype) : raw);
  }
  bytes = slot->size;
  return slot;
}

std::optional<Tensor> TorchSaveFile::tensor(const PickleValue& value) {
  const PickleValue* v = &value;
  // Parameter(tensor, requires_grad, hooks); nested at most a few times in a well-formed file.
  for (int depth = 0; depth < 8; ++depth) {
    const auto function = v->called();
    const auto is_parameter =
        function == "torch._utils._rebuild_parameter" || function == "torch._utils._rebuild_parameter_with_state";
    if (!is_parameter) return rebuild(*v, function);
    if (v->items[1]->items.empty()) return std::nullopt;
    v = v->items[1]->items[0];
  }
  return std::nullopt;
}

std::optional<Tensor> TorchSaveFile::rebuild(const PickleValue& value, std::string_view function) {
  const bool v2 = function == "torch._utils._rebuild_tensor_v2", v3 = function == "torch._utils._rebuild_tensor_v3";
  if (!v2 && !v3) return std::nullopt;
  const auto& args = value.items[1]->items;
  const std::string what = fmt::format("'{}'", zip_.name());
  if (args.size() < (v3 ? 7u : 4u) || !args[0]->is(Kind::Persistent) || !args[1]->is(Kind::Int))
    throw_user(what + ": a tensor is described in an unknown way");
  const PickleValue& id = *args[0]->items[0];
  const auto shape = int_tuple(*args[2]), strides = int_tuple(*args[3]);
  if (!shape || !strides || !id.is(Kind::Tuple) || id.items.size() < 5 || !id.items[1]->is(Kind::Global) ||
      !id.items[2]->is(Kind::String))
    throw_user(what + ": a tensor is described in an unknown way");
  auto dtype = storage_dtype(id.items[1]->text);
  if (v3 && args[6]->is(Kind::Global)) dtype = parse_dtype_name(args[6]->text);
  if (!dtype) throw_user(fmt::format("{}: storage type '{}' is not supported", what, id.items[1]->text));
  size_t size = 0;
  auto bytes = storage(id.items[2]->text, *dtype, size);
  return make_view(std::move(bytes), *dtype, *shape, *strides, args[1]->integer, what);
}

}  // namespace strata::capture
