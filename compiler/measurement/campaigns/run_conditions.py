"""The conditions of measurements: the machine, its system, and what the programs report."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from qps.compiler.measurement.campaigns.item_counts import printed
from qps.version import __version__

_LOOPBACK_MTU = Path("/sys/class/net/lo/mtu")
_LARGEST_NOTE = 2_000


class Conditions(Struct, frozen=True, kw_only=True):
    """Under which something was measured; `recorded` is the output of commands, by command."""

    date: str
    host: str
    system: str
    processor: str
    cores: int
    usable_cores: float
    loopback_mtu: int | None
    python: str
    qps: str
    accounts: dict[str, str]
    recorded: dict[str, str]

    @property
    def machine(self) -> str:
        """The machine and its system, in words."""
        return f"{self.host}, {self.cores} cores, {self.processor}, {self.system}"

    def is_machine_of(self, other: Conditions) -> bool:
        """Return whether both are of one machine: what was measured on two is not put together."""
        return self.machine == other.machine


def conditions(
    accounts: dict[str, str], usable_cores: float, commands: Sequence[str]
) -> Conditions:
    """Return the conditions here and now; `commands` are run, and what they print is kept."""
    return Conditions(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        host=platform.node(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        processor=_processor(),
        cores=os.cpu_count() or 1,
        usable_cores=usable_cores,
        loopback_mtu=_mtu(),
        python=platform.python_version(),
        qps=__version__,
        accounts=accounts,
        recorded={one: "".join(printed(one)).strip()[:_LARGEST_NOTE] for one in commands},
    )


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "Model", "cpu model"):
                return value.strip()
    return platform.processor() or "unknown"


def _mtu() -> int | None:
    with suppress(OSError, ValueError):
        return int(_LOOPBACK_MTU.read_text(encoding="ascii"))
    return None
