"""Runs of a campaign, as they are measured."""

from __future__ import annotations

from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.measurement.campaigns.campaign_axes import (
    Setting,
    axis,
)
from qps.compiler.measurement.campaigns.measured_rows import TableLayout
from qps.compiler.measurement.campaigns.run_results import MeasuredRun

UNITS = units_with([])
RATE = axis("rate in 100, 200, 400 request/s", UNITS)
SIZE = axis("size in 1, 10 kB/request", UNITS)
LAYOUT = TableLayout(axes=(RATE, SIZE), items=("request",), cores=2.0, machine_cores=4)


def run_of(setting: Setting, repetition: int = 1, **changes: object) -> MeasuredRun:
    rate = float(setting[0]) if setting else 0.0
    distinct: dict[str, object] = {
        "setting": setting,
        "repetition": repetition,
        "started": "",
        "elapsed": 5.0,
        "used": {"cpu": 5.0 * rate * 1e-3},
        "counted": {"request": 5.0 * rate},
        "counted_over": 5.0,
        "packets": int(10 * rate),
        "octets": 0,
        "generator": 0.5,
        "others": 0.0,
        "stolen": 0.0,
        "busiest": 0.0,
        "generator_busiest": 0.1,
    }
    return MeasuredRun(**(distinct | changes))  # type: ignore[arg-type]
