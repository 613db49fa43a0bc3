// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/redact_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "app/driver/redact_words.h"

namespace strata {
namespace {

using Set = std::unordered_set<std::string_view>;

Set split(std::string_view text) {
  Set set;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    if (end != 0) set.insert(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return set;
}

const Set& public_names() {
  static const Set set = split(kPublicNames);
  return set;
}

const Set& public_words() {
  static const Set set = split(kPublicWords);
  return set;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) {
  // Bytes of other alphabets belong to names.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80) != 0;
}
bool is_word(char c) { return is_letter(c) || is_digit(c); }

std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_word(text[at])) ++at;
  return at;
}

bool all_digits(std::string_view s) { return !s.empty() && std::all_of(s.begin(), s.end(), is_digit); }

/// `add_3` -> `add`, `buf7` -> `buf`, `arg0_1` -> `arg`.
std::string_view without_numbers(std::string_view name) {
  while (!name.empty() && (is_digit(name.back()) || name.back() == '_')) name.remove_suffix(1);
  return name;
}

/// `f32`, `i64`, `s77`, `u0`, `primals`, ... : what the producer numbers.
bool is_numbered(std::string_view name) {
  static const Set bases = {
      "s",   "u",   "zuf", "zf",  "ps",     "primals", "tangents", "arg",    "buf", "op", "i", "f", "b",
      "c",   "bf",  "d",   "r",   "xnumel", "ks",      "getitem",  "stream", "x",   "y",  "z", "k", "fwd_rng_state",
      "seq", "add", "mul", "sub", "tmp"};
  const std::string_view base = without_numbers(name);
  return base.size() < name.size() && bases.contains(base);
}

/// Names whose parts all belong to PyTorch.
bool is_root(std::string_view name) {
  static const Set roots = {"torch",          "aten",
                            "prims",          "prim",
                            "operator",       "_operator",
                            "math",           "builtins",
                            "extern_kernels", "inductor",
                            "inductor_prims", "inductor_ops",
                            "c10d",           "_c10d_functional",
                            "triton_helpers", "tl",
                            "libdevice"};
  return roots.contains(name);
}

bool is_operator_space(std::string_view name) {
  static const Set spaces = {"aten",
                             "prims",
                             "prim",
                             "inductor",
                             "c10d",
                             "_c10d_functional",
                             "_c10d_functional_autograd",
                             "higher_order",
                             "quantized",
                             "mkldnn",
                             "mkl",
                             "onednn",
                             "_quantized",
                             "quantized_decomposed",
                             "rngprims",
                             "profiler",
                             "fsdp",
                             "symm_mem",
                             "debugprims",
                             "torchvision",
                             "sparse",
                             "static_runtime",
                             "bucketing",
                             "autograd",
                             "record_function"};
  return spaces.contains(name);
}

std::string_view file_extension(std::string_view path) {
  static constexpr std::array<std::string_view, 12> known = {".json.gz", ".log.gz", ".py",  ".log", ".json", ".txt",
                                                             ".cpp",     ".so",     ".pyc", ".cu",  ".h",    ".gz"};
  for (const std::string_view extension : known)
    if (path.ends_with(extension)) return extension;
  return "";
}

/// `NativeBatchNormBackward0`: made from an operator. Functions of the owner have no number.
bool is_derived_function(std::string_view name) {
  constexpr std::string_view ends[] = {"Backward0", "Backward1"};
  if (std::none_of(std::begin(ends), std::end(ends), [&](auto end) { return name.ends_with(end); })) return false;
  std::string snake;
  for (const char c : name.substr(0, name.size() - ends[0].size())) {
    if (c >= 'A' && c <= 'Z' && !snake.empty()) snake += '_';
    snake += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (public_names().contains(snake) || public_names().contains("_" + snake)) return true;
  for (std::string_view rest = snake; !rest.empty();) {
    const std::size_t end = rest.find('_');
    if (!public_names().contains(rest.substr(0, end)) && !public_words().contains(rest.substr(0, end))) return false;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return true;
}

/// Where the path that begins here ends; `at` if none does: `/home/me`, `~/me`, `./me`, `src/model.py`.
std::size_t path_end(std::string_view text, std::size_t at) {
  // Behind a value it is a division.
  if (at > 0 && (is_word(text[at - 1]) || std::string_view(")]/").find(text[at - 1]) != std::string_view::npos))
    return at;
  std::size_t end = at;
  while (end < text.size() &&
         (is_word(text[end]) || std::string_view("/.~-+@").find(text[end]) != std::string_view::npos))
    ++end;
  while (end > at && text[end - 1] == '.') --end;  // of the sentence
  const std::string_view run = text.substr(at, end - at);
  const std::string_view start = run.substr(0, run.find_first_not_of("/.~"));
  const bool rooted = start.find('/') != std::string_view::npos && start.size() < run.size() && start != "//";
  const bool named = run.find('/') != std::string_view::npos && !file_extension(run).empty();
  return rooted || named || run.ends_with(".py") ? end : at;
}

}  // namespace

bool is_public_word(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return public_words().contains(lower);
}

bool is_public_name(std::string_view name) {
  const Set& names = public_names();
  if (names.contains(name) || is_numbered(name) || is_root(name)) return true;
  const std::string_view base = without_numbers(name);
  if (base.empty()) return true;
  if (names.contains(base)) return base.size() > 1;
  // `convolution_default_1`: an operator and its overload.
  static const Set overloads = {"default", "Tensor", "Scalar", "tensor", "scalar", "int", "float", "out"};
  const std::size_t last = base.rfind('_');
  return last != std::string_view::npos && last > 1 && names.contains(base.substr(0, last)) &&
         overloads.contains(base.substr(last + 1));
}

void TextRedactor::add_sizes(std::string_view shape) {
  for (std::size_t i = 0; i < shape.size();) {
    if (is_letter(shape[i])) {
      i = word_end(shape, i);
      continue;
    }
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(shape.data() + i, shape.data() + shape.size(), size);
    if (error == std::errc() && is_digit(shape[i])) sizes_.insert(size);
    i += error == std::errc() ? static_cast<std::size_t>(end - shape.data()) - i : 1;
  }
}

const std::string& TextRedactor::pseudonym(std::string_view name) {
  auto found = names_.find(name);
  if (found == names_.end()) found = names_.emplace(std::string(name), "n" + std::to_string(names_.size() + 1)).first;
  return found->second;
}

std::string TextRedactor::whole(std::string_view prefix, std::string_view text) {
  if (text.empty()) return {};
  Names& names = wholes_[std::string(prefix)];
  auto found = names.find(text);
  if (found == names.end())
    found = names.emplace(std::string(text), std::string(prefix) + std::to_string(names.size() + 1)).first;
  return found->second;
}

std::string TextRedactor::file(std::string_view path) {
  if (path.empty()) return {};
  auto found = files_.find(path);
  if (found == files_.end())
    found =
        files_
            .emplace(std::string(path), "file" + std::to_string(files_.size() + 1) + std::string(file_extension(path)))
            .first;
  return found->second;
}

/// A string that is a name, as in `L['x']`, gets that name's pseudonym.
std::size_t TextRedactor::string_literal(std::string_view text, std::size_t at, std::string& out) {
  const char quote = text[at];
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != quote) end += text[end] == '\\' ? 2 : 1;
  end = std::min(end, text.size());
  const std::string_view inside = text.substr(at + 1, end - at - 1);
  const bool is_name = !inside.empty() && is_letter(inside[0]) && word_end(inside, 0) == inside.size();
  // A variable of the owner, whatever it is called.
  const bool local = text.substr(0, at).ends_with("L[") && inside != "self" && inside != "args" && inside != "kwargs";
  out += quote;
  out += !is_name ? "..." : is_public_name(inside) && !local ? std::string(inside) : pseudonym(inside);
  out += quote;
  return std::min(end + 1, text.size());
}

std::size_t TextRedactor::number(std::string_view text, std::size_t at, Mode mode, std::string& out) {
  std::size_t end = at;
  bool whole = true;
  while (end < text.size()) {
    const char c = text[end];
    const bool sign = (c == '+' || c == '-') && end > at && (text[end - 1] == 'e' || text[end - 1] == 'E') && !whole;
    const bool point = c == '.' && end + 1 < text.size() && is_digit(text[end + 1]);
    if (!is_word(c) && !sign && !point) break;
    if (!is_digit(c)) whole = false;
    ++end;
  }
  const std::string_view digits = text.substr(at, end - at);
  if (mode == Mode::Shape && (whole || digits.find_first_not_of("0123456789x") == std::string_view::npos)) {
    out += digits;
    return end;
  }
  std::int64_t value = 0;
  const bool fits = whole && std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc();
  if (fits && may_stay(value)) {
    out += digits;
  } else {
    out += whole ? "0" : "0.0";
  }
  return end;
}

std::size_t TextRedactor::name(std::string_view text, std::size_t at, Mode mode, std::string& out) {
  std::size_t end = word_end(text, at);
  const std::string_view first = text.substr(at, end - at);
  if (end < text.size() && (text[end] == '\'' || text[end] == '"') && first.size() <= 2 && mode != Mode::Words)
    return end;
  if (is_root(first) && (at == 0 || text[at - 1] != '.') && end < text.size() && text[end] == '.') {
    // A path into PyTorch; only behind `torch.ops` there may be somebody else's.
    while (end + 1 < text.size() && text[end] == '.' && is_letter(text[end + 1])) {
      const std::size_t next = word_end(text, end + 1);
      const std::string_view part = text.substr(end + 1, next - end - 1);
      const bool foreign = text.substr(at, end - at).ends_with("torch.ops") && !is_operator_space(part);
      if (foreign) break;
      end = next;
    }
    out += text.substr(at, end - at);
    return end;
  }
  if (is_public_name(first) || (mode == Mode::Words && is_public_word(first))) {
    out += first;
  } else {
    out += pseudonym(first);
  }
  return end;
}

std::string TextRedactor::tokens(std::string_view text, Mode mode) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    // Within a sentence an apostrophe behind a letter opens nothing.
    const bool apostrophe = c == '\'' && mode == Mode::Words && i > 0 && is_word(text[i - 1]);
    if (const std::size_t end = path_end(text, i); end > i) {
      out += file(text.substr(i, end - i));
      i = end;
    } else if ((c == '\'' || c == '"') && !apostrophe) {
      i = string_literal(text, i, out);
    } else if (c == '#') {
      // A comment.
      const std::size_t end = text.find('\n', i);
      i = end == std::string_view::npos ? text.size() : end;
    } else if (is_letter(c)) {
      i = name(text, i, mode, out);
    } else if (is_digit(c)) {
      i = number(text, i, mode, out);
    } else {
      out += c;
      ++i;
    }
  }
  return out;
}

