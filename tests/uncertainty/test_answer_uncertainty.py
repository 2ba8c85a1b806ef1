"""The uncertainty of answers, against closed forms, single solves, and slopes."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp, floor, isclose, sqrt
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, multivariate_t, qmc

import qps
from helpers.answers import answer_of
from helpers.nightly import examples
from helpers.specs import checked
from qps.cli import main
from qps.compiler import ir
from qps.compiler.configure.configuration import with_drawn
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.pipeline import Spec
from qps.engine.numerics.sobol import sobol_points
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.solutions.uncertainty_text import ends_of, uncertainty_lines
from qps.solver.answers.answer_parts import Interval
from qps.solver.answers.worst_mode import solve_model
from qps.solver.uncertainty import structural_samples
from qps.solver.uncertainty.chi_squared import chi_squared_quantile
from qps.solver.uncertainty.interval_result import ALONE, Sampling, Uncertainty
from qps.solver.uncertainty.prediction_interval import capacity_uncertainty
from qps.solver.uncertainty.sample_draws import (
    UncertainNumber,
    axis_of,
    dimensions_of,
    half_width,
    halved,
    quantiles,
    uncertain_numbers,
    values_at,
)
from qps.solver.uncertainty.sample_solver import solved_for

QUICK = Sampling(samples=2000)

SPEC = """
users N in 1..{most}
{declared}
machine server {{ cpu 4 core }}
component work {{ cpu {cost} }}
topology {{ node web = server; node db = server; link lan = {network} between web, db }}
stream replies in all {{
  traffic N * 1 request/s, {size}
  at web {{ work }}
  over lan
  at db {{ {rest} }}
}}
network wire {{ switched; rate 1 Gbit/s }}
"""


def spec_of(
    cost: str = "1 ms/request",
    declared: str = "",
    size: str = "1 kB/request",
    rest: str = "",
    most: int = 100_000,
) -> Spec:
    text = SPEC.format(
        cost=cost, declared=declared, size=size, rest=rest, network="wire", most=most
    )
    return checked(text)


def uncertainty_of(spec: Spec, sampling: Sampling = QUICK, *changes: str) -> Uncertainty:
    configuration = spec.configuration(settings=changes)
    found = capacity_uncertainty(
        spec.model, configuration, solve_model(spec.model, configuration), sampling
    )
    assert found is not None
    return found


def test_a_number_is_reported_as_it_is_said_where_it_is_in_force() -> None:
    spec = spec_of("t", "param t = 1 ms/request +- 10 %")
    for changes, stated in (
        ((), "1 ms/request +- 10 %"),
        (("t = 2 ms/request  +- 5 %",), "2 ms/request +- 5 %"),
    ):
        (share,) = uncertainty_of(spec, QUICK, *changes).shares
        assert (share.number, share.stated) == ("t", stated)


def test_without_uncertain_inputs_there_is_no_uncertainty() -> None:
    spec = spec_of()
    configuration = spec.configuration()
    solution = solve_model(spec.model, configuration)
    assert capacity_uncertainty(spec.model, configuration, solution, QUICK) is None


def test_a_promise_is_the_quantile_of_the_closed_form() -> None:
    """4 cores carry up to 4 / cost users of a request a second: a quantile of the cost is told."""
    found = uncertainty_of(spec_of("lognormal(1 ms/request, 0.2)"), Sampling(samples=10_000))
    for certainty, result in ((0.95, found.at_confidence.capacity), (0.95, found.interval.least)):
        cost = 1e-3 * exp(0.2 * NormalDist().inv_cdf(certainty))
        assert result is not None
        assert isclose(result, 4 / cost, rel_tol=2e-3)
    assert found.interval.most is not None
    assert isclose(
        found.interval.most, 4 / (1e-3 * exp(-0.2 * NormalDist().inv_cdf(0.95))), rel_tol=2e-3
    )


@pytest.mark.parametrize("certainty", [0.5, 0.8, 0.99])
def test_the_requested_confidence_is_that_of_the_capacity(certainty: float) -> None:
    found = uncertainty_of(
        spec_of("uniform(1 ms/request, 2 ms/request)"), Sampling(certainty=certainty)
    )
    assert found.at_confidence.capacity is not None
    assert isclose(found.at_confidence.capacity, 4 / (1e-3 * (1 + certainty)), rel_tol=1e-3)


def test_every_sample_has_the_answer_that_solving_it_alone_has() -> None:
    spec = spec_of(
        "between 1 and 2 ms/request", "param x = one of [1, 2 weight 2]", "x * 10 kB/request +- 5 %"
    )
    configuration = spec.configuration()
    numbers = uncertain_numbers(spec.model, configuration)
    assert len(numbers) == 3
    values = values_at(numbers, sobol_points(20, len(numbers), 3))
    axis = axis_of(numbers, values, spec.model)
    found = solved_for(spec.model, configuration, axis, solve_model(spec.model, configuration))
    for row in range(20):
        alone = solve_model(spec.model, with_drawn(configuration, axis.drawn(row)))
        assert found.largest[row] == alone.capacity
        assert found.words[found.limits[row]] == alone.limited_by
        assert alone.bottleneck is not None
        assert found.words[found.bottlenecks[row]] == alone.bottleneck.resource


def test_samples_in_which_a_condition_comes_out_otherwise_are_solved_as_they_are() -> None:
    spec = spec_of(
        "cost", "param x = one of [1, 3]\nlet cost = if x > 2 then 2 ms/request else 1 ms/request"
    )
    found = uncertainty_of(spec)
    assert (found.interval.least, found.interval.most) == (2000, 4000)
    (share,) = found.shares
    assert share.total == pytest.approx(1, abs=0.05)


RANKED = """
users N in 1..20_000
param cost = uniform(1 ms/request, 2 ms/request)
param rank = one of [1, 3]
machine server { cpu 4 core, queueing priority }
component work { cpu cost }
topology { node web = server }
stream replies in all { priority rank; traffic N * 1 request/s, 1 kB/request; at web { work } }
stream others in all { priority 2; traffic N * 1 request/s, 1 kB/request; at web { work } }
require { replies.latency <= 3 ms }
"""


def test_samples_whose_numbers_go_into_the_load_graph_are_solved_with_those_like_them() -> None:
    spec = checked(RANKED)
    configuration = spec.configuration()
    numbers = uncertain_numbers(spec.model, configuration)
    values = values_at(numbers, sobol_points(2000, len(numbers), 1))
    axis = axis_of(numbers, values, spec.model)
    found = solved_for(spec.model, configuration, axis, solve_model(spec.model, configuration))
    assert found.is_answered.all()
    for row in (0, 1, 2, 1000, 1001, 1998, 1999):
        alone = solve_model(spec.model, with_drawn(configuration, axis.drawn(row)))
        assert found.largest[row] == alone.capacity
        assert found.words[found.limits[row]] == alone.limited_by


def test_samples_that_may_be_but_are_not_solved_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(structural_samples, "MOST_ALONE", 1)
    spec = checked(RANKED)
    found = uncertainty_of(spec)
    (left,) = found.left_out
    assert left.name == ALONE
    assert left.probability == pytest.approx(0.5, abs=0.01)
    assert (
        "50 % of the samples could not be solved and are excluded: each needs a separate load graph"
        in "\n".join(uncertainty_lines(answer_of(spec, uncertainty=found)))
    )


def test_how_likely_a_requirement_is_met_and_what_saturates_first() -> None:
    spec = spec_of(
        "1 ms/request",
        "component rest { cpu c }\nparam c = uniform(0.5 ms/request, 1.5 ms/request)\n"
        "require { db.cpu.load <= 50 % }",
        rest="rest",
    )
    found = uncertainty_of(spec, Sampling(samples=10_000))
    met = {one.name: one.probability for one in found.requirements}
    # At the answer as stated the load is 50 %: it is with the lower half of what the cost may be.
    assert met["db.cpu.utilization"] == pytest.approx(0.5, abs=0.01)
    first = {one.name: one.probability for one in found.bottlenecks}
    assert first["db.cpu"] == pytest.approx(0.5, abs=0.01)
    assert first["web.cpu"] == pytest.approx(0.5, abs=0.01)


def test_shares_of_the_variance_are_those_of_a_sum() -> None:
    """With small spreads the answer is straight: shares go with squares of deviations."""
    spec = spec_of("a + (1 ms/request +- 4 %)", "param a = 1 ms/request +- 3 %")
    found = uncertainty_of(spec)
    shares = {one.number: one for one in found.shares}
    assert shares["a"].first_order == pytest.approx(9 / 25, abs=0.04)
    assert shares["a"].total == pytest.approx(9 / 25, abs=0.04)
    assert shares["work.cpu"].first_order == pytest.approx(16 / 25, abs=0.04)
    assert [one.number for one in found.shares] == ["work.cpu", "a"]


def test_halving_what_alone_is_uncertain_halves_the_way_to_the_promise() -> None:
    found = uncertainty_of(spec_of("1 ms/request +- 2 %"), Sampling(samples=5000))
    (share,) = found.shares
    assert share.capacity_if_halved is not None
    assert found.at_confidence.capacity is not None
    lost, lost_if_halved = 4000 - found.at_confidence.capacity, 4000 - share.capacity_if_halved
    assert lost_if_halved / lost == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(
    ("cost", "size"),
    [
        # the typical value is the worst one, or one that nothing lies between
        ("one of [2 ms/request weight 3, 1 ms/request]", "1 kB/request +- 5 %"),
        ("one of [1 ms/request weight 3, 2 ms/request]", "1 kB/request"),
        ("triangular(1 ms/request, 2 ms/request, 2 ms/request)", "1 kB/request"),
    ],
)
def test_who_knows_more_never_promises_less(cost: str, size: str) -> None:
    found = uncertainty_of(spec_of(cost, size=size), Sampling(samples=1000))
    assert found.at_confidence.capacity is not None
    assert all(
        (one.capacity_if_halved or 0) >= found.at_confidence.capacity for one in found.shares
    )


def test_half_as_uncertain_is_no_value_between_those_that_may_be() -> None:
    spec = spec_of("one of [1 ms/request weight 3, 2 ms/request]")
    (number,) = uncertain_numbers(spec.model, spec.configuration())
    (name,) = (name for name, _ in number.parameters)
    values = np.array([1e-3, 2e-3] * 500)
    found = halved(number, {name: values})[name]
    assert set(found) == {1e-3, 2e-3}
    assert np.mean(found == 2e-3) == pytest.approx(0.25, abs=0.05)


def test_the_same_seed_gives_the_same_uncertainty_and_another_one_others() -> None:
    spec = spec_of("between 1 and 2 ms/request", size="1 kB/request +- 5 %")
    assert uncertainty_of(spec) == uncertainty_of(spec)
    assert uncertainty_of(spec) != uncertainty_of(spec, Sampling(samples=2000, seed=2))


def test_tails_that_cannot_be_are_left_out_and_reported() -> None:
    """Between its ends all is possible; of a normal distribution 2 % are below zero."""
    found = uncertainty_of(
        spec_of("normal(1 ms/request, 0.5 ms/request)"), Sampling(samples=10_000)
    )
    (left,) = found.left_out
    assert left.probability == pytest.approx(NormalDist(1, 0.5).cdf(0), abs=1e-3)
    assert left.name == "a service demand must be zero or more"


def test_where_the_range_ends_first_that_is_reported() -> None:
    found = uncertainty_of(spec_of("uniform(1 ms/request, 2 ms/request)", most=3000))
    assert found.interval.most == 3000
    assert found.beyond == pytest.approx(1 / 3, abs=0.01)


def test_where_the_range_ends_long_before_slopes_are_those_of_the_saturation_beyond_it() -> None:
    """4,000 ms of processors carry 1,333 to 4,000 users of 2 ms +- 1 ms."""
    cost = "2 ms/request +- 1 ms/request"
    for most, expected in ((500, (500, 500)), (1500, (1160, 1500))):
        found = uncertainty_of(spec_of(cost, most=most))
        assert found.linear_interval is not None
        assert (found.linear_interval.least, found.linear_interval.most) == expected


def test_what_limits_is_reported_whether_it_is_stated_or_not() -> None:
    spec = spec_of("2 ms/request +- 10 %", "target cpu 50 %")
    lines = uncertainty_lines(answer_of(spec, uncertainty=uncertainty_of(spec)))
    (result,) = [line for line in lines if "Probability that each limit is met" in line]
    likely = "50 % for `web.cpu.utilization`"
    assert result == f"Probability that each limit is met at 1,000 users: {likely}."


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((None, None), "none at all"),
        ((None, 7), "none–7"),
        ((6, 7000), "6–7,000"),
        ((7000, 7000), "7,000"),
    ],
)
def test_ends_of_an_interval_in_words(ends: tuple[int | None, int | None], words: str) -> None:
    assert ends_of(Interval(probability=0.9, least=ends[0], most=ends[1])) == words


def test_the_samples_lie_where_the_distribution_has_them() -> None:
    """Of 4,000 ms of processors at 1 to 2 ms each, x or more users are carried up to 4,000/x ms."""
    found = uncertainty_of(spec_of("uniform(1 ms/request, 2 ms/request)"), Sampling(samples=10_000))
    result = found.distribution
    assert len(result.counts) <= 40
    assert 0.99 <= sum(result.counts) / found.samples <= 1
    for i, count in enumerate(result.counts):
        ends = (result.start + i * result.width, result.start + (i + 1) * result.width)
        low, high = (min(max(4000 / end, 1.005), 1.995) for end in ends)
        assert count / found.samples == pytest.approx(low - high, abs=2e-3)


def test_a_capacity_of_no_users_is_reported_as_none() -> None:
    found = uncertainty_of(spec_of("uniform(1 s/request, 5 s/request)"))
    assert found.distribution.start == 0  # none of the range 1..
    assert found.at_confidence.capacity is None
    assert found.interval.least is None
    assert found.interval.most == 3


def test_a_mode_that_sets_a_number_is_certain_of_it() -> None:
    spec = spec_of(
        "t",
        "param t = 1 ms/request +- 10 %\nparam t_there = 2 ms/request +- 10 %\n"
        "mode usual { t = 1 ms/request }\nmode open { t = t_there }",
    )
    found = uncertainty_of(spec)
    shares = {one.number: one.total for one in found.shares}
    assert shares["t_there"] == pytest.approx(1, abs=0.05)
    assert shares.get("t", 0) == 0


def test_a_scenario_may_say_how_far_off_a_number_is() -> None:
    spec = spec_of("t", "param t = 1 ms/request\nscenario unsure { t = 1 ms/request +- 10 % }")
    configuration = spec.configuration("unsure")
    solution = solve_model(spec.model, configuration)
    found = capacity_uncertainty(spec.model, configuration, solution, QUICK)
    assert found is not None
    assert found.at_confidence.capacity is not None
    assert found.at_confidence.capacity < 4000


@settings(max_examples=examples(15), deadline=None)
@given(
    costs=st.lists(st.floats(0.1, 5), min_size=1, max_size=3),
    spreads=st.lists(st.floats(0.2, 2), min_size=3, max_size=3),
    variation=st.sampled_from(["", "queueing cpu mmc\nrequire { replies.latency <= 30 ms }"]),
)
def test_slopes_and_sampling_agree_for_small_spreads(
    costs: list[float], spreads: list[float], variation: str
) -> None:
    declared = "\n".join(
        f"param c{i} = {cost:.3f} ms/request +- {spread:.3f} %"
        for i, (cost, spread) in enumerate(zip(costs, spreads, strict=False))
    )
    spec = spec_of(" + ".join(f"c{i}" for i in range(len(costs))), f"{declared}\n{variation}")
    found = uncertainty_of(spec, Sampling(samples=4000))
    sampled, linear_interval = found.interval, found.linear_interval
    assert linear_interval is not None
    assert sampled.most is not None
    assert sampled.least is not None
    width = sampled.most - sampled.least
    assert sampled.least == pytest.approx(linear_interval.least, abs=0.08 * width + 1.5)
    assert sampled.most == pytest.approx(linear_interval.most, abs=0.08 * width + 1.5)


@pytest.mark.parametrize(
    "distribution",
    [
        ir.Normal(3, 2), ir.Lognormal(3, 0.5), ir.Uniform(1, 4), ir.Triangular(1, 2, 5),
        ir.Triangular(1, 1, 5), ir.Weighted((1, 2, 5), (0.2, 0.5, 0.3)), ir.Sampled((1, 2, 2, 7)),
    ],
    ids=lambda one: type(one).__name__,
)  # fmt: skip
def test_what_is_drawn_lies_between_the_ends_as_often_as_is_said(
    distribution: ir.Distribution,
) -> None:
    drawn = quantiles(distribution, (np.arange(10_000) + 0.5) / 10_000)
    assert (np.diff(drawn) >= 0).all()
    low, high = map(float, distribution.ends)
    inside = np.mean((drawn >= low) & (drawn <= high))
    is_ending = not isinstance(distribution, ir.Normal | ir.Lognormal)
    assert inside == pytest.approx(1.0 if is_ending else 0.95, abs=1e-3)
    assert low <= float(distribution.typical) <= high


@pytest.mark.parametrize("together", [-0.9, 0.0, 0.5, 0.95])
def test_correlated_costs_are_as_uncertain_as_their_sum(together: float) -> None:
    """Of two normal numbers with the same deviation the sum has 2 + 2 r times the variance."""
    spec = spec_of(
        "a + b",
        "param a = 1 ms/request +- 10 %\nparam b = 1 ms/request +- 10 %\n"
        f"correlation a, b = {together}",
    )
    found = uncertainty_of(spec, Sampling(samples=10_000))
    deviation = 0.1 / NormalDist().inv_cdf(0.975) * sqrt(2 + 2 * together)
    expected = 4 / (1e-3 * (2 + deviation * NormalDist().inv_cdf(0.95)))
    assert found.at_confidence.capacity == pytest.approx(expected, rel=1e-3)
    assert found.linear_interval is not None
    width = 2000 / 2 * deviation * NormalDist().inv_cdf(0.95)
    assert found.linear_interval.least == pytest.approx(2000 - width, abs=2)
    (share,) = found.shares
    assert share.number == "a and b"
    assert share.total == pytest.approx(1, abs=0.06)


def test_three_numbers_go_together_as_is_stated() -> None:
    spec = spec_of(
        "a + b + c",
        "param a = 1 ms/request +- 10 %\nparam b = between 1 and 2 ms/request\n"
        "param c = uniform(1 ms/request, 2 ms/request)\n"
        "correlation a, b = 0.8\ncorrelation b, c = -0.3\n",
    )
    (number,) = uncertain_numbers(spec.model, spec.configuration())
    drawn = values_at([number], sobol_points(20_000, number.dimensions, 1))
    normal = [normal_scores(drawn[name]) for name in "abc"]
    found = np.corrcoef(normal)
    assert found[0, 1] == pytest.approx(0.8, abs=0.01)
    assert found[1, 2] == pytest.approx(-0.3, abs=0.01)
    assert found[0, 2] == pytest.approx(0, abs=0.01)


def normal_scores(values: np.ndarray) -> np.ndarray:
    """Return the normal scores of some values: by their ranks."""
    ranks = (values.argsort().argsort() + 0.5) / values.size
    return np.array([NormalDist().inv_cdf(rank) for rank in ranks])


def test_points_are_those_of_a_library_but_for_a_shift() -> None:
    mine = sobol_points(512, 256, 7)
    theirs = qmc.Sobol(256, scramble=False, bits=32).random(512)
    whole = np.floor(mine * 2**32).astype(np.uint64)
    shifted = whole ^ whole[0]
    assert (shifted == np.round(theirs * 2**32).astype(np.uint64)).all()


def test_points_beyond_the_table_are_stratified() -> None:
    found = sobol_points(100, 300, 1)
    for column in (256, 299):
        assert sorted(np.floor(found[:, column] * 100)) == list(range(100))
    assert floor(found.min()) == 0


@pytest.mark.parametrize("freedom", [1, 2, 5, 28, 1000])
def test_quantiles_of_chi_squared_are_those_of_scipy(freedom: int) -> None:
    levels = np.concatenate([[1e-9], np.linspace(0.0005, 0.9995, 500), [1 - 1e-9]])
    found = chi_squared_quantile(levels, freedom)
    assert found == pytest.approx(chi2.ppf(levels, freedom), rel=1e-4)


def test_what_is_fitted_to_one_table_is_drawn_together() -> None:
    """Two numbers of a multivariate t distribution, beside one of scipy's."""
    weights, freedom = np.array([[2.0, 0.0], [-1.5, 0.5]]), 4
    fitted = tuple(
        (
            name,
            ir.Fitted(mean=Fraction(mean), weights=tuple(row), freedom=freedom, table="runs.csv"),
        )
        for name, mean, row in (("idle", 10, weights[0]), ("cost", 20, weights[1]))
    )
    one = UncertainNumber(written=Span(Source("x.qps", "fit"), 0, 3), parameters=fitted)
    assert (one.name, one.dimensions, dimensions_of([one])) == ("idle, cost", 3, 3)
    drawn = np.column_stack(list(values_at([one], sobol_points(1 << 14, 3, 1)).values()))
    law = multivariate_t(loc=[10, 20], shape=weights @ weights.T, df=freedom, seed=1)
    for _ in range(20):
        level = law.rvs()
        below = float(np.mean((drawn <= level).all(axis=1)))
        assert below == pytest.approx(law.cdf(level, random_state=1), abs=0.01)
    linear = half_width(one, {"idle": 1.0, "cost": 1.0}, 0.9)
    assert linear == pytest.approx(np.quantile(np.abs(drawn.sum(axis=1) - 30), 0.9), rel=0.02)


def test_python_has_the_uncertainty_that_the_command_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.qps"
    text = SPEC.format(
        cost="1 ms/request +- 10 %",
        declared="",
        size="1 kB/request",
        rest="",
        network="wire",
        most=9999,
    )
    file.write_text(text, encoding="utf-8")
    assert main(["solve", str(file), "--no-advice", "--format", "json"]) == 0
    output = json.loads(capsys.readouterr().out)["uncertainty"]
    assert output["at_confidence"]["capacity"] > 0
    assert json.loads(json.dumps(as_json(qps.load(file).solve().uncertainty))) == output
