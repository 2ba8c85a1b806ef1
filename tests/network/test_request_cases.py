"""What a request really does: specs of chance and choice, by hand, by formulas, and as simulated.

The simulations share nothing with QPS: first come first served, a heap of events, 400,000 requests
and more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from qps.api import loads

REQUESTS = Path(__file__).parents[1] / "requests"
ONE_MISS = (
    (" * (1 - hits),", ","),
    ("    together {", "    (1 - hits): { together {"),
)
EITHER = (
    (
        "call east * 50 % { work }; call west * 50 % { work }",
        "one of { 50 %: call east { work }; else: call west { work } }",
    ),
)
ONE_SHARE = (
    (
        "together { call x * 15 % { slow }; call y * 15 % { slow } }",
        "15 %: { together { call x { slow }; call y { slow } } }",
    ),
)


def spec(name: str, *changes: tuple[str, str]) -> str:
    text = (REQUESTS / f"{name}.qps").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def measured(text: str, users: int, stream: str, *percentiles: float) -> list[float]:
    lines = [
        f"measure asked{index} = quantile({stream}.latency, {level} %)"
        for index, level in enumerate(percentiles)
    ]
    model = loads("\n".join([text, *lines]))
    columns = model.sweep(**{model.spec.model.population.name: [users]})
    return [float(columns[f"asked{index}"][0]) * 1000 for index in range(len(lines))]


@pytest.mark.parametrize(
    ("name", "changes", "stream", "users", "expected", "within"),
    [
        ("t1a_share", (), "asks", 1, {50: 1, 98.9: 1, 99.5: 1001}, 1e-6),
        ("r1a_redis", (), "commands", 252, {50: 0.02, 99: 31.02}, 0.02),
        ("t4_either", EITHER, "asks", 1, {20: 100, 80: 100}, 1e-4),
        ("t8_api", (), "pages", 1, {50: 0.2, 79: 0.88, 81: 300.2, 99: 300.8}, 0.02),
        ("tog", (), "ask", 1, {50: 41.6}, 0.02),
        ("share", (), "ask", 1, {50: 1.173, 90: 65.25}, 0.02),
        ("share", ONE_SHARE, "ask", 1, {50: 0.888, 90: 52.58}, 0.02),
        ("k1", (), "page", 125, {50: 5.528, 95: 24.20}, 0.02),
        ("n9", (), "buyers", 10, {95: 15_980}, 0.1),
        ("r1_regress", (), "page", 250, {50: 4.36, 95: 29.3}, 0.04),
        (
            "gateway",
            (*ONE_MISS, ("    (1 - hits): merge", "    merge }")),
            "queries",
            300,
            {50: 1.658, 95: 71.82},
            0.02,
        ),
        (
            "gateway",
            (
                *ONE_MISS,
                ("    (1 - hits): merge", "    }\n    merge"),
                ("cpu 3 ms/request", "cpu (1 - hits) * 3 ms/request"),
            ),
            "queries",
            300,
            {50: 2.2, 95: 71},
            0.04,
        ),
    ],
)
def test_percentiles_of_requests_are_true(
    name: str,
    changes: tuple[tuple[str, str], ...],
    stream: str,
    users: int,
    expected: dict[float, float],
    within: float,
) -> None:
    found = measured(spec(name, *changes), users, stream, *expected)
    assert found == pytest.approx(list(expected.values()), rel=within)


@pytest.mark.parametrize(
    ("name", "changes", "settings", "carried", "within"),
    [
        ("t5_either", EITHER, {}, 217, 1e-12),
        ("r1_regress", (), {}, 312, 0.01),
        ("gateway", (*ONE_MISS, ("    (1 - hits): merge", "    merge }")), {}, 855, 0.01),
        ("hit", (), {"hits": "100 %"}, 3976, 0.01),
        ("step", (), {"hits": "100 %"}, 3976, 0.01),
    ],
)
def test_capacities_of_requests_are_true(
    name: str,
    changes: tuple[tuple[str, str], ...],
    settings: dict[str, str],
    carried: int,
    within: float,
) -> None:
    capacity = loads(spec(name, *changes)).solve(set=settings).capacity
    assert capacity == pytest.approx(carried, rel=within)
