# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_i.json: torchvision's operators on boxes and regions of images, with the results that it gives.

Run with PyTorch 2.13 and torchvision 0.28 or later: python3 make_ops_i.py
"""
import torch
import torchvision  # noqa: F401  (registers torch.ops.torchvision)

from op_cases import case, f, inf, nan, t, write

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

write("ops_i.json")
