"""Tables of closed load tests, as a law predicts them, and specs that are fitted to them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import exp
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from qps.cli import main
from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.measurement.measured_tables import read_table
from qps.compiler.measurement.scalability.closed_loop import (
    log_throughput,
)
from qps.compiler.measurement.scalability.closed_tables import ClosedTable, closed_table
from qps.compiler.measurement.scalability.scalability_fit import station_fit
from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw
from qps.compiler.measurement.scalability.station_fit import StationFit

SPEC = """users N in 1..64
machine db { cpu 1 core, queueing ps speeds fit "runs.csv" by threads }
component query { cpu fit "runs.csv" by threads measured on db; delay fit "runs.csv" by threads }
topology { node server = db }
stream queries for each user { traffic 1 request, think 0 s; at server { query } }
measure throughput = N * queries.rate
"""


DATABASE = ScalabilityLaw(demand=1e-3, delay=19e-3, parallel=1.5)


# N. J. Gunther, Guerrilla Capacity Planning, 2007, table 7.2: SPEC SDM91, simulated users and
# scripts per hour; the law was published with contention 2.8 % and coherency 0.0104 %.
SDM91 = {1: 64.9, 18: 995.9, 36: 1652.4, 72: 1853.2, 108: 1829.3, 144: 1775.0, 216: 1702.2}


def table_of(throughputs: dict[int, float]) -> ClosedTable:
    return ClosedTable(
        file="runs.csv",
        by="threads",
        item="request",
        lines=tuple(range(2, 2 + len(throughputs))),
        clients=tuple(throughputs),
        throughputs=tuple(throughputs.values()),
    )


def predicted(law: ScalabilityLaw, clients: Sequence[int]) -> dict[int, float]:
    found = log_throughput(law, np.array(clients))
    return dict(zip(clients, map(exp, found.tolist()), strict=True))


def written(folder: Path, text: str = SPEC, clients: str = "") -> Path:
    runs = predicted(DATABASE, [1, 2, 4, 8, 16, 24, 32, 48, 64])
    rows = "".join(f"{count},{throughput:.4f}\n" for count, throughput in runs.items())
    (folder / "runs.csv").write_text(clients or f"threads,request/s\n{rows}")
    (folder / "db.qps").write_text(text)
    return folder / "db.qps"


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main([*arguments, "--format", "json"]) in (0, 1)
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def read(text: str) -> StationFit:
    units = units_with([])
    return station_fit(closed_table(read_table(text, "runs.csv"), "threads", units))


def with_responses(law: ScalabilityLaw, clients: Sequence[int], *, think: float) -> str:
    """Return a table of clients who wait between requests, with response times in ms."""
    found = predicted(replace(law, delay=law.delay + think), clients)
    rows = (f"{n},{x:.6g},{(n / x - think) * 1e3:.6g}\n" for n, x in found.items())
    return "threads,request/s,latency in ms\n" + "".join(rows)
