#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks of torchvision, timm and transformers with random weights, live and from files, compared with PyTorch and with float64.

    PYTHONPATH=build/python python3 tests/opinfo/run_networks.py [NAME...] [--jobs 2] [--of timm,transformers] [--only live] [--seconds 300]

Of torchvision and timm the network of each module that its name says to be the smallest, of transformers every model type whose
configuration can be made small. Libraries that are missing are named and left out. A network runs in a process of its own, in several
ways: live through torch.compile(backend="strata") and from a file that torch.export wrote; with --only also `sizes`, a file in which the
batch, the length of token lists and the size of images are symbolic, run with two sizes; `dynamic`, live with dynamic=True and two sizes; `bfloat16`,
live; `schedule`, whether the file and the live program (with frozen weights) are scheduled alike (needs the command, $STRATA_COMMAND).
Outcomes: agrees (within the tolerances of `strata run`, or within
twice PyTorch's error against float64, as Euclidean norms), differs, left (live: PyTorch runs a part, and why), refused (a file: Strata's error), failed (another
error, a crash, too slow), not exported, not built (no small one, or PyTorch itself does not run it so). Prints a line for each that does
not agree, progress on standard error, and totals. Exit code 1 when one differs or fails.
"""
import argparse
import collections
import copy
import difflib
import fnmatch
import importlib
import importlib.util
import inspect
import math
import os
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy
import torch
import torch.utils._pytree as pytree

import strata
from children import result_of

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from schedule_text import schedule

SIZES = {
    2: "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_decoder_layers depth num_blocks encoder_num_layers",
    4: "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads encoder_num_heads num_experts num_local_experts",
    2.0: "num_key_value_heads num_kv_heads num_experts_per_tok top_k",
    64: "hidden_size d_model dim n_embd embed_dim embedding_size hidden_dim projection_dim",
    16: "head_dim d_kv attention_head_size",
    128: "intermediate_size ffn_dim encoder_ffn_dim decoder_ffn_dim hidden_dim_mlp d_ff n_inner moe_intermediate_size max_position_embeddings",
    500: "vocab_size",
}
WANTED = {name: int(size) for size, names in SIZES.items() for name in names.split()}
SMALL = "atto femto pico nano zepto xxs xxsmall mini tiny xs small 0_5 050 s12 s0 b0 f0 18 10 11 14 26 s".split()
LARGEST = 60_000_000  # parameters


def shrink(config):
    from transformers import PreTrainedConfig

    for name, size in WANTED.items():
        if isinstance(getattr(config, name, None), int):
            try:
                setattr(config, name, min(size, getattr(config, name)))
            except Exception:
                pass  # said to be another name's
    for name, special in (("pad_token_id", 0), ("bos_token_id", 1), ("eos_token_id", 2)):
        if isinstance(getattr(config, name, None), int):
            setattr(config, name, special)
    for value in vars(config).values():
        if isinstance(value, PreTrainedConfig):
            shrink(value)
    config.use_cache = False
    return config


def transformers_model(name):
    from transformers import CONFIG_MAPPING, AutoModel

    config_class, model = CONFIG_MAPPING[name], None
    for make in (lambda: shrink(config_class()), lambda: config_class()):
        try:
            config = make()
            with torch.device("meta"):
                count = sum(p.numel() for p in AutoModel.from_config(config).parameters())
            if count <= LARGEST:
                model = AutoModel.from_config(config)
                model.eval()
                arguments = inputs_of(model, config)
                model(**arguments)
                return model, (), arguments
        except Exception:
            continue
    raise RuntimeError("no small one")


def inputs_of(model, config):
    draw = lambda *shape: torch.randn(*shape)
    part = lambda key: getattr(config, key, None) or next((getattr(v, key) for v in vars(config).values() if getattr(v, key, None)), None)
    side = part("image_size") or 224
    side = list(side) if isinstance(side, (list, tuple)) else [side, side]
    tokens = torch.randint(3, min(part("vocab_size") or 500, 500), (2, 16))
    parameters = inspect.signature(model.forward).parameters
    found = {
        "input_ids": lambda: tokens, "pixel_values": lambda: draw(1, part("num_channels") or 3, *side), "input_values": lambda: draw(1, 8000),
        "input_features": lambda: draw(1, part("num_mel_bins") or 80, 2 * (part("max_source_positions") or 50)),
    }
    arguments = {model.main_input_name: found[model.main_input_name]()}
    if config.is_encoder_decoder and "decoder_input_ids" in parameters:
        arguments["decoder_input_ids"] = tokens
    if "pixel_values" in arguments and "input_ids" in parameters and hasattr(config, "text_config"):
        arguments["input_ids"] = tokens
    if "input_ids" in arguments and "pixel_values" in parameters and hasattr(config, "vision_config"):
        arguments["pixel_values"] = found["pixel_values"]()
    if "return_dict" in parameters:
        arguments["return_dict"] = True
    return arguments


def smallest(names):
    def rank(name):
        parts = name.split(".")[0].split("_")
        return min([i for i, word in enumerate(SMALL) if word in parts or parts[0].endswith(word)] or [99]), len(name), name

    return min(names, key=rank)


def torchvision_names():
    import torchvision

    kinds = collections.defaultdict(list)
    for name in torchvision.models.list_models():
        kinds[torchvision.models.get_model_builder(name).__module__].append(name)
    return [smallest(names) for kind, names in kinds.items()]


def torchvision_model(name):
    import torchvision

    module = torchvision.models.get_model_builder(name).__module__
    more = {"weights_backbone": None} if "segmentation" in module or "detection" in module else {}
    model = torchvision.models.get_model(name, weights=None, **more).eval()
    if "detection" in module:
        return model, ([torch.rand(3, 224, 224)],), {}
    shapes = {"video": (1, 3, 16, 112, 112), "optical_flow": (1, 3, 128, 128), "quantization": None}
    shape = next((s for part, s in shapes.items() if part in module), (1, 3, 299 if "inception" in name else 224, 299 if "inception" in name else 224))
    if shape is None:
        raise RuntimeError("quantized")
    return model, (torch.randn(*shape),) * (2 if "optical_flow" in module else 1), {}


def timm_names():
    from timm.models import _registry

    return [smallest(names) for kind, names in sorted(_registry._module_to_models.items()) if names]


def timm_model(name):
    import timm

    model = timm.create_model(name, pretrained=False).eval()
    size = model.default_cfg.get("input_size", (3, 224, 224))
    return model, (torch.randn(1, *size),), {}


def transformers_names():
    from transformers import CONFIG_MAPPING, MODEL_MAPPING

    return [name for name, config in CONFIG_MAPPING.items() if config in MODEL_MAPPING]


# What every process would load for itself otherwise, for seconds.
PRELOADED = ["torch._dynamo", "torch.export", "transformers.models.llama.modeling_llama", "transformers.models.vit.modeling_vit"]
LIBRARIES = {"torchvision": (torchvision_names, torchvision_model), "timm": (timm_names, timm_model), "transformers": (transformers_names, transformers_model)}


def tensors_in(result):
    return [t for t in pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]


def as_type(tree, dtype):
    return pytree.tree_map(lambda t: t.to(dtype) if isinstance(t, torch.Tensor) and t.is_floating_point() else t, tree)


def results_of(run, arguments, keywords, seed=1):
    """The tensors that a network gives, in memory of their own."""
    with torch.no_grad():
        torch.manual_seed(seed)
        return [t.clone() for t in tensors_in(run(*arguments, **keywords))]


def compare(found, expected, exact):
    """Nothing, or how the results differ; and the error of the worst result by PyTorch's."""
    if len(found) != len(expected):
        return f"{len(found)} results, not {len(expected)}", 0.0
    most = 0.0
    for index, (ours, theirs) in enumerate(zip(found, expected)):
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            return f"result {index} is {ours.dtype} {tuple(ours.shape)}, not {theirs.dtype} {tuple(theirs.shape)}", most
        times = 0.0
        # Whole numbers too: labels of boxes whose scores all but tie come in another order in float64.
        if exact and torch.isfinite(exact[index]).all() and theirs.numel():
            error = lambda t: (t.double() - exact[index]).norm().item()
            rounding = 6e-8 * exact[index].norm().item() if theirs.is_floating_point() else 0.0
            times = error(ours) / max(error(theirs), rounding, 1e-30)
            most = max(most, times)
            if times <= 2:
                continue
        try:
            size = theirs.abs().max().item() if theirs.is_floating_point() and theirs.numel() else 0.0  # as `strata run` compares
            rtol, atol = (1.6e-2, 1e-2) if theirs.dtype == torch.bfloat16 else (1e-4, 1e-5)
            torch.testing.assert_close(ours, theirs, rtol=rtol, atol=atol * max(size, 1) if math.isfinite(size) else atol, equal_nan=True)
        except AssertionError as difference:
            return f"result {index}: {times:.1f} times PyTorch's error; " + " ".join(str(difference).split())[:160], most
    return "", most


