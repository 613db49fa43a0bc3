// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/recompile_reason.h"

#include <simdjson.h>

#include <array>
#include <utility>

#include "capture/torch_text/guard_tree.h"
#include "capture/torch_text/python_traceback.h"
#include "capture/torch_text/text_scan.h"

namespace strata::capture {
namespace {

constexpr auto kNowhere = std::string_view::npos;

constexpr std::array<std::string_view, 18> kFormNames = {
    "other", "size",   "stride",   "rank",     "dtype",     "device", "requires_grad", "dispatch_keys", "value",
    "type",  "length", "identity", "contains", "attribute", "shape",  "aliasing",      "backend",       "global_state"};

/// `0/1: `, `!0/0/1: `, `0/1_2: ` at the start.
std::size_t address_length(std::string_view text) {
  std::size_t end = 0;
  bool slash = false;
  while (end < text.size() &&
         (text[end] == '/' || text[end] == '!' || text[end] == '_' || (text[end] >= '0' && text[end] <= '9'))) {
    slash = slash || text[end] == '/';
    ++end;
  }
  return slash && text.substr(end, 1) == ":" ? end : 0;
}

std::string_view without_end(std::string_view text, std::string_view end) {
  return text.ends_with(end) ? text.substr(0, text.size() - end.size()) : text;
}

/// `int` for `<class 'int'>`.
std::string class_name(std::string_view text) {
  constexpr std::string_view kClass = "<class '";
  if (text.starts_with(kClass) && text.ends_with("'>"))
    return std::string(text.substr(kClass.size(), text.size() - kClass.size() - 2));
  return std::string(text);
}

/// What stands after `key` up to `, ` or the end, without a last full stop.
std::string_view value_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == kNowhere) return {};
  std::string_view value = text.substr(at + key.size());
  // values may be lists in brackets
  const std::size_t end = find_outside_quotes(value, ", ");
  return without_end(trim(value.substr(0, end)), ".");
}

struct TensorForm {
  std::string_view words;
  RecompileForm form;
};

constexpr TensorForm kTensorForms[] = {
    {"size mismatch", RecompileForm::Size},
    {"stride mismatch", RecompileForm::Stride},
    {"rank mismatch", RecompileForm::Rank},
    {"dtype mismatch", RecompileForm::Dtype},
    {"requires_grad mismatch", RecompileForm::RequiresGrad},
    {"dispatch key set mismatch", RecompileForm::DispatchKeys},
    {"Tensor device index mismatch", RecompileForm::Device},
    {"device index mismatch", RecompileForm::Device},
    {"device mismatch", RecompileForm::Device},
};

/// `tensor 'x' size mismatch at index 0. expected 8, actual 16`.
bool parse_tensor(std::string_view code, RecompileText& out) {
  const std::size_t mismatch = code.find(" mismatch");
  if (mismatch == kNowhere || !(code.starts_with("tensor '") || code.starts_with("Tensor "))) return false;
  for (const TensorForm& form : kTensorForms) {
    const std::size_t at = code.find(form.words);
    if (at == kNowhere) continue;
    out.form = form.form;
    if (code.starts_with("tensor '")) out.source = without_end(trim(code.substr(8, at - 8)), "'");
    std::size_t end = code.find(". ", at);
    out.expression = without_end(trim(code.substr(0, end)), ".");
    if (const std::size_t index = code.find("at index "); index != kNowhere)
      out.index =
          whole_number(without_end(code.substr(index + 9, code.find_first_of(". ", index + 9) - index - 9), "."))
              .value_or(-1);
    out.expected = value_after(code, "xpected ");
    for (const std::string_view words : {"requires_grad=", "device index to be "})
      if (const std::size_t skip = out.expected.find(words); skip == 0) out.expected.erase(0, words.size());
    out.actual = value_after(code, "actual ");
    for (const std::string_view words : {"requires_grad="})
      if (out.actual.starts_with(words)) out.actual.erase(0, words.size());
    return true;
  }
  return false;
}

