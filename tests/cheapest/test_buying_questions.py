"""Questions of those who buy: each plan is that of all combinations, counted here by formulas.

The waits are those of M/M/c queues in a row, one in each machine, by Erlang's formula,
which is written here once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import inf
from pathlib import Path

import pytest

import qps
from qps.cli import main

MONTH = 365.25 * 86_400 / 12
SHOP = """
users N in 1..100_000
unit kg
machine small { cpu 2 core, queueing mmc;  price 60 $/month }
machine spot  { cpu 2 core, queueing mmc;  price 20 $/month }
machine large { cpu 16 core, queueing mmc; price 400 $/month }
machine owned { cpu 16 core, queueing mmc; price 9_000 $ }
network lan { switched; rate 100 Gbit/s; queueing none }
component serve { cpu 8 ms/request }
component query { cpu 3 ms/request }
topology { node web = small * 2; node db = large; link net = lan between all }
stream page for each user {
  traffic 0.1 request/s, 1 kB/request; at web { serve }; over net; at db { query }
}
require { page.latency <= 16 ms; web.cpu.utilization <= 70 % }
"""
CORES = {"small": 2, "spot": 2, "large": 16, "owned": 16}
RENT = {"small": 60, "spot": 20, "large": 400, "owned": 9_000 / 36}
Option = tuple[str, int]


def _time(rate: float, service: float, servers: int) -> float:
    """Return the mean time in an M/M/c queue, in s."""
    busy = rate * service
    if busy >= servers:
        return inf
    blocked = 1.0
    for many in range(1, servers + 1):
        blocked = busy * blocked / (many + busy * blocked)
    waits = blocked / (1 - busy / servers * (1 - blocked))
    return service + waits * service / (servers - busy)


def _holds(users: int, web: Option, db: Option) -> bool:
    """Return whether the limits hold; each machine has a queue of its own for its cores."""
    rate, cores = users / 10, CORES[web[0]]
    served = _time(rate / web[1], 0.008, cores)
    queried = _time(rate / db[1], 0.003, CORES[db[0]])
    return rate * 0.008 <= 0.7 * cores * web[1] and served + queried <= 0.016


def _options(**ranges: tuple[int, int]) -> Iterator[Option]:
    for machine, (least, most) in ranges.items():
        yield from ((machine, many) for many in range(least, most + 1))


def _rent(web: Option, db: Option) -> float:
    return RENT[web[0]] * web[1] + RENT[db[0]] * db[1]


def _footprint(web: Option, db: Option) -> float:
    return 11 * web[1] + 7 * db[1]


def _any(web: Option, db: Option) -> bool:
    del web, db
    return True


def _zones(web: Option, db: Option) -> bool:
    """Two in each of three zones, and three of what can be reclaimed."""
    del db
    return web[1] >= (9 if web[0] == "spot" else 6)


def _alike(web: Option, db: Option) -> bool:
    return web[0] == db[0]


def _within_500(web: Option, db: Option) -> bool:
    return _rent(web, db) <= 500


Question = tuple[
    str,
    list[Option],
    list[Option],
    Callable[[Option, Option], bool],
    Callable[[Option, Option], float],
]
WEB, DB = list(_options(small=(1, 30), large=(1, 6))), list(_options(small=(1, 10), large=(1, 4)))
BOTH = "web in [small * 1..30, large * 1..6]; db in [small * 1..10, large * 1..4]"
QUESTIONS: dict[str, Question] = {
    "two_types": (f"choose {{ {BOTH} }}", WEB, DB, _any, _rent),
    "zones_and_spot": (
        (
            "choose { web in [small * 1..30, spot * 1..30]; db in [small * 1..10, large * 1..4];"
            " exclude web == spot and count(web) < 9; exclude count(web) < 6 }"
        ),
        list(_options(small=(1, 30), spot=(1, 30))),
        DB,
        _zones,
        _rent,
    ),
    "one_type_everywhere": (
        (
            f"choose {{ {BOTH}; exclude web == small and db == large;"
            " exclude web == large and db == small }"
        ),
        WEB,
        DB,
        _alike,
        _rent,
    ),
    "rent_or_buy": (
        (
            "choose { web in [small * 1..30, owned * 1..6]; db in [small * 1..10];"
            " minimize running_cost + cost / (36 month) }"
        ),
        list(_options(small=(1, 30), owned=(1, 6))),
        list(_options(small=(1, 10))),
        _any,
        _rent,
    ),
    "carbon": (
        f"choose {{ {BOTH}; minimize count(web) * 11 kg/month + count(db) * 7 kg/month }}",
        WEB,
        DB,
        _any,
        _footprint,
    ),
    "no_more_than_500": (
        f"require {{ running_cost <= 500 $/month }}\nchoose {{ {BOTH} }}",
        WEB,
        DB,
        _within_500,
        _rent,
    ),
}


@pytest.mark.parametrize("users", [8_000, 19_000])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_plan_is_the_cheapest_of_all_combinations(name: str, users: int) -> None:
    text, webs, stores, is_allowed, cost = QUESTIONS[name]
    costs = sorted(
        cost(web, db)
        for web, db in product(webs, stores)
        if is_allowed(web, db) and _holds(users, web, db)
    )
    plan = qps.loads(SHOP + text).plan(users)
    assert (plan.cheapest is None) == (not costs)
    if plan.cheapest is not None:
        assert plan.proven
        assert plan.cheapest.cost * MONTH == pytest.approx(costs[0])
        assert plan.runner_up is None or plan.runner_up.cost * MONTH == pytest.approx(costs[1])


COMMITTED = """
users N in 1..100_000
machine committed { cpu 4 core, queueing mmc; price 90 $/month }
machine spot { cpu 4 core, queueing mmc; price 40 $/month }
machine gate { cpu 64 core; price 100 $/month }
network lan { switched; rate 100 Gbit/s; queueing none }
component route { cpu 0.1 ms/request }
component serve { cpu 8 ms/request }
topology {
  node proxy = gate
  node base  = committed * 4
  node extra = spot * 2
  link net   = lan between all
}
let to_extra = count(extra) / (count(base) + count(extra))
stream page for each user {
  traffic 0.1 request/s, 1 kB/request
  at proxy { route; one of { to_extra: call extra { serve }; else: call base { serve } } }
}
target cpu 70 %
choose {
  base  in [committed * 1..20]
  extra in [spot * 0..20]
  exclude count(extra) > count(base)
}
"""


@pytest.mark.parametrize("users", [2_000, 8_000, 32_000])
def test_no_more_than_half_of_a_place_is_spot(users: int) -> None:
    """Evenly spread over machines of 4 cores, of which 70 % is the target."""
    costs = sorted(
        90 * base + 40 * extra + 100
        for base, extra in product(range(1, 21), range(21))
        if extra <= base and users / 10 * 0.008 <= 0.7 * 4 * (base + extra)
    )
    plan = qps.loads(COMMITTED).plan(users)
    assert plan.cheapest is not None
    assert plan.cheapest.cost * MONTH == pytest.approx(costs[0])
    assert plan.proven


def test_a_cost_that_is_no_money_is_printed_by_the_month(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One machine of 11 kg and one of 7 kg; in base units it is 0.000006845 kg/s."""
    text, *_ = QUESTIONS["carbon"]
    spec = tmp_path / "carbon.qps"
    spec.write_text(SHOP + text, encoding="utf-8")
    page = tmp_path / "plan.html"
    assert main(["plan", str(spec), "--users", "8000", "-o", str(page)]) == 0
    assert "18 kg/month: web large * 1, db large * 1" in capsys.readouterr().out
    assert "in kg/month" in page.read_text(encoding="utf-8")
