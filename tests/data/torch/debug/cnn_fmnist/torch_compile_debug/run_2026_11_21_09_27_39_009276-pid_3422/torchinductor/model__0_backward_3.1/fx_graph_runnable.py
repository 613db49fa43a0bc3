
import os
os.environ['TORCH_CUDA_ARCH_LIST'] = '9.0a'
os.environ['TORCHINDUCTOR_COMPILE_THREADS'] = '3'
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/tmp/torchinductor_user/debugdir_cnn_fmnist'
os.environ['TORCH_COMPILE_DEBUG'] = '1'
os.environ['TRITON_CACHE_DIR'] = '/tmp/torchinductor_user/debugdir_cnn_fmnist/triton/0'

import torch
from torch import tensor, device
import torch.fx as fx
from torch._dynamo.testing import rand_strided
from math import inf
import torch._inductor.inductor_prims



import torch._dynamo.config
import torch._inductor.config
import torch._functorch.config
import torch.fx.experimental._config
torch._dynamo.config.debug_dir_root = '/tmp/run/dev/debugdir/cnn_fmnist/torch_compile_debug'
torch._inductor.config.unroll_reductions_threshold = 8
torch._inductor.config.deterministic = False
torch._inductor.config.triton.store_cubin = False
torch._inductor.config.trace.enabled = False
torch._inductor.config.trace.save_real_tensors = False
torch._inductor.config.trace.debug_dir = None
torch._inductor.config.test_configs.runtime_triton_dtype_assert = False
torch._functorch.config.functionalize_rng_ops = False
torch._functorch.config.debug_partitioner = False
torch._functorch.config.fake_tensor_allow_unsafe_data_ptr_access = True
torch._functorch.config.unlift_effect_tokens = False
torch._functorch.config.selective_decompose = False



isolate_fails_code_str = None





if "__compile_source__" in globals():
    import inspect as __after_aot_inspect
    import linecache as __after_aot_linecache
    __after_aot_filename = __after_aot_inspect.currentframe().f_code.co_filename
    __after_aot_linecache.cache[__after_aot_filename] = (
        len(__compile_source__),
        None,
        __compile_source__.splitlines(True),
        __after_aot_filename,
    )
# torch version: 2.11.0+cu130
# torch cuda version: 13.0
# torch git version: 70d99e998b4955e0049d13a98d77ae1b14db1f45


# CUDA Info: 
# nvcc: NVIDIA (R) Cuda compiler driver 
# Copyright (c) 2005-2025 NVIDIA Corporation 
# Built on Wed_Aug_20_01:58:59_PM_PDT_2025 
# Cuda compilation tools, release 13.0, V13.0.88 
# Build cuda_13.0.r13.0/compiler.36424714_0 

# GPU Hardware Info: 
# NVIDIA H200 : 1 

torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_table()

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, primals_1, primals_3, primals_4, primals_6, primals_8, primals_10, relu, getitem, getitem_1, relu_1, getitem_3, view, gt, mul_1, addmm_1, tangents_1):
        permute_2 = torch.ops.aten.permute.default(primals_10, [1, 0]);  primals_10 = None
        permute_3 = torch.ops.aten.permute.default(permute_2, [1, 0]);  permute_2 = None
        mm = torch.ops.aten.mm.default(tangents_1, permute_3);  permute_3 = None
        permute_4 = torch.ops.aten.permute.default(tangents_1, [1, 0])
        mm_1 = torch.ops.aten.mm.default(permute_4, addmm_1);  permute_4 = addmm_1 = None
        sum_1 = torch.ops.aten.sum.dim_IntList(tangents_1, [0], True);  tangents_1 = None
        view_1 = torch.ops.aten.view.default(sum_1, [10]);  sum_1 = None
        permute_1 = torch.ops.aten.permute.default(primals_8, [1, 0]);  primals_8 = None
        permute_7 = torch.ops.aten.permute.default(permute_1, [1, 0]);  permute_1 = None
        mm_2 = torch.ops.aten.mm.default(mm, permute_7);  permute_7 = None
        permute_8 = torch.ops.aten.permute.default(mm, [1, 0])
        mm_3 = torch.ops.aten.mm.default(permute_8, mul_1);  permute_8 = mul_1 = None
        sum_2 = torch.ops.aten.sum.dim_IntList(mm, [0], True);  mm = None
        view_2 = torch.ops.aten.view.default(sum_2, [120]);  sum_2 = None
        convert_element_type = torch.ops.prims.convert_element_type.default(gt, torch.float32);  gt = None
        mul_2 = torch.ops.aten.mul.Tensor(convert_element_type, 1.3333333333333333);  convert_element_type = None
        mul_3 = torch.ops.aten.mul.Tensor(mm_2, mul_2);  mm_2 = mul_2 = None
        permute = torch.ops.aten.permute.default(primals_6, [1, 0]);  primals_6 = None
        permute_11 = torch.ops.aten.permute.default(permute, [1, 0]);  permute = None
        mm_4 = torch.ops.aten.mm.default(mul_3, permute_11);  permute_11 = None
        permute_12 = torch.ops.aten.permute.default(mul_3, [1, 0])
        mm_5 = torch.ops.aten.mm.default(permute_12, view);  permute_12 = view = None
        sum_3 = torch.ops.aten.sum.dim_IntList(mul_3, [0], True);  mul_3 = None
        view_3 = torch.ops.aten.view.default(sum_3, [600]);  sum_3 = None
        view_4 = torch.ops.aten.view.default(mm_4, [64, 64, 6, 6]);  mm_4 = None
        _low_memory_max_pool_offsets_to_indices_1 = torch.ops.prims._low_memory_max_pool_offsets_to_indices.default(getitem_3, [2, 2], [12, 12], [2, 2], [0, 0], [1, 1]);  getitem_3 = None
        max_pool2d_with_indices_backward = torch.ops.aten.max_pool2d_with_indices_backward.default(view_4, relu_1, [2, 2], [2, 2], [0, 0], [1, 1], False, _low_memory_max_pool_offsets_to_indices_1);  view_4 = _low_memory_max_pool_offsets_to_indices_1 = None
        le = torch.ops.aten.le.Scalar(relu_1, 0);  relu_1 = None
        full_default = torch.ops.aten.full.default([], 0.0, dtype = torch.float32, layout = torch.strided, device = device(type='cuda', index=0), pin_memory = False)
        where = torch.ops.aten.where.self(le, full_default, max_pool2d_with_indices_backward);  le = max_pool2d_with_indices_backward = None
        sum_4 = torch.ops.aten.sum.dim_IntList(where, [0, 2, 3])
        convolution_backward = torch.ops.aten.convolution_backward.default(where, getitem, primals_4, [64], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, False]);  where = getitem = primals_4 = None
        getitem_4 = convolution_backward[0]
        getitem_5 = convolution_backward[1];  convolution_backward = None
        _low_memory_max_pool_offsets_to_indices = torch.ops.prims._low_memory_max_pool_offsets_to_indices.default(getitem_1, [2, 2], [28, 28], [2, 2], [0, 0], [1, 1]);  getitem_1 = None
        max_pool2d_with_indices_backward_1 = torch.ops.aten.max_pool2d_with_indices_backward.default(getitem_4, relu, [2, 2], [2, 2], [0, 0], [1, 1], False, _low_memory_max_pool_offsets_to_indices);  getitem_4 = _low_memory_max_pool_offsets_to_indices = None
        le_1 = torch.ops.aten.le.Scalar(relu, 0);  relu = None
        where_1 = torch.ops.aten.where.self(le_1, full_default, max_pool2d_with_indices_backward_1);  le_1 = full_default = max_pool2d_with_indices_backward_1 = None
        sum_5 = torch.ops.aten.sum.dim_IntList(where_1, [0, 2, 3])
        convolution_backward_1 = torch.ops.aten.convolution_backward.default(where_1, primals_3, primals_1, [32], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [False, True, False]);  where_1 = primals_3 = primals_1 = None
        getitem_8 = convolution_backward_1[1];  convolution_backward_1 = None
        return (getitem_8, sum_5, None, getitem_5, sum_4, mm_5, view_3, mm_3, view_2, mm_1, view_1)

