// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/op_names.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "core/support/error.h"
#include "core/support/json.h"

namespace strata::profiler {
namespace {

/// A product of sizes, as far as it makes sense in bytes.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) return std::numeric_limits<std::int64_t>::max() / 1024;
  return std::min(product, std::numeric_limits<std::int64_t>::max() / 1024);
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (size_t from = 0;;) {
    const size_t to = text.find(by, from);
    parts.push_back(text.substr(from, to == std::string_view::npos ? to : to - from));
    if (to == std::string_view::npos) return parts;
    from = to + 1;
  }
}

/// The operator's own word in a dotted or coloned name.
std::string_view word_of(std::string_view name) {
  if (const size_t colons = name.rfind("::"); colons != std::string_view::npos) {
    name.remove_prefix(colons + 2);
    return name.substr(0, name.find('.'));
  }
  if (name.substr(0, 10) == "torch.ops.") name.remove_prefix(10);
  const auto parts = split(name, '.');
  const bool callee = parts.front() == "torch" || parts.front() == "_operator" || parts.size() < 3;
  return callee ? parts.back() : parts[parts.size() - 2];
}

const std::unordered_map<std::string_view, std::string_view>& synonyms() {
  static const std::unordered_map<std::string_view, std::string_view> table{
      {"truediv", "div"},
      {"true_divide", "div"},
      {"divide", "div"},
      {"floordiv", "floor_divide"},
      {"mod", "remainder"},
      {"subtract", "sub"},
      {"multiply", "mul"},
      {"negative", "neg"},
      {"absolute", "abs"},
      {"and", "bitwise_and"},
      {"or", "bitwise_or"},
      {"xor", "bitwise_xor"},
      {"invert", "bitwise_not"},
      {"greater", "gt"},
      {"greater_equal", "ge"},
      {"less", "lt"},
      {"less_equal", "le"},
      {"not_equal", "ne"},
      {"float", "to"},
      {"half", "to"},
      {"double", "to"},
      {"int", "to"},
      {"long", "to"},
      {"bool", "to"},
      {"bfloat16", "to"},
      {"cuda", "to"},
      {"cpu", "to"},
      {"type", "to"},
      {"type_as", "to"},
      {"_to_copy", "to"},
      {"concat", "cat"},
      {"concatenate", "cat"},
      {"cross_entropy", "cross_entropy_loss"},
      {"power", "pow"},
      {"T", "t"},
      {"numpy_T", "t"},
      {"swapaxes", "transpose"},
      {"iadd", "add"},
      {"isub", "sub"},
      {"imul", "mul"},
      {"itruediv", "div"},
      {"ifloordiv", "floor_divide"},
      {"imod", "remainder"},
      {"ipow", "pow"},
      {"iand", "bitwise_and"},
      {"ior", "bitwise_or"},
      {"ixor", "bitwise_xor"},
      {"imatmul", "matmul"},
      {"_softmax", "softmax"},
      {"_log_softmax", "log_softmax"},
      {"_unsafe_view", "view"},
  };
  return table;
}

const std::unordered_map<std::string_view, std::string_view>& families() {
  static const std::unordered_map<std::string_view, std::string_view> table{
      {"linear", "matmul"},
      {"addmm", "matmul"},
      {"mm", "matmul"},
      {"bmm", "matmul"},
      {"baddbmm", "matmul"},
      {"addbmm", "matmul"},
      {"addmv", "matmul"},
      {"mv", "matmul"},
      {"dot", "matmul"},
      {"einsum", "matmul"},
      {"_addmm_activation", "matmul"},
      {"_linear_pointwise", "matmul"},
      {"_mkl_linear", "matmul"},
      {"mkldnn_linear", "matmul"},
      {"_scaled_mm", "matmul"},
      {"_int_mm", "matmul"},
      {"view", "reshape"},
      {"flatten", "reshape"},
      {"unflatten", "reshape"},
      {"ravel", "reshape"},
      {"permute", "transpose"},
      {"t", "transpose"},
      {"native_layer_norm", "layer_norm"},
      {"native_group_norm", "group_norm"},
      {"native_dropout", "dropout"},
      {"feature_dropout", "dropout"},
      {"alpha_dropout", "dropout"},
      {"max_pool2d_with_indices", "max_pool2d"},
      {"_low_memory_max_pool_with_offsets", "max_pool2d"},
      {"max_pool3d_with_indices", "max_pool3d"},
      {"max_pool1d_with_indices", "max_pool1d"},
      {"_adaptive_avg_pool2d", "adaptive_avg_pool2d"},
      {"native_batch_norm", "batch_norm"},
      {"_native_batch_norm_legit", "batch_norm"},
      {"_batch_norm_impl_index", "batch_norm"},
      {"cudnn_batch_norm", "batch_norm"},
      {"miopen_batch_norm", "batch_norm"},
      {"native_layer_norm_backward", "layer_norm_backward"},
      {"clamp_min", "relu"},
      {"nll_loss", "cross_entropy_loss"},
      {"nll_loss_nd", "cross_entropy_loss"},
      {"convolution_overrideable", "convolution"},
      {"_embedding_bag", "embedding_bag"},
      {"_thnn_fused_lstm_cell", "lstm"},
      {"_cudnn_rnn", "lstm"},
  };
  return table;
}

/// Operators that an indexing expression shows as.
bool is_index_operator(std::string_view op) {
  static const std::unordered_set<std::string_view> table{"slice", "select", "index",  "unsqueeze",
                                                          "alias", "expand", "narrow", "squeeze"};
  return table.contains(op);
}

bool is_store_operator(std::string_view op) {
  return op == "copy" || op == "index_put" || op == "_index_put_impl" || op == "fill" || is_index_operator(op);
}

int element_bytes(std::string_view type) {
  static const std::unordered_map<std::string_view, int> table{{"float", 4},
                                                               {"double", 8},
                                                               {"int", 4},
                                                               {"long", 8},
                                                               {"long int", 8},
                                                               {"bool", 1},
                                                               {"unsigned char", 1},
                                                               {"signed char", 1},
                                                               {"short", 2},
                                                               {"short int", 2},
                                                               {"c10::Half", 2},
                                                               {"c10::BFloat16", 2},
                                                               {"c10::complex<float>", 8},
                                                               {"c10::complex<double>", 16},
                                                               {"c10::Float8_e4m3fn", 1},
                                                               {"c10::Float8_e5m2", 1}};
  const auto found = table.find(type);
  return found == table.end() ? 0 : found->second;
}

struct Dims {
  std::string text;
  std::int64_t elements = 1;
};

/// A list of sizes; false for a list of lists (several tensors) and for anything else.
bool read_dims(const JsonArray& list, Dims& dims) {
  dims.text = "[";
  for (const Json& size : list) {
    const auto* n = size.as<int64_t>();
    if (n == nullptr) return false;
    dims.text += (dims.text.size() > 1 ? ", " : "") + std::to_string(*n);
    dims.elements = times(dims.elements, *n);
  }
  dims.text += "]";
  return true;
}

void add_tensor(OperatorInputs& in, const Dims& dims, std::string_view type) {
  const std::int64_t bytes = times(dims.elements, element_bytes(type));
  if (dims.text != "[]") in.shapes.push_back(dims.text);
  if (in.bytes == 0) in.first = bytes, in.element = element_bytes(type);
  in.bytes += std::min(bytes, std::numeric_limits<std::int64_t>::max() / 1024 - in.bytes);
  in.largest = std::max(in.largest, bytes);
}

void read_inputs(const JsonArray& dims, const JsonArray* types, OperatorInputs& in) {
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto* list = dims[i].as<JsonArray>();
    const auto* type = types != nullptr && i < types->size() ? (*types)[i].as<std::string>() : nullptr;
    if (list == nullptr) continue;
    Dims one;
    if (read_dims(*list, one)) {
      if (!list->empty() || (type != nullptr && element_bytes(*type) > 0))
        add_tensor(in, one, type == nullptr ? std::string_view() : *type);
      continue;
    }
    for (const Json& part : *list) {  // a list of tensors; its type is not told
      Dims tensor;
      if (part.as<JsonArray>() != nullptr && read_dims(*part.as<JsonArray>(), tensor)) add_tensor(in, tensor, "float");
    }
  }
}

