# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
import torch


class SinCos(torch.nn.Module):
    def forward(self, x):
        s = torch.sin(x) ** 2
        c = torch.cos(x) ** 2
        return s + c
