"""Whether a difference is more than the spread: held against closed forms."""

from __future__ import annotations

from statistics import NormalDist

import pytest

from helpers.specs import checked
from qps.commands.simulate import simulated_at_typical_values
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec
from qps.reports.text.changes.difference_text import spec_difference_view
from qps.solver.answers.worst_mode import solve_model
from qps.solver.spec_difference import spec_difference
from qps.solver.uncertainty.difference_intervals import StatedSide, sampled_difference
from qps.solver.uncertainty.interval_result import DifferenceUncertainty, Sampling
from qps.solver.what_if.assumption_changes import ConfiguredModel

SPEC = """
users N in 1..100_000
param cost = {cost}
machine server {{ cpu {cores} core }}
network wire {{ switched; rate 1 Gbit/s }}
component work {{ cpu cost }}
topology {{ node web = server; node db = server; link lan = wire between web, db }}
stream replies in all {{
  traffic N * 1 request/s, 1 kB/request
  at web {{ work }}
  over lan
  at db {{ }}
}}
"""
UNSURE = "lognormal(1 ms/request, 20 %)"


def spec_of(cost: str = UNSURE, cores: int = 4) -> Spec:
    return checked(SPEC.format(cost=cost, cores=cores))


def stated(spec: Spec) -> StatedSide:
    side = ConfiguredModel(spec.model, spec.configuration())
    return StatedSide(side=side, solution=solve_model(side.model, side.configuration))


def uncertainty_of(old: Spec, new: Spec) -> DifferenceUncertainty | None:
    found = sampled_difference((stated(old), stated(new)), Sampling(samples=4000))
    return None if found is None else found.uncertainty


def test_what_both_write_alike_has_one_value_in_each_sample() -> None:
    """A core more is more in every sample; of independent ones in three of four."""
    found = uncertainty_of(spec_of(), spec_of(cores=5))
    assert found is not None
    assert (found.more, found.fewer) == (1, 0)
    ends = [1 / (1e-3 * 2.718281828 ** (sign * 0.2 * 1.645)) for sign in (1, -1)]
    assert [found.least, found.most] == pytest.approx(ends, rel=5e-3)


def test_what_is_written_otherwise_is_another_number() -> None:
    """Of two independent lognormal costs one is lower with probability Phi(d / (s sqrt 2))."""
    found = uncertainty_of(spec_of(), spec_of("lognormal(0.95 ms/request, 20 %)"))
    assert found is not None
    result = NormalDist().cdf(0.0512933 / (0.2 * 2**0.5))
    assert found.more == pytest.approx(result, abs=0.01)
    assert found.fewer == pytest.approx(1 - result, abs=0.01)


def test_one_side_may_be_certain() -> None:
    found = uncertainty_of(spec_of("1 ms/request"), spec_of())
    assert found is not None
    assert (found.before.least, found.before.most) == (4000, 4000)
    assert found.more == pytest.approx(0.5, abs=0.01)


def test_where_all_is_known_nothing_is_said() -> None:
    certain = spec_of("1 ms/request")
    assert uncertainty_of(certain, certain) is None
    assert (
        "uncertainty"
        not in spec_difference_view(spec_difference(certain, spec_of("2 ms/request"))).answer
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (spec_of(), spec_of(), "No change in any of 10,000 samples"),
        (spec_of(), spec_of(cores=5), "exceeds the uncertainty of the inputs"),
        (
            spec_of(),
            spec_of("lognormal(0.95 ms/request, 20 %)"),
            "is within the uncertainty of the inputs",
        ),
    ],
)
def test_the_answer_says_it(old: Spec, new: Spec, expected: str) -> None:
    assert expected in spec_difference_view(spec_difference(old, new)).answer


def test_what_is_simulated_says_that_values_are_nominal() -> None:
    spec = spec_of()
    configuration = spec.configuration()
    simulated = simulated_at_typical_values(
        lower(spec.model, configuration), 100, spec.model, configuration
    )
    assert simulated.remarks == ("uses the nominal value of the uncertain input `cost`",)
    certain = spec.configuration(settings=("cost = 1 ms/request",))
    assert (
        simulated_at_typical_values(lower(spec.model, certain), 100, spec.model, certain).remarks
        == ()
    )