def judge(found, expected, exact):
    """The outcome of what ran live."""
    reports = strata.reports()
    left = [r.reason.splitlines()[0] for r in reports if not r.compiled]
    why, times = compare(found, expected, exact)
    if why:
        return "differs", why, times
    if left or not reports:
        return "left", left[0][:200] if left else "no graph", times
    opaque = sorted({name for r in reports for name in r.opaque})
    return "agrees", "PyTorch is called for " + ", ".join(opaque) if opaque else "", times


def live(model, arguments, keywords, expected, exact):
    return judge(results_of(torch.compile(model, backend="strata"), arguments, keywords), expected, exact)


class NotBuilt(Exception):
    """PyTorch itself does not run a network in some way."""


def expected_of(model, arguments, keywords, way):
    """PyTorch's results."""
    try:
        return results_of(model, arguments, keywords)
    except Exception as error:
        raise NotBuilt(f"{way}: {error}") from error


def of_another_size(arguments, keywords):
    """Three times as many samples, other numbers, and shorter lists of tokens."""

    def other(t):
        if not isinstance(t, torch.Tensor) or t.dim() == 0:
            return t
        t = torch.cat([t, t.flip(0), t.roll(1, -1)])
        return torch.randn_like(t) if t.is_floating_point() else t[:, : max(t.shape[1] - 5, 1)] if t.dim() == 2 else t

    return pytree.tree_map(other, (arguments, keywords))


