// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An exported program made by hand: `x @ w` with x of [1, 2] and w of [2, 2].

#include <string>
#include <string_view>

#include "tests/capture/zip_writer.h"

namespace strata::testing {

inline constexpr std::string_view kTinyProgram =
    R"({"graph_module":{"graph":{"inputs":[{"as_tensor":{"name":"p_w"}},{"as_tensor":{"name":"x"}}],)"
    R"("outputs":[{"as_tensor":{"name":"mm"}}],"nodes":[{"target":"torch.ops.aten.mm.default","inputs":[)"
    R"({"name":"self","arg":{"as_tensor":{"name":"x"}},"kind":1},{"name":"mat2","arg":{"as_tensor":{"name":"p_w"}},"kind":1}],)"
    R"("outputs":[{"as_tensor":{"name":"mm"}}],"metadata":{}}],"tensor_values":{)"
    R"("x":{"dtype":7,"sizes":[{"as_int":1},{"as_int":2}],"requires_grad":false,"device":{"type":"cpu","index":null},)"
    R"("strides":[{"as_int":2},{"as_int":1}],"storage_offset":{"as_int":0},"layout":7},)"
    R"("p_w":{"dtype":7,"sizes":[{"as_int":2},{"as_int":2}],"device":{"type":"cpu"}},)"
    R"("mm":{"dtype":7,"sizes":[{"as_int":1},{"as_int":2}],"device":{"type":"cpu"}}}},)"
    R"("signature":{"input_specs":[{"parameter":{"arg":{"name":"p_w"},"parameter_name":"w"}},)"
    R"({"user_input":{"arg":{"as_tensor":{"name":"x"}}}}],"output_specs":[{"user_output":{"arg":{"as_tensor":{"name":"mm"}}}}]},)"
    R"("module_call_graph":[{"fqn":"","signature":{"inputs":[],"outputs":[],"in_spec":"[1, {\"type\": \"builtins.tuple\", )"
    R"(\"context\": \"null\", \"children_spec\": [{\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": )"
    R"([{\"type\": null, \"context\": null, \"children_spec\": []}]}, {\"type\": \"builtins.dict\", \"context\": \"[]\", )"
    R"(\"children_spec\": []}]}]","out_spec":"[1, {\"type\": null, \"context\": null, \"children_spec\": []}]",)"
    R"("forward_arg_names":["x"]}}]},"range_constraints":{},"schema_version":{"major":8,"minor":14}})";
inline constexpr std::string_view kTinyConfig =
    R"({"config":{"w":{"path_name":"weight_0","is_param":true,"use_pickle":false,"tensor_meta":{"dtype":7,)"
    R"("sizes":[{"as_int":2},{"as_int":2}],"strides":[{"as_int":2},{"as_int":1}],"storage_offset":{"as_int":0},"layout":7}}}})";

/// The archive of a program, a weights config and sample inputs; its one weight file is sixteen bytes.
inline ZipWriter tiny_zip(std::string_view program = kTinyProgram, std::string_view config = kTinyConfig,
                          std::string_view samples = {}) {
  ZipWriter zip;
  zip.add("m/archive_format", "pt2");
  zip.add("m/models/model.json", program);
  zip.add("m/data/weights/model_weights_config.json", config);
  zip.add("m/data/weights/weight_0", std::string(16, '\1'));
  zip.add("m/data/sample_inputs/model.pt", samples);
  return zip;
}

inline std::string tiny_archive(std::string_view program = kTinyProgram, std::string_view config = kTinyConfig,
                                std::string_view samples = {}) {
  return tiny_zip(program, config, samples).finish();
}

}  // namespace strata::testing
