# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From a captured program to what PyTorch calls: a built-in function per graph, and weights that are constants on request."""
import torch

_VARIANTS = 8  # sets of weights with a program of their own
_CHANGES = 2  # changed sets that are frozen anew before it is given up


def make_call(program, inputs, *, freezing=False, ready=None, **how):
    """A function of the graph's inputs that gives its outputs. `program`: of `_programs.py`; `inputs`: those of the capture; `how`:
    what its `build` takes. `ready` is called with every `_strata.LiveModel` that is made. With `freezing`, parameters and buffers
    that the graph does not write are constants."""

    def build(frozen):
        model = program.build(frozen=frozen, **how)
        if ready:
            ready(model)
        return model

    weights = _weights(program.written, inputs) if freezing else []
    if not weights:
        return build({}).caller()
    return _Frozen(build, weights).caller(inputs)


class _Frozen:
    """Programs with weights as constants: one per set of weights, as modules of one class share a graph; one that reads them in
    every call once they are seen to change."""

    def __init__(self, build, weights):
        self.build, self.weights = build, weights
        self.variants, self.known, self.changes, self.general = [], set(), 0, None

    def caller(self, inputs):
        model = self.build({i: inputs[i] for i in self.weights})
        self.known.add(self._identity(inputs))
        model.set_thaw(self.other)
        return model.caller()

    def other(self, *inputs):
        """The call in place of the first program's, whose weights are not those of the call."""
        for model, caller in self.variants:
            if model.fresh(inputs):
                return caller(*inputs)
        self.changes += self._identity(inputs) in self.known
        if self.general is None and (self.changes > _CHANGES or len(self.variants) >= _VARIANTS):
            self.general = self.build({}).caller()
        if self.general is not None:
            self.variants.clear()
            return self.general(*inputs)
        model = self.build({i: inputs[i] for i in self.weights})
        self.known.add(self._identity(inputs))
        self.variants.append((model, model.caller()))
        return self.variants[-1][1](*inputs)

    def _identity(self, inputs):
        return tuple(id(inputs[i]) for i in self.weights)


def _weights(written, inputs):
    """Positions of inputs that are parameters or buffers, and that the graph leaves as they are."""
    return [i for i, value in enumerate(inputs) if i not in written and _is_weight(value)]


def _is_weight(value):
    if not isinstance(value, torch.Tensor) or isinstance(value, torch._subclasses.FakeTensor):
        return False
    return isinstance(value, torch.nn.Parameter) or bool(torch._dynamo.utils.get_static_address_type(value))
