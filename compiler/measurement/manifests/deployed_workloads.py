"""What manifests state of a system, whatever they were written for."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Workload(Struct, frozen=True, kw_only=True):
    """What runs in so many replicas, or machines: cores and bytes of each, None where not stated.

    `limit` is what its processor time is limited to, `request` what it is guaranteed. Where an
    autoscaler changes their number, it is from `least` to `most`. `machine_type` is the type of
    cloud machines. `depends_on` are names of others that it uses. `file` is where it stands.
    """

    name: str
    file: str
    replicas: int = 1
    least: int | None = None
    most: int | None = None
    limit: float | None = None
    request: float | None = None
    memory: float | None = None
    machine_type: str = ""
    depends_on: tuple[str, ...] = ()


def mapping(value: Any) -> dict[str, Any]:
    """Return a value that should be a mapping; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """Return a value that should be a list; an empty one where it is none."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """Return a value that should be a text; an empty one where it is none."""
    return value if isinstance(value, str) else ""


def count(value: Any) -> int | None:
    """Return a value that should be a number of things; None where it is none."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value) if len(value) <= _LONGEST_COUNT else -1
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 <= value <= _MOST else None


_MOST = 1_000_000
_LONGEST_COUNT = 7
