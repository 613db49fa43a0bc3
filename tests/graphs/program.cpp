// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "core/ir/fx_printer.h"
#include "core/ir/text.h"
#include "core/support/error.h"

namespace strata::fuzz {
namespace {

int64_t lowest_of(DType d) {
  return is_signed_integral(d) ? (d == DType::I64 ? INT64_MIN : -(int64_t{1} << (8 * dtype_size(d) - 1))) : 0;
}
int64_t highest_of(DType d) {
  if (d == DType::I64) return INT64_MAX;
  return (int64_t{1} << (8 * dtype_size(d) - (is_signed_integral(d) ? 1 : 0))) - 1;
}

int64_t random_integer(std::mt19937_64& rng, DType dtype, bool special, const Domain& domain) {
  const auto below = [&](int64_t n) { return static_cast<int64_t>(rng() % static_cast<uint64_t>(n)); };
  switch (domain.kind) {
    case Domain::Kind::Positive:
      return 1 + below(10);
    case Domain::Kind::NonZero: {
      const int64_t v = 1 + below(5);
      return is_signed_integral(dtype) && rng() % 2 ? -v : v;
    }
    case Domain::Kind::Unit:
      return below(2);
    case Domain::Kind::Small:
      return below(5);
    case Domain::Kind::Index:
      return domain.low + below(domain.high - domain.low);
    case Domain::Kind::Any:
      if (special && rng() % 10 == 0) {
        const int64_t ends[] = {lowest_of(dtype), highest_of(dtype), lowest_of(dtype) + 1, highest_of(dtype) - 1};
        return ends[rng() % std::size(ends)];
      }
      [[fallthrough]];
    case Domain::Kind::Tame:
      break;
  }
  return below(11) - (is_signed_integral(dtype) ? 5 : 0);
}

double random_real(std::mt19937_64& rng, DType dtype, bool special, const Domain& domain) {
  const double infinity = std::numeric_limits<double>::infinity();
  // Products of bfloat16 in hardware take denormals as zero.
  const double tiny = dtype == DType::F16 ? 6e-8 : dtype == DType::BF16 ? 1e-30 : 1e-40;
  const double specials[] = {std::nan(""), infinity, -infinity, 0.0, -0.0, tiny, 1e4};
  const double unit = std::uniform_real_distribution<double>(0, 1)(rng);
  switch (domain.kind) {
    case Domain::Kind::Positive:
      return 0.1 + 2.9 * unit;
    case Domain::Kind::Unit:
      return unit;
    case Domain::Kind::Tame:
      return 6 * unit - 3;
    default:
      return special && rng() % 10 == 0 ? specials[rng() % std::size(specials)] : 6 * unit - 3;
  }
}

std::string hex(const std::byte* bytes, size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = count; i-- > 0;) {
    text += kDigits[static_cast<unsigned>(bytes[i]) >> 4];
    text += kDigits[static_cast<unsigned>(bytes[i]) & 15];
  }
  return text;
}

std::string join(const std::vector<int64_t>& items) {
  std::string text;
  for (const int64_t i : items) text += (text.empty() ? "" : ",") + std::to_string(i);
  return text.empty() ? "-" : text;
}

std::vector<int64_t> split(const std::string& text) {
  std::vector<int64_t> items;
  if (text == "-") return items;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) items.push_back(std::stoll(item));
  return items;
}

/// Elements from the storage's start to the last one that the tensor reaches.
int64_t reach(const Tensor& t) {
  if (t.numel() == 0) return t.offset;
  int64_t last = t.offset;
  for (size_t d = 0; d < t.rank(); ++d) last += (t.shape[d] - 1) * t.strides[d];
  return last + 1;
}

Tensor with_room_of(const Tensor& t) {
  Tensor copy = Tensor::empty(t.dtype, {reach(t)});
  copy.shape = t.shape;
  copy.strides = t.strides;
  copy.offset = t.offset;
  return copy;
}

constexpr std::string_view kHead = "strata fuzz program 1\n", kGraphMark = "--- graph", kInputMark = "--- inputs";