/// `[8, 64]` as numbers; what is none is 0.
std::vector<std::int64_t> sizes_of(std::string_view shape) {
  std::vector<std::int64_t> sizes;
  if (shape.size() <= 2) return sizes;
  for (const std::string_view part : split(shape.substr(1, shape.size() - 2), ',')) {
    std::int64_t size = 0;
    for (const char c : part)
      if (c >= '0' && c <= '9') size = std::min(size * 10 + (c - '0'), std::int64_t{1} << 40);
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

std::string operator_base(std::string_view name) {
  std::string_view word = word_of(name);
  if (word.size() > 4 && word.substr(0, 2) == "__" && word.substr(word.size() - 2) == "__")
    word = word.substr(2, word.size() - 4);
  if (word.size() > 1 && word.back() == '_' && word.front() != '_') word.remove_suffix(1);
  const auto found = synonyms().find(word);
  return std::string(found == synonyms().end() ? word : found->second);
}

std::string_view operator_family(std::string_view base) {
  const auto found = families().find(base);
  if (found != families().end()) return found->second;
  const bool backward = base.find("backward") != std::string_view::npos;
  if (base.find("attention") != std::string_view::npos) return backward ? "attention_backward" : "attention";
  if (base.find("conv") == 0 || base.find("_conv") != std::string_view::npos)
    return backward ? "convolution_backward" : "convolution";
  return base;
}

int name_match(std::string_view node, std::string_view op) {
  if (node == op) return 4;
  if (node == "getitem" && is_index_operator(op)) return 2;
  if (node == "setitem" && is_store_operator(op)) return 2;
  if (node == "interpolate" && op.substr(0, 8) == "upsample") return 4;
  if (operator_family(node) == operator_family(op)) return 3;
  if ((node == "contiguous" && op == "clone") || (node == "clone" && op == "contiguous")) return 2;
  return 0;
}

OperatorInputs operator_inputs(std::string_view args) {
  OperatorInputs in;
  if (args.find("Input Dims") == std::string_view::npos) return in;
  try {
    const Json json = parse_json(args, "args");
    const Json* dims = json.find("Input Dims");
    const Json* types = json.find("Input type");
    if (dims == nullptr || dims->as<JsonArray>() == nullptr) return in;
    in.known = true;
    read_inputs(dims->array(), types == nullptr ? nullptr : types->as<JsonArray>(), in);
  } catch (const Error&) {
    return {};  // an importer keeps args as they were, whatever they were
  }
  return in;
}

std::int64_t written_bytes(std::string_view base, const OperatorInputs& in) {
  const bool plain = base == "mm" || base == "bmm" || base == "mv", biased = base == "addmm" || base == "baddbmm";
  if (!plain && !biased) return in.largest;
  const size_t a = biased ? 1 : 0;
  if (in.shapes.size() > a + 2) return 0;  // the form with `out=`
  // A bias may be a scalar or left out, the factors may not.
  if (in.shapes.size() < a + 2) return in.largest;
  const auto left = sizes_of(in.shapes[a]), right = sizes_of(in.shapes[a + 1]);
  if (left.size() < 2 || right.empty()) return in.largest;
  std::int64_t bytes = in.element;
  for (size_t i = 0; i + 1 < left.size(); ++i) bytes = times(bytes, left[i]);
  return right.size() < 2 ? bytes : times(bytes, right.back());
}

std::int64_t tensor_bytes(std::string_view type) {
  const size_t open = type.find('['), close = type.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return -1;
  std::int64_t bits = 0;
  for (const char c : type.substr(0, open))
    if (c >= '0' && c <= '9') bits = bits < 1000 ? bits * 10 + (c - '0') : bits;
  if (bits < 8 || open == 0) return -1;
  std::int64_t elements = 1;
  for (std::string_view part : split(type.substr(open + 1, close - open - 1), ',')) {
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    if (part.empty()) continue;
    std::int64_t size = 0;
    for (const char c : part) {
      if (c < '0' || c > '9') return -1;
      size = std::min(size * 10 + (c - '0'), std::int64_t{1} << 40);
    }
    elements = times(elements, size);
  }
  return times(elements, bits / 8);
}

}  // namespace strata::profiler
