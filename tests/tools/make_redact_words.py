#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes app/driver/redact_words.cpp: the names and words that PyTorch and Python have themselves, asked from the
PyTorch that runs this (any 2.x; newer ones know more). make_redact_words.py [OUT]"""
import ast
import builtins
import glob
import importlib
import json
import keyword
import os
import re
import sys
import textwrap

import torch

# What is in logs, traces and generated code and no list of PyTorch has.
EXTRA_NAMES = """
L G ___check_tensors ___check_obj_id ___check_type_id ___dict_contains ___tuple_iterator_len check_tensor
check_no_aliasing args kwargs self cls placeholder get_attr call_function call_method call_module output inputs
outputs primals tangents buf arg getitem forward backward inference joint captured main module lambda wrapper inner
fn bw fw c8 c32 c64 c128 b8 bf16 f8 f16 f32 f64 i1 i8 i16 i32 i64 u8 u16 u32 u64 cpu cuda meta mps xpu hpu strided
sparse_coo sparse_csr contiguous_format channels_last preserve_format Sym Eq Ne Lt Le Gt Ge Mod Max Min And Or Not
FloorDiv CleanDiv ModularIndexing Identity PythonMod Where CeilToInt FloorToInt TruncToInt ToFloat FloatTrueDiv
IntTrueDiv HxW int_oo oo xnumel ynumel rnumel XBLOCK YBLOCK RBLOCK fused poi red per tem cpp triton extern_kernels
kernel Optimizer SGD Adam AdamW zero_grad step ProfilerStep ADInplaceOrView AccumulateGrad AutocastCPU AutocastCUDA
AutogradCPU AutogradCUDA BackendSelect CPU CUDA CompiledFunction CompiledFunctionBackward DictSubclassGuardManager
GradGuardAccessor IndexedSource KeyManager KeyValueManager OpaqueUnaryFn_sqrt LambdaGuardManager Piecewise Python
PythonLambdaGuardAccessor PythonTLSSnapshot RoundToInt TensorPropertyGuardAccessor ValueManager
TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS _RecordFunction ___as_tensor ___check_global_state ___check_metadata_matches
___check_torch_function_mode_stack ___compile_config_hash ___from_numpy ___is_grad_enabled ___key_to_id
___normalize_range_iter ___odict_getitem ___range_iterator_len ___skip_backend_check __closure__ __code__
__defaults__ __func__ __import__ __kwdefaults__ __self__ _backward_pre_hooks _buffers _forward_hooks
_forward_pre_hooks _modules _parameters ac2g accessed_by aot_autograd assert_size_stride async_compile
async_cpu_to_gpu capture_scalar_outputs cell_contents check_obj_id check_type_id constant cpp_fused cpu_to_cuda
create_symbol dict_getitem dynamo ellipsis empty_strided_cpu empty_strided_cuda false foreach fwdbwd get_raw_stream
guard_manager inductor inductor_ops inductor_prims mkldnn null oneDNN onednn reinterpret_tensor resume_in root sdpa
torch_dynamo_resume_in true default Tensor Scalar Dimname dim int float bool str list dict tuple set self_dim
IntList None True False nan inf
"""
EXTRA_WORDS = """
torch pytorch dynamo inductor triton cpp cuda cudagraph cudagraphs graph graphs kernel kernels fused poi red per tem
fx aot autograd post pre grad joint forward backward inference recompile recompiles guard guards break breaks cache
hit miss bypass metrics compile compiled compilation tlparse chromium event wrapper partition provenance mapping
mappings stack trace symbolic shape shapes specialization eval latency ms us ns cpu gpu op ops user annotation
memcpy memset runtime driver fwdbwd async ac2g scheduled simplified captured functional loops code plan before after
fusion ok failed restarted skipped python function overhead kernel host device stream thread process rank world size
unknown lines line file
"""


# A word belongs to PyTorch's messages when this many of them have it: their authors write rarer ones, as owners do.
COMMON = 12


def operator_names():
    for schema in torch._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        if space in ("aten", "prims", "prim", "inductor", "c10d", "_c10d_functional", "quantized", "mkldnn"):
            yield from [name, schema.overload_name] + [a.name for a in [*schema.arguments, *schema.returns]]


def python_names():
    yield from keyword.kwlist + dir(builtins)
    for kind in (object, int, float, str, list, dict, tuple, set):
        yield from dir(kind)


def torch_names():
    modules = ["torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.special", "torch.fft",
               "torch.linalg", "math", "operator"]
    for name in modules:
        try:
            yield from dir(importlib.import_module(name))
        except ImportError:
            pass
    for kind in (torch.Tensor, torch.nn.Module, torch.optim.Optimizer, torch.nn.MultiheadAttention):
        yield from dir(kind)
    from torch._dynamo import guards
    yield from (n for n in dir(guards.GuardBuilder) if n.isupper())
    yield from (n for n in dir(torch._C._dynamo.guards) if n[0].isupper())


def texts_of(folder):
    """String literals of the compiler's sources: its messages, and the fields of its logs."""
    for path in glob.glob(os.path.join(os.path.dirname(torch.__file__), folder, "**", "*.py"), recursive=True):
        with open(path, encoding="utf-8") as file:
            for node in ast.walk(ast.parse(file.read())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 400:
                    yield node.value


def message_words():
    registry = os.path.join(os.path.dirname(torch.__file__), "_dynamo", "graph_break_registry.json")
    if os.path.exists(registry):
        with open(registry) as file:
            yield from re.findall(r"[A-Za-z]+", json.dumps(json.load(file)))
    counts = {}
    for folder in ("_dynamo", "_functorch"):
        for text in texts_of(folder):
            for word in set(re.findall(r"[A-Za-z]+", text)):
                counts[word.lower()] = counts.get(word.lower(), 0) + 1
    yield from (word for word, n in counts.items() if n >= COMMON)


def own_words():
    """Stages, kinds and messages of Strata's importers."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    for pattern in ("capture/import/*.cpp", "capture/inductor/*.cpp", "capture/kineto/*.cpp",
                    "capture/torch_graph/*.cpp", "capture/torch_trace/*.cpp", "profiler/ranks*.cpp",
                    "profiler/correlate*.cpp"):
        for path in glob.glob(os.path.join(root, pattern)):
            with open(path) as file:
                for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', file.read()):
                    yield from re.findall(r"[A-Za-z]{3,}", text)


def is_plain(name):
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name.startswith("__import"):
        return False
    return name in ("L", "G") or 1 < len(name) < 64


def literal(words):
    lines = textwrap.wrap(" ".join(sorted(words)), 112, break_long_words=False, break_on_hyphens=False)
    return "\n".join('    "%s%s"' % (line, " " if i + 1 < len(lines) else "") for i, line in enumerate(lines)) + ";\n"


def main():
    names = {n for n in [*operator_names(), *python_names(), *torch_names(), *EXTRA_NAMES.split()] if is_plain(n)}
    words = {w.lower() for w in [*message_words(), *own_words(), *EXTRA_WORDS.split()]}
    # Pieces of names: `native_batch_norm`.
    words |= {p.lower() for n in names for p in re.split(r"_+|(?<=[a-z0-9])(?=[A-Z])", n) if p}
    words = {w for w in words if re.fullmatch(r"[a-z][a-z0-9]{0,30}", w)}
    default = os.path.join(os.path.dirname(__file__), "..", "..", "app", "driver", "redact_words.cpp")
    with open(sys.argv[1] if len(sys.argv) > 1 else default, "w") as out:
        out.write("// Copyright 2026 The Strata Authors\n// SPDX-License-Identifier: Apache-2.0\n"
                  "// Made by tests/tools/make_redact_words.py with PyTorch %s.\n" % torch.__version__.split("+")[0] +
                  '#include "app/driver/redact_words.h"\n\nnamespace strata {\n\n// clang-format off\n\n'
                  "const char* const kPublicNames =\n" + literal(names) +
                  "\nconst char* const kPublicWords =\n" + literal(words) +
                  "\n// clang-format on\n\n}  // namespace strata\n")


main()