def at_another_size(model, arguments, keywords):
    """Inputs of another size, PyTorch's results and float64's."""
    others, other_keywords = of_another_size(arguments, keywords)
    expected = expected_of(model, others, other_keywords, "another size")
    return others, other_keywords, expected, in_float64(model, others, other_keywords, len(expected))


def dynamic(model, arguments, keywords, expected, exact):
    others, other_keywords, other_expected, other_exact = at_another_size(model, arguments, keywords)
    compiled = torch.compile(model, backend="strata", dynamic=True)
    found, other_found = results_of(compiled, arguments, keywords), results_of(compiled, others, other_keywords)
    outcome = judge(found, expected, exact)
    return judge(other_found, other_expected, other_exact) if outcome[0] == "agrees" else outcome


def bfloat16(model, arguments, keywords, expected, exact):
    arguments, keywords = as_type((arguments, keywords), torch.bfloat16)
    model = copy.deepcopy(model).bfloat16()
    expected = expected_of(model, arguments, keywords, "bfloat16")
    exact = in_float64(model, arguments, keywords, len(expected)) if exact else None
    return live(model, arguments, keywords, expected, exact)


def sizes(model, arguments, keywords, expected, exact):
    others, other_keywords, other_expected, other_exact = at_another_size(model, arguments, keywords)

    def symbolic(t):
        if not isinstance(t, torch.Tensor) or t.dim() == 0:
            return None
        tokens, image = t.dim() == 2 and not t.is_floating_point(), t.dim() == 4 and t.is_floating_point()
        return {d: torch.export.Dim.AUTO for d in ((0, 1) if tokens else (0, 2, 3) if image else (0,))}

    def exported():
        # A batch of one would be taken for a constant.
        lone = any(t.shape[0] == 1 for t in tensors_in((arguments, keywords)))
        example, example_keywords = of_another_size(arguments, keywords) if lone else (arguments, keywords)
        shapes = pytree.tree_map(symbolic, (example, example_keywords))
        names = list(inspect.signature(model.forward).parameters)
        program = torch.export.export(model, example, example_keywords, dynamic_shapes={**dict(zip(names, shapes[0])), **shapes[1]})
        for given, named in ((arguments, keywords), (others, other_keywords)):
            try:
                program.module()(*given, **named)
            except AttributeError:
                pass  # its check of guards looks for inputs that are None
        return program

    return through_file(exported, ((arguments, keywords), expected, exact), ((others, other_keywords), other_expected, other_exact))


