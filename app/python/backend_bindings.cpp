// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/backend_bindings.h"

#include <pybind11/stl.h>

#include <map>
#include <set>
#include <string>

#include "app/driver/compile.h"
#include "app/explain/explain.h"
#include "app/python/graph_picture.h"
#include "capture/torch_text/break_reason.h"

namespace py = pybind11;

namespace strata {
namespace {

void check_options(const std::string& backend, const std::string& mode, const std::set<std::string>& disabled) {
  CompileRequest request;
  request.backend = backend;
  request.mode = mode;
  request.disabled_passes = disabled;
  check_request(request);
}

py::list backend_rows() {
  py::list rows;
  for (const BackendInfo& b : backends()) rows.append(py::make_tuple(b.name, b.doc, b.available, b.why_not));
  return rows;
}

/// PyTorch's account of a break, in parts, with what to do about it.
py::dict graph_break(const std::string& text) {
  const capture::GraphBreakText parsed = capture::parse_graph_break(text);
  py::dict result;
  result["reason"] = parsed.reason;
  result["explanation"] = parsed.explanation;
  result["hints"] = parsed.hints;
  result["advice"] = break_advice(parsed.kind, parsed.reason, parsed.explanation);
  return result;
}

}  // namespace

void bind_backends(py::module_& module) {
  module.def("check_options", &check_options);
  module.def("backend_rows", &backend_rows);
  module.def("graph_break", &graph_break);
  module.def("svg_of_fx", &svg_of_fx);
}

}  // namespace strata
