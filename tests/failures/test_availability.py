"""How often all requirements are met if machines fail, against a Markov chain by hand."""

from __future__ import annotations

import json
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.solver.failures.availability import availability
from qps.solver.failures.availability_result import Availability
from qps.solver.failures.state_probabilities import FailingPlace, states_of

SPEC = """
users N in 1..1_000_000
machine vm  {{ cpu 4 core; fails every {every} for {repair} }}
machine big {{ cpu 8 core; fails every 1000 day for 1 day }}
topology {{ node web = vm * {web}; node db = big * {db} }}
component page {{ cpu 5 ms/request }}
component query {{ cpu 3 ms/request }}
stream browse for each user {{ traffic 0.1 request/s; at web {{ page }} }}
stream look for each user {{ traffic 0.1 request/s; at db {{ query }} }}
target cpu 80 %
"""
WEB, DB = 4 * 0.8 / 0.0005, 8 * 0.8 / 0.0003
"""Users that a machine of each node carries at its target."""


def _answer(
    users: int,
    *lines: str,
    web: int = 4,
    db: int = 2,
    every: str = "90 day",
    repair: str = "2 hour",
) -> Availability:
    text = SPEC.format(web=web, db=db, every=every, repair=repair) + "\n".join(lines)
    spec = check_source(Source("spec.qps", text)).value
    assert spec is not None
    found = availability(spec.model, spec.configuration((), ()), users)
    assert found is not None
    return found


