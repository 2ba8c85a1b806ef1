"""A check before anything is measured: is the machine busy, does the generator reach its rate?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from qps.compiler.measurement.campaigns.campaign_axes import CampaignAxis, Setting
from qps.compiler.measurement.campaigns.measured_rows import TableLayout, named_setting, rows_of
from qps.compiler.measurement.campaigns.measured_run import RunEnvironment
from qps.compiler.measurement.campaigns.process_table import traffic
from qps.compiler.measurement.campaigns.row_doubts import bottleneck

_OBSERVATION_TIME = 0.5
_BUSY = 0.25
"""Cores that other programs use, from which on there is a warning."""
_PACKETS = 20.0
"""Packets a second on the interface without a request, from which on there is a warning."""
_REACHED = 0.9
"""Part of the rate that is enough: of a second, starting takes some."""
_PROBED = 1.0


def heaviest(settings: Sequence[Setting], axes: Sequence[CampaignAxis]) -> Setting:
    """Return the setting with the highest rates, and of these with the largest items."""

    def weight(setting: Setting) -> tuple[float, float]:
        values = [one.value(text) for one, text in zip(axes, setting, strict=True)]
        both = [(one, float(value)) for one, value in zip(axes, values, strict=True) if value]
        rate = sum(value for one, value in both if one.item)
        return rate, sum(value for one, value in both if one.sized)

    return max((one for one in settings if len(one) == len(axes)), key=weight)


def quiet(bench: RunEnvironment, machine_cores: int) -> Iterator[str]:
    """Yield what others do on this machine before anything is measured."""
    pids = {pid for one in bench.accounts.values() for pid in one.balance(bench.look()).pids}
    first, before, began = bench.look(), _packets(bench, min(pids)), time.monotonic()
    time.sleep(_OBSERVATION_TIME)
    last, after, span = bench.look(), _packets(bench, min(pids)), time.monotonic() - began
    both = [(first[pid].used, one.used) for pid, one in last.items() if pid in first]
    own = [(first[p].used, last[p].used) for p in pids if p in first and p in last]
    busy = (sum(b - a for a, b in both) - sum(b - a for a, b in own)) / span
    if busy >= _BUSY:
        yield (
            f"other programs use {busy:.1f} of {machine_cores} cores, which makes "
            "measured service demands up to 17 % too high"
        )
    if before is not None and after is not None and (after - before) / span >= _PACKETS:
        yield (
            f"`{bench.interface}` has {(after - before) / span:.0f} packet/s of other traffic, "
            "which is included in the counts; `--own-network` excludes it"
        )


def _packets(bench: RunEnvironment, pid: int) -> int | None:
    found = None if bench.interface is None else traffic(bench.interface, pid)
    return None if found is None else found.packets


def probed(
    bench: RunEnvironment, settings: Sequence[Setting], seconds: float, layout: TableLayout
) -> Iterator[str]:
    """Run the heaviest setting for a second, and yield what is wrong with it.

    MeasuringError where it comes to nothing: so would all others.
    """
    setting = heaviest(settings, bench.axes)
    run = bench.run(setting, 0, min(seconds, _PROBED))
    row = rows_of([run], [setting], layout)[0]
    name = named_setting(setting, bench.axes)
    if row.reached is not None and row.reached < _REACHED:
        yield (
            f"at {name}, {row.reached:.0%} of the rate is reached: ".replace("%", " %")
            + bottleneck(row, layout)
        )
    if not any(run.counted.values()):
        yield f"at {name} no item was completed within a second"
