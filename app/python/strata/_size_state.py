# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's environment of symbolic sizes (`ShapeEnv`) has been told, as text: what a trace makes of a size follows from it, and a
trace that tells it more has made guards."""

from ._rewrite import chooses_convolution


def size(value):
    """A size as text or number."""
    return value if type(value) is int else str(value.node.expr)


def _mapping(values):
    return sorted((str(key), _text(value)) for key, value in (values or {}).items())


def _text(value):
    if isinstance(value, (list, tuple, set, frozenset)):
        return sorted(map(_text, value)) if isinstance(value, (set, frozenset)) else [_text(part) for part in value]
    return str(value)


def _range(bounds):
    return str(getattr(bounds, "lower", None)), str(getattr(bounds, "upper", None))


def source_of(source):
    """A source of a value by its name: `L['x']`."""
    name = source.name
    return name() if callable(name) else str(name)


def _guard(guard):
    return str(guard.expr), bool(getattr(guard, "size_oblivious", False)), chooses_convolution(guard)


_MAPPINGS = (
    "replacements", "axioms", "var_to_hint_override", "unbacked_renamings", "unbacked_inputs", "val_to_var",
    "real_tensor_prop_unbacked_vals",
)  # fmt: skip
_OTHERS = ("divisible", "size_like", "exclusion_constraints", "frozen", "runtime_asserts_frozen", "_error_on_new_guards", "specializations")


def state_of(env):
    """All that a trace can see of an environment; equal for equal ones, of other processes too."""
    values = env.backed_var_to_val if hasattr(env, "backed_var_to_val") else env.var_to_val
    asserts = getattr(env, "deferred_runtime_asserts", None) or {}
    return (
        repr(getattr(env, "settings", None)),
        [_guard(guard) for guard in env.guards],
        _mapping(values),
        sorted((str(symbol), _range(bounds)) for symbol, bounds in env.var_to_range.items()),
        sorted((str(symbol), [source_of(source) for source in sources]) for symbol, sources in env.var_to_sources.items()),
        sorted((str(symbol), [str(one.expr) for one in made]) for symbol, made in asserts.items()),
        [_mapping(getattr(env, name, None)) for name in _MAPPINGS],
        [_text(getattr(env, name, None)) for name in _OTHERS],
    )