def through_file(export, *calls):
    """The outcome of the first of (inputs, PyTorch's results, float64's) that does not agree, of one compile."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "network.pt2")
        try:
            with torch.no_grad():
                torch.export.save(export(), path)
        except Exception as error:
            return "not exported", f"{type(error).__name__}: {error}".splitlines()[0][:120], 0.0
        try:
            loaded = strata.load(path)
            for call in calls:
                outcome = judge_file(loaded, *call)
                if outcome[0] != "agrees":
                    break
            return outcome
        except strata.StrataError as error:
            return "refused", " ".join(str(error).split())[:200], 0.0


def judge_file(loaded, given, expected, exact):
    found = loaded(*[t.numpy() for t in tensors_in(given)])
    found = found if isinstance(found, (tuple, list)) else [found]
    found = [torch.from_numpy(numpy.array(t)) for t in found if not isinstance(t, (bool, int, float, str, type(None)))]
    if len(found) > len(expected):  # symbolic sizes among the results
        found = [t for t in found if t.dim() or t.dtype != torch.int64]
    why, times = compare(found, expected, exact)
    return ("differs" if why else "agrees"), why, times


def from_file(model, arguments, keywords, expected, exact):
    return through_file(lambda: torch.export.export(model, arguments, keywords), ((arguments, keywords), expected, exact))


def scheduled(model, arguments, keywords, expected, exact):
    """Whether a file and what was exported to it, live, have the same launches, buffers and loops. (Of the module itself Dynamo may capture
    another program than the exporter: masks that transformers leaves out, what a module keeps for later.)"""
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        path, of_file, of_live = (os.path.join(folder, name) for name in ("network.pt2", "file.strata", "live.strata"))
        try:
            program = torch.export.export(model, arguments, keywords)
            torch.export.save(program, path)
        except Exception as error:
            return "not exported", f"{type(error).__name__}: {error}".splitlines()[0][:120], 0.0
        try:
            with strata.record(of_file):
                strata.load(path)(*[t.numpy() for t in tensors_in((arguments, keywords))])
        except strata.StrataError as error:
            return "refused", " ".join(str(error).split())[:200], 0.0
        torch._dynamo.reset()
        strata.reset()
        with strata.record(of_live):
            torch.compile(program.module(), backend="strata", options={"freezing": True})(*arguments, **keywords)
        reports = strata.reports()
        if len(reports) != 1 or not reports[0].compiled:
            return "left", next((r.reason.splitlines()[0][:200] for r in reports if not r.compiled), f"{len(reports)} graphs"), 0.0
        differing = list(difflib.unified_diff(schedule(of_file), schedule(of_live), "file", "live", lineterm="", n=0))
        return ("differs", f"{len(differing)} lines: " + " ".join(differing[3:5])[:200], 0.0) if differing else ("agrees", "", 0.0)


USUAL = "live,file"
WAYS = {"live": live, "file": from_file, "sizes": sizes, "dynamic": dynamic, "bfloat16": bfloat16, "schedule": scheduled}


def in_float64(model, arguments, keywords, count):
    """So many results of the network in float64, or None where it does not run so."""
    torch.set_default_dtype(torch.float64)  # of what it makes itself
    try:
        exact = results_of(copy.deepcopy(model).double(), *as_type((arguments, keywords), torch.float64))
        return [t.double() for t in exact] if len(exact) == count else None
    except Exception:
        return None
    finally:
        torch.set_default_dtype(torch.float32)


def draw_statistics(model):
    """Batch norms as after some training. As they are made they multiply by almost 1: sums of two bfloat16 numbers that lie in the middle of two
    others are then a little less than that, all of them, and right rounding makes all results too small."""
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.running_var is not None:
                module.running_mean.normal_(0, 0.1)
                module.running_var.uniform_(0.7, 1.4)


def try_network(library, name, ways):
    """(way, outcome, why, times PyTorch's error) of each way."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    try:
        model, arguments, keywords = LIBRARIES[library][1](name)
        if sum(p.numel() for p in model.parameters()) > LARGEST:
            raise RuntimeError("no small one")
        draw_statistics(model)
        other, expected = results_of(model, arguments, keywords, seed=2), results_of(model, arguments, keywords)
        draws = any(a.shape != b.shape or not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(other, expected))
    except Exception as error:
        return [("both", "not built", f"{type(error).__name__}: {error}".splitlines()[0][:100], 0.0)]
    exact = None if draws else in_float64(model, arguments, keywords, len(expected))
    outcomes = []
    for way in ways:
        if way in ("file", "sizes", "schedule") and draws:
            outcomes.append((way, "not exported", "it draws random numbers", 0.0))
            continue
        try:
            torch._dynamo.reset()
            strata.reset()
            outcomes.append((way, *WAYS[way](model, arguments, keywords, expected, exact)))
        except NotBuilt as error:
            outcomes.append((way, "not built", str(error).splitlines()[0][:120], 0.0))
        except Exception as error:
            outcomes.append((way, "failed", f"{type(error).__name__}: {error}".replace("\n", " ")[:300], 0.0))
    return outcomes


def in_child(library, name, options):
    """In a process of its own: what crashes or hangs is one network's."""
    found, status = result_of(lambda: try_network(library, name, options.only.split(",")), options.seconds, quiet=(1, 2))
    return [("both", "failed", f"the process ended with status {status}", 0.0)] if status else found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="networks, with * and ?; all by default")
    parser.add_argument("--of", default=",".join(LIBRARIES), help="libraries")
    parser.add_argument("--only", default=USUAL, help=f"ways, of {', '.join(WAYS)}; {USUAL} by default")
    parser.add_argument("--jobs", type=int, default=2, help="networks at once")
    parser.add_argument("--seconds", type=int, default=300, help="for each network")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for module in PRELOADED:
        if importlib.util.find_spec(module.split(".")[0]):
            importlib.import_module(module)
    wanted = []
    for library in options.of.split(","):
        if importlib.util.find_spec(library) is None:
            print(f"skipped: this Python has no {library}")
            continue
        names = LIBRARIES[library][0]()
        wanted += [(library, name) for name in names if not options.names or any(fnmatch.fnmatch(name, pattern) for pattern in options.names)]
    totals, errors, began = collections.Counter(), [], time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        for done, ((library, name), outcomes) in enumerate(zip(wanted, pool.map(lambda one: in_child(*one, options), wanted)), 1):
            for way, outcome, why, times in outcomes:
                totals[library, way, outcome] += 1
                errors += [times] if times else []
                if why and outcome != "not built":
                    print(f"{library:12} {name:36} {way:5} {outcome:12} {why}", flush=True)
            print(f"networks: {done}/{len(wanted)}, {time.monotonic() - began:.0f} s: {name}", file=sys.stderr, flush=True)
    for (library, way, outcome), count in sorted(totals.items()):
        print(f"{library:12} {way:5} {count:4} {outcome}")
    if errors:
        print(f"a network's largest error against float64 is {sorted(errors)[len(errors) // 2]:.2f} times PyTorch's in the median, {max(errors):.2f} at most")
    return 1 if any(outcome in ("differs", "failed") for _, _, outcome in totals) else 0


if __name__ == "__main__":
    raise SystemExit(main())
