"""What a cycle of a closed stream is made of, once it was read off."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from qps.compiler.lower.closed import Limit
from qps.compiler.lower.closed_pools import Pools
from qps.compiler.lower.closed_stations import ClosedStation
from qps.compiler.lower.forked_stations import Fork
from qps.engine.formulas import Formula


class Cycle(Struct, frozen=True, kw_only=True):
    """What a cycle of a closed stream is made of, with its waits at machines of its own."""

    name: str
    jobs: Formula
    delay: Formula
    stations: tuple[ClosedStation, ...]
    pools: Pools
    limits: tuple[Limit, ...]
    own_waits: Mapping[str, Formula]
    overlapping: tuple[str, ...]
    forks: tuple[Fork, ...] = ()
    often: Mapping[str, Formula]
