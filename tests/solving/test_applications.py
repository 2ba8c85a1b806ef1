"""Questions as a new user writes them: answers by hand, and by trying every population."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import ceil
from pathlib import Path

import pytest

from helpers.reports import claims_of
from qps.api import load
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_file
from qps.reports.text.solutions.answer_values import SolveView
from qps.solver.claims.claim_results import ClaimVerdict

_SPECS = Path(__file__).parents[1] / "applications"


@cache
def _solved(name: str) -> SolveView:
    return load(_SPECS / f"{name}.qps").solve(advice=False)


@pytest.mark.parametrize(
    ("name", "answer", "limited_by"),
    [
        # 85 % of 24 TB; a device writes 5 kB/s, three times, kept for seven days: 9.072 GB.
        ("kafka", 2_248, "broker.space.utilization"),
        # 4 cores at 0.05 ms a second for each customer.
        ("thirteen_services", 80_000, "auth.cpu.utilization"),
        # 70 % of 4 cores; 0.4 ms for 0.08444 requests a second, 60 ms for one in 600 s.
        ("fifteen_services", 20_930, "auth.cpu.utilization"),
        ("fifteen_services_by_visits", 20_930, "auth.cpu.utilization"),
        # One server of the Asian fifth of them, where the shop by itself has two: 52,325.6.
        ("three_regions", 52_325, "shop.ap.auth.cpu.utilization"),
    ],
)
def test_the_answer_is_that_by_hand(name: str, answer: int, limited_by: str) -> None:
    solution = _solved(name)
    assert (solution.capacity, solution.limited_by) == (answer, limited_by)


def test_three_services_are_full_at_once() -> None:
    full = [
        resource.name
        for resource in _solved("thirteen_services").resources
        if resource.saturates_at == pytest.approx(80_000)
    ]
    assert full == ["auth.cpu", "database.cpu", "cache.cpu"]


def test_memory_of_answers_gives_out_before_the_gpus() -> None:
    """A question holds 0.902 GB while it is read (80 ms and its waits) and written."""

    def memory(people: int, waited: float) -> float:
        a_gpu = people / 4 / 60
        load_of_one = a_gpu * (800 * 0.1e-3 + 300 * 0.25e-3)
        between = 15e-3 / (1 - load_of_one)
        return a_gpu * (300 * between + waited) * 0.82e6 * 1100

    solution = _solved("llm")
    assert solution.limited_by == "kv_memory"
    # At a load of 65 % a question is on its way, waits and is read for 0.1 to 0.4 s.
    assert memory(solution.capacity or 0, 0.1) <= 50e9
    assert memory((solution.capacity or 0) + 1, 0.4) > 50e9


# -- pods that scale, on nodes that are shared: every population tried ------------------------

_CLICKS = Fraction(5, 100)
_PODS = {
    "web": _CLICKS * Fraction(8, 1000),
    "api": 2 * _CLICKS * Fraction(15, 1000),
    "search": Fraction(1, 5) * _CLICKS * Fraction(40, 1000),
}
_NODES = {"small": (4, 16, 14, Fraction(7, 2)), "large": (16, 64, 58, Fraction(15))}


def _is_acceptable(users: int, node: str, nodes: int, idle: Fraction, busy: Fraction) -> bool:
    pods = {name: max(3, min(20, ceil(users * work / busy))) for name, work in _PODS.items()}
    cores, memory, slots, requests = _NODES[node]
    on_each = Fraction(sum(pods.values()), nodes)
    cpu = idle + users * sum(_PODS.values()) / (cores * nodes)
    pods_cope = all(users * work / pods[name] <= Fraction(7, 10) for name, work in _PODS.items())
    return pods_cope and cpu <= Fraction(7, 10) and on_each <= min(memory, slots, requests)


def _largest(node: str, nodes: int, idle: Fraction, busy: Fraction) -> int | None:
    best = None
    for users in range(4_900, 5_101):
        if not _is_acceptable(users, node, nodes, idle, busy):
            break
        best = users
    return best


def test_every_cluster_that_supports_enough_is_listed_with_its_true_answer() -> None:
    table = load(_SPECS / "kubernetes.qps").matrix().to_arrow().to_pylist()
    found = {
        (row["cluster"], int(row["nodes"]), row["night"], round(row["busy"], 2)): row["capacity"]
        for row in table
    }
    true = {
        (node, nodes, night, busy): _largest(node, nodes, idle, Fraction(str(busy)))
        for node in _NODES
        for nodes in (2, 6, 7)
        for night, idle in (("on", Fraction(30, 100)), ("off", Fraction(2, 100)))
        for busy in (0.6, 0.7)
    }
    assert found == {key: most for key, most in true.items() if most is not None and most >= 5000}
    assert found["small", 7, "off", 0.6] == 5_100


def _lines(name: str) -> int:
    return len((_SPECS / f"{name}.qps").read_text(encoding="utf-8").splitlines())


def test_fifteen_services_that_call_each_other_are_those_that_are_visited() -> None:
    """The same loads and latencies, in 65 lines for 156."""
    visited, called = (
        lower(spec.model, spec.configuration())
        for spec in (
            load(_SPECS / f"{file}.qps").spec
            for file in ("fifteen_services_by_visits", "fifteen_services")
        )
    )
    assert visited.resources.keys() == called.resources.keys()
    for at in (1, 20_930, 37_333):
        one, other = visited.at(at), called.at(at)
        for place, resource in visited.resources.items():
            assert one.exact(resource.load) == other.exact(called.resources[place].load), place
        for stream, measures in visited.streams.items():
            latency = called.streams[stream].mean_latency
            assert one.exact(measures.mean_latency) == other.exact(latency), stream
    assert _lines("fifteen_services") <= 75
    following = _solved("fifteen_services").next_limit
    assert following is not None
    assert (following.requirement, following.met_up_to) == ("reviews.cpu.utilization", 37_333)


@pytest.mark.parametrize(("place", "share", "auths"), [("us", 5, 5), ("eu", 3, 3), ("ap", 2, 1)])
def test_each_of_three_regions_is_the_shop_for_its_share(
    place: str, share: int, auths: int
) -> None:
    """All that a region has is loaded, and answers, as in the long text of the shop by itself."""
    alone, spec = (
        load(_SPECS / f"{file}.qps").spec
        for file in ("fifteen_services_by_visits", "three_regions")
    )
    shop = lower(alone.model, alone.configuration(None, [f"auths={auths}"]))
    regions = lower(spec.model, spec.configuration())

    def in_region(name: str) -> str:
        """Return what a resource, or a port, is called there: orders are a node of the spec."""
        *places, what = name.split(".")
        own = (f"shop.{place}.{one}" if one != "order" else f"orders.{place}" for one in places)
        return ".".join([*own, what])

    for shoppers in (10, 52_320, 186_660):
        one, other = shop.at(shoppers * share // 10), regions.at(shoppers)
        for name, resource in shop.resources.items():
            there = regions.resources[in_region(name)]
            assert one.exact(resource.load) == other.exact(there.load), name
        for stream, measures in shop.streams.items():
            latency = regions.streams[f"shop.{place}.{stream}"].mean_latency
            assert one.exact(measures.mean_latency) == other.exact(latency), stream


def test_three_regions_take_at_most_25_lines_more() -> None:
    assert _lines("three_regions") <= 25


REWRITTEN = sorted((Path(__file__).parents[2] / "specs" / "applications").glob("*.qps"))


@pytest.mark.parametrize("path", REWRITTEN, ids=lambda path: path.stem)
def test_what_is_claimed_of_applications_holds(path: Path) -> None:
    outcome = check_file(path)
    assert outcome.value is not None, outcome.diagnostics
    assert outcome.diagnostics == ()
    assert [one.name for one in claims_of(outcome.value) if one.verdict is ClaimVerdict.FAILS] == []