def _of_chain(users: int, web: int, db: int) -> float:
    """Return the part of the time with enough machines, by the chain of failures and repairs.

    Each machine fails at a rate, and each failed one is repaired at a rate.
    """
    states = list(product(range(web + 1), range(db + 1)))
    index = {state: i for i, state in enumerate(states)}
    rates = np.zeros((len(states), len(states)))
    for (up_web, up_db), i in index.items():
        moves = {
            (up_web - 1, up_db): up_web / (90 * 24),
            (up_web + 1, up_db): (web - up_web) / 2,
            (up_web, up_db - 1): up_db / (1000 * 24),
            (up_web, up_db + 1): (db - up_db) / 24,
        }
        for state, rate in moves.items():
            if state in index and rate > 0:
                rates[i, index[state]] += rate
                rates[i, i] -= rate
    system = np.vstack([rates.T, np.ones(len(states))])
    parts = np.linalg.lstsq(system, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    met = [a * WEB >= users and b * DB >= users for a, b in states]
    return float(parts[np.array(met)].sum())


@pytest.mark.parametrize("users", [5_000, 11_000, 15_000, 20_000, 25_000])
def test_it_is_that_of_the_chain_of_failures_and_repairs(users: int) -> None:
    found, chain = _answer(users), _of_chain(users, 4, 2)
    assert found.least <= chain * (1 + 1e-12)
    assert found.most >= chain * (1 - 1e-12)
    # What is not looked at is at most 1 % of the unavailability.
    assert found.most - found.least <= 0.0101 * (1 - found.least) + 1e-10


@given(web=st.integers(1, 6), db=st.integers(1, 4), part=st.floats(0.1, 0.99))
@settings(max_examples=15, deadline=None)
def test_any_numbers_of_machines(web: int, db: int, part: float) -> None:
    users = max(1, int(part * min(web * WEB, db * DB)))
    found, chain = _answer(users, web=web, db=db), _of_chain(users, web, db)
    assert found.least - 1e-11 <= chain <= found.most + 1e-11


def test_each_place_has_the_failures_that_it_survives() -> None:
    """15,000 users need 3 of 4 machines of `web`, and 1 of 2 of `db`."""
    web, db = _answer(15_000).places
    assert (web.place, web.survives, db.place, db.survives) == ("web", 1, "db", 1)
    down = 2 / (90 * 24 + 2)
    two = comb(4, 2) * down**2 * (1 - down) ** 2 * (1 - 1 / 1001) ** 2
    assert web.lost == pytest.approx(two, rel=1e-2)


def test_a_state_to_survive_has_its_own_requirements() -> None:
    """With one machine lost, 90 % are allowed: 21,600 users instead of 19,200."""
    relaxed = "survive any one of web { web.cpu.utilization <= 90 %; db.cpu.utilization <= 90 % }"
    bare = SPEC.replace("target cpu 80 %", "require {{ web.cpu.utilization <= 80 % }}")
    text = bare.format(web=4, db=9, every="90 day", repair="2 hour")
    for line, is_met in (("", False), (relaxed, True)):
        spec = check_source(Source("spec.qps", text + line)).value
        assert spec is not None
        found = availability(spec.model, spec.configuration((), ()), 21_000)
        assert found is not None
        one = 4 * 2 / (90 * 24 + 2)
        assert (1 - found.least < one / 2) is is_met


@given(
    places=st.lists(st.tuples(st.integers(1, 6), st.floats(0.0001, 0.6)), min_size=1, max_size=3)
)
@settings(deadline=None)
def test_states_come_with_falling_probabilities_that_add_up_to_one(
    places: list[tuple[int, float]],
) -> None:
    found = list(
        states_of(
            [
                FailingPlace(name=str(i), count=count, unavailability=part)
                for i, (count, part) in enumerate(places)
            ]
        )
    )
    probabilities = [state.probability for state in found]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len({state.failed for state in found}) == len(found)
    assert sum(probabilities) == pytest.approx(1, abs=1e-9)


CLAIMS = """
expect nines {
  availability >= 99.99 %  with N = 15_000
  availability >= 99.99 %  with N = 25_000
  source model "service level"
}
"""


def test_solve_and_claims_have_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = SPEC.format(web=4, db=2, every="90 day", repair="2 hour")
    Path("spec.qps").write_text(text + CLAIMS)
    main(["solve", "spec.qps"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "Availability 99.43 % at 25,600 users; requirements are not met for 50" in printed
    main(["solve", "spec.qps", "--format", "json"])
    found = json.loads(capsys.readouterr().out)["availability"]
    assert found["population"] == 25_600
    assert found["least"] == pytest.approx(_of_chain(25_600, 4, 2), rel=1e-4)
    main(["test", "spec.qps"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 passed, 1 failed" in printed
    assert "99.43" in printed


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("fails every 90 request/s for 2 hour", "a time until a failure"),
        ("fails every 90 day for -2 hour", "a time of repair must be"),
        ("fails every 0 day for 2 hour", "a time until a failure must be"),
    ],
)
def test_times_that_cannot_be_are_reported(item: str, message: str) -> None:
    text = SPEC.format(web=4, db=2, every="90 day", repair="2 hour")
    found = check_source(Source("spec.qps", text.replace("fails every 90 day for 2 hour", item)))
    assert message in "\n".join(one.message for one in found.diagnostics)


def test_a_claim_needs_something_that_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SPEC.format(web=4, db=2, every="90 day", repair="2 hour") + CLAIMS
    lines = (line.partition("; fails")[0] + " }" if "fails" in line else line
             for line in text.splitlines())  # fmt: skip
    file = tmp_path / "spec.qps"
    file.write_text("\n".join(lines))
    assert main(["test", str(file)]) != 0
    printed = capsys.readouterr()
    assert "no machine or network fails" in printed.out + printed.err


def test_thousands_of_machines_have_probabilities() -> None:
    """The ways to choose half of 10,000 machines are more than a float holds."""
    place = FailingPlace(name="web", count=10_000, unavailability=0.001)
    numbers = [place.probability(failed) for failed in range(10_001)]
    assert sum(numbers) == pytest.approx(1)
    assert sum(n * one for n, one in enumerate(numbers)) == pytest.approx(10)
    never = FailingPlace(name="web", count=10_000, unavailability=0.0)
    assert [never.probability(failed) for failed in (0, 1)] == [1.0, 0.0]


def test_a_time_may_be_no_fraction() -> None:
    rooted, plain = (
        _answer(15_000, every=every) for every in ("45 day * 4^0.5 * 2^0.5 / 2^0.5", "90 day")
    )
    assert rooted.least == pytest.approx(plain.least, abs=1e-12)
