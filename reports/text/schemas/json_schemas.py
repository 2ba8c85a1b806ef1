"""JSON Schemas (draft 2020-12) of what commands print with `--format json`, made of the types.

They say what `json_encoding` makes of a value: a trailing underscore of a name goes, a dimension is
a text, and a number that has no end is null.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import fields

from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import Dimension
from qps.solver.search.method import SearchMethod

DRAFT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

_PLAIN: Mapping[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    float: {"type": ["number", "null"]},
    type(None): {"type": "null"},
    object: {},
    Any: {},
    Dimension: {"type": "string"},
    SearchMethod: {"type": "boolean"},
}


def schema_of(kind: type[Struct], name: str, title: str) -> Schema:
    """Return the schema of what is printed of a struct; `name` is what its key `schema` says.

    TypeError where a type stands in it of which `json_encoding` makes no JSON.
    """
    found: dict[str, Schema] = {}
    top = _struct(kind, found)
    top["properties"]["schema"] = {"const": name}
    return {
        "$schema": DRAFT,
        "$id": f"https://example.org/{name}.schema.json",
        "title": title,
        **top,
        "$defs": dict(sorted(found.items())),
    }


def _struct(kind: type[Struct], found: dict[str, Schema]) -> Schema:
    hints = get_type_hints(kind)
    keys = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
    if kind is Certainty:  # its reasons are reported in words
        hints["because"], keys["because"] = tuple[str, ...], "reasons"
        del keys["theorems"]
    properties = {key.rstrip("_"): _of(hints[name], found) for name, key in keys.items()}
    left_out: frozenset[str] = getattr(kind, "LEFT_OUT", frozenset())
    if kind is Certainty:
        left_out = frozenset(["error"])
    if kind.__struct_config__.omit_defaults:
        left_out |= {field.encode_name for field in fields(kind) if not field.required}
    about = (kind.__doc__ or "").strip().split("\n\n")[0]
    return {
        "description": " ".join(about.split()),
        "type": "object",
        "properties": properties,
        "required": [key for key in properties if key not in left_out],
        "additionalProperties": False,
    }


def _of(kind: Any, found: dict[str, Schema]) -> Schema:
    """Return the schema of a type; structs are named in what was found."""
    if isinstance(kind, type) and issubclass(kind, Struct) and kind not in _PLAIN:
        if kind.__name__ not in found:
            found[kind.__name__] = {}
            found[kind.__name__] = _struct(kind, found)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    plain = _PLAIN.get(kind)
    if plain is not None:
        return dict(plain)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    origin, arguments = get_origin(kind), get_args(kind)
    make = _GENERIC.get(origin)
    if make is None:
        raise TypeError(f"no JSON is known of {kind}")
    return make(arguments, found)


def _union(arguments: Sequence[Any], found: dict[str, Schema]) -> Schema:
    parts = [_of(one, found) for one in arguments]
    simple = [part["type"] for part in parts if set(part) == {"type"}]
    if len(simple) == len(parts):
        names = [name for one in simple for name in ([one] if isinstance(one, str) else one)]
        return {"type": list(dict.fromkeys(names))}
    return {"anyOf": parts}


def _tuple(arguments: Sequence[Any], found: dict[str, Schema]) -> Schema:
    if len(arguments) == 2 and arguments[1] is Ellipsis:  # noqa: PLR2004 - `tuple[X, ...]`
        return {"type": "array", "items": _of(arguments[0], found)}
    parts = [_of(one, found) for one in arguments]
    count = len(parts)
    return {"type": "array", "prefixItems": parts, "minItems": count, "maxItems": count}


def _mapping(arguments: Sequence[Any], found: dict[str, Schema]) -> Schema:
    return {"type": "object", "additionalProperties": _of(arguments[1], found)}


def _list(arguments: Sequence[Any], found: dict[str, Schema]) -> Schema:
    return {"type": "array", "items": _of(arguments[0], found)}


_GENERIC: Mapping[object, Callable[[Sequence[Any], dict[str, Schema]], Schema]] = {
    Union: _union,
    types.UnionType: _union,
    tuple: _tuple,
    list: _list,
    Sequence: _list,
    dict: _mapping,
    Mapping: _mapping,
    Literal: lambda arguments, _: {"enum": list(arguments)},
}
