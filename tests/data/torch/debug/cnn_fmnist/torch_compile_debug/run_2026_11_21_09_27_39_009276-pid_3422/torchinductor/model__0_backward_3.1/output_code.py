# AOT ID: ['0_backward']
from ctypes import c_void_p, c_long, c_int
import torch
import math
import random
import os
import tempfile
from math import inf, nan
from cmath import nanj
from torch._inductor.hooks import run_intermediate_hooks
from torch._inductor.utils import maybe_profile
from torch._inductor.codegen.memory_planning import _align as align
from torch import device, empty_strided
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels
import triton
import triton.language as tl
from torch._inductor.runtime.triton_heuristics import start_graph, end_graph
from torch._C import _cuda_getCurrentRawStream as get_raw_stream

aten = torch.ops.aten
inductor_ops = torch.ops.inductor
_quantized = torch.ops._quantized
assert_size_stride = torch._C._dynamo.guards.assert_size_stride
assert_alignment = torch._C._dynamo.guards.assert_alignment
empty_strided_cpu = torch._C._dynamo.guards._empty_strided_cpu
empty_strided_cpu_pinned = torch._C._dynamo.guards._empty_strided_cpu_pinned
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
empty_strided_xpu = torch._C._dynamo.guards._empty_strided_xpu
empty_strided_mtia = torch._C._dynamo.guards._empty_strided_mtia
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
alloc_from_pool = torch.ops.inductor._alloc_from_pool
async_compile = AsyncCompile()
empty_strided_p2p = torch._C._distributed_c10d._SymmetricMemory.empty_strided_p2p


# kernel path: /tmp/torchinductor_user/debugdir_cnn_fmnist/s4/cs4d6g5mgl2c7dzgi2gsknw6eojhlh3yjxur5c6q2znn4qz7jwt5.py
# Topologically Sorted Source Nodes: [convert_element_type, mul_2, clone, sum_3], Original ATen: [aten.native_dropout_backward, aten.sum]
# Source node to ATen node mapping:
#   clone => mul_3
#   convert_element_type => convert_element_type
#   mul_2 => mul_2
#   sum_3 => sum_3
# Graph fragment:
#   %mm_2 : Tensor "f32[64, 600][600, 1]cuda:0" = PlaceHolder[target=mm_2]
#   %gt : Tensor "b8[64, 600][600, 1]cuda:0" = PlaceHolder[target=gt]
#   %mul_3 : Tensor "f32[64, 600][600, 1]cuda:0" = PlaceHolder[target=mul_3]
#   %convert_element_type : Tensor "f32[64, 600][600, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.prims.convert_element_type.default](args = (%gt, torch.float32), kwargs = {})
#   %mul_2 : Tensor "f32[64, 600][600, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%convert_element_type, 1.3333333333333333), kwargs = {})
#   %mul_3 : Tensor "f32[64, 600][600, 1]cuda:0"[num_users=3] = call_function[target=torch.ops.aten.mul.Tensor](args = (%mm_2, %mul_2), kwargs = {})
#   %sum_3 : Tensor "f32[1, 600][600, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%mul_3, [0], True), kwargs = {})
#   return %mul_3,%sum_3
triton_per_fused_native_dropout_backward_sum_0 = async_compile.triton('triton_per_fused_native_dropout_backward_sum_0', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.persistent_reduction(
    size_hints={'x': 1024, 'r0_': 64},
    reduction_hint=ReductionHint.OUTER,
    filename=__file__,
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'in_ptr0': '*i1', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32', 'XBLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (4,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(), 'kernel_name': 'triton_per_fused_native_dropout_backward_sum_0', 'mutated_arg_names': ['in_out_ptr0'], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 2, 'num_store': 2, 'num_reduction': 1, 'backend_hash': '91D1D1166449D9E2EB66EB9770C9E2C3B0FEB787341F27FEB4D3F0338DA50336', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': False, 'dynamic_scale_rblock': True, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': False, 'are_deterministic_algorithms_enabled': False, 'tiling_scores': {'x': 504000, 'r0_': 0}}
)
@triton.jit
def triton_per_fused_native_dropout_backward_sum_0(in_out_ptr0, in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 600
    r0_numel = 64
    R0_BLOCK: tl.constexpr = 64
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_offset = 0
    r0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, :]
    roffset = r0_offset
    rindex = r0_index
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_out_ptr0 + (x0 + 600*r0_1), xmask, other=0.0)
    tmp1 = tl.load(in_ptr0 + (x0 + 600*r0_1), xmask, other=0.0).to(tl.int1)
    tmp2 = tmp1.to(tl.float32)
    tmp3 = tl.full([1, 1], 1.3333333333333333, tl.float32)
    tmp4 = tmp2 * tmp3
    tmp5 = tmp0 * tmp4
    tmp6 = tl.broadcast_to(tmp5, [XBLOCK, R0_BLOCK])
    tmp8 = tl.where(xmask, tmp6, 0)
    tmp9 = tl.sum(tmp8, 1)[:, None].to(tl.float32)
    tl.store(in_out_ptr0 + (x0 + 600*r0_1), tmp5, xmask)
    tl.store(out_ptr0 + (x0), tmp9, xmask)
