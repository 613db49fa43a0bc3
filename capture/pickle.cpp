// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/pickle.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <unordered_map>

#include "core/support/error.h"

namespace strata::capture {
namespace {

constexpr size_t kMaxMemo = 1'000'000, kMaxStack = 100'000;

enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kFloat = 'F',
  kInt = 'I',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kLong = 'L',
  kBinInt2 = 'M',
  kNone = 'N',
  kPersId = 'P',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kUnicode = 'V',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kEmptyDict = '}',
  kAppends = 'e',
  kGet = 'g',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kList = 'l',
  kEmptyList = ']',
  kPut = 'p',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kBinFloat = 'G',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kNewObjEx = 0x92,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
};

using Kind = PickleValue::Kind;

class Reader {
 public:
  Reader(std::string_view data, std::string_view name) : data_(data), name_(name) {}

  std::unique_ptr<PickleTree> run() {
    while (true) {
      const auto op = static_cast<uint8_t>(take(1)[0]);
      if (op == kStop) break;
      if (!constant(op) && !memo(op) && !container(op) && !object(op))
        fail(fmt::format("opcode 0x{:02x} is unknown", op));
      if (stack_.size() > kMaxStack) fail(fmt::format("more than {} values on the stack", kMaxStack));
    }
    if (stack_.size() != 1 || !marks_.empty()) fail(fmt::format("{} values at the end, expected 1", stack_.size()));
    tree_->root = stack_.back();
    return std::move(tree_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw_user(fmt::format("'{}': byte {} of the pickle: {}", name_, at_, what));
  }

  std::string_view take(uint64_t size) {
    if (size > data_.size() - at_) fail(fmt::format("{} more bytes are needed, {} are left", size, data_.size() - at_));
    const auto result = data_.substr(at_, size);
    at_ += size;
    return result;
  }
  template <class T>
  T load() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view line() {
    const size_t end = data_.find('\n', at_);
    if (end == std::string_view::npos) fail("a line has no end");
    const auto result = data_.substr(at_, end - at_);
    at_ = end + 1;
    return result;
  }

  PickleValue* make(Kind kind) {
    tree_->values.emplace_back();
    tree_->values.back().kind = kind;
    return &tree_->values.back();
  }
  PickleValue* push(Kind kind) {
    stack_.push_back(make(kind));
    return stack_.back();
  }
  void push_int(int64_t value) { push(Kind::Int)->integer = value; }
  void push_bool(bool value) { push(Kind::Bool)->boolean = value; }
  void push_text(Kind kind, std::string_view text) { push(kind)->text = text; }

  /// Values below the innermost mark are out of reach until it is taken away.
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  PickleValue* pop() {
    if (stack_.size() <= floor()) fail("the stack is empty");
    PickleValue* value = stack_.back();
    stack_.pop_back();
    return value;
  }
  PickleValue* top() {
    if (stack_.size() <= floor()) fail("the stack is empty");
    return stack_.back();
  }
  std::vector<PickleValue*> pop_to_mark() {
    if (marks_.empty()) fail("the mark is missing");
    std::vector<PickleValue*> values(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return values;
  }

  void push_long(std::string_view bytes) {
    if (bytes.size() > 8) return push_text(Kind::BigInt, bytes);
    const bool negative = !bytes.empty() && (bytes.back() & 0x80);
    uint64_t value = negative ? ~uint64_t{0} : 0;
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    push_int(static_cast<int64_t>(value));
  }
  void push_decimal(std::string_view text) {
    if (text.ends_with('L')) text.remove_suffix(1);
    if (text == "00" || text == "01") return push_bool(text == "01");
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) return push_text(Kind::BigInt, text);
    if (error != std::errc() || end != text.data() + text.size()) fail("malformed integer");
    push_int(value);
  }
  void push_float_text(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) fail("malformed float");
    push(Kind::Float)->number = value;
  }
  void push_float_bits() {
    auto bits = load<uint64_t>();
    push(Kind::Float)->number = std::bit_cast<double>(__builtin_bswap64(bits));
  }

