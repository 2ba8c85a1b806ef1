"""Every discipline of the table: it is answered, played with the same result, and documented."""

from __future__ import annotations

from math import exp
from pathlib import Path

import pytest
from msgspec.structs import replace

from qps.compiler.lower.disciplines.discipline_laws import LAWS
from qps.compiler.quantities.disciplines import DISCIPLINES, Discipline
from qps.simulation.agreement import compared
from qps.simulation.model_builder import simulated_model
from qps.simulation.replications import Effort, simulate
from simulated.judge import graph_of

ROOT = Path(__file__).parents[2]
WAITING = [one for one in Discipline if one is not Discipline.NONE]


def _spec(one: Discipline) -> str:
    """Return users at a machine of this discipline, at two thirds of what it can do."""
    traits = one.traits
    cores = 3 if traits.counts_servers else 1
    variation = " cv 0.7" if traits.variation is None else ""
    period = " per 20 ms on 4 core" if "per" in traits.takes else ""
    return f"""
users N in 1..100
machine box {{ cpu {cores} core, queueing {one.value}{period}{variation} }}
component work {{ cpu 10 ms/request }}
topology {{ node web = box }}
stream ask for each user {{ traffic {cores} request/s; at web {{ work }} }}
require {{ ask.latency <= 1 s }}
"""


def test_every_discipline_has_a_law() -> None:
    missing = [one.name for one in WAITING if one not in LAWS]
    assert not missing, "add a line to LAWS in compiler/lower/disciplines/discipline_laws.py"


def test_the_variation_of_a_row_is_that_of_its_services(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Discipline.MM1
    monkeypatch.setattr(row, "traits", replace(row.traits, variation=2))
    graph = graph_of(_spec(row))
    found = graph.at(50).number(graph.streams["ask"].mean_latency)
    assert found == pytest.approx(0.01 * (1 + 0.5 / 0.5 * (1 + 2**2) / 2))


@pytest.mark.parametrize("one", WAITING, ids=lambda one: one.value)
def test_what_is_played_is_what_is_predicted(one: Discipline) -> None:
    graph = graph_of(_spec(one))
    simulation = simulate(simulated_model(graph, 67), Effort(seconds=0, seed=1, workers=1, runs=4))
    found = [row for row in compared(graph, simulation) if row.subject == "ask"]
    assert {"latency", "p95"} <= {row.measure for row in found}
    assert [(row.measure, row.predicted, row.simulated) for row in found if not row.is_right] == []


def _beyond(count: int, mean: float) -> float:
    """Return the chance of `count` or more events of a Poisson law."""
    below, term = 0.0, exp(-mean)
    for number in range(1, count + 1):
        below += term
        term *= mean / number
    return 1 - below


def _exact_wait(servers: int, load: float) -> float:
    """Return the mean wait of M/D/c in service times (Crommelin 1932)."""
    offered = servers * load
    return sum(
        _beyond(n * servers, n * offered) - _beyond(n * servers + 1, n * offered) / load
        for n in range(1, 120)
    )


@pytest.mark.parametrize(("cores", "users"), [(2, 30), (2, 70), (3, 50), (4, 80), (5, 70)])
def test_fixed_services_at_several_cores_take_what_crommelin_found(cores: int, users: int) -> None:
    text = _spec(Discipline.MDC).replace("cpu 3 core", f"cpu {cores} core")
    graph = graph_of(text.replace("traffic 3 ", f"traffic {cores} "))
    found = graph.at(users).number(graph.streams["ask"].mean_latency)
    exact = 0.01 * (1 + _exact_wait(cores, users / 100))
    assert found == pytest.approx(exact, rel=0.002)
    assert found != pytest.approx(exact, rel=1e-6)  # it is no exact result, and says so


@pytest.mark.parametrize("word", DISCIPLINES)
def test_the_reference_has_a_row_for_it(word: str) -> None:
    page = (ROOT / "docs/language/queueing.md").read_text(encoding="utf-8")
    table = page.split("## Disciplines\n")[1].split("\n\n")[0]
    assert f"`{word}" in table, "add a row to docs/language/queueing.md"
    brief = (ROOT / "docs/brief.md").read_text(encoding="utf-8")
    (listed,) = [line for line in brief.splitlines() if line.startswith("queueing web.cpu")]
    assert word in listed.split("#")[1].split(), "add it to `queueing` in docs/brief.md"
