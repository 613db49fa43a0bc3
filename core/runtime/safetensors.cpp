// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/support/error.h"
#include "core/support/json.h"

namespace strata {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own limit

constexpr std::pair<DType, std::string_view> kTypes[] = {{DType::Bool, "BOOL"},
                                                         {DType::U8, "U8"},
                                                         {DType::I8, "I8"},
                                                         {DType::I16, "I16"},
                                                         {DType::U16, "U16"},
                                                         {DType::F16, "F16"},
                                                         {DType::BF16, "BF16"},
                                                         {DType::I32, "I32"},
                                                         {DType::U32, "U32"},
                                                         {DType::F32, "F32"},
                                                         {DType::F64, "F64"},
                                                         {DType::I64, "I64"},
                                                         {DType::U64, "U64"},
                                                         {DType::C64, "C64"},
                                                         {DType::F8E4M3FN, "F8_E4M3"},
                                                         {DType::F8E5M2, "F8_E5M2"},
                                                         {DType::F8E8M0FNU, "F8_E8M0"}};

DType type_of(const Json& json) {
  for (const auto& [dtype, code] : kTypes)
    if (json.string() == code) return dtype;
  throw JsonTypeError(&json, fmt::format("element type '{}' is not supported", json.string()));
}

std::string_view code_of(DType dtype, const std::string& name) {
  for (const auto& [known, code] : kTypes)
    if (known == dtype) return code;
  throw_user(fmt::format("tensor '{}': {} has no form in safetensors files", name, dtype_name(dtype)));
}

Tensor read_tensor(const Json& entry, const Bytes& data) {
  const DType dtype = type_of(entry.at("dtype"));
  std::vector<int64_t> shape;
  int64_t size = static_cast<int64_t>(dtype_size(dtype)), product = 1;
  for (const Json& item : entry.at("shape").array()) {
    shape.push_back(item.integer());
    if (shape.back() < 0 || __builtin_mul_overflow(size, shape.back(), &size) ||
        __builtin_mul_overflow(product, std::max<int64_t>(shape.back(), 1), &product))
      throw JsonTypeError(&item, "the shape is not valid");
  }
  const JsonArray& offsets = entry.at("data_offsets").array();
  if (offsets.size() != 2) throw JsonTypeError(&entry, "expected two data_offsets");
  const int64_t begin = offsets[0].integer(), end = offsets[1].integer();
  if (begin < 0 || end < begin || static_cast<uint64_t>(end) > data.size())
    throw JsonTypeError(&entry,
                        fmt::format("bytes {} to {} lie outside the data of {} bytes", begin, end, data.size()));
  if (end - begin != size)
    throw JsonTypeError(&entry, fmt::format("{}[{}] needs {} bytes, {} are given", dtype_name(dtype),
                                            fmt::join(shape, ", "), size, end - begin));
  auto bytes = data.data.subspan(static_cast<size_t>(begin), static_cast<size_t>(size));
  Bytes use{bytes, data.owner};
  // Kernels read whole elements: data that the writer did not align is copied.
  if (!data.owner || reinterpret_cast<uintptr_t>(bytes.data()) % 16 != 0) use = copy_bytes(bytes);
  auto storage = std::make_shared<Storage>(Storage{const_cast<std::byte*>(use.data.data()), use.size(), use.owner});
  auto strides = contiguous_strides(std::span<const int64_t>(shape));
  return Tensor{dtype, std::move(shape), std::move(strides), 0, std::move(storage)};
}

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Safetensors parse_safetensors(const Bytes& bytes, const std::string& name) {
  if (bytes.size() < 8) throw_user(fmt::format("'{}' is not a safetensors file: {} bytes", name, bytes.size()));
  uint64_t header = 0;
  std::memcpy(&header, bytes.data.data(), 8);
  if (header > bytes.size() - 8 || header > kMaxHeader)
    throw_user(fmt::format("'{}' is not a safetensors file, or cut off: its header declares {} bytes", name, header));
  const Json json = parse_json(bytes.text().substr(8, header), name);
  const Bytes data{bytes.data.subspan(8 + header), bytes.owner};
  Safetensors result;
  try {
    for (const auto& [key, entry] : json.object()) {
      if (key != "__metadata__") {
        result.tensors[key] = read_tensor(entry, data);
        continue;
      }
      for (const auto& [k, v] : entry.object()) result.metadata[k] = v.string();
    }
  } catch (const JsonTypeError& error) {
    throw_user(fmt::format("'{}': {}: {}", name, json_path(json, error.where), error.message));
  }
  return result;
}

Safetensors read_safetensors(const std::filesystem::path& path) {
  return parse_safetensors(map_file(path), path.string());
}

void write_safetensors(const std::filesystem::path& path, const Safetensors& contents) {
  std::string header = "{";
  std::vector<Tensor> plain;
  std::vector<std::span<const std::byte>> parts(2);
  if (!contents.metadata.empty()) {
    std::string pairs;
    for (const auto& [key, value] : contents.metadata)
      pairs += fmt::format("{}\"{}\":\"{}\"", pairs.empty() ? "" : ",", escape(key), escape(value));
    header += fmt::format("\"__metadata__\":{{{}}}", pairs);
  }
  uint64_t offset = 0;
  for (const auto& [name, tensor] : contents.tensors) {
    plain.push_back(tensor.contiguous());
    const uint64_t size = static_cast<uint64_t>(tensor.numel()) * dtype_size(tensor.dtype);
    header += fmt::format("{}\"{}\":{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                          header.size() > 1 ? "," : "", escape(name), code_of(tensor.dtype, name),
                          fmt::join(tensor.shape, ","), offset, offset + size);
    offset += size;
    if (size) parts.emplace_back(plain.back().data(), size);
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  const uint64_t header_size = header.size();
  parts[0] = std::as_bytes(std::span(&header_size, 1));
  parts[1] = std::as_bytes(std::span(header));
  write_file(path, parts);
}

}  // namespace strata
