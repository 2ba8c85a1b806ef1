"""Clients who wait behind a pool of connections: PgBouncer before PostgreSQL.

As many clients as are asked for, a few connections to the database. The spec is a closed network
in which a connection is held while a query is at the database (`take connections`). All numbers
come from runs of one client, who finds no one else there; and who competes for the cores from one
of as many clients as there are cores.
"""

from __future__ import annotations

from itertools import product

import closed_loops
from closed_loops import ClosedRun, Way, compared_run
from predictions import Prediction
from qps.reports.text.layout.table import Table
from server_start import Started
from servers import POOLS, pool_name

Pooled = tuple[int, int, int]
"""Connections, clients, and how long each thinks, in ms."""

TITLE = "PgBouncer, closed"


def pooled_grid(cores: int, quick: bool) -> list[Pooled]:  # noqa: FBT001 - as all laboratories
    """Return the settings: pools from one connection to more than there are cores."""
    clients = {1, cores, 8} if quick else {1, cores, 8, 32}
    places = (POOLS[0], POOLS[-1]) if quick else POOLS
    return list(product(places, sorted(clients), (0, 10)))


def pooled_runs(
    there: Started, settings: list[Pooled], seconds: int, repeat: int
) -> dict[Pooled, ClosedRun]:
    """Return the median of some runs of each setting."""

    def run(setting: Pooled) -> ClosedRun:
        places, clients, think = setting
        way = Way(port=there.bench.port, database=pool_name(places), others=("pooler",))
        return closed_loops.closed_run(there, way, (clients, think), seconds)

    return closed_loops.in_turns(settings, repeat, run)


def pooled_predictions(
    runs: dict[Pooled, ClosedRun], cores: int
) -> list[tuple[str, list[Prediction]]]:
    """Return what was predicted, by its title, of all runs but those that it was predicted from."""
    beside = closed_loops.competitors_of_work(runs[_competing(runs, cores)], cores)
    found = []
    for others, said in (
        (beside, "competitors from as many clients as cores"),
        (0.0, "no competitors"),
    ):
        rates, responses = [], []
        for setting, run in runs.items():
            places, clients, _ = setting
            if clients == 1 or setting == _competing(runs, cores):
                continue
            rate, response = _told(runs, setting, others, cores)
            name = f"{places} connection{'s' * (places != 1)}, "
            rates.append(compared_run(run, run.rate, rate, "/s", name))
            responses.append(compared_run(run, run.response, response, "ms", name))
        found += [(f"{TITLE}: rate, {said}", rates)]
        found += [(f"{TITLE}: response time, {said}", responses)]
    return found


def _told(
    runs: dict[Pooled, ClosedRun], setting: Pooled, others: float, cores: int
) -> tuple[float, float]:
    """Return the rate and the response time that the spec tells."""
    places, clients, think = setting
    alone = _alone(runs, think)
    spec = closed_loops.spec_of(
        alone.demand + alone.pooler,
        others + closed_loops.generator_cores(alone, cores),
        cores,
        max(clients for _, clients, _ in runs),
        places,
    )
    paused = think + 1000 * alone.generator
    return closed_loops.predicted_by(spec, [(clients, paused)])[clients, paused]


def _alone(runs: dict[Pooled, ClosedRun], think: int) -> ClosedRun:
    """Return what one client takes: with no one else there, it is no matter how large a pool is."""
    return closed_loops.middle(
        [run for (_, clients, pause), run in runs.items() if (clients, pause) == (1, think)]
    )


def _competing(runs: dict[Pooled, ClosedRun], cores: int) -> Pooled:
    return max(places for places, _, _ in runs), cores, 0


def pooled_notes(runs: dict[Pooled, ClosedRun], cores: int) -> list[str]:
    """Return what to know of the runs."""
    full = runs[_competing(runs, cores)]
    others = closed_loops.competitors_of_work(full, cores)
    most = max(clients for _, clients, _ in runs)
    alone = _alone(runs, 0)
    unaccounted = 1 / alone.rate - alone.work
    table = Table(
        (
            "Connections",
            "Clients",
            "Think time",
            "Rate",
            "Response time",
            "CPU of database, pooler, generator",
            "Repeatability",
        ),
        tuple(
            (
                str(places),
                str(clients),
                f"{think} ms",
                f"{run.rate:.0f} /s",
                f"{1000 * run.response:.2f} ms",
                " + ".join(f"{1000 * part:.2f}" for part in (run.demand, run.pooler, run.generator))
                + " ms",
                f"{100 * run.spread:.0f} %",
            )
            for (places, clients, think), run in runs.items()
        ),
        frozenset(range(7)),
    )
    text = (
        f"{TITLE}: up to {most} clients, {', '.join(map(str, POOLS))} connections by the pool of "
        "PgBouncer (pool_mode transaction). The service demand of a query is from one client with "
        f"the same think time, the competitors for the {cores} cores from {cores} clients "
        f"({others:.1f}; repetitions differ by {full.spread:.0%}); the generator competes, too. "
        f"Of one client's time, "
        f"{100 * unaccounted * alone.rate:.0f} % was no CPU time: it passed between one program "
        "and the next, which the spec does not model. The spec has one service demand for each "
        "think time, while a query on a busy machine takes less than one after a pause, as caches "
        "are warm: predictions from one client are conservative for a saturated machine."
    )
    return [text, table.as_markdown()]
