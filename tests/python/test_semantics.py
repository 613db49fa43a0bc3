#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Small programs, each run compiled and by PyTorch on equal inputs: values, types, strides, what shares memory with what, what was
written into inputs and buffers, random numbers drawn, and whether the program was compiled.

Needs PyTorch 2.4 or later; exit code 77 (skipped) without it. The programs are the table at the end of `programs()`.
"""
import collections
import contextlib
import dataclasses
import math
import os
import unittest
import warnings

import torch_or_skip

torch_or_skip.check()

import torch
from torch import nn
from torch.nn import functional as F

import strata

rand, randn, randint = torch.rand, torch.randn, torch.randint
Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Pair:
    first: torch.Tensor
    second: object = None


class Program:
    """One row. `function`: what is compiled, or a class of modules, made anew for each side. `inputs()` gives the arguments, and is
    called once per side and turn under the same seed. `compiles`: True: all of it; False: none of it, but the results are PyTorch's;
    None: either. `reason`: words of the report's when it does not compile. `opaque`: operators for which PyTorch is called; None: any.
    `region`: a context of the caller's. `graphs`: how many come over in all turns. `made`: `function` makes what is compiled. `ours`:
    through `strata.compile`."""

    def __init__(self, name, function, inputs, *, compiles=True, reason="", opaque=(), strides=True, grad=False, raises=None, turns=2,
                 close=None, config=None, since=None, region=contextlib.nullcontext, graphs=None, made=False, ours=False, **options):
        self.name, self.function, self.inputs = name, function, inputs
        self.compiles, self.reason, self.opaque, self.strides, self.grad = compiles, reason, opaque, strides, grad
        self.raises, self.turns, self.close, self.config, self.options = raises, turns, close or {}, config or {}, options
        self.since, self.region, self.graphs, self.made, self.ours = since, region, graphs, made, ours


def leaves(value):
    """Everything in a result, containers that pytrees do not know included, with the kinds of the containers."""
    if isinstance(value, Pair):
        return [Pair, *leaves(value.first), *leaves(value.second)]
    if isinstance(value, (tuple, list)):
        return [type(value), *[leaf for part in value for leaf in leaves(part)]]
    if isinstance(value, dict):
        return [type(value), *[leaf for key, part in value.items() for leaf in (key, *leaves(part))]]
    return [value]


def tensors(values):
    return [v for v in leaves(values) if isinstance(v, torch.Tensor)]


def strided(tensor):
    return tensor.layout == torch.strided and not tensor.is_quantized and tensor.device.type == "cpu"


def sharing(inputs, outputs):
    """Which of all tensors are one object, and which lie in the same memory, and how far from its start."""
    every = [*tensors(inputs), *tensors(outputs)]
    objects, memory = {}, {}
    result = []
    for tensor in every:
        which = objects.setdefault(id(tensor), len(objects))
        if not strided(tensor) or type(tensor) not in (torch.Tensor, nn.Parameter) or not tensor.numel():
            result.append((which,))
            continue
        where = memory.setdefault(tensor.untyped_storage().data_ptr(), len(memory))
        result.append((which, where, None if where >= len(tensors(inputs)) else tensor.storage_offset()))
    return result


class Semantics(unittest.TestCase):
    def run_program(self, program):
        strata.reset()
        seed = torch.seed() % 2**31
        torch.manual_seed(seed)
        both = [program.function, program.function]
        if isinstance(program.function, type) or program.made:
            both = [program.function(), program.function()]
            if isinstance(both[0], nn.Module):
                both[1].load_state_dict(both[0].state_dict())
        with torch._dynamo.config.patch(program.config):
            compiled = strata.compile(both[1]) if program.ours else torch.compile(both[1], backend="strata", **program.options)
            with torch.set_grad_enabled(program.grad):
                for turn in range(program.turns):
                    self.compare_turn(program, both, compiled, seed + turn)
        self.check_reports(program)

    def compare_turn(self, program, both, compiled, seed):
        sides = []
        for function in (both[0], compiled):
            torch.manual_seed(seed)
            args = program.inputs()
            kwargs = args.pop() if isinstance(args, list) else {}
            try:
                with program.region():
                    result = function(*args, **kwargs)
            except Exception as error:
                result = error
            sides.append((args, kwargs, result, torch.get_rng_state()))
        (args, kwargs, expected, state), (own_args, own_kwargs, got, own_state) = sides
        if isinstance(expected, Exception) or isinstance(got, Exception):
            if not program.raises:
                raise expected if isinstance(expected, Exception) else got
            self.assertIsInstance(expected, Exception)
            self.assertIsInstance(got, type(expected))
            self.assertIn(program.raises, str(got))
            return
        self.assertFalse(program.raises, "nothing was raised")
        inputs, own_inputs = (args, kwargs), (own_args, own_kwargs)
        self.compare(program, got, expected, "results")
        self.compare(program, own_inputs, inputs, "inputs after the call")
        if isinstance(both[0], nn.Module):
            state_of = lambda module: dict(module.state_dict())
            self.compare(program, state_of(both[1]), state_of(both[0]), "state")
        self.assertEqual(sharing(own_inputs, got), sharing(inputs, expected), "memory shared by inputs and results")
        self.assertTrue(torch.equal(state, own_state), "random numbers drawn")

    def compare(self, program, got, expected, what):
        got, expected = leaves(got), leaves(expected)
        self.assertEqual(len(got), len(expected), what)
        for i, (a, b) in enumerate(zip(got, expected)):
            place = f"{what}, leaf {i}"
            if isinstance(b, torch.Tensor) and b.is_nested:
                a, b = a.values(), b.values()
            if not isinstance(b, torch.Tensor):
                self.assertEqual(type(a), type(b), place)
                self.assertTrue(a == b or a != a and b != b, f"{place}: {a} and {b}")
                continue
            self.assertEqual((type(a), a.shape, a.dtype, a.layout, a.device), (type(b), b.shape, b.dtype, b.layout, b.device), place)
            self.assertEqual(a.requires_grad, b.requires_grad, place)
            if program.strides and strided(b):
                self.assertEqual(a.stride(), b.stride(), place)
            if b.device.type == "meta":
                continue
            if b.layout == torch._mkldnn:
                a, b = a.to_dense(), b.to_dense()
            torch.testing.assert_close(a.detach(), b.detach(), equal_nan=True, msg=lambda text, p=place: f"{p}: {text}", **program.close)

    def check_reports(self, program):
        reports = strata.reports()
        if program.compiles is not None:
            if program.compiles:
                self.assertTrue(reports, "no graph came over")
            for report in reports:
                self.assertEqual(report.compiled, program.compiles, report)
                self.assertIn(program.reason, report.reason or "")
        if program.graphs is not None:
            self.assertEqual(len(reports), program.graphs, reports)
        if program.opaque is not None and program.compiles:
            self.assertEqual({name for report in reports for name in report.opaque}, set(program.opaque))


# ------------------------------------------------------------------------------------------------------------ the programs


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))
        self.register_buffer("last", torch.zeros(2, 3))

    def forward(self, x):
        self.count.add_(1)
        self.last.copy_(x)
        return x + self.count


class Ema(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.steps = 0

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return x - self.mean


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        return self.norm(x).relu()


class Dropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 4), nn.Dropout(0.5))

    def forward(self, x):
        return self.body(x)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, dropout=0.2, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.Embedding(7, 5), nn.Linear(5, 7, bias=False)
        self.out.weight = self.embedding.weight

    def forward(self, x):
        return self.out(self.embedding(x))


class Constants(nn.Module):
    """Tensors that are neither parameters nor buffers, and one made from numbers in the program."""

    def __init__(self):
        super().__init__()
        self.table = torch.arange(6.0)
        self.list = [torch.ones(6), torch.full((6,), 2.0)]

    def forward(self, x):
        return x * self.table + self.list[1] + torch.tensor([1.0, 2, 3, 4, 5, 6]) + x.new_tensor([0.5] * 6)


class Recurrent(nn.Module):
    def __init__(self, kind=nn.LSTM, **more):
        super().__init__()
        self.body = kind(4, 5, num_layers=2, batch_first=True, **more)

    def forward(self, x):
        return self.body(x)


def gru():
    return Recurrent(nn.GRU)


class Clip(nn.Module):
    """Keeps state of its own in a dict and as a number."""

    def __init__(self):
        super().__init__()
        self.seen = {}
        self.limit = 1.5

    def forward(self, x):
        self.seen["last"] = x.sum()
        return x.clamp(-self.limit, self.limit), self.seen["last"]


def overlapping():
    base = randn(12)
    return base[:8], base[4:]


def same_twice():
    x = randn(3, 4)
    return x, x


def write_first(x, y):
    x.add_(1)
    return x * 1, y * 2


def chain(x):
    y = x * 2
    v = y.view(-1)
    v[1:4].add_(10)
    y[0] = 5
    v.mul_(2)
    return y, v.sum()


def in_loops(x):
    out = x.new_zeros(x.shape)
    for i in range(x.shape[0]):
        out[i] = x[i] * i
        out[i, ::2] += 1
    return out


def index_writes(x, index, values):
    y = x.clone()
    y[index] = values
    y.index_add_(0, index, values)
    y.index_copy_(0, index, values * 2)
    y.masked_fill_(y > 1, 0.5)
    y[y < -1] = -1.0
    return y


def scatters(x, index):
    y = torch.zeros_like(x)
    y.scatter_(1, index, x)
    y.scatter_add_(1, index, x)
    y.scatter_reduce_(1, index, x, "amax")
    return y


def autocast_inside(x, w):
    with torch.autocast("cpu", torch.bfloat16):
        y = x @ w
        z = F.softmax(y, -1)
        with torch.autocast("cpu", enabled=False):
            u = x @ w
    return y, z, u, x @ w


def autocast_switched_off(x, w):
    with torch.autocast("cpu", enabled=False):
        y = x @ w
    return y.float(), x @ w


def grad_regions(x):
    with torch.no_grad():
        y = x * 2
    with torch.enable_grad():
        z = x.sin()
    return y + z


def inference_inside(x):
    with torch.inference_mode():
        y = x * 2 + 1
    return y.sum()


def out_arguments(x, y, z):
    torch.add(x, y, out=z)
    torch.sin(z, out=z)
    return z + 1


def out_fresh(x):
    y = torch.empty(3, 4)
    torch.mul(x, 2, out=y)
    a, b = torch.max(x, 1, out=(torch.empty(3), torch.empty(3, dtype=torch.int64)))
    return y, a, b


def conditional(x):
    return torch.cond(x.sum() > 0, lambda v: v.sin(), lambda v: v.cos() * 2, (x,))


def looped(x):
    from torch._higher_order_ops.while_loop import while_loop

    return while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, v * 1.5 + 1), (torch.tensor(0), x))


def scanned(x):
    from torch._higher_order_ops.scan import scan

    return scan(lambda carry, v: (carry * 0.5 + v, carry + v), x.new_zeros(x.shape[1:]), x)


def mapped(x, y):
    from torch._higher_order_ops.map import map as map_over

    return map_over(lambda v, w: v.sin() + w, x, y)


def checkpointed(x, w):
    from torch.utils.checkpoint import checkpoint

    return checkpoint(lambda v: (v @ w).relu(), x, use_reentrant=False) + 1


class Cast(nn.Module):

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        self.linear = self.linear.to(torch.float32)  # the type that it has: sets parameters to themselves
        return self.linear(x)


class Called(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 3)

    def forward(self, x, w):
        return torch.func.functional_call(self.inner, {"weight": w, "bias": self.inner.bias * 2}, (x,))


def batched(x, w):
    return torch.vmap(lambda v, u: v @ u + v.sum(), in_dims=(0, None))(x, w)


def drawn_here(kind):
    """Whether this PyTorch on this processor draws as the compiler does; on some it asks MKL."""
    from strata._random import _agrees

    return _agrees(kind, torch.int64)


def draws_of_a_model(x):
    """No call of PyTorch where draws agree: each of these in its turn, those that nobody reads too."""
    torch.rand(3)
    y = F.dropout(x, 0.25, True) + torch.rand_like(x)
    torch.randn(40)
    z = torch.empty(4, 6).bernoulli_(0.5) * F.feature_alpha_dropout(x, 0.5, True)
    order = torch.randperm(6)
    return y, z, order, torch.normal(0.0, 2.0, (3, 7)), torch.randint(0, 2**40, (3,)), torch.rand(5, dtype=torch.bfloat16)


def randoms(x):
    a = torch.rand(3, 4)
    b = torch.randn_like(x)
    c = torch.randint(0, 10, (5,))
    d = torch.randperm(6)
    e = torch.bernoulli(x.sigmoid())
    f = torch.multinomial(x.softmax(-1), 2)
    g = torch.normal(x, 2.0)
    return a, b, c, d, e, f, g, torch.rand(())


def random_writes(x):
    y = torch.empty(4, 5).normal_(1, 2)
    z = torch.zeros(17).uniform_(-1, 1)
    u = x.t().clone().bernoulli_(0.3)
    v = torch.zeros(40).exponential_()
    w = torch.zeros(3, 10)
    w[:, ::2].normal_()
    w[1].random_(0, 9)
    x.normal_()
    return y, z, u, v, w


def draws_like_views(x):
    """Memory with gaps, and elements that lie at the same place."""
    views = [x[:, :1].expand(4, 20), x[:1].expand(5, 6), x.t()[:, ::2], x.t()[::2], x[None, :, None].expand(2, 4, 3, 6)]
    views += [x[:, None].expand(4, 5, 6), x[:, None].permute(2, 1, 0).expand(6, 7, 4), x[:, None].permute(2, 0, 1)]
    return [(torch.rand_like(v), torch.randn_like(v), F.dropout(v, 0.4, True), torch.bernoulli(v.sigmoid())) for v in views]


def drawn_places(x):
    return torch.multinomial(x, 1), torch.multinomial(x, 3), torch.multinomial(x, 12, True)


def size_by_division(x):
    half = torch.div(x.shape[0], 2, rounding_mode="trunc")
    return x.reshape(half, 2, -1) * 2


def random_unused(x):
    torch.rand(5)
    torch.zeros(3).normal_()
    return x * torch.rand(3)


def random_twice(x):
    return F.dropout(x, 0.5, True), F.dropout(x, 0.5, True), F.dropout1d(x[:, None], 0.3, True), F.alpha_dropout(x, 0.2, True)


def structure(x, pair, d, flag, name, *rest, scale=2.0, **more):
    y = x * scale + d["a"]["b"] if flag and name == "sum" else x
    y = y + sum(rest) + more["last"] + pair[1]
    return {"y": y, "name": name, "nested": [(y.sum(), None, 3, 2.5, True), [y.mean()]], 7: y.shape}


def dataclass_io(pair):
    return Pair(pair.first * 2, [pair.second, pair.first.sum()])


def named(point):
    return Point(point.y * 2, point.x)


def sizes(x):
    return x.shape, x.size(0), x.numel(), x.dim(), x.stride(), x.dtype, x.sum(0), x.shape[0] * 2 + 1


def arithmetic_on_sizes(x):
    n, m = x.shape
    return x.view(m, n) * (n / m) + n // 2 + torch.arange(n) * (n % 3) + max(n, m) - min(n, 2) + n**2


def float_inputs(x, a, b):
    return x * a + (a * b - 1) + torch.full((3,), a), a * 2


def made(x):
    return (torch.zeros(3), torch.ones_like(x), torch.arange(0, 10, 3), torch.eye(3), torch.linspace(0, 1, 5), torch.full((2, 2), 7),
            torch.tensor(3), torch.tensor([[1.5, 2]]), x.new_empty(0), torch.tril_indices(3, 3))


def complex_math(x, y):
    z = torch.complex(x, y)
    return z * z.conj(), z.abs(), z.real + z.imag, torch.fft.fft(x), torch.view_as_real(z * 2j), z.angle()


def integers(x, y):
    return x + y, x // y, x % y, x & y, x ^ y, x << 1, x / y, x.float().mean(), x.to(torch.int8), -x, x.sum(), x.prod(), x == y, ~x


def bools(a, b):
    return a & b, a | ~b, a ^ b, a.any(), a.all(0), a.sum(), a + b, a * b, torch.where(a, 1, 2), a.float()


def views(x):
    return (x[1:], x.t(), x.reshape(-1), x.unsqueeze(0), x.select(1, 2), x.expand(2, *x.shape), x.diagonal(), x.unfold(0, 2, 1), x,
            x.view(2, 2, -1), x[..., None], x.detach(), x.narrow(1, 1, 2), x.movedim(0, 1), x.as_strided((2, 2), (1, 2), 1), x.flatten())


def view_chain_of_result(x):
    y = x + 1
    return y.view(-1), y.t(), y, y[0], y.unbind(0), y.split(2, 1), y.chunk(2)


def list_outputs(x):
    parts = list(x.split(2))
    parts.append(parts[0] * 2)
    parts.reverse()
    return parts


def data_dependent(x):
    return x.nonzero(), x[x > 0], torch.unique((x * 3).long()), x.masked_select(x < 0).sum()


def branch_on_data(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


def scalar_of(x):
    return x * x.sum().item() + x[0, 0].item()


def raise_inside(x):
    y = x * 2
    if x.shape[0] == 3:
        raise ValueError("three rows")
    return y


def asserted(x):
    torch._assert(x.shape[0] == 3, "rows")
    torch._assert_async((x < 100).all(), "small")
    return x * 2


def printed(x):
    y = x * 2
    warnings.warn("in the middle")
    return y + 1


def strided_copy(x):
    y = x.clone(memory_format=torch.preserve_format)
    return x * 2, y, x.contiguous(), torch.empty_like(x).fill_(3), x.to(torch.float64), x.permute(2, 0, 1, 3) + 1


def views_written(x):
    x.diagonal().add_(1)
    x.t()[1:].mul_(2)
    x.view(-1)[::3].fill_(0)
    x.as_strided((2,), (5,), 1).sub_(4)
    x.unfold(0, 2, 2)[0].neg_()
    return x.sum()


def parts_of_memory(x):
    y = (x + 1).t()
    z = y.as_strided((4,), (3,), 2)
    y.mul_(2)
    return (z + 1, x[1].as_strided((2, 3), (1, 2), 0) * 2, x[2:].as_strided((3,), (2,)) + 1, x.t().as_strided((3, 2), (2, 1), 1),
            x.split(2)[1].as_strided((4,), (1,), 0))


def parts_of_complex_memory(x, y):
    """Memory of complex numbers is counted in real ones, and the other way round, where what is looked at is."""
    z = x * 1j
    return (x.imag.as_strided((3,), (1,), 0) * 2, z.t().real.as_strided((2, 3), (3, 2), 1) + 1,
            torch.view_as_complex(y).as_strided((3,), (1,), 1) * 2)


def transpose_in_place(x):
    y = x.clone()
    y.t_()
    y.unsqueeze_(0)
    y.squeeze_(0)
    y.transpose_(0, 1)
    y.swapaxes_(0, 1)
    return y


def resize_in_place(x):
    y = x.clone()
    y.resize_(2, 3)
    return y + 1


def set_data(x, y):
    x.data = y
    return x * 2


def swap_inputs(x, y):
    t = x.clone()
    x.copy_(y)
    y.copy_(t)
    return x - y


def type_views(x):
    return x.view(torch.int32) + 1, x.view(torch.int32), x.view(torch.uint8)


def real_views(z):
    return torch.view_as_real(z), z.real, z.imag, z.conj()


def grad_of(x):
    y = (x * x).sum()
    return torch.autograd.grad(y, x)[0] * 2


def func_grad(x):
    return torch.func.grad(lambda v: (v.sin() * v).sum())(x)


def sparse_inside(x):
    return torch.sparse.mm(x.to_sparse(), x).relu()


def global_scaled(x):
    return x * GLOBAL + GLOBALS["a"]


GLOBAL, GLOBALS = torch.full((3,), 2.5), {"a": torch.ones(3)}


def closure():
    kept, number = torch.full((4,), 3.0), 2

    def inside(x):
        kept.add_(1)
        return x * kept + number

    return inside


class Logged(torch.Tensor):
    """A subclass with `__torch_function__` only: every call goes on as it was."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})


