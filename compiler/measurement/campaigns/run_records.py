"""What is kept of measuring: all runs in a JSON file, and the rows of a table in a CSV beside it.

Both are written after each run, whole or not at all, so that whatever ends the measuring, there is
nothing to be thrown away.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from qps.atomic_files import whole_file
from qps.compiler.measurement.campaigns.processor_accounts import MeasuringError
from qps.compiler.measurement.campaigns.run_conditions import Conditions
from qps.compiler.measurement.campaigns.run_results import FailedRun, MeasuredRun

SCHEMA = "qps/measure/1"
_LARGEST = 200_000_000


class CampaignPlan(Struct, frozen=True, kw_only=True):
    """What was requested, in the words of the command line: it must be the same to go on with."""

    of: tuple[str, ...]
    server: str | None
    vary: tuple[str, ...]
    idle: bool
    seconds: float
    warm_up: float
    counts: tuple[str, ...]
    source: str | None
    interface: str | None
    cores: str | None
    own_network: bool
    generator: tuple[str, ...]


class CampaignData(Struct, frozen=True, kw_only=True):
    """All that is kept: `repeat` and `seed` may differ when it is gone on with."""

    schema: str
    plan: CampaignPlan
    repeat: int
    seed: int
    conditions: Conditions
    runs: tuple[MeasuredRun, ...]
    failures: tuple[FailedRun, ...]


def runs_file(table: Path) -> Path:
    """Return the file of all runs that stands beside a table."""
    return table.with_suffix(".json")


def read_runs(path: Path) -> CampaignData:
    """Return what was kept; MeasuringError where the file cannot be gone on with."""
    try:
        if path.stat().st_size > _LARGEST:
            raise MeasuringError(f"`{path}` is too large to be a measurement file")
        found = msgspec.json.decode(path.read_bytes(), type=CampaignData)
    except OSError as error:
        raise MeasuringError(
            f"`{path}` cannot be read: {error.strerror}",
            "it must be in the same folder as its table",
        ) from error
    except msgspec.DecodeError as error:
        raise MeasuringError(f"`{path}` was not written by `qps measure`: {error}") from error
    if found.schema != SCHEMA:
        raise MeasuringError(f"`{path}` was written by another version of qps: {found.schema}")
    return found


def changed(stored: CampaignPlan, requested: CampaignPlan) -> str | None:
    """Return what was requested otherwise, in words; None where nothing was."""
    for name in CampaignPlan.__struct_fields__:
        before, now = getattr(stored, name), getattr(requested, name)
        if before != now:
            return f"{name.replace('_', ' ')} was {_shown(before)}, now {_shown(now)}"
    return None


def _shown(value: object) -> str:
    return f"`{' '.join(map(str, value))}`" if isinstance(value, tuple) else f"`{value}`"


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; MeasuringError where it cannot be."""
    try:
        with whole_file(path) as file:
            file.write(data)
    except OSError as error:
        raise MeasuringError(
            f"`{path}` cannot be written: {error.strerror or error}",
            "earlier runs are intact; continue with `--resume`",
        ) from error


def encoded(measured: CampaignData) -> bytes:
    """Return what is kept as bytes: JSON, a line for each level, for people too."""
    return msgspec.json.format(msgspec.json.encode(measured), indent=1) + b"\n"