  bool constant(uint8_t op) {
    switch (op) {
      case kProto:
        if (const auto version = load<uint8_t>(); version > 5) fail(fmt::format("protocol {} is unknown", version));
        break;
      case kFrame:
        load<uint64_t>();
        break;
      case kNone:
        push(Kind::None);
        break;
      case kNewTrue:
        push_bool(true);
        break;
      case kNewFalse:
        push_bool(false);
        break;
      case kBinInt:
        push_int(load<int32_t>());
        break;
      case kBinInt1:
        push_int(load<uint8_t>());
        break;
      case kBinInt2:
        push_int(load<uint16_t>());
        break;
      case kLong1:
        push_long(take(load<uint8_t>()));
        break;
      case kLong4:
        push_long(take(load<uint32_t>()));
        break;
      case kInt:
      case kLong:
        push_decimal(line());
        break;
      case kFloat:
        push_float_text(line());
        break;
      case kBinFloat:
        push_float_bits();
        break;
      case kUnicode:
        push_text(Kind::String, line());
        break;
      case kShortBinString:
      case kShortBinUnicode:
        push_text(Kind::String, take(load<uint8_t>()));
        break;
      case kBinString:
      case kBinUnicode:
        push_text(Kind::String, take(load<uint32_t>()));
        break;
      case kBinUnicode8:
        push_text(Kind::String, take(load<uint64_t>()));
        break;
      case kShortBinBytes:
        push_text(Kind::Bytes, take(load<uint8_t>()));
        break;
      case kBinBytes:
        push_text(Kind::Bytes, take(load<uint32_t>()));
        break;
      case kBinBytes8:
      case kByteArray8:
        push_text(Kind::Bytes, take(load<uint64_t>()));
        break;
      default:
        return false;
    }
    return true;
  }

