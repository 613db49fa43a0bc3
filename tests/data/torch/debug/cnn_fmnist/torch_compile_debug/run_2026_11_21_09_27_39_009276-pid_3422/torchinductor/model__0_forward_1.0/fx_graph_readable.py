class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[32, 1, 3, 3]", primals_2: "f32[32]", primals_3: "f32[64, 1, 28, 28]", primals_4: "f32[64, 32, 3, 3]", primals_5: "f32[64]", primals_6: "f32[600, 2304]", primals_7: "f32[600]", primals_8: "f32[120, 600]", primals_9: "f32[120]", primals_10: "f32[10, 120]", primals_11: "f32[10]"):
        # File: /home/user/app/cases.py:57 in forward, code: x = self.layer2(self.layer1(x))
        convolution: "f32[64, 32, 28, 28]" = torch.ops.aten.convolution.default(primals_3, primals_1, primals_2, [1, 1], [1, 1], [1, 1], False, [0, 0], 1);  primals_2 = None
        relu: "f32[64, 32, 28, 28]" = torch.ops.aten.relu.default(convolution);  convolution = None
        _low_memory_max_pool_with_offsets = torch.ops.prims._low_memory_max_pool_with_offsets.default(relu, [2, 2], [2, 2], [0, 0], [1, 1], False)
        getitem: "f32[64, 32, 14, 14]" = _low_memory_max_pool_with_offsets[0]
        getitem_1: "i8[64, 32, 14, 14]" = _low_memory_max_pool_with_offsets[1];  _low_memory_max_pool_with_offsets = None
        convolution_1: "f32[64, 64, 12, 12]" = torch.ops.aten.convolution.default(getitem, primals_4, primals_5, [1, 1], [0, 0], [1, 1], False, [0, 0], 1);  primals_5 = None
        relu_1: "f32[64, 64, 12, 12]" = torch.ops.aten.relu.default(convolution_1);  convolution_1 = None
        _low_memory_max_pool_with_offsets_1 = torch.ops.prims._low_memory_max_pool_with_offsets.default(relu_1, [2, 2], [2, 2], [0, 0], [1, 1], False)
        getitem_2: "f32[64, 64, 6, 6]" = _low_memory_max_pool_with_offsets_1[0]
        getitem_3: "i8[64, 64, 6, 6]" = _low_memory_max_pool_with_offsets_1[1];  _low_memory_max_pool_with_offsets_1 = None

        # File: /home/user/app/cases.py:58 in forward, code: x = x.view(x.size(0), -1)
        view: "f32[64, 2304]" = torch.ops.aten.view.default(getitem_2, [64, -1]);  getitem_2 = None

        # File: /home/user/app/cases.py:59 in forward, code: return self.fc3(self.fc2(self.drop(self.fc1(x))))
        permute: "f32[2304, 600]" = torch.ops.aten.permute.default(primals_6, [1, 0])
        addmm: "f32[64, 600]" = torch.ops.aten.addmm.default(primals_7, view, permute);  primals_7 = permute = None

        # No stacktrace found for following nodes
        inductor_seeds_default: "i64[1]" = torch.ops.prims.inductor_seeds.default(1, device(type='cuda', index=0))

        # File: /home/user/app/cases.py:59 in forward, code: return self.fc3(self.fc2(self.drop(self.fc1(x))))
        inductor_lookup_seed_default: "i64[]" = torch.ops.prims.inductor_lookup_seed.default(inductor_seeds_default, 0);  inductor_seeds_default = None
        inductor_random_default: "f32[64, 600]" = torch.ops.prims.inductor_random.default([64, 600], inductor_lookup_seed_default, 'rand');  inductor_lookup_seed_default = None
        gt: "b8[64, 600]" = torch.ops.aten.gt.Scalar(inductor_random_default, 0.25);  inductor_random_default = None
        mul: "f32[64, 600]" = torch.ops.aten.mul.Tensor(gt, addmm);  addmm = None
        mul_1: "f32[64, 600]" = torch.ops.aten.mul.Tensor(mul, 1.3333333333333333);  mul = None
        permute_1: "f32[600, 120]" = torch.ops.aten.permute.default(primals_8, [1, 0])
        addmm_1: "f32[64, 120]" = torch.ops.aten.addmm.default(primals_9, mul_1, permute_1);  primals_9 = permute_1 = None
        permute_2: "f32[120, 10]" = torch.ops.aten.permute.default(primals_10, [1, 0])
        addmm_2: "f32[64, 10]" = torch.ops.aten.addmm.default(primals_11, addmm_1, permute_2);  primals_11 = permute_2 = None
        return (addmm_2, primals_1, primals_3, primals_4, primals_6, primals_8, primals_10, relu, getitem, getitem_1, relu_1, getitem_3, view, gt, mul_1, addmm_1)
