"""A run of a load generator: what it did, how long that took, and what of its file said so."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

_ALIKE = 0.02
"""Part of a number by which the same may differ where both were rounded and timed by themselves."""
ITEMS = "items"
"""What the rate of items is called among the fields of a run: the item has a name of its own."""
MEAN_USERS = "users, mean"

Fields = Mapping[str, str]
"""Which field of a file each number comes from, by what it is: `{"users": "`vus`"}`."""


class Twice(Struct, frozen=True, kw_only=True):
    """A number that a file gives twice: as it is stated, and as it follows from other numbers.

    `derived_from` says from which; `rounding` is by how much both may differ for nothing but the
    digits that they are written with.
    """

    what: str
    stated: float
    derived: float
    derived_from: str
    rounding: float = 0.0

    @property
    def agrees(self) -> bool:
        """Whether both may be the same number."""
        return abs(self.stated - self.derived) <= _ALIKE * abs(self.stated) + self.rounding


class LoadRun(Struct, frozen=True, kw_only=True):
    """What a load generator says of a run, or of a stretch of one; None for what it does not.

    `done` items a second (`nested` more are sums of others, and none of them), `received` bytes a
    second, `failed` a share of the items, `latencies` in s by what they are (`mean`, `p95`),
    `start` in s since 1970, `users` the most that were at work at a time, `mean_users` how many
    were on average. `place` says where in its file a run stands, `is_whole` whether it is no
    stretch of one.
    """

    file: str
    done: float
    nested: float = 0.0
    received: float | None = None
    users: float | None = None
    mean_users: float | None = None
    failed: float | None = None
    start: float | None = None
    latencies: Mapping[str, float] = field(default_factory=dict)
    twice: tuple[Twice, ...] = ()
    fields: Fields = field(default_factory=dict)
    place: str = ""
    is_whole: bool = True

    def has(self, what: str) -> bool:
        """Whether there is a value of what a field is named for; a file may lack the field."""
        values: dict[str, object] = {
            "users": self.users,
            MEAN_USERS: self.mean_users,
            "byte/s": self.received,
            "share failed": self.failed,
            "latency": any(self.latencies.values()) or None,
        }
        return values.get(what, self.done) is not None


def percentile_of(kind: str) -> float | None:
    """Return which percentile a latency is, None where it is none.

    >>> percentile_of("p99.9"), percentile_of("mean")
    (99.9, None)
    """
    number = kind.removeprefix("p")
    return float(number) if number != kind and number.replace(".", "", 1).isdigit() else None