''', device_str='cuda')


# kernel path: /tmp/torchinductor_user/debugdir_cnn_fmnist/2c/c2cm55lgoentc7t4orxcxvyqlckkbubh2k67a3lzwbugz3c4cdjy.py
# Topologically Sorted Source Nodes: [view_4, input_6, max_pool2d_with_indices_backward, le, scalar_tensor, where], Original ATen: [aten.view, aten.max_pool2d_with_indices, aten.max_pool2d_with_indices_backward, aten.threshold_backward]
# Source node to ATen node mapping:
#   input_6 => _low_memory_max_pool_offsets_to_indices_1
#   le => le
#   max_pool2d_with_indices_backward => max_pool2d_with_indices_backward
#   scalar_tensor => full_default
#   view_4 => view_4
#   where => where
# Graph fragment:
#   %relu_1 : Tensor "f32[64, 64, 12, 12][9216, 144, 12, 1]cuda:0" = PlaceHolder[target=relu_1]
#   %getitem_3 : Tensor "i8[64, 64, 6, 6][2304, 36, 6, 1]cuda:0" = PlaceHolder[target=getitem_3]
#   %mm_4 : Tensor "f32[64, 2304][2304, 1]cuda:0" = PlaceHolder[target=mm_4]
#   %view_4 : Tensor "f32[64, 64, 6, 6][2304, 36, 6, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%mm_4, [64, 64, 6, 6]), kwargs = {})
#   %_low_memory_max_pool_offsets_to_indices_1 : Tensor "i64[64, 64, 6, 6][2304, 36, 6, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.prims._low_memory_max_pool_offsets_to_indices.default](args = (%getitem_3, [2, 2], [12, 12], [2, 2], [0, 0], [1, 1]), kwargs = {})
#   %max_pool2d_with_indices_backward : Tensor "f32[64, 64, 12, 12][9216, 144, 12, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.max_pool2d_with_indices_backward.default](args = (%view_4, %relu_1, [2, 2], [2, 2], [0, 0], [1, 1], False, %_low_memory_max_pool_offsets_to_indices_1), kwargs = {})
#   %le : Tensor "b8[64, 64, 12, 12][9216, 144, 12, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.le.Scalar](args = (%relu_1, 0), kwargs = {})
#   %full_default : Tensor "f32[][]cuda:0"[num_users=2] = call_function[target=torch.ops.aten.full.default](args = ([], 0.0), kwargs = {dtype: torch.float32, layout: torch.strided, device: cuda:0, pin_memory: False})
#   %where : Tensor "f32[64, 64, 12, 12][9216, 144, 12, 1]cuda:0"[num_users=2] = call_function[target=torch.ops.aten.where.self](args = (%le, %full_default, %max_pool2d_with_indices_backward), kwargs = {})
#   return %where
triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_view_1 = async_compile.triton('triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_view_1', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.pointwise(
    size_hints={'y': 65536, 'x': 16}, tile_hint=TileHint.DEFAULT,
    filename=__file__,
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'in_ptr0': '*i8', 'in_ptr1': '*fp32', 'ynumel': 'i32', 'xnumel': 'i32', 'YBLOCK': 'constexpr', 'XBLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid2D', 'autotune_hints': set(), 'kernel_name': 'triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_view_1', 'mutated_arg_names': ['in_out_ptr0'], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 3, 'num_store': 1, 'num_reduction': 0, 'backend_hash': '91D1D1166449D9E2EB66EB9770C9E2C3B0FEB787341F27FEB4D3F0338DA50336', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': False, 'dynamic_scale_rblock': True, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': False, 'are_deterministic_algorithms_enabled': False, 'tiling_scores': {'y': 737280, 'x': 7077888}},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_view_1(in_out_ptr0, in_ptr0, in_ptr1, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 49152
    xnumel = 12
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = tl.full([YBLOCK], True, tl.int1)[:, None]
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    x2 = xindex
    y3 = yindex
    y0 = (yindex % 12)
    y1 = yindex // 12
    tmp0 = tl.load(in_out_ptr0 + (x2 + 12*y3), xmask, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr0 + (6*((y0 // 2) * ((y0 // 2) <= ((-1) + ((6) * ((6) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (6))))) + ((-1) + ((6) * ((6) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (6)))) * (((-1) + ((6) * ((6) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (6)))) < (y0 // 2))) + 36*y1 + ((x2 // 2) * ((x2 // 2) <= ((-1) + ((6) * ((6) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (6))))) + ((-1) + ((6) * ((6) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (6)))) * (((-1) + ((6) * ((6) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (6)))) < (x2 // 2)))), xmask, eviction_policy='evict_last')
    tmp9 = tl.load(in_ptr1 + (6*((y0 // 2) * ((y0 // 2) <= ((-1) + ((6) * ((6) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (6))))) + ((-1) + ((6) * ((6) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (6)))) * (((-1) + ((6) * ((6) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (6)))) < (y0 // 2))) + 36*y1 + ((x2 // 2) * ((x2 // 2) <= ((-1) + ((6) * ((6) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (6))))) + ((-1) + ((6) * ((6) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (6)))) * (((-1) + ((6) * ((6) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (6)))) < (x2 // 2)))), xmask, eviction_policy='evict_last')
    tmp1 = tl.full([1, 1], 0.0, tl.float32)
    tmp2 = tmp0 <= tmp1
    tmp4 = tl.full([1, 1], 4, tl.int32)
    tmp5 = tmp3 + tmp4
    tmp6 = tmp3 < 0
    tmp7 = tl.where(tmp6, tmp5, tmp3)
    tl.device_assert(((0 <= tmp7) & (tmp7 < 4)) | ~(xmask), "index out of bounds: 0 <= tmp7 < 4")
    tmp10 = tmp7 + 2*((x2 // 2) * ((x2 // 2) <= ((-1) + ((6) * ((6) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (6))))) + ((-1) + ((6) * ((6) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (6)))) * (((-1) + ((6) * ((6) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (6)))) < (x2 // 2))) + 10*(tmp7 // 2) + 24*((y0 // 2) * ((y0 // 2) <= ((-1) + ((6) * ((6) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (6))))) + ((-1) + ((6) * ((6) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (6)))) * (((-1) + ((6) * ((6) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (6)))) < (y0 // 2)))
    tmp11 = x2 + 12*y0
    tmp12 = tmp10 == tmp11
    tmp13 = tl.where(tmp12, tmp9, tmp1)
    tmp14 = tl.where(tmp2, tmp1, tmp13)
    tl.debug_barrier()
    tl.store(in_out_ptr0 + (x2 + 12*y3), tmp14, xmask)
''', device_str='cuda')


