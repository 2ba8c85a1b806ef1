"""Who visits a station that serves otherwise than in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Visitor:
    """Who visits a station: the service left, and where to go on."""

    __slots__ = ("item", "left", "overlaps", "priority", "since", "then")

    def __init__(
        self,
        item: Any,
        service: float,
        priority: float,
        then: Callable[[Any], None],
        *,
        overlaps: bool,
    ) -> None:
        self.item = item
        self.left = service
        self.priority = priority
        self.then = then
        self.overlaps = overlaps
        self.since = 0.0

    def begins(self) -> None:
        """Go on, where that is when the station begins."""
        if self.overlaps:
            then, item, self.overlaps = self.then, self.item, False
            self.then = _gone_on
            then(item)


def _gone_on(_: Any) -> None:
    """Do nothing: who visits has gone on before."""
