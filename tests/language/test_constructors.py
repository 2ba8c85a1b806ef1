"""How our types are made: what has more than four fields takes keywords only."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from types import FunctionType
from typing import Any, NamedTuple

from msgspec import Struct

import qps

MOST_BY_PLACE = 4


def test_what_has_more_than_four_fields_takes_keywords_only() -> None:
    by_place = {
        f"{kind.__module__}.{kind.__qualname__}"
        for kind in _kinds()
        if _by_place(kind) > MOST_BY_PLACE
    }
    assert by_place == set()


def test_what_is_taken_by_place_is_counted() -> None:
    class Plain:
        def __init__(self, one: int, other: int, *, named: int) -> None: ...

    class Pair(NamedTuple):
        one: int
        other: int

    assert [_by_place(kind) for kind in (Plain, Pair, Struct, object)] == [2, 2, 0, 0]


def _by_place(kind: Any) -> int:
    """Return how many values a type takes by their places, as far as the type itself says."""
    if is_dataclass(kind) or issubclass(kind, Struct | tuple):
        return len(getattr(kind, "__match_args__", ()))
    own = vars(kind).get("__init__")
    return own.__code__.co_argcount - 1 if isinstance(own, FunctionType) else 0


def _kinds() -> Iterator[Any]:
    """Yield the types of ours."""
    for found in pkgutil.walk_packages(qps.__path__, "qps."):
        if found.name == "qps.__main__":
            continue
        for value in vars(import_module(found.name)).values():
            if isinstance(value, type) and value.__module__ == found.name:
                yield value
