# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Captured programs: what a trace gives, and what the cache on disk has of an earlier one (docs/cache.md).

Both have `opaque` (operators for which PyTorch is called), `written` (positions of the inputs that are written), `outputs` (what
`_strata.LiveModel.set_outputs` takes), `forgets` (whether PyTorch's choices among its kernels of convolutions are taken back) and `build(...)`, a `_strata.LiveModel` of the program.
"""
import base64
import json
import os
import sys
import zlib

from . import _rewrite, _strata
from ._backends import first_line
from ._capture import capture, draws, shape_env, written_inputs
from ._direct import inputs_of_dynamo
from ._genuine import operators_of, registered
from ._left import Left
from ._outputs import Outputs
from ._program_key import NotKept, has_symbols, key_of
from ._size_state import state_of

_FORMAT = 1


class Traced:
    """A program as a trace gives it."""

    def __init__(self, gm, inputs):
        self.module, self.opaque = capture(gm, inputs)
        self.written = written_inputs(self.module)
        self.forgets = _rewrite.convolves_row_by_row(self.module)
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

    def __init__(self, text, constants, written, forgets, outputs):
        self.text, self.constants, self.written, self.forgets, self.outputs = text, constants, written, forgets, outputs

    def build(self, name, backend, mode, threads, disabled_passes, frozen):
        model = _strata.compile_text(self.text, self.constants, name, backend, mode, threads, disabled_passes, frozen)
        model.set_outputs(*self.outputs)
        return model

    def __eq__(self, other):
        return isinstance(other, Kept) and vars(self) == vars(other)


# ---------------------------------------------------------------------------------------------------------------- form


def _is_size(value):
    """Whether JSON gives back sizes: numbers, and expressions in symbols."""
    return type(value) in (int, str) or isinstance(value, (list, tuple)) and all(map(_is_size, value))


def _constant(maker):
    """Whether JSON gives back what an output's maker says."""
    kind, *rest = maker
    return type(rest[0]) in (type(None), bool, int, float, str) if kind == "constant" else _is_size(rest)


def _plain(outputs):
    makers, strides, symbols = outputs
    if not all(map(_constant, makers)):
        raise NotKept("it returns what is neither a tensor nor a plain value")
    if not _is_size(strides):
        raise NotKept("strides of what it returns are worked out by Python")
    return [list(maker) for maker in makers], [list(sizes) for sizes in strides], [list(symbol) for symbol in symbols]


def _as_kept(traced):
    """What there is to keep of a traced program. Raises NotKept."""
    if traced.opaque:
        raise NotKept("PyTorch is called for " + ", ".join(traced.opaque))
    drawing = next((node for node in traced.module.graph.nodes if draws(node)), None)
    if drawing is not None:
        raise NotKept(f"'{drawing.name}' draws random numbers, and whether as PyTorch does is found out in every process")
    if any(node.meta.get("gives_size") for node in traced.module.graph.nodes):
        raise NotKept("it has sizes that depend on data")
    outputs = _plain(traced.outputs)
    try:
        text, constants = _strata.fx_as_text(traced.module)
        return Kept(text.decode(), constants, list(traced.written), traced.forgets, outputs)
    except (_strata.StrataError, UnicodeError) as error:
        raise NotKept(str(error)) from None


def _pack(kept, operators):
    makers, strides, symbols = kept.outputs
    entry = {
        "format": _FORMAT, "operators": operators, "registered": registered(operators, NotKept), "written": kept.written,
        "forgets": kept.forgets, "makers": makers, "strides": strides, "symbols": symbols, "text": kept.text,
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
    return Kept(entry["text"], constants, entry["written"], entry["forgets"], (makers, entry["strides"], entry["symbols"]))


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
                _forget(kept)
                return use(kept)
            except Left:
                raise
            except Exception as error:
                self.note, kept = f"captured, as what the cache has cannot be used ({first_line(error)})", None
        before = self._sizes()
        traced = Traced(self.gm, self.inputs)
        made_guards = before != self._sizes()
        _forget(traced)
        left = self._sizes()
        result = use(traced)
        if kept is not None:
            self._compare(kept, traced)
        elif self.key is not None:
            self._keep(traced, made_guards or left != self._sizes())
        return result

    def _sizes(self):
        """What PyTorch has been told of symbolic sizes so far; nothing where that is of no interest."""
        if self.key is None:
            return None
        env = shape_env()
        return state_of(env) if has_symbols(self.gm) else (len(env.guards), len(env.replacements), len(env.var_to_range))

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

    def _keep(self, traced, made_guards):
        try:
            if made_guards:
                raise NotKept("its capture made guards of PyTorch's")
            if not has_symbols(self.gm) and inputs_of_dynamo(self.gm, self.inputs) is None:
                raise NotKept("sizes inside it are symbols")
            stored = _strata.keep_program(self.key, _pack(_as_kept(traced), operators_of(traced.module)))
            self.note = f"{self.note or 'captured'}; {'kept' if stored else 'not kept: the cache took nothing'}"
        except NotKept as why:
            self._give_up(why)
        except Exception as error:  # a PyTorch that says it otherwise
            self._give_up(first_line(error))


def _checked():
    return os.environ.get("STRATA_CACHE_CHECK", "") not in ("", "0")


def _forget(program):
    env = shape_env() if program.forgets else None
    if env is not None:
        _rewrite.forget_choices_of_convolutions(env)
