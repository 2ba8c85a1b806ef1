"""Whether a headline holds: `python tests/simulated/reliable_headlines.py [--runs 100] [NAME…]`.

The population at 95 % confidence is simulated again and again, each time with uncertain inputs that
are drawn here, from what the spec says of them, and with other random numbers. A run supports it if
every simulated value keeps its limit. A headline is often so near to a limit that the noise of a
short simulation decides: runs in which no value is above its limit beyond its own confidence
interval are counted as well, and those in which a limit lies within one. Where the limits follow
from formulas that share nothing with QPS, they are evaluated for 10,000 draws: that decides.
What is stored is not simulated: it is worked out by hand.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, factorial, inf, prod
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from qps.cli import main  # noqa: E402

Value = float
Draw = Callable[[Random], Value]
_DRAWS = 10_000
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
    is proportional to it. `exact` says by formulas whether drawn inputs keep the limits at
    a population, all of which more than a quarter is used, if there are formulas of them.
    """

    spec: str
    inputs: Mapping[str, tuple[Draw, str | None]]
    limits: Mapping[str, float]
    scaled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stored: Callable[[Mapping[str, float], int], float] = field(default=lambda drawn, at: 0.0)
    exact: Callable[[Mapping[str, float], int], bool] | None = None


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


def _https_fits(drawn: Mapping[str, float], viewers: int) -> bool:
    """Return whether 80 % of 10 Gbit/s and 75 % of 12 cores suffice, for 2 Mbit/s of each viewer.

    A packet of 1448 bytes has 90 bytes of headers: 38 of Ethernet, 20 of IPv4, 20 and 12 of TCP.
    """
    size = 512_000 + drawn["headers"]
    replies = viewers * 2e6 / 8 / 512_000  # a second
    of_a_byte = (1 / 4_830 - 1 / 40_207) / (99 * 1024)
    of_a_request = 1 / 40_207 - of_a_byte * (1024 + drawn["headers"])
    cores = replies * (of_a_request + of_a_byte * size)
    cores *= drawn["trust.more_cores"] * drawn["trust.other_machine"]
    return replies * size * (1 + 90 / 1448) * 8 <= 0.8 * 10e9 and cores <= 0.75 * 12


def _open_fits(drawn: Mapping[str, float], users: int) -> bool:
    """Return whether the 99th percentile is at most 80 ms in an M/M/4 queue of half of the users.

    A request waits with the probability of Erlang's C formula, then exponentially long.
    """
    servers, time = 4, 0.08
    service, rate = 1e3 / drawn["work"], drawn["pace"] * users / 2
    load = rate / service
    if load >= servers:
        return False
    last = load**servers / factorial(servers) * servers / (servers - load)
    waits = last / (sum(load**n / factorial(n) for n in range(servers)) + last)
    drain = servers * service - rate  # at this rate a wait ends; the sum of both is the response
    served, drained = exp(-service * time), exp(-drain * time)
    above = (drain * served - service * drained) / (drain - service)
    return (1 - waits) * served + waits * above <= 1 - 0.99


def _closed_fits(drawn: Mapping[str, float], users: int) -> bool:
    """Return whether mean latency is at most 200 ms by exact mean value analysis.

    Two cores with a queue, a processor that is shared, and a think time of 3 s (M. Reiser and S. S.
    Lavenberg, Mean-value analysis of closed multichain queueing networks, JACM 27, 1980).
    """
    work, query = drawn["work"] / 1e3, drawn["query"] / 1e3
    at_cores = at_shared = latency = 0.0
    idle, one = 1.0, 0.0  # probabilities that no request is at the cores, or one
    for population in range(1, users + 1):
        shared, cores = query * (1 + at_shared), work / 2 * (1 + at_cores + idle)
        latency = shared + cores
        rate = population / (3 + latency)
        at_shared, at_cores = rate * shared, rate * cores
        one = rate * work * idle
        idle = max(1 - (rate * work + one) / 2, 0.0)
    return latency <= 0.2


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
        exact=lambda drawn, at: _disk_of_brokers(drawn, at) <= 1,
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
        exact=_https_fits,
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
        exact=_open_fits,
    ),
    "closed": Case(
        _CLOSED,
        {
            "work": (normal(20, 0.15), "ms/request"),
            "query": (between(8, 12), "ms/request"),
        },
        {"pages latency": 0.2},
        exact=_closed_fits,
    ),
}


@dataclass(frozen=True)
class Run:
    """How one simulation judges a headline.

    It is `supported` if no value is above its limit, and `not_refuted` if none is so beyond its
    confidence interval; `doubtful` if a limit is within one.
    """

    supported: bool
    not_refuted: bool
    doubtful: bool


@dataclass(frozen=True)
class Outcome:
    """The population of a headline, and how it was judged by runs and by formulas.

    `exact` is the part of the draws that support it by formulas, None where there are none.
    """

    name: str
    at: int
    runs: Sequence[Run]
    exact: float | None

    def __str__(self) -> str:
        runs = self.runs
        exact = "no formula" if self.exact is None else f"{self.exact:.2%} of {_DRAWS:,} draws"
        return (
            f"{self.name:13} {self.at:6,}  formula: {exact}; of {len(runs)} runs "
            f"{sum(one.supported for one in runs)} support it, "
            f"{sum(one.not_refuted for one in runs)} do not refute it beyond their noise, "
            f"{sum(one.doubtful for one in runs)} are near a limit"
        )


def headline(name: str) -> int:
    """Return the population that `solve` prints first for a case."""
    with _spec(name) as file:
        found: int = _answer("solve", file, "--no-advice")["at_reliable_capacity"]["population"]
    return found


def exact_share(name: str, at: int, draws: int = _DRAWS) -> float | None:
    """Return the part of draws in which a population keeps its limits by formulas."""
    case, random = CASES[name], Random(f"{name} by formula")
    if case.exact is None:
        return None
    return sum(case.exact(_drawn(case, random), at) for _ in range(draws)) / draws


def measured(name: str, runs: int, *, precision: str = "2 %", watched: bool = False) -> Outcome:
    """Judge the headline of a case by formulas and by simulations with drawn inputs."""
    case, random, at = CASES[name], Random(name), headline(name)
    exact = exact_share(name, at)
    found: list[Run] = []
    with _spec(name) as file:
        for turn in range(runs):
            found.append(_run(case, file, at, _drawn(case, random), turn, precision))
            if watched and turn % 10 == 9:
                print(Outcome(name, at, found, exact), file=sys.stderr, flush=True)
    return Outcome(name, at, found, exact)


@contextlib.contextmanager
def _spec(name: str) -> Iterator[Path]:
    """Provide the file of a case."""
    spec = CASES[name].spec
    if spec.endswith(".qps"):
        yield ROOT / spec
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.qps"
        file.write_text(spec, encoding="utf-8")
        yield file


def _drawn(case: Case, random: Random) -> dict[str, float]:
    return {name: draw(random) for name, (draw, _) in case.inputs.items()}


def _run(
    case: Case, file: Path, at: int, drawn: Mapping[str, float], turn: int, precision: str
) -> Run:
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
    is_stored = case.stored(drawn, at) <= 1
    return Run(
        supported=is_stored and all(value <= most for value, _, most in values),
        not_refuted=is_stored and all(value - width <= most for value, width, most in values),
        doubtful=any(abs(value - most) <= width for value, width, most in values),
    )


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