/// `expected type of 'x' to be a tensor type, but found <class 'NoneType'>`.
bool parse_not_tensor(std::string_view code, RecompileText& out) {
  constexpr std::string_view kStart = "expected type of '", kTo = "' to be a tensor type";
  const std::size_t to = code.find(kTo);
  if (!code.starts_with(kStart) || to == kNowhere) return false;
  out.form = RecompileForm::Type;
  out.source = code.substr(kStart.size(), to - kStart.size());
  out.expected = "torch.Tensor";
  out.expression = code.substr(0, to + kTo.size());
  if (const std::size_t found = code.find("found "); found != kNowhere)
    out.actual = class_name(trim(code.substr(found + 6)));
  return true;
}

/// `BACKEND_MATCH failure: ... Cached backend: A (id=0x1). New backend: B (id=0x2). If ...`.
bool parse_backend(std::string_view code, RecompileText& out) {
  if (!code.starts_with("BACKEND_MATCH failure")) return false;
  const auto backend = [&](std::string_view before) {
    const std::size_t at = code.find(before);
    if (at == kNowhere) return std::string();
    std::string_view name = code.substr(at + before.size());
    name = trim(name.substr(0, name.find(" (id=")));
    if (name == "_TorchCompileInductorWrapper") return std::string("inductor");
    if (const std::size_t quote = name.find("compiler='"); quote != kNowhere) {
      name = name.substr(quote + 10);
      name = name.substr(0, name.find('\''));
    }
    return std::string(name);
  };
  out.form = RecompileForm::Backend;
  out.expression = "BACKEND_MATCH";
  out.source = "backend";
  out.expected = backend("Cached backend: ");
  out.actual = backend("New backend: ");
  return true;
}

/// The arguments of `name(a, b)`, which `code` begins with; empty otherwise. `rest` gets what follows.
std::vector<std::string_view> call(std::string_view code, std::string_view name, std::string_view& rest) {
  std::vector<std::string_view> arguments;
  if (!code.starts_with(name)) return arguments;
  std::string_view inner = code.substr(name.size());
  const std::size_t close = find_outside_quotes(inner, ")");
  rest = close == kNowhere ? std::string_view{} : inner.substr(close + 1);
  inner = inner.substr(0, close);
  for (std::size_t comma = 0; comma != kNowhere;) {
    comma = find_outside_quotes(inner, ",");
    arguments.push_back(trim(inner.substr(0, comma)));
    if (comma != kNowhere) inner.remove_prefix(comma + 1);
  }
  return arguments;
}

/// `___check_type_id(n, 123), type=<class 'int'>` and `___check_obj_id(...)`.
bool parse_id(std::string_view code, RecompileText& out) {
  for (const auto& [name, form] : {std::pair{std::string_view("___check_type_id("), RecompileForm::Type},
                                   std::pair{std::string_view("___check_obj_id("), RecompileForm::Identity}}) {
    std::string_view rest;
    const auto arguments = call(code, name, rest);
    if (arguments.empty()) continue;
    out.form = form;
    out.source = arguments[0];
    if (const std::size_t at = rest.find("type="); at != kNowhere) out.expected = class_name(trim(rest.substr(at + 5)));
    if (out.expected.empty() && arguments.size() > 1) out.expected = arguments[1];
    return true;
  }
  return false;
}

/// `not ___dict_contains('k', d)`.
bool parse_contains(std::string_view code, RecompileText& out) {
  const bool absent = code.starts_with("not ");
  std::string_view rest;
  const auto arguments = call(absent ? code.substr(4) : code, "___dict_contains(", rest);
  if (arguments.size() < 2) return false;
  out.form = RecompileForm::Contains;
  out.source = arguments[1];
  out.expected = std::string(absent ? "no key " : "a key ") + std::string(arguments[0]);
  out.actual = absent ? "present" : "absent";
  return true;
}

/// `hasattr(x, 'a') == False`, `not hasattr(x, 'a')`, `hasattr(x, 'a')`.
bool parse_hasattr(std::string_view code, RecompileText& out) {
  const bool negated = code.starts_with("not ");
  std::string_view rest;
  const auto arguments = call(negated ? code.substr(4) : code, "hasattr(", rest);
  if (arguments.size() < 2) return false;
  const bool absent = negated != (rest.find("False") != kNowhere);
  out.form = RecompileForm::Attribute;
  out.source = arguments[0];
  out.expected = std::string(absent ? "no attribute " : "an attribute ") + std::string(arguments[1]);
  out.actual = absent ? "present" : "absent";
  return true;
}

