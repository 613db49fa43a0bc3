#!/usr/bin/env python3
"""Runs an exported program with PyTorch's eager operators and prints its time: the yardstick of bench.py.

The program is read from the archive's own JSON, so that any PyTorch will do (Debian's 1.13 cannot load such archives). Every node becomes one
prepared call; what is timed is the operators and one Python loop over them, which is less than a module's forward costs.

    pt2_eager.py MODEL.pt2 --input input_0.npy [--threads 2] [--repeat 20] [--expect output_0.npy]
"""
import argparse
import json
import operator
import statistics
import sys
import time
import zipfile

import numpy as np
import torch

SCALAR_TYPES = {1: torch.uint8, 2: torch.int8, 3: torch.int16, 4: torch.int32, 5: torch.int64, 6: torch.float16, 7: torch.float32,
                8: torch.float64, 12: torch.bool, 13: torch.bfloat16}


def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    """For PyTorch before 2.0."""
    scores = query @ key.transpose(-2, -1) * (scale if scale is not None else query.shape[-1] ** -0.5)
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, float("-inf")) if attn_mask.dtype == torch.bool else scores + attn_mask
    return torch.softmax(scores, -1) @ value


class Program:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path)
        self.names = self.zip.namelist()
        self.top = next(n for n in self.names if n.endswith("/archive_format")).rsplit("/", 1)[0]
        model = json.loads(self.zip.read(next(n for n in self.names if n.startswith(self.top + "/models/"))))
        self.graph = model["graph_module"]["graph"]
        self.signature = model["graph_module"]["signature"]
        self.state = {}
        for folder, kind in (("weights", "weights"), ("constants", "constants")):
            for name in self.names:
                if name.startswith(f"{self.top}/data/{folder}/") and name.endswith(f"_{kind}_config.json"):
                    self.read_state(folder, json.loads(self.zip.read(name))["config"])

    def read_state(self, folder, config):
        for fqn, entry in config.items():
            meta = entry.get("tensor_meta")
            if not meta:
                continue
            raw = bytearray(self.zip.read(f"{self.top}/data/{folder}/{entry['path_name']}"))
            flat = torch.frombuffer(raw, dtype=SCALAR_TYPES[meta["dtype"]])
            sizes, strides = ([s["as_int"] for s in meta[k]] for k in ("sizes", "strides"))
            self.state[fqn] = torch.as_strided(flat, sizes, strides, meta["storage_offset"]["as_int"]).clone()

    def value(self, arg):
        """(is_name, value) of an argument: names are looked up at run time."""
        (kind, v), = ((k, v) for k, v in arg.items() if v is not None or k == "as_none")
        if kind == "as_none":
            return None
        if kind == "as_tensor":
            return Name(v["name"])
        if kind in ("as_tensors",):
            return [Name(t["name"]) for t in v]
        if kind == "as_optional_tensors":
            return [Name(t["as_tensor"]["name"]) if "as_tensor" in t else None for t in v]
        if kind == "as_sym_int":
            return Name(v["as_name"]) if "as_name" in v else v["as_int"]
        if kind == "as_sym_ints":
            return [Name(t["as_name"]) if "as_name" in t else t["as_int"] for t in v]
        if kind == "as_scalar_type":
            return SCALAR_TYPES[v]
        if kind == "as_device":
            return torch.device("cpu")
        if kind == "as_layout":
            return torch.strided
        if kind == "as_memory_format":
            return torch.contiguous_format
        return v

    def prepare(self):
        return [self.prepare_node(n) for n in self.graph["nodes"] if "_assert" not in n["target"]]

    def prepare_node(self, node):
        args, kwargs = [], {}
        for i in node["inputs"]:
            if i.get("kind") == 2:
                kwargs[i["name"]] = self.value(i["arg"])
            else:
                args.append(self.value(i["arg"]))
        outputs = []
        for o in node["outputs"]:
            (kind, v), = o.items()
            outputs.append([t["name"] for t in v] if kind == "as_tensors" else v.get("name", v.get("as_name")))
        return Call(function(node["target"]), args, kwargs, outputs)


class Name(str):
    pass


class Call:
    def __init__(self, f, args, kwargs, outputs):
        self.f, self.args, self.kwargs, self.outputs = f, args, kwargs, outputs


def function(target):
    name = target.replace("torch.ops.", "")
    if name == "aten.scaled_dot_product_attention.default":
        return getattr(torch.nn.functional, "scaled_dot_product_attention", attention)
    if name == "aten.sym_size.int":
        return lambda x, d: x.size(d)
    if name.startswith("_operator."):
        return getattr(operator, name.split(".")[1])
    f = torch.ops
    for part in name.split("."):
        f = getattr(f, part)
    return f


def lookup(env, a):
    if isinstance(a, Name):
        return env[a]
    if isinstance(a, list) and any(isinstance(x, Name) for x in a):
        return [env[x] if isinstance(x, Name) else x for x in a]
    return a


def run(program, calls, inputs):
    env, user = {}, iter(inputs)
    for spec in program.signature["input_specs"]:
        (kind, v), = ((k, v) for k, v in spec.items() if v is not None)
        if kind == "user_input":
            env[next(iter(v["arg"].values()))["name"]] = next(user)
        elif kind in ("parameter", "buffer", "tensor_constant"):
            env[v["arg"]["name"]] = program.state[v[f"{kind}_name"]]
    for c in calls:
        result = c.f(*[lookup(env, a) for a in c.args], **{k: lookup(env, a) for k, a in c.kwargs.items()})
        if len(c.outputs) == 1 and not isinstance(c.outputs[0], list):
            env[c.outputs[0]] = result
        elif c.outputs:
            names = c.outputs[0] if isinstance(c.outputs[0], list) else c.outputs
            env.update(zip(names, result))
    leaves = [next(iter(o["user_output"]["arg"].values())) for o in program.signature["output_specs"] if "user_output" in o]
    return [env[leaf["name"]] for leaf in leaves]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--expect", action="append", default=[])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    program = Program(options.model)
    calls = program.prepare()
    inputs = [torch.from_numpy(np.load(f)) for f in options.input]
    with torch.no_grad():
        for _ in range(5):
            outputs = run(program, calls, inputs)
        for f, out in zip(options.expect, outputs):
            np.testing.assert_allclose(out.numpy(), np.load(f), rtol=1e-3, atol=1e-4 * float(out.abs().max()))
        times = []
        for _ in range(options.repeat):
            start = time.perf_counter()
            run(program, calls, inputs)
            times.append((time.perf_counter() - start) * 1e3)
    json.dump({"torch": torch.__version__, "median_ms": statistics.median(times), "min_ms": min(times)}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
