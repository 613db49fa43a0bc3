// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/live_outputs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "app/python/tensor_exchange.h"
#include "core/runtime/plan.h"
#include "core/support/error.h"

namespace py = pybind11;

namespace strata {
namespace {

/// Whether the elements lie as `strides` says; a dimension of one element may say anything.
bool lies_in(const Tensor& tensor, const std::vector<int64_t>& strides) {
  for (size_t d = 0; d < tensor.rank(); ++d) {
    if (tensor.shape[d] == 0) return true;
    if (tensor.shape[d] > 1 && tensor.strides[d] != strides[d]) return false;
  }
  return true;
}

/// Nothing can be written so. Up to PyTorch 2.6 the fake results of some operators say this of what does not lie so.
bool expands(const Tensor& tensor, const std::vector<int64_t>& strides) {
  for (size_t d = 0; d < tensor.rank(); ++d)
    if (tensor.shape[d] > 1 && strides[d] == 0) return true;
  return false;
}

/// By PyTorch's copy, which is fast for any pair of layouts.
py::object laid_out(Tensor tensor, const std::vector<int64_t>& strides) {
  const py::object result = empty_of_torch(tensor.shape, strides, tensor.dtype);
  // PyTorch has no negative strides, which a flip of what was made here has.
  if (std::ranges::any_of(tensor.strides, [](int64_t s) { return s < 0; })) tensor = tensor.clone();
  return result.attr("copy_")(to_torch(std::move(tensor)));
}

/// `shared`: another result lies in the same memory, which may not be seen.
py::object kept_result(Tensor& tensor, const std::vector<int64_t>& strides, bool shared) {
  if (strides.size() != tensor.rank())
    throw_internal("a result has " + std::to_string(tensor.rank()) + " dimensions, but its strides are " +
                   std::to_string(strides.size()));
  if (!shared && lies_in(tensor, strides)) {
    tensor.strides = strides;
    return to_torch(std::move(tensor));
  }
  if (expands(tensor, strides)) return to_torch(shared ? tensor.clone() : std::move(tensor));
  return laid_out(std::move(tensor), strides);
}

/// `base.as_strided(shape, strides, offset)`, the offset counted from the base's own.
py::object view_of(const py::handle& base, const py::object& shape, const py::object& strides, int64_t offset) {
  static PyObject* const offset_name = PyUnicode_InternFromString("storage_offset");
  static PyObject* const name = PyUnicode_InternFromString("as_strided");
  PyObject* self = base.ptr();
  const auto start = py::reinterpret_steal<py::object>(PyObject_CallMethodNoArgs(self, offset_name));
  if (!start) throw py::error_already_set();
  const py::int_ at(start.cast<int64_t>() + offset);
  PyObject* const arguments[] = {self, shape.ptr(), strides.ptr(), at.ptr()};
  auto view = py::reinterpret_steal<py::object>(PyObject_VectorcallMethod(name, arguments, 4, nullptr));
  if (!view) throw py::error_already_set();
  return view;
}

size_t index_in(const py::handle& maker) { return maker[py::int_(1)].cast<size_t>(); }

}  // namespace

LiveSizes::LiveSizes(ShapeEnv& env, const py::handle& description) {
  if (PyCallable_Check(description.ptr())) {
    fixed_ = false;
    function_ = py::reinterpret_borrow<py::object>(description);
    return;
  }
  for (const py::handle item : description) {
    expressions_.push_back(PyLong_Check(item.ptr()) ? SymInt(item.cast<int64_t>())
                                                    : parse_sym(env, item.cast<std::string>()));
    fixed_ = fixed_ && expressions_.back().is_const();
  }
  if (!fixed_) return;
  for (const SymInt& e : expressions_) constants_.push_back(e.value());
  tuple_ = tuple_of(constants_);
}

std::vector<int64_t> LiveSizes::values(const SymBindings& symbols, const py::dict& given) const {
  if (fixed_) return constants_;
  if (function_) return function_(given).cast<std::vector<int64_t>>();
  return evaluate_sizes(expressions_, symbols, "an output");
}

bool LiveSizes::follows_from(const std::vector<bool>& known) const {
  if (function_) return false;
  for (const SymInt& e : expressions_)
    for (size_t id : free_symbols(e))
      if (id >= known.size() || !known[id]) return false;
  return true;
}

py::object LiveSizes::tuple(const SymBindings& symbols, const py::dict& given) const {
  return fixed_ ? tuple_ : tuple_of(values(symbols, given));
}

LiveOutputs::LiveOutputs(ShapeEnv& env, const py::sequence& makers, const py::sequence& strides,
                         const py::sequence& symbols) {
  for (const py::handle maker : makers) makers_.push_back(read_maker(env, maker));
  for (const py::handle s : strides) strides_.emplace_back(env, s);
  for (const py::handle s : symbols) {
    const py::object name = s[py::int_(1)];
    const auto id = std::as_const(env).symbol_id(parse_sym(env, name.cast<std::string>()));
    symbols_.push_back({s[py::int_(0)].cast<size_t>(), id ? *id : SIZE_MAX, name});
  }
  symbol_count_ = env.symbol_count();
  if (!calls_functions()) std::erase_if(symbols_, [&](const Symbol& s) { return s.id >= symbol_count_; });
  find_sizes_of_data(env);
}

bool LiveOutputs::calls_functions() const {
  return std::ranges::any_of(strides_, &LiveSizes::by_function) || std::ranges::any_of(makers_, [](const Maker& m) {
           return m.shape.by_function() || m.strides.by_function() || m.offset.by_function();
         });
}

void LiveOutputs::find_sizes_of_data(const ShapeEnv& env) {
  std::vector<bool> known(symbol_count_, false);
  for (const Symbol& s : symbols_)
    if (s.id < known.size()) known[s.id] = true;
  for (const LiveSizes& s : strides_) from_data_ |= !s.follows_from(known);
  for (const Maker& m : makers_)
    from_data_ |= !m.shape.follows_from(known) || !m.strides.follows_from(known) || !m.offset.follows_from(known);
  if (!from_data_) return;
  for (size_t id = 0; id < symbol_count_; ++id) names_.emplace_back(env.info(id).name);
}

LiveOutputs::Maker LiveOutputs::read_maker(ShapeEnv& env, const py::handle& description) {
  const auto kind = description[py::int_(0)].cast<std::string>();
  Maker maker;
  if (kind == "item") {
    maker = read_maker(env, description[py::int_(1)]);
    maker.item = true;
    return maker;
  }
  if (kind == "constant") {
    maker.kind = Kind::Constant;
    maker.constant = description[py::int_(1)];
  } else if (kind == "size") {
    maker.kind = Kind::Size;
    maker.shape = LiveSizes(env, description[py::int_(1)]);
  } else {
    maker.index = index_in(description);
    maker.kind = kind == "kept"            ? Kind::Kept
                 : kind == "input"         ? Kind::Input
                 : kind == "view of input" ? Kind::ViewOfInput
                                           : Kind::ViewOfKept;
  }
  if (maker.kind == Kind::ViewOfInput || maker.kind == Kind::ViewOfKept) {
    maker.shape = LiveSizes(env, description[py::int_(2)]);
    maker.strides = LiveSizes(env, description[py::int_(3)]);
    maker.offset = LiveSizes(env, description[py::int_(4)]);
  }
  return maker;
}

py::object LiveOutputs::make(PyObject* const* inputs, std::vector<Tensor>& kept, const SymBindings& of_data) const {
  if (kept.size() != strides_.size())
    throw_internal("the program gives " + std::to_string(kept.size()) + " results, expected " +
                   std::to_string(strides_.size()));
  SymBindings symbols;
  py::object names;
  if (!symbols_.empty() || from_data_) {
    symbols = of_data;
    symbols.resize(std::max(symbols.size(), symbol_count_));
    names = py::dict();
    for (size_t id = 0; id < std::min(names_.size(), of_data.size()); ++id)
      if (of_data[id]) names[py::str(names_[id])] = py::int_(*of_data[id]);
    for (const Symbol& s : symbols_) {
      const py::handle value(inputs[s.input]);
      const bool is_size = PyLong_Check(value.ptr());
      if (is_size && s.id < symbols.size()) symbols[s.id] = value.cast<int64_t>();
      names[s.name] = is_size ? py::reinterpret_borrow<py::object>(value) : value.attr("item")();
    }
  }
  const auto given = py::reinterpret_borrow<py::dict>(names);
  std::vector<py::object> results;
  results.reserve(kept.size());
  std::vector<const Storage*> memory;
  for (size_t i = 0; i < kept.size(); ++i) {
    const LiveSizes& strides = strides_[i];
    const bool shared = std::ranges::find(memory, kept[i].storage.get()) != memory.end();
    memory.push_back(kept[i].storage.get());
    results.push_back(
        kept_result(kept[i], strides.fixed() ? strides.constants() : strides.values(symbols, given), shared));
  }
  py::tuple outputs(makers_.size());
  for (size_t i = 0; i < makers_.size(); ++i) {
    py::object made = make_one(makers_[i], inputs, results, symbols, given);
    if (makers_[i].item) made = made.attr("item")();
    PyTuple_SET_ITEM(outputs.ptr(), static_cast<Py_ssize_t>(i), made.release().ptr());
  }
  return outputs;
}

py::object LiveOutputs::make_one(const Maker& maker, PyObject* const* inputs, const std::vector<py::object>& kept,
                                 const SymBindings& symbols, const py::dict& given) const {
  switch (maker.kind) {
    case Kind::Kept:
      return kept.at(maker.index);
    case Kind::Input:
      return py::reinterpret_borrow<py::object>(inputs[maker.index]);
    case Kind::Constant:
      return maker.constant;
    case Kind::Size:
      return py::int_(maker.shape.values(symbols, given).at(0));
    default:
      break;
  }
  PyObject* const base = maker.kind == Kind::ViewOfInput ? inputs[maker.index] : kept.at(maker.index).ptr();
  return view_of(base, maker.shape.tuple(symbols, given), maker.strides.tuple(symbols, given),
                 maker.offset.values(symbols, given).at(0));
}

}  // namespace strata
