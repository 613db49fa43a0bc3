# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_i.json: operators of other libraries that exported programs hold, with the results that these give: torchvision's on
boxes and regions of images, numbers as integers of PyTorch's quantization and of torchao.

Run with PyTorch 2.13, torchvision 0.28 and torchao 0.18 or later: python3 make_ops_i.py
"""
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  (registers torch.ops.quantized_decomposed)
import torchao.quantization  # noqa: F401  (registers torch.ops.torchao)
import torchvision  # noqa: F401  (registers torch.ops.torchvision)

from op_cases import case, f, i, inf, nan, t, write

torch.manual_seed(29)
DOUBLE = torch.float64


def boxes(n, size=10.0, dt=torch.float32):
    corner = f(n, 2, lo=0, hi=size, dt=dt)
    return torch.cat([corner, corner + f(n, 2, lo=0.5, hi=size, dt=dt)], 1)


def regions(n, images, size, dt=torch.float32):
    """Some reach out of the image."""
    number, corner = torch.randint(0, images, (n, 1)).to(dt), f(n, 2, lo=-2, hi=size, dt=dt)
    return torch.cat([number, corner, corner + f(n, 2, lo=0, hi=size / 2, dt=dt)], 1)


def turned(rois):
    """Corners in the other order: refused by torchvision where it has to find out how many samples there are."""
    return rois[:, [0, 3, 2, 1, 4]]


# ---------------------------------------------------------------------------------------------------------------- boxes
for n in (0, 1, 2, 40, 67):
    for dt in (torch.float32, DOUBLE):
        case("torchvision::nms", boxes(n, dt=dt), f(n, lo=0, hi=1, dt=dt), 0.3)
case("torchvision::nms", boxes(30), f(30).round(), 0.0)  # equal scores; whatever touches
case("torchvision::nms", boxes(30), f(30), 1.0)
case("torchvision::nms", boxes(30), f(30), -1.0)
case("torchvision::nms", boxes(5).repeat(3, 1), f(15), 0.5)
case("torchvision::nms", boxes(12)[:, [2, 3, 0, 1]], f(12), 0.2)  # areas are positive, overlaps are not
case("torchvision::nms", t([[0.0, 0, 1, 1], [0, 0, inf, 1], [nan, 0, 1, 1], [0, 0, 1, 1], [2, 2, 2, 2], [2, 2, 2, 2]]), t([0.1, 0.5, 0.4, nan, 0.9, 0.9]), 0.5)
case("torchvision::nms", boxes(8).t().contiguous().t(), f(16)[::2], 0.4)

# -------------------------------------------------------------------------------------------------------------- regions
for dt in (torch.float32, DOUBLE):
    image = f(2, 4, 5, 6, dt=dt)
    for rois in (regions(3, 2, 5, dt), regions(0, 2, 5, dt))[: 2 if dt == torch.float32 else 1]:
        for scale, high, wide in ((1.0, 2, 2), (0.5, 1, 4), (0.27, 4, 1))[: 3 if dt == torch.float32 else 1]:
            for samples in (-1, 0, 3):
                for aligned in (False, True):
                    case("torchvision::roi_align", image, rois, scale, high, wide, samples, aligned)
                case("torchvision::ps_roi_align", image, rois, scale, high, wide, samples)
            case("torchvision::roi_align", image, turned(rois), scale, high, wide, 2, True)
            case("torchvision::ps_roi_align", image, turned(rois), scale, high, wide, 2)
            case("torchvision::roi_pool", image, turned(rois), scale, high, wide)
            case("torchvision::ps_roi_pool", image, turned(rois), scale, high, wide)
            case("torchvision::roi_pool", image, rois, scale, high, wide)
            case("torchvision::ps_roi_pool", image, rois, scale, high, wide)
still = t([[0.0, 3, 3, 3, 3], [0, 3, 3, 1, 1], [1, 200, 200, 300, 300], [1, -50, -60, 80, 90]])
image = f(2, 4, 5, 3)
for operator, rest in (("roi_align", (0, True)), ("roi_align", (2, False)), ("ps_roi_align", (0,)), ("ps_roi_align", (2,)), ("roi_pool", ()), ("ps_roi_pool", ())):
    case("torchvision::" + operator, image, still, 1.0, 2, 2, *rest)
    case("torchvision::" + operator, image.to(memory_format=torch.channels_last), still, 0.7, 2, 2, *rest)
    case("torchvision::" + operator, image.transpose(2, 3), regions(3, 2, 4), 1.0, 1, 2, *rest)
    case("torchvision::" + operator, f(1, 4, 1, 1), regions(3, 1, 2), 1.0, 2, 2, *rest)
special = t([nan, inf, -inf, 1.0] * 9).view(1, 4, 3, 3)
case("torchvision::roi_pool", special, t([[0.0, 0, 0, 2, 2]]), 1.0, 2, 2)
case("torchvision::ps_roi_pool", special, t([[0.0, 0, 0, 2, 2]]), 1.0, 2, 2)
case("torchvision::roi_align", special, t([[0.0, 0, 0, 2, 2]]), 1.0, 2, 2, 2, True)

# ------------------------------------------------------------------------------------------------------- moved convolutions
for dt in (torch.float32, DOUBLE):
    for groups, parts, mask, stride, padding, dilation in (
        (1, 1, False, (1, 1), (0, 0), (1, 1)), (1, 1, True, (2, 1), (1, 1), (1, 1)), (2, 1, True, (1, 1), (1, 0), (2, 1)), (1, 2, True, (1, 2), (0, 1), (1, 2)), (2, 2, False, (1, 1), (1, 1), (1, 1)),
    ):
        x, weight = f(2, 4, 4, 5, dt=dt), f(4, 4 // groups, 3, 2, dt=dt)
        high, wide = ((x.shape[2 + i] + 2 * padding[i] - dilation[i] * (weight.shape[2 + i] - 1) - 1) // stride[i] + 1 for i in (0, 1))
        offset = f(2, 2 * parts * 6, high, wide, lo=-4, hi=4, dt=dt)
        factor = f(2, parts * 6, high, wide, lo=0, hi=1, dt=dt) if mask else torch.zeros(2, 1, dtype=dt)
        case("torchvision::deform_conv2d", x, weight, offset, factor, f(4, dt=dt), *stride, *padding, *dilation, groups, parts, mask)

# ------------------------------------------------------------------------------------------------- numbers as integers
Q, BRAIN, HALF = "quantized_decomposed::", torch.bfloat16, torch.float16
INT8, UINT8, INT16, INT32 = torch.int8, torch.uint8, torch.int16, torch.int32
for dtype, low, high in ((INT8, -128, 127), (INT8, -127, 127), (UINT8, 0, 255), (INT16, -300, 300)):
    zero = 3 if low < 0 else 100
    case(Q + "quantize_per_tensor", f(3, 7, lo=-9, hi=9), 0.043, zero, low, high, dtype)
    case(Q + "quantize_per_tensor.tensor", f(3, 7, lo=-9, hi=9), t(0.043), torch.tensor(zero), low, high, dtype)
    case(Q + "quantize_per_tensor.tensor2", f(7, lo=-9, hi=9), t([0.043], DOUBLE), torch.tensor([zero]), torch.tensor(low), torch.tensor(high), dtype)
    whole = i(3, 7, lo=low, hi=high + 1, dt=dtype)
    case(Q + "dequantize_per_tensor", whole, 0.043, zero, low, high, dtype)
    case(Q + "dequantize_per_tensor", whole, 0.5, zero, low, high, dtype, out_dtype=HALF)
    case(Q + "dequantize_per_tensor.tensor", whole, t(0.043, DOUBLE), torch.tensor([zero]), low, high, dtype)
    case(Q + "dequantize_per_tensor.tensor2", whole, t(0.043), torch.tensor(zero), torch.tensor(low), torch.tensor(high), dtype)
    for op in ("choose_qparams.tensor", "choose_qparams_symmetric.tensor"):
        for x in (f(4, 5), f(4, 5, lo=1, hi=2), torch.zeros(3), f(6, lo=-2e5, hi=-1e5)):
            case(Q + op, x, low, high, 1e-5, dtype)
    for axis, count in ((0, 3), (1, 4), (-1, 2)):
        scales, zeros = f(count, lo=0.01, hi=0.2), i(count, lo=max(low, -5), hi=6)
        case(Q + "quantize_per_channel", f(3, 4, 2, lo=-9, hi=9), scales, zeros, axis, low, high, dtype)
        whole = i(3, 4, 2, lo=low, hi=high + 1, dt=dtype)
        case(Q + "dequantize_per_channel", whole, scales, zeros, axis, low, high, dtype)
        case(Q + "dequantize_per_channel", whole, scales.double(), None, axis, low, high, dtype)
    whole = i(2, 3, 5, lo=low, hi=high + 1, dt=dtype)
    scales, zeros = f(2, 3, 1, lo=0.01, hi=0.2), i(2, 3, 1, lo=max(low, -5), hi=6)
    case(Q + "quantize_per_token", f(2, 3, 5, lo=-9, hi=9), scales.double(), zeros, low, high, dtype)
    case(Q + "quantize_per_token", f(2, 3, 5, lo=-9, hi=9), scales, zeros.int(), low, high, dtype)
    case(Q + "dequantize_per_token", whole, scales.double(), zeros, low, high, dtype, torch.float32)
    case(Q + "dequantize_per_token", whole, scales, zeros.int(), low, high, dtype, HALF)
    for size in (4, 8, 16):
        count = max(1, 8 // size)
        scales, zeros = f(3, count, lo=0.01, hi=0.2), i(3, count, lo=max(low, -5), hi=6)
        case(Q + "quantize_per_channel_group", f(3, 8, lo=-9, hi=9), scales, zeros, low, high, dtype, size)
        whole = i(3, 8, lo=low, hi=high + 1, dt=dtype)
        case(Q + "dequantize_per_channel_group", whole, scales, zeros, low, high, dtype, size, torch.float32)
        case(Q + "dequantize_per_channel_group", whole, scales, None, low, high, dtype, size, BRAIN)
# What 16-bit floats come to within a kernel is not rounded step by step: no scales of such are recorded.
case(Q + "choose_qparams_per_token_asymmetric", f(2, 3, 5), INT8)
case(Q + "_choose_qparams_per_token_asymmetric_impl", f(4, 5, lo=0.5, hi=2), INT8)
for dt in (BRAIN, HALF):
    case(Q + "quantize_per_tensor", f(9, dt=dt), 0.02, -3, -128, 127, INT8)
case(Q + "choose_qparams_per_token_asymmetric", torch.zeros(2, 3), INT8)
case(Q + "convert_element_type.no_fuse", f(5), HALF)
case(Q + "convert_element_type.no_fuse", i(5), torch.float32)

for block in ([1, 6], [2, 3], [4, 6], [4, 1], [1, 2]):
    for dt, kinds in ((torch.float32, ("SYMMETRIC", "ASYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR")), (BRAIN, ("SYMMETRIC",))):
        x = f(4, 6, dt=dt)
        for kind in kinds:
            scale, zero = torch.ops.torchao.choose_qparams_affine(x, kind, block, INT8, None, None, None, dt, INT32, False)
            whole = torch.ops.torchao.quantize_affine(x, block, scale, zero, INT8)
            if dt == torch.float32:
                case("torchao::choose_qparams_affine", x, kind, block, INT8, -128, 127, 1e-6, torch.float32, INT32, True)
                case("torchao::choose_qparams_affine", x, kind, block, INT8, None, None, None, dt, INT32, False)
                case("torchao::quantize_affine", x, block, scale, zero, INT8, f64=False)  # the largest lie between two
                case("torchao::quantize_affine", x, block, scale, zero, INT8, -8, 7)
            case("torchao::dequantize_affine", whole, block, scale.float(), zero, INT8, None, None, torch.float32)
            case("torchao::dequantize_affine", whole, block, scale.float(), None, INT8, -128, 127)
case("torchao::choose_qparams_affine", f(3, 4), "ASYMMETRIC", [1, 4], UINT8)
case("torchao::choose_qparams_affine", f(3, 4), "SYMMETRIC", [1, 4], INT8)
case("_int_mm", i(5, 17, lo=-128, hi=128, dt=INT8), i(17, 8, lo=-128, hi=128, dt=INT8))
case("_int_mm", i(17, 8, lo=-128, hi=128, dt=INT8), i(16, 8, lo=-128, hi=128, dt=INT8).t())
for dt in (torch.float32, BRAIN, HALF):
    case("_weight_int8pack_mm", f(3, 32, dt=dt), i(16, 32, lo=-128, hi=128, dt=INT8), f(16, lo=0.01, hi=0.02, dt=dt))

write("ops_i.json")
