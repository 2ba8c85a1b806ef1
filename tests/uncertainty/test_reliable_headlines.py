"""A headline is what drawn inputs support by formulas that share nothing with QPS, and no less."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from helpers.specs import checked
from qps.solver.solved_spec import solved_spec
from qps.solver.uncertainty.interval_result import Sampling
from simulated.reliable_headlines import CASES, exact_share, headline, latin_hypercube

_NOISE = 0.0044
"""Of a share of 0.95 in 10,000 draws: two standard deviations."""
_FARTHER = 1.03


@pytest.mark.parametrize("name", ["open", "closed", "kafka"])
def test_a_share_of_draws_supports_the_headline_and_hardly_more(name: str) -> None:
    at = headline(name)
    supported, farther = exact_share(name, at), exact_share(name, round(at * _FARTHER))
    assert supported is not None
    assert farther is not None
    assert supported >= 0.95 - _NOISE
    assert farther < 0.95 - _NOISE


def test_all_draws_support_what_hardly_depends_on_them() -> None:
    at = headline("https_server")
    assert exact_share("https_server", at, 1_000) == 1
    assert exact_share("https_server", at + 10, 1_000) == 0


_SATURATING = """
users N in 1..3_000
param work = {work} ms/request +- {spread} % in 1..200 ms/request
param query = between {query} ms/request
param pause = {pause} s +- 30 % in 0.1..60 s
machine server {{ cpu {cores} core, queueing mmc; gpu 1 core, queueing ps }}
machine laptop {{ }}
component answer {{ cpu work; gpu query }}
topology {{ node web = server; node user = laptop * N }}
stream pages for each user {{ traffic 1 request, think pause; at web {{ answer }} }}
require {{ pages.latency <= 150 ms }}
"""


@pytest.mark.parametrize(
    ("work", "spread", "query", "pause", "cores"),
    [(40, 25, "5 and 20", 5, 4), (20, 15, "8 and 12", 3, 2), (20, 25, "6 and 14", 3, 2)],
)
def test_at_the_headline_no_value_of_a_queue_near_saturation_is_above_its_limit(
    work: int, spread: int, query: str, pause: int, cores: int
) -> None:
    text = _SATURATING.format(work=work, spread=spread, query=query, pause=pause, cores=cores)
    answer = solved_spec(checked(text), (), (), advice=False, sampling=Sampling()).answer
    assert answer.at_reliable is not None
    (latency,) = answer.at_reliable.requirements
    assert latency.used is not None
    assert 0.96 < latency.used <= 1  # one more user adds 1 to 3 %


@pytest.mark.parametrize(("name", "at"), [("open", 7_500), ("closed", 280)])
def test_simulations_in_arrays_judge_draws_as_formulas_do(name: str, at: int) -> None:
    case, lanes = CASES[name], 20
    assert case.lanes is not None
    assert case.exact is not None
    draws = latin_hypercube(case, 20, Random(1))
    assert {case.exact(draw, at) for draw in draws} == {True, False}
    for draw in draws:
        arrays = {one: np.full(lanes, value) for one, value in draw.items()}
        below, noise = case.lanes(arrays, at, 2_000, 1)
        away, half = below.mean(), 2 * np.sqrt((noise**2).sum()) / lanes
        assert case.exact(draw, at) == (away > 0) or abs(away) < half