# kernel path: /tmp/torchinductor_user/debugdir_cnn_fmnist/ta/ctatgv6erfn4pwlnub4tjvyxglx6kpbmsry5rfxnwhrq3iu2kbvf.py
# Topologically Sorted Source Nodes: [scalar_tensor, input_3, max_pool2d_with_indices_backward_1, le_1, where_1], Original ATen: [aten.threshold_backward, aten.max_pool2d_with_indices, aten.max_pool2d_with_indices_backward]
# Source node to ATen node mapping:
#   input_3 => _low_memory_max_pool_offsets_to_indices
#   le_1 => le_1
#   max_pool2d_with_indices_backward_1 => max_pool2d_with_indices_backward_1
#   scalar_tensor => full_default
#   where_1 => where_1
# Graph fragment:
#   %relu : Tensor "f32[64, 32, 28, 28][25088, 784, 28, 1]cuda:0" = PlaceHolder[target=relu]
#   %getitem_1 : Tensor "i8[64, 32, 14, 14][6272, 196, 14, 1]cuda:0" = PlaceHolder[target=getitem_1]
#   %getitem_4 : Tensor "f32[64, 32, 14, 14][6272, 196, 14, 1]cuda:0" = PlaceHolder[target=getitem_4]
#   %full_default : Tensor "f32[][]cuda:0"[num_users=2] = call_function[target=torch.ops.aten.full.default](args = ([], 0.0), kwargs = {dtype: torch.float32, layout: torch.strided, device: cuda:0, pin_memory: False})
#   %_low_memory_max_pool_offsets_to_indices : Tensor "i64[64, 32, 14, 14][6272, 196, 14, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.prims._low_memory_max_pool_offsets_to_indices.default](args = (%getitem_1, [2, 2], [28, 28], [2, 2], [0, 0], [1, 1]), kwargs = {})
#   %max_pool2d_with_indices_backward_1 : Tensor "f32[64, 32, 28, 28][25088, 784, 28, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.max_pool2d_with_indices_backward.default](args = (%getitem_4, %relu, [2, 2], [2, 2], [0, 0], [1, 1], False, %_low_memory_max_pool_offsets_to_indices), kwargs = {})
#   %le_1 : Tensor "b8[64, 32, 28, 28][25088, 784, 28, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.le.Scalar](args = (%relu, 0), kwargs = {})
#   %where_1 : Tensor "f32[64, 32, 28, 28][25088, 784, 28, 1]cuda:0"[num_users=2] = call_function[target=torch.ops.aten.where.self](args = (%le_1, %full_default, %max_pool2d_with_indices_backward_1), kwargs = {})
#   return %where_1
triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_2 = async_compile.triton('triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_2', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.pointwise(
    size_hints={'y': 65536, 'x': 32}, tile_hint=TileHint.DEFAULT,
    filename=__file__,
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'in_ptr0': '*i8', 'in_ptr1': '*fp32', 'ynumel': 'i32', 'xnumel': 'i32', 'YBLOCK': 'constexpr', 'XBLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid2D', 'autotune_hints': set(), 'kernel_name': 'triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_2', 'mutated_arg_names': ['in_out_ptr0'], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 3, 'num_store': 1, 'num_reduction': 0, 'backend_hash': '91D1D1166449D9E2EB66EB9770C9E2C3B0FEB787341F27FEB4D3F0338DA50336', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': False, 'dynamic_scale_rblock': True, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': False, 'are_deterministic_algorithms_enabled': False, 'tiling_scores': {'y': 2007040, 'x': 19267584}},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_2(in_out_ptr0, in_ptr0, in_ptr1, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 57344
    xnumel = 28
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = tl.full([YBLOCK], True, tl.int1)[:, None]
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    x2 = xindex
    y3 = yindex
    y0 = (yindex % 28)
    y1 = yindex // 28
    tmp0 = tl.load(in_out_ptr0 + (x2 + 28*y3), xmask, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr0 + (14*((y0 // 2) * ((y0 // 2) <= ((-1) + ((14) * ((14) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (14))))) + ((-1) + ((14) * ((14) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (14)))) * (((-1) + ((14) * ((14) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (14)))) < (y0 // 2))) + 196*y1 + ((x2 // 2) * ((x2 // 2) <= ((-1) + ((14) * ((14) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (14))))) + ((-1) + ((14) * ((14) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (14)))) * (((-1) + ((14) * ((14) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (14)))) < (x2 // 2)))), xmask, eviction_policy='evict_last')
    tmp9 = tl.load(in_ptr1 + (14*((y0 // 2) * ((y0 // 2) <= ((-1) + ((14) * ((14) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (14))))) + ((-1) + ((14) * ((14) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (14)))) * (((-1) + ((14) * ((14) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (14)))) < (y0 // 2))) + 196*y1 + ((x2 // 2) * ((x2 // 2) <= ((-1) + ((14) * ((14) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (14))))) + ((-1) + ((14) * ((14) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (14)))) * (((-1) + ((14) * ((14) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (14)))) < (x2 // 2)))), xmask, eviction_policy='evict_last')
    tmp1 = tl.full([1, 1], 0.0, tl.float32)
    tmp2 = tmp0 <= tmp1
    tmp4 = tl.full([1, 1], 4, tl.int32)
    tmp5 = tmp3 + tmp4
    tmp6 = tmp3 < 0
    tmp7 = tl.where(tmp6, tmp5, tmp3)
    tl.device_assert(((0 <= tmp7) & (tmp7 < 4)) | ~(xmask), "index out of bounds: 0 <= tmp7 < 4")
    tmp10 = tmp7 + 2*((x2 // 2) * ((x2 // 2) <= ((-1) + ((14) * ((14) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (14))))) + ((-1) + ((14) * ((14) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (14)))) * (((-1) + ((14) * ((14) <= (1 + (x2 // 2))) + (1 + (x2 // 2)) * ((1 + (x2 // 2)) < (14)))) < (x2 // 2))) + 26*(tmp7 // 2) + 56*((y0 // 2) * ((y0 // 2) <= ((-1) + ((14) * ((14) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (14))))) + ((-1) + ((14) * ((14) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (14)))) * (((-1) + ((14) * ((14) <= (1 + (y0 // 2))) + (1 + (y0 // 2)) * ((1 + (y0 // 2)) < (14)))) < (y0 // 2)))
    tmp11 = x2 + 28*y0
    tmp12 = tmp10 == tmp11
    tmp13 = tl.where(tmp12, tmp9, tmp1)
    tmp14 = tl.where(tmp2, tmp1, tmp13)
    tl.debug_barrier()
    tl.store(in_out_ptr0 + (x2 + 28*y3), tmp14, xmask)
''', device_str='cuda')


# kernel path: /tmp/torchinductor_user/debugdir_cnn_fmnist/2v/c2vqflzdkkk5ppe2kvwcwnqtov6eunrlgxdycc2k6mu4pvo7mdoh.py
# Topologically Sorted Source Nodes: [sum_1], Original ATen: [aten.sum]
# Source node to ATen node mapping:
#   sum_1 => sum_1
# Graph fragment:
#   %tangents_1 : Tensor "f32[64, 10][10, 1]cuda:0" = PlaceHolder[target=tangents_1]
#   %sum_1 : Tensor "f32[1, 10][10, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%tangents_1, [0], True), kwargs = {})
#   return %sum_1
triton_per_fused_sum_3 = async_compile.triton('triton_per_fused_sum_3', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.persistent_reduction(
    size_hints={'x': 16, 'r0_': 64},
    reduction_hint=ReductionHint.OUTER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32', 'XBLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(), 'kernel_name': 'triton_per_fused_sum_3', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 1, 'backend_hash': '91D1D1166449D9E2EB66EB9770C9E2C3B0FEB787341F27FEB4D3F0338DA50336', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': False, 'dynamic_scale_rblock': True, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': False, 'are_deterministic_algorithms_enabled': False, 'tiling_scores': {'x': 2640, 'r0_': 0}}
)
@triton.jit
def triton_per_fused_sum_3(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 10
    r0_numel = 64
    R0_BLOCK: tl.constexpr = 64
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_offset = 0
    r0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, :]
    roffset = r0_offset
    rindex = r0_index
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 10*r0_1), xmask, other=0.0)
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
    tmp3 = tl.where(xmask, tmp1, 0)
    tmp4 = tl.sum(tmp3, 1)[:, None].to(tl.float32)
    tl.store(out_ptr0 + (x0), tmp4, xmask)
''', device_str='cuda')


# kernel path: /tmp/torchinductor_user/debugdir_cnn_fmnist/go/cgonnwxvp7uzbgddk2qdsmgb6e32ewgisk3ggy7p54cakn73e3ja.py
# Topologically Sorted Source Nodes: [sum_4], Original ATen: [aten.convolution_backward]
# Source node to ATen node mapping:
#   sum_4 => sum_4
# Graph fragment:
#   %where : Tensor "f32[64, 64, 12, 12][9216, 144, 12, 1]cuda:0" = PlaceHolder[target=where]
#   %sum_4 : Tensor "f32[64][1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%where, [0, 2, 3]), kwargs = {})
#   return %buf11
triton_red_fused_convolution_backward_4 = async_compile.triton('triton_red_fused_convolution_backward_4', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.reduction(
    size_hints={'x': 128, 'r0_': 8192},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32', 'XBLOCK': 'constexpr', 'R0_BLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(), 'kernel_name': 'triton_red_fused_convolution_backward_4', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 1, 'backend_hash': '91D1D1166449D9E2EB66EB9770C9E2C3B0FEB787341F27FEB4D3F0338DA50336', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': False, 'dynamic_scale_rblock': True, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': False, 'are_deterministic_algorithms_enabled': False, 'tiling_scores': {'x': 1024, 'r0_': 2359296}}
)
@triton.jit
def triton_red_fused_convolution_backward_4(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    xnumel = 128
    r0_numel = 4608
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    rbase = r0_base
    x0 = (xindex % 64)
    x1 = xindex // 64
    _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    x3 = xindex
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_2 = r0_index
        tmp0 = tl.load(in_ptr0 + (144*x0 + 9216*(r0_2 // 144) + 294912*x1 + ((r0_2 % 144))), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        tmp3 = _tmp2 + tmp1
        _tmp2 = tl.where(r0_mask & xmask, tmp3, _tmp2)
    tmp2 = tl.sum(_tmp2, 1)[:, None]
    tl.store(out_ptr0 + (x3), tmp2, xmask)
''', device_str='cuda')


# kernel path: /tmp/torchinductor_user/debugdir_cnn_fmnist/ag/caglnll2uvhwq5fgsxta5g3qcn5yqobp72gcqjicebozwidry5sd.py
# Topologically Sorted Source Nodes: [sum_4], Original ATen: [aten.convolution_backward]
# Source node to ATen node mapping:
#   sum_4 => sum_4
# Graph fragment:
#   %buf11 : Tensor "f32[64, 2][1, 64]cuda:0" = PlaceHolder[target=buf11]
#   %sum_4 : Tensor "f32[64][1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%where, [0, 2, 3]), kwargs = {})
#   return %sum_4
triton_per_fused_convolution_backward_5 = async_compile.triton('triton_per_fused_convolution_backward_5', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.persistent_reduction(
    size_hints={'x': 64, 'r0_': 2},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32', 'XBLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(), 'kernel_name': 'triton_per_fused_convolution_backward_5', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 1, 'backend_hash': '91D1D1166449D9E2EB66EB9770C9E2C3B0FEB787341F27FEB4D3F0338DA50336', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': False, 'dynamic_scale_rblock': True, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': False, 'are_deterministic_algorithms_enabled': False, 'tiling_scores': {'x': 1024, 'r0_': 0}}
)
@triton.jit
def triton_per_fused_convolution_backward_5(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 64
    r0_numel = 2
    R0_BLOCK: tl.constexpr = 2
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_offset = 0
    r0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, :]
    roffset = r0_offset
    rindex = r0_index
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 64*r0_1), xmask, other=0.0)
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
    tmp3 = tl.where(xmask, tmp1, 0)
    tmp4 = tl.sum(tmp3, 1)[:, None].to(tl.float32)
    tl.store(out_ptr0 + (x0), tmp4, xmask)
''', device_str='cuda')


# kernel path: /tmp/torchinductor_user/debugdir_cnn_fmnist/ae/caeagyysiyjvistw2wo4n6nalgdxraymrgba5wpxkgoxnjk2otal.py
# Topologically Sorted Source Nodes: [sum_5], Original ATen: [aten.convolution_backward]
# Source node to ATen node mapping:
#   sum_5 => sum_5
# Graph fragment:
#   %where_1 : Tensor "f32[64, 32, 28, 28][25088, 784, 28, 1]cuda:0" = PlaceHolder[target=where_1]
#   %sum_5 : Tensor "f32[32][1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%where_1, [0, 2, 3]), kwargs = {})
#   return %buf17
triton_red_fused_convolution_backward_6 = async_compile.triton('triton_red_fused_convolution_backward_6', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.reduction(
    size_hints={'x': 256, 'r0_': 8192},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32', 'XBLOCK': 'constexpr', 'R0_BLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(), 'kernel_name': 'triton_red_fused_convolution_backward_6', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 1, 'backend_hash': '91D1D1166449D9E2EB66EB9770C9E2C3B0FEB787341F27FEB4D3F0338DA50336', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': False, 'dynamic_scale_rblock': True, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': False, 'are_deterministic_algorithms_enabled': False, 'tiling_scores': {'x': 1792, 'r0_': 6422528}}
)
@triton.jit
def triton_red_fused_convolution_backward_6(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    xnumel = 224
    r0_numel = 7168
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    rbase = r0_base
    x0 = (xindex % 32)
    x1 = xindex // 32
    _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    x3 = xindex
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_2 = r0_index
        tmp0 = tl.load(in_ptr0 + (28*((((r0_2 + 7168*x1) // 28) % 28)) + 784*x0 + 25088*((r0_2 + 7168*x1) // 784) + ((r0_2 % 28))), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        tmp3 = _tmp2 + tmp1
        _tmp2 = tl.where(r0_mask & xmask, tmp3, _tmp2)
    tmp2 = tl.sum(_tmp2, 1)[:, None]
    tl.store(out_ptr0 + (x3), tmp2, xmask)
''', device_str='cuda')


# kernel path: /tmp/torchinductor_user/debugdir_cnn_fmnist/vj/cvjlcxjks4l3vzygcdgcdnnnk6uwnpgypyac34eiaikaoypywowv.py
# Topologically Sorted Source Nodes: [sum_5], Original ATen: [aten.convolution_backward]
# Source node to ATen node mapping:
#   sum_5 => sum_5
# Graph fragment:
#   %buf17 : Tensor "f32[32, 7][1, 32]cuda:0" = PlaceHolder[target=buf17]
#   %sum_5 : Tensor "f32[32][1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%where_1, [0, 2, 3]), kwargs = {})
#   return %sum_5
triton_per_fused_convolution_backward_7 = async_compile.triton('triton_per_fused_convolution_backward_7', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.persistent_reduction(
    size_hints={'x': 32, 'r0_': 8},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32', 'XBLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(), 'kernel_name': 'triton_per_fused_convolution_backward_7', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 1, 'backend_hash': '91D1D1166449D9E2EB66EB9770C9E2C3B0FEB787341F27FEB4D3F0338DA50336', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': False, 'dynamic_scale_rblock': True, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': False, 'are_deterministic_algorithms_enabled': False, 'tiling_scores': {'x': 1152, 'r0_': 0}}
)
@triton.jit
def triton_per_fused_convolution_backward_7(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 32
    r0_numel = 7
    R0_BLOCK: tl.constexpr = 8
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_offset = 0
    r0_mask = r0_index < r0_numel
    roffset = r0_offset
    rindex = r0_index
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 32*r0_1), r0_mask & xmask, other=0.0)
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
    tmp3 = tl.where(r0_mask & xmask, tmp1, 0)
    tmp4 = tl.sum(tmp3, 1)[:, None].to(tl.float32)
    tl.store(out_ptr0 + (x0), tmp4, xmask)
''', device_str='cuda')


# kernel path: /tmp/torchinductor_user/debugdir_cnn_fmnist/uw/cuwq6r2fkn6xn5wiqghbf4bo4eul2gbs6pwkoemuy3l5us5cfjxb.py
# Topologically Sorted Source Nodes: [sum_2], Original ATen: [aten.sum]
# Source node to ATen node mapping:
#   sum_2 => sum_2
# Graph fragment:
#   %mm : Tensor "f32[64, 120][120, 1]cuda:0" = PlaceHolder[target=mm]
#   %sum_2 : Tensor "f32[1, 120][120, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%mm, [0], True), kwargs = {})
#   return %sum_2
triton_per_fused_sum_8 = async_compile.triton('triton_per_fused_sum_8', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.persistent_reduction(
    size_hints={'x': 128, 'r0_': 64},
    reduction_hint=ReductionHint.OUTER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32', 'XBLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(), 'kernel_name': 'triton_per_fused_sum_8', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 1, 'backend_hash': '91D1D1166449D9E2EB66EB9770C9E2C3B0FEB787341F27FEB4D3F0338DA50336', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': False, 'dynamic_scale_rblock': True, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': False, 'are_deterministic_algorithms_enabled': False, 'tiling_scores': {'x': 31680, 'r0_': 0}}
)
@triton.jit
def triton_per_fused_sum_8(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 120
    r0_numel = 64
    R0_BLOCK: tl.constexpr = 64
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_offset = 0
    r0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, :]
    roffset = r0_offset
    rindex = r0_index
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 120*r0_1), xmask, other=0.0)
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
    tmp3 = tl.where(xmask, tmp1, 0)
    tmp4 = tl.sum(tmp3, 1)[:, None].to(tl.float32)
    tl.store(out_ptr0 + (x0), tmp4, xmask)
''', device_str='cuda')


async_compile.wait(globals())
del async_compile

class Runner:
    def __init__(self, partitions):
        self.partitions = partitions

    def recursively_apply_fns(self, fns):
        new_callables = []
        for fn, c in zip(fns, self.partitions):
            new_callables.append(fn(c))
        self.partitions = new_callables

    def call(self, args):
        primals_1, primals_3, primals_4, primals_6, primals_8, primals_10, relu, getitem, getitem_1, relu_1, getitem_3, view, gt, mul_1, addmm_1, tangents_1 = args
        args.clear()
        assert_size_stride(primals_1, (32, 1, 3, 3), (9, 9, 3, 1))
        assert_size_stride(primals_3, (64, 1, 28, 28), (784, 784, 28, 1))
        assert_size_stride(primals_4, (64, 32, 3, 3), (288, 9, 3, 1))
        assert_size_stride(primals_6, (600, 2304), (2304, 1))
        assert_size_stride(primals_8, (120, 600), (600, 1))
        assert_size_stride(primals_10, (10, 120), (120, 1))
        assert_size_stride(relu, (64, 32, 28, 28), (25088, 784, 28, 1))
        assert_size_stride(getitem, (64, 32, 14, 14), (6272, 196, 14, 1))
        assert_size_stride(getitem_1, (64, 32, 14, 14), (6272, 196, 14, 1))
        assert_size_stride(relu_1, (64, 64, 12, 12), (9216, 144, 12, 1))
        assert_size_stride(getitem_3, (64, 64, 6, 6), (2304, 36, 6, 1))
        assert_size_stride(view, (64, 2304), (2304, 1))
        assert_size_stride(gt, (64, 600), (600, 1))
        assert_size_stride(mul_1, (64, 600), (600, 1))
        assert_size_stride(addmm_1, (64, 120), (120, 1))
        assert_size_stride(tangents_1, (64, 10), (10, 1))
        with torch.cuda._DeviceGuard(0):
            torch.cuda.set_device(0)
            buf0 = empty_strided_cuda((64, 120), (120, 1), torch.float32)
            # Topologically Sorted Source Nodes: [linear_2, permute_3, mm], Original ATen: [aten.t, aten.mm]
            # [Provenance debug handles] extern_kernels.mm:1
            extern_kernels.mm(tangents_1, primals_10, out=buf0)
            del primals_10
            buf3 = empty_strided_cuda((64, 600), (600, 1), torch.float32)
            # Topologically Sorted Source Nodes: [linear_1, permute_7, mm_2], Original ATen: [aten.t, aten.mm]
            # [Provenance debug handles] extern_kernels.mm:2
            extern_kernels.mm(buf0, primals_8, out=buf3)
            del primals_8
            buf6 = buf3; del buf3  # reuse
            buf9 = empty_strided_cuda((1, 600), (600, 1), torch.float32)
            # Topologically Sorted Source Nodes: [convert_element_type, mul_2, clone, sum_3], Original ATen: [aten.native_dropout_backward, aten.sum]
            # [Provenance debug handles] triton_per_fused_native_dropout_backward_sum_0:3
            stream0 = get_raw_stream(0)
            triton_per_fused_native_dropout_backward_sum_0.run(buf6, gt, buf9, 600, 64, stream=stream0)
            del gt
            buf7 = empty_strided_cuda((64, 2304), (2304, 1), torch.float32)
            # Topologically Sorted Source Nodes: [linear, permute_11, mm_4], Original ATen: [aten.t, aten.mm]
            # [Provenance debug handles] extern_kernels.mm:4
            extern_kernels.mm(buf6, primals_6, out=buf7)
            del primals_6
            buf10 = relu_1; del relu_1  # reuse
            # Topologically Sorted Source Nodes: [view_4, input_6, max_pool2d_with_indices_backward, le, scalar_tensor, where], Original ATen: [aten.view, aten.max_pool2d_with_indices, aten.max_pool2d_with_indices_backward, aten.threshold_backward]
            # [Provenance debug handles] triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_view_1:5
            stream0 = get_raw_stream(0)
            triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_view_1.run(buf10, getitem_3, buf7, 49152, 12, stream=stream0)
            del buf7
            del getitem_3
            # Topologically Sorted Source Nodes: [convolution_backward], Original ATen: [aten.convolution_backward]
            # [Provenance debug handles] torch.ops.aten.convolution_backward.default:6
            buf13 = torch.ops.aten.convolution_backward.default(buf10, getitem, primals_4, [64], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, False])
            del getitem
            del primals_4
            buf14 = buf13[0]
            assert_size_stride(buf14, (64, 32, 14, 14), (6272, 196, 14, 1), 'torch.ops.aten.convolution_backward.default')
            assert_alignment(buf14, 16, 'torch.ops.aten.convolution_backward.default')
            buf15 = buf13[1]
            assert_size_stride(buf15, (64, 32, 3, 3), (288, 9, 3, 1), 'torch.ops.aten.convolution_backward.default')
            assert_alignment(buf15, 16, 'torch.ops.aten.convolution_backward.default')
            del buf13
            buf16 = relu; del relu  # reuse
            # Topologically Sorted Source Nodes: [scalar_tensor, input_3, max_pool2d_with_indices_backward_1, le_1, where_1], Original ATen: [aten.threshold_backward, aten.max_pool2d_with_indices, aten.max_pool2d_with_indices_backward]
            # [Provenance debug handles] triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_2:7
            stream0 = get_raw_stream(0)
            triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_2.run(buf16, getitem_1, buf14, 57344, 28, stream=stream0)
            del buf14
            del getitem_1
            # Topologically Sorted Source Nodes: [convolution_backward_1], Original ATen: [aten.convolution_backward]
            # [Provenance debug handles] torch.ops.aten.convolution_backward.default:8
            buf19 = torch.ops.aten.convolution_backward.default(buf16, primals_3, primals_1, [32], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [False, True, False])
            del primals_1
            del primals_3
            buf20 = buf19[1]
            assert_size_stride(buf20, (32, 1, 3, 3), (9, 9, 3, 1), 'torch.ops.aten.convolution_backward.default')
            assert_alignment(buf20, 16, 'torch.ops.aten.convolution_backward.default')
            del buf19
            buf2 = empty_strided_cuda((1, 10), (10, 1), torch.float32)
            # Topologically Sorted Source Nodes: [sum_1], Original ATen: [aten.sum]
            # [Provenance debug handles] triton_per_fused_sum_3:9
            stream0 = get_raw_stream(0)
            triton_per_fused_sum_3.run(tangents_1, buf2, 10, 64, stream=stream0)
            buf11 = empty_strided_cuda((64, 2), (1, 64), torch.float32)
            # Topologically Sorted Source Nodes: [sum_4], Original ATen: [aten.convolution_backward]
            # [Provenance debug handles] triton_red_fused_convolution_backward_4:10
            stream0 = get_raw_stream(0)
            triton_red_fused_convolution_backward_4.run(buf10, buf11, 128, 4608, stream=stream0)
            del buf10
            buf12 = empty_strided_cuda((64, ), (1, ), torch.float32)
            # Topologically Sorted Source Nodes: [sum_4], Original ATen: [aten.convolution_backward]
            # [Provenance debug handles] triton_per_fused_convolution_backward_5:11
            stream0 = get_raw_stream(0)
            triton_per_fused_convolution_backward_5.run(buf11, buf12, 64, 2, stream=stream0)
            del buf11
            buf17 = empty_strided_cuda((32, 7), (1, 32), torch.float32)
            # Topologically Sorted Source Nodes: [sum_5], Original ATen: [aten.convolution_backward]
            # [Provenance debug handles] triton_red_fused_convolution_backward_6:12
            stream0 = get_raw_stream(0)
            triton_red_fused_convolution_backward_6.run(buf16, buf17, 224, 7168, stream=stream0)
            del buf16
            buf18 = empty_strided_cuda((32, ), (1, ), torch.float32)
            # Topologically Sorted Source Nodes: [sum_5], Original ATen: [aten.convolution_backward]
            # [Provenance debug handles] triton_per_fused_convolution_backward_7:13
            stream0 = get_raw_stream(0)
            triton_per_fused_convolution_backward_7.run(buf17, buf18, 32, 7, stream=stream0)
            del buf17
            buf5 = empty_strided_cuda((1, 120), (120, 1), torch.float32)
            # Topologically Sorted Source Nodes: [sum_2], Original ATen: [aten.sum]
            # [Provenance debug handles] triton_per_fused_sum_8:14
            stream0 = get_raw_stream(0)
            triton_per_fused_sum_8.run(buf0, buf5, 120, 64, stream=stream0)
            buf1 = empty_strided_cuda((10, 120), (120, 1), torch.float32)
            # Topologically Sorted Source Nodes: [permute_4, permute_6], Original ATen: [aten.t, aten.mm]
            # [Provenance debug handles] extern_kernels.mm:15
            extern_kernels.mm(reinterpret_tensor(tangents_1, (10, 64), (1, 10), 0), addmm_1, out=buf1)
            del addmm_1
            del tangents_1
            buf4 = empty_strided_cuda((120, 600), (600, 1), torch.float32)
            # Topologically Sorted Source Nodes: [permute_8, permute_10], Original ATen: [aten.t, aten.mm]
            # [Provenance debug handles] extern_kernels.mm:16
            extern_kernels.mm(reinterpret_tensor(buf0, (120, 64), (1, 120), 0), mul_1, out=buf4)
            del buf0
            del mul_1
            buf8 = empty_strided_cuda((600, 2304), (2304, 1), torch.float32)
            # Topologically Sorted Source Nodes: [permute_12, permute_14], Original ATen: [aten.t, aten.mm]
            # [Provenance debug handles] extern_kernels.mm:17
            extern_kernels.mm(reinterpret_tensor(buf6, (600, 64), (1, 600), 0), view, out=buf8)
            del buf6
            del view
        return (buf20, buf18, None, buf15, buf12, buf8, reinterpret_tensor(buf9, (600, ), (1, ), 0), buf4, reinterpret_tensor(buf5, (120, ), (1, ), 0), buf1, reinterpret_tensor(buf2, (10, ), (1, ), 0), )

runner = Runner(partitions=[])
call = runner.call
recursively_apply_fns = runner.recursively_apply_fns


def get_args():
    from torch._dynamo.testing import rand_strided
    primals_1 = rand_strided((32, 1, 3, 3), (9, 9, 3, 1), device='cuda:0', dtype=torch.float32)
    primals_3 = rand_strided((64, 1, 28, 28), (784, 784, 28, 1), device='cuda:0', dtype=torch.float32)
    primals_4 = rand_strided((64, 32, 3, 3), (288, 9, 3, 1), device='cuda:0', dtype=torch.float32)
    primals_6 = rand_strided((600, 2304), (2304, 1), device='cuda:0', dtype=torch.float32)
    primals_8 = rand_strided((120, 600), (600, 1), device='cuda:0', dtype=torch.float32)
    primals_10 = rand_strided((10, 120), (120, 1), device='cuda:0', dtype=torch.float32)
    relu = rand_strided((64, 32, 28, 28), (25088, 784, 28, 1), device='cuda:0', dtype=torch.float32)
    getitem = rand_strided((64, 32, 14, 14), (6272, 196, 14, 1), device='cuda:0', dtype=torch.float32)
    getitem_1 = rand_strided((64, 32, 14, 14), (6272, 196, 14, 1), device='cuda:0', dtype=torch.int8)
    relu_1 = rand_strided((64, 64, 12, 12), (9216, 144, 12, 1), device='cuda:0', dtype=torch.float32)
    getitem_3 = rand_strided((64, 64, 6, 6), (2304, 36, 6, 1), device='cuda:0', dtype=torch.int8)
    view = rand_strided((64, 2304), (2304, 1), device='cuda:0', dtype=torch.float32)
    gt = rand_strided((64, 600), (600, 1), device='cuda:0', dtype=torch.bool)
    mul_1 = rand_strided((64, 600), (600, 1), device='cuda:0', dtype=torch.float32)
    addmm_1 = rand_strided((64, 120), (120, 1), device='cuda:0', dtype=torch.float32)
    tangents_1 = rand_strided((64, 10), (10, 1), device='cuda:0', dtype=torch.float32)
    return [primals_1, primals_3, primals_4, primals_6, primals_8, primals_10, relu, getitem, getitem_1, relu_1, getitem_3, view, gt, mul_1, addmm_1, tangents_1]


def benchmark_compiled_module(args, times=10, repeat=10):
    from torch._inductor.utils import print_performance
    fn = lambda: call(list(args))
    return print_performance(fn, times=times, repeat=repeat)


if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    args = get_args()
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))
