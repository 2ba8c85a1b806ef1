"""What stands beside the capacity that can be relied on: all at its population and confidence."""

from __future__ import annotations

import pytest

from helpers.specs import checked
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.printed_capacity import printed_capacity
from qps.reports.text.solutions.change_wording import wording
from qps.solver.answer import Answer
from qps.solver.solved_spec import SolvedSpec, solved_spec
from qps.solver.uncertainty import value_modes
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.uncertainty.value_modes import ValueModeSolver

UNCERTAIN = """
users N in 1..100_000
param pace = uniform(0.5 request/s, 1.5 request/s)
machine server { cpu 4 core, queueing mmc; price 0.1 $/hour }
machine slow { cpu 1 core }
component answer { cpu 8 ms/request }
component store { cpu 1.9 ms/request }
network lan { switched; rate 10 Gbit/s }
topology {
  node web = server
  node db = slow
  link wire = lan between web, db
}
stream page { traffic N * pace, 1 kB/request; at web { answer }; over wire; at db { store } }
require { page.latency <= 100 ms; web.cpu.utilization <= 75 % }
"""
CERTAIN = UNCERTAIN.replace("uniform(0.5 request/s, 1.5 request/s)", "0.29 request/s")


def _solved(text: str, *settings: str, advice: bool = False) -> SolvedSpec:
    spec: Spec = checked(text)
    return solved_spec(spec, (), settings, advice=advice, sampling=Sampling())


def _answer(text: str, *settings: str, advice: bool = False) -> Answer:
    return _solved(text, *settings, advice=advice).answer


def test_utilizations_are_those_that_a_share_of_samples_does_not_exceed() -> None:
    answer = _answer(UNCERTAIN)
    beside, reliable = answer.at_reliable, answer.reliable
    assert beside is not None
    assert reliable is not None
    assert beside.confidence == 0.95
    users = beside.population
    assert users == printed_capacity(reliable.capacity or 0, high=answer.high)
    (web,) = (one for one in beside.utilizations if one.name == "web.cpu")
    assert web.nominal == pytest.approx(users * 0.008 / 4)
    assert web.value == pytest.approx(users * 1.45 * 0.008 / 4, rel=1e-3)
    assert web.used == pytest.approx(web.value / 0.75)


def test_nothing_is_beyond_its_limit_at_the_headline_and_what_limits_is_at_it() -> None:
    beside = _answer(UNCERTAIN).at_reliable
    assert beside is not None
    used = {one.name: one.used for one in (*beside.utilizations, *beside.requirements)}
    assert all(part is None or part <= 1 for part in used.values())
    assert (used[beside.limited_by or ""] or 0) > 0.99


def test_p99_is_that_of_the_stream_whose_latency_is_required() -> None:
    beside = _answer(UNCERTAIN).at_reliable
    assert beside is not None
    (page,) = beside.percentiles
    (latency,) = (one for one in beside.requirements if one.name == "page.latency")
    assert page.name == "page"
    assert page.value > latency.value


def test_with_certain_inputs_values_are_at_the_number_that_is_printed() -> None:
    answer = _answer(CERTAIN)
    beside = answer.at_reliable
    assert beside is not None
    assert answer.headline is not None
    assert beside.population < (answer.capacity or 0)
    assert beside.limited_by == answer.limited_by
    assert answer.headline.at == beside.population
    for one, found in zip(beside.utilizations, answer.headline.resources, strict=True):
        assert one.value == one.nominal == found.utilization_at_limit
        assert found.utilization_at_limit < answer.resource(one.name).utilization_at_limit  # type: ignore[union-attr]


@pytest.mark.parametrize("text", [UNCERTAIN, CERTAIN])
def test_a_change_gives_what_the_spec_with_it_gives(text: str) -> None:
    found = _solved(text, advice=True)
    words = wording(found.model, found.configuration, found.answer)
    tried = 0
    for one in words.best_changes:
        if one.setting is None:
            continue
        tried += 1
        reliable = _answer(text, one.setting).reliable
        assert reliable is not None
        if "pace" in one.name and text is UNCERTAIN:
            continue  # what is set is certain, what is scaled is not
        assert one.reliable_capacity == reliable.capacity, one.words
    assert tried > 0