std::string TextRedactor::words(std::string_view text) {
  for (const std::string_view trace : {"User stack trace", "Traceback (most recent", "from user code", "File \""})
    text = text.substr(0, text.find(trace));
  return tokens(text, Mode::Words);
}

std::string TextRedactor::pieces(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_letter(text[i]) || text[i] == '_') {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_word(text[end]) && text[end] != '_') ++end;
    const std::string_view piece = text.substr(i, end - i);
    const std::string_view base = without_numbers(piece);
    if (is_public_name(piece) || is_public_word(piece) || is_public_word(base)) {
      out += piece;
    } else {
      out += pseudonym(piece);
    }
    i = end;
  }
  return out;
}

std::string TextRedactor::hash(std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); });
  return plain && (text.size() >= 20 || all_digits(text)) ? std::string(text) : code(text);
}

/// One `a::b::c` of a C++ name.
std::string TextRedactor::cpp_name(std::string_view qualified) {
  static const Set roots = {"at",
                            "c10",
                            "std",
                            "cub",
                            "thrust",
                            "cutlass",
                            "cute",
                            "cudnn",
                            "cublas",
                            "cublasLt",
                            "torch",
                            "caffe2",
                            "pytorch_flash",
                            "fmha",
                            "cask_cudnn",
                            "internal",
                            "cuda",
                            "ck",
                            "native",
                            "aten",
                            "prims",
                            "c10d",
                            "_c10d_functional",
                            "autograd",
                            "nccl",
                            "gemv2T",
                            "onednn",
                            "mkldnn",
                            "dnnl",
                            "inductor",
                            "record_param_comms",
                            "profiler",
                            "cg",
                            "flash"};
  static constexpr std::array<std::string_view, 27> prefixes = {
      "sm70_",   "sm75_",    "sm80_",   "sm86_",    "sm89_",    "sm90_",  "sm100_",        "ampere_",
      "volta_",  "turing_",  "hopper_", "cutlass_", "maxwell_", "nvjet_", "ncclDevKernel", "ncclKernel",
      "cudnn_",  "cublasLt", "splitK",  "gemv2",    "gemvNSP",  "gemmSN", "gemmk1",        "implicit_convolve_",
      "cublasG", "cudnnA",   "gemvx"};
  const std::size_t colons = qualified.find("::");
  const std::string_view first = qualified.substr(0, colons);
  static const Set words = {"void",     "bool",      "char",           "short",   "int",     "long",
                            "float",    "double",    "unsigned",       "signed",  "const",   "lambda",
                            "operator", "anonymous", "namespace",      "true",    "false",   "ul",
                            "u",        "l",         "Memcpy",         "Memset",  "Device",  "Pinned",
                            "Pageable", "Host",      "DtoH",           "HtoD",    "DtoD",    "PtoP",
                            "HtoH",     "Activity",  "Buffer",         "Request", "PyTorch", "Profiler",
                            "half",     "__half",    "__nv_bfloat16",  "nvjet",   "Params",  "evaluate_function",
                            "Unknown",  "Resource",  "Instrumentation"};
  if (words.contains(first) || is_public_name(first) || roots.contains(first)) return std::string(qualified);
  if (is_derived_function(first)) return std::string(qualified);
  // `cudaLaunchKernel`, `cuLaunchKernelEx`.
  for (const std::string_view prefix : {"cuda", "cu", "hip"})
    if (first.starts_with(prefix) && first.size() > prefix.size() && first[prefix.size()] >= 'A' &&
        first[prefix.size()] <= 'Z')
      return std::string(qualified);
  if (std::any_of(prefixes.begin(), prefixes.end(),
                  [&](auto p) { return first.starts_with(p) && first.size() > p.size(); }))
    return std::string(qualified);
  return pseudonym(qualified);
}