bool parse_state(std::string_view code, RecompileText& out) {
  if (code.starts_with("GLOBAL_STATE changed")) {
    out.form = RecompileForm::GlobalState;
    out.source =
        trim(code.substr(std::min(code.size(), code.find(':') == kNowhere ? code.size() : code.find(':') + 1)));
    return true;
  }
  for (const std::string_view start : {"___check_global_state(", "___check_torch_function_mode_stack(",
                                       "utils_device.CURRENT_DEVICE", "torch._functorch", "___skip_backend_check("}) {
    if (!code.starts_with(start)) continue;
    out.form = RecompileForm::GlobalState;
    if (const std::size_t equals = code.find(" == "); equals != kNowhere) {
      out.source = trim(code.substr(0, equals));
      out.expected = trim(code.substr(equals + 4));
    }
    return true;
  }
  if (code.starts_with("check_no_aliasing(") || code.starts_with("Duplicate tensor")) {
    out.form = RecompileForm::Aliasing;
    return true;
  }
  return false;
}

/// The value in which the whole condition is about one size: `x.size()[0]`.
bool parse_size_source(std::string_view code, RecompileText& out) {
  const std::size_t size = code.find(".size()[");
  if (size == kNowhere) return false;
  const std::size_t close = code.find(']', size);
  const auto index = whole_number(code.substr(size + 8, close == kNowhere ? kNowhere : close - size - 8));
  std::size_t start = size;
  while (start > 0 && find_outside_quotes(code.substr(start - 1, 1), " ") == kNowhere && code[start - 1] != '*' &&
         code[start - 1] != '(')
    --start;
  if (!index || code.find(".size()[", close) != kNowhere) return false;
  out.source = code.substr(start, size - start);
  out.index = *index;
  return true;
}

/// `len(x) == 1`, `x == 2`, `x is None`, `2 <= x.size()[0]`.
bool parse_comparison(std::string_view code, RecompileText& out) {
  const std::size_t equals = find_outside_quotes(code, " == "), is = find_outside_quotes(code, " is ");
  const bool relation = guess_guard_kind(code) == "SHAPE_ENV" || code.find(" <= ") != kNowhere;
  if (relation && !code.starts_with("len(")) {
    out.form = RecompileForm::Shape;
    out.expected = code;
    parse_size_source(code, out);
    return true;
  }
  if (code.starts_with("not ")) {
    out.form = RecompileForm::Length;
    out.source = trim(code.substr(4));
    out.expected = "0";
    return true;
  }
  const std::size_t at = equals != kNowhere ? equals : is;
  if (at == kNowhere) return false;
  const std::string_view left = trim(code.substr(0, at)), right = trim(code.substr(at + 4));
  std::string_view rest;
  const auto arguments = call(left, "len(", rest);
  out.form = !arguments.empty()   ? RecompileForm::Length
             : equals != kNowhere ? RecompileForm::Value
                                  : RecompileForm::Identity;
  if (right == "None" || right == "True" || right == "False") out.form = RecompileForm::Value;
  out.source = arguments.empty() ? left : arguments[0];
  out.expected = right;
  return true;
}

void parse_condition(std::string_view code, RecompileText& out) {
  out.expression = code;
  (void)(parse_tensor(code, out) || parse_not_tensor(code, out) || parse_backend(code, out) || parse_id(code, out) ||
         parse_contains(code, out) || parse_hasattr(code, out) || parse_state(code, out) ||
         parse_comparison(code, out));
}

/// What a guard of the new compile says about `source`, if it is about that.
struct Evidence {
  std::string value, type, length, object, tensor;
};

