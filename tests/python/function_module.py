# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A module of one function, for `torch.export`."""
import torch


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *operands):
        return self.function(*operands)
