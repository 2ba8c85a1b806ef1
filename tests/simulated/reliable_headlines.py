"""Whether a headline holds: `python tests/simulated/reliable_headlines.py [--runs 100] [NAME…]`.

The population at 95 % confidence is simulated again and again, each time with uncertain inputs that
are drawn here, from what the spec says of them, and with other random numbers. A run supports it if
every simulated value keeps its limit; where a limit lies within the confidence interval of the
value, the run is counted apart, too. What is stored is not simulated: it is worked out by hand.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, inf, prod
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from qps.cli import main  # noqa: E402

Value = float
Draw = Callable[[Random], Value]
_Z95, _Z90 = 1.959964, 1.644854  # of normal intervals of 95 % and of 90 %


def normal(mean: float, part: float) -> Draw:
    """Draw `mean +- part`, of which `part` of the mean is half of a 95 % interval."""
    return lambda random: random.gauss(mean, mean * part / _Z95)


def lognormal(median: float, deviation: float) -> Draw:
    """Draw a number whose logarithm is normal."""
    return lambda random: median * exp(random.gauss(0, deviation))


def between(low: float, high: float) -> Draw:
    """Draw from the lognormal distribution whose 90 % interval is this."""
    median = (low * high) ** 0.5
    return lambda random: median * (high / median) ** (random.gauss(0, 1) / _Z90)


@dataclass(frozen=True)
class Case:
    """A spec, its uncertain inputs, and the limits of simulated values by subject and measure.

    `stored` is how much of its limit is used by what no simulation has, from drawn inputs and
    the population. A factor without a unit cannot be set: what is `scaled` by it, a utilization,
    is proportional to it.
    """

    spec: str
    inputs: Mapping[str, tuple[Draw, str | None]]
    limits: Mapping[str, float]
    scaled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stored: Callable[[Mapping[str, float], int], float] = field(default=lambda drawn, at: 0.0)


_OPEN = """users N in 1..20_000
param pace = 0.1 request/s +- 20 % in 0.01..1 request/s
param work = between 6 and 10 ms/request
machine server { cpu 4 core, queueing mmc }
machine laptop { }
component answer { cpu work }
topology { node web = server * 2; node user = laptop * N }
stream pages for each user { traffic pace; at web { answer } }
require { pages.p99 <= 80 ms }
"""
_CLOSED = """users N in 1..2_000
param work = 20 ms/request +- 15 % in 1..100 ms/request
param query = between 8 and 12 ms/request
machine server { cpu 2 core, queueing mmc; gpu 1 core, queueing ps }
machine laptop { }
component answer { cpu work; gpu query }
topology { node web = server; node user = laptop * N }
stream pages for each user { traffic 1 request, think 3 s; at web { answer } }
require { pages.latency <= 200 ms }
"""


def _disk_of_brokers(drawn: Mapping[str, float], devices: int) -> float:
    """Return the part of 85 % of 24 TB that three copies of seven days take."""
    a_second = drawn["rate"] * 1e3 * drawn["packed"] / 100  # bytes of a device
    return devices * 3 * a_second * 7 * 86_400 / (0.85 * 24e12)


CASES = {
    "kafka": Case(
        "specs/applications/kafka.qps",
        {"rate": (normal(10, 0.2), "message/s"), "packed": (normal(50, 0.1), "%")},
        {
            "broker.cpu utilization": 0.7,
            "broker.disk utilization": 0.8,
            "consumer.cpu utilization": 0.7,
            "net.broker.out utilization": 0.7,
            "net.broker.in utilization": 0.7,
            "events latency": 0.05,
            "reading latency": 0.005,
        },
        stored=_disk_of_brokers,
    ),
    "https_server": Case(
        "specs/https_server.qps",
        {
            "headers": (normal(250, 0.2), "byte/request"),
            "trust.more_cores": (lognormal(1, 0.15), None),
            "trust.other_machine": (lognormal(1, 0.15), None),
        },
        {"server.cpu utilization": 0.75, "access.server.out utilization": 0.8},
        scaled={"server.cpu utilization": ("trust.more_cores", "trust.other_machine")},
    ),
    "llm": Case(
        "specs/applications/llm.qps",
        {"answer": (normal(300, 0.1), "token/request")},
        {"ask p95": 25.0, "box.gpu utilization": 1.0},
    ),
    "open": Case(
        _OPEN,
        {
            "pace": (normal(0.1, 0.2), "request/s"),
            "work": (between(6, 10), "ms/request"),
        },
        {"pages p99": 0.08, "web.cpu utilization": 1.0},
    ),
    "closed": Case(
        _CLOSED,
        {
            "work": (normal(20, 0.15), "ms/request"),
            "query": (between(8, 12), "ms/request"),
        },
        {"pages latency": 0.2},
    ),
}


@dataclass(frozen=True)
class Outcome:
    """The population of a headline, and in how many runs it was supported.

    `doubtful` counts runs of either kind in which a limit was within a confidence interval.
    """

    name: str
    at: int
    runs: int
    supported: int
    doubtful: int

    def __str__(self) -> str:
        return (
            f"{self.name:13} {self.at:6,}  supported in {self.supported} of {self.runs} runs, "
            f"{self.doubtful} of them near a limit"
        )


def measured(name: str, runs: int, *, precision: str = "2 %", watched: bool = False) -> Outcome:
    """Simulate the headline of a case with drawn inputs."""
    case, random = CASES[name], Random(name)
    with tempfile.TemporaryDirectory() as folder:
        file = ROOT / case.spec if case.spec.endswith(".qps") else Path(folder) / f"{name}.qps"
        if not file.exists():
            file.write_text(case.spec, encoding="utf-8")
        at = _answer("solve", file, "--no-advice")["at_reliable_capacity"]["population"]
        kept = []
        for turn in range(runs):
            kept.append(_run(case, file, at, random, turn, precision))
            if watched and turn % 10 == 9:
                print(_outcome(name, at, kept), file=sys.stderr, flush=True)
    return _outcome(name, at, kept)


def _outcome(name: str, at: int, kept: Sequence[tuple[bool, bool]]) -> Outcome:
    return Outcome(name, at, len(kept), sum(one for one, _ in kept), sum(one for _, one in kept))


def _run(
    case: Case, file: Path, at: int, random: Random, turn: int, precision: str
) -> tuple[bool, bool]:
    drawn = {name: draw(random) for name, (draw, _) in case.inputs.items()}
    settings = [
        text
        for name, (_, unit) in case.inputs.items()
        if unit is not None
        for text in ("--set", f"{name} = {drawn[name]:.9g} {unit}".strip())
    ]
    options = ["--at", str(at), "--workers", "1", "--precision", precision, "--seed", str(turn + 1)]
    found = {
        f"{one['subject']} {one['measure']}": (float(one["simulated"]), one["half_width"] or 0.0)
        for one in _answer("simulate", file, *settings, *options)["results"]
    }
    for name, factors in case.scaled.items():
        factor = prod(drawn[one] for one in factors)
        found[name] = (found[name][0] * factor, found[name][1] * factor)
    # What has no value is infinite: a resource is saturated.
    values = [(*found.get(name, (inf, 0.0)), most) for name, most in case.limits.items()]
    is_kept = all(value <= most for value, _, most in values) and case.stored(drawn, at) <= 1
    return is_kept, any(abs(value - most) <= width for value, width, most in values)


def _answer(command: str, file: Path, *options: str) -> dict[str, Any]:
    written = io.StringIO()
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(io.StringIO()):
        main([command, str(file), *options, "--format", "json", "-q"])
    found: dict[str, Any] = json.loads(written.getvalue())
    return found


def _main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--precision", default="2 %")
    read = parser.parse_args(arguments)
    for name in read.names or CASES:
        print(measured(name, read.runs, precision=read.precision, watched=True), flush=True)


if __name__ == "__main__":
    _main()
