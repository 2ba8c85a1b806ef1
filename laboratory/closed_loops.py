"""Clients who wait for their answers, at a real database: what QPS predicts of them, and what is.

Each of so many clients of pgbench thinks, asks a query of about a millisecond, and waits for it.
The spec is a closed network of one station. Who else is at work on the machine is one number, the
competitors: beside b of them, each of j queries that are under way gets min(1, cores / (j + b)) of
a core. It comes from a run of its own, without think time; nothing else is fitted.

The generator works for each query, too, on the same cores. And a query asked after a pause costs
more than one of many, as caches have gone cold: what one client takes who thinks as long tells how
much. With both told, response times come out, too.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import TypeVar

import qps
from predictions import Prediction
from qps.compiler.measurement.campaigns.child_processes import running
from qps.compiler.measurement.campaigns.process_table import all_processes
from qps.compiler.measurement.campaigns.processor_accounts import used_between
from qps.compiler.measurement.observations.printed_results import pgbench_runs
from qps.reports.text.layout.table import Table
from qps.supervised_processes import ExitStatus
from server_start import Started

_Asked = TypeVar("_Asked", bound=Hashable)
Setting = tuple[int, int]
"""How many clients, and how long each thinks, in ms."""

_RESPONSE = re.compile(r"^\s+(\d+\.\d+)\s+(?:\d+\s+)?select", re.MULTILINE)
"""A line of `--report-per-command`: the query alone, without the time to think."""
_DONE = re.compile(r"^number of transactions actually processed: (\d+)", re.MULTILINE)
_QUERY = "select count(*) from generate_series(1, 14000);\n"


@dataclass(frozen=True, kw_only=True)
class Way:
    """How clients come to the database: at a port, by a name of it, and who else works for them.

    `others` are the columns of servers whose processor time is that of a query, too.
    """

    port: int
    database: str = "postgres"
    others: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ClosedRun:
    """A run, or the medians of several: `think` and `response` in s, `rate` of all queries in 1/s.

    `demand` is the seconds of a processor that the server used for a query, `pooler` and
    `generator` those of who stands before it and of who asks. `spread` tells how far the rates of
    several runs lie apart, beside their median.
    """

    clients: int
    think: float
    rate: float
    response: float
    demand: float
    pooler: float = 0.0
    generator: float = 0.0
    spread: float = 0.0

    @property
    def work(self) -> float:
        """All seconds of processors that a query takes."""
        return self.demand + self.pooler + self.generator


def closed_run(there: Started, way: Way, setting: Setting, seconds: int) -> ClosedRun:
    """Let so many clients ask for so long (whole seconds, as pgbench has it)."""
    clients, think = setting
    script = _QUERY + (f"\\sleep {think} ms\n" if think else "")
    path = there.bench.write(f"think{think}.sql", script)
    accounts = {column: there.servers[column].account for column in ("cpu", *way.others)}
    processes = all_processes()
    before = {column: one.balance(processes) for column, one in accounts.items()}
    words = ("pgbench", "-n", "-h", "127.0.0.1", "-p", str(way.port), "-U", "postgres")
    arguments = ("-f", str(path), "-c", str(clients), "-T", str(seconds), "-r", way.database)
    with running((*words, *arguments)) as child:
        ending = child.wait()
        text = child.output()
        if ending != ExitStatus(0):
            raise RuntimeError(f"{child.shown} ended {ending}{child.last_words()}")
        generator = child.used_in_all or 0.0
    processes = all_processes()
    used = {
        column: used_between(before[column], one.balance(processes), column)
        for column, one in accounts.items()
    }
    (run,), _ = pgbench_runs(text, "pgbench")
    response, done = _RESPONSE.search(text), _DONE.search(text)
    assert response is not None
    assert done is not None
    return ClosedRun(
        clients=clients,
        think=think / 1000,
        rate=run.done,
        response=float(response[1]) / 1000,
        demand=used["cpu"] / int(done[1]),
        pooler=sum(used[column] for column in way.others) / int(done[1]),
        generator=generator / int(done[1]),
    )


def closed_runs(
    there: Started, settings: Sequence[Setting], seconds: int, repeat: int
) -> dict[Setting, ClosedRun]:
    """Return the median of some runs of each setting, of clients who ask the database itself."""
    way = Way(port=there.bench.port)
    return in_turns(settings, repeat, lambda one: closed_run(there, way, one, seconds))


def in_turns(
    settings: Sequence[_Asked], repeat: int, run: Callable[[_Asked], ClosedRun]
) -> dict[_Asked, ClosedRun]:
    """Return the median of some runs of each setting, in rounds of random order."""
    chance = random.Random(1)
    found: dict[_Asked, list[ClosedRun]] = {one: [] for one in settings}
    for _ in range(repeat):
        for one in chance.sample(list(settings), len(settings)):
            found[one].append(run(one))
    return {one: middle(runs) for one, runs in found.items()}


def middle(runs: Sequence[ClosedRun]) -> ClosedRun:
    """Return the medians of runs of one setting."""
    rates = [run.rate for run in runs]
    return ClosedRun(
        clients=runs[0].clients,
        think=runs[0].think,
        rate=median(rates),
        response=median(run.response for run in runs),
        demand=median(run.demand for run in runs),
        pooler=median(run.pooler for run in runs),
        generator=median(run.generator for run in runs),
        spread=(max(rates) - min(rates)) / median(rates),
    )


def competitors(run: ClosedRun, cores: int) -> float:
    """Return how many others want a core each, by a run whose clients do not think.

    All of its j queries are under way at any time, so that each got rate * demand / j of a core.
    With fewer clients than cores, a network and a client that take some of the time look like
    competitors, too, if there are none.
    """
    share = run.rate * run.demand / run.clients
    return max(0.0, cores / share - run.clients)


def spec_of(demand: float, others: float, cores: int, most: int, places: int | None = None) -> str:
    """Return the spec of up to `most` clients, each query of `demand` seconds of a processor.

    With `places`, a query holds one of so many connections.
    """
    shares = [min(1.0, cores / (j + others)) for j in range(1, most + 1)]
    speeds = ", ".join(f"{j * share / shares[0]:.9f}" for j, share in enumerate(shares, start=1))
    pool = "" if places is None else f"; connections {places} connection"
    step = "query" if places is None else "take connections; query; give connections"
    return (
        f"users clients in 1..{most}\n"
        f"machine database {{ cpu 1 core, queueing ps speeds [{speeds}]{pool} }}\n"
        f"component query {{ cpu {1e6 * demand / shares[0]:.9f} us/request }}\n"
        "topology { node server = database }\n"
        "param think = 0 ms\n"
        f"stream work for each user {{ traffic 1 request, think think; at server {{ {step} }} }}\n"
        "measure rate = clients * work.rate\n"
        "measure response = work.latency\n"
    )


def predicted_by(
    spec: str, settings: Sequence[tuple[int, float]]
) -> dict[tuple[int, float], tuple[float, float]]:
    """Return the rate (1/s) and the response time (s) of so many clients who think so many ms."""
    model = qps.loads(spec)
    found = {}
    for think in {think for _, think in settings}:
        clients = sorted(k for k, own in settings if own == think)
        columns = model.sweep(set={"think": f"{think} ms"}, clients=clients)
        rates, responses = columns["rate"], columns["response"]
        for k, rate, response in zip(clients, rates, responses, strict=True):
            found[k, think] = float(rate), float(response)
    return found


def grid(cores: int, quick: bool) -> list[Setting]:  # noqa: FBT001 - as all laboratories
    """Return the settings of the laboratory."""
    clients, thinking = ({1, 8}, (0, 10)) if quick else ({1, 2, 4, 8, 16, 32}, (0, 10, 30))
    return list(product(sorted(clients | {cores}), thinking))


def compared(
    runs: dict[Setting, ClosedRun], by: Setting | None, cores: int
) -> tuple[list[Prediction], list[Prediction]]:
    """Return rates and response times of all settings but that of the run `by`.

    Its competitors and its demand are those of all. Without such a run, all cores are free, and
    the demand is that of one client who does not think.
    """
    own = runs[1, 0] if by is None else runs[by]
    others = 0.0 if by is None else competitors(own, cores)
    most = max(clients for clients, _ in runs)
    found = predicted_by(spec_of(own.demand, others, cores, most), list(runs))
    unseen = [(one, run) for one, run in runs.items() if one != by]
    rates = [compared_run(run, run.rate, found[one][0], "/s") for one, run in unseen]
    responses = [compared_run(run, run.response, found[one][1], "ms") for one, run in unseen]
    return rates, responses


def compared_alike(
    runs: dict[Setting, ClosedRun], cores: int
) -> tuple[list[Prediction], list[Prediction]]:
    """Return rates and response times of several clients, by one who thinks as long.

    Competitors are told by as many clients as there are cores, who do not think.
    """
    others = competitors_of_work(runs[cores, 0], cores)
    most = max(clients for clients, _ in runs)
    known = {(1, think) for _, think in runs} | {(cores, 0)}
    unseen = [(one, run) for one, run in runs.items() if one not in known]
    rates, responses = [], []
    for (clients, think), run in unseen:
        alone = runs[1, think]
        spec = spec_of(alone.demand, others + generator_cores(alone, cores), cores, most)
        paused = think + 1000 * alone.generator
        rate, response = predicted_by(spec, [(clients, paused)])[clients, paused]
        rates.append(compared_run(run, run.rate, rate, "/s"))
        responses.append(compared_run(run, run.response, response, "ms"))
    return rates, responses


def competitors_of_work(run: ClosedRun, cores: int) -> float:
    """Return how many others want a core, besides the generator, by clients who do not think."""
    share = run.rate * run.work / run.clients
    return max(0.0, cores / share - run.clients)


def generator_cores(run: ClosedRun, cores: int) -> float:
    """Return how many cores the generator takes once there are clients enough to fill them all."""
    return cores * run.generator / run.work


def predictions_of(
    runs: dict[Setting, ClosedRun], cores: int
) -> list[tuple[str, list[Prediction]]]:
    """Return what was predicted, by its title: with competitors of two runs, and without any."""
    found = []
    for by, said in _BY:
        rates, responses = compared(runs, by(cores), cores)
        found.append((f"{TITLE}: rate, {said}", rates))
        found.append((f"{TITLE}: response time, {said}", responses))
    rates, responses = compared_alike(runs, cores)
    found.append((f"{TITLE}: rate, each think time by one client", rates))
    found.append((f"{TITLE}: response time, each think time by one client", responses))
    return found


def notes_of(runs: dict[Setting, ClosedRun], cores: int) -> list[str]:
    """Return what to know of the runs, and why what is missed is missed."""
    beside = [
        f"{competitors(runs[k, 0], cores):.1f} from {k} "
        f"(repetitions differ by {runs[k, 0].spread:.0%})"
        for k in sorted({1, cores})
    ]
    demands = [1000 * run.demand for run in runs.values()]
    busiest = max(clients for clients, _ in runs)
    table = Table(
        ("Clients", "Think time", "Rate", "Response time", "CPU time per query", "Repeatability"),
        tuple(
            (
                str(clients),
                f"{think} ms",
                f"{run.rate:.0f} /s",
                f"{1000 * run.response:.1f} ms",
                f"{1000 * run.demand:.2f} ms",
                f"{100 * run.spread:.0f} %",
            )
            for (clients, think), run in runs.items()
        ),
        frozenset(range(6)),
    )
    text = (
        f"{TITLE}: a closed network of one station, up to {busiest} clients. Competitors for the "
        f"{cores} cores: {', '.join(beside)}, all without think time; an error of that run is in "
        "all predictions from it. With one client, fewer competitors than cores look like none. "
        "A query took "
        f"{min(demands):.2f} to {max(demands):.2f} ms of CPU including connecting, while "
        "the spec has one service demand and one number of competitors, which vary from run to "
        "run. Errors of response times are larger than those of rates, where think time hides them."
    )
    return [text, table.as_markdown()]


TITLE = "PostgreSQL, closed"
_BY: tuple[tuple[Callable[[int], Setting | None], str], ...] = (
    (lambda _: (1, 0), "competitors from one client"),
    (lambda cores: (cores, 0), "competitors from as many clients as cores"),
    (lambda _: None, "no competitors"),
)


def compared_run(
    run: ClosedRun, measured: float, predicted: float, unit: str, name: str = ""
) -> Prediction:
    """Return what was predicted of a run, beside what was measured; `name` stands before it."""
    return Prediction(
        name=f"{name}{run.clients} clients, think {1000 * run.think:g} ms",
        measured=measured,
        predicted=predicted,
        half_width=None,
        spread=run.spread,
        unit=unit,
    )
