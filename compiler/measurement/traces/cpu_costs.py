"""The processor time of a request at each service: CPU over requests, window by window."""

from __future__ import annotations

from msgspec import Struct


class CpuCost(Struct, frozen=True, kw_only=True):
    """The processor time of a request in s, `spread` to either side (95 %), relative.

    `idle` is what the service uses without requests, in cores.
    """

    service: str
    seconds: float
    spread: float
    idle: float
    windows: int
    rate: float
    notes: tuple[str, ...] = ()


class CpuCosts(Struct, frozen=True, kw_only=True):
    """Costs by service, from which file, and what is to be said of all of them."""

    file: str
    services: dict[str, CpuCost]
    notes: tuple[str, ...] = ()