  void remember(uint64_t key) {
    memo_[key] = top();
    if (memo_.size() > kMaxMemo) fail(fmt::format("more than {} memo entries", kMaxMemo));
  }
  void recall(uint64_t key) {
    const auto it = memo_.find(key);
    if (it == memo_.end()) fail(fmt::format("memo entry {} is not set", key));
    stack_.push_back(it->second);
  }
  uint64_t decimal_key() {
    const auto text = line();
    uint64_t key = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), key);
    if (error != std::errc() || end != text.data() + text.size()) fail("malformed memo key");
    return key;
  }

  bool memo(uint8_t op) {
    switch (op) {
      case kPut:
        remember(decimal_key());
        break;
      case kBinPut:
        remember(load<uint8_t>());
        break;
      case kLongBinPut:
        remember(load<uint32_t>());
        break;
      case kMemoize:
        remember(memo_.size());
        break;
      case kGet:
        recall(decimal_key());
        break;
      case kBinGet:
        recall(load<uint8_t>());
        break;
      case kLongBinGet:
        recall(load<uint32_t>());
        break;
      default:
        return false;
    }
    return true;
  }

  void append(std::vector<PickleValue*> values) {
    PickleValue* target = top();
    if (!target->is(Kind::List) && !target->is(Kind::Object)) fail("APPEND to something that is no list");
    auto& list = target->is(Kind::List) ? target->items : target->extra;
    list.insert(list.end(), values.begin(), values.end());
  }
  void set_items(const std::vector<PickleValue*>& values, PickleValue* target) {
    if (!target->is(Kind::Dict) && !target->is(Kind::Object)) fail("SETITEM on something that is no dict");
    if (values.size() % 2) fail("a dict key has no value");
    for (size_t i = 0; i < values.size(); i += 2) target->members.emplace_back(values[i], values[i + 1]);
  }
  void push_tuple(size_t count) {
    std::vector<PickleValue*> values(count);
    for (size_t i = count; i-- > 0;) values[i] = pop();
    push(Kind::Tuple)->items = std::move(values);
  }

  bool container(uint8_t op) {
    switch (op) {
      case kMark:
        marks_.push_back(stack_.size());
        if (marks_.size() > kMaxStack) fail(fmt::format("more than {} marks", kMaxStack));
        break;
      case kPop:
        // As in Python: with nothing above the mark, POP takes the mark itself.
        if (!marks_.empty() && stack_.size() == marks_.back())
          marks_.pop_back();
        else
          pop();
        break;
      case kPopMark:
        pop_to_mark();
        break;
      case kDup:
        stack_.push_back(top());
        break;
      case kEmptyList:
        push(Kind::List);
        break;
      case kEmptyTuple:
        push(Kind::Tuple);
        break;
      case kEmptyDict:
        push(Kind::Dict);
        break;
      case kEmptySet:
        push(Kind::Set);
        break;
      case kTuple1:
        push_tuple(1);
        break;
      case kTuple2:
        push_tuple(2);
        break;
      case kTuple3:
        push_tuple(3);
        break;
      case kTuple:
        push_marked(Kind::Tuple);
        break;
      case kList:
        push_marked(Kind::List);
        break;
      case kFrozenSet:
        push_marked(Kind::Set);
        break;
      case kDict: {
        auto values = pop_to_mark();
        set_items(values, push(Kind::Dict));
        break;
      }
      case kAppend:
        append({pop()});
        break;
      case kAppends:
        append(pop_to_mark());
        break;
      case kAddItems: {
        auto values = pop_to_mark();
        if (!top()->is(Kind::Set)) fail("ADDITEMS to something that is no set");
        top()->items.insert(top()->items.end(), values.begin(), values.end());
        break;
      }
      case kSetItem: {
        PickleValue* value = pop();
        PickleValue* key = pop();
        set_items({key, value}, top());
        break;
      }
      case kSetItems: {
        auto values = pop_to_mark();
        set_items(values, top());
        break;
      }
      default:
        return false;
    }
    return true;
  }
  void push_marked(Kind kind) {
    auto values = pop_to_mark();
    push(kind)->items = std::move(values);
  }

  void push_object(std::vector<PickleValue*> parts) {
    if (!parts[1]->is(Kind::Tuple)) fail("a call without an argument tuple");
    push(Kind::Object)->items = std::move(parts);
  }

  bool object(uint8_t op) {
    switch (op) {
      case kGlobal: {
        const auto module = line();
        push(Kind::Global)->text = fmt::format("{}.{}", module, line());
        break;
      }
      case kStackGlobal: {
        PickleValue* attribute = pop();
        PickleValue* module = pop();
        if (!attribute->is(Kind::String) || !module->is(Kind::String)) fail("a global's name is no string");
        push(Kind::Global)->text = module->text + "." + attribute->text;
        break;
      }
      case kReduce:
      case kNewObj: {
        PickleValue* arguments = pop();
        PickleValue* callable = pop();
        push_object({callable, arguments});
        break;
      }
      case kNewObjEx: {
        PickleValue* keywords = pop();
        PickleValue* arguments = pop();
        PickleValue* callable = pop();
        push_object({callable, arguments, keywords});
        break;
      }
      case kBuild: {
        PickleValue* state = pop();
        top()->state = state;
        break;
      }
      case kPersId: {
        PickleValue* id = make(Kind::String);
        id->text = line();
        push(Kind::Persistent)->items = {id};
        break;
      }
      case kBinPersId: {
        PickleValue* id = pop();
        push(Kind::Persistent)->items = {id};
        break;
      }
      default:
        return false;
    }
    return true;
  }

  std::string_view data_, name_;
  size_t at_ = 0;
  std::vector<PickleValue*> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleValue*> memo_;
  std::unique_ptr<PickleTree> tree_ = std::make_unique<PickleTree>();
};

}  // namespace

std::string_view PickleValue::called() const {
  if (kind != Kind::Object || items.empty() || !items[0]->is(Kind::Global)) return {};
  return items[0]->text;
}

std::unique_ptr<PickleTree> parse_pickle(std::string_view data, std::string_view name) {
  return Reader(data, name).run();
}

}  // namespace strata::capture
