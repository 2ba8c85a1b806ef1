"""Requirements that ask for certainty: held against closed forms, and against single solves."""

from __future__ import annotations

import re
from math import exp, isclose
from statistics import NormalDist

import pytest

from helpers.specs import checked
from qps.compiler.configure.configuration import with_drawn
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.certainty_requirements import without_certainty
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.numerics.sobol import sobol_points
from qps.reports.text.solutions.limit_reasons import answer_sentence
from qps.solver.answers.answer_certainty import answer_known
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.complete_answer import complete_answer
from qps.solver.uncertainty.confidence_capacity import with_confidence_limits
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.uncertainty.sample_draws import axis_of, uncertain_numbers, values_at

SPEC = """
users N in 1..100_000
param cost = lognormal(1 ms/request, 0.2)
machine server {{ cpu 1 core }}
component work {{ cpu cost }}
topology {{ node web = server; node db = server; link wire = lan between web, db }}
stream replies in all {{
  traffic N * 1 request/s, 1 kB/request
  at web {{ work }}
  over wire
  at db {{ }}
}}
network lan {{ switched; rate 1 Gbit/s }}
{0}
"""


def spec_of(rest: str) -> Spec:
    return checked(SPEC.format(rest))


def solved(spec: Spec, samples: int = 4000, *settings: str) -> Solution:
    configuration = spec.configuration(settings=settings)
    sampling = Sampling(samples=samples)
    return solve_model(with_confidence_limits(spec.model, configuration, sampling), configuration)


def cost_at(certainty: float) -> float:
    return 1e-3 * exp(0.2 * NormalDist().inv_cdf(certainty))


@pytest.mark.parametrize("certainty", [0.5, 0.8, 0.95, 0.99])
def test_it_holds_up_to_the_quantile_of_the_closed_form(certainty: float) -> None:
    spec = spec_of(f"require {{ web.cpu.load <= 80 % with {100 * certainty:g} % certainty }}")
    found = solved(spec)
    assert found.capacity is not None
    assert isclose(found.capacity, 0.8 / cost_at(certainty), rel_tol=5e-3)
    assert found.limited_by == f"web.cpu.utilization <= 80 % with {100 * certainty:g} % certainty"
    assert answer_known(found).kind is CertaintyKind.APPROXIMATION
    assert "4,000 samples" in answer_known(found).reasons[0]


def test_what_asks_for_no_certainty_is_judged_by_the_numbers_as_they_are_stated() -> None:
    spec = spec_of("require { web.cpu.load <= 90 % with 95 % certainty; web.cpu.load <= 50 % }")
    assert (found := solved(spec)).capacity == 500
    assert found.limited_by == "web.cpu.utilization"
    assert (
        answer_known(found).kind is CertaintyKind.UPPER_BOUND
    )  # as wherever something is judged mildly


@pytest.mark.parametrize(
    ("requested", "answer"),
    [
        ("web.cpu.load <= 82 %; web.cpu.load <= 90 % with 95 % certainty", 0.9 / cost_at(0.95)),
        ("web.cpu.load <= 60 %; web.cpu.load <= 90 % with 95 % certainty", 600),
        ("web.cpu.load <= 80 % with 60 % certainty; web.cpu.load <= 90 % with 95 % certainty", 648),
        ("web.cpu.load <= 80 % with 95 % certainty; web.cpu.load <= 90 % with 60 % certainty", 576),
    ],
)
def test_a_tighter_limit_implies_no_other_that_is_to_be_met_more_surely(
    requested: str, answer: float
) -> None:
    found = solved(spec_of(f"require {{ {requested} }}"))
    assert isclose(found.capacity or 0, answer, rel_tol=5e-3)


def test_a_target_is_no_limit_of_a_sample() -> None:
    spec = spec_of("target cpu 70 %\nrequire { web.cpu.load <= 98 % with 60 % certainty }")
    assert solved(spec).capacity == 700
    wider = spec_of("target cpu 99.9 %\nrequire { web.cpu.load <= 80 % with 95 % certainty }")
    assert isclose(solved(wider).capacity or 0, 0.8 / cost_at(0.95), rel_tol=5e-3)