[[noreturn]] void throw_no_program() {
  throw_user("this is no program that the graph fuzzer wrote",
             "it starts with 'strata fuzz program 1' and has the lines '--- graph' and '--- inputs'");
}

void read_input(std::istringstream& line, Tensor& t) {
  std::string dtype, shape, strides, bits;
  int64_t offset = 0;
  line >> dtype >> shape >> strides >> offset;
  const auto found = parse_dtype_name(dtype);
  if (!found) throw_user("reproducer: expected an element type, found '" + dtype + "'");
  Tensor layout;
  layout.dtype = *found;
  layout.shape = split(shape);
  layout.strides = split(strides);
  layout.offset = offset;
  t = with_room_of(layout);
  const size_t size = dtype_size(*found), room = static_cast<size_t>(reach(t));
  for (size_t i = 0; i < room; ++i) {
    if (!(line >> bits) || bits.size() != 2 * size)
      throw_user("reproducer: expected " + std::to_string(room) + " elements of " + std::to_string(2 * size) +
                 " hexadecimal digits, found '" + bits + "'");
    for (size_t b = 0; b < size; ++b)
      t.storage->data[i * size + size - 1 - b] = static_cast<std::byte>(std::stoul(bits.substr(2 * b, 2), nullptr, 16));
  }
}

/// `s0=5`; symbols that the graph does not use are left out.
void set_symbol(RandomProgram& program, const std::string& word) {
  const size_t at = word.find('=');
  if (at == word.npos) throw_user("reproducer: expected NAME=VALUE, found '" + word + "'");
  const ShapeEnv& env = program.graph.env();
  program.symbols.resize(env.symbol_count());
  for (size_t id = 0; id < env.symbol_count(); ++id)
    if (env.info(id).name == word.substr(0, at)) program.symbols[id] = std::stoll(word.substr(at + 1));
}

std::string text_of(const RandomProgram& program) {
  std::string text = std::string(kGraphMark) + "\n" + print_text(program.graph) + std::string(kInputMark) + "\nsymbols";
  for (size_t i = 0; i < program.symbols.size(); ++i)
    if (program.symbols[i]) text += " " + program.graph.env().info(i).name + "=" + std::to_string(*program.symbols[i]);
  text += "\n";
  if (program.threads != 1) text += "threads " + std::to_string(program.threads) + "\n";
  for (const Tensor& t : program.inputs) {
    text +=
        std::string(dtype_name(t.dtype)) + " " + join(t.shape) + " " + join(t.strides) + " " + std::to_string(t.offset);
    const size_t size = dtype_size(t.dtype);
    for (int64_t i = 0; i < reach(t); ++i) text += " " + hex(t.storage->data + static_cast<size_t>(i) * size, size);
    text += "\n";
  }
  return text;
}

/// `text`: the graph, and behind the mark the inputs.
RandomProgram program_of(const std::string& text) {
  const size_t inputs = text.find(std::string(kInputMark) + "\n");
  if (inputs == text.npos) throw_no_program();
  RandomProgram program{parse_text(std::make_shared<ShapeEnv>(), text.substr(0, inputs)), {}, {}};
  for (const auto& node : program.graph.nodes())
    if (node->kind == NodeKind::Call && !node->op)
      throw_user("reproducer: '" + node->name + "' calls " + node->target + ", which is no operator of the table");
  std::istringstream lines(text.substr(inputs + kInputMark.size() + 1));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (line.starts_with("symbols")) {
      words >> word;
      while (words >> word) set_symbol(program, word);
    } else if (line.starts_with("threads")) {
      words >> word >> program.threads;
      if (program.threads != 1 && program.threads != 2)
        throw_user("reproducer: expected 1 or 2 threads in '" + line + "'");
    } else if (!line.empty()) {
      read_input(words, program.inputs.emplace_back());
    }
  }
  const size_t wanted = program.graph.placeholders().size();
  if (program.inputs.size() != wanted)
    throw_user("reproducer: expected " + std::to_string(wanted) + " inputs, found " +
               std::to_string(program.inputs.size()));
  return program;
}

}  // namespace