def load_args(reader):
    buf0 = reader.storage(None, 1152, device=device(type='cuda', index=0))
    reader.tensor(buf0, (32, 1, 3, 3), is_leaf=True)  # primals_1
    buf1 = reader.storage(None, 200704, device=device(type='cuda', index=0))
    reader.tensor(buf1, (64, 1, 28, 28), is_leaf=True)  # primals_3
    buf2 = reader.storage(None, 73728, device=device(type='cuda', index=0))
    reader.tensor(buf2, (64, 32, 3, 3), is_leaf=True)  # primals_4
    buf3 = reader.storage(None, 5529600, device=device(type='cuda', index=0))
    reader.tensor(buf3, (600, 2304), is_leaf=True)  # primals_6
    buf4 = reader.storage(None, 288000, device=device(type='cuda', index=0))
    reader.tensor(buf4, (120, 600), is_leaf=True)  # primals_8
    buf5 = reader.storage(None, 4800, device=device(type='cuda', index=0))
    reader.tensor(buf5, (10, 120), is_leaf=True)  # primals_10
    buf6 = reader.storage(None, 6422528, device=device(type='cuda', index=0))
    reader.tensor(buf6, (64, 32, 28, 28), is_leaf=True)  # relu
    buf7 = reader.storage(None, 1605632, device=device(type='cuda', index=0))
    reader.tensor(buf7, (64, 32, 14, 14), is_leaf=True)  # getitem
    buf8 = reader.storage(None, 401408, device=device(type='cuda', index=0), dtype_hint=torch.int8)
    reader.tensor(buf8, (64, 32, 14, 14), dtype=torch.int8, is_leaf=True)  # getitem_1
    buf9 = reader.storage(None, 2359296, device=device(type='cuda', index=0))
    reader.tensor(buf9, (64, 64, 12, 12), is_leaf=True)  # relu_1
    buf10 = reader.storage(None, 147456, device=device(type='cuda', index=0), dtype_hint=torch.int8)
    reader.tensor(buf10, (64, 64, 6, 6), dtype=torch.int8, is_leaf=True)  # getitem_3
    buf11 = reader.storage(None, 589824, device=device(type='cuda', index=0))
    reader.tensor(buf11, (64, 2304), is_leaf=True)  # view
    buf12 = reader.storage(None, 38400, device=device(type='cuda', index=0), dtype_hint=torch.bool)
    reader.tensor(buf12, (64, 600), dtype=torch.bool, is_leaf=True)  # gt
    buf13 = reader.storage(None, 153600, device=device(type='cuda', index=0))
    reader.tensor(buf13, (64, 600), is_leaf=True)  # mul_1
    buf14 = reader.storage(None, 30720, device=device(type='cuda', index=0))
    reader.tensor(buf14, (64, 120), is_leaf=True)  # addmm_1
    buf15 = reader.storage(None, 2560, device=device(type='cuda', index=0))
    reader.tensor(buf15, (64, 10), is_leaf=True)  # tangents_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=False, command='get_args', save_dir=None, tracing_mode='real', check_str=None)
        # mod(*args)