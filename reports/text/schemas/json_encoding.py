"""Views as values of JSON."""

from __future__ import annotations

from math import isfinite

from msgspec import Struct, to_builtins

from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import Dimension
from qps.solver.search.method import SearchMethod


def as_json(value: object) -> object:
    """Return a view as JSON values; a trailing underscore of a name is Python's, not ours.

    A field in `LEFT_OUT` has no key if it is None.
    """
    if isinstance(value, Dimension):
        return str(value)
    if isinstance(value, SearchMethod):
        return value is SearchMethod.CLOSED_FORM
    if isinstance(value, Certainty):
        return {key: field for key, field in value.printed.items() if field is not None}
    if isinstance(value, Struct):
        if value.__struct_config__.omit_defaults:
            return as_json(to_builtins(value))
        named = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
        left_out: frozenset[str] = getattr(type(value), "LEFT_OUT", frozenset())
        fields = ((key, getattr(value, name)) for key, name in named)
        return {
            key.rstrip("_"): as_json(field)
            for key, field in fields
            if field is not None or key not in left_out
        }
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [as_json(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