void literal_type(Evidence& evidence) {
  const std::string_view value = evidence.value;
  if (!evidence.type.empty() || value.empty()) return;
  if (value == "True" || value == "False") {
    evidence.type = "bool";
  } else if (value == "None") {
    evidence.type = "NoneType";
  } else if (whole_number(value)) {
    evidence.type = "int";
  } else if (value.front() == '\'' || value.front() == '"') {
    evidence.type = "str";
  } else if (value.find_first_not_of("0123456789.eE+-") == kNowhere) {
    evidence.type = "float";
  }
}

void collect(const trace::GuardRecord& guard, const std::string& source, Evidence& evidence) {
  const std::string code = plain_names(guard.expression);
  std::string_view rest;
  if (const auto tensor = call(code, "check_tensor(", rest); !tensor.empty()) {
    if (tensor[0] == source) evidence.tensor = code;
    return;
  }
  RecompileText parsed;
  parse_condition(code, parsed);
  if (parsed.source != source) return;
  // a value that was seen is better than what a guard says; one in terms of itself says nothing
  const bool new_value = evidence.value.empty() && parsed.expected.find(source) == kNowhere;
  if (parsed.form == RecompileForm::Value && new_value) evidence.value = parsed.expected;
  if (parsed.form == RecompileForm::Type) evidence.type = parsed.expected;
  if (parsed.form == RecompileForm::Length) evidence.length = parsed.expected;
  if (parsed.form == RecompileForm::Identity) evidence.object = parsed.expected;
}

/// Entry `index` of `size=[8, None]` in the text of a tensor guard; empty when it is not fixed.
std::string tensor_entry(std::string_view tensor, std::string_view key, std::int64_t index) {
  const std::size_t at = tensor.find(key);
  if (at == kNowhere || index < 0) return {};
  std::string_view list = tensor.substr(at + key.size());
  list = list.substr(0, list.find(']'));
  for (; index > 0; --index) {
    const std::size_t comma = list.find(',');
    if (comma == kNowhere) return {};
    list.remove_prefix(comma + 1);
  }
  const std::string_view entry = trim(list.substr(0, list.find(',')));
  return entry == "None" ? std::string() : std::string(entry);
}

std::string derive(const RecompileText& reason, const Evidence& evidence) {
  switch (reason.form) {
    case RecompileForm::Size:
    case RecompileForm::Shape:
      return tensor_entry(evidence.tensor, "size=[", reason.index);
    case RecompileForm::Stride:
      return tensor_entry(evidence.tensor, "stride=[", reason.index);
    case RecompileForm::Value:
      if (!evidence.value.empty()) return evidence.value;
      return evidence.type.empty() ? std::string() : "a value of type " + evidence.type;
    case RecompileForm::Type:
      return !evidence.type.empty() ? evidence.type : evidence.tensor.empty() ? "" : "torch.Tensor";
    case RecompileForm::Length:
      return evidence.length;
    case RecompileForm::Identity:
      return !evidence.object.empty() ? evidence.object : evidence.value;
    default:
      return {};
  }
}

/// What the reason's value is called in `create_symbol` records.
std::string value_name(const RecompileText& reason) {
  const std::string source = plain_names(reason.source);
  const bool size = reason.form == RecompileForm::Size || reason.form == RecompileForm::Shape;
  return size && reason.index >= 0 ? source + ".size()[" + std::to_string(reason.index) + "]" : source;
}

}  // namespace

std::string_view form_name(RecompileForm form) { return kFormNames[static_cast<std::size_t>(form)]; }

std::string plain_names(std::string_view code) {
  std::string out;
  while (!code.empty()) {
    const std::size_t at = code.find("L['");
    const std::size_t end = at == kNowhere ? kNowhere : code.find("']", at + 3);
    const bool inside_name =
        at != kNowhere && at > 0 && (code[at - 1] == '_' || std::isalnum(static_cast<unsigned char>(code[at - 1])));
    if (end == kNowhere) break;
    out.append(code.substr(0, at));
    if (inside_name) {
      out.append(code.substr(at, end + 2 - at));
    } else {
      out.append(code.substr(at + 3, end - at - 3));
    }
    code.remove_prefix(end + 2);
  }
  return out.append(code);
}

