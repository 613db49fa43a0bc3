# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Captured programs: what a trace gives, and what the cache on disk has of an earlier one (docs/cache.md).

Both have `opaque` (operators for which PyTorch is called), `written` (positions of the inputs that are written), `outputs` (what
`_strata.LiveModel.set_outputs` takes) and `build(...)`, a `_strata.LiveModel` of the program.
"""
import base64
import json
import os
import sys
import zlib

from . import _strata
from ._backends import first_line
from ._capture import Left, capture, draws, shape_env, written_inputs
from ._direct import inputs_of_dynamo
from ._genuine import operators_of, registered
from ._outputs import Outputs
from ._program_key import NotKept, key_of

_FORMAT = 1


class Traced:
    """A program as a trace gives it."""

    def __init__(self, gm, inputs):
        self.module, self.opaque = capture(gm, inputs)
        self.written = written_inputs(self.module)
        self._outputs = None

    @property
    def outputs(self):
        if self._outputs is None:
            outputs = Outputs(self.module)
            outputs.restrict(self.module)
            self._outputs = outputs.description()
        return self._outputs

    def build(self, name, backend, mode, threads, disabled_passes, frozen):
        outputs = self.outputs  # first: it takes what is made elsewhere out of the graph
        model = _strata.compile_fx(self.module, name, backend, mode, threads, disabled_passes, frozen)
        model.set_outputs(*outputs)
        return model


class Kept:
    """A program as the cache has it."""

    opaque = ()

    def __init__(self, text, constants, written, outputs):
        self.text, self.constants, self.written, self.outputs = text, constants, written, outputs

    def build(self, name, backend, mode, threads, disabled_passes, frozen):
        model = _strata.compile_text(self.text, self.constants, name, backend, mode, threads, disabled_passes, frozen)
        model.set_outputs(*self.outputs)
        return model

    def __eq__(self, other):
        return isinstance(other, Kept) and vars(self) == vars(other)


# ---------------------------------------------------------------------------------------------------------------- form


def _constant(maker):
    """Whether JSON gives back what an output's maker says."""
    kind, *rest = maker
    numbers = lambda value: type(value) is int or isinstance(value, (list, tuple)) and all(map(numbers, value))
    return type(rest[0]) in (type(None), bool, int, float, str) if kind == "constant" else all(map(numbers, rest))


def _plain(outputs):
    makers, strides, symbols = outputs
    if not all(map(_constant, makers)):
        raise NotKept("it returns what is neither a tensor nor a plain value")
    if symbols or not all(type(n) is int for sizes in strides for n in sizes):
        raise NotKept("sizes of what it returns are symbols")
    return [list(maker) for maker in makers], [list(sizes) for sizes in strides], []


def _as_kept(traced):
    """What there is to keep of a traced program. Raises NotKept."""
    if traced.opaque:
        raise NotKept("PyTorch is called for " + ", ".join(traced.opaque))
    drawing = next((node for node in traced.module.graph.nodes if draws(node)), None)
    if drawing is not None:
        raise NotKept(f"'{drawing.name}' draws random numbers, and whether as PyTorch does is found out in every process")
    outputs = _plain(traced.outputs)
    try:
        text, constants = _strata.fx_as_text(traced.module)
        return Kept(text.decode(), constants, list(traced.written), outputs)
    except (_strata.StrataError, UnicodeError) as error:
        raise NotKept(str(error)) from None


def _pack(kept, operators):
    makers, strides, _ = kept.outputs
    entry = {
        "format": _FORMAT, "operators": operators, "registered": registered(operators, NotKept), "written": kept.written,
        "makers": makers, "strides": strides, "text": kept.text,
        "constants": {name: base64.b64encode(data).decode() for name, data in kept.constants.items()},
    }  # fmt: skip
    return zlib.compress(json.dumps(entry).encode(), 1)


def _unpack(content):
    """The kept program. Raises NotKept where PyTorch's operators are not what they were; anything else for what is no entry."""
    entry = json.loads(zlib.decompress(content))
    if entry["format"] != _FORMAT:
        raise ValueError(f"format {entry['format']}")
    if registered(entry["operators"], NotKept) != entry["registered"]:
        raise NotKept("kernels of its operators are others than they were")
    makers = [list(maker) for maker in entry["makers"]]
    constants = {name: base64.b64decode(data) for name, data in entry["constants"].items()}
    return Kept(entry["text"], constants, entry["written"], (makers, entry["strides"], []))


# --------------------------------------------------------------------------------------------------------------- cache


class Start:
    """How the program of one graph is come by. `note`: what became of it with the cache, for the report."""

    def __init__(self, gm, inputs):
        self.gm, self.inputs = gm, inputs
        self.key, self.note = None, ""

    def first(self, use):
        """What `use` gives for the cache's program, or for a traced one, which is kept then. Where the cache's program cannot be used,
        nothing is lost but time."""
        kept = self._kept()
        if kept is not None and not _checked():
            try:
                return use(kept)
            except Left:
                raise
            except Exception as error:
                self.note, kept = f"captured, as what the cache has cannot be used ({first_line(error)})", None
        guards = _guards()
        traced = Traced(self.gm, self.inputs)
        result = use(traced)
        if kept is not None:
            self._compare(kept, traced)
        elif self.key is not None:
            self._keep(traced, guards)
        return result

    def _kept(self):
        if _strata.is_recording():
            self.note = "captured, as it is recorded"
        elif off := _strata.why_nothing_is_kept():
            self.note = "captured; there is no cache: " + off
        else:
            try:
                self.key = key_of(self.gm, self.inputs)
                return self._load()
            except NotKept as why:
                self._give_up(why)
            except Exception as error:  # a PyTorch that says it otherwise
                self._give_up(first_line(error))
        return None

    def _load(self):
        content = _strata.cached_program(self.key)
        if content is None:
            return None
        try:
            kept = _unpack(content)
        except NotKept:
            raise
        except Exception as error:
            self.note = f"captured, as what the cache has is damaged ({type(error).__name__})"
            return None
        self.note = "from the cache"
        return kept

    def _give_up(self, why):
        self.key, self.note = None, f"captured; not kept: {why}"

    def _compare(self, kept, traced):
        """In a process that checks the cache."""
        try:
            same = _as_kept(traced) == kept
        except NotKept as why:
            same, self.note = False, f"{self.note}, and would not be kept: {why}"
        if not same:
            self.note = f"captured; the cache has another program: {self.note}"
            print(f"strata: the cache has another program of {self.key.hex()} than a capture gives", file=sys.stderr)

    def _keep(self, traced, guards):
        try:
            if inputs_of_dynamo(self.gm, self.inputs) is None:
                raise NotKept("sizes inside it are symbols")
            if _guards() != guards:
                raise NotKept("its capture made guards of PyTorch's")
            stored = _strata.keep_program(self.key, _pack(_as_kept(traced), operators_of(traced.module)))
            self.note = f"{self.note or 'captured'}; {'kept' if stored else 'not kept: the cache took nothing'}"
        except NotKept as why:
            self._give_up(why)
        except Exception as error:  # a PyTorch that says it otherwise
            self._give_up(first_line(error))


def _checked():
    return os.environ.get("STRATA_CACHE_CHECK", "") not in ("", "0")


def _guards():
    """What PyTorch's environment of sizes has been told so far."""
    env = shape_env()
    if env is None:
        return ()
    asserts = getattr(env, "deferred_runtime_asserts", {})
    return len(getattr(env, "guards", ())), sum(map(len, asserts.values())), len(getattr(env, "replacements", ()))