def test_changes_that_give_less_than_a_tenth_are_not_among_the_first() -> None:
    found = _solved(UNCERTAIN, advice=True)
    words = wording(found.model, found.configuration, found.answer)
    now = found.answer.at_reliable
    assert now is not None
    assert all((one.reliable_capacity or 0) >= 1.1 * now.population for one in words.best_changes)
    priced = [one.running_price is not None and one.is_hardware for one in words.by_kind]
    assert priced == sorted(priced, reverse=True)


FALLIBLE = """
users N in 1..100_000
param pace = {pace}
machine server {{ cpu 4 core, queueing mmc }}
machine slow {{ cpu 1 core, queueing mm1 }}
component answer {{ cpu 8 ms/request }}
component store {{ cpu 1.9 ms/request }}
network lan {{ switched; rate 10 Gbit/s }}
topology {{
  node web = server
  node db = slow
  link wire = lan between web, db
}}
stream page {{ traffic N * pace, 1 kB/request; at web {{ answer }}; over wire; at db {{ store }} }}
require {{ page.latency <= 30 ms; web.cpu.utilization <= 75 %; db.cpu.utilization <= 80 % }}
"""


def test_the_next_limit_is_the_capacity_without_what_limits_the_headline() -> None:
    answer = _answer(UNCERTAIN)
    beside = answer.at_reliable
    assert beside is not None
    assert beside.next_limit is not None
    assert beside.limited_by == "web.cpu.utilization"
    lifted = _answer(UNCERTAIN.replace("; web.cpu.utilization <= 75 %", "")).at_reliable
    assert lifted is not None
    assert beside.next_limit.requirement == lifted.limited_by == "page.latency"
    assert beside.next_limit.met_up_to == lifted.population
    assert answer.headline is not None
    assert answer.headline.next_limit == beside.next_limit
    assert answer.next_limit is not None
    assert (beside.next_limit.met_up_to or 0) < (answer.next_limit.met_up_to or 0)


@pytest.mark.parametrize("pace", ["0.29 request/s", "uniform(0.5 request/s, 1.5 request/s)"])
def test_no_limit_is_reached_before_the_headline(pace: str) -> None:
    answer = _answer(FALLIBLE.format(pace=pace))
    beside = answer.at_reliable
    assert beside is not None
    ends = [one.met_up_to for one in (*beside.utilizations, *beside.requirements)]
    assert all(end is not None and end >= beside.population for end in ends)
    assert beside.next_limit is not None
    assert (beside.next_limit.met_up_to or 0) >= beside.population
    assert answer.headline is not None
    assert [one.met_up_to for one in answer.headline.requirements] == [
        one.met_up_to for one in beside.requirements
    ]


def test_what_a_limit_is_met_up_to_is_what_a_share_of_samples_supports() -> None:
    beside = _answer(UNCERTAIN).at_reliable
    assert beside is not None
    ends = {one.name: one.met_up_to for one in beside.utilizations}
    db = 0.0019 * 1.45  # the busiest that 95 % of samples do not exceed
    assert ends["db.cpu"] == printed_capacity(int(1 / db), high=100_000)


def test_a_p99_that_its_surface_does_not_estimate_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ValueModeSolver, "_is_long", lambda *_: True)
    shown = _answer(UNCERTAIN).at_reliable
    monkeypatch.setattr(value_modes, "_MOST_ERROR", 0.0)
    refused = _answer(UNCERTAIN).at_reliable
    assert shown is not None
    assert refused is not None
    assert [one.name for one in shown.percentiles] == ["page"]
    assert refused.percentiles == ()
    assert refused.requirements == shown.requirements
