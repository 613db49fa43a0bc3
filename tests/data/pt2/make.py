"""Makes the small exported programs beside this file. Run in this folder with PyTorch 2.9 or later: python3 make.py"""
import torch
from torch._higher_order_ops.map import map as each
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim, export, save


class Nested(torch.nn.Module):
    def forward(self, d, scale, *, mask, flag=True):
        y = d["a"] + d["b"][0] * mask
        y = y * scale if flag else y
        return {"logits": y, "rest": [y * 2, (y + 1,)]}


class Constants(torch.nn.Module):
    def forward(self, x):
        return (x + 1, None), 2.5, True, "words", 7, x * 2


class Choose(torch.nn.Module):
    def forward(self, p, x):
        return torch.cond(p, lambda x: (x.sin(), x + 1), lambda x: (x.cos(), x - 1), (x,))


class Loops(torch.nn.Module):
    """Doubles until a bound is passed, with a weight; the sums of rows up to each, and twice each."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([1.0, 0.0, -1.0]))

    def forward(self, x):
        zero = torch.zeros((), dtype=torch.int64)
        count, doubled = while_loop(lambda i, x: x.sum() < 40, lambda i, x: (i + 1, x * 2 + self.weight), (zero, x))
        last, sums = scan(lambda h, a: (h + a, (h + a).sum()), torch.zeros(3), x)
        return count, doubled, last, sums, each(lambda a, w: a * 2 - w, x, self.weight)


class Buffers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))
        self.register_buffer("hidden", torch.arange(3.0), persistent=False)
        self.fixed = torch.tensor([1.0, 2.0, 3.0])

    def forward(self, x):
        self.count.add_(1)
        x.mul_(2)
        largest, _ = x.max(dim=0)
        return largest + self.count + self.hidden + self.fixed


class Weights(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.arange(12.0).reshape(3, 4).t()[1:3])
        self.tied = self.a
        base = [0.0, 1.0, -2.5, 3.0]
        for dtype in (torch.bfloat16, torch.float16, torch.int8, torch.bool, torch.float64, torch.complex64):
            self.register_buffer("w_" + str(dtype)[6:], torch.tensor(base).to(dtype))
        self.register_buffer("e4m3", torch.tensor(base).to(torch.float8_e4m3fn))
        self.register_buffer("u16", torch.tensor([0, 1, 2, 65535], dtype=torch.uint16))
        self.register_buffer("empty", torch.zeros(0, 3))

    def forward(self, x):
        return x + self.w_bfloat16 + self.w_float16 + self.w_int8 + self.w_float64, self.a + self.tied, self.w_complex64 * 2


class Sizes(torch.nn.Module):
    def forward(self, x, y, k):
        n = y.shape[0]
        parts = torch.split(x, 2, 1)
        return x[1:] + y, torch.arange(n * 2) + k, n + 1, list(parts)


class Regions(torch.nn.Module):
    """Regions that say how gradients and types are treated, one inside the other, with names that are taken outside."""

    def forward(self, x):
        y = x * 2
        with torch.autocast("cpu", enabled=False):
            z = torch.sin(y) + x
            with torch.no_grad():
                total = z.sum(-1) * 2
        with torch.no_grad():
            total = total * 3
        return z + 1, total


class Mapped(torch.nn.Module):
    """Functions of rows, of columns with places of their own, and of pairs."""

    def forward(self, x, at):
        places = torch.arange(x.shape[1])
        pairs = torch.vmap(torch.vmap(lambda i, j: i * 2 - j, (None, 0)), (0, None))(places, places)
        return torch.vmap(lambda column, i: column[i] * column.sum(0), in_dims=(1, 0))(x, at), pairs


class Casts(torch.nn.Module):
    """Regions with autocast on, off inside, and another device's."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(12.0).reshape(4, 3) / 8)

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            y = x @ self.weight
            with torch.autocast("cpu", enabled=False):
                z = x @ self.weight
            with torch.autocast("cuda", torch.float16):
                w = torch.cat([y @ y.t(), z], 1)
            return y.prod(-1), w


rows = Dim("rows", min=3, max=9)
half = Dim("half", max=50)
save(export(Nested(), ({"a": torch.ones(3, 4), "b": [torch.full((3, 4), 2.0)]}, 3.0),
            {"mask": torch.full((3, 4), 0.5), "flag": True}), "nested.pt2")
save(export(Constants(), (torch.arange(3.0),)), "constants.pt2")
save(export(Choose(), (torch.tensor(True), torch.arange(3.0))), "choose.pt2")
save(export(Loops(), (torch.arange(6.0).reshape(2, 3),)), "loops.pt2")
save(export(Regions(), (torch.randn(3, 4),)), "regions.pt2")
save(export(Mapped(), (torch.randn(3, 4), torch.tensor([[0, 2], [1, 1], [2, 0], [0, 1]]))), "mapped.pt2")
save(export(Casts(), (torch.randn(3, 4),)), "casts.pt2")
save(export(Buffers(), (torch.ones(5, 3),)).run_decompositions(), "buffers.pt2")
save(export(Weights(), (torch.arange(4.0),)), "weights.pt2")
save(export(Sizes(), (torch.ones(6, 4), torch.ones(5, 4), 7),
            dynamic_shapes=({0: rows}, {0: rows - 1}, Dim.DYNAMIC)), "sizes.pt2")
save(export(type("Even", (torch.nn.Module,), {"forward": lambda self, x: x * 2})(), (torch.ones(8, 3),),
            dynamic_shapes=({0: 2 * half},)), "even.pt2")
