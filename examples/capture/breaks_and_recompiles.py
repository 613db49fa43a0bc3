# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A training step that breaks its graph twice and is compiled again for another batch size.

    strata capture --profile -o breaks.strata -- python3 breaks_and_recompiles.py
    strata graphs breaks.strata
    strata show breaks.strata --stage source
"""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.head = nn.Linear(8 * 14 * 14, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv(x)), 2)
        if x.mean() > 100:  # the graph breaks: which way it goes depends on the data
            x = x / 2
        return self.head(x.flatten(1))


def main():
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    @torch.compile(dynamic=False)
    def loss_of(images, labels):
        loss = nn.functional.cross_entropy(net(images), labels)
        print("loss", loss.shape)  # the graph breaks: Python's print
        return loss * 1.5

    for batch in (16, 16, 8):  # another size: compiled again
        images, labels = torch.randn(batch, 1, 28, 28), torch.randint(10, (batch,))
        optimizer.zero_grad()
        loss_of(images, labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
