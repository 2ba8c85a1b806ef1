"""What was measured: single runs as they were counted, and why others failed."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.measurement.campaigns.campaign_axes import Setting


class MeasuredRun(Struct, frozen=True, kw_only=True):
    """One run of a setting. Times are seconds, `used` and the shares seconds of processors.

    `used` is by column of the load. `counted` are items, done within `counted_over`. `packets` and
    `octets` are what the interface has carried, None where there is none; `generator`, `others`
    and `stolen` what the generator, all other programs and other virtual machines have used.
    `busiest` and `generator_busiest` are shares of the time in which the busiest thread ran.
    """

    setting: Setting
    repetition: int
    started: str
    elapsed: float
    used: dict[str, float]
    counted: dict[str, float]
    counted_over: float
    packets: int | None
    octets: int | None
    generator: float
    others: float
    stolen: float
    busiest: float
    generator_busiest: float
    notes: tuple[str, ...] = ()

    @property
    def cpu(self) -> float:
        """The seconds of processors of all that is measured."""
        return sum(self.used.values())


class FailedRun(Struct, frozen=True):
    """A failed run, and the reason."""

    setting: Setting
    repetition: int
    reason: str