def test_so_many_samples_hold_when_each_is_solved_alone() -> None:
    """Of 60 samples solved one by one, nine in ten carry the answer, and fewer one user more."""
    spec = spec_of("queueing cpu mm1\nrequire { replies.latency <= 10 ms with 90 % certainty }")
    answered = solved(spec, 60).capacity
    assert answered is not None
    plain, configuration = without_certainty(spec.model), spec.configuration()
    numbers = uncertain_numbers(plain, configuration)
    axis = axis_of(numbers, values_at(numbers, sobol_points(60, 1, 1)), plain)
    alone = [
        solve_model(plain, with_drawn(configuration, axis.drawn(row))).capacity or 0
        for row in range(60)
    ]
    assert sum(one >= answered for one in alone) >= 54 > sum(one > answered for one in alone)


def test_the_requirement_of_a_mode_is_sampled_in_that_mode() -> None:
    modes = """
param often = 1
mode calm {{ often = 1 }}
mode busy {{ often = 2; web.cpu.load <= 80 % with {} certainty }}
require {{ web.cpu.load <= 95 % }}
"""
    text = SPEC.format(modes.format("95 %")).replace("N * 1 req", "often * N * 1 req")
    solution = solved(checked(text))
    assert isclose(solution.capacity or 0, 0.4 / cost_at(0.95), rel_tol=1e-2)
    assert solution.graph.mode == "busy"


def test_where_every_number_is_certain_it_is_a_requirement_like_others() -> None:
    spec = spec_of("require { web.cpu.load <= 80 % with 95 % certainty }")
    configuration = spec.configuration(settings=("cost = 2 ms/request",))
    assert solve_model(spec.model, configuration).capacity == 400
    assert solved(spec, 4000, "cost = 2 ms/request").capacity == 400


def test_none_can_be_promised() -> None:
    spec = spec_of("require { replies.latency <= 0.5 ms with 99 % certainty }")
    found = solved(spec)
    assert found.capacity is None
    text = answer_sentence(complete_answer(spec.model, spec.configuration(), found))
    assert text.startswith("Not even 1 user is known to be supported:")
    assert text.endswith("is not met.")


def test_what_samples_do_not_answer_is_refused_and_never_read_plainly() -> None:
    spec = spec_of("require { web.cpu.load <= 80 % with 95 % certainty }")
    with pytest.raises(QpsError, match="does not evaluate the certainty"):
        lower(spec.model, spec.configuration())
    # Nor by the graph that is kept of it where it was certain.
    lower(spec.model, spec.configuration(settings=("cost = 2 ms/request",)))
    with pytest.raises(QpsError, match="does not evaluate the certainty"):
        lower(spec.model, spec.configuration())


def test_the_same_seed_promises_the_same() -> None:
    spec = spec_of("require { web.cpu.load <= 80 % with 95 % certainty }")
    configuration = spec.configuration()
    first, same, other = (
        with_confidence_limits(
            spec.model, configuration, Sampling(samples=500, seed=seed)
        ).requirements[0]
        for seed in (1, 1, 2)
    )
    assert first.confidence_capacity == same.confidence_capacity != other.confidence_capacity


def test_what_takes_long_is_computed_by_a_surrogate_and_says_how_far_off_each_sample_may_be() -> (
    None
):
    text = """
users N in 1..5000
param cost = uniform(20 ms/request, 30 ms/request)
machine server { cpu 4 core, queueing mmc }
component work { cpu cost }
topology { node web = server }
stream ask for each user { traffic 1 request, think 10 s; at web { work } }
require { ask.latency <= 50 ms with 90 % certainty }
"""
    spec = checked(text)
    solution = solved(spec)
    configuration = spec.configuration(settings=("cost = 29 ms/request",))
    alone = solve_model(spec.model, configuration).capacity
    assert alone is not None
    assert isclose(solution.capacity or 0, alone, rel_tol=5e-3)
    (reason,) = (one for one in answer_known(solution).reasons if "samples" in one)
    assert re.search(r", each within [0-9.]+ %$", reason)