RecompileText parse_recompile_reason(std::string_view text) {
  RecompileText out;
  text = trim(text);
  if (text.starts_with("- ")) text = trim(text.substr(2));
  out.detail = text;
  const std::size_t address = address_length(text);
  if (address > 0) {
    out.of = text.substr(0, address);
    text = trim(text.substr(address + 1));
  }
  const std::size_t stack = text.find("User stack trace:");
  if (stack != kNowhere) out.stack = parse_python_stack(text.substr(stack));
  const GuardText guard = parse_guard_code(text.substr(0, stack));
  out.hint = guard.hint;
  out.note = guard.note;
  out.place = {guard.file, guard.line, guard.function, guard.line_text};
  parse_condition(guard.code, out);
  return out;
}

std::vector<RecompileText> parse_recompile_reasons(std::string_view payload) {
  std::vector<RecompileText> reasons;
  const std::string_view text = trim(payload);
  if (text.empty()) return reasons;
  if (text.front() == '[' || text.front() == '"') {
    simdjson::dom::parser parser;
    simdjson::dom::element document;
    if (parser.parse(text.data(), text.size()).get(document) == simdjson::SUCCESS) {
      std::string_view one;
      if (document.get(one) == simdjson::SUCCESS) return {parse_recompile_reason(one)};
      simdjson::dom::array list;
      if (document.get(list) == simdjson::SUCCESS) {
        for (const simdjson::dom::element item : list)
          reasons.push_back(
              parse_recompile_reason(item.get(one) == simdjson::SUCCESS ? std::string(one) : simdjson::minify(item)));
        return reasons;
      }
    }
  }
  reasons.push_back(parse_recompile_reason(text));
  return reasons;
}

const trace::GuardRecord* find_guard(const RecompileText& reason, std::span<const trace::GuardRecord> guards) {
  const std::string code = plain_names(reason.expression), source = plain_names(reason.source);
  const bool tensor = reason.expression.starts_with("tensor '") || reason.expected == "torch.Tensor";
  const trace::GuardRecord* near = nullptr;
  for (const trace::GuardRecord& guard : guards) {
    if (!tensor && plain_names(guard.expression) == code) return &guard;
    if (tensor && guard.kind == "TENSOR_MATCH" && plain_names(guard.source) == source) return &guard;
    if (reason.form == RecompileForm::Shape && !near && plain_names(guard.expression).starts_with(code)) near = &guard;
    if (reason.form == RecompileForm::GlobalState && !near && guard.kind == guess_guard_kind(reason.expression))
      near = &guard;
  }
  return near;
}

void derive_actual(RecompileText& reason, std::span<const trace::GuardRecord> guards,
                   std::span<const ObservedValue> values) {
  if (!reason.actual.empty() || reason.source.empty()) return;
  if (reason.form == RecompileForm::RequiresGrad && (reason.expected == "0" || reason.expected == "1")) {
    reason.actual = reason.expected == "0" ? "1" : "0";
    reason.derived = true;
    return;
  }
  const std::string source = plain_names(reason.source), name = value_name(reason);
  Evidence evidence;
  for (const ObservedValue& seen : values)
    if (plain_names(seen.source) == name) evidence.value = seen.value;
  const bool sized = reason.form == RecompileForm::Size || reason.form == RecompileForm::Shape;
  if (sized && !evidence.value.empty()) {
    reason.actual = evidence.value;
  } else {
    for (const trace::GuardRecord& guard : guards) collect(guard, source, evidence);
    literal_type(evidence);
    reason.actual = derive(reason, evidence);
  }
  reason.derived = !reason.actual.empty();
}

std::vector<trace::SourceLocation> recompile_stack(const RecompileText& reason, const KnownFiles& files) {
  if (!reason.stack.empty() || reason.place.file.empty()) return reason.stack;
  trace::SourceLocation place = reason.place;
  place.file = files.resolve(place.file, place.line, place.text);
  return {place};
}

trace::RecompileRecord recompile_record(const RecompileText& reason) {
  trace::RecompileRecord record;
  record.expression = reason.expression;
  record.expected = reason.expected;
  record.actual = reason.actual;
  record.reason = reason.detail;
  return record;
}

}  // namespace strata::capture
