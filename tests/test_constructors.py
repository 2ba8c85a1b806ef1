"""How our types are made: what has more than four fields takes keywords only."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any

from msgspec import Struct

import qps

MOST_BY_PLACE = 4


def test_what_has_more_than_four_fields_takes_keywords_only() -> None:
    by_place = {
        f"{kind.__module__}.{kind.__qualname__}"
        for kind in _kinds()
        if len(kind.__match_args__) > MOST_BY_PLACE
    }
    assert by_place == set()


def _kinds() -> Iterator[Any]:
    """Yield the types of ours that have fields."""
    for found in pkgutil.walk_packages(qps.__path__, "qps."):
        if found.name == "qps.__main__":
            continue
        for value in vars(import_module(found.name)).values():
            is_own = isinstance(value, type) and value.__module__ == found.name
            if is_own and (is_dataclass(value) or issubclass(value, Struct)):
                yield value