class Wrapped(torch.Tensor):
    """A subclass with `__torch_dispatch__`, around another tensor."""

    @staticmethod
    def __new__(cls, inside):
        return torch.Tensor._make_wrapper_subclass(cls, inside.shape, dtype=inside.dtype, device=inside.device)

    def __init__(self, inside):
        self.inside = inside

    def __tensor_flatten__(self):
        return ["inside"], None

    @staticmethod
    def __tensor_unflatten__(parts, context, size, stride):
        return Wrapped(parts["inside"])

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        unwrap = lambda value: value.inside if isinstance(value, Wrapped) else value
        result = function(*torch.utils._pytree.tree_map(unwrap, args), **torch.utils._pytree.tree_map(unwrap, kwargs or {}))
        return torch.utils._pytree.tree_map(lambda v: Wrapped(v) if isinstance(v, torch.Tensor) else v, result)


def inference_tensor():
    with torch.inference_mode():
        return randn(3)


def low_precision_network(x, w, b):
    y = F.linear(x, w, b)
    y = F.layer_norm(y.relu(), (4,))
    return y, (y.t() @ y).softmax(-1), torch.cat([y, x]), y.sum(), F.scaled_dot_product_attention(x[None], x[None], x[None])


def autocast_mixed(x, y):
    with torch.autocast("cpu", torch.bfloat16):
        a = torch.bmm(x, y)
        b = a + x
        c = torch.einsum("bij,bjk->bik", a, y)
        d = F.mse_loss(c, x)
        e = F.cross_entropy(a.flatten(0, 1), torch.zeros(6, dtype=torch.int64))
        f = a.cumsum(-1)
    return a, b, c, d, e, f


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, 1, 1, groups=4), nn.GroupNorm(2, 8), nn.SiLU(),
            nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5),
        ).eval()

    def forward(self, x):
        return self.body(x).log_softmax(-1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True).eval()
        self.first, self.second = nn.LayerNorm(16), nn.LayerNorm(16)
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        y = self.first(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(F.gelu(self.up(self.second(x))))


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.batch, self.instance = nn.BatchNorm1d(6).eval(), nn.InstanceNorm1d(6)
        self.embedding = nn.Embedding(20, 6)

    def forward(self, i):
        x = self.embedding(i).transpose(1, 2)
        return self.instance(self.batch(x)), F.normalize(x, dim=1), F.rms_norm(x, x.shape[-1:]), x.flatten(1).std(-1)


class Batches:
    """Inputs whose first size goes through 2, 3, 8, 64."""

    def __init__(self, make):
        self.make, self.calls = make, 0

    def __call__(self):
        size = (2, 3, 8, 64)[self.calls // 2 % 4]  # two sides per turn
        self.calls += 1
        return (self.make(size),)


def gated(x, gate, scale=1.0):
    gate = gate.sigmoid() if gate is not None else 1
    return x * gate * scale


def early_return(x, flag):
    y = x + 1
    if flag:
        return y
    return y, x * 2


def generator(x):
    return [v * 2 for v in (x[i] for i in range(x.shape[0]))]


def unpacked(x):
    (a, b), *rest = x.split(2), 3
    a += 1
    return a, b, rest, x


def inputs_kept(d):
    d["new"] = d["x"] * 2
    d["x"].add_(1)
    return d


def operators_by_hand():
    library = torch.library.Library("strata_test", "DEF")
    library.define("twice(Tensor x, float by=2.0) -> Tensor")
    library.define("stir(Tensor(a!) x, Tensor y) -> Tensor")
    library.define("parts(Tensor x, int n) -> Tensor[]")
    library.define("unknown(Tensor x) -> Tensor")
    library.define("view_of(Tensor(a) x) -> Tensor(a)")
    library.define("empty_effect(Tensor(a!) x) -> ()")
    library.impl("twice", lambda x, by=2.0: x * by, "CPU")
    library.impl("stir", lambda x, y: (x.add_(y), x * 2)[1], "CPU")
    library.impl("parts", lambda x, n: [p.clone() for p in x.chunk(n)], "CPU")
    library.impl("unknown", lambda x: x + 1, "CPU")
    library.impl("view_of", lambda x: x[1:], "CPU")
    library.impl("empty_effect", lambda x: (x.mul_(3), None)[1], "CPU")
    fake = torch.library.register_fake if hasattr(torch.library, "register_fake") else torch.library.impl_abstract
    fake("strata_test::twice", lambda x, by=2.0: torch.empty_like(x), lib=library)
    fake("strata_test::stir", lambda x, y: torch.empty_like(x), lib=library)
    fake("strata_test::parts", lambda x, n: [torch.empty_like(p) for p in x.chunk(n)], lib=library)
    fake("strata_test::view_of", lambda x: x[1:], lib=library)
    fake("strata_test::empty_effect", lambda x: None, lib=library)

    @torch.library.custom_op("strata_test::scaled", mutates_args=())
    def scaled(x: torch.Tensor, k: int = 3) -> torch.Tensor:
        return torch.from_numpy(x.numpy() * k)

    scaled.register_fake(lambda x, k=3: torch.empty_like(x))

    @torch.library.custom_op("strata_test::fill", mutates_args={"x"})
    def fill(x: torch.Tensor, value: float) -> None:
        x.numpy().fill(value)

    return library


KEEP = operators_by_hand()


def programs():
    ops = torch.ops.strata_test
    p = Program
    two = lambda *shape: lambda: (randn(*shape), randn(*shape))
    one = lambda *shape: lambda: (randn(*shape),)
    return [
        # --- inputs and outputs
        p("structures", structure, lambda: [randn(3), (1, randn(3)), {"a": {"b": randn(3)}}, True, "sum", randn(3), 2, {"last": randn(3)}]),
        p("dataclasses", dataclass_io, lambda: (Pair(randn(3), "text"),)),
        p("named tuples", named, lambda: (Point(randn(3), randn(2)),)),
        p("sizes as results", sizes, one(3, 4)),
        p("sizes as results, dynamic", sizes, one(3, 4), dynamic=True),
        p("arithmetic on sizes", arithmetic_on_sizes, one(4, 4), dynamic=True),
        p("arithmetic on sizes, static", arithmetic_on_sizes, one(4, 4)),
        p("floats as inputs", float_inputs, lambda: (randn(3), 2.5, -1.25)),
        p("floats as inputs, dynamic", float_inputs, lambda: (randn(3), rand(()).item(), rand(()).item()), dynamic=True, turns=3),
        p("integers as inputs, dynamic", lambda x, n: (x * n, x[:n], n + 1), lambda: (randn(9), int(randint(2, 8, ()))), dynamic=True,
          turns=4),
        p("integer used as a float, dynamic", lambda x, n: x * (n / 3) + n**0.5, lambda: (randn(9), int(randint(2, 8, ()))), dynamic=True,
          turns=3),
        p("a list of parts", list_outputs, one(6, 3)),
        p("no tensor result", lambda x: None, one(3), compiles=None),
        p("the input itself", lambda x: x, one(3), compiles=None),
        p("the same result twice", lambda x: (lambda y: (y, y, [y]))(x + 1), one(3)),
        p("no tensor input", lambda n: torch.ones(n) * n, lambda: (4,)),
        p("constants as results", made, one(3, 4), opaque=None),
        p("None and strings as inputs", lambda x, m, s: x * 2 if m is None else x + len(s), lambda: (randn(3), None, "abc")),
        p("keywords and defaults", lambda x, *, k=2, b=None: x * k, lambda: [randn(3), {"k": 5}]),
        p("closures that write", closure, one(4), made=True),
        p("globals", global_scaled, one(3)),
        p("sets and ranges", lambda x: [x * i for i in sorted({3, 1, 2})], one(3)),
        p("ordered dict", lambda d: collections.OrderedDict((k, v * 2) for k, v in d.items()), lambda: ({"b": randn(2), "a": randn(3)},)),
        # --- views and memory
        p("views of an input", views, one(4, 4)),
        p("views of an input, dynamic", lambda x: (x[1:], x.t(), x.reshape(-1), x.select(1, 2), x[..., None], x[:, ::2]), one(4, 6),
          dynamic=True),
        p("views of results", view_chain_of_result, one(4, 6)),
        p("views of another type", type_views, one(4), compiles=None, opaque=None),
        p("views of complex numbers", real_views, lambda: (torch.complex(randn(4), randn(4)),), compiles=None, opaque=None),
        p("one tensor twice", lambda x, y: (x + y, x, y), same_twice),
        p("one tensor twice, one written", write_first, same_twice),
        p("overlapping inputs, one written", write_first, overlapping, compiles=False, reason="shares memory"),
        p("overlapping inputs, read", lambda x, y: x * y, overlapping),
        p("a view and its base, base written", lambda x, v: (x.mul_(2), v + 1)[1], lambda: (lambda b: (b, b[1:]))(randn(4, 3)),
          compiles=False, reason="shares memory"),
        p("a view and its base, view written", lambda x, v: (v.mul_(2), x + 1)[1], lambda: (lambda b: (b, b[1:]))(randn(4, 3)),
          compiles=False, reason="shares memory"),
        p("transposed alias written", lambda x, v: (v.add_(1), x * 1, v)[1:], lambda: (lambda b: (b, b.t()))(randn(4, 3)), compiles=False,
          reason="shares memory"),
        p("swap inputs", swap_inputs, two(3)),
        p("expanded inputs", lambda x: (x * 2, x.sum(0)), lambda: (randn(1, 3).expand(4, 3),)),
        p("gaps in inputs", lambda x, y: (x * 2, x @ y, x.sum(1)), lambda: (randn(8, 9)[::2, ::3], randn(3, 7)[:, 1::2])),
        p("channels last", strided_copy, lambda: (randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),)),
        p("permuted inputs", strided_copy, lambda: (randn(2, 3, 4, 5).permute(3, 0, 2, 1),)),
        p("no elements", lambda x: (x * 2, x.sum(0), x.sum(), torch.cat([x, x]), x @ x.t()), one(0, 3)),
        p("no elements, inner", lambda x: (x.relu(), x.sum(1), x @ x.t(), x.reshape(0, 3)), one(3, 0)),
        p("scalars", lambda x, y: (x + y, x * 2, x.view(1), y.unsqueeze(0), x.sin()), lambda: (randn(()), randn(()))),
        p("scalar written", lambda x: (x.add_(1), x * 2)[1], lambda: (randn(()),)),
        p("empty strided", lambda x: torch.empty_strided((3, 4), (1, 3)).copy_(x), one(3, 4)),
        p("results of matrix products", lambda x, y: (x.t() @ y, torch.einsum("ij,kj->ki", x, y), x.t().matmul(y).t()), two(4, 4),
          strides=False),
        p("clone keeps gaps away", lambda x: (x.clone(), x.t().clone(), torch.empty_like(x).copy_(x)), lambda: (randn(6, 8)[:, ::2],)),
        p("contiguous of contiguous", lambda x: (x.contiguous(), x.to(torch.float32), x.reshape(3, 4), x.expand(3, 4)), one(3, 4)),
        # --- writing
        p("inputs written", lambda x, y: (x.add_(y), y.mul_(2), x + y)[2], two(3, 4)),
        p("input written and returned", lambda x: x.mul_(2), one(3)),
        p("input written through a view", lambda x: (x[0].add_(1), x[:, 1].zero_(), x.sum())[2], one(3, 4)),
        p("written through many views", views_written, one(5, 5), opaque=["aten.as_strided_scatter.default"]),
        p("parts of memory", parts_of_memory, one(4, 5)),
        p("parts of memory in another order", parts_of_memory, lambda: (randn(5, 4).t(),)),
        p("parts of complex memory", parts_of_complex_memory, lambda: (torch.complex(randn(2, 3), randn(2, 3)), randn(4, 2))),
        p("parts of conjugated memory", lambda x: (x.conj().as_strided((5,), (1,), 1) * 1j, x.conj().imag.as_strided((5,), (1,)) * 2),
          lambda: (torch.complex(randn(2, 3), randn(2, 3)),), compiles=False),
        p("a view of what is written", lambda x: (x[0], x.add_(1)), one(3, 4)),
        p("chain of writes", chain, one(3, 4)),
        p("writes in loops", in_loops, one(4, 5)),
        p("index writes", index_writes, lambda: (randn(6, 3), torch.tensor([0, 4, 2]), randn(3, 3)), opaque=None),
        p("scatters", scatters, lambda: (randn(3, 5), torch.stack([torch.randperm(5) for _ in range(3)])), opaque=None),
        p("buffers written", Counter, one(2, 3), turns=3),
        p("buffers replaced", Ema, one(5, 4), turns=3),
        p("batch norm that learns", Norm, one(3, 4, 5, 5), turns=3),
        p("state in Python", Clip, one(3, 4)),
        p("out=", out_arguments, lambda: (randn(3), randn(3), torch.empty(3)), opaque=None),
        p("out= of fresh tensors", out_fresh, one(3, 4)),
        p("out= with strides", lambda x, o: torch.add(x, 1, out=o), lambda: (randn(3, 4), torch.empty(4, 3).t()), compiles=None),
        p("out= of another type", lambda x, o: torch.add(x, 1, out=o), lambda: (randn(3), torch.empty(3, dtype=torch.float64))),
        p("shape changed in place", transpose_in_place, one(3, 4)),
        p("resized in place", resize_in_place, one(3, 4), compiles=None, opaque=None),
        p("x.data replaced", set_data, two(3), compiles=None, opaque=None),
        p("module converted inside", Cast, one(2, 4)),
        p("in place with another type", lambda x, y: (x.add_(y), x.mul_(2.5))[1], lambda: (randn(3), randint(0, 5, (3,)))),
        p("copy from another type", lambda x, y: x.copy_(y), lambda: (randn(3), randint(0, 5, (3,)))),
        p("copy broadcast", lambda x, y: (x.copy_(y), x[0].copy_(y * 2))[0], lambda: (randn(2, 3), randn(3))),
        p("fill and zero", lambda x: (x.fill_(3), x[0].zero_(), x * 1)[2], one(2, 3)),
        p("foreach", lambda x, y: torch._foreach_add([x, y], 1), two(3), opaque=None),
        p("foreach in place", lambda x, y: (torch._foreach_mul_([x, y], 2), x + y)[1], two(3), opaque=None),
        p("expanded input written", lambda x: x.add_(1), lambda: (randn(1, 3).expand(4, 3),), raises="single memory location",
          compiles=None),
        p("addcmul and friends in place", lambda x, y: x.addcmul_(y, y, value=2).addcdiv_(y, y.exp()).lerp_(y, 0.3), two(4), opaque=None),
        p("sort and topk", lambda x: (*x.sort(-1), *x.topk(2), x.argsort(), x.kthvalue(2)[0], x.median()), one(3, 5), opaque=None),
        # --- element types
        p("complex numbers", complex_math, two(8), opaque=None),
        p("integers", integers, lambda: (randint(-9, 9, (6,)), randint(1, 5, (6,))), opaque=None),
        p("small integers", lambda x, y: (x + y, x * y, x.sum(), x / 2), lambda: (randint(-100, 100, (9,), dtype=torch.int8), randint(0, 9,
          (9,), dtype=torch.int8))),
        p("bools", bools, lambda: (rand(3, 4) > 0.5, rand(3, 4) > 0.5)),
        p("bfloat16", lambda x, y: (x * y + 1, x @ y.t(), x.softmax(-1), x.float()),
          lambda: (randn(3, 8).bfloat16(), randn(3, 8).bfloat16()), close=dict(rtol=2e-2, atol=1e-2)),
        p("float16", lambda x: (x * 2 + 1, x.sum(), x.exp()), lambda: (randn(3, 8).half(),), close=dict(rtol=2e-3, atol=2e-3)),
        p("float64", lambda x: (x.exp().sum(), x @ x.t(), x.softmax(0)), lambda: (randn(3, 8).double(),),
          close=dict(rtol=1e-12, atol=1e-12)),
        p("promotion", lambda x, y, z: (x + y, x * 2, y * 2.5, y + z, z * x, torch.where(z, x, y)),
          lambda: (randn(3), randint(0, 9, (3,)), rand(3) > 0.5)),
        p("scalar tensors and types", lambda x, s: (x + s, x * s.double(), s / 2), lambda: (randn(3).half(), torch.tensor(2)),
          close=dict(rtol=2e-3, atol=2e-3)),
        p("not numbers", lambda x: (x.max(), x.nan_to_num(), x.isnan(), x.clamp(-1, 1), x.argmax(), x.sign()),
          lambda: (torch.tensor([1.0, float("nan"), float("inf"), -0.0]),)),
        # --- regions
        p("autocast inside", autocast_inside, two(4, 4), close=dict(rtol=2e-2, atol=2e-2)),
        p("autocast switched off inside", autocast_switched_off, two(4, 4)),
        p("autocast switched off inside, on around", autocast_switched_off, two(4, 4), region=lambda: torch.autocast("cpu", torch.bfloat16),
          close=dict(rtol=3e-2, atol=3e-2), strides=False),
        p("no_grad and enable_grad inside", grad_regions, one(3)),
        p("inference mode inside", inference_inside, one(3), compiles=None),
        p("requires_grad under no_grad", lambda x: (x * 2, x), lambda: (randn(3, requires_grad=True),)),
        p("detach", lambda x: x.detach() * 2 + x, lambda: (randn(3, requires_grad=True),)),
        p("gradients", lambda x: (x * x).sum(), lambda: (randn(3, requires_grad=True),), grad=True, compiles=False, reason="gradients"),
        p("inputs without gradients in grad mode", lambda x: x * 2, one(3), grad=True),
        p("torch.func.grad", func_grad, one(4), opaque=None),
        p("vmap", batched, lambda: (randn(5, 3), randn(3, 2)), since=(2, 9)),
        p("functional_call", Called, lambda: (randn(2, 4), randn(3, 4))),
        p("checkpoint", checkpointed, lambda: (randn(2, 4), randn(4, 3))),
        p("device context", lambda x: x + torch.ones(3, device="cpu"), one(3)),
        # --- control flow
        p("cond", conditional, one(3), opaque=None, turns=4),
        p("while_loop", looped, one(3), opaque=None),
        p("scan", scanned, one(4, 3), opaque=None, since=(2, 6)),
        p("map", mapped, lambda: (randn(4, 3), randn(3)), opaque=None, since=(2, 9)),
        p("branch on data", branch_on_data, one(3), turns=4),
        p("item()", scalar_of, one(3, 4), opaque=None),
        p("item() in the graph", lambda x: x * x.sum().item(), one(3, 4), opaque=None, config=dict(capture_scalar_outputs=True)),
        p("sizes from data", data_dependent, one(3, 4), opaque=None, compiles=None),
        p("sizes from data in the graph", lambda x: x.nonzero() * 2, one(3, 4), opaque=None, compiles=None,
          config=dict(capture_dynamic_output_shape_ops=True)),
        p("graph break", printed, one(3)),
        p("exception of the program", raise_inside, one(3), raises="three rows", compiles=None),
        p("assertions that hold", asserted, one(3), opaque=None),
        p("assertions that fail", lambda x: (torch._assert_async((x > 100).all(), "too small"), x * 2)[1], one(3), raises="too small",
          compiles=None),
        p("index out of range", lambda x, i: x[i] * 2, lambda: (randn(3), torch.tensor([7])), raises="out of bounds", compiles=None),
        p("embedding out of range", lambda w, i: F.embedding(i, w), lambda: (randn(3, 4), torch.tensor([7])), raises="out of range",
          compiles=None),
        # --- random numbers
        p("random numbers", randoms, one(4, 5), opaque=None),
        p("random numbers written", random_writes, one(4, 5), opaque=None),
        p("random numbers like views", draws_like_views, one(4, 6), opaque=None),
        p("random numbers of a model", draws_of_a_model, one(4, 6), opaque=[] if drawn_here("bernoulli") else None),
        p("places drawn by weights", drawn_places, lambda: (rand(3, 8),), opaque=[]),
        p("a size by division of tensors", size_by_division, one(6, 4)),
        p("random numbers not used", random_unused, one(3), opaque=None),
        p("dropout", random_twice, one(4, 6), opaque=None),
        p("dropout, dynamic", lambda x: F.dropout(x, 0.4, True) + torch.rand(x.shape), one(4, 6), opaque=None, dynamic=True, turns=3),
        p("network with dropout", Dropout, one(5, 6), opaque=None, turns=3),
        p("attention with dropout", Attention, one(2, 3, 16), opaque=None, strides=False),
        p("dropout turned off", lambda x: F.dropout(x, 0.4, False) * 2, one(3)),
        p("a generator of one's own", lambda x: x + torch.rand(3, generator=torch.Generator().manual_seed(1)), one(3), compiles=None,
          opaque=None),
        p("seed set inside", lambda x: (torch.manual_seed(5), x + torch.rand(3))[1], one(3), compiles=None, opaque=None),
        # --- operators of others
        p("custom operator", lambda x: ops.twice(x * 2, 3.0) + 1, one(3), opaque=["strata_test.twice.default"]),
        p("custom operator that writes", lambda x, y: (ops.stir(x, y), x * 1), two(3), opaque=["strata_test.stir.default"]),
        p("custom operator that writes a view", lambda x, y: (ops.stir(x[0], y), x * 1), lambda: (randn(2, 3), randn(3)),
          opaque=["strata_test.stir.default"]),
        p("custom operator that writes and returns nothing", lambda x: (ops.empty_effect(x), x + 1)[1], one(3),
          opaque=["strata_test.empty_effect.default"]),
        p("custom operator that only writes", lambda x: (ops.empty_effect(x), None)[1], one(3),
          opaque=["strata_test.empty_effect.default"]),
        p("custom operator with a list", lambda x: ops.parts(x, 2)[1] * 2, one(4, 3), opaque=["strata_test.parts.default"]),
        p("custom operator without a fake kernel", lambda x: ops.unknown(x * 2) + 1, one(3), compiles=None, opaque=None),
        p("custom operator that aliases", lambda x: ops.view_of(x * 2) + 1, one(3), opaque=None, compiles=None),
        p("custom_op", lambda x: ops.scaled(x + 1) * 2, one(3), opaque=["strata_test.scaled.default"]),
        p("custom_op with gaps", lambda x: ops.scaled(x[:, ::2].t()) * 2, one(3, 6), opaque=["strata_test.scaled.default"]),
        p("custom_op that writes", lambda x: (ops.fill(x, 2.5), x * 2)[1], one(3), opaque=["strata_test.fill.default"]),
        # --- more of Python
        p("None or a tensor", gated, lambda: [randn(3), None, {"scale": 0.5}]),
        p("early return", early_return, lambda: (randn(3), False)),
        p("generators", generator, one(3, 2)),
        p("unpacking", unpacked, one(4, 2), since=(2, 13)),
        p("a dict changed", inputs_kept, lambda: ({"x": randn(3)},)),
        p("numbers as results", lambda x, n: (x + n, n * 2, n / 3, n > 2, -n, str(n)), lambda: (randn(3), int(randint(2, 9, ()))),
          dynamic=True, compiles=None, since=(2, 6)),
        p("an input that is a bool, dynamic", lambda x, f: x * 2 if f else x, lambda: (randn(3), True), dynamic=True),
        p("float arithmetic, dynamic", lambda x, a: (x * (a**2 + 1) / (a - 3), x > a, x // a, torch.full((2, 2), a * 2), x.clamp(max=a),
          x.lerp(x * 2, a)),
          lambda: (randn(3), rand(()).item()), dynamic=True, turns=3, opaque=None),
        p("floats on integers, dynamic", lambda x, a: (x * a, x + a, x / a, x > a), lambda: (randint(0, 9, (4,)), rand(()).item()),
          dynamic=True, turns=3),
        p("floats on 16 bits, dynamic", lambda x, a: (x * a, x + a), lambda: (randn(4).bfloat16(), rand(()).item()), dynamic=True, turns=3,
          close=dict(rtol=2e-2, atol=1e-2)),
        p("rounded quotients of 16 bits by one wider number", lambda x, a: (x // a, torch.div(x, a, rounding_mode="trunc")),
          lambda: (torch.tensor([0.74609375, -1.5, 0.7421875]).bfloat16(), torch.tensor([0.7467915415763855, 0.7489249110221863][randint(2, ())]))),
        p("math on floats, dynamic", lambda x, a: x * math.sqrt(a) + math.exp(a) * math.floor(a), lambda: (randn(3), rand(()).item() + 1),
          dynamic=True, opaque=None, turns=3, compiles=None),
        p("item() as an integer", lambda x, n: x * n.item() + n.item() // 2, lambda: (randn(3), randint(2, 9, ())),
          config=dict(capture_scalar_outputs=True), opaque=None),
        p("item() as a size", lambda x, n: torch.zeros(n.item()) + 1, lambda: (randn(3), randint(2, 9, ())),
          config=dict(capture_scalar_outputs=True), compiles=None, opaque=None, since=(2, 6)),
        # --- regions of the caller
        p("autocast around", low_precision_network, lambda: (randn(4, 4), randn(4, 4), randn(4)),
          region=lambda: torch.autocast("cpu", torch.bfloat16), close=dict(rtol=3e-2, atol=3e-2), strides=False),
        p("autocast of many kinds", autocast_mixed, lambda: (randn(2, 3, 3), randn(2, 3, 3)), close=dict(rtol=3e-2, atol=3e-2),
          opaque=None),
        p("autocast around opaque calls", lambda x: torch.linalg.eigh(x @ x)[0], lambda: (rand(4, 4),),
          region=lambda: torch.autocast("cpu", torch.bfloat16), opaque=None, close=dict(rtol=3e-2, atol=3e-2)),
        p("inference mode around", lambda x: (x * 2, x.t(), x), one(3, 4), region=torch.inference_mode),
        p("inference tensors", lambda x: x * 2 + 1, lambda: (inference_tensor(),)),
        p("inference tensors written", lambda x: x.add_(1), lambda: (inference_tensor(),), compiles=None,
          raises="Inplace update to inference tensor"),
        p("no_grad as a decorator", torch.no_grad()(lambda x: x * 2), lambda: (randn(3, requires_grad=True),), grad=True, compiles=None),
        p("gradients switched on inside", lambda x: (x * 2).sum() + grad_regions(x).sum(), lambda: (randn(3, requires_grad=True),),
          compiles=False, reason="gradients"),
        p("leaf that needs gradients written under no_grad", lambda x: x.add_(1), lambda: (randn(3, requires_grad=True),)),
        # --- one compile for all batches
        p("convolutions, all batches", ConvNet, Batches(lambda n: randn(n, 3, 16, 16)), dynamic=True, turns=4, opaque=None, graphs=1,
          strides=False, since=(2, 6)),
        p("attention, all batches", Block, Batches(lambda n: randn(n, 7, 16)), dynamic=True, turns=4, opaque=None, graphs=1, strides=False,
          since=(2, 13)),
        p("norms, all batches", Norms, Batches(lambda n: randint(0, 20, (n, 5))), dynamic=True, turns=4, opaque=None, graphs=1,
          strides=False, since=(2, 6)),
        p("batch norm that learns, all batches", Norm, Batches(lambda n: randn(n, 4, 5, 5)), dynamic=True, turns=4, graphs=1, opaque=None),
        p("dropout, all batches", Dropout, Batches(lambda n: randn(n, 6)), dynamic=True, turns=4, graphs=1,
          opaque=[] if drawn_here("bernoulli") else ["aten.dropout.default"]),
        # --- networks
        p("tied weights", Tied, lambda: (randint(0, 7, (2, 3)),)),
        p("constant tensors", Constants, one(6)),
        p("LSTM", Recurrent, one(2, 3, 4), compiles=None, opaque=None),
        p("einsum and norms", lambda x: (torch.einsum("bij,bkj->bik", x, x), F.layer_norm(x, (4,)), F.normalize(x, dim=-1), x.norm()),
          one(2, 3, 4)),
        p("instance norm that learns", lambda: nn.InstanceNorm1d(4, affine=True, track_running_stats=True), one(3, 4, 6), turns=3,
          made=True, opaque=None),
        p("transformer encoder", lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval(), one(2, 5, 16), made=True,
          opaque=None, strides=False),
        p("LSTM through strata.compile", Recurrent, one(2, 3, 4), ours=True, strides=False),
        p("GRU through strata.compile", gru, one(2, 3, 4), ours=True, made=True, strides=False),
        p("detach_ beside what is traced twice", lambda x: x.exp().detach_() + F.huber_loss(x, x + 1), lambda: (randn(3, 4),)),
        p("embedding bag", lambda w, i: F.embedding_bag(i, w, mode="mean"), lambda: (randn(9, 4), randint(0, 9, (3, 2))), opaque=None),
        p("losses", lambda x, t: (F.cross_entropy(x, t), F.nll_loss(x.log_softmax(-1), t, reduction="none"), F.smooth_l1_loss(x, x * 2),
          F.kl_div(x, x.softmax(-1))), lambda: (randn(5, 4), randint(0, 4, (5,))), opaque=None),
        p("interpolate and pad", lambda x: (F.interpolate(x, scale_factor=2, mode="bilinear"), F.pad(x, (1, 2, 1, 1), mode="reflect"),
          F.pixel_shuffle(x, 2), F.unfold(x, (2, 2))), one(1, 4, 5, 5), opaque=None),
        # --- inputs of other kinds
        p("subclass with __torch_function__", lambda x: x * 2 + 1, lambda: (randn(3).as_subclass(Logged),), compiles=None, opaque=None),
        p("subclass with __torch_dispatch__", lambda x: x * 2 + 1, lambda: (Wrapped(randn(3)),), compiles=False, reason="subclass"),
        p("quantized input", lambda x: x.dequantize() * 2, lambda: (torch.quantize_per_tensor(torch.linspace(-1, 1, 5), 0.1, 0,
          torch.qint8),), compiles=None, opaque=None),
        p("nested input", lambda x: (x * 2).values(), lambda: (torch.nested.nested_tensor([torch.ones(2), torch.ones(3)],
          layout=torch.jagged),), compiles=None, opaque=None),
        p("CSR input", lambda x: (x @ torch.ones(3, 2)).relu(), lambda: (torch.eye(3).to_sparse_csr(),), compiles=None, opaque=None),
        p("float8 input", lambda x: x.float() * 2, lambda: (torch.linspace(-1, 1, 5).to(torch.float8_e4m3fn),), compiles=None, opaque=None),
        p("unsigned 32 bits", lambda x: x.to(torch.int64) + 1, lambda: (torch.arange(5).to(torch.uint32),), compiles=None, opaque=None),
        p("parameters as inputs", lambda x: x * 2, lambda: (nn.Parameter(randn(3)),)),
        p("mixed devices", lambda x, y: (x * 2, y.to("cpu") if y.device.type != "meta" else None),
          lambda: (randn(3), torch.empty(2, device="meta")), compiles=None, opaque=None),
        p("sparse input", lambda x: x.to_dense() * 2, lambda: (torch.eye(3).to_sparse(),), compiles=None, opaque=None),
        p("sparse inside", sparse_inside, one(3, 3), compiles=None, opaque=None),
        p("meta tensors", lambda x: x * 2, lambda: (torch.empty(3, device="meta"),), compiles=False, reason="test_semantics.py:"),
        p("mkldnn layout", lambda x: x.to_dense() * 2, lambda: (randn(3, 4).to_mkldnn(),), compiles=None, opaque=None),
        p("conjugate inputs", lambda x: x * 2, lambda: (torch.complex(randn(3), randn(3)).conj(),), compiles=None, opaque=None),
        p("negative inputs", lambda x: x * 2, lambda: (torch.complex(randn(3), randn(3)).conj().imag,), compiles=None, opaque=None),
    ]


def test_of(program):
    def test(self):
        if program.since and tuple(int(v) for v in torch.__version__.split(".")[:2]) < program.since:
            self.skipTest(f"needs PyTorch {program.since}")
        self.run_program(program)

    test.__doc__ = program.name
    return test


for number, row in enumerate(programs()):
    words = "".join(c if c.isalnum() else "_" for c in row.name)
    setattr(Semantics, f"test_{number:03}_{words}", test_of(row))

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch._logging.set_logs(all=40)
    os.environ.setdefault("TORCH_LOGS", "")
    unittest.main(verbosity=1, warnings="ignore")
