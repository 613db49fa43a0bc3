// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/support/error.h"
#include "core/support/file.h"

namespace strata {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct NpyName {
  DType dtype;
  std::string_view code;  ///< without byte order
};
constexpr NpyName kNames[] = {{DType::Bool, "b1"}, {DType::U8, "u1"},   {DType::I8, "i1"},  {DType::I16, "i2"},
                              {DType::I32, "i4"},  {DType::I64, "i8"},  {DType::U16, "u2"}, {DType::U32, "u4"},
                              {DType::U64, "u8"},  {DType::F16, "f2"},  {DType::F32, "f4"}, {DType::F64, "f8"},
                              {DType::C64, "c8"},  {DType::C128, "c16"}};
// Written as bits of another type, since NumPy has no name for them.
constexpr NpyName kBits[] = {{DType::BF16, "u2"},       {DType::F8E4M3FN, "u1"},   {DType::F8E5M2, "u1"},
                             {DType::F8E4M3FNUZ, "u1"}, {DType::F8E5M2FNUZ, "u1"}, {DType::F8E8M0FNU, "u1"}};

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
};

/// Parser of the one Python dictionary that a header is.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Header run() {
    Header header;
    bool descr = false, fortran = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        descr = true;
        skip();
        if (at_ < text_.size() && text_[at_] == '[')
          throw_user(fmt::format("'{}' holds records, expected plain numbers", name_));
        header.descr = string();
      } else if (key == "fortran_order") {
        fortran = true;
        header.fortran = boolean();
      } else if (key == "shape") {
        shape = true;
        header.shape = tuple();
      } else {
        fail();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !fortran || !shape) fail();
    return header;
  }

 private:
  [[noreturn]] void fail() const {
    throw_user(fmt::format("'{}': the header is damaged at byte {} of its text", name_, at_), "expected a .npy file");
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail();
  }
  std::string string() {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail();
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail();
    const std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    skip();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail();
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      skip();
      int64_t value = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc() || value < 0) fail();
      at_ = static_cast<size_t>(end - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // written by Python 2
      values.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
};

[[noreturn]] void refuse_as(const std::string& name, const std::string& descr, DType as) {
  throw_user(fmt::format("'{}' holds '{}', which cannot be taken as {}", name, descr, dtype_name(as)),
             "store it as this type, or as unsigned integers of its size for types that NumPy does not have");
}

/// Type of the elements; checks `as` against what is stored.
DType element_type(const Header& header, const std::string& name, std::optional<DType> as) {
  if (header.descr.size() < 2) throw_user(fmt::format("'{}': element type '{}' is unknown", name, header.descr));
  const std::string_view code = std::string_view(header.descr).substr(1);
  const bool raw = code == "V1" || code == "V2";
  for (const NpyName& known : kNames) {
    if (known.code != code) continue;
    if (!as || *as == known.dtype) return known.dtype;
    const bool bits = is_integral(known.dtype) && dtype_size(*as) == dtype_size(known.dtype) && is_floating(*as);
    if (!bits) refuse_as(name, header.descr, *as);
    return *as;
  }
  if (raw && as && dtype_size(*as) == static_cast<size_t>(code[1] - '0')) return *as;
  if (raw && as) refuse_as(name, header.descr, *as);
  if (raw)
    throw_user(fmt::format("'{}' holds elements of {} raw bytes", name, code[1]), "say their type, such as bfloat16");
  throw_user(fmt::format("'{}': elements of type '{}' cannot be read", name, header.descr),
             "expected numbers: convert with array.astype('float32')");
}

bool is_big_endian(const std::string& descr) { return descr[0] == '>'; }

size_t component_size(DType dtype) { return is_complex(dtype) ? dtype_size(dtype) / 2 : dtype_size(dtype); }