std::string TextRedactor::kernel(std::string_view text) {
  static constexpr std::array<std::string_view, 8> made = {"triton_poi_", "triton_red_", "triton_per_", "triton_tem_",
                                                           "triton_for_", "triton_mm",   "cpp_fused_",  "triton_mix_"};
  if (std::any_of(made.begin(), made.end(), [&](auto p) { return text.starts_with(p); })) return pieces(text);
  if (text.starts_with("extern_kernels.") || text.starts_with("torch.") || text.starts_with("aten.")) return code(text);
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\'' || text[i] == '"') {
      i = string_literal(text, i, out);
      continue;
    }
    if (!is_letter(text[i])) {
      out += text[i++];
      // `128x64`, `2ul`: letters behind a digit that are part of a number.
      while (i < text.size() && is_digit(text[i - 1]) && (text[i] == 'x' || text[i] == 'u' || text[i] == 'l'))
        out += text[i++];
      continue;
    }
    std::size_t end = word_end(text, i);
    while (text.substr(end).starts_with("::") && end + 2 < text.size() && is_letter(text[end + 2]))
      end = word_end(text, end + 2);
    const std::string_view before = text.substr(0, i);
    const bool inner = before.ends_with("at::native::(anonymous namespace)::");
    out += inner ? std::string(text.substr(i, end - i)) : cpp_name(text.substr(i, end - i));
    i = end;
  }
  return out;
}

}  // namespace strata
