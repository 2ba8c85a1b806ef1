"""What sar records of a machine, in the layout of `sadf -j`: samples of processors and networks."""

from __future__ import annotations

import re

from msgspec import Struct, field

_ROUNDED = 0.5
"""By how much shares of all may miss 100 %, in %: each is rounded."""


class Processors(Struct, kw_only=True):
    """Shares of the time of processors, in %, by what they did; what a version has of them."""

    cpu: str | int
    idle: float
    iowait: float = 0.0
    steal: float = 0.0
    user: float = 0.0
    usr: float = 0.0
    nice: float = 0.0
    system: float = 0.0
    sys: float = 0.0
    irq: float = 0.0
    soft: float = 0.0
    guest: float = 0.0
    gnice: float = 0.0

    @property
    def busy(self) -> float:
        """What this machine worked, in %: to wait for a disk or for other guests is no work."""
        return 100 - self.idle - self.iowait - self.steal

    @property
    def is_whole(self) -> bool:
        """Whether the shares are those of the whole time."""
        total: float = sum(getattr(self, name) for name in SHARES)
        return abs(total - 100) <= _ROUNDED


SHARES = frozenset(Processors.__struct_fields__) - {"cpu"}


class Device(Struct, kw_only=True):
    """Packets and KiB a second of a network interface, in and out."""

    iface: str
    rxpck: float
    txpck: float
    received: float = field(name="rxkB")
    sent: float = field(name="txkB")


class SarNetwork(Struct):
    """The interfaces of a machine."""

    devices: list[Device] = field(name="net-dev", default_factory=list)


class Stamp(Struct):
    """When a sample ends: a date, empty where it is not known, and a time of 24 hours."""

    date: str
    time: str
    utc: int = 0


class SarSample(Struct):
    """What was recorded of one moment."""

    timestamp: Stamp | None = None
    loads: list[Processors] = field(name="cpu-load", default_factory=list)
    network: SarNetwork = field(default_factory=SarNetwork)

    @property
    def load(self) -> Processors | None:
        """The shares of all processors together; None where there are none."""
        return next((one for one in self.loads if one.cpu in ("all", -1)), None)


class Host(Struct):
    """What was recorded of a machine."""

    statistics: list[SarSample]
    nodename: str = ""
    cores: int | None = field(name="number-of-cpus", default=None)


def dated(at: Stamp) -> str:
    """Return a moment as a cell; behind a date in an order of its own stands a blank."""
    between = "T" if re.fullmatch(r"[\d-]+", at.date) else " "
    return f"{at.date}{between * bool(at.date)}{at.time}{'Z' * bool(at.utc)}"
