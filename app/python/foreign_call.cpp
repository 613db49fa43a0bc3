// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/foreign_call.h"

#include "app/python/tensor_exchange.h"
#include "core/ir/foreign.h"
#include "core/support/error.h"

namespace py = pybind11;

namespace strata {
namespace {

/// Arguments of a node as Python's, with the operands' values.
class Arguments {
 public:
  explicit Arguments(const RefContext& context) : context_(context) {}

  py::tuple positional() const {
    const auto& args = context_.call.node().args;
    py::tuple result(args.size());
    for (size_t i = 0; i < args.size(); ++i) result[i] = object(args[i]);
    return result;
  }

  py::dict keywords() const {
    py::dict result;
    for (const auto& [name, value] : context_.call.node().kwargs) result[py::str(name)] = object(value);
    return result;
  }

 private:
  py::object object(const Argument& argument) const {
    return std::visit([this](const auto& value) { return convert(value); }, argument.value);
  }

  py::object convert(const NoneArg&) const { return py::none(); }
  py::object convert(Node* node) const { return value(context_.value_of(node)); }
  py::object convert(bool v) const { return py::bool_(v); }
  py::object convert(int64_t v) const { return py::int_(v); }
  py::object convert(double v) const { return py::float_(v); }
  py::object convert(const std::complex<double>& v) const { return py::cast(v); }
  py::object convert(const std::string& v) const { return py::str(v); }
  py::object convert(const SymInt& v) const { return py::int_(context_.eval(v)); }
  py::object convert(DType v) const { return dtype_to_torch(v); }
  py::object convert(const DeviceArg& v) const { return torch("device")(v.name); }
  py::object convert(const EnumArg& v) const { return torch(v.name.substr(v.name.find('.') + 1).c_str()); }
  py::object convert(const EllipsisArg&) const { return py::ellipsis(); }
  py::object convert(const ListArg& list) const {
    py::list items;
    for (const Argument& item : list.items) items.append(object(item));
    return list.kind == ListArg::Kind::List ? py::object(items) : py::object(py::tuple(items));
  }
  template <class Other>
  py::object convert(const Other&) const {
    throw_user("an argument of " + context_.call.op().name + " is of a kind that cannot be handed to PyTorch");
  }

  static py::object value(const RefValue& v) {
    if (const auto* tensor = std::get_if<Tensor>(&v.value)) return to_torch(*tensor);
    if (const auto* i = std::get_if<int64_t>(&v.value)) return py::int_(*i);
    if (const auto* d = std::get_if<double>(&v.value)) return py::float_(*d);
    if (const auto* b = std::get_if<bool>(&v.value)) return py::bool_(*b);
    if (const auto* list = std::get_if<std::vector<RefValue>>(&v.value)) {
      py::list items;
      for (const RefValue& item : *list) items.append(value(item));
      return py::object(items);
    }
    return py::none();
  }

  static py::object torch(const char* name) { return py::module_::import("torch").attr(name); }

  const RefContext& context_;
};

/// Views PyTorch's memory and keeps it alive; may be dropped on any thread.
Tensor owned(const py::object& object, const std::string& what) {
  Tensor tensor = view_of_torch(object, what);
  tensor.storage->owner = std::shared_ptr<const void>(object.inc_ref().ptr(), [](const void* held) {
    const py::gil_scoped_acquire gil;
    py::handle(static_cast<PyObject*>(const_cast<void*>(held))).dec_ref();
  });
  return tensor;
}

RefValue result_of(const py::object& object, const std::string& what) {
  if (py::isinstance<py::tuple>(object) || py::isinstance<py::list>(object)) {
    std::vector<RefValue> parts;
    for (const py::handle part : object) parts.push_back(result_of(py::reinterpret_borrow<py::object>(part), what));
    return parts;
  }
  if (PyBool_Check(object.ptr())) return object.cast<bool>();
  if (PyLong_Check(object.ptr())) return object.cast<int64_t>();
  if (PyFloat_Check(object.ptr())) return object.cast<double>();
  return object.is_none() ? RefValue() : RefValue(owned(object, what));
}

/// Never freed: calls may come until the process ends.
py::object& caller() {
  static auto* function = new py::object;
  return *function;
}

RefValue call_python(const RefContext& c) {
  const py::gil_scoped_acquire gil;
  const Arguments arguments(c);
  return result_of(caller()(*arguments.positional()), "the result of " + c.call.op().name);
}

}  // namespace

void set_opaque_caller(const py::object& function) { caller() = function; }

const OpDef* opaque_row(const py::object& target) {
  const auto schema = target.attr("strata_schema").cast<std::string>();
  const bool effect = target.attr("effect").cast<bool>();
  return add_foreign_op(schema, effect, &call_python, effect);
}

const OpDef* torch_op(const py::object& overload) {
  const std::string name = py::str(overload);
  if (const OpDef* known = find_foreign_op(name)) return known;
  py::list tags = py::list(overload.attr("tags"));
  bool random = false;
  for (const py::handle tag : tags) random |= std::string(py::str(tag)).find("nondeterministic") != std::string::npos;
  // Never freed: calls may come until the process ends.
  const auto* callable = new py::object(overload);
  try {
    return add_foreign_op(
        std::string(py::str(overload.attr("_schema"))), random, [callable, name](const RefContext& c) {
          const py::gil_scoped_acquire gil;
          const Arguments arguments(c);
          return result_of((*callable)(*arguments.positional(), **arguments.keywords()), "the result of " + name);
        });
  } catch (const Error&) {
    delete callable;
    return nullptr;
  }
}

}  // namespace strata
