# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""nn.LSTM, nn.GRU and nn.RNN in graphs: Dynamo breaks at them unless its `allow_rnn` is on, which it is during calls of modules that
`strata.compile` made and that have some."""
import torch


def _allow():
    config = torch._dynamo.config
    before = config.allow_rnn
    config.allow_rnn = True
    return lambda: setattr(config, "allow_rnn", before)


def allow_recurrent(compiled, model):
    """`compiled`, which `torch.compile` made of `model`. Nothing changes where there is no such module, or PyTorch has no such option."""
    context = getattr(compiled, "dynamo_ctx", None)
    hooks = getattr(context, "enter_exit_hooks", None)
    if hooks is None or not hasattr(torch._dynamo.config, "allow_rnn") or not isinstance(model, torch.nn.Module):
        return compiled
    if any(isinstance(module, torch.nn.RNNBase) for module in model.modules()):
        hooks.append(_allow)
    return compiled