/// Splits a file into header text and data.
std::string_view header_text(std::string_view text, const std::string& name, size_t& data) {
  if (!text.starts_with(kMagic) || text.size() < 10)
    throw_user(fmt::format("'{}' is not a .npy file", name), "save it with numpy.save");
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(text[i])); };
  const size_t major = byte(6);
  if (major < 1 || major > 3) throw_user(fmt::format("'{}': version {} of .npy is not known", name, major));
  const size_t begin = major == 1 ? 10 : 12;
  if (text.size() < begin) throw_user(fmt::format("'{}' is cut off in its header", name));
  const size_t size = byte(8) | byte(9) << 8 | (major == 1 ? 0 : byte(10) << 16 | byte(11) << 24);
  if (size > text.size() - begin) throw_user(fmt::format("'{}' is cut off in its header", name));
  data = begin + size;
  return text.substr(begin, size);
}

std::vector<int64_t> fortran_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    strides[d] = step;
    step *= std::max<int64_t>(shape[d], 1);
  }
  return strides;
}

uint64_t byte_count(const std::vector<int64_t>& shape, DType dtype, const std::string& name) {
  int64_t count = static_cast<int64_t>(dtype_size(dtype)), product = 1;
  for (const int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count) ||
        __builtin_mul_overflow(product, std::max<int64_t>(size, 1), &product))
      throw_user(fmt::format("'{}': the shape [{}] is too large", name, fmt::join(shape, ", ")));
  return static_cast<uint64_t>(count);
}

std::string_view code_of(DType dtype) {
  for (const NpyName& known : kNames)
    if (known.dtype == dtype) return known.code;
  for (const NpyName& known : kBits)
    if (known.dtype == dtype) return known.code;
  throw_user(fmt::format("{} has no form in .npy files", dtype_name(dtype)), "write it as .safetensors or convert it");
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> bytes, const std::string& name, std::optional<DType> as) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  size_t data = 0;
  const Header header = HeaderParser(header_text(text, name, data), name).run();
  if (header.shape.size() > 64)
    throw_user(fmt::format("'{}' has {} dimensions, at most 64 are read", name, header.shape.size()));
  const DType dtype = element_type(header, name, as);
  const uint64_t size = byte_count(header.shape, dtype, name);
  if (size > bytes.size() - data)
    throw_user(fmt::format("'{}' is cut off: {}[{}] needs {} bytes, {} are there", name, dtype_name(dtype),
                           fmt::join(header.shape, ", "), size, bytes.size() - data));
  Tensor tensor = Tensor::empty(dtype, header.shape);
  if (size) std::memcpy(tensor.storage->data, bytes.data() + data, size);
  if (is_big_endian(header.descr)) swap_bytes({tensor.storage->data, size}, component_size(dtype));
  if (header.fortran) tensor.strides = fortran_strides(header.shape);
  return tensor;
}

Tensor read_npy(const std::filesystem::path& path, std::optional<DType> as) {
  return parse_npy(map_file(path).data, path.string(), as);
}

std::string format_npy(const Tensor& tensor) {
  const std::string_view code = code_of(tensor.dtype);
  std::string shape;
  for (const int64_t size : tensor.shape) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", size);
  if (tensor.rank() == 1) shape += ",";
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   dtype_size(tensor.dtype) == 1 ? '|' : '<', code, shape);
  // NumPy pads so that the data begins at a multiple of 64.
  const size_t total = (10 + header.size() + 1 + 63) / 64 * 64;
  header.append(total - 10 - header.size() - 1, ' ');
  header += '\n';
  std::string out(kMagic);
  out += '\1';
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  const Tensor plain = tensor.contiguous();
  const auto size = static_cast<size_t>(plain.numel()) * dtype_size(plain.dtype);
  if (size) out.append(reinterpret_cast<const char*>(plain.data()), size);
  return out;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  const std::string text = format_npy(tensor);
  const auto bytes = std::as_bytes(std::span(text));
  write_file(path, {&bytes, 1});
}

}  // namespace strata
