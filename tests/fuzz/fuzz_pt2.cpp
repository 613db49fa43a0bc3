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
#include "tests/capture/tiny_program.h"

namespace {

using namespace strata;

using testing::kTinyConfig, testing::kTinyProgram, testing::tiny_archive;

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
      return load(tiny_archive(data, kTinyConfig, ""));
    case 1:
      return load(tiny_archive(kTinyProgram, data, ""));
    case 2:
      return load(tiny_archive(kTinyProgram, kTinyConfig, data));
    case 3:
      return load(tiny_archive(kTinyProgram, kTinyConfig, sample_file(data)));
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
