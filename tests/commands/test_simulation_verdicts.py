"""Verdicts of a simulation on predictions and limits."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from helpers.cases.simulated_specs import graph_of
from helpers.reasons import reason
from helpers.specs import lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.certainty import (
    EXACT,
    Certainty,
    approximation,
    lower_bound,
    upper_bound,
)
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME
from qps.reports.text.claims.simulation_text import simulated_tables
from qps.simulation.agreement import NumberComparison, PredictionVerdict, compare
from qps.simulation.model_builder import simulated_model
from qps.simulation.statistics import Estimate

# -- verdicts -------------------------------------------------------------------------------


def test_what_is_seldom_idle_may_never_have_been() -> None:
    one = NumberComparison(
        subject="a.cpu",
        measure="load",
        dimension=DIMENSIONLESS,
        predicted=0.99999,
        known=EXACT,
        simulated=Estimate(1.0, 0.0, 20),
        items=100_000,
    )
    assert compare([one])[0].verdict is PredictionVerdict.AGREES


@pytest.mark.parametrize(
    ("known", "predicted", "verdict"),
    [
        (EXACT, 1.001, PredictionVerdict.AGREES),
        (EXACT, 1.2, PredictionVerdict.DIFFERS),
        (approximation(reason("x")), float("nan"), PredictionVerdict.DIFFERS),
        (upper_bound(reason("x")), float("inf"), PredictionVerdict.AGREES),
        (upper_bound(reason("x")), 1.2, PredictionVerdict.AGREES),
        (upper_bound(reason("x")), 0.8, PredictionVerdict.DIFFERS),
        (lower_bound(reason("x")), 0.8, PredictionVerdict.AGREES),
        (lower_bound(reason("x")), 1.2, PredictionVerdict.DIFFERS),
        (approximation(reason("x")), 2.0, PredictionVerdict.UNSTATED),
        (approximation(reason("x")), 1.001, PredictionVerdict.AGREES),
        (approximation(reason("x"), error=0.25), 1.2, PredictionVerdict.AGREES),
        (approximation(reason("x"), error=0.1), 1.2, PredictionVerdict.DIFFERS),
    ],
)
def test_a_label_allows_what_it_says(
    known: Certainty, predicted: float, verdict: PredictionVerdict
) -> None:
    one = NumberComparison(
        subject="job",
        measure="latency",
        dimension=TIME,
        predicted=predicted,
        known=known,
        simulated=Estimate(1.0, 0.001, 20),
    )
    (found,) = compare([one])
    assert found.verdict is verdict
    assert found.is_right is (verdict is not PredictionVerdict.DIFFERS)


@pytest.mark.parametrize("measure", ["load", "loss"])
def test_nothing_agrees_of_which_nothing_came(measure: str) -> None:
    one = NumberComparison(
        subject="job",
        measure=measure,
        dimension=DIMENSIONLESS,
        predicted=0.9,
        known=EXACT,
        simulated=Estimate(0.0, 0.0, 20),
    )
    same = replace(one, predicted=0.0)
    assert [found.verdict for found in compare([one, same])] == [
        PredictionVerdict.UNKNOWN,
        PredictionVerdict.AGREES,
    ]


SHIFTS = """
users clerks in 1..400
kinds shift of users { hasty 30 %; calm 70 % }
param pause by shift { hasty 5 s; calm 30 s }
machine server { cpu 1 core, queueing mm1 }
component work { cpu 40 ms/request }
topology { node app = server }
stream job for each user { traffic 1 request, think pause; at app { work } }
"""


def test_a_part_of_a_request_is_refused_with_a_number_of_users_that_has_none() -> None:
    graph = graph_of(SHIFTS)
    with pytest.raises(QpsError, match="the simulation needs a whole number") as refused:
        simulated_model(graph, 223)
    assert refused.value.diagnostics[0].hints == (
        "use a population that divides into whole numbers: `--at 220`",
    )
    assert simulated_model(graph, 220)


@pytest.mark.parametrize(
    ("predicted", "mean", "error", "verdict"),
    [
        (0.09, 0.095, 0.001, "pass"),
        (0.11, 0.12, 0.001, "FAIL"),
        (0.0999, 0.1001, 0.001, "undecided"),
        (0.09, 0.2, 0.001, "predicted pass, simulated FAIL"),
    ],
)
def test_a_limit_within_the_interval_is_undecided(
    predicted: float, mean: float, error: float, verdict: str
) -> None:
    graph = lowered(
        "users N in 1..9\nmachine box { cpu 1 core }\ncomponent work { cpu 1 ms/request }\n"
        "topology { node host = box }\n"
        "stream page for each user { traffic 1 request/s; at host { work } }\n"
        "require { page.latency <= 100 ms }\n"
    )
    criterion = graph.criteria[0]
    one = NumberComparison(
        subject="page.latency",
        measure="page.latency",
        dimension=TIME,
        predicted=predicted,
        known=EXACT,
        simulated=Estimate(mean, error, 20),
        criterion=criterion,
        limit=0.1,
    )
    assert simulated_tables([one])[0].rows[0][-1] == verdict
