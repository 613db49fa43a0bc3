// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// libFuzzer harness of the readers of exported programs and tensor files. The first byte says what the rest is, so
/// that mutations reach behind the zip directory: a whole archive, a program inside of a good archive, a weights
/// config, sample inputs, .npy, .safetensors. Only user and runtime Errors may come out.

#include <string>

#include "capture/pt2.h"
#include "capture/torch_save.h"
#include "capture/zip.h"
#include "core/runtime/npy.h"
#include "core/runtime/safetensors.h"
#include "core/support/error.h"
#include "tests/capture/zip_writer.h"

namespace {

using namespace strata;

constexpr std::string_view kProgram =
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
constexpr std::string_view kConfig =
    R"({"config":{"w":{"path_name":"weight_0","is_param":true,"use_pickle":false,"tensor_meta":{"dtype":7,)"
    R"("sizes":[{"as_int":2},{"as_int":2}],"strides":[{"as_int":2},{"as_int":1}],"storage_offset":{"as_int":0},"layout":7}}}})";

std::string archive(std::string_view program, std::string_view config, std::string_view samples) {
  testing::ZipWriter zip;
  zip.add("m/archive_format", "pt2");
  zip.add("m/models/model.json", program);
  zip.add("m/data/weights/model_weights_config.json", config);
  zip.add("m/data/weights/weight_0", std::string(16, '\1'));
  zip.add("m/data/sample_inputs/model.pt", samples);
  return zip.finish();
}

std::string sample_file(std::string_view pickle) {
  testing::ZipWriter zip;
  zip.add("archive/data.pkl", pickle);
  zip.add("archive/data/0", std::string(16, '\2'));
  return zip.finish();
}

void read_all(const Tensor& tensor) {
  if (tensor.numel() < 100'000) tensor.contiguous();
}

void load(std::string_view bytes) {
  const Program program = load_pt2_bytes(testing::as_bytes(bytes), "fuzz");
  for (const auto& [name, tensor] : program.state) read_all(tensor);
  for (const Tensor& tensor : program.sample_inputs) read_all(tensor);
  check_inputs(program, program.sample_inputs);
  require_supported_operators(program.graph);
}

void dispatch(uint8_t kind, std::string_view data) {
  switch (kind % 7) {
    case 0:
      return load(archive(data, kConfig, ""));
    case 1:
      return load(archive(kProgram, data, ""));
    case 2:
      return load(archive(kProgram, kConfig, data));
    case 3:
      return load(archive(kProgram, kConfig, sample_file(data)));
    case 4: {
      const auto safetensors = parse_safetensors(copy_bytes(testing::as_bytes(data)), "fuzz");
      for (const auto& [name, tensor] : safetensors.tensors) read_all(tensor);
      return;
    }
    case 5:
      return read_all(parse_npy(testing::as_bytes(data), "fuzz"));
    default:
      return load(data);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  try {
    dispatch(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const strata::Error& error) {
    if (error.kind() == strata::ErrorKind::Internal) __builtin_trap();
  }
  return 0;
}