Tensor copy_as_it_lies(const Tensor& t) {
  Tensor copy = with_room_of(t);
  std::memcpy(copy.storage->data, t.storage->data, static_cast<size_t>(reach(t)) * dtype_size(t.dtype));
  return copy;
}

Tensor lay_out(const Tensor& values, const std::vector<int64_t>& strides, int64_t offset) {
  Tensor layout = values;
  layout.strides = strides;
  layout.offset = offset;
  Tensor laid = with_room_of(layout);
  std::memset(laid.storage->data, values.dtype == DType::Bool ? 1 : 0x7e, laid.storage->size);  // what lies between
  const bool floating = is_floating(values.dtype);
  for (int64_t i = 0, n = values.numel(); i < n; ++i)
    if (floating)
      laid.set(i, values.at(i));
    else
      laid.set_int(i, values.int_at(i));
  return laid;
}

RandomProgram RandomProgram::clone() const {
  RandomProgram copy{graph.clone(), {}, symbols, threads};
  for (const Tensor& t : inputs) copy.inputs.push_back(copy_as_it_lies(t));
  return copy;
}

std::map<std::string, Tensor> RandomProgram::state() const {
  std::map<std::string, Tensor> state;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (graph.input_specs[i].kind != InputSpec::Kind::User) state[graph.input_specs[i].target] = inputs[i].clone();
  return state;
}

std::vector<Tensor> RandomProgram::user_inputs() const {
  std::vector<Tensor> user;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (graph.input_specs[i].kind == InputSpec::Kind::User) user.push_back(copy_as_it_lies(inputs[i]));
  return user;
}

std::string RandomProgram::str() const {
  std::string text = print_fx(graph, {FxOptions::Form::Function, true, false, false}) + "\n";
  const auto names = graph.placeholders();
  for (size_t i = 0; i < inputs.size(); ++i) {
    text += "# " + names[i]->name + " " + inputs[i].str() + " strides " + join(inputs[i].strides) + ":";
    const int64_t shown = std::min<int64_t>(inputs[i].numel(), 16);
    for (int64_t k = 0; k < shown; ++k)
      text +=
          " " + (is_floating(inputs[i].dtype) ? std::to_string(inputs[i].at(k)) : std::to_string(inputs[i].int_at(k)));
    text += "\n";
  }
  return text;
}

Tensor random_tensor(std::mt19937_64& rng, DType dtype, const std::vector<int64_t>& shape, bool special,
                     const Domain& domain) {
  Tensor t = Tensor::empty(dtype, shape);
  const int64_t count = t.numel();
  for (int64_t i = 0; i < count; ++i) {
    if (dtype == DType::Bool)
      t.set_int(i, static_cast<int64_t>(rng() % 2));
    else if (is_integral(dtype))
      t.set_int(i, random_integer(rng, dtype, special, domain));
    else
      t.set(i, random_real(rng, dtype, special, domain));
  }
  return t;
}

std::string to_file(std::span<const RandomProgram> programs, std::string_view note) {
  std::string text = std::string(kHead);
  std::istringstream lines{std::string(note)};
  for (std::string line; std::getline(lines, line);) text += "# " + line + "\n";
  for (const RandomProgram& program : programs) text += text_of(program);
  return text;
}

std::vector<RandomProgram> from_file(const std::string& text) {
  const std::string mark = std::string(kGraphMark) + "\n";
  std::vector<RandomProgram> programs;
  for (size_t at = text.find("\n" + mark); at != text.npos;) {
    const size_t begin = at + 1 + mark.size();
    at = text.find("\n" + mark, begin);
    programs.push_back(program_of(text.substr(begin, at == text.npos ? at : at + 1 - begin)));
  }
  if (!text.starts_with(kHead) || programs.empty()) throw_no_program();
  return programs;
}

}  // namespace strata::fuzz
