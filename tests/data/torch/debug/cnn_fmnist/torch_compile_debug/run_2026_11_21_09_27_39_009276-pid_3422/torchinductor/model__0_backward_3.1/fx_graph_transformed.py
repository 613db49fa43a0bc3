class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[32, 1, 3, 3]", primals_3: "f32[64, 1, 28, 28]", primals_4: "f32[64, 32, 3, 3]", primals_6: "f32[600, 2304]", primals_8: "f32[120, 600]", primals_10: "f32[10, 120]", relu: "f32[64, 32, 28, 28]", getitem: "f32[64, 32, 14, 14]", getitem_1: "i8[64, 32, 14, 14]", relu_1: "f32[64, 64, 12, 12]", getitem_3: "i8[64, 64, 6, 6]", view: "f32[64, 2304]", gt: "b8[64, 600]", mul_1: "f32[64, 600]", addmm_1: "f32[64, 120]", tangents_1: "f32[64, 10]"):
        # File: /home/user/app/cases.py:59 in forward, code: return self.fc3(self.fc2(self.drop(self.fc1(x))))
        permute_2: "f32[120, 10]" = torch.ops.aten.permute.default(primals_10, [1, 0]);  primals_10 = None
        permute_3: "f32[10, 120]" = torch.ops.aten.permute.default(permute_2, [1, 0]);  permute_2 = None
        mm: "f32[64, 120]" = torch.ops.aten.mm.default(tangents_1, permute_3);  permute_3 = None
        permute_4: "f32[10, 64]" = torch.ops.aten.permute.default(tangents_1, [1, 0])
        mm_1: "f32[10, 120]" = torch.ops.aten.mm.default(permute_4, addmm_1);  permute_4 = addmm_1 = None
        sum_1: "f32[1, 10]" = torch.ops.aten.sum.dim_IntList(tangents_1, [0], True);  tangents_1 = None
        view_1: "f32[10]" = torch.ops.aten.reshape.default(sum_1, [10]);  sum_1 = None
        permute_1: "f32[600, 120]" = torch.ops.aten.permute.default(primals_8, [1, 0]);  primals_8 = None
        permute_7: "f32[120, 600]" = torch.ops.aten.permute.default(permute_1, [1, 0]);  permute_1 = None
        mm_2: "f32[64, 600]" = torch.ops.aten.mm.default(mm, permute_7);  permute_7 = None
        permute_8: "f32[120, 64]" = torch.ops.aten.permute.default(mm, [1, 0])
        mm_3: "f32[120, 600]" = torch.ops.aten.mm.default(permute_8, mul_1);  permute_8 = mul_1 = None
        sum_2: "f32[1, 120]" = torch.ops.aten.sum.dim_IntList(mm, [0], True);  mm = None
        view_2: "f32[120]" = torch.ops.aten.reshape.default(sum_2, [120]);  sum_2 = None
        convert_element_type: "f32[64, 600]" = torch.ops.prims.convert_element_type.default(gt, torch.float32);  gt = None
        mul_2: "f32[64, 600]" = torch.ops.aten.mul.Tensor(convert_element_type, 1.3333333333333333);  convert_element_type = None
        mul_3: "f32[64, 600]" = torch.ops.aten.mul.Tensor(mm_2, mul_2);  mm_2 = mul_2 = None
        permute: "f32[2304, 600]" = torch.ops.aten.permute.default(primals_6, [1, 0]);  primals_6 = None
        permute_11: "f32[600, 2304]" = torch.ops.aten.permute.default(permute, [1, 0]);  permute = None
        mm_4: "f32[64, 2304]" = torch.ops.aten.mm.default(mul_3, permute_11);  permute_11 = None
        permute_12: "f32[600, 64]" = torch.ops.aten.permute.default(mul_3, [1, 0])
        mm_5: "f32[600, 2304]" = torch.ops.aten.mm.default(permute_12, view);  permute_12 = view = None
        sum_3: "f32[1, 600]" = torch.ops.aten.sum.dim_IntList(mul_3, [0], True);  mul_3 = None
        view_3: "f32[600]" = torch.ops.aten.reshape.default(sum_3, [600]);  sum_3 = None

        # File: /home/user/app/cases.py:58 in forward, code: x = x.view(x.size(0), -1)
        view_4: "f32[64, 64, 6, 6]" = torch.ops.aten.reshape.default(mm_4, [64, 64, 6, 6]);  mm_4 = None

        # File: /home/user/app/cases.py:57 in forward, code: x = self.layer2(self.layer1(x))
        _low_memory_max_pool_offsets_to_indices_1: "i64[64, 64, 6, 6]" = torch.ops.prims._low_memory_max_pool_offsets_to_indices.default(getitem_3, [2, 2], [12, 12], [2, 2], [0, 0], [1, 1]);  getitem_3 = None
        max_pool2d_with_indices_backward: "f32[64, 64, 12, 12]" = torch.ops.aten.max_pool2d_with_indices_backward.default(view_4, relu_1, [2, 2], [2, 2], [0, 0], [1, 1], False, _low_memory_max_pool_offsets_to_indices_1);  view_4 = _low_memory_max_pool_offsets_to_indices_1 = None
        le: "b8[64, 64, 12, 12]" = torch.ops.aten.le.Scalar(relu_1, 0);  relu_1 = None
        full_default: "f32[]" = torch.ops.aten.full.default([], 0.0, dtype = torch.float32, layout = torch.strided, device = device(type='cuda', index=0), pin_memory = False)
        where: "f32[64, 64, 12, 12]" = torch.ops.aten.where.self(le, full_default, max_pool2d_with_indices_backward);  le = max_pool2d_with_indices_backward = None
        sum_4: "f32[64]" = torch.ops.aten.sum.dim_IntList(where, [0, 2, 3])
        convolution_backward = torch.ops.aten.convolution_backward.default(where, getitem, primals_4, [64], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, False]);  where = getitem = primals_4 = None
        getitem_4: "f32[64, 32, 14, 14]" = convolution_backward[0]
        getitem_5: "f32[64, 32, 3, 3]" = convolution_backward[1];  convolution_backward = None
        _low_memory_max_pool_offsets_to_indices: "i64[64, 32, 14, 14]" = torch.ops.prims._low_memory_max_pool_offsets_to_indices.default(getitem_1, [2, 2], [28, 28], [2, 2], [0, 0], [1, 1]);  getitem_1 = None
        max_pool2d_with_indices_backward_1: "f32[64, 32, 28, 28]" = torch.ops.aten.max_pool2d_with_indices_backward.default(getitem_4, relu, [2, 2], [2, 2], [0, 0], [1, 1], False, _low_memory_max_pool_offsets_to_indices);  getitem_4 = _low_memory_max_pool_offsets_to_indices = None
        le_1: "b8[64, 32, 28, 28]" = torch.ops.aten.le.Scalar(relu, 0);  relu = None
        where_1: "f32[64, 32, 28, 28]" = torch.ops.aten.where.self(le_1, full_default, max_pool2d_with_indices_backward_1);  le_1 = full_default = max_pool2d_with_indices_backward_1 = None
        sum_5: "f32[32]" = torch.ops.aten.sum.dim_IntList(where_1, [0, 2, 3])
        convolution_backward_1 = torch.ops.aten.convolution_backward.default(where_1, primals_3, primals_1, [32], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [False, True, False]);  where_1 = primals_3 = primals_1 = None
        getitem_8: "f32[32, 1, 3, 3]" = convolution_backward_1[1];  convolution_backward_1 = None
        return (getitem_8, sum_5, None, getitem_5, sum_4, mm_5, view_3, mm_3, view_2, mm_1, view_1)
