"""Runs of a system whose costs move, and specs that state what they were."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from math import exp
from pathlib import Path
from typing import Any

import pytest

from qps.cli import main

Costs = Callable[[float], tuple[float, float, float]]
START = datetime(2026, 11, 9, tzinfo=UTC)
FIXED, REQUEST, OCTET = 0.02, 300e-6, 20e-9
"""A share of four cores; seconds of one for each request, and for each byte."""


def still(_: float) -> tuple[float, float, float]:
    return FIXED, REQUEST, OCTET


def dearer(by: float, since: float = 0.5) -> Costs:
    """Return costs of which that of a request is more from some part of the time on."""
    return lambda t: (FIXED, REQUEST * (1 + by * (t >= since)), OCTET)


def runs(
    seed: int,
    path: Path,
    costs: Costs = still,
    *,
    count: int = 120,
    days: int = 14,
    noise: float = 0.03,
    daily: float = 0.0,
    without: tuple[str, ...] = (),
) -> Path:
    """Write runs as `qps observe prometheus` does: rates differ, so does each day by its own."""
    drawn = random.Random(seed)
    of_day = [exp(drawn.gauss(0, daily)) for _ in range(days)]
    rows = []
    for part in sorted(drawn.random() for _ in range(count)):
        rate = 200 + 3000 * drawn.random()
        octets = rate * 10_000 * exp(drawn.uniform(-1, 0.7))
        fixed, request, octet = costs(part)
        at = START + timedelta(days=part * days)
        load = (fixed + (request * rate + octet * octets) / 4) * of_day[int(part * days)]
        rows.append(
            {
                "time": at.isoformat(),
                "day": at.date().isoformat(),
                "cpu in %": f"{100 * load * exp(drawn.gauss(0, noise)):.6f}",
                "request/s": f"{rate:.4f}",
                "byte/s": f"{octets:.1f}",
            }
        )
    stored = [heading for heading in rows[0] if heading not in without]
    write(path, [{heading: row[heading] for heading in stored} for row in rows])
    return path


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


SPEC = """\"\"\"A site.\"\"\"
users N in 1..10_000
machine server {{ cpu 4 core{idle} }}
machine laptop {{ }}
network uplink {{ switched; rate 10 Gbit/s }}
{components}
topology {{ node web = server; node browser = laptop * N; link wan = uplink between web, browser }}
stream replies for each browser {{
  traffic 0.1 request/s, 10 kB/request
  at web {{ {steps} }}
  over wan
  at browser {{ }}
}}
require {{ web.cpu.load <= 75 % }}
"""


def spec(
    folder: Path,
    components: str = "component answer { cpu 300 us/request + 20 ns/byte measured on server }",
    idle: str = ", idle 2 %",
    steps: str = "answer",
) -> str:
    path = folder / "site.qps"
    path.write_text(SPEC.format(components=components, idle=idle, steps=steps), encoding="utf-8")
    return str(path)


def fitted_spec(folder: Path, **how: Any) -> str:
    runs(1000, folder / "web.csv", **how)
    component = 'component answer { cpu fit "web.csv" measured on server }'
    return spec(folder, component, ', idle fit "web.csv"')


def queried(
    capsys: pytest.CaptureFixture[str], path: str, observed: Path, *more: str
) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    words = ["test", path, "--observed", str(observed), "--format", "json", "-q", *more]
    status = main(words)
    output = capsys.readouterr()
    assert output.out, output.err
    return status, json.loads(output.out)
