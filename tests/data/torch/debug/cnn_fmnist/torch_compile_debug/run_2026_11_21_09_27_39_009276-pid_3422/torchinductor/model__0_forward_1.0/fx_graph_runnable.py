
import os
os.environ['TORCH_CUDA_ARCH_LIST'] = '9.0a'
os.environ['TORCHINDUCTOR_COMPILE_THREADS'] = '3'
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/tmp/torchinductor_user/debugdir_cnn_fmnist'
os.environ['TORCH_COMPILE_DEBUG'] = '1'

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
torch._inductor.config.trace.enabled = False
torch._inductor.config.trace.save_real_tensors = False
torch._inductor.config.trace.debug_dir = None
torch._functorch.config.functionalize_rng_ops = False
torch._functorch.config.debug_partitioner = True
torch._functorch.config.fake_tensor_allow_unsafe_data_ptr_access = True
torch._functorch.config.unlift_effect_tokens = True
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



    def forward(self, primals_1, primals_2, primals_3, primals_4, primals_5, primals_6, primals_7, primals_8, primals_9, primals_10, primals_11):
        convolution = torch.ops.aten.convolution.default(primals_3, primals_1, primals_2, [1, 1], [1, 1], [1, 1], False, [0, 0], 1);  primals_2 = None
        relu = torch.ops.aten.relu.default(convolution);  convolution = None
        _low_memory_max_pool_with_offsets = torch.ops.prims._low_memory_max_pool_with_offsets.default(relu, [2, 2], [2, 2], [0, 0], [1, 1], False)
        getitem = _low_memory_max_pool_with_offsets[0]
        getitem_1 = _low_memory_max_pool_with_offsets[1];  _low_memory_max_pool_with_offsets = None
        convolution_1 = torch.ops.aten.convolution.default(getitem, primals_4, primals_5, [1, 1], [0, 0], [1, 1], False, [0, 0], 1);  primals_5 = None
        relu_1 = torch.ops.aten.relu.default(convolution_1);  convolution_1 = None
        _low_memory_max_pool_with_offsets_1 = torch.ops.prims._low_memory_max_pool_with_offsets.default(relu_1, [2, 2], [2, 2], [0, 0], [1, 1], False)
        getitem_2 = _low_memory_max_pool_with_offsets_1[0]
        getitem_3 = _low_memory_max_pool_with_offsets_1[1];  _low_memory_max_pool_with_offsets_1 = None
        view = torch.ops.aten.view.default(getitem_2, [64, -1]);  getitem_2 = None
        permute = torch.ops.aten.permute.default(primals_6, [1, 0])
        addmm = torch.ops.aten.addmm.default(primals_7, view, permute);  primals_7 = permute = None
        inductor_seeds_default = torch.ops.prims.inductor_seeds.default(1, device(type='cuda', index=0))
        inductor_lookup_seed_default = torch.ops.prims.inductor_lookup_seed.default(inductor_seeds_default, 0);  inductor_seeds_default = None
        inductor_random_default = torch.ops.prims.inductor_random.default([64, 600], inductor_lookup_seed_default, 'rand');  inductor_lookup_seed_default = None
        gt = torch.ops.aten.gt.Scalar(inductor_random_default, 0.25);  inductor_random_default = None
        mul = torch.ops.aten.mul.Tensor(gt, addmm);  addmm = None
        mul_1 = torch.ops.aten.mul.Tensor(mul, 1.3333333333333333);  mul = None
        permute_1 = torch.ops.aten.permute.default(primals_8, [1, 0])
        addmm_1 = torch.ops.aten.addmm.default(primals_9, mul_1, permute_1);  primals_9 = permute_1 = None
        permute_2 = torch.ops.aten.permute.default(primals_10, [1, 0])
        addmm_2 = torch.ops.aten.addmm.default(primals_11, addmm_1, permute_2);  primals_11 = permute_2 = None
        return (addmm_2, primals_1, primals_3, primals_4, primals_6, primals_8, primals_10, relu, getitem, getitem_1, relu_1, getitem_3, view, gt, mul_1, addmm_1)

def load_args(reader):
    buf0 = reader.storage(None, 1152, device=device(type='cuda', index=0))
    reader.tensor(buf0, (32, 1, 3, 3), is_leaf=True)  # primals_1
    buf1 = reader.storage(None, 128, device=device(type='cuda', index=0))
    reader.tensor(buf1, (32,), is_leaf=True)  # primals_2
    buf2 = reader.storage(None, 200704, device=device(type='cuda', index=0))
    reader.tensor(buf2, (64, 1, 28, 28), is_leaf=True)  # primals_3
    buf3 = reader.storage(None, 73728, device=device(type='cuda', index=0))
    reader.tensor(buf3, (64, 32, 3, 3), is_leaf=True)  # primals_4
    buf4 = reader.storage(None, 256, device=device(type='cuda', index=0))
    reader.tensor(buf4, (64,), is_leaf=True)  # primals_5
    buf5 = reader.storage(None, 5529600, device=device(type='cuda', index=0))
    reader.tensor(buf5, (600, 2304), is_leaf=True)  # primals_6
    buf6 = reader.storage(None, 2400, device=device(type='cuda', index=0))
    reader.tensor(buf6, (600,), is_leaf=True)  # primals_7
    buf7 = reader.storage(None, 288000, device=device(type='cuda', index=0))
    reader.tensor(buf7, (120, 600), is_leaf=True)  # primals_8
    buf8 = reader.storage(None, 480, device=device(type='cuda', index=0))
    reader.tensor(buf8, (120,), is_leaf=True)  # primals_9
    buf9 = reader.storage(None, 4800, device=device(type='cuda', index=0))
    reader.tensor(buf9, (10, 120), is_leaf=True)  # primals_10
    buf10 = reader.storage(None, 40, device=device(type='cuda', index=0))
    reader.tensor(buf10, (10,), is_leaf=True)  # primals_11
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=False, command='get_args', save_dir=None, tracing_mode='real', check_str=None)
        # mod(*args)